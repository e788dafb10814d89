"""What the tests of `spaa query` share: a way to ask, a way to be refused, and a profile to ask."""

import pytest

import profiles
from conftest import ask, parse, run

TABLES = ["diagnostics", "dsos", "events", "frames", "functions", "header", "images", "intervals", "labels", "nodes", "process_images",
          "processes", "samples", "selection", "stack_frames", "stacks", "threads", "waits", "weights", "window_weights",
          "windows", "ask_summary", "ask_top", "ask_tree", "ask_function", "ask_annotate", "ask_stacks", "ask_timeline",
          "ask_whatif", "ask_leaks",
          "ask_waits", "ask_sched", "ask_info"]


def query(path, sql, *options, **more):
    """All rows."""
    answer = ask("query", path, sql, "-n", 0, *options, **more)
    assert answer["schema"] == "spaa.query/2" and answer["omitted"] == {"rows": 0, "at_least": False}
    assert all(len(r) == len(answer["columns"]) for r in answer["rows"])
    return answer["rows"]


def refused(path, sql, *options, code=2):
    """(code of the diagnostic, message, hint); the same on stderr."""
    answer = run("query", path, sql, *options, "--json", code=code)
    said = parse(answer.out)["error"]
    assert said["message"] in answer.err and said["hint"] in answer.err
    return said["code"], said["message"], said["hint"]


@pytest.fixture
def one(tmp_path):
    path = tmp_path / "one.spaa"
    path.write_text(profiles.random_text(5, states=True, linked=True))
    return path

"""Which type of a pprof is shown when nothing is asked for, and pprof's own names for what is asked for."""

import pytest

import gen_pprof as g
from conftest import ask, parse, run

HEAP = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
OURS = ["alloc_count", "alloc_bytes", "live_count", "live_bytes"]
CPU = [("samples", "count"), ("cpu", "nanoseconds")]
BLOCK = [("contentions", "count"), ("delay", "nanoseconds")]
WALL = [("wall", "nanoseconds")]


def profile(tmp_path, types, default=""):
    """Each type has a total of its own: (i + 1) * 11."""
    p = {"types": types, "mappings": [], "comments": [],
         "functions": [{"id": 1, "name": "f", "system_name": "f", "file": "f.go", "start_line": 0}],
         "locations": [{"id": 1, "address": 0, "mapping": 0, "lines": [(1, 3, 0)], "folded": 0}],
         "samples": [{"locations": [1], "values": [(i + 1) * n for i in range(len(types))], "labels": [("k", None, n, "")]}
                     for n in (1, 10)]}
    if default:
        p["default_sample_type"] = default
    path = tmp_path / "x.pb"
    path.write_bytes(g.encode(p))
    return path


def shown(path, *args):
    a = ask("top", path, *args)
    return a["profile"]["event"], a["profile"]["metric"], a["whole"]


@pytest.mark.parametrize("types,default,event,metric,i", [
    (HEAP, "", "heap", "live_bytes", 3), (HEAP, "alloc_space", "heap", "alloc_bytes", 1),
    (HEAP, "inuse_objects", "heap", "live_count", 2), (HEAP, "nonsense", "heap", "live_bytes", 3),
    (HEAP[:2], "", "heap", "alloc_bytes", 1), (CPU, "", "cpu", "cpu", 1), (CPU, "samples", "cpu", "samples", 0),
    (CPU[::-1], "", "cpu", "samples", 1), (BLOCK, "", "contention", "delay", 1),
    (BLOCK, "contentions", "contention", "count", 0), (CPU + HEAP, "", "heap", "live_bytes", 5),
    (HEAP + CPU, "", "cpu", "cpu", 5), (CPU + HEAP, "cpu", "cpu", "cpu", 1), (CPU + WALL, "wall", "wall", "wall", 2),
    (CPU + WALL, "samples", "cpu", "samples", 0),
])
def test_the_default_is_the_type_that_pprof_shows(types, default, event, metric, i, tmp_path):
    path = profile(tmp_path, types, default)
    run("convert", "-q", path, "-o", tmp_path / "x.spaa", code=0)
    for file in path, tmp_path / "x.spaa":
        assert shown(file) == (event, metric, (i + 1) * 11)
    back = g.decode(run("convert", "-q", tmp_path / "x.spaa", "--to", "pprof", "-o", "-", code=0).raw)
    assert back.get("default_sample_type", "") == default


@pytest.mark.parametrize("types", [HEAP, CPU, BLOCK, CPU + HEAP + BLOCK + WALL, HEAP[2:]])
@pytest.mark.parametrize("option", ["--metric", "--event"])
def test_pprof_s_names_are_taken(types, option, tmp_path):
    path = profile(tmp_path, types)
    for i, (name, _) in enumerate(types):
        if option == "--event" and name == "cpu":
            continue  # an event's name, and its default metric is the file's business
        assert shown(path, option, name)[2] == (i + 1) * 11, name
    if types == HEAP:
        for i, name in enumerate(OURS):
            assert shown(path, "--metric", name) == ("heap", name, (i + 1) * 11)


def test_names_that_the_file_does_not_have(tmp_path):
    heap = profile(tmp_path, HEAP)
    for args in ("--metric", "contentions"), ("--event", "delay"), ("--metric", "cpu"):
        assert run("top", heap, *args).code == 2
    cpu = tmp_path / "c.folded"
    cpu.write_text("a;b 3\n")
    assert run("top", cpu, "--metric", "inuse_space").code == 2


def test_every_command_takes_them(tmp_path):
    path = profile(tmp_path, CPU + HEAP)
    for command in ("tree", "stacks", "summary"):
        run(command, path, "--metric", "inuse_space", code=0)
    assert "66 B" in run("leaks", path, "--metric", "inuse_space", code=0).out
    folded = run("convert", "-q", path, "--to", "folded", "--metric", "alloc_space", "-o", "-", code=0).out
    assert folded.split()[-1] == "44"


def test_info_lists_every_metric_and_the_default(tmp_path):
    path = profile(tmp_path, CPU + HEAP, "alloc_space")
    events = {e["name"]: e for e in ask("info", path)["events"]}
    assert {n: [(m["name"], m["unit"], m["whole"], m["default"]) for m in e["metrics"]] for n, e in events.items()} == {
        "cpu": [("samples", None, 11, False), ("cpu", "ns", 22, True)],
        "heap": [("alloc_count", "count", 33, False), ("alloc_bytes", "bytes", 44, True), ("live_count", "count", 55, False),
                 ("live_bytes", "bytes", 66, False)]}
    assert {n: e["default"] for n, e in events.items()} == {"cpu": False, "heap": True}
    text = run("info", path, code=0).out
    for name in OURS:
        assert name in text
    assert "default" in text

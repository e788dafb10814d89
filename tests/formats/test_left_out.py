"""What writers say of what their formats have no place for: thread states, and other events."""

import collections
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from codeguru_kit import back  # noqa: E402
from conftest import ask, run  # noqa: E402

STATES = {"f": {"RUNNABLE": 3, "WAITING": 40}, "g": {"BLOCKED": 5, "IDLE": 7}}
# formats without thread states, of those that can hold any profile
NONE = ["perf-script", "sample", "dtrace", "bpftrace", "speedscope", "firefox"]


def profile(states):
    return json.dumps({"start": 1700000000000, "end": 1700000010000, "agentMetadata": {}, "callgraph": {
        "children": {"main": {"children": {f: {"counts": counts} for f, counts in states.items()}}}}})


def convert(to, text, *more):
    return run("convert", "-", "--to", to, "-o", "-", *more, stdin=text, code=0)


def lines(text):
    """Folded stacks and their counts."""
    got = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        got[stack] += int(count)
    return got


def test_folded_states_are_first_frames():
    answer = convert("folded", profile(STATES))
    assert lines(answer.out) == {"[%s];main;%s" % (state, f): n for f, counts in STATES.items() for state, n in counts.items()}
    assert "SPAA-I322" in answer.err and "BLOCKED, IDLE, RUNNABLE, WAITING" in answer.err
    # as SPAA they are the same
    spaa = convert("spaa", profile(STATES)).raw
    assert convert("folded", spaa).out == answer.out
    # asked for, they are added up
    for text in (profile(STATES), spaa):
        added = convert("folded", text, "--group-by", "none")
        assert (lines(added.out), added.err) == ({"main;f": 43, "main;g": 12}, "")


def test_folded_with_one_state_is_as_without():
    answer = convert("folded", profile({"f": {"WAITING": 3}, "g": {"WAITING": 4}}))
    assert (answer.out, answer.err) == ("main;f 3\nmain;g 4\n", "")


def test_folded_names_of_states_and_processes():
    """A state stands before the process; what would end a frame or a line does not."""
    text = profile({"f": {"a;b": 1, "c\nd e": 2, "": 4}})
    assert lines(convert("folded", text).out) == {"[a:b];main;f": 1, "[c d e];main;f": 2, "[];main;f": 4}
    records = [json.loads(line) for line in convert("spaa", profile(STATES)).out.splitlines()]
    records[0]["x_spaa"]["group_by"] = ["comm", "state"]
    for r in records:
        if r["type"] == "stack":
            r["context"]["comm"] = "app"
    got = lines(convert("folded", "".join(json.dumps(r) + "\n" for r in records)).out)
    assert got["[WAITING];app;main;f"] == 40 and len(got) == 4


def test_folded_lines_of_perf_are_those_of_its_scripts(corpus):
    """stackcollapse-perf.pl knows no states, of which tracepoints of the scheduler tell some."""
    path = os.path.join(corpus, "perf-data", "made", "tracepoint.perf.data.zst")
    answer = run("convert", path, "--no-symbols", "--to", "folded", "-o", "-", code=0)
    assert "SPAA-W313" in answer.err and "WAITING" in answer.err and "[WAITING]" not in answer.out
    assert run("convert", path, "--no-symbols", "--group-by", "comm", "--to", "folded", "-o", "-", code=0).out == answer.out


def test_stacks_without_a_state_beside_others():
    records = [json.loads(line) for line in convert("spaa", profile(STATES)).out.splitlines()]
    for r in records:
        if r.get("context", {}).get("x_state") == "BLOCKED":
            del r["context"]["x_state"]
    text = "".join(json.dumps(r) + "\n" for r in records)
    answer = convert("folded", text)
    assert lines(answer.out)["main;g"] == 5 and lines(answer.out)["[IDLE];main;g"] == 7
    assert "none, IDLE, RUNNABLE, WAITING" in convert("sample", text).err


@pytest.mark.parametrize("to", NONE)
def test_states_that_are_added_up_are_told(to):
    answer = convert(to, profile(STATES))
    assert "SPAA-W313" in answer.err and "BLOCKED, IDLE, RUNNABLE, WAITING" in answer.err
    for text, more in ((profile({"f": {"WAITING": 3}}), ()), (profile(STATES), ("--group-by", "none"))):
        assert "SPAA-W313" not in convert(to, text, *more).err


@pytest.mark.parametrize("to", ["spaa", "codeguru", "pprof", "spindump"])
def test_formats_with_states(to):
    answer = convert(to, profile(STATES))
    assert "SPAA-W313" not in answer.err
    if to != "spindump":
        assert "state" not in answer.err
    if to in ("spaa", "codeguru"):
        assert json.loads(back(answer.raw)) == json.loads(profile(STATES))


def test_many_states():
    answer = convert("sample", profile({"f": {"S%02d" % i: 1 for i in range(20)}}))
    assert "S00, S01, S02, S03, S04, S05, S06, S07 and 12 more" in answer.err


# ---- events ----

@pytest.mark.parametrize("to, code", [("folded", "I321"), ("sample", "I321"), ("spindump", "I321"), ("dtrace", "I321"),
                                      ("bpftrace", "I321"), ("codeguru", "I489")])
def test_branches_that_are_left_out_are_told(corpus, to, code):
    path = os.path.join(corpus, "perf-data", "quipper", "branch-4.14.perf.data")
    answer = run("convert", path, "--no-symbols", "--to", to, "-o", "-", code=0)
    note, = (line for line in answer.err.splitlines() if "SPAA-" + code in line)
    assert "lbr" in note
    # asked for the one, nobody misses the other
    again = run("convert", path, "--no-symbols", "--event", "cycles:ppp", "--to", to, "-o", "-", code=0)
    assert (again.raw, "SPAA-" + code in again.err) == (answer.raw, False)


@pytest.mark.parametrize("to", ["spaa", "pprof", "perf-script"])
def test_formats_of_many_events_keep_the_branches(corpus, to):
    path = os.path.join(corpus, "perf-data", "quipper", "branch-4.14.perf.data")
    answer = run("convert", path, "--no-symbols", "--to", to, "-o", "-", code=0)
    assert "SPAA-I321" not in answer.err
    names = [e["name"] for e in ask("info", "-", stdin=answer.raw)["events"]]
    assert "lbr" in names or any("lbr" in n or "branches" in n for n in names)


def test_an_event_without_stacks_is_not_left_out():
    header = json.loads(convert("spaa", profile({"f": {"RUNNABLE": 1}})).out.splitlines()[0])
    header["events"].append(dict(header["events"][0], name="idle"))
    rest = convert("spaa", profile({"f": {"RUNNABLE": 1}})).out.splitlines()[1:]
    for to in ("folded", "codeguru", "dtrace", "sample"):
        assert convert(to, "\n".join([json.dumps(header), *rest]) + "\n").err == ""

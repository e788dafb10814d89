"""waits of samples with states of threads, and without threads: CodeGuru's."""

import json

from conftest import ask, run


def profile(tmp_path, graph):
    f = tmp_path / "x.codeguru.json"
    f.write_text(json.dumps({"start": 1711234567000, "end": 1711234577000, "agentMetadata": {}, "callgraph": graph}))
    return f


GRAPH = {"children": {"main": {"counts": {"RUNNABLE": 3, "WAITING": 5}, "children": {
    "lock": {"counts": {"BLOCKED": 4}}, "sleep": {"counts": {"TIMED_WAITING": 7, "IDLE": 2, "WAITING": 1}}}}}}


def test_states_and_stacks(tmp_path):
    f = profile(tmp_path, GRAPH)
    a = ask("waits", f)
    assert (a["waiting_in_states"], a["running"], a["idle"]) == (17, 3, 2)
    assert [(s["state"], s["weight"], s["kind"]) for s in a["states"]] == [
        ("TIMED_WAITING", 7, "waiting"), ("WAITING", 6, "waiting"), ("BLOCKED", 4, "waiting"), ("RUNNABLE", 3, "running"), ("IDLE", 2, "idle")]
    assert [(s["state"], s["weight"], s["function"], s["stack"]) for s in a["state_stacks"]] == [
        ("TIMED_WAITING", 7, "sleep", "main"), ("WAITING", 5, "main", None), ("BLOCKED", 4, "lock", "main"), ("WAITING", 1, "sleep", "main")]
    assert abs(sum(s["percent"] for s in a["state_stacks"]) - 100) < 0.05
    text = run("waits", f, code=0).out
    assert "17 (77.27%) waited: TIMED_WAITING 7" in text and "not how long" in text
    idle = ask("waits", f, "--idle")
    assert ("IDLE", 2) in [(s["state"], s["weight"]) for s in idle["state_stacks"]]
    blocked = ask("waits", f, "--state", "BLOCKED")
    assert [s["function"] for s in blocked["state_stacks"]] == ["lock"] and blocked["waiting_in_states"] == 4


def test_the_same_of_spaa(tmp_path):
    f = profile(tmp_path, GRAPH)
    run("convert", f, "-o", tmp_path / "x.spaa", code=0)
    a, b = ask("waits", f), ask("waits", tmp_path / "x.spaa")
    assert a["states"] == b["states"] and [s["weight"] for s in a["state_stacks"]] == [s["weight"] for s in b["state_stacks"]]


def test_labels_of_stacks_do_not_part_them(tmp_path):
    """Fleets: two hosts with the same stack are one row."""
    paths = []
    for host in ("a", "b"):
        f = tmp_path / (host + ".codeguru.json")
        f.write_text(json.dumps({"start": 1711234567000, "end": 1711234577000, "agentMetadata": {"fleetInfo": {"fleetInstanceId": host}},
                                 "callgraph": GRAPH}))
        paths.append(f)
    run("merge", *paths, "-o", tmp_path / "m.spaa", "--group-by", "state,label:fleet_instance", code=0)
    assert [s["weight"] for s in ask("waits", tmp_path / "m.spaa")["state_stacks"]] == [14, 10, 8, 2]


def test_states_that_do_not_tell(tmp_path):
    for counter, words in (("WALL_TIME", "of threads that run and of ones that wait"), ("RUNNABLE", "no sample is of a thread that did")):
        f = profile(tmp_path, {"children": {"main": {"counts": {counter: 3}}}})
        text = " ".join(run("waits", f, code=0).out.split())
        assert "cannot tell who waited" in text and words in text and "settle it" in text
        assert "state_stacks" not in ask("waits", f) or not ask("waits", f)["state_stacks"]

"""CodeGuru profiles written from other sources."""

import collections
import json
import os
import random

import pytest

import gen_codeguru as gen
from codeguru_kit import ON_CPU, back, numbers, to_spaa
from conftest import ask, run


def written(text, *more):
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", *more, stdin=text, code=0)
    return json.loads(answer.out, object_pairs_hook=collections.OrderedDict), answer


def test_from_folded():
    got, answer = written("main;parse;read 30\nmain;parse 20\nmain;run_[k] 7\n")
    assert got == {
        "start": 0, "end": 0,
        "agentMetadata": {"sampleWeights": {"WALL_TIME": 1.0}, "durationInMs": 0,
                          "fleetInfo": {"fleetInstanceId": "unknown", "hostType": "unknown"},
                          "agentInfo": {"type": "spaa", "version": got["agentMetadata"]["agentInfo"]["version"]},
                          "numTimesSampled": 57},
        "callgraph": {"children": {"main": {"children": {
            "parse": {"counts": {"WALL_TIME": 20}, "children": {"read": {"counts": {"WALL_TIME": 30}}}},
            "run_[k]": {"counts": {"WALL_TIME": 7}}}}}}}
    assert "SPAA-W477" in answer.err


def test_options_of_the_writer():
    text = "app;main 3\n"
    got, answer = written(text, "--fleet-instance-id", "i-1", "--host-type", "m5", "--agent-type", "me", "--counter", "NATIVE",
                          "--start", "1711234567000")
    agent = got["agentMetadata"]
    assert agent["fleetInfo"] == {"fleetInstanceId": "i-1", "hostType": "m5"}
    assert agent["agentInfo"]["type"] == "me"
    assert agent["sampleWeights"] == {"NATIVE": 1.0}
    assert (got["start"], got["end"]) == (1711234567000, 1711234567000)
    assert answer.err == ""
    # and over what a CodeGuru file says
    got, _ = written(ON_CPU, "--fleet-instance-id", "i-1", "--agent-type", "me", "--start", "5000")
    want = json.loads(ON_CPU)
    want.update(start=5000, end=15000)
    want["agentMetadata"]["fleetInfo"]["fleetInstanceId"] = "i-1"
    want["agentMetadata"]["agentInfo"]["type"] = "me"
    assert got == want
    run("convert", "-", "--to", "codeguru", "-o", "-", "--codeguru-names", "modul", stdin=text, code=2)
    run("convert", "-", "--to", "codeguru", "-o", "-", "--start", "soon", stdin=text, code=2)


@pytest.mark.parametrize("start", [None, '"x"', "null", "0", "-5", "1", "1e3"])
def test_a_start_that_is_none_does_not_make_a_profile_longer(start):
    text = ON_CPU.replace('"start": 1711234567000,', '"start": %s,' % start if start else "")
    for to, ms in (("2026-01-31T12:00:00Z", 1769860800000), ("1711234567000", 1711234567000)):
        got, answer = written(text, "--start", to)
        assert (got["start"], got["end"]) == (ms, ms + 10000) and "SPAA-I490" not in answer.err


@pytest.mark.parametrize("day, is_one", [("2026-02-30", False), ("2025-02-29", False), ("2024-02-29", True), ("2026-04-31", False), ("2026-12-31", True)])
def test_a_start_is_on_a_day_that_there_is(day, is_one):
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", "--start", day + "T12:00:00Z", stdin=ON_CPU, code=0 if is_one else 2)
    assert is_one or "--start needs" in answer.err


HEADER = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
          "stack_id_mode": "content_addressable"}


def spaa(events, stack_list, time=None, host=None):
    """SPAA of stacks [(event, comm, state, [(func, dso, kernel, srcline, more)] root first, {metric: (value, unit)})]."""
    header = dict(HEADER, events=events)
    if time:
        header["time_range"] = dict(zip(("start", "end", "unit"), time))
    header["x_spaa"] = {"frames": "line", "group_by": ["comm", "state"], "id": "xxh3-64/2"}
    if host:
        header["x_spaa"]["host"] = {"name": host}
    dsos, frames, out = {}, {}, []
    for n, (event, comm, state, path, weights) in enumerate(stack_list):
        ids = []
        for f in path:
            func, dso, kernel, srcline, more = f + (None,) * (5 - len(f))
            d = dsos.setdefault((dso, bool(kernel)), len(dsos) + 1)
            record = {"func": func, "dso": d, "kind": "kernel" if kernel else "user", **(more or {})}
            if srcline:
                record["srcline"] = srcline
            ids.append(frames.setdefault(json.dumps(record), len(frames) + 1))
        context = {"event": event}
        if comm is not None:
            context["comm"] = comm
        if state is not None:
            context["x_state"] = state
        out.append({"type": "stack", "id": "s%d" % n, "frames": ids[::-1], "stack_type": "unified", "context": context,
                    "weights": [{"metric": m, "value": v, **({"unit": u} if u else {})} for m, (v, u) in weights.items()]})
    records = [header] + [{"type": "dso", "id": i, "name": n, "is_kernel": k} for (n, k), i in dsos.items()]
    records += [{"type": "frame", "id": i, **json.loads(r)} for r, i in frames.items()] + out
    return "".join(json.dumps(r) + "\n" for r in records)


def event(name, kind="hardware", primary="samples", mode="period"):
    return {"name": name, "kind": kind, "sampling": {"mode": mode, "primary_metric": primary}}


def test_on_and_off_cpu_events_are_one_profile():
    text = spaa([event("cycles", primary="period"), event("sched:off-cpu", "probe", "off_cpu_ns"), event("page-faults", "software")],
                [("cycles", "app", None, [("main", "app"), ("f", "app")], {"samples": (10, None), "period": (10 ** 9, None)}),
                 ("cycles", "swapper", None, [("idle", "[kernel]", True)], {"samples": (4, None), "period": (10 ** 9, None)}),
                 ("sched:off-cpu", "app", None, [("main", "app"), ("schedule", "[kernel]", True)],
                  {"samples": (3, None), "off_cpu_ns": (123456789, "ns")}),
                 ("page-faults", "app", None, [("main", "app")], {"samples": (2, None)})],
                (1711234567, 1711234572, "seconds"), "box")
    got, answer = written(text)
    assert got["callgraph"] == {"children": {
        "app": {"children": {"main": {"children": {"f": {"counts": {"RUNNABLE": 10}},
                                                   "schedule_[k]": {"counts": {"WAITING": 3}}}}}},
        "swapper": {"children": {"idle_[k]": {"counts": {"IDLE": 4}}}}}}
    agent = got["agentMetadata"]
    assert agent["sampleWeights"] == {"RUNNABLE": 2.0, "WAITING": 0.6, "IDLE": 0.8}
    assert (got["start"], got["end"], agent["durationInMs"], agent["numTimesSampled"]) == (1711234567000, 1711234572000, 5000, 17)
    assert agent["fleetInfo"]["fleetInstanceId"] == "box"
    assert "SPAA-I489" in answer.err and "SPAA-W477" not in answer.err
    got, _ = written(text, "--event", "page-faults")
    assert got["callgraph"] == {"children": {"app": {"children": {"main": {"counts": {"WALL_TIME": 2}}}}}}


def test_states_are_counters():
    states = gen.STATES + ["RUN_QUEUE", "SUSPENDED", "UNKNOWN"]
    text = spaa([event("spindump", "timer")], [("spindump", None, s, [("f", "d")], {"samples": (i + 1, None)})
                                               for i, s in enumerate(states)], (0, 1, "seconds"))
    counts = written(text)[0]["callgraph"]["children"]["f"]["counts"]
    want = {s: i + 1 for i, s in enumerate(states) if s != "UNKNOWN"}
    want["WALL_TIME"] += len(states)
    assert counts == want and list(counts) == sorted(counts)


def test_names_plain_and_module():
    frames = [("main", "/usr/bin/app"), ("0x1f", "/lib/libc.so.6", False, None, {"func_resolved": False, "ip": "0x1f"}),
              ("sys_read", "[kernel]", True), ("jitted", "[unknown]")]
    text = spaa([event("cycles")], [("cycles", None, None, frames, {"samples": (1, None)})], (0, 1, "seconds"))

    def path(*more):
        node, out = written(text, *more)[0]["callgraph"], []
        while "children" in node:
            (name, node), = node["children"].items()
            out.append(name)
        return out
    assert path() == path("--codeguru-names", "plain") == ["main", "libc.so.6+0x1f", "sys_read_[k]", "jitted"]
    assert path("--codeguru-names", "module") == ["app:main", "libc.so.6+0x1f", "[kernel]:sys_read_[k]", "jitted"]


def test_lines_of_one_function_are_one_node():
    text = spaa([event("cycles")], [("cycles", None, None, [("f", "d", False, "a.c:%d" % n)], {"samples": (n, None)}) for n in (5, 9)]
                + [("cycles", None, None, [("g", "d", False, "%s.c:1" % n)], {"samples": (1, None)}) for n in "ab"],
                (0, 1, "seconds"))
    assert written(text)[0]["callgraph"] == {"children": {
        "f": {"counts": {"RUNNABLE": 14}, "file": "a.c", "line": [5, 9]}, "g": {"counts": {"RUNNABLE": 2}}}}


def test_time_that_is_written_as_counts_is_told():
    stack = [("off", None, None, [("f", "d")], {"off_cpu_ns": (5000000, "ns")}),
             ("off", None, None, [("g", "d")], {"off_cpu_ns": (7, "ns")})]
    text = spaa([event("off", "probe", "off_cpu_ns")], stack, (0, 1, "seconds"))
    got, answer = written(text)
    assert {n: c["counts"] for n, c in got["callgraph"]["children"].items()} == {"f": {"WALL_TIME": 5000000}, "g": {"WALL_TIME": 7}}
    assert "SPAA-W478" in answer.err
    got, _ = written(text, "--metric", "off_cpu_ns")
    assert got["callgraph"]["children"]["f"]["counts"] == {"WALL_TIME": 5000000}


def test_pairs_are_joined():
    lines = [dict(HEADER, events=[event("cycles")]), {"type": "dso", "id": 1, "name": "app", "is_kernel": False},
             {"type": "dso", "id": 2, "name": "[kernel]", "is_kernel": True},
             {"type": "frame", "id": 1, "func": "main", "dso": 1, "kind": "user"},
             {"type": "frame", "id": 2, "func": "read", "dso": 1, "kind": "user"},
             {"type": "frame", "id": 3, "func": "sys_read", "dso": 2, "kind": "kernel"},
             {"type": "stack", "id": "u", "frames": [2, 1], "stack_type": "user", "related_stacks": ["k"],
              "context": {"event": "cycles"}, "weights": [{"metric": "samples", "value": 6}]},
             {"type": "stack", "id": "k", "frames": [3], "stack_type": "kernel", "related_stacks": ["u"],
              "context": {"event": "cycles"}, "weights": [{"metric": "samples", "value": 6}]}]
    got, _ = written("".join(json.dumps(x) + "\n" for x in lines))
    assert got["callgraph"] == {"children": {"main": {"children": {"read": {"children": {
        "sys_read_[k]": {"counts": {"RUNNABLE": 6}}}}}}}}
    assert got["agentMetadata"]["numTimesSampled"] == 6 # once, not for each side


def test_samples_of_pairs_and_of_others_add_up():
    lines = [dict(HEADER, events=[event("cycles")]), {"type": "dso", "id": 1, "name": "app", "is_kernel": False},
             {"type": "dso", "id": 2, "name": "[kernel]", "is_kernel": True},
             {"type": "frame", "id": 1, "func": "main", "dso": 1, "kind": "user"},
             {"type": "frame", "id": 2, "func": "sys_read", "dso": 2, "kind": "kernel"},
             {"type": "frame", "id": 3, "func": "kthread", "dso": 2, "kind": "kernel"}]
    for name, frame, kind, partner, n in (("u", 1, "user", "k", 6), ("k", 2, "kernel", "u", 6), ("alone", 3, "kernel", None, 3)):
        lines.append({"type": "stack", "id": name, "frames": [frame], "stack_type": kind, "context": {"event": "cycles"},
                      "weights": [{"metric": "samples", "value": n}], **({"related_stacks": [partner]} if partner else {})})
    got, _ = written("".join(json.dumps(x) + "\n" for x in lines))
    assert got["agentMetadata"]["numTimesSampled"] == 9


def tree_of(paths):
    root = {}
    for path, counter, n in paths:
        node = root
        for name in path:
            node = node.setdefault("children", {}).setdefault(name, {})
        counts = node.setdefault("counts", {})
        counts[counter] = counts.get(counter, 0) + n
    return root


@pytest.mark.parametrize("seed", range(10))
def test_generated_stacks_become_the_tree(seed):
    """Unsorted stacks of many depths against a tree built in the simplest way."""
    rng = random.Random(seed)
    rows = []
    for _ in range(rng.choice([1, 30, 300])):
        path = [rng.choice("abcdé") * rng.choice([1, 1, 2]) for _ in range(rng.choice([0, 1, 2, 4, 12, 40]))]
        rows.append((path, rng.choice(gen.STATES[:3]), rng.randrange(1, 9)))
    text = spaa([event("e", "timer")], [("e", None, s, [(f, "d") for f in p], {"samples": (n, None)}) for p, s, n in rows],
                (0, 1, "seconds"))
    got, answer = written(text)
    assert got["callgraph"] == tree_of(rows)
    nodes = [got["callgraph"]]
    while nodes:
        node = nodes.pop()
        assert [k for k in ("counts", "children") if k in node] == list(node)
        names = list(node.get("children", {}))
        assert names == sorted(names, key=str.encode)
        nodes += node.get("children", {}).values()
    assert numbers(back(to_spaa(answer.out)[1])) == numbers(answer.out)


def test_several_files_are_one_profile(tmp_path):
    paths = []
    for seed in (1, 2):
        paths.append(tmp_path / ("%d.codeguru.json" % seed))
        paths[-1].write_text(gen.canonical(gen.profile(seed, odd=False)))
    want = sum(int(v) for seed in (1, 2) for (_, s), v in gen.cells(gen.profile(seed, odd=False)).items())
    assert ask("top", *paths, "--view", "all")["whole"] == want


def test_corpus_recordings_can_be_written(corpus):
    for name in ("perf-data/made", "folded", "pprof"):
        folder = os.path.join(corpus, name)
        for file in sorted(os.listdir(folder))[:6]:
            path = os.path.join(folder, file)
            if not os.path.isfile(path):
                continue
            answer = run("convert", path, "--to", "codeguru", "-o", "-", "--no-symbols")
            if answer.code == 0:
                again = run("convert", "-", "--to", "spaa", "-o", "-", stdin=answer.raw, code=0)
                assert json.loads(back(again.raw)) == json.loads(answer.out)


def test_an_empty_profile_is_told(tmp_path):
    empty = '{"start":1711234567000,"end":1711234577000,"agentMetadata":{},"callgraph":{}}'
    for text, said in ((empty, 1), (empty.replace('{}}', '{"children":{"f":{"counts":{"RUNNABLE":1}}}}}'), 0)):
        done = run("convert", "-", "-o", tmp_path / "out.codeguru.json", stdin=text, code=0)
        assert done.err.count("SPAA-W492") == said

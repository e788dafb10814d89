"""CodeGuru profiles: read, written back, made from other sources, damaged."""

import collections
import decimal
import json
import os
import random

import pytest

import gen_codeguru as gen
from conftest import ROOT, ask, run
from gen_codeguru import Num

D = decimal.Decimal

ON_CPU = """{
  "start": 1711234567000,
  "end": 1711234577000,
  "agentMetadata": {
    "sampleWeights": { "RUNNABLE": 16063.4 },
    "durationInMs": 10000,
    "fleetInfo": { "fleetInstanceId": "ip-10-0-1-42", "hostType": "unknown" },
    "agentInfo": { "type": "profile-bee", "version": "0.3.7" },
    "numTimesSampled": 160634
  },
  "callgraph": {
    "children": {
      "my_server": {
        "children": {
          "handle_request": {
            "children": {
              "parse_json": { "counts": { "RUNNABLE": 5000 } },
              "db_query": { "counts": { "RUNNABLE": 3000 } }
            }
          }
        }
      }
    }
  }
}
"""
OFF_CPU = """{
  "start": 1711234567000,
  "end": 1711234577000,
  "agentMetadata": {
    "sampleWeights": { "WAITING": 500.0 },
    "durationInMs": 10000,
    "fleetInfo": { "fleetInstanceId": "ip-10-0-1-42", "hostType": "unknown" },
    "agentInfo": { "type": "profile-bee", "version": "0.3.7" },
    "numTimesSampled": 5000
  },
  "callgraph": {
    "children": {
      "my_server": {
        "children": {
          "handle_request": {
            "children": {
              "db_query": {
                "children": {
                  "io_wait_[k]": { "counts": { "WAITING": 3000 } }
                }
              }
            }
          }
        }
      }
    }
  }
}
"""


def numbers(text):
    """JSON with numbers as their text."""
    return json.loads(text, parse_float=Num, parse_int=Num, parse_constant=None)


def to_spaa(text, *more, **how):
    """The records of a text as SPAA, and its bytes."""
    answer = run("convert", "-", "--to", "spaa", "-o", "-", *more, stdin=text, code=how.pop("code", 0), **how)
    return [json.loads(line, parse_float=Num, parse_int=Num) for line in answer.out.splitlines()], answer.raw


def back(raw, *more):
    return run("convert", "-", "--to", "codeguru", "-o", "-", *more, stdin=raw, code=0).raw.decode()


def stacks(records):
    """{(path from the root, state): weight text}, by the keys that frames came from."""
    frames = {r["id"]: r for r in records if r["type"] == "frame"}
    out = collections.Counter()
    for r in records:
        if r["type"] == "stack":
            path = tuple(frames[f].get("x_codeguru", {}).get("name", frames[f]["func"]) for f in r["frames"][::-1])
            key = path, r["context"].get("x_state")
            assert key not in out
            out[key] = r["weights"][0]["value"]
    return dict(out)


@pytest.mark.parametrize("text", [ON_CPU, OFF_CPU])
def test_the_examples_of_the_description_come_back(text):
    assert json.loads(back(to_spaa(text)[1])) == json.loads(text)
    assert json.loads(back(text)) == json.loads(text)


def test_corpus_files_come_back(corpus):
    for name in ("python-agent-small", "python-agent-key-collision"):
        with open(os.path.join(corpus, "codeguru", name + ".json"), encoding="utf-8") as f:
            text = f.read()
        assert numbers(back(to_spaa(text)[1])) == numbers(text)


@pytest.mark.parametrize("seed", range(60))
def test_generated_profiles_come_back(seed):
    top = gen.profile(seed)
    text, canonical = gen.text(top, seed), gen.canonical(top)
    assert numbers(text) == gen.plain_profile(top)
    records, raw = to_spaa(text)
    assert stacks(records) == gen.cells(top)
    out = back(raw)
    assert numbers(out) == gen.plain_profile(top)
    assert back(out) == out
    assert back(canonical) == canonical
    assert back(to_spaa(canonical)[1]) == canonical


@pytest.mark.parametrize("seed", range(5))
def test_generated_spaa_is_valid(seed, tmp_path):
    path = tmp_path / "x.spaa"
    path.write_bytes(to_spaa(gen.text(gen.profile(seed), seed))[1])
    run("validate", path, code=0)


def test_what_becomes_what():
    text = ('{"start":1000,"end":3500,"agentMetadata":{"durationInMs":2000,"fleetInfo":{"computeType":"aws_ec2_instance",'
            '"hostName":"h"},"agentInfo":{"type":"A","version":"1"}},"callgraph":{"children":{"a":{"counts":{"NATIVE":2},'
            '"file":"x/y.c","line":[7]}}}}')
    records, _ = to_spaa(text)
    header = records[0]
    assert header["events"] == [{"name": "codeguru", "kind": "timer",
                                 "sampling": {"mode": "frequency", "primary_metric": "samples"}}]
    assert header["time_range"] == {"start": "1", "end": "3.5", "unit": "seconds"}
    assert header["source"] == {"tool": "A", "tool_version": "1"}
    assert header["x_spaa"]["group_by"] == ["state"] and header["x_spaa"]["duration"] == "2"
    assert header["x_spaa"]["host"] == {"name": "h"}
    frame = [r for r in records if r["type"] == "frame"][0]
    assert (frame["func"], frame["srcline"]) == ("a", "x/y.c:7")
    assert "x_codeguru" not in frame


def test_marks_of_profile_bee():
    names = {"k_wait_k": ("k_wait", "[kernel]", "kernel"), "k_[k]": ("k", "[kernel]", "kernel"),
             "libc.so.6+0x1f2": ("0x1f2", "libc.so.6", "unknown"), "f (src/x.rs:12)": ("f", "[unknown]", "unknown"),
             "plain": ("plain", "[unknown]", "unknown")}
    text = json.dumps({"start": 1, "end": 2, "agentMetadata": {"agentInfo": {"type": "profile-bee", "version": "1"}},
                       "callgraph": {"children": {n: {"counts": {"RUNNABLE": 1}} for n in names}}})
    swapped = json.dumps(dict(reversed(json.loads(text).items())))
    for t in (text, swapped): # the names come before who wrote them
        records, raw = to_spaa(t)
        dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
        got = {r.get("x_codeguru", {}).get("name", r["func"]): (r["func"], dsos[r["dso"]], r["kind"])
               for r in records if r["type"] == "frame"}
        assert got == names
        assert json.loads(back(raw)) == json.loads(text)
        assert [r["srcline"] for r in records if r.get("srcline")] == ["src/x.rs:12"]


def test_fewer_counts_than_the_agent_took():
    def note(threads, counts):
        text = {"agentMetadata": {"numTimesSampled": 5, "metrics": {"numThreads": threads}},
                "callgraph": {"counts": {"WALL_TIME": counts}}}
        return "SPAA-I488" in run("info", "-", stdin=json.dumps(text), code=0).err
    assert note(2.0, 9)
    assert not note(2.0, 10)
    assert not note(1.9999999999999998, 10)


# ---- duplicates ----

def test_children_that_stand_twice_are_merged():
    text = ('{"start":0,"end":1,"agentMetadata":{},"callgraph":{"children":{'
            '"b":{"counts":{"IDLE":1}},"a":{"counts":{"IDLE":2},"children":{"c":{"counts":{"IDLE":3}}}},'
            '"b":{"counts":{"IDLE":10,"NATIVE":4},"foo":1},"a":{"counts":{"IDLE":2.5},"children":{"c":{"counts":{"IDLE":5}}}}}}}')
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", stdin=text, code=0)
    assert answer.err.count("SPAA-W475") == 2 and "`b`" in answer.err and "`a`" in answer.err
    assert answer.out.endswith('{"children":{"a":{"counts":{"IDLE":4.5},"children":{"c":{"counts":{"IDLE":8}}}},'
                               '"b":{"counts":{"IDLE":11,"NATIVE":4},"foo":1}}}}')
    records, raw = to_spaa(text)
    assert stacks(records) == {(("b",), "IDLE"): "11", (("b",), "NATIVE"): "4", (("a",), "IDLE"): "4.5",
                               (("a", "c"), "IDLE"): "8"}
    assert back(raw) == answer.out


def test_members_that_stand_twice():
    text = '{"agentMetadata":{},"callgraph":{"children":{"a":{"counts":{"X":1}}},"counts":{"X":1,"X":2},"children":{"a":{"counts":{"X":4}}},"counts":{"X":5}}}'
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", stdin=text, code=0)
    assert json.loads(answer.out)["callgraph"] == {"counts": {"X": 8}, "children": {"a": {"counts": {"X": 5}}}}


@pytest.mark.parametrize("seed", range(20))
def test_generated_duplicates(seed):
    """Two profiles' children in one object: the sums are those of both."""
    rng = random.Random(seed)
    a, b = (gen.profile("%s%s" % (seed, x), odd=False) for x in "ab")
    kids = [dict(t)["callgraph"].get("children", {}) for t in (a, b)]
    members = [(n, gen.plain(k)) for half in kids for n, k in half.items()]
    rng.shuffle(members)
    text = '{"agentMetadata":{},"callgraph":{"children":{%s}}}' % ",".join(
        gen.string(n) + ":" + gen.dump(v) for n, v in members)
    want = collections.Counter()
    for half in kids:
        for key, v in gen.cells([("callgraph", {"children": half})]).items():
            want[key] += int(v)
    answer = run("convert", "-", "--to", "spaa", "-o", "-", stdin=text, code=0)
    records = [json.loads(line, parse_float=Num, parse_int=Num) for line in answer.out.splitlines()]
    got = collections.Counter()
    frames = {r["id"]: r["func"] for r in records if r["type"] == "frame"}
    for r in records:
        if r["type"] == "stack":
            got[tuple(frames[f] for f in r["frames"][::-1]), r["context"]["x_state"]] += int(r["weights"][0]["value"])
    assert got == want
    assert ("SPAA-W475" in answer.err) == bool(set(kids[0]) & set(kids[1]))


# ---- deep, damaged ----

def deep(levels, inner='"counts":{"RUNNABLE":7}'):
    return ('{"start":0,"end":1,"agentMetadata":{"a":1},"callgraph":{' + '"children":{"f":{' * levels + inner
            + "}}" * levels + "}}")


def test_a_hundred_thousand_levels():
    text = deep(100000)
    raw = run("convert", "-", "--to", "spaa", "-o", "-", stdin=text, code=0).raw
    stack = [line for line in raw.split(b"\n") if b'"type":"stack"' in line]
    assert len(stack) == 1 and len(json.loads(stack[0])["frames"]) == 100000
    assert back(raw) == text
    assert ask("top", "-", stdin=text)["rows"][0]["flat"] == 7
    run("tree", "-", "--depth", "5", stdin=text, code=0)


def test_kept_members_at_every_level():
    levels = 20000
    text = ('{"start":0,"end":1,"agentMetadata":{},"callgraph":{' + '"x":1,"children":{"f":{' * levels + '"counts":{"A":0}'
            + "}}" * levels + "}}")
    raw = run("convert", "-", "--to", "spaa", "-o", "-", stdin=text, code=0).raw
    assert len(raw) < 100 * levels + 2000 # each record says only what the one before did not
    assert back(raw) == text


def test_deep_unknown_values():
    text = '{"start":0,"end":1,"agentMetadata":{},"callgraph":{"foo":%s,"counts":{"A":1}}}' % ("[" * 50000 + "]" * 50000)
    out = back(to_spaa_raw(text))
    assert out == text.replace('"foo":%s,"counts":{"A":1}' % ("[" * 50000 + "]" * 50000),
                               '"counts":{"A":1},"foo":%s' % ("[" * 50000 + "]" * 50000))
    run("info", "-", stdin='{"agentMetadata":{},"callgraph":{"foo":%s}}' % ("[" * 200000), code=3)


def to_spaa_raw(text):
    return run("convert", "-", "--to", "spaa", "-o", "-", stdin=text, code=0).raw


def test_too_many_frames_is_an_error():
    """Counts at every level of a deep tree add up to more frames than memory should hold."""
    levels = 30000
    text = ('{"agentMetadata":{},"callgraph":{' + '"counts":{"A":1},"children":{"f":{' * levels + "}}" * levels + "}}")
    answer = run("info", "-", stdin=text, code=3)
    assert "SPAA-E007" in answer.err


@pytest.mark.parametrize("cut", [1, 20, 60, 90, 95, 99])
def test_a_file_that_is_cut_off_is_used_as_far_as_it_goes(cut):
    top = gen.profile(3, odd=False, nodes=200)
    text = gen.canonical(top)
    head = text[:len(text) * cut // 100]
    answer = run("convert", "-", "--to", "spaa", "-o", "-", "--from", "codeguru", stdin=head)
    if answer.code:
        assert answer.code == 3 and "SPAA-E" in answer.err
        return
    assert "SPAA-L301" in answer.err
    records = [json.loads(line, parse_float=Num, parse_int=Num) for line in answer.out.splitlines()]
    whole = gen.cells(top)
    got = stacks(records)
    assert got and all(whole[k] == v for k, v in got.items())


def test_damage_in_the_middle():
    text = ('{"agentMetadata":{},"callgraph":{"children":{"a":{"counts":{"X":1}},"b":{"counts":{"X":2}}, oops '
            '"c":{"counts":{"X":3}}}}}')
    answer = run("convert", "-", "--to", "spaa", "-o", "-", stdin=text, code=0)
    assert "SPAA-L300" in answer.err and "offset" in answer.err
    assert '"func":"b"' in answer.out and '"func":"c"' not in answer.out
    run("top", "-", "--strict", stdin=text, code=3)


def test_half_a_surrogate_pair_ends_the_reading():
    """No text has such a character, and no JSON may; what was read counts, and it is said how much was not."""
    path = os.path.join(ROOT, "tests", "fixtures", "codeguru", "surrogate.codeguru.json")
    with open(path, "rb") as f:
        text = f.read()
    answer = run("convert", path, "--to", "spaa", "-o", "-", code=0)
    at = text.index(b"\\ud800") + len(b"\\ud800")
    assert "a lone high surrogate; all that follows" in answer.err and f"offset {at} " in answer.err
    assert f"{len(text.rstrip()) - at} bytes, was not read" in answer.err
    assert '"func":"a"' in answer.out and '"func":"c"' not in answer.out
    run("top", path, "--strict", code=3)


@pytest.mark.parametrize("seed", range(30))
def test_mutated_files_end_in_order(seed):
    rng = random.Random(seed)
    data = bytearray(gen.text(gen.profile(seed % 7), seed).encode())
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data))
        what = rng.randrange(3)
        if what == 0:
            data[at] = rng.randrange(256)
        elif what == 1:
            del data[at:at + rng.randrange(1, 20)]
        else:
            data[at:at] = bytes(data[rng.randrange(len(data)):][:rng.randrange(1, 30)])
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", "--from", "codeguru", stdin=bytes(data))
    assert answer.code in (0, 3)
    if answer.code == 0:
        again = run("convert", "-", "--to", "codeguru", "-o", "-", "--from", "codeguru", stdin=answer.raw, code=0)
        assert again.raw == answer.raw


def test_odd_values_are_kept_and_said():
    text = ('{"start":"then","end":[],"agentMetadata":5,"callgraph":{"counts":{"A":"x","B":-3,"C":null},"children":{'
            '"a":{"counts":[1]},"b":{"children":[{}]},"c":{"line":"x","file":{}},"d":{"counts":{"A":1},"file":7,"line":{}}}}}')
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", "--from", "codeguru", stdin=text, code=0)
    assert json.loads(answer.out) == json.loads(text)
    assert "SPAA-W476" in answer.err
    assert json.loads(back(to_spaa_from(text))) == json.loads(text)


def to_spaa_from(text):
    return run("convert", "-", "--to", "spaa", "-o", "-", "--from", "codeguru", stdin=text, code=0).raw


def test_a_child_that_is_no_object_is_a_loss():
    answer = run("top", "-", stdin='{"agentMetadata":{},"callgraph":{"children":{"a":5,"b":{"counts":{"X":1}}}}}', code=0)
    assert "SPAA-L300" in answer.err and "`a`" in answer.err


def test_other_json_is_refused():
    for text in ("{}", "[]", '{"agentMetadata":{}}', '{"callgraph":[]}', '{"start":1}', "null", '{"callgraph":'):
        run("info", "-", "--from", "codeguru", stdin=text, code=3)


# ---- written from other sources ----

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
    text = "main 3\n"
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


HEADER = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
          "stack_id_mode": "content_addressable"}


def spaa(events, stack_list, time=None, host=None):
    """SPAA of stacks [(event, comm, state, [(func, dso, kernel, srcline, more)] root first, {metric: (value, unit)})]."""
    header = dict(HEADER, events=events)
    if time:
        header["time_range"] = dict(zip(("start", "end", "unit"), time))
    header["x_spaa"] = {"frames": "line", "group_by": ["comm", "state"], "id": "xxh3-64/1"}
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


def test_time_is_never_a_count():
    stack = [("off", None, None, [("f", "d")], {"off_cpu_ns": (5000000, "ns")}),
             ("off", None, None, [("g", "d")], {"off_cpu_ns": (7, "ns")})]
    text = spaa([event("off", "probe", "off_cpu_ns")], stack, (0, 1, "seconds"))
    got, answer = written(text)
    assert {n: c["counts"] for n, c in got["callgraph"]["children"].items()} == {"f": {"WALL_TIME": 1}, "g": {"WALL_TIME": 1}}
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
    assert ask("top", *paths, "--view", "all")["total"] == want


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


# ---- views ----

VIEWS = {"cpu": lambda s: s in gen.CPU, "latency": lambda s: s != "IDLE", "all": lambda s: True}


def kept(cells, view=None, state=None):
    fits = (lambda s: s in state.split(",")) if state else VIEWS[view or "cpu"]
    return {k: int(v) for k, v in cells.items() if fits(k[1])}


def test_the_default_view_has_something(tmp_path):
    def file(name, counts):
        (tmp_path / name).write_text(json.dumps({"callgraph": {"children": {"f": {"counts": counts}}}}))
        return tmp_path / name
    cpu, off, idle = file("cpu", {"NATIVE": 1, "WAITING": 5}), file("off", {"WAITING": 7, "IDLE": 3}), \
        file("idle", {"IDLE": 2})
    for path, view, total in (cpu, "cpu", 1), (off, "latency", 7), (idle, "all", 2):
        answer = ask("top", path)
        assert (answer["profile"]["view"], answer["total"]) == (view, total)
    assert ask("top", off, "--view", "cpu")["total"] == 0
    answer = ask("diff", cpu, file("both", {"NATIVE": 3, "WAITING": 1}))
    assert (answer["base"]["total"], answer["new"]["total"]) == (1, 3)
    answer = ask("diff", off, cpu) # one view for both
    assert (answer["base"]["total"], answer["new"]["total"]) == (7, 6)


@pytest.mark.parametrize("options", [{}, {"view": "cpu"}, {"view": "latency"}, {"view": "all"}, {"state": "IDLE"},
                                     {"state": "WAITING,NATIVE"}, {"state": "RUN_QUEUE"}, {"state": "IDLE,my state,"}], ids=str)
def test_views_of_every_command(options, tmp_path):
    """The description's table; counters that it does not know are in latency and in lists."""
    top = gen.profile(11, odd=False, nodes=150, states=gen.STATES + ["RUN_QUEUE", "my state", "runnable"])
    path = tmp_path / "x.codeguru.json"
    path.write_text(gen.text(top, 1))
    as_spaa = tmp_path / "x.spaa"
    run("convert", path, "-o", as_spaa, code=0)
    want = kept(gen.cells(top), **options)
    flags = [x for k, v in options.items() for x in ("--" + k, v)]
    flat, cum = collections.Counter(), collections.Counter()
    for (p, _), v in want.items():
        flat[p[-1] if p else "[no stack]"] += v
        for name in set(p) or {"[no stack]"}:
            cum[name] += v
    for file in (path, as_spaa):
        answer = ask("top", file, "-n", "0", *flags)
        assert answer["total"] == sum(want.values())
        assert answer["profile"]["view"] == ("custom" if "state" in options else options.get("view", "cpu"))
        assert answer["profile"]["event_total"] == sum(int(v) for v in gen.cells(top).values())
        assert {r.get("function", r.get("name")): (r["flat"], r["cum"]) for r in answer["rows"]} == {n: (flat[n], cum[n]) for n in cum}
        assert ask("tree", file, "--min-percent", "0", *flags)["nodes"][0]["total"] == sum(want.values())
        assert ask("summary", file, *flags)["total"] == sum(want.values())
        svg = run("flamegraph", file, "-o", "-", *flags, code=0).out
        assert "{:,}".format(sum(want.values())) in svg
        if "state" not in options and options.get("view") != "all":
            assert "(--view all)" in svg and "(--view all)" in run("top", file, *flags).out
        by_state = ask("top", file, "--by", "state", *flags)["rows"]
        split = collections.Counter()
        for (_, s), v in (want if options else kept(gen.cells(top), "all")).items():
            split[s] += v
        assert {r["name"]: r["flat"] for r in by_state} == split


def test_an_empty_counter_name_is_one_that_the_table_does_not_know():
    text = '{"agentMetadata":{},"callgraph":{"counts":{"":5,"RUNNABLE":2}}}'
    assert ask("top", "-", stdin=text)["total"] == 2
    assert ask("top", "-", "--view", "latency", stdin=text)["total"] == 7


def test_states_can_be_left_out():
    text = '{"agentMetadata":{},"callgraph":{"children":{"a":{"counts":{"IDLE":5,"RUNNABLE":2}}}}}'
    records, raw = to_spaa(text, "--group-by", "none")
    assert stacks(records) == {(("a",), None): "7"}
    assert json.loads(back(raw))["callgraph"] == {"children": {"a": {"counts": {"WALL_TIME": 7}}}}

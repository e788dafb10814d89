"""speedscope's files: sums equal those that a few lines of Python make of the file, and what is written is valid."""

import collections
import decimal
import json
import os
import random

import pytest

from conftest import ROOT, ask, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "speedscope")
NS = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}
D = decimal.Decimal

# The published schema (speedscope.app/file-format-schema.json), which its sources make of file-format-spec.ts.
NUMBER, STRING = {"type": "number"}, {"type": "string"}
COMMON = {"name": STRING, "unit": {"enum": ["bytes", "none"] + sorted(NS)}, "startValue": NUMBER, "endValue": NUMBER}
SCHEMA = {
    "type": "object", "required": ["$schema", "profiles", "shared"],
    "properties": {
        "$schema": {"enum": ["https://www.speedscope.app/file-format-schema.json"]}, "activeProfileIndex": NUMBER,
        "exporter": STRING, "name": STRING,
        "shared": {"type": "object", "required": ["frames"], "properties": {"frames": {"type": "array", "items": {
            "type": "object", "required": ["name"],
            "properties": {"name": STRING, "file": STRING, "line": NUMBER, "col": NUMBER}}}}},
        "profiles": {"type": "array", "items": {"oneOf": [
            {"type": "object", "required": ["type", "samples", "weights"] + sorted(COMMON),
             "properties": {"type": {"enum": ["sampled"]}, "weights": {"type": "array", "items": NUMBER},
                            "samples": {"type": "array", "items": {"type": "array", "items": NUMBER}}, **COMMON}},
            {"type": "object", "required": ["type", "events"] + sorted(COMMON), "properties": {
                "type": {"enum": ["evented"]}, **COMMON}}]}}}}


def fixture(name):
    return os.path.join(FIXTURES, name)


def load(path):
    with open(path) as f:
        return json.load(f, parse_float=D, parse_int=D)


def rows_of(profile):
    """(frames, weight): as speedscope has them."""
    if profile["type"] == "sampled":
        assert len(profile["samples"]) == len(profile["weights"])
        yield from zip(profile["samples"], profile["weights"])
        return
    stack, last = [], profile["startValue"]
    for e in profile["events"]:
        if stack:
            yield list(stack), e["at"] - last
        last = e["at"]
        if e["type"] == "O":
            stack.append(e["frame"])
        else:
            assert stack.pop() == e["frame"]


def sums(found, unit_of=lambda unit: unit in NS):
    """By name and file of functions: self and total, in nanoseconds for units of time."""
    own, total = collections.Counter(), collections.Counter()
    for p in found["profiles"]:
        if not unit_of(p["unit"]):
            continue
        for stack, weight in rows_of(p):
            frames = [found["shared"]["frames"][int(i)] for i in stack]
            names = [(f["name"], f.get("file")) for f in frames]
            weight *= NS.get(p["unit"], 1)
            for n in set(names):
                total[n] += weight
            if names:
                own[names[-1]] += weight
    return own, total


def top(path, *more):
    return {(r["name"], r["dso"]): (r["self"], r["total"]) for r in ask("top", path, "-n", "0", *more)["rows"]}


def by_name(counter):
    found = collections.Counter()
    for (name, _), v in counter.items():
        found[name] += v
    return found


def test_totals_are_those_of_the_file():
    path = fixture("threads.speedscope.json")
    own, total = sums(load(path))
    rows = ask("top", path, "-n", "0", "--event", "time")
    assert rows["whole"] == D("26.999999") * 10**6 and rows["profile"]["unit"] == "ns"
    functions = [r for r in rows["rows"] if r["id"]]
    assert sorted(r["self"] for r in functions) == sorted(own[k] for k in total)
    assert sorted(r["total"] for r in functions) == sorted(total.values())
    assert [r["self"] for r in rows["rows"] if not r["id"]] == [4000000], "the row without frames"


def test_functions_are_told_apart_by_their_files():
    rows = [r for r in ask("top", fixture("threads.speedscope.json"), "-n", "0")["rows"] if r["name"].startswith("parse")]
    assert len(rows) == 2
    mains = [r for r in ask("top", fixture("threads.speedscope.json"), "-n", "0")["rows"] if r["name"].startswith("main")]
    assert len(mains) == 1, "two lines of one function"
    lines = ask("top", fixture("threads.speedscope.json"), "-n", "0", "--by", "line")["rows"]
    assert {r["name"] for r in lines} >= {"main app.py:10:3", "main app.py:12"}


def test_threads_are_profiles():
    rows = ask("top", fixture("threads.speedscope.json"), "-n", "0", "--by", "thread")["rows"]
    assert {(r["name"], r["pid"]): r["self"] for r in rows} == {("app (tid 7)", 7): 10500000,
                                                                ("worker (tid 8)", 7): 16499999}


def test_kernels_are_known_by_their_brackets():
    rows = top(fixture("threads.speedscope.json"))
    assert ("do_syscall_64", "[kernel.kallsyms]") in rows and ("read", "/usr/lib/libc.so.6") in rows


def test_times_are_kept():
    found = ask("timeline", fixture("threads.speedscope.json"), "--buckets", "20")
    assert found["time"]["profile_start"] == 1 and found["covered_percent"] == 100


def test_gaps_are_no_weight_and_said():
    answer = run("top", fixture("threads.speedscope.json"), code=0)
    assert "3500001 ns while no frame was open" in answer.err.replace("\n  ", " ") + answer.out


def test_units_are_events():
    path = fixture("units.json")
    found = load(path)
    for event, units in (("time", NS), ("bytes", ["bytes"]), ("weight", ["none"])):
        own, total = sums(found, lambda unit: unit in units)
        rows = {r["name"]: (r["self"], r["total"]) for r in ask("top", path, "--event", event, "-n", "0")["rows"]}
        if event == "time":
            own = {k: round(v) for k, v in own.items()}
            total = {k: round(v) for k, v in total.items()}
        names = {n: (by_name(own)[n], by_name(total)[n]) for n in by_name(total)}
        assert sorted(rows.values()) == sorted(names.values()), event


def test_times_are_rounded_to_nanoseconds_and_that_is_said():
    assert "were rounded" in run("top", fixture("units.json"), "--event", "time", code=0).out


def test_damage_is_said_and_the_rest_is_used():
    answer = run("top", fixture("damaged.json"), "-n", "0", "--json")
    found = json.loads(answer.out)
    said = " ".join(m["message"] for m in found["diagnostics"])
    for words in ("a frame that is no object", "a frame without a name", "a profile that is no object", "of the type \"traced\"",
                  "of the unit \"parsecs\"", "samples without a weight", "never closed", "closed that are not open",
                  "before the one before", "closed before what they called"):
        assert words in said, (words, said)
    # sampled: 1+2+4+8 of the rows and 1; evented: a 0..7, b 5..8 (7..8 alone) and c and b to the end
    assert found["whole"] == 15 + 1 + 100


def test_what_is_cut_off_is_used_as_far_as_it_goes(tmp_path):
    with open(fixture("threads.speedscope.json")) as f:
        text = f.read()
    path = tmp_path / "cut.json"
    path.write_text(text[:text.index('{"type":"C","frame":2,"at":1006.125}') + 5])
    answer = run("top", str(path), "--json")
    found = json.loads(answer.out)
    assert "SPAA-L301" in {m["code"] for m in found["diagnostics"]}
    assert found["whole"] == 10.5e6 + 2.5e6


def test_the_corpus(corpus):
    at = os.path.join(corpus, "speedscope")
    for name, scale in (("simple.speedscope.json", 1), ("simple-no-pretty-print.speedscope.json", 1),
                        ("simple-sampled.speedscope.json", 10**9), ("two-sampled.speedscope.json", 2 * 10**9)):
        rows = {r["name"]: (r["self"] / scale, r["total"] / scale) for r in ask("top", os.path.join(at, name))["rows"]}
        assert rows == {"a": (0, 14), "b": (5, 14), "c": (5, 5), "d": (4, 4)}, name
    answer = run("top", os.path.join(at, "incomplete-trace.json"), code=0)
    assert "never closed" in " ".join((answer.out + answer.err).split())
    rows = {r["name"]: r["total"] for r in ask("top", os.path.join(at, "out-of-order-events.json"))["rows"]}
    assert rows == {"A": 4, "B": 2}, "each frame between its own events"


def test_random_traces(tmp_path):
    """Nested calls at random times, against the sums of a walk over the events."""
    chance = random.Random(5)
    for unit in ("microseconds", "none"):
        frames = [{"name": "f%d" % i, "file": "x.c", "line": i + 1} for i in range(7)]
        profiles = []
        for t in range(3):
            at, stack, events = 0, [], []
            for _ in range(400):
                at += chance.choice([0, 1, D("0.5"), D("3.125")])
                if stack and chance.random() < 0.5:
                    events.append({"type": "C", "frame": stack.pop(), "at": at})
                else:
                    stack.append(chance.randrange(7))
                    events.append({"type": "O", "frame": stack[-1], "at": at})
            events += [{"type": "C", "frame": f, "at": at} for f in reversed(stack)]
            profiles.append({"type": "evented", "name": "t%d" % t, "unit": unit, "startValue": 0, "endValue": at,
                             "events": events})
        found = {"$schema": SCHEMA["properties"]["$schema"]["enum"][0], "shared": {"frames": frames}, "profiles": profiles}
        path = tmp_path / "random.json"
        path.write_text(json.dumps(found, default=float))
        own, total = sums(found, lambda unit: True)
        rows = {r["name"]: (r["self"], r["total"]) for r in ask("top", str(path), "-n", "0")["rows"]}
        assert rows == {n: (by_name(own)[n], v) for n, v in by_name(total).items()}


# ---- writing ----

def write(path, out, *more):
    answer = run("convert", path, "--to", "speedscope", "-o", str(out), *more, code=0)
    found = load(out)
    validate(found)
    return found, answer


def validate(found):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(json.dumps(found, default=float)), SCHEMA)
    frames = len(found["shared"]["frames"])
    for p in found["profiles"]:
        assert len(p["samples"]) == len(p["weights"]) and all(i < frames for s in p["samples"] for i in s)
        assert p["endValue"] - p["startValue"] == sum(p["weights"])
    assert 0 <= found["activeProfileIndex"] < max(len(found["profiles"]), 1)


def folded_by_name(rows):
    found = collections.Counter()
    for r in rows:
        found[r["name"]] += r["self"]
    return found


@pytest.mark.parametrize("name", ["fp", "dwarf", "multi", "node-jit", "period"])
def test_perf_there_and_back(name, corpus, tmp_path):
    """Functions and threads have what they have in the recording."""
    spaa, out = tmp_path / "in.spaa", tmp_path / "out.speedscope.json"
    at = os.path.join(corpus, "perf-data", "made")
    run("convert", os.path.join(at, name + ".perf.data.zst"), "--symfs", os.path.join(at, "symfs"), "-o", str(spaa), code=0)
    found, _ = write(str(spaa), out)
    before, after = ask("top", str(spaa), "-n", "0"), ask("top", str(out), "-n", "0")
    assert before["whole"] == after["whole"] == sum(sum(p["weights"]) for p in found["profiles"])
    assert folded_by_name(before["rows"]) == folded_by_name(after["rows"])
    threads = [{(r["name"], r["pid"], r["tid"]): r["self"] for r in ask("top", str(p), "-n", "0", "--by", "thread")["rows"]}
               for p in (spaa, out)]
    assert threads[0] == threads[1]
    again = tmp_path / "again.speedscope.json"
    write(str(out), again)
    assert again.read_text() == out.read_text()


def test_inlined_functions_are_frames_with_their_declarations(corpus, tmp_path):
    at = os.path.join(corpus, "perf-data", "made")
    found, _ = write(os.path.join(at, "dwarf.perf.data.zst"), tmp_path / "o.json", "--symfs", os.path.join(at, "symfs"))
    assert any(f.get("file", "").endswith("mix.c") and f.get("line") for f in found["shared"]["frames"])
    assert any(f.get("file", "").startswith("[kernel") for f in found["shared"]["frames"])


def as_speedscope_sums(found):
    """Self and total by what speedscope takes for one frame: its name, file, line and column."""
    frames = [(f["name"], f.get("file"), f.get("line"), f.get("col")) for f in found["shared"]["frames"]]
    own, total = collections.Counter(), collections.Counter()
    for p in found["profiles"]:
        for stack, weight in zip(p["samples"], p["weights"]):
            own[frames[int(stack[-1])]] += weight
            for frame in {frames[int(i)] for i in stack}:
                total[frame] += weight
    return sorted((own[f], v) for f, v in total.items())


@pytest.mark.parametrize("name", ["fp", "dwarf", "multi"])
def test_speedscope_adds_up_what_top_does(name, corpus, tmp_path):
    """A function of several lines is one row there. (Callers that top infers are in no file.)"""
    at = os.path.join(corpus, "perf-data", "made")
    path, symfs = os.path.join(at, name + ".perf.data.zst"), os.path.join(at, "symfs")
    found, _ = write(path, tmp_path / "o.json", "--symfs", symfs)
    rows = ask("top", path, "--symfs", symfs, "-n", "0")["rows"]
    by_us = sorted((r["self"], r["total"]) for r in rows if not r["name"].startswith("["))
    by_them = as_speedscope_sums(found)
    for row in by_us:
        by_them.remove(row)


def test_fixtures_come_back(tmp_path):
    for name in ("threads.speedscope.json", "units.json", "damaged.json"):
        out, again = tmp_path / "out.json", tmp_path / "again.json"
        write(fixture(name), out)
        write(str(out), again)
        assert again.read_text() == out.read_text()


def test_what_is_left_out_is_said(corpus, tmp_path):
    path = os.path.join(corpus, "perf-data", "made", "multi.perf.data.zst")
    answer = run("convert", path, "--no-symbols", "--to", "speedscope", "-o", str(tmp_path / "o"), code=0)
    assert "a speedscope file holds one event" in answer.err.replace("\n  ", " ")


def test_sums_that_are_ours_are_no_times(tmp_path):
    out = tmp_path / "o.json"
    write(fixture("threads.speedscope.json"), out)
    assert run("timeline", str(out)).code == 2


def test_the_unit_is_that_of_the_metric(tmp_path, folded):
    assert {p["unit"] for p in write(str(folded), tmp_path / "o.json")[0]["profiles"]} == {"none"}
    heap = os.path.join(ROOT, "tests", "fixtures", "heapprofile", "leaky.heapprofile")
    assert {p["unit"] for p in write(heap, tmp_path / "o.json")[0]["profiles"]} == {"bytes"}

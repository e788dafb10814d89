"""CodeGuru profiles: read, written back, damaged. See also test_codeguru_write.py and test_codeguru_views.py."""

import collections
import json
import os
import random
import re

import pytest

import gen_codeguru as gen
from codeguru_kit import OFF_CPU, ON_CPU, back, numbers, stacks, to_spaa
from conftest import ROOT, ask, parse, run
from gen_codeguru import Num


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


# ---- what the Python agent says of its reports ----

REPORTS = [os.path.join(ROOT, "tests", "fixtures", "codeguru", "python-report-%d.codeguru.json" % i) for i in (1, 2)]


def report(**more):
    """The first report of the Python agent: 100 ticks of a second each, three threads of which one is its own."""
    text = {"start": 1711234567000, "end": 1711234667000, "agentMetadata": {
        "sampleWeights": {"WALL_TIME": 1.0}, "durationInMs": 101000,
        "agentInfo": {"type": "CodeGuruProfiler-python", "version": "1.2.6"}, "metrics": {"numThreads": 3.0},
        "numTimesSampled": 100}, "callgraph": {"children": {"m:f": {"counts": {"WALL_TIME": 200}}}},
        "debugInfo": {"agentStartTime": "2024-03-23T22:56:07.000Z"}}
    for key, value in more.items():
        at = next(d for d in (text, text["agentMetadata"], text["agentMetadata"]["metrics"], text["debugInfo"],
                              text["agentMetadata"]["agentInfo"]) if key in d)
        if value is None:
            del at[key]
        else:
            at[key] = value
    return json.dumps(text)


def duration_of(text):
    """The duration, and whether the stated one was said not to be used."""
    answer = run("info", "--json", "-", stdin=text, code=0)
    return json.loads(answer.out)["duration"], "SPAA-I490" in answer.out + answer.err


@pytest.mark.parametrize("more, seconds, said", [
    ({}, 101, False),
    # a later report: the duration is that of the first
    ({"start": 1711234700000, "end": 1711234730000}, 30, True),
    ({"start": 1711234700000, "end": 1711235000000}, 300, True),
    ({"start": 1711234700000, "end": 1711234800000}, 101, False),
    # it was made without saying when the agent began
    ({"end": 1711234597000, "agentStartTime": None}, 30, True),
    ({"end": 1711234867000, "agentStartTime": None}, 300, True),
    ({"end": 1711234867000, "agentStartTime": "yesterday"}, 300, True),
    # pauses, which the agent's first report leaves out; other agents may in each
    ({"durationInMs": 40000}, 40, False),
    ({"durationInMs": 40000, "type": "CodeGuruProfiler-JVM"}, 40, False),
    ({"durationInMs": 40000, "type": None}, 100, True),
    # longer than from start to end is none of them
    ({"durationInMs": 400000}, 100, True),
    ({"durationInMs": 400000, "type": "CodeGuruProfiler-JVM"}, 100, True),
    ({"durationInMs": 400000, "type": None}, 100, True),
    # several recordings in one
    ({"durationInMs": 400000, "type": "spaa"}, 400, False),
    # nothing to compare with
    ({"durationInMs": 400000, "end": None}, 400, False),
    ({"durationInMs": 400000, "end": 1711234567000}, 400, False),
    ({"durationInMs": None}, None, False),
])
def test_a_duration_that_start_and_end_contradict(more, seconds, said):
    text = report(**more)
    assert duration_of(text) == (seconds, said)
    assert numbers(back(to_spaa(text)[1])) == numbers(text)
    assert numbers(back(text)) == numbers(text)


def test_two_reports_of_one_process_are_compared_by_their_own_times():
    texts = [json.load(open(path, encoding="utf-8")) for path in REPORTS]
    assert texts[0]["agentMetadata"] == texts[1]["agentMetadata"]

    def counts(node):
        return sum(node.get("counts", {}).values()) + sum(counts(c) for c in node.get("children", {}).values())

    def function(node, name):
        return sum(function(c, name) + (c.get("counts", {}).get("WALL_TIME", 0) if n == name else 0)
                   for n, c in node.get("children", {}).items())
    seconds = [texts[0]["agentMetadata"]["durationInMs"] / 1000, (texts[1]["end"] - texts[1]["start"]) / 1000]
    work = ["--work", "%s,%s" % tuple(seconds)]  # one run a side: costs are a run's unless it is said what it did
    answer = run("diff", *REPORTS, *work, "--json", "-n", "0", code=0)
    said = json.dumps(json.loads(answer.out)["diagnostics"])
    assert "SPAA-I490" in said and "python-report-2" in said and "python-report-1" not in said
    got = json.loads(answer.out)
    assert [got[s]["duration"] for s in ("base", "new")] == seconds
    for row in got["rows"]:
        weights = [function(t["callgraph"], row["function"]) for t in texts]
        assert [row["base_weight"], row["new_weight"]] == weights
        if all(weights):
            want = (weights[1] / seconds[1]) / (weights[0] / seconds[0]) - 1
            assert row["cost"]["change_percent"] == pytest.approx(100 * want)
    assert sum(counts(t["callgraph"]) for t in texts) == 162 + 54
    rates = 162 / seconds[0], 54 / seconds[1]
    assert "whole   %.3g → %.3g samples/unit of work (×%.2f)" % (*rates, rates[1] / rates[0]) in run("diff", *REPORTS, *work, code=0).out
    for path in REPORTS:
        text = open(path, encoding="utf-8").read()
        assert numbers(back(to_spaa(text)[1])) == numbers(text)


def test_stacks_that_the_agent_cut_off():
    def cut(node, name=""):
        return (sum(node.get("counts", {}).values()) if name == "<Truncated>" else 0) + sum(
            cut(c, n) for n, c in node.get("children", {}).items())
    want = [cut(json.load(open(path, encoding="utf-8"))["callgraph"]) for path in REPORTS]
    assert want == [32, 6]
    for path, n in zip(REPORTS, want):
        assert ask("info", path)["quality"]["truncated"] == ask("summary", path)["quality"]["truncated"] == n
        assert ask("top", path)["quality"]["truncated"] == n
        for command in ("info", "summary"):
            words = "! CUT: %.0f %% of stacks were cut off (%d of" % (100 * n / ask(command, path)["whole"], n) if command == "summary" else "%d stacks cut off" % n
            assert words in run(command, path, code=0).out
    assert ask("info", *REPORTS[:1])["quality"]["lost"] == 0
    # over all states, at any count; names that only contain it are others
    text = json.dumps({"agentMetadata": {}, "callgraph": {"children": {
        "<Truncated>": {"counts": {"WAITING": 3, "IDLE": 0, "RUNNABLE": 2}}, "a <Truncated>": {"counts": {"RUNNABLE": 7}},
        "b": {"children": {"<Truncated>": {"counts": {"RUNNABLE": 10}, "file": "x", "line": [3]}}}}}})
    records, raw = to_spaa(text)
    assert records[0]["x_spaa"]["truncated"] == "15"
    assert ask("info", "-", stdin=raw)["quality"]["truncated"] == 15
    assert json.loads(back(raw)) == json.loads(text)


@pytest.mark.parametrize("line, srcline", [
    ("[10]", "app.py:10"), ("[10,60]", "app.py:10-60"), ("[10, 60]", "app.py:10-60"), ("[10,10]", "app.py:10"),
    ("[60,10]", "app.py:60"), ("[10,60,70]", "app.py:10"), ("[0,60]", "app.py:0-60"), ("[]", "app.py"), ("7", "app.py"),
    ("[10,null]", "app.py:10"), ("[1,999999999]", "app.py:1-999999999")])
def test_lines_are_a_range(line, srcline):
    text = ('{"start":1,"end":2,"agentMetadata":{},"callgraph":{"children":{"a:f":{"counts":{"WALL_TIME":5},"file":"app.py",'
            '"line":%s}}}}' % line)
    records, raw = to_spaa(text)
    frame, = (r for r in records if r["type"] == "frame")
    assert frame["srcline"] == srcline
    assert back(raw) == back(text) == text.replace(", 60", ",60")
    # kept beside only where the source line does not give it back
    assert ("x_codeguru" in frame) == (line.replace(" ", "") not in ("[10]", "[10,60]", "[0,60]", "[1,999999999]"))
    assert ask("top", "-", "--by", "line", stdin=text)["rows"][0]["name"] == "a:f " + srcline
    assert srcline in run("function", "-", "a:f", stdin=text, code=0).out
    # pprof has one line, and none of 0
    if line[1:2] == "0":
        return
    proto = run("convert", "-", "--to", "pprof", "-o", "-", stdin=text, code=0).raw
    again, = (r for r in to_spaa(proto)[0] if r["type"] == "frame")
    assert again["srcline"] == srcline.partition("-")[0]


def test_names_of_files_that_look_like_lines():
    for name in ("a-b:1", "a:1-2", "x:10-9", "-1", ":1-2", "1-2", "a:-2", "a:01-2"):
        for line in ("", ',"line":[3]', ',"line":[3,4]'):
            text = ('{"start":1,"end":2,"agentMetadata":{},"callgraph":{"children":{"f":{"counts":{"WALL_TIME":5},"file":"%s"%s}}}}'
                    % (name, line))
            assert back(to_spaa(text)[1]) == text
            assert back(to_spaa(run("convert", "-", "--to", "pprof", "-o", "-", stdin=text, code=0).raw)[1])


def test_fewer_counts_than_the_agent_took():
    def note(**more):
        return "SPAA-I488" in run("info", "-", stdin=report(**more), code=0).out

    def graph(n):
        return {"counts": {"WALL_TIME": n}}
    assert note(callgraph=graph(199))
    assert not note()
    assert not note(numThreads=2.9999999999999996)
    assert not note(numThreads=1.0, callgraph=graph(0))
    # more threads than it takes stacks of
    assert not note(numThreads=250.0)
    # ticks and threads of another report
    assert not note(start=1711234700000, end=1711234800000, callgraph=graph(150))
    assert not note(end=1711234597000, agentStartTime=None, callgraph=graph(50))
    for path in REPORTS:
        assert "SPAA-I488" not in run("info", path, code=0).out


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


@pytest.mark.parametrize("kids, want", [
    ('"a":{"counts":{"X":1}},"a":{"counts":{"X":2},"file":"a.c","line":[3,5]}', '{"a":{"counts":{"X":3},"file":"a.c","line":[3,5]}}'),
    ('"a":{"counts":{"X":1},"file":"a.c","line":[3,5]},"a":{"counts":{"X":2},"file":"b.c","line":[7]},"a":{"counts":{"X":4}}',
     '{"a":{"counts":{"X":7},"file":"a.c","line":[3,5]}}'),
    ('"a":{"children":{"b":{"counts":{"X":1}}}},"a":{"file":"a.c","children":{"b":{"counts":{"X":2},"line":[7]},"c":{"counts":{"X":4}}}}',
     '{"a":{"file":"a.c","children":{"b":{"counts":{"X":3},"line":[7]},"c":{"counts":{"X":4}}}}}'),
    ('"a":{"counts":{"X":1}},"a":{"file":"a.c"}', '{"a":{"counts":{"X":1},"file":"a.c"}}'),
    ('"a":{"file":"a.c"},"a":{"counts":{"X":1}}', '{"a":{"counts":{"X":1},"file":"a.c"}}'),
    ('"a":{"file":"a.c"},"a":{"file":"a.c"}', '{"a":{"file":"a.c"}}')])
def test_of_children_that_stand_twice_the_first_place_is_kept(kids, want):
    text = '{"start":0,"end":1,"agentMetadata":{},"callgraph":{"children":{%s}}}' % kids
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", stdin=text, code=0)
    assert json.loads(answer.out)["callgraph"]["children"] == json.loads(want) and "SPAA-W475" in answer.err
    assert back(to_spaa(text)[1]) == answer.out
    assert back(answer.raw) == answer.out


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
    assert ask("top", "-", stdin=text)["rows"][0]["self"] == 7
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


ONE = '{"callgraph":{"children":{"a":{"counts":{"RUNNABLE":1}},"b":{"counts":{"RUNNABLE":1000,"WAITING":20},"file":"b.c","children":{"c":{"counts":{"IDLE":300}}}}}}}'


@pytest.mark.parametrize("end, total", [('"b":{"counts":{"RUNNABLE":1000', 1), ('"b":{"counts":{"RUNNABLE":1000,', 1001), ('"b":{"counts":{"RUNNABLE":1000,"WAI', 1001),
                                        ('"b":{"counts":{"RUNNABLE":1000,"WAITING"', 1001), ('"WAITING":20', 1001), ('"WAITING":20}', 1021), ('"WAITING":20},"fi', 1021),
                                        ('"file":"b.c', 1021), ('"b.c","children":{', 1021), ('"c":{"counts":{"IDLE":300', 1021), ('"IDLE":300}', 1321), ('"IDLE":300}}}', 1321)])
@pytest.mark.parametrize("damage", ["", "oops"])
def test_every_whole_count_before_the_damage_counts(end, total, damage):
    head = ONE[:ONE.index(end) + len(end)]
    answer = run("convert", "-", "--to", "codeguru", "-o", "-", "--from", "codeguru", stdin=head + damage, code=0)
    assert sum(int(n) for n in re.findall(r'[A-Z]":(\d+)', answer.out)) == total
    assert ("SPAA-L301" if not damage else "SPAA-L30") in answer.err
    one = run("info", "-", "--from", "codeguru", stdin='{"callgraph":{"children":{"b":{"counts":{"RUNNABLE":1000},"fi' + damage, code=0)
    assert "SPAA-L301" in one.err and "SPAA-E010" not in one.err


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


def test_whole_counts_of_another_form_are_numbers_of_samples():
    """50.0 is 50 samples without a word, and comes back as it was; of 50.5 there is no number of samples, and no part of one is shown."""
    text = '{"start":1,"end":2,"agentMetadata":{},"callgraph":{"children":{"a":{"counts":{"X":%s}},"b":{"counts":{"X":50}}}}}'
    for number in ("50.0", "5e1", "500E-1"):
        answer = run("top", "-", "--json", stdin=text % number, code=0)
        assert (parse(answer.out)["whole"], parse(answer.out)["profile"]["samples"], answer.err) == (100, 100, "")
        assert parse(run("info", "-", "--json", stdin=text % number, code=0).out)["events"][0]["samples"] == 100
        assert back(to_spaa_from(text % number)).strip() == text % number
    for number, code in (("-50.0", "W476"), ("1e19", "W476"), ("0.5", "W483")):
        told = parse(run("top", "-", "--json", stdin=text % number, code=0).out)["diagnostics"]
        assert [d["code"] for d in told if d["code"] in ("SPAA-W476", "SPAA-W483")] == ["SPAA-" + code]
    answer = run("top", "-", "--json", stdin=text % "50.5", code=0)
    assert parse(answer.out)["whole"] == 100.5 and "SPAA-W483" in answer.out and "SPAA-W476" not in answer.out
    assert parse(answer.out)["profile"]["samples"] is None
    assert parse(run("info", "-", "--json", stdin=text % "50.5", code=0).out)["events"][0].get("samples") is None


def test_of_members_that_stand_twice_the_first_is_used_everywhere():
    """In what is shown and in what is written; counters are added up, which is told, too."""
    text = ('{"start":1700000000000,"start":1700000005000,"end":1700000060000,"end":1,"agentMetadata":{"durationInMs":60000,"durationInMs":50000,'
            '"fleetInfo":{"fleetInstanceId":"a","fleetInstanceId":"b"},"fleetInfo":{"hostName":"c"},"agentInfo":{"type":"x","version":"1","version":"2"}},'
            '"agentMetadata":{"agentInfo":{"type":"z"}},"callgraph":{"children":{"f":{"counts":{"R":3,"S":1,"R":4}},"g":{"counts":{"R":1}}}}}')
    answer = run("info", "-", "--json", stdin=text, code=0)
    info = parse(answer.out)
    assert (info["source"]["tool"], info["source"]["tool_version"], info["host"]["name"], info["duration"]) == ("x", "1", "a", 60)
    assert (info["time_range"]["start"], info["time_range"]["end"]) == (1700000000, 1700000060)
    told = [(d["code"], d["message"]) for d in info["diagnostics"]]
    assert len(told) == 8 and sum(c == "SPAA-E491" and "the counter `R`; both count" in m for c, m in told) == 1
    written = json.loads(run("convert", "-", "--to", "codeguru", "-o", "-", stdin=text).out)
    assert written == {"start": 1700000000000, "end": 1700000060000, "agentMetadata": {"durationInMs": 60000, "fleetInfo": {"fleetInstanceId": "a"},
                       "agentInfo": {"type": "x", "version": "1"}}, "callgraph": {"children": {"f": {"counts": {"R": 7, "S": 1}}, "g": {"counts": {"R": 1}}}}}
    added = run("convert", "-", "--to", "spaa", "-o", "-", "--group-by", "none", stdin=text.replace('"R":4', '"T":4'), code=0)
    assert '"value":8' in added.out and "SPAA-E491" not in added.err


def to_spaa_from(text):
    return run("convert", "-", "--to", "spaa", "-o", "-", "--from", "codeguru", stdin=text, code=0).raw


def test_a_child_that_is_no_object_is_a_loss():
    answer = run("top", "-", stdin='{"agentMetadata":{},"callgraph":{"children":{"a":5,"b":{"counts":{"X":1}}}}}', code=0)
    assert "SPAA-L300" in answer.err and "`a`" in answer.err


def test_other_json_is_refused():
    for text in ("{}", "[]", '{"agentMetadata":{}}', '{"callgraph":[]}', '{"start":1}', "null", '{"callgraph":'):
        run("info", "-", "--from", "codeguru", stdin=text, code=3)


# ---- who recorded and where ----

def host(fleet, **more):
    return json.dumps({"start": 1000, "end": 3000, "agentMetadata": {"fleetInfo": fleet, "agentInfo": {"type": "A", "version": "1"}, **more},
                       "callgraph": {"children": {"f": {"counts": {"RUNNABLE": 3}}}}})


FLEET = {
    "i-1": {"fleetInstanceId": "i-1", "hostType": "c5.xlarge"},
    "box": {"computeType": "aws_ec2_instance", "hostName": "box", "hostType": "c5.xlarge"},
    "": {"computeType": "aws_fargate_task", "taskArn": "arn:aws:ecs:eu-west-1:1:task/x"},
    "fn": {"computeType": "aws_lambda", "functionArn": "arn:aws:lambda:us-east-1:1:function:f", "id": "fn"},
}


def test_hosts_of_a_fleet_are_told_apart(tmp_path):
    paths = []
    for i, fleet in enumerate(FLEET.values()):
        paths.append(tmp_path / ("%d.codeguru.json" % i))
        paths[-1].write_text(host(fleet))

    def by(key, inputs=paths):
        return sorted(("" if r["name"].startswith("[no ") else r["name"], r["self"]) for r in ask("top", *inputs, "--by", "label:" + key)["rows"])

    assert by("fleet_instance") == sorted((name, 3) for name in FLEET)
    assert by("host_type") == [("", 6), ("c5.xlarge", 6)]
    assert by("region") == [("", 6), ("eu-west-1", 3), ("us-east-1", 3)]
    assert by("container") == [("", 9), ("arn:aws:ecs:eu-west-1:1:task/x", 3)]
    assert by("agent") == [("A", 12)]
    both = tmp_path / "all.spaa"
    run("merge", *paths, "--group-by", "state,label:region", "-o", both, code=0)
    assert by("region", [both]) == [("", 6), ("eu-west-1", 3), ("us-east-1", 3)]


def test_labels_that_nobody_asks_for_are_not_there():
    text = host(FLEET["i-1"])
    records, _ = to_spaa(text)
    assert [r["context"] for r in records if r["type"] == "stack"] == [{"event": "codeguru", "x_state": "RUNNABLE"}]
    assert json.loads(back(text)) == json.loads(text)


def test_the_process_and_its_cpu_time(tmp_path):
    """The Python agent repeats the CPU time of its first report in every later one."""
    first, later = (os.path.join(ROOT, "tests", "fixtures", "codeguru", "python-report-%d.codeguru.json" % i) for i in (1, 2))
    sql = "SELECT pid, cpu_time_ns FROM processes"
    assert ask("query", first, sql)["rows"] == [[9507, 4746093951]]
    assert ask("query", later, sql)["rows"] == [[9507, None]]
    assert ask("info", first)["host"]["cpus"] == 2

"""spaa validate of CodeGuru profiles: what the service would refuse, and what contradicts itself."""

import json
import time

import pytest

from conftest import parse, run

AGENT = {"sampleWeights": {"RUNNABLE": 1.0}, "durationInMs": 10000, "fleetInfo": {"fleetInstanceId": "i-1", "hostType": "m5"},
         "agentInfo": {"type": "x", "version": "1"}, "numTimesSampled": 3}


def profile(node=None, agent=AGENT, **more):
    d = {"start": 1711234567000, "end": 1711234577000, "agentMetadata": agent,
         "callgraph": {"children": {"main": node or {"counts": {"RUNNABLE": 3}}}}, **more}
    return {k: v for k, v in d.items() if v is not None}


def findings(text, code=None, *more):
    text = text if isinstance(text, str) else json.dumps(text)
    answer = parse(run("validate", "-", "--json", *more, stdin=text, code=code).out)
    return answer["valid"], [(f["code"][5:], f.get("path"), f["message"]) for f in answer["findings"]]


def test_what_is_valid():
    for text in (profile(), profile({"counts": {"RUNNABLE": 3}, "file": "a.py", "line": [1, 2], "x_own": [None]}),
                 profile({"file": None, "line": None, "children": {"f": {"counts": {"RUNNABLE": 1}, "line": [0]}}}),
                 profile(agent={**AGENT, "x": 1, "metrics": {"numThreads": 1.5, "y": []}, "runtimeVersion": None}),
                 profile(debugInfo={"processId": 1}), profile(start=1711234567000, end=1711234567000)):
        assert findings(text, 0) == (True, [])
    assert run("validate", "-", "--from", "codeguru", stdin=json.dumps(profile()), code=0).out == "valid: 0 errors, 0 warnings\n"


@pytest.mark.parametrize("text, code, field, words", [
    (profile(start=None), "E466", "start", "no start or no end"), (profile(end="x"), "E467", "end", "no number"),
    (profile(end=1711234566000), "E466", "end", "before it starts"), (profile(start=1), "E466", "start", "before 2015"),
    (profile(end=1000 * int(time.time() + 3600)), "E466", "end", "in the future"), (profile(end=10 ** 30), "E466", "end", "in the future"),
    (profile({"counts": {"RUNNABLE": -2}}), "E466", 'callgraph.children["main"].counts', "-2 (RUNNABLE of `main`)"),
    (profile({"counts": {"RUNNABLE": 0}}), "E466", "callgraph", "empty"), (profile(callgraph={}), "E466", "callgraph", "empty"),
    (profile({"counts": {"RUNNABLE": "3"}}), "E467", 'callgraph.children["main"].counts', 'a count of "3"'),
    (profile({"counts": [3]}), "E467", 'callgraph.children["main"].counts', "no object"),
    (profile({"counts": {"RUNNABLE": 1}, "children": [{}]}), "E467", 'callgraph.children["main"].children', "an array"),
    (profile({"counts": {"RUNNABLE": 1}, "children": {"f": 3}}), "E467", 'callgraph.children["main"].children["f"]', "no object"),
    (profile({"counts": {"RUNNABLE": 1}, "line": 3}), "E467", 'callgraph.children["main"].line', "neither"),
    (profile({"counts": {"RUNNABLE": 1}, "line": [1, 2, 3]}), "E467", 'callgraph.children["main"].line', "neither"),
    (profile({"counts": {"RUNNABLE": 1}, "line": [-1]}), "E467", 'callgraph.children["main"].line', "neither"),
    (profile({"counts": {"RUNNABLE": 1}, "file": 3}), "E467", 'callgraph.children["main"].file', "no string"),
    (profile(agent=[]), "E467", "agentMetadata", "no object"),
    (profile(agent={**AGENT, "numTimesSampled": "3"}), "E467", "agentMetadata.numTimesSampled", "no number"),
    (profile(agent={**AGENT, "durationInMs": -1}), "E467", "agentMetadata.durationInMs", "negative"),
    (profile(agent={**AGENT, "sampleWeights": {"RUNNABLE": -1}}), "E467", "agentMetadata.sampleWeights", "negative"),
    (profile(agent={**AGENT, "sampleWeights": {"RUNNABLE": "1"}}), "E467", "agentMetadata.sampleWeights", "no number"),
    (profile(agent={**AGENT, "fleetInfo": {"hostType": 1}}), "E467", "agentMetadata.fleetInfo.hostType", "no string"),
    (profile(callgraph=[], x=1), "E467", "callgraph", "no object")])
def test_errors(text, code, field, words):
    valid, found = findings(text, 1, "--from", "codeguru")
    assert not valid and any(c == code and f == field and words in m for c, f, m in found), found


@pytest.mark.parametrize("text, code, words", [
    (profile({"counts": {"RUNNABLE": 0.5}}), "W483", "0.5"), (profile(start=1711234567000.5), "W483", "1711234567000.5"),
    (profile({"counts": {"RUNNABLE": 1}, "line": [9, 3]}), "W484", "last line"), (profile(agent=None), "W485", "agentMetadata"),
    (profile({"counts": {"RUNNABLE": 1, "BLOCKED": 1}}), "W484", "counts of BLOCKED"),
    ('{"start":1711234567000,"end":1711234577000,"agentMetadata":{},"callgraph":{"children":{"a":{"counts":{"X":1}},"a":{"counts":{"X":1}}}}}',
     "W475", "`a`"),
    (profile(agent={**AGENT, "agentInfo": {"type": "profile-bee"}, "sampleWeights": {"RUNNABLE": 0.3}, "numTimesSampled": 4}), "W484", "numTimesSampled is 4"),
    (profile(agent={**AGENT, "agentInfo": {"type": "profile-bee"}, "sampleWeights": {"RUNNABLE": 9}}), "W484", "0.3 a second")])
def test_warnings(text, code, words):
    valid, found = findings(text, 0)
    assert valid and [c for c, _, _ in found] == [code] and words in found[0][2], found
    assert findings(text, 1, "--strict")[0] is False


def test_text_that_is_no_profile():
    whole = json.dumps(profile())
    assert findings(whole[:-3], 1)[1][0][0] == "E468"
    assert "follows" in findings(whole + " x", 1)[1][-1][2] or findings(whole + " x", 1)[1][-1][0] == "E468"
    for text in ("[]", "", "null", '{"start":1}'):
        assert "E460" in [c for c, _, _ in findings(text, 1, "--from", "codeguru")[1]]


def test_places_and_deep_graphs():
    """The line, the offset, and a path that fits."""
    node = {"counts": {"RUNNABLE": -1}}
    for i in range(400):
        node = {"children": {"f%d" % i: node}}
    text = json.dumps(profile({"children": {"g": node}}), indent=0)
    answer = parse(run("validate", "-", "--json", stdin=text, code=1).out)
    found = next(f for f in answer["findings"] if f["code"] == "SPAA-E466")
    assert found["line"] == text[:text.index(": -1")].count("\n") + 1 and text.encode()[found["offset"]:][:2] == b"-1"
    assert found["path"].startswith('callgraph.children["main"].children["g"].children["f399"]…(') and found["path"].endswith('.children["f0"].counts')
    deep = '{"start":1711234567000,"end":1711234577000,"agentMetadata":{},"callgraph":' + '{"children":{"a":' * 100000 + '{"counts":{"X":1}}' + "}}" * 100000 + "}"
    assert findings(deep, 0)[0]


def test_many_findings_are_bounded():
    node = {"counts": {"S%d" % i: -1 for i in range(5000)}}
    valid, found = findings(profile(node), 1)
    assert not valid and len(found) < 100


def test_what_convert_writes_is_valid(tmp_path):
    out = tmp_path / "x.codeguru.json"
    for start in ("1711234567000", "2024-03-23T22:56:07Z", "now"):
        run("convert", "-", "-o", out, "--to", "codeguru", "--start", start, stdin="main;f 3\nmain;g 4\n", code=0)
        assert run("validate", out, code=0).out == "valid: 0 errors, 0 warnings\n"
        if start != "now":
            assert json.loads(out.read_text())["start"] == 1711234567000
    assert abs(json.loads(out.read_text())["end"] / 1000 - time.time()) < 60
    for bad in ("-1", "soon", "2024-03-23", "2024-03-23T22:56:07Zx", ""):
        assert "--start needs" in run("convert", "-", "-o", "-", "--to", "codeguru", "--start", bad, stdin="main;f 3\n", code=2).err


def test_now_is_when_a_recording_ended(tmp_path):
    spaa = tmp_path / "t.codeguru.json"
    spaa.write_text(json.dumps(profile(start=1000, end=61000)))
    moved = json.loads(run("convert", spaa, "-o", "-", "--to", "codeguru", "--start", "now", code=0).out)
    assert moved["end"] - moved["start"] == 60000 and abs(moved["end"] / 1000 - time.time()) < 60

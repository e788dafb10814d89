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
                 profile({"children": {"f": {"counts": {"RUNNABLE": 1}, "line": [0]}}}),
                 profile(agent={**AGENT, "x": 1, "metrics": {"numThreads": 1.5, "y": []}, "runtimeVersion": None}),
                 profile(debugInfo={"processId": 1}), profile(start=1711234567000, end=1711234567000)):
        assert findings(text, 0) == (True, [])
    assert run("validate", "-", "--from", "codeguru", stdin=json.dumps(profile()), code=0).out == "valid: 0 errors, 0 warnings\n"


@pytest.mark.parametrize("text, code, field, words", [
    (profile(start=None), "E466", "start", "it has no start"), (profile(end=None), "E466", "end", "it has no end"), (profile(end="x"), "E467", "end", "no number"),
    (profile(end=1711234566000), "E466", "end", "before it starts"), (profile(start=1), "E466", "start", "before 2015"),
    (profile(end=1000 * int(time.time() + 3600)), "E466", "end", "in the future"), (profile(end=10 ** 30), "E466", "end", "in the future"),
    (profile({"counts": {"RUNNABLE": -2}}), "E466", 'callgraph.children["main"].counts["RUNNABLE"]', "-2 (RUNNABLE of `main`)"),
    (profile({"counts": {"RUNNABLE": 0}}), "E466", "callgraph", "empty"), (profile(callgraph={}), "E466", "callgraph", "empty"),
    (profile({"counts": {"RUNNABLE": "3"}}), "E467", 'callgraph.children["main"].counts["RUNNABLE"]', 'a count of "3"'),
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
    (profile(agent={**AGENT, "sampleWeights": {"RUNNABLE": -1}}), "E467", 'agentMetadata.sampleWeights["RUNNABLE"]', "negative"),
    (profile(agent={**AGENT, "sampleWeights": {"RUNNABLE": "1"}}), "E467", 'agentMetadata.sampleWeights["RUNNABLE"]', "no number"),
    (profile(agent={**AGENT, "fleetInfo": {"hostType": 1}}), "E467", "agentMetadata.fleetInfo.hostType", "no string"),
    (profile(callgraph=[], x=1), "E467", "callgraph", "no object")])
def test_errors(text, code, field, words):
    valid, found = findings(text, 1, "--from", "codeguru")
    assert not valid and any(c == code and f == field and words in m for c, f, m in found), found


NODE = 'callgraph.children["main"]'


@pytest.mark.parametrize("value, count", [(2 ** 63, None), (2 ** 64, None), (10 ** 30, None), (1e300, None), (2 ** 63 - 1, 1)])
def test_counts_that_no_tool_can_add_up(value, count):
    """One alone, or the first that makes the sum too large."""
    node = {"counts": {"RUNNABLE": value}}
    if count:
        node["children"] = {"f": {"counts": {"RUNNABLE": count}}}
    valid, found = findings(profile(node), 1)
    assert not valid and [(c, f) for c, f, _ in found] == [("E466", NODE + ('.children["f"]' if count else "") + '.counts["RUNNABLE"]')], found
    assert findings(profile({"counts": {"RUNNABLE": 2 ** 63 - 1}}), 0) == (True, [])


@pytest.mark.parametrize("numbers, over", [
    (["9223372036854775807.0", "1"], 1), (["5.0e18", "5.0e18"], 1), (["5e18", "4223372036854775808"], 1), (["4.0E18", "4e18", "1223372036854775808e0"], 2),
    (["4611686018427387903.5", "4611686018427387904.5"], 1), (["0.5", "9223372036854775807", "0.25", "0.25"], 3), (["0.5", "9223372036854775807.5"], 1),
    (["9223372036854775808.0"], 0), (["9.3e18"], 0), (["1e400"], 0), (["92233720368547758080e-1"], 0),
    (["9223372036854775807.0"], None), (["5e18", "4.223372036854775807e18"], None), (["4611686018427387903.5", "4611686018427387903.5"], None),
    (["9223372036854775807.999"], None), (["9223372036854775807", "0.999999999999999999"], None)])
def test_counts_of_any_form_add_up_as_whole_ones_do(numbers, over):
    children = ",".join('"f%d":{"counts":{"RUNNABLE":%s}}' % x for x in enumerate(numbers))
    text = json.dumps(profile({"X": 1})).replace('"X": 1', '"children":{%s}' % children)
    errors = [(c, f) for c, f, _ in findings(text)[1] if c[0] == "E"]
    assert errors == ([] if over is None else [("E466", '%s.children["f%d"].counts["RUNNABLE"]' % (NODE, over))])


def test_counts_of_any_form_are_those_of_the_agent():
    text = json.dumps(profile(agent={**AGENT, "agentInfo": {"type": "profile-bee"}, "sampleWeights": {"RUNNABLE": 0.3}})).replace('{"RUNNABLE": 3}', '{"RUNNABLE": %s}')
    assert findings(text % "3.0", 0) == (True, []) and findings(text % "30e-1", 0) == (True, [])
    assert [(c, m) for c, _, m in findings(text % "3.5", 0)[1]][-1] == ("W484", "values contradict each other: numTimesSampled is 3, and the counts add up to 3.5")


def test_minus_zero_is_zero():
    text = json.dumps(profile({"counts": {"RUNNABLE": 3, "B": 0}}, agent={**AGENT, "durationInMs": 0, "sampleWeights": {"RUNNABLE": 0}}))
    for zero in ("-0", "-0.0", "-0e5"):
        assert findings(text.replace('"B": 0', '"B": ' + zero).replace('"durationInMs": 0', '"durationInMs": ' + zero)
                        .replace('"RUNNABLE": 0', '"RUNNABLE": ' + zero), 0) == (True, [])
    assert "is negative" in findings(text.replace('"durationInMs": 0', '"durationInMs": -1e-400'), 1)[1][0][2]


def test_a_call_graph_that_is_no_object_is_one_error():
    for graph in ([], None, "x", 3):
        text = json.dumps(profile()).replace(json.dumps(profile()["callgraph"]), json.dumps(graph))
        assert [c for c, _, _ in findings(text, 1)[1]] == ["E467"]


@pytest.mark.parametrize("kind", ["x", None, [1], True])
def test_a_time_of_the_wrong_kind_is_one_error(kind):
    text = json.dumps(profile()).replace("1711234567000", json.dumps(kind), 1)
    assert [(c, f) for c, f, _ in findings(text, 1)[1]] == [("E467", "start")]


@pytest.mark.parametrize("was, now, field", [
    ('"start": 1711234567000', '"start": 1711234567000, "start": 1711234567000', "start"),
    ('"end": 1711234577000', '"end": 1, "end": 1711234577000', "end"),
    ('"callgraph": {', '"callgraph": {"counts": {"RUNNABLE": 1}}, "callgraph": {', "callgraph"),
    ('"agentMetadata": {', '"agentMetadata": {}, "agentMetadata": {', "agentMetadata"),
    ('"counts": {', '"counts": {"RUNNABLE": 5}, "counts": {', NODE + ".counts"),
    ('"counts": {', '"counts": {"RUNNABLE": 5, ', NODE + '.counts["RUNNABLE"]'),
    ('"counts": {', '"children": {}, "children": {}, "counts": {', NODE + ".children"),
    ('"counts": {', '"file": "a", "file": "a", "counts": {', NODE + ".file"),
    ('"counts": {', '"line": [1], "line": [1], "counts": {', NODE + ".line"),
    ('"sampleWeights": {', '"sampleWeights": {"RUNNABLE": 1.0, ', 'agentMetadata.sampleWeights["RUNNABLE"]'),
    ('"durationInMs": 10000', '"durationInMs": 10000, "durationInMs": 1', "agentMetadata.durationInMs"),
    ('"hostType": "m5"', '"hostType": "m5", "hostType": "m6"', "agentMetadata.fleetInfo.hostType")])
def test_members_that_stand_twice(was, now, field):
    """Who reads the first sees another profile than who reads the last; unknown ones may be anything."""
    text = json.dumps(profile()).replace(was, now, 1)
    valid, found = findings(text, 1)
    assert not valid and [(c, f) for c, f, _ in found] == [("E491", field)], found
    unknown = json.dumps(profile({"counts": {"RUNNABLE": 3}, "x": 1})).replace('"x": 1', '"x": 1, "x": 2')
    assert findings(unknown, 0) == (True, [])


@pytest.mark.parametrize("member", ["file", "line"])
def test_a_place_of_null_is_none(member):
    valid, found = findings(json.dumps(profile({"counts": {"RUNNABLE": 3}, member: None})), 1)
    assert not valid and [c for c, _, _ in found] == ["E467"]


def test_a_number_that_the_end_cuts_is_not_used():
    text = '{"callgraph":{"children":{"main":{"counts":{"RUNNABLE":3}}}},"end":1764200300000,"start":17642000'
    answer = run("info", "-", stdin=text)
    assert "17642" not in answer.out.replace("1764200300", "") and "SPAA-L301" in answer.err


def test_of_two_call_graphs_the_first_is_read():
    text = json.dumps(profile()).replace('"callgraph": {', '"callgraph": {"counts": {"RUNNABLE": 1}}, "callgraph": {', 1)
    answer = run("top", "-", stdin=text)
    assert "whole 1 sample" in answer.out and "SPAA-L300" in answer.err and "stands twice" in answer.err


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


def test_paths_end_at_what_contradicts():
    twice = json.dumps(profile({"children": {"a": {"counts": {"RUNNABLE": 1}}, "b": {"counts": {"RUNNABLE": 2}}}})).replace('"b"', '"a"')
    assert [(c, f) for c, f, _ in findings(twice, 0)[1]] == [("W475", NODE + '.children["a"]')]
    bee = {**AGENT, "agentInfo": {"type": "profile-bee"}, "sampleWeights": {"RUNNABLE": 9}}
    assert [(c, f) for c, f, _ in findings(profile(agent=bee), 0)[1]] == [("W484", 'agentMetadata.sampleWeights["RUNNABLE"]')]


WHOLE = json.dumps(profile())


@pytest.mark.parametrize("text, code, field, words", [
    (WHOLE.replace("1711234567000", "NaN"), "E468", "start", "expected a value"),
    (WHOLE.replace("1711234577000", "-Infinity", 1), "E468", "end", ""),
    ('{"x": 1., ' + WHOLE[1:], "E468", "x", "digit"), ('{"x": +1, "callgraph": {"children": {}}}', "E468", "x", "expected a value"),
    ('{"start": 1514764800000, "end": 1514771000000, "agentMetadata": null, "y": {"a": 1', "E468", "y", "expected"),
    (WHOLE.replace("agentMetadata", "agent\x01"), "E468", None, "control"),
    (WHOLE.replace('{"RUNNABLE": 3}', '{"RUNNABLE": NaN}'), "E468", 'callgraph.children["main"].counts["RUNNABLE"]', "expected a value"),
    (WHOLE.replace('"version": "1"', '"version": '), "E468", "agentMetadata", "expected a value"),
    ('{"start":', "E468", "start", "expected a value"), (WHOLE[:40], "E468", "end", ""), (WHOLE + " x", "E468", None, "follows"),
    ("[" + WHOLE + "]", "E460", None, "an array"), ('{"callgraph":null}', "E467", "callgraph", "no object"), ('{"start":1,"end":2}', "E460", "callgraph", ""),
    (WHOLE.encode("utf-16"), "E466", None, "UTF-16"), (WHOLE.encode("utf-16-le"), "E466", None, "UTF-16"), (WHOLE.encode("utf-16-be"), "E466", None, "UTF-16"),
    (WHOLE.encode("utf-32"), "E466", None, "UTF-32"), (b"\0\0\xfe\xff" + WHOLE.encode("utf-32-be"), "E466", None, "UTF-32")])
def test_what_begins_as_a_codeguru_profile_is_judged_as_one(text, code, field, words):
    """Without --from, and however damaged; with the line, and the member at which that is."""
    answer = parse(run("validate", "-", "--json", stdin=text, code=1).out)
    found = [f for f in answer["findings"] if f["code"] == "SPAA-" + code]
    assert found and found[0]["line"] == 1, answer
    assert found[0].get("path") == field and words in found[0]["message"]
    assert not any(f["code"] in ("SPAA-E105", "SPAA-E100") for f in answer["findings"])


def test_the_numbers_of_python_that_are_none_are_named():
    for number in ("NaN", "Infinity", "-Infinity"):
        assert "no numbers of JSON" in run("validate", "-", stdin=WHOLE.replace("1711234567000", number), code=1).err


@pytest.mark.parametrize("text, kind", [("null", "`null`"), ("[]", "an array"), ('[{"a":1}]', "an array"), ('{"a":1}', "an object"), ('"x"', "a string"),
                                        ('{\n "a": {"type": 1}\n}\n', "an object"), ("12", "a number"), ("[" + "1," * 60000 + "1]", "an array")])
def test_json_that_is_no_profile_is_called_that(text, kind, tmp_path):
    """One error that says so; a name says what it was meant to be."""
    answer = parse(run("validate", "-", "--json", stdin=text, code=1).out)
    assert [f["code"] for f in answer["findings"]] == ["SPAA-E005"] and answer["errors"] == 1
    assert "JSON, %s, and neither SPAA nor a CodeGuru profile" % kind in answer["findings"][0]["message"]
    named = tmp_path / "x.codeguru.json"
    named.write_text(text)
    assert "SPAA-E460" in run("validate", named, code=1).err
    named = named.rename(tmp_path / "x.spaa")
    assert "SPAA-E105" in run("validate", named, code=1).err


TRACE = json.dumps({"traceEvents": [{"name": "a", "ph": "X", "ts": 1, "dur": 2}], "displayTimeUnit": "ms"})
PRETTY = json.dumps({"nodes": [{"id": 1, "callFrame": {"type": 1}}], "startTime": 1}, indent=1)


@pytest.mark.parametrize("text, offset", [
    (TRACE[:40], 40), (TRACE[:-1], len(TRACE) - 1), (TRACE[:12], 12), (TRACE + " x", len(TRACE) + 1), (TRACE.replace("1", "NaN", 1), TRACE.index("1")),
    ("[" + TRACE + ",", len(TRACE) + 2), (PRETTY[:-4], None), (PRETTY.replace('"id"', '"id'), None), ('{"$schema": ', 12), ("{\n", 2), ("[", 1)])
def test_damaged_json_that_is_no_profile_is_called_that(text, offset):
    """One error, not those that its lines have as records of SPAA."""
    found = parse(run("validate", "-", "--json", stdin=text, code=1).out)["findings"]
    assert [f["code"] for f in found] == ["SPAA-E005"] and "it begins as JSON, an " in found[0]["message"]
    assert "neither SPAA nor a CodeGuru profile" in found[0]["message"] and (offset is None or "offset %d on" % offset in found[0]["message"])


@pytest.mark.parametrize("text", ['{"ty', '{"type"', '{"type":"header","format":"sp', '{"x":1,"type":"head', '{"type":"header"\n{"type":"dso"}\n', '{"x":\n{"type":"dso","id":1}\n',
                                  '{"level":1}\n{"level":2}\n', '{\n "type": "header"\n}\n{\n "type": "dso"\n}\n', "{'type': 1}\n{\"type\":\"dso\"}\n"])
def test_damaged_records_of_spaa_are_judged_as_that(text):
    codes = {f["code"] for f in parse(run("validate", "-", "--json", stdin=text, code=1).out)["findings"]}
    assert codes & {"SPAA-E100", "SPAA-E105"} and "SPAA-E005" not in codes


def test_text_that_is_no_json_by_its_name(tmp_path):
    named = tmp_path / "x.codeguru.json"
    for text in ("hello", "{'start': 1}", "nul", "{"):
        named.write_text(text)
        assert [f["code"] for f in parse(run("validate", named, "--json", code=1).out)["findings"]] == ["SPAA-E468"], text


def test_places_and_deep_graphs():
    """The line, the offset, and a path that fits."""
    node = {"counts": {"RUNNABLE": -1}}
    for i in range(400):
        node = {"children": {"f%d" % i: node}}
    text = json.dumps(profile({"children": {"g": node}}), indent=0)
    answer = parse(run("validate", "-", "--json", stdin=text, code=1).out)
    found = next(f for f in answer["findings"] if f["code"] == "SPAA-E466")
    assert found["line"] == text[:text.index(": -1")].count("\n") + 1 and text.encode()[found["offset"]:][:2] == b"-1"
    assert found["path"].startswith('callgraph.children["main"].children["g"].children["f399"]…(') and found["path"].endswith('.children["f0"].counts["RUNNABLE"]')
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


def test_what_a_code_says_needs_no_text():
    said = run("validate", "--from", "codeguru", "-", stdin='{"agentMetadata":{}}', code=1).err
    assert "no call graph in the input, line 1, field callgraph [SPAA-E460]" in said


@pytest.mark.parametrize("graph, field", [
    ('{"children":{"a":{"children":{"b":{"counts":{"X":x', 'callgraph.children["a"].children["b"].counts["X"]'),
    ('{"children":{"a":{"children":{"b":{"line":[1,x', 'callgraph.children["a"].children["b"].line'),
    ('{"children":{"a":{"children":{"b":x', 'callgraph.children["a"].children["b"]'),
    ('{"children":{"a":{"children":{"b":{} x', 'callgraph.children["a"].children'), ('{"children":{"a":{"foo":{"c":x', 'callgraph.children["a"]["foo"]'),
    ('{"children":{"a":{"counts":{"X":1},', 'callgraph.children["a"]'), ('{"children":x', "callgraph.children"), ("x", "callgraph"), ('{"children":{"a":{}}},"foo":x', "foo")])
def test_where_the_text_is_no_json(graph, field):
    text = '{"start":1711234567000,"end":1711234577000,"callgraph":' + graph
    found = [f for f in findings(text, 1)[1] if f[0] == "E468"]
    assert len(found) == 1 and found[0][1] == field, found


def test_a_limit_is_no_damage(tmp_path):
    deep = '{"start": 1711234567000, "x": ' + "[" * 140000 + "]" * 140000 + ', "callgraph": {"counts": {"RUNNABLE": 1}}}'
    (tmp_path / "deep.codeguru.json").write_text(deep)
    for command in ("validate", "top"):
        said = run(command, tmp_path / "deep.codeguru.json").err
        assert "a limit was reached: nested more than 131072 levels deep, which is the limit" in said and "SPAA-E007" in said
        assert "cut off" not in said

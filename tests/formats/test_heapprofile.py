"""V8's sampling heap profiles: what is read equals a sum over the raw file, and says what it cannot know."""

import gzip
import json
import os

import pytest

from conftest import ROOT, ask, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "heapprofile")


def fixture(name):
    return os.path.join(FIXTURES, name)


def nodes(head):
    """Every node with the names above it, by hand."""
    stack = [(head, ())]
    while stack:
        node, above = stack.pop()
        path = above + (node["callFrame"]["functionName"],)
        yield node, path
        stack += [(c, path) for c in node["children"]]


def raw(name):
    with open(fixture(name)) as f:
        found = json.load(f)
    return found.get("result", {}).get("profile", found)


def top(path, *args, **more):
    return ask("top", path, "-n", "0", *args, **more)


@pytest.mark.parametrize("name", ["leaky.heapprofile", "inlined.heapprofile", "lost.heapprofile", "answer.json"])
def test_totals_are_those_of_the_file(name):
    profile = raw(name)
    by_function, ids = {}, set()
    for node, path in nodes(profile["head"]):
        call = node["callFrame"]
        if node["selfSize"]:
            key = (call["functionName"], call["lineNumber"], call["url"])
            by_function[key] = by_function.get(key, 0) + node["selfSize"]
        ids.add(node["id"])
    found = top(fixture(name), "--keep-allocators")
    assert found["profile"]["event"] == "v8-heap" and found["profile"]["metric"] == "live_bytes"
    assert found["whole"] == sum(by_function.values())
    assert sorted(r["self"] for r in found["rows"] if r["self"]) == sorted(by_function.values())
    counted = [s for s in profile["samples"] if s["nodeId"] in ids]
    assert found["profile"]["samples"] == len(counted)


def test_a_function_is_owner_of_what_v8_makes_for_it():
    rows = {r["function"]: r for r in top(fixture("leaky.heapprofile"))["rows"]}
    assert "repeat" not in rows or not rows["repeat"]["self"]
    assert rows["remember"]["self_percent"] > 75


def test_the_known_leak_is_estimated():
    """2000 arrays of 200 numbers of 8 bytes, in the part of remember: 3.2 MB, seen by some 390 samples."""
    rows = [r for r in top(fixture("leaky.heapprofile"))["rows"] if r["function"] == "remember"]
    assert len(rows) == 1 and abs(rows[0]["self"] - 2000 * 1650) < 0.12 * 2000 * 1650


def test_methods_of_one_name_in_one_file_are_two():
    puts = [r for r in top(fixture("leaky.heapprofile"))["rows"] if r["name"].startswith("put")]
    assert len(puts) == 2 and len({r["id"] for r in puts}) == 2
    lines = {ask("function", fixture("leaky.heapprofile"), r["id"])["function"]["line"] for r in puts}
    assert lines == {4, 5}


def test_a_function_without_a_name_is_named_by_its_place():
    out = run("tree", fixture("leaky.heapprofile"), code=0).out
    assert "(anonymous) leaky.js:16:" in run("top", fixture("leaky.heapprofile"), "-n", "0", "--names", "full").out
    assert "(anonymous)" in out and "remember" in out


def test_node_and_v8_are_not_the_programs_own():
    out = run("summary", fixture("leaky.heapprofile"), code=0).out
    assert "remember" in out and "leaky.js:7" in out
    assert "Module._load" not in out and "executeUserEntryPoint" not in out


def test_what_the_file_cannot_say_is_said():
    out = run("top", fixture("inlined.heapprofile"), code=0)
    assert "inlined counts as its caller's" in out.out + out.err
    assert "without Buffers" in out.out + out.err


def test_few_samples_are_said():
    assert "FEW SAMPLES" in run("summary", fixture("lost.heapprofile"), code=0).out


def test_functions_of_a_forgotten_script_have_names():
    rows = {r["function"]: r for r in top(fixture("lost.heapprofile"))["rows"]}
    assert rows["remember"]["self_percent"] > 70


def test_members_in_any_order_and_of_other_kinds():
    answer = run("top", fixture("damaged.heapprofile"), "-n", "0", "--json")
    found = json.loads(answer.out)
    rows = {r["function"]: r["self"] for r in found["rows"]}
    assert rows["late"] == 100 and rows["(anonymous) b.mjs:5:3"] == 100 and rows["half"] == 2
    said = [m["message"] for m in found["diagnostics"]]
    assert any("selfSize of -3" in m for m in said) and any("child that is no object" in m for m in said)
    where = ask("function", fixture("damaged.heapprofile"), "(anonymous) b.mjs:5:3")["function"]
    assert where["file"] == "/srv/my app/b.mjs" and where["line"] == 5


def test_it_is_found_by_content_and_read_compressed(tmp_path):
    packed = tmp_path / "x.gz"
    with open(fixture("leaky.heapprofile"), "rb") as f:
        packed.write_bytes(gzip.compress(f.read()))
    assert top(packed)["whole"] == top(fixture("leaky.heapprofile"))["whole"]


def test_spaa_keeps_it(tmp_path):
    out = tmp_path / "x.spaa"
    run("convert", fixture("leaky.heapprofile"), "-o", out, code=0)
    run("validate", out, code=0)
    a, b = top(fixture("leaky.heapprofile")), top(out)
    assert [(r["function"], r["self"]) for r in a["rows"]] == [(r["function"], r["self"]) for r in b["rows"]]


def test_what_was_read_before_the_end_is_used(tmp_path):
    with open(fixture("leaky.heapprofile"), "rb") as f:
        text = f.read()
    whole = top(fixture("leaky.heapprofile"))["whole"]
    for n in range(200, len(text), 1777):
        cut = tmp_path / "cut.heapprofile"
        cut.write_bytes(text[:n])
        answer = run("top", cut, "--json")
        if answer.code == 0 and answer.out:
            found = json.loads(answer.out)
            assert found["whole"] <= whole
            assert any(m["code"] == "SPAA-L301" for m in found["diagnostics"])


def test_damage_is_no_crash(tmp_path):
    with open(fixture("answer.json"), "rb") as f:
        text = f.read()
    for i in range(0, len(text), 37):
        bad = tmp_path / "bad.heapprofile"
        bad.write_bytes(text[:i] + bytes([text[i] ^ 0x15]) + text[i + 1:])
        run("top", bad, "--from", "heapprofile")


def test_depth_has_no_end_but_the_limit(tmp_path):
    call = '"callFrame":{"functionName":"f","scriptId":"1","url":"/a.js","lineNumber":1,"columnNumber":1}'
    one = '{%s,"selfSize":%d,"id":1,"children":['
    depth = 20000
    deep = tmp_path / "deep.heapprofile"
    deep.write_text('{"head":' + one % (call, 0) * depth + one % (call, 7) + "]}" * (depth + 1) + "}")
    assert top(deep)["whole"] == 7


def test_more_frames_than_memory_should_hold_are_refused_before_any_is_made(tmp_path):
    """Memory at every level of a deep tree: the square of its size in frames."""
    call = '"callFrame":{"functionName":"f","scriptId":"1","url":"/a.js","lineNumber":1,"columnNumber":1}'
    one = '{%s,"selfSize":1,"id":1,"children":['
    depth = 12000
    deep = tmp_path / "deep.heapprofile"
    deep.write_text('{"head":' + one % call * depth + "]}" * depth + "}")
    answer = run("top", deep)
    assert answer.code == 3 and answer.out == ""
    assert "the call stacks add up to more than 65 million frames [SPAA-E007]" in answer.err


def test_of_nodes_that_share_an_id_the_first_has_the_samples(tmp_path):
    call = '"callFrame":{"functionName":"f%d","scriptId":"1","url":"/a.js","lineNumber":%d,"columnNumber":1}'
    ids = [2 + i % 7 for i in range(3000)]
    children = ",".join('{%s,"selfSize":8,"id":%d,"children":[]}' % (call % (i, i), ids[i]) for i in range(3000))
    samples = ",".join('{"size":8,"nodeId":%d,"ordinal":%d}' % (2 + i % 8, i) for i in range(8000))
    same = tmp_path / "same.heapprofile"
    same.write_text('{"head":{%s,"selfSize":0,"id":1,"children":[%s]},"samples":[%s]}' % (call % (0, 0), children, samples))
    counted = {r["function"]: r["self"] for r in top(same, "--metric", "samples")["rows"] if r["self"]}
    assert counted == {"f%d" % i: 1000 for i in range(7)}

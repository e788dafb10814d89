"""What is written of damaged inputs is well (tests/damage.py says what that means); a sweep of fixed seeds."""

import json
import os

import pytest
from conftest import ROOT, ask, run

import damage
import profiles

INVALID = os.path.join(ROOT, "tests", "conformance", "invalid")
FIXTURES = os.path.join(ROOT, "tests", "fixtures")


@pytest.mark.parametrize("folder", sorted(os.listdir(FIXTURES)) + ["conformance"])
def test_what_is_written_of_damaged_inputs_is_well(folder):
    path = os.path.join(ROOT, "tests", folder) if folder == "conformance" else os.path.join(FIXTURES, folder)
    count, written, bad = damage.sweep([path], rounds=2, seed=2000, others=False)
    assert count and not bad, "\n".join("%s: %s: %s" % b for b in bad)


@pytest.mark.parametrize("name", sorted(os.listdir(INVALID)))
def test_what_validate_rejects_is_put_right_or_refused(name, tmp_path):
    path, out = os.path.join(INVALID, name), str(tmp_path / "out.spaa")
    answer = run("convert", path, "-o", out)
    if answer.code == 0:
        order = name.startswith("E120") or name == "E104-header-late.spaa"  # which does not matter to readers
        assert answer.err or order, "nothing was said"
        run("validate", out, code=0)
        if run("merge", path, path, "-o", out).code == 0:
            run("validate", out, code=0)
    else:
        assert answer.code in (2, 3) and "SPAA-E" in answer.err and not os.path.exists(out)


@pytest.mark.parametrize("name, library", [("pmp/server.pmp", "libc.so.6"), ("sample/leaves.sample.txt", "libsystem_kernel.dylib"),
                                           ("spindump/contention.spindump.txt", "libsystem_kernel.dylib"), ("spt/small.spt", "ntoskrnl.exe"),
                                           ("perf_data/little.perf.data", "/opt/app/prog"), ("gperftools/64le.cpu", "/bin/app"),
                                           ("memcheck/default.log", "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so")])
def test_a_library_that_is_called_like_a_kernel_is_one(name, library, tmp_path):
    """Whatever format says so: in SPAA it could be nothing else, and what was written would not read back to itself."""
    with open(os.path.join(FIXTURES, name), "rb") as f:
        data = f.read()
    assert library.encode() in data
    kernel = "[kernel.kallsyms]".ljust(len(library), "x")[:len(library)]
    once, again = tmp_path / "once.spaa", tmp_path / "again.spaa"
    run("convert", "-q", "-", "--from", name.split("/")[0].replace("_", "-"), "-o", once, stdin=data.replace(library.encode(), kernel.encode()), code=0)
    run("validate", once, code=0)
    run("convert", once, "-o", again, code=0)
    assert once.read_bytes() == again.read_bytes() and kernel.encode() in once.read_bytes()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def converted(tmp_path, text):
    (tmp_path / "in.spaa").write_text(text)
    answer = run("convert", str(tmp_path / "in.spaa"), "-o", str(tmp_path / "out.spaa"), code=0)
    run("validate", str(tmp_path / "out.spaa"), code=0)
    return lines((tmp_path / "out.spaa").read_text()), answer.err


def stack_names(records):
    frames = {r["id"]: r["func"] for r in records if r["type"] == "frame"}
    return [[frames[f] for f in r["frames"]] for r in records if r["type"] == "stack"]


@pytest.mark.parametrize("broken", ["", "{", '{"type":"frame"}', None])
def test_a_frame_whose_record_is_damaged_is_unknown_in_its_place(tmp_path, broken):
    text = profiles.text([(["leaf", "middle", "root"], 5)])
    kept = []
    for line in text.splitlines():
        if '"middle"' in line:
            line = line[:len(line) // 2] if broken is None else broken
        kept.append(line)
    records, said = converted(tmp_path, "\n".join(kept) + "\n")
    assert stack_names(records) == [["leaf", "[unknown]", "root"]]
    assert "SPAA-E113" in said


@pytest.mark.parametrize("item", ["null", "[]", "{}", "true", "99", '"x"'])
def test_an_item_that_is_no_frame_is_unknown_in_its_place(tmp_path, item):
    text = profiles.text([(["leaf", "middle", "root"], 5)]).replace("[1,2,3]", "[1,%s,3]" % item)
    records, said = converted(tmp_path, text)
    assert stack_names(records) == [["leaf", "[unknown]", "root"]]
    assert "SPAA-E113" in said


@pytest.mark.parametrize("twice", ['"func":"a","func":"b"', '"func":"a","f\\u0075nc":"b"', '"func":"a","func":3'])
def test_of_members_with_one_key_the_first_is_kept(tmp_path, twice):
    text = profiles.text([(["a"], 5)]).replace('"func":"a"', twice)
    records, said = converted(tmp_path, text)
    assert [r["func"] for r in records if r["type"] == "frame"] == ["a"]
    assert "SPAA-E124" in said or "SPAA-E110" in said


def test_members_of_a_wrong_type_are_kept_under_another_name(tmp_path):
    text = profiles.text([(["a"], 5)]).replace('"func":"a"', '"func":{"a":1,"a":2},"func":"a"')
    records, said = converted(tmp_path, text)
    frame = next(r for r in records if r["type"] == "frame")
    assert frame["func"] == "a" and frame["x_odd_func"] == {"a": 1}
    assert "SPAA-E110" in said and "SPAA-E124" in said


def test_keys_that_stand_twice_deep_inside_of_what_is_kept(tmp_path):
    """Also in an object of many keys, and in many objects."""
    many = ",".join('"k%d":%d' % (i % 3000, i) for i in range(6000))
    text = profiles.text([(["a"], 5)]) + '{"type":"x_a","a":[{"b":{%s}}],"c":[%s]}\n' % (
        many, ",".join(["{%s}" % ",".join('"k%d":0' % i for i in range(40))] * 200))
    records, said = converted(tmp_path, text)
    kept = next(r for r in records if r["type"] == "x_a")
    assert kept["a"][0]["b"] == {"k%d" % i: i for i in range(3000)}
    assert len(kept["c"]) == 200 and "SPAA-E124" in said


def test_an_event_that_is_not_declared_is(tmp_path):
    text = profiles.text([(["a"], 5), (["b"], 7)]).replace('"events":[', '"events":[],"x_events":[')
    records, said = converted(tmp_path, text)
    assert [e["name"] for e in records[0]["events"]] == ["cycles"]
    answer = ask("top", str(tmp_path / "out.spaa"))
    assert answer["whole"]["value"] == 12 if isinstance(answer["whole"], dict) else True
    assert "SPAA-E114" in said


def test_stacks_before_the_header_wait_for_it(tmp_path):
    text = profiles.text([(["leaf", "root"], 5)], order="root_to_leaf")
    head, rest = text.split("\n", 1)
    dictionary = [r for r in rest.splitlines()]
    records, said = converted(tmp_path, "\n".join([dictionary[0], head, *dictionary[1:]]) + "\n")
    assert stack_names(records) == [["root", "leaf"]] and "SPAA-E104" in said

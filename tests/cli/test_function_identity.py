"""Functions of one name: rows, merges, round trips, handles; ids of another making."""

import json
import re

import pytest

import profiles
from comparison import ask, write
from conftest import run

LINES = {"a.c": 3, "b.c": 30}


def hash_in(file, build=1, **more):
    """The static function `hash` of that file, in one of two builds."""
    start = 0x1000 * build + LINES[file]
    return {"func": "hash", "dso": {"name": "/bin/app", "build_id": "ab%02d" % build, "is_kernel": False}, "ip": hex(start + 4), "symoff": "0x4",
            "x_func": {"linkage": "hash", "file": "/build/%d/src/%s" % (build, file), "line": LINES[file] + build, "start": hex(start),
                       "local": True}, **more}


def program(tmp_path, name, a, b, build=1, **x):
    app = hash_in("a.c", build)["dso"]
    main = {"func": "main", "dso": app, "ip": "0x900", "symoff": "0x0"}
    x = {"frames": "address", "group_by": [], "id": "xxh3-64/2", **x}
    return write(tmp_path, name, profiles.text([([hash_in("a.c", build), main], a), ([hash_in("b.c", build), main], b)], x_spaa=x))


def tops(path, *more):
    return [(r["function"], r["self"]) for r in ask("top", path, *more)["rows"] if r["self"]]


def records(path, kind):
    return [r for r in map(json.loads, open(path, encoding="utf-8")) if r["type"] == kind]


def test_two_static_functions_are_two_rows(tmp_path):
    a = program(tmp_path, "a.spaa", 65, 34)
    assert tops(a) == [("hash (a.c)", 65), ("hash (b.c)", 34)]
    ids = [r["id"] for r in ask("top", a)["rows"] if r["name"] == "hash"]
    assert len(set(ids)) == 2
    text = run("top", a, code=0).out
    assert "hash (a.c)" in text and "hash (b.c)" in text
    for handle, weight in zip(ids, (65, 34)):
        assert re.search(r"^self %d " % weight, run("function", a, handle, code=0).out, re.M)


@pytest.mark.parametrize("frames", ["address", "function"])
def test_two_builds_are_merged_function_by_function(frames, tmp_path):
    a, b = program(tmp_path, "a.spaa", 65, 34), program(tmp_path, "b.spaa", 20, 10, build=2)
    for order in ((a, b), (b, a)):
        run("merge", *order, "--frames", frames, "-o", tmp_path / "m.spaa", code=0)
        m = tmp_path / "m.spaa"
        if frames == "function":
            assert tops(m) == [("hash (a.c)", 85), ("hash (b.c)", 44)]
            assert {tuple(sorted(f.get("x_func", ()))) for f in records(m, "frame") if f["func"] == "hash"} == {
                ("file", "line", "linkage", "local")}
        run("validate", m, code=0)
    run("merge", a, b, "--frames", frames, "-o", tmp_path / "1.spaa", code=0)
    run("merge", b, a, "--frames", frames, "-o", tmp_path / "2.spaa", code=0)
    assert (tmp_path / "1.spaa").read_bytes() == (tmp_path / "2.spaa").read_bytes()


def test_spaa_comes_back_as_it_is(tmp_path):
    a = program(tmp_path, "a.spaa", 65, 34)
    for options in ([], ["--frames", "line"], ["--frames", "function"]):
        run("convert", a, *options, "-o", tmp_path / "1.spaa", code=0)
        run("convert", tmp_path / "1.spaa", "-o", tmp_path / "2.spaa", code=0)
        assert (tmp_path / "1.spaa").read_bytes() == (tmp_path / "2.spaa").read_bytes()
        assert tops(tmp_path / "2.spaa") == [("hash (a.c)", 65), ("hash (b.c)", 34)]


def test_ids_are_those_of_another_build(tmp_path):
    """By function, since nothing of what tells functions apart is of one build."""
    found = []
    for build in (1, 2):
        path = program(tmp_path, "p.spaa", 65, 34, build=build)
        run("convert", path, "--frames", "function", "-o", tmp_path / "f.spaa", code=0)
        found.append({r["id"] for r in records(tmp_path / "f.spaa", "stack")})
    assert found[0] == found[1] and len(found[0]) == 2


def test_parts_are_one_function_in_two_places(tmp_path):
    cold = hash_in("a.c")
    cold["x_func"] = {**cold["x_func"], "linkage": "hash.cold", "start": "0x8000"}
    cold["ip"] = "0x8004"
    text = profiles.text([([hash_in("a.c")], 3), ([cold], 2)], x_spaa={"frames": "address", "group_by": [], "id": "xxh3-64/2"})
    a = write(tmp_path, "a.spaa", text)
    assert tops(a) == [("hash", 5)]
    run("merge", a, a, "-o", tmp_path / "m.spaa", code=0)
    assert tops(tmp_path / "m.spaa") == [("hash", 10)] and len(records(tmp_path / "m.spaa", "stack")) == 2
    run("convert", a, "--frames", "function", "-o", tmp_path / "f.spaa", code=0)
    assert len(records(tmp_path / "f.spaa", "stack")) == len(records(tmp_path / "f.spaa", "frame")) == 1


def test_bare_names_are_the_functions_of_one_linkage_name(tmp_path):
    known, bare = {"func": "hash", "x_func": {"linkage": "hash", "file": "a.c", "line": 3}}, "hash"
    a = write(tmp_path, "a.spaa", profiles.text([([known], 3), ([bare], 2)]))
    assert tops(a) == [("hash", 5)]


def test_older_files_have_the_linkage_name_elsewhere(tmp_path):
    a = write(tmp_path, "a.spaa", profiles.text([([{"func": "f", "x_raw_func": "_Z1fi"}], 3), ([{"func": "f", "x_raw_func": "_Z1fl"}], 2)]))
    assert tops(a) == [("f(int)", 3), ("f(long)", 2)]
    frames = [json.loads(line) for line in run("convert", a, "--to", "spaa", code=0).out.splitlines() if '"frame"' in line[:20]]
    assert [f["x_func"] for f in frames] == [{"linkage": "_Z1fi"}, {"linkage": "_Z1fl"}] and "x_raw_func" not in frames[0]


def test_what_is_odd_in_x_func_is_kept(tmp_path):
    odd = {"func": "f", "x_func": {"linkage": 3, "line": "x", "start": "12", "new": [1]}}
    a = write(tmp_path, "a.spaa", profiles.text([([odd], 3)]))
    once = run("convert", a, "--to", "spaa", code=0).out
    frame = next(json.loads(line) for line in once.splitlines() if '"frame"' in line[:20])
    assert "x_func" not in frame and frame["x_func_more"]["new"] == [1] and frame["x_func_more"]["x_odd_linkage"] == 3
    assert run("convert", write(tmp_path, "b.spaa", once), "--to", "spaa", code=0).out == once
    told = run("validate", a, code=1)
    assert "field x_func.linkage" in told.err and "field x_func.line" in told.err


def test_a_label_says_which_one(tmp_path):
    a = program(tmp_path, "a.spaa", 65, 34)
    for name, weight in (("hash (a.c)", 65), ("hash (b.c)", 34)):
        assert re.search(r"^self %d " % weight, run("function", a, name, code=0).out, re.M)


def test_diff_matches_functions_by_their_files(tmp_path):
    a, b = program(tmp_path, "a.spaa", 65, 34), program(tmp_path, "b.spaa", 30, 70, build=2)
    answer = ask("diff", a, b)
    got = {r["matched_as"]: (r["base_weight"], r["new_weight"]) for r in answer["rows"] if "matched_as" in r}
    assert got == {"hash [a.c]": (65, 30), "hash [b.c]": (34, 70)}
    assert not answer["new_functions"] and not answer["vanished_functions"]


def test_diff_with_bare_names_has_them_together(tmp_path):
    a = program(tmp_path, "a.spaa", 65, 34)
    b = write(tmp_path, "b.spaa", profiles.text([(["hash", "main"], 50), (["main"], 50)]))
    for x, y, key in ((a, b, "base_weight"), (b, a, "new_weight")):
        answer = ask("diff", x, y)
        assert {r["function"]: r[key] for r in answer["rows"]}["hash"] == 99
        assert not answer["new_functions"] and not answer["vanished_functions"]


def test_a_file_under_another_name_is_the_same_function(tmp_path):
    def one(name, file):
        return write(tmp_path, name, profiles.text([([{"func": "f", "x_func": {"file": file, "local": True}}], 3)]))
    answer = ask("diff", one("a.spaa", "old.c"), one("b.spaa", "new.c"))
    assert not answer["new_functions"] and not answer["vanished_functions"]


def test_linkage_names_with_and_without_a_file_are_one(tmp_path):
    def one(name, **more):
        return write(tmp_path, name, profiles.text([([{"func": "f", "x_func": {"linkage": "_ZL1fi", **more}}], 3)]))
    answer = ask("diff", one("a.spaa"), one("b.spaa", file="a.cpp", local=True))
    assert not answer["new_functions"] and not answer["vanished_functions"]


def test_ids_of_another_making_are_kept_and_said_to_be_that(tmp_path):
    a = program(tmp_path, "a.spaa", 65, 34, id="xxh3-64/1")
    out = run("convert", a, "--to", "spaa", code=0).out
    assert json.loads(out.split("\n")[0])["x_spaa"]["id"] == "xxh3-64/1" and '"id":"s0"' in out
    told = run("validate", a, code=0)
    assert "SPAA-I232" in told.out + told.err
    out = run("convert", a, "--stack-ids", "content", "--to", "spaa", code=0).out
    assert json.loads(out.split("\n")[0])["x_spaa"]["id"] == "xxh3-64/2" and '"id":"s0"' not in out
    told = run("validate", write(tmp_path, "b.spaa", out), code=0)
    assert "SPAA-I232" not in told.out + told.err


def test_sql_has_what_is_known_of_functions(tmp_path):
    a = program(tmp_path, "a.spaa", 65, 34)
    rows = ask("query", a, "select linkage, file, line, start from functions where name = 'hash' order by file")["rows"]
    assert [list(r.values()) if isinstance(r, dict) else r for r in rows] == [
        ["hash", "/build/1/src/a.c", 4, "0x1003"], ["hash", "/build/1/src/b.c", 31, "0x101e"]]


def test_a_symbol_that_is_not_shown_as_its_function_is_stands_as_it_is(tmp_path):
    symbol = "_ZN4main1a4hash17h035661c5f3986cbeE"
    frame = {"func": "main::a::hash", "dso": "/bin/app", "x_func": {"linkage": symbol}}
    path = write(tmp_path, "a.spaa", profiles.text([([frame, "main"], 5)]))
    row = ask("top", path, "--by", "symbol")["rows"][0]
    assert (row["function"], row["name"], row["self"]) == (symbol, symbol, 5)
    assert " %s " % symbol in run("top", path, "--by", "symbol", code=0).out


@pytest.mark.parametrize("file,shown", [("/build/1/src/a.c", ("a.c 0x1003", "a.c 0x2003")),
                                        ("/build/1/src/sub/a.c", ("src/a.c", "sub/a.c")),
                                        ("/build/2/src/a.c", ("1/src/a.c", "2/src/a.c"))])
def test_a_name_with_a_file_is_all_that_only_folders_or_addresses_tell_apart(tmp_path, file, shown):
    one, other = hash_in("a.c"), hash_in("a.c")
    other["ip"], other["x_func"] = "0x2007", {**other["x_func"], "start": "0x2003", "file": file}
    x = {"frames": "address", "group_by": [], "id": "xxh3-64/2"}
    path = write(tmp_path, "a.spaa", profiles.text([([one, "main"], 5), ([other, "main"], 3)], x_spaa=x))
    assert tops(path) == [(f"hash ({shown[0]})", 5), (f"hash ({shown[1]})", 3)]
    assert re.search(r"2 functions as one\nself 8 ", run("function", path, "hash (a.c)", code=0).out)
    assert re.search(r"^self 3 ", run("function", path, f"hash ({shown[1]})", code=0).out, re.M)


def test_an_id_is_one_of_several_functions_that_only_a_build_tells_apart(tmp_path):
    """Of two binaries of one name: code without names, and functions of one name."""
    def frame(func, folder, ip, **more):
        return {"func": func, "dso": f"/{folder}/libfoo.so", "build_id": folder * 8, "ip": ip, **more}
    stacks = [([frame("0x1000", folder, "0x1000", func_resolved=False), "main"], n) for folder, n in (("aa", 5), ("bb", 3))]
    path = write(tmp_path, "a.spaa", profiles.text(stacks + [([frame("run", "aa", "0x2000"), "main"], 2), ([frame("run", "bb", "0x2000"), "main"], 1)]))
    rows = {r["id"]: r["self"] for r in ask("top", path, "-n", "0")["rows"] if r["self"]}
    assert sorted(rows.values()) == [1, 2, 3, 5]
    for handle, weight in rows.items():
        assert re.fullmatch("f:[0-9a-f]{4,16}[.][0-9a-f]{2,8}", handle) and ask("function", path, handle)["self"] == weight
    alike = {h.partition(".")[0] for h in rows}
    assert sorted(ask("function", path, handle)["self"] for handle in alike) == [3, 8]


def test_the_one_instance_of_a_generic_function_of_rust_is_the_same_under_both_manglings(tmp_path):
    old = ["app::sort::<u64, alloc::slice::{impl#0}::by::{closure#0}<u64>>", "app::size::<u8, (u64)>", "app::size::<u16, (u64)>", "app::kept::<u8>"]
    new = ["app::sort::<u64, <[u64]>::by::{closure#0}>", "app::size::<u8, (u64,)>", "app::size::<u16, (u64,)>", "app::kept::<u8>", "app::kept::<u16>"]
    a, b = (write(tmp_path, name, profiles.text([([{"func": f, "dso": "/bin/app"}, "main"], 50) for f in functions]))
            for name, functions in (("a.spaa", old), ("b.spaa", new)))
    answer = ask("diff", a, b, "-n", "0")
    assert [r["function"] for r in answer["vanished_functions"]] and {r["function"] for r in answer["vanished_functions"]} == set(old[1:3])
    assert {r["function"] for r in answer["new_functions"]} == {*new[1:3], new[4]}

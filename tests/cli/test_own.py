"""The program's own functions: summaries, findings and next steps name them, with what they call beneath."""

import pytest

import profiles
from conftest import ask, run

STL = "/usr/include/c++/12/bits/stl_map.h:500"
LIBC = {"dso": "/usr/lib/x86_64-linux-gnu/libc.so.6"}


def libc(name):
    return {"func": name, **LIBC}


def stl(name, **more):
    return {"func": name, "srcline": STL, "inlined": True, "inline_depth": 1, "ip": "0x10", **more}


PARSE = {"func": "parse_field", "srcline": "parse.cpp:7", "ip": "0x10"}
MAIN = {"func": "main", "srcline": "main.cpp:3", "ip": "0x90"}
ROOT = [libc("__libc_start_call_main"), "_start"]
SHOP = [([PARSE, MAIN, *ROOT], 7),
        ([stl("std::map<int, shop::T>::operator[](int const&)"), PARSE, MAIN, *ROOT], 30),
        ([libc("_int_malloc"), libc("malloc"), PARSE, MAIN, *ROOT], 15),
        ([libc("memcpy"), PARSE, MAIN, *ROOT], 10),
        ([libc("read"), "load", MAIN, *ROOT], 33),
        ([{"func": "kworker", "dso": "[kernel]"}], 5)]


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.spaa"
    path.write_text(profiles.text(SHOP))
    return path


def handle(path, name):
    return next(r["id"] for r in ask("top", path, "-n", 0)["rows"] if r["function"] == name)


def test_summary_names_own_functions_with_what_they_call(shop):
    answer = ask("summary", shop)
    assert [(r["name"], r["percent"], r["self_percent"], r["own"], r["own_by"]) for r in answer["hot"]] == [
        ("parse_field", 62, 7, True, "declaration"), ("load", 33, 0, True, "binary"),
        ("[no own function]", 5, 0, None, None), ("main", 0, 0, True, "declaration")]
    assert answer["hot"][0]["beneath"] == {"weight": 55, "percent": 55, "in": [
        {"name": "std::map::operator[]", "percent": 30}, {"name": "malloc", "percent": 15},
        {"name": "memcpy", "percent": 10}]}
    assert [(s["name"], s["total_percent"]) for s in answer["heaviest_path"]] == [("main", 95), ("parse_field", 62)]
    assert answer["heaviest_path"][1]["beneath"]["percent"] == 55
    assert answer["next"][0].endswith("function %s %s" % (shop, handle(shop, "parse_field")))
    out = run("summary", shop, code=0).out
    rows = [line.split() for line in out.splitlines()]
    assert ["parse_field", "62", "%", "62", "%", "parse.cpp", "30", "%", "in", "std::map::operator[]"] in rows
    assert "5.0 % of CPU has no own function on its stack ([kernel]: kworker 5.0 %)" in out


def test_findings_say_which_own_function_they_come_from(shop):
    found = next(f for f in ask("summary", shop)["findings"] if f["id"] == "allocation")
    assert found["function"]["function"] in ("malloc", "_int_malloc") and found["function"]["own"] is False
    assert (found["from"]["function"], found["from"]["weight"]) == ("parse_field", 15)
    assert "most from parse_field (15.00%)" in found["statement"]
    assert found["command"].endswith(handle(shop, "parse_field"))


def test_recursion_in_a_library_is_no_finding(tmp_path):
    path = tmp_path / "r.spaa"
    dfs = {"func": "std::__detail::_Executor<char>::_M_dfs(long)", "ip": "0x20", "symoff": "0x0"}
    path.write_text(profiles.text([([dfs, dfs, "shop::match(std::string)", "main"], 9), (["main"], 1)]))
    assert "recursion" not in {f["id"] for f in ask("summary", path)["findings"]}
    path.write_text(profiles.text([([dfs, "shop::match(std::string)", "shop::match(std::string)", "main"], 19), (["main"], 1)]))
    found = next(f for f in ask("summary", path)["findings"] if f["id"] == "recursion")
    assert found["from"]["function"] == "shop::match(std::string)" and found["command"].endswith(found["from"]["id"])


@pytest.mark.parametrize("command", ["top", "tree"])
def test_next_steps_name_own_functions(command, shop):
    name = ask("top", shop)["rows"][0]["function"]
    assert name == "read"  # not this one
    answer = ask(command, shop)
    step = next(n for n in answer["next"] if n.startswith("spaa function"))
    assert step.split()[-1] == handle(shop, "parse_field")
    assert ask("function", shop, step.split()[-1])["function"]["function"] == "parse_field"


def test_every_row_says_whether_it_is_own(shop):
    own = {r["function"]: r["own"] for r in ask("top", shop, "-n", 0)["rows"]}
    assert {k for k, v in own.items() if v} == {"parse_field", "main", "load"}
    assert {n["name"]: n["own"] for n in ask("tree", shop)["nodes"][1:]} == own
    callees = ask("function", shop, "parse_field")["callees"]
    assert callees and not any(r["own"] for r in callees)


def test_leaks_next_names_the_own_function(tmp_path):
    path = tmp_path / "heap.spaa"
    events = [profiles.event("heap", "live_bytes", "allocation", "event")]
    node = "std::_Rb_tree<int, shop::T>::_M_create_node(int)"
    path.write_text(profiles.text([([libc("malloc"), node, "shop::fill()", "main"], 64)], events=events))
    answer = ask("leaks", path)
    assert (answer["rows"][0]["function"], answer["rows"][0]["asked_through"]) == ("shop::fill()", node)
    answer = ask("leaks", path, "--by", "owner", "--keep-allocators")
    assert answer["rows"][0]["function"] == "malloc" and answer["rows"][0]["own"] is False
    step = next(n for n in answer["next"] if n.startswith("spaa function"))
    assert handle(path, "shop::fill()") in step.split()


def test_own_says_what_is_own(shop):
    def own(pattern):
        return {r["function"] for r in ask("top", shop, "-n", 0, "--own", pattern)["rows"] if r["own"]}
    assert own("^load$") == {"load"}                      # by name
    assert own("libc") == {"__libc_start_call_main", "_int_malloc", "malloc", "memcpy", "read"}  # by binary, too
    assert own("parse[.]cpp") == {"parse_field"}          # by source file
    answer = ask("summary", shop, "--own", "^load$")
    assert [(r["name"], r["percent"], r["own_by"]) for r in answer["hot"]] == [
        ("[no own function]", 67, None), ("load", 33, "--own")]
    assert all("--own '^load$'" in n for n in answer["next"] if n.startswith("spaa function"))
    assert not any("--own" in n for n in answer["next"] if n.startswith("spaa flamegraph"))


def test_own_that_fits_nothing_or_is_no_expression_is_refused(shop):
    assert "--own nothing" in run("summary", shop, "--own", "nothing", code=1).err
    run("summary", shop, "--own", "(", code=2)
    run("top", shop, "--own", "(", "--json", code=2)
    run("convert", shop, "--own", "x", "--to", "folded", code=2)


def test_where_nothing_is_own_all_is_and_that_is_said_once(tmp_path):
    path = tmp_path / "kernel.spaa"
    k = [{"func": f, "dso": "[kernel]"} for f in ("vfs_read", "do_syscall_64")]
    path.write_text(profiles.text([(k, 8), (k[1:], 2)]))
    answer = ask("summary", path)
    assert answer["all_own"] is True
    assert [(r["name"], r["percent"], r["own"], r["own_by"]) for r in answer["hot"]] == [
        ("vfs_read", 80, True, None), ("do_syscall_64", 20, True, None)]
    assert [s["name"] for s in answer["heaviest_path"]] == ["do_syscall_64", "vfs_read"]
    out = run("summary", path, code=0).out
    assert out.count("functions (none is known to be own)") == 1 and " in " not in out.split("functions (")[1]


def test_where_little_is_own_the_whole_path_is_shown(tmp_path):
    path = tmp_path / "idle.spaa"
    idle = [{"func": f, "dso": "[kernel]"} for f in ("halt", "do_idle")]
    path.write_text(profiles.text([(idle, 95), (["work", "main"], 5)]))
    answer = ask("summary", path)
    assert [(s["name"], s["own"]) for s in answer["heaviest_path"]] == [("do_idle", False), ("halt", False)]
    assert "95 % of CPU has no own function on its recorded stack ([kernel]: halt 95 %)" in run("summary", path, code=0).out
    for command in ("summary", "top", "tree"):
        step = next(n for n in ask(command, path)["next"] if n.startswith("spaa function"))
        assert step.split()[-1] == handle(path, "halt")


def test_folded_stacks_of_several_languages(tmp_path):
    path = tmp_path / "go.folded"
    path.write_text("runtime.goexit;runtime.main;main.main;main.encode;encoding/json.Marshal;runtime.mallocgc 9\n"
                    "runtime.goexit;runtime.gcBgMarkWorker 1\n")
    answer = ask("summary", path)
    assert [(s["name"], s["own_by"]) for s in answer["heaviest_path"]] == [
        ("main.main", "namespace"), ("main.encode", "namespace")]
    assert answer["heaviest_path"][1]["beneath"]["in"] == [{"name": "encoding/json.Marshal", "percent": 90}]
    path.write_text("java.lang.Thread.run;com.acme.Shop.run;java.util.HashMap.put;java.util.HashMap.hash 9\n")
    assert [r["name"] for r in ask("summary", path)["hot"]] == ["com.acme.Shop.run"]


def test_functions_of_go_are_declared_in_other_packages_of_go(tmp_path):
    """As -trimpath leaves them: what is linked to another package, and assembly."""
    path = tmp_path / "go.spaa"
    def go(name, line):
        return {"func": name, "dso": "/srv/shop", "srcline": line}
    main = [go("main.copy", "shop/shop.go:35"), go("main.main", "shop/shop.go:75"), go("runtime.main", "runtime/proc.go:285"),
            go("runtime.goexit", "runtime/asm_amd64.s:1700")]
    path.write_text(profiles.text([([go("reflect.growslice", "runtime/slice.go:369")] + main, 6),
                                   ([go("gcWriteBarrier", "runtime/asm_amd64.s:1813")] + main, 3), (main, 1)]))
    own = {r["name"]: r["percent"] for r in ask("summary", path)["hot"]}
    assert own == {"main.copy": 100, "main.main": 0}


def test_a_file_without_its_folder_proves_nothing_of_std(tmp_path):
    """Valgrind's logs have names of files alone: those of std's templates are headers of std."""
    path = tmp_path / "bare.spaa"
    node = {"func": "std::_Rb_tree<int, T>::_M_get_node()", "srcline": "stl_tree.h:561"}
    ours = {"func": "std::hash<shop::T>::operator()(shop::T const&) const", "srcline": "/src/shop/hash.h:9"}
    main = {"func": "main", "srcline": "mix.cpp:9"}
    path.write_text(profiles.text([([node, main], 5), ([ours, main], 6)]))
    own = {r["function"]: r["own"] for r in ask("top", path, "-n", 0)["rows"]}
    assert own == {node["func"]: False, ours["func"]: True, "main": True}

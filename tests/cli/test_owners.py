"""Who owns memory: stacks of allocations end at the function that asked, in every answer.

Stacks are those of programs that were recorded by heaptrack, jemalloc and Go, as their frames are named there.
"""

import json
import re
import shutil
import subprocess

import pytest

import profiles
from conftest import ask, run

LIBC, LIBSTDCXX, LD = "/lib/libc.so.6", "/lib/libstdc++.so.6", "/lib64/ld-linux-x86-64.so.2"
START = [{"func": "__libc_start_call_main", "dso": LIBC}, "_start"]
NEW = {"func": "operator new(unsigned long)", "dso": LIBSTDCXX}
VECTOR = ["std::__new_allocator<int>::allocate(unsigned long, void const*)", "std::vector<int>::push_back(int const&)"]
STRING = [NEW, {"func": "std::__cxx11::basic_string<char>::_M_mutate(unsigned long)", "dso": LIBSTDCXX}]
RUST = ["prof_backtrace_impl", "_rjem_je_prof_tctx_create", "do_rallocx", "alloc::alloc::realloc",
        "<alloc::alloc::Global as core::alloc::Allocator>::grow", "<alloc::raw_vec::RawVecInner>::finish_grow",
        "<alloc::string::String as core::fmt::Write>::write_char", "core::fmt::write", "alloc::fmt::format::format_inner"]
GO = ["runtime.mallocgc", "runtime.growslice", "bytes.(*Buffer).grow", "fmt.Sprintf"]


def heap(path, stacks):
    """stacks: (frames from the leaf, bytes); a frame is a name or a dict."""
    events = [profiles.event("malloc", "live_bytes", "allocation", "event")]
    path.write_text(profiles.text(stacks, events=events))
    return path


def owners(path, *options):
    return {r["function"]: r["self"] for r in ask("top", path, "-n", 0, *options)["rows"] if r["self"]}


@pytest.mark.parametrize("stack,owner", [
    ([NEW, *VECTOR, "shop::fill()", "main", *START], "shop::fill()"),
    ([*STRING, "shop::render(int)", "main", *START], "shop::render(int)"),
    ([{"func": "0xa2630", "dso": "/lib/libjemalloc.so.2"}, {"func": "0x95f24", "dso": "/lib/libjemalloc.so.2"}, *VECTOR,
      "collect()", "main"], "collect()"),
    ([{"func": "__GI___strdup", "dso": LIBC}, "name_it", "main"], "name_it"),
    ([*RUST, "ledger::lines::{closure#0}", "core::iter::traits::iterator::Iterator::fold", "ledger::main"],
     "ledger::lines::{closure#0}"),
    ([*GO, "main.page", "main.main", "runtime.main"], "main.page"),
    # a library that holds memory of its own accord is an owner
    (["malloc", {"func": "xmlBufCreateSize", "dso": "/lib/libxml2.so.2"}, "main"], "xmlBufCreateSize"),
    (["runtime.mallocgc", "bytes.growSlice", "encoding/json.Marshal", "main.main", "runtime.main"], "encoding/json.Marshal"),
    # library code above a function of the program hides nothing, nor do names like those of allocators
    ([NEW, "main::{lambda()#1}::operator()() const", "void std::__invoke_impl<void, main::{lambda()#1}>()", "main"],
     "main::{lambda()#1}::operator()() const"),
    ([NEW, "shop::vector<int>::push_back(int)", "main"], "shop::vector<int>::push_back(int)"),
    (["malloc", "je_parser", "main"], "je_parser"),
    (["malloc", "newImpl", "main"], "newImpl"),
    # where the function was inlined unseen, what calls it is all that tells
    ([NEW, *VECTOR, "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()",
      {"func": "execute_native_thread_routine", "dso": LIBSTDCXX}, {"func": "start_thread", "dso": LIBC}],
     "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()"),
    # nothing of the program: the container, else what of the runtime has a name, else the outermost allocator
    ([NEW, *VECTOR, "std::run()", {"func": "start_thread", "dso": LIBC}, {"func": "clone3", "dso": LIBC}], "std::run()"),
    (["runtime.mallocgc", "runtime.newobject", "runtime.malg", "runtime.newproc1", "runtime.goexit"], "runtime.malg"),
    (["malloc", {"func": "_dl_new_object", "dso": LD}, {"func": "_dl_start_user", "dso": LD}], "_dl_new_object"),
    (["malloc", "operator new(unsigned long)"], "operator new(unsigned long)"),
    (["malloc"], "malloc"),
])
def test_the_owner_is_who_asked(tmp_path, stack, owner):
    path = heap(tmp_path / "heap.spaa", [(stack, 64)])
    assert owners(path) == {owner: 64}
    leaf = stack[0] if isinstance(stack[0], str) else stack[0]["func"]
    assert owners(path, "--keep-allocators") == {leaf: 64}


def test_bare_names_of_inlined_functions_are_known_by_their_files(tmp_path):
    inlined = {"inline_depth": 1, "ip": "0x1000", "srcline": "/usr/include/c++/12/bits/std_thread.h:141"}
    stack = [NEW, {"func": "thread<main()::<lambda()> >", **inlined}, {"func": "main", "ip": "0x1000", "srcline": "own.cpp:30"}]
    assert owners(heap(tmp_path / "heap.spaa", [(stack, 64)])) == {"main": 64}


@pytest.fixture
def shop(tmp_path):
    fill = {"func": "fill()", "srcline": "shop.cpp:7"}
    return heap(tmp_path / "shop.spaa", [([NEW, *VECTOR, fill, "main", *START], 600),
                                         (["malloc", "Pool::take(unsigned long)", "render()", "main", *START], 300),
                                         (["malloc", "main", *START], 100)])


def test_every_answer_is_by_owner_and_says_so(shop, tmp_path):
    top = ask("top", shop)
    assert top["profile"]["by_owner"] is True and top["profile"]["shortened"] == 3 and top["whole"] == 1000
    assert [r for r in ask("top", shop, "--by", "line")["rows"] if r["self"] == 600 and "shop.cpp:7" in json.dumps(r)]
    tree = ask("tree", shop, "--inverted")
    assert {n["name"] for n in tree["nodes"] if n["depth"] == 1} == {"fill()", "Pool::take(unsigned long)", "main"}
    assert ask("stacks", shop)["rows"][0]["frames"][0]["function"] == "fill()"
    for command in ("top", "tree", "stacks"):
        assert "; by owner (--keep-allocators: by what handed it out)" in run(command, shop, code=0).out.replace("\n  ", " ")
        kept = ask(command, shop, "--keep-allocators")
        assert "by_owner" not in kept["profile"]
    run("flamegraph", shop, "-o", tmp_path / "x.svg", code=0)
    svg = (tmp_path / "x.svg").read_text()
    assert "by owner" in svg and "operator new" not in svg and "fill()" in svg
    run("flamegraph", shop, "-o", tmp_path / "x.svg", "--keep-allocators", code=0)
    svg = (tmp_path / "x.svg").read_text()
    assert "by owner" not in svg and "operator new" in svg


def test_weights_are_the_same_by_owner(shop):
    assert sum(owners(shop).values()) == sum(owners(shop, "--keep-allocators").values()) == 1000


def test_filters_see_whole_stacks(shop):
    assert owners(shop, "--focus", "operator new") == {"fill()": 600}
    assert owners(shop, "--ignore", "operator new") == {"Pool::take(unsigned long)": 300, "main": 100}
    assert owners(shop, "--root-at", "operator new(unsigned long)") == {"operator new(unsigned long)": 600}


def test_more_allocators(shop):
    assert owners(shop, "--allocators", "^Pool::") == {"fill()": 600, "render()": 300, "main": 100}
    assert owners(shop, "--allocators", "^Pool::|^fill") == {"render()": 300, "main": 700}
    assert ask("top", shop, "--allocators", "^Pool::")["profile"]["allocators"] == "^Pool::"
    assert "by owner, --allocators ^Pool::" in run("top", shop, "--allocators", "^Pool::", code=0).out
    nothing = run("top", shop, "--allocators", "nosuch", code=1)
    assert "nothing matches the filters: --allocators nosuch [SPAA-E032]" in nothing.err and nothing.out == ""
    assert run("top", shop, "--allocators", "(", code=2)
    assert "exclude each other" in run("top", shop, "--allocators", "x", "--keep-allocators", code=2).err


def test_who_asks_about_an_allocator_gets_it(shop):
    answer = ask("function", shop, "operator new(unsigned long)")
    assert answer["kept_allocators"] is True and "by_owner" not in answer["profile"] and answer["self"] == 600
    assert [c["function"] for c in answer["callers"]] == [VECTOR[0]]
    assert "answered as by --keep-allocators" in run("function", shop, "malloc", code=0).out
    answer = ask("function", shop, "fill()")
    assert "kept_allocators" not in answer and answer["profile"]["by_owner"] is True and answer["self"] == 600


def test_what_is_written_and_queried_is_as_recorded(shop, tmp_path):
    run("convert", shop, "--focus", "fill", "-o", tmp_path / "some.folded", code=0)
    assert "operator new" in (tmp_path / "some.folded").read_text()
    def self_of(table):
        words = f"select self from {table} where {'name' if table == 'functions' else 'function'} like 'operator new%'"
        return run("query", shop, "--format", "csv", words, code=0).out.split()[1:]
    assert self_of("functions") == ["600"] and self_of("ask_top('--keep-allocators')") == ["600"]
    assert self_of("ask_top()") == []


def test_what_is_no_memory_has_no_owners(tmp_path):
    path = tmp_path / "cpu.spaa"
    path.write_text(profiles.text([(["malloc", "main"], 5)]))
    assert owners(path) == {"malloc": 5} and "by_owner" not in ask("top", path)["profile"]


PROGRAM = r"""
#include <cstring>
#include <map>
#include <string>
#include <vector>
#define OWN __attribute__((noinline))
static char *volatile last; /* no tail calls */
OWN char *by_new() { last = new char[300000]; return last; }
OWN void *by_vector() { auto *v = new std::vector<char>; v->reserve(200000); v->push_back('x'); return v; }
OWN void *by_map() { auto *m = new std::map<int, int>; for (int i = 0; i < 2000; i++) (*m)[i] = i; return m; }
OWN void *by_string() { auto *s = new std::string; s->reserve(150000); return s; }
OWN char *by_strdup() { static char t[90001]; memset(t, 'a', 90000); last = strdup(t); return last; }
int main() { return by_new() == by_vector() || by_map() == by_string() || !by_strdup(); }
"""


@pytest.mark.skipif(not shutil.which("heaptrack") or not shutil.which("g++"), reason="heaptrack and g++ record it")
@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O2", "-g"]])
def test_a_program_whose_amounts_are_known(tmp_path, flags):
    (tmp_path / "own.cpp").write_text(PROGRAM)
    subprocess.run(["g++", *flags, "own.cpp", "-o", "own"], cwd=tmp_path, check=True, timeout=120)
    subprocess.run(["heaptrack", "-o", "own", "./own"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    got = owners(next(tmp_path.glob("own.*z*")), "-m", "live_bytes")
    amounts = {re.sub(r"[(\[].*", "", k): v for k, v in got.items()}
    want = {"by_new": 300000, "by_vector": 200024, "by_map": 2000 * 40 + 48, "by_string": 150033, "by_strdup": 90001}
    assert {k: amounts.get(k) for k in want} == want

"""Which functions of the two sides are one, and how they were compiled."""

import os
import shutil
import subprocess

import pytest

import profiles
from comparison import ask, write
from conftest import run


def frame(name, dso="/bin/app", **more):
    return {"func": name, "dso": dso, **more}


def side(tmp_path, name, *stacks):
    """Stacks are (frames, weight)."""
    return write(tmp_path, name, profiles.text(
        [([frame(f) if isinstance(f, str) else f for f in frames] + [frame("main")], {"period": n, "samples": n})
         for frames, n in stacks]))


def rows(answer):
    assert answer["new_functions"] == [] and answer["vanished_functions"] == [], answer
    return {r["function"]: r for r in answer["rows"]}


SUFFIXES = [".isra.0", ".part.1", ".constprop.2", ".cold", ".cold.3", ".llvm.1234567890", ".lto_priv.0", ".localalias",
            ".localalias.5", ".isra.0.cold", ".part.0.constprop.1", ".__uniq.123456.llvm.77", " [clone .isra.0]",
            " [clone .part.1] [clone .cold.2]", " [clone .lto_priv.0]", " [clone .llvm.123]", ".__part.1", ".specialized.2",
            "@@GLIBC_2.34"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["parse_field", "shop::f(int)", "_ZN4shop1fEi", "<T as core::fmt::Display>::fmt"])
def test_suffixes_of_compilers(name, suffix, tmp_path):
    a, b = side(tmp_path, "a.spaa", ([name], 50)), side(tmp_path, "b.spaa", ([name + suffix], 50))
    got = rows(ask("diff", a, b))
    assert len(got) == 2 and got[name + suffix if not name.startswith("_Z") else next(k for k in got if k != "main")]["base_weight"] == 50


@pytest.mark.parametrize("old, new", [
    ("app::go::h0123456789abcdef", "app::go::hfedcba9876543210"),
    ("_ZN3app2go17h0123456789abcdefE", "_ZN3app2go17hfedcba9876543210E"),
    ("app::go::h0123456789abcdef", "app::go"), ("_ZN3app2go17h0123456789abcdefE", "app::go"),
    ("_RNvCs1234_3app2go", "_RNvCsabcd_3app2go"), ("_RNvCs1234_3app2go", "app::go"),
    ("core[0123456789abcdef]::f", "core[fedcba9876543210]::f"),
    ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#2}::operator()(int) const"),
    ("app::main::{closure#0}", "app::main::{closure#3}"), ("main.run.func1", "main.run.func2"),
    ("main.(*S).Serve.func2.1", "main.(*S).Serve.func3.2"), ("main.run.gowrap1", "main.run.gowrap2"),
    ("main.run.deferwrap1", "main.run.deferwrap3"), ("a.B.lambda$run$5", "a.B.lambda$run$7"), ("main::$_0", "main::$_1")])
def test_hashes_and_counters(old, new, tmp_path):
    got = rows(ask("diff", side(tmp_path, "a.spaa", ([old], 50)), side(tmp_path, "b.spaa", ([new], 50))))
    assert len(got) == 2


def test_a_row_of_several_lambdas_is_named_after_none(tmp_path):
    a = side(tmp_path, "a.spaa", (["main.run.func1"], 30), (["main.run.func2"], 20))
    assert set(rows(ask("diff", a, a))) == {"main", "main.run.func"}


# ---- linkage names ----

X = {"x_raw_func": lambda s: {"x_raw_func": s}, "x_func": lambda s: {"x_func": {"linkage": s}}}


@pytest.mark.parametrize("key", X)
def test_linkage_names_tell_overloads_apart(key, tmp_path):
    def one(name, i, l):
        return side(tmp_path, name, ([frame("f", **X[key]("_Z1fi"))], i), ([frame("f", **X[key]("_Z1fl"))], l))
    answer = ask("diff", one("a.spaa", 30, 70), one("b.spaa", 60, 40))
    got = {r["matched_as"]: (r["base_weight"], r["new_weight"]) for r in answer["rows"] if "matched_as" in r}
    assert got == {"f(int)": (30, 60), "f(long)": (70, 40)} and not answer["new_functions"]


def test_overloads_and_instances_have_names_that_tell_them_apart(tmp_path):
    """In the first lines and the rows, also where the other one is not shown."""
    names = {"shop::price": ("_ZN4shop5priceEi", "_ZN4shop5priceEl"), "M<T>::sum": ("_ZN1MIjE3sumEi", "_ZN1MIlE3sumEi")}
    def files(which, weights):
        made = []
        for i in range(3):
            stacks = [([frame(name, x_func={"linkage": l})], 300 * weights.get(l, 1) + i) for name, both in names.items() for l in both]
            made.append(side(tmp_path, "%s%d.spaa" % (which, i), *stacks, *[([x], 400 + i) for x in ("p", "q", "r", "s", "t")]))
        return made
    text = run("diff", *files("a", {}), "--", *files("b", {"_ZN4shop5priceEl": 2, "_ZN1MIlE3sumEi": 3}), code=0).out
    lines = text.splitlines()
    assert lines[0].startswith("SLOWER: M<long>::sum(int) ") and lines[1].startswith("SLOWER: shop::price(long) ")
    table = text.split("verdict")[1]
    assert "M<long>::sum(int)" in table and "shop::price(long)" in table and "shop::price " not in text
    assert "runs    M<long>::sum(int) 300 301 302 | 900" in text


@pytest.mark.parametrize("plain", ["f", "shop::f"])
def test_overloads_against_one_name(plain, tmp_path):
    """f(int) calls f(long): together they are the function that the other source does not tell apart, once a stack."""
    full = ["shop::f(int)", "shop::f(long)"] if "::" in plain else ["f(int)", "f(long)"]
    a = side(tmp_path, "a.spaa", ([full[1], full[0]], 30), ([full[0]], 20), (["g"], 50))
    b = side(tmp_path, "b.spaa", ([plain, plain], 40), ([plain], 10), (["g"], 50))
    for x, y, key in ((a, b, "base"), (b, a, "new")):
        got = rows(ask("diff", x, y))
        assert set(got) == {plain, "g", "main"}
        assert (got[plain][key + "_weight"], got[plain]["total"][key + "_weight"]) == (50, 50)


def test_overloads_of_both_sides_stay_apart(tmp_path):
    a = side(tmp_path, "a.spaa", (["f(int)"], 30), (["f(long)"], 20))
    b = side(tmp_path, "b.spaa", (["f(int)"], 30), (["f(double)"], 20))
    answer = ask("diff", a, b)
    assert {r["function"] for r in answer["rows"]} == {"f(int)", "main"}
    assert [r["function"] for r in answer["new_functions"]] == ["f(double)"]
    assert [r["function"] for r in answer["vanished_functions"]] == ["f(long)"]


@pytest.mark.parametrize("full, less", [
    ("shop::f(int)", "shop::f"), ("float shop::price<float>(float, int)", "shop::price<float>"),
    ("float shop::price<float>(float, int)", "shop::price"), ("shop::Cart::sum(int) const", "shop::Cart::sum"),
    ("(anonymous namespace)::work(int)", "(anonymous namespace)::work"), ("shop::checkout(int, int)", "checkout"),
    ("shop::A::operator()(int) const", "shop::A::operator()"), ("shop::f(std::function<void (int)>)", "shop::f"),
    ("_ZN4shop1fEi", "shop::f"), ("_ZN4shop1fEi", "shop::f(int)"), ("java.util.List.add(Object)", "java.util.List.add")])
def test_names_that_tell_less(full, less, tmp_path):
    a, b = side(tmp_path, "a.spaa", ([full], 50), (["g"], 5)), side(tmp_path, "b.spaa", ([less], 40), (["g"], 5))
    for x, y in ((a, b), (b, a)):
        assert len(rows(ask("diff", x, y))) == 3


@pytest.mark.parametrize("full, less", [
    ("std::vector<int>::push_back(int)", "push_back"), ("a::f(int)", "b::f"), ("a::operator()(int)", "operator()"),
    ("a::f(int)", "g"), ("x::f<int>(int)", "x::f<long>")])
def test_names_that_are_not_the_same(full, less, tmp_path):
    answer = ask("diff", side(tmp_path, "a.spaa", ([full], 50)), side(tmp_path, "b.spaa", ([less], 40)))
    assert [r["function"] for r in answer["rows"]] == ["main"]


def test_a_last_part_of_two_functions_is_neither(tmp_path):
    a = side(tmp_path, "a.spaa", (["a::f(int)"], 50), (["b::f(int)"], 50))
    assert [r["function"] for r in ask("diff", a, side(tmp_path, "b.spaa", (["f"], 40)))["rows"]] == ["main"]


def test_folded_stacks_of_mangled_names(tmp_path):
    a = side(tmp_path, "a.spaa", (["shop::f(int)"], 30), (["shop::g()"], 70))
    b = write(tmp_path, "b.folded", "main;_ZN4shop1fEi 40\nmain;_ZN4shop1gEv 60\n")
    c = write(tmp_path, "c.folded", "main;shop::f 40\nmain;shop::g 60\n")
    for other in (b, c):
        assert len(rows(ask("diff", a, other))) == 3


# ---- how it was compiled ----

def test_other_suffixes_are_remarked(tmp_path):
    a, b = side(tmp_path, "a.spaa", (["foo"], 50), (["g.cold"], 50)), side(
        tmp_path, "b.spaa", (["foo.isra.0"], 30), (["foo.part.0"], 20), (["g.cold"], 50))
    answer = ask("diff", a, b)
    row = next(r for r in answer["rows"] if r["function"].startswith("foo"))
    assert row["remark"] == "also compiled differently (whole before, .isra, .part now)"
    assert row["compiled"] == {"base": ["whole"], "new": [".isra", ".part"]}
    assert [r["function"] for r in answer["rows"] if "remark" in r] == [row["function"]]
    text = run("diff", a, b).out
    assert "\ncompiled differently\nfoo" in text and ": also compiled differently (whole before, .isra, .part now)" in text
    assert "**compiled differently**" in run("diff", a, b, "--format", "markdown").out
    assert "compiled differently" not in run("diff", a, a).out


def test_inlining_is_remarked(tmp_path):
    a = side(tmp_path, "a.spaa", (["shop::checkout(int)", "run"], 50))
    b = side(tmp_path, "b.spaa", ([frame("checkout", inlined=True, inline_depth=1), "run"], 50))
    row = next(r for r in ask("diff", a, b)["rows"] if "checkout" in r["function"])
    assert row["remark"] == "now inlined into its callers (whole before, inlined now)"
    row = next(r for r in ask("diff", b, a)["rows"] if "checkout" in r["function"])
    assert row["remark"] == "no longer inlined into its callers (inlined before, whole now)"


def test_a_few_samples_of_a_part_are_no_remark(tmp_path):
    a, b = side(tmp_path, "a.spaa", (["foo"], 50)), side(tmp_path, "b.spaa", (["foo"], 48), (["foo.cold"], 2))
    assert all("remark" not in r for r in ask("diff", a, b)["rows"])


def test_inlined_functions_without_a_scope_are_those_of_their_binary(tmp_path):
    inline = frame("checkout", inlined=True, inline_depth=1)
    a = side(tmp_path, "a.spaa", ([inline, "shop::checkout(int)"], 30), (["shop::checkout(int)"], 20))
    b = side(tmp_path, "b.spaa", ([inline, "run"], 50))
    got = rows(ask("diff", a, side(tmp_path, "c.spaa", ([inline], 50))))
    assert set(got) - {"main"} == {"shop::checkout(int)"} and got["shop::checkout(int)"]["total"]["base_weight"] == 50
    assert ask("diff", a, b)["vanished_functions"] == []


CPP = r"""
#include <cstdlib>
static volatile unsigned long sink;
#define LOOP(step) unsigned long s = n; for (decltype(n) i = 0; i < n; i++) { s += (i ^ s) * step; __asm__ volatile(""); } return s;
namespace shop {
    [[gnu::noinline]] unsigned long f(int n) { LOOP(3) }
    [[gnu::noinline]] unsigned long f(long n) { LOOP(5) }
    template<class T> [[gnu::noinline]] T price(T n) { LOOP(7) }
    static HOW unsigned long checkout(int n) { LOOP(11) }
    [[gnu::noinline]] unsigned long run() { return f(20000) + f(15000L) + price(10000) + price(9000L) + checkout(15000); }
}
int main() { for (int i = 0; i < 2500; i++) sink = sink + shop::run(); }
"""
RUST = r"""
use std::hint::black_box;
mod shop {
    #[inline(never)] pub fn parse(n: u64) -> u64 { let mut s = n; for i in 0..n { s = s.wrapping_add((i ^ s).wrapping_mul(3)); std::hint::black_box(s); } s }
    #[inline(never)] pub fn price<T: Into<u64>>(n: T) -> u64 { let n: u64 = n.into(); let mut s = n; for i in 0..n { s ^= s.wrapping_add(i * 7); std::hint::black_box(s); } s }
}
fn main() { let mut t = 0u64; for _ in 0..1500 { t = t.wrapping_add(shop::parse(black_box(20000))).wrapping_add(shop::price(black_box(20000u32))); } black_box(t); }
"""


def record(folder, compiler, name):
    done = subprocess.run(compiler, cwd=folder, capture_output=True)
    if done.returncode:
        pytest.skip("cannot compile here")
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "1999", "-g", "-o", name + ".data", "./" + name],
                          cwd=folder, capture_output=True)
    if done.returncode:
        pytest.skip("perf cannot record here")
    return folder / (name + ".data")


@pytest.mark.skipif(not shutil.which("perf") or not shutil.which("g++"), reason="perf and g++ make the recordings")
def test_recordings_of_a_program_compiled_in_other_ways(tmp_path):
    (tmp_path / "p.cpp").write_text(CPP)
    base = ["g++", "-g", "-fno-omit-frame-pointer", "p.cpp"]
    a = record(tmp_path, [*base, "-O2", "-DHOW=__attribute__((noinline))", "-o", "shop"], "shop")
    for name, how in (("shop_3", ["-O3", "-DHOW="]), ("shop_lto", ["-O2", "-flto", "-DHOW=__attribute__((noinline))"])):
        b = record(tmp_path, [*base, *how, "-o", name], name)
        answer = ask("diff", a, b, "-n", 0)
        got = {r.get("matched_as", r["function"]).replace(" [p.cpp]", ""): r for r in answer["rows"] if r["base_samples"] > 20}
        assert {"shop::f(int)", "shop::f(long)", "int shop::price<int>(int)", "long shop::price<long>(long)",
                "shop::checkout(int)"} <= set(got), (name, set(got))
        if name == "shop_3":
            assert got["shop::checkout(int)"]["remark"].startswith("now inlined into its callers")
        folded = tmp_path / "b.folded"
        run("convert", b, "--to", "folded", "-o", folded, code=0)
        less = ask("diff", a, folded, "-n", 0)
        assert {"shop::f", "int shop::price<int>(int)"} <= {r.get("matched_as", r["function"]) for r in less["rows"]}
        assert all("remark" not in r for r in less["rows"]), "folded stacks do not say how functions were compiled"


@pytest.mark.skipif(not shutil.which("perf") or not shutil.which("rustc"), reason="perf and rustc make the recordings")
def test_recordings_of_rust(tmp_path):
    (tmp_path / "p.rs").write_text(RUST)
    base = ["rustc", "-g", "-C", "force-frame-pointers=yes", "--crate-name", "p", "p.rs"]
    a = record(tmp_path, [*base, "-C", "opt-level=2", "-C", "metadata=one", "-o", "shop"], "shop")
    for name, how in (("shop_3", ["-C", "opt-level=3"]), ("shop_v0", ["-C", "opt-level=2", "-C", "symbol-mangling-version=v0"])):
        b = record(tmp_path, [*base, *how, "-C", "metadata=two", "-o", name], name)
        got = {r["function"] for r in ask("diff", a, b, "-n", 0)["rows"]}
        assert any("shop::parse" in f for f in got) and any("shop::price" in f for f in got), (name, got)

"""Which function is which does not depend on the command that asks, nor on what it shows of debug information."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from conftest import run

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from perf_data_files import CALLCHAIN, IP, PERIOD, TID, TIME, Recording  # noqa: E402

HASH = "static __attribute__((noipa)) long hash(long x, long n) { for (long i = 0; i < n; i++) x = x * 31 %s i; return x; }\n"
TWINS = {"main.c": HASH % "-" + "long a(long), b(long);\nint main(int c, char **v) { (void)v; return (int)(a(c) + b(c) + hash(c, 7)); }\n",
         "a/util.c": HASH % "+" + "long a(long x) { return hash(x, x); }\n",
         "b/util.c": HASH % "^" + "long b(long x) { return hash(x, x + 1); }\n"}
DOTS = {"dots.c": """
__attribute__((noinline)) int outer(int x) __asm__("main.main");
__attribute__((noinline)) int inner(int x) __asm__("main.main.func1");
__attribute__((noinline)) int deeper(int x) __asm__("main.main.func1.1");
__attribute__((noinline)) int wrapped(int x) __asm__("main.main.gowrap1");
int outer(int x) { return x * 3; }
int inner(int x) { return x * 5; }
int deeper(int x) { return x * 7; }
int wrapped(int x) { return x * 9; }
int main(int c, char **v) { (void)v; return outer(c) + inner(c) + deeper(c) + wrapped(c); }
"""}
BASE = 0x10000000


def recording(at, sources, *flags):
    """One sample at the start of every function of a program: (recording, {name: addresses})."""
    if not shutil.which("gcc") or not shutil.which("nm"):
        pytest.skip("no compiler")
    for file, text in sources.items():
        (at / file).parent.mkdir(exist_ok=True)
        (at / file).write_text(text)
    subprocess.run(["gcc", "-O2", *flags, "-Wl,--build-id=0x" + "ab" * 20, *sources, "-o", "prog"], cwd=at, check=True)
    symbols = {}
    for line in subprocess.run(["nm", "prog"], cwd=at, capture_output=True, text=True, check=True).stdout.splitlines():
        address, kind, name = line.rsplit(" ", 2)
        if kind in "tT" and not name.startswith(("_", "deregister", "register", "frame_dummy")):
            symbols.setdefault(name, []).append(int(address, 16))
    r = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99})])
    r.comm(10, 10, b"prog", 50)
    r.mmap2(10, BASE, 0x100000, 0, str(at / "prog").encode(), 100, b"\xab" * 20)
    for i, address in enumerate(sorted(a for v in symbols.values() for a in v)):
        r.sample(chain=[(1 << 64) - 512, BASE + address], ip=BASE + address, pid=10, tid=10, time=200 + i, period=1 << i)
    (at / "perf.data").write_bytes(r.bytes())
    return at / "perf.data", symbols


def ask(*args):
    return json.loads(run(*args, "--json", code=0).out)


ALL = ["-n", "0"]


@pytest.mark.parametrize("flags", [("-g",), ("-g", "-flto"), ()], ids=" ".join)
@pytest.mark.parametrize("how", [(), ("--no-inline",), ("--no-lines",), ("--no-inline", "--no-lines")], ids=" ".join)
def test_every_command_has_the_same_functions(tmp_path, flags, how):
    path, symbols = recording(tmp_path, TWINS, *flags)
    names = sorted(n.split(".")[0] for n, v in symbols.items() for _ in v)
    assert names.count("hash") == 3
    top = {r["id"]: (r["name"], r["self"], r["total"]) for r in ask("top", path, *how, *ALL)["rows"]}
    assert sorted(name for name, *_ in top.values()) == names
    assert len(how) == 2 or top == {r["id"]: (r["name"], r["self"], r["total"]) for r in ask("top", path, *ALL)["rows"]}
    rows = ask("query", path, "select handle, name, self, total from functions where total > 0", *how, *ALL)["rows"]
    assert {r[0]: tuple(r[1:]) for r in rows} == top
    assert {r["function"]: r["self"] for r in ask("tree", path, *how, *ALL, "--min-percent", "0")["nodes"][1:]} == {h: v[1] for h, v in top.items()}
    for handle, (_, self, total) in top.items():
        one = ask("function", path, handle, *how)
        assert (one["function"]["id"], one["self"], one["total"]) == (handle, self, total)
    if "-g" in flags and len(how) < 2:
        shown = {r["function"]: h for r in ask("top", path, *how, *ALL)["rows"] for h in [r["id"]]}
        assert {"hash (a/util.c)", "hash (b/util.c)", "hash (main.c)"} <= set(shown)
        assert ask("function", path, "hash (a/util.c)", *how)["function"]["id"] == shown["hash (a/util.c)"]
        assert ask("function", path, "hash (util.c)", *how)["self"] == sum(top[shown[f"hash ({x}/util.c)"]][1] for x in "ab")
    alike = {h.partition(".")[0] for h in top if "." in h}
    for handle in alike:  # without what tells them apart it is all of them
        assert ask("function", path, handle, *how)["self"] == sum(v[1] for h, v in top.items() if h.startswith(handle + "."))


def test_a_dot_in_a_name_makes_no_part_of_a_function(tmp_path):
    path, symbols = recording(tmp_path, DOTS, "-g")
    found = {}
    for line in run("convert", path, "--to", "spaa", "-o", "-", code=0).out.splitlines():
        r = json.loads(line)
        if r["type"] == "frame":
            found[r["func"]] = int(r["x_func"]["start"], 16)
    assert {n: [a] for n, a in found.items()} == symbols and len(set(found.values())) == 5


CLOSURES = """
use std::hint::black_box;
#[inline(never)] fn run(f: &dyn Fn(u64) -> u64, n: u64) -> u64 { let mut h = 0; for i in 0..n { h = f(h ^ i); } h }
#[inline(never)] fn size<T>(n: u64) -> u64 { black_box(n) + std::mem::size_of::<T>() as u64 }
fn main() {
    let k = black_box(3u64);
    let a = run(&|x| black_box(x).wrapping_mul(k), 5) + run(&|x| black_box(x) ^ (k + 1), 6) + size::<Vec<u8>>(k) + size::<u8>(k);
    println!("{}", a);
}
"""


@pytest.mark.parametrize("mangling", ["legacy", "v0"])
def test_closures_of_rust_are_functions_under_one_name_whatever_the_mangling(tmp_path, mangling):
    rustc = shutil.which("rustc") or os.path.expanduser("~/.cargo/bin/rustc")
    if not os.path.exists(rustc):
        pytest.skip("no rustc")
    (tmp_path / "app.rs").write_text(CLOSURES)
    subprocess.run([rustc, "-O", "-g", "-C", "symbol-mangling-version=" + mangling, *(["-Z", "unstable-options"] if mangling == "legacy" else []),
                    "app.rs", "-o", "app"], cwd=tmp_path, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
    names = os.path.join(os.path.dirname(os.environ.get("SPAA_BIN", "build/spaa")), "tests", "address_names")
    if not os.path.exists(names):
        pytest.skip("no address_names")
    symbols = subprocess.run(["nm", "app"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    at = [line.split()[0] for line in symbols if "3app" in line and len(line.split()) == 3]
    found = subprocess.run([names, tmp_path / "app"], input="".join(a + "\n" for a in at), capture_output=True, text=True, check=True).stdout
    functions = {r["func"] for r in map(json.loads, found.splitlines()) if not r["depth"]}
    assert {"app::main::{closure#0}", "app::main::{closure#1}", "app::size::<alloc::vec::Vec<u8>>", "app::size::<u8>"} <= functions

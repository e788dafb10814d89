"""What tells functions of one name apart (linkage name, declaring file, start), and names that no linkage name has."""

import json
import os
import random
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, SANITIZERS

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
NAMES = os.path.join(os.path.dirname(SPAA), "tests", "address_names")

HEADER = """
static inline __attribute__((always_inline)) int folded(int x) { return x * x + 3; }
static __attribute__((noinline)) int whole(int x) { return x * x * x; }
"""
ONE = """
#include "both.h"
static __attribute__((noinline)) int hash(int x) { return x * 31 + folded(x); }
static __attribute__((always_inline)) inline int small(int x) { return x * 7; }
int two(int);
int main(int c, char **v) { (void)v; return hash(c) + two(c) + small(c) + whole(c); }
"""
TWO = """
#include "both.h"
static __attribute__((noinline)) int hash(int x) { return x * 37; }
int two(int x) { return hash(x) + folded(x + 1) + whole(x); }
"""

# INLINE and CALL are always_inline in one build and noinline in the other, whose symbols are the truth.
CLASSES = r"""
#include <string>
#include <vector>
volatile int sink;
enum class Colour : int { Red, Green };
template <class T, unsigned long N> struct Arr { T v[N]; };
namespace outer {
inline namespace v1 { struct P { int x; struct Q { char c; }; }; }
namespace {
INLINE int hash(int x) { return sink += x; }
INLINE int base(unsigned a, long b, unsigned long c, long long d, short e, unsigned short f, char g, signed char h, bool j, float k, long double l, wchar_t m) { return sink += (int)(a + b + c + d + e + f + g + h + j + k + l + m); }
INLINE int pointers(const int *a, int *const b, const char *const *c, volatile int *d, int &e, const int &f, int &&g, void *h) { return sink += *a + *b + **c + *d + e + f + g + (h == a); }
INLINE int called(int (*a)(char, ...), void (*b)(), int (&c)[3], const int (*d)[4], int e[]) { b(); return sink += a(1) + c[0] + (*d)[1] + e[0]; }
INLINE int classes(P a, v1::P::Q *b, Arr<const char *, 2> *c, Colour d, std::string const &e, std::vector<std::vector<long>> const &f) { return sink += a.x + b->c + (int)(c->v[0] != 0) + (int)d + (int)e.size() + (int)f.size(); }
template <class T> INLINE T one(T a) { return sink += a; }
template <class... T> INLINE int pack(T... a) { return sink += (0 + ... + a); }
template <bool B, Colour K, unsigned U, long L> INLINE int values(int x) { return sink += x + B + (int)K + (int)U + (int)L; }
struct S {
    int v;
    INLINE S(int a) : v(a) { sink += a; }
    INLINE ~S() { sink++; }
    INLINE int operator()(int x) const { return sink += v + x; }
    INLINE int operator<(const S &o) const { return sink += v < o.v; }
    INLINE operator bool() const { return sink + v; }
    INLINE static int make(int x) { return sink += x; }
    template <class T> INLINE int member(T x) const { return sink += (int)x; }
    INLINE int ref() & { return sink += v; }
};
}
}
static INLINE int plain(int x) { return sink += x; }
int variadic(char, ...) { return 1; }
void none() {}
int use(int n, outer::P p) {
    using namespace outer;
    int k = n, *kp = &k, arr[3] = {n}, arr4[4] = {n};
    const char *cs = "x";
    v1::P::Q q{'a'};
    Arr<const char *, 2> ac{};
    S s(n);
    struct L { int z; INLINE int go(int y) { return sink += z + y; } } l{n};
    auto l1 = [n](int x) CALL { return sink += x + n; };
    auto l2 = [&](int x) CALL { return sink -= x * n; };
    auto l3 = [&](S const &x, char) CALL { return sink += x.v; };
    return hash(n) + base(n, n, n, n, n, n, n, n, n, n, n, n) + pointers(&k, kp, &cs, &k, k, k, 3, kp)
        + called(variadic, none, arr, &arr4, arr) + classes(p, &q, &ac, Colour::Green, "abc", {{n}}) + one(n) + pack(1, 2l, 'c') + pack()
        + values<true, Colour::Green, 3u, 4l>(n) + s(n) + (s < S(3)) + (bool)s + S::make(n) + s.member(2l) + s.ref() + plain(n) + l.go(n) + l1(n) + l2(n) + l3(s, 'a');
}
int main(int c, char **) { return use(c, {c}); }
"""
# Each both inlined and a function of its own: its address is taken.
COPIES = r"""
volatile int sink;
namespace {
int both(int x) { for (int i = 0; i < x; i++) sink += i * x; return sink; }
struct Less { int w; bool operator()(int a, int b) const { for (int i = 0; i < w; i++) sink += a; return a < b + sink; } };
}
static int maybe(char c) { for (int i = 0; i < c; i++) sink += i * c; return sink; }
int (*first)(int) = both;
int (*second)(char) = maybe;
int main(int c, char **) { Less k{c}; return both(c) + both(3) + maybe(c) + maybe(2) + k(1, c); }
"""


@pytest.fixture(autouse=True)
def tools():
    if not os.path.exists(NAMES) or not shutil.which("nm"):
        pytest.skip("no address_names or no nm")


def build(at, sources, *flags, compiler="gcc", name="prog"):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    for file, text in sources.items():
        (at / file).write_text(text)
    subprocess.run([compiler, *flags, *[f for f in sources if not f.endswith(".h")], "-o", name], cwd=at, check=True)
    return at / name


def frames(binary, *options):
    """Every frame of every function's addresses."""
    out = subprocess.run(["nm", "-S", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    at = [a for r in rows if len(r) == 4 and r[2] in "tTwW" for a in range(int(r[0], 16), int(r[0], 16) + int(r[1], 16))]
    out = subprocess.run([NAMES, *options, binary], input="".join(f"{a:x}\n" for a in at), capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def shown(name):
    return name.split(" [clone")[0]


def facts(rows, *names):
    return {(r["func"], r["linkage"], r["file"], r["line"], r["local"]) for r in rows if r["func"] in names}


C = {"both.h": HEADER, "one.c": ONE, "two.c": TWO}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flag", ["-gdwarf-5", "-gdwarf-4", "-gdwarf-3"])
def test_declarations_tell_static_functions_of_two_files_apart(tmp_path, compiler, flag):
    rows = frames(build(tmp_path, C, "-O2", flag, compiler=compiler))
    assert facts(rows, "hash", "small", "two", "main", "folded", "whole") == {
        ("hash", "hash", "one.c", 3, True), ("hash", "hash", "two.c", 3, True), ("small", "small", "one.c", 4, True),
        ("two", "two", "two.c", 4, False), ("main", "main", "one.c", 6, False), ("folded", "folded", "both.h", 2, True),
        ("whole", "whole", "both.h", 3, True)}
    assert len({r["start"] for r in rows if r["func"] == "hash"}) == 2


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_symbols_alone_tell_what_debug_information_does_of_functions_of_sources(tmp_path, compiler):
    build(tmp_path, C, "-O2", "-g", compiler=compiler, name="debug")
    build(tmp_path, C, "-O2", compiler=compiler, name="symbols")
    names = ("hash", "two", "main")
    identity = [{(r["func"], r["linkage"], r["local"], os.path.basename(r["file"]) if r["local"] else None)
                 for r in frames(tmp_path / n, *how) if r["func"] in names}
                for n, how in (("debug", ()), ("symbols", ()), ("debug", ("-s",)))]
    assert identity[0] == identity[1] == identity[2]
    assert {("hash", "hash", True, "one.c"), ("hash", "hash", True, "two.c"), ("two", "two", False, None)} <= identity[0]


def test_a_function_of_a_directory_has_its_path_and_no_lines_are_needed_for_it(tmp_path):
    (tmp_path / "src").mkdir()
    prog = build(tmp_path, {"src/one.c": ONE.replace("both.h", "../both.h"), "src/two.c": TWO.replace("both.h", "../both.h"), "both.h": HEADER}, "-O2", "-g")
    assert {r["file"] for r in frames(prog) if r["func"] == "hash"} == {"src/one.c", "src/two.c"}
    rows = frames(prog, "-n")
    assert {r["file"] for r in rows if r["func"] == "hash"} == {"src/one.c", "src/two.c"}
    assert {r["srcline"] for r in rows} == {None}


def test_parts_and_forms_begin_where_their_function_does_and_are_seen_as_it_is(tmp_path):
    source = {"cold.c": """
void abort(void);
__attribute__((cold, noinline)) void rare(int x) { volatile int v = x; (void)v; }
int seen(int x) { if (__builtin_expect(x > 999999, 0)) { rare(x); rare(x + 1); abort(); } return x * 3; }
static __attribute__((noinline)) int unseen(int x) { if (__builtin_expect(x > 999998, 0)) { rare(x); rare(x + 2); abort(); } return x * 5; }
int (*kept)(int) = unseen;
int main(int c, char **v) { (void)v; return seen(c) + unseen(c); }
"""}
    for options, flags in (((), ("-g",)), ((), ()), (("-s",), ())):
        rows = frames(build(tmp_path, source, "-O2", "-freorder-blocks-and-partition", *flags), *options)
        by = {n: {(r["start"], r["local"]) for r in rows if r["linkage"] == n and not r["depth"]} for n in ("seen", "seen.cold", "unseen", "unseen.cold")}
        if not by["seen.cold"] or not by["unseen.cold"]:
            pytest.skip("not divided")
        assert by["seen"] == by["seen.cold"] and [local for _, local in by["seen"]] == [False]
        assert by["unseen"] == by["unseen.cold"] and [local for _, local in by["unseen"]] == [True]


LOOP = "static __attribute__((noinline)) long hash(long x, long n, int k) { for (long i = 0; i < n; i++) x = x * 31 %s k; return x; }\n"
CLONES = {"m.c": "long a(long), b(long);\nint main(int c, char **v) { (void)v; return (int)(a(c) + b(c)); }\n",
          "x/util.c": LOOP % "+" + "long a(long x) { return hash(x, 2000, 3); }\n",
          "y/util.c": LOOP % "^" + "long b(long x) { return hash(x, 1000, 5); }\nlong c(long x) { return hash(x, 1000, 6); }\n"}


@pytest.mark.parametrize("flags", [("-g",), (), ("-g", "-flto"), ("-g", "-Wl,--strip-debug")], ids=" ".join)
def test_forms_of_one_name_are_the_functions_of_their_files(tmp_path, flags):
    """All that is left of a static function may be clones of it, of one name in two files of one name."""
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    for options in ((), ("-s",)) if "-flto" not in flags else ((),):  # of units that were linked as one, symbols know no more
        rows = [r for r in frames(build(tmp_path, CLONES, "-O2", *flags), *options) if r["func"] == "hash" or r["func"].startswith("hash.")]
        if not all("constprop" in r["linkage"] for r in rows):
            pytest.skip("not cloned")
        assert len({r["start"] for r in rows}) == 2 and {os.path.basename(r["file"]) for r in rows} == {"util.c"}


def test_clones_of_one_function_begin_where_the_first_does(tmp_path):
    """A function that is called with two constants only, in two clones."""
    source = {"m.c": """
static __attribute__((noinline)) long hash(long x, long n, int k) { for (long i = 0; i < n; i++) { if (k == 0) x = x / 3 - n; else if (k == 1) x = x * 31 ^ i; else x += i * k; } return x; }
int main(int c, char **v) { (void)v; long s = 0; for (int i = 0; i < 1000; i++) s += hash(c, c, 0) + hash(c + 1, s, 1) + hash(c + 2, c, 1) + hash(c + 3, s, 0); return (int)s; }
"""}
    for options in ((), ("-s",)):
        rows = [r for r in frames(build(tmp_path, source, "-O3", "-g"), *options) if (r["linkage"] or "").startswith("hash")]
        if len({r["linkage"] for r in rows}) < 2:
            pytest.skip("not cloned twice")
        assert len({r["start"] for r in rows}) == 1


def test_hidden_functions_are_what_their_parts_are_of(tmp_path):
    source = {"m.c": """
void abort(void);
__attribute__((cold, noinline)) void rare(int x) { volatile int v = x; (void)v; }
__attribute__((visibility("hidden"), noinline)) int hid(int x) { if (__builtin_expect(x > 999999, 0)) { rare(x); rare(x + 1); abort(); } return x * 3; }
int main(int c, char **v) { (void)v; return hid(c); }
"""}
    rows = frames(build(tmp_path, source, "-O2", "-freorder-blocks-and-partition"), "-s")
    found = {r["linkage"]: (r["start"], r["file"]) for r in rows if (r["linkage"] or "").startswith("hid")}
    if "hid.cold" not in found:
        pytest.skip("not divided")
    assert found["hid.cold"] == found["hid"]


@pytest.mark.parametrize("options", [(), ("-s",)], ids=["debug", "symbols"])
def test_a_relinked_build_has_the_same_functions(tmp_path, options):
    """Wherever they lie, in whatever order: else comparisons would find changes of the program."""
    def told(name, *flags):
        return {(r["func"], r["linkage"], os.path.basename(r["file"] or "") if r["local"] else "", r["local"])
                for r in frames(build(tmp_path, C, "-O2", "-g", "-ffunction-sections", *flags, name=name), *options)}
    assert told("one") == told("two", "-falign-functions=64", "-Wl,--sort-section=name")


GENERIC = """
#[inline(never)]
fn work<T: Copy + std::ops::Add<Output = T>>(mut x: T, k: T, n: u64) -> T { for _ in 0..n { x = std::hint::black_box(x + k); } x }
fn main() { let n = std::env::args().count() as u64; println!("{} {}", work(1u64, 7, n), work(1.0f64, 0.5, n)); }
"""


@pytest.mark.parametrize("mangling", ["legacy", "v0"])
def test_instances_of_a_generic_function_of_rust_are_functions(tmp_path, mangling):
    """The hash in the older linkage names says which one it is, to nobody: debug information has the name."""
    rustc = shutil.which("rustc") or os.path.expanduser("~/.cargo/bin/rustc")
    if not os.path.exists(rustc):
        pytest.skip("no rustc")
    (tmp_path / "app.rs").write_text(GENERIC)
    subprocess.run([rustc, "-O", "-g", "-C", "symbol-mangling-version=" + mangling, *(["-Z", "unstable-options"] if mangling == "legacy" else []),
                    "app.rs", "-o", "app"], cwd=tmp_path, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
    subprocess.run(["objcopy", "--strip-debug", "app", "bare"], cwd=tmp_path, check=True)
    physical = [r for r in frames(tmp_path / "app") if not r["depth"] and "app::work" in r["func"]]
    assert {r["func"] for r in physical} == {"app::work::<u64>", "app::work::<f64>"} and not any(r["local"] for r in physical)
    bare = [r for r in frames(tmp_path / "bare", "-s") if "app::work" in r["func"]]
    if mangling == "v0":
        assert {r["func"] for r in bare} == {r["func"] for r in physical} and not any(r["local"] for r in bare)
    else:  # only where they start is left to tell them apart
        assert {r["func"] for r in bare} == {"app::work"} and all(r["local"] for r in bare) and len({r["start"] for r in bare}) == 2


@pytest.mark.parametrize("compiler,flags", [("g++", ("-gdwarf-5",)), ("g++", ("-gdwarf-4",)), ("g++", ("-gdwarf-5", "-gsplit-dwarf")),
                                            ("clang++", ("-g",))], ids=str)
def test_inlined_functions_have_the_names_that_symbols_of_the_same_functions_have(tmp_path, compiler, flags):
    for name, how in (("inlined", "always_inline"), ("apart", "noinline")):
        inline = " inline" if how == "always_inline" else ""
        macros = [f"-DINLINE=__attribute__(({how})){inline}", f"-DCALL=__attribute__(({how}))"]
        build(tmp_path, {f"{name}.cpp": CLASSES}, "-std=c++17", "-O1" if inline else "-O0", *flags, *macros, compiler=compiler, name=name)
    symbols = subprocess.run(["nm", "-C", "--defined-only", tmp_path / "apart"], capture_output=True, text=True, check=True).stdout
    truth = {line.split(" ", 2)[2] for line in symbols.splitlines()}
    rows = [r for r in frames(tmp_path / "inlined") if r["depth"]]
    ours = {shown(r["func"]) for r in rows if r["file"] and r["file"].endswith("inlined.cpp")}
    unnumbered = {re.sub(r"(\{lambda\(.*?\))#\d+\}", r"\1}", n) for n in truth}  # which lambda it is, the line says
    assert {re.sub(r"(\{lambda\(.*?\))@\d+\}", r"\1}", n) for n in ours} - truth - unnumbered == set()
    assert {"outer::(anonymous namespace)::hash(int)", "use(int, outer::v1::P)::L::go(int)", "plain(int)",
            "int outer::(anonymous namespace)::S::member<long>(long) const", "outer::(anonymous namespace)::S::operator<(outer::(anonymous namespace)::S const&) const"} <= ours
    if compiler == "g++":
        assert len([n for n in ours if n.startswith("use(int, outer::v1::P)::{lambda")]) == 3
    assert {r["local"] for r in rows if r["func"] == "plain(int)"} == {True}
    # What stands in a function that all see cannot be in another file.
    assert {r["local"] for r in rows if r["func"].startswith("use(int, outer::v1::P)::")} == {False}
    assert {r["local"] for r in frames(tmp_path / "apart", "-s") if r["func"].startswith("use(int, outer::v1::P)::")} == {False}


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_an_inlined_copy_is_the_function_whose_code_stands_elsewhere(tmp_path, compiler, level):
    rows = frames(build(tmp_path, {"copies.cpp": COPIES}, "-g", level, compiler=compiler))
    for name in ("(anonymous namespace)::both(int)", "maybe(char)"):
        mine = [r for r in rows if shown(r["func"]) == name]
        assert len({(r["linkage"], r["start"], r["file"], r["local"]) for r in mine}) == 1
        assert mine[0]["local"] and mine[0]["file"] == "copies.cpp" and mine[0]["linkage"].startswith("_Z")
    if level != "-O1":
        assert {r["depth"] > 0 for r in rows if "both(int)" in r["func"]} == {True, False}


def test_where_types_are_not_described_no_parameters_are_made_up(tmp_path):
    """-g1 describes no types and no scopes; type units hold them elsewhere."""
    rows = frames(build(tmp_path, {"copies.cpp": COPIES.replace("int (*first)(int) = both;", "")}, "-g1", "-O2", compiler="g++"))
    inlined = {r["func"] for r in rows if r["depth"]}
    assert "both" in inlined and not any("()" in n.replace("operator()", "") for n in inlined)
    macros = ["-DINLINE=__attribute__((always_inline)) inline", "-DCALL=__attribute__((always_inline))"]
    rows = frames(build(tmp_path, {"inlined.cpp": CLASSES}, "-std=c++17", "-O1", "-g", "-fdebug-types-section", *macros, compiler="g++", name="inlined"))
    inlined = {r["func"] for r in rows if r["depth"]}
    assert "outer::(anonymous namespace)::hash(int)" in inlined
    assert not any("S::make(" in n or "(anonymous struct)" in n for n in inlined) and any(n.endswith("make") for n in inlined)


def test_damaged_debug_information_ends_in_an_answer(tmp_path):
    macros = ["-DINLINE=__attribute__((always_inline)) inline", "-DCALL=__attribute__((always_inline))"]
    prog = build(tmp_path, {"inlined.cpp": CLASSES}, "-std=c++17", "-O1", "-g", *macros, compiler="g++", name="inlined")
    out = subprocess.run(["readelf", "-SW", prog], capture_output=True, text=True, check=True).stdout
    sections = [(int(m[1], 16), int(m[2], 16)) for m in re.finditer(r"\.debug_(?:info|abbrev)\s+PROGBITS\s+\w+ (\w+) (\w+)", out)]
    whole = prog.read_bytes()
    out = subprocess.run(["nm", "--defined-only", prog], capture_output=True, text=True, check=True).stdout
    at = [int(line.split()[0], 16) for line in out.splitlines() if line.split()[1] in "tT"]
    addresses = "".join(f"{a + k:x}\n" for a in at for k in range(0, 800, 3))
    for seed in range(40):
        r = random.Random(seed)
        data = bytearray(whole)
        for _ in range((1, 3, 20, 300)[seed % 4]):
            off, n = r.choice(sections)
            data[off + r.randrange(n)] = r.choice((0, 1, 127, 255, r.randrange(256)))
        (tmp_path / "damaged").write_bytes(data)
        p = subprocess.run([NAMES, tmp_path / "damaged"], input=addresses, capture_output=True, text=True, errors="replace", timeout=60, env={**os.environ, **SANITIZERS}, check=False)
        assert p.returncode == 0, (seed, p.returncode, p.stderr[-2000:])

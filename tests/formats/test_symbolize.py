"""Inlined functions and lines: the same as addr2line says; and names looked up later, the same as at once."""

import collections
import ctypes.util
import functools
import http.server
import json
import lzma
import os
import random
import re
import shutil
import socketserver
import subprocess
import sys
import threading

import pytest

from conftest import CORPUS, ROOT, run

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from perf_data_files import CALLCHAIN, IP, PERIOD, TID, TIME, Recording  # noqa: E402

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
LINES = os.path.join(os.path.dirname(SPAA), "tests", "address_lines")
MADE = os.path.join(CORPUS, "perf-data", "made")
DEMO = os.path.join(ROOT, "demo")

SOURCE = r"""
template <int N> struct Vec {
    double v[N];
    inline double dot(const Vec &o) const { double s = 0; for (int i = 0; i < N; i++) s += v[i] * o.v[i]; return s; }
};
namespace { __attribute__((always_inline)) inline int mix(int x) { return x * 31 + (x >> 3); } }
static __attribute__((always_inline)) inline int twice(int x) { return mix(mix(x) ^ 5); }
namespace shapes {
template <class T> __attribute__((noinline)) T area(const Vec<3> &a, T k) { return (T)(a.dot(a) * twice((int)k)); }
struct Outer { int n; __attribute__((noinline)) int run(int x) {
    struct Local { int m; __attribute__((noinline)) int go(int y) { return mix(y) + m; } } l{x};
    int s = 0;
    for (int i = 0; i < n; i++) { if (i % 3) s += l.go(i); else s -= twice(i + x); }
    return s; } };
}
extern "C" __attribute__((noinline, cold)) int unlikely(int x) { return twice(x) / 3; }
int main(int argc, char **) {
    Vec<3> a{{1, 2, (double)argc}}; Vec<7> b{}; b.v[2] = argc;
    shapes::Outer o{argc};
    if (argc > 9) return unlikely(argc);
    return (int)(shapes::area<int>(a, argc) + shapes::area<double>(a, argc) + b.dot(b)) + o.run(argc);
}
"""

BUILDS = [
    ("g++", "-gdwarf-5"), ("g++", "-gdwarf-4"), ("g++", "-gdwarf-3", "-gstrict-dwarf"),
    ("g++", "-gdwarf-5", "-gz"), ("g++", "-gdwarf-5", "-O0"),
    ("g++", "-gdwarf-5", "-ffunction-sections", "-Wl,--gc-sections"), ("clang++", "-gdwarf-4"),
]
# Binutils 2.40 names the wrong files in the first, and does not find what is inlined in the second.
LLVM_BUILDS = [("g++", "-gdwarf-5", "-flto"), ("clang++", "-gdwarf-5")]
# What these say is what the same code says without.
SPLIT = [("g++", "-gdwarf-5"), ("g++", "-gdwarf-4"), ("clang++", "-gdwarf-5"), ("clang++", "-gdwarf-4")]


def build(at, compiler, *flags, name="prog"):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    (at / "prog.cpp").write_text(SOURCE)
    subprocess.run([compiler, "-g", "-O2", *flags, "prog.cpp", "-o", name], cwd=at, check=True)
    return at / name


def code(binary):
    out = subprocess.run(["nm", "-S", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    found, names = set(), set()
    for line in out.splitlines():
        f = line.split()
        names.add(f[-1])
        if len(f) == 4 and f[2] in "tTwW":
            found.update(range(int(f[0], 16), int(f[0], 16) + int(f[1], 16)))
    return sorted(found), names


def answers(command, addresses, cwd=None):
    out = subprocess.run(command, input="".join(f"0x{a:x}\n" for a in addresses), capture_output=True, text=True,
                         check=True, cwd=cwd).stdout
    found = {}
    for line in out.splitlines():
        if re.fullmatch("0x[0-9a-f]+", line):
            rows = found.setdefault(int(line, 16), [])
        else:
            rows.append(line.split(" (discriminator")[0])
    return found


def is_same(ours, theirs, names):
    """Equal but for what docs/symbols.md says of addr2line."""
    if len(ours) != len(theirs):
        return False
    if any(a != b and b not in names and b != "??" for a, b in zip(ours[::2], theirs[::2])):
        return False
    unknown = ("??:0", "??:?", ":?")
    return all(a == b or (a in unknown and (b in unknown or b.endswith((":?", ":0")))) or (a[-2:] == ":?" and b == a[:-1] + "0") for a, b in zip(ours[1::2], theirs[1::2]))


@pytest.fixture(autouse=True)
def tools():
    if not os.path.exists(LINES) or not shutil.which("addr2line"):
        pytest.skip("no address_lines or no addr2line")


@pytest.mark.parametrize("how", BUILDS, ids=" ".join)
def test_every_address_has_the_frames_that_addr2line_says(how, tmp_path):
    prog = build(tmp_path, *how)
    addresses, names = code(prog)
    ours = answers([LINES, prog], addresses)
    theirs = answers(["addr2line", "-a", "-i", "-f", "-e", prog], addresses)
    assert len(addresses) > 300
    assert [(hex(a), ours[a], theirs[a]) for a in addresses if not is_same(ours[a], theirs[a], names)] == []
    assert how[1:] == ("-gdwarf-5", "-O0") or any(len(rows) > 4 for rows in ours.values())


@pytest.mark.parametrize("how", LLVM_BUILDS, ids=" ".join)
def test_every_address_has_the_frames_that_llvm_says(how, tmp_path):
    if not shutil.which("llvm-addr2line"):
        pytest.skip("no llvm-addr2line")
    prog = build(tmp_path, *how)
    addresses, names = code(prog)
    ours = answers([LINES, prog], addresses)
    theirs = answers(["llvm-addr2line", "-a", "-i", "-f", "-e", prog], addresses)
    assert [(hex(a), ours[a], theirs[a]) for a in addresses if not is_same(ours[a], theirs[a], names)] == []


@pytest.mark.parametrize("how", SPLIT, ids=" ".join)
def test_split_debug_information_says_the_same(how, tmp_path):
    whole, split = build(tmp_path, *how), None
    (tmp_path / "prog.cpp").write_text(SOURCE)
    subprocess.run([how[0], "-g", "-O2", *how[1:], "-gsplit-dwarf", "-c", "prog.cpp", "-o", "split.o"], cwd=tmp_path, check=True)
    split = tmp_path / "split"
    subprocess.run([how[0], "split.o", "-o", split], check=True, cwd=tmp_path)
    texts = []
    for binary in (whole, split):
        addresses, _ = code(binary)
        texts.append([ours for _, ours in sorted(answers([LINES, binary], addresses).items())])
    assert texts[0] == texts[1]
    # Packed, with the parts gone.
    packer = next((t for t in ("dwp", "llvm-dwp") if shutil.which(t)), None)
    if packer:
        done = subprocess.run([packer, "-e", split, "-o", tmp_path / "split.dwp"], cwd=tmp_path, capture_output=True, check=False)
        if not done.returncode:
            for part in tmp_path.glob("*.dwo"):
                part.unlink()
            assert [ours for _, ours in sorted(answers([LINES, split], addresses).items())] == texts[0]


def test_what_dwz_moved_elsewhere_is_found(tmp_path):
    if not shutil.which("dwz"):
        pytest.skip("no dwz")
    one = build(tmp_path, "g++", "-gdwarf-4", name="one")
    two = build(tmp_path, "g++", "-gdwarf-4", "-O1", name="two")
    addresses, _ = code(one)
    before = answers([LINES, one], addresses)
    subprocess.run(["dwz", "-m", "common", one, two], cwd=tmp_path, capture_output=True, check=False)
    if b".gnu_debugaltlink" not in one.read_bytes():
        pytest.skip("dwz found nothing common")
    assert answers([LINES, one], addresses) == before


def test_a_common_file_of_dwz_may_hold_strings_alone(tmp_path):
    if not shutil.which("dwz"):
        pytest.skip("no dwz")
    (tmp_path / "prog.c").write_text("int x; __attribute__((noinline)) int work_on(int i) { return x += i; }\nint main(void) { return work_on(2); }\n")
    for name in ("one", "two"):
        subprocess.run(["gcc", "-O1", "-g", "prog.c", "-o", name], cwd=tmp_path, check=True)
    addresses, _ = code(tmp_path / "one")
    before = answers([LINES, tmp_path / "one"], addresses)
    subprocess.run(["dwz", "-m", "common", "one", "two"], cwd=tmp_path, capture_output=True, check=False)
    if b".gnu_debugaltlink" not in (tmp_path / "one").read_bytes():
        pytest.skip("dwz found nothing common")
    said = subprocess.run(["readelf", "-SW", tmp_path / "common"], capture_output=True, text=True, check=True).stdout
    assert ".debug_str" in said and ".debug_info" not in said
    assert answers([LINES, tmp_path / "one"], addresses) == before
    one_frame_profile(tmp_path / "p.spaa", tmp_path / "one", addresses)
    assert "SPAA-W801" not in run("symbolize", tmp_path / "p.spaa", "--to", "spaa", code=0).err


def test_the_answers_do_not_depend_on_threads(tmp_path):
    addresses, _ = code(SPAA)
    addresses = addresses[:: max(1, len(addresses) // 2000)]
    assert answers([LINES, SPAA], addresses) == answers([LINES, "-j", "4", SPAA], addresses)


def test_our_own_binary_agrees_with_addr2line():
    addresses, names = code(SPAA)
    addresses = addresses[:: max(1, len(addresses) // 3000)]
    ours = answers([LINES, SPAA], addresses)
    judge = ["addr2line", "-a", "-i", "-f", "-e", SPAA]
    comment = subprocess.run(["readelf", "-p", ".comment", SPAA], check=True, capture_output=True, text=True).stdout
    if "clang" in comment:  # of its units binutils' shows no inlined functions
        judge = ["llvm-symbolizer", "-a", "-i", "-f", "--output-style=GNU", "--no-demangle", "-e", SPAA]
    theirs = answers(judge, addresses)
    differ = [(hex(a), ours[a], theirs[a]) for a in addresses if not is_same(ours[a], theirs[a], names)]
    # It takes a header's line for one of the unit's own file now and then.
    files = [d for d in differ if [r.rpartition(":")[2] for r in d[1]] == [r.rpartition(":")[2] for r in d[2]]]
    assert [d for d in differ if d not in files][:3] == [] and len(files) <= len(addresses) / 100


@pytest.mark.parametrize("version", ["-gdwarf-5", "-gdwarf-4"])
def test_damaged_debug_information_does_no_harm(version, tmp_path):
    prog = build(tmp_path, "g++", version)
    addresses, _ = code(prog)
    text = "".join(f"0x{a:x}\n" for a in addresses[::7])
    whole = bytearray(prog.read_bytes())
    sections = subprocess.run(["readelf", "-SW", prog], capture_output=True, text=True, check=True).stdout
    spans = [(int(m[1], 16), int(m[2], 16)) for m in re.finditer(r"\.debug_\w+ +PROGBITS +\w+ (\w+) (\w+)", sections)]
    assert len(spans) > 4
    draw = random.Random(7)
    bad = tmp_path / "bad"
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 4, 30])):
            start, size = draw.choice(spans)
            data[start + draw.randrange(size)] = draw.choice([0, 0xff, 0x7f, 0x80, draw.randrange(256)])
        bad.write_bytes(data)
        done = subprocess.run([LINES, bad], input=text, capture_output=True, text=True, errors="replace", timeout=60, check=False)
        assert done.returncode in (0, 1), done.stderr


# ---- names looked up later ------------------------------------------------------------------------


def recordings():
    found = [os.path.join(DEMO, f"orders-{n}.perf.data.zst") for n in (1, 2)]
    if os.path.isdir(MADE):
        found += [os.path.join(MADE, f) for f in sorted(os.listdir(MADE)) if ".perf.data" in f]
    return found


def records(path):
    """The records with their frames and DSOs in place of numbers, without edges; and the edges by stack."""
    dsos, frames, rows, edges = {}, {}, [], {}
    for line in path.read_text().splitlines():
        r = json.loads(line)
        kind = r["type"]
        if kind == "dso":
            number = r.pop("id")
            dsos[number] = r
        elif kind == "frame":
            r["dso"] = json.dumps(dsos[r["dso"]])
            number = r.pop("id")
            frames[number] = json.dumps(r)
        elif kind == "stack":
            edges[r["id"]] = {(e["at"], frames[e["inferred"]] if "inferred" in e else "broken") for e in r.pop("x_edges", [])}
            r["frames"] = [frames[f] for f in r["frames"]]
            if "exclusive" in r:
                r["exclusive"]["frame"] = frames[r["exclusive"]["frame"]]
        if kind != "frame" and kind != "dso":
            rows.append(r)
    return rows, sorted(f for f in frames.values() if '"x_inferred"' not in f), edges


def recorded(path):
    """Whether the recording says the build-id of all files that frames are of."""
    dsos, ids = {}, set()
    for line in path.read_text().splitlines():
        r = json.loads(line)
        if r["type"] == "dso" and r["name"].startswith("/"):
            dsos[r["name"]] = r.get("build_id")
        elif r["type"] == "x_spaa_image" and "build_id" in r:
            ids.add((r.get("path"), r["build_id"]))
    return all(build_id is None or (name, build_id) in ids for name, build_id in dsos.items())


def assert_the_same_but_for_what_is_known_of_calls(later, at_once):
    """
    Files whose build-id was not recorded are not judged when they are read: they prove themselves by all return
    addresses of a profile.
    """
    if recorded(at_once):
        assert later.read_bytes() == at_once.read_bytes()
        return
    (rows, frames, edges), (all_rows, all_frames, all_edges) = records(later), records(at_once)
    assert rows == all_rows and frames == all_frames
    for stack, mine in edges.items():
        theirs = {at: what for at, what in all_edges[stack] if what != "broken"}
        assert all(theirs.get(at, what) == what for at, what in mine if what != "broken")


@pytest.mark.parametrize("samples", [[], ["--samples"]], ids=["stacks", "samples"])
@pytest.mark.parametrize("path", recordings(), ids=os.path.basename)
def test_names_looked_up_later_are_those_of_converting(path, samples, tmp_path):
    at = DEMO if path.startswith(DEMO) else MADE
    symfs = tmp_path / "symfs"
    shutil.copytree(os.path.join(at, "symfs"), symfs, copy_function=shutil.copyfile)
    (symfs / "tmp").mkdir(exist_ok=True)
    os.chmod(symfs / "tmp", 0o755)
    if at == MADE:
        shutil.copyfile(os.path.join(MADE, "perf-8020.map"), symfs / "tmp" / "perf-8020.map")
    kallsyms = os.path.join(DEMO, "kallsyms") if at == DEMO else os.path.join(MADE, "symfs", "kallsyms")
    symbols = ["--symfs", symfs, "--kallsyms", kallsyms]
    run("convert", path, *symbols, *samples, "-o", tmp_path / "at-once.spaa", code=0)
    run("convert", path, "--no-symbols", "--symfs", symfs, *samples, "-o", tmp_path / "bare.spaa", code=0)
    run("symbolize", tmp_path / "bare.spaa", *symbols, "-o", tmp_path / "later.spaa", code=0)
    assert_the_same_but_for_what_is_known_of_calls(tmp_path / "later.spaa", tmp_path / "at-once.spaa")
    assert (tmp_path / "bare.spaa").read_bytes() != (tmp_path / "at-once.spaa").read_bytes()
    # Once more changes nothing.
    run("symbolize", tmp_path / "later.spaa", *symbols, "-j", "1", "-o", tmp_path / "again.spaa", code=0)
    assert (tmp_path / "again.spaa").read_bytes() == (tmp_path / "later.spaa").read_bytes()


@pytest.mark.parametrize("name", ["jemalloc.mix.heap", "tcmalloc.mix.heap", "gperf.cpuprofile"])
def test_heap_profiles_are_named_later_as_well(name, tmp_path):
    path, symfs = os.path.join(CORPUS, "heap", "made", name), ["--symfs", os.path.join(MADE, "symfs")]
    if not os.path.exists(path):
        pytest.skip("no such profile")
    at_once, bare, later, again = (tmp_path / n for n in ("at_once.spaa", "bare.spaa", "later.spaa", "again.spaa"))
    run("convert", path, *symfs, "-o", at_once, code=0)
    run("convert", path, "--no-symbols", "-o", bare, code=0)
    run("symbolize", bare, *symfs, "-o", later, code=0)
    run("symbolize", later, *symfs, "-o", again, code=0)
    assert at_once.read_bytes() == later.read_bytes() == again.read_bytes() != bare.read_bytes()


def one_frame_profile(path, prog, addresses):
    with open(path, "w", encoding="utf-8") as f:
        def put(**record):
            f.write(json.dumps(record) + "\n")
        put(type="header", format="spaa", version="1.0", source_tool="jemalloc", frame_order="leaf_to_root", stack_id_mode="local",
            events=[{"name": "alloc", "kind": "allocation", "sampling": {"mode": "period", "primary_metric": "bytes"}}])
        put(type="dso", id=1, name=str(prog), is_kernel=False)
        for i, a in enumerate(addresses, 1):
            put(type="frame", id=i, func=hex(a), func_resolved=False, dso=1, ip=hex(a), kind="user")
            put(type="stack", id=i, frames=[i], stack_type="unified", context={"event": "alloc"}, weights=[{"metric": "bytes", "value": 8}])


def test_a_run_of_inlined_frames_is_as_the_specification_says(tmp_path):
    prog = build(tmp_path, "g++", "-gdwarf-5")
    addresses, _ = code(prog)
    one_frame_profile(tmp_path / "in.spaa", prog, addresses)
    run("symbolize", tmp_path / "in.spaa", "-o", tmp_path / "out.spaa", code=0)
    run("validate", tmp_path / "out.spaa", code=0)
    frames, runs = {}, 0
    for line in (tmp_path / "out.spaa").read_text().splitlines():
        r = json.loads(line)
        if r["type"] == "frame":
            frames[r["id"]] = r
        if r["type"] != "stack" or len(r["frames"]) == 1:
            continue
        runs += 1
        stack = [frames[n] for n in r["frames"]]
        assert [f.get("inline_depth", 0) for f in stack] == list(range(len(stack) - 1, -1, -1))
        assert [f.get("inlined", False) for f in stack] == [True] * (len(stack) - 1) + [False]
        assert len({(f["ip"], f["symoff"], f["dso"]) for f in stack}) == 1
    assert runs > 50
    names = {f["func"] for f in frames.values()}
    assert "(anonymous namespace)::mix(int)" in names or "mix" in names
    assert any(f.get("srcline", "").startswith("prog.cpp:") for f in frames.values())


def test_inlined_functions_and_lines_can_be_left_away(tmp_path):
    prog = build(tmp_path, "g++", "-gdwarf-5")
    addresses, _ = code(prog)
    one_frame_profile(tmp_path / "in.spaa", prog, addresses)
    whole = run("symbolize", tmp_path / "in.spaa", "--to", "spaa", code=0).out
    physical = run("symbolize", tmp_path / "in.spaa", "--no-inline", "--to", "spaa", code=0).out
    bare = run("symbolize", tmp_path / "in.spaa", "--no-inline", "--no-lines", "--to", "spaa", code=0).out
    assert '"inlined":true' in whole and '"srcline":' in whole
    assert '"inlined":true' not in physical and '"srcline":' in physical
    assert '"inlined":true' not in bare and '"srcline":' not in bare and '"func":"main"' in bare


def test_without_offsets_it_says_so(tmp_path):
    (tmp_path / "in.folded").write_text("main;work 3\n")
    done = run("symbolize", tmp_path / "in.folded", "-o", tmp_path / "out.spaa", code=0)
    assert "SPAA-I800" in done.err


# ---- what is missing, and why --------------------------------------------------------------------------


def lacking(tmp_path):
    """A recording of a file that is gone, one of another build, a stripped one, one without debug information, a whole one."""
    r = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99})])
    weights = {"gone": 1, "other": 2, "stripped": 4, "bare": 8, "whole": 16}
    for i, (name, weight) in enumerate(weights.items()):
        folder = tmp_path / name
        folder.mkdir()
        prog = build(folder, "g++", "-Wl,--build-id=0x" + "%02x" % (i + 1) * 20)
        at = next(int(x.split()[0], 16) for x in subprocess.run(["nm", prog], capture_output=True, text=True, check=True)
                  .stdout.splitlines() if x.endswith(" main"))
        if name in ("stripped", "bare"):
            subprocess.run(["strip", *(["-g"] if name == "bare" else []), prog], check=True)
        if name == "gone":
            prog.unlink()
        recorded = b"\x77" * 20 if name == "other" else bytes([i + 1]) * 20
        r.mmap2(10, 0x10000000 * (i + 1), 0x100000, 0, str(prog).encode(), 100, recorded)
        r.sample(chain=[(1 << 64) - 512, 0x10000000 * (i + 1) + at], pid=10, tid=10, time=200, period=weight)
    r.sample(chain=[(1 << 64) - 512, 0x123], pid=10, tid=10, time=200, period=32)
    (tmp_path / "perf.data").write_bytes(r.bytes())
    return tmp_path / "perf.data"


def test_quality_says_why_names_and_lines_are_missing_and_what_helps(tmp_path):
    path, env = lacking(tmp_path), {"HOME": str(tmp_path)}
    for view in (["top"], ["info"], ["tree"], ["stacks"]):
        quality = json.loads(run(*view, path, "--json", code=0, env=env).out)["quality"]
        rows = {os.path.basename(os.path.dirname(x["dso"])) or x["dso"]: x for x in quality["unresolved_by_dso"]}
        assert {k: round(x["percent"] * 63 / 100) for k, x in rows.items()} == {"gone": 1, "other": 2, "stripped": 4, "[unknown]": 32}
        assert rows["gone"]["why"] == "the file was not found" and "--symfs DIR" in rows["gone"]["hint"]
        assert "build" in rows["other"]["why"] and rows["other"]["hint"]
        assert "stripped" in rows["stripped"]["why"] and "PDB" not in rows["stripped"]["hint"]
        assert re.fullmatch("install its debug package, or pass `--debug-dir DIR` with the debug file of build-id [0-9a-f]{40}",
                            rows["stripped"]["hint"])
        assert rows["[unknown]"]["why"] == "nothing was mapped at these addresses"
        assert "--call-graph dwarf" in rows["[unknown]"]["hint"]
        assert round(quality["no_debug_info_percent"] * 63 / 100) == 8
        (bare,) = quality["no_debug_info_by_dso"]
        assert bare["dso"].endswith("/bare/prog") and bare["why"] == "no debug information was found"
        assert "--debug-dir" in bare["hint"] and "-g" in bare["hint"]
    both = json.loads(run("top", path, path, "--json", code=0, env=env).out)["quality"]
    assert both["unresolved_by_dso"] == json.loads(run("top", path, "--json", code=0, env=env).out)["quality"]["unresolved_by_dso"]
    assert both["no_debug_info_by_dso"] == quality["no_debug_info_by_dso"]
    text = run("info", path, code=0, env=env).out
    assert re.search(r"^no names +61\.90% of cpu-clock$", text, re.M) and re.search(r"^no lines +12\.70% of cpu-clock$", text, re.M)
    assert re.search(r" 6\.35% \S+/stripped/prog: [^%]*stripped[^%]*; [^%]*debug", text) and "1 more" in text
    quality = json.loads(run("top", path, "--json", "--no-symbols", code=0, env=env).out)["quality"]
    assert {x["why"] for x in quality["unresolved_by_dso"] if x["dso"] != "[unknown]"} == {"names were not looked up (--no-symbols)"}
    assert quality["no_debug_info_by_dso"] == []


# ---- symbols without a symbol table -------------------------------------------------------------------


def with_mini(tmp_path, packed=None):
    """A stripped program with a .gnu_debugdata made as the GDB manual says; names of the static functions."""
    prog = build(tmp_path, "g++")
    functions = {}
    for line in subprocess.run(["nm", "--defined-only", prog], capture_output=True, text=True, check=True).stdout.splitlines():
        at, kind, name = line.split()[:3]
        if kind in "tTwW" and re.match("_ZN6shapes|main$|unlikely$", name):
            functions[int(at, 16)] = name
    mini = tmp_path / "mini"
    (tmp_path / "keep").write_text("\n".join(functions.values()))
    subprocess.run(["objcopy", "-S", f"--keep-symbols={tmp_path / 'keep'}", "--remove-section=.comment", prog, mini], check=True)
    (tmp_path / "mini.xz").write_bytes(packed if packed is not None else lzma.compress(mini.read_bytes()))
    subprocess.run(["strip", prog], check=True)
    subprocess.run(["objcopy", f"--add-section=.gnu_debugdata={tmp_path / 'mini.xz'}", prog], check=True)
    return prog, functions


def frames_of(path):
    return {int(f["ip"], 16): f for f in map(json.loads, path.read_text().splitlines()) if f["type"] == "frame"}


@pytest.mark.skipif(not ctypes.util.find_library("lzma"), reason="no liblzma")
def test_symbols_in_gnu_debugdata_are_used(tmp_path):
    prog, functions = with_mini(tmp_path)
    one_frame_profile(tmp_path / "in.spaa", str(prog), functions)
    done = run("symbolize", tmp_path / "in.spaa", "-o", tmp_path / "out.spaa", code=0)
    found = frames_of(tmp_path / "out.spaa")
    assert {at: f.get("x_func", {}).get("linkage", f["func"]) for at, f in found.items()} == functions
    assert "SPAA-W835" not in done.err and "SPAA-I320" not in done.err


@pytest.mark.parametrize("packed", [b"", b"\xfd7zXZ\0\0\4", b"no xz", lzma.compress(b"no elf"), lzma.compress(b"\x7fELF" + bytes(500)),
                                    None], ids=["empty", "cut", "other", "text", "zeros", "huge"])
def test_damaged_gnu_debugdata_is_told(tmp_path, packed):
    huge = packed is None
    if huge:  # of 300 MB
        packer = lzma.LZMACompressor(preset=0)
        packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush()
    prog, functions = with_mini(tmp_path, packed)
    one_frame_profile(tmp_path / "in.spaa", str(prog), functions)
    done = run("symbolize", tmp_path / "in.spaa", "-o", tmp_path / "out.spaa", code=0)
    assert "SPAA-I320" in done.err and "stripped" in done.err
    assert ("SPAA-W805" in done.err) == huge
    assert ("SPAA-W835" in done.err) == (packed != b"" and not huge)
    assert all(f["func_resolved"] is False for f in frames_of(tmp_path / "out.spaa").values())


def own_vdso(tmp_path):
    """The build-id and dynamic functions of this machine's vDSO, as readelf has them."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        line = next((x for x in maps if "[vdso]" in x), None)
    if not line:
        pytest.skip("no vDSO here")
    start, end = (int(x, 16) for x in line.split()[0].split("-"))
    with open("/proc/self/mem", "rb") as mem:
        mem.seek(start)
        (tmp_path / "vdso.so").write_bytes(mem.read(end - start))
    notes = subprocess.run(["readelf", "-n", tmp_path / "vdso.so"], capture_output=True, text=True, check=False).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]{40})", notes)
    if not build_id:
        pytest.skip("the vDSO has no build-id")
    out = subprocess.run(["readelf", "--dyn-syms", "-W", tmp_path / "vdso.so"], capture_output=True, text=True, check=False).stdout
    functions = collections.defaultdict(set)
    for row in out.splitlines():
        f = row.split()
        if len(f) > 7 and f[3] == "FUNC" and f[6] != "UND":
            functions[int(f[1], 16)].add(f[7].split("@")[0])
    return bytes.fromhex(build_id[1]), functions


def test_the_vdso_of_this_process_serves_if_it_is_the_recorded_one(tmp_path):
    build_id, functions = own_vdso(tmp_path)
    for wanted in (build_id, bytes(20)[:-1] + b"\1"):
        r = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99})])
        r.mmap2(10, 0x7F0000000000, 0x2000, 0, b"[vdso]", 100, wanted)
        for at in functions:
            r.sample(chain=[(1 << 64) - 512, 0x7F0000000000 + at], pid=10, tid=10, time=200)
        (tmp_path / "perf.data").write_bytes(r.bytes())
        env = {"HOME": str(tmp_path)}
        done = run("convert", tmp_path / "perf.data", "-o", tmp_path / "out.spaa", code=0, env=env)
        run("convert", tmp_path / "perf.data", "--no-symbols", "-o", tmp_path / "bare.spaa", code=0, env=env)
        run("symbolize", tmp_path / "bare.spaa", "-o", tmp_path / "named.spaa", code=0, env=env)
        assert (tmp_path / "named.spaa").read_bytes() == (tmp_path / "out.spaa").read_bytes()
        found = frames_of(tmp_path / "out.spaa")
        assert len(found) == len(functions)
        if wanted == build_id:
            assert all(f["func"] in functions[at] for at, f in found.items()) and "SPAA-I320" not in done.err
        else:
            assert all(f["func_resolved"] is False for f in found.values())
            assert "[vdso]" in done.err and "the running kernel has another one" in done.err


# ---- debuginfod -----------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path):
    """A debuginfod of the files that are put into the folder it yields, as ID/executable and ID/debuginfo."""
    root = tmp_path / "served" / "buildid"
    root.mkdir(parents=True)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=root.parent)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as http_server:
        threading.Thread(target=http_server.serve_forever, daemon=True).start()
        yield root, {"DEBUGINFOD_URLS": f"http://127.0.0.1:{http_server.server_address[1]}",
                     "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache"), "HOME": str(tmp_path)}
        http_server.shutdown()


def with_build_id(path, build_id):
    text = path.read_text().replace('"is_kernel": false', f'"is_kernel": false, "build_id": "{build_id}"')
    path.write_text(text)


@pytest.mark.skipif(not ctypes.util.find_library("debuginfod"), reason="no libdebuginfod")
def test_files_come_from_debuginfod_when_asked_and_are_checked(tmp_path, server):
    root, env = server
    prog = build(tmp_path, "g++", "-gdwarf-5", "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567")
    addresses, _ = code(prog)
    good, other = "0123456789abcdef0123456789abcdef01234567", "76543210fedcba9876543210fedcba9876543210"
    for build_id in (good, other):
        (root / build_id).mkdir()
        shutil.copy(prog, root / build_id / "executable")
        one_frame_profile(tmp_path / f"{build_id}.spaa", "/no/such/prog", addresses)
        with_build_id(tmp_path / f"{build_id}.spaa", build_id)
    quiet = run("symbolize", tmp_path / f"{good}.spaa", "--to", "spaa", code=0, env=env).out
    assert '"inlined":true' not in quiet
    found = run("symbolize", tmp_path / f"{good}.spaa", "--debuginfod", "--to", "spaa", code=0, env=env).out
    assert '"inlined":true' in found and '"func":"main"' in found
    wrong = run("symbolize", tmp_path / f"{other}.spaa", "--debuginfod", "--to", "spaa", code=0, env=env)
    assert '"func":"main"' not in wrong.out and "SPAA-W312" in wrong.err
    none = run("symbolize", tmp_path / f"{other}.spaa", "--debuginfod", "--to", "spaa", code=0, env={"HOME": str(tmp_path)})
    assert "SPAA-W804" in none.err


KERNEL_TOLD = {"base": "0xffffffff81000000", "symbol": "_stext"}
FILE_TOLD = {"ip": "file_offset", "map": {"offset": "0x1000", "size": "0x3000"}}
MODULE_TOLD = {"base": "0xffffffffc0000000", "text": "0xffffffff81000000", "symbol": "_text"}


def places(*dsos):
    """The DSO records of a SPAA file with these members, written anew."""
    lines = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
              "events": [{"name": "e", "kind": "timer", "sampling": {"mode": "event", "primary_metric": "samples"}}],
              "stack_id_mode": "local"}]
    lines += [{"type": "dso", "id": i + 1, "name": f"/bin/{i}", "is_kernel": False, **d} for i, d in enumerate(dsos)]
    done = subprocess.run([SPAA, "convert", "-q", "-", "--to", "spaa", "-o", "-"], check=True, capture_output=True, text=True,
                          input="".join(json.dumps(x) + "\n" for x in lines))
    records = [json.loads(x) for x in done.stdout.splitlines()]
    return [{k: v for k, v in r.items() if k.startswith("x_")} for r in records if r["type"] == "dso"]


@pytest.mark.parametrize("key", ["x_spaa", "x_perf", "x_gperftools", "x_jemalloc", "x_pprof"])
@pytest.mark.parametrize("told", [KERNEL_TOLD, FILE_TOLD, MODULE_TOLD, {"ip": "file_offset"}])
def test_where_a_dso_stood_is_written_alike_whoever_told_it(key, told):
    assert places({key: told}) == [{"x_spaa": told}]


@pytest.mark.parametrize("odd", [{"ip": "elsewhere"}, {"ip": "file_offset", "more": 1}, {"base": 5}, {"base": "5"}, 7,
                                 {"map": {"offset": "0x0"}}, {"map": [1]}, {"symbol": "_end"}])
def test_what_else_stands_there_is_kept_as_it_is(odd):
    assert places({"x_perf": odd}) == [{"x_perf": odd}]
    assert places({"x_spaa": odd}) == [{"x_spaa": odd}]


@pytest.mark.skipif(not os.path.isdir(MADE), reason="no corpus")
@pytest.mark.parametrize("name", ["fp", "period"])
def test_top_reads_no_line_tables_and_knows_what_is_own_all_the_same(tmp_path, name):
    recording, symfs = os.path.join(MADE, name + ".perf.data.zst"), ["--symfs", os.path.join(MADE, "symfs")]
    subprocess.run([SPAA, "convert", "-q", recording, *symfs, "-o", tmp_path / "lines.spaa"], check=True)
    assert '"srcline":"' in (tmp_path / "lines.spaa").read_text()
    rows = [json.loads(subprocess.run([SPAA, "top", "--json", "-n", "0", *x], check=True, capture_output=True).stdout)["rows"]
            for x in ([recording, *symfs], [str(tmp_path / "lines.spaa")])]
    keep = ("function", "dso", "own", "own_by", "self", "total")
    assert [[r[k] for k in keep] for r in rows[0]] == [[r[k] for k in keep] for r in rows[1]]
    assert "declaration" in {r["own_by"] for r in rows[0]}

"""Names, inlined functions and lines of Mach-O images and .dSYM bundles: found by UUID, read with care. The files are made
here (tests/macho_files.py), with the code and debug information of ELF files, which are the judges; LLVM's tools, where they
are installed, link real ones, and llvm-symbolizer judges them."""

import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import pytest

from conftest import ask, run, unwrapped

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import macho_files as macho  # noqa: E402
from macho_files import CODE, GLOBAL, LOCAL, PRIVATE, STAB, bundle, image  # noqa: E402

UUID, OTHER = "4c4c44135555314fa1f6a0d80b9dbd9c", "0" * 31 + "1"
SYMBOLS = [("_alpha", CODE, GLOBAL, 1, 0), ("_beta", CODE + 0x20, LOCAL, 1, 0), ("__ZN3foo3barEv", CODE + 0x40, PRIVATE, 1, 0),
           ("-[Thing run:]", CODE + 0x60, LOCAL, 1, 0), ("_$s4main5helloyyF", CODE + 0x80, GLOBAL, 1, 0),
           ("_gone", CODE + 0x48, STAB, 1, 0), ("_data", 0x100000, GLOBAL, 2, 0), ("_outside", 0, GLOBAL, 1, 0), ("_undefined", CODE + 4, 1, 0, 0)]
STARTS = [CODE, CODE + 0x20, CODE + 0x40, CODE + 0x50, CODE + 0x60, CODE + 0x80]


def profile(path, name, uuid, addresses):
    with open(path, "w", encoding="utf-8") as f:
        def put(**record):
            f.write(json.dumps(record) + "\n")
        put(type="header", format="spaa", version="1.0", source_tool="jemalloc", frame_order="leaf_to_root", stack_id_mode="local",
            events=[{"name": "alloc", "kind": "allocation", "sampling": {"mode": "period", "primary_metric": "bytes"}}])
        put(type="dso", id=1, name=str(name), is_kernel=False, **({"build_id": uuid} if uuid else {}))
        for i, a in enumerate(addresses, 1):
            put(type="frame", id=i, func=hex(a), func_resolved=False, dso=1, ip=hex(a), kind="user")
            put(type="stack", id=i, frames=[i], stack_type="unified", context={"event": "alloc"}, weights=[{"metric": "bytes", "value": 8}])


def looked_up(tmp_path, name, uuid, addresses, *options):
    """By address: (function, line) of each frame, innermost first; None: no name. And what was said."""
    profile(tmp_path / "in.spaa", name, uuid, addresses)
    said = run("symbolize", tmp_path / "in.spaa", "-o", tmp_path / "out.spaa", *options, code=0, env={"HOME": str(tmp_path)}).err
    frames, found = {}, {}
    for line in (tmp_path / "out.spaa").read_text().splitlines():
        r = json.loads(line)
        if r["type"] == "frame":
            frames[r["id"]] = r
        if r["type"] == "stack":
            stack = [frames[n] for n in r["frames"]]
            found[int(stack[0]["ip"], 16)] = [(f["func"] if f.get("func_resolved", True) else None, f.get("srcline")) for f in stack]
    assert sorted(found) == sorted(addresses)
    return found, unwrapped(said)


def names(found):
    return {a: frames[-1][0] for a, frames in found.items()}


EXPECTED = {CODE: "alpha", CODE + 0x1F: "alpha", CODE + 0x20: "beta", CODE + 0x40: "foo::bar()", CODE + 0x4F: "foo::bar()", CODE + 0x50: None,
            CODE + 0x5F: None, CODE + 0x60: "-[Thing run:]", CODE + 0x80: "$s4main5helloyyF", CODE + 0xFF: "$s4main5helloyyF",
            CODE + 0x100: None, 0x100000: None, 0: None, CODE - 1: None}


@pytest.mark.parametrize("cpu", [macho.ARM64, macho.X86_64, macho.I386], ids=["arm64", "x86_64", "i386"])
def test_symbols_name_the_functions_that_hold_the_address(cpu, tmp_path):
    base = 0x4000 if cpu == macho.I386 else macho.BASE
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "whatever it is called").write_bytes(image(UUID, symbols=SYMBOLS, starts=STARTS, cpu=cpu, base=base))
    found, said = looked_up(tmp_path, "prog", UUID, list(EXPECTED), "--dsym", tmp_path / "files")
    assert names(found) == EXPECTED
    assert "no debug information was found" in said


def test_bounds_of_functions_come_from_the_image_where_the_names_are_in_the_bundle(tmp_path):
    """Stripped: the image has but one name, and tells where all functions begin."""
    bundle(tmp_path, "prog", image(UUID, symbols=SYMBOLS, kind=macho.DSYM))
    (tmp_path / "prog").write_bytes(image(UUID, symbols=SYMBOLS[:1], starts=STARTS, locals_=0))
    assert names(looked_up(tmp_path, "prog", UUID, list(EXPECTED), "--dsym", tmp_path)[0]) == EXPECTED
    (tmp_path / "prog").unlink()
    found = names(looked_up(tmp_path, "prog", UUID, list(EXPECTED), "--dsym", tmp_path)[0])
    assert found == {**EXPECTED, CODE + 0x50: "foo::bar()", CODE + 0x5F: "foo::bar()"}


@pytest.mark.parametrize("wide", [False, True], ids=["fat32", "fat64"])
def test_of_a_fat_file_the_image_with_the_uuid_counts(wide, tmp_path):
    moved = [(n.replace("alpha", "omega"), *rest) for n, *rest in SYMBOLS]
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "prog").write_bytes(macho.fat((macho.X86_64, image(OTHER, symbols=moved, cpu=macho.X86_64)),
                                                    (macho.ARM64, image(UUID, symbols=SYMBOLS, starts=STARTS)), wide=wide))
    for option, name in (("--dsym", "prog"), ("--symfs", "prog"), ("--symfs", "/prog")):
        assert names(looked_up(tmp_path, name, UUID, list(EXPECTED), option, tmp_path / "d")[0]) == EXPECTED
    assert names(looked_up(tmp_path, "prog", OTHER, [CODE], "--dsym", tmp_path / "d")[0]) == {CODE: "omega"}


def test_a_name_that_fits_is_not_enough(tmp_path):
    (tmp_path / "prog").write_bytes(image(OTHER, symbols=SYMBOLS))
    strange = bundle(tmp_path, "prog", image(OTHER, symbols=SYMBOLS, kind=macho.DSYM))
    found, said = looked_up(tmp_path, "prog", UUID, [CODE], "--dsym", tmp_path)
    assert names(found) == {CODE: None}
    assert f"{tmp_path}/prog has build-id {OTHER}, the recording {UUID}" in said and f"{strange} has UUID {OTHER}" in said
    # Nor where nothing was recorded to tell.
    found, said = looked_up(tmp_path, "/prog", None, [CODE], "--symfs", tmp_path)
    assert names(found) == {CODE: None} and "is a Mach-O file, and no UUID tells" in said
    # Nor has a file without a UUID.
    (tmp_path / "prog").write_bytes(image(None, symbols=SYMBOLS))
    found, said = looked_up(tmp_path, "/prog", UUID, [CODE], "--symfs", tmp_path)
    assert names(found) == {CODE: None} and "has build-id (none)" in said


def test_what_is_not_read_is_said(tmp_path):
    (tmp_path / "dyld_shared_cache_arm64e").write_bytes(b"dyld_v1  arm64e\0".ljust(4096, b"\0"))
    kernel = struct.pack("<2I16s4Q4I", 0x19, 72, b"__TEXT_EXEC", macho.BASE, 0, 0, 0, 5, 5, 0, 0)
    (tmp_path / "kernel").write_bytes(image(UUID, symbols=SYMBOLS, more=[kernel]))
    found, said = looked_up(tmp_path, "libsystem.dylib", OTHER, [CODE], "--dsym", tmp_path)
    assert names(found) == {CODE: None} and "no file with its UUID was found" in said
    assert "dyld_shared_cache_arm64e, a dyld shared cache, is not read" in said
    found, said = looked_up(tmp_path, "kernel", UUID, [CODE], "--dsym", tmp_path)
    assert names(found) == {CODE: None} and "neither an ELF, a Mach-O nor a PE file that can be read" in said


# ---- debug information: that of an ELF file, which says the same ----

SOURCE = r"""
namespace { __attribute__((always_inline)) inline int mix(int x) { return x * 31 + (x >> 3); } }
static __attribute__((always_inline)) inline int twice(int x) { return mix(mix(x) ^ 5); }
static __attribute__((noinline)) int hidden(int x) { int s = 0; for (int i = 0; i < x; i++) s += twice(i + x); return s; }
namespace shapes {
template <class T> struct box { T v; };
template <class T> __attribute__((noinline)) T area(box<T> b, int k) { return (T)(b.v * (T)twice(k)); }
int use(int k) { return area(box<int>{k}, k) + (int)area(box<long>{3}, k) + hidden(k); }
}
extern "C" __attribute__((noinline)) int _ZN3foo3bar17h0123456789abcdefE(int x) { return mix(x); }
extern "C" __attribute__((noinline)) int _RNvC7mycrate3foo(int x) { return twice(x) + 3; }
extern "C" int other(int);
extern "C" int entry(int n) { return shapes::use(n) + other(n) + _ZN3foo3bar17h0123456789abcdefE(n) + _RNvC7mycrate3foo(n); }
"""
SECOND = r"""
static inline __attribute__((always_inline)) int third(int x) { return x / 3; }
static __attribute__((noinline)) int hidden(int x) { return third(x) * 5; }
__attribute__((noinline)) int other(int x) { return third(x) * third(x + 1) + hidden(x); }
"""


def elf(at, *flags):
    at.mkdir()
    (at / "a.cpp").write_text(SOURCE)
    (at / "b.c").write_text(SECOND)
    if not shutil.which("g++") or os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("no g++ for a 64-bit machine")
    for compiler, source in (("g++", "a.cpp"), ("gcc", "b.c")):
        subprocess.run([compiler, "-g", "-O2", "-fPIE", "-ffreestanding", "-fno-exceptions", "-fno-asynchronous-unwind-tables", *flags,
                        "-c", source], cwd=at, check=True)
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id=none", f"-Wl,-Ttext-segment={macho.BASE:#x}", "-Wl,-e,entry",
                    "a.o", "b.o", "-o", "prog"], cwd=at, check=True)
    return at / "prog"


def as_macho(prog, kind=macho.DSYM):
    """The same code, symbols and debug information, where they are in the ELF file."""
    sections = macho.elf_sections(prog)
    addr, text = sections[".text"]
    assert addr == macho.BASE + CODE
    out = subprocess.run(["nm", "--defined-only", prog], capture_output=True, text=True, check=True).stdout
    symbols = [("_" + n, int(a, 16) - macho.BASE, LOCAL if t == "t" else GLOBAL, 1, 0x80 if t in "wW" else 0)
               for a, t, n in (line.split() for line in out.splitlines()) if t in "tTwW"]
    dwarf = {n: c for n, (_, c) in sections.items() if n.startswith((".debug_", ".zdebug_"))}
    return image(UUID, text, symbols, sorted({s[1] for s in symbols}), dwarf, kind), [CODE + i for i in range(len(text))]


@pytest.mark.parametrize("flags", [("-gdwarf-4",), ("-gdwarf-5",), ("-gdwarf-5", "-gz")], ids=" ".join)
def test_debug_information_says_the_same_as_in_an_elf_file(flags, tmp_path):
    prog = elf(tmp_path / "elf", *[f for f in flags if f != "-gz"])
    content, addresses = as_macho(prog)
    if "-gz" in flags:  # Go's: GNU's form, in an image without a bundle
        subprocess.run(["objcopy", "--compress-debug-sections=zlib-gnu", prog], check=True)
        content, _ = as_macho(prog, kind=macho.EXECUTE)
    (tmp_path / "d").mkdir()
    bundle(tmp_path / "d", "prog", content)
    linked, _ = looked_up(tmp_path, prog, None, [macho.BASE + a for a in addresses])
    found, said = looked_up(tmp_path, "prog", UUID, addresses, "--dsym", tmp_path / "d")
    # ELF has the sizes of functions; here what pads them belongs to the one before.
    named = {a - macho.BASE: frames for a, frames in linked.items() if frames[0][0]}
    assert {a: found[a] for a in named} == named and len(named) > 0.8 * len(addresses)
    assert sum(len(f) > 1 for f in found.values()) > 50 and "SPAA-W" not in said
    assert {"shapes::use(int)", "hidden(int)", "hidden", "foo::bar", "mycrate::foo"} <= {f[-1][0] for f in found.values()}
    # Threads change nothing.
    assert looked_up(tmp_path, "prog", UUID, addresses, "--dsym", tmp_path / "d", "--jobs", "3")[0] == found


# ---- reports ----

def spindump(tmp_path, addresses):
    start = 0x102000000
    rows = [("???", "prog", a, start + a) for a in addresses]
    return macho.report([(start, "prog", UUID, "/opt/prog")], rows)


def test_unnamed_frames_of_reports_get_names(tmp_path):
    bundle(tmp_path, "prog", image(UUID, symbols=SYMBOLS, starts=STARTS, kind=macho.DSYM))
    (tmp_path / "r.spindump.txt").write_text(spindump(tmp_path, [CODE + 0x22, CODE + 0x44, CODE + 4]))
    def shown(*options):
        return {r["function"] for r in ask("top", tmp_path / "r.spindump.txt", "--view", "all", *options)["rows"]}
    assert shown("--dsym", tmp_path) == {"alpha", "beta", "foo::bar()"} == shown("--symfs", tmp_path)
    assert len(shown()) == 3 and not shown() & shown("--dsym", tmp_path) and shown("--dsym", tmp_path, "--no-symbols") == shown()
    run("convert", tmp_path / "r.spindump.txt", "-o", tmp_path / "bare.spaa", code=0)
    run("symbolize", tmp_path / "bare.spaa", "--dsym", tmp_path, "-o", tmp_path / "later.spaa", code=0)
    run("symbolize", tmp_path / "r.spindump.txt", "--dsym", tmp_path, "-o", tmp_path / "named.spaa", code=0)
    run("convert", tmp_path / "r.spindump.txt", "--symfs", tmp_path, "-o", tmp_path / "once.spaa", code=0)
    assert (tmp_path / "once.spaa").read_bytes() == (tmp_path / "later.spaa").read_bytes() == (tmp_path / "named.spaa").read_bytes()
    run("validate", tmp_path / "once.spaa", code=0)
    # The caller's address is what the call returns to: at the end of a function it is that before.
    (tmp_path / "r.spindump.txt").write_text(spindump(tmp_path, [CODE + 0x40, CODE + 0x40]))
    folded = run("convert", tmp_path / "r.spindump.txt", "--to", "folded", "-o", "-", "--dsym", tmp_path, code=0).out
    assert "beta;foo::bar()" in folded


def test_what_would_help_is_said(tmp_path):
    (tmp_path / "r.spindump.txt").write_text(spindump(tmp_path, [CODE + 0x22, CODE + 4]))
    (tmp_path / "empty").mkdir()
    said = unwrapped(run("info", tmp_path / "r.spindump.txt", "--dsym", tmp_path / "empty", code=0).out)
    assert "--dsym DIR" in said and UUID in said


def test_a_report_keeps_its_bytes_when_names_are_looked_up(tmp_path):
    bundle(tmp_path, "prog", image(UUID, symbols=SYMBOLS, kind=macho.DSYM))
    text = spindump(tmp_path, [CODE + 0x22, CODE + 4])
    (tmp_path / "r.spindump.txt").write_text(text)
    run("convert", tmp_path / "r.spindump.txt", "--lossless", "--dsym", tmp_path, "-o", tmp_path / "k.spaa", code=0)
    assert "alpha" in (tmp_path / "k.spaa").read_text()
    assert run("convert", tmp_path / "k.spaa", "--lossless", "--to", "spindump", "-o", "-", code=0).out == text


def test_named_frames_keep_their_name_and_gain_lines(tmp_path):
    prog = elf(tmp_path / "elf", "-gdwarf-4")
    content, _ = as_macho(prog)
    bundle(tmp_path, "prog", content)
    start, out = 0x102000000, subprocess.run(["nm", prog], capture_output=True, text=True, check=True).stdout
    at = {n: int(a, 16) - macho.BASE for a, t, n in (line.split() for line in out.splitlines()) if t in "tT"}
    rows = [("entry + 5", "prog", at["entry"] + 5, start + at["entry"] + 5),
            ("Swift.calls(it: Other) -> () + 6", "prog", at["other"] + 6, start + at["other"] + 6),
            ("wrong + 3", "prog", at["_RNvC7mycrate3foo"] + 9, start + at["_RNvC7mycrate3foo"] + 9)]
    (tmp_path / "r.spindump.txt").write_text(macho.report([(start, "prog", UUID, "/opt/prog")], rows))
    run("convert", tmp_path / "r.spindump.txt", "--dsym", tmp_path, "-o", tmp_path / "out.spaa", code=0)
    frames = [json.loads(line) for line in (tmp_path / "out.spaa").read_text().splitlines() if '"type":"frame"' in line.replace(" ", "")]
    by_name = {f["func"]: f for f in frames if not f.get("inlined")}
    assert by_name["entry"]["srcline"].startswith("a.cpp:")
    assert by_name["Swift.calls(it: Other) -> ()"]["srcline"].startswith("b.c:")  # it starts where that function does
    assert "srcline" not in by_name["wrong"]
    assert "third" in {f["func"] for f in frames if f.get("inlined")}


# ---- damage ----

def damaged(rng):
    whole = bytearray(image(UUID, symbols=SYMBOLS, starts=STARTS, dwarf={".debug_info": b"\x10" * 40, ".debug_abbrev": b"\1\x11\0\0" * 4}))
    size = len(whole)
    yield "empty", b""
    for n in (3, 4, 27, 28, 31, 32, 33, 100, CODE, size - 1):
        yield f"cut at {n}", bytes(whole[:n])
    for at, values in ((16, (0, 1, 2 ** 32 - 1)), (20, (0, 8, 2 ** 31, 2 ** 32 - 1))):
        for v in values:
            yield f"header {at} {v}", bytes(whole[:at] + struct.pack("<I", v) + whole[at + 4:])
    at = 32
    while at < CODE:
        cmd, length = struct.unpack_from("<2I", whole, at)
        if not length:
            break
        for v in (0, 1, 7, 8, 2 ** 31, 2 ** 32 - 1):
            yield f"size of command {cmd} {v}", bytes(whole[:at + 4] + struct.pack("<I", v) + whole[at + 8:])
        for field in range(at + 8, at + min(length, 160), 8):
            for v in (0xFFFFFFFF, 0x7FFFFFF0, size - 2):
                yield f"field {field - at} of command {cmd} {v}", bytes(whole[:field] + struct.pack("<I", v) + whole[field + 4:])
        at += length
    for i in range(40):
        b = bytearray(whole)
        for _ in range(6):
            b[rng.randrange(size)] = rng.randrange(256)
        yield f"random {i}", bytes(b)
    for magic in (0xCAFEBABE, 0xCAFEBABF):
        yield "fat of everything", struct.pack(">2I", magic, 2 ** 32 - 1) + struct.pack(">5I", 7, 3, 0, 2 ** 31, 0) * 200
        entry = struct.pack(">2I2Q2I", 7, 3, 0, 4096, 0, 0) if magic & 1 else struct.pack(">5I", 7, 3, 0, 4096, 0)
        yield "fat with overlaps", (struct.pack(">2I", magic, 40) + entry * 40).ljust(8192, b"\0")
    yield "a class of Java", struct.pack(">2I", 0xCAFEBABE, 61) + b"\x0a\0\2\0\3" * 200


def test_damaged_files_cost_their_names_alone(tmp_path):
    (tmp_path / "d").mkdir()
    said = collections.Counter()
    for what, content in damaged(random.Random(5)):
        (tmp_path / "d" / "prog").write_bytes(content)
        for option, name in (("--dsym", "prog"), ("--symfs", "/prog")):
            found, text = looked_up(tmp_path, name, UUID, [CODE, CODE + 0x22, CODE + 0x44], option, tmp_path / "d")
            for address, frames in found.items():
                assert len(frames) == 1 and (frames[0][0] is None or EXPECTED.get(address, frames[0][0]) or "random" in what), what
            if any(f[0][0] is None for f in found.values()) and not what.startswith(("field", "random")):
                assert "without a name" in text, what
            said.update(re.findall(r"is damaged|is of another build|neither an ELF|it is stripped|no file with its UUID|was not found", text))
    assert said["is damaged"] > 5 and said["neither an ELF"] > 5 and said["is of another build"] > 2


# ---- real ones ----

def real(tmp_path, arch):
    tools = ("clang", "ld64.lld-14", "dsymutil-14", "llvm-symbolizer-14", "llvm-lipo-14")
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    at = tmp_path / arch
    at.mkdir()
    (at / "a.cpp").write_text(SOURCE.replace("int entry(int n)", "int main(int n)"))
    (at / "b.c").write_text(SECOND)

    def call(*command):
        subprocess.run(command, cwd=at, check=True, capture_output=True)
    for source in ("a.cpp", "b.c"):
        call("clang", "-target", f"{arch}-apple-macos12", "-gdwarf-4", "-O2", "-fno-exceptions", "-c", source)
    call("ld64.lld-14", "-undefined", "dynamic_lookup", "-platform_version", "macos", "12", "12", "-arch", arch, "-o", "prog", "a.o", "b.o")
    call("dsymutil-14", "prog", "-o", "prog.dSYM")
    out = subprocess.run(["llvm-dwarfdump-14", "--uuid", "prog"], cwd=at, capture_output=True, text=True, check=True).stdout
    uuid = re.search(r"UUID: (\S+)", out)[1].replace("-", "").lower()
    out = subprocess.run(["llvm-objdump-14", "--section-headers", "prog"], cwd=at, capture_output=True, text=True, check=True).stdout
    size, start = (int(x, 16) for x in re.search(r"__text +(\w+) +(\w+)", out).groups())
    return at / "prog", uuid, [start - macho.BASE + i for i in range(size)]


def judged(prog, addresses):
    text = "".join(f"{macho.BASE + a:#x}\n" for a in addresses)
    out = subprocess.run(["llvm-symbolizer-14", f"--obj={prog}", "--inlines", "--functions=linkage", "--demangle"], input=text,
                         capture_output=True, text=True, check=True).stdout
    found = {}
    for address, part in zip(addresses, out.split("\n\n")):
        lines = part.strip().split("\n")
        places = [re.sub(r":\d+$", "", os.path.basename(p)) for p in lines[1::2]]
        functions = [re.sub(r"::h[0-9a-f]{16}$", "", n) for n in lines[::2]]  # the hash of Rust's names, which nobody wants to see
        found[address] = [(n, None if p.endswith(":0") else p) for n, p in zip(functions, places)]
    return found


def test_llvm_symbolizer_says_the_same_of_every_address(tmp_path):
    made = {arch: real(tmp_path, arch) for arch in ("arm64", "x86_64")}
    (tmp_path / "fat").mkdir()
    for name in ("prog", "prog.dSYM/Contents/Resources/DWARF/prog"):
        (tmp_path / "fat" / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["llvm-lipo-14", "-create", *[tmp_path / arch / name for arch in made], "-output", tmp_path / "fat" / name], check=True)
    for arch, (prog, uuid, addresses) in made.items():
        found, _ = looked_up(tmp_path, "prog", uuid, addresses, "--dsym", prog.parent)
        assert found == judged(prog, addresses)
        assert sum(len(f) > 1 for f in found.values()) > 50
        assert looked_up(tmp_path, "prog", uuid, addresses, "--dsym", tmp_path / "fat")[0] == found

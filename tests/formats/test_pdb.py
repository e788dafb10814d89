"""PDBs: what stands at an address, beside llvm-symbolizer; where PDBs are found, and which are believed."""

import os
import re
import shutil
import struct
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import pdb_files  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pdb")
NAMES = ("x64", "x86", "arm64")


def code(data):
    """(RVA, size) of each section of code of an image."""
    at = struct.unpack_from("<I", data, 60)[0]
    sections, optional = struct.unpack_from("<H", data, at + 6)[0], struct.unpack_from("<H", data, at + 20)[0]
    for i in range(sections):
        s = at + 24 + optional + 40 * i
        size, rva = struct.unpack_from("<II", data, s + 8)
        if struct.unpack_from("<I", data, s + 36)[0] & 0x20000000:
            yield rva, size


def every_address(path):
    with open(path, "rb") as f:
        return [a for rva, size in code(f.read()) for a in range(rva, rva + size)]


def symbolizer(image):
    """What LLVM says, in runs of addresses of which it says the same: "first last", "function file:line" each, "."."""
    at = every_address(image)
    asked = "".join("0x%x\n" % a for a in at)
    said = subprocess.run(["llvm-symbolizer-14", "--obj=" + str(image), "--relative-address", "--inlines"], input=asked,
                          capture_output=True, text=True, check=True).stdout
    return at, [parse(group) for group in said.strip("\n").split("\n\n")]


def parse(group):
    lines = [line for line in group.split("\n") if line]
    return [(lines[i], re.sub(r":\d+$", "", lines[i + 1])) for i in range(0, len(lines) - 1, 2)]


def write_lines(image):
    at, answers = symbolizer(image)
    last = None
    for a, frames in zip(at, answers):
        if frames != last:
            print("0x%x" % a)
            for name, place in frames:
                print(" %s\t%s" % (name, place))
        last = frames
    print("0x%x" % (at[-1] + 1))


if __name__ == "__main__":
    write_lines(sys.argv[2])
    sys.exit()

import gen_pprof as pprof_gen  # noqa: E402,F401
import gen_spt as spt  # noqa: E402
import pytest  # noqa: E402
from conftest import ROOT, ask, run  # noqa: E402
from spt_files import write  # noqa: E402

TOOL = os.path.join(os.path.dirname(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))), "tests", "pdb_lines")


def path_of(name, ext="pdb"):
    return os.path.join(HERE, "%s.%s" % (name, ext))


def bytes_of(name, ext="pdb"):
    with open(path_of(name, ext), "rb") as f:
        return f.read()


def look_up(pdb, addresses, code=0):
    """The frames at each address: (linkage name, name, "file:line")."""
    done = subprocess.run([TOOL, str(pdb)], input="".join("0x%x\n" % a for a in addresses), capture_output=True, text=True,
                          errors="surrogateescape", check=False)
    assert done.returncode >= 0, (done.returncode, done.stderr)
    assert code is None or done.returncode == code, done.stderr
    out, frames = {}, None
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            frames = out.setdefault(int(line, 16), [])
        else:
            frames.append((*line.split("|", 1), next(lines)))
    return out


def said_by_llvm(name, ext="frames"):
    """The answers of NAME.frames (by the PDB) or NAME.lines (by DWARF of the same code) by address."""
    out, at, frames = {}, None, []
    with open(path_of(name, ext), encoding="utf-8") as f:
        for line in f:
            if line.startswith("0x"):
                here = int(line, 16)
                for a in range(at if at is not None else here, here):
                    out[a] = frames
                at, frames = here, []
            else:
                frames.append(tuple(line[1:].rstrip("\n").split("\t")))
    return out


def bare(name):
    """Without parameters and what stands before the name: LLVM undecorates, PDBs have the name as it was written."""
    name = re.sub(r"\((?!anonymous|lambda).*", "", name)
    while " " in re.sub(r"<[^<>]*>", "", name) and "operator" not in name and "`" not in name:
        name = name.split(" ", 1)[1]
    return re.sub(r"\s", "", re.sub(r"<[^<>]*>", "", name.replace("class ", ""))).split("::")[-1]


def functions(frames):
    return [bare(f[1] or f[0]) if len(f) == 3 else bare(f[0]) for f in frames]


def places(frames):
    return [f[-1].replace("/./", "/") for f in frames]


def is_padding(got, want):
    """Behind a function LLVM has the public symbol before, whatever that is of."""
    return not got and len(want) == 1 and want[0][1] == "??:0"


@pytest.mark.parametrize("name", NAMES)
def test_every_address_is_in_the_functions_that_llvm_says(name):
    theirs = said_by_llvm(name)
    ours = look_up(path_of(name), theirs)
    real = [a for a in theirs if not is_padding(ours[a], theirs[a])]
    assert [(hex(a), functions(ours[a])) for a in real] == [(hex(a), functions(theirs[a])) for a in real]
    # Of functions that are not inlined its lines are right; of two rows at one address it takes the first, which is empty.
    wrong = [a for a in real if places(ours[a])[-1] != places(theirs[a])[-1]]
    assert len(wrong) < 40, [(hex(a), ours[a], theirs[a]) for a in wrong]
    assert len(real) > 1500 and len(real) > 0.85 * len(theirs)
    assert max(len(theirs[a]) for a in real) >= 4  # three levels of inlined functions


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_those_of_dwarf_of_the_same_code(name):
    """But for code that is of no line, which PDBs do not tell, and for statements of several lines, of which they have one."""
    theirs = said_by_llvm(name, "lines")
    ours = look_up(path_of(name), theirs)
    known = [a for a in theirs if theirs[a] and ours[a] and not any(re.search(r":[0?]$|^\?", w[1]) for w in theirs[a])]
    other = [a for a in known if places(ours[a])[0] != places(theirs[a])[0]]
    assert len(known) > 1000 and len(other) < len(known) / 12, (len(known), [(hex(a), ours[a], theirs[a]) for a in other[:9]])


def test_lines_of_inlined_functions_are_those_of_their_annotations():
    """As llvm-pdbutil dumps them: sum() begins at line 24; line +3 at 0x5a, +4 at 0xa0, +3 at 0x16e, of code at 0x1000."""
    ours = look_up(path_of("x64"), [0x1059, 0x105A, 0x109F, 0x10A0, 0x10AB, 0x10AC, 0x116D, 0x116E, 0x11CF, 0x11D0])
    sums = {a: [f[2] for f in frames if f[1].endswith("::sum")] for a, frames in ours.items()}
    at = "/src/./queue.h:%d"
    assert sums == {0x1059: [], 0x105A: [at % 27], 0x109F: [at % 27], 0x10A0: [at % 28], 0x10AB: [at % 28], 0x10AC: [at % 28],
                    0x116D: [at % 28], 0x116E: [at % 27], 0x11CF: [at % 27], 0x11D0: []}
    assert [f[1] for f in ours[0x10AC]] == ["eng::Queue<int,8>::mix", "eng::Queue<int,8>::sum", "eng::run"]


@pytest.mark.skipif(not shutil.which("clang++") or not (shutil.which("lld-link") or shutil.which("lld-link-14")), reason="needs clang and lld")
def test_a_function_that_begins_with_what_is_inlined_has_its_own_line_there(tmp_path):
    """Its first row comes later; what stands before is of that line, as llvm-symbolizer says, too."""
    (tmp_path / "s.cpp").write_text("using u64 = unsigned long long;\n"
                                    "static inline u64 mix(u64 x) { x ^= x >> 31; return x * 0x9E3779B97F4A7C15ull; }\n"
                                    "extern \"C\" __attribute__((noinline)) u64 f(u64 x)\n"
                                    "{ return mix(x) + mix(x + 1); }\n"
                                    "extern \"C\" int entry() { return (int)f((u64)&entry); }\n")
    subprocess.run(["clang++", "--target=x86_64-pc-windows-msvc", "-O2", "-g", "-gcodeview", "-c", "s.cpp", "-o", "s.obj"], cwd=tmp_path,
                   check=True)
    link = shutil.which("lld-link") or shutil.which("lld-link-14")
    subprocess.run([link, "/nodefaultlib", "/entry:entry", "/subsystem:console", "/debug", "/out:s.exe", "/pdb:s.pdb", "s.obj"],
                   cwd=tmp_path, check=True, capture_output=True)
    ours = look_up(tmp_path / "s.pdb", range(0x1000, 0x1100), code=None)
    of_f = {a: frames for a, frames in ours.items() if frames and frames[-1][1] == "f"}
    assert len(of_f) > 20 and any(len(frames) > 1 for frames in of_f.values())
    assert {re.search(r"s\.cpp:(\d+)$", frames[-1][2])[1] for frames in of_f.values()} <= {"3", "4"}


@pytest.mark.parametrize("name", NAMES)
def test_llvm_still_says_so(name):
    if not shutil.which("llvm-symbolizer-14"):
        pytest.skip("no llvm-symbolizer-14")
    at, answers = symbolizer(path_of(name, "exe"))
    theirs = said_by_llvm(name)
    assert [theirs[a] for a in at] == answers


def test_names_linked_and_written():
    ours = look_up(path_of("x64"), said_by_llvm("x64"))
    names = {(f[-1][0], f[-1][1]) for f in ours.values() if f}
    assert {("?run@eng@@YAHH@Z", "eng::run"), ("?run@eng@@YANN@Z", "eng::run"), ("main", "main"), ("", "helper"),
            ("??8eng@@YA_NAEBUBase@0@0@Z", "eng::operator=="), ("?f@Base@eng@@UEAAHH@Z", "eng::Base::f"),
            ("?push@?$Queue@H$07@eng@@QEAAXH@Z", "eng::Queue<int,8>::push"),
            ("", "eng::`anonymous namespace'::hidden")} <= names


def test_inlined_functions_are_those_that_have_code_of_their_own(tmp_path):
    """Overloads by their types, static functions of one name by their files; names of Rust as they are anywhere."""
    rows = [(f[0][0], f[0][1], len(f)) for f in look_up(path_of("own"), range(0x1000, 0x1200)).values() if f]
    for linkage, name in (("?twice@@YAHH@Z", "twice"), ("?twice@@YAHN@Z", "twice"), ("", "hid")):
        assert {n for a, b, n in rows if (a, b) == (linkage, name)} >= {1, 2}
    assert {(a, b) for a, b, _ in rows} == {
        ("?twice@@YAHH@Z", "twice"), ("?twice@@YAHN@Z", "twice"), ("", "hid"), ("?caller@@YAHH@Z", "caller"), ("?viab@@YAHH@Z", "viab"),
        ("main", "main"), ("_ZN4core3fmt5write17h0123456789abcdefE", "write"), ("_RNvNtCs1234_7mycrate3foo3bar", "bar")}
    path = trace(tmp_path, *range(0x1000, 0x10FF), name="own", program="C:\\own.exe")
    got = {(f["func"], f["x_func"].get("linkage"), f["x_func"].get("file") if f["x_func"].get("local") else None)
           for f in frames(path, "--image", path_of("own")) if f.get("func_resolved", True)}
    assert got >= {("twice", "?twice@@YAHH@Z", None), ("twice", "?twice@@YAHN@Z", None), ("hid", None, "own.cpp"),
                   ("hid", None, "own_other.cpp"), ("core::fmt::write", "_ZN4core3fmt5write17h0123456789abcdefE", None),
                   ("mycrate::foo::bar", "_RNvNtCs1234_7mycrate3foo3bar", None)}
    assert len([g for g in got if g[0] in ("twice", "hid")]) == 4


# The container

@pytest.mark.parametrize("block", [512, 1024, 2048, 4096, 8192, 65536])
def test_blocks_of_any_size_anywhere(block, tmp_path):
    parts = pdb_files.streams(bytes_of("x64"))
    write(tmp_path / "x.pdb", pdb_files.pack(parts, block, scatter=True))
    at = list(said_by_llvm("x64"))[::7]
    assert look_up(tmp_path / "x.pdb", at) == look_up(path_of("x64"), at)


def test_a_directory_whose_list_of_blocks_takes_several(tmp_path):
    parts = pdb_files.streams(bytes_of("x64")) + [bytes(17 << 20), None]
    whole = pdb_files.pack(parts, 512)
    at = list(said_by_llvm("x64"))[::7]
    write(tmp_path / "x.pdb", whole)
    assert look_up(tmp_path / "x.pdb", at) == look_up(path_of("x64"), at)
    assert struct.unpack_from("<I", whole, 56)[0]
    # As LLVM has it: one number, the others behind it.
    write(tmp_path / "y.pdb", whole[:56] + bytes(512 - 56) + whole[512:])
    assert look_up(tmp_path / "y.pdb", at) == look_up(path_of("x64"), at)


@pytest.mark.parametrize("data, what", [
    (b"BSJB" + bytes(60), "portable PDB"), (b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0" + bytes(60), "before 7.00"),
    (b"text", "no PDB"), (b"", "empty")])
def test_what_is_no_pdb_says_what_it_is(data, what, tmp_path):
    path = write(tmp_path / "x.pdb", data)
    done = subprocess.run([TOOL, str(path)], input="", capture_output=True, text=True, check=False)
    assert done.returncode == 1 and what in done.stderr


def test_files_that_were_cut_off_say_so(tmp_path):
    whole = bytes_of("x64")
    for n in range(600, len(whole) - 512, 1777):
        done = subprocess.run([TOOL, str(write(tmp_path / "x.pdb", whole[:n]))], input="0x1000\n", capture_output=True, text=True,
                              check=False)
        assert done.returncode == 1 and "cut off" in done.stderr


@pytest.mark.parametrize("seed", range(8))
def test_damage_does_no_harm(seed, tmp_path):
    import random
    rng, whole = random.Random(seed), pdb_files.streams(bytes_of("x64"))
    at = list(said_by_llvm("x64"))[::29]
    for _ in range(12):
        parts = [bytearray(p) if p is not None else None for p in whole]
        for _ in range(rng.randrange(1, 8)):
            part = rng.choice([p for p in parts if p])
            part[rng.randrange(len(part))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        if rng.random() < 0.3:
            i = rng.randrange(len(parts))
            parts[i] = parts[i] and parts[i][:rng.randrange(len(parts[i]) + 1)]
        look_up(write(tmp_path / "x.pdb", pdb_files.pack(parts, 512)), at, code=None)


def test_images_that_were_rearranged_after_linking(tmp_path):
    """OMAP: the code moved up by 0x100, but for its first 0x20 bytes, which are gone."""
    parts = pdb_files.streams(bytes_of("x64"))
    dbi = bytearray(parts[3])
    sizes = struct.unpack_from("<7i", dbi, 24)
    optional = 64 + sum(sizes[:5]) + struct.unpack_from("<i", dbi, 52)[0]
    sections = struct.unpack_from("<H", dbi, optional + 10)[0]
    for slot, number in ((3, len(parts)), (4, len(parts) + 1), (10, sections)):
        struct.pack_into("<H", dbi, optional + 2 * slot, number)
    parts[3] = bytes(dbi)
    parts += [struct.pack("<6I", 0x1000, 0, 0x1120, 0x1020, 0x9000, 0), struct.pack("<4I", 0x1000, 0, 0x1020, 0x1120)]
    write(tmp_path / "x.pdb", pdb_files.pack(parts))
    at = range(0x1020, 0x1400)
    plain = look_up(path_of("x64"), at)
    moved = look_up(tmp_path / "x.pdb", [a + 0x100 for a in at] + [0x1010])
    assert {a: moved[a + 0x100] for a in at} == plain and moved[0x1010] == []


def test_public_symbols_alone(tmp_path):
    """What is left when modules were taken out, as of the PDBs that Microsoft publishes."""
    parts = pdb_files.streams(bytes_of("x64"))
    dbi = bytearray(parts[3])
    for at in modules_of(dbi):
        struct.pack_into("<HIII", dbi, at + 34, 0xFFFF, 0, 0, 0)
    parts[3] = bytes(dbi)
    write(tmp_path / "x.pdb", pdb_files.pack(parts))
    assert look_up(tmp_path / "x.pdb", [0x1004])[0x1004] == [("?run@eng@@YAHH@Z", "", ":0")]


def modules_of(dbi):
    """Where the records of the modules stand in the DBI stream."""
    at, end = 64, 64 + struct.unpack_from("<i", dbi, 24)[0]
    while at < end:
        yield at
        at = dbi.index(b"\0", dbi.index(b"\0", at + 64) + 1) + 1
        at += -at % 4


# What Microsoft's linker writes and lld does not. None of its PDBs can be had here: these are made by hand.

def test_a_table_of_jumps_of_incremental_linking_has_no_name_of_other_code(tmp_path):
    """/INCREMENTAL: jumps that the linker made (S_TRAMPOLINE), in a stretch of code of its own in front of the functions."""
    parts = pdb_files.streams(bytes_of("x64"))
    dbi = bytearray(parts[3])
    sizes = struct.unpack_from("<7i", dbi, 24)
    contributions = 64 + sizes[0]
    code_parts = [contributions + 4 + 28 * i for i in range((sizes[1] - 4) // 28)]
    first = min((p for p in code_parts if struct.unpack_from("<H", dbi, p) == (1,)), key=lambda p: struct.unpack_from("<I", dbi, p + 4))
    offset, size = struct.unpack_from("<II", dbi, first + 4)
    whole = look_up(path_of("x64"), range(0x1000, 0x1000 + size))
    # the first function's place is the linker's now: its module has but jumps, and nothing public stands there
    linker = list(modules_of(dbi))[-1]
    struct.pack_into("<H", dbi, first + 16, len(list(modules_of(dbi))) - 1)
    trampolines = b"".join(struct.pack("<HHHHIIHH", 18, 0x112C, 0, 5, 5 * i, 0x40, 1, 1) for i in range(3))
    struct.pack_into("<HIII", dbi, linker + 34, len(parts), 4 + len(trampolines), 0, 0)
    parts[3] = bytes(dbi)
    parts.append(b"\4\0\0\0" + trampolines)
    publics = struct.unpack_from("<H", dbi, 16)[0]
    parts[publics] = parts[publics][:28] # no public symbols by address
    write(tmp_path / "x.pdb", pdb_files.pack(parts))
    assert any(whole.values())
    got = look_up(tmp_path / "x.pdb", range(0x1000 + offset, 0x1000 + offset + 15), code=None)
    assert all(not frames for frames in got.values()), got


def fastlink(parts):
    """/DEBUG:FASTLINK: it says so, and what modules had is in their object files."""
    dbi = bytearray(parts[3])
    for at in modules_of(dbi):
        struct.pack_into("<HIII", dbi, at + 34, 0xFFFF, 0, 0, 0)
    parts[3] = bytes(dbi)
    parts[1] = bytes(parts[1]) + struct.pack("<I", 0x494E494D)
    return parts


def test_a_pdb_of_fastlink_is_told(tmp_path):
    (tmp_path / "s").mkdir()
    made = write(tmp_path / "s" / "x64.pdb", pdb_files.pack(fastlink(pdb_files.streams(bytes_of("x64")))))
    at = list(said_by_llvm("x64"))[::29]
    done = run("convert", trace(tmp_path, *at), "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0)
    assert "SPAA-W801" in done.err and "/DEBUG:FASTLINK" in done.err and "mspdbcmf" in done.err
    if shutil.which("llvm-pdbutil-14"):
        said = subprocess.run(["llvm-pdbutil-14", "dump", "--summary", made], capture_output=True, text=True, check=True).stdout
        assert "Features: 0x3" in said # with an IPI stream, with minimal debug information
    full = run("convert", trace(tmp_path, *at), "--image", path_of("x64"), "-o", tmp_path / "o.spaa", code=0)
    assert "SPAA-W801" not in full.err


@pytest.mark.parametrize("signature, version", [(0xFFFFFFFF, 930803), (0xFFFFFFFF, 19960307), (0x00010002, 19990903)])
def test_lists_of_old_versions_are_refused(signature, version, tmp_path):
    parts = [bytearray(p) if p is not None else None for p in pdb_files.streams(bytes_of("x64"))]
    struct.pack_into("<II", parts[3], 0, signature, version)
    path = write(tmp_path / "x.pdb", pdb_files.pack(parts))
    done = subprocess.run([TOOL, str(path)], input="0x1000\n", capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "before 6.0" in done.stderr and not done.stdout


@pytest.mark.parametrize("version", [19970606, 19990903, 20091201])
def test_lists_of_later_versions_are_one(version, tmp_path):
    parts = [bytearray(p) if p is not None else None for p in pdb_files.streams(bytes_of("x64"))]
    struct.pack_into("<I", parts[3], 4, version)
    at = list(said_by_llvm("x64"))[::7]
    assert look_up(write(tmp_path / "x.pdb", pdb_files.pack(parts)), at) == look_up(path_of("x64"), at)


# Which PDB is believed, and what it names

def identity(name):
    info = pdb_files.streams(bytes_of(name))[1]
    return uuid.UUID(bytes_le=info[12:28]), struct.unpack_from("<I", info, 8)[0]


def key_of(name):
    guid, age = identity(name)
    return guid.hex + "%x" % age


INLINED = next(a for a, f in said_by_llvm("x64", "lines").items() if len(f) == 4 and f[-1][0] == "other(int)")


def trace(tmp_path, *addresses, name="x64", program="C:\\build\\x64.exe", age=None):
    guid, real = identity(name)
    f = spt.File([spt.Program(program, guid, real if age is None else age)])
    f.segment(0).ip(spt.ETW_INSTR, *addresses)
    return write(tmp_path / "x.spt", f)


def frames(*args):
    out = run("convert", *args, "-o", "-", "--to", "spaa", code=0).out
    import json
    return [r for r in map(json.loads, out.splitlines()) if r["type"] == "frame"]


def test_a_named_pdb_names_functions_inlined_functions_and_lines(tmp_path):
    path = trace(tmp_path, INLINED)
    want = said_by_llvm("x64", "lines")[INLINED]
    got = sorted(frames(path, "--image", path_of("x64")), key=lambda f: -f.get("inline_depth", 0))
    assert got[0]["srcline"] == re.sub("^/src/(./)?", "", want[0][1]) and all(f["srcline"] for f in got)
    assert [f.get("inlined", False) for f in got] == [True] * 3 + [False]
    assert got[-1]["func"] == "other" and got[-1]["x_func"]["linkage"] == "?other@@YAHH@Z"
    assert len(frames(path, "--image", path_of("x64"), "--no-inline")) == 1
    assert "srcline" not in frames(path, "--image", path_of("x64"), "--no-lines")[0]


@pytest.mark.parametrize("where", [
    "x64.pdb", "build/x64.pdb", "x64.pdb/{KEY}/x64.pdb", "x64.pdb/{key}/x64.pdb", "build/X64.EXE x64.pdb"])
def test_where_a_pdb_is_found(where, tmp_path):
    root = tmp_path / "symbols"
    for one in where.split():
        to = root / one.replace("{KEY}", key_of("x64").upper()).replace("{key}", key_of("x64"))
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path_of("x64", to.suffix[1:].lower()), to)
    path = trace(tmp_path, INLINED)
    assert len(frames(path, "--symfs", root)) == 4
    if "build" not in where:
        assert len(frames(path, "--debug-dir", root)) == 4


def test_the_same_names_later(tmp_path):
    (tmp_path / "s").mkdir()
    shutil.copy(path_of("x64"), tmp_path / "s")
    path = trace(tmp_path, *list(said_by_llvm("x64"))[::19])
    run("convert", path, "--no-symbols", "-o", tmp_path / "bare.spaa", code=0)
    run("symbolize", tmp_path / "bare.spaa", "--symfs", tmp_path / "s", "-o", tmp_path / "later.spaa", code=0)
    run("convert", path, "--symfs", tmp_path / "s", "-o", tmp_path / "at-once.spaa", code=0)
    assert (tmp_path / "later.spaa").read_bytes() == (tmp_path / "at-once.spaa").read_bytes()
    # And the trace comes back.
    run("convert", tmp_path / "at-once.spaa", "-o", tmp_path / "back.spt", code=0)
    run("convert", tmp_path / "bare.spaa", "-o", tmp_path / "same.spt", code=0)
    assert (tmp_path / "back.spt").read_bytes() == (tmp_path / "same.spt").read_bytes()


def test_a_pdb_of_another_build_is_not_used_and_told(tmp_path):
    (tmp_path / "s").mkdir()
    shutil.copy(path_of("x86"), tmp_path / "s" / "x64.pdb")
    done = run("convert", trace(tmp_path, 0x1000), "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0)
    assert "SPAA-W312" in done.err and key_of("x86") in done.err and '"func":"0x1000"' in (tmp_path / "o.spaa").read_text()
    shutil.copy(path_of("x64"), tmp_path / "s" / "x64.pdb")
    done = run("convert", trace(tmp_path, 0x1000, age=7), "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0)
    assert "SPAA-W312" in done.err and '"func":"0x1000"' in (tmp_path / "o.spaa").read_text()
    write(tmp_path / "s" / "x64.pdb", b"BSJB" + bytes(99))
    assert "portable PDB" in run("convert", trace(tmp_path, 0x1000), "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0).err
    assert "portable PDB" in run("top", trace(tmp_path, 0x1000), "--image", tmp_path / "s" / "x64.pdb", code=3).err


def test_images_without_a_pdb_say_what_is_missing(tmp_path):
    (tmp_path / "s").mkdir()
    shutil.copy(path_of("x64", "exe"), tmp_path / "s")
    done = run("convert", trace(tmp_path, 0x1000), "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0)
    assert "its PDB was not found" in done.err
    (row,) = ask("top", trace(tmp_path, 0x1000), "--symfs", tmp_path / "s")["quality"]["unresolved_by_dso"]
    assert "`--image FILE` (PDB, PE, ELF)" in row["hint"]
    assert "DIR/NAME.pdb/%s as symbol servers keep it" % key_of("x64") in row["hint"]


def test_damage_that_costs_names_is_told(tmp_path):
    """Of one module the symbols end early: what could be read is used, and not as if that were all."""
    parts = [bytearray(p) if p is not None else None for p in pdb_files.streams(bytes_of("x64"))]
    modules = [p for p in parts[5:] if p and len(p) > 64 and p[:4] == b"\4\0\0\0"]
    for p in modules:
        struct.pack_into("<H", p, 4, 0xFFFF)  # the first record is longer than all of them
    (tmp_path / "s").mkdir()
    write(tmp_path / "s" / "x64.pdb", pdb_files.pack(parts, 512))
    done = run("convert", trace(tmp_path, *list(said_by_llvm("x64"))[::29]), "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0)
    assert modules and "SPAA-W802" in done.err and "x64.pdb" in done.err


def test_a_pdb_whose_inside_cannot_be_read_is_told(tmp_path):
    """Its GUID and age fit, its list of modules is longer than what it stands in."""
    parts = [bytearray(p) if p is not None else None for p in pdb_files.streams(bytes_of("x64"))]
    struct.pack_into("<I", parts[3], 24, 0x7FFFFFFF)
    (tmp_path / "s").mkdir()
    write(tmp_path / "s" / "x64.pdb", pdb_files.pack(parts, 512))
    done = run("convert", trace(tmp_path, 0x1000), "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0)
    assert "x64.pdb is a damaged PDB" in " ".join(done.err.split())


def test_pprof_of_windows(tmp_path):
    base, at = 0x7FF600000000, INLINED
    p = {"types": [("samples", "count")], "samples": [{"locations": [1], "values": [1], "labels": []}],
         "mappings": [{"id": 1, "start": base, "limit": base + 0x10000, "offset": 0, "file": "C:\\build\\x64.exe",
                       "build_id": key_of("x64"), "has": [False] * 4}],
         "locations": [{"id": 1, "mapping": 1, "address": base + at, "lines": [], "folded": False}], "functions": [], "comments": []}
    path = write(tmp_path / "x.pb", pprof_gen.encode({**pprof_gen.random_profile(1), **p}))
    (tmp_path / "s").mkdir()
    shutil.copy(path_of("x64"), tmp_path / "s")
    run("symbolize", path, "--symfs", tmp_path / "s", "-o", tmp_path / "o.spaa", code=0)
    assert len([r for r in frames(tmp_path / "o.spaa") if r.get("srcline")]) == 4


# spaa spt match

def test_match_takes_pdbs_and_folders(tmp_path):
    path = trace(tmp_path, 0x1000)
    answer = ask("spt", "match", path, path_of("x64"), path_of("x86"), path_of("x64", "exe"))
    assert [(b["verdict"], b["machine"]) for b in answer["binaries"]] == [
        ("match", "x64"), ("not_in_trace", "x86"), ("match", "x64")]
    found = ask("spt", "match", path, HERE)["binaries"]
    assert {os.path.basename(b["path"]): b["verdict"] for b in found} == {
        "x64.pdb": "match", "x64.exe": "match", "x86.pdb": "not_in_trace", "x86.exe": "not_in_trace",
        "arm64.pdb": "not_in_trace", "arm64.exe": "not_in_trace", "own.pdb": "not_in_trace"}
    other = trace(tmp_path, 0x1000, age=5)
    assert ask("spt", "match", other, path_of("x64"), code=1)["binaries"][0]["verdict"] == "age_differs"
    with open(path_of("x64"), "rb") as f:
        half = write(tmp_path / "half.pdb", f.read()[:20000])
    assert ask("spt", "match", path, half, code=1)["binaries"][0]["verdict"] == "cut_off"
    assert "a PDB that was cut off" in run("spt", "match", path, half, code=1).err
    portable = write(tmp_path / "app.pdb", b"BSJB" + bytes(99))
    done = run("spt", "match", path, portable, code=1)
    assert "not a PE or PDB" in done.out and "portable PDB" in done.err

"""Profiles for optimisers: of recordings of branches, and of samples without, each beside the tool that takes it."""

import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import gen_spt as spt
import profiles
import pytest
from conftest import ROOT, run
from spt_files import APP
from perf_data_files import BRANCH_STACK, IP, PERIOD, TID, TIME, Recording, branches

sys.path.insert(0, os.path.join(ROOT, "tests", "lbr"))
import simulate  # noqa: E402

BUILD, BASE, TEXT, OFFSET = bytes(range(20)), 0x555500000000, 0x1770, 0x770  # as lld links: text is a page further than in the file
HOT, COLD, SIZE = 0x1800, 0x1840, 0x40


def elf(build=BUILD):
    """An ELF file of two segments, whose text is at another address than its offset, with two functions."""
    names, strings = b"", b"\0hot\0cold.c\0cold\0"
    symbols = [(0, 0, 0, 0, 0), (5, 4, 0xFFF1, 0, 0), (12, 2, 1, COLD, SIZE), (1, 0x12, 1, HOT, SIZE)]
    symtab = b"".join(struct.pack("<IBBHQQ", n, info, 0, section, value, size) for n, info, section, value, size in symbols)
    note = struct.pack("<III4s", 4, len(build), 3, b"GNU\0") + build
    parts = [(".text", 1, 6, TEXT, OFFSET, b"\x90" * 0x200, 0, 0, 0), (".note.gnu.build-id", 7, 0, 0, 0xA00, note, 0, 0, 0),
             (".symtab", 2, 0, 0, 0xB00, symtab, 4, 3, 24), (".strtab", 3, 0, 0, 0xC00, strings, 0, 0, 0),
             (".shstrtab", 3, 0, 0, 0xD00, None, 0, 0, 0)]
    names = b"\0" + b"".join(p[0].encode() + b"\0" for p in parts)
    image, headers = bytearray(0x1000), b"\0" * 64
    for name, kind, flags, at, offset, data, link, info, each in parts:
        data = names if data is None else data
        image[offset:offset + len(data)] = data
        headers += struct.pack("<IIQQQQIIQQ", names.index(b"\0" + name.encode()) + 1, kind, flags, at, offset, len(data), link, info,
                               1, each)
    image[:64] = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0x1000, 0, 64, 56, 2, 64, 6, 5)
    image[64:176] = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, OFFSET, OFFSET, 4096) + struct.pack(
        "<IIQQQQQQ", 1, 5, OFFSET, TEXT, TEXT, 0x200, 0x200, 4096)
    return bytes(image) + headers


def at(address):
    return BASE + address


def recording(stacks, flags=1 << 3, ips=(HOT + 4, HOT + 4, COLD + 2)):
    sort = IP | TID | TIME | PERIOD | (BRANCH_STACK if stacks is not None else 0)
    r = Recording([(0, 0, sort, {"freq": 99, "branch": flags})])
    r.kernel()
    r.comm(10, 10, b"prog", 1)
    r.mmap2(10, at(0x1000), 0x1000, 0, b"/opt/prog", 1, build_id=BUILD)
    r.mmap2(10, 0x7F0000000000, 0x1000, 0, b"/opt/lib.so", 1)
    for i, entries in enumerate(stacks or [()] * len(ips)):
        r.sample(ip=at(ips[i % len(ips)]), time=100 + i, tail=branches(r, *entries) if stacks is not None else b"")
    return r


# Newest first: cold was called by hot, returned, and hot went round; before, it came from the library and the kernel.
LIB, KERNEL = 0x7F0000000100, 0xFFFFFFFF81000100
STACK = [(at(HOT + 0x20), at(HOT)), (at(COLD + 8), at(HOT + 0x10)), (at(HOT + 0xC), at(COLD)), (LIB, at(HOT + 4)),
         (at(HOT + 0x30), LIB + 8), (KERNEL, at(HOT + 0x28))]


@pytest.fixture
def made(tmp_path):
    """A recording of it twice, with the binary beside."""
    (tmp_path / "symfs" / "opt").mkdir(parents=True)
    (tmp_path / "symfs" / "opt" / "prog").write_bytes(elf())
    (tmp_path / "x.perf.data").write_bytes(recording([STACK, STACK]).bytes())
    return tmp_path


def convert(path, to, *options, code=0):
    answer = run("convert", path, "--to", to, "-o", "-", *options, code=code)
    return answer.out, answer.err


def named(made):
    return "--symfs", made / "symfs", "--image", made / "symfs" / "opt" / "prog"


PROFGEN = """4
804-80c:2
810-820:2
828-830:2
840-848:2
3
80c->840:2
820->800:2
848->810:2
"""


def test_llvm_profgens_profile_counts_from_the_text_segment(made):
    out, err = convert(made / "x.perf.data", "profgen", *named(made))
    assert out == PROFGEN
    assert "6 branches from or to other binaries" in err and "SPAA-I863" in err


def test_autofdos_text_has_offsets_in_the_file(made):
    out, _ = convert(made / "x.perf.data", "autofdo", *named(made))
    assert out == ("4\n804-80c:2\n810-820:2\n828-830:2\n840-848:2\n1\n804:2\n3\n80c->840:2\n820->800:2\n848->810:2\n")


def test_bolts_profile_tells_what_was_entered_from_other_functions(made):
    out, _ = convert(made / "x.perf.data", "bolt", *named(made))
    assert out.splitlines() == [
        "B 180c 1840 2 0", "B 1820 1800 2 0", "B 1830 0 2 0", "B 1848 1810 2 0", "B 0 1804 2 0", "B 0 1828 2 0",
        "f 1804 180c 2", "f 1810 1820 2", "f 1828 1830 2", "f 1840 1848 2"]
    without, _ = convert(made / "x.perf.data", "bolt", "--no-symbols", "--image", made / "symfs" / "opt" / "prog")
    # what was entered from another binary is known without names, too
    assert [x for x in without.splitlines() if x[0] != "B"] == ["f 1804 180c 2", "F 1810 1820 2", "f 1828 1830 2", "F 1840 1848 2"]


def test_bolts_samples_are_by_symbol(made):
    (made / "s.perf.data").write_bytes(recording(None).bytes())
    out, _ = convert(made / "s.perf.data", "fdata", "--symfs", made / "symfs")
    assert out == "no_lbr cycles:\n1 cold/cold.c/1 2 1\n1 hot 4 2\n"
    with_branches, err = convert(made / "x.perf.data", "fdata", "--symfs", made / "symfs")
    assert with_branches == "no_lbr cycles:\n1 hot 4 2\n"
    assert "SPAA-L862" in err and "12 branches" in err and "perf2bolt -pa" in err
    out, _ = convert(made / "s.perf.data", "autofdo", *named(made))
    assert out == "0\n2\n804:2\n842:1\n0\n"
    for to in "profgen", "bolt":
        _, err = convert(made / "s.perf.data", to, *named(made), code=3)
        assert "SPAA-E860" in err and "has no branches" in err and "perf record -b" in err
    _, err = convert(made / "s.perf.data", "fdata", "--no-symbols", "--image", made / "symfs" / "opt" / "prog", code=3)
    assert "no sample is in a function with a name" in err


# As perf 6.12 prints -F +dsoff: the offset in the file, of whole runs of inlined frames.
DSOFF = """prog 10/10 [000] 0.000100: 1 cycles:
\t    555500001804 tiny (inlined)
\t    555500001804 hot+0x4 (/opt/prog+0x804)
\t    7f0000000100 [unknown] (/opt/lib.so+0x100)
\tffffffff81000100 entry+0x0 ([kernel.kallsyms]+0xffffffff81000100)

prog 10/10 [000] 0.000101: 1 cycles:
\t    555500001804 tiny (inlined)
\t    555500001804 hot+0x4 (/opt/prog+0x804)

prog 10/10 [000] 0.000102: 1 cycles:
\t    555500001842 [unknown] (/opt/prog (deleted)+0x842)

"""


def test_offsets_of_perf_scripts_text_are_those_in_the_file(made):
    (made / "t.txt").write_text(DSOFF)
    rows = [json.loads(x) for x in convert(made / "t.txt", "spaa", "--frames", "address")[0].splitlines()]
    dsos = {r["id"]: r["name"] for r in rows if r["type"] == "dso"}
    frames = sorted((dsos[r["dso"]], r["ip"], r["func"]) for r in rows if r["type"] == "frame")
    assert frames == [("/opt/lib.so", "0x100", "0x100"), ("/opt/prog", "0x804", "hot"), ("/opt/prog", "0x804", "tiny"), ("/opt/prog", "0x842", "0x842"),
                      ("[kernel]", "0xffffffff81000100", "entry")]
    assert convert(made / "t.txt", "autofdo", "--frames", "address")[0] == "0\n1\n804:2\n0\n"  # the deleted one is another build
    (made / "t.txt").write_text(DSOFF.replace(" (deleted)", ""))
    assert convert(made / "t.txt", "autofdo", "--frames", "address")[0] == "0\n2\n804:2\n842:1\n0\n"
    # with the file they are addresses as linked, and get the names there, for SPT too
    run("convert", made / "t.txt", "--frames", "address", "-o", made / "t.spaa")
    run("symbolize", made / "t.spaa", "--symfs", made / "symfs", "-o", made / "named.spaa")
    assert "cold" in run("top", made / "named.spaa").out
    run("convert", made / "named.spaa", "-o", made / "t.spt", code=0)
    assert convert(made / "t.spt", "folded")[0].splitlines() == ["0x1804 2", "0x1842 1"]
    # without them the text has where the program was loaded
    (made / "no.txt").write_text(re.sub(r"\+0x[0-9a-f]+\)", ")", DSOFF))
    assert "perf script -F +dsoff" in run("convert", made / "no.txt", "--frames", "address", "-o", made / "no.spt", code=3).err


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("nm"), reason="needs gcc and nm")
def test_blanks_in_names_of_sources_are_escaped_as_bolt_reads_them(tmp_path):
    (tmp_path / "one file.c").write_text("static __attribute__((noinline)) long spin(long x) { return x * x + 3; }\n"
                                         "int main(int n, char **v) { (void)v; return (int)spin(n); }\n")
    subprocess.run(["gcc", "-O1", "-no-pie", "-o", "one", "one file.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "one"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    spin = int(re.search(r"^(\w+) t spin$", symbols, re.M)[1], 16)
    frame = {"dso": str(tmp_path / "one"), "func": hex(spin), "func_resolved": False, "ip": hex(spin), "kind": "user"}
    (tmp_path / "bare.spaa").write_text(profiles.text([([frame], {"samples": 5, "period": 5})]))
    run("symbolize", tmp_path / "bare.spaa", "-o", tmp_path / "p.spaa", code=0)
    out, _ = convert(tmp_path / "p.spaa", "fdata", "--binary", "one")
    assert "1 spin/one\\ file.c/1 0 5" in out.splitlines(), out


@pytest.mark.parametrize("to", ["profgen", "autofdo", "bolt", "fdata"])
def test_the_same_comes_through_spaa(made, to):
    run("convert", made / "x.perf.data", "--symfs", made / "symfs", "-q", "-o", made / "x.spaa", code=0)
    image = "--image", made / "symfs" / "opt" / "prog"
    assert convert(made / "x.spaa", to, *image)[0] == convert(made / "x.perf.data", to, *named(made))[0]
    run("convert", made / "x.perf.data", "--no-symbols", "-q", "-o", made / "bare.spaa", code=0)
    if to != "fdata":
        bare = convert(made / "bare.spaa", to, *image)[0]
        assert bare == convert(made / "x.perf.data", to, "--no-symbols", *image)[0]
        assert bare.lower() == convert(made / "x.perf.data", to, *named(made))[0].lower()


def test_without_the_binary_what_is_not_known_is_not_written(made):
    _, err = convert(made / "x.perf.data", "bolt", "--no-symbols", code=3)
    assert "SPAA-E860" in err and "the profile has offsets in the file of /opt/prog" in err and "--image FILE" in err
    _, err = convert(made / "x.perf.data", "autofdo", "--symfs", made / "symfs", code=3)
    assert "the profile has addresses as linked of /opt/prog" in err
    assert convert(made / "x.perf.data", "autofdo", "--no-symbols")[0] == convert(made / "x.perf.data", "autofdo", *named(made))[0]
    (made / "other").write_bytes(elf(bytes(20)))
    _, err = convert(made / "x.perf.data", "bolt", "--image", made / "other", code=3)
    assert "is another build" in err
    (made / "none").write_bytes(b"x")
    assert "is no ELF file" in convert(made / "x.perf.data", "bolt", "--image", made / "none", code=3)[1]
    assert "SPAA-E001" in convert(made / "x.perf.data", "bolt", "--image", made / "gone", code=3)[1]


def test_one_binary_is_written_and_which_is_said(made):
    _, err = convert(made / "x.perf.data", "bolt", *named(made))
    assert "/opt/prog has" in err and "SPAA-I861" in err
    out, err = convert(made / "x.perf.data", "autofdo", "--binary", "lib.so", code=3)
    assert "has no branches" in err or out.startswith("0\n")
    out, _ = convert(made / "x.perf.data", "autofdo", "--binary", "prog", "--no-symbols")
    assert out.startswith("4\n")
    _, err = convert(made / "x.perf.data", "bolt", "--binary", "progg", code=2)
    assert "has no binary progg" in err and "prog" in err.split("progg", 1)[1]
    _, err = convert(made / "x.perf.data", "bolt", "--binary", "[kernel]", code=3)
    assert "SPAA-E860" in err


def test_traces_that_cannot_be_are_counted(made):
    stack = [(at(HOT), at(HOT + 8)), (at(HOT + 0x20), at(HOT + 0x10)), (LIB, LIB + 8), (at(HOT + 4), at(HOT))]
    (made / "b.perf.data").write_bytes(recording([stack]).bytes())
    out, err = convert(made / "b.perf.data", "bolt", *named(made))
    assert [x for x in out.splitlines() if x[0] != "B"] == []
    assert "1 traces that end before they begin" in err and "2 traces that end in another binary" in err


def test_spt_has_branches_and_no_ranges(tmp_path):
    f = spt.File([APP])
    f.segment(0).repeat(2).lbr((0x1000, 0x2000), (0x2010, 0x1000))
    (tmp_path / "x.spt").write_bytes(f.bytes())
    out, err = convert(tmp_path / "x.spt", "bolt", "--no-symbols")
    assert out == "B 1000 2000 3 0\nB 2010 1000 3 0\n" and "SPAA-W864" in err
    _, err = convert(tmp_path / "x.spt", "profgen", "--no-symbols", code=3)
    assert "offsets from the first executable segment" in err


def test_weights_that_are_no_counts_and_sums_beyond_what_tools_take(tmp_path):
    records = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
                "events": [{"name": n, "kind": "hardware", "sampling": {"mode": "period", "primary_metric": m}}
                           for n, m in (("lbr", "branches"), ("lbr_trace", "traces"))], "stack_id_mode": "local"},
               {"type": "dso", "id": 1, "name": "/opt/prog", "is_kernel": False}]
    records += [{"type": "frame", "id": i, "func": "f", "dso": 1, "kind": "user", **({"ip": hex(0x100 * i)} if i < 4 else {})}
                for i in range(1, 5)]
    big = (1 << 63) - 1
    for i, (frames, event, value) in enumerate([([1, 2], "lbr", big), ([1, 2], "lbr", big), ([2, 1], "lbr", -3), ([1], "lbr", 2),
                                                ([1, 4], "lbr", 7), ([3, 2, 1], "lbr_trace", big), ([1, 2], "lbr_trace", 5)]):
        metric = "branches" if event == "lbr" else "traces"
        records.append({"type": "stack", "id": "s%d" % i, "frames": frames, "context": {"event": event, "pid": i},
                        "weights": [{"metric": metric, "value": value}]})
    (tmp_path / "x.spaa").write_text("".join(json.dumps(r) + "\n" for r in records))
    out, err = convert(tmp_path / "x.spaa", "bolt")
    assert out == "B 200 100 %d 0\nF 200 300 %d\n" % (big, big)
    assert "7 on frames without an address" in err and "3 stacks" in err and "SPAA-L862" in err


@pytest.mark.parametrize("to", ["profgen", "autofdo", "bolt", "fdata"])
def test_profiles_without_addresses_are_refused(tmp_path, to):
    (tmp_path / "x.folded").write_bytes(b"a;b 1\n")
    assert "SPAA-E860" in convert(tmp_path / "x.folded", to, code=3)[1]


def test_they_are_not_read(tmp_path):
    (tmp_path / "x.bolt").write_text("B 1 2 3 4\n")
    assert run("top", tmp_path / "x.bolt").code == 3
    assert run("top", tmp_path / "x.bolt", "--from", "bolt").code == 2


# Beside the tools, of a program whose branches valgrind told

def tool(name, folder="/usr/lib/llvm-*/bin/"):
    found = shutil.which(name) or next(iter(sorted(glob.glob(folder + name))), None)
    return found or shutil.which(name + "-14")


def needs(*names):
    lacking = [n for n in names if not tool(n)]
    return pytest.mark.skipif(bool(lacking), reason="not here: " + ", ".join(lacking))


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """A program, the recording of its branches, and what was recorded."""
    if not shutil.which("valgrind") or not shutil.which("perf") or not shutil.which("gcc"):
        pytest.skip("valgrind, perf or gcc is not here")
    folder = tmp_path_factory.mktemp("traced")
    program = folder / "prog"
    subprocess.run(["gcc", "-O2", "-g", "-gdwarf-4", "-no-pie", "-Wl,-q,--build-id=sha1,-z,separate-code", "-o", program,
                    os.path.join(ROOT, "tests", "lbr", "interpreter.c")], check=True)
    recorder = simulate.Recorder(str(program), every=31)
    recorder.run(["4"])
    (folder / "x.perf.data").write_bytes(recorder.bytes())
    return folder, program, recorder


def inside(recorder):
    return lambda a: recorder.map.start <= a < recorder.map.start + recorder.map.size


def counted(recorder):
    """Branches and ranges of all samples, as they were made."""
    here, taken, ranges = inside(recorder), collections.Counter(), collections.Counter()
    for stack in recorder.samples:
        taken.update(stack)
        ranges.update((old[1], new[0]) for new, old in zip(stack, stack[1:]))
    return {k: n for k, n in taken.items() if here(k[0]) and here(k[1])}, {
        k: n for k, n in ranges.items() if here(k[0]) and here(k[1])}


def pairs(lines, between):
    return {tuple(int(x, 16) for x in line.split(":")[0].split(between)): int(line.split(":")[1]) for line in lines}


def profgen_counts(text):
    lines = text.split()
    n = int(lines[0])
    return pairs(lines[1 + n + 1:], "->"), pairs(lines[1:1 + n], "-")


def test_counts_are_those_of_what_was_recorded(traced):
    folder, program, recorder = traced
    taken, ranges = counted(recorder)
    base = recorder.map.start
    got = profgen_counts(convert(folder / "x.perf.data", "profgen", "--binary", "prog")[0])
    assert got[0] == {(a - base, b - base): n for (a, b), n in taken.items()} and sum(got[0].values()) > 1000
    assert got[1] == {(a - base, b - base): n for (a, b), n in ranges.items()}
    bolt = [line.split() for line in convert(folder / "x.perf.data", "bolt", "--binary", "prog")[0].splitlines()]
    assert {(int(x[1], 16), int(x[2], 16)): int(x[3]) for x in bolt if x[0] == "B" and "0" not in x[1:3]} == taken
    sums = collections.Counter()
    for x in bolt:
        if x[0] != "B":
            sums[int(x[1], 16), int(x[2], 16)] += int(x[3])
    assert sums == ranges


@needs("llvm-profgen")
def test_llvm_profgen_makes_the_same_of_the_recording_itself(traced):
    folder, program, recorder = traced
    tools = tool("llvm-profgen")
    subprocess.run([tools, "--binary=%s" % program, "--perfdata=%s" % (folder / "x.perf.data"), "--skip-symbolization",
                    "--format=text", "--output=%s" % (folder / "theirs")], check=True, capture_output=True)
    ours = profgen_counts(convert(folder / "x.perf.data", "profgen", "--binary", "prog")[0])
    theirs = profgen_counts((folder / "theirs").read_text())
    # It leaves out the procedure linkage table, and ranges that were entered from outside where the call that went
    # there is not in the branch stack.
    here = inside(recorder)
    entered = sum(not here(old[0]) and here(old[1]) and here(new[0]) for stack in recorder.samples
                  for new, old in zip(stack, stack[1:]))
    assert ours[0].items() >= theirs[0].items() and sum(ours[0].values()) - sum(theirs[0].values()) < 10
    assert all(0 <= ours[1][k] - n <= entered for k, n in theirs[1].items())
    assert 0 <= sum(ours[1].values()) - sum(theirs[1].values()) <= entered + 10 < 60
    (folder / "x.profgen").write_text(convert(folder / "x.perf.data", "profgen", "--binary", "prog")[0])
    subprocess.run([tools, "--binary=%s" % program, "--unsymbolized-profile=%s" % (folder / "x.profgen"), "--format=text",
                    "--output=%s" % (folder / "x.prof")], check=True, capture_output=True)
    assert (folder / "x.prof").read_text().startswith("main:")


@needs("perf2bolt")
@pytest.mark.parametrize("how, to", [("-pa", "bolt"), ("-nl", "fdata")])
def test_perf2bolt_makes_the_same_of_the_recording_itself(traced, how, to):
    folder, program, _ = traced
    (folder / "x").write_text(convert(folder / "x.perf.data", to, "--binary", "prog")[0])

    def aggregate(path, name, *options):
        subprocess.run([tool("perf2bolt"), program, "-p", path, "-o", folder / name, *options], check=True, capture_output=True)
        return sorted((folder / name).read_text().splitlines())
    if how == "-pa":
        assert aggregate(folder / "x", "ours", "-pa") == aggregate(folder / "x.perf.data", "theirs") != []
    else:
        def plain(lines):  # a local function with its file, which BOLT knows too; what has no symbol of its own
            lines = [re.sub(r"(/[^ ]+)?/1 ", "/1 ", x) for x in lines]
            return sorted(x for x in lines if not re.match("1 __BOLT_PSEUDO|1 _init |.*@PLT", x))
        theirs = aggregate(folder / "x.perf.data", "theirs", "-nl")
        assert plain((folder / "x").read_text().splitlines()) == plain(theirs) != []


@needs("create_llvm_prof")
def test_autofdo_takes_it(traced):
    folder, program, _ = traced
    (folder / "x.autofdo").write_text(convert(folder / "x.perf.data", "autofdo", "--binary", "prog")[0])
    subprocess.run(["create_llvm_prof", "--binary=%s" % program, "--profile=%s" % (folder / "x.autofdo"), "--profiler=text",
                    "--format=text", "--out=%s" % (folder / "x.afdo")], check=True, capture_output=True)
    assert (folder / "x.afdo").read_bytes().startswith(b"main:")

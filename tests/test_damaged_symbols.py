"""
Files of symbols that are damaged, cut off or not where they should be: what is lost is told, with the file and the
part, and of what is sound nothing is said.
"""

import json
import os
import shutil
import struct
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
from test_symbolize import one_frame_profile, with_build_id  # noqa: E402
from test_symbols_sweep import addresses, build  # noqa: E402

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
ID = "0123456789abcdef0123456789abcdef01234567"
WITH_ID = f"-Wl,--build-id=0x{ID}"


def tool(*command, cwd):
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True, timeout=120).stdout


def heads(data):
    """Where the header of each section stands, by its name."""
    at, (each, n, names) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<HHH", data, 58)
    start = struct.unpack_from("<Q", data, at + each * names + 24)[0]
    found = {}
    for i in range(n):
        name = start + struct.unpack_from("<I", data, at + each * i)[0]
        found[data[name:data.index(b"\0", name)].decode()] = at + each * i
    return found


def place(data, section):
    return struct.unpack_from("<QQ", data, heads(data)[section] + 24)


def change(path, edit):
    data = bytearray(path.read_bytes())
    left = edit(data)
    path.write_bytes(data if left is None else left)


def emptied(section):
    return lambda data: struct.pack_into("<Q", data, heads(data)[section] + 32, 0)


def cut_short(section):
    return lambda data: struct.pack_into("<Q", data, heads(data)[section] + 32, place(data, section)[1] // 4)


def cut_to_one(section):
    return lambda data: struct.pack_into("<Q", data, heads(data)[section] + 32, 1)


def overwritten(section):
    def edit(data):
        at, n = place(data, section)
        data[at:at + n] = b"\xff" * n
    return edit


def half(data):
    return data[:len(data) // 2]


def told(done, code, *words):
    lines = [line for line in done.stderr.splitlines() if f"SPAA-{code}" in line]
    return any(all(w in line for w in words) for line in lines)


class Machine:
    """A recorded machine's files below symfs, and a profile of addresses in /opt/prog."""

    def __init__(self, folder, *flags, compiler="g++"):
        self.folder = folder
        self.opt = folder / "symfs" / "opt"
        self.opt.mkdir(parents=True)
        (folder / "work").mkdir()
        self.prog = build(folder / "work", *flags, compiler=compiler)
        for_linker = [f for f in flags if f.startswith("-Wl,")]
        if for_linker:
            tool(compiler, *for_linker, "prog.o", "other.o", "-o", "prog", cwd=self.prog.parent)
        self.addresses = addresses(self.prog)
        self.recorded = False

    def record(self, build_id=None):
        one_frame_profile(self.folder / "in.spaa", "/opt/prog", self.addresses)
        if build_id:
            with_build_id(self.folder / "in.spaa", build_id)
        self.recorded = True

    def put(self, at="symfs/opt/prog"):
        to = self.folder / at
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.prog, to)
        return to

    def symbolize(self, *options):
        if not self.recorded:
            self.record()
        env = {**os.environ, "HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        command = [SPAA, "symbolize", "in.spaa", "--symfs", "symfs", "-o", "out.spaa", *options]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=env, timeout=300)
        assert done.returncode == 0, done.stderr
        done.out = (self.folder / "out.spaa").read_text()
        return done


NEEDED = [("g++", "5", "abbrev"), ("g++", "5", "str"), ("g++", "5", "line"), ("g++", "5", "line_str"), ("g++", "5", "rnglists"),
          ("g++", "4", "abbrev"), ("g++", "4", "ranges"), ("clang++", "5", "addr"), ("clang++", "5", "str_offsets")]


@pytest.mark.parametrize("edit", [emptied, cut_short], ids=["emptied", "cut short"])
@pytest.mark.parametrize("compiler, version, section", NEEDED)
def test_a_section_that_units_refer_to_is_not_there(compiler, version, section, edit, tmp_path):
    m = Machine(tmp_path, f"-gdwarf-{version}", "-ffunction-sections", compiler=compiler)
    change(m.prog, edit(f".debug_{section}"))
    m.put()
    assert told(m.symbolize(), "W802", "opt/prog", f".debug_{section}")


@pytest.mark.parametrize("section", ["abbrev", "str", "line", "line_str"])
def test_a_section_that_units_refer_to_was_removed(section, tmp_path):
    m = Machine(tmp_path, "-gdwarf-5")
    tool("objcopy", f"--remove-section=.debug_{section}", "prog", cwd=m.prog.parent)
    m.put()
    assert told(m.symbolize(), "W802", "opt/prog", f".debug_{section}")


def test_a_compressed_section_holds_more_than_it_says(tmp_path):
    m = Machine(tmp_path, "-gdwarf-5", "-gz=zlib")

    def edit(data):
        struct.pack_into("<Q", data, place(data, ".debug_info")[0] + 8, 1)
    change(m.prog, edit)
    m.put()
    assert told(m.symbolize(), "W802", "opt/prog", ".debug_info")


def no_segments(data):
    struct.pack_into("<H", data, 56, 0)


def wrong_names(n):
    return lambda data: struct.pack_into("<H", data, 62, n)


WHOLE = {"no segments": (no_segments, "segments"), "names overwritten": (overwritten(".shstrtab"), "names of its sections"),
         "no names": (wrong_names(0), "names of its sections"), "names of code": (wrong_names(12), "names of its sections"),
         "names beyond": (wrong_names(60000), "names of its sections"), "cut in the middle": (half, "cut off"),
         "cut at its end": (lambda data: data[:-1], "cut off")}


@pytest.mark.parametrize("stripped", [False, True], ids=["with symbols", "stripped"])
@pytest.mark.parametrize("case", WHOLE)
def test_a_file_is_damaged_as_a_whole(case, stripped, tmp_path):
    m = Machine(tmp_path, "-gdwarf-5")
    if stripped:
        tool("strip", "prog", cwd=m.prog.parent)
    edit, word = WHOLE[case]
    change(m.prog, edit)
    m.put()
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", word), done.stderr
    assert "stripped" not in done.stderr


@pytest.mark.parametrize("build_id", [None, ID], ids=["by name", "by build-id"])
def test_a_copy_in_the_store_is_cut(build_id, tmp_path):
    m = Machine(tmp_path, WITH_ID)
    m.record(ID)
    copy = m.put(f"cache/spaa/symbols/.build-id/{ID[:2]}/{ID[2:]}")
    if not build_id:
        tool("objcopy", "--remove-section=.note.gnu.build-id", copy, cwd=tmp_path)
    change(copy, half)
    done = m.symbolize()
    assert told(done, "W802", ID[2:], "cut off") and "stripped" not in done.stderr
    m.put()
    done = m.symbolize()
    assert "W802" not in done.stderr and "main" in done.out


def test_a_whole_file_is_taken_rather_than_one_that_is_cut(tmp_path):
    m = Machine(tmp_path, WITH_ID)
    m.record(ID)
    change(m.put(), half)
    m.put(f"cache/spaa/symbols/.build-id/{ID[:2]}/{ID[2:]}")
    done = m.symbolize()
    assert "W802" not in done.stderr and '"main"' in done.out


def separate(m, *options):
    tool("objcopy", "--only-keep-debug", "prog", "prog.debug", cwd=m.prog.parent)
    tool("objcopy", "--strip-all", "--add-gnu-debuglink=prog.debug", *options, "prog", cwd=m.prog.parent)
    return m.prog.parent / "prog.debug"


@pytest.mark.parametrize("edit, word", [(half, "cut off"), (lambda data: b"nothing", "no ELF file"), (wrong_names(0), "names of its sections")],
                         ids=["cut", "no ELF", "no names"])
@pytest.mark.parametrize("flag", [WITH_ID, "-Wl,--build-id=none"], ids=["build-id", "checksum"])
def test_a_debug_file_is_damaged(flag, edit, word, tmp_path):
    m = Machine(tmp_path, flag)
    debug = separate(m)
    m.put()
    whole = debug.read_bytes()
    (m.opt / "prog.debug").write_bytes(whole)
    change(m.opt / "prog.debug", edit)
    done = m.symbolize()
    assert told(done, "W802", "opt/prog.debug", word), done.stderr
    other = tmp_path / "debug" / "opt"
    other.mkdir(parents=True)
    (other / "prog.debug").write_bytes(whole)
    done = m.symbolize("--debug-dir", "debug")
    assert "W802" not in done.stderr and '"main"' in done.out, "the whole one of two is taken"


def test_a_debug_file_with_another_checksum(tmp_path):
    m = Machine(tmp_path, "-Wl,--build-id=none")
    debug = separate(m)
    m.put()
    shutil.copy(debug, m.opt)
    change(m.opt / "prog.debug", lambda data: data.__setitem__(slice(len(data) // 2, len(data) // 2 + 8), b"damaged!"))
    assert told(m.symbolize(), "W802", "opt/prog.debug", ".gnu_debuglink")


def test_a_debug_file_is_of_another_build(tmp_path):
    m = Machine(tmp_path, WITH_ID)
    shutil.copy(separate(m), m.opt)
    m.put()
    change(m.opt / "prog.debug", lambda data: data.replace(bytes.fromhex(ID), bytes(20)))
    done = m.symbolize()
    assert told(done, "W801", "opt/prog.debug", "another build") and "W802" not in done.stderr


SECTIONS = {"none": (lambda data: struct.pack_into("<H", data, 60, 0), "names of its sections"),
            "one": (lambda data: struct.pack_into("<H", data, 60, 1), "names of its sections"),
            "one without a name": (lambda data: struct.pack_into("<I", data, heads(data)[".debug_info"], 0), "names of its sections"),
            "no units": (emptied(".debug_info"), ".debug_info"), "units cut": (cut_to_one(".debug_info"), ".debug_info"),
            "no names of symbols": (emptied(".strtab"), "all its symbols"),
            "not linked": (lambda data: struct.pack_into("<H", data, 16, 1), "no program")}


@pytest.mark.parametrize("case", SECTIONS)
def test_sections_are_damaged(case, tmp_path):
    m = Machine(tmp_path, "-gdwarf-5")
    edit, word = SECTIONS[case]
    change(m.prog, edit)
    m.put()
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", word), done.stderr


def lost(section, first):
    """As a page that was lost leaves it: all of a section, or its second half."""
    def edit(data):
        at, n = place(data, section)
        start = at + (0 if first else n // 2 // 24 * 24)
        if section == ".strtab":
            start = data.index(b"\0", start)  # of a name that is cut within, nothing tells
        data[start:at + n] = bytes(at + n - start)
    return edit


def names_at(out):
    """The name at each address, without what is unresolved."""
    records = [json.loads(line) for line in out.splitlines()]
    return {r["ip"]: r["func"] for r in records if r["type"] == "frame" and r.get("func_resolved", True) and not r.get("inline_depth")}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("section", [".strtab", ".symtab"])
def test_symbols_that_are_lost_leave_no_wrong_names(section, first, tmp_path):
    """One without a size, such as frame_dummy, had all that followed."""
    m = Machine(tmp_path, "-g0")
    m.put()
    whole = names_at(m.symbolize().out)
    change(m.opt / "prog", lost(section, first))
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", "all its symbols"), done.stderr
    left = names_at(done.out)
    assert {ip: (name, whole.get(ip)) for ip, name in left.items() if name != whole.get(ip) and not name.startswith("prog+")} == {}


def split(m):
    """Beside the binary alone."""
    m.put()
    for name in ("prog.dwo", "other.dwo"):
        (m.prog.parent / name).rename(m.opt / name)
    return m.opt / "prog.dwo"


DAMAGES = {"empty": lambda data: b"", "no ELF": lambda data: b"nothing", "cut": half, "no units": emptied(".debug_info.dwo"),
           "no abbreviations": emptied(".debug_abbrev.dwo"), "unit cut": cut_short(".debug_info.dwo"), "overwritten": overwritten(".debug_info.dwo")}


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_dwo_is_damaged(damage, version, tmp_path):
    m = Machine(tmp_path, f"-gdwarf-{version}", "-gsplit-dwarf")
    change(split(m), DAMAGES[damage])
    done = m.symbolize()
    assert told(done, "W802", "opt/prog.dwo"), done.stderr
    assert "not found" not in done.stderr


@pytest.mark.parametrize("section", ["str", "str_offsets"])
def test_a_section_of_a_dwo_is_not_there(section, tmp_path):
    m = Machine(tmp_path, "-gdwarf-5", "-gsplit-dwarf")
    change(split(m), emptied(f".debug_{section}.dwo"))
    assert told(m.symbolize(), "W802", "opt/prog.dwo", f".debug_{section}.dwo")


def test_a_dwo_is_of_another_build(tmp_path):
    m = Machine(tmp_path, "-gsplit-dwarf")
    shutil.copy(split(m).parent / "other.dwo", m.opt / "prog.dwo")
    done = m.symbolize()
    assert told(done, "W801", "opt/prog.dwo", "another build") and "W802" not in done.stderr


def test_a_dwo_that_is_not_there_is_said_so(tmp_path):
    m = Machine(tmp_path, "-gsplit-dwarf")
    split(m).unlink()
    done = m.symbolize()
    assert told(done, "W801", "prog.dwo", "not found") and "W802" not in done.stderr


def sub_dwo(tmp_path):
    """A binary whose units are named from the directory of the compilation: obj/prog.dwo."""
    m = Machine(tmp_path)
    work = m.prog.parent
    (work / "obj").mkdir()
    for name in ("prog", "other"):
        tool("g++", "-g", "-O2", "-gsplit-dwarf", WITH_ID, "-c", name + ".cpp", "-o", f"obj/{name}.o", cwd=work)
    tool("g++", WITH_ID, "obj/prog.o", "obj/other.o", "-o", "prog", cwd=work)
    m.addresses = addresses(m.prog)
    return m


@pytest.mark.parametrize("to", ["obj", "."], ids=["below the binary", "beside the binary"])
def test_a_dwo_moved_with_the_binary(to, tmp_path):
    m = sub_dwo(tmp_path)
    m.put()
    (m.opt / to).mkdir(exist_ok=True)
    for name in ("prog.dwo", "other.dwo"):
        (m.prog.parent / "obj" / name).rename(m.opt / to / name)
    done = m.symbolize()
    assert "W80" not in done.stderr and '"inlined"' in done.out


def test_a_dwo_beside_the_recorded_binary_which_the_store_has(tmp_path):
    m = sub_dwo(tmp_path)
    m.record(ID)
    m.put(f"cache/spaa/symbols/.build-id/{ID[:2]}/{ID[2:]}")
    (m.opt / "obj").mkdir()
    for name in ("prog.dwo", "other.dwo"):
        (m.prog.parent / "obj" / name).rename(m.opt / "obj" / name)
    done = m.symbolize()
    assert "W80" not in done.stderr and '"inlined"' in done.out


def packed(m):
    tool("dwp", "-e", "prog", "-o", "prog.dwp", cwd=m.prog.parent)
    for name in ("prog.dwo", "other.dwo"):
        (m.prog.parent / name).unlink()
    shutil.copy(m.prog.parent / "prog.dwp", m.opt)
    return m.opt / "prog.dwp"


@pytest.mark.parametrize("stripped", [False, True], ids=["of the binary", "of its debug file"])
def test_a_package_is_found_beside_the_binary(stripped, tmp_path):
    m = Machine(tmp_path, "-gdwarf-4", "-gsplit-dwarf", WITH_ID)
    packed(m)
    if stripped:
        debug = tmp_path / "debug" / ".build-id" / ID[:2] / (ID[2:] + ".debug")
        tool("g++", WITH_ID, "prog.o", "other.o", "-o", "prog", cwd=m.prog.parent)
        debug.parent.mkdir(parents=True)
        shutil.copy(separate(m), debug)
    m.put()
    done = m.symbolize("--debug-dir", "debug")
    assert "W80" not in done.stderr and '"inlined"' in done.out


@pytest.mark.parametrize("damage", [half, lambda data: b"nothing", emptied(".debug_info.dwo"), emptied(".debug_abbrev.dwo"),
                                    emptied(".debug_cu_index"), overwritten(".debug_cu_index"), cut_short(".debug_cu_index"),
                                    cut_short(".debug_info.dwo"), overwritten(".debug_info.dwo")],
                         ids=["cut", "no ELF", "no units", "no abbreviations", "no index", "index overwritten", "index cut",
                              "units cut", "units overwritten"])
def test_a_package_is_damaged(damage, tmp_path):
    m = Machine(tmp_path, "-gdwarf-4", "-gsplit-dwarf")
    m.put()
    change(packed(m), damage)
    done = m.symbolize()
    assert told(done, "W802", "opt/prog.dwp"), done.stderr


def common(m):
    shutil.copy(m.prog, m.prog.parent / "prog2")
    tool("dwz", "-m", "common.debug", "-M", "/opt/common.debug", "prog", "prog2", cwd=m.prog.parent)
    m.put()
    shutil.copy(m.prog.parent / "common.debug", m.opt)
    return m.opt / "common.debug"


@pytest.mark.parametrize("damage", [half, lambda data: b"nothing", emptied(".debug_str"), emptied(".debug_info"), emptied(".debug_abbrev")],
                         ids=["cut", "no ELF", "no strings", "no units", "no abbreviations"])
def test_dwz_s_common_file_is_damaged(damage, tmp_path):
    m = Machine(tmp_path, "-gdwarf-4")
    path = common(m)
    assert "W80" not in m.symbolize().stderr
    change(path, damage)
    done = m.symbolize()
    assert told(done, "W802", "opt/common.debug"), done.stderr
    assert "not found" not in done.stderr


SOUND = {"as it is": (), "no debug information": ("strip", "-g"), "no symbols": ("strip",), "debug information alone": ("objcopy", "--only-keep-debug"),
         "compressed": ("objcopy", "--compress-debug-sections=zlib"), "old compression": ("objcopy", "--compress-debug-sections=zlib-gnu"),
         "lines alone": ("objcopy", "--remove-section=.debug_aranges")}


@pytest.mark.parametrize("done_to_it", SOUND)
@pytest.mark.parametrize("compiler, flags", [("g++", "-gdwarf-5"), ("g++", "-gdwarf-4"), ("g++", "-gdwarf-2"), ("g++", "-g1"), ("g++", "-gz"),
                                             ("g++", "-fdebug-types-section"), ("clang++", "-gdwarf-5"), ("clang++", "-gdwarf-4"),
                                             ("clang++", "-gmlt"), ("g++", "-g0")])
def test_of_what_is_sound_nothing_is_said(compiler, flags, done_to_it, tmp_path):
    m = Machine(tmp_path, flags, compiler=compiler)
    if SOUND[done_to_it]:
        tool(*SOUND[done_to_it], "prog", cwd=m.prog.parent)
    m.put()
    assert "W802" not in m.symbolize().stderr


ASSEMBLED = r"""
.globl _start
.text
_start: .fill 16, 1, 0x90
after:  .fill 16, 1, 0x90
_etext_of_it:
.section .text.two, "ax"
.fill 16, 1, 0x90
.globl named
.type named, @function
named: .fill 16, 1, 0x90
.section .text.three, "ax"
.fill 16, 1, 0x90
"""


def test_a_symbol_without_a_size_ends_with_its_section(tmp_path):
    (tmp_path / "a.s").write_text(ASSEMBLED)
    (tmp_path / "a.ld").write_text("SECTIONS { . = 0x401000; .text : { *(.text) } .text.two : { *(.text.two) } "
                                   ".text.three : { *(.text.three) } }")
    tool("gcc", "-c", "a.s", cwd=tmp_path)
    tool("ld", "-T", "a.ld", "a.o", "-o", "prog", cwd=tmp_path)
    one_frame_profile(tmp_path / "in.spaa", tmp_path / "prog", [0x401000 + 8 * n for n in range(12)])
    done = subprocess.run([SPAA, "symbolize", "in.spaa", "-o", "out.spaa"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frames = [json.loads(line) for line in (tmp_path / "out.spaa").read_text().splitlines() if '"type":"frame"' in line]
    names = [f["func"] if f.get("func_resolved", True) else "" for f in sorted(frames, key=lambda f: int(f["ip"], 16))]
    assert names == ["_start"] * 2 + ["after"] * 2 + [""] * 2 + ["named"] * 2 + [""] * 4


def zeroed(section, start=0.0, end=1.0, by=0):
    """A part of a section, as where a page was lost."""
    def edit(data):
        at, n = place(data, section)
        first, last = at + int(n * start), at + int(n * end)
        data[first:last] = bytes([by]) * (last - first)
    return edit


def names_and_files(done):
    frames = [json.loads(line) for line in done.out.splitlines() if '"type":"frame"' in line]
    return [f["func"] for f in frames if f.get("func_resolved", True)], [f["file"] for f in frames if "file" in f]


@pytest.mark.parametrize("start, end", [(0, 1), (0, 0.5), (0.2, 0.9)], ids=["wholly", "its first half", "a hole"])
@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("package", [False, True], ids=["dwo", "dwp"])
def test_string_offsets_of_split_units_are_zeroed(package, version, start, end, tmp_path):
    m = Machine(tmp_path, f"-gdwarf-{version}", "-gsplit-dwarf")
    if package and version == 5:
        pytest.skip("binutils packs version 4 alone")
    path = packed(m) if package else split(m)
    m.put()
    sound = m.symbolize()
    assert "W80" not in sound.stderr
    change(path, zeroed(".debug_str_offsets.dwo", start, end))
    done = m.symbolize()
    assert told(done, "W802", f"opt/{path.name}", ".debug_str_offsets.dwo"), done.stderr
    assert set(names_and_files(done)[0]) <= {*names_and_files(sound)[0], "[unknown]"}


@pytest.mark.parametrize("start, end", [(0, 1), (0, 0.6), (0.1, 1)], ids=["wholly", "its first part", "its last part"])
def test_string_offsets_are_zeroed(start, end, tmp_path):
    m = Machine(tmp_path, "-gdwarf-5", compiler="clang++")
    path = m.put()
    sound = m.symbolize()
    change(path, zeroed(".debug_str_offsets", start, end))
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", ".debug_str_offsets"), done.stderr
    assert "clang version" not in done.out and set(names_and_files(done)[1]) <= set(names_and_files(sound)[1])


@pytest.mark.parametrize("start, end", [(0, 1), (0, 0.5), (0.5, 1)], ids=["wholly", "its first half", "its second half"])
@pytest.mark.parametrize("flags", [("-gdwarf-5",), ("-gdwarf-4",), ("-gdwarf-5", "-gsplit-dwarf")], ids=" ".join)
def test_strings_are_zeroed(flags, start, end, tmp_path):
    m = Machine(tmp_path, *flags)
    path = split(m) if len(flags) > 1 else m.put()
    section = ".debug_str.dwo" if len(flags) > 1 else ".debug_str"
    change(path, zeroed(section, start, end))
    done = m.symbolize()
    assert told(done, "W802", f"opt/{path.name}", section), done.stderr
    assert not {"", "()", "::"} & set(names_and_files(done)[0])


def test_names_of_files_are_zeroed(tmp_path):
    m = Machine(tmp_path, "-gdwarf-5")
    change(m.put(), zeroed(".debug_line_str"))
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", ".debug_line_str"), done.stderr
    assert not names_and_files(done)[1]


@pytest.mark.parametrize("damage", [zeroed(".gnu_debugaltlink"), emptied(".gnu_debugaltlink"), None], ids=["zeroed", "empty", "removed"])
def test_which_file_is_dwz_s_common_one_is_not_there(damage, tmp_path):
    m = Machine(tmp_path, "-gdwarf-4")
    common(m)
    if damage:
        change(m.opt / "prog", damage)
    else:
        tool("objcopy", "--remove-section=.gnu_debugaltlink", m.opt / "prog", cwd=tmp_path)
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", ".gnu_debugaltlink"), done.stderr


@pytest.mark.parametrize("section", ["abbrev", "info", "str"])
def test_dwz_s_common_file_is_zeroed(section, tmp_path):
    m = Machine(tmp_path, "-gdwarf-4")
    change(common(m), zeroed(f".debug_{section}"))
    done = m.symbolize()
    assert told(done, "W802", "opt/common.debug"), done.stderr


@pytest.mark.parametrize("compiler, version, section", [("g++", 5, "rnglists"), ("clang++", 5, "rnglists"), ("g++", 4, "ranges"),
                                                        ("clang++", 4, "ranges")])
def test_lists_of_ranges_are_zeroed(compiler, version, section, tmp_path):
    m = Machine(tmp_path, f"-gdwarf-{version}", "-ffunction-sections", compiler=compiler)
    change(m.put(), zeroed(f".debug_{section}"))
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", f".debug_{section}"), done.stderr


@pytest.mark.parametrize("by", [0, 0xff], ids=["zeros", "ones"])
@pytest.mark.parametrize("compiler, flags", [("clang++", ("-gdwarf-5",)), ("g++", ("-gdwarf-5", "-gsplit-dwarf")),
                                             ("g++", ("-gdwarf-4", "-gsplit-dwarf"))])
def test_addresses_are_zeroed(compiler, flags, by, tmp_path):
    m = Machine(tmp_path, *flags, compiler=compiler)
    if len(flags) > 1:
        split(m)
    change(m.put(), zeroed(".debug_addr", by=by))
    done = m.symbolize()
    assert told(done, "W802", "opt/prog", ".debug_addr"), done.stderr


DROPPED = {"dropped": "int unused_one(int a) { return a * 3; }\nint unused_two(int a) { return a * 5 + unused_one(a); }\n",
           "kept": "int kept(int a) { return a * 7; }\nint main(int n, char **) { return kept(n); }\nint unused(int a) { return a ^ 9; }\n"}


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
@pytest.mark.parametrize("compiler, flags", [(c, f) for c in ("g++", "clang++") for f in (("-gdwarf-5",), ("-gdwarf-4",),
                                                                                     ("-gdwarf-5", "-gsplit-dwarf"),
                                                                                     ("-gdwarf-4", "-gsplit-dwarf"))])
def test_functions_that_the_linker_threw_away_are_no_damage(compiler, flags, linker, tmp_path):
    opt = tmp_path / "symfs" / "opt"
    opt.mkdir(parents=True)
    for name, text in DROPPED.items():
        (opt / f"{name}.cpp").write_text(text)
        tool(compiler, *flags, "-O1", "-ffunction-sections", "-c", f"{name}.cpp", cwd=opt)
    if not shutil.which("ld." + linker):
        pytest.skip(f"no ld.{linker}")
    tool(compiler, "-Wl,--gc-sections", f"-fuse-ld={linker}", "dropped.o", "kept.o", "-o", "prog", cwd=opt)
    one_frame_profile(tmp_path / "in.spaa", "/opt/prog", addresses(opt / "prog"))
    done = subprocess.run([SPAA, "symbolize", "in.spaa", "--symfs", "symfs", "-o", "out.spaa"], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and "W802" not in done.stderr, done.stderr

"""
Files of symbols made to take memory or time out of proportion: what they cost is bounded by their size, and those
that ask for more are left out, which is said. Memory is held by the kernel here; that reading stops is shown by what
is said of it, not by a clock.
"""

import json
import lzma
import os
import resource
import shutil
import struct
import subprocess
import sys
import zlib

import pytest

from conftest import ROOT
from hostile_elf import (ADDR, COMP_DIR, CU, DATA4, EXTERNAL, FLAG_PRESENT, HIGH, INLINED, LO, LOW, NAME, ORIGIN, RANGES, REF4, SEC_OFFSET,
                         STMT_LIST, STRING, STRP, SUBPROGRAM, abbrev, compressed, elf, line_program, range_list, unit)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "formats"))
from test_symbolize import one_frame_profile  # noqa: E402

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
LINES = os.path.join(os.path.dirname(SPAA), "tests", "address_lines")
MEMORY = 400 << 20
SHORT = abbrev(1, CU, 0, (RANGES, SEC_OFFSET))


def shared_by_units(n=20000):
    """Units of a dozen bytes, each with the same long list: 4.2 GB were wanted for it."""
    return elf({"debug_info": unit(b"\1" + b"\0\0\0\0") * n, "debug_abbrev": SHORT + b"\0", "debug_rnglists": range_list(160000)})


def shared_by_old_units(n=20000):
    ranges = struct.pack("<QQ", LO, LO + 1) * 25000 + b"\0" * 16
    table = abbrev(1, CU, 0, (RANGES, SEC_OFFSET)) + b"\0"
    return elf({"debug_info": unit(b"\1" + b"\0\0\0\0", version=4) * n, "debug_abbrev": table, "debug_ranges": ranges})


def shared_by_entries(n=60000):
    """One unit whose functions all have the same list."""
    table = abbrev(1, CU, 1, (LOW, ADDR), (HIGH, DATA4)) + abbrev(2, SUBPROGRAM, 0, (RANGES, SEC_OFFSET)) + b"\0"
    dies = b"\1" + struct.pack("<QI", LO, 1 << 20) + (b"\2" + b"\0\0\0\0") * n + b"\0"
    return elf({"debug_info": unit(dies), "debug_abbrev": table, "debug_rnglists": range_list(100000)})


def tables_in_tables(n=20000):
    """Tables of abbreviations that begin within one another, as many as units."""
    table = b"".join(abbrev(k + 2, CU, 0, (NAME, STRING)) for k in range(n))
    starts, at = [], 0
    for k in range(n):
        starts.append(at)
        at += len(abbrev(k + 2, CU, 0, (NAME, STRING)))
    units = b"".join(unit(b"\1x\0", s) for s in starts)
    return elf({"debug_info": units, "debug_abbrev": table + abbrev(1, CU, 0, (NAME, STRING)) + b"\0"})


def programs_in_programs(n=600):
    """Units that begin their line programs within one another: each differs from the others."""
    table = abbrev(1, CU, 0, (LOW, ADDR), (HIGH, DATA4), (STMT_LIST, SEC_OFFSET), (COMP_DIR, STRP)) + b"\0"
    lines = line_program(400000)
    units = b"".join(unit(b"\1" + struct.pack("<QIII", LO + 16 * k, 16, 0, k)) for k in range(n))
    return elf({"debug_info": units, "debug_abbrev": table, "debug_line": lines, "debug_str": b"d" * n + b"\0"})


def bomb():
    """A section of a gigabyte, packed into one megabyte."""
    info = unit(b"\1" + struct.pack("<QI", LO, 1 << 20))
    table = abbrev(1, CU, 0, (LOW, ADDR), (HIGH, DATA4)) + b"\0"
    return elf({"debug_info": info, "debug_abbrev": table, "debug_str": compressed(bytes(1 << 30), 1)}, packed={"debug_str"})


CASES = {f.__name__: f for f in (shared_by_units, shared_by_old_units, shared_by_entries, tables_in_tables, programs_in_programs, bomb)}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def ask(path, addresses, *options):
    text = "".join(f"{a:x}\n" for a in addresses)
    return subprocess.run([LINES, *options, path], input=text, capture_output=True, text=True, preexec_fn=limited, timeout=600)


@pytest.mark.parametrize("case", CASES)
def test_what_asks_for_too_much_is_left_out(case, tmp_path):
    (tmp_path / "a").write_bytes(CASES[case]())
    addresses = [LO + 16 * k for k in range(600)]
    for options in ((), ("-j", "4")):
        done = ask(tmp_path / "a", addresses, *options)
        assert done.returncode == 0, done.stderr
        assert "more than its size allows" in done.stderr, (case, os.path.getsize(tmp_path / "a"), done.stdout[:300])


def test_units_may_share_a_line_table(tmp_path):
    """As those of link-time optimisation and dwz do: it is read once."""
    n = 600
    table = abbrev(1, CU, 0, (LOW, ADDR), (HIGH, DATA4), (STMT_LIST, SEC_OFFSET)) + b"\0"
    units = b"".join(unit(b"\1" + struct.pack("<QII", LO + 16 * k, 16, 0)) for k in range(n))
    (tmp_path / "a").write_bytes(elf({"debug_info": units, "debug_abbrev": table, "debug_line": line_program(400000)}))
    done = ask(tmp_path / "a", [LO + 16 * k + 8 for k in range(n)])
    assert done.returncode == 0 and not done.stderr
    assert len(set(done.stdout.splitlines())) == 2 * n + 1, "each has its line"
    assert "a.c:" in done.stdout and "??:0" not in done.stdout


def test_attributes_without_bytes(tmp_path):
    """Entries of a byte, each with as many attributes as the table has room for."""
    table = abbrev(1, CU, 1, (LOW, ADDR), (HIGH, DATA4)) + abbrev(2, SUBPROGRAM, 0, (RANGES, FLAG_PRESENT), *[(EXTERNAL, FLAG_PRESENT)] * 100000) + b"\0"
    dies = b"\1" + struct.pack("<QI", LO, 1 << 20) + b"\2" * 300000 + b"\0"
    (tmp_path / "a").write_bytes(elf({"debug_info": unit(dies), "debug_abbrev": table}))
    assert ask(tmp_path / "a", [LO]).stdout == f"0x{LO:016x}\n??\n??:0\n"


def test_names_are_ends_of_one_long_name(tmp_path):
    """Attributes that are strings of half a megabyte are not looked through to their ends each time."""
    table = abbrev(1, CU, 1, (LOW, ADDR), (HIGH, DATA4)) + abbrev(2, SUBPROGRAM, 0, (LOW, ADDR), *[(NAME, STRP)] * 40) + b"\0"
    die = b"\2" + struct.pack("<Q", 0) + b"\0\0\0\0" * 40
    dies = b"\1" + struct.pack("<QI", LO, 1 << 20) + die * 3000 + b"\0"
    (tmp_path / "a").write_bytes(elf({"debug_info": unit(dies), "debug_abbrev": table, "debug_str": b"a" * 500000 + b"\0"}))
    assert ask(tmp_path / "a", [LO]).stdout == f"0x{LO:016x}\n??\n??:0\n"


def test_one_unit_reaches_over_all(tmp_path):
    """Above many that end before the address: the same unit is found as by trying them all."""
    table = abbrev(1, CU, 1, (LOW, ADDR), (HIGH, DATA4)) + abbrev(2, SUBPROGRAM, 0, (NAME, STRING), (LOW, ADDR), (HIGH, DATA4)) + b"\0"

    def over(name, low, size):
        place = struct.pack("<QI", low, size)
        return unit(b"\1" + place + b"\2" + name + b"\0" + place + b"\0")

    n = 20000
    units = over(b"all", LO, 1 << 24) + b"".join(over(b"small%d" % k, LO + 16 * k, 8) for k in range(1, n))
    (tmp_path / "a").write_bytes(elf({"debug_info": units, "debug_abbrev": table}))
    addresses = [LO + 16 * k + 8 * (k % 2) for k in range(1, n)]
    names = ask(tmp_path / "a", addresses).stdout.splitlines()[1::3]
    assert names == ["all" if k % 2 else f"small{k}" for k in range(1, n)]


def symbolize(tmp_path, binary, addresses, memory=MEMORY):
    root = tmp_path / "symfs" / "opt"
    root.mkdir(parents=True)
    (root / "prog").write_bytes(binary)
    one_frame_profile(tmp_path / "in.spaa", "/opt/prog", addresses)
    command = [SPAA, "symbolize", tmp_path / "in.spaa", "--symfs", tmp_path / "symfs", "-o", tmp_path / "out.spaa"]
    hold = lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))  # noqa: E731
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=hold, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stderr, (tmp_path / "out.spaa").read_text()


def symbol(name, value, size=16):
    return struct.pack("<IBBHQQ", name, 0x12, 0, 1, value, size)


def test_debug_information_left_out_is_told(tmp_path):
    said, out = symbolize(tmp_path, shared_by_entries(), [LO, LO + 5])
    assert "SPAA-W805" in said and "opt/prog" in said


def small(**sections):
    info = unit(b"\1" + struct.pack("<QI", LO, 1 << 20))
    table = abbrev(1, CU, 0, (LOW, ADDR), (HIGH, DATA4)) + b"\0"
    return elf({"debug_info": info, "debug_abbrev": table, "debug_line": line_program(100)} | sections, packed=sections)


@pytest.mark.parametrize("section", ["debug_info", "debug_line"])
@pytest.mark.parametrize("code, claim, data", [("W805", 1 << 62, zlib.compress(bytes(100))), ("W805", 60 << 20, zlib.compress(bytes(60 << 20))),
                                               ("W802", 1 << 20, zlib.compress(bytes(100))), ("W802", 200, zlib.compress(bytes(100))),
                                               ("W802", 0, zlib.compress(bytes(100)))],
                         ids=["claims more than there is", "holds too much", "cannot hold it", "holds less", "claims nothing"])
def test_compressed_sections_left_out_are_told(section, code, claim, data, tmp_path):
    said, out = symbolize(tmp_path, small(**{section: struct.pack("<IIQQ", 1, 0, claim, 1) + data}), [LO, LO + 5])
    assert f"SPAA-{code}" in said and "opt/prog" in said
    assert "no debug information" not in said


def test_a_section_that_is_not_in_the_file_is_told(tmp_path):
    """As a file is whose copy was cut and mended: its table of sections is there, and what one holds is not."""
    binary = small(debug_line=compressed(line_program(100)))
    at = binary.index(struct.pack("<QQ", len(compressed(line_program(100))), 0))
    said, out = symbolize(tmp_path, binary[:at] + struct.pack("<Q", len(binary)) + binary[at + 8:], [LO])
    assert "SPAA-W802" in said and "opt/prog" in said


def mini(inner):
    return elf({"gnu_debugdata": lzma.compress(inner, preset=0)})


def test_gnu_debugdata_holds_no_more_than_its_file_may(tmp_path):
    """Of 16 MiB and 64 times the file: a few kilobytes were unpacked to 256 MiB, and to symbols of twice that."""
    inner = elf({}, symbols=symbol(1, LO), strings=b"\0good\0")
    said, out = symbolize(tmp_path, mini(inner), [LO])
    assert '"good"' in out and "SPAA-W805" not in said
    for packed in (inner + bytes(32 << 20), elf({}, symbols=symbol(1, LO) * 1400000, strings=b"\0good\0")):
        shutil.rmtree(tmp_path / "symfs")
        said, out = symbolize(tmp_path, mini(packed), [LO], memory=200 << 20)
        assert "SPAA-W805" in said and ".gnu_debugdata" in said and '"good"' not in out


@pytest.mark.parametrize("apart", [0, 16], ids=["at one address", "apart"])
def test_symbols_whose_names_are_ends_of_one_name(apart, tmp_path):
    n, long = 16000, 400000
    strings = b"\0" + b"a" * long + b"\0" + b"good\0"
    symbols = symbol(long + 2, LO + 8) + b"".join(symbol(1 + k, LO + 64 + apart * k) for k in range(n))
    said, out = symbolize(tmp_path, elf({}, symbols=symbols, strings=strings), [LO + 8] + [LO + 64 + apart * k for k in range(n)])
    assert "SPAA-W806" in said
    assert '"good"' in out


def test_a_path_that_is_too_long_is_none(tmp_path):
    """It is not taken for want of memory, as it was."""
    table = abbrev(1, CU, 1, (LOW, ADDR), (HIGH, DATA4), (STMT_LIST, SEC_OFFSET)) + abbrev(2, SUBPROGRAM, 0, (NAME, STRING), (LOW, ADDR), (HIGH, DATA4)) + b"\0"
    place = struct.pack("<QI", LO, 4096)
    info = unit(b"\1" + place + b"\0\0\0\0" + b"\2work\0" + place + b"\0")
    lines = line_program(100, name=b"d/" * 40000 + b"a.c")
    said, out = symbolize(tmp_path, elf({"debug_info": info, "debug_abbrev": table, "debug_line": lines}), [LO + 8])
    assert '"work"' in out and "a.c" not in out
    assert said.count("SPAA-W802") == 1 and "opt/prog" in said and "name of a source file" in said


@pytest.mark.parametrize("data", [b"", bytes(11), bytes(23)], ids=["nothing", "cut in its size", "cut in its alignment"])
@pytest.mark.parametrize("section", ["debug_info", "debug_line"])
def test_compressed_sections_cut_in_their_head_are_told(section, data, tmp_path):
    said, out = symbolize(tmp_path, small(**{section: data}), [LO])
    assert ("SPAA-W802" in said) == bool(data or section == "debug_info"), "abbreviations alone are of no use"


@pytest.mark.parametrize("data", [b"ZLIB", b"ZLIB" + bytes(8), b"no zlib at all"], ids=["cut off", "of nothing", "something else"])
def test_zdebug_sections_that_are_none_are_told(data, tmp_path):
    said, out = symbolize(tmp_path, elf({"zdebug_info": data, "debug_line": line_program(100)}), [LO])
    assert "SPAA-W802" in said and "opt/prog" in said


def test_what_is_inlined_everywhere_is_not_taken_everywhere(tmp_path):
    """A few hundred bytes that say it of every address made 50,000 addresses 520 MB of SPAA."""
    depth, n = 63, 10000
    place = struct.pack("<QI", LO, 1 << 20)
    table = (abbrev(1, CU, 1, (LOW, ADDR), (HIGH, DATA4)) + abbrev(2, SUBPROGRAM, 0, (NAME, STRING)) +
             abbrev(3, SUBPROGRAM, 1, (NAME, STRING), (LOW, ADDR), (HIGH, DATA4)) +
             abbrev(4, INLINED, 1, (ORIGIN, REF4), (LOW, ADDR), (HIGH, DATA4)) + b"\0")
    inlined = b"\4" + struct.pack("<I", 12 + 13) + place
    dies = b"\1" + place + b"\2inside\0" + b"\3outside\0" + place + inlined * depth + b"\0" * (depth + 2)
    said, out = symbolize(tmp_path, elf({"debug_info": unit(dies), "debug_abbrev": table}), [LO + k for k in range(n)])
    frames = [json.loads(line) for line in out.splitlines() if line.startswith('{"type":"frame"')]
    taken = sum(f.get("inlined", False) for f in frames)
    assert taken % depth == 0 and taken < (1 << 18) + 16 * n < depth * n
    assert sum(f["func"] == "outside" for f in frames) == n
    assert f"more than {taken} inlined functions" in said and "SPAA-L300" in said

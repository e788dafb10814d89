#!/usr/bin/env python3
"""Makes seeds of files with symbols, with the tests' makers of such files and gcc: fuzz/make_seeds.py FOLDER"""
import lzma
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tests"), os.path.join(HERE, "..", "tests", "formats")]
import elf_cfi as cfi  # noqa: E402
import hostile_elf as made  # noqa: E402
import test_jitdump as jit  # noqa: E402

SOURCE = """static inline __attribute__((always_inline)) int two(int x) { volatile int y = x * 2; return y + 1; }
struct s { int a; };
int alpha(struct s *p) { int n = 0; for (int i = 0; i < p->a; i++) n += two(i) / 3; return n; }
int beta(int x) { return two(x) + two(x + 1); }
"""
TEXT = 0x1000


def put(kind, name, content):
    folder = os.path.join(sys.argv[1], kind)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(content)


def compiled(*flags, split=False):
    """A program of SOURCE; split: behind its length, and with the package of its .dwo."""
    with tempfile.TemporaryDirectory() as at:
        with open(os.path.join(at, "a.c"), "w", encoding="utf-8") as f:
            f.write(SOURCE)
        subprocess.run(["gcc", *flags, "-O2", "-ffreestanding", "-fno-pie", "-fno-asynchronous-unwind-tables",
                        f"-ffile-prefix-map={at}=/src", "-c", "a.c"], cwd=at, check=True)
        subprocess.run(["ld", "--build-id=none", "-z", "norelro", "-z", "noseparate-code", "-N", f"-Ttext={TEXT:#x}", "--no-warn-rwx-segments", "-e", "alpha", "a.o", "-o", "p"],
                       cwd=at, check=True)
        with open(os.path.join(at, "p"), "rb") as f:
            program = f.read()
        if not split:
            return program
        subprocess.run(["llvm-dwp", "a.dwo", "-o", "p.dwp"], cwd=at, check=True)
        with open(os.path.join(at, "p.dwp"), "rb") as f:
            return struct.pack("<I", len(program)) + program + f.read()


def shared_ranges():
    """Units that share a range list and a line table."""
    dies = made.uleb(1) + b"a.c\0" + struct.pack("<II", 12, 0) + made.uleb(2) + b"f\0" + struct.pack("<QI", made.LO, 8)
    abbrevs = (made.abbrev(1, made.CU, 1, (made.NAME, made.STRING), (made.RANGES, made.SEC_OFFSET), (made.STMT_LIST, made.SEC_OFFSET)) +
               made.abbrev(2, made.SUBPROGRAM, 0, (made.NAME, made.STRING), (made.LOW, made.ADDR), (made.HIGH, made.DATA4)) + b"\0")
    ranges = made.range_list(3)
    lists = struct.pack("<IHBBI", len(ranges) + 8, 5, 8, 0, 0) + ranges
    sections = {"debug_info": made.unit(dies + b"\0") * 2, "debug_abbrev": abbrevs, "debug_rnglists": lists, "debug_line": made.line_program(8)}
    return made.elf(sections), made.elf({n: made.compressed(b) if n == "debug_info" else b for n, b in sections.items()}, ("debug_info",))


for version in (2, 3, 4, 5):
    put("dwarf", f"gcc{version}", compiled(f"-gdwarf-{version}"))
put("dwarf", "wide", compiled("-gdwarf-5", "-gdwarf64"))
for i, data in enumerate(shared_ranges()):
    put("dwarf", f"shared{i}", data)
for version in (4, 5):
    put("dwp", f"gcc{version}", compiled(f"-gdwarf-{version}", "-gsplit-dwarf", split=True))

program = cfi.cfa_offset(16) + cfi.saved(6, 2) + cfi.advance(4) + cfi.def_cfa(6, 16) + cfi.expression(3, b"\x77\x08\x06")
for machine, big, word in ((cfi.X86_64, False, 8), (cfi.I386, False, 4), (cfi.AARCH64, True, 8)):
    e = cfi.Elf(machine, big, word).function(b"main", 0x1000, 0x100, program, cfi.def_cfa(7, 8) + cfi.saved(16, 1))
    e.function(b"sig", 0x1100, 0x40, cfi.cfa_expression(b"\x77\x08\x06"), cfi.def_cfa(7, 8), signal=True).function(b"bare", 0x1200, 0x40, no_cfi=True)
    put("cfi", f"{machine}", e.bytes())
    put("debugdata", f"image{machine}", e.bytes())
put("debugdata", "packed.xz", lzma.compress(cfi.Elf().function(b"main", 0x1000, 0x100, program).bytes()))

for order in "<>":
    put("jitdump", "replaced" + str(ord(order)), jit.replaced(order))
put("jitdump", "cycles", jit.replaced("<", flags=1))

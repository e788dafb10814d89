#!/usr/bin/env python3
"""Makes the seeds in fuzz/seeds/macho with the tests' maker of Mach-O files (gcc gives the code and debug information)."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))
import macho_files as m  # noqa: E402

UUID, OTHER = "4c4c44135555314fa1f6a0d80b9dbd9c", "0" * 32
SOURCE = "static inline __attribute__((always_inline)) int two(int x) { return x * 2 + 1; }\nint alpha(int x) { return two(x) / 3; }\n"
m.CODE = 0x800
SYMBOLS = [("_alpha", m.CODE, m.GLOBAL, 1, 0), ("_beta", m.CODE + 0x20, m.LOCAL, 1, 0),
           ("__ZN3foo3barEv", m.CODE + 0x40, m.PRIVATE, 1, 0), ("_gone", m.CODE + 0x48, m.STAB, 1, 0)]
STARTS = [m.CODE, m.CODE + 0x20, m.CODE + 0x40, m.CODE + 0x50]


def put(name, content, spread=3):
    os.makedirs(os.path.join(HERE, "seeds", "macho"), exist_ok=True)
    with open(os.path.join(HERE, "seeds", "macho", name), "wb") as f:
        f.write(bytes([spread]) + content)


def dsym(version):
    with tempfile.TemporaryDirectory() as at:
        with open(os.path.join(at, "a.c"), "w") as f:
            f.write(SOURCE)
        subprocess.run(["gcc", f"-gdwarf-{version}", "-O2", "-fPIE", "-ffreestanding", "-fno-asynchronous-unwind-tables", "-c", "a.c"], cwd=at, check=True)
        subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,--build-id=none", f"-Wl,-Ttext-segment={m.BASE:#x}", f"-Wl,-Ttext={m.BASE + m.CODE:#x}",
                        "-Wl,-e,alpha", "a.o", "-o", "p"], cwd=at, check=True)
        sections = m.elf_sections(os.path.join(at, "p"))
    dwarf = {n: c for n, (_, c) in sections.items() if n.startswith(".debug_") and n != ".debug_aranges"}
    return m.image(UUID, sections[".text"][1], SYMBOLS[:1], dwarf=dwarf, kind=m.DSYM)


thin = m.image(UUID, symbols=SYMBOLS, starts=STARTS)
put("thin", thin)
put("thin32", m.image(UUID, symbols=SYMBOLS, starts=STARTS, cpu=m.I386, base=0x4000))
put("fat", m.fat((m.ARM64, thin), (m.X86_64, m.image(OTHER, symbols=SYMBOLS[:1], cpu=m.X86_64))))
put("dsym4", dsym(4), 0)
put("dsym5", dsym(5), 0)

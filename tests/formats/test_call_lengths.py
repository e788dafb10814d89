"""Lengths and targets of x86-64 instructions, against objdump's, of all code of large libraries."""

import os
import re
import shutil
import subprocess

import conftest
import pytest

TOOL = os.path.join(os.path.dirname(conftest.BIN), "tests", "call_lengths")
LIBRARIES = "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", conftest.BIN
pytestmark = pytest.mark.skipif(not shutil.which("objdump") or not os.path.exists(TOOL), reason="no objdump, or tests not built")
PREFIX = re.compile(r"^(rex(\.\w+)?|data16|addr32|lock|rep[nz]*|repz|repnz|[cdefgs]s|bnd|notrack|xacquire|xrelease)$")
STOPS = {"ret", "lret", "iret", "hlt", "ud0", "ud1", "ud2", "int3", "sysret", "sysexit"}


def sections(path):
    for row in subprocess.run(["objdump", "-h", "-w", path], capture_output=True, text=True, check=True).stdout.splitlines():
        field = row.split()
        if "CODE" in field[7:] or "CODE," in field[7:]:
            yield field[1], field[5], field[2], field[3]


def what(text):
    """The kind of an instruction, and where it goes; None where objdump shows no instruction."""
    words = [w for w in text.split("#")[0].split("<")[0].split() if not PREFIX.match(w)]
    if not words or "(bad)" in words or ".byte" in words:
        return None
    name, where = re.sub(r",p[nt]$", "", words[0]), words[1] if len(words) > 1 else ""
    target = where if re.fullmatch(r"(0x)?[0-9a-f]+", where) else "0"
    indirect = "*" * ("*" in where)
    if re.fullmatch(r"l?call[qw]?", name):
        return "call" + indirect, target
    if re.fullmatch(r"l?jmp[qw]?", name):
        return "jump" + indirect, target
    if name[0] == "j" or name.startswith("loop"):
        return "branch", target
    return ("stop" if name in STOPS or name[:-1] in STOPS else "other"), "0"


def instructions(path, section):
    with subprocess.Popen(["objdump", "-d", "-w", "-j", section, path], stdout=subprocess.PIPE, text=True) as p:
        for row in p.stdout:
            part = row.rstrip("\n").split("\t")
            if len(part) < 3 or not part[0].endswith(":"):
                continue
            found, length = what(part[2]), len(part[1].split())
            if not found or (length > 1 and part[1].startswith("9b ")):  # objdump joins fwait with what follows
                continue
            yield f"{part[0].strip()[:-1]} {length} {found[0]} {found[1]}\n"


@pytest.mark.parametrize("path", LIBRARIES, ids=os.path.basename)
def test_instructions_are_those_of_objdump(path):
    if not os.path.exists(path):
        pytest.skip("not here")
    known = 0
    for name, offset, size, address in sections(path):
        done = subprocess.run([TOOL, path, offset, size, address], input="".join(instructions(path, name)), capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, (name, done.stdout[:2000])
        counts = re.search(r"(\d+) known, (\d+) unknown", done.stdout)
        known += int(counts[1])
        assert int(counts[2]) <= int(counts[1]) / 1000 + 2, (name, done.stdout)
    assert known > 10000

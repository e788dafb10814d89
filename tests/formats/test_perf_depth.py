"""perf.data in depth: unwinding of copied stacks, branch stacks, what describes recording and samples."""

import collections
import os
import re
import shutil
import struct
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import elf_cfi as cfi  # noqa: E402
import perf_data_files as files  # noqa: E402
from perf_data_files import (ADDR, BRANCH_STACK, CALLCHAIN, CONTEXT, CPU, IDENTIFIER, IP, KERNEL, PERIOD, RAW, REGS_USER,  # noqa: E402
                             SAMPLE, STACK_USER, TID, TIME, USER, Recording)
from test_perf_data import CORPUS, MADE, SPAA, needs_corpus, run, unpack, write  # noqa: E402

STACKS = IP | TID | TIME | CALLCHAIN | PERIOD | REGS_USER | STACK_USER
BASE = 0x7F1200000000
STACK = 0x7FFE10000000


def names(profile, stack):
    return [profile.frames[n]["func"] for n in stack["frames"]]


def only(profile):
    assert len(profile.stacks) == 1, [names(profile, s) for s in profile.stacks]
    return names(profile, profile.stacks[0])


# ---- processors ------------------------------------------------------------------------------------------


class Machine:
    """A processor: how its functions save what they change, and what perf records of it."""

    def __init__(self, arch, machine, word, ra, sp, mask, bits, big=False):
        self.arch, self.machine, self.word, self.ra, self.sp, self.mask, self.bits, self.big = (
            arch, machine, word, ra, sp, mask, bits, big)
        self.base, self.stack = (BASE, STACK) if word == 8 else (0x8100000, 0xBFF00000)

    def elf(self):
        """leaf (nothing saved), work (32 bytes of frame), deep (64), start (the end), plain (no CFI)."""
        e = cfi.Elf(self.machine, self.big, self.word, self.ra, -self.word)
        entry = self.entry()
        e.function(b"leaf", 0x1000, 0x100, initial=entry)
        e.function(b"work", 0x1100, 0x100, cfi.advance(4) + self.frame(32), initial=entry)
        e.function(b"deep", 0x1200, 0x100, cfi.advance(4) + self.frame(64), initial=entry)
        e.function(b"start", 0x1300, 0x100, cfi.undefined(self.ra), initial=entry)
        e.function(b"plain", 0x1400, 0x100, no_cfi=True)
        e.function(b"restore", 0x1500, 0x100, self.signal(), initial=entry, signal=True)
        return e

    def entry(self):
        """At a function's first instruction: x86 has the return address on the stack, ARM in a register."""
        if self.machine == cfi.AARCH64:
            return cfi.def_cfa(31, 0)
        return cfi.def_cfa(self.sp, self.word) + cfi.saved(self.ra, 1)

    def frame(self, size):
        if self.machine == cfi.AARCH64:
            return cfi.cfa_offset(size) + cfi.saved(30, 1)
        return cfi.cfa_offset(size)

    def signal(self):
        """The interrupted registers stand at fixed places above the stack pointer: pc at 64, sp at 72."""
        breg = 0x70 + self.sp
        at = {self.ra: 64, self.sp: 72}
        if self.machine == cfi.AARCH64:  # its frames have no expressions; the pc goes to a made-up column
            at = {30: 64, 31: 72}
        return (cfi.cfa_expression(bytes([breg]) + cfi.sleb(80)) +
                b"".join(cfi.expression(reg, bytes([breg]) + cfi.sleb(off)) for reg, off in sorted(at.items())))

    def recording(self, size=4096, **more):
        r = Recording([(1, 0, STACKS, {"freq": 99, "regs": self.mask, "stack": size, **more})], self.big)
        r.features[6] = r.text(self.arch)
        r.kernel()
        r.comm(10, 10, b"prog", 1000)
        r.mmap2(10, self.base, 0x10000, 0, b"/opt/prog", 1000)
        return r

    def tail(self, r, pc, regs, stack, size=4096, filled=None):
        """Registers by perf's bit, then the stack."""
        values = [{**regs, self.bits["pc"]: pc, self.bits["sp"]: self.stack}.get(b, 0)
                  for b in range(64) if self.mask >> b & 1]
        filled = len(stack) if filled is None else filled
        out = r.pack("Q", 1 if self.word == 4 else 2) + b"".join(r.pack("Q", v) for v in values)
        return out + r.pack("Q", size) + stack.ljust(size, b"\xee")[:size] + r.pack("Q", filled)

    def words(self, r, *values):
        return b"".join(r.pack("Q" if self.word == 8 else "I", v) for v in values)

    def frames(self, r, *returns):
        """A stack of work (32 bytes) frames that return to these offsets, the return address on top of each."""
        out = b""
        for size, to in returns:
            out += b"\x11" * (size - self.word) + self.words(r, self.base + to)
        return out


X86 = {"pc": 8, "sp": 7, "fp": 6}
ARM = {"pc": 32, "sp": 31, "fp": 29, "lr": 30}
MACHINES = [
    Machine(b"x86_64", cfi.X86_64, 8, 16, 7, 0xFF0FFF, X86),
    Machine(b"i686", cfi.I386, 4, 8, 4, 0xFFF, X86),
    Machine(b"aarch64", cfi.AARCH64, 8, 30, 31, 0x1FFFFFFFF, ARM),
    Machine(b"aarch64_be", cfi.AARCH64, 8, 30, 31, 0x1FFFFFFFF, ARM, big=True),
]
every_machine = pytest.mark.parametrize("m", MACHINES, ids=[m.arch.decode() for m in MACHINES])


def symfs(tmp_path, m):
    root = tmp_path / "symfs"
    (root / "opt").mkdir(parents=True, exist_ok=True)
    (root / "opt" / "prog").write_bytes(m.elf().bytes())
    return "--symfs", str(root)


@every_machine
def test_stacks_are_unwound_to_their_start(tmp_path, m):
    r = m.recording()
    stack = m.frames(r, (32, 0x1240), (64, 0x1340))
    r.sample([], ip=m.base + 0x1120, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack), misc=USER)
    profile, said = run(write(tmp_path, r), *symfs(tmp_path, m))
    assert only(profile) == ["work", "deep", "start"], said
    assert "SPAA-" not in said


@every_machine
def test_a_leaf_without_a_frame_returns_to_its_caller(tmp_path, m):
    r = m.recording()
    stack = m.frames(r, (m.word, 0x1140), (32, 0x1340)) if "lr" not in m.bits else m.frames(r, (32, 0x1340))
    regs = {m.bits.get("lr", 63): m.base + 0x1140}
    r.sample([], ip=m.base + 0x1010, time=2000, tail=m.tail(r, m.base + 0x1010, regs, stack))
    assert only(run(write(tmp_path, r), *symfs(tmp_path, m))[0]) == ["leaf", "work", "start"]


@every_machine
def test_the_kernels_part_stands_in_front(tmp_path, m):
    r = m.recording()
    chain = [CONTEXT["kernel"], 0xFFFFFFFF81000100, 0xFFFFFFFF81000200]
    stack = m.frames(r, (32, 0x1340))
    r.sample(chain, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack), misc=KERNEL)
    profile, _ = run(write(tmp_path, r), *symfs(tmp_path, m))
    assert only(profile)[2:] == ["work", "start"]
    assert [profile.frames[n]["kind"] for n in profile.stacks[0]["frames"]] == ["kernel"] * 2 + ["user"] * 2


@every_machine
def test_a_stack_that_goes_on_behind_the_copy_ends_in_a_marker(tmp_path, m):
    r = m.recording()
    stack = m.frames(r, (32, 0x1240))
    r.sample([], ip=m.base + 0x1120, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack))
    r.sample([], ip=m.base + 0x1120, time=2001, tail=m.tail(r, m.base + 0x1120, {}, stack))
    profile, said = run(write(tmp_path, r), *symfs(tmp_path, m))
    assert only(profile) == ["work", "deep", "[truncated]"]
    assert profile.header["x_spaa"]["truncated"] == 2
    assert "SPAA-W786" in said and "4096 bytes" in said


@every_machine
def test_a_signals_frame_leads_to_the_exact_place(tmp_path, m):
    r = m.recording()
    # The handler (work) returns into restore, above which the interrupted registers stand; the pc was the first
    # instruction of leaf: one less would be another function.
    frame = b"\x22" * 64 + m.words(r, m.base + 0x1000) + b"\x22" * (8 - m.word)
    above = m.stack + 32 + 80
    stack = m.frames(r, (32, 0x1500)) + frame + m.words(r, above) + b"\x22" * (8 - m.word)
    stack += m.frames(r, (m.word, 0x1340))
    r.sample([], ip=m.base + 0x1120, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack))
    profile, _ = run(write(tmp_path, r), *symfs(tmp_path, m))
    got = only(profile)
    # A return to the first byte of a function is looked up in the one before it.
    assert got[0] == "work" and got[1] in ("restore", "plain")
    if got[1] == "restore":
        assert got[2] == "leaf"


def test_frame_pointers_lead_on_where_nothing_says_how(tmp_path):
    m = MACHINES[0]
    r = m.recording()
    # plain has a frame: its caller's rbp and the return address stand where rbp points.
    stack = b"\x33" * 16 + m.words(r, 0, m.base + 0x1240) + m.frames(r, (64 - 8, 0x1340))
    regs = {m.bits["fp"]: m.stack + 16}
    r.sample([], ip=m.base + 0x1420, time=2000, tail=m.tail(r, m.base + 0x1420, regs, stack))
    assert only(run(write(tmp_path, r), *symfs(tmp_path, m))[0])[:2] == ["plain", "deep"]


def test_a_missing_file_ends_the_stack_and_is_told(tmp_path):
    m = MACHINES[0]
    r = m.recording()
    r.mmap2(10, m.base + 0x100000, 0x10000, 0, b"/opt/libgone.so", 1000)
    stack = m.frames(r, (32, 0x1240)) + b"\x11" * 56 + m.words(r, m.base + 0x101000)
    r.sample([], ip=m.base + 0x1120, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack))
    profile, said = run(write(tmp_path, r), *symfs(tmp_path, m))
    assert only(profile)[:2] == ["work", "deep"] and len(only(profile)) == 3
    assert "SPAA-I785" in said and "/opt/libgone.so: 1 stack ends there: the file was not found" in said
    assert "--symfs" in said


def test_maps_of_the_moment_are_used(tmp_path):
    m = MACHINES[0]
    r = m.recording()
    stack = m.frames(r, (32, 0x1340))
    r.sample([], ip=m.base + 0x1120, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack))
    r.mmap2(10, m.base, 0x10000, 0x100, b"/opt/prog", 3000)
    r.sample([], ip=m.base + 0x1020, time=4000, tail=m.tail(r, m.base + 0x1020, {}, stack))
    profile, _ = run(write(tmp_path, r), *symfs(tmp_path, m))
    assert sorted(tuple(names(profile, s)) for s in profile.stacks) == [("work", "plain"), ("work", "start")]


def test_the_result_does_not_depend_on_the_threads(tmp_path):
    m = MACHINES[0]
    r = m.recording()
    for i in range(600):
        depth = i % 7
        stack = m.frames(r, *[(32, 0x1140)] * depth, (32, 0x1340 if i % 3 else 0x1150))
        r.sample([], ip=m.base + 0x1120 + i % 5, time=2000 + i, tail=m.tail(r, m.base + 0x1120 + i % 5, {}, stack))
        if i % 100 == 50:
            r.mmap2(10, m.base + 0x20000 + i * 0x1000, 0x1000, 0, b"/opt/other", 2000 + i)
    path, root = write(tmp_path, r), symfs(tmp_path, m)
    command = [SPAA, "convert", path, "--samples", "--to", "spaa", "-o", "-", "-q", *root]
    one, two, eight = (subprocess.run([*command, f"-j{j}"], capture_output=True, check=True).stdout for j in (1, 2, 8))
    assert one == two == eight and one.count(b'"sample"') >= 600


def test_damaged_cfi_only_ends_stacks(tmp_path):
    m = MACHINES[0]
    r = m.recording()
    stack = m.frames(r, (32, 0x1240), (64, 0x1340))
    r.sample([], ip=m.base + 0x1120, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack))
    path, root = write(tmp_path, r), symfs(tmp_path, m)
    whole = m.elf().bytes()
    for at in range(0x1600, len(whole), 3):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        (tmp_path / "symfs" / "opt" / "prog").write_bytes(damaged)
        got, _ = run(path, *root)
        assert len(got.stacks) == 1


@needs_corpus
@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not here")
@pytest.mark.parametrize("name", ["dwarf"])
def test_unwound_stacks_equal_those_of_perf_script(name, tmp_path):
    """Of made/dwarf: every sample has the call path that perf finds."""
    path = tmp_path / "perf.data"
    path.write_bytes(unpack(os.path.join(MADE, name + ".perf.data.zst")))
    root = os.path.join(MADE, "symfs")
    kallsyms = os.path.join(root, "kallsyms")
    text = subprocess.run(["perf", "script", "-i", str(path), "--symfs", root, "--kallsyms", kallsyms, "--no-inline",
                           "--ns", "-F", "tid,time,event,ip,sym"], capture_output=True, check=True).stdout.decode()
    theirs = {}
    for block in text.strip().split("\n\n"):
        head, *frames = block.split("\n")
        tid, time = re.search(r"(\d+)\s+(\d+\.\d+):", head).groups()
        theirs[int(tid), time] = [f.split(maxsplit=1)[1] for f in frames]
    profile, _ = run(str(path), "--samples", "--symfs", root, "--kallsyms", kallsyms)
    same = 0
    for s in profile.samples:
        stack = profile.by_id[s["stack_id"]]
        ours = [profile.frames[n]["func"] for n in stack["frames"] if not profile.frames[n].get("inline_depth")]
        seconds, _, rest = repr(s["timestamp"]).partition(".")
        same += ours == theirs[s["tid"], f"{seconds}.{rest.ljust(9, '0')}"]
    assert len(profile.samples) == len(theirs)
    assert same >= 0.99 * len(theirs), f"{same} of {len(theirs)}"


def expected_stacks(path):
    """perfparser's text: pairs of lines for each frame; inlined ones are marked."""
    out = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for block in re.split(r"\n\n(?=\S)", f.read()):
            rows = [line for line in block.split("\n") if line.startswith("\t")][1:]
            frames = [second.split("\t")[-1] for second in rows[1::2] if "(inlined)" not in second]
            out.append([f.split(" vector_static_gcc")[0].strip() for f in frames])
    return out


@needs_corpus
def test_unwound_stacks_equal_those_of_perfparser(tmp_path):
    """The user's part of each stack, of which perf itself finds only the leaf."""
    folder = os.path.join(CORPUS, "perf-data", "perfparser")
    theirs = expected_stacks(os.path.join(folder, "vector.expected.txt"))
    recorded = ("/home/milian/projects/kdab/rnd/hotspot/3rdparty/perfparser/tests/auto/perfdata/vector_static_gcc/"
                "vector_static_gcc_v9.1.0")
    binary = tmp_path / recorded[1:]
    binary.parent.mkdir(parents=True)
    binary.write_bytes(unpack(os.path.join(folder, "vector_static_gcc_v9.1.0.elf.zst")))
    profile, _ = run(os.path.join(folder, "vector.perf.data.zst"), "--samples", "--symfs", str(tmp_path))

    def bare(name):
        return re.sub(r"[(<].*", "", re.sub(r"^void ", "", name))

    ours = []
    for s in sorted(profile.samples, key=lambda s: s["timestamp"]):
        stack = profile.by_id[s["stack_id"]]
        ours.append([bare(profile.frames[n]["func"]) for n in stack["frames"]
                     if profile.frames[n]["kind"] == "user" and not profile.frames[n].get("inline_depth")])
    theirs = [[bare(f) for f in stack if f and "kernel" not in f] for stack in theirs]
    assert len(ours) == len(theirs)
    assert sum(a == b for a, b in zip(ours, theirs)) >= 0.95 * len(theirs), list(zip(ours, theirs))[:5]

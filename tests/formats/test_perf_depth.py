"""perf.data in depth: unwinding of copied stacks, what describes recording and samples."""

import json
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
both_orders = pytest.mark.parametrize("big", [False, True], ids=["little", "big"])


def names(profile, stack):
    return [profile.frames[n]["func"] for n in stack["frames"]]


def branch(r, source, target, missed=False, cycles=0, abort=False):
    if r.big:
        flags = missed << 63 | (not missed) << 62 | abort << 60 | cycles << 44
    else:
        flags = missed | (not missed) << 1 | abort << 3 | cycles << 4
    return r.pack("QQQ", source, target, flags)


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
    assert "SPAA-W785" in said and "/opt/libgone.so: 1 stack ends there: the file was not found" in said
    assert "--symfs" in said
    assert profile.header["x_spaa"]["unfinished"] == 1
    assert profile.header["x_perf"]["unwinding"] == {
        "samples": 1, "truncated": 0, "unmapped": 0,
        "ends": [{"dso": "/opt/libgone.so", "stacks": 1, "why": "the file was not found"}]}


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
        theirs[int(tid), time] = [re.sub(r"(\.(part|isra|constprop)\.\d+|\.cold)+$", "", f.split(maxsplit=1)[1]) for f in frames]
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

    # Names of one address; and an entry of .plt, which they give to `_init`, a symbol without size of the section before.
    aliases = {"__ieee754_hypot": "__hypot_finite", "__hypot": "hypot", "vector_static_gcc_v9.1.0+0x400450": "_init"}

    def bare(name):
        name = aliases.get(name, name)
        return re.sub(r"[(<].*", "", re.sub(r"^void ", "", name))

    ours = []
    for s in sorted(profile.samples, key=lambda s: s["timestamp"]):
        stack = profile.by_id[s["stack_id"]]
        ours.append([bare(profile.frames[n]["func"]) for n in stack["frames"]
                     if profile.frames[n]["kind"] == "user" and not profile.frames[n].get("inline_depth")])
    theirs = [[bare(f) for f in stack if f and "kernel" not in f] for stack in theirs]
    assert len(ours) == len(theirs)
    assert ours == theirs, [(a, b) for a, b in zip(ours, theirs) if a != b]


# ---- what samples have beside their stacks ---------------------------------------------------------------


@both_orders
def test_every_field_behind_the_callchain_is_found(tmp_path, big):
    kinds = (IP | TID | TIME | ADDR | CALLCHAIN | PERIOD | RAW | BRANCH_STACK | REGS_USER | STACK_USER | files.WEIGHT_STRUCT |
             files.DATA_SRC | files.TRANSACTION | files.REGS_INTR | files.PHYS_ADDR | files.AUX | files.CGROUP |
             files.DATA_PAGE | files.CODE_PAGE)
    r = Recording([(4, 0x1CD, kinds, {"period": 1000, "branch": 1 << 3, "regs": 0x7, "stack": 64})], big)
    r.record(19, 0, r.pack("Q", 77) + files.pad8(b"/system.slice/x\0"))
    tail = r.pack("Q", 1) + branch(r, 0x400010, 0x400020, cycles=5)
    tail += r.pack("Q", 0)  # no registers
    tail += r.pack("Q", 64) + b"\0" * 64 + r.pack("Q", 0)
    tail += r.pack("Q", 3 << 48 | 21 << 32 | 123)
    source = 1 << 1 | (1 << 1 | 1 << 3) << 5 | 1 << 20 | (1 << 1 | 1 << 3) << 26 | 1 << 33
    tail += r.pack("Q", source)
    tail += r.pack("Q", 0x55) + r.pack("Q", 0)  # transaction, registers of the interrupt (attr mask 0)
    tail += r.pack("QQQQ", 0x123000, 77, 4096, 2 << 20) + r.pack("Q", 8) + b"\1" * 8
    r.sample([CONTEXT["user"], 0x400010], time=2000, period=1000, addr=0x7F00DEAD0000, raw=b"abc", tail=tail)
    profile, _ = run(write(tmp_path, r), "--samples", "--no-symbols")
    more = profile.samples[0]["x_perf"]
    assert more.pop("branches")[0]["cycles"] == 5
    assert profile.samples[0]["context"]["x_labels"] == {
        "cgroup": "/system.slice/x", "data_src": hex(source), "data_src.op": "load", "data_src.level": "hit|L1",
        "data_src.snoop": "none", "data_src.tlb": "hit|L1", "data_src.level_number": "L1"}
    assert more["addr"] == "0x7f00dead0000" and more["phys_addr"] == "0x123000"
    assert (more["weight"], more["weight2"], more["weight3"]) == (123, 21, 3)
    assert (more["transaction"], more["data_page_size"], more["code_page_size"], more["aux_bytes"]) == (
        "0x55", 4096, 2 << 20, 8)
    assert more["raw"] == "616263"


@every_machine
def test_registers_and_stacks_are_kept_with_the_samples(tmp_path, m):
    r = Recording([(1, 0, STACKS | files.REGS_INTR, {"freq": 99, "regs": m.mask, "stack": 64})], m.big)
    r.features[6] = r.text(m.arch)
    bits = [b for b in range(64) if m.mask >> b & 1]
    tail = r.pack("Q", 1 if m.word == 4 else 2) + b"".join(r.pack("Q", 0x1000 + b) for b in bits)
    tail += r.pack("Q", 64) + bytes(range(64)) + r.pack("Q", 5) + r.pack("Q", 0)  # no registers of the interrupt
    r.sample([CONTEXT["user"], 0x400010], time=2000, tail=tail)
    path = write(tmp_path, r)
    profile, _ = run(path, "--samples", "--no-symbols")
    regs = profile.samples[0]["x_perf"]["user_regs"]
    assert regs.pop("bits") == 8 * m.word and len(regs) == len(bits)
    assert {int(v, 16) - 0x1000 for v in regs.values()} == set(bits)
    names = {"pc": "pc" if b"aarch" in m.arch else "ip", "sp": "sp"}
    for key, name in names.items():
        assert int(regs[name], 16) - 0x1000 == m.bits[key]
    assert profile.samples[0]["x_perf"]["user_stack"] == {"size": 64, "filled": 5} and "intr_regs" not in profile.samples[0]["x_perf"]
    profile, _ = run(path, "--samples", "--no-symbols", "--stack-bytes")
    assert profile.samples[0]["x_perf"]["user_stack"] == {"size": 64, "filled": 5, "bytes": "0001020304"}


def tracing(r, event_id=372):
    """TRACING_DATA with one event of every kind of field."""
    fields = b"".join(b"\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % f for f in (
        (b"unsigned short common_type", 0, 2, 0), (b"int common_pid", 4, 4, 1), (b"char comm[16]", 8, 16, 1),
        (b"pid_t pid", 24, 4, 1), (b"unsigned long addr", 28, 8, 0), (b"__data_loc char[] name", 36, 4, 1),
        (b"const void * call_site", 40, 8, 0), (b"u16 ports[2]", 48, 4, 0), (b"__u8 mac[3]", 52, 3, 0)))
    text = b"name: thing\nID: %d\nformat:\n%s\nprint fmt: \"%%s\", REC->comm\n" % (event_id, fields)
    out = bytes([23, 8, 68]) + b"tracing" + b"0.6\0" + bytes([r.big, 8]) + r.pack("I", 4096)
    for name in (b"header_page\0", b"header_event\0"):
        out += name + r.pack("Q", 3) + b"xyz"
    out += r.pack("I", 0) + r.pack("I", 1) + b"sys\0" + r.pack("I", 1) + r.pack("Q", len(text)) + text
    return out + r.pack("IIQ", 0, 0, 0)


@both_orders
@pytest.mark.parametrize("pipe", [False, True], ids=["file", "pipe"])
def test_fields_of_tracepoints_are_decoded(tmp_path, big, pipe):
    r = Recording([(2, 372, IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER, {})], big, pipe)
    data = tracing(r)
    if pipe:
        r.record(files.TRACING_DATA, 0, r.pack("I", len(data)))
        r.body += files.pad8(data)
    else:
        r.features[1] = data
        r.describe([b"sys:thing"])
    raw = r.pack("HBBi", 372, 0, 0, 9) + b"worker".ljust(16, b"\0") + r.pack("i", -5) + r.pack("Q", 1 << 40)
    raw += r.pack("I", 6 << 16 | 55) + r.pack("Q", 0xFFFF800000001234) + r.pack("HH", 80, 443) + b"\1\2\3" + b"hello\0"
    r.sample(ip=0x400010, time=2000, raw=raw)
    profile, _ = run(write(tmp_path, r), "--samples", "--no-symbols")
    assert profile.samples[0]["context"]["trace_fields"] == {
        "comm": "worker", "pid": -5, "addr": 1 << 40, "name": "hello", "call_site": "0xffff800000001234",
        "ports": [80, 443], "mac": [1, 2, 3]}
    event = profile.header["events"][0]
    assert (event["kind"], event["sampling"]["mode"]) == ("probe", "event")


# ---- the recording as a whole ----------------------------------------------------------------------------


@both_orders
def test_features_describe_the_machine(tmp_path, big):
    r = files.simple(big)

    def strings(*texts):
        return r.pack("I", len(texts)) + b"".join(r.text(t) for t in texts)

    r.features.update({
        13: strings(b"0-3") + strings(b"0-1", b"2-3") + r.pack("8I", 0, 0, 0, 0, 1, 0, 1, 0),
        14: r.pack("IIQQ", 1, 0, 1000, 400) + r.text(b"0-3"),
        16: r.pack("II", 1, 4) + r.text(b"cpu"),
        17: r.pack("I", 1) + r.text(b"{a,b}") + r.pack("II", 0, 2),
        20: r.pack("IIIIII", 1, 1, 1, 64, 64, 8) + r.text(b"Data") + r.text(b"32K") + r.text(b"0-1"),
        21: r.pack("QQ", 5, 9), 22: r.pack("QQQQQQ", 1, 128 << 20, 1, 0, 8, 7), 23: r.pack("Q", 1),
        27: r.pack("IIIII", 1, 1, 3, 4, 4096), 28: r.pack("I", 1) + r.text(b"max_precise") + r.text(b"3"),
        30: r.pack("I", 1) + r.text(b"cpu_core") + r.text(b"0-3"),
        31: r.pack("II", 1, 1) + r.text(b"branches") + r.text(b"32") + r.text(b"cpu")})
    more = run(write(tmp_path, r), "--no-symbols")[0].header["x_perf"]
    assert more["cpu_topology"] == {"sockets": ["0-3"], "threads": ["0-1", "2-3"],
                                    "cpus": [{"core": c, "socket": 0} for c in (0, 0, 1, 1)]}
    assert more["numa"] == [{"node": 0, "mem_total_kb": 1000, "mem_free_kb": 400, "cpus": "0-3"}]
    assert more["pmus"] == {"cpu": 4} and more["groups"] == [{"name": "{a,b}", "leader": 0, "members": 2}]
    assert more["caches"][0]["size"] == "32K" and more["memory"] == {"block_size": 128 << 20,
                                                                     "nodes": [{"node": 0, "blocks": 3}]}
    assert more["hybrid"] == [{"pmu": "cpu_core", "cpus": "0-3"}]
    assert more["pmu_caps"] == [{"caps": {"branches": "32"}, "pmu": "cpu"}]
    assert more["cpu_pmu_caps"] == {"max_precise": "3"} and more["compressed"]["level"] == 3
    assert more["events"][0]["frequency"] == 99 and "freq" in more["events"][0]["flags"]
    assert more["records"]["SAMPLE"] == 7 and more["records"]["LOST"] == 1
    r.features[13] = r.features[13][:20]  # cut off: left out, the others stay
    more = run(write(tmp_path, r), "--no-symbols")[0].header["x_perf"]
    assert "cpu_topology" not in more and "numa" in more


def test_throttling_is_told(tmp_path):
    r = files.simple()
    r.record(5, 0, r.pack("QQQ", 2_000_000, 100, 7), r.trailer(10, 10, 2_000_000))
    r.record(6, 0, r.pack("QQQ", 502_000_000, 100, 7), r.trailer(10, 10, 502_000_000))
    profile, said = run(write(tmp_path, r), "--no-symbols")
    assert "SPAA-W789" in said and "1 times, for 0.500 s" in said
    assert profile.header["x_spaa"]["throttled_ns"] == 500_000_000


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
def test_the_directory_form_is_read(tmp_path, packed):
    """The records of the one-file form, dealt out to three files."""
    whole = files.simple()
    expected, _ = run(write(tmp_path, whole), "--no-symbols", "--samples")
    folder = tmp_path / "perf.data.dir"
    folder.mkdir()
    main = files.simple()
    records, at = [], 0
    while at < len(main.body):
        size = struct.unpack_from("<H", main.body, at + 6)[0]
        records.append(main.body[at : at + size])
        at += size
    parts = [b"", b"", b""]
    for i, record in enumerate(records):
        parts[i % 3 if struct.unpack_from("<I", record)[0] == SAMPLE else 0] += record
    main.body = parts[0]
    main.features[24] = main.pack("Q", 1)
    (folder / "data").write_bytes(main.bytes())
    for i, part in enumerate(parts[1:]):
        if packed:
            body = subprocess.run(["zstd", "-cq"], input=part, stdout=subprocess.PIPE, check=True).stdout
            part = main.pack("IHH", files.COMPRESSED, 0, 8 + len(body)) + body
        (folder / f"data.{i}").write_bytes(part)
    for name in (folder, folder / "data"):
        got, _ = run(str(name), "--no-symbols", "--samples")
        for p in (got, expected):
            p.header["x_perf"].pop("records")
        assert got.header == expected.header
        assert got.stacks == expected.stacks and got.samples == expected.samples
        expected, _ = run(write(tmp_path, whole), "--no-symbols", "--samples")


def test_time_off_the_cpu_is_in_nanoseconds(tmp_path):
    """`perf record --off-cpu`: an event of BPF, whose samples carry no moments."""
    kinds = IP | TID | TIME | CALLCHAIN | PERIOD | IDENTIFIER
    r = Recording([(0, 0, kinds, {"freq": 99}), (1, 10, kinds, {"freq": 1})])
    r.comm(10, 10, b"prog", 1000)
    r.mmap2(10, 0x400000, 0x10000, 0, b"/opt/prog", 1000)
    r.sample([CONTEXT["user"], 0x400010], time=2000, period=5)
    r.sample([CONTEXT["user"], 0x400020], time=0xFFFFFFFF00000000, period=1_500_000, event=1)
    r.describe([b"cycles", b"offcpu-time"])
    profile, _ = run(write(tmp_path, r), "--no-symbols")
    waited = next(s for s in profile.stacks if s["context"]["event"] == "offcpu-time")
    assert {"metric": "period", "value": 1_500_000, "unit": "ns"} in waited["weights"]
    assert profile.header["time_range"]["end"] == 0.000002
    assert {s["context"]["event"]: s["context"]["x_state"] for s in profile.stacks} == {
        "cycles": "RUNNABLE", "offcpu-time": "WAITING"}


# ---- thread states ---------------------------------------------------------------------------------------

STATES = {"0x10": "RUN_QUEUE", "0x11": "RUN_QUEUE", "0x12": "WAITING", "0x13": "BLOCKED", "0x14": "SUSPENDED", "0x15": "SUSPENDED",
          "0x16": "UNKNOWN", "0x17": "WAITING", "0x18": "IDLE", "0x19": "IDLE", "0x1a": "WAITING", "0x400100": "IDLE",
          "0x200": "RUNNABLE", "0x400300": "IDLE", "0x400": "UNKNOWN"}


def tracefs(tmp_path, text=files.SWITCH):
    folder = tmp_path / "tracing" / "events" / "sched" / "sched_switch"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "format").write_bytes(text)
    return "--tracefs", str(tmp_path / "tracing")


def states(profile):
    return {profile.frames[s["frames"][0]]["ip"]: s["context"].get("x_state") for s in profile.stacks}


@both_orders
def test_states_of_threads_that_leave_the_cpu(tmp_path, big):
    path = write(tmp_path, files.switches(big, formats=True))
    profile, said = run(path, "--no-symbols")
    assert states(profile) == STATES and "SPAA-I83" not in said
    assert profile.header["x_spaa"]["group_by"] == ["pid", "tid", "comm", "state"]
    assert set(states(run(path, "--no-symbols", "--group-by", "tid")[0]).values()) == {None}
    for view, shown in (((), "all"), (("--by", "function"), "latency"), (("--view", "all"), "all"), (("--event", "cycles"), "cpu")):
        out = subprocess.run([SPAA, "top", path, "--no-symbols", "--json", *view], capture_output=True, check=True).stdout
        assert json.loads(out)["profile"]["view"] == shown


def test_formats_of_tracepoints_come_from_tracefs_when_named(tmp_path):
    path = write(tmp_path, files.switches())
    plain, said = run(path, "--no-symbols", "--samples")
    assert set(states(plain).values()) == {None} and "SPAA-I833" in said and "1 of 2 events" in said
    profile, said = run(path, "--no-symbols", "--samples", *tracefs(tmp_path))
    assert states(profile) == STATES and "SPAA-I832" in said and "SPAA-I833" not in said
    fields = [s["context"]["trace_fields"] for s in profile.samples if "trace_fields" in s.get("context", {})]
    assert fields[3] == {"prev_comm": "prog", "prev_pid": 10, "prev_prio": 120, "prev_state": 2, "next_comm": "next"}
    # A format of another event, and none at all.
    for text in (files.SWITCH.replace(b"ID: 315", b"ID: 316"), b"", b"\xff\0" * 50):
        got, said = run(path, "--no-symbols", "--samples", *tracefs(tmp_path, text))
        assert set(states(got).values()) == {None} and "SPAA-I833" in said and "SPAA-I832" not in said
    _, said = run(path, "--no-symbols", "--samples", "--tracefs", str(tmp_path / "nowhere"))
    assert "SPAA-I833" in said


def test_names_of_tracepoints_do_not_lead_elsewhere(tmp_path):
    (tmp_path / "x" / "tracing").mkdir(parents=True)
    (tmp_path / "x" / "format").write_bytes(files.SWITCH)
    for name in (b"..:..", b"../..:x", b"a/b:c", b":", b"sched:"):
        r = files.switches()
        r.describe([name, b"cycles"])
        _, said = run(write(tmp_path, r), "--no-symbols", "--samples", "--tracefs", str(tmp_path / "x" / "tracing"))
        assert "SPAA-I833" in said


def test_recordings_that_lost_the_names_of_tracepoints_say_so(tmp_path):
    """Not read by ids from tracefs: a recording that is cut off lacks events of some CPUs, and times would be wrong."""
    r = files.switches()
    r.describe([b"", b"cycles"])
    path = write(tmp_path, r)
    assert {s["context"]["event"] for s in run(path, "--no-symbols")[0].stacks} == {"tracepoint:315", "cycles"}
    for question in ("waits", "sched"):
        p = subprocess.run([SPAA, question, path, "--no-symbols"], capture_output=True, text=True)
        assert p.returncode == 2 and "is lost: perf writes that at the end" in p.stderr and "grouping" not in p.stderr

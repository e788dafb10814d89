"""Calls that cannot have been made: edges of user chains in perf.data, by the code of the recorded binaries."""

import fcntl
import json
import os
import shutil
import struct
import subprocess
import time

import conftest
import pytest
from perf_data_files import ADDR, CALLCHAIN, CONTEXT, DATA_SRC, IP, PERIOD, REGS_USER, SAMPLE, STACK_USER, TID, TIME, USER, Recording

pytestmark = pytest.mark.skipif(not shutil.which("gcc") or os.uname().machine != "x86_64", reason="no gcc for x86-64")
SPAA = conftest.BIN
BASE = 0x10000000

CODE = """
    .text
    .macro fn name
    .globl \\name
    .type \\name, @function
\\name:
    .endm
    .macro end name
    .size \\name, . - \\name
    .balign 16
    .endm
fn leaf
    add $1, %rax
    ret
end leaf
fn other
    add $1, %rax
    ret
end other
fn mid
    push %rbp
    call leaf
mid_ret:
    pop %rbp
    ret
end mid
fn top
    push %rbp
    call mid
top_ret:
    nop
    pop %rbp
    ret
end top
fn lonely
    push %rbp
    call other
    pop %rbp
    ret
end lonely
fn calls_lonely
    call lonely
calls_lonely_ret:
    ret
end calls_lonely
fn goes_on
    test %rax, %rax
    je mid
    jmp other
end goes_on
fn calls_goes_on
    call goes_on
calls_goes_on_ret:
    ret
end calls_goes_on
fn goes_anywhere
    test %rax, %rax
    jmp *%rcx
end goes_anywhere
fn calls_goes_anywhere
    call goes_anywhere
calls_goes_anywhere_ret:
    ret
end calls_goes_anywhere
fn switches
    movslq (%rdx,%rax,4), %rax
    add %rdx, %rax
    jmp *%rax
    call leaf
    ret
end switches
fn calls_switches
    call switches
calls_switches_ret:
    ret
end calls_switches
fn indirect
    call *%rax
indirect_ret:
    call *8(%rsp,%rbp,8)
indirect_sib_ret:
    ret
end indirect
fn learns_where
    call 1f
1:
learns_where_ret:
    pop %rax
    ret
end learns_where
fn parted
    test %rax, %rax
    call *%rax
    ret
end parted
fn calls_parted
    call parted
calls_parted_ret:
    ret
end calls_parted
    .type parted.cold, @function
parted.cold:
    xor %eax, %eax
    ret
end parted.cold
fn __restore_rt
    mov $15, %rax
    syscall
end __restore_rt
fn falls
    nop
end falls
fn fallen_into
    ret
end fallen_into
fn calls_falls
    call falls
calls_falls_ret:
    ret
end calls_falls
fn past_prefixes
    nop
    addr32 call mid
past_prefixes_ret:
    ret
end past_prefixes
fn through_slot
    call *leaf@GOTPCREL(%rip)
through_slot_ret:
    ret
end through_slot
fn _start
    ret
end _start
"""


class Binary:
    def __init__(self, folder, name, text, *options):
        source, self.path = folder / (name + ".s"), str(folder / name)
        source.write_text(text)
        subprocess.run(["gcc", "-nostdlib", "-Wl,--build-id=sha1", source, *options, "-o", self.path], check=True)
        table = subprocess.run(["nm", self.path], check=True, capture_output=True, text=True).stdout
        self.at = {p[2]: int(p[0], 16) for p in map(str.split, table.splitlines()) if len(p) == 3}
        subprocess.run(["objcopy", "-w", "--strip-symbol=*_ret", self.path], check=True)  # no functions begin there
        notes = subprocess.run(["readelf", "-nW", self.path], check=True, capture_output=True, text=True).stdout
        self.id = bytes.fromhex(notes.split("Build ID: ")[1].split()[0])
        loads = subprocess.run(["readelf", "-lW", self.path], check=True, capture_output=True, text=True).stdout
        row = next(r.split() for r in loads.splitlines() if r.split()[:1] == ["LOAD"] and " R E " in r)
        self.offset, self.vaddr, self.size = (int(row[i], 16) for i in (1, 2, 4))

    def address(self, name, base):
        """Where a symbol, or one and a distance, is in the process."""
        symbol, _, more = name.partition("+")
        return base + self.at[symbol] + int(more or "0", 0) - self.vaddr


def mapped(path):
    """Device, inode and generation of a file, as a map without a build-id tells them."""
    st = os.stat(path)
    generation = bytearray(8)
    with open(path, "rb") as f:
        try:
            fcntl.ioctl(f, 0x80087601, generation)  # FS_IOC_GETVERSION
        except OSError:
            pass
    return os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, struct.unpack("<I", generation[:4])[0]


def record(tmp_path, chains, *binaries, ids=True, file=None):
    r = Recording([(1, 0, IP | TID | TIME | CALLCHAIN | PERIOD, {"freq": 99})])
    r.comm(10, 10, b"prog", 100)
    for i, b in enumerate(binaries):
        start = BASE + i * 0x1000000
        if ids and not file:
            r.mmap2(10, start, (b.size + 0xfff) & ~0xfff, b.offset, b.path.encode(), 100, build_id=b.id)
        elif file:
            r.mmap2(10, start, (b.size + 0xfff) & ~0xfff, b.offset, b.path.encode(), 100, file=file)
        else:
            r.mmap(10, start, (b.size + 0xfff) & ~0xfff, b.offset, b.path.encode(), 100)
    for n, chain in enumerate(chains):
        r.sample([CONTEXT["user"], *chain], time=200 + n)
    path = tmp_path / "perf.data"
    path.write_bytes(r.bytes())
    return path


def edges(path, *options):
    """Of each distinct stack: its edges, as (place, the inferred function or BROKEN)."""
    out = subprocess.run([SPAA, "convert", path, "--to", "spaa", *options], capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    names = {r["id"]: r["func"] for r in rows if r["type"] == "frame"}
    return {tuple(names[f] for f in r["frames"]):
            [(e["at"], names[e["inferred"]] if "inferred" in e else "BROKEN") for e in r.get("x_edges", [])]
            for r in rows if r["type"] == "stack"}


@pytest.fixture(scope="module")
def prog(tmp_path_factory):
    return Binary(tmp_path_factory.mktemp("bin"), "prog", CODE, "-static", "-no-pie")


CASES = [
    (["leaf", "mid_ret"], []),
    (["mid+1", "top_ret"], []),
    (["leaf", "top_ret"], [(0, "mid")]),
    (["leaf", "mid_ret", "top_ret"], []),
    (["leaf", "mid_ret", "top_ret+1"], [(1, "BROKEN")]),  # nothing was called from there
    (["leaf", "calls_lonely_ret"], [(0, "BROKEN"), (0, "lonely")]),
    (["other", "calls_goes_on_ret"], []),
    (["mid", "calls_goes_on_ret"], []),
    (["leaf", "calls_goes_on_ret"], [(0, "BROKEN")]),  # goes_on may be no more
    (["leaf", "calls_goes_anywhere_ret"], []),
    (["leaf", "calls_switches_ret"], [(0, "switches")]),
    (["leaf", "indirect_ret"], []),
    (["leaf", "indirect_sib_ret"], []),
    (["leaf", "learns_where_ret"], []),
    (["parted.cold", "calls_parted_ret"], []),
    (["leaf", "__restore_rt"], []),
    (["leaf", "lonely"], []),  # a place that something was told to return to
    (["fallen_into", "calls_falls_ret"], []),
    (["leaf", "past_prefixes_ret"], [(0, "mid")]),
    (["leaf", "through_slot_ret"], []),
]


@pytest.mark.parametrize("chain, wanted", CASES, ids=["-".join(c) for c, _ in CASES])
def test_edges(tmp_path, prog, chain, wanted):
    found = edges(record(tmp_path, [[prog.address(a, BASE) for a in chain]], prog))
    assert list(found.values()) == [wanted]


def test_without_the_recorded_build_nothing_is_known(tmp_path, prog):
    chain = [prog.address("leaf", BASE), prog.address("top_ret+1", BASE)]
    assert list(edges(record(tmp_path, [chain], prog, ids=False)).values()) == [[]]
    assert list(edges(record(tmp_path, [chain], prog), "--no-symbols").values()) == [[]]
    other = Binary(tmp_path, "prog", CODE.replace("add $1", "add $2"), "-static", "-no-pie")
    other.path, other.id = prog.path, other.id
    assert list(edges(record(tmp_path, [chain], other)).values()) == [[]]


def test_stripped_binaries_have_extents_of_their_frame_descriptions(tmp_path):
    text = CODE.replace("\\name:\n", "\\name:\n    .cfi_startproc\n").replace("    .macro end name\n", "    .macro end name\n    .cfi_endproc\n")
    b = Binary(tmp_path, "prog", text.replace("parted.cold:\n", "parted.cold:\n    .cfi_startproc\n"), "-static", "-no-pie")
    chain = [b.address("leaf", BASE), b.address("top_ret", BASE)]
    subprocess.run(["strip", b.path], check=True)
    assert list(edges(record(tmp_path, [chain], b)).values()) == [[(0, "0x%x" % b.at["mid"])]]


LIBRARY = """
    .text
    .globl serve, inner
    .type serve, @function
serve:
    push %rbp
    call inner@plt
    pop %rbp
    ret
    .size serve, . - serve
    .type inner, @function
inner:
    ret
    .size inner, . - inner
"""
USER_OF_LIBRARY = """
    .text
    .globl _start, unrelated
    .type _start, @function
_start:
    call serve@plt
start_ret:
    call *serve@GOTPCREL(%rip)
slot_ret:
    ret
    .size _start, . - _start
    .type unrelated, @function
unrelated:
    call unrelated
    ret
    .size unrelated, . - unrelated
"""


@pytest.mark.parametrize("lazy", ["-Wl,-z,lazy", "-Wl,-z,now"])
def test_through_the_procedure_linkage_table(tmp_path, lazy):
    lib = Binary(tmp_path, "libserve.so", LIBRARY, "-shared", lazy)
    exe = Binary(tmp_path, "prog", USER_OF_LIBRARY, "-pie", lazy, lib.path)
    other = Binary(tmp_path, "libother.so", LIBRARY, "-shared")
    second = BASE + 0x1000000
    chains = [[lib.address(a, second), exe.address(b, BASE)] for a in ("serve", "inner") for b in ("start_ret", "slot_ret")]
    path = record(tmp_path, chains, exe, lib)
    assert edges(path) == {("serve", "_start"): [], ("inner", "_start"): [(0, "serve")]}
    # Where several define it, nobody can say which one is called.
    assert edges(record(tmp_path, chains, exe, lib, other)) == {("serve", "_start"): [], ("inner", "_start"): []}
    # The callee's own library is not the only one that may.
    os.remove(other.path)
    assert edges(record(tmp_path, chains, exe, lib, other)) == {("serve", "_start"): [], ("inner", "_start"): []}


def skipped(prog):
    return [[prog.address(a, BASE) for a in ("leaf", "top_ret")]]


def test_the_file_that_was_mapped_needs_no_build_id(tmp_path, prog):
    """perf has build-ids of binaries that samples stopped in alone, and of none where it writes to a pipe."""
    path = record(tmp_path, skipped(prog), prog, file=mapped(prog.path))
    assert list(edges(path).values()) == [[(0, "mid")]]
    *where, generation = mapped(prog.path)
    assert list(edges(record(tmp_path, skipped(prog), prog, file=(*where, 0))).values()) == [[(0, "mid")]]


@pytest.mark.parametrize("other", ["major", "minor", "inode", "generation", "none"])
def test_another_file_at_the_path_is_not_believed(tmp_path, prog, other):
    file = list(mapped(prog.path))
    if other == "none":
        file = [0, 0, 0, 0]
    else:
        file[["major", "minor", "inode", "generation"].index(other)] += 1
    assert list(edges(record(tmp_path, skipped(prog), prog, file=file)).values()) == [[]]


def test_a_file_that_is_younger_than_the_recording_is_not_believed(tmp_path):
    """Written over in place, it has the same inode and generation."""
    binary = Binary(tmp_path, "prog", CODE, "-static", "-no-pie")
    path = record(tmp_path, skipped(binary), binary, file=mapped(binary.path))
    recorded = os.stat(path).st_mtime_ns
    assert list(edges(path).values()) == [[(0, "mid")]]
    time.sleep(0.05)  # times of files are those of the kernel's ticks
    with open(binary.path, "r+b") as f:
        content = f.read()
        f.seek(0)
        f.write(content)
    os.utime(path, ns=(recorded, recorded))
    assert list(edges(path).values()) == [[]]
    os.utime(binary.path, ns=(recorded - 10**9, recorded - 10**9))  # what tar and cp -p do
    assert list(edges(path).values()) == [[]]


def test_where_the_time_of_the_recording_is_not_known_nothing_is(tmp_path, prog):
    path = record(tmp_path, skipped(prog), prog, file=mapped(prog.path))
    out = subprocess.run(f"cat {path} | {SPAA} convert - --to spaa", shell=True, capture_output=True, text=True, check=True)
    assert "x_edges" not in out.stdout


def test_views_show_what_frame_pointers_skip(tmp_path, prog):
    """Recorded with frame pointers, a function that has not pushed its frame hides its caller."""
    path = record(tmp_path, [[prog.address(a, BASE) for a in ("leaf", "top_ret")]], prog)
    top = conftest.ask("top", path)["rows"]
    assert {r["function"]: r["total_percent"] for r in top} == {"leaf": 100, "mid": 100, "top": 100}


TRUTH = """
#include <stdlib.h>
#define NI __attribute__((noinline, noclone))
static char a[1 << 16], b[1 << 16];
volatile unsigned long sink;
NI unsigned long leaf(unsigned long x) { for (int i = 0; i < 20; i++) x = x * 6364136223846793005ul + 1; return x; }
NI void leaves(int n) { unsigned long x = 1; for (int i = 0; i < n; i++) x = leaf(x); sink += x; }
NI void lengths(int n) { for (int i = 0; i < n; i++) { b[60000] = 0; sink += __builtin_strlen(b); } }
int main(void) { __builtin_memset(b, 120, sizeof b); for (int i = 0; i < 300; i++) { leaves(40000); lengths(400); sink++; } return 0; }
"""


def walked_by_pointers(regs, mask, stack):
    """What the kernel finds by frame pointers, from the registers and the stack that a sample has."""
    at = {bit: value for bit, value in zip([b for b in range(64) if mask >> b & 1], regs)}
    bp, ip, sp = at[6], at[8], at[7]
    chain = [ip]
    while sp <= bp <= sp + len(stack) - 16 and len(chain) < 127:
        bp, ret = struct.unpack_from("<QQ", stack, bp - sp)
        chain.append(ret)
    return chain


def as_if_by_pointers(data):
    """The recording of `--call-graph dwarf -e cpu-clock:u` as `--call-graph fp` would have made it of the same moments."""
    attrs, begin, size = (struct.unpack_from("<Q", data, at)[0] for at in (24, 40, 48))
    sample_type, mask = struct.unpack_from("<Q", data, attrs + 24)[0], struct.unpack_from("<Q", data, attrs + 80)[0]
    words = IP | TID | TIME | ADDR | PERIOD # of eight bytes, before the callchain; DATA_SRC may come last
    assert sample_type & ~(ADDR | DATA_SRC) == IP | TID | TIME | CALLCHAIN | PERIOD | REGS_USER | STACK_USER
    count = 8 + 8 * (sample_type & words).bit_count()
    head, out, at = bytearray(data[:begin]), bytearray(), begin
    while at < begin + size:
        kind, misc, n = struct.unpack_from("<IHH", data, at)
        record = data[at:at + n]
        at += n
        if kind == SAMPLE:
            regs = count + 8 + 8 * struct.unpack_from("<Q", record, count)[0]
            values = struct.unpack_from("<%dQ" % mask.bit_count(), record, regs + 8)
            stack = regs + 8 + 8 * len(values)
            asked = struct.unpack_from("<Q", record, stack)[0]
            filled = struct.unpack_from("<Q", record, stack + 8 + asked)[0]
            ips = [CONTEXT["user"], *walked_by_pointers(values, mask, record[stack + 8:stack + 8 + filled])]
            body = record[8:count] + struct.pack("<%dQ" % (1 + len(ips)), len(ips), *ips) + record[stack + 16 + asked:]
            record = struct.pack("<IHH", kind, misc, 8 + len(body)) + body
        out += record
    struct.pack_into("<Q", head, attrs + 24, sample_type & ~(REGS_USER | STACK_USER))
    struct.pack_into("<QI", head, attrs + 80, 0, 0)
    struct.pack_into("<Q", head, 48, len(out))
    tail = bytearray(data[begin + size:].replace(b"dwarf\0", b"fp\0\0\0\0"))
    features = sum(bin(word).count("1") for word in struct.unpack_from("<4Q", data, 72))
    for i in range(features): # where they are, which is behind the records
        where = struct.unpack_from("<Q", tail, 16 * i)[0]
        struct.pack_into("<Q", tail, 16 * i, where + len(out) - size)
    return bytes(head + out + tail)


def test_inferred_callers_are_those_that_dwarf_has(tmp_path):
    """The same samples both ways: what frame pointers skip comes back."""
    (tmp_path / "t.c").write_text(TRUTH)
    exe, dwarf, fp = (tmp_path / name for name in ("t", "dwarf", "fp"))
    subprocess.run(["gcc", "-O2", "-fno-omit-frame-pointer", "-fno-builtin-strlen", tmp_path / "t.c", "-o", exe], check=True)
    if not shutil.which("perf") or subprocess.run(
            ["perf", "record", "-q", "-F", "997", "-e", "cpu-clock:u", "--call-graph", "dwarf", "-o", dwarf, exe],
            capture_output=True, check=False).returncode:
        pytest.skip("perf cannot record here")
    fp.write_bytes(as_if_by_pointers(dwarf.read_bytes()))
    assert not [e for e in edges(dwarf).values() if e]
    assert [e for e in edges(fp).values() if (0, "leaves") in e]
    shares = [{r["function"]: float(r["total_percent"]) for r in conftest.ask("top", path, "-n", "0")["rows"]} for path in (dwarf, fp)]
    for name in ("leaf", "leaves", "lengths", "main"):
        assert abs(shares[0][name] - shares[1][name]) < 1, (name, shares)


def symbolized(tmp_path, path):
    bare, named = tmp_path / "bare.spaa", tmp_path / "named.spaa"
    subprocess.run([SPAA, "convert", path, "--no-symbols", "-o", bare], check=True, capture_output=True)
    subprocess.run([SPAA, "symbolize", bare, "-o", named], check=True, capture_output=True)
    return named


def test_symbolize_knows_the_same(tmp_path, prog):
    path = record(tmp_path, [[prog.address(a, BASE) for a in chain] for chain, _ in CASES], prog)
    read = tmp_path / "read.spaa"
    subprocess.run([SPAA, "convert", path, "-o", read], check=True, capture_output=True)
    named = symbolized(tmp_path, path)
    assert named.read_bytes() == read.read_bytes() and any(edges(named).values())
    again = tmp_path / "again.spaa"
    subprocess.run([SPAA, "symbolize", named, "-o", again], check=True, capture_output=True)
    assert edges(again) == edges(named)


@pytest.mark.parametrize("wrong, known", [(0, True), (8, False)])
def test_a_binary_proves_itself(tmp_path, prog, wrong, known):
    """Three of four return addresses stand behind calls: no other build has that."""
    path = tmp_path / "a.spaa"
    good = sorted({c[1] for c, _ in CASES if c[1].endswith("_ret")})
    rows = [("leaf", "top_ret"), *(("leaf", r) for r in good), *(("leaf", "%s+%d" % (r, 1)) for r in good[:wrong])]
    frames, stacks = {}, []
    for names in rows:
        ids = [frames.setdefault(prog.address(n, prog.vaddr), len(frames) + 1) for n in names]
        weights = [{"metric": "samples", "value": 1}]
        stacks.append({"type": "stack", "id": "s%d" % len(stacks), "frames": ids, "stack_type": "unified",
                       "context": {"event": "t"}, "weights": weights, "exclusive": {"frame": ids[0], "weights": weights}})
    header = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "other", "frame_order": "leaf_to_root", "events": [
        {"name": "t", "kind": "timer", "sampling": {"mode": "frequency", "primary_metric": "samples", "frequency_hz": 9}}],
              "stack_id_mode": "local"}
    lines = [header, {"type": "dso", "id": 1, "name": prog.path, "is_kernel": False},
             *({"type": "frame", "id": i, "func": hex(a), "func_resolved": False, "dso": 1, "ip": hex(a), "kind": "user"}
               for a, i in frames.items()), *stacks]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    named = tmp_path / "named.spaa"
    subprocess.run([SPAA, "symbolize", path, "-o", named], check=True, capture_output=True)
    assert bool([e for e in edges(named).values() if (0, "mid") in e]) == known


TWINS = CODE + """
    .macro local_fn name
    .type \\name, @function
\\name:
    .endm
local_fn twin_a
    push %rbp
    call leaf
twin_a_ret:
    pop %rbp
    ret
end twin_a
local_fn twin_b
    push %rbp
    call leaf
twin_b_ret:
    pop %rbp
    ret
end twin_b
fn calls_a
    call twin_a
calls_a_ret:
    ret
end calls_a
fn calls_b
    call twin_b
calls_b_ret:
    ret
end calls_b
"""


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """Two static functions of one name, each called from one place."""
    prog = Binary(tmp_path_factory.mktemp("twins"), "prog", TWINS, "-static", "-no-pie")
    subprocess.run(["objcopy", "--redefine-sym", "twin_b=twin", prog.path], check=True)
    subprocess.run(["objcopy", "--redefine-sym", "twin_a=twin", prog.path], check=True)
    return prog


def test_an_inferred_function_is_known_by_its_address(tmp_path, twins):
    """As other frames of it are: of two static functions of one name, each is the one that was called."""
    chains = [["leaf", "calls_a_ret"]] * 2 + [["leaf", "calls_b_ret"]] * 3 + [["twin_b+1", "calls_b_ret"]]
    path = record(tmp_path, [[twins.address(a, BASE) for a in chain] for chain in chains], twins)
    rows = ask_rows(path)
    assert sorted((r["self"], r["total"]) for r in rows if r["function"].startswith("twin")) == [(0, 2), (1, 4)]
    read, coarse = tmp_path / "read.spaa", tmp_path / "coarse.spaa"
    subprocess.run([SPAA, "convert", path, "-o", read], check=True, capture_output=True)
    assert ask_rows(read) == rows
    for line in read.read_text().splitlines():
        row = json.loads(line)
        if row.get("x_inferred"):
            assert row["x_func"]["local"] and int(row["x_func"]["start"], 16) in (twins.at["twin_a"], twins.at["twin_b"])
    assert symbolized(tmp_path, path).read_bytes() == read.read_bytes()
    for grain in ("line", "function"):
        subprocess.run([SPAA, "convert", path, "--frames", grain, "-o", coarse], check=True, capture_output=True)
        assert ask_rows(coarse) == rows


def ask_rows(path, *options):
    keys = ("function", "id", "self", "total", "samples")
    return [{k: r.get(k) for k in keys} for r in conftest.ask("top", path, "-n", "0", "--metric", "samples", *options)["rows"]]


def test_above_an_entry_nothing_is_judged(tmp_path):
    """symbolize writes no frame that no stack has: what is above the entry of a program is nobody's caller."""
    prog = Binary(tmp_path, "prog", CODE, "-static", "-no-pie")
    subprocess.run(["objcopy", "--redefine-sym", "leaf=start_thread", prog.path], check=True)
    path = record(tmp_path, [[prog.address(a, BASE) for a in ("leaf", "top_ret")]], prog)
    read = tmp_path / "read.spaa"
    subprocess.run([SPAA, "convert", path, "-o", read], check=True, capture_output=True)
    assert "x_inferred" not in read.read_text() and symbolized(tmp_path, path).read_bytes() == read.read_bytes()


def test_an_inferred_function_of_a_file_without_frames(tmp_path):
    lib = Binary(tmp_path, "libserve.so", LIBRARY, "-shared")
    exe = Binary(tmp_path, "prog", USER_OF_LIBRARY, "-pie", lib.path)
    path = record(tmp_path, [[exe.address(a, BASE) for a in ("unrelated", "start_ret")]], exe, lib)
    assert edges(path) == {("unrelated", "_start"): [(0, "BROKEN"), (0, "serve")]}
    read = tmp_path / "read.spaa"
    subprocess.run([SPAA, "convert", path, "-o", read], check=True, capture_output=True)
    assert symbolized(tmp_path, path).read_bytes() == read.read_bytes()


STARTS = """
    .text
    .macro fn name
    .globl \\name
    .type \\name, @function
\\name:
    .endm
    .macro end name
    .size \\name, . - \\name
    .balign 16
    .endm
fn exit
    hlt
end exit
fn __libc_start_call_main
    push %rax
    call *%rbx
before_ret:
    call *%rax
start_ret:
    mov %eax, %edi
    call exit
end __libc_start_call_main
fn called
    add $1, %rax
    ret
end called
fn unrelated
    add $1, %rax
    ret
end unrelated
fn gone_to
    push %rbp
    call called
    pop %rbp
    ret
end gone_to
fn MAIN
    push %rbp
    call called
    pop %rbp
    ret
end MAIN
fn MAIN.cold
    call unrelated
    jmp MAIN
end MAIN.cold
"""


def started(tmp_path, callee, ret="start_ret", main="main", ends="    ret\nend MAIN\n", name="prog"):
    text = STARTS.replace("    ret\nend MAIN\n", ends).replace("MAIN", main)
    binary = Binary(tmp_path, name, text, "-static", "-no-pie", "-Wl,-e,__libc_start_call_main")
    found = edges(record(tmp_path, [[binary.address(a, BASE) for a in (callee, ret)]], binary))
    return list(found.values())[0]


@pytest.mark.parametrize("callee, wanted", [
    ("called", [(0, "main")]), ("unrelated", [(0, "BROKEN"), (0, "main")]), ("gone_to", [(0, "BROKEN"), (0, "main")]),
    ("main", []), ("main+2", []), ("main.cold+1", [])])
def test_libc_calls_main_alone(tmp_path, callee, wanted):
    """Through a register: the code there does not say so, but exit(main()) is."""
    assert started(tmp_path, callee) == wanted


def test_what_main_goes_on_to_stands_in_its_place(tmp_path):
    """return gone_to(…), and through a pointer."""
    assert started(tmp_path, "gone_to", ends="    jmp gone_to\nend MAIN\n") == []
    assert started(tmp_path, "unrelated", ends="    jmp *%rcx\nend MAIN\n") == []
    assert started(tmp_path, "unrelated", ends="    jmp gone_to\nend MAIN\n") == [(0, "BROKEN")]


def test_other_calls_of_what_starts_programs_are_of_anything(tmp_path):
    assert started(tmp_path, "unrelated", ret="before_ret") == []


def test_without_a_main_nothing_is_known_of_what_libc_calls(tmp_path):
    assert started(tmp_path, "unrelated", main="entry") == []
    assert started(tmp_path, "unrelated", name="prog.so") == []

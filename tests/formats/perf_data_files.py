"""Perf.data files made by hand, and an independent count of what such files hold.

`Recording` writes a file or a pipe in either byte order. `count_samples` walks records with nothing but
struct, to have a second opinion on how many samples of which event are there. Run as a program it
writes the fixtures beside it: `perf_data_files.py DIRECTORY`.
"""

import collections
import os
import struct
import subprocess
import sys

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD = (1 << i for i in range(9))
STREAM_ID, RAW, BRANCH_STACK, REGS_USER, STACK_USER = (1 << i for i in range(9, 14))
WEIGHT, DATA_SRC = 1 << 14, 1 << 15
TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE, CODE_PAGE, WEIGHT_STRUCT = (1 << i for i in range(17, 25))
IDENTIFIER = 1 << 16
KERNEL, USER = 1, 2
CONTEXT = {name: (1 << 64) - n for name, n in
           dict(hv=32, kernel=128, user=512, deferred=640, guest=2048, guest_kernel=2176, guest_user=2560).items()}
MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST_SAMPLES = 1, 2, 3, 4, 7, 9, 10, 13
KSYMBOL, DEFERRED = 17, 22
ATTR, TRACING_DATA, BUILD_ID, ROUND, AUXTRACE, UPDATE, FEATURE = 64, 66, 67, 68, 71, 78, 80
COMPRESSED, COMPRESSED2 = 81, 83


def pad8(b):
    return b + b"\0" * (-len(b) % 8)


class Recording:
    """One event per entry of `events`: (type, config, sample_type, options)."""

    def __init__(self, events, big=False, pipe=False, attr_size=128):
        self.order, self.big, self.pipe, self.attr_size = "><"[not big], big, pipe, attr_size
        self.events, self.body, self.features = events, b"", {}
        if pipe:
            for i in range(len(events)):
                self.record(ATTR, 0, self.attr(i) + self.pack("Q", 100 + i))

    def pack(self, fmt, *values):
        return struct.pack(self.order + fmt, *values)

    def attr(self, i):
        kind, config, sample_type, more = self.events[i]
        bits = {18: more.get("id_all", True), 10: "freq" in more, 25: "clockid" in more}
        flags = sum(1 << (63 - b if self.big else b) for b, on in bits.items() if on)
        period = more.get("freq", more.get("period", 1))
        out = self.pack("IIQQQQQ", kind, self.attr_size, config, period, sample_type, more.get("read", 0), flags)
        out += b"\0" * 24 + self.pack("QQIi", more.get("branch", 0), more.get("regs", 0), more.get("stack", 0),
                                      more.get("clockid", 0)) + b"\0" * 64
        return out[: self.attr_size] + b"\0" * (self.attr_size - len(out))

    def record(self, kind, misc, body, trailer=b""):
        self.body += self.pack("IHH", kind, misc, 8 + len(body) + len(trailer)) + body + trailer

    def trailer(self, pid, tid, time, event=0):
        """The sample_id of records that are no samples."""
        t = self.events[event][2]
        out = b""
        for bit, fmt, values in ((TID, "ii", (pid, tid)), (TIME, "Q", (time,)), (ID, "Q", (100 + event,)),
                                 (STREAM_ID, "Q", (0,)), (CPU, "II", (0, 0)), (IDENTIFIER, "Q", (100 + event,))):
            if t & bit:
                out += self.pack(fmt, *values)
        return out

    def comm(self, pid, tid, name, time=0, exec_=False):
        body = self.pack("ii", pid, tid) + pad8(name + b"\0")
        self.record(COMM, 1 << 13 if exec_ else 0, body, self.trailer(pid, tid, time))

    def fork(self, pid, ppid, tid, ptid, time=0, made_up=False):
        body = self.pack("iiiiQ", pid, ppid, tid, ptid, time)
        self.record(FORK, 1 << 13 if made_up else 0, body, self.trailer(pid, tid, time))

    def mmap(self, pid, start, length, pgoff, name, time=0, misc=USER):
        body = self.pack("iiQQQ", pid, pid, start, length, pgoff) + pad8(name + b"\0")
        self.record(MMAP, misc, body, self.trailer(pid, pid, time))

    def mmap2(self, pid, start, length, pgoff, name, time=0, build_id=b"", misc=USER, file=(8, 1, 77, 0)):
        ids = self.pack("B3x20s", len(build_id), build_id) if build_id else self.pack("IIQQ", *file)
        body = self.pack("iiQQQ", pid, pid, start, length, pgoff) + ids + self.pack("II", 5, 2) + pad8(name + b"\0")
        self.record(MMAP2, misc | (1 << 14 if build_id else 0), body, self.trailer(pid, pid, time))

    def kernel(self, text=0xFFFFFFFF81000000, name=b"[kernel.kallsyms]_text"):
        self.mmap(-1, text, 0x1000000, text, name, misc=KERNEL)

    def sample(self, chain=None, ip=None, pid=10, tid=10, time=0, cpu=0, period=1, event=0, misc=USER, tail=b"",
               read=b"", raw=None, addr=0):
        t = self.events[event][2]
        if ip is None:
            ip = next((v for v in chain or [] if v < (1 << 64) - 4095), 0)
        out = b""
        for bit, fmt, values in ((IDENTIFIER, "Q", (100 + event,)), (IP, "Q", (ip,)), (TID, "ii", (pid, tid)),
                                 (TIME, "Q", (time,)), (ADDR, "Q", (addr,)), (ID, "Q", (100 + event,)),
                                 (STREAM_ID, "Q", (0,)), (CPU, "II", (cpu, 0)), (PERIOD, "Q", (period,))):
            if t & bit:
                out += self.pack(fmt, *values)
        out += read
        if t & CALLCHAIN:
            out += self.pack(f"Q{len(chain)}Q", len(chain), *chain)
        if t & RAW:
            out += pad8(self.pack("I", len(raw)) + raw + b"\0" * (-(4 + len(raw)) % 8))
        self.record(SAMPLE, misc, out + tail)

    def text(self, s):
        s = s + b"\0"
        s += b"\0" * (-len(s) % 64)
        return self.pack("I", len(s)) + s

    def describe(self, names):
        """HEADER_EVENT_DESC with these names."""
        out = self.pack("II", len(names), self.attr_size)
        for i, name in enumerate(names):
            out += self.attr(i) + self.pack("I", 1) + self.text(name) + self.pack("Q", 100 + i)
        self.features[12] = out

    def bytes(self, data_size=None):
        magic = b"2ELIFREP" if self.big else b"PERFILE2"
        if self.pipe:
            return magic + self.pack("Q", 16) + self.body
        entry, ids_at = self.attr_size + 16, 104
        attrs_at = ids_at + 8 * len(self.events)
        ids = b"".join(self.pack("Q", 100 + i) for i in range(len(self.events)))
        attrs = b"".join(self.attr(i) + self.pack("QQ", ids_at + 8 * i, 8) for i in range(len(self.events)))
        data_at = attrs_at + len(attrs)
        size = len(self.body) if data_size is None else data_size
        bits = sum(1 << b for b in self.features)
        flags = [bits >> 64 * i & (1 << 64) - 1 for i in range(4)]
        head = magic + self.pack("QQQQQQQQ", 104, entry, attrs_at, len(attrs), data_at, size, 0, 0)
        head += self.pack("QQQQ", *flags)
        at = data_at + len(self.body) + 16 * len(self.features)
        table = b""
        for bit in sorted(self.features):
            table += self.pack("QQ", at, len(self.features[bit]))
            at += len(self.features[bit])
        return head + ids + attrs + self.body + table + b"".join(self.features[b] for b in sorted(self.features))


def simple(big=False, pipe=False, **more):
    """Two threads, a library mapped anew, kernel and user frames, every kind of marker."""
    r = Recording([(1, 0, IP | TID | TIME | CALLCHAIN | CPU | PERIOD, {"freq": 99})], big, pipe, **more)
    r.kernel()
    r.mmap(-1, 0xFFFFFFFFC0000000, 0x10000, 0, b"/lib/modules/6.1/kernel/net/snd-net.ko.xz", misc=KERNEL)
    r.comm(10, 10, b"main prog", 1000)
    r.mmap2(10, 0x400000, 0x1000, 0, b"/opt/app/prog", 1000, bytes(range(1, 21)))
    r.mmap(10, 0x7F0000000000, 0x4000, 0x2000, b"/opt/app/lib one.so (deleted)", 1100)
    r.mmap(10, 0x7FFF00000000, 0x1000, 0, b"[vdso]", 1100)
    r.mmap(10, 0x500000, 0x1000, 0, b"//anon", 1100)
    r.fork(10, 10, 11, 10, 1500)
    r.comm(10, 11, b"worker", 1600)
    u, k = CONTEXT["user"], CONTEXT["kernel"]
    r.sample([u, 0x400010, 0x400020, 0x7F0000000010], time=2000, period=5)
    r.sample([u, 0x400010, 0x400020, 0x7F0000000010], time=2100, period=6)
    r.sample([k, 0xFFFFFFFF81000100, 0xFFFFFFFFC0000040, u, 0x7FFF00000020, 0x500004, 0x9999], tid=11, time=2200,
             cpu=1, period=7, misc=KERNEL)
    r.mmap(10, 0x7F0000001000, 0x1000, 0, b"/opt/app/two.so", 3000)
    r.sample([u, 0x7F0000000010, 0x7F0000001010, 0x7F0000002010], time=3100, period=8)
    r.sample([u, 0x7F0000001010], time=2900, period=9)
    r.sample([CONTEXT["guest_kernel"], 0xFFFFFFFF81000100, CONTEXT["guest_user"], 0x400010], time=3200, period=1)
    r.sample([CONTEXT["hv"], 0x1234], time=3300, period=1)
    r.record(LOST, 0, r.pack("QQ", 100, 3), r.trailer(10, 10, 3400))
    if not pipe:
        r.describe([b"cpu-clock:u"])
        r.features.update({3: r.text(b"host one"), 4: r.text(b"6.1.0"), 5: r.text(b"6.1"), 6: r.text(b"x86_64"),
                           7: r.pack("II", 4, 2), 11: r.pack("I", 2) + r.text(b"perf") + r.text(b"record -a"),
                           29: r.pack("IIQQ", 1, 1, 1700000000000000000, 2000)})
    return r


def rich():
    """A copied stack, a branch stack, what stands behind them, a tracepoint, a throttled event, a topology."""
    first = IP | TID | TIME | ADDR | CALLCHAIN | PERIOD | BRANCH_STACK | REGS_USER | STACK_USER | WEIGHT_STRUCT | DATA_SRC
    r = Recording([(4, 0x1CD, first | IDENTIFIER, {"period": 1000, "branch": 1 << 3, "regs": 0xFF0FFF, "stack": 64}),
                   (2, 372, IP | TID | TIME | CPU | PERIOD | RAW | IDENTIFIER, {})])
    r.kernel()
    r.comm(10, 10, b"prog", 1000)
    r.mmap2(10, 0x400000, 0x10000, 0, b"/opt/app/prog", 1000)
    r.mmap(10, 0x500000, 0x1000, 0, b"//anon", 1000)
    for i in range(2):
        tail = r.pack("Q", 1) + r.pack("QQQ", 0x400010, 0x400020, 5 << 4 | 1 + i)
        regs = {6: 0x7FFE00000010, 7: 0x7FFE00000000, 8: 0x500010}  # bp, sp, ip
        tail += r.pack("Q", 2) + b"".join(r.pack("Q", regs.get(b, 0)) for b in range(24) if 0xFF0FFF >> b & 1)
        stack = r.pack("QQQQ", 1, 2, 0x7FFE00000100 if i else 0, 0x500020)
        tail += r.pack("Q", 64) + stack.ljust(64, b"\0") + r.pack("Q", 64)
        tail += r.pack("QQ", 3 << 48 | 21 << 32 | 123, 1 << 1 | 10 << 5 | 1 << 20)
        r.sample([CONTEXT["kernel"], 0xFFFFFFFF81000100], time=2000 + i, period=1000, addr=0x7F00DEAD0000, tail=tail,
                 misc=KERNEL)
    r.sample(ip=0x400010, time=2100, event=1, raw=r.pack("HBBi", 372, 0, 0, 9) + b"worker".ljust(16, b"\0"))
    r.record(5, 0, r.pack("QQQ", 2_000_000, 100, 7), r.trailer(10, 10, 2_000_000))
    r.record(6, 0, r.pack("QQQ", 502_000_000, 100, 7), r.trailer(10, 10, 502_000_000))
    r.record(19, 0, r.pack("Q", 77) + pad8(b"/system.slice/x\0"))
    text = b"name: thing\nID: 372\nformat:\n\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\nprint fmt: \n"
    trace = bytes([23, 8, 68]) + b"tracing0.6\0\0\x08" + r.pack("I", 4096)
    trace += b"header_page\0" + r.pack("Q", 0) + b"header_event\0" + r.pack("Q", 0)
    trace += r.pack("I", 0) + r.pack("I", 1) + b"sys\0" + r.pack("I", 1) + r.pack("Q", len(text)) + text
    r.describe([b"mem-loads", b"sys:thing"])

    def short(s):
        return r.pack("I", len(s) + 1) + s + b"\0"

    r.features.update({1: trace, 6: short(b"x86_64"), 7: r.pack("II", 1, 1),
                       13: r.pack("I", 1) + short(b"0") + r.pack("I", 1) + short(b"0") + r.pack("II", 0, 0),
                       14: r.pack("IIQQ", 1, 0, 1000, 400) + short(b"0"), 16: r.pack("II", 1, 4) + short(b"cpu")})
    return r


def memory():
    """What is in no file: a memfd, a BPF program, code that the kernel made, losses told twice; this host's names."""
    r = Recording([(1, 0, IP | TID | TIME | CALLCHAIN | PERIOD | IDENTIFIER, {"freq": 99, "read": 16})])
    r.features.update({3: r.text(b"host"), 4: r.text(b"6.1.0")})
    r.kernel()
    for at, kind, name in ((0xFFFFFFFFC1000000, 1, b"bpf_prog_1_f"), (0xFFFFFFFFC2000000, 2, b"ftrace_trampoline")):
        r.record(KSYMBOL, 0, r.pack("QIHH", at, 64, kind, 0) + pad8(name + b"\0"), r.trailer(0, 0, 0))
    r.comm(10, 10, b"memfd:my exe", 1000)
    r.mmap(10, 0x400000, 0x2000, 0x1000, b"/memfd:my exe (deleted)", 1000)
    k, u = CONTEXT["kernel"], CONTEXT["user"]
    r.sample([k, 0xFFFFFFFFC1000010, 0xFFFFFFFFC2000008, 0xFFFFFFFF81000100, u, 0x400010], time=2000, misc=KERNEL)
    r.sample([u, 0x400020], time=2001)
    r.record(LOST, 0, r.pack("QQ", 100, 2), r.trailer(10, 10, 2002))
    r.record(LOST_SAMPLES, 0, r.pack("Q", 3), r.trailer(0, 0, 0))
    return r


LBR_BASE = 0x400000
BRANCH_TYPES = dict(cond=1, uncond=2, call=4, ret=6, syscall=7, sysret=8)


def branches(r, *entries, hw_idx=None):
    """A branch stack of (from, to, type) or (from, to), newest first."""
    out = r.pack("Q", len(entries)) + (b"" if hw_idx is None else r.pack("Q", hw_idx))
    for source, target, *kind in entries:
        kind = BRANCH_TYPES[kind[0]] if kind else 0
        out += r.pack("QQQ", source, target, 1 << 62 | kind << 40 if r.big else 1 << 1 | kind << 20)
    return out


def lbr(big=False):
    """Call stacks of the processor: user code, the kernel called by it, a kernel thread; with frame pointers that
    lead nowhere, as in code built without them. leaf 0x1000, work 0x1100, deep 0x1200, start 0x1300 of elf_cfi."""
    r = Recording([(0, 0, IP | TID | TIME | CALLCHAIN | PERIOD | BRANCH_STACK | IDENTIFIER,
                    {"freq": 99, "branch": 1 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 17})], big)
    r.features[6] = r.text(b"x86_64")
    r.kernel()
    r.comm(10, 10, b"prog", 1000)
    r.mmap2(10, LBR_BASE, 0x10000, 0, b"/opt/prog", 1000)
    r.comm(2, 2, b"kthreadd", 1000)
    u, k, at = CONTEXT["user"], CONTEXT["kernel"], LBR_BASE
    calls = [(at + 0x1120, at + 0x1000), (at + 0x1240, at + 0x1100), (at + 0x1300, at + 0x1200)]
    tail = branches(r, *calls, hw_idx=0)
    r.sample([u, at + 0x1010], time=2000, tail=tail)
    r.sample([u, at + 0x1018, 0x1234], time=2001, tail=tail)
    r.sample([k, 0xFFFFFFFF81000100, 0xFFFFFFFF81000200, u, at + 0x1020], time=2002, misc=KERNEL, tail=tail)
    r.sample([k, 0xFFFFFFFF81000300], pid=2, tid=2, time=2003, misc=KERNEL, tail=tail)
    r.sample([u, at + 0x1310, at + 0x1410], time=2004, tail=branches(r, hw_idx=0))
    return r


SWITCH_FIELDS = ((b"char prev_comm[16]", 8, 16, 0), (b"pid_t prev_pid", 24, 4, 1), (b"int prev_prio", 28, 4, 1),
                 (b"long prev_state", 32, 8, 1), (b"char next_comm[16]", 40, 16, 0))
SWITCH = b"name: sched_switch\nID: 315\nformat:\n" + b"".join(
    b"\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % f for f in SWITCH_FIELDS) + b"\nprint fmt: \n"


def switches(big=False, formats=False):
    """Threads that leave the CPU for every reason; one that is on it; the idle task."""
    r = Recording([(2, 315, IP | TID | TIME | CALLCHAIN | PERIOD | RAW | IDENTIFIER, {}),
                   (0, 0, IP | TID | TIME | CALLCHAIN | PERIOD | IDENTIFIER, {"freq": 99})], big)
    r.describe([b"sched:sched_switch", b"cycles"])
    if formats:
        r.features[1] = (bytes([23, 8, 68]) + b"tracing0.6\0" + bytes([big, 8]) + r.pack("I", 4096) + b"header_page\0" +
                         r.pack("Q", 0) + b"header_event\0" + r.pack("Q", 0) + r.pack("II", 0, 1) + b"sched\0" +
                         r.pack("I", 1) + r.pack("Q", len(SWITCH)) + SWITCH)
    r.comm(10, 10, b"prog", 1000)
    r.mmap2(10, 0x400000, 0x10000, 0, b"/opt/prog", 1000)
    for i, state in enumerate((0, 0x100, 1, 2, 4, 8, 0x10, 0x40, 0x80, 0x402, 0x101)):
        raw = r.pack("HBBi", 315, 0, 0, 10) + b"prog".ljust(16, b"\0") + r.pack("iiQ", 10, 120, state) + b"next".ljust(16, b"\0")
        r.sample([CONTEXT["user"], 0x400010 + i], time=2000 + i, raw=raw)
    raw = r.pack("HBBi", 315, 0, 0, 0) + b"swapper".ljust(16, b"\0") + r.pack("iiQ", 0, 120, 0) + b"prog".ljust(16, b"\0")
    r.sample([CONTEXT["user"], 0x400100], pid=0, tid=0, time=3000, raw=raw)
    r.sample([CONTEXT["user"], 0x400200], time=3001, event=1)
    r.sample([CONTEXT["user"], 0x400300], pid=0, tid=0, time=3002, event=1)
    r.sample([CONTEXT["user"], 0x400400], time=3003, raw=raw[:20])
    return r


# ---- counting -------------------------------------------------------------------------------------


def zstd(data):
    return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=False).stdout


class Counter:
    def __init__(self, data):
        self.data, self.order = data, "<" if data[:8] == b"PERFILE2" else ">"
        self.attrs, self.ids, self.packed = [], {}, []
        self.samples = collections.Counter()

    def get(self, fmt, at):
        return struct.unpack_from(self.order + fmt, self.data, at)

    def add_attr(self, at, size, ids):
        kind, _, config, _, sample_type = self.get("IIQQQ", at)
        self.attrs.append((kind, config, sample_type))
        for i in ids:
            self.ids[i] = len(self.attrs) - 1

    def run(self):
        header, attr_size, attrs_at, attrs_size, start, size = self.get("QQQQQQ", 8) if len(self.data) > 56 else (0,) * 6
        if header == 16:
            start, end = 16, len(self.data)
        else:
            for at in range(attrs_at, attrs_at + attrs_size, attr_size):
                ids_at, ids_size = self.get("QQ", at + attr_size - 16)
                self.add_attr(at, attr_size - 16, self.get(f"{ids_size // 8}Q", ids_at))
            end = min(len(self.data), start + size) if size else len(self.data)
        self.walk(self.data, start, end)
        if self.packed:
            plain = zstd(b"".join(self.packed))
            self.walk(plain, 0, len(plain))
        return self

    def walk(self, data, at, end):
        while at + 8 <= end:
            kind, _, size = struct.unpack_from(self.order + "IHH", data, at)
            if size < 8 or at + size > end:
                self.stopped = at
                return
            body = data[at + 8 : at + size]
            if kind == ATTR:
                attr_size = struct.unpack_from(self.order + "I", body, 4)[0]
                rest = body[attr_size:]
                self.add_attr(at + 8, attr_size, struct.unpack(f"{self.order}{len(rest) // 8}Q", rest))
            elif kind == SAMPLE:
                self.sample(body)
            elif kind == COMPRESSED:
                self.packed.append(body)
            elif kind == COMPRESSED2:
                n = struct.unpack_from(self.order + "Q", body)[0]
                self.packed.append(body[8 : 8 + n])
            elif kind == AUXTRACE:
                at += struct.unpack_from(self.order + "Q", body)[0]
            elif kind == TRACING_DATA:
                at += struct.unpack_from(self.order + "I", body)[0] + 7 & ~7
            at += size

    def sample(self, body):
        sample_type, index = self.attrs[0][2], 0
        if sample_type & IDENTIFIER:
            index = 0
        elif sample_type & ID:
            index = bin(sample_type & (IP | TID | TIME | ADDR)).count("1")
        elif len(self.attrs) > 1:
            raise ValueError("no ids")
        else:
            index = None
        attr = 0
        if index is not None:
            attr = self.ids.get(struct.unpack_from(self.order + "Q", body, 8 * index)[0], 0)
        self.samples[attr] += 1


def count_samples(data):
    """Samples by the number of their attribute."""
    return Counter(data).run().samples


def write_fixtures(folder):
    files = {"little.perf.data": simple(), "big.perf.data": simple(big=True), "pipe.perf.data": simple(pipe=True),
             "old-attr.perf.data": simple(attr_size=64), "rich.perf.data": rich(),
             "memory.perf.data": memory(), "lbr.perf.data": lbr(), "lbr-big.perf.data": lbr(big=True),
             "switch.perf.data": switches(big=True, formats=True)}
    for name, recording in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(recording.bytes())


if __name__ == "__main__":
    write_fixtures(sys.argv[1])

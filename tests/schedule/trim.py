#!/usr/bin/env python3
"""A recording without other people's business, small enough to ship: trim.py IN.data OUT.data PID...

Of processes that are not descended from PID... go: their mappings and names, the user half of their stacks, what
they forked and executed; their threads are called "other". Every switch and waking stays: what a CPU did has no
gap. The header keeps what is needed to read the events. Made for what record.py makes; needs the machine's tracefs.
"""

import re
import struct
import sys
from pathlib import Path

SAMPLE, MMAP, COMM, EXIT, FORK, MMAP2, KSYMBOL, BPF, CGROUP = 9, 1, 3, 4, 7, 10, 17, 18, 19
TRACING_DATA, EVENT_DESC, SAMPLE_TIME, CLOCK_DATA = 1, 12, 21, 29  # features that stay
CLOCKID = 23
USER = 2**64 - 512
# bits of sample_type before the stack: IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD, 8 bytes each
BEFORE_STACK = (0x10000, 1, 2, 4, 8, 0x40, 0x200, 0x80, 0x100)
CALLCHAIN, RAW = 0x20, 0x400
EVENTS = Path("/sys/kernel/tracing/events/sched")


def fields(event: str) -> dict[str, tuple[int, int]]:
    out = {}
    for line in (EVENTS / event / "format").read_text().splitlines():
        if line.strip().startswith("field:"):
            decl, offset, size = [part.split(":")[1] for part in line.strip().split(";")[:3]]
            out[decl.split()[-1].split("[")[0]] = (int(offset), int(size))
    return out


def tracepoints() -> dict[int, tuple[str, dict]]:
    return {int((d / "id").read_text()): (d.name, fields(d.name)) for d in EVENTS.iterdir() if (d / "id").exists()}


def without_names(tracing: bytes) -> bytes:
    """Its end lists the names of threads that the machine had."""
    at = tracing.rindex(b"\0") + 1
    return tracing[:at] + re.sub(rb"(?m)^(\d+ )(.*)$", lambda m: m[1] + b"o" * len(m[2]), tracing[at:])


class Trim:
    def __init__(self, data: bytes, pids: set[int]):
        self.data = data
        self.ours = pids
        self.tids = set(pids)
        self.points = tracepoints()
        magic, self.size, self.attr_size, *rest = struct.unpack_from("<8sQQQQQQQQ4Q", data, 0)
        self.attrs, self.body, self.features = (rest[0], rest[1]), (rest[2], rest[3]), rest[6:10]
        self.types = {}  # id of event: sample_type
        for at in range(self.attrs[0], sum(self.attrs), self.attr_size):
            sample_type = struct.unpack_from("<Q", data, at + 24)[0]
            ids_at, ids_size = struct.unpack_from("<QQ", data, at + self.attr_size - 16)
            for i in range(ids_at, ids_at + ids_size, 8):
                self.types[struct.unpack_from("<Q", data, i)[0]] = sample_type

    def records(self):
        at, end = self.body[0], sum(self.body)
        while at < end:
            kind, _, size = struct.unpack_from("<IHH", self.data, at)
            yield kind, self.data[at : at + size]
            at += size

    def family(self) -> None:
        for kind, r in self.records():
            if kind == FORK:
                pid, parent, tid, _ = struct.unpack_from("<iiii", r, 8)
                if parent in self.ours:
                    self.ours.add(pid)
                    self.tids.add(tid)

    def sample(self, r: bytes) -> bytes:
        only = next(iter(self.types.values()))  # of one event, samples need not say which
        sample_type = self.types[struct.unpack_from("<Q", r, 8)[0]] if only & 0x10000 else only
        pid = struct.unpack_from("<i", r, 24 if only & 0x10000 else 16)[0]
        at = 8 + 8 * sum(bool(sample_type & bit) for bit in BEFORE_STACK)
        out = r[8:at]
        if sample_type & CALLCHAIN:
            n = struct.unpack_from("<Q", r, at)[0]
            chain = list(struct.unpack_from(f"<{n}Q", r, at + 8))
            at += 8 + 8 * n
            if pid not in self.ours and USER in chain:
                chain = chain[: chain.index(USER)]
            out += struct.pack(f"<{len(chain) + 1}Q", len(chain), *chain)
        raw = self.raw(r[at:]) if sample_type & RAW else r[at:]
        if raw is None:
            return b""
        out += raw
        return r[:6] + struct.pack("<H", 8 + len(out)) + out

    def raw(self, raw: bytes) -> bytes | None:
        payload = bytearray(raw)
        point, f = self.points[struct.unpack_from("<H", raw, 4)[0]]

        def number(name: str) -> int:
            return struct.unpack_from("<i", raw, 4 + f[name][0])[0]

        if point in ("sched_process_fork", "sched_process_exec", "sched_process_exit"):
            whose = "parent_pid" if "parent_pid" in f else "pid"
            return raw if number(whose) in self.tids else None
        for comm, pid in (("comm", "pid"), ("prev_comm", "prev_pid"), ("next_comm", "next_pid")):
            if f.get(comm, (0, 0))[1] == 16 and number(pid) and number(pid) not in self.tids:
                at = 4 + f[comm][0]
                payload[at : at + 16] = b"other".ljust(16, b"\0")
        return bytes(payload)

    def kept(self) -> bytes:
        out = []
        for kind, r in self.records():
            pid = struct.unpack_from("<i", r, 8)[0] if len(r) >= 12 else 0
            if kind == SAMPLE:
                out.append(self.sample(r))
            elif kind in (MMAP, MMAP2, COMM, FORK, EXIT):
                if pid in self.ours or (kind in (MMAP, MMAP2) and pid in (-1, 0) and b"kernel" in r):
                    out.append(r)
            elif kind not in (KSYMBOL, BPF, CGROUP):
                out.append(r)
        return b"".join(out)

    def whole(self) -> bytes:
        self.family()
        body = self.kept()
        table, parts, bits = sum(self.body), [], 0
        number = 0
        for bit in range(256):
            if not self.features[bit // 64] >> bit % 64 & 1:
                continue
            at, size = struct.unpack_from("<QQ", self.data, table + 16 * number)
            number += 1
            if bit in (TRACING_DATA, EVENT_DESC, SAMPLE_TIME, CLOCKID, CLOCK_DATA):
                bits |= 1 << bit
                part = self.data[at : at + size]
                parts.append(without_names(part) if bit == TRACING_DATA else part)
        head = bytearray(self.data[: self.body[0]])
        struct.pack_into("<Q", head, 8 + 8 + 8 + 16 + 8, len(body))
        struct.pack_into("<4Q", head, 72, *(bits >> 64 * i & 2**64 - 1 for i in range(4)))
        at = len(head) + len(body) + 16 * len(parts)
        sections = b""
        for p in parts:
            sections += struct.pack("<QQ", at, len(p))
            at += len(p)
        return bytes(head) + body + sections + b"".join(parts)


def main() -> int:
    source, to, *pids = sys.argv[1:]
    Path(to).write_bytes(Trim(Path(source).read_bytes(), set(map(int, pids))).whole())
    return 0


if __name__ == "__main__":
    sys.exit(main())

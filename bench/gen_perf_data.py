#!/usr/bin/env python3
"""Writes a perf.data of N samples with callchains, the same bytes for the same arguments and ELF file.

Three threads of one process run code of one real ELF file (libc unless told otherwise): 1,500 distinct
addresses inside its functions form 1,616 distinct stacks of 16 to 30 frames, some much hotter than
others. The file is valid for perf itself (`perf report`, `perf script`), so that the two can be compared.

    gen_perf_data.py OUT [--samples N] [--elf FILE] [--seed S] [--stacks N] [--depth MIN MAX]
"""

import argparse
import os
import random
import struct

ADDRESSES = 1500
PID, TIDS, COMMS = 4000, (4001, 4002, 4003), (b"parser", b"hasher", b"writer")
LOAD_AT = 0x7F0000000000
START_NS, STEP_NS, PERIOD_NS = 1_000_000_000_000, 334_336, 1_003_009
CONTEXT_USER = (1 << 64) - 512
IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
ROUND = 4096  # samples between FINISHED_ROUND records


def default_elf():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if "/libc.so" in path or "/libc-" in path:
                return os.path.realpath(path)
    return "/bin/sh"


class Elf:
    """The executable segment, the functions and the build-id of a 64-bit little-endian ELF file."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise SystemExit(f"{path}: not a 64-bit little-endian ELF file")
        phoff, shoff = struct.unpack_from("<QQ", self.data, 32)
        phentsize, phnum, shentsize, shnum = struct.unpack_from("<HHHH", self.data, 54)
        self.segments, self.build_id = [], b""
        for i in range(phnum):
            kind, flags, offset, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", self.data, phoff + i * phentsize)
            if kind == 1 and flags & 1:
                self.segments.append((offset, vaddr, filesz))
            elif kind == 4:
                self.find_build_id(offset, filesz)
        self.functions = []
        for i in range(shnum):
            _, kind, _, _, offset, size, _, _, _, entry = struct.unpack_from("<IIQQQQIIQQ", self.data, shoff + i * shentsize)
            if kind in (2, 11):
                self.read_symbols(offset, size, entry)
        self.functions = sorted(set(self.functions))

    def find_build_id(self, offset, size):
        end = offset + size
        while offset + 12 <= end:
            name, desc, kind = struct.unpack_from("<III", self.data, offset)
            at = offset + 12 + (name + 3 & ~3)
            if kind == 3 and self.data[offset + 12 : offset + 16] == b"GNU\0":
                self.build_id = self.data[at : at + desc]
            offset = at + (desc + 3 & ~3)

    def read_symbols(self, offset, size, entry):
        for at in range(offset, offset + size, entry):
            _, info, _, section, value, length = struct.unpack_from("<IBBHQQ", self.data, at)
            if info & 15 == 2 and section and length > 8:
                self.functions.append((value, length))

    def file_offset(self, vaddr):
        for offset, start, size in self.segments:
            if start <= vaddr < start + size:
                return offset + vaddr - start
        return None


def pad8(b):
    return b + b"\0" * (-len(b) % 8)


def text(s):
    s = s + b"\0"
    s += b"\0" * (-len(s) % 64)
    return struct.pack("<I", len(s)) + s


def record(kind, misc, body, trailer=b""):
    return struct.pack("<IHH", kind, misc, 8 + len(body) + len(trailer)) + body + trailer


def pick_addresses(elf, rng):
    """Runtime addresses inside functions, and the map they lie in."""
    offset, vaddr, size = max(elf.segments, key=lambda s: s[2])
    page = offset & ~4095
    inside = [(v, n) for v, n in elf.functions if vaddr <= v and v + n <= vaddr + size]
    found = set()
    while len(found) < ADDRESSES:
        if inside:
            start, length = rng.choice(inside)
            at = start + rng.randrange(4, length)
        else:
            at = vaddr + rng.randrange(size)
        found.add(LOAD_AT + elf.file_offset(at) - page)
    length = (offset - page + size + 4095) & ~4095
    return sorted(found), (LOAD_AT, length, page)


def make_stacks(addresses, count, depth, rng):
    """Distinct stacks that share their roots, as those of real programs do."""
    stacks, seen = [], set()
    while len(stacks) < count:
        base = list(rng.choice(stacks)) if stacks and rng.random() < 0.8 else []
        want = rng.randint(*depth)
        stack = base[: rng.randint(0, len(base))][: want - 1]
        while len(stack) < want:
            stack.append(rng.choice(addresses))
        if tuple(stack) not in seen:
            seen.add(tuple(stack))
            stacks.append(tuple(stack))
    return stacks


def attr_bytes():
    sample_type = IP | TID | TIME | CALLCHAIN | PERIOD
    # inherit, mmap, comm, freq, task, sample_id_all, mmap2, comm_exec
    flags = 1 << 1 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24
    return struct.pack("<IIQQQQQ", 1, 128, 0, 997, sample_type, 0, flags) + b"\0" * (128 - 48)


def side_band(path, elf, where):
    trailer = lambda tid: struct.pack("<iiQ", PID, tid, START_NS - 1000)
    out = []
    for tid, comm in zip((PID,) + TIDS, (b"bench",) + COMMS):
        if tid != PID:
            out.append(record(7, 0, struct.pack("<iiiiQ", PID, PID, tid, PID, START_NS - 1000), trailer(tid)))
        out.append(record(3, 0, struct.pack("<ii", PID, tid) + pad8(comm + b"\0"), trailer(tid)))
    start, length, page = where
    name = pad8(os.fsencode(path) + b"\0")
    ids = struct.pack("<B3x20s", len(elf.build_id), elf.build_id[:20])
    body = struct.pack("<iiQQQ", PID, PID, start, length, page) + ids + struct.pack("<II", 5, 2) + name
    out.append(record(10, 2 | (1 << 14 if elf.build_id else 0), body, trailer(PID)))
    return b"".join(out)


def write_samples(f, stacks, count, rng):
    """Heads and chains are packed once per stack and thread; a sample adds time and period."""
    pieces = []
    for i, stack in enumerate(stacks):
        tid = TIDS[i % len(TIDS)]
        chain = struct.pack(f"<QQ{len(stack)}Q", len(stack) + 1, CONTEXT_USER, *reversed(stack))
        size = 8 + 16 + 8 + 8 + len(chain)
        head = struct.pack("<IHHQii", 9, 2, size, stack[-1], PID, tid)
        pieces.append((head, chain))
    weights = [1 / (i + 1) ** 0.8 for i in range(len(stacks))]
    rng.shuffle(weights)
    middle, written = struct.Struct("<QQ"), 0
    round_end = record(68, 0, b"")
    for start in range(0, count, ROUND):
        out = []
        for n, (head, chain) in enumerate(rng.choices(pieces, weights, k=min(ROUND, count - start)), start):
            out += (head, middle.pack(START_NS + n * STEP_NS, PERIOD_NS), chain)
        out.append(round_end)
        data = b"".join(out)
        f.write(data)
        written += len(data)
    return written


def features(path, elf, count):
    """Feature bits and their sections, in order."""
    build_id = struct.pack("<i20sB3x", PID, elf.build_id[:20], len(elf.build_id)) + pad8(os.fsencode(path) + b"\0")
    event = struct.pack("<II", 1, 128) + attr_bytes() + struct.pack("<I", 0) + text(b"cpu-clock")
    args = [b"perf", b"record", b"-e", b"cpu-clock", b"-g", b"bench"]
    end = START_NS + (count - 1) * STEP_NS
    return {
        2: record(67, 2 | 1 << 15, build_id),
        3: text(b"bench"),
        4: text(b"6.1.0"),
        5: text(b"6.1.0"),
        6: text(b"x86_64"),
        7: struct.pack("<II", 2, 2),
        11: struct.pack("<I", len(args)) + b"".join(map(text, args)),
        12: event,
        21: struct.pack("<QQ", START_NS, end),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--elf", default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stacks", type=int, default=1616)
    parser.add_argument("--depth", type=int, nargs=2, default=(16, 30))
    args = parser.parse_args()
    path = args.elf or default_elf()
    elf, rng = Elf(path), random.Random(args.seed)
    addresses, where = pick_addresses(elf, rng)
    stacks = make_stacks(addresses, args.stacks, args.depth, rng)
    sections = features(path, elf, args.samples)
    attrs_at, entry = 104, 128 + 16
    data_at = attrs_at + entry
    with open(args.out, "wb") as f:
        f.write(b"\0" * attrs_at + attr_bytes() + struct.pack("<QQ", 0, 0))
        side = side_band(path, elf, where)
        f.write(side)
        size = len(side) + write_samples(f, stacks, args.samples, rng)
        at = data_at + size + 16 * len(sections)
        for section in sections.values():
            f.write(struct.pack("<QQ", at, len(section)))
            at += len(section)
        f.write(b"".join(sections.values()))
        bits = sum(1 << b for b in sections)
        f.seek(0)
        f.write(b"PERFILE2" + struct.pack("<QQQQQQQQQ", 104, entry, attrs_at, entry, data_at, size, 0, 0, bits))
        f.write(b"\0" * 24)


if __name__ == "__main__":
    main()

"""SPT files for the tests, made from Microsoft's description of the format and nothing else.

`File` builds one piece by piece and keeps what it must count; `random_file` makes valid ones of every shape the
description allows. Run as a program it writes one: gen_spt.py SEED OUT.spt
"""

import collections
import random
import struct
import sys
import uuid

UNHALT_CYCLE, RETIRE_INSTR, RETIRE_BR_INSTR, L1_ICACHE_MISS, L1_DCACHE_MISS = 1, 2, 3, 4, 5
LBR, ETW_INSTR, ETW_CALLSTACK, BINARY_ID, REPEAT = 0x10, 0x41, 0x42, 0x81, 0x82
IP = (UNHALT_CYCLE, RETIRE_INSTR, RETIRE_BR_INSTR, L1_ICACHE_MISS, L1_DCACHE_MISS, ETW_INSTR)
EVENTS = {UNHALT_CYCLE: "unhalted_cycles", RETIRE_INSTR: "instructions_retired",
          RETIRE_BR_INSTR: "branch_instructions_retired", L1_ICACHE_MISS: "l1_icache_misses",
          L1_DCACHE_MISS: "l1_dcache_misses", LBR: "lbr", ETW_INSTR: "etw_instructions",
          ETW_CALLSTACK: "etw_callstack"}
NAMES = {UNHALT_CYCLE: "SPT_OP_UNHALT_CYCLE", RETIRE_INSTR: "SPT_OP_RETIRE_INSTR",
         RETIRE_BR_INSTR: "SPT_OP_RETIRE_BR_INSTR", L1_ICACHE_MISS: "SPT_OP_L1_ICACHE_MISS",
         L1_DCACHE_MISS: "SPT_OP_L1_DCACHE_MISS", LBR: "SPT_OP_LBR", ETW_INSTR: "SPT_OP_ETW_INSTR",
         ETW_CALLSTACK: "SPT_OP_ETW_CALLSTACK", BINARY_ID: "SPT_OP_BINARY_ID", REPEAT: "SPT_OP_REPEAT"}
Program = collections.namedtuple("Program", "name guid age")


def build_id(program):
    """GUID digits as they are read, then the age in hex."""
    return program.guid.hex + "%x" % program.age


class Segment:
    """Records of one binary; `padding` is the byte behind an opcode that has no count."""

    def __init__(self, program):
        self.program, self.parts, self.records = program, [], []

    def repeat(self, count, padding=0):
        self.parts.append(struct.pack("<BBQ", REPEAT, padding, count))
        self.records.append((REPEAT, count))
        return self

    def ip(self, op, *rvas):
        self.parts.append(struct.pack("<BB%dI" % len(rvas), op, len(rvas), *rvas))
        self.records.append((op, rvas))
        return self

    def stack(self, *rvas):
        return self.ip(ETW_CALLSTACK, *rvas)

    def lbr(self, *pairs):
        """Pairs of (from, to); in the file `to` stands first."""
        flat = [v for source, to in pairs for v in (to, source)]
        self.parts.append(struct.pack("<BB%dI" % len(flat), LBR, len(pairs), *flat))
        self.records.append((LBR, pairs))
        return self

    def raw(self, data):
        self.parts.append(data)
        return self

    def data(self):
        return b"".join(self.parts)


class File:
    """programs: of Program; the table's order is theirs."""

    def __init__(self, programs, strings_capacity=0x4000, programs_capacity=0x100):
        self.programs, self.segments = list(programs), []
        self.strings_capacity, self.programs_capacity = strings_capacity, programs_capacity
        self.raw_data_id = self.target_arch = 0
        self.version, self.magic = 1, struct.pack("<I", 0x5350543A)
        self.gap, self.middle, self.tail = b"", b"", b""  # behind the header, the strings, the segments
        self.filler = lambda n: bytes(n)                  # of unused table bytes
        self.ordinals = self.share = False
        self.paddings = {}

    def segment(self, program, **more):
        s = Segment(program)
        s.padding, s.length = more.get("padding", 0), more.get("length")
        self.segments.append(s)
        return s

    def tables(self):
        table, at, order = b"", [], {}
        for p in self.programs:
            name = p.name if isinstance(p.name, bytes) else p.name.encode()
            if self.share and name in order:
                at.append(order[name])
                continue
            order[name] = len(order) if self.ordinals else len(table)
            at.append(order[name])
            table += name + b"\0"
        return table, at

    def data_at(self):
        return 32 + len(self.gap) + self.strings_capacity + len(self.middle) + 24 * self.programs_capacity

    def head(self):
        table, at = self.tables()
        assert len(table) <= self.strings_capacity and len(self.programs) <= self.programs_capacity
        strings_at = 32 + len(self.gap)
        programs_at = strings_at + self.strings_capacity + len(self.middle)
        ids = b"".join(p.guid.bytes_le + struct.pack("<II", p.age, i) for p, i in zip(self.programs, at))
        return (self.magic + struct.pack("<5I4H", self.version, self.raw_data_id, self.target_arch, strings_at,
                                         programs_at, len(table), self.strings_capacity, len(self.programs),
                                         self.programs_capacity)
                + self.gap + table + self.filler(self.strings_capacity - len(table)) + self.middle + ids
                + self.filler(24 * self.programs_capacity - len(ids)))

    def bytes(self):
        out = [self.head()]
        for s in self.segments:
            data = s.data()
            length = len(data) + 4 if s.length is None else s.length
            out.append(struct.pack("<BBHI", BINARY_ID, s.padding, s.program, length) + data)
        return b"".join(out) + self.tail

    def counts(self):
        """Hits by (name, build-id, opcode, addresses); a pair is (to, from)."""
        total = collections.Counter()
        for s in self.segments:
            p = self.programs[s.program]
            pending = 0
            for op, what in s.records:
                if op == REPEAT:
                    pending += what
                    continue
                hits, pending = 1 + pending, 0
                if hits >= 1 << 64:
                    continue
                if op == LBR:
                    keys = [(to, source) for source, to in what]
                elif op == ETW_CALLSTACK:
                    keys = [tuple(what)]
                else:
                    keys = [(rva,) for rva in what]
                for key in keys:
                    total[(p.name, build_id(p), op, key)] += hits
        return dict(total)


def guid(rng):
    return uuid.UUID(int=rng.getrandbits(128))


def random_programs(rng, n):
    stems = ["app", "engine", "ntdll", "libfoo", "söme ünicode", "a", "x" * 200, "driver"]
    programs, seen = [], set()
    while len(programs) < n:
        name = rng.choice(stems) + rng.choice(["", str(len(programs))]) + rng.choice([".exe", ".dll", ".sys", ""])
        age = rng.choice([1, 1, 1, 2, 10, 0, 255, rng.getrandbits(32)])
        p = Program(name, guid(rng), age)
        if (name, p.guid, age) not in seen:
            seen.add((name, p.guid, age))
            programs.append(p)
    return programs


def random_rva(rng, pool):
    return rng.choice(pool) if rng.random() < 0.8 else rng.choice([0, 1, 0xFFFFFFFF, rng.getrandbits(32)])


def random_record(rng, s, pool):
    if rng.random() < 0.35:
        s.repeat(rng.choice([0, 1, 2, 9, 1000, rng.getrandbits(33), rng.getrandbits(62)]),
                 rng.choice([0, 0, 0, rng.randrange(256)]))
        if rng.random() < 0.05:
            s.repeat(rng.randrange(5))
    n = rng.choice([0, 1, 1, 2, 3, 4, 7, 20, 255]) if rng.random() < 0.2 else rng.randrange(1, 9)
    op = rng.choice(IP + (LBR, LBR, ETW_CALLSTACK, ETW_CALLSTACK, ETW_CALLSTACK))
    if op == LBR:
        s.lbr(*[(random_rva(rng, pool), random_rva(rng, pool)) for _ in range(n)])
    else:
        s.ip(op, *[random_rva(rng, pool) for _ in range(n)])


def random_file(seed, records=60):
    """A valid file; tables full or nearly empty, gaps, unused bytes with old contents, several segments a binary."""
    rng = random.Random(seed)
    f = File(random_programs(rng, rng.choice([1, 1, 2, 3, 8])))
    f.ordinals = rng.random() < 0.1
    f.share = not f.ordinals and rng.random() < 0.5
    used = len(f.tables()[0])
    f.strings_capacity = rng.choice([used, used + 1, 0x100 + used, 0x4000])
    f.programs_capacity = len(f.programs) + rng.choice([0, 1, 5, 0x100 - len(f.programs)])
    if f.ordinals and len(f.programs) == 1:
        f.ordinals = False
    if rng.random() < 0.3:
        f.filler = lambda n: random.Random(seed).randbytes(n)
    if rng.random() < 0.2:
        f.gap = rng.randbytes(rng.randrange(1, 40))
    if rng.random() < 0.2:
        f.middle = rng.randbytes(rng.randrange(1, 40))
    f.raw_data_id = rng.choice([0, 0, 0, 7])
    f.target_arch = rng.choice([0, 0, 0, 0x8664])
    if rng.random() < 0.1:
        f.magic = b"SPT:"
    pool = [rng.randrange(0x1000, 0x200000) for _ in range(rng.choice([3, 30]))]
    for _ in range(rng.choice([0, 1, 1, 2, 5])):
        s = f.segment(rng.randrange(len(f.programs)), padding=rng.choice([0, 0, 1]))
        for _ in range(rng.randrange(records)):
            random_record(rng, s, pool)
        if rng.random() < 0.1:
            s.repeat(3)
    if rng.random() < 0.1:
        f.tail = bytes(rng.randrange(1, 20))
    return f


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as out:
        out.write(random_file(int(sys.argv[1])).bytes())

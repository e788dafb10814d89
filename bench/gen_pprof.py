#!/usr/bin/env python3
"""Writes a large pprof profile: gen_pprof.py [--samples N] [--locations N] [--depth N] [--labels] [--distinct N] [--heap] [--seed N] OUT.

Stacks grow like those of a server: a few roots, many leaves, every stack different from the ones before by a few frames
or by many; values and labels as Go writes them. With --heap it is a profile of memory, most of whose stacks end in Go's
allocator. Not compressed.
"""
import argparse
import random


HEAP = (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes"))
ALLOCATORS = ["runtime.mallocgc", "runtime.newobject", "runtime.growslice", "runtime.makeslice", "runtime.makemap", "bytes.growSlice"]


def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def chunk(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--samples", type=int, default=1000000)
    a.add_argument("--locations", type=int, default=60000)
    a.add_argument("--depth", type=int, default=34)
    a.add_argument("--labels", action="store_true")
    a.add_argument("--distinct", type=int, default=0, help="stacks that samples are drawn from; 0: all are new")
    a.add_argument("--heap", action="store_true")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("out")
    o = a.parse_args()
    r = random.Random(o.seed)
    strings = {"": 0}

    def text(s):
        return strings.setdefault(s, len(strings))

    with open(o.out, "wb") as f:
        for kind, unit in HEAP if o.heap else (("samples", "count"), ("cpu", "nanoseconds")):
            f.write(chunk(1, number(1, text(kind)) + number(2, text(unit))))
        ids = [varint(i + 1) for i in range(o.locations)]
        label = [chunk(3, number(1, text("worker")) + number(2, text(f"pool-{i}"))) for i in range(32)]
        stack, pieces, size, made = [], [], 0, []
        for _ in range(o.samples):
            if o.distinct and len(made) == o.distinct:
                sample = r.choice(made)
                pieces += (b"\x12", varint(len(sample)), sample)
                size += len(sample)
                if size > 1 << 22:
                    f.write(b"".join(pieces))
                    pieces, size = [], 0
                continue
            keep = r.randrange(len(stack) + 1)
            want = o.depth // 2 + r.randrange(o.depth + 1)
            del stack[min(keep, want):]
            for d in range(len(stack), want):
                stack.append(ids[int(o.locations * r.random() ** 3) // (1 + d % 3)])
            n = 1 + int(3 * r.random() ** 4)
            locations = b"".join(reversed(stack))
            values = varint(n) + varint(n * 10000000)
            if o.heap:
                live = r.randrange(n + 1)
                values = b"".join(map(varint, (n, n * 4096, live, live * 4096)))
            tail = label[r.randrange(32)] if o.labels else b""
            sample = b"\n" + varint(len(locations)) + locations + b"\x12" + varint(len(values)) + values + tail
            if o.distinct:
                made.append(sample)
            pieces += (b"\x12", varint(len(sample)), sample)
            size += len(sample)
            if size > 1 << 22:
                f.write(b"".join(pieces))
                pieces, size = [], 0
        f.write(b"".join(pieces))
        for i in range(8):
            start = 0x7f0000000000 + (i << 28)
            f.write(chunk(3, number(1, i + 1) + number(2, start) + number(3, start + (1 << 27)) + number(4, 4096) +
                          number(5, text(f"/usr/lib/libserver-{i}.so")) + number(6, text(f"{i:040x}")) + number(7, 1)))
        functions = o.locations // 3 + 1
        for i in range(o.locations):
            m = i % 8
            lines = chunk(4, number(1, i % functions + 1) + number(2, 10 + i % 400))
            if i % 7 == 0:
                lines = chunk(4, number(1, (i * 31) % functions + 1) + number(2, 5 + i % 90)) + lines
            f.write(chunk(4, number(1, i + 1) + number(2, m + 1) + number(3, 0x7f0000000000 + (m << 28) + 64 * i) + lines))
        for i in range(functions):
            name = text(ALLOCATORS[i] if o.heap and i < len(ALLOCATORS) else f"server::module_{i % 97}::Handler<{i}>::process_request")
            f.write(chunk(5, number(1, i + 1) + number(2, name) + number(3, name) +
                          number(4, text(f"/src/server/module_{i % 97}/handler_{i % 1009}.cc")) + number(5, 1 + i % 300)))
        f.write(number(9, 1700000000000000000) + number(10, 60000000000))
        period = ("space", "bytes", 524288) if o.heap else ("cpu", "nanoseconds", 10000000)
        f.write(chunk(11, number(1, text(period[0])) + number(2, text(period[1]))) + number(12, period[2]))
        f.write(b"".join(chunk(6, s.encode()) for s in strings))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes a large profile of gperftools or jemalloc: gen_gperf.py [--kind heap|cpu|jemalloc] [--stacks N] [--locations N]
[--depth N] [--seed N] OUT.

Stacks grow like those of a server: a few roots, many leaves, every stack different from the ones before by a few frames
or by many. Heap profiles are text, sampled; CPU profiles are words of 8 bytes.
"""
import argparse
import random
import struct

MAPS = ("00400000-02000000 r-xp 00000000 08:01 11 /opt/server/bin/server\n"
        "7f5a10000000-7f5a11000000 r-xp 00026000 08:01 12 /usr/lib/x86_64-linux-gnu/libc.so.6\n")


def stacks(r, addresses, count, depth):
    stack = []
    for _ in range(count):
        want = depth // 2 + r.randrange(depth + 1)
        stack = stack[:min(r.randrange(len(stack) + 1), want)]
        stack += r.choices(addresses, k=want - len(stack)) or []
        yield stack[::-1]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--kind", choices=("heap", "cpu", "jemalloc"), default="heap")
    a.add_argument("--stacks", type=int, default=300000)
    a.add_argument("--locations", type=int, default=60000)
    a.add_argument("--depth", type=int, default=34)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("out")
    o = a.parse_args()
    r = random.Random(o.seed)
    addresses = [r.randrange(0x400000, 0x2000000) for _ in range(o.locations * 3 // 4)]
    addresses += [r.randrange(0x7f5a10000000, 0x7f5a11000000) for _ in range(o.locations // 4)]
    with open(o.out, "wb") as f:
        if o.kind == "cpu":
            f.write(struct.pack("<5Q", 0, 3, 0, 10000, 0))
        else:
            f.write(b"heap profile: 1: 1 [ 2: 2] @ heap_v2/524288\n" if o.kind == "heap" else
                    b"heap_v2/524288\n  t*: 1: 1 [0: 0]\n")
        for s in stacks(r, addresses, o.stacks, o.depth):
            if o.kind == "cpu":
                f.write(struct.pack(f"<{len(s) + 2}Q", r.randrange(1, 40), len(s), *s))
                continue
            n, size, more = r.randrange(1, 50), 16 << r.randrange(12), r.randrange(1, 90)
            where = " ".join(map(hex, s))
            if o.kind == "heap":
                f.write(f"{n:6d}: {n * size:8d} [{n + more:6d}: {(n + more) * size:8d}] @ {where}\n".encode())
            else:
                f.write((f"@ {where}\n  t*: {n + more}: {(n + more) * size} [0: 0]\n  t1: {n}: {n * size} [0: 0]\n"
                         f"  t2: {more}: {more * size} [0: 0]\n").encode())
        f.write(struct.pack("<3Q", 0, 1, 0) if o.kind == "cpu" else b"\nMAPPED_LIBRARIES:\n")
        f.write(MAPS.encode())


if __name__ == "__main__":
    main()

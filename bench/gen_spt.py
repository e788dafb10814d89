#!/usr/bin/python3
"""A large SPT file: gen_spt.py --megabytes N --distinct N --depth LO HI --seed N OUT

Call stacks without a REPEAT before them, drawn from so many distinct ones (0: every stack new) over a few thousand
functions of four binaries, in segments of some megabytes as SPTAggregate's buffers would give.
"""
import argparse
import random
import struct

RECORDS = 20000  # of a segment


def head(binaries):
    strings = b"".join(b"binary%d.dll\0" % i for i in range(binaries))
    ids = b"".join(bytes([i + 1]) * 16 + struct.pack("<II", 1, 12 * i) for i in range(binaries))
    return (struct.pack("<6I4H", 0x5350543A, 1, 0, 0, 0x20, 0x4020, len(strings), 0x4000, binaries, 0x100)
            + strings.ljust(0x4000, b"\0") + ids.ljust(0x100 * 24, b"\0"))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--megabytes", type=int, default=1000)
    ap.add_argument("--distinct", type=int, default=20000)
    ap.add_argument("--depth", type=int, nargs=2, default=(8, 40))
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("out")
    a = ap.parse_args()
    rng = random.Random(a.seed)
    pool = [rng.randrange(0x1000, 0x800000) for _ in range(20000)]

    def stack():
        n = rng.randint(*a.depth)
        return struct.pack("<BB%dI" % n, 0x42, n, *rng.choices(pool, k=n))
    known = [stack() for _ in range(a.distinct)]
    with open(a.out, "wb") as f:
        f.write(head(4))
        left = a.megabytes * 1000000
        number = 0
        while left > 0:
            records = rng.choices(known, k=RECORDS) if known else [stack() for _ in range(RECORDS)]
            data = b"".join(records)
            f.write(struct.pack("<BBHI", 0x81, 0, number % 4, len(data) + 4) + data)
            left -= len(data)
            number += 1


if __name__ == "__main__":
    main()

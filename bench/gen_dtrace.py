#!/usr/bin/env python3
"""A dump of DTrace's `@[stack(), execname] = count()` or, with --bpftrace, of bpftrace's `@[kstack, comm] = count()`.

    gen_dtrace.py --records 700000 --seed 1 > dump.txt
"""
import argparse
import random
import sys


def frames(rng, n):
    modules = ["genunix", "unix", "zfs", "ip", "libc.so.1", "libjvm.so", "app"]
    words = ["alloc", "read", "write", "lock", "queue", "hash", "page", "copy", "flush", "wait", "poll", "send"]
    return [(rng.choice(modules), "_".join(rng.choices(words, k=rng.randint(1, 4))) + str(i), rng.randint(0, 4095))
            for i in range(n)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--records", type=int, default=1000)
    ap.add_argument("--frames", type=int, default=6000, help="distinct frames")
    ap.add_argument("--depth", type=int, default=30, help="frames of a stack, on average")
    ap.add_argument("--bpftrace", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng = random.Random(args.seed)
    names = frames(rng, args.frames)
    if args.bpftrace:
        lines = [f"    {name}+{off}\n" for _, name, off in names]
        out = ["Attaching 2 probes...\n\n\n"]
    else:
        lines = [f"              {m}`{name}{f'+0x{off:x}' if off else ''}\n" for m, name, off in names]
        out = ["CPU     ID                    FUNCTION:NAME\n  0  64091                        :tick-60s \n\n"]
    # Stacks share their root ends, as real ones do.
    roots = ["".join(rng.choices(lines, k=rng.randint(1, args.depth))) for _ in range(500)]
    for _ in range(args.records):
        leaf = "".join(rng.choices(lines, k=rng.randint(1, args.depth)))
        stack, count = leaf + rng.choice(roots), rng.randint(1, 5000)
        if args.bpftrace:
            out.append(f"@[\n{stack}, app{count % 7}]: {count}\n")
        else:
            out.append(f"\n{stack}  {'app' + str(count % 7):50s} {count:16d}\n")
        if len(out) > 10000:
            sys.stdout.write("".join(out))
            out.clear()
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()

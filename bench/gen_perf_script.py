#!/usr/bin/env python3
"""Writes perf script text of a chosen size to standard output; the same arguments give the same bytes.

    bench/gen_perf_script.py --samples 1000000 --stacks 1616 --lines 1500 > many-repeats.txt
    bench/gen_perf_script.py --samples 200000 --distinct > few-repeats.txt

By default it draws samples from a set of stacks as skewed as real recordings are. With --distinct
every sample has a stack of its own, still made of --lines distinct lines; with --lines 0 besides,
every line is new as well.
"""

import argparse
import random
import sys

DSOS = ["/usr/bin/server", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
        "/opt/app/lib/libengine.so", "[kernel.kallsyms]", "/tmp/perf-4242.map"]
WORDS = ["parse", "hash", "lookup", "insert", "flush", "copy", "merge", "scan", "encode", "decode", "alloc", "free",
         "read", "write", "sort", "split", "render", "index", "commit", "poll"]
COMMS = [("server", 4242, 4242), ("worker/0", 4242, 4250), ("worker/1", 4242, 4251), ("io thread 2", 4242, 4252),
         ("java", 5100, 5107)]


def symbol(rng):
    a, b, c = rng.choice(WORDS), rng.choice(WORDS), rng.choice(WORDS)
    shape = rng.randrange(4)
    if shape == 0:
        return f"{a}_{b}_{c}"
    if shape == 1:
        return f"engine::{a}_{b}::{c}(std::vector<int, std::allocator<int> > const&)"
    if shape == 2:
        return f"std::_Hashtable<{a}, {b}>::_M_{c}"
    return f"{a}.{b}.{c}"


def line(rng):
    dso = rng.choice(DSOS)
    address = rng.randrange(1 << 36, 1 << 46)
    if dso == "[kernel.kallsyms]":
        address = 0xffffffff81000000 + rng.randrange(1 << 24)
    name = "[unknown]" if rng.random() < 0.04 else f"{symbol(rng)}+0x{rng.randrange(1, 4096):x}"
    return f"\t{address:16x} {name} ({dso})\n"


def stack(rng, lines):
    depth = min(max(int(rng.gauss(8, 4)), 1), 60)
    if not lines:
        return "".join(line(rng) for _ in range(depth))
    return "".join(rng.choice(lines) for _ in range(depth))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    ap.add_argument("--samples", type=int, default=100000)
    ap.add_argument("--stacks", type=int, default=1616, help="distinct stacks")
    ap.add_argument("--lines", type=int, default=1500, help="distinct frame lines; 0: each is new")
    ap.add_argument("--distinct", action="store_true", help="every stack is new")
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng = random.Random(args.seed)
    lines = [line(rng) for _ in range(args.lines)]
    stacks = [] if args.distinct else [stack(rng, lines) for _ in range(args.stacks)]
    ns = 838459762000
    out = []
    for i in range(args.samples):
        comm, pid, tid = COMMS[rng.randrange(len(COMMS))]
        ns += rng.randrange(1000, 2000000)
        text = stack(rng, lines) if args.distinct else stacks[int(rng.random() ** 3 * len(stacks))]
        out.append(f"{comm} {pid}/{tid} [{i & 7:03d}] {ns // 10**9}.{ns // 1000 % 10**6:06d}: "
                   f"{rng.randrange(1, 2000000):10d} cycles:u: \n{text}\n")
        if len(out) == 4096:
            sys.stdout.write("".join(out))
            out.clear()
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes many SPAA profiles of one program, as a fleet of machines gives them: most stacks are met again and again.

    bench/gen_spaa_fleet.py DIR --files 1000 --stacks 1600 --frames 3000 --distinct 40000 --seed 1

With these numbers a file has about 1 MB. Each has stacks drawn from a pool of distinct ones, the popular ones more
often, in dictionaries of its own; the same arguments give the same bytes.
"""
import argparse
import os
import random

from gen_spaa_large import Stacks, compact, dsos, frames, header

THREADS = 8


def pool(count, nframes, rng):
    """(thread, frame numbers from the leaf) of distinct stacks."""
    source = Stacks(count, nframes, 34, rng)
    found = []
    for _ in range(count):
        thread = rng.randrange(THREADS)
        found.append((thread, [int(x) for x in source.next(thread)[0].split(",")]))
    return found


def one(path, stacks, all_frames, libraries, threads, contexts, count, rng):
    n = len(stacks)
    chosen = sorted({int(rng.random() ** 3 * n) for _ in range(count)})
    used = sorted({f for i in chosen for f in stacks[i][1]})
    number = {f: i for i, f in enumerate(used, 1)}
    lines = [compact(header())]
    lines += map(compact, libraries)
    for f in used:
        lines.append(compact({**all_frames[f - 1], "id": number[f]}))
    lines += map(compact, threads)
    rows = sorted(((-min(int(rng.paretovariate(0.7)), 1 << 40), i) for i in chosen))
    for minus, i in rows:
        thread, ids = stacks[i]
        suffix, context = contexts[thread]
        weights = compact([{"metric": "samples", "value": -minus},
                           {"metric": "period", "value": -minus * 1003009, "unit": "ns"}])[:-1]
        text = ",".join([str(number[f]) for f in ids])
        lines.append(f'{{"type":"stack","id":"0x{i * 0x9E3779B97F4A7C15 % (1 << 64):016x}.{suffix:08x}",'
                     f'"frames":[{text}],"stack_type":"unified","context":{context},"weights":{weights},'
                     f'"exclusive":{{"frame":{number[ids[0]]},"weights":{weights}}}}}\n')
    with open(path, "w", encoding="utf-8") as out:
        out.write("".join(lines))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--files", type=int, default=1000)
    ap.add_argument("--stacks", type=int, default=1600, help="draws per file")
    ap.add_argument("--frames", type=int, default=3000)
    ap.add_argument("--distinct", type=int, default=40000)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng = random.Random(args.seed)
    libraries = dsos(rng)
    all_frames = list(frames(args.frames, libraries, rng))
    stacks = pool(args.distinct, len(all_frames), rng)
    threads = [{"type": "thread", "pid": 4000, "tid": 5000 + i, "comm": f"worker/{i}"} for i in range(THREADS)]
    contexts = [(rng.getrandbits(32), compact({"pid": t["pid"], "tid": t["tid"], "event": "cpu-clock",
                                               "comm": t["comm"]})[:-1]) for t in threads]
    os.makedirs(args.out, exist_ok=True)
    for i in range(args.files):
        one(os.path.join(args.out, f"{i:04}.spaa"), stacks, all_frames, libraries, threads, contexts, args.stacks, rng)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes a large canonical SPAA file; the same arguments give the same bytes.

    bench/gen_spaa_large.py big.spaa --stacks 500000 --frames 60000 --depth 34

Stacks are leaves put on trunks that grow out of each other, so that they share their roots as those of
real programs do; a few frames are in very many stacks and most are in few. The file is as spaa writes
it: reading and writing it gives the same bytes.
"""
import argparse
import itertools
import json
import random

WORDS = ["parse", "hash", "lookup", "insert", "flush", "copy", "merge", "scan", "encode", "decode", "alloc", "free",
         "read", "write", "sort", "split", "render", "index", "commit", "poll"]
PER_FUNCTION = 4  # addresses of one function
BATCH = 4096


def compact(record):
    return json.dumps(record, separators=(",", ":")) + "\n"


def header():
    sampling = {"mode": "frequency", "primary_metric": "period", "frequency_hz": 997}
    return {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf",
            "frame_order": "leaf_to_root", "events": [{"name": "cpu-clock", "kind": "software", "sampling": sampling}],
            "stack_id_mode": "content_addressable",
            "x_spaa": {"frames": "address", "group_by": ["pid", "tid", "comm"], "id": "xxh3-64/2"}}


def dsos(rng):
    names = sorted(f"/usr/lib/lib{a}{b}.so.{rng.randrange(9)}" for a in WORDS[:7] for b in WORDS[7:14])
    found = [{"type": "dso", "id": i, "name": n, "build_id": f"{rng.getrandbits(160):040x}", "is_kernel": False}
             for i, n in enumerate(names, 1)]
    return found + [{"type": "dso", "id": len(found) + 1, "name": "[kernel]", "is_kernel": True}]


def frames(count, libraries, rng):
    """In the order of their names, PER_FUNCTION addresses each."""
    names = set()
    while len(names) * PER_FUNCTION < count:
        a, b, c = (rng.choice(WORDS) for _ in range(3))
        names.add(rng.choice([f"{a}_{b}_{rng.randrange(1000)}", f"{a}::{b}_{c}<{rng.randrange(300)}>(int, char const*)",
                              f"{a}_{b}_{c}.part.{rng.randrange(100)}", f"engine::{a}::{b}{rng.randrange(400)}()"]))
    number = 0
    for at, name in enumerate(sorted(names)):
        dso = libraries[-1] if rng.random() < 0.1 else rng.choice(libraries[:-1])
        for offset in sorted(rng.sample(range(1, 900), PER_FUNCTION)):
            number += 1
            if number > count:
                return
            yield {"type": "frame", "id": number, "func": name, "dso": dso["id"],
                   "ip": hex(0x1000 + at * 1024 + offset), "symoff": hex(offset),
                   "kind": "kernel" if dso["is_kernel"] else "user"}


class Stacks:
    def __init__(self, count, nframes, depth, rng):
        self.rng, self.depth = rng, depth
        self.popular = list(range(1, nframes + 1))
        rng.shuffle(self.popular)
        self.weights = list(itertools.accumulate(1 / (i + 3) ** 0.9 for i in range(nframes)))
        self.some, self.seen = [], set()
        self.trunks = [(1, str(self.popular[0]))]
        while len(self.trunks) < max(64, count // 25):
            self.trunks.append(self.grow())

    def frame(self):
        if not self.some:
            self.some = self.rng.choices(self.popular, cum_weights=self.weights, k=1 << 16)
        return self.some.pop()

    def piece(self, most):
        return ",".join(str(self.frame()) for _ in range(self.rng.randint(1, most)))

    def grow(self):
        """A trunk that leaves an earlier one somewhere."""
        rng = self.rng
        want = max(3, int(rng.gauss(self.depth - 3.5, self.depth / 3)))
        have, text = self.trunks[int(rng.random() ** 2 * len(self.trunks))]
        kept = rng.randint(1, min(have, want - 1))
        return want, ",".join([str(self.frame()) for _ in range(want - kept)] + text.split(",")[-kept:])

    def next(self, thread):
        while True:
            trunk = int(self.rng.random() ** 2 * len(self.trunks))
            leaf = self.piece(6)
            key = (trunk, leaf, thread)
            if key not in self.seen:
                self.seen.add(key)
                return leaf + "," + self.trunks[trunk][1], leaf.split(",", 1)[0]


def stacks(count, nframes, depth, threads, rng):
    source = Stacks(count, nframes, depth, rng)
    contexts = []
    for t in threads:
        context = {"pid": t["pid"], "tid": t["tid"], "event": "cpu-clock", "comm": t["comm"]}
        contexts.append((rng.getrandbits(32), compact(context)[:-1]))
    # By weight, then by id.
    for minus, ident in sorted((-min(int(rng.paretovariate(0.7)), 1 << 40), rng.getrandbits(64)) for _ in range(count)):
        thread = rng.randrange(len(threads))
        suffix, context = contexts[thread]
        ids, leaf = source.next(thread)
        weights = compact([{"metric": "samples", "value": -minus},
                           {"metric": "period", "value": -minus * 1003009, "unit": "ns"}])[:-1]
        yield (f'{{"type":"stack","id":"0x{ident:016x}.{suffix:08x}","frames":[{ids}],"stack_type":"unified",'
               f'"context":{context},"weights":{weights},"exclusive":{{"frame":{leaf},"weights":{weights}}}}}\n')


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--stacks", type=int, default=500000)
    ap.add_argument("--frames", type=int, default=60000)
    ap.add_argument("--depth", type=int, default=34, help="frames per stack, on average")
    ap.add_argument("--threads", type=int, default=64)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    rng = random.Random(args.seed)
    libraries = dsos(rng)
    threads = [{"type": "thread", "pid": 4000 + i // 8, "tid": 5000 + i, "comm": f"{WORDS[i % 5]}/{i % 8}"}
               for i in range(args.threads)]
    dictionaries = itertools.chain([header()], libraries, frames(args.frames, libraries, rng), threads)
    lines = itertools.chain(map(compact, dictionaries), stacks(args.stacks, args.frames, args.depth, threads, rng))
    with open(args.out, "w", encoding="utf-8") as out:
        while batch := "".join(itertools.islice(lines, BATCH)):
            out.write(batch)


if __name__ == "__main__":
    main()

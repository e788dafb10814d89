#!/usr/bin/env python3
"""Writes a large CodeGuru profile as a merge of many agents' would be; the same arguments give the same bytes.

    bench/gen_codeguru.py big.codeguru.json --nodes 3000000 --seed 1 [--python]

Compact and sorted, as profile-bee writes them; --python gives the Python agent's style: blanks behind commas and
colons, a file and a line in every node, children unsorted.
"""
import argparse
import json
import random

WORDS = ["parse", "hash", "lookup", "insert", "flush", "copy", "merge", "scan", "encode", "decode", "alloc", "free",
         "read", "write", "sort", "split", "render", "index", "commit", "poll"]


def names(count, rng, python):
    found = set()
    while len(found) < count:
        a, b, c = (rng.choice(WORDS) for _ in range(3))
        if python:
            found.add(f"{a}.{b}_{c}:{b.title()}{rng.randrange(99)}:{c}_{rng.randrange(99)}")
        else:
            found.add(rng.choice([f"{a}_{b}_{rng.randrange(1000)}", f"{a}::{b}_{c}<{rng.randrange(300)}>(int, char const*)",
                                  f"com.example.{a}.{b.title()}{c.title()}.{c}{rng.randrange(50)}", f"sys_{a}_{b}_[k]"]))
    return sorted(found)


class Level:
    def __init__(self):
        self.last, self.any, self.used = -1, False, set()


def write(out, args):
    rng = random.Random(args.seed)
    pool = names(8000, rng, args.python)
    quoted = [json.dumps(n) for n in pool]
    places = [f'"file": "/opt/app/{n.split(":")[0].replace(".", "/")}.py", "line": [{rng.randrange(2000)}]' for n in pool]
    states = ["RUNNABLE"] * 6 + ["WAITING", "TIMED_WAITING", "NATIVE", "IDLE"]
    left = args.nodes
    comma, colon = (", ", ": ") if args.python else (",", ":")
    agent = json.dumps({"sampleWeights": {"RUNNABLE": 16063.4}, "durationInMs": 10000,
                        "fleetInfo": {"fleetInstanceId": "i-1", "hostType": "c5.xlarge"},
                        "agentInfo": {"type": "bench", "version": "1"}, "numTimesSampled": 160634}, separators=(comma, colon))
    out.write(f'{{"start"{colon}1711234567000{comma}"end"{colon}1711234577000{comma}"agentMetadata"{colon}{agent}{comma}'
              f'"callgraph"{colon}{{"children"{colon}{{')
    levels = [Level()]  # open nodes; the first is the root
    text = []

    def close():
        level = levels.pop()
        text.append(("}" if level.last >= 0 else "") + "}")

    def pick(level):
        """A child that is not there yet, behind the one before (or anywhere); hot functions have low numbers."""
        if not args.python:
            return level.last + 1 + int((len(pool) if level.last < 0 and len(levels) > 4 else 30) * rng.random() ** 3)
        while True:
            n = int(len(pool) * rng.random() ** 3)
            if n not in level.used:
                level.used.add(n)
                return n

    while left > 0 and levels[0].last < len(pool) - 1:
        depth = max(3, min(60, int(rng.gauss(26, 8))))
        keep = max(0, min(len(levels) - 1, depth) - 1 - int(rng.expovariate(0.5)))
        while len(levels) > keep + 1:
            close()
        while len(levels) > 1 and levels[-1].last >= len(pool) - 1:
            close()
        while len(levels) <= depth and left > 0:
            up = levels[-1]
            name = pick(up)
            if name >= len(pool):
                up.last = len(pool) - 1
                break
            if len(levels) > 1 and up.last < 0:
                text.append((comma if up.any else "") + f'"children"{colon}{{')
            text.append((comma if up.last >= 0 else "") + quoted[name] + colon + "{")
            up.last = name
            left -= 1
            level = Level()
            parts = []
            if len(levels) == depth or rng.random() < 0.05:
                parts.append(f'"counts"{colon}{{"{rng.choice(states)}"{colon}{rng.randrange(1, 2000)}}}')
            if args.python:
                parts.append(places[name])
            text.append(comma.join(parts))
            level.any = bool(parts)
            levels.append(level)
        if len(text) > 10000:
            out.write("".join(text))
            text.clear()
    while len(levels) > 1:
        close()
    out.write("".join(text) + "}}}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--python", action="store_true")
    parser.add_argument("path")
    args = parser.parse_args()
    with open(args.path, "w", encoding="utf-8") as out:
        write(out, args)


if __name__ == "__main__":
    main()

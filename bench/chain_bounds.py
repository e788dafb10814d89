#!/usr/bin/env python3
"""Whether totals of recordings whose callchains break are bounds of the truth, and whether whole ones say so. See README.md.

    bench/chain_bounds.py                 # builds and records fifteen programs: about five minutes
    bench/chain_bounds.py --quick         # two programs, one recording of each kind: whether it works, no more
    bench/chain_bounds.py --misses        # also each function whose total is outside of what is said

Each program is recorded with frame pointers and with copies of the stack (--call-graph dwarf) in turns. Recordings are
kept under build/bench-data for the next run, --record-again makes new ones.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time

from drawing import progress, run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
KEEP = ["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"]
OMIT = ["-fomit-frame-pointer"]
# name: source, flags, libraries, bytes of stack to copy
PROGRAMS = {
    "strings": ("strings.c", KEEP, [], 8192),
    "strings, static": ("strings.c", KEEP + ["-static"], [], 8192),
    "callbacks": ("callbacks.c", KEEP, [], 8192),
    "containers": ("containers.cpp", KEEP, [], 16384),
    "heap": ("heap.c", KEEP, [], 8192),
    "heap, leaf functions without": ("heap.c", ["-fno-omit-frame-pointer", "-momit-leaf-frame-pointer"], [], 8192),
    "formats": ("formats.c", KEEP, ["-lm"], 16384),
    "pool of threads": ("pool.c", KEEP, ["-pthread"], 16384),
    "recursion": ("recursion.c", KEEP, [], 16384),
    "recursion, no frame pointers": ("recursion.c", OMIT, [], 16384),
    "numbers, no frame pointers": ("numbers.c", OMIT, [], 8192),
    "library without": ("host.c", KEEP, ["plugin"], 8192),
    "zlib": ("deflate.c", KEEP, ["-lz"], 16384),
    "sqlite": ("database.c", KEEP, ["-lsqlite3"], 16384),
    "system calls": ("files.c", KEEP, [], 16384),
}
# Whole with frame pointers: no library works while they run.
WHOLE = {
    "numbers": ("numbers.c", KEEP, [], 8192),
    "numbers, threads": ("numbers.c", KEEP + ["-DTHREADS=3"], ["-pthread"], 8192),
    "numbers, static": ("numbers.c", KEEP + ["-static"], [], 8192),
    "numbers, no libc": ("numbers.c", KEEP + ["-DALONE", "-static", "-nostdlib"], [], 8192),
}
LEAST = 1  # percent of the total that a function must have to be looked at
WARNS = 5  # percent of broken chains from which on totals are bounds


# Recordings

def build(folder, name):
    """The program of that name, or None where a library of it is not installed."""
    source, flags, libraries, _ = {**PROGRAMS, **WHOLE}[name]
    program = os.path.join(folder, name.replace(", ", "-").replace(" ", "-"))
    compiler = os.environ.get("CXX", "c++") if source.endswith("pp") else os.environ.get("CC", "cc")
    sources = os.path.join(HERE, "programs", "chains")
    common = [compiler, "-O2", "-g"]
    if libraries == ["plugin"]:
        library = os.path.join(folder, "libplugin.so")
        run(*common, *OMIT, "-shared", "-fPIC", os.path.join(sources, "plugin.c"), "-o", library)
        libraries = [library]
    done = subprocess.run([*common, *flags, os.path.join(sources, source), "-o", program, *libraries], capture_output=True,
                          check=False)
    return None if done.returncode else program


def record_all(folder, names, times, seed):
    todo = []
    for name in names:
        program = build(folder, name)
        if program is None:
            print(f"{name}: does not build here, left out")
            continue
        todo += [(name, program, kind, i) for i in range(times) for kind in ("fp", "dwarf")]
    random.Random(seed).shuffle(todo)
    made = {}
    loads = []
    for n, (name, program, kind, i) in enumerate(todo):
        loads.append(os.getloadavg()[0])
        progress(f"recording {n + 1} of {len(todo)}, load {loads[-1]:.1f}")
        data = f"{program}.{kind}.{i}.data"
        graph = "fp" if kind == "fp" else f"dwarf,{({**PROGRAMS, **WHOLE})[name][3]}"
        run("perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph", graph, "-o", data, "--", program,
            stderr=subprocess.DEVNULL)
        made.setdefault(name, {}).setdefault(kind, []).append(os.path.basename(data))
    return {"recordings": {n: {k: sorted(v) for k, v in made[n].items()} for n in names if n in made},
            "when": time.strftime("%Y-%m-%d %H:%M"), "load": [min(loads), sum(loads) / len(loads), max(loads)]}


def recordings(args, names, times):
    folder = os.path.join(args.data, f"chain-bounds{'-quick' if args.quick else ''}")
    index = os.path.join(folder, "index.json")
    if args.record_again or not os.path.exists(index):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        made = record_all(folder, names, times, args.seed)
        with open(index, "w", encoding="ascii") as f:
            json.dump(made, f, indent=1)
    with open(index, encoding="ascii") as f:
        return folder, json.load(f)


# What spaa says of them

class Said:
    """Totals of a recording, in percent: {(function, binary): (at least, at most)}, and how much is broken."""

    def __init__(self, spaa, path):
        answer = json.loads(run(spaa, "top", "-q", "--json", "--no-inline", "--no-lines", "--sort", "total", "-n", "0", path))
        quality = json.loads(run(spaa, "info", "-q", "--json", "--no-inline", "--no-lines", path)).get("quality", {})
        self.samples = answer["profile"]["samples"]
        self.broken = quality.get("broken_chains_percent")
        self.totals = {}
        for r in answer["rows"]:
            most = r.get("total_at_most_percent")
            self.totals[r["name"], r["dso"] or ""] = (r["total_percent"], r["total_percent"] if most is None else most)

    def warns(self):
        return self.broken is not None and self.broken >= WARNS


def apart(a, n, b, m):
    """Whether shares of two recordings of n and m samples differ by more than chance, at 99 %."""
    p = (a * n + b * m) / (n + m) / 100
    p = min(max(p, 1 / (n + m)), 1 - 1 / (n + m))
    return abs(a - b) > 100 * 2.576 * (p * (1 - p) * (1 / n + 1 / m)) ** 0.5


class Judged:
    """A function, what is said of its total, the truth, and whether the truth is within that but for chance."""

    def __init__(self, key, said, truth):
        self.key = key
        self.share = truth.totals.get(key, (0, 0))[0]
        self.seen = key in said.totals
        self.low, self.high = said.totals.get(key, (0, 0))
        nearest = min(max(self.share, self.low), self.high)
        self.holds = not apart(self.share, truth.samples, nearest, said.samples)


def judged(pairs):
    """Of pairs of what is said and the truth: every function that has as much as counts in either.

    The kernel's are left out, as interrupts are as many as the machine has other work, and so is what is no function:
    addresses without a name, marks in brackets.
    """
    for said, truth in pairs:
        keys = {k for totals in (truth.totals, said.totals) for k, (low, _) in totals.items() if low >= LEAST}
        yield from (Judged(k, said, truth) for k in sorted(keys)
                    if not k[0].startswith(("0x", "[")) and not k[1].startswith("[kernel"))


def percent(values):
    values = list(values)
    return 100 * sum(values) / len(values) if values else float("nan")


def bootstrapped(groups, statistic, seed, replicates=1000):
    """The 95 % interval of a statistic of all groups: programs are drawn with replacement, and recordings in each."""
    rng = random.Random(seed)
    names = list(groups)
    values = []
    for _ in range(replicates):
        chosen = [groups[n] for n in rng.choices(names, k=len(names))]
        values.append(statistic([x for g in chosen for x in rng.choices(g, k=len(g))]))
    values.sort()
    return values[int(0.025 * replicates)], values[int(0.975 * replicates)]


# Tables

def show_bounds(said, args):
    """Program by program, and all together, whether the truth lies within the bounds."""
    groups = {n: list(zip(s["fp"], s["dwarf"])) for n, s in said.items()}
    # Two recordings of the truth differ by chance alone: how often that is taken for chance.
    control = {n: list(zip(s["dwarf"], s["dwarf"][1:] + s["dwarf"][:1])) for n, s in said.items() if len(s["dwarf"]) > 1}

    def holds(pairs):
        return percent(j.holds for j in judged(pairs) if j.seen)

    def unseen_too(pairs):
        return percent(j.holds for j in judged(pairs))
    print(f"{'recorded with frame pointers':<34}{'functions':>10}{'not seen':>10}{'within %':>10}{'points wide':>13}{'broken %':>10}"
          f"{'of truth':>10}")
    for name, pairs in groups.items():
        all_of = list(judged(pairs))
        seen = [j for j in all_of if j.seen]
        width = sum(j.high - j.low for j in seen) / len(seen)
        broken = [sum(p[i].broken or 0 for p in pairs) / len(pairs) for i in (0, 1)]
        print(f"{name:<34}{len(seen) / len(pairs):10.1f}{(len(all_of) - len(seen)) / len(pairs):10.1f}{holds(pairs):10.1f}{width:13.1f}"
              f"{broken[0]:10.1f}{broken[1]:10.1f}")
        for j in all_of if args.misses else []:
            if not j.holds:
                print(f"    {j.share:6.2f} % not in {j.low:.2f} to {j.high:.2f}: {j.key[0]} ({os.path.basename(j.key[1])})")
    rows = []
    for what, statistic, of, goal in (
            ("truth within the bounds", holds, groups, 95),
            ("likewise, functions not seen taken as 0", unseen_too, groups, None),
            ("a second recording of the truth, likewise", holds, control, None)):
        if of:
            rate = statistic([p for g in of.values() for p in g])
            rows.append((what, rate, *bootstrapped(of, statistic, args.seed), goal))
    return rows


def show_whole(said, whole, args):
    """How many of the whole recordings are said to be broken."""
    groups = {n + ", copies": s["dwarf"] for n, s in {**said, **whole}.items()}
    groups.update({n: s["fp"] for n, s in whole.items()})

    def warned(some):
        return percent(s.warns() for s in some)
    print(f"\n{'whole recordings':<48}{'broken %':>10}{'warns':>10}")
    for name, some in groups.items():
        known = [s.broken for s in some if s.broken is not None]
        print(f"{name:<48}{max(known, default=float('nan')):10.1f}{sum(s.warns() for s in some):7} of {len(some)}")
    every = [s for g in groups.values() for s in g]
    return ["whole recordings that warn", warned(every), *bootstrapped(groups, warned, args.seed), -1]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--quick", action="store_true", help="two programs, one recording of each kind")
    ap.add_argument("--only", nargs="+", choices=[*PROGRAMS, *WHOLE], metavar="PROGRAM", help="some of the programs recorded")
    ap.add_argument("--misses", action="store_true", help="also every function whose total is outside of what is said")
    ap.add_argument("--record-again", action="store_true", help="make new recordings")
    ap.add_argument("--seed", default="1")
    ap.add_argument("--json", metavar="FILE", help="write the numbers here too")
    ap.add_argument("--spaa", default=os.path.join(ROOT, "build", "spaa"), help="the tool (default build/spaa)")
    ap.add_argument("--data", default=os.path.join(ROOT, "build", "bench-data"), help="where recordings are kept")
    args = ap.parse_args()
    args.spaa, args.data = os.path.abspath(args.spaa), os.path.abspath(args.data)
    names, times = ([*PROGRAMS, *WHOLE], 3) if not args.quick else (["strings", "numbers"], 1)
    folder, made = recordings(args, names, times)
    said = {}
    for name, kinds in made["recordings"].items():
        if name in (args.only or made["recordings"]):
            progress(f"reading {name}")
            said[name] = {k: [Said(args.spaa, os.path.join(folder, f)) for f in files] for k, files in kinds.items()}
    broken, whole = ({n: s for n, s in said.items() if n in of} for of in (PROGRAMS, WHOLE))
    progress("")
    rows = show_bounds(broken, args) if broken else []
    rows.append(show_whole(broken, whole, args))
    print()
    for what, rate, low, high, goal in rows:
        met = {None: "", -1: ("<= 1 %   ok", "<= 1 %   MISSED")[rate > 1], 95: (">= 95 %  ok", ">= 95 %  MISSED")[rate < 95]}[goal]
        print(f"{what:<42}{rate:6.1f} % [{low:.1f}, {high:.1f}]".ljust(68) + met)
    print(f"recorded {made['when']}, load {made['load'][0]:.1f} to {made['load'][2]:.1f}")
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump({"schema": "spaa.chain-bounds/1", "recordings": made, "rows": [
                {"what": w, "percent": r, "low": a, "high": b} for w, r, a, b, _ in rows]}, f, indent=1)
            f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

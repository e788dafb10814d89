#!/usr/bin/env python3
"""How often `spaa diff` says CHANGED of equal programs, and how often it finds a planted change. See README.md.

    bench/diff_verdicts.py                       # records atlas.cpp: about seven minutes, then ten of drawing
    bench/diff_verdicts.py --program ledger      # the program to tune a method with
    bench/diff_verdicts.py --simulated           # made-up counts with known noise instead of recordings
    bench/diff_verdicts.py --quick               # few recordings and draws: whether it works, no more

Recordings are kept under build/bench-data for the next run, --record-again makes new ones.
"""
import argparse
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from drawing import distinct, estimate, progress, resample, run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PROGRAMS = {  # source, the function that grows, percent of each part in order, the kernel's interrupts being the rest
    "ledger": ("ledger.c", "table_find", [22, 5, 14.2, 9.5, 3, 8.5, 10.5, 6.5, 6, 5, 4.3, 2]),
    "atlas": ("atlas.cpp", "atlas::trie_find(unsigned int)", [18.5, 4, 9.5, 8.5, 14.2, 3, 6.5, 5, 6, 7.5, 6.5, 4.3, 3]),
}
GROWN = {"grown to 19.6 %": 19.6, "grown to 17.9 %": 17.9}
BASE, SECONDS, ROUNDS = 14.2, 1.4, 50
GOALS = {("same build", 3): "<= 5", ("same build", 5): "<= 5", ("relinked", 3): "<= 5", ("relinked", 5): "<= 5",
         ("relinked, alike", 3): "<= 5", ("relinked, alike", 5): "<= 5",
         ("grown to 19.6 %", 3): ">= 85", ("grown to 19.6 %", 5): ">= 98", ("grown to 17.9 %", 5): ">= 75"}


def growth(share):
    """What the function's work is multiplied by for its share to become this."""
    return share / (100 - share) / (BASE / (100 - BASE))


# Builds

def compiler(source):
    return os.environ.get("CXX", "c++") if source.endswith("pp") else os.environ.get("CC", "cc")


def build(source, calls, target, shuffle=None):
    """One program. With a shuffle, functions and data in another order, otherwise aligned and with gaps between."""
    path = os.path.join(HERE, "programs", source)
    align = ["-falign-functions=" + shuffle.choice(["4", "16", "32", "64"])] if shuffle else []
    run(compiler(source), "-O2", "-g", "-fno-omit-frame-pointer", "-ffunction-sections", "-fdata-sections", *align,
        "-DROUNDS=" + str(ROUNDS), "-DCALLS=" + ",".join(map(str, calls)), "-c", path, "-o", target + ".o")
    link = []
    if shuffle:
        lines = run("objdump", "-h", target + ".o").splitlines()
        names = [f[1] for f in map(str.split, lines) if len(f) == 7]
        names = [n for n in names if n.startswith((".text.", ".data.", ".bss.", ".rodata."))]
        orders = shuffle.sample(range(1000), len(names))
        renamed = [f"{n}=.{n.split('.')[1]}.o{o:03}.{n.split('.', 2)[2]}" for n, o in zip(names, orders)]
        run("objcopy", *[a for r in renamed for a in ("--rename-section", r)], target + ".o")
        with open(target + ".pads.s", "w", encoding="ascii") as f:
            for kind, flags in (("text", "ax"), ("data", "aw"), ("rodata", "a")):
                for o in shuffle.sample(range(1000), 8):
                    f.write(f'.section .{kind}.o{o:03}.pad,"{flags}",@progbits\n.skip {shuffle.randrange(1, 3000)}\n')
            f.write('.section .note.GNU-stack,"",@progbits\n')
        link = [target + ".pads.s", "-Wl,--sort-section=name"]
    run(compiler(source), target + ".o", *link, "-o", target)


def measured(program):
    """Nanoseconds that a round spends in each part: the median of five runs."""
    tries = [[float(line.split()[1]) for line in run(program, str(ROUNDS)).splitlines()] for _ in range(5)]
    return [sorted(t)[2] for t in zip(*tries)]


def calibrated(source, shares, folder):
    """How often to call each part a round, so that they take their shares of the time."""
    program = os.path.join(folder, "calibrate")
    calls = [20] * len(shares)
    for _ in range(3):
        build(source, calls, program)
        spent = measured(program)
        calls = [max(1, round(c * share / 100 * SECONDS / ROUNDS * 1e9 / ns)) for c, share, ns in zip(calls, shares, spent)]
    return calls


# Recordings

def record(folder, name, size, cpu, seed):
    """Recordings of all versions, in random order: {version: [files]}, and what the machine was like."""
    source, target, shares = PROGRAMS[name]
    rng = random.Random(seed)
    calls = calibrated(source, shares, folder)
    grows = shares.index(BASE)
    versions = {"same build": (calls, None)}
    for what, share in GROWN.items():
        versions[what] = ([round(c * growth(share)) if i == grows else c for i, c in enumerate(calls)], None)
    for i in range(size["builds"]):
        versions[f"relinked {i + 1}"] = (calls, random.Random(f"{seed} {i}"))
    todo, environment = [], {}
    for version, (these, shuffle) in versions.items():
        program = os.path.join(folder, version.replace(" %", "").replace(" ", "-"), source.split(".")[0])
        os.makedirs(os.path.dirname(program))
        build(source, these, program, shuffle)
        environment[version] = "x" * rng.randrange(4096) if shuffle else ""
        count = size["base"] if version == "same build" else size["each"] if shuffle else size["grown"]
        todo += [(version, program, f"{program}-{i:02}.data") for i in range(count)]
    rng.shuffle(todo)
    made, loads = {v: [] for v in versions}, []
    for i, (version, program, data) in enumerate(todo):
        loads.append(os.getloadavg()[0])
        progress(f"recording {i + 1} of {len(todo)}, load {loads[-1]:.1f}")
        run("perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-g", "-o", data, "--", "taskset", "-c", str(cpu), program,
            env={**os.environ, "PADDING": environment[version]})
        made[version].append(os.path.relpath(data, folder))
    return {"target": target, "versions": made, "calls": calls, "when": time.strftime("%Y-%m-%d %H:%M"),
            "load": [min(loads), sum(loads) / len(loads), max(loads)]}


def recordings(args, size):
    """The folder of recordings and what is in it, made when there is none of this size."""
    folder = os.path.join(args.data, f"diff-verdicts-{args.program}{'-quick' if args.quick else ''}")
    index = os.path.join(folder, "index.json")
    if args.record_again or not os.path.exists(index):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        made = record(folder, args.program, size, args.cpu, args.seed)
        with open(index, "w", encoding="ascii") as f:
            json.dump(made, f, indent=1)
    with open(index, encoding="ascii") as f:
        return folder, json.load(f)


# Simulation

def simulated(folder, size, noise, seed):
    """Runs of ten functions: their weights vary between runs, one's three times as much, and samples are drawn from them.

    `noise` is the deviation between runs of the growing function's share in points, sampling included.
    """
    varies = max(0, noise ** 2 - BASE * (100 - BASE) / 1400) ** 0.5 / BASE
    rng = random.Random(seed)
    shares = [22, BASE, 13, 12, 11, 9, 7, 5.8, 4, 2]
    versions = {v: {} for v in ("same build", *GROWN)}
    made = {v: [] for v in versions}
    for version in versions:
        weights = [s * growth(GROWN[version]) if version in GROWN and s == BASE else s for s in shares]
        for i in range(size["simulated"]):
            truth = [max(0, w * rng.gauss(1, varies * (3 if k == 2 else 1))) for k, w in enumerate(weights)]
            n = round(rng.gauss(1400 * sum(weights) / 100, 14))
            drawn = rng.choices(range(len(shares)), truth, k=n)
            path = os.path.join(folder, f"{version.replace(' %', '').replace(' ', '-')}-{i:03}.spaa")
            write_profile(path, [drawn.count(k) for k in range(len(shares))])
            made[version].append(path)
    return {"target": "f1", "versions": made, "noise": noise}


def write_profile(path, counts):
    weights = [[{"metric": "samples", "value": c}, {"metric": "period", "value": c * 1003009, "unit": "ns"}] for c in counts]
    records = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
                "events": [{"name": "cpu-clock", "kind": "software", "sampling": {
                    "mode": "frequency", "primary_metric": "period", "frequency_hz": 997}}],
                "time_range": {"start": 0, "end": sum(counts) / 997, "unit": "seconds"},
                "source": {"tool": "perf"}, "stack_id_mode": "local", "x_spaa": {"duration": sum(counts) / 997}},
               {"type": "dso", "id": 1, "name": "/bin/program", "is_kernel": False}]
    records += [{"type": "frame", "id": i, "func": f"f{i}", "dso": 1, "kind": "user"} for i in range(len(counts))]
    records += [{"type": "frame", "id": len(counts), "func": "main", "dso": 1, "kind": "user"}]
    records += [{"type": "stack", "id": i, "frames": [i, len(counts)], "stack_type": "user", "context": {"event": "cpu-clock"},
                 "weights": w, "exclusive": {"frame": i, "weights": w}} for i, w in enumerate(weights)]
    with open(path, "w", encoding="ascii") as f:
        f.writelines(json.dumps(r) + "\n" for r in records)


# Draws

def converted(spaa, folder, versions, target):
    """The recordings as SPAA at function granularity, which makes thousands of comparisons quick."""
    made = {}
    for version, files in versions.items():
        made[version] = []
        for i, name in enumerate(files):
            path = os.path.join(target, f"{version.replace(' ', '-')}-{i:02}.spaa")
            run(spaa, "convert", "-q", os.path.join(folder, name), "--no-inline", "--frames", "function", "--group-by",
                "none", "-o", path)
            made[version].append(path)
    return made


def comparer(spaa, more):
    def compare(sides):
        base, new = sides
        done = subprocess.run([spaa, "diff", "-q", "--json", "-j1", "-n20", *more, *base, "--", *new], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)
    return compare


def changed(answer):
    return answer["verdict"] == "CHANGED"


def found(target):
    """Whether the growth was seen: a headline, and the function that grew among what stands behind it."""
    def judge(answer):
        return changed(answer) and any(r["function"] == target and r["verdict"] == "significant" and r["delta"] > 0
                                       for r in answer["rows"])
    return judge


def cells(pools, target):
    """Every line of the table: its name, what counts, the pools it draws from, and how to draw k runs a side."""
    base = pools["same build"]
    relinked = [base] + [p for v, p in pools.items() if v.startswith("relinked")]
    pairs = list(itertools.permutations(range(len(relinked)), 2))
    alike = [p for p in pairs if largest_difference(relinked[p[0]], relinked[p[1]]) <= 0.1]

    def same(k):
        def draw(rng, pool):
            chosen = distinct(rng, pool, 2 * k)
            return chosen[:k], chosen[k:]
        return draw, lambda rng, pool: resample(rng, pool, 2 * k)

    def of_pairs(pairs, k):
        def draw(rng, some):
            first, second = rng.choice(pairs)
            return distinct(rng, some[first], k), distinct(rng, some[second], k)
        return draw, lambda rng, some: [resample(rng, p, k) for p in some]

    yield "same build", changed, base, same
    if pairs:
        yield "relinked", changed, relinked, lambda k: of_pairs(pairs, k)
    if alike:
        yield "relinked, alike", changed, relinked, lambda k: of_pairs(alike, k)
    for version in GROWN:
        yield version, found(target), [base, pools[version]], lambda k: of_pairs([(0, 1)], k)


def met(goal, rate):
    sign, number = goal.split()
    return rate * 100 <= float(number) if sign == "<=" else rate * 100 >= float(number)


def table(args, size, pools, target, more):
    compare = comparer(args.spaa, more)
    for name, counts, pool, drawing in cells(pools, target):
        for k in (3, 5):
            progress(f"drawing: {name}, {k} runs a side")
            draw, resampled = drawing(k)
            e = estimate(lambda sides, counts=counts: counts(compare(sides)), pool, draw, resampled, args.seed, *size["draws"])
            yield name, k, "found" if name in GROWN else "false headlines", e, GOALS.get((name, k), "")


# What the recordings are like

def self_counts(path):
    counts = {}
    functions = {}
    with open(path, encoding="utf-8") as f:
        for r in map(json.loads, f):
            if r["type"] == "frame":
                functions[r["id"]] = r["func"]
            elif r["type"] == "stack":
                n = next(w["value"] for w in r["weights"] if w["metric"] == "samples")
                name = functions[r["frames"][0]]
                counts[name] = counts.get(name, 0) + n
    return counts


def share(counts, function):
    return 100 * counts.get(function, 0) / sum(counts.values())


def largest_difference(base, new):
    """Of functions of 1 % or more: the largest ratio of costs against the median function, as a logarithm; of all recordings."""
    sides = []
    for files in (base, new):
        counts = [self_counts(p) for p in files]
        sides.append({f: sum(c.get(f, 0) for c in counts) / len(counts) for f in set().union(*counts)})
    least = sum(sides[0].values()) / 100
    ratios = sorted(math.log(sides[1][f] / n) for f, n in sides[0].items() if n >= least and sides[1].get(f))
    middle = ratios[len(ratios) // 2]
    return max(ratios[-1] - middle, middle - ratios[0])


def deviation(values):
    mean = sum(values) / len(values)
    return (sum((v - mean) ** 2 for v in values) / max(1, len(values) - 1)) ** 0.5


def spread(pools):
    """Of each function: percent, points between runs of one build, of which by sampling, and percent of itself between builds."""
    by_version = {v: [self_counts(p) for p in files] for v, files in pools.items()}
    base = by_version["same build"]
    totals = [sum(c.values()) for c in base]
    print(f"\nsamples a run: {sum(totals) / len(totals):.0f}, between runs {deviation(totals):.1f}")
    print(f"{'self of':<40}{'share %':>8}{'sd':>7}{'by sampling':>12}{'samples':>9}{'dispersion':>11}{'between builds %':>17}")
    for name in sorted(set().union(*base), key=lambda f: -sum(c.get(f, 0) for c in base)):
        shares = [share(c, name) for c in base]
        mean, n = sum(shares) / len(shares), sum(totals) / len(totals)
        if mean < 0.5:
            break
        sampling = (mean * (100 - mean) / n) ** 0.5
        counts = [c.get(name, 0) for c in base]
        builds = [[c.get(name, 0) for c in runs] for v, runs in by_version.items() if v == "same build" or v.startswith("relinked")]
        within = sum(deviation(b) ** 2 / len(b) for b in builds) / len(builds)
        means = [sum(b) / len(b) for b in builds]
        between = 100 * max(0, deviation(means) ** 2 - within) ** 0.5 / (sum(means) / len(means))
        print(f"{name[:39]:<40}{mean:8.2f}{deviation(shares):7.2f}{sampling:12.2f}{sum(counts) / len(counts):9.1f}"
              f"{deviation(counts) ** 2 / (sum(counts) / len(counts)):11.2f}{between:17.1f}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", choices=list(PROGRAMS), default="atlas", help="what to record (default atlas; tune with ledger)")
    ap.add_argument("--simulated", nargs="?", type=float, const=1.1, metavar="POINTS",
                    help="made-up runs, a share of 14.2 %% deviating by so many points between them, sampling included (default 1.1)")
    ap.add_argument("--quick", action="store_true", help="few recordings and draws")
    ap.add_argument("--spread", action="store_true", help="also what the recordings are like, function by function")
    ap.add_argument("--record-again", action="store_true", help="make new recordings")
    ap.add_argument("--record-only", action="store_true", help="make recordings, no more")
    ap.add_argument("--cpu", default=os.cpu_count() - 1, help="the core that recordings are made on (default: the last)")
    ap.add_argument("--seed", default="1")
    ap.add_argument("--json", metavar="FILE", help="write the numbers here too")
    ap.add_argument("--spaa", default=os.path.join(ROOT, "build", "spaa"), help="the tool (default build/spaa)")
    ap.add_argument("--data", default=os.path.join(ROOT, "build", "bench-data"), help="where recordings are kept")
    ap.add_argument("more", nargs="*", metavar="-- OPTION", help="options for spaa diff, as --method=permutation")
    args = ap.parse_args()
    args.spaa, args.data = os.path.abspath(args.spaa), os.path.abspath(args.data)
    size = {"base": 40, "grown": 24, "each": 12, "builds": 9, "simulated": 200, "draws": (600, 80, 40)}
    if args.quick:
        size = {"base": 12, "grown": 6, "each": 6, "builds": 2, "simulated": 20, "draws": (20, 4, 5)}
    with tempfile.TemporaryDirectory(prefix="diff-verdicts-") as scratch:
        if args.simulated is not None:
            made = simulated(scratch, size, args.simulated, args.seed)
            pools = made["versions"]
            print(f"simulated: 1,400 samples a run, {args.simulated:g} points between runs")
        else:
            folder, made = recordings(args, size)
            if args.record_only:
                return 0
            pools = converted(args.spaa, folder, made["versions"], scratch)
            print(f"{args.program}: {sum(map(len, pools.values()))} recordings of {len(pools)} builds, {made['when']}, "
                  f"load {made['load'][0]:.1f} to {made['load'][2]:.1f}, {made['load'][1]:.1f} on average")
        for version in ("same build", *GROWN):
            shares = [share(self_counts(p), made["target"]) for p in pools[version]]
            print(f"{made['target']}, {version}: {sum(shares) / len(shares):.1f} %, between runs {deviation(shares):.2f} points")
        rows = []
        for row in table(args, size, pools, made["target"], args.more):
            name, k, what, e, goal = row
            rows.append(row)
            print(f"{name:<18}{k} v {k}  {what:<16}{str(e):<26}{goal and goal + ' %':<9}"
                  f"{'' if not goal else 'ok' if met(goal, e.rate) else 'MISSED'}", flush=True)
        if args.spread:
            spread(pools)
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump({"schema": "spaa.diff-verdicts/1", "recordings": made, "rows": [
                {"what": n, "runs_a_side": k, "counted": w, **e.as_json(), "goal": g} for n, k, w, e, g in rows]}, f, indent=1)
            f.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures spaa against what else is installed here, on inputs it makes itself. See README.md.

    make bench
    bench/run.py --quick                       # a tenth of the size, fewer runs
    bench/run.py --only spaa top               # some groups of measures
    bench/run.py --flamegraph ~/FlameGraph     # also against its Perl scripts

The groups stand in groups/*.py: each is a function that takes the machine (kit.py) and yields rows and
checks, named in the GROUPS of its file.
"""
import argparse
import glob
import importlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time

from kit import HERE, ROOT, Check, Machine, Row
from measure import Failed


def groups():
    """Every group by name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "groups", "*.py"))):
        found.update(importlib.import_module(f"groups.{os.path.basename(path)[:-3]}").GROUPS)
    return found


GROUPS = groups()


def print_rows(rows):
    head = ["what", "cpu s", "wall s", "rate", "MB", "against", "cpu s", "wall s", "MB", "ratio", "needs", ""]
    table = [head] + [r.cells() for r in rows if isinstance(r, Row)]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    left = (0, 5, 11)
    for line in table if len(table) > 1 else []:
        print("  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip())
    for check in (r for r in rows if isinstance(r, Check)):
        print(f"{'ok' if check.met() else 'MISSED':<8}{check.what}{': ' + check.note if check.note else ''}")


def first_line(*command):
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).splitlines()[0].strip() if done.stdout or done.stderr else None


def machine_facts(before):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        models = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "load_before": round(before[0], 2), "load_after": round(os.getloadavg()[0], 2)}


def add_history(path, args, facts, rows, broken):
    """One line: when, of what, where, and every ratio; rates of different machines cannot be compared."""
    git = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h %cI"], capture_output=True, text=True, check=False)
    commit, _, at = git.stdout.strip().partition(" ")
    ratios = {f"{r.group}: {r.what}": round(r.ratio, 2) for r in rows if isinstance(r, Row) and r.ratio}
    missed = [r.what for r in rows if r.met() is False]
    line = {"schema": "spaa.bench.history/1", "commit": commit or None, "committed": at or None, "quick": args.quick, "machine": facts,
            "ratios": ratios, "missed": missed, "failed": broken}
    with open(path, "a", encoding="utf-8") as f:
        f.write(json.dumps(line, ensure_ascii=False) + "\n")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is being measured then ends, too
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--quick", action="store_true", help="a tenth of the size, three runs")
    ap.add_argument("--only", nargs="+", choices=list(GROUPS), metavar="GROUP", help=", ".join(GROUPS))
    ap.add_argument("--json", metavar="FILE", help="write every single run here too")
    ap.add_argument("--history", metavar="FILE", nargs="?", const=os.path.join(HERE, "history.jsonl"),
                    help="add a line with the ratios here (default bench/history.jsonl)")
    ap.add_argument("--spaa", default=os.path.join(ROOT, "build", "spaa"), help="the tool (default build/spaa)")
    ap.add_argument("--flamegraph", metavar="DIR", help="a checkout of FlameGraph")
    ap.add_argument("--data", default=os.path.join(ROOT, "build", "bench-data"), help="where inputs are made and kept")
    args = ap.parse_args()
    before = os.getloadavg()
    m = Machine(args)
    rows, broken = [], []
    begun = time.monotonic()
    for i, name in enumerate(args.only or GROUPS):
        m.say(f"[{i + 1}/{len(args.only or GROUPS)}] {name}, after {time.monotonic() - begun:.0f} s")
        try:
            rows += GROUPS[name](m)
        except Failed as e:
            broken.append(f"{name}: {e}")
    m.log("")
    print_rows(rows)
    for line in broken:
        print(f"FAILED  {line}")
    facts = machine_facts(before)
    facts["versions"] = [v for v in (first_line(tool, "--version") for tool in (m.spaa, "perf", "jq")) if v]
    print(f"machine: {facts['cpu']}, {facts['cores']} cores, Linux {facts['kernel']}, load {facts['load_before']} "
          f"before and {facts['load_after']} after; {', '.join(facts['versions'])}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"schema": "spaa.bench/1", "quick": args.quick, "machine": facts, "failed": broken,
                       "rows": [r.as_json() for r in rows]}, f, indent=1)
            f.write("\n")
    if args.history:
        add_history(args.history, args, facts, rows, broken)
    return 1 if broken or any(isinstance(r, Check) and not r.met() for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds what spaa says of threads against perf's words of the same recording.

    judge.py FILE.data... [--spaa build/spaa] [--all] [--json] [--expect OUT.json]

Three witnesses: the judge's own walk over `perf script` (walk.py), `perf sched timehist`, and what the program
itself measured (FILE.json, where it exists). An answer differs where it is outside of what the walk allows, by more
than 1 us. --all shows all threads, not those that differ alone; --expect writes the walk's figures.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from walk import STATES, Part, Thread, Walk, walk  # noqa: E402

SLACK = 1000  # ns
IN_TASK = re.compile(r"^\s*(.*)\[(-?\d+)(?:/(-?\d+))?\]\s*$")


# ---- perf's own figures ----


@dataclass
class TimeHist:
    run: int = 0  # ns, all three
    delay: int = 0
    wait: int = 0
    lines: int = 0
    summed: float | None = None  # ms, of --summary
    count: int = 0
    migrations: int = 0


def timehist(path: str) -> dict[int, TimeHist]:
    """By tid, from each line and from the summary. Each line is rounded to 1 us."""
    out: dict[int, TimeHist] = {}
    perf = ["perf", "sched", "timehist", "-i", str(path), "-w"]
    for line in subprocess.run([*perf[:-1]], capture_output=True, text=True).stdout.splitlines():
        m = re.match(r"^\s*\d+\.\d+ \[\d+\]\s+(.*?\[-?\d+(?:/-?\d+)?\])\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", line)
        who = m and IN_TASK.match(m[1])
        if not who:
            continue
        x = out.setdefault(int(who[2]), TimeHist())
        x.wait += round(float(m[2]) * 1e6)
        x.delay += round(float(m[3]) * 1e6)
        x.run += round(float(m[4]) * 1e6)
        x.lines += 1
    for line in subprocess.run([*perf[:-1], "--summary"], capture_output=True, text=True).stdout.splitlines():
        m = re.match(r"^\s*(.*\[-?\d+(?:/-?\d+)?\])\s+(-?\d+)\s+(\d+)\s+([\d.]+)\s+.*\s(\d+)\s*$", line)
        who = m and IN_TASK.match(m[1])
        if who:
            x = out.setdefault(int(who[2]), TimeHist())
            x.summed, x.count, x.migrations = float(m[4]), int(m[3]), int(m[5])
    return out


def latency(path: str) -> dict[int, tuple[int, float, float]]:
    """By tid: switches, mean and longest delay in ms, of `perf sched latency -p`."""
    out = {}
    done = subprocess.run(["perf", "sched", "latency", "-p", "-i", str(path)], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        m = re.match(r"^\s*(.*):(\d+)\s*\|\s*([\d.]+) ms \|\s*(\d+) \| avg:\s*([\d.]+) ms \| max:\s*([\d.]+) ms", line)
        if m:
            out[int(m[2])] = (int(m[4]), float(m[5]), float(m[6]))
    return out


# ---- spaa's ----


@dataclass
class Said:
    """Of one thread and one state."""

    ns: int = 0
    n: int = 0
    longest: int = 0
    edge: int = 0
    unsure: int = 0


def query(spaa: str, path: str, sql: str) -> list[dict]:
    done = subprocess.run([spaa, "query", str(path), "--json", "-n", "0", sql], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-400:])
    answer = json.loads(done.stdout)
    rows = answer.get("rows", answer)
    if rows and isinstance(rows[0], list):
        names = [c["name"] if isinstance(c, dict) else c for c in answer["columns"]]
        rows = [dict(zip(names, r)) for r in rows]
    return rows


def has_intervals(spaa: str) -> bool:
    done = subprocess.run([spaa, "query", ".tables"], capture_output=True, text=True)
    return bool(re.search(r"^intervals\b", done.stdout, re.M))


SUMS = """SELECT tid, state, sum(CASE WHEN {whole} THEN {length} END) AS ns, sum({whole}) AS n,
 max(CASE WHEN {whole} THEN {length} END) AS longest, sum(CASE WHEN NOT {whole} THEN {length} END) AS edge
 FROM {source} GROUP BY 1, 2"""
WORDS = {"WAITING": "blocked", "BLOCKED": "blocked", "SUSPENDED": "blocked", "IDLE": "blocked", "RUN_QUEUE": "runnable"}


FROM_TABLE = SUMS.format(source="intervals WHERE tid > 0", length="ns", whole="(NOT open AND NOT before)")


def said(spaa: str, path: str) -> dict[int, dict[str, Said]]:
    """By tid and state: of the table `intervals`, or, without that, of the samples of off-cpu (edges within)."""
    if has_intervals(spaa):
        rows = query(spaa, path, FROM_TABLE)
    else:
        source = "samples s JOIN stacks k ON k.id = s.stack WHERE s.event = 'off-cpu'"
        rows = query(spaa, path, SUMS.format(source=source, length="s.period", whole="(1)").replace("tid,", "s.tid,"))
    return said_of(rows)


def said_of(rows: list[dict]) -> dict[int, dict[str, Said]]:
    out: dict[int, dict[str, Said]] = {}
    for r in rows:
        state = WORDS.get(r["state"], r["state"].lower())
        x = out.setdefault(r["tid"], {}).setdefault(state, Said())
        x.ns += r["ns"] or 0
        x.n += r["n"] or 0
        x.longest = max(x.longest, r["longest"] or 0)
        x.edge += r["edge"] or 0
    return out


def length_said(spaa: str, path: str) -> int:
    """How long the recording is for the answer: threads that are in it from its begin to its end say so."""
    if not has_intervals(spaa):
        return 0
    row = query(spaa, path, 'SELECT max(end_time) - min(start_time) AS n FROM intervals')[0]
    return row["n"] or 0


# ---- the comparison ----


def differences(w: Walk, spaa: dict[int, dict[str, Said]], states: tuple[str, ...], longer: int = 0) -> list[dict]:
    """Whole intervals and those at the edges on their own. `longer`: the answer takes the recording as so much longer."""
    out = []
    for tid, x in sorted(w.threads.items()):
        for state in states:
            p, s = x.parts[state], spaa.get(tid, {}).get(state, Said())
            for part, low, high, value in (
                ("whole", p.ns, p.ns + x.unsure + longer, s.ns),  # an exit behind the last switch ends what was open
                ("edge", p.edge, p.edge + x.unsure + longer, s.edge),
                ("all", p.ns + p.edge, p.ns + p.edge + x.unsure + longer, s.ns + s.edge),
            ):
                if part != "all" and x.unsure:
                    continue  # which of the two it is, nobody knows
                off = low - value if value < low else max(0, value - high)
                out.append({"tid": tid, "comm": x.comm, "state": state, "part": part, "spaa": value, "low": low,
                            "high": high, "n": p.n, "longest": p.longest, "spaa_n": s.n, "spaa_longest": s.longest,
                            "off": off, "wrong": off > SLACK})  # fmt: skip
    return out


def truth_of(path: Path) -> dict | None:
    beside = path.with_suffix(".json")
    return json.loads(beside.read_text()) if beside.exists() else None


def expected(w: Walk) -> dict:
    """The walk's figures as a fixture has them beside it: threads by tid."""
    threads = {}
    for tid, x in sorted(w.threads.items()):
        parts = {s: {"ns": p.ns, "n": p.n, "longest": p.longest, "edge": p.edge} for s, p in x.parts.items()}
        threads[tid] = {"comm": x.comm, "pid": x.pid, **parts, "unsure": x.unsure, "migrations": x.migrations,
                        "switches": x.switches, "wakers": {str(k): v for k, v in sorted(x.wakers.items())}}  # fmt: skip
    return {"begin": w.begin, "end": w.end, "events": dict(sorted(w.events.items())), "threads": threads}


def walk_of(figures: dict) -> Walk:
    """What `expected` wrote."""
    threads = {}
    for tid, t in figures["threads"].items():
        parts = {s: Part(t[s]["ns"], t[s]["n"], t[s]["longest"], t[s]["edge"]) for s in STATES}
        threads[int(tid)] = Thread(int(tid), t["comm"], t["pid"], parts, t["unsure"])
    return Walk(threads, figures["begin"], figures["end"], figures["events"], {})


def judge(path: Path, o: argparse.Namespace) -> dict:
    w = walk(str(path), alone="-own" in path.name)
    states = STATES if has_intervals(o.spaa) else STATES[1:]
    rows = differences(w, said(o.spaa, path), states, max(0, length_said(o.spaa, path) - (w.end - w.begin)))
    return {"file": path.name, "rows": rows, "wrong": sum(r["wrong"] for r in rows), "walk": w}


def main() -> int:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("files", type=Path, nargs="+")
    a.add_argument("--spaa", default=os.environ.get("SPAA_BIN", "build/spaa"))
    a.add_argument("--all", action="store_true")
    a.add_argument("--perf", action="store_true", help="beside perf sched timehist")
    a.add_argument("--expect", type=Path)
    o = a.parse_args()
    wrong = 0
    for path in o.files:
        j = judge(path, o)
        wrong += j["wrong"]
        print(f"{path.name}: {len(j['rows'])} figures, {j['wrong']} differ")
        for r in j["rows"]:
            if o.all or r["wrong"]:
                print(
                    f"  {r['comm'][:16]:16} {r['tid']:7} {r['state']:8} {r['part']:5} spaa {r['spaa'] / 1e6:12.6f} "
                    f"allowed {r['low'] / 1e6:12.6f} to {r['high'] / 1e6:12.6f} ms{'  WRONG' if r['wrong'] else ''}"
                )
        if o.expect:
            o.expect.write_text(json.dumps(expected(j["walk"]), indent=1) + "\n")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

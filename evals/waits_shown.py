#!/usr/bin/env python3
"""The planted lock (programs/stall.c), asked once: evals/waits_shown.py SPAA [STALL.data]

One command, at most 3.5 KB; the holder is named; its hold is split. And each thread's totals beside perf's
(`perf sched timehist`). Exit code 1: something of that is not so. Without a recording one is made (as root).
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "schedule"))

import judge  # noqa: E402
from walk import walk  # noqa: E402


def recorded(at: Path) -> Path:
    program, data = at / "stall", at / "stall.data"
    source = ROOT / "evals/programs/stall.c"
    subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", str(source), "-o", str(program)], check=True)
    perf = ["perf", "record", "-q", "-a", "-g", "-e", "sched:sched_switch,sched:sched_waking", "-o", str(data)]
    subprocess.run([*perf, "--", str(program)], check=True, env=os.environ)
    return data


def shown(spaa: str, data: Path) -> list[str]:
    """What is missing of the answer."""
    text = subprocess.run([spaa, "waits", str(data)], capture_output=True, text=True).stdout
    print(text)
    print(f"commands 1, bytes {len(text.encode())}")
    missing = [] if len(text.encode()) <= 3500 else ["it has more than 3500 bytes"]
    for word in ("refresher", "http-*", "refresh", "handle_request", "running", "waiting for a CPU", "blocked"):
        if word not in text:
            missing.append(f"it does not say {word!r}")
    return missing


def totals(spaa: str, data: Path) -> list[str]:
    """Threads' run time and wait for a CPU beside perf's; where switches are missing both only guess."""
    wrong = []
    w, hist, said = walk(str(data)), judge.timehist(str(data)), judge.said(spaa, str(data))
    print(f"{'thread':22} {'running ms':>12} {'perf':>12} {'runnable ms':>12} {'perf':>12}  unsure ms")
    for tid, x in sorted(w.threads.items(), key=lambda t: -t[1].parts["running"].ns)[:30]:
        ours, perf = said.get(tid, {}), hist.get(tid, judge.TimeHist())
        run, queue = (ours.get(s, judge.Said()).ns for s in ("running", "runnable"))
        print(f"{x.comm + ' ' + str(tid):22} {run / 1e6:12.3f} {perf.run / 1e6:12.3f} {queue / 1e6:12.3f} {perf.delay / 1e6:12.3f}  {x.unsure / 1e6:.3f}")
        if not x.unsure and x.parts["running"].n == perf.lines and abs(run - perf.run) > max(0.001 * perf.run, 1000 * perf.lines + 1000):
            wrong.append(f"{x.comm} ran {run} ns, perf says {perf.run}")
    return wrong


def main() -> int:
    spaa = sys.argv[1]
    with tempfile.TemporaryDirectory() as temporary:
        data = Path(sys.argv[2]) if len(sys.argv) > 2 else recorded(Path(temporary))
        missing = shown(spaa, data) + totals(spaa, data)
    for m in missing:
        print("NOT SO:", m)
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())

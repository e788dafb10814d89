#!/usr/bin/env python3
"""Builds the programs with known shares and records them: NAME-switch, NAME-wake, NAME-cpu and further kinds.

    record.py OUT [--only NAME[,NAME]] [--kinds switch,wake] [--short]

Into OUT: bin/ (the programs), NAME-KIND.data, NAME-KIND.json (what the program says of itself).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = "-O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread".split()
SWITCH = ["-e", "sched:sched_switch"]
WAKE = [
    "-e",
    ",".join(
        "sched:sched_" + e
        for e in "switch waking wakeup wakeup_new migrate_task process_fork process_exec process_exit".split()
    ),
]
CLOCK = ["-e", "cpu-clock/freq=499,name=cpu-clock/"]

# name: the program, its arguments (milliseconds first), those of a fixture
RUNS = {
    "spin": ("spin", ["300"], ["60"]),
    "lock-spin": ("lock", ["900", "spin"], ["360", "spin"]),
    "lock-cpu": ("lock", ["900", "cpu"], ["360", "cpu"]),
    "lock-sleep": ("lock", ["900", "sleep"], ["360", "sleep"]),
    "lock-disk": ("lock", ["600", "disk"], ["330", "disk"]),
    "chain": ("chain", ["600"], ["250"]),
    "convoy": ("convoy", ["500"], ["40"]),
    "condition": ("condition", ["500"], ["60"]),
    "sleeper": ("sleeper", ["400"], ["100"]),
    "server": ("server", ["400"], ["60"]),
    "pipes": ("pipes", ["200"], ["20"]),
    "sockets": ("pipes", ["200", "sockets"], ["20", "sockets"]),
    "child": ("child", ["200"], ["60"]),
    "faults": ("faults", ["150"], ["10"]),
    "preempt": ("preempt", ["400"], ["100"]),
    "preempt-nice": ("preempt", ["400", "mixed"], ["100", "mixed"]),
    "inversion": ("inversion", ["400"], ["200"]),
    "deadlock": ("deadlock", ["300"], ["150"]),
    "deadlock-timed": ("deadlock", ["300", "timed"], ["250", "timed"]),
    "stopped": ("stopped", ["300"], ["90"]),
    "many": ("many", ["120"], ["20"]),
    "pools": ("pools", ["500"], ["550"]),
    "gopher": ("gopher", ["300"], ["60"]),
    "snake": ("snake.py", ["400"], ["40"]),
}
# kind: perf record's arguments; "-a" of the whole machine. Kernels and programs by frame pointers but for dwarf.
KINDS = {
    "switch": ["-a", "-g", *SWITCH],
    "wake": ["-a", "-g", *WAKE],
    "cpu": ["-a", "-g", *WAKE, *CLOCK],
    "own": ["-g", *SWITCH],
    "ownwake": ["-g", *WAKE],
    "dwarf": ["-a", "--call-graph", "dwarf,8192", *SWITCH],
    "swev": ["-a", "-g", "--switch-events", *CLOCK],
    "ownswev": ["-g", "--switch-events", *CLOCK],
    "lossy": ["-a", "-g", "-m", "1", *WAKE],  # too small a buffer: events are lost
    "cpu0": ["-C", "0", "-g", *WAKE],  # what happens on the other CPUs is not seen
    "plain": ["-a", *WAKE],  # no stacks
    "one": ["-a", "-g", *WAKE],  # the program, and perf, on CPU 0
    "oneswitch": ["-a", "-g", *SWITCH],
    "middle": ["-a", "-g", *WAKE],  # begins and ends while the program runs
    "middleown": ["-g", *SWITCH],
}
USUAL = ["switch", "wake", "cpu", "one", "oneswitch"]
# What is shipped (ship.py) of the short runs: kinds of each.
SHIPPED = {
    **{name: ["one"] for name in RUNS},
    "lock-cpu": ["one", "oneswitch", "wake", "own", "ownswev"],
    "lock-sleep": ["one", "oneswitch"],
    "chain": ["one", "oneswitch", "own"],
    "spin": ["one", "wake"],
    "pipes": ["one", "own"],
    "child": ["one", "ownwake"],
    "preempt": ["one", "ownswev"],
}
MORE = {
    "lock-cpu": ["own", "ownwake", "swev", "ownswev", "dwarf"],
    "lock-sleep": ["own", "dwarf"],
    "pipes": ["own", "swev", "ownwake"],
    "preempt": ["own", "swev", "ownswev"],
    "child": ["own", "ownwake", "swev"],
    "chain": ["own", "dwarf"],
    "many": ["own"],
    "stopped": ["own", "swev"],
    "pools": ["lossy", "cpu0", "plain", "middle", "middleown"],
    "condition": ["middle", "middleown"],
    "spin": ["cpu0", "middle"],
}


def build(to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    for c in sorted((HERE / "programs").glob("*.c")):
        subprocess.run(
            [*os.environ.get("CC", "gcc").split(), *FLAGS, str(c), "-o", str(to / c.stem)], check=True
        )
    shutil.copy(HERE / "programs/snake.py", to / "snake.py")
    if shutil.which("go"):
        go = HERE / "programs/gopher.go"
        subprocess.run(["go", "build", "-o", str(to / "gopher"), str(go)], check=True)


def command(programs: Path, name: str, short: bool) -> list[str]:
    program, usual, brief = RUNS[name]
    args = brief if short else usual
    path = str(programs / program)
    return [sys.executable, path, *args] if program.endswith(".py") else [path, *args]


def record(out: Path, programs: Path, name: str, kind: str, short: bool = False) -> Path | None:
    """The recording, and beside it what the program printed; None, with perf's words, where it was not possible."""
    data = (out / f"{name}-{kind}.data").resolve()
    perf = ["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-o", str(data), *KINDS[kind], "--"]
    if kind.startswith("one"):
        perf = ["taskset", "-c", "0", *perf]
    work = out / "tmp"  # the programs write files there
    work.mkdir(exist_ok=True)
    if kind.startswith("middle"):
        return record_middle(perf, data, command(programs.resolve(), name, short), work)
    done = subprocess.run(
        perf + command(programs.resolve(), name, short), cwd=work, capture_output=True, text=True, timeout=60
    )
    try:
        truth = json.loads(done.stdout)
    except ValueError:
        sys.stderr.write(f"{name}-{kind}: {done.returncode} {done.stderr[-300:]}\n")
        return None
    data.with_suffix(".json").write_text(json.dumps(truth, indent=1) + "\n")
    return data


def record_middle(perf: list[str], data: Path, program: list[str], work: Path) -> Path | None:
    """The middle third of a program's run."""
    running = subprocess.Popen(program, cwd=work, stdout=subprocess.PIPE, text=True)
    third = int(program[-1]) / 3000
    time.sleep(third)
    whom = [] if "-a" in perf else ["-p", str(running.pid)]
    subprocess.run([*perf[:-1], *whom, "--", "sleep", str(third)], capture_output=True, timeout=60)
    data.with_suffix(".json").write_text(json.dumps(json.loads(running.communicate()[0]), indent=1) + "\n")
    return data


def main() -> int:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("out", type=Path)
    a.add_argument("--only")
    a.add_argument("--kinds")
    a.add_argument("--short", action="store_true", help="the runs that are shipped")
    o = a.parse_args()
    programs = o.out / "bin"
    build(programs)
    for name in o.only.split(",") if o.only else RUNS:
        if not (programs / RUNS[name][0]).exists():
            continue
        shipped = SHIPPED[name] if o.short else USUAL + MORE.get(name, [])
        for kind in o.kinds.split(",") if o.kinds else shipped:
            data = record(o.out, programs, name, kind, o.short)
            if data:
                print(data.name, data.stat().st_size, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""waits and sched beside perf on one recording of many switches: bench/waits.py SPAA [--switches 500000] [--keep DIR]

Records a program whose threads hand a byte around until there are as many switches, then times, one after another
in the same run: `spaa waits`, `spaa sched`, `perf sched timehist --summary`, and `perf script | python` (the walk of
tests/schedule). Ratios are of times of the same run; each is the best of three, of perf script of one.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int there[2], back[2];
static long rounds;
static void *other(void *arg) {
    char c;
    for (long i = 0; i < rounds; i++)
        if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1) abort();
    return arg;
}
int main(int argc, char **argv) {
    char c = 'x';
    rounds = argc > 1 ? atol(argv[1]) : 1;
    if (pipe(there) || pipe(back)) abort();
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    for (long i = 0; i < rounds; i++)
        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1) abort();
    pthread_join(t, 0);
}
"""


def recording(at: Path, switches: int) -> Path:
    (at / "hand.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", str(at / "hand.c"), "-o", str(at / "hand")], check=True)
    data = at / "hand.data"
    perf = ["taskset", "-c", "0", "perf", "record", "-q", "-a", "-g", "-m", "16M", "-e", "sched:sched_switch,sched:sched_waking"]
    subprocess.run([*perf, "-o", str(data), "--", str(at / "hand"), str(switches // 2)], check=True)
    return data


def best(command: str, times: int) -> tuple[float, int]:
    """Seconds, and the exit code of the last."""
    took = []
    for _ in range(times):
        begin = time.monotonic()
        code = subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        took.append(time.monotonic() - begin)
    return min(took), code


def main() -> int:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("spaa")
    a.add_argument("--switches", type=int, default=500_000)
    a.add_argument("--keep", type=Path)
    o = a.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        at = o.keep or Path(temporary)
        at.mkdir(parents=True, exist_ok=True)
        data = at / "hand.data"
        if not data.exists():
            recording(at, o.switches)
        walk = f"import sys; sys.path.insert(0, '{ROOT}/tests/schedule'); from walk import walk; walk('{data}')"
        commands = {
            "perf sched timehist --summary": (f"perf sched timehist --summary -i {data}", 3),
            "spaa waits": (f"{o.spaa} waits {data}", 3),
            "spaa sched": (f"{o.spaa} sched {data}", 3),
            "perf script | python": (f'{sys.executable} -c "{walk}"', 1),
        }
        rows = {name: best(command, times) for name, (command, times) in commands.items()}
        perf = rows["perf sched timehist --summary"][0]
        for name, (seconds, code) in rows.items():
            print(json.dumps({"what": name, "seconds": round(seconds, 2), "of_perf": round(seconds / perf, 2), "code": code}))
        print(json.dumps({"bytes": data.stat().st_size}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

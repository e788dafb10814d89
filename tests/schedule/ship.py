#!/usr/bin/env python3
"""Makes the recordings that are shipped: ship.py FROM TO, where FROM is what `record.py FROM --short` made, or ship.py --again TO.

Into TO: sched-NAME-KIND.data.zst without other people's business (trim.py), the same as `perf script` text with the
names of functions, and sched-NAME-KIND.json: what the program said of itself, and the walk's figures (judge.py).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from judge import expected  # noqa: E402
from trim import Trim  # noqa: E402
from walk import walk  # noqa: E402

FIELDS = "comm,pid,tid,cpu,time,period,event,trace,ip,sym,dso"


def press(text: bytes, to: Path) -> None:
    subprocess.run(["zstd", "-19", "-q", "-f", "-o", str(to)], input=text, check=True)


def ship(data: Path, to: Path) -> None:
    truth = json.loads(data.with_suffix(".json").read_text())
    pids = {truth["pid"]} | {t["pid"] for t in truth.get("threads", [])}
    trimmed = data.with_suffix(".trimmed")
    trimmed.write_bytes(Trim(data.read_bytes(), pids).whole())
    press(trimmed.read_bytes(), to / f"sched-{data.stem}.data.zst")
    if data.stem.endswith(("-one", "-wake", "switch")):
        script = ["perf", "script", "-i", str(trimmed), "--ns", "-F", FIELDS]
        text = subprocess.run(script, capture_output=True, check=True).stdout
        press(text, to / f"sched-{data.stem}.txt.zst")
    figures = expected(walk(str(trimmed), alone="-own" in data.stem))
    (to / f"sched-{data.stem}.json").write_text(json.dumps({"truth": truth, "walk": figures}) + "\n")


def again(to: Path) -> None:
    """The figures of recordings that are shipped already, after the walk was changed."""
    for packed in sorted(to.glob("*.data.zst")):
        name = packed.name.removesuffix(".data.zst")
        with tempfile.NamedTemporaryFile(suffix=".data") as data:
            subprocess.run(["zstd", "-dc", str(packed)], stdout=data, check=True)
            figures = expected(walk(data.name, alone="-own" in name))
        known = json.loads((to / f"{name}.json").read_text())
        (to / f"{name}.json").write_text(json.dumps({"truth": known["truth"], "walk": figures}) + "\n")


def main() -> int:
    if sys.argv[1] == "--again":
        again(Path(sys.argv[2]))
        return 0
    source, to = map(Path, sys.argv[1:])
    to.mkdir(parents=True, exist_ok=True)
    for data in sorted(source.glob("*.data")):
        ship(data, to)
        sizes = [p.stat().st_size for p in sorted(to.glob(f"sched-{data.stem}.*"))]
        print(data.stem, *sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main())

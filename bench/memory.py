#!/usr/bin/env python3
"""Questions of memory beside the tools that wrote the files: bench/memory.py SPAA [SPAA…] [--quick] [--keep DIR] [--json FILE]

A pprof of 62 MB (of CPU time, and of memory), and a heaptrack recording of 100 MB, made once. Contenders of one
measure run in turns; figures are ratios of processor time of the same run, and of the largest resident size. More than
one SPAA: before and after, in the same run. Exit code 1 where the first one misses what is required.

By owner costs what `top` takes with it and not with --keep-allocators.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import MB, Bench, Failed, Side

HERE = Path(__file__).resolve().parent
GO = shutil.which("go") or "/usr/local/go/bin/go"
PPROF = [GO, "tool", "pprof", "-symbolize=none", "-top"]
PEERS = {"cpu.pb": PPROF, "heap.pb": PPROF, "app.heaptrack": ["heaptrack_print", "-f"]}
# measure: (file, what spaa is asked, least ratio of time, most of the peer's memory)
MEASURES = {
    "pprof of CPU: top": ("cpu.pb", ["top"], 25, 0.25),
    "pprof of CPU: summary": ("cpu.pb", ["summary"], None, None),
    "pprof of memory: top": ("heap.pb", ["top", "-m", "live_bytes"], 25, 0.25),
    "pprof of memory: leaks": ("heap.pb", ["leaks"], None, None),
    "pprof of memory: summary": ("heap.pb", ["summary"], None, None),
    "heaptrack: top": ("app.heaptrack", ["top"], 3, None),
    "heaptrack: leaks": ("app.heaptrack", ["leaks"], 3, None),
    "heaptrack: timeline": ("app.heaptrack", ["timeline"], 3, None),
    "heaptrack: summary": ("app.heaptrack", ["summary"], 3, None),
}
BY_OWNER = {"pprof of memory": ("heap.pb", ["top", "-m", "live_bytes"]), "heaptrack": ("app.heaptrack", ["top"])}


def made(at: Path, scale: int) -> None:
    for name, generator, *more in (("cpu.pb", "gen_pprof.py", "--samples", 735_000 // scale),
                                   ("heap.pb", "gen_pprof.py", "--heap", "--samples", 680_000 // scale),
                                   ("app.heaptrack", "gen_heaptrack.py", "--megabytes", 100 // scale)):
        if not (at / name).exists():
            subprocess.run([sys.executable, str(HERE / generator), *map(str, more), "--seed", "1", str(at / f"{name}.part")], check=True)
            (at / f"{name}.part").rename(at / name)


def cost(side: Side) -> float:
    return side.median()[0] if side.runs else float(side.late or 0)


def asked(spaa: str, question: list[str], path: Path, *more: str) -> Side:
    return Side(spaa, [spaa, *question, "-q", str(path), *more])


def answers(spaa: str, question: list[str], path: Path) -> bool:
    """An earlier spaa may not know a question of memory, or an option."""
    return subprocess.run([spaa, *question, "-q", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def compared(what: str, side: Side, theirs: Side | None, least: float | None, most: float | None) -> dict:
    row = {"what": what, "spaa": side.name, "cpu_s": round(cost(side), 3), "mb": round(side.peak() / MB, 1)}
    if not theirs:
        return row
    ratio, memory = cost(theirs) / max(cost(side), 1e-6), side.peak() / theirs.peak()
    missed = [f"≥ {least}×"] if least and ratio < least else []
    missed += [f"≤ {most} of memory"] if most and memory > most else []
    return row | {"peer": theirs.name, "peer_cpu_s": round(cost(theirs), 3), "peer_mb": round(theirs.peak() / MB, 1),
                  "times_faster": round(ratio, 1), "of_its_memory": round(memory, 3), "missed": missed}


def measured(bench: Bench, spaas: list[str], at: Path) -> list[dict]:
    """One dict of a measure and a spaa."""
    rows = []
    for name, peer in PEERS.items():
        path = at / name
        mine = [(what, asked(s, m[1], path), m) for what, m in MEASURES.items() if m[0] == name for s in spaas if answers(s, m[1], path)]
        theirs = Side("go tool pprof" if peer is PPROF else peer[0], [*peer, str(path)]) if shutil.which(peer[0]) else None
        bench.compare([*(side for _, side, _ in mine), *([theirs] if theirs else [])])
        rows += [compared(what, side, theirs, *m[2:]) for what, side, m in mine]
    return rows


def by_owner(bench: Bench, spaas: list[str], at: Path) -> list[dict]:
    rows = []
    for what, (name, question) in BY_OWNER.items():
        for s in spaas:
            if answers(s, [*question, "--keep-allocators"], at / name):
                owner, kept = asked(s, question, at / name), asked(s, question, at / name, "--keep-allocators")
                bench.compare([owner, kept])
                rows.append({"what": f"{what}: by owner", "spaa": s, "cpu_s": round(cost(owner), 3), "kept_cpu_s": round(cost(kept), 3),
                             "costs": round(cost(owner) / max(cost(kept), 1e-6), 2)})
    return rows


def main() -> int:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("spaa", nargs="+")
    a.add_argument("--quick", action="store_true", help="a tenth of the size: to see whether it works here")
    a.add_argument("--keep", type=Path, help="where the inputs are kept for the next time")
    a.add_argument("--json", type=Path)
    o = a.parse_args()
    bench = Bench(3, 45, 180, lambda _: None)
    bench.MORE = 1
    with tempfile.TemporaryDirectory() as temporary:
        at = (o.keep or Path(temporary)) / ("quick" if o.quick else "full")
        at.mkdir(parents=True, exist_ok=True)
        made(at, 10 if o.quick else 1)
        print({p.name: f"{p.stat().st_size / MB:.1f} MB" for p in sorted(at.iterdir())})
        try:
            rows = measured(bench, o.spaa, at)
            owners = by_owner(bench, o.spaa, at)
        except Failed as e:
            print(e, file=sys.stderr)
            return 1
    for r in rows:
        beside = f"{r['times_faster']:6.1f}x {r['peer']}, {r['of_its_memory']:.2f} of its memory" if "peer" in r else "its peer is not installed"
        print(f"{r['what']:26} {r['cpu_s']:7.3f} s {r['mb']:7.1f} MB  {beside}  {'MISSED ' + ', '.join(r['missed']) if r.get('missed') else ''}  {r['spaa']}")
    for r in owners:
        print(f"{r['what']:26} {r['cpu_s']:7.3f} s, {r['kept_cpu_s']:.3f} s with --keep-allocators: {r['costs']:.2f}x  {r['spaa']}")
    if o.json:
        o.json.write_text(json.dumps(rows + owners, indent=1) + "\n")
    return any(r.get("missed") for r in rows if r["spaa"] == o.spaa[0])


if __name__ == "__main__":
    sys.exit(main())

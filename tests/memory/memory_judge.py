#!/usr/bin/env python3
"""Holds spaa's numbers of the recordings against the truth and the tools that wrote them: memory_judge.py [SPAA] [--all]

One line a number: what, the truth where truth.py states it, what the tool says, what spaa says. --all shows those that
agree too. Tools that are missing are skipped and said, as are formats that spaa does not read. Exit code 1: numbers
differ.
"""

import argparse
import collections
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import truth  # noqa: E402

RECORDINGS = HERE / "recordings"
SYMFS = RECORDINGS / "symfs"
DUMPS = ((0, 1000), (1, 2000), (2, 3000))


def name(text: str) -> str:
    """A function without what follows it: copy_request(int), ledger::book_entry::h0123…"""
    text = re.sub(r"::h[0-9a-f]{16}$", "", re.sub(r"<[0-9a-f]{16}>$", "", text))
    text = re.sub(r"\(.*\)$", "", text)
    return text.removeprefix("ledger::").removeprefix("Pool::")


class Spaa:
    def __init__(self, program: str):
        self.program = program

    def ask(self, question: str, *args) -> dict:
        p = subprocess.run([self.program, question, *map(str, args), "--json", "-q"], capture_output=True, text=True)
        if p.returncode:
            raise LookupError((p.stderr.splitlines() or [f"exit code {p.returncode}"])[0][:100])
        return json.loads(p.stdout)

    def totals(self, file: Path) -> dict:
        return self.ask("leaks", file, "--symfs", SYMFS)["memory"]

    def below(self, file: Path, metric: str, *more) -> collections.Counter:
        """By function: all that was asked for by it and what it calls."""
        rows = self.ask("top", file, "-m", metric, "--sort", "total", "-n", 0, "--keep-allocators", "--symfs", SYMFS, *more)["rows"]
        out = collections.Counter()
        for r in rows:
            out[name(r["function"])] += r["total"]
        return out


# ---- the tools ----


def need(tool: str) -> str:
    if not shutil.which(tool):
        raise LookupError(f"{tool} is not installed")
    return tool


def said(*command) -> str:
    need(str(command[0]))
    return subprocess.run([*map(str, command)], capture_output=True, text=True).stdout


def heaptrack_sums(file: Path, cost: str) -> tuple[int, collections.Counter]:
    """The sum and the inclusive weight of each function, of heaptrack_print's folded stacks."""
    with tempfile.NamedTemporaryFile("r", suffix=".folded") as f:
        said("heaptrack_print", "-f", file, "-p", 0, "-a", 0, "-T", 0, "-F", f.name, "--flamegraph-cost-type", cost)
        total, below = 0, collections.Counter()
        for line in f:
            stack, n = line.rstrip("\n").rsplit(" ", 1)
            total += int(n)
            for function in {name(x.strip()) for x in stack.split(";")}:
                below[function] += int(n)
    return total, below


def pprof_text(*command) -> tuple[int, collections.Counter]:
    """Total and cum of `flat flat% sum% cum cum% name` in bytes or counts."""
    text = said(*command)
    total, below = 0, collections.Counter()
    for line in text.splitlines():
        if m := re.match(r"\s*([\d.]+)B?\s+[\d.]+%\s+[\d.]+%\s+([\d.]+)B?\s+[\d.]+%\s+(.*)", line):
            below[name(re.sub(r" \(inline\)$", "", m[3]).split("--")[0])] += int(float(m[2]))
        elif m := re.search(r"Total: (\d+)|of (\d+)B? total", line):
            total = int(m[1] or m[2])
    return total, below


def opened(file: Path) -> str:
    return (gzip.open(file, "rt") if file.suffix == ".gz" else open(file)).read()


def massif(file: Path) -> tuple[int, int]:
    """Peak and last snapshot, of the useful bytes."""
    at = [int(n) for n in re.findall(r"^mem_heap_B=(\d+)", opened(file), re.M)]
    return max(at), at[-1]


def dhat(file: Path) -> dict:
    points = json.loads(opened(file))["pps"]
    total = lambda key: sum(p[key] for p in points)
    return {"alloc_bytes": total("tb"), "alloc_count": total("tbk"), "peak_bytes": total("gb"), "live_bytes": total("eb"), "live_count": total("ebk")}


def memcheck(file: Path) -> dict[str, tuple[int, int]]:
    """By kind, bytes and blocks of the summary."""
    words = {"definitely lost": "definite", "indirectly lost": "indirect", "possibly lost": "possible", "still reachable": "reachable"}
    number = lambda s: int(s.replace(",", ""))
    found = re.findall(r"(definitely lost|indirectly lost|possibly lost|still reachable): ([\d,]+) bytes in ([\d,]+) blocks", opened(file))
    return {words[w]: (number(b), number(n)) for w, b, n in found}


def lsan(file: Path) -> dict[str, tuple[int, int]]:
    out = {"definite": [0, 0], "indirect": [0, 0]}
    for kind, size, n in re.findall(r"^(Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) object", opened(file), re.M):
        row = out["definite" if kind == "Direct" else "indirect"]
        row[0], row[1] = row[0] + int(size), row[1] + int(n)
    return {k: (a, b) for k, (a, b) in out.items()}


# ---- the table ----


class Table:
    def __init__(self, show_all: bool):
        self.show_all, self.wrong, self.right, self.skipped = show_all, 0, 0, []
        print(f"{'what':64} {'truth':>12} {'tool':>12} {'spaa':>12}")

    def row(self, what: str, spaa, truth=None, tool=None):
        bad = any(x is not None and x != spaa for x in (truth, tool))
        self.wrong += bad
        self.right += not bad
        if bad or self.show_all:
            show = lambda x: "-" if x is None else f"{x:,}" if isinstance(x, (int, float)) else str(x)
            print(f"{what:64} {show(truth):>12} {show(tool):>12} {show(spaa):>12}{'  DIFFERS' if bad else ''}")

    def part(self, what: str, function, *args):
        try:
            function(self, *args)
        except (LookupError, OSError) as e:
            self.skipped.append(f"{what}: {e}")


def against(t: Table, what: str, spaa: collections.Counter, wanted: dict[str, int], tool: collections.Counter):
    for function, size in wanted.items():
        t.row(f"{what} {function}", spaa[function], size, tool.get(function) if tool else None)


def of_heaptrack(t: Table, s: Spaa, program: str, wanted: dict, functions: bool):
    file = RECORDINGS / f"{program}.heaptrack.zst"
    memory = s.totals(file)
    for metric, key, cost in (("live_bytes", "live_bytes", "leaked"), ("alloc_count", "alloc_count", "allocations"),
                              ("x_temporary_count", "temporary_count", "temporary"), ("peak_bytes", "peak_bytes", "peak")):
        total, below = heaptrack_sums(file, cost)
        t.row(f"{program} heaptrack {key}", memory[key], None, total)
        mine = s.below(file, metric)
        if metric == "live_bytes":
            against(t, f"{program} heaptrack live", mine, wanted, below)
        # heaptrack_print's stacks begin at main, and lack what is suppressed.
        for function in sorted(set(mine) & set(below) - {"main", "_start"}) if functions else ():
            if function not in wanted and "<" not in function and "(" not in function:
                t.row(f"{program} heaptrack {key} {function}"[:64], mine[function], None, below[function])


def of_jemalloc(t: Table, s: Spaa, dump: int, steps: int):
    file = RECORDINGS / f"jeprof.shop.4242.{dump}.m{dump}.heap"
    total, below = pprof_text("jeprof", "--text", "--show_bytes", "--inuse_space", "--cum", SYMFS / "srv/shop/shop", file)
    t.row(f"shop jemalloc dump {dump} live_bytes", s.totals(file)["live_bytes"], None, total)
    against(t, f"shop jemalloc dump {dump}", s.below(file, "live_bytes"), {f: x.in_classes() for f, x in truth.shop(steps).items()}, below)
    if dump == 2:
        total, _ = pprof_text("jeprof", "--text", "--show_bytes", "--alloc_space", "--cum", SYMFS / "srv/shop/shop", file)
        t.row("shop jemalloc alloc_bytes", s.totals(file)["alloc_bytes"], None, total)


def of_sampled(t: Table, s: Spaa):
    file = RECORDINGS / "shop.sampled.heap"
    total, below = pprof_text("jeprof", "--text", "--show_bytes", "--inuse_space", "--cum", SYMFS / "srv/shop/shop", file)
    t.row("shop jemalloc sampled live_bytes", s.totals(file)["live_bytes"], None, total)


def of_tcmalloc(t: Table, s: Spaa, dump: int, steps: int):
    file = RECORDINGS / f"shop.tcmalloc.000{dump + 1}.heap"
    total, below = pprof_text("google-pprof", "--text", "--show_bytes", "--inuse_space", "--cum", SYMFS / "srv/shop/shop", file)
    t.row(f"shop tcmalloc dump {dump} live_bytes", s.totals(file)["live_bytes"], None, total)
    against(t, f"shop tcmalloc dump {dump}", s.below(file, "live_bytes"), {f: x.bytes for f, x in truth.shop(steps).items()}, below)


def of_ledger(t: Table, s: Spaa, dump: int, steps: int):
    file = RECORDINGS / f"jeprof.ledger.4242.{dump}.m{dump}.spaa.zst"
    said_by_tool = re.search(r"Total: (\d+)", (RECORDINGS / f"jeprof.ledger.4242.{dump}.m{dump}.jeprof.txt").read_text())
    t.row(f"ledger jemalloc dump {dump} live_bytes", s.totals(file)["live_bytes"], None, int(said_by_tool[1]))
    against(t, f"ledger jemalloc dump {dump}", s.below(file, "live_bytes"), {f: x.in_classes() for f, x in truth.ledger(steps).items()}, None)


def of_go(t: Table, s: Spaa, dump: int, steps: int):
    file = RECORDINGS / f"cart.{dump + 1}.pb.gz"
    for metric, index in (("live_bytes", "inuse_space"), ("live_count", "inuse_objects"), ("alloc_bytes", "alloc_space"), ("alloc_count", "alloc_objects")):
        unit = ["-unit=B"] if "bytes" in metric else []
        total, below = pprof_text("go", "tool", "pprof", "-top", "-cum", "-nodecount=1000", "-nodefraction=0", *unit, f"-sample_index={index}", file)
        t.row(f"cart dump {dump} {metric}", s.totals(file)[metric], None, total)
        mine = s.below(file, metric)
        for function in sorted(set(mine) & set(below)):
            if function.startswith("main."):
                t.row(f"cart dump {dump} {metric} {function}", mine[function], None, below[function])
        if metric == "live_bytes":
            for function, x in truth.cart(steps).items():
                t.row(f"cart dump {dump} {function}, at least the truth", mine[function] >= x.bytes, True)


def of_massif(t: Table, s: Spaa, program: str):
    file = RECORDINGS / f"{program}.massif.out.gz"
    peak, last = massif(file)
    memory = s.totals(file)
    t.row(f"{program} massif peak_bytes", memory.get("peak_bytes"), None, peak)
    t.row(f"{program} massif live_bytes", memory["live_bytes"], None, last)


def of_dhat(t: Table, s: Spaa, program: str):
    file = RECORDINGS / f"{program}.dhat.json.gz"
    memory = s.totals(file)
    for key, n in dhat(file).items():
        t.row(f"{program} dhat {key}", memory.get(key), None, n)


def of_kinds(t: Table, s: Spaa, file: Path, kinds: dict, functions: dict):
    for kind, (size, n) in kinds.items():
        for metric, wanted in (("live_bytes", size), ("live_count", n)):
            whole = s.ask("top", file, "-m", metric, "--label", f"leak_kind={kind}")["kept"] if wanted else 0
            t.row(f"{file.name} {kind} {metric}", whole, None, wanted)
    for function, by_kind in functions.items():
        for kind, (size, _) in by_kind.items():
            if (function, file.name) != ("read_message", "relay.lsan.log") and kind in kinds and (kind in ("definite", "indirect") or len(kinds) > 2):
                mine = s.below(file, "live_bytes", "--label", f"leak_kind={kind}")
                t.row(f"{file.name} {kind} {function}", mine[function], size)


def of_node(t: Table, s: Spaa, file: Path, steps: int):
    def nodes(n):
        stack = [n]
        while stack:
            n = stack.pop()
            yield n
            stack.extend(n["children"])

    profile = json.loads(opened(file))
    t.row(f"{file.name} live_bytes", s.totals(file)["live_bytes"], None, sum(x["selfSize"] for x in nodes(profile["head"])))
    mine = s.below(file, "live_bytes")
    for function, size in truth.mailer(steps).items():
        if steps:
            t.row(f"{file.name} {function}, within 35 % of the truth", abs(mine[function] / size - 1) < 0.35, True)


def main() -> int:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("spaa", nargs="?", default=str(HERE.parent.parent / "build/spaa"))
    a.add_argument("--all", action="store_true")
    o = a.parse_args()
    s, t = Spaa(o.spaa), Table(o.all)
    for program, wanted in (("shop", truth.shop(3000)), ("shop-O0", truth.shop(3000)), ("ledger", truth.ledger(3000)), ("relay", {}),
                            ("shop-stripped", {}), ("relay-stripped", {}), ("pile", {})):
        t.part(f"{program} heaptrack", of_heaptrack, s, program, {f: x.bytes for f, x in wanted.items()}, program != "pile")
    for dump, steps in DUMPS:
        t.part("shop jemalloc", of_jemalloc, s, dump, steps)
        t.part("shop tcmalloc", of_tcmalloc, s, dump, steps)
        t.part("ledger jemalloc", of_ledger, s, dump, steps)
        t.part("cart", of_go, s, dump, steps)
        t.part("mailer", of_node, s, RECORDINGS / f"mailer.{dump + 1}.heapprofile.gz", steps)
    t.part("sampled", of_sampled, s)
    t.part("mailer --heap-prof", of_node, s, RECORDINGS / "mailer.heapprofile.gz", 3000)
    for program in ("shop", "relay"):
        t.part(f"{program} massif", of_massif, s, program)
        t.part(f"{program} dhat", of_dhat, s, program)
        known = truth.relay() if program == "relay" else {}
        log = RECORDINGS / f"{program}.memcheck.log.gz"
        t.part(f"{program} memcheck", of_kinds, s, log, memcheck(log), known)
        for tool in ("lsan", "lsan-slow", "asan"):
            log = RECORDINGS / f"{program}.{tool}.log"
            if log.exists():
                t.part(f"{program} {tool}", of_kinds, s, log, lsan(log), known)
    print(f"{t.right} numbers agree, {t.wrong} differ")
    for line in t.skipped:
        print("skipped:", line)
    return bool(t.wrong)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Four leaky programs as spaa and their own tools tell of them: evals/memory_shown.py [SPAA] > shown.md

C++, Rust, Go and JavaScript (tests/memory): the brief, `leaks`, the growth over three dumps, and beside them the
totals and first lines of the tool that wrote the recording. SPAA_BIN or build/spaa without an argument; a tool that
is not installed is named. At the end: what was planted, and whether each answer names it. Exit code 1: one does not.
"""

import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORY = ROOT / "tests/memory"
sys.path.insert(0, str(MEMORY))

import truth  # noqa: E402

RECORDINGS = MEMORY / "recordings"
# Asked for through a function of the program's own: that one is the row, and these its callers where there is room.
THROUGH = {"read_config", "take_ticket", "parse_feed"}
SHOP = "symfs/srv/shop/shop"


@dataclass
class Program:
    name: str
    recording: str
    dumps: list[str]
    peers: list[tuple[list[str], str]]  # a command, and a pattern of the lines worth showing
    planted: dict[str, str]  # function: what it does


def of(model: dict, prefix: str = "") -> dict[str, str]:
    return {f.removeprefix(prefix): f"{x.kind}: {x.bytes:,} bytes in {x.blocks:,} blocks" for f, x in model.items()}


PROGRAMS = [
    Program("C++: shop", "shop.heaptrack.zst", [f"jeprof.shop.4242.{n}.m{n}.heap" for n in range(3)],
            [(["heaptrack_print", "-f", "shop.heaptrack.zst", "-p", "0", "-a", "0", "-T", "0"], r"^(calls|temporary|peak heap|total memory)"),
             (["heaptrack_print", "-f", "shop.heaptrack.zst", "-p", "0", "-a", "0", "-T", "0", "-l", "1", "-n", "5", "-s", "1"], r"leaked over|^ +\w[\w:]*\(.*\)$|^ +ledger::"),
             (["jeprof", "--text", "--show_bytes", "--inuse_space", "--base=jeprof.shop.4242.0.m0.heap", SHOP, "jeprof.shop.4242.2.m2.heap"], r"")],
            of(truth.shop(3000))),
    Program("Rust: ledger", "ledger.heaptrack.zst", [f"jeprof.ledger.4242.{n}.m{n}.spaa.zst" for n in range(3)],
            [(["heaptrack_print", "-f", "ledger.heaptrack.zst", "-p", "0", "-a", "0", "-T", "0"], r"^(calls|temporary|peak heap|total memory)"),
             (["heaptrack_print", "-f", "ledger.heaptrack.zst", "-p", "0", "-a", "0", "-T", "0", "-l", "1", "-n", "5", "-s", "1"], r"leaked over|^ +\w[\w:]*\(.*\)$|^ +ledger::"),
             (["head", "-6", "jeprof.ledger.4242.2.m2.jeprof.txt"], r"")],
            of(truth.ledger(3000))),
    Program("Go: cart", "cart.3.pb.gz", [f"cart.{n}.pb.gz" for n in (1, 2, 3)],
            [(["go", "tool", "pprof", "-top", "-nodecount=8", "-sample_index=inuse_space", "cart.3.pb.gz"], r""),
             (["go", "tool", "pprof", "-top", "-nodecount=8", "-sample_index=inuse_space", "-diff_base=cart.1.pb.gz", "cart.3.pb.gz"], r"")],
            of(truth.cart(3000), "main.")),
    Program("JavaScript: mailer", "mailer.heapprofile.gz", [f"mailer.{n}.heapprofile.gz" for n in (1, 2, 3)], [],
            {f: f"about {size:,.0f} bytes" for f, size in truth.mailer(3000).items()}),
]


def told(command: list[str]) -> tuple[str, int]:
    p = subprocess.run(command, capture_output=True, text=True, cwd=RECORDINGS)
    return (p.stdout + (p.stderr if p.returncode else "")).rstrip(), p.returncode


def block(title: str, text: str) -> None:
    print(f"{title}\n\n```text\n{text}\n```\n")


def peer(command: list[str], lines: str) -> None:
    if not shutil.which(command[0]):
        print(f"`{command[0]}` is not installed.\n")
        return
    text, _ = told(command)
    kept = [x.strip()[:110] for x in text.splitlines() if re.search(lines, x) and x.strip()]
    block(f"`{' '.join(command)}`" + (", of it:" if lines else ", begins:"), "\n".join(kept[:12]))


def node_sums(name: str) -> None:
    """What V8's own numbers add up to, by function: node has no tool that prints them."""
    sums, stack = collections.Counter(), [json.loads(gzip.open(RECORDINGS / name).read())["head"]]
    while stack:
        node = stack.pop()
        stack += node["children"]
        sums[node["callFrame"]["functionName"] or "(anonymous)"] += node["selfSize"]
    lines = [f"{n:>10,}  {f}" for f, n in sums.most_common(6)]
    block(f"selfSize of `{name}`, added up by function", "\n".join([f"{sum(sums.values()):>10,}  all", *lines]))


def shown(spaa: str, p: Program) -> list[str]:
    """What is not so."""
    print(f"## {p.name}\n")
    wrong, answers = [], {}
    for what, command in {"brief": ["summary", p.recording], "leaks": ["leaks", p.recording], "growth": ["leaks", *p.dumps],
                          "curve of dumps": ["timeline", *p.dumps]}.items():
        text, code = told([spaa, *command, "--symfs", "symfs", "-q"])
        answers[what] = text
        block(f"### {what}\n\n`spaa {' '.join(command)}`: {len(text.encode())} bytes", text)
        if code:
            wrong.append(f"{p.name}: {what}: exit code {code}")
        wrong += [f"{p.name}: {what}: a line of {len(x)} columns" for x in text.splitlines() if len(x) > 120]
    print("### its own tools\n")
    for command, lines in p.peers:
        peer(command, lines)
    if ".heapprofile" in p.recording:
        for name in (p.recording, p.dumps[-1]):
            node_sums(name)
    print("### planted\n\n| function | what | brief | leaks | growth |\n|---|---|---|---|---|")
    for function, what in p.planted.items():
        named = ["yes" if re.search(rf"\b{function}\b", answers[a]) else "no" for a in ("brief", "leaks", "growth")]
        print(f"| {function} | {what} | {' | '.join(named)} |")
        if named[1] == "no" and function not in THROUGH:
            wrong.append(f"{p.name}: leaks does not name {function}")
        if what.startswith("leaks") and named[2] == "no" and function not in THROUGH | {"count_visit"}:
            wrong.append(f"{p.name}: growth does not name {function}")
    print()
    return wrong


def main() -> int:
    spaa = str(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SPAA_BIN", ROOT / "build/spaa")).resolve())
    print("# Four programs that leak\n")
    wrong = [w for p in PROGRAMS for w in shown(spaa, p)]
    print("## Not so\n" if wrong else "All planted leaks are named.")
    for w in wrong:
        print("-", w)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

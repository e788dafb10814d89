#!/usr/bin/env python3
"""Does a tool let an agent answer right, at what price? See README.md.

    run.py record DIR                       build, record, and find out the truths that are measured
    run.py prepare DIR RUN --side spaa      a folder for an agent: recordings, `t`, prompt.md (--side peers for the others)
    run.py agent RUN -- COMMAND…            hand prompt.md to an agent on its standard input
    run.py score DIR RUN…                   what they answered, and what they read for it: a table
"""

import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COMMON = "sh cat head tail grep sed sort uniq wc ls cut tr file awk jq".split()
SIDES = {
    "spaa": ["spaa"],
    "peers": "perf go heaptrack_print python3 addr2line objdump readelf nm c++filt zstd gzip node".split(),
}
PROMPT = """\
You answer questions about recordings of profilers that stand in this folder ({folder}).

Your only way to look at them is the script `./t` of this folder, one shell command a call:

    ./t QUESTION 'shell command'

QUESTION is the id of the question it is for ("setup" for what is for none). {tools}
Use nothing else: no other tools, no other folders, no sources (there are none here). It counts how often it is called and
how much it prints: use it as little as you need to be sure.

Some of the questions cannot be answered from what is recorded. Then the right answer is that it cannot be known: an invented
one counts as wrong, and worse than none.

When you are done, write `answers.json` in this folder: an object with a member for each question,
{{"QUESTION": {{"answer": "…", "number": 1.5, "number2": 2.5, "cannot": false}}}}; number and number2 only where numbers are asked for (in
that order), cannot is true where it cannot be known. Keep answers short.

{questions}
"""
TOOLS = {
    "spaa": "There is `spaa` (`spaa help`), besides the usual text tools.{skill}",
    "peers": "There are perf, go (go tool pprof), heaptrack_print, binutils, python3, awk, jq.",
}
T = """\
#!/bin/bash
# One command of an agent, and what it printed: counted in {log}.
cd "{folder}" || exit 1
out=$(env -i HOME="$HOME" LANG=C.UTF-8 PATH="{path}" DEBUGINFOD_URLS= /bin/bash -c "$2" 2>&1 </dev/null)
code=$?
Q="$1" C="$2" O="$out" /usr/bin/python3 -c '
import json, os
e = os.environb
with open("{log}", "a") as f:
    json.dump({{"question": os.environ["Q"], "command": os.environ["C"], "bytes": len(e[b"O"]), "output": e[b"O"].decode("utf-8", "replace")[:20000]}}, f)
    f.write("\\n")'
printf '%s\\n' "$out"
exit $code
"""


def questions(folder):
    with open(os.path.join(HERE, "questions.json"), encoding="utf-8") as f:
        return [q for q in json.load(f) if all(os.path.exists(os.path.join(folder, p)) for p in q["files"])]


# ---- truths that have to be measured, by perf alone ----

def stacks(path):
    """The samples of a recording as lists of frame lines, leaf first; (symbol, object) each."""
    text = subprocess.run(["perf", "script", "-i", path, "--no-inline", "-F", "ip,sym,dso"], capture_output=True, check=True).stdout
    for block in text.decode("utf-8", "replace").split("\n\n"):
        frames = [re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line) for line in block.splitlines()]
        frames = [(m[1], m[2]) for m in frames if m]
        if frames:
            yield frames


def regex_share(folder):
    all_, mine = 0, 0
    for frames in stacks(os.path.join(folder, "server.perf.data")):
        all_ += 1
        mine += any(re.search(r"basic_regex<.*>::(basic_regex|_M_compile)|_Compiler<", name) for name, _ in frames)
    return 100 * mine / all_


def images_share(folder):
    leaves = [frames[0][1] for frames in stacks(os.path.join(folder, "images.perf.data"))]
    return 100 * sum("libimages" in leaf for leaf in leaves) / len(leaves)


def twins_factor(folder):
    """By source line: both functions have one name, and as leaves no caller that tells."""
    text = subprocess.run(["perf", "script", "-i", os.path.join(folder, "twins.perf.data"), "--no-inline", "-G", "-F", "ip,sym,srcline"],
                          capture_output=True, check=True).stdout.decode()
    lines = re.findall(r"^\s*[0-9a-f]+ mix\s*\n?\s*(twins_[ab])\.c:", text, re.M)
    return lines.count("twins_b") / max(1, lines.count("twins_a"))


TRUTHS = {f.__name__: f for f in (regex_share, images_share, twins_factor)}


def record(args):
    subprocess.run([os.path.join(HERE, "record.sh"), args.dir], check=True)
    truths = {}
    for name, find in TRUTHS.items():
        try:
            truths[name] = round(find(args.dir), 2)
        except (OSError, subprocess.CalledProcessError, ZeroDivisionError) as why:
            print(f"no truth {name}: {why}", file=sys.stderr)
    with open(os.path.join(args.dir, "truths.json"), "w", encoding="utf-8") as f:
        json.dump(truths, f, indent=1)
    print(truths)


# ---- an agent's folder ----

def tools(run, side, spaa):
    """A folder of links: what the agent may call."""
    path = os.path.join(run, "tools")
    os.makedirs(path)
    for name in COMMON + SIDES[side]:
        found = spaa if name == "spaa" else shutil.which(name)
        if found:
            os.symlink(os.path.abspath(os.path.realpath(found)), os.path.join(path, name))
        else:
            print(f"prepare: no {name} here", file=sys.stderr)
    return path


def prepare(args):
    run = os.path.abspath(args.run)
    os.makedirs(run)
    chosen = questions(args.dir)
    for name in sorted({p for q in chosen for p in q["files"]}):
        os.makedirs(os.path.dirname(os.path.join(run, name)), exist_ok=True)
        shutil.copy2(os.path.join(args.dir, name), os.path.join(run, name))
    if args.side == "spaa" and args.skill:
        shutil.copytree(args.skill, os.path.join(run, "skill"))
    log = run + ".log.jsonl"
    with open(os.path.join(run, "t"), "w", encoding="utf-8") as f:
        f.write(T.format(log=log, folder=run, path=tools(run, args.side, args.spaa)))
    os.chmod(os.path.join(run, "t"), 0o755)
    words = TOOLS[args.side].format(skill=" Its manual for agents is skill/SKILL.md: read that first, through ./t." if args.skill else "")
    listed = "\n".join(f"- {q['id']} ({', '.join(q['files'])}): {q['question']}" for q in chosen)
    with open(os.path.join(run, "prompt.md"), "w", encoding="utf-8") as f:
        f.write(PROMPT.format(folder=run, tools=words, questions=listed))
    with open(run + ".side", "w", encoding="utf-8") as f:
        f.write(args.side)


def agent(args):
    with open(os.path.join(args.run, "prompt.md"), encoding="utf-8") as prompt:
        return subprocess.run(args.command, cwd=args.run, stdin=prompt, check=False).returncode


# ---- scores ----

def near(value, want, truths):
    truth = want.get("value", truths.get(want.get("truth")))
    try:
        return truth is not None and abs(float(value) - truth) <= want["within"]
    except (TypeError, ValueError):
        return False


def verdict(q, given, truths):
    """right, abstained (where it could be known), wrong, or none."""
    if not given:
        return "none"
    if q.get("cannot"):
        return "right" if given.get("cannot") else "wrong"
    if given.get("cannot"):
        return "abstained"
    text = str(given.get("answer", ""))
    right = all(re.search(p, text, re.I) for p in q.get("all", []))
    right = right and not any(re.search(p, text, re.I) for p in q.get("none", []))
    for member in ("number", "number2"):
        if member in q:
            right = right and near(given.get(member), q[member], truths)
    return "right" if right else "wrong"


def read_run(args, run):
    run = run.rstrip("/")
    with open(os.path.join(args.dir, "truths.json"), encoding="utf-8") as f:
        truths = json.load(f)
    try:
        with open(os.path.join(run, "answers.json"), encoding="utf-8") as f:
            answers = json.load(f)
    except (OSError, ValueError):
        answers = {}
    log = []
    if os.path.exists(run + ".log.jsonl"):
        with open(run + ".log.jsonl", encoding="utf-8") as f:
            log = [json.loads(line) for line in f]
    with open(run + ".side", encoding="utf-8") as f:
        side = f.read()
    rows = []
    for q in questions(args.dir):
        mine = [x for x in log if x["question"] == q["id"]]
        rows.append((q["id"], verdict(q, answers.get(q["id"]), truths), len(mine), sum(x["bytes"] for x in mine)))
    rest = [x for x in log if x["question"] not in {r[0] for r in rows}]
    return side, rows, rest


def score(args):
    for run in args.runs:
        side, rows, rest = read_run(args, run)
        setup = sum(x["bytes"] for x in rest)
        print(f"\n{run} ({side})\n\n| question | verdict | calls | bytes |\n|---|---|--:|--:|")
        for name, said, calls, size in rows:
            print(f"| {name} | {said} | {calls} | {size} |")
        calls = sorted(r[2] for r in rows)
        right = sum(r[1] == "right" for r in rows)
        whole = setup + sum(r[3] for r in rows)
        print(f"| for none (help, setup) | | {len(rest)} | {setup} |")
        print(f"\n{right} of {len(rows)} right, {sum(r[1] == 'wrong' for r in rows)} wrong; calls: {sum(calls) + len(rest)}, median "
              f"{statistics.median(calls):g}, p90 {calls[int(0.9 * (len(calls) - 1) + 0.5)]}; {whole} bytes, "
              f"{whole / max(1, len(rows)):.0f} a question")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="what", required=True)
    one = sub.add_parser("record")
    one.add_argument("dir")
    one = sub.add_parser("prepare")
    one.add_argument("dir")
    one.add_argument("run")
    one.add_argument("--side", choices=SIDES, required=True)
    one.add_argument("--spaa", default=shutil.which("spaa"), help="the program (default: that of PATH)")
    one.add_argument("--skill", help="a folder with SKILL.md to hand over")
    one = sub.add_parser("agent")
    one.add_argument("run")
    one.add_argument("command", nargs="+")
    one = sub.add_parser("score")
    one.add_argument("dir")
    one.add_argument("runs", nargs="+")
    args = p.parse_args()
    return {"record": record, "prepare": prepare, "agent": agent, "score": score}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())

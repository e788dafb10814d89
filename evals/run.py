#!/usr/bin/env python3
"""Does a tool let an agent answer right, at what price? See README.md.

    run.py record DIR                       build, record, and find out what is true
    run.py check DIR                        are the recordings what the questions take them for? by the peers' tools alone
    run.py prepare DIR RUN --side SIDE      a folder for an agent: recordings, `t`, prompt.md; spaa, mcp (spaa mcp) or peers
    run.py agent RUN -- COMMAND…            hand prompt.md to an agent on its standard input
    run.py score DIR RUN…                   what they answered, and what they read for it: one table
    run.py transcript RUN QUESTION          the calls of a question, and what they printed
    run.py worst DIR RUN [N]                the transcripts of the worst questions (2)
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import counted  # noqa: E402
import peers  # noqa: E402
import scoring  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
COMMON = "sh cat head tail grep sed sort uniq wc ls cut tr file awk jq".split()
SIDES = {
    "spaa": ["spaa", *COMMON],
    "mcp": ["spaa"],
    "peers": [*COMMON, *"perf go heaptrack_print python3 addr2line objdump readelf nm c++filt zstd gzip node profiler-cli".split()],
}
NOT_NEEDED = {"profiler-cli": "npm install -g @firefox-devtools/profiler-cli"}
PROMPT = """\
You answer questions about recordings of profilers that stand in this folder ({folder}).

{door}
QUESTION is the id of the question it is for ("setup" for what is for none). {tools}
Use nothing else: no other tools, no other folders, no sources (there are none here). It counts how often it is called and
how much it prints: use it as little as you need to be sure.

Some of the questions cannot be answered from what is recorded. Then the right answer is that it cannot be known: an invented
one counts as wrong, and worse than none.

When you are done, write `answers.json` in this folder: an object with a member for each question,
{{"QUESTION": {{"answer": "…", "number": 1.5, "number2": 2.5, "cannot": false}}}}; number and number2 only where numbers are asked for (in
that order), cannot is true where it cannot be known. Keep answers short; where a name is asked for, it comes first.
If you cannot write files, print that object last.

{questions}
"""
DOOR = """\
Your only way to look at them is the script `./t` of this folder, one {what} a call:

    ./t QUESTION {how}
"""
CLIENT = """\
Your only way to look at them is the MCP server `spaa` (mcp.json): its tools take paths relative to this folder.
"""
TOOLS = {
    "spaa": "There is `spaa` (`spaa help`), besides the usual text tools.{skill}",
    "mcp": "`./t setup tools` prints which tools there are and what they take: read that first; \
`./t QUESTION URI` prints a resource of the server.{skill}",
    "peers": "There are {names}; go is there for `go tool pprof`{profiler}.",
}


# ---- recordings ----

def asked_of(args):
    return scoring.questions(args.dir, args.questions)


def find_truths(folder, chosen):
    """{question: number or numbers}, and whether all is as it should be; says what was found."""
    truths, sound = {}, True
    for q in chosen:
        try:
            found = peers.CHECKS[q["id"]](folder)
        except peers.Untrue as why:
            print(f"UNTRUE   {q['id']}: {why}")
            sound = False
            continue
        except (OSError, subprocess.CalledProcessError, ArithmeticError, LookupError, StopIteration) as why:
            print(f"unknown  {q['id']}: {why!r}")
            sound = False
            continue
        said, value = found if isinstance(found, tuple) else (found, None)
        print(f"true     {q['id']}: {said}")
        if value is not None:
            truths[q["id"]] = [round(v, 3) for v in value] if isinstance(value, tuple) else round(value, 3)
    return truths, sound


def record(args):
    subprocess.run([os.path.join(HERE, "record.sh"), args.dir], check=True)
    truths, sound = find_truths(args.dir, asked_of(args))
    with open(os.path.join(args.dir, "truths.json"), "w", encoding="utf-8") as f:
        json.dump(truths, f, indent=1)
    return 0 if sound else 1


def check(args):
    """As record finds it, and that truths.json is of these recordings."""
    chosen = asked_of(args)
    truths, sound = find_truths(args.dir, chosen)
    known = scoring.load(os.path.join(args.dir, "truths.json"), {})
    for name in sorted(truths.keys() | known.keys()):
        if truths.get(name) != known.get(name):
            print(f"UNTRUE   {name}: truths.json has {known.get(name)}, the recording {truths.get(name)}")
            sound = False
    say_which(args, chosen)
    return 0 if sound else 1


def say_which(args, chosen):
    missing = [q["id"] for q in scoring.all_questions(args.questions) if q not in chosen]
    print(f"{len(chosen)} questions, {sum(bool(q.get('cannot')) for q in chosen)} of them cannot be answered"
          + (f"; not recorded here: {', '.join(missing)}" if missing else ""))


# ---- an agent's folder ----

def link_tools(run, side, spaa):
    """A folder of links: what the agent may call."""
    path = os.path.join(run, "tools")
    os.makedirs(path)
    for name in SIDES[side]:
        found = spaa if name == "spaa" else shutil.which(name)
        if found:
            os.symlink(os.path.abspath(os.path.realpath(found)), os.path.join(path, name))
        else:
            print(f"prepare: no {name} here" + (f" ({NOT_NEEDED[name]})" if name in NOT_NEEDED else ""), file=sys.stderr)
    return path


def door(args):
    if args.client:
        return CLIENT
    return DOOR.format(what="tool", how="TOOL 'JSON object of arguments'") if args.side == "mcp" else \
        DOOR.format(what="shell command", how="'shell command'")


def write_prompt(args, run, path, chosen):
    reads = "through ./t" if args.side == "spaa" else "it is in this folder" if args.client else "`./t setup skill` prints it"
    skill = f" The manual for agents is skill/SKILL.md: read it first ({reads})." if args.skill else ""
    profiler = ", profiler-cli (`profiler-cli guide`) reads what `perf script` prints" if "profiler-cli" in os.listdir(path) else ""
    names = ", ".join(n for n in SIDES[args.side] if n in os.listdir(path) and n not in ("profiler-cli", *COMMON)) + ", awk, jq"
    words = TOOLS[args.side].format(skill=skill, profiler=profiler, names=names)
    listed = "\n".join(f"- {q['id']} ({', '.join(q['files'])}): {q['question']}" for q in chosen)
    with open(os.path.join(run, "prompt.md"), "w", encoding="utf-8") as f:
        f.write(PROMPT.format(folder=run, door=door(args), tools=words if not args.client else skill, questions=listed))


def serve_from(args, run, known):
    """What an agent with a client of MCP needs; and how dear the server's tools are, whoever reads them."""
    known["mcp"] = args.server or [os.path.join(run, "tools", "spaa"), "mcp", "--root", "."]
    with open(os.path.join(run, "mcp.json"), "w", encoding="utf-8") as f:
        json.dump({"mcpServers": {"spaa": {"command": os.path.join(run, "t"), "args": ["--serve"]}}}, f, indent=1)
    counted.FOLDER = run
    try:
        with counted.Server(known["mcp"], env=counted.environment(known)) as server:
            known["schemas_bytes"] = len(server.tools().encode())
            known["era"] = server.era
    except OSError as why:
        shutil.rmtree(run)
        sys.exit(f"prepare: no server of MCP: {' '.join(known['mcp'])}: {why}")


def prepare(args):
    run, chosen = os.path.abspath(args.run), asked_of(args)
    os.makedirs(run)
    stop_server(run)  # of a folder of that name that was deleted
    for name in sorted({p for q in chosen for p in q["files"]}):
        os.makedirs(os.path.dirname(os.path.join(run, name)), exist_ok=True)
        shutil.copy2(os.path.join(args.dir, name), os.path.join(run, name))
    known = {"side": args.side, "path": link_tools(run, args.side, args.spaa)}
    if args.skill and args.side != "peers":
        shutil.copytree(args.skill, os.path.join(run, "skill"))
        known["skill_bytes"] = os.path.getsize(os.path.join(run, "skill", "SKILL.md"))
    if args.side == "mcp":
        serve_from(args, run, known)
    shutil.copy(os.path.join(HERE, "counted.py"), os.path.join(run, "t"))
    os.chmod(os.path.join(run, "t"), 0o755)
    write_prompt(args, run, known["path"], chosen)
    keep(run, known)
    say_which(args, chosen)


def keep(run, known):
    with open(run + ".run.json", "w", encoding="utf-8") as f:
        json.dump(known, f, indent=1)


def stop_server(run):
    """Ends the server that the first ./t of a folder started, if it runs."""
    counted.FOLDER = run
    counted.kept_server(None, start=False)


def is_answer(value):
    return isinstance(value, dict) and bool(value.keys() & {"answer", "cannot", "number"})


def printed_answers(text):
    """The last object of answers in what an agent printed, if it could not write a file."""
    found = None
    for at in re.finditer(r"\{", text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, at.start())
        except ValueError:
            continue
        if isinstance(value, dict) and value and all(is_answer(v) for v in value.values()):
            found = value
    return found


def agent(args):
    run = os.path.abspath(args.run)
    known = scoring.load(run + ".run.json", {})
    known["agent"], known["agent_began"] = args.command, time.time()
    keep(run, known)
    with open(os.path.join(run, "prompt.md"), encoding="utf-8") as prompt:
        done = subprocess.run(args.command, cwd=run, stdin=prompt, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    sys.stdout.write(done.stdout)
    stop_server(run)
    known["agent_seconds"] = round(time.time() - known["agent_began"], 1)
    keep(run, known)
    answers = os.path.join(run, "answers.json")
    if not os.path.exists(answers) and (found := printed_answers(done.stdout)):
        with open(answers, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
    return done.returncode


# ---- what came of it ----

def score(args):
    print(scoring.table([scoring.read_run(args.dir, run, asked_of(args)) for run in args.runs]))


def transcript(args):
    q = next((q for q in scoring.all_questions(args.questions) if q["id"] == args.question), None)
    if not q and args.question != "setup":
        sys.exit(f"no question {args.question}")
    print(scoring.transcript(args.run, q or {"id": "setup", "question": "(for no question)"}))


def worst(args):
    chosen = {q["id"]: q for q in asked_of(args)}
    one = scoring.read_run(args.dir, args.run, list(chosen.values()))
    for row in scoring.worst(one)[:args.count]:
        print(scoring.transcript(args.run, chosen[row.id], row.verdict))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--questions", default=os.path.join(HERE, "questions.json"), help="other questions than those of this folder")
    sub = p.add_subparsers(dest="what", required=True)
    for name, *members in (("record", "dir"), ("check", "dir"), ("prepare", "dir", "run"), ("agent", "run"), ("score", "dir"),
                           ("transcript", "run", "question"), ("worst", "dir", "run")):
        one = sub.add_parser(name)
        for member in members:
            one.add_argument(member)
    prepared, ran = sub.choices["prepare"], sub.choices["agent"]
    prepared.add_argument("--side", choices=SIDES, required=True)
    prepared.add_argument("--spaa", default=shutil.which("spaa"), help="the program (default: that of PATH)")
    prepared.add_argument("--skill", help="a folder with SKILL.md to hand over")
    prepared.add_argument("--client", action="store_true", help="the agent has a client of MCP (mcp.json) and needs no ./t")
    prepared.add_argument("--server", nargs="+", help="another server of MCP than `spaa mcp --root .`")
    ran.add_argument("command", nargs="+")
    sub.choices["score"].add_argument("runs", nargs="+")
    sub.choices["worst"].add_argument("count", nargs="?", type=int, default=2)
    args = p.parse_args()
    return {"record": record, "check": check, "prepare": prepare, "agent": agent, "score": score, "transcript": transcript,
            "worst": worst}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())

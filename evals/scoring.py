"""Which answers are right, and what was read for them: verdicts and tables."""

import collections
import json
import math
import os
import re
import statistics

HERE = os.path.dirname(os.path.abspath(__file__))
# What can be said of an answer. The first two are what is wanted.
VERDICTS = {
    "right": "right",
    "right abstention": "said that it cannot be known, and it cannot",
    "wrong abstention": "said that it cannot be known, but it can",
    "wrong": "an answer that is not true",
    "invented": "a confident answer where the data cannot tell",
    "none": "no answer",
}
Row = collections.namedtuple("Row", "id verdict calls size wall tool")


def all_questions(path=None):
    with open(path or os.path.join(HERE, "questions.json"), encoding="utf-8") as f:
        return json.load(f)


def questions(folder, path=None):
    """Those whose recordings are there."""
    return [q for q in all_questions(path) if all(os.path.exists(os.path.join(folder, p)) for p in q["files"])]


def load(path, otherwise):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return otherwise


# ---- verdicts ----

def near(value, truth, within):
    """Numbers may come as text and with their unit: "94.9 %"."""
    number = re.fullmatch(r"\s*[~≈×x]?\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)\s*(?:%|x|×|s|times)?\s*", str(value), re.I)
    return bool(number) and not isinstance(value, bool) and abs(float(number[1]) - truth) <= within


def names_it(q, text):
    """Of the names that stand in the answer, the first is the right one: prompts say that names come first."""
    if "name" not in q:
        return True
    wrong = q["name"].get("not")
    right = re.search(q["name"]["is"], text, re.I)
    other = re.search(wrong, text, re.I) if wrong else None
    return bool(right) and (not other or right.start() <= other.start())


def numbers(q, truths):
    """(member of the answer, what it is, how far off it may be)."""
    if "within" not in q:
        return []
    value = truths.get(q["id"])
    value = value if isinstance(value, list) else [value]
    return [("number" + (str(n) if n > 1 else ""), v, q["within"]) for n, v in enumerate(value, 1)]


def verdict(q, given, truths):
    if not isinstance(given, dict) or not (given.get("cannot") or given.get("answer") not in (None, "") or "number" in given):
        return "none"
    if q.get("cannot"):
        return "right abstention" if given.get("cannot") is True else "invented"
    if given.get("cannot"):
        return "wrong abstention"
    text = str(given.get("answer", ""))
    right = names_it(q, text) and all(re.search(p, text, re.I) for p in q.get("says", []))
    right = right and all(truth is not None and near(given.get(member), truth, within)
                          for member, truth, within in numbers(q, truths))
    return "right" if right else "wrong"


# ---- runs ----

def entries(run):
    path = run.rstrip("/") + ".log.jsonl"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def fixed_cost(log, known):
    """What is read for no question: schemas and skill once at least, even by agents that get them by their own means."""
    rest = {"schemas": sum(x["bytes"] for x in log if x.get("schema")),
            "skill": sum(x["bytes"] for x in log if not x.get("schema") and "skill/" in x["command"])}
    return {name: max(size, known.get(name + "_bytes", 0)) for name, size in rest.items()}


def elsewhere(log, run, folder):
    """Commands that name what stands elsewhere (the programs, which debug information is read from, are no secret): someone
    should look at what they looked for."""
    mine = (run + "/", "/dev/null", os.path.join(os.path.abspath(folder), "bin/"))

    def strange(command):
        named = re.findall(r"(?:^|[\s'\"=<>(])(/[\w.+-]+/[^\s'\")|;]*)", command)
        return "../" in command or any(os.path.exists(p) and not (p + "/").startswith(mine) for p in named)
    return [x for x in log if strange(x["command"])]


def read_run(folder, run, asked):
    run = os.path.abspath(run)
    truths, known = load(os.path.join(folder, "truths.json"), {}), load(run + ".run.json", {})
    answers, log = load(os.path.join(run, "answers.json"), {}), entries(run)
    fixed = fixed_cost(log, known)
    log = [x for x in log if not x.get("schema")]
    rows = []
    for q in asked:
        mine = [x for x in log if x["question"] == q["id"]]
        wall = max(x["start"] + x["seconds"] for x in mine) - min(x["start"] for x in mine) if mine else 0
        rows.append(Row(q["id"], verdict(q, answers.get(q["id"]) if isinstance(answers, dict) else None, truths), len(mine),
                        sum(x["bytes"] for x in mine if "skill/" not in x["command"]), wall, sum(x["seconds"] for x in mine)))
    rest = [x for x in log if x["question"] not in {r.id for r in rows}]
    return {"run": run, "side": known.get("side", "?"), "rows": rows, "rest": rest, "fixed": fixed, "log": log,
            "elsewhere": elsewhere(log, run, folder), "began": known.get("agent_began"), "took": known.get("agent_seconds"),
            "other": sum(x["bytes"] for x in rest if "skill/" not in x["command"])}


def totals(one):
    """The figures of a side: (what, value), in the order of the table."""
    rows, said = one["rows"], collections.Counter(r.verdict for r in one["rows"])
    calls = sorted(r.calls for r in rows)
    whole = one["other"] + sum(one["fixed"].values()) + sum(r.size for r in rows)
    first = min((x["start"] + x["seconds"] for x in one["log"]), default=None)
    good = said["right"] + said["right abstention"]
    return [
        ("right, of all", f"{good} of {len(rows)} ({100 * good / max(1, len(rows)):.0f} %)"),
        ("right answers", said["right"]), ("right abstentions", said["right abstention"]),
        ("wrong abstentions", said["wrong abstention"]), ("wrong answers", said["wrong"]),
        ("confident answers where the data cannot tell", said["invented"]), ("no answer", said["none"]),
        ("calls", f"{sum(calls) + len(one['rest'])}, {len(one['rest'])} for no question"),
        ("calls a question: median, p90", f"{statistics.median(calls):g}, {percentile(calls, 0.9)}" if calls else "-"),
        ("bytes of answers, help and errors", one["other"] + sum(r.size for r in rows)),
        ("bytes of tool schemas", one["fixed"]["schemas"]), ("bytes of skill text", one["fixed"]["skill"]),
        ("bytes, all", whole), ("bytes a question", f"{whole / max(1, len(rows)):.0f}"),
        ("seconds a question, first call to last: median", f"{statistics.median([r.wall for r in rows if r.calls] or [0]):.1f}"),
        ("seconds of the tools themselves", f"{sum(x['seconds'] for x in one['log']):.1f}"),
        ("seconds from the agent's start to its first output", f"{first - one['began']:.1f}" if first and one["began"] else "-"),
        ("seconds of the whole run", one["took"] or "-"),
    ]


def percentile(ordered, share):
    """The least value that as many are not above: nearest rank."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def table(runs):
    """Both sides beside each other: a row a question, then the sums."""
    titles = [f"{os.path.basename(one['run'])} ({one['side']})" for one in runs]
    lines = ["| question | " + " | ".join(f"{t} | calls | bytes | s | tool s" for t in titles) + " |",
             "|---|" + "---|--:|--:|--:|--:|" * len(runs)]
    by = [{r.id: r for r in one["rows"]} for one in runs]
    for name in by[0]:
        cells = [f"{r.verdict} | {r.calls} | {r.size} | {r.wall:.1f} | {r.tool:.1f}" for r in (rows[name] for rows in by)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    cells = [f" | {len(one['rest'])} | {one['other']} |  | {sum(x['seconds'] for x in one['rest']):.1f}" for one in runs]
    lines.append("| (for none: help, errors) | " + " | ".join(cells) + " |")
    lines += ["", "| | " + " | ".join(titles) + " |", "|---|" + "--:|" * len(runs)]
    for figures in zip(*(totals(one) for one in runs)):
        lines.append(f"| {figures[0][0]} | " + " | ".join(str(f[1]) for f in figures) + " |")
    for one in runs:
        for x in one["elsewhere"]:
            lines.append(f"! {os.path.basename(one['run'])}, {x['question']}: looks outside its folder: {x['command'][:100]}")
    return "\n".join(lines)


def worst(one):
    """Questions from the worst: invented and wrong before dear."""
    order = ["invented", "wrong", "none", "wrong abstention", "right abstention", "right"]
    return sorted(one["rows"], key=lambda r: (min(order.index(r.verdict), 4), -r.size, -r.calls, r.id))


def transcript(run, q, said=None):
    """All calls of a question with what they printed, and the answer."""
    lines = [f"## {q['id']}" + (f": {said}" if said else ""), "", q["question"], ""]
    for x in entries(run):
        if x["question"] == q["id"]:
            lines += [f"$ {x['command']}    # {x['bytes']} bytes, {x['seconds']:.2f} s" + (f", exit {x['code']}" if x["code"] else ""),
                      x["output"], ""]
    answers = load(os.path.join(run, "answers.json"), {})
    return "\n".join(lines + [f"answer: {json.dumps(answers.get(q['id']), ensure_ascii=False)}", ""])

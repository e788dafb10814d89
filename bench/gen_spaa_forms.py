#!/usr/bin/env python3
"""Writes a SPAA profile in another valid form: the same records, said otherwise.

    bench/gen_spaa_forms.py SOURCE FORM OUT       --list shows the forms

SOURCE is as gen_spaa_large.py writes it. Some forms make more of one type of record of it ("frames", "samples",
"windows", ...), so that the time is spent there; each of these has forms of its own (`frames reversed`).
"""
import itertools
import json
import random
import sys

MANY = 150_000  # records of the type that a form is about


def compact(record):
    return json.dumps(record, separators=(",", ":"))


# How a record is written: name -> function of the record to its text.


def reversed_members(x):
    if isinstance(x, dict):
        return {k: reversed_members(x[k]) for k in reversed(x)}
    return [reversed_members(i) for i in x] if isinstance(x, list) else x


def with_unknown(record):
    return compact({**record, "note": {"by": "somebody", "n": [1, 2]}})


def escaped(record):
    """A key and the names with escapes that need not be."""
    text = compact(record)
    for plain, odd in (('"id"', '"\\u0069d"'), ("::", "\\u003a:"), ('"period"', '"peri\\u006fd"'), ('"comm":"', '"comm":"\\u0063')):
        text = text.replace(plain, odd)
    return text


WRITTEN = {
    "canonical": compact,
    "reversed": lambda r: compact(reversed_members(r)),
    "with blanks": lambda r: json.dumps(r, separators=(" , ", " : ")),
    "with an unknown member": with_unknown,
    "with escapes": escaped,
}


# What is changed in a stack: name -> function that changes it.


def shorter_exclusive(stack):
    stack["exclusive"]["weights"].pop()


def other_exclusive(stack):
    for w in stack["exclusive"]["weights"]:
        w["value"] //= 2


def exclusive_in_another_order(stack):
    stack["exclusive"]["weights"].reverse()


def six_metrics_more(stack):
    stack["weights"] += [{"metric": f"x_m{i}", "value": stack["frames"][i % len(stack["frames"])], "unit": "things"}
                         for i in range(6)]
    stack["exclusive"]["weights"] = stack["weights"]


def one_metric(stack):
    stack["weights"] = stack["weights"][1:]
    stack["exclusive"]["weights"] = stack["weights"]


def fractions(stack):
    for w in stack["weights"]:
        w["value"] += 0.5
    stack["exclusive"]["weights"] = stack["weights"]


def ids_as_text(stack):
    stack["frames"] = [str(i) for i in stack["frames"]]
    stack["exclusive"]["frame"] = str(stack["exclusive"]["frame"])


def context_of_its_own(stack):
    stack["context"]["x_serial"] = stack["frames"][0] * 1000003 + stack["weights"][0]["value"]


CHANGED = {"": lambda stack: None, "with a shorter exclusive": shorter_exclusive, "with another exclusive": other_exclusive,
           "with exclusive in another order": exclusive_in_another_order, "of eight metrics": six_metrics_more,
           "of one metric": one_metric, "with fractions": fractions, "with ids as text": ids_as_text,
           "with a context each": context_of_its_own}


# Types of records of which there are many: name -> function of the stacks to more records, and whether stacks are kept.


def more_frames(_):
    for i in range(1_000_001, 1_000_001 + MANY):
        yield {"type": "frame", "id": i, "func": f"name_{i % 9999}::f", "dso": 1 + i % 40, "ip": hex(i * 16),
               "symoff": hex(i % 999), "srcline": f"a/b.c:{i}", "kind": "user"}


def more_dsos(_):
    for i in range(1000, 1000 + MANY):
        yield {"type": "dso", "id": i, "name": f"/lib/{i}.so", "build_id": f"{i:040x}", "is_kernel": False}


def more_threads(_):
    for i in range(MANY):
        yield {"type": "thread", "pid": 10_000 + i // 9, "tid": 100_000 + i, "comm": f"c{i}"}


def samples(stacks):
    rng = random.Random(1)
    for i in range(2 * MANY):
        yield {"type": "sample", "timestamp": 1000.5 + i, "pid": 4000, "tid": 5000 + i % 64, "cpu": i % 8,
               "event": "cpu-clock", "period": 1003009, "stack_id": rng.choice(stacks)}


def windows(stacks):
    rng = random.Random(1)
    for i in range(MANY // 40):
        rows = [{"stack_id": s, "weights": [{"metric": "period", "value": 5, "unit": "ns"}]}
                for s in sorted(rng.sample(stacks, min(40, len(stacks))))]
        yield {"type": "window", "id": i, "start": i, "end": i + 1, "unit": "s", "by_stack": rows}


def unknown_records(_):
    for i in range(MANY):
        yield {"type": "x_tool_event", "at": i, "args": {"a": i, "b": "text", "c": [1, 2, 3, {"d": None}]}}


MORE = {"dsos": more_dsos, "frames": more_frames, "threads": more_threads, "samples": samples, "windows": windows,
        "unknown records": unknown_records}
KEPT = 1000  # stacks beside them


def forms():
    """{form: (type of records or None, what is changed, how it is written)}"""
    found = {f"stacks {written}": (None, "", written) for written in WRITTEN}
    found |= {f"stacks {changed}": (None, changed, "canonical") for changed in CHANGED if changed}
    found |= {f"stacks of eight metrics {written}": (None, "of eight metrics", written) for written in WRITTEN
              if written != "canonical"}
    return found | {f"{name} {written}": (name, "", written) for name in MORE for written in WRITTEN}


def records(source, name, change):
    kept, count = [], 0
    for line in source:
        record = json.loads(line)
        if record["type"] == "stack":
            count += 1
            if name and count > KEPT:
                break
            kept.append(record["id"])
            CHANGED[change](record)
        yield record
    if name:
        yield from MORE[name](kept)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(forms()))
        return 0
    if len(sys.argv) != 4 or sys.argv[2] not in forms():
        sys.exit(__doc__.strip())
    name, change, written = forms()[sys.argv[2]]
    with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[3], "w", encoding="utf-8") as out:
        found = records(source, name, change)
        header = next(found)
        lines = itertools.chain([compact(header)], map(WRITTEN[written], found))
        out.writelines(line + "\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""--ratio: instructions per cycle and the like, against sums of the same samples, and what chance leaves."""

import collections
import json
import math
import os
import random
import re
import sys

import pytest
from conftest import ROOT, ask, at_terminal, run, unwrapped
from test_annotate import build, needs_tools

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
from perf_data_files import IDENTIFIER, IP, PERIOD, READ, TID, TIME, Recording  # noqa: E402

HOT, COLD, RARE = 0x400100, 0x400200, 0x400300
CYCLES, INSTRUCTIONS, MISSES = 0, 1, 2
SORT = IP | TID | TIME | PERIOD | IDENTIFIER


def recording(samples, names=(b"cycles", b"instructions", b"cache-misses"), **more):
    """samples: (event, address, period)"""
    r = Recording([(0, config, SORT, {"freq": 99}) for config in (0, 1, 3)[:len(names)]], **more)
    r.describe(list(names))
    r.comm(10, 10, b"prog", 1)
    r.mmap2(10, 0x400000, 0x1000, 0, b"/opt/prog", 1)
    for i, (event, at, period) in enumerate(samples):
        r.sample(ip=at, time=100 + i, event=event, period=period)
    return r


def many(seed=1):
    rng = random.Random(seed)
    out = []
    for at, event, n, period in ((HOT, CYCLES, 400, 1000), (HOT, INSTRUCTIONS, 300, 2000), (COLD, CYCLES, 100, 1000),
                                 (COLD, INSTRUCTIONS, 20, 2000), (HOT, MISSES, 40, 50), (RARE, CYCLES, 60, 1000),
                                 (RARE, INSTRUCTIONS, 4, 2000), (RARE + 4, MISSES, 5, 50)):
        out += [(event, at, period + rng.randrange(100)) for _ in range(n)]
    rng.shuffle(out)
    return out


def path_of(tmp_path, r):
    (tmp_path / "x.perf.data").write_bytes(r.bytes())
    return tmp_path / "x.perf.data"


def sums(samples):
    weight, count = collections.Counter(), collections.Counter()
    for event, at, period in samples:
        weight[event, at] += period
        count[event, at] += 1
    return weight, count


def near(got, want):
    assert float(got) == pytest.approx(want, rel=1e-3)


def test_a_ratio_is_that_of_the_sums_with_what_chance_leaves(tmp_path):
    samples = many()
    path = path_of(tmp_path, recording(samples))
    weight, count = sums(samples)
    answer = ask("top", path, "--by", "address", "--no-symbols", "--ratio", "instructions/cycles")
    assert answer["profile"]["event"] == "cycles"
    assert [(r["name"], r["of"], r["per"], float(r["times"])) for r in answer["ratios"]] == [
        ("instructions/cycles", "instructions", "cycles", 1)]
    whole = sum(w for (e, _), w in weight.items() if e == INSTRUCTIONS) / sum(w for (e, _), w in weight.items() if e == CYCLES)
    near(answer["ratios"][0]["whole"], whole)
    for at in (HOT, COLD):
        ratio = next(r["ratio"][0] for r in answer["rows"] if r["self"] == weight[CYCLES, at])
        value = weight[INSTRUCTIONS, at] / weight[CYCLES, at]
        spread = math.exp(1.96 * math.sqrt(1 / count[INSTRUCTIONS, at] + 1 / count[CYCLES, at]))
        near(ratio["self"], value)
        near(ratio["self_low"], value / spread)
        near(ratio["self_high"], value * spread)


def test_of_few_samples_there_is_a_bound_or_nothing(tmp_path):
    samples = many()
    path = path_of(tmp_path, recording(samples))
    weight, count = sums(samples)
    answer = ask("top", path, "--by", "address", "--no-symbols", "--ratio", "ipc", "--ratio", "cache-misses/1000*instructions")
    rare = next(r["ratio"] for r in answer["rows"] if r["self"] == weight[CYCLES, RARE])
    assert rare[0]["self"] is None and rare[0]["self_low"] is None
    most = 10.242 * weight[INSTRUCTIONS, RARE] / 4 / (weight[CYCLES, RARE] * math.exp(-1.96 / math.sqrt(count[CYCLES, RARE])))
    near(rare[0]["self_high"], most)
    assert rare[1] == {k: None for k in rare[1]}  # four samples below the line
    hot = next(r["ratio"] for r in answer["rows"] if r["self"] == weight[CYCLES, HOT])
    near(hot[1]["self"], 1000 * weight[MISSES, HOT] / weight[INSTRUCTIONS, HOT])
    text = run("top", path, "--no-symbols", "--by", "address", "--ratio", "ipc", code=0).out
    assert "≤" in text and "ipc = instructions / cycles" in text and "not scaled" in text


def test_turns_that_counters_took_are_scaled_and_said(tmp_path):
    fmt = 1 | 2 | 4  # TOTAL_TIME_ENABLED, TOTAL_TIME_RUNNING, ID
    r = Recording([(0, config, SORT | READ, {"freq": 99, "read": fmt}) for config in (0, 1)])
    r.describe([b"cycles", b"instructions"])
    r.comm(10, 10, b"prog", 1)
    r.mmap2(10, 0x400000, 0x1000, 0, b"/opt/prog", 1)
    total = [0, 0]
    for i in range(1, 101):
        for event, step, running in ((0, 1000, 800), (1, 700, 250)):
            total[event] += step
            r.sample(ip=HOT, time=100 * i + event, event=event, period=step,
                     read=r.pack("QQQQ", total[event], 1000 * i, running * i, 100 + event))
    path = path_of(tmp_path, r)
    want = (total[1] / 0.25) / (total[0] / 0.8)
    run("convert", path, "-q", "-o", tmp_path / "x.spaa", code=0)
    for p in path, tmp_path / "x.spaa":
        ratio = ask("top", p, "--no-symbols", "--ratio", "ipc")["ratios"][0]
        near(ratio["whole"], want)
        assert (float(ratio["of_ran_percent"]), float(ratio["per_ran_percent"])) == (25, 80)
    text = run("top", path, "--no-symbols", "--ratio", "ipc", code=0).out
    assert "instructions ran 25.0 % of the time, cycles 80.0 %; scaled" in " ".join(text.split())
    # two recordings together: what each ran is no longer told apart
    other = tmp_path / "y.perf.data"
    other.write_bytes(path.read_bytes())
    assert ask("top", path, other, "--no-symbols", "--ratio", "ipc")["ratios"][0]["of_ran_percent"] is None


def test_short_forms_need_events_that_are_called_so(tmp_path):
    clocks = path_of(tmp_path, recording([(0, HOT, 5), (1, HOT, 6)], (b"page-faults", b"branches")))
    err = run("top", clocks, "--no-symbols", "--ratio", "ipc", code=2).err
    assert "it takes the events instructions and cycles" in err and "page-faults, branches" in err
    hybrid = path_of(tmp_path, recording([(0, HOT, 5), (1, HOT, 6), (2, HOT, 7)],
                                         (b"cpu_core/cycles/", b"cpu_core/instructions/", b"cpu_atom/cycles/")))
    one = ask("top", hybrid, "--no-symbols", "--ratio", "ipc")["ratios"][0]
    assert (one["of"], one["per"]) == ("cpu_core/instructions/", "cpu_core/cycles/")
    named = ask("top", hybrid, "--no-symbols", "--ratio", "cpu_core/instructions//cpu_atom/cycles/")["ratios"][0]
    assert (named["of"], named["per"]) == ("cpu_core/instructions/", "cpu_atom/cycles/")
    assert "do not count on the same side or kind" in run("top", hybrid, "--no-symbols", "--ratio",
                                                          "cpu_core/instructions//cpu_atom/cycles/", code=0).out
    sides = path_of(tmp_path, recording([(0, HOT, 5), (1, HOT, 6)], (b"cycles:u", b"instructions:k")))
    run("top", sides, "--no-symbols", "--ratio", "ipc", code=2)
    assert ask("top", sides, "--no-symbols", "--ratio", "instructions/cycles")["ratios"][0]["of"] == "instructions:k"
    for bad in "cycles", "cycles:u/cycles:u", "x/y", "instructions/0*cycles":
        run("top", sides, "--no-symbols", "--ratio", bad, code=2)


@needs_tools
def test_how_an_event_is_sampled_is_no_processor_of_its_own(tmp_path):
    """cycles/period=7/: what stands between the slashes is no event of a PMU `cycles`."""
    path = path_of(tmp_path, recording([(0, HOT, 5), (1, HOT, 6)], (b"cycles/period=7/", b"instructions/freq=99,call-graph=fp/")))
    told = ask("top", path, "--no-symbols", "--ratio", "ipc")["ratios"][0]
    assert (told["of"], told["per"]) == ("instructions/freq=99,call-graph=fp/", "cycles/period=7/")
    assert "side or kind" not in run("top", path, "--no-symbols", "--ratio", "ipc", code=0).out


def counted(tmp_path, factors):
    """The profile of test_annotate.build in several events: so many times its weights of each."""
    profile, start, size = build(tmp_path)
    rows = [json.loads(x) for x in profile.read_text().splitlines()]
    header = next(r for r in rows if r["type"] == "header")
    event = header["events"][0]
    header["events"] = [dict(event, name=name) for name in factors]
    out = []
    for r in rows:
        if r["type"] != "stack":
            out.append(r)
            continue
        for name, factor in factors.items():
            more = json.loads(json.dumps(r))
            more["id"] = str(more["id"]) + name
            more["context"]["event"] = name
            for w in more["weights"] + more.get("exclusive", {}).get("weights", []):
                w["value"] = w["value"] * factor
            out.append(more)
    for r in out:
        if "stack_id_mode" in r:
            r["stack_id_mode"] = "local"
        r.pop("summary", None)
    (tmp_path / "counted.spaa").write_text("".join(json.dumps(r) + "\n" for r in out if r["type"] not in ("summary", "end")))
    return tmp_path / "counted.spaa"


@needs_tools
def test_lines_and_functions_have_them(tmp_path):
    two = counted(tmp_path, {"cycles": 20, "instructions": 30})
    for command in "function", "annotate":
        ratio = ask(command, two, "sum", "--event", "cycles", "--ratio", "ipc")["ratios"][0]
        near(ratio["self"], 1.5)
        near(ratio["total"], 1.5)
        assert ratio["self_low"] < ratio["self"] < ratio["self_high"]
    answer = ask("annotate", two, "sum", "--event", "cycles", "--ratio", "ipc", "-n", "0")
    lines = [row for r in answer["ranges"] for row in r["lines"]]
    assert lines
    for row in lines:
        if row["samples"]:
            near(row["ratio"][0]["self"], 1.5)
    assert "1.50 (" in run("annotate", two, "sum", "--event", "cycles", "--ratio", "ipc", code=0).out
    assert "of lines, not of instructions" in run("annotate", two, "sum", "--asm", "--ratio", "ipc", code=2).err


@needs_tools
def test_nothing_that_is_asked_for_vanishes_without_a_word(tmp_path):
    """Lists and sources give way first, then columns that nobody asked for; what has no room is named, numbers of lines stay."""
    path = counted(tmp_path, {"cycles": 20, "instructions": 30, "cache-misses": 15, "branch-misses": 12})
    command = ["annotate", path, "sum", "--event", "cycles"]
    ratios = ["instructions/cycles", "cache-misses/1000*instructions", "branch-misses/1000*instructions"]
    for ratio in ratios:
        command += ["--ratio", ratio]
    whole = run(*command, code=0).out
    assert "no room for" not in whole and re.search(r"self% +total% +(\S+…\S+ +){3}line +source +inlined there", whole)
    for columns, stay in (80, 2), (60, 1), (50, 0):
        text = at_terminal(*command, columns=columns, env={**os.environ, "SPAA_NO_CONFIG": "1", "SPAA_PAGER": "cat", "NO_COLOR": "1"})[0]
        title = next(line for line in text.splitlines() if "source" in line and "self%" in line)
        assert title.split()[stay + 1] == "line" and len(title) <= columns
        assert re.search(r"^66.54% .* 13 ", text, re.M)
        left_out = unwrapped(text)[-300:].rpartition("b…le")[2]
        assert ", ".join(["total%"] + ratios[stay:]) + ": no room for these columns" in left_out


def test_counters_of_a_group_ran_together(tmp_path):
    """`perf record -e '{cycles,instructions}:S'` needs no advice to record a group; of unknown recordings it depends."""
    def said(r):
        return unwrapped(run("top", path_of(tmp_path, r), "--no-symbols", "--ratio", "ipc", "--ratio", "mpki", code=0).out)

    advice = "perf record -e '{cycles,instructions}:S'"
    assert "a group, if they were none, has them together" in said(recording(many()))
    for members in 2, 3:
        r = recording(many())
        r.features[17] = r.pack("I", 1) + r.text(b"{cycles,instructions}:S") + r.pack("II", 0, members)
        text = said(r)
        assert "instructions and cycles were counted at the same times, as a group: not scaled" in text and advice not in text
        assert ("a group has them together (`perf record -e '{instructions,cache-misses}:S'`)" in text) == (members == 2)
        run("convert", tmp_path / "x.perf.data", "-q", "-o", tmp_path / "x.spaa", code=0)
        assert advice not in run("top", tmp_path / "x.spaa", "--ratio", "ipc", code=0).out
    r = recording(many())
    r.features[17] = r.pack("I", 1) + r.text(b"{instructions,cache-misses}") + r.pack("II", 1, 2)
    assert "a group has them together (`" + advice in said(r)


def test_an_event_has_no_ratio(tmp_path):
    path = path_of(tmp_path, recording(many()))
    for by in "event", "comm,event":
        answer = run("top", path, "--no-symbols", "--by", by, "--ratio", "ipc", code=2)
        assert "rows of --by event are of one each" in answer.err and "another --by" in answer.err

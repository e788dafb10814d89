"""Texts of `perf script -F` with any of its fields: the layout is perf's (builtin-script.c), the samples are made here."""

import itertools
import json

import pytest

from conftest import run

FIELDS = ("comm", "tid", "pid", "cpu", "misc", "time", "period", "event", "addr", "weight")
SAMPLES = [(3, 12345678901, "main"), (31987, 250000, "hot"), (31987, 250000, "hot"), (4194303, 1, "f<int, 3>")]


def opening(sample, number, fields, chain, comm):
    tid, period, _ = sample
    pid = {("pid",): f"{tid:5d} ", ("tid",): f"{tid:5d} ", ("tid", "pid"): f"{31987:5d}/{tid:<5d} ", (): ""}
    printed = {
        "comm": f"{comm} " if chain else f"{comm:>16} ",
        "tid": pid[tuple(f for f in ("tid", "pid") if f in fields)],
        "cpu": f"[{number:03d}] ",
        "misc": f"{'UK'[number % 2]:<6}",
        "time": f"{26034 + number:5d}.{972148:06d}: ",
        "period": f"{period:10d} ",
        "event": "cpu-clock:u: ",
        "addr": f"{number * 0x7f1243572:16x}",
        "weight": f"{number * 17:16d}",
    }
    return "".join(printed[f] for f in printed if f in fields or (f == "tid" and "pid" in fields))


def text(fields, chain, comm="server"):
    lines = []
    for number, sample in enumerate(SAMPLES):
        ip = 0x556a9e001156 + number
        first = opening(sample, number, fields, chain, comm)
        if chain:
            lines += [first, f"\t{ip:16x} {sample[2]} (/bin/server)", f"\t{0x1462a:16x} start (/bin/server)", ""]
        else:
            lines.append(f"{first} {ip:16x} {sample[2]} (/bin/server)")
    return "\n".join(lines) + "\n"


def of(words):
    shown = run("info", "-", "--json", stdin=words.encode())
    if shown.code:
        return shown.err
    assert not shown.err, shown.err
    event, = json.loads(shown.out)["events"]
    return event["name"], {m["name"]: m["whole"] for m in event["metrics"]}


def selections():
    return [c for n in range(6) for c in itertools.combinations(FIELDS, n)]


def wanted(fields):
    metrics = {"samples": len(SAMPLES)}
    if "period" in fields:
        metrics["period"] = sum(s[1] for s in SAMPLES)
    return "cpu-clock:u" if "event" in fields else "unknown", metrics


@pytest.mark.parametrize("first", [None, *FIELDS])
def test_call_chains_below_any_selection_of_fields_are_counted_with_their_periods(first):
    for fields in selections():
        if (fields[0] if fields else None) == first:
            assert of(text(fields, True)) == wanted(fields), fields


@pytest.mark.parametrize("first", FIELDS)
def test_frames_on_the_line_of_any_selection_are_counted_where_something_opens_it(first):
    opens = {"comm", "tid", "pid", "cpu", "time", "period", "event"}
    for fields in selections():
        if fields and fields[0] == first and opens & set(fields):
            assert of(text(fields, False)) == wanted(fields), fields


def test_the_thread_is_read_where_there_is_nothing_else():
    rows = json.loads(run("top", "-", "--json", "--by", "thread", stdin=text(("comm", "tid"), True), code=0).out)["rows"]
    assert {(r["name"], r["self"]) for r in rows} == {("server (tid 31987)", 2), ("server (tid 3)", 1), ("server (tid 4194303)", 1)}, rows


@pytest.mark.parametrize("chain", [True, False])
@pytest.mark.parametrize("comm", ["worker 1", "12 34", "1234", "Thread 12/3", "k:1/2", "a"])
def test_numbers_in_names_of_threads_are_neither_tids_nor_periods(comm, chain):
    for fields in selections():
        if "comm" in fields and ("tid" in fields or "pid" in fields) and {"time", "event", "period"} & set(fields):
            words = text(fields, chain, comm)
            assert of(words) == wanted(fields), fields
            rows = json.loads(run("top", "-", "--json", "--by", "comm", "--no-pool", stdin=words, code=0).out)["rows"]
            assert {r["name"] for r in rows} == {comm}, fields


@pytest.mark.parametrize("comm", ["abc 77 12.34:", "1 2.5: x", "1.5: 10 cpu:"])
def test_a_name_that_looks_like_fields_is_a_name_where_the_fields_follow(comm):
    words = text(("comm", "tid", "cpu", "time", "period", "event"), True, comm)
    assert of(words) == wanted(("period", "event"))
    rows = json.loads(run("top", "-", "--json", "--by", "comm", "--no-pool", stdin=words, code=0).out)["rows"]
    assert {r["name"] for r in rows} == {comm}


def test_frames_alone_are_refused_with_what_would_tell_samples_apart():
    alone = text((), False)
    run("top", "-", stdin=alone, code=3)
    forced = run("top", "-", "--from", "perf-script", stdin=alone, code=3)
    assert "no line of the text opens a sample" in forced.err and "perf script -F +comm,+event" in forced.err

"""The table `intervals` of recordings against a walk over perf's words of the same recording (tests/schedule)."""

import json
import os
import sys
from pathlib import Path

import pytest

from conftest import ROOT, run

sys.path.insert(0, os.path.join(ROOT, "tests", "schedule"))

import judge  # noqa: E402

RECORDINGS = Path(ROOT) / "tests/schedule/recordings"
NAMES = sorted(p.name[: -len(".data.zst")] for p in RECORDINGS.glob("*.data.zst"))
WITH_SWITCHES = [n for n in NAMES if not n.endswith("swev")]
TEXTS = sorted(p.name[: -len(".txt.zst")] for p in RECORDINGS.glob("*.txt.zst"))

pytestmark = pytest.mark.skipif(
    "\nintervals " not in run("query", ".tables").out, reason="there is no table of intervals yet"
)


def figures(name):
    return json.loads((RECORDINGS / f"{name}.json").read_text())


def rows(path, sql):
    answer = json.loads(run("query", path, "--json", "-n", "0", sql, code=0).out)
    return [dict(zip(answer["columns"], r)) for r in answer["rows"]]


def differences(name, ending):
    w = judge.walk_of(figures(name)["walk"])
    path = RECORDINGS / f"{name}.{ending}.zst"
    ends = rows(path, 'SELECT max(end_time) - min(start_time) AS n FROM intervals')[0]["n"]
    said = judge.said_of(rows(path, judge.FROM_TABLE))
    longer = max(0, ends - (w.end - w.begin))
    return [d for d in judge.differences(w, said, judge.STATES, longer) if d["wrong"]]


def told(wrong):
    return "\n".join(f"{d['comm']} {d['tid']} {d['state']} {d['part']}: {d['spaa']} not in {d['low']}..{d['high']}" for d in wrong[:12])


@pytest.mark.parametrize("name", WITH_SWITCHES)
def test_sums_of_threads_are_those_of_the_events(name):
    wrong = differences(name, "data")
    assert not wrong, told(wrong)


@pytest.mark.parametrize("name", TEXTS)
def test_text_says_what_the_recording_says(name):
    wrong = differences(name, "txt")
    assert not wrong, told(wrong)


@pytest.mark.parametrize("name", WITH_SWITCHES)
def test_intervals_of_a_thread_do_not_overlap(name):
    overlaps = rows(
        RECORDINGS / f"{name}.data.zst",
        """SELECT tid, start_time, before_it FROM (SELECT pid, tid, cpu, start_time,
             max(end_time) OVER (PARTITION BY tid, comm LIKE 'swapper%', CASE WHEN tid = 0 THEN cpu END ORDER BY start_time, end_time
                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_it FROM intervals)
           WHERE start_time < before_it""",
    )
    assert not overlaps, overlaps[:5]


@pytest.mark.parametrize("name", [n for n in NAMES if "-own" not in n])
def test_a_cpu_runs_one_thread_at_a_time(name):
    overlaps = rows(
        RECORDINGS / f"{name}.data.zst",
        """SELECT cpu, tid, start_time, before_it FROM (SELECT cpu, tid, start_time, max(end_time) OVER (PARTITION BY cpu
             ORDER BY start_time, end_time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_it
           FROM intervals WHERE state = 'running') WHERE start_time < before_it""",
    )
    assert not overlaps, overlaps[:5]


@pytest.mark.parametrize("name", [n for n in NAMES if n.endswith("-one")])
def test_running_is_what_the_program_measured(name):
    """CLOCK_THREAD_CPUTIME_ID, read a little after the thread began and a little before it ended."""
    truth = figures(name)["truth"]
    run_of = {r["tid"]: r["ns"] for r in rows(RECORDINGS / f"{name}.data.zst", "SELECT tid, sum(ns) AS ns FROM intervals WHERE state = 'running' GROUP BY 1")}  # fmt: skip
    for t in truth.get("threads", []):
        if t["cpu_ns"] > 5_000_000:
            assert t["tid"] in run_of, t
            assert t["cpu_ns"] * 0.9 - 1e6 < run_of[t["tid"]] < t["cpu_ns"] * 1.15 + 5e6, (t, run_of[t["tid"]])

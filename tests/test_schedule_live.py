"""Programs with known shares, recorded now, where perf may: what threads did, beside perf's own figures.

Only what holds on a machine with any load: sums against perf's words of the same recording, and inequalities.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BIN, ROOT, run

sys.path.insert(0, os.path.join(ROOT, "tests", "schedule"))

import judge  # noqa: E402
import record  # noqa: E402
from walk import walk  # noqa: E402


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the programs; skips where nothing can be recorded."""
    if not shutil.which("perf"):
        pytest.skip("there is no perf")
    at = tmp_path_factory.mktemp("schedule")
    tried = subprocess.run(
        ["perf", "record", "-q", "-a", "-e", "sched:sched_switch", "-o", str(at / "try.data"), "--", "true"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    if tried.returncode or not (at / "try.data").exists():
        pytest.skip("perf may not record sched_switch of all CPUs here: " + tried.stderr.strip()[-200:])
    record.build(at / "bin")
    return at


@pytest.fixture(scope="module")
def recorded(place):
    made = {}

    def get(name, kind="wake"):
        if (name, kind) not in made:
            data = record.record(place, place / "bin", name, kind, short=True)
            if not data:
                pytest.skip(f"{name} could not be recorded")
            made[name, kind] = data, json.loads(data.with_suffix(".json").read_text())
        return made[name, kind]

    return get


def waits(data):
    answer = json.loads(run("waits", data, "--json", "-n", "0", code=0).out)
    if "stalls" not in answer:
        pytest.skip("waits does not know of stalls yet")
    return answer


def needs_intervals():
    if not judge.has_intervals(BIN):
        pytest.skip("there is no table of intervals yet")


@pytest.mark.parametrize("name, kind", [("lock-cpu", "wake"), ("lock-cpu", "switch"), ("many", "wake"), ("child", "wake"), ("pipes", "own")])
def test_sums_are_those_of_the_events(recorded, name, kind):
    needs_intervals()
    data, truth = recorded(name, kind)
    w = walk(str(data), alone=kind == "own")
    mine = {t["tid"] for t in truth["threads"]}  # of others, more may be missing than the words can tell
    longer = max(0, judge.length_said(BIN, str(data)) - (w.end - w.begin))
    wrong = [d for d in judge.differences(w, judge.said(BIN, str(data)), judge.STATES, longer) if d["wrong"] and d["tid"] in mine]
    assert not wrong, wrong[:5]


def test_running_is_that_of_perf_sched_timehist(recorded):
    """Within 0.1 %, of the program's threads; not where a switch is missing, of which perf knows nothing."""
    needs_intervals()
    data, truth = recorded("lock-cpu")
    w, hist, said = walk(str(data)), judge.timehist(str(data)), judge.said(BIN, str(data))
    tids = [t["tid"] for t in truth["threads"] if t["tid"] in w.threads and not w.threads[t["tid"]].unsure]
    for tid in tids:
        x = hist.get(tid)
        if x and x.lines and w.threads[tid].parts["running"].n == x.lines:
            ours = said[tid]["running"].ns
            assert abs(ours - x.run) <= max(0.001 * x.run, 1000 * x.lines + 1000), (tid, ours, x)


def test_the_holder_of_the_lock(recorded):
    data, truth = recorded("lock-cpu")
    refresher = next(t["tid"] for t in truth["threads"] if t["name"] == "refresher")
    stalls = [s for s in waits(data)["stalls"] if s["reason"] == "lock" and s["pid"] == truth["pid"]]
    assert stalls and stalls[0]["holder"]["tid"] == refresher
    longest = max(h["to"] - h["from"] for h in truth["holds"])
    for e in stalls[0]["episodes"]:
        assert e["held_ns"] <= longest * 1.05 + 5e6


def test_reasons_of_waits(recorded):
    data, truth = recorded("lock-sleep")
    row = next(r for r in waits(data)["threads"] if r["name"].startswith("http-"))
    lock = sum(r["weight"] for r in row["reasons"] if r["reason"] == "lock")
    measured = sum(t["waits"]["lock"]["ns"] for t in truth["threads"] if t["name"].startswith("http-"))
    assert 0 < lock <= measured * 1.05 + 5e6


def test_nothing_is_called_a_deadlock_that_ended(recorded):
    data, _ = recorded("lock-sleep")
    assert waits(data).get("deadlocks") in (None, 0)

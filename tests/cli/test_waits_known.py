"""What `waits` says of programs that measured themselves (tests/schedule): reasons, holders, how a hold was spent."""

import functools
import json
from pathlib import Path

import pytest

from conftest import ROOT, run

RECORDINGS = Path(ROOT) / "tests/schedule/recordings"
SLACK = 3_000_000  # ns: what a call takes that does not wait, and what was cut off at the edges


@functools.cache
def truth(name):
    return json.loads((RECORDINGS / f"sched-{name}.json").read_text())["truth"]


def recording(name):
    """As text: the names of functions are in it."""
    return RECORDINGS / f"sched-{name}.txt.zst"


@functools.cache
def waits(name, *options):
    return json.loads(run("waits", recording(name), "--json", "-n", "0", *options, code=0).out)


pytestmark = pytest.mark.skipif(
    "stalls" not in waits("lock-cpu-one"), reason="waits does not know of stalls yet"
)


def rows_of(name, threads):
    pid = {t["pid"] for t in truth(name)["threads"]}
    rows = [r for r in waits(name, "--idle")["threads"] if r["pid"] in pid and r["name"].startswith(threads)]
    assert rows, (threads, [r["name"] for r in waits(name, "--idle")["threads"]])
    return rows


def measured(name, threads, reason):
    """What these threads measured around their calls: what they waited, for a CPU afterwards, too."""
    return sum(t["waits"].get(reason, {"ns": 0})["ns"] for t in truth(name)["threads"] if t["name"].startswith(threads))


KNOWN = [
    ("lock-spin-one", "http-", "lock"),
    ("lock-spin-one", "http-", "sleep"),
    ("lock-cpu-one", "http-", "lock"),
    ("lock-cpu-oneswitch", "http-", "lock"),
    ("lock-cpu-wake", "http-", "lock"),
    ("lock-sleep-one", "http-", "lock"),
    ("lock-sleep-one", "refresher", "sleep"),
    ("lock-sleep-oneswitch", "http-", "lock"),
    ("lock-disk-one", "http-", "lock"),
    ("lock-disk-one", "refresher", "disk"),
    ("chain-one", "thread-a", "lock"),
    ("chain-one", "thread-b", "lock"),
    ("chain-one", "thread-c", "sleep"),
    ("chain-oneswitch", "thread-a", "lock"),
    ("convoy-one", "convoy-", "lock"),
    ("condition-one", "busy-", "condition"),
    ("condition-one", "idle-", "condition"),
    ("condition-one", "producer", "sleep"),
    ("sleeper-one", "timer", "sleep"),
    ("sleeper-one", "retry", "sleep"),
    ("server-one", "acceptor", "network"),
    ("server-one", "poller-", "poll"),
    ("server-one", "client", "network"),
    ("pipes-one", "parent", "pipe"),
    ("sockets-one", "parent", "network"),
    ("child-one", "parent", "child"),
    ("deadlock-timed-one", "left", "lock"),
    ("deadlock-timed-one", "right", "lock"),
    ("inversion-one", "high", "lock"),
    ("pools-one", "http-", "lock"),
    ("pools-one", "db-", "sleep"),
]


@pytest.mark.parametrize("name, threads, reason", KNOWN)
def test_reasons_are_what_threads_measured(name, threads, reason):
    rows = rows_of(name, threads)
    places = [p for p in waits(name, "--idle")["places"] if p["waiter"].startswith(threads)]
    said = sum(p["weight"] for p in places if p["reason"] == reason)
    perhaps = sum(p["weight"] for p in places if p["reason"] != reason and p["unsure"])
    whole = measured(name, threads, reason)
    cpu = sum(r["runnable"] + r["running"] for r in rows) + sum(r.get("unseen") or 0 for r in rows)
    n = sum(r["threads"] or 1 for r in rows)
    told = [(p["reason"], p["weight"], p["idle"], p["unsure"]) for p in places]
    assert whole - cpu - n * SLACK - whole * 0.05 <= said + perhaps, (whole, cpu, told)
    assert said <= whole * 1.05 + n * SLACK, (whole, cpu, told)


def of_holder(name, **where):
    found = [s for s in waits(name)["stalls"] if all(s[k] == v for k, v in where.items())]
    pid = truth(name)["pid"]
    return [s for s in found if s["pid"] in (pid, None)]


def tid_of(name, thread):
    return next(t["tid"] for t in truth(name)["threads"] if t["name"] == thread)


HELD = [
    ("lock-spin-one", "refresher"),
    ("lock-cpu-one", "refresher"),
    ("lock-cpu-oneswitch", "refresher"),
    ("lock-cpu-wake", "refresher"),
    ("lock-sleep-one", "refresher"),
    ("lock-sleep-oneswitch", "refresher"),
    ("lock-disk-one", "refresher"),
    ("pools-one", "log-0"),
]


@pytest.mark.parametrize("name, holder", HELD)
def test_who_held_it(name, holder):
    stalls = of_holder(name, reason="lock")
    assert stalls and stalls[0]["holder"]["tid"] == tid_of(name, holder), stalls


@pytest.mark.parametrize("name, holder", HELD)
def test_how_the_hold_was_spent(name, holder):
    """Each hold that was long, beside the one the holder measured: from when, how long, how much of it on a CPU."""
    tid = tid_of(name, holder)
    holds = [h for h in truth(name)["holds"] if h["tid"] == tid and h["to"] - h["from"] > 100_000_000]
    episodes = [e for s in of_holder(name, reason="lock") if s["holder"]["tid"] == tid for e in s["episodes"]]
    assert len(episodes) == len(holds)
    for hold, episode in zip(holds, sorted(episodes, key=lambda e: e["at_ns"])):
        length = hold["to"] - hold["from"]
        # the first waiter came after it was taken: what is said of the hold is a part of it
        assert length * 0.5 < episode["held_ns"] < length * 1.05 + SLACK
        assert abs(episode["held_running_ns"] - hold["cpu_ns"]) < length * 0.15 + SLACK
        parts = [episode[f"held_{p}_ns"] or 0 for p in ("running", "runnable", "blocked", "unknown")]
        assert abs(sum(parts) - episode["held_ns"]) <= 1000


def test_the_holder_that_waits_for_a_cpu_says_who_had_it():
    stall = of_holder("lock-cpu-one", reason="lock")[0]
    text = run("waits", recording("lock-cpu-one"), code=0).out
    assert "spinner" in text.split("threads ")[0], text
    assert stall["episodes"][0]["held_runnable_ns"] > stall["episodes"][0]["held_running_ns"]


def test_the_answer_is_short_and_says_it_all():
    text = run("waits", recording("lock-cpu-one"), code=0).out
    assert len(text) <= 3500
    for word in ("refresher", "http-*", "waiting for a CPU", "running", "blocked"):
        assert word in text


def test_without_wakings_the_holder_is_inferred():
    assert "inferred" in run("waits", recording("lock-cpu-oneswitch"), code=0).out
    assert of_holder("lock-cpu-oneswitch", reason="lock")[0]["evidence"] != "woken"
    assert of_holder("lock-cpu-one", reason="lock")[0]["evidence"] == "woken"


def test_a_chain_of_locks_ends_with_who_sleeps():
    """thread-a and thread-b wait; thread-c has what thread-b wants, and sleeps."""
    text = run("waits", recording("chain-one"), code=0).out
    assert "thread-c" in text.split("threads ")[0], text


def test_of_threads_that_never_get_their_locks_no_holder_is_named():
    """Whoever ended the process woke them; the recording has no names that would show a ring of locks."""
    text = run("waits", recording("deadlock-one"), code=0).out
    assert "NOT ENDED" in text and "HELD BY" not in text, text


@pytest.mark.parametrize("name", ["lock-cpu-one", "condition-one", "sleeper-one", "server-one", "chain-one", "preempt-one"])
def test_no_deadlock_where_there_is_none(name):
    assert "deadlock" not in run("waits", recording(name), code=0).out.lower()


IDLE = [("condition-one", "idle-"), ("sleeper-one", "timer"), ("server-one", "acceptor"), ("condition-one", "producer")]


@pytest.mark.parametrize("name, threads", IDLE)
def test_idle_waits_are_out_but_not_lost(name, threads):
    pid = truth(name)["pid"]
    without = [r for r in waits(name)["threads"] if r["pid"] == pid and r["name"].startswith(threads)]
    assert sum(r["blocked"] - (r["idle"] or 0) for r in without) < 20_000_000, without
    assert waits(name)["idle"] + waits(name)["maybe_idle"] > 0
    assert sum(r["idle"] + r["maybe_idle"] for r in rows_of(name, threads)) > 20_000_000


@pytest.mark.parametrize("name, threads", [("lock-sleep-one", "http-"), ("sleeper-one", "retry"), ("server-one", "client")])
def test_what_somebody_waits_for_is_not_idle(name, threads):
    for row in rows_of(name, threads):
        lock = sum(r["weight"] for r in row["reasons"] if r["reason"] in ("lock", "network"))
        assert (row["idle"] or 0) <= row["blocked"] - lock + SLACK, row


def test_one_that_is_stopped():
    hold = truth("stopped-one")["holds"][0]
    rows = rows_of("stopped-one", ("worker", "sleeper"))
    stopped = [sum(r["weight"] for r in row["reasons"] if r["reason"] == "stopped") for row in rows]
    assert sum(stopped) > 0.8 * (hold["to"] - hold["from"]), rows


def test_spinners_wait_for_a_cpu():
    rows = rows_of("preempt-one", "spin-")
    ran = sum(t["cpu_ns"] for t in truth("preempt-one")["threads"] if t["name"].startswith("spin-"))
    assert sum(r["running"] for r in rows) == pytest.approx(ran, rel=0.15, abs=4e6)
    assert sum(r["runnable"] for r in rows) > 4 * sum(r["running"] for r in rows)
    assert sum(r["blocked"] for r in rows) < 0.05 * sum(r["runnable"] for r in rows)


def test_a_thread_is_called_what_it_was_called_last():
    """It was moved to a CPU, and waited for that, before it gave itself its name."""
    assert [r for r in waits("lock-cpu-one")["threads"] if r["name"].startswith("refresher")]


def test_one_that_sleeps_with_a_lock_that_others_want_is_not_idle():
    held = sum(h["to"] - h["from"] for h in truth("lock-sleep-one")["holds"])
    row = rows_of("lock-sleep-one", "refresher")[0]
    assert row["blocked"] - row["idle"] >= held * 0.9, row

"""Time of which a recording does not say whether a thread ran or waited: waits, sched and views agree on it."""

import pytest

from conftest import ask, run, unwrapped

MS = 1000000


def switch(ms, cpu, prev, state, following, stack=("work",)):
    frames = "".join(f"\t{4096 + 16 * i:x} {f}+0x1 (/bin/spin)\n" for i, f in enumerate(stack))
    return (f"spin 7/{prev} [{cpu:03}] {10 + ms / 1000:.6f}: 1 sched:sched_switch: prev_comm=spin prev_pid={prev} prev_prio=120 "
            f"prev_state={state} ==> next_comm=other next_pid={following} next_prio=120\n{frames}\n")


@pytest.fixture(scope="module")
def one_process(tmp_path_factory):
    """
    A recording of one process: 11 leaves CPU 0 at 0, 100, 200 and 300, and comes back unseen; at 110, while it
    is put off, 12 leaves that CPU; 13 is blocked from 250 on and leaves CPU 1 at 290 again.
    """
    lines = [switch(0, 0, 11, "R", 90), switch(50, 0, 12, "S", 90), switch(100, 0, 11, "R", 90), switch(110, 0, 12, "S", 90),
             switch(200, 0, 11, "S", 90),
             switch(250, 1, 13, "S", 90, ("futex_wait", "take")), switch(290, 1, 13, "S", 90, ("futex_wait", "take")),
             switch(300, 0, 11, "R", 90)]
    path = tmp_path_factory.mktemp("unknown") / "one.txt"
    path.write_text("".join(lines))
    return path


def agree(path, *options):
    sched = {row["tid"]: row for row in ask("sched", path, "--no-pool", "-n", "0", *options)["rows"]}
    waits = {row["tid"]: row for row in ask("waits", path, "--no-pool", "-n", "0", *options)["threads"]}
    assert set(sched) == set(waits)
    for tid, s in sched.items():
        w = waits[tid]
        assert w["running"] == s["run_ns"] and w["unknown"] == s["unknown_ns"]
        assert w["blocked"] + w["idle"] + w["maybe_idle"] == s["wait_ns"]
    return waits


def test_what_may_have_run_is_no_wait_for_a_cpu(one_process):
    waits = agree(one_process)
    assert (waits[11]["running"], waits[11]["runnable"], waits[11]["unknown"]) == (0, 10 * MS, 290 * MS)
    assert (waits[13]["blocked"], waits[13]["unknown"]) == (0, 300 * MS)  # it may have run from the begin on


def test_threads_that_were_not_there_in_a_range_of_time_have_no_row(tmp_path):
    """21 is first seen at 200 ms: what it did before is not known. 22 is there from the begin on, 23 no longer in the second half."""
    path = tmp_path / "ranges.txt"
    idle = 0
    path.write_text("".join([switch(0, 0, idle, "R", 22), switch(0, 1, idle, "R", 23), switch(40, 1, 23, "S", idle), switch(50, 0, 22, "S", idle),
                             switch(80, 1, idle, "R", 23), switch(90, 1, 23, "X", idle), switch(150, 0, idle, "R", 22),
                             switch(200, 1, idle, "R", 21), switch(250, 1, 21, "S", idle), switch(300, 0, 22, "S", idle)]))
    assert set(agree(path)) == {21, 22, 23}
    for span, there in (("0..0.1", {22, 23}), ("0.1..0.15", {22}), ("0.1..0.3", {21, 22}), ("0.2..0.3", {21, 22})):
        waits = agree(path, "--time", span)
        assert set(waits) == there, span
        assert all(any(w[k] for k in ("running", "unknown", "runnable", "blocked", "idle", "maybe_idle", "unseen")) for w in waits.values())
        assert ask("waits", path, "--time", span)["threads_seen"] == len(there)


def test_the_words_say_so(one_process):
    text = unwrapped(run("waits", one_process, code=0).out)
    assert "≥ 0 ns on CPUs, ≥ 10.0 ms waiting for a CPU" in text
    assert "running or waiting: not recorded which" in text
    (row,) = [r for r in ask("waits", one_process)["places"] if r["reason"] == "waiting for a CPU"]
    assert (row["weight"], row["unknown"], row["at_least"], row["count"]) == (10 * MS, 190 * MS, True, 2)


def test_views_have_it_as_unknown(one_process):
    states = {r["name"]: r["total"] for r in ask("top", one_process, "--event", "wall", "--by", "state")["rows"]}
    waits = ask("waits", one_process)
    timed = ask("top", one_process, "--event", "wall", "--by", "state", "--time", "0..100")["rows"]
    assert {r["name"]: r["total"] for r in timed} == states
    assert states["UNKNOWN"] == waits["unknown"] and states.get("RUN_QUEUE") == 10 * MS
    assert ask("top", one_process, "--event", "off-cpu", "--view", "all")["whole"] == waits["runnable"] + waits["blocked"]


def test_p99_and_mean_of_a_wait_that_is_not_over_are_bounds(one_process):
    text = run("waits", one_process, "-n", "0", code=0).out
    (line,) = [line for line in text.splitlines() if " futex_wait " in line]
    assert line.count("≥ 0 ns") == 4  # time, mean, p99, longest


def test_where_nothing_is_certain_there_are_no_rows_of_zeros(tmp_path):
    """13 leaves CPU 1 three times and is never seen to come: it may have run all the time."""
    path = tmp_path / "none.txt"
    path.write_text("".join(switch(ms, 1, 13, "S", 90, ("futex_wait", "take")) for ms in (250, 290, 330)))
    for command in ("top", "timeline"):
        text = unwrapped(run(command, path, "--event", "off-cpu", code=0).out)
        assert "whole ≥ 0 ns: none of it is certain, spaa waits says what it may be" in text
        assert "more row" in text and "take" not in text
    assert "take" in run("top", path, "--event", "off-cpu", "-n", "5", code=0).out

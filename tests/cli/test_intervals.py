"""What threads did, from events of switches: each case by hand, and its intervals as they must be."""
import os
import sys

import pytest

from conftest import ROOT, ask, run

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import perf_data_files as files  # noqa: E402

S = "select state, x_state, start_time / 1000000, ns / 1000000, before, open, no_wake, preempted, unsure, at_most from intervals"
FLAGS = ("before", "open", "no_wake", "preempted", "unsure", "at_most")


def name(tid):
    return f"t{tid}" if tid else "swapper"


def switch(ms, cpu, prev, state, following, period=1, pid=100, tid=None):
    return (f"{name(prev)} {pid if prev else 0}/{prev if tid is None else tid} [{cpu:03}] {ms / 1000:.6f}: {period} "
            f"sched:sched_switch: prev_comm={name(prev)} prev_pid={prev} prev_prio=120 prev_state={state} ==> "
            f"next_comm={name(following)} next_pid={following} next_prio=120\n\tffffffff81000010 __schedule+0x10 ([kernel.kallsyms])\n\n")


def event(ms, cpu, by, kind, fields):
    return f"{name(by)} {100 if by else 0}/{by} [{cpu:03}] {ms / 1000:.6f}: 1 sched:sched_{kind}: {fields}\n\n"


def waking(ms, cpu, by, tid):
    return event(ms, cpu, by, "waking", f"comm={name(tid)} pid={tid} prio=120 target_cpu={cpu:03}")


def clock(ms, cpu, tid):
    return f"{name(tid)} 100/{tid} [{cpu:03}] {ms / 1000:.6f}: 1000 cpu-clock:\n\t1418 work+0x48 (/tmp/server)\n\n"


def told(rows):
    """(state, start, length, the flags that are set)"""
    return [(r[1] if r[0] == "blocked" else r[0], r[2], r[3], *(f for f, v in zip(FLAGS, r[4:]) if v)) for r in rows]


@pytest.fixture
def of(tmp_path):
    def made(lines, tid):
        path = tmp_path / "switches.txt"
        path.write_text("".join(lines))
        return told(ask("query", str(path), f"{S} where tid = {tid} order by id")["rows"])

    return made


def codes(tmp_path, lines):
    path = tmp_path / "switches.txt"
    path.write_text("".join(lines))
    return [d["code"] for d in ask("query", str(path), "select count(*) from intervals")["diagnostics"]]


def test_the_ends_of_the_recording_are_bounds(of):
    lines = [switch(0, 1, 9, "S", 8), switch(100, 0, 1, "S", 2), switch(300, 0, 2, "R", 3), switch(500, 0, 3, "R", 0), switch(600, 1, 8, "S", 0)]
    assert of(lines, 1) == [("running", 0, 100, "before"), ("WAITING", 100, 500, "open", "no_wake")]
    assert of(lines, 2) == [("UNKNOWN", 0, 100, "before", "no_wake"), ("running", 100, 200), ("runnable", 300, 300, "open", "preempted")]


def test_why_a_thread_was_off_before_it_was_seen_is_not_known(of):
    lines = [switch(0, 0, 1, "S", 2), waking(50, 0, 2, 3), switch(100, 0, 2, "S", 3), switch(200, 0, 3, "S", 4), switch(300, 0, 4, "S", 0)]
    assert of(lines, 3)[:2] == [("UNKNOWN", 0, 50, "before"), ("runnable", 50, 50)]
    assert of(lines, 4)[0] == ("UNKNOWN", 0, 200, "before", "no_wake")


def test_a_waking_before_the_switch_that_it_ends(of):
    """The kernel wakes a thread that is off its run queue and still on the CPU: it waited for nothing but a CPU."""
    lines = [switch(0, 0, 1, "S", 2), waking(90, 1, 9, 2), switch(100, 0, 2, "S", 1), switch(200, 0, 1, "S", 2),
             waking(250, 1, 9, 2), switch(300, 0, 2, "S", 0), waking(500, 1, 9, 2), switch(600, 0, 0, "R", 2), switch(700, 0, 2, "R", 0)]
    assert of(lines, 2) == [("running", 0, 100), ("runnable", 100, 100), ("running", 200, 100), ("WAITING", 300, 200),
                                ("runnable", 500, 100), ("running", 600, 100)]


def test_threads_that_begin_and_a_tid_that_is_used_again(of):
    fork = "comm=t1 pid=1 child_comm=t5 child_pid=5"
    lines = [switch(0, 0, 0, "R", 1), event(50, 0, 1, "process_fork", fork), event(60, 0, 1, "wakeup_new", "comm=t5 pid=5 prio=120 target_cpu=000"),
             switch(100, 0, 1, "S", 5), switch(200, 0, 5, "X", 1), event(300, 0, 1, "process_fork", fork), switch(400, 0, 1, "S", 5),
             switch(500, 0, 5, "S", 0)]
    assert of(lines, 5) == [("runnable", 60, 40), ("running", 100, 100), ("runnable", 300, 100), ("running", 400, 100)]


def test_a_return_that_was_not_recorded_ends_a_wait_at_the_latest_when_the_thread_ran(of, tmp_path):
    """Some machines never record that an idle task leaves its CPU."""
    lines = [switch(0, 0, 1, "S", 0), switch(500, 0, 1, "S", 0), clock(900, 0, 1), switch(1000, 0, 1, "S", 2), switch(1100, 0, 2, "S", 0),
             *(switch(1200 + i, 1, 8 + i % 2, "S", 9 - i % 2) for i in range(60))]
    assert of(lines, 1)[:3] == [("WAITING", 0, 500, "no_wake", "unsure", "at_most"), ("WAITING", 500, 400, "no_wake", "unsure", "at_most"),
                                ("running", 900, 100, "before", "unsure")]
    assert "SPAA-I323" in codes(tmp_path, lines) and "SPAA-W315" not in codes(tmp_path, lines)


def test_a_loss_is_no_running_time_of_two_threads(of, tmp_path):
    lines = [switch(0, 0, 0, "R", 1), switch(100, 0, 1, "S", 2), switch(300, 0, 3, "S", 1), switch(400, 0, 1, "S", 0), switch(500, 0, 0, "R", 2)]
    assert sum(n for state, _, n, *_ in of(lines, 2) + of(lines, 3) if state == "running") == 0
    assert of(lines, 2) == [("UNKNOWN", 0, 100, "before", "no_wake"), ("UNKNOWN", 100, 400, "no_wake", "unsure")]
    assert "SPAA-W315" in codes(tmp_path, lines)


def test_clocks_of_cpus_that_differ_make_no_negative_time(of):
    lines = [switch(0, 0, 0, "R", 1), switch(0, 1, 2, "S", 0), switch(99, 1, 0, "R", 1), switch(100, 0, 1, "S", 0), switch(200, 1, 1, "S", 0)]
    assert of(lines, 1) == [("running", 0, 99, "unsure"), ("running", 99, 101, "unsure")]


def test_of_one_process_only_leaving_is_recorded(of, tmp_path):
    lines = []
    for i in range(20):  # 1 and 2 take turns with threads of other processes, which nobody records
        lines += [switch(100 * i, 0, 1 + i % 2, "S", 50 + i)]
    lines += [clock(2050, 0, 1), switch(2100, 0, 1, "R", 2), switch(2200, 0, 2, "S", 70)]
    got = of(lines, 1)
    assert got[0] == ("WAITING", 0, 200, "no_wake", "at_most") and ("running", 2050, 50, "before") in got
    assert got[-1] == ("runnable", 2100, 100, "open", "preempted", "at_most")
    assert of(lines, 2)[-2:] == [("WAITING", 1900, 200, "no_wake"), ("running", 2100, 100)]  # 1 left for it
    assert not of(lines, 55)
    assert "SPAA-I323" in codes(tmp_path, lines)


def test_switches_of_which_some_were_taken_tell_nothing(tmp_path):
    path = tmp_path / "switches.txt"
    path.write_text(switch(0, 0, 1, "S", 2) + switch(100, 0, 2, "S", 1, period=7))
    answer = run("top", str(path), "--event", "off-cpu")
    assert answer.code and "no such event" in answer.err.lower()


def test_a_thread_that_exits_has_no_tid_where_its_sample_is_taken(of):
    lines = [switch(0, 0, 0, "R", 1), switch(100, 0, 1, "R", 2, tid=-1, pid=-1), switch(200, 0, 2, "S", 1), switch(300, 0, 1, "X", 0)]
    assert of(lines, 1) == [("running", 0, 100), ("runnable", 100, 100, "preempted"), ("running", 200, 100)]


def test_weights_add_up_to_the_intervals(tmp_path):
    path = tmp_path / "switches.txt"
    path.write_text(switch(0, 1, 9, "S", 8) + switch(100, 0, 1, "S", 2) + switch(300, 0, 2, "R", 3) + switch(500, 1, 8, "D", 0))
    total, unfinished = ask("query", str(path), "select sum(ns), sum(ns * (before or open)) from intervals where state <> 'running'")["rows"][0]

    def whole(*more):
        return ask("top", str(path), "--event", "off-cpu", "--view", "all", *more)["whole"]

    assert whole() == total and whole("--metric", "unfinished_ns") == unfinished


# ---- records of perf.data -------------------------------------------------------------------------------------

SWITCH, LOST, OUT, PREEMPTED = 14, 2, 1 << 13, 1 << 13 | 1 << 14


def recorded(tmp_path, steps, big=False):
    """Records of switches: (ms, tid, misc); a sample; a loss."""
    kinds = files.IP | files.TID | files.TIME | files.CALLCHAIN | files.CPU | files.PERIOD | files.IDENTIFIER
    r = files.Recording([(1, 0, kinds, {"freq": 99})], big)
    r.describe([b"cpu-clock"])
    r.comm(10, 10, b"prog", 0)
    r.sample([files.CONTEXT["user"], 0x400010], time=1_000_000, tid=10)
    for ms, tid, misc in steps:
        if misc == "lost":
            r.record(LOST, 0, r.pack("QQ", 100, 3), r.trailer(10, tid, ms * 1_000_000))
        else:
            r.record(SWITCH, misc, b"", r.trailer(10, tid, ms * 1_000_000))
    path = tmp_path / "perf.data"
    path.write_bytes(r.bytes())
    return str(path)


@pytest.mark.parametrize("big", [False, True], ids=["little", "big"])
def test_records_of_switches(tmp_path, big):
    path = recorded(tmp_path, [(100, 10, OUT), (300, 10, 0), (400, 10, PREEMPTED), (450, 10, 0), (500, 10, OUT)], big)
    rows = told(ask("query", path, f"{S} where tid = 10 order by id")["rows"])
    assert rows[1:] == [("UNKNOWN", 100, 200, "no_wake"), ("running", 300, 100), ("runnable", 400, 50, "preempted"), ("running", 450, 50)]
    top = ask("top", path, "--event", "off-cpu", "--view", "all")
    assert top["whole"] == 250_000_000 and [r["name"] for r in top["rows"]] == ["[unknown]"]
    kept = str(tmp_path / "kept.spaa")
    run("convert", path, "--samples", "-o", kept, code=0)
    assert told(ask("query", kept, f"{S} where tid = 10 order by id")["rows"]) == rows
    assert run("validate", kept).code == 0


def test_a_loss_makes_its_neighbours_unsure(tmp_path):
    path = recorded(tmp_path, [(100, 10, OUT), (300, 10, "lost"), (350, 10, OUT)])
    answer = ask("query", path, f"{S} where tid = 10 order by id")
    assert "SPAA-W315" in [d["code"] for d in answer["diagnostics"]]


@pytest.mark.parametrize("lost", [False, True])
def test_after_a_loss_what_events_contradict_is_not_certain(tmp_path, lost):
    """8 leaves the CPU on which 7 runs, which was not seen to leave: after a loss 7 may have come and gone since."""
    path = tmp_path / "a.txt"
    loss = "t9 100/9 [000] 0.150000: PERF_RECORD_LOST lost 3\n\n"
    path.write_text("".join([switch(0, 0, 0, "R", 9), loss * lost, switch(300, 0, 9, "S", 7), switch(500, 0, 8, "S", 9), waking(700, 0, 9, 7),
                             switch(800, 0, 9, "S", 7), switch(900, 0, 7, "S", 0)]))
    rows = ask("query", path, "select start_time / 1000000, ns / 1000000, least_ns / 1000000, unsure from intervals where tid = 7 and state = 'blocked'")["rows"]
    assert [300, 400, 0 if lost else 400, 1] in rows, rows

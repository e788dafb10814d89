"""Time off the CPU, of perf script text made by hand: intervals, weights, parts of ranges of time."""
import pytest

from conftest import ask, run

STACK = "\tffffffff81000010 __schedule+0x10 ([kernel.kallsyms])\n\t            1418 {}+0x48 (/tmp/server)\n\n"


def switch(time, cpu, prev, state, following, function="handle"):
    """Thread `prev` leaves a CPU in a state, and the next one comes. 0: the idle task."""
    name = {0: "swapper"}
    return (f"{name.get(prev, f'a b={prev}')} 100/{prev} [{cpu:03}] {time}: sched:sched_switch: "
            f"prev_comm={name.get(prev, f'a b={prev}')} prev_pid={prev} prev_prio=120 prev_state={state} ==> "
            f"next_comm={name.get(following, f'a b={following}')} next_pid={following} next_prio=120\n" + STACK.format(function))


def waking(time, cpu, by, target, kind="waking"):
    return (f"a b={by} 100/{by} [{cpu:03}] {time}: sched:sched_{kind}: comm=a b={target} pid={target} prio=120 "
            f"target_cpu={cpu:03}\n" + STACK.format("release"))


@pytest.fixture
def recording(tmp_path):
    """101 waits from 1.0 to 1.5 and is woken at 1.4; 102 is put off from 1.5 to 1.6, and waits from 1.8 on."""
    path = tmp_path / "switches.txt"
    path.write_text(switch("1.000000", 0, 101, "S", 102) + waking("1.400000", 0, 102, 101) +
                    switch("1.500000", 0, 102, "R", 101, "crunch") + switch("1.600000", 0, 101, "D", 102, "read_file") +
                    switch("1.800000", 0, 102, "S", 0, "idle_worker") + waking("2.000000", 0, 0, 101))
    return str(path)


def intervals(path, where):
    found = ask("query", path, f"select state, x_state, start_time / 1000000, ns / 1000000, waker_tid, preempted, open from intervals "
                              f"where {where} order by start_time")
    return [tuple(r) for r in found["rows"]]


def whole(path, *options):
    return ask("top", path, "--event", "off-cpu", "--view", "all", *options)["whole"]


def test_a_thread_waits_is_woken_waits_for_a_cpu_and_runs(recording):
    assert intervals(recording, "tid = 101 and before = 0") == [
        ("blocked", "WAITING", 1000, 400, 102, 0, 0), ("runnable", "RUN_QUEUE", 1400, 100, None, 0, 0),
        ("running", None, 1500, 100, None, 0, 0), ("blocked", "BLOCKED", 1600, 400, 0, 0, 0),
        ("runnable", "RUN_QUEUE", 2000, 0, None, 0, 1)][:4]


def test_one_that_is_put_off_the_cpu_is_runnable(recording):
    assert ("runnable", "RUN_QUEUE", 1500, 100, None, 1, 0) in intervals(recording, "tid = 102")


def test_what_is_not_over_is_kept(recording):
    assert ("blocked", "WAITING", 1800, 200, None, 0, 1) in intervals(recording, "tid = 102")


def test_weights_are_the_intervals(recording):
    found = ask("query", recording, "select sum(ns) from intervals where state <> 'running' and stack is not null")
    assert whole(recording) == found["rows"][0][0] == 1_200_000_000
    assert whole(recording, "--metric", "runqueue_ns") == 200_000_000
    rows = ask("top", recording, "--event", "off-cpu", "--view", "all", "--by", "state")["rows"]
    assert {r["name"]: r["self"] for r in rows} == {"WAITING": 600_000_000, "BLOCKED": 400_000_000, "RUN_QUEUE": 200_000_000}


def test_a_range_of_time_has_the_part_that_is_in_it(recording):
    assert whole(recording, "--time", "0..0.2") == 200_000_000
    assert whole(recording, "--time", "0.2..0.55") == 200_000_000 + 100_000_000 + 50_000_000
    assert whole(recording, "--time", "0..0.7") + whole(recording, "--time", "0.7..") == whole(recording)


@pytest.mark.parametrize("buckets", ["1", "3", "10", "77"])
def test_a_timeline_spreads_a_wait_over_what_it_covers(recording, buckets):
    rows = ask("timeline", recording, "--event", "off-cpu", "--view", "all", "--buckets", buckets)["rows"]
    assert sum(r["weight"] for r in rows) == whole(recording)
    if buckets == "10":
        assert [round(r["weight"] / 1e6) for r in rows] == [100] * 5 + [100, 100, 100, 200, 200]


def test_spaa_keeps_it(recording, tmp_path):
    out = str(tmp_path / "kept.spaa")
    run("convert", recording, "--samples", "-o", out, code=0)
    assert whole(out) == whole(recording)
    assert intervals(out, "1") == intervals(recording, "1")
    # Those of the file, which have weights, and no copies.
    without = "select count(*) from intervals i join stacks s on s.id = i.stack where s.weight is null"
    assert ask("query", out, without, "--event", "off-cpu", "--view", "all")["rows"] == [[0]]
    assert whole(out, "--time", "0.2..0.55") == whole(recording, "--time", "0.2..0.55")

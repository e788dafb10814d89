"""Views of time off the CPU and of tracepoints say what was waited for, or what happened: not the one place of the kernel."""

import json
import struct

import pytest

from conftest import ask, run, unwrapped
from test_event_fields import ENTER
from test_event_fields import recording as recorded
from test_waits_stalls import LOCK, NAP, Machine
from test_waits_wakers import PIPE, SERVER, SIGNAL, ask_and_wait


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "r.perf-script.txt"
    path.write_text(ask_and_wait().text())
    return path


def syscalls(tmp_path, rows):
    """raw_syscalls: (thread, number, times), one a millisecond."""
    samples, at = [], 0
    for tid, number, times in rows:
        for _ in range(times):
            samples.append((0, tid, at, struct.pack("<q6Q", number, *range(6))))
            at += 1
    return recorded(tmp_path, [ENTER], samples, threads=((11, b"app"), (12, b"log")))


def test_a_timeline_of_time_off_the_cpu_says_what_was_waited_for(recording):
    out = unwrapped(run("timeline", recording, "--event", "off-cpu").out)
    assert "condition in loop" in out and "__schedule" not in out and "next: spaa waits" in out and "--time" in out
    rows = ask("timeline", recording, "--event", "off-cpu")["rows"]
    names = {h["function"] for r in rows for h in r["hot"]}
    assert "condition in loop" in names
    for r in rows:
        assert sum(h["self"] for h in r["hot"]) <= r["weight"]


def test_a_timeline_of_both_says_what_ran_and_what_waited(recording):
    names = {h["function"] for r in ask("timeline", recording, "--event", "wall")["rows"] for h in r["hot"]}
    assert "condition in loop" in names and any(n.startswith("[running") for n in names), names


def test_a_timeline_of_system_calls_names_them(tmp_path):
    path = syscalls(tmp_path, [(11, 0, 30), (11, 1, 10)])
    rows = ask("timeline", path, "--buckets", "4")["rows"]
    assert [r["hot"][0]["function"] for r in rows] == ["app read"] * 3 + ["app write"]
    assert "syscall_trace_enter" not in run("timeline", path).out


def test_a_timeline_has_each_kind_once(tmp_path):
    rows = ask("timeline", syscalls(tmp_path, [(11, 0, 40)]), "--buckets", "2")["rows"]
    assert [[h["percent_of_bucket"] for h in r["hot"]] for r in rows] == [[100], [100]]


def test_windows_are_of_the_profiles_own_stacks(tmp_path, recording):
    path = syscalls(tmp_path, [(11, 0, 30), (11, 1, 10)])
    run("timeline", path, "--buckets", "4", "-o", tmp_path / "w.spaa")
    run("convert", path, "-o", tmp_path / "c.spaa")
    assert ask("info", tmp_path / "w.spaa")["stacks"] == ask("info", tmp_path / "c.spaa")["stacks"]


def test_the_brief_of_system_calls_names_them(tmp_path):
    path = syscalls(tmp_path, [(11, 0, 30), (12, 1, 10)])
    out = unwrapped(run("summary", path).out)
    assert "system calls: app read 75 %, log write 25 %" in out and f"next: spaa top {path}" in out
    assert ask("summary", path)["fields"] == "app read 75 %, log write 25 %"


def test_a_diff_of_time_off_the_cpu_says_what_was_waited_for(tmp_path, recording):
    more = tmp_path / "more.perf-script.txt"
    more.write_text(recording.read_text())
    a = ask("diff", recording, more)
    assert a["waits"] and all(w["base"] == w["new"] for w in a["waits"])
    assert {(w["reason"], w["function"]) for w in a["waits"]} >= {("condition", "loop")}
    out = unwrapped(run("diff", recording, more).out)
    assert "waited " in out and "condition in loop" in out and f"next: spaa waits {more}" in out


@pytest.mark.parametrize("reason,stack", [("condition", None), ("lock", LOCK), ("allocator lock", [
    *LOCK[:5], "__lll_lock_wait_private (/usr/lib/libc.so.6)", "malloc (/usr/lib/libc.so.6)", "handle (/opt/server)"])])
def test_a_picture_calls_no_condition_a_lock(tmp_path, reason, stack):
    """They are one class, whose name has both."""
    path = tmp_path / "r.perf-script.txt"
    path.write_text((ask_and_wait(waits=stack) if stack else ask_and_wait()).text())
    sums = {r["reason"]: 0 for r in ask("waits", path, "-n", "0")["places"]}
    for r in ask("waits", path, "-n", "0")["places"]:
        sums[r["reason"]] += r["weight"]
    assert sums[reason] > 0
    run("flamegraph", path, "--event", "off-cpu", "-o", tmp_path / "f.svg", code=0)
    title = (tmp_path / "f.svg").read_text().split("<title>")[1]
    assert f"blocked: lock, condition {sum(sums.get(k, 0) for k in ('lock', 'allocator lock', 'condition')):,} ns" in title, (title, sums)


def test_blocked_is_the_kernels_word(tmp_path):
    """Locks of programs are not in it, which an answer that has none of them says."""
    m = ask_and_wait()
    m.switch(950, 1, SERVER)
    m.switch(951, 1, None, "D", PIPE)
    m.wake(980, 0, SERVER, SIGNAL)
    m.switch(981, 1, SERVER)
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    assert "SPAA-I663" in run("waits", path, "--state", "BLOCKED").out
    assert "SPAA-I663" in run("top", path, "--event", "off-cpu", "--state", "BLOCKED").out
    assert "SPAA-I663" not in run("waits", path, "--state", "BLOCKED,WAITING").out


EXIT = ["__schedule ([kernel.kallsyms])", "do_task_dead ([kernel.kallsyms])", "do_exit ([kernel.kallsyms])"]


def test_a_wait_that_was_not_seen_to_end_is_at_most_as_long(tmp_path):
    """One process, no --switch-events: that its threads came back is not recorded."""
    m = Machine(False)
    m.switch(0, 0, ("http-0", 101))
    m.switch(1, 1, ("http-1", 102))
    m.switch(100, 0, None, "S", LOCK)
    m.switch(101, 1, None, "S", LOCK)
    m.switch(120, 0, ("http-0", 101))
    m.switch(130, 1, ("http-1", 102))
    m.switch(900, 0, None, "X", EXIT)
    m.switch(901, 1, None, "X", EXIT)
    text = "".join(e + "\n\n" for e in m.text().split("\n\n") if e.startswith("http"))
    path = tmp_path / "r.perf-script.txt"
    path.write_text(text)
    out = unwrapped(run("waits", path).out)
    assert "NOT SEEN TO END" in out and "≤ 801 ms" in out, out


def test_states_of_a_file_without_them(tmp_path):
    """`wall` has states of its own: those who look at its waits again find the stacks that were there."""
    path = tmp_path / "s.spaa"
    context = {"trace_fields": {"prev_comm": "t", "prev_pid": 2, "prev_state": 1, "next_comm": "u", "next_pid": 3}}
    lines = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root", "stack_id_mode": "local",
              "events": [{"name": "sched:sched_switch", "kind": "probe", "sampling": {"mode": "event", "primary_metric": "count"}}],
              "time_range": {"start": 1, "end": 4, "unit": "seconds"}},
             {"type": "dso", "id": 1, "name": "/bin/a", "is_kernel": False}, {"type": "frame", "id": 1, "func": "f", "dso": 1, "kind": "user"},
             {"type": "stack", "id": "s1", "frames": [1], "context": {"event": "sched:sched_switch", "pid": 1, "tid": 2, "comm": "t"},
              "weights": [{"metric": "count", "value": 2}]}]
    for at in (1, 4):
        lines.append({"type": "sample", "timestamp": at, "pid": 1, "tid": 2, "cpu": 0, "event": "sched:sched_switch", "stack_id": "s1", "context": context})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("flamegraph", path, "--states", "-o", tmp_path / "f.svg", code=0)
    assert ask("top", path, "--event", "wall", "--by", "state")["rows"]


def test_idle_of_views_is_that_of_waits(tmp_path):
    """A thread of the kernel in state I, and one that sleeps in its loop: the line has the sum and both ways to see them."""
    m, sleeper, kworker = Machine(True), ("sleeper", 101), ("kworker", 300)
    m.switch(0, 1, kworker)
    m.switch(1, 1, None, "I", NAP[:2])
    for k in range(5):
        m.switch(20 * k, 0, sleeper)
        m.switch(20 * k + 5, 0, None, "S", [f.format("loop", "main") for f in NAP])
    m.switch(100, 1, kworker)
    m.switch(101, 1, None, "I", NAP[:2])
    path = tmp_path / "idle.perf-script.txt"
    path.write_text(m.text())
    waits = ask("waits", path)
    top = ask("top", path, "--event", "off-cpu")
    states = {r["name"]: r["total"] for r in ask("top", path, "--event", "off-cpu", "--view", "all", "--by", "state")["rows"]}
    assert top["profile"]["idle"] + states["IDLE"] == waits["idle"] + waits["maybe_idle"]
    assert top["whole"] + waits["idle"] + waits["maybe_idle"] == waits["whole"]
    text = unwrapped(run("top", path, "--event", "off-cpu").out)
    assert " (--idle), " in text and "of threads of the kernel in state IDLE (--view all)" in text

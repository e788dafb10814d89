"""Stalls in `waits`: recordings made by hand, as perf script prints them, of which is known who held what."""

from types import MappingProxyType

import pytest

from conftest import ask, run, unwrapped

PID = 100
FUTEX = ["__schedule ([kernel.kallsyms])", "schedule ([kernel.kallsyms])", "futex_wait_queue ([kernel.kallsyms])",
         "futex_wait ([kernel.kallsyms])", "__x64_sys_futex ([kernel.kallsyms])", "do_syscall_64 ([kernel.kallsyms])",
         "entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])"]
LOCK = FUTEX + ["__lll_lock_wait (/usr/lib/libc.so.6)", "pthread_mutex_lock (/usr/lib/libc.so.6)", "handle (/opt/server)",
                "worker (/opt/server)", "start_thread (/usr/lib/libc.so.6)"]
NAP = ["__schedule ([kernel.kallsyms])", "schedule ([kernel.kallsyms])", "do_nanosleep ([kernel.kallsyms])",
       "hrtimer_nanosleep ([kernel.kallsyms])", "__x64_sys_clock_nanosleep ([kernel.kallsyms])",
       "do_syscall_64 ([kernel.kallsyms])", "entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])",
       "clock_nanosleep (/usr/lib/libc.so.6)", "usleep (/usr/lib/libc.so.6)", "{} (/opt/server)", "{} (/opt/server)"]
BUSY = ["__schedule ([kernel.kallsyms])", "schedule ([kernel.kallsyms])", "exit_to_user_mode_loop ([kernel.kallsyms])",
        "refresh (/opt/server)", "refresher (/opt/server)", "start_thread (/usr/lib/libc.so.6)"]
UNLOCK = ["try_to_wake_up ([kernel.kallsyms])", "wake_up_q ([kernel.kallsyms])", "futex_wake ([kernel.kallsyms])",
          "__x64_sys_futex ([kernel.kallsyms])", "do_syscall_64 ([kernel.kallsyms])",
          "entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])", "pthread_mutex_unlock (/usr/lib/libc.so.6)"]
TIMER = ["try_to_wake_up ([kernel.kallsyms])", "hrtimer_wakeup ([kernel.kallsyms])",
         "hrtimer_interrupt ([kernel.kallsyms])", "asm_sysvec_apic_timer_interrupt ([kernel.kallsyms])"]


CONDITION = FUTEX + ["futex_abstimed_wait_common64 (/usr/lib/libc.so.6)", "take (/opt/server)", "work (/opt/server)",
                     "start_thread (/usr/lib/libc.so.6)"]


class Machine:
    """
    CPUs that switch at times in ms. Threads are (comm, tid); all but the spinner are of the process, but for those that
    `pids` has. pids None: perf script printed none.
    """

    def __init__(self, wakings, pids=MappingProxyType({})):
        self.events, self.wakings, self.on = [], wakings, {0: ("swapper/0", 0), 1: ("swapper/1", 0)}
        self.pids = pids

    def event(self, ms, cpu, what, stack):
        comm, tid = self.on[cpu]
        pid = "" if self.pids is None else "%d/" % (tid if tid in (0, 300) else self.pids.get(tid, PID))
        lines = ["%s %s%d [%03d] %.6f: %s" % (comm, pid, tid, cpu, 50 + ms / 1000, what)]
        lines += ["\t%16x %s" % (0x1000 + 16 * (sum(map(ord, f)) % 4000), f) for f in stack]
        self.events.append((ms, len(self.events), "\n".join(lines) + "\n"))

    def switch(self, ms, cpu, to, state="S", stack=()):
        (comm, tid), (next_comm, next_tid) = self.on[cpu], to or ("swapper/%d" % cpu, 0)
        self.event(ms, cpu, "sched:sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s "
                   "next_pid=%d next_prio=120" % (comm, tid, state if tid else "R", next_comm, next_tid),
                   stack if tid else [])
        self.on[cpu] = (next_comm, next_tid)

    def wake(self, ms, cpu, who, stack):
        if self.wakings:
            self.event(ms, cpu, "sched:sched_waking: comm=%s pid=%d prio=120 target_cpu=001" % who, stack)

    def text(self):
        return "\n".join(e for _, _, e in sorted(self.events)) + "\n"


REFRESHER, SPINNER, LOGGER, WORKERS = ("refresher", 110), ("spinner", 300), ("logger", 120), \
    [("http-%d" % k, 101 + k) for k in range(4)]


def in_refresh(stack):
    return stack + ["refresh (/opt/server)", "refresher (/opt/server)", "start_thread (/usr/lib/libc.so.6)"]


def hold(m, at, other=None, wakes=None, late=False, waits=False):
    """
    The refresher holds the lock from `at` for 150 ms: it runs 50, waits 60 for CPU 0, runs 40 more. The workers hand it
    on, one to the next.
    """
    m.switch(at - 1, 0, REFRESHER, "R+", BUSY)
    for k, worker in enumerate(WORKERS):
        m.switch(at + k, 1, worker)
        m.switch(at + k + 0.5, 1, None, "S", LOCK)
    if other:
        m.switch(at + 20, 1, other)
        m.switch(at + 21, 1, None, "S", [f.format("flush", "log_loop") for f in NAP])
    m.switch(at + 50, 0, SPINNER, "R+", BUSY)
    m.switch(at + 110, 0, REFRESHER, "R+", [])
    if waits:
        m.switch(at + 115, 0, SPINNER, "S", LOCK)
        m.switch(at + 125, 0, REFRESHER, "R+", [])
    if late:
        m.switch(at + 149, 1, other)
    m.wake(at + 150, 0, WORKERS[0], wakes or in_refresh(UNLOCK))
    for k, worker in enumerate(WORKERS):
        m.switch(at + 150.1 + k, 1, worker, "S", [f.format("flush", "log_loop") for f in NAP])
        if k + 1 < len(WORKERS):
            m.wake(at + 150.9 + k, 1, WORKERS[k + 1], UNLOCK + ["handle (/opt/server)", "worker (/opt/server)"])
        m.switch(at + 151 + k, 1, None, "S", [f.format("serve", "worker") for f in NAP])
    m.switch(at + 160, 0, SPINNER, "S", [f.format("pause", "refresher") for f in NAP])


def recording(tmp_path, wakings, other=None, wakes=None, late=False, waits=False, pids=MappingProxyType({})):
    m = Machine(wakings, pids)
    m.switch(0, 0, SPINNER)
    for at in (100, 500):
        hold(m, at, other, wakes, late, waits)
    m.switch(900, 0, None, "S", [])
    path = tmp_path / "recording.perf-script.txt"
    path.write_text(m.text())
    return path


def stall(path):
    answer = ask("waits", path)
    assert len(answer["stalls"]) == 1, answer["stalls"]
    return answer["stalls"][0]


def test_the_holder_is_named_and_its_hold_split(tmp_path):
    s = stall(recording(tmp_path, True))
    assert (s["evidence"], s["holder"]["comm"], s["holder"]["tid"]) == ("woken", "refresher", 110)
    assert (s["function"], s["reason"], s["waits"], s["threads"]) == ("handle", "lock", 8, 4)
    assert s["holder"]["released_in"] == "refresh"
    for e, at in zip(s["episodes"], (100.5, 500.5), strict=True):
        assert e["at_ns"] == pytest.approx(at * 1e6, abs=1000)
        parts = [e["held_%s_ns" % k] / 1e6 for k in ("running", "runnable", "blocked", "unknown")]
        assert parts == pytest.approx([89.5, 60, 0, 0], abs=0.01) and e["held_ns"] == pytest.approx(149.5e6, abs=1000)
    took = {t["comm"]: t["its_cpu_ns"] / 1e6 for t in s["cpus_went_to"]}
    assert took == pytest.approx({"spinner": 60, None: 0}, abs=0.01)


def test_times_are_those_of_other_answers(tmp_path):
    """From the first sample of any event on, as --time, sched and timeline have it."""
    path = recording(tmp_path, True)
    with path.open("a") as f:
        f.write("\nspinner 300/300 [001] 49.000000: 1 cycles: \n\t 10 f (/x)\n\n")
    first = stall(path)["episodes"][0]
    assert first["at_ns"] == pytest.approx(1100.5e6, abs=1000)
    window = f"{first['at_ns'] / 1e9}..{first['released_at_ns'] / 1e9}"
    (row,) = ask("sched", path, "--time", window, "--thread", "refresher", "--no-pool")["rows"]
    assert row["run_ns"] == pytest.approx(first["held_running_ns"], abs=1e6)


def test_the_critical_path_adds_up(tmp_path):
    s = stall(recording(tmp_path, True))
    longest = s["episodes"][0]
    assert sum(p["ns"] for p in s["critical_path"]) == longest["released_at_ns"] - longest["at_ns"]
    assert {p["comm"] for p in s["critical_path"]} == {"refresher"}


def test_without_wakings_it_is_inferred_by_elimination(tmp_path):
    path = recording(tmp_path, False)
    s = stall(path)
    assert (s["evidence"], s["holder"]["comm"], s["episodes_count"]) == ("inferred", "refresher", 2)
    text = unwrapped(run("waits", path).out)
    assert "HELD BY refresher (tid 110), inferred, if no other process shares the lock: of its process it alone ran " \
        "during both" in text
    assert "So:" not in text and "If it held it: less work under the lock, its CPU was taken" in text
    assert "Not recorded: wakeups (-e sched:sched_switch,sched:sched_waking" in text
    assert "all 4 http-*" in text


def test_who_is_inferred_may_never_have_touched_the_lock(tmp_path):
    """The refresher is of another process, which shares the lock; a logger of the waiters' own one is all that ran."""
    path = recording(tmp_path, False, other=LOGGER, pids={110: 210})
    s = stall(path)
    assert (s["evidence"], s["holder"]["comm"]) == ("inferred", "logger")
    text = unwrapped(run("waits", path).out)
    assert "HELD BY logger (tid 120), inferred, if no other process shares the lock: of its process it alone ran" in text
    assert "So:" not in text


def test_events_that_were_lost_meanwhile_are_said(tmp_path):
    """Of CPU 1 those of the 10 ms before 240: another thread may have had the lock then."""
    path = recording(tmp_path, False)
    with path.open("a") as f:
        f.write("\nspinner 300/300 [001] 50.240000: PERF_RECORD_LOST lost 4\n")
    whole, lossy = ask("waits", path)["stalls"]
    assert (whole["evidence"], whole["holder"]["comm"]) == ("inferred", "refresher")
    assert (lossy["evidence"], lossy["holder"]["comm"], lossy["at_most"]) == ("unknown", None, True)
    assert [lossy["episodes"][0]["events_lost_ns"] > 0, whole["episodes"][0]["events_lost_ns"]] == [True, 0]
    text = unwrapped(run("waits", path).out)
    assert "at +0.102 s ≤ 152 ms" in text and "events were lost for" in text, text
    assert "HOLDER not known: events were lost while the first one waited" in text


@pytest.mark.parametrize("wakes", [None, TIMER])
def test_who_woke_a_wait_within_which_events_were_lost_may_have_ended_another(tmp_path, wakes):
    path = recording(tmp_path, True, wakes=wakes)
    with path.open("a") as f:
        f.write("\nspinner 300/300 [001] 50.240000: PERF_RECORD_LOST lost 4\n")
    lossy = [s for s in ask("waits", path)["stalls"] if s["at_most"]]
    assert [(s["evidence"], s["holder"]["comm"]) for s in lossy] == [("unknown", None)]


def test_who_waited_there_itself_had_it_only_afterwards(tmp_path):
    path = recording(tmp_path, False, waits=True)
    s = stall(path)
    assert (s["evidence"], s["holder"]["comm"]) == ("inferred", "refresher")
    for e in s["episodes"]:
        assert (e["holder_waited_ns"], e["held_ns"], e["held_blocked_ns"]) == pytest.approx((10e6, 25e6, 0), abs=200000)
    text = unwrapped(run("waits", path).out)
    assert "it waited there itself for 10.0 ms, so did not have it; after that 25" in text
    assert "So:" not in text and "If it held it:" not in text


def test_who_did_not_run_when_the_first_waiter_went_on_did_not_let_go(tmp_path):
    s = stall(recording(tmp_path, False, other=LOGGER))
    assert (s["evidence"], s["holder"]["comm"], s["only_at_resume"]) == ("inferred", "refresher", True)
    assert [c["comm"] for c in s["candidates"]] == ["refresher", "logger"]


def test_where_two_may_have_held_it_none_is_named(tmp_path):
    path = recording(tmp_path, False, other=LOGGER, late=True)
    s = stall(path)
    assert s["evidence"] == "candidates" and s["holder"]["comm"] is None
    assert [c["comm"] for c in s["candidates"]] == ["refresher", "logger"]
    text = unwrapped(run("waits", path).out)
    assert "HOLDER not known: one of 2 that ran meanwhile: refresher" in text and "HELD BY" not in text


def test_until_when_an_inferred_holder_had_it_is_not_known_where_its_running_is_not(tmp_path):
    """When the holder, which was put off its CPU, came back is not recorded."""
    path = recording(tmp_path, False)
    came = ("50.210000: sched:sched_switch", "50.610000: sched:sched_switch")
    events = [e for e in path.read_text().split("\n\n") if "spinner" not in e.split("\n")[0] or not any(at in e for at in came)]
    path.write_text("\n\n".join(events))
    s = stall(path)
    e = s["episodes"][0]
    assert (s["evidence"], s["holder"]["comm"]) == ("inferred", "refresher")
    assert e["held_ns"] / 1e6 == pytest.approx(149.5, abs=1.5) and e["held_unknown_ns"] / 1e6 > 90


def test_a_waking_says_it_where_elimination_could_not(tmp_path):
    s = stall(recording(tmp_path, True, other=LOGGER))
    assert (s["evidence"], s["holder"]["comm"]) == ("woken", "refresher")


def who_held(s):
    return s["evidence"], s["holder"]["comm"], s["episodes_count"], s["waits"], s["threads"]


APART = {tid: 1000 + tid for _, tid in [REFRESHER, *WORKERS]}


def test_processes_that_hand_on_a_lock_are_looked_at_as_one(tmp_path):
    """Each is a process of one thread, of its own name: who handed it on had waited for it itself."""
    path = recording(tmp_path, True, pids=APART)
    assert who_held(stall(path)) == ("woken", "refresher", 2, 8, 4)
    text = unwrapped(run("waits", path).out)
    assert "blocked by lock" not in text and "(lock) under the lock" not in text


def test_all_processes_of_a_stall_come_first(tmp_path):
    """However short what else they waited for is beside the refresher's long sleeps."""
    text = run("waits", recording(tmp_path, True, pids=APART), "-n", "0").out
    names = [name for name, _ in [*WORKERS, REFRESHER, SPINNER]]
    who = [line.split()[-1] for line in text[text.index("where"):].splitlines() if line.split() and line.split()[-1] in names]
    others = [k for k, name in enumerate(who) if not name.startswith("http-")]
    assert {name for name in who[:others[0]]} == {name for name, _ in WORKERS} and others == list(range(others[0], len(who)))


def test_who_handed_it_on_from_another_process_did_not_hold_it(tmp_path):
    """Two processes of two threads: the first waiter of the second one is woken by a waiter of the first."""
    path = recording(tmp_path, True, pids={101: 201, 102: 201, 103: 202, 104: 202, 110: 203})
    stalls = ask("waits", path)["stalls"]
    assert [who_held(s) for s in stalls] == [("woken", "refresher", 2, 4, 2)] * 2
    assert [e["held_ns"] / 1e6 for s in stalls for e in s["episodes"]] == pytest.approx([149.5, 149.5, 147.5, 147.5], abs=0.1)
    text = unwrapped(run("waits", path).out)
    assert "blocked by lock" not in text and "(lock) under the lock" not in text


def test_without_pids_threads_at_one_lock_are_looked_at_as_one(tmp_path):
    path = recording(tmp_path, True, pids=None)
    assert who_held(stall(path)) == ("woken", "refresher", 2, 8, 4)
    assert "Not recorded: processes (perf script -F +pid,+ip,+sym,+dso)" in unwrapped(run("waits", path).out)
    assert "-F +pid" not in run("waits", recording(tmp_path, True)).out


def test_without_pids_and_wakings_none_is_inferred(tmp_path):
    path = recording(tmp_path, False, pids=None)
    assert who_held(stall(path)) == ("any", None, 2, 8, 4)
    text = unwrapped(run("waits", path).out)
    assert "HELD BY" not in text and "So:" not in text


def test_without_pids_who_was_interrupted_may_be_of_any_process(tmp_path):
    """A waking without a stack may be of an interrupt: only of its own process a thread is taken to have done it."""
    for pids, evidence in ((MappingProxyType({}), "woken"), (None, "unknown")):
        path = recording(tmp_path, True, pids=pids)
        events = path.read_text().split("\n\n")
        path.write_text("\n\n".join(e.split("\n")[0] if "sched_waking" in e else e for e in events))
        assert stall(path)["evidence"] == evidence


def test_a_holder_that_waits_for_a_lock_elsewhere_may_have_waited_for_this_one(tmp_path):
    """A logger waits in `flush` while the workers do in `handle`, and wakes one of them when its wait is over."""
    m = Machine(True)
    m.switch(0, 0, SPINNER)
    for at in (100, 500):
        m.switch(at - 1, 0, REFRESHER, "R+", BUSY)
        m.switch(at, 1, LOGGER)
        m.switch(at + 0.5, 1, None, "S", [f.replace("handle", "flush") for f in LOCK])
        for k, worker in enumerate(WORKERS):
            m.switch(at + 1 + k, 1, worker)
            m.switch(at + 1.5 + k, 1, None, "S", LOCK)
        m.wake(at + 150, 0, LOGGER, in_refresh(UNLOCK))
        m.switch(at + 150.1, 1, LOGGER)
        m.wake(at + 150.2, 1, WORKERS[0], UNLOCK + ["flush (/opt/server)", "log_loop (/opt/server)"])
        m.switch(at + 150.3, 1, WORKERS[0], "S", [f.format("pause", "log_loop") for f in NAP])
        for k in range(3):
            m.wake(at + 150.9 + k, 1, WORKERS[k + 1], UNLOCK + ["handle (/opt/server)", "worker (/opt/server)"])
            m.switch(at + 151 + k, 1, WORKERS[k + 1], "S", [f.format("serve", "worker") for f in NAP])
        m.switch(at + 154, 1, None, "S", [f.format("serve", "worker") for f in NAP])
        m.switch(at + 160, 0, SPINNER, "S", [f.format("pause", "refresher") for f in NAP])
    m.switch(900, 0, None, "S", [])
    path = tmp_path / "recording.perf-script.txt"
    path.write_text(m.text())
    text = unwrapped(run("waits", path).out)
    assert "HELD BY logger" in text
    assert "blocked by lock in flush (if that is the same lock, it did not have it meanwhile)" in text
    assert "So: no" not in text and "If it is another lock: no waiting (lock) under the lock" in text


def test_an_interrupt_at_a_threads_expense_holds_nothing(tmp_path):
    s = stall(recording(tmp_path, True, wakes=in_refresh(TIMER)))
    assert s["evidence"] == "interrupt" and s["holder"]["comm"] is None


def test_a_signal_that_ends_one_wait_does_not_hide_who_held_the_lock(tmp_path):
    m = Machine(True)
    m.switch(0, 0, SPINNER)
    hold(m, 100)
    first = WORKERS[0]
    m.events.sort()
    m.on.update({0: SPINNER, 1: ("swapper/1", 0)})
    m.wake(200, 0, first, ["try_to_wake_up ([kernel.kallsyms])", "signal_wake_up_state ([kernel.kallsyms])",
                           "__send_signal_locked ([kernel.kallsyms])"])
    m.switch(200.1, 1, first)
    m.switch(200.3, 1, None, "S", LOCK)
    m.on[0] = SPINNER
    m.switch(400, 0, None, "S", [])
    path = tmp_path / "signal.perf-script.txt"
    path.write_text(m.text())
    s = stall(path)
    assert (s["evidence"], s["holder"]["comm"], s["holder"]["released_in"]) == ("woken", "refresher", "refresh")
    assert "signals cut 1 wait for a lock in two: whole ones are longer" in unwrapped(run("waits", path).out)
    # Between its two waits the first one may have had the lock itself: a bound.
    assert s["episodes"][0]["held_ns"] == pytest.approx(49.7e6, abs=1000)


def test_what_people_read(tmp_path):
    text = unwrapped(run("waits", recording(tmp_path, True)).out)
    assert "STALLS > 100 ms: 2 episodes, 8 waits" in text
    assert "HELD BY refresher (tid 110): it woke the first waiter of both, let go in refresh" in text
    assert "= running 89.5 + waiting for a CPU 60 + blocked 0; its CPU went to spinner 60" in text
    assert "So: less work under the lock, its CPU was taken while others were idle" in text


def test_who_woke_whom(tmp_path):
    wakes = ask("waits", recording(tmp_path, True))["wakes"]
    assert {(w["waker"]["comm"], w["woken"]["comm"], w["count"]) for w in wakes} == {
        ("refresher", "http-0", 2), ("http-0", "http-1", 2), ("http-1", "http-2", 2), ("http-2", "http-3", 2)}


def test_a_range_of_time_has_the_stalls_that_are_in_it(tmp_path):
    path = recording(tmp_path, True)
    for time, begins in (("0.4..0.8", [500.5e6]), ("0.7..0.8", []), ("0.05..0.9", [100.5e6, 500.5e6])):
        found = [e["at_ns"] for s in ask("waits", path, "--time", time)["stalls"] for e in s["episodes"]]
        assert found == pytest.approx(begins, abs=1000), time


def test_without_call_stacks_places_are_not_known(tmp_path):
    path = tmp_path / "recording.perf-script.txt"
    path.write_text("\n".join(line for line in recording(tmp_path, True).read_text().split("\n")
                              if not line.startswith("\t")) + "\n")
    text = unwrapped(run("waits", path).out)
    assert "STALLS: not known at which places: no call stacks (perf record -g)" in text
    assert "none" not in text.split("STALLS")[1].split("\n")[0]


def test_long_waits_that_may_be_for_a_lock_are_not_called_none(tmp_path):
    m = Machine(True)
    m.switch(0, 0, SPINNER)
    for at in range(100, 900, 100):
        for k, worker in enumerate(WORKERS):
            m.switch(at + k, 1, worker)
            m.switch(at + k + 0.5, 1, None, "S", CONDITION)
            m.wake(at + 80 + k, 0, worker, BUSY)
            m.switch(at + 80.1 + k, 1, worker)
            m.switch(at + 80.2 + k, 1, None, "S", [f.format("pause", "worker") for f in NAP])
    m.switch(999, 0, None, "S", [])
    path = tmp_path / "recording.perf-script.txt"
    path.write_text(m.text())
    assert not ask("waits", path)["stalls"]
    text = unwrapped(run("waits", path).out)
    assert "STALLS: none shown; long waits that may be for locks are not judged" in text
    assert "and 3 more: 32 waits ≥ 20 ms, 2.54 s (condition" in text


def crowded(tmp_path, busy):
    """Eight threads share a CPU, 10 ms each, where they are let run; the other CPU has the spinner, or nobody."""
    m = Machine(False)
    crew = [("busy-%d" % k, 101 + k) for k in range(8)]
    m.switch(0, 0, SPINNER if busy else None)
    for k in range(80):
        m.switch(10 * k, 1, crew[k % 8], "R", BUSY)
        if not busy:
            m.switch(10 * k + 1, 1, None, "R", BUSY)
    m.switch(800, 0, None, "S", [])
    m.switch(800, 1, None, "R", BUSY)
    path = tmp_path / "recording.perf-script.txt"
    path.write_text(m.text())
    return unwrapped(run("waits", path).out)


def test_an_overloaded_machine_says_who_waits_most(tmp_path):
    assert "waited for one of 2 CPUs; most: busy-* (8) 5." in crowded(tmp_path, True)


def test_what_waits_beside_idle_cpus_is_no_overload(tmp_path):
    assert "OVERLOADED" not in crowded(tmp_path, False)


REMOTE = ["try_to_wake_up ([kernel.kallsyms])", "sched_ttwu_pending ([kernel.kallsyms])",
          "__sysvec_call_function_single ([kernel.kallsyms])", "asm_sysvec_call_function_single ([kernel.kallsyms])"]


def test_a_waking_that_is_done_for_another_cpu_denies_no_holder(tmp_path):
    """sched_wakeup is taken where the woken thread goes; who let go ran elsewhere."""
    s = stall(recording(tmp_path, True, wakes=REMOTE))
    assert (s["evidence"], s["holder"]["comm"]) == ("inferred", "refresher")


def test_stalls_of_a_thread_are_those_that_it_held_others_up_in(tmp_path):
    path = recording(tmp_path, True)
    assert ask("waits", path, "--comm", "refresher")["stalls"] == ask("waits", path)["stalls"]
    assert not ask("waits", path, "--comm", "spinner")["stalls"]


def test_an_event_that_has_no_time_is_refused(tmp_path):
    answer = run("waits", recording(tmp_path, True), "-e", "sched:sched_waking", code=2)
    assert "has no time that threads waited" in unwrapped(answer.err)


def test_goroutines_are_of_the_threads_that_are_asked_about(tmp_path):
    path = recording(tmp_path, True)
    path.write_text(path.read_text().replace("log_loop", "runtime.mstart").replace("take", "x"))
    m = Machine(True)
    m.switch(0, 0, SPINNER)
    m.switch(50, 0, LOGGER, "R+", BUSY)
    m.switch(60, 0, SPINNER, "S", ["futex_wait ([kernel.kallsyms])", "runtime.mstart (/opt/server)"])
    m.switch(900, 0, LOGGER, "S", BUSY)
    path.write_text(m.text())
    for options, said in ((), True), (("--comm", "spinner"), False):
        text = unwrapped(run("waits", path, *options, code=0).out)
        assert ("Go: " in text) == said
        assert ("STALLS: none found: no several threads ≥ 20 ms at one place for a lock or a disk; what goroutines wait for is not in it"
                in text) == said


@pytest.mark.parametrize("waited,stack,said", [(500, LOCK, True), (60, LOCK, False), (500, CONDITION, False)])
def test_one_thread_that_waits_for_a_lock_to_the_end(tmp_path, waited, stack, said):
    """A tenth of the recording is much for a lock; of a condition that never came nothing is known."""
    m = Machine(True)
    m.switch(0, 0, SPINNER)
    m.switch(1000 - waited - 1, 1, WORKERS[0])
    m.switch(1000 - waited, 1, None, "S", stack)
    m.switch(1000, 0, None, "S", [])
    path = tmp_path / "a.perf-script.txt"
    path.write_text(m.text())
    answer = ask("waits", path)
    text = unwrapped(run("waits", path).out)
    assert [(s["waits"], s["evidence"]) for s in answer["stalls"]] == [(1, "not ended")] * said
    assert ("1 wait, ≥ 500 ms of threads' time" in text and "at +0.500 s ≥ 500 ms waiting in handle (lock): http-0" in text) == said
    assert said or "STALLS: none found" in text


def crossed(tmp_path, sleeper):
    """
    http-0 and http-1 let go of what the other one waits for, and then each waits there to the end. sleeper: a third
    one of the program is asleep meanwhile, having waited for no lock.
    """
    m, (one, two, *_) = Machine(True), WORKERS
    places = {t: LOCK[:-3] + [f"{f} (/opt/server)"] + LOCK[-2:] for t, f in ((one, "take_a"), (two, "take_b"))}
    m.switch(0, 0, SPINNER)
    for at, waits, lets in ((1, one, two), (101, two, one)):
        m.switch(at, 1, waits)
        m.switch(at + 1, 1, lets, "S", places[waits])
        m.wake(at + 30, 1, waits, UNLOCK + ["give (/opt/server)"])
        m.switch(at + 31, 1, waits, "S", [f.format("pause", "worker") for f in NAP])
        m.switch(at + 32, 1, None, "S", [f.format("pause", "worker") for f in NAP])
    if sleeper:
        m.switch(250, 1, LOGGER)
        m.switch(251, 1, None, "S", [f.format("flush", "log_loop") for f in NAP])
    for at, who in ((300, one), (310, two)):
        m.switch(at, 1, who)
        m.switch(at + 1, 1, None, "S", places[who])
    m.switch(900, 0, None, "S", [])
    path = tmp_path / "crossed.perf-script.txt"
    path.write_text(m.text())
    return path


@pytest.mark.parametrize("sleeper", [False, True])
def test_what_fits_a_deadlock_may_be_held_by_one_that_waits_elsewhere(tmp_path, sleeper):
    path = crossed(tmp_path, sleeper)
    (s,) = [s for s in ask("waits", path)["stalls"] if s["evidence"] == "not ended"]
    assert s["fits_deadlock"] and [c["comm"] for c in s["candidates"]] == ["logger"] * sleeper
    text = unwrapped(run("waits", path).out)
    assert "fits a deadlock, not proven" in text
    assert ("or one that is not seen to wait there holds it: logger (tid 120)" in text) == sleeper


@pytest.mark.parametrize("wakings", [False, True])
def test_a_hang_from_the_last_event_of_a_process_on_is_not_called_none(tmp_path, wakings):
    """Of one process: its two threads wait for a lock each, the third one sleeps; had it hung then, nothing would come any more."""
    m = Machine(wakings)
    asleep = [f.format("flush", "log_loop") for f in NAP]
    for at, who, stack in ((0, LOGGER, asleep), (10, WORKERS[0], LOCK), (12, WORKERS[1], LOCK), (14, LOGGER, asleep)):
        m.switch(at, 0, who)
        m.switch(at + 1, 0, None, "S", stack)
    events = [e for _, _, e in sorted(m.events) if not e.startswith("swapper")]
    path = tmp_path / "hung.perf-script.txt"
    path.write_text("\n".join(events) + "\n")
    text = unwrapped(run("waits", path, code=0).out)
    assert ("STALLS: not known: at the last event of the recording no thread ran, and 2 threads waited for a lock; a hang from then on "
            "leaves no event (perf record -a tells how long)") in text


RWLOCK = FUTEX + ["futex_abstimed_wait_common64 (/usr/lib/libc.so.6)", "{} (/usr/lib/libc.so.6)", "handle (/opt/server)",
                  "worker (/opt/server)", "start_thread (/usr/lib/libc.so.6)"]


def held(tmp_path, stack):
    """Two readers: one has the lock 200 ms, the other takes it for the last 10 of them and wakes the writer."""
    m, (writer, first, last) = Machine(True), WORKERS[:3]
    m.switch(0, 0, first)
    m.switch(1, 1, writer)
    m.switch(2, 1, None, "S", stack)
    m.switch(3, 0, None, "S", [f.format("long_read", "worker") for f in NAP])
    m.switch(190, 1, last)
    m.switch(199, 0, first)
    m.switch(199.5, 0, None, "S", [f.format("pause", "worker") for f in NAP])
    m.wake(200, 1, writer, UNLOCK + ["short_read (/opt/server)", "worker (/opt/server)"])
    m.switch(200.1, 1, writer, "S", [f.format("pause", "worker") for f in NAP])
    m.switch(201, 1, None, "S", [f.format("serve", "worker") for f in NAP])
    m.switch(250, 0, first)
    m.switch(251, 0, None, "S", [f.format("pause", "worker") for f in NAP])
    path = tmp_path / "a.perf-script.txt"
    path.write_text(m.text())
    return path


@pytest.mark.parametrize("call,last", [("pthread_rwlock_wrlock", True), ("pthread_rwlock_rdlock", False), ("pthread_mutex_lock", False)])
def test_who_lets_go_last_of_several_had_it_for_no_known_time(tmp_path, call, last):
    """A writer waits for all readers: the one who wakes it may have come a moment ago. Readers wait for one writer."""
    path = held(tmp_path, [f.format(call) for f in RWLOCK])
    (s,) = ask("waits", path)["stalls"]
    text = unwrapped(run("waits", path).out)
    assert (s["evidence"], s["holder"]["comm"]) == (("last", None) if last else ("woken", "http-2"))
    assert ("several may have had this lock at once; http-2 (tid 103) let go last, in short_read" in text) == last
    assert ("HELD BY" in text) == ("held ≥" in text) == (not last)


@pytest.mark.parametrize("wakings", [False, True])
@pytest.mark.parametrize("call", ["pthread_mutex_timedlock", "pthread_mutex_clocklock", "pthread_mutex_lock"])
def test_a_wait_that_nobody_is_seen_to_end(tmp_path, call, wakings):
    """With a limit of time it may have given up; where wakings are recorded, no thread of the process let go."""
    path = recording(tmp_path, wakings)
    events = [e for e in path.read_text().replace("pthread_mutex_lock", call).split("\n\n") if not ("sched_waking" in e and "refresher" in e)]
    path.write_text("\n\n".join(events))
    (s,) = ask("waits", path)["stalls"]
    assert (s["evidence"], s["holder"]["comm"]) == (("inferred", "refresher") if call == "pthread_mutex_lock" and not wakings else
                                                    ("unknown" if call == "pthread_mutex_lock" else "timed", None))


@pytest.mark.parametrize("threads,waited,said", [(1, 120, "not judged"), (1, 10, "none found"), (2, 120, "1 episode")])
def test_none_is_not_said_of_long_waits_for_locks_that_nothing_judges(tmp_path, threads, waited, said):
    """Without wakings nothing shows who ended the waits of one thread: another process may have, or its own limit."""
    m = Machine(False)
    m.switch(0, 0, SPINNER)
    for k in range(threads):
        m.switch(100 + k, 1, WORKERS[k])
        m.switch(101 + k, 1, None, "S", LOCK)
    for k in range(threads):
        m.switch(101 + threads + waited + k, 1, WORKERS[k], "S", [f.format("pause", "worker") for f in NAP])
        m.switch(102 + threads + waited + k, 1, None, "S", [f.format("serve", "worker") for f in NAP])
    m.switch(900, 0, None, "S", [])
    path = tmp_path / "a.perf-script.txt"
    path.write_text(m.text())
    assert said in run("waits", path).out


@pytest.mark.parametrize("missing", [0, 6])
def test_wakings_that_are_missing_in_part_are_said(tmp_path, missing):
    """Timers wake in other contexts: a recording of one process has the wakings by its threads alone."""
    m = Machine(True)
    m.switch(0, 0, SPINNER)
    m.switch(1, 1, LOGGER)
    for k in range(8):
        m.switch(10 + 100 * k, 1, None, "S", [f.format("flush", "log_loop") for f in NAP])
        if k >= missing:
            m.wake(60 + 100 * k, 0, LOGGER, TIMER)
        m.switch(90 + 100 * k, 1, LOGGER)
    m.switch(900, 0, None, "S", [])
    path = tmp_path / "a.perf-script.txt"
    path.write_text(m.text())
    answer, text = ask("waits", path), unwrapped(run("waits", path).out)
    assert answer["wakes_missing"] == missing
    assert ("6 waits of 480 ms end in a waking that was not recorded" in text) == bool(missing)
    assert ("≥ 60.0 ms waiting for a CPU" in text) == bool(missing)


def test_a_hold_says_all_that_it_was_blocked_by(tmp_path):
    """Of 150 ms the refresher sleeps 60 and waits 50 for a lock of the logger: both are under the lock."""
    m = Machine(True)
    m.switch(0, 0, SPINNER)
    m.switch(99, 0, REFRESHER, "R+", BUSY)
    m.switch(100, 1, WORKERS[0])
    m.switch(100.5, 1, None, "S", LOCK)
    m.switch(110, 0, SPINNER, "S", [f.format("settle", "refresher") for f in NAP])
    m.wake(170, 0, REFRESHER, TIMER)
    m.switch(170.1, 0, REFRESHER, "R+", BUSY)
    m.switch(180, 0, LOGGER, "S", [f.replace("handle", "note") for f in LOCK])
    m.wake(230, 0, REFRESHER, UNLOCK + ["log (/opt/server)"])
    m.switch(230.1, 0, REFRESHER, "S", [f.format("flush", "log_loop") for f in NAP])
    m.wake(250, 0, WORKERS[0], in_refresh(UNLOCK))
    m.switch(250.1, 1, WORKERS[0])
    m.switch(252, 1, None, "S", [f.format("serve", "worker") for f in NAP])
    m.switch(260, 0, SPINNER, "S", [f.format("pause", "refresher") for f in NAP])
    m.switch(700, 0, None, "S", [])
    path = tmp_path / "a.perf-script.txt"
    path.write_text(m.text())
    text = unwrapped(run("waits", path).out)
    assert "blocked by sleep in settle 60.0 ms, lock 50.0 ms" in text
    assert "no waiting (sleep, lock) under the lock" in text or "no waiting (lock, sleep) under the lock" in text

"""Whether a wait that looks like a wait for work is one: by what the thread did that ended it. Recordings made by hand."""

import pytest

from conftest import ask, run, unwrapped
from test_waits_stalls import BUSY, FUTEX, NAP, PID, TIMER, UNLOCK, Machine

WAITER, SERVER, OTHER = ("client", 101), ("server", 110), ("other", 300)
LIB = " (/usr/lib/libc.so.6)"
LOOP = ["loop (/opt/server)", "start_thread" + LIB]
COND = FUTEX + ["___pthread_cond_wait" + LIB] + LOOP
SIGNAL = UNLOCK[:-1] + ["___pthread_cond_signal" + LIB] + LOOP
UNNAMED = FUTEX + ["__futex_abstimed_wait_common64" + LIB]
PACE = [f.format("nap", "pacer") for f in NAP]


def place(tmp_path, m, who, wakings=True):
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    answer = ask("waits", path, "--idle")
    assert sum(answer[k] for k in ("runnable", "blocked", "idle", "maybe_idle", "unseen")) == answer["whole"]
    rows = [r for r in answer["places"] if r["waiter"].startswith(who) and r["reason"] == "condition"]
    assert len(rows) == 1
    return rows[0], answer, path


def verdict(row):
    return (row["idle"], row["idle_unsure"])


def ask_and_wait(wakings=True, waits=COND):
    """The client asks, runs 1 ms more and waits while the server runs 60 ms for it; 8 times."""
    m = Machine(wakings)
    m.switch(0, 1, SERVER)
    m.switch(1, 1, None, "S", COND)
    m.switch(2, 0, WAITER)
    for at in range(10, 810, 100):
        m.wake(at, 0, SERVER, SIGNAL)
        m.switch(at + 0.1, 1, SERVER)
        m.switch(at + 1, 0, None, "S", waits)
        m.wake(at + 61, 1, WAITER, SIGNAL)
        m.switch(at + 61.1, 0, WAITER)
        m.switch(at + 62, 1, None, "S", COND)
    m.switch(900, 0, None, "S", PACE)
    return m


def test_a_client_that_waits_for_its_server_is_not_idle(tmp_path):
    row, answer, path = place(tmp_path, ask_and_wait(), "client")
    assert verdict(row) == (False, False) and row["weight"] == pytest.approx(8 * 60e6, abs=1e5)
    assert "client" in run("waits", path).out


def test_without_wakings_it_is_only_likely(tmp_path):
    row, answer, path = place(tmp_path, ask_and_wait(wakings=False), "client")
    assert verdict(row) == (True, True) and answer["maybe_idle"] >= row["weight"] and answer["idle"] == 0
    assert "may be idle" in unwrapped(run("waits", path).out)


def test_a_pool_whose_producer_sleeps_is_idle(tmp_path):
    m = Machine(True)
    m.switch(0, 1, SERVER)
    m.switch(1, 0, WAITER)
    m.switch(2, 0, None, "S", COND)
    for at in range(10, 810, 100):
        m.switch(at, 1, None, "S", PACE)
        m.wake(at + 90, 1, SERVER, TIMER)
        m.switch(at + 90.1, 1, SERVER)
        m.wake(at + 91, 1, WAITER, SIGNAL)
        m.switch(at + 91.1, 0, WAITER)
        m.switch(at + 93, 0, None, "S", COND)
    m.switch(900, 1, None, "S", PACE)
    assert verdict(place(tmp_path, m, "client")[0]) == (True, False)


def test_work_that_was_not_asked_for_proves_nothing(tmp_path):
    """Who makes work ran all the time; whether these waits cost anybody anything is not shown."""
    m = Machine(True)
    m.switch(0, 1, SERVER)
    m.switch(1, 0, WAITER)
    m.switch(2, 0, None, "S", COND)
    for at in range(100, 900, 100):
        m.wake(at, 1, WAITER, SIGNAL)
        m.switch(at + 0.1, 0, WAITER)
        m.switch(at + 2, 0, None, "S", COND)
    m.switch(950, 1, None, "S", PACE)
    assert verdict(place(tmp_path, m, "client")[0]) == (True, True)


def test_waits_that_time_out_and_begin_again_are_one(tmp_path):
    """As for the lock of Python's interpreter: 5 ms each, until who runs lets go. Its callers are not known."""
    m = Machine(True)
    m.switch(0, 1, SERVER)
    m.switch(1, 0, WAITER)
    for at in range(10, 810, 100):
        for k in range(0, 60, 5):
            m.switch(at + k, 0, None, "S", UNNAMED)
            if k < 55:
                m.wake(at + k + 4.9, 0, WAITER, TIMER)
            else:
                m.wake(at + k + 4.9, 1, WAITER, SIGNAL)
            m.switch(at + k + 4.95, 0, WAITER)
    m.switch(900, 0, None, "S", PACE)
    m.switch(901, 1, None, "R", BUSY)
    assert verdict(place(tmp_path, m, "client")[0]) == (False, False)


PIPE = ["__schedule ([kernel.kallsyms])", "schedule ([kernel.kallsyms])", "pipe_read ([kernel.kallsyms])",
        "ksys_read ([kernel.kallsyms])", "do_syscall_64 ([kernel.kallsyms])", "read (/usr/lib/libc.so.6)"]
PIPE_WAKE = ["try_to_wake_up ([kernel.kallsyms])", "pipe_write ([kernel.kallsyms])", "ksys_write ([kernel.kallsyms])",
             "do_syscall_64 ([kernel.kallsyms])", "write (/usr/lib/libc.so.6)"]


def sleeps(tmp_path, asks):
    """The server sleeps 60 ms of 100 in what its loop calls, and writes; asks: for what it read from the client."""
    retry = [f.format("handle", "server_loop") for f in NAP]
    m = Machine(True)
    m.switch(0, 1, SERVER)
    m.switch(1, 1, None, "S", PIPE + LOOP)
    m.switch(2, 0, WAITER)
    m.switch(3, 0, None, "S", [f.format("nap", "client_loop") for f in NAP])
    for at in range(10, 810, 100):
        m.wake(at, 0, WAITER, TIMER)
        m.switch(at + 0.1, 0, WAITER)
        m.wake(at + 1, 0, SERVER, PIPE_WAKE if asks else TIMER)
        m.switch(at + 1.1, 1, SERVER)
        m.switch(at + 1.2, 0, None, "S", PIPE + LOOP)
        m.switch(at + 2, 1, None, "S", retry)
        m.wake(at + 62, 1, SERVER, TIMER)
        m.switch(at + 62.1, 1, SERVER)
        m.wake(at + 63, 1, WAITER, PIPE_WAKE)
        m.switch(at + 63.1, 0, WAITER)
        m.switch(at + 64, 1, None, "S", PIPE + LOOP)
        m.switch(at + 64.1, 0, None, "S", [f.format("nap", "client_loop") for f in NAP])
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    rows = ask("waits", path, "--idle")["places"]
    return [r["idle"] for r in rows if r["waiter"].startswith("server") and r["reason"] == "sleep"], path


def sleeps_beside_a_lock(tmp_path, pid, wakings=True):
    """The server sleeps 40 ms of 50, eight times, then 500 ms to the end; meanwhile a thread of process `pid` waits for a lock."""
    m = Machine(wakings, {WAITER[1]: pid})
    m.switch(0, 0, OTHER)
    for at in range(0, 400, 50):
        m.wake(at - 0.1, 0, SERVER, TIMER)
        m.switch(at, 1, SERVER)
        m.switch(at + 10, 1, None, "S", PACE)
    m.switch(400, 1, WAITER)
    m.switch(401, 1, SERVER, "S", FUTEX + ["__lll_lock_wait" + LIB, "pthread_mutex_lock" + LIB, *LOOP])
    m.switch(402, 1, None, "S", PACE)
    m.switch(900, 0, None, "S", [])
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    rows = ask("waits", path, "--idle")["places"]
    return [verdict(r) for r in rows if r["waiter"].startswith("server") and r["reason"] == "sleep"]


@pytest.mark.parametrize("wakings", [True, False])
def test_a_sleep_that_somebody_waits_for_a_lock_beside_may_be_under_it(tmp_path, wakings):
    """Of its process, and to the end: the sleeper may hold the lock."""
    assert sleeps_beside_a_lock(tmp_path, PID, wakings) == [(True, True)]


@pytest.mark.parametrize("wakings", [True, False])
def test_a_sleep_beside_which_another_process_waits_for_a_lock_is_idle(tmp_path, wakings):
    """For certain where wakings could have shown that somebody waited for it."""
    assert sleeps_beside_a_lock(tmp_path, PID + 1, wakings) == [(True, not wakings)]


def test_a_sleep_that_a_client_waits_for_is_not_idle(tmp_path):
    assert sleeps(tmp_path, True)[0] == [False]


def test_a_sleep_whose_results_somebody_takes_is_idle(tmp_path):
    """Who reads them had not asked for them."""
    assert sleeps(tmp_path, False)[0] == [True]

def test_a_sleep_of_a_server_that_its_clients_rarely_had_to_wake_may_be_in_their_requests(tmp_path):
    """Saturated: its queue does not get empty, so that only the first of them woke it. A pace looks the same."""
    m = Machine(True)
    clients = [WAITER, ("client", 102)]
    m.switch(0, 1, SERVER)
    m.switch(1, 1, None, "S", COND)
    m.switch(2, 0, clients[0])
    m.wake(3, 0, SERVER, SIGNAL)
    m.switch(4, 0, None, "S", COND)
    m.switch(5, 0, clients[1])
    m.switch(6, 0, None, "S", COND)
    for at in range(10, 810, 50):
        m.switch(at, 1, SERVER)
        m.switch(at + 1, 1, None, "S", [f.format("handle", "loop") for f in NAP])
        m.wake(at + 46, 1, SERVER, TIMER)
        m.switch(at + 46.1, 1, SERVER)
        client = clients[at // 50 % 2]
        m.wake(at + 47, 1, client, SIGNAL)
        m.switch(at + 47.1, 0, client)
        m.switch(at + 48, 0, None, "S", COND)
    m.switch(860, 1, None, "S", [f.format("handle", "loop") for f in NAP])
    row, answer, path = place(tmp_path, m, "client")
    assert verdict(row) == (True, True)
    assert [verdict(r) for r in answer["places"] if r["reason"] == "sleep"] == [(True, True)]
    text = unwrapped(run("waits", path).out)
    assert "which may be idle (idle?" in text and "STALLS: none shown; long waits that may be for locks" in text, text
    assert "Not judged, as idle ones wait so, too: client (tid 101) and 1 more: 18 waits ≥ 20 ms" in text, text


EPOLL = ["__schedule ([kernel.kallsyms])", "schedule ([kernel.kallsyms])", "do_epoll_wait ([kernel.kallsyms])",
         "do_syscall_64 ([kernel.kallsyms])", "epoll_wait (/usr/lib/libc.so.6)"]


def test_what_a_user_of_a_server_does_between_requests_is_not_what_the_server_waits_for(tmp_path):
    """It asks, waits 10 ms for the answer, and sleeps 80 ms: the server waits for work then."""
    m = Machine(True)
    m.switch(0, 1, SERVER)
    m.switch(1, 1, None, "S", EPOLL + LOOP)
    m.switch(2, 0, WAITER)
    for at in range(10, 810, 100):
        m.wake(at, 0, SERVER, PIPE_WAKE)
        m.switch(at + 0.1, 1, SERVER)
        m.switch(at + 0.2, 0, None, "S", PIPE + ["get (/opt/server)"] + LOOP)
        m.wake(at + 10, 1, WAITER, PIPE_WAKE)
        m.switch(at + 10.1, 0, WAITER)
        m.switch(at + 10.2, 1, None, "S", EPOLL + LOOP)
        m.switch(at + 11, 0, None, "S", [f.format("loop", "start") for f in NAP])
        m.wake(at + 91, 0, WAITER, TIMER)
        m.switch(at + 91.1, 0, WAITER)
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    rows = {(r["waiter"].split(" ")[0], r["reason"]): verdict(r) for r in ask("waits", path, "--idle")["places"]}
    assert rows["client", "sleep"] == (True, True) and rows["server", "poll"] == (True, False)
    assert rows["client", "pipe"] == (False, False)


def test_views_leave_out_what_is_idle_and_nothing_else(tmp_path):
    """What who ended the waits did says so of them, too."""
    path = tmp_path / "r.perf-script.txt"
    path.write_text(ask_and_wait().text())
    waits = ask("waits", path)
    for view in ("top", "tree", "timeline", "summary"):
        answer = ask(view, path, "--event", "off-cpu")
        assert answer["kept"] == waits["runnable"] + waits["blocked"] + waits["unseen"], view


# ---- what the answer says ----


def test_sums_of_time_off_the_cpu_add_up_in_the_brief(tmp_path):
    path = tmp_path / "r.perf-script.txt"
    path.write_text(ask_and_wait().text())
    brief, answer = ask("summary", path)["waits"], ask("waits", path)
    for k in ("runnable", "blocked", "idle", "maybe_idle", "unseen"):
        assert brief[f"{k}_ns"] == answer[k], k


def test_a_wait_that_only_the_end_of_its_process_ended_is_longer_than_seen(tmp_path):
    m = Machine(True)
    m.switch(1, 0, WAITER)
    m.switch(10, 0, None, "S", FUTEX + ["__lll_lock_wait" + LIB, "pthread_mutex_lock" + LIB] + LOOP)
    m.switch(11, 1, SERVER)
    m.wake(900, 1, WAITER, ["try_to_wake_up ([kernel.kallsyms])", "signal_wake_up_state ([kernel.kallsyms])",
                            "zap_other_threads ([kernel.kallsyms])", "do_group_exit ([kernel.kallsyms])"])
    m.switch(900.1, 0, WAITER)
    m.switch(900.2, 0, None, "X", ["__schedule ([kernel.kallsyms])", "do_task_dead ([kernel.kallsyms])"])
    m.switch(901, 1, None, "X", ["__schedule ([kernel.kallsyms])", "do_task_dead ([kernel.kallsyms])"])
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    (row,) = [r for r in ask("waits", path)["places"] if r["reason"] == "lock"]
    assert (row["at_least"], row["longest_at_least"], row["open"]) == (True, True, 1)


def test_without_stacks_places_and_reasons_are_said_to_be_missing_once(tmp_path):
    m = Machine(True)
    m.switch(0, 1, SERVER)
    for at in range(10, 510, 100):
        m.switch(at, 0, WAITER)
        m.switch(at + 1, 0, None, "S")
    m.switch(900, 1, None, "S")
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    text = run("waits", path).out
    assert unwrapped(text).count("places and reasons need perf record -g") == 1 and "mainly by" not in text


def test_waiting_for_a_child_that_shares_the_memory(tmp_path):
    m = Machine(True)
    m.switch(1, 0, WAITER)
    m.switch(10, 0, None, "S", ["__schedule ([kernel.kallsyms])", "schedule ([kernel.kallsyms])",
                                "schedule_timeout ([kernel.kallsyms])", "__wait_for_common ([kernel.kallsyms])",
                                "wait_for_completion_state ([kernel.kallsyms])", "kernel_clone ([kernel.kallsyms])",
                                "__x64_sys_clone3 ([kernel.kallsyms])", "do_syscall_64 ([kernel.kallsyms])",
                                "clone3" + LIB] + LOOP)
    m.switch(100, 0, WAITER)
    m.switch(101, 0, None, "S", PACE)
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    assert 90e6 - 1000 < sum(r["weight"] for r in ask("waits", path)["places"] if r["reason"] == "child") < 90e6 + 1000


def test_of_go_threads_goroutines_are_not_shown(tmp_path):
    m = Machine(True)
    m.switch(1, 0, WAITER)
    m.switch(10, 0, None, "S", FUTEX + ["runtime.futex (/opt/server)", "runtime.findRunnable (/opt/server)", "runtime.mstart.abi0 (/opt/server)"])
    m.switch(100, 0, WAITER)
    m.switch(101, 0, None, "S", PACE)
    path = tmp_path / "r.perf-script.txt"
    path.write_text(m.text())
    assert "Go: threads do not show what goroutines wait for" in unwrapped(run("waits", path).out)


def test_a_small_budget_is_kept(tmp_path):
    from test_waits_stalls import recording
    path = recording(tmp_path, True)
    text = run("waits", path, "--budget", "250", "-q").out
    assert len(text) <= 750 and "STALLS" in text and "more lines on stalls; a larger --budget shows them" in text
    assert "a larger" not in run("waits", path, "-q").out


def test_processes_of_stalls_come_first(tmp_path):
    from test_waits_stalls import recording
    rows = run("waits", recording(tmp_path, True), "-q").out.split("\nthreads ")[1].split("\n")
    assert rows[1].startswith(("http-*", "refresher")), rows

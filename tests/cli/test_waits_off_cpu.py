"""waits of time off the CPU: reasons of real stacks, what is idle, and sums against a walk of the samples in Python."""

import collections
import json
import os
import subprocess

import pytest

from conftest import ask, run, unwrapped

SHOP = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schedule", "shop", "shop.spaa.zst")

SYSCALL = ["do_syscall_64", "entry_SYSCALL_64_after_hwframe"]
FUTEX = ["__schedule", "schedule", "futex_do_wait", "__futex_wait", "futex_wait", "do_futex", "__x64_sys_futex", *SYSCALL]

# What Linux 6.18 recorded, leaf first: kernel, then the C library, then the program; state, reason, whether it is idle by itself.
STACKS = [
    (FUTEX, ["__GI___lll_lock_wait", "___pthread_mutex_lock"], "WAITING", "lock", False),
    (FUTEX, ["__lll_lock_wait_private", "malloc"], "WAITING", "allocator lock", False),
    (FUTEX, ["__futex_abstimed_wait_common", "__GI___futex_abstimed_wait_cancelable64", "__pthread_cond_wait_common"], "WAITING", "condition", False),
    (FUTEX, ["__futex_abstimed_wait_common", "___pthread_cond_wait", "std::condition_variable::wait(std::unique_lock<std::mutex>&)"], "WAITING", "condition", False),
    (FUTEX, ["__futex_abstimed_wait_common", "___pthread_rwlock_wrlock"], "WAITING", "lock", False),
    (FUTEX, ["__new_sem_wait_slow64.constprop.0"], "WAITING", "condition", False),
    (FUTEX, ["syscall", "std::sys::pal::unix::futex::futex_wait", "std::sys::sync::mutex::futex::Mutex::lock_contended"], "WAITING", "lock", False),
    (FUTEX, ["syscall", "std::sys::pal::unix::futex::futex_wait", "std::thread::park"], "WAITING", "condition", False),
    (FUTEX, ["parking_lot_core::thread_parker::imp::ThreadParker::futex_wait", "parking_lot::raw_mutex::RawMutex::lock_slow"], "WAITING", "lock", False),
    (FUTEX, ["runtime.futex", "runtime.futexsleep", "runtime.notesleep", "runtime.mPark", "runtime.stopm", "runtime.findRunnable"], "WAITING", "condition", True),
    (FUTEX, ["runtime.futex", "runtime.futexsleep", "runtime.lock2"], "WAITING", "lock", False),
    (FUTEX, ["___pthread_cond_wait", "Unsafe_Park", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park",
             "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire", "java.util.concurrent.locks.ReentrantLock$Sync.lock"], "WAITING", "lock", False),
    (FUTEX, ["Ljava/util/concurrent/locks/LockSupport;::park", "Ljava/util/concurrent/ThreadPoolExecutor;::getTask"], "WAITING", "condition", True),
    (FUTEX, ["__GI___lll_lock_wait", "___pthread_mutex_lock", "__pthread_mutex_cond_lock", "___pthread_cond_wait"], "WAITING", "lock", False),
    (FUTEX, ["take_gil"], "WAITING", "lock", False),
    (FUTEX, [], "WAITING", "lock or condition", False),
    (["__schedule", "schedule", "do_nanosleep", "hrtimer_nanosleep", "common_nsleep", "__x64_sys_clock_nanosleep", *SYSCALL],
     ["clock_nanosleep@GLIBC_2.2.5"], "WAITING", "sleep", False),
    (["__schedule", "schedule", "schedule_hrtimeout_range_clock", "do_epoll_wait", "__x64_sys_epoll_wait", *SYSCALL], ["epoll_wait"], "WAITING", "poll", True),
    (["__schedule", "schedule", "schedule_hrtimeout_range_clock", "poll_schedule_timeout.constprop.0", "do_select", "core_sys_select",
      "do_pselect.constprop.0", "__x64_sys_pselect6", *SYSCALL], ["__select"], "WAITING", "poll", False),
    (["__schedule", "schedule", "io_schedule", "bit_wait_io", "__wait_on_bit", "out_of_line_wait_on_bit", "__sync_dirty_buffer", "ext4_write_inode",
      "ext4_sync_file", "do_fsync", "__x64_sys_fsync", *SYSCALL], ["fsync"], "BLOCKED", "disk", False),
    (["__schedule", "schedule", "schedule_timeout", "io_schedule_timeout", "__iomap_dio_rw", "iomap_dio_rw", "ext4_file_read_iter", "vfs_read",
      "__x64_sys_pread64", *SYSCALL], ["__libc_pread"], "BLOCKED", "disk", False),
    (["__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "filemap_read_folio", "filemap_fault", "__do_fault", "do_fault", "__handle_mm_fault",
      "handle_mm_fault", "exc_page_fault", "asm_exc_page_fault"], [], "BLOCKED", "page fault", False),
    (["__schedule", "schedule", "schedule_preempt_disabled", "rwsem_down_read_slowpath", "down_read_killable", "lock_mm_and_find_vma", "exc_page_fault",
      "asm_exc_page_fault"], [], "BLOCKED", "lock", False),
    (["__schedule", "schedule", "schedule_timeout", "inet_csk_accept", "inet_accept", "do_accept", "__sys_accept4", "__x64_sys_accept", *SYSCALL],
     ["accept"], "WAITING", "network", True),
    (["__schedule", "schedule", "schedule_timeout", "wait_woken", "sk_wait_data", "tcp_recvmsg_locked", "tcp_recvmsg", "sock_recvmsg", "__sys_recvfrom",
      *SYSCALL], ["__libc_recv"], "WAITING", "network", False),
    (["__schedule", "schedule", "schedule_timeout", "unix_stream_read_generic", "unix_stream_recvmsg", "sock_recvmsg", *SYSCALL], ["__libc_recv"], "WAITING",
     "network", False),
    (["__schedule", "schedule", "anon_pipe_read", "vfs_read", "ksys_read", *SYSCALL], ["read"], "WAITING", "pipe", False),
    (["__schedule", "schedule", "do_wait", "kernel_wait4", *SYSCALL], ["__GI___wait4"], "WAITING", "child", False),
    (["__schedule", "schedule", "locks_lock_inode_wait", "__do_sys_flock", *SYSCALL], ["__GI___flock"], "WAITING", "lock", False),
    (["__schedule", "schedule", "do_signal_stop", "get_signal", *SYSCALL], [], "SUSPENDED", "stopped", False),
    (["__schedule", "schedule", "irqentry_exit_to_user_mode", "asm_sysvec_apic_timer_interrupt"], [], "RUN_QUEUE", "waiting for a CPU", False),
    # User stacks alone.
    ([], ["__lll_lock_wait", "pthread_mutex_lock"], "", "lock", False),
    ([], ["poll"], "", "poll", False),
    ([], ["sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock"], "", "lock", False),
    ([], ["runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1"], "", "condition", False),
    ([], ["__psynch_mutexwait", "_pthread_mutex_firstfit_lock_wait"], "", "lock", False),
]
KERNEL_THREADS = [
    (["__schedule", "schedule", "worker_thread", "kthread", "ret_from_fork", "ret_from_fork_asm"], "IDLE", True),
    (["__schedule", "schedule", "smpboot_thread_fn", "kthread", "ret_from_fork", "ret_from_fork_asm"], "WAITING", True),
    (["__schedule", "schedule", "io_schedule", "blk_mq_get_tag", "submit_bio_noacct", "process_one_work", "worker_thread", "kthread", "ret_from_fork"], "BLOCKED", False),
]


def spaa_file(path, stacks, counts=True):
    """SPAA of stacks: (kernel frames, library frames, own frames, thread, state, ns, waits, longest)."""
    frames, out = {}, []

    def frame(name, kind, dso):
        return frames.setdefault((name, kind, dso), len(frames) + 1)

    for i, (kernel, library, own, thread, state, ns, waits, longest) in enumerate(stacks):
        ids = [frame(f, "kernel", 1) for f in kernel] + [frame(f, "user", 2) for f in library] + [frame(f, "user", 3) for f in own]
        context = {"pid": 10, "tid": thread, "event": "off-cpu", "comm": f"t{thread}"}
        if state:
            context["x_state"] = state
        weights = [{"metric": "offcpu_ns", "value": ns, "unit": "ns"}]
        if counts:
            weights += [{"metric": "waits", "value": waits}, {"metric": "longest_ns", "value": longest, "unit": "ns"}]
        out.append({"type": "stack", "id": f"s{i}", "frames": ids, "context": context, "weights": weights})
    event = {"name": "off-cpu", "kind": "software", "sampling": {"mode": "event", "primary_metric": "offcpu_ns"}}
    lines = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root", "events": [event],
              "stack_id_mode": "local"}]
    lines += [{"type": "dso", "id": n, "name": name, "is_kernel": n == 1} for n, name in ((1, "[kernel.kallsyms]"), (2, "/usr/lib/libc.so.6"), (3, "/srv/app"))]
    lines += [{"type": "frame", "id": n, "func": name, "dso": dso, "kind": kind} for (name, kind, dso), n in frames.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines + out))
    return path


@pytest.mark.parametrize("kernel,library,state,reason,idle", STACKS)
def test_reasons_of_real_stacks(tmp_path, kernel, library, state, reason, idle):
    # A second wait in another place: nothing is idle for being all that a thread does.
    other = ([], ["work_of_other_kinds"], ["main"], 1, "", 5000, 1, 5000)
    path = spaa_file(tmp_path / "a.spaa", [(kernel, library, ["handle", "main"], 1, state, 4000, 2, 3000), other])
    rows = ask("waits", path, "--idle")["places"]
    mine = [r for r in rows if r["weight"] == 4000]
    assert [(r["reason"], r["idle"]) for r in mine] == [(reason, idle)]
    if reason != "waiting for a CPU":
        assert mine[0]["function"] == "handle"
    if library and reason != "waiting for a CPU":
        assert mine[0]["call"] == library[-1]


def test_a_worker_that_waits_in_a_library_is_not_without_work(tmp_path):
    """start_wqthread is the root of all workers of dispatch; without work they are in the kernel, or nowhere else."""
    root = ["_pthread_wqthread", "start_wqthread"]
    works = ([], ["semaphore_wait_trap", "_dispatch_sema4_wait", "_dispatch_client_callout", *root], [], 1, "", 4000, 2, 3000)
    parks = ([], ["__workq_kernreturn", *root], [], 2, "", 2000, 2, 1000)
    fresh = ([], root[1:], [], 3, "", 1000, 2, 1000)
    rows = ask("waits", spaa_file(tmp_path / "a.spaa", [works, parks, fresh]), "--idle")["places"]
    assert {r["weight"]: r["idle"] for r in rows} == {4000: False, 2000: True, 1000: True}


@pytest.mark.parametrize("kernel,state,idle", KERNEL_THREADS)
def test_threads_of_the_kernel_are_idle_in_their_loops(tmp_path, kernel, state, idle):
    path = spaa_file(tmp_path / "a.spaa", [(kernel, [], [], 1, state, 4000, 2, 3000)])
    a = ask("waits", path)
    assert (a["idle"], a["blocked"]) == ((4000, 0) if idle else (0, 4000))


COND = (FUTEX, ["___pthread_cond_wait"])


def test_a_condition_is_idle_in_the_loop_and_not_in_a_request(tmp_path):
    path = spaa_file(tmp_path / "a.spaa", [
        (*COND, ["take", "serve", "main"], 1, "WAITING", 600, 3, 300),
        (*COND, ["ask", "handle", "serve", "main"], 1, "WAITING", 300, 3, 100),
        (FUTEX, ["___pthread_mutex_lock"], ["handle", "serve", "main"], 1, "WAITING", 100, 1, 100),
    ])
    places = {(r["function"], r["idle"]) for r in ask("waits", path, "--idle")["places"]}
    assert places == {("take", True), ("ask", False), ("handle", False)}


def test_a_saturated_server_is_not_idle_in_its_requests(tmp_path):
    """It waits nearly all of its time in the middle of requests, and hardly for work."""
    path = spaa_file(tmp_path / "a.spaa", [
        (*COND, ["take", "serve", "main"], 1, "WAITING", 10, 3, 10),
        (*COND, ["ask", "handle", "serve", "main"], 1, "WAITING", 990, 3, 400),
    ])
    assert {(r["function"], r["idle"]) for r in ask("waits", path, "--idle")["places"]} == {("take", False), ("ask", False)}


def test_threads_of_a_pool_are_judged_as_one(tmp_path):
    rows = []
    for t in (1, 2, 3):
        rows.append((*COND, ["take", "serve"], t, "WAITING", 980 if t < 3 else 800, 3, 100))
        rows.append((FUTEX, ["___pthread_mutex_lock"], ["handle", "serve"], t, "WAITING", 20 if t < 3 else 200, 3, 100))
    assert ask("waits", spaa_file(tmp_path / "a.spaa", rows))["maybe_idle"] == 2760


def test_sleeps_set_the_pace_of_a_loop_or_delay_a_request(tmp_path):
    nap = ["__schedule", "schedule", "do_nanosleep", *SYSCALL], ["clock_nanosleep"]
    lock = FUTEX, ["___pthread_mutex_lock"]
    loop = spaa_file(tmp_path / "a.spaa", [(*nap, ["timer", "main"], 1, "WAITING", 800, 8, 100), (*lock, ["tick", "main"], 1, "WAITING", 200, 3, 100)])
    delay = spaa_file(tmp_path / "b.spaa", [(*nap, ["retry", "main"], 1, "WAITING", 200, 2, 100), (*lock, ["tick", "main"], 1, "WAITING", 800, 3, 300)])
    assert (ask("waits", loop)["idle"], ask("waits", loop)["maybe_idle"]) == (0, 800) # no wakings: somebody may wait for it
    assert ask("waits", delay)["idle"] == 0


def test_a_sleep_that_all_call_is_judged_by_who_does(tmp_path):
    """The loop's sleep sets its pace; the same one in the middle of its work does not."""
    nap = ["__schedule", "schedule", "do_nanosleep", *SYSCALL], ["clock_nanosleep"]
    path = spaa_file(tmp_path / "a.spaa", [(*nap, ["nap", "loop", "main"], 1, "WAITING", 800, 8, 100),
                                           (*nap, ["nap", "refresh", "loop", "main"], 1, "WAITING", 90, 3, 100)])
    answer = ask("waits", path)
    assert (answer["maybe_idle"], answer["blocked"]) == (800, 90)


@pytest.mark.parametrize("sure,marked", [(0, True), (10_000, True), (90_000, False)])
def test_a_likely_reason_is_marked_wherever_it_is_said(tmp_path, sure, marked):
    """A lock for readers waits as a condition does; where less than a twentieth is not told, the reason stands."""
    rows = [(FUTEX, ["__futex_abstimed_wait_common64"], [f, "serve", "main"], 1, "WAITING", 2000, 3, 900) for f in ("get", "put")]
    if sure:
        rows.append((FUTEX, ["__futex_abstimed_wait_common64", "___pthread_cond_wait"], ["ask", "reserve", "serve", "main"], 1, "WAITING", sure, 3, 900))
    path = spaa_file(tmp_path / "a.spaa", rows)
    (thread,) = ask("waits", path)["threads"]
    assert [(r["reason"], r["unsure"]) for r in thread["reasons"]] == [("condition", marked)]
    word = "condition?" if marked else "condition"
    (line,) = [line for line in run("waits", path).out.splitlines() if line.startswith("t1 (tid 1)")]
    assert f"  {word} " in line
    assert f"waited: {word} " in run("summary", path).out
    assert {r["unsure"] for r in ask("waits", path)["places"] if r["function"] in ("get", "put")} == {True}
    compared = {w["function"]: w["unsure"] for w in ask("diff", path, path, "-n", "0")["waits"]}
    assert compared.pop("ask", False) is False and compared == {"get": True, "put": True}
    assert "condition? in get" in unwrapped(run("diff", path, path).out)


def test_threads_that_sleep_once_each_have_no_pace(tmp_path):
    nap = ["__schedule", "schedule", "do_nanosleep", *SYSCALL], ["clock_nanosleep"]
    once = [(*nap, ["fetch"], tid, "WAITING", 500, 1, 500) for tid in (1, 2, 3)]
    answer = ask("waits", spaa_file(tmp_path / "a.spaa", once))
    assert (answer["idle"], answer["maybe_idle"], answer["blocked"]) == (0, 0, 1500)


def test_a_diff_counts_sleeps_that_are_only_likely_to_be_a_pace(tmp_path):
    """A thread that waits nowhere but in its requests looks as one that comes back to a sleep."""
    nap = ["__schedule", "schedule", "do_nanosleep", *SYSCALL], ["clock_nanosleep"]
    paths = [spaa_file(tmp_path / f"{n}.spaa", [(*nap, ["backoff", "handle", "serve"], 1, "WAITING", ns, 8, 100)]) for n, ns in (("a", 800), ("b", 4000))]
    assert ask("waits", paths[0])["maybe_idle"] == 800
    assert [(w["function"], w["base"], w["new"]) for w in ask("diff", *paths)["waits"]] == [("backoff", 800, 4000)]


def test_a_sleep_deep_in_a_request_is_not_idle_though_it_is_most(tmp_path):
    nap = ["__schedule", "schedule", "do_nanosleep", *SYSCALL], ["clock_nanosleep"]
    read = ["__schedule", "schedule", "pipe_read", *SYSCALL], ["read"]
    path = spaa_file(tmp_path / "a.spaa", [(*nap, ["retry", "handle", "serve"], 1, "WAITING", 800, 8, 100),
                                           (*read, ["serve"], 1, "WAITING", 200, 3, 100)])
    assert ask("waits", path)["idle"] == 0


def test_sums_alone_say_what_they_do_not_know(tmp_path):
    path = spaa_file(tmp_path / "a.spaa", [(FUTEX, ["___pthread_mutex_lock"], ["handle"], 1, "WAITING", 3_000_000_000, 3, 2_000_000_000)])
    a = ask("waits", path)
    assert (a["duration"], a["running"], a["intervals"]) == (None, None, False)
    (row,) = a["places"]
    assert (row["count"], row["mean"], row["longest"], row["p99"], row["open"]) == (3, 1_000_000_000, 2_000_000_000, None, None)
    text = unwrapped(run("waits", path).out)
    assert "3.00 s blocked" in text and "no single waits" in text and "on CPUs" not in text
    path = spaa_file(tmp_path / "b.spaa", [(FUTEX, ["___pthread_mutex_lock"], ["handle"], 1, "WAITING", 3000, 3, 2000)], counts=False)
    (row,) = ask("waits", path)["places"]
    assert (row["count"], row["mean"], row["longest"]) == (None, None, None)


# ---- a recording ----


def records():
    return [json.loads(line) for line in subprocess.run(["zstd", "-dc", SHOP], check=True, capture_output=True, text=True).stdout.splitlines()]


@pytest.fixture(scope="module")
def walk():
    """Waits of the shop's threads, by their own function: from leaving the CPU to waking, from the samples."""
    all_records = records()
    frames = {r["id"]: r["func"] for r in all_records if r["type"] == "frame"}
    stacks = {r["id"]: [frames[f] for f in r["frames"]] for r in all_records if r["type"] == "stack"}
    left, waits = {}, collections.defaultdict(list)
    for r in sorted((r for r in all_records if r["type"] == "sample"), key=lambda r: r["timestamp"]):
        f, t = r["context"]["trace_fields"], r["timestamp"]
        if r["event"] == "sched:sched_waking":
            if f["pid"] in left and left[f["pid"]]:
                start, stack, comm = left.pop(f["pid"])
                waits[comm].append((t - start, stack))
        elif f["prev_state"] in (1, 2):
            left[f["prev_pid"]] = (t, stacks[r["stack_id"]], f["prev_comm"])
    return waits


def summed(walk, comm, function, call):
    """Who is woken from a condition may have to wait for its lock again, which is another wait."""
    mine = [ns for name, v in walk.items() if name.startswith(comm) for ns, stack in v
            if function in stack and call in " ".join(stack) and not ("cond" in call and "lock_wait" in " ".join(stack))]
    return len(mine), sum(mine), max(mine)


@pytest.mark.parametrize("comm,function,call,reason,idle", [
    ("http-", "reserve_stock", "mutex_lock", "lock", False),
    ("http-", "ask_prices", "cond_wait", "condition", False),
    ("http-", "take_request", "cond_wait", "condition", True),
    ("prices", "price_loop", "nanosleep", "sleep", True),
    ("journal", "write_journal", "fsync", "disk", False),
    ("logs", "rotate_logs", "wait4", "child", False),
    ("follow", "follow_pipe", "read", "pipe", False),
    ("accepter", "accept_loop", "epoll_wait", "poll", True),
])
def test_a_server_with_known_waits(walk, comm, function, call, reason, idle):
    n, total, longest = summed(walk, comm, function, call)
    rows = [r for r in ask("waits", SHOP, "--idle")["places"]
            if r["waiter"].startswith(comm) and r["reason"] == reason and (r["function"] == function or function == "price_loop" and r["function"] == "nap")]
    assert {r["idle"] for r in rows} == {idle}
    assert sum(r["weight"] for r in rows) / 1e9 == pytest.approx(total, rel=0.01, abs=1e-4)
    assert max(r["longest"] for r in rows) / 1e9 == pytest.approx(longest, rel=0.001, abs=1e-6)
    assert sum(r["count"] for r in rows) == pytest.approx(n, abs=2)


def test_the_answer_is_short_and_says_the_idle_total():
    text = run("waits", SHOP).out
    assert len(text) <= 2600 and len(text.splitlines()) <= 25
    assert "idle (not below: --idle)" in unwrapped(text)
    assert "take_request" not in text and "ask_prices" in run("waits", SHOP, "-n", "0").out
    assert "take_request" in run("waits", SHOP, "--idle", "-n", "0").out


def test_ranks_are_of_the_waits_that_were_seen(walk):
    (row,) = [r for r in ask("waits", SHOP)["places"] if r["function"] == "follow_pipe"]
    waits = sorted(ns for ns, stack in walk["follow"] if "follow_pipe" in stack)
    assert row["median"] / 1e9 == pytest.approx(waits[(len(waits) + 1) // 2 - 1], abs=1e-6)
    assert row["p99"] == row["longest"]
    assert row["mean"] == row["weight"] // row["count"]


def test_filters_of_threads_time_and_stacks():
    all_of = ask("waits", SHOP)
    mine = ask("waits", SHOP, "--comm", "http-*")
    assert [t["pool"] for t in mine["threads"]] == ["http-*"] and mine["threads_seen"] == 4
    assert mine["blocked"] == next(t["blocked"] for t in all_of["threads"] if t["pool"] == "http-*")
    half = ask("waits", SHOP, "--comm", "http-*", "--time", "0..0.15"), ask("waits", SHOP, "--comm", "http-*", "--time", "0.15..9")
    for k in ("running", "runnable", "blocked", "idle", "unseen"):
        assert half[0][k] + half[1][k] == mine[k]
    lock = ask("waits", SHOP, "--focus", "reserve_stock")
    assert lock["running"] is None
    assert {r["reason"] for r in lock["places"]} == {"lock", "waiting for a CPU"}


def test_profiles_of_contention_say_who_waited_and_whom_others_waited_for():
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures", "pprof")
    block, mutex = (unwrapped(run("waits", os.path.join(folder, f"go.{k}.pb.gz")).out) for k in ("block", "mutex"))
    assert block.startswith("Threads are not told apart: 808 ms blocked") and "tid" not in block
    assert mutex.startswith("Threads are not told apart: others were held up for 754 ms") and "held up others for" in mutex
    rows = ask("waits", os.path.join(folder, "go.block.pb.gz"))
    assert rows["threads_seen"] is None
    assert [(r["count"], r["mean"] is None) for r in rows["places"]] == [(38, False), (5, False), (1, False)]


def test_of_neither_kind_the_error_names_recordings(tmp_path):
    (tmp_path / "a.folded").write_text("main;work 3\nmain;rest 4\n")
    r = run("waits", tmp_path / "a.folded", code=2)
    for word in ("sched:sched_switch,sched:sched_waking", "offcputime", "goroutine?debug=2", "spindump"):
        assert word in unwrapped(r.err)

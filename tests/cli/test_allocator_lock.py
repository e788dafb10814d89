"""Waiting for an allocator's lock is a reason of its own, and is not read into what waits for something else."""

import os

import pytest

from conftest import ask, run
from test_waits_off_cpu import FUTEX, SYSCALL, spaa_file

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allocator_lock")
MUTEX = ["__lll_lock_wait", "___pthread_mutex_lock"]
SWITCH = ["__schedule", "schedule"]

# Kernel and library frames, leaf first, and the reason.
STACKS = [
    (FUTEX, ["futex_wait", "__GI___lll_lock_wait_private", "__GI___libc_malloc"], "allocator lock"),
    (FUTEX, ["__lll_lock_wait_private", "_int_free", "cfree@GLIBC_2.2.5"], "allocator lock"),
    (FUTEX, ["__lll_lock_wait_private", "arena_get_retry", "__libc_calloc"], "allocator lock"),
    (FUTEX, ["__lll_lock_wait_private", "malloc", "operator new(unsigned long)"], "allocator lock"),
    (FUTEX, ["__lll_lock_wait_private", "calloc", "_dl_allocate_tls", "pthread_create@@GLIBC_2.34"], "allocator lock"),
    (FUTEX, [*MUTEX, "je_malloc_mutex_lock_slow", "je_arena_tcache_fill_small", "malloc"], "allocator lock"),
    (FUTEX, [*MUTEX, "_rjem_je_malloc_mutex_lock_slow", "_rjem_malloc"], "allocator lock"),
    (FUTEX, ["syscall", "tcmalloc::CentralFreeList::RemoveRange(void**, void**, int)", "tc_malloc"], "allocator lock"),
    ([], ["__lll_lock_wait_private", "malloc"], "allocator lock"),
    # Other locks, other waits.
    (FUTEX, MUTEX, "lock"),
    (FUTEX, [*MUTEX, "std::mutex::lock()"], "lock"),
    ([*SWITCH, "rwsem_down_write_slowpath", "down_write_killable", "__do_sys_brk", *SYSCALL], ["brk", "sbrk", "sysmalloc", "malloc"], "lock"),
    ([*SWITCH, "rwsem_down_read_slowpath", "exc_page_fault", "asm_exc_page_fault"], ["_int_malloc", "malloc"], "lock"),
    ([*SWITCH, "io_schedule", "do_swap_page", "handle_mm_fault", "exc_page_fault"], ["_int_malloc", "malloc"], "page fault"),
    (FUTEX, ["__futex_abstimed_wait_common", "___pthread_cond_timedwait", "background_thread_entry"], "condition"),
    (FUTEX, ["__futex_abstimed_wait_common", "___pthread_cond_timedwait", "je_background_thread_create"], "condition"),
    ([], ["malloc"], "other"),
    (FUTEX, [], "lock or condition"),
]


@pytest.mark.parametrize("kernel,library,reason", STACKS)
def test_reasons(tmp_path, kernel, library, reason):
    other = ([], ["work_of_other_kinds"], ["main"], 1, "", 5000, 1, 5000)
    path = spaa_file(tmp_path / "a.spaa", [(kernel, library, ["handle", "main"], 1, "WAITING", 4000, 2, 3000), other])
    mine = [r for r in ask("waits", path, "--idle")["places"] if r["weight"] == 4000]
    assert [(r["reason"], r["function"]) for r in mine] == [(reason, "handle")]


def test_a_programs_own_function_is_not_taken_for_an_allocator(tmp_path):
    """Its own `tc_dispatch` is no tcmalloc."""
    path = spaa_file(tmp_path / "a.spaa", [(FUTEX, MUTEX, ["tc_dispatch", "main"], 1, "WAITING", 4000, 2, 3000)])
    assert [r["reason"] for r in ask("waits", path, "--idle")["places"]] == ["lock"]


def reasons(name):
    by = {}
    for thread in ask("waits", os.path.join(HERE, name))["threads"]:
        for r in thread["reasons"]:
            by[r["reason"]] = by.get(r["reason"], 0) + r["weight"]
    return by


def test_one_arena_is_found():
    by = reasons("one.spaa.zst")
    blocked = sum(w for r, w in by.items() if r != "waiting for a CPU")
    assert by["allocator lock"] > 1_200_000_000 and by["allocator lock"] == blocked
    out = run("waits", os.path.join(HERE, "one.spaa.zst"), code=0).out
    assert "handle_request pool.c:13 > malloc" in out and "worker (8)" in out


def test_an_arena_for_each_thread_is_not_accused():
    assert "allocator lock" not in reasons("many.spaa.zst")


def findings(path):
    return {f["title"]: f for f in ask("summary", path)["findings"]}


def cpu(path, *stacks):
    """CPU samples as folded stacks, root first."""
    path.write_text("".join("%s %d\n" % (";".join(s), n) for s, n in stacks))
    return path


WORK = (["main", "handle", "compute"], 6000)
ALLOCATE = ["main", "handle", "malloc"]


def test_a_profile_of_the_cpu_names_the_allocators_lock(tmp_path):
    path = cpu(tmp_path / "a.folded", WORK, (ALLOCATE + ["__lll_lock_wait_private", "futex_wait"], 3000))
    assert "ALLOCATOR LOCK CONTENTION" in findings(path) and "LOCK CONTENTION" not in findings(path)


def test_jemallocs_locks_are_the_allocators(tmp_path):
    path = cpu(tmp_path / "a.folded", WORK, (ALLOCATE + ["je_malloc_mutex_lock_slow", "pthread_mutex_trylock"], 3000))
    assert "ALLOCATOR LOCK CONTENTION" in findings(path)


def test_other_locks_are_not(tmp_path):
    path = cpu(tmp_path / "a.folded", WORK, (["main", "handle", "pthread_mutex_lock", "__lll_lock_wait"], 3000))
    assert "LOCK CONTENTION" in findings(path)


def test_allocating_without_its_lock_is_not(tmp_path):
    path = cpu(tmp_path / "a.folded", WORK, (ALLOCATE + ["_int_malloc"], 3000))
    assert not [t for t in findings(path) if "LOCK" in t]


def test_heaps_of_threads_are_told_apart():
    heap = os.path.join(os.path.dirname(os.path.dirname(HERE)), "fixtures", "jemalloc", "threads.heap")
    for metric in ("live_bytes", "live_count"):
        found = ask("top", heap, "--by", "thread", "--metric", metric, "-n", "0")
        assert len(found["rows"]) == 3 and sum(r["self"] for r in found["rows"]) == found["whole"]

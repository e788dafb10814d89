"""Waits of a recording of switches that was converted without its samples, or merged: what SPAA keeps of bounds."""

import pytest

from conftest import ask, run, unwrapped
from test_waits_wakers import sleeps


def switch(ms, cpu, prev, state, following, stack=("work",)):
    (comm, tid), (next_comm, next_tid) = prev, following
    frames = "".join(f"\t{4096 + 16 * i:x} {f}+0x1 (/bin/spin)\n" for i, f in enumerate(stack))
    return (f"{comm} 7/{tid} [{cpu:03}] {10 + ms / 1000:.6f}: 1 sched:sched_switch: prev_comm={comm} prev_pid={tid} prev_prio=120 "
            f"prev_state={state} ==> next_comm={next_comm} next_pid={next_tid} next_prio=120\n{frames}\n")


IDLE = ("swapper", 0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """11 renames itself, and waits until the end of the recording; a wait of 12 ends."""
    lock = ("futex_wait", "__lll_lock_wait", "take", "main")
    lines = [switch(0, 0, IDLE, "R", ("bash", 11)), switch(0, 1, IDLE, "R", ("b", 12)), switch(10, 0, ("bash", 11), "S", IDLE, lock),
             switch(20, 0, IDLE, "R", ("gcc", 11)), switch(30, 1, ("b", 12), "S", IDLE, lock), switch(50, 1, IDLE, "R", ("b", 12)),
             switch(60, 0, ("gcc", 11), "S", IDLE, lock), switch(100, 1, ("b", 12), "R", IDLE)]
    folder = tmp_path_factory.mktemp("kept")
    path, kept, twice = folder / "a.txt", folder / "a.spaa", folder / "twice.spaa"
    path.write_text("".join(lines))
    run("convert", path, "-o", kept, code=0)
    run("merge", kept, kept, "-o", twice, code=0)
    return path, kept, twice


def bounds(answer):
    out = {}
    for place in answer["places"]:
        key = place["waiter"].split(" ")[-1], place["reason"]
        out[key] = out.get(key, False) or place["at_least"]
    return out


def test_bounds_and_threads_are_kept(files):
    path, kept, _ = files
    recorded, sums = (ask("waits", f, "--no-pool", "-n", "0", "--idle") for f in (path, kept))
    assert recorded["threads_seen"] == sums["threads_seen"] == ask("waits", kept)["threads_seen"] == 2
    assert bounds(sums) == bounds(recorded) and True in bounds(sums).values() and False in bounds(sums).values()
    assert sums["whole"] == recorded["whole"]


def test_merged_files_have_them_too(files):
    twice = ask("waits", files[2], "--no-pool", "-n", "0", "--idle")
    assert True in bounds(twice).values() and twice["threads_seen"] == 2


@pytest.mark.parametrize("asks", [True, False])
def test_a_sleep_is_no_surer_to_be_idle_without_the_wakings(tmp_path, asks):
    """With them it is not where a client waits for its end, which sums do not know."""
    path = sleeps(tmp_path, asks)[1]
    kept, full = tmp_path / "kept.spaa", tmp_path / "full.spaa"
    run("convert", path, "-o", kept, code=0)
    run("convert", path, "--samples", "-o", full, code=0)
    recorded, sums, whole = ([(r["idle"], r["idle_unsure"]) for r in ask("waits", f, "--idle", "-n", "0")["places"]
                              if r["waiter"].startswith("server") and r["reason"] == "sleep"] for f in (path, kept, full))
    assert recorded == whole == [(not asks, False)] and sums == [(True, True)]
    assert ask("waits", kept)["idle"] <= ask("waits", path)["idle"]


def test_what_is_not_kept_is_said(files):
    text = unwrapped(run("waits", files[1], code=0).out)
    assert "nor which of them ended with their process alone" in text and "spaa convert --samples keeps all that" in text

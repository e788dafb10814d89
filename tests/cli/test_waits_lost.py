"""Where the recorder lost events: what can be shown of waits is a bound, and the sums of all answers agree."""

import os
import sys

import pytest

from conftest import ROOT, ask, run, unwrapped

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import perf_data_files as files  # noqa: E402
from test_intervals_records import AT, Recording  # noqa: E402

US = 1000


class Lossy(Recording):
    def lost(self, at, n=3):
        return self.record(files.LOST, 0, self.pack("QQ", 100, n), self.trailer(100, 9, AT + US * at))

    def at(self, folder):
        path = folder / "lost.data"
        path.write_bytes(self.bytes())
        return path


class LossyText:
    """What `perf script --show-switch-events --show-lost-events` prints of the same."""

    def __init__(self, wide=""):
        self.wide = wide
        self.lines = ["# comm tid"]

    def line(self, at, tid, text):
        name = f"t{tid}" if tid else "swapper"
        pid = 100 if tid else 0
        self.lines.append(f"{name:>16} {pid:>5}/{tid:<5} [000] {(AT + US * at) // 10**9:>5}.{(AT + US * at) % 10**9:09}: {text}")
        return self

    def goes(self, at, tid, preempted=False):
        text = ("OUT preempt" if preempted else "OUT        ") + ("  next pid/tid:   100/8    " if self.wide else "")
        return self.line(at, tid, f"PERF_RECORD_SWITCH{self.wide} {text}")

    def comes(self, at, tid):
        text = "IN         " + ("  prev pid/tid:   100/8    " if self.wide else "")
        return self.line(at, tid, f"PERF_RECORD_SWITCH{self.wide} {text}")

    def lost(self, at, n=3):
        return self.line(at, 9, f"PERF_RECORD_LOST lost {n}")

    def at(self, folder):
        path = folder / "lost.perf-script"
        path.write_text("\n".join(self.lines) + "\n")
        return path


@pytest.fixture(scope="module", params=["perf.data", "text", "text of all CPUs"])
def ended(tmp_path_factory, request):
    """
    7 is put off the CPU at 100 and not seen again; 8 is off it from 200 to 300. After 200 events are lost, until
    there is room again at 250.
    """
    r = {"perf.data": Lossy, "text": LossyText, "text of all CPUs": lambda: LossyText("_CPU_WIDE")}[request.param]()
    r.goes(0, 0).comes(0, 7).goes(100, 7, preempted=True).comes(100, 8).goes(200, 8, preempted=True).comes(200, 9)
    r.lost(250).goes(300, 9).comes(300, 8).goes(900, 8).comes(900, 0)
    return r.at(tmp_path_factory.mktemp("lost"))


def per_thread(path):
    waits = {row["tid"]: row for row in ask("waits", path, "--no-pool", "-n", "0")["threads"]}
    sched = {row["tid"]: row for row in ask("sched", path, "--no-pool", "-n", "0")["rows"]}
    for tid, s in sched.items():
        assert (waits[tid]["running"], waits[tid]["runnable"], waits[tid]["unknown"]) == (s["run_ns"], s["preempted_ns"], s["unknown_ns"])
    return waits, sched


def test_a_thread_that_is_not_seen_again_after_a_loss_did_not_wait_on_for_certain(ended):
    waits, sched = per_thread(ended)
    assert (waits[7]["runnable"], waits[7]["unknown"]) == (100 * US, 700 * US)
    assert (sched[7]["delay_max_ns"], sched[7]["delay_max_cut"]) == (100 * US, True)
    text = unwrapped(run("waits", ended, code=0).out)
    assert "running, waiting or ended: not recorded which, events were lost" in text
    assert "at most" not in text  # waits that began unseen may be of any row
    assert " us running, waiting or ended: not recorded which, events were lost" in unwrapped(run("summary", ended, "--event", "off-cpu", code=0).out)


def test_a_wait_that_is_seen_to_end_is_certain_until_events_were_lost(ended):
    """8 may have come back, slept and been woken again: that it waited for a CPU until 300 is not certain."""
    waits, sched = per_thread(ended)
    assert (waits[8]["runnable"], waits[8]["unknown"]) == (0, 100 * US)
    assert sched[8]["delay_max_ns"] is None


def test_the_parts_add_up(ended):
    waits = ask("waits", ended)
    assert sum(waits[part] for part in ("runnable", "blocked", "idle", "maybe_idle", "unseen")) == waits["whole"]


def test_the_longest_is_a_bound_where_another_may_be_longer(tmp_path):
    """7 waits 40 us for the CPU, and 50 us, of which 20 are certain."""
    r = Lossy().goes(0, 0).comes(0, 7).goes(10, 7, preempted=True).comes(10, 8).goes(50, 8).comes(50, 7)
    r.goes(60, 7, preempted=True).comes(60, 9).goes(80, 9).comes(80, 8).lost(100).goes(110, 8).comes(110, 7).goes(900, 7).comes(900, 0)
    path = r.at(tmp_path)
    (place,) = ask("waits", path, "--thread", "7", "--no-pool", "-n", "0")["places"]
    assert (place["weight"], place["unknown"], place["longest"], place["longest_at_least"]) == (60 * US, 30 * US, 40 * US, True)
    (row,) = ask("sched", path, "--thread", "7", "--no-pool", "-n", "0")["rows"]
    assert (row["delay_max_ns"], row["delay_max_cut"]) == (40 * US, True)
    assert "≥ 60" in run("sched", path, "--thread", "7", "--no-pool", code=0).out


def test_one_that_is_seen_after_the_record_of_its_exit_is_the_same_thread(tmp_path):
    """That 7 was put off the CPU while it exited was lost; it comes back to go for good."""
    r = Lossy().goes(0, 0).comes(0, 7).exits(90, 7).lost(95).lost(150).goes(200, 8).comes(200, 7).goes(300, 7).comes(300, 0).goes(900, 0)
    path = r.at(tmp_path)
    waits = ask("waits", path, "--no-pool", "-n", "0")
    assert [t["tid"] for t in waits["threads"]].count(7) == 1 and None not in [t["tid"] for t in waits["threads"]]
    assert sum(waits[part] for part in ("runnable", "blocked", "idle", "maybe_idle", "unseen")) == waits["whole"] > 0


def test_views_have_the_bounds_of_waits(ended):
    """7 waits on or ended; the whole of time off the CPU is a bound in every answer."""
    waits = {p["reason"]: p["at_least"] for p in ask("waits", ended, "-n", "0", "--idle")["places"]}
    assert waits["waiting for a CPU"]
    diff = ask("diff", ended, ended, "--event", "off-cpu", "--view", "all")
    assert {(w["reason"], w["base_at_least"], w["new_at_least"]) for w in diff["waits"] if w["reason"] == "for a CPU"} == {("for a CPU", True, True)}
    text = unwrapped(run("diff", ended, ended, "--event", "off-cpu", "--view", "all", code=0).out)
    assert "the whole of both sides is at least this" in text and "for a CPU ≥ 100 us → ≥ 100 us" in text
    for command in ("timeline", "top", "tree"):
        assert ask(command, ended, "--event", "off-cpu")["whole_at_least"] is True
        assert ", whole ≥ 1 ms" in unwrapped(run(command, ended, "--event", "off-cpu", code=0).out)


def test_losses_of_a_text_of_scheduler_events(tmp_path):
    """7 waits from 100 to 500; events are lost from 200 to 250: it may have run since, and waited for something else."""
    switch = "sched:sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120"
    lines = LossyText().line(100, 7, switch % ("t7", 7, "S", "t8", 8)).line(200, 8, switch % ("t8", 8, "S", "t9", 9))
    path = lines.lost(250).line(500, 9, switch % ("t9", 9, "S", "t7", 7)).line(900, 7, switch % ("t7", 7, "S", "t8", 8)).at(tmp_path)
    (row,) = [r for r in ask("waits", path, "--no-pool", "--idle", "-n", "0")["threads"] if r["tid"] == 7]
    assert (row["blocked"], row["unknown"]) == (100 * US, 300 * US)
    kept = tmp_path / "kept.spaa"
    run("convert", path, "--samples", "-o", kept, code=0)
    (row,) = [r for r in ask("waits", kept, "--no-pool", "--idle", "-n", "0")["threads"] if r["tid"] == 7]
    assert (row["blocked"], row["unknown"]) == (100 * US, 300 * US)


def test_losses_of_a_text_without_switches_are_counted_alone(tmp_path):
    path = LossyText().line(100, 7, "1 cycles: \n\t 1234 f+0x4 (/bin/x)\n").lost(250, 5).at(tmp_path)
    info = ask("info", path)
    assert info["quality"]["lost"] == 5
    assert [e["name"] for e in info["events"]] == ["cycles"]


def test_a_loss_that_is_told_at_the_time_of_the_next_event_was_before_it(tmp_path):
    """The record of the loss stands before the event for which there was room again, with its time."""
    r = Lossy().goes(0, 0).comes(0, 7).goes(100, 7, preempted=True).comes(100, 8).lost(300).goes(300, 8).comes(300, 7).goes(900, 7).comes(900, 0)
    waits, sched = per_thread(r.at(tmp_path))
    assert (waits[7]["runnable"], waits[7]["unknown"]) == (0, 200 * US)


def test_before_a_thread_was_first_seen_it_need_not_have_been_there(tmp_path):
    """Without stacks, too, and where nothing says when threads began."""
    switch = "sched:sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120"
    lines = LossyText().line(100, 7, switch % ("t7", 7, "S", "t8", 8)).line(500, 8, switch % ("t8", 8, "S", "t9", 9))
    path = lines.line(600, 9, switch % ("t9", 9, "S", "t8", 8)).line(900, 8, switch % ("t8", 8, "S", "swapper", 0)).at(tmp_path)
    (row,) = [r for r in ask("waits", path, "--no-pool", "--idle", "-n", "0")["threads"] if r["tid"] == 9]
    assert (row["blocked"], row["unseen"]) == (300 * US, 400 * US)

"""Intervals of PERF_RECORD_SWITCH_CPU_WIDE, alone and beside sched_switch, in perf.data files made by hand."""

import json

import pytest

import perf_data_files as files
from conftest import ask, run
from perf_data_files import CPU, ID, IDENTIFIER, RAW, TID, TIME

SWITCH_CPU_WIDE, THREAD_MAP, OUT, PREEMPTED = 15, 73, 1 << 13, 1 << 14
S, X = 1, 16  # prev_state
AT = 10_000_000_000  # times below are microseconds after it


class Recording(files.Recording):
    """Of one CPU. `both`: sched_switch is recorded, too; `whom`: of a process, -1: of all threads."""

    def __init__(self, both=False, whom=-1):
        super().__init__([(2, 315, RAW | TID | TIME | CPU | ID | IDENTIFIER, {})] if both else [(1, 0, TID | TIME | CPU | ID | IDENTIFIER, {})])
        self.describe([b"sched:sched_switch" if both else b"dummy:u"])
        if both:
            self.features[1] = self.formats()
        self.record(THREAD_MAP, 0, self.pack("Qq", 1, whom) + bytes(16))  # all threads
        for tid in (7, 8, 9):
            self.comm(100, tid, b"t%d" % tid)

    def formats(self):
        head, tail = files.switches(formats=True).features[1].split(self.pack("Q", len(files.SWITCH)) + files.SWITCH)
        ours = files.SWITCH.replace(b"\nprint fmt", b"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\nprint fmt")
        return head + self.pack("Q", len(ours)) + ours + tail

    def record(self, kind, misc, body, trailer=b""):
        super().record(kind, misc, body, trailer)
        return self

    def goes(self, at, tid, preempted=False, pid=100):
        misc = OUT | (PREEMPTED if preempted else 0)
        return self.record(SWITCH_CPU_WIDE, misc, self.pack("ii", -1, -1), self.trailer(pid if tid else 0, tid, AT + 1000 * at))

    def comes(self, at, tid, pid=100):
        return self.record(SWITCH_CPU_WIDE, 0, self.pack("ii", -1, -1), self.trailer(pid if tid else 0, tid, AT + 1000 * at))

    def exits(self, at, tid):
        time = AT + 1000 * at
        return self.record(files.EXIT, 0, self.pack("iiiiQ", 100, 100, tid, 100, time), self.trailer(100, tid, time))

    def switch(self, at, tid, state, following):
        raw = self.pack("HBBi", 315, 0, 0, tid) + self.pack("16siiq16sii", b"t%d" % tid, tid, 120, state, b"t%d" % following, following, 120)
        self.sample(ip=0, pid=100, tid=-1 if state == X else tid, time=AT + 1000 * at, raw=raw)
        return self

    def rows(self, tmp_path, *tids):
        path = tmp_path / "x.data"
        path.write_bytes(self.bytes())
        sql = f"""SELECT state, (start_time - {AT}) / 1000, (end_time - {AT}) / 1000, before, open, at_most, unsure FROM intervals
                  WHERE tid IN ({','.join(map(str, tids))}) ORDER BY start_time, end_time"""
        answer = json.loads(run("query", path, "--json", "-n", "0", sql, code=0).out)
        self.said = " ".join(d["message"] for d in answer["diagnostics"])
        return [(r[0], r[1], r[2], *[n for n, x in zip(("before", "open", "at_most", "unsure"), r[3:]) if x]) for r in answer["rows"]]


def test_one_that_exits_has_no_tid_where_it_leaves(tmp_path):
    r = Recording().goes(0, 0).comes(1, 7).exits(90, 7).goes(100, -1).comes(101, 8).goes(300, 8).comes(301, 0)
    r.goes(900, 0)
    assert ("running", 1, 100) in r.rows(tmp_path, 7)
    assert r.rows(tmp_path, 8)[-2:] == [("running", 101, 300), ("blocked", 300, 900, "open")]
    assert r.rows(tmp_path, -1) == []


def test_a_thread_is_gone_when_another_comes(tmp_path):
    """That 7 leaves is missing."""
    r = Recording().goes(0, 0).comes(1, 7).comes(101, 8).goes(300, 8).comes(301, 0).goes(900, 0)
    running = [x for x in r.rows(tmp_path, 7) if x[0] == "running"]
    assert running == [("running", 1, 101, "at_most", "unsure")]


def test_threads_that_are_never_recorded_to_leave_are_no_contradiction(tmp_path):
    r = Recording().goes(0, 0).comes(1, 7).comes(101, 8).goes(200, 8).comes(200, 7).comes(300, 8).goes(400, 8).comes(400, 0)
    assert [x for x in r.rows(tmp_path, 7) if x[0] == "running"] == [("running", 1, 101, "at_most", "unsure"), ("running", 200, 300, "at_most", "unsure")]
    assert "never recorded to leave a CPU: 1 (2 times)" in r.said and "contradict" not in r.said


def test_an_idle_task_is_gone_when_another_comes(tmp_path):
    """That it leaves is missing: the CPU was idle until then, and nothing contradicts that."""
    r = Recording().goes(0, 0).comes(1, 7).goes(100, 7).comes(100, 0).comes(300, 7).goes(400, 7).comes(401, 0).goes(900, 0)
    assert ("running", 100, 300) in r.rows(tmp_path, 0)
    assert ("running", 300, 400) in r.rows(tmp_path, 7)
    assert "contradict" not in r.said


@pytest.mark.parametrize("gone", [True, False])
def test_both_kinds_of_events_tell_of_one_cpu(tmp_path, gone):
    """Idle is left unseen by sched_switch; 7 exits, of which both tell; 8 that follows stays, although it exits, too."""
    r = Recording(both=True).switch(0, 7, S, 0).goes(1, 7).comes(1, 0)
    r = r.goes(100, 0) if gone else r
    r.comes(101, 7).exits(150, 8).exits(190, 7).switch(200, 7, X, 8).goes(201, -1).comes(201, -1).switch(300, 8, X, 9)
    r.goes(301, -1).comes(301, 9).switch(400, 9, S, 0).goes(401, 9).comes(401, 0)
    assert [x for x in r.rows(tmp_path, 7) if x[1] >= 100] == [("running", 101, 200)]
    assert ("running", 200, 300) in r.rows(tmp_path, 8)
    assert ("running", 300, 400) in r.rows(tmp_path, 9)
    assert "contradict" not in r.said


@pytest.mark.parametrize("late", [2, 15, 4000])
@pytest.mark.parametrize("whom", [-1, 100])
def test_the_record_of_a_switch_that_comes_late_is_no_return(tmp_path, late, whom):
    """Of both the wait lasts to the end of the recording: each coming would have been recorded, also of one process."""
    r = Recording(both=True, whom=whom).switch(0, 7, S, 8).goes(1, 7).comes(2, 8).switch(100, 8, S, 7).goes(101, 8).comes(102, 7)
    r.switch(200, 7, S, 9).goes(200 + late, 7).comes(201 + late, 9).switch(9000, 9, S, 8).goes(9001, 9).comes(9002, 8)
    assert r.rows(tmp_path, 7)[-1] == ("blocked", 200, 9002, "open")
    assert "contradict" not in r.said


@pytest.mark.parametrize("late", [2, 15])
def test_a_record_of_a_switch_without_a_cpu_is_no_return(tmp_path, late):
    """perf record -p with a second event: the records have the fields of that one, without the CPU."""
    r = Recording(both=True, whom=100)
    r.switch(0, 7, S, 8).comes(100, 7).switch(200, 7, S, 9)
    whole = r.trailer
    r.trailer = lambda *of: whole(*of)[:24] + b"\xff" * 4 + whole(*of)[28:]  # as if it had no CPU
    r.goes(200 + late, 7)
    r.trailer = whole
    r.comes(300, 8).switch(9000, 8, S, 9)
    assert r.rows(tmp_path, 7)[-1] == ("blocked", 200, 9000, "open")


def test_a_return_that_only_its_next_leaving_tells_of_ends_the_wait(tmp_path):
    r = Recording(both=True).switch(0, 7, S, 8).goes(40, 7).comes(41, 8).goes(1000, 7).comes(1001, 9)
    assert r.rows(tmp_path, 7)[-1][:3] != ("blocked", 0, 1001)


def test_what_a_thread_did_before_it_came_is_not_known(tmp_path):
    r = Recording().goes(0, 0).comes(1, 7).goes(100, 7).comes(101, 8).goes(300, 8).comes(301, 0)
    assert r.rows(tmp_path, 8)[0] == ("blocked", 0, 101, "before")


@pytest.mark.parametrize("events", [(), ("in",)])
def test_one_that_is_new_waits_for_a_cpu_only_where_all_is_recorded(tmp_path, events):
    """Forked before the first event of its CPU it may have run, and waited, unseen."""
    r = Recording()
    if events:
        r.goes(0, 0).comes(1, 7)
    r.fork(100, 100, 9, 7, AT + 50_000)
    if not events:
        r.goes(60, 0).comes(61, 7)
    r.goes(200, 7).comes(201, 9).goes(300, 9).comes(301, 0)
    first = r.rows(tmp_path, 9)[0]
    assert first == (("runnable", 50, 201) if events else ("blocked", 60, 201, "before"))


@pytest.mark.parametrize("bit", [40, 45, 54])
@pytest.mark.parametrize("up", [True, False])
def test_a_time_far_from_those_around_it_is_damaged(tmp_path, bit, up):
    """One byte changed: neither the recording nor any wait lasts until then."""
    good, bad = Recording(), Recording()
    for r in (good, bad):
        r.goes(0, 0).comes(1, 7).goes(100, 7).comes(101, 0).goes(200, 0).comes(201, 7)
        if r is bad:
            at = (AT + 250_000 + (1 << bit)) if up else max(AT + 250_000 - (1 << bit), 1000)
            r.record(SWITCH_CPU_WIDE, OUT, r.pack("ii", -1, -1), r.trailer(100, 7, at))
        r.goes(300, 7).comes(301, 0).goes(400, 0).comes(401, 7).goes(500, 7).comes(501, 0)
    assert bad.rows(tmp_path, 7) == good.rows(tmp_path, 7)
    assert "damaged times: 1 records" in bad.said and "damaged" not in good.said


def test_a_long_sleep_is_no_damage(tmp_path):
    r = Recording().goes(0, 0).comes(1, 7).goes(100, 7).comes(101, 0).goes(4_000_000_000, 0).comes(4_000_000_001, 7)
    r.goes(4_000_000_100, 7).comes(4_000_000_101, 0)
    assert ("blocked", 100, 4_000_000_001) in r.rows(tmp_path, 7)
    assert "damaged" not in r.said


def one_process(both=True):
    """7 is off the CPU, comes back at 300 and exits at 320: that it leaves is not recorded. 8 comes at 400, and ends it."""
    r = Recording(both, whom=100)
    r.comes(0, 7).switch(100, 7, S, 0).goes(101, 7).comes(300, 7).exits(320, 7)
    return r.comes(400, 8).switch(500, 8, S, 0).goes(501, 8).comes(9000, 8).exits(9100, 8)


def test_a_thread_that_exits_has_no_time_after(tmp_path):
    r = one_process()
    assert r.rows(tmp_path, 7) == [("running", 0, 100), ("blocked", 100, 300), ("running", 300, 320)]
    assert r.rows(tmp_path, 8)[-1] == ("running", 9000, 9100)  # it is the last that is recorded


def test_sums_of_a_thread_end_with_it(tmp_path):
    path = tmp_path / "x.data"
    path.write_bytes(one_process().bytes())
    sched = {row["tid"]: row for row in ask("sched", path, "--no-pool")["rows"]}
    waits = {row["tid"]: row for row in ask("waits", path, "--no-pool")["threads"]}
    assert (sched[7]["run_ns"], sched[7]["unknown_ns"], sched[7]["wait_ns"]) == (120_000, 0, 200_000)
    assert (waits[7]["running"], waits[7]["unknown"], waits[7]["blocked"]) == (120_000, 0, 200_000)


def test_a_tid_that_exited_off_the_cpu_is_blocked_at_most_until_then(tmp_path):
    r = Recording(both=True, whom=100).comes(0, 7).switch(100, 7, S, 0).goes(101, 7).exits(700, 7).comes(900, 8).goes(1000, 8)
    assert r.rows(tmp_path, 7)[-1] == ("blocked", 100, 700, "at_most")


def test_the_record_of_a_switch_of_which_was_told_is_no_new_thread(tmp_path):
    """It exits; the record still has its tid."""
    r = Recording(both=True).comes(0, 7).exits(90, 7).switch(100, 7, X, 8).goes(101, 7).comes(102, 8).switch(300, 8, S, 9)
    r.switch(400, 9, S, 8)
    assert r.rows(tmp_path, 7) == [("running", 0, 100)]
    assert ask("waits", tmp_path / "x.data")["threads_seen"] == ask("sched", tmp_path / "x.data")["nthreads"] == 3


def test_a_machine_that_was_never_idle_is_all_recorded(tmp_path):
    r = Recording().comes(0, 7).goes(100, 7).comes(101, 8).goes(300, 8).comes(301, 7).goes(400, 7)
    r.rows(tmp_path, 7)
    answer = ask("waits", tmp_path / "x.data")
    assert (answer["cpus"], answer["busy"]) == (1, 398_000)
    assert "Recorded of some processes" not in run("waits", tmp_path / "x.data", code=0).out


@pytest.mark.parametrize("online", [1, 2])
def test_of_some_cpus_only_running_there_is_certain(tmp_path, online):
    """perf record -C 0 on a machine of two: off CPU 0 a thread may run on the other."""
    r = Recording().goes(0, 0).comes(0, 7).goes(100, 7).comes(100, 8).goes(300, 8).comes(300, 7).goes(500, 7).comes(500, 0).goes(900, 0)
    r.features[7] = r.pack("II", online, online)
    path, kept = tmp_path / "x.data", tmp_path / "x.spaa"
    path.write_bytes(r.bytes())
    run("convert", path, "--samples", "-o", kept, code=0)
    sql = f"SELECT state, (start_time - {AT}) / 1000, ns / 1000, least_ns / 1000, unsure FROM intervals WHERE tid = 7 ORDER BY start_time"
    for f in path, kept:
        rows = ask("query", f, sql)["rows"]
        least = 200 if online == 1 else 0
        assert rows[:3] == [["running", 0, 100, 100, 0], ["blocked", 100, 200, least, online - 1], ["running", 300, 200, 200, 0]]
        text = run("waits", f, code=0).out
        assert ("Recorded of some CPUs (perf record -C)" in text) == (online == 2)
        (row,) = [t for t in ask("waits", f, "--no-pool", "-n", "0")["threads"] if t["tid"] == 7]
        assert row["running"] == 300_000 and (row["unknown"] > 0) == (online == 2)
    assert run("validate", kept).code == 0


def test_a_number_that_is_used_again_was_nobody_before(tmp_path):
    """Three processes of one number, one after the other: none has the time before it began."""
    r = Recording().goes(0, 0).comes(0, 9)
    for begun in (200, 500, 800):
        r.record(files.FORK, 0, r.pack("iiiiQ", 50, 100, 50, 9, AT + 1000 * begun), r.trailer(100, 9, AT + 1000 * begun))
        r.goes(begun + 10, 9).comes(begun + 10, 50, pid=50).goes(begun + 30, 50, pid=50).comes(begun + 30, 9)
        r.goes(begun + 90, 9).comes(begun + 90, 50, pid=50)
        time = AT + 1000 * (begun + 100)
        r.record(files.EXIT, 0, r.pack("iiiiQ", 50, 100, 50, 9, time), r.trailer(50, 50, time))
        r.goes(begun + 101, 50, pid=50).comes(begun + 101, 9)
    r.goes(1000, 9)
    rows = r.rows(tmp_path, 50)
    assert min(start for _, start, *_ in rows) >= 200
    assert sum(end - start for state, start, end, *_ in rows) == pytest.approx(3 * 101, abs=3)
    assert not any("open" in row for row in rows)

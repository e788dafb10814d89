"""One name for a thread: `--comm X` keeps the same threads in every command."""

import json
import os
import sys

import pytest

from conftest import ROOT, ask, run

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
from test_intervals_records import AT, Recording, S, X  # noqa: E402

US = 1000


class Named(Recording):
    """Of one CPU, with sched_switch: `names` is what the kernel calls threads."""

    def __init__(self):
        super().__init__(both=True)
        self.names = {7: b"t7", 8: b"t8", 9: b"t9", 0: b"swapper/0"}

    def named(self, at, tid, name, pid=100, exec_=False, lost=False):
        self.names[tid] = name
        if not lost:
            self.comm(pid, tid, name, AT + US * at, exec_)
        return self

    def switch(self, at, tid, state, following, pid=100):
        raw = self.pack("HBBi", 315, 0, 0, tid)
        raw += self.pack("16siiq16sii", self.names[tid], tid, 120, state, self.names[following], following, 120)
        self.sample(chain=[0x1000], pid=pid if tid else 0, tid=-1 if state == X else tid, time=AT + US * at, raw=raw)
        return self

    def at(self, folder):
        path = folder / "named.data"
        path.write_bytes(self.bytes())
        return path


def kept(path, name, *more):
    """What is left by --comm, by command: threads, and their time off the CPU."""
    wait = [r for r in ask("waits", path, "--comm", name, "--no-pool", "--idle", "-n", "0", *more)["threads"]]
    sched = ask("sched", path, "--comm", name, "--no-pool", "-n", "0", *more)
    view = ["--event", "off-cpu", "--view", "all", "--comm", name, *more]
    top = ask("top", path, *view, "--by", "thread", "--no-pool")
    tree = ask("tree", path, *view)
    off = sum(r[k] for r in wait for k in ("runnable", "blocked", "idle", "maybe_idle", "unseen"))
    timeline = ask("timeline", path, *view)
    assert {tree["kept"], top["kept"], timeline["kept"], sched["kept"], off} == {off}
    names = {r["name"] for r in wait}
    assert names == {r["name"] for r in top["rows"]} == {r["thread"] for r in sched["rows"]}
    assert sum(r["running"] for r in wait) == sched["total"]["run_ns"]
    return names, off


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """8 begins as `t7`, who made it, and calls itself `api` only then."""
    r = Named()
    r.switch(0, 0, S, 7)
    r.fork(100, 100, 8, 7, AT + 5 * US)
    r.names[8] = b"t7"
    r.switch(10, 7, S, 8).switch(20, 8, S, 7).switch(30, 7, S, 8).named(35, 8, b"api").switch(40, 8, S, 7).switch(60, 7, S, 8).switch(100, 8, S, 0)
    return r.switch(200, 0, S, 7).at(tmp_path_factory.mktemp("late"))


def test_a_thread_is_called_by_its_last_name(late):
    assert kept(late, "t7")[0] == {"t7 (tid 7)"}
    assert kept(late, "api")[0] == {"api (tid 8)"}
    assert {r["name"] for r in ask("top", late, "--event", "off-cpu", "--view", "all", "--by", "comm")["rows"]} >= {"api", "t7"}
    assert "api" in run("query", late, "SELECT DISTINCT comm FROM stacks WHERE tid = 8", code=0).out
    assert "t7" not in run("query", late, "SELECT DISTINCT comm FROM stacks WHERE tid = 8", code=0).out


def test_a_converted_recording_says_the_same(late, tmp_path):
    for more in ([], ["--samples"]):
        path = tmp_path / "late.spaa"
        run("convert", late, "-o", path, "--force", *more, code=0)
        for name in ("t7", "api"):
            view = ["--event", "off-cpu", "--view", "all", "--comm", name]
            assert ask("top", path, *view)["kept"] == ask("top", late, *view)["kept"]
        if more:
            assert kept(path, "api") == kept(late, "api")


def test_names_stay_as_they_were_recorded_in_the_profile(late, tmp_path):
    run("convert", late, "-o", tmp_path / "late.spaa", code=0)
    text = (tmp_path / "late.spaa").read_text()
    records = [json.loads(line) for line in text.splitlines()]
    assert {r["context"]["comm"] for r in records if r["type"] == "stack" and r["context"].get("tid") == 8} == {"t7", "api"}
    (thread,) = [r for r in records if r["type"] == "thread" and r["tid"] == 8]
    assert (thread["comm"], thread["x_spaa"]["renamed_from"]) == ("api", "t7")


def test_a_lost_record_of_a_name_is_made_up_for_by_switches(tmp_path):
    r = Named().switch(0, 0, S, 7).switch(10, 7, S, 8).named(12, 8, b"api", lost=True).switch(20, 8, S, 7).switch(30, 7, S, 8).switch(50, 8, S, 0)
    path = r.switch(100, 0, S, 7).at(tmp_path)
    assert kept(path, "api")[0] == {"api (tid 8)"}
    assert run("top", path, "--event", "off-cpu", "--comm", "t8", "--view", "all").code != 0


def test_programs_of_one_thread_are_kept_apart(tmp_path):
    """100 is a shell that executes ls, which calls itself `ls-main`."""
    r = Named()
    r.names[100] = b"sh"
    r.comm(100, 100, b"sh")
    r.switch(0, 0, S, 100).switch(10, 100, S, 0).switch(40, 0, S, 100)
    r.named(45, 100, b"ls", exec_=True).switch(50, 100, S, 0).switch(60, 0, S, 100).named(65, 100, b"ls-main").switch(70, 100, S, 0)
    path = r.switch(90, 0, S, 100).switch(100, 100, S, 0).at(tmp_path)
    assert kept(path, "sh") == ({"sh (tid 100)"}, 30 * US)
    assert kept(path, "ls-main") == ({"ls-main (tid 100)"}, 30 * US)
    assert run("waits", path, "--comm", "ls").code != 0
    rows = {r["name"]: r["running"] for r in ask("waits", path, "--no-pool", "--idle", "-n", "0")["threads"]}
    assert rows == {"sh (tid 100)": 10 * US, "ls-main (tid 100)": 30 * US}
    sql = "SELECT comm, sum(ns) FROM intervals WHERE tid = 100 AND state = 'running' GROUP BY comm ORDER BY comm"
    assert ask("query", path, sql)["rows"] == [["ls-main", 30 * US], ["sh", 10 * US]]


def test_old_names_are_redacted(late, tmp_path):
    run("convert", late, "--redact", "threads", "-o", tmp_path / "hidden.spaa", code=0)
    text = (tmp_path / "hidden.spaa").read_text()
    assert '"renamed_from"' in text and '"t7"' not in text and '"api"' not in text

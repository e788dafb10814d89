"""sched: time of threads and CPUs, against recordings whose truth is known, and perf where it runs."""

import collections
import csv
import io
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import ask, run, unwrapped

SVG = "{http://www.w3.org/2000/svg}"
MS = 1000000
FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schedule", "busy")


class Script:
    """perf script text of the scheduler's events; times in ms."""

    def __init__(self):
        self.lines, self.comms = [], {0: "swapper"}

    def thread(self, tid, comm):
        self.comms[tid] = comm
        return tid

    def event(self, tid, cpu, ms, name, fields):
        self.lines.append((ms, f"{self.comms[tid]} 7/{tid} [{cpu:03}] {100 + ms / 1000:.9f}: sched:{name}: {fields}\n\n"
                           .replace(" 7/0 ", " 0/0 ")))

    def switch(self, ms, cpu, prev, state, to):
        self.event(prev, cpu, ms, "sched_switch",
                   f"prev_comm={self.comms[prev]} prev_pid={prev} prev_prio=120 prev_state={state} ==> "
                   f"next_comm={self.comms[to]} next_pid={to} next_prio=120")

    def wake(self, ms, cpu, waker, woken):
        self.event(waker, cpu, ms, "sched_waking",
                   f"comm={self.comms[woken]} pid={woken} prio=120 target_cpu={cpu:03}")

    def write(self, path):
        self.lines.sort(key=lambda line: line[0])
        path.write_text("".join(text for _, text in self.lines))
        return path


def two_cpus(wakes=True, idle_leaves=True):
    """
    CPU 0: A 10-30, B 30-50, A 50-60, idle 60-90, B 90-100. CPU 1: idle 10-20, C 20-40, idle 40-80, A 80-100.
    A is put off at 30, and sleeps from 60, woken at 70; B sleeps from 50 to 85; C is woken at 18, leaves at 40.
    """
    s = Script()
    a, b, c = s.thread(11, "alpha"), s.thread(12, "beta"), s.thread(13, "gamma")
    s.switch(10, 0, 0, "R", a)
    s.switch(10, 1, c, "S", 0)
    if wakes:
        s.wake(18, 0, a, c)
        s.wake(25, 0, a, b)
        s.wake(70, 0, 0, a)
        s.wake(85, 1, a, b)
    if idle_leaves:
        s.switch(20, 1, 0, "R", c)
        s.switch(80, 1, 0, "R", a)
        s.switch(90, 0, 0, "R", b)
    s.switch(30, 0, a, "R", b)
    s.switch(40, 1, c, "D", 0)
    s.switch(50, 0, b, "S", a)
    s.switch(60, 0, a, "S", 0)
    s.switch(100, 0, b, "S", 0)
    s.switch(100, 1, a, "S", 0)
    return s


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return two_cpus().write(tmp_path_factory.mktemp("sched") / "known.script")


def rows_of(answer):
    return {row["tid"] if row["tid"] is not None else row["pool"]: row for row in answer["rows"]}


def test_known_times(known):
    a = ask("sched", known)
    assert a["ncpus"] == 2 and float(a["time"]["end"] - a["time"]["start"]) == pytest.approx(0.090)
    r = rows_of(a)
    alpha = r[11]
    assert (alpha["run_ns"], alpha["runs"], alpha["migrations"]) == (50 * MS, 3, 1)
    assert (alpha["run_max_ns"], alpha["run_avg_ns"], alpha["run_cut_ns"]) == (20 * MS, 16666667, 0)
    assert (alpha["delay_ns"], alpha["delays"], alpha["preempted_ns"], alpha["preempted"]) == (30 * MS, 2, 20 * MS, 1)
    assert alpha["delay_max_ns"] == 20 * MS and float(alpha["delay_max_at"]) == pytest.approx(0.020)
    assert (alpha["wait_ns"], alpha["waits"], alpha["wakes_missing"], alpha["unknown_ns"]) == (10 * MS, 1, 0, 0)
    beta = r[12]
    assert (beta["run_ns"], beta["delay_ns"]) == (30 * MS, 10 * MS)
    assert beta["wait_ns"] - beta["wait_cut_ns"] == 35 * MS  # and the 15 until it was woken at first
    gamma = r[13]
    assert (gamma["run_ns"], gamma["delay_ns"], gamma["delays"]) == (20 * MS, 2 * MS, 1)
    assert (gamma["wait_ns"], gamma["wait_cut_ns"], gamma["waits"]) == (68 * MS, 60 * MS, 1)
    cpus = {c["cpu"]: (c["busy_ns"], c["idle_ns"], c["unknown_ns"]) for c in a["cpus"]}
    assert cpus == {0: (60 * MS, 30 * MS, 0), 1: (40 * MS, 50 * MS, 0)}
    assert (a["queue"]["most"], float(a["queue"]["mean"])) == (1, pytest.approx(42 / 90, abs=0.001))
    assert a["total"]["run_ns"] == 100 * MS and a["total"]["delay_ns"] == 42 * MS
    assert unwrapped(run("sched", known, code=0).out).startswith(
        "2 CPUs, 90 ms: 56 % busy; longest wait for a CPU 20 ms (alpha at +0.020 s)")


def test_without_wakes_a_delay_is_not_known(tmp_path):
    """What preempted threads waited is; that of the others is part of their wait, and null, not 0."""
    a = ask("sched", two_cpus(wakes=False).write(tmp_path / "x.script"))
    r = rows_of(a)
    assert not a["wakes_recorded"] and a["total"]["delay_ns"] is None
    assert (r[11]["delay_ns"], r[11]["preempted_ns"], r[11]["wait_ns"]) == (None, 20 * MS, 20 * MS)
    assert (r[12]["delay_ns"], r[12]["wakes_missing"]) == (None, 1)
    text = unwrapped(run("sched", tmp_path / "x.script", code=0).out)
    assert "not recorded: wakes" in text and "longest known wait for a CPU 20 ms" in text


def test_unseen_begins_are_bounds(tmp_path):
    """Where no switch leaves the idle task, what runs after it may have run all the while, or not."""
    path = two_cpus(idle_leaves=False).write(tmp_path / "x.script")
    a = ask("sched", path)
    r = rows_of(a)
    for tid, run_ns in ((11, 50), (12, 30), (13, 20)):
        low, high = r[tid]["run_ns"], r[tid]["run_ns"] + r[tid]["unknown_ns"]
        assert low < run_ns * MS <= high, tid
    for row in r.values():
        assert row["wait_ns"] <= {11: 10, 12: 50, 13: 68}[row["tid"]] * MS
    for c, (busy, idle) in ((0, (60, 30)), (1, (40, 50))):
        cpu = a["cpus"][c]
        assert cpu["busy_ns"] <= busy * MS and cpu["idle_ns"] <= idle * MS
        assert cpu["busy_ns"] + cpu["idle_ns"] + cpu["unknown_ns"] == 90 * MS
    text = unwrapped(run("sched", path, code=0).out)
    assert "runs begin unseen" in text and "at most" in text and "≥" in text


def test_a_window_has_the_parts_inside(known):
    a = ask("sched", known, "--time", "0.015..0.045")  # 25 to 55 ms of the script's
    r = rows_of(a)
    assert (r[11]["run_ns"], r[11]["delay_ns"], r[11]["wait_ns"]) == (10 * MS, 20 * MS, 0)
    assert (r[12]["run_ns"], r[12]["delay_ns"], r[12]["wait_ns"]) == (20 * MS, 5 * MS, 5 * MS)
    assert (r[13]["run_ns"], r[13]["wait_ns"]) == (15 * MS, 15 * MS)
    assert sum(c["busy_ns"] for c in a["cpus"]) == 45 * MS and sum(c["idle_ns"] for c in a["cpus"]) == 15 * MS


def test_a_window_without_anything(known):
    assert "no switch was recorded" in run("sched", known, "--time", "5..6", code=1).err


def test_filters(known):
    assert [x["tid"] for x in ask("sched", known, "--thread", "beta")["rows"]] == [12]
    assert [x["tid"] for x in ask("sched", known, "--thread", "13")["rows"]] == [13]
    assert {x["tid"] for x in ask("sched", known, "--comm", "*a")["rows"]} == {11, 12, 13}
    assert {x["tid"] for x in ask("sched", known, "--pid", "7")["rows"]} == {11, 12, 13}
    assert {x["tid"] for x in ask("sched", known, "--pid", "7,99")["rows"]} == {11, 12, 13}
    assert {x["tid"] for x in ask("sched", known, "--thread", "11,13")["rows"]} == {11, 13}
    assert "--pid needs numbers" in run("sched", known, "--pid", "7,x", code=2).err
    assert "fits --thread" in run("sched", known, "--thread", "nobody", code=1).err
    for option in ("--dso=x", "--focus=x", "--state=R", "--label=a=b", "--kernel"):
        assert "about threads, not stacks" in run("sched", known, option, code=2).err
    assert len(ask("sched", known, "-n", "1")["rows"]) == 1


def test_pools_are_rows(tmp_path):
    s = Script()
    tids = [s.thread(20 + i, f"http-{i}") for i in range(4)]
    for i, tid in enumerate(tids):
        s.switch(10 * i, 0, tids[i - 1] if i else 0, "S" if i else "R", tid)
    s.switch(40, 0, tids[3], "S", 0)
    path = s.write(tmp_path / "pool.script")
    row, = ask("sched", path)["rows"]
    assert (row["pool"], row["threads"], row["tid"], row["run_ns"]) == ("http-*", 4, None, 40 * MS)
    rows = ask("sched", path, "--no-pool")["rows"]
    assert [(x["tid"], x["run_ns"]) for x in rows] == [(t, 10 * MS) for t in tids]


def test_sheet_and_sql_have_numbers(known):
    sheet = list(csv.DictReader(io.StringIO(run("sched", known, "--format", "csv", code=0).out.replace("\r", "").split("\n\n")[0])))
    assert {row["tid"]: int(row["run_ns"]) for row in sheet} == {"11": 50 * MS, "12": 30 * MS, "13": 20 * MS}
    got = ask("query", known, "SELECT tid, delay_ns FROM ask_sched ORDER BY delay_ns DESC")["rows"]
    assert [tuple(row) for row in got] == [(11, 30 * MS), (12, 10 * MS), (13, 2 * MS)]


def test_what_cannot_be_asked(tmp_path):
    folded = tmp_path / "x.folded"
    folded.write_text("a;b 1\n")
    answer = run("sched", folded, code=2)
    assert "no events of the scheduler" in answer.err and "perf record -a" in answer.err


def titles(path):
    tree = ElementTree.parse(path)
    return tree, [t.text for t in tree.iter(SVG + "title")]


def test_picture(known, tmp_path):
    out = tmp_path / "cpus.svg"
    text = run("sched", known, "-o", out, code=0).out
    assert text == run("sched", known, code=0).out
    tree, tips = titles(out)
    words = [t.text for t in tree.iter(SVG + "text")]
    for word in ("CPU 0", "CPU 1", "alpha (tid 11)", "beta (tid 12)", "gamma (tid 13)"):
        assert word in words
    first = next(t for t in tips if t.startswith("CPU 0, "))
    assert first == "CPU 0, +0.000000 … +0.001440 s: alpha (tid 11) 100 %" or "alpha (tid 11) 100 %" in first
    assert any(t.startswith("alpha (tid 11), ") and t.endswith("waiting for a CPU 100 %") for t in tips)
    assert any(t.startswith("CPU 0, ") and t.endswith(": idle 100 %") for t in tips)
    assert b"<script" not in out.read_bytes() and b"http://" not in out.read_bytes().replace(
        b"http://www.w3.org/2000/svg", b"")


def test_picture_adds_up(known, tmp_path):
    """The area of a colour in a CPU's row is its share of the time."""
    out = tmp_path / "cpus.svg"
    run("sched", known, "-o", out, code=0)
    area = collections.Counter()
    for path in ElementTree.parse(out).iter(SVG + "path"):
        kind = path.get("class") or ""
        for x, y, w, h in re.findall(r"M(\d+) ([\d.]+)h(\d+)v([\d.]+)h-\d+z", path.get("d")):
            if float(h) <= 24 and re.fullmatch(r"g\d", kind) and float(y) < 130:
                area[kind] += int(w) * float(h)
    whole = sum(area.values())
    shares = {kind: a / whole for kind, a in area.items()}
    assert shares == {"g0": pytest.approx(0.5, abs=0.01), "g1": pytest.approx(0.3, abs=0.01),
                      "g2": pytest.approx(0.2, abs=0.01)}


def test_picture_makes_names_safe(tmp_path):
    s = Script()
    bad = s.thread(11, "<b>&\"x")
    s.switch(10, 0, 0, "R", bad)
    s.switch(20, 0, bad, "S", 0)
    s.switch(30, 0, 0, "R", bad)
    out = tmp_path / "x.svg"
    run("sched", s.write(tmp_path / "x.script"), "-o", out, code=0)
    assert '<b>&"x (tid 11)' in [t.text for t in ElementTree.parse(out).iter(SVG + "text")]


def test_picture_needs_a_file(known, tmp_path):
    assert "-o - is taken" in run("sched", known, "-o", "-", code=2).err
    assert run("sched", known, "-o", tmp_path / "no" / "x.svg").code == 3


# ---- against perf ----

def perf_can():
    if not shutil.which("perf") or os.geteuid():
        return False
    p = subprocess.run(["perf", "record", "-q", "-a", "-e", "sched:sched_switch", "-o", "/dev/null", "--", "true"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return p.returncode == 0


def timehist(out):
    """Per tid: runs and ms of run of `perf sched timehist --summary`."""
    found = re.findall(r"\[(-?\d+)(?:/-?\d+)?\]\s+-?\d+\s+(\d+)\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+\d+$",
                       out, re.M)
    return {int(tid): (int(n), float(ms)) for tid, n, ms in found}


def test_as_perf_did():
    """A recording without a gap: each thread within 0.1 % of perf's; last runs of those that exit stand as :-1 there."""
    with open(os.path.join(FIXTURES, "busy.timehist.txt"), encoding="utf-8") as f:
        perf = timehist(f.read())
    dead, same, more = perf.pop(-1)[1], 0, 0
    for row in ask("sched", os.path.join(FIXTURES, "busy.script.zst"), "--no-pool", "-n", "0")["rows"]:
        runs, ms = perf.pop(row["tid"], (0, 0))
        mine = (row["run_ns"] - row["run_cut_ns"]) / MS
        if row["unknown_ns"]:  # it ran on a CPU before anything was recorded there
            assert mine <= ms * 1.001 + 0.002, row["thread"]
        elif mine == pytest.approx(ms, rel=0.001, abs=0.002):
            same += 1
        else:
            assert mine > ms and row["runs"] > runs, row["thread"]
            more += mine - ms
    assert not perf and same >= 80 and more == pytest.approx(dead, rel=0.01)


@pytest.mark.skipif(not perf_can(), reason="perf cannot record the scheduler's events here")
def test_as_perf_does(tmp_path):
    """Equal within 0.1 %, where every begin was recorded; else perf's number is the upper bound."""
    path = tmp_path / "perf.data"
    work = "for i in 1 2 3; do (j=0; while [ $j -lt 3000 ]; do j=$((j+1)); done; sleep 0.02; true) & done; wait"
    subprocess.run(["perf", "record", "-q", "-a", "-e", "sched:sched_switch,sched:sched_waking", "-o", path, "--",
                    "sh", "-c", work], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    perf = timehist(subprocess.run(["perf", "sched", "timehist", "-i", path, "--summary"], capture_output=True,
                                   text=True, check=True).stdout)
    compared = 0
    for row in ask("sched", path, "--no-pool", "-n", "0", "--no-symbols")["rows"]:
        # perf knows no tid of what ran last in a thread that exits, and none of what ran first on a CPU
        if row["tid"] not in perf or row["unknown_ns"] or row["runs"] != perf[row["tid"]][0] or row["run_cut_ns"]:
            continue
        ms = perf[row["tid"]][1]
        assert row["run_ns"] / MS == pytest.approx(ms, rel=0.001, abs=0.002), row["thread"]
        compared += 1
    assert compared or not perf


def test_a_word_that_is_no_file_is_what_is_wrong(known):
    """As perf's `sched timehist -i FILE`, not that two files have no common time."""
    for words in (["timehist", "-i", known], ["nofile", known], [known, "nofile"]):
        missing = "nofile" if "nofile" in words else "timehist"
        assert f"cannot open the input: {missing}: No such file or directory [SPAA-E001]" in run("sched", *words, code=3).err
    assert "no common time" in run("sched", known, known, code=2).err

"""diff of sides with filters of their own: two files, or within one."""

import os

import pytest

import profiles
from comparison import DEMO, SYMBOLS, ask, write
from conftest import run, unwrapped


def stack(names, n, comm="a", pid=1, tid=1, dso="/bin/app", state=None):
    more = {"pid": pid, "tid": tid, "comm": comm}
    if state:
        more["x_state"] = state
    return ([{"func": f, "dso": dso} for f in names], {"period": n, "samples": n}, more)


STACKS = [stack(["parse", "main"], 30, "a"), stack(["scan", "main"], 70, "a"), stack(["parse", "main"], 50, "b", 2, 2),
          stack(["scan", "main"], 50, "b", 2, 2), stack(["log(int, int)", "main"], 40, "w, x", 3, 3, "/lib/liblog.so.1")]


@pytest.fixture
def one(tmp_path):
    return write(tmp_path, "one.spaa", profiles.text(STACKS))


@pytest.fixture
def timed(tmp_path):
    """Two threads, one after the other: a in [10, 12), b in [12, 15)."""
    stacks = [stack(["parse", "main"], 200, "a"), stack(["scan", "main"], 300, "b", 2, 2)]
    samples = [{"type": "sample", "timestamp": round(10 + i * 0.01, 2), "event": "cycles", "period": 1, "stack_id": "s%d" % (i >= 200)} for i in range(500)]
    return write(tmp_path, "t.spaa", profiles.text(
        stacks, [profiles.event("cycles", "period", mode="frequency")], after=samples,
        time_range={"start": 10, "end": 15, "unit": "seconds"}))


def shares(answer):
    return {r["function"]: (r["base_share"], r["new_share"]) for k in ("rows", "new_functions", "vanished_functions") for r in answer[k]}


def test_within_one_file(one):
    answer = ask("diff", one, "--base-where", "comm=a", "--new-where", "comm=b")
    assert answer["base"]["files"] == answer["new"]["files"] == [str(one)]
    assert (answer["base"]["whole"], answer["new"]["whole"]) == (100, 100)
    assert (answer["base"]["filters"], answer["new"]["filters"]) == ("--comm a", "--comm b")
    assert answer["profile"]["filters"] is None and answer["profile"]["event"] == "cycles"
    assert shares(answer) == {"main": (0, 0), "parse": (0.3, 0.5), "scan": (0.7, 0.5)}
    text = unwrapped(run("diff", one, "--base-where", "comm=a", "--new-where", "comm=b").out)
    assert "--comm a; kept 41.67% of the event's 240" in text and "--comm b; kept" in text
    assert "next: spaa function" in text and "--comm b" in text.split("next: ")[1]
    assert "--base-where comm=a --new-where comm=b" in str(answer["next"])
    assert "spaa top %s --comm b" % one in ask("diff", one, "--base-where", "comm=a", "--new-where", "comm=b")["next"]
    markdown = run("diff", one, "--base-where", "comm=a", "--new-where", "comm=b", "--format", "markdown").out
    assert "comm a; kept" in markdown


@pytest.mark.parametrize("base, new, totals", [
    (["--comm", "b", "--base-where", "comm=a"], [], (100, 100)),
    (["--base-where", "pid=1"], ["--new-where", "pid=2"], (100, 100)),
    (["--base-where", "pid=1,2"], ["--new-where", "pid=3"], (200, 40)),
    (["--base-where", "pid=1,2,focus=parse"], ["--new-where", "thread=2,3"], (80, 140)),
    (["--base-where", "thread=1"], ["--new-where", "thread=w, x"], (100, 40)),
    (["--base-where", "thread=1,focus=parse"], [], (30, 240)),
    (["--base-where", "focus=parse", "--base-where", "comm=b"], [], (50, 240)),
    (["--base-where", "dso=liblog"], ["--new-where", "dso=app$"], (40, 200)),
    (["--base-where", "ignore=parse"], ["--new-where", "root-at=scan"], (160, 120)),
    (["--base-where", "--comm=a , --focus=scan"], [], (70, 240)),
    (["--base-where", "comm='w, x'"], ["--new-where", 'comm="w, x",focus=log'], (40, 40)),
    (["--base-where", r"comm=w\, x"], ["--new-where", "comm=w, x,focus=log"], (40, 40)),
    (["--base-where", "event=cycles,metric=samples"], ["--new-where", "metric=samples"], (240, 240)),
    (["--base-where", "view=all"], ["--new-where", "hide=parse,user"], (240, 240)),
    (["--base-where", "focus='log\\(int, int\\)'"], [r"--new-where=focus=log\(int, int\)"], (40, 40)),
    (["--base-where", "focus=(scan|parse){1,2}"], [], (200, 240)),
    (["--base-where", "merge-inlined,comm=a"], ["--new-where", "comm=a,merge-inlined"], (100, 100)),
])
def test_any_filter(one, base, new, totals):
    answer = ask("diff", one, *base, *new)
    assert (answer["base"]["whole"], answer["new"]["whole"]) == totals


def test_shares_are_of_what_a_side_is(one):
    answer = ask("diff", one, "--base-where", "focus=parse", "--new-where", "focus=scan", "-n", 0)
    assert shares(answer) == {"main": (0, 0), "parse": (1, 0), "scan": (0, 1)}
    both = ask("diff", one, "--focus", "parse", "--base-where", "comm=a", "--new-where", "comm=b")
    assert shares(both)["parse"] == (0.3, 0.5), "a filter of both chooses rows only"


def test_states_of_one_file(tmp_path):
    f = write(tmp_path, "s.spaa", profiles.text([stack(["run"], 30, state="RUNNABLE"), stack(["wait"], 20, state="WAITING"),
                                                 stack(["io"], 10, state="BLOCKED")]))
    answer = ask("diff", f, "--base-where", "state=RUNNABLE", "--new-where", "state=WAITING,BLOCKED")
    assert (answer["base"]["whole"], answer["new"]["whole"]) == (30, 30)
    answer = ask("diff", f, "--base-where", "view=cpu", "--new-where", "view=all")
    assert (answer["base"]["whole"], answer["new"]["whole"]) == (30, 60), "blocked is on the CPU in CodeGuru's files alone"
    assert (answer["base"]["view"], answer["new"]["view"]) == ("cpu", "all")


def test_rates_are_of_the_time_selected(timed):
    answer = ask("diff", timed, "--base-where", "time=0..1", "--new-where", "time=3..")
    assert (answer["base"]["duration"], answer["new"]["duration"]) == (1, 2)
    assert (answer["base"]["whole"], answer["new"]["whole"]) == (100, 200)
    assert answer["whole"]["change_percent"] == 0, "per second, as the sides last differently"
    text = unwrapped(run("diff", timed, "--base-where", "time=0..1", "--new-where", "time=3..").out)
    assert "100 samples in 1.000 s" in text and "200 samples in 2.000 s" in text and "whole 100 → 100 period/s (×1.00)" in text
    alone = ask("diff", timed, timed, "--time", "1..3")
    assert alone["base"]["duration"] == 2 and alone["base"]["blocks"] == 20, "of the samples in that time"
    rows = ask("diff", timed, "--base-where", "time=0..1", "--new-where", "time=1..2,comm=a")["rows"]
    rate = next(r["cost"] for r in rows if r["function"] == "parse")
    assert (rate["base"], rate["new"]) == (100, 100)


def test_two_files_with_filters_of_their_own(one, tmp_path):
    other = write(tmp_path, "two.spaa", profiles.text(STACKS[2:]))
    answer = ask("diff", one, other, "--base-where", "comm=a")
    assert (answer["base"]["whole"], answer["new"]["whole"]) == (100, 140)
    one2, other2 = write(tmp_path, "one2.spaa", one.read_text()), write(tmp_path, "two2.spaa", profiles.text(STACKS[2:]))
    answer = ask("diff", one, one2, "--", other, other2, "--new-where", "comm=b", "--base-where", "comm=b")
    assert (answer["base"]["runs"], answer["new"]["runs"], answer["new"]["whole"]) == (2, 2, 200)
    assert answer["profile"]["filters"] == "--comm b" and "filters" not in answer["base"]


@pytest.mark.parametrize("where, words", [
    ("tiem=0..1", ["no filter \"tiem\"", "did you mean time", "filters: event,"]),
    ("comm=a,tiem=0..1", ["no filter \"tiem\"", "did you mean time"]),
    ("a", ["no filter \"a\""]), ("comm", ["comm needs a value: comm=NAME"]), ("comm=", ["comm needs a value"]),
    ("comm=a,comm=b", ["comm twice"]), ("comm='a", ["quote of comm is not closed"]), ("comm='a'b", ["\"b\" after comm"]),
    ("kernel=1", ["kernel takes no value"]), ("", ["no filter's name"]), ("user,", ["no filter's name"]),
    ("focus=f(a,b=1)", ["no filter \"b\"", "quotes"]), ("view=cup", ["--view has no value \"cup\""])])
def test_errors_teach(one, where, words):
    err = run("diff", one, "--base-where", where, code=2).err
    assert all(w in err for w in words), err
    assert "--base-where" in err or "--view" in err


def test_filters_that_match_nothing(one):
    assert "zzz" in run("diff", one, "--new-where", "comm=zzz", code=1).err
    assert "--base-where comm=A --new-where comm=B" in run("diff", one, code=2).err
    assert "standard input" in run("diff", "-", "--new-where", "comm=a", stdin=one.read_text(), code=2).err


def test_within_one_recording():
    answer = ask("diff", DEMO[0], *SYMBOLS, "--base-where", "time=0..3", "--new-where", "time=3..7")
    assert answer["base"]["duration"] == pytest.approx(3) and answer["new"]["duration"] == pytest.approx(3.017, abs=0.01)
    whole = ask("diff", DEMO[0], DEMO[0], *SYMBOLS)["base"]["samples"]
    assert answer["base"]["samples"] + answer["new"]["samples"] == whole


def test_flame_graphs_of_sides(one, tmp_path):
    out = tmp_path / "o.svg"
    run("flamegraph", one, "--base-where", "comm=a,focus=parse", "--new-where", "comm=a", "-o", out, code=0)
    svg = out.read_text()
    assert "against %s" % one in svg and "scan" in svg
    run("flamegraph", one, "--diff", one, "--base-where", "comm=a", "-o", out, code=0)
    assert "twice" in run("flamegraph", one, "--base-where", "comm=a,comm=b", "-o", out, code=2).err
    assert "--diff" in run("flamegraph", one, one, "--base-where", "comm=a", "-o", out, code=2).err

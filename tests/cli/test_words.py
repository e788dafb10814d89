"""Words of other tools: they give what our own words give, or one line that says what to type."""

import os
import re

import pytest

from conftest import ROOT, run

PERF = os.path.join(ROOT, "tests/fixtures/perf_data/big.perf.data")
HEAP = os.path.join(ROOT, "tests/fixtures/pprof/heap.pb.gz")
TRACK = os.path.join(ROOT, "tests/fixtures/heaptrack/raw.heaptrack")
EQUAL = [
    (["report", "-i", PERF, "--stdio"], ["top", PERF]),
    (["report", "--stdio", "--input=" + PERF, "-n", "2"], ["top", PERF, "-n", "2"]),
    (["report", "-i", PERF, "--children", "--force"], ["top", PERF, "--sort", "total"]),
    (["report", "-i", PERF, "--sort", "overhead,comm,dso,sym"], ["top", PERF, "--by", "comm,dso,function"]),
    (["report", "-i", PERF, "-s", "overhead"], ["top", PERF]),
    (["report", "-i", PERF, "--sort=pid,tid,srcline"], ["top", PERF, "--by", "process,thread,line"]),
    (["top", PERF, "--tid", "11"], ["top", PERF, "--thread", "11"]),
    (["top", PERF, "--comms", "worker,main prog"], ["top", PERF, "--comm", "/^(worker|main prog)$/"]),
    (["top", PERF, "--dsos", "prog"], ["top", PERF, "--rows", "(^|/)(prog)($|\\()"]),
    (["report", "--header-only", "-i", PERF], ["info", PERF]),
    (["-top", HEAP], ["top", HEAP]),
    ([HEAP, "-top", "-cum", "-sample_index=alloc_space", "-nodecount=3"], ["top", HEAP, "--sort", "total", "--metric", "alloc_space", "-n", "3"]),
    (["-tree", HEAP], ["tree", HEAP]),
    ([HEAP, "--traces"], ["stacks", HEAP]),
    (["top", HEAP, "-focus=main", "-lines"], ["top", HEAP, "--focus", "main", "--by", "line"]),
    (["heaptrack_print", "-f", TRACK], ["leaks", TRACK]),
    ([TRACK, "--print-leaks"], ["leaks", TRACK]),
    (["heaptrack_print", TRACK, "-a", "-n", "1"], ["leaks", TRACK, "--metric", "calls", "-n", "1"]),
]
SAID = [
    (["record", "-g", "ls"], "perf record -g -- COMMAND"),
    (["stat"], "perf stat"),
    (["mem"], "perf mem record"),
    (["script", "-i", PERF], "spaa convert perf.data --to perf-script"),
    (["list"], "spaa function FILE"),
    (["-list=main", HEAP], "spaa function FILE"),
    ([HEAP, "-svg"], "spaa flamegraph FILE"),
    ([HEAP, "-base", "x"], "spaa diff BASE NEW"),
    (["report", "-g", "caller", PERF], "spaa tree FILE"),
    ([HEAP, "-cum"], "spaa top FILE --sort total"),
    (["report", "-i", PERF, "-s", "comm,weight"], "a sort key without an equal here: weight"),
]


@pytest.mark.parametrize("typed,ours", EQUAL, ids=lambda v: " ".join(v)[:40])
def test_they_are_what_ours_are(typed, ours):
    a, b = run(*typed), run(*ours)
    assert (a.code, a.out) == (b.code, b.out) and b.out


@pytest.mark.parametrize("typed,said", SAID, ids=lambda v: v if isinstance(v, str) else "")
def test_what_has_no_equal_is_translated(typed, said):
    a = run(*typed, code=2)
    assert said in a.err and a.out == "" and len(a.err.splitlines()) == 2


def test_many_keys():
    assert "address" in run("report", "-i", PERF, "--sort", ",".join(["ip"] * 200), code=2).err


def test_ours_come_first():
    """-n is ours, and a file of a name is a file."""
    assert run("top", PERF, "--sort", "self").out == run("top", PERF, "--sort", "flat").out
    assert "no value" in run("top", PERF, "--sort", "nothing", code=2).err


def test_every_word_is_one_that_its_command_can_use():
    table = open(os.path.join(ROOT, "cli/words.def"), encoding="utf-8").read()
    names = re.findall(r'^WORD\("([^"]+)"', table, re.M)
    assert len(names) == len(set(names))
    options = set(re.findall(r'SPAA_OPT\(\w+, "([^"]+)"', open(os.path.join(ROOT, "src/ask/options.def"), encoding="utf-8").read()))
    for ours in re.findall(r'^WORD\("[^"]+", (?:FLAG|VALUE|LIST|BY|RANGE), "([^"]+)"', table, re.M):
        assert ours in options, ours

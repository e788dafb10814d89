"""spaa leaks of a recorded program whose amounts are known (tests/leaks/mix.cpp), against heaptrack_print where it is there."""

import collections
import os
import re
import shutil
import subprocess

import pytest

import profiles
from conftest import ROOT, ask, run

MIX = os.path.join(ROOT, "tests", "leaks", "mix.heaptrack.zst")
PRINT = shutil.which("heaptrack_print")
N = 4000  # rounds of its loop


@pytest.fixture(scope="module")
def rows():
    return {r["function"].split("(")[0]: r for r in ask("leaks", MIX, "-n", 0)["rows"]}


def test_rows_are_the_functions_of_the_program(rows):
    """Containers that two of them use are in neither's way: one never frees, the other always."""
    assert (rows["remember"]["kind"], rows["remember"]["live_count"]) == ("growing", 2 * N // 10)  # a node and a text each
    assert (rows["scratch"]["kind"], rows["scratch"]["live_bytes"]) == ("freed", 0)
    assert rows["fill_cache"]["kind"] == "never freed" and rows["fill_cache"]["live_bytes"] == (2 << 20) + 24
    assert rows["open_log"]["kind"] == "growing" and rows["read_conf"]["kind"] == "freed"
    assert not any(name.startswith("std::") for name in rows)


def test_a_pool_that_goes_up_and_down_does_not_grow(rows):
    assert rows["churn_pool"]["kind"] == "partly freed"
    assert rows["churn_pool"]["growth"]["doubt"] > abs(rows["churn_pool"]["growth"]["bytes_per_second"])


def test_one_step_is_no_growth(rows):
    assert rows["fill_cache"]["live_bytes_by_quarter"][1:] == [0, 0, 0]
    assert rows["fill_cache"]["growth"]["flat_from_seconds"] < 0.4
    assert rows["remember"]["growth"]["flat_from_seconds"] is None
    text = run("leaks", MIX, code=0).out
    assert re.search(r"never freed, flat from \d+ ms on +f:\w+ +fill_cache mix.cpp:41", text)
    assert re.search(r"growing \+54 KiB/s ± 3 +f:\w+ +remember mix.cpp:19", text)


def test_what_is_kept_at_one_line_is_not_hidden_by_what_is_freed_at_another(rows):
    lines = {r["srcline"].split("/")[-1]: r for r in rows["parse_two"]["lines"]}
    assert (lines["mix.cpp:60"]["live_count"], lines["mix.cpp:60"]["never_freed"]) == (N // 50, True)
    assert (lines["mix.cpp:61"]["live_count"], lines["mix.cpp:61"]["alloc_count"]) == (0, N)
    assert rows["parse_two"]["srcline"].endswith("mix.cpp:60") and rows["parse_two"]["kind"] == "growing"
    assert rows["parse_two"]["never_freed"] is False


def test_a_function_of_a_library_that_two_use_is_split_by_them(rows):
    for name, live, calls in (("open_log", N // 400, N // 400), ("read_conf", 0, N // 100)):
        through = next(t for t in rows[name]["through"] if "fopen" in (t["function"] or ""))
        assert (through["live_count"], through["alloc_count"]) == (live, calls)
    text = run("leaks", MIX, "-n", 2, code=0).out
    assert re.search(r" fill_cache mix.cpp:41 +std::\S+ \+1\n", text)


def test_parts_are_sums_of_their_rows(rows):
    for r in rows.values():
        for parts in ("lines", "through"):
            for m in ("live_bytes", "live_count", "alloc_bytes", "alloc_count", "temporary_count"):
                assert sum(p[m] for p in r[parts]) == r[m], (r["function"], parts, m)


def test_frames_are_the_whole_stack_with_its_owner(rows):
    frames = rows["fill_cache"]["frames"]
    assert frames[0]["function"].startswith("operator new")
    at = [f["owner"] for f in frames].index(True)
    assert at == rows["fill_cache"]["allocators_skipped"] > 0
    assert any(f["function"].startswith("fill_cache") for f in frames[at:])


def test_churn_and_temporary_allocations_by_own_function():
    answer = ask("leaks", MIX, "--metric", "temporary", "-n", 0)
    assert answer["ranked_by"] == "x_temporary_count"
    rows = {r["function"].split("(")[0]: r for r in answer["rows"]}
    assert (rows["parse_two"]["temporary_count"], rows["read_conf"]["temporary_count"]) == (N, N // 100)
    assert float(answer["rows"][0]["percent"]) == 99.01 and rows["read_conf"]["temporary_percent"] == 50
    calls = ask("leaks", MIX, "--metric", "calls", "-n", 0)
    assert calls["ranked_by"] == "alloc_count"
    first = calls["rows"][0]
    assert first["function"].startswith("scratch") and first["alloc_count"] == 60 * N
    assert float(first["calls_per_second"]) == pytest.approx(60 * N / float(calls["seconds"]), rel=1e-5)
    assert first["mean_bytes"] == round(first["alloc_bytes"] / first["alloc_count"])
    out = run("leaks", MIX, "--metric", "calls", code=0).out
    assert "calls/s" in out and "state" not in out.splitlines()[3]


@pytest.mark.parametrize("word, metric", [("live", "live_bytes"), ("blocks", "live_count"), ("allocated", "alloc_bytes"),
                                          ("calls", "alloc_count"), ("temporary", "x_temporary_count"), ("peak", "peak_bytes")])
def test_metrics_by_the_words_of_answers(word, metric):
    assert ask("leaks", MIX, "--metric", word)["rows"] == ask("leaks", MIX, "--metric", metric)["rows"]


@pytest.mark.parametrize("args", [[], ["--by", "owner"], ["--by", "stack"], ["--metric", "calls"], ["--metric", "temporary"],
                                  ["--metric", "peak"], ["--metric", "allocated"], ["--metric", "blocks"], ["--keep-allocators"]])
def test_text_fits(args):
    lines = run("leaks", MIX, "-n", 0, *args, code=0).out.splitlines()
    assert max(map(len, lines)) <= 120
    assert len([line for line in lines if "/opt/" in line]) == 0


# heaptrack_print

@pytest.fixture(scope="module")
def printed():
    if not PRINT:
        pytest.skip("no heaptrack_print")
    args = [PRINT, "--shorten-templates=0", "--merge-backtraces=1", "-n", "1000", "-s", "0", MIX]
    return subprocess.run(args, capture_output=True, text=True, timeout=60).stdout


def by_print(metric):
    """By its rules: of stacks without operator new, by their first function, inlined or not."""
    sums = collections.Counter()
    for r in ask("leaks", MIX, "--by", "stack", "--keep-allocators", "-n", 0)["rows"]:
        names = [f["function"] for f in r["frames"] if not f["function"].startswith("operator new")]
        sums[names[0]] += r[metric]
    return +sums


def test_totals_are_those_of_heaptrack_print(printed):
    memory = ask("leaks", MIX)["memory"]
    assert "calls to allocation functions: %d " % memory["alloc_count"] in printed
    assert "temporary memory allocations: %d " % memory["temporary_count"] in printed
    assert "total memory leaked: %.2fM" % (memory["live_bytes"] / 1e6) in printed
    assert "peak heap memory consumption: %.2fM" % (memory["peak_bytes"] / 1e6) in printed


def test_temporary_allocations_are_those_of_heaptrack_print(printed):
    part = printed.split("MOST TEMPORARY ALLOCATIONS")[1].split("total runtime")[0]
    told = collections.Counter()
    for n, name in re.findall(r"^(\d+) temporary allocations of \d+ allocations in total \(.*?\) from:?\n(.*)$", part, re.M):
        told[name.strip()] += int(n)
    assert told and +told == by_print("temporary_count")


# How reachable it is

def kinds(tmp_path):
    path = tmp_path / "memcheck.spaa"
    event = {"name": "leak", "kind": "allocation", "sampling": {"mode": "event", "primary_metric": "live_bytes"}}
    stack = lambda f, n, blocks, kind: ([f, "main"], {"live_bytes": n, "live_count": blocks},
                                        {"x_labels": {"leak_kind": kind}} if kind else {})
    path.write_text(profiles.text([stack("root", 100, 1, "definite"), stack("child", 5000, 50, "indirect"), stack("root", 7, 1, "indirect"),
                                   stack("cache", 9000, 9, "reachable"), stack("maybe", 300, 3, "possible"),
                                   stack("small", 50, 2, "definite"), stack("odd", 1, 1, "unheard of")], [event], tool="memcheck"))
    return path


def test_what_is_lost_comes_before_what_is_reachable(tmp_path):
    path = kinds(tmp_path)
    answer = ask("leaks", path)
    assert [(r["leak_kind"], r["function"], r["live_bytes"]) for r in answer["rows"]] == [
        ("definite", "root", 100), ("definite", "small", 50), ("indirect", "child", 5000), ("indirect", "root", 7),
        ("possible", "maybe", 300), ("other", "odd", 1), ("reachable", "cache", 9000)]
    assert answer["leak_kinds"]["definite"] == {"live_bytes": 150, "live_count": 3}
    assert answer["leak_kinds"]["indirect"] == {"live_bytes": 5007, "live_count": 51}
    assert answer["reachability"] == "told" and answer["memory"]["live_bytes"] == 14458
    text = " ".join(run("leaks", path, code=0).out.split())
    assert ("definitely lost 150 B in 3 blocks, indirectly 4.89 KiB in 51 blocks, possibly 300 B in 3 blocks, "
            "of another kind 1 B in 1 block, still reachable 8.79 KiB in 9 blocks") in text
    assert "cannot tell" not in text and "does not tell" not in text and " held " not in text
    only = ask("leaks", path, "--label", "leak_kind=definite")
    assert [r["function"] for r in only["rows"]] == ["root", "small"]


def test_what_cannot_be_told_is_said_once():
    text = run("leaks", MIX, code=0).out
    assert text.count("heaptrack cannot tell lost from still reachable") == 1
    assert ask("leaks", MIX)["reachability"] is None and "leak_kinds" not in ask("leaks", MIX)


def fixture(name):
    return run("leaks", os.path.join(ROOT, "tests", name), code=0).out


def test_words_are_of_the_tool_that_recorded():
    text = fixture("fixtures/memcheck/supp.log")
    assert "since the recording's suppressions fit" in text and "heaptrack" not in text and "not told" not in text


def test_a_clean_log_says_that_there_is_no_leak():
    text = fixture("fixtures/memcheck/clean.log")
    assert "no leak:" in text and "growing or not" not in text and "does not tell" not in text


def test_lines_of_node_are_where_functions_begin():
    text = fixture("memory/recordings/mailer.3.heapprofile.gz")
    assert re.search(r"queueMail mailer\.js:\d+", text) and "lines are where the functions begin" in text


def test_stacks_that_end_in_the_c_library_are_told():
    assert "39.06 KiB end in the C library" in fixture("memory/recordings/relay.lsan.log")
    assert "end in the C library" not in fixture("memory/recordings/relay.lsan-slow.log")


def test_growth_is_that_of_windows_which_were_written(tmp_path):
    """A question reads windows whose rows are in no order; a profile that is written has one of each stack, in order."""
    spaa = tmp_path / "mix.spaa"
    run("convert", MIX, "-o", str(spaa), "--windows", "48")
    read, written = ({r["function"]: r for r in ask("leaks", str(f), "-n", 0)["rows"]} for f in (MIX, spaa))
    for name, row in read.items():
        assert row["growth"] == written[name]["growth"] and row["live_bytes_by_quarter"] == written[name]["live_bytes_by_quarter"]


# Time, as heaptrack has it

def heaptrack(path, events, until):
    """A recording of main calling own functions, some through a wrapper: {ms: [(function, bytes)]}; the clock stands
    still where there is nothing, as it does while a process is stopped."""
    names = ["wrapper", "cache", "log", "put", "main"]
    out = ["v 10400 3", "X ./app", *["s %x %s" % (len(n), n) for n in names], "s 3 app"]
    out += ["i %x 6 %x" % (0x10 * (k + 1), k + 1) for k in range(len(names))]
    traces = {"main": 1}
    out.append("t 5 0")
    for name, parent in (("put", "main"), ("cache", "main"), ("log", "main")):
        out.append("t %x %x" % (names.index(name) + 1, traces[parent]))
        traces[name] = len(traces) + 1
    for name in ("cache", "log"):
        out.append("t 1 %x" % traces[name])
        traces["wrapper " + name] = len(traces) + 1
    infos = {}
    for ms in sorted(events):
        out.append("c %x" % ms)
        for function, size in events[ms]:
            key = traces[function], size
            if key not in infos:
                infos[key] = len(infos)
                out.append("a %x %x" % (size, key[0]))
            out.append("+ %x" % infos[key])
    out.append("c %x" % until)
    path.write_text("\n".join(out) + "\n")
    return path


def steps(first, to, *, each=50):
    return {ms: [("put", 34000), ("wrapper log", 6000), ("wrapper log", 6000)] for ms in range(first, to, each)}


@pytest.mark.parametrize("at", [2400, 2500, 2600, 2700])
def test_a_stretch_without_a_clock_puts_nothing_into_another_quarter(at, tmp_path):
    """A process that was stopped: what it allocated before is of the time before."""
    path = heaptrack(tmp_path / "app.heaptrack", {10: [("wrapper cache", 4194304)], **steps(20, 240), **steps(1270, at)}, at)
    for more in ([], ["--at", "%.2f" % (at / 1000 - 0.05)]):
        rows = {r["function"]: r for r in ask("leaks", path, "--allocators", "wrapper", *more)["rows"]}
        gained = [rows["cache"]["live_bytes_by_quarter.%d" % (q + 1)] if "live_bytes_by_quarter.1" in rows["cache"] else
                  rows["cache"]["live_bytes_by_quarter"][q] for q in range(4)]
        assert gained == [4194304, 0, 0, 0]
        assert rows["cache"]["kind"] == "never freed"


def test_a_wrapper_names_who_it_grew_for(tmp_path):
    path = heaptrack(tmp_path / "app.heaptrack", {10: [("wrapper cache", 4194304)], **steps(20, 3000)}, 3000)
    row = next(r for r in ask("leaks", path)["rows"] if r["function"] == "wrapper")
    assert row["kind"] == "growing" and row["own_callers"][0] == "log" and float(row["own_callers_percent"]) == 100
    assert row["own_callers_others"] == 0 or row["own_callers_others"] == 1
    line = next(l for l in run("leaks", path, code=0).out.splitlines() if " wrapper " in l)
    assert re.search(r"growing \+\S+ \S+ ± \S+ .*grew for log", line)
    out = run("summary", path, code=0).out
    assert re.search(r"may leak  wrapper .*growing \+\S+ \S+ ± \S+.* log", out)
    assert out.index("may leak  put") < out.index("may leak  wrapper")  # the faster one first


def test_growth_is_not_known_where_the_end_has_no_stacks(tmp_path):
    """massif's snapshots have stacks each tenth by default: that nothing grows cannot be said."""
    out = ["desc: --time-unit=ms", "cmd: ./app", "time_unit: ms"]
    for i in range(40):
        out += ["#-----------", "snapshot=%d" % i, "#-----------", "time=%d" % (10 * i), "mem_heap_B=%d" % (1000 * i),
                "mem_heap_extra_B=0", "mem_stacks_B=0", "heap_tree=%s" % ("detailed" if i and i % 10 == 0 else "empty")]
        if i and i % 10 == 0:
            out += ["n1: %d (heap allocation functions) malloc/new/new[], --alloc-fns, etc." % (1000 * i),
                    " n0: %d 0x10: leak (a.c:3)" % (1000 * i)]
    path = tmp_path / "massif.out.1"
    path.write_text("\n".join(out) + "\n")
    answer, said = ask("summary", path), run("summary", path, code=0).out
    assert answer["memory"]["growth_known"] is False and [c["id"] for c in answer["cannot_know"]] == ["growth"]
    assert "nothing grows" not in said and "what grew: the last snapshot has no stacks" in said

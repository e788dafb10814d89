"""waits, info --io, and what a hang report adds to info and top: against reports whose truth is known."""

import collections
import csv
import io
import os

import pytest

from conftest import ask, run, unwrapped
from gen_spindump import Report

REPORT = """Steps:            10 (10ms sampling interval)
Hardware model:   Mac16,5
Memory pressure:  average 5%, highest 7%
Advisory levels:  Battery -> 3, User -> 2
Lost Perf:        No lost perf 3.398s (100%)

Process:          Editor [10]

  Thread 0xa1    DispatchQueue "com.apple.main-thread"(1)    10 samples (1-10)    cpu time 0.010s (1.0M cycles, 2.0M instructions, 0.50c/i)
  <process frontmost, thread QoS user interactive, IO tier 0>
    10  main + 1 (Editor + 1) [0x1]
      9  wait + 1 (Editor + 2) [0x2] (blocked by turnstile waiting for Helper (GPU) [20] thread 0xb2 after 2 hops)
      1  run + 1 (Editor + 3) [0x3] (running)

Process:          Helper (GPU) [20]
CPU Time:         1.500s

  Thread 0xb1    DispatchQueue "com.apple.main-thread"(1)    10 samples (1-10)    cpu time 0.500s
    10  a + 1 (Helper + 1) [0x1] (unfair lock owned by Helper (GPU) [20] thread 0xb2)

  Thread 0xb2    Thread name "worker"    10 samples (1-10)
    10  b + 1 (Helper + 2) [0x2] (blocked by krwlock for writing owned by Helper (GPU) [20] thread 0xb1)

Process:          make [30]

  Thread 0xc1    10 samples (1-10)
    10  waitpid + 1 (make + 1) [0x1] (blocked by wait4 on cc [40])

Process:          cc [40]

  Thread 0xd1    10 samples (1-10)
    6  read + 1 (cc + 1) [0x1] (queue "db (x)" owned by gone [99] thread 0xe1)
    4  read + 1 (cc + 1) [0x1]

"""


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.spindump.txt"
    path.write_text(REPORT)
    return path


def steps(chain):
    return [(s["tid"], s["on"], s["holder"] and (s["holder"]["process"], s["holder"]["pid"], s["holder"]["tid"]))
            for s in chain["steps"]]


def test_who_waits_for_what_held_by_whom(report):
    answer = ask("waits", report)
    assert answer["schema"] == "spaa.waits/4"
    assert [(w["process"], w["tid"], w["waiting"], w["samples"], w["chain_length"], w["cycle"]) for w in answer["waiters"]] == [
        ("Editor", 0xa1, 9, 10, 3, True), ("Helper (GPU)", 0xb1, 10, 10, 2, True), ("Helper (GPU)", 0xb2, 10, 10, 2, True),
        ("make", 0xc1, 10, 10, 2, False), ("cc", 0xd1, 6, 10, 1, False)]
    assert [w["frontmost_main"] for w in answer["waiters"]] == [True, False, False, False, False]
    assert answer["waiters"][2]["thread_name"] == "worker"
    (wait,) = answer["waiters"][0]["waits"]
    assert wait["text"] == "blocked by turnstile waiting for Helper (GPU) [20] thread 0xb2 after 2 hops"
    assert (wait["on"], wait["state"], wait["samples"]) == ("turnstile", "BLOCKED", 9)
    assert answer["waiting"] == 45 and answer["waiting_for_nothing_named"] == 4 and answer["deadlocks"] == 1


def test_chains_go_across_threads_and_processes_and_deadlocks_are_named(report):
    first, second = ask("waits", report)["chains"]
    assert steps(first) == [(0xa1, "turnstile", ("Helper (GPU)", 20, 0xb2)),
                            (0xb2, "krwlock for writing", ("Helper (GPU)", 20, 0xb1)),
                            (0xb1, "unfair lock", ("Helper (GPU)", 20, 0xb2))]
    assert first["cycle_from"] == 1 and first["deadlock"] is True
    assert steps(second) == [(0xc1, "wait4", ("cc", 40, None)), (0xd1, 'queue "db (x)"', ("gone", 99, 0xe1))]
    assert second["cycle_from"] is None and second["deadlock"] is False
    assert [s["through_main_thread"] for s in second["steps"]] == [True, False]
    assert second["steps"][1]["holder"]["in_profile"] is False


def test_the_table_the_csv_and_the_markdown(report):
    table = unwrapped(run("waits", report, code=0).out)
    assert "deadlock: Editor [10] 0xa1 -(turnstile, 2 hops)-> Helper (GPU) [20] 0xb2 -(krwlock for writing)-> 0xb1" in table
    assert "45 of 50 samples waited for something named" in table
    rows = list(csv.reader(io.StringIO(run("waits", report, "--format", "csv", code=0).out)))
    assert rows[0] == ["weight", "percent_of_thread", "waiter", "on", "held_by", "chain"] and len(rows) == 6
    assert rows[1] == ["9", "90", "Editor [10] 0xa1 main", "turnstile", "Helper (GPU) [20] 0xb2", "3 cycle"]
    assert run("waits", report, "--format", "markdown", code=0).out.count("|") > 20
    assert "3 more rows" in run("waits", report, "-n", "2", code=0).out
    omitted = ask("waits", report, "-n", "2")
    assert omitted["omitted"] == {"waiters": 3, "chains": 0} and len(omitted["waiters"]) == 2


def test_filters_say_who_is_asked_about_and_chains_go_on_beyond(report):
    answer = ask("waits", report, "--comm", "make")
    assert [w["tid"] for w in answer["waiters"]] == [0xc1] and answer["profile"]["filters"] == "--comm make"
    assert (answer["waiting"], answer["waiting_for_nothing_named"], answer["deadlocks"]) == (10, 0, 0)
    (chain,) = answer["chains"]
    assert steps(chain) == [(0xc1, "wait4", ("cc", 40, None)), (0xd1, 'queue "db (x)"', ("gone", 99, 0xe1))]
    (chain,) = ask("waits", report, "--pid", "10")["chains"]
    assert chain == ask("waits", report)["chains"][0] and chain["deadlock"] is True
    answer = ask("waits", report, "--thread", str(0xb1))
    assert [w["tid"] for w in answer["waiters"]] == [0xb1] and answer["chains"][0]["cycle_from"] == 0
    answer = ask("waits", report, "--focus", "^read$")
    assert (answer["waiting"], answer["waiting_for_nothing_named"]) == (6, 4)
    answer = ask("waits", report, "--state", "BLOCKED", "--ignore", "^waitpid$")
    assert {w["tid"] for w in answer["waiters"]} == {w["tid"] for w in ask("waits", report)["waiters"]
                                                     if any(x["state"] == "BLOCKED" for x in w["waits"])} - {0xc1}
    assert "view all, --comm make keeps 10, 20.00% of the event's 50" in run("waits", report, "--comm", "make", code=0).out
    assert "nobody" in run("waits", report, "--comm", "nobody", code=1).err


def test_waits_survive_spaa_and_need_states(report, tmp_path):
    spaa = tmp_path / "x.spaa"
    run("convert", report, "-o", spaa, code=0)
    a, b = ask("waits", report), ask("waits", spaa)
    assert a["waiters"] == b["waiters"] and a["chains"] == b["chains"]
    run("convert", report, "--group-by", "pid,comm", "-o", spaa, code=0)
    assert "SPAA-E033" in run("waits", spaa, code=2).err


def test_a_profile_without_waits_says_so(folded):
    assert run("waits", folded).code == 2


@pytest.mark.parametrize("state", ["unfair lock owned by Y [13] thread 0xc, suspended",
                                   "suspended, unfair lock owned by Y [13] thread 0xc"])
def test_a_suspended_thread_may_wait_for_a_holder_too(state, tmp_path):
    path = tmp_path / "r.txt"
    path.write_text("Steps: 2\nProcess:          X [12]\n\n  Thread 0xa    3 samples (1-3)\n    3  f + 1 (X + 2) [0x3]\n"
                    "      2  g + 1 (X + 9) [0x9] (%s)\n      1  h + 1 (X + 8) [0x8] (suspended)\n" % state)
    answer = ask("waits", path)
    (waiter,) = answer["waiters"]
    (wait,) = waiter["waits"]
    assert (wait["samples"], wait["on"], wait["text"]) == (2, "unfair lock", state)
    assert (wait["holder"]["pid"], wait["holder"]["tid"], wait["holder"]["process"]) == (13, 12, "Y")
    assert (answer["waiting"], answer["waiting_for_nothing_named"], answer["suspended"]) == (2, 0, 1)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_waits_against_brute_force(seed, tmp_path):
    """Each thread's waits by text and samples, and every chain followed by hand."""
    source = Report(seed=seed, processes=6)
    path = tmp_path / "r.txt"
    path.write_text(source.text)
    answer = ask("waits", path, "-n", "0")
    want = collections.Counter()
    for (pid, tid, comm, word, text, frames), n in source.stacks.items():
        if text and word in ("BLOCKED", "WAITING", "UNKNOWN"):
            want[(tid, text)] += n
    got = {(w["tid"], x["text"]): x["samples"] for w in answer["waiters"] for x in w["waits"]}
    assert got == dict(want)
    threads = {w["tid"]: w for w in answer["waiters"]}
    mains = {}
    for tid, facts in source.threads.items():
        if "main-thread" in facts.get("queue", ""):
            mains.setdefault(facts["pid"], tid)
    for tid, facts in source.threads.items():
        mains.setdefault(facts["pid"], tid)

    def following(wait):
        holder = wait["holder"]
        return None if holder is None else holder["tid"] if holder["tid"] is not None else mains.get(holder["pid"])

    def most(waits):
        """For whom a thread waited most, in whatever words; of equals the wait that comes first."""
        waits = sorted(waits, key=lambda x: (-x["samples"], x["text"].encode()))
        sums = collections.Counter()
        for n, x in enumerate(waits):
            known = following(x) in source.threads
            sums[following(x) if known else ("nobody", n)] += x["samples"]
        best = max(sums.values())
        return next(x for n, x in enumerate(waits) if sums[following(x) if following(x) in source.threads else ("nobody", n)] == best)

    heaviest = {t: most(w["waits"]) for t, w in threads.items()}
    for chain in (c for c in answer["chains"] if not c["minor"]):
        tid, seen = chain["steps"][0]["tid"], []
        while tid in heaviest and tid not in seen:
            seen.append(tid)
            tid = following(heaviest[tid])
        assert [s["tid"] for s in chain["steps"]] == seen
        assert chain["cycle_from"] == (seen.index(tid) if tid in seen else None)
    assert {t for c in answer["chains"] if not c["minor"] for t in (s["tid"] for s in c["steps"])} == set(threads)
    for chain in (c for c in answer["chains"] if c["minor"]):  # a ring of waits, some of which are no thread's heaviest
        tids = [s["tid"] for s in chain["steps"]]
        assert chain["cycle_from"] == 0 and [following(s) for s in chain["steps"]] == tids[1:] + tids[:1]
        assert any(following(s) != following(heaviest[s["tid"]]) for s in chain["steps"])
    # Threads of which each reaches the other through waits are in some ring that is said.
    graph = {t: {following(x) for x in w["waits"]} & set(threads) for t, w in threads.items()}

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for t in graph.get(todo.pop(), ()):
                if t not in seen:
                    seen.add(t)
                    todo.append(t)
        return seen

    rings = {(s["tid"], following(s)) for c in answer["chains"] if c["cycle_from"] is not None for s in c["steps"][c["cycle_from"]:]}
    assert rings == {(t, h) for t in graph for h in graph[t] if t in reached(h) or t == h}
    weights = [(not w["frontmost_main"], -w["chain_length"], -w["waiting"], w["pid"], w["tid"]) for w in answer["waiters"]]
    assert weights == sorted(weights)


def test_info_names_the_machine_and_what_is_in_front(report):
    text = run("info", report, code=0).out
    for want in ("Hardware model   Mac16,5", "Memory pressure  average 5%, highest 7%", "Advisory levels  Battery -> 3",
                 "Lost Perf        No lost perf", "Frontmost        Editor [10]"):
        assert want in text
    answer = ask("info", report)["report"]
    assert ["Memory pressure", "average 5%, highest 7%"] in answer["fields"]
    assert answer["frontmost"] == {"name": "Editor", "pid": 10, "main_tid": 0xa1}


def test_top_has_cpu_time_of_threads_and_processes(report):
    rows = {r["tid"]: r for r in ask("top", report, "--by", "thread", "--view", "all")["rows"]}
    assert (rows[0xa1]["cpu_time_ns"], rows[0xa1]["cycles"], rows[0xa1]["instructions"]) == (10000000, 1000000, 2000000)
    assert rows[0xb2]["cpu_time_ns"] is None and rows[0xb2]["thread_name"] == "worker"
    rows = {r["pid"]: r for r in ask("top", report, "--by", "process", "--view", "all")["rows"]}
    assert rows[10]["cpu_time_ns"] == 10000000 and rows[10]["process_name"] == "Editor"  # the sum of its threads'
    assert rows[20]["cpu_time_ns"] == 1500000000  # as the process says
    table = run("top", report, "--by", "process", "--view", "all", code=0).out
    assert "cpu time" in table and "1.5 s" in table and "Helper (GPU)" in table
    assert "cpu_time_ns" in run("top", report, "--by", "thread", "--format", "csv", code=0).out


def test_views_default_to_the_cpu(report):
    assert ask("top", report)["whole"] == 1  # running
    assert ask("top", report, "--view", "all")["whole"] == 50


def test_io_histograms(tmp_path):
    source = Report(seed=5, processes=1)
    path = tmp_path / "r.txt"
    path.write_text(source.text)
    answer = ask("info", path, "--io")
    assert answer["schema"] == "spaa.info.io/2"
    for want, got in zip(source.histograms, answer["histograms"]):
        assert (got["title"], got["unit"], got["total"]) == (want["title"], want["unit"], want["rows"][-1][3])
        assert [[b["begin"], b["end"], b["count"], b["cdf"]] for b in got["buckets"]] == want["rows"]
        for name, share in (("p50", 50), ("p90", 90), ("p99", 99)):
            begin, end, _, _ = next(r for r in want["rows"] if r[3] * 100 >= got["total"] * share)
            assert got[name] == ({"at_most": end} if end is not None else {"more_than": begin})
    assert [(t["title"], t["ios"], t["latency_max_us"], t["write_bytes"]) for t in answer["tiers"]] == \
        [("Tier %d Aggregate Stats" % i, 55, 329, 674 * 1024) for i in range(3)]
    tier = answer["tiers"][1]
    assert tier["p90"] == answer["histograms"][2]["p90"]
    text = run("info", path, "--io", code=0).out
    assert "Tier 1 Latency Histogram" in text and "68us" in text
    rows = list(csv.reader(io.StringIO(run("info", path, "--io", "--format", "csv", code=0).out)))
    assert rows[0] == ["histogram", "begin", "end", "unit", "count", "cumulative_percent"] and len(rows) == 1 + 4 * 9


def test_io_says_where_there_is_none(folded):
    assert "SPAA-E036" in run("info", folded, "--io", code=1).err

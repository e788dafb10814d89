"""waits of hang reports: who holds what, which rings are deadlocks, what holders did (fixtures/spindump)."""

import os

import pytest

from conftest import ROOT, ask, run, unwrapped

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "spindump")


def fixture(name):
    return os.path.join(FIXTURES, name + ".spindump.txt")


def chain(name):
    answer = ask("waits", fixture(name))
    return answer, answer["chains"][0]


def test_two_queues_that_wait_for_each_other_are_a_deadlock():
    answer, first = chain("dispatch_deadlock")
    assert answer["deadlocks"] == 1
    assert (first["kind"], first["deadlock"], first["sure"], first["cycle_from"]) == ("deadlock", True, True, 1)
    assert [(s["tid"], s["on"], s["holder"]["tid"], s["holder"]["pid"]) for s in first["steps"]] == [
        (0x1a03, "unfair lock", 0x1a02, 412), (0x1a02, "queue", 0x1a01, 412), (0x1a01, 'queue "com.example.store"', 0x1a02, 412)]
    text = unwrapped(run("waits", fixture("dispatch_deadlock"), code=0).out)
    assert "deadlock: Editor [412] 0x1a03 -(unfair lock)-> 0x1a02 -(queue)-> 0x1a01" in text
    assert "sure: each wait is in every sample of its thread" in text
    assert "Editor [412] 0x1a02 waited 100 of 100, in -[Store write] > -[Store notify]" in text


def test_a_thread_that_waits_for_itself():
    answer, first = chain("self_lock")
    assert answer["deadlocks"] == 1 and first["deadlock"] and first["sure"] and first["length"] == 1
    assert first["steps"][0]["holder"]["tid"] == first["steps"][0]["tid"] == 0x1b01
    assert "0x1b01 -(turnstile)-> itself" in run("waits", fixture("self_lock"), code=0).out


def test_a_wait_in_several_words_is_one_for_its_holder():
    answer, first = chain("abba_deadlock")
    assert answer["deadlocks"] == 1 and first["sure"]
    assert {s["on"] for s in first["steps"]} == {"turnstile"}


def test_busy_threads_that_cross_at_times_are_no_deadlock():
    answer, first = chain("contention")
    assert answer["deadlocks"] == 0 and first["kind"] == "contention" and not first["deadlock"] and first["sure"] is None
    assert first["at_once"] is None
    assert first["evidence"] == ("0x1d01 waits so in 10 of 1000 (1.0 %), 0x1d02 waits so in 10 of 1000 (1.0 %); at once or not is not "
                                 "known: spindump -i FILE -timeline tells")
    assert [(h["tid"], h["did"], h["ran"], h["weight"]) for h in first["holders"]] == [(0x1d02, "ran", 990, 1000), (0x1d01, "ran", 990, 1000)]


@pytest.mark.parametrize("name, at_once, did", [("contention_apart", (0, None, None), "ran"), ("contention_at_once", (8, 102, 109), "waited")])
def test_a_timeline_tells_whether_waits_were_at_once(name, at_once, did):
    answer, first = chain(name)
    assert answer["deadlocks"] == 0 and first["kind"] == "contention"
    assert (first["at_once"], first["at_once_from"], first["at_once_to"]) == at_once
    assert [(h["meanwhile"], h["weight"], h["did"]) for h in first["holders"]] == [(True, 10, did)] * 2


def test_a_deadlock_that_begins_while_it_is_recorded():
    answer, first = chain("deadlock_from_step")
    assert answer["deadlocks"] == 1 and first["deadlock"] and first["sure"] is False
    assert first["evidence"] == "likely: all waits are there at once from step 301 to the end, in 700 of 1000 steps"


def test_a_timeline_after_spaa_is_judged_alike(tmp_path):
    for name in ("deadlock_from_step", "contention_at_once", "dispatch_deadlock", "self_lock"):
        run("convert", fixture(name), "-o", tmp_path / "x.spaa", code=0)
        assert ask("waits", tmp_path / "x.spaa")["chains"] == ask("waits", fixture(name))["chains"]


def test_what_is_known_by_its_process_stays_in_doubt():
    _, first = chain("waiting_xpc")
    (step,) = first["steps"]
    assert step["hops"] == 2 and step["through_main_thread"] is True and step["holder"]["tid"] is None
    assert first["holders"][0]["own"] == ["main", "serve(request)", "query(db)"]
    assert "-(turnstile, 2 hops)-> accountd [88] (its main thread?)" in run("waits", fixture("waiting_xpc"), code=0).out
    _, first = chain("waiting_child")
    assert first["steps"][0]["through_main_thread"] is True and first["kind"] == "chain"


@pytest.mark.parametrize("name", sorted(n[:-13] for n in os.listdir(FIXTURES)))
def test_answers_are_short_and_fit(name):
    out = run("waits", fixture(name)).out
    assert len(out.encode()) <= 3584 and all(len(line) <= 120 for line in out.splitlines())


def test_chains_that_are_not_shown_are_told(tmp_path):
    path = tmp_path / "r.txt"
    text = "Steps: 2\n\nProcess:          X [12]\n"
    for i in range(14):
        text += "\n  Thread 0x%x    2 samples (1-2)\n    2  f + 1 (X + 2) [0x3] (unfair lock owned by X [12] thread 0x99)\n" % (16 * (i + 1))
    path.write_text(text + "\n  Thread 0x99    2 samples (1-2)\n    2  g + 1 (X + 9) [0x9] (running)\n")
    out = run("waits", path, code=0).out
    assert "2 more rows" in out and "10 more chains" in out
    assert len(ask("waits", path)["chains"]) == 14


def report(a, b, words_b="20-20"):
    """Two threads: [(count, state)] each, with their ranges."""
    text = "Steps: 20\n\nProcess:          X [12]\n"
    for tid, (rows, rng) in ((0xa, a), (0xb, b)):
        n = sum(c for c, _ in rows)
        text += "\n  Thread 0x%x    %d samples (%s)\n    %d  f + 1 (X + 2) [0x3]\n" % (tid, n, rng, n)
        text += "".join("      %d  g + 1 (X + %d) [0x9]%s\n" % (c, 9 + i, s and " (%s)" % s) for i, (c, s) in enumerate(rows))
    return text


@pytest.mark.parametrize("a, b, kind, sure", [
    ("unfair lock owned by X [12] thread 0xb", "unfair lock owned by X [12] thread 0xa", "deadlock", True),
    ("blocked by turnstile waiting for thread 0xb", "blocked by turnstile waiting for X [12] thread 0xa after 1 hop", "deadlock", False),
    ('blocked by queue "a on b owned by c" processed by X [12] thread 0xb', "blocked by dispatch queue processed by thread 0xa",
     "deadlock", True),
    ("blocked by wait4 on X [12]", "unfair lock owned by X [12] thread 0xa", "cycle", None),
])
def test_rings_by_their_words(a, b, kind, sure, tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(report(([(10, a)], "1-10"), ([(10, b)], "1-10")))
    first = ask("waits", path)["chains"][0]
    if kind == "cycle":  # wait4 on its own process: the main thread is meant, maybe
        assert first["deadlock"] is False
        return
    assert (first["kind"], first["sure"]) == (kind, sure)


def test_threads_that_were_never_there_together_are_no_deadlock(tmp_path):
    path = tmp_path / "r.txt"
    a, b = "unfair lock owned by X [12] thread 0xb", "unfair lock owned by X [12] thread 0xa"
    path.write_text(report(([(10, a)], "1-10"), ([(10, b)], "11-20")))
    assert ask("waits", path)["deadlocks"] == 0
    path.write_text(report(([(10, a)], "1-10"), ([(9, b), (1, "running")], "1-10")))
    assert ask("waits", path)["deadlocks"] == 0
    assert ask("waits", path, "--focus", "^g$")["deadlocks"] == 0
    assert ask("waits", path, "--state", "BLOCKED")["deadlocks"] == 0


def test_what_the_report_itself_calls_a_deadlock(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(report(([(10, "blocked by turnstile waiting for this thread - part of a deadlock")], "1-10"), ([(10, "running")], "1-10")))
    first = ask("waits", path)["chains"][0]
    assert first["deadlock"] and first["steps"][0]["holder"]["tid"] == 0xa
    path.write_text(report(([(10, "blocked by turnstile waiting for Y [13] thread 0xc - part of a deadlock")], "1-10"), ([(10, "running")], "1-10")))
    first = ask("waits", path)["chains"][0]
    assert first["deadlock"] and not first["sure"] and "the report itself" in first["evidence"]


@pytest.mark.parametrize("hops", ["", " after 2 hops"])
@pytest.mark.parametrize("mark", [" - part of a deadlock", ", part of a deadlock", " (part of a deadlock)"])
@pytest.mark.parametrize("holder, tid", [("this thread", 0xa), ("thread 0xc", 0xc), ("Y [13] thread 0xc", 0xc)])
@pytest.mark.parametrize("hops_last", [False, True])
def test_what_the_report_itself_calls_a_deadlock_in_any_form(holder, tid, mark, hops, hops_last, tmp_path):
    path = tmp_path / "r.txt"
    state = "blocked by turnstile waiting for " + holder + (mark + hops if hops_last else hops + mark)
    path.write_text(report(([(10, state)], "1-10"), ([(10, "running")], "1-10")))
    answer = ask("waits", path)
    first = answer["chains"][0]
    assert answer["deadlocks"] == 1 and first["deadlock"] and (tid == 0xa or "the report itself" in first["evidence"])
    step = first["steps"][0]
    assert (step["on"], step["holder"]["tid"], step["hops"]) == ("turnstile", tid, 2 if hops else None)


@pytest.mark.parametrize("thread, tids", [("0x1a02", [0x1a02]), ("Autosave", [0x1a03]), ("com.example.store", [0x1a02]),
                                          ("com.apple.main-thread", [0x1a01]), ("com.example.*", [0x1a02])])
def test_threads_are_asked_for_as_they_are_printed(thread, tids):
    assert [w["tid"] for w in ask("waits", fixture("dispatch_deadlock"), "--thread", thread)["waiters"]] == tids


def reexecuted():
    """A program that executes itself: its number and its thread again, and then a deadlock."""
    row = "    %d  lock + 1 (X + 2) [0x3] (blocked by turnstile waiting for X [12] thread 0x%x)\n"
    head = "\nProcess:          X [12]\nUUID:             7442E29D-7D53-E549-B78D-93C46B8CDCFC\nNum samples:      %s\n"
    thread = '\n  Thread 0x%x    DispatchQueue "%s"(1)    %d samples (%s)\n'
    return ("Event: hang\nPID: 12\nSteps: 100 (10ms sampling interval)\n" + head % "20 (1-20)" + thread % (0xa, "com.apple.main-thread", 20, "1-20")
            + "    20  work + 1 (X + 8) [0x8] (running)\n" + head % "80 (21-100)" + thread % (0xa, "com.apple.main-thread", 80, "21-100")
            + row % (80, 0xb) + thread % (0xb, "q", 80, "21-100") + row % (80, 0xa))


def test_a_program_that_executes_itself_has_the_same_deadlock_in_spaa(tmp_path):
    report, made = tmp_path / "r.txt", tmp_path / "r.spaa"
    report.write_text(reexecuted())
    run("convert", report, "-o", made, code=0)
    for path in report, made:
        answer = ask("waits", path)
        assert (answer["deadlocks"], answer["chains"][0]["sure"]) == (1, True), path


RINGS = """Date/Time:        2026-02-02 23:22:34.999 -0800
Steps:            100 (10ms sampling interval)

--------------------------------------------------
Timeline format: stacks are sorted chronologically
--------------------------------------------------

Process:          App [100]

  Thread 0x10    DispatchQueue "com.apple.main-thread"(1)    100 samples (1-100)
  100 start + 8 (App + 100) [0x100000064] 1-100
    60 a + 8 (App + 200) [0x1000000c8] (blocked by turnstile waiting for App [100] thread 0x12) 1-60
    30 lock + 8 (App + 300) [0x10000012c] (blocked by turnstile waiting for App [100] thread 0x11) 61-90
    10 b + 8 (App + 200) [0x1000000c8] (running) 91-100

  Thread 0x11    100 samples (1-100)
  100 start + 8 (App + 100) [0x100000064] 1-100
    60 work + 8 (App + 400) [0x100000190] (running) 1-60
    20 lock2 + 8 (App + 300) [0x10000012c] (blocked by turnstile waiting for App [100] thread 0x10) 61-80
    20 work + 8 (App + 400) [0x100000190] (running) 81-100

  Thread 0x12    100 samples (1-100)
  100 start + 8 (App + 100) [0x100000064] 1-100
    30 work + 8 (App + 400) [0x100000190] (running) 1-30
    60 lock2 + 8 (App + 300) [0x10000012c] (blocked by turnstile waiting for App [100] thread 0x13) 31-90
    10 work + 8 (App + 400) [0x100000190] (running) 91-100

  Thread 0x13    100 samples (1-100)
  100 start + 8 (App + 100) [0x100000064] 1-100
    50 idle + 8 (App + 400) [0x100000190] (runnable) 1-50
    50 work + 8 (App + 400) [0x100000190] (running) 51-100
"""


def test_a_ring_beside_the_heaviest_waits_is_contention_and_why(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(RINGS)
    (ring,) = [c for c in ask("waits", path)["chains"] if c["minor"]]
    assert (ring["kind"], ring["deadlock"], ring["at_once"], ring["at_once_from"], ring["at_once_to"]) == ("contention", False, 20, 61, 80)
    assert ring["evidence"] == ("0x11 waits so in 20 of 100 (20 %), 0x10 waits so in 30 of 100 (30 %), at once in 20 steps (61-80); "
                                "no deadlock: the threads went on after step 80")
    brief = unwrapped(run("summary", path, code=0).out)
    assert "0x11 -(turnstile)-> 0x10 -(turnstile)-> 0x11: they wait for each other, at once in 20 steps (61-80); no deadlock:" in brief
    assert "it waited for turnstile, held by App [100] 0x12, in 60 of 100 samples (60 %)" in brief
    # At the end, but shorter than what tells a deadlock.
    late = RINGS.replace("30 lock + 8", " 5 lock + 8").replace("61-90\n    10 b", "96-100\n    35 b").replace("91-100\n\n  Thread 0x11", "61-95\n\n  Thread 0x11")
    late = late.replace("20 lock2 + 8", " 5 lock2 + 8").replace("61-80\n    20 work", "96-100\n    35 work").replace("81-100\n\n  Thread 0x12", "61-95\n\n  Thread 0x12")
    path.write_text(late)
    (ring,) = [c for c in ask("waits", path)["chains"] if c["minor"]]
    assert ring["evidence"].endswith("at once in 5 steps (96-100); no deadlock: so few steps at the end may be chance")


def test_meanwhile_is_while_the_whole_chain_waited(tmp_path):
    """0x10 waits for 0x12 in steps 1-60, that for 0x13 in 31-90: both in 31-60, in which 0x13 is ready in 20."""
    path = tmp_path / "r.txt"
    path.write_text(RINGS.replace("waiting for App [100] thread 0x10)", "waiting for App [100] thread 0x99)"))
    chain = [c for c in ask("waits", path)["chains"] if [s["tid"] for s in c["steps"]] == [0x10, 0x12]][0]
    (held,) = chain["holders"]
    assert (held["tid"], held["meanwhile"], held["whole_chain"], held["weight"], held["ready"], held["ran"]) == (0x13, True, True, 30, 20, 10)
    # 0x11 waited for 0x10 when that no longer waited for 0x12: these waits are a chain by their weights alone.
    path.write_text(RINGS)
    chain = [c for c in ask("waits", path)["chains"] if not c["minor"]][0]
    assert [s["tid"] for s in chain["steps"]] == [0x11, 0x10, 0x12] and chain["holders"][0]["whole_chain"] is False
    assert "these waits were never all at once" in unwrapped(run("waits", path, code=0).out)


def test_holders_of_as_many_samples_are_both_named(tmp_path):
    path = tmp_path / "r.txt"
    equal = RINGS.replace("    60 a + 8", "    40 a + 8").replace("1-60\n    30 lock", "1-40\n    40 lock").replace("61-90\n    10 b", "41-80\n    20 b")
    equal = equal.replace("91-100\n\n  Thread 0x11", "81-100\n\n  Thread 0x11")
    path.write_text(equal)
    assert "0x10 -(turnstile)-> 0x11 (in as many samples -(turnstile)-> 0x12)" in unwrapped(run("waits", path, code=0).out)
    brief = unwrapped(run("summary", path, code=0).out)
    assert "held by App [100] 0x11, and as long for turnstile, held by App [100] 0x12, in 40 of 100 samples (40 %)" in brief


def test_the_heaviest_holder_is_told_by_all_words_for_it(tmp_path):
    """0x12 is waited for in 35 and 25 samples, in two words; 0x11 in 40."""
    path = tmp_path / "r.txt"
    text = RINGS.replace("    60 a + 8 (App + 200) [0x1000000c8] (blocked by turnstile waiting for App [100] thread 0x12) 1-60\n    30 lock",
                         "    35 a + 8 (App + 200) [0x1000000c8] (blocked by turnstile waiting for App [100] thread 0x12) 1-35\n"
                         "    25 a + 8 (App + 200) [0x1000000c8] (blocked by unfair lock owned by App [100] thread 0x12) 36-60\n    40 lock")
    path.write_text(text.replace("61-90\n    10 b + 8 (App + 200) [0x1000000c8] (running) 91-100\n", "61-100\n"))
    assert "held by App [100] 0x12, in 60 of 100 samples" in unwrapped(run("summary", path, code=0).out)

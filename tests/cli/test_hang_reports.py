"""Briefs and waits of small hang reports that are made here, so that what they must say is known."""

import re
import subprocess

import pytest

from conftest import ask, run, unwrapped

HEAD = """Date/Time:        2026-02-02 23:22:34.999 -0800
End time:         2026-02-02 23:22:44.999 -0800
OS Version:       macOS 26.2 (Build 25C56)
Report Version:   67
%sData Source:      Stackshots
Duration:         10.00s
Steps:            %d (10ms sampling interval)
%s
--------------------------------------------------
%s
--------------------------------------------------


"""
QUEUE = '    DispatchQueue "com.apple.main-thread"(1)'
FORMS = {True: "Timeline format: stacks are sorted chronologically", False: "Heavy format: stacks are sorted by count"}


def thread(tid, phases, first=1, queue="", timeline=True, header=True):
    """phases: (samples, function, state) in order of time."""
    n = sum(p[0] for p in phases)
    where = "" if not header else " (%d-%d)" % (first, first + n - 1)
    out = ["  Thread 0x%x%s    %d samples%s    priority 31 (base 31)" % (tid, queue, n, where)]
    span = lambda a, b: "" if not timeline else " %d" % a if a == b else " %d-%d" % (a, b)
    out.append("    %-5d start + 8 (app + 100) [0x100000064]%s" % (n, span(first, first + n - 1)))
    at = first
    for count, function, state in phases:
        out.append("      %-5d %s + 8 (app + %d) [0x%x]%s%s" % (count, function, 200 + len(function), 0x1000000c8 + len(function),
                                                                " (%s)" % state if state else "", span(at, at + count - 1)))
        at += count
    return "\n".join(out) + "\n"


def process(name, pid, threads, fields=""):
    return "Process:          %s [%d]\n%s\n%s\n\n" % (name, pid, fields, "\n".join(threads))


def report(tmp_path, processes, timeline=True, steps=1000, pid=100, event="hang"):
    path = tmp_path / "r.spindump.txt"
    head = HEAD % ("Event:            %s\n" % event if event else "", steps, "PID:              %d\n" % pid if pid else "", FORMS[timeline])
    path.write_text(head + "".join(processes))
    return path


def app(tmp_path, phases, timeline=True, **more):
    """App [100] with threads 0x10 (the main one), 0x11, …"""
    threads = [thread(0x10 + i, p, queue="" if i else QUEUE, timeline=timeline) for i, p in enumerate(phases)]
    return report(tmp_path, [process("App", 100, threads)], timeline, **more)


def brief(path, *options):
    return unwrapped(run("summary", path, *options, code=0).out)


def waits(path, *options):
    return unwrapped(run("waits", path, *options, code=0).out)


def held(tid, what="unfair lock owned by"):
    return "blocked by %s App [100] thread 0x%x" % (what, tid)


# ---- the verdict of the brief ----


def test_a_deadlock_until_the_end_is_the_verdict_where_it_did_something_else_as_long(tmp_path):
    path = app(tmp_path, [[(500, "work", "running"), (500, "lock", held(0x11))], [(500, "work", "running"), (500, "lock", held(0x10))]])
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["deadlock"], hang["main"]["stack"]) == ("waited", True, "start > lock")
    text = brief(path)
    assert "main thread 0x10 waited in 500 of 1,000 samples (50 %), in what is likely a deadlock" in text
    assert "before that it ran in 500 of 1,000 samples (50 %)" in text


def test_a_deadlock_that_began_after_its_wait_holds_nobody_up(tmp_path):
    """The main thread waits until 600 for 0x11, which runs then and is in a deadlock with 0x12 from 701 on."""
    path = app(tmp_path, [[(600, "lock", held(0x11)), (400, "work", "running")], [(700, "work", "running"), (300, "lock", held(0x12))],
                          [(700, "work", "running"), (300, "lock", held(0x11))]])
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["deadlock"], hang["deadlock_beside"]) == ("waited", False, True)
    text = brief(path)
    assert "main thread 0x10 waited in 600 of 1,000 samples (60 %) " in text and "held up by" not in text
    assert "beside it, what is likely a deadlock of its process's other threads" in text and "before that" not in text


def test_a_chain_does_not_lead_into_a_deadlock_that_began_after_its_wait(tmp_path):
    """As above, and 0x13 waits for the main thread until 500."""
    path = app(tmp_path, [[(600, "lock", held(0x11)), (400, "work", "running")], [(700, "work", "running"), (300, "lock", held(0x12))],
                          [(700, "work", "running"), (300, "lock", held(0x11))], [(500, "lock", held(0x10)), (500, "work", "running")]])
    answer = ask("waits", path)
    steps = lambda c: [(s["tid"], s["holder"]["tid"]) for s in c["steps"]]
    assert {(c["kind"], *steps(c)) for c in answer["chains"]} == {("deadlock", (0x11, 0x12), (0x12, 0x11)), ("chain", (0x13, 0x10), (0x10, 0x11))}
    assert answer["deadlocks"] == 1 and answer["chains"][1]["holders"][0]["did"] == "ran"
    assert [w["chain_length"] for w in answer["waiters"] if w["tid"] in (0x13, 0x10)] == [2, 1]


def test_a_chain_goes_on_into_a_deadlock_from_where_it_was_at_once_with_it(tmp_path):
    """0x13 waits for 0x10 until 500; 0x10 for the deadlock of 0x11 and 0x12, which begins at 701, until 800."""
    path = app(tmp_path, [[(800, "lock", held(0x11)), (200, "work", "running")], [(700, "work", "running"), (300, "lock", held(0x12))],
                          [(700, "work", "running"), (300, "lock", held(0x11))], [(500, "lock", held(0x10)), (500, "work", "running")]])
    kinds = [(c["kind"], [s["tid"] for s in c["steps"]]) for c in ask("waits", path)["chains"]]
    assert kinds == [("deadlock", [0x10, 0x11, 0x12]), ("chain", [0x13, 0x10])]


LATE = [[(599, "work", "running"), (401, "lock", held(0x11))], [(600, "work", "running"), (400, "lock", held(0x10))]]


def test_a_deadlock_that_lasts_until_the_end_is_the_verdict(tmp_path):
    path = app(tmp_path, LATE)
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["deadlock"], hang["deadlock_sure"]) == ("waited", True, False)
    assert (hang["holder"]["tid"], hang["main"]["stack"]) == (0x11, "start > lock")
    text = brief(path)
    assert "main thread 0x10 waited in 401 of 1,000 samples (40 %), in what is likely a deadlock" in text
    assert "it waited for unfair lock, held by App [100] 0x11, in 401 of 1,000" in text
    assert "before that it ran in 599 of 1,000 samples (60 %)" in text


def test_a_deadlock_after_waits_for_events_is_the_verdict(tmp_path):
    path = app(tmp_path, [[(600, "__CFRunLoopServiceMachPort", None), (400, "lock", held(0x11))], LATE[1]])
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["deadlock"], hang["main"]["stack"]) == ("waited", True, "start > lock")
    assert "before that it waited for events in its run loop in 600 of 1,000 samples (60 %)" in brief(path)


def test_what_a_deadlock_holds_up_until_the_end_is_too(tmp_path):
    path = app(tmp_path, [[(700, "work", "running"), (300, "lock", held(0x11))], [(1000, "lock", held(0x12))], [(1000, "lock", held(0x11))]])
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["deadlock"], hang["deadlock_sure"]) == ("waited", True, True)
    assert "in 300 of 1,000 samples (30 %), held up by a deadlock" in brief(path)


def test_a_deadlock_of_others_that_was_waited_for_in_passing_is_not(tmp_path):
    path = app(tmp_path, [[(500, "work", "running"), (5, "lock", held(0x11)), (495, "work", "running")],
                          [(1000, "lock", held(0x12))], [(1000, "lock", held(0x11))]])
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["deadlock"]) == ("ran", False)


def test_what_it_waited_for_beside_what_it_did_most_is_named(tmp_path):
    text = brief(app(tmp_path, LATE, timeline=False))
    assert "main thread 0x10 ran in 599 of 1,000 samples (60 %)" in text
    assert "otherwise it waited in 401 of 1,000 samples (40 %) for unfair lock, held by App [100] 0x11" in text
    assert "0x11 ran in 600 of 1,000 samples (60 %): start > work" in text


def test_a_tie_says_both(tmp_path):
    text = brief(app(tmp_path, [[(500, "work", "running"), (500, "lock", held(0x11))], [(1000, "work", "running")]], timeline=False))
    assert "main thread 0x10 ran and waited, each in 500 of 1,000 samples (50 %)" in text


# ---- numbers that several processes had ----


def several(tmp_path, timeline=False, pid=None):
    """sh executes cc (600); job comes twice (700); w waits for both."""
    kw = dict(timeline=timeline)
    return report(tmp_path, [
        process("sh", 600, [thread(0x60, [(20, "shmain", "running")], **kw)], "Execed to:        cc [600]\nEnd time:         2026-02-02 23:22:35.200 -0800"),
        process("cc", 600, [thread(0x60, [(30, "ccmain", "running")], 21, **kw)], "Execed from:      sh [600]\nStart time:       2026-02-02 23:22:35.200 -0800"),
        process("job", 700, [thread(0x70, [(10, "job1", "running")], **kw)], "Start time:       2026-02-02 23:22:35.000 -0800"),
        process("job", 700, [thread(0x71, [(25, "job2", "running")], 41, **kw)], "Start time:       2026-02-02 23:22:35.400 -0800"),
        process("w", 800, [thread(0x80, [(100, "waits", "blocked by wait4 on cc [600]")], **kw),
                           thread(0x81, [(100, "waits", "blocked by wait4 on job [700]")], **kw)])], timeline, 100, pid, None)


@pytest.mark.parametrize("timeline", [False, True])
def test_a_program_that_executed_another_is_not_taken_for_it(tmp_path, timeline):
    path = several(tmp_path, timeline)
    (chain,) = [c for c in ask("waits", path)["chains"] if c["steps"][0]["tid"] == 0x80]
    assert [(h["process"], h["weight"], h["stack"][-1]) for h in chain["holders"]] == [("cc", 30, "ccmain")]
    assert chain["steps"][0]["holder"]["processes"] is None
    text = brief(path, "--pid", "600")
    assert "report of 2 processes [600]" in text and "the number 600 was of several processes" in text and "sh, cc" in text
    hang = ask("summary", path, "--pid", "600")["hang"]
    assert (hang["processes"], hang["process"], hang["verdict"]) == (2, None, None)
    hang = ask("summary", path, "--pid", "600", "--comm", "cc")["hang"]
    assert (hang["processes"], hang["process"], hang["main"]["weight"], hang["main"]["stack"]) == (None, "cc", 30, "start > ccmain")
    assert "report of sh [600]" in brief(path, "--pid", "600", "--comm", "sh")


def test_a_number_that_came_again_is_said(tmp_path):
    path = several(tmp_path)
    (chain,) = [c for c in ask("waits", path)["chains"] if c["steps"][0]["tid"] == 0x81]
    assert chain["steps"][0]["holder"]["processes"] == 2 and chain["steps"][0]["holder"]["in_profile"] is True
    assert [(h["tid"], h["weight"], h["stack"][-1]) for h in chain["holders"]] == [(0x70, 10, "job1"), (0x71, 25, "job2")]
    text = waits(path)
    assert "-(wait4)-> job [700] (which of 2 processes?)" in text
    assert "job [700] 0x71 (started 2026-02-02 23:22:35.400 -0800) ran 25 of 25" in text
    assert "report of job [700], started 2026-02-02 23:22:35.400 -0800" in brief(path, "--pid", "700", "--label", "instance~35.400")


def test_a_header_that_names_the_command_says_which_is_meant(tmp_path):
    path = several(tmp_path, pid=600)
    path.write_text(path.read_text().replace("PID:              600\n", "PID:              600\nCommand:          cc\n"))
    hang = ask("summary", path)["hang"]
    assert (hang["process"], hang["processes"], hang["main"]["stack"]) == ("cc", None, "start > ccmain")


def test_a_process_that_only_waits_has_a_brief(tmp_path):
    assert "main thread 0x80 waited in 100 of 100 samples" in brief(several(tmp_path), "--pid", "800")
    run("summary", several(tmp_path), "--pid", "801", code=1)


# ---- what holders did ----


def test_a_server_that_also_receives_is_told_of(tmp_path):
    path = report(tmp_path, [
        process("A", 100, [thread(0x10, [(100, "send", "blocked by turnstile waiting for S [200] thread 0x21")], queue=QUEUE, timeline=False)]),
        process("S", 200, [thread(0x21, [(70, "handle", "running"), (30, "srv", "blocked by turnstile in S [200] waiting for receive port")],
                                  queue=QUEUE, timeline=False)])], False, 100)
    (chain,) = [c for c in ask("waits", path)["chains"] if c["steps"][0]["tid"] == 0x10]
    assert [(h["tid"], h["did"], h["ran"], h["weight"]) for h in chain["holders"]] == [(0x21, "ran", 70, 100)]
    assert "S [200] 0x21 main ran 70 of 100, in start > handle" in waits(path)
    answer = ask("waits", path)
    assert (answer["waiting"], answer["receiving"], answer["waiting_for_nothing_named"]) == (100, 30, 0)
    assert "100 of 200 samples waited for something named, 0 for nothing named, 30 for messages; 0 deadlocks" in waits(path)
    run("convert", path, "-o", tmp_path / "r.spaa", code=0)
    assert ask("waits", tmp_path / "r.spaa")["receiving"] == 30


def test_a_suspended_thread_is_said_to_be(tmp_path):
    path = app(tmp_path, [[(100, "work", "suspended")]], False, steps=100)
    answer = ask("waits", path)
    assert (answer["waiting"], answer["suspended"], answer["waiting_for_nothing_named"]) == (0, 100, 0)
    assert "0 for nothing named, 100 suspended; 0 deadlocks" in waits(path)
    text = brief(path)
    assert "main thread 0x10 was suspended in 100 of 100 samples (100 %)" in text
    assert "cannot know: who suspended it in 100 of 100 samples" in text and "for whom it waited" not in text


# ---- rings: at once or not ----


def ring(path):
    (chain,) = [c for c in ask("waits", path)["chains"] if c["cycle_from"] is not None]
    return chain


def test_counts_tell_that_waits_overlap(tmp_path):
    almost = [[(1, "work", "running"), (99, "lock", held(0x11))], [(99, "lock", held(0x10)), (1, "work", "running")]]
    chain = ring(app(tmp_path, almost, False, steps=100))
    assert (chain["kind"], chain["at_once"], chain["at_once_at_least"]) == ("contention", None, 98)
    assert "at once in 98 steps or more" in chain["evidence"]
    assert ring(app(tmp_path, almost, True, steps=100))["at_once"] == 98
    half = [[(50, "work", "running"), (50, "lock", held(0x11))]] + [[(50, "lock", held(0x10)), (50, "work", "running")]]
    chain = ring(app(tmp_path, half, False, steps=100))
    assert (chain["at_once"], chain["at_once_at_least"]) == (None, None) and "not known" in chain["evidence"]


def test_waits_in_every_sample_are_at_once(tmp_path):
    every = [[(100, "lock", "blocked by something waiting for App [100] thread 0x11")], [(100, "lock", held(0x10))]]
    chain = ring(app(tmp_path, every, False, steps=100))
    assert (chain["kind"], chain["at_once"], chain["at_once_from"], chain["at_once_to"]) == ("cycle", 100, 1, 100)


def test_threads_that_were_not_there_together_are_never_at_once(tmp_path):
    threads = [thread(0x10, [(20, "work", "running"), (20, "lock", held(0x11))], 1, QUEUE, False),
               thread(0x11, [(20, "lock", held(0x10)), (20, "work", "running")], 50, "", False)]
    chain = ring(report(tmp_path, [process("App", 100, threads)], False, 100))
    assert (chain["kind"], chain["at_once"]) == ("contention", 0) and "never at once" in chain["evidence"]


def test_a_wait_for_itself_is_not_at_once_with_any(tmp_path):
    for timeline in (False, True):
        path = app(tmp_path, [[(990, "work", "running"), (10, "lock", held(0x10))]], timeline)
        assert "at once" not in waits(path) and "0x10 waits so in 10 of 1000 (1.0 %)" in waits(path)


def test_the_brief_names_threads_that_wait_for_each_other(tmp_path):
    text = brief(app(tmp_path, LATE, timeline=False))
    assert ("0x10 -(unfair lock)-> 0x11 -(unfair lock)-> 0x10: they wait for each other; at once or not is not known: "
            "spindump -i FILE -timeline tells") in text
    text = brief(app(tmp_path, LATE))
    assert "0x10 -(unfair lock)-> 0x11 -(unfair lock)-> 0x10: they wait for each other" in text and "not known" not in text
    text = brief(app(tmp_path, [[(100, "lock", held(0x11))], [(100, "lock", held(0x12))], [(100, "lock", held(0x11))]], steps=100))
    assert "held up by a deadlock" in text and "0x11 -(unfair lock)-> 0x12 -(unfair lock)-> 0x11: they wait for each other" in text


# ---- microstackshots ----


def micro(tmp_path, event, step, processes=(("eater", 77, 120), ("other", 78, 30))):
    path = tmp_path / "m.spindump.txt"
    blocks = ["Powerstats for:   %s [%d]\nStart time:       2026-02-02 23:22:35.000 -0800\nEnd time:         2026-02-02 23:32:34.000 -0800\n"
              "Num samples:      %d\n  %d  start + 8 (%s + 100) [0x100000064]\n    %d  mach_msg2_trap + 8 (libsystem_kernel.dylib + 3000) [0x180000bb8]\n\n"
              % (name, pid, n, n, name, n) for name, pid, n in processes]
    path.write_text("Date/Time:        2026-02-02 23:22:34.999 -0800\nEnd time:         2026-02-02 23:32:34.999 -0800\nData Source:      Microstackshots\n"
                    "PID:              77\nEvent:            %s\nSteps:            150%s\n\n\n" % (event, step) + "\n".join(blocks))
    return path


@pytest.mark.parametrize("event, step, what, next", [
    ("cpu usage", "", "what took the CPU: eater [77] 120 (80 %), other [78] 30 (20 %)", " --pid 77"),
    ("disk writes", " (10.49 MB/step)", "what wrote to disk: eater [77] 1.17 GiB (80 %), other [78] 300.12 MiB (20 %)",
     "--metric written_bytes --pid 77"),
    ("wakeups", " (45 wakeups/step)", "what woke up: eater [77] 5,400 (80 %), other [78] 1,350 (20 %)", "--metric wakeups --pid 77"),
    ("wakeups", "", "what woke up: eater [77] 120 (80 %), other [78] 30 (20 %)", " --pid 77")])
def test_microstackshots_say_what_of_whom(tmp_path, event, step, what, next):
    path = micro(tmp_path, event, step)
    text = brief(path)
    assert what in text
    line = re.search(r"next: spaa (top .*)", text).group(1)
    assert line.endswith(next) and "--by thread" not in line
    run(*line.split(), code=0)


def test_microstackshots_have_no_times_of_processes_and_no_functions_that_wait(tmp_path):
    for event, step in (("cpu usage", ""), ("disk writes", " (10.49 MB/step)")):
        path = micro(tmp_path, event, step)
        assert "began" not in run("info", path, code=0).out and ask("info", path)["reported"]["ended"] == 0
        assert [r["tags"] for r in ask("top", path)["rows"] if r["function"] == "mach_msg2_trap"] == [[]]
        run("convert", path, "-o", tmp_path / "m.spaa", code=0)
        assert ask("top", tmp_path / "m.spaa")["rows"] == ask("top", path)["rows"]


# ---- sample(1) as spindump ----


SAMPLE = """Analysis of sampling App (pid 4242) every 1 millisecond
Process:         App [4242]

Call graph:
    100 Thread_111   DispatchQueue_1: com.apple.main-thread  (serial)
    + 60 main  (in App) + 40  [0x100003f00]
    +   40 hot  (in App) + 12  [0x100003e00]
    +   20 mach_msg2_trap  (in libsystem_kernel.dylib) + 8  [0x18b430c34]
    + 40 read  (in libsystem_kernel.dylib) + 8  [0x18b430c00]
    100 Thread_112: worker
    + 100 __psynch_cvwait  (in libsystem_kernel.dylib) + 8  [0x18b4309ec]

Total number in stack (recursive counted multiple, when >=5):

"""


def test_sample_as_spindump_claims_no_more_and_keeps_names_and_queues(tmp_path):
    path, out = tmp_path / "s.txt", tmp_path / "r.spindump.txt"
    path.write_text(SAMPLE)
    run("convert", path, "--to", "spindump", "-o", out, code=0)
    text = out.read_text()
    assert "(running)" not in text and text.count("(state not stated)") == 2
    assert 'Thread 0x6f    DispatchQueue "com.apple.main-thread"(1)    100 samples' in text
    assert 'Thread 0x70    Thread name "worker"    100 samples' in text
    states = {r["name"]: r["total"] for r in ask("top", out, "--by", "state", "--view", "all")["rows"]}
    assert states == {"WAITING": 120, "?": 80}
    run("convert", out, "--to", "sample", "-o", tmp_path / "back.txt", code=0)
    back = (tmp_path / "back.txt").read_text()
    assert "DispatchQueue_1: com.apple.main-thread" in back and ": worker" in back


# ---- a thread alone ----


def test_a_pasted_main_thread_is_judged(tmp_path):
    path = tmp_path / "t.txt"
    phases = [(90, "work", "blocked by turnstile waiting for Y [13] thread 0x77"), (10, "work", "running")]
    path.write_text(thread(0x10, phases, queue=QUEUE, timeline=False))
    text = brief(path)
    assert "report of a process that is not named" in text and "main thread 0x10 waited in 90 of 100 samples (90 %)" in text
    assert "held by Y [13] 0x77" in text and "which process is meant" not in text
    path.write_text(thread(0x10, phases, timeline=False))
    text = brief(path)
    assert "none of its threads is known to be the main one" in text and "main thread 0x10" not in text
    assert ask("summary", path)["hang"]["verdict"] is None


# ---- a number that comes again ----


@pytest.mark.parametrize("state", ["blocked by turnstile waiting for w [100] thread 0x10", "blocked by wait4 on w [100]"])
def test_a_number_that_came_again_is_told_apart_by_when_its_processes_were_there(tmp_path, state):
    def both(phases, timeline=True):
        return report(tmp_path, [process("w", 100, [thread(0x10, [(40, "one", "running")], queue=QUEUE, timeline=timeline)]),
                                 process("w", 100, [thread(0x10, [(60, "two", "running")], 41, QUEUE, timeline)]),
                                 process("App", 200, [thread(0x20, phases, queue=QUEUE, timeline=timeline)])], timeline, 100, pid=200)
    late = [(45, "work", "running"), (55, "lock", state)]
    path = both(late)
    (chain,) = ask("waits", path)["chains"]
    assert [h["stack"][-1] for h in chain["holders"]] == ["two"] and chain["steps"][0]["holder"]["processes"] is None
    assert "which of" not in waits(path) and "which of" not in brief(path) and "start > two" in brief(path)
    early = [(40, "lock", state), (60, "work", "running")]
    (chain,) = ask("waits", both(early))["chains"]
    assert [h["stack"][-1] for h in chain["holders"]] == ["one"]
    for path in (both([(60, "lock", state), (40, "work", "running")]), both(late, timeline=False)):  # of both, or it is not known
        (chain,) = ask("waits", path)["chains"]
        assert chain["steps"][0]["holder"]["processes"] == 2 and len(chain["holders"]) == 2


def test_cpu_time_of_a_program_is_its_own(tmp_path):
    """sh executed cc: one number and one thread; each header states its own."""
    def one(name, first, n, cpu, fields=""):
        header, rows = thread(0x10, [(n, name + "_main", "running")], first, QUEUE).split("\n", 1)
        return process(name, 100, [header + "    cpu time %s\n" % cpu + rows], fields)

    path = report(tmp_path, [one("sh", 1, 40, "0.400s (1.2G cycles)"), one("cc", 41, 60, "0.001s")], steps=100)
    for by in ("process", "thread"):
        answer = ask("top", path, "--by", by)
        assert {r["name"].split()[0]: (r["self"], r["cpu_time_ns"]) for r in answer["rows"]} == {"cc": (60, 10 ** 6), "sh": (40, 4 * 10 ** 8)}
        (said,) = [d["message"] for d in answer["diagnostics"] if d["code"] == "SPAA-W519"]
        assert "cc (pid 100): CPU time 1 ms, 60 running samples (600 ms)" in said and "sh" not in said
    spaa = tmp_path / "x.spaa"
    run("convert", path, "-o", spaa, code=0)
    assert [r["cpu_time_ns"] for r in ask("top", spaa, "--by", "thread")["rows"]] == [10 ** 6, 4 * 10 ** 8]
    path = report(tmp_path, [one("w", 1, 40, "0.400s"), one("w", 41, 60, "0.500s")], steps=100)  # the same name: one row
    assert [(r["self"], r["cpu_time_ns"]) for r in ask("top", path, "--by", "thread")["rows"]] == [(100, 9 * 10 ** 8)]
    assert sorted(r["cpu_time_ns"] for r in ask("top", path, "--by", "process")["rows"]) == [4 * 10 ** 8, 5 * 10 ** 8]


# ---- what stands beside, and below ----


def stack_thread(tid, functions, state, queue=QUEUE, n=100, first=1, annotation=""):
    """A thread in one stack all the time; functions of libraries as "name|image"."""
    lines = ["  Thread 0x%x%s    %d samples (%d-%d)    priority 31 (base 31)" % (tid, queue, n, first, first + n - 1)]
    lines += [annotation] if annotation else []
    for depth, f in enumerate(functions):
        name, _, image = f.partition("|")
        lines.append("%s%d %s + 8 (%s + %d) [0x%x]%s" % ("  " * (depth + 2), n, name, image or "App", 100 + depth, 0x1000 + depth,
                                                        " (%s)" % state if state and depth == len(functions) - 1 else ""))
    return "\n".join(lines) + "\n"


RUN = ["main", "NSApplicationMain|AppKit", "-[NSApplication run]|AppKit"]
EVENTS = ["_DPSNextEvent|AppKit"]
LOOP = ["CFRunLoopRunSpecific|CoreFoundation", "__CFRunLoopRun|CoreFoundation", "__CFRunLoopServiceMachPort|CoreFoundation",
        "mach_msg2_trap|libsystem_kernel.dylib"]


@pytest.mark.parametrize("functions, verdict", [
    (RUN + EVENTS + LOOP, "idle"), (["main"] + LOOP, "idle"),
    (RUN + ["-[Panel ask]", "-[NSApplication runModalForWindow:]|AppKit"] + EVENTS + LOOP, "idle"),
    (RUN + EVENTS + LOOP[:-1] + ["-[App click]", "waitForReply"] + LOOP, "waited"), (RUN + ["-[App click]", "waitForReply"] + LOOP, "waited")])
def test_a_run_loop_of_its_own_is_no_waiting_for_events(tmp_path, functions, verdict):
    path = report(tmp_path, [process("App", 100, [stack_thread(0x10, functions, None)])], False, 100)
    assert ask("summary", path)["hang"]["verdict"] == verdict
    assert ("main thread 0x10 waited in a run loop within waitForReply, in 100 of 100" in brief(path)) == (verdict == "waited")


def test_a_deadlock_of_other_threads_is_said_beside_a_main_thread_that_runs(tmp_path):
    path = app(tmp_path, [[(100, "work", "running")], [(100, "one", held(0x12))], [(100, "two", held(0x11))]], steps=100)
    assert "beside it, a deadlock of its process's other threads: 0x11 -(unfair lock)-> 0x12 -(unfair lock)-> 0x11" in brief(path)
    hang = ask("summary", path)["hang"]
    assert (hang["verdict"], hang["deadlock"], hang["deadlock_beside"]) == ("ran", False, True)
    path = app(tmp_path, [[(100, "lock", held(0x11))], [(100, "one", held(0x10))]], steps=100)
    assert ask("summary", path)["hang"]["deadlock_beside"] is False and "beside it" not in brief(path)


def test_a_holder_that_waits_for_messages_has_its_line(tmp_path):
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(100, "ask", "blocked by turnstile waiting for S [200] thread 0x21")], queue=QUEUE)]),
                             process("S", 200, [thread(0x21, [(100, "serve", "blocked by turnstile in App [100] waiting for receive port")], queue=QUEUE)])], steps=100)
    assert "0x21 waited for messages in 100 of 100 samples (100 %) meanwhile: start > serve" in brief(path)


def test_its_own_queue_is_held_by_itself(tmp_path):
    path = app(tmp_path, [[(100, "click", 'blocked by queue "com.apple.main-thread" processed by App [100] thread 0x10')]], steps=100)
    assert 'waited for queue "com.apple.main-thread", held by itself' in brief(path) and "in a deadlock" in brief(path)


def test_several_in_front_are_said(tmp_path):
    front = "  <process frontmost, IO tier 0>"
    both = [process(name, pid, [stack_thread(tid, ["main"], "running", annotation=front)]) for name, pid, tid in (("A", 300, 0x30), ("B", 100, 0x10))]
    path = report(tmp_path, both, False, 100, pid=None)
    assert "hang of A [300]" in brief(path) and "in front was also: B [100]; --pid PID looks at it" in brief(path)
    assert "in front was also" not in brief(path, "--pid", "100")
    assert "in front was also" not in brief(report(tmp_path, both, False, 100, pid=100))


def test_of_stacks_that_are_as_heavy_the_same_one_is_shown_of_any_file(tmp_path):
    path = app(tmp_path, [[(100, "lock", held(0x11))], [(50, "zeta", "running"), (50, "alpha", "running")]], steps=100)
    spaa = tmp_path / "x.spaa"
    run("convert", path, "-o", spaa, code=0)
    for file in (path, spaa):
        assert ask("waits", file)["chains"][0]["holders"][0]["stack"] == ["start", "alpha"]


# ---- hostile reports ----


def test_long_chains_and_many_processes_of_one_number_are_read_in_their_length(tmp_path):
    """Quadratic, each of these took minutes."""
    n = 30000
    threads = [thread(0x1000 + i, [(10, "lock", held(0x1001 + i))], timeline=False) for i in range(n)]
    threads.append(thread(0x1000 + n, [(10, "work", "running")], timeline=False))
    answer = ask("waits", report(tmp_path, [process("App", 100, threads)], False, 10), "-n", "1")
    assert answer["chains"][0]["length"] == n and answer["deadlocks"] == 0
    jobs = [process("job", 700, [thread(0x1000 + i, [(10, "work", "running")], timeline=False)], "Start time:       2026-02-02 23:22:35.000 -0800")
            for i in range(n)]
    jobs.append(process("w", 800, [thread(0x10, [(10, "waits", "blocked by wait4 on job [700]")], timeline=False)]))
    path = report(tmp_path, jobs, False, 10, pid=800)
    assert ask("waits", path)["chains"][0]["steps"][0]["holder"]["processes"] == 16
    assert "(which of 16 or more processes?)" in waits(path)
    assert ask("summary", path, "--pid", "700")["hang"]["processes"] == n
    assert "started 2026-02-02 23:22:35.000 -0800, #30000" in run("convert", path, "--to", "spaa", "-o", "-", code=0).out


def test_a_thread_that_waits_for_itself_waited_meanwhile(tmp_path):
    phases = [[(60, "work", "running"), (40, "lock", "blocked by turnstile waiting for this thread")]]
    for timeline in (True, False):
        path = report(tmp_path, [process("App", 100, [thread(0x10, phases[0], queue=QUEUE, timeline=timeline)])], timeline, 100)
        (held,) = ask("waits", path)["chains"][0]["holders"]
        assert (held["did"], held["waited"], held["ran"]) == ("waited", 40, 0 if timeline else 60)
        assert held["stack"][-1] == "lock" and "ran 60" not in waits(path)


# ---- since when, and who had the CPUs ----


def test_a_deadlock_begins_after_the_last_step_in_which_one_of_them_did_something_else(tmp_path):
    phases = [[(40, "crit", held(0x11)), (19, "work", "running"), (41, "crit", held(0x11))],
              [(40, "crit", held(0x10)), (19, "work", "running"), (41, "crit", held(0x10))]]
    path = app(tmp_path, phases, steps=100)
    assert "at once from step 60 to the end" in brief(path)
    chain = ask("waits", path)["chains"][0]
    assert (chain["at_once"], chain["at_once_from"]) == (81, 60)


def test_a_starved_thread_names_the_kernel_and_its_own_process(tmp_path):
    path = report(tmp_path, [process("kernel_task", 0, [thread(0x1, [(500, "kern", "running")])]),
                             process("App", 100, [thread(0x10, [(80, "work", "runnable"), (20, "work", "running")], queue=QUEUE),
                                                  thread(0x11, [(90, "own", "running")])]),
                             process("Hog", 200, [thread(0x20, [(60, "hog", "running")])])], steps=500)
    assert "samples of other threads that ran meanwhile: kernel_task [0] 80, App [100] 80, Hog [200] 60" in brief(path)


def test_a_ring_of_one_step_does_not_hide_the_holder(tmp_path):
    path = app(tmp_path, [[(99, "lock", held(0x11)), (1, "lock", held(0x12))], [(100, "parse", "running")],
                          [(99, "work", "running"), (1, "lock", held(0x10))]], steps=100)
    hang, text = ask("summary", path)["hang"], brief(path)
    assert (hang["holder"]["tid"], hang["holder"]["did"]) == (0x11, "ran")
    assert "held by App [100] 0x11, in 99 of 100 samples" in text and "they wait for each other" not in text


def test_a_deadlock_that_holds_it_up_comes_before_a_short_ring(tmp_path):
    path = app(tmp_path, [[(10, "work", "running"), (85, "lock", held(0x11)), (5, "lock", held(0x13))], [(100, "lock", held(0x12))],
                          [(100, "lock", held(0x11))], [(95, "work", "running"), (5, "lock", held(0x10))]], steps=100)
    hang, text = ask("summary", path)["hang"], brief(path)
    assert (hang["deadlock"], hang["deadlock_sure"], hang["holder"]["tid"]) == (True, True, 0x11)
    assert "main thread 0x10 waited in 85 of 100 samples (85 %), held up by a deadlock" in text


def test_who_had_the_cpus_is_of_the_steps_it_was_ready_in(tmp_path):
    for timeline, said in (True, "that ran meanwhile: indexer [801] 80"), (False, "that ran: encoder [800] 100, indexer [801] 80"):
        others = [process("encoder", 800, [thread(0x90 + i, [(20, "enc", "running")], timeline=timeline) for i in range(5)]),
                  process("indexer", 801, [thread(0xa0, [(80, "idx", "running")], first=21, timeline=timeline)])]
        main = process("App", 100, [thread(0x10, [(20, "sum", "running"), (80, "add", "runnable")], queue=QUEUE, timeline=timeline)])
        text = brief(report(tmp_path, [main] + others, timeline, steps=100))
        assert "was starved: ready to run, without a CPU, in 80 of 100" in text and said in text
        assert ("encoder" in text) != timeline


def test_what_the_last_holder_did_is_of_the_steps_that_the_main_thread_waited(tmp_path):
    helper = process("helperd", 300, [thread(0x30, [(55, "serve", "running"), (45, "idx", "suspended")], queue=QUEUE)])
    main = process("App", 100, [thread(0x10, [(40, "work", "running"), (60, "lock", held(0x11))], queue=QUEUE),
                                thread(0x11, [(100, "lock", "blocked by turnstile waiting for helperd [300] thread 0x30")])])
    path = report(tmp_path, [main, helper], steps=100)
    assert "0x30 was suspended in 45 of 60 samples (75 %) meanwhile: start > idx" in brief(path)
    hang = ask("summary", path)["hang"]
    assert (hang["holder"]["tid"], hang["holder"]["did"], hang["holder"]["waits_on"]) == (0x30, "suspended", 2)


def test_the_event_is_not_of_another_process(tmp_path):
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(100, "work", "running")], queue=QUEUE)]),
                             process("Other", 150, [thread(0x50, [(100, "rest", None)], queue=QUEUE)])], steps=100)
    assert brief(path).startswith("hang of App [100]:")
    assert brief(path, "--pid", "150").startswith("report of Other [150], beside the hang of process [100]:")


def test_a_timeline_has_all_steps_of_the_report(tmp_path):
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(25, "work", "running")], queue=QUEUE)])], steps=100)
    answer = ask("timeline", path, "--buckets", "4")
    assert answer["steps"]["last"] == 100
    assert [b["weight"] for b in answer["rows"]] == [25, 0, 0, 0]
    assert "by the steps of the report: 100, 10 ms each" in unwrapped(run("timeline", path, "--buckets", "4", code=0).out)


def test_reports_of_different_sampling_compare_by_shares_alone(tmp_path):
    paths = []
    for n, ms in enumerate((100, 100, 10, 10)):
        scale = 100 // ms
        phases = [(30 * scale + n, "add", "running"), (70 * scale, "parse", "running")]
        text = report(tmp_path, [process("App", 100, [thread(0x10, phases, queue=QUEUE)])], steps=100 * scale).read_text()
        paths.append(tmp_path / ("%d.txt" % n))
        paths[-1].write_text(text.replace("10ms sampling", "%dms sampling" % ms))
    out = run("diff", paths[0], paths[2], "--fail-on", "whole>20%", code=5).out
    assert out.startswith("sampling differs (10 and 100 samples a second): numbers of samples do not compare, shares do\n")
    run("diff", *paths[:2], "--", *paths[2:], "--fail-on", "whole>20%", code=5)
    assert "SPAA-W640" in [d["code"] for d in ask("diff", paths[0], paths[2])["diagnostics"]]
    assert "sampling differs" not in run("diff", paths[0], paths[1], code=0).out


# ---- threads that are gone before the report ends ----


def ended(tmp_path, timeline, first=0):
    """Two threads that wait for each other until step 80, and one that is there until 100."""
    wait = lambda tid: ([(first, "work", "running")] if first else []) + [(80 - first, "lock", held(tid))]
    return app(tmp_path, [wait(0x11), wait(0x10), [(100, "work", "running")]], timeline, steps=100)


@pytest.mark.parametrize("timeline", (True, False))
def test_a_deadlock_whose_threads_are_gone_is_not_sure_and_not_to_the_end(tmp_path, timeline):
    path = ended(tmp_path, timeline)
    first = ask("waits", path)["chains"][0]
    assert (first["kind"], first["sure"]) == ("deadlock", False)
    assert "not to the end: its threads are gone after step 80 of 100" in first["evidence"]
    assert "gone after step 80 of 100" in brief(path) and "sure" not in brief(path)


def test_a_deadlock_that_began_late_and_whose_threads_are_gone_does_not_last_to_the_end(tmp_path):
    path = ended(tmp_path, True, 30)
    evidence = ask("waits", path)["chains"][0]["evidence"]
    assert "from step 31 to 80, in 50 of 100 steps; not to the end: its threads are gone after step 80 of 100" in evidence
    assert "from step 31 to 80, in 50 of 100 steps; not to the end" in brief(path)


def test_a_main_thread_that_is_gone_is_said_to_be(tmp_path):
    path = app(tmp_path, [[(60, "work", "running")], [(100, "work", "running")]], steps=100)
    assert "main thread 0x10 ran in 60 of 60 samples (100 %); it is gone after step 60 of 100" in brief(path)


@pytest.mark.parametrize("timeline", (True, False))
def test_a_deadlock_of_a_thread_that_lacks_rows_is_not_sure(tmp_path, timeline):
    """The second of two roots of 0x10 is missing."""
    path = app(tmp_path, [[(80, "lock", held(0x11))], [(100, "lock", held(0x10))]], timeline, steps=100)
    path.write_text(path.read_text().replace('(1)    80 samples (1-80)', '(1)    100 samples (1-100)'))
    first = ask("waits", path)["chains"][0]
    assert (first["kind"], first["sure"]) == ("deadlock", False) and "rows of its threads are missing" in first["evidence"]
    assert "SPAA-W516" in run("waits", path).out and "rows of its threads are missing" in brief(path)


# ---- what waits for nobody ----


def idle(tmp_path, program):
    cpus = [thread(0x50 + i, [(100, "idle_thread", "running, p-core")]).replace("base 31)", "base 0)    idle time 0.9s").replace("priority 31", "priority 0")
            for i in range(4)]
    return report(tmp_path, [process("App", 100, [program]), process("kernel_task", 0, cpus)], steps=100)


def test_idle_threads_are_no_waits_for_nothing_named(tmp_path):
    path = idle(tmp_path, thread(0x10, [(100, "work", None)], queue=QUEUE))
    answer = ask("waits", path)
    assert (answer["waiting_for_nothing_named"], answer["idle_threads"]) == (100, 400)
    assert "100 for nothing named, 400 of idle threads" in waits(path)


def test_stacks_without_callers_are_not_said_of_a_report_whose_others_have_them(tmp_path):
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(100, "wait", None)], queue=QUEUE), """  Thread 0x60    7 samples (1-7)    priority 31 (base 31)
   *7  vm_pageout + 8 (kernel + 35848) [0xfffffe0008008c08] (running) 1-7
"""])], steps=100)
    assert "NO CALLERS" not in brief(path)


def test_the_holder_of_a_port_is_its_process(tmp_path):
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(100, "wait", "blocked by turnstile waiting for receive port held by Srv [200]")], queue=QUEUE)]),
                             process("Srv", 200, [thread(0x30, [(100, "serve", "running")], queue=QUEUE)])], steps=100)
    (wait,) = ask("waits", path)["waiters"][0]["waits"]
    assert (wait["on"], wait["holder"]["process"], wait["holder"]["pid"]) == ("turnstile", "Srv", 200)
    assert "held by Srv [200]" in brief(path) and "the main thread of Srv, 0x30, ran" in brief(path)


# ---- waits that ended and came again ----


def in_turns(tmp_path, timeline, phases):
    """Both threads wait for each other in all samples, in the functions and for what `phases` says."""
    return app(tmp_path, [[(n, f, held(0x11, what)) for n, f, what in phases], [(n, f, held(0x10, what)) for n, f, what in phases]],
               timeline, steps=100)


LOCK = "unfair lock owned by"


@pytest.mark.parametrize("timeline", [True, False])
@pytest.mark.parametrize("phases", [
    [(2, "jobAA" if i % 2 else "jobA", LOCK) for i in range(50)],
    [(50, "job", LOCK), (50, "job", "pthread mutex owned by")],
])
def test_a_thread_whose_stacks_changed_went_on(tmp_path, timeline, phases):
    """One wait has one stack; a deadlock from the last change on only where that is long enough, and known."""
    path = in_turns(tmp_path, timeline, phases)
    (first,) = ask("waits", path)["chains"]
    if timeline and len(phases) == 2:
        assert (first["kind"], first["sure"], first["at_once_from"], first["at_once_to"]) == ("deadlock", False, 51, 100)
        assert "likely: all waits are there at once from step 51 to the end, in 50 of 100 steps" in brief(path)
    else:
        assert (first["kind"], first["deadlock"]) == ("contention", False)
        assert "stacks of its threads changed" in first["evidence"]
        assert "in a deadlock" not in brief(path) and "sure:" not in brief(path)


@pytest.mark.parametrize("timeline", [True, False])
def test_a_wait_of_one_stack_is_sure(tmp_path, timeline):
    (first,) = ask("waits", in_turns(tmp_path, timeline, [(100, "job", LOCK)]))["chains"]
    assert (first["kind"], first["sure"]) == ("deadlock", True)


# ---- several reports in one profile ----


def two(tmp_path, one, other):
    """Paths of two reports of the same threads; and of both as one profile."""
    paths = []
    for name, phases in (("one", one), ("other", other)):
        (tmp_path / name).mkdir()
        paths.append(app(tmp_path / name, phases, steps=100))
    both = tmp_path / "both.spaa"
    run("merge", *paths, "-o", both, code=0)
    return paths, both


WORKS = [(100, "work", "running")]


@pytest.mark.parametrize("merged", [False, True])
def test_waits_of_two_reports_are_no_ring(tmp_path, merged):
    paths, both = two(tmp_path, [[(100, "lock", held(0x11))], WORKS], [WORKS, [(100, "lock", held(0x10))]])
    answer = ask("waits", *([both] if merged else paths))
    assert answer["deadlocks"] == 0 and [c["kind"] for c in answer["chains"]] == ["chain", "chain"]
    assert [(h["did"], h["weight"]) for c in answer["chains"] for h in c["holders"]] == [("ran", 100), ("ran", 100)]
    assert "these are 2 reports" in unwrapped(run("waits", *([both] if merged else paths), code=0).out)


def test_a_deadlock_of_one_of_two_reports_has_its_steps(tmp_path):
    late = [[(40, "work", "running"), (60, "lock", held(0x11))], [(40, "work", "running"), (60, "lock", held(0x10))]]
    paths, both = two(tmp_path, late, [WORKS, WORKS])
    for files in ([both], paths, [paths[0], paths[0]]):
        first = ask("waits", *files)["chains"][0]
        assert (first["kind"], first["at_once_from"], first["at_once_to"]) == ("deadlock", 41, 100)
        assert "-9223" not in run("waits", *files, code=0).out
    assert "these are 2 reports" in brief(both)


# ---- steps that are missing ----


@pytest.mark.parametrize("both", [False, True])
def test_a_step_in_which_a_thread_was_not_seen_does_not_end_its_wait(tmp_path, both):
    phases = [[(40, "work", "running"), (60, "lock", held(0x11))], [(40, "work", "running"), (60, "lock", held(0x10))]]
    path = app(tmp_path, phases, steps=100)
    threads = path.read_text().split("  Thread ")
    for i in (1, 2) if both else (1,):
        threads[i] = threads[i].replace("100 samples (1-100)", "99 samples (1-100 with gaps of 1)").replace("    100   start", "    99    start")
        threads[i] = threads[i].replace("      60 ", "      59 ")
    path.write_text("  Thread ".join(threads))
    first = ask("waits", path)["chains"][0]
    assert (first["kind"], first["sure"], first["at_once_from"], first["at_once_to"]) == ("deadlock", False, 41, 100)
    assert first["at_once"] is None and first["at_once_at_least"] == (58 if both else 59)
    assert "but for those in which not all of its threads were seen" in brief(path)


def test_what_may_have_been_between_ends_a_wait(tmp_path):
    """The step that is missing in one row may be that of another row."""
    path = app(tmp_path, [[(40, "work", "running"), (60, "lock", held(0x11))], [(40, "work", "running"), (60, "lock", held(0x10))]], steps=100)
    text = path.read_text().replace("      60    lock", "      59    lock", 1)
    at = text.index("\n", text.index("      59    lock")) + 1
    path.write_text(text[:at] + "      1     other + 8 (app + 300) [0x100000130] (running) 70\n" + text[at:])
    assert ask("waits", path)["deadlocks"] == 0


# ---- parts of reports ----


@pytest.mark.parametrize("state, verdict", [("", "ran or waited, which is not stated, in 100 of 100"), ("running", "ran in 100 of 100")])
@pytest.mark.parametrize("named", [False, True])
def test_a_part_that_may_be_cut_keeps_its_last_rows_in_doubt(tmp_path, state, verdict, named):
    path = tmp_path / "part.txt"
    text = thread(0x10, [(100, "work", state)], queue=QUEUE)
    text = "Process:          App [100]\n" + text if named else text
    path.write_text(text)
    assert verdict in brief(path)
    assert ("rows of 100 samples may be missing" in brief(path)) == (not state)
    path.write_text(text + "\n")
    assert ("ran in" if state else "waited in") + " 100 of 100" in brief(path)


def test_a_thread_that_the_program_began_is_not_taken_for_the_main_one(tmp_path):
    text = thread(0x20, [(100, "work", "running")]).replace("start + 8", "thread_start + 8")
    for other, main in (("", None), (thread(0x10, [(100, "work", "running")]), 0x10)):
        path = report(tmp_path, [process("App", 100, [text] + ([other] if other else []))])
        hang = ask("summary", path)["hang"]
        assert hang["main"]["tid"] == main, hang
        if not other:
            assert "is known to be the main one" in brief(path) and "main thread 0x20" not in brief(path)


TWICE = "SPAA-W528"


@pytest.mark.parametrize("timeline", [True, False])
def test_what_stands_twice_in_the_same_bytes_is_counted_once(tmp_path, timeline):
    main = thread(0x10, [(100, "work", "running")], queue=QUEUE, timeline=timeline)
    worker = thread(0x11, [(100, "job", "running")], timeline=timeline)
    one, two = process("App", 100, [main, worker]), process("App", 100, [main, worker, worker])
    other = process("App", 100, [main, worker.replace("job", "jab")])
    for processes, weight, said in (([one], 200, 0), ([one, one], 200, 1), ([one, process("B", 7, [worker]), one], 300, 1), ([two], 200, 1),
                                    ([two, two], 200, 1), ([one, other], 400, 0)):
        path = report(tmp_path, processes, timeline)
        answer = ask("info", path)
        assert answer["events"][0]["samples"] == weight, processes
        assert (TWICE in [d["code"] for d in answer["diagnostics"]]) == bool(said)
        assert ("#1" in run("top", path, "--by", "process").out) == (processes == [one, other])
        assert (TWICE in run("top", path).out) == bool(said)


def test_a_report_that_was_pasted_twice_is_counted_once(tmp_path):
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(100, "work", "running")], queue=QUEUE)])])
    text = path.read_text()
    for pasted, code, other in ((text + text, TWICE, "SPAA-L522"), (text + text + text.rstrip(), TWICE, "SPAA-L522"),
                                (text + text.replace("work", "walk"), "SPAA-L522", TWICE)):
        path.write_text(pasted)
        answer = ask("info", path)
        codes = [d["code"] for d in answer["diagnostics"]]
        assert answer["events"][0]["samples"] == 100 and code in codes and other not in codes


def test_an_analysis_of_sample_that_stands_twice_is_counted_once(tmp_path):
    path = tmp_path / "s.txt"
    text = ("Analysis of sampling rg (pid 64) every 1 millisecond\nProcess:         rg [64]\n\nCall graph:\n"
            "    10 Thread_15   DispatchQueue_1: com.apple.main-thread  (serial)\n    + 10 main  (in rg) + 41  [0x10384b549]\n\n")
    for pasted, weight in ((text + text, 10), (text + text.replace("main ", "work "), 20)):
        path.write_text(pasted)
        answer = ask("info", path)
        assert answer["events"][0]["samples"] == weight
        assert (TWICE in [d["code"] for d in answer["diagnostics"]]) == (weight == 10)


def served(tmp_path, second, timeline):
    """0x11 serves one queue until step 50 and another one from then on; it and the main thread wait for each other all along."""
    phases = [("one", 1), (second, 51)]
    threads = [thread(0x10, [(100, "lock", held(0x11))], queue=QUEUE, timeline=timeline)]
    threads += [thread(0x11, [(50, f, held(0x10))], first, '    DispatchQueue "q%d"(%d)' % (first, first), timeline) for f, first in phases]
    return report(tmp_path, [process("App", 100, threads)], timeline, steps=100)


@pytest.mark.parametrize("timeline", [True, False])
def test_what_each_line_of_a_thread_says_counts(tmp_path, timeline):
    first = ask("waits", served(tmp_path, "two", timeline))["chains"][0]
    assert "rows of its threads" not in first["evidence"] and "at once or not" not in first["evidence"]
    assert first["kind"] == ("deadlock" if timeline else "contention") and not first["sure"]
    assert ("at once in 100 steps" in first["evidence"] and "whether the last of them did, spindump -i FILE -timeline tells" in first["evidence"]) != timeline
    path = served(tmp_path, "one", timeline)
    first = ask("waits", path)["chains"][0]
    assert (first["kind"], first["sure"]) == ("deadlock", True)
    path.write_text(path.read_text().replace("50 samples (51-100)", "49 samples (51-99)"))
    first = ask("waits", path)["chains"][0]
    assert (first["kind"], first["sure"]) == ("deadlock", False) and "rows of its threads" in first["evidence"]


@pytest.mark.parametrize("timeline", [True, False])
@pytest.mark.parametrize("ran, waited, verdict", [(9, 5, "idle"), (5, 9, "waited"), (40, 5, "ran"), (9, 0, "idle")])
def test_a_main_thread_that_waited_for_events_most_is_not_said_to_have_run(tmp_path, timeline, ran, waited, verdict):
    phases = [(36, "__CFRunLoopServiceMachPort", None), (ran, "work", "running")] + [(waited, "poll", None)] * bool(waited)
    path = app(tmp_path, [phases], timeline)
    assert ask("summary", path)["hang"]["verdict"] == verdict
    if (ran, waited) == (9, 5):
        text = brief(path)
        assert "waited for events in its run loop in 36 of 50 samples (72 %)" in text
        assert "otherwise it ran in 9 of 50 samples (18 %), it waited in 5 of 50 samples (10 %)" in text


@pytest.mark.parametrize("timeline", [True, False])
def test_a_report_whose_stacks_are_told_apart_by_queue_keeps_its_brief(tmp_path, timeline):
    phases = [[(40, "work", "running"), (60, "lock", held(0x11))], [(100, "job", "running")]]
    path, split = app(tmp_path, phases, timeline), tmp_path / "split.spaa"
    said = run("convert", path, "--group-by", "pid,tid,comm,state,label:queue", "-o", split, code=0)
    assert "SPAA-I321" not in said.err
    whole, apart = ask("summary", path), ask("summary", split)
    assert apart["hang"] == whole["hang"] and apart["hang"]["verdict"] == "waited"
    assert ask("info", split)["reported"] == ask("info", path)["reported"]
    said = run("convert", path, "--group-by", "comm,state,label:queue", "-o", split, code=0)
    assert run("summary", split, code=0).out


@pytest.mark.parametrize("timeline", [True, False])
@pytest.mark.parametrize("second, kind", [(100, "deadlock"), (99, "deadlock"), (98, "contention"), (70, "contention")])
def test_a_ring_whose_threads_are_gone_at_other_times_is_no_deadlock(tmp_path, timeline, second, kind):
    path = app(tmp_path, [[(100, "lock", held(0x11))], [(second, "lock", held(0x10))]], timeline, steps=100)
    first = ask("waits", path)["chains"][0]
    assert first["kind"] == kind
    assert ("one of its threads is gone after step %d, and others went on" % second in first["evidence"]) == (kind == "contention")


def test_the_state_that_is_named_for_more_is_there(tmp_path):
    for states, named in (([held(0x11), "running"], "BLOCKED"), ([None, "running", held(0x11)], "WAITING"), (["runnable", "running"], "RUN_QUEUE")):
        path = app(tmp_path, [[(30, "work%d" % i, state) for i, state in enumerate(states)]])
        assert "--by state, --state %s" % named in run("top", path).out
        run("top", path, "--state", named, code=0)


def test_a_semaphore_is_waited_for(tmp_path):
    path = app(tmp_path, [[(100, "take", "blocked by semaphore")]])
    assert [r["name"] for r in ask("top", path, "--by", "state", "--view", "all")["rows"]] == ["WAITING"]
    text = brief(path)
    assert "main thread 0x10 waited in 100 of 100 samples" in text and "for semaphore" in text


def test_threads_without_a_process_are_listed_without_its_number(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text(thread(0x200, [(100, "work", "running")]))
    said = run("summary", path, "--pid", "50")
    assert said.code and "the threads are (tid 512)" in said.err and "-922337" not in said.err


@pytest.mark.parametrize("indent", ["    ", " ", "\t"])
def test_an_indented_report_is_refused_with_what_undoes_it(tmp_path, indent):
    path = app(tmp_path, [[(100, "work", "running")]])
    whole, text = ask("summary", path)["hang"], path.read_text()
    path.write_text("".join(indent + line + "\n" if line else "\n" for line in text.splitlines()))
    said = run("summary", path)
    assert said.code and "all lines of the report are indented" in said.err and "perl -pe" in said.err
    undone = subprocess.run(["perl", "-pe", r"$i //= $1 if /^([ \t]+)\S/; s/^$i//", path], capture_output=True, text=True).stdout
    assert r"perl -pe '$i //= $1 if /^([ \t]+)\S/; s/^$i//' FILE" in said.err and undone == text


def test_a_wait_for_the_disk_in_msleep_is_one(tmp_path):
    kernel = "buf_biowait + 8 (kernel.release.t6041 + 9) [0xfffffe0008d00009]", "msleep + 8 (kernel.release.t6041 + 99) [0xfffffe0008d00063]"
    path = app(tmp_path, [[(100, "load", None)]], timeline=False)
    path.write_text(path.read_text().rstrip() + "\n       *100   %s\n         *100   %s\n\n" % kernel)
    assert "it waited for the disk, as the kernel's buf_biowait tells, in 100 of 100 samples" in brief(path)


def test_a_main_thread_in_dispatch_main_waits_for_events(tmp_path):
    path = app(tmp_path, [[(100, "_dispatch_sigsuspend", None)]])
    assert ask("summary", path)["hang"]["verdict"] == "idle"
    assert "main thread 0x10 waited for events in dispatch_main in 100 of 100 samples" in brief(path)


@pytest.mark.parametrize("timeline", [True, False])
@pytest.mark.parametrize("second", [60, 40])
def test_processes_of_one_number_and_thread_keep_their_times_apart(tmp_path, timeline, second):
    """cc executes itself at step 41; 0x20 waits for what had the number until then, 0x21 for what had it from then on."""
    phases = [[(40, "one", "running")], [(second, "two", "running")]]
    cc = [process("cc", 50, [thread(0x100, p, 1 + 40 * i, QUEUE, timeline)], "Start time: 2026-02-02 23:22:3%d.000 -0800" % i) for i, p in enumerate(phases)]
    holder = "blocked by unfair lock owned by cc [50] thread 0x100"
    waiters = [thread(0x20, [(40, "lock", holder)], timeline=timeline), thread(0x21, [(30, "lock", holder)], 45, timeline=timeline)]
    path = report(tmp_path, [process("App", 100, waiters)] + cc, timeline, steps=100)
    chains = {c["steps"][0]["tid"]: c for c in ask("waits", path)["chains"]}
    ran = {tid: [h["stack"] if isinstance(h["stack"], str) else h["stack"][-1] for h in c["holders"]] for tid, c in chains.items()}
    assert {tid: [s.split(" > ")[-1] for s in stacks] for tid, stacks in ran.items()} == {0x20: ["one"], 0x21: ["two"]}


# ---- workers, and threads that left their queue ----


def workers(state, leaf=""):
    rows = "    10  start_wqthread + 8 (libsystem_pthread.dylib + 100) [0x180000064]%s\n" % (" (%s)" % state if state and not leaf else "")
    if leaf:
        rows += "     *10  %s + 8 (kernel.release + 100) [0xfffffe0000000064]%s\n" % (leaf, " (%s)" % state if state else "")
    return "  Thread 0x20    10 samples (1-10)    priority 31 (base 31)\n" + rows


@pytest.mark.parametrize("state, leaf, waits", [("", "", True), ("running", "", False), ("runnable", "", False), ("", "workq_park", True)])
def test_a_worker_without_work_waits_unless_it_is_said_to_run(state, leaf, waits, tmp_path):
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(10, "work", "running")], queue=QUEUE, timeline=False), workers(state, leaf)])],
                  timeline=False, steps=10)
    tags = {r["name"]: r["tags"] for r in ask("top", path, "--view", "all")["rows"]}
    assert ("wait" in tags["start_wqthread"]) == waits


@pytest.mark.parametrize("root", ["_dispatch_sig_thread", "thread_start", "start_wqthread"])
def test_a_thread_that_left_its_queue_to_others_is_not_the_main_one(root, tmp_path):
    """dispatch_main() ends the main thread of a daemon: what is left of it sleeps in _dispatch_sig_thread for good."""
    sleeper = "  Thread 0x300    10 samples (1-10)    priority 31 (base 31)\n    10  %s + 8 (libdispatch.dylib + 100) [0x180000064]\n" % root
    sleeper += "      10  __sigsuspend_nocancel + 8 (libsystem_kernel.dylib + 100) [0x181000064]\n"
    path = report(tmp_path, [process("mydaemon", 88, [sleeper, workers("running", "work")])], timeline=False, steps=10, pid=88)
    assert ask("summary", path)["hang"]["main"]["tid"] is None
    assert "no thread of it that has samples is known to be the main one" in brief(path)
    assert "main" not in waits(path)
    asks = report(tmp_path, [process("Editor", 50, [thread(0x10, [(10, "ask", "blocked by turnstile waiting for mydaemon [88]")], queue=QUEUE,
                                                           timeline=False)]),
                             process("mydaemon", 88, [sleeper, workers("running", "work")])], timeline=False, steps=10, pid=50)
    text = brief(asks)
    assert "which thread of mydaemon [88] it waited for: the report names the process alone" in text and "the main thread of mydaemon" not in text


# ---- deadlocks that cannot be known ----


def test_without_a_state_that_names_anybody_deadlocks_are_not_known(tmp_path):
    nobody = app(tmp_path, [[(100, "psynch_mutexwait", "")], [(100, "psynch_mutexwait", "")]], timeline=False)
    assert ask("waits", nobody)["deadlocks"] is None
    assert "who has the locks is not named: deadlocks are not known" in waits(nobody) and "0 deadlocks" not in waits(nobody)
    runs = app(tmp_path, [[(100, "work", "running")], [(100, "work", "running")]], timeline=False)
    assert ask("waits", runs)["deadlocks"] == 0
    named = app(tmp_path, [[(100, "lock", held(0x11))], [(100, "wait", "")]], timeline=False)
    assert ask("waits", named)["deadlocks"] == 0


def test_sample_names_nobody(tmp_path):
    path = tmp_path / "s.sample.txt"
    path.write_text("Analysis of sampling Editor (pid 412) every 1 millisecond\nProcess:         Editor [412]\n\nCall graph:\n"
                    "    20 Thread_6657   DispatchQueue_1: com.apple.main-thread  (serial)\n    + 20 start  (in dyld) + 420  [0x18d04b9ac]\n"
                    "    +   20 __psynch_mutexwait  (in libsystem_kernel.dylib) + 36  [0x18d321410]\n\n"
                    "Total number in stack (recursive counted multiple, when >=5):\n\nBinary Images:\n")
    assert ask("waits", path)["deadlocks"] is None and "deadlocks are not known" in waits(path)


# ---- lines that are lost ----


def lost(tmp_path, stated, indent=4, others=0, spaa=False):
    """A thread whose own rows, and the line of the thread behind it, are lost: it seems to wait for itself."""
    rows = "".join("%s10  %s + 8 (app + %d) [0x%x]%s\n" % (" " * (indent + 2 * i), f, 100 + i, 0x100000064 + i, s)
                   for i, (f, s) in enumerate((("start_wqthread", ""), ("db_write", ""), ("lock", " (%s)" % held(0x10)))))
    threads = ["  Thread 0x10%s    10 samples (1-10)    priority 31 (base 31)\n" % QUEUE + rows]
    threads += [thread(0x30 + i, [(10, "work", "running")], timeline=False) for i in range(others)]
    path = report(tmp_path, [process("App", 100, threads, "Num threads:      %d\n" % stated if stated else "")], timeline=False, steps=10)
    if not spaa:
        return path
    run("convert", path, "-o", tmp_path / "r.spaa", code=0)
    return tmp_path / "r.spaa"


@pytest.mark.parametrize("spaa", [False, True])
@pytest.mark.parametrize("stated, indent, others, sure", [
    (1, 4, 0, True), (None, 4, 0, True), (2, 4, 0, False), (3, 4, 1, False), (2, 4, 1, True), (1, 8, 0, False), (None, 8, 2, False), (None, 2, 0, True)])
def test_where_lines_of_a_process_are_lost_no_deadlock_is_sure(stated, indent, others, sure, spaa, tmp_path):
    path = lost(tmp_path, stated, indent, others, spaa)
    answer = ask("waits", path)
    assert answer["deadlocks"] == 1 and answer["chains"][0]["sure"] is sure
    text = brief(path)
    assert ("likely a deadlock" in text and "rows of its threads are missing or damaged" in text) != sure
    if not spaa:
        assert ("SPAA-W529" in text) == (stated is not None and stated > 1 + others) and ("SPAA-W526" in text) == (indent == 8)


def test_threads_that_the_report_leaves_out_are_not_lost(tmp_path):
    note = "Num threads:      3\nNote:             Has hardened heap\nNote:             2 idle work queue threads omitted\n"
    path = report(tmp_path, [process("App", 100, [thread(0x10, [(10, "lock", held(0x10))], queue=QUEUE, timeline=False)], note)], timeline=False,
                  steps=10)
    assert ask("waits", path)["chains"][0]["sure"] and "SPAA-W529" not in brief(path)


# ---- time ----


@pytest.mark.parametrize("timeline", [True, False])
def test_a_question_of_a_range_of_time_says_what_can_be_asked(timeline, tmp_path):
    path = app(tmp_path, [[(10, "work", "running"), (10, "lock", "")]], timeline=timeline, steps=20)
    answer = run("top", path, "--time", "0.02..0.05", code=2)
    assert "spaa timeline" in answer.err and "convert RECORDING" not in answer.err
    assert ("does not say when" in answer.err) != timeline and (run("timeline", path).code == 0) == timeline
    assert ("SPAA-E609" in answer.err) == timeline


# ---- a program that executes another one ----


def executed(tmp_path, to="cc [99]"):
    make = process("make", 50, [thread(0x10, [(40, "wait_child", "blocked by wait4 on sh [99]")], queue=QUEUE)])
    sh = process("sh", 99, [thread(0x20, [(10, "parse", "running")], queue=QUEUE)], "Execed to:        %s\n" % to if to else "")
    cc = process("cc", 99, [thread(0x20, [(30, "compile", "running")], first=11, queue=QUEUE)], "Execed from:      sh [99]\n")
    return report(tmp_path, [make, sh, cc], steps=40, pid=50)


def test_the_brief_says_what_a_program_executed(tmp_path):
    path = executed(tmp_path)
    said = "sh [99] executed cc [99], which went on in its place: --pid 99 --comm cc looks at it"
    assert said in brief(path)
    assert said in brief(path, "--pid", "99", "--comm", "sh") and "executed" not in brief(path, "--pid", "99", "--comm", "cc")
    assert "main thread 0x20 ran in 30 of 30 samples" in brief(path, "--pid", "99", "--comm", "cc")
    assert "executed" not in brief(executed(tmp_path, None))

"""The brief of hang reports: what happened, what the main thread did, what cannot be known (fixtures/spindump)."""

import json
import os

import pytest

from conftest import ROOT, ask, run, unwrapped

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "spindump")


def fixture(name):
    return os.path.join(FIXTURES, name + ".spindump.txt")


def brief(path, *options):
    return unwrapped(run("summary", path, *options, code=0).out)


@pytest.mark.parametrize("name, verdict, weight, deadlock", [
    ("dispatch_deadlock", "waited", 100, True), ("self_lock", "waited", 50, True), ("abba_deadlock", "waited", 40, True),
    ("deadlock_from_step", "waited", 700, True), ("contention", "ran", 990, False), ("contention_apart", "ran", 990, False),
    ("starved_main", "starved", 170, False), ("running_main", "ran", 190, False), ("waiting_xpc", "waited", 95, False),
    ("waiting_child", "waited", 30, False), ("cpu_limit", None, 0, False)])
def test_what_the_main_thread_did(name, verdict, weight, deadlock):
    hang = ask("summary", fixture(name))["hang"]
    assert (hang["process"], hang["pid"], hang["verdict"], hang["deadlock"]) == ("Editor", 412, verdict, deadlock)
    if verdict:
        assert hang["main"][{"ran": "ran", "starved": "ready", "waited": "waited"}[verdict]] == weight


def test_a_deadlock_in_the_brief():
    text = brief(fixture("dispatch_deadlock"))
    assert "hang of Editor [412]: unresponsive for 3 seconds before sampling, sampled for 1.00s, steps: 100" in text
    assert "footprint 512.30 MiB -> 610.00 MiB (+97.70 MiB)" in text
    assert "main thread 0x1a01 waited in 100 of 100 samples (100 %), in a deadlock" in text
    assert 'it waited for queue "com.example.store", held by Editor [412] 0x1a02' in text
    assert "0x1a02 waited in 100 of 100 samples (100 %): -[Store write] > -[Store notify]" in text
    hang = ask("summary", fixture("dispatch_deadlock"))["hang"]
    assert hang["deadlock_sure"] is True and hang["holder"]["tid"] == 0x1a02 and hang["holder"]["did"] == "waited"
    assert hang["footprint_bytes"] - hang["footprint_before_bytes"] == pytest.approx(97.7 * 2**20, abs=2)


def test_a_main_thread_that_ran_has_its_functions():
    text = brief(fixture("running_main"))
    assert "main thread 0x2101 ran in 190 of 200 samples (95 %)" in text
    assert "it ran in -[Editor open:] > parse(char const*) > lex(char const*), in 150 of 200 samples (75 %)" in text
    assert "own functions" in text and ask("summary", fixture("running_main"))["hang"]["steps_lost"] == 3


def test_a_starved_main_thread_and_who_ran():
    text = brief(fixture("starved_main"))
    assert "was starved: ready to run, without a CPU, in 170 of 200 samples (85 %)" in text
    assert "samples of other threads that ran: cc [500] 200" in text and "own functions" not in text


def test_a_holder_that_is_known_by_its_process():
    text = brief(fixture("waiting_xpc"))
    assert "the main thread of accountd, 0x2202, ran in 100 of 100 samples (100 %): main > serve(request) > query(db)" in text
    assert "cannot know: which thread of accountd [88] (after 2 hops) it waited for" in text
    hang = ask("summary", fixture("waiting_xpc"))["hang"]
    assert hang["holder"] == {"process": "accountd", "pid": 88, "tid": 0x2202, "through_main_thread": True, "hops": 2, "waits_on": 1,
                              "did": "ran", "stack": "main > serve(request) > query(db)"}
    text = brief(fixture("waiting_child"))
    assert "it waited for wait4, the end of convert [99], in 30 of 30" in text and "which thread" not in text


def test_limits():
    hang = ask("summary", fixture("cpu_limit"))["hang"]
    assert hang["event"] == "cpu usage" and hang["action"] is None and hang["steps_lost"] == 3
    assert hang["measured"] == "90 seconds cpu time over 130 seconds (69% cpu average)"
    assert hang["limit"] == "50% cpu over 180 seconds" and float(hang["times_limit"]) == pytest.approx(69 / 50)
    text = brief(fixture("cpu_limit"))
    assert "limit 50% cpu over 180 seconds (1.4 times that); sampled for 120.00s" in text
    assert "microstackshots: samples are of threads that ran" in text and "cannot know: what its threads waited for" in text


@pytest.mark.parametrize("event, field, times", [
    ("wakeups", "Wakeups: 45001 wakeups over the last 218 seconds (206 wakeups per second average), exceeding limit of 150 wakeups per second over "
                "300 seconds", 206 / 150),
    ("disk writes", "Writes: 2147.48 MB of file backed memory dirtied over 9 seconds (239.66 MB per second average), exceeding limit of 24.86 KB "
                    "per second over 86400 seconds", 239.66 * 1000 / 24.86)])
def test_other_limits(event, field, times, tmp_path):
    text = open(fixture("cpu_limit")).read()
    lines = ["Event:            " + event if l.startswith("Event:") else field if l.startswith("CPU:  ") else l for l in text.splitlines()]
    path = tmp_path / "r.txt"
    path.write_text("\n".join(lines).replace("Action taken:     none", "Action taken:     Process killed") + "\n")
    hang = ask("summary", path)["hang"]
    assert (hang["event"], hang["action"]) == (event, "Process killed") and float(hang["times_limit"]) == pytest.approx(times)
    assert "action taken: Process killed" in brief(path)


RUN_LOOP = """Event: hang
PID: 12
Steps: 10 (10ms sampling interval)

Process:          X [12]

  Thread 0xa    DispatchQueue "com.apple.main-thread"(1)    10 samples (1-10)
    10  main + 1 (X + 2) [0x3]
      9  __CFRunLoopServiceMachPort + 1 (CoreFoundation + 9) [0x9]
        9  mach_msg2_trap + 1 (libsystem_kernel.dylib + 9) [0x9]%s
      1  work + 1 (X + 8) [0x8] (running)

Process:          Y [13]

  Thread 0xb    10 samples (1-10)
    10  other + 1 (Y + 2) [0x3] (running)
"""


def test_a_run_loop_is_no_hang(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(RUN_LOOP % "")
    assert ask("summary", path)["hang"]["verdict"] == "idle"
    assert "waited for events in its run loop in 9 of 10 samples" in brief(path)
    path.write_text(RUN_LOOP % " (blocked by turnstile waiting for gone [99])")
    answer = ask("summary", path)
    assert answer["hang"]["verdict"] == "waited" and answer["hang"]["holder"]["tid"] is None
    assert [c["id"] for c in answer["cannot_know"]] == ["holder_did"]


def test_whom_it_is_about(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text((RUN_LOOP % "").replace("PID: 12\n", ""))
    assert ask("summary", path)["hang"]["pid"] is None
    assert "which process is meant is not said" in brief(path)
    hang = ask("summary", path, "--pid", "13")["hang"]
    assert (hang["process"], hang["verdict"], hang["main"]["tid"]) == ("Y", "ran", 0xb)


def test_waits_that_name_nobody_are_said(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(RUN_LOOP.replace("__CFRunLoopServiceMachPort", "send") % "")
    answer = ask("summary", path)
    assert answer["hang"]["verdict"] == "waited" and answer["hang"]["waited_for"] is None
    assert answer["cannot_know"][0]["statement"] == "for whom it waited in 9 of 10 samples (90 %): the states name nobody"


def test_sample_tells_no_states():
    path = os.path.join(ROOT, "tests", "fixtures", "sample", "all.sample.txt")
    answer = ask("summary", path)
    assert answer["hang"]["verdict"] is None and answer["hang"]["main"]["ran"] is None
    assert "states" in [c["id"] for c in answer["cannot_know"]]


@pytest.mark.parametrize("name", sorted(n[:-13] for n in os.listdir(FIXTURES)))
def test_the_brief_fits_and_speaks_of_no_perf(name):
    out = run("summary", fixture(name), code=0).out
    lines = out.splitlines()
    assert len(out.encode()) <= 1800 and len(lines) <= 40 and all(len(line) <= 120 for line in lines)
    assert "perf record" not in out and "CPU 1" not in out
    hang = json.loads(run("summary", fixture(name), "--json", code=0).out)
    assert hang["headline"] == unwrapped(out)[:len(hang["headline"])]


def test_the_brief_survives_spaa(tmp_path):
    for name in ("deadlock_from_step", "waiting_xpc", "cpu_limit"):
        run("convert", fixture(name), "-o", tmp_path / "x.spaa", code=0)
        assert ask("summary", tmp_path / "x.spaa")["hang"] == ask("summary", fixture(name))["hang"]


def loop_and(events, other, ran=0, state=""):
    """A main thread that waited in its run loop in so many samples, then in a function of its own, then ran."""
    rows = ["    %d  main + 1 (X + 2) [0x3]" % (events + other + ran)]
    for n, frames in ((events, ("-[NSApplication run] + 1 (AppKit + 9) [0x9]", "__CFRunLoopServiceMachPort + 1 (CoreFoundation + 9) [0x9]",
                                "mach_msg2_trap + 1 (libsystem_kernel.dylib + 9) [0x9]")),
                      (other, ("orders_sync + 1 (X + 7) [0x7]", "xpc_connection_send_message_with_reply_sync + 8 (libxpc.dylib + 1) [0x8]",
                               "mach_msg2_trap + 1 (libsystem_kernel.dylib + 9) [0x9]" + state)),
                      (ran, ("work + 1 (X + 8) [0x8] (running)",))):
        if n:
            rows += ["    %s%d  %s" % ("  " * (i + 1), n, f) for i, f in enumerate(frames)]
    return ("Event: hang\nPID: 12\nSteps: 100 (10ms sampling interval)\n\nProcess:          X [12]\n\n"
            '  Thread 0xa    DispatchQueue "com.apple.main-thread"(1)    %d samples (1-%d)\n' % (events + other + ran, events + other + ran)
            + "\n".join(rows) + "\n\n")


@pytest.mark.parametrize("events, other, ran, verdict, said", [
    (51, 49, 0, "waited", "waited in 49 of 100 samples (49 %)"), (45, 55, 0, "waited", "waited in 55 of 100 samples (55 %)"),
    (90, 10, 0, "waited", "waited in 10 of 100 samples (10 %)"), (95, 5, 0, "idle", "waited for events in its run loop in 95 of 100"),
    (60, 0, 40, "idle", "waited for events in its run loop in 60 of 100"), (40, 15, 45, "ran", "ran in 45 of 100")])
def test_only_the_wait_of_the_run_loop_is_for_events(events, other, ran, verdict, said, tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(loop_and(events, other, ran))
    answer, text = ask("summary", path), brief(path)
    main = answer["hang"]["main"]
    assert answer["hang"]["verdict"] == verdict and "main thread 0xa " + said in text
    assert (main["events"], main["waited"], main["ran"]) == (events, events + other, ran)
    if verdict == "waited":
        assert "heaviest stack: main > orders_sync, in %d of 100" % other in text
        assert "otherwise it waited for events in its run loop in %d of 100" % events in text
        assert "for whom it waited in %d of 100" % other in text

"""Judgement of hang reports (spindump, sample): what runs, what waits, whose it is, when it was.

The fixtures are made by hand after the wording of such reports: states.spindump.txt has idle threads, receiving
servers, headers and pids that come again; disk_writes.spindump.txt is a diskwrites_resource report; leaves.sample.txt
has the functions that threads wait in.
"""
import json
import os

import pytest

from conftest import ROOT, ask, run
from gen_spindump import Report
from test_spindump import Profile, rendered

SPINDUMP = os.path.join(ROOT, "tests", "fixtures", "spindump")
STATES = os.path.join(SPINDUMP, "states.spindump.txt")
WRITES = os.path.join(SPINDUMP, "disk_writes.spindump.txt")
TIMELINE = os.path.join(SPINDUMP, "timeline.spindump.txt")
HEAVY = os.path.join(SPINDUMP, "heavy.spindump.txt")
LEAVES = os.path.join(ROOT, "tests", "fixtures", "sample", "leaves.sample.txt")
SHARES = {"running": 77, "runnable": 6, "blocked": 4, "waiting": 260, "suspended": 0, "idle": 212, "unknown": 0, "unstated": 0}


@pytest.fixture(params=["report", "spaa"])
def states(request, tmp_path):
    """The report, and SPAA made of it: both are to answer alike."""
    if request.param == "report":
        return STATES
    spaa = tmp_path / "x.spaa"
    run("convert", STATES, "-o", spaa, code=0)
    return spaa


def rows(file, *options, stdin=None):
    return {r["name"]: r["self"] for r in ask("top", file, "--limit", 0, *options, stdin=stdin)["rows"]}


# What runs


def test_cpu_is_what_ran(states):
    answer = ask("top", states)
    assert (answer["profile"]["view"], answer["whole"], answer["profile"]["event_whole"]) == ("cpu", 77, 559)
    assert answer["profile"]["states"] == SHARES and sum(SHARES.values()) == 559
    assert {r["function"]: r["self"] for r in answer["rows"] if r["self"]} == {"serve": 70, "crunch": 5, "main": 2}


def test_each_state_has_a_view_and_a_share(states):
    for share, state in (("runnable", "RUN_QUEUE"), ("blocked", "BLOCKED"), ("waiting", "WAITING"), ("idle", "IDLE")):
        assert ask("top", states, "--state", state)["whole"] == SHARES[share]
    assert ask("top", states, "--view", "latency")["whole"] == 559 - SHARES["idle"]
    text = run("top", states, code=0).out
    assert "running 77 of 559 samples; runnable 6 (1.07%), blocked 4 (0.72%), waiting 260 (46.51%), idle 212 (37.92%)" in text
    assert "running 77 of 559 samples" in run(states, code=0).out


def test_shares_are_of_what_is_asked_about(states):
    answer = ask("top", states, "--comm", "helper")
    assert answer["profile"]["states"] == dict.fromkeys(SHARES, 0) | {"running": 2}


def test_idle_by_name_by_function_and_by_priority_with_idle_time(states):
    idle = ask("top", states, "--state", "IDLE", "--by", "thread", "--limit", 0)["rows"]
    assert {r["tid"]: r["self"] for r in idle} == {0x64: 100, 0x65: 100, None: 12}


def test_a_thread_of_priority_0_that_says_no_idle_time_is_not_idle():
    text = open(STATES).read().replace("priority 0 (base 0)    idle time 0.790s", "priority 0 (base 0)")
    assert ask("top", "-", stdin=text)["profile"]["states"]["idle"] == 112


def test_servers_that_receive_wait_and_are_not_blocked(states):
    blocked = ask("top", states, "--state", "BLOCKED")["rows"]
    assert [(r["function"], r["self"]) for r in blocked if r["self"]] == [("__psynch_mutexwait", 4)]
    assert rows(states, "--state", "WAITING")["mach_msg2_trap"] == 60


@pytest.mark.parametrize("text, state", [
    ("blocked by turnstile UNKNOWN waiting for receive port", "WAITING"),
    ("turnstile UNKNOWN waiting for receive port, name 0x1003", "WAITING"),
    ("blocked by turnstile waiting for receive port [12] thread 0x5", "BLOCKED"),  # a process of that name
    ("suspended, blocked by turnstile UNKNOWN waiting for receive port", "SUSPENDED"),
    ("running, p-core", "RUNNABLE"), ("state IDLE", "IDLE")])
def test_states(text, state):
    report = "Steps: 1\n\nProcess: a [1]\n\n  Thread 0x1    1 sample (1)\n    1  f + 1 (a + 1) [0x1] (%s)\n" % text
    assert [k[3] for k in Profile(report).stacks()] == [state]


def test_cpu_time_that_contradicts_samples_is_said(states):
    said = [d["message"] for d in ask("top", states)["diagnostics"] if d["code"] == "SPAA-W519"]
    assert len(said) == 1 and "helper (pid 77): CPU time 2.5 s, 2 running samples (20 ms)" in said[0]
    assert "started 2026-02-02 23:22:35.600 -0800): CPU time 1 ms, 40 running samples (400 ms)" in said[0]
    assert "310 ms" not in said[0]  # 30 and 5 samples of 10 ms: these fit
    assert "CPU time and running samples do not fit" in run(states, code=0).out


# sample(1), which states nothing


def test_leaves_of_sample_tell_what_waits():
    answer = ask("top", LEAVES)
    assert answer["profile"]["states"] == dict.fromkeys(SHARES, 0) | {"waiting": 4890, "blocked": 90, "unstated": 20}
    got = {r["function"]: r["self"] for r in answer["rows"] if r["self"]}
    assert got == {"decode_frame": 10, "read": 7, "poll": 3}  # its own poll is not the system's
    text = run("top", LEAVES, code=0).out
    assert "perhaps running 20 of 5,000 samples" in text and "sample(1) states none" in text
    assert rows(LEAVES, "--by", "state", "--view", "all") == {"WAITING": 4890, "BLOCKED": 90, "?": 20}


def test_the_brief_does_not_call_it_cpu():
    text = run(LEAVES, code=0).out
    assert "CPU" not in text and "perhaps running 20 of 5,000 samples" in text


def test_sample_comes_back():
    spaa = run("convert", LEAVES, "--to", "spaa", "-o", "-", code=0).raw
    text = run("convert", "-", "--from", "spaa", "--to", "sample", "-o", "-", stdin=spaa, code=0)
    assert run("convert", "-", "--from", "sample", "--to", "spaa", "-o", "-", stdin=text.out, code=0).raw == spaa
    assert "SPAA-W313" not in text.err


SAMPLED = """Analysis of sampling App (pid 512) every 1 millisecond
Process:         App [512]
Path:            /Applications/App.app/Contents/MacOS/App
Parent Process:  launchd [1]
Date/Time:       2026-02-02 23:22:34.999 -0800
OS Version:      macOS 26.2 (25C56)

Call graph:
    1000 Thread_5001   DispatchQueue_1: com.apple.main-thread  (serial)
    + 1000 start  (in dyld) + 462  [0x190000064]
    +   700 wait  (in libsystem_kernel.dylib) + 8  [0x180001000]
    +   ! 700 __psynch_mutexwait  (in libsystem_kernel.dylib) + 8  [0x180001010]
    +   250 render  (in App) + 20,44,...  [0x100000300,0x100000318,...]
    +   50 mach_msg2_trap  (in libsystem_kernel.dylib) + 8  [0x180002000]
    999 Thread_5002: worker
      999 crunch  (in App) + 8  [0x100000500]

Binary Images:
       0x100000000 -        0x10000ffff +com.x.app (1.0 - 1) <AAAAAAAA-0000-3000-8000-000000000001> /Applications/App.app/Contents/MacOS/App
       0x180000000 -        0x1800fffff  libsystem_kernel.dylib (1) <975AFBA0-C46B-364C-BD84-A75DAA9E455A> /usr/lib/system/libsystem_kernel.dylib
"""


def converted(text, source, to):
    return run("convert", "-", "--from", source, "--to", to, "-o", "-", stdin=text, code=0).out


def test_sample_as_spindump_says_no_more_and_keeps_what_it_can():
    report = converted(SAMPLED, "sample", "spindump")
    assert "Steps:            1000 (1000us sampling interval)\n" in report  # of one thread, not of both
    assert "Note:             states are told by innermost functions; sample(1) states none\n" in report
    assert "Date/Time:        2026-02-02 23:22:34.999 -0800\n" in report
    before, after = (Profile(text) if kind == "spindump" else ask("top", "-", "--view", "all", stdin=text)
                     for text, kind in ((report, "spindump"), (SAMPLED, "sample")))
    (process,) = before.processes
    assert process["path"].endswith("/App") and process["parent_pid"] == 1 and len(process["images"]) == 2
    frames = {f["func"]: f for f in before.frames.values()}
    assert frames["render"]["ip"] == "0x300" and frames["render"]["x_spindump"]["address"] == "0x100000300"
    states = ask("top", "-", "--view", "all", stdin=report)["profile"]["states"]
    assert states == after["profile"]["states"] and (states["unstated"], states["running"], states["unknown"]) == (1249, 0, 0)


def test_what_is_not_stated_is_no_wait_in_the_brief():
    for text, ran in ((SAMPLED, None), (converted(SAMPLED, "sample", "spindump"), 0)):
        hang = ask("summary", "-", stdin=text)["hang"]
        assert (hang["verdict"], hang["main"]["waited"], hang["main"]["unknown"], hang["main"]["ran"]) == ("waited", 750, 250, ran)
        said = run("summary", "-", stdin=text, code=0).out
        assert "waited in 750 of 1,000 samples (75 %)" in said
        assert "otherwise it ran or waited, which is not stated, in 250 of 1,000 samples (25 %)" in said
        assert "perhaps running 1,249 of 1,999 samples" in said


def test_spindump_as_sample_keeps_images_and_addresses():
    back = converted(converted(SAMPLED, "sample", "spindump"), "spindump", "sample")
    assert "[0x100000300]" in back and "+com.x.app (1.0 - 1)" in back
    paths = [i["path"] for line in converted(back, "sample", "spaa").splitlines() for i in [json.loads(line)] if i["type"] == "x_spaa_image"]
    assert len(paths) == 2


def test_states_that_were_left_out_do_not_become_waits():
    spaa = run("convert", TIMELINE, "--group-by", "pid,tid,comm", "--to", "spaa", "-o", "-", code=0).raw
    report = run("convert", "-", "--from", "spaa", "--to", "spindump", "-o", "-", stdin=spaa, code=0).out
    states = ask("top", "-", "--view", "all", stdin=report)["profile"].get("states")
    assert states is None or states["waiting"] == 0


# What is no report


CRASH = """Process:               App [100]
Path:                  /Applications/App.app/Contents/MacOS/App
Identifier:            com.x
OS Version:            macOS 14.0 (23A344)
Report Version:        12

Crashed Thread:        0  Dispatch queue: com.apple.main-thread

Exception Type:        EXC_BAD_ACCESS (SIGSEGV)

Thread 0 Crashed:: Dispatch queue: com.apple.main-thread
0   App                           \t0x0000000100003f00 main + 40
"""


@pytest.mark.parametrize("text", [CRASH, '{"app_name":"App","bug_type":"309"}\n{"pid":100,"threads":[],"faultingThread":0}\n'])
def test_a_crash_report_is_told_what_it_is(text):
    err = run("top", "-", stdin=text, code=3).err
    assert "this is a crash report: the stack of each thread, once, and no samples" in err and "sample PID" in err


def test_two_lines_of_powerstats_are_no_report():
    text = "Powerstats for:   the lab [12]\n  5  W + 8 (idle + 3) [0x1]\n"
    assert "unknown format" in run("top", "-", stdin=text, code=3).err
    real = text.replace("\n", "\nPath:             /usr/bin/lab\n", 1)
    assert ask("top", "-", stdin=real)["whole"] == 5


# Microstackshots


def test_microstackshots_are_of_threads_that_ran():
    assert rows(WRITES, "--by", "state") == {"RUNNABLE": 14}
    assert rows(WRITES, "--by", "process") == {"indexer (pid 512)": 13, "kernel_task (pid 0)": 1}
    assert rows(os.path.join(SPINDUMP, "powerstats.spindump.txt"), "--by", "state") == {"RUNNABLE": 3}


def test_a_step_of_a_disk_writes_report_is_bytes():
    answer = ask("top", WRITES, "--metric", "written_bytes")
    assert (answer["profile"]["event"], answer["profile"]["unit"], answer["whole"]) == ("disk-writes", "bytes", 14 * 10490000)
    assert ask("info", WRITES)["events"][0]["kind"] == "probe"
    fields = dict(Profile(open(WRITES).read()).x["fields"])
    assert fields["Steps"] == "14 (10.49 MB/step)" and fields["Action taken"] == "none"
    assert fields["Writes"].endswith("exceeding limit of 24.86 KB per second over 86400 seconds")


def test_a_step_of_a_wakeups_report_is_wakeups_where_it_says_so():
    text = open(WRITES).read().replace("disk writes", "wakeups").replace("14 (10.49 MB/step)", "14 (45 wakeups/step)")
    answer = ask("top", "-", "--metric", "wakeups", stdin=text)
    assert (answer["profile"]["event"], answer["whole"]) == ("wakeups", 14 * 45)
    plain = ask("top", "-", stdin=text.replace(" (45 wakeups/step)", ""))
    assert (plain["profile"]["event"], plain["whole"]) == ("stackshot", 14)


def test_microstackshots_come_back():
    profile = Profile(open(WRITES).read())
    text = rendered(open(WRITES).read())
    assert "(running)" not in text and Profile(text).raw == profile.raw


# Queues, headers and pids that come again


def test_queues_of_one_thread_stay_apart(states):
    want = {"io": 40, "work": 60}
    for by in ("queue", "label:queue"):
        assert rows(states, "--by", by, "--view", "all", "--thread", 514) == want
    assert rows(states, "--by", "queue", "--view", "all") == {"[no queue]": 314, "com.apple.main-thread": 140, "io": 43,
                                                              "work": 62}
    assert ask("top", states, "--label", "queue=work", "--view", "all")["whole"] == 62


def test_processes_of_one_number_are_apart_with_their_times(states):
    got = {r["name"]: (r["self"], r["cpu_time_ns"]) for r in ask("top", states, "--by", "process", "--view", "all")["rows"]}
    began = "Server (pid 77, started 2026-02-02 23:22:35.%s -0800)"
    assert got == {"kernel_task (pid 0)": (312, 400000000), began % "000": (205, 310000000), began % "600": (40, 1000000),
                   "helper (pid 77)": (2, 2500000000)}


@pytest.mark.parametrize("other", [True, False])
def test_a_process_reported_twice_keeps_both_where_these_differ(other):
    text = open(STATES).read()
    begin = text.index("Process:          Server [77]")
    end = text.index("Process:          Server [77]", begin + 1)
    block = text[begin:end]
    again = block.replace("CPU Time:         0.310s", "CPU Time:         0.311s") if other else block
    twice = text[:end] + again + text[end:]
    profile = Profile(twice)
    assert sum(v for k, v in profile.stacks().items()) == 559 + 205 * other
    assert ("SPAA-W528" in profile.answer.err) != other
    if not other:
        assert profile.stacks() == Profile(text).stacks()
    assert Profile(rendered(twice)).raw == profile.raw


def test_microstackshots_beside_a_process_are_apart():
    block = "%s a [1]\nUUID: 0\n\n%s    3  f + 1 (a + 1) [0x1]\n\n\n"
    text = "Steps: 3\n\n" + block % ("Process:", "  Thread 0x1    3 samples (1-3)\n") + block % ("Powerstats for:", "")
    assert rows("-", "--by", "process", "--view", "all", stdin=text) == {"a (pid 1)": 3, "a (pid 1, microstackshots)": 3}
    assert Profile(rendered(text)).raw == Profile(text).raw


@pytest.mark.parametrize("seed", range(24))
def test_rendered_reports_agree_with_themselves(seed):
    """Threads with several headers, `Thread <multiple>`, reused and exec'd pids, microstackshots beside processes."""
    report = Report(seed=seed, processes=6, timeline=seed % 3 == 0, odd=seed % 2 == 0, again=True)
    profile = Profile(report.text)
    assert profile.stacks() == report.stacks
    text = rendered(report.text)
    again = Profile(text)
    assert "SPAA-" not in profile.answer.err + again.answer.err
    assert again.raw == profile.raw and rendered(text) == text


def test_answers_fit_120_columns(states):
    for options in ([], ["--by", "process"], ["--by", "thread"], ["--by", "queue,thread"], ["--by", "state"]):
        for line in run("top", states, "--view", "all", *options, code=0).out.splitlines():
            assert len(line) <= 120


# When


def test_timeline_of_steps():
    answer = ask("timeline", TIMELINE, "--view", "all")
    assert (answer["from"], answer["steps"]) == ("steps", {"last": 8, "interval_ns": 5000000, "not_told_apart": 2})
    assert [r["weight"] for r in answer["rows"]] == [2, 3, 3, 2, 2, 2, 2, 2]  # of 0x13 two are in 2-3, and two somewhere else
    assert (float(answer["rows"][2]["start"]), float(answer["time"]["end"])) == (0.01, 0.04)
    two = ask("timeline", TIMELINE, "--view", "all", "--buckets", 2)
    assert [r["weight"] for r in two["rows"]] == [10, 8]
    one = ask("timeline", TIMELINE, "--view", "all", "--buckets", 1)
    assert [r["weight"] for r in one["rows"]] == [20] and one["steps"]["not_told_apart"] == 0
    text = run("timeline", TIMELINE, "--view", "all", code=0).out
    assert "by the steps of the report: 8, 5 ms each; weights are at least" in text


@pytest.mark.parametrize("seed", range(6))
def test_timeline_agrees_with_the_threads_of_the_report(seed):
    """A thread of N samples was seen in the first N steps: in each one stack has it."""
    report = Report(seed=seed, processes=4, timeline=True, odd=seed == 3)
    answer = ask("timeline", "-", "--view", "all", "--buckets", 60, stdin=report.text)
    samples = [t["samples"] for t in report.threads.values()]
    want = [sum(n >= step for n in samples) for step in range(1, len(answer["rows"]) + 1)]
    got, rest = [r["weight"] for r in answer["rows"]], answer["steps"]["not_told_apart"]
    assert sum(got) + rest == sum(samples) and all(a <= b for a, b in zip(got, want))
    assert (got == want) == (rest == 0) and (rest > 0) == (seed == 3)  # rows without a range are odd


def test_timeline_of_steps_in_spaa(tmp_path):
    spaa = tmp_path / "x.spaa"
    run("convert", TIMELINE, "-o", spaa, code=0)
    a, b = ask("timeline", TIMELINE, "--view", "all"), ask("timeline", spaa, "--view", "all")
    assert a["rows"] == b["rows"] and a["steps"] == b["steps"]


@pytest.mark.parametrize("file, hint", [(HEAVY, "-timeline"), (LEAVES, "spindump PID -timeline")])
def test_reports_in_order_of_counts_say_what_to_record(file, hint):
    answer = run("timeline", file, code=2)
    assert "in order of counts" in answer.err and hint in answer.err


def test_without_an_interval_there_is_no_time():
    text = open(TIMELINE).read().replace(" (5ms sampling interval)", "")
    assert "how long a step is" in run("timeline", "-", stdin=text, code=2).err


# Parts of reports


def part(begin, end):
    text = open(STATES).read()
    i = text.index(begin)
    return text[i:text.index(end, i + 1)]


def notes(answer):
    return [d["message"] for d in answer["diagnostics"] if d["code"] == "SPAA-I514"]


def test_one_pasted_process_opens():
    answer = ask("top", "-", stdin=part("Process:          Server [77]", "Process:          Server [77]"))
    assert answer["profile"]["source_tool"] == "spindump" and answer["whole"] == 35
    assert len(notes(answer)) == 1 and "no header" in notes(answer)[0] and "process" not in notes(answer)[0]


@pytest.mark.parametrize("outdented", [False, True])
def test_one_pasted_thread_opens(outdented):
    text = part("  Thread 0x201", "  Thread 0x202")
    if outdented:
        text = text[2:]
    answer = ask("top", "-", stdin=text)
    assert answer["whole"] == 30 and answer["rows"][0]["function"] == "serve"
    assert "no line of a process; no binary images" in notes(answer)[0]
    assert Profile(rendered(text)).raw == Profile(text).raw


@pytest.mark.parametrize("text", [
    "Thread 0x00007f1c (most recent call first):\n  File \"a.py\", line 3 in f\n",
    "Thread 0x1 was here with 5 samples (1-5) of wine\nand another line\nof prose that goes on\nand on\n",
    "Process: improvement\n\nWe looked at 3 things.\n"])
def test_other_text_is_none(text):
    assert "spindump" not in run("info", "-", stdin=text).out


@pytest.mark.parametrize("text", [
    "Process: nginx [1234]\nThread 0x7f00 started\n  Thread 0x7f00    100 requests\n    100  GET /index.html 200\n",
    "Process: backup [4411]\n  Thread 0x7f31 started\n  Thread 0x7f32 started\n  12 files copied\n  14 files skipped\n",
    "Process: httpd [22]\n\n  Thread 0x1    5 requests\n    5  GET /\n    3  POST /x\n",
    "  Thread 0x10 is used\n  100 foo + 8\n",
    "Steps: 3\nProcess: worker [77]\n  Thread 0x44 idle\n  12 left\n"])
def test_logs_are_no_report(text):
    out = run("info", "-", stdin=text, code=3)
    assert "SPAA-E005" in out.err


def fenced(text, info=""):
    return "```%s\n%s```\n" % (info, text)


@pytest.mark.parametrize("around", [("", ""), ("Here is the hang:\n\n", ""), ("Hi,\nit hangs:\n", "\nThanks!\n")])
def test_reports_in_a_code_fence_open(around):
    for text in (part("Process:          Server [77]", "Process:          Server [77]"), part("  Thread 0x201", "  Thread 0x202"),
                 open(STATES).read(), open(LEAVES).read()):
        answer = ask("top", "-", "--view", "all", stdin=around[0] + fenced(text, "text") + around[1])
        assert answer["rows"] == ask("top", "-", "--view", "all", stdin=text)["rows"]
        assert not [d for d in answer["diagnostics"] if d["code"] in ("SPAA-W515", "SPAA-L510")]
        assert bool(around[0]) == bool([d for d in answer["diagnostics"] if "around the report's code fence" in d["message"]])


def test_a_fence_that_was_not_copied_whole():
    text = part("  Thread 0x201", "  Thread 0x202")
    for cut in (text + "```\n", "```\n" + text):
        assert ask("top", "-", stdin=cut)["rows"] == ask("top", "-", stdin=text)["rows"]


def test_a_page_that_shows_a_report_is_none():
    text = "# Hang reports\n\nA process looks\nlike this:\n\n" + fenced("Process:          App [100]\n\n  Thread 0x10    100 samples (1-100)\n"
                                                               "    100  start + 8 (app + 100) [0x100000064]\n") + "\nand so on.\n"
    run("info", "-", stdin=text, code=3)

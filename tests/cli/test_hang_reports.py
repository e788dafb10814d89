"""Briefs and waits of small hang reports that are made here, so that what they must say is known."""

import re

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
    assert "before that it waited in 600 of 1,000 samples (60 %)" in brief(path)


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

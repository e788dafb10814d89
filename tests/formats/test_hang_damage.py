"""Hang reports after mail clients, editors and terminals had them: wrapped, joined, with tabs, cut off, damaged.

What comes out is what the whole report says, or it is said what is missing.
"""
import collections
import quopri
import random

import re

import pytest

from conftest import ask, parse, run
from gen_spindump import Report
from test_spindump import Profile

# Lines that are wrapped


def wrapped(line, width):
    """As a mail client does: at blanks, which are lost; the rest begins at the margin."""
    out, least = [], len(line) - len(line.lstrip()) + 1
    while len(line) > width:
        at = line.rfind(" ", least, width + 1)
        at = line.find(" ", max(width, least)) if at < 0 else at
        if at < 0:
            break
        out.append(line[:at].rstrip())
        line, least = line[at:].lstrip(), 1
    return out + [line]


@pytest.mark.parametrize("seed", range(18))
def test_wrapped_reports_read_as_whole_ones(seed):
    """Rows are broken in their names, images, addresses, states and ranges; lines of threads, too."""
    report = Report(seed=seed, processes=3, timeline=seed % 2 == 0, odd=False, tail=False)
    lines, out = report.text.split("\n"), []
    for n, line in enumerate(lines, 1):
        row = n in report.frame_lines or line.startswith("  Thread 0x")
        out += wrapped(line, (44, 60, 72, 76)[seed % 4]) if row else [line]
    got, want = Profile("\n".join(out)), Profile(report.text)
    assert len(out) > len(lines) and "SPAA-W523" in got.answer.err
    assert got.stacks() == report.stacks
    assert "SPAA-L5" not in got.answer.err and "SPAA-W516" not in got.answer.err
    assert got.facts == want.facts


@pytest.mark.parametrize("width", [60, 72, 76])
def test_wrapped_reports_are_told_what_they_are(width):
    for seed in range(3):
        report = Report(seed=seed, processes=3, timeline=seed % 2 == 0, odd=False, tail=False)
        for text, form in ((report.text, "spindump"), (SAMPLE, "sample")):
            answer = ask("info", "-", stdin="\n".join(part for line in text.split("\n") for part in wrapped(line, width)))
            assert answer["format"] == form


REPORT = """Date/Time:        2026-02-02 23:22:34.999 -0800
Steps:            100 (10ms sampling interval)

--------------------------------------------------
%s format: stacks are sorted by count
--------------------------------------------------

Process:          App [100]
UUID:             A0000000-0000-0000-0000-000000000001
Path:             /Applications/App.app/Contents/MacOS/App

  Thread 0x10    DispatchQueue "com.apple.main-thread"(1)    100 samples (1-100)    priority 46 (base 46)    cpu time 0.9s (3.2G cycles, 1.1G instructions)
  100  start + 160 (dyld + 12160) [0x180002f80]%s
    100  -[Foo applicationWillFinishLaunching:options:] + 200 (App + 8600) [0x100002198]%s
      60   work(int, char*) + 40 (App + 9000) [0x100002328] (running)%s
      40   __psynch_mutexwait + 8 (libsystem_kernel.dylib + 4096) [0x180001000]%s
       *40   psynch_mtxcontinue + 208 (kernel + 91408) [0xfffffe0180016510] (blocked by turnstile waiting for B [7] thread 0x9 after 2 hops)%s

  Thread 0x11    100 samples (1-100)
  100  other + 8 (App + 16) [0x100000010] (running)%s

Process:          B [7]

  Thread 0x9    100 samples (1-100)
  100  serve + 8 (B + 16) [0x200000010] (runnable)%s
"""
RANGES = (" 1-100", " 1-100", " 1-60", " 61-100", " 61-100", " 1-100", " 1-100")


def whole(timeline=False):
    return REPORT % (("Timeline", *RANGES) if timeline else ("Heavy", *[""] * 7))


@pytest.mark.parametrize("timeline", [False, True])
def test_a_row_broken_at_any_blank_is_put_together(timeline):
    lines = whole(timeline).split("\n")
    want = Profile("\n".join(lines))
    for n, line in enumerate(lines):
        if not (line.startswith("  ") and " [0x" in line):
            continue
        text = line.lstrip(" *").index("  ") + len(line) - len(line.lstrip(" *")) + 2
        for at in [i for i in range(text, len(line)) if line[i] == " "]:
            got = Profile("\n".join(lines[:n] + [line[:at], line[at + 1:]] + lines[n + 1:]))
            assert got.stacks() == want.stacks(), (line[:at], line[at + 1:])
            assert "SPAA-W523" in got.answer.err and "line %d" % (n + 1) in got.answer.err and "SPAA-L" not in got.answer.err


def test_a_row_broken_behind_its_count():
    text = whole().replace("100  -[Foo", "100\n-[Foo")
    assert Profile(text).stacks() == Profile(whole()).stacks()


@pytest.mark.parametrize("name", ["-[Foo bar:", "-[Foo applicationWillFinishLaunching:"])
def test_a_selector_that_is_wrapped_does_not_end_its_process(name):
    row = "    100  -[Foo applicationWillFinishLaunching:options:] + 200"
    text = whole().replace(row, "    100  -[Foo\n%sbaz:] + 200" % name[6:])
    got = Profile(text)
    want = {(k[0], k[1], k[3]): v for k, v in Profile(whole()).stacks().items()}
    assert {(k[0], k[1], k[3]): v for k, v in got.stacks().items()} == want
    assert [p["name"] for p in got.processes] == ["App", "B"]
    # Broken in the middle of the word, as some do: a blank stands in it, and the process goes on all the same.
    got = Profile(whole().replace("Launching:options:]", "Launching:\noptions:]"))
    assert {(k[0], k[1], k[3]): v for k, v in got.stacks().items()} == want and "SPAA-W523" in got.answer.err


def test_lines_that_are_no_part_of_a_row_are_said_and_change_nothing():
    text = whole().replace("(running)\n      40", "(running)\nnoise: here\nand here\n      40")
    got = Profile(text)
    assert got.stacks() == Profile(whole()).stacks()
    assert got.answer.err.count("SPAA-L510") == 2 and "noise: here" in got.answer.err and "SPAA-W523" not in got.answer.err


@pytest.mark.parametrize("at", [" 100 samples (", " samples (1-", " priority 46", " (base 46)", " cpu time", " (3.2G", " 1.1G instructions"])
def test_the_line_of_a_thread_is_put_together(at):
    head, rest = whole().split("  Thread 0x10 ")
    text = head + "  Thread 0x10 " + rest.replace(at, "\n" + at.lstrip(), 1)
    got, want = Profile(text), Profile(whole())
    assert got.stacks() == want.stacks() and got.facts == want.facts and "SPAA-W523" in got.answer.err


# Rows that share a line


@pytest.mark.parametrize("timeline", [False, True])
def test_rows_joined_by_one_blank_are_taken_apart(timeline):
    lines = whole(timeline).split("\n")
    want = Profile("\n".join(lines)).stacks()
    rows = [n for n, line in enumerate(lines) if line.startswith("  ") and " [0x" in line]
    for n in rows:
        if n + 1 not in rows:
            continue
        got = Profile("\n".join(lines[:n] + [lines[n] + " " + lines[n + 1].lstrip()] + lines[n + 2:]))
        assert got.stacks() == want, lines[n + 1]
        assert "SPAA-W521" in got.answer.err and "line %d" % (n + 1) in got.answer.err and "SPAA-L524" not in got.answer.err
    # The line end is a blank, and those of the next row stand behind it: its column is told.
    for n in rows:
        if n + 1 in rows:
            assert Profile("\n".join(lines[:n] + [lines[n] + " " + lines[n + 1]] + lines[n + 2:])).stacks() == want


def test_the_first_row_behind_the_line_of_its_thread():
    got = Profile(whole().replace("instructions)\n  100  start", "instructions) 100  start"))
    assert got.stacks() == Profile(whole()).stacks() and "SPAA-W521" in got.answer.err


@pytest.mark.parametrize("seed", range(12))
def test_joined_rows_stand_where_they_fit_or_it_is_said(seed):
    rng = random.Random(seed)
    report = Report(seed=seed, processes=2, timeline=seed % 2 == 0, odd=False, tail=False)
    lines, rows = report.text.split("\n"), set(report.frame_lines)
    n = rng.choice([n for n in range(len(lines) - 1) if n + 1 in rows and n + 2 in rows])
    got = Profile("\n".join(lines[:n] + [lines[n] + " " + lines[n + 1].lstrip()] + lines[n + 2:]))
    assert "SPAA-W521" in got.answer.err
    assert got.stacks() == report.stacks or "SPAA-L524" in got.answer.err
    assert sum(got.stacks().values()) == sum(report.stacks.values())


def test_where_two_places_fit_the_row_is_left_out_and_no_state_is_told():
    rows = "  9   a + 1 (A + 1) [0x1]\n    4   b + 1 (A + 2) [0x2] 3   c + 1 (A + 3) [0x3] (running)\n"
    got = Profile("Steps: 9\n\nProcess:          A [1]\n\n  Thread 0x1    9 samples (1-9)\n" + rows)
    assert {(k[3], tuple(f[0] for f in k[5])): v for k, v in got.stacks().items()} == {(None, ("a",)): 5, (None, ("a", "b")): 4}
    assert "3 samples, line 7 [SPAA-L524]" in got.answer.err


# Processes


@pytest.mark.parametrize("line", ["Prcess:          App [100]", "Process          App [100]", "Pro", "App [100]", "#######", ": App [100]"])
def test_a_damaged_first_process_keeps_its_threads(line):
    text = whole().replace("Process:          App [100]", line)
    got = Profile(text)
    want = {}
    for k, v in Profile(whole()).stacks().items():
        mine = k[0] == 100
        want[(None if mine else k[0], k[1], None if mine else k[2]) + k[3:]] = v
    assert got.stacks() == want
    first, second = got.processes
    assert first["path"].endswith("/App") and "name" not in first and second["name"] == "B"
    assert "SPAA-L525" in got.answer.err and "line 8" in got.answer.err
    assert [k for k, _ in got.x["fields"]][-1] == "Steps"


def test_a_first_process_whose_line_is_missing():
    text = whole().replace("Process:          App [100]\n", "")
    got = Profile(text)
    assert sum(got.stacks().values()) == 300 and "SPAA-L525" in got.answer.err
    bare = text.replace("UUID:             A0000000-0000-0000-0000-000000000001\n", "").replace("Path: ", "Path:\t")
    assert ask("top", "-", "--view", "all", stdin=bare)["whole"] == 300


def test_rows_without_a_thread_below_a_damaged_process():
    text = whole().replace("Process:          App [100]", "Pr App").replace('  Thread 0x10    DispatchQueue "com.apple.main-thread"(1)    100', "Th 100", 1)
    got = Profile(text)
    assert sum(got.stacks().values()) == 300 and "SPAA-L525" in got.answer.err


# sample(1)

SAMPLE = """Analysis of sampling Player (pid 901) every 1 millisecond
Process:         Player [901]

Call graph:
    100 Thread_5001   DispatchQueue_1: com.apple.main-thread  (serial)
    + 100 start  (in dyld) + 462  [0x190000064]
    +   100 -[Player play:loop:]  (in My Player) + 41,50,...  [0x10384b549,0x10384b552,...]  Player.m:12
    +     60 decode(int, char*)  (in My Player) + 20  [0x10384c000]
    +     ! 50 ???  (in Codec)  load address 0x103746000 + 0x9f  [0x10374609f]
    +     40 __psynch_mutexwait  (in libsystem_kernel.dylib) + 8  [0x180001010]
    70 Thread_5002: worker (1), "x"
      70 thread_start  (in libsystem_pthread.dylib) + 13  [0x7fff739c240d]
        70 kevent  (in libsystem_kernel.dylib) + 8  [0x180002010]

Total number in stack (recursive counted multiple, when >=5):
"""


class Sampled:
    """The stacks of a report of sample(1), with what its innermost functions tell."""

    def __init__(self, text):
        self.answer = run("convert", "-", "--from", "sample", "--to", "spaa", "-o", "-", stdin=text, code=0)
        records = [parse(line) for line in self.answer.out.splitlines()]
        frames = {r["id"]: r for r in records if r["type"] == "frame"}
        dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
        self.threads = [r for r in records if r["type"] == "thread"]
        self.stacks = collections.Counter()
        for s in records:
            if s["type"] == "stack":
                path = tuple((f["func"], dsos[f["dso"]], f.get("symoff"), f.get("srcline"))
                             for f in (frames[n] for n in reversed(s["frames"])))
                c = s["context"]
                self.stacks[(c.get("tid"), c.get("x_state"), path)] += s["weights"][0]["value"]


def sample_rows(lines):
    return [n for n, line in enumerate(lines) if line.startswith("    ") and ("  (in " in line or "Thread_" in line)]


def test_rows_of_sample_broken_at_any_blank_are_put_together():
    lines, want = SAMPLE.split("\n"), Sampled(SAMPLE)
    for n in sample_rows(lines):
        line = lines[n]
        begin = line.index(line.lstrip(" +!:|").split(" ")[0]) + len(line.lstrip(" +!:|").split(" ")[0]) + 1
        for at in [i for i in range(begin, len(line)) if line[i] == " " and line[i - 1] != " "]:
            got = Sampled("\n".join(lines[:n] + [line[:at], line[at:].lstrip()] + lines[n + 1:]))
            assert got.stacks == want.stacks, (line[:at], line[at:])
            assert "SPAA-W523" in got.answer.err and "line %d" % (n + 1) in got.answer.err and "SPAA-L" not in got.answer.err


def test_reports_of_sample_wrapped_at_a_width():
    want = Sampled(SAMPLE)
    for width in range(40, 100, 3):
        out = [part for line in SAMPLE.split("\n") for part in (wrapped(line, width) if line.startswith("    ") else [line])]
        got = Sampled("\n".join(out))
        assert got.stacks == want.stacks and "SPAA-L" not in got.answer.err, width


@pytest.mark.parametrize("second", ["baz:]", "applicationWillFinishLaunching:withA:]"])
def test_a_wrapped_selector_in_sample(second):
    text = SAMPLE.replace("-[Player play:loop:]", "-[Player\n" + second)
    got = Sampled(text)
    assert sum(got.stacks.values()) == 170 and [t["tid"] for t in got.threads] == [5001, 5002]
    assert "-[Player " + second in {f[0] for k in got.stacks for f in k[2]} and "SPAA-L" not in got.answer.err
    broken = Sampled(SAMPLE.replace("play:loop:]", "play:\nloop:]"))
    assert {k[0]: 1 for k in broken.stacks} == {5001: 1, 5002: 1} and sum(broken.stacks.values()) == 170
    assert "SPAA-W523" in broken.answer.err


@pytest.mark.parametrize("between", [" %s", " %s_"])
def test_rows_of_sample_joined_by_a_blank(between):
    """Its tree's blanks are lost, or kept."""
    lines, want = SAMPLE.split("\n"), Sampled(SAMPLE)
    rows = sample_rows(lines)
    for n in rows[:-1]:
        second = lines[n + 1] if between.endswith("_") else lines[n + 1].lstrip(" +!:|")
        got = Sampled("\n".join(lines[:n] + [lines[n] + " " + second] + lines[n + 2:]))
        two_places = "50 ???" in lines[n] and not between.endswith("_")  # below it, or beside its caller
        assert ("SPAA-L" in got.answer.err) == two_places and (got.stacks == want.stacks) != two_places, lines[n + 1]
        assert "SPAA-W521" in got.answer.err and "line %d" % (n + 1) in got.answer.err
        assert sum(got.stacks.values()) == 170


def with_tabs(text, width, inside=False):
    """As editors do: runs of blanks that end at a tab stop."""
    out = []
    for line in text.split("\n"):
        parts = [line[i:i + width] for i in range(0, len(line), width)]
        lead = len(line) - len(line.lstrip(" +!:|*"))
        for i, part in enumerate(parts):
            if len(part) == width and part.endswith("  ") and (inside or (i + 1) * width <= lead):
                parts[i] = part.rstrip(" ") + "\t"
        out.append("".join(parts))
    return "\n".join(out)


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("inside", [False, True])
def test_tabs_in_sample_are_as_wide_as_they_were(width, inside):
    text = with_tabs(SAMPLE, width, inside)
    got = Sampled(text)
    assert "\t" in text and got.stacks == Sampled(SAMPLE).stacks and "SPAA-L" not in got.answer.err


@pytest.mark.parametrize("width", [4, 8])
def test_tabs_in_spindump_are_as_wide_as_they_were(width):
    """A mark of the kernel takes a column, and with it a tab."""
    for text in (Report(seed=5, processes=3, odd=False, tail=False).text,
                 "Steps: 9\n\nProcess:          A [1]\n\n  Thread 0x1    9 samples (1-9)\n    9   a + 1 (A + 1) [0x1]\n      9   b + 1 (A + 2) [0x2]\n"
                 "        4   c + 1 (A + 3) [0x3]\n       *3   d + 1 (k + 3) [0x4]\n        2   e + 1 (A + 3) [0x5] (running)\n"):
        tabbed = with_tabs(text, width)
        assert "\t" in tabbed and Profile(tabbed).stacks() == Profile(text).stacks()


def test_a_row_of_sample_cut_anywhere_keeps_its_samples():
    lines = SAMPLE.split("\n")
    more = ["        70 more%d  (in libsystem_kernel.dylib) + 8  [0x18000%d010]" % (i, i) for i in range(9)]
    lines[13:13] = ["  " * (i + 1) + line for i, line in enumerate(more)]
    whole = Sampled("\n".join(lines)).stacks
    assert sum(whole.values()) == 170
    for n in [n for n in sample_rows(lines) if "  (in " in lines[n]]:
        line = lines[n]
        name = line.index(line.lstrip(" +!:|").split(" ", 1)[1])
        for cut in range(name + 1, len(line)):
            part = line[:cut].rstrip()
            got = Sampled("\n".join(lines[:n] + [line[:cut]] + lines[n + 1:]))
            assert sum(got.stacks.values()) == 170, part
            said = "SPAA-L520" in got.answer.err and "line %d" % (n + 1) in got.answer.err
            assert said or got.stacks == whole or "]" in part[max(part.find("  [0x"), 0):] and "  [0x" in part, part  # behind its address nothing tells
            if "  (in " in part:
                assert {k[2][-1][0] for k in got.stacks} == {k[2][-1][0] for k in whole} or "0x9f" in str(whole), part


def test_reports_cut_off_at_a_width_say_so():
    for width in (48, 56, 64):
        cut = "\n".join(line[:width].rstrip() if line.startswith("    ") else line for line in SAMPLE.split("\n"))
        got = Sampled(cut)
        assert sum(got.stacks.values()) == 170 and "SPAA-L520" in got.answer.err


def test_a_row_that_is_missing_between_two_is_said():
    lines = whole().split("\n")
    (n,) = [n for n, line in enumerate(lines) if "applicationWill" in line]
    got = Profile("\n".join(lines[:n] + lines[n + 1:]))
    assert sum(got.stacks().values()) == 300 and "line %d [SPAA-W526]" % (n + 1) in got.answer.err
    lines = SAMPLE.split("\n")
    (n,) = [n for n, line in enumerate(lines) if "-[Player" in line]
    got = Sampled("\n".join(lines[:n] + lines[n + 1:]))
    assert sum(got.stacks.values()) == 170 and "line %d [SPAA-W526]" % (n + 1) in got.answer.err


# ---- lines of threads that are missing ----


def lost_line(timeline):
    """Two threads that wait for each other in all of 20 samples, the second one's line lost: written for this test."""
    span = " 1-20" if timeline else ""
    rows = lambda f, other: """    20   start + 8 (app + 100) [0x100000064]%s
      20   %s + 8 (app + 200) [0x1000000c8] (blocked by unfair lock owned by app [7] thread 0x%x)%s
""" % (span, f, other, span)
    return """Date/Time:        2026-02-02 23:22:34.999 -0800
Report Version:   67
Steps:            20 (10ms sampling interval)

%s format: stacks are sorted

Process:          app [7]
Path:             /bin/app
  Thread 0x10    DispatchQueue "com.apple.main-thread"(1)    20 samples (1-20)    priority 31 (base 31)
%s
%s
  Binary Images:
     0x100000000 - 0x1000fffff  app (1)  <00000000-0000-0000-0000-000000000001>  /bin/app
""" % ("Timeline" if timeline else "Heavy", rows("lock_a", 0x20), rows("lock_b", 0x10))


@pytest.mark.parametrize("timeline", (True, False))
@pytest.mark.parametrize("blank", (True, False))
def test_rows_of_a_thread_whose_line_is_missing_are_not_of_the_one_above(timeline, blank, tmp_path):
    path = tmp_path / "lost.spindump.txt"
    path.write_text(lost_line(timeline) if blank else lost_line(timeline).replace("\n\n    20", "\n    20"))
    rows = ask("top", path, "--by", "thread", "--view", "all", "-n", "0")["rows"]
    assert sorted((r["tid"] or 0, r["self"]) for r in rows) == [(0, 20), (0x10, 20)]
    answer = ask("waits", path)
    assert not answer["deadlocks"] and [w["holder"]["tid"] for t in answer["waiters"] for w in t["waits"]] == [0x20]
    shown = run("summary", path)
    assert "deadlock" not in shown.out and "itself" not in shown.out and "SPAA-W516" not in shown.out
    assert "thread 0x10 above has its samples without them" in " ".join(shown.out.split())


@pytest.mark.parametrize("timeline", (True, False))
def test_rows_of_a_thread_whose_line_and_root_are_missing_are_not_of_the_one_above(timeline, tmp_path):
    path = tmp_path / "lost.spindump.txt"
    root = "    20   start + 8 (app + 100) [0x100000064]" + (" 1-20" if timeline else "") + "\n"
    text = lost_line(timeline)
    path.write_text(text.replace("\n\n" + root, "\n"))
    assert path.read_text().count("start +") == 1
    rows = ask("top", path, "--by", "thread", "--view", "all", "-n", "0")["rows"]
    assert sorted((r["tid"] or 0, r["self"]) for r in rows) == [(0, 20), (0x10, 20)]
    answer = ask("waits", path)
    assert not answer["deadlocks"] and [w["holder"]["tid"] for t in answer["waiters"] for w in t["waits"]] == [0x20]
    assert "thread 0x10 above has its samples without them" in " ".join(run("summary", path).out.split())


@pytest.mark.parametrize("timeline", (True, False))
def test_a_damaged_number_parts_no_thread(timeline, tmp_path):
    """A step, a count, or a caller's count: which rows are whose is not told by these."""
    span = (lambda s: " " + s) if timeline else lambda s: ""
    text = lost_line(timeline)
    text = text[:text.index("    20   start")] + "".join("    %s\n" % row for row in (
        "20   start + 8 (app + 100) [0x100000064]" + span("1-20"), "  12   work + 8 (app + 200) [0x1000000c8] (running)" + span("1-12"),
        "  1    step + 8 (app + 300) [0x10000012c] (running)" + span("13"), "  7    work + 8 (app + 200) [0x1000000c8] (running)" + span("14-20")))
    for old, new in (("", ""), (" 13\n", " 3\n"), ("    12   work", "    72   work"), ("  7    work", "  9    work"), ("20   start", "10   start")):
        path = tmp_path / "r.spindump.txt"
        path.write_text(text.replace(old, new, 1))
        assert "SPAA-L511" not in run("top", path).out, (old, new)


def test_rows_of_a_thread_of_sample_whose_line_is_missing_are_not_of_the_one_above(tmp_path):
    path = tmp_path / "lost.sample.txt"
    path.write_text("""Analysis of sampling app (pid 7) every 1 millisecond
Process:         app [7]

Call graph:
    20 Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)
    + 20 start  (in app) + 8  [0x100000064]
    +   20 work  (in app) + 8  [0x1000000c8]
    + 20 start_thread  (in app) + 8  [0x100000264]
    +   20 other  (in app) + 8  [0x1000002c8]

Binary Images:
       0x100000000 -        0x1000fffff +app (1) <00000000-0000-0000-0000-000000000001> /bin/app
""")
    rows = ask("top", path, "--by", "thread", "--view", "all", "-n", "0")["rows"]
    assert sorted((r["tid"] or 0, r["self"]) for r in rows) == [(0, 20), (1, 20)]
    assert "SPAA-L511" in run("top", path).err
    path.write_text(path.read_text().replace("    + 20 start_thread  (in app) + 8  [0x100000264]\n", ""))
    rows = ask("top", path, "--by", "thread", "--view", "all", "-n", "0")["rows"]
    assert sorted((r["tid"] or 0, r["self"]) for r in rows) == [(0, 20), (1, 20)] and "SPAA-L511" in run("top", path).err


@pytest.mark.parametrize("timeline", (True, False))
def test_a_thread_whose_line_stands_twice_above_other_rows_is_doubted(timeline, tmp_path):
    path = tmp_path / "r.spindump.txt"
    text = lost_line(timeline)
    text = text[:text.index("\n\n    20   start")].replace("thread 0x20", "thread 0x10") + "\n\n"
    line = text.index("  Thread 0x10")
    assert ask("waits", "-", stdin=text)["chains"][0]["sure"]
    path.write_text(text + text[line:].replace("+ 8", "+ 12"))
    first = ask("waits", path)["chains"][0]
    assert not first["sure"]
    assert "the line of thread 0x10 stands there again" in " ".join(run("summary", path).out.split())


@pytest.mark.parametrize("timeline", (True, False))
def test_a_count_that_is_less_than_its_callees_gives_its_caller_nothing(timeline, tmp_path):
    path = tmp_path / "r.spindump.txt"
    text = missing_caller("none") if timeline else re.sub(r" (1-60|61-100|1-100)$", "", missing_caller("none"), flags=re.M).replace("Timeline", "Heavy")
    path.write_text(text.replace("       40  lock", "        0  lock"))
    rows = ask("top", path, "--by", "thread", "--view", "all", "-n", "0")["rows"]
    assert [(r["tid"], r["self"]) for r in rows] == [(0x10, 100)] and "SPAA-W517" in run("top", path).out


# ---- rows of steps that what calls them was not seen in ----


def missing_caller(lost):
    """A thread that computes until step 60 and waits for a lock from then on; the row of `lost` is left out, or its range is damaged."""
    rows = ["   100  start + 8 (app + 100) [0x100000064] 1-100", "     100  main + 8 (app + 200) [0x1000000c8] 1-100",
            "       60  compute + 8 (app + 300) [0x10000012c] (running) 1-60", "       40  lock + 8 (app + 400) [0x100000190] 61-100",
            "         40  wait + 8 (app + 500) [0x1000001f4] (blocked by unfair lock owned by app [7] thread 0x20) 61-100"]
    rows = [row.replace("61-100", "161-200") if lost == "range" and " wait " in row else row for row in rows if lost + " +" not in row]
    return lost_line(True).split("    20   start")[0].replace("20 samples (1-20)", "100 samples (1-100)") + "\n".join(rows) + "\n"


def test_a_row_of_other_steps_than_the_one_above_is_not_called_by_it(tmp_path):
    path = tmp_path / "r.spindump.txt"
    path.write_text(missing_caller("lock"))
    text = " ".join(run("top", path).out.split())
    assert "40 samples in 61-100, line 13 [SPAA-W527]" in text and "SPAA-W526" not in text
    states = {r["name"]: r["self"] for r in ask("top", path, "--by", "state", "--view", "all", "-n", "0")["rows"]}
    assert states == {"RUNNABLE": 60, "BLOCKED": 40}
    own = {r["name"]: r["self"] for r in ask("top", path, "--view", "all", "-n", "0")["rows"]}
    assert own == {"compute": 60, "wait": 40, "main": 0, "start": 0}


def test_a_row_of_steps_that_no_caller_was_seen_in_has_none(tmp_path):
    path = tmp_path / "r.spindump.txt"
    path.write_text(missing_caller("range"))
    assert "40 samples in 161-200, line 14 [SPAA-W527]" in " ".join(run("top", path).out.split())
    assert ask("top", path, "--view", "all", "-n", "0")["whole"] == 100
    assert ask("timeline", path, "--view", "all", "--buckets", "2", "--json")["steps"]["not_told_apart"] == 40


# ---- reports that end in the middle of a thread ----


def states(path):
    return {r["name"]: r["self"] for r in ask("top", path, "--by", "state", "--view", "all", "-n", "0")["rows"]}


@pytest.mark.parametrize("timeline", (True, False))
@pytest.mark.parametrize("rows, want, lost", [
    (7, {"BLOCKED": 40, "RUNNABLE": 160, "RUN_QUEUE": 100}, None), (5, {"BLOCKED": 40, "RUNNABLE": 60}, None), (4, {"RUNNABLE": 60, None: 40}, 40),
    (3, {"RUNNABLE": 60, None: 40}, 40), (2, {None: 100}, 100), (1, {None: 100}, 100)])
def test_where_the_text_ends_nothing_is_told_of_rows_that_may_call_more(timeline, rows, want, lost, tmp_path):
    path = tmp_path / "cut.spindump.txt"
    lines = whole(timeline).split("\n")
    at = [i for i, line in enumerate(lines) if " + " in line]
    path.write_text("\n".join(lines[:at[rows - 1] + 1]) + "\n")
    assert {k if k != "?" else None: v for k, v in states(path).items()} == want
    text = " ".join(run("top", path, "--view", "all").err.split())
    assert ("rows of %s samples may be missing" % lost in text) if lost else "SPAA-L5" not in text
    # Cut within the blanks before the next row: as one line earlier.
    whole_lines = (run("top", path, "--view", "all").err, states(path))
    for more in ("   ", "\t", " \r"):
        path.write_text("\n".join(lines[:at[rows - 1] + 1]) + "\n" + more, newline="")
        assert (run("top", path, "--view", "all").err, states(path)) == whole_lines
    # A blank line ends the thread; one that is pasted without the header is no report that was cut.
    path.write_text("\n".join(lines[:at[rows - 1] + 1]) + "\n\n")
    assert "?" not in states(path) and None not in states(path)


def test_where_the_text_of_sample_ends_nothing_is_told_of_rows_that_may_call_more(tmp_path):
    path = tmp_path / "cut.sample.txt"
    text = """Analysis of sampling app (pid 7) every 1 millisecond
Process:         app [7]

Call graph:
    20 Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)
    + 20 start  (in app) + 8  [0x100000064]
    +   20 nanosleep  (in libsystem_c.dylib) + 8  [0x1000000c8]
"""
    path.write_text(text)
    assert "rows of 20 samples may be missing" in " ".join(run("top", path).err.split())
    path.write_text(text + "    ")
    assert "rows of 20 samples may be missing" in " ".join(run("top", path).err.split())
    assert set(states(path)) == {None} or set(states(path)) == {"?"}
    path.write_text(text + "\n")
    assert "SPAA-L5" not in run("top", path).err


# ---- reports out of mails ----


def sampled(n=12):
    rows = "".join("    +%s20 %s  (in a library of a long name.dylib) + 8  [0x%x]\n" % (" " * (2 * i + 1), "f%d" % i, 0x100000064 + i) for i in range(n))
    return """Analysis of sampling app (pid 7) every 1 millisecond
Process:         app [7]

Call graph:
    20 Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)
%s
Total number in stack (recursive counted multiple, when >=5):
""" % rows


@pytest.mark.parametrize("text", (whole(False), whole(True), sampled()))
@pytest.mark.parametrize("spaces", (True, False))
def test_what_a_mail_encodes_is_refused_with_how_to_undo_it(text, spaces, tmp_path):
    path = tmp_path / "mail.txt"
    path.write_bytes(text.replace("  ", "\u00a0 ").encode() if spaces else quopri.encodestring(text.encode()))
    said = " ".join(run("summary", path, code=3).err.split())
    assert "SPAA-E500" in said and ("no-break spaces" in said and "s/\\xC2\\xA0/ /g" in said if spaces else "decode_qp" in said)


def test_a_name_with_a_no_break_space_is_no_mail(tmp_path):
    path = tmp_path / "name.txt"
    path.write_text(whole().replace("App [100]", "My\u00a0App [100]").replace("serve +", "serve\u00a0it +"))
    assert ask("top", path, "--by", "process", "--view", "all")["rows"]


# ---- lines of images that are wrapped ----

IMAGES = """  Binary Images:
     0x100000000 - 0x100ffffff  App (1.0 (1))  <00000000-0000-0000-0000-000000000001>  /Applications/App.app/Contents/MacOS/App
     0x180000000 -                ???  libsystem_kernel.dylib (12377)  <00000000-0000-0000-0000-000000000002>  /usr/lib/system/libsystem_kernel.dylib
   *0xfffffe0180000000 - 0xfffffe0180ffffff  kernel (12377)  <00000000-0000-0000-0000-000000000003>__TEXT_EXEC  /System/Library/Kernels/kernel
"""


def images(text):
    got = Profile(text)
    return [{k: r.get(k) for k in ("start", "end", "name", "build_id", "path", "version")} for r in got.by["x_spaa_image"]], got.answer.err


@pytest.mark.parametrize("n", (1, 2, 3))
def test_the_line_of_an_image_broken_at_any_blank_is_put_together(n):
    report = whole().split("Process:          B")[0]
    want, _ = images(report + IMAGES)
    lines = IMAGES.split("\n")
    blanks = [i for i in range(10, len(lines[n])) if lines[n][i] == " " and lines[n][i - 1] != " "]
    for at in blanks:
        broken = lines[:n] + [lines[n][:at], lines[n][at:].lstrip()] + lines[n + 1:]
        got, err = images(report + "\n".join(broken))
        assert got == want and "SPAA-W523" in err and "SPAA-W515" not in err, lines[n][:at]


def test_a_damaged_line_of_an_image_is_no_end_of_the_one_above():
    report = whole().split("Process:          B")[0] + IMAGES
    _, err = images(report.replace("     0x180000000 -", "     x180000000 -"))
    assert "SPAA-W515" in err and "SPAA-W523" not in err


# ---- lines of processes and annotations that are wrapped ----


@pytest.mark.parametrize("at", (1, 2, 3, 4))
def test_the_line_of_a_process_broken_at_any_blank_is_put_together(at):
    name = "Some App Helper (GPU) [100] (suspended)"
    report = whole().replace("App [100]\nUUID", name + "\nUUID")
    words = name.split(" ")
    broken = report.replace(name, " ".join(words[:at]) + "\n" + " ".join(words[at:]), 1)
    if at == 4:
        broken = report
    got, want = Profile(broken), Profile(report)
    process = lambda x: [(r["pid"], r["name"]) for r in x.by["x_spaa_process"]]
    assert process(got) == process(want) and got.stacks() == want.stacks()
    assert ("SPAA-W523" in got.answer.err) == (at < 4) and "SPAA-W515" not in got.answer.err


def test_a_wrapped_annotation_is_put_together():
    note = "  <process frontmost, thread QoS user interactive (requested user interactive)>\n"
    lines = whole().split("\n")
    at = next(i for i, line in enumerate(lines) if "Thread 0x10" in line) + 1
    text = "\n".join(lines[:at]) + "\n" + note + "\n".join(lines[at:])
    got, want = Profile(text.replace("(requested user", "(requested\nuser")), Profile(text)
    thread = lambda x: [r["x_spindump"].get("annotations") for r in x.by["thread"]]
    assert thread(got) == thread(want) and any(thread(want)) and got.stacks() == want.stacks()
    assert "SPAA-W523" in got.answer.err and "SPAA-L510" not in got.answer.err
    assert got.by["x_spaa_process"][0]["frontmost"]

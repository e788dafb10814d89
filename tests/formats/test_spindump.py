"""spindump: the reader against the truth of a generator, what comes back, damage."""

import collections
import json
import os
import random

import pytest

from conftest import ROOT, ask, parse, run
from gen_spindump import Report

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "spindump")


class Profile:
    """A converted report: what the SPAA records say."""

    def __init__(self, text, *options, code=0):
        self.answer = run("convert", "-", "--from", "spindump", "--to", "spaa", "-o", "-", *options, stdin=text, code=code)
        self.raw = self.answer.raw
        self.records = [parse(line) for line in self.answer.out.splitlines()]
        self.by = collections.defaultdict(list)
        for r in self.records:
            self.by[r["type"]].append(r)
        self.header = self.by["header"][0]
        self.x = self.header.get("x_spindump", {})
        self.dsos = {d["id"]: d for d in self.by["dso"]}
        self.frames = {f["id"]: f for f in self.by["frame"]}
        self.threads = {t["tid"]: t for t in self.by["thread"]}
        # Facts and what there is no field for, together.
        self.processes = [{**p, **p["x_spindump"], "images": p.get("images", [])} for p in self.by["x_spaa_process"]]
        self.facts = {t: {**r.get("x_spaa", {}), **r.get("x_spindump", {})} for t, r in self.threads.items()}

    def stacks(self):
        out = collections.Counter()
        for s in self.by["stack"]:
            c = s["context"]
            text = {**c.get("x_wait", {}), **c.get("x_spindump", {})}
            text = text.get("state", text.get("text"))
            usual = {"RUNNABLE": "running", "RUN_QUEUE": "runnable", "SUSPENDED": "suspended"}
            if text is None:
                text = usual.get(c.get("x_state"))
            frames = []
            for n in reversed(s["frames"]):
                f = self.frames[n]
                dso = self.dsos[f["dso"]]
                frames.append((f["func"], dso["name"], f["kind"] == "kernel", f.get("func_resolved", True),
                               int(f["symoff"], 16) if "symoff" in f else None, int(f["ip"], 16) if "ip" in f else None))
                assert dso["is_kernel"] == (f["kind"] == "kernel")
            assert s["weights"] == [{"metric": "samples", "value": s["weights"][0]["value"]}]
            out[(c.get("pid"), c.get("tid"), c.get("comm"), c.get("x_state"), text, tuple(frames))] += s["weights"][0]["value"]
        return out


REPORTS = [dict(seed=s, processes=n, timeline=t, odd=o) for s, n, t, o in
           [(1, 1, False, False), (2, 3, False, True), (3, 6, True, True), (4, 6, False, True), (5, 2, True, False),
            (6, 12, False, True), (7, 12, True, True), (8, 30, False, True)]]
NAMES = ["seed%d" % r["seed"] for r in REPORTS]


@pytest.fixture(scope="module", params=REPORTS, ids=NAMES)
def both(request):
    report = Report(**request.param)
    return report, Profile(report.text)


def test_reader_agrees_with_the_generator_on_every_stack(both):
    report, profile = both
    got = profile.stacks()
    missing, extra = report.stacks - got, got - report.stacks
    assert not missing and not extra, (list(missing.items())[:2], list(extra.items())[:2])


def test_nothing_of_a_good_report_is_reported(both):
    assert "SPAA-" not in both[1].answer.err


def test_facts_of_threads(both):
    report, profile = both
    assert set(profile.threads) == set(report.threads)
    for tid, facts in report.threads.items():
        record = profile.threads[tid]
        assert (record["pid"], record["comm"]) == (facts["pid"], facts["comm"])
        for key, value in facts.items():
            if key not in ("pid", "comm"):
                assert profile.facts[tid].get(key) == value, (tid, key)


def test_facts_of_processes(both):
    report, profile = both
    assert [p["pid"] for p in profile.processes] == [p["pid"] for p in report.processes]
    for want, got in zip(report.processes, profile.processes):
        assert (got["name"], got["threads"], got["fields"]) == (want["name"], want["tids"], want["fields"])
        assert got.get("suspended", False) == want["suspended"] and got.get("bundle") == want.get("bundle")
        assert len(got["images"]) == want["images"]
        numbers = dict(got["fields"])
        assert got.get("parent_pid") == (1 if "Parent" in numbers else None)
        assert got.get("cpu_time_ns") == (940000000 if "CPU Time" in numbers else None)
    assert profile.processes[0].get("frontmost", False) == report.timeline


def test_images_are_dsos_with_build_ids(both):
    report, profile = both
    ids = {d.get("build_id") for d in profile.dsos.values()}
    for image in report.libraries + report.kernel:
        assert image.uuid.replace("-", "").lower() in ids
    used = {f["dso"] for f in profile.frames.values()}
    for n in used:
        assert "build_id" in profile.dsos[n] or profile.dsos[n]["name"] == "[unknown]", profile.dsos[n]
    assert len(profile.by["x_spaa_image"]) >= len(report.libraries)


def test_header(both):
    report, profile = both
    fields = dict(profile.x["fields"])
    assert fields["Memory pressure"] == "average 5%, highest 7%" and fields["  Tier0"].startswith("55 IOs")
    assert profile.x["form"] == ("timeline" if report.timeline else "heavy") and profile.x["interval_ns"] == 10000000
    assert profile.header["events"][0]["sampling"] == {"mode": "frequency", "primary_metric": "samples", "frequency_hz": 100}
    spaa = profile.header["x_spaa"]
    assert spaa["host"] == {"os": "macOS 26.2 (Build 25C56)", "arch": "arm64e", "cpus": 16}
    assert str(spaa["duration"]) == "3.41"
    assert str(profile.header["time_range"]["start"]) == "1770103354.999"


def test_tail(both):
    report, profile = both
    got = [{"title": h["title"], "unit": h["unit"], "rows": h["rows"]} for h in profile.by["x_spindump_histogram"]]
    assert got == report.histograms
    for a in profile.by["x_spindump_aggregate"]:
        assert (a["ios"], a["latency_mean_us"], a["latency_max_us"], a["latency_sd_us"], a["writes"], a["write_bytes"]) == \
            (55, 68, 329, 92, 55, 674 * 1024)
    tail = [line for t in profile.by["x_spindump_tail"] for line in t["lines"]]
    assert tail == (report.lines[report.lines.index("Kextstat:"):] if report.odd else [])


def test_a_statistic_that_stands_twice_has_one_member():
    lines = ["Num IOs 55 Latency Mean 68us Latency SD 92us", "Reads 0 (0 KB) Latency SD 93us", "Reads 1 (2 KB) Writes 55 (674 KB)"]
    profile = Profile(report_of([(1, [], ["    9  f + 1 (x + 1) [0x1]"], [])]) + "\nTier 0 Aggregate Stats:\n" + "".join(f"\t{line}\n" for line in lines))
    (a,) = profile.by["x_spindump_aggregate"]
    assert a["lines"] == lines
    assert (a["latency_sd_us"], a["reads"], a["read_bytes"]) == (92, 0, 0)


def test_a_line_that_is_no_image_is_told_where_it_begins():
    text = report_of([(1, [], ["    9  f + 1 (x + 1) [0x1]"], [image(0x1000, "x", "A")])]) + "Custom output:\nanything\n"
    (told,) = [line for line in Profile(text).answer.err.splitlines() if "SPAA-W515" in line]
    assert "line %d, offset %d " % (text[:text.index("Custom")].count("\n") + 1, text.index("Custom")) in told


def test_timeline_ranges_add_up(both):
    report, profile = both
    for s in profile.by["stack"]:
        ranges = s.get("x_spindump", {}).get("ranges", [])
        if report.timeline and ranges and all(len(r) == 2 for r in ranges):
            assert sum(b - a + 1 for a, b in ranges) <= s["weights"][0]["value"]
        if not report.timeline:
            assert not ranges


def test_lossless_gives_the_bytes_back(both, tmp_path):
    report, _ = both
    spaa = tmp_path / "x.spaa"
    run("convert", "-", "--lossless", "-o", spaa, stdin=report.text, code=0)
    assert run("convert", spaa, "--to", "spindump", "-o", "-", code=0).raw == report.text.encode()


@pytest.mark.parametrize("choice", [["--event", "stackshot"], ["--metric", "samples"]])
def test_what_is_chosen_is_rendered(both, choice, tmp_path):
    spaa = tmp_path / "x.spaa"
    run("convert", "-", "--lossless", "-o", spaa, stdin=both[0].text, code=0)
    chosen = run("convert", spaa, *choice, "--to", "spindump", "-o", "-", code=0).out
    assert chosen == rendered(both[0].text) != both[0].text


def test_valid_spaa(both, tmp_path):
    path = tmp_path / "x.spaa"
    path.write_bytes(both[1].raw)
    answer = ask("validate", path)
    assert answer["valid"] and not answer["warnings"], answer["findings"][:3]


def rendered(text, *options):
    """The report as the writer renders it, through SPAA."""
    spaa = run("convert", "-", "--from", "spindump", "--to", "spaa", "-o", "-", *options, stdin=text, code=0).raw
    return run("convert", "-", "--from", "spaa", "--to", "spindump", "-o", "-", stdin=spaa, code=0).out


def same_profile(a, b):
    """What two conversions have in common: everything but the order of records that were read in another order."""
    assert a.stacks() == b.stacks()
    assert a.threads == b.threads and a.processes == b.processes
    assert a.header == b.header
    for kind in ("dso", "frame", "x_spaa_image", "x_spindump_histogram", "x_spindump_aggregate", "x_spindump_tail",
                 "x_spindump_banner", "x_spindump_heaviest", "stack"):
        assert a.by[kind] == b.by[kind], kind


def test_rendered_reads_back_to_the_same_profile(both):
    report, profile = both
    text = rendered(report.text)
    again = Profile(text)
    same_profile(profile, again)
    assert again.raw == profile.raw
    assert rendered(text) == text


# Damage


def mutated(text, rng):
    """The report with a few lines damaged, and which (numbers from 0)."""
    lines = text.split("\n")
    hit = set()
    for _ in range(rng.randrange(1, 4)):
        n = rng.randrange(len(lines) - 1)
        hit.add(n)
        line = list(lines[n])
        how = rng.randrange(4)
        if how == 0 and line:
            line[rng.randrange(len(line))] = rng.choice("()[]<> +x0\t\x01\"")
        elif how == 1 and line:
            del line[rng.randrange(len(line)):]
        elif how == 2:
            line.insert(rng.randrange(len(line) + 1), rng.choice("()[]<>*\"9 "))
        else:
            line = list(rng.choice(["garbage", "    7", "  Thread 0xzz", "\x00\xff".encode("latin1").decode("latin1"), ""]))
        lines[n] = "".join(line)
    return "\n".join(lines), hit


@pytest.mark.parametrize("seed", range(25))
def test_damage_never_crashes_and_comes_back(seed, tmp_path):
    rng = random.Random(seed)
    report = Report(seed=seed, processes=3, timeline=seed % 3 == 0)
    text, _ = mutated(report.text, rng)
    spaa = tmp_path / "x.spaa"
    answer = run("convert", "-", "--from", "spindump", "--lossless", "-o", spaa, stdin=text)
    assert answer.code == 0, answer.err
    assert run("convert", spaa, "--to", "spindump", "-o", "-", code=0).raw == text.encode()
    assert ask("validate", spaa)["errors"] == 0


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_row_costs_only_its_frame(seed):
    """Stacks that do not go through the damaged row are as they were, and no sample is lost but the row's own."""
    rng = random.Random(seed)
    report = Report(seed=seed, processes=2, samples=40)
    lines = report.text.split("\n")
    n = rng.choice(report.frame_lines) - 1
    count = int(lines[n].strip().lstrip("*").split()[0])
    column = len(lines[n]) - len(lines[n].lstrip(" *"))
    text = lines[n][column:].split("  ", 1)[1].strip()
    lines[n] = " " * column + "?" + lines[n][column + 1:]
    got = Profile("\n".join(lines)).stacks()
    total, before = sum(got.values()), sum(report.stacks.values())
    assert before - count <= total <= before + count
    start = max(i for i in range(n) if lines[i].startswith("  Thread "))
    tid = int(lines[start].split()[1], 16)
    rest = collections.Counter({k: v for k, v in report.stacks.items() if k[1] != tid})
    assert rest == collections.Counter({k: v for k, v in got.items() if k[1] != tid})
    assert text


def test_a_damaged_thread_line_is_not_counted_for_the_thread_before():
    report = Report(seed=2, processes=2)
    lines = report.text.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("  Thread 0x")]
    tid = int(lines[starts[1]].split()[1], 16)
    lines[starts[1]] = "  Thr#ad" + lines[starts[1]][8:]
    profile = Profile("\n".join(lines))
    got = profile.stacks()
    for key, value in report.stacks.items():
        if key[1] == tid:
            assert got[key[:1] + (None,) + key[2:]] == value
        else:
            assert got[key] == value
    assert "SPAA-L510" in profile.answer.err and "line %d" % (starts[1] + 1) in profile.answer.err


def test_a_damaged_process_line_is_not_counted_for_the_process_before():
    report = Report(seed=2, processes=3)
    lines = report.text.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("Process:")]
    lines[starts[1]] = "Prcess:" + lines[starts[1]][8:]
    got = Profile("\n".join(lines)).stacks()
    pid = report.processes[1]["pid"]
    for key, value in report.stacks.items():
        if key[0] == pid:
            assert got[(None, key[1], None) + key[3:]] == value
        else:
            assert got[key] == value


# Single constructs


def one(rows, header="Steps: 9 (10ms sampling interval)\n", thread="  Thread 0x1    9 samples (1-9)\n", images=""):
    return Profile("%s\nProcess:          A [1]\n\n%s%s\n%s" % (header, thread, rows, images))


def frames_of(profile):
    (stack,) = profile.stacks()
    return stack[5]


@pytest.mark.parametrize("body, want", [
    ("start + 7184 (dyld + 36180) [0x19df79d54]", ("start", "dyld", 7184, 36180)),
    ("-[A(B) c:d:] + 8 (A B (C) + 1) [0x1]", ("-[A(B) c:d:]", "A B (C)", 8, 1)),
    ("operator()(int, char (*)(void)) + 4 (x) [0x5]", ("operator()(int, char (*)(void))", "x", 4, None)),
    ("f + 4 (a b.mm:12,3 in My App + 7) [0x5]", ("f", "My App", 4, 7)),
    ("f + 4 (odd ) image + 7) [0x5]", ("f", "odd ) image", 4, 7)),
    ("closure #1 in A.b(_:) + 20 (File.swift in Image + 1234) [0x5]", ("closure #1 in A.b(_:)", "Image", 20, 1234)),
    ("f() + 20 (My File.swift in My App + 1234) [0x5]", ("f()", "My App", 20, 1234)),
    ("f() + 20 (<compiler-generated> in My App + 7) [0x5]", ("f()", "My App", 20, 7)),
    ("f() + 20 (File.swift in Image) [0x5]", ("f()", "Image", 20, None)),
    ("??? (File.swift in Image + 7) [0x5]", ("0x7", "Image", None, 7)),
    ("f + 4 (What is in Image + 7) [0x5]", ("f", "What is in Image", 4, 7)),
    ("f + 4 (a in b.c in d + 7) [0x5]", ("f", "d", 4, 7)),
    ("??? (x + 16) [0x10]", ("0x10", "x", None, 16)),
    ("??? [0x11e6fd800]", ("0x11e6fd800", "[unknown]", None, 0x11e6fd800)),
    ("???", ("0x0", "[unknown]", None, None)),
    ("<truncated backtrace>", ("<truncated backtrace>", "[unknown]", None, None)),
    ("a + b (c)", ("a + b (c)", "[unknown]", None, None)),
    ("f + 08 (x + 1) [0x1]", ("f + 08", "x", None, 1)),
    ("f + 99999999999999999999 (x + 1) [0x1]", ("f + 99999999999999999999", "x", None, 1)),
])
def test_forms_of_frames(body, want):
    ((func, dso, kernel, _, symoff, ip),) = frames_of(one("    9  %s\n" % body))
    assert (func, dso, symoff, ip) == want and not kernel


@pytest.mark.parametrize("state, word", [
    ("running", "RUNNABLE"), ("running, p-core", "RUNNABLE"), ("runnable", "RUN_QUEUE"), ("suspended", "SUSPENDED"),
    ("running, suspended", "SUSPENDED"), ("blocked by turnstile waiting for A (x) [1] thread 0x2 after 2 hops", "BLOCKED"),
    ("unfair lock owned by A [1] thread 0x2", "BLOCKED"), ("blocked by krwlock for writing owned by A [1]", "BLOCKED"),
    ("blocked by wait4 on turnstile [9]", "WAITING"), ("mach_msg receive", "WAITING"), ('queue "a lock (b" (c', "WAITING"),
    ("a new one", "UNKNOWN"), (None, "WAITING")])
def test_states(state, word):
    profile = one("    9  f + 1 (x + 1) [0x1]%s\n" % (" (%s)" % state if state else ""))
    (stack,) = profile.stacks()
    assert stack[3] == word and stack[4] == state


def test_kernel_roots_and_ragged_counts():
    profile = one("   *9 a + 1 (k + 1) [0x1]\n     *5    b + 1 (k + 2) [0x2]\n      4 c + 1 (x + 3) [0x3]\n")
    got = {tuple(f[0] for f in k[5]): v for k, v in profile.stacks().items()}
    assert got == {("a", "b"): 5, ("a", "c"): 4}


def test_the_same_image_name_in_two_processes():
    text = ""
    for pid, uuid in ((1, "A"), (2, "B")):
        text += "Process: P [%d]\n\n  Thread 0x%d    1 sample (1)\n    1  f + 1 (Helper + 16) [0x%d010]\n\n  Binary Images:\n" \
            "        0x%d000 - 0x%dfff  Helper (1)  <%s>  /Helper\n\n" % (pid, pid, pid, pid, pid, uuid * 32)
    profile = Profile("Data Source: x\nSteps: 1\n" + text)
    ids = {s["context"]["pid"]: profile.dsos[profile.frames[s["frames"][0]]["dso"]]["build_id"] for s in profile.by["stack"]}
    assert ids == {1: "a" * 32, 2: "b" * 32}


def test_many_images_of_one_name_are_told_apart_by_address():
    """Overlapping ones too: the newest that holds the address, and the oldest where none does."""
    lines = ["Process:          a [1]", "", "  Thread 0x1    402 samples"]
    lines += ["    1  f + %d (lib + 1) [0x%x]" % (i, 0x10000 + 0x1000 * i + 5) for i in range(401)]
    lines += ["    1  g + 0 (lib + 1) [0x5]", "", "  Binary Images:"]
    uuid = "00000000-0000-0000-0000-%012d"
    for i in range(400):
        lines.append("   0x%x - 0x%x  lib (1)  <%s>  /%d/lib" % (0x10000 + 0x1000 * i, 0x10FFF + 0x1000 * i, uuid % i, i))
    lines.append("   0x13000 - 0x14fff  lib (1)  <%s>  /new/lib" % (uuid % 999))
    profile = Profile("\n".join(lines) + "\n")
    got = {f["func"] + "+" + f["symoff"]: int(profile.dsos[f["dso"]]["build_id"]) for f in profile.by["frame"]}
    want = {"f+0x%x" % i: {3: 999, 4: 999, 400: 0}.get(i, i) for i in range(401)}
    want["g+0x0"] = 0
    assert got == want


@pytest.mark.parametrize("source", ["File.swift", "File.swift:12", "File.swift:12,7", "<compiler-generated>", "a b.mm"])
def test_sources_before_images(source):
    row = "    3  f() + 20 (%s in My App + 1234) [0x5]\n" % source
    profile = one(row)
    (frame,) = profile.by["frame"]
    assert frame["srcline"] == source and profile.dsos[frame["dso"]]["name"] == "My App"
    assert row.strip().split(None, 1)[1].replace("[0x5]", "").strip() in run(
        "convert", "-", "--to", "spindump", "-o", "-", stdin=profile.raw, code=0).out


def test_sums_that_do_not_hold_are_reported():
    err = one("    3  a + 1 (x + 1) [0x1]\n      5  b + 1 (x + 2) [0x2]\n").answer.err
    assert "SPAA-W516" in err and "9 samples, its roots 3" in err
    assert "SPAA-W517" in err and "3 samples, its callees have 5" in err


@pytest.mark.parametrize("text", ["Data Source: x\nUse spindump -i to generate textual report\n",
                                  b"\x00\x03\xaa\x55" + b"\x00" * 200, b"\x00\x10\x00\x00" + b"\x00" * 200])
def test_what_spindump_must_decode_gets_that_advice(text):
    answer = run("info", "-", stdin=text, code=3)
    assert "SPAA-E500" in answer.err and "spindump -i FILE -stdout" in answer.err


def test_compressed_and_crlf(tmp_path):
    report = Report(seed=9, processes=2)
    got = Profile(report.text.replace("\n", "\r\n"))
    assert got.stacks() == report.stacks


def test_any_profile_can_be_written(folded):
    text = run("convert", folded, "--to", "spindump", "-o", "-", code=0).out
    assert "Heavy format: stacks are sorted by count" in text
    again = Profile(text)
    got = {";".join(f[0] for f in k[5]): v for k, v in again.stacks().items()}
    assert got == {"main;parse;read": 30, "main;parse;scan": 20, "main;run;compute;mul": 25, "main;run;compute": 15,
                   "main;run;read": 10}
    assert {k[3] for k in again.stacks()} == {"RUNNABLE"}
    assert rendered(text) == text


def test_fixtures_settle():
    for name in sorted(os.listdir(FIXTURES)):
        with open(os.path.join(FIXTURES, name), encoding="utf-8") as f:
            text = rendered(f.read())
        assert rendered(text) == text, name


def test_timeline_ranges():
    with open(os.path.join(FIXTURES, "timeline.spindump.txt"), encoding="utf-8") as f:
        profile = Profile(f.read())
    ranges = {}
    for s in profile.by["stack"]:
        key = (s["context"]["tid"], tuple(profile.frames[n]["func"] for n in reversed(s["frames"])))
        ranges[key] = s["x_spindump"]["ranges"]
    assert ranges[0x11, ("start", "a")] == [[1, 2], [5, 5], [7, 7]]
    assert ranges[0x11, ("start", "a", "b")] == [[6, 6]]
    assert ranges[0x11, ("start",)] == [[4, 4], [8, 8]]
    assert ranges[0x13, ("c",)] == [[1, 8, 2]]


# Lines that are known from before are compared, not parsed: what could be taken for another


def report_of(processes):
    """[(pid, keys, rows of its thread, lines of images)] as a report."""
    lines = ["Data Source: x", "Steps: 9 (10ms sampling interval)", ""]
    for pid, keys, rows, images in processes:
        lines += ["Process:          P [%d]" % pid] + keys + ["", "  Thread 0x%x    9 samples (1-9)" % (0x100 + pid)]
        lines += rows + ["", "  Binary Images:"] + images + ["", ""]
    return "\n".join(lines) + "\n"


def image(start, name, uuid, path=None, kernel=""):
    return "   %s0x%x - 0x%x  %s (1)  <%s>  %s" % (kernel, start, start + 0xFFF, name, uuid * 32, path or "/" + name)


def build_ids(profile):
    """pid -> for each stack's frames, root first: (function, build id of its image)"""
    out = collections.defaultdict(list)
    for s in profile.by["stack"]:
        frames = [profile.frames[n] for n in reversed(s["frames"])]
        out[s["context"]["pid"]].append([(f["func"], profile.dsos[f["dso"]].get("build_id", "")[:1]) for f in frames])
    return dict(out)


def test_the_same_rows_mean_other_images_in_other_processes():
    """Also where a row comes again in its own stack, where the image is missing, and where it comes back."""
    rows = ["    9  f + 1 (Helper + 16) [0x1010]", "      9  g + 2 (Lib + 16) [0x9010]", "        9  f + 1 (Helper + 16) [0x1010]",
            "         *9  k + 3 (kern + 1) [0xfff1]"]
    lib, kern = image(0x9000, "Lib", "C"), image(0xF000, "kern", "D", kernel="*")
    a, b = image(0x1000, "Helper", "A"), image(0x1000, "Helper", "B")
    far = image(0x5000, "Helper", "E")  # does not hold the address, but has the name
    plan = [(a, "a"), (b, "b"), (a, "a"), (None, ""), (far, "e"), (b, "b"), (b, "b"), (None, ""), (a, "a")]
    profile = Profile(report_of((pid, [], rows, ([i] if i else []) + [lib, kern]) for pid, (i, _) in enumerate(plan, 1)))
    want = {pid: [[("f", w), ("g", "c"), ("f", w), ("k", "d")]] for pid, (_, w) in enumerate(plan, 1)}
    assert build_ids(profile) == want


def test_rows_that_differ_in_their_last_bytes_or_their_mark():
    rows = ["    9  f + 1 (x + 16) [0x1010]", "      9  f + 1 (x + 16) [0x1011]", "       *9  f + 1 (x + 16) [0x1010]",
            "          9  f + 1 (x + 16) [0x1010] (running)", "            9  f + 1 (x + 16) [0x101]"]
    first, second = rows[:2], rows[1:2] + ["    " + r for r in rows]
    profile = Profile(report_of([(1, [], rows, []), (2, [], first, []), (3, [], [r.replace("9  ", "9 ", 1) for r in second], []),
                                 (4, [], rows, [])]))
    got = {}
    for s in profile.by["stack"]:
        frames = [profile.frames[n] for n in reversed(s["frames"])]
        got[s["context"]["pid"]] = ([(f["x_spindump"]["address"], f["kind"]) for f in frames], s["context"]["x_state"])
    all_of = [("0x1010", "user"), ("0x1011", "user"), ("0x1010", "kernel"), ("0x1010", "user"), ("0x101", "user")]
    # The state belongs to the row that has it, not to the stack's end below it.
    assert got[1] == got[4] == (all_of, "WAITING")
    assert got[2] == (all_of[:2], "WAITING")
    assert got[3] == ([("0x1011", "user")] + all_of, "WAITING")


def test_images_named_by_uuid_are_found_whenever_they_come():
    """UUIDs become keys when the first frame has one; later images do as well."""
    uuid = lambda c: "-".join(c * n for n in (8, 4, 4, 4, 12))
    line = lambda start, name, c: "   0x%x - 0x%x  %s (1)  <%s>  /%s" % (start, start + 0xFFF, name, uuid(c), name)
    by_name = lambda name, start: "    9  f + 1 (%s + 16) [0x%x]" % (name, start + 16)
    plan = [(by_name("A", 0x1000), [line(0x1000, "A", "A")], "A"),
            (by_name("<%s>" % uuid("A"), 0x1000), [line(0x1000, "A", "A"), line(0x2000, "B", "B")], "A"),
            (by_name("<%s>" % uuid("C"), 0x3000), [line(0x3000, "C", "C")], "C"),
            (by_name("<%s>" % uuid("B"), 0x2000), [line(0x1000, "A", "A")], "<%s>" % uuid("B")),  # not in this process
            (by_name("<%s>" % uuid("B"), 0x2000), [line(0x2000, "B", "B")], "B")]
    profile = Profile(report_of((pid, [], [row], images) for pid, (row, images, _) in enumerate(plan, 1)))
    got = {s["context"]["pid"]: profile.dsos[profile.frames[s["frames"][0]]["dso"]]["name"] for s in profile.by["stack"]}
    assert got == {pid: name for pid, (_, _, name) in enumerate(plan, 1)}


@pytest.mark.parametrize("seed", range(6))
def test_fields_of_processes_in_any_order(seed):
    """Keys that repeat, that begin alike, that need escapes, more than are remembered; values with odd ends."""
    rng = random.Random(seed)
    names = ["Path", "UUID", "Note", "Note 2", "CPU Time", "Footprint", "Parent", "Num samples", "I/O", 'A "b"',
             "Time Since Fork", "IOx", "Tier", "Architecture"] + ["Key %d" % i for i in range(40 if seed % 2 else 3)]
    values = ["x", "a b", '"quoted"', "back\\slash", "0.5s (3M cycles)", "launchd [1]", "17 KB", "341 (1-341)", "\u00e9\u00e8",
              "one: two", "a\x7fb", "x" * 200, "3 I/Os (48 KB)"]
    usual, processes, want = rng.sample(names, len(names) // 2), [], []
    for pid in range(1, 12):
        keys = list(usual)
        if rng.random() < 0.6:
            keys.insert(rng.randrange(len(keys)), rng.choice(names))
        if rng.random() < 0.4:
            keys.pop(rng.randrange(len(keys)))
        pairs = [(k, rng.choice(values + [""])) for k in keys]
        ends = ["", "", "", " ", " \t", "\r"]
        processes.append((pid, [("%s:%s%s%s" % (k, rng.choice([" ", " " * (17 - len(k)), "\t"]) if v else "", v, rng.choice(ends)))
                                for k, v in pairs], ["    9  f + 1 (x + 1) [0x1]"], []))
        want.append([list(p) for p in pairs])
    profile = Profile(report_of(processes))
    assert [p["fields"] for p in profile.processes] == want
    for p in profile.processes:
        first = dict(reversed([tuple(f) for f in p["fields"]]))
        assert p.get("parent_pid") == (1 if first.get("Parent") == "launchd [1]" else None)
        assert p.get("num_samples") == {"341 (1-341)": 341, "17 KB": 17, "3 I/Os (48 KB)": 3, "0.5s (3M cycles)": 0}.get(
            first.get("Num samples"))


def test_a_line_of_the_tail_ends_processes_though_its_key_is_known():
    text = report_of([(pid, ["IO totals:       5", "Tier of it:      9"], ["    9  f + 1 (x + 1) [0x1]"], []) for pid in (1, 2)])
    profile = Profile(text + "Process:          P [3]\nIO totals:       5\nIO totals:       Size Histogram:\nProcess: no [4]\n")
    assert [p["pid"] for p in profile.processes] == [1, 2, 3]
    assert profile.processes[2]["fields"] == [["IO totals", "5"]]


def test_counts_of_any_width():
    counts = [9, 9, 10, 999, 999, 99999, 999999, 1000000, 12345678, 7]
    rows = ["    %d%s f + %d (x + 1) [0x1]" % (c, " " * (n % 4), n) for n, c in enumerate(counts)]
    rows += ["    %-12d  f + %d (x + 1) [0x1]" % (c, n) for n, c in enumerate(counts, 100)]
    profile = Profile(report_of([(1, [], rows, [])]))
    got = {profile.frames[s["frames"][0]]["symoff"]: s["weights"][0]["value"] for s in profile.by["stack"]}
    assert got == {"0x%x" % (n + base): c for base in (0, 100) for n, c in enumerate(counts)}


@pytest.mark.parametrize("seed", range(6))
def test_thread_lines_that_end_as_others_did(seed):
    """Ends that begin alike, that are empty, that blanks follow; ids of any length, and ones that come again."""
    rng = random.Random(seed)
    ends = {"    9 samples (1-9)": {"samples": 9, "range": "1-9"},
            "    9 samples (1-9)    priority 31 (base 31)": {"samples": 9, "range": "1-9", "priority": "31", "base_priority": "31"},
            "    9 samples (1-9)    priority 31 (base 3)": {"samples": 9, "range": "1-9", "priority": "31", "base_priority": "3"},
            "  9 samples (1-9)": {"samples": 9, "range": "1-9"},
            '    Thread name "a"    9 samples (1-9)': {"name": "a", "samples": 9, "range": "1-9"},
            ",0x77    9 samples (1-9)": {"more_ids": "0x77", "samples": 9, "range": "1-9"}, "": {}}
    usual, lines, want, objects, lists = rng.sample(sorted(ends), 2), ["Steps: 9 (10ms sampling interval)", ""], {}, [], []
    for pid in range(1, 12):
        lines += ["Process:          P [%d]" % pid, ""]
        lists.append([])
        for n in range(rng.randrange(5)):
            tid = rng.choice([rng.randrange(1, 1 << rng.choice([4, 12, 24, 32, 36, 60, 63])), 5])
            end = usual[n > 0] if rng.random() < 0.7 else rng.choice(sorted(ends))
            lines += ["  Thread 0x%x%s%s" % (tid, end, rng.choice(["", "", "", " ", "\r"]))]
            lines += ["    9  f + %d (x + 1) [0x1]" % n] + [""] * rng.randrange(1, 3)
            heads = sum(tid == (t["tid"] if isinstance(t, dict) else t) for t in lists[-1])
            lists[-1].append(tid if tid not in want else dict(ends[end], tid=tid, **({"header": heads + 1} if heads else {})))
            want.setdefault(tid, (pid, ends[end]))
    profile = Profile("\n".join(lines) + "\n")
    assert {tid: (t["pid"], profile.facts[tid]) for tid, t in profile.threads.items()} == want
    assert [p.get("threads", []) for p in profile.processes] == lists
    assert sum(s["weights"][0]["value"] for s in profile.by["stack"]) == 9 * sum(map(len, lists))


def test_images_that_follow_as_after_the_one_in_whose_place_they_come():
    """Each process begins with an image of its own; what follows is as before, or not."""
    own = [image(0x1000 * n, "own%d" % n, "%X" % n) for n in range(1, 8)]
    libs = [image(0x100000 * n, "lib%d" % n, "%X" % n) for n in range(1, 5)]
    lists = [[own[0]] + libs, [own[1]] + libs, [own[2], libs[1], libs[2]], [own[3]] + libs, [own[4], own[5]] + libs, libs,
             [own[6]], [own[0], libs[3]], [own[1]] + libs]
    profile = Profile(report_of((pid, [], ["    9  f + 1 (x + 16) [0x10]"], images) for pid, images in enumerate(lists, 1)))
    lines = {i["id"]: image(int(i["start"], 16), i["name"], i["build_id"][0].upper()) for i in profile.by["x_spaa_image"]}
    assert [[lines[n] for n in p["images"]] for p in profile.processes] == lists


@pytest.mark.parametrize("value, want", [("7880 KB", (None, 7880 << 10)), ("10 KB -> 12 KB (+2 KB)", (10 << 10, 12 << 10)),
                                         ("10 KB->12 KB", (10 << 10, 12 << 10)), ("1 KB > 2 KB -> 3 KB", (1 << 10, 3 << 10)),
                                         ("1 KB >", (None, 1 << 10)), ("1 KB ->", (1 << 10, None)), ("> 1 KB", (None, None))])
def test_footprints_before_and_after(value, want):
    got = Profile(report_of([(1, ["Footprint:        " + value], ["    9  f + 1 (x + 1) [0x1]"], [])])).processes[0]
    assert (got.get("footprint_before_bytes"), got.get("footprint_bytes")) == want


def test_stacks_of_any_depth_after_each_other():
    """Each needs more or less room than the one before; with a tree between them."""
    depths = [3, 300, 5, 700, 2, 256, 257, 1500, 1]
    processes = []
    for pid, depth in enumerate(depths, 1):
        rows = ["%s9  f + %d (x + %d) [0x1]" % ("  " * (n + 2), n, n) for n in range(depth)]
        processes.append((pid, [], rows + (["    4  g + 1 (x + 1) [0x1]", "      3  g + 2 (x + 2) [0x1]"] if pid % 3 == 0 else []), []))
    profile = Profile(report_of(processes))
    got = collections.defaultdict(list)
    for s in profile.by["stack"]:
        got[s["context"]["pid"]].append([int(profile.frames[n].get("symoff", "0x0"), 16) for n in reversed(s["frames"])])
    tree = [[1], [1, 2]]
    assert {pid: sorted(v, key=len, reverse=True) for pid, v in got.items()} == {
        pid: sorted([list(range(d))] + (tree if pid % 3 == 0 else []), key=len, reverse=True) for pid, d in enumerate(depths, 1)}


@pytest.mark.parametrize("to", ["spindump", "sample"])
def test_linked_user_and_kernel_records_are_one_stack(to):
    """Each observation counts once, the kernel's frames last, as every writer that has one stack for both does it."""
    source = os.path.join(ROOT, "tests", "fixtures", "dtrace", "linked.txt")
    text = run("convert", source, "--to", to, "-o", "-", code=0).out
    folded = run("convert", "-", "--from", to, "--to", "folded", "--group-by", "none", "-o", "-", stdin=text, code=0).out
    assert folded.splitlines() == ["[unknown] 5", "main;__pwrite;sys_syscall;zfs_write 3", "thread_start;zio_execute 4"]


@pytest.mark.parametrize("to", ["spindump", "sample"])
def test_linked_records_of_which_one_has_no_frames(to):
    """Only the kernel's side was seen: it is that stack, and nothing is said to be without one."""
    record = lambda name, kind, other, frames: {
        "type": "stack", "id": name, "frames": frames, "stack_type": kind, "related_stacks": [other],
        "context": {"event": "cycles"}, "weights": [{"metric": "samples", "value": 6}]}
    lines = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root", "events": [
                 {"name": "cycles", "kind": "timer", "sampling": {"mode": "frequency", "primary_metric": "samples"}}]},
             {"type": "dso", "id": 2, "name": "[kernel]", "is_kernel": True},
             {"type": "frame", "id": 3, "func": "sys_read", "dso": 2, "kind": "kernel"},
             record("u", "user", "k", []), record("k", "kernel", "u", [3])]
    answer = run("convert", "-", "--from", "spaa", "--to", to, "-o", "-", stdin="".join(json.dumps(x) + "\n" for x in lines), code=0)
    folded = run("convert", "-", "--from", to, "--to", "folded", "--group-by", "none", "-o", "-", stdin=answer.out, code=0).out
    assert folded == "sys_read 6\n" and "without a stack" not in answer.err


# Rows that are cut off, or share a line

WHOLE = """Date/Time:        2026-02-02 23:22:34.999 -0800
Steps:            100 (10ms sampling interval)

--------------------------------------------------
%s format: stacks are sorted
--------------------------------------------------

Process:          App [100]

  Thread 0x10    100 samples (1-100)
  100 start + 160 (dyld + 12160) [0x180002f80]%s
    100 main + 200 (App + 8600) [0x100002198]%s
      100 work(int, char*) + 40 (App + 9000) [0x100002328]%s
        100 wait + 8 (libsystem_kernel.dylib + 4096) [0x180001000]%s
         *100 psynch_mtxcontinue + 208 (kernel + 91408) [0xfffffe0180016510] (blocked by turnstile waiting for B [7] thread 0x9)%s

  Thread 0x11    100 samples (1-100)
  100 other + 8 (App + 16) [0x100000010] (running)%s
"""
LEAF = "psynch_mtxcontinue + 208"


def whole(timeline):
    return WHOLE % (("Timeline", *[" 1-100"] * 6) if timeline else ("Heavy", *[""] * 6))


def leaf_state(answer):
    (stack,) = [s for s in answer.by["stack"] if s["context"].get("tid") == 16]
    leaf = answer.frames[stack["frames"][0]]
    return stack["context"].get("x_state"), leaf["func"], answer.dsos[leaf["dso"]]["name"], stack["weights"][0]["value"]


@pytest.mark.parametrize("timeline", [False, True])
def test_a_row_that_is_cut_off_tells_no_state(timeline):
    lines = whole(timeline).split("\n")
    (n,) = [i for i, line in enumerate(lines) if LEAF in line]
    line = lines[n]
    begin, address = line.index(LEAF) + len(LEAF) - 3, line.index("[0xff")
    for cut in range(begin, len(line)):
        part = line[:cut].rstrip()
        got = Profile("\n".join(lines[:n] + [line[:cut]] + lines[n + 1:]))
        state, func, dso, count = leaf_state(got)
        said = [m for m in got.answer.err.splitlines() if "SPAA-L520" in m]
        assert count == 100, part
        if part.endswith(("16510]", "0x9)")):
            # Nothing tells but the range of samples.
            assert bool(said) == (timeline and not part.endswith(line)), part
            assert state == ("BLOCKED" if part.endswith(")") else None if timeline else "WAITING")
            continue
        if "0x9)" in part:  # in the range, "1-1" and "1-10" among them: too few for the row's samples
            assert state == "BLOCKED" and said, part
            continue
        assert state is None and len(said) == 1 and "line %d" % (n + 1) in said[0], part
        if cut > address:
            assert (func, dso) == ("psynch_mtxcontinue", "kernel"), part


def test_rows_that_share_a_line_are_taken_apart():
    lines = whole(False).split("\n")
    want = Profile("\n".join(lines)).stacks()
    rows = [i for i, line in enumerate(lines) if line.startswith("    ") and "100 " in line]
    for n in rows[:-1]:
        if lines[n + 1].strip().startswith(("100", "*100")):
            joined = lines[:n] + [lines[n] + lines[n + 1]]
            for after in (lines[n + 2:], lines[n + 1:]):  # the second row stands in the next line, too, or does not
                got = Profile("\n".join(joined + after))
                assert got.stacks() == want and "SPAA-W521" in got.answer.err and "line %d" % (n + 1) in got.answer.err
    cut = "\n".join(lines).replace("[0x180001000]\n", "[0x1800")
    got = Profile(cut)
    assert {(s[3], s[5][-1][0]) for s in got.stacks()} == {("BLOCKED", "psynch_mtxcontinue"), ("RUNNABLE", "other")}


def test_a_report_that_ends_before_its_first_thread():
    text = "Data Source:      Stackshots\nSteps:            10\n\nProcess:          app [7]\nPath:             /bin/app\n\n"
    thread = "  Thread 0x1    10 samples (1-10)\n  10  start (app + 16) [0x10010]\n\n"
    assert "before any thread" in Profile(text).answer.err
    assert "before any row" in Profile(text + thread.partition("\n")[0] + "\n").answer.err
    for whole in (thread, thread + "  Binary Images:\n           0x10000 -                ???  app <123>  /bin/app\n", "  Num threads:      0\n  Binary Images:\n"):
        assert "SPAA-L520" not in Profile(text + whole).answer.err


def test_rows_that_are_cut_off_come_back():
    for text in (whole(False).replace(" thread 0x9)", ""), whole(True).replace(" thread 0x9) 1-100", ""), whole(True).replace("1-100\n\n", "1-\n\n")):
        again = rendered(text)
        assert rendered(again) == again and "SPAA-L520" not in Profile(again).answer.err


def test_an_image_in_the_line_of_its_title_is_read():
    text = whole(False) + "\n  Binary Images:           0x100000000 -        0x1000fffff  App 1.0 (1)  <00000064-0000-3000-8000-000000000064>  /App\n"
    (process,) = Profile(text).processes
    assert len(process["images"]) == 1


def test_a_second_report_behind_the_first_is_said_and_not_mixed_in():
    first, second = whole(False), whole(False).replace("[100]", "[200]")
    want = Profile(first).stacks()
    for text in (first + "\n" + second, first + "\nIO Size Histogram:\n\n" + second, first + second.replace("Process:          App", "Powerstats for:   App")):
        got = Profile(text)
        assert got.stacks() == want and "SPAA-L522" in got.answer.err and "Date/Time:" in got.answer.err


def test_rows_that_are_indented_with_tabs_stand_where_they_stood():
    text = whole(True)
    tabs = "\n".join("\t" * ((len(line) - len(line.lstrip(" "))) // 8) + " " * ((len(line) - len(line.lstrip(" "))) % 8) + line.lstrip(" ")
                     for line in text.split("\n"))
    assert "\t" in tabs and Profile(tabs).stacks() == Profile(text).stacks()


def test_many_processes_and_threads_have_each_their_own_rows(tmp_path):
    threads = [("app%d" % (i % 97), 100 + i % 97, 100 + i % 97 + 1000 * (i // 97), i) for i in range(600)]
    text, report, again = tmp_path / "many.perf-script", tmp_path / "many.spindump.txt", tmp_path / "again.txt"
    text.write_text("".join("%s %d/%d [000] 1.000000: 1 cycles: \n\t 401000 f%d+0x1 (/x)\n\n" % t for t in threads))
    assert run("convert", text, "--to", "spindump", "-o", report).code == 0
    found, at = set(), [None, None, None]
    for line in report.read_text().splitlines():
        if line.startswith("Process:"):
            at[:2] = line.split()[1], int(line.split("[")[1].rstrip("]"))
        elif line.startswith("  Thread 0x"):
            at[2] = int(line.split()[1], 16)
        elif line.split()[:1] == ["1"]:
            found.add((*at, int(line.split()[1].lstrip("f"))))
    assert found == set(threads)
    assert run("convert", report, "--to", "spindump", "-o", again).code == 0
    assert again.read_text() == report.read_text()


TWO_PROCESSES = "Date/Time:        2026-02-02 23:22:34.999 -0800\nDuration:         1s\nSteps:            9 (10ms sampling interval)\n\n" + "".join(
    "Process:          %s [%d]\nPath:             /opt/%s\n\n  Thread 0x%d    9 samples (1-9)\n  9  main + 7 (%s + 16) [0x110] (running)\n\n"
    "  Binary Images:\n           0x100 -              0x1ff  %s (1)  <975AFBACB46B364CBD84A75DAA9E455A>  /opt/%s\n\n" % (n, i, n, i, n, n, n)
    for n, i in (("reader", 7), ("writer", 8)))


def test_a_text_that_ends_in_the_line_of_an_image_is_cut_off():
    begin = TWO_PROCESSES.index("Binary Images:\n") + len("Binary Images:\n")
    path = TWO_PROCESSES.index("/opt/reader\n", begin)
    for n in range(begin + 1, path + 1):
        assert "SPAA-L301" in Profile(TWO_PROCESSES[:n]).answer.err, TWO_PROCESSES[begin:n]
    for n in (path + len("/opt/reader"), path + len("/opt/reader\n"), TWO_PROCESSES.index("Process:", begin), len(TWO_PROCESSES)):
        assert "SPAA-L" not in Profile(TWO_PROCESSES[:n]).answer.err
    assert "SPAA-L" not in Profile(TWO_PROCESSES + "    ").answer.err


@pytest.mark.parametrize("damaged", ["(runni~g)", "hrunning)", "$(running)", "(vunnable)"])
def test_a_state_that_is_not_known_is_said(damaged):
    got = Profile(TWO_PROCESSES.replace("(running)", damaged, 1))
    assert "SPAA-W515" in got.answer.err and damaged[-7:-1] in got.answer.err
    assert sum(got.stacks().values()) == 18
    assert "SPAA-W515" not in Profile(TWO_PROCESSES).answer.err

"""heaptrack: random recordings against their truth by brute force, the corpus, and what heaptrack_print says."""

import collections
import gzip
import os
import re
import shutil
import subprocess

import pytest

import gen_heaptrack as g
from conftest import CORPUS, ROOT, ask, parse, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "heaptrack")
HEAP = os.path.join(CORPUS, "heap")
MIX = os.path.join(HEAP, "made", "heaptrack.mix.zst")
DAVID = os.path.join(HEAP, "kde-heaptrack-v1.gz")
PRINT = shutil.which("heaptrack_print")
INTERPRET = "/usr/lib/heaptrack/libexec/heaptrack_interpret"
needs_corpus = pytest.mark.skipif(not os.path.isdir(HEAP), reason="no corpus")
needs_print = pytest.mark.skipif(not PRINT, reason="no heaptrack_print")
METRICS = ["alloc_bytes", "alloc_count", "free_bytes", "free_count", "live_bytes", "live_count", "peak_bytes",
           "x_peak_count", "x_temporary_count"]
KINDS = {"allocations": "alloc_count", "temporary": "x_temporary_count", "leaked": "live_bytes", "peak": "peak_bytes"}


def spaa(data, *args, code=0, error=None):
    source = ["-"] if isinstance(data, bytes) else [data]
    answer = run("convert", *source, "--to", "spaa", "-o", "-", *args, stdin=data if isinstance(data, bytes) else None,
                 code=code)
    if error:
        assert error in answer.err, answer.err
    return [parse(line) for line in answer.raw.decode().splitlines()]


def stacks(records):
    """[(frames from the leaf: (function, srcline, dso, depth), weights)]"""
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    frames = {r["id"]: (r["func"], r.get("srcline"), dsos[r["dso"]], r.get("inline_depth", 0))
              for r in records if r["type"] == "frame"}
    return [(tuple(frames[i] for i in r["frames"]), {w["metric"]: w["value"] for w in r["weights"]}, r)
            for r in records if r["type"] == "stack"]


def summed(pairs):
    out = collections.Counter()
    for key, values in pairs:
        for name, v in values.items():
            out[key, name] += v
    return {k: v for k, v in out.items() if v}


def totals(records):
    return records[0]["x_heaptrack"]["totals"]


# Against the truth of generated files

@pytest.mark.parametrize("version", [3, 2, 1, 0])
@pytest.mark.parametrize("seed", range(6))
def test_an_interpreted_file_is_what_happened(seed, version):
    t = g.Trace(seed)
    records = spaa(t.interpreted(version))
    costs, most, when = t.truth(version)
    got = summed((k, w) for k, w, _ in stacks(records))
    assert got == summed((t.stack(k), dict(zip(METRICS, c))) for k, c in costs.items())
    head = totals(records)
    assert (head["peak_bytes"], head["peak_time_ms"]) == (most, when)
    assert sum(w["peak_bytes"] for _, w, _ in stacks(records)) == most
    assert head["alloc_count"] == sum(c.alloc_count for c in costs.values())
    assert head["temporary_count"] == sum(c.temporary for c in costs.values())
    assert head["live_bytes"] == sum(c.live_bytes for c in costs.values())
    assert head["runtime_ms"] == t.now + 1


@pytest.mark.parametrize("seed", range(4))
def test_a_raw_file_is_the_same(seed):
    t = g.Trace(seed)
    records = spaa(t.raw())
    costs, most, when = t.truth()
    assert totals(records)["peak_bytes"] == most and totals(records)["peak_time_ms"] == when
    want = collections.Counter()
    for k, c in costs.items():
        frames = []
        while True:
            frames.append("0x%x" % t.ips[t.traces[k][0]].addr)
            if not t.traces[k][1]:
                break
            k = t.traces[k][1] - 1
        for name, v in zip(METRICS, c):
            want[tuple(frames), name] += v
    assert summed((tuple(f[0] for f in k), w) for k, w, _ in stacks(records)) == {k: v for k, v in want.items() if v}


def test_the_header_says_what_was_recorded():
    t = g.Trace(1)
    head = spaa(t.interpreted(3, "./app --fast 'x y'"))[0]
    assert head["source_tool"] == "heaptrack"
    assert head["source"] == {"tool": "heaptrack", "command": "./app --fast 'x y'", "tool_version": "1.4.0"}
    assert head["events"] == [{"name": "malloc", "kind": "allocation",
                               "sampling": {"mode": "event", "primary_metric": "alloc_bytes"},
                               "allocation_tracking": {"tracks_frees": True, "has_timestamps": True,
                                                       "x_peak": "of_total"}}]
    rss = max(e[1] for e in t.events if e[0] == "R")
    assert head["x_heaptrack"]["page_size"] == 4096 and totals([head])["peak_rss_bytes"] == rss * 4096


def test_what_is_written_is_valid():
    for t in (g.Trace(2).interpreted(), g.Trace(2).raw()):
        text = run("convert", "-", "--to", "spaa", "-o", "-", stdin=t, code=0).raw
        assert run("validate", "--strict", "-", stdin=text).code == 0


@pytest.mark.parametrize("frames", ["line", "function"])
def test_coarser_frames_add_up(frames):
    t = g.Trace(3)
    costs, most, _ = t.truth()
    records = spaa(t.interpreted(), "--frames", frames)
    cut = (lambda f: (f[0], None, f[2], f[3])) if frames == "function" else lambda f: f
    assert summed((k, w) for k, w, _ in stacks(records)) == summed(
        (tuple(map(cut, t.stack(k))), dict(zip(METRICS, c))) for k, c in costs.items())


# Time

@pytest.mark.parametrize("n", [1, 3, 10, 200])
def test_windows_add_up_to_the_profile(n):
    t = g.Trace(5, events=3000)
    records = spaa(t.interpreted(), "--windows", n)
    windows = [r for r in records if r["type"] == "window"]
    assert 1 <= len(windows) <= n
    assert windows[0]["start"] == 0 and float(windows[-1]["end"]) == (t.now + 1) / 1000
    for a, b in zip(windows, windows[1:]):
        assert a["end"] == b["start"]
    got = collections.Counter()
    for w in windows:
        for row in w["by_stack"]:
            for x in row["weights"]:
                got[row["stack_id"], x["metric"]] += x["value"]
    want = {(r["id"], x["metric"]): x["value"] for r in records if r["type"] == "stack" for x in r["weights"]
            if "peak" not in x["metric"] and x["value"]}
    assert {k: v for k, v in got.items() if v} == want


def test_samples_are_the_allocations():
    t = g.Trace(6)
    records = spaa(t.interpreted(), "--samples")
    by_id = {r["id"]: k for k, _, r in stacks(records)}
    now, want = 0, []
    for e in t.events:
        if e[0] == "c":
            now = e[1]
        elif e[0] == "+":
            want.append((now, t.stack(e[1]), e[2]))
    got = [(int(r.get("timestamp", 0) * 1000), by_id[r["stack_id"]], r["period"])
           for r in records if r["type"] == "sample"]
    assert [x[0] for x in got] == [x[0] for x in want]
    # Equal frames at different addresses are stacks of their own: names are compared.
    assert got == want


def test_a_timeline_of_allocations_and_of_growth(tmp_path):
    t = g.Trace(7, events=2000)
    path = tmp_path / "t.heaptrack"
    path.write_bytes(t.interpreted())
    costs, _, _ = t.truth()
    answer = ask("timeline", path, "--buckets", 10, "--metric", "alloc_bytes")
    assert answer["covered"] == sum(c.alloc_bytes for c in costs.values())
    out = tmp_path / "w.spaa"
    run("convert", path, "--windows", "20", "-o", out, code=0)
    answer = ask("timeline", out, "--metric", "live_bytes")
    assert answer["covered"] == sum(c.live_bytes for c in costs.values())


# Suppressions

def test_suppressions_are_marked_and_reported():
    t = g.Trace(8, events=1500)
    records = spaa(t.interpreted(more=["S leak:leaky", "S # not this", "S leak:^/usr/bin/*pp$"]),
                   error="suppressions fit")
    costs, _, _ = t.truth()
    patterns = g.BUILT_IN + ["leaky", "^/usr/bin/*pp$"]

    def by(k):
        found = None
        while True:
            ip = t.ips[t.traces[k][0]]
            texts = [ip.module] + [x for f, h, _ in ip.frames for x in (f, h)]
            for s in texts:
                hits = [p for p in patterns if s and (p in s or (p[0] == "^" and s == "/usr/bin/app"))]
                if hits:
                    found = hits[0]
                    break
            if not t.traces[k][1]:
                return found
            k = t.traces[k][1] - 1

    want = collections.Counter()
    for k, c in costs.items():
        if by(k):
            want[by(k)] += c.live_bytes
    got = {x["pattern"]: x["leaked_bytes"] for x in records[0]["x_heaptrack"]["suppressions"]}
    assert {k: v for k, v in got.items() if v} == {k: v for k, v in want.items() if v} and want
    head = totals(records)
    assert head["suppressed_bytes"] == sum(want.values())
    assert head["leaked_bytes"] == head["live_bytes"] - head["suppressed_bytes"]
    for frames, w, r in stacks(records):
        texts = [x for f in frames for x in (f[0], f[1], f[2]) if x]
        marked = any(p in s or (p[0] == "^" and s == "/usr/bin/app") for s in texts for p in patterns)
        assert ("x_heaptrack" in r) == marked


# Against heaptrack_print

def printed(path, tmp_path):
    """Its last lines as text, and its folded stacks by kind of cost: {kind: {line: weight}}."""
    base = [PRINT, "-f", path, "-a", "0", "-p", "0", "-T", "0", "--disable-builtin-suppressions"]
    text = subprocess.run(base, capture_output=True, text=True, check=True).stdout
    folded = {}
    for kind in KINDS:
        out = tmp_path / "folded.txt"
        subprocess.run(base + ["-F", out, "--flamegraph-cost-type", kind], capture_output=True, check=True)
        folded[kind] = collections.Counter()
        for line in out.read_text().splitlines():
            stack, n = line.rsplit(" ", 1)
            folded[kind][stack] += int(n)
    return text, folded


def shorten(name):
    """heaptrack_print leaves out what stands between the angle brackets of templates."""
    out, depth = "", 0
    for c in name:
        if c in "<>" and len(out) >= 8 and (out.endswith("operator" + c) if out[-1] == c else out.endswith("operator")):
            out += c
            continue
        if c == "<":
            depth += 1
            if depth == 1:
                out += c
        elif c == ">":
            depth -= 1
        if not depth:
            out += c
    return out


def as_printed(records):
    """
    Our stacks as heaptrack_print folds them: addresses in operator new are left out, stacks begin at main, and what
    is inlined stands before what it is inlined into, so that each address's frames are in the wrong order.
    """
    folded = {kind: collections.Counter() for kind in KINDS}
    frames = {r["id"]: r for r in records if r["type"] == "frame"}
    new = {"operator new(unsigned long)", "operator new[](unsigned long)", "operator new(unsigned int)",
           "operator new[](unsigned int)"}
    for _, w, r in stacks(records):
        ips, ip = [], []
        for i in r["frames"]:
            ip.append(frames[i])
            if not frames[i].get("inline_depth"):
                ips.append(ip)
                ip = []
        line = ""
        for ip in ips:
            if ip[0]["func"] in new:
                continue
            part = ""
            for k, f in enumerate(ip):
                file = (f.get("srcline") or "").rsplit(":", 1)[0].rsplit("/", 1)[-1]
                part += shorten(f["func"]) + (" (%s)" % file if file or k else "") + ";"
            line = part + line
            if ip[0]["func"] in ("main", "__libc_start_main", "__static_initialization_and_destruction_0"):
                break
        for kind, metric in KINDS.items():
            folded[kind][line if ips else "??"] += w[metric]
    return folded


def kilo(text):
    value, unit = re.match(r"(-?[\d.]+)(B|KB?|MB?|GB?)$", text).groups()
    return float(value), {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit[0]]


def check_printed(records, text, folded):
    head = totals(records)
    field = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    assert int(field["calls to allocation functions"].split()[0]) == head["alloc_count"]
    assert int(field["temporary memory allocations"].split()[0]) == head["temporary_count"]
    assert float(field["total runtime"][:-2]) * 1000 == pytest.approx(head["runtime_ms"])
    for name, ours in (("peak heap memory consumption", "peak_bytes"), ("total memory leaked", "live_bytes"),
                       ("peak RSS (including heaptrack overhead)", "peak_rss_bytes")):
        value, unit = kilo(field[name])
        assert abs(head[ours] / unit - value) <= 0.00501, name
    ours = as_printed(records)
    for kind in KINDS:
        assert ours[kind] == folded[kind], kind
    assert sum(folded["peak"].values()) == head["peak_bytes"]
    assert sum(folded["leaked"].values()) == head["live_bytes"]
    assert sum(folded["temporary"].values()) == head["temporary_count"]


@needs_print
@needs_corpus
@pytest.mark.parametrize("path", [MIX, DAVID], ids=["mix", "david"])
def test_the_corpus_is_as_heaptrack_print_has_it(path, tmp_path):
    check_printed(spaa(path), *printed(path, tmp_path))


@needs_corpus
def test_the_corpus_text_of_heaptrack_print():
    with open(os.path.join(HEAP, "made", "heaptrack.mix.heaptrack_print.txt")) as f:
        field = dict(line.strip().split(": ", 1) for line in f if ": " in line)
    head = totals(spaa(MIX))
    assert field["calls to allocation functions"].startswith("%d " % head["alloc_count"])
    assert field["temporary memory allocations"].startswith("%d " % head["temporary_count"])
    assert field["peak heap memory consumption"] == "%.2fK" % (head["peak_bytes"] / 1000)
    assert field["total memory leaked"] == "%.2fK" % (head["leaked_bytes"] / 1000)
    assert field["peak RSS (including heaptrack overhead)"] == "%.2fM" % (head["peak_rss_bytes"] / 1e6)


@needs_print
@needs_corpus
def test_leaks_without_what_is_suppressed():
    text = subprocess.run([PRINT, "-f", DAVID, "-a", "0", "-p", "0", "-T", "0", "--print-suppressions=1"],
                          capture_output=True, text=True, check=True).stdout
    head = spaa(DAVID)[0]["x_heaptrack"]
    assert "total memory leaked: %.2fK" % (head["totals"]["leaked_bytes"] / 1000) in text
    assert "suppressed leaks: %.2fK" % (head["totals"]["suppressed_bytes"] / 1000) in text
    rows = re.findall(r"^ +(\d+) +([\d.]+K?B) (\S+)$", text, re.M)
    assert {x["pattern"]: x["matches"] for x in head["suppressions"]} == {p: int(n) for n, _, p in rows}
    # `leaks` says the same: what is suppressed is no leak, but was allocated, and is part of the peak.
    memory = ask("leaks", DAVID)["memory"]
    for words, n in (("calls to allocation functions: %d (", memory["alloc_count"]),
                     ("temporary memory allocations: %d (", memory["temporary_count"]),
                     ("peak heap memory consumption: %.2fK\n", memory["peak_bytes"] / 1000),
                     ("total memory leaked: %.2fK\n", memory["live_bytes"] / 1000)):
        assert words % n in text


@needs_print
@pytest.mark.parametrize("version", [3, 2, 1, 0])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_random_files_are_as_heaptrack_print_has_them(seed, version, tmp_path):
    path = tmp_path / "random.heaptrack"
    path.write_bytes(g.Trace(seed, events=1500).interpreted(version))
    check_printed(spaa(path), *printed(path, tmp_path))


@needs_print
@pytest.mark.skipif(not os.path.exists(INTERPRET), reason="no heaptrack_interpret")
@pytest.mark.parametrize("seed", [21, 22])
def test_raw_files_are_as_their_interpretation(seed, tmp_path):
    data = g.Trace(seed, events=1500).raw()
    path = tmp_path / "interpreted.heaptrack"
    with open(path, "wb") as f:
        subprocess.run([INTERPRET], input=data, stdout=f, stderr=subprocess.DEVNULL, check=True)
    ours, theirs = spaa(data), spaa(path)
    assert {k: v for k, v in totals(ours).items()} == totals(theirs)
    check_printed(ours, *printed(path, tmp_path))


@pytest.mark.skipif(not shutil.which("heaptrack") or not shutil.which("gcc"), reason="no heaptrack or gcc")
def test_a_recording_made_here_has_names(tmp_path):
    source = tmp_path / "leak.c"
    source.write_text("#include <stdlib.h>\nvolatile void *keep;\n"
                      "__attribute__((noinline)) void leaky(void) { keep = malloc(1000); }\n"
                      "__attribute__((noinline)) void tidy(void) { void *p = malloc(50); keep = p; free(p); }\n"
                      "int main(void) { for (int i = 0; i < 7; i++) { leaky(); tidy(); } return 0; }\n")
    exe = tmp_path / "leak"
    subprocess.run(["gcc", "-g", "-O1", "-o", exe, source], check=True)
    made = subprocess.run(["heaptrack", "--raw", "-o", tmp_path / "out", exe], capture_output=True, text=True)
    path = tmp_path / "out.raw.zst"
    if made.returncode or not path.exists():
        pytest.skip("heaptrack cannot record here")
    of = {frames[0][0]: w for frames, w, _ in stacks(spaa(path))}
    assert (of["leaky"]["live_bytes"], of["leaky"]["alloc_count"]) == (7000, 7)
    assert (of["tidy"]["live_bytes"], of["tidy"]["x_temporary_count"]) == (0, 7)
    assert of["tidy"]["free_bytes"] == 350


# Damage

def lines(*text):
    return ("\n".join(text) + "\n").encode()


HEAD = ["v 10400 3", "X ./app"]


def weights(records):
    return [(tuple(f[0] for f in k), w["alloc_bytes"], w["live_bytes"]) for k, w, _ in stacks(records)]


def test_a_trace_called_from_itself_or_from_a_later_one():
    data = lines(*HEAD, "s 1 f", "s 1 g", "i 10 0 1", "i 20 0 2", "t 1 1", "t 2 9", "t 2 1", "a 5 1", "a 6 2", "a 7 3",
                 "+ 0", "+ 1", "+ 2")
    answer = run("convert", "-", "--to", "spaa", "-o", "-", stdin=data, code=0)
    assert "called from itself, line 7" in answer.err and "not there yet, line 8" in answer.err
    records = [parse(x) for x in answer.raw.decode().splitlines()]
    assert sorted(weights(records)) == [(("f",), 5, 5), (("g",), 6, 6), (("g", "f"), 7, 7)]
    assert run("convert", "-", "--strict", "--to", "spaa", "-o", "-", stdin=data).code == 3


@pytest.mark.parametrize("line, words", [
    ("+ 9", "an allocation of an info that is not there"), ("- 9", "a free of an info that is not there"),
    ("- 0", "a free of what is not allocated"), ("+ zz", "an event that is no numbers"),
    ("+ 0 extra", None), ("i 10 99", "a string that is not there"), ("t 99 0", "an address that is not there"),
    ("a 5 99", "an info of a trace that is not there"), ("a ffffffffffffffff 1", "an info that is no numbers"),
    ("s 99 x", "not as long as it says"), ("q 1", "an unknown line"), ("x 1 a", "a line of raw files"),
    ("v 10400 3", "another version line"), ("X again", "another command line"), ("c zz", "a time that is no number"),
    ("R -", "a size of memory"), ("S nothing", "no leak:PATTERN"), ("I zz", "a size of pages"),
])
def test_a_bad_line_costs_only_itself(line, words):
    good = lines(*HEAD, "s 1 f", "i 10 0 1", "t 1 0", "a 5 1", "+ 0", "- 0", line, "+ 0", "c 5")
    answer = run("convert", "-", "--to", "spaa", "-o", "-", stdin=good, code=0)
    assert (words or "") in answer.err and (not words or "line 9, offset" in answer.err)
    count = 3 if line == "+ 0 extra" else 2
    records = [parse(x) for x in answer.raw.decode().splitlines()]
    assert weights(records)[0] == (("f",), 5 * count, 5 * (count - 1))


def test_a_time_that_goes_back_is_left_out():
    records = spaa(lines(*HEAD, "c 20", "c 10", "s 1 f", "i 10 0 1", "t 1 0", "a 5 1", "+ 0"), error="16 ms behind 32 ms")
    assert totals(records)["peak_time_ms"] == 0x20


def test_a_cut_file_keeps_what_came_before():
    data = lines(*HEAD, "s 1 f", "i 10 0 1", "t 1 0", "a 5 1", "+ 0", "+ 0") + b"+ 1"
    assert weights(spaa(data, error="in the middle of a line, line 9")) == [(("f",), 10, 10)]


def test_more_strings_than_any_program_has():
    """A number has to be kept for each, though they are all the same."""
    bomb = gzip.compress(lines("v 10300 2") + b"s a\n" * ((1 << 24) + 1), 1)
    answer = run("top", "-", "--no-symbols", stdin=bomb, code=3)
    assert "SPAA-E007" in answer.err and "more than 16777216 strings" in answer.err


def test_a_version_that_is_not_known():
    answer = run("convert", "-", "--to", "spaa", "-o", "-", stdin=lines("v 20000 4", "X ./app"))
    assert answer.code == 3 and "version 4; known are 0 to 3" in answer.err and "SPAA-E750" in answer.err


def test_frees_of_a_process_that_was_attached_to():
    data = lines("v 10400 3", "x 2 /x", "A", "X app", "m 1 x 1000 0 1000", "t 1010 0", "- 77", "+ 8 1 77", "- 77", "- 78")
    records = spaa(data, error="2: it was attached to a running process")
    assert records[0]["x_heaptrack"]["attached"] is True
    assert totals(records)["live_bytes"] == 0 and totals(records)["temporary_count"] == 1


def test_modules_of_raw_files_come_and_go(tmp_path):
    data = lines("v 10400 3", "x 4 /a/x", "X app", "m 1 x 1000 0 1000 2000 1000", "m 5 /b/lb 9000 0 100", "t 1010 0", "t 9010 1",
                 "t 3500 1", "+ 8 2 aa", "+ 8 3 bb", "m 1 -", "m 5 /c/lc 9000 0 100", "t 9010 1", "+ 8 4 cc", "t 1010 0", "+ 4 5 dd")
    records = spaa(data)
    where = {tuple((f[0], f[2]) for f in k) for k, _, _ in stacks(records)}
    exe = ("0x10", "/a/x")
    assert where == {(("0x10", "/b/lb"), exe), (("0x2500", "/a/x"), exe), (("0x10", "/c/lc"), exe),
                     (("0x1010", "[unknown]"),)}


def test_deep_stacks_are_cut_and_counted():
    text = HEAD + ["s 1 f", "i 10 0 1"] + ["t 1 %x" % i for i in range(3000)] + ["a 1 bb8", "+ 0"]
    records = spaa(lines(*text))
    assert len(stacks(records)[0][0]) == 1024
    assert records[0]["x_spaa"]["truncated"] == 1


def test_addresses_of_one_run_make_no_identity():
    def ids(base):
        text = HEAD + ["s 4 main", "s 3 /x", "i %x 2 1" % base, "t 1 0", "a 5 1", "+ 0"]
        return [r["id"] for r in spaa(lines(*text)) if r["type"] == "stack"]
    assert ids(0x1000) == ids(0x7000)


def test_the_same_bytes_from_any_chunks(tmp_path):
    data = g.Trace(9, events=20000).interpreted()
    path = tmp_path / "t.heaptrack"
    path.write_bytes(data)
    want = run("convert", path, "--to", "spaa", "-o", "-", "--windows", 9, code=0).raw
    assert run("convert", "-", "--to", "spaa", "-o", "-", "--windows", 9, stdin=data, code=0).raw == want
    if shutil.which("zstd"):
        packed = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
        assert run("convert", "-", "--to", "spaa", "-o", "-", "--windows", 9, stdin=packed, code=0).raw == want

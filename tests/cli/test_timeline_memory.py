"""Memory over time: levels against brute force over random recordings, and against heaptrack_print's massif file."""

import collections
import os
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

import gen_heaptrack as g
from conftest import ROOT, ask, run

PRINT = shutil.which("heaptrack_print")
needs_print = pytest.mark.skipif(not PRINT, reason="no heaptrack_print")
SECOND = 1000


def ms(seconds):
    return round(float(seconds) * SECOND)


@pytest.fixture(scope="module", params=range(4))
def recorded(request, tmp_path_factory):
    t = g.Trace(request.param, events=3000)
    path = tmp_path_factory.mktemp("memory") / "t.heaptrack"
    path.write_bytes(t.raw() if request.param == 3 else t.interpreted())
    return t, path


def level_at(t, when, keep=lambda trace: True, unit=lambda size: size):
    return sum(unit(size) for now, trace, size in t.happened() if now < when and keep(trace))


def check_rows(t, rows, exact=True):
    for row in rows:
        lo, hi = ms(row["start"]), ms(row["end"])
        level = most = level_at(t, lo)
        assert row["level_start"] == level
        inside = [(now, size) for now, _, size in t.happened() if lo <= now < hi]
        for _, size in inside:
            level += size
            most = max(most, level)
        assert row["level_end"] == level and row["weight"] == level - row["level_start"]
        assert (row["level_most"], row["level_most_exact"]) == (most, exact)


@pytest.mark.parametrize("buckets", [1, 7, 20, 500])
def test_levels_are_what_happened(recorded, buckets):
    t, path = recorded
    answer = ask("timeline", path, "--buckets", buckets)
    _, most, when = t.truth()
    rows = answer["rows"]
    check_rows(t, rows)
    assert len(rows) <= buckets
    assert [r["end"] for r in rows[:-1]] == [r["start"] for r in rows[1:]]
    assert rows[0]["start"] == 0 and ms(rows[-1]["end"]) == t.now + 1
    level = answer["level"]
    assert answer["profile"]["metric"] == "live_bytes" and level["end"] == answer["whole"] == rows[-1]["level_end"]
    assert (level["most"], level["most_exact"], ms(level["most_at"])) == (most, True, when)
    assert max(r["level_most"] for r in rows) == most
    assert level["rss"] == max(e[1] for e in t.events if e[0] == "R") * 4096


def test_rates_and_sums_are_what_happened(recorded):
    t, path = recorded
    costs, _, _ = t.truth()
    rows = ask("timeline", path, "--buckets", 9)["rows"]
    for row in rows:
        lo, hi = ms(row["start"]), ms(row["end"])
        mine = [size for now, _, size in t.happened() if lo <= now < hi]
        assert (row["allocated"] or 0) - (row["freed"] or 0) == sum(mine)
        assert (row["calls"] or 0) - (row["frees"] or 0) == row_count(t, lo, hi)
        if row["allocated"]:
            assert abs(row["allocated_per_second"] - row["allocated"] * SECOND / (hi - lo)) <= 0.5
            assert abs(row["calls_per_second"] - row["calls"] * SECOND / (hi - lo)) <= 0.5
    assert sum(r["temporary"] or 0 for r in rows) == sum(c.temporary for c in costs.values())
    assert sum(r["calls"] or 0 for r in rows) == sum(c.alloc_count for c in costs.values())


def row_count(t, lo, hi):
    now = count = 0
    for e in t.events:
        if e[0] == "c":
            now = e[1]
        elif lo <= now < hi and e[0] in "+-":
            count += 1 if e[0] == "+" else -1
    return count


def test_blocks_have_levels_too(recorded):
    t, path = recorded
    answer = ask("timeline", path, "--metric", "live_count", "--buckets", 6)
    for row in answer["rows"]:
        assert row["level_end"] == row_count(t, 0, ms(row["end"]))
        assert row["level_most"] >= max(row["level_start"], row["level_end"])
    assert answer["level"]["most_exact"] is False


def test_a_range_of_time_begins_and_ends_where_it_says(recorded):
    t, path = recorded
    a, b = t.now // 3, t.now * 2 // 3
    answer = ask("timeline", path, "--time", "%.3f..%.3f" % (a / SECOND, b / SECOND), "--buckets", 4)
    rows = answer["rows"]
    assert (ms(rows[0]["start"]), ms(rows[-1]["end"])) == (a, b)
    check_rows(t, rows)
    assert answer["profile"]["filters"].startswith("--time")


def test_a_filtered_level_is_of_its_stacks_and_at_least(recorded):
    t, path = recorded
    if path.read_bytes().find(b"\nx ") > 0:
        pytest.skip("names are not in raw files")
    names = collections.Counter(f[0] for e in t.events if e[0] == "+" for f in set(t.stack(e[1])))
    name = min(names, key=lambda n: (abs(names[n] - len(t.events) / 4), n))
    keep = [any(f[0] == name for f in t.stack(k)) for k in range(len(t.traces))]
    answer = ask("timeline", path, "--focus", "^%s$" % re.escape(name), "--buckets", 5)
    costs, _, _ = t.truth()
    for row in answer["rows"]:
        assert row["level_end"] == level_at(t, ms(row["end"]), lambda k: keep[k])
        assert row["level_most"] >= max(row["level_start"], row["level_end"]) and not row["level_most_exact"]
    assert answer["level"]["at_peak"] == sum(c.peak_bytes for k, c in costs.items() if keep[k])
    assert answer["level"]["most_at"] is None


def test_windows_in_spaa_tell_the_same(recorded, tmp_path):
    t, path = recorded
    out = tmp_path / "w.spaa"
    run("convert", path, "--windows", "40", "-o", out, code=0)
    answer = ask("timeline", out, "--buckets", 8)
    _, most, when = t.truth()
    check_rows(t, answer["rows"])
    assert (answer["level"]["most"], ms(answer["level"]["most_at"])) == (most, when)


def test_people_see_levels_the_peak_and_no_negative_shares(recorded):
    t, path = recorded
    text = run("timeline", path, "--buckets", 6, code=0).out
    assert re.search(r"^live .* at the end, peak .* at [\d.]+ s; RSS of the process at most ", text, re.M)
    assert "live at end" in text and "highest" in text and "calls/s" in text and "%" not in text
    assert all(len(line) <= 120 for line in text.splitlines())
    assert re.search(r"^next: spaa top .* --at peak$", text, re.M)


def test_times_that_the_recording_has_not(recorded):
    t, path = recorded
    said = run("timeline", path, "--time", "%d..%d" % (t.now, t.now + 1), code=1)
    assert "SPAA-E032" in said.err and "the recording has 0..%g s" % ((t.now + 1) / SECOND) in said.err and not said.out


def test_samples_of_allocations_are_counted(recorded, tmp_path):
    t, path = recorded
    out = tmp_path / "s.spaa"
    run("convert", "--samples", path, "-o", out, code=0)
    answer = ask("timeline", out, "--metric", "alloc_count", "--buckets", 5)
    costs, _, _ = t.truth()
    assert sum(r["weight"] for r in answer["rows"]) == answer["whole"] == sum(c.alloc_count for c in costs.values())


def test_peaks_of_several_recordings_are_no_sums(recorded, tmp_path):
    _, path = recorded
    (tmp_path / "other").write_bytes(g.Trace(9).interpreted())
    run("merge", path, tmp_path / "other", "-o", tmp_path / "m.spaa", code=0)
    text = run("top", tmp_path / "m.spaa", "--at", "peak", code=0).out
    assert "each recording has its peak at a time of its own" in text and all(len(x) <= 120 for x in text.splitlines())
    assert any(x.startswith("spaa leaks") and "--at peak" in x for x in ask("top", tmp_path / "m.spaa", "--at", "peak")["next"])


def test_a_moment_has_one_command_next(recorded):
    t, path = recorded
    text = run("timeline", path, "--at", t.now // 2 / SECOND, code=0).out
    assert re.search(r"^next: spaa top \S+ --at [\d.]+$", text, re.M)


def test_rates_of_allocations_keep_their_shares(recorded):
    _, path = recorded
    text = run("timeline", path, "--metric", "alloc_count", "--buckets", 4, code=0).out
    assert "calls/s" in text and "100.00%" in text and "live at end" not in text


@pytest.mark.parametrize("args", [["--metric", "peak_bytes"], ["--at", "peak"]])
def test_the_peak_is_no_metric_over_time(recorded, args):
    answer = run("timeline", recorded[1], *args, code=2)
    assert "one moment" in answer.err and "--at peak" in answer.err


def snapshots(path):
    """As of massif: four windows, of which the second ends with totals only."""
    lines = ['{"type":"header","format":"spaa","version":"1.0","source_tool":"massif","frame_order":"leaf_to_root",'
             '"stack_id_mode":"content_addressable","events":[{"name":"heap","kind":"allocation","sampling":{"mode":"event","primary_metric":"live_bytes"}}],'
             '"time_range":{"start":0,"end":4,"unit":"seconds"}}',
             '{"type":"dso","id":1,"name":"app","is_kernel":false}']
    lines += ['{"type":"frame","id":%d,"func":"%s","dso":1,"kind":"user"}' % x for x in ((1, "grow"), (2, "keep"), (3, "[no stacks]"))]
    lines += ['{"type":"stack","id":"0x%d","frames":[%d],"stack_type":"unified","context":{"event":"heap"},'
              '"weights":[{"metric":"live_bytes","value":%d,"unit":"bytes"}]}' % x for x in ((1, 1, 700), (2, 2, 100), (3, 3, 0))]
    changes = [{1: 500, 2: 100}, {1: -500, 2: -100, 3: 900}, {1: 600, 2: 100, 3: -900}, {1: 100}]
    for i, rows in enumerate(changes):
        by = ",".join('{"stack_id":"0x%d","weights":[{"metric":"live_bytes","value":%d,"unit":"bytes"}]}' % x for x in rows.items())
        lines.append('{"type":"window","id":"w%d","start":%d,"end":%d,"unit":"seconds","by_stack":[%s],"x_massif":{"detailed":%s}}'
                     % (i, i, i + 1, by, "false" if i == 1 else "true"))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_part_has_no_level_where_only_totals_are_known(tmp_path):
    path = snapshots(tmp_path / "m.spaa")
    whole = ask("timeline", path)["rows"]
    assert [(r["end"], r["level_end"]) for r in whole] == [(1, 600), (2, 900), (3, 700), (4, 800)]
    part = ask("timeline", path, "--focus", "grow")["rows"]
    assert [(r["end"], r["level_end"], r["level_most_exact"]) for r in part] == [(1, 500, False), (3, 600, False), (4, 700, False)]
    assert ask("top", path, "--at", "3")["whole"] == 700


# A moment

def by_stack(answer):
    return sum(r["self"] for r in answer["rows"])


@pytest.mark.parametrize("part", [0.01, 0.3, 0.5, 0.77, 0.999])
def test_what_was_live_at_a_time(recorded, part):
    t, path = recorded
    when = max(1, int(t.now * part))
    at = "%.3f" % (when / SECOND)
    answer = ask("top", path, "--at", at, "-n", 0, "--by", "function")
    want = level_at(t, when)
    assert answer["whole"] == want and by_stack(answer) == want
    assert answer["profile"]["metric"] == "live_bytes" and answer["profile"]["at"] == at
    leaks = ask("leaks", path, "--at", at, "--suppressed")
    assert leaks["memory"]["live_bytes"] == want
    assert leaks["memory"]["live_count"] == row_count(t, 0, when)


def test_a_moment_of_windows_is_the_same_where_one_ends(recorded, tmp_path):
    t, path = recorded
    out = tmp_path / "w.spaa"
    run("convert", path, "--windows", "12", "-o", out, code=0)
    ends = [r["end"] for r in ask("timeline", out)["rows"]]
    for end in ends[:3] + ends[-1:]:
        a, b = (ask("top", x, "--at", str(end), "-n", 0) for x in (path, out))
        assert a["whole"] == b["whole"] == b["kept"] == level_at(t, ms(end))
        strip = lambda x: sorted((r["function"], r["dso"], r["self"]) for r in x["rows"] if r["self"])
        assert strip(a) == strip(b)
    between = run("top", out, "--at", "%.4f" % (float(ends[1]) - 0.0005), code=2)
    assert "do not end at that time" in between.err and "--at %s" % ends[1] in between.err
    assert "which this file does not say" in run("leaks", out, "--at", str(ends[1]), code=2).err


def test_the_peak_and_the_end_are_metrics(recorded):
    t, path = recorded
    costs, most, _ = t.truth()
    assert ask("top", path, "--at", "peak", "-n", 0)["whole"] == most
    assert ask("top", path, "--at", "end")["whole"] == sum(c.live_bytes for c in costs.values())
    blocks = ask("top", path, "--at", "peak", "--metric", "x_peak_count")
    assert blocks["whole"] == sum(c.peak_count for c in costs.values())


@pytest.mark.parametrize("args, words", [
    (["--at", "noon"], "takes a moment"),
    (["--at", "-1"], "takes a moment"),
    (["--at", "peak", "--metric", "alloc_bytes"], "is of peak_bytes"),
    (["--at", "1", "--metric", "peak_bytes"], "is of live_bytes"),
    (["--at", "peak", "--time", "0..1"], "--time of a range"),
    (["--at", "1000000"], "the recording ends at"),
])
def test_moments_that_cannot_be(recorded, args, words):
    assert words in run("top", recorded[1], *args, code=2).err


def test_one_dump_is_one_moment():
    heap = os.path.join(ROOT, "tests", "fixtures", "pprof", "heap.pb.gz")
    assert "is of one moment" in run("top", heap, "--at", "peak", code=2).err
    assert "other times than its end" in run("top", heap, "--at", "1", code=2).err
    assert ask("top", heap, "--at", "end")["whole"] == ask("top", heap, "--metric", "live_bytes")["whole"]


def test_what_is_not_memory_has_no_such_moment():
    cpu = os.path.join(ROOT, "tests", "fixtures", "pprof", "cpu.pb")
    assert run("top", cpu, "--at", "end", code=2).err and run("top", cpu, "--at", "peak", code=2).err


# The picture

SVG = "{http://www.w3.org/2000/svg}"


def points(path):
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path.get("d"))]


def test_the_picture_has_the_level_and_the_peak(recorded, tmp_path):
    t, path = recorded
    out, again = tmp_path / "m.svg", tmp_path / "again.svg"
    text = run("timeline", path, "-o", out, code=0).out
    assert text == run("timeline", path, code=0).out
    run("timeline", path, "-o", again, code=0)
    assert out.read_bytes() == again.read_bytes()
    tree = ElementTree.parse(out)
    level = ask("timeline", path)["level"]
    words = [x.text for x in tree.iter(SVG + "text")]
    assert any(w.startswith("peak ") and w.endswith(" at %g s" % level["most_at"]) for w in words)
    assert "RSS of the process" in words and "all others" in words
    lines = {x.get("class"): points(x) for x in tree.iter(SVG + "path") if x.get("class") in ("top", "rss") and "L" in x.get("d")}
    peak = next(tree.iter(SVG + "circle"))
    assert min(y for _, y in lines["top"]) == float(peak.get("cy"))
    height = lambda live: 446 - live * 380 / (max(level["most"], level["rss"]) * 17 // 16)
    assert abs(float(peak.get("cy")) - height(level["most"])) <= 0.2
    assert abs(min(y for _, y in lines["rss"]) - height(level["rss"])) <= 0.2
    areas = [points(x) for x in tree.iter(SVG + "path") if re.fullmatch(r"o\d", x.get("class") or "")]
    assert abs(min(y for a in areas for x, y in a if x == max(q[0] for q in a)) - height(level["end"])) <= 0.2
    tips = [x.text for r in tree.iter(SVG + "rect") if r.get("class") == "t" for x in r]
    assert tips and all(": live " in tip for tip in tips)
    data = out.read_bytes()
    assert b"<script" not in data and b"http://" not in data.replace(b"http://www.w3.org/2000/svg", b"")
    assert b"prefers-color-scheme: dark" in data


def test_the_picture_makes_names_safe(tmp_path):
    path, out = tmp_path / "x.heaptrack", tmp_path / "x.svg"
    path.write_text("v 10400 1\nX ./a\nI 1000 1000\ns app\ns <b>&\"x\ni 1000 1 2\nt 1 0\na 1000 1\nc 0\n+ 0\nc 10\n")
    run("timeline", path, "-o", out, code=0)
    assert any(x.text and '<b>&"x' in x.text for x in ElementTree.parse(out).iter(SVG + "title"))


def test_a_picture_is_of_what_was_live(recorded, tmp_path):
    cpu = os.path.join(ROOT, "tests", "fixtures", "heaptrack", "interpreted.heaptrack")
    answer = run("timeline", cpu, "--metric", "alloc_bytes", "-o", tmp_path / "x.svg", code=2)
    assert "what memory was live" in answer.err and not (tmp_path / "x.svg").exists()


# heaptrack_print

def massif(path):
    """[(seconds, bytes)] of each snapshot."""
    text = open(path).read()
    return [(float(t), int(b)) for t, b in re.findall(r"time=([\d.e+-]+)\nmem_heap_B=(\d+)", text)]


@needs_print
def test_the_massif_file_of_heaptrack_print_has_the_same_levels(recorded, tmp_path):
    t, path = recorded
    if b"\nx " in path.read_bytes():
        pytest.skip("heaptrack_print reads interpreted files")
    out = tmp_path / "massif.out"
    subprocess.run([PRINT, "-f", path, "-M", out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    answer = ask("timeline", path, "--buckets", 100000)
    ends = {ms(r["end"]): r["level_end"] for r in answer["rows"]}
    shots = massif(out)
    assert max(live for _, live in shots) <= answer["level"]["most"]
    shown = collections.defaultdict(set)  # it may show one moment of its clock several times
    for when, live in shots:
        shown[ms(when)].add(live)
    both = [end for end in ends if end in shown]
    assert len(both) > 20 and all(ends[end] in shown[end] for end in both)


# Files as of a moment

def test_what_is_converted_is_of_the_moment(recorded, tmp_path):
    t, path = recorded
    when = t.now // 2
    at = "%.3f" % (when / SECOND)
    costs, most, _ = t.truth()
    folded = lambda *args: sum(int(x.rsplit(" ", 1)[1]) for x in run(
        "convert", *args, "--to", "folded", "-o", "-", code=0).out.splitlines())
    assert folded(path, "--at", "peak") == most
    assert folded(path, "--at", at) == level_at(t, when)
    assert folded(path, "--at", "end") == sum(c.live_bytes for c in costs.values())
    out, windows = tmp_path / "then.spaa", tmp_path / "w.spaa"
    run("convert", path, "--at", at, "-o", out, code=0)
    assert ask("leaks", out, "--suppressed")["memory"]["live_bytes"] == level_at(t, when)
    run("convert", path, "--windows", "9", "-o", windows, code=0)
    assert "was not read up to" in run("convert", windows, "--at", at, "--to", "folded", "-o", "-", code=2).err

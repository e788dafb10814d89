"""Heap and CPU profiles of gperftools, Go and Java from before protobuf: against pprof's reading of them."""

import collections
import json
import math
import os
import re
import shutil
import subprocess

import pytest

import gen_gperf as g
from conftest import CORPUS, ROOT, ask, parse, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "gperftools")
LEGACY = os.path.join(CORPUS, "pprof")
MADE = os.path.join(CORPUS, "heap", "made")
GO = shutil.which("go") or "/usr/local/go/bin/go"
needs_corpus = pytest.mark.skipif(not os.path.isdir(LEGACY), reason="no corpus")
needs_go = pytest.mark.skipif(not os.path.exists(GO), reason="no go tool pprof")
STRINGS = ["cppbench.contention", "cppbench.cpu", "cppbench.heap", "gobench.cpu", "gobench.heap", "java.cpu"]
TYPES = {"alloc_objects": "alloc_count", "alloc_space": "alloc_bytes", "inuse_objects": "live_count",
         "inuse_space": "live_bytes", "objects": "live_count", "space": "live_bytes", "contentions": "count"}


def fixture(name):
    with open(os.path.join(FIXTURES, name), "rb") as f:
        return f.read()


def spaa(data, *args, code=0):
    answer = run("convert", "-q", "-", "--to", "spaa", "-o", "-", "--no-symbols", *args, stdin=data, code=code)
    return [parse(line) for line in answer.raw.decode().splitlines()]


def messages(data, *args):
    return run("convert", "-", "--to", "spaa", "-o", "-", "--no-symbols", *args, stdin=data).err


# A profile as pprof knows it: {(labels, locations leaf first): [values]}, a location being an address or a name

def from_raw(text):
    """What `go tool pprof -raw` and the corpus's .string files say."""
    parts = re.split(r"^(?:Samples:|Locations|Mappings)\s*\n", text, flags=re.M)
    head, samples, locations, mappings = (parts + [""])[:4]
    where = {}
    number = None
    for line in locations.splitlines():
        m = re.match(r"\s*(\d+): 0x([0-9a-f]+)(?: M=\d+)?(?: F)? ?(.*)$", line)
        if m:
            number, name = int(m[1]), m[3].strip()
            where[number] = [name or int(m[2], 16)]
        elif line.strip():
            where[number].append(line.strip())
    flat = {n: tuple(re.sub(r"(:\d+)? s=\d+(\(.*\))?$", "", x) if isinstance(x, str) else x for x in names)
            for n, names in where.items()}
    lines = [x for x in samples.splitlines() if x.strip()]
    types = [re.sub(r"\[dflt\]", "", t).split("/") for t in lines[0].split()]
    stacks, row = collections.Counter(), None
    out = collections.defaultdict(lambda: [0] * len(types))
    for line in lines[1:] + [None]:
        label = line and re.match(r"\s+([^:\s]+):\[(.*)\]\s*$", line)
        if label:
            row[1] += ((label[1], label[2]),)
            continue
        if row:
            key = (row[1], tuple(x for n in row[2] for x in flat[n]))
            out[key] = [a + b for a, b in zip(out[key], row[0])]
        if line:
            values, _, ids = line.partition(":")
            row = [[int(v) for v in values.split()], (), [int(i) for i in ids.split()]]
    maps = re.findall(r"^\d+: (0x[0-9a-f]+)/(0x[0-9a-f]+)/(0x[0-9a-f]+) +(\S*)", mappings, flags=re.M)
    return types, dict(out), {(int(a, 16), int(b, 16), int(c, 16), d) for a, b, c, d in maps}, head


def from_spaa(records, leaf_adjusted):
    """The same of ours: callers' addresses on their calls, as pprof has them."""
    head = records[0]
    types = [(t["type"], t["unit"]) for t in head["x_pprof"]["sample_types"]]
    metrics = [t["metric"] for t in head["x_pprof"]["sample_types"]]
    ranges = [(int(m["start"], 16), int(m["limit"], 16), int(m["offset"], 16), m["file"])
              for m in head["x_gperftools"].get("mappings", [])]
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    frames = {r["id"]: r for r in records if r["type"] == "frame"}

    def location(i, first):
        f = frames[i]
        if f.get("func_resolved", True) and "ip" not in f:
            source = f.get("srcline", ":0")
            return f["func"] + " " + (source if re.search(r":\d+$", source) else source + ":0")
        ip, dso = int(f["ip"], 16), dsos[f["dso"]]
        if dso not in ("[unknown]", "[anon]"):
            at = [s - o for s, e, o, name in ranges if name == dso and o <= ip <= o + (e - s)]
            ip += at[0]
        return ip - (1 if leaf_adjusted or not first else 0)

    out = collections.defaultdict(lambda: [0] * len(types))
    for r in records:
        if r["type"] != "stack":
            continue
        labels = tuple((k, str(v)) for k, v in r["context"].get("x_labels", {}).items())
        weights = {w["metric"]: int(w["value"]) for w in r["weights"]}
        key = (labels, tuple(location(i, n == 0) for n, i in enumerate(r["frames"])))
        out[key] = [a + weights[m] for a, m in zip(out[key], metrics)]
    return types, dict(out), set(ranges)


def check(ours, raw):
    types, stacks, maps = ours
    their_types, theirs, their_maps, _ = raw
    assert [list(t) for t in types] == their_types
    assert stacks == theirs
    assert maps == {m for m in their_maps if m[3]}


@needs_corpus
@pytest.mark.parametrize("name", STRINGS)
def test_the_corpus_is_read_as_pprof_reads_it(name):
    """Every sample, value, address and mapping."""
    with open(os.path.join(LEGACY, name), "rb") as f:
        records = spaa(f.read())
    with open(os.path.join(LEGACY, name + ".string")) as f:
        check(from_spaa(records, not name.endswith(".cpu")), from_raw(f.read()))


def go_raw(path):
    answer = subprocess.run([GO, "tool", "pprof", "-symbolize=none", "-raw", str(path)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, "PPROF_TMPDIR": "/tmp"})
    assert answer.returncode == 0, answer.stderr
    return from_raw(answer.stdout.decode())


def against_go(tmp_path, data, leaf_adjusted):
    path = tmp_path / "profile"
    path.write_bytes(data)
    check(from_spaa(spaa(data), leaf_adjusted), go_raw(path))


@needs_go
@needs_corpus
@pytest.mark.parametrize("name", ["gperf.cpuprofile", "tcmalloc.mix.heap"])
def test_profiles_made_here_are_read_as_go_does(name):
    path = os.path.join(MADE, name)
    with open(path, "rb") as f:
        data = f.read()
    check(from_spaa(spaa(data), name.endswith(".heap")), go_raw(path))


# CPU profiles in words

@pytest.mark.parametrize("form", sorted(g.FORMATS))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_words_of_both_sizes_and_endiannesses(form, seed):
    samples = g.cpu_samples(seed)
    records = spaa(g.words(form, samples, tail=g.maps_text().encode()))
    head = records[0]
    assert head["events"] == [{"name": "cpu", "kind": "timer", "sampling": {
        "mode": "period", "primary_metric": "cpu", "sample_period": 10000000}}]
    assert head["x_gperftools"]["words"] == form
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    frames = {r["id"]: (dsos[r["dso"]], int(r["ip"], 16)) for r in records if r["type"] == "frame"}
    got = {tuple(frames[i] for i in r["frames"]): tuple(w["value"] for w in r["weights"])
           for r in records if r["type"] == "stack"}
    assert got == g.truth(samples, 10000)


def test_all_forms_give_the_same_profile():
    samples = g.cpu_samples(4)
    texts = {form: run("convert", "-q", "-", "--to", "folded", "-o", "-", "--no-symbols",
                       stdin=g.words(form, samples, tail=g.maps_text().encode()), code=0).out for form in g.FORMATS}
    assert len(set(texts.values())) == 1


@needs_go
@pytest.mark.parametrize("form", sorted(g.FORMATS))
def test_words_as_go_reads_them(tmp_path, form):
    maps = g.maps_text([m for m in g.MAPS if " " not in m[3] and m[3]]).encode()
    samples = [(c, [a for a in addresses if not 0x600000 <= a < 0x700000 and not 0x800000 <= a < 0x900000] or [0x400010])
               for c, addresses in g.cpu_samples(5)]
    against_go(tmp_path, g.words(form, samples, tail=maps), False)


def handler_samples(n=64, odd=2):
    """The handler's frames behind the leaf of all stacks but a few."""
    rows = [(1, [0x400100 + i, 0x7000, 0x7100, 0x400800, 0x400900]) for i in range(n - odd)]
    return rows + [(1, [0x400500, 0x400600]) for _ in range(odd)]


def test_frames_of_the_signal_handler_are_left_out():
    data = g.words("64le", handler_samples(), tail=g.maps_text().encode())
    records = spaa(data)
    notes = records[0]["x_gperftools"]
    assert notes["left_out_1"] == {"address": "0x7000", "stacks": 62} and notes["left_out_2"]["address"] == "0x7100"
    assert max(len(r["frames"]) for r in records if r["type"] == "stack") == 3
    assert messages(data).count("SPAA-I780") == 2
    whole = spaa(data, "--all-frames")
    assert max(len(r["frames"]) for r in whole if r["type"] == "stack") == 5
    assert "left_out_1" not in whole[0]["x_gperftools"]


def test_a_few_other_stacks_keep_their_frames():
    records = spaa(g.words("64le", handler_samples(64, 3), tail=g.maps_text().encode()))
    assert max(len(r["frames"]) for r in records if r["type"] == "stack") == 5


def test_the_leaf_does_not_stand_twice():
    rows = [(1, [0x400100 + 16 * i, 0x400100 + 16 * i, 0x400800 + i]) for i in range(8)]
    records = spaa(g.words("32be", rows, tail=g.maps_text().encode()))
    assert {len(r["frames"]) for r in records if r["type"] == "stack"} == {2}


def totals(data):
    records = spaa(data)
    return sum(w["value"] for r in records if r["type"] == "stack" for w in r["weights"] if w["metric"] == "samples")


def test_words_that_are_cut_keep_what_came_before():
    samples = g.cpu_samples(6)
    data = g.words("64le", samples)
    cut = data[:len(data) * 2 // 3]
    assert 0 < totals(cut) < totals(data)
    assert "SPAA-L767" in messages(cut) and "SPAA-W770" in messages(cut)
    err = messages(g.words("64le", samples, trailer=False))
    assert "without its last words" in err and "offset" in err


def test_after_damage_the_maps_are_found():
    samples = g.cpu_samples(7, 40)
    good = g.words("64be", samples, trailer=False)
    bad = good + (5).to_bytes(8, "big") + (1 << 40).to_bytes(8, "big") + bytes(16)
    tail = (0).to_bytes(8, "big") + (1).to_bytes(8, "big") + bytes(8) + g.maps_text().encode()
    records = spaa(bad + tail)
    assert "/bin/app" in {r["name"] for r in records if r["type"] == "dso"}
    assert "more addresses than there are words" in messages(bad + tail)


def test_huge_counts_do_not_overflow():
    records = spaa(g.words("64le", [((1 << 62) - 1, [0x400010]), (1, [0x400020])], period=1 << 40))
    assert {w["value"] for r in records if r["type"] == "stack" for w in r["weights"] if w["metric"] == "cpu"} <= {
        (1 << 63) - 1, (1 << 40) * 1000}
    assert "SPAA-L767" in messages(g.words("64le", [(1 << 63, [1])]))


def test_java_words_have_names():
    tail = b"\n 0x00000003 GC\n 0x4 com.x.F.run (F.java:12)\n 0x5 memcpy (/lib/libc.so.6)\n 0x6 a generated stub/JIT x\n"
    records = spaa(g.words("32le", [(2, [3]), (3, [4, 5, 6])], java=True, tail=tail))
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    frames = {r["func"]: r for r in records if r["type"] == "frame"}
    assert frames["com.x.F.run"]["srcline"] == "F.java:12" and "ip" not in frames["GC"]
    assert dsos[frames["memcpy"]["dso"]] == "/lib/libc.so.6" and dsos[frames["STUB"]["dso"]] == "[jit]"


# Text

def joined(records):
    """[(context but for the event, [(function, DSO, ip)] leaf first, weights)]"""
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    frames = {r["id"]: (r["func"], dsos[r["dso"]], r.get("ip")) for r in records if r["type"] == "frame"}
    return [({k: v for k, v in r["context"].items() if k != "event"}, [frames[i] for i in r["frames"]],
             {w["metric"]: w["value"] for w in r["weights"]}) for r in records if r["type"] == "stack"]


@needs_go
@pytest.mark.parametrize("name, leaf_adjusted", [
    ("sampled.heap", True), ("brief-maps.heap", True), ("growth.heap", True), ("go.heap", True), ("go.goroutine", True),
    ("go.contention", True), ("contention.txt", True), ("threadz.txt", False), ("java.heapz", False),
    ("java.contentionz", False), ("java.cpu", False), ("64le.cpu", False), ("32be.cpu", False)])
def test_fixtures_are_read_as_go_reads_them(tmp_path, name, leaf_adjusted):
    """Values of all, addresses where neither a name of the file nor a blank in a path tells more than Go reads."""
    data = fixture(name)
    path = tmp_path / name
    path.write_bytes(data)
    types, ours, maps = from_spaa(spaa(data), leaf_adjusted)
    their_types, theirs, their_maps, _ = go_raw(path)
    assert [list(t) for t in types] == their_types
    values = lambda stacks: sorted((labels if name != "go.goroutine" else (), len(a), v) for (labels, a), v in stacks.items())
    if name.startswith("java") or name.endswith(".cpu"):
        assert sorted(ours.values()) == sorted(theirs.values())
    else:
        assert values(ours) == values(theirs)
    if not name.startswith(("java", "go")) and name not in ("sampled.heap", "64le.cpu", "32be.cpu"):
        assert ours == theirs
        assert maps == {m for m in their_maps if m[3]}


def test_a_sampled_heap_keeps_what_was_sampled():
    records = spaa(fixture("sampled.heap"))
    head = records[0]
    assert head["events"] == [{"name": "heap", "kind": "allocation",
                               "sampling": {"mode": "period", "primary_metric": "live_bytes", "sample_period": 65536},
                               "allocation_tracking": {"tracks_frees": True, "has_timestamps": False}}]
    assert head["source_tool"] == "tcmalloc" and head["x_gperftools"]["totals"] == [9, 74752, 13, 140288]
    row = [(c, w) for c, f, w in joined(records) if f[0][:2] == ("0x30000", "[unknown]")][0]
    assert row[0] == {"x_labels": {"bytes": 179}}
    estimate = lambda n, b: (int(n / (1 - math.exp(-(b / n) / 65536))), int(b / (1 - math.exp(-(b / n) / 65536))))
    alloc, live = estimate(7, 832), estimate(5, 896)
    assert row[1] == {"alloc_count": alloc[0], "alloc_bytes": alloc[1], "live_count": live[0], "live_bytes": live[1],
                      "samples": 7, "x_raw_alloc_bytes": 832, "x_raw_live_count": 5, "x_raw_live_bytes": 896}
    dsos = {r["name"]: r for r in records if r["type"] == "dso"}
    assert dsos["/opt/my server"]["x_spaa"] == {"ip": "file_offset", "map": {"offset": "0x0", "size": "0x2000"}, "doubtful": True}  # "(deleted)"


def test_samples_without_a_rate_stay_as_they_are():
    data = fixture("sampled.heap").replace(b"heap_v2/65536", b"heap_v2")
    assert sum(w["alloc_bytes"] for _, _, w in joined(spaa(data))) == 8192 + 192 + 2 * 65536 + 832
    assert "without a rate" in messages(data)


def test_maps_of_other_tools():
    """Names that stand for others, a logger's prefix, an offset and a build id."""
    records = spaa(fixture("brief-maps.heap"))
    maps = records[0]["x_gperftools"]["mappings"]
    assert maps == [{"start": "0x400000", "limit": "0x500000", "offset": "0x0", "file": "/home/b/out/server"},
                    {"start": "0x7f0000000000", "limit": "0x7f0000001000", "offset": "0x2000", "file": "/lib/x.so",
                     "build_id": "abcdef0123456789"},
                    {"start": "0x7fff00000000", "limit": "0x7fff00002000", "offset": "0x0", "file": "[vdso]"}]
    assert [r["build_id"] for r in records if r["type"] == "dso" and r["name"] == "/lib/x.so"] == ["abcdef0123456789"]
    assert ("0x2111", "/lib/x.so", "0x2111") in [f for _, frames, _ in joined(records) for f in frames]


def test_code_in_large_pages_belongs_to_the_rest_of_its_file():
    text = ("heap profile: 1: 10 [ 1: 10] @ heapprofile\n 1: 10 [ 1: 10] @ 0x400101 0x600101\nMAPPED_LIBRARIES:\n"
            "400000-600000 r-xp 0 00:00 0 \n600000-700000 r-xp 200000 08:01 5 /bin/x\n")
    assert [f[1:] for f in joined(spaa(text.encode()))[0][1]] == [("/bin/x", "0x101"), ("/bin/x", "0x200101")]


def test_growth_is_an_event_of_its_own():
    head = spaa(fixture("growth.heap"))[0]
    assert head["events"][0]["name"] == "growth" and head["events"][0]["sampling"] == {
        "mode": "event", "primary_metric": "live_bytes"}


def test_comments_of_go_name_functions():
    records = spaa(fixture("go.heap"))
    frames = {r["func"]: r for r in records if r["type"] == "frame"}
    assert frames["main.grow"]["srcline"] == "/src/main.go:17" and frames["main.grow"]["ip"] == "0x4dc016"
    assert not frames["0x47c113"]["func_resolved"]
    assert "Alloc = 4170976" in records[0]["x_gperftools"]["comments"]
    stacks = joined(spaa(fixture("go.goroutine")))
    assert [c for c, _, w in stacks if w == {"goroutine": 3}] == [{"x_labels": {"job": "7", "route": '/x "y"'}}]


def test_what_is_counted_may_be_no_utf8(tmp_path):
    given, kept, back = (tmp_path / name for name in ("given", "kept.spaa", "back"))
    given.write_bytes(b"g\xd5routine profile: total 2\n2 @ 0x1001 0x2001\n")
    run("convert", given, "--from", "gperftools", "--lossless", "-o", kept, code=0)
    run("convert", kept, "--to", "gperftools", "--lossless", "-o", back, code=0)
    assert back.read_bytes() == given.read_bytes()


def test_inlined_functions_of_one_address():
    text = ("goroutine profile: total 2\n2 @ 0x1001 0x2001\n#\t0x1000\tmain.inner+0x1\t/a.go:1\n"
            "#\t0x1000\tmain.outer+0x10\t/a.go:9\n#\t0x2000\tmain.main+0x5\t/a.go:20\n\n"
            "1 @ 0x1001\n#\t0x1000\tmain.other+0x1\t/a.go:1\n")
    records = spaa(text.encode())
    frames = {r["func"]: r for r in records if r["type"] == "frame"}
    assert (frames["main.inner"]["inlined"], frames["main.inner"]["inline_depth"]) == (True, 1)
    assert "main.other" not in frames
    assert sorted([f[0] for f in frames] for _, frames, _ in joined(records)) == [
        ["main.inner", "main.outer"], ["main.inner", "main.outer", "main.main"]]


def test_contention_in_nanoseconds():
    records = spaa(fixture("contention.txt"))
    head = records[0]
    assert head["x_spaa"]["lost"] == 3 and str(head["x_spaa"]["duration"]) == "16502.83"
    assert head["x_gperftools"]["attributes"]["sampling period"] == "100"
    weights = sorted((w["samples"], w["count"], w["delay"], w["x_raw_delay"]) for _, _, w in joined(records))
    assert weights == [(1, 100, int(768 * 100 / 3.201), 768), (27, 2700, int(19490304 * 100 / 3.201), 19490304)]


def test_threads_have_contexts():
    stacks = joined(spaa(fixture("threadz.txt")))
    assert sorted((c["tid"], c["comm"], [f[2] for f in frames]) for c, frames, _ in stacks) == [
        (14748, "main", ["0x101", "0x202", "0x303", "0x404"]), (14749, "worker/with slash", ["0x501", "0x404"]),
        (14750, "worker", ["0x501", "0x404"])]
    assert len(joined(spaa(fixture("threadz.txt"), "--group-by", "none"))) == 2


THREADZ = fixture("named-threadz.txt")


def test_names_in_threadz():
    """They are their line's: one address has two names here. Creators' stacks are callers, as in pprof."""
    records = spaa(THREADZ)
    assert sorted((c.get("tid", -1), c["comm"], [f[0] for f in frames]) for c, frames, _ in joined(records)) == [
        (-1, "T5", ["std::map<int, a::b>::find(int)", "0xa00", "main"]),
        (14748, "main", ["helper(arg *)", "main", "__libc_start_main"]),
        (14751, "thread1", ["Wait(int)", "start_thread", "0xb96", "main"]),
        (14759, "thread3", ["Wait(int)", "start_thread", "0xb96", "main"])]
    by_name = {f["func"]: f for f in records if f["type"] == "frame"}
    dsos = {d["id"]: d["name"] for d in records if d["type"] == "dso"}
    assert dsos[by_name["helper(arg *)"]["dso"]] == "/opt/server"
    assert dsos[by_name["__libc_start_main"]["dso"]] == "[unknown]"


def test_threadz_is_not_damaged_by_what_it_says_of_creators():
    err = run("convert", "-q", "-", "--to", "spaa", "-o", "-", stdin=THREADZ, code=0).err
    assert "SPAA-L766" not in err


def test_names_in_front_of_a_symbolized_profile():
    records = spaa(fixture("symbolized.cpu"))
    assert records[0]["x_gperftools"]["binary"] == "/opt/server"
    assert [f[0] for f in joined(records)[0][1]] == ["leaf", "inlined_into", "caller", "0x303"]
    cut = fixture("symbolized.cpu").replace(b"\n---\n", b"\n")
    answer = run("top", "-", stdin=cut)
    assert answer.code == 3 and "SPAA-E765" in answer.err


def test_bad_lines_are_reported_where_they_are():
    data = fixture("damaged.heap")
    err = messages(data)
    for part in ("line 3, offset 90", "line 4", "line 5", "line 6", "line 9", "SPAA-W773", "SPAA-W769"):
        assert part in err
    assert sorted(w["live_bytes"] for _, _, w in joined(spaa(data))) == [-192, 1]
    run("convert", "-q", "-", "--strict", "--to", "spaa", "-o", "-", stdin=data, code=3)


HEAP = "heap profile: {} @ {}\n1: 100 [2: 200] @ 0x1001\n3: 300 [3: 300] @ 0x2001\nMAPPED_LIBRARIES:\n"
ALL = "4: 400 [5: 500]"


@pytest.mark.parametrize("kind", ["heap_v2/1024", "heapprofile", "heap/2048", "growthz"])
def test_lines_that_are_missing(kind):
    """The first line has the sums of all, as gperftools and Go write it."""
    assert not re.findall("SPAA-(?:L774|W772)", messages(HEAP.format(ALL, kind).encode()))
    for less, said in (("4: 400 [5: 500]", None), ("5: 401 [5: 500]", "4 of 5 objects in use"), ("4: 400 [5: 501]", "500 of 501 bytes allocated")):
        answer = run("top", "-", "--no-symbols", stdin=HEAP.format(less, kind).encode(), code=0)
        assert ("SPAA-L774" in answer.err) == bool(said) and (said or "") in answer.err
        run("top", "-", "--no-symbols", "--strict", stdin=HEAP.format(less, kind).encode(), code=3 if said else 0)


def test_lines_of_what_was_mapped_are_not_in_the_totals():
    """HEAP_PROFILE_MMAP: the lines have more. Of samples, that is said."""
    assert "SPAA-W772" not in messages(HEAP.format("0: 0 [0: 0]", "heapprofile").encode())
    assert "SPAA-W772" in messages(HEAP.format("1: 100 [2: 200]", "heap_v2/1024").encode())
    assert "SPAA-L774" not in messages(HEAP.format("9: 900 [9: 900]", "fragmentationz").encode())


def test_goroutines_that_are_missing():
    text = "goroutine profile: total {}\n3 @ 0x1001\n#\t0x1000\tmain.f+0x1\t/a.go:1\n\n2 @ 0x2001\n\n"
    assert "SPAA-L774" not in messages(text.format(5).encode())
    assert "5 of 7 goroutine" in messages(text.format(7).encode())


def test_a_row_without_its_end_is_none():
    """0x2001 may be the beginning of another address."""
    data = HEAP.format(ALL, "heap_v2/1").encode().partition(b"MAPPED")[0]
    assert "SPAA-L301" not in messages(data)
    said = messages(data[:-1])
    assert "SPAA-L301" in said and "SPAA-L774" in said
    assert [w["live_bytes"] for _, _, w in joined(spaa(data[:-1]))] == [100]


@pytest.mark.skipif(not shutil.which("g++") or not os.path.exists("/usr/lib/x86_64-linux-gnu/libtcmalloc.so"), reason="no tcmalloc")
@pytest.mark.parametrize("mapped", ["0", "1"])
def test_totals_of_a_recording_made_here(mapped, tmp_path):
    source = "#include <stdlib.h>\nint main() { for (int i = 0; i < 5000; i++) if (!malloc(i * 40)) return 1; }\n"
    (tmp_path / "a.cc").write_text(source)
    subprocess.run(["g++", "-O0", "-o", tmp_path / "a", tmp_path / "a.cc", "-Wl,--no-as-needed", "-ltcmalloc"], check=True)
    env = dict(os.environ, HEAPPROFILE=str(tmp_path / "p"), HEAP_PROFILE_MMAP=mapped, HEAP_PROFILE_ALLOCATION_INTERVAL="30000000")
    subprocess.run([tmp_path / "a"], env=env, check=True, capture_output=True)
    made = sorted(tmp_path.glob("p*.heap"))
    assert made
    for path in made:
        assert not re.findall("SPAA-(?:L774|W772)", messages(path.read_bytes()))


def test_names_that_are_no_utf8(tmp_path):
    data = fixture("growth.heap").replace(b"/opt/server", b"/opt/\xff\xfe")
    dso = [r for r in spaa(data) if r["type"] == "dso"][0]
    assert dso["name"] == "/opt/\ufffd\ufffd" and "x_raw_hex" in dso


def test_granularity():
    for frames, keys in (("function", set()), ("line", set()), ("address", {"ip"})):
        records = spaa(fixture("64le.cpu"), "--frames", frames)
        assert {k for r in records if r["type"] == "frame" for k in r if k in ("ip", "symoff")} == keys


# Whose is it

@pytest.mark.parametrize("text, name", [
    (b"heap profile: 1: 2 [ 3: 4] @ heapprofile\n", "gperftools"), (b"heap_v2/524288\n  t*: 1: 2 [0: 0]\n", "jemalloc"),
    (b"goroutine profile: total 5\n1 @ 0x1\n", "gperftools"), (b"--- mutex:\ncycles/second=1\n", "gperftools"),
    (b"# comment\n\n--- threadz 1 ---\n", "gperftools"), (b"heap profile: total;main 5\nother;x 3\n", "folded"),
    (b"profile: total;main 5\n", "folded"), (b"main;heap_v2/3 5\n", "folded"), (b"a profile: total 5x;b 3\n", "folded"),
    (b"--- symbol\nbinary=/x\n0x1 a\n---\n--- heap\nheap_v2/524288\n", "jemalloc"),
    (g.words("32le", [(1, [5])]), "gperftools"), (g.words("64be", [(1, [5])]), "gperftools")])
def test_probe(tmp_path, text, name):
    path = tmp_path / "profile"
    path.write_bytes(text)
    assert ask("info", path)["format"] == name


def test_other_words_are_not_ours():
    for data in (bytes(64), g.words("64le", [(1, [5])], period=0), b"\0" * 8 + b"\x04" + bytes(40)):
        assert run("info", "-", stdin=data).code == 3


def test_the_profile_says_that_nothing_was_interrupted(tmp_path):
    """Of a heap the leaf's address is one to return to, also once files with different notes are one; not where a timer stopped it."""
    for name, says in (("sampled.heap", "return"), ("growth.heap", "return"), ("64le.cpu", None)):
        assert spaa(fixture(name))[0]["x_spaa"].get("ip") == says
    run("merge", os.path.join(FIXTURES, "sampled.heap"), os.path.join(FIXTURES, "growth.heap"), "--no-symbols", "-o", tmp_path / "m.spaa")
    head = parse(open(tmp_path / "m.spaa", encoding="utf-8").readline())
    assert head["x_spaa"]["ip"] == "return" and "x_gperftools" not in head


def test_labels_that_no_stack_has_are_no_key(tmp_path):
    """A block's size is a label of the stack, unless it has others."""
    (tmp_path / "go.heap").write_text('heap profile: 1: 96 [1: 96] @ heap/131072\n1: 96 [1: 96] @ 0x47c113 0x47f089\n# labels: {"job":"7"}\n')
    run("convert", tmp_path / "go.heap", "--no-symbols", "-o", tmp_path / "once.spaa", code=0)
    run("convert", tmp_path / "once.spaa", "-o", tmp_path / "again.spaa", code=0)
    assert (tmp_path / "once.spaa").read_bytes() == (tmp_path / "again.spaa").read_bytes()
    assert json.loads((tmp_path / "once.spaa").read_text().splitlines()[0])["x_spaa"]["group_by"] == ["label:job"]


@pytest.mark.parametrize("name, cut, said", [("java.cpu", 3, True), ("java.cpu", 0, False), ("java.heapz", 3, True),
                                             ("sampled.heap", 3, True), ("sampled.heap", 0, False)])
def test_a_file_that_ends_within_a_name_or_a_map_is_told(name, cut, said):
    """The name that is cut would stand as another one."""
    data = fixture(name).rstrip(b"\n")
    found = messages(data[:len(data) - cut] if cut else data + b"\n")
    assert ("ends inside its last line" in found) == said

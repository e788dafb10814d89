"""Heap and CPU profiles of gperftools, Go and Java from before protobuf: against pprof's reading of them."""

import collections
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
        labels = tuple((k, str(v)) for k, v in r["context"].get("x_pprof", {}).get("labels", {}).items())
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

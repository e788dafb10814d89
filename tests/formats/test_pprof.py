"""pprof: random profiles against their own truth, round trips, the corpus, and what go tool pprof says."""

import collections
import gzip
import json
import os
import random
import re
import shutil
import subprocess

import pytest

import gen_pprof as g
import profiles
from conftest import CORPUS, ROOT, ask, parse, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "pprof")
MADE = os.path.join(CORPUS, "pprof")
GO = shutil.which("go") or "/usr/local/go/bin/go"
needs_corpus = pytest.mark.skipif(not os.path.isdir(MADE), reason="no corpus")
needs_go = pytest.mark.skipif(not os.path.exists(GO), reason="no go tool pprof")
STRINGS = ["cppbench.contention", "cppbench.cpu", "cppbench.heap", "gobench.cpu", "gobench.heap", "java.cpu"]


def fixture(name):
    with open(os.path.join(FIXTURES, name), "rb") as f:
        return f.read()


def spaa(data, *args, code=0):
    answer = run("convert", "-q", "-", "--to", "spaa", "-o", "-", *args, stdin=data, code=code)
    return [parse(line) for line in answer.raw.decode().splitlines()]


def pprof(data, *args):
    return run("convert", "-q", "-", "--to", "pprof", "-o", "-", *args, stdin=data, code=0).raw


def same(a, b):
    x, y = g.content(a), g.content(b)
    for part in x:
        assert x[part] == y[part], part


# What becomes of a pprof

def joined(records):
    """[(event, context, frames from the leaf, weights)]"""
    dsos = {r["id"]: r for r in records if r["type"] == "dso"}
    frames = {r["id"]: (r["func"], dsos[r["dso"]]["name"], r.get("ip"), r.get("srcline"), r.get("inline_depth", 0))
              for r in records if r["type"] == "frame"}
    return [(r["context"]["event"], {k: v for k, v in r["context"].items() if k != "event"},
             [frames[i] for i in r["frames"]], {w["metric"]: w["value"] for w in r["weights"]})
            for r in records if r["type"] == "stack"]


def test_a_cpu_profile_is_one_event():
    records = spaa(fixture("cpu.pb"))
    head = records[0]
    assert head["events"] == [{"name": "cpu", "kind": "timer",
                               "sampling": {"mode": "period", "primary_metric": "cpu", "sample_period": 10000000}}]
    assert head["x_spaa"]["group_by"] == ["pid", "tid", "comm", "label:bytes", "label:k"]
    assert str(head["time_range"]["start"]) == "1700000000.000000001"
    assert head["x_pprof"]["comments"] == ["first", "second"]
    stacks = joined(records)
    assert ("cpu", {"pid": 7, "tid": 9, "comm": "io"},
            [("ns::inner()", "/bin/app", "0x3000", "in.h:7:3", 1), ("work", "/bin/app", "0x3000", None, 0),
             ("main", "/bin/app", "0x2234", "main.c:10", 0)], {"samples": 3, "cpu": 30000000}) in stacks
    assert [c for _, c, _, _ in stacks if "x_labels" in c] == [
        {"x_labels": {"bytes": {"num": 64, "unit": "bytes"}, "k": ["v", "w"]}}]
    assert {r["tid"]: r for r in records if r["type"] == "thread"}[9]["comm"] == "io"
    dsos = {r["name"]: r for r in records if r["type"] == "dso"}
    assert dsos["/bin/app"]["build_id"] == "abcdef01" and "build_id" not in dsos["/lib/libc.so.6"]
    assert head["x_pprof"]["mappings"][1]["build_id"] == "GO/xyz"


def test_a_heap_profile_is_an_allocation_event():
    records = spaa(fixture("heap.pb.gz"))
    assert records[0]["events"] == [{"name": "heap", "kind": "allocation",
                                     "sampling": {"mode": "period", "primary_metric": "live_bytes", "sample_period": 524288},
                                     "allocation_tracking": {"tracks_frees": True, "has_timestamps": False}}]
    assert [w for *_, w in joined(records)] == [{"alloc_count": 4, "alloc_bytes": 4096, "live_count": 1, "live_bytes": 1024}]


def test_other_types_are_events_of_their_own():
    records = spaa(fixture("many-types.pb"))
    assert [(e["name"], e["sampling"]["primary_metric"]) for e in records[0]["events"]] == [
        ("cpu-samples", "cpu-samples"), ("cpu", "cpu"), ("heap", "alloc_bytes"), ("x", "x"), ("x#2", "x")]
    seen = collections.Counter(e for e, *_ in joined(records))
    assert seen == {"cpu-samples": 1, "cpu": 1, "heap": 1, "x": 1, "x#2": 1}  # none for zeros


def test_views_without_labels_add_them_up():
    r = ask("top", os.path.join(FIXTURES, "cpu.pb"), "--metric", "samples")
    assert r["whole"] == 6


# What comes back

@pytest.mark.parametrize("seed", range(60))
def test_random_profiles_come_back(seed, tmp_path):
    p = g.random_profile(seed)
    data = g.encode(p, packed=seed % 2 == 0, order=["12345678", "67812345", "54321678", "83216547"][seed % 4])
    same(g.decode(data), p)
    path = tmp_path / "x.spaa"
    run("convert", "-q", "-", "-o", path, stdin=gzip.compress(data) if seed % 3 == 0 else data, code=0)
    run("validate", path, code=0)
    once = run("convert", "-q", path, "--to", "pprof", "-o", "-", code=0).raw
    same(g.decode(once), g.decode(data))
    direct = pprof(data)
    same(g.decode(direct), g.decode(data))
    assert pprof(pprof(direct)) == pprof(direct)


def shown(name):
    """Bytes that are no UTF-8 are U+FFFD in the field; the original stands beside."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def test_samples_that_repeat_add_up():
    """More than it takes for the reader to look for bytes that it met before."""
    r = random.Random(5)
    p = g.random_profile(2)
    p["types"] = [("samples", "count"), ("cpu", "nanoseconds"), ("alloc_space", "bytes")]
    stacks = [[r.choice(p["locations"])["id"] for _ in range(r.randint(0, 6))] for _ in range(60)]
    labels = [[], [("k", "v", 0, "")], [("tid", None, 1, "")], [("tid", None, 2, "")]]
    p["samples"] = [{"locations": r.choice(stacks), "values": [r.choice([0, 1]), r.choice([0, 5]), r.choice([0, 3])],
                     "labels": r.choice(labels)} for _ in range(20000)]
    data = g.encode(p)
    same(g.decode(pprof(data)), g.decode(data))


def long_varint(v, n):
    """The same number in n bytes, if it needs no more."""
    out = bytearray(g.varint(v))
    while len(out) < n:
        out[-1] |= 128
        out.append(0)
    return bytes(out)


def any_sample(r, ids, values, label):
    """A sample in one of the many ways to write it: fields in any order, packed or not or in pieces, long numbers."""
    def numbers(field, them):
        long = [long_varint(v, r.choice((1, 1, 1, 2, 3, 4, 5, 8, 9, 10))) for v in them]
        tag = g.varint(field << 3)
        if r.random() < 0.2:
            return [tag + v for v in long]
        cut = r.randrange(len(long) + 1) if r.random() < 0.2 else len(long)
        return [g.chunk(field, b"".join(part)) for part in (long[:cut], long[cut:]) if part or r.random() < 0.1]
    plain = r.random() < 0.5
    parts = [[g.repeated(1, ids, True)], [g.repeated(2, values, r.random() < 0.5)]] if plain else [numbers(1, ids), numbers(2, values)]
    parts.append([g.chunk(3, g.number(1, label[0]) + g.number(2, label[1]))] if label else [])
    if r.random() < 0.3:
        r.shuffle(parts)
    body = b"".join(x for part in parts for x in part)
    return b"\x12" + long_varint(len(body), r.choice((1, 1, 1, 2, 3))) + body


def flat_profile(ids, samples, first=b"", last=b""):
    """Types samples and alloc_space, locations whose functions are named by their ids, a label k with v0 to v3."""
    text = ["", "samples", "count", "alloc_space", "bytes", "k", "v0", "v1", "v2", "v3"] + [f"f{i}" for i in ids]
    head = g.chunk(1, g.number(1, 1) + g.number(2, 2)) + g.chunk(1, g.number(1, 3) + g.number(2, 4))
    places = b"".join(g.chunk(4, g.number(1, i) + g.chunk(4, g.number(1, k + 1))) + g.chunk(5, g.number(1, k + 1) + g.number(2, k + 10))
                      for k, i in enumerate(ids))
    strings = b"".join(g.chunk(6, t.encode()) for t in text)
    return head + first + samples + places + strings + last


def sums(records):
    got = collections.Counter()
    for event, context, frames, weights in joined(records):
        label = context.get("x_labels", {}).get("k")
        for metric, v in weights.items():
            got[metric, label, tuple(f[0] for f in frames)] += v
    return {k: v for k, v in got.items() if v}, len(joined(records))


@pytest.mark.parametrize("seed,count", [(0, 300), (1, 300), (2, 300), (3, 30000)])
def test_a_stack_is_the_same_in_any_bytes(seed, count):
    """However its numbers are written, and whether few samples repeat or most."""
    r = random.Random(seed)
    ids = [1, 2, 127, 128, 129, 16383, 16384, 2097151, 2097152, 268435455, 268435456, 1 << 35, 1 << 63] + list(range(200, 240))
    stacks = [[r.choice(ids) for _ in range(r.choice((0, 1, 2, 5, 30, 70)))] for _ in range(40)]
    want, samples, seen = collections.Counter(), [], set()
    for _ in range(count):
        stack, label = r.choice(stacks), r.choice((None, 0, 1, 2, 3))
        values = [r.choice((0, 1, 3, 1 << 20)), r.choice((0, 0, 7, -1, -(1 << 40), 1 << 62 if count < 1000 and not want else 5))]
        samples.append(any_sample(r, stack, values, label is not None and (5, 6 + label)))
        key = (None if label is None else f"v{label}", tuple(f"f{i}" for i in stack))
        for metric, v in zip(("samples", "alloc_bytes"), values):
            want[(metric, *key)] += v
            if v or metric == "samples" and not any(values):
                seen.add((metric, *key))
    got, n = sums(spaa(flat_profile(ids, b"".join(samples))))
    assert got == {k: v for k, v in want.items() if v} and n == len(seen)


@pytest.mark.parametrize("types", [1, 2])
def test_many_sets_of_labels(types):
    """From none to a dozen labels, met in any order, some of the same first and last bytes."""
    r = random.Random(types)
    text = ["", "samples", "count", "alloc_space", "bytes", "f", "g"] + [f"k{i}" for i in range(12)] + [f"v{i}" for i in range(300)]
    number = {t: i for i, t in enumerate(text)}
    sets = [{}] + [{f"k{k}": f"v{r.randrange(300)}" for k in r.sample(range(12), r.choice((1, 1, 2, 3, 12)))} for _ in range(1500)]
    long = {f"k{k}": f"v{k}" for k in range(12)}
    sets += [{**long, f"k{k}": "v7"} for k in range(12)]
    coded = [b"".join(g.chunk(3, g.number(1, number[k]) + g.number(2, number[v])) for k, v in x.items()) for x in sets]
    want, samples = collections.Counter(), []
    for _ in range(20000):
        i, v, stack = r.randrange(len(sets)), r.choice((1, 200, 1 << 40)), r.choice(([1], [2], [1, 2]))
        samples.append(g.chunk(2, g.repeated(1, stack, True) + g.repeated(2, [v, 5][:types], True) + coded[i]))
        want[tuple(sorted(sets[i].items())), tuple("fg"[k - 1] for k in stack)] += v
    data = b"".join(g.chunk(1, g.number(1, t) + g.number(2, t + 1)) for t in (1, 3)[:types]) + b"".join(samples)
    data += b"".join(g.chunk(4, g.number(1, i) + g.chunk(4, g.number(1, i))) + g.chunk(5, g.number(1, i) + g.number(2, i + 4))
                     for i in (1, 2)) + b"".join(g.chunk(6, t.encode()) for t in text)
    got = collections.Counter()
    for _, context, frames, weights in joined(spaa(data)):
        labels = context.get("x_labels", {})
        got[tuple(sorted(labels.items())), tuple(f[0] for f in frames)] += weights.get("samples", 0)
    assert {k: v for k, v in got.items() if v} == dict(want)


@pytest.mark.parametrize("length", range(1, 11))
def test_samples_at_both_ends_of_the_input(length):
    """Ids of every length where no whole words can be read around them; cut anywhere."""
    ids = [1 << (7 * length - 1) if length < 10 else 1 << 63, 5, 6]
    body = g.chunk(1, g.varint(ids[0]) * 3 + g.varint(5)) + g.chunk(2, g.varint(1) + g.varint(2))
    sample = g.chunk(2, body)
    data = flat_profile(ids, sample * 3, last=sample * 4)
    one = tuple(f"f{i}" for i in (ids[0],) * 3 + (5,))
    for cut in range(len(sample) + 1):
        whole = 6 if cut else 7
        got, _ = sums(spaa(data[:len(data) - cut], "--from", "pprof"))
        assert got == {("samples", None, one): whole, ("alloc_bytes", None, one): 2 * whole}, cut


def test_locations_that_are_missing_are_told_each_time():
    """Wherever samples repeat: what the quick way cannot do is done in the other one, and in order."""
    ids = [7, 8]
    good, bad = (g.chunk(2, g.repeated(1, stack, True) + g.repeated(2, [1, 0], True)) for stack in ([7, 8], [7, 9, 8]))
    p = run("convert", "-", "--to", "spaa", "-o", "-", stdin=flat_profile(ids, (good * 9 + bad) * 2000), code=0)
    got, n = sums([parse(line) for line in p.raw.decode().splitlines()])
    assert got == {("samples", None, ("f7", "f8")): 20000} and n == 1
    assert re.search(r"location 9;.*SPAA-L722", p.err) and "1990 more" in p.err


@pytest.mark.parametrize("seed", range(60, 80))
def test_frames_of_random_profiles(seed):
    """Names, lines and inlining against the profile itself."""
    p = g.random_profile(seed)
    functions = {f["id"]: f for f in p["functions"]}
    locations = {x["id"]: x for x in p["locations"]}
    mappings = {m["id"]: m["file"] or "[unknown]" for m in p["mappings"]}
    want = collections.Counter()
    for s in p["samples"]:
        frames = []
        for x in (locations[i] for i in s["locations"]):
            dso = mappings.get(x["mapping"], "[unknown]")
            names = [functions[f]["name"] or functions[f]["system_name"] for f, _, _ in x["lines"]] or [""]
            frames += [(shown(n), shown(dso), len(names) - 1 - i) for i, n in enumerate(names)]
        for (_, _), v in zip(p["types"], s["values"]):
            want[tuple(frames)] += v
    got = collections.Counter()
    records = spaa(g.encode(p))
    bare = {r["id"]: r.get("func_resolved", True) for r in records if r["type"] == "frame"}
    for r, (_, _, frames, weights) in zip((r for r in records if r["type"] == "stack"), joined(records)):
        key = tuple(("" if not bare[i] else n, dso, depth) for i, (n, dso, _, _, depth) in zip(r["frames"], frames))
        got[key] += sum(weights.values())
    assert {k: v for k, v in got.items() if v} == {k: v for k, v in want.items() if v}


@pytest.mark.parametrize("seed", range(6))
def test_samples_that_share_their_outer_part(seed):
    """Ids of one byte to ten, dense and not, up to six functions in one place, stacks of many blocks of bytes."""
    r = random.Random(seed)
    ids = r.sample(range(1, 300), 80) + [r.getrandbits(b) | 1 << (b - 1) for b in (9, 13, 15, 20, 22, 27, 29, 34, 41, 55, 63, 64)]
    functions = {i: [f"f{i}_{k}" for k in range(r.choice((1, 1, 1, 2, 3, 4, 6)))] for i in ids}
    text = ["", "samples", "count"] + [n for i in ids for n in functions[i]]
    number = {n: k for k, n in enumerate(text)}
    data = [g.chunk(1, g.number(1, 1) + g.number(2, 2))]
    want, stack = collections.Counter(), []
    for _ in range(400):
        depth = r.choice((0, 1, 3, 20, 60, 300)) if seed else r.choice((1, 5000, 17000))
        del stack[r.randrange(len(stack) + 1):]
        stack += [r.choice(ids if r.random() < 0.1 else ids[:80]) for _ in range(depth - len(stack))]
        leaf_first = stack[::-1]
        want[tuple(n for i in leaf_first for n in functions[i])] += 1
        data.append(g.chunk(2, g.repeated(1, leaf_first, r.random() < 0.9) + g.repeated(2, [1], True)))
        if not seed and len(data) > 12:
            break
    for i in ids:
        data.append(g.chunk(4, g.number(1, i) + b"".join(g.chunk(4, g.number(1, number[n])) for n in functions[i])))
        data += [g.chunk(5, g.number(1, number[n]) + g.number(2, number[n])) for n in functions[i]]
    data += [g.chunk(6, t.encode()) for t in text]
    got = {tuple(f[0] for f in frames): weights["samples"] for _, _, frames, weights in joined(spaa(b"".join(data)))}
    assert got == want


@pytest.mark.parametrize("then", ["few", "most"])
def test_many_stacks_that_are_new_and_some_that_are_not(then):
    """Where nearly all stacks are new they are not looked up; those that repeat later add up all the same."""
    r = random.Random(then)
    ids = list(range(1, 300))
    ways = [(a, b, 7) for a in ids for b in ids][:40_000]
    others = r.choices(ways, k=1_000 if then == "few" else 490_000)
    sample = {w: g.chunk(2, g.repeated(1, w, True) + g.repeated(2, (1, w[0] - 150), True)) for w in ways}
    lowest = -(1 << 63)
    data = [sample[w] for w in ways + others]
    data += [g.chunk(2, g.repeated(1, w, True) + g.repeated(2, (1, lowest), True)) for w in (ways[0], (9, 9, 9, 9), ways[1])]
    want = collections.Counter(ways + others + [ways[0], ways[1], (9, 9, 9, 9)])
    got = {}
    for event, _, frames, weights in joined(spaa(flat_profile(ids, b"".join(data)))):
        got[event, tuple(int(f[0][1:]) for f in frames)] = weights
    assert {k[1]: w["samples"] for k, w in got.items() if "samples" in w} == want
    bytes_of = {k[1]: w["alloc_bytes"] for k, w in got.items() if "alloc_bytes" in w}
    for w in ways[2:]:
        assert bytes_of.get(w, 0) == want[w] * (w[0] - 150)
    assert bytes_of[9, 9, 9, 9] == lowest


def test_unknown_fields_are_kept_or_told():
    data = fixture("unpacked-strings-first.pb")
    assert spaa(data)[0]["x_pprof"]["unknown"] == [{"field": 31, "type": 2, "hex": "0102"}, {"field": 40, "type": 0, "value": 9}]
    same(g.decode(pprof(data)), g.decode(data))
    nested = g.encode({**g.random_profile(1)}, extra=g.chunk(5, g.number(1, 999) + g.number(9, 4)))
    p = run("convert", "-", "--to", "spaa", "-o", "-", stdin=nested, code=0)
    assert "field" in p.err or "SPAA-L724" not in p.err


def test_the_last_of_two_ids_counts_and_lines_are_messages():
    """As protobuf has it, also where what follows is not known; a number is no line."""
    for tail in (b"", g.number(9, 4), g.chunk(4, b"\x08")):
        data = (g.chunk(1, g.number(1, 1)) + g.chunk(4, g.number(1, 5) + g.number(3, 0x77) + g.number(1, 6) + tail) +
                g.chunk(2, g.number(1, 6) + g.number(2, 3)) + g.chunk(6, b"") + g.chunk(6, b"x"))
        p = run("convert", "-", "--from", "pprof", "--to", "spaa", "-o", "-", stdin=data, code=0)
        assert '"func":"0x77"' in p.out and "a sample in location" not in p.err
    data = (g.chunk(1, g.number(1, 1)) + g.chunk(4, g.number(1, 5) + g.number(3, 0x77) + g.number(4, 1)) +
            g.chunk(2, g.number(1, 5) + g.number(2, 3)) + g.chunk(6, b"") + g.chunk(6, b"x"))
    p = run("convert", "-", "--from", "pprof", "--to", "spaa", "-o", "-", stdin=data, code=0)
    assert re.search(r"1 fields inside of messages.*SPAA-L724", p.err)


# Bad input

def test_what_dangles_is_left_out_and_told():
    p = run("convert", "-", "--to", "spaa", "-o", "-", stdin=fixture("dangling.pb"), code=0)
    for code, text in (("L722", "location 77"), ("L722", "function 99"), ("L722", "mapping 9"), ("L721", "1 values for 2"),
                       ("L721", "3 values for 2"), ("L721", "cut off"), ("W725", "a second location 1")):
        assert re.search(f"{re.escape(text)}.*SPAA-{code}", p.err), text
    assert "offset" in p.err
    run("convert", "-", "--strict", "--to", "spaa", "-o", "-", stdin=fixture("dangling.pb"), code=3)


def test_a_cut_file_keeps_what_came_before():
    whole = fixture("cpu.pb")
    for n in range(60, len(whole), 7):
        p = run("convert", "-", "--to", "spaa", "-o", "-", "--from", "pprof", stdin=whole[:n])
        assert p.code in (0, 3)
    p = run("top", "-", stdin=whole[:-3], code=0)
    assert "SPAA-L720" in p.err and "offset" in p.err


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b\x08", b"\x0a\x04\x08\x01\x10\x02", b"\x0a\x02hi", b"{}", b"\n\n\n\n", b"22222222"])
def test_nothing_else_is_taken_for_one(data):
    p = run("info", "-", stdin=data)
    assert p.code == 3 and "pprof" not in p.out


def test_bombs():
    """Labels, locations and inlined lines by the thousand: bounded, told, the rest kept."""
    p = g.random_profile(3)
    p["types"] = [("samples", "count")]
    p["functions"] = [{"id": 1, "name": "f", "system_name": "f", "file": "", "start_line": 0}]
    p["mappings"] = []
    p["locations"] = [{"id": 1, "mapping": 0, "address": 1, "lines": [(1, i, 0) for i in range(3000)], "folded": 0},
                      {"id": 2, "mapping": 0, "address": 2, "lines": [(1, 1, 0)], "folded": 0}]
    p["samples"] = [{"locations": [1] * 2000, "values": [1], "labels": []},
                    {"locations": [2], "values": [1], "labels": [(f"k{i % 9}", str(i), 0, "") for i in range(20000)]},
                    *({"locations": [2] * 3, "values": [1], "labels": [("span", None, i, "")]} for i in range(3000)),
                    {"locations": [2], "values": [5], "labels": []}]
    out = run("convert", "-", "--to", "spaa", "-o", "-", stdin=g.encode(p), code=0)
    assert "SPAA-L723" in out.err
    assert sum(w["samples"] for *_, w in joined([parse(x) for x in out.raw.decode().splitlines()])) == 3006
    p["types"] = [(f"t{i}", "count") for i in range(300)]
    p["samples"] = [{"locations": [2], "values": [1] * 300, "labels": []}]
    out = run("convert", "-", "--to", "spaa", "-o", "-", stdin=g.encode(p), code=0)
    assert "300 sample types" in out.err


# The corpus: pprof's own text of each profile says what it holds

def from_text(path):
    """The profile of a .string file."""
    p = {"types": [], "samples": [], "mappings": [], "locations": [], "functions": [], "comments": []}
    functions = {}
    part = None
    with open(path, encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line in ("Samples:", "Locations", "Mappings"):
                part = line
            elif line.startswith("PeriodType:"):
                p["period_type"] = tuple(line.split()[1:3])
            elif line.startswith("Period:"):
                p["period"] = int(line.split()[1])
            elif part == "Samples:" and not p["types"]:
                p["types"] = [tuple(t.replace("[dflt]", "").split("/")) for t in line.split()]
            elif part == "Samples:" and (m := re.match(r"\s+(\w+):\[(\d+)\]$", line)):
                p["samples"][-1]["labels"].append((m[1], None, int(m[2]), "bytes"))
            elif part == "Samples:":
                values, stack = line.split(":", 1)
                p["samples"].append({"values": list(map(int, values.split())), "locations": list(map(int, stack.split())),
                                     "labels": []})
            elif part == "Locations":
                m = re.match(r"\s*(\d+): (0x[0-9a-f]+) (?:M=(\d+) )?(?:(.*) (\S*):(\d+):(\d+) s=(\d+))?", line)
                x = {"id": int(m[1]), "address": int(m[2], 16), "mapping": int(m[3] or 0), "lines": [], "folded": 0}
                if m[4]:
                    number = functions.setdefault((m[4], m[5]), len(functions) + 1)
                    x["lines"] = [(number, int(m[6]), int(m[7]))]
                p["locations"].append(x)
            elif part == "Mappings" and (m := re.match(r"(\d+): (0x\w+)/(0x\w+)/(0x\w+) (\S*) ?(\S*)", line)):
                p["mappings"].append({"id": int(m[1]), "start": int(m[2], 16), "limit": int(m[3], 16),
                                      "offset": int(m[4], 16), "file": m[5], "build_id": "", "has": [0] * 4})
    p["functions"] = [{"id": i, "name": n, "system_name": n, "file": f, "start_line": 0} for (n, f), i in functions.items()]
    return p


@needs_corpus
@pytest.mark.parametrize("name", STRINGS)
def test_profiles_of_the_corpus_come_back(name, tmp_path):
    p = from_text(os.path.join(MADE, name + ".string"))
    assert p["samples"] and p["locations"]
    data = g.encode(p)
    path = tmp_path / "x.spaa"
    run("convert", "-q", "-", "-o", path, stdin=data, code=0)
    run("validate", path, code=0)
    same(g.decode(run("convert", "-q", path, "--to", "pprof", "-o", "-", code=0).raw), p)


@needs_corpus
def test_no_other_file_of_the_corpus_is_a_pprof():
    for folder, _, names in os.walk(CORPUS):
        for name in names:
            p = run("info", os.path.join(folder, name), "--json")
            assert p.code != 0 or parse(p.out)["format"] != "pprof", name


def test_functions_of_one_name_stay_as_many_as_they_are(tmp_path):
    """By file, by system name; at any granularity, as often as they are written."""
    told = [("hash", "hash", "src/one.c", 3), ("hash", "hash", "src/two.c", 3), ("hash", "hash", "lib/two.c", 3), ("hash", "_Z4hashi", "three.cpp", 7), ("hash", "_Z4hashl", "three.cpp", 9)]
    p = g.random_profile(3)
    p.update(types=[("samples", "count")], mappings=[],
             functions=[{"id": i + 1, "name": n, "system_name": s, "file": f, "start_line": k} for i, (n, s, f, k) in enumerate(told)],
             locations=[{"id": i + 1, "mapping": 0, "address": 0, "lines": [(i + 1, k + 1, 0)], "folded": 0} for i, (_, _, _, k) in enumerate(told)],
             samples=[{"locations": [i + 1], "values": [1 + i], "labels": []} for i in range(len(told))])
    data = g.encode(p)
    path = tmp_path / "x.spaa"
    for frames in ("address", "line", "function"):
        run("convert", "-q", "--frames", frames, "-", "-o", path, stdin=data, code=0)
        once = g.decode(run("convert", "-q", path, "--to", "pprof", "-o", "-", code=0).raw)
        assert sorted((f["name"], f["system_name"], f["file"], f["start_line"]) for f in once["functions"]) == sorted(told), frames
        rows = parse(run("top", path, "--json", code=0).out)["rows"]
        assert sorted(r["self"] for r in rows) == [1, 2, 3, 4, 5], frames
        assert {"hash (src/two.c)", "hash (lib/two.c)"} <= {r["function"] for r in rows}


def test_functions_of_go_are_one_whichever_file_they_are_said_to_be_of(tmp_path):
    """What the compiler makes is said to stand in <autogenerated>, what is assembled in a file for each machine."""
    told = [("m.(*T).String", "<autogenerated>"), ("m.(*T).String", "/src/m/t.go"), ("runtime.memmove", "/go/memmove_amd64.s"), ("runtime.memmove", "/go/memmove_arm64.s")]
    p = g.random_profile(3)
    p.update(types=[("samples", "count")], mappings=[],
             functions=[{"id": i + 1, "name": n, "system_name": n, "file": f, "start_line": 1} for i, (n, f) in enumerate(told)],
             locations=[{"id": i + 1, "mapping": 0, "address": 0, "lines": [(i + 1, 2, 0)], "folded": 0} for i in range(len(told))],
             samples=[{"locations": [i + 1], "values": [1 + i], "labels": []} for i in range(len(told))])
    rows = parse(run("top", "-", "--json", stdin=g.encode(p), code=0).out)["rows"]
    assert sorted((r["function"], r["self"]) for r in rows) == [("m.(*T).String", 3), ("runtime.memmove", 7)]


# go tool pprof

def go(path, *args):
    env = dict(os.environ, PPROF_BINARY_PATH="/nonexistent", PPROF_TMPDIR=os.path.dirname(path))
    env.setdefault("HOME", os.path.dirname(path))
    p = subprocess.run([GO, "tool", "pprof", "-symbolize=none", *args, path], capture_output=True, text=True, errors="replace", env=env,
                       timeout=120, check=False)
    assert p.returncode == 0, p.stderr
    return p.stdout


def go_top(path, kind, unit):
    out = go(path, "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-sample_index=" + kind,
             "-unit=" + {"nanoseconds": "ns", "bytes": "B"}.get(unit, "minimum"))
    rows, on = {}, False
    for line in out.splitlines():
        if on:
            m = re.match(r"\s*(\S+)\s+\S+%\s+\S+%\s+(\S+)\s+\S+%\s+(.*)", line)
            name = re.sub(r" \((partial-)?inline\)$", "", m[3])
            rows[name] = tuple(int(re.sub("[a-zA-Z]+$", "", x)) for x in (m[1], m[2]))
        on |= line.strip().startswith("flat")
    return {k: v for k, v in rows.items() if v != (0, 0)}


def our_top(path, *args):
    rows = ask("top", path, "-n", "0", *args)["rows"]
    return {r["function"]: (r["self"], r["total"]) for r in rows if (r["self"], r["total"]) != (0, 0)}


def symbolized(seed):
    """A profile as producers write them: named, positive, without folding and negative lines. pprof adds up functions of
    one name whatever their mapping, and so there is only one."""
    p = g.random_profile(seed)
    p["mappings"] = p["mappings"][:1] or [{"id": 1, "start": 0, "limit": 0, "offset": 0, "file": "/bin/x", "build_id": "",
                                           "has": [1] * 4}]
    for i, f in enumerate(p["functions"]):
        f.update(name=f"fn{i}", system_name=f"fn{i}", start_line=abs(f["start_line"]))
    for m in p["mappings"]:
        m.update(start=m["start"] + (m["id"] % 1000 << 32), limit=m["start"] + (m["id"] % 1000 << 32) + 0x100000)
    for x in p["locations"]:
        x["lines"] = [(f, abs(line), 0) for f, line, _ in x["lines"]] or [(p["functions"][0]["id"], 1, 0)]
        x.update(folded=0, address=p["mappings"][0]["start"] + x["address"] % 0x5000, mapping=p["mappings"][0]["id"])
    for s in p["samples"]:
        s.update(values=[abs(v) for v in s["values"]], labels=[x for x in s["labels"] if x[0] not in ("", "zero")])
        s["locations"] = s["locations"] or [p["locations"][0]["id"]]
    for key in ("drop_frames", "keep_frames", "time_nanos", "duration_nanos", "period"):
        p.pop(key, None)
    return p


@needs_go
@pytest.mark.parametrize("seed", [0, 1, 2, 6])
def test_top_is_that_of_go_tool_pprof(seed, tmp_path):
    p = symbolized(seed)
    path = str(tmp_path / "x.pb")
    with open(path, "wb") as f:
        f.write(g.encode(p))
    if len(set(p["types"])) < len(p["types"]):
        pytest.skip("two types of one name")
    for t in spaa(g.encode(p))[0]["x_pprof"]["sample_types"]:
        if t["type"]:
            assert our_top(path, "--event", t["event"], "--metric", t["metric"]) == go_top(path, t["type"], t["unit"])


@needs_go
@pytest.mark.parametrize("seed", [0, 3])
def test_raw_is_the_same_before_and_after(seed, tmp_path):
    paths = [str(tmp_path / "a.pb"), str(tmp_path / "b.pb.gz")]
    with open(paths[0], "wb") as f:
        f.write(g.encode(symbolized(seed)))
    run("convert", "-q", paths[0], "-o", tmp_path / "x.spaa", code=0)
    run("convert", "-q", tmp_path / "x.spaa", "-o", paths[1], code=0)

    def canonical(text):
        """Samples by the content of their locations: ids are as they come."""
        head, _, rest = text.partition("Locations\n")
        places = {}
        for line in rest.split("Mappings")[0].splitlines():
            if m := re.match(r"\s*(\d+): (.*)", line):
                last = m[1]
                places[last] = re.sub(r"M=\d+ ", "", m[2])
            else:
                places[last] += line
        sums = collections.Counter()
        first, *samples = re.split(r"\n(?=\s*\d+[ \d]*:)", head)
        for x in samples:
            m = re.match(r"([\d\s]+):([\d ]*)(.*)", x, re.S)
            labels = tuple(sorted(x.strip() for x in m[3].split("\n") if x.strip()))
            for i, v in enumerate(m[1].split()):
                sums[i, tuple(places[k] for k in m[2].split()), labels] += int(v)
        return first, {k: v for k, v in sums.items() if v}

    a, b = (canonical(go(x, "-raw")) for x in paths)
    assert a == b


@needs_corpus
@needs_go
@pytest.mark.parametrize("name", ["java.cpu"])
def test_top_of_the_corpus(name, tmp_path):
    path = str(tmp_path / "x.pb.gz")
    go(os.path.join(MADE, name), "-proto", "-output=" + path)
    assert our_top(path) == go_top(path, "cpu", "nanoseconds")


@needs_go
@pytest.mark.parametrize("text,metric", [("a;b;c 5\na;b 3\na;b;a 2\n", "value")])
def test_any_profile_as_pprof(text, metric, tmp_path):
    path = str(tmp_path / "x.pb.gz")
    run("convert", "-q", "-", "--from", "folded", "-o", path, stdin=text, code=0)
    source = tmp_path / "x.folded"
    source.write_text(text)
    assert go_top(path, metric, "count") == our_top(source)


PERF = os.path.join(CORPUS, "perf-script")


@needs_go
@needs_corpus
def test_perf_scripts_as_pprof(tmp_path):
    done = 0
    for source in sorted(os.path.join(d, f) for d, _, files in os.walk(PERF) for f in files):
        name = source
        if not 1 << 10 < os.path.getsize(source) < 1 << 20 or done == 3:
            continue
        path = str(tmp_path / "x.pb.gz")
        if run("convert", "-q", source, "-o", path).code:
            continue
        p = g.decode(open(path, "rb").read())
        kind, unit = next(t for t in p["types"] if t[0] == p.get("default_sample_type", p["types"][-1][0]))
        answer = ask("top", source, "-n", "0")
        ours = collections.Counter()
        unresolved = 0
        for r in answer["rows"]:
            if re.match(r"0x[0-9a-f]+$", r["function"]) or r["function"] in ("[unknown]", "[no stack]"):
                unresolved += 1
            else:
                ours[r["function"]] += r["self"]  # pprof tells functions of one name in two files apart by nothing
        theirs = {k: v[0] for k, v in go_top(path, kind, unit).items()}
        assert {k: v for k, v in ours.items() if v and k in theirs} == {k: v for k, v in theirs.items() if v and k in ours}
        assert sum(k in theirs for k in ours if ours[k]) == sum(v > 0 for v in ours.values()), name
        done += 1
    assert done


def test_peaks_of_a_pprof_are_doubted(tmp_path):
    path, out = tmp_path / "a.spaa", tmp_path / "a.pb"
    event = profiles.event("malloc", "alloc_bytes", "allocation", "event")
    path.write_text(profiles.text([([{"func": "main", "dso": "/app"}], {"alloc_bytes": 9, "peak_bytes": 7})], [event]))
    run("convert", path, "-o", out, code=0)
    said = run("top", out, "--at", "peak", code=2).err
    assert "whether the peak_space" in said and "not in it" not in said


def test_the_program_is_the_first_mapping(tmp_path):
    frames = [{"func": f, "dso": d} for f, d in [("operator new", "/lib/libstdc++.so.6"), ("main", "/opt/bin/app")]]
    path, out = tmp_path / "a.spaa", tmp_path / "a.pb"
    path.write_text(profiles.text([(frames, {"samples": 1})]))
    run("convert", path, "-o", out, code=0)
    assert [m["file"] for m in g.decode(out.read_bytes())["mappings"]] == ["/opt/bin/app", "/lib/libstdc++.so.6"]

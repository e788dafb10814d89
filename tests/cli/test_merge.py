"""spaa merge: the result is the sum, to the byte the same however the inputs are ordered and bracketed."""

import collections
import decimal
import json
import os
import random
import resource
import subprocess
import sys

import gen_spaa
import pytest
import profiles
from conftest import BIN, ROOT, ask, run

D = decimal.Decimal
FIXTURES = os.path.join(ROOT, "tests", "fixtures")
OPS = {"min": min, "max": max}
APART = {"peak_bytes", "avg", "stddev"}
KEYS = ["pid", "tid", "comm", "cpu", "x_state"]


def merge(out, *inputs, **more):
    run("merge", "-q", *inputs, "-o", out, code=0, **more)
    return out


def records(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line, parse_float=D) for line in f if line.strip()]


def header(path):
    return records(path)[0]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def random_inputs(seed, folder, count=4):
    """Profiles that meet in their stacks; some with coarser frames or other groups."""
    r = random.Random(seed)
    found = []
    for k in range(count):
        path = folder / ("in%d.spaa" % k)
        if seed % 2:
            tool = ["perf", "dtrace", "heaptrack", "spaa"][seed // 2 % 4]
            text = "".join(gen_spaa.profile(seed=seed * 10 + r.randrange(4), stacks=r.choice([3, 20, 50]), tool=tool))
        else:
            text = profiles.random_text(seed * 10 + r.randrange(3), stacks=30, decimals=r.random() < 0.5,
                                        states=r.random() < 0.5, linked=r.random() < 0.5, big=r.random() < 0.3)
        write(path, text)
        if r.random() < 0.4:
            grain = r.choice([["--frames", "function"], ["--frames", "line"], ["--group-by", "comm"],
                              ["--group-by", "none"], ["--group-by", "comm,state"]])
            run("convert", "-q", path, *grain, "-o", path, code=0)
        found.append(path)
    return r, found


# The same bytes

@pytest.mark.parametrize("seed", range(24))
def test_order_and_brackets_do_not_matter(seed, tmp_path):
    r, inputs = random_inputs(seed, tmp_path)
    extra = ["--samples"] if seed % 3 == 0 else []
    want = merge(tmp_path / "flat.spaa", *inputs, *extra).read_bytes()
    for turn in range(3):
        todo = list(inputs)
        for step in range(100):
            if len(todo) == 1 and todo[0] not in inputs:
                break
            r.shuffle(todo)
            k = r.randrange(1, min(3, len(todo)) + 1)
            todo = [merge(tmp_path / ("t%d.%d.spaa" % (turn, step)), *todo[:k], *extra)] + todo[k:]
        assert todo[0].read_bytes() == want
    assert run("merge", "-q", *inputs, *extra, "-j", "3", "--to", "spaa", "-o", "-").raw == want


def test_named_forms_are_equal(tmp_path):
    a, b, c = random_inputs(3, tmp_path, 3)[1]
    t = tmp_path
    results = {merge(t / "x", a, merge(t / "bc.spaa", b, c), "--to", "spaa").read_bytes(),
               merge(t / "x", merge(t / "ab.spaa", a, b), c, "--to", "spaa").read_bytes(),
               merge(t / "x", c, b, a, "--to", "spaa").read_bytes(), merge(t / "x", a, b, c, "--to", "spaa").read_bytes(),
               merge(t / "x", merge(t / "a1.spaa", a), b, c, "--to", "spaa").read_bytes()}
    assert len(results) == 1


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_merging_one_again_changes_nothing(seed, tmp_path):
    one = merge(tmp_path / "one.spaa", random_inputs(seed + 1, tmp_path, 1)[1][0])
    assert merge(tmp_path / "two.spaa", one).read_bytes() == one.read_bytes()
    run("validate", one, code=0)
    assert run("convert", "-q", one, "--to", "spaa", "-o", "-").raw == one.read_bytes()


@pytest.mark.parametrize("seed", range(1, 12, 2))
def test_what_is_merged_is_valid(seed, tmp_path):
    inputs = random_inputs(seed, tmp_path)[1]
    run("validate", merge(tmp_path / "all.spaa", *inputs, "--samples"), code=0)


# Sums

def groups_of(p):
    if "x_spaa" in p.header:
        return {"x_state" if k == "state" else k for k in p.header["x_spaa"]["group_by"]}
    return {k for k in KEYS for s in p.stacks if s["context"].get(k)} | \
        {k for k in ("pid", "tid", "cpu") for s in p.stacks if k in s["context"]}


GRAINS = ["address", "line", "function"]


def frame_key(f, grain):
    key = [f["func"], f["dso"]["name"], f["dso"]["is_kernel"]]
    if grain < 2:
        key += [f["dso"].get("build_id"), f.get("srcline"), f.get("inline_depth", 0)]
    if grain < 1:
        key.append("+" + f["symoff"] if "symoff" in f else "@" + f["ip"] if "ip" in f else None)
    return tuple(key)


def own_weights(s):
    said = {w["metric"]: w["value"] for w in s.get("exclusive", {}).get("weights", [])}
    return {m: said.get(m, v) for m, v in s["weight"].items()}


def brute_force(paths):
    """{stack and what it is linked to: {metric: [value, own]}}, and the records that cannot be combined."""
    read = [profiles.Profile(open(p, encoding="utf-8").read()) for p in paths]
    groups = set(KEYS)
    grain = 0
    for p in read:
        groups &= groups_of(p)
        grain = max(grain, GRAINS.index(p.header.get("x_spaa", {}).get("frames", "address")))
    found, apart = {}, collections.Counter()
    for p in read:
        def key(s):
            context = tuple(sorted((k, json.dumps(v, default=str)) for k, v in s["context"].items()
                                   if k not in ("x_source", "note") and (k not in KEYS or k in groups)))
            return context, s.get("stack_type", "unified"), tuple(frame_key(f, grain) for f in s["leaf_first"])
        for s in p.stacks:
            linked = tuple(key(p.by_id[str(i)]) for i in s.get("related_stacks", []))
            if APART & set(s["weight"]):
                apart[(key(s), linked, tuple(sorted(s["weight"].items())))] += 1
                continue
            entry = found.setdefault((key(s), linked), {})
            for metric, own in own_weights(s).items():
                value, op = s["weight"][metric], OPS.get(metric, lambda a, b: a + b)
                entry[metric] = [op(entry[metric][0], value), op(entry[metric][1], own)] if metric in entry else \
                    [value, own]
    return found, apart


@pytest.mark.parametrize("seed", range(20))
def test_sums_are_those_of_the_texts(seed, tmp_path):
    inputs = random_inputs(seed, tmp_path, 3)[1]
    inputs.append(inputs[0])  # twice
    result = merge(tmp_path / "all.spaa", *inputs)
    want, got = brute_force(inputs), brute_force([result])
    assert got[1] == want[1]
    assert got[0] == want[0]


def weights_of(path):
    return [s["weight"] for s in profiles.Profile(path.read_text()).stacks]


def simple(path, weights, context=None, **header):
    metrics = list(weights)
    return write(path, profiles.text([(["leaf", "main"], weights, context or {})],
                                     [profiles.event(metric=metrics[0])], **header))


def test_every_operation(tmp_path):
    inputs = [simple(tmp_path / ("%d.spaa" % i), {"period": v, "min": v, "max": v, "x_own": v})
              for i, v in enumerate([5, D("2.50"), 7])]
    assert weights_of(merge(tmp_path / "all.spaa", *inputs)) == [
        {"period": D("14.5"), "min": D("2.50"), "max": 7, "x_own": D("14.5")}]


def test_metrics_that_do_not_combine_keep_records_apart_by_source(tmp_path):
    inputs = [simple(tmp_path / ("%d.spaa" % i), {"alloc_bytes": v, "peak_bytes": v}) for i, v in enumerate([5, 7])]
    result = merge(tmp_path / "all.spaa", *inputs)
    found = {s["context"]["x_source"]: s["weight"] for s in profiles.Profile(result.read_text()).stacks}
    assert found == {str(inputs[0]): {"alloc_bytes": 5, "peak_bytes": 5},
                     str(inputs[1]): {"alloc_bytes": 7, "peak_bytes": 7}}
    assert len({r["id"] for r in records(result) if r["type"] == "stack"}) == 2


def test_sums_beyond_64_bits_are_exact(tmp_path):
    big = simple(tmp_path / "big.spaa", {"period": 2**63 - 1})
    small = simple(tmp_path / "small.spaa", {"period": -5})
    answer = run("merge", big, big, big, small, "-o", tmp_path / "all.spaa", code=0)
    assert "SPAA-W624" in answer.err
    assert weights_of(tmp_path / "all.spaa") == [{"period": 3 * (2**63 - 1) - 5}]
    pair = merge(tmp_path / "pair.spaa", big, small)
    assert merge(tmp_path / "again.spaa", big, pair, big).read_bytes() == (tmp_path / "all.spaa").read_bytes()


def test_decimals_add_exactly_in_any_order(tmp_path):
    values = ["0.1", "0.2", "1e-9", "12345678901234567890.5", "1e3", "-0.30"]
    inputs = [simple(tmp_path / ("%d.spaa" % i), {"period": D(v)}) for i, v in enumerate(values)]
    want = merge(tmp_path / "a.spaa", *inputs)
    assert weights_of(want) == [{"period": sum(map(D, values))}]
    assert merge(tmp_path / "b.spaa", *inputs[::-1]).read_bytes() == want.read_bytes()


def test_a_sum_that_cannot_be_had_is_refused(tmp_path):
    inputs = [simple(tmp_path / "a.spaa", {"period": D("1e5000")}), simple(tmp_path / "b.spaa", {"period": 1})]
    out = tmp_path / "all.spaa"
    assert "SPAA-E620" in run("merge", *inputs, "-o", out, code=3).err
    assert not out.exists()


def test_exclusive_weights_add(tmp_path):
    a, b = simple(tmp_path / "a.spaa", {"period": 10}), simple(tmp_path / "b.spaa", {"period": 4})
    a.write_text(a.read_text().replace('"exclusive":{"frame":1,"weights":[{"metric":"period","value":10}',
                                       '"exclusive":{"frame":1,"weights":[{"metric":"period","value":3}'))
    stack = [r for r in records(merge(tmp_path / "all.spaa", a, b)) if r["type"] == "stack"][0]
    assert stack["weights"][0]["value"] == 14 and stack["exclusive"]["weights"][0]["value"] == 7


def test_linked_pairs_add_up_as_pairs(tmp_path):
    def linked(name, value):
        made = [(["u", "main"], value, {}, {"id": "u", "stack_type": "user", "related_stacks": ["k"]}),
                ([{"func": "k", "dso": "[kernel]"}], value, {},
                 {"id": "k", "stack_type": "kernel", "related_stacks": ["u"]})]
        return write(tmp_path / name, profiles.text(made, [profiles.event(metric="samples")]))
    plain = write(tmp_path / "plain.spaa", profiles.text([(["u", "main"], 100, {}, {"stack_type": "user"})],
                                                         [profiles.event(metric="samples")]))
    result = merge(tmp_path / "all.spaa", linked("a.spaa", 3), linked("b.spaa", 4), plain)
    stacks = [r for r in records(result) if r["type"] == "stack"]
    assert sorted((s["weights"][0]["value"], "related_stacks" in s) for s in stacks) == [(7, True), (7, True),
                                                                                       (100, False)]
    by_id = {s["id"]: s for s in stacks}
    pair = [s for s in stacks if "related_stacks" in s]
    assert by_id[pair[0]["related_stacks"][0]] is pair[1] and by_id[pair[1]["related_stacks"][0]] is pair[0]
    assert ask("top", result, "--limit", "0")["whole"] == 107


def test_links_that_are_no_pairs_count_their_user_side(tmp_path):
    odd = [(["u"], 5, {}, {"id": "u", "stack_type": "user", "related_stacks": ["k", "l"]}),
           ([{"func": "k", "dso": "[kernel]"}], 2, {}, {"id": "k", "stack_type": "kernel", "related_stacks": ["u"]}),
           ([{"func": "l", "dso": "[kernel]"}], 3, {}, {"id": "l", "stack_type": "kernel", "related_stacks": ["u"]})]
    path = write(tmp_path / "odd.spaa", profiles.text(odd))
    answer = run("merge", path, path, "-o", tmp_path / "all.spaa", code=0)
    assert "SPAA-W626" in answer.err and "4 kernel sides" in answer.err
    assert ask("top", tmp_path / "all.spaa")["whole"] == 2 * ask("top", path)["whole"] == 10


# What is said of the whole

def spaa_header(**more):
    return {"x_spaa": {"frames": "address", "group_by": [], "id": "xxh3-64/2", **more}}


def test_header_attributes_that_differ_become_absent_and_stay_so(tmp_path):
    def one(name, command, clock, host, **more):
        return simple(tmp_path / name, {"period": 1}, source={"tool": "perf", "command": command},
                      **spaa_header(clock=clock, host={"name": host, "arch": "x86_64"}, lost=2, truncated=1,
                                    duration=D("1.5"), **more))
    a, b, c = one("a.spaa", "x", "mono", "h1"), one("b.spaa", "y", "mono", "h2"), one("c.spaa", "x", "tsc", "h1")
    h = header(merge(tmp_path / "ab.spaa", a, b))
    assert h["source"] == {"tool": "perf"} and h["x_spaa"]["clock"] == "mono"
    assert h["x_spaa"]["host"] == {"arch": "x86_64"}
    assert (h["x_spaa"]["lost"], h["x_spaa"]["truncated"], h["x_spaa"]["duration"]) == (4, 2, 3)
    h = header(merge(tmp_path / "abc.spaa", tmp_path / "ab.spaa", c))
    assert h["source"] == {"tool": "perf"} and "clock" not in h["x_spaa"]
    assert h["x_spaa"]["sources"] == sorted(map(str, [a, b, c]))
    again = header(merge(tmp_path / "aab.spaa", tmp_path / "ab.spaa", a))
    assert "name" not in again["x_spaa"]["host"] and again["x_spaa"]["sources"] == sorted(map(str, [a, a, b]))


def test_time_ranges_widen(tmp_path):
    ranges = [("10.5", "20"), ("1700000000.123456789", "1700000000.123456790"), ("2e1", "20.0")]
    inputs = [simple(tmp_path / ("%d.spaa" % i), {"period": 1},
                     time_range={"start": D(a), "end": D(b), "unit": "seconds"}) for i, (a, b) in enumerate(ranges)]
    assert header(merge(tmp_path / "all.spaa", *inputs))["time_range"] == {
        "start": D("10.5"), "end": D("1700000000.123456790"), "unit": "seconds"}
    none = simple(tmp_path / "none.spaa", {"period": 1})
    assert "time_range" not in header(merge(tmp_path / "less.spaa", *inputs, none))


def test_durations_add_up_whether_stated_or_from_start_to_end(tmp_path):
    """An hour between two recordings of 10 s is no time of recording."""
    def one(name, start, end, unit="seconds", **x):
        return simple(tmp_path / name, {"period": 1}, time_range={"start": D(start), "end": D(end), "unit": unit},
                      **(spaa_header(**x) if x else {}))
    a, b, c = one("a", "1000", "1010"), one("b", "4600", "4610.25", duration=D("9.5")), one("c", "9000.5", "9001")
    point, back = one("point", "8000", "8000"), one("back", "8000", "7000")
    both = merge(tmp_path / "ab.spaa", a, b)
    assert header(both)["x_spaa"]["duration"] == D("19.5")
    assert header(merge(tmp_path / "abc.spaa", both, c))["x_spaa"]["duration"] == 20
    assert header(merge(tmp_path / "cab.spaa", c, merge(tmp_path / "ba.spaa", b, a)))["x_spaa"]["duration"] == 20
    assert header(merge(tmp_path / "point.spaa", both, point, back))["x_spaa"]["duration"] == D("19.5")
    # not known of one, not known of all; and units other than seconds say nothing
    none, ticks = simple(tmp_path / "none.spaa", {"period": 1}), one("ticks", "1", "2", "ticks")
    for other in (none, ticks):
        assert "duration" not in header(merge(tmp_path / "less.spaa", both, other))["x_spaa"]


def test_rates_of_merged_profiles_divide_by_the_time_of_all(tmp_path):
    """Two reports, an hour apart, against one of the same rate: nothing differs."""
    def report(name, start, **more):
        path = tmp_path / name
        path.write_text(json.dumps({"start": start, "end": start + 10000, "agentMetadata": more, "callgraph": {
            "children": {"f": {"counts": {"RUNNABLE": 500}}, "g": {"counts": {"RUNNABLE": 500}}}}}))
        return path
    for more in ({}, {"durationInMs": 10000}):
        a, b = report("a.json", 1700000000000, **more), report("b.json", 1700003600000, **more)
        got = ask("diff", a, merge(tmp_path / "ab.spaa", a, b), "--work", "10,20")
        assert [got[s]["duration"] for s in ("base", "new")] == [10, 20]
        assert got["method"]["cost_per"] == "work", "one run a side: a second of the clock is no measure unless it is said"
        assert [r["cost"]["change_percent"] for r in got["rows"]] == [0, 0]
        # and in the format that they came in
        written = json.loads(run("convert", tmp_path / "ab.spaa", "--to", "codeguru", "-o", "-", code=0).out)
        assert (written["start"], written["end"]) == (1700000000000, 1700003610000)
        assert written["agentMetadata"]["durationInMs"] == 20000
        assert written["agentMetadata"]["sampleWeights"] == {"RUNNABLE": 100}
        again = tmp_path / "ab.json"
        again.write_text(json.dumps(written))
        assert ask("info", again)["duration"] == 20


def test_other_events_stand_side_by_side(tmp_path):
    cpu = simple(tmp_path / "cpu.spaa", {"period": 5})
    heap = write(tmp_path / "heap.spaa", profiles.text(
        [(["leaf", "main"], 7)], [profiles.event("malloc", "alloc_bytes", "allocation", "event")], tool="heaptrack"))
    result = merge(tmp_path / "both.spaa", heap, cpu)
    assert [e["name"] for e in header(result)["events"]] == ["cycles", "malloc"]
    assert header(result)["source_tool"] == "spaa"
    assert [ask("top", result, "--event", e)["whole"] for e in ("cycles", "malloc")] == [5, 7]
    run("validate", result, code=0)


def test_attributes_of_an_event_that_differ_become_absent(tmp_path):
    def one(name, hz):
        e = profiles.event("cpu-clock", "samples", "software", "frequency", )
        e["sampling"]["frequency_hz"] = hz
        return write(tmp_path / name, profiles.text([(["f"], 1)], [e]))
    result = merge(tmp_path / "all.spaa", one("a.spaa", 99), one("b.spaa", 997))
    assert "frequency_hz" not in header(result)["events"][0]["sampling"]


@pytest.mark.parametrize("change", [{"kind": "software"}, {"mode": "event"}, {"metric": "samples"}])
def test_an_event_that_means_something_else_is_refused(change, tmp_path):
    inputs = [write(tmp_path / "a.spaa", profiles.text([(["f"], 1)], [profiles.event()])),
              write(tmp_path / "b.spaa", profiles.text([(["f"], 1)], [profiles.event(**change)]))]
    for order in (inputs, inputs[::-1]):
        answer = run("merge", *order, "-o", tmp_path / "out.spaa")
        assert answer.code in (2, 3) and "SPAA-E034" in answer.err and str(order[1]) in answer.err
    assert not (tmp_path / "out.spaa").exists()


def test_granularity_is_the_coarsest_and_grouping_the_intersection(tmp_path):
    stacks = [([{"func": "f", "ip": "0x%x" % i, "srcline": "a.c:%d" % (i // 2)}, "main"], 1,
               {"pid": 1, "tid": 1, "comm": "c", "cpu": i}) for i in range(4)]
    path = write(tmp_path / "fine.spaa", profiles.text(stacks))
    made = {}
    for name, options in {"line": ["--frames", "line", "--group-by", "comm,cpu"],
                          "function": ["--frames", "function", "--group-by", "pid,comm"]}.items():
        made[name] = tmp_path / (name + ".spaa")
        run("convert", "-q", path, *options, "-o", made[name], code=0)
    h = header(merge(tmp_path / "a.spaa", path, made["line"]))["x_spaa"]
    assert (h["frames"], h["group_by"]) == ("line", ["comm", "cpu"])
    result = merge(tmp_path / "b.spaa", path, made["line"], made["function"])
    h = header(result)["x_spaa"]
    assert (h["frames"], h["group_by"]) == ("function", ["comm"])
    assert weights_of(result) == [{"period": 12}]
    only = merge(tmp_path / "c.spaa", path, "--frames", "function", "--group-by", "none")
    assert weights_of(only) == [{"period": 4}] and header(only)["x_spaa"]["group_by"] == []


def test_of_conflicting_frames_the_resolved_one_then_the_smallest_is_taken(tmp_path):
    def one(name, **more):
        dso = {"name": "/bin/a", "is_kernel": False, "build_id": "ab"}
        return write(tmp_path / name, profiles.text([([{"func": "f", "dso": dso, "symoff": "0x4", **more}], 1)]))
    a = one("a.spaa", ip="0x10", func_resolved=False)
    b, c = one("b.spaa", ip="0x30"), one("c.spaa", ip="0x20", kind="unknown")
    for inputs in ([a, b, c], [c, b, a], [b, a, c]):
        result = merge(tmp_path / "all.spaa", *inputs)
        frames = [r for r in records(result) if r["type"] == "frame"]
        assert [(f["ip"], f["kind"], f.get("func_resolved", True)) for f in frames] == [("0x30", "user", True)]
        assert weights_of(result) == [{"period": 3}]


def test_builds_of_one_binary_are_one_where_functions_make_frames(tmp_path):
    inputs = []
    for i in range(2):
        dso = {"name": "/bin/a", "is_kernel": False, "build_id": "a%d" % i}
        inputs.append(write(tmp_path / ("%d.spaa" % i), profiles.text([([{"func": "f", "dso": dso, "ip": "0x1"}], 1)])))
    assert len(weights_of(merge(tmp_path / "fine.spaa", *inputs))) == 2
    coarse = merge(tmp_path / "coarse.spaa", *inputs, "--frames", "function")
    assert weights_of(coarse) == [{"period": 2}] and '"build_id"' not in coarse.read_text()


def test_one_record_a_thread_whatever_the_order(tmp_path):
    inputs = [simple(tmp_path / ("%d.spaa" % i), {"period": 1}, {"pid": pid, "tid": 7, **comm})
              for i, (pid, comm) in enumerate([(2, {"comm": "b"}), (1, {}), (1, {"comm": "a"}), (1, {"comm": "c"})])]
    for order in (inputs, inputs[::-1]):
        threads = [r for r in records(merge(tmp_path / "all.spaa", *order)) if r["type"] == "thread"]
        assert threads == [{"type": "thread", "pid": 1, "tid": 7}] or threads == [
            {"type": "thread", "pid": 1, "tid": 7, "comm": "a"}]


def test_extension_records_are_kept_sorted_without_verbatim_layers(tmp_path):
    def one(name, *texts):
        after = [{"type": "x_note", "text": t} for t in texts] + [{"type": "x_folded_text", "rows": [1]},
                                                                   {"type": "x_folded_line", "text": "a"}]
        return write(tmp_path / name, profiles.text([(["f"], 1)], after=after))
    a, b = one("a.spaa", "z", "a"), one("b.spaa", "m", "a")
    answer = run("merge", a, b, "-o", tmp_path / "all.spaa", code=0)
    assert "SPAA-I321" in answer.err
    assert [r["text"] for r in records(tmp_path / "all.spaa") if r["type"].startswith("x_")] == ["a", "a", "m", "z"]


# Samples and windows

def test_samples_and_windows_are_left_out_unless_asked_for(tmp_path):
    inputs = [write(tmp_path / ("%d.spaa" % i), "".join(gen_spaa.profile(seed=i, stacks=20, samples=30, windows=2,
                                                                         tool="perf"))) for i in range(3)]
    answer = run("merge", *inputs, "-o", tmp_path / "less.spaa", code=0)
    assert "90 samples, 6 windows" in answer.err and "--samples" in answer.err
    assert not {"sample", "window"} & {r["type"] for r in records(tmp_path / "less.spaa")}
    result = merge(tmp_path / "all.spaa", *inputs, "--samples")
    found = records(result)
    samples = [r for r in found if r["type"] == "sample"]
    windows = [r for r in found if r["type"] == "window"]
    stacks = {r["id"]: r for r in found if r["type"] == "stack"}
    assert len(samples) == 90 and [w["id"] for w in windows] == ["w%d" % i for i in range(1, 7)]
    assert [s["timestamp"] for s in samples] == sorted(s["timestamp"] for s in samples)
    assert all(s["stack_id"] in stacks and stacks[s["stack_id"]]["context"]["event"] == s["event"] for s in samples)
    assert all(row["stack_id"] in stacks for w in windows for row in w["by_stack"])
    run("validate", result, code=0)


def test_samples_find_their_stacks_when_frames_become_coarser(tmp_path):
    fine = write(tmp_path / "fine.spaa", "".join(gen_spaa.profile(seed=5, stacks=20, samples=30, windows=1, tool="perf")))
    coarse = tmp_path / "coarse.spaa"
    run("convert", "-q", write(tmp_path / "other.spaa", "".join(gen_spaa.profile(seed=6, stacks=5, tool="perf"))),
        "--frames", "function", "--group-by", "none", "-o", coarse, code=0)
    result = merge(tmp_path / "all.spaa", fine, coarse, "--samples")
    assert len([r for r in records(result) if r["type"] == "sample"]) == 30
    run("validate", result, code=0)


# Inputs of any kind

def native(folder):
    found = []
    for name in ("perf_data", "perf_script", "folded"):
        at = os.path.join(FIXTURES, name)
        found += [os.path.join(at, f) for f in sorted(os.listdir(at))] if os.path.isdir(at) else []
    return [f for f in found if run("convert", "-q", f, "-o", folder / "probe.spaa").code == 0]


def test_formats_mix_and_compression_does_not_matter(tmp_path):
    folded = write(tmp_path / "a.folded", "main;f 3\nmain;g 4\n")
    spaa = tmp_path / "b.spaa.zst"
    run("convert", "-q", folded, "-o", spaa, code=0)
    result = merge(tmp_path / "all.spaa.gz", folded, spaa)
    assert ask("top", result)["whole"] == 14
    assert run("merge", "-q", folded, spaa, "--to", "folded", "-o", "-").out == "main;f 6\nmain;g 8\n"
    assert run("merge", "-q", "-", spaa, "--to", "folded", "-o", "-", stdin="main;f 1\n").out == \
        "main;f 4\nmain;g 4\n"


def test_native_recordings_merge_as_their_conversions_do(tmp_path):
    chosen = native(tmp_path)[:6]
    if len(chosen) < 2:
        pytest.skip("no fixtures")
    for path in chosen:
        converted = tmp_path / "converted.spaa"
        run("convert", "-q", path, "-o", converted, code=0)
        a = merge(tmp_path / "a.spaa", path, path)
        b = merge(tmp_path / "b.spaa", converted, converted)
        same = [[line for line in p.read_text().splitlines() if '"header"' not in line] for p in (a, b)]
        assert same[0] == same[1], path


@pytest.mark.parametrize("folder", ["perf-data", "perf-script", "folded"])
def test_files_of_the_corpus(folder, corpus, tmp_path):
    found = sorted(os.path.join(d, f) for d, _, files in os.walk(os.path.join(corpus, folder)) for f in files)
    found = [f for f in found if os.path.getsize(f) < 4 << 20 and
             run("convert", "-q", "--no-symbols", f, "--to", "spaa", "-o", tmp_path / "probe.spaa").code == 0][:4]
    if not found:
        pytest.skip("none there")
    for path in found:
        one = merge(tmp_path / "one.spaa", path, "--samples", "--no-symbols")
        assert merge(tmp_path / "two.spaa", one, "--samples").read_bytes() == one.read_bytes()
        ids = [r["id"] for r in records(one) if r["type"] == "stack"]
        assert len(set(ids)) == len(ids)
    groups = ["--group-by", "comm", "--no-symbols"]
    whole = run("merge", "-q", *found, *groups, "--to", "spaa", "-o", "-")
    assert whole.code in (0, 2) and (whole.code == 0 or "SPAA-E034" in whole.err)
    assert run("merge", "-q", *found[::-1], *groups, "--to", "spaa", "-o", "-").raw == whole.raw


def test_foreign_ids_and_duplicates_come_out_unique(tmp_path):
    stacks = [(["f"], 1, {"tid": 1, "pid": 1}, {"id": "same"}), (["f"], 2, {"tid": 2, "pid": 1}, {"id": "same"}),
              (["g"], 4, {"tid": 2, "pid": 1}, {"id": 7})]
    path = write(tmp_path / "a.spaa", profiles.text(stacks))
    result = merge(tmp_path / "all.spaa", path, path)
    ids = [r["id"] for r in records(result) if r["type"] == "stack"]
    assert len(set(ids)) == 3 and all(i.startswith("0x") for i in ids)
    assert sorted(w["period"] for w in weights_of(result)) == [2, 4, 8]
    run("validate", result, code=0)


def test_local_ids_are_no_matter(tmp_path):
    inputs = random_inputs(1, tmp_path, 2)[1]
    want = merge(tmp_path / "want.spaa", *inputs).read_bytes()
    (tmp_path / "kept").mkdir()
    for path in inputs:
        path.rename(tmp_path / "kept" / path.name)
        run("convert", "-q", tmp_path / "kept" / path.name, "--stack-ids", "local", "-o", path, code=0)
    assert merge(tmp_path / "got.spaa", *inputs).read_bytes() == want


# Many, and bad ones

def test_three_thousand_inputs_by_a_list(tmp_path):
    names = []
    for i in range(3000):
        path = tmp_path / ("%04d.folded" % i)
        path.write_text("main;f%d 1\n" % (i % 7))
        names.append(str(path))
    for separator in ("\n", "\0"):
        listed = run("merge", "-q", "--files-from", "-", "--to", "folded", "-o", "-", stdin=separator.join(names))
        assert listed.code == 0 and sum(int(line.split()[-1]) for line in listed.out.splitlines()) == 3000
        assert len(listed.out.splitlines()) == 7
    write(tmp_path / "list", "\n".join(names[1:]) + "\n\n")
    merge(tmp_path / "all.spaa", names[0], "--files-from", tmp_path / "list")
    assert header(tmp_path / "all.spaa")["x_spaa"]["sources"] == names


def peak(*args):
    # A sanitizer is not to keep what was freed.
    env = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")
    child = subprocess.Popen([BIN, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_maxrss


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes there")
def test_memory_is_that_of_the_distinct_stacks(tmp_path):
    path = write(tmp_path / "a.spaa", "".join(gen_spaa.profile(seed=1, stacks=2000, samples=0, windows=0, tool="perf",
                                                               canonical=True)))
    few = peak("merge", "-q", "-j1", *[path] * 3, "-o", tmp_path / "few.spaa")
    many = peak("merge", "-q", "-j1", *[path] * 300, "-o", tmp_path / "many.spaa")
    assert many < few * 1.3 + 4096, (few, many)


@pytest.mark.parametrize("bad", ["missing", "directory", "garbage", "empty"])
def test_an_input_that_cannot_be_read(bad, tmp_path):
    good = write(tmp_path / "good.folded", "main;f 1\n")
    path = tmp_path / "bad.bin"
    if bad == "directory":
        path.mkdir()
    elif bad != "missing":
        path.write_bytes(b"\0\1\2\3garbage\xff" if bad == "garbage" else b"")
    out = tmp_path / "out.spaa"
    for jobs in ("1", "3"):
        answer = run("merge", good, path, good, "-o", out, "-j", jobs, code=3)
        assert str(path) in answer.err and "--skip-bad" in answer.err
        assert sorted(os.listdir(tmp_path)) == sorted({"good.folded", "bad.bin"} - ({"bad.bin"} if bad == "missing" else set()))
    answer = run("merge", good, path, good, "--skip-bad", "-o", out, code=0)
    assert "SPAA-L300" in answer.err and str(path) in answer.err
    assert header(out)["x_spaa"]["sources"] == [str(good)] * 2
    run("merge", good, path, "--skip-bad", "--strict", "-o", tmp_path / "strict.spaa", code=3)
    assert not (tmp_path / "strict.spaa").exists()
    run("merge", path, "--skip-bad", "-o", tmp_path / "none.spaa", code=3)


def test_usage(tmp_path):
    good = write(tmp_path / "good.folded", "main;f 1\n")
    assert "needs inputs" in run("merge", "-o", "x.spaa", code=2, cwd=tmp_path).err
    assert "-o FILE" in run("merge", good, code=2).err
    assert "--to" in run("merge", good, "-o", "-", code=2).err
    assert run("merge", good, "-o", tmp_path / "x.unknown", code=2).err
    assert "SPAA-E001" in run("merge", "--files-from", tmp_path / "none", "-o", "x.spaa", code=3).err
    assert run("merge", good, "-o", tmp_path / "no" / "such" / "x.spaa", code=3).err


def test_views_of_several_files_still_tell_them_apart(tmp_path):
    a, b = write(tmp_path / "a.folded", "main;f 1\n"), write(tmp_path / "b.folded", "main;f 2\n")
    for jobs in ("1", "4"):
        answer = ask("top", a, b, "--by", "source", "-j", jobs)
        assert {r["name"]: r["self"] for r in answer["rows"]} == {str(a): 1, str(b): 2}


# ---- dumps of one process ------------------------------------------------------------------------


def heap(tmp_path, name, metric="live_bytes", program="/opt/app", **header):
    """A heap profile of one stack with 10 of a metric."""
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "pprof", "frame_order": "leaf_to_root",
            "events": [{"name": "heap", "kind": "allocation", "sampling": {"mode": "event", "primary_metric": metric}}],
            "stack_id_mode": "content_addressable"}
    for key in ("source", "x_pprof"):
        if key in header:
            head[key] = header[key]
    head["x_spaa"] = {"frames": "address", "group_by": [], **header.get("x_spaa", {})}
    rows = [head, {"type": "dso", "id": 1, "name": program, "is_kernel": False},
            {"type": "frame", "id": 1, "func": "f", "dso": 1, "kind": "user"},
            {"type": "stack", "id": 1, "context": {"event": "heap"}, "stack_type": "unified", "frames": [1],
             "weights": [{"metric": metric, "value": 10}]}]
    path = tmp_path / name
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def at(start):
    return {"mappings": [{"start": start, "limit": "0x9000", "offset": "0x0", "file": "/lib/libc.so.6", "build_id": "", "has": []}]}


@pytest.mark.parametrize("one, other, warned", [
    ({}, {}, True), ({"metric": "alloc_bytes"}, {"metric": "alloc_bytes"}, False), ({}, {"program": "/opt/other"}, False),
    ({"x_spaa": {"host": {"name": "a"}}}, {"x_spaa": {"host": {"name": "b"}}}, False),
    ({"x_spaa": {"host": {"name": "a"}}}, {"x_spaa": {"host": {"name": "a"}}}, True),
    ({"source": {"command": "app 1"}}, {"source": {"command": "app 2"}}, False),
    ({"x_pprof": at("0x7f0000")}, {"x_pprof": at("0x7e0000")}, False), ({"x_pprof": at("0x7f0000")}, {"x_pprof": at("0x7f0000")}, True),
])
def test_dumps_of_one_process_are_told(one, other, warned, tmp_path):
    files = [heap(tmp_path, "a.spaa", **one), heap(tmp_path, "b.spaa", **other)]
    merged = run("merge", *files, "-o", tmp_path / "m.spaa", code=0)
    assert ("SPAA-W629" in merged.err) == warned
    assert not warned or "2 inputs of one program: live bytes and blocks were added up" in merged.err
    assert ("SPAA-W629" in run("top", *files, code=0).out) == warned
    series = run("leaks", *files)  # each a profile of its own
    assert "SPAA-W629" not in series.err + series.out
    assert series.code == (2 if "program" in other else 0)  # nothing in common

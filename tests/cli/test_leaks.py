"""spaa leaks: random memory profiles against a brute force, two profiles, growth, and memory beside CPU time."""

import collections
import json
import os
import random

import pytest

import profiles
from conftest import CORPUS, ROOT, ask, run

METRICS = ["live_bytes", "live_count", "alloc_bytes", "alloc_count", "free_bytes", "free_count", "x_temporary_count",
           "peak_bytes"]
KEYS = METRICS[:6] + ["temporary_count", "peak_bytes"]
ALLOCATORS = ["malloc", "operator new(unsigned long)", "je_malloc_default", "tc_new", "g_malloc0", "calloc@plt",
              "std::allocator<int>::allocate(unsigned long)"]
OTHERS = ["main", "parse", "grow", "cache::insert(int)", "new_thing", "mallocator", "std::allocator<int>::allocator()"]
FUNCTIONS = ALLOCATORS + OTHERS


class Profile:
    def __init__(self, seed, stacks=40, of_total=True, metrics=METRICS, windows=0, duration=None, empty=True):
        r = random.Random(seed)
        self.of_total, self.metrics, self.windows, self.duration = of_total, metrics, windows, duration
        self.stacks = {}  # path from the leaf: weights
        while len(self.stacks) < stacks:
            path = tuple(r.choice(FUNCTIONS) for _ in range(r.randrange(0 if empty else 1, 6)))
            allocs = r.randrange(1, 50)
            frees = r.choice([0, allocs, r.randrange(allocs + 1)])
            size = r.choice([1, 16, 1000, 1 << 20])
            w = [size * (allocs - frees), allocs - frees, size * allocs, allocs, size * frees, frees,
                 r.randrange(frees + 1), r.randrange(1 << 22)]
            self.stacks[path] = {m: v for m, v in zip(METRICS, w) if m in metrics}
        self.shares = {}  # path: live bytes by window
        for path, w in self.stacks.items():
            cuts = [0] * windows
            for _ in range(20 if windows else 0):
                i = r.randrange(windows)
                cuts[i] += w.get("live_bytes", 0) // 20
            if windows:
                cuts[-1] += w.get("live_bytes", 0) - sum(cuts)
            self.shares[path] = cuts

    def text(self, name="malloc", more=None):
        tracking = {"tracks_frees": True, "has_timestamps": True}
        if self.of_total:
            tracking["x_peak"] = "of_total"
        head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "heaptrack",
                "frame_order": "leaf_to_root",
                "events": [{"name": name, "kind": "allocation", "allocation_tracking": tracking,
                            "sampling": {"mode": "event", "primary_metric": self.metrics[0]}}],
                "stack_id_mode": "local"}
        if self.duration:
            head["time_range"] = {"start": 0, "end": self.duration, "unit": "seconds"}
        out = [head, {"type": "dso", "id": 1, "name": "/bin/app", "is_kernel": False}]
        out += [{"type": "frame", "id": i + 1, "func": f, "dso": 1, "kind": "user"} for i, f in enumerate(FUNCTIONS)]
        ids = {}
        for i, (path, w) in enumerate(self.stacks.items()):
            ids[path] = i
            record = {"type": "stack", "id": i, "frames": [FUNCTIONS.index(f) + 1 for f in path],
                      "context": {"event": name},
                      "weights": [{"metric": m, "value": v, "unit": "bytes" if "bytes" in m else "count"}
                                  for m, v in w.items()]}
            record.update((more or {}).get(path, {}))
            out.append(record)
        for k in range(self.windows):
            out.append({"type": "window", "id": "w%d" % k, "start": k, "end": k + 1, "unit": "seconds",
                        "by_stack": [{"stack_id": ids[p], "weights": [{"metric": "live_bytes", "value": s[k]}]}
                                     for p, s in self.shares.items()]})
        return "\n".join(map(json.dumps, out)) + "\n"

    def write(self, path, **more):
        path.write_text(self.text(**more))
        return path


def is_allocator(name):
    return name in ALLOCATORS


def key_of(path, by_stack, keep):
    skip = 0
    while not keep and skip < len(path) and is_allocator(path[skip]):
        skip += 1
    path = path[skip if skip < len(path) else 0:]
    return tuple(path) if by_stack else (path[0] if path else "[no stack]")


def rows_of(profile, by_stack=False, keep=False, leave=(), suppressed=()):
    """{key: {metric: sum}}; a peak only where it adds up, what is live only of stacks that are not suppressed."""
    rows, n = {}, collections.Counter()
    for path, w in profile.stacks.items():
        if path in leave:
            continue
        key = key_of(path, by_stack, keep)
        row = rows.setdefault(key, {m: None for m in METRICS})
        n[key] += 1
        for m, v in w.items():
            row[m] = (0 if path in suppressed and m.startswith("live_") else v) + (row[m] or 0)
    for key in rows:
        if n[key] > 1 and not profile.of_total:
            rows[key]["peak_bytes"] = None
    return rows


def answered(answer, by_stack=False):
    out = {}
    for r in answer["rows"]:
        names = tuple(f["function"] for f in r["frames"])
        if by_stack:
            k = 0
            while names[k:] and names[k] != r["function"]:
                k += 1
            names = names[k:]
        key = names if by_stack else r["function"]
        assert key not in out
        out[key] = {m: r[k] for m, k in zip(METRICS, KEYS)}
    return out


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("by", ["function", "stack"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_are_sums(seed, by, keep, tmp_path):
    p = Profile(seed, of_total=seed % 2 == 0)
    path = p.write(tmp_path / "p.spaa")
    answer = ask("leaks", path, "--by", by, "-n", 0, *["--keep-allocators"] * keep)
    assert answered(answer, by == "stack") == rows_of(p, by == "stack", keep)
    lives = [r["live_bytes"] for r in answer["rows"]]
    assert lives == sorted(lives, reverse=True)
    for m, k in zip(METRICS, KEYS):
        want = sum(w[m] for w in p.stacks.values())
        assert answer["memory"][k] == (None if m == "peak_bytes" and not p.of_total else want)
    assert answer["whole"] == answer["memory"]["live_bytes"]
    assert answer["peaks_add"] == p.of_total
    for r in answer["rows"]:
        if answer["whole"]:
            assert float(r["percent"]) == pytest.approx(100 * r["live_bytes"] / answer["whole"], abs=0.005)
        assert r["never_freed"] == (r["free_count"] == 0)
        assert r["kind"] == ("freed" if not r["live_bytes"] and not r["live_count"] else
                             "never freed" if not r["free_count"] else "partly freed")


@pytest.mark.parametrize("metric", ["alloc_bytes", "x_temporary_count", "peak_bytes", "live_count"])
def test_another_metric_ranks(metric, tmp_path):
    path = Profile(7).write(tmp_path / "p.spaa")
    answer = ask("leaks", path, "--metric", metric, "-n", 0)
    values = [r[KEYS[METRICS.index(metric)]] for r in answer["rows"]]
    assert values == sorted(values, reverse=True) and answer["ranked_by"] == metric


def test_omitted_rows_are_counted(tmp_path):
    path = Profile(8).write(tmp_path / "p.spaa")
    whole = ask("leaks", path, "-n", 0)
    some = ask("leaks", path, "-n", 3)
    assert some["rows"] == whole["rows"][:3]
    assert some["omitted"] == {"rows": len(whole["rows"]) - 3, "live_bytes": sum(r["live_bytes"] for r in whole["rows"][3:])}


@pytest.mark.parametrize("metrics, ranked", [
    (["live_bytes", "live_count"], "live_bytes"), (["alloc_bytes", "alloc_count"], "alloc_bytes"),
    (["alloc_bytes", "free_bytes"], "alloc_bytes"), (["live_count"], "live_count"),
    (["alloc_bytes", "alloc_count", "live_bytes", "live_count"], "live_bytes")])
def test_profiles_that_know_less(metrics, ranked, tmp_path):
    p = Profile(9, metrics=metrics)
    answer = ask("leaks", p.write(tmp_path / "p.spaa"), "-n", 0)
    assert answer["ranked_by"] == ranked
    kinds = {r["kind"] for r in answer["rows"]}
    if metrics == ["alloc_bytes", "alloc_count"]:
        assert kinds == {"unknown"}
    elif len(metrics) < 4 and "alloc_bytes" not in metrics:
        assert kinds <= {"held", "freed"}
    elif metrics == ["alloc_bytes", "free_bytes"]:
        for r in answer["rows"]:
            assert r["live_bytes"] == r["alloc_bytes"] - r["free_bytes"]
    else:
        for r in answer["rows"]:
            assert r["never_freed"] == (r["live_count"] == r["alloc_count"])


@pytest.mark.parametrize("n", [4, 7, 12])
def test_growth_is_gain_in_each_of_the_last_quarters(n, tmp_path):
    p = Profile(10 + n, windows=n)
    answer = ask("leaks", p.write(tmp_path / "p.spaa"), "-n", 0)
    assert answer["growth_from"] == "windows"
    want = collections.defaultdict(lambda: [0] * 4)
    for path, shares in p.shares.items():
        for k, v in enumerate(shares):
            want[key_of(path, False, False)][int((k + 0.5) * 4 / n)] += v
    growing = 0
    for r in answer["rows"]:
        q = want[r["function"]]
        assert r["live_bytes_by_quarter"] == q
        if r["live_bytes"] or r["live_count"]:
            assert (r["kind"] == "growing") == all(x > 0 for x in q[1:])
            growing += r["kind"] == "growing"
    assert growing


def test_without_windows_growth_is_not_known(tmp_path):
    path = Profile(3).write(tmp_path / "p.spaa")
    assert ask("leaks", path)["growth_from"] is None
    assert "growing or not is not known" in run("leaks", path, code=0).out


@pytest.mark.parametrize("times", [(10, 30), (None, 30)])
def test_two_profiles_tell_what_grew(times, tmp_path):
    base, later = Profile(20, duration=times[0]), Profile(21, duration=times[1])
    a, b = base.write(tmp_path / "a.spaa"), later.write(tmp_path / "b.spaa")
    answer = ask("leaks", a, b, "-n", 0)
    old, new = rows_of(base), rows_of(later)
    assert answer["whole"] == answer["memory"]["live_bytes"] == sum(w["live_bytes"] for w in later.stacks.values())
    assert answer["base_memory"]["live_bytes"] == sum(w["live_bytes"] for w in base.stacks.values())
    assert answer["growth_from"] == "files"
    assert {r["function"] for r in answer["rows"]} == set(old) | set(new)
    none = {m: None for m in METRICS}
    for r in answer["rows"]:
        x, y = old.get(r["function"], none), new.get(r["function"], none)
        assert {m: r[k] for m, k in zip(METRICS, KEYS)} == y
        assert {m: r["base"][k] for m, k in zip(METRICS, KEYS)} == x
        for m in METRICS[:4]:
            before, now = x[m] or 0, y[m] or 0
            assert r["grown"][m] == now - before
            if times[0]:
                assert abs(r["beyond_time"][m] - (now - before * 30 / 10)) <= 1
            else:
                assert r["beyond_time"][m] is None
        grown = r["grown"]["live_bytes"]
        assert r["kind"] == ("same" if not grown else "shrunk" if grown < 0 else
                             "new" if x["live_bytes"] is None else "grown")
    grown = [r["grown"]["live_bytes"] for r in answer["rows"]]
    assert grown == sorted(grown, reverse=True)
    text = run("leaks", a, b, code=0).out
    assert ("beyond time" in text) == bool(times[0]) and "more" in text


def test_two_builds_at_two_places_are_one_program(tmp_path):
    a, b = Profile(22).text(), Profile(23).text()
    (tmp_path / "a.spaa").write_text(a.replace('"/bin/app"', '"/usr/bin/app", "build_id": "aa"'))
    (tmp_path / "b.spaa").write_text(b.replace('"/bin/app"', '"/bin/app", "build_id": "bb"'))
    (tmp_path / "c.spaa").write_text(a)
    (tmp_path / "d.spaa").write_text(b)
    for by in ("function", "stack"):
        one, two = (ask("leaks", tmp_path / x, tmp_path / y, "--by", by, "-n", 0) for x, y in ("ab", "cd")
                    for x, y in [(x + ".spaa", y + ".spaa")])
        assert answered(one, by == "stack") == answered(two, by == "stack")


def test_what_is_suppressed_is_not_live_and_that_is_said(tmp_path):
    p = Profile(30)
    some = [path for path in p.stacks][:5]
    more = {path: {"x_heaptrack": {"suppressed": "leak"}} for path in some}
    path = p.write(tmp_path / "p.spaa", more=more)
    answer = ask("leaks", path, "-n", 0)
    assert answered(answer) == rows_of(p, suppressed=some)
    for m, key in zip(METRICS, KEYS):
        if not m.startswith(("live_", "peak_")):
            assert answer["memory"][key] == sum(w.get(m) or 0 for w in p.stacks.values())
    # A row of nothing else is not freed for that.
    kinds = {r["function"]: r["kind"] for r in answer["rows"]}
    rows, plain = rows_of(p, suppressed=some), rows_of(p)
    assert {k for k, v in kinds.items() if v == "suppressed"} == {
        k for k, w in rows.items() if not w["live_bytes"] and not w["live_count"] and plain[k]["live_bytes"]}
    assert answer["suppressed"] == {"stacks": 5, "live_bytes": sum(p.stacks[s]["live_bytes"] for s in some),
                                    "live_count": sum(p.stacks[s]["live_count"] for s in some)}
    assert answered(ask("leaks", path, "-n", 0, "--suppressed")) == rows_of(p)
    assert "not counted as live, since heaptrack's suppressions fit: what is left of 5 stacks" in run("leaks", path, code=0).out


def test_filters_are_those_of_every_view(tmp_path):
    p = Profile(31)
    path = p.write(tmp_path / "p.spaa")
    want = rows_of(p, leave=[s for s in p.stacks if "parse" not in s])
    assert answered(ask("leaks", path, "-n", 0, "--focus", "^parse$")) == want
    answer = ask("leaks", path, "-n", 0, "--hide", "^parse$")
    assert "parse" not in {r["function"] for r in answer["rows"]}
    assert answer["memory"]["live_bytes"] == sum(w["live_bytes"] for w in p.stacks.values())


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "json"])
def test_every_form(form, tmp_path):
    path = Profile(32, windows=5).write(tmp_path / "p.spaa")
    for args in ([], ["--by", "stack"], [path]):
        out = run("leaks", path, *args, "--format", form, "-n", 5, code=0).out
        if form == "csv":
            lines = out.splitlines()
            assert len(lines) == 6 and lines[0].split(",")[-3:] in (["marks", "dso", "build_id"], ["kind", "stack", "path"])
        elif form == "table":
            assert "KiB" in out or "MiB" in out


def test_next_commands_run(tmp_path):
    path = Profile(33).write(tmp_path / "p.spaa")
    for args in ([], ["--by", "stack"], [path], ["--metric", "alloc_bytes"]):
        for command in ask("leaks", path, *args)["next"]:
            assert command.startswith("spaa ")
            run(*command.split()[1:], code=0)


@pytest.mark.parametrize("args, code, words", [
    (["--time", "0..1"], 2, "leaks has no option --time"), (["--by", "dso"], 2, "function"),
    (["--metric", "nothing"], 2, "nothing"), (["--event", "malloc.x"], 2, "malloc"),
    (["p.spaa", "p.spaa"], 2, "one file, or an earlier and a later one")])
def test_what_cannot_be_asked(args, code, words, tmp_path):
    Profile(34).write(tmp_path / "p.spaa")
    answer = run("leaks", "p.spaa", *args, cwd=tmp_path, code=code)
    assert words in answer.err


def test_a_profile_without_memory(folded):
    answer = run("leaks", folded, code=2)
    assert "SPAA-E758" in answer.err


def test_profiles_with_nothing_in_common(tmp_path):
    a, b = tmp_path / "a.spaa", tmp_path / "b.spaa"
    Profile(35).write(a)
    Profile(36).write(b, name="heap")
    assert "SPAA-E759" in run("leaks", a, b, code=2).err


# Peaks

def test_peaks_of_one_total_add_and_others_do_not(tmp_path):
    p, q = Profile(40), Profile(40, of_total=False)
    total = sum(w["peak_bytes"] for w in p.stacks.values())
    a, b = p.write(tmp_path / "a.spaa"), q.write(tmp_path / "b.spaa")
    assert ask("top", a, "--metric", "peak_bytes")["whole"] == total
    assert ask("tree", a, "--metric", "peak_bytes")["whole"] == total
    assert ask("top", b, "--metric", "peak_bytes")["whole"] is None
    assert all(r["self"] is None for r in ask("top", b, "--metric", "peak_bytes")["rows"])
    for command in (["flamegraph", b, "-o", tmp_path / "x.svg"], ["diff", b, b]):
        assert "must not be added" in run(*command, "--metric", "peak_bytes").err
    run("flamegraph", a, "-o", tmp_path / "x.svg", "--metric", "peak_bytes", code=0)
    assert "KiB" in (tmp_path / "x.svg").read_text()


def test_peaks_of_merged_files_stay_apart(tmp_path):
    a, b = Profile(41).write(tmp_path / "a.spaa"), Profile(42).write(tmp_path / "b.spaa")
    run("merge", a, b, "-o", tmp_path / "m.spaa", code=0)
    for name in ("top", "tree"):
        answer = run(name, tmp_path / "m.spaa", "--metric", "peak_bytes", code=0).out
        assert "values of this metric must not be added" in answer
    whole = ask("top", tmp_path / "m.spaa", "--metric", "live_bytes")["whole"]
    assert whole == sum(w["live_bytes"] for s in (41, 42) for w in Profile(s).stacks.values())


# Memory beside CPU time

CPU = """{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cpu-clock","kind":"software","sampling":{"mode":"frequency","frequency_hz":99,"primary_metric":"period"}}],"stack_id_mode":"local"}
{"type":"dso","id":1,"name":"/bin/app","is_kernel":false}
{"type":"frame","id":1,"func":"parse","dso":1,"kind":"user"}
{"type":"frame","id":2,"func":"main","dso":1,"kind":"user"}
{"type":"stack","id":1,"frames":[1,2],"context":{"event":"cpu-clock"},"weights":[{"metric":"samples","value":3},{"metric":"period","value":30,"unit":"ns"}]}
{"type":"stack","id":2,"frames":[2],"context":{"event":"cpu-clock"},"weights":[{"metric":"samples","value":1},{"metric":"period","value":10,"unit":"ns"}]}
"""


def test_cpu_time_and_memory_of_one_function_stand_in_one_row(tmp_path):
    (tmp_path / "cpu.spaa").write_text(CPU)
    heap = Profile(50)
    run("merge", tmp_path / "cpu.spaa", heap.write(tmp_path / "heap.spaa"), "-o", tmp_path / "both.spaa", code=0)
    answer = ask("top", tmp_path / "both.spaa", "--event", "cpu-clock", "--with", "malloc.alloc_bytes", "-n", 0)
    rows = {r.get("function", r.get("name")): r for r in answer["rows"]}
    assert rows["parse"]["self_percent"] == 75
    flat, cum = collections.Counter(), collections.Counter()
    for path, w in heap.stacks.items():
        flat[path[0] if path else ""] += w["alloc_bytes"]
        for f in set(path):
            cum[f] += w["alloc_bytes"]
    for f in ("parse", "main"):
        assert (rows[f]["with"][0]["self"], rows[f]["with"][0]["total"]) == (flat[f], cum[f])
    assert ask("top", tmp_path / "both.spaa", "--event", "malloc", "--metric", "alloc_bytes")["whole"] == sum(
        w["alloc_bytes"] for w in heap.stacks.values())
    assert ask("leaks", tmp_path / "both.spaa")["profile"]["event"] == "malloc"


@pytest.mark.skipif(not os.path.isdir(os.path.join(CORPUS, "heap")), reason="no corpus")
def test_the_corpus_program_by_perf_and_by_heaptrack(tmp_path):
    perf = os.path.join(CORPUS, "perf-data", "made")
    both = tmp_path / "both.spaa"
    run("merge", os.path.join(perf, "fp.perf.data.zst"), os.path.join(CORPUS, "heap", "made", "heaptrack.mix.zst"),
        "--symfs", os.path.join(perf, "symfs"), "-o", both, code=0)
    answer = ask("top", both, "--event", "cpu-clock", "--with", "malloc.alloc_bytes", "-n", 0)
    row = {r["name"]: r for r in answer["rows"] if "function" in r and r["dso"].endswith("/mix")}
    assert row["hasher"]["total_percent"] < 1 and row["hasher"]["with"][0]["total"] == 21640960
    assert row["parse_value"]["total_percent"] > 40 and row["parse_value"]["with"][0]["total"] == 0
    assert row["churn_buffers"]["total"] == 0 and row["churn_buffers"]["with"][0]["self"] == 21575424


@pytest.mark.skipif(not os.path.isdir(os.path.join(CORPUS, "heap")), reason="no corpus")
def test_the_leak_of_the_corpus_program_is_found():
    answer = ask("leaks", os.path.join(CORPUS, "heap", "made", "heaptrack.mix.zst"))
    first = answer["rows"][0]
    assert (first["function"], first["kind"], first["never_freed"]) == ("leaky_cache_insert", "growing", True)
    assert answer["memory"]["live_bytes"] == 37824 and answer["memory"]["peak_bytes"] == 186520


def test_a_pprof_of_the_heap(tmp_path):
    path = os.path.join(ROOT, "tests", "fixtures", "pprof", "heap.pb.gz")
    if not os.path.exists(path):
        pytest.skip("no such fixture")
    answer = ask("leaks", path)
    assert answer["ranked_by"] == "live_bytes" and answer["rows"]


def test_peaks_of_several_inputs_are_not_added(tmp_path):
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "fixtures", "heaptrack")
    one, merged = os.path.join(folder, "interpreted.heaptrack"), tmp_path / "m.spaa"
    other = tmp_path / "other.heaptrack"
    with open(one, "rb") as f:
        other.write_bytes(f.read())
    run("merge", one, other, "-o", merged, code=0)
    assert "at the peak" in run("leaks", one, code=0).out.splitlines()[1]
    assert "at the peak" not in run("leaks", merged, code=0).out.splitlines()[1]


def heap(tmp_path, stacks):
    """A profile of live bytes, of stacks from the leaf; lib_ functions are of a library."""
    path = tmp_path / "heap.spaa"
    event = {"name": "malloc", "kind": "allocation", "sampling": {"mode": "event", "primary_metric": "live_bytes"}}
    frame = lambda f: {"func": f, "dso": "/usr/lib/libother.so.1" if f.startswith(("lib_", "malloc")) else "/opt/app/bin/app"}
    path.write_text(profiles.text([([frame(f) for f in names], {"live_bytes": n}) for names, n in stacks], [event]))
    return path


def callers_of(path):
    share = lambda v: v if v is None else float(v)
    return {r["function"]: (r["own_callers"], share(r["own_callers_percent"]), r["own_callers_others"])
            for r in ask("leaks", path)["rows"]}


def test_own_callers_of_what_allocates(tmp_path):
    """Along the way that most of a row goes: recursion once, functions of libraries passed over, four at most."""
    path = heap(tmp_path, [
        (["malloc", "checked", "copy_of", "lib_each", "remember", "remember", "main"], 90),
        (["malloc", "checked", "parse", "main"], 10),
        (["malloc", "lib_grow", "lib_push", "append", "main"], 7),
        (["malloc", "lib_alone", "lib_init"], 5),
        (["malloc", "deep", "a", "b", "c", "d", "main"], 3)])
    assert callers_of(path) == {
        "checked": (["copy_of", "remember", "main"], 90, 1), "lib_grow": (["append", "main"], 100, 0),
        "lib_alone": ([], None, 0), "deep": (["a", "b", "c", "d"], 100, 0)}
    lines = run("leaks", path, code=0).out.splitlines()
    assert next(line for line in lines if " checked " in line).endswith("copy_of < remember < main 90.00%; 1 other caller")
    assert next(line for line in lines if " lib_grow " in line).endswith("append < main")


def test_own_callers_end_where_no_way_is_most(tmp_path):
    """The first one is the heaviest, further ones have half of the row at least."""
    path = heap(tmp_path, [(["malloc", "checked", "put", "a", "main"], 30), (["malloc", "checked", "put", "b", "main"], 30),
                           (["malloc", "checked", "get", "main"], 40)])
    assert callers_of(path) == {"checked": (["put"], 60, 1)}
    path = heap(tmp_path, [(["malloc", "checked", f, "main"], n) for f, n in (("a", 5), ("b", 4), ("c", 4))])
    assert callers_of(path) == {"checked": (["a"], 38.46, 2)}


def test_of_two_profiles_callers_are_of_the_later_one(tmp_path):
    early = heap(tmp_path, [(["malloc", "checked", "old", "main"], 1000)]).rename(tmp_path / "early.spaa")
    late = heap(tmp_path, [(["malloc", "checked", "old", "main"], 10), (["malloc", "checked", "new", "main"], 2000)])
    assert [(r["own_callers"], r["own_callers_percent"]) for r in ask("leaks", early, late)["rows"]] == [(["new", "main"], 99.5)]


def test_people_see_rows_of_what_is_live(tmp_path):
    path = heap(tmp_path, [(["malloc", "kept", "main"], 10), (["malloc", "gone", "main"], 0)])
    assert " gone " not in run("leaks", path, code=0).out and "1 more row" in run("leaks", path).out
    assert " gone " in run("leaks", path, "-n", 0).out
    assert {r["function"] for r in ask("leaks", path)["rows"]} == {"kept", "gone"}

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
CONTAINERS = ["std::vector<app::T>::push_back(app::T const&)"]
OTHERS = ["main", "parse", "grow", "cache::insert(int)", "new_thing", "mallocator", "app::allocator<int>::allocator()"]
OWN = OTHERS
FUNCTIONS = ALLOCATORS + CONTAINERS + OTHERS


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
    return name in ALLOCATORS + CONTAINERS


def key_of(path, by_stack, keep):
    """The own function nearest to the memory; of a stack all from what asked on."""
    skip = 0
    while not keep and skip < len(path) and is_allocator(path[skip]):
        skip += 1
    if path and skip == len(path):  # nothing else: the outermost container, without one the outermost allocator
        skip = max((i for i, name in enumerate(path) if name in CONTAINERS), default=len(path) - 1)
    path = path[skip:]
    own = [f for f in path if f in OWN and not keep]
    return tuple(path) if by_stack else (own + list(path[:1]) + ["[no stack]"])[0]


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
        names = tuple(f["function"] for f in r["frames"])[r["allocators_skipped"]:]
        assert [f["owner"] for f in r["frames"]] == [i == r["allocators_skipped"] for i in range(len(r["frames"]))]
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
        rate, doubt = rate_of(p, r["function"], n)
        assert float(r["growth"]["bytes_per_second"]) == pytest.approx(rate, abs=0.006, rel=1e-9)
        assert doubt is None and r["growth"]["doubt"] is None or float(r["growth"]["doubt"]) == pytest.approx(doubt, abs=0.02, rel=1e-6)
        if r["live_bytes"] or r["live_count"]:
            surely = r["never_freed"] or doubt is None or rate > doubt
            assert (r["kind"] == "growing") == (all(x > 0 for x in q[1:]) and surely)
            growing += r["kind"] == "growing"
    assert growing


def rate_of(profile, function, n):
    """Bytes per second in windows of the last three quarters, each of a second; two standard errors of it."""
    late = [k for k in range(n) if int((k + 0.5) * 4 / n)]
    gains = [sum(s[k] for path, s in profile.shares.items() if key_of(path, False, False) == function) for k in late]
    rate = sum(gains) / len(gains)
    if len(gains) < 6:
        return rate, None
    return rate, 2 * (sum((g - rate) ** 2 for g in gains) / (len(gains) - 1) / len(gains)) ** 0.5


def grown(tmp_path, windows, stacks, seconds=1):
    """A profile with windows of so many seconds: stacks are (function, line, live bytes by window, freed)."""
    event = {"name": "malloc", "kind": "allocation", "sampling": {"mode": "event", "primary_metric": "live_bytes"}}
    records = [([{"func": f, "srcline": "/src/%s" % line, "ip": "0x%x" % (16 + i)}, "main"],
                {"live_bytes": sum(gains), "live_count": int(sum(gains) > 0), "alloc_bytes": sum(gains) + freed, "alloc_count": 2 if freed else 1,
                 "free_count": 1 if freed else 0}) for i, (f, line, gains, freed) in enumerate(stacks)]
    after = [{"type": "window", "id": "w%d" % k, "start": k * seconds, "end": (k + 1) * seconds, "unit": "seconds",
              "by_stack": [{"stack_id": "s%d" % i, "weights": [{"metric": "live_bytes", "value": gains[k]}]}
                           for i, (_, _, gains, _) in enumerate(stacks)]} for k in range(windows)]
    path = tmp_path / "grown.spaa"
    path.write_text(profiles.text(records, [event], after=after))
    return path


def test_pace_or_step_and_the_line_of_what_grows(tmp_path):
    steady, step, noise = [10] * 16, [1000] + [0] * 15, [100, 40, -40] * 5 + [-40]
    path = grown(tmp_path, 16, [
        ("paced", "a.c:1", steady, 0), ("paced", "a.c:2", step, 0),             # the step is more, the pace is what grows
        ("stepped", "b.c:3", step, 0), ("noisy", "c.c:4", noise, 900),
        ("late", "d.c:5", [0] * 12 + [50] * 4, 0), ("both", "e.c:6", step, 0), ("both", "e.c:7", [0] * 16, 64)])
    rows = {r["function"]: r for r in ask("leaks", path)["rows"]}
    assert (rows["paced"]["kind"], rows["paced"]["srcline"]) == ("growing", "/src/a.c:1")
    assert rows["paced"]["growth"] == {"bytes_per_second": 10, "doubt": 0, "flat_from_seconds": None}
    assert (rows["stepped"]["kind"], rows["stepped"]["growth"]["flat_from_seconds"]) == ("never freed", 1)
    assert rows["noisy"]["kind"] == "partly freed"
    assert rows["late"]["kind"] == "never freed" and float(rows["late"]["growth"]["flat_from_seconds"]) == 16
    # What it holds is of a line that never frees; what it freed is of another one.
    assert (rows["both"]["kind"], rows["both"]["never_freed"]) == ("never freed", False)
    text = run("leaks", path, code=0).out
    assert "growing +10 B/s" in text and "never freed, flat from 1 s on" in text and "never freed there, flat" in text
    assert "paced a.c:1 +1 line" in text and "both e.c:6\n" in text


def test_without_windows_growth_is_not_known(tmp_path):
    path = Profile(3).write(tmp_path / "p.spaa")
    assert ask("leaks", path)["growth_from"] is None
    assert "growing or not is not known" in run("leaks", path, code=0).out


def test_what_grows_slowly_for_long_grows_by_the_hour(tmp_path):
    path = grown(tmp_path, 16, [("slow", "a.c:1", [100] * 16, 0), ("fast", "a.c:2", [1 << 20] * 16, 0)], seconds=100)
    text = run("leaks", path, code=0).out
    assert "growing +3.52 KiB/h" in text and "growing +10.2 KiB/s" in text


def test_windows_that_are_not_in_time_say_nothing_of_growth(tmp_path):
    path = grown(tmp_path, 8, [("kept", "a.c:1", [10] * 8, 0)])
    path.write_text(path.read_text().replace('"unit":"seconds"', '"unit":"instructions"'))
    answer = ask("leaks", path)
    assert answer["growth_from"] is None and answer["rows"][0]["kind"] == "never freed"


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
    for args in ([], ["--by", "stack"]):
        out = run("leaks", path, *args, "--format", form, "-n", 5, code=0).out
        if form == "csv":
            lines = out.splitlines()
            assert len(lines) == 6 and lines[0].split(",")[-3:] in (["build_id", "srcline", "asked_through"], ["path", "srcline", "asked_through"])
        elif form == "table":
            assert "KiB" in out or "MiB" in out


def test_next_commands_run(tmp_path):
    path = Profile(33).write(tmp_path / "p.spaa")
    for args in ([], ["--by", "stack"], ["--metric", "alloc_bytes"]):
        for command in ask("leaks", path, *args)["next"]:
            assert command.startswith("spaa ")
            run(*command.split()[1:], code=0)


@pytest.mark.parametrize("args, code, words", [
    (["--time", "0..1"], 2, "leaks has no option --time"), (["--by", "dso"], 2, "function"),
    (["--metric", "nothing"], 2, "nothing"), (["--event", "malloc.x"], 2, "malloc")])
def test_what_cannot_be_asked(args, code, words, tmp_path):
    Profile(34).write(tmp_path / "p.spaa")
    answer = run("leaks", "p.spaa", *args, cwd=tmp_path, code=code)
    assert words in answer.err


def test_a_profile_without_memory(folded):
    answer = run("leaks", folded, code=2)
    assert "SPAA-E758" in answer.err


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
        flat[key_of(path, False, False) if path else ""] += w["alloc_bytes"]
        for f in set(key_of(path, True, False) if path else ()):
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
    assert "; peak " in " ".join(run("leaks", one, code=0).out.split())
    assert "; peak " not in " ".join(run("leaks", merged, code=0).out.split())


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
        "checked": (["copy_of", "remember", "main"], 90, 1), "append": (["main"], 100, 0),
        "lib_alone": ([], None, 0), "deep": (["a", "b", "c", "d"], 100, 0)}
    lines = run("leaks", path, code=0).out.splitlines()
    assert next(line for line in lines if " checked " in line).endswith("copy_of < remember < main 90.00%; 1 other caller")
    # Who is called by one function alone is found by its line.
    assert next(line for line in lines if " append " in line).split()[-2:] == ["append", "lib_grow"]
    owners = {r["function"]: r["own_callers"] for r in ask("leaks", path, "--by", "owner")["rows"]}
    assert owners["lib_grow"] == ["append", "main"] and "append" not in owners


def test_own_callers_end_where_no_way_is_most(tmp_path):
    """The first one is the heaviest, further ones have half of the row at least."""
    path = heap(tmp_path, [(["malloc", "checked", "put", "a", "main"], 30), (["malloc", "checked", "put", "b", "main"], 30),
                           (["malloc", "checked", "get", "main"], 40)])
    assert callers_of(path) == {"checked": (["put"], 60, 1)}
    path = heap(tmp_path, [(["malloc", "checked", f, "main"], n) for f, n in (("a", 5), ("b", 4), ("c", 4))])
    assert callers_of(path) == {"checked": (["a"], 38.46, 2)}


def test_people_see_rows_of_what_is_live(tmp_path):
    path = heap(tmp_path, [(["malloc", "kept", "main"], 10), (["malloc", "gone", "main"], 0)])
    assert " gone" not in run("leaks", path, code=0).out and "1 more function holds nothing now;" in run("leaks", path).out
    assert " gone\n" in run("leaks", path, "-n", 0).out
    assert {r["function"] for r in ask("leaks", path)["rows"]} == {"kept", "gone"}


def test_text_fits_whatever_the_names_are(tmp_path):
    """The state, the number of the line and the handle are there all the same."""
    long = "app::" + "very_long_name_of_a_function_" * 8
    stacks = [("%s%d" % (long, i), "%s/%s_%d.pb.cc:%d" % ("deep/" * 9, "generated_name_of_a_file" * 5, i, 100 + i), [1000 * (i + 1)] * 16, 3 * i)
              for i in range(6)] + [("%s0" % long, "other.cc:7", [1] * 16, 0)]
    path = grown(tmp_path, 16, stacks)
    for args in ([], ["--metric", "allocated"], ["--metric", "calls"], ["--by", "owner"], ["--by", "stack"], ["--keep-allocators"]):
        lines = run("leaks", path, *args, code=0).out.splitlines()
        assert max(map(len, lines)) <= 120, args
    lines = run("leaks", path, code=0).out.splitlines()
    rows = [line for line in lines if "KiB " in line and "growing" in line]
    assert len(rows) == 6 and all(" f:" in line for line in rows)
    for i, line in enumerate(reversed(rows)):
        assert "pb.cc:%d" % (100 + i) in line, line


def test_the_way_up_is_said_where_it_says_more_than_the_line(tmp_path):
    path = heap(tmp_path, [(["malloc", "one", "caller", "main"], 5), (["malloc", "shared", "left", "main"], 4),
                           (["malloc", "shared", "right", "main"], 2)])
    text = run("leaks", path, code=0).out
    assert "left < main 66.67%; 1 other caller" in text and "caller < main" not in text
    assert "called by" not in run("leaks", path, "--focus", "^one$", code=0).out

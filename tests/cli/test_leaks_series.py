"""spaa leaks A B C … and timeline A B C …: growth over dumps of one process."""

import glob
import gzip
import itertools
import json
import math
import os
import random
import shutil

import pytest

import profiles
from conftest import ROOT, ask, run
from test_leaks import KEYS, METRICS, Profile, key_of, rows_of

SERIES = os.path.join(ROOT, "tests", "heap_series")


def dumps(kind):
    return sorted(glob.glob(os.path.join(SERIES, kind, "*heap*")))


def series(tmp_path, values, times=None, period=None, name="d%d.spaa", app="/opt/app/app", **header):
    """A dump for each dict of {function: (live bytes, live blocks, allocated bytes, calls)}; shorter ones end there."""
    paths = []
    metrics = ["live_bytes", "live_count", "alloc_bytes", "alloc_count"]
    for i, dump in enumerate(values):
        event = {"name": "heap", "kind": "allocation",
                 "sampling": {"mode": "period" if period else "event", "primary_metric": "live_bytes",
                              **({"sample_period": period} if period else {})}}
        stacks = []
        for function, w in dump.items():
            w = w if isinstance(w, tuple) else (w,)
            frames = [{"func": "malloc", "dso": "/usr/lib/libc.so.6"}, {"func": function, "dso": app}, {"func": "main", "dso": app}]
            stacks.append((frames, dict(zip(metrics, w))))
        more = {"time_range": {"start": 0, "end": times[i], "unit": "seconds"}} if times else {}
        path = tmp_path / (name % i if "%" in name else name)
        path.write_text(profiles.text(stacks, [event], tool="test", **more, **header))
        paths.append(path)
    return paths


def growth(answer):
    return {r["function"]: r for r in answer["by_growth"]}


def dump_of(made, path):
    """As of a tool that writes several dumps of a process."""
    path.write_text(made.text().replace('"source_tool": "heaptrack"', '"source_tool": "test"'))
    return path


# Sums

def by_own(profile):
    """Rows of the own function nearest to the memory, from its owner on; else of that."""
    rows = {}
    for path, w in profile.stacks.items():
        path = key_of(path, True, False) if path else ("[no stack]",)
        own = [f for f in path if not f.startswith(("std::", "operator new", "malloc", "calloc@")) or f == "mallocator"]
        row = rows.setdefault((own or path)[0], dict.fromkeys(w, 0))
        for m, v in w.items():
            row[m] += v
    return rows


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_sums_are_those_of_each_dump(n, keep, tmp_path):
    made = [Profile(20 + i, duration=10 + 20 * i) for i in range(n)]
    paths = [dump_of(p, tmp_path / ("p%d.spaa" % i)) for i, p in enumerate(made)]
    answer = ask("leaks", *paths, "-n", 0, *["--keep-allocators"] * keep)
    want = [rows_of(p, keep=True) if keep else by_own(p) for p in made]
    live = [sum(w["live_bytes"] for w in p.stacks.values()) for p in made]
    assert answer["whole"] == answer["series"]["last"] == answer["memory"]["live_bytes"] == live[-1]
    assert answer["series"]["first"] == live[0] and answer["series"]["growth"] == live[-1] - live[0]
    assert answer["growth_from"] == "files" and answer["series"]["order_from"] == "times"
    assert answer["series"]["seconds"] == 20 * (n - 1)
    rows = growth(answer)
    assert len(rows) == len(answer["by_growth"]) and set(rows) == set().union(*want)
    for name, r in rows.items():
        values = [w[name]["live_bytes"] if name in w else 0 for w in want]
        assert [v["value"] for v in r["values"]] == values
        assert (r["first"], r["last"], r["growth"]) == (values[0], values[-1], values[-1] - values[0])
        if n == 2:
            assert math.isclose(r["rate"], (values[1] - values[0]) / 20, abs_tol=1e-6)
            assert r["kind"] == ("level" if not r["growth"] else "shrinks" if r["growth"] < 0 else
                                 "grew" if values[0] else "new")
            assert abs(r["beyond_time"] - (values[1] - values[0] * 3)) <= 1
        else: # what was allocated in all falls: they are not of one process
            assert r["rate"] is None and r["kind"] in ("not known", "level")
    assert [d["live_bytes"] for d in answer["dumps"]] == live


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_rates_are_medians_of_slopes(n, tmp_path):
    r = random.Random(n)
    values = [{f: r.randrange(10**6) for f in ("f", "g", "h")} for i in range(n)]
    rows = growth(ask("leaks", *series(tmp_path, values, times=[20 * i for i in range(1, n + 1)])))
    assert set(rows) == {"f", "g", "h"}
    for f, row in rows.items():
        slopes = sorted((values[j][f] - values[i][f]) / (20 * (j - i)) for i, j in itertools.combinations(range(n), 2))
        middle = len(slopes) // 2
        median = slopes[middle] if len(slopes) % 2 else (slopes[middle - 1] + slopes[middle]) / 2
        assert math.isclose(row["rate"], median, abs_tol=1e-6)


def test_the_metric_that_is_asked_for(tmp_path):
    made = [Profile(30 + i, duration=10 + i) for i in range(3)]
    paths = [p.write(tmp_path / ("p%d.spaa" % i)) for i, p in enumerate(made)]
    for m, key in list(zip(METRICS, KEYS))[:4]:
        answer = ask("leaks", *paths, "--metric", m)
        assert answer["ranked_by"] == m and answer["series"]["last"] == sum(w[m] for w in made[-1].stacks.values())
    assert "is not told" in run("leaks", *paths, "--metric", "free_bytes", code=2).err


def test_two_builds_at_two_places_are_one_function_and_a_doubt(tmp_path):
    a = b = Profile(22).text().replace('"source_tool": "heaptrack"', '"source_tool": "test"')
    (tmp_path / "a.spaa").write_text(a.replace('"/bin/app"', '"/usr/bin/app", "build_id": "aa"'))
    (tmp_path / "b.spaa").write_text(b.replace('"/bin/app"', '"/bin/app", "build_id": "bb"'))
    for by in ("function", "stack"):
        answer = ask("leaks", tmp_path / "a.spaa", tmp_path / "b.spaa", "--by", by, "-n", 0)
        assert {r["kind"] for r in answer["by_growth"]} == {"level"}
        assert any("several builds of app" in d for d in answer["doubts"])


# Kinds, of values as they were recorded of programs whose truth is known

SESSION = [0, 0, 372205, 714990, *[1055990] * 9, 1427339, 1772090, 2044890]


def test_what_never_falls_only_grows_whatever_its_pace(tmp_path):
    """Dumps of tcmalloc, by bytes allocated: a peak of something else makes many in which nothing is called."""
    log = [0, 0, 2048, 4096, 8192, 8192]
    answer = ask("leaks", *series(tmp_path, [{"put": v, "audit": log[min(i, 5)]} for i, v in enumerate(SESSION)]))
    rows = growth(answer)
    assert rows["put"]["kind"] == "only grows" and rows["put"]["rate_low"] > 0
    said = run("leaks", *sorted(tmp_path.glob("d*.spaa")), code=0).out
    assert "only ever grows: put" in said and "no function grows" not in said
    few = [sorted(tmp_path.glob("d*.spaa"), key=lambda p: int(p.stem[1:]))[i] for i in (2, 3, 4, 13, 14, 15)]
    assert growth(ask("leaks", *few))["put"]["kind"] == "only grows"


def test_a_step_down_of_little_is_no_end_of_growth(tmp_path):
    kept = [4224 + 2112 * i + (8192 if 6 <= i < 15 else 0) for i in range(20)]
    rows = growth(ask("leaks", *series(tmp_path, [{"slow": (v, v // 64, 4224 * (i + 4), 66 * (i + 4))} for i, v in enumerate(kept)])))
    assert rows["slow"]["kind"] == "grows" and rows["slow"]["rate_low"] > 0 and rows["slow"]["chance"] < 0.05


def samples_of(n, each=524496):
    return (n * each, n * 16384, n * each, n * 16384)


@pytest.mark.parametrize("samples, kind", [
    ([1, 3, 4, 5, 8, 12, 15, 15, 15, 19], "only grows"),
    ([2, 3, 3, 8, 9, 10, 12, 12, 13, 15], "only grows"),
    ([1, 2, 2, 2, 4, 4, 7, 10, 11, 13, 14, 13], "only grows"),
    ([0, 1, 2, 4, 4, 4, 4, 4, 5, 7], "may grow"),
])
def test_sampled_growth_is_not_denied(samples, kind, tmp_path):
    """As Go's heap profiles had it of functions that keep all they make, a sample per 512 KiB."""
    values = []
    for i, n in enumerate(samples): # as much again was allocated and freed
        live, count, *_ = samples_of(n)
        values.append({"leak": (live, count, *samples_of(3 * max(samples[:i + 1]))[2:])})
    paths = series(tmp_path, values, times=[i + 1 for i in range(len(values))], period=524288)
    row, said = growth(ask("leaks", *paths))["leak"], run("leaks", *paths, code=0).out
    assert row["kind"] == kind and row["rate_low"] > 0 and "no function grows" not in said


@pytest.mark.parametrize("values, kind", [
    ([1, 12, 19], "up each time"), ([2, 10, 6], "noise"), ([3, 4, 15, 22], "up each time"), ([1, 20, 20], "grew once")])
def test_grew_once_is_nine_tenths_in_one_step(values, kind, tmp_path):
    """Of few dumps a step that is larger than sampling explains does not make the others nothing."""
    paths = series(tmp_path, [{"f": samples_of(v)[:2]} for v in values], times=[1 + i for i in range(len(values))], period=524288)
    assert growth(ask("leaks", *paths))["f"]["kind"] == kind


@pytest.mark.parametrize("by", range(1, 12))
def test_noise_is_what_has_0_within_its_interval(by, tmp_path):
    paths = series(tmp_path, [{"f": (*samples_of(2)[:2], *samples_of(2)[2:])},
                              {"f": (*samples_of(2 + by)[:2], *samples_of(2 + 2 * by)[2:])}], times=[1, 2], period=524288)
    row = growth(ask("leaks", *paths))["f"]
    assert (row["kind"] == "noise") == (row["rate_low"] <= 0) and (row["kind"] == "grew") == (row["rate_low"] > 0)


def test_three_dumps_are_few(tmp_path):
    """What comes and goes by the day stands behind what is kept, however fast it rose."""
    paths = series(tmp_path, [{"leak": (100000 * (1 + 3 * i), 100 * (1 + 3 * i), 100000 * (1 + 3 * i), 100 * (1 + 3 * i)),
                               "day": (272384 + 312000 * i, 2128 + 2437 * i, 10**6 * (1 + i), 10**4 * (1 + i))} for i in range(3)])
    answer, said = ask("leaks", *paths), run("leaks", *paths, code=0).out
    assert [(r["function"], r["kind"]) for r in answer["by_growth"]] == [("leak", "only grows"), ("day", "up each time")]
    assert "3 dumps are few" in said


# Callers

def way(frames, *weights):
    return ([{"func": "malloc", "dso": "/usr/lib/libc.so.6"}] + [{"func": f, "dso": "/opt/app/app"} for f in frames],
            dict(zip(["live_bytes", "live_count"], weights)))


def dump_of_ways(tmp_path, i, ways):
    event = {"name": "heap", "kind": "allocation", "sampling": {"mode": "event", "primary_metric": "live_bytes"}}
    path = tmp_path / ("w%d.spaa" % i)
    path.write_text(profiles.text([way(f.split(), w, 1) for f, w in ways.items()], [event], tool="test",
                                  time_range={"start": 0, "end": 10 * i + 1, "unit": "seconds"}))
    return path


def test_for_whom_a_wrapper_grows(tmp_path):
    paths = [dump_of_ways(tmp_path, i, {"get copy serve main": 1000 + 600 * i, "get copy get copy other main": 300 * i,
                                        "get load main": 5000 + 100 * i, "get trim main": 4000 - 500 * i, "get": 7,
                                        "plain main": 50 * i + 1}) for i in range(4)]
    rows = growth(ask("leaks", *paths))
    # copy gained 1800 + 900, load 300, trim lost 1500
    assert rows["get"]["growth"] == 1800 + 900 + 300 - 1500
    assert rows["get"]["own_callers"] == ["copy", "serve", "main"] and rows["get"]["own_callers_others"] == 2
    assert float(rows["get"]["own_callers_percent"]) == 60  # what reaches main by serve, of 3000
    assert rows["plain"]["own_callers"] == ["main"] and float(rows["plain"]["own_callers_percent"]) == 100
    out = run("leaks", *paths, code=0).out
    assert "get +1.46 KiB < copy 90 %" in out and "plain < " not in out and "plain +150 B," not in out
    line = next(x for x in out.splitlines() if "f:" in x and " get " in x)
    assert line.endswith("copy 90 %")
    given = growth(ask("leaks", *paths[::-1]))
    assert given["get"]["own_callers"] == rows["get"]["own_callers"]


def test_a_caller_that_holds_much_and_does_not_grow_is_not_named():
    files = sorted(glob.glob(os.path.join(ROOT, "tests", "memory", "recordings", "jeprof.shop.*.heap")))
    symbols = ("--symfs", os.path.join(RECORDINGS, "symfs"))
    row = growth(ask("leaks", *files, *symbols))["shop_get(unsigned long)"]
    assert row["own_callers"][0] == "copy_request(int)" and row["own_callers_others"] == 1
    assert "shop_get (shop.cpp:41) +218.75 KiB < copy_request" in " ".join(run("leaks", *files, *symbols, code=0).out.split())


# Units

def test_rates_of_an_answer_have_one_unit_of_time(tmp_path):
    values = [{"fast": 4096 * i + 1, "slow": 2 * i + 1, "tiny": 500 + i // 3} for i in range(8)]
    out = run("leaks", *series(tmp_path, values, times=[10 * i + 5 for i in range(8)]), code=0).out
    assert "/h" not in out and "+410 B/s" in out and "+0.20 B/s" in out
    out = run("leaks", *series(tmp_path, [{"slow": v["slow"]} for v in values], times=[10 * i + 5 for i in range(8)]), code=0).out
    assert "/s" not in out and "+720 B/h" in out


# What only some dumps have

@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("option", ["--root-at", "--own", "--focus"])
def test_a_dump_without_what_is_asked_for_has_nothing_of_it(option, last, tmp_path):
    values = [{"f": 5}, {"f": 5, "late": 7}, {"f": 6, "late": 9} if last else {"f": 6}]
    paths = series(tmp_path, values, times=[1, 2, 3])
    answer = ask("leaks", *paths, option, "late")
    late = growth(answer)["late"]
    assert [v["value"] for v in late["values"]] == [0, 7, 9 if last else 0] and late["own"] is not False
    assert len(answer["by_growth"]) == (2 if option == "--own" else 1)
    if option == "--root-at":
        assert "--root-at late" in answer["profile"]["filters"] and answer["kept"] == (9 if last else 0)
        assert [d["live_bytes"] or 0 for d in answer["dumps"]] == [0, 7, 9 if last else 0]
    assert "nothing matches" in run("leaks", *paths, option, "nowhere", code=1).err


# Recordings of a run each

RECORDINGS = os.path.join(ROOT, "tests", "memory", "recordings")


@pytest.mark.parametrize("names", [["shop.heaptrack.zst", "shop-O0.heaptrack.zst", "shop.heaptrack.zst"],
                                   ["relay.lsan.log", "relay.lsan-slow.log"], ["shop.dhat.json.gz", "shop-paths.dhat.json.gz"],
                                   ["shop.memcheck.log.gz", "shop-paths.memcheck.log.gz"],
                                   ["shop.massif.out.gz", "shop-paths.massif.out.gz"]], ids=lambda n: n[0])
def test_between_runs_nothing_grows(names):
    files = [os.path.join(RECORDINGS, n) for n in names]
    answer = ask("leaks", *files)
    assert {(r["kind"], r["rate"], r["chance"]) for r in answer["by_growth"]} == {(None, None, None)}
    assert answer["series"]["kind"] is None and answer["series"]["rate"] is None
    assert [r["growth"] for r in answer["by_growth"]] == sorted((r["growth"] for r in answer["by_growth"]), reverse=True)
    assert any("a recording a run" in d for d in answer["doubts"])
    out = run("leaks", *files, code=0).out
    assert "%d recordings" % len(set(names)) in out and "/dump" not in out and "grows" not in out


# Kinds

def test_kinds(tmp_path):
    values = [{"leak": 1000 * i + 7, "level": 500, "once": 100 if i < 3 else 9000, "less": 900 - 100 * i,
               "swings": 400 + 300 * (i % 2), "early": 5000 - 5000 // (i + 1) ** 2,
               **({"late": 70} if i == 7 else {})} for i in range(8)]
    paths = series(tmp_path, values, times=[10 * i + 5 for i in range(8)])
    answer = ask("leaks", *paths)
    kinds = {f: r["kind"] for f, r in growth(answer).items()}
    assert kinds == {"leak": "only grows", "level": "level", "once": "grew once", "less": "shrinks", "swings": "varies",
                     "early": "slows down", "late": "new"}
    assert answer["by_growth"][0]["function"] == "leak" and answer["by_growth"][0]["rate"] == 100
    assert answer["series"]["only_grow"] == 1
    text = run("leaks", *paths, code=0).out
    assert "only ever grows: leak +6.84 KiB" in text and "level" not in text.split("kind")[1]


def test_two_and_three_dumps_claim_no_trend(tmp_path):
    values = [{"leak": 1000 * (i + 1)} for i in range(3)]
    paths = series(tmp_path, values, times=[1, 2, 3])
    answer = ask("leaks", *paths[:2])
    assert answer["by_growth"][0]["kind"] == "grew" and "no trend" in answer["doubts"][0]
    answer = ask("leaks", *paths)
    assert answer["by_growth"][0]["kind"] == "up each time" and answer["by_growth"][0]["chance"] == 0.25
    assert "1 time in 4" in run("leaks", *paths, code=0).out


def test_what_all_stays_grows_even_by_three(tmp_path):
    values = [{"leak": (4096 * k, k, 4096 * k, k), "churn": (4096 * 50, 50 + i, 4096 * 9000 * i, 9000 * i)}
              for i, k in enumerate((100, 230, 310))]
    answer = ask("leaks", *series(tmp_path, values, times=[1, 2, 3]))
    rows = growth(answer)
    assert rows["leak"]["kind"] == "only grows" and float(rows["leak"]["kept_percent"]) == 100
    assert rows["leak"]["allocated"] == 4096 * 210 and rows["churn"]["kind"] == "level"


def test_differences_within_sampling_are_noise(tmp_path):
    rate = 524288
    block = lambda k: (rate * k, 128 * k)  # k samples of blocks of 4 KiB
    answer = ask("leaks", *series(tmp_path, [{"f": block(5), "g": block(4)}, {"f": block(9), "g": block(64)}], times=[1, 2],
                                  period=rate))
    rows = growth(answer)
    assert rows["f"]["kind"] == "noise" and rows["g"]["kind"] == "grew"
    # Each stands for 1 / p blocks, p = 1 - exp(-4096 / rate).
    p = 1 - math.exp(-4096 / rate)
    var = 4096 ** 2 * (128 * 5 + 128 * 9) * (1 - p) / p
    assert math.isclose(rows["f"]["growth_sd"], math.sqrt(var), rel_tol=0.01)
    assert any("a sample per 512.00 KiB" in d for d in answer["doubts"])


def test_intervals_of_what_is_sampled_have_the_truth(tmp_path):
    """Blocks that stay, sampled by their size: 1.96 standard deviations are 95 in 100."""
    r = random.Random(11)
    rate, values, truth = 524288, [{}, {}], {}
    for f in range(200):
        size = r.choice([4096, 65536, 400000, 2 << 20])
        p = -math.expm1(-size / rate)
        old, new = int(r.uniform(5, 60) * rate / size) + 1, int(r.uniform(0, 60) * rate / size)
        seen = [sum(r.random() < p for _ in range(n)) for n in (old, new)]
        truth["f%d" % f] = new * size
        for dump, k in ((0, seen[0]), (1, seen[0] + seen[1])):
            values[dump]["f%d" % f] = (round(k * size / p), round(k / p)) * 2
    rows = growth(ask("leaks", *series(tmp_path, values, times=[1, 2], period=rate), "-n", 0))
    inside = sum(abs(rows[f]["growth"] - v) <= 1.96 * float(rows[f]["growth_sd"]) + 1 for f, v in truth.items())
    assert 0.9 * len(truth) <= inside


def test_steady_programs_are_seldom_said_to_grow(tmp_path):
    """Caches of blocks that come and go, sampled: 240 functions in eight dumps."""
    r = random.Random(5)
    rate, size, live = 524288, 4096, {}
    p = 1 - math.exp(-size / rate)
    values, allocated = [], {}
    for dump in range(8):
        now = {}
        for f in range(240):
            mean = 2 + f / 4
            old = live.get(f, sum(r.random() < mean / 1000 for _ in range(1000)))
            stay = sum(r.random() < 0.6 for _ in range(old))
            new = sum(r.random() < 0.4 * mean / 1000 for _ in range(1000))
            live[f], allocated[f] = stay + new, allocated.get(f, old) + new
            blocks, calls = round(live[f] / p), round(allocated[f] / p)
            now["f%d" % f] = (blocks * size, blocks, calls * size, calls)
        values.append(now)
    answer = ask("leaks", *series(tmp_path, values, times=[30 * i + 1 for i in range(8)], period=rate), "-n", 0)
    claimed = [x["function"] for x in answer["by_growth"] if x["kind"] in ("only grows", "grows")]
    assert len(answer["by_growth"]) == 240 and len(claimed) <= 2
    assert answer["series"]["kind"] not in ("only grows", "grows")


def test_v8s_bytes_are_estimates(tmp_path):
    """It does not say how far its samples are apart: the least that one stands for."""
    def dump(i, nodes):
        tree = {"callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1},
                "selfSize": 0, "id": 1, "children": []}
        samples = []
        for k, (name, n) in enumerate(nodes.items()):
            frame = {"functionName": name, "scriptId": "7", "url": "file:///app.js", "lineNumber": k, "columnNumber": 0}
            tree["children"].append({"callFrame": frame, "selfSize": n * 8192, "id": k + 2, "children": []})
            samples += [{"size": 8192, "nodeId": k + 2, "ordinal": j} for j in range(n)]
        path = tmp_path / ("n%02d.heapprofile" % i)
        path.write_text(json.dumps({"head": tree, "samples": samples}))
        return path

    few = [dump(i, {"steady": 200, "few": 1 + i // 2}) for i in range(12)]
    answer = ask("leaks", *few)
    assert growth(answer)["few"]["kind"] == "noise" and answer["series"]["sampled_every"] == 8192
    assert math.isclose(growth(answer)["few"]["growth_sd"], math.sqrt(8192 * 7 * 8192))
    assert any("about a sample per 8.00 KiB" in d for d in answer["doubts"])
    moved = [dump(i, {"peek": int(i == 11), "leaf": 20 + 100 * min(i, 6) - i % 2, "caller": 1 + 100 * max(i - 6, 0) - i % 2}) for i in range(12)]
    answer, said = ask("leaks", *moved), run("leaks", *moved, code=0).out
    assert answer["series"]["kind"] == "only grows" and answer["by_growth"][0]["function"] == "leaf"
    assert growth(answer)["leaf"]["kind"] == "slows down" and growth(answer)["caller"]["kind"] == "only grows"
    assert "only ever grows: caller" in said and "slowed down or stopped, as what fills up does: leaf" in said
    assert "--no-turbo-inlining" in said and "\nno function grows" not in said


def test_goroutines_that_pile_up(tmp_path):
    paths = series(tmp_path, [{"runtime.malg": 500 * i + 500, "runtime.main": 7} for i in range(9)], times=range(1, 10))
    said = run("leaks", *paths, code=0).out
    assert "goroutines pile up" not in said # it is not said to be of Go
    for p in paths:
        text = p.read_text().replace('"func":"main"', '"func":"runtime.systemstack"')
        p.write_text(text.replace('"source_tool":"test"', '"source_tool":"pprof"'))
    assert "goroutines pile up (runtime.malg grows)" in run("leaks", *paths, code=0).out


# Order

def test_dumps_are_put_in_order_by_their_times(tmp_path):
    paths = series(tmp_path, [{"f": v} for v in (10, 20, 30, 45)], times=[5, 6, 7, 8])
    given = [paths[i] for i in (2, 0, 3, 1)]
    a, b = ask("leaks", *paths), ask("leaks", *given)
    assert b["series"]["reordered"] and not a["series"]["reordered"]
    assert a["by_growth"] == b["by_growth"] and [d["seconds"] for d in b["dumps"]] == [0, 1, 2, 3]
    assert "not as given" in run("leaks", *given, code=0).out


@pytest.mark.parametrize("names, order, from_what", [
    (["app.0010.heap", "app.0009.heap", "app.0100.heap"], [1, 0, 2], "names"),
    (["jeprof.77.2.i2.heap", "jeprof.77.10.f.heap", "jeprof.77.0.i0.heap"], [2, 0, 1], "names"),
    (["later.heap", "first.heap", "x.heap"], [0, 1, 2], "given")])
def test_dumps_without_times_go_by_the_numbers_in_their_names(names, order, from_what, tmp_path):
    values = [100 * (order.index(i) + 1) for i in range(3)]
    paths = [series(tmp_path, [{"f": v}], name=name)[0] for name, v in zip(names, values)]
    answer = ask("leaks", *paths)
    assert answer["series"]["order_from"] == from_what and answer["series"]["rate_per"] == "dump"
    assert [os.path.basename(d["file"]) for d in answer["dumps"]] == [names[i] for i in order]
    assert answer["by_growth"][0]["rate"] == 100
    said = {"names": "by the numbers in the names", "given": "order: as given"}[from_what]
    assert said in run("leaks", *paths, code=0).out


def test_standard_input_may_be_any_of_them(tmp_path):
    paths = series(tmp_path, [{"f": v} for v in (10, 20, 30)], times=[5, 6, 7])
    want = ask("leaks", *paths)["by_growth"]
    for i in range(3):
        words = ["-" if k == i else p for k, p in enumerate(paths)]
        for given in (words, words[::-1]):
            assert ask("leaks", *given, stdin=paths[i].read_bytes())["by_growth"] == want


# Doubts

def test_a_file_that_is_given_twice(tmp_path):
    path = series(tmp_path, [{"f": 5}])[0]
    assert any("given twice" in d for d in ask("leaks", path, path)["doubts"])


def a_leak(n, other=(), **more):
    """Dumps of a leak; at the places of `other` those of a program that allocates more in all, but leaks nothing."""
    return [{"cache": (50, 5, 100000, 100)} if i in other else
            {"leak": (100 * i + 50, i + 1, 100 * i + 50, i + 1), "cache": (50, 5, 5000 + 100 * i, 50 + i)} for i in range(n)]


@pytest.mark.parametrize("where, name", [(8, "copy.spaa"), (8, "d3.spaa"), (0, "copy.spaa"), (5, "copy.spaa")])
def test_a_dump_that_is_there_twice_is_counted_once(where, name, tmp_path):
    paths = series(tmp_path, a_leak(8), times=[10 * i + 5 for i in range(8)])
    want = ask("leaks", *paths)
    (tmp_path / name).write_bytes(paths[3].read_bytes())
    given = paths[:where] + [tmp_path / name] + paths[where:]
    answer = ask("leaks", *given)
    assert answer["by_growth"] == want["by_growth"] and answer["series"]["order_from"] == "times"
    assert answer["series"]["dumps"] == 8 and growth(answer)["leak"]["kind"] == "only grows" and growth(answer)["leak"]["rate"] == 10
    assert any("counted once" in d for d in answer["doubts"]) and not any("one process" in d for d in answer["doubts"])


def test_a_copy_among_numbered_names_is_counted_once(tmp_path):
    paths = series(tmp_path, a_leak(8), name="t.%04d.heap")
    want = ask("leaks", *paths)
    (tmp_path / "copy.heap").write_bytes(paths[3].read_bytes())
    for given in ([tmp_path / "copy.heap", *paths], [*paths, tmp_path / "copy.heap"]):
        answer = ask("leaks", *given)
        assert answer["by_growth"] == want["by_growth"] and answer["series"]["order_from"] == "names"
        assert any("copy.heap is the same dump as" in d and "t.0003.heap: counted once" in d for d in answer["doubts"])


def test_an_idle_program_makes_dumps_that_are_the_same(tmp_path):
    answer = ask("leaks", *series(tmp_path, a_leak(1) * 4, times=[1, 2, 3, 4]))
    assert answer["series"]["dumps"] == 4 and {r["kind"] for r in answer["by_growth"]} == {"level"}
    answer = ask("leaks", *series(tmp_path, a_leak(1) * 4, name="t.%04d.heap"))
    assert answer["series"]["dumps"] == 4 and {r["kind"] for r in answer["by_growth"]} == {"level"}


def test_two_dumps_of_one_time_keep_the_times_of_all(tmp_path):
    answer = ask("leaks", *series(tmp_path, a_leak(8), times=[1, 2, 3, 3, 4, 5, 6, 7]))
    assert answer["series"]["order_from"] == "times" and growth(answer)["leak"]["kind"] == "only grows"
    equal = series(tmp_path, a_leak(3), times=[4, 4, 4], name="same%d.spaa")
    said = run("leaks", *equal, code=0).out
    assert "order: by the numbers in the names; their times are equal" in said and "no times" not in said


def withheld(answer):
    assert {r["kind"] for r in answer["by_growth"]} <= {"not known", "level"} and answer["series"]["kind"] == "not known"
    assert answer["series"]["rate"] is None and all(r["rate"] is None for r in answer["by_growth"])


def test_a_dump_whose_place_is_not_known(tmp_path):
    paths = series(tmp_path, a_leak(8), name="t.%04d.heap")
    extra = series(tmp_path, [{"leak": (420, 4, 420, 4), "cache": (50, 5, 5410, 54)}], name="extra.heap")
    answer = ask("leaks", *paths[:5], *extra, *paths[5:])
    withheld(answer)
    assert answer["doubts"][0].startswith("order not known: nothing tells where ") and "extra.heap" in answer["doubts"][0]
    said = run("leaks", *paths, *extra, code=0).out
    assert said.index("order not known") < said.index("live ") < said.index("growth") and "no function grows" not in said


def test_some_with_times_and_some_without(tmp_path):
    paths = series(tmp_path, a_leak(4), times=[1, 2, 3, 4])
    extra = series(tmp_path, a_leak(5)[4:], name="x.heap")
    answer = ask("leaks", *paths, *extra)
    withheld(answer)
    assert "x.heap belongs (others have times)" in answer["doubts"][0]


@pytest.mark.parametrize("n, other, odd", [(6, (3,), 3), (3, (1,), None), (6, (3, 4), None), (6, (5,), 5)])
def test_functions_whose_counters_fall_are_not_of_one_process(n, other, odd, tmp_path):
    """The sum of all goes up: another program allocated more."""
    values = a_leak(n, other)
    for i in range(max(other) + 1, n):
        values[i]["cache"] = (50, 5, 200000 + i, 200 + i)
    if odd == 3: # but that the others are of one process
        for i in (4, 5):
            values[i]["cache"] = (50, 5, 110000 + i, 200 + i)
    paths = series(tmp_path, values, times=range(1, n + 1))
    answer = ask("leaks", *paths)
    withheld(answer)
    said = run("leaks", *paths, code=0).out
    assert "no function grows" not in said and "caches are filled" not in said
    if odd is None:
        assert answer["doubts"][0].startswith("not one process") and "by leak falls from" in answer["doubts"][0]
    else:
        assert answer["doubts"][0].startswith(str(paths[odd]) + " is of another process: what was allocated in all by leak falls from")
    assert said.index(" process") < said.index("live ") # it stands first


def test_distances_between_samples_that_differ(tmp_path):
    paths = [series(tmp_path, [v], times=[i], period=4096 if i else 524288, name="d%d.spaa" % i)[0] for i, v in enumerate(a_leak(4))]
    answer = ask("leaks", *paths)
    withheld(answer)
    assert "several distances between samples" in answer["doubts"][0] and "d0.spaa alone" in answer["doubts"][0]


def test_counters_that_fall_are_not_of_one_process(tmp_path):
    values = [{"f": (10, 1, 1000, 100)}, {"f": (20, 2, 400, 40)}]
    answer = ask("leaks", *series(tmp_path, values, times=[1, 2]))
    assert any("falls from 1000 B to 400 B" in d for d in answer["doubts"])


def test_process_ids_in_the_names(tmp_path):
    paths = [series(tmp_path, [{"f": 5}], name=n)[0] for n in ("jeprof.7.0.i0.heap", "jeprof.8.1.i1.heap")]
    assert any("several process ids" in d for d in ask("leaks", *paths)["doubts"])


def test_commands_that_differ(tmp_path):
    paths = [series(tmp_path, [{"f": i}], name="d%d.spaa" % i, source={"command": c})[0] for i, c in ((1, "app -a"), (2, "app -b"))]
    assert any("several commands" in d for d in ask("leaks", *paths)["doubts"])
    assert not any("several" in d for d in ask("leaks", paths[0], paths[0])["doubts"])


def test_other_programs_are_an_error(tmp_path):
    a = series(tmp_path, [{"f": 5}], name="a.spaa", app="/opt/one")[0]
    text = a.read_text().replace("/opt/one", "/opt/two").replace('"main"', '"start"').replace('"f"', '"g"')
    (tmp_path / "b.spaa").write_text(text.replace("libc.so.6", "libd.so"))
    assert "other programs" in run("leaks", a, tmp_path / "b.spaa", code=2).err


def test_profiles_with_nothing_in_common(tmp_path):
    a, b = tmp_path / "a.spaa", tmp_path / "b.spaa"
    Profile(35).write(a)
    Profile(36).write(b, name="heap")
    assert "SPAA-E759" in run("leaks", a, b, code=2).err


@pytest.mark.parametrize("args, words", [(["-o", "x.spaa"], "-o"), (["--explain"], "--explain"), (["--time", "0..1"], "--time")])
def test_what_cannot_be_asked_of_several(args, words, tmp_path):
    paths = series(tmp_path, [{"f": 5}, {"f": 6}])
    assert words in run("timeline", *paths, *args, code=2).err


def test_filters(tmp_path):
    """What a filter is about may come later; in no dump it is a slip."""
    paths = series(tmp_path, [{"f": 5}, {"f": 5, "g": 7}, {"f": 6, "g": 9}], times=[1, 2, 3])
    answer = ask("leaks", *paths, "--focus", "^g$")
    assert [[v["value"] for v in r["values"]] for r in answer["by_growth"]] == [[0, 7, 9]]
    assert [d["live_bytes"] or 0 for d in answer["dumps"]] == [0, 7, 9]
    assert "nothing matches" in run("leaks", *paths, "--focus", "nothing", code=1).err


# Forms

@pytest.mark.parametrize("question", ["leaks", "timeline"])
@pytest.mark.parametrize("form", ["table", "csv", "markdown", "json"])
def test_every_form(question, form):
    out = run(question, *dumps("go"), "--format", form, code=0).out
    if form == "csv":
        assert out.startswith("growth," if question == "leaks" else "dump,seconds,file,")
    elif form != "json":
        assert "main.leakRow" in out
    if form == "table":
        assert max(map(len, out.splitlines())) <= 120


def test_rows_of_whole_stacks():
    answer = ask("leaks", *dumps("tcmalloc"), "--by", "stack")
    first = answer["by_growth"][0]
    assert first["function"] == "leak_row" and first["stack"].startswith("leak_row < main < ")


def test_next_commands_run():
    for kind in ("go", "jemalloc"):
        for question in ("leaks", "timeline"):
            for command in ask(question, *dumps(kind)[:4])["next"]:
                run(*command.split()[1:], code=0)


def varint(n):
    out = b""
    while True:
        n, low = n >> 7, n & 127
        out += bytes([low | (128 if n else 0)])
        if not n:
            return out


def test_a_profile_of_a_time_without_allocations_is_empty(tmp_path):
    """As Go writes heap?seconds=1: the types of a heap profile, and no sample."""
    text = lambda tag, b: varint(tag << 3 | 2) + varint(len(b)) + b
    number = lambda tag, n: varint(tag << 3) + varint(n)
    strings = ["", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space", "space"]
    raw = b"".join(text(1, number(1, a) + number(2, b)) for a, b in ((1, 2), (3, 4), (5, 2), (6, 4)))
    raw += b"".join(text(6, s.encode()) for s in strings) + number(9, 10**18) + number(10, 10**9)
    raw += text(11, number(1, 7) + number(2, 4)) + number(12, 524288)
    (tmp_path / "delta.pb.gz").write_bytes(gzip.compress(raw, mtime=0))
    err = run("leaks", tmp_path / "delta.pb.gz", code=2).err
    assert "the profile is empty" in err and "no event" not in err


def test_diff_of_two_dumps_is_of_no_runs():
    files = sorted(glob.glob(os.path.join(RECORDINGS, "jeprof.shop.*.heap")))[::2]
    files += ["--symfs", os.path.join(RECORDINGS, "symfs")]
    out = run("diff", *files).out
    words = " ".join(out.split("\n\n")[0].split())
    assert "a run" not in words and "two runs" not in words and "+56.3%" in words
    assert "next: spaa leaks " in out
    answer = ask("diff", *files)
    assert answer["next"][0].startswith("spaa leaks ") and answer["next"][1].startswith("spaa function ")
    assert "two runs" in run("diff", *files, "--metric", "alloc_bytes").out.replace("\n  ", " ")


# Recorded programs (tests/heap_series/README.md)

def test_a_go_program():
    answer = ask("leaks", *dumps("go"), "-n", 0)
    rows = growth(answer)
    leak = rows["main.leakRow"]
    assert leak["kind"] == "only grows" and answer["by_growth"][0] is not rows.get("main.churn")
    assert answer["by_growth"][0]["function"] == "main.leakRow" and leak["srcline"].endswith("main.go:20")
    # 6,400 blocks of 4,096 bytes in five stretches
    assert abs(leak["growth"] - 6400 * 4096) < 3 * leak["growth_sd"] + 1
    true = 6400 * 4096 / answer["series"]["seconds"]
    assert leak["rate_low"] < true < leak["rate_high"]
    assert rows["main.churn"]["kind"] not in ("only grows", "grows") and rows["main.fillCache"]["kind"] == "level"
    assert any("garbage collection" in d for d in answer["doubts"]) and answer["series"]["sampled_every"] == 524288


@pytest.mark.parametrize("kind", ["jemalloc", "tcmalloc"])
def test_a_program_of_c(kind):
    files = dumps(kind)
    answer = ask("leaks", *reversed(files), "-n", 0)
    rows = growth(answer)
    assert [os.path.basename(d["file"]) for d in answer["dumps"]] == list(map(os.path.basename, files))
    assert rows["leak_row"]["kind"] == "only grows" and answer["by_growth"][0]["function"] == "leak_row"
    assert rows["warm_up"]["kind"] == "level" and rows["cache_get"]["kind"] not in ("only grows", "grows")
    assert answer["series"]["rate_per"] == "dump" and answer["series"]["order_from"] == "names"
    last = rows["leak_row"]["last"]
    sd = rows["leak_row"]["values"][-1]["sd"]
    assert abs(last - 5000 * 4000) < 3 * sd + 1
    for path, d in zip(files, answer["dumps"]):
        assert d["live_bytes"] == ask("leaks", path)["memory"]["live_bytes"]


def test_timeline_of_dumps():
    answer = ask("timeline", *dumps("tcmalloc"))
    alloc = [ask("leaks", path)["memory"]["alloc_bytes"] for path in dumps("tcmalloc")]
    assert [d["allocated"] for d in answer["dumps"]] == [None] + [b - a for a, b in zip(alloc, alloc[1:])]
    assert all(d["changed"][0]["function"] == "leak_row" for d in answer["dumps"][1:])
    go = ask("timeline", *dumps("go"))
    for a, b in zip(go["dumps"], go["dumps"][1:]):
        assert b["seconds"] > a["seconds"] and b["live_change"] == b["live_bytes"] - a["live_bytes"]
        assert math.isclose(b["allocated_per_second"], b["allocated"] / (b["seconds"] - a["seconds"]), rel_tol=0.01)


def test_many_dumps(tmp_path):
    """Sixty of them, in a folder of their own."""
    for i in range(60):
        shutil.copy(dumps("tcmalloc")[i % 6], tmp_path / ("app.%04d.heap" % i))
    answer = ask("leaks", *sorted(tmp_path.iterdir()))
    assert answer["series"]["dumps"] == 60 and growth(answer)["leak_row"]["kind"] not in ("only grows", "grows")
    assert any("falls" in d for d in answer["doubts"])

"""The brief of a memory profile: sums and own functions against a plain reading, what grows, doubts, and its words."""

import collections
import glob
import json
import math
import os
import random
import re

import pytest

import gen_heaptrack
import profiles
from conftest import CORPUS, ROOT, ask, run, unwrapped

METRICS = ["live_bytes", "live_count", "alloc_bytes", "alloc_count", "free_bytes", "free_count", "x_temporary_count",
           "peak_bytes"]
FACTS = {"live_bytes": "live_bytes", "live_count": "live_blocks", "alloc_bytes": "allocated_bytes",
         "alloc_count": "calls", "x_temporary_count": "temporary_calls", "peak_bytes": "peak_bytes"}
LIB = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"
OWN = ["main", "parse", "cache::insert(int)", "render"]
ALLOCATORS = ["operator new(unsigned long)", "malloc", "xmalloc"]
LIBRARY = ["std::string::_M_create(unsigned long&, unsigned long)", "helper"]
MIX = os.path.join(CORPUS, "heap", "made", "heaptrack.mix.zst")


def frame(name, line=None):
    return {"func": name, "dso": LIB if name in LIBRARY else "/bin/app", **({"srcline": line} if line else {})}


def event(of_total=True, primary="alloc_bytes", mode="event", timed=True, **more):
    tracking = {"tracks_frees": True, "has_timestamps": timed, **({"x_peak": "of_total"} if of_total else {})}
    one = profiles.event("malloc", primary, "allocation", mode, allocation_tracking=tracking)
    one["sampling"].update(more)
    return one


def weights(size, allocs, frees=0, temporary=0, peak=0):
    live = allocs - frees
    return dict(zip(METRICS, [size * live, live, size * allocs, allocs, size * frees, frees, temporary, peak]))


def write(tmp_path, stacks, events=None, windows=None, **header):
    """windows: [[live bytes gained of each stack]]."""
    path = tmp_path / "m.spaa"
    after = [{"type": "window", "id": "w%d" % i, "start": i, "end": i + 1, "unit": "seconds",
              "by_stack": [{"stack_id": "s%d" % k, "weights": [{"metric": "live_bytes", "value": v}]}
                           for k, v in enumerate(gained)]} for i, gained in enumerate(windows or [])]
    path.write_text(profiles.text(stacks, events or [event()], after=after, tool=header.pop("tool", "heaptrack"), **header))
    return path


def brief(*args, **more):
    return run("summary", *args, code=0, **more).out


def owner(names):
    """The own function nearest to the allocator, or None."""
    return next((name for name in names if name in OWN), None)


@pytest.mark.parametrize("seed", range(6))
def test_own_functions_and_sums(tmp_path, seed):
    r, stacks, truth = random.Random(seed), [], collections.defaultdict(collections.Counter)
    for names in {tuple(r.choice(ALLOCATORS + LIBRARY + OWN) for _ in range(r.randrange(1, 6))) for _ in range(60)}:
        allocs = r.randrange(1, 50)
        w = weights(r.choice([1, 16, 1000, 1 << 20]), allocs, r.choice([0, allocs, r.randrange(allocs + 1)]),
                    r.randrange(3), r.randrange(1 << 22))
        stacks.append(([frame(n) for n in names], w))
        truth[owner(names)].update(w)
        truth["all"].update(w)
    answer = ask("summary", write(tmp_path, stacks))
    for metric, fact in FACTS.items():
        assert answer["memory"][fact] == truth["all"][metric]
    names = [row["name"] for row in answer["memory_owners"]]
    assert len(set(names)) == len(names) and set(names) <= set(truth)
    for row in answer["memory_owners"]:
        for metric, column in [*FACTS.items()][:4] + [("peak_bytes", "peak_bytes"), ("x_temporary_count", "temporary_calls")]:
            assert row[column] == truth[row["name"]][metric]
        if truth["all"]["live_bytes"]:
            assert abs(float(row["live_percent"]) - 100 * row["live_bytes"] / truth["all"]["live_bytes"]) < 0.006
    ranked = answer["memory"]["ranked_by"]
    heaviest = max((n for n in truth if n not in (None, "all")), key=lambda n: truth[n][ranked])
    assert truth[names[0]][ranked] == truth[heaviest][ranked]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["interpreted", "raw"])
def test_sums_of_heaptrack(tmp_path, seed, form):
    trace = gen_heaptrack.Trace(seed)
    (tmp_path / "h").write_bytes(getattr(trace, form)())
    costs, peak, when = trace.truth()
    memory = ask("summary", tmp_path / "h")["memory"]
    hidden = memory["suppressed_bytes"] or 0
    assert memory["live_bytes"] + hidden == sum(c.live_bytes for c in costs.values())
    assert memory["peak_bytes"] == peak and round(memory["peak_seconds"] * 1000) == when
    assert memory["allocated_bytes"] == sum(c.alloc_bytes for c in costs.values())
    assert memory["calls"] == sum(c.alloc_count for c in costs.values())
    assert memory["temporary_calls"] == sum(c.temporary for c in costs.values())


@pytest.mark.skipif(not os.path.exists(MIX), reason="no corpus")
def test_as_heaptrack_print_says():
    with open(MIX.replace(".zst", ".heaptrack_print.txt")) as f:
        said = dict(re.findall(r"^(total runtime|calls to allocation functions|temporary memory allocations|"
                               r"peak heap memory consumption|total memory leaked): ([\d.]+\w*)", f.read(), re.M))
    memory = ask("summary", MIX)["memory"]
    assert int(said["calls to allocation functions"]) == memory["calls"]
    assert int(said["temporary memory allocations"]) == memory["temporary_calls"]
    for words, v in [("peak heap memory consumption", "peak_bytes"), ("total memory leaked", "live_bytes")]:
        number, unit = re.match(r"([\d.]+)(\w*)", said[words]).groups()
        assert abs(float(number) * {"B": 1, "K": 1000, "M": 1e6}[unit or "B"] - memory[v]) <= 6
    out = brief(MIX)
    assert "leaky_cache_insert" in [x for x in out.splitlines() if x.startswith("may leak")][0]


# What grows, and what was lost

GROWING = [([frame(LIBRARY[0]), frame("cache::insert(int)", "/src/cache.cpp:21"), frame("main")], weights(1000, 8)),
           ([frame("malloc"), frame("main", "/src/main.cpp:5")], weights(4000, 1)),
           ([frame("malloc"), frame("render"), frame("main")], weights(50, 1000, 900, 800)),
           ([frame("malloc"), frame("parse"), frame("main")], weights(100000, 5, 5, 0, 16000))]


def test_what_grows_is_not_behind_its_container(tmp_path):
    path = write(tmp_path, GROWING, windows=[[1000, 4000 * (i == 0), 5000 * (i == 0), 0] for i in range(8)])
    out = brief(path)
    assert "\nmay leak  cache::insert cache.cpp:21  7.81 KiB in 8 blocks, growing +1000 B/s\n" in out
    assert "\nmay leak  main main.cpp:5  3.91 KiB in 1 block, never freed, flat from 1 s on\n" in out
    assert [x.split()[2] for x in out.splitlines() if x.startswith("may leak")] == ["cache::insert", "render", "main"]
    assert "\nmay leak  render  4.88 KiB in 100 blocks, partly freed, 10 % left" in out
    assert "_M_create" not in out
    answer = ask("summary", path)
    first, _, second = answer["memory_leaks"]
    assert first["state"] == "growing" and first["never_freed"] and first["bytes_per_second"] == 1000
    assert first["bytes_per_second_doubt"] == 0 and first["live_bytes_by_quarter"] == [2000] * 4
    assert second["state"] == "never freed" and second["bytes_per_second"] is None
    assert "parse" in [row["name"] for row in answer["memory_owners"]]  # nothing is live of it, but at the peak


def test_the_pace_is_that_of_leaks(tmp_path):
    windows = [[1000 + 400 * (i % 3)] for i in range(12)]
    path = write(tmp_path, [([frame("main")], weights(1, sum(w[0] for w in windows)))], windows=windows)
    row = ask("summary", path)["memory_leaks"][0]
    assert float(row["bytes_per_second"]) == pytest.approx(sum(w[0] for w in windows[3:]) / 9)
    pace = re.search(r"growing ([^;\n]*/s ± \S+)", run("leaks", path, code=0).out)[1]
    assert "growing %s\n" % pace in brief(path)


def test_nothing_grows(tmp_path):
    windows = [[8000 * (i == 0), 4000 * (i == 0), 5000 * (i == 0), 0] for i in range(8)]
    path = write(tmp_path, GROWING, windows=windows)
    out = brief(path)
    assert "\nnothing grows in each of the last three quarters of the time\n" in out and "growing" not in out
    assert ask("summary", path)["memory"]["live_after_quarter"] == [17000] * 4
    out = brief(write(tmp_path, GROWING, windows=[[8000 * (i == 0), 0, 0, 0] for i in range(8)]))
    assert "\nno one function grows in each of the last three quarters of the time\n" in out  # of all it is not known


def test_many_functions_that_grow_one_after_the_other(tmp_path):
    stacks = [([frame("malloc"), frame("handler_%d" % i), frame("main")], weights(1000, 1)) for i in range(40)]
    path = write(tmp_path, stacks, windows=[[1000 * (i == k) for i in range(40)] for k in range(40)])
    out = brief(path)
    assert "\nlive grows: 9.77 KiB, 19.53 KiB, 29.30 KiB, 39.06 KiB at the quarters; no one function " in out
    assert "nothing grows" not in out
    assert ask("summary", path)["memory"]["live_after_quarter"] == [10000, 20000, 30000, 40000]


def test_growth_that_cannot_be_known(tmp_path):
    out = brief(write(tmp_path, GROWING))
    assert "growing" not in out and "nothing grows" not in out
    assert "cannot know: what grew: the file has no windows of time, or too few; settle it: spaa convert" in out
    later = brief(write(tmp_path, GROWING, [event(timed=False)], tool="jemalloc"))
    assert "cannot know: what grows: this is one moment; settle it: a later profile, then spaa leaks FILE LATER" in later
    assert "at the end" not in later and "at the end" in out


def test_windows_that_are_not_of_time(tmp_path):
    path = write(tmp_path, GROWING, windows=[[1000, 0, 0, 0]] * 8)
    path.write_text(path.read_text().replace('"unit":"seconds"', '"unit":"instructions"').replace(
        '"unit": "seconds"', '"unit": "instructions"'))
    assert "instructions" in path.read_text()
    out = brief(path)
    assert out.startswith("live 16.60 KiB (malloc) in 109 blocks") and "growing" not in out


@pytest.mark.parametrize("header,said", [
    ({"x_massif": {"time_unit": "i", "peak": {"time": 353369}}}, "peak 15.63 KiB after 353,369 instructions"),
    ({"x_massif": {"time_unit": "ms", "peak": {"time": 1500}}}, "peak 15.63 KiB at 1.50 s"),
    ({"x_dhat": {"time_unit": "instrs", "peak": 12}}, "peak 15.63 KiB after 12 instructions"),
    ({"x_heaptrack": {"totals": {"peak_time_ms": 876, "peak_rss_bytes": 4096, "runtime_ms": 1613}}},
     "peak 15.63 KiB at 0.88 s"),
])
def test_when_the_peak_was(tmp_path, header, said):
    out = brief(write(tmp_path, GROWING, **header))
    assert said in out.splitlines()[0]
    memory = ask("summary", tmp_path / "m.spaa")["memory"]
    assert (memory["peak_seconds"] is None) == (memory["peak_after"] is not None)
    if "x_heaptrack" in header:
        assert memory["rss_peak_bytes"] == 4096 and "in 1.61 s" in out and "RSS at most 4.00 KiB" in out


def test_nobody_is_known_to_hold_what_a_snapshot_without_stacks_has(tmp_path):
    w = dict(weights(1, 0, 0, 0, 5000), live_bytes=0)
    stacks = [([frame("malloc"), frame("main")], w), ([frame("[no stacks in this snapshot]")], {"live_bytes": 700})]
    out = brief(write(tmp_path, stacks, [event(primary="peak_bytes")], tool="valgrind"))
    assert out.startswith("live 700 B") and "none of the live bytes has an own function" not in out.splitlines()[2]
    assert ask("summary", tmp_path / "m.spaa")["memory"]["live_bytes"] == 700


def test_lost_or_reachable(tmp_path):
    kinds = ["definite", "indirect", "possible", "reachable"]
    stacks = [([frame("malloc"), frame(OWN[i]), frame("main")], weights(100 * (i + 1), 2),
               {"x_labels": {"leak_kind": kind}}) for i, kind in enumerate(kinds)]
    out = brief(write(tmp_path, stacks))
    assert (" lost or reachable: definite 200 B in 2 blocks, indirect 400 B in 2 blocks, possible 600 B in 2 blocks, "
            "reachable 800 B in 2 blocks ") in unwrapped(out)
    lost = [x for x in out.splitlines() if x.startswith("lost  ")]
    assert [x.split()[1] for x in lost] == ["main", "parse", "cache::insert"] and lost[0] == "lost  main  definite 200 B in 2 blocks"
    assert "could still be reached" not in out and "what grew" not in out
    answer = ask("summary", tmp_path / "m.spaa")
    assert answer["memory"]["lost"] == {"definite": 200, "indirect": 400, "possible": 600, "other": None, "reachable": 800}
    assert answer["memory_leaks"][0]["leak_kind"] == "definite"


# What sorts, and what is said

@pytest.mark.parametrize("live,peak,by", [(50, 1000, "live"), (49, 1000, "peak"), (0, 1000, "peak"), (0, 0, "allocated")])
def test_what_matters(tmp_path, live, peak, by):
    stacks = [([frame("main")], dict(weights(1, 5000), live_bytes=live, live_count=live, peak_bytes=peak))]
    path = write(tmp_path, stacks)
    assert "own functions, by %s " % by in brief(path)
    ranked = {"live": "live_bytes", "peak": "peak_bytes", "allocated": "alloc_bytes"}[by]
    assert ask("summary", path)["memory"]["ranked_by"] == ranked
    assert ask("summary", path)["profile"]["metric"] == ranked
    asked = ask("summary", path, "--metric", "alloc_count")
    assert asked["memory"]["ranked_by"] == asked["profile"]["metric"] == "alloc_count"


def test_the_profile_of_allocations_of_a_sampler_is_of_these(tmp_path):
    stacks = [([frame("main")], weights(1 << 20, 20, 1))]
    path = write(tmp_path, stacks, [event(False, "alloc_bytes", "period", False, sample_period=524288)])
    assert ask("summary", path)["memory"]["ranked_by"] == "alloc_bytes"


def test_peaks_of_other_moments(tmp_path):
    out = brief(write(tmp_path, GROWING, [event(False)]))
    assert "peak" not in out.split("next: ")[0] and "--metric peak" not in out
    assert ask("summary", tmp_path / "m.spaa")["memory"]["peak_bytes"] is None


def test_a_record_without_the_metric_counts_too(tmp_path):
    stacks = [([frame("main")], weights(100, 10)), ([frame("render")], {"alloc_bytes": 7000, "alloc_count": 7})]
    memory = ask("summary", write(tmp_path, stacks))["memory"]
    assert memory["allocated_bytes"] == 8000 and memory["calls"] == 17 and memory["live_bytes"] == 1000


def test_filters(tmp_path):
    path = write(tmp_path, GROWING)
    out = brief(path, "--focus", "parse")
    assert "15.63 KiB of the peak" in out and "allocated 488.28 KiB by 5 calls" in out and "own functions, by peak" in out
    assert ask("summary", path, "--focus", "parse")["memory"]["calls"] == 5


def test_without_own_functions(tmp_path):
    stacks = GROWING + [([frame("malloc"), frame("helper")], weights(100, 500))]
    out = brief(write(tmp_path, stacks))
    assert "of live bytes has no own function on its stack (most: helper 48.83 KiB)" in out
    assert "\nmay leak  helper  48.83 KiB in 500 blocks, never freed\n" in out
    none = brief(write(tmp_path, [([frame("malloc"), frame("helper")], weights(100, 500))]))
    assert "functions (none is known to be own), by live" in none and "\nhelper " in none


def test_what_is_not_the_programs_does_not_leak_unless_it_is_most(tmp_path):
    """The emergency pool of the C++ runtime: the program did not ask for it. An address is told with its binary."""
    stacks = GROWING + [([frame("malloc"), frame("0x7f46b5ea57b9")], weights(73728, 1))]
    stacks[-1][0][1]["dso"] = LIB
    few = stacks[:-1] + [(stacks[-1][0], weights(8000, 1))]
    out = brief(write(tmp_path, few))
    assert "0x7f46" not in "".join(x for x in out.splitlines() if x.startswith("may leak"))
    assert "has no own function on its stack (most: libstdc++.so.6 0x7f46b5ea57b9 7.81 KiB)" in out
    assert "\nmay leak  libstdc++.so.6 0x7f46b5ea57b9  72.00 KiB in 1 block, never freed\n" in brief(write(tmp_path, stacks))


def names(n):
    return ["f%02d" % i for i in range(n)]


def test_nothing_that_holds_much_is_hidden(tmp_path):
    """By live bytes, whatever was freed of it; and what has no room is counted."""
    stacks = [([{"func": f, "dso": "/bin/app"}, frame("main")], weights(1000 * (20 - i), 10, i % 3))
              for i, f in enumerate(names(9))]
    answer = ask("summary", write(tmp_path, stacks))
    live = {f: w["live_bytes"] for (f, *_), w in ((([x["func"] for x in s]), w) for s, w in stacks)}
    by_live = sorted(live, key=live.get, reverse=True)
    assert [r["name"] for r in answer["memory_leaks"]] == by_live[:6]
    assert [r["name"] for r in answer["memory_owners"]][:6] == by_live[:6]
    out = brief(tmp_path / "m.spaa", "--budget", "3000")
    assert [x.split()[2] for x in out.splitlines() if x.startswith("may leak")] == by_live[:6]
    left = sum(live[f] for f in by_live[6:]) / sum(live.values())
    assert "\n3 more, %.0f %% of live (spaa leaks)\n" % (100 * left) in out
    short = brief(tmp_path / "m.spaa", "--budget", "300")
    shown = [x.split()[2] for x in short.splitlines() if x.startswith("may leak")]
    assert shown == by_live[:len(shown)] and len(shown) < 6
    more = next(x for x in short.splitlines() if re.match(r"\d+ more, .* of live: ", x))
    assert more.startswith("%d more, " % (9 - len(shown))) and by_live[len(shown)] + " " in more and len(more) <= 120


def test_a_tail_of_small_functions_is_counted(tmp_path):
    stacks = [([{"func": f, "dso": "/bin/app"}], weights(10 if i else 5000, 1)) for i, f in enumerate(names(90))]
    out = brief(write(tmp_path, stacks))
    assert "\n89 more, 15 % of live (spaa leaks)\n" in out


def test_a_wrapper_of_the_programs_is_proposed_to_be_seen_through(tmp_path):
    stacks = [([frame("malloc"), {"func": "my_xmalloc", "dso": "/bin/app"}, frame(f), frame("main")], weights(100, n))
              for f, n in [("render", 70), ("parse", 30)]]
    path = write(tmp_path, stacks)
    assert "summary --allocators my_xmalloc (by its callers)" in unwrapped(brief(path))
    command = next(c for c in ask("summary", path)["next"] if "--allocators" in c)
    assert command == "spaa summary %s --allocators my_xmalloc" % path
    through = ask("summary", path, "--allocators", "my_xmalloc")
    assert [r["name"] for r in through["memory_owners"]] == ["render", "parse"]
    assert not any("summary" in c for c in through["next"])
    alone = write(tmp_path, stacks[:1])
    assert not any("--allocators" in c for c in ask("summary", alone)["next"])


@pytest.mark.parametrize("rss,unseen", [(27 << 20, True), (7 << 20, False), (None, False)])
def test_memory_that_the_recorder_did_not_see(tmp_path, rss, unseen):
    totals = {"peak_time_ms": 1, "runtime_ms": 20, **({"peak_rss_bytes": rss} if rss else {})}
    stacks = [([frame("malloc"), frame("main")], weights(100, 5, 1, 0, 70000)),
              ([frame("malloc"), frame("0x7f46b5ea57b9")], weights(100, 5, 5, 0, 71000))]
    path = write(tmp_path, stacks, x_heaptrack={"totals": totals})
    out = unwrapped(brief(path))
    assert ("! MOST MEMORY UNSEEN: RSS 27.00 MiB, at most 137.70 KiB seen: an allocator linked into" in out) == unseen
    assert ("MALLOC_CONF=prof:true (Rust: _RJEM_MALLOC_CONF)" in out) == unseen
    if unseen:
        assert ask("summary", path)["warnings"][0]["id"] == "memory_unseen"
        assert "--by dso" not in out and ask("summary", path)["next"]
        assert "UNSEEN" not in brief(path, "--focus", "main")


def test_much_memory_that_was_seen_is_no_reason(tmp_path):
    header = {"x_heaptrack": {"totals": {"peak_rss_bytes": 27 << 20}}}
    assert "UNSEEN" not in brief(write(tmp_path, [([frame("main")], weights(1, 5, 1, 0, 3 << 20))], **header))


def test_the_last_snapshot_is_not_the_end(tmp_path):
    path = write(tmp_path, GROWING, x_massif={"time_unit": "ms", "peak": {"time": 1500}})
    assert " blocks at the last snapshot; peak" in brief(path) and "at the end" not in brief(path)
    assert not ask("summary", path)["memory"]["at_end"]
    leaks = run("leaks", path, code=0).out
    assert " blocks at the last snapshot (" in leaks and "at the end" not in leaks


def test_leaks_says_the_moment_too(tmp_path):
    dump = run("leaks", write(tmp_path, GROWING, [event(timed=False)], tool="jemalloc"), code=0).out
    assert "live 16.60 KiB in 109 blocks (" in dump
    assert " blocks at the end (" in run("leaks", write(tmp_path, GROWING), code=0).out
    (tmp_path / "h").write_bytes(gen_heaptrack.Trace(2).interpreted())
    assert re.search(r"^live .* blocks? at 0\.5 s", run("leaks", tmp_path / "h", "--at", "0.5", code=0).out, re.M)


def test_callers_of_a_wrapper(tmp_path):
    stacks = [([frame("malloc"), frame("parse"), frame(f), frame("main")], weights(100, n))
              for f, n in [("render", 70), ("cache::insert(int)", 30)]]
    out = brief(write(tmp_path, stacks))
    assert re.search(r"\nparse +9.77 KiB +100 % .*< render < main 70.00%; 1 other caller", out)
    row = ask("summary", tmp_path / "m.spaa")["memory_owners"][0]
    assert row["own_callers"] == ["render", "main"] and row["own_callers_others"] == 1


def test_who_a_wrapper_leaks_for(tmp_path):
    out = brief(write(tmp_path, [([frame(f) for f in ("malloc", "parse", "render", "main")], weights(100, 7))]))
    assert "may leak  parse  700 B in 7 blocks, never freed  < render < main\n" in out
    assert ask("summary", tmp_path / "m.spaa")["memory_leaks"][0]["own_callers"] == ["render", "main"]


def test_one_frame_behind_an_allocator_is_a_caller(tmp_path):
    assert "NO CALLERS" not in brief(write(tmp_path, [([frame("malloc"), frame("main")], weights(100, 500))]))
    assert "NO CALLERS" in brief(write(tmp_path, [([frame("main")], weights(100, 500))]))


def test_next(tmp_path):
    path = write(tmp_path, GROWING, windows=[[1000, 0, 0, 0]] * 8)
    out = brief(path).splitlines()
    assert out[-2] == "next: spaa leaks %s" % path
    assert out[-1] == ("also: leaks --metric peak (the peak); timeline --metric live_bytes (when); "
                       "leaks --metric calls (churn)")
    for command in ask("summary", path)["next"]:
        assert command.startswith("spaa ")
        run(*command.split()[1:], code=0)


# Samples

def test_doubt_of_samples(tmp_path):
    period, stacks = 524288, [(1000, 20000), (1 << 20, 30)]
    path = write(tmp_path, [([frame(OWN[i]), frame("main")], weights(*s)) for i, s in enumerate(stacks)],
                 [event(False, "live_bytes", "period", False, sample_period=period)], tool="tcmalloc")
    variance = 0
    for size, n in stacks:
        chance = 1 - math.exp(-size / period)
        variance += n * size * size * (1 - chance) / chance
    memory = ask("summary", path)["memory"]
    assert memory["live_doubt_bytes"] == pytest.approx(1.96 * math.sqrt(variance), rel=1e-6)
    assert memory["sampled_every_bytes"] == period
    out = brief(path)
    assert re.match(r"live 49\.07 MiB ± [\d.]+ MiB \(malloc\) in about 20,030 blocks", out)
    assert "places that hold less than 1.50 MiB: they may have no sample; settle it: TCMALLOC_SAMPLE_PARAMETER" in out


def test_the_doubt_holds():
    """Samples are taken as samplers take them: the truth is within the doubt in 95 of 100 cases or so."""
    r, period, size, n = random.Random(5), 4096, 64, 4000
    chance, held = 1 - math.exp(-size / period), 0
    for _ in range(60):
        samples = sum(r.random() < chance for _ in range(n))
        blocks = samples / chance
        variance = blocks * size * size * (1 - chance) / chance
        held += abs(blocks * size - n * size) <= 1.96 * math.sqrt(variance)
    assert held >= 51


def test_numbers_that_nobody_scaled_have_no_doubt(tmp_path):
    path = write(tmp_path, [([frame("main")], weights(1000, 1))],
                 [event(False, "live_bytes", "period", False, sample_period=524288)])
    assert ask("summary", path)["memory"]["live_doubt_bytes"] == 0


def test_go_says_what_its_profile_is_of(tmp_path):
    stacks = [([frame("runtime.mallocgc"), frame("main.grow"), frame("main.main"), frame("runtime.main")],
               weights(1 << 20, 20))]
    out = brief(write(tmp_path, stacks, [event(False, "live_bytes", "period", False, sample_period=524288)], tool="pprof"))
    assert "cannot know: what was allocated since the last garbage collection; settle it: /debug/pprof/heap?gc=1" in out
    assert "GODEBUG=memprofilerate" in out and "\nmain.grow " in out


# CPU time beside it, and form

def test_a_recording_of_cpu_time_says_what_it_has_of_memory(tmp_path):
    cpu = profiles.event("cpu-clock", "period", "software")
    stacks = [([frame("main")], 5_000_000, {"event": "cpu-clock"})] + [(f, w, {"event": "malloc"}) for f, w in GROWING]
    path = write(tmp_path, stacks, [cpu, event()], tool="perf")
    out = brief(path, "--event", "cpu-clock")
    assert out.splitlines()[1] == "memory: live 16.60 KiB, peak 15.63 KiB, allocated 548.83 KiB (--event malloc)"
    assert brief(path, "--event", "malloc").startswith("live 16.60 KiB (malloc)")


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(ROOT, "tests", "fixtures", "*", "*heap*"))))
def test_it_fits(path):
    answer = run("summary", path)
    if answer.code not in (0, 3):
        return
    lines = answer.out.splitlines()
    assert len(lines) <= 40 and len(answer.out) <= 1900 and max(map(len, lines), default=0) <= 120


def test_it_is_short(tmp_path):
    path = write(tmp_path, GROWING, windows=[[1000, 4000 * (i == 0), 5000 * (i == 0), 0] for i in range(8)])
    out = brief(path.name, cwd=tmp_path)
    assert len(out) <= 1300


def test_samples_are_kept_where_they_are_asked_for(tmp_path):
    (tmp_path / "h").write_bytes(gen_heaptrack.Trace(1).interpreted())
    assert ask("summary", tmp_path / "h")["memory"]["calls"]
    part = ask("summary", tmp_path / "h", "--time", "0..0.5")
    assert part["profile"]["filters"] and part["kept"] == ask("top", tmp_path / "h", "--time", "0..0.5")["kept"]
    assert "memory" not in part  # it is all of the time


def test_at_a_moment(tmp_path):
    """The recording as it was then: nothing later counts."""
    trace = gen_heaptrack.Trace(2)
    (tmp_path / "h").write_bytes(trace.interpreted())
    when = trace.now // 2
    sums = collections.Counter()
    for e in trace.events:
        if e[0] == "c" and e[1] >= when:
            break
        sums["calls"] += e[0] == "+"
        sums["live_blocks"] += {"+": 1, "-": -1}.get(e[0], 0)
    memory = ask("summary", tmp_path / "h", "--at", "%.3f" % (when / 1000))["memory"]
    assert memory["calls"] == sums["calls"] and not memory["at_end"]
    assert brief(tmp_path / "h", "--at", "%.3f" % (when / 1000)).split(";")[0].endswith(" at %.3f s" % (when / 1000))


def test_csv_has_the_tables(tmp_path):
    out = run("summary", write(tmp_path, GROWING), "--format", "csv", code=0).out
    assert "id,name,dso,line,live_bytes,live_blocks,peak_bytes,allocated_bytes,calls,state" in out
    assert json.loads(run("summary", tmp_path / "m.spaa", "--json", code=0).out)["memory_owners"]


def test_blocks_without_a_call_stack(tmp_path):
    path = tmp_path / "jeprof.1.heap"
    path.write_text("heap_v2/1\n@\n  t*: 3: 30 [3: 30]\n")
    text = run("summary", path, code=0).out
    assert "live 30 B" in text and re.search(r"\[no own function\] +30 B", text)

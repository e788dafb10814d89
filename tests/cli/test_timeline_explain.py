"""timeline --explain: phases that were put into samples are found where they are, and none where there are none."""

import random
import re

import pytest

import profiles
from conftest import ask, run

BACKGROUND = {"f%d" % i: 1 / (i + 1) for i in range(40)}


def draw(r):
    return r.choices(list(BACKGROUND), list(BACKGROUND.values()))[0]


def recording(tmp_path, seconds, phase=lambda t: None, load=lambda t: 1.0, item=0.0, rate=999, threads=1, seed=1, poisson=False,
              name="r.perf-script.txt"):
    """perf script's text of a program whose threads run `phase(t)`, else functions by chance, for `item` seconds each."""
    r = random.Random(seed)
    samples = []
    for thread in range(threads):
        t, left, leaf = 0, 0, None
        while True:
            step = r.expovariate(rate) if poisson else r.uniform(0.97, 1.03) / rate
            t += step
            left -= step
            if t >= seconds:
                break
            while left <= 0:
                leaf, left = draw(r), left + (r.expovariate(1 / item) if item else step)
            if r.random() < load(t):
                own = phase(t)
                samples.append((t, thread, [own, "in_" + own] if own else [leaf, "usual"]))
    path = tmp_path / name
    path.write_text("".join("app 7/%d %.6f: 1001001 cpu-clock: \n%s\n" % (
        10 + thread, 100 + t, "".join("\t%x %s+0x1 (/bin/app)\n" % (0x1000 + hash(f) % 1000, f) for f in frames + ["main", "_start"]))
        for t, thread, frames in sorted(samples)))
    return path, samples


def explain(path, *more):
    answer = ask("timeline", path, "--explain", *more)
    said = run("timeline", path, "--explain", *more, code=0).out.splitlines()
    assert all(len(s) <= 120 for s in said)
    return answer, said


# True

CASES = {
    "another function": (8, [(4, 6, 0.02)], dict(phase=lambda t: "rebuild" if 4 <= t < 6 else None), "rebuild"),
    "beside calls of 10 ms": (8, [(4, 6, 0.1)], dict(phase=lambda t: "rebuild" if 4 <= t < 6 else None, item=0.01), "rebuild"),
    "several threads": (4, [(1, 2, 0.05)], dict(phase=lambda t: "rebuild" if 1 <= t < 2 else None, threads=3), "rebuild"),
    "at the start": (8, [(0, 0.3, 0.02)], dict(phase=lambda t: "init" if t < 0.3 else None), "init"),
    "at the end": (8, [(7.5, 8, 0.02)], dict(phase=lambda t: "flush" if t >= 7.5 else None), "flush"),
    "comes back": (10, [(i + 0.95, i + 1, 0.02) for i in range(10)], dict(phase=lambda t: "gc" if t % 1 >= 0.95 else None), "gc"),
    "two": (4, [(i + 0.5, i + 1, 0.02) for i in (0, 2)], dict(phase=lambda t: "b" if t % 2 >= 0.5 and t % 2 < 1 else None), "b"),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_function_that_runs_only_then(tmp_path, case):
    seconds, want, how, name = CASES[case]
    path, samples = recording(tmp_path, seconds, **how)
    answer, said = explain(path)
    phase = answer["phases"][0]
    got = [(float(s["start"]), float(s["end"])) for s in phase["stretches"]]
    start = min(t for t, _, _ in samples)
    assert len(got) == len(want) and len(answer["phases"]) == 1
    for (lo, hi), (a, b, off) in zip(got, want):
        assert abs(lo + start - a) <= off and abs(hi + start - b) <= off, (lo, hi)
    first = phase["functions"][0]
    assert first["function"] == name and first["only"]
    assert name in said[0] and "seen at no other time" in said[0] and "as heavy as the rest" in said[0]
    # What is counted is what the samples in these stretches are.
    inside = [f for t, _, f in samples if any(lo + start <= t < hi + start for lo, hi in got)]
    assert abs(phase["samples"] - len(inside)) <= 2 * len(got)
    assert abs(float(first["share"]) - 100 * sum(name in f for f in inside) / len(inside)) < 1
    assert first["difference"]["low"] <= first["share"] - first["rest"]["share"] <= first["difference"]["high"]


def test_boundaries_are_within_their_doubt(tmp_path):
    right = 0
    for seed in range(12):
        r = random.Random(seed)
        a = r.uniform(1, 2)
        b = a + r.uniform(0.4, 1.5)
        path, samples = recording(tmp_path, 5, lambda t: "x" if a <= t < b and r.random() < 0.5 else None, seed=seed)
        s = ask("timeline", path, "--explain")["phases"][0]["stretches"][0]
        start = min(t for t, _, _ in samples)
        right += abs(float(s["start"]) + start - a) <= s["start_doubt"] and abs(float(s["end"]) + start - b) <= s["end_doubt"]
    assert right >= 10


@pytest.mark.parametrize("share,found", [(0.3, True), (0.1, True), (0.003, False)])
def test_a_part_of_a_stretch(tmp_path, share, found):
    r = random.Random(5)
    path, _ = recording(tmp_path, 8, lambda t: "extra" if 3 <= t < 4 and r.random() < share else None)
    phases = explain(path)[0]["phases"]
    assert [p["functions"][0]["function"] for p in phases] == (["extra"] if found else [])


def test_a_heavy_stretch_of_the_same_work(tmp_path):
    path, _ = recording(tmp_path, 8, load=lambda t: 0.9 if 4 <= t < 6 else 0.15)
    answer, said = explain(path)
    phase, = answer["phases"]
    assert 5 < phase["ratio"] < 7 and not phase["quiet"] and not phase["functions"]
    assert abs(float(phase["start"]) - 4) < 0.1 and re.search(r"×(5\.[5-9]|6)", said[0]) and "the same work" in said[0]


def test_a_light_stretch_of_the_same_work_may_be_the_machine(tmp_path):
    path, _ = recording(tmp_path, 8, load=lambda t: 0.4 if 4 <= t < 6 else 0.8)
    answer, said = explain(path)
    phase, = answer["phases"]
    text = " ".join(said)
    assert 0.4 < phase["ratio"] < 0.6 and not phase["quiet"] and not phase["functions"]
    assert "the CPU time of the rest, same functions: less to do, or others had the CPU" in text and "the same work" not in text


def test_a_light_stretch_of_what_is_no_time_names_no_cpu_time(tmp_path):
    path, _ = recording(tmp_path, 8, load=lambda t: 0.4 if 4 <= t < 6 else 0.8)
    path.write_text(path.read_text().replace("cpu-clock", "page-faults"))
    assert "the weight of the rest, same functions: less to do" in explain(path)[1][0]


def test_a_heavy_stretch_of_one_function(tmp_path):
    path, _ = recording(tmp_path, 8, lambda t: "rebuild" if 4 <= t < 6 and t % 0.002 < 0.0016 else None,
                        load=lambda t: 1 if 4 <= t < 6 else 0.14)
    phase = explain(path)[0]["phases"][0]
    assert phase["ratio"] > 6 and phase["functions"][0]["function"] == "rebuild" and phase["functions"][0]["only"]


@pytest.mark.parametrize("lo,hi", [(2, 2.15), (1, 2), (3.7, 3.9)])
def test_a_quiet_stretch_is_told_as_one(tmp_path, lo, hi):
    path, _ = recording(tmp_path, 4, load=lambda t: 0 if lo <= t < hi else 1)
    answer, said = explain(path)
    phase, = answer["phases"]
    assert phase["quiet"] and abs(float(phase["seconds"]) - (hi - lo)) < 0.02 and not phase["functions"]
    assert "nothing ran; what waits is not in" in said[0]


def test_one_replaces_the_other(tmp_path):
    path, _ = recording(tmp_path, 4, lambda t: "parse" if t < 2 else "render")
    answer, _ = explain(path)
    phase, = answer["phases"]
    assert phase["functions"][0]["function"] in ("parse", "render") and abs(float(phase["seconds"]) - 2) < 0.02


@pytest.mark.parametrize("rate,cycle", [(2000, 0.004), (4000, 0.004), (4000, 0.01), (2000, 0.005), (1777, 0.004), (997, 0.004)])
def test_work_that_takes_turns_shifts(tmp_path, rate, cycle):
    """However the turns fall on the samples: what differs from turn to turn says nothing of seconds."""
    r = random.Random(rate)
    clock = {"from": 0.0, "length": cycle}

    def work(t):
        while t >= clock["from"] + clock["length"]:
            clock["from"] += clock["length"]
            clock["length"] = cycle * r.uniform(1, 1.02)
        return "serve" if t - clock["from"] < cycle * (0.5 if clock["from"] >= 2 else 0.75) else "render"

    path, _ = recording(tmp_path, 3, work, rate=rate)
    answer, said = explain(path)
    phase, = answer["phases"]
    first = phase["functions"][0]
    assert abs(float(phase["start"]) - 2) < 0.05 and abs(float(phase["end"]) - 3) < 0.01, said
    assert "render" in first["function"] and abs(first["share"] - 50) < 5 and abs(first["rest"]["share"] - 25) < 5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rate", [997, 2000])
def test_a_slope_is_told_by_its_two_ends(tmp_path, rate, seed):
    """Steps of it are no phase that comes back, and none says that the work is the same."""
    r = random.Random(seed)
    path, _ = recording(tmp_path, 3, lambda t: "serve" if r.random() < 0.95 - 0.9 * t / 3 else "render", rate=rate, seed=seed)
    answer, said = explain(path)
    assert answer["phases"] and all(int(p["count"]) == 1 for p in answer["phases"])
    for phase in answer["phases"]:
        early = float(phase["start"]) + float(phase["end"]) < 3
        assert phase["functions"][0]["function"] in (("serve", "in_serve") if early else ("render", "in_render")), said
        assert phase["functions"][0]["share"] > 50 > phase["functions"][0]["rest"]["share"]
    assert "the same work" not in "".join(said) and "less to do" not in "".join(said)


def test_a_dip_and_a_peak_are_two_phases(tmp_path):
    path, _ = recording(tmp_path, 6, load=lambda t: 0.1 if 1 <= t < 1.5 else 1 if 4 <= t < 4.5 else 0.4, rate=2000)
    phases = explain(path)[0]["phases"]
    got = sorted((round(float(p["start"]) * 4) / 4, round(float(p["end"]) * 4) / 4, p["ratio"] > 1) for p in phases)
    assert got == [(1, 1.5, False), (4, 4.5, True)] and all(int(p["count"]) == 1 for p in phases)


def test_filters_choose_whose_time_it_is(tmp_path):
    path, samples = recording(tmp_path, 4, load=lambda t: 1, threads=2)
    text = path.read_text().replace("app 7/11", "job 7/11")
    gone = [s for s in text.split("\n\n") if not (s.startswith("job") and 101.0 <= float(s.split()[2][:-1]) < 101.5)]
    path.write_text("\n\n".join(gone))
    quiet = ask("timeline", path, "--explain", "--comm", "job")["phases"]
    assert [p["quiet"] for p in quiet] == [True]
    assert not ask("timeline", path, "--explain", "--thread", "10")["phases"]
    assert not ask("timeline", path, "--explain", "--comm", "job", "--time", "2..4")["phases"]


# False

@pytest.mark.parametrize("how", [dict(), dict(poisson=True), dict(item=0.005), dict(item=0.05), dict(load=lambda t: 0.2), dict(threads=4)],
                         ids=["even", "poisson", "calls of 5 ms", "calls of 50 ms", "idle", "threads"])
def test_steady_recordings_have_no_phases(tmp_path, how):
    for seed in range(6):
        path, _ = recording(tmp_path, 3, seed=100 + seed, **how)
        answer, said = explain(path)
        assert not answer["phases"], (seed, answer["phases"])
        assert said[0].startswith("steady: no stretch differs")


def test_what_would_have_been_found_is_found(tmp_path):
    path, _ = recording(tmp_path, 4)
    facts = ask("timeline", path, "--explain")["explain"]
    least = float(facts["found_from_seconds"]) * 1.2
    path, _ = recording(tmp_path, 4, lambda t: "new" if 2 <= t < 2 + least else None)
    assert ask("timeline", path, "--explain")["phases"][0]["functions"][0]["function"] == "new"
    ratio = float(facts["found_from_ratio"]) * 1.2
    path, _ = recording(tmp_path, 4, load=lambda t: ratio / 3 if 2 <= t < 2.4 else 1 / 3, rate=999 * 3)
    assert ask("timeline", path, "--explain")["phases"]


def test_what_is_promised_of_long_calls_is_kept(tmp_path):
    promised = 0
    for seed in range(6):
        path, _ = recording(tmp_path, 3, seed=seed, item=0.02)
        answer, said = explain(path)
        least = answer["explain"]["found_from_seconds"]
        if least is None:
            assert said[1].startswith("a phase may have been missed")
            continue
        end = 1.3 + float(least) * 1.05
        path, _ = recording(tmp_path, 3, lambda t: "new" if 1.3 <= t < end else None, seed=500 + seed, item=0.02)
        promised += 1
        assert ask("timeline", path, "--explain")["phases"], seed
    assert promised


def test_too_few_samples_say_so(tmp_path):
    path, _ = recording(tmp_path, 0.04)
    answer, said = explain(path)
    assert not answer["phases"] and said[0].startswith("too few samples")


@pytest.mark.parametrize("times", [(-9e9, 9e9), (0, 0), (9.2e9, 9.2e9)])
@pytest.mark.parametrize("period", [1, 2**62, 0, -5])
def test_hostile_times_and_weights(tmp_path, times, period):
    path = tmp_path / "h.spaa"
    path.write_text(profiles.text([(["f", "main"], 1)], after=[
        {"type": "sample", "timestamp": int(times[i % 2]), "period": period, "stack_id": "s0"} for i in range(200)]))
    for form in ("table", "json"):
        assert run("timeline", path, "--explain", "--format", form).code in (0, 1, 2, 3)
        assert run("whatif", path, "f=2x", "main=0.5x", "--format", form).code == 0


def test_without_samples_it_is_refused(tmp_path):
    path = tmp_path / "a.folded"
    path.write_text("main;f 3\n")
    assert ask("timeline", path, "--explain", code=2)["error"]


# The plain timeline

def test_the_plain_timeline_is_short_and_points_on(tmp_path):
    path, _ = recording(tmp_path, 8, lambda t: "rebuild" if 4 <= t < 6 else None)
    out = run("timeline", path, code=0).out
    assert len(out.encode()) <= 1800 and "--explain" in out.splitlines()[-1]
    steady, _ = recording(tmp_path, 8)
    assert "--explain" not in run("timeline", steady, code=0).out


def test_rows_that_say_the_same_say_it_once(tmp_path):
    path, _ = recording(tmp_path, 4, lambda t: "parse" if t < 2 else "render")
    rows = [s for s in run("timeline", path, "--buckets", 4, code=0).out.splitlines() if s.endswith("%")]
    assert [s.split()[-2] for s in rows] == ["parse", "″", "render", "″"]

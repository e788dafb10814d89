"""diff against a slow and plain recomputation from the SPAA text."""

import json
import math
import random

import pytest

import profiles
from comparison import (DEMO, LEAST, Run, SYMBOLS, Z80, Z95, adjust, ask, check, close, fisher, newcombe, normal_tail, quasi,
                        rate_p, repeated, rows_of, side_text, sizes_of, t_quantile, timed_text, welch, write)
from conftest import run, unwrapped

# ---- one run a side, no timestamps ----

@pytest.mark.parametrize("filters", [{}, {"comm": "t1"}, {"focus": "parse"}, {"hide": "scan"}, {"dso": "libm"}],
                         ids=lambda f: "+".join(f) or "all")
def test_samples_taken_as_independent(filters, tmp_path):
    a, b = (write(tmp_path, n, side_text(i, shift=("parse", 1 + 0.5 * i), only=only))
            for i, (n, only) in enumerate((("a.spaa", ["gone"]), ("b.spaa", ["fresh"]))))
    options = [x for k, v in filters.items() for x in ("--" + k, v)]
    answer = ask("diff", a, b, "-n", 0, *options)
    base, new = Run(a, **filters), Run(b, **filters)
    assert answer["verdict"] == "NOT ESTABLISHED" and answer["method"]["name"] == "samples"
    assert "samples are independent of each other" in answer["method"]["assumptions"]
    for side, x in (("base", base), ("new", new)):
        assert answer[side]["runs"] == 1 and answer[side]["samples"] == x.samples and answer[side]["whole"] == x.total
        assert close(answer[side]["effective_samples"], x.effective)
    for family in (0, 1):
        expected = {}
        for key in set(base.numbers) | set(new.numbers):
            p1, p2 = base.weight(key, family) / base.total, new.weight(key, family) / new.total
            k1, k2, n1, n2 = base.count(key, family), new.count(key, family), base.samples, new.samples
            pooled = (p1 * base.effective + p2 * new.effective) / (base.effective + new.effective)
            few = min(k1, k2) < LEAST
            share = (k1 + k2) / (n1 + n2)
            var = share * (1 - share) * (1 / n1 + 1 / n2)
            z = (k2 / n2 - k1 / n1) / math.sqrt(var) if var > 0 else 0
            p = fisher(k1, n1, k2, n2) if few else min(1, 2 * normal_tail(abs(z)))
            expected[key] = {
                "base": p1, "new": p2, "delta": p2 - p1, "ci": newcombe(p1, base.effective, p2, new.effective),
                "p": 1 if (p2 - p1) * z < 0 else p, "method": "fisher" if few else "z", "eligible": k1 + k2 >= LEAST,
                "mde": (Z95 + Z80) * math.sqrt(pooled * (1 - pooled) * (1 / base.effective + 1 / new.effective))}
        check(answer, expected, family)
    for (key, (row, where)) in rows_of(answer).items():
        for name, x in (("base", base), ("new", new)):
            assert row[name + "_weight"] == x.weight(key, 0) and row["total"][name + "_weight"] == x.weight(key, 1)
            assert row[name + "_samples"] == x.count(key, 0) and row["total"][name + "_samples"] == x.count(key, 1)
        assert where == ("rows" if key in base.numbers and key in new.numbers else
                         "new_functions" if key in new.numbers else "vanished_functions")
    if not filters:
        assert [r["function"] for r in answer["new_functions"]] == ["fresh"]
        assert [r["function"] for r in answer["vanished_functions"]] == ["gone"]
        assert rows_of(answer)["parse", "/bin/app"][0]["verdict"] == "differs"
        assert "within these runs" in answer["summary"] and "needs repeats" in answer["summary"]


def test_rows_are_sorted_and_limited(tmp_path):
    a, b = (write(tmp_path, "%d.spaa" % i, side_text(i, shift=("parse", 1 + 0.5 * i))) for i in (0, 1))
    for sort in ("self", "total"):
        answer = ask("diff", a, b, "-n", 0, "--sort", sort)
        order = [-abs((r["total"] if sort == "total" else r)["delta"]) for r in answer["rows"]]
        assert order == sorted(order), "one run a side: by size of the share's change, as costs may be of more work, whatever the verdict"
        short = ask("diff", a, b, "-n", 2, "--sort", sort)
        assert short["rows"] == answer["rows"][:2] and short["omitted"]["rows"] == len(answer["rows"]) - 2


def lasting(seconds):
    return {"time_range": {"start": 100, "end": 100 + seconds, "unit": "seconds"}}


def test_costs_of_one_run_a_side(tmp_path):
    spans = (20, 25)
    a, b = (write(tmp_path, "%d.spaa" % i, side_text(i, shift=("parse", 1 + 0.3 * i), **lasting(spans[i]))) for i in (0, 1))
    base, new = Run(a), Run(b)
    for options, per, per_base, per_new in (([], "run", 1, 1), (["--work", "20,25"], "work", *spans), (["--work", 8], "work", 8, 8)):
        answer = ask("diff", a, b, "-n", 0, *options)
        assert (answer["base"]["duration"], answer["new"]["duration"]) == spans and answer["method"]["cost_per"] == per
        assert (answer["base"]["cost_of"], answer["new"]["cost_of"]) == (per_base, per_new)
        for key, (row, _) in rows_of(answer).items():
            for family, name in ((0, "cost"), (1, "total_cost")):
                k1, k2 = base.count(key, family), new.count(key, family)
                cost = row[name]
                assert close(cost["base"], base.weight(key, family) / per_base)
                assert close(cost["new"], new.weight(key, family) / per_new)
                assert close(cost["p"], rate_p(k1, per_base, k2, per_new), 1e-7), (key, cost, k1, k2)
                assert cost["method"] == "binomial"
    text = run("diff", a, b, code=0).out
    assert "runs last +25.0%" in text and "--work" in text
    for bad in ("0", "x", "5,", "5,0", "1,2,3", "-1"):
        assert run("diff", a, b, "--work", bad, code=2).out == ""


# ---- repeats ----

def medians(base, new):
    """Sizes of the runs, from own weights of functions that 10 samples of the shortest run would have."""
    runs = base + new
    unit = sum(r.total for r in runs) / sum(r.effective for r in runs)
    keys = set().union(*(r.numbers for r in runs))
    least = LEAST * sum(r.total for r in runs) / min(r.total for r in runs)
    rows = [[r.weight(k, 0) / unit for r in runs] for k in keys]
    return unit, sizes_of([y for y in rows if sum(y) >= least])


@pytest.mark.parametrize("na, nb, shift", [(3, 3, 1.0), (5, 5, 2.0), (4, 6, 1.1), (5, 1, 1.5)])
def test_repeats_by_quasi_likelihood(na, nb, shift, tmp_path):
    a, b = repeated(tmp_path, na, nb, shift)
    answer = ask("diff", *a, "--", *b, "-n", 0)
    base, new = [Run(p) for p in a], [Run(p) for p in b]
    method = answer["method"]
    assert method["name"] == "repeats" and method["establishes"] is True and method["tested"] == "change_against_median"
    assert (answer["base"]["runs"], answer["new"]["runs"]) == (na, nb)
    unit, size = medians(base, new)
    tested = {0: [], 1: []}
    for key, (row, _) in rows_of(answer).items():
        for family, shown, cost in ((0, row, row["cost"]), (1, row["total"], row["total_cost"])):
            totals = [sum(r.total for r in side) for side in (base, new)]
            weights = [sum(r.weight(key, family) for r in side) for side in (base, new)]
            assert close(shown["base_share"], weights[0] / totals[0]) and close(shown["new_share"], weights[1] / totals[1])
            assert close(cost["base"], weights[0] / na) and close(cost["new"], weights[1] / nb)
            y = [r.weight(key, family) / unit for r in base + new]
            if not sum(y):
                assert shown["p"] is None
                continue
            p, dispersion, ratio = quasi(y, na, size, method["prior_dispersion"], method["prior_df"])
            assert close(shown["p"], p, 1e-6) and close(shown["design_effect"], dispersion, 1e-6), (key, family)
            assert close(shown["change_percent"], 100 * (ratio - 1), 1e-6)
            low, high = shown["change_ci_percent"]
            assert low < shown["change_percent"] < high and (p < 0.05) == (low > 0 or high < 0)
            enough = sum(r.count(key, family) for r in base + new) >= LEAST
            assert shown["tested"] == enough
            tested[family] += [(p, shown)] * enough
    for family in tested:
        for q, (_, shown) in zip(adjust([p for p, _ in tested[family]]), tested[family]):
            assert close(shown["q"], q, 1e-6) and (shown["verdict"] == "significant") == (q <= 0.05)
    changed = [r["function"] for r in answer["rows"] if r["verdict"] == "significant"]
    assert answer["verdict"] == ("CHANGED" if changed else "NO CHANGE FOUND")
    if shift == 2.0:
        assert changed == ["parse"], "the others only have smaller shares"
    if shift == 1.0:
        assert changed == [] and "would have been found" in answer["summary"]


def counted(counts, **header):
    return profiles.text([([name, "main"], {"period": 1000 * n, "samples": n}) for name, n in counts.items() if n],
                         [profiles.event("cycles", "period", mode="frequency")], **header)


def sides(tmp_path, base, new, **header):
    r = random.Random(5)
    def files(side, runs):
        return [write(tmp_path, "%s%d.spaa" % (side, i), counted({k: n and round(r.gauss(n, math.sqrt(n))) for k, n in x.items()},
                                                                 **header)) for i, x in enumerate(runs)]
    return [*files("a", base), "--", *files("b", new)]


OTHERS = {"b": 200, "c": 190, "d": 150, "e": 120, "f": 100}


def test_one_growth_makes_no_other_function_shrink(tmp_path):
    """90 % of the weight doubles: five shares fall by half, and none of these functions changed."""
    answer = ask("diff", *sides(tmp_path, [{"hot": 7000, **OTHERS}] * 3, [{"hot": 14000, **OTHERS}] * 3))
    rows = {r["function"]: r for r in answer["rows"]}
    assert answer["verdict"] == "CHANGED" and rows["hot"]["verdict"] == "significant"
    assert 85 < rows["hot"]["change_percent"] < 120 and 85 < rows["hot"]["cost"]["change_percent"] < 115
    for name in OTHERS:
        assert rows[name]["verdict"] != "significant" and rows[name]["delta"] < 0 and abs(rows[name]["cost"]["change_percent"]) < 20


def test_functions_of_one_side_are_tested(tmp_path):
    given = sides(tmp_path, [OTHERS] * 5, [{**OTHERS, "fresh": 70}] * 5)
    answer = ask("diff", *given)
    assert answer["verdict"] == "CHANGED" and not any(r["verdict"] == "significant" for r in answer["rows"])
    fresh, = answer["new_functions"]
    assert fresh["function"] == "fresh" and fresh["verdict"] == "significant" and fresh["change_ci_percent"][0] > 100
    gone, = ask("diff", *given[6:], "--", *given[:5])["vanished_functions"]
    assert gone["verdict"] == "significant" and gone["change_percent"] == -100
    assert "significant" in run("diff", *given, "-n", 9, code=0).out.split("new functions")[1]
    assert run("diff", *given, code=0).out.startswith("SLOWER: fresh  0 → ")


def test_runs_of_very_different_length(tmp_path):
    def times(n):
        return {k: v * n for k, v in OTHERS.items()}
    answer = ask("diff", *sides(tmp_path, [times(1), times(20), times(3)], [times(2), times(1), times(30)]))
    assert answer["verdict"] == "NO CHANGE FOUND" and not any(r["verdict"] == "significant" for r in answer["rows"])


def test_two_functions_have_no_median(tmp_path):
    """Runs of a side agree, and the sides do not: the same work, of which one function takes twice as much."""
    given = [{"x": 900, "y": 100}] * 3, [{"x": 900, "y": 200}] * 3
    answer = ask("diff", *sides(tmp_path, *given))
    assert answer["method"]["tested"] == "change_against_agreeing" and answer["method"]["median_change_percent"] is None
    assert abs(answer["method"]["reference_change_percent"]) < 5
    for more in ([], ["--work", 100]):
        answer = ask("diff", *sides(tmp_path, *given), *more)
        rows = {r["function"]: r for r in answer["rows"]}
        assert rows["y"]["verdict"] == "significant" and rows["x"]["verdict"] != "significant"
        assert rows["x"]["cost"]["base"] == pytest.approx(900000 if not more else 9000, rel=0.1)
    assert answer["method"]["tested"] == "cost"


def test_of_two_functions_in_a_fixed_time_either_may_have_changed(tmp_path):
    """The runs take as much in all: one function may have grown, or the other shrunk."""
    given = sides(tmp_path, [{"x": 600, "y": 400}] * 3, [{"x": 400, "y": 600}] * 3)
    answer = ask("diff", *given)
    assert answer["method"]["tested"] == "share" and answer["verdict"] == "CHANGED"
    assert [x["kind"] for x in answer["headline"]] == ["either", "either"]
    text = run("diff", *given, code=0).out
    assert "SLOWER" not in text and "FASTER" not in text and "as shares: what shrank may have left its place" in unwrapped(text)


def test_few_functions_are_measured_against_those_that_agree(tmp_path):
    """One of three large ones doubles: neither the median of few ratios nor shares say that of it alone."""
    work = {"sort": 400, "format": 130, "sum": 60, "main": 5}
    cases = [({**work, "format": 260}, "format", 100), ({**work, "sort": 800}, "sort", 100)]
    total = sum(work.values())
    boxed = {k: v * total / (total + 260) for k, v in {**work, "format": 390}.items()}  # as long as before
    for new, grown, percent in cases + [(boxed, "format", 200)]:
        answer = ask("diff", *sides(tmp_path, [work] * 4, [{k: round(v) for k, v in new.items()}] * 4))
        rows = {r["function"]: r for r in answer["rows"]}
        assert answer["method"]["tested"] == "change_against_agreeing" and answer["verdict"] == "CHANGED"
        assert {n for n, r in rows.items() if r["verdict"] == "significant"} == {grown}
        assert rows[grown]["change_percent"] == pytest.approx(percent, rel=0.3)


def test_costs_are_per_second_where_runs_of_a_side_last_differently(tmp_path):
    def files(side, spans):
        return [write(tmp_path, "%s%d.spaa" % (side, s), counted({k: v * s for k, v in OTHERS.items()}, **lasting(s))) for s in spans]
    answer = ask("diff", *files("a", (5, 10, 20)), "--", *files("b", (10, 7, 30)))
    assert answer["method"]["cost_per"] == "second" and answer["verdict"] == "NO CHANGE FOUND"
    assert {round(r["cost"]["change_percent"], 6) for r in answer["rows"] if r["base_share"]} == {0}


def test_everything_slower_is_no_silence(tmp_path):
    """No function stands out, yet the program takes twice the time."""
    answer = ask("diff", *sides(tmp_path, [OTHERS] * 3, [{k: 2 * v for k, v in OTHERS.items()}] * 3))
    assert answer["verdict"] == "CHANGED" and "the whole +" in answer["summary"] and "no function" in answer["summary"]
    assert answer["method"]["median_change_percent"] > 80


def test_longer_recordings_establish_nothing(tmp_path):
    def files(side, span):
        return [write(tmp_path, "%s%d.spaa" % (side, i), counted({k: v * span + i for k, v in OTHERS.items()}, **lasting(span)))
                for i in range(3)]
    answer = ask("diff", *files("a", 10), "--", *files("b", 60))
    assert answer["verdict"] == "NOT ESTABLISHED" and answer["whole"]["verdict"] == "significant"
    assert "everything costs ×6.0 a run alike: more work" in answer["summary"] and answer["headline"] == []


def test_two_builds_are_allowed_to_differ_by_their_layout(tmp_path):
    """The same counts: of one build on both sides, of two, and of a build a run, which show what builds differ by."""
    def ask_with(builds):
        a, b = repeated(tmp_path, 3, 3, 2.0)
        for path, build in zip(a + b, builds):
            text = path.read_text().replace('"name":"/bin/app"', '"name":"/bin/app","build_id":"%s"' % build)
            assert build in text
            path.write_text(text)
        return ask("diff", *a, "--", *b, "-n", 0)
    same, two, many = (ask_with([c * 40 for c in letters]) for letters in ("aaaaaa", "aaabbb", "abcdef"))
    assert (same["method"]["of_two_builds"], many["method"]["of_two_builds"]) == (0, 0)
    assert two["method"]["of_two_builds"] == 6 and "of two builds" in two["method"]["text"]
    assert two["verdict"] == "CHANGED" and "these builds differ" in two["summary"] and "builds" not in same["summary"]
    for key, (row, _) in rows_of(same).items():
        other = rows_of(two)[key][0]
        assert row["p"] == rows_of(many)[key][0]["p"]
        assert row["p"] is None or (other["p"] > row["p"] if key[1] == "/bin/app" else other["p"] == row["p"])


def test_permutation_over_runs(tmp_path):
    import itertools
    a, b = repeated(tmp_path, 4, 4, 2.0)
    answer = ask("diff", *a, "--", *b, "-n", 0, "--method", "permutation")
    base, new = [Run(p) for p in a], [Run(p) for p in b]
    _, size = medians(base, new)
    for key, (row, _) in rows_of(answer).items():
        x = [r.weight(key, 0) / s for r, s in zip(base + new, size)]
        far = abs(sum(x[4:]) - sum(x) / 2) * (1 - 1e-12)
        splits = [abs(sum(x[i] for i in s) - sum(x) / 2) >= far for s in itertools.combinations(range(8), 4)]
        assert close(row["p"], sum(splits) / len(splits)), key
    assert rows_of(answer)["parse", "/bin/app"][0]["p"] == pytest.approx(2 / 70)


def test_permutation_of_few_runs_says_that_it_can_find_nothing(tmp_path):
    a, b = repeated(tmp_path, 3, 3, 3.0)
    answer = ask("diff", *a, "--", *b, "--method", "permutation")
    assert answer["verdict"] == "NOT ESTABLISHED" and "no change could have been found" in answer["summary"]
    assert "p = 0.1000" in answer["summary"] and answer["rows"][0]["mde_family"] is None
    assert "interval excludes 0" in answer["summary"], "an interval that excludes 0 is not passed over"


def test_whole_of_repeats(tmp_path):
    a = [write(tmp_path, "a%d.spaa" % i, side_text(i, total=3000)) for i in range(3)]
    b = [write(tmp_path, "b%d.spaa" % i, side_text(9 + i, total=6000)) for i in range(3)]
    answer = ask("diff", *a, "--", *b)
    x, y = [Run(p).total for p in a], [Run(p).total for p in b]
    assert close(answer["whole"]["base"], sum(x) / 3) and close(answer["whole"]["new"], sum(y) / 3)
    assert answer["whole"]["verdict"] == "significant" and answer["verdict"] == "CHANGED"
    run("diff", *a, "--", *b, "--fail-on", "whole>20%", code=1)
    run("diff", *b, "--", *a, "--fail-on", "whole>20%", code=0)
    run("diff", *a, "--", *b, "--fail-on", "whole>200%", code=0)


def test_deterministic_metrics_without_samples(tmp_path):
    """Equal runs have no spread to judge by: as rare as the split of the runs, never infinitely sure."""
    def text(n):
        return profiles.text([(["f", "main"], n), (["g", "main"], 1000)])
    a = [write(tmp_path, "a%d.spaa" % i, text(500)) for i in range(4)]
    b = [write(tmp_path, "b%d.spaa" % i, text(600)) for i in range(4)]
    answer = ask("diff", *a, "--", *b)
    row = next(r for r in answer["rows"] if r["function"] == "f")
    assert row["p"] == pytest.approx(2 / 70) and answer["base"]["samples"] is None
    same = ask("diff", *a, "--", *a)
    assert {r["p"] for r in same["rows"] if r["base_share"]} == {1} and same["verdict"] != "CHANGED"


# ---- exact counts ----

def exact(tmp_path, name, counts):
    stacks = [([f, "main"], {"alloc_bytes": n, "samples": n // 100}) for f, n in counts.items()]
    return write(tmp_path, name, profiles.text(stacks, [profiles.event("heap", "alloc_bytes", kind="allocation", mode="event")]))


def test_exact_counts_changed_or_not(tmp_path):
    a = exact(tmp_path, "a.spaa", {"f": 5000, "g": 3000, "h": 200})
    b = exact(tmp_path, "b.spaa", {"f": 5000, "g": 3100, "h": 200})
    answer = ask("diff", a, b)
    assert answer["method"]["name"] == "exact" and answer["verdict"] == "CHANGED" and "exact for these two runs" in answer["summary"]
    assert {r["function"]: r["verdict"] for r in answer["rows"]} == \
        {"f": "unchanged", "g": "significant", "h": "unchanged", "main": "unchanged"}
    assert ask("diff", a, a)["verdict"] == "UNCHANGED"
    run("diff", a, b, "--fail-on", "g>1%", code=1)
    run("diff", a, b, "--fail-on", "g>50%,self>10pp", code=0)
    run("diff", a, b, "--fail-on", "whole>1%", code=1)
    run("diff", a, a, "--fail-on", "whole>1%,self>0.1pp", code=0)


def test_exact_counts_of_several_runs(tmp_path):
    """Counted, and the same in every run of a side: nothing is left to chance."""
    a = [exact(tmp_path, "a%d.spaa" % i, {"f": 5000, "g": 3000, "h": 200, "i": 50}) for i in range(3)]
    b = [exact(tmp_path, "b%d.spaa" % i, {"f": 5000, "g": 3100, "h": 200, "i": 50}) for i in range(3)]
    answer = ask("diff", *a, "--", *b)
    assert answer["verdict"] == "CHANGED"
    assert [r["function"] for r in answer["rows"] if r["verdict"] == "significant"] == ["g"]


# ---- time blocks ----

def blocks_of(path, name, blocks):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    stacks = {s["id"]: s for s in records if s["type"] == "stack"}
    frames = {f["id"]: f["func"] for f in records if f["type"] == "frame"}
    times = [(round(s["timestamp"] * 10**9), s["stack_id"]) for s in records if s["type"] == "sample"]
    first, last = min(times)[0], max(times)[0]
    x, w = [0.0] * blocks, [0.0] * blocks
    for t, stack in times:
        i = (t - first) * blocks // (last - first + 1)
        w[i] += 7
        x[i] += 7 * (frames[stacks[stack]["frames"][0]] == name)
    return x, w


def block_variance(x, w):
    mean = sum(x) / sum(w)
    found, n, size = [], len(x), 1
    while n // size >= 10:
        groups = n // size
        d = [sum(x[i] - mean * w[i] for i in range(g * n // groups, (g + 1) * n // groups)) for g in range(groups)]
        found.append(sum(v * v for v in d) / sum(w)**2 * groups / (groups - 1))
        size += 1
    return mean, max(found), max(found) > 2 * found[0]


@pytest.mark.parametrize("n, blocks", [(900, 30), (300, 20)])
def test_time_blocks(n, blocks, tmp_path):
    a, b = write(tmp_path, "a.spaa", timed_text(1, n, 0.3)), write(tmp_path, "b.spaa", timed_text(2, n, 0.6))
    answer = ask("diff", a, b)
    assert answer["method"]["name"] == "blocks" and answer["base"]["blocks"] == answer["new"]["blocks"] == blocks
    for row in answer["rows"]:
        if row["function"] == "main":
            continue
        (m1, v1, d1), (m2, v2, d2) = (block_variance(*blocks_of(p, row["function"], blocks)) for p in (a, b))
        both = (m1 + m2) / 2
        v1, v2 = (max(v, both * (1 - both) / n) for v in (v1, v2))
        p, se, df = welch((m1, v1, 9), (m2, v2, 9))
        assert close(row["base_share"], m1) and close(row["new_share"], m2) and close(row["p"], p, 1e-6)
        assert close(row["design_effect"], se**2 / (2 * both * (1 - both) / n)) and not row.get("dependent", False)
        half = t_quantile(0.975, df) * se
        assert close(row["ci"][0], m2 - m1 - half, 1e-6) and close(row["mde"], half + t_quantile(0.8, df) * se, 1e-6)
        assert not d1 and not d2
    assert answer["verdict"] == "NOT ESTABLISHED" and "differ within these runs, by their time blocks" in answer["summary"]
    assert {r["function"]: r["verdict"] for r in answer["rows"]}["hot"] == "differs"


def test_phases_longer_than_blocks_carry_nothing(tmp_path):
    a, b = (write(tmp_path, n, timed_text(s, 3000, 0.5, phase=1000)) for n, s in (("a.spaa", 3), ("b.spaa", 4)))
    answer = ask("diff", a, b)
    row = next(r for r in answer["rows"] if r["function"] == "hot")
    assert row["dependent"] is True and row["q"] is None and row["verdict"] != "differs"
    assert answer["verdict"] == "NOT ESTABLISHED" and answer["method"]["dependent"] > 0


def test_samples_that_do_not_cover_the_stacks_make_no_blocks(tmp_path):
    text = timed_text(1, 900, 0.3)
    part = "".join(line for i, line in enumerate(text.splitlines(True)) if '"sample"' not in line or i % 2)
    b = write(tmp_path, "b.spaa", text)
    answer = ask("diff", write(tmp_path, "a.spaa", part), b)
    assert answer["method"]["name"] == "samples" and "do not cover" in answer["method"]["no_blocks"]
    assert ask("diff", b, b)["method"]["name"] == "blocks"
    assert ask("diff", b, b, "--method", "samples")["method"]["name"] == "samples"
    assert ask("diff", b, b, "--comm", "x", code=1)["error"]["code"] == "SPAA-E032"


def test_recordings_are_read_with_their_times():
    answer = ask("diff", *DEMO, *SYMBOLS)
    assert answer["method"]["name"] == "blocks" and answer["base"]["blocks"] == 30
    assert answer["base"]["duration"] == pytest.approx(6.017287557, abs=1e-9)
    assert answer["rows"][0]["cost"]["base"] > 0
    assert ask("diff", *DEMO, *SYMBOLS, "-j1") == ask("diff", *DEMO, *SYMBOLS, "-j3")
    focus = ask("diff", *DEMO, *SYMBOLS, "--focus", "parse_field")
    assert focus["rows"][0]["base_share"] < 1 and focus["method"]["name"] == "blocks"


# ---- matching ----

def test_names_are_matched_without_what_builds_vary(tmp_path):
    a = write(tmp_path, "a.spaa", profiles.text([
        ([{"func": "f.isra.0", "dso": "/old/lib/libz.so.1.2.11"}, {"func": "f.part.1", "dso": "/old/lib/libz.so.1.2.11"},
          "main"], {"period": 10, "samples": 10}),
        (["<T>::go::h0123456789abcdef"], {"period": 30, "samples": 30})]))
    b = write(tmp_path, "b.spaa", profiles.text([
        ([{"func": "f", "dso": "/usr/lib/libz.so.1.3"}, "main"], {"period": 20, "samples": 20}),
        (["<T>::go::hfedcba9876543210"], {"period": 20, "samples": 20})]))
    answer = ask("diff", a, b)
    assert answer["new_functions"] == [] and answer["vanished_functions"] == []
    rows = {r["function"]: r for r in answer["rows"]}
    assert set(rows) == {"f", "main", "<T>::go::hfedcba9876543210"}
    assert (rows["f"]["base_share"], rows["f"]["new_share"]) == (0.25, 0.5)
    assert rows["f"]["total"]["base_share"] == 0.25, "counted once a stack, whatever its names"
    assert rows["<T>::go::hfedcba9876543210"]["matched_as"] == "<T>::go"
    handles = {r["function"]: r["id"] for r in ask("top", b)["rows"]}
    assert {n: r["id"] for n, r in rows.items()} == handles


def test_folded_stacks_are_matched_by_name_alone(tmp_path):
    spaa = write(tmp_path, "a.spaa", profiles.text([(["f", "main"], 30), (["g", "main"], 70)]))
    folded = write(tmp_path, "b.folded", "main;f 40\nmain;g 60\n")
    answer = ask("diff", spaa, folded)
    assert answer["new_functions"] == [] and answer["vanished_functions"] == []
    assert {r["function"]: (r["base_share"], r["new_share"]) for r in answer["rows"]} == \
        {"main": (0, 0), "f": (pytest.approx(0.3), pytest.approx(0.4)), "g": (pytest.approx(0.7), pytest.approx(0.6))}
    assert any(d["code"] == "SPAA-W640" for d in answer["diagnostics"])


def test_unresolved_addresses_are_one_row(tmp_path):
    def text(ip):
        return profiles.text([([{"func": ip, "func_resolved": False, "ip": ip, "dso": "/bin/app"}, "main"], 5)])
    answer = ask("diff", write(tmp_path, "a.spaa", text("0x10")), write(tmp_path, "b.spaa", text("0x20")))
    assert {r["function"] for r in answer["rows"]} == {"main", "[unresolved]"}


def test_recursion_and_empty_stacks(tmp_path):
    a = write(tmp_path, "a.spaa", profiles.text([(["f", "g", "f", "main"], {"period": 60, "samples": 60}),
                                                 ([], {"period": 40, "samples": 40})]))
    rows = {r["function"]: r for r in ask("diff", a, a)["rows"]}
    assert rows["f"]["total"]["base_share"] == pytest.approx(0.6) and rows["[no stack]"]["base_share"] == pytest.approx(0.4)


# ---- what cannot be told ----

def test_without_samples_significance_is_unavailable(folded):
    answer = ask("diff", folded, folded)
    assert answer["verdict"] == "NOT ESTABLISHED" and "unavailable" in answer["summary"]
    assert {r["verdict"] for r in answer["rows"]} == {"unavailable"} and {r["p"] for r in answer["rows"]} == {None}
    assert run("diff", folded, folded, code=0).out.startswith("NOT ESTABLISHED: significance is unavailable")
    run("diff", folded, folded, "--fail-on", "self>2%", code=5)

"""diff against a slow and plain recomputation from the SPAA text."""

import json
import math
import random

import pytest

import profiles
from comparison import (DEMO, LEAST, Run, SYMBOLS, Z80, Z95, ask, check, close, fisher, newcombe,
                        normal_tail, rate_p, repeated, rows_of, side_text, t_quantile, t_tail, timed_text, welch,
                        write)
from conftest import run

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
        assert answer[side]["runs"] == 1 and answer[side]["samples"] == x.samples and answer[side]["total"] == x.total
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
            assert row[name + "_weight"] == x.weight(key, 0) and row["cum"][name + "_weight"] == x.weight(key, 1)
            assert row[name + "_samples"] == x.count(key, 0) and row["cum"][name + "_samples"] == x.count(key, 1)
        assert where == ("rows" if key in base.numbers and key in new.numbers else
                         "new_functions" if key in new.numbers else "vanished_functions")
    if not filters:
        assert [r["function"] for r in answer["new_functions"]] == ["fresh"]
        assert [r["function"] for r in answer["vanished_functions"]] == ["gone"]
        assert rows_of(answer)["parse", "/bin/app"][0]["verdict"] == "significant"


def test_rows_are_sorted_and_limited(tmp_path):
    a, b = (write(tmp_path, "%d.spaa" % i, side_text(i, shift=("parse", 1 + 0.5 * i))) for i in (0, 1))
    for sort, of in (("flat", lambda r: r), ("cum", lambda r: r["cum"])):
        answer = ask("diff", a, b, "-n", 0, "--sort", sort)
        order = [(of(r)["verdict"] != "significant", -abs(of(r)["delta"])) for r in answer["rows"]]
        assert order == sorted(order)
        short = ask("diff", a, b, "-n", 2, "--sort", sort)
        assert short["rows"] == answer["rows"][:2] and short["omitted"]["rows"] == len(answer["rows"]) - 2


def test_rates_of_known_durations(tmp_path):
    spans = (20, 25)
    a, b = (write(tmp_path, "%d.spaa" % i, side_text(i, shift=("parse", 1 + 0.3 * i),
                                                     time_range={"start": 100, "end": 100 + spans[i], "unit": "seconds"}))
            for i in (0, 1))
    answer = ask("diff", a, b, "-n", 0)
    base, new = Run(a), Run(b)
    assert (answer["base"]["duration"], answer["new"]["duration"]) == spans
    for key, (row, _) in rows_of(answer).items():
        for family, name in ((0, "rate"), (1, "cum_rate")):
            k1, k2 = base.count(key, family), new.count(key, family)
            rate = row[name]
            assert close(rate["base"], base.weight(key, family) / spans[0])
            assert close(rate["new"], new.weight(key, family) / spans[1])
            assert close(rate["p"], rate_p(k1, spans[0], k2, spans[1]), 1e-7), (key, rate, k1, k2)
            assert rate["method"] == "binomial"
    period = side_text(1, time_range={"start": 0, "end": 9, "unit": "seconds"}).replace('"frequency"', '"period"')
    assert ask("diff", write(tmp_path, "p.spaa", period), b)["rows"][0]["rate"] is None


# ---- repeats ----

def side_of(runs, key, family, least):
    x = [r.weight(key, family) / r.total for r in runs]
    mean = sum(x) / len(x)
    var = max(sum((v - mean)**2 for v in x) / (len(x) - 1), least) if len(x) > 1 else None
    return x, mean, var


def least_of(runs, mean):
    return sum(mean * (1 - mean) / r.effective for r in runs) / len(runs)


@pytest.mark.parametrize("na, nb, shift", [(3, 3, 1.0), (5, 4, 2.0), (4, 6, 1.1)])
def test_repeats_by_welch(na, nb, shift, tmp_path):
    a, b = repeated(tmp_path, na, nb, shift)
    answer = ask("diff", *a, "--", *b, "-n", 0)
    base, new = [Run(p) for p in a], [Run(p) for p in b]
    assert answer["method"]["name"] == "repeats" and answer["method"]["establishes"] is True
    assert (answer["base"]["runs"], answer["new"]["runs"]) == (na, nb)
    for family in (0, 1):
        expected = {}
        for key in set().union(*(r.numbers for r in base + new)):
            m1, m2 = (sum(r.weight(key, family) / r.total for r in side) / len(side) for side in (base, new))
            least = least_of(base + new, (m1 + m2) / 2)
            _, m1, v1 = side_of(base, key, family, least)
            _, m2, v2 = side_of(new, key, family, least)
            count = sum(r.count(key, family) for r in base + new)
            if v1 + v2 == 0:
                expected[key] = {"base": m1, "new": m2, "delta": m2 - m1, "ci": (m2 - m1, m2 - m1), "p": 1.0,
                                 "mde": 0.0, "eligible": count >= LEAST}
                continue
            p, se, df = welch((m1, v1 / na, na - 1), (m2, v2 / nb, nb - 1))
            half = t_quantile(0.975, df) * se
            expected[key] = {"base": m1, "new": m2, "delta": m2 - m1, "ci": (m2 - m1 - half, m2 - m1 + half), "p": p,
                             "mde": half + t_quantile(0.8, df) * se, "eligible": count >= LEAST}
        check(answer, expected, family, 1e-6)
    if shift == 2.0:
        assert answer["verdict"] == "CHANGED"
        assert rows_of(answer)["parse", "/bin/app"][0]["verdict"] == "significant"
    if shift == 1.0:
        assert answer["verdict"] == "NO CHANGE FOUND"


def test_one_run_against_several(tmp_path):
    a, b = repeated(tmp_path, 5, 1, 1.5)
    answer = ask("diff", *a, "--", *b, "-n", 0)
    base, new = [Run(p) for p in a], [Run(p) for p in b]
    assert answer["method"]["name"] == "one-sided"
    for key, (row, _) in rows_of(answer).items():
        x = [r.weight(key, 0) / r.total for r in base]
        m1, m2 = sum(x) / 5, new[0].weight(key, 0) / new[0].total
        var = max(sum((v - m1)**2 for v in x) / 4, least_of(base + new, (m1 + m2) / 2)) * (1 / 5 + 1)
        assert row["p"] == 1 if var == 0 else close(row["p"], 2 * t_tail(abs(m2 - m1) / math.sqrt(var), 4), 1e-6)


def test_permutation_over_runs(tmp_path):
    import itertools
    a, b = repeated(tmp_path, 4, 4, 2.0)
    answer = ask("diff", *a, "--", *b, "-n", 0, "--method", "permutation")
    runs = [Run(p) for p in a + b]
    for key, (row, _) in rows_of(answer).items():
        x = [r.weight(key, 0) / r.total for r in runs]
        far = abs(sum(x[4:]) - sum(x) / 2) * (1 - 1e-12)
        splits = [abs(sum(x[i] for i in s) - sum(x) / 2) >= far for s in itertools.combinations(range(8), 4)]
        assert close(row["p"], sum(splits) / len(splits)), key
    assert rows_of(answer)["parse", "/bin/app"][0]["p"] == pytest.approx(2 / 70)


def test_total_weight_of_repeats(tmp_path):
    a = [write(tmp_path, "a%d.spaa" % i, side_text(i, total=3000)) for i in range(3)]
    b = [write(tmp_path, "b%d.spaa" % i, side_text(9 + i, total=6000)) for i in range(3)]
    answer = ask("diff", *a, "--", *b)
    x, y = [Run(p).total for p in a], [Run(p).total for p in b]
    assert close(answer["total"]["base"], sum(x) / 3) and close(answer["total"]["new"], sum(y) / 3)
    assert answer["total"]["verdict"] == "significant" and answer["verdict"] == "CHANGED"
    run("diff", *a, "--", *b, "--fail-on", "total>20%", code=1)
    run("diff", *b, "--", *a, "--fail-on", "total>20%", code=0)
    run("diff", *a, "--", *b, "--fail-on", "total>200%", code=0)


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
    assert {r["p"] for r in same["rows"]} == {1} and same["verdict"] == "NO CHANGE FOUND"


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
    assert answer["verdict"] == "CHANGED" and "repeats" in answer["summary"]


def test_phases_longer_than_blocks_carry_nothing(tmp_path):
    a, b = (write(tmp_path, n, timed_text(s, 3000, 0.5, phase=1000)) for n, s in (("a.spaa", 3), ("b.spaa", 4)))
    answer = ask("diff", a, b)
    row = next(r for r in answer["rows"] if r["function"] == "hot")
    assert row["dependent"] is True and row["q"] is None and row["verdict"] != "significant"
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
    assert answer["rows"][0]["rate"] is not None
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
    assert rows["f"]["cum"]["base_share"] == 0.25, "counted once a stack, whatever its names"
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
    assert rows["f"]["cum"]["base_share"] == pytest.approx(0.6) and rows["[no stack]"]["base_share"] == pytest.approx(0.4)


# ---- what cannot be told ----

def test_without_samples_significance_is_unavailable(folded):
    answer = ask("diff", folded, folded)
    assert answer["verdict"] == "NOT ESTABLISHED" and "unavailable" in answer["summary"]
    assert {r["verdict"] for r in answer["rows"]} == {"unavailable"} and {r["p"] for r in answer["rows"]} == {None}
    assert run("diff", folded, folded, code=0).out.startswith("NOT ESTABLISHED: significance is unavailable")
    run("diff", folded, folded, "--fail-on", "self>2%", code=5)

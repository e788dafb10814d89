"""diff against a slow and plain recomputation from the SPAA text, and what it promises on the command line."""

import csv
import decimal
import io
import json
import math
import os
import random

import pytest

import profiles
import conftest
from conftest import ROOT, run
from profiles import Profile

ALPHA, LEAST = 0.05, 10
Z95, Z80 = 1.959963984540054, 0.8416212335729143
DEMO = [os.path.join(ROOT, "demo", "orders-%d.perf.data.zst" % i) for i in (1, 2)]
SYMBOLS = ["--symfs", os.path.join(ROOT, "demo", "symfs"), "--kallsyms", os.path.join(ROOT, "demo", "kallsyms")]


def plain(x):
    """The answer's exact decimals as floats: what is compared here is floating point."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list):
        return [plain(v) for v in x]
    return float(x) if isinstance(x, decimal.Decimal) else x


def ask(*args, **more):
    return plain(conftest.ask(*args, **more))


def close(a, b, tolerance=1e-9):
    if a is None or b is None:
        return a is None and b is None
    return abs(float(a) - b) <= tolerance * max(1e-3, abs(b))


# ---- statistics, from their definitions ----

def normal_tail(z):
    return 0.5 * math.erfc(z / math.sqrt(2))


def t_tail(t, df):
    """Simpson's rule on the density, over the angle whose tangent is t / sqrt(df)."""
    c = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    a, b, n = math.atan(t / math.sqrt(df)), math.pi / 2, 1600
    h = (b - a) / n
    f = [math.cos(a + i * h) ** (df - 1) if i < n or df > 1 else 1 for i in range(n + 1)]
    return c * h / 3 * (f[0] + f[-1] + 4 * sum(f[1:-1:2]) + 2 * sum(f[2:-1:2]))


def t_quantile(p, df):
    lo, hi = 0.0, 1e4
    for _ in range(44):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if t_tail(mid, df) > 1 - p else (lo, mid)
    return lo


def wilson(p, n):
    mid, half = p + Z95**2 / (2 * n), Z95 * math.sqrt(p * (1 - p) / n + Z95**2 / (4 * n * n))
    return (mid - half) / (1 + Z95**2 / n), (mid + half) / (1 + Z95**2 / n)


def newcombe(p1, n1, p2, n2):
    (l1, u1), (l2, u2) = wilson(p1, n1), wilson(p2, n2)
    return (p2 - p1 - math.hypot(p2 - l2, u1 - p1), p2 - p1 + math.hypot(u2 - p2, p1 - l1))


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def fisher(k1, n1, k2, n2):
    k = k1 + k2
    logs = {x: log_choose(n1, x) + log_choose(n2, k - x) - log_choose(n1 + n2, k)
            for x in range(max(0, k - n2), min(k, n1) + 1)}
    return min(1, sum(math.exp(v) for v in logs.values() if v <= logs[k1] + 1e-7))


def rate_p(k1, t1, k2, t2):
    n, p = k1 + k2, t2 / (t1 + t2)
    if not n:
        return 1
    terms = [math.exp(log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p)) for k in range(n + 1)]
    return min(1, 2 * min(sum(terms[k2:]), sum(terms[:k2 + 1])))


def adjust(p):
    known = sorted((v, i) for i, v in enumerate(p) if v is not None)
    q, least = [None] * len(p), 1
    for rank in range(len(known), 0, -1):
        v, i = known[rank - 1]
        least = min(least, v * len(known) / rank)
        q[i] = least
    return q


def welch(a, b):
    """(mean, variance of it, df) of the sides: p, standard error, df."""
    var = a[1] + b[1]
    df = var**2 / (a[1]**2 / a[2] + b[1]**2 / b[2])
    return 2 * t_tail(abs(b[0] - a[0]) / math.sqrt(var), df), math.sqrt(var), df


# ---- profiles ----

FUNCTIONS = ["main", "parse", "scan", "hash", "lookup", "emit", "alloc", "free", "rare", "once"]


def side_text(seed, total=3000, shift=None, runs_vary=0.0, only=None, **header):
    """Stacks with recursion over a few functions; weights of unequal periods; `shift` scales one leaf."""
    r = random.Random(seed)
    shapes = random.Random(7)
    stacks = []
    for i in range(60):
        names = [shapes.choice(FUNCTIONS[:8]) for _ in range(shapes.randrange(1, 6))] + ["main"]
        if i % 20 == 19:
            names = ["rare"] + names
        dsos = {"alloc": "/lib/libm.so.6", "free": "/lib/libm.so.6", "hash": "[kernel]"}
        frames = [{"func": n, "dso": dsos.get(n, "/bin/app")} for n in names]
        mean = total / 60 * shapes.uniform(0.1, 3) * (0.02 if "rare" in names else 1)
        mean *= (1 + runs_vary * r.gauss(0, 1)) * (shift[1] if shift and names[0] == shift[0] else 1)
        n = max(0, round(r.gauss(mean, math.sqrt(mean))))
        if n:
            stacks.append((frames, {"samples": n, "period": n * 1000 + shapes.randrange(500) * n},
                           {"pid": 1, "tid": 1 + i % 3, "comm": "t%d" % (i % 3)}))
    for name in only or []:
        stacks.append(([{"func": name}, {"func": "main"}], {"samples": 40, "period": 40000}, {"pid": 1, "tid": 1}))
    return profiles.text(stacks, [profiles.event("cycles", "period", mode="frequency")], **header)


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


class Run:
    """One run: numbers per (function, dso), by the plain reading of tests/profiles.py."""

    def __init__(self, path, **filters):
        s = Profile(path.read_text()).select("cycles", **filters)
        whole = Profile(path.read_text()).select(
            "cycles", **{k: v for k, v in filters.items() if k not in ("focus", "ignore", "dso", "root-at")})
        self.numbers = s.top()
        self.total, self.samples = float(whole.base), whole.base_samples
        self.effective = self.total**2 / sum(float(x.weight)**2 / x.samples for x in whole.rows)
        assert self.total == sum(x.weight for x in whole.rows)

    def weight(self, key, family):
        return float(self.numbers.get(key, (0, 0, 0, 0))[family])

    def count(self, key, family):
        return self.numbers.get(key, (0, 0, 0, 0))[2 + family] or 0


def rows_of(answer):
    """{(function, dso): (row, its list)}"""
    return {(r["function"], r["dso"]): (r, key) for key in ("rows", "new_functions", "vanished_functions")
            for r in answer[key]}


def verdict(test, eligible, dependent=False):
    if test["q"] is not None and test["q"] <= ALPHA:
        return "significant"
    if (not eligible and not dependent) or abs(test["delta"]) < test["mde"]:
        return "below_minimum_detectable_effect"
    return "inconclusive"


def check(answer, expected, family, tolerance=1e-9):
    """expected: {key: {base, new, delta, ci, p, mde, eligible, …}}; q and verdicts follow from these."""
    keys = sorted(expected)
    q = adjust([expected[k]["p"] if expected[k]["eligible"] else None for k in keys])
    shown = rows_of(answer)
    assert set(shown) == set(keys)
    assert answer["method"]["self" if family == 0 else "cum"]["tested"] == sum(x is not None for x in q)
    for k, adjusted in zip(keys, q):
        e = {**expected[k], "q": adjusted}
        row = shown[k][0] if family == 0 else shown[k][0]["cum"]
        for name, value in (("base_share", e["base"]), ("new_share", e["new"]), ("delta", e["delta"]), ("p", e["p"]),
                            ("q", e["q"]), ("mde", e["mde"])):
            assert close(row[name], value, tolerance), (k, name, row[name], value)
        assert close(row["ci"][0], e["ci"][0], tolerance) and close(row["ci"][1], e["ci"][1], tolerance), (k, row, e)
        assert row["verdict"] == verdict(e, e["eligible"]), (k, row, e)
        if "method" in e:
            assert row["method"] == e["method"]


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


def repeated(tmp_path, na, nb, shift=1.0, vary=0.03):
    return ([write(tmp_path, "a%d.spaa" % i, side_text(10 + i, runs_vary=vary)) for i in range(na)],
            [write(tmp_path, "b%d.spaa" % i, side_text(50 + i, runs_vary=vary, shift=("parse", shift))) for i in range(nb)])


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

def timed_text(seed, n, share, phase=1):
    r = random.Random(seed)
    counts, samples, p = {}, [], share
    for i in range(n):
        if phase > 1 and i % phase == 0:
            p = r.random()
        name = "hot" if r.random() < p else r.choice(["cold", "cool"])
        counts[name] = counts.get(name, 0) + 1
        samples.append({"type": "sample", "timestamp": round(5 + i * 0.01 + r.random() * 0.009, 6), "event": "cycles",
                        "stack_id": "s%d" % sorted(["hot", "cold", "cool"]).index(name)})
    stacks = [([name, "main"], {"samples": counts[name], "period": 7 * counts[name]}, {"pid": 1, "tid": 1})
              for name in sorted(counts)]
    return profiles.text(stacks, after=samples)


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
    assert answer["base"]["duration"] == pytest.approx(1.998245439, abs=1e-9)
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


@pytest.mark.parametrize("args, code, word", [
    (["A"], 2, "two profiles"), (["A", "A", "A"], 2, "two profiles"), (["--", "A"], 2, "before"),
    (["A", "--"], 2, "after"), (["A", "A", "--fail-on", "self>"], 2, "no limit"),
    (["A", "A", "--fail-on", "self>2"], 2, "no limit"), (["A", "A", "--fail-on", ">2%"], 2, "say what"),
    (["A", "A", "--fail-on", "total>2pp"], 2, "100 %"), (["A", "A", "--fail-on", "self>2%,"], 2, "no limit"),
    (["A", "A", "--fail-on", "mian>2%"], 1, "did you mean main?"), (["A", "A", "--method", "repeats"], 2, "1 against 1"),
    (["A", "A", "--method", "blocks"], 2, "no samples with timestamps"), (["A", "A", "--min-share", "x"], 2, "percentage"),
    (["A", "A", "--event", "nope"], 2, "cycles"), (["A", "missing"], 3, "missing"),
    (["A", "A", "--metric", "peak_bytes"], 2, "must not be added"),
])
def test_what_is_refused(args, code, word, tmp_path):
    path = write(tmp_path, "p.spaa", profiles.text([(["f", "main"], {"period": 5, "samples": 5, "peak_bytes": 7})]))
    args = [path if a == "A" else a for a in args]
    answer = run("diff", *args, code=code)
    assert word in answer.err and answer.out == ""
    assert ask("diff", *args, code=code)["error"]["message"]


def test_a_side_without_weight_is_refused(tmp_path):
    a = write(tmp_path, "a.spaa", profiles.text([(["f", "main"], 5)]))
    b = write(tmp_path, "b.spaa", profiles.text([(["f", "main"], 0)]))
    assert ask("diff", a, b, code=3)["error"]["code"] == "SPAA-E632"


# ---- limits ----

def test_limits_of_repeats(tmp_path):
    a, b = repeated(tmp_path, 5, 5, 2.0, vary=0.005)
    same = [write(tmp_path, "c%d.spaa" % i, side_text(80 + i, runs_vary=0.005)) for i in range(5)]
    slower = ["diff", *a, "--", *b, "--fail-on"]
    equal = ["diff", *a, "--", *same, "--fail-on"]
    for limit in ("self>2%", "self>2pp", "cum>1pp", "parse>20%", "self:parse>20%", "cum:parse>1pp", "total>1000%,self>2%"):
        run(*slower, limit, code=1)
    for limit in ("self>60pp", "free>50%", "total>100%", "self>50%"):
        run(*equal, limit, code=0)
    run(*slower, "free>50%", code=0)
    for limit in ("self>0.01pp", "parse>0.1%", "free>50%,parse>0.1%"):
        run(*equal, limit, code=5)
    answer = ask(*slower, "self>2%,free>50%", code=1)["fail_on"]
    assert answer["verdict"] == "breach" and [x["verdict"] for x in answer["limits"]] == ["breach", "passed"]
    assert answer["limits"][0]["cases"][0]["function"] == "parse" and answer["limits"][0]["cases"][0]["growth"] > 20
    unsure = ask(*equal, "parse>0.1%", code=5)["fail_on"]["limits"][0]
    assert unsure["verdict"] == "unsure" and "runs a side" in unsure["text"] and unsure["cases"][0]["need_times"] > 1
    assert ask(*equal, "self>50%")["fail_on"]["verdict"] == "passed"


def test_limits_of_one_run_a_side(tmp_path):
    a, b = (write(tmp_path, "%d.spaa" % i, side_text(i, shift=("parse", 1 + i))) for i in (0, 1))
    answer = run("diff", a, b, "--fail-on", "self>2%", code=5)
    assert "cannot tell" in answer.out and "runs a side" in answer.out
    run("diff", a, b, "--fail-on", "total>2%", code=5)
    run("diff", a, b, "--fail-on", "self>50pp", code=0)
    hot = [write(tmp_path, "t%d.spaa" % i, timed_text(i, 3000, 0.3 + 0.3 * i)) for i in (0, 1)]
    run("diff", *hot, "--fail-on", "hot>10%", code=1)
    run("diff", *hot, "--fail-on", "cold>10%", code=0)


def test_limits_of_functions_with_odd_names(tmp_path):
    name = "map<int, vector<int>>::at(int, char)"
    a = [write(tmp_path, "a%d.spaa" % i, profiles.text([([name, "main"], {"period": 500, "samples": 500}),
                                                      (["g", "main"], {"period": 500, "samples": 500})])) for i in range(3)]
    b = [write(tmp_path, "b%d.spaa" % i, profiles.text([([name, "main"], {"period": 900, "samples": 900}),
                                                      (["g", "main"], {"period": 100, "samples": 100})])) for i in range(3)]
    run("diff", *a, "--", *b, "--fail-on", name + ">10%", code=1)
    run("diff", *a, "--", *b, "--fail-on", "g>10%, " + name + " > 200.5 %", code=0)
    handle = next(r["id"] for r in ask("diff", *a, "--", *b)["rows"] if r["function"] == name)
    run("diff", *a, "--", *b, "--fail-on", handle + ">10pp", code=1)
    fresh = [write(tmp_path, "c%d.spaa" % i, profiles.text([(["h", "main"], {"period": 900, "samples": 900})])) for i in range(3)]
    assert "new" in run("diff", *a, "--", *fresh, "--fail-on", "self>2%", code=1).out


# ---- forms ----

def test_table_and_markdown(tmp_path):
    evil = "evil\x1b[31m|`<b>\n\u202e"
    a = [write(tmp_path, "a%d.spaa" % i, side_text(10 + i, only=["gone"])) for i in range(3)]
    b = [write(tmp_path, "b%d.spaa" % i, side_text(50 + i, shift=("parse", 2), only=[evil])) for i in range(3)]
    table = run("diff", *a, "--", *b, "--fail-on", "parse>10%", code=1).out
    assert table.startswith("CHANGED: ") and "\x1b" not in table and "\u202e" not in table
    lines = table.splitlines()
    assert lines[1].startswith("limit   parse>10%  BREACHED: parse +")
    assert any(line.split()[:1] == ["base%"] for line in lines)
    assert "new functions" in lines and "vanished functions" in lines and "next" in lines
    markdown = run("diff", *a, "--", *b, "--format", "markdown", "--fail-on", "parse>10%", code=1).out
    assert markdown.startswith("**CHANGED: ") and "\x1b" not in markdown and "<b>" not in markdown
    for title in ("**new functions**", "**vanished functions**"):
        assert title in markdown.splitlines()
    heads = [line for line in markdown.splitlines() if line.startswith("| base%")]
    assert len(heads) == 1
    for line in markdown.splitlines():
        if line.startswith("|") and heads and line.count("|") > 9:
            assert line.replace("\\|", "").count("|") == heads[0].count("|")


def test_csv_has_every_list(tmp_path):
    a = write(tmp_path, "a.spaa", side_text(1, only=["gone"]))
    b = write(tmp_path, "b.spaa", side_text(2, only=["fresh"]))
    answer = ask("diff", a, b, "-n", 0)
    rows = list(csv.DictReader(io.StringIO(run("diff", a, b, "-n", 0, "--format", "csv", code=0).out)))
    assert {r["list"] for r in rows} == {"both", "new", "vanished"}
    found = rows_of(answer)
    assert len(rows) == len(found)
    for r in rows:
        row, _ = found[r["function"], r["dso"]]
        assert r["verdict"] == row["verdict"] and r["id"] == row["id"] and int(r["base_weight"]) == row["base_weight"]
        assert float(r["delta"]) == pytest.approx(float(row["delta"]), abs=1e-11)
        assert float(r["cum_p"]) == pytest.approx(float(row["cum"]["p"]), abs=1e-11)


def test_options_may_follow_the_two_lists(tmp_path):
    a, b = repeated(tmp_path, 2, 2)
    assert ask("diff", *a, "--", *b) == ask("diff", "--json", "-n", 22, *a, "--", *b)
    assert run("diff", *a, "--", *b, "--nope", code=2).err.startswith("spaa: error: usage: diff has no option")
    assert ask("diff", *a, "--", *b, "--nope", code=2)["error"]["code"] == "SPAA-E037"


def test_the_commands_to_ask_next_run(tmp_path):
    import shlex
    a, b = write(tmp_path, "it's a.spaa", side_text(1)), write(tmp_path, "b.spaa", side_text(2))
    for command in ask("diff", a, b, "--comm", "t1")["next"]:
        words = shlex.split(command)
        assert words[0] == "spaa" and "--comm" in words
        run(*words[1:], cwd=tmp_path, code=0)

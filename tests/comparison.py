"""Two sides to compare, and what the book says of them: a slow and plain recomputation from the SPAA text."""

import decimal
import math
import os
import random

import conftest
import profiles
from conftest import ROOT
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
    """With every row and number of a comparison: by default its JSON is short."""
    if args[0] == "diff" and not {"-n", "--budget"} & set(args):
        args = ("diff", "-n", 0, *args[1:])
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


def median(x):
    x = sorted(x)
    return (x[len(x) // 2] + x[(len(x) - 1) // 2]) / 2


def sizes_of(rows):
    """DESeq's: the median over rows of a run's ratio to the row's geometric mean; [row][run] to [run]."""
    logs = [[math.log(v) for v in row] for row in rows if min(row) > 0]
    size = [median([row[j] - sum(row) / len(row) for row in logs]) for j in range(len(rows[0]))]
    return [math.exp(v - sum(size) / len(size)) for v in size]


def deviance(y, mean):
    return 2 * sum((v * math.log(v / m) if v else 0) - (v - m) for v, m in zip(y, mean))


def chi_tail(x, df):
    """For an even df."""
    term, total = 1.0, 0.0
    for k in range(df // 2):
        total += term
        term *= x / 2 / (k + 1)
    return math.exp(-x / 2) * total


def quasi(y, na, size, prior, prior_df):
    """edgeR's quasi-likelihood F-test of one row, given what rows have in common: p, dispersion, change."""
    sides = [slice(0, na), slice(na, len(y))]
    within, df = 0.0, 0
    for s in sides:
        if sum(y[s]):
            within += deviance(y[s], [sum(y[s]) / sum(size[s]) * v for v in size[s]])
            df += len(y[s]) - 1
    alien = chi_tail(within / max(1, prior), df) / 0.005 if df else 1
    d0 = prior_df * min(1, alien)
    dispersion = max(1, (d0 * prior + within) / (d0 + df))
    both = sum(y) / sum(size)
    means = [m for s in sides for m in [sum(y[s]) / sum(size[s])] * len(y[s])]
    loss = deviance(y, [both * v for v in size]) - deviance(y, [m * v for m, v in zip(means, size)])
    return 2 * t_tail(math.sqrt(max(loss, 0) / dispersion), d0 + df), dispersion, means[-1] / means[0] if means[0] else None


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
    """Of one run a side."""
    if test["q"] is not None and test["q"] <= ALPHA:
        return "differs"
    if (not eligible and not dependent) or test["delta"] == 0 or abs(test["delta"]) < test["mde"]:
        return "below_minimum_detectable_effect"
    return "inconclusive"


def check(answer, expected, family, tolerance=1e-9):
    """expected: {key: {base, new, delta, ci, p, mde, eligible, …}}; q and verdicts follow from these."""
    keys = sorted(expected)
    q = adjust([expected[k]["p"] if expected[k]["eligible"] else None for k in keys])
    shown = rows_of(answer)
    assert set(shown) == set(keys)
    assert answer["method"]["self" if family == 0 else "total"]["tested"] == sum(x is not None for x in q)
    for k, adjusted in zip(keys, q):
        e = {**expected[k], "q": adjusted}
        row = shown[k][0] if family == 0 else shown[k][0]["total"]
        for name, value in (("base_share", e["base"]), ("new_share", e["new"]), ("delta", e["delta"]), ("p", e["p"]),
                            ("q", e["q"]), ("mde", e["mde"])):
            assert close(row[name], value, tolerance), (k, name, row[name], value)
        assert close(row["ci"][0], e["ci"][0], tolerance) and close(row["ci"][1], e["ci"][1], tolerance), (k, row, e)
        assert row["verdict"] == verdict(e, e["eligible"]), (k, row, e)
        if "method" in e:
            assert row["method"] == e["method"]


def repeated(tmp_path, na, nb, shift=1.0, vary=0.03):
    return ([write(tmp_path, "a%d.spaa" % i, side_text(10 + i, runs_vary=vary)) for i in range(na)],
            [write(tmp_path, "b%d.spaa" % i, side_text(50 + i, runs_vary=vary, shift=("parse", shift))) for i in range(nb)])


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

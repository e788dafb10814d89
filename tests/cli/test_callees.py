"""Stacks whose record says that their leaf has less than their weight: what is left is of callees that were not recorded.

Every view and every writer adds up to the whole; a plain reading of the file says what each function has.
"""

import collections
import decimal
import fractions
import json
import random

import pytest
import profiles
from conftest import ask, run

D = decimal.Decimal
CALLEES = "[callees not recorded]"
METRICS = ("period", "samples")
WRITERS = ["folded", "pprof", "codeguru", "perf-script", "dtrace", "bpftrace", "spindump", "sample"]
EXAMPLE = [  # section 4 of the specification
    (["leaf", "mid", "main"], {"samples": 18342, "period": 987654321}, {"tid": 4511}, {"exclusive": {"period": 123456789}}),
]


def spaa(stacks, **more):
    """As profiles.text, with what `exclusive` states by metric; {}: nothing but the frame; None: no `exclusive`."""
    stacks = [(f, w, *(dict(x) for x in rest)) for f, w, *rest in stacks]
    stated = [s[3].pop("exclusive", "all") if len(s) > 3 else "all" for s in stacks]
    records = [json.loads(line, parse_float=D) for line in profiles.text(stacks, **more).splitlines()]
    for r, values in zip((r for r in records if r["type"] == "stack"), stated):
        if values is None or not r["frames"]:
            r.pop("exclusive", None)
        elif values != "all":
            r["exclusive"]["weights"] = [{"metric": m, "value": v} for m, v in values.items()]
    return profiles.lines(records)


def scale(v):
    return max(0, -D(v).normalize().as_tuple().exponent)


def nearest(v, digits):
    """Half away from zero, as the product rounds."""
    v = v * 10**digits
    n = abs(v.numerator) * 2 + v.denominator
    return D(n // (2 * v.denominator)).scaleb(-digits)


def own_of(weights, stated):
    """What the leaf has of each metric."""
    own = dict(weights)
    if not stated:
        return own
    fits = {m: fractions.Fraction(v) / fractions.Fraction(weights[m])
            for m, v in stated.items() if m in weights and weights[m] and 0 <= v <= weights[m]}
    share = fits.get("period", next(iter(fits.values()), None))
    for m in weights:
        if m in stated:
            own[m] = stated[m] if 0 <= stated[m] <= weights[m] else weights[m]
        elif share is not None:
            own[m] = nearest(fractions.Fraction(weights[m]) * share, scale(weights[m]))
    return own


def truth(stacks, metric):
    """Weight by function, own and total; by stack; in all."""
    flat, cum, rows, total = collections.Counter(), collections.Counter(), collections.Counter(), D(0)
    for frames, weights, *rest in stacks:
        stated = rest[1].get("exclusive", "all") if len(rest) > 1 else "all"
        own = own_of(weights, stated if isinstance(stated, dict) else None)
        names = tuple(f if isinstance(f, str) else f["func"] for f in frames)
        rest_of = D(weights[metric]) - D(own[metric])
        for stack, v in ((names, D(own[metric])), ((CALLEES, *names), rest_of)):
            flat[stack[0]] += v
            rows[stack] += v
            for name in set(stack):
                cum[name] += v
        total += D(weights[metric])
    return flat, cum, rows, total


def without_zeros(counter):
    return {k: D(v).normalize() for k, v in counter.items() if v}


def random_stacks(seed, whole):
    r = random.Random(seed)
    found, seen = [], set()
    while len(found) < 30:
        names = [r.choice("abcdefgh") for _ in range(r.randint(1, 6))]
        frames = [{"func": n.upper(), "dso": "[kernel]"} if i == 0 and r.random() < 0.2 else n for i, n in enumerate(names)]
        if tuple(map(str, frames)) in seen:
            continue
        seen.add(tuple(map(str, frames)))
        period = r.randint(0, 100000) if whole or r.random() < 0.5 else D(r.randint(0, 10**7)).scaleb(-3)
        weights = {"period": period, "samples": r.randint(1, 500)}
        part = {"period": r.choice([0, weights["period"], weights["period"] * 2 + 1, D(weights["period"]) / 4]),
                "samples": r.randint(0, weights["samples"] + 20)}
        if whole or D(part["period"]) == int(part["period"]):
            part["period"] = int(part["period"])
        stated = r.choice(["all", None, {}, part, part, {"period": part["period"]}, {"samples": part["samples"]}])
        found.append((frames, weights, {"tid": r.randint(1, 3)}, {"exclusive": stated}))
    return found


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(answer, value):
    found = collections.Counter()
    for r in answer["rows"]:
        found[r["name"]] += D(r[value])
    return found


def check_views(path, stacks, metric):
    flat, cum, rows, total = truth(stacks, metric)
    flat, cum, rows = without_zeros(flat), without_zeros(cum), without_zeros(rows)
    asked = ["--metric", metric]
    top = ask("top", path, "--limit", 0, *asked)
    assert top["whole"] == total and without_zeros(rows_of(top, "self")) == flat
    assert without_zeros(rows_of(top, "total")) == cum
    assert without_zeros(rows_of(ask("top", path, "--limit", 3, *asked), "self")).items() <= flat.items()
    for by in ("line", "address", "dso", "thread", "event"):
        assert sum(D(r["self"]) for r in ask("top", path, "--by", by, "--limit", 0, *asked)["rows"]) == total
    for inverted in ([], ["--inverted"]):
        tree = ask("tree", path, *inverted, "--limit", 0, "--depth", 100, "--min-percent", 0, *asked)
        assert sum(D(n["self"]) for n in tree["nodes"]) == total
        first = without_zeros({n["name"]: D(n["total"]) for n in tree["nodes"] if n["depth"] == 1})
        assert not inverted or first == flat
    shown = collections.Counter()
    for s in ask("stacks", path, "--limit", 0, *asked)["rows"]:
        shown[tuple(f["function"] for f in s["frames"])] += D(s["weight"])
    assert without_zeros(shown) == rows
    columns = "name, self, total"
    table = ask("query", path, "SELECT %s FROM functions" % columns, *asked)["rows"]
    found = collections.Counter()
    for name, own, _ in table:
        found[name] += D(own or 0)
    assert without_zeros(found) == flat
    sums = ask("query", path, "SELECT sum(weight), sum(self) FROM stacks", *asked)["rows"][0]
    assert [float(x) for x in sums] == pytest.approx([float(total)] * 2)
    leaves = "SELECT f.func, sum(s.weight) FROM stacks s JOIN frames f ON f.id = s.leaf GROUP BY 1"
    assert {n for n, w in ask("query", path, leaves, *asked)["rows"] if w} == set(flat)
    nodes = ask("query", path, "SELECT sum(self) FROM nodes", *asked)["rows"][0][0]
    assert float(nodes) == pytest.approx(float(total))
    for name in list(flat)[:4] + [CALLEES] * (CALLEES in flat):
        f = ask("function", path, name, *asked)
        assert (D(f["self"]).normalize(), D(f["total"]).normalize()) == (flat.get(name, 0), cum.get(name, 0))
    summary = ask("summary", path, *asked)
    assert sum(D(r["self"]) for r in summary["by_dso"]) == total
    assert {r["name"]: D(r["self"]).normalize() for r in summary["hot"] if r["self"]}.items() <= flat.items()
    diff = ask("diff", path, path, "--limit", 0, *asked)
    assert diff["base"]["whole"] == total
    picture = run("flamegraph", path, "-o", "-", "--min-width", 0.001, *asked, code=0).out
    assert (CALLEES in picture) == (CALLEES in flat)
    part = top["quality"]["callees_not_recorded_percent"]
    assert float(part) == pytest.approx(100 * float(flat.get(CALLEES, 0)) / float(total), abs=0.005)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("order", ["leaf_to_root", "root_to_leaf"])
def test_the_example_of_the_specification(tmp_path, metric, order):
    path = write(tmp_path / "in.spaa", spaa(EXAMPLE, order=order))
    check_views(path, EXAMPLE, metric)
    assert "12.5" in str(ask("function", path, "leaf", "--metric", metric)["self_percent"])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_views_add_up(tmp_path, seed, metric):
    stacks = random_stacks(seed, whole=seed % 2 == 0)
    check_views(write(tmp_path / "in.spaa", spaa(stacks, order="root_to_leaf" if seed > 1 else "leaf_to_root")), stacks,
                metric)


def name_of(text):
    """As texts of macOS print names: "leaf (app)"."""
    return text.split(" (")[0].split("`")[-1].removesuffix("_[k]")


@pytest.mark.parametrize("to", WRITERS)
@pytest.mark.parametrize("seed", range(2))
def test_writers_add_up(tmp_path, seed, to):
    stacks = random_stacks(seed, whole=True)
    path, out = write(tmp_path / "in.spaa", spaa(stacks)), tmp_path / "out"
    run("convert", path, "--metric", "samples", "--to", to, "-o", out, code=0)
    flat, _, _, total = truth(stacks, "samples")
    found = collections.Counter()
    answer = ask("top", out, "--from", to, "--limit", 0, "--view", "all")
    for r in answer["rows"]:
        found[name_of(r["name"])] += D(r["self"])
    assert answer["whole"] == total and without_zeros(found) == without_zeros(flat)


def test_folded_lines(tmp_path):
    path = write(tmp_path / "in.spaa", spaa(EXAMPLE))
    out = run("convert", path, "--to", "folded", "--metric", "period", "-o", "-", code=0).out
    assert out.splitlines() == ["main;mid;leaf 123456789", "main;mid;leaf;%s 864197532" % CALLEES]


@pytest.mark.parametrize("seed", range(4))
def test_spaa_stays_as_it_is(tmp_path, seed):
    path, out, again = (write(tmp_path / "in.spaa", spaa(random_stacks(seed, whole=seed % 2 == 0))),
                        tmp_path / "out.spaa", tmp_path / "again.spaa")
    run("convert", path, "-o", out, code=0)
    run("convert", out, "-o", again, code=0)
    assert CALLEES not in out.read_text() and out.read_bytes() == again.read_bytes()

    def stated(p):
        records = [json.loads(x, parse_float=D) for x in p.read_text().splitlines()]
        names = {r["id"]: r["func"] for r in records if r["type"] == "frame"}
        return sorted((r["id"], r["weights"], r.get("exclusive", {}).get("weights"),
                       names.get(r.get("exclusive", {}).get("frame"))) for r in records if r["type"] == "stack")
    assert str(stated(path)) == str(stated(out))


@pytest.mark.parametrize("seed", range(3))
def test_merging_adds_up(tmp_path, seed):
    parts = [random_stacks(seed, whole=True), random_stacks(seed + 100, whole=True)]
    paths = [write(tmp_path / ("%d.spaa" % i), spaa(s)) for i, s in enumerate(parts)]
    run("merge", *paths, "-o", tmp_path / "all.spaa", code=0)
    assert CALLEES not in (tmp_path / "all.spaa").read_text()
    for metric in METRICS:
        want = truth(parts[0] + parts[1], metric)
        top = ask("top", tmp_path / "all.spaa", "--limit", 0, "--metric", metric)
        assert top["whole"] == want[3] and sum(rows_of(top, "self").values()) == want[3]
        both = ask("top", *paths, "--limit", 0, "--metric", metric)
        assert without_zeros(rows_of(both, "self")) == without_zeros(want[0])


FILTERS = [["--hide", "^leaf$"], ["--hide", "^mid$"], ["--root-at", "mid"], ["--root-at", "leaf"], ["--focus", "leaf"],
           ["--merge-inlined"], ["--user"], ["--thread", "4511"]]


@pytest.mark.parametrize("filters", FILTERS, ids=lambda f: f[0] + "-" + f[-1].strip("^$-"))
def test_filters(tmp_path, filters):
    """The rest stands below the deepest frame that is shown, in views and in what is written."""
    path = write(tmp_path / "in.spaa", spaa(EXAMPLE))
    top = ask("top", path, *filters)
    own = rows_of(top, "self")
    leaf = "mid" if filters[-1] == "^leaf$" else "leaf"
    assert own[leaf] == 123456789 and own[CALLEES] == 864197532 and top["whole"] == 987654321
    for to in ("spaa", "folded"):
        out = tmp_path / ("out." + to)
        run("convert", path, *filters, "--metric" if to == "folded" else "-q", *(["period"] if to == "folded" else []),
            "-o", out, code=0)
        assert without_zeros(rows_of(ask("top", out), "self")) == without_zeros(own)
        assert (CALLEES in out.read_text()) == (to == "folded")


@pytest.mark.parametrize("option,left", [("--hide", 987654321), ("--ignore", 123456789), ("--focus", 864197532)])
def test_filters_that_name_it(tmp_path, option, left):
    path = write(tmp_path / "in.spaa", spaa(EXAMPLE))
    assert ask("top", path, option, "callees not")["kept"] == left
    out = run("convert", path, option, "callees not", "--metric", "period", "--to", "folded", "-o", "-", code=0).out
    assert sum(int(x.split()[-1]) for x in out.splitlines()) == left


def test_inlined_leaves(tmp_path):
    """The inlined function is the leaf; without it, the function it was inlined into is."""
    frames = [{"func": "inl", "inlined": True, "inline_depth": 1}, {"func": "phys", "inline_depth": 0}, "main"]
    path = write(tmp_path / "in.spaa", spaa([(frames, {"period": 100}, {}, {"exclusive": {"period": 30}})]))
    assert rows_of(ask("top", path), "self") == {CALLEES: 70, "inl": 30, "phys": 0, "main": 0}
    assert rows_of(ask("top", path, "--merge-inlined"), "self") == {CALLEES: 70, "phys": 30, "main": 0}


def test_recursion(tmp_path):
    path = write(tmp_path / "in.spaa", spaa([(["f", "f", "main"], {"period": 100}, {}, {"exclusive": {"period": 30}})]))
    f = ask("function", path, "f")
    assert (f["self"], f["total"]) == (30, 100)


def test_linked_records(tmp_path):
    """The kernel's leaf is the leaf of both."""
    def side(kind, other, frames, own):
        dso = "[kernel]" if kind == "kernel" else "/bin/app"
        return ([{"func": f, "dso": dso} for f in frames], {"period": 100, "samples": 10}, {"tid": 1},
                {"id": kind, "stack_type": kind, "related_stacks": [other], "exclusive": {"period": own}})
    path = write(tmp_path / "in.spaa", spaa([side("user", "kernel", ["u", "main"], 100),
                                             side("kernel", "user", ["k", "entry"], 60)]))
    top = ask("top", path)
    assert top["whole"] == 100 and top["kept_samples"] == 10
    assert without_zeros(rows_of(top, "self")) == {CALLEES: 40, "k": 60}
    assert without_zeros(rows_of(top, "total")) == {CALLEES: 40, "k": 100, "entry": 100, "u": 100, "main": 100}
    out = run("convert", path, "--to", "folded", "--metric", "period", "-o", "-", code=0).out
    assert sorted(out.splitlines()) == ["main;u;entry;k 60", "main;u;entry;k;%s 40" % CALLEES]


@pytest.mark.parametrize("stated,own,unusable", [(0, 0, 0), (101, 100, 1), (-1, 100, 1), (100, 100, 0)])
def test_the_ends_of_the_range(tmp_path, stated, own, unusable):
    path = write(tmp_path / "in.spaa", spaa([(["leaf", "main"], {"period": 100}, {}, {"exclusive": {"period": stated}})]))
    top = ask("top", path)
    assert without_zeros(rows_of(top, "self")) == without_zeros({"leaf": own, CALLEES: 100 - own})
    assert top["quality"]["exclusive_unusable"] == unusable
    assert top["quality"]["exclusive_differs"] == (stated != 100)
    if unusable and stated > 0:
        assert "SPAA-W211" in run("validate", path).err


def test_of_another_frame_it_says_nothing(tmp_path):
    """The specification wants the leaf there: `validate` says so, and the leaf has its stack's weight."""
    text = spaa([(["leaf", "main"], {"period": 100}, {}, {"exclusive": {"period": 40}})])
    path = write(tmp_path / "in.spaa", text.replace('"exclusive":{"frame":1', '"exclusive":{"frame":2'))
    assert "SPAA-E116" in run("validate", path, code=1).err
    answer = ask("top", path)
    assert rows_of(answer, "self") == {"leaf": 100, "main": 0}
    assert "SPAA-E116" in [d["code"] for d in answer["diagnostics"]]


def test_ranges_of_time(tmp_path):
    """Samples are of whole stacks: a range is divided as all of the stack is."""
    samples = [{"type": "sample", "timestamp": t, "tid": 1, "event": "cycles", "period": 25, "stack_id": "s0"}
               for t in (1, 2, 3, 4)]
    path = write(tmp_path / "in.spaa",
                 spaa([(["leaf", "main"], {"period": 100, "samples": 4}, {"tid": 1}, {"exclusive": {"period": 40}})],
                      after=samples))
    half = ask("top", path, "--time", "0..2")
    assert half["kept"] == 50 and without_zeros(rows_of(half, "self")) == {"leaf": 20, CALLEES: 30}
    for to in ("spaa", "folded"):
        out = tmp_path / ("half." + to)
        run("convert", path, "--time", "0..2", "--metric" if to == "folded" else "-q", *["period"] * (to == "folded"),
            "-o", out, code=0)
        assert without_zeros(rows_of(ask("top", out), "self")) == {"leaf": 20, CALLEES: 30}
    timeline = ask("timeline", path, "--buckets", 2)
    assert sum(b["weight"] for b in timeline["rows"]) == 100
    hot = collections.Counter()
    for b in timeline["rows"]:
        for h in b["hot"]:
            hot[h["function"]] += h["self"]
    assert hot == {"leaf": 40, CALLEES: 60}
    run("timeline", path, "--buckets", 2, "-o", tmp_path / "windows.spaa", code=0)
    assert CALLEES not in (tmp_path / "windows.spaa").read_text()
    assert rows_of(ask("top", tmp_path / "windows.spaa"), "self") == {"leaf": 40, CALLEES: 60, "main": 0}


def test_memory(tmp_path):
    """Sites of allocation: each metric by itself."""
    events = [profiles.event("malloc", "alloc_bytes", "allocation", "event")]
    weights = {"alloc_bytes": 1000, "alloc_count": 10, "live_bytes": 500, "live_count": 5}
    stated = {"alloc_bytes": 400, "alloc_count": 2, "live_bytes": 500, "live_count": 5}
    path = write(tmp_path / "in.spaa", spaa([(["site", "main"], weights, {}, {"exclusive": stated})], events=events))
    leaks = ask("leaks", path)
    assert leaks["whole"] == 500
    assert sum(r["live_bytes"] or 0 for r in leaks["rows"]) == 500
    assert sum(r["alloc_bytes"] for r in leaks["rows"]) == 1000
    assert rows_of(ask("top", path, "--metric", "alloc_bytes"), "self") == {"site": 400, CALLEES: 600, "main": 0}

"""function, stacks, timeline, findings, --with, --time and --merge-inlined against a plain reading of the file."""

import collections
import itertools
import re

import pytest

import profiles
from conftest import ask, run
from profiles import D, Profile, function, percent

KINDS = {
    "plain": {}, "decimals": {"decimals": True}, "64-bit": {"big": True},
    "all": {"decimals": True, "states": True, "linked": True},
}


@pytest.fixture(params=sorted(KINDS))
def file(request, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(3, stacks=60, samples=300, **KINDS[request.param]))
    return path, Profile(path.read_text())


def top_rows(answer):
    return {(r["function"], r["dso"]) if "function" in r else (r["name"], None): (r["self"], r["total"], r["samples"], r["total_samples"])
            for r in answer["rows"]}


# Times

@pytest.mark.parametrize("more", [{}, {"merge-inlined": ""}, {"focus": "fn1"}, {"pid": "10", "hide": "fn3"}], ids=str)
@pytest.mark.parametrize("span", ["1..2.5", "..0.7", "3.999..", "0.25..0.5"])
def test_weights_of_a_range_of_time(file, span, more):
    path, profile = file
    for name in profile.primary:
        for metric in {"samples", profile.primary[name]}:
            if not any(metric in s["weight"] for s in profile.stacks if s["context"]["event"] == name):
                continue
            selection = profile.select(name, metric, time=span, **more)
            answer = ask("top", path, "-n", 0, *selection.options(), code=None if not selection.rows else 0)
            if not selection.rows:
                assert "error" in answer
                continue
            assert top_rows(answer) == selection.top()
            assert (answer["whole"], answer["kept"], answer["kept_samples"]) == \
                (selection.base, selection.total, sum(r.samples for r in selection.rows))
            assert answer["profile"]["event_whole"] == selection.all
            assert answer["kept_percent"] == percent(selection.total, selection.all)
            nodes = ask("tree", path, "--min-percent", 0, "-n", 0, *selection.options())["nodes"]
            assert nodes[0]["total"] == selection.total


def test_times_may_be_absolute(file):
    path, profile = file
    options = ["--event", "cycles"]
    a = ask("top", path, *options, "--time", "1..2")
    for span in ("@101..102", "@101..@102", "1..@102"):
        b = ask("top", path, *options, "--time", span)
        assert (a["rows"], a["whole"]) == (b["rows"], b["whole"])


@pytest.mark.parametrize("span", ["", "1", "2..1", "1..1", "a..b", "1...", "..@x"])
def test_what_is_no_range_of_time(file, span):
    assert ask("top", file[0], "--time", span, code=2)["error"]["code"] == "SPAA-E601"


def test_times_need_samples(tmp_path, folded):
    assert ask("top", folded, "--time", "0..1", code=2)["error"]["code"] == "SPAA-E600"
    assert "--samples" in ask("timeline", folded, code=2)["error"]["hint"]
    path = tmp_path / "a.spaa"
    path.write_text(profiles.random_text(1, samples=20))
    run("top", path, path, "--time", "0..1", code=2)
    assert "timeline" in ask("top", path, "--time", "50..51", code=1)["error"]["hint"]


def test_a_metric_that_samples_do_not_know(tmp_path):
    path = tmp_path / "m.spaa"
    path.write_text(profiles.text([(["f"], {"period": 3, "extra": 4})], after=[
        {"type": "sample", "timestamp": 1, "period": 3, "stack_id": "s0"}]))
    assert ask("top", path, "--metric", "extra", "--time", "0..", code=2)["error"]["code"] == "SPAA-E604"
    assert ask("top", path, "--time", "0..")["whole"] == 3


def window(i, start, end, *rows):
    return {"type": "window", "id": "w%d" % i, "start": start, "end": end, "unit": "seconds", "by_stack": [
        {"stack_id": s, "weights": [{"metric": "period", "value": v}]} for s, v in rows]}


def test_windows_serve_where_there_are_no_samples(tmp_path):
    path = tmp_path / "w.spaa"
    path.write_text(profiles.text([(["f", "main"], 30), (["g", "main"], 70)], after=[
        window(1, 10, 11, ("s0", 30), ("s1", 1)), window(2, 11, 12, ("s1", 9)), window(3, 12, D("12.5"), ("s1", 60))]))
    assert {r["function"]: r["self"] for r in ask("top", path, "--time", "0..2")["rows"]} == {"f": 30, "g": 10, "main": 0}
    assert ask("top", path, "--time", "@12..12.5")["whole"] == 60
    said = ask("top", path, "--time", "0.5..2", code=2)["error"]
    assert said["code"] == "SPAA-E602" and "0..2" in said["hint"]
    rows = ask("timeline", path)["rows"]
    assert [(r["start"], r["end"], r["weight"], r["window"]) for r in rows] == \
        [(0, 1, 31, "w1"), (1, 2, 9, "w2"), (2, D("2.5"), 60, "w3")]
    path.write_text(profiles.text([(["f"], 3)], after=[window(1, 0, 2, ("s0", 2)), window(2, 1, 2, ("s0", 1))]))
    assert ask("top", path, "--time", "0..2", code=2)["error"]["code"] == "SPAA-E602"
    assert ask("top", path, "--time", "1..2", code=2)["error"]["code"] == "SPAA-E602"


# Inlined frames

def test_inlined_functions_go_into_the_one_they_are_in(tmp_path):
    inl = {"func": "inl", "ip": "0x10", "inlined": True, "inline_depth": 1}
    path = tmp_path / "i.spaa"
    path.write_text(profiles.text([([inl, {"func": "f", "ip": "0x10"}, "main"], 10), (["main"], 1), ([inl], 2)]))
    rows = {r["function"]: (r["self"], r["total"]) for r in ask("top", path, "--merge-inlined")["rows"]}
    assert rows == {"f": (10, 10), "main": (1, 11), "inl": (2, 2)}


def test_merge_inlined_everywhere(file):
    path, profile = file
    selection = profile.select(**{"merge-inlined": ""})
    assert top_rows(ask("top", path, "-n", 0, *selection.options())) == selection.top()
    nodes = ask("tree", path, "--min-percent", 0, "-n", 0, *selection.options())["nodes"]
    assert len(nodes) == len(selection.tree())


# Functions

def check_function(path, selection, name, fits):
    answer = ask("function", path, name, "-n", 0, "--no-pool", *selection.options())
    want = selection.function(fits)
    assert (answer["self"], answer["total"]) == (want["self"], want["total"])
    assert (answer["self_percent"], answer["total_percent"]) == tuple(percent(want[k], selection.base) for k in ("self", "total"))
    assert (answer["recursion"]["weight"], answer["recursion"]["most_in_a_stack"]) == (want["recursive"], want["deepest"])
    for key in ("callers", "callees"):
        rows = [((r["function"], r["dso"]) if r["function"] else None, r["weight"]) for r in answer[key]]
        assert dict(rows) == want[key] and len(rows) == len(want[key])
        assert [w for _, w in rows] == sorted((w for _, w in rows), reverse=True)
    for key in ("matches", "lines", "threads"):
        rows = [((r["function"], r["dso"]) if key == "matches" else r["name"], (r["self"], r["total"])) for r in answer[key]]
        assert dict(rows) == want[key] and len(rows) == len(want[key])
    assert set(answer["omitted"].values()) == {0}
    return answer


@pytest.mark.parametrize("filters", [{}, {"view": "all"}, {"time": "0.5..3"}, {"hide": "fn2"}, {"merge-inlined": ""}], ids=str)
def test_function(file, filters):
    path, profile = file
    selection = profile.select(**filters)
    tops = selection.top()
    for name, dso in sorted(k for k in tops if k[1])[:12]:
        check_function(path, selection, name, lambda n, d, name=name: n == name)
        handle = next(r["id"] for r in ask("top", path, "-n", 0, *selection.options())["rows"]
                      if (r.get("function"), r.get("dso")) == (name, dso))
        answer = check_function(path, selection, handle, lambda n, d, x=(name, dso): (n, d) == x)
        assert (answer["function"]["function"], answer["function"]["dso"]) == (name, dso), "the name is echoed"
        assert (answer["self"], answer["total"]) == tops[name, dso][:2]
    check_function(path, selection, "/^fn[13]$/", lambda n, d: n in ("fn1", "fn3"))


def test_function_of_several_binaries_lists_them(tmp_path):
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text([([{"func": "f", "dso": "/lib/a"}, "main"], 1), ([{"func": "f", "dso": "/lib/b"}], 2)]))
    answer = ask("function", path, "f")
    assert [(m["dso"], m["total"]) for m in answer["matches"]] == [("/lib/b", 2), ("/lib/a", 1)]
    assert "2 functions as one" in run("function", path, "f", code=0).out
    one = ask("function", path, answer["matches"][1]["id"])
    assert (one["total"], one["function"]["dso"]) == (1, "/lib/a")
    assert {r["function"]: r["total"] for r in ask("top", path, "--root-at", answer["matches"][0]["id"])["rows"]} == {"f": 2}


def test_functions_that_are_not_there(folded, tmp_path):
    said = ask("function", folded, "compuet", code=1)["error"]
    assert "compute" in said["hint"]
    assert "parse" in ask("function", folded, "/^parze/", code=1)["error"]["hint"]
    assert ask("function", folded, "f:0123", code=1)["error"]["code"] == "SPAA-E603"
    assert ask("top", folded, "--root-at", "f:0123", code=1)["error"]["code"] == "SPAA-E603"
    assert ask("function", folded, "/(/", code=2)["error"]["code"] == "SPAA-E035"
    run("function", code=2)
    odd = tmp_path / "odd.folded"
    odd.write_text("main;f:abcd;/x/ 3\n")
    assert ask("function", odd, "f:abcd")["total"] == ask("function", odd, "/x/")["self"] == 3, "names before handles"


def test_root_at_takes_expressions(folded):
    answer = ask("tree", folded, "--root-at", "/^(parse|compute)$/", "--min-percent", 0, "-n", 0)
    assert {n["name"]: n["total"] for n in answer["nodes"] if n["depth"] == 1} == {"parse": 50, "compute": 40}
    assert "compute" in answer["profile"]["filters"], "the resolved name is echoed"


# Stacks

@pytest.mark.parametrize("filters", [{}, {"view": "all"}, {"time": "0.5..3"}, {"hide": "fn2", "focus": "fn1"}], ids=str)
def test_stacks(file, filters):
    path, profile = file
    selection = profile.select(**filters)
    answer = ask("stacks", path, "-n", 0, "--no-pool", *selection.options())
    rows = {r["id"]: r for r in answer["rows"]}
    assert set(rows) == {r.id for r in selection.rows} and len(rows) == len(answer["rows"])
    for x in selection.rows:
        r = rows[x.id]
        assert (r["weight"], r["samples"], r["percent"]) == (x.weight, x.samples, percent(x.weight, selection.base))
        assert [(f["function"], f["dso"], f.get("srcline")) for f in r["frames"]] == \
            [(*function(f), f.get("srcline")) for f in x.frames]
        assert r["context"] == x.context
    weights = [r["weight"] for r in answer["rows"]]
    assert weights == sorted(weights, reverse=True) and sum(weights) == selection.total
    short = ask("stacks", path, "-n", 2, "--no-pool", *selection.options())
    assert short["rows"] == answer["rows"][:2]
    assert short["omitted"] == {"rows": len(rows) - 2, "weight": sum(weights[2:])}
    one = ask("stacks", path, "--id", answer["rows"][1]["id"], *selection.options())
    assert one["rows"] == answer["rows"][1:2]


def test_stacks_by_id(folded):
    everything = ask("stacks", folded, "-n", 0)["rows"]
    for r in everything:
        assert ask("stacks", folded, "--id", r["id"][:10])["rows"] == [r]
    assert ask("stacks", folded, "--id", "0x", code=1)["error"]["code"] == "SPAA-E605"
    assert ask("stacks", folded, "--id", "zz", code=1)["error"]["code"] == "SPAA-E605"
    assert ask("stacks", folded, "--id", everything[0]["id"], "--focus", "compute", code=1)["error"]["code"] == "SPAA-E032"
    assert everything[0]["id"] in run("stacks", folded, "-n", 1, code=0).out


# Timelines

@pytest.mark.parametrize("buckets", [1, 7, 20])
@pytest.mark.parametrize("filters", [{}, {"time": "0.5..3"}, {"pid": "10"}, {"view": "all", "hide": "fn1"}], ids=str)
def test_timeline(file, buckets, filters):
    path, profile = file
    selection = profile.select(**filters)
    answer = ask("timeline", path, "--buckets", buckets, *selection.options())
    want = profile.select(**{k: v for k, v in filters.items()}).timeline(buckets)
    assert len(answer["rows"]) == len(want) == buckets
    for r, (start, end, weight, samples, hot) in zip(answer["rows"], want):
        assert (r["start"], r["end"]) == (start - profile.zero, end - profile.zero)
        assert (r["weight"], r["samples"]) == (weight, samples or None)
        assert r["percent"] == percent(weight, selection.base)
        assert [h["self"] for h in r["hot"]] == [v for _, v in hot]
        assert all(h["percent_of_bucket"] == percent(h["self"], weight) for h in r["hot"])
    assert answer["covered"] == sum(w[2] for w in want)
    assert len(answer["sparkline"]) == buckets
    assert answer["time"]["untimed"] == sum("timestamp" not in x for x in profile.samples)


def test_windows_hold_what_the_samples_in_them_do(file, tmp_path):
    path, profile = file
    out = tmp_path / "out.spaa"
    run("timeline", path, "--buckets", 6, "-o", out, code=0)
    assert ask("validate", out, code=None)["errors"] == ask("validate", path, code=None)["errors"]
    written = Profile(out.read_text())
    assert len(written.windows) == 6 and len(written.samples) == len(profile.samples)
    assert sum(len(w["by_stack"]) for w in written.windows) > 0
    for w, following in itertools.zip_longest(written.windows, written.windows[1:]):
        assert following is None or w["end"] == following["start"]
        want = collections.defaultdict(dict)
        for x in written.samples:
            if "timestamp" not in x or not w["start"] <= x["timestamp"] < w["end"]:
                continue
            stack = written.by_id[str(x["stack_id"])]
            sums = want[str(x["stack_id"])]
            for metric in stack["weight"]:
                if metric in ("samples", "period", "count"):
                    v = written.weight_of(x, metric)
                    if v is not None:
                        sums[metric] = sums.get(metric, 0) + v
        got = {str(r["stack_id"]): {v["metric"]: v["value"] for v in r["weights"]} for r in w["by_stack"]}
        assert got == want
    again = tmp_path / "again.spaa"
    answer = run("timeline", out, "--buckets", 6, "-o", again, code=0)
    assert "I615" in answer.out and again.read_bytes() == out.read_bytes()


def test_where_windows_go(folded, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(2, samples=9))
    run("timeline", path, "-o", tmp_path / "x.folded", code=2)
    run("timeline", path, "-o", "-", code=2)
    run("timeline", path, "--buckets", 0, code=2)
    assert "I616" in run("timeline", path, "--pid", 10, "-o", tmp_path / "x.spaa", code=0).out


# --with

def test_other_weights_beside(file):
    path, profile = file
    for by in ("function", "line", "dso", "thread", "comm"):
        own, other, extra = profile.select("cycles"), profile.select("faults"), profile.select("cycles", "samples")
        answer = ask("top", path, "--no-pool", "--event", "cycles", "--by", by, "-n", 0, "--with", "faults.count,samples")
        assert [(w["event"], w["metric"], w["whole"]) for w in answer["with"]] == \
            [("faults", "count", other.base), ("cycles", "samples", extra.base)]
        tops = [own.top(by), other.top(by), extra.top(by)]
        found = {}
        for r in answer["rows"]:
            key = (r.get("name", r.get("function")), r["dso"] if "dso" in r else None)
            found[key] = [tuple(x[k] for k in ("self", "total", "samples", "total_samples")) for x in (r, *r["with"])]
        none = (0, 0, None, None)
        assert found == {k: [t.get(k, none) for t in tops] for k in set().union(*tops)}
        assert len(found) == len(answer["rows"])
        assert ask("top", path, "--no-pool", "--event", "cycles", "--by", by, "-n", 0, "--with", "faults", "--with", "samples")["rows"] == answer["rows"]


def test_weights_that_are_not_there(file):
    path = file[0]
    assert ask("top", path, "--with", "nope", code=2)["error"]["code"] == "SPAA-E030"
    assert ask("top", path, "--with", "cycles.nope", code=2)["error"]["code"] == "SPAA-E031"
    run("top", path, "--with", "", code=2)
    run("top", path, "--with", ",".join(["samples"] * 7), code=2)


# Findings

NAMES = {"lock": ["pthread_mutex_lock", "__lll_lock_wait"], "allocation": ["malloc", "operator new(unsigned long)"],
         "page_fault": ["asm_exc_page_fault"], "syscall": ["do_syscall_64"], "idle": ["intel_idle"], "wait": ["__schedule"]}
THRESHOLDS = {"unresolved": 5, "no_stack": 5, "idle": 20, "wait": 20, "lock": 5, "allocation": 10, "page_fault": 5, "syscall": 20,
              "recursion": 10, "dominant_thread": 80}


@pytest.mark.parametrize("seed", range(6))
def test_findings(seed, tmp_path):
    import random
    r = random.Random(seed)
    names = ["a", "b", "c", "d"] + [n for v in r.sample(sorted(NAMES.values()), 3) for n in v]
    stacks = []
    for i in range(40):
        frames = [r.choice(names if r.random() < 0.4 else names[:4]) for _ in range(r.randrange(0 if r.random() < 0.2 else 1, 5))]
        if r.random() < 0.1:
            frames.insert(0, {"func": "0x99", "func_resolved": False, "ip": "0x99", "dso": "[unknown]"})
        tid = r.choice([2, 2, 2, 2, 2, 2, 2, 3]) if seed % 2 else r.choice([2, 3])
        stacks.append((frames, {"period": r.randrange(1, 1000), "samples": r.randrange(1, 90)}, {"pid": 1, "tid": tid, "comm": "t"}))
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text(stacks))
    selection = Profile(path.read_text()).select()
    weights = {k: sum(x.weight for x in selection.rows if x.has(v)) for k, v in NAMES.items()}
    weights["unresolved"] = sum(x.weight for x in selection.rows if x.frames and x.frames[0]["func"] == "0x99")
    weights["no_stack"] = sum(x.weight for x in selection.rows if not x.frames)
    if 100 * (contended := sum(x.weight for x in selection.rows if x.has(["__lll_lock_wait"]))) >= 5 * selection.base:
        weights["lock"] = contended
    # what own functions do themselves that call themselves: the one that does most
    own = {row["function"] for row in ask("top", path, "-n", 0)["rows"] if row["own"]}
    recursive = collections.Counter()
    for x in selection.rows:
        mine = [f["func"] for f in x.frames if f["func"] in own]
        if mine and mine.count(mine[0]) > 1:
            recursive[mine[0]] += x.weight
    weights["recursion"] = max(recursive.values(), default=0)
    weights["dominant_thread"] = max(v[0] for v in selection.top("thread").values())
    want = {k: w for k, w in weights.items() if w and 100 * w >= THRESHOLDS[k] * selection.base}
    # rules are said from ten samples of equal weight on
    effective = selection.base ** 2 / sum(x.weight ** 2 / x.samples for x in selection.rows)
    for k in ("lock", "allocation", "page_fault", "syscall", "recursion"):
        if k in want and effective * want[k] / selection.base < 10:
            del want[k]
    answer = ask("summary", path)
    got = {f["id"]: f for f in answer["findings"] if f["id"] != "few_samples"}
    assert {k: f["weight"] for k, f in got.items()} == want
    for k, f in got.items():
        assert f["percent"] == percent(f["weight"], selection.base) and f["command"].startswith("spaa ")
        assert "%.2f%%" % (100 * f["weight"] / selection.base) in f["statement"] or k in ("dominant_thread",)
        if k in NAMES and not (k == "lock" and f["title"] == "LOCK CONTENTION"):
            through = {n: sum(x.weight for x in selection.rows if x.has([n])) for n in NAMES[k]}
            assert f["function"]["weight"] == max(through.values()) == through[f["function"]["function"]]
    few = [f for f in answer["findings"] if f["id"] == "few_samples"]
    samples = sum(x.samples for x in selection.rows)
    assert bool(few) == (samples < 1000)


def test_findings_of_counts(tmp_path):
    path = tmp_path / "c.spaa"
    path.write_text(profiles.text([(["f"], {"samples": 100, "period": 7})], x_spaa={"lost": 3, "truncated": 40}))
    found = {f["id"]: f for f in ask("summary", path)["findings"]}
    assert set(found) <= {"lost", "truncated", "few_samples"}
    assert found["few_samples"]["count"] == 100 and "50 % is 40.4 to 59.6 %, a share of 10 % is 5.5 to 17.4 %, a share of 1 % is 0.2 to 5.4 %" in found["few_samples"]["statement"]
    assert found["few_samples"]["intervals"][0] == {"percent": 50, "low": D("40.3832"), "high": D("59.6168")}


# Budgets

@pytest.mark.parametrize("command", [["top"], ["tree"], ["tree", "--min-percent", "0"], ["function", "NAME"], ["stacks"], ["summary"],
                                     ["timeline"]], ids=" ".join)
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_budgets(command, form, tmp_path):
    path = tmp_path / "b.spaa"
    path.write_text(profiles.random_text(9, stacks=120, samples=200))
    args = [command[0], path, *["/fn/" if x == "NAME" else x for x in command[1:]], "--format", form, "-n", 0]
    if command[0] == "summary":
        args = args[:-2]
    whole = run(*args, code=0)
    sizes = []
    for budget in (50, 400, 1000, 2500, 100000):
        answer = run(*args, "--budget", budget, code=0)
        size = len(answer.raw)
        assert size <= 3 * budget or "I617" in answer.err, (budget, size)
        sizes.append(size)
        if form in ("table", "markdown") and size < len(whole.raw) - 200:
            assert "larger --budget" in answer.out
        lines = set(re.sub(r" +", " ", x) for x in whole.out.splitlines())
        if form == "csv":
            assert set(answer.out.splitlines()) <= set(whole.out.splitlines()) or command[0] == "tree", "rows are never cut"
        assert lines
    assert sizes == sorted(sizes)


# Filters that fit nothing

def test_what_there_is_instead(tmp_path):
    path = tmp_path / "n.spaa"
    path.write_text(profiles.text([(["parse", "main"], 3, {"pid": 1, "tid": 2, "comm": "reader", "x_state": "RUNNABLE"}),
                                   ([{"func": "send", "dso": "/lib/net.so"}], 4, {"pid": 1, "tid": 3, "comm": "writer", "x_state": "WAITING"})]))
    for args, words in ((["--focus", "prase"], "parse"), (["--dso", "nett"], "net.so"), (["--comm", "raeder"], "reader"),
                        (["--thread", "wirter"], "writer"), (["--state", "RUNING"], "RUNNABLE"), (["--pid", "9"], "tid 2"),
                        (["--focus", "parse", "--comm", "writer", "--view", "all"], "no stack fits all")):
        said = ask("top", path, *args, code=1)["error"]
        assert words in said["hint"] and said["code"] == "SPAA-E032", (args, said)
    for option in ("--hide", "--ignore"):
        answer = run("top", path, option, "prase", code=0)
        assert "W611" in answer.out and "parse" in answer.out


def test_ids_of_rows_narrow_down_to_them(file):
    path, profile = file
    for by, option in (("thread", "--thread"), ("process", "--pid"), ("comm", "--comm"), ("dso", "--dso"), ("state", "--state")):
        answer = ask("top", path, "--by", by, "-n", 0, "--view", "all")
        for row in answer["rows"]:
            if row["id"] is None:
                continue
            narrow = ask("top", path, option, row["id"], *([] if by == "state" else ["--view", "all"]))
            same = [r["total"] for r in answer["rows"] if r["id"] == row["id"]]  # a thread with and without a name
            assert narrow["kept"] == sum(same) and (by == "thread" or len(same) == 1), (by, row)


# Groupings that only samples know

def grouped(keys, samples):
    rows = [{"type": "sample", "timestamp": i, "pid": 1, "tid": 2 + i % 3, "cpu": i % 2, "period": 10 + i, "stack_id": "s%d" % (i % 2)}
            for i in range(samples)]
    totals = [sum(x["period"] for x in rows if x["stack_id"] == s) for s in ("s0", "s1")]
    return rows, profiles.text([(["f", "main"], totals[0] + 5), (["g", "main"], totals[1])], after=rows,
                               x_spaa={"frames": "function", "group_by": keys, "id": "xxh3-64/2"})


def test_samples_tell_apart_what_stacks_do_not(tmp_path):
    path = tmp_path / "g.spaa"
    rows, text = grouped([], 20)
    path.write_text(text)
    for by, key, name in (("cpu", "cpu", "%d"), ("thread", "tid", "? (tid %d)"), ("process", "pid", "pid %d")):
        want = collections.Counter()
        for x in rows:
            want[name % x[key]] += x["period"]
        want[{"cpu": "?", "thread": "? (tid ?)", "process": "pid ?"}[by]] += 5  # what no sample accounts for
        assert {r["name"]: r["self"] for r in ask("top", path, "--by", by)["rows"]} == want
    assert ask("top", path, "--pid", 1)["kept"] == sum(x["period"] for x in rows)
    assert ask("top", path, "--by", "cpu", "--time", "..3")["whole"] == 10 + 11 + 12
    whole = ask("top", path)
    assert {r["function"]: r["self"] for r in whole["rows"]} == {
        "f": sum(x["period"] for x in rows[::2]) + 5, "g": sum(x["period"] for x in rows[1::2]), "main": 0}


def test_groupings_that_nothing_knows_are_refused(tmp_path):
    path = tmp_path / "g.spaa"
    path.write_text(grouped([], 0)[1])
    for args in (["--by", "cpu"], ["--by", "comm"], ["--pid", "3"]):
        said = ask("top", path, *args, code=2)["error"]
        assert said["code"] == "SPAA-E033" and "--group-by" in said["hint"]


def test_the_page_says_the_thresholds():
    import os
    root = os.path.join(os.path.dirname(__file__), "..", "..")
    with open(os.path.join(root, "src", "analysis", "findings.def"), encoding="utf-8") as f:
        table = re.findall(r'^SP_FINDING\(\w+, "(\w+)", (\d+), (\w+)', f.read(), re.M)
    with open(os.path.join(root, "docs", "findings.md"), encoding="utf-8") as f:
        text = f.read()
    page = dict(re.findall(r"^\| \[?`(\w+)`\S* \| (.*) \|$", text, re.M))
    assert len(table) == 22 and {name for name, _, _ in table} <= set(page)
    for name, threshold, group in table:
        assert re.search(r"\b%s\b" % threshold, page[name]), name
        assert group != "RULE" or re.search(r"^### %s$" % name, text, re.M), name


def test_long_stacks_for_people(tmp_path):
    """Frames of one function in a row are one line, the middle of what is still long is left out; JSON has every frame."""
    path = tmp_path / "deep.folded"
    path.write_text("main;" + "again;" * 98 + "leaf 5\n" +
                    "root;" + ";".join("f%d" % i for i in range(60)) + " 3\n")
    rows = ask("stacks", path)["rows"]
    assert [len(r["frames"]) for r in rows] == [100, 61]
    out = run("stacks", path, code=0).out
    assert re.search(r"^    leaf\b.*\n    again ×98\b.*\n    main\b", out, re.M)
    assert re.search(r"^    f59\b(.*\n    f\d+\b){11}.*\n    … 41 frames \(--id shows them\) ….*(\n    f\d\b.*){7}\n    root\b", out, re.M)
    for args in (["--id", rows[1]["id"]], ["--names", "full"]):
        assert all(re.search(r"^    f%d\b" % i, run("stacks", path, *args, code=0).out, re.M) for i in range(60))
    short = tmp_path / "short.folded"
    short.write_text(";".join("f%d" % i for i in range(24)) + " 3\n")
    assert "frames (--id" not in run("stacks", short, code=0).out and "×" not in run("stacks", short).out


def test_function_for_people(tmp_path):
    """One thread stands in the first line, columns that are of nothing are left out; name and file may be in any order."""
    name = "int ns::work<std::vector<int>>(std::string const&, int)"
    frames = [{"func": name, "dso": "/opt/app/bin/app", "srcline": "w.cc:3"}, {"func": "main", "dso": "/opt/app/bin/app"}]
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text([([{"func": "leaf", "dso": "/lib/l.so"}, *frames], {"samples": 3, "period": 300},
                                    {"pid": 1, "tid": 2, "comm": "t"})]))
    out = run("function", path, "ns::work", code=0).out
    assert re.match(r"event .*\nns::work<?.* in app \(f:[0-9a-f]+\).*, all in t \(tid 2\)\nself 0 .*, total 300 ", out), out
    assert "samples" not in out.partition("\n")[2] and "self%" not in out and name not in out
    assert name in run("function", path, "ns::work", "--names", "full").out
    answer = ask("function", path, "ns::work")
    assert len(answer["threads"]) == 1 and answer["callers"][0]["samples"] == 3
    assert run("function", "ns::work", path, code=0).out == out
    assert "cannot open" in run("function", "nofile", "nofile", code=3).err


def test_nodes_that_only_pass_weight_on(tmp_path):
    """For people three and more of libraries in a row are a number behind the node above them; whoever asks sees all."""
    lib = [{"func": "rt%d" % i, "dso": "/usr/lib/librt.so.1"} for i in range(6)]
    own = lambda name: {"func": name, "dso": "/opt/app/bin/app"}
    path = tmp_path / "deep.spaa"
    path.write_text(profiles.text([([own("leaf"), own("work"), *lib, own("main")], 90), ([own("leaf"), *lib[:2], own("other")], 10)]))
    out = run("tree", path, code=0).out
    assert re.search(r"  main \[then 6 that only pass it on\]\n.*  work\n.*  leaf\n", out) and "--names full shows" in out
    assert " rt3" not in out and " rt0\n" in out, "two in a row are shown"
    for args in (["-n", 0], ["--names", "full"]):
        whole = run("tree", path, *args, code=0).out
        assert all(" rt%d" % i in whole for i in range(6)) and "then 6" not in whole
    assert [n["name"] for n in ask("tree", path)["nodes"]].count("rt3") == 1
    path.write_text(profiles.text([([own("leaf"), *lib, own("main")], 90), ([own("leaf"), *lib[2:], own("main")], 10)]))
    out = run("tree", path, code=0).out
    assert re.search(r" rt5 \[then 2", out) is None and " rt2" in out, "weight goes two ways there"
    own_chain = [own("f%d" % i) for i in range(6)]
    path.write_text(profiles.text([([*own_chain, own("main")], 1)]))
    assert all(" f%d" % i in run("tree", path, code=0).out for i in range(6)), "the program's own are shown"

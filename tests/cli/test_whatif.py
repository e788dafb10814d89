"""whatif: what is left when functions get faster, against arithmetic over the stacks themselves."""

import fractions
import itertools
import random
import re

import pytest

import profiles
from conftest import ask, run, unwrapped

F = fractions.Fraction
FACTORS = {"2x": F(1, 2), "0": F(0), "50%": F(1, 2), "3x": F(1, 3), "0.5x": F(2), "150%": F(3, 2), "1.25x": F(4, 5), "0%": F(0)}


def strength(m):
    return float("inf") if m == 0 else max(m, 1 / m)


def left(stacks, changes):
    """What is left of {(frames root first): weight}, by the strongest change of each stack."""
    total = F(0)
    for frames, weight in stacks.items():
        of = [FACTORS[f] for name, f in changes
              if (frames[-1] == name[5:] if name.startswith("self:") else name in frames)]
        total += weight * (min(of, key=lambda m: (-strength(m), m)) if of else 1)
    return total


def folded(tmp_path, stacks):
    path = tmp_path / "a.folded"
    path.write_text("".join("%s %d\n" % (";".join(f), w) for f, w in stacks.items()))
    return path


@pytest.mark.parametrize("seed", range(12))
def test_any_changes_are_what_the_stacks_say(tmp_path, seed):
    r = random.Random(seed)
    names = ["f%d" % i for i in range(8)]
    stacks = {}
    for _ in range(60):
        key = tuple(r.choice(names) for _ in range(r.randint(1, 7)))
        stacks[key] = stacks.get(key, 0) + r.randint(1, 1000)
    path = folded(tmp_path, stacks)
    present = sorted({f for s in stacks for f in s})
    for n in (1, 1, 2, 3, 5):
        changes = [(r.choice(["", "", "self:"]) + name, r.choice(sorted(FACTORS))) for name in r.sample(present, n)]
        answer = ask("whatif", path, *("%s=%s" % c for c in changes))
        assert abs(answer["after"] - left(stacks, changes)) <= F(n, 2), changes
        for row, (name, f) in zip(answer["changes"], changes):
            of = sum(w for s, w in stacks.items() if (s[-1] == name[5:] if name.startswith("self:") else name in s))
            assert row["weight"] == of and abs(float(row["factor"]) - float(FACTORS[f])) < 1e-9
        assert sum(c["scaled"] for c in answer["changes"]) <= answer["whole"]
        assert abs(sum(c["left"] - c["scaled"] for c in answer["changes"]) + answer["whole"] - answer["after"]) == 0


def test_names_expressions_and_handles(tmp_path):
    path = folded(tmp_path, {("main", "a(int, char)"): 10, ("main", "b"): 20, ("main", "b2"): 30})
    assert ask("whatif", path, "a(int, char)=2x")["after"] == 55
    assert ask("whatif", path, "/^b/=0")["after"] == 10
    handle = ask("top", path)["rows"][0]["id"]
    assert ask("whatif", path, handle + "=0")["after"] == 30
    both = ask("whatif", path, "a(int, char)=2x b=0")  # one word, as of SQL and the library
    assert both["after"] == 35 and both == ask("whatif", path, "a(int, char)=2x", "b=0")


NAMED = {("main", "unsigned long mix<unsigned long, 3>(unsigned long)"): 30, ("main", "a::Matrix<unsigned long>::sum() const"): 10,
         ("main", "void mix<int, 3>(int)"): 5, ("main", "void over<int>(int)"): 3, ("main", "void over<int>(long)"): 2,
         ("main", "void call<mix<int, 3>(int)>(int)"): 1}


@pytest.mark.parametrize("name,after", [
    ("mix<unsigned long, 3>", 36), ("a::Matrix<unsigned long>::sum", 46), ("Matrix<unsigned long>::sum", 46), ("mix<int, 3>", 48.5),
    ("unsigned long mix<unsigned long, 3>(unsigned long)", 36)])
def test_names_with_template_arguments_and_no_parameters(tmp_path, name, after):
    path = folded(tmp_path, NAMED)
    assert abs(ask("whatif", path, name + "=2x")["after"] - after) <= 0.5
    assert ask("function", path, name)["function"]["id"] == ask("whatif", path, name + "=2x")["changes"][0]["id"]


@pytest.mark.parametrize("name", ["over<int>", "mix<unsigned", "ix<int, 3>", "<int>", "atrix<unsigned long>::sum", "mix<long, 3>"])
def test_names_that_fit_none_or_several_are_refused(tmp_path, name):
    path = folded(tmp_path, NAMED)
    assert run("whatif", path, name + "=2x").code == run("function", path, name).code == 1


def test_recursion_counts_once_and_vanishing_leaves_nothing(tmp_path):
    path = folded(tmp_path, {("main", "r", "r", "r"): 8})
    assert ask("whatif", path, "r=2x")["after"] == 4
    gone = ask("whatif", path, "main=0")
    assert (gone["after"], gone["speedup"]) == (0, None)
    assert "nothing is left" in run("whatif", path, "main=0", code=0).out


def test_the_strongest_factor_of_a_stack_counts(tmp_path):
    path = folded(tmp_path, {("outer", "inner"): 60, ("outer",): 40})
    assert ask("whatif", path, "outer=2x", "inner=3x")["after"] == 40
    assert ask("whatif", path, "outer=2x", "inner=0.5x")["after"] == 50  # equally strong: the faster one
    assert ask("whatif", path, "outer=2x", "inner=0.25x")["after"] == 260


def test_slower_is_said(tmp_path):
    path = folded(tmp_path, {("main", "a"): 10, ("main", "b"): 10})
    said = run("whatif", path, "a=0.5x", code=0).out.splitlines()[0]
    assert "20 → 30 (× 1.5): a 2× as slow" in said and "at least" not in said


def test_what_is_said_first(tmp_path):
    path = folded(tmp_path, {("main", "a"): 75, ("main", "b"): 25})
    said = run("whatif", path, "a=3x", code=0).out.splitlines()
    assert said[0].endswith("100 → 50 at least (÷ 2 at most): a 3× as fast")
    assert any(s.startswith("assumes") for s in said)


@pytest.mark.parametrize("weights,said", [
    ((202, 3), "202 → 200.5 at least (÷ 1.0075 at most)"),
    ((100, 5), "100 → 97.5 at least (÷ 1.026 at most)"),
    ((1001, 1001), "1001 → 500.5 at least (÷ 2 at most)"),
    ((95, 95), "95 → 47.5 at least (÷ 2 at most)"),
    ((100, 50), "100 → 75 at least (÷ 1.34 at most)")])
def test_bounds_of_few_are_no_rounder_than_they_are(tmp_path, weights, said):
    """What is left at least is not more, and the speedup at most not less, than by fractions."""
    whole, a = weights
    path = folded(tmp_path, {("main", "a"): a, ("main", "b"): whole - a} if a < whole else {("main", "a"): a})
    line = run("whatif", path, "a=2x", code=0).out.splitlines()[0].replace(",", "")
    assert said in line
    least, most = (F(re.search(r, line).group(1)) for r in (r"→ ([\d.]+) at least", r"÷ ([\d.]+) at most"))
    true = left({("main", "a"): a, ("main", "b"): whole - a}, [("a", "2x")])
    assert least <= true and most >= whole / true
    assert 0 <= F(str(ask("whatif", path, "a=2x")["speedup"])) - whole / true < F(1, 10000)


def threads(tmp_path):
    path = tmp_path / "t.spaa"
    rows = [([f, "main"], {"period": w}, {"pid": 1, "tid": t, "comm": c}) for f, w, t, c in
            (("work", 400, 11, "http-1"), ("work", 300, 12, "http-2"), ("idle", 100, 13, "http-3"), ("sync", 350, 2, "app"))]
    path.write_text(profiles.text([(f, w["period"], c) for f, w, c in rows]))
    return path


def test_pools_and_the_busiest_thread(tmp_path):
    answer = ask("whatif", threads(tmp_path), "work=2x")
    rows = {r["name"]: (r["kind"], r["weight"], r["after"]) for r in answer["rows"]}
    assert rows == {"http-* (3)": ("pool", 800, 450), "app (tid 2)": ("thread", 350, 350)}
    assert answer["busiest"]["before"] == {"name": "http-1 (tid 11)", "weight": 400}
    assert answer["busiest"]["after"] == {"name": "app (tid 2)", "weight": 350}
    alone = ask("whatif", threads(tmp_path), "work=2x", "--no-pool")
    assert {r["name"]: r["after"] for r in alone["rows"]} == \
        {"http-1 (tid 11)": 200, "http-2 (tid 12)": 150, "http-3 (tid 13)": 100, "app (tid 2)": 350}
    only = ask("whatif", threads(tmp_path), "work=2x", "--thread", "12")
    assert (only["kept"], only["after"]) == (300, 150)


def test_sampling_says_how_sure_it_is(tmp_path):
    path = tmp_path / "s.spaa"
    path.write_text(profiles.text([(["a", "main"], {"period": 300, "samples": 300}), (["b", "main"], {"period": 700, "samples": 700})]))
    answer = ask("whatif", path, "a=0", "--metric", "period")
    low, high = answer["sampling"]["low"], answer["sampling"]["high"]
    # Wilson's interval of 700 of 1,000 is 67.08 to 72.76 %.
    assert abs(low - 671) <= 1 and abs(high - 728) <= 1
    half = ask("whatif", path, "a=2x", "--metric", "period")["sampling"]
    assert abs(half["low"] - (500 + low / 2)) <= 1 and abs(half["high"] - (500 + high / 2)) <= 1


def broken(tmp_path):
    """perf script's text: half of the weight begins at no thread's entry."""
    path = tmp_path / "b.perf-script.txt"
    whole = "\tffff1 f+0x1 (/bin/app)\n\tffff2 main+0x2 (/bin/app)\n\tffff3 _start+0x5 (/bin/app)\n"
    cut = "\tffff4 memcpy+0x1 (/lib/libc.so.6)\n\tffff9 [unknown] (/lib/libc.so.6)\n"
    text = "".join("app 7 %d.%06d: 1000000 cpu-clock: \n%s\n" % (i // 1000, i % 1000 * 1000, whole if i % 2 else cut)
                   for i in range(1, 401))
    path.write_text(text)
    return path


def test_missing_callers_bound_it_both_ways(tmp_path):
    path = broken(tmp_path)
    answer = ask("whatif", path, "f=2x")
    top = {r["function"]: r for r in ask("top", path, "-n", 0)["rows"]}["f"]
    assert top["total_at_most"] > top["total"]
    assert answer["after"] == answer["kept"] - top["total"] // 2
    assert answer["after_at_least"] == answer["kept"] - top["total_at_most"] // 2
    assert answer["after_at_most"] == answer["after"]
    assert "…" in run("whatif", path, "f=2x", code=0).out.splitlines()[0]
    slower = ask("whatif", path, "f=0.5x")
    assert slower["after_at_most"] == slower["kept"] + top["total_at_most"] and slower["after_at_least"] == slower["after"]
    alone = ask("whatif", path, "self:memcpy=2x")  # self is exact
    assert "after_at_least" not in alone and alone["after"] == alone["kept"] - top_self(path, "memcpy") // 2


def top_self(path, name):
    return {r["function"]: r["self"] for r in ask("top", path, "-n", 0)["rows"]}[name]


@pytest.mark.parametrize("words,code,says", [
    (["nosuch=2x"], 1, "SPAA-E032"), (["parse"], 2, "=2x"), (["a=2"], 2, "=2x"), (["a=0x"], 2, "=2x"), (["a=-1x"], 2, "=2x"),
    (["a=2y"], 2, "=2x"), (["=2x"], 2, "=2x"), (["a=1e3x"], 2, "=2x"), (["/(/=2x"], 2, ""), (["a=99999999999x"], 2, "=2x"),
    (["a=0.0000001x"], 2, "=2x"), (["a=2x junk"], 2, "=2x"),
])
def test_bad_input(tmp_path, words, code, says):
    path = folded(tmp_path, {("main", "a"): 1})
    assert says in str(ask("whatif", path, *words, code=code)["error"])


def test_near_names_are_offered(tmp_path):
    path = folded(tmp_path, {("main", "validate"): 1})
    assert "validate" in ask("whatif", path, "valdate=2x", code=1)["error"]["hint"]


def test_a_file_alone_and_too_many(tmp_path):
    path = folded(tmp_path, {("main", "a"): 1})
    assert "FUNCTION" in ask("whatif", path, code=2)["error"]["hint"]
    ask("whatif", path, *["a=2x"] * 32)
    assert "32" in str(ask("whatif", path, *["a=2x"] * 33, code=2)["error"])


def test_forms_agree(tmp_path):
    path = threads(tmp_path)
    rows = ask("whatif", path, "work=2x", "sync=0")["rows"]
    sheet = run("whatif", path, "work=2x", "sync=0", "--format", "csv", code=0).out.splitlines()
    assert len(sheet) == len(rows) + 5  # two headings, two changes, a line between
    table = ask("query", path, "SELECT name, after FROM ask_whatif('work=2x sync=0')")["rows"]
    assert [tuple(r.values()) if isinstance(r, dict) else tuple(r) for r in table] == [(r["name"], r["after"]) for r in rows]


def test_every_order_of_changes_says_the_same(tmp_path):
    path = threads(tmp_path)
    said = {ask("whatif", path, *order)["after"] for order in itertools.permutations(["work=2x", "main=3x", "sync=0"])}
    assert len(said) == 1


def test_lines_fit(tmp_path):
    out = run("whatif", threads(tmp_path), "work=2x", "sync=0", code=0).out
    assert all(len(s) <= 120 for s in out.splitlines())
    assert re.search(r"strongest", unwrapped(out))

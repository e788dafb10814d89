"""The first lines of diff settle it: which functions, each run's value, the same work or the same time, renames."""

import os
import random
import re

import pytest

import profiles
from comparison import ask, write
from conftest import ROOT, run, unwrapped

MS = 1000000
WORK = {"sort_rows": 400, "format_row": 130, "walk": 60, "main": 5}


def recording(tmp_path, name, counts, seed, seconds=None, places=None, calls=None):
    """A run of so many samples of 1 ms of each function; places: where in the code they are; calls: its caller."""
    r = random.Random(seed)
    stacks = {}
    for function, n in counts.items():
        about = (places or {}).get(function, {})
        caller = (calls or {}).get(function, "main")
        for _ in range(round(n)):
            key = (function, caller, r.choice(about["at"]) if about else None)
            stacks[key] = stacks.get(key, 0) + 1
    made = []
    for (function, caller, at), n in stacks.items():
        frame = {"func": function, "dso": "/bin/app"}
        if at is not None:
            about = places[function]
            frame.update(ip=hex(about["start"] + at), symoff=hex(at), x_func={
                "start": hex(about["start"]), "file": about["file"], "line": about["line"]})
        made.append(([frame] + ([caller] if function != caller else []), {"period": MS * n, "samples": n}))
    events = [{"name": "cpu-clock", "kind": "software", "sampling": {"mode": "frequency", "primary_metric": "period",
                                                                     "frequency_hz": 1000}}]
    text = profiles.text(made, events, **({"time_range": {"start": 0, "end": seconds, "unit": "seconds"}} if seconds else {}))
    return write(tmp_path, name + ".spaa", re.sub(r'("metric": ?"period", ?"value": ?\d+)', r'\1,"unit":"ns"', text))


def sides(tmp_path, base, new, runs=3, timed=lambda counts: sum(counts.values()) / 1000, **more):
    def files(name, counts, which):
        made = []
        for i in range(runs):
            r = random.Random("%s%d" % (name, i))
            own = {k: n and max(1, n + r.choice([-1, 0, 1]) * (n >= 50)) for k, n in counts.items()}
            made.append(recording(tmp_path, "%s%d" % (name, i), own, i, timed(own), **{k: v[which] for k, v in more.items()}))
        return made
    return [*files("a", base, 0), "--", *files("b", new, 1)]


def test_one_function_takes_twice_as_long(tmp_path):
    given = sides(tmp_path, WORK, {**WORK, "format_row": 260})
    text = run("diff", *given, code=0).out
    assert text.splitlines()[0].startswith("SLOWER: format_row  131 → 261 ms/run (×1.99)")
    assert "runs    format_row 13" in text and "beyond what runs differ by (q " in unwrapped(text)
    assert "fixed work, as sort_rows, walk and 1 more cost the same a run" in unwrapped(text) and "runs last +21" in unwrapped(text)
    assert len(text.encode()) <= 1800
    answer = ask("diff", *given)
    first, = answer["headline"]
    assert (first["kind"], first["function"]) == ("slower", "format_row") and first["factor"] == pytest.approx(2, rel=0.02)
    assert [round(x / MS) for x in first["runs"]["base"]] == pytest.approx([130] * 3, abs=1)
    assert [round(x / MS) for x in first["runs"]["new"]] == pytest.approx([260] * 3, abs=1)
    assert answer["method"]["reading"] == "fixed_work" and set(answer["method"]["reference"]) == {"sort_rows", "walk", "main"}
    assert first["text"] in text.splitlines()[0]
    back = run("diff", *given[4:], "--", *given[:3], code=0).out
    assert back.startswith("FASTER: format_row  261 → 131 ms/run (×0.5")


def test_several_are_a_line_each_by_size_and_the_rest_a_number(tmp_path):
    names = {"f%d" % i: 100 + 5 * i for i in range(12)}
    grown = {k: v * (2 if i < 5 else 1) for i, (k, v) in enumerate(names.items())}
    given = sides(tmp_path, names, grown)
    lines = run("diff", *given, code=0).out.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["SLOWER:", "f4"], ["SLOWER:", "f3"], ["SLOWER:", "f2"]]
    assert lines[2].endswith("and 2 more") and not lines[3].startswith("SLOWER")
    answer = ask("diff", *given)
    assert len(answer["headline"]) == 3 and answer["headlines_left_out"] == 2


def test_runs_of_a_fixed_time(tmp_path):
    """A server that is watched for as long: what did not change has less of it, and is not faster."""
    work = {"parse": 4000, "lookup": 3500, "pack": 1000, "hash": 1500}
    total = sum(work.values())
    new = {k: round(v * (3 if k == "pack" else 1) * total / (total + 2000)) for k, v in work.items()}
    given = sides(tmp_path, work, new, timed=lambda counts: 10)
    text = unwrapped(run("diff", *given, code=0).out)
    assert text.startswith("SLOWER: pack ") and "FASTER" not in text
    assert "runs last as long: fixed time, as parse, lookup and 1 more cost otherwise a run (-1" in text and "; ×3.0" in text.splitlines()[0]
    assert ask("diff", *given)["method"]["reading"] == "fixed_time"


def test_everything_slower_is_said_of_the_whole(tmp_path):
    names = {"f%d" % i: 400 + i for i in range(6)}
    text = run("diff", *sides(tmp_path, names, {k: v * 2 for k, v in names.items()}, timed=lambda counts: None), code=0).out
    assert text.startswith("SLOWER: the whole  2.4")
    assert "no function stands out" in unwrapped(text)


def test_one_run_a_side_never_says_that_the_program_changed(tmp_path):
    a, b = recording(tmp_path, "a", WORK, 1), recording(tmp_path, "b", {**WORK, "format_row": 390}, 2)
    text = unwrapped(run("diff", a, b, code=0).out)
    assert text.startswith("DIFFERS WITHIN THE RUNS: ") and "SLOWER" not in text and "FASTER" not in text
    assert "needs repeats" in text and "as shares: what shrank may have left its place" in text
    answer = ask("diff", a, b)
    assert answer["verdict"] == "NOT ESTABLISHED" and {x["kind"] for x in answer["headline"]} == {"differs"}
    assert unwrapped(run("diff", a, a, code=0).out).startswith("NOT ESTABLISHED: no function differs")


def test_nothing_found_says_what_would_have_been(tmp_path):
    text = unwrapped(run("diff", *sides(tmp_path, WORK, WORK), code=0).out)
    assert text.startswith("NO CHANGE FOUND: ") and "would have been found 4 times in 5: +" in text
    assert "runs the whole 59" in text and "within what runs differ by" in text


# ---- what is told, and what is not ----

SEVERAL = {"f%d" % i: 100 + 5 * i for i in range(8)}


def test_everything_costs_more_and_runs_last_longer(tmp_path):
    given = sides(tmp_path, SEVERAL, {k: v * 1.5 for k, v in SEVERAL.items()})
    text = unwrapped(run("diff", *given, "--fail-on", "whole>10%", code=5).out)
    assert text.startswith("NOT ESTABLISHED: everything costs ×1.50 a run alike: more work, a slower machine or slower code? --work N says")
    assert "slower, or recorded for longer? --work says what was done" in text.split("limit whole")[1] and "NO CHANGE" not in text
    answer = ask("diff", *given)
    assert answer["verdict"] == "NOT ESTABLISHED" and answer["headline"] == [] and "everything costs ×1.50" in answer["summary"]
    assert unwrapped(run("diff", *given, "--work", "10,15", code=0).out).startswith("NO CHANGE FOUND")
    assert unwrapped(run("diff", *given, "--work", "10", code=0).out).startswith("SLOWER: the whole")


def test_one_run_a_side_has_shares_first_and_no_cost_a_second(tmp_path):
    """The new one had to share its CPU: the same work took five times as long by the clock."""
    a = recording(tmp_path, "a", WORK, 1, 0.6)
    b = recording(tmp_path, "b", {**WORK, "format_row": 260}, 2, 3.3)
    text = unwrapped(run("diff", a, b, code=0).out)
    assert re.match(r"DIFFERS WITHIN THE RUNS: format_row self 21\.8 → 35\.9 % \(95 %: [^)]*\); 130 → 260 ms/run \(×2\.00\), if both did", text)
    assert "ms/s" not in text and "×0." not in text.splitlines()[0]
    answer = ask("diff", a, b)
    assert answer["method"]["cost_per"] == "run" and answer["headline"][0]["factor"] == 2


def test_one_run_against_three_that_took_other_times(tmp_path):
    often = {k: 10 * v for k, v in SEVERAL.items()}
    a = recording(tmp_path, "a", often, 1, 0.6)
    new = [recording(tmp_path, "b%d" % i, {**often, "f3": 2300 + i}, i, s) for i, s in enumerate((3.3, 1, 0.8))]
    text = unwrapped(run("diff", a, "--", *new, code=0).out)
    assert text.startswith("SLOWER: f3 1.15 → 2.3 s/run (×2.00)")


def test_a_factor_that_costs_do_not_show_is_against_the_others(tmp_path):
    """Watched for other times, on machines of other speed: the factor is that against what the others do."""
    def files(name, counts, scales):
        return [recording(tmp_path, "%s%d" % (name, i), {k: v * s for k, v in counts.items()}, i, 1 + i)
                for i, s in enumerate(scales)]
    a, b = files("a", SEVERAL, (6, 12, 18)), files("b", {**SEVERAL, "f3": 230}, (3, 6, 9))
    first = run("diff", *a, "--", *b, code=0).out.splitlines()[0]
    assert first.startswith("SLOWER: f3  ×2.0") and "against the median function; self " in first and "ms/s (×" not in first


def kernel(tmp_path, name, counts, i):
    made = [([{"func": f, "dso": "[kernel]" if f.startswith("k") else "/bin/app", "dso_kind": "kernel" if f.startswith("k") else "user"},
              "main"], {"period": n, "samples": n}) for f, n in counts.items()]
    return write(tmp_path, "%s%d.spaa" % (name, i), profiles.text(made))


def test_own_functions_come_before_others_and_before_what_weighs_little(tmp_path):
    base = {**{"f%d" % i: 2000 for i in range(8)}, "k_page": 1200, "k_irq": 20}
    new = {**base, "f3": 2600, "k_page": 2400, "k_irq": 150}
    a, b = ([kernel(tmp_path, n, {k: v + (i * 7) % 5 for k, v in c.items()}, i) for i in range(3)] for n, c in (("a", base), ("b", new)))
    text = run("diff", *a, "--", *b, code=0).out
    lines = text.splitlines()
    assert lines[0].startswith("SLOWER: f3 ") and lines[1].startswith("SLOWER: k_page ") and not lines[2].startswith("SLOWER")
    assert "little or unsure: k_irq self 0.1" in unwrapped(text)
    answer = ask("diff", *a, "--", *b)
    assert [x["function"] for x in answer["headline"]] == ["f3", "k_page"] and answer["headlines_left_out"] == 1
    only = {**base, "k_irq": 150}
    c = [kernel(tmp_path, "c", {k: v + (i * 7) % 5 for k, v in only.items()}, i) for i in range(3)]
    assert run("diff", *a, "--", *c, code=0).out.startswith("SLOWER: k_irq "), "where nothing else changed"


def test_a_first_line_has_no_interval_with_0(tmp_path):
    base = {**{"f%d" % i: 500 for i in range(8)}, "k_irq": 1}
    a, b = ([kernel(tmp_path, n, {k: v + (i * 7) % 3 * (v > 9) for k, v in c.items()}, i) for i in range(3)]
            for n, c in (("a", base), ("b", {**base, "k_irq": 12})))
    for line in run("diff", *a, "--", *b, code=0).out.splitlines():
        for lo, hi in re.findall(r"\(95 %: ([+-]?[0-9.]+)…([+-]?[0-9.]+)\)", line):
            assert float(lo) * float(hi) > 0, line


def test_what_would_have_been_found_is_of_functions_that_matter(tmp_path):
    """A row of ten samples, of which nothing could be told, says nothing of those that matter."""
    base = {**{"f%d" % i: 1000 for i in range(8)}, "k_irq": 4}
    a, b = ([kernel(tmp_path, n, {k: v + (i * 7) % 5 for k, v in base.items()}, i) for i in range(3)] for n in "ab")
    text = unwrapped(run("diff", *a, "--", *b, code=0).out)
    points = float(re.search(r"and ([0-9.]+) points in any of 8 functions", text)[1])
    assert points < 3 and "no change could have been found" not in text


def test_what_differs_in_total_alone_is_named(tmp_path):
    def files(name, caller):
        return [write(tmp_path, "%s%d.spaa" % (name, i), profiles.text(
            [(["f%d" % k, caller if k < 3 else "other", "main"], {"period": 500 + i, "samples": 500 + i}) for k in range(8)]))
            for i in range(3)]
    text = unwrapped(run("diff", *files("a", "first"), "--", *files("b", "second"), code=0).out)
    assert text.startswith("NO CHANGE FOUND") and re.search(r"yet (first|second) [0-9.]+ → [0-9.]+ %, (first|second) ", text)


# ---- renamed functions ----

def code(start, line, at=(4, 9, 16, 23), file="/src/report.c"):
    return {"start": start, "line": line, "at": list(at), "file": file}


def renamed(tmp_path, base, new, old="sum_rows", now="total_rows", callers=("main", "main"), counts=(60, 61)):
    given = sides(tmp_path, {**WORK, old: counts[0]}, {**WORK, now: counts[1]}, places=({old: base}, {now: new}),
                  calls=({old: callers[0]}, {now: callers[1]}))
    return ask("diff", *given), unwrapped(run("diff", *given, code=0).out)


def test_a_renamed_function_is_one_row(tmp_path):
    answer, text = renamed(tmp_path, code(0x1200, 14), code(0x1340, 17))
    row = next(r for r in answer["rows"] if r["function"] == "total_rows")
    assert row["renamed_from"] == "sum_rows" and row["base_samples"] > 170 and row["new_samples"] > 170
    assert answer["new_functions"] == answer["vanished_functions"] == [] and answer["verdict"] == "NO CHANGE FOUND"
    one, = answer["renamed"]
    assert (one["base"], one["new"], one["lines_moved"], one["same_callers"]) == ("sum_rows", "total_rows", 3, True)
    assert one["places_percent"] > 80
    assert "matched sum_rows → total_rows (renamed? same code (" in text


def test_limits_know_a_renamed_function_by_either_name(tmp_path):
    given = sides(tmp_path, {**WORK, "sum": 60}, {**WORK, "total": 60}, places=({"sum": code(0x1200, 14)}, {"total": code(0x1210, 14)}))
    for name in ("sum", "total"):
        assert "passed" in run("diff", *given, "--fail-on", name + ">60%", code=0).out


@pytest.mark.parametrize("what, base, new, more", [
    ("other code", code(0x1200, 14), code(0x1200, 14, at=(5, 11, 18, 30)), {}),
    ("another file", code(0x1200, 14), code(0x1200, 14, file="/src/other.c"), {}),
    ("far away", code(0x1200, 14), code(0x1200, 400), {}),
    ("other callers", code(0x1200, 14), code(0x1200, 14), {"callers": ("main", "walk")}),
    ("nothing known", {}, {}, {}),
])
def test_a_removed_function_and_a_new_one_are_two(what, base, new, more, tmp_path):
    answer, text = renamed(tmp_path, base, new, **more)
    assert answer["renamed"] == [] and "renamed?" not in text
    assert [r["function"] for r in answer["vanished_functions"]] == ["sum_rows"], what
    assert [r["function"] for r in answer["new_functions"]] == ["total_rows"], what


def test_a_rename_that_weighs_otherwise_is_said_and_is_two_rows(tmp_path):
    answer, text = renamed(tmp_path, code(0x1200, 14), code(0x1200, 14), counts=(60, 160))
    assert answer["renamed"] == [] and [r["function"] for r in answer["vanished_functions"]] == ["sum_rows"]
    one, = answer["possibly_renamed"]
    assert (one["base"], one["new"]) == ("sum_rows", "total_rows") and one["factor"] == pytest.approx(2.67, rel=0.05)
    assert ": total_rows (was sum_rows? ×2.6" in text and ": sum_rows (now total_rows? ×2.6" in text
    assert "matched sum_rows → total_rows (renamed? ×2.6" in text and "so two rows; same code (" in text
    given = sides(tmp_path, {**WORK, "sum": 60}, {**WORK, "total": 160}, places=({"sum": code(0x1200, 14)}, {"total": code(0x1200, 14)}))
    p = unwrapped(run("diff", *given, "--fail-on", "sum>10%", code=5).out)
    assert "sum is not in the new side: renamed to total, which weighs ×2.6" in p


def test_without_a_source_a_rename_that_weighs_otherwise_takes_nearly_all_of_the_code(tmp_path):
    def places(at):
        return {"at": list(at), "start": 0x1200, "file": "", "line": 0}
    for at, said in (((4, 9, 16, 23), True), ((4, 9, 16, 40), False)):
        given = sides(tmp_path, {**WORK, "sum": 60}, {**WORK, "total": 160}, places=({"sum": places((4, 9, 16, 23))}, {"total": places(at)}))
        assert bool(ask("diff", *given)["possibly_renamed"]) == said


def test_two_that_may_be_it_and_weigh_otherwise_are_not_said(tmp_path):
    places = ({"sum": code(0x1200, 14)}, {"total": code(0x1200, 14), "total2": code(0x1300, 20)})
    given = sides(tmp_path, {**WORK, "sum": 60}, {**WORK, "total": 160, "total2": 140}, places=places)
    assert ask("diff", *given)["possibly_renamed"] == [] and "renamed?" not in run("diff", *given).out


def test_two_that_fit_alike_are_not_taken(tmp_path):
    base, new = {**WORK, "sum": 60}, {**WORK, "total": 60, "total2": 60}
    places = ({"sum": code(0x1200, 14)}, {"total": code(0x1200, 14), "total2": code(0x1300, 20)})
    answer = ask("diff", *sides(tmp_path, base, new, places=places))
    assert answer["renamed"] == [] and len(answer["new_functions"]) == 2


def test_a_change_behind_a_rename_is_found(tmp_path):
    base, new = {**WORK, "sum": 60}, {**WORK, "total": 60, "format_row": 260}
    given = sides(tmp_path, base, new, places=({"sum": code(0x1200, 14)}, {"total": code(0x1210, 14)}))
    text = run("diff", *given, code=0).out
    assert text.startswith("SLOWER: format_row ") and "matched sum → total (renamed?" in text
    assert [x["function"] for x in ask("diff", *given)["headline"]] == ["format_row"]


# ---- work that moved ----

def test_work_that_went_into_its_caller_is_not_slower(tmp_path):
    work = {"fold": 300, "hash": 200, "walk": 60}
    calls = ({"scale": "apply"}, {})
    given = sides(tmp_path, {**work, "apply": 30, "scale": 100}, {**work, "apply": 131}, calls=calls)
    text = unwrapped(run("diff", *given, code=0).out)
    assert text.startswith("MOVED: scale → apply together 13"), text
    assert "SLOWER" not in text and "FASTER" not in text
    one, = ask("diff", *given)["headline"]
    assert one["kind"] == "moved" and {one["function"], one["moved_with"]} == {"scale", "apply"}
    slower = sides(tmp_path, {**work, "apply": 30, "scale": 100}, {**work, "apply": 330}, calls=calls)
    assert unwrapped(run("diff", *slower, code=0).out).startswith("SLOWER: apply ")


def test_of_much_work_that_moved_each_function_has_its_own_caller(tmp_path):
    names, work = range(20), {"work%d" % i: 200 + i for i in range(60)}
    base = {**{"caller%d" % i: 30 for i in names}, **{"callee%d" % i: 160 + 4 * i for i in names}, **work}
    new = {**{"caller%d" % i: 190 + 4 * i for i in names}, **work}
    calls = ({"callee%d" % i: "caller%d" % i for i in names}, {})
    found = ask("diff", *sides(tmp_path, base, new, calls=calls))["headline"]
    assert len(found) == 3
    for one in found:
        assert one["kind"] == "moved"
        assert {one["function"], one["moved_with"]} in [{"caller%d" % i, "callee%d" % i} for i in names]


def test_what_one_side_alone_has_is_listed_beside_what_the_first_lines_name(tmp_path):
    """Every function of one side stands once: in the first lines, in its table, or among those left out."""
    base = {"work": 4000, "old0": 900, **{"old%d" % i: 1 + i % 37 for i in range(1, 300)}}
    new = {"work": 4000, "new0": 700, **{"new%d" % i: 1 + i % 41 for i in range(1, 500)}}
    given = sides(tmp_path, base, new, runs=1)
    found = ask("diff", *given, "-n", "0")
    assert sorted(r["function"] for r in found["new_functions"]) == sorted("new%d" % i for i in range(500))
    assert sorted(r["function"] for r in found["vanished_functions"]) == sorted("old%d" % i for i in range(300))
    text = run("diff", *given, code=0).out
    head, tables = text.split("new functions", 1)
    said = set(re.findall(r"\b(?:old|new)\d+\b", head))
    assert said and not said & set(re.findall(r"\b(?:old|new)\d+\b", tables)), text


# ---- size ----

def test_text_is_short_by_default(tmp_path):
    long = "outer_namespace::inner_namespace::%s::operator()(std::vector<int, std::allocator<int> > const&) const"
    names = {long % ("Class%02d" % i): 60 + i for i in range(40)}
    grown = {k: v * (3 if i % 8 == 0 else 1) for i, (k, v) in enumerate(names.items())}
    given = sides(tmp_path, names, {**grown, **{long % ("Fresh%d" % i): 50 for i in range(5)}})
    given = [getattr(x, "name", x) for x in given]
    text = run("diff", *given, code=0, cwd=tmp_path).out
    assert len(text.encode()) <= 1800 and "-n 0 shows all" in text
    everything = run("diff", *given, "-n", 0, code=0, cwd=tmp_path).out
    assert len(everything) > 2 * len(text) and "39" in everything
    assert len(run("diff", *given, "--budget", 900, code=0, cwd=tmp_path).out.encode()) <= 2700


def test_memory_has_its_new_functions_in_a_table():
    """Its first line is about bytes and blocks, and names but one function."""
    folder = os.path.join(ROOT, "tests", "fixtures", "heaptrack")
    text = run("diff", os.path.join(folder, "damaged.heaptrack"), os.path.join(folder, "interpreted.heaptrack")).out
    assert text.startswith("CHANGED: alloc_bytes") and "malloc_wrapper" in text.split("new functions")[1]


@pytest.mark.parametrize("new,word", [(390, "CHANGED: g"), (150, "FASTER: g")])
def test_what_takes_more_a_run_is_not_faster(tmp_path, new, word):
    """All else doubled, so beside it g went down; each run took more of it."""
    runs = []
    for side, (others, g) in enumerate(((1000, 3000), (2000, new * 10))):
        for k in range(4):
            path = tmp_path / f"{side}{k}.folded"
            path.write_text("".join(f"main;{f} {others + 7 * ((k + i) % 5)}\n" for i, f in enumerate("abcdefh")) + f"main;g {g + 5 * k}\n")
            runs.append(path)
    text = run("diff", *runs[:4], "--", *runs[4:]).out
    assert word in text and (("FASTER" in text) == word.startswith("FASTER")), text

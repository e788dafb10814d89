"""diff on the command line: what it refuses, its gate, its forms."""

import csv
import io
import json
import re

import pytest

import conftest
import profiles
from comparison import ask, repeated, rows_of, side_text, timed_text, write
from conftest import run, unwrapped


@pytest.mark.parametrize("args, code, word", [
    (["A"], 2, "two profiles"), (["A", "A", "A"], 2, "two profiles"), (["--", "A"], 2, "before"),
    (["A", "--"], 2, "after"), (["A", "A", "--fail-on", "self>"], 2, "no limit"),
    (["A", "A", "--fail-on", "self>2"], 2, "no limit"), (["A", "A", "--fail-on", ">2%"], 2, "say what"),
    (["A", "A", "--fail-on", "whole>2pp"], 2, "100 %"), (["A", "A", "--fail-on", "self>2%,"], 2, "no limit"),
    (["A", "A", "--fail-on", "mian>2%"], 2, "did you mean main?"), (["A", "A", "--method", "repeats"], 2, "1 against 1"),
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
    for limit in ("self>2%", "self>2pp", "total>1pp", "parse>20%", "self:parse>20%", "cum:parse>1pp", "whole>1000%,self>2%"):
        run(*slower, limit, code=1)
    for limit in ("self>60pp", "free>50%", "whole>100%", "self>50%"):
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


def test_limits_of_one_run_a_side_are_open(tmp_path):
    """Neither passed nor breached, whatever is seen: one run does not tell how runs differ."""
    a, b = (write(tmp_path, "%d.spaa" % i, side_text(i, shift=("parse", 1 + i))) for i in (0, 1))
    hot = [write(tmp_path, "t%d.spaa" % i, timed_text(i, 3000, 0.3 + 0.3 * i)) for i in (0, 1)]
    for pair, limit in (((a, b), "self>2%"), ((a, b), "whole>2%"), ((a, b), "self>50pp"), ((a, a), "self>50pp"),
                        (hot, "hot>10%"), (hot, "cold>10%"), (hot, "whole>10%")):
        answer = run("diff", *pair, "--fail-on", limit, code=5)
        assert "cannot tell" in unwrapped(answer.out) and "several runs a side" in unwrapped(answer.out)
    run("diff", a, b, "--fail-on", "self>50pp", "--min-share", "100", code=5)


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
    table = run("diff", *a, "--", *b, "-n", 22, "--fail-on", "parse>10%", code=1).out
    assert table.startswith("SLOWER: parse ") and "\x1b" not in table and "\u202e" not in table
    lines = table.splitlines()
    assert any(line.split()[:3] == ["base/run", "base%", "new/run"] for line in lines)
    assert any(line.startswith("limit   parse>10%  BREACHED: total share of parse ") for line in lines)
    assert "new functions" in lines and "vanished functions" in lines
    assert re.match(r"next: spaa function \S*b2\.spaa f:[0-9a-f]+$", lines[-1])
    markdown = run("diff", *a, "--", *b, "-n", 22, "--format", "markdown", "--fail-on", "parse>10%", code=1).out
    assert markdown.startswith("**SLOWER: ") and "\x1b" not in markdown and "<b>" not in markdown
    for title in ("**new functions**", "**vanished functions**"):
        assert title in markdown.splitlines()
    heads = [line for line in markdown.splitlines() if line.startswith("| base/run")]
    assert len(heads) == 1
    columns = 0
    for line in markdown.splitlines():
        n = line.replace("\\|", "").count("|")
        if line.startswith("|"):
            columns = columns or n
            assert n == columns
        else:
            columns = 0


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
        assert float(r["total.p"]) == pytest.approx(float(row["total"]["p"]), abs=1e-11)


def test_json_is_short_by_default(tmp_path):
    """The heaviest changes in 3 KB; -n has all rows and numbers, --budget as many rows as fit."""
    stacks = [(["f%03d" % i, "main"], {"period": 1000 + i, "samples": 100 + i})
              for i in range(200)]
    more = [(["fresh%d" % i, "main"], {"period": 50, "samples": 50}) for i in range(30)]
    for i in range(3):
        write(tmp_path, "a%d.spaa" % i, profiles.text(stacks))
        write(tmp_path, "b%d.spaa" % i, profiles.text(stacks[1:] + more))
    sides = ["a0.spaa", "a1.spaa", "a2.spaa", "--", "b0.spaa", "b1.spaa", "b2.spaa"]
    text = run("diff", *sides, "--json", code=0, cwd=tmp_path).out
    assert len(text.encode()) <= 3000
    short, full = conftest.ask("diff", *sides, cwd=tmp_path), ask("diff", *sides, "-n", 0, cwd=tmp_path)
    for name in ("rows", "new_functions", "vanished_functions"):
        assert (name != "rows" or short[name]) and len(short[name]) + short["omitted"][name] == len(full[name])
        assert [r["id"] for r in short[name]] == [r["id"] for r in full[name]][:len(short[name])]
        assert full["omitted"][name] == 0
    row, whole = short["rows"][1], full["rows"][1]
    assert {"function", "dso", "verdict", "base_share", "new_share", "ci", "p", "cost", "total"} <= set(row) < set(whole)
    assert row["cost"]["base"] == whole["cost"]["base"] and row["verdict"] == whole["verdict"]
    assert abs(float(row["base_share"]) - whole["base_share"]) < 1e-5
    change = row["cost"]["change_percent"]
    assert change == round(change, 2)
    wide = run("diff", *sides, "--json", "--budget", 4000, code=0, cwd=tmp_path).out
    assert len(text) < len(wide) <= 12000 and len(json.loads(wide)["new_functions"]) > 1
    table = run("diff", *sides, "--budget", 1000, code=0, cwd=tmp_path).out
    assert len(table) <= 3000 and "-n 0 shows all" in table, "eight rows stand there unasked"
    table = run("diff", *sides, "-n", 0, "--budget", 1000, code=0, cwd=tmp_path).out
    assert len(table) <= 3000 and "a larger --budget shows more" in table


def test_a_failed_gate_says_why_on_standard_error(tmp_path):
    """The answer may go to a file that nobody reads."""
    a, b = (write(tmp_path, "%d.spaa" % i, side_text(i)) for i in (0, 1))
    answer = run("diff", a, b, "--fail-on", "self>50pp", code=5)
    assert "SPAA-W642" in answer.err and "SPAA-W642" not in answer.out


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

"""What every question has: one declaration for table, JSON, CSV and SQL; names that fit; notes that are told once."""

import csv
import io
import json
import re

import pytest

import profiles
from conftest import ask, run

CPP = "void std::vector<int, std::allocator<int> >::emplace_back<int>(int&&)"
FUNCTIONS = {
    CPP: "std::vector<…>::emplace_back<…>",
    "Server::handle(Request const&) const": "Server::handle",
    "(anonymous namespace)::run(int)": "(anonymous namespace)::run",
    "operator<(A const&, B const&)": "operator<",
    "std::ostream& operator<< <char>(std::ostream&, char)": "operator<<<…>",
    "foo(int)::{lambda(char)#1}::operator()(char) const": "foo::{lambda#1}::operator()",
    "<alloc::vec::Vec<T> as core::ops::Drop>::drop": "<alloc::vec::Vec<…> as core::ops::Drop>::drop",
    "main.(*Server).Serve": "main.(*Server).Serve",
    "-[NSView drawRect:(x)]": "-[NSView drawRect:(x)]",
    "void (*pick(int))(char)": "void (*pick(int))(char)",
    "a > b (c": "a > b (c",
    "non-virtual thunk to B::f(int)": "non-virtual thunk to B::f",
    "plain_c_name": "plain_c_name",
    "main:<module>": "main:<module>",
}


@pytest.fixture
def named(tmp_path):
    path = tmp_path / "n.spaa"
    path.write_text(profiles.text([([{"func": name, "dso": "/opt/app/bin/server"}], i + 1)
                                   for i, name in enumerate(FUNCTIONS)]))
    return path


def test_short_names(named):
    rows = ask("top", named, "-n", 0)["rows"]
    assert {r["function"]: r["short"] for r in rows} == FUNCTIONS
    assert {r["dso"] for r in rows} == {"/opt/app/bin/server"}
    out = run("top", named, "-n", 0, code=0).out
    assert all(short in out for short in FUNCTIONS.values()) and CPP not in out and "/opt/app" not in out
    full = run("top", named, "-n", 0, "--names", "full", code=0).out
    assert all(name in full for name in FUNCTIONS) and "/opt/app/bin/server" in full
    assert "short" in run("top", named, "--names", "long", code=2).err


def test_names_are_as_long_as_tells_rows_apart(tmp_path):
    path = tmp_path / "n.spaa"
    path.write_text(profiles.text([(["f(int)"], 1), (["f(long)"], 2), (["g<int>(int)"], 3), (["g<long>(int)"], 4),
                                   (["h(int)"], 5)]))
    assert {r["function"]: r["short"] for r in ask("top", path)["rows"]} == {
        "f(int)": "f(int)", "f(long)": "f(long)", "g<int>(int)": "g<int>(int)", "g<long>(int)": "g<long>(int)",
        "h(int)": "h"}


def test_binaries_of_one_base_name_are_told_apart(tmp_path):
    path = tmp_path / "d.spaa"
    path.write_text(profiles.text([([{"func": "f", "dso": "/a/lib.so"}], 1), ([{"func": "g", "dso": "/b/lib.so"}], 2),
                                   ([{"func": "h", "dso": "/c/app"}], 3)]))
    out = run("top", path, "--by", "dso", code=0).out.splitlines()
    assert [line.split()[-1] for line in out[2:]] == ["app", "/b/lib.so", "/a/lib.so"]


def test_what_is_piped_fits_120_columns(tmp_path):
    path = tmp_path / "l.spaa"
    path.write_text(profiles.text([(["n" * 900], 1), (["m"], 2)]))
    assert max(map(len, run("top", path, code=0).out.splitlines())) <= 120
    assert "n" * 900 in run("top", path, "--names", "full", code=0).out
    assert ask("top", path)["rows"][1]["function"] == "n" * 900


def test_text_has_the_handles_that_commands_take(named):
    line = next(line for line in run("top", named, code=0).out.splitlines() if "plain_c_name" in line)
    handle = re.search(r"f:[0-9a-f]+", line)[0]
    assert ask("function", named, handle)["function"]["function"] == "plain_c_name"


def test_short_names_are_names(named, tmp_path):
    for asked in ("Server::handle", "handle", "std::vector<…>::emplace_back<…>"):
        found = ask("function", named, asked)["function"]["function"]
        assert found == (CPP if "vector" in asked else "Server::handle(Request const&) const")
    assert ask("top", named, "--root-at", "handle")["kept"] == 2
    several = tmp_path / "s.spaa"
    several.write_text(profiles.text([(["A::run(int)"], 1), (["B::run(int)"], 2)]))
    said = ask("function", several, "run", code=1)["error"]
    handles = {r["function"]: r["id"] for r in ask("top", several)["rows"]}
    assert all(name in said["hint"] for name in handles)
    assert all(re.search(r"f:[0-9a-f]{16}", part) for part in said["hint"].split(", "))
    assert ask("function", several, "A::run")["total"] == 1


def test_notes_are_told_once_beneath_the_answer(tmp_path):
    path = tmp_path / "quoted.folded"
    path.write_text("> main;f 1\n> main;g 2\n")
    shown = run("top", path, code=0)
    code = json.loads(run("top", path, "--json", code=0).out)["diagnostics"][0]["code"]
    assert shown.out.count(code) == 1 and shown.err == "" and run("top", path, "--json").err == ""
    loud = run("top", path, "--verbose", code=0)
    assert code in loud.err and code not in loud.out
    assert code in run("top", path, "--format", "csv", code=0).err
    quiet = run("top", path, "-q", code=0)
    assert code not in quiet.out + quiet.err


@pytest.mark.parametrize("options", ["", "--by dso --sort total", "--by 'thread'", "--focus Server", "-n 3"])
def test_sql_has_the_rows_of_the_command(named, options):
    answer = ask("top", named, *(["-n", 0] if "-n" not in options else []), *options.replace("'", "").split())
    rows = ask("query", named, "SELECT id, name, self, total, self_percent, tags FROM ask_top('%s')" % options.replace("'", '"'))
    assert len(rows["rows"]) == len(answer["rows"])
    for got, row in zip(rows["rows"], answer["rows"]):
        assert got[:4] == [row[k] for k in ("id", "name", "self", "total")] and got[5] == " ".join(row["tags"])
        assert float(got[4]) == pytest.approx(float(row["self_percent"]), abs=0.005)


def test_filters_of_a_query_hold_for_its_questions(named):
    assert ask("query", named, "--focus", "handle", "SELECT sum(self) FROM ask_top")["rows"] == [[2]]
    assert ask("query", named, "SELECT self FROM ask_top('--by nothing')", code=2)["error"]["code"] == "SPAA-E037"
    assert ask("query", named, "SELECT self FROM ask_top('--output x')", code=2)["error"]["code"] == "SPAA-E037"


def test_columns_of_one_answer_are_more(named):
    rows = ask("query", named, "SELECT comm, function, self FROM (SELECT more->>'$.comm' comm, more->>'$.with' w, function, self "
                               "FROM ask_top('--by comm,function'))")["rows"]
    want = ask("top", named, "--by", "comm,function", "-n", 0)["rows"]
    assert rows == [[r["comm"], r["function"], r["self"]] for r in want]
    [[weight]] = ask("query", named, "SELECT max(more->>'$.\"with.0.self\"') FROM ask_top('--with period')")["rows"]
    assert weight == max(r["with"][0]["self"] for r in ask("top", named, "--with", "period", "-n", 0)["rows"])
    assert ask("query", named, "SELECT count(more) FROM ask_top")["rows"] == [[0]]


def test_a_limit_holds_for_rows_of_a_query(named, tmp_path):
    heap = tmp_path / "heap.spaa"
    heap.write_text(profiles.text([([f], {"live_bytes": n + 1}) for n, f in enumerate("abcd")],
                                  [profiles.event("malloc", "live_bytes", "allocation", "event")]))
    for path, question in ((named, "top"), (named, "tree"), (heap, "leaks")):
        all_of, two = (ask("query", path, "SELECT count(*) FROM ask_%s('%s')" % (question, o))["rows"][0][0]
                       for o in ("", "-n 2"))
        assert all_of > two == 2 + (question == "tree"), question


def test_csv_has_whole_names(named):
    rows = list(csv.DictReader(io.StringIO(run("top", named, "-n", 0, "--format", "csv", code=0).out)))
    assert {r["function"].removeprefix("'") for r in rows} == set(FUNCTIONS)

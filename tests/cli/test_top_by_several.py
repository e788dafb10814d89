"""top --by with several keys: rows of distinct combinations, against a plain reading of the file."""

import collections
import csv
import io

import pytest

import profiles
from conftest import ask, run
from profiles import Profile

LISTS = ["comm,dso,function", "function,comm", "dso,thread", "state,cpu", "dso,function", "line,dso", "process,address,comm",
         "event,source,function"]
FRAMES = ("function", "line", "address", "dso")


@pytest.fixture(params=[3, 4])
def file(request, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(request.param, stacks=80, samples=300, states=True, linked=True))
    return path, Profile(path.read_text())


def plus(a, b):
    return b if a is None else a if b is None else a + b


def expected(selection, keys):
    """{names of the keys: [self, total, samples, total_samples]}"""
    out = collections.defaultdict(lambda: [0, 0, None, None])
    for row in selection.rows:
        def combination(frame):
            return tuple((selection.key(k, frame)[0] if frame else "[no stack]") if k in FRAMES
                         else selection.keys(k, row)[0][0] for k in keys)
        places = [combination(f) for f in row.frames or [None]]
        out[places[0]][0] += row.weight
        out[places[0]][2] = plus(out[places[0]][2], row.samples)
        for place in set(places):
            out[place][1] += row.weight
            out[place][3] = plus(out[place][3], row.samples)
    return {k: tuple(v) for k, v in out.items()}


def added_up(rows):
    """Functions of one name in two DSOs are two rows, which a list without DSOs does not tell apart."""
    out = collections.defaultdict(lambda: [0, 0, None, None])
    for key, weights in rows:
        out[key] = [plus(a, b) for a, b in zip(out[key], weights)]
    return {k: tuple(v) for k, v in out.items()}


@pytest.mark.parametrize("by", LISTS)
def test_rows_are_combinations(file, by):
    path, profile = file
    keys = by.split(",")
    for name in profile.primary:
        selection = profile.select(name, None, view="all")
        answer = ask("top", path, "-n", 0, "--by", by, "--no-pool", *selection.options())
        rows = [(tuple(r["name"].split(" / ")), (r["self"], r["total"], r["samples"], r["total_samples"])) for r in answer["rows"]]
        for row in answer["rows"]:
            assert tuple(row["name"].split(" / ")) == tuple(row[k] for k in keys)
        wanted = expected(selection, keys)
        if "dso" in keys or not set(keys) & set(FRAMES):
            assert dict(rows) == wanted and len(rows) == len(wanted)
        else:
            got = added_up(rows)
            assert {k: v[::2] for k, v in got.items()} == {k: v[::2] for k, v in wanted.items()}
            assert all(got[k][1] >= wanted[k][1] for k in wanted)
        assert [r["self"] for r in answer["rows"]] == sorted((r["self"] for r in answer["rows"]), reverse=True)


def test_a_column_for_each_key(tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text([(["f", "g", "f", "main"], 3, {"comm": "a"}), (["g", "main"], 2, {"comm": "b"}),
                                   (["f", "main"], 1, {"comm": "b"})]))
    out = run("top", path, "--by", "comm,function", "--format", "csv", code=0).out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(r["comm"], r["function"], r["self"], r["total"]) for r in rows] == \
        [("a", "f", "3", "3"), ("b", "g", "2", "2"), ("b", "f", "1", "1"), ("a", "g", "0", "3"), ("a", "main", "0", "3"),
         ("b", "main", "0", "3")]
    table = run("top", path, "--by", "comm,function", code=0).out.splitlines()
    assert table[1].split()[-2:] == ["comm", "function"] and table[2].split()[-2:] == ["a", "f"]
    row = ask("top", path, "--by", "comm,function")["rows"][0]
    assert (row["comm"], row["function"], row["name"], row["dso"]) == ("a", "f", "a / f", "/bin/app")
    assert row["id"] == ask("top", path)["rows"][0]["id"]
    sums = [(r["comm"], r["function"], r["self"], r["with"][0]["self"])
            for r in ask("top", path, "--by", "comm,function", "--with", "period")["rows"]]
    assert sums[0] == ("a", "f", 3, 3) and len(sums) == 6


@pytest.mark.parametrize("by, words", [
    ("comm,funktion", ["\"funktion\"", "did you mean function?"]), ("comm,", ["no value \"\""]), (",", ["no value \"\""]),
    ("comm,dso,comm", ["comm twice"]),
    ("function,symbol,line,address,dso,thread,process,comm,cpu", ["at most 8"])])
def test_what_is_no_list(by, words, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text([(["f"], 1)]))
    said = run("top", path, "--by", by, code=2).err
    assert "SPAA-E037" in said and all(w in said for w in words)


def test_a_symbol_is_the_name_where_no_other_is_known(tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text([(["f", "main"], 3), (["main"], 1)]))
    assert [(r["name"], r["function"], r["self"], r["total"]) for r in ask("top", path, "--by", "symbol")["rows"]] == \
        [("f", "f", 3, 3), ("main", "main", 1, 4)]

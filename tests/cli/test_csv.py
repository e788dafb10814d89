"""CSV has the columns of JSON, by the same names and with the same numbers."""
import csv
import io

import pytest

import profiles
from conftest import ask, run

# Lists and objects of JSON, and words for people: in CSV they are text under a name of their own.
TEXTS = {"marks", "context", "stack", "path", "names", "list", "from", "to", "rate"}
QUESTIONS = [["top"], ["top", "--by", "line"], ["top", "--by", "address"], ["top", "--by", "dso"], ["top", "--by", "thread"],
             ["top", "--by", "event"], ["top", "--by", "comm,function"], ["top", "--with", "samples"], ["tree"],
             ["tree", "--min-percent", 0], ["function", "/fn/"], ["stacks"], ["timeline"]]


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.random_text(4, stacks=60, samples=100))
    return path


def tables_of(out):
    return [list(csv.DictReader(io.StringIO(part))) for part in out.split("\n\n")]


def value_at(row, name):
    """What stands at a path, "ci.0"; None: nothing does."""
    if name in row:
        return row[name]
    for part in name.split("."):
        if isinstance(row, list):
            row = row[int(part)] if int(part) < len(row) else None
        elif isinstance(row, dict):
            row = row.get(part)
        else:
            return None
    return row


def rows_of(answer):
    """All lists of objects, however deep."""
    todo, found = [answer], []
    while todo:
        one = todo.pop()
        if isinstance(one, list) and one and all(isinstance(x, dict) for x in one):
            found.append(one)
        todo += one if isinstance(one, list) else one.values() if isinstance(one, dict) else []
    return found


def same(text, value):
    if value is None or value == []:
        return text == ""
    if isinstance(value, bool):
        return text == str(int(value))
    if isinstance(value, list):
        return text == " ".join(value)
    if not isinstance(value, str):
        return float(text) == pytest.approx(float(value), rel=1e-9)
    return text == value


@pytest.mark.parametrize("args", QUESTIONS, ids=lambda a: " ".join(map(str, a)))
def test_columns_are_those_of_json(args, profile):
    args = [args[0], profile, *args[1:]]
    lists = rows_of(ask(*args, "-n", 0))
    for table in tables_of(run(*args, "-n", 0, "--format", "csv", code=0).out):
        shared = [name for name in table[0] if name not in TEXTS]
        assert shared, table[0]

        def fits(rows):
            rows = [r for r in rows if r.get("parent", 0) is not None or "depth" not in r]  # but for the root of a tree
            return len(rows) == len(table) and all(same(t[n], value_at(r, n)) for t, r in zip(table, rows) for n in shared)
        assert any(fits(rows) for rows in lists), (shared, table[0])


def test_a_sum_is_a_row(profile):
    want = ask("top", profile, "--sum", "fn4")["sum"]
    [row] = csv.DictReader(io.StringIO(run("top", profile, "--sum", "fn4", "--format", "csv", code=0).out))
    assert set(row) == {"sum." + name for name in want}
    assert all(same(row["sum." + name], value) for name, value in want.items())
    assert "sums" not in ask("top", profile, "--sum", "fn4")

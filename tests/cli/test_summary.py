"""summary: one answer in every form, and what a budget leaves of it."""

import csv
import io

import pytest

import profiles
from conftest import ask, run

LONG = "shop::Cart<shop::Item, std::allocator<shop::Item> >::%s(int, std::vector<int, std::allocator<int> > const&)"


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.spaa"
    stacks = [([LONG % ("f%d" % i), "main"], {"samples": 1, "period": 10 - i}, {"pid": i % 2 + 1, "tid": i + 1, "comm": "t%d" % i})
              for i in range(8)]
    path.write_text(profiles.text(stacks))
    return path


def test_names_are_short_for_people_and_whole_in_json(shop):
    out = run("summary", shop, code=0).out
    assert "shop::Cart<…>::f0" in out and "allocator" not in out and "/bin/app" not in out
    assert LONG % "f0" in run("summary", shop, "--names", "full", code=0).out
    assert LONG % "f0" in [r["name"] for r in ask("summary", shop)["hot"]]


def test_functions_of_one_short_name_are_told_apart(tmp_path):
    path = tmp_path / "two.spaa"
    path.write_text(profiles.text([(["f<int>(int)", "main"], 5), (["f<char>(char)", "main"], 4)]))
    out = run("summary", path, code=0).out
    assert "f<…>(int)" in out and "f<…>(char)" in out


def test_csv_has_a_table_for_each_section(shop):
    heads = [next(csv.reader(io.StringIO(t)))[0] for t in run("summary", shop, "--format", "csv", code=0).out.split("\n\n")]
    assert heads == ["code", "id", "id", "name", "name", "name", "id", "id", "id", "id"]


def test_sql_has_the_hot_functions(shop):
    want = [[r["name"], r["weight"]] for r in ask("summary", shop)["hot"]]
    rows = ask("query", shop, "SELECT name, weight FROM ask_summary")["rows"]
    assert [list(r.values()) if isinstance(r, dict) else r for r in rows] == want


def test_what_is_left_out_is_counted(shop):
    answer = ask("summary", shop, "--no-pool")
    assert len(answer["by_thread"]) == 5 and answer["omitted"]["by_thread"] == 3
    assert "; 8 threads: t2 15 %" in run("summary", shop, "--no-pool", code=0).out


def test_a_budget_takes_rows_from_all_sections_in_turn(shop):
    sections = ("hot", "findings", "heaviest_path", "by_thread", "by_dso", "by_process", "own_functions")
    whole = ask("summary", shop)
    most = [len(whole[s]) for s in sections]
    seen = set()
    for budget in range(200, 2600, 60):
        answer = ask("summary", shop, "--budget", budget)
        shown = [len(answer[s]) for s in sections]
        full = [n == m for n, m in zip(shown, most)]
        short = [n for n, f in zip(shown, full) if not f]
        assert not short or max(shown) - min(short) <= 1, "one round ahead at most"
        assert sorted(short, reverse=True) == short, "the first section first"
        assert [answer["omitted"][s] - whole["omitted"][s] for s in sections] == [m - n for n, m in zip(shown, most)]
        seen.add(tuple(shown))
    assert len(seen) > 5 and tuple(most) in seen

"""spaa query: mistakes, which are explained, and worse, which is refused."""

import os
import re

import pytest

from conftest import parse, run
from queries import TABLES, one, query, refused  # noqa: F401, a fixture


@pytest.mark.parametrize("sql, words, hint", [
    ("SELECT * FROM function", "no such table: function", "did you mean functions?"),
    ("SELECT * FROM stack_frame", "no such table: stack_frame", "did you mean stack_frames?"),
    ("SELECT nam FROM functions", 'no such column: nam, column 8, at "nam FROM functions"', "did you mean name"),
    ("SELECT * FROM function", "no such table: function", "functions has id, handle, name, dso,"),
    ("SELECT nme FROM functions", "no such column: nme", "did you mean name? functions has id, handle, name, dso,"),
    ("SELECT slf FROM ask_top", "no such column: slf", "ask_top has self, self_percent,"),
    ("SELECT f.totl\nFROM nodes f", "no such column: f.totl, column 8", "did you mean total?"),
    ("SELECT 1\nFROM functions\nWHERE selff > 1", 'no such column: selff, column 7, at "selff > 1"', "self"),
    ('SELECT name FROM functions WHERE name = "main"', "no such column: main", "single quotes"),
    ("SELECT su(self) FROM functions", "no such function: su", "did you mean sum"),
    ("SELEC 1", 'near "SELEC": syntax error, column 1', "SQLite"), ("SELECT", "incomplete input", "SQLite"),
    ("", "no SQL", "SELECT"), (" -- nothing\n;", "no SQL", "SELECT"),
    ("SELECT 1; SELECT 2", "several statements", "one"), ("SELECT 1; nonsense", "several statements", "one"),
    ("SELECT name FROM functions('cycle')", "no such event: cycle", "did you mean cycles?"),
    ("SELECT name FROM functions WHERE metric = 'perid'", "no such metric: perid", "did you mean period?"),
    ("SELECT name REGEXP '(' FROM functions", "bad regular expression", ""),
    ("SELECT sum(v) FROM (SELECT 9223372036854775807 AS v UNION ALL SELECT 1)", "integer overflow", "total"),
    ("SELECT json_extract('{', '$')", "malformed JSON", ""), ("SELECT abs(-9223372036854775808)", "integer overflow", ""),
])
def test_mistakes_are_explained(sql, words, hint, one):
    code, message, said = refused(one, sql)
    assert code == "SPAA-E650" and words in message and hint in said, (message, said)


def test_a_mistake_is_found_before_the_input_is_read(tmp_path):
    path = tmp_path / "broken.spaa"
    path.write_text("no profile at all")
    assert refused(path, "SELECT * FROM function")[0] == "SPAA-E650"
    assert refused(path, "DROP TABLE functions")[0] == "SPAA-E651"


def test_a_mistake_has_its_place(one):
    answer = parse(run("query", one, "SELECT 1,\n  nme FROM functions", "--json", code=2).out)["error"]
    assert (answer["line"], answer["offset"]) == (2, 12)


@pytest.mark.parametrize("sql", [
    "ATTACH 'x.db' AS x", "ATTACH ':memory:' AS x", "DETACH main", "CREATE TABLE x(a)", "CREATE TEMP TABLE x(a)",
    "CREATE TABLE x AS SELECT 1", "CREATE VIEW v AS SELECT 1", "CREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE x USING fts5(a)", "CREATE VIRTUAL TABLE x USING spaa", "DROP TABLE functions",
    "ALTER TABLE functions RENAME TO f", "INSERT INTO functions(name) VALUES ('x')", "UPDATE functions SET name = 'x'",
    "DELETE FROM functions", "REPLACE INTO functions(name) VALUES ('x')", "VACUUM", "VACUUM INTO 'x.db'", "REINDEX",
    "ANALYZE", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "PRAGMA journal_mode = wal",
    "PRAGMA database_list", "PRAGMA temp_store_directory = '/'", "PRAGMA writable_schema = 1", "PRAGMA hard_heap_limit = 0",
    "PRAGMA cache_size = 1", "PRAGMA query_only = 0", "SELECT load_extension('x.so')", "SELECT load_extension('x.so', 'y')",
    "SELECT fts3_tokenizer('simple')", "SELECT * FROM pragma_database_list", "SELECT * FROM dbstat",
    "SELECT * FROM pragma_temp_store", "INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)",
    "WITH x AS (SELECT 1) DELETE FROM functions", "EXPLAIN DELETE FROM functions"])
def test_nothing_but_reading(sql, one, tmp_path):
    before = sorted(os.listdir(tmp_path))
    answer = run("query", one, sql, "--json", code=2, cwd=tmp_path)
    assert parse(answer.out)["error"]["code"] in ("SPAA-E651", "SPAA-E650"), answer.err
    assert "not allowed" in answer.err or "no such" in answer.err or "readonly" in answer.err, answer.err
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("sql", ["SELECT readfile('/etc/passwd')", "SELECT writefile('x', 'y')", "SELECT edit('x')",
                                 "SELECT * FROM fsdir('.')", "SELECT * FROM csv('/etc/passwd')", ".read x", ".import x y",
                                 ".shell ls", ".open x", ".dump"])
def test_no_files(sql, one, tmp_path):
    answer = run("query", one, sql, code=2, cwd=tmp_path)
    assert re.search(r"no such|not allowed|syntax", answer.err), answer.err


@pytest.mark.parametrize("sql", [
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT (i * 7919 + 1) % 1000003 FROM n) SELECT sum(a.i) FROM n a, n b",
    "SELECT count(*) FROM stack_frames a, stack_frames b, stack_frames c, stack_frames d, stack_frames e"])
def test_endless_queries_stop(sql, one):
    code, message, hint = refused(one, sql, "--timeout", 1, code=3)
    assert code == "SPAA-E652" and "longer than 1 s" in message and "--timeout" in hint


@pytest.mark.parametrize("sql", [
    "SELECT zeroblob(2147483647)", "SELECT randomblob(1000000000)", "SELECT hex(zeroblob(1000000))",
    "SELECT replace(hex(zeroblob(5000)), '0', hex(zeroblob(5000)))",
    "WITH RECURSIVE n(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM n) SELECT max(length(s)) FROM n"])
def test_huge_values_are_refused(sql, one):
    assert refused(one, sql, code=3)[0] == "SPAA-E653"


def test_deep_and_long_sql(one):
    assert refused(one, "SELECT " + "(" * 2000 + "1" + ")" * 2000)[0] == "SPAA-E650"
    assert refused(one, "SELECT " + "+".join(["1"] * 5000))[0] == "SPAA-E650"
    assert refused(one, "SELECT " + "1," * 5000 + "1")[0] == "SPAA-E650"
    assert refused(one, "SELECT 1" + " UNION SELECT 1" * 2000)[0] == "SPAA-E650"
    (one.parent / "long.sql").write_text("SELECT '%s'" % ("x" * (1 << 20)))
    assert run("query", one, "--file", one.parent / "long.sql", code=2).err.count("1 MiB") == 1


def test_the_schema_can_be_asked_with_sql(one):
    assert query(one, "SELECT name FROM sqlite_master ORDER BY name") == [[t] for t in sorted(TABLES) if not t.startswith("ask_")]
    assert [r[1] for r in query(one, "PRAGMA table_info(dsos)")] == ["id", "name", "build_id", "is_kernel", "extra_json"]
    assert [c for c, in query(one, "SELECT name FROM pragma_table_info('threads')")] == [
        "id", "pid", "tid", "comm", "pool", "name", "queue", "priority", "cpu_time_ns", "cycles", "instructions", "start_ns", "exit_ns",
        "renamed_from", "extra_json"]


def test_a_word_that_is_a_file(one, tmp_path):
    answer = run("query", one, code=2, cwd=tmp_path)
    assert "is a file, not SQL" in answer.err and "behind the files" in answer.err
    assert "needs SQL" in run("query", code=2, cwd=tmp_path).err

"""spaa query: .tables, .schema, and what docs/query.md says of them and shows."""

import collections
import os
import re
import shlex
import shutil
import subprocess

import pytest

from conftest import BIN, ROOT, ask, run
from queries import TABLES, one, query  # noqa: F401, a fixture

DOC = os.path.join(ROOT, "docs", "query.md")


def test_tables(tmp_path):
    answer = ask("query", ".tables", cwd=tmp_path)
    assert answer["columns"] == ["table", "about"] and [r[0] for r in answer["rows"]] == TABLES
    out = run("query", "no-such-file", ".tables", code=0).out
    assert re.findall(r"^(\w+)  ", out, re.M)[1:] == TABLES


def test_schema_is_that_of_the_tables(one, tmp_path):
    listed = collections.defaultdict(list)
    for table, column, _, about in ask("query", ".schema", cwd=tmp_path)["rows"]:
        listed[table].append(column)
        assert about
    for table in TABLES:
        there = [r[1] for r in query(one, "PRAGMA table_xinfo(%s)" % table)]
        assert listed[table] == there[:len(listed[table])]
        assert set(there[len(listed[table]):]) <= {"more", "total_overlapping", "event_total"}, "old names"
        alone = run("query", ".schema", table, "--names", "full", code=0, cwd=tmp_path).out
        assert alone == run("query", ".schema " + table, "--names", "full", code=0, cwd=tmp_path).out
        assert alone in run("query", ".schema", "all", code=0, cwd=tmp_path).out
        assert re.findall(r"^    (\w+)", alone, re.M) == listed[table]
        short = run("query", ".schema", table, code=0, cwd=tmp_path).out
        assert len(short.encode()) <= 1500 and (short == alone or "--names full" in short), table
        assert short == alone or re.findall(r"(?:^    |, )(\w+)", short.partition("\n")[2], re.M) == listed[table]
    assert "did you mean functions" in run("query", ".schema function", code=2, cwd=tmp_path).err
    assert "did you mean" not in run("query", ".schem", code=2, cwd=tmp_path).out


def test_schema_of_no_table_lists_the_tables(tmp_path):
    out = run("query", ".schema", code=0, cwd=tmp_path).out
    assert out.startswith(run("query", ".tables", code=0, cwd=tmp_path).out) and ".schema TABLE" in out
    assert len(out.encode()) < 2460


def test_schema_in_the_documentation():
    with open(DOC, encoding="utf-8") as f:
        text = f.read()
    out = run("query", ".schema", "all", code=0).out
    block = re.compile(r"(<!-- schema -->\n```sql\n).*?(```\n)", re.S)
    fresh = block.sub(lambda m: m[1] + out + m[2], text)
    assert block.search(text)
    if os.environ.get("SPAA_UPDATE_GOLDENS"):
        with open(DOC, "w", encoding="utf-8") as f:
            f.write(fresh)
    else:
        assert text == fresh, "make goldens"


def worked_examples():
    with open(DOC, encoding="utf-8") as f:
        return re.findall(r"^```sh\n(spaa query.*?)^```\n\n```text\n(.*?)^```$", f.read(), re.M | re.S)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    at = tmp_path_factory.mktemp("demo")
    shutil.copytree(os.path.join(ROOT, "demo"), at / "demo", ignore=shutil.ignore_patterns("out"))
    shutil.copy(at / "demo" / "orders-1.perf.data.zst", at / "perf.data")
    run("convert", "perf.data", "--symfs", "demo/symfs", "--kallsyms", "demo/kallsyms", "--no-inline", "--no-lines",
        "-o", "profile.spaa", cwd=at, code=0)
    return at


def test_there_are_ten_worked_examples():
    assert len(worked_examples()) >= 10


@pytest.mark.parametrize("number", range(len(worked_examples()) if os.path.exists(DOC) else 0))
def test_worked_example(number, demo):
    script, expected = worked_examples()[number]
    words = shlex.split(script)
    done = subprocess.run([BIN] + words[1:], cwd=demo, capture_output=True, text=True, timeout=60)
    if os.environ.get("SPAA_UPDATE_GOLDENS"):
        with open(DOC, encoding="utf-8") as f:
            text = f.read()
        with open(DOC, "w", encoding="utf-8") as f:
            f.write(text.replace("```sh\n%s```\n\n```text\n%s```" % (script, expected),
                                 "```sh\n%s```\n\n```text\n%s```" % (script, done.stdout)))
    else:
        assert done.returncode == 0 and done.stdout == expected, done.stdout + done.stderr

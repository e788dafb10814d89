"""Stacks of a poor man's profiler: pt-pmp, gdb and `uniq -c`."""

import os

import pytest
from conftest import ask, run

FIXTURE = os.path.join(os.path.dirname(__file__), "..", "fixtures", "pmp", "server.pmp")


def text(tmp_path, content):
    path = tmp_path / "stacks"
    path.write_text(content)
    return path


def test_counts_are_those_of_the_lines():
    whole = sum(int(line.split()[0]) for line in open(FIXTURE, encoding="utf-8") if line[0] == " ")
    answer = ask("top", FIXTURE, "--view", "all", "-n", "0")
    assert answer["whole"] == whole == 273
    total = {row["name"]: row["total"] for row in answer["rows"]}
    assert (total["do_command"], total["clone"], total["main"]) == (180 + 31 + 4, 272, 1)


def test_places_in_parentheses_are_lines_or_libraries():
    rows = ask("top", FIXTURE, "--view", "all", "--by", "line", "-n", "0")["rows"]
    lines = {row["name"]: row for row in rows}
    assert lines["do_command sql_parse.cc:971"]["total"] == 180 and lines["do_command sql_parse.cc:1037"]["total"] == 35
    dsos = {row["name"]: row["self"] for row in ask("top", FIXTURE, "--view", "all", "--by", "dso", "-n", "0")["rows"]}
    assert dsos == {"libc.so.6": 181, "libpthread.so.0": 31, "[unknown]": 61}


def test_threads_that_wait_are_no_cpu():
    answer = ask("top", FIXTURE, "-n", "0")
    assert answer["whole"] == 4 or answer["kept"] == 4
    states = {row["name"]: row["self"] for row in ask("top", FIXTURE, "--view", "all", "--by", "state")["rows"]}
    assert states["WAITING"] == 269


def test_what_is_no_stack_is_said_with_its_line(tmp_path):
    path = text(tmp_path, open(FIXTURE, encoding="utf-8").read() * 5 + "some words\n")
    done = run("top", path, code=0)
    assert "SPAA-L302" in done.err and "some words" in done.err
    assert run("top", path, "--strict").code != 0


@pytest.mark.parametrize("content", [
    "     12 the\n      7 of\n      3 a\n",                      # uniq -c of words
    "     12 red,green\n      7 green,blue\n",                   # … of lists
    "#define A 1\n#define B (2)\nint f(int, int);\n",
    "     12 \n",
    "  main,f 12\n",
])
def test_counted_words_are_no_stacks(tmp_path, content):
    assert run("info", text(tmp_path, content)).code != 0


def test_commas_in_parentheses_end_no_function(tmp_path):
    path = text(tmp_path, "      2 f(a,b.c:3),main\n      1 g@@GLIBC_2.2,main\n")
    names = {row["name"] for row in ask("top", path, "-n", "0")["rows"]}
    assert names == {"f", "g@@GLIBC_2.2", "main"}

"""Text for people fits 120 columns where nobody says how wide a terminal is, and rows can be told apart."""

import os
import re
import threading
import time
import unicodedata

import pytest

import profiles
from conftest import ROOT, ask, at_terminal, run, unwrapped

WIDTH = 120
PLAIN = {**os.environ, "SPAA_NO_CONFIG": "1", "SPAA_PAGER": "cat", "NO_COLOR": "1"}
QUESTIONS = {
    "summary": [], "top": [], "top --by dso": [], "top --by line": [], "top --by thread": [], "top --by event": [],
    "top --by comm,dso,function": [], "top --sort total": [], "tree": [], "tree --inverted": [], "stacks": [],
    "timeline": [], "leaks": [], "leaks --by stack": [], "waits": [], "info": [], "function": ["/./"], "diff": ["NEXT"],
}
TREES = [os.path.join(ROOT, "tests", "fixtures"), os.path.join(ROOT, "demo")]
SOURCES = (".md", ".sh", ".c", ".py", "kallsyms")


def inputs():
    """(file, the next one of its folder)"""
    for tree in TREES:
        for folder, folders, names in sorted(os.walk(tree)):
            folders[:] = sorted(f for f in folders if f != "symfs")
            files = [os.path.join(folder, name) for name in sorted(names) if not name.endswith(SOURCES)]
            yield from ((f, files[(i + 1) % len(files)]) for i, f in enumerate(files))


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def too_wide(text):
    """Lines that are; but for a word of a command that is longer than a line, which a shell would not take in two."""
    return [line for line in text.splitlines()
            if width(line) > WIDTH and not re.fullmatch(r" *('[^']*'|\S+)( \\)?", line)]


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_answers_fit(question):
    wide = {}
    for path, after in inputs():
        rest = [after if word == "NEXT" else word for word in QUESTIONS[question]]
        command, *options = question.split()
        lines = too_wide(run(command, path, *rest, *options, "--jobs", 1).out)
        if lines:
            wide[path] = lines
    assert not wide


LONG = "outer_namespace::" * 12
ALIKE = [LONG + "Left::%sRight::value(int)" % ("middle_" * 10 + str(i) + "_part" * 12) for i in range(4)]


@pytest.fixture
def alike(tmp_path):
    """Functions that differ in the middle of names that are longer than a line."""
    path = tmp_path / "a.spaa"
    path.write_text(profiles.text([([{"func": name, "dso": "/bin/app"}, "main"], 9 - i) for i, name in enumerate(ALIKE)]))
    return path


@pytest.mark.parametrize("command", [["top"], ["tree"], ["function"], ["top", "--by", "comm,function"], ["stacks", "-n", 5]])
def test_names_that_are_cut_still_differ(alike, command):
    out = run(command[0], alike, *(["main"] if command[0] == "function" else []), *command[1:], code=0).out
    names = [word for line in out.splitlines() for word in line.split() if "outer" in word and "…" in word]
    assert len(names) == len(set(names)) == len(ALIKE) and not too_wide(out)
    assert all(any("_%d_" % i in name for name in names) for i in range(len(ALIKE)))


def test_names_that_cannot_be_told_apart_have_their_handles(tmp_path):
    path = tmp_path / "n.spaa"
    path.write_text(profiles.text([(["a" * n], n) for n in (901, 900, 899)]))
    names = [line.split("  ")[-2] for line in run("top", path, code=0).out.splitlines()[2:]]
    ids = [row["id"] for row in ask("top", path)["rows"]]
    assert len(set(names)) == 3 and all(width(n) <= WIDTH for n in names)
    assert all(name.endswith(" " + handle) for name, handle in zip(names, ids))


def two_places(tmp_path):
    """Functions that differ at two places, of names that are longer than a line; and some that differ at many."""
    path = tmp_path / "long.folded"
    names = ["ns::%s<%s>(%s, %s)" % ("A" * 80, x, "p" * 60, y) for x in "ab" for y in ("int", "long")]
    names += ["z::" + "::".join("step%s" % ("12"[n >> k & 1]) * 9 for k in range(5)) for n in range(32)]
    path.write_text("".join("m;%s %d\n" % (name, 100 - i) for i, name in enumerate(names)))
    return path, names


@pytest.mark.parametrize("command", [["top", "-n", "0"], ["top", "--by", "comm,function", "-n", "0"], ["tree", "-n", "0"],
                                     ["stacks", "-n", "0"], ["function", "m", "-n", "0"]])
def test_two_functions_never_look_the_same(tmp_path, command):
    path, names = two_places(tmp_path)
    out = run(command[0], path, *command[1:], code=0).out
    shown = re.findall(r"((?:ns|z)::\S*…\S*(?: \S*…\S*|, (?:int|long)\))*(?: f:\w+)?)", out)
    assert len(set(shown)) == len(shown) == len(names) and not too_wide(out)
    assert not re.search(r" \(\d+\)", out), "a number that no command takes"
    handles = {row["id"] for row in ask("top", path, "-n", 0)["rows"]}
    assert set(re.findall(r"… ?\S* (f:\w+)", out)) <= handles


def test_a_list_of_long_names_has_their_handles(tmp_path):
    path = tmp_path / "t.script"
    names = ["f%s%d%s" % ("a" * 150, i, "b" * 150) for i in range(2)]
    path.write_text("".join("app 1 %d.000000: 1 cycles:\n\t401000 %s+0x1 (/bin/app)\n\n" % (i + 1, names[i // 20])
                            for i in range(40)))
    hot = {row["hot"][0]["id"] for row in ask("timeline", path)["rows"]}
    out = run("timeline", path, code=0).out
    assert len(hot) == 2 and set(re.findall("f:\\w+", out)) == hot and not too_wide(out)


def test_columns_that_are_asked_for_leave_names_readable(tmp_path):
    path = tmp_path / "w.spaa"
    path.write_text(profiles.text([(["%s_%d" % ("name" * 30, i)], {"samples": i + 1, "period": i * 1000 + 1}) for i in range(3)]))
    out = run("top", path, "--with", "samples,period", code=0).out
    assert not too_wide(out) and "samples self" in out and min(len(re.search(r"name\S*", x)[0]) for x in
                                                               out.splitlines() if "…" in x) > 14


def test_answers_of_sql_fit(tmp_path):
    path = tmp_path / "q.folded"
    path.write_text("main;%s 1\n" % ("long" * 100))
    sql = "SELECT name, name AS again, self FROM functions"
    assert not too_wide(run("query", path, sql, code=0).out)
    assert "long" * 100 in run("query", path, sql, "--names", "full", code=0).out
    assert run("query", path, sql, "--names", "fulll").code == 2


def test_functions_of_one_name_have_their_handles(tmp_path):
    path = tmp_path / "h.spaa"
    path.write_text(profiles.text([([{"func": "run", "dso": "/lib/a.so"}, "main"], 3),
                                   ([{"func": "run", "dso": "/lib/b.so"}, "main"], 2)]))
    handles = {r["dso"]: r["id"] for r in ask("top", path)["rows"]}
    tree = run("tree", path, code=0).out
    assert all("run " + handles[dso] in tree for dso in ("/lib/a.so", "/lib/b.so")) and "main f:" not in tree
    assert "f:" not in re.sub(r"f:\w+  ", "", run("top", path, code=0).out), "where the table shows them they are shown once"


def test_lines_are_broken_at_blanks_and_commands_as_a_shell_takes_them(tmp_path):
    folder = tmp_path / ("a folder " + "x" * 60)
    folder.mkdir()
    path = folder / "s.folded"
    path.write_text("main;f 1\n")
    out = run("summary", path, code=0).out
    commands = [line for line in unwrapped(out).split(" spaa ")[1:]]
    assert all("'%s'" % path in c for c in commands) and " \\\n" in out and not too_wide(out)


def test_full_names_are_not_cut(alike):
    for command in (["top"], ["tree"], ["stacks", "-n", 5], ["top", "--by", "comm,function"]):
        out = run(command[0], alike, *command[1:], "--names", "full", code=0).out
        assert all(name in out for name in ALIKE)


def test_hot_functions_of_a_time_are_whole(tmp_path):
    path = tmp_path / "t.spaa"
    names = ["%s_%d" % ("function" * 5, i) for i in range(3)]
    samples = [([names[i % 3]], {"samples": 1, "period": 1}, i * 1000) for i in range(30)]
    path.write_text(profiles.text([([n], {"samples": 10, "period": 10}, {"comm": "c"}) for n in names],
                                  samples=[{"time": t, "stack": s[0]} for s, _, t in samples]))
    out = run("timeline", path).out
    for line in out.splitlines()[3:]:
        assert re.search(r"\d\d%(, \S+ [\d.]+%)*(, \+[12])?$", line), line


def test_windows_of_changes_have_no_shares(tmp_path):
    """What lives grows and shrinks: the functions that changed most in the direction of each sum, by how much."""
    path, kept = tmp_path / "h.heaptrack", tmp_path / "h.spaa"
    path.write_text("v 10400 1\nX ./app\nI 1000 1000\ns app\ns grow\ns keep\ni 1000 1 2\ni 1001 1 3\nt 1 0\nt 2 0\n"
                    "a 1000 1\na 10 2\nc 0\n+ 0\n+ 1\nc 10\n- 0\n+ 1\nc 20\n+ 1\nc 30\n")
    run("convert", path, "-o", kept, "--windows", 20, code=0)
    rows = ask("timeline", kept, "--metric", "live_bytes")
    falls = [r for r in rows["rows"] if r["weight"] < 0]
    assert falls and rows["covered_percent"] is None
    for row in rows["rows"]:
        assert all(h["percent_of_bucket"] is None and h["self"] * row["weight"] > 0 for h in row["hot"]), row
    assert [h["function"] for h in falls[0]["hot"]] == ["grow"]
    out = run("timeline", kept, "--metric", "live_bytes", code=0).out
    assert "grow -" in out and "%" not in out and "highest" in out


@pytest.mark.parametrize("words", ["formats", "formats perf-data", "formats pprof", "demo", "symbols list", "query .tables", "query .schema all",
                                   "query .schema frames", "query HEADING"])
def test_what_is_not_asked_of_a_profile_fits_a_terminal(tmp_path, words):
    path = tmp_path / "a.folded"
    path.write_text("main;f 1\n")
    store = tmp_path / "store/.build-id/ab"
    store.mkdir(parents=True)
    (store / ("c" * 38)).write_bytes(b"x")
    (store / ("c" * 38 + ".from")).write_text("/opt/" + "folder/" * 20 + "\n")
    args = words.replace("HEADING", "").split()
    if "HEADING" in words:
        args += [path, "select name, self from functions", "--focus", "|".join(["main", "other_function"] * 8)]
    if words == "symbols list":
        args += ["--symbol-store", tmp_path / "store"]
    text, code = at_terminal(*args, columns=80, stdin=False, env=PLAIN)
    assert code == 0 and text.count("\n") > 1 and not [
        line for line in text.replace(str(tmp_path), "").splitlines() if width(line) > 80]  # a path stays whole
    for line in re.findall(r"^  spaa .*(?:\n      .*)*", text, re.M):  # commands are still commands
        assert all(part.endswith(" \\") for part in line.split("\n")[:-1])
    if words == "symbols list":
        assert "in 1 build" in text and "/opt/" in text


@pytest.mark.parametrize("columns", [30, 40, 80])
def test_the_line_of_progress_does_not_wrap(tmp_path, columns):
    """A pipe with a long name that is slow."""
    path = tmp_path / ("long" * 20)
    os.mkfifo(path)

    def feed():
        with open(path, "wb") as f:
            for i in range(12):
                f.write(b"main;f%d 1\n" % i)
                f.flush()
                time.sleep(0.1)

    feeder = threading.Thread(target=feed)
    feeder.start()
    text, code = at_terminal("top", path, columns=columns, stdin=False, env=PLAIN)
    feeder.join()
    shown = [s.split("\r")[0] for s in text.split("\r\x1b[K") if s.startswith("spaa: reading")]
    assert code == 0 and shown and all(width(s) < columns for s in shown), shown

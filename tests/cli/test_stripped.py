"""Binaries without a symbol table: a row for each function, and never a name that nobody gave."""

import os
import re
import shutil
import subprocess

import profiles
import pytest
from conftest import ask, run

SOURCE = """#include <stdio.h>
#define F(n, k) __attribute__((noinline)) static double n(double x) \\
    { double s = START; for (int i = 1; i < 20; i++) s += x / (i + k); return s; }
F(one, 1) F(two, 2) F(three, 3) F(four, 4) F(five, 5)
int main(void) { printf("%f", one(1) + two(2) + three(3) + four(4) + five(5)); }
"""
NAMES = ("one", "two", "three", "four", "five")

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("gcc", "nm", "strip"))), reason="needs gcc and binutils")


def build(folder, start="0", order=NAMES):
    """A stripped program and a profile without names; where its functions begin, and how long they are."""
    folder.mkdir()
    source = SOURCE
    for name in NAMES:
        source = source.replace("F(%s, %d)" % (name, NAMES.index(name) + 1), "")
    source = source.replace("int main", " ".join("F(%s, %d)" % (n, NAMES.index(n) + 1) for n in order) + "\nint main")
    (folder / "app.c").write_text(source)
    subprocess.run(["gcc", "-O1", "-DSTART=" + start, "-Wl,--build-id", "-o", "app", "app.c"], cwd=folder, check=True)
    table = subprocess.run(["nm", "-S", "app"], cwd=folder, capture_output=True, text=True, check=True).stdout.split("\n")
    at = {f[3]: (int(f[0], 16), int(f[1], 16)) for f in map(str.split, table) if len(f) == 4 and f[3] in NAMES}
    subprocess.run(["strip", "app"], cwd=folder, check=True)
    frame = {"dso": str(folder / "app"), "func_resolved": False, "kind": "user"}
    stacks = [([{**frame, "func": hex(a), "ip": hex(a)}], 1)
              for start, size in at.values() for a in range(start, start + size, 5)]
    (folder / "bare.spaa").write_text(profiles.text(stacks))
    run("symbolize", folder / "bare.spaa", "-o", folder / "p.spaa", code=0)
    return folder / "p.spaa", at


def test_each_function_is_a_row_named_by_its_start(tmp_path):
    profile, at = build(tmp_path / "a")
    rows = ask("top", profile, "-n", "0")["rows"]
    assert {r["function"]: r["self"] for r in rows} == \
        {"app+0x%x" % start: (size + 4) // 5 for start, size in at.values()}
    assert all(r["tags"] == ["unresolved"] for r in rows)
    assert ask("info", profile)["quality"]["unresolved_percent"] == 100


def test_each_function_has_its_instructions(tmp_path):
    """As long as .eh_frame says it is: from its first to its last, as objdump has them."""
    profile, at = build(tmp_path / "a")
    for start, size in at.values():
        answer = ask("annotate", profile, "app+0x%x" % start, "--asm", "--whole")
        if "capstone" in (answer["no_instructions"] or ""):
            pytest.skip("built without capstone, or it is not installed")
        block, = answer["blocks"]
        dump = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % start, "--stop-address=%d" % (start + size),
                               tmp_path / "a" / "app"], capture_output=True, text=True, check=True).stdout
        assert [i["address"] for i in block["instructions"]] == ["0x" + x for x in re.findall(r"^ +([0-9a-f]+):\s", dump, re.M)]
        assert (block["symbol"], block["start"], block["end"]) == (None, hex(start), hex(start + size))
        assert sum(i["self"] for i in block["instructions"]) == answer["self"] == (size + 4) // 5 and answer["no_instruction"] == 0


def test_names_stay_where_the_binary_is_gone(tmp_path):
    profile, _ = build(tmp_path / "a")
    os.unlink(tmp_path / "a" / "app")
    run("symbolize", profile, "-o", tmp_path / "again.spaa", code=0)
    assert (tmp_path / "again.spaa").read_bytes() == profile.read_bytes()


def test_two_builds_are_not_matched_by_offsets(tmp_path):
    base, _ = build(tmp_path / "a")
    new, _ = build(tmp_path / "b", "1", NAMES[::-1])
    answer = ask("diff", base, new)
    rows = [r for table in answer.values() if isinstance(table, list) for r in table if isinstance(r, dict)]
    names = {r["function"] for r in rows if isinstance(r.get("function"), str)}
    assert names == {"[unresolved]"}


def test_other_formats_have_no_such_name(tmp_path):
    profile, _ = build(tmp_path / "a")
    for form in ("folded", "perf-script"):
        assert "app+0x" not in run("convert", profile, "--to", form, "-o", "-", code=0).out


GO = """package main

//go:noinline
func hot(n int) int {
\ts := 0
\tfor i := 0; i < n; i++ {
\t\ts += i * i
\t}
\treturn s
}

func main() { println(hot(100)) }
"""


@pytest.mark.skipif(not shutil.which("go"), reason="needs go")
@pytest.mark.parametrize("mode", ["exe", "pie"])
def test_stripped_go_programs_have_the_names_of_their_runtime(tmp_path, mode):
    (tmp_path / "app.go").write_text(GO)
    env = {**os.environ, "GO111MODULE": "off", "GOCACHE": str(tmp_path / "cache"), "CGO_ENABLED": "0"}
    for flags, name in (("-s -w", "app"), ("", "whole")):
        done = subprocess.run(["go", "build", "-buildmode=" + mode, "-ldflags=" + flags, "-o", name, "app.go"], cwd=tmp_path,
                              env=env, capture_output=True)
        if done.returncode:
            pytest.skip("go cannot build here")
    table = subprocess.run(["nm", "-S", "whole"], cwd=tmp_path, capture_output=True, text=True).stdout.split("\n")
    at = {f[3]: (int(f[0], 16), int(f[1], 16)) for f in map(str.split, table) if len(f) == 4 and f[2] in "tT"}
    frame = {"dso": str(tmp_path / "app"), "func_resolved": False, "kind": "user"}
    known = [n for n in at if n.startswith(("main.", "fmt.", "runtime.gc", "runtime.malloc"))]
    assert "main.hot" in known
    stacks = [([{**frame, "func": hex(at[n][0] + 1), "ip": hex(at[n][0] + 1)}], 1) for n in known]
    (tmp_path / "bare.spaa").write_text(profiles.text(stacks))
    run("symbolize", tmp_path / "bare.spaa", "-o", tmp_path / "p.spaa", code=0)
    rows = {r["function"] for r in ask("top", tmp_path / "p.spaa", "-n", "0")["rows"]}
    assert "main.hot" in rows and not any("+0x" in r or r.startswith("0x") for r in rows)
    assert len(rows & set(known)) >= 0.9 * len(known)

"""LeakSanitizer's reports: sums are those of SUMMARY, stacks those of the text, and what is not known is said."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, ask, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "lsan")
WHOLE = ["odd", "gcc", "clang", "unsymbolized", "colours", "suppressed", "objects", "fork", "log", "top"]


def fixture(name):
    return os.path.join(FIXTURES, name + ".txt")


def text_of(name):
    with open(fixture(name)) as f:
        return re.sub("\x1b\\[[0-9;]*m", "", f.read())


def rows(path, *args):
    return ask("top", path, "-n", "0", "--no-symbols", *args)


def summed(text):
    found = re.findall(r"SUMMARY: \w+: (\d+) byte\(s\) leaked in (\d+) allocation", text)
    return sum(int(b) for b, _ in found), sum(int(n) for _, n in found)


@pytest.mark.parametrize("name", WHOLE)
def test_sums_are_those_of_the_summary(name):
    size, count = summed(text_of(name))
    assert rows(fixture(name))["whole"] == size
    assert rows(fixture(name), "--metric", "live_count")["whole"] == count


@pytest.mark.parametrize("name", [n for n in WHOLE if n != "top"])
def test_kinds_are_those_of_the_text(name):
    want = {}
    for kind, size in re.findall(r"(Direct|Indirect) leak of (\d+) byte", text_of(name)):
        key = "definite" if kind == "Direct" else "indirect"
        want[key] = want.get(key, 0) + int(size)
    found = rows(fixture(name), "--by", "label:leak_kind")["rows"]
    assert {r["name"]: r["self"] for r in found} == want


def test_a_kind_can_be_asked_for():
    found = rows(fixture("clang"), "--label", "leak_kind=definite")
    assert found["whole"] == 364


def test_frames_have_their_lines_and_inlined_ones_are_told():
    out = run("stacks", fixture("clang"), "--keep-allocators", "--no-symbols", "-n", "0", code=0).out
    assert "make [inlined]" in out and "/srv/app/l.cpp:6" in out and "/srv/app/l.cpp:9" in out
    assert "l.cpp:6:89" not in out


def test_a_recursion_is_not_inlined():
    found = run("stacks", fixture("fork"), "--no-symbols", code=0).out
    assert "rec ×4" in found and "[inlined]" not in found


def test_offsets_and_build_ids_are_kept(tmp_path):
    out = tmp_path / "x.spaa"
    run("convert", fixture("clang"), "-o", out, "--no-symbols", code=0)
    run("validate", out, code=0)
    text = out.read_text()
    assert "fe09f4cff3bfbc13cc1b1c69e570d89750686f57" in text and '"0xa419e"' in text


def test_processes_are_kept_apart():
    found = rows(fixture("fork"), "--by", "process")
    assert sorted(r["self"] for r in found["rows"]) == [10, 77]


def test_allocators_and_sanitizers_own_nothing():
    names = {r["function"] for r in rows(fixture("gcc"))["rows"] if r["self"]}
    assert not [n for n in names if "interceptor" in n or n.startswith("operator new")]


def test_stacks_that_end_early_are_said():
    out = run("top", fixture("gcc"), code=0)
    assert "4 of 5 stacks end before main" in out.out + out.err
    out = run("top", fixture("fork"), code=0)
    assert "end before main" not in out.out + out.err


def test_what_is_suppressed_or_not_shown_is_said():
    out = run("top", fixture("suppressed"), code=0)
    assert "48 suppressed bytes in 4 allocations" in out.out + out.err
    out = run("top", fixture("top"), code=0)
    assert "[not shown]" in out.out and "1772 bytes in 20 allocations" in out.out + out.err


def test_a_summary_that_contradicts_is_said(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text(text_of("gcc").replace("SUMMARY: AddressSanitizer: 1968", "SUMMARY: AddressSanitizer: 1000"))
    out = run("top", bad)
    assert "SPAA-W772" in out.err + out.out and "1968" in out.err + out.out


def test_the_last_report_of_a_process_counts(tmp_path):
    twice = tmp_path / "twice.txt"
    twice.write_text(text_of("gcc") * 2)
    out = run("top", twice, "--json", "-n", "0")
    assert json.loads(out.out)["whole"] == 1968
    assert "1 reports before the last one" in out.out


def test_a_log_without_its_end(tmp_path):
    text = text_of("clang")
    for n in range(150, len(text), 311):
        cut = tmp_path / "cut.txt"
        cut.write_text(text[:n])
        out = run("top", cut, "--from", "lsan", "--json", "-n", "0", "--no-symbols")
        if out.code == 0 and "SUMMARY" not in text[:n]:
            found = json.loads(out.out)
            assert found["whole"] <= 2425
            assert any(m["code"] == "SPAA-L301" for m in found["diagnostics"])


def test_damage_is_no_crash(tmp_path):
    with open(fixture("clang"), "rb") as f:
        text = f.read()
    for i in range(0, len(text), 41):
        bad = tmp_path / "bad.txt"
        bad.write_bytes(text[:i] + bytes([text[i] ^ 0x1b]) + text[i + 1:])
        run("top", bad, "--from", "lsan", "--no-symbols")


def test_other_frames_are_no_leaks(tmp_path):
    """An error of AddressSanitizer has frames that look the same."""
    mixed = tmp_path / "mixed.txt"
    error = ("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n"
             "    #0 0x1 in wrong /srv/app/w.c:3:1\n\nSUMMARY: AddressSanitizer: heap-use-after-free\n")
    mixed.write_text(error + text_of("clang"))
    found = rows(mixed)
    assert found["whole"] == rows(fixture("clang"))["whole"]
    assert "wrong" not in {r["function"] for r in found["rows"]}


PROGRAM = """
#include <stdlib.h>
#include <string.h>
static void *volatile sink;
__attribute__((noinline)) static void lose(int n) { for (int i = 0; i < n; i++) sink = malloc(1000); }
__attribute__((noinline)) static void clear(void) { char b[4096]; memset(b, 0, sizeof b); sink = b; sink = 0; }
int main(void) { lose(7); clear(); return 0; }
"""


def test_names_come_from_the_program_where_the_report_has_none(tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    (tmp_path / "p.c").write_text(PROGRAM)
    built = subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=address", "p.c", "-o", "p"],
                           cwd=tmp_path, capture_output=True)
    if built.returncode:
        pytest.skip("no AddressSanitizer")
    told = subprocess.run(["./p"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "ASAN_OPTIONS": "symbolize=0"})
    if "LeakSanitizer" not in told.stderr or "object(s)" not in told.stderr:
        pytest.skip("no LeakSanitizer here")
    log = tmp_path / "log.txt"
    log.write_text(told.stderr)
    found = ask("top", log, "-n", "0")
    lose = [r for r in found["rows"] if r["function"] == "lose"]
    assert lose and lose[0]["self"] >= 6000 and found["whole"] == summed(told.stderr)[0]


def test_names_and_paths_with_blanks_and_parentheses():
    out = run("convert", "-q", fixture("odd"), "--no-symbols", "--to", "spaa", "-o", "-", code=0).out
    frames = {f["func"]: f for f in map(json.loads, out.splitlines()) if f["type"] == "frame"}
    dsos = {d["id"]: d["name"] for d in map(json.loads, out.splitlines()) if d["type"] == "dso"}
    assert frames["(anonymous namespace)::f(int)"]["srcline"] == "/srv/my app/c d.cpp:3"
    assert dsos[frames["g<(x)1>()"]["dso"]] == "/srv/my (app)/x" and frames["g<(x)1>()"]["ip"] == "0x10"
    assert frames["main"]["srcline"] == "rel/m.c:7"
    assert dsos[frames["_start"]["dso"]] == "a.out"
    assert frames["operator/(A const&, B const&)"]["srcline"] == "/s/x.cpp:9"


ASTRAY = """==7==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 100 byte(s) in 1 object(s) allocated from:
    #0 0x7f0000001000 in malloc /src/asan_malloc_linux.cpp:69
    #1 0x550000001000 in keep /srv/app/a.cpp:5
    #2 %s
    #3 0x550000002000 in garbage /srv/app/a.cpp:9

SUMMARY: AddressSanitizer: 100 byte(s) leaked in 1 allocation(s).
"""


@pytest.mark.parametrize("where", ["0x7ffe00001fc3  ([stack]+0x1fc3f)", "0x603000000010  ([heap]+0x10)", "0x10  (<unknown module>)"])
def test_what_is_no_code_calls_nobody(tmp_path, where):
    """Frame pointers that lead astray: what was taken for callers is none."""
    log = tmp_path / "a.log"
    log.write_text(ASTRAY % where)
    found = rows(log, "--keep-allocators")
    names = {r["function"] for r in found["rows"]}
    assert names == {"malloc", "keep"}
    for question in ("leaks", "summary"):
        assert "LSAN_OPTIONS=fast_unwind_on_malloc=0" in run(question, log, code=0).out  # which both sanitizers read
    leaks = json.loads(run("leaks", log, "--json", "--no-symbols", code=0).out)
    assert [r["function"] for r in leaks["rows"]] == ["keep"]


def test_data_of_a_binary_calls_nobody(tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    (tmp_path / "p.c").write_text("const char table[65536] = {1};\nint main(void) { return table[9]; }\n")
    subprocess.run(["gcc", "-g", "-no-pie", "-o", tmp_path / "p", tmp_path / "p.c"], check=True)
    symbols = subprocess.run(["nm", tmp_path / "p"], capture_output=True, text=True, check=True).stdout
    at = {line.split()[-1]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}
    log = tmp_path / "a.log"
    log.write_text(ASTRAY % f"0x5500 ({tmp_path}/p+{at['table'] + 800:#x})")
    names = {r["function"] for r in ask("top", log, "-n", "0", "--keep-allocators")["rows"]}
    assert names == {"malloc", "keep"}
    log.write_text(ASTRAY % f"0x5500 ({tmp_path}/p+{at['main'] + 4:#x})")
    names = {r["function"] for r in ask("top", log, "-n", "0", "--keep-allocators")["rows"]}
    assert "main" in names and "garbage" in names

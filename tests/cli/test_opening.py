"""What is taken for a profile and what is not: texts and files of other kinds must stay unknown."""

import gzip
import os
import re
import subprocess

import pytest

from conftest import BIN, ROOT, ask, run

NUMBERS = "".join(f"word{i} {i}\n" for i in range(300))

OTHERS = {
    "C header": "/* a;b 5 */\n#ifndef X_H\n#define X_H\n" + "".join(f"#define X_{i} {i}\n" for i in range(300)) +
                "#endif\n",
    "defines only": "".join(f"#define X_{i}_a;b {i}\n" for i in range(300)),
    "changelog": "".join(f"pkg (1.{i}-1) unstable; urgency=low\n\n  * Fix a bug; close: #{i} in 200{i % 10}\n\n"
                         f" -- A B <a@b.c>  Mon, 0{i % 9 + 1} Jan 2001\n\n" for i in range(100)),
    "ini": "; a comment 5\n[part]\nx = 5\ny = 6\n; other 7\n" * 40,
    "words and numbers": NUMBERS,
    "numbers": "".join(f"{i} {2 * i} {3 * i}\n" for i in range(300)),
    "one word": "main 5\n",
    "no semicolon in stacks": "<module> (a.py:3) 7\n<module> (a.py:4) 9\n",
    "half of it folded": "a;b 1\nno number\nc;d 2\nnothing\n" * 20,
    "94 of 100 folded": "a;b 1\n" * 94 + "nothing here\n" * 6,
    "counts out of range": "a;b 123456789012345678901234567890\n" * 20,
    "prose with semicolons": "the first one; the second, in all 5\nand so on; it ends here with 7\n" * 30,
    "semicolon table": "name;count;text\n" + "".join(f"f{i};{i};a {i}\n" for i in range(300)),
    "csv": "name,count\n" + "".join(f"f{i},{i}\n" for i in range(300)),
    "log": "".join(f"2024-01-01 10:00:{i % 60:02} INFO worker-{i}: done; status=200 took {i}\n" for i in range(300)),
    "metrics": "".join(f'# HELP x y\n# TYPE x counter\nm{{a="{i}"}} {i}\n' for i in range(300)),
    "callgrind": "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd:  ./t\npart: 1\n\n"
                 "desc: I1 cache: \npositions: line\nevents: Ir\nsummary: 1234\n\nob=(1) /lib/ld.so\nfl=(1) ???\n" +
                 "".join(f"fn=({i}) f{i}\n0 {i}\ncfn=({i + 1})\ncalls=1 0\n0 {i * 7}\n+3 2\n\n" for i in range(300)) +
                 "totals: 1234\n",
    "makefile": "all: x\n\tcc -o x x.c; echo 5\n" * 30,
    "JSON": '{"a": [' + ", ".join(map(str, range(500))) + '], "s": "x;y 5"}\n',
    "JSON lines with types": '{"type":"sample","value":1}\n{"type":"frame","id":2}\n{"type":"stack","name":"x"}\n' * 30,
    "JSON with a callgraph": '{"callgraph":{"nodes":["a","b"],"edges":[[0,1]]},"name":"x"}\n',
    "JSON lines of map": '{"type": "map", "name": "x"}\n' * 30,
    "a program with an example of perf": '/*\n * app 1 5.000001: cycles:\n *\t 1100 main+0x1 (/bin/app)\n */\n' +
                                         "int f(int x)\n{\n    return x;\n}\n" * 40,
    "a page with an example of perf": "# Text\n\napp 1 5.000001: 1 cycles:\n\t 1100 main+0x1 (/bin/app)\n\n" +
                                      "A line of prose that explains what was seen above.\n" * 40,
    "a shell script": "#!/bin/sh\nfor i in `ls`; do\n    x=a`echo b`\n    test $x -gt 1\ndone\n" * 30,
    "a page with an example of DTrace": "Text.\n\n    libc`read+0x1\n    app`main\n    17\n\n" +
                                        "A line of prose about it all.\n" * 40,
    "a program with an example of sample": 'TEXT = """\nAnalysis of sampling x (pid 1) every 1 millisecond\n'
                                           'Call graph:\n    1 Thread_1\n      1 main  (in x) + 1  [0x1]\n"""\n' +
                                           "def f(x):\n    return x + 1\n" * 40,
    "a program with an example of spindump": 'T = """\nHeavy format: stacks are sorted by count\nProcess: x [1]\n'
                                             '  Thread 0x1    3 samples (1-3)\n    3  a + 1 (x + 1) [0x1]\n"""\n' +
                                             "def f(x):\n    return x + 1\n" * 40,
    "a note on heaps": "heap profile: this is what it says of heaps\nand more 5\n",
    "a note on goroutines": "x profile: total 5\nand more of it\n",
    "a note on jemalloc": "heap_v2/5 is what it begins with\n",
    "analysis of something": "Analysis of sampling methods in statistics\nWe look at several.\nThey differ.\nMuch.\n" * 9,
    "Ruby": "class A\n  def x\n    @name[1] = []\n@b[\n  x]: y\nend\n" * 20,
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("how", ["plain", "gzip"])
def test_what_is_no_profile_is_unknown(name, how):
    text = OTHERS[name].encode()
    answer = run("info", "-", stdin=gzip.compress(text) if how == "gzip" else text, code=3)
    assert "SPAA-E005" in answer.err and "--from" in answer.err


def test_object_files_are_unknown(tmp_path):
    """Also of programs that hold the words of formats."""
    source = tmp_path / "t.c"
    source.write_text("".join(f'const char t{i}[] = "{line}\\n";\n' for i, line in enumerate(
        ["\\nAnalysis of sampling x", "\\nCall graph:", "\\nProcess: x [1]", "\\nHeavy format: stacks",
         "Use spindump -i to generate textual report", "a;b 5", "app 1 5.0001: cycles:"])) + "int main(){return 0;}\n")
    for options, out in ((["-c"], "t.o"), ([], "t"), (["-shared", "-fPIC"], "t.so")):
        if subprocess.run(["cc", *options, str(source), "-o", str(tmp_path / out)]).returncode:
            pytest.skip("no compiler")
        assert "SPAA-E005" in run("info", tmp_path / out, code=3).err


def test_this_project_is_no_profile():
    """Sources, tests and documents, which hold examples of every format, and what was built of them."""
    claimed = []
    for folder in ("src", "docs", "cli", "include", "tests/formats", "tests/cli", "tests/unit"):
        for at, _, files in os.walk(os.path.join(ROOT, folder)):
            if "goldens" in at or "examples" in at:
                continue
            for name in files:
                if re.search(r"\.(c|h|py|md|def|build|map|css|js)$", name):
                    path = os.path.join(at, name)
                    if subprocess.run([BIN, "info", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE).returncode != 3:
                        claimed.append(path)
    assert not claimed


@pytest.mark.parametrize("name,text,form,why", [
    ("one frame", "main 5\n", "folded", "none shows frames"),
    ("many others", "a;b 1\nno number\n" * 30, "folded", "fewer than 95 %"),
    ("perf", "app 1 5.000001: 1 cycles:\n\t 1100 main+0x1 (/bin/app)\n\n" + "prose\n" * 40, "perf-script", "one line in ten"),
    ("dtrace", "    libc`read+0x1\n    app`main\n    17\n" + "prose here\n" * 40, "dtrace", "most lines are text")])
def test_the_nearest_guess_is_named_and_can_be_forced(name, text, form, why):
    answer = run("info", "-", stdin=text, code=3)
    assert f"the nearest is {form}: " in answer.err and why in answer.err and f"`--from {form}`" in answer.err
    assert ask("info", "-", "--from", form, stdin=text)["format"] == form


@pytest.mark.parametrize("text,total", [
    ("main;f 5\n", 5), ("a;b 1\n" * 95 + "nothing\n" * 5, 95), ("a 1\n" * 50 + "a;b 2\n", 52), ("main_[k] 5\n", 5),
    ("# a comment\n\n# event: cycles\nmain 5\n", 5), ("void f<a, b>(int);x y 3\n", 3), ("a;b -2\n", -2),
    ("a;b 1.5\n", None), ("a;b 18446744073709551615\n", None), ("a;b\t3\n", 3), ("\n\na;b 3\n\n", 3)])
def test_folded_text_is_known(text, total):
    answer = ask("info", "-", stdin=text)
    assert answer["format"] == "folded"
    assert total is None or answer["events"][0]["whole"] == total


def test_a_comment_names_the_event_of_folded_text():
    for comment in "# event: cpu-cycles", "#event=cpu-cycles", "# Event:\tcpu-cycles \r":
        assert ask("info", "-", stdin=f"{comment}\nmain;f 5\n")["events"][0]["name"] == "cpu-cycles"
    for comment in "# events: x", "# the event: x", "# event", "# event:":
        assert ask("info", "-", stdin=f"{comment}\nmain;f 5\n")["events"][0]["name"] == "folded"


def test_only_the_bytes_that_are_there_are_shown(tmp_path):
    path = tmp_path / "one"
    path.write_bytes(b":")
    assert "first bytes (3a)" in run("info", path, code=3).err

"""Folded stacks: reading, writing, and what comes back."""

import collections
import decimal
import json
import os
import re
import subprocess
from fractions import Fraction

import pytest

from conftest import ask, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))
CORPUS = os.environ.get("SPAA_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
FIXTURES = os.path.join(ROOT, "tests", "fixtures", "folded")
needs_corpus = pytest.mark.skipif(not os.path.isdir(CORPUS), reason="no corpus")


def spaa(*args, stdin=None):
    return subprocess.run([SPAA, *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


def convert(path, to, *args, stdin=None):
    run = spaa("convert", path, "--from", "folded", "--to", to, "-o", "-", *args, stdin=stdin)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode()


def sums(text):
    """{stack: exact sum} of folded text, read plainly."""
    out = collections.Counter()
    for line in text.splitlines():
        stack, blank, number = line.rstrip().rpartition(" ")
        if blank and not line.startswith("# ") and re.fullmatch(r"[-+]?[0-9]*\.?[0-9]*", number):
            out[stack] += Fraction(number.rstrip("."))
    return dict(out)


def decode(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def records(path, *args):
    return [json.loads(line, parse_float=str) for line in convert(path, "spaa", *args).splitlines()]


def names(folder):
    found = os.path.join(CORPUS, folder)
    return [f"{folder}/{n}" for n in sorted(os.listdir(found))] if os.path.isdir(found) else []


@needs_corpus
@pytest.mark.parametrize("name", [n for n in names("folded") if "invalid" not in n] +
                         [n for n in names("diff-folded") if n.endswith(".txt") and "bad" not in n])
def test_same_stacks_and_sums_come_back(name, tmp_path):
    path = os.path.join(CORPUS, name)
    want = sums(decode(path))
    assert want
    assert sums(convert(path, "folded")) == want
    through = tmp_path / "through.spaa"
    through.write_text(convert(path, "spaa"))
    run = spaa("convert", str(through), "--to", "folded", "-o", "-")
    assert run.returncode == 0 and sums(run.stdout.decode()) == want
    assert spaa("validate", str(through)).returncode == 0


@needs_corpus
def test_lines_that_are_no_stacks_are_reported_and_skipped():
    run = spaa("convert", f"{CORPUS}/folded/invalid-lines.txt", "--from", "folded", "--to", "folded", "-o", "-")
    assert run.stdout.decode() == "<module> (long_running.py:24) 7\n<module> (long_running.py:25) 421\n"
    assert b"nothing to see here" in run.stderr and b"123123123" in run.stderr


@needs_corpus
@pytest.mark.parametrize("name", names("diff-folded/results"))
def test_two_columns(name):
    path = os.path.join(CORPUS, name)
    before, after = {}, {}
    for line in decode(path).splitlines():
        stack, a, b = line.rsplit(" ", 2)
        before[stack], after[stack] = int(a), int(b)
    assert sums(convert(path, "folded")) == after
    assert sums(convert(path, "folded", "--metric", "before")) == before


def fixture(name):
    return os.path.join(FIXTURES, name + ".folded")


@pytest.mark.parametrize("name", ["marks", "numbers", "damaged"])
def test_output_is_sorted_merged_and_stable(name):
    once = convert(fixture(name), "folded")
    stacks = [line.rpartition(" ")[0].encode() for line in once.splitlines()]
    assert stacks == sorted(set(stacks))
    assert convert("-", "folded", stdin=once.encode()) == once
    assert sums(once) == sums(decode(fixture(name)))


def test_marks_mean_something():
    rows = records(fixture("marks"))
    dsos = {d["id"]: d["name"] for d in rows if d["type"] == "dso"}
    frames = {f["func"]: f for f in rows if f["type"] == "frame"}
    at = {name: (dsos[f["dso"]], f["kind"]) for name, f in frames.items()}
    assert at["vfs_read"] == at["schedule"] == ("[kernel]", "kernel")
    assert at["run"] == ("[jit]", "user")
    assert (frames["push"]["inline_depth"], frames["grow"]["inline_depth"]) == (1, 2)
    assert at["grow"] == ("[jit]", "user")
    assert frames["waker_fn"]["x_folded"] == {"mark": "w"}
    assert at["main"] == ("[unknown]", "unknown")
    assert "#<Class:0x1>#call" in frames and "operator new (unsigned long)" in frames


def test_one_event_and_one_metric():
    header = records(fixture("marks"))[0]
    assert header["source_tool"] == "folded"
    assert header["events"] == [{"name": "folded", "kind": "timer",
                                 "sampling": {"mode": "period", "primary_metric": "value"}}]
    assert header["x_spaa"]["frames"] == "function"
    header = records(fixture("marks"), "--value-metric", "samples")[0]
    assert header["events"][0]["sampling"]["primary_metric"] == "samples"


def test_numbers_are_exact():
    got = dict(line.rsplit(" ", 1) for line in convert(fixture("numbers"), "folded").splitlines())
    assert got == {"a": "3", "a;b": "3.75", "a;c": "18446744073709551615", "a;d": "9223372036854775807", "a;e": "-2",
                   "a;f": "0.1234567890123456789012"}


def test_odd_numbers_become_numbers_of_json():
    rows = [json.loads(line, parse_float=str, parse_int=str) for line in
            convert("-", "spaa", stdin=b"a +1\nb 007.50\nc 20.\nd .5\ne -.5\nf 0\ng 1e3\nh 00\n").splitlines()]
    frames = {f["id"]: f["func"] for f in rows if f["type"] == "frame"}
    got = {frames[s["frames"][0]]: s["weights"][0]["value"] for s in rows if s["type"] == "stack"}
    assert got == {"a": "1", "b": "7.50", "c": "20", "d": "0.5", "e": "-0.5", "f": "0", "g": "1e3", "h": "0"}


def test_utf16_is_read():
    assert convert(fixture("utf16"), "folded") == "a;b\u00e9 2\na;b\u00e9;\U0001F600 1\n"
    assert convert("-", "folded", stdin="\ufeffa;b 1\n".encode("utf-16-be")) == "a;b 1\n"
    assert convert("-", "folded", stdin="\ufeffa;b 1\n".encode()) == "a;b 1\n"


def test_damage_costs_only_itself():
    run = spaa("convert", fixture("damaged"), "--from", "folded", "--to", "folded", "-o", "-")
    assert run.stdout == b"a;b 4\na;c 2\n"
    assert b"no number here" in run.stderr and b"a comment" not in run.stderr
    strict = spaa("convert", fixture("damaged"), "--from", "folded", "--strict", "--to", "folded", "-o", "-")
    assert strict.returncode == 3


def test_is_found_by_content():
    for name in ("marks", "numbers", "utf16", "two_columns"):
        run = spaa("convert", fixture(name), "--to", "folded", "-o", "-")
        assert run.returncode == 0 and run.stdout, (name, run.stderr.decode())


def perf_text(*samples):
    return "".join(f"{who} {1 + i}.000000: {event}: \n" + "".join(f"\t{f}\n" for f in frames) + "\n"
                   for i, (who, event, frames) in enumerate(samples)).encode()


def fold_perf(text, *args):
    run = spaa("convert", "-", "--from", "perf-script", "--to", "folded", "-o", "-", *args, stdin=text)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode(), run.stderr.decode()


NAMES = [("1 std::vector<int, f(int)>::push(int const&) const (/bin/a)", "std::vector<int, f(int)>::push"),
         ("2 (anonymous namespace)::run(int) (/bin/a)", "(anonymous namespace)::run"),
         ("3 net/http.(*Client).Do (/bin/a)", "net/http.(*Client).Do"),
         ("4 Q::operator->(int) (/bin/a)", "Q::operator->"),
         ("5 operator<<(S&, int) (/bin/a)", "operator<<"),
         ("6 RegExp:[&<>\"'] (/tmp/perf-1.map)", "RegExp:[&<>]"),
         ("7 a;b (/bin/a)", "a:b"),
         ("8 run::{lambda(int)#1}::operator()(int) const (/bin/a)", "run::{lambda(int)#1}::operator"),
         ("9 _ZN3foo3barEv (/bin/a)", "_ZN3foo3barEv"),
         ("a (anonymous) (/bin/a)", "(anonymous)"), ("b foo::bar(int)@plt (/bin/a)", "foo::bar@plt"), ("c strlen@plt (/bin/a)", "strlen@plt"),
         ("d (main)@plt (/bin/a)", "(main)@plt")]


@pytest.mark.parametrize("frame,want", NAMES)
def test_names_of_perf_are_tidied(frame, want):
    out, _ = fold_perf(perf_text(("app 1/2", "cycles", [frame])))
    assert out == f"app;{want} 1\n"


def test_names_of_perf_stay_raw_on_demand():
    out, _ = fold_perf(perf_text(("app 1/2", "cycles", ["9 _ZN3foo3barEv (/bin/a)", "1 g(int) (/bin/a)"])), "--raw-names")
    assert out == "app;g(int);foo::bar() 1\n"


def test_one_event_is_written_and_named():
    text = perf_text(("app 1/2", "cycles", ["1 a (/x)"]), ("app 1/2", "faults", ["1 b (/x)"]),
                     ("app 1/2", "faults", ["1 b (/x)"]))
    out, said = fold_perf(text)
    assert out == "app;b 2\n" and "faults" in said
    out, _ = fold_perf(text, "--event", "cycles")
    assert out == "app;a 1\n"


def test_process_dialects():
    text = perf_text(("io thread 1/2", "cycles", ["1 a (/x)"]))
    assert fold_perf(text, "--with-pid")[0] == "io_thread-1;a 1\n"
    assert fold_perf(text, "--tid")[0] == "io_thread-1/2;a 1\n"
    assert fold_perf(text, "--group-by", "none")[0] == "a 1\n"


def test_inlined_frames_are_marked_on_demand():
    text = perf_text(("app 1/2", "cycles", ["1 i (inlined)", "1 o (/x)", "ffffffff81000000 k ([kernel.kallsyms])"]))
    assert fold_perf(text)[0] == "app;k;o;i 1\n"
    assert fold_perf(text, "--inlines")[0] == "app;k;o;i_[i] 1\n"
    assert fold_perf(text, "--all")[0] == "app;k_[k];o;i_[i] 1\n"


def test_a_sum_beyond_doubles_is_capped_at_the_largest(tmp_path):
    path, out = tmp_path / "s.folded", tmp_path / "o.spaa"
    path.write_text("a;b 1e308\na;b 1e308\na;c 1\n")
    assert "SPAA-L304" in run("convert", path, "-o", out, code=0).err
    run("validate", out, code=0)


NAMELESS = "main;[unknown] 5\nmain;work 4\nmain;?? 2\n"


@pytest.mark.parametrize("name", ["u.spaa", "u.codeguru.json", "u.pb.gz", "u.speedscope.json", "u.folded", "u.json"])
def test_what_stands_for_a_name_is_none_in_every_format(name, tmp_path):
    """profile-bee and stackcollapse write [unknown] for a function without a symbol."""
    (tmp_path / "in.folded").write_text(NAMELESS)
    to = ["--to", "firefox"] if name == "u.json" else []
    run("convert", tmp_path / "in.folded", "-o", tmp_path / name, *to, "-q", code=0)
    answer = ask("top", tmp_path / name, "-n", 0)
    unresolved = {r["function"]: r["self"] for r in answer["rows"] if "unresolved" in r["tags"]}
    assert unresolved == {"[unknown]": 5, "??": 2}
    assert answer["quality"]["unresolved_percent"] == decimal.Decimal("63.64")
    assert sorted(run("convert", tmp_path / name, "--to", "folded", "-o", "-", "-q", code=0).out.splitlines()) == sorted(NAMELESS.splitlines())
    if name.endswith(".spaa"):
        assert "0 warnings" in run("validate", tmp_path / name, code=0).out


def test_what_stands_for_a_name_of_the_kernel_comes_back(tmp_path):
    text = "main;[unknown]_[k] 5\n"
    (tmp_path / "in.folded").write_text(text)
    run("convert", tmp_path / "in.folded", "-o", tmp_path / "k.codeguru.json", "-q", code=0)
    assert '"[unknown]_[k]"' in (tmp_path / "k.codeguru.json").read_text()
    assert ask("top", tmp_path / "k.codeguru.json")["rows"][0]["tags"] == ["unresolved", "kernel"]

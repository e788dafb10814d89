"""What diff --fail-on says, and the recipe of the documentation."""

import os
import re
import subprocess

import pytest

import profiles
from comparison import ask, repeated, side_text, timed_text, write
from conftest import BIN, ROOT, run, unwrapped

LONG = ("std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::pair<std::__cxx11::"
        "basic_string<char> const, int>, std::_Select1st<std::pair<int const, int> > >::_M_insert_unique(std::pair<int const, int>&&)")


def runs(tmp_path, prefix, weights, n=3):
    return [write(tmp_path, "%s%d.spaa" % (prefix, i), profiles.text(
        [([f, "main"], {"period": w, "samples": w}) for f, w in weights.items()])) for i in range(n)]


@pytest.mark.parametrize("name, short", [
    (LONG, "std::_Rb_tree<…>::_M_insert_unique"),
    ("<alloc::vec::Vec<core::option::Option<alloc::string::String>> as core::iter::FromIterator<T>>::from_iter",
     "<alloc::vec::Vec<…> as core::iter::FromIterator<…>>::from_iter"),
    ("(anonymous namespace)::Parser<std::vector<int, std::allocator<int>>, std::less<int>>::operator()(std::string const&)",
     "(anonymous namespace)::Parser<…>::operator()"),
    ("std::ostream& std::operator<< <std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, char const*)",
     "std::operator<<<…>"),
    ("a_namespace_with_a_long_name::" * 4 + "f(int)", "…::a_namespace_with_a_long_name::a_namespace_with_a_long_name::f"),
    ("x" * 100, None), ("short(int)", "short")])
def test_reasons_have_short_names(name, short, tmp_path):
    a, b = runs(tmp_path, "a", {name: 500, "g": 500}), runs(tmp_path, "b", {name: 900, "g": 100})
    answer = ask("diff", *a, "--", *b, "--fail-on", "self>10pp", code=1)["fail_on"]["limits"][0]
    assert answer["cases"][0]["function"] == name
    shown = re.fullmatch(r"self>10pp  BREACHED: self share of (.*) 50\.00% to 90\.00% \(\+40\.00 points\)", answer["text"])[1]
    assert len(shown) <= 72 and shown == (short or shown)


def test_what_is_said_of_each_verdict(tmp_path):
    a, b = runs(tmp_path, "a", {"f": 500, "g": 500}), runs(tmp_path, "b", {"f": 900, "g": 100})
    text = run("diff", *a, "--", *b, "--fail-on", "f>10%,self:f>10%,self>90pp,whole>50%", code=1).out
    assert "limit   f>10%  BREACHED: total share of f 50.00% to 90.00% (+80.00%)" in text
    assert "limit   self:f>10%  BREACHED: self share of f" in text
    assert "limit   self>90pp  passed: 2 functions of 5% or more are shown to stay within" in text
    fresh = runs(tmp_path, "c", {"h": 900})
    assert "self share of h 0.00% to 100.00% (new)" in run("diff", *a, "--", *fresh, "--fail-on", "self>2%", code=1).out
    assert "0 functions of 80% or more are shown" in run("diff", *a, "--", *a, "--fail-on", "self>2pp", "--min-share", 80, code=0).out


def test_what_cannot_be_told_is_told_on_standard_error(tmp_path):
    a = [write(tmp_path, "a%d.spaa" % i, side_text(10 + i, runs_vary=0.03)) for i in range(3)]
    b = [write(tmp_path, "b%d.spaa" % i, side_text(50 + i, runs_vary=0.03)) for i in range(3)]
    p = run("diff", *a, "--", *b, "--fail-on", "parse>0.1%", "--format", "markdown", code=5)
    assert "warning" in p.err and "parse>0.1%  cannot tell: total share of parse" in p.err and "SPAA-W642" in p.err
    assert "exit 5 is no pass" in p.err and "shown neither beyond the limit nor within" in p.out
    answer = ask("diff", *a, "--", *b, "--fail-on", "parse>0.1%", code=5)
    assert [d["code"] for d in answer["diagnostics"]].count("SPAA-W642") == 1
    assert "W642" not in run("diff", *a, "--", *a, "--fail-on", "self>50pp", code=0).err


def test_the_documented_recipe_shows_what_cannot_be_told(tmp_path):
    """The step of docs/diff.md fails on a breach, and warns, visibly, where nothing can be told."""
    text = open(os.path.join(ROOT, "docs", "diff.md"), encoding="utf-8").read()
    script = next(s for s in re.findall(r"```sh\n(.*?)```", text, re.S) if "comment.md" in s)
    assert "|| test" not in script and "|| true" not in script
    named = tmp_path / "bin"
    named.mkdir()
    os.symlink(BIN, named / "spaa")

    def step(base, new):
        for name, weights in (("a", base), ("b", new)):
            for i in range(3):
                write(tmp_path, "%s%d.spaa" % (name, i + 1), profiles.text(
                    [([f, "main"], {"period": w[i], "samples": w[i]}) for f, w in weights.items()]))
        return subprocess.run(["sh", "-eu", "-c", script], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "PATH": "%s:%s" % (named, os.environ["PATH"])})
    steady = {"f": [5000, 5001, 4999], "g": [5000, 4999, 5001]}
    passed = step(steady, steady)
    assert passed.returncode == 0 and "warning" not in passed.stdout, passed
    breached = step(steady, {"f": [9000, 9001, 8999], "g": [1000, 999, 1001]})
    assert breached.returncode == 1, breached
    unsure = step({"f": [30, 50, 80], "g": [70, 50, 20]}, {"f": [50, 30, 90], "g": [50, 70, 10]})
    assert unsure.returncode == 0 and "::warning" in unsure.stdout and "cannot tell" in unsure.stderr, unsure
    assert (tmp_path / "comment.md").read_text().startswith("**")


def test_a_whole_that_lasts_longer_cannot_be_judged_without_work(tmp_path):
    """Slower, or recorded for longer? Only the work that was done tells."""
    sides = []
    for side, seconds, weight in (("a", 2, 2000), ("b", 3, 3000)):
        for i in range(4):
            path = tmp_path / ("%s%d.spaa" % (side, i))
            path.write_text(profiles.text([(["f", "main"], weight + i), (["g", "main"], weight // 2 - i), (["h", "main"], weight // 4)],
                                          [profiles.event("cycles", "period", mode="frequency")],
                                          time_range={"start": 0, "end": seconds, "unit": "seconds"}))
            sides.append(str(path))
    args = [*sides[:4], "--", *sides[4:], "--fail-on", "whole>20%"]
    out = unwrapped(run("diff", *args, code=5).out)
    assert "runs of the sides last differently" in out and "--work" in out
    assert "BREACHED" in run("diff", *args, "--work", "100", code=1).out


def test_exact_memory_that_did_not_change_breaches_nothing(tmp_path):
    event = profiles.event("malloc", "alloc_bytes", kind="allocation", mode="event")
    for name, other in (("a", 900), ("b", 100)):
        (tmp_path / name).write_text(profiles.text([(["same", "main"], {"alloc_bytes": 100}), (["other", "main"], {"alloc_bytes": other})],
                                                   [event]))
    out = run("diff", tmp_path / "a", tmp_path / "b", "--fail-on", "same>1%", code=0).out
    assert "passed" in out
    assert "self weight of other" in run("diff", tmp_path / "b", tmp_path / "a", "--fail-on", "self:other>1%", code=1).out


def test_words_for_weights(tmp_path):
    """total is that of a function, whole the weight of everything; other tools' words are taken."""
    a, b = runs(tmp_path, "a", {"f": 500, "g": 500}), runs(tmp_path, "b", {"f": 500, "g": 500})
    def asked(limits):
        return run("diff", *a, "--", *b, "--fail-on", limits, code=0)
    now = asked("total>50%")
    words, note = now.out.split("\nwarning: ")
    assert "SPAA-W643" in note and "whole>N%" in note
    assert words.replace("total>50%", "") == asked("cum>50%").out.replace("cum>50%", "")
    assert len({asked(word + ">50pp").out.replace(word + ">50pp", "") for word in ("self", "flat", "own")}) == 1
    for limits in ("total>50pp", "cum>50%", "whole>50%", "total:f>50%"):
        assert "SPAA-W643" not in asked(limits).out


def test_a_named_function_that_one_side_lacks_cannot_pass(tmp_path):
    a, b = runs(tmp_path, "a", {"f": 100, "g": 500, "h": 400}), runs(tmp_path, "b", {"render": 210, "g": 500, "h": 400})
    p = run("diff", *a, "--", *b, "--fail-on", "f>10%", code=5)
    assert ("limit f>10% cannot tell: f is not in the new side: removed, renamed or inlined? name the new one, "
            "or total>N% or whole>N%") in unwrapped(p.out)
    assert "a limit on the function that has its work" in p.err and "more runs" not in p.err
    assert run("diff", *a, "--", runs(tmp_path, "c", {"g": 500, "h": 400})[0], "--fail-on", "self:f>10pp", code=5)
    limit, = ask("diff", *a, "--", *b, "--fail-on", "f>10%", code=5)["fail_on"]["limits"]
    assert limit["verdict"] == "unsure" and "f is not in the new side" in limit["text"]
    assert "render 0.00%" in run("diff", *a, "--", *b, "--fail-on", "render>10%", code=1).out
    assert "f is not in the base: added" in unwrapped(run("diff", *runs(tmp_path, "d", {"g": 400}), "--", *runs(
        tmp_path, "e", {"g": 40000, "f": 1}), "--fail-on", "f>10%", code=5).out)
    assert "passed" in run("diff", *a, "--", *a, "--fail-on", "f>50%", code=0).out
    assert "E032" in run("diff", *a, "--", *b, "--fail-on", "nowhere>10%", code=2).err


def test_a_file_given_twice_is_no_repeat(tmp_path):
    a, b = runs(tmp_path, "a", {"f": 500, "g": 500}), runs(tmp_path, "b", {"f": 600, "g": 500})
    link = tmp_path / "link.spaa"
    link.symlink_to(a[0])
    for base, new, side in (([a[0], a[1], a[0]], b, "base"), ([a[0], link], b, "base"), (a, [b[1], b[1]], "new side")):
        p = run("diff", *base, "--", *new, code=2)
        assert p.out == "" and "is given twice as a run of the " + side in p.err and "record the program again" in p.err
    assert run("diff", *a, "--", *a, code=0).out.startswith("NO CHANGE FOUND"), "one on each side is a comparison"
    assert run("diff", a[0], a[0], code=0).out

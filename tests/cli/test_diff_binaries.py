"""diff across binaries that go by different names."""

import json
import os
import shutil
import subprocess

import pytest

import profiles
from comparison import ask, write
from conftest import run, unwrapped

FUNCTIONS = ["parse_field", "hash_row", "scan", "emit_order", "lookup", "price_of", "run", "main"]


def program(dso, functions=FUNCTIONS, scale=1, more=()):
    """Stacks of one binary: main calls each function, function i has 10 (i + 1) samples."""
    return [([{"func": f, "dso": dso}, {"func": "main", "dso": dso}],
             {"period": scale * 10 * (i + 1), "samples": scale * 10 * (i + 1)}) for i, f in enumerate(functions)] + list(more)


def side(tmp_path, name, *programs):
    return write(tmp_path, name, profiles.text([s for p in programs for s in p]))


def test_a_renamed_binary_is_no_new_program(tmp_path):
    a = side(tmp_path, "a.spaa", program("/srv/shop", FUNCTIONS + ["old_way"]))
    b = side(tmp_path, "b.spaa", program("/opt/bin/shop_new", FUNCTIONS, 2))
    answer = ask("diff", a, b, "-n", 0)
    assert answer["binaries"] == [{"base": "shop", "new": "shop_new", "by": "functions", "compared": True,
                                   "same_functions": 8, "functions": 9}]
    assert answer["new_functions"] == [] and [r["function"] for r in answer["vanished_functions"]] == ["old_way"]
    assert {r["function"] for r in answer["rows"]} == set(FUNCTIONS)
    assert {r["dso"] for r in answer["rows"]} == {"/opt/bin/shop_new"}
    row = next(r for r in answer["rows"] if r["function"] == "parse_field")
    assert (row["base_weight"], row["new_weight"]) == (10, 20)
    line = "shop is compared with shop_new: 8 of 9 functions have the same names"
    assert "binary  " + line in run("diff", a, b).out
    assert "shop is compared with shop" in run("diff", a, b, "--format", "markdown").out
    limit = run("diff", a, b, "--fail-on", "parse_field>50%", code=5).out
    assert "parse_field" in limit and "new" not in limit.splitlines()[1]


@pytest.mark.parametrize("old, new", [("app-1.4", "app-1.5"), ("libfoo.so.1", "libfoo.so.2"), ("app-1.4.2", "app-2.0"),
                                      ("libfoo-1.2.so", "libfoo-1.3.so"), ("/a/v1/app.1.4", "/a/v2/app.1.5")])
def test_versions_are_told_and_compared(old, new, tmp_path):
    a, b = side(tmp_path, "a.spaa", program(old)), side(tmp_path, "b.spaa", program(new))
    answer = ask("diff", a, b)
    assert answer["new_functions"] == answer["vanished_functions"] == []
    assert answer["binaries"] == [{"base": os.path.basename(old), "new": os.path.basename(new), "by": "name",
                                   "compared": True, "same_functions": 8, "functions": 8}]


def test_another_folder_is_not_worth_a_line(tmp_path):
    a, b = side(tmp_path, "a.spaa", program("/old/app")), side(tmp_path, "b.spaa", program("/new/app"))
    assert ask("diff", a, b)["binaries"] == []


def test_several_are_renamed_at_once(tmp_path):
    x, y = ["x%d" % i for i in range(9)] + ["main", "util", "log"], ["y%d" % i for i in range(9)] + ["main", "util", "log"]
    a = side(tmp_path, "a.spaa", program("/b/shop", x), program("/b/admin", y))
    b = side(tmp_path, "b.spaa", program("/b/store", x), program("/b/backoffice", y))
    answer = ask("diff", a, b, "-n", 0)
    assert [(p["base"], p["new"], p["compared"]) for p in answer["binaries"]] == \
        [("admin", "backoffice", True), ("shop", "store", True)]
    assert answer["new_functions"] == answer["vanished_functions"] == [] and len(answer["rows"]) == 24


def test_other_programs_are_not_taken_for_one(tmp_path):
    library = ["runtime.%s" % f for f in ("mallocgc", "gcBgMarkWorker", "schedule", "findRunnable")] + ["main.main", "sync.(*Mutex).Lock"]
    a = side(tmp_path, "a.spaa", program("/b/shop", ["main.order", "main.pay"] + library))
    b = side(tmp_path, "b.spaa", program("/b/mail", ["main.send", "main.queue"] + library))
    answer = ask("diff", a, b)
    assert answer["binaries"] == [] and answer["rows"] == []
    few = side(tmp_path, "c.spaa", program("/b/mail", ["scan"] + ["z%d" % i for i in range(9)]))
    assert ask("diff", side(tmp_path, "d.spaa", program("/b/shop")), few)["binaries"] == []


def test_two_candidates_are_not_guessed(tmp_path):
    a = side(tmp_path, "a.spaa", program("/b/shop"))
    b = side(tmp_path, "b.spaa", program("/b/shop_a"), program("/b/shop_b"))
    answer = ask("diff", a, b)
    assert [(p["base"], p["new"], p["by"], p["compared"]) for p in answer["binaries"]] == \
        [("shop", "shop_a", "candidate", False), ("shop", "shop_b", "candidate", False)]
    assert answer["rows"] == []
    text = unwrapped(run("diff", a, b).out)
    assert "binary shop is compared with none: it may be shop_a (8 of 8 functions have the same names) or shop_b (8 of 8 " \
        "functions have the same names); --map shop=shop_a says so" in text
    told = ask("diff", a, b, "--map", "shop=shop_b", "-n", 0)
    assert [(p["base"], p["new"], p["by"]) for p in told["binaries"]] == [("shop", "shop_b", "map")]
    assert {r["dso"] for r in told["rows"]} == {"/b/shop_b"} and len(told["new_functions"]) == 8


def test_a_binary_of_both_sides_is_never_renamed(tmp_path):
    a = side(tmp_path, "a.spaa", program("/b/shop"))
    b = side(tmp_path, "b.spaa", program("/b/shop"), program("/b/shop_new"))
    answer = ask("diff", a, b, "-n", 0)
    assert answer["binaries"] == [] and {r["dso"] for r in answer["new_functions"]} == {"/b/shop_new"}


@pytest.mark.parametrize("old", ["/b/shop", "shop"])
@pytest.mark.parametrize("new", ["/c/other", "other"])
def test_map_forces_it(old, new, tmp_path):
    a = side(tmp_path, "a.spaa", program("/b/shop", ["f", "g", "h"]), program("/b/lib.so.1", ["l"]))
    b = side(tmp_path, "b.spaa", program("/c/other", ["f", "i", "j"]), program("/b/lib.so.1", ["l"]))
    assert ask("diff", a, b)["binaries"] == []
    answer = ask("diff", a, b, "--map", "%s=%s" % (old, new))
    assert answer["binaries"] == [{"base": "shop", "new": "other", "by": "map", "compared": True, "same_functions": 2,
                                   "functions": 6}]
    assert {r["function"] for r in answer["rows"]} == {"f", "l", "main"}
    assert "binary  shop is compared with other (--map): 2 of 6 functions" in run("diff", a, b, "--map", "shop=other").out


def test_map_counts_what_is_in_both_names_once(tmp_path):
    stack = [([{"func": "f", "dso": "/b/old"}, {"func": "f", "dso": "/b/new"}], {"period": 10, "samples": 10})]
    a, b = side(tmp_path, "a.spaa", stack), side(tmp_path, "b.spaa", program("/b/new", ["f"]))
    answer = ask("diff", a, b, "--map", "old=new")
    row = next(r for r in answer["rows"] if r["function"] == "f")
    assert row["total"]["base_weight"] == 10


def test_several_maps(tmp_path):
    a = side(tmp_path, "a.spaa", program("/b/p", ["f"]), program("/b/q", ["g"]))
    b = side(tmp_path, "b.spaa", program("/b/r", ["g"]), program("/b/s", ["f"]))
    answer = ask("diff", a, b, "--map", "p=s", "--map=q=r")
    assert [(p["base"], p["new"]) for p in answer["binaries"]] == [("p", "s"), ("q", "r")]
    assert answer["new_functions"] == answer["vanished_functions"] == []


@pytest.mark.parametrize("value, words, code", [
    ("shpo=shop_new", ["shpo of --map is not in the base", "did you mean shop?"], 1),
    ("shop=shop_nwe", ["shop_nwe of --map is not in the new side", "did you mean shop_new?"], 1),
    ("shop", ["OLD=NEW"], 2), ("=x", ["OLD=NEW"], 2), ("x=", ["OLD=NEW"], 2)])
def test_maps_that_cannot_be(value, words, code, tmp_path):
    a, b = side(tmp_path, "a.spaa", program("/b/shop")), side(tmp_path, "b.spaa", program("/b/shop_new"))
    err = run("diff", a, b, "--map", value, code=code).err
    assert all(w in err for w in words), err
    assert ask("diff", a, b, "--map", value, code=code)["error"]["message"]


def test_repeats_of_a_renamed_binary(tmp_path):
    a = [side(tmp_path, "a%d.spaa" % i, program("/b/shop", scale=3 + i)) for i in range(3)]
    b = [side(tmp_path, "b%d.spaa" % i, program("/b/shop_new", scale=3 + i)) for i in range(3)]
    answer = ask("diff", *a, "--", *b)
    assert [(p["base"], p["new"]) for p in answer["binaries"]] == [("shop", "shop_new")]
    assert answer["new_functions"] == [] and answer["verdict"] == "NO CHANGE FOUND"


C = r"""
#include <stdlib.h>
static volatile unsigned long sink;
#define WORK(name, step) __attribute__((noinline)) unsigned long name(unsigned long n) \
    { unsigned long s = n; for (unsigned long i = 0; i < n; i++) { s += (i ^ s) * step; __asm__ volatile(""); } return s; }
WORK(parse_field, 3) WORK(hash_row, 5) WORK(price_of, 7) WORK(emit_order, 11)
int main(int argc, char **argv)
{
    for (int i = 0; i < 4000; i++)
        sink += parse_field(20000) + hash_row(15000) + price_of(10000) + emit_order(5000);
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("perf") or not shutil.which("gcc"), reason="perf and gcc make the recordings")
@pytest.mark.parametrize("old, new", [(["-O2", "-o", "shop"], ["-O3", "-o", "shop_new"]),
                                      (["-O2", "-o", "app-1.4"], ["-O2", "-flto", "-o", "app-1.5"])])
def test_recordings_of_a_renamed_program(old, new, tmp_path):
    (tmp_path / "p.c").write_text(C)
    files = []
    for options in (old, new):
        program_file = tmp_path / options[-1]
        subprocess.run(["gcc", "-g", "-fno-omit-frame-pointer", "p.c", *options], cwd=tmp_path, check=True)
        data = str(program_file) + ".data"
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "1999", "-g", "-o", data,
                               str(program_file)], cwd=tmp_path, capture_output=True)
        if done.returncode:
            pytest.skip("perf cannot record here")
        files.append(data)
    answer = ask("diff", *files, "-n", 0)
    pair = answer["binaries"][0]
    assert (pair["base"], pair["new"], pair["compared"]) == (old[-1], new[-1], True) and pair["same_functions"] >= 4
    assert {"parse_field", "hash_row", "price_of", "emit_order"} <= {r["function"].split(".")[0] for r in answer["rows"]}


def libraries(tmp_path, name, libs):
    """perf script text: a sample of each function of each library."""
    text = "".join("app 7/7 [000] 1.000000: 1 cycles: \n\t 401000 %s+0x1 (/lib/%s)\n\n" % (f, lib)
                   for lib, functions in libs.items() for f in functions)
    return write(tmp_path, name, text)


def test_many_renamed_at_once_are_each_what_has_their_functions(tmp_path):
    """Where libraries share functions with others as well, which is the same is what brute force says."""
    def functions(i):
        return {"f%d_%d" % (i, k) for k in range(2 + i % 9)} | {"shared%d" % (i % 11), "main"}
    base = {"old%dx.so" % i: sorted(functions(i)) for i in range(150)}
    new = {"new%dy.so" % i: sorted(functions(i) - {"f%d_0" % i} if i % 4 == 0 else functions(i)) for i in range(150)}
    answer = ask("diff", libraries(tmp_path, "a.perf-script", base), libraries(tmp_path, "b.perf-script", new))

    def telling(functions):
        return {f for f in functions if f != "main"}

    def score(a, b):
        same = telling(a) & telling(b)
        least = min(len(same) / len(telling(a)), len(same) / len(telling(b)))
        fits = len(same) >= 0.5 * min(len(telling(a)), len(telling(b))) and least >= 0.5
        return least * len(same) / len(telling(a) | telling(b)) if fits else 0

    scores = {(a, b): score(base[a], new[b]) for a in base for b in new if score(base[a], new[b])}
    expected = {}
    for (a, b), x in scores.items():
        rivals = [y for (c, d), y in scores.items() if (c == a) != (d == b)]
        if all(y < 0.75 * x for y in rivals):
            expected[a] = b
    assert len(expected) == 150
    found = {r["base"]: r for r in answer["binaries"]}
    assert {a: r["new"] for a, r in found.items() if r["compared"]} == expected
    for a, r in found.items():
        assert r["same_functions"] == len(set(base[a]) & set(new[r["new"]]))
        assert r["functions"] == len(set(base[a]) | set(new[r["new"]]))


def test_more_that_share_functions_than_can_be_told_apart_are_not_compared(tmp_path):
    base = {"old%dx.so" % i: ["shared", "f%d" % i] for i in range(1100)}
    new = {"new%dy.so" % i: ["shared", "f%d" % i] for i in range(1100)}
    given = libraries(tmp_path, "a.perf-script", base), libraries(tmp_path, "b.perf-script", new)
    answer = ask("diff", *given, "-n", "0")
    assert answer["binaries"] == [] and len(answer["vanished_functions"]) == 2200
    assert [m["code"] for m in answer["diagnostics"] if m["code"] == "SPAA-W644"] == ["SPAA-W644"]
    some = ask("diff", *given, "-n", "0", "--map", "old7x.so=new7y.so")
    assert [(r["base"], r["new"], r["by"]) for r in some["binaries"]] == [("old7x.so", "new7y.so", "map")]

"""annotate --asm: instructions against objdump, weights against what was given and perf annotate."""

import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import ask, run
from test_annotate import build, needs_tools, record, symbol


def has_capstone(profile):
    return ask("annotate", profile, "sum", "--asm")["no_instructions"] is None


def insns(answer):
    return [i for b in answer["blocks"] for i in b["instructions"]]


@pytest.fixture
def shop(tmp_path):
    profile, start, size = build(tmp_path)
    if not has_capstone(profile):
        pytest.skip("built without capstone, or it is not installed")
    return profile, start, size, tmp_path / "shop"


@needs_tools
def test_instructions_are_those_of_objdump(shop):
    profile, start, size, binary = shop
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % start,
                          "--stop-address=%d" % (start + size), binary], capture_output=True, text=True, check=True).stdout
    theirs = re.findall(r"^ +([0-9a-f]+):\s+(\w+)", out, re.M)
    ours = sorted((int(i["address"], 16), i["text"].split()[0]) for i in insns(ask("annotate", profile, "sum", "--asm", "--whole")))
    assert [a for a, _ in ours] == [int(a, 16) for a, _ in theirs]
    differ = [(a, b) for (_, a), (_, b) in zip(ours, theirs) if a[:2] != b[:2]]
    assert len(differ) <= len(ours) // 10, differ  # names of some differ by assembler: retq, ret


@needs_tools
def test_each_instruction_has_the_weight_of_its_bytes(shop):
    profile, start, size, _ = shop
    answer = ask("annotate", profile, "sum", "--asm", "--whole")
    rows = sorted(insns(answer), key=lambda i: int(i["address"], 16))
    ends = [int(i["address"], 16) for i in rows[1:]] + [start + size]
    for row, end in zip(rows, ends):
        first = int(row["address"], 16)
        assert row["self"] == sum(a - start + 1 for a in range(first, end))
    assert answer["no_instruction"] == 0 and sum(i["self"] for i in rows) == answer["self"]


@needs_tools
def test_jumps_and_what_is_inlined_are_said(shop):
    profile, *_ = shop
    rows = insns(ask("annotate", profile, "sum", "--asm", "--whole"))
    at = {i["address"]: i for i in rows}
    jumps = [i for i in rows if i["text"].startswith("j")]
    assert jumps and all(at[i["target"]]["jumped_to"] for i in jumps)
    sqrt = [i for i in rows if i["text"].startswith("sqrtsd")]
    assert sqrt and all(any("price" in f for f in i["inlined"]) for i in sqrt)
    text = run("annotate", profile, "sum", "--asm", "--whole", code=0).out
    assert "price" in text and "skid" in text and "sqrtsd" in text


@needs_tools
def test_copies_of_an_inlined_function_are_its_code(shop):
    profile, *_ = shop
    for row in insns(ask("annotate", profile, "price", "--asm", "--whole")):
        assert row["line"] in (5, 6, 7) or "cmath" in row["file"]


MAP = """#include <map>
#include <string>

__attribute__((noinline)) int sum(std::map<std::string, int> &m, int n)
{
\tint t = 0;
\tfor (int i = 0; i < n; i++)
\t\tt += m["key" + std::to_string(i % 97)] += i;
\treturn t;
}

int main(int argc, char **)
{
\tstd::map<std::string, int> m;
\treturn sum(m, argc);
}
"""


@needs_tools
def test_names_of_what_is_inlined_are_short_and_a_budget_counts_them(tmp_path):
    (tmp_path / "map.cpp").write_text(MAP)
    subprocess.run(["g++", "-O2", "-g", "-o", "shop", "map.cpp"], cwd=tmp_path, check=True)
    profile, *_ = record(tmp_path)
    if not has_capstone(profile):
        pytest.skip("built without capstone, or it is not installed")
    short, full = [insns(ask("annotate", profile, "sum", "--asm", "--whole", *o)) for o in ([], ["--names", "full"])]
    assert any("std::map<…>::operator[]" in i["inlined"] for i in short)
    assert all(len(a["inlined"]) == len(b["inlined"]) for a, b in zip(short, full))
    assert any("std::allocator<" in f for i in full for f in i["inlined"])
    for budget in (1500, 3000, 6000):
        text = run("annotate", profile, "sum", "--asm", "--json", "--budget", budget, code=0).out
        assert len(text) <= 3 * budget and "SPAA-I617" not in text
        assert insns(json.loads(text)), budget


@needs_tools
@pytest.mark.parametrize("budget", [700, 800, 1200, 2000])
def test_a_budget_leaves_the_heaviest_instructions(shop, budget):
    """What stands around them goes first, then the lighter ones; how much of both there is, is said."""
    profile, *_ = shop
    text = run("annotate", profile, "sum", "--asm", "--json", "--budget", budget, code=0).out
    answer = json.loads(text)
    assert len(text) <= 3 * budget and "SPAA-I617" not in text
    rows = sorted(insns(ask("annotate", profile, "sum", "--asm", "--whole")), key=lambda i: (-i["total"], -i["self"]))
    shown = insns(answer)
    assert rows[0]["address"] in {i["address"] for i in shown} and all(i["text"] for i in shown)
    assert answer["instructions_around"] == (0 if budget <= 1200 else 1)
    assert answer["instructions_with_weight"] == len([r for r in rows if r["total"]])
    assert len(answer["blocks"]) + answer["omitted"]["blocks"] <= answer["instructions_shown"] >= 3
    if budget == 700:
        brief = run("annotate", profile, "sum", "--asm", "--budget", 300, code=0).out
        assert "--budget has room for 0 around each of them, not 4" in brief and rows[0]["text"].split()[0] in brief


@needs_tools
def test_without_the_binary_it_says_why(tmp_path):
    profile, *_ = build(tmp_path)
    os.unlink(tmp_path / "shop")
    answer = ask("annotate", profile, "sum", "--asm")
    assert answer["no_instructions"] and answer["blocks"] == []
    assert "no instructions: " in run("annotate", profile, "sum", "--asm", code=0).out


PROGRAMS = {
    "c++": ("main.cpp", """#include <cmath>
#include <cstdio>
#include <vector>
static inline double price(double x) { return std::sqrt(x) * 1.5 + x / 3.0; }
__attribute__((noinline)) double hot(const std::vector<double> &v)
{
    double s = 0;
    for (size_t i = 0; i < v.size(); i++) {
        s += price(v[i]);
        if (s > 1e9)
            s -= 1e9;
    }
    return s;
}
int main()
{
    std::vector<double> v(10000, 2.0);
    double all = 0;
    for (int i = 0; i < 20000; i++)
        all += hot(v);
    std::printf("%f\\n", all);
}
""", ["g++", "-O2", "-g", "-o", "app", "main.cpp"], "hot"),
    "rust": ("main.rs", """#[inline(always)]
fn price(x: f64) -> f64 { x.sqrt() * 1.5 + x / 3.0 }
#[inline(never)]
#[no_mangle]
pub fn hot(v: &[f64]) -> f64 {
    let mut s = 0.0;
    for x in v {
        s += price(*x);
        if s > 1e9 { s -= 1e9; }
    }
    s
}
fn main() {
    let v = vec![2.0; 10000];
    let mut all = 0.0;
    for _ in 0..20000 { all += hot(std::hint::black_box(&v)); }
    println!("{}", all);
}
""", ["rustc", "-O", "-g", "-o", "app", "main.rs"], "hot"),
    "go": ("main.go", """package main

import (
\t"fmt"
\t"math"
)

func price(x float64) float64 { return math.Sqrt(x)*1.5 + x/3.0 }

//go:noinline
func hot(v []float64) float64 {
\ts := 0.0
\tfor _, x := range v {
\t\ts += price(x)
\t\tif s > 1e9 {
\t\t\ts -= 1e9
\t\t}
\t}
\treturn s
}

func main() {
\tv := make([]float64, 10000)
\tfor i := range v {
\t\tv[i] = 2
\t}
\tall := 0.0
\tfor i := 0; i < 20000; i++ {
\t\tall += hot(v)
\t}
\tfmt.Println(all)
}
""", ["go", "build", "-o", "app", "main.go"], "main.hot"),
}


def perf_shares(folder, name):
    """Of one symbol by perf annotate: address to percent of the symbol's own."""
    out = subprocess.run(["perf", "annotate", "--stdio", "--percent-type", "local-period", "-i", "perf.data", "-s", name],
                         cwd=folder, capture_output=True, text=True).stdout
    return {int(a, 16): float(p) for p, a in re.findall(r"^\s+(\d+\.\d+) +: +([0-9a-f]+):", out, re.M) if float(p)}


@pytest.mark.parametrize("language", PROGRAMS)
def test_shares_are_those_of_perf_annotate(tmp_path, language):
    file, source, command, name = PROGRAMS[language]
    if not shutil.which("perf") or not shutil.which(command[0]) or not shutil.which("objdump"):
        pytest.skip("needs perf, objdump and %s" % command[0])
    (tmp_path / file).write_text(source)
    home = {**os.environ, "HOME": os.environ.get("HOME", "/tmp"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=home)
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "1500", "-N", "-o", "perf.data", "./app"], cwd=tmp_path,
                          capture_output=True)
    if done.returncode:
        pytest.skip("perf cannot record here")
    theirs = perf_shares(tmp_path, name)
    if not theirs:
        pytest.skip("perf annotate says nothing here")
    answer = ask("annotate", tmp_path / "perf.data", name, "--asm", "--whole")
    if answer["no_instructions"]:
        pytest.skip(answer["no_instructions"])
    rows = insns(answer)
    ours = {int(r["address"], 16): 100 * r["self"] / answer["self"] for r in rows if r["self"]}
    worst = max(abs(float(ours.get(a, 0)) - theirs.get(a, 0)) for a in {*ours, *theirs})
    print(json.dumps({"language": language, "instructions": len(rows), "with weight": len(ours), "worst": worst}))
    assert worst <= 0.006, (worst, theirs, ours)  # perf rounds to 0.01
    assert answer["no_instruction"] == 0

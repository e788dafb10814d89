"""diff of memory: bytes and blocks before shares."""

import os
import shutil
import subprocess

import pytest

import gen_heaptrack
import profiles
from comparison import ask, write
from conftest import ROOT, run, unwrapped

KINDS = [("live_bytes", "live_count"), ("alloc_bytes", "alloc_count"), ("free_bytes", "free_count")]


def heap(tmp_path, name, amounts, pair=KINDS[0], kind="allocation", **more):
    """{function: (bytes, blocks)}, each called by main."""
    stacks = [([f, "main"], dict(zip(pair, v))) for f, v in amounts.items()]
    return write(tmp_path, name, profiles.text(stacks, [profiles.event("heap", pair[0], kind=kind, **more)]))


BASE = {"cache": (1 << 20, 10), "table": (1 << 20, 50), "gone": (4096, 1)}
NEW = {"cache": (5 << 20, 40), "table": (1 << 20, 50), "fresh": (2048, 2)}


@pytest.mark.parametrize("pair", KINDS, ids=lambda p: p[0])
def test_bytes_and_blocks_come_first(pair, tmp_path):
    a, b = heap(tmp_path, "a.spaa", BASE, pair), heap(tmp_path, "b.spaa", NEW, pair)
    answer = ask("diff", a, b)
    rows = {r["function"]: r for r in answer["rows"]}
    assert rows["table"]["bytes"] == {"base": 1 << 20, "new": 1 << 20, "change": 0}
    assert rows["table"]["blocks"] == {"base": 50, "new": 50, "change": 0}
    assert rows["cache"]["bytes"]["change"] == 4 << 20 and rows["cache"]["blocks"]["change"] == 30
    assert rows["main"]["total"]["bytes"]["change"] == (4 << 20) - 2048 and rows["main"]["bytes"]["change"] == 0
    assert [r["function"] for r in answer["rows"]] == ["cache", "main", "table"], "table's share halved; its bytes did not"
    assert answer["memory"]["bytes"] == {"base": 2101248, "new": 6293504, "change": 4192256}
    assert answer["memory"]["blocks"] == {"base": 61, "new": 92, "change": 31}
    assert answer["new_functions"][0]["blocks"]["new"] == 2
    words = "%s 2.00 MiB to 6.00 MiB (+4.00 MiB, +199.5%%), blocks 61 to 92 (+31, +50.8%%), most in cache +4.00 MiB" % pair[0]
    assert words in answer["summary"]
    for form in ("table", "markdown"):
        out = run("diff", a, b, "--format", form).out
        text = unwrapped(out)
        assert words.replace("_", "\\_") in text or words in text
        lines = [line for line in out.splitlines() if "table" in line]
        assert len(lines) == 1 and "1.00 MiB" in lines[0] and "-" + "3" not in lines[0] and "0 B" in lines[0]
        assert "points" not in text
    head = next(line for line in run("diff", a, b).out.splitlines() if "base blocks" in line).split()
    assert head[:4] == ["base", "new", "change", "base"] and head.index("blocks") < head.index("base%")


def test_blocks_may_be_asked_for(tmp_path):
    a, b = heap(tmp_path, "a.spaa", BASE), heap(tmp_path, "b.spaa", {**NEW, "table": (1 << 20, 500)})
    answer = ask("diff", a, b, "--metric", "live_count")
    assert [r["function"] for r in answer["rows"]] == ["table", "cache", "main"]
    assert answer["rows"][0]["bytes"]["change"] == 0 and answer["rows"][0]["blocks"]["change"] == 450
    text = run("diff", a, b, "--metric", "live_count").out
    head = next(line for line in text.splitlines() if "base bytes" in line).split()
    assert head[:4] == ["base", "new", "change", "base"] and head.index("bytes") < head.index("base%")
    assert next(line.split() for line in text.splitlines() if "table" in line and "%" not in line)[:3] == ["50", "500", "+450"]
    assert answer["summary"].startswith("live_count 61 to 542") and "bytes 2.00 MiB to 6.00 MiB" in answer["summary"]


def test_change_of_the_total_sorts_where_asked(tmp_path):
    a, b = heap(tmp_path, "a.spaa", BASE), heap(tmp_path, "b.spaa", NEW)
    assert [r["function"] for r in ask("diff", a, b, "--sort", "total")["rows"]] == ["cache", "main", "table"]
    assert "base total" in run("diff", a, b, "--sort", "total").out


def test_recursion_counts_a_block_once(tmp_path):
    stacks = [(["f", "g", "f", "main"], {"live_bytes": 100, "live_count": 3})]
    a = write(tmp_path, "a.spaa", profiles.text(stacks, [profiles.event("heap", "live_bytes", kind="allocation")]))
    row = next(r for r in ask("diff", a, a)["rows"] if r["function"] == "f")
    assert row["total"]["blocks"]["base"] == 3 and row["total"]["bytes"]["base"] == 100


def test_without_blocks_there_are_bytes(tmp_path):
    def one(name, n):
        return write(tmp_path, name, profiles.text([(["f"], {"live_bytes": n})], [profiles.event("heap", "live_bytes", kind="allocation")]))
    a, b = one("a.spaa", 1000), one("b.spaa", 3000)
    answer = ask("diff", a, b)
    assert answer["rows"][0]["bytes"]["change"] == 2000 and answer["rows"][0]["blocks"]["base"] is None
    text = run("diff", a, b).out
    assert "base blocks" not in text and "+1.95 KiB" in text


def test_amounts_are_of_each_run(tmp_path):
    a = [heap(tmp_path, "a%d.spaa" % i, {"f": (1000, 10), "g": (500, 5)}) for i in range(2)]
    b = [heap(tmp_path, "b%d.spaa" % i, {"f": (1000, 10), "g": (700, 7)}) for i in range(4)]
    answer = ask("diff", *a, "--", *b)
    rows = {r["function"]: r for r in answer["rows"]}
    assert rows["f"]["bytes"]["change"] == 0 and rows["g"]["bytes"] == {"base": 500, "new": 700, "change": 200}
    assert answer["summary"].startswith("live_bytes a run 1.46 KiB to 1.66 KiB")


def test_renamed_binaries_take_their_blocks_along(tmp_path):
    def one(name, dso):
        frames = [({"func": f, "dso": dso},) for f in ("f", "g", "h")]
        return write(tmp_path, name, profiles.text([(list(x), {"live_bytes": 100, "live_count": 7}) for x in frames],
                                                   [profiles.event("heap", "live_bytes", kind="allocation")]))
    answer = ask("diff", one("a.spaa", "/b/shop"), one("b.spaa", "/b/shop_new"))
    assert {r["blocks"]["base"] for r in answer["rows"]} == {7} and len(answer["rows"]) == 3


def test_cpu_events_have_no_blocks(tmp_path):
    a = write(tmp_path, "a.spaa", profiles.text([(["f"], 3)]))
    answer = ask("diff", a, a)
    assert "memory" not in answer and "bytes" not in answer["rows"][0]


@pytest.mark.parametrize("name", ["gperftools/sampled.heap", "gperftools/go.heap", "jemalloc/accum.heap", "pprof/heap.pb.gz",
                                  "heaptrack/interpreted.heaptrack"])
def test_every_heap_format(name):
    path = os.path.join(ROOT, "tests", "fixtures", name)
    answer = ask("diff", path, path)
    assert answer["memory"]["bytes"]["change"] == 0 and answer["memory"]["blocks"]["base"] > 0
    assert "on both sides" in answer["summary"]


def test_heaptrack_traces(tmp_path):
    files = []
    for seed in (1, 2):
        files.append(tmp_path / ("%d.heaptrack" % seed))
        files[-1].write_bytes(gen_heaptrack.Trace(seed, events=2000).interpreted())
    answer = ask("diff", *files, "-n", 0)
    changes = [abs(r["bytes"]["change"]) for r in answer["rows"]]
    assert changes == sorted(changes, reverse=True)
    for metric in ("live_bytes", "alloc_bytes"):
        total = [ask("top", f, "--metric", metric)["whole"] for f in files]
        got = ask("diff", *files, "--metric", metric)["memory"]["bytes"]
        assert [got["base"], got["new"]] == total


C = r"""
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void *cache(int n) { char *p = malloc(n); memset(p, 1, n); __asm__ volatile("" : : "r"(p) : "memory"); return p; }
__attribute__((noinline)) void *table(int n) { char *p = malloc(n); memset(p, 1, n); __asm__ volatile("" : : "r"(p) : "memory"); return p; }
int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[1]); i++)
        cache(1000);
    for (int i = 0; i < 50; i++)
        table(2000);
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("heaptrack") or not shutil.which("gcc"), reason="heaptrack makes the traces")
def test_traces_of_heaptrack_itself(tmp_path):
    (tmp_path / "p.c").write_text(C)
    subprocess.run(["gcc", "-g", "-O1", "p.c", "-o", "p"], cwd=tmp_path, check=True)
    files = []
    for n in ("10", "110"):
        done = subprocess.run(["heaptrack", "-o", str(tmp_path / n), "./p", n], cwd=tmp_path, capture_output=True)
        found = [f for f in os.listdir(tmp_path) if f.startswith(n + ".")]
        if done.returncode or not found:
            pytest.skip("heaptrack cannot run here")
        files.append(tmp_path / found[0])
    rows = {r["function"]: r for r in ask("diff", *files, "-n", 0)["rows"]}
    assert rows["cache"]["bytes"] == {"base": 10000, "new": 110000, "change": 100000}
    assert rows["cache"]["blocks"]["change"] == 100
    assert rows["table"]["bytes"]["change"] == 0 and rows["table"]["blocks"] == {"base": 50, "new": 50, "change": 0}

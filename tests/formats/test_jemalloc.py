"""jemalloc's heap profiles: against their own numbers, and what jeprof says."""

import math
import os
import random
import re
import shutil
import subprocess

import pytest

from conftest import CORPUS, ROOT, ask, parse, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "jemalloc")
MADE = os.path.join(CORPUS, "heap", "made", "jemalloc.mix.heap")


def fixture(name):
    with open(os.path.join(FIXTURES, name), "rb") as f:
        return f.read()


def spaa(data, *args):
    answer = run("convert", "-q", "-", "--to", "spaa", "-o", "-", "--no-symbols", *args, stdin=data, code=0)
    return [parse(line) for line in answer.raw.decode().splitlines()]


def stacks(records):
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    frames = {r["id"]: (dsos[r["dso"]], r.get("ip")) for r in records if r["type"] == "frame"}
    return [({k: v for k, v in r["context"].items() if k != "event"}, [frames[i] for i in r["frames"]],
             {w["metric"]: w["value"] for w in r["weights"]}) for r in records if r["type"] == "stack"]


def unbiased(count, size, rate):
    """jeprof's AdjustSamples for heap_v2."""
    if not count or not size:
        return 0, 0
    scale = 1 / (1 - math.exp(-(size / count) / rate))
    return count * scale, size * scale


def total(records, metric):
    return sum(w.get(metric, 0) for _, _, w in stacks(records))


def test_threads_add_up_to_what_jeprof_says_of_all():
    records = spaa(fixture("threads.heap"))
    rows = stacks(records)
    assert {(c.get("tid"), c.get("comm")) for c, _, _ in rows} == {(0, "main"), (3, "worker 1"), (None, None)}
    for leaf, count, size in ((("/opt/server", "0x101"), 30, 3000), (("/lib/libc.so.6", "0x21234"), 20, 60000),
                              (("[unknown]", "0x999"), 10, 7000)):
        here = [w for _, f, w in rows if f[0] == leaf]
        n, b = unbiased(count, size, 4096)
        assert sum(w["live_count"] for w in here) == round(n) and sum(w["live_bytes"] for w in here) == round(b)
        assert sum(w["samples"] for w in here) == count and sum(w["x_raw_live_bytes"] for w in here) == size
    assert records[0]["x_jemalloc"]["totals"] == [["*", 60, 70000, 0, 0], [0, 20, 20000, 0, 0], [3, 40, 50000, 0, 0]]
    assert records[0]["x_spaa"]["group_by"] == ["tid", "comm"]


def test_without_threads_there_is_one_record_for_a_stack():
    by_thread, all_of = spaa(fixture("threads.heap")), spaa(fixture("threads.heap"), "--group-by", "none")
    assert len(stacks(all_of)) == 3
    for metric in ("live_count", "live_bytes", "samples", "x_raw_live_bytes"):
        assert total(by_thread, metric) == total(all_of, metric)
    assert len(stacks(spaa(fixture("threads.heap"), "--group-by", "comm"))) == 5


def test_no_accumulated_numbers_without_prof_accum():
    weights = {k for _, _, w in stacks(spaa(fixture("threads.heap"))) for k in w}
    assert weights == {"live_count", "live_bytes", "samples", "x_raw_live_bytes"}
    records = spaa(fixture("accum.heap"))
    assert records[0]["events"] == [{"name": "heap", "kind": "allocation",
                                     "sampling": {"mode": "period", "primary_metric": "live_bytes", "sample_period": 524288},
                                     "allocation_tracking": {"tracks_frees": True, "has_timestamps": False}}]
    row = [w for _, f, w in stacks(records) if len(f) == 1][0]
    n, b = unbiased(2, 50000, 524288)
    assert row == {"live_count": 0, "live_bytes": 0, "alloc_count": round(n), "alloc_bytes": round(b),
                   "x_raw_live_count": 0, "x_raw_live_bytes": 0, "samples": 2, "x_raw_alloc_bytes": 50000}


def test_every_allocation_needs_no_estimate():
    data = fixture("threads.heap").replace(b"heap_v2/4096", b"heap_v2/1")
    records = spaa(data)
    assert records[0]["events"][0]["sampling"] == {"mode": "event", "primary_metric": "live_bytes"}
    assert total(records, "live_bytes") == 70000 and total(records, "samples") == 0


@pytest.mark.parametrize("seed", range(4))
def test_random_profiles(seed):
    """The threads' estimates add up to that of t*, in whole numbers, for each stack."""
    r = random.Random(seed)
    rate, text, truth = r.choice([4096, 524288, 1 << 20]), [], {}
    for i in range(120):
        threads = [(t, r.randrange(1, 1000), r.randrange(8, 1 << 22)) for t in r.sample(range(50), r.randrange(1, 8))]
        rows = [(n, n * size // r.randrange(1, 3) + 1) for _, n, size in threads]
        a = sum(n for n, _ in rows), sum(b for _, b in rows)
        addresses = [r.randrange(1 << 40) for _ in range(r.randrange(1, 30))]
        text.append("@ " + " ".join("0x%x" % x for x in addresses) + "\n  t*: %d: %d [0: 0]\n" % a +
                    "".join("  t%d: %d: %d [0: 0]\n" % (t, n, b) for (t, _, _), (n, b) in zip(threads, rows)))
        truth[tuple("0x%x" % x for x in addresses)] = tuple(round(x) for x in unbiased(*a, rate)) + a
    records = spaa(("heap_v2/%d\n  t*: 1: 1 [0: 0]\n" % rate + "".join(text)).encode())
    got = {}
    for _, frames, w in stacks(records):
        key = tuple(ip for _, ip in frames)
        one = tuple(w[m] for m in ("live_count", "live_bytes", "samples", "x_raw_live_bytes"))
        assert min(one) >= 0
        got[key] = tuple(a + b for a, b in zip(got.get(key, (0,) * 4), one))
    assert got == truth


def test_estimates_beyond_all_numbers():
    """A billion objects of a byte in all, of each thread the same: the estimate has no end."""
    huge = 9 * 10 ** 18
    text = "heap_v2/1048576\n  t*: 1: 1 [0: 0]\n@ 0x1\n  t*: %d: 2 [0: 0]\n  t1: %d: 1 [0: 0]\n  t2: 1: 1 [0: 0]\n" % (huge, huge - 1)
    answer = run("convert", "-q", "-", "--to", "spaa", "-o", "-", "--no-symbols", stdin=text.encode(), code=0)
    assert all(0 <= w["value"] < 1 << 63 for r in map(parse, answer.out.splitlines()) if r["type"] == "stack" for w in r["weights"])


def test_rounded_threads_are_no_difference():
    """jemalloc 5.3 writes rows whose estimates add up; their own numbers do not quite."""
    data = fixture("threads.heap").replace(b"t3: 20: 2000", b"t3: 22: 2150")
    assert "SPAA-W772" not in run("info", "-", "--no-symbols", stdin=data).out
    rows = [w for c, f, w in stacks(spaa(data)) if f[0] == ("/opt/server", "0x101")]
    assert len(rows) == 2 and sum(w["live_bytes"] for w in rows) == round(unbiased(30, 3000, 4096)[1])
    more = fixture("threads.heap").replace(b"t3: 20: 2000", b"t3: 90: 9000")
    assert "SPAA-W772" in run("info", "-", "--no-symbols", stdin=more).out


def test_stacks_that_are_missing():
    """The head has the sums of all where everything is recorded; of samples, jemalloc 5.3 has others."""
    text = "heap_v2/{}\n  t*: {}: 500 [0: 0]\n@ 0x1001\n  t*: 1: 100 [0: 0]\n@ 0x2001\n  t*: 3: 400 [0: 0]\n"
    said = lambda *how: run("info", "-", "-v", "--no-symbols", stdin=text.format(*how).encode()).err
    assert "SPAA-L774" not in said(1, 4) and "SPAA-L774" not in said(4096, 5)
    assert "4 of 5 objects in use" in said(1, 5)


def test_damage_is_reported_where_it_is():
    err = run("info", "-", "--no-symbols", stdin=fixture("damaged.heap")).err
    for part in ("line 2, offset 10", "no addresses at column 12, line 4", "a stack without numbers, line 15", "line 16"):
        assert part in err
    for text in (b"heap_v2/", b"heap_v2/-5\n", b"heap_v2/x\n"):
        answer = run("top", "-", "--from", "jemalloc", stdin=text)
        assert answer.code == 3 and "SPAA-E765" in answer.err


def test_a_table_of_symbols_may_stand_in_front():
    table = b"--- symbol\nbinary=/opt/server\n0x400100 leaf--caller\n0x400302 main\n---\n--- heap\n%warn slow\n"
    answer = run("convert", "-", "--to", "folded", "-o", "-", "--no-symbols", "--group-by", "none",
                 stdin=table + fixture("accum.heap"), code=0)
    assert "main;caller;leaf " in answer.out and "SPAA-W773" in answer.err
    wrong = run("top", "-", "--from", "gperftools", stdin=table + fixture("accum.heap"))
    assert wrong.code == 3 and "--from jemalloc" in wrong.err


def test_the_corpus():
    if not os.path.exists(MADE):
        pytest.skip("no corpus")
    with open(MADE, "rb") as f:
        records = spaa(f.read())
    assert records[0]["source_tool"] == "jemalloc" and total(records, "samples") == 9
    want = sum(round(unbiased(n, b, 4096)[1]) for n, b in ((7, 28226), (1, 4032), (1, 81920)))
    assert total(records, "live_bytes") == want
    assert "/tmp/gen/mix" in {r["name"] for r in records if r["type"] == "dso"}


def test_validates(tmp_path):
    path = tmp_path / "p.spaa"
    for name in ("threads.heap", "accum.heap", "damaged.heap"):
        run("convert", "-q", os.path.join(FIXTURES, name), "-o", path, "--no-symbols", code=0)
        run("validate", path, code=0)


def test_a_profile_that_ends_in_the_middle_of_a_line_is_cut():
    """What is left of that line is no number."""
    text = "heap_v2/1\n  t*: 3: 300 [0: 0]\n@ 0x10 0x20\n  t*: 2: 200 [0: 0]\n@ 0x30 0x40\n  t*: 1: 100 [0: 0]\n"
    cut = text[:text.index("@ 0x30") + 8]
    out = run("top", "-", "--no-symbols", stdin=cut.encode(), code=0)
    assert "the input is cut off" in out.out + out.err and "without numbers" not in out.out + out.err
    assert sum(w["live_bytes"] for _, _, w in stacks(spaa(cut.encode()))) == 200

"""Numbers of recordings of programs whose memory is known (tests/memory): the tools' totals, the truth by function."""

import functools
import json
import sys
from pathlib import Path

import pytest

import profiles
from conftest import ROOT, ask, run

MEMORY = Path(ROOT) / "tests/memory"
RECORDINGS = MEMORY / "recordings"
sys.path.insert(0, str(MEMORY))

import memory_judge as judge  # noqa: E402
import truth  # noqa: E402

SYMFS = ["--symfs", RECORDINGS / "symfs"]
SHOP_DUMPS = [(steps, f"jeprof.shop.4242.{n}.m{n}.heap", f"shop.tcmalloc.000{n + 1}.heap") for n, steps in judge.DUMPS]


@functools.cache
def ask(question, name, *options):
    return json.loads(run(question, RECORDINGS / name, "--json", *SYMFS, *options, code=0).out)


@functools.cache
def below(name, metric):
    """By function of the program, all that was asked for by it and what it calls."""
    out = {}
    for r in ask("top", name, "-m", metric, "--sort", "total", "-n", "0", "--keep-allocators")["rows"]:
        key = judge.name(r["function"])
        out[key] = out.get(key, 0) + r["total"]
    return out


def of_them(wanted, found):
    return {f: found.get(f) for f in wanted}


# As heaptrack_print, jeprof, google-pprof, go tool pprof say, to the unit.
@pytest.mark.parametrize("name, wanted", [
    ("shop.heaptrack.zst", {"live_bytes": 2516008, "alloc_count": 96947, "temporary_count": 60002, "peak_bytes": 10277836}),
    ("shop-O0.heaptrack.zst", {"live_bytes": 2516008, "alloc_count": 96947, "temporary_count": 60002, "peak_bytes": 10277836}),
    ("shop-stripped.heaptrack.zst", {"live_bytes": 2516008, "alloc_count": 96947, "temporary_count": 60002, "peak_bytes": 10277836}),
    ("relay.heaptrack.zst", {"live_bytes": 231625, "alloc_count": 3298, "temporary_count": 40, "peak_bytes": 2371178}),
    ("ledger.heaptrack.zst", {"live_bytes": 2419720, "alloc_count": 306652, "temporary_count": 300003, "peak_bytes": 10198076}),
    ("pile.heaptrack.zst", {"live_bytes": 399416, "alloc_count": 1148, "temporary_count": 534, "peak_bytes": 1276861}),
    ("jeprof.shop.4242.0.m0.heap", {"live_bytes": 1690232}),
    ("jeprof.shop.4242.1.m1.heap", {"live_bytes": 2117224}),
    ("jeprof.shop.4242.2.m2.heap", {"live_bytes": 2642640, "alloc_bytes": 42685256}),
    ("shop.sampled.heap", {"live_bytes": 2678471}),
    ("shop.tcmalloc.0001.heap", {"live_bytes": 1593392}),
    ("shop.tcmalloc.0002.heap", {"live_bytes": 2005488}),
    ("shop.tcmalloc.0003.heap", {"live_bytes": 2516008}),
    ("cart.1.pb.gz", {"live_bytes": 1537296, "live_count": 2623, "alloc_bytes": 12157824, "alloc_count": 42766}),
    ("cart.2.pb.gz", {"live_bytes": 1947552, "live_count": 4929, "alloc_bytes": 32907040, "alloc_count": 85739}),
    ("cart.3.pb.gz", {"live_bytes": 2309872, "live_count": 7229, "alloc_bytes": 45346760, "alloc_count": 129614}),
])
def test_totals(name, wanted):
    memory = ask("leaks", name)["memory"]
    assert of_them(wanted, memory) == wanted


@pytest.mark.parametrize("name", ["shop.heaptrack.zst", "shop-O0.heaptrack.zst", "shop.tcmalloc.0003.heap"])
def test_shop_to_the_byte(name):
    wanted = truth.shop(3000)
    assert of_them(wanted, below(name, "live_bytes")) == {f: x.bytes for f, x in wanted.items()}
    assert of_them(wanted, below(name, "live_count")) == {f: x.blocks for f, x in wanted.items()}


@pytest.mark.parametrize("steps, jemalloc, tcmalloc", SHOP_DUMPS)
def test_shop_dump_by_dump(steps, jemalloc, tcmalloc):
    wanted = truth.shop(steps)
    assert of_them(wanted, below(tcmalloc, "live_bytes")) == {f: x.bytes for f, x in wanted.items()}
    assert of_them(wanted, below(jemalloc, "live_bytes")) == {f: x.in_classes() for f, x in wanted.items()}
    assert of_them(wanted, below(jemalloc, "live_count")) == {f: x.blocks for f, x in wanted.items()}


def test_a_sampled_dump_is_near_the_truth():
    """One sample for 4 KiB on average: within four standard deviations."""
    found = below("shop.sampled.heap", "live_bytes")
    for function in ("copy_request", "keep_order", "write_audit", "load_catalog"):
        size = truth.shop(3000)[function].in_classes()
        assert found[function] == pytest.approx(size, rel=4 / (size / 4096) ** 0.5), function


def test_shop_churn():
    name = "shop.heaptrack.zst"
    for function, (size, calls) in truth.SHOP_CHURN.items():
        assert (below(name, "alloc_bytes")[function], below(name, "alloc_count")[function]) == (size, calls)
        assert below(name, "live_bytes").get(function, 0) == 0
    assert below(name, "x_temporary_count")["render_page"] == 60000


def test_shop_peak():
    """At step 1500 of its own and 8 MiB of a report."""
    found = below("shop.heaptrack.zst", "peak_bytes")
    wanted = truth.shop(1501)
    assert found[truth.SHOP_PEAK_IN] == 8 << 20
    assert of_them(wanted, found) == {f: x.bytes for f, x in wanted.items()}


@pytest.mark.parametrize("name, steps", [(f"jeprof.ledger.4242.{n}.m{n}.spaa.zst", steps) for n, steps in judge.DUMPS])
def test_ledger_dump_by_dump(name, steps):
    wanted = truth.ledger(steps)
    assert of_them(wanted, below(name, "live_bytes")) == {f: x.in_classes() for f, x in wanted.items()}


def test_ledger_to_the_byte():
    wanted = truth.ledger(3000)
    assert of_them(wanted, below("ledger.heaptrack.zst", "live_bytes")) == {f: x.bytes for f, x in wanted.items()}
    assert below("ledger.heaptrack.zst", "peak_bytes")[truth.LEDGER_PEAK_IN] == 8 << 20


@pytest.mark.parametrize("n, steps", judge.DUMPS)
def test_cart_dump_by_dump(n, steps):
    """What is asked for, and not as much again for maps, slices and goroutines."""
    found = below(f"cart.{n + 1}.pb.gz", "live_bytes")
    for function, x in truth.cart(steps).items():
        assert x.bytes <= found[function] <= 2 * x.bytes, function


def test_relay_is_the_same_however_it_was_built():
    named, stripped = (ask("leaks", f"{n}.heaptrack.zst")["memory"] for n in ("relay", "relay-stripped"))
    # The programs differ in the length of their path only, which libraries copy.
    assert abs(named["live_bytes"] - stripped["live_bytes"]) <= 64
    kinds = truth.relay()
    found = below("relay.heaptrack.zst", "live_bytes")
    assert of_them(kinds, found) == {f: sum(n for n, _ in by.values()) for f, by in kinds.items()}


def test_who_asked_an_allocator_without_a_name_is_no_name_missing(tmp_path):
    """Go's text (debug=1) leaves out its runtime: the owner is named, and that is what is asked for."""
    text = "heap profile: 3: 3072 [3: 3072] @ heap/2\n3: 3072 [3: 3072] @ 0x10 0x11 0x20 0x30\n" \
        "#\t0x1f\tmain.keep+0x1\t/srv/app/main.go:4\n#\t0x2f\tmain.main+0x1\t/srv/app/main.go:9\n\n"
    path = tmp_path / "text.heap"
    path.write_text(text)
    out = run("summary", path, code=0).out
    assert "main.keep" in out and "NAMES MISSING" not in out
    bare = tmp_path / "bare.heap"
    bare.write_text(text.split("#")[0] + "\n")
    assert "NAMES MISSING" in run("summary", bare, code=0).out
    said = run("timeline", path, code=None).err
    assert "of one moment" in said and "timeline FIRST LATER" in said and "--samples" not in said
    said = run("leaks", path, "--metric", "temporary", code=None).err
    assert "temporary (x_temporary_count), which this file does not know" in said and "heaptrack" in said


def test_recordings_of_a_run_each_stay_as_they_are_given(tmp_path):
    """The first is what the second is compared to, whenever it was recorded."""
    def recorded(name, live, end):
        event = {"name": "malloc", "kind": "allocation", "sampling": {"mode": "event", "primary_metric": "live_bytes"}}
        path = tmp_path / name
        path.write_text(profiles.text([([{"func": "keep", "dso": "/bin/app"}], {"live_bytes": live, "live_count": 1})], [event],
                                      tool="heaptrack", time_range={"start": 0, "end": end, "unit": "seconds"}))
        return path
    before, after = recorded("before.spaa", 1000, 20), recorded("after.spaa", 9000, 10)
    assert ask("leaks", before, after)["series"]["growth"] == 8000
    assert ask("leaks", after, before)["series"]["growth"] == -8000
    none = recorded("none.spaa", 0, 20)
    assert ask("leaks", none, after)["series"]["growth"] == 9000
    assert "spaa leaks BASE NEW" in run("diff", none, after, "--metric", "live_bytes", code=None).err

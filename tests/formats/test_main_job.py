"""The main job on real recordings: perf's own numbers, the same answer by every road, ids that outlive a run."""

import json
import os
import re

import pytest

from conftest import CORPUS, ROOT, run

DEMO = os.path.join(ROOT, "demo")
# What is inlined and where the lines are, perf was not asked; the debug files of libraries may be here or not.
NAMES_ALONE = ["--no-inline", "--no-lines"]
DEMO_SYMBOLS = ["--symfs", os.path.join(DEMO, "symfs"), "--kallsyms", os.path.join(DEMO, "kallsyms"), *NAMES_ALONE]
MADE = os.path.join(CORPUS, "perf-data", "made")
TEXTS = os.path.join(CORPUS, "perf-script", "made")
MADE_SYMBOLS = ["--symfs", os.path.join(MADE, "symfs"), "--kallsyms", os.path.join(MADE, "symfs", "kallsyms"), *NAMES_ALONE]
needs_corpus = pytest.mark.skipif(not os.path.isdir(MADE), reason="no corpus")
UNKNOWN = re.compile(r"(0x)?0*([0-9a-f]+)$")


def spaa(*args):
    return run(*args, code=0).raw


def answer(*args):
    return json.loads(spaa(*args, "--json"))


def report_rows(name):
    """(comm, dso, function) -> shares as perf report printed them."""
    rows = {}
    with open(os.path.join(TEXTS, name)) as lines:
        for line in lines:
            fields = line.split()
            if not fields or line.startswith("#"):
                continue
            shares = [f for f in fields if f.endswith("%")]
            comm, dso = fields[len(shares)], fields[len(shares) + 1]
            symbol = " ".join(fields[len(shares) + 3:])
            if dso == "[unknown]":
                symbol = "0x" + UNKNOWN.match(symbol).group(2)
            rows[comm, dso, symbol] = shares
    return rows


def our_rows(path, symbols, total):
    rows = {}
    comms = {r["name"] for r in answer("top", path, *symbols, "--by", "comm", "-n", 0)["rows"]}
    for comm in comms:
        for r in answer("top", path, *symbols, "--comm", comm, "-n", 0, "--by", "symbol")["rows"]:  # perf has rows of parts
            dso = os.path.basename(r["dso"])
            key = comm, "[kernel.kallsyms]" if dso == "[kernel]" else dso, r["name"]
            flat, cum = rows.get(key, (0, 0))
            rows[key] = flat + r["self"], cum + r["total"]
    return {k: ("%.2f%%" % (100 * c / total), "%.2f%%" % (100 * f / total)) for k, (f, c) in rows.items()}


@needs_corpus
@pytest.mark.parametrize("road", ["perf.data", "text", "spaa"])
def test_shares_equal_perf_report(road, tmp_path):
    path, symbols = os.path.join(MADE, "fp.perf.data.zst"), MADE_SYMBOLS
    if road == "text":
        path, symbols = os.path.join(TEXTS, "fp.perf-script.txt.zst"), []
    if road == "spaa":
        spaa("convert", path, *symbols, "-o", tmp_path / "fp.spaa")
        path, symbols = tmp_path / "fp.spaa", []
    total = answer("top", path, *symbols)["whole"]
    assert total == 3959879532
    ours = our_rows(path, symbols, total)
    both = report_rows("fp.perf-report-children.txt")
    own = report_rows("fp.perf-report-self.txt")
    assert len(both) > 100 and len(own) > 50
    for key, (children, self_) in both.items():
        # Of addresses that are in no map, perf's report merges what the text keeps apart.
        if key[1] == "[unknown]" and key not in ours:
            continue
        assert ours[key] == (children, self_), key
    for key, (self_,) in own.items():
        assert ours[key][1] == self_, key


def folded(path, *options):
    return spaa("convert", path, *options, "--to", "folded", "-o", "-").decode().splitlines()


def comparable(stack):
    """
    None for stacks with an unresolved frame, and for those through start_kernel: its caller's call is its
    last instruction, so that the return address, which perf looks up, is the next function's first byte.
    Threads of unknown name are ":-1" to perf.
    """
    return None if "[" in stack or "start_kernel" in stack else stack.removeprefix(":-1;")


@needs_corpus
@pytest.mark.parametrize("name", ["fp", "multi", "nochain", "period", "pipe", "zstd", "system", "tracepoint"])
def test_both_roads_give_the_same_stacks(name):
    """perf.data, and perf's own text of it; stacks with an unresolved frame aside."""
    found = [n for n in os.listdir(MADE) if n.startswith(name + ".perf.data")][0]
    native = os.path.join(MADE, found)
    text = os.path.join(TEXTS, name + ".perf-script.txt.zst")
    event = answer("top", native, *MADE_SYMBOLS)["profile"]["event"]
    if event == "off-cpu":  # lengths of time, which the text has in microseconds: the events themselves
        event = "sched:sched_switch"
    counts = []
    for lines in (folded(native, *MADE_SYMBOLS, "--event", event), folded(text, "--event", event)):
        counts.append({comparable(s): n for s, _, n in (line.rpartition(" ") for line in lines) if comparable(s)})
    assert counts[0] == counts[1]
    assert sum(map(int, counts[0].values())) > 0


@pytest.mark.parametrize("name", ["orders-1", "orders-2"])
def test_folded_is_the_same_through_spaa(name, tmp_path):
    path = os.path.join(DEMO, name + ".perf.data.zst")
    spaa("convert", path, *DEMO_SYMBOLS, "-o", tmp_path / "x.spaa.zst")
    for metric in ("samples", "period"):
        direct = folded(path, *DEMO_SYMBOLS, "--metric", metric)
        assert direct == folded(tmp_path / "x.spaa.zst", "--metric", metric)
        assert direct


def test_the_same_bytes_for_any_number_of_threads(tmp_path):
    path = os.path.join(DEMO, "orders-1.perf.data.zst")
    first = spaa("convert", path, *DEMO_SYMBOLS, "--to", "spaa", "-o", "-", "-j", 1)
    for jobs in (1, 2, 5):
        assert spaa("convert", path, *DEMO_SYMBOLS, "--to", "spaa", "-o", "-", "-j", jobs) == first
    (tmp_path / "x.spaa").write_bytes(first)
    assert spaa("convert", tmp_path / "x.spaa", "--to", "spaa", "-o", "-") == first


def ids(path):
    stable = {}
    for line in spaa("convert", path, *DEMO_SYMBOLS, "--to", "spaa", "-o", "-").decode().splitlines():
        record = json.loads(line)
        if record["type"] == "stack":
            stable.setdefault(record["id"].split(".")[0], []).append(record)
    return stable


def test_equal_stacks_of_two_runs_share_the_stable_part_of_their_ids():
    one = ids(os.path.join(DEMO, "orders-1.perf.data.zst"))
    two = ids(os.path.join(DEMO, "orders-2.perf.data.zst"))
    shared = set(one) & set(two)
    assert len(shared) > 50
    heavy = [i for i, records in one.items() if sum(r["weights"][0]["value"] for r in records) >= 20]
    assert heavy and set(heavy) <= shared
    for i in shared:  # another process each time
        assert {r["context"]["pid"] for r in one[i]}.isdisjoint({r["context"]["pid"] for r in two[i]})


def test_the_demo_names_every_address_of_the_program():
    brief = answer("summary", os.path.join(DEMO, "orders-1.perf.data.zst"), *DEMO_SYMBOLS)
    assert brief["quality"]["unresolved_percent"] == 0
    assert {r["name"] for r in brief["hot"]} >= {"checksum", "parse_field"}
    assert [s["name"] for s in brief["heaviest_path"]][-1] in ("parse_field", "checksum")

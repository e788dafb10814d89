"""massif.out: against a plain reading of the same text, and ms_print's table."""

import json
import re
import shutil
import subprocess

import pytest

from conftest import run
from valgrind_files import Profile, fixture, lower, profile, records, text

NAMES = ["heap", "nodebug", "cpp", "stacks", "pages", "ms", "heaptrack"]
BELOW, UNTOLD, REST = "[below massif's threshold]", "[no stacks in this snapshot]", "[callers not told]"


def plain(data):
    """Snapshots: their numbers, and {stack, leaf first: bytes} of those with a tree."""
    found = []
    for line in data.split("\n"):
        key, _, value = line.partition("=")
        if key == "snapshot":
            found.append({"rows": None, "lines": []})
        elif key in ("time", "mem_heap_B", "mem_heap_extra_B", "mem_stacks_B", "heap_tree"):
            found[-1][key] = value
        elif re.match(r" *n\d+: ", line):
            found[-1]["lines"].append(line)
    for s in found:
        if s["heap_tree"] != "empty":
            s["rows"] = tree(s["lines"])
    return found


def tree(lines):
    nodes = []  # depth, bytes, text, parent
    for line in lines:
        m = re.match(r"( *)n(\d+): (\d+) (.*)$", line)
        depth = len(m[1])
        parent = next((i for i in range(len(nodes) - 1, -1, -1) if nodes[i][0] == depth - 1), None)
        nodes.append((depth, int(m[3]), m[4], parent))
    rows = {}
    for i, (depth, size, _, _) in enumerate(nodes):
        children = [n for n in nodes if n[3] == i]
        rest = size - sum(c[1] for c in children)
        at, path = i, []
        while nodes[at][3] is not None:
            path.append(nodes[at][2])
            at = nodes[at][3]
        path = [BELOW if "threshold" in x and x.startswith("in ") else lower(x) for x in reversed(path)]
        if depth == 0:
            path = [UNTOLD]
        elif children:
            path.append(REST)
        if rest:
            rows[tuple(path)] = rows.get(tuple(path), 0) + rest
    return rows


def peak_of(snapshots):
    marked = [s for s in snapshots if s["heap_tree"] == "peak"]
    return (marked or [max(snapshots, key=lambda s: int(s["mem_heap_B"]))])[-1]


def rows_of(snapshot):
    if snapshot["rows"] is None:
        return {(UNTOLD,): int(snapshot["mem_heap_B"])} if int(snapshot["mem_heap_B"]) else {}
    return snapshot["rows"]


@pytest.mark.parametrize("name", NAMES)
def test_the_peak_and_the_end_by_stack(name):
    snapshots, ours = plain(text("massif", name + ".massif")), profile("massif", name + ".massif")
    assert ours.weights("peak_bytes") == rows_of(peak_of(snapshots))
    assert ours.weights("live_bytes") == rows_of(snapshots[-1])
    assert ours.whole("peak_bytes") == int(peak_of(snapshots)["mem_heap_B"])
    assert ours.whole("live_bytes") == int(snapshots[-1]["mem_heap_B"])


@pytest.mark.parametrize("name", NAMES)
def test_windows_add_up_to_each_snapshot(name):
    snapshots, ours = plain(text("massif", name + ".massif")), profile("massif", name + ".massif")
    if snapshots[0]["time"] == "0" and snapshots[0]["mem_heap_B"] == "0":
        snapshots = snapshots[1:]
    levels, before = {}, "0"
    assert len(snapshots) == len(ours.windows)
    for s, w in zip(snapshots, ours.windows):
        for row in w["by_stack"]:
            path = ours.path(row["stack_id"])
            levels[path] = levels.get(path, 0) + sum(x["value"] for x in row["weights"])
        assert sum(levels.values()) == int(s["mem_heap_B"])
        if s["rows"] is not None:
            assert {k: v for k, v in levels.items() if v} == s["rows"]
        assert w["x_massif"]["heap_bytes"] == int(s["mem_heap_B"])
        assert w["x_massif"]["extra_bytes"] == int(s["mem_heap_extra_B"])
        assert w["x_massif"]["stacks_bytes"] == int(s["mem_stacks_B"])
        assert (str(w["start"]), str(w["end"])) == (before, s["time"])
        before = s["time"]


@pytest.mark.parametrize("name", ["heap", "cpp", "stacks", "pages", "ms"])
def test_ms_print_has_the_same_numbers(name):
    if not shutil.which("ms_print"):
        pytest.skip("no ms_print")
    out = subprocess.run(["ms_print", fixture("massif", name + ".massif")], capture_output=True, text=True, check=True)
    table = [[int(x.replace(",", "")) for x in m] for m in
             re.findall(r"^ +(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)$", out.stdout, re.M)]
    ours = profile("massif", name + ".massif")
    theirs = {row[0]: row[2:] for row in table}
    for w in ours.windows:
        x = w["x_massif"]
        assert theirs[x["snapshot"]] == [x["heap_bytes"] + x["extra_bytes"] + x["stacks_bytes"], x["heap_bytes"],
                                         x["extra_bytes"], x["stacks_bytes"]]
    peak = int(re.search(r"(\d+) \(peak\)", out.stdout)[1])
    assert ours.header["x_massif"]["peak"]["snapshot"] == peak


def test_known_amounts():
    """The program holds 200,000 bytes from main, and loses 13,840."""
    ours = profile("massif", "ms.massif")  # all in trees: no threshold
    by_leaf = {}
    for path, v in ours.weights("live_bytes").items():
        name = path[0].split(": ")[1].split(" ")[0]
        by_leaf[name] = by_leaf.get(name, 0) + v
    assert by_leaf == {"inner": 500 + 5 * 1000 + 3000, "list": 640, "main": 4000 + 700}
    assert sum(by_leaf.values()) == 13840


def test_inlined_functions():
    ours = profile("massif", "heap.massif")
    leaf = [s["frames"] for s in ours.stacks.values() if ours.frames[s["frames"][0]]["func"] == "inner"][0]
    inner, outer = ours.frames[leaf[0]], ours.frames[leaf[1]]
    assert inner["inlined"] is True and inner["inline_depth"] == 1 and inner["srcline"] == "vg_heap.c:27"
    assert outer.get("inline_depth", 0) == 0 and outer["x_valgrind"] == inner["x_valgrind"]


def test_recursion_is_not_inlined():
    deep = [f for f in profile("memcheck", "all.log").frames.values() if f["func"] == "deep"]
    assert deep and all("inlined" not in f for f in deep)


def test_binaries_without_lines():
    ours = profile("massif", "nodebug.massif")
    assert {"/src/vg_nodebug"} <= {d["name"] for d in ours.dsos.values()}


def test_addresses_are_of_calls_and_no_ips():
    ours = profile("massif", "heap.massif")
    assert ours.header["x_spaa"]["ip"] == "call"
    assert all("ip" not in f for f in ours.frames.values())


@pytest.mark.parametrize("grain", ["line", "function"])
def test_coarser_frames_keep_sums(grain):
    ours = profile("massif", "heap.massif", "--frames", grain)
    assert ours.whole("peak_bytes") == 223612
    assert all("x_valgrind" not in f for f in ours.frames.values())


def test_time_of_milliseconds():
    header = profile("massif", "ms.massif").header
    assert header["time_range"]["unit"] == "milliseconds"
    assert profile("massif", "heap.massif").windows[0]["unit"] == "instructions"
    assert profile("massif", "cpp.massif").windows[0]["unit"] == "bytes"


def test_instructions_are_no_time():
    answer = run("timeline", fixture("massif", "heap.massif"))
    assert answer.code != 0 and "in instructions, which are no time" in answer.err and "--time-unit=ms" in answer.err
    data = text("massif", "heap.massif").replace("time_unit: i", "time_unit: q")
    assert run("timeline", "-", stdin=data).code != 0


def test_overhead_and_stacks_are_said():
    err = run("top", "-v", fixture("massif", "stacks.massif")).err
    assert "which no row has" in err
    moment = profile("massif", "stacks.massif").header["x_massif"]["peak"]
    assert moment["extra_bytes"] > 0 and moment["stacks_bytes"] > 0


def test_pages():
    ours = profile("massif", "pages.massif")
    assert ours.event["name"] == "pages" and ours.header["x_massif"]["pages_as_heap"] is True


def test_xtree_memory_is_numbers_of_the_end():
    ours = profile("massif", "xtmemory.massif")
    assert ours.whole("live_bytes") == 13840 and ours.whole("live_count") == 19
    assert ours.whole("alloc_bytes") == 423112 and ours.whole("alloc_count") == 43
    assert ours.whole("free_bytes") == 423112 - 13840 and ours.whole("free_count") == 24
    assert not ours.windows


def test_heaptracks_header_stands_behind():
    ours = profile("massif", "heaptrack.massif")
    assert ours.header["source"]["command"] == "./leaky" and ours.header["time_range"]["unit"] == "seconds"


def test_cut_off_anywhere():
    data = text("massif", "ms.massif").encode()
    for n in range(0, len(data), 7):
        answer = run("convert", "-", "--from", "massif", "--to", "spaa", "-o", "-", stdin=data[:n])
        assert answer.code in (0, 3, 4), (n, answer.err)
        if n < len(data) - 8 and answer.code == 0 and data[:n].count(b"snapshot="):
            assert answer.out


def test_a_cut_tree_keeps_its_sum_and_is_said():
    data = text("massif", "ms.massif")
    at = data.rindex("heap_tree=")
    cut = data[:data.index("\n", data.index("\n", data.index("\n", at) + 1) + 1) + 1]
    rows = records("-", "--from", "massif", stdin=cut.encode())
    assert Profile(rows).whole("live_bytes") == 13840
    assert "L301" in run("info", "-", "--from", "massif", stdin=cut).err


def test_damaged_lines_are_said_where_they_are():
    data = re.sub(r"^ n(\d+): (\d+) 0x", r" n\1: \2 zz", text("massif", "ms.massif"), count=1, flags=re.M)
    err = run("convert", "-", "--to", "spaa", "-o", "-", stdin=data).err
    assert "a line of a tree without a frame" in err and "line" in err
    assert run("info", "--strict", "-", stdin=data).code != 0


def test_a_tree_that_contradicts_its_snapshot():
    data = text("massif", "ms.massif").replace("mem_heap_B=13840", "mem_heap_B=13841")
    assert "SPAA-W772" in run("info", "-v", "-", stdin=data).err


@pytest.mark.parametrize("data", ["snapshot=1\ntime=2\n", "desc: a\ncmd: b\ntime_unit: i\n", "n1: 5 (heap)\n",
                                  "snapshot=1\nfoo\ntime=1\nbar\nmem_heap_B=1\nbaz\nqux\n"])
def test_what_is_no_massif(data):
    assert "massif" not in run("info", "-", stdin=data).out


def test_questions_answer():
    assert "peak_bytes" in run("top", fixture("massif", "heap.massif"), code=0).out
    assert "inner" in run("leaks", fixture("massif", "ms.massif"), code=0).out


SNAPSHOTS = """desc: (none)
cmd: ./prog
time_unit: i
#-----------
snapshot=0
#-----------
time=10
mem_heap_B=3000
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=peak
n1: 3000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n1: 3000 0x1000: UnknownInlinedFun (alloc.rs:95)
  n0: 3000 0x1000: r::fill (r.rs:9)
#-----------
snapshot=1
#-----------
time=20
mem_heap_B=1200
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
"""


def test_an_end_without_stacks_frees_nothing():
    """Who holds what is live then was not seen: nobody freed anything, and rows are of the peak."""
    found = json.loads(run("leaks", "-", "--json", stdin=SNAPSHOTS, code=0).out)
    assert found["end_without_stacks"] is True and found["ranked_by"] == "peak_bytes"
    assert found["memory"]["live_bytes"] == 1200 and found["memory"]["peak_bytes"] == 3000
    row = found["rows"][0]
    assert (row["function"], row["peak_bytes"], row["live_bytes"], row["kind"]) == ("r::fill", 3000, None, "unknown")
    lines = run("leaks", "-", stdin=SNAPSHOTS, code=0).out
    assert lines.split("\n")[1].startswith("! NO STACKS AT THE END") and "0 B" not in lines
    assert "! NO STACKS AT THE END" in run("summary", "-", stdin=SNAPSHOTS, code=0).out
    live = run("leaks", "-", "--metric", "live_bytes", stdin=SNAPSHOTS, code=0).out
    assert "freed" not in live and "nothing now" not in live


def test_an_end_with_stacks_is_known():
    whole = SNAPSHOTS.replace("heap_tree=empty\n", "heap_tree=detailed\nn1: 1200 (heap allocation functions) malloc\n"
                              " n0: 1200 0x1000: r::fill (r.rs:9)\n")
    found = json.loads(run("leaks", "-", "--json", stdin=whole, code=0).out)
    assert found["end_without_stacks"] is False and found["ranked_by"] == "live_bytes"
    assert "NO STACKS" not in run("leaks", "-", stdin=whole, code=0).out


def test_inlined_functions_without_a_name_own_nothing():
    found = json.loads(run("top", "-", "--json", "--metric", "peak_bytes", "-n", "0", stdin=SNAPSHOTS, code=0).out)
    names = {r["function"] for r in found["rows"]}
    assert "[inlined function without a name]" in names and "UnknownInlinedFun" not in names
    assert json.loads(run("leaks", "-", "--json", stdin=SNAPSHOTS, code=0).out)["rows"][0]["function"] == "r::fill"


def test_names_of_files_alone_are_a_caution():
    for question in ("leaks", "summary"):
        assert "! LIBRARIES MAY LOOK OWN" in run(question, "-", stdin=SNAPSHOTS, code=0).out
        folders = SNAPSHOTS.replace("(alloc.rs", "(/rustc/1/library/alloc/src/alloc.rs").replace("(r.rs", "(/srv/r.rs")
        assert "LOOK OWN" not in run(question, "-", stdin=folders, code=0).out

"""sample(1): reading, writing, what comes back, damage."""

import collections
import os
import random

import pytest

from conftest import CORPUS, ROOT, ask, parse, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "sample")
INFERNO = os.path.join(CORPUS, "sample", "inferno")
needs_corpus = pytest.mark.skipif(not os.path.isdir(INFERNO), reason="no corpus")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


ALL = read(os.path.join(FIXTURES, "all.sample.txt"))


def spaa_of(text, *options):
    answer = run("convert", "-", "--from", "sample", "--to", "spaa", "-o", "-", *options, stdin=text, code=0)
    return [parse(line) for line in answer.out.splitlines()], answer


def stacks(records):
    frames = {r["id"]: r for r in records if r["type"] == "frame"}
    out = collections.Counter()
    for s in records:
        if s["type"] == "stack":
            path = tuple(frames[n]["func"] for n in reversed(s["frames"]))
            out[(s["context"].get("tid"), path)] += s["weights"][0]["value"]
    return dict(out)


def rendered(text):
    spaa = run("convert", "-", "--from", "sample", "--to", "spaa", "-o", "-", stdin=text, code=0).raw
    return run("convert", "-", "--from", "spaa", "--to", "sample", "-o", "-", stdin=spaa, code=0).out


def test_every_form_of_row():
    records, answer = spaa_of(ALL)
    assert stacks(records) == {
        (15758523, ("start", "main")): 3, (15758523, ("start", "0x9f")): 2, (15758523, ("<anonymous>", "0x1f40")): 2,
        (15758523, ("<anonymous>", "bare_symbol")): 1, (15758535, ("thread_start",)): 1,
        (15758535, ("thread_start", "operator new  (in )odd)")): 1}
    frames = {r["func"]: r for r in records if r["type"] == "frame"}
    dsos = {r["id"]: r for r in records if r["type"] == "dso"}
    main = frames["main"]
    assert main["symoff"] == "0x29" and main["ip"] == hex(0x10384b549 - 0x103746000) and main["srcline"] == "main.c:12"
    assert main["x_sample"] == {"address": "0x10384b549,0x10384b552,...", "offsets": "41,50,..."}
    assert dsos[main["dso"]] == {"type": "dso", "id": main["dso"], "name": "My App", "is_kernel": False,
                                "build_id": "b3b9c89a572831d080653c50623191ae"}
    assert frames["0x9f"]["func_resolved"] is False and frames["0x9f"]["ip"] == "0x9f"
    assert dsos[frames["<anonymous>"]["dso"]]["name"] == "[unknown]" and frames["<anonymous>"]["ip"] == "0x1f00"
    assert dsos[frames["operator new  (in )odd)"]["dso"]]["name"] == "lib (x)"
    threads = {r["tid"]: r for r in records if r["type"] == "thread"}
    assert threads[15758523]["comm"] == "My (App)" and threads[15758523]["pid"] == 64751
    assert threads[15758523]["x_spaa"] == {"queue": "DispatchQueue_1: com.apple.main-thread  (serial)"}
    assert threads[15758523]["x_sample"] == {"samples": 8}
    assert threads[15758535]["x_spaa"] == {"name": 'worker (1), "x"'} and threads[15758535]["x_sample"] == {"samples": 2}
    header = records[0]
    assert header["source_tool"] == "sample" and header["events"][0]["sampling"]["frequency_hz"] == 100
    assert header["x_spaa"]["host"] == {"os": "Mac OS X 10.14.5 (18F203)", "arch": "X86-64"}
    (process,) = [r for r in records if r["type"] == "x_spaa_process"]
    assert process["x_sample"]["threads"] == [15758523, 15758535, {"id": "a", "samples": 1}]
    assert (process["pid"], process["name"], process["images"]) == (64751, "My (App)", [1, 2])
    assert "SPAA-" not in answer.err


def test_rendered_settles_and_lossless_comes_back(tmp_path):
    for name in sorted(os.listdir(FIXTURES)):
        text = read(os.path.join(FIXTURES, name))
        once = rendered(text)
        assert rendered(once) == once
        if name.startswith("all"):
            assert spaa_of(once)[0] == spaa_of(text)[0]
        spaa = tmp_path / "x.spaa"
        run("convert", "-", "--from", "sample", "--lossless", "-o", spaa, stdin=text, code=0)
        assert run("convert", spaa, "--to", "sample", "-o", "-", code=0).out == text
        chosen = run("convert", spaa, "--event", "sample", "--to", "sample", "-o", "-", code=0).out
        assert chosen == once != text
        assert ask("validate", spaa)["errors"] == 0


def test_damage_costs_the_lines_it_touches():
    records, answer = spaa_of(read(os.path.join(FIXTURES, "damaged.sample.txt")))
    got = stacks(records)
    assert got[(1, ("start", "main"))] == 6 and got[(1, ("start",))] == 1 and got[(None, ("other",))] == 3
    assert got[(None, ("not a thread", "below"))] == 4
    for code in ("L510", "L511", "W515", "W517"):
        assert "SPAA-" + code in answer.err


@pytest.mark.parametrize("seed", range(20))
def test_mutations_never_crash_and_come_back(seed, tmp_path):
    rng = random.Random(seed)
    text = list(ALL)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(60, len(text))
        text[at:at + rng.randrange(3)] = rng.choice(["", "\n", "  ", "9", "(", "[0x", "+ "])
    text = "".join(text)
    spaa = tmp_path / "x.spaa"
    assert run("convert", "-", "--from", "sample", "--lossless", "-o", spaa, stdin=text).code == 0
    assert run("convert", spaa, "--to", "sample", "-o", "-", code=0).out == text
    assert rendered(rendered(text)) == rendered(text)


@needs_corpus
def test_real_report():
    """Stacks as another tool collapses them, which leaves out threads and Rust's hashes, and drops what waits."""
    path = os.path.join(INFERNO, "sample.txt")
    assert ask("info", path)["format"] == "sample"
    assert ask("top", path, "--view", "all")["whole"] == 3 * 825
    assert ask("top", path)["whole"] == 2 * 825  # one of its threads waits
    leaves = collections.Counter()
    for (tid, frames), value in stacks(spaa_of(read(path))[0]).items():
        leaves[(tid, len(frames))] += value
    want = collections.Counter()
    for line in read(os.path.join(INFERNO, "expected", "sample-no-modules.txt")).splitlines():
        stack, _, value = line.rpartition(" ")
        names = stack.split(";")
        want[(int(names[0].partition("_")[2].split()[0]), len(names) - 1)] += int(value)
    assert want and all(leaves[k] >= v for k, v in want.items())
    assert rendered(rendered(read(path))) == rendered(read(path))


@needs_corpus
@pytest.mark.parametrize("name, lost", [("bad-stack-line", True), ("invalid-samples-field", True),
                                        ("end-before-call-graph-end", False), ("odd-indentation", False)])
def test_broken_reports_keep_their_samples(name, lost):
    path = os.path.join(INFERNO, name + ".txt")
    answer = ask("top", path)
    assert answer["whole"] == 825
    assert ("SPAA-L510" in [d["code"] for d in answer["diagnostics"]]) == lost


def test_any_profile_can_be_written(folded):
    text = run("convert", folded, "--to", "sample", "-o", "-", code=0).out
    got = stacks(spaa_of(text)[0])
    assert got == {(None, ("main", "parse", "read")): 30, (None, ("main", "parse", "scan")): 20,
                   (None, ("main", "run", "compute", "mul")): 25, (None, ("main", "run", "compute")): 15,
                   (None, ("main", "run", "read")): 10}


@pytest.mark.parametrize("tail", ["  [0x10a]  File.swift:12", "  File.swift:12", "  [0x10a]  File.swift", "  [0x10a]  a b.mm:3"])
def test_sources_behind_addresses(tail):
    text = "Analysis of sampling x (pid 1) every 1 millisecond\nCall graph:\n    3 Thread_1\n      3 A.b(_:)  (in My App) + 10%s\n\n"
    records, _ = spaa_of(text % tail)
    (frame,) = [r for r in records if r["type"] == "frame"]
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    assert (frame["func"], dsos[frame["dso"]], frame["srcline"]) == ("A.b(_:)", "My App", tail.split("]")[-1].strip())


def test_a_row_that_is_cut_off_keeps_its_function_and_is_said(tmp_path):
    path = tmp_path / "cut.sample.txt"
    path.write_text("Analysis of sampling Orders (pid 700) every 1 millisecond\nProcess:         Orders [700]\n----\n\nCall graph:\n"
                    "    100 Thread_7004\n    + 100 start_wqthread  (in libsystem_pthread.dylib) + 276  [0x19b4298\n"
                    "    +   100 parse_rows  (in Orde\n")
    made = tmp_path / "cut.spaa"
    done = run("convert", path, "-o", made, code=0)
    assert "SPAA-L520" in done.err and '"func":"start_wqthread"' in made.read_text() and '"func":"parse_rows"' in made.read_text()


def test_a_text_that_ends_between_rows_is_said():
    """sample writes a blank line and more behind the graph."""
    begin = ALL.index("Call graph:\n") + len("Call graph:\n")
    graph = ALL[begin:ALL.index("\n\n", begin) + 1]
    second = begin + graph.index("Thread_15758535")
    second = ALL.rindex("\n", 0, second) + 1
    for cut in (ALL.index("\n") + 1, begin, second, begin + len(graph)):
        assert "SPAA-L520" in spaa_of(ALL[:cut])[1].err, ALL[:cut][-80:]
    for whole in (ALL[:begin + len(graph) + 1], ALL, ALL + ALL.replace("15758", "15759")):
        assert "SPAA-L520" not in spaa_of(whole)[1].err


def test_blank_lines_in_the_graph_lose_nothing():
    """Editors and mails put them in, or double all ends of lines."""
    lines = ALL.split("\n")
    whole = stacks(spaa_of(ALL)[0])
    begin = lines.index("Call graph:") + 1
    end = lines.index("", begin)
    for k in range(begin, end):
        records, answer = spaa_of("\n".join(lines[:k] + [""] + lines[k:]))
        assert stacks(records) == whole, k
    assert stacks(spaa_of(ALL.replace("\n", "\n\n"))[0]) == whole
    assert stacks(spaa_of(ALL.replace("\n", "\n \t\n"))[0]) == whole


TWO = "".join(
    "Analysis of sampling %s (pid %d) every 1 millisecond\nProcess:         %s [%d]\n\nCall graph:\n    %d Thread_%d\n"
    "      %d main  (in %s) + 7  [0x107]\n\nBinary Images:\n       0x100 -  0x1ff +%s (0) <> /opt/%s\n\n" % (n, i, n, i, c, i, c, n, n, n)
    for n, i, c in (("reader", 7, 30), ("writer", 8, 12)))


def test_an_analysis_whose_first_line_is_damaged_is_read_and_said():
    at = TWO.rindex("Analysis of sampling")
    for k in range(len("Analysis of sampling ")):
        text = TWO[:at + k] + "~" + TWO[at + k + 1:]
        records, answer = spaa_of(text)
        assert sum(stacks(records).values()) == 42, k
        assert stacks(records)[(8, ("main",))] == 12
        assert "SPAA-L525" in answer.err
        again = spaa_of(rendered(text))
        assert stacks(again[0]) == stacks(records), k
    assert "SPAA-L" not in spaa_of(TWO)[1].err


def test_a_first_line_that_is_cut_is_said():
    at = TWO.rindex("Analysis of sampling")
    for k in range(1, len("Analysis of sampling ") + 1):
        assert "SPAA-L301" in spaa_of(TWO[:at + k])[1].err, k
    assert "SPAA-L" not in spaa_of(TWO[:at])[1].err


def test_threads_outside_of_call_graphs_are_counted():
    at = TWO.rindex("Analysis of sampling")
    text = TWO[:at] + TWO[at:].replace("Analysis", "Analyzis").replace("Call graph:", "Call grapf:")
    records, answer = spaa_of(text)
    assert sum(stacks(records).values()) == 30
    assert "SPAA-L302" in answer.err and "Thread_8" in answer.err


def test_a_text_that_ends_in_the_line_of_an_image_is_cut_off():
    begin = TWO.index("Binary Images:\n") + len("Binary Images:\n")
    path = TWO.index("/opt/reader\n", begin)
    for n in range(begin + 1, path + 1):
        assert "SPAA-L301" in spaa_of(TWO[:n])[1].err, TWO[begin:n]
    for n in (path + len("/opt/reader"), path + len("/opt/reader\n")):
        assert "SPAA-L" not in spaa_of(TWO[:n])[1].err

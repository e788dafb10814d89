"""annotate --diff: lines of two versions side by side, against difflib, and against annotate of each alone."""

import difflib
import os
import random
import subprocess

import profiles
import pytest
from conftest import ask, run
from test_annotate import SOURCE, needs_tools, record, symbol

NEW = SOURCE.replace("\tdouble s = 0;\n", "\tdouble s = 0;\n\tdouble most = 1e9;\n").replace(
    "s > 1e9)", "s > most)").replace("x / 3.0", "x / 3.0 + x").replace("#include <vector>\n", "// of orders\n#include <vector>\n")


def version(folder, source):
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.cpp").write_text(source)
    subprocess.run(["g++", "-O2", "-g", "-Wl,--build-id", "-o", "shop", "src/shop.cpp"], cwd=folder, check=True)
    return record(folder)[0]


@pytest.fixture
def two(tmp_path):
    return version(tmp_path / "a", SOURCE), version(tmp_path / "b", NEW)


def weights(profile):
    return {row["line"]: (row["self"], row["total"], row["samples"])
            for r in ask("annotate", profile, "sum", "-n", "0")["ranges"] for row in r["lines"] if r["file"].endswith("shop.cpp")}


@needs_tools
def test_lines_are_matched_by_text_and_have_the_weights_of_each_side(two):
    base, new = two
    answer = ask("annotate", new, "sum", "--diff", base, "-n", "0", "--context", "100")
    rows = [r for r in answer["compared"] if (r["file"] or r["base_file"]).endswith("shop.cpp")]
    assert not answer["diff"]["by_number"] and not answer["diff"]["cut"]
    assert {r["base_line"]: r["text"] for r in rows if r["change"] == "same"} == {
        i + 1: NEW.splitlines()[n] for a, b, size in difflib.SequenceMatcher(None, SOURCE.splitlines(), NEW.splitlines(), False).
        get_matching_blocks() for i, n in zip(range(a, a + size), range(b, b + size))}
    changed = {(r["base_text"], r["text"]) for r in rows if r["change"] == "changed"}
    assert ("\t\tif (s > 1e9)", "\t\tif (s > most)") in changed and len(changed) == 2
    assert [r["text"] for r in rows if r["change"] == "added"] == ["// of orders", "\tdouble most = 1e9;"]
    assert all(r["base_line"] is None and r["base_self"] is None for r in rows if r["change"] == "added")
    for side, mine in (("", weights(new)), ("base_", weights(base))):
        got = {r[side + "line"]: (r[side + "self"], r[side + "total"], r[side + "samples"]) for r in rows if r[side + "line"]}
        assert {k: v for k, v in got.items() if any(v)} == {k: v for k, v in mine.items() if any(v)}
    assert answer["diff"]["base_self"] == ask("annotate", base, "sum")["self"]
    text = run("annotate", new, "sum", "--diff", base, code=0).out
    assert "against " in text and "base self%" in text and "~" in text


@needs_tools
def test_a_version_with_itself_changes_nothing(two):
    base, _ = two
    rows = ask("annotate", base, "sum", "--diff", base, "--whole")["compared"]
    assert rows and all(r["change"] == "same" and r["self"] == r["base_self"] and r["line"] == r["base_line"] for r in rows)


@needs_tools
@pytest.mark.parametrize("how", ["gone", "newer"])
def test_without_the_text_lines_are_paired_by_number_and_that_is_said(two, tmp_path, how):
    base, new = two
    source = tmp_path / "a" / "src" / "shop.cpp"
    if how == "gone":
        source.unlink()
    else:
        os.utime(source, (2e9, 2e9))
    answer = ask("annotate", new, "sum", "--diff", base, "-n", "0")
    rows = [r for r in answer["compared"] if (r["file"] or "").endswith("shop.cpp")]
    assert answer["diff"]["by_number"] and rows and {r["change"] for r in rows} == {"unknown"}
    assert all(r["line"] == r["base_line"] for r in rows)
    assert "paired by their numbers" in run("annotate", new, "sum", "--diff", base, code=0).out
    if how == "gone":
        moved = tmp_path / "old" / "src"
        moved.mkdir(parents=True)
        (moved / "shop.cpp").write_text(SOURCE)
        os.utime(moved / "shop.cpp", (1, 1))
        found = ask("annotate", new, "sum", "--diff", base, "--base-source-path", tmp_path / "old", "-n", "0")
        assert not found["diff"]["by_number"] and "changed" in {r["change"] for r in found["compared"]}


@needs_tools
def test_what_cannot_be_compared_is_refused(two):
    base, new = two
    assert "not of instructions" in run("annotate", new, "sum", "--asm", "--diff", base, code=2).err
    assert "nosuch" in run("annotate", new, "sum", "--diff", base.parent / "nosuch.spaa", code=3).err
    (base.parent / "other.folded").write_text("a;b 3\n")
    run("annotate", new, "sum", "--diff", base.parent / "other.folded", code=1)


@needs_tools
def test_large_files_are_matched_within_bounds(two, tmp_path):
    base, new = two
    rng = random.Random(3)
    filler = ["// %d" % rng.randrange(2000) for _ in range(6000)]
    for folder, source in (("a", SOURCE), ("b", NEW)):
        lines = list(filler)
        if folder == "b":
            for i in range(0, 6000, 7):
                lines[i] = "// new %d" % i
        path = tmp_path / folder / "src" / "shop.cpp"
        path.write_text(source + "\n".join(lines) + "\n")
        os.utime(path, (1, 1))
    answer = ask("annotate", new, "sum", "--diff", base, "-n", "0")
    assert "changed" in {r["change"] for r in answer["compared"]} and not answer["diff"]["by_number"]


@needs_tools
def test_one_file_is_not_the_source_of_two_builds(two, tmp_path):
    """The base's own source comes first; where it is not there, what --source-path gives both is a guess."""
    base, new = two
    own = ask("annotate", new, "sum", "--diff", base, "-n", "0")["compared"]
    given = tmp_path / "given"
    given.mkdir()
    (given / "shop.cpp").write_text(NEW)
    os.utime(given / "shop.cpp", (1, 1))
    answer = ask("annotate", new, "sum", "--diff", base, "--source-path", given, "-n", "0")
    assert answer["compared"] == own and not answer["diff"]["one_text"]
    (tmp_path / "a" / "src" / "shop.cpp").unlink()
    answer = ask("annotate", new, "sum", "--diff", base, "--source-path", given, "-n", "0")
    assert answer["diff"]["one_text"] and answer["diff"]["by_number"]
    assert {r["change"] for r in answer["compared"] if (r["file"] or "").endswith("shop.cpp")} == {"unknown"}
    assert "read as the source of two builds" in run("annotate", new, "sum", "--diff", base, "--source-path", given, code=0).out
    same = ask("annotate", base, "sum", "--diff", base, "--source-path", given, "-n", "0")
    assert not same["diff"]["one_text"]


def renamed(folder, source, name="store.cpp"):
    (folder / "src").mkdir(parents=True)
    (folder / "src" / name).write_text(source)
    subprocess.run(["g++", "-O2", "-g", "-Wl,--build-id", "-o", "shop", "src/" + name], cwd=folder, check=True)
    return record(folder)[0]


@needs_tools
def test_a_file_that_was_renamed_is_compared_with_what_it_was(two, tmp_path):
    base, new = two
    there = renamed(tmp_path / "c", NEW)
    named, other = (ask("annotate", x, "sum", "--diff", base, "-n", "0", "--context", "100") for x in (new, there))
    def rows(answer):
        return [{k: v for k, v in r.items() if k != "file"} for r in answer["compared"] if (r["base_file"] or r["file"]).endswith(".cpp")]
    assert rows(other) == rows(named) and "changed" in {r["change"] for r in rows(other)}
    assert (other["diff"]["file"], other["diff"]["base_file"]) == ("src/store.cpp", "src/shop.cpp")
    assert "file" not in named["diff"]
    assert "src/store.cpp is src/shop.cpp in the base" in run("annotate", there, "sum", "--diff", base, code=0).out
    # numbers of another file say nothing
    (tmp_path / "a" / "src" / "shop.cpp").unlink()
    alone = ask("annotate", there, "sum", "--diff", base, "-n", "0")
    assert "file" not in alone["diff"] and {r["change"] for r in alone["compared"] if (r["file"] or r["base_file"]).endswith(".cpp")} == {
        "added", "removed"}


def of_one_address(folder):
    """A profile with weight at one instruction of the function, the second half's first."""
    start, size = symbol(folder / "shop", "sum")
    frame = {"dso": str(folder / "shop"), "func_resolved": False, "kind": "user", "func": hex(start), "ip": hex(start + size // 2)}
    (folder / "bare.spaa").write_text(profiles.text([([frame], {"samples": 1, "period": 1})]))
    run("symbolize", folder / "bare.spaa", "-o", folder / "one.spaa", code=0)
    return folder / "one.spaa"


@needs_tools
def test_whole_is_the_whole_function_of_both_versions(two, tmp_path):
    base, new = of_one_address(tmp_path / "a"), of_one_address(tmp_path / "b")
    rows = ask("annotate", new, "sum", "--diff", base, "--whole")["compared"]
    for profile, line, file in ((new, "line", "file"), (base, "base_line", "base_file")):
        shown = {r[line] for r in rows if (r[file] or "").endswith("shop.cpp")}
        alone = {n for r in ask("annotate", profile, "sum", "--whole")["ranges"] if r["file"].endswith("shop.cpp")
                 for n in range(r["first"], r["last"] + 1)}
        assert len(alone) > 5 and alone <= shown
    few = ask("annotate", new, "sum", "--diff", base)["compared"]
    assert len(few) < len(rows)

"""annotate: lines of a function against addr2line, and where sources are found."""

import collections
import os
import shutil
import subprocess

import profiles
import pytest
from conftest import ask, run

SOURCE = """#include <cmath>
#include <vector>

static inline double price(double x)
{
\treturn std::sqrt(x) * 1.5 + x / 3.0;
}

__attribute__((noinline)) double sum(const std::vector<double> &v)
{
\tdouble s = 0;
\tfor (size_t i = 0; i < v.size(); i++) {
\t\ts += price(v[i]);
\t\tif (s > 1e9)
\t\t\ts -= 1e9;
\t}
\treturn s;
}

int main(int argc, char **)
{
\tstd::vector<double> v(1000, argc);
\treturn sum(v) > 5;
}
"""

needs_tools = pytest.mark.skipif(not all(map(shutil.which, ("g++", "nm", "addr2line"))),
                                 reason="needs g++ and binutils")


def build(folder, compiler="g++", *more):
    """The program, and a profile of it: address i of sum has weight i + 1."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.cpp").write_text(SOURCE)
    subprocess.run([compiler, "-O2", "-g", "-Wl,--build-id", "-o", "shop", "src/shop.cpp", *more], cwd=folder, check=True)
    return record(folder)


def symbol(binary, name):
    for line in subprocess.run(["nm", "-S", binary], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 4 and name in fields[3]:
            return int(fields[0], 16), int(fields[1], 16)
    raise AssertionError(name)


def record(folder):
    start, size = symbol(folder / "shop", "sum")
    main, _ = symbol(folder / "shop", "main")
    frame = {"dso": str(folder / "shop"), "func_resolved": False, "kind": "user"}
    at = [{**frame, "func": hex(a), "ip": hex(a)} for a in (*range(start, start + size), main + 9)]
    stacks = [([at[i], at[-1]], {"samples": 1, "period": i + 1}) for i in range(size)]
    (folder / "bare.spaa").write_text(profiles.text(stacks))
    run("symbolize", folder / "bare.spaa", "-o", folder / "p.spaa", code=0)
    return folder / "p.spaa", start, size


def truth(folder, start, size):
    """Lines of the physical function by addr2line: weight of each, and of what is inlined at it."""
    out = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", folder / "shop",
                          *(hex(start + i) for i in range(size))], capture_output=True, text=True, check=True).stdout
    lines, inlined = collections.Counter(), collections.Counter()
    for i, block in enumerate(out.split("\n0x") if not out.startswith("0x") else out[2:].split("\n0x")):
        rows = block.splitlines()[1:]
        place = rows[-1].split(" (")[0].rpartition(":")[2]
        line = int(place) if place.isdigit() else 0
        lines[line] += i + 1
        if len(rows) > 2:
            inlined[line] += i + 1
    return lines, inlined


@needs_tools
def test_weights_of_lines_are_those_of_addr2line(tmp_path):
    profile, start, size = build(tmp_path)
    answer = ask("annotate", profile, "sum", "-n", "0")
    lines, inlined = truth(tmp_path, start, size)
    got = {row["line"]: row["self"] for r in answer["ranges"] for row in r["lines"]}
    assert got == {k: v for k, v in lines.items() if k}
    there = collections.Counter()
    for row in answer["inlines"]:
        there[row["line"]] += row["self"]
    assert there == inlined and "price" in {row["short"] for row in answer["inlines"]}
    assert answer["self"] == sum(range(1, size + 1))
    assert answer["no_line"] == lines.get(0, 0)


@needs_tools
def test_ranges_have_text_path_and_compile_directory(tmp_path):
    profile, _, _ = build(tmp_path)
    answer = ask("annotate", profile, "sum")
    (best, *_) = answer["ranges"]
    assert best["path"] == str(tmp_path / "src" / "shop.cpp")
    assert best["comp_dir"] == str(tmp_path)
    assert best["file"] == "src/shop.cpp"
    assert best["text"].split("\n") == SOURCE.split("\n")[best["first"] - 1:best["last"]]
    (file, *_) = answer["files"]
    assert file["source"] == "recorded" and file["read"] == best["path"] and file["newer"] is False
    text = run("annotate", profile, "sum", code=0).out
    assert "s += price(v[i]);" in text and "price " in text and str(tmp_path / "src" / "shop.cpp") in text


@needs_tools
def test_rows_of_lines_have_path_and_compile_directory_in_json(tmp_path):
    profile, _, _ = build(tmp_path)
    rows = ask("top", profile, "--by", "line")["rows"] + ask("function", profile, "sum")["lines"]
    ours = [r for r in rows if "shop.cpp" in r["name"]]
    assert {(r["path"], r["comp_dir"]) for r in ours} == {(str(tmp_path / "src" / "shop.cpp"), str(tmp_path))}
    assert len(ours) > 4
    assert all("path" not in r for r in ask("top", profile)["rows"])
    assert str(tmp_path) not in run("top", profile, "--by", "line", code=0).out


@needs_tools
def test_the_whole_function_stands_once(tmp_path):
    profile, _, _ = build(tmp_path)
    out = run("annotate", profile, "sum", "--whole", "--context", "0", code=0).out
    for line in SOURCE.split("\n")[8:18]:
        assert line.strip() in out
    assert "⋮" not in out and "int main" not in out


@needs_tools
def test_moved_sources_are_found_where_they_are_said_to_be(tmp_path):
    old, new = tmp_path / "build", tmp_path / "home"
    profile, _, _ = build(old)
    (new / "src").mkdir(parents=True)
    os.rename(old / "src" / "shop.cpp", new / "src" / "shop.cpp")
    gone = ask("annotate", profile, "sum")
    assert gone["files"][0]["source"] is None and gone["ranges"][0]["text"] is None
    assert gone["ranges"][0]["path"] == str(old / "src" / "shop.cpp")
    assert str(old / "src" / "shop.cpp") in run("annotate", profile, "sum", code=0).out
    for where in ("%s=%s" % (old, new), new, new / "src", "%s/=%s/" % (old, new)):
        file = ask("annotate", profile, "sum", "--source-path", "/nowhere", "--source-path", where)["files"][0]
        assert (file["source"], file["read"].replace("//", "/")) == ("source-path", str(new / "src" / "shop.cpp"))
    half = str(old)[:-1]  # no component
    assert ask("annotate", profile, "sum", "--source-path", "%s=%s" % (half, new))["files"][0]["source"] is None


@needs_tools
def test_a_source_is_read_where_it_may_be(tmp_path):
    """Debug information may be a stranger's: below --symfs no link leads out, and devices are no sources."""
    profile, _, _ = build(tmp_path)
    source = tmp_path / "src" / "shop.cpp"
    root = tmp_path / "root"
    (root / str(source.parent).lstrip("/")).mkdir(parents=True)
    shutil.copy(tmp_path / "shop", root / str(tmp_path / "shop").lstrip("/"))
    copy = root / str(source).lstrip("/")
    copy.symlink_to("/etc/passwd")
    file = ask("annotate", profile, "sum", "--symfs", root)["files"][0]
    assert (file["source"], file["read"]) == ("recorded", str(source))
    copy.unlink()
    shutil.copy(source, copy)
    assert ask("annotate", profile, "sum", "--symfs", root)["files"][0]["read"] == str(copy)


@needs_tools
def test_a_source_that_is_newer_is_said(tmp_path):
    profile, _, _ = build(tmp_path)
    later = os.stat(tmp_path / "shop").st_mtime + 100
    os.utime(tmp_path / "src" / "shop.cpp", (later, later))
    assert ask("annotate", profile, "sum")["files"][0]["newer"] is True
    assert "written after the binary" in run("annotate", profile, "sum", code=0).out


@needs_tools
def test_a_lone_carriage_return_ends_a_line_as_for_the_compiler(tmp_path):
    """gcc counts it, and one before a newline with that."""
    build(tmp_path)
    source = b"// one\r// two\r\n" + SOURCE.replace("<cmath>\n", "<cmath>\r").encode()
    (tmp_path / "src" / "shop.cpp").write_bytes(source)
    subprocess.run(["g++", "-O2", "-g", "-Wl,--build-id", "-o", "shop", "src/shop.cpp"], cwd=tmp_path, check=True)
    profile, *_ = record(tmp_path)
    best = ask("annotate", profile, "sum")["ranges"][0]
    assert 15 in range(best["first"], best["last"] + 1)
    assert best["text"].split("\n") == ["// one", "// two", *SOURCE.split("\n")][best["first"] - 1:best["last"]]
    assert ask("annotate", profile, "sum")["files"][0]["read"] == str(tmp_path / "src" / "shop.cpp")


@pytest.mark.skipif(not shutil.which("clang++"), reason="needs clang")
def test_sources_of_the_debug_information(tmp_path):
    profile, _, _ = build(tmp_path, "clang++", "-gdwarf-5", "-gembed-source")
    os.unlink(tmp_path / "src" / "shop.cpp")
    answer = ask("annotate", profile, "sum")
    assert answer["files"][0]["source"] == "embedded" and answer["files"][0]["read"] is None
    assert "s += price(v[i]);" in answer["ranges"][0]["text"]


@needs_tools
def test_a_budget_keeps_the_heaviest_range(tmp_path):
    profile, start, size = build(tmp_path)
    lines, _ = truth(tmp_path, start, size)
    heaviest = max((v, k) for k, v in lines.items() if k)[1]
    for budget in (100, 900, 1500):
        answer = run("annotate", profile, "sum", "--json", "--budget", budget, code=0).out
        rows = ask("annotate", profile, "sum", "--budget", budget)
        assert budget < 900 or len(answer) <= budget * 3
        if budget >= 900:
            assert rows["ranges"][0]["first"] <= heaviest <= rows["ranges"][0]["last"]


@needs_tools
def test_a_budget_for_people_is_kept_and_used(tmp_path):
    """Lines stand in a column as wide as the longest: more tokens never show fewer lines, nor too much."""
    profile, _, _ = build(tmp_path)
    rows = 0
    for budget in range(340, 900, 40):
        answer = run("annotate", profile, "sum", "--budget", budget, code=0)
        assert len(answer.out) <= 3 * budget and "I617" not in answer.err, budget
        assert answer.out.count("\n") >= rows
        rows = answer.out.count("\n") - ("the heaviest" in answer.out)
    assert "the heaviest" not in answer.out


@needs_tools
def test_without_the_binary_lines_stand_alone(tmp_path):
    profile, _, _ = build(tmp_path)
    os.unlink(tmp_path / "shop")
    best = ask("annotate", profile, "sum")["ranges"][0]
    assert best["path"] is None and best["comp_dir"] is None and best["file"] == "src/shop.cpp"
    assert ask("annotate", profile, "sum", "--source-path", tmp_path)["ranges"][0]["text"]


def test_without_lines_it_says_so():
    answer = run("annotate", "-", "f", stdin="main;f 3\nmain 1\n", code=0).out
    assert "no lines are known" in answer
    assert run("annotate", "-", "absent", stdin="main;f 3\n").code == 1

"""Names are written by strangers: whatever stands in them is harmless in tables, Markdown, CSV and SVG, exact in JSON."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

import profiles
from conftest import ask, parse, run

NAMES = {
    "escape": "\x1b[31mred\x1b]0;title\x07", "newline": "a\nb\r\nc", "tab and nul": "a\tb\0c", "c1": "a\x9b31mb\x85c",
    "override": "abc\u202egfe\u2066x\u2069", "marks": "a\u200eb\u200fc\u061c", "separators": "a\u2028b\u2029c",
    "invisible": "a\u200bb\ufeffc\u00adz", "markup": "<script>alert('x')</script>&\"]]>", "pipe": "a|b`c*d_e\\|f",
    "formula": "=1+cmd|' /C calc'!A0", "comma": 'a,"b",c', "wide": "関数<größe>::ⅷ", "noncharacter": "a\ufffeb\U0010ffffc",
    "long": "x" * 5000, "empty": "", "tags": "a\U000e0041\U000e007fb",
}
FORBIDDEN = set(map(chr, [*range(0x20), *range(0x7f, 0xa0), 0x61c, 0x200b, 0x200e, 0x200f, 0xfeff, 0xfffe, 0x10ffff,
                          *range(0x2028, 0x202f), *range(0x2066, 0x206a), *range(0xe0000, 0xe0080)])) - {"\n"}


@pytest.fixture(params=sorted(NAMES))
def named(request, tmp_path):
    """A profile with the name wherever one can stand."""
    name = NAMES[request.param]
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text(
        [([{"func": name, "dso": "/lib/" + name, "srcline": name + ":1"}, "main"], 5,
          {"pid": 1, "tid": 2, "comm": name, "x_state": "RUNNABLE"}), (["other", "main"], 3, {"pid": 1, "tid": 3})],
        [profiles.event(name or "e")], tool=name,
        source={"tool": name, "command": name, "tool_version": name}))
    return name, path


def harmless(text):
    assert not FORBIDDEN & set(text), FORBIDDEN & set(text)


def test_tables(named):
    name, path = named
    for args in (["top", path], ["tree", path], ["summary", path], ["info", path], ["top", path, "--by", "dso"],
                 ["top", path, "--by", "line"], ["top", path, "--by", "thread"], ["top", path, "--by", "comm"],
                 ["flamegraph", path, "-o", path.parent / "x\x1b[7m\u202e.svg"]):
        answer = run(*args, code=0)
        harmless(answer.out + answer.err)
    rows = run("top", path, "--by", "comm").out.splitlines()
    head = next(i for i, row in enumerate(rows) if row.split()[:2] == ["self", "self%"])
    assert len(rows) - head == (3 if name else 2), "one line for each row"


def test_markdown(named):
    name, path = named
    out = run("top", path, "--format", "markdown", code=0).out
    harmless(out)
    table = [line for line in out.splitlines() if line.startswith("|")]
    assert len(table) == 5
    assert len({line.replace("\\\\", "").replace("\\|", "").count("|") for line in table}) == 1, "a cell is a cell"
    if "<" in name:
        assert "<script>" not in out.replace("\\<", "")


def test_csv(named):
    name, path = named
    out = run("top", path, "--format", "csv", code=0).out
    harmless(out.replace("\r\n", "\n"))
    rows = list(csv.reader(io.StringIO(out)))
    assert len(rows) == 4 and {len(r) for r in rows} == {10}
    assert not any(cell.startswith(("=", "@", "\t")) for r in rows for cell in r), "no formula for a spreadsheet"


def test_json_is_exact(named):
    name, path = named
    rows = ask("top", path)["rows"]
    assert rows[0]["function"] == name and rows[0]["dso"] == "/lib/" + name
    assert ask("top", path)["profile"]["event"] == (name or "e")
    assert ask("top", path, "--by", "comm")["rows"][0]["name"] == (name or "?")
    assert name in {n["name"] for n in ask("tree", path)["nodes"]}
    assert ask("info", path)["source"]["command"] == name
    assert "\n" not in run("top", path, "--json").out[:-1]


CONTROLS = set(map(chr, [*range(0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a)])) - {"\n"}


def test_json_has_no_controls(named):
    """A terminal shows it, too."""
    name, path = named
    for args in (["top", path, "--by", "dso"], ["tree", path], ["info", path], ["stacks", path], ["query", path, "SELECT name FROM functions"]):
        assert not CONTROLS & set(run(*args, "--json", code=0).out), args


def test_svg(named):
    name, path = named
    out = run("flamegraph", path, "-o", "-", "--title", name.replace("\0", "") or "x", code=0).out
    harmless(out)
    root = ElementTree.fromstring(out.encode())
    scripts = [e for e in root.iter() if e.tag.endswith("script")]
    assert all("alert('x')" not in (e.text or "") or "<script>alert" not in (e.text or "") for e in scripts)
    assert "<script>alert" not in out


def test_names_in_complaints_and_file_names(tmp_path):
    path = tmp_path / "a\x1b[31m\nb\u202e.spaa"
    path.write_bytes(b"\0\1\2")
    answer = run("top", path, code=3)
    harmless(answer.err)
    assert answer.err.count("\n") == 2
    path.write_text(profiles.text([(["f"], 1)]))
    for args in (["summary", path], ["top", path], ["flamegraph", path, "-o", "-"], ["top", path, path, "--by", "source"]):
        answer = run(*args, code=0)
        harmless(answer.out + answer.err)
    assert str(path) in parse(run("top", path, "--json", "--by", "source", path).out)["rows"][0]["name"]


def test_words_of_the_command_line_in_complaints():
    for word in ("\x1b[31mx", "a\nb", "\u202ex"):
        harmless(run(word, code=2).err)
        harmless(run("top", "--" + word, code=2).err)
        harmless(run("top", "x", "--by", word, code=2).err)


def test_folded_output_keeps_one_stack_a_line(named):
    name, path = named
    out = run("convert", path, "--to", "folded", "-o", "-").out
    assert len([line for line in out.split("\n") if line]) == 2


def test_spaa_output_is_exact(named, tmp_path):
    name, path = named
    out = run("convert", path, "--to", "spaa", "-o", "-", code=0).out
    profile = profiles.Profile(out)
    assert name in {f["func"] for f in profile.frames.values()}
    assert "/lib/" + name in {d["name"] for d in profile.dsos.values()}


def test_names_that_are_not_utf8_are_marked_and_harmless(tmp_path):
    path = tmp_path / "bytes.folded"
    path.write_bytes(b"main;caf\xe9;\xff\xfe\x80 5\n")
    for args in (["top", path], ["tree", path], ["top", path, "--format", "csv"]):
        answer = run(*args, code=0)
        answer.raw.decode("utf-8")
        harmless(answer.out)
    parse(run("top", path, "--json").raw.decode("utf-8"))
    converted = run("convert", path, "--to", "spaa", "-o", "-").raw.decode("utf-8")
    assert '"x_raw_hex":{"func":"636166e9"}' in converted
    back = tmp_path / "back.spaa"
    back.write_text(converted)
    assert run("convert", back, "--to", "spaa", "-o", "-").out == converted


def test_functions_of_scripts_are_one_whatever_compiled_them_and_have_short_names(tmp_path):
    """V8's tiers of one function, named or not, are one row; its place is that of the file's name, and line."""
    stacks = [(["JS:* /srv/app/render.js:12:27", "JS:*sortRows /srv/app/render.js:11:18", "main"], 3),
              (["JS:~ /srv/app/render.js:12:27", "JS:~sortRows /srv/app/render.js:11:18", "main"], 2),
              (["JS:^ /srv/app/a/x.js:1:1", "main"], 1), (["JS:^ /srv/app/a/x.js:1:9", "main"], 1)]
    path = tmp_path / "node.txt"
    path.write_text("".join("node 1 %d.0: 1 cycles:\n%s\n" % (i, "".join("\t%x %s+0x1 (/tmp/perf-1.map)\n" % (k + 16, f)
                                                                         for k, f in enumerate(frames)))
                            for i, (frames, n) in enumerate(stacks) for _ in range(n)))
    rows = {r["function"]: r["total"] for r in ask("top", path)["rows"]}
    assert rows == {"main": 7, "sortRows /srv/app/render.js:11:18": 5, "/srv/app/render.js:12:27": 5,
                    "/srv/app/a/x.js:1:1": 1, "/srv/app/a/x.js:1:9": 1}
    out = run("top", path, code=0).out
    for name in ["sortRows render.js:11", "render.js:12", "x.js:1:1", "x.js:1:9"]:  # a column where the line is no name
        assert re.search(r"  %s$" % re.escape(name), out, re.M), out
    assert ask("function", path, "sortRows")["function"]["function"] == "sortRows /srv/app/render.js:11:18"
    assert run("function", path, "sort", code=1)


def test_labels_of_flame_graphs_are_as_short_as_tables_names(tmp_path):
    (tmp_path / "x.folded").write_text("main;std::vector<int, std::allocator<int> >::push_back(int&&) 40\n"
                                       "main;v<int>::f(int) 30\nmain;v<long>::f(int) 30\n")
    svg = tmp_path / "x.svg"
    run("flamegraph", tmp_path / "x.folded", "-o", svg, code=0)
    text = svg.read_text()
    drawn = set(re.findall(r"<text x=[^>]*>([^<]*)</text></g>", text))
    assert {"std::vector&lt;…&gt;::push_back", "v&lt;int&gt;::f(int)", "v&lt;long&gt;::f(int)"} <= drawn
    assert "<title>std::vector&lt;int, std::allocator&lt;int&gt; &gt;::push_back(int&amp;&amp;): total" in text
    data = json.loads(re.search(r'id="sp-data">(.*?)</script>', text, re.S)[1])
    assert [data["labels"][int(k)] for k in data["shorts"]] == ["std::vector<int, std::allocator<int> >::push_back(int&&)"]
    run("flamegraph", tmp_path / "x.folded", "-o", svg, "--names", "full", code=0)
    assert "std::vector&lt;int, std::allocator" in re.sub(r"<title>.*?</title>", "", svg.read_text())
    run("flamegraph", tmp_path / "x.folded", "-o", svg, "--names", "brief", code=2)

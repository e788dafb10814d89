"""The forms of answers: JSON with the keys of the contract, CSV, Markdown, tables."""

import csv
import io
import re

import pytest

import profiles
from conftest import ask, run

DIAGNOSTIC = {"code", "severity", "file", "line", "offset", "path", "message", "hint"}
PROFILE = {"source_tool", "event", "metric", "unit", "samples", "view", "filters"}
QUALITY = {"unresolved_percent", "no_stack_percent", "frames_unresolved", "lost", "truncated"}
BYS = ["function", "line", "address", "dso", "thread", "process", "comm", "cpu", "state", "event", "source"]


@pytest.fixture
def spaa(tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text(
        [([{"func": "0x99", "func_resolved": False, "ip": "0x99", "dso": "[unknown]"}, "main"],
          {"samples": 3, "period": 1500000000}, {"pid": 1, "tid": 2, "cpu": 0, "comm": "app", "x_state": "RUNNABLE"}),
         (["write", "main"], {"samples": 7, "period": 2500}, {"pid": 1, "tid": 3, "comm": "b", "x_state": "WAITING"})],
        time_range={"start": 0, "end": 10, "unit": "seconds"},
        source={"tool": "perf", "command": "perf record ./x", "tool_version": "6.1"}))
    return path


def test_a_profile_without_stacks_is_said(spaa):
    """As one is that was cut before them."""
    spaa.write_text("".join(line + "\n" for line in spaa.read_text().splitlines() if '"type":"stack"' not in line.replace(": ", ":")))
    answer = run("top", spaa, "--strict", code=0)
    assert "no stacks [SPAA-I325]" in answer.out
    assert [d["code"] for d in ask("top", spaa)["diagnostics"]] == ["SPAA-I325"]


def types(answer, **wanted):
    for key, kind in wanted.items():
        assert isinstance(answer[key], kind), (key, answer[key])


@pytest.mark.parametrize("by", BYS)
def test_top_json(by, spaa):
    answer = ask("top", spaa, "--by", by, "--view", "all")
    assert list(answer)[:2] == ["schema", "profile"] and answer["schema"] == "spaa.top/3"
    assert {"whole", "rows", "omitted", "quality", "next", "diagnostics"} <= set(answer)
    assert PROFILE <= set(answer["profile"]) and QUALITY <= set(answer["quality"])
    assert set(answer["omitted"]) == {"rows", "self"} and answer["diagnostics"] == []
    assert answer["profile"]["filters"] == "--view all" and answer["profile"]["samples"] == 10
    types(answer, whole=int, rows=list, next=list)
    numbers = {"self", "self_percent", "total", "total_percent", "samples", "tags"}
    for row in answer["rows"]:
        assert numbers <= set(row)
        if by in ("function", "line", "address"):
            assert {"id", "function", "dso"} <= set(row) and re.fullmatch("f:[0-9a-f]{4,16}", row["id"])
        else:
            assert "name" in row and "function" not in row and "id" in row
    tags = {r.get("function"): r["tags"] for r in answer["rows"]}
    assert by not in ("function", "line", "address") or tags["0x99"] == ["unresolved"]


def test_ids_of_functions_are_the_same_in_every_answer_and_file(spaa, tmp_path):
    ids = {r["function"]: r["id"] for r in ask("top", spaa, "--view", "all")["rows"]}
    assert len(set(ids.values())) == 3
    assert {n["name"]: n["function"] for n in ask("tree", spaa, "--view", "all", "--min-percent", 0, "-n", 0)["nodes"][1:]} == ids
    other = tmp_path / "other.spaa"
    other.write_text(profiles.text([(["main"], 1)]))
    assert ask("top", other)["rows"][0]["id"] == ids["main"]


def test_tree_json(spaa):
    answer = ask("tree", spaa, "--view", "all", "--min-percent", 0, "-n", 0)
    assert answer["schema"] == "spaa.tree/3" and PROFILE <= set(answer["profile"])
    assert {"nodes", "whole", "omitted", "quality", "diagnostics"} <= set(answer)
    for n in answer["nodes"]:
        assert {"id", "parent", "depth", "name", "dso", "self", "total"} <= set(n)
    assert [(n["id"], n["parent"], n["name"]) for n in answer["nodes"]] == [
        (0, None, "all"), (1, 0, "main"), (2, 1, "0x99"), (3, 1, "write")]


def test_deep_trees_do_not_nest(tmp_path):
    path = tmp_path / "deep.folded"
    path.write_text(";".join("f%d" % i for i in range(5000)) + " 1\n")
    nodes = ask("tree", path, "-n", 0)["nodes"]
    assert len(nodes) == 5001 and nodes[-1]["depth"] == 5000
    assert run("flamegraph", path, "-o", "-", code=0).out


def test_summary_json(spaa):
    answer = ask("summary", spaa)
    assert answer["schema"] == "spaa.summary/4" and PROFILE <= set(answer["profile"])
    for key in ("by_thread", "by_dso", "hot", "heaviest_path", "quality", "next", "diagnostics", "whole"):
        assert key in answer
    assert answer["profile"]["view"] == "cpu" and all(c.startswith("spaa ") for c in answer["next"])


def test_info_json(spaa):
    answer = ask("info", spaa)
    assert answer["schema"] == "spaa.info/3"
    for key in ("source_tool", "format", "events", "threads", "processes", "dsos", "frames", "stacks", "time_range",
                "quality", "diagnostics", "granularity", "group_by"):
        assert key in answer
    e = answer["events"][0]
    assert {"name", "kind", "primary_metric", "unit", "samples", "whole"} <= set(e)
    assert (e["samples"], e["whole"], answer["format"], answer["source_tool"]) == (10, 1500002500, "spaa", "perf")
    assert answer["time_range"] == {"start": 0, "end": 10, "unit": "seconds"}


def test_validate_json(spaa, tmp_path):
    answer = ask("validate", spaa)
    assert set(answer) == {"schema", "valid", "errors", "warnings", "findings"}
    assert (answer["schema"], answer["valid"], answer["errors"]) == ("spaa.validate/1", True, 0)
    bad = tmp_path / "bad.spaa"
    bad.write_text(spaa.read_text().replace('"kind":"user"', '"kind":"usr"'))
    answer = ask("validate", bad, code=1)
    assert answer["valid"] is False and answer["errors"] >= 1
    assert {"code", "severity", "line", "offset", "path", "message", "hint"} <= set(answer["findings"][0])
    assert run("validate", bad, code=1).out.startswith("invalid: ") and run("validate", spaa, code=0).out


def test_validate_strict_counts_warnings(spaa, tmp_path):
    odd = tmp_path / "odd.spaa"
    odd.write_text(spaa.read_text().replace('"source_tool":"perf"', '"source_tool":"what"'))
    assert ask("validate", odd)["warnings"] == 1
    assert ask("validate", odd, "--strict", code=1)["valid"] is False
    ask("validate", spaa, "--strict")


def test_formats_json():
    answer = ask("formats")
    assert answer["schema"] == "spaa.formats/1"
    names = [f["name"] for f in answer["formats"]]
    assert {"spaa", "folded"} <= set(names) and len(set(names)) == len(names)
    for f in answer["formats"]:
        assert {"name", "title", "read", "write", "validate", "extensions", "options", "comes_back"} <= set(f)
        types(f, read=bool, write=bool, validate=bool, options=list, title=str)
        assert ask("formats", f["name"])["formats"] == [f]
        shown = run("formats", f["name"]).out
        assert all("--" + o["name"] in shown and o["help"] in shown for o in f["options"])
        assert f["name"] in run("formats").out


@pytest.mark.parametrize("command", ["top", "tree", "info", "formats"])
def test_csv_is_a_table_and_nothing_else(command, spaa):
    args = [command] if command == "formats" else [command, spaa]
    rows = list(csv.reader(io.StringIO(run(*args, "--format", "csv", code=0).out)))
    assert len(rows) > 1 and len({len(r) for r in rows}) == 1


def test_csv_has_plain_numbers(spaa):
    rows = list(csv.DictReader(io.StringIO(run("top", spaa, "--format", "csv", "--view", "all").out)))
    assert [(r["function"].split(" ")[0], r["self"], r["total"], r["samples"], r["dso"]) for r in rows] == [
        ("0x99", "1500000000", "1500000000", "3", "[unknown]"), ("write", "2500", "2500", "7", "/bin/app"),
        ("main", "0", "1500002500", "", "/bin/app")]
    assert all(re.fullmatch(r"\d+\.\d\d", r["self_percent"]) for r in rows)


def test_events_stand_side_by_side_with_their_units(tmp_path):
    path = tmp_path / "e.spaa"
    events = [profiles.event("cycles", "period"), profiles.event("my malloc", "alloc_bytes", "allocation", "event")]
    path.write_text(profiles.text([(["f"], {"samples": 3, "period": 30}), (["g"], {"samples": 9, "alloc_bytes": 800},
                                                                            {"event": "my malloc"})], events)
                    .replace('"value":800', '"value":800,"unit":"bytes"'))
    out = run("top", path, "--by", "event", code=0).out.splitlines()
    assert out[0] == "2 events, each in its own metric; shares are of its own whole"
    assert [line.split() for line in out[1:]] == [
        ["self", "self%", "total", "total%", "samples", "whole", "metric", "unit", "event"],
        ["800", "B", "100.00%", "800", "B", "100.00%", "9", "800", "B", "alloc_bytes", "bytes", "my", "malloc"],
        ["30", "100.00%", "30", "100.00%", "3", "30", "period", "cycles"]]
    rows = list(csv.DictReader(io.StringIO(run("top", path, "--by", "event", "--format", "csv", code=0).out)))
    assert [(r["id"], r["self"], r["unit"]) for r in rows] == [("my malloc", "800", "bytes"), ("cycles", "30", "")]
    answer = ask("top", path, "--by", "event", "-n", 1)
    assert answer["omitted"] == {"rows": 1, "self": None} and "--event 'my malloc'" in answer["next"][0]
    assert [r["name"] for r in ask("top", path, "--by", "event", "--metric", "period")["rows"]] == ["cycles"]
    assert ask("top", path, "--by", "event", "--metric", "perod", code=2)["error"]["code"] == "SPAA-E031"
    assert [r["name"] for r in ask("top", path, "--by", "event", "--event", "cycles")["rows"]] == ["cycles"]
    assert [r["name"] for r in ask("top", path, "--by", "event", "--focus", "^f$")["rows"]] == ["cycles"]
    assert ask("top", path, "--by", "event", "--focus", "^h$", code=1)["error"]["message"]
    assert "1 more events" in run("top", path, "--by", "event", "-n", 1, code=0).out


def test_csv_has_no_words_for_machines_to_trip_over(tmp_path):
    path = tmp_path / "m.spaa"
    path.write_text(profiles.text([(["f"], {"alloc_bytes": 8000000, "peak_bytes": 5})],
                                  [profiles.event("malloc", "alloc_bytes", "allocation", "event")]))
    rows = list(csv.DictReader(io.StringIO(run("tree", path, "--format", "csv").out)))
    assert [(r["total_percent"], r["total"], r["name"], r["elided"]) for r in rows] == [("100.00", "8000000", "f", "")]
    rows = list(csv.DictReader(io.StringIO(run("info", path, "--format", "csv").out)))
    assert [(r["samples"], r["whole"]) for r in rows] == [("", "8000000")]
    for command in ("top", "tree"):
        rows = list(csv.reader(io.StringIO(run(command, path, "--metric", "peak_bytes", "--format", "csv").out)))
        assert [cell for cell in rows[1] if cell and cell[:2] != "f:"] in (["f", "/bin/app"], ["f", "1"])


@pytest.mark.parametrize("command", ["top", "tree", "info", "formats"])
def test_markdown_is_one_table(command, spaa):
    args = [command] if command == "formats" else [command, spaa]
    out = run(*args, "--format", "markdown", code=0).out.splitlines()
    table = [line for line in out if line.startswith("|")]
    assert len(table) > 2 and re.fullmatch(r"\|([ :]?-+:? ?\|)+", table[1]), table[1]
    assert len({line.count("|") for line in table}) == 1
    at = out.index(table[0])
    assert out[at:at + len(table)] == table and (at == 0 or out[at - 1] == "")


def test_tables_say_what_was_left_out(folded):
    out = run("top", folded, "-n", 2, code=0).out.splitlines()
    assert len(out) == 5 and re.match(r"5 more rows with \d+\.\d\d% of self weight; -n 0 shows all", out[-1])
    assert "more" not in run("top", folded, "-n", 0).out
    out = run("tree", folded, "-n", 3, code=0).out.splitlines()
    assert len(out) == 7 and re.match(r"\d more subtrees with \d+\.\d\d% of total weight; marked ", out[-2])


def test_columns_that_say_nothing_are_left_out(tmp_path):
    """The binary that all rows are of stands in the title; samples that follow from self are left out. JSON has both."""
    def stacks(ratio, other):
        path = tmp_path / "s.spaa"
        path.write_text(profiles.text([
            ([{"func": "f", "dso": "/bin/app"}, {"func": "main", "dso": "/bin/app"}], {"samples": 10, "period": 1000}),
            ([{"func": "g", "dso": "/bin/app"}, {"func": "main", "dso": other}], {"samples": 10, "period": ratio})]))
        return path
    alike = stacks(1000, "/bin/app")
    head = run("top", alike, code=0).out.splitlines()[1]
    assert head.split() == ["self", "self%", "total", "total%", "id", "function", "of", "app"]
    assert "function of /bin/app" in run("top", alike, "--names", "full", code=0).out
    assert [(r["dso"], r["samples"]) for r in ask("top", alike)["rows"]][0] == ("/bin/app", 10)
    assert run("top", stacks(500, "/lib/other.so"), code=0).out.splitlines()[1].split() == [
        "self", "self%", "total", "total%", "samples", "id", "function", "dso"]


def test_rows_by_name_or_binary(tmp_path):
    """--rows takes rows away and changes no weight, in every form; nothing that matches is an answer of its own."""
    path = tmp_path / "r.spaa"
    path.write_text(profiles.text([
        ([{"func": "read_a", "dso": "/lib/libio.so"}, {"func": "main", "dso": "/bin/app"}], {"samples": 3, "period": 30}),
        ([{"func": "work", "dso": "/bin/app"}, {"func": "main", "dso": "/bin/app"}], {"samples": 9, "period": 70})]))
    every = {r["function"]: r for r in ask("top", path)["rows"]}
    answer = ask("top", path, "--rows", "^read|libio")
    assert answer["rows"] == [every["read_a"]] and answer["whole"] == 100
    assert answer["matching"] == {"regex": "^read|libio", "rows": 1, "of": 3}
    assert [r["function"] for r in ask("top", path, "--rows", "app$", "--sort", "total")["rows"]] == ["main", "work"]
    assert [r["name"] for r in ask("top", path, "--by", "dso", "--rows", "io")["rows"]] == ["/lib/libio.so"]
    assert ask("top", path, "--rows", "read", "--with", "samples")["rows"][0]["with"][0]["self"] == 3
    assert "--rows read: 1 of 3 rows" in run("top", path, "--rows", "read", code=0).out
    assert ask("query", path, "SELECT function FROM ask_top('--rows work')")["rows"] == [["work"]]
    assert "no row: nothing" in run("top", path, "--rows", "nothing", code=1).err
    assert run("top", path, "--rows", "(", code=2)


def test_tables_align(folded):
    out = run("top", folded, code=0).out.splitlines()
    head = out[1]
    end = head.index("self") + 4
    assert head.split() == ["self", "self%", "total", "total%", "samples", "id", "function"]  # no dso is known
    assert all(line[end - 1].isdigit() and line[end] == " " for line in out[2:])
    assert len({line.index("%") for line in out[2:]}) == 1


def test_time_is_shown_as_time(tmp_path):
    path = tmp_path / "t.spaa"
    path.write_text(profiles.text([(["f"], 1500000000), (["g"], 2500)]).replace(
        '"value":1500000000', '"value":1500000000,"unit":"ns"').replace('"value":2500', '"value":2500,"unit":"ns"'))
    out = run("top", path, code=0).out
    assert "1.5 s" in out and "2.5 us" in out
    answer = ask("top", path)
    assert answer["profile"]["unit"] == "ns" and answer["rows"][0]["self"] == 1500000000


def test_the_default_event_has_the_most_samples_and_is_named(tmp_path):
    path = tmp_path / "e.spaa"
    events = [profiles.event("lbr", "branches"), profiles.event("a", "samples"), profiles.event("b", "samples")]
    path.write_text(profiles.text([(["f"], {"branches": 9, "samples": 99}, {"event": "lbr"}), (["f"], 3, {"event": "a"}),
                                   (["g"], 5, {"event": "b"})], events))
    assert ask("top", path)["profile"]["event"] == "b"
    assert run("top", path).out.startswith("event b, metric samples, whole 5 samples; 2 other events")
    assert ask("top", path, "--event", "lbr")["whole"] == 9


def test_an_event_without_samples_is_an_answer(tmp_path):
    path = tmp_path / "e.spaa"
    path.write_text(profiles.text([(["f"], 3, {"event": "a"})], [profiles.event("a", "samples"), profiles.event("b", "count")]))
    assert [(e["name"], e["whole"], e["samples"]) for e in ask("info", path)["events"]] == [("a", 3, 3), ("b", 0, None)]
    for command in ("top", "tree", "summary"):
        answer = ask(command, path, "--event", "b")
        assert answer["whole"] == 0 and ask(command, path, "--event", "b", "--view", "all")["whole"] == 0
        run(command, path, "--event", "b", code=0)
        run(command, path, "--event", "b", "--user", code=1)


def test_other_tools_words_sort(spaa):
    for words in (("self", "flat", "own"), ("total", "cum")):
        assert len({run("top", spaa, "--sort", word).out for word in words}) == 1
    assert "self, total" in run("top", spaa, "--sort", "cumm", code=2).err

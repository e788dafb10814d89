"""Edges of call chains: what is known to be wrong in a stack stands beside it, in views and in files."""

import json

from conftest import ask, parse, run

HEADER = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
          "events": [{"name": "cpu-clock", "kind": "software",
                      "sampling": {"mode": "frequency", "primary_metric": "period", "frequency_hz": 99}}],
          "stack_id_mode": "content_addressable"}


def frame(number, name, inferred=False, **more):
    row = {"type": "frame", "id": number, "func": name, "dso": 1, **more, "kind": "user"}
    return {**row, "x_inferred": True} if inferred else row


def stack(name, frames, value, edges=None):
    weights = [{"metric": "samples", "value": value}, {"metric": "period", "value": value * 10, "unit": "ns"}]
    row = {"type": "stack", "id": name, "frames": frames, "stack_type": "unified", "context": {"event": "cpu-clock"},
           "weights": weights, "exclusive": {"frame": frames[0], "weights": weights}}
    return {**row, "x_edges": edges} if edges is not None else row


def write(tmp_path, name, frames, stacks):
    rows = [HEADER, {"type": "dso", "id": 1, "name": "/bin/app", "is_kernel": False}, *frames, *stacks]
    path = tmp_path / name
    path.write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in rows))
    return path


FRAMES = [frame(1, "leaf", ip="0x10"), frame(2, "mid", True), frame(3, "top", ip="0x20"), frame(4, "main", ip="0x30")]
BOTH = [{"at": 0, "inferred": 2}, {"at": 1, "broken": True}]


def stacks_of(text):
    rows = [parse(line) for line in text.splitlines()]
    names = {r["id"]: r["func"] for r in rows if r["type"] == "frame"}
    return [([names[f] for f in r["frames"]],
             [(e["at"], names[e["inferred"]] if "inferred" in e else "broken") for e in r.get("x_edges", [])],
             int(r["weights"][0]["value"])) for r in rows if r["type"] == "stack"]


def test_views_show_the_inferred_frame_and_the_break(tmp_path):
    a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, BOTH)])
    shown = run("tree", a, code=0).out
    rows = [line.split(" ns  ")[1].strip() for line in shown[shown.index("total%"):].splitlines()[1:] if " ns  " in line]
    assert rows == ["main", "[broken chain]", "top", "mid [inferred]", "leaf"]
    totals = {r["function"]: (int(r["total"]), int(r["self"])) for r in ask("top", a)["rows"]}
    assert totals == {"leaf": (30, 30), "mid": (30, 0), "top": (30, 0), "main": (30, 0), "[broken chain]": (30, 0)}


def test_what_writers_write_is_what_was_recorded(tmp_path):
    a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, BOTH)])
    assert run("convert", a, "--to", "folded", code=0).out == "main;top;leaf 30\n"
    for to, said in ("folded", True), ("speedscope", True), ("pprof", True), ("spaa", False):
        err = run("convert", a, "--to", to, "-o", tmp_path / "out", "--force", code=0).err
        assert ("callers that were inferred are not in them: 1 stack [SPAA-I324]" in err) == said, err
    plain = write(tmp_path, "plain.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3)])
    assert "I324" not in run("convert", plain, "--to", "folded", code=0).err


def test_edges_come_back(tmp_path):
    a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, BOTH)])
    once = run("convert", a, "--to", "spaa", code=0).out
    assert stacks_of(once) == [(["leaf", "top", "main"], [(0, "mid"), (1, "broken")], 3)]
    (tmp_path / "b.spaa").write_text(once)
    assert run("convert", tmp_path / "b.spaa", "--to", "spaa", code=0).out == once
    run("validate", tmp_path / "b.spaa", code=0)


def test_ids_do_not_know_of_edges(tmp_path):
    a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, BOTH)])
    b = write(tmp_path, "b.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3)])
    ids = [[r["id"] for r in map(parse, run("convert", x, "--to", "spaa", "--stack-ids", "content", code=0).out.splitlines())
            if r["type"] == "stack"] for x in (a, b)]
    assert ids[0] == ids[1]


def test_records_that_disagree_stay_apart(tmp_path):
    rows = [stack("0x1", [1, 3, 4], 3, BOTH), stack("0x2", [1, 5, 4], 1, [{"at": 1, "broken": True}])]
    a = write(tmp_path, "a.spaa", [*FRAMES, frame(5, "top", ip="0x21")], rows)
    assert stacks_of(run("convert", a, "--to", "spaa", "--frames", "function", code=0).out) == [
        (["leaf", "top", "main"], [(0, "mid"), (1, "broken")], 3), (["leaf", "top", "main"], [(1, "broken")], 1)]
    same = write(tmp_path, "b.spaa", [*FRAMES, frame(5, "top", ip="0x21")],
                 [stack("0x1", [1, 3, 4], 3, BOTH), stack("0x2", [1, 5, 4], 1, BOTH)])
    assert stacks_of(run("convert", same, "--to", "spaa", "--frames", "function", code=0).out) == [
        (["leaf", "top", "main"], [(0, "mid"), (1, "broken")], 4)]


def test_merging_keeps_inferred_callers(tmp_path):
    """What one record says, another does not take back; and the order of files makes no difference."""
    frames = [*FRAMES, frame(5, "other", True)]
    a = write(tmp_path, "a.spaa", frames, [stack("0x1", [1, 3, 4], 5, BOTH), stack("0x2", [1, 3, 4], 3, [{"at": 0, "inferred": 5}]),
                                           stack("0x3", [1, 3, 4], 2)])
    b = write(tmp_path, "b.spaa", FRAMES, [stack("0x1", [1, 3, 4], 1, BOTH)])
    alone = [[(0, "mid"), (1, "broken")], [(0, "other")], []]
    for options in ([], ["--frames", "function"]):
        one = stacks_of(run("merge", a, *options, "--to", "spaa", "-o", "-", code=0).out)
        assert one == [(["leaf", "top", "main"], e, n) for e, n in zip(alone, (5, 3, 2))]
        both = run("merge", a, b, *options, "--to", "spaa", "-o", "-", code=0).out
        assert stacks_of(both) == [(["leaf", "top", "main"], e, n) for e, n in zip(alone, (6, 3, 2))]
        assert stacks_of(run("merge", b, a, *options, "--to", "spaa", "-o", "-", code=0).out) == stacks_of(both)
        (tmp_path / "m.spaa").write_text(both)
        run("validate", "--strict", tmp_path / "m.spaa", code=0)
        assert stacks_of(run("merge", tmp_path / "m.spaa", *options, "--to", "spaa", "-o", "-", code=0).out) == stacks_of(both)


def test_hidden_frames_move_edges(tmp_path):
    a = write(tmp_path, "a.spaa", [*FRAMES, frame(5, "deep", ip="0x40")], [stack("0x1", [5, 1, 3, 4], 3, [
        {"at": 1, "inferred": 2}, {"at": 2, "broken": True}])])
    out = run("convert", a, "--to", "spaa", "--hide", "^leaf$", code=0).out
    assert stacks_of(out) == [(["deep", "top", "main"], [(0, "mid"), (1, "broken")], 3)]
    out = run("convert", a, "--to", "spaa", "--root-at", "top", code=0).out
    assert stacks_of(out) == [(["deep", "leaf", "top"], [(1, "mid")], 3)]


def test_edges_that_are_none_are_left_out(tmp_path):
    for edges in ([{"at": 2, "broken": True}], [{"at": 0, "inferred": 1}], [{"at": 1, "broken": True}, {"at": 0, "broken": True}]):
        a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, edges)])
        answer = run("convert", a, "--to", "spaa", code=0)
        assert stacks_of(answer.out)[0][1] == [] and "SPAA-W203" in answer.err
    kept = write(tmp_path, "b.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, ["other", 7])])
    assert '"x_edges":["other",7]' in run("convert", kept, "--to", "spaa", code=0).out


def test_what_is_inferred_in_part_says_so(tmp_path):
    frames = [*FRAMES, frame(5, "mid", ip="0x50")]
    a = write(tmp_path, "a.spaa", frames, [stack("0x1", [1, 3, 4], 3, [{"at": 0, "inferred": 2}]), stack("0x2", [1, 5, 3, 4], 1),
                                           stack("0x3", [3, 4], 1)])
    assert "mid [inferred in part]" in run("tree", a, code=0).out
    marks = {n["name"]: (n.get("inferred"), n.get("inferred_in_part")) for n in ask("tree", a)["nodes"]}
    assert marks == {"all": (None, None), "main": (None, None), "top": (None, None), "mid": (None, True), "leaf": (None, None)}
    answer = ask("function", a, "leaf")
    assert [(r["function"], r.get("inferred_in_part")) for r in answer["callers"]] == [("mid", True)]


def test_every_view_marks_inferred_frames(tmp_path):
    a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, BOTH)])
    assert {n["name"]: n["inferred"] for n in ask("tree", a)["nodes"] if "inferred" in n} == {"mid": True, "[broken chain]": True}
    assert ",mid,[inferred],4," in run("tree", a, "--format", "csv", code=0).out
    assert [(r["function"], r["inferred"]) for r in ask("function", a, "leaf")["callers"]] == [("mid", True)]
    assert [(r["function"], r["inferred"]) for r in ask("function", a, "top")["callers"]] == [("[broken chain]", True)]
    assert "mid [inferred]" in run("function", a, "leaf", code=0).out
    assert "    mid [inferred]" in run("stacks", a, code=0).out
    assert [f.get("inferred") for f in ask("stacks", a)["rows"][0]["frames"]] == [None, True, None, True, None]


def test_pictures_draw_inferred_frames_dashed(tmp_path):
    a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, BOTH)])
    svg = run("flamegraph", a, "-o", "-", code=0).out
    assert svg.count(", inferred</title>") == 2 and 'class="e0 d"' in svg and "inferred (italic, dashed)" in svg


def test_annotate_counts_inferred_callers_as_top_does(tmp_path):
    """They count in the total, at no line: nobody knows from where in the function they called."""
    frames = [*FRAMES, frame(5, "mid", ip="0x50", srcline="mid.c:7")]
    rows = [stack("0x1", [1, 3, 4], 3, BOTH), stack("0x2", [1, 5, 3, 4], 1), stack("0x3", [5, 3, 4], 1)]
    a = write(tmp_path, "a.spaa", frames, rows)
    for view in ("function", "annotate"):
        answer = ask(view, a, "mid")
        assert (int(answer["self"]), int(answer["total"]), answer["total_samples"]) == (10, 50, 5)
    assert (int(answer["inferred"]), int(answer["no_line_total"]), int(answer["no_line"])) == (30, 30, 0)
    out = run("annotate", a, "mid", code=0).out
    assert "at no known line: 30 ns (60.00%) of total, where it left no frame but is proven to stand: [inferred]" in out
    assert "no debug information" not in out
    assert [row.split(",")[2:4] for row in run("annotate", a, "mid", "--format", "csv", code=0).out.splitlines()][1:3] == [
        ["20", "40.00"], ["30", "60.00"]]
    both = ask("annotate", a, "mid", "--diff", a)["diff"]
    assert (int(both["base_total"]), int(both["base_inferred"])) == (50, 30)


def test_annotate_of_a_caller_that_was_inferred_everywhere(tmp_path):
    a = write(tmp_path, "a.spaa", FRAMES, [stack("0x1", [1, 3, 4], 3, BOTH)])
    answer = ask("annotate", a, "mid")
    assert int(answer["total"]) == int(answer["inferred"]) == int(ask("function", a, "mid")["total"]) == 30
    out = run("annotate", a, "mid", code=0).out
    assert "30 ns (100.00%) of total, where it left no frame" in out and "no debug information" not in out

"""Labels: as filters, as what tells stacks apart, as frames, in info and in SQL; on contexts and on samples."""

import json
import os
import shutil
import subprocess

import pytest

import gen_pprof as g
from conftest import parse, run

NAMES = {1: "main", 2: "work", 3: "io"}


def pprof(samples):
    """samples: (frames, leaf first; value; labels as (key, text or number, unit))"""
    coded = [{"locations": f, "values": [v, v * 10],
              "labels": [(k, x if isinstance(x, str) else None, 0 if isinstance(x, str) else x, u) for k, x, u in labels]}
             for f, v, labels in samples]
    return g.encode({"types": [("samples", "count"), ("cpu", "nanoseconds")], "mappings": [], "samples": coded,
                     "functions": [{"id": i, "name": n, "system_name": n, "file": "", "start_line": 0} for i, n in NAMES.items()],
                     "locations": [{"id": i, "address": 0, "mapping": 0, "lines": [(i, 0, 0)], "folded": 0} for i in NAMES]})


SAMPLES = [([2, 1], 3, [("route", "/a", ""), ("bytes", 64, "bytes")]), ([2, 1], 5, [("route", "/b", "")]),
           ([3, 1], 2, [("route", "/a", ""), ("route", "/c", "")]), ([3, 1], 7, [])]


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "x.pb"
    path.write_bytes(pprof(SAMPLES))
    return path


def on_samples(rows):
    """SPAA whose labels stand on samples only; rows: (stack, labels, fields of a tracepoint)."""
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
            "events": [{"name": "e", "kind": "probe", "sampling": {"mode": "event", "primary_metric": "count"}}],
            "time_range": {"start": 0, "end": 100, "unit": "seconds"}, "stack_id_mode": "content_addressable",
            "x_spaa": {"frames": "address", "group_by": ["pid"], "id": "xxh3-64/1"}}
    out = [head, {"type": "dso", "id": 1, "name": "/bin/x", "is_kernel": False}]
    out += [{"type": "frame", "id": i, "func": n, "dso": 1, "kind": "user"} for i, n in NAMES.items()]
    for s in sorted({r[0] for r in rows}):
        n = sum(r[0] == s for r in rows)
        out.append({"type": "stack", "id": f"s{s}", "frames": [s, 1], "stack_type": "unified", "context": {"pid": 1, "event": "e"},
                    "weights": [{"metric": "samples", "value": n}, {"metric": "count", "value": n}]})
    for i, (s, labels, fields) in enumerate(rows):
        context = {**({"trace_fields": fields} if fields else {}), **({"x_labels": labels} if labels else {})}
        out.append({"type": "sample", "timestamp": i, "pid": 1, "tid": 1, "cpu": 0, "event": "e", "period": 1,
                    "stack_id": f"s{s}", **({"context": context} if context else {})})
    return "".join(json.dumps(r) + "\n" for r in out)


ROWS = [(2, {"cgroup": "/web"}, {"dev": "sda", "sector": 8}), (2, {"cgroup": "/web"}, {"dev": "sdb", "sector": 9}),
        (2, {"cgroup": "/db"}, None), (3, None, {"dev": "sda", "sector": 8}), (3, None, None)]


@pytest.fixture
def sampled(tmp_path):
    path = tmp_path / "s.spaa"
    path.write_text(on_samples(ROWS))
    return path


def answer(*args):
    return json.loads(run(*args, "--json", code=0).out)


def kept(path, *args):
    return {r["name"]: r["self"] for r in answer("top", path, "-m", "samples", *args)["rows"] if r["self"]}


@pytest.mark.parametrize("filters, want", [
    (["route=/a"], {"work": 3, "io": 2}), (["route=/c"], {"io": 2}), (["route~^/[bc]$"], {"work": 5, "io": 2}),
    (["bytes=64"], {"work": 3}), (["bytes=64 bytes"], {"work": 3}), (["bytes~^6"], {"work": 3}),
    (["route=/a", "bytes~."], {"work": 3})])
def test_filters_of_contexts(labelled, filters, want):
    args = [x for f in filters for x in ("--label", f)]
    assert kept(labelled, *args) == want
    folded = run("convert", "-q", labelled, *args, "-m", "samples", "--to", "folded", "-o", "-", code=0).out
    assert {line.split(";")[-1].split()[0]: int(line.split()[-1]) for line in folded.splitlines()} == want
    assert sum(r["weight"] for r in answer("stacks", labelled, "-m", "samples", *args)["rows"]) == sum(want.values())


def test_a_filter_that_fits_nothing_says_what_there_is(labelled, sampled):
    assert "there are /a, /b" in run("top", labelled, "--label", "route=/x", code=None).err
    assert "did you mean route" in run("top", labelled, "--label", "rute=/a", code=None).err
    assert "cgroup" in run("top", sampled, "--label", "group=/web", code=None).err
    for bad in ("route", "=x", "route~("):
        assert run("top", labelled, "--label", bad, code=2).err


@pytest.mark.parametrize("label, want", [("cgroup=/web", {"work": 2}), ("dev=sda", {"work": 1, "io": 1}),
                                         ("sector=9", {"work": 1}), ("sector~^[89]$", {"work": 2, "io": 1})])
def test_filters_of_samples(sampled, label, want):
    assert kept(sampled, "--label", label) == want


def stacks(text):
    return [r for r in map(parse, text.splitlines()) if r["type"] == "stack"]


def test_labels_split_stacks_only_where_asked(sampled, tmp_path):
    whole = run("convert", "-q", sampled, "-o", "-", "--to", "spaa", code=0).out
    assert len(stacks(whole)) == 2 and whole.count('"type":"sample"') == len(ROWS)
    out = tmp_path / "o.spaa"
    run("convert", "-q", sampled, "--group-by", "pid,label:dev,label:sector", "-o", out, code=0)
    run("validate", out, code=0)
    text = out.read_text()
    found = {(r["context"].get("x_labels", {}).get("dev"), r["context"].get("x_labels", {}).get("sector"), r["frames"][0]):
             r["weights"][0]["value"] for r in stacks(text)}
    assert sorted(found.values()) == [1, 1, 1, 1, 1] and len(found) == 5
    assert parse(text.splitlines()[0])["x_spaa"]["group_by"] == ["pid", "label:dev", "label:sector"]
    assert run("convert", "-q", out, "-o", "-", "--to", "spaa", code=0).out == text
    # Coarser again: the same stacks and ids as of the file that never had them.
    back = run("convert", "-q", out, "--group-by", "pid", "-o", "-", "--to", "spaa", code=0).out
    want = run("convert", "-q", sampled, "--group-by", "pid", "-o", "-", "--to", "spaa", code=0).out
    assert sorted(r["id"] for r in stacks(back)) == sorted(r["id"] for r in stacks(want))
    assert "did you mean dev" in run("convert", sampled, "--group-by", "label:deva", "-o", "-", "--to", "spaa", code=1).err


def test_texts_make_ids_and_numbers_their_suffix(tmp_path):
    def ids(labels):
        path = tmp_path / "i.pb"
        path.write_bytes(pprof([([2, 1], 3, labels)]))
        return stacks(run("convert", "-q", path, "-o", "-", "--to", "spaa", code=0).out)[0]["id"]

    plain = ids([])
    assert "." not in plain
    assert ids([("k", "v", "")]) == ids([("k", "v", "")]) != plain and "." not in ids([("k", "v", "")])
    assert ids([("k", "v", ""), ("a", "b", "")]) == ids([("a", "b", ""), ("k", "v", "")])
    number = ids([("n", 5, "")])
    assert number.split(".")[0] == plain and number != ids([("n", 6, "")])


def folded(path, *args):
    out = run("convert", "-q", path, "-m", "samples", *args, "--to", "folded", "-o", "-", code=0).out
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in out.splitlines()}


def test_labels_as_frames(labelled, sampled):
    assert folded(labelled, "--tagroot", "route") == {
        "route:/a;main;work": 3, "route:/b;main;work": 5, "route:/a,/c;main;io": 2, "[no route];main;io": 7}
    assert folded(labelled, "--tagroot", "bytes,route", "--label", "route=/a") == {
        "bytes:64 bytes;route:/a;main;work": 3, "[no bytes];route:/a,/c;main;io": 2}
    assert folded(sampled, "--tagleaf", "dev") == {
        "main;work;dev:sda": 1, "main;work;dev:sdb": 1, "main;work;[no dev]": 1, "main;io;dev:sda": 1, "main;io;[no dev]": 1}
    tree = answer("tree", labelled, "-m", "samples", "--tagroot", "route", "--min-percent", "0")
    assert "route:/b" in json.dumps(tree)
    assert "route:/b" in run("flamegraph", labelled, "--tagroot", "route", "-o", "-", code=0).out
    rows = {r["name"]: r for r in answer("top", labelled, "-m", "samples", "--tagleaf", "route")["rows"]}
    assert rows["route:/b"]["self"] == 5 and rows["work"]["self"] == 0 and rows["work"]["total"] == 8
    assert rows["route:/b"]["dso"] == "[label]"
    assert "did you mean route" in run("tree", labelled, "--tagroot", "rout", code=None).err
    assert run("convert", labelled, "--lossless", "--tagroot", "route", "-o", "-", "--to", "spaa", code=2).err


def test_what_is_written_with_frames_is_valid(labelled, tmp_path):
    out = tmp_path / "o.spaa"
    run("convert", "-q", labelled, "--tagroot", "route", "--tagleaf", "bytes", "-o", out, code=0)
    run("validate", "--strict", out, code=0)


def test_info_lists_keys(labelled, sampled):
    rows = {r["key"]: r for r in answer("info", labelled)["labels"]}
    assert rows["route"]["values"] == 3 and rows["bytes"]["values"] == 1
    assert rows["route"]["percent"] == pytest.approx(100 * 10 / 17, abs=0.01) and rows["route"]["samples"] is None
    rows = {r["key"]: r for r in answer("info", sampled)["labels"]}
    assert rows["cgroup"] == {"key": "cgroup", "values": 2, "percent": 0, "samples": 3}
    assert rows["sector"]["values"] == 2 and rows["sector"]["samples"] == 3
    text = run("info", sampled, code=0).out
    assert "cgroup: 2 values, on 60.00% of samples" in text
    assert "route: 3 values, on 58.82% of the weight" in run("info", labelled, code=0).out


def test_the_table(labelled, sampled):
    rows = answer("query", labelled, "SELECT l.key, l.text, l.number, l.unit, w.value FROM labels l JOIN weights w "
                  "ON w.stack = l.stack AND w.metric = 'samples' ORDER BY 1, 2, 5")["rows"]
    assert [tuple(r.values()) if isinstance(r, dict) else tuple(r) for r in rows] == [
        ("bytes", "64", 64, "bytes", 3), ("route", "/a", None, None, 2), ("route", "/a", None, None, 3),
        ("route", "/b", None, None, 5), ("route", "/c", None, None, 2)]
    rows = answer("query", sampled, "SELECT key, text, count(*) FROM labels WHERE sample IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2")["rows"]
    assert [tuple(r.values()) if isinstance(r, dict) else tuple(r) for r in rows] == [
        ("cgroup", "/db", 1), ("cgroup", "/web", 2), ("dev", "sda", 2), ("dev", "sdb", 1), ("sector", "8", 2), ("sector", "9", 1)]


def test_merging_keeps_labels(labelled, tmp_path):
    out, again = tmp_path / "m.spaa", tmp_path / "n.spaa"
    run("merge", "-q", labelled, labelled, "-o", out, code=0)
    run("validate", out, code=0)
    assert kept(out, "--label", "route=/a") == {"work": 6, "io": 4}
    run("merge", "-q", "--group-by", "none", labelled, labelled, "-o", again, code=0)
    assert "x_labels" not in again.read_text() and len(stacks(again.read_text())) == 2


def test_go_agrees(labelled):
    """Where Go is: go tool pprof reads what we write, with the labels."""
    go = shutil.which("go")
    if not go:
        pytest.skip("no go")
    pb = labelled.parent / "back.pb"
    run("convert", "-q", labelled, "-o", labelled.parent / "a.spaa", code=0)
    run("convert", "-q", labelled.parent / "a.spaa", "--to", "pprof", "-o", pb, code=0)
    ask = lambda *a: subprocess.run([go, "tool", "pprof", "-sample_index=samples", *a, str(pb)], capture_output=True, text=True,
                                    timeout=300, env={**os.environ, "PPROF_TMPDIR": str(labelled.parent)})
    got = ask("-tags")
    if got.returncode:
        pytest.skip("go has no pprof: " + got.stderr.splitlines()[-1])
    assert "/a" in got.stdout and "/b" in got.stdout and "bytes" in got.stdout
    top = ask("-top", "-tagfocus=route=/b").stdout
    assert "5" in top and "work" in top and " io" not in top
    assert "/b" in ask("-traces", "-tagroot=route").stdout


@pytest.mark.parametrize("form", ["table", "markdown", "csv"])
@pytest.mark.parametrize("more", ["", ",function"])
def test_a_key_is_shown_as_safely_as_a_cell(form, more, tmp_path):
    """It is the title of a column."""
    key = "k\x1b[31m|<b>\nnew\u202e\r*"
    (tmp_path / "x.pb").write_bytes(pprof([([2, 1], 3, [(key, "a", "")]), ([3, 1], 2, [(key, "b", "")])]))
    out = run("top", tmp_path / "x.pb", "--by", f"label:{key}{more}", "--format", form, code=0).out
    assert not {"\x1b", "\r", "\u202e"} & set(out), out
    assert not any(line.startswith("new") for line in out.splitlines()), out
    if form == "markdown":
        title, rule = out.splitlines()[2:4]
        assert "label:k" in title and "\\|\\<b\\>" in title
        assert title.count("|") - title.count("\\|") == rule.count("|")

"""Contexts as labels of a pprof and back: what we write comes back as what it was, and what others call by the same
words stays a label. Times and the default type as pprof knows them."""

import json

import pytest

import gen_pprof as g
from conftest import parse, run


def spaa(contexts, **header):
    """One stack for each context."""
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
            "events": [{"name": "cycles", "kind": "hardware", "sampling": {"mode": "period", "primary_metric": "samples"}}]}
    head.update({k: v for k, v in header.items() if k != "x_spaa"})
    head.update({"stack_id_mode": "content_addressable",
                 "x_spaa": {"frames": "address", "group_by": ["pid", "tid", "comm", "cpu", "state"], **header.get("x_spaa", {})}})
    rows = [head, {"type": "dso", "id": 1, "name": "/bin/x", "is_kernel": False},
            {"type": "frame", "id": 1, "func": "f", "dso": 1, "kind": "user"}]
    for i, c in enumerate(contexts):
        rows.append({"type": "stack", "id": i, "context": {"event": "cycles", **c}, "stack_type": "unified", "frames": [1],
                     "weights": [{"metric": "samples", "value": i + 1}]})
    return "".join(json.dumps(r) + "\n" for r in rows)


def through(text):
    pb = run("convert", "-q", "-", "--from", "spaa", "--to", "pprof", "-o", "-", stdin=text, code=0).raw
    back = run("convert", "-q", "-", "--to", "spaa", "-o", "-", stdin=pb, code=0).raw
    again = run("convert", "-q", "-", "--to", "pprof", "-o", "-", stdin=back, code=0).raw
    assert g.content(g.decode(again)) == g.content(g.decode(pb))
    records = [parse(x) for x in back.decode().splitlines()]
    return g.decode(pb), records


def in_order(ways):
    return sorted(ways, key=lambda c: json.dumps(c, sort_keys=True))


def contexts(records):
    return in_order({k: v for k, v in r["context"].items() if k != "event"} for r in records if r["type"] == "stack")


WAYS = [{"pid": 7, "tid": 8, "comm": "worker", "x_state": "RUNNABLE"}, {"pid": 7, "tid": 9, "comm": "worker", "x_state": "WAITING"},
        {"pid": 7, "tid": 9, "comm": "main", "cpu": 0}, {"pid": 7, "x_source": "a.data"}, {"comm": "alone", "cpu": 3}, {}]


def test_what_we_write_comes_back_as_what_it_was():
    p, records = through(spaa(WAYS))
    assert contexts(records) == in_order(WAYS)
    assert records[0]["x_spaa"]["group_by"] == ["pid", "tid", "comm", "cpu", "state"]
    labels = {(k, t if t is not None else n) for s in p["samples"] for k, t, n, _ in s["labels"]}
    assert {("state", "WAITING"), ("thread", "worker"), ("pid", 7), ("tid", 9), ("cpu", 3), ("cpu", 0), ("source", "a.data")} <= labels
    assert p["comments"] == ["spaa labels: state=state cpu=cpu source=source"]
    assert "comments" not in records[0]["x_pprof"]


def test_states_count_in_views(tmp_path):
    path = tmp_path / "x.pb"
    path.write_bytes(run("convert", "-q", "-", "--from", "spaa", "--to", "pprof", "-o", "-", stdin=spaa(WAYS[:2]), code=0).raw)
    assert "WAITING" in run("top", path, "--by", "state", "--view", "all", code=0).out


def foreign(labels, comments=()):
    return g.encode({"types": [("cpu", "nanoseconds")], "mappings": [], "comments": list(comments),
                     "functions": [{"id": 1, "name": "f", "system_name": "f", "file": "", "start_line": 0}],
                     "locations": [{"id": 1, "address": 0, "mapping": 0, "lines": [(1, 0, 0)], "folded": 0}],
                     "samples": [{"locations": [1], "values": [3], "labels": labels}]})


@pytest.mark.parametrize("comments", [(), ("built by spaa",), ("spaa labels: cpu=cpu",)])
def test_labels_of_others_stay_labels(comments):
    data = foreign([("state", "CA", 0, ""), ("source", "web", 0, ""), ("thread", "t", 0, "")], comments)
    records = [parse(x) for x in run("convert", "-q", "-", "--to", "spaa", "-o", "-", stdin=data, code=0).raw.decode().splitlines()]
    assert contexts(records) == [{"comm": "t", "x_labels": {"source": "web", "state": "CA"}}]


def test_a_word_that_is_taken_is_not_ours():
    ways = [{"x_state": "WAITING", "x_labels": {"state": "CA"}}, {"x_labels": {"state": "NY"}}]
    old = [{"x_state": "WAITING", "x_pprof": {"labels": {"state": "CA"}}}, {"x_pprof": {"labels": {"state": "NY"}}}]
    assert contexts(through(spaa(old))[1]) == in_order(ways)
    p, records = through(spaa(ways))
    assert contexts(records) == in_order(ways)
    assert p["comments"] == ["spaa labels: state=x_state"]


def test_a_mark_that_is_damaged():
    for mark in ("spaa labels:", "spaa labels: ", "spaa labels: state=", "spaa labels: =x  cpu", "spaa labels: state=state\n"):
        data = foreign([("state", "CA", 0, "")], (mark,))
        run("convert", "-q", "-", "--to", "spaa", "-o", "-", stdin=data, code=0)
    data = foreign([("state", None, 4, ""), ("cpu", None, -1, ""), ("cpu", "x", 0, "")], ("spaa labels: state=state cpu=cpu",))
    records = [parse(x) for x in run("convert", "-q", "-", "--to", "spaa", "-o", "-", stdin=data, code=0).raw.decode().splitlines()]
    assert contexts(records) == [{"x_labels": {"cpu": [-1, "x"], "state": 4}}]


RANGE = {"start": 1700000000.5, "end": 1700000003.75, "unit": "seconds"}


def test_times():
    p, records = through(spaa([{}], time_range=RANGE, x_spaa={"clock": "CLOCK_REALTIME"}))
    assert (p["time_nanos"], p["duration_nanos"]) == (1700000000500000000, 3250000000)
    assert records[0]["x_spaa"]["duration"] == 3.25 and records[0]["time_range"]["start"] == 1700000000.5
    p, _ = through(spaa([{}], time_range=RANGE, x_spaa={"clock": "CLOCK_REALTIME", "duration": 2}))
    assert p["duration_nanos"] == 2000000000
    clock = {"x_perf": {"clock_data": {"clock": "CLOCK_MONOTONIC", "wall_ns": 1700000100000000000, "clock_ns": 4000000000}}}
    rng = {"start": 5.5, "end": 6, "unit": "seconds"}
    p, _ = through(spaa([{}], time_range=rng, x_spaa={"clock": "CLOCK_MONOTONIC"}, **clock))
    assert (p["time_nanos"], p["duration_nanos"]) == (1700000101500000000, 500000000)
    # Of a clock that nobody set against the wall's there is no date.
    p, _ = through(spaa([{}], time_range=rng, x_spaa={"clock": "perf_clock"}))
    assert not p.get("time_nanos") and p["duration_nanos"] == 500000000
    assert p["default_sample_type"] == "samples"

"""Processes, threads, images and waits: one form in SPAA, whatever the format; files with the earlier forms."""

import json
import os

import pytest

from conftest import ROOT, ask, parse, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures")
REPORTS = [("spindump", "heavy"), ("spindump", "timeline"), ("sample", "all")]


def text_of(kind, name):
    return os.path.join(FIXTURES, kind, "%s.%s.txt" % (name, kind))


def earlier(kind, name):
    """What the version before made of the same report."""
    return os.path.join(ROOT, "tests", "earlier", "%s-%s.spaa" % (kind, name))


def records(*args, **kwargs):
    return [parse(line) for line in run("convert", *args, "--to", "spaa", "-o", "-", code=0, **kwargs).out.splitlines()]


def without_id(text):
    head, rest = text.split("\n", 1)
    return json.loads(head)["x_spaa"].pop("id") and rest


@pytest.mark.parametrize("kind, name", REPORTS)
def test_files_with_the_earlier_forms_are_read_alike(kind, name):
    old, new = earlier(kind, name), text_of(kind, name)
    spaa = [run("convert", path, "--stack-ids", "content", "--to", "spaa", "-o", "-", code=0).out for path in (old, new)]
    assert "x_spindump_process" not in spaa[0] and "x_sample_process" not in spaa[0]
    assert without_id(spaa[0]) == without_id(spaa[1])
    for args in (["tree"] if kind == "sample" else ["waits", "--limit", "50"], ["top", "--by", "thread", "--view", "all"], ["top", "--by", "process", "--json"]):
        a, b = run(*args, old, code=0).out, run(*args, new, code=0).out
        assert a.replace(old, "X") == b.replace(new, "X")
    texts = [run("convert", path, "--to", kind, "-o", "-", code=0).out for path in (old, new)]
    assert texts[0] == texts[1]


def test_a_report_in_the_common_form():
    got = records(text_of("spindump", "heavy"))
    (process,) = [r for r in got if r["type"] == "x_spaa_process" and r["pid"] == 412]
    assert (process["name"], process["parent_pid"], process["suspended"]) == ("My (Odd) Editor [x", 1, True)
    assert (process["cpu_time_ns"], process["cycles"], process["instructions"]) == (940000000, 3300000000, 16000000000)
    assert process["footprint_bytes"] == 12006195 and process["x_spindump"]["footprint_before_bytes"] == 6569984
    images = {r["id"]: r for r in got if r["type"] == "x_spaa_image"}
    dyld = [images[n] for n in process["images"] if images[n]["name"] == "dyld"]
    assert dyld == [{"type": "x_spaa_image", "id": dyld[0]["id"], "start": "0x19df71000", "end": "0x19e010fff", "name": "dyld",
                     "path": "/usr/lib/dyld", "build_id": "0975afbac46b364cbd84a75daa9e455a",
                     "x_spindump": {"version": "(1335)"}}]
    assert [i["name"] for i in images.values() if i.get("kernel")] == ["kernel.release.t6041"]
    main = next(r for r in got if r["type"] == "thread" and r["tid"] == 4183300)
    assert main["x_spaa"] == {"queue": '"com.apple.main-thread"(1)', "priority": "31", "cpu_time_ns": 922000000,
                              "cycles": 3200000000, "instructions": 15400000000}
    waits = [r["context"]["x_wait"] for r in got if r["type"] == "stack" and "x_wait" in r["context"]]
    assert {"text": "blocked by turnstile waiting for Finder (x) [300] thread 0x777 after 1 hop", "on": "turnstile",
            "lock": True, "holder_name": "Finder (x)", "holder_pid": 300, "holder_tid": 1911, "hops": 1} in waits


HEAD = ('{"type":"header","format":"spaa","version":"1.0","source_tool":"x","frame_order":"leaf_to_root","events":[{"name":"e",'
        '"kind":"timer","sampling":{"mode":"period","primary_metric":"samples"}}],"stack_id_mode":"local",'
        '"x_spaa":{"frames":"address","group_by":["pid","tid","state"]}}')
DICT = ['{"type":"dso","id":1,"name":"a","is_kernel":false}', '{"type":"frame","id":1,"func":"f","dso":1,"kind":"user"}']
STACK = ('{"type":"stack","id":%d,"frames":[1],"stack_type":"unified","context":{"event":"e","pid":1,"tid":%d,'
         '"x_state":"BLOCKED"%s},"weights":[{"metric":"samples","value":%d}]}')


def of(*lines):
    return "\n".join([HEAD, *DICT, *lines]) + "\n"


def test_what_is_no_fact_is_kept_and_told():
    """Members of another type, unknown ones, images that are not there; at every place where facts stand."""
    lines = ['{"type":"thread","pid":1,"tid":1,"x_spaa":{"name":7,"queue":"q","new":{"a":[1]}},"x_other":1}',
             '{"type":"x_spaa_process","pid":"one","name":"p","images":[1,9],"frontmost":1,"x_mine":{}}',
             '{"type":"x_spaa_image","id":1,"start":"0X10","end":"0x1f","name":"i","hue":"red"}',
             STACK % (1, 1, ',"x_wait":{"text":"t","holder_pid":1.5,"why":"?"}', 3)]
    answer = run("convert", "-", "--to", "spaa", "-o", "-", stdin=of(*lines), code=0)
    assert "SPAA-W203" in answer.err and "9" not in answer.out.split('"images":')[1].split("]")[0]
    got = [parse(line) for line in answer.out.splitlines()]
    thread, process, image = (next(r for r in got if r["type"] == t) for t in ("thread", "x_spaa_process", "x_spaa_image"))
    assert thread["x_spaa"] == {"queue": "q", "name": 7, "new": {"a": [1]}} and thread["x_other"] == 1
    assert process == {"type": "x_spaa_process", "name": "p", "images": [1], "pid": "one", "frontmost": 1, "x_mine": {}}
    assert image == {"type": "x_spaa_image", "id": 1, "end": "0x1f", "name": "i", "start": "0X10", "hue": "red"}
    (stack,) = [r for r in got if r["type"] == "stack"]
    assert str(stack["context"]["x_wait"]) == str(parse('{"text":"t","holder_pid":1.5,"why":"?"}'))
    again = run("convert", "-", "--to", "spaa", "-o", "-", stdin=answer.out, code=0)
    assert again.out == answer.out


def test_the_validator_looks_at_records_of_facts(tmp_path):
    path = tmp_path / "x.spaa"
    good = ['{"type":"x_spaa_process","pid":1,"name":"p","frontmost":false,"images":[1]}',
            '{"type":"x_spaa_image","id":1,"start":"0x10","kernel":true}']
    bad = ['{"type":"x_spaa_process","pid":"1","name":7,"frontmost":1,"x_mine":[1]}', '{"type":"x_spaa_image","id":2,"start":16}']
    path.write_text(of(*good))
    before = ask("validate", path)["findings"]
    assert "SPAA-W203" not in [f["code"] for f in before]
    path.write_text(of(*good, *bad))
    answer = ask("validate", path)
    assert answer["valid"] and [(f["code"], f["path"]) for f in answer["findings"] if f["code"] == "SPAA-W203"] == [
        ("SPAA-W203", name) for name in ("pid", "name", "frontmost", "start")]


def test_waits_of_any_origin():
    """No hang report: a ring of locks told by members alone."""
    ring = ',"x_wait":{"text":"futex","on":"futex","lock":true,"holder_pid":1,"holder_tid":%d}'
    text = of(STACK % (1, 10, ring % 11, 3), STACK % (2, 11, ring % 10, 4), '{"type":"x_spaa_process","pid":1,"name":"app"}')
    answer = ask("waits", "-", stdin=text)
    assert answer["deadlocks"] == 1 and answer["waiting"] == 7
    assert {w["tid"]: w["waits"][0]["holder"]["tid"] for w in answer["waiters"]} == {10: 11, 11: 10}


def test_merged(tmp_path):
    """Processes as often as they came, images once, whatever the order of the inputs."""
    spaa = {}
    for n, (kind, name) in enumerate(REPORTS):
        spaa[name] = tmp_path / (name + ".spaa")
        run("convert", text_of(kind, name), "-o", spaa[name], code=0)
    out = []
    for order in (["heavy", "timeline", "heavy"], ["timeline", "heavy", "heavy"]):
        run("merge", *[spaa[n] for n in order], "-o", tmp_path / "m.spaa", code=0)
        out.append((tmp_path / "m.spaa").read_bytes())
    assert out[0] == out[1]
    assert run("validate", tmp_path / "m.spaa").code == 0
    merged, heavy = [[parse(line) for line in text.decode().splitlines()] for text in (out[0], spaa["heavy"].read_bytes())]

    def of_type(rows, kind):
        return [r for r in rows if r["type"] == kind]

    def images(rows, process):
        by = {r["id"]: {k: v for k, v in r.items() if k != "id"} for r in of_type(rows, "x_spaa_image")}
        return [by[n] for n in process.get("images", [])]

    seen = [json.dumps(i, default=str) for i in images(merged, {"images": [r["id"] for r in of_type(merged, "x_spaa_image")]})]
    assert len(set(seen)) == len(seen)
    for p in of_type(heavy, "x_spaa_process"):
        same = [m for m in of_type(merged, "x_spaa_process") if dict(m, images=0) == dict(p, images=0)]
        assert len(same) >= 2 and all(images(merged, m) == images(heavy, p) for m in same)


def test_tables_of_sql():
    """The same facts, joined; waits are those of `spaa waits`."""
    path = text_of("spindump", "heavy")

    def rows(sql, *options):
        return ask("query", path, sql, *options)["rows"]

    assert rows("SELECT kind, lock, holder_name, holder_tid, sum(weight) FROM stacks JOIN waits w ON w.id = stacks.wait",
                "--view", "all") == [["turnstile", 1, "Finder (x)", 1911, ask("waits", path)["waiting"]]]
    assert rows("SELECT pid, parent_pid, footprint_bytes, suspended, extra_json ->> '$.x_spindump.bundle' FROM processes "
                "WHERE name LIKE 'My%'") == [[412, 1, 12006195, 1, "com.example.editor"]]
    assert rows("SELECT name, priority, cycles FROM threads WHERE tid = 4183300") == [[None, "31", 3200000000]]
    got = rows("SELECT i.start, i.kernel, d.name FROM processes p JOIN process_images x ON x.process = p.id "
               "JOIN images i ON i.id = x.image LEFT JOIN dsos d ON d.build_id = i.build_id WHERE p.pid = 412")
    assert ["0x19df71000", 0, "dyld"] in got and ["0xfffffe0008860000", 1, "kernel.release.t6041"] in got


# ---- facts as labels, where they are asked for ----

def by_label(path, key, *more):
    return {None if r["name"] == "[no %s]" % key else r["name"]: r["self"] for r in
            ask("top", path, "--by", "label:" + key, "--view", "all", "-n", "0", *more)["rows"]}


@pytest.mark.parametrize("kind, name, want", [("spindump", "heavy", {"com.apple.main-thread": 10, None: 3}),
                                              ("sample", "all", {"com.apple.main-thread": 8, None: 2})])
def test_the_queue_of_a_thread_is_a_label(kind, name, want, tmp_path):
    """Of a report, of SPAA made of it that has threads, and of SPAA that has the label instead."""
    report, plain, split = text_of(kind, name), tmp_path / "plain.spaa", tmp_path / "split.spaa"
    run("convert", report, "-o", plain, code=0)
    run("convert", report, "--group-by", "state,label:queue", "-o", split, code=0)
    assert [by_label(path, "queue") for path in (report, plain, split)] == [want] * 3
    run("validate", split, code=0)
    header = json.loads(split.read_text().split("\n", 1)[0])
    assert "label:queue" in header["x_spaa"]["group_by"]
    assert not any("x_labels" in r.get("context", {}) for r in records(report)), "only where it is asked for"
    assert ask("top", report, "--label", "queue~main", "--view", "all")["kept"] == want["com.apple.main-thread"]
    assert by_label(plain, "queue", "--label", "queue=com.apple.main-thread") == {"com.apple.main-thread": want["com.apple.main-thread"]}


def test_a_report_without_queues_says_so():
    said = run("top", text_of("spindump", "timeline"), "--by", "label:queue")
    assert said.code == 1 and "no label is named queue" in said.err

"""Flame graphs by state, and the event wall: what threads did, on the CPU and off it."""

import json
import os
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import ask, run
from test_flamegraph_browser import CHROMIUM, DRIVER, SVG, Browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "formats"))
from perf_data_files import CALLCHAIN, CONTEXT, CPU, IDENTIFIER, IP, PERIOD, RAW, TID, TIME, Recording  # noqa: E402

FIELDS = ((b"char prev_comm[16]", 8, 16, 0), (b"pid_t prev_pid", 24, 4, 1), (b"int prev_prio", 28, 4, 1),
          (b"long prev_state", 32, 8, 1), (b"char next_comm[16]", 40, 16, 0), (b"pid_t next_pid", 56, 4, 1),
          (b"int next_prio", 60, 4, 1))
SWITCH = b"name: sched_switch\nID: 315\nformat:\n" + b"".join(
    b"\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % f for f in FIELDS) + b"\nprint fmt: \n"
COMMS = {0: b"swapper", 11: b"app", 12: b"worker", 30: b"kworker/0", 31: b"kworker/1"}
MS = 1000000
RUNNING, READY, BLOCKED, IDLE = 0, 1, 5, 6 # enum sp_state_class

# What these threads did from 0 to 100 ms, in ns. No two recorders of one run agree so well as one made by hand.
#   app       ran 10 ms and 1 ns, waited at 0x1010 to 25 ms, ran to 40 ms, waited there to the end
#   worker    ran 20 ms, was put off the CPU at 0x1020 for 15 ms, ran to the end
#   kworker/0 idle; kworker/1 idle but for the 15 ms
RAN = {"app": 25 * MS + 1, "worker": 85 * MS, "kworker/1": 15 * MS}
STATES = {"RUNNABLE": 125 * MS + 1, "WAITING": 75 * MS - 1, "RUN_QUEUE": 15 * MS, "IDLE": 185 * MS}
WHOLE = 400 * MS


def recording(path, clock="cpu-clock", switches=True):
    kinds = [(2, 315, IP | TID | TIME | CALLCHAIN | CPU | PERIOD | RAW | IDENTIFIER, {})]
    names = [b"sched:sched_switch"]
    if clock:
        kinds.append((1, 0, IP | TID | TIME | CALLCHAIN | CPU | PERIOD | IDENTIFIER, {"freq": 1000})
                     if clock == "cpu-clock" else (0, 0, IP | TID | TIME | CALLCHAIN | CPU | PERIOD | IDENTIFIER, {"freq": 99}))
        names.append(clock.encode())
    r = Recording(kinds)
    r.describe(names)
    r.features[1] = (bytes([23, 8, 68]) + b"tracing0.6\0" + bytes([0, 8]) + r.pack("I", 4096) + b"header_page\0" +
                     r.pack("Q", 0) + b"header_event\0" + r.pack("Q", 0) + r.pack("II", 0, 1) + b"sched\0" +
                     r.pack("I", 1) + r.pack("Q", len(SWITCH)) + SWITCH)
    for tid, comm in COMMS.items():
        r.comm(10 if tid in (11, 12) else tid, tid, comm, 1000 * MS)
    r.mmap2(10, 0x400000, 0x10000, 0, b"/opt/prog", 1000 * MS)

    def switch(ms, cpu, prev, state, to, ip=0x400010, more=0):
        raw = struct.pack("<HBBi", 315, 0, 0, prev) + COMMS[prev].ljust(16, b"\0") + struct.pack("<iiQ", prev, 120, state) + \
            COMMS[to].ljust(16, b"\0") + struct.pack("<ii", to, 120)
        chain = [CONTEXT["user"], ip, 0x400001] if prev in (11, 12) else [CONTEXT["kernel"], 0xFFFFFFFF81000100]
        r.sample(chain, pid=10 if prev in (11, 12) else prev, tid=prev, time=MS * (1000 + ms) + more, cpu=cpu, raw=raw)

    def sample(ms, cpu, tid, ip):
        r.sample([CONTEXT["user"], ip, 0x400001], pid=10, tid=tid, time=MS * (1000 + ms), cpu=cpu, event=1, period=MS)

    events = [(0, 0, 30, 0x402, 11), (0, 1, 31, 0x402, 12), (10, 0, 11, 1, 0, 0x400010, 1), (20, 1, 12, 0, 31, 0x400020),
              (25, 0, 0, 0, 11), (35, 1, 31, 0x402, 12), (40, 0, 11, 1, 0, 0x400010), (100, 0, 0, 0, 11),
              (100, 1, 12, 1, 0, 0x400020)]
    samples = [(2, 0, 11, 0x400030), (5, 0, 11, 0x400030), (30, 0, 11, 0x400040)]
    for e in sorted([(e[0], 0, e) for e in events if switches] + [(s[0], 1, s) for s in samples if clock]):
        (sample if e[1] else switch)(*e[2])
    path.write_bytes(r.bytes())
    return path


@pytest.fixture
def both(tmp_path):
    return recording(tmp_path / "both.perf.data")


def rows(file, by, *args):
    key = by if by == "function" else "name"
    return {r.get(key, r.get(by)): r["self"] for r in ask("top", file, "--event", "wall", "--by", by, "-n", 0, *args)["rows"]}


def drawing(path):
    """The script's data, and {path of names: (class, total, {state: weight})}."""
    root = ElementTree.parse(path).getroot()
    data = json.loads(next(e.text for e in root.iter(SVG + "script") if e.get("id") == "sp-data"))
    v, p, open_, out = data["frames"], 0, [], {}
    while p < len(v):
        up, label, code, total = v[p:p + 4]
        p += 4 + bool(code & 16) + bool(code & 32) + bool(code & 64)
        del open_[len(open_) - up:]
        open_.append(data["labels"][label])
        mask, states = v[p], {}
        p += 1
        for k in range(len(data["states"])):
            if mask >> k & 1 and mask & mask - 1:
                states[k] = v[p]
                p += 1
            elif mask >> k & 1:
                states[k] = total
        out["/".join(open_[1:])] = (total, states)
    return data, out


def draw(file, *args):
    out = file.parent / "out.svg"
    run("flamegraph", file, "-o", out, *args, code=0)
    return out


# ---- the event wall ----


def test_the_states_of_wall_are_what_threads_did(both):
    assert rows(both, "state") == STATES
    assert rows(both, "comm") == dict.fromkeys(["app", "worker", "kworker/0", "kworker/1"], 100 * MS)


def test_samples_are_scaled_to_the_time_that_a_thread_ran(both):
    ran = rows(both, "function", "--state", "RUNNABLE", "--comm", "app")
    # 1 to 2; the nanosecond that is left goes to the larger remainder
    assert sorted(v for v in ran.values() if v) == [8333334, 16666667]
    assert sum(ran.values()) == RAN["app"]


def test_running_that_was_not_sampled_has_a_frame_of_its_own(both):
    answer = ask("top", both, "--event", "wall", "--state", "RUNNABLE", "--by", "function,comm", "-n", 0)
    assert {r["comm"]: r["self"] for r in answer["rows"] if r["function"] == "[running, not sampled]"} == \
        {"worker": RAN["worker"], "kworker/1": RAN["kworker/1"]}


def test_switches_alone_make_wall_too(tmp_path):
    file = recording(tmp_path / "switch.perf.data", clock=None)
    assert rows(file, "state") == STATES
    answer = ask("top", file, "--event", "wall", "--state", "RUNNABLE")
    assert [(r["function"], r["self"]) for r in answer["rows"]] == [("[running, not sampled]", STATES["RUNNABLE"])]


def test_cycles_are_scaled_likewise(tmp_path):
    assert rows(recording(tmp_path / "cycles.perf.data", clock="cycles"), "state") == STATES


def test_a_profile_with_samples_keeps_what_wall_is_made_of(both, tmp_path):
    run("convert", both, "--samples", "-o", tmp_path / "x.spaa", code=0)
    assert rows(tmp_path / "x.spaa", "state") == STATES
    assert rows(tmp_path / "x.spaa", "function") == rows(both, "function")


def off_cpu(path, cpu, unit):
    """What `perf record --off-cpu` has: time off the CPU by stack, and a sampled event, without switches."""
    events = [{"name": n, "kind": "software", "sampling": {"mode": "event", "primary_metric": m}}
              for n, m in ((cpu, "period"), ("offcpu-time", "offcpu_ns"))]
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
            "events": events, "stack_id_mode": "local"}
    lines = [head, {"type": "dso", "id": 1, "name": "a", "is_kernel": False},
             {"type": "frame", "id": 1, "func": "f", "dso": 1, "kind": "user"}]
    for i, (event, metric, unit_, v) in enumerate(((cpu, "period", unit, 30), ("offcpu-time", "offcpu_ns", "ns", 70))):
        lines.append({"type": "stack", "id": f"s{i}", "frames": [1], "context": {"event": event, "pid": 1, "tid": 1},
                      "weights": [{"metric": metric, "value": v, **({"unit": unit_} if unit_ else {})}]})
    path.write_text("".join(json.dumps(x) + "\n" for x in lines))
    return path


def test_time_off_the_cpu_without_switches(tmp_path):
    file = off_cpu(tmp_path / "x.spaa", "cpu-clock", "ns")
    assert rows(file, "state") == {"RUNNABLE": 30, "WAITING": 70}
    assert drawing(draw(file, "--states"))[1]["f"] == (100, {RUNNING: 30, BLOCKED: 70})
    assert drawing(draw(file, "--event", "offcpu-time"))[1]["f"] == (70, {BLOCKED: 70})
    said = run("top", off_cpu(tmp_path / "y.spaa", "cycles", None), "--event", "wall", code=2).err
    assert "in ns and work on it in cycles, which do not add up" in said and "-e cpu-clock" in said


def test_a_part_of_the_time(both):
    """Each sample has its part of its stack, each interval the part that is in the range."""
    assert rows(both, "state", "--time", "0..") == STATES
    assert rows(both, "state", "--time", "0.03..0.05", "--comm", "app") == {"RUNNABLE": 8333334, "WAITING": 10 * MS}
    assert rows(both, "state", "--time", "0.03..0.05", "--comm", "worker") == {"RUN_QUEUE": 5 * MS, "RUNNABLE": 15 * MS}


def test_what_it_cannot_be_made_of_is_said(tmp_path):
    clock = recording(tmp_path / "clock.perf.data", switches=False)
    (tmp_path / "x.folded").write_text("a;b 1\n")
    for file in clock, tmp_path / "x.folded":
        said = run("top", file, "--event", "wall", code=2).err
        assert "SPAA-E036" in said and "perf record -a -g -e cpu-clock -e sched:sched_switch" in said
    assert "ask each file alone" in run("top", clock, clock, "--event", "wall", code=2).err


def test_an_event_of_that_name_is_itself(tmp_path):
    file = tmp_path / "x.spaa"
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "x", "frame_order": "leaf_to_root",
            "events": [{"name": "wall", "kind": "timer", "sampling": {"mode": "event", "primary_metric": "samples"}}],
            "stack_id_mode": "local"}
    lines = [head, {"type": "dso", "id": 1, "name": "a", "is_kernel": False},
             {"type": "frame", "id": 1, "func": "f", "dso": 1, "kind": "user"},
             {"type": "stack", "id": "s", "frames": [1], "context": {"event": "wall"}, "weights": [{"metric": "samples", "value": 7}]}]
    file.write_text("".join(json.dumps(x) + "\n" for x in lines))
    assert ask("top", file, "--event", "wall")["whole"] == 7


# ---- the picture ----


def test_the_picture_has_the_states_of_top(both):
    data, frames = drawing(draw(both, "--states", "--idle"))
    assert frames[""] == (WHOLE, {RUNNING: STATES["RUNNABLE"], READY: STATES["RUN_QUEUE"], BLOCKED: STATES["WAITING"],
                                  IDLE: STATES["IDLE"]})
    assert frames["app"] == (100 * MS, {RUNNING: RAN["app"], BLOCKED: 75 * MS - 1})
    assert frames["worker"] == (100 * MS, {RUNNING: 85 * MS, READY: 15 * MS})
    assert frames["worker/[running, not sampled]"] == (85 * MS, {RUNNING: 85 * MS})
    assert frames["kworker/0"] == (100 * MS, {IDLE: 100 * MS})
    assert data["states"][READY] == "waiting for a CPU" and data["title"] == "Time on the CPU and off it"
    for total, states in frames.values():
        assert sum(states.values()) == total


def test_waits_for_work_are_left_out_with_their_total(both):
    out = draw(both, "--states")
    frames = drawing(out)[1]
    assert frames[""][0] == WHOLE - STATES["IDLE"] and IDLE not in frames[""][1]
    assert "left out: idle 185 ms (--idle)" in out.read_text()


def test_states_are_chosen(both):
    assert drawing(draw(both, "--states", "--state", "WAITING,RUNNABLE"))[1][""] == \
        (200 * MS, {RUNNING: STATES["RUNNABLE"], BLOCKED: STATES["WAITING"]})
    assert drawing(draw(both, "--event", "wall", "--state", "IDLE"))[1][""] == (185 * MS, {IDLE: 185 * MS})


def test_switches_alone_are_drawn_as_time_off_the_cpu(tmp_path):
    file = recording(tmp_path / "switch.perf.data", clock=None)
    data, frames = drawing(draw(file))
    assert data["title"] == "Time off the CPU" and data["unit"] == "ns" and "event off-cpu" in data["subtitle"]
    assert frames[""] == (90 * MS - 1, {READY: 15 * MS, BLOCKED: 75 * MS - 1})


def test_a_sampled_clock_is_drawn_as_ever(both):
    text = draw(both).read_text()
    assert "event cpu-clock" in text and '"states"' not in text and "stateLetters" not in text and "sp-y0" not in text


def test_frames_of_one_state_have_its_pattern_and_others_a_strip(both):
    root = ElementTree.parse(draw(both, "--states")).getroot()
    classes = {}
    for g in root.iter(SVG + "g"):
        tip = g.find(SVG + "title")
        if tip is not None:
            classes[tip.text.split(":")[0]] = ([e.get("class") for e in g.findall(SVG + "rect")],
                                               [e.get("class") for e in g.findall(SVG + "path")], tip.text)
    assert classes["worker"][0] == ["r0"] and classes["worker"][1] == ["um", "ym"]
    assert "running 85,000,000 ns = 85 ms (85.00%), waiting for a CPU 15,000,000 ns = 15 ms (15.00%)" in classes["worker"][2]
    assert re.match("u", classes["[running, not sampled]"][0][0]) and classes["[running, not sampled]"][1] == []
    assert {e.get("id")[3:4] for e in root.iter(SVG + "pattern")} >= set("ylfsoz")
    assert "mixed: a strip tells the shares" in "".join(root.itertext())


def test_profiles_with_states_of_their_own(tmp_path):
    file = tmp_path / "x.codeguru.json"
    file.write_text(json.dumps({"callgraph": {"children": {"f": {"counts": {"RUNNABLE": 3, "WAITING": 5}}}}}))
    data, frames = drawing(draw(file, "--states"))
    assert frames["f"][1] == {RUNNING: 3, BLOCKED: 5}
    assert data["states"][0] == "RUNNABLE" # the source's word: it is not known that these ran


def test_a_comparison_has_the_same_waits_on_both_sides(both):
    out = draw(both, "--states", "--diff", both)
    data = json.loads(re.search(r'id="sp-data">(.*?)</script>', out.read_text(), re.S)[1])
    assert data["diff"] and "states" not in data
    assert str(WHOLE - STATES["IDLE"]) in map(str, data["frames"])
    assert set(c for c in re.findall(r'<rect class="([a-z])0', out.read_text().split("sp-legend")[0])) <= set("qr")


def test_it_is_the_same_each_time(both):
    assert draw(both, "--states").read_bytes() == draw(both, "--states").read_bytes()


# ---- in a browser ----

browsers = pytest.mark.skipif(not (os.path.exists(CHROMIUM) and os.path.exists(DRIVER)), reason="no chromium")


@browsers
def test_the_pointer_the_search_and_zoom(both):
    browser = Browser()
    try:
        browser.open(str(draw(both, "--states")))
        strips = "return document.querySelectorAll('#sp-frames path.um').length"
        assert browser.js(strips) == 1
        assert browser.frames()["worker"][0][3] == "r0"
        browser.at("worker")
        assert "running 85,000,000 ns = 85 ms (85.00% of it) · waiting for a CPU 15,000,000 ns = 15 ms (15.00% of it)" in browser.text("facts")
        browser.at("[running", click=True, nth=-1)
        assert browser.text("name") == "[running, not sampled]" and "running" in browser.text("facts")
        fills = browser.js("""return [...new Set([...document.querySelectorAll('#sp-frames rect')]
            .map(e => getComputedStyle(e).fill))]""")
        assert all(f and f != "none" for f in fills)
        browser.keys("/")
        browser.keys(*"not sampled")
        assert "matched" in browser.text("matched")
        assert browser.errors() == []
    finally:
        browser.close()

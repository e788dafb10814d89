"""Dumps of goroutines: against a plain reading of the same text, and what is none."""

import collections
import json
import os
import re

import pytest

from conftest import ROOT, ask, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "go_goroutines")
NAMES = ["states", "panic", "quit", "minutes", "old", "crlf"]


def fixture(name):
    return os.path.join(FIXTURES, name + ".txt")


def records(data, *args):
    out = run("convert", "-q", "-", "--from", "go-goroutines", "--to", "spaa", "-o", "-", *args, stdin=data, code=0)
    return [json.loads(line) for line in out.raw.decode().splitlines()]


def read(name):
    with open(fixture(name), "rb") as f:
        return f.read()


def plain(data):
    """[(number, status, functions leaf first)], by lines and their beginnings alone."""
    found, now = [], None
    for line in data.decode().replace("\r", "").split("\n"):
        head = re.match(r"goroutine (\d+)[^\[]* \[([^\],]*?)( \(scan\))?(, [^\]]*| labels:.*)?\]:$", line)
        if head:
            now = (int(head[1]), head[2].split(" labels:")[0], [])
            found.append(now)
        elif not line:
            now = None
        elif now and line.endswith("elided..."):
            now[2].append("[elided frames]")
        elif now and line[0] != "\t" and not line.startswith("created by") and line.endswith(")"):
            now[2].append(line[:line.rindex("(")])
    return found


def dumped(rows):
    frames = {r["id"]: r for r in rows if r["type"] == "frame"}
    for r in rows:
        if r["type"] == "stack":
            weight = {w["metric"]: w["value"] for w in r["weights"]}
            yield r["context"], [frames[i] for i in r["frames"]], weight


@pytest.mark.parametrize("name", NAMES)
def test_every_goroutine_with_its_frames(name):
    data = read(name)
    ours, truth = collections.Counter(), collections.Counter()
    for context, frames, weight in dumped(records(data)):
        ours[context["tid"], tuple(f["func"] for f in frames)] += weight["goroutine"]
    for number, _, functions in plain(data):
        truth[number, tuple(functions)] += 1
    assert ours == truth


@pytest.mark.parametrize("name", NAMES)
def test_statuses_are_kept(name):
    data = read(name)
    threads = {r["tid"]: r["x_go"] for r in records(data) if r["type"] == "thread"}
    statuses = {number: status for number, status, _ in reversed(plain(data))}
    assert {k: v["status"] for k, v in threads.items()} == statuses


def test_states_are_those_of_all_formats():
    states = {}
    for context, frames, _ in dumped(records(read("states"))):
        wait = context.get("x_wait", {})
        states.setdefault(wait.get("on"), set()).add(context["x_state"])
    assert states == {
        None: {"RUNNABLE", "RUN_QUEUE"}, "chan receive": {"WAITING"}, "chan send": {"WAITING"}, "select": {"WAITING"},
        "chan receive (nil chan)": {"WAITING"}, "chan send (nil chan)": {"WAITING"}, "select (no cases)": {"WAITING"},
        "IO wait": {"WAITING"}, "sleep": {"TIMED_WAITING"}, "sync.Mutex.Lock": {"BLOCKED"},
        "sync.RWMutex.RLock": {"BLOCKED"}, "sync.Cond.Wait": {"WAITING"}, "sync.WaitGroup.Wait": {"WAITING"}}


def test_the_runtimes_own_are_idle():
    idle = {c["x_wait"]["on"] for c, _, _ in dumped(records(read("quit"))) if c["x_state"] == "IDLE" and "x_wait" in c}
    assert {"force gc (idle)", "GC sweep wait", "GC scavenge wait", "finalizer wait", "cleanup wait"} <= idle


def test_what_is_waited_for_where_the_runtime_is_sure():
    texts = {c["x_wait"]["text"] for c, _, _ in dumped(records(read("states"))) if "x_wait" in c}
    said = {t.split(" 0x")[0]: t for t in texts if " 0x" in t}
    locks = re.findall(r"lockSlow\((0x[0-9a-f]+)\)", read("states").decode())
    assert said["sync.Mutex.Lock"] == "sync.Mutex.Lock " + locks[0]
    assert "sync.Cond.Wait" not in said  # sync.(*Cond).Wait(0x0?): an old value of a register


def test_places_and_inlined_frames():
    data = read("states")
    for context, frames, _ in dumped(records(data, "--group-by", "tid")):
        if context["tid"] != 24:
            continue
        lock = [f for f in frames if f["func"] == "sync.(*Mutex).Lock"][0]
        assert lock["inline_depth"] == 1 and lock["srcline"] == "/usr/local/go/src/sync/mutex.go:46"
        assert [f.get("inline_depth", 0) for f in frames] == [0, 0, 2, 1, 0]
        assert frames[-1]["srcline"] == "/src/stall/main.go:88" and frames[-1]["symoff"] == "0x34"
        return
    raise AssertionError("no goroutine 24")


def test_creators():
    threads = {r["tid"]: r for r in records(read("states")) if r["type"] == "thread"}
    assert threads[21]["x_go"] == {"status": "chan receive", "created_by": "main.goroutines",
                                   "created_at": "/src/stall/main.go:86", "created_in": 1}
    assert threads[21]["comm"] == "main.parkOn" and threads[1]["comm"] == "main.main"
    assert threads[36]["x_go"]["locked_to_thread"] is True
    threads = {r["tid"]: r for r in records(read("old")) if r["type"] == "thread"}
    assert threads[7]["x_go"]["created_by"] == "main.main" and "created_in" not in threads[7]["x_go"]
    assert threads[11]["x_go"]["stack_unavailable"] is True and threads[11]["x_go"]["scan"] is True
    assert "comm" not in threads[9]  # where it began was left out


def test_labels():
    labels = [c["x_labels"] for c, _, _ in dumped(records(read("panic"))) if "x_labels" in c]
    assert labels == [{"kind": "x", "tenant": "a b"}]


def test_minutes_are_about():
    """Go dates a wait to the collection of garbage before the one that saw it: no bound, and not said to be one."""
    waited = {c["comm"]: w.get("waited_about_ns") for c, _, w in dumped(records(read("minutes")))}
    assert waited == {"main.main": None, "main.early": 60 * 10**9, "main.late": 60 * 10**9}
    whole = sum(w.get("waited_about_ns", 0) for _, _, w in dumped(records(read("old"))))
    assert whole == 15 * 60 * 10**9


def test_frames_left_out_are_said():
    header = records(read("states"))[0]
    assert header["x_spaa"]["truncated"] == 1
    deep = [r for r in records(read("states")) if r["type"] == "thread" and "elided_frames" in r["x_go"]]
    assert [r["x_go"]["elided_frames"] for r in deep] == [51]


def test_views_take_all_but_the_idle():
    assert "whole 20; view latency keeps all" in run("top", fixture("states"), code=0).out


def test_waits_says_what_for():
    out = run("waits", fixture("states"), "-n", "0", code=0).out
    assert "18 of 20 count waited for something named" in out
    for what in ("IO wait", "sync.Mutex.Lock", "chan receive (nil chan)", "sleep"):
        assert what in out


@pytest.mark.parametrize("name", [n for n in NAMES if n != "damaged"])
def test_found_by_content(name):
    with open(fixture(name), "rb") as f:
        out = run("info", "-", stdin=f.read(), code=0)
    assert "Go's dump of goroutines" in out.out


@pytest.mark.parametrize("text", [
    'Full thread dump OpenJDK 64-Bit Server VM:\n\n"main" #1 prio=5 tid=0x1 nid=0x2 runnable [0x3]\n'
    "   java.lang.Thread.State: RUNNABLE\n\tat A.main(A.java:3)\n",
    "goroutine profile: total 2\n1 @ 0x40 0x41\n#\t0x40\tmain.f+0x1\t/a.go:1\n",
    "a goroutine 1 [running]: is what a panic says\nmain.main()\n\t/a.go:1\n" * 3,
    "# How to read it\n\nA dump begins with its state:\n\ngoroutine 1 [running]:\n\nand goes on below.\n",
    "main.main()\n\t/a.go:1 +0x1\n",
])
def test_other_texts_are_not_taken(text):
    out = run("info", "-", stdin=text.encode())
    assert "Go's dump of goroutines" not in out.out


def test_damage_is_counted():
    out = run("info", fixture("damaged"), "--from", "go-goroutines")
    assert "10 lines that are of no goroutine" in out.out and "SPAA-L301" in out.err and "SPAA-W311" in out.out


def test_a_dump_twice_is_said():
    out = run("info", "-", stdin=read("states") + b"\n" + read("states"))
    assert "20 goroutines stand more than once" in out.out


# Names that the compiler made

def goroutine(number, status, *functions):
    return (f"goroutine {number} [{status}]:\n" + "".join(f"{f}()\n\t/src/main.go:{i} +0x1d\n" for i, f in enumerate(functions)) +
            "created by main.main in goroutine 1\n\t/src/main.go:99 +0x88\n\n")


@pytest.mark.parametrize("functions, name", [
    (["sync.(*Mutex).Lock", "main.victim", "main.main.gowrap5"], "main.victim"),
    (["net/http.(*Server).Serve", "net/http.Serve", "main.main.gowrap1"], "net/http.Serve"),
    (["main.worker", "main.serve.func2", "main.serve.func2.gowrap1"], "main.worker"),
    (["time.Sleep", "main.main.func1"], "main.main.func1"),
    (["time.Sleep", "main.main.func14.1"], "main.main.func14.1"),
    (["time.Sleep", "example.com/a.func/b.Wait", "example.com/a.func/b.(*T).Run.func1.2"], "example.com/a.func/b.Wait"),
    (["runtime.gopark", "runtime.ensureSigM.func1"], "runtime.ensureSigM.func1"),
    (["main.worker2", "main.func1"], "main.worker2"),
    (["time.Sleep", "main.worker2"], "main.worker2"),
    (["main.main.gowrap1"], "main.main.gowrap1")])
def test_a_goroutine_is_called_by_a_function_of_the_program(functions, name, tmp_path):
    path = tmp_path / "dump.txt"
    path.write_text(goroutine(7, "chan receive", *functions))
    found = ask("query", path, "select comm from threads")["rows"]
    assert [r[0] for r in found] == [name]
    kept = run("convert", path, "--to", "spaa", "-o", "-", code=0).out
    assert ('"began_with":"%s"' % functions[-1] in kept) == (functions[-1] != name)


def test_functions_that_differ_in_digits_are_no_pool(tmp_path):
    path = tmp_path / "dump.txt"
    path.write_text("".join(goroutine(i, "chan receive", f) for i, f in enumerate(
        ["main.worker1", "main.worker2", "main.worker3", "main.main.func1", "main.main.func2", "main.main.func3"] + ["main.same"] * 3, 20)))
    out = run("waits", path, code=0).out
    assert "main.same (3)" in out and "*" not in out and "main.worker3 22" in out and "0x" not in out


RING = """goroutine 17 [sync.Mutex.Lock]:
sync.(*Mutex).Lock(0xc000012028)
	/usr/local/go/src/sync/mutex.go:46
main.first()
	/src/main.go:4 +0x6f

goroutine 18 [sync.Mutex.Lock]:
sync.(*Mutex).Lock(0xc000012020)
	/usr/local/go/src/sync/mutex.go:46
main.second()
	/src/main.go:5 +0x6f
"""


@pytest.mark.parametrize("first", ["", "fatal error: all goroutines are asleep - deadlock!\n\n", "panic: lost\n\n"])
def test_a_dump_says_no_holders_and_the_runtime_why_it_ended(tmp_path, first):
    """That there are no deadlocks is not known: the dump of a real ring looks like this."""
    path, kept = tmp_path / "d.goroutines", tmp_path / "d.spaa"
    path.write_text(first + RING)
    run("convert", path, "-o", kept, code=0)
    for f in path, kept:
        answer, text, brief = ask("waits", f), run("waits", f, code=0).out, run("summary", f, code=0).out
        assert answer["deadlocks"] is None and answer["fatal"] == (first.strip() or None)
        assert "0 deadlocks" not in text and "sync.Mutex.Lock 0xc000012028" in text
        assert ("DEADLOCK, says Go's runtime: fatal error: all" in text) == ("asleep" in first) == ("DEADLOCK" in brief)
        assert ("Go's runtime ended it: panic: lost" in text) == ("panic" in first)
        assert ("not known" in text) == ("asleep" not in first) and "CONTENTION" not in brief
    assert "SPAA-I321" not in [d["code"] for d in ask("waits", path)["diagnostics"]]

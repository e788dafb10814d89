"""`spaa top` of tracepoints that are taken in one place of the kernel: rows are of their fields, in words."""

import os
import struct
import sys

import pytest
from conftest import ROOT, parse, run

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import perf_data_files as files  # noqa: E402

MS = 1_000_000
SWITCH = ("sched", "sched_switch", 315, ((b"char prev_comm[16]", 8, 16, 0), (b"pid_t prev_pid", 24, 4, 1), (b"int prev_prio", 28, 4, 1),
          (b"long prev_state", 32, 8, 1), (b"char next_comm[16]", 40, 16, 0), (b"pid_t next_pid", 56, 4, 1)))
ENTER = ("raw_syscalls", "sys_enter", 400, ((b"long id", 8, 8, 1), (b"unsigned long args[6]", 16, 48, 0)))
EXIT = ("raw_syscalls", "sys_exit", 401, ((b"long id", 8, 8, 1), (b"long ret", 16, 8, 1)))
OTHER = ("probe", "f", 500, ((b"long id", 8, 8, 1),))


def recording(tmp_path, kinds, samples, arch=b"x86_64", threads=()):
    """A perf.data of these tracepoints: samples of (kind, tid, ms, raw data behind the common fields)."""
    r = files.Recording([(2, k[2], files.IP | files.TID | files.TIME | files.CPU | files.CALLCHAIN | files.PERIOD | files.RAW | files.IDENTIFIER, {})
                         for k in kinds])
    r.describe([("%s:%s" % k[:2]).encode() for k in kinds])
    systems = {}
    for k in kinds:
        text = b"name: %s\nID: %d\nformat:\n" % (k[1].encode(), k[2]) + b"".join(
            b"\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % f for f in k[3]) + b"\nprint fmt: \n"
        systems.setdefault(k[0].encode(), []).append(text)
    tracing = (bytes([23, 8, 68]) + b"tracing0.6\0" + bytes([0, 8]) + r.pack("I", 4096) + b"header_page\0" + r.pack("Q", 0) +
               b"header_event\0" + r.pack("Q", 0) + r.pack("II", 0, len(systems)))
    for name, formats in systems.items():
        tracing += name + b"\0" + r.pack("I", len(formats)) + b"".join(r.pack("Q", len(t)) + t for t in formats)
    r.features[1] = tracing
    r.features[6] = r.text(arch)
    for tid, name in threads:
        r.comm(10, tid, name, 1)
    for kind, tid, ms, raw in samples:
        r.sample([files.CONTEXT["kernel"], 0xffffffff81000010, files.CONTEXT["user"], 0x400010], pid=10, tid=tid, time=(ms + 1) * MS,
                 raw=struct.pack("<HBBi", kinds[kind][2], 0, 0, tid) + raw, event=kind)
    path = tmp_path / "recording.perf.data"
    path.write_bytes(r.bytes())
    return path


def switch(left, state, came=b"swapper/0"):
    return struct.pack("<16siiq16si", left, 11, 120, state, came, 0)


def rows(path, *options):
    return [(r["name"], r["self"]) for r in parse(run("top", path, "-q", "--json", *options, code=0).out)["rows"]]


def switch_rows(path, *options):
    """Of switches the default event is the time off the CPU."""
    return rows(path, "--event", "sched:sched_switch", *options)


POOL = [(11 + i, b"http-%d" % i) for i in range(3)] + [(10, b"app")]


@pytest.fixture
def switches(tmp_path):
    samples = [(0, 11 + i % 3, 10 + i, switch(b"http-%d" % (i % 3), 1)) for i in range(6)]
    samples += [(0, 10, 30, switch(b"app", 0x100)), (0, 10, 31, switch(b"app", 2)), (0, 10, 32, switch(b"app", 0x402)), (0, 10, 33, switch(b"app", 0x20))]
    return recording(tmp_path, [SWITCH], samples, threads=POOL)


def test_switches_are_of_pools_and_why_they_left(switches):
    assert switch_rows(switches) == [("http-* (3) / to sleep", 6), ("app / exited", 1), ("app / put off (it could go on)", 1),
                              ("app / to wait uninterruptibly", 1), ("app / without work (kernel thread)", 1)]
    text = run("top", switches, "-q", "--event", "sched:sched_switch", code=0).out
    assert text.startswith("10 switches (sched:sched_switch), by fields of the event: how many, not how long, which `spaa waits` says\n")
    assert "__schedule" not in text and "count" in text.splitlines()[1]


def test_what_comes_next_is_waits(switches):
    answer = parse(run("top", switches, "-q", "--json", "--event", "sched:sched_switch", code=0).out)
    assert answer["counted"] == "switches" and answer["next"][0] == f"spaa waits {switches}"
    assert answer["rows"][0]["label:prev_comm"] == "http-* (3)" and answer["rows"][0]["label:prev_state"] == "to sleep"


def test_filters_narrow_the_rows(switches):
    assert switch_rows(switches, "--comm", "http-*") == [("http-* (3) / to sleep", 6)]
    assert switch_rows(switches, "--time", "0.02..1")[0][1] == 1


def test_by_says_what_rows_are_of(switches):
    assert "counted" not in parse(run("top", switches, "-q", "--json", "--by", "function", "--event", "sched:sched_switch", code=0).out)
    raw = dict(rows(switches, "--by", "label:prev_state", "--event", "sched:sched_switch", "--view", "all"))
    assert raw == {"1": 6, "256": 1, "2": 1, "1026": 1, "32": 1}  # as recorded


def test_wakings_are_of_both(tmp_path):
    waking = ("sched", "sched_waking", 316, ((b"char comm[16]", 8, 16, 0), (b"pid_t pid", 24, 4, 1), (b"int prio", 28, 4, 1), (b"int target_cpu", 32, 4, 1)))
    path = recording(tmp_path, [waking], [(0, 10, 1 + i, struct.pack("<16siii", b"http-%d" % i, 11 + i, 120, 0)) for i in range(3)] +
                     [(0, 11 + i, 20 + i, struct.pack("<16siii", b"app", 10, 120, 0)) for i in range(3)], threads=POOL)
    assert rows(path) == [("app / http-* (3)", 3), ("http-* (3) / app", 3)]
    assert "spaa waits" not in run("top", path, "-q", code=0).out  # without switches nothing says how long


CALLS = [(0, 0), (0, 1), (202, 2), (999, 3)]


@pytest.mark.parametrize("arch, names", [(b"x86_64", ["read", "read", "futex", "call 999"]), (b"aarch64", ["io_setup", "io_setup", "accept", "call 999"]),
                                         (b"riscv64", ["call 0", "call 0", "call 202", "call 999"])])
def test_system_calls_have_the_names_of_the_recording(tmp_path, arch, names):
    path = recording(tmp_path, [ENTER], [(0, 10, i, struct.pack("<q48x", number)) for number, i in CALLS], arch, POOL)
    assert sorted(name for name, n in rows(path) for _ in range(n)) == sorted("app / " + name for name in names)


def test_diff_compares_calls(tmp_path):
    sides = []
    for side, calls in (("base", CALLS), ("new", [(202, 0), (202, 1), (202, 2)])):
        (tmp_path / side).mkdir()
        sides.append(recording(tmp_path / side, [ENTER], [(0, 10, i, struct.pack("<q48x", number)) for number, i in calls], threads=POOL))
    answer = parse(run("diff", *sides, "-q", "--json", "--budget", "100000", code=0).out)
    assert {(c["what"], c["base"], c["new"]) for c in answer["counted"]} == {("app read", 2, 0), ("app futex", 1, 3), ("app call 999", 1, 0)}
    text = " ".join(run("diff", *sides, "-q", code=0).out.split())
    assert "counted app futex 1 → 3" in text and "app read 2 → 0" in text and "app call 999 1 → 0" in text


def test_results_of_system_calls(tmp_path):
    results = [(0, 5), (0, -11), (0, -4), (257, -2), (257, -4000), (257, -512), (9, 0x7f0000000000)]
    path = recording(tmp_path, [EXIT], [(0, 10, i, struct.pack("<qq", *r)) for i, r in enumerate(results)], threads=POOL)
    assert {name for name, _ in rows(path)} == {"app / read / ok", "app / read / EAGAIN", "app / read / EINTR", "app / openat / ENOENT",
                                                "app / openat / error 4000", "app / openat / interrupted (restarts)", "app / mmap / ok"}


def test_other_tracepoints_keep_functions(tmp_path):
    path = recording(tmp_path, [OTHER], [(0, 10, i, struct.pack("<q", i)) for i in range(3)], threads=POOL)
    answer = parse(run("top", path, "-q", "--json", code=0).out)
    assert "counted" not in answer and "function" in answer["rows"][0]


def test_without_samples_functions_are_left(switches, tmp_path):
    kept = tmp_path / "kept.spaa"
    run("convert", switches, "-o", kept, "--event", "sched:sched_switch", code=0)
    assert "function" in parse(run("top", kept, "-q", "--json", "--event", "sched:sched_switch", code=0).out)["rows"][0]
    full = tmp_path / "full.spaa"
    run("convert", switches, "--samples", "-o", full, code=0)
    assert switch_rows(full) == switch_rows(switches)


def test_the_default_of_switches_is_time_with_and_without_samples(switches, tmp_path):
    """As of all other views; what counts them has to be asked for."""
    kept, full = tmp_path / "kept.spaa", tmp_path / "full.spaa"
    run("convert", switches, "-o", kept, code=0)
    run("convert", switches, "--samples", "-o", full, code=0)
    answers = [parse(run("top", f, "-q", "--json", code=0).out) for f in (switches, kept, full)]
    assert {a["profile"]["event"] for a in answers} == {"off-cpu"} and "counted" not in answers[0]
    assert answers[0]["whole"] == answers[1]["whole"] == answers[2]["whole"]


def test_text_of_perf_script_has_the_same_rows(tmp_path):
    """With its idle task, which does not wait."""
    line = "%s %d/%d [000] %d.0: sched:sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120\n\tffffffff81000010 __schedule ([kernel.kallsyms])\n\n"
    path = tmp_path / "switches.txt"
    path.write_text("".join(line % (a, p, p, t, a, p, state, b, q) for t, (a, p, state, b, q) in enumerate(
        [("app", 10, "S", "swapper/0", 0), ("swapper/0", 0, "R", "app", 10)] * 3 + [("app", 10, "D", "app2", 11), ("app2", 11, "R+", "app", 10)], 1)))
    assert switch_rows(path) == [("app / to sleep", 3), ("swapper/0 / no longer idle (its CPU)", 3), ("app / to wait uninterruptibly", 1),
                          ("app2 / put off (it could go on)", 1)]

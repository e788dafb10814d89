"""The brief of recordings with switches: what threads waited for, without waits for work; which recording would tell, of others."""

import os
import sys

import pytest
from conftest import ROOT, parse, run
from test_event_fields import POOL, SWITCH, recording, switch

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import perf_data_files as files  # noqa: E402

CLOCK = (1, 0, files.IP | files.TID | files.TIME | files.CALLCHAIN | files.PERIOD | files.IDENTIFIER, {"freq": 1000})


@pytest.fixture
def waiting(tmp_path):
    """Two threads take turns on a CPU, 10 ms each: both wait for it half of the time."""
    names, samples = {11: b"http-0", 12: b"http-1"}, []
    for i in range(10):
        left, came = (11, 12) if i % 2 else (12, 11)
        raw = bytearray(switch(names[left], 0x100, names[came]))
        raw[16:20], raw[48:52] = left.to_bytes(4, "little"), came.to_bytes(4, "little")
        samples.append((0, left, 10 * i, bytes(raw)))
    return recording(tmp_path, [SWITCH], samples, threads=POOL)


def test_the_brief_says_what_threads_waited_for(waiting):
    text = run("summary", waiting, "-q", code=0).out
    assert text.startswith("off-CPU ") and "\nwaited: for a CPU " in text and "LOCK CONTENTION" not in text
    assert f"next: spaa waits {waiting}" in text and "switches" not in text.split("\n")[0]


def test_the_same_as_facts(waiting):
    facts = parse(run("summary", waiting, "-q", "--json", code=0).out)
    assert facts["waits"]["runnable_ns"] >= 70_000_000 and facts["waits"]["blocked_ns"] == 0
    assert facts["profile"]["event"] == "off-cpu" and facts["waits"]["reasons"].startswith("for a CPU ")


def test_time_off_the_cpu_is_no_cpu_time(waiting):
    for command in ("summary", "top", "timeline"):
        text = run(command, waiting, "-q", code=0).out
        assert " CPU time" not in text and not text.startswith("CPU ")
    top = parse(run("top", waiting, "--by", "thread", "-q", "--json", code=0).out)
    assert top["profile"]["metric"] == "offcpu_ns" and top["profile"]["view"] == "latency"


def test_diff_compares_time_off_the_cpu(waiting, tmp_path):
    answer = parse(run("diff", waiting, waiting, "-q", "--json", code=0).out)
    assert "offcpu_ns" in str({k: v for k, v in answer.items() if k != "rows"})


def test_a_cpu_recording_says_which_would_tell_why_it_waited(tmp_path):
    def brief(ms):
        r = files.Recording([CLOCK])
        r.describe([b"cpu-clock"])
        r.features.update({6: r.text(b"x86_64"), 11: r.pack("I", 6) + b"".join(r.text(w) for w in (b"perf", b"record", b"-F", b"1000", b"-g", b"app"))})
        r.comm(10, 10, b"app", 1)
        for i in range(200):
            r.sample([files.CONTEXT["user"], 0x400010], time=(1 + i * ms) * 1_000_000, period=1_000_000)
        path = tmp_path / f"{ms}.perf.data"
        path.write_bytes(r.bytes())
        return run("summary", path, "-q", code=0).out
    asked = "settle it: perf record -a -g --switch-events -e sched:sched_switch,sched:sched_waking"
    assert "cannot know: why app waited: it had 200 ms of CPU in 1.99 s" in brief(10) and asked in " ".join(brief(10).split())
    assert "why app waited" not in brief(1)


def test_where_no_switch_was_recorded_waits_says_so(tmp_path):
    path = recording(tmp_path, [SWITCH], [], threads=POOL)
    text = " ".join(run("waits", path, "-q", code=0).out.split())
    assert "No switch of a thread was recorded" in text and "sched:sched_switch,sched:sched_waking" in text
    assert "deadlock" not in text
    facts = parse(run("waits", path, "-q", "--json", code=0).out)
    assert (facts["threads_seen"], facts["intervals"]) == (0, False)

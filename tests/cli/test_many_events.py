"""Profiles of many events: what is asked about each takes the time of its own stacks, not of all there are."""

import json
import os
import resource
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
from perf_data_files import ID, IP, PERIOD, TID, TIME, Recording  # noqa: E402

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
EVENTS = 20000
SECONDS = 20  # of a processor; by the square they take more than half a minute


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "many.perf-script.txt"
    with open(path, "w") as f:
        for i in range(EVENTS):
            f.write(f"prog 1 [000] {i + 1}.000000: {i + 7} ev{i}: \n\t{0x1000 + i:x} f{i}+0x1 (/bin/prog)\n\n")
    return path


def asked(*args):
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # noqa: E731
    done = subprocess.run([SPAA, *map(str, args)], capture_output=True, text=True, preexec_fn=limit, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_info_has_sums_of_each(many):
    events = json.loads(asked("info", many, "--json"))["events"]
    assert [e["name"] for e in events] == [f"ev{i}" for i in range(EVENTS)]
    assert all(e["samples"] == 1 and e["stacks"] == 1 and e["whole"] == i + 7 for i, e in enumerate(events))
    assert [e["name"] for e in events if e["default"]] == ["ev0"]


@pytest.mark.parametrize("how", [(), ("--thread", "1"), ("--focus", "f"), ("--comm", "prog")])
def test_top_has_a_row_of_each(how, many):
    rows = json.loads(asked("top", many, "--by", "event", "--json", "-n", "0", *how))["rows"]
    assert len(rows) == EVENTS and {r["samples"] for r in rows} == {1}


def test_a_recording_with_many_events_of_one_name(tmp_path):
    """Each gets a number behind its name; all from 2 on were tried for each."""
    r = Recording([(1, 0, IP | TID | TIME | ID | PERIOD, {}) for _ in range(EVENTS)])
    r.comm(5, 5, b"prog", 10)
    for i in range(EVENTS):
        r.sample([0x1000 + i], pid=5, tid=5, time=20 + i, event=i)
    (tmp_path / "perf.data").write_bytes(r.bytes())
    events = json.loads(asked("info", tmp_path / "perf.data", "--no-symbols", "--json"))["events"]
    assert [e["name"] for e in events] == ["cpu-clock"] + [f"cpu-clock#{i}" for i in range(2, EVENTS + 1)]
    assert {e["samples"] for e in events} == {1}

"""How long an answer may get: a kilobyte that names one long function thousands of times is no gigabyte of rows."""

import json
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))


def spaa(*args, status=0):
    run = subprocess.run([SPAA, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    assert run.returncode == status, run.stderr.decode()
    return run


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """A stack of 8000 frames of one function of 40 KB: 320 MB of names."""
    path = tmp_path_factory.mktemp("p") / "deep.spaa"
    rows = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
             "events": [{"name": "cycles", "kind": "hardware",
                         "sampling": {"mode": "period", "primary_metric": "samples"}}], "stack_id_mode": "local"},
            {"type": "dso", "id": 1, "name": "d", "is_kernel": False},
            {"type": "frame", "id": 1, "func": "N" * 40000, "func_resolved": True, "dso": 1, "ip": "0x10", "kind": "user"},
            {"type": "stack", "id": "s", "context": {"event": "cycles", "tid": 1}, "frames": [1] * 8000,
             "stack_type": "user", "weights": [{"metric": "samples", "value": 1}]}]
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return path


ALL = ["-n", "0", "--min-percent", "0"]


@pytest.mark.parametrize("args", [
    ["tree", *ALL], ["tree", *ALL, "--json"], ["tree", *ALL, "--format", "csv"], ["tree", *ALL, "--names", "full"],
    ["stacks", "--json"], ["stacks", "--format", "csv"], ["stacks", "--names", "full"]], ids=" ".join)
def test_out_of_all_proportion_it_is_a_limit(deep, args):
    run = spaa(args[0], deep, *args[1:], status=3)
    said = run.stderr.decode()
    assert "SPAA-E007" in said and "the answer would be more than" in said and "-n N" in said and "E008" not in said
    assert not run.stdout or json.loads(run.stdout)["error"]["code"] == "SPAA-E007"


def test_what_is_read_is_answered(deep):
    lines = spaa("stacks", deep).stdout.decode().splitlines()
    assert "×8000" in lines[-1] and all(len(line) <= 120 for line in lines)
    assert "…" in spaa("stacks", deep, "--format", "markdown").stdout.decode()
    assert "N…N" in spaa("tree", deep).stdout.decode()
    assert json.loads(spaa("tree", deep, *ALL, "--json", "--budget", "3000").stdout)["omitted"]
    assert json.loads(spaa("top", deep, "--json").stdout)["rows"][0]["function"] == "N" * 40000

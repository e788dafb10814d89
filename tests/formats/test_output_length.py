"""How long a text may get that is written of a profile: formats that spell out every stack would make gigabytes of
a few bytes which name one long function often."""

import json
import os
import subprocess

import pytest

import gen_pprof

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))
SPELLED = ["folded", "perf-script", "dtrace", "bpftrace", "codeguru", "spindump", "sample"]
SHARED = ["spaa", "pprof", "speedscope", "firefox"]


def spaa(*args, status=0):
    run = subprocess.run([SPAA, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    assert run.returncode == status, run.stderr.decode()
    return run


def convert(tmp_path, path, to, *args, status=0):
    out = tmp_path / "out" / to
    out.parent.mkdir(exist_ok=True)
    own = ["--start", "1"] if to == "codeguru" else []
    run = spaa("convert", path, "--to", to, *own, *args, "-o", out, status=status)
    if status:
        assert not list(out.parent.iterdir())
        return run.stderr.decode()
    size = out.stat().st_size
    out.unlink()
    return size


def profile(path, names, stacks):
    """Stacks are lists of numbers of names."""
    rows = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
             "events": [{"name": "cycles", "kind": "hardware",
                         "sampling": {"mode": "period", "primary_metric": "samples"}}], "stack_id_mode": "local"},
            {"type": "dso", "id": 1, "name": "d", "is_kernel": False}]
    rows += [{"type": "frame", "id": i, "func": name, "func_resolved": True, "dso": 1, "ip": hex(16 * i), "kind": "user"}
             for i, name in enumerate(names)]
    rows += [{"type": "stack", "id": f"s{i}", "context": {"event": "cycles", "tid": 1}, "frames": frames,
              "stack_type": "user", "weights": [{"metric": "samples", "value": 1}]} for i, frames in enumerate(stacks)]
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def one_stack(tmp_path_factory):
    """14 KB that name a function of 40 KB two thousand times: 80 MB."""
    return profile(tmp_path_factory.mktemp("p") / "one.spaa", ["N" * 40000], [[0] * 2000])


@pytest.fixture(scope="module")
def many_stacks(tmp_path_factory):
    """Each of 200 stacks is short enough."""
    stacks = [[1 + (k >> bit & 1) for bit in range(10)] + [0] * 9 for k in range(200)]
    return profile(tmp_path_factory.mktemp("p") / "many.spaa", ["N" * 40000, "a", "b"], stacks)


@pytest.mark.parametrize("to", SPELLED)
def test_one_stack_out_of_all_proportion_is_not_written(one_stack, tmp_path, to):
    said = convert(tmp_path, one_stack, to, status=3)
    assert "SPAA-E036" in said and "more than 80 MB" in said and "--expand" in said and "memory" not in said


@pytest.mark.parametrize("to", ["folded", "perf-script", "dtrace", "bpftrace"])
def test_many_stacks_are_not_written_either(many_stacks, tmp_path, to):
    said = convert(tmp_path, many_stacks, to, status=3)
    assert "SPAA-E036" in said and "more than 67 MB" in said and "--expand" in said


@pytest.mark.parametrize("to", SHARED)
def test_formats_that_say_a_name_once_are_not_concerned(one_stack, many_stacks, tmp_path, to):
    for path in (one_stack, many_stacks):
        assert convert(tmp_path, path, to) < 1 << 20


@pytest.mark.parametrize("to", ["spindump", "sample"])
def test_indentation_is_no_way_around_it(tmp_path, to):
    path = tmp_path / "deep.folded"
    path.write_text(";".join(["m"] * 10000) + " 1\n")
    said = convert(tmp_path, path, to, status=3)
    assert "SPAA-E036" in said and "more than 67 MB" in said


def test_standard_output_gets_nothing(one_stack, many_stacks):
    for path in (one_stack, many_stacks):
        assert spaa("convert", path, "--to", "folded", "-o", "-", status=3).stdout == b""


def test_it_is_written_where_that_is_asked_for(one_stack, many_stacks, tmp_path):
    assert convert(tmp_path, one_stack, "folded", "--expand") > 80000000
    assert convert(tmp_path, many_stacks, "folded", "--expand") > 72000000
    assert len(spaa("merge", many_stacks, one_stack, "--to", "folded", "--expand", "-o", "-").stdout) > 150000000
    assert "SPAA-E036" in spaa("merge", many_stacks, one_stack, "--to", "folded", "-o", "-", status=3).stderr.decode()


def test_a_packed_output_is_measured_by_its_text(many_stacks, tmp_path):
    out = tmp_path / "x.folded.zst"
    said = spaa("convert", many_stacks, "-o", out, status=3).stderr.decode()
    assert "SPAA-E036" in said and not out.exists()


def test_a_stack_too_long_for_any_line_is_a_limit_and_no_lack_of_memory(tmp_path):
    path = profile(tmp_path / "x.spaa", ["N" * 60000], [[0] * 10000])
    said = convert(tmp_path, path, "folded", "--expand", status=3)
    assert "SPAA-E007" in said and "600 MB" in said


# ---- names that rows share ----


def shared(path, n=3000, **long):
    """pprof has each text once: n locations whose function, file, binary or label is `long`."""
    types = [(long.get("metric", "samples"), "count")]
    made = {"types": types, "mappings": [{"id": 1, "start": 0, "limit": 1 << 30, "offset": 0, "file": long.get("binary", "/b"), "build_id": "", "has": [1] * 4}],
            "functions": [{"id": 1, "name": long.get("name", "f"), "system_name": "", "file": long.get("file", "a.c"), "start_line": 0}],
            "locations": [{"id": i, "mapping": 1, "address": 16 * i, "lines": [(1, i, 0)], "folded": 0} for i in range(1, n + 1)],
            "samples": [{"locations": [i], "values": [1], "labels": [("k", long["label"], 0, "")] if "label" in long else []} for i in range(1, n + 1)]}
    path.write_bytes(gen_pprof.encode(made))
    return path


@pytest.mark.parametrize("what", ["name", "file", "binary", "label", "metric"])
@pytest.mark.parametrize("command", [["top"], ["info"], ["convert", "--to", "spaa", "-o", "-"], ["convert", "--to", "folded", "-o", "-"]])
def test_a_long_name_that_thousands_of_rows_share_is_a_limit(tmp_path, what, command):
    """600 KB took 1.4 to 4.3 GB of memory, and became 3 GB of SPAA."""
    path = shared(tmp_path / "x.pb", **{what: "N" * 500000})
    done = spaa(*command, path, status=3)
    assert done.stdout == b"" and b"SPAA-E007" in done.stderr and b"names that rows share" in done.stderr
    assert (b"MiB of source lines" in done.stderr) == (what == "file")


def test_names_that_real_code_has_are_no_matter(tmp_path):
    path = shared(tmp_path / "x.pb", n=2000, name="N" * 60000, file="F" * 4000)
    assert spaa("top", path).stderr == b""
    assert convert(tmp_path, path, "spaa") > 120000000

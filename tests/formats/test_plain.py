"""convert --plain: nothing but what the specification names, for readers that refuse what they do not know."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from conftest import parse, run

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"

# The specification's text, 3 to 5.2: what a record may and must have.
FIELDS = {
    "header": ({"format", "version", "source_tool", "frame_order", "events", "stack_id_mode"}, {"time_range", "source"}),
    "event": ({"name", "kind", "sampling"}, {"allocation_tracking"}),
    "sampling": ({"mode", "primary_metric"}, {"sample_period", "frequency_hz"}),
    "allocation_tracking": (set(), {"tracks_frees", "has_timestamps"}),
    "time_range": ({"start", "end"}, {"unit"}), "source": (set(), {"tool", "command", "tool_version"}),
    "dso": ({"id", "name"}, {"build_id", "is_kernel"}),
    "frame": ({"id", "func", "dso", "kind"}, {"func_resolved", "ip", "symoff", "srcline", "srcline_resolved", "inlined", "inline_depth"}),
    "thread": ({"pid", "tid"}, {"comm"}),
    "stack": ({"id", "frames", "context", "weights"}, {"stack_type", "exclusive", "related_stacks"}),
    "context": ({"event"}, {"pid", "tid", "cpu", "comm", "probe", "execname", "uid", "zonename", "trace_fields"}),
    "probe": (set(), {"provider", "module", "function", "name"}),
    "weight": ({"metric", "value"}, {"unit"}), "exclusive": ({"frame", "weights"}, set()),
    "sample": ({"timestamp", "pid", "tid", "cpu", "event", "stack_id"}, {"period", "context"}),
    "sample_context": (set(), {"event", "pid", "tid", "cpu", "comm", "probe", "execname", "uid", "zonename", "trace_fields"}),
    "window": ({"id", "start", "end", "by_stack"}, {"unit"}), "by_stack": ({"stack_id", "weights"}, set()),
}
INNER = {"events": "event", "weights": "weight", "by_stack": "by_stack"}


def strict(value, kind):
    must, may = FIELDS[kind]
    names = set(value) - {"type"}
    assert must <= names <= must | may, (kind, value)
    for name, x in value.items():
        if name == "trace_fields":
            continue
        inner = "sample_context" if (kind, name) == ("sample", "context") else INNER.get(name, name)
        for item in x if isinstance(x, list) else [x]:
            if isinstance(item, dict):
                strict(item, inner)


def plain(path, *args):
    r = run("convert", path, "--no-symbols", "--plain", *args, "--to", "spaa", "-o", "-", code=0)
    return r.out, r.err


INPUTS = ["perf_data/rich.perf.data", "perf_data/switch.perf.data", "pprof/heap.pb.gz", "pprof/cpu.pb",
          "spindump/timeline.spindump.txt", "folded/marks.folded"]


@pytest.mark.parametrize("name", INPUTS)
def test_only_what_the_specification_names(name, tmp_path):
    text, said = plain(FIXTURES / name, "--samples")
    for line in text.splitlines():
        record = parse(line)
        assert record["type"] in ("header", "dso", "frame", "thread", "stack", "sample", "window")
        strict(record, record["type"])
        assert not isinstance(record.get("stack_id", ""), int)
    assert "x_spaa (1)" in said
    out = tmp_path / "p.spaa"
    out.write_text(text)
    run("validate", out, code=0)
    whole = run("convert", "-q", FIXTURES / name, "--no-symbols", "--to", "spaa", "-o", "-", code=0).out
    assert text.count('"type":"stack"') == whole.count('"type":"stack"')


HEAD = ('{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"e",'
        '"kind":"software","sampling":{"mode":"event","primary_metric":"samples","x_why":1}}],"stack_id_mode":"local","x_mine":{}}\n'
        '{"type":"dso","id":1,"name":"d","is_kernel":false,"mine":2}\n{"type":"frame","id":1,"func":"f","dso":1,"kind":"user"}\n'
        '{"type":"stack","id":7,"frames":[1],"context":{"event":"e","cpu":1,"x_labels":{"a":"b"},"trace_fields":{"x_k":[1,{"y":2}]}},'
        '"weights":[{"metric":"samples","value":2.50,"x_w":1}]}\n')


def test_what_is_left_out_is_told():
    samples = ('{"type":"sample","timestamp":1,"pid":1,"tid":2,"cpu":3,"event":"e","stack_id":7}\n'
               '{"type":"sample","timestamp":1,"pid":1,"tid":2,"event":"e","stack_id":7}\n{"type":"x_note","k":1}\n')
    r = run("convert", "-", "--plain", "--to", "spaa", "-o", "-", stdin=HEAD + samples, code=0)
    assert "x_mine (1)" in r.err and "mine (1)" in r.err and "x_labels (1)" in r.err and "1 records of type x_note" in r.err
    assert "1 samples that lack" in r.err
    records = [parse(line) for line in r.out.splitlines()]
    assert [x["type"] for x in records] == ["header", "dso", "frame", "stack", "sample"]
    stack = records[3]
    assert stack["id"] == "7" and stack["context"]["trace_fields"] == {"x_k": [1, {"y": 2}]} and '"value":2.50' in r.out
    assert records[4]["stack_id"] == "7"
    for record in records:
        strict(record, record["type"])
    numbers = run("convert", "-q", "-", "--plain", "--stack-ids", "local", "--to", "spaa", "-o", "-", stdin=HEAD, code=0).out
    assert '"id":"1","frames"' in numbers


MAIN = """use spaa_parse::SpaaFile;
fn main() {
    let mut bad = 0;
    for path in std::env::args().skip(1) {
        match SpaaFile::parse(std::fs::File::open(&path).unwrap()) {
            Ok(f) => println!("{} {}", f.stacks.len(), f.samples.len()),
            Err(e) => { bad += 1; println!("{}: {}", path, e) }
        }
    }
    std::process::exit(bad);
}
"""


def test_the_rust_crate_reads_it(tmp_path):
    """spaa_parse, where cargo is and can get it. (It takes weights that are no negative and no fraction only.)"""
    cargo = shutil.which("cargo")
    if not cargo:
        pytest.skip("no cargo")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.rs").write_text(MAIN)
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "plain"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nspaa_parse = "=0.1.1"\n')
    target = pathlib.Path(tempfile.gettempdir()) / "spaa-parse-target"  # built once
    built = subprocess.run([cargo, "build", "-q"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                           env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    if built.returncode:
        pytest.skip("the crate cannot be had: " + built.stderr[-200:])
    files, want = [], []
    for i, name in enumerate(INPUTS):
        text = plain(FIXTURES / name, "--samples")[0]
        if any(w["value"] < 0 or w["value"] != int(w["value"]) for line in text.splitlines() for w in parse(line).get("weights", ())):
            continue
        files.append(tmp_path / f"{i}.spaa")
        files[-1].write_text(text)
        want.append(f"{text.count(chr(34) + 'type' + chr(34) + ':' + chr(34) + 'stack' + chr(34))} "
                    f"{text.count(chr(34) + 'type' + chr(34) + ':' + chr(34) + 'sample' + chr(34))}")
    got = subprocess.run([target / "debug/plain", *files], capture_output=True, text=True)
    assert len(files) > 3 and got.returncode == 0 and got.stdout.splitlines() == want

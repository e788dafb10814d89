"""`spaa validate` against the conformance suite, and around it."""
import gzip
import json
import os
import random
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
SUITE = os.path.join(ROOT, "tests", "conformance")
sys.path.insert(0, os.path.join(ROOT, "tests"))
import gen_spaa  # noqa: E402

with open(os.path.join(SUITE, "manifest.json"), encoding="utf-8") as _f:
    MANIFEST = json.load(_f)["files"]
NOT_OF_VALIDATE = {"SPAA-W208", "SPAA-W209"}  # what readers say

HEADER = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
          "events": [{"name": "cycles", "kind": "hardware", "sampling": {"mode": "period", "primary_metric": "period"}}],
          "stack_id_mode": "local"}


def run(*args, stdin=b""):
    return subprocess.run([SPAA, "validate", *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, check=False)


def validate(*args, stdin=b""):
    p = run("--json", *args, stdin=stdin)
    return p.returncode, json.loads(p.stdout)


def data_of(name):
    with open(os.path.join(SUITE, name), "rb") as f:
        return f.read()


def plain_data_of(name):
    data = data_of(name)
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def found(answer):
    return [(f["code"], f["line"], f["path"]) for f in answer["findings"]]


def expected(entry):
    return sorted(((f["code"], f["line"], f["path"]) for f in entry["findings"]), key=str)


def text(*records):
    return "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records).encode()


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda e: e["file"])
def test_a_file_gets_exactly_the_findings_of_the_manifest(entry):
    code, answer = validate(os.path.join(SUITE, entry["file"]))
    assert sorted(found(answer), key=str) == expected(entry)
    assert answer["schema"] == "spaa.validate/1"
    assert answer["valid"] == entry["valid"]
    assert code == (0 if entry["valid"] else 1)
    assert answer["errors"] == sum(f["code"][5] == "E" for f in entry["findings"])
    assert answer["warnings"] == sum(f["code"][5] == "W" for f in entry["findings"])
    assert entry["valid"] == entry["file"].startswith("valid/")


@pytest.mark.parametrize("entry", [e for e in MANIFEST if e["findings"]], ids=lambda e: e["file"])
def test_findings_say_what_where_and_what_to_do(entry):
    _, answer = validate(os.path.join(SUITE, entry["file"]))
    data = plain_data_of(entry["file"])
    starts = [0] + [m.end() for m in re.finditer(b"\n", data)]
    assert [f["line"] for f in answer["findings"]] == sorted(f["line"] for f in answer["findings"])
    for f in answer["findings"]:
        assert f["message"] and f["hint"]
        assert f["severity"] == {"E": "error", "W": "warning", "I": "info"}[f["code"][5]]
        first = starts[f["line"] - 1]
        last = starts[f["line"]] if f["line"] < len(starts) else len(data)
        assert first <= f["offset"] <= last


def test_the_manifest_names_every_file():
    there = {os.path.join(folder, name) for folder in ("valid", "invalid") for name in os.listdir(os.path.join(SUITE, folder))}
    assert there == {e["file"] for e in MANIFEST}
    assert all(e["about"] and e["rule"] for e in MANIFEST)
    assert all("added" in e for e in MANIFEST if "/spec-" in e["file"] and e["file"] != "valid/spec-3.1-header.spaa")


def test_every_code_has_a_file_and_every_file_a_known_code():
    with open(os.path.join(ROOT, "src", "base", "diag.def"), encoding="utf-8") as f:
        codes = {"SPAA-" + c for c in re.findall(r"SPAA_DIAG\((E1\d\d|W2\d\d|I23\d),", f.read())}
    shown = {f["code"] for e in MANIFEST for f in e["findings"]}
    assert shown == codes - NOT_OF_VALIDATE


@pytest.mark.parametrize("entry", MANIFEST[::7], ids=lambda e: e["file"])
def test_a_pipe_and_a_compressed_file_get_the_same_findings(entry, tmp_path):
    data = plain_data_of(entry["file"])
    want = expected(entry)
    assert sorted(found(validate("-", stdin=data)[1]), key=str) == want
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(data))
    assert sorted(found(validate(str(packed))[1]), key=str) == want


def test_words_for_people_and_exit_codes(tmp_path):
    good, warned, bad = (os.path.join(SUITE, f) for f in (
        "valid/minimal.spaa", "valid/W200-source-tool.spaa", "invalid/E107-format.spaa"))
    assert run(good).returncode == 0
    assert run(warned).returncode == 0
    assert run("--strict", good).returncode == 0
    assert run("--strict", warned).returncode == 1
    assert validate("--strict", warned)[1]["valid"] is False
    p = run(bad)
    assert p.returncode == 1
    assert p.stdout.startswith(b"invalid: 1 error")
    assert b"SPAA-E107" in p.stderr and b"line 1" in p.stderr
    assert run(good, bad).returncode == 1
    assert run(str(tmp_path / "missing.spaa")).returncode == 3


def test_each_code_is_bounded_and_counted():
    bad = text(HEADER, *["[1]"] * 1000, *['{"type":"dso","id":%d,"name":"a","build_id":"X"}' % i for i in range(500)])
    code, answer = validate("-", stdin=bad)
    assert code == 1
    assert answer["errors"] == 1500
    codes = [f["code"] for f in answer["findings"]]
    assert codes == ["SPAA-E102"] * 10 + ["SPAA-E122"] * 10


def test_one_missing_id_is_one_finding_with_its_first_place():
    lines = [HEADER] + [{"type": "sample", "timestamp": i, "stack_id": "0x%d" % (i % 3)} for i in range(3000)]
    _, answer = validate("-", stdin=text(*lines))
    assert found(answer) == [("SPAA-E118", line, "stack_id") for line in (2, 3, 4)]
    assert "0x1 (1000 references)" in answer["findings"][1]["message"]


def test_the_finding_names_the_text_of_the_file():
    record = '{"type":"dso","id":1,"name":"\\u202e\\n","build_id":"\\u001b[31m"}'
    _, answer = validate("-", stdin=text(HEADER, record))
    assert '"\x1b[31m"' in answer["findings"][0]["message"]  # JSON carries it exactly
    p = run("-", stdin=text(HEADER, record))
    assert b"\x1b[31m" not in p.stderr and b"\x1b[31m" not in p.stdout


def test_very_deep_nesting_is_a_limit_not_a_crash():
    deep = text(HEADER, '{"type":"x_a","a":%s%s}' % ("[" * 200000, "]" * 200000))
    code, answer = validate("-", stdin=deep)
    assert code == 3
    assert [f["code"] for f in answer["findings"]] == ["SPAA-E007"]
    assert "more than 131072 levels" in answer["findings"][0]["message"]
    fine = text(HEADER, '{"type":"x_a","a":%s%s}' % ("[" * 100000, "]" * 100000))
    assert "SPAA-E007" not in [f["code"] for f in validate("-", stdin=fine)[1]["findings"]]


def test_long_lines_are_read():
    blob = text(HEADER, {"type": "x_a", "blob": "ä" * (3 << 20)}, {"type": "dso", "id": 1, "name": "a", "build_id": ""})
    _, answer = validate("-", stdin=blob)
    assert found(answer) == [("SPAA-E122", 3, "build_id")]


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("seed", range(1, 25))
def test_made_profiles_are_valid(seed, canonical):
    data = "".join(gen_spaa.profile(seed=seed, stacks=40, canonical=canonical)).encode()
    code, answer = validate("-", stdin=data)
    assert answer["findings"] == []
    assert code == 0


@pytest.mark.parametrize("order", ["leaf_to_root", "root_to_leaf"])
def test_large_made_profiles_are_valid(order):
    data = "".join(gen_spaa.bench(seed=2, stacks=3000, frames=4000, order=order)).encode()
    assert validate("-", stdin=data)[1]["findings"] == []


def test_made_profiles_depend_on_the_seed_only():
    assert "".join(gen_spaa.profile(seed=9, stacks=30)) == "".join(gen_spaa.profile(seed=9, stacks=30))
    assert "".join(gen_spaa.profile(seed=9, stacks=30)) != "".join(gen_spaa.profile(seed=10, stacks=30))


def damaged(data, r):
    lines = data.splitlines(keepends=True)
    for _ in range(r.randint(1, 3)):
        i = r.randrange(len(lines))
        how = r.randrange(4)
        if how == 0:
            lines.append(lines.pop(i))
        elif how == 1:
            lines.insert(i, lines[i])
        elif how == 2:
            at = r.randrange(len(lines[i]))
            lines[i] = lines[i][:at] + bytes([r.randrange(256)]) + lines[i][at + 1:]
        elif len(lines) > 1:
            lines.pop(i)
    return b"".join(lines)


@pytest.mark.parametrize("seed", range(8))
def test_damage_is_answered(seed):
    r = random.Random(seed)
    data = "".join(gen_spaa.profile(seed=seed, stacks=10)).encode()
    for _ in range(6):
        code, answer = validate("-", stdin=damaged(data, r))
        assert code in (0, 1)
        assert answer["valid"] == (code == 0) == (answer["errors"] == 0)


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A hundred thousand stacks, 55 MB, through a pipe, in an address space of 80 MB."""
    with open(SPAA, "rb") as f:
        if b"__asan_init" in f.read():
            pytest.skip("sanitizers need address space of their own")
    big = tmp_path / "big.spaa"
    with open(big, "w", encoding="utf-8") as f:
        f.writelines(gen_spaa.bench(stacks=100000))
    script = 'ulimit -v 80000; cat "$1" | "$2" validate -'
    subprocess.run(["sh", "-c", script, "sh", str(big), SPAA], check=True, stdout=subprocess.DEVNULL)


def test_the_page_is_up_to_date():
    subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_validation_docs.py"), "--check"], check=True)


# What is written here

FIXTURES = os.path.join(ROOT, "tests", "fixtures")
CORPUS = os.environ.get("SPAA_CORPUS", os.path.join(os.path.dirname(ROOT), "shared", "corpus"))
NO_PROFILES = {"expected", "symfs", "spt"}  # what others made of them, binaries, and traces that need their own options
# The input says it: samples that have no stack, and heap profiles whose counts are damaged.
OF_THE_INPUT = {"python-agent-small.json": {"SPAA-W204"}, "weird-stack-line.txt": {"SPAA-W204"},
                "gobench.heap": {"SPAA-W204"}, "one_line.perf-script.txt": {"SPAA-W204"}, "cpu.pb": {"SPAA-W204"},
                "cut.pb": {"SPAA-W204"}, "unpacked-strings-first.pb": {"SPAA-W204"},
                "damaged.heaptrack": {"SPAA-W204"}, "damaged.codeguru.json": {"SPAA-W204", "SPAA-W210"},
                "damaged.heap": {"SPAA-W204", "SPAA-W210"}, "every-opcode.spt": {"SPAA-W204"},
                "damaged.txt": {"SPAA-W204"}, "damaged.heapprofile": {"SPAA-W204"}, "old.txt": {"SPAA-W204"},
                "stackcount-verbose.txt": {"SPAA-W204"}, "damaged.json": {"SPAA-W204"},
                "threads.speedscope.json": {"SPAA-W204"}, "version-24.json": {"SPAA-W204"}, "version-56.json": {"SPAA-W204"},
                "version-70.json": {"SPAA-W204"}}


def profiles_below(folder):
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - NO_PROFILES)
        for name in sorted(names):
            if os.path.getsize(os.path.join(at, name)) < 4 << 20:
                yield os.path.join(at, name)


def check_written(path, written, *options):
    made = subprocess.run([SPAA, "convert", "-q", path, "--no-symbols", "-o", written, *options], capture_output=True,
                          timeout=120, check=False)
    if made.returncode:
        return False  # no profile
    code, answer = validate("--strict", str(written))
    findings = {f["code"] for f in answer["findings"] if f["code"][5] in "EW"}
    assert findings <= OF_THE_INPUT.get(os.path.basename(path), set()), (path, options, answer["findings"][:3])
    assert code == bool(findings)
    return True


@pytest.mark.parametrize("folder", sorted(os.listdir(FIXTURES)))
def test_what_is_made_of_fixtures_is_valid(folder, tmp_path):
    for path in profiles_below(os.path.join(FIXTURES, folder)):
        check_written(path, tmp_path / "out.spaa")


@pytest.mark.skipif(not os.path.isdir(CORPUS), reason="no corpus")
def test_what_is_made_of_real_profiles_is_valid(tmp_path):
    assert sum(check_written(path, tmp_path / "out.spaa") for path in profiles_below(CORPUS)) > 80


def test_changes_in_windows_may_be_negative(tmp_path):
    for path in profiles_below(os.path.join(FIXTURES, "heaptrack")):
        check_written(path, tmp_path / "out.spaa", "--windows", "10")


def many_metrics(n):
    frames = [{"type": "dso", "id": 0, "name": "d", "is_kernel": False}, {"type": "frame", "id": 0, "dso": 0, "func": "f", "kind": "user"}]
    def stack(i, metrics):
        weights = [{"metric": m, "value": 7} for m in metrics]
        return {"type": "stack", "id": i, "frames": [0], "stack_type": "unified", "context": {"event": "cycles", "pid": 1, "tid": 1, "comm": "c"},
                "weights": weights, "exclusive": {"frame": 0, "weights": weights}}
    rows = [HEADER, *frames, stack(0, ["period"]), stack(1, ["period"] + ["x_%d" % i for i in range(n - 1)])]
    return "".join(json.dumps(r) + "\n" for r in rows).encode()


def test_more_metrics_than_readers_have_room_for():
    for n, fits in ((256, True), (257, False), (301, False)):
        data = many_metrics(n)
        for jobs in ("1", "4"):
            code, answer = validate("--jobs", jobs, "-", stdin=data)
            codes = [f["code"] for f in answer["findings"]]
            assert (code == 0) == fits and ("SPAA-E007" in codes) != fits, (n, answer)
        read = subprocess.run([SPAA, "convert", "-", "--to", "folded", "-o", "-"], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120, check=False)
        said = read.stderr.decode()
        assert read.returncode == 0 and read.stdout == (b"c;f 14\n" if fits else b"c;f 7\n")
        assert ("SPAA-L300" in said and "256 metrics" in said) != fits and "SPAA-E100" not in said

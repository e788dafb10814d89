"""Bad input: one clear message (what, where, what to do), the right exit code, no partial file, no hang."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

import profiles
from conftest import BIN, SANITIZERS, ask, parse, run

VIEWS = [["info"], ["summary"], ["top"], ["tree"], ["flamegraph", "-o", "out.svg"], ["convert", "-o", "out.spaa"]]
CODES = r"\[SPAA-[EFL]\d+\]"


def refused(command, path, *, code=3, says="", folder=None, stdin=None, messages=1):
    """Fails with words on stderr and nothing else anywhere."""
    name, *options = command
    before = sorted(os.listdir(folder)) if folder else None
    answer = run(name, path, *options, cwd=folder, code=code, stdin=stdin)
    assert answer.out == ""
    words = [line for line in answer.err.splitlines() if re.search(CODES, line)]
    assert len(words) <= messages, answer.err
    assert says in answer.err, answer.err
    hint = answer.err.splitlines()[-1]
    assert hint.startswith("  ") and len(hint) > 10, "says what to do: " + answer.err
    if path != "-":
        assert str(path) in words[0], "says where"
    if folder:
        assert sorted(os.listdir(folder)) == before, "left something behind"
    return answer


def views(path, **how):
    """Every view refuses it; the complaint of some broken SPAA takes more than one message."""
    for command in VIEWS:
        refused(command, path, **how)
    said = parse(run("top", path, "--json", code=how.get("code", 3), stdin=how.get("stdin")).out)
    assert said["schema"] == "spaa.error/1" and set(said["error"]) >= {"code", "message", "file", "offset", "line", "hint"}


@pytest.fixture
def spaa_text():
    return profiles.text([(["f%d" % (i % 7), "main"], i + 1, {"pid": 1, "tid": i % 3, "comm": "c"}) for i in range(60)])


def test_a_missing_file(tmp_path):
    path = tmp_path / "not-there.spaa"
    views(path, says="No such file", folder=tmp_path)
    refused(["validate"], path, says="No such file")
    assert "no command or file" in run(path, code=2).err


def test_a_directory(tmp_path):
    inside = tmp_path / "folder.spaa"
    inside.mkdir()
    views(inside, says="directory", folder=tmp_path)
    refused(["validate"], inside, says="directory")


@pytest.mark.parametrize("data", [b"", gzip.compress(b"")], ids=["plain", "gzip"])
def test_an_empty_file(data, tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(data)
    views(path, says="empty", folder=tmp_path)
    views("-", stdin=data, says="empty", folder=tmp_path)
    assert run("validate", path).code == 1


@pytest.mark.parametrize("data", [
    random.Random(1).randbytes(40000), b"\0" * 5000, b"\x7fELF" + bytes(range(256)) * 8, b"MZ\x90\0" + b"\0" * 999,
    b"\x89PNG\r\n\x1a\n" + b"x" * 99, b"{}", b"[]", b"\n\n\n\n", b"\xff\xfe", b"lorem ipsum\ndolor sit amet\n", b"\0", b"x",
], ids=["random", "zeros", "elf", "mz", "png", "object", "array", "lines", "bom", "prose", "nul", "x"])
def test_binary_junk_and_unknown_formats(data, tmp_path):
    path = tmp_path / "junk"
    path.write_bytes(data)
    views(path, folder=tmp_path)
    assert run("validate", path).code in (1, 3)


@pytest.mark.parametrize("line", ['{"type":"stack"}\n', '{"format":"spaa"}\n', '{"type":"header","format":"spaa"}\n'])
def test_spaa_without_what_a_file_needs(line, tmp_path):
    path = tmp_path / "broken.spaa"
    path.write_text(line)
    views(path, folder=tmp_path, messages=6)
    run("validate", path, code=1)


@pytest.mark.parametrize("form", ["spaa", "folded", "perf-data", "perf-script"])
def test_junk_that_is_said_to_be_a_format(form, tmp_path):
    path = tmp_path / "junk"
    path.write_bytes(random.Random(2).randbytes(20000))
    for command in (["top", "--from", form], ["convert", "--from", form, "-o", "out.spaa"]):
        answer = run(command[0], path, *command[1:], cwd=tmp_path)
        assert answer.code == 3 and re.search(CODES, answer.err) and os.listdir(tmp_path) == ["junk"]


def test_a_named_format_that_does_not_fit(spaa_text, tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(spaa_text)
    for form in ("perf-data", "perf-script"):
        assert run("top", path, "--from", form, code=3).out == ""


def test_a_file_cut_off_at_every_place_is_used_or_refused(spaa_text, tmp_path):
    path = tmp_path / "cut.spaa"
    data = spaa_text.encode()
    header = data.index(b"\n") + 1
    for at in [*range(header + 1, len(data), 997), len(data) - 1, len(data) - 3]:
        path.write_bytes(data[:at])
        answer = run("top", path, "--json")
        if answer.code == 0:
            inside = data[at - 1:at] != b"\n" and data[at:at + 1] != b"\n"
            assert bool(parse(answer.out)["diagnostics"]) == inside, at
            assert run("top", path, "--strict").code == (3 if inside else 0)
        else:
            assert answer.code == 3 and parse(answer.out)["schema"] == "spaa.error/1"
    for at in (1, 7, header - 20):
        path.write_bytes(data[:at])
        assert run("top", path, code=3).out == ""


@pytest.mark.parametrize("tool", ["gzip", "zstd"])
def test_a_compressed_file_cut_off_or_damaged(tool, tmp_path):
    if not shutil.which(tool):
        pytest.skip("no " + tool)
    r = random.Random(3)
    text = "".join("main;f%x;g%x %d\n" % (r.getrandbits(40), r.getrandbits(40), i + 1) for i in range(20000))
    packed = subprocess.run([tool, "-c"], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    path = tmp_path / "packed"
    for data in (packed[:len(packed) // 2], packed[:-3], packed[:9000] + b"damage" + packed[9006:], packed[:5]):
        path.write_bytes(data)
        answer = run("convert", path, "-o", "out.spaa", cwd=tmp_path)
        assert answer.code in (0, 3) and re.search(CODES, answer.err), answer.err
        assert os.path.exists(tmp_path / "out.spaa") == (answer.code == 0)
        assert run("convert", path, "-o", "strict.spaa", "--strict", cwd=tmp_path, code=3)
        assert not os.path.exists(tmp_path / "strict.spaa")
        if answer.code == 0:
            os.remove(tmp_path / "out.spaa")


def bomb(path, command):
    p = subprocess.run(["bash", "-o", "pipefail", "-c", command + " | zstd -1 -q -o " + str(path)], timeout=120)
    assert p.returncode == 0


@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd tool")
@pytest.mark.parametrize("command, what", [
    ("head -c 1G /dev/zero", "1 GB of zeros"), ("head -c 1G /dev/zero | tr '\\0' a", "one endless name"),
    ("{ echo main 1; head -c 50M /dev/zero | tr '\\0' '\\n'; }", "blank lines"), ("{ echo main 1; head -c 100M /dev/zero; }", "after a stack"),
    ("{ echo '{\"type\":\"header\",\"format\":\"spaa\"'; head -c 600M /dev/zero | tr '\\0' ' '; }", "a header without end"),
], ids=["zeros", "a", "lines", "folded", "spaa"])
def test_a_bomb_costs_neither_time_nor_memory(command, what, tmp_path):
    path = tmp_path / "bomb.zst"
    bomb(path, command)
    assert os.path.getsize(path) < 1 << 20
    start = time.monotonic()
    with open(tmp_path.parent / "said", "w+b") as said:
        p = subprocess.Popen([BIN, "convert", path, "-o", "out.spaa"], cwd=tmp_path, stdout=said, stderr=said,
                             env={**os.environ, **SANITIZERS, "ASAN_OPTIONS": "exitcode=99:quarantine_size_mb=1"})
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        words = said.read().decode()
    assert p.returncode in (0, 3) and (re.search(CODES, words) or what == "blank lines"), words
    assert sorted(os.listdir(tmp_path)) == ["bomb.zst"] + ["out.spaa"] * (p.returncode == 0)
    assert time.monotonic() - start < 50
    assert usage.ru_maxrss < 1100 << 10, "a line may have 256 MiB"


def test_a_long_name_in_a_deep_stack_is_not_walked_for_each_of_its_frames(tmp_path):
    """Of 2 MB in each of 4,000 frames, a picture that looks at all of it each time needs more than a minute."""
    path, picture = tmp_path / "p.spaa", tmp_path / "x.svg"
    path.write_text("\n".join(json.dumps(line) for line in (
        {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root", "stack_id_mode": "local",
         "events": [{"name": "cycles", "kind": "hardware", "sampling": {"mode": "period", "primary_metric": "samples"}}]},
        {"type": "dso", "id": 1, "name": "x"},
        {"type": "frame", "id": 1, "func": "z" * 2_000_000, "dso": 1, "kind": "user"},
        {"type": "stack", "id": "0x1", "frames": [1] * 4000, "context": {"event": "cycles"}, "weights": [{"metric": "samples", "value": 1}]},
    )) + "\n")
    for more in ([], ["--diff", path], ["--names", "full"]):
        p = subprocess.run([BIN, "flamegraph", path, "-o", picture, *more], timeout=40, env={**os.environ, **SANITIZERS}, capture_output=True)
        assert p.returncode == 0, p.stderr
        text = picture.read_text()
        assert text.count("<rect class") >= 4000 and "\u2026" in text and len(text) < 5_000_000


def test_no_permission(tmp_path, folded):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    os.chmod(folded, 0)
    views(folded, says="Permission denied")


def test_outputs_that_cannot_be_written(folded, tmp_path):
    for out, words in ((tmp_path / "no" / "such" / "x.spaa", "No such file"), (tmp_path, "directory"),
                       ("/dev/full", "No space left"), (folded / "x.spaa", "Not a directory")):
        before = sorted(os.listdir(tmp_path))
        for args in (["convert", folded, "--to", "spaa", "-o", out], ["flamegraph", folded, "-o", out]):
            answer = run(*args, code=3)
            assert words in answer.err and str(out) in answer.err and answer.out == "", answer.err
        assert sorted(os.listdir(tmp_path)) == before


def test_an_output_that_grows_too_large_leaves_nothing_and_the_old_file(tmp_path):
    path = tmp_path / "p.folded"
    path.write_text("".join("main;function_number_%d 1\n" % i for i in range(5000)))
    old = tmp_path / "out.spaa"
    old.write_text("precious")
    answer = subprocess.run(["bash", "-c", 'ulimit -f 64; trap "" XFSZ; exec "$@"', "-", BIN, "convert", path, "-o", old],
                            stderr=subprocess.PIPE, timeout=60, env={**os.environ, **SANITIZERS})
    assert answer.returncode == 3 and b"too large" in answer.stderr.lower()
    assert old.read_text() == "precious" and sorted(os.listdir(tmp_path)) == ["out.spaa", "p.folded"]


def test_a_read_only_folder(tmp_path, folded):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    folder = tmp_path / "locked"
    folder.mkdir()
    os.chmod(folder, 0o500)
    assert "Permission denied" in run("convert", folded, "-o", folder / "x.spaa", code=3).err


def test_interrupting_leaves_no_file(tmp_path):
    """The input never ends; the signal ends the program, and there is no output."""
    # What runs in a shell's background begins with SIGINT ignored, and its children too.
    p = subprocess.Popen([BIN, "convert", "-", "--from", "folded", "-o", "out.spaa"], cwd=tmp_path,
                         stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    p.stdin.write(b"main;f 1\n")
    p.stdin.flush()
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=30)
    assert p.returncode != 0 and os.listdir(tmp_path) == []


def test_no_terminal_no_progress(tmp_path, folded):
    assert run("top", folded).err == ""


def test_one_bad_file_among_several(tmp_path, folded):
    other = tmp_path / "bad"
    other.write_bytes(b"\0\1\2")
    answer = run("top", folded, other, code=3)
    assert str(other) in answer.err and answer.out == ""


def test_files_that_cannot_be_one_profile(tmp_path):
    a, b = tmp_path / "a.spaa", tmp_path / "b.spaa"
    a.write_text(profiles.text([(["f"], 1)], [profiles.event("e", "period")]))
    b.write_text(profiles.text([(["f"], 1)], [profiles.event("e", "samples")]))
    answer = run("top", a, b, code=2)
    assert 'event "e"' in answer.err and answer.out == ""


def test_a_header_without_stacks_says_so(tmp_path):
    path = tmp_path / "bare.spaa"
    path.write_text(profiles.text([]))
    assert ask("top", path)["whole"] == 0
    assert run("summary", path).code == 0 and run("tree", path).code == 0
    assert run("flamegraph", path, "-o", "-").code in (0, 3)
    path.write_text(profiles.text([]).replace('"events":[{', '"events":[],"x":[{'))
    assert re.search(CODES, run("top", path, code=3).err)


def test_errors_of_lines_are_bounded(tmp_path):
    path = tmp_path / "many.spaa"
    path.write_text(profiles.text([(["f"], 1)]) + "{oops\n" * 5000)
    answer = run("top", path, code=0)
    assert answer.err.count("\n") < 100 and "more [SPAA-" in answer.err


def test_a_symbolic_link_loop_and_odd_files(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    refused(["top"], loop, says="symbolic links")
    assert run("top", "/dev/null", code=3).out == ""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = subprocess.Popen(["sh", "-c", 'printf "main;f 3\\n" > "$0"', fifo])
    assert ask("top", fifo)["whole"] == 3
    writer.wait(10)

"""Text with something around it, in every text format: byte order marks, UTF-16, quoting, stray NULs."""

import gzip
import os

import pytest

from conftest import ROOT, ask, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures")
TEXTS = ["bpftrace/stacks.txt", "bpftrace/json.txt", "dtrace/keys.txt", "dtrace/quantize.txt", "folded/marks.folded",
         "folded/two_columns.folded", "perf_script/dialects.perf-script.txt", "perf_script/no_time.perf-script.txt",
         "perf_script/crlf.perf-script.txt", "sample/all.sample.txt", "spindump/heavy.spindump.txt",
         "spindump/timeline.spindump.txt", "codeguru/odd.codeguru.json", "spaa/perf.spaa", "jemalloc/threads.heap",
         "gperftools/sampled.heap", "gperftools/go.goroutine", "heaptrack/interpreted.heaptrack"]
LOSSLESS = ["bpftrace/stacks.txt", "dtrace/keys.txt", "perf_script/dialects.perf-script.txt", "sample/all.sample.txt",
            "spindump/heavy.spindump.txt"]


def fixture(name):
    with open(os.path.join(FIXTURES, name), "rb") as f:
        return f.read()


def by_lines(data, mark, bare=None):
    """Each line with `mark` before it; an empty one with `bare`."""
    lines = data.split(b"\n")
    last = lines.pop()
    out = b"".join((mark if line.strip() or bare is None else bare) + line + b"\n" for line in lines)
    return out + (mark + last if last else b"")


def utf16(data, codec, mark):
    return mark + data.decode().encode(codec)


WRAPPED = {
    "bom": lambda d: b"\xef\xbb\xbf" + d,
    "utf16le": lambda d: utf16(d, "utf-16-le", b"\xff\xfe"),
    "utf16be": lambda d: utf16(d, "utf-16-be", b"\xfe\xff"),
    "utf16le without a mark": lambda d: utf16(d, "utf-16-le", b""),
    "utf16be without a mark": lambda d: utf16(d, "utf-16-be", b""),
    "quoted": lambda d: by_lines(d, b"> ", b">"),
    "quoted empty lines with a blank": lambda d: by_lines(d, b"> "),
    "quoted but for empty lines": lambda d: by_lines(d, b"> ", b""),
    "quoted without blanks": lambda d: by_lines(d, b">"),
    "quoted twice": lambda d: by_lines(by_lines(d, b"> "), b"> "),
    "quoted twice without blanks": lambda d: by_lines(by_lines(d, b"> ", b">"), b">"),
    "a quoted byte order mark": lambda d: by_lines(b"\xef\xbb\xbf" + d, b"> "),
    "quoted and compressed": lambda d: gzip.compress(by_lines(d, b"> ")),
    "all": lambda d: utf16(by_lines(b"\xef\xbb\xbf" + d, b"> "), "utf-16-le", b"\xff\xfe"),
}


def profile(data, *options):
    return run("convert", "-", *options, "--to", "spaa", "-o", "-", stdin=data, code=0)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("how", WRAPPED)
def test_what_stands_around_text_changes_nothing(name, how):
    data = fixture(name)
    got = profile(WRAPPED[how](data))
    assert got.raw == profile(data).raw
    assert ("the text is quoted" in got.err) == ("quoted" in how or how == "all")


@pytest.mark.parametrize("name,form", [("folded/marks.folded", "folded"),
                                       ("perf_script/dialects.perf-script.txt", "perf-script")])
@pytest.mark.parametrize("how", WRAPPED)
def test_with_the_format_named(name, form, how):
    data = fixture(name)
    assert profile(WRAPPED[how](data), "--from", form).raw == profile(data).raw


def test_lines_further_on_need_no_mark():
    head = b"".join(b"> a;f%d 1\n" % i for i in range(10000))
    assert len(head) > 65536
    answer = ask("info", "-", stdin=head + b"b;c 5\n>d;e 7\n")
    assert answer["events"][0]["whole"] == 10012


def test_text_with_one_line_that_is_not_quoted_is_not_quoted():
    text = b"".join(b">%d;f 1\n" % i for i in range(50)) + b"b;c 5\n"
    run("convert", "-", "--from", "folded", "--to", "folded", "-o", "-", stdin=text, code=0)
    assert b">1;f 1\n" in run("convert", "-", "--to", "folded", "-o", "-", stdin=text, code=0).raw


@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_gives_back_what_stood_around(name, tmp_path):
    data, form = fixture(name), name.split("/")[0].replace("_", "-")
    kept = tmp_path / "kept.spaa"
    for text in (b"\xef\xbb\xbf" + data, by_lines(data, b"> "), b"\xff\xfe" + data.decode("utf-8", "replace").encode("utf-16-le")):
        run("convert", "-", "--lossless", "-o", kept, stdin=text, code=0)
        assert run("convert", kept, "--to", form, "-o", "-", code=0).raw == text


def test_a_character_cut_in_half_is_told():
    answer = run("info", "-", stdin=utf16(b"a;b 3\n", "utf-16-le", b"\xff\xfe") + b"x", code=0)
    assert "half a character at the end" in answer.err


@pytest.mark.parametrize("size", [70_000, 1_000_000, 5_000_000])
def test_a_long_first_line_of_folded_text(size):
    line = b";".join(b"frame%07d" % i for i in range(size // 13))
    assert len(line) > 65536
    answer = ask("info", "-", stdin=line + b" 3\na;b 4\n")
    assert answer["format"] == "folded" and answer["events"][0]["whole"] == 7


def test_two_columns_behind_a_long_first_line():
    line = b";".join(b"frame%07d" % i for i in range(7000))
    got = run("convert", "-", "--to", "spaa", "-o", "-", stdin=line + b" 3 4\na;b 4 5\n", code=0)
    assert '"metric":"before"' in got.out


NULS = [("folded/marks.folded", b";"), ("perf_script/dialects.perf-script.txt", b"+0x"),
        ("dtrace/keys.txt", b"`"), ("bpftrace/stacks.txt", b"+"), ("sample/all.sample.txt", b"  (in")]


@pytest.mark.parametrize("name,where", NULS)
def test_a_nul_in_a_name_loses_nothing(name, where):
    """It stands in the name of the first frame with such a text in it."""
    data = fixture(name)
    at = data.index(where) + (1 if where in (b";", b"`") else 0)
    holed = data[:at] + b"\0" + data[at:]
    plain, got = ask("info", "-", stdin=data), ask("info", "-", stdin=holed)
    assert got["format"] == plain["format"]
    assert [e["whole"] for e in got["events"]] == [e["whole"] for e in plain["events"]]


def test_large_text_in_utf16_is_whole():
    """Beyond a block of the decoder, with characters of every length on its edges."""
    for name in ("f", "\u00e9", "\u20ac", "\U0001f525"):
        text = "".join("main;%s%d 1\n" % (name, i % 7) for i in range(150000)).encode()
        assert ask("top", "-", "-n", "0", stdin=utf16(text, "utf-16-le", b"\xff\xfe"))["whole"] == 150000

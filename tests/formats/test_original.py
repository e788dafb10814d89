"""--lossless: the original's bytes stand in SPAA, and come back as long as the profile is what was read of them."""

import base64
import gzip
import json
import os
import random
import re
import shutil
import subprocess

import pytest

import perf_data_files as perf
from conftest import BIN, ROOT, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures")
FILES = [os.path.join(d, n) for d in sorted(os.listdir(FIXTURES)) if d != "spaa" for n in sorted(os.listdir(os.path.join(FIXTURES, d)))
         if not n.endswith(".md")]
LINE_MAX = 1 << 20


def fixture(name):
    with open(os.path.join(FIXTURES, name), "rb") as f:
        return f.read()


def unpacked(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def originals(path):
    """(data records, descriptions) of a file of SPAA; they stand last, and no line is too long."""
    with open(path, "rb") as f:
        lines = f.read().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if line.startswith(b'{"type":"x_original"')]
    assert at == list(range(len(lines) - len(at), len(lines)))
    records = [json.loads(lines[i]) for i in at]
    assert all(len(lines[i]) < LINE_MAX for i in at)
    return [r for r in records if "data" in r], [r for r in records if "data" not in r]


def keep(source, path, *options, stdin=None):
    run("convert", "-q", source, "--lossless", *options, "-o", path, stdin=stdin, code=0)
    return originals(path)[1][0]["format"]


def back(path, form, code=0):
    return run("convert", path, "--lossless", "--to", form, "-o", "-", code=code)


def sed(path, old, new):
    with open(path, "rb") as f:
        text = f.read()
    assert old in text
    with open(path, "wb") as f:
        f.write(text.replace(old, new))


@pytest.mark.parametrize("name", FILES)
def test_bytes_come_back_of_every_format(name, tmp_path):
    data, kept, again = fixture(name), tmp_path / "kept.spaa", tmp_path / "again.spaa"
    form = name.split("/")[0].replace("_", "-")
    if run("convert", "-q", os.path.join(FIXTURES, name), "--from", form, "-o", again).code:
        assert run("convert", "-q", os.path.join(FIXTURES, name), "--from", form, "--lossless", "-o", kept).code in (0, 3)
        if not kept.exists():
            return
    keep(os.path.join(FIXTURES, name), kept, "--from", form)
    assert back(kept, form).raw == unpacked(data)
    run("validate", kept, code=None if "damaged" in name else 0)
    # whatever happens to ids and orders
    keep(kept, again)
    assert again.read_bytes() == kept.read_bytes()
    run("convert", "-q", kept, "-o", again, "--frame-order", "root_to_leaf", "--stack-ids", "local", code=0)
    assert back(again, form).raw == unpacked(data)


@pytest.mark.parametrize("name", [n for n in FILES if not n.endswith(".gz")])
def test_bytes_come_back_where_names_are_no_utf_8(name, tmp_path):
    """What a profile says of such a name is the same before it is written as SPAA and after."""
    form, data = name.split("/")[0].replace("_", "-"), bytearray(fixture(name))
    words = list(re.finditer(rb"[A-Za-z]{4,}", data))
    for word in random.Random(7).sample(words, len(words) // 4):
        data[word.start() + 2] = 0xFF
    if run("convert", "-q", "-", "--from", form, "--lossless", "-o", tmp_path / "kept.spaa", stdin=data).code == 0:
        assert back(tmp_path / "kept.spaa", form).raw == data


@pytest.mark.parametrize("name", ["dtrace/keys.txt", "pprof/cpu.pb", "perf_data/rich.perf.data", "spt/small.spt", "heaptrack/v1.heaptrack",
                                  "folded/quoted.folded", "folded/utf16.folded"])
def test_from_a_pipe_and_compressed(name, tmp_path):
    data = fixture(name)
    keep("-", tmp_path / "pipe.spaa", stdin=data)
    form = keep("-", tmp_path / "gz.spaa", stdin=gzip.compress(data))
    if shutil.which("zstd"):
        packed = subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
        keep("-", tmp_path / "zst.spaa", stdin=packed)
        assert (tmp_path / "zst.spaa").read_bytes() == (tmp_path / "pipe.spaa").read_bytes()
    assert (tmp_path / "gz.spaa").read_bytes() == (tmp_path / "pipe.spaa").read_bytes()
    assert back(tmp_path / "pipe.spaa", form).raw == data
    run("convert", "-q", tmp_path / "pipe.spaa", "-o", tmp_path / "packed.spaa.zst", code=0)
    assert back(tmp_path / "packed.spaa.zst", form).raw == data


def test_threads_without_a_process_come_back(tmp_path):
    """SPAA says -1 of what a damaged report does not tell."""
    text = b"Analysis of sampling rg (pinsensed 7) every nd\n\nCall graph:\n    5 Thread_1\n    + 5 start  (in rg) + 1  [0x11]\n"
    keep("-", tmp_path / "kept.spaa", "--from", "sample", stdin=text)
    assert back(tmp_path / "kept.spaa", "sample").raw == text


def test_a_format_that_is_written_comes_back_without_the_option_too(tmp_path):
    data, kept = fixture("perf_script/trimmed.perf-script.txt"), tmp_path / "kept.spaa"
    keep("-", kept, stdin=data)
    assert run("convert", kept, "--to", "perf-script", "-o", "-", code=0).raw == data
    rendered = run("convert", kept, "--to", "perf-script", "-o", "-", "--per-stack", code=0)
    assert rendered.raw != data and rendered.raw


def test_how_it_was_read_is_described(tmp_path):
    keep("-", tmp_path / "a.spaa", "--frames", "function", "--group-by", "none", "--value-metric", "bytes", stdin=b"a;b 3\n")
    (data,), (about,) = originals(tmp_path / "a.spaa")
    assert about["options"] == {"frames": "function", "group_by": [], "own": {"value-metric": "bytes"}}
    assert (about["format"], about["size"], about["parts"], about["encoding"]) == ("folded", 6, 1, "zstd+base64")
    assert about["digest"].startswith("xxh3-128:") and about["read"].startswith("xxh3-64/1:")
    assert base64.b64decode(data["data"])[:4] == b"\x28\xb5\x2f\xfd"
    assert back(tmp_path / "a.spaa", "folded").raw == b"a;b 3\n"


def large(samples=400):
    """A recording that does not become smaller: 24 MB of raw data."""
    rng = random.Random(5)
    r = perf.Recording([(2, 1, perf.IP | perf.TID | perf.TIME | perf.RAW, {})])
    r.mmap(10, 0x1000, 0x1000, 0, b"/bin/a", 100)
    for i in range(samples):
        r.record(9, 2, r.pack("QiiQI", 0x1010, 10, 10, 200 + i, 60004) + rng.randbytes(60004))
    return r.bytes()


def peak_mb(*args):
    """Memory that a run needed at most."""
    pid = os.posix_spawn(BIN, [BIN, *map(str, args)], dict(os.environ))
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, args
    return usage.ru_maxrss / 1024


def test_large_ones_are_never_in_memory(tmp_path):
    path, kept, again = tmp_path / "large.perf.data", tmp_path / "kept.spaa", tmp_path / "again.spaa"
    path.write_bytes(large())
    size = path.stat().st_size
    keep(path, kept)
    data, (about,) = originals(kept)
    assert about["parts"] == len(data) > 30 and about["size"] == size > 20 << 20
    plain = peak_mb("convert", "-q", os.path.join(FIXTURES, "spaa", "perf.spaa"), "-o", again)
    sanitized = plain > 40
    for args in (["convert", "-q", kept, "-o", again], ["convert", kept, "--to", "perf-data", "-o", tmp_path / "back"],
                 ["validate", "-q", kept]):
        needed = peak_mb(*args)
        assert sanitized or needed < plain + 16, (args, plain, needed)
    assert again.read_bytes() == kept.read_bytes()
    assert (tmp_path / "back").read_bytes() == path.read_bytes()


def test_the_same_bytes_for_any_number_of_threads(tmp_path):
    path = tmp_path / "x.perf.data"
    path.write_bytes(large(40))
    packed = tmp_path / "x.perf.data.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    for i, (source, jobs) in enumerate([(path, 1), (path, 4), (packed, 1), (packed, 4)]):
        keep(source, tmp_path / ("%d.spaa" % i), "-j", jobs)
    assert len({(tmp_path / ("%d.spaa" % i)).read_bytes() for i in range(4)}) == 1


# ---- what of the profile counts


def test_a_changed_weight_is_rendered_and_told(tmp_path):
    kept = tmp_path / "kept.spaa"
    keep("-", kept, stdin=b"# a comment\na;b 10\n")
    sed(kept, b'"value":10', b'"value":12')
    answer = back(kept, "folded")
    assert answer.raw == b"a;b 12\n" and "the stacks have changed since; it is rendered" in answer.err


def test_without_a_writer_a_changed_profile_is_an_error(tmp_path):
    kept, out = tmp_path / "kept.spaa", tmp_path / "out.perf.data"
    keep(os.path.join(FIXTURES, "perf_data", "little.perf.data"), kept)
    text = kept.read_text()
    at = text.index('"value":') + 8
    kept.write_text(text[:at] + "7" + text[at:])
    answer = run("convert", kept, "--lossless", "--to", "perf-data", "-o", out, code=3)
    assert "the stacks have changed since" in answer.err and "SPAA-E021" in answer.err and not out.exists()


@pytest.mark.parametrize("old, new", [(b'"samples","value":3', b'"samples","value":4'), (b'"comm":"app"', b'"comm":"cpp"'),
                                      (b'"timestamp":', b'"timestamp":1'), (b'"period":', b'"period":1'), (b'"tid":7', b'"tid":8'),
                                      (b"work", b"rest"), (b'"func":"main"', b'"func":"niam"')])
def test_what_counts(old, new, tmp_path):
    kept = tmp_path / "kept.spaa"
    text = b"".join(b"app 7/7 [000] %d.5: 9 cycles:\n\t 401010 work+0x10 (/bin/app)\n\t 401020 main+0x20 (/bin/app)\n\n" % i for i in range(3))
    keep("-", kept, stdin=text)
    assert back(kept, "perf-script").raw == text
    sed(kept, old, new)
    assert "the stacks have changed" in back(kept, "perf-script").err


def test_names_that_symbols_bring_change_nothing(tmp_path):
    source, program = tmp_path / "a.c", tmp_path / "app"
    source.write_text("int work(int n)\n{\n    int s = 0;\n    for (int i = 0; i < n; i++)\n        s += i * s;\n    return s;\n}\n"
                      "int main(void)\n{\n    return work(3);\n}\n")
    if not shutil.which("gcc") or not shutil.which("nm"):
        pytest.skip("no gcc")
    subprocess.run(["gcc", "-g", "-O0", "-o", program, source], check=True)
    table = subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    work, main = (int(line.split()[0], 16) for name in ("work", "main") for line in table.splitlines() if line.endswith(" T " + name))
    r = perf.Recording([(2, 1, perf.IP | perf.TID | perf.TIME | perf.CALLCHAIN, {})])
    base = 0x555555554000
    r.mmap(10, base, 0x10000, 0, os.fsencode(program), 100)
    r.sample([perf.CONTEXT["user"], base + work + 4, base + main + 8], time=200)
    path, kept, named = tmp_path / "x.perf.data", tmp_path / "kept.spaa", tmp_path / "named.spaa"
    path.write_bytes(r.bytes())
    keep(path, kept, "--no-symbols")
    run("symbolize", kept, "-o", named, code=0)
    assert '"func":"work"' in named.read_text() and '"func":"work"' not in kept.read_text()
    assert back(named, "perf-data").raw == path.read_bytes()
    sed(named, b'"func":"work"', b'"func":"play"')
    assert back(named, "perf-data").raw == path.read_bytes()
    # text that has names and addresses: what had none may get one, and then names can no longer tell
    text = run("convert", kept, "--to", "perf-script", "-o", "-", code=0).raw + (
        b"app 7/7 [000] 9.5: 9 cycles:\n\t 10 other+0x1 (/bin/no-such)\n\n")
    assert b"[unknown]" in text
    keep("-", kept, "--no-symbols", stdin=text)
    run("symbolize", kept, "-o", named, code=0)
    assert '"func":"work"' in named.read_text()
    assert back(named, "perf-script").raw == text
    sed(kept, b'"func":"other"', b'"func":"ether"')
    assert "the stacks have changed" in back(kept, "perf-script").err
    # who asks for names wants them in what is written
    assert b"work" in run("symbolize", kept, "--to", "perf-script", "-o", "-", code=0).raw


# ---- what is refused


def test_filters_and_other_targets_are_refused(tmp_path):
    kept, out = tmp_path / "kept.spaa", tmp_path / "out"
    source = os.path.join(FIXTURES, "perf_script", "dialects.perf-script.txt")
    keep(source, kept)
    for options in (["--to", "folded"], ["--to", "perf-script"]):
        answer = run("convert", source, "--lossless", *options, "-o", out, code=2)
        assert "keeps the bytes of perf-script in SPAA" in answer.err and not out.exists()
    for options in (["--pid", "1"], ["--focus", "x"], ["--hide", "x"], ["--time", "0..1"], ["--user"]):
        run("convert", source, "--lossless", "--to", "spaa", *options, "-o", out, code=2)
        run("convert", kept, "--lossless", "--to", "perf-script", *options, "-o", out, code=2)
    for options in (["--event", "cycles"], ["--metric", "samples"], ["--per-stack"]):
        assert "a part" in run("convert", kept, "--lossless", "--to", "perf-script", *options, "-o", out, code=2).err
    for options in (["--frames", "function"], ["--group-by", "none"]):
        assert options[0] in run("convert", kept, "--lossless", "--to", "spaa", *options, "-o", out, code=2).err
    assert "keeps no original of dtrace" in run("convert", kept, "--lossless", "--to", "dtrace", "-o", out, code=2).err
    assert "SPAA-E021" in run("convert", kept, "--to", "perf-data", "-o", out, code=2).err
    assert "SPAA-E021" in run("convert", source, "--to", "perf-data", "-o", out, code=2).err
    assert not out.exists()


def test_a_filtered_or_merged_profile_has_no_original(tmp_path):
    kept, out = tmp_path / "kept.spaa", tmp_path / "out.spaa"
    keep("-", kept, stdin=b"a;b 3\n")
    for args in (["convert", kept, "--focus", "a"], ["convert", kept, "--frames", "function"], ["merge", kept, kept]):
        answer = run(*args, "-o", out, code=0)
        assert "2 extension records" in answer.err or "4 extension records" in answer.err
        assert originals(out) == ([], [])


# ---- what is told


def test_it_is_told_that_stack_memory_is_kept(tmp_path):
    def recording(bits):
        r = perf.Recording([(2, 1, perf.IP | perf.TID | perf.TIME | bits, {"regs": 1, "stack": 8})])
        r.mmap(10, 0x1000, 0x1000, 0, b"/bin/a", 100)
        r.record(9, 2, r.pack("QiiQ", 0x1010, 10, 10, 200) + (r.pack("QQQQ", 0, 8, 0x5345435245545321, 8) if bits else b""))
        return r.bytes()

    for bits, told in ((perf.REGS_USER | perf.STACK_USER, True), (0, False)):
        answer = run("convert", "-", "--lossless", "-o", tmp_path / "x.spaa", stdin=recording(bits), code=0)
        assert ("stack memory" in answer.err) == told
    assert "stack memory" not in run("convert", "-", "-o", tmp_path / "x.spaa", stdin=recording(perf.REGS_USER | perf.STACK_USER), code=0).err


# ---- damage


def records(kept):
    with open(kept, "rb") as f:
        lines = f.read().splitlines()
    return [x for x in lines if b'"x_original"' not in x], [json.loads(x) for x in lines if b'"x_original"' in x]


@pytest.fixture(scope="module")
def several_parts(tmp_path_factory):
    """Text of one stack that fills several parts, and the SPAA that keeps it."""
    kept = tmp_path_factory.mktemp("parts") / "kept.spaa"
    rng = random.Random(1)
    text = b"a;b 3\n" + b"".join(b"# %s\n" % base64.b64encode(rng.randbytes(6000)) for _ in range(400))
    keep("-", kept, stdin=text)
    return kept


def spoiled(change, several_parts, tmp_path):
    kept, out = tmp_path / "kept.spaa", tmp_path / "out.folded"
    rest, own = records(several_parts)
    assert len(own) > 3
    own = change(own) or own
    kept.write_bytes(b"\n".join(rest + [json.dumps(x, separators=(",", ":")).encode() for x in own]) + b"\n")
    answer = run("convert", kept, "--lossless", "-o", out, code=3)
    assert "SPAA-E010" in answer.err and "is damaged: " in answer.err and not out.exists()
    answer = run("convert", kept, "-o", out, code=0)
    assert "is damaged" in answer.err and out.read_bytes() == b"a;b 3\n"
    out.unlink()
    run("convert", kept, "-o", tmp_path / "again.spaa", code=0) # records that nobody understands
    assert (tmp_path / "again.spaa").read_bytes() == kept.read_bytes()
    return answer.err


def flip(own, at=1000):
    data = own[1]["data"]
    own[1]["data"] = data[:at] + ("A" if data[at] != "A" else "B") + data[at + 1 :]


def member(i, **more):
    return lambda own: own[i].update(more)


@pytest.mark.parametrize("change, words", [
    (flip, ""),
    (lambda own: own[:1] + own[2:], "a part is missing"),
    (lambda own: own[:2] + own[1:], "a part is missing or stands twice"),
    (lambda own: [own[1], own[0], *own[2:]], "a part is missing"),
    (lambda own: own[:-2] + own[-1:], "cut off"),
    (lambda own: own[:-1], "the record that describes it is missing"),
    (member(-1, size=-1), "the record that describes it is missing"),
    (member(1, data="AAAA"), ""),
    (member(1, data="A*AA"), "no base64"),
    (member(1, data="AAA"), "no base64"),
    (member(1, data=""), ""),
    (member(-1, size=1000), "larger than it says"),
    (member(-1, size=1 << 60), "cut off"),
    (member(-1, parts=1), "cut off"),
    (member(-1, digest="xxh3-128:" + "0" * 32), "digest"),
    (member(-1, digest="md5:" + "0" * 32), "digest"),
    (member(-1, digest=5), "not known"),
    (member(-1, encoding="rot13"), "not known"),
    (member(-1, id=9), ""),
    (member(-1, file="data"), "no names"),
    (lambda own: own + own[-1:], "the same"),
])
def test_damage(change, words, several_parts, tmp_path):
    assert words in spoiled(change, several_parts, tmp_path)


def test_a_key_that_stands_twice_is_written_once(tmp_path):
    kept, out = tmp_path / "kept.spaa", tmp_path / "out.spaa"
    keep("-", kept, stdin=b"a;b 3\n")
    kept.write_bytes(kept.read_bytes().replace(b'"type":"x_original",', b'"type":"x_original","id":1,"id":1,"type":"x_other",'))
    answer = run("convert", kept, "-o", out, code=0)
    assert "SPAA-E124" in answer.err or "twice" in answer.err
    run("validate", out, code=0)


def test_a_bomb_ends_at_the_size_that_is_declared(tmp_path):
    if not shutil.which("zstd"):
        pytest.skip("no zstd")
    kept = tmp_path / "kept.spaa"
    keep("-", kept, stdin=b"a;b 3\n")
    bomb = subprocess.run("head -c 400000000 /dev/zero | zstd -q -c", shell=True, stdout=subprocess.PIPE, check=True).stdout
    rest, own = records(kept)
    own[0]["data"] = base64.b64encode(bomb).decode()
    kept.write_bytes(b"\n".join(rest + [json.dumps(x).encode() for x in own]) + b"\n")
    assert "larger than it says" in run("convert", kept, "--lossless", "--to", "folded", "-o", "-", code=3, timeout=5).err


def test_layers_of_older_versions_pass_through(tmp_path):
    old = ['{"type":"x_dtrace_line","text":"libc`malloc"}', '{"type":"x_dtrace_text","rows":[0,[14,"",0,1,1,0]],"digest":"0x12"}']
    kept, out = tmp_path / "kept.spaa", tmp_path / "out.spaa"
    run("convert", "-", "-o", kept, stdin=b"a;b 3\n", code=0)
    with open(kept, "a") as f:
        f.write("\n".join(old) + "\n")
    run("convert", kept, "-o", out, code=0)
    assert out.read_text().splitlines()[-2:] == old
    assert run("convert", out, "--to", "dtrace", "-o", "-", code=0).err == ""


# ---- recordings of several files


def directory(path):
    path.mkdir()
    r = perf.simple()
    r.features[24] = r.pack("Q", 1)
    data = {"data": r.bytes(), "data.0": perf.simple().body, "data.1": b"", "data.2": perf.simple().body}
    for name, text in data.items():
        (path / name).write_bytes(text)
    return data


def test_a_recording_of_several_files(tmp_path):
    data = directory(tmp_path / "rec")
    kept, out = tmp_path / "kept.spaa", tmp_path / "back"
    keep(tmp_path / "rec", kept)
    assert [(x["file"], x["size"]) for x in originals(kept)[1]] == [(name, len(text)) for name, text in data.items()]
    run("convert", kept, "--lossless", "--to", "perf-data", "-o", out, code=0)
    assert {p.name: p.read_bytes() for p in out.iterdir()} == data
    assert run("info", out, "--json", code=0).out == run("info", tmp_path / "rec", "--json", code=0).out.replace("/rec", "/back")
    # a folder that is there is left as it is, and standard output is none
    answer = run("convert", kept, "--lossless", "--to", "perf-data", "-o", out, code=3)
    assert str(out) in answer.err and {p.name: p.read_bytes() for p in out.iterdir()} == data
    answer = run("convert", kept, "--lossless", "--to", "perf-data", "-o", "-", code=2)
    assert "a recording of 4 files" in answer.err and not answer.raw


@pytest.mark.parametrize("name", ["../data", "/tmp/data", "", ".", "..", ".hidden", "a/b"])
def test_names_of_files_lead_nowhere_else(name, tmp_path):
    directory(tmp_path / "rec")
    kept, out = tmp_path / "kept.spaa", tmp_path / "back"
    keep(tmp_path / "rec", kept)
    sed(kept, b'"file":"data.1"', b'"file":"%s"' % name.encode())
    assert "is damaged" in run("convert", kept, "--lossless", "--to", "perf-data", "-o", out, code=3).err
    assert not out.exists()


def test_validate_looks_at_originals_and_info_names_them(tmp_path):
    kept, bad = tmp_path / "kept.spaa", tmp_path / "bad.spaa"
    keep(os.path.join(FIXTURES, "perf_data/rich.perf.data"), kept)
    size = len(fixture("perf_data/rich.perf.data"))
    assert "W224" not in run("validate", kept, code=0).err
    assert re.search(r"^original +perf-data, .*--lossless --to perf-data", run("info", kept, code=0).out, re.M)
    assert json.loads(run("info", kept, "--json", code=0).out)["originals"] == [{"format": "perf-data", "size": size}]
    lines = kept.read_text().splitlines(keepends=True)
    first = next(i for i, x in enumerate(lines) if '"x_original"' in x)
    for wrong, why in [([x.replace('"size":%d' % size, '"size":7') for x in lines], "larger than it says"),
                       ([x for x in lines if '"parts":' not in x], "record that describes it is missing"),
                       ([x for x in lines if '"part":1,' not in x], "cut off|missing"),
                       ([x.replace('"digest":"xxh3-128:', '"digest":"xxh3-128:0') for x in lines], "digest is another")]:
        bad.write_text("".join(wrong))
        for jobs in "1", "4":
            said = run("validate", "-j", jobs, bad, code=0).err
            assert re.search(why, said) and "W224" in said and f"line {first + 1}," in said
        run("validate", "--strict", bad, code=1)

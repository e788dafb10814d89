"""Code made while a program runs: jitdumps, beside recordings and by themselves."""

import json
import os
import random
import shutil
import struct
import subprocess
import sys

import pytest

from conftest import run

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from perf_data_files import CALLCHAIN, IP, PERIOD, TID, TIME, Recording  # noqa: E402
from test_symbolize import one_frame_profile  # noqa: E402


def jitdump(path, big):
    """alpha at 0x5000, later beta over its first half, gamma loaded and moved; alpha and gamma have lines."""
    e = ">" if big else "<"

    def record(kind, time, body):
        return struct.pack(e + "IIQ", kind, 16 + len(body), time) + body

    def load(time, addr, size, index, name):
        return record(0, time, struct.pack(e + "IIQQQQ", 77, 77, addr, addr, size, index) + name + b"\0" + bytes(size))

    def lines(time, addr, *rows):
        body = struct.pack(e + "QQ", addr, len(rows))
        return record(2, time, body + b"".join(struct.pack(e + "Qii", a, n, 0) + f + b"\0" for a, n, f in rows))

    header = struct.pack(e + "IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 77, 1, 0)
    path.write_bytes(
        header + lines(10, 0x5000, (0x5000, 3, b"a.js"), (0x5080, 4, b"\377"))
        # In the file before what it was written over, in time behind it.
        + load(10, 0x5000, 0x100, 1, b"alpha") + load(30, 0x4ff0, 0x50, 2, b"beta") + load(20, 0x5010, 0x10, 3, b"older")
        + lines(40, 0x7000, (0x7000, 9, b"g.js")) + load(40, 0x7000, 0x20, 4, b"gamma")
        + record(1, 50, struct.pack(e + "IIQQQQQ", 77, 77, 0x7000, 0x7000, 0x9000, 0x20, 4))
        + record(4, 60, bytes(24)) + record(3, 70, b"") + b"\1\0\0\0\xff\xff")  # cut off


@pytest.mark.parametrize("big", [False, True])
def test_code_of_a_jitdump_has_names_and_lines(big, tmp_path):
    (tmp_path / "symfs" / "tmp").mkdir(parents=True)
    jitdump(tmp_path / "symfs" / "tmp" / "jit-77.dump", big)
    one_frame_profile(tmp_path / "in.spaa", "[anon]", [0x4ff8, 0x5015, 0x5048, 0x5090, 0x9004, 0x9100])
    text = (tmp_path / "in.spaa").read_text().replace('"context": {', '"context": {"pid": 77, ')
    (tmp_path / "in.spaa").write_text(text)
    run("symbolize", tmp_path / "in.spaa", "--symfs", tmp_path / "symfs", "-o", tmp_path / "out.spaa", code=0)
    records = [json.loads(line) for line in (tmp_path / "out.spaa").read_text().splitlines()]
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    found = {r["ip"]: (dsos[r["dso"]], r["func"], r.get("symoff"), r.get("srcline")) for r in records if r["type"] == "frame"}
    assert found == {
        "0x4ff8": ("[jit]", "beta", "0x8", None), "0x5015": ("[jit]", "beta", "0x25", None),
        "0x5048": ("[jit]", "alpha", "0x48", "a.js:3"), "0x5090": ("[jit]", "alpha", "0x90", "a.js:4"),
        "0x9004": ("[jit]", "gamma", "0x4", "g.js:9"), "0x9100": ("[anon]", "0x9100", None, None)}


def test_a_jitdump_that_a_recording_names_is_read(tmp_path):
    recording = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99})])
    jitdump(tmp_path / "jit-77.dump", False)
    recording.comm(77, 77, b"vm", 100)
    recording.mmap(77, 0x1000, 0x1000, 0, str(tmp_path / "jit-77.dump").encode(), 100)
    recording.mmap(77, 0x5000, 0x5000, 0, b"//anon", 101)
    recording.sample(chain=[0x9004, 0x5091], pid=77, tid=77, time=200)
    (tmp_path / "perf.data").write_bytes(recording.bytes())
    run("convert", tmp_path / "perf.data", "-o", tmp_path / "out.spaa", code=0)
    frames = {r["func"]: r.get("srcline") for r in map(json.loads, (tmp_path / "out.spaa").read_text().splitlines())
              if r["type"] == "frame"}
    assert frames == {"gamma": "g.js:9", "alpha": "a.js:4"}


def dump_record(e, kind, time, body):
    return struct.pack(e + "IIQ", kind, 16 + len(body), time) + body


def dump_load(e, time, addr, size, index, name):
    return dump_record(e, 0, time, struct.pack(e + "IIQQQQ", 77, 77, addr, addr, size, index) + name + b"\0" + bytes(size))


def dump_lines(e, time, addr, *rows):
    return dump_record(e, 2, time, struct.pack(e + "QQ", addr, len(rows)) +
                       b"".join(struct.pack(e + "Qii", a, n, 0) + f + b"\0" for a, n, f in rows))


def dump_move(e, time, old, new, size, index):
    return dump_record(e, 1, time, struct.pack(e + "IIQQQQQ", 77, 77, new, old, new, size, index))


def dump_header(e, flags=0):
    return struct.pack(e + "IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 77, 1, flags)


def replaced(e="<", flags=0, scale=1):
    """Three functions at 0x5000, each with lines; one that moves away and comes back; one that stays."""
    t = [scale * n for n in range(1000)]
    return (dump_header(e, flags) +
            dump_lines(e, t[100], 0x5000, (0x5000, 1, b"one.js")) + dump_load(e, t[100], 0x5000, 0x100, 1, b"one") +
            dump_load(e, t[110], 0x8000, 0x100, 9, b"stays") +
            dump_lines(e, t[300], 0x5040, (0x5040, 3, b"three.js"), (0x5060, 4, b"\377")) +
            dump_load(e, t[300], 0x5040, 0x40, 3, b"three") +
            dump_lines(e, t[200], 0x5000, (0x5000, 2, b"two.js")) + dump_load(e, t[200], 0x5000, 0x100, 2, b"two") +
            dump_load(e, t[120], 0x6000, 0x100, 4, b"mover") + dump_move(e, t[400], 0x6000, 0x7000, 0x100, 4) +
            dump_load(e, t[410], 0x6000, 0x80, 5, b"heir") + dump_move(e, t[500], 0x7000, 0x6000, 0x100, 4))


def recording_of_a_vm(tmp_path, dump, big=False, samples=(), **clock):
    r = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99, **clock})], big)
    (tmp_path / "jit-77.dump").write_bytes(dump)
    r.comm(77, 77, b"vm", 10)
    r.mmap(77, 0x1000, 0x1000, 0, str(tmp_path / "jit-77.dump").encode(), 10)
    r.mmap(77, 0x5000, 0x5000, 0, b"//anon", 11)
    r.mmap(77, 0xa000, 0x1000, 0, b"/lib/late.so", 350)
    for time, chain in samples:
        r.sample(chain=[(1 << 64) - 512, *chain], pid=77, tid=77, time=time)
    (tmp_path / "perf.data").write_bytes(r.bytes())
    return tmp_path / "perf.data"


def names_by_time(path, *options):
    done = run("convert", path, "--samples", "--to", "spaa", "-o", "-", *options, code=0)
    records = [json.loads(line) for line in done.out.splitlines()]
    frames = {r["id"]: r["func"] + ("@" + r["srcline"] if "srcline" in r else "") for r in records if r["type"] == "frame"}
    stacks = {r["id"]: [frames[f] for f in r["frames"]] for r in records if r["type"] == "stack"}
    return [(round(r["timestamp"] * 1e9), *stacks[r["stack_id"]]) for r in records if r["type"] == "sample"], done.err


REPLACED_AT = (90, 150, 250, 305, 360, 405, 450, 600)
REPLACED_NAMES = [
    (90, "one@one.js:1", "mover", "stays"), (150, "one@one.js:1", "mover", "stays"), (250, "two@two.js:2", "mover", "stays"),
    (305, "three@three.js:4", "mover", "stays"), (360, "three@three.js:4", "mover", "stays"),
    (405, "three@three.js:4", "mover", "stays"), (450, "three@three.js:4", "heir", "stays"),
    (600, "three@three.js:4", "mover", "stays")]


@pytest.mark.parametrize("big", [False, True], ids=["little", "big"])
def test_of_replaced_code_the_latest_before_the_sample_is_taken(big, tmp_path):
    path = recording_of_a_vm(tmp_path, replaced("><"[not big]), big, [(t, [0x5070, 0x6010, 0x8020]) for t in REPLACED_AT],
                             clockid=1)
    got, said = names_by_time(path)
    assert got == REPLACED_NAMES and "SPAA-I834" not in said
    frames = [json.loads(line) for line in run("convert", path, "--to", "spaa", "-o", "-", code=0).out.splitlines()]
    # Once for each code that stood somewhere, not for each sample.
    assert sorted(f["func"] for f in frames if f["type"] == "frame") == ["heir", "mover", "one", "stays", "three", "two"]


def test_places_in_replaced_code_that_no_later_code_covers(tmp_path):
    path = recording_of_a_vm(tmp_path, replaced(), samples=[(t, [0x5010]) for t in (150, 250, 600)], clockid=1)
    assert names_by_time(path)[0] == [(150, "one@one.js:1"), (250, "two@two.js:2"), (600, "two@two.js:2")]


def test_without_a_common_clock_the_last_is_taken_and_said(tmp_path):
    samples = [(t, [0x5070, 0x6010, 0x8020]) for t in (150, 600)]
    for clock in ({}, {"clockid": 4}):
        got, said = names_by_time(recording_of_a_vm(tmp_path, replaced(), samples=samples, **clock))
        assert [row[1:] for row in got] == [("three@three.js:4", "mover", "stays")] * 2
        assert "SPAA-I834" in said and "process 77: 2 addresses" in said
    (_, *stays), = names_by_time(recording_of_a_vm(tmp_path, replaced(), samples=[(150, [0x8020])]))[0]
    assert stays == ["stays"]


def test_cycles_become_times_by_what_the_recording_says(tmp_path):
    """The dump counts cycles, four to the nanosecond, from 50 ns on: perf's TIME_CONV."""
    path = recording_of_a_vm(tmp_path, replaced(flags=1, scale=4), samples=())
    r = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99})])
    r.record(79, 0, r.pack("QQQ", 4, 4, 50))
    r.comm(77, 77, b"vm", 10)
    r.mmap(77, 0x1000, 0x1000, 0, str(tmp_path / "jit-77.dump").encode(), 10)
    r.mmap(77, 0x5000, 0x5000, 0, b"//anon", 11)
    for t in REPLACED_AT:
        r.sample(chain=[(1 << 64) - 512, 0x5070, 0x6010, 0x8020], pid=77, tid=77, time=t + 50)
    path.write_bytes(r.bytes())
    got, said = names_by_time(path)
    assert got == [(t + 50, *names) for t, *names in REPLACED_NAMES] and "SPAA-I834" not in said


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not here")
def test_replaced_code_is_that_of_perf_inject(tmp_path):
    samples = [(t, [0x5070, 0x6010, 0x8020]) for t in REPLACED_AT[1:]]
    path = recording_of_a_vm(tmp_path, replaced(), samples=samples, clockid=1)
    subprocess.run(["perf", "inject", "--jit", "-i", path, "-o", "out.data"], cwd=tmp_path, capture_output=True, check=True)
    text = subprocess.run(["perf", "script", "-i", "out.data", "-F", "time,ip,sym"], cwd=tmp_path, capture_output=True, check=True)
    theirs = [[line.split()[-1] for line in block.split("\n")[1:]] for block in text.stdout.decode().strip().split("\n\n")]
    assert [[n.split("@")[0] for n in names] for _, *names in names_by_time(path)[0]] == theirs


@pytest.mark.parametrize("seed", range(3))
def test_replaced_code_is_that_of_a_plain_search(seed, tmp_path):
    """Against a search of all loads for each sample."""
    draw = random.Random(seed)
    loads, dump = [], dump_header("<")
    for i in range(300):
        at, size = 0x5000 + draw.randrange(0x400) * 16, draw.choice([16, 48, 256, 1024])
        loads.append((10 * draw.randrange(20, 200), len(loads), at, size, b"f%d" % i))
        dump += dump_load("<", loads[-1][0], at, size, i + 1, loads[-1][4])
    samples = [(time, [0x5000 + draw.randrange(0x4800) for _ in range(3)]) for time in range(155, 2100, 5)]

    def name(time, addr):
        there = [x for x in loads if x[2] <= addr < x[2] + x[3]]
        past = [x for x in there if x[0] <= time]
        best = max(past) if past else min(there) if there else None
        return best[4].decode() if best else None

    path = recording_of_a_vm(tmp_path, dump, samples=samples, clockid=1)
    got, _ = names_by_time(path)
    for (time, *names), (t, chain) in zip(got, samples):
        assert time == t
        expected = [name(t, a - (k > 0)) for k, a in enumerate(chain)]
        assert [n if not n.startswith("0x") else None for n in names] == expected


@pytest.mark.parametrize("seed", range(4))
def test_damaged_jitdumps_do_no_harm(seed, tmp_path):
    (tmp_path / "tmp").mkdir()
    path, draw = tmp_path / "tmp" / "jit-77.dump", random.Random(seed)
    one_frame_profile(tmp_path / "in.spaa", "[anon]", [0x4ff8, 0x5015, 0x5090, 0x9004])
    text = (tmp_path / "in.spaa").read_text().replace('"context": {', '"context": {"pid": 77, ')
    (tmp_path / "in.spaa").write_text(text)
    for _ in range(12):
        jitdump(path, seed % 2)
        data = bytearray(path.read_bytes()[: draw.randrange(30, 1200)])
        for _ in range(draw.randrange(8)):
            data[draw.randrange(len(data))] = draw.choice([0, 1, 0xff, 0x80])
        path.write_bytes(data)
        run("symbolize", tmp_path / "in.spaa", "--symfs", tmp_path, "-o", tmp_path / "out.spaa", code=0)


def symbolize_jit(tmp_path, name, content, *addresses):
    """What is said, and the names that code of process 77 got."""
    (tmp_path / "symfs" / "tmp").mkdir(parents=True, exist_ok=True)
    (tmp_path / "symfs" / "tmp" / name).write_bytes(content)
    one_frame_profile(tmp_path / "in.spaa", "[anon]", list(addresses))
    text = (tmp_path / "in.spaa").read_text().replace('"context": {', '"context": {"pid": 77, ')
    (tmp_path / "in.spaa").write_text(text)
    done = run("symbolize", tmp_path / "in.spaa", "--symfs", tmp_path / "symfs", "-o", tmp_path / "out.spaa", code=0)
    records = [json.loads(line) for line in (tmp_path / "out.spaa").read_text().splitlines()]
    return done.err, [r["func"] for r in records if r["type"] == "frame"]


def good_load(e="<"):
    return dump_load(e, 10, 0x5000, 0x100, 1, b"good")


def load_that_says(size, name=b"bad", code=bytes(16), addr=0x1000):
    return dump_record("<", 0, 20, struct.pack("<IIQQQQ", 77, 77, addr, addr, size, 2) + name + b"\0" + code)


def unwinding(size, table, *, body=16):
    return dump_record("<", 4, 20, struct.pack("<QQQ", size, table, 0) + bytes(body)) + dump_load("<", 20, 0x6000, 8, 9, b"next")


DAMAGED = {
    "cut off": (good_load()[:-1], 0, "cut off"),
    "cut in its head": (b"\0" * 15, 0, "cut off"),
    "longer than the file": (struct.pack("<IIQ", 0, 1 << 30, 5) + bytes(64), 0, "cut off"),
    "shorter than its head": (struct.pack("<IIQ", 0, 15, 5) + bytes(64), 0, "its size"),
    "of an unknown kind": (dump_record("<", 5, 20, bytes(8)) + dump_record("<", 6, 20, b""), 1, "unknown kind"),
    "a load without its end": (dump_record("<", 0, 20, bytes(40)) + dump_record("<", 0, 20, bytes(40) + b"name"), 1, "no name"),
    "a load beyond all addresses": (dump_load("<", 20, (1 << 64) - 2, 16, 2, b"far"), 0, "last address"),
    "a move of other code": (dump_move("<", 20, 0x5000, 0x9000, 0x100, 2), 0, "not loaded"),
    "a move from elsewhere": (dump_move("<", 20, 0x6000, 0x9000, 0x100, 1), 0, "not loaded"),
    "a move that is too short": (dump_record("<", 1, 20, bytes(47)), 0, "too short"),
    "lines that are too short": (dump_record("<", 2, 20, bytes(15)), 0, "too short"),
    "fewer lines than it says": (dump_record("<", 2, 20, struct.pack("<QQQii", 0x5000, 2, 0x5000, 1, 0) + b"a\0"), 0, "lines"),
    "code of 2^63 bytes": (load_that_says(1 << 63), 0, "more code"),
    "code of all ones": (load_that_says((1 << 64) - 1, addr=0), 0, "more code"),
    "code of all ones that is not there": (load_that_says((1 << 64) - 1, code=b"", addr=0), 0, "more code"),
    "more code than there is": (load_that_says(0x9000), 0, "more code"),
    "a name without its NUL": (dump_record("<", 0, 20, struct.pack("<IIQQQQ", 77, 77, 0x5000, 0x5000, 16, 2) + b"bad" + b"\xcc" * 9 +
                                           bytes(7)), 0, "no name that ends"),
    "an end with a body": (dump_record("<", 3, 70, bytes(8)), 0, "end"),
    "too short for how to unwind": (dump_record("<", 4, 60, bytes(23)) + dump_load("<", 20, 0x6000, 8, 9, b"next"), 0, "too short"),
    "more on how to unwind than there is": (unwinding(17, 4), 0, "unwind"),
    "a table larger than how to unwind": (unwinding(16, 17), 0, "unwind"),
    "lines of code that does not come": (dump_lines("<", 20, 0x6000, (0x6000, 1, b"a.js")), 0, "ends before"),
    "how to unwind code that does not come": (dump_record("<", 4, 60, bytes(24)), 0, "ends before"),
    "a move beyond all addresses": (dump_move("<", 20, 0x5000, (1 << 64) - 2, 0x100, 1), 0, "last address"),
    "a file as the one before, of none": (dump_lines("<", 20, 0x5000, (0x5000, 1, b"\377")), 0, "file"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_records_that_cannot_be_used_are_told(case, tmp_path):
    bad, more, why = DAMAGED[case]
    start = dump_header("<") + good_load()
    err, names = symbolize_jit(tmp_path, "jit-77.dump", start + bad, 0x5010)
    assert names == ["good"]
    told = [line for line in err.splitlines() if "SPAA-W802" in line]
    assert len(told) == 1, err
    assert "jit-77.dump" in told[0] and f"byte {len(start)}" in told[0] and why in told[0], told
    assert f"{1 + more} record{'s' if more else ''} " in told[0]


def test_whole_jitdumps_are_not_told(tmp_path):
    rest = (dump_record("<", 4, 60, bytes(24)) + dump_record("<", 3, 70, b"") + dump_load("<", 20, 0x6000, 0, 2, b"nothing") +
            dump_lines("<", 20, 0x5000) + dump_load("<", 20, (1 << 64) - 16, 16, 3, b"last"))
    # Java's agent may leave code out; names may be followed by more NULs; programs that are killed write no end.
    rest += unwinding(16, 16) + load_that_says(0x40, code=b"", addr=0x8000) + load_that_says(16, b"padded\0\0", addr=0x8100)
    err, names = symbolize_jit(tmp_path, "jit-77.dump", dump_header("<") + good_load() + rest, 0x5010, 0x8020, 0x8108)
    assert set(names) == {"good", "bad", "padded"} and "W802" not in err


@pytest.mark.parametrize("name, content", [
    ("jit-77.dump", dump_header("<") + load_that_says(16, b"\xc3\xa4" * (4 << 20), addr=0x5000)),
    ("perf-77.map", b"5000 100 " + b"\xc3\xa4" * (4 << 20) + b"\n"),
    ("perf-77.map", b"5000 100 a" + b"\xc3\xa4" * (4 << 20) + b"\n")], ids=["jitdump", "map", "map within a character"])
def test_names_that_are_too_long_are_cut_and_told(name, content, tmp_path):
    err, names = symbolize_jit(tmp_path, name, content, 0x5008)
    assert len(names) == 1 and names[0].strip("a") == "\xe4" * len(names[0].strip("a"))
    assert 65530 < len(names[0].encode()) <= 65536
    assert err.count("SPAA-W802") == 1 and "too long" in err


@pytest.mark.parametrize("content, where", [(dump_header("<")[:39], 0), (b"x" * 100, 0), (b"JiTD" + bytes(96), 8),
                                            (dump_header("<").replace(struct.pack("<II", 1, 40), struct.pack("<II", 1, 99)), 8),
                                            (dump_header("<").replace(struct.pack("<II", 1, 40), struct.pack("<II", 2, 40))
                                             + load_that_says(16, b"named", addr=0x5000), 4)],
                         ids=["cut off", "something else", "no size", "beyond the file", "of another version"])
def test_a_jitdump_without_its_header_is_told(content, where, tmp_path):
    content = content.replace(b"JiTD", struct.pack("<I", 0x4A695444))
    err, names = symbolize_jit(tmp_path, "jit-77.dump", content, 0x5010)
    assert names == ["0x5010"]
    assert err.count("SPAA-W802") == 1 and "jit-77.dump" in err and f"byte {where}" in err and "header" in err


def test_an_empty_jitdump_has_nothing_to_tell(tmp_path):
    assert "W802" not in symbolize_jit(tmp_path, "jit-77.dump", b"", 0x5010)[0]


def test_lines_of_a_perf_map_that_cannot_be_used_are_told(tmp_path):
    text = b"4000 10 before\n\nnot a line\n5000 100 good\n6000 10\n7000 zz name\r\n \n"
    err, names = symbolize_jit(tmp_path, "perf-77.map", text, 0x5010)
    assert names == ["good"]
    told = [line for line in err.splitlines() if "SPAA-W802" in line]
    assert len(told) == 1 and "perf-77.map" in told[0] and "3 lines " in told[0] and "line 3" in told[0], err


@pytest.mark.parametrize("line, why", [
    (b"1000 ffffffffffffffff all", "size"), (b"0 ffffffffffffffff all", "size"), (b"1000 ffffffff all", "size"),
    (b"1000 fffffffffffffff0 all", "size"), (b"5000 100 b\0d", "NUL"), (b"\0", "no address"),
    (b"7f12345000 100 first7f12345100 80 second", "another line"), (b"0x7f12345000 0x100 9910x7f12345100 0x80 second", "another line")])
def test_lines_of_a_perf_map_that_cannot_be_are_left_out(line, why, tmp_path):
    err, names = symbolize_jit(tmp_path, "perf-77.map", b"5000 100 good\n" + line + b"\n", 0x5010, 0x90000, 0x7f12345010)
    assert set(names) == {"good", "0x90000", "0x7f12345010"}
    told = [line for line in err.splitlines() if "SPAA-W802" in line]
    assert len(told) == 1 and "1 line " in told[0] and "line 2" in told[0] and why in told[0], err


@pytest.mark.parametrize("content", [b"", b"\n\r\n"])
def test_a_perf_map_without_a_line_is_told(content, tmp_path):
    err, names = symbolize_jit(tmp_path, "perf-77.map", content, 0x5010)
    assert names == ["0x5010"] and err.count("SPAA-W802") == 1 and "no line" in err


def test_names_in_a_perf_map_that_look_like_other_lines(tmp_path):
    text = (b"7f12345000 100 LazyCompile:*at /a b/7f12345100 80\n7f12345200 100 call 7f12345000 80 x\n"
            b"7f12345300 0 stub\n7f12345300 40 over it\n7f12345310 100 overlaps\n7f12346000 ffffff0 [all code]\n"
            b"7f92345400 10 hash1f12345100 80 times\n")
    err, names = symbolize_jit(tmp_path, "perf-77.map", text, 0x7f12345308, 0x7f12345240, 0x7f12345320)
    assert set(names) == {"over it", "call 7f12345000 80 x", "overlaps"} and "W802" not in err


@pytest.mark.parametrize("runtime", ["node", "python3"])
def test_maps_of_runtimes_are_whole(runtime, tmp_path):
    options = {"node": ["--perf-basic-prof", "-e"], "python3": ["-X", "perf", "-c"]}[runtime]
    program = {"node": "let s = 0; for (let i = 0; i < 1e6; i++) s += [i].map(x => x + 1)[0];", "python3": "import json; json.dumps([1])"}
    if not shutil.which(runtime):
        pytest.skip(f"{runtime} is not here")
    process = subprocess.Popen([runtime, *options, program[runtime]], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.wait(120)
    written = f"/tmp/perf-{process.pid}.map"
    if not os.path.exists(written) or not os.path.getsize(written):
        pytest.skip(f"{runtime} writes no map")
    with open(written, "rb") as f:
        content = f.read()
    os.remove(written)
    assert "W802" not in symbolize_jit(tmp_path, "perf-77.map", content, 0x5010)[0]


def test_the_last_line_of_a_perf_map_that_has_no_end_is_told(tmp_path):
    """Its name is used, and may be cut: maps are copied while they are written."""
    err, names = symbolize_jit(tmp_path, "perf-77.map", b"5000 100 first\n6000 10 Pool.rele", 0x5010, 0x6001)
    assert "SPAA-W802" in err and "line 2" in err and "may be cut" in err and set(names) == {"first", "Pool.rele"}


def test_a_whole_perf_map_is_not_told(tmp_path):
    err, names = symbolize_jit(tmp_path, "perf-77.map", b"5000 100 good\r\n0x6000\t0x10 other one \n\n", 0x5010)
    assert names == ["good"] and "W802" not in err

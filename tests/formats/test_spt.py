"""SPT: counts against an independent generator, round trips, damage, findings, writing."""

import json
import pathlib
import random
import struct
import subprocess
import uuid

import gen_spt as spt
import pytest
from conftest import BIN, ROOT, ask, parse, run
from spt_files import APP, KERNEL, counts, small, write


# The generator's files

@pytest.mark.parametrize("block", range(20))
def test_random_files_count_as_the_generator_does(block, tmp_path):
    path = tmp_path / "x.spt"
    for seed in range(block * 100, block * 100 + 100):
        f = spt.random_file(seed)
        write(path, f)
        answer = run("convert", path, "--to", "spaa", "-o", "-", "--no-symbols", "-q")
        if f.counts():
            assert counts(answer.out) == f.counts(), seed
        else:
            assert answer.code == 3 and "SPAA-E011" in answer.err, seed


@pytest.mark.parametrize("block", range(4))
def test_random_files_come_back(block, tmp_path):
    path, kept, plain = tmp_path / "x.spt", tmp_path / "kept.spaa", tmp_path / "plain.spt"
    for seed in range(block * 25, block * 25 + 25):
        f = spt.random_file(seed)
        write(path, f)
        run("convert", path, "-o", kept, "--lossless", "-q", code=0)
        run("convert", kept, "-o", tmp_path / "back.spt", "-q", code=0)
        assert (tmp_path / "back.spt").read_bytes() == f.bytes(), seed
        if f.counts():
            run("convert", path, "-o", plain, "-q", code=0)
            again = run("convert", plain, "--to", "spaa", "-o", "-", "--no-symbols", "-q", code=0)
            assert counts(again.out) == f.counts(), seed


def test_random_files_are_valid(tmp_path):
    paths = [write(tmp_path / ("%d.spt" % seed), spt.random_file(seed)) for seed in range(200)]
    answer = ask("validate", *paths)
    assert answer["valid"] and answer["errors"] == 0


def test_dump_has_every_record(tmp_path):
    for seed in range(30):
        f = spt.random_file(seed)
        lines = [parse(x) for x in run("dump", write(tmp_path / "x.spt", f), code=0).out.splitlines()]
        events = [x for x in lines if x["section"] == "event"]
        segments, at = [], f.data_at()
        for s in f.segments:
            segments.append([])
            for op, what in s.records:
                if op == spt.LBR:
                    what = [{"from": hex(a), "to": hex(b)} for a, b in what]
                segments[-1].append((spt.NAMES[op], what if op in (spt.REPEAT, spt.LBR) else [hex(x) for x in what]))
        seen = []
        for x in events:
            if x["record"] is None:
                assert bytes.fromhex(x["bytes"]) == f.tail
                continue
            assert x["offset"] == at
            if x["record"] == "SPT_OP_BINARY_ID":
                seen.append([])
                at += 8
                continue
            what = next(x[k] for k in ("repeat", "rvas", "pairs", "frames") if k in x)
            seen[-1].append((x["record"], what))
            at += 10 if "repeat" in x else 2 + x["n"] * (8 if "pairs" in x else 4)
        assert seen == segments
        programs = [x for x in lines if x["section"] == "progid"]
        assert [(x["name"], x["guid"], x["age"], x["build_id"]) for x in programs] == [
            (p.name, "{%s}" % str(p.guid).upper(), p.age, spt.build_id(p)) for p in f.programs]
        hits = {}
        for (name, build, op, _), n in f.counts().items():
            hits[name, spt.NAMES[op]] = hits.get((name, spt.NAMES[op]), 0) + n
        totals = {}
        for x in lines:
            if x["section"] == "total" and x["hits"]:
                key = x["name"], x["record"]
                totals[key] = totals.get(key, 0) + x["hits"]
        assert totals == hits


# Damage

def test_what_precedes_damage_is_kept(tmp_path):
    path = tmp_path / "x.spt"
    for seed in range(100):
        f = spt.random_file(seed, records=20)
        data, rng = bytearray(f.bytes()), random.Random(seed)
        if len(data) <= f.data_at() + 8:
            continue
        at = rng.randrange(f.data_at(), len(data))
        how = rng.randrange(4)
        if how == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del data[at:]
        elif how == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        else:
            del data[at:at + rng.randrange(1, 9)]
        write(path, bytes(data))
        before = [parse(x) for x in run("dump", write(tmp_path / "whole.spt", f), "--section", "event",
                                        code=0).out.splitlines()]
        after = [parse(x) for x in run("dump", path, "--section", "event", code=0).out.splitlines()]
        ends = [x["offset"] for x in before[1:]] + [len(f.bytes())]
        whole = [x for x, end in zip(before, ends) if end <= at and x["record"]]
        assert after[:len(whole)] == whole, seed
        run("validate", path)
        run("top", path)
        kept = run("convert", path, "-o", tmp_path / "kept.spaa", "--lossless", "-q")
        if kept.code == 0:
            run("convert", tmp_path / "kept.spaa", "-o", tmp_path / "back.spt", "-q", code=0)
            assert (tmp_path / "back.spt").read_bytes() == bytes(data), seed


def test_damaged_heads_never_crash(tmp_path):
    path = tmp_path / "x.spt"
    for seed in range(80):
        data, rng = bytearray(small().bytes()), random.Random(seed)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(4, 0xC0)] = rng.choice([0, 1, 0x7F, 0xFF, rng.randrange(256)])
        write(path, bytes(data))
        for command in ("validate", "dump", "info"):
            assert run(command, path).code in (0, 1, 3)


def test_a_segment_behind_damage_is_found(tmp_path):
    f = small()
    f.segments[0].length = 30  # too short: the third record does not fit
    lines = [parse(x) for x in run("dump", write(tmp_path / "x.spt", f), "--section", "event").out.splitlines()]
    assert [x["record"] for x in lines][-2:] == ["SPT_OP_BINARY_ID", "SPT_OP_ETW_INSTR"]
    f.segments[0].length = 4000  # too long: the next one begins inside
    answer = run("dump", write(tmp_path / "x.spt", f), "--section", "event", code=0)
    assert [parse(x)["record"] for x in answer.out.splitlines()][-2:] == ["SPT_OP_BINARY_ID", "SPT_OP_ETW_INSTR"]
    assert "SPAA-E414" in answer.err


# Findings

def finding(code, change, offset=None):
    return pytest.param(code, change, offset, id=code)


def with_tail(data):
    return data + b"\x01\x02\x03"


def patch(at, fmt, *values):
    def change(data):
        data = bytearray(data)
        struct.pack_into(fmt, data, at, *values)
        return bytes(data)
    return change


def segment(build):
    """The small file with a further segment."""
    def change(_):
        f = small()
        build(f)
        return f.bytes()
    return change


def big_endian(data):
    return struct.pack(">6I4H", *struct.unpack_from("<6I4H", data)) + data[32:]


END = len(small().bytes())
FINDINGS = [
    finding("E400", patch(0, "<I", 0x12345678), 0),
    finding("E401", patch(4, "<I", 2), 4),
    finding("E402", lambda data: data[:0x70], 0x70),
    finding("E421", lambda data: b"", 0),
    finding("E422", big_endian, 4),
    finding("E403", patch(20, "<I", 0x7FFFFFFF), 16),
    finding("E404", patch(24, "<H", 0x41), 24),
    finding("E405", patch(16, "<I", 0x50), 16),
    finding("E406", patch(0x60 + 20, "<I", 0x40), 0x74),
    finding("E407", segment(lambda f: f.segment(9).ip(1, 2)), END + 2),
    finding("E408", segment(lambda f: f.segment(0, length=3).ip(1, 2)), END + 4),
    finding("E409", lambda data: data[:0xC0] + b"\x00\x07" + data[0xC0:], 0xC0),
    finding("E410", segment(lambda f: f.segment(0).ip(1, 2).raw(b"\x77\x01abcdef")), END + 14),
    finding("E411", segment(lambda f: f.segment(0).raw(b"\x01\x09abcd")), END + 8),
    finding("E412", segment(lambda f: f.segment(0).repeat(2**64 - 1).ip(1, 2)), END + 18),
    finding("E413", lambda data: data[:-3], END - 3),
    finding("E414", segment(lambda f: (f.segment(0, length=400).ip(1, 2), f.segment(1).ip(1, 3))), END + 14),
    finding("W435", patch(0, "4s", b"SPT:"), None),
    finding("W436", segment(lambda f: f.segment(0).repeat(1).repeat(1).ip(1, 2)), END + 18),
    finding("W437", segment(lambda f: f.segment(0).ip(1, 2).repeat(1)), END + 14),
    finding("W438", segment(lambda f: f.segment(0).stack(2)), END + 8),
    finding("W439", segment(lambda f: f.segment(0).ip(1)), END + 8),
    finding("W440", segment(lambda f: setattr(f, "ordinals", True)), 0x60),
    finding("W441", segment(lambda f: f.programs.__setitem__(0, APP._replace(name=b"app\xff"))), 0x20),
    finding("W442", with_tail, END),
    finding("W443", patch(12, "<I", 0x8664), 12),
    finding("W444", patch(0x60 + 20, "<I", 1), 0x74),
    finding("W445", segment(lambda f: f.programs.append(APP)), 0x60 + 48),
    finding("W446", segment(lambda f: f.segments.clear()), None),
]


@pytest.mark.parametrize("code,change,offset", FINDINGS)
def test_finding(code, change, offset, tmp_path):
    path = write(tmp_path / "x.spt", change(small().bytes()))
    error = code[0] == "E"
    answer = ask("validate", path, "--from", "spt", code=1 if error else 0)
    found = [x for x in answer["findings"] if x["code"] == "SPAA-" + code]
    assert found and answer["valid"] is not error
    assert found[0]["hint"]
    if offset is not None:
        assert found[0]["offset"] == offset, found
    if code in ("E407", "E410", "E411"):
        assert "SPT_OP_" in found[0]["message"] or "0x" in found[0]["message"]


def test_a_valid_file_has_no_findings_but_what_it_is_good_for(tmp_path):
    answer = ask("validate", write(tmp_path / "x.spt", small()))
    assert answer["valid"] and not answer["errors"] and not answer["warnings"]
    texts = [x["message"] for x in answer["findings"]]
    assert any("app.exe: 6 samples of unhalted_cycles, 2 LBR pairs, 11 call stacks (3 arcs" in t for t in texts)
    assert any("/mode:IP; LBR pairs for /mode:LBR; call stacks" in t for t in texts)


def test_a_trace_without_branches_is_said_to_be_of_no_use_to_lbr(tmp_path):
    f = spt.File([APP])
    f.segment(0).ip(spt.UNHALT_CYCLE, 1)
    answer = ask("validate", write(tmp_path / "x.spt", f))
    assert any("nothing for /mode:LBR; no call stacks" in x["message"] for x in answer["findings"])


def test_another_version_is_refused_and_the_known_one_named(tmp_path):
    f = small()
    f.version = 3
    answer = run("info", write(tmp_path / "x.spt", f), code=3)
    assert "SPAA-E401" in answer.err and "version 1 is known" in answer.err


@pytest.mark.parametrize("change,words,hint", [(lambda data: b"", "the SPT file is empty", "aggregate the ETL trace again"),
                                               (big_endian, "a big-endian SPT file", "SPT is little-endian")])
def test_empty_and_big_endian_files_are_refused_in_their_own_words(change, words, hint, tmp_path):
    path = write(tmp_path / "x.spt", change(small().bytes()))
    (tmp_path / "sptdump").symlink_to(BIN)
    commands = [[BIN, "spt", "match", path, "/bin/ls"], [BIN, "top", path, "--from", "spt"],
                [BIN, "dump", path, "--from", "spt"], [tmp_path / "sptdump", path]]
    if path.stat().st_size:
        commands.append([BIN, "top", path])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 3 and words in done.stderr and hint in done.stderr


def test_builds_of_one_name_are_told_apart(tmp_path):
    """By the beginning of the build-id, or all of it; a name that stands alone has none."""
    other = spt.Program("app.exe", uuid.UUID("7c9e6679-7425-40de-944b-e07fc1f90ae7"), 2)
    again = APP._replace(age=3)
    f = spt.File([APP, other, KERNEL], 0x40, 4)
    f.segment(0).repeat(3).ip(spt.UNHALT_CYCLE, 0x1000)
    f.segment(1).repeat(2).ip(spt.UNHALT_CYCLE, 0x1000)
    f.segment(2).ip(spt.UNHALT_CYCLE, 0x9000)
    path = write(tmp_path / "x.spt", f)
    ids = {4: "0f8fad5bd9cb469fa16570867728950e1", 3: "7c9e6679742540de944be07fc1f90ae72", 1: None}
    for by in ("function", "dso"):
        lines = [line.split() for line in run("top", path, "-q", "--by", by, code=0).out.splitlines()[2:]]
        assert [(line[0], " ".join(line[-2:])) for line in lines[:2]] == [("4", "app.exe (0f8fad5b)"), ("3", "app.exe (7c9e6679)")]
        assert lines[2][-1] == "ntoskrnl.exe" and "(" not in " ".join(lines[2])
        rows = ask("top", path, "--by", by)["rows"]
        assert {r["self"]: r.get("build_id") for r in rows} == ids
        assert {r.get("dso", r.get("name")) for r in rows} == {"app.exe", "ntoskrnl.exe"}
    f.programs[1] = again
    out = run("top", write(path, f), "-q", "--by", "dso", code=0).out
    assert "app.exe (0f8fad5bd9cb469fa16570867728950e1)" in out and "app.exe (0f8fad5bd9cb469fa16570867728950e3)" in out


def test_strict_fails_when_bytes_were_skipped(tmp_path):
    path = write(tmp_path / "x.spt", segment(lambda f: f.segment(0).raw(b"\x77\x01"))(None))
    run("top", path, code=0)
    run("top", path, "--strict", code=3)


# What is read

def test_events_and_frames(tmp_path):
    path = write(tmp_path / "x.spt", small())
    info = ask("info", path)
    assert {e["name"]: (e["kind"], int(e["whole"])) for e in info["events"]} == {
        "unhalted_cycles": ("hardware", 6), "lbr": ("hardware", 2), "etw_callstack": ("timer", 11),
        "etw_instructions": ("timer", 1)}
    assert info["binaries"][0] == {"name": "app.exe", "guid": "{0F8FAD5B-D9CB-469F-A165-70867728950E}", "age": 1,
                                   "pdb_key": "0F8FAD5BD9CB469FA16570867728950E1",
                                   "build_id": "0f8fad5bd9cb469fa16570867728950e1"}
    text = run("info", path).out
    assert "{0F8FAD5B-D9CB-469F-A165-70867728950E} age 1 (0x1)  0F8FAD5BD9CB469FA16570867728950E1" in text
    top = ask("top", path)
    assert top["profile"]["event"] == "etw_callstack" and top["rows"][0]["function"] == "0x1010"
    assert ask("top", path, "--event", "lbr")["whole"] == 2
    tree = ask("tree", path, "--min-percent", "0", "-n", 0)
    assert [(n["name"], n["total"]) for n in tree["nodes"]] [1:3] == [("0x3000", 10), ("0x2000", 10)]
    run("flamegraph", path, "-o", tmp_path / "x.svg", code=0)
    assert "0x1010" in (tmp_path / "x.svg").read_text()


def test_the_kernel_is_known_by_its_names(tmp_path):
    path = write(tmp_path / "x.spt", small())
    assert ask("top", path, "--event", "etw_instructions", "--kernel")["rows"][0]["function"] == "0x5000"


def test_from_pipes_and_compressed(tmp_path):
    data = spt.random_file(7).bytes()
    plain = run("dump", write(tmp_path / "x.spt", data)).out
    assert run("dump", "-", stdin=data).out == plain
    subprocess.run(["zstd", "-q", tmp_path / "x.spt", "-o", tmp_path / "x.spt.zst"], check=True)
    assert run("dump", tmp_path / "x.spt.zst").out == plain


# Lossless

def test_binaries_without_a_name_can_be_read_chosen_and_written(tmp_path):
    f = spt.File([APP._replace(name=""), KERNEL], 0x40, 4)
    f.segment(0).repeat(4).ip(spt.ETW_INSTR, 0x1000).stack(0x1010, 0x2000)
    f.segment(1).ip(spt.ETW_INSTR, 0x5000)
    path = write(tmp_path / "x.spt", f)
    row = ask("top", path, "--by", "dso")["rows"][0]
    assert row["name"] == "[no name]" and row["self"] == 5
    assert ask("top", path, "--dso", row["id"])["profile"]["event"] == "etw_instructions"
    assert "[no name]" in run("top", path, code=0).out
    for out, more in (("y.spt", []), ("z.spt", ["--binary", "[no name]"])):
        run("convert", path, "-o", tmp_path / "x.spaa", "-q", code=0)
        assert "SPAA-L431" not in run("convert", tmp_path / "x.spaa", *more, "-o", tmp_path / out, code=0).err
        strings = run("dump", tmp_path / out, "--section", "strtab", code=0).out.splitlines()
        assert "" in [parse(s)["text"] for s in strings]
        total = counts(run("convert", tmp_path / out, "--to", "spaa", "-o", "-", "-q", code=0).out)
        assert sum(v for k, v in total.items() if k[0] == "[no name]") == 6 and len(total) == (2 if more else 3)


@pytest.mark.parametrize("through", ["perf-script", "pprof", "spaa"])
def test_hits_without_a_stack_are_written_or_told(through, tmp_path):
    f = spt.File([APP], 0x40, 4)
    f.segment(0).repeat(52).stack().stack(0x1010, 0x2000)
    path = write(tmp_path / "x.spt", f)
    run("convert", path, "--event", "etw_callstack", "--to", through, "-o", tmp_path / "x", "-q", code=0)
    said = run("convert", tmp_path / "x", "-o", tmp_path / "y.spt", code=0).err
    written = ask("top", tmp_path / "y.spt")["whole"]
    assert written == (54 if through == "spaa" else 1)
    assert ("53 hits without a stack" in said) == (through != "spaa")


def test_edited_stacks_are_rendered(tmp_path):
    path, kept = write(tmp_path / "x.spt", small()), tmp_path / "kept.spaa"
    run("convert", path, "-o", kept, "--lossless", code=0)
    kept.write_text(kept.read_text().replace('"value":10', '"value":12'))
    answer = run("convert", kept, "-o", tmp_path / "back.spt", code=0)
    assert "the stacks have changed since; it is rendered" in answer.err
    assert ask("top", tmp_path / "back.spt")["whole"] == 13
    cut = [x for x in kept.read_text().splitlines() if '"part":' not in x]
    kept.write_text("\n".join(cut) + "\n")
    assert "damaged" in run("convert", kept, "-o", tmp_path / "back.spt", code=0).err


# Writing

def spaa(dsos, stacks, events=None, tool="firefox"):
    """SPAA of stacks [(frames as (dso, ip) leaf first, weight, event)]."""
    events = events or [("cpu-clock", "timer")]
    records = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": tool, "frame_order": "leaf_to_root",
                "events": [{"name": n, "kind": k, "sampling": {"mode": "period", "primary_metric": "samples"}}
                           for n, k in events],
                "stack_id_mode": "local"}]
    for i, (name, build) in enumerate(dsos):
        more = {"build_id": build} if build else {}
        records.append({"type": "dso", "id": i + 1, "name": name, **more, "is_kernel": "krnl" in name})
    frames = {}
    for at, _, _ in stacks:
        for dso, ip in at:
            if (dso, ip) not in frames:
                frames[dso, ip] = len(frames) + 1
                records.append({"type": "frame", "id": frames[dso, ip], "func": "f%x" % ip, "dso": dso + 1,
                                "ip": hex(ip), "kind": "kernel" if "krnl" in dsos[dso][0] else "user"})
    for i, (at, weight, event) in enumerate(stacks):
        records.append({"type": "stack", "id": "s%d" % i, "frames": [frames[f] for f in at],
                        "context": {"event": event}, "weights": [{"metric": "samples", "value": weight}]})
    return "".join(json.dumps(r) + "\n" for r in records).encode()


A, B, C = ("C:\\x\\app.exe", "0f8fad5bd9cb469fa16570867728950e1"), ("lib.dll", "7c9e6679742540de944be07fc1f90ae72"), \
    ("ntkrnlmp.exe", "00000000000000000000000000000001a")
RUNS = [(0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (0, 6), (2, 7), (2, 8)]


def made(tmp_path, data, *options, code=0):
    out = tmp_path / "made.spt"
    answer = run("convert", write(tmp_path / "in.spaa", data), "-o", out, *options, code=code)
    if code:
        return answer
    return counts(run("convert", out, "--to", "spaa", "-o", "-", "--no-symbols", "-q").out)


def hits(total):
    return {(name, op, ips): n for (name, _, op, ips), n in total.items()}


def test_made_from_another_profile(tmp_path):
    got = hits(made(tmp_path, spaa([A, B, C], [(RUNS, 5, "cpu-clock"), ([(0, 9)], 2, "cpu-clock")])))
    assert got == {("app.exe", spt.ETW_INSTR, (1,)): 5, ("app.exe", spt.ETW_INSTR, (9,)): 2,
                   ("app.exe", spt.ETW_CALLSTACK, (1, 2)): 5, ("lib.dll", spt.ETW_CALLSTACK, (3, 4, 5)): 5,
                   ("ntkrnlmp.exe", spt.ETW_CALLSTACK, (7, 8)): 5}


def test_binary_and_no_kernel_choose(tmp_path):
    data = spaa([A, B, C], [(RUNS, 5, "cpu-clock"), ([(2, 9)], 2, "cpu-clock")])
    assert {k[0] for k in hits(made(tmp_path, data, "--no-kernel"))} == {"app.exe", "lib.dll"}
    assert {k[0] for k in hits(made(tmp_path, data, "--binary", "APP"))} == {"app.exe"}
    assert {k[0] for k in hits(made(tmp_path, data, "--binary", "app.exe,lib.dll"))} == {"app.exe", "lib.dll"}
    assert {k[0] for k in hits(made(tmp_path, data, "--binary", "app.exe", "--binary", "lib"))} == {"app.exe", "lib.dll"}
    answer = made(tmp_path, data, "--binary", "ap.exe", code=2)
    assert "SPAA-E420" in answer.err and "app.exe" in answer.err


def test_counters_become_their_opcodes(tmp_path):
    events = [("cycles:u", "hardware"), ("instructions", "hardware"), ("cpu_core/branches/u", "hardware"),
              ("L1-dcache-load-misses", "hardware"), ("page-faults", "software")]
    data = spaa([A], [([(0, i + 1)], i + 1, n) for i, (n, _) in enumerate(events)], events)
    assert hits(made(tmp_path, data)) == {("app.exe", op, (i + 1,)): i + 1 for i, op in enumerate(
        [spt.UNHALT_CYCLE, spt.RETIRE_INSTR, spt.RETIRE_BR_INSTR, spt.L1_DCACHE_MISS])}
    assert "1 stacks of events that SPT has no opcode for" in run(
        "convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt").err


def test_long_stacks_are_split_with_one_frame_in_both(tmp_path):
    frames = [(0, i + 1) for i in range(600)]
    got = hits(made(tmp_path, spaa([A], [(frames, 3, "cpu-clock")])))
    stacks = sorted(ips for _, op, ips in got if op == spt.ETW_CALLSTACK)
    assert [(s[0], s[-1]) for s in stacks] == [(1, 255), (255, 509), (509, 600)]
    arcs = [a for s in stacks for a in zip(s, s[1:])]
    assert arcs == [(i, i + 1) for i in range(1, 600)]
    answer = run("convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt", code=0)
    assert "1 call stacks (3 hits) of more than 255 frames of one binary in a row make 2 more records [SPAA-I453]" in answer.err
    made(tmp_path, spaa([A], [(frames[:255], 3, "cpu-clock")]))
    assert "I453" not in run("convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt", code=0).err


def test_frames_in_no_module_are_left_out_and_counted(tmp_path):
    data = spaa([A, ("[unknown]", None), ("[jit]", None)], [([(0, 1), (0, 2), (1, 3), (0, 4), (0, 5)], 5, "cpu-clock"),
                                                            ([(1, 9)], 3, "cpu-clock"), ([(2, 9), (0, 7)], 2, "cpu-clock")])
    got = hits(made(tmp_path, data))
    assert got == {("app.exe", spt.ETW_INSTR, (1,)): 5, ("app.exe", spt.ETW_CALLSTACK, (1, 2)): 5,
                   ("app.exe", spt.ETW_CALLSTACK, (4, 5)): 5}  # stacks go apart there
    answer = run("convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt", code=0)
    assert "3 hits and 1 frames of call stacks in [unknown]; 2 hits and 1 frames of call stacks in [jit] [SPAA-L431]" in answer.err
    run("convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt", "--strict", code=3)
    (tmp_path / "made.spt").unlink()
    answer = made(tmp_path, spaa([("[unknown]", None)], [([(0, 1)], 5, "cpu-clock")]), code=3)
    assert "SPAA-E420" in answer.err and "no frame of a sample is in a module" in answer.err
    assert not (tmp_path / "made.spt").exists()
    answer = made(tmp_path, data, "--binary", "[unknown]", code=2)
    assert "SPAA-E420" in answer.err and "is no module" in answer.err


SHA = "2f0c6e7b8d9a4b5c6d7e8f90a1b2c3d4e5f60718"


def test_build_ids_of_every_kind_become_guids(tmp_path):
    """As Breakpad has them: the bytes of an ELF file's build-id are the GUID's, a UUID is one as it stands."""
    dsos = [("/usr/lib/libc.so.6", SHA), ("libdyld.dylib", "0975afbac46b364cbd84a75daa9e455a"), ("/bin/short", "0123456789abcdef"),
            ("/opt/none", None), A]
    made(tmp_path, spaa(dsos, [([(i, 16 + i)], i + 1, "cpu-clock") for i in range(len(dsos))]))
    answer = run("convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt", code=0)
    assert "/usr/lib/libc.so.6, /bin/short [SPAA-I452]" in answer.err and "no build-id: /opt/none [SPAA-W447]" in answer.err
    lines = [parse(x) for x in run("dump", tmp_path / "x.spt", "--section", "progid", code=0).out.splitlines()]
    assert {x["name"]: x["build_id"] for x in lines} == {
        "libc.so.6": uuid.UUID(bytes_le=bytes.fromhex(SHA)[:16]).hex + "0", "libdyld.dylib": dsos[1][1] + "0",
        "short": uuid.UUID(bytes_le=bytes.fromhex(dsos[2][1]) + bytes(8)).hex + "0", "/opt/none": "0" * 33, "app.exe": A[1]}


def test_offsets_in_a_file_that_was_not_there_name_no_build(tmp_path):
    data = spaa([("/opt/app", SHA)], [([(0, 16), (0, 32)], 3, "cpu-clock")]).replace(
        b'"is_kernel": false', b'"is_kernel": false, "x_spaa": {"ip": "file_offset"}')
    assert made(tmp_path, data) == {("/opt/app", "0" * 33, spt.ETW_INSTR, (16,)): 3,
                                    ("/opt/app", "0" * 33, spt.ETW_CALLSTACK, (16, 32)): 3}
    answer = run("convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt", code=0)
    assert "offsets in a file that was not found: /opt/app [SPAA-W447]" in answer.err and "spaa symbolize" in answer.err


@pytest.mark.parametrize("events, words", [([("malloc", "allocation")], "its events are allocations"),
                                           ([("page-faults", "software")], "no samples of the CPU"),
                                           ([("cpu-clock", "timer")], "where they were loaded")])
def test_what_a_refused_profile_lacks_is_said(events, words, tmp_path):
    answer = made(tmp_path, spaa([A], [([(0, 0x7f0012345678)], 3, events[0][0])], events), code=3)
    assert "SPAA-E420" in answer.err and words in answer.err


def by_module(text):
    """Totals of the samples at each (module, address) of a SPAA's leaves."""
    dsos, frames, out = {}, {}, {}
    for record in map(parse, text.splitlines()):
        if record["type"] == "dso":
            dsos[record["id"]] = record["name"].rsplit("/", 1)[-1]
        elif record["type"] == "frame":
            frames[record["id"]] = dsos[record["dso"]], record.get("ip")
        elif record["type"] == "stack" and record["context"]["event"] in ("cpu-clock", "etw_instructions"):
            key = next(frames[f] for f in record["frames"])
            value = {w["metric"]: w["value"] for w in record["weights"]}["samples"]
            out[key] = out.get(key, 0) + value
    return out


@pytest.mark.parametrize("through", ["spaa", "pb", "bare.spaa"])
def test_a_recording_of_linux_comes_back_by_module_and_address(tmp_path, through):
    """perf.data with build-ids, also through formats that have modules and addresses, is the same SPT."""
    demo = pathlib.Path(ROOT, "demo")
    recording, files = demo / "orders-1.perf.data.zst", ["--symfs", demo / "symfs", "-q"]
    run("convert", recording, *files, "-o", tmp_path / "x.spaa", code=0)
    run("convert", recording, *files, "-o", tmp_path / "x.spt", code=0)
    back = run("convert", tmp_path / "x.spt", "--to", "spaa", "-o", "-", "--no-symbols", "-q", code=0)
    assert by_module(back.out) == by_module((tmp_path / "x.spaa").read_text())
    between = tmp_path / ("y." + through)
    run("convert", recording, "-q", *(["--no-symbols"] if "bare" in through else files), "-o", between, code=0)
    if through != "spaa":
        run("symbolize", between, "-q", "--symfs", demo / "symfs", "-o", tmp_path / "named.spaa", code=0)
        between = tmp_path / "named.spaa"
    run("convert", between, "-q", "-o", tmp_path / "y.spt", code=0)
    assert (tmp_path / "y.spt").read_bytes() == (tmp_path / "x.spt").read_bytes()
    names = run("top", tmp_path / "x.spt", "--image", demo / "symfs" / "opt" / "orders" / "orders", code=0).out
    assert "checksum" in names


def test_a_profile_by_function_is_refused(tmp_path):
    run("convert", write(tmp_path / "x.spt", small()), "-o", tmp_path / "f.spaa", "--frames", "function", code=0)
    answer = run("convert", tmp_path / "f.spaa", "-o", tmp_path / "y.spt", code=3)
    assert "profile by function" in answer.err


def test_branches_between_binaries_are_counted(tmp_path):
    data = spaa([A, B], [([(0, 1), (0, 2)], 4, "lbr"), ([(0, 1), (1, 2)], 3, "lbr")], [("lbr", "hardware")])
    assert hits(made(tmp_path, data)) == {("app.exe", spt.LBR, (1, 2)): 4}
    assert "3 branches between binaries" in run("convert", tmp_path / "in.spaa", "-o", tmp_path / "x.spt").err


def test_runs_of_equal_records_become_repeat(tmp_path):
    f = spt.File([APP])
    s = f.segment(0)
    for _ in range(50):
        s.stack(1, 2).ip(spt.ETW_INSTR, 7)
    run("convert", write(tmp_path / "x.spt", f), "-o", tmp_path / "y.spt", code=0)
    lines = run("dump", tmp_path / "y.spt", "--section", "event", code=0).out.splitlines()
    assert [(x["record"], x.get("repeat")) for x in map(parse, lines[1:])] == [
        ("SPT_OP_REPEAT", 49), ("SPT_OP_ETW_INSTR", None), ("SPT_OP_REPEAT", 49), ("SPT_OP_ETW_CALLSTACK", None)]


def test_several_files_are_one_profile(tmp_path):
    other = spt.File([KERNEL, APP])
    other.segment(1).repeat(4).stack(0x1010, 0x2000, 0x3000)
    paths = write(tmp_path / "a.spt", small()), write(tmp_path / "b.spt", other)
    assert ask("top", *paths)["whole"] == 16


def test_diff_is_by_address_while_the_build_is_the_same(tmp_path):
    def trace(name, program, *hits):
        f = spt.File([program], 0x40, 4)
        for rva, n in hits:
            f.segment(0).repeat(n - 1).stack(rva, 0x2000, 0x3000)
        return write(tmp_path / name, f)
    base = trace("base.spt", APP, (0x1000, 40), (0x1010, 60))
    again = spt.Program("app.exe", uuid.UUID(int=7), 1)
    answer = ask("diff", "-n", 0, base, trace("new.spt", APP, (0x1000, 80), (0x1020, 20)))
    assert {(r["function"], float(r["base_share"]), float(r["new_share"])) for r in answer["rows"]} == {
        ("0x1000", 0.4, 0.8), ("0x2000", 0, 0), ("0x3000", 0, 0)}
    assert [r["function"] for r in answer["new_functions"]] == ["0x1020"]
    assert [r["function"] for r in answer["vanished_functions"]] == ["0x1010"]
    answer = ask("diff", "-n", 0, base, trace("other.spt", again, (0x1000, 80), (0x1020, 20)))
    assert [(r["function"], r["base_share"], r["new_share"]) for r in answer["rows"]] == [("[unresolved]", 1, 1)]
    assert not answer["new_functions"] and not answer["vanished_functions"]
    assert "SPAA-W640" in [d["code"] for d in answer["diagnostics"]]


def test_merged_weights_add(tmp_path):
    other = spt.File([KERNEL, APP])
    other.segment(1).repeat(4).stack(0x1010, 0x2000, 0x3000).lbr((5, 6))
    first, second = small(), other
    paths = write(tmp_path / "a.spt", first), write(tmp_path / "b.spt", second)
    run("merge", *paths, "-o", tmp_path / "c.spt", code=0)
    wanted = dict(first.counts())
    for key, n in second.counts().items():
        wanted[key] = wanted.get(key, 0) + n
    assert counts(run("convert", tmp_path / "c.spt", "--to", "spaa", "-o", "-", "--no-symbols").out) == wanted
    run("merge", *paths[::-1], "-o", tmp_path / "d.spt", code=0)
    assert (tmp_path / "c.spt").read_bytes() == (tmp_path / "d.spt").read_bytes()


def test_samples_of_an_unknown_program_are_samples(tmp_path):
    path = write(tmp_path / "x.spt", segment(lambda f: (f.segments.clear(), f.segment(9).ip(spt.ETW_INSTR, 0x1000)))(small().bytes()))
    said = run("validate", path, code=1).err
    assert "SPAA-E407" in said and "SPAA-I450" in said and "SPAA-W446" not in said and "not in the table: nothing for SPDConvert" in said


@pytest.mark.parametrize("n", [2**63 - 1, 2**63 + 5, 2**64 - 2]) # and once more
def test_hits_beyond_64_bits_are_a_loss_in_views(n, tmp_path):
    path = write(tmp_path / "x.spt", segment(lambda f: (f.segments.clear(), f.segment(0).repeat(n).ip(spt.ETW_INSTR, 0x1000)))(small().bytes()))
    said = run("top", path, code=0)
    assert "SPAA-L304" in said.err and "rounded" not in said.err and "9,223,372,036,854,775,807" in said.out
    assert str(n + 1) in run("convert", path, "--to", "spaa", "-o", "-", code=0).out

"""SPAA in, SPAA out: nothing is lost, everything comes back, damage costs what is damaged, ids mean what they say."""

import gzip
import json
import os
import random
import re
import shutil
import subprocess

import gen_spaa
import pytest

import profiles
from conftest import BIN, ROOT, ask, run
from profiles import D, Profile

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "spaa")


def convert(text, *options, code=0, **more):
    data = text if isinstance(text, bytes) else text.encode()
    answer = run("convert", "-", "--to", "spaa", "-o", "-", *options, stdin=data, code=code, **more)
    return answer.out


def told(text, *options):
    return run("convert", "-", "--to", "spaa", "-o", "-", *options, stdin=text).err


def meaning(text):
    """What a file says, whatever its numbers, order and spelling."""
    p = Profile(text)

    def frame(f):
        return json.dumps({k: str(v) for k, v in {"func_resolved": True, "srcline_resolved": True, "inlined": False,
                                                  "inline_depth": 0, **f}.items() if k != "id" and k != "dso"} |
                          {"dso": dso(f["dso"])}, sort_keys=True)

    def dso(d):
        return json.dumps({k: str(v) for k, v in {"is_kernel": False, **d}.items() if k != "id"}, sort_keys=True)

    def stack(s):
        x = {"stack_type": "unified", **s, "leaf_first": [frame(f) for f in s["leaf_first"]], "frames": None}
        if "exclusive" in s:
            x["exclusive"] = {**s["exclusive"], "frame": frame(p.frames[str(s["exclusive"]["frame"])])}
        return plain(x)

    def plain(x):
        return json.dumps(x, sort_keys=True, default=str)
    others = [json.loads(line.lstrip("\ufeff"), parse_float=D) for line in text.split("\n") if line.strip()]
    others = [plain(r) for r in others if r["type"] not in ("header", "dso", "frame", "thread", "stack")]
    header = {**p.header, "frame_order": None}
    return {"header": plain(header), "dsos": sorted(map(dso, p.dsos.values())),
            "frames": sorted(map(frame, p.frames.values())), "threads": sorted(map(plain, p.threads)),
            "stacks": sorted(map(stack, p.stacks)), "others": sorted(others)}


@pytest.mark.parametrize("seed", range(1, 9))
def test_canonical_files_come_back_byte_by_byte(seed):
    text = "".join(gen_spaa.profile(seed=seed, stacks=40, canonical=True, samples=30, windows=2))
    assert convert(text, "--samples") == text
    assert convert(text, "--jobs", 2) == convert(text, "--jobs", 1)


@pytest.mark.parametrize("seed", range(1, 9))
def test_any_file_keeps_its_meaning_and_settles_at_once(seed):
    text = "".join(gen_spaa.profile(seed=seed, stacks=40))
    once = convert(text)
    assert meaning(once) == meaning(text)
    assert convert(once) == once
    assert run("validate", "-", stdin=once, code=0)


def test_threads_pieces_and_compression_change_nothing(tmp_path):
    """Random profiles, and what is left of damaged ones, through unit/test_spaa_threads.c."""
    program = os.path.join(os.path.dirname(BIN), "tests", "unit_spaa_threads")
    if not os.access(program, os.X_OK):
        pytest.skip("needs the unit tests beside the tool")
    paths = []
    for seed in range(1, 25):
        text = "".join(gen_spaa.profile(seed=seed, stacks=60, canonical=seed % 2 == 0, samples=20, windows=1))
        data = bytearray(text.encode())
        r = random.Random(seed)
        for _ in range(seed % 3):
            data[r.randrange(len(data))] = r.choice(b'{}[]",:09x\xff\n')
        paths.append(tmp_path / f"{seed}.spaa")
        paths[-1].write_bytes(data)
    done = subprocess.run([program, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", sorted(os.listdir(FIXTURES)) if os.path.isdir(FIXTURES) else [])
def test_fixtures_come_back_byte_by_byte(name):
    with open(os.path.join(FIXTURES, name), encoding="utf-8") as f:
        text = f.read()
    assert convert(text) == text
    assert run("validate", os.path.join(FIXTURES, name), code=0)


def test_frame_order_there_and_back():
    for seed in (1, 2, 3):
        text = "".join(gen_spaa.profile(seed=seed, stacks=30, canonical=True, order="leaf_to_root"))
        turned = convert(text, "--frame-order", "root_to_leaf")
        assert '"frame_order":"root_to_leaf"' in turned and meaning(turned) == meaning(text)
        assert convert(turned, "--frame-order", "leaf_to_root") == text
        run("validate", "-", stdin=turned, code=0)


SMALL = profiles.text([(["read", "main"], 30, {"pid": 1, "tid": 2, "comm": "app"}),
                       (["write", "main"], 70, {"pid": 1, "tid": 3, "comm": "worker"})])


def shaken(text, seed=1, last=False):
    """The same records with their keys in another order (`type` last)."""
    r = random.Random(seed)

    def shake(x):
        if isinstance(x, list):
            return [shake(i) for i in x]
        if not isinstance(x, dict):
            return x
        items = [(k, shake(v)) for k, v in x.items()]
        r.shuffle(items)
        if last:
            items.sort(key=lambda i: i[0] == "type")
        return dict(items)
    return "".join(profiles.dump(shake(json.loads(line))) + "\n" for line in text.split("\n") if line)


@pytest.mark.parametrize("change", [
    lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t[:-1], lambda t: t.replace(",", " , "),
    lambda t: t.replace(":", "\t:\t"), lambda t: "  " + t[:-1].replace("\n", "\n  ") + "\n",
    lambda t: t.replace("main", "\\u006dain"), shaken, lambda t: shaken(t, last=True),
    lambda t: t.replace('"id":1,', '"id":"1",'), lambda t: t.replace('"dso":1', '"dso":"1"'),
    lambda t: t.replace('"kind":"user"', '"kind":"user","inlined":false,"func_resolved":true'),
    lambda t: t.replace('"id":1,"name"', '"id":1234567890123,"name"').replace('"dso":1', '"dso":1234567890123'),
], ids=["crlf", "bom", "no last newline", "spaces", "tabs", "indent", "escapes", "keys", "type last", "string ids",
        "string dso", "defaults", "large ids"])
def test_other_spellings_of_the_same(change):
    assert convert(change(SMALL)) == convert(SMALL)
    assert told(change(SMALL)) == ""


def test_blank_lines_cost_a_warning():
    text = SMALL.replace("\n", "\n\n", 3)
    assert convert(text) == convert(SMALL)
    assert "SPAA-W207" in told(text) and "data-loss" not in told(text)


@pytest.mark.parametrize("value", ["18446744073709551615", "-9223372036854775808", "-9223372036854775807",
                                   "9223372036854775808", "0.1", "1.50", "1e3", "1E+30", "-0.0", "-0",
                                   "123456789012345678901234567890.123456789", "0"])
def test_numbers_keep_their_text(value):
    text = SMALL.replace('"value":30', '"value":' + value)
    assert convert(text).count('"value":%s}' % value) == 2
    assert convert(convert(text)) == convert(text)


def test_unknown_members_at_every_level_come_back():
    x = {"x_a": [1, {"b": None}, "\u2028", 1], "odd": {"deep": [[[]]]}, "": 1}
    text = profiles.text([(["f", "main"], 1, {"pid": 1, "tid": 1, "comm": "c"})])
    records = [json.loads(line) for line in text.split("\n") if line]
    for r in records:
        r.update(x)
    header, stack = records[0], records[-1]
    header["events"][0].update(x)
    header["events"][0]["sampling"].update(x)
    header["time_range"] = {"start": 1, "end": 2, "unit": "seconds", **x}
    header["source"] = {"tool": "perf", **x}
    header["x_spaa"] = {"frames": "address", "group_by": ["pid"], "id": "xxh3-64/2", **x}
    for part in (stack["context"], stack["weights"][0], stack["exclusive"], stack["exclusive"]["weights"][0]):
        part.update(x)
    records.append({"type": "sample", "timestamp": 1.5, "stack_id": stack["id"], "event": "cycles", "context": {**x}, **x})
    records.append({"type": "window", "id": "w", "start": 1, "end": 2, "unit": "seconds", **x,
                    "by_stack": [{"stack_id": stack["id"], "weights": [{"metric": "period", "value": 1, **x}], **x}]})
    records.append({"type": "x_mine", **x})
    text = profiles.lines(records)
    back = convert(text, "--samples")
    assert convert(back, "--samples") == back
    want, have = meaning(text), meaning(back)
    want["header"] = want["header"].replace(', "x_spaa": {', ', "x_spaa": {')
    assert have == want


def test_unknown_records_come_back_last_in_their_order():
    extra = [{"type": "x_b", "n": 2}, {"type": "zzz", "n": D("1.50")}, {"type": "x_a", "type2": {"a": []}}]
    lines = SMALL.split("\n")
    text = "\n".join([lines[0], *[profiles.dump(e) for e in extra], *lines[1:]])
    assert convert(text).split("\n")[-4:-1] == [profiles.dump(e) for e in extra]
    assert "SPAA-W201" in told(text) and "x_b" not in told(text)


def test_every_optional_part_of_the_format_comes_back():
    events = [profiles.event("malloc", "alloc_bytes", "allocation", "event",
                             allocation_tracking={"tracks_frees": True, "has_timestamps": False}),
              profiles.event("syscall::read:entry", "count", "probe", "event")]
    inl = [{"func": "c", "ip": "0x40", "symoff": "0x4", "srcline": "a.rs:3", "inlined": True, "inline_depth": 2},
           {"func": "b", "ip": "0x40", "symoff": "0x4", "srcline": "a.rs:2", "inlined": True, "inline_depth": 1},
           {"func": "a", "ip": "0x40", "symoff": "0x4", "srcline": "a.rs:1"},
           {"func": "0x99", "func_resolved": False, "ip": "0x99", "srcline_resolved": False, "dso": "[unknown]",
            "kind": "unknown"}]
    probe = {"provider": "syscall", "module": "", "function": "read", "name": "entry"}
    for order in ("leaf_to_root", "root_to_leaf"):
        text = profiles.text(
            [(inl, {"alloc_bytes": 5, "peak_bytes": 4}, {"tid": 1, "pid": 1, "cpu": 2, "comm": "x"}),
             (["read", "main"], 3, {"event": "syscall::read:entry", "probe": probe, "execname": "x", "uid": 0,
                                    "trace_fields": {"prev": "a", "n": 1}}, {"id": "u", "stack_type": "user",
                                                                             "related_stacks": ["k"]}),
             ([{"func": "sys_read", "dso": {"name": "[kernel]", "build_id": "ab12", "is_kernel": True}}], 3,
              {"event": "syscall::read:entry"}, {"id": "k", "stack_type": "kernel", "related_stacks": ["u"]})],
            events, order=order, time_range={"start": 0, "end": D("10.250"), "unit": "seconds"},
            source={"tool": "dtrace", "command": "x", "tool_version": "1"},
            after=[{"type": "sample", "timestamp": D("1.000000001"), "pid": 1, "tid": 1, "cpu": 2, "event": "malloc",
                    "period": 7, "stack_id": "s0", "context": {}},
                   {"type": "window", "id": "w1", "start": 0, "end": 1, "unit": "seconds",
                    "by_stack": [{"stack_id": "s0", "weights": [{"metric": "alloc_bytes", "value": 2}]}]}])
        back = convert(text, "--samples")
        assert meaning(back) == meaning(text) and convert(back, "--samples") == back


def test_numeric_ids_stay_numbers():
    text = SMALL.replace('"id":"s0"', '"id":7').replace('"id":"s1"', '"id":"8"')
    back = convert(text)
    assert '"id":7,' in back and '"id":"8",' in back


def test_duplicate_ids_lose_no_weight(tmp_path):
    path = tmp_path / "d.spaa"
    path.write_text(SMALL.replace('"id":"s1"', '"id":"s0"'))
    assert ask("top", path)["whole"] == 100
    said = run("info", path)
    assert said.out.count("SPAA-W209") == 1 and not said.err
    assert "W209" not in run("top", path).out  # which does not ask for ids
    assert ask("validate", path, code=1)["findings"][0]["code"] == "SPAA-E119"
    run("convert", path, "-o", path, code=0)
    ids = [s["id"] for s in Profile(path.read_text()).stacks]
    assert len(set(ids)) == 2 and all(re.fullmatch(r"0x[0-9a-f]{16}(\.[0-9a-f]{8})?", i) for i in ids)
    run("validate", path, code=0)
    assert ask("top", path)["whole"] == 100


def test_dictionary_records_after_their_use(tmp_path):
    lines = SMALL.split("\n")[:-1]
    for turned in ([lines[0], *lines[:0:-1]], [lines[0], *random.Random(4).sample(lines[1:], len(lines) - 1)]):
        text = "\n".join(turned) + "\n"
        assert convert(text) == convert(SMALL)
        assert "SPAA-E120" in run("validate", "-", stdin=text, code=1).err or turned == lines
        assert told(text).count("spaa: ") <= 1


def stacks_of(text):
    return [(s["id"], s["weights"], [f["func"] for f in s["leaf_first"]]) for s in Profile(text).stacks]


def test_a_damaged_line_costs_that_line():
    lines = SMALL.split("\n")[:-1]
    for bad in ("{oops", '{"type":"stack","id":"x","frames":[1,', "\0\0\0", "[1]", "17", '{"type":7}', '{"no":"type"}',
                '{"type":"stack","id":"x","frames":[99],"context":{"event":"cycles"},"weights":[]}', '{"type":"frame"}'):
        text = "\n".join(lines + [bad]) + "\n"
        back = run("convert", "-", "--to", "spaa", "-o", "-", stdin=text, code=0)
        assert stacks_of(back.out)[:2] == stacks_of(SMALL)[::-1], bad
        assert back.err, bad
        run("convert", "-", "--to", "spaa", "-o", "-", "--strict", stdin=text, code=3)


@pytest.mark.parametrize("pack", ["gz", "zst"])
def test_through_compression(pack, tmp_path):
    if pack == "zst" and not shutil.which("zstd"):
        pytest.skip("no zstd")
    data = "".join(gen_spaa.profile(seed=3, stacks=200, canonical=True)).encode()
    if pack == "gz":
        packed = gzip.compress(data)
    else:
        packed = subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    assert run("convert", "-", "--to", "spaa", "-o", "-", stdin=packed).raw == data
    run("convert", "-", "-o", tmp_path / ("x.spaa." + pack), stdin=packed, code=0)
    assert run("convert", tmp_path / ("x.spaa." + pack), "--to", "spaa", "-o", "-").raw == data


# Stack ids of ours

def ids(stacks, **more):
    """Ids that are made new: the file has none that are unique."""
    text = profiles.text([(f, w, c, {"id": "same"}) for f, w, c in stacks], **more)
    out = Profile(convert(text))
    by_value = {s["weight"]["period"]: s["id"] for s in out.stacks}
    return [by_value[w] for _, w, _ in stacks]


def test_ids_tell_programs_apart_not_runs():
    at = {"pid": 1, "tid": 2, "comm": "app"}
    a, b, c, d, e, f = ids([(["f", "main"], 1, at), (["f", "main"], 2, {**at, "pid": 9, "tid": 8}),
                            (["g", "main"], 3, at), (["f", "main"], 4, {**at, "comm": "other"}),
                            (["f", "main"], 5, {**at, "event": "other"}), (["main", "f"], 6, at)],
                           events=[profiles.event(), profiles.event("other")])
    stable = [x.split(".")[0] for x in (a, b, c, d, e, f)]
    assert stable[0] == stable[1] and len(set(stable)) == 5
    assert a != b and len({a, b, c, d, e, f}) == 6
    assert all(re.fullmatch(r"0x[0-9a-f]{16}\.[0-9a-f]{8}", x) for x in (a, b, c, d, e, f))
    assert a.split(".")[1] == c.split(".")[1] != b.split(".")[1]


def test_ids_do_not_depend_on_order_weights_addresses_or_folders():
    def one(frames, **more):
        return ids([(frames, 1, {}), (["x"], 2, {})], **more)[0]
    plain = one(["f", "main"])
    assert "." not in plain
    assert plain == one(["f", "main"], order="root_to_leaf") == one([{"func": "f", "dso": "/opt/v2/app"}, "main"])
    assert plain != one([{"func": "f", "dso": "/bin/other"}, "main"])
    unknown = {"func": "0x99", "func_resolved": False, "dso": "[unknown]", "kind": "unknown"}
    assert one([{**unknown, "ip": "0x99"}, "main"]) == one([{**unknown, "func": "0x55", "ip": "0x55"}, "main"])
    assert one([{"func": "f", "symoff": "0x4", "ip": "0x104"}]) == one([{"func": "f", "symoff": "0x4", "ip": "0x204"}])
    assert one([{"func": "f", "symoff": "0x4"}]) != one([{"func": "f", "symoff": "0x5"}])
    assert one([{"func": "f", "ip": "0x4"}]) != one([{"func": "f", "ip": "0x5"}])
    assert one([{"func": "f", "srcline": "a:1"}]) != one([{"func": "f", "srcline": "a:2"}])


def test_types_and_states_make_other_ids():
    def stack_of(kind, state=None):
        context = {"x_state": state} if state else {}
        text = profiles.text([(["f"], 1, context, {"id": "s", "stack_type": kind}), (["x"], 2, {}, {"id": "s"})])
        return next(s["id"] for s in Profile(convert(text)).stacks if s["weight"]["period"] == 1)
    assert len({stack_of("user"), stack_of("unified"), stack_of("user", "WAITING"), stack_of("user", "IDLE")}) == 4


def test_linked_pairs_name_each_other_under_new_ids():
    text = profiles.text([
        (["read"], 5, {}, {"id": "s", "stack_type": "user", "related_stacks": ["k"]}),
        ([{"func": "vfs", "dso": "[kernel]"}], 5, {}, {"id": "k", "stack_type": "kernel", "related_stacks": ["s"]}),
        (["x"], 2, {}, {"id": "dup"}), (["y"], 1, {}, {"id": "dup"})])
    stacks = {s["stack_type"]: s for s in Profile(convert(text)).stacks if "related_stacks" in s}
    assert stacks["user"]["related_stacks"] == [stacks["kernel"]["id"]]
    assert stacks["kernel"]["related_stacks"] == [stacks["user"]["id"]]


def test_equal_hashes_are_told_apart_by_content():
    unknown = {"func_resolved": False, "dso": "[unknown]", "kind": "unknown"}
    two = [([{**unknown, "func": "0x10", "ip": "0x10"}, "main"], 1, {}), ([{**unknown, "func": "0x20", "ip": "0x20"}, "main"], 2, {})]
    a, b = ids(two)
    assert int(b, 16) == int(a, 16) + 1
    assert ids(two[::-1]) == [b, a], "in whatever order they come"


# Coarser

def test_coarser_frames_and_groups_add_up(tmp_path):
    text = profiles.text([([{"func": "f", "ip": "0x1", "srcline": "a:1"}, "main"], 1, {"pid": 1, "tid": 1, "comm": "c"}),
                          ([{"func": "f", "ip": "0x2", "srcline": "a:1"}, "main"], 2, {"pid": 1, "tid": 2, "comm": "c"}),
                          ([{"func": "f", "ip": "0x3", "srcline": "a:2"}, "main"], 4, {"pid": 1, "tid": 2, "comm": "d"})])

    def weights(*options):
        return sorted(s["weight"]["period"] for s in Profile(convert(text, *options)).stacks)
    assert weights() == [1, 2, 4]
    assert weights("--frames", "line", "--group-by", "none") == [3, 4]
    assert weights("--frames", "function", "--group-by", "none") == [7]
    assert weights("--frames", "function", "--group-by", "comm") == [3, 4]
    assert weights("--frames", "function", "--group-by", "tid") == [1, 6]
    path = tmp_path / "coarse.spaa"
    path.write_text(convert(text, "--frames", "function", "--group-by", "comm"))
    header = Profile(path.read_text()).header["x_spaa"]
    assert header["frames"] == "function" and header["group_by"] == ["comm"]
    run("validate", path, code=0)
    answer = run("convert", path, "--to", "spaa", "-o", "-", "--group-by", "tid", code=2)
    assert "comm" in answer.err and "spaa convert" in answer.err and answer.out == ""
    run("convert", path, "--to", "spaa", "-o", "-", "--frames", "address", code=2)


def test_folded_from_spaa_has_the_chosen_event():
    events = [profiles.event("a", "samples"), profiles.event("b", "samples")]
    text = profiles.text([(["f", "main"], 3, {"event": "a"}), (["f", "main"], 40, {"event": "b"})], events)
    for name, total in (("a", 3), ("b", 40)):
        out = run("convert", "-", "--to", "folded", "-o", "-", "--event", name, stdin=text, code=0).out
        assert sum(int(line.rsplit(" ", 1)[1]) for line in out.split("\n") if line) == total


COMBINED = [
    {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
     "events": [{"name": "e", "kind": "timer", "sampling": {"mode": "period", "primary_metric": "samples",
                                                            "sample_period": 1}}],
     "stack_id_mode": "content_addressable",
     "x_spaa": {"frames": "address", "group_by": [], "combine": {"x_b": "max", "x_a": "none"}}},
    {"type": "dso", "id": 1, "name": "app", "is_kernel": False},
    {"type": "frame", "id": 1, "func": "main", "dso": 1, "kind": "user"},
    {"type": "stack", "id": "s", "frames": [1], "stack_type": "unified", "context": {"event": "e"},
     "weights": [{"metric": m, "value": 5} for m in ("samples", "x_a", "x_b", "x_c")]}]


def combined(combine):
    records = json.loads(json.dumps(COMBINED))
    records[0]["x_spaa"]["combine"] = combine
    return "".join(json.dumps(r) + "\n" for r in records)


def test_an_address_that_is_none_does_not_order_frames():
    """Of `0x7..f0x1` the first part is a number: it is no address, and what is written reads back to itself."""
    frame = {"func": "0x10", "func_resolved": False, "kind": "user", "dso": "/opt/app"}
    made = profiles.text([([{**frame, "ip": "0x7f0x10"}], 1, {"pid": 1, "tid": 1, "comm": "a"}),
                          ([{**frame, "ip": "0x10"}], 2, {"pid": 1, "tid": 1, "comm": "a"})])
    out = convert(made)
    assert '"x_odd_ip":"0x7f0x10"' in out and convert(out) == out


def test_how_metrics_combine_is_kept_and_decides_what_is_added():
    out = convert(combined({"x_b": "max", "x_a": "none", "x_c": "sum"}))
    assert json.loads(out.splitlines()[0])["x_spaa"]["combine"] == {"x_a": "none", "x_b": "max"}
    assert convert(out) == out
    whole = {m: json.loads(run("top", "-", "--metric", m, "--json", stdin=out).out)["whole"]
             for m in ("samples", "x_a", "x_b", "x_c")}
    assert whole == {"samples": 5, "x_a": None, "x_b": None, "x_c": 5}


@pytest.mark.parametrize("odd", [[], "none", {"x_a": 1}, {"samples": "none"}, {"x_a": "average"}])
def test_combine_that_means_nothing_changes_nothing(odd):
    out = convert(combined(odd))
    assert json.loads(run("top", "-", "--metric", "x_a", "--json", stdin=out).out)["whole"] == 5
    assert json.loads(run("top", "-", "--json", stdin=out).out)["whole"] == 5

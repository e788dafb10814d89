"""--redact: what is not to be seen is nowhere in the output, and the numbers are what they were."""

import json
import os
import re

import pytest

import profiles
from conftest import ROOT, ask, run

SECRET = "acme"
HASH = r"[0-9a-f]{12}"


def profile(path, secret=SECRET):
    """SPAA with a secret word in everything that has text."""
    s = secret
    lines = [
        {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root", f"x_{s}": s,
         "events": [{"name": "cycles", "kind": "hardware", "sampling": {"mode": "period", "primary_metric": "period"}, "x_note": s}],
         "source": {"tool": "perf", "command": f"/home/{s}/bin/{s}-server --token {s}", "x_more": s},
         "x_spaa": {"frames": "address", "group_by": ["pid", "tid", "comm"], "host": {"name": f"{s}-host", "os": "Linux", "arch": "x86_64"}}, "stack_id_mode": "local"},
        {"type": "dso", "id": 1, "name": f"/home/{s}/bin/{s}-server", "build_id": "ab" * 20, "is_kernel": False, "x_k": s},
        {"type": "dso", "id": 2, "name": "/usr/lib/x86_64-linux-gnu/libc.so.6", "is_kernel": False},
        {"type": "dso", "id": 3, "name": "[kernel.kallsyms]", "is_kernel": True},
        {"type": "frame", "id": 1, "func": f"{s}::work", "dso": 1, "kind": "user", "srcline": f"/home/{s}/src/{s}.cpp:12", "x_k": s},
        {"type": "frame", "id": 2, "func": f"{s}::main", "dso": 1, "kind": "user", "srcline": f"/home/{s}/src/main.cpp:3"},
        {"type": "frame", "id": 3, "func": "read", "dso": 2, "kind": "user"},
        {"type": "frame", "id": 4, "func": "vfs_read", "dso": 3, "kind": "kernel"},
        {"type": "thread", "pid": 7, "tid": 7, "comm": f"{s}-main"},
        {"type": f"x_{s}", "what": s},
    ]
    for i, (frames, comm, n) in enumerate((([1, 2], f"{s}-1", 5), ([4, 3, 2], f"{s}-2", 3), ([1, 2], f"{s}-main", 2))):
        lines.append({"type": "stack", "id": f"{s}{i}", "frames": frames, "x_k": s,
                      "context": {"event": "cycles", "pid": 7, "tid": 7 + i, "comm": comm, "x_labels": {"customer": s, "shard": 3}},
                      "weights": [{"metric": "period", "value": n}]})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_nothing_is_left_of_what_was_there(tmp_path):
    path = profile(tmp_path / "a.spaa")
    run("convert", path, "--redact", "all", "-o", tmp_path / "r.spaa", code=0)
    text = (tmp_path / "r.spaa").read_text()
    assert SECRET not in text
    for kept in ("libc.so.6", "/usr/lib/x86_64-linux-gnu", '"read"', "vfs_read", "ab" * 20, '"shard":3'):
        assert kept in text, kept
    run("validate", tmp_path / "r.spaa", code=0)
    before, after = ask("top", path), ask("top", tmp_path / "r.spaa")
    assert [(r["self"], r["total"]) for r in before["rows"]] == [(r["self"], r["total"]) for r in after["rows"]]


@pytest.mark.parametrize("rules,kept,gone", [
    ("paths", [r"/p-%s/acme-server" % HASH, "acme::work", r"p-%s/acme.cpp:12" % HASH], ["/home/acme/src"]),
    ("files", [r"/home/acme/bin/n-%s" % HASH, r"n-%s:12" % HASH], ["acme-server\"", "acme.cpp"]),
    ("host", [r'"name":"h-%s"' % HASH], ["acme-host"]),
    ("command", [r'"command":"c-%s"' % HASH], ["--token"]),
    ("threads", [r't-%s-1"' % HASH, r't-%s-2"' % HASH, "acme::work"], ["acme-main"]),
    ("functions", [r'"func":"f-%s"' % HASH, '"func":"read"'], ["acme::"]),
    ("labels", [r'"customer":"l-%s"' % HASH], ['"customer":"acme"']),
    ("/^acme::w/", [r'"func":"f-%s"' % HASH, "acme::main"], ["acme::work"]),
    ("host,/acme/", [r'"func":"f-%s"' % HASH], ["acme::", "acme-host", "acme-1"]),
])
def test_each_rule_by_itself(rules, kept, gone, tmp_path):
    run("convert", profile(tmp_path / "a.spaa"), "--redact", rules, "-o", tmp_path / "r.spaa", code=0)
    text = (tmp_path / "r.spaa").read_text()
    for k in kept:
        assert re.search(k, text), k
    for g in gone:
        assert g not in text, g


def test_equal_names_have_equal_hashes_so_that_profiles_compare(tmp_path):
    for name in "ab":
        run("convert", profile(tmp_path / f"{name}.spaa"), "--redact", "all", "-o", tmp_path / f"{name}.out.spaa", code=0)
    assert (tmp_path / "a.out.spaa").read_bytes() == (tmp_path / "b.out.spaa").read_bytes()
    rows = ask("diff", tmp_path / "a.out.spaa", tmp_path / "b.out.spaa")
    assert rows["whole"]["base"] == rows["whole"]["new"]


def test_a_key_makes_other_hashes_and_stands_nowhere(tmp_path):
    path = profile(tmp_path / "a.spaa")
    run("convert", path, "--redact", "all", "-o", tmp_path / "plain.spaa", code=0)
    keyed = run("convert", path, "--redact", "all", "-o", tmp_path / "keyed.spaa", code=0, env={"SPAA_REDACT_KEY": "hidden-key"})
    text = (tmp_path / "keyed.spaa").read_text()
    assert "hidden-key" not in text + keyed.err and text != (tmp_path / "plain.spaa").read_text()
    assert "SPAA-I665" not in keyed.err


def test_a_drawing_has_none_of_it(tmp_path):
    path = profile(tmp_path / "a.spaa")
    run("flamegraph", path, "--redact", "all", "-o", tmp_path / "f.svg", code=0)
    assert SECRET not in (tmp_path / "f.svg").read_text()
    run("flamegraph", path, "--redact", "all", "--diff", profile(tmp_path / "acme-base.spaa"), "-o", tmp_path / "d.svg", code=0)
    assert SECRET not in (tmp_path / "d.svg").read_text()


@pytest.mark.parametrize("options,said", [
    (["convert", "--redact", "all", "--lossless"], "the original that --lossless keeps"),
    (["convert", "--redact", "all", "--samples"], "raw samples"),
    (["convert", "--redact", "names"], 'no rule "names"'),
    (["convert", "--redact", "/(/"], "missing"),
    (["flamegraph", "--redact", "all", "--focus", "work"], "hashes the names that filters go by"),
])
def test_what_cannot_be_is_refused(options, said, tmp_path):
    out = tmp_path / ("o.svg" if options[0] == "flamegraph" else "o.spaa")
    a = run(options[0], profile(tmp_path / "a.spaa"), *options[1:], "-o", out, code=2)
    assert said in a.err and not out.exists()


def test_the_threads_of_a_file_that_another_tool_wrote_stay(tmp_path):
    path = profile(tmp_path / "a.spaa")
    lines = path.read_text().splitlines()
    header = json.loads(lines[0])
    del header["x_spaa"]
    path.write_text("\n".join([json.dumps(header)] + lines[1:]) + "\n")
    run("convert", path, "--redact", "paths", "-o", tmp_path / "r.spaa", code=0)
    assert len(ask("top", tmp_path / "r.spaa", "--by", "comm", "--no-pool")["rows"]) == 3


@pytest.mark.parametrize("fixture", ["perf_data/big.perf.data", "heaptrack/raw.heaptrack", "pprof/heap.pb.gz", "spindump/contention.spindump.txt"])
def test_totals_stay(fixture, tmp_path):
    path = os.path.join(ROOT, "tests/fixtures", fixture)
    run("convert", path, "--redact", "all", "-o", tmp_path / "r.spaa", code=0)
    run("convert", path, "-o", tmp_path / "c.spaa", code=0)
    run("validate", tmp_path / "r.spaa", code=0)
    sums = [run("query", tmp_path / f"{n}.spaa", "SELECT count(*), sum(weight) FROM stacks", "--json").out for n in "rc"]
    assert json.loads(sums[0])["rows"] == json.loads(sums[1])["rows"]


HEAP_STACKS = [
    (["malloc", "operator new(unsigned long)", "std::vector<acme::Row>::push_back(acme::Row&&)", "acme::fill()", "main", "_start"], 64),
    (["alloc::alloc::alloc", "__rust_alloc", "<alloc::raw_vec::RawVecInner>::finish_grow", "acme::rows"], 32),
    (["runtime.mallocgc", "bytes.growSlice", "acme.Page", "main.main", "runtime.main"], 16),
    ([{"func": "take", "dso": "/opt/acme/libjemalloc.so.2"}, "acme::fill()", "main"], 8),
    (["malloc", {"func": "push_back", "ip": "0x10", "inline_depth": 1, "srcline": "/usr/include/c++/12/bits/stl_vector.h:9"},
      {"func": "acme::late()", "ip": "0x10", "srcline": "acme.cpp:3"}], 4),
    (["runtime.mallocgc", "runtime.newobject", "runtime.malg", "runtime.goexit"], 2),
]


@pytest.mark.parametrize("rules", ["functions", "all", "functions,files", "/./"])
def test_memory_has_the_owners_that_it_had(rules, tmp_path):
    """Hashed names of allocators and containers are known as such, without what they were."""
    stacks = [([{"dso": "/opt/acme/server", **({"func": f} if isinstance(f, str) else f)} for f in frames], n) for frames, n in HEAP_STACKS]
    (tmp_path / "a.spaa").write_text(profiles.text(stacks, events=[profiles.event("malloc", "live_bytes", "allocation", "event")]))
    run("convert", tmp_path / "a.spaa", "--redact", rules, "-o", tmp_path / "r.spaa", code=0)
    for command in "top", "leaks":
        rows = [[(r.get("self"), r.get("total"), r.get("live_bytes")) for r in ask(command, tmp_path / f"{n}.spaa")["rows"]] for n in "ar"]
        assert sorted(rows[0], key=str) == sorted(rows[1], key=str), command
        assert "by owner" in run(command, tmp_path / "r.spaa", code=0).out
    text = (tmp_path / "r.spaa").read_text()
    assert re.search(rf'"func":"f-{HASH}-allocator"', text) and re.search(rf'"func":"f-{HASH}-container"', text)
    assert "acme::" not in text and "push_back" not in text


def test_a_name_that_looks_like_a_hash_is_one(tmp_path):
    """No other name is taken for what it ends with."""
    stacks = [(["f-0123456789ab-allocator", "a"], 4), (["f-0123456789ag-allocator", "b"], 2), (["xf-0123456789ab-runtime", "c"], 1)]
    (tmp_path / "a.spaa").write_text(profiles.text(stacks, events=[profiles.event("malloc", "live_bytes", "allocation", "event")]))
    assert {r["name"] for r in ask("top", tmp_path / "a.spaa")["rows"] if r["self"]} == {"a", "f-0123456789ag-allocator", "xf-0123456789ab-runtime"}


@pytest.mark.parametrize("recording,key", [("heaptrack/v1.heaptrack", "x_heaptrack"), ("memcheck/supp.log", "x_valgrind")])
def test_what_is_suppressed_stays_so(recording, key, tmp_path):
    path = os.path.join(ROOT, "tests/fixtures", recording)
    run("convert", path, "--redact", "all", "-o", tmp_path / "r.spaa", code=0)
    rows = [[(r["live_bytes"], r["live_count"]) for r in ask("leaks", p)["rows"]] for p in (path, tmp_path / "r.spaa")]
    assert rows[0] == rows[1] and f'"{key}":{{"suppressed":true}}' in (tmp_path / "r.spaa").read_text()


def test_each_list_of_rules_counts(tmp_path):
    path = profile(tmp_path / "a.spaa")
    for name, rules in (("two", ["--redact", "functions", "--redact", "host"]), ("one", ["--redact", "functions,host"])):
        run("convert", path, *rules, "-o", tmp_path / f"{name}.spaa", code=0)
    text = (tmp_path / "two.spaa").read_text()
    assert "acme::work" not in text and "acme-host" not in text
    assert text == (tmp_path / "one.spaa").read_text()
    run("flamegraph", path, "--redact", "functions", "--redact", "threads", "-o", tmp_path / "f.svg", code=0)
    assert "acme::work" not in (tmp_path / "f.svg").read_text()


@pytest.mark.parametrize("command,out", [("convert", "o.spaa"), ("flamegraph", "o.svg")])
@pytest.mark.parametrize("rules", ["", ",", "all,", ",all", "paths,,host", "//"])
def test_an_empty_rule_is_no_rule(command, out, rules, tmp_path):
    a = run(command, profile(tmp_path / "a.spaa"), "--redact", rules, "-o", tmp_path / out, code=2)
    assert ("no rule \"//\"" if rules == "//" else "--redact has an empty rule") in a.err and not (tmp_path / out).exists()
    run(command, profile(tmp_path / "a.spaa"), "--redact", "all", "--redact", rules, "-o", tmp_path / out, code=2)


def test_an_empty_key_is_none(tmp_path):
    path = profile(tmp_path / "a.spaa")
    a = run("convert", path, "--redact", "all", "-o", tmp_path / "empty.spaa", code=0, env={"SPAA_REDACT_KEY": ""})
    run("convert", path, "--redact", "all", "-o", tmp_path / "none.spaa", code=0)
    assert "SPAA-I665" in a.err
    assert (tmp_path / "empty.spaa").read_bytes() == (tmp_path / "none.spaa").read_bytes()


def test_symbols_of_the_kernel_and_of_system_libraries_stay_as_their_names_do(tmp_path):
    path = profile(tmp_path / "a.spaa")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for frame in (line for line in lines if line["type"] == "frame"):
        frame["x_func"] = {"linkage": f"{frame['func']}.part.0", "file": "a.c"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("convert", path, "--redact", "functions", "-o", tmp_path / "r.spaa", code=0)
    text = (tmp_path / "r.spaa").read_text()
    assert '"linkage":"read.part.0"' in text and '"linkage":"vfs_read.part.0"' in text
    assert len(re.findall(r'"linkage":"f-%s"' % HASH, text)) == 2 and "acme::" not in text


def test_a_name_that_fits_is_gone_from_its_folder_too(tmp_path):
    """The rule's own word: as a folder of the binary and of its source."""
    frame = {"func": "work", "dso": "/home/alice/proj/app", "srcline": "/home/alice/src/a.c:3", "kind": "user"}
    (tmp_path / "p.spaa").write_text(profiles.text([([frame], 1, {"pid": 1, "tid": 1, "comm": "app"})]))
    out = run("convert", tmp_path / "p.spaa", "--to", "spaa", "-o", "-", "--redact", "/alice/", code=0).out
    assert "alice" not in out and '"func":"work"' in out and ":3" in out
    assert "fits no name" in run("convert", tmp_path / "p.spaa", "--to", "spaa", "-o", "-", "--redact", "/nosuch/", code=0).err


def quality(path):
    return {k: v for k, v in ask("top", path)["quality"].items() if "chains_percent" in k}


@pytest.mark.parametrize("rules", ["command", "files", "paths,command", "all"])
def test_how_far_callers_can_be_trusted_is_told_as_before(rules, tmp_path):
    """How perf walked the chains is in its command line; code of a memfd is known by its name."""
    demo = os.path.join(ROOT, "demo")
    run("convert", os.path.join(demo, "orders-1.perf.data.zst"), "--symfs", os.path.join(demo, "symfs"), "--kallsyms",
        os.path.join(demo, "kallsyms"), "-o", tmp_path / "a.spaa", "-q", code=0)
    run("convert", tmp_path / "a.spaa", "--redact", rules, "-o", tmp_path / "r.spaa", "-q", code=0)
    assert quality(tmp_path / "r.spaa") == quality(tmp_path / "a.spaa")
    assert quality(tmp_path / "a.spaa")["unchecked_chains_percent"] > 6
    text = (tmp_path / "r.spaa").read_text()
    if "command" in rules or rules == "all":
        assert re.search(rf'"command":"c-{HASH} record --call-graph fp"', text) and "orders 6" not in text


def test_code_in_memory_is_still_known_as_such(tmp_path):
    (tmp_path / "a.spaa").write_text(profiles.text([([{"dso": "memfd:acme-code", "func": "0x1000", "ip": "0x1000"}], 3)]))
    run("convert", tmp_path / "a.spaa", "--redact", "all", "-o", tmp_path / "r.spaa", code=0)
    assert re.search(rf'"name":"memfd:n-{HASH}"', (tmp_path / "r.spaa").read_text())


def test_a_process_is_named_by_what_is_told_of_it_not_by_a_thread(tmp_path):
    lines = profiles.text([([{"func": "f"}], 3)]).splitlines()
    stack = json.loads(lines[-1])
    stack["context"].update(pid=7, tid=9, comm="reader")
    process = {"type": "x_spaa_process", "pid": 7, "name": "orders"}
    header = json.loads(lines[0])
    header.setdefault("x_spaa", {})["group_by"] = ["pid", "tid", "comm"]
    (tmp_path / "a.spaa").write_text("\n".join([json.dumps(header), *lines[1:-1], json.dumps(stack), json.dumps(process)]) + "\n")
    assert "orders (pid 7)" in run("top", tmp_path / "a.spaa", "--by", "process", code=0).out

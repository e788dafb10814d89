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
    ("files", [r"/home/acme/bin/n-%s" % HASH, r"n-%s.cpp:12" % HASH], ["acme-server\"", "acme.cpp"]),
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
    assert re.search(rf'"func":"f-{HASH}-allocator-library"', text) and re.search(rf'"func":"f-{HASH}-container-library"', text)
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


# ---- what is of the program, and what is not ----

def redacted(tmp_path, stacks, rules, **header):
    (tmp_path / "a.spaa").write_text(profiles.text(stacks, **header))
    run("convert", tmp_path / "a.spaa", "--redact", rules, "-o", tmp_path / "r.spaa", code=0)
    return (tmp_path / "r.spaa").read_text()


def verdicts(path):
    return sorted((r["self"], r["total"], r["own"], r["own_by"]) for r in ask("top", path, "-n", "1000")["rows"])


GO = "/home/acme/bin/acmed"
GO_STACKS = [
    (["runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker", "runtime.goexit.abi0"], 1),
    (["runtime.memmove", "compress/flate.(*compressor).deflate", "main.acmeZip", "main.main", "runtime.main", "runtime.goexit.abi0"], 2),
    (["slices.pdqsortCmpFunc[go.shape.*main.AcmeRow]", "sort.Sort", "main.main.func1", "runtime.goexit.abi0"], 4),
    (["type:.eq.main.AcmeKey", "main.acmeMap", "runtime.goexit.abi0"], 8),
    (["go.(*struct { sync.Mutex; main.acmeTable }).Lock", "runtime2.acmeTick", "runtime.goexit.abi0"], 16),
    (["mycompany/runtime.(*AcmePool).Get", "acme/vendor/golang.org/x/net/acme.Do", "runtime.goexit.abi0"], 32),
    (["vendor/golang.org/x/net/idna.ToASCII", "google.golang.org/grpc.Dial", "image/acme.Draw", "internal/acme.Get", "runtime.goexit.abi0"], 64),
    (["memeqbody", "iter.acmePull", "runtime/debug.FreeOSMemory", "runtime.goexit.abi0"], 128),
    (["net/http.(*conn).serve", "sync.(*Map).acme[go.shape.int]", "_rt0_acme", "runtime.goexit.abi0"], 256),
]


@pytest.mark.parametrize("rules", ["functions", "all"])
def test_functions_of_gos_library_stay_and_those_of_the_program_go(rules, tmp_path):
    text = redacted(tmp_path, [([{"func": f, "dso": GO} for f in frames], n) for frames, n in GO_STACKS], rules)
    for kept in ("runtime.scanobject", "compress/flate.(*compressor).deflate", "runtime.goexit.abi0", "sort.Sort", "main.main",
                 "runtime/debug.FreeOSMemory", "net/http.(*conn).serve", "vendor/golang.org/x/net/idna.ToASCII"):
        assert f'"func":"{kept}"' in text, kept
    for gone in ("pdqsort", "AcmeRow", "type:", "Mutex", "runtime2", "mycompany", "image/", "internal/", "iter.", "grpc", "memeqbody"):
        assert gone not in text, gone
    assert "acme" not in text.lower().replace("/home/acme/bin/acmed", "")
    assert verdicts(tmp_path / "r.spaa") == verdicts(tmp_path / "a.spaa")
    assert quality(tmp_path / "r.spaa") == quality(tmp_path / "a.spaa") and quality(tmp_path / "a.spaa")["broken_chains_percent"] == 0


def test_a_package_of_the_program_that_is_called_as_one_of_gos_goes(tmp_path):
    """Its source shows that it is none of Go's."""
    frames = [{"func": "log.acmeLine", "dso": GO, "srcline": "/home/acme/src/acme/log/l.go:3"}, {"func": "log.Print", "dso": GO}, {"func": "runtime.main", "dso": GO}]
    text = redacted(tmp_path, [(frames, 1)], "functions")
    assert "acmeLine" not in text and '"func":"log.Print"' in text


def test_a_program_of_go_is_known_by_its_files_too(tmp_path):
    frames = [{"func": "sync.(*Mutex).Lock", "dso": GO, "srcline": "/usr/local/go/src/sync/mutex.go:3"}, {"func": "acme.Get", "dso": GO, "srcline": "/home/acme/x.go:1"}]
    for rules in "functions", "all":
        assert '"func":"sync.(*Mutex).Lock"' in redacted(tmp_path, [(frames, 1)], rules)
        assert verdicts(tmp_path / "r.spaa") == verdicts(tmp_path / "a.spaa")


def test_only_programs_of_go_have_gos_library(tmp_path):
    """A package of Python may be called as one of Go's, and hold what is nobody else's."""
    frames = [{"func": "context.acme_get", "dso": "/home/acme/app", "srcline": "/home/acme/site-packages/acme/context.py:3"}, {"func": "main", "dso": "/home/acme/app"}]
    assert "acme_get" not in redacted(tmp_path, [(frames, 1)], "functions")
    assert verdicts(tmp_path / "r.spaa") == verdicts(tmp_path / "a.spaa")


@pytest.mark.parametrize("rules", ["functions", "all"])
def test_entries_stay_entries(rules, tmp_path):
    """The name of the table stays, of one that only begins so its beginning."""
    stacks = [(["acme_f", "main", "_start"], 1), (["acme_g", "start_thread"], 2), (["acme_h", "__clone_acme"], 4), (["acme_i", "clone@@ACME_2"], 8),
              (["acme_j", "std::execute_native_thread_routine_acme(void*)"], 16), (["acme_k", "mainly_acme"], 32)]
    text = redacted(tmp_path, [([{"func": f, "dso": "/home/acme/app", "ip": hex(0x1000 + 16 * i + k)} for k, f in enumerate(frames)], n) for i, (frames, n) in enumerate(stacks)], rules)
    for kept in ("main", "_start", "start_thread", rf"__clone-f-{HASH}(-\w+)*", rf"clone@f-{HASH}(-\w+)*", rf"std::execute_native_thread_routine-f-{HASH}(-\w+)*"):
        assert re.search(rf'"func":"{kept}"', text), kept
    assert "acme_" not in text and "ACME" not in text and "mainly" not in text and "_acme" not in text
    assert quality(tmp_path / "r.spaa") == quality(tmp_path / "a.spaa") and 0 < quality(tmp_path / "a.spaa")["broken_chains_percent"] < 100
    assert verdicts(tmp_path / "r.spaa") == verdicts(tmp_path / "a.spaa")
    redacted(tmp_path, [([{"func": "acme_f"}, {"func": "main"}], 1)], "/main/")
    assert '"main"' not in (tmp_path / "r.spaa").read_text()


CXX_STACKS = [
    (["std::vector<acme::Row>::push_back(acme::Row&&)", "acme::fill()", "main"], 1),
    (["nlohmann::acme_json::dump()", "acme::save()", "main"], 2),
    (["<alloc::vec::Vec<acme::T> as core::clone::Clone>::clone", "<acme::T as core::fmt::Debug>::fmt", "acme::rows", "main"], 4),
    (["boost::asio::acme_run()", "std::__acme_sort<acme::Row>()", "acme::late()", "main"], 8),
    (["puts@plt", "xmalloc", "memcpy", "qsort", "acme_cmp", "main"], 16),
]


@pytest.mark.parametrize("rules", ["functions", "all", "files,functions"])
def test_what_is_a_librarys_by_its_name_stays_so(rules, tmp_path):
    text = redacted(tmp_path, [([{"func": f, "dso": "/home/acme/app"} for f in frames], n) for frames, n in CXX_STACKS], rules)
    assert verdicts(tmp_path / "r.spaa") == verdicts(tmp_path / "a.spaa")
    for mark in "-library", "-container-library", "-allocator":
        assert re.search(rf'"func":"f-{HASH}{mark}"', text), mark
    assert not re.search(r"acme::|acme_|std::|boost|push_back|alloc::", text)


def test_a_name_that_only_ends_as_a_mark_is_own(tmp_path):
    names = ["f-0123456789ab-library", "f-0123456789ag-library", "xf-0123456789ab-library", "f-0123456789ab-library-runtime", "acme-f-0123456789ab-library",
             "start-f-0123456789ab-library"]
    redacted(tmp_path, [([n, "main"], 1) for n in names], "host")
    own = {r["name"]: r["own"] for r in ask("top", tmp_path / "a.spaa")["rows"]}
    assert {n for n in names if not own[n]} == {names[0], names[5]}


SOURCES = [  # what is recorded, what `paths` makes of it, and `files`
    ("/home/acme/gcc/include/c++/12/bits/acme.h:3", r"/p-H/include/c\+\+/acme.h:3", r"/home/acme/gcc/include/c\+\+/12/bits/n-H:3"),
    ("/home/acme/toolchains/acme/lib/rustlib/src/rust/library/alloc/src/acme.rs:9", r"/p-H/lib/rustlib/src/rust/library/alloc/src/acme.rs:9", None),
    ("/opt/acme/lib/gcc/acme/4/include/c++/acme.h:3", r"/p-H/lib/gcc/include/c\+\+/acme.h:3", None),
    ("/usr/lib/go-1.acme/src/runtime/acme.go:1", r"/usr/lib/go-/p-H/src/runtime/acme.go:1", r"/usr/lib/go-1.acme/src/runtime/n-H.go:1"),
    ("/opt/acme/sdk/src/compress/flate/deflate.go:2", "/p-H/src/compress/flate/deflate.go:2", r"/opt/acme/sdk/src/compress/flate/n-H.go:2"),
    ("runtime/proc.go:2", "runtime/proc.go:2", "runtime/n-H.go:2"),
    ("internal/acme/proc.go:2", "internal/p-H/proc.go:2", "internal/acme/n-H.go:2"),
    ("memeqbodyacme/x.go:2", "memeqbody/p-H/x.go:2", "memeqbodyacme/n-H.go:2"),
    ("/opt/acme/src/memeqbodyacme/x.go:2", "/p-H/x.go:2", "/opt/acme/src/memeqbodyacme/n-H.go:2"),
    ("/opt/acme/sdk/src/slices/x.go:2", "/p-H/src/slices/x.go:2", None),
    ("acme.com/mod@v1.2.3/pkg/x.go:2", "p-H/@v/x.go:2", "acme.com/mod@v1.2.3/pkg/n-H.go:2"),
    ("/home/acme/go/pkg/mod/acme.com/x.go:2", "/p-H/pkg/mod/x.go:2", "/home/acme/go/pkg/mod/acme.com/n-H.go:2"),
    ("/build/glibc-ACME/string/x.c:2", "/build/glibc/p-H/x.c:2", None),
    ("stl_vector.h:12", "stl_vector.h:12", "stl_vector.h:12"),
    ("./csu/libc-start.c:1", "./csu/libc-start.c:1", "./csu/libc-start.c:1"),
    ("node:internal/acme:4", "node:/p-H/acme:4", "node:internal/n-H:4"),
    ("<frozen acme>:4", "<frozen acme>:4", "<frozen n-H:4"),
    (r"C:\acme\VC\Tools\MSVC\14\acme.hpp:4", r"p-H\\\\VC\\\\Tools\\\\MSVC\\\\acme.hpp:4", None),
    ("/home/acme/include/acme.cpp:4", "/p-H/acme.cpp:4", "/home/acme/include/n-H.cpp:4"),
    ("<autogenerated>:1", "<autogenerated>:1", "<n-H:1"),
    ("Acme.java:4", "Acme.java:4", "n-H.java:4"),
]


@pytest.mark.parametrize("source,paths,files", SOURCES)
def test_a_source_file_that_is_none_of_the_programs_stays_so(source, paths, files, tmp_path):
    """The rule's own words stay, and nothing else of the folder."""
    frames = [{"func": "acme_f", "dso": "/bin/app", "srcline": source}, {"func": "main", "dso": "/bin/app"}]
    for rules, made in ("paths", paths), ("files", files), ("paths,files", None), ("all", None):
        text = redacted(tmp_path, [(frames, 3)], rules)
        assert verdicts(tmp_path / "r.spaa") == verdicts(tmp_path / "a.spaa"), rules
        if made:
            assert re.search('"srcline":"%s"' % made.replace("H", HASH), text), re.findall('"srcline":"[^"]*"', text)
        elif rules in ("paths,files", "all"):
            assert "acme" not in text.lower().replace("acme_f", "")
    text = redacted(tmp_path, [(frames, 3)], "/./")
    assert re.search(rf'"srcline":"/?(p-{HASH}/)?n-{HASH}(:\d+)?"', text), re.findall('"srcline":"[^"]*"', text)


BINARIES = [
    ("/usr/lib/acme/libacme.so.1", r"/usr/lib/p-H/libacme.so.1", r"/usr/lib/acme/n-H\.so"),
    ("/snap/acme/1/libc-2.31.so", r"/p-H/libc-2.31.so", r"/snap/acme/1/libc-2\.n-H\.so|/snap/acme/1/libc-2\.n-H"),
    ("/home/acme/venv/site-packages/acme/x.so", r"/p-H/site-packages/x.so", r"/home/acme/venv/site-packages/acme/n-H\.so"),
    ("/home/acme/bin/python3.11", "/p-H/python3.11", "/home/acme/bin/python3-n-H"),
    ("/home/acme/bin/python", "/p-H/python", "/home/acme/bin/python"),
    ("/home/acme/libacme.so", "/p-H/libacme.so", r"/home/acme/n-H\.so"),
    ("/tmp/perf-123.map", r"/p-H/perf-123\.map", r"/tmp/perf-123\.map"),
    ("/dev/shm/acme", "/dev/p-H/acme", "/dev/shm/n-H"),
    ("//anon", "//anon", "//anon"),
    (r"C:\Windows\System32\acme.dll", r"p-H\\\\Windows\\\\System32\\\\acme.dll", None),
]


@pytest.mark.parametrize("binary,paths,files", BINARIES)
def test_a_binary_is_what_it_was(binary, paths, files, tmp_path):
    frames = [{"func": "acme_f", "dso": binary, "ip": "0x2000"}, {"func": "0x1000", "dso": binary, "ip": "0x1000"}]
    own = [{"func": "acme_g", "dso": "/home/acme/app", "ip": "0x1000"}, {"func": "main", "dso": "/home/acme/app", "ip": "0x1000"}]
    for rules, made in ("paths", paths), ("files", files), ("all", None):
        text = redacted(tmp_path, [(frames, 3), (own, 1)], rules)
        assert verdicts(tmp_path / "r.spaa") == verdicts(tmp_path / "a.spaa"), rules
        assert quality(tmp_path / "r.spaa") == quality(tmp_path / "a.spaa"), rules
        if made:
            assert re.search('"name":"(%s)"' % made.replace("H", HASH), text), re.findall('"name":"[^"]*"', text)
        elif rules == "all":
            assert "acme" not in text


@pytest.mark.parametrize("rules", ["paths", "functions", "all"])
def test_a_heap_profile_of_go_has_its_owners_and_its_words(rules, tmp_path):
    """Under a GOROOT of its own, whose folder goes."""
    def at(f, file):
        return {"func": f, "dso": GO, "srcline": file}
    root = "/home/acme/sdk/src/"
    stacks = [([at("slices.Grow[go.shape.uint8]", root + "slices/slices.go:3"), at("main.acmeZip", "/home/acme/app/main.go:7")], 16),
              ([at("compress/flate.NewWriter", root + "compress/flate/deflate.go:3"), at("compress/gzip.(*Writer).Write", root + "compress/gzip/gzip.go:9"),
                at("main.acmeZip", "/home/acme/app/main.go:7"), at("main.main", "/home/acme/app/main.go:1"), at("runtime.main", root + "runtime/proc.go:2")], 64),
              ([at("runtime.malg", root + "runtime/proc.go:5"), at("runtime.mstart", root + "runtime/proc.go:6")], 2)]
    text = redacted(tmp_path, stacks, rules, events=[profiles.event("inuse_space", "live_bytes", "allocation", "event")], tool="pprof")
    before, after = (ask("leaks", tmp_path / f"{n}.spaa") for n in "ar")
    assert [(r["live_bytes"], r["own"]) for r in before["rows"]] == [(r["live_bytes"], r["own"]) for r in after["rows"]]
    assert "/home/acme/sdk" not in text or rules == "functions"
    words = [re.findall("Go: .*", run("leaks", tmp_path / f"{n}.spaa", code=0).out) for n in "ar"]
    assert words[0] == words[1] and words[0]


def test_names_like_those_of_go_stay_in_programs_of_go_alone(tmp_path):
    """Another language's `runtime` or `log` may be anybody's."""
    go = [({"dso": "/opt/acme/server", "func": f}, n) for f, n in (("runtime.mallocgc", 1), ("runtime.goexit", 2), ("net/http.(*conn).serve", 3))]
    py = [({"dso": "[unknown]", "func": "log.acme", "srcline": "/srv/acme/log.py:3"}, 4), ({"dso": "[unknown]", "func": "runtime.acme"}, 5), ({"dso": "/opt/acme/tool", "func": "time.acme"}, 6),
          ({"dso": "/opt/acme/server", "func": "sync.acme", "srcline": "/srv/acme/x.c:3"}, 7)]
    (tmp_path / "a.spaa").write_text(profiles.text([([f], {"samples": n, "period": n}) for f, n in go + py]))
    run("convert", tmp_path / "a.spaa", "--redact", "all", "-o", tmp_path / "r.spaa", "-q", code=0)
    text = (tmp_path / "r.spaa").read_text()
    assert "acme" not in text and all(f'"func":"{f["func"]}"' in text for f, _ in go)

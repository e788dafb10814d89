"""Profiles of the Firefox Profiler: sums equal those of a walk over the file's own tables, of every version."""

import collections
import decimal
import gzip
import json
import os
import random

import pytest

from conftest import ROOT, ask, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "firefox")
D = decimal.Decimal


def fixture(name):
    return os.path.join(FIXTURES, name)


def load(path):
    with open(path) as f:
        return json.load(f, parse_float=D)


def at(table, column, i):
    values = table.get(column) or []
    return values[i] if i is not None and 0 <= i < len(values) else None


def stacks_of(found, thread):
    """A function from a stack's number to (name, library) of its frames, root first."""
    shared = found.get("shared", {})
    stacks, frames, funcs, resources = (thread.get(n) or shared[n] for n in ("stackTable", "frameTable", "funcTable",
                                                                               "resourceTable"))
    strings = thread.get("stringArray") or shared["stringArray"]
    libs = thread.get("libs") or found.get("libs", [])

    def path(stack):
        names = []
        while stack is not None:
            frame = stacks["frame"][stack]
            func = frames["func"][frame]
            resource = at(funcs, "resource", func)
            lib = at(frames, "lib", frame) if "lib" in frames else at(resources, "lib", resource)
            names.append((strings[funcs["name"][func]], libs[lib]["path"] if lib is not None and lib >= 0 else None))
            if "prefixOffset" in stacks:
                stack = stack - stacks["prefixOffset"][stack] if stacks["prefixOffset"][stack] else None
            else:
                stack = stacks["prefix"][stack]
        return names[::-1]
    return path


def sums(found):
    """By name: self and total; by thread: the whole."""
    own, total, threads = collections.Counter(), collections.Counter(), collections.Counter()
    for t in found["threads"]:
        path, samples = stacks_of(found, t), t["samples"]
        scale = 10**6 if samples.get("weightType") == "tracing-ms" else 1
        for i, stack in enumerate(samples["stack"]):
            weight = (samples["weight"][i] if samples.get("weight") else 1) * scale
            names = [n for n, _ in path(stack)]
            threads[str(t.get("tid"))] += weight
            for n in set(names):
                total[n] += weight
            if names:
                own[names[-1]] += weight
    return own, total, threads


def rows_of(path, *more):
    own, total = collections.Counter(), collections.Counter()
    found = ask("top", path, "-n", "0", *more)
    for r in found["rows"]:
        if r["id"]:
            own[r["function"].split(" (")[0] if r["name"] not in own else r["name"]] += 0
            own[r["name"]] += r["self"]
            total[r["name"]] += r["total"]
    return found, own, total


def made(version, kind="samples", seed=1):
    """A profile of two threads as a version has it."""
    chance = random.Random(seed)
    strings = ["(root)", "main", "draw", "wait", "read", "app.js", "libc.so.6", "0x1f00", "memcpy", "app.c"]
    libs = [{"name": "libc.so.6", "path": "/usr/lib/libc.so.6", "debugName": "libc.so.6", "debugPath": "/usr/lib/libc.so.6",
             "breakpadId": "0A9B5A4AB6FF436C7ABCD455D2738AF80", "codeId": "4a5a9b0affb66c437abcd455d2738af879985fa9", "arch": "x86_64"},
            {"name": "vmlinux", "path": "/boot/vmlinux", "debugName": "vmlinux", "debugPath": "/boot/vmlinux", "breakpadId": "", "codeId": None,
             "arch": "x86_64"}]
    funcs = {"name": [0, 1, 2, 3, 4, 7, 8], "isJS": [False, True, True] + [False] * 4, "relevantForJS": [False] * 7,
             "resource": [-1, 1, 1, 0, 2, 0, 0], "lineNumber": [None, 3, 9] + [None] * 4, "columnNumber": [None] * 7, "length": 7}
    files = [None, 5, 5, None, None, None, 9]
    frames = {"func": [0, 1, 1, 2, 3, 4, 5, 6], "address": [-1, -1, -1, -1, 4096, 8192, 7936, 4096], "inlineDepth": [0] * 7 + [1],
              "category": [0, 1, 1, 1, 2, 3, 2, 2], "subcategory": [0] * 8, "line": [None, 4, 5, 10, None, None, None, 77],
              "column": [None, 2, None, None, None, None, None, None], "nativeSymbol": [None] * 8, "innerWindowID": [0] * 8, "length": 8}
    resources = {"lib": [0, None, 1], "name": [6, 5, 4], "host": [None] * 3, "type": [1, 5, 1], "length": 3}
    stacks = {"frame": [0], "prefix": [None]}
    for i in range(1, 40):
        stacks["prefix"].append(chance.randrange(i))
        inlined = stacks["frame"][stacks["prefix"][i]] == 4 # frame 7 is inlined into it
        stacks["frame"].append(chance.choice([1, 2, 7]) if inlined else chance.randrange(1, 7))
    stacks["length"] = 40
    if version >= 70:
        frames["lib"] = [{0: 0, 2: 1}.get(funcs["resource"][f], -1) for f in frames["func"]]
        del resources["lib"]
    if version >= 66:
        stacks["prefixOffset"] = [0 if p is None else i - p for i, p in enumerate(stacks.pop("prefix"))]
    if version >= 58:
        funcs["source"] = [{5: 0, 9: 1}.get(f) for f in files]
    else:
        funcs["fileName"] = files
    tables = {"stackTable": stacks, "frameTable": frames, "funcTable": funcs, "resourceTable": resources}
    meta = {"interval": 1, "startTime": 1523986294997.5, "preprocessedProfileVersion": version, "product": "Firefox", "version": 20,
            "categories": [{"name": n, "color": c, "subcategories": ["Other"]} for n, c in
                           (("Other", "grey"), ("JavaScript", "yellow"), ("User", "blue"), ("Kernel", "orange"))],
            "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs"}}
    threads = []
    for k in range(2):
        n = 60
        samples = {"stack": [chance.choice([None] + list(range(40))) for _ in range(n)], "length": n}
        deltas = [0.25] + [chance.choice([0.5, 1, 1.125]) for _ in range(n - 1)]
        if version >= 50:
            samples["timeDeltas"] = deltas
        else:
            samples["time"] = [sum(deltas[:i + 1]) for i in range(n)]
        if kind != "samples":
            samples["weight"] = [chance.choice([1, 2.5, 7] if kind == "tracing-ms" else [16, 4096]) for _ in range(n)]
        samples["weightType"] = kind
        samples["threadCPUDelta"] = [None] + [chance.randrange(1000) for _ in range(n - 1)]
        t = {"name": ["GeckoMain", "Worker"][k], "processType": "default", "pid": "77" if version >= 47 else 77, "tid": 77 + k,
             "samples": samples, "markers": {"data": [None], "name": [0], "length": 1}}
        if version < 60:
            t.update(tables)
        if version < 56:
            t["stringArray"] = strings
        if version < 41:
            t["libs"] = libs
        threads.append(t)
    found = {"meta": meta, "threads": threads}
    if version >= 41:
        found["libs"] = libs
    if version >= 56:
        found["shared"] = {"stringArray": strings}
        if version >= 58:
            found["shared"]["sources"] = {"length": 2, "id": [None, None], "filename": [5, 9]}
        if version >= 60:
            found["shared"].update(tables)
    return found


VERSIONS = [10, 24, 40, 41, 47, 50, 56, 58, 60, 66, 70]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["samples", "tracing-ms", "bytes"])
def test_sums_are_those_of_the_tables(version, kind, tmp_path):
    found = made(version, kind, seed=version)
    path = tmp_path / "p.json"
    path.write_text(json.dumps(found))
    own, total, threads = sums(found)
    answer, got_own, got_total = rows_of(str(path))
    assert {n: v for n, v in got_total.items()} == total
    assert {n: v for n, v in got_own.items() if v} == {n: v for n, v in own.items() if v}
    by_thread = ask("top", str(path), "-n", "0", "--by", "thread")["rows"]
    assert {str(r["tid"]): r["self"] for r in by_thread} == threads and {r["pid"] for r in by_thread} == {77}
    assert {r["name"] for r in by_thread} == {"GeckoMain (tid 77)", "Worker (tid 78)"}
    assert answer["profile"]["unit"] == {"samples": None, "tracing-ms": "ns", "bytes": "bytes"}[kind]
    assert (answer["profile"]["samples"] == 120) == (kind == "samples")


@pytest.mark.parametrize("weights", [[0.25, 3], [0.1, 0.2, 0.7], [1e-9, 5000000], [2.0, 1.5, -0.5]])
def test_weights_that_are_no_whole_numbers_add_up_exactly(weights, tmp_path):
    found, chance = made(60, "bytes"), random.Random(3)
    for t in found["threads"]:
        t["samples"]["weight"] = [chance.choice(weights) for _ in t["samples"]["stack"]]
    path, kept = tmp_path / "p.json", tmp_path / "p.spaa"
    path.write_text(json.dumps(found))
    own, _, threads = sums(load(path))
    assert any(v % 1 for v in own.values()) and not any(d["code"] == "SPAA-I322" for d in ask("summary", str(path))["diagnostics"])
    run("convert", str(path), "-o", str(kept), "--samples", code=0)
    for f in path, kept:
        rows = json.loads(run("top", str(f), "--json", "-n", "0", code=0).out, parse_float=D)["rows"]
        assert {r["name"]: r["self"] for r in rows if r["id"] and r["self"]} == {n: v for n, v in own.items() if v}
    assert run("validate", str(kept)).code == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_frames_have_what_the_tables_say(version, tmp_path):
    path, out = tmp_path / "p.json", tmp_path / "p.spaa"
    path.write_text(json.dumps(made(version)))
    run("convert", str(path), "-o", str(out), code=0)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    dsos = {r["id"]: r for r in records if r["type"] == "dso"}
    frames = {(r["func"], r.get("srcline")): r for r in records if r["type"] == "frame"}
    libc = dsos[frames["wait", None]["dso"]]
    assert (libc["name"], libc["build_id"]) == ("/usr/lib/libc.so.6", "4a5a9b0affb66c437abcd455d2738af879985fa9")
    kernel = dsos[frames["read", None]["dso"]]
    assert kernel["is_kernel"] and frames["read", None]["kind"] == "kernel" and kernel["name"] == "/boot/vmlinux"
    assert frames["main", "app.js:4:2"] and frames["main", "app.js:5"] and frames["draw", "app.js:10"]
    assert frames["memcpy", "app.c:77"]["inline_depth"] == 1 and frames["memcpy", "app.c:77"]["ip"] == "0x1000"
    assert frames["0x1f00", None]["func_resolved"] is False


def test_functions_of_a_script_are_told_apart_by_where_they_begin(tmp_path):
    found = made(60)
    found["shared"]["funcTable"]["name"][2] = found["shared"]["funcTable"]["name"][1]
    found["shared"]["funcTable"]["columnNumber"][2] = 8
    path, out = tmp_path / "p.json", tmp_path / "o.json"
    path.write_text(json.dumps(found))
    write(str(path), out)
    for p in (path, out):
        rows = [r for r in ask("top", str(p), "-n", "0")["rows"] if r["function"].startswith("main")]
        assert len({r["id"] for r in rows}) == 2
        assert {ask("function", str(p), r["id"])["function"]["line"] for r in rows} == {3, 9}


def test_times_are_those_of_the_samples(tmp_path):
    for version in (24, 60):
        found = made(version)
        path = tmp_path / "p.json"
        path.write_text(json.dumps(found))
        got = ask("timeline", str(path), "--buckets", "10")
        assert got["time"]["profile_start"] == D("1523986294.99775") and got["covered_percent"] == 100


def test_cpu_time_is_a_metric(tmp_path):
    found = made(60)
    path = tmp_path / "p.json"
    path.write_text(json.dumps(found))
    whole = ask("top", str(path), "--metric", "x_cpu_ns")["whole"]
    assert whole == sum(sum(t["samples"]["threadCPUDelta"][1:]) for t in found["threads"]) * 1000


def test_what_is_not_read_is_said(tmp_path):
    path = tmp_path / "p.json"
    found = made(60)
    found["threads"][0]["jsTracer"] = {"events": [], "length": 5}
    found["threads"][0]["nativeAllocations"] = {"time": [], "length": 6}
    found["counters"] = [{"name": "malloc", "samples": {"length": 3}}]
    path.write_text(json.dumps(found))
    said = [m["message"] for m in ask("top", str(path))["diagnostics"]]
    for words in ("2 markers", "6 allocations", "5 events of the JavaScript tracer", "1 counters"):
        assert any(words in m for m in said), said


def test_gecko_profiles_are_refused_with_what_to_do(corpus, tmp_path):
    answer = run("top", os.path.join(corpus, "firefox", "simple-firefox.json"), code=3)
    assert "SPAA-E009" in answer.err and "profiler.firefox.com" in answer.err
    with open(os.path.join(corpus, "firefox", "simple-firefox.json")) as f:
        path = tmp_path / "gecko.json"
        path.write_text(json.dumps(json.load(f)["profile"]))
    assert "profiler.firefox.com" in run("top", str(path), code=3).err


def test_damage_is_said_and_the_rest_is_used(tmp_path):
    found = made(60)
    stacks = found["shared"]["stackTable"]
    stacks["prefix"][7], stacks["prefix"][8], stacks["frame"][9] = 30, "x", 99
    found["threads"][0]["samples"]["stack"][:3] = [7, 4000, 9]
    found["threads"].insert(1, 7)
    path = tmp_path / "p.json"
    path.write_text(json.dumps(found))
    answer = ask("top", str(path), "-n", "0")
    assert answer["whole"] == 120
    assert any(m["code"] == "SPAA-L300" for m in answer["diagnostics"])


def test_inlined_frames_stand_below_what_they_are_inlined_into(tmp_path):
    """Frames whose outer one is missing, or of another place, were called."""
    found = made(60)
    found["shared"]["frameTable"]["address"][7] = 5000
    path, out = tmp_path / "p.json", tmp_path / "p.spaa"
    path.write_text(json.dumps(found))
    run("convert", str(path), "-o", str(out), code=0)
    run("validate", str(out), code=0)
    assert '"inline_depth"' not in out.read_text() and '"memcpy"' in out.read_text()


def test_what_is_cut_off_is_used_as_far_as_it_goes(tmp_path):
    text = json.dumps(made(60))
    path = tmp_path / "p.json"
    path.write_text(text[:text.index('"Worker"')])
    answer = ask("top", str(path))
    assert answer["whole"] == 60 and any(m["code"] == "SPAA-L301" for m in answer["diagnostics"])


# ---- writing ----

def write(path, out, *more):
    run("convert", path, "--to", "firefox", "-o", str(out), *more, code=0)
    found = load(out)
    check(found)
    return found


def check(found):
    """The tables fit each other, as version 60 has them."""
    assert found["meta"]["preprocessedProfileVersion"] == 60
    assert any(c["color"] == "grey" for c in found["meta"]["categories"])
    shared = found["shared"]
    rows = {name: shared[name]["length"] for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources")}
    for name, n in rows.items():
        for column, values in shared[name].items():
            assert column == "length" or len(values) == n, (name, column)
    strings, libs = len(shared["stringArray"]), len(found["libs"])
    assert len(set(shared["stringArray"])) == strings
    below = [(shared["stackTable"]["frame"], rows["frameTable"]), (shared["frameTable"]["func"], rows["funcTable"]),
             (shared["funcTable"]["name"], strings), (shared["resourceTable"]["name"], strings), (shared["resourceTable"]["lib"], libs),
             (shared["sources"]["filename"], strings), (shared["frameTable"]["category"], len(found["meta"]["categories"]))]
    for values, n in below:
        assert all(0 <= v < n for v in values)
    assert all(-1 <= v < rows["resourceTable"] for v in shared["funcTable"]["resource"])
    assert all(v is None or 0 <= v < rows["sources"] for v in shared["funcTable"]["source"])
    assert all(p is None or p < i for i, p in enumerate(shared["stackTable"]["prefix"]))
    for t in found["threads"]:
        samples = t["samples"]
        assert samples["length"] == len(samples["stack"]) == len(samples["time"]) == len(samples["weight"])
        assert all(s is None or 0 <= s < rows["stackTable"] for s in samples["stack"])
        assert samples["time"] == sorted(samples["time"]) and isinstance(t["pid"], str)


def by_name(path, *more):
    found = collections.Counter()
    for r in ask("top", path, "-n", "0", *more)["rows"]:
        found[r["name"]] += r["self"]
    return found


@pytest.mark.parametrize("samples", [[], ["--samples"]])
@pytest.mark.parametrize("name", ["fp", "dwarf", "multi", "node-jit", "period"])
def test_perf_there_and_back(name, samples, corpus, tmp_path):
    """Functions and threads have what they have in the recording, here and by a walk over the tables."""
    spaa, out = tmp_path / "in.spaa", tmp_path / "out.firefox.json"
    where = os.path.join(corpus, "perf-data", "made")
    run("convert", os.path.join(where, name + ".perf.data.zst"), "--symfs", os.path.join(where, "symfs"), *samples, "-o", str(spaa), code=0)
    found = write(str(spaa), out, *samples)
    before, after = ask("top", str(spaa), "-n", "0"), ask("top", str(out), "-n", "0")
    assert before["whole"] == after["whole"] == sum(sums(found)[2].values())
    assert by_name(str(spaa)) == by_name(str(out))
    assert by_name(str(spaa), "--by", "dso") == by_name(str(out), "--by", "dso")
    assert by_name(str(spaa), "--by", "thread") == by_name(str(out), "--by", "thread")
    again = tmp_path / "again.json"
    write(str(out), again, "--samples")
    assert again.read_text() == out.read_text()
    if samples:
        assert sum(t["samples"]["length"] for t in found["threads"]) == before["profile"]["samples"]


def test_times_are_written_where_they_are_known(corpus, tmp_path):
    path = os.path.join(corpus, "perf-data", "made", "fp.perf.data.zst")
    found = write(path, tmp_path / "o.json", "--no-symbols", "--samples")
    script = run("convert", path, "--no-symbols", "--samples", "--to", "spaa", "-o", "-", code=0).out
    times = sorted(json.loads(line, parse_float=D)["timestamp"] for line in script.splitlines() if '"type":"sample"' in line)
    got = sorted(t for x in found["threads"] for t in x["samples"]["time"])
    assert got == [(t - times[0]) * 1000 for t in times]


def test_widths_add_up_where_times_are_not_known(tmp_path, folded):
    found = write(str(folded), tmp_path / "o.json")
    samples = found["threads"][0]["samples"]
    widths = [b - a for a, b in zip(samples["time"], samples["time"][1:])]
    assert all(abs(w * samples["weight"][0] - widths[0] * samples["weight"][i]) < D("0.001") for i, w in enumerate(widths))
    assert samples["weightType"] == "samples"


def test_units(tmp_path):
    heap = os.path.join(ROOT, "tests", "fixtures", "heapprofile", "leaky.heapprofile")
    found = write(heap, tmp_path / "o.json")
    assert {t["samples"]["weightType"] for t in found["threads"]} == {"bytes"}
    times = os.path.join(ROOT, "tests", "fixtures", "speedscope", "threads.speedscope.json")
    found = write(times, tmp_path / "o.json")
    assert {t["samples"]["weightType"] for t in found["threads"]} == {"tracing-ms"}
    assert sum(sum(t["samples"]["weight"]) for t in found["threads"]) == D("26.999999")


def test_inlined_functions_lines_and_categories(corpus, tmp_path):
    where = os.path.join(corpus, "perf-data", "made")
    found = write(os.path.join(where, "dwarf.perf.data.zst"), tmp_path / "o.json", "--symfs", os.path.join(where, "symfs"))
    frames, shared = found["shared"]["frameTable"], found["shared"]
    names = [c["name"] for c in found["meta"]["categories"]]
    assert max(frames["inlineDepth"]) >= 1 and {names[c] for c in frames["category"]} >= {"User", "Kernel"}
    files = {shared["stringArray"][i] for i in shared["sources"]["filename"]}
    assert any(f.endswith("mix.c") for f in files) and any(frames["line"])
    assert {lib["codeId"] for lib in found["libs"] if lib["path"].endswith("libc.so.6")} == {"93ac61ec5a8eb1396f9fbd350e3169a558528a40"}
    assert {lib["breakpadId"] for lib in found["libs"] if lib["path"].endswith("libc.so.6")} == {"EC61AC938E5A39B16F9FBD350E3169A50"}


def test_gzip(corpus, tmp_path):
    path = os.path.join(corpus, "perf-data", "made", "fp.perf.data.zst")
    out = tmp_path / "profile.json.gz"
    run("convert", path, "--no-symbols", "-o", str(out), code=0)
    check(json.loads(gzip.decompress(out.read_bytes())))


def test_weights_that_are_no_counts_are_said(corpus, tmp_path):
    answer = run("convert", os.path.join(corpus, "perf-data", "made", "multi.perf.data.zst"), "--no-symbols", "--event", "task-clock",
                 "--to", "firefox", "-o", str(tmp_path / "o"), code=None)
    assert answer.code in (0, 2)
    records = ('{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[{"name":"cycles",'
               '"kind":"hardware","sampling":{"mode":"period","primary_metric":"period","sample_period":1000}}]}\n'
               '{"type":"dso","id":1,"name":"a","is_kernel":false}\n{"type":"frame","id":1,"func":"f","dso":1,"kind":"user"}\n'
               '{"type":"stack","id":1,"stack_type":"unified","frames":[1],"context":{"event":"cycles"},"weights":[{"metric":"period","value":1000,"unit":"cycles"}]}\n')
    answer = run("convert", "-", "--to", "firefox", "-o", "-", stdin=records, code=0)
    assert "SPAA-W478" in answer.err


def test_fixtures_come_back(tmp_path):
    for name in sorted(os.listdir(FIXTURES)):
        if name.endswith(".md"):
            continue
        out, again = tmp_path / "out.json", tmp_path / "again.json"
        write(fixture(name), out, "--samples")
        write(str(out), again, "--samples")
        assert again.read_text() == out.read_text()


def test_a_process_is_called_like_its_main_thread(tmp_path):
    """Of many processes: where no thread is the main one, like the first of them in the order of the file."""
    text = tmp_path / "many.perf-script"
    out = tmp_path / "many.json"
    threads = [(pid, pid + k, "p%dt%d" % (pid, k)) for pid in range(10, 4000, 10) for k in range(pid % 3, 7)]
    random.Random(1).shuffle(threads)
    text.write_text("".join("%s %d/%d [000] 1.000000: 1 cycles: \n\t 401000 f+0x1 (/x)\n\n" % (comm, pid, tid)
                            for pid, tid, comm in threads))
    assert run("convert", text, "--to", "firefox", "-o", out).code == 0
    found = load(out)["threads"]
    assert len(found) == len(threads)
    for t in found:
        pid = int(t["pid"])
        assert t["processName"] == "p%dt%d" % (pid, pid % 3)

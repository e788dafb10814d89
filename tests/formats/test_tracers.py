"""DTrace's and bpftrace's aggregations: what is read, what comes back, and random ones against their own truth."""

import collections
import json
import os
import random
import re
import shutil
import subprocess

import pytest

from conftest import CORPUS, ROOT, ask, run

FIXTURES = {"dtrace": os.path.join(ROOT, "tests", "fixtures", "dtrace"),
            "bpftrace": os.path.join(ROOT, "tests", "fixtures", "bpftrace")}
needs_corpus = pytest.mark.skipif(not os.path.isdir(CORPUS), reason="no corpus")


def fixture(fmt, name):
    return os.path.join(FIXTURES[fmt], name + ".txt")


def spaa(path, *args, fmt=None, stdin=None):
    """The SPAA records of an input."""
    out = run("convert", "-q", path, *(["--from", fmt] if fmt else []), "--to", "spaa", "-o", "-", *args, stdin=stdin,
              code=0)
    return [json.loads(line) for line in out.raw.decode().splitlines()]


def joined(records, metric="count"):
    """{(event, keys as JSON, frames from the root): weight}, each pair of linked stacks once."""
    dsos = {r["id"]: r for r in records if r["type"] == "dso"}
    frames = {r["id"]: (dsos[r["dso"]]["name"], r["func"], r.get("symoff"), r["kind"])
              for r in records if r["type"] == "frame"}
    stacks = {r["id"]: r for r in records if r["type"] == "stack"}
    sums = collections.Counter()
    for r in stacks.values():
        f = [frames[i] for i in r["frames"]]
        if r.get("related_stacks"):
            other = stacks[r["related_stacks"][0]]
            assert other["related_stacks"] == [r["id"]] and other["weights"] == r["weights"]
            if r["stack_type"] == "user":
                continue
            f += [frames[i] for i in other["frames"]]
        context = {k: v for k, v in r["context"].items() if k != "event"}
        weights = {w["metric"]: w["value"] for w in r["weights"]}
        if metric in weights:
            sums[r["context"]["event"], json.dumps(context, sort_keys=True), tuple(reversed(f))] += weights[metric]
    return sums


def names(sums):
    """The same as {"module`function;…": weight}."""
    out = collections.Counter()
    for (_, _, frames), n in sums.items():
        out[";".join(f[1] if f[0] in ("[unknown]", "[kernel]") else f[0] + "`" + f[1] for f in frames)] += n
    return out


# What single constructs become

def test_zeros_before_a_number_of_more_than_64_bits_are_no_part_of_it(tmp_path):
    path = tmp_path / "max.bpftrace"
    path.write_text("@[\n    near+1\n]: 5\n\n@max[\n    far+2\n]: 0018446744073709551614\n")
    out = tmp_path / "out.spaa"
    run("convert", path, "--from", "bpftrace", "-o", out, code=0)
    assert run("validate", out).code == 0
    assert '"value":18446744073709551614' in out.read_text()


@pytest.mark.parametrize("key,kept", [("-34", -34), ("034", "034"), ("-034", "-034"), ("-0", "-0"), ("0", 0), ("--5", "--5")])
def test_a_key_is_a_number_only_as_json_has_it(tmp_path, key, kept):
    path = tmp_path / "keys.dtrace"
    path.write_text(f"\n  bash                {key}\n              app`main+0x1\n              libc`start+0x2\n                5\n\n")
    out = tmp_path / "out.spaa"
    run("convert", path, "--from", "dtrace", "-o", out, code=0)
    assert run("validate", out).code == 0
    (stack,) = [r for r in map(json.loads, out.read_text().splitlines()) if r["type"] == "stack"]
    assert stack["context"]["x_dtrace"]["keys"] == ["bash", kept]


def test_keys_stand_before_or_after_stacks_and_numbers_are_told_from_values():
    rows = joined(spaa(fixture("dtrace", "number-key")))
    assert {(k, n) for (_, k, _), n in rows.items()} == {('{"x_dtrace": {"keys": [1234]}}', 5),
                                                         ('{"x_dtrace": {"keys": [1235]}}', 7)}
    rows = joined(spaa(fixture("dtrace", "keys-after")))
    assert {(k, n) for (_, k, _), n in rows.items()} == {('{"x_dtrace": {"keys": ["bash"]}}', 17),
                                                         ('{"x_dtrace": {"keys": ["sshd", 4]}}', 99)}
    rows = joined(spaa(fixture("dtrace", "keys")), "sum")
    assert {(k, n) for (_, k, _), n in rows.items()} == {
        ('{"x_dtrace": {"keys": ["bash", 1234]}}', 17), ('{"x_dtrace": {"keys": ["a name, with (things)", 9]}}', -200),
        ('{"x_dtrace": {"keys": ["only keys, no stack", 77]}}', 12)}


def test_named_keys_become_the_context():
    records = spaa(fixture("dtrace", "keys"), "--keys", "execname,pid,ustack")
    contexts = [r["context"] for r in records if r["type"] == "stack"]
    assert {"event": "dtrace", "pid": 1234, "comm": "bash"} in contexts
    assert ask("top", fixture("dtrace", "keys"), "--keys", "execname,pid,ustack", "--comm", "bash")["whole"] == 17
    records = spaa(fixture("dtrace", "keys"), "--keys", "zonename,uid,ustack")
    assert {"event": "dtrace", "zonename": "bash", "uid": 1234} in [r["context"] for r in records if r["type"] == "stack"]
    assert "--keys names 3 keys besides stacks, and this record has 2" in run(
        "convert", fixture("dtrace", "keys"), "--keys", "a,b,c,ustack", "--to", "spaa", "-o", "-", code=0).err
    assert "stack-type" in run("top", fixture("dtrace", "keys"), "--stack-type", "both", code=2).err


def test_kernel_and_user_stacks_of_one_record_are_linked_and_count_once():
    records = spaa(fixture("dtrace", "linked"))
    assert sum(joined(records).values()) == 3 + 4 + 5
    kinds = collections.Counter(r["stack_type"] for r in records if r["type"] == "stack")
    assert kinds == {"kernel": 2, "user": 1, "unified": 1}  # the empty one is unified
    assert ask("top", fixture("dtrace", "linked"))["whole"] == 12
    rows = ask("top", fixture("dtrace", "linked"), "--sort", "total", "-n", 0)["rows"]
    assert {r["function"]: r["total"] for r in rows}["main"] == 3


def test_timer_probes_give_frequency_and_samples():
    for probe, hz in (("profile-997", 997), ("profile-10ms", 100), ("profile:::profile-97hz", 97), ("tick-1s", 1),
                      ("profile-3ms", 333.3333333333333)):
        head = spaa(fixture("dtrace", "linked"), "--event", probe)[0]
        assert head["events"] == [{"name": probe, "kind": "timer", "sampling": {
            "mode": "frequency", "primary_metric": "samples", "frequency_hz": hz}}]
    head, *records = spaa(fixture("dtrace", "linked"), "--event", "syscall::read:entry")
    assert head["events"][0]["kind"] == "probe" and head["events"][0]["sampling"]["mode"] == "event"
    assert [r for r in records if r["type"] == "stack"][0]["context"]["probe"] == {
        "provider": "syscall", "module": "", "function": "read", "name": "entry"}
    assert spaa(fixture("bpftrace", "stacks"), "--event", "profile:hz:99")[0]["events"][0]["sampling"] == {
        "mode": "frequency", "primary_metric": "samples", "frequency_hz": 99}


def test_distributions_become_metrics_of_their_buckets():
    weights = [{w["metric"]: w["value"] for w in r["weights"]} for r in spaa(fixture("dtrace", "quantize"))
               if r["type"] == "stack"]
    assert {"count": 10, "samples": 10, "bucket:16": 5, "bucket:32": 5} in weights
    assert {"count": 10, "samples": 10, "bucket:<0": 1, "bucket:0": 7, "bucket:>=100": 2} in weights
    weights = [{w["metric"]: w["value"] for w in r["weights"]} for r in spaa(fixture("bpftrace", "maps"))
               if r["type"] == "stack"]
    assert {"count": 8, "samples": 8, "bucket:[0]": 1, "bucket:[256, 512)": 2, "bucket:[1M, 2M)": 5} in weights
    assert {"count": 8, "samples": 8, "bucket:(..., 0)": 3, "bucket:[0, 10)": 4, "bucket:[100, ...)": 1} in weights
    assert {"count": 198, "avg": 3, "total": 594} in weights
    assert {"sum": -6} in weights


def test_titles_separate_aggregations_and_drops_are_reported():
    answer = run("top", fixture("dtrace", "drops-and-text"), "--event", "Writes", "--json", code=0)
    assert json.loads(answer.out)["whole"] == 41
    info = ask("info", fixture("dtrace", "drops-and-text"))
    assert [(e["name"], e["whole"]) for e in info["events"]] == [("Reads by size", 40), ("Writes", 41)]
    assert info["quality"]["lost"] == 12
    assert "12 drops on CPU 0, line 8" in answer.err and "a stack without a value, line 18" in answer.err
    run("top", fixture("dtrace", "drops-and-text"), "--strict", code=3)


def test_notes_rust_names_and_inlined_methods():
    frames = {r["func"]: r for r in spaa(fixture("dtrace", "rust")) if r["type"] == "frame"}
    assert set(frames) == {"<alloc::vec::Vec<T> as core::X>::from", "std::panicking::try::do_call", "foo::bar()",
                           "outer", "inner", "innermost"}
    assert frames["foo::bar()"]["x_dtrace"] == {"raw": "_ZN3foo3barEv"}
    assert frames["innermost"]["inline_depth"] == 2 and frames["outer"].get("inline_depth", 0) == 0
    notes = [r.get("x_dtrace") for r in spaa(fixture("dtrace", "python")) if r["type"] == "frame"]
    assert {"note": "./func_slow.py:3 (func_c)"} in notes and notes.count(None) == 2


def test_windows_form():
    assert names(joined(spaa(fixture("dtrace", "windows")))) == {"ntdll`RtlUserThreadStart;nt`KiPageFault": 7}


def test_json_is_the_same_data_as_text(tmp_path):
    text = ('@a[\n    schedule+35\n    entry_SYSCALL_64_after_hwframe+118\n, \n    syscall+25\n    0x7ffc6695a908\n, bash]: 1\n'
            '@a[, , x]: 2\n@t: 5\n@h[\n    syscall+25\n]: \n(..., 0)  3 |@@|\n[4, 8)  1 |@@|\n[64K, 128K)  2 |@@|\n\n'
            '@s[bash, 17922]: count 1, average 3, total 3\n')
    path = tmp_path / "text"
    path.write_text(text)
    for metric in ("count", "bucket:[64K, 128K)", "total"):
        assert joined(spaa(path), metric) == joined(spaa(fixture("bpftrace", "json")), metric)


# The other tracer's form

def buckets(records):
    """{innermost function: {bucket: count}}."""
    frames = {r["id"]: r["func"] for r in records if r["type"] == "frame"}
    out = collections.defaultdict(collections.Counter)
    for r in records:
        if r["type"] == "stack":
            for w in r["weights"]:
                if w["metric"].startswith("bucket:") or w["metric"] == "count":
                    out[frames[r["frames"][0]]][w["metric"].removeprefix("bucket:")] += w["value"]
    return out


def other_way(path, there, tmp_path, lost=False):
    out = tmp_path / "out"
    answer = run("convert", path, "--to", there, "-o", out, code=0)
    assert ("L300" in answer.err) == lost
    return buckets(spaa(out, fmt=there)), out


def test_histograms_are_written_with_the_labels_of_each_tracer(tmp_path):
    path = fixture("bpftrace", "hist-stacks")
    assert buckets(spaa(path)) == {"foo": {"[1]": 1, "[2, 4)": 5, "[4, 8)": 7, "count": 13},
                                   "bar": {"[2, 4)": 50, "count": 50}}
    read, out = other_way(path, "dtrace", tmp_path)
    assert read == {"foo": {"1": 1, "2": 5, "4": 7, "count": 13}, "bar": {"2": 50, "count": 50}}
    assert other_way(out, "bpftrace", tmp_path)[0] == buckets(spaa(path))


HEAD = "           value  ------------- Distribution ------------- count    \n"


@pytest.mark.parametrize("rows,want,lost", [
    ("-4 -1 0 1 2048", ["[-7, -3)", "[-1]", "[0]", "[1]", "[2K, 4K)"], False),
    ("<-10 -10 0 10 >=20", ["(..., -10)", "[-10, 0)", "[0, 10)", "[10, 20)", "[20, ...)"], False),
    ("<0 30", ["(..., 0)", "[30, ...)"], True)])  # how wide is not there
def test_buckets_of_dtrace_have_their_upper_bounds_in_bpftrace(rows, want, lost, tmp_path):
    path = tmp_path / "in"
    path.write_text("\n              app`main+0x1\n\n" + HEAD +
                    "".join(f"{r:>16} |{'@':40} {n} \n" for n, r in enumerate(rows.split(), 1)) + "\n")
    count = len(want) * (len(want) + 1) // 2
    assert other_way(path, "bpftrace", tmp_path, lost)[0] == {
        "main": {**{w: n for n, w in enumerate(want, 1)}, "count": count}}


@pytest.mark.parametrize("rows,want,lost", [
    (["[0]", "[1]", "[2, 4)", "[1M, 2M)"], ["0", "1", "2", "1048576"], False),
    (["(..., 0)", "[0, 10)", "[10, 20)", "[20, ...)"], ["<0", "0", "10", ">=20"], False),
    (["(..., 0)", "[64, 72)"], ["<0", "64"], True)])  # 72 is lost
def test_buckets_of_bpftrace_are_lower_bounds_in_dtrace(rows, want, lost, tmp_path):
    path = tmp_path / "in"
    path.write_text("@[\n    main+1\n]: \n" + "".join(f"{r:16} {n:8} |@|\n" for n, r in enumerate(rows, 1)) + "\n")
    count = len(want) * (len(want) + 1) // 2
    assert other_way(path, "dtrace", tmp_path, lost)[0] == {
        "main": {**{w: n for n, w in enumerate(want, 1)}, "count": count}}


@needs_corpus
def test_distributions_of_a_toolkit_are_read_back(tmp_path):
    path = os.path.join(CORPUS, "dtrace", "toolkit", "py_malloc.txt")
    read, _ = other_way(path, "bpftrace", tmp_path)
    there = buckets(spaa(path))
    assert {f: b["count"] for f, b in read.items()} == {f: b["count"] for f, b in there.items()}
    assert {f: sorted(b.values()) for f, b in read.items()} == {f: sorted(b.values()) for f, b in there.items()}


@pytest.mark.parametrize("there", ["dtrace", "bpftrace"])
def test_a_record_without_a_stack_is_no_part_of_another(there, tmp_path):
    path = tmp_path / "in.spaa"
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
            "stack_id_mode": "local",
            "events": [{"name": "e", "kind": "hardware", "sampling": {"mode": "event", "primary_metric": "count"}}]}
    records = [head, {"type": "dso", "id": 1, "name": "a", "is_kernel": False},
               {"type": "frame", "id": 1, "func": "f", "dso": 1, "kind": "user"},
               {"type": "frame", "id": 2, "func": "g", "dso": 1, "kind": "user"}]
    for i, (frames, n) in enumerate((([1], 3), ([], 5), ([2], 7))):
        records.append({"type": "stack", "id": str(i), "frames": frames, "context": {"event": "e"},
                        "weights": [{"metric": "count", "value": n}]})
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    run("convert", path, "--to", there, "-o", tmp_path / "out", code=0)
    rows = {r["function"]: r["self"] for r in ask("top", tmp_path / "out", "-n", 0)["rows"]}
    assert rows == {"f": 3, "[unknown]": 5, "g": 7}


# What comes back

@pytest.mark.parametrize("fmt", ["dtrace", "bpftrace"])
def test_bytes_come_back_with_lossless_and_stacks_without(fmt, tmp_path):
    for name in sorted(n for n in os.listdir(FIXTURES[fmt]) if n.endswith(".txt")):
        path = os.path.join(FIXTURES[fmt], name)
        kept, plain = tmp_path / "kept.spaa", tmp_path / "plain.spaa"
        run("convert", "-q", path, "--lossless", "-o", kept, code=0)
        with open(path, "rb") as f:
            assert run("convert", kept, "--to", fmt, "-o", "-", code=0).raw == f.read(), name
        run("convert", "-q", path, "-o", plain, code=0)
        back = run("convert", plain, "--to", fmt, "-o", "-", code=0).raw
        for metric in ("count", "sum", "samples"):
            assert joined(spaa("-", fmt=fmt, stdin=back), metric) == joined(spaa(plain), metric), name
        assert run("validate", kept, code=0) and run("validate", plain, code=0)


def test_edited_stacks_are_rendered(tmp_path):
    kept, edited = tmp_path / "kept.spaa", tmp_path / "edited.spaa"
    run("convert", "-q", fixture("dtrace", "python"), "--lossless", "-o", kept, code=0)
    edited.write_text(kept.read_text().replace('"value":11', '"value":12'))
    answer = run("convert", edited, "--to", "dtrace", "-o", "-", code=0)
    assert answer.out.endswith("               12\n") and "the stacks have changed since" in answer.err


def test_other_profiles_are_written_as_tracers_print(folded):
    text = run("convert", folded, "--to", "dtrace", "-o", "-", code=0).out
    assert text.startswith("\n              read\n              run\n              main\n               10\n")
    assert names(joined(spaa("-", fmt="dtrace", stdin=text))) == {
        "main;parse;read": 30, "main;parse;scan": 20, "main;run;compute;mul": 25, "main;run;compute": 15,
        "main;run;read": 10}
    text = run("convert", folded, "--to", "bpftrace", "-o", "-", code=0).out
    assert "@[\n    scan\n    parse\n    main\n]: 20\n" in text


@needs_corpus
def test_perf_recordings_come_back_with_their_sides():
    path = os.path.join(CORPUS, "perf-data", "made", "fp.perf.data")
    if not os.path.exists(path):
        pytest.skip("no recording")
    for fmt in ("dtrace", "bpftrace"):
        text = run("convert", "-q", path, "--to", fmt, "-o", "-", "--no-symbols", code=0).raw
        run("top", "-", "--from", fmt, stdin=text, code=0)


# Random output of the tracers against what the generator knows

def random_frame(rng, kernel):
    word = "".join(rng.choices("abcdefg_", k=rng.randint(1, 9)))
    odd = rng.choice(["", "<T>", "(int, char const*)", " const", "+x", "(.llvm.12)", "::operator()(int)", "$VARIANT$A"])
    module = rng.choice(["unix", "genunix", "zfs"]) if kernel else rng.choice(["libc.so.1", "a.out", "lib b".replace(" ", "_")])
    if not kernel and rng.random() < 0.1:
        return "0x%x" % rng.randrange(1 << 12, 1 << 46), ("[unknown]", None, None)
    offset = rng.choice([0, 0, rng.randint(1, 1 << 20)])
    return (f"{module}`f{word}{odd}" + (f"+0x{offset:x}" if offset else ""),
            (module, "f" + word + odd, hex(offset) if offset else None))


def random_dtrace(rng):
    """Text of `@[execname, stack(), ustack(), pid] = count()` with noise, and its {(keys, frames): count}."""
    truth, text = collections.Counter(), ""
    if rng.random() < 0.5:
        text += "CPU     ID                    FUNCTION:NAME\n  0  64091                        :tick-60s \n\n"
    for _ in range(rng.randint(1, 12)):
        name, pid, count = rng.choice(["bash", "a b", "x" * 40]), rng.randint(0, 99999), rng.randint(0, 1 << 40)
        kernel = [random_frame(rng, True) for _ in range(rng.randint(0, 6))]
        kernel += [("unix`thread_start+0x8", ("unix", "thread_start", "0x8"))]
        user = [random_frame(rng, False) for _ in range(rng.randint(1, 6))]
        lines = [f"  {name:50s}\n"] + [f"              {t}\n" for t, _ in kernel] + ["\n"]
        lines += [f"              {t}\n" for t, _ in user] + [f" {pid:16d} {count:16d}\n"]
        if rng.random() < 0.2:
            lines.insert(rng.randint(1, len(lines) - 1), "dtrace: 3 drops on CPU 1\n")
        text += "".join(lines)
        if rng.random() < 0.3:
            text += "\nsome words of the program\n\n"
        truth[name, pid, tuple((m, f) for _, (m, f, _) in reversed(kernel + user))] += count
    return text, truth


@pytest.mark.parametrize("seed", range(30))
def test_random_dtrace_output_is_read_as_it_was_made(seed, tmp_path):
    text, truth = random_dtrace(random.Random(seed))
    path = tmp_path / "out"
    path.write_text(text)
    records = spaa(path, "--keys", "execname,stack,ustack,pid", fmt="dtrace")
    got = collections.Counter()
    for (_, context, frames), n in joined(records).items():
        c = json.loads(context)
        got[c["comm"], c["pid"], tuple((m, None if m == "[unknown]" else f) for m, f, *_ in frames)] += n
    # Names that demangling or cutting changes are compared by their start.
    cut = lambda rows: sorted((k[0], k[1], tuple((m, f and re.sub(r"( \(\.llvm.*|\(\.llvm.*)$", "", f)) for m, f in k[2]), n)
                              for k, n in rows.items())
    assert cut(got) == cut(truth)
    kept = tmp_path / "kept.spaa"
    run("convert", "-q", path, "--from", "dtrace", "--lossless", "-o", kept, code=0)
    assert run("convert", kept, "--to", "dtrace", "-o", "-", code=0).out == text


def random_bpftrace(rng):
    truth, text = collections.Counter(), "Attaching 2 probes...\n\n"
    for _ in range(rng.randint(1, 12)):
        comm, count = rng.choice(["bash", "kworker/0:1", "a]: b", "x"]), rng.randint(0, 1 << 50)
        kernel = [(f"k{rng.randint(0, 9)}", rng.randint(0, 999)) for _ in range(rng.randint(0, 5))]
        kernel = kernel + [("entry_SYSCALL_64_after_hwframe", 118)] if kernel else []
        user = [(f"u{rng.randint(0, 9)}::f(int)", rng.randint(0, 999)) for _ in range(rng.randint(0, 5))]
        stack = lambda s: "\n" + "".join(f"    {n}+{o}\n" for n, o in s) if s else ""
        text += f"@[{stack(kernel)}, {stack(user)}, {comm}]: {count}\n"
        frames = tuple(n for n, _ in reversed(kernel + user)) or ("[unknown]",)
        truth[comm, frames] += count
    return text, truth


@pytest.mark.parametrize("seed", range(20))
def test_random_bpftrace_output_is_read_as_it_was_made(seed, tmp_path):
    text, truth = random_bpftrace(random.Random(seed))
    path = tmp_path / "out"
    path.write_text(text)
    got = collections.Counter()
    for (_, context, frames), n in joined(spaa(path, "--keys", "kstack,ustack,comm")).items():
        got[json.loads(context)["comm"], tuple(f[1] for f in frames)] += n
    assert got == truth
    kept = tmp_path / "kept.spaa"
    run("convert", "-q", path, "--lossless", "-o", kept, code=0)
    assert run("convert", kept, "--to", "bpftrace", "-o", "-", code=0).out == text


@pytest.mark.parametrize("fmt", ["dtrace", "bpftrace"])
def test_damage_costs_no_crash_and_comes_back(fmt, tmp_path):
    rng = random.Random(7)
    path, kept = tmp_path / "damaged", tmp_path / "kept.spaa"
    for i in range(40):
        text = bytearray((random_dtrace if fmt == "dtrace" else random_bpftrace)(rng)[0].encode())
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(text))
            text[at:at + rng.choice([0, 1, 9])] = bytes(rng.choices(b"\n @[]:,`|0\xff\x00-a", k=rng.randint(0, 4)))
        path.write_bytes(text)
        if run("convert", "-q", path, "--from", fmt, "--lossless", "-o", kept).code == 0:
            assert run("convert", kept, "--to", fmt, "-o", "-", code=0).raw == bytes(text), i


# The corpus

def corpus_text(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    with open(path, encoding="utf-8") as f:
        return f.read()


@needs_corpus
@pytest.mark.parametrize("name", ["illumos-kernel-stacks.txt.zst", "inferno/hex-addresses.txt", "inferno/java.txt",
                                  "inferno/rust-names.txt", "inferno/stack-ustack.txt", "toolkit/j_profile.txt",
                                  "toolkit/putnexts.txt", "toolkit/py_profile.txt", "toolkit/hotkernel.txt"])
def test_corpus_totals_equal_a_sum_of_the_count_lines(name, tmp_path):
    path = os.path.join(CORPUS, "dtrace", name)
    if name.endswith(".zst") and not shutil.which("zstd"):
        pytest.skip("no zstd")
    text = corpus_text(path)
    counts = sum(int(line) for line in text.splitlines() if re.fullmatch(r" +[0-9]+", line.rstrip()))
    assert sum(joined(spaa(path)).values()) == counts
    kept = tmp_path / "kept.spaa"
    run("convert", "-q", path, "--lossless", "-o", kept, code=0)
    assert run("convert", kept, "--to", "dtrace", "-o", "-", code=0).out == text


@needs_corpus
def test_corpus_distributions_are_whole():
    path = os.path.join(CORPUS, "dtrace", "toolkit", "py_malloc.txt")
    rows = [line for line in corpus_text(path).splitlines() if "|" in line]
    assert sum(joined(spaa(path)).values()) == sum(int(r.split()[-1]) for r in rows)


def plain(name):
    """As inferno cuts names: no parameters, nothing after the first template argument, no underscore of closures."""
    name = name.replace("_{{", "{{")
    at = name.find("(", name.find("`"))
    name = name if at < 0 else name[:at]
    at = name.find("<", 1 + name.find("`") + 1)
    return name if at < 0 else name[:at]


@needs_corpus
@pytest.mark.parametrize("name", ["illumos-kernel-stacks", "inferno/hex-addresses", "inferno/java", "inferno/rust-names",
                                  "inferno/stack-ustack"])
def test_corpus_stacks_equal_other_tools_but_for_cut_names(name):
    big = name.startswith("illumos")
    path = os.path.join(CORPUS, "dtrace", name + (".txt.zst" if big else ".txt"))
    expected = os.path.join(CORPUS, "dtrace", name + ".expected-folded.txt" if big
                            else "inferno/expected/" + os.path.basename(name) + ".txt")
    cut = lambda stack: ";".join(plain(f) for f in stack.split(";"))
    theirs, ours = collections.Counter(), collections.Counter()
    for line in open(expected, encoding="utf-8"):
        stack, _, n = line.rpartition(" ")
        theirs[cut(stack.replace("bar_[i]", "test`bar"))] += int(n)
    for stack, n in names(joined(spaa(path))).items():
        ours[cut(stack)] += n
    assert ours == theirs


def test_addresses_of_programs_at_fixed_places_are_short():
    records = spaa(fixture("bpftrace", "short-addresses"))
    assert names(joined(records)) == {"/bin/a b`_start;/bin/a b`main": 3, "add;cafe;0x4011a6": 4}


def test_distributions_without_a_stack_are_known_as_dtrace():
    text = "  nfs\n           value  ------------- Distribution ------------- count    \n" \
        "              16 |                                         0        \n" \
        "              32 |@@@@@@@@@@@@@@@@@@@@                     5        \n" \
        "              64 |@@@@@@@@@@@@@@@@@@@@                     5        \n\n"
    answer = ask("top", "-", "--metric", "bucket:32", stdin=text.encode())
    assert (answer["profile"]["source_tool"], answer["whole"]) == ("dtrace", 5)


def test_keys_before_distributions():
    """Numbers too, and of a record with an empty stack, which leaves a blank line; a count above is none."""
    head = "           value  ------------- Distribution ------------- count    \n"
    rows = "              16 |                                         0        \n" \
           "              32 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 5        \n"
    text = f"\n             1234\n{head}{rows}\n             1235\n{head}{rows}" \
           f"\n  bash\n\n{head}{rows}\n  two words                                                  12\n{head}{rows}" \
           f"\n  sh\n              libc.so.1`_read+0xa\n              77\n{head}{rows}" \
           f"\n                9\n\n{head}{rows}"
    records = spaa("-", fmt="dtrace", stdin=text.encode())
    sums = collections.Counter()
    for r in records:
        if r["type"] == "stack":
            keys = tuple(r["context"].get("x_dtrace", {}).get("keys", []))
            sums[keys] += {w["metric"]: w["value"] for w in r["weights"]}["count"]
    assert sums == {(1234,): 5, (1235,): 5, ("bash",): 5, ("two words", 12): 5, ("sh", 77): 5, (): 14}


def test_statistics_of_json_are_numbers():
    odd = '{"type": "stats", "data": {"@s": {"k": {"count": 1, "total": {"count": 2}}, "l": {"count": 3}}}}\n' \
        '{"type": "stats", "data": {"@s": {"m": {"count": 4, "mode": [5], "average": 6}}}}\n'
    weights = [{w["metric"]: w["value"] for w in r["weights"]}
               for r in spaa("-", fmt="bpftrace", stdin=odd.encode()) if r["type"] == "stack"]
    assert weights == [{"count": 4, "avg": 6}]


def test_values_beyond_63_bits_are_kept():
    records = spaa(fixture("bpftrace", "unsigned"))
    assert {(r["context"]["event"], w["metric"]): int(w["value"]) for r in records if r["type"] == "stack"
            for w in r["weights"] if w["metric"] != "samples"} == {
        ("@big", "count"): 2 ** 64 - 1, ("@s", "count"): 2, ("@s", "avg"): 2 ** 63, ("@s", "total"): 2 ** 64 - 1,
        ("@max", "max"): 2 ** 64 - 2, ("@j", "count"): 2 ** 64 - 3, ("@j24", "count"): 2 ** 64 - 3}


@needs_corpus
@pytest.mark.parametrize("name", ["made-perf-mode-and-hist", "made-profile-kstack-ustack-comm"])
def test_bpftrace_corpus_totals(name, tmp_path):
    path = os.path.join(CORPUS, "bpftrace", name + ".txt")
    text = corpus_text(path)
    counts = sum(int(n) for n in re.findall(r"\]: ([0-9]+)$", text, re.M))
    counts += sum(int(n) for n in re.findall(r"^[\[(].*[\])] +([0-9]+) \|", text, re.M))
    assert sum(joined(spaa(path)).values()) == counts
    kept = tmp_path / "kept.spaa"
    run("convert", "-q", path, "--lossless", "-o", kept, code=0)
    assert run("convert", kept, "--to", "bpftrace", "-o", "-", code=0).out == text


# As filters

def test_they_work_as_filters(tmp_path):
    with open(fixture("dtrace", "linked"), "rb") as f:
        assert "zfs_write" in run("top", "-", stdin=f.read(), code=0).out
    with open(fixture("bpftrace", "stacks"), "rb") as f:
        run("flamegraph", "-", "-o", tmp_path / "x.svg", stdin=f.read(), code=0)
    assert (tmp_path / "x.svg").read_text().startswith("<?xml")


def live_bpftrace(*args, program="BEGIN { @[kstack, ustack, comm] = count(); exit(); }"):
    if not shutil.which("bpftrace") or os.geteuid() != 0:
        pytest.skip("needs bpftrace and root")
    done = subprocess.run(["bpftrace", *args, "-e", program],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    if done.returncode or b"@" not in done.stdout:
        pytest.skip("bpftrace does not run here")
    return done.stdout


@pytest.mark.parametrize("args", [(), ("-f", "json")])
def test_a_live_run(args):
    out = live_bpftrace(*args)
    rows = joined(spaa("-", "--keys", "kstack,ustack,comm", stdin=out))
    assert sum(rows.values()) == 1
    (_, context, frames), = rows
    assert json.loads(context)["comm"] == "bpftrace" and frames


# Stacks of addresses, Windows, and what programs print with printa()

def test_stacks_of_bare_addresses_are_read_whole():
    """With and without 0x; without it an address may have decimal digits only."""
    rows = joined(spaa(fixture("dtrace", "addresses")))
    assert {tuple(f[1] for f in reversed(frames)): n for (_, _, frames), n in rows.items()} == {
        ("0x7f61937691f5", "0x401136"): 12, ("0x123456789012", "0x7f61937691f5"): 1,
        # a kernel and a user stack of one record: joined() puts the user's frames first
        ("0xffffffff8134f1d0", "0xffffffff81000042", "0x7f61937691f5", "0x557312345678", "0x4011360049"): 3}
    assert ask("top", fixture("dtrace", "addresses"))["whole"] == 16
    assert "unknown format" in run("top", "-", stdin="  0x1234\n  0x5678\nsome words\nand more\n", code=3).err


def test_offsets_of_windows_are_no_part_of_names():
    """Capital digits, with and without a module; `0x… is an address without one."""
    rows = ask("top", fixture("dtrace", "windows-capitals"), "-n", "0")["rows"]
    assert {(r["function"], r["dso"], r["self"], r["total"]) for r in rows} == {
        ("main", "[unknown]", 7, 10), ("0x7ff843e4d224", "[unknown]", 3, 3), ("KiDispatch", "nt", 1, 1),
        ("Read", "drv.sys", 0, 1), ("invoke_main", "app.exe", 0, 7), ("BaseThreadInitThunk", "KERNEL32.DLL", 0, 7),
        ("RtlUserThreadStart", "ntdll.dll", 0, 10)}
    offsets = {r.get("symoff") for r in spaa(fixture("dtrace", "windows-capitals")) if r["type"] == "frame"}
    assert {"0x16b", "0x1ab", "0x2f", "0xab"} <= offsets


def test_microsofts_names_with_backticks(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text("\n  myapp!`anonymous namespace'::f+0x16B\n  myapp!main+0x2F\n  ntdll.dll!Start+0x1\n        42\n")
    assert {(r["function"], r["dso"]) for r in ask("top", path)["rows"]} == {
        ("`anonymous namespace'::f", "myapp"), ("main", "myapp"), ("Start", "ntdll.dll")}


def test_modules_of_linux_are_the_kernel(tmp_path):
    """Kernel and user part of a stack, as we write what perf recorded."""
    path = tmp_path / "d.txt"
    path.write_text("\n  [ext4]`read_page\n  [kernel]`vfs_read\n\n  libc.so.6`read\n  app`main\n        23\n"
                    "\n  libc.so.6`hot\n  app`main\n        24\n")
    assert {r["function"] for r in ask("top", path, "--kernel")["rows"]} == {"read_page", "vfs_read"}
    assert {r["function"]: r["self"] for r in ask("top", path)["rows"] if r["self"]} == {"read_page": 23, "hot": 24}


def test_a_second_note_under_a_frame_makes_no_second_member(tmp_path):
    path, out = tmp_path / "d.txt", tmp_path / "o.spaa"
    path.write_text("\n  python`eval+0x1\n    [ file.py:1 (x) ]\n    [ file.py:2 (y) ]\n  app`main\n        7\n")
    run("convert", path, "-o", out, code=0)
    run("validate", out, code=0)


def stack_text(frames):
    """As %k prints it."""
    return "\n" + "".join(f"              {f}\n" for f in frames)


LAYOUTS = {
    "%@d%k": lambda v, s, p, u, k: f"{v}{u}",
    "%@d%k\\n": lambda v, s, p, u, k: f"{v}{u}\n",
    "%@8d%k\\n": lambda v, s, p, u, k: f"{v:8d}{u}\n",
    "%@d\\n%k\\n": lambda v, s, p, u, k: f"{v}\n{u}\n",
    "%@d%k%k\\n": lambda v, s, p, u, k: f"{v}{k}{u}\n",
    "%@d%k%s\\n": lambda v, s, p, u, k: f"{v}{u}{s}\n",
    "%@d %s%k\\n": lambda v, s, p, u, k: f"{v} {s}{u}\n",
    "%s %@d%k\\n": lambda v, s, p, u, k: f"{s} {v}{u}\n",
    "pid %d: %@d%k\\n": lambda v, s, p, u, k: f"pid {p}: {v}{u}\n",
    "guest=%s count=%@d%k\\n": lambda v, s, p, u, k: f"guest={s} count={v}{u}\n",
    "%k%@d\\n": lambda v, s, p, u, k: f"{u}{v}\n",
    "%k\\n%@d\\n": lambda v, s, p, u, k: f"{u}\n{v}\n",
    "%k  %@u\\n": lambda v, s, p, u, k: f"{u}  {v}\n",
    "%kcount: %@d\\n": lambda v, s, p, u, k: f"{u}count: {v}\n",
    "%koncpu:%d ms:%@d\\n": lambda v, s, p, u, k: f"{u}oncpu:{p} ms:{v}\n",
    "%k%s\\n%@d\\n": lambda v, s, p, u, k: f"{u}{s}\n{v}\n",
    "%k-%k%s\\n%@d\\n": lambda v, s, p, u, k: f"{k}-{u}{s}\n{v}\n",
    "%s%k%@d\\n": lambda v, s, p, u, k: f"{s}{u}{v}\n",
    "%d%k%@d\\n": lambda v, s, p, u, k: f"{p}{u}{v}\n",
    "PID:%-5d %-3d %k %k %@12u\\n": lambda v, s, p, u, k: f"PID:{p:<5d} {p:<3d} {k} {u} {v:12d}\n",
    "%s, ustack": lambda v, s, p, u, k: f"  {s:<50s}{u} {v:16d}\n",
    "%d, ustack": lambda v, s, p, u, k: f" {p:16d}{u} {v:16d}\n",
    "ustack, %s, %d": lambda v, s, p, u, k: f"{u}  {s:<50s} {p:16d} {v:16d}\n",
}


@pytest.mark.parametrize("before", ["", "Tracing... Hit Ctrl-C to end.\n\n", "CPU     ID                    FUNCTION:NAME\n"
                                    "  1      2                             :END "])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_belong_to_their_stacks_however_printa_puts_them(layout, before):
    if before.startswith("CPU") and layout == "%@d\\n%k\\n":
        pytest.skip("the first value may be anything that was traced")
    kernel = stack_text(["unix`swtch+0x2", "genunix`cv_wait"])
    truth = {("main", "read"): (5, "bash", 11), ("main", "write"): (7, "two words", 12), ("poll",): (9, "sshd", 13)}
    text = before + "".join(LAYOUTS[layout](*row, stack_text([f"app`{f}+0x1" for f in reversed(frames)]), kernel)
                            for frames, row in truth.items())
    records = spaa("-", stdin=text.encode())
    rows = {tuple(f[1] for f in frames if f[0] == "app"): (n, json.loads(context)) for (_, context, frames), n
            in joined(records).items()}
    assert {frames: n for frames, (n, _) in rows.items()} == {frames: row[0] for frames, row in truth.items()}
    for frames, (_, context) in rows.items():
        keys = [str(k) for k in context.get("x_dtrace", {}).get("keys", [])]
        assert not {"5", "7", "9", "-"} & set(keys)
        if "%s" in layout and not before.startswith("CPU"):
            assert any(truth[frames][1] in k for k in keys)
        if "%d" in layout:
            assert any(str(truth[frames][2]) in k for k in keys)


TWO_STACKS = {
    "stack, ustack": lambda v, s, k, u: f"{k}{u} {v:16d}\n",
    "ustack, stack": lambda v, s, k, u: f"{u}{k} {v:16d}\n",
    "execname, stack, ustack": lambda v, s, k, u: f"  {s:<50s}{k}{u} {v:16d}\n",
    "pid, stack, ustack": lambda v, s, k, u: f" {4242:8d}{k}{u} {v:16d}\n",
    "execname, pid, stack, ustack": lambda v, s, k, u: f"  {s:<50s} {4242:8d}{k}{u} {v:16d}\n",
    "stack, ustack, execname": lambda v, s, k, u: f"{k}{u}  {s:<50s} {v:16d}\n",
    "%k%k%@d\\n\\n": lambda v, s, k, u: f"{k}{u}{v}\n\n",
    "%k\\n%k\\n%@d\\n": lambda v, s, k, u: f"{k}\n{u}\n{v}\n",
}


@pytest.mark.parametrize("keys", [False, True], ids=["no keys", "keys"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("layout", TWO_STACKS)
def test_a_record_without_one_of_its_two_stacks_has_the_other(layout, seed, keys):
    """Every program and kernel module is met once, so that only the blank line of the empty stack tells; of the last seeds no record has both."""
    rng = random.Random(seed)
    kernel, user = ["k0`kf", "unix`sys_syscall+0x17d"], ["p0`uf", "libc.so.1`_lwp_start"]
    records = ([(kernel, user)] if seed < 4 else [(kernel, []), ([], ["p0`uf"])]) + [([f"k{i}`kf"], []) if rng.random() < 0.4 else ([], [f"p{i}`uf"]) for i in range(1, 9)]
    rng.shuffle(records)
    text = "".join(TWO_STACKS[layout](i + 1, "bash", stack_text(k), stack_text(u)) for i, (k, u) in enumerate(records))
    named = ["--keys", "stack,ustack,execname" if layout.endswith("execname") else layout.replace(" ", "")] if keys and "%" not in layout else []
    got = collections.Counter()
    for (_, context, frames), n in joined(spaa("-", *named, stdin=text.encode())).items():
        got[tuple((f[0], f[3]) for f in reversed(frames))] += n
        assert "pid" not in layout or "4242" in context
    want = {tuple((f.split("`")[0], kind) for kind, side in (("kernel", k), ("user", u)) for f in side): i + 1 for i, (k, u) in enumerate(records)}
    assert dict(got) == want


def test_a_narrow_number_before_an_empty_stack_is_a_key():
    """`@[pid, stack()]`: dtrace prints integers of 32 bits in eight columns, values in sixteen."""
    text = "\n" + "".join(f" {pid:8d}{stack_text(frames)} {n:16d}\n" for pid, frames, n in
                          ((7, [], 900), (8, ["unix`idle"], 5), (0, [], 4000), (9, [], 1)))
    got = {json.loads(context)["x_dtrace"]["keys"][0]: n for (_, context, _), n in joined(spaa("-", stdin=text.encode())).items()}
    assert got == {7: 900, 8: 5, 0: 4000, 9: 1}


def test_numbers_that_a_program_prints_are_no_records():
    """A column of narrow numbers is neither keys nor values."""
    text = "what it prints\n" + "".join(f" {n:8d}\n" for n in range(1, 7)) + "\n" + stack_text(["unix`idle"]) + f" {5:16d}\n"
    assert list(joined(spaa("-", stdin=text.encode())).values()) == [5]


def test_shared_objects_are_of_programs_where_nothing_else_tells():
    """Two aggregations without titles, `@a[stack()]` and `@b[ustack()]`."""
    text = "\n" + stack_text(["zfs`zio", "unix`thread_start"]) + f" {3:16d}\n\n" + stack_text(["app`f", "libc.so.1`_start"]) + f" {2:16d}\n"
    kinds = {tuple(f[3] for f in frames): n for (_, _, frames), n in joined(spaa("-", stdin=text.encode())).items()}
    assert kinds == {("kernel", "kernel"): 3, ("user", "user"): 2}


def test_a_file_of_user_stacks_alone_has_no_kernel_stack_by_its_keys():
    text = "".join("\n" + stack_text([f"p{i}`uf"]) + f" {i + 1:16d}\n" for i in range(3))
    records = spaa("-", "--keys", "stack,ustack", stdin=text.encode())
    assert {r["kind"] for r in records if r["type"] == "frame"} == {"user"}


def test_a_stack_without_its_value_takes_none_from_its_neighbours():
    text = "1234" + stack_text(["app`a"]) + "5\n1235" + stack_text(["app`lost"]) + "\nwords\n\n1236" + stack_text(["app`c"]) + "7\n"
    answer = run("convert", "-", "--from", "dtrace", "--to", "spaa", "-o", "-", stdin=text.encode(), code=0)
    assert "a stack without a value" in answer.err
    assert names(joined([json.loads(line) for line in answer.out.splitlines()])) == {"app`a": 5, "app`c": 7}


# Values that do not add

TEXT_OF_MAPS = """@avg_us[
    f+1
    main+2
]: 100
@avg_us[
    g+1
    main+2
]: 300
@readMax[
    f+1
    main+2
]: 70000
@min[
    f+1
    main+2
]: 3
@stats[
    f+1
    main+2
]: count 221, average -10, total -2210
@[
    f+1
    main+2
]: 4
@[
    g+1
    main+2
]: 5
@count_max[
    g+1
]: 2
"""
MAPS_AS_JSON = (
    '{"type": "stats", "data": {"@avg_us": {"\\n    f+1\\n    main+2\\n": 100, "\\n    g+1\\n    main+2\\n": 300}}}\n'
    '{"type": "map", "data": {"@readMax": {"\\n    f+1\\n    main+2\\n": 70000}}}\n'
    '{"type": "map", "data": {"@min": {"\\n    f+1\\n    main+2\\n": 3}}}\n'
    '{"type": "stats", "data": {"@stats": {"\\n    f+1\\n    main+2\\n": {"count": 221, "average": -10, "total": -2210}}}}\n'
    '{"type": "map", "data": {"@": {"\\n    f+1\\n    main+2\\n": 4, "\\n    g+1\\n    main+2\\n": 5}}}\n'
    '{"type": "map", "data": {"@count_max": {"\\n    g+1\\n": 2}}}\n')


def metrics_of(records):
    """{event: {metric: sorted values}}"""
    out = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in records:
        for w in r["weights"] if r["type"] == "stack" else []:
            out[r["context"]["event"]][w["metric"]].append(w["value"])
    return {e: {m: sorted(v) for m, v in metrics.items()} for e, metrics in out.items()}


def test_averages_and_extremes_are_metrics_of_their_own():
    wanted = {"@avg_us": {"avg": [100, 300]}, "@readMax": {"max": [70000]}, "@min": {"min": [3]},
              "@stats": {"count": [221], "avg": [-10], "total": [-2210]}, "@": {"count": [4, 5], "samples": [4, 5]},
              "@count_max": {"count": [2], "samples": [2]}}
    new = TEXT_OF_MAPS.replace("count 221, average -10, total -2210", "{ .count = 221, .average = -10, .total = -2210 }")
    assert metrics_of(spaa("-", stdin=TEXT_OF_MAPS.encode())) == wanted
    assert metrics_of(spaa("-", stdin=new.encode())) == wanted
    assert metrics_of(spaa("-", stdin=MAPS_AS_JSON.encode())) == wanted


def test_what_does_not_add_is_no_default_and_is_not_added():
    for text in (TEXT_OF_MAPS, MAPS_AS_JSON):
        top = ask("top", "-", stdin=text.encode())
        assert (top["profile"]["event"], top["whole"]) == ("@", 9)
        top = ask("top", "-", "--event", "@avg_us", stdin=text.encode())
        assert (top["profile"]["metric"], top["whole"], {r["total"] for r in top["rows"]}) == ("avg", None, {None})
        events = {e["name"]: (e["samples"], e["whole"]) for e in ask("info", "-", stdin=text.encode())["events"]}
        assert events == {"@avg_us": (None, None), "@readMax": (None, None), "@min": (None, None), "@stats": (None, 221),
                          "@": (9, 9), "@count_max": (2, 2)}
    sums_first = '{"type": "stats", "data": {"@s": {"count": 900, "average": 1, "total": 9}}}\n' \
        '{"type": "map", "data": {"@sum": 5}}\n'
    assert ask("top", "-", stdin=sums_first.encode())["profile"]["event"] == "@sum"


def test_functions_are_told_by_their_names_and_by_the_option():
    answer = run("info", "-", "--verbose", stdin="@lat[a]: 5\n@n[a]: 6\n@min[a]: 7\n", code=0)
    assert "values that are understood by their names: @min as min" in answer.err
    assert "values that are taken for counts: @lat, @n" in answer.err
    answer = run("convert", "-", "--to", "spaa", "-o", "-", "--aggregation", "@lat=avg,@n=count,@min=sum",
                 stdin="@lat[a]: 5\n@n[a]: 6\n@min[a]: 7\n", code=0)
    assert "values that" not in answer.err
    assert metrics_of(map(json.loads, answer.out.splitlines())) == {
        "@lat": {"avg": [5]}, "@n": {"count": [6], "samples": [6]}, "@min": {"sum": [7]}}
    assert "--aggregation has no value \"@lat=median\"" in run("info", "-", "--aggregation", "@lat=median",
                                                             stdin="@lat[a]: 5\n", code=2).err
    titles = "Average size (bytes):\n" + stack_text(["app`f"]) + "  300\nTop 10, max 20 frames\n" \
        + stack_text(["app`f"]) + "  4\n"
    titles = titles.replace("\nTop", "\n\nTop").replace("frames\n", "frames\n\n").replace("):\n", "):\n\n")
    assert metrics_of(spaa("-", fmt="dtrace", stdin=titles.encode())) == {
        "Average size (bytes)": {"avg": [300]}, "Top 10, max 20 frames": {"count": [4], "samples": [4]}}
    assert metrics_of(spaa("-", "--aggregation", "count,Average size (bytes)=max", fmt="dtrace",
                           stdin=titles.encode()))["Average size (bytes)"] == {"max": [300]}


@pytest.mark.parametrize("fmt", ["dtrace", "bpftrace"])
def test_values_that_do_not_add_come_back(fmt, tmp_path):
    plain = tmp_path / "plain.spaa"
    text = MAPS_AS_JSON if fmt == "bpftrace" else "Max size:\n\n" + stack_text(["app`f"]) + "  300\n\nAverage:\n\n" \
        + stack_text(["app`f"]) + "  40\n" + stack_text(["app`f"]) + "  50\n"
    run("convert", "-q", "-", "--from", fmt, "-o", plain, stdin=text.encode(), code=0)
    answer = run("convert", plain, "--to", fmt, "-o", "-", code=0)
    assert metrics_of(spaa("-", fmt=fmt, stdin=answer.raw)) == metrics_of(spaa(plain))
    assert "the text does not say that the values of" in answer.err
    # Of one stack in two contexts the larger maximum is that of both.
    two = "".join(f"@max[\n    f+1\n, {c}]: {n}\n" for c, n in (("a", 3), ("b", 9), ("c", 5)))
    run("convert", "-q", "-", "-o", plain, stdin=two.encode(), code=0)
    assert run("convert", "-q", plain, "--to", "dtrace", "-o", "-", code=0).out.split() == ["f+0x1", "9"]


def test_functions_of_a_live_run(tmp_path):
    program = "BEGIN { @avg[comm] = avg(5); @avg[comm] = avg(7); @min[comm] = min(5); @max[comm] = max(5); " \
        "@stats[comm] = stats(5); @sum[comm] = sum(5); @hist[comm] = hist(5); @count[comm] = count(); exit(); }"
    wanted = {"@avg": {"avg": [6]}, "@min": {"min": [5]}, "@max": {"max": [5]}, "@sum": {"sum": [5]},
              "@stats": {"count": [1], "avg": [5], "total": [5]}, "@count": {"count": [1], "samples": [1]},
              "@hist": {"count": [1], "samples": [1], "bucket:[4, 8)": [1]}}
    for args in ((), ("-f", "json")):
        assert metrics_of(spaa("-", stdin=live_bpftrace(*args, program=program))) == wanted


# bpftrace from 0.24 on

def keys_and_counts(records):
    return sorted((event, tuple(json.loads(context).get("x_bpftrace", {}).get("keys", [])), tuple(f[1] for f in frames), n)
                  for (event, context, frames), n in joined(records).items())


def test_tuples_records_and_arrays_are_one_key():
    """By a parser of brackets that knows nothing of frames."""
    def split(key):
        parts, depth, at = [], 0, 0
        for i, c in enumerate(key):
            depth += (c in "({[") - (c in ")}]")
            if c == "," and depth == 0 and key[i + 1] == " ":
                parts.append(key[at:i])
                at = i + 2
        return parts + [key[at:]]
    with open(fixture("bpftrace", "nested-keys"), encoding="utf-8") as f:
        text = f.read().replace("a(b", "a b")
    truth = []
    for name, key, n in re.findall(r"^(@\w*)\[((?:.|\n)*?)\]: (\d+)$", text, re.M):
        *stack, rest = key.rpartition("\n, ") if "\n" in key else ("", key)
        parts = [int(p) if p.isdigit() else p.replace("a b", "a(b") for p in split(rest)]
        names_ = tuple(line.strip().split("+")[0] for line in reversed(stack[0].split("\n")[1:])) if stack[0] else ("[unknown]",)
        truth.append((name, tuple(parts), names_, int(n)))
    records = spaa(fixture("bpftrace", "nested-keys"))
    found = [row for row in keys_and_counts(records) if row[0] != "@hist"]
    assert found == sorted(truth) and len(truth) == 4
    as_json = spaa(fixture("bpftrace", "nested-json"))

    def without_blanks(rows):
        return [(e, tuple(k.replace(" ", "") if isinstance(k, str) else k for k in keys), f, n) for e, keys, f, n in rows]
    assert without_blanks(keys_and_counts(as_json)) == without_blanks(keys_and_counts(records))
    assert joined(as_json, "bucket:[8, 16)").total() == joined(records, "bucket:[8, 16)").total() == 2
    for name in ("nested-keys", "nested-json"):  # maps of tuples are no profile, and no damage
        assert "SPAA-L302" not in run("convert", fixture("bpftrace", name), "--to", "spaa", "-o", "-", code=0).err


def test_lines_and_inlined_functions_of_debug_information():
    records = spaa(fixture("bpftrace", "debug-info"))
    frames = {r["id"]: (r["func"], r.get("srcline"), r.get("inline_depth", 0)) for r in records if r["type"] == "frame"}
    stacks = {r["weights"][0]["value"]: [frames[i] for i in r["frames"]] for r in records if r["type"] == "stack"
              and r["context"]["event"] == "@"}
    assert stacks == {
        5: [("leaf", "/src/app.c:3", 2), ("middle", "/src/app.c:8", 1), ("spin", "/src/app.c:14", 0),
            ("main", "app.c:20", 0), ("operator@thing", None, 0), ("<unwind failure>", None, 0)],
        6: [("spin", "/src/app.c:14", 0), ("leaf", "/src/app.c:3", 1), ("main", "app.c:21", 0)]}
    assert names(joined(records))["/usr/bin/app`main;/usr/lib/libc.so.6`read;entry_SYSCALL_64_after_hwframe;do_foo;leaf"] == 7
    by_line = spaa(fixture("bpftrace", "debug-info"), "--frames", "line")
    assert by_line[0]["x_spaa"]["frames"] == "line" and any(r.get("srcline") for r in by_line if r["type"] == "frame")
    by_function = spaa(fixture("bpftrace", "debug-info"), "--frames", "function")
    assert not any(r.get("srcline") for r in by_function if r["type"] == "frame")


def test_json_that_has_no_blanks_in_its_keys():
    rows = names(joined(spaa(fixture("bpftrace", "glued-json"))))
    assert rows == {"/usr/bin/app`main;/usr/lib/libc.so.6`abort;entry_SYSCALL_64_after_hwframe;do_foo": 7, "spin;leaf": 2,
                    "0x7f61937691f5;[build-id:5a1c00112233445566778899aabbccddeeff0011]`0x1169": 3}


def test_build_ids_name_the_binaries():
    records = spaa(fixture("bpftrace", "build-id"))
    ids = {r["build_id"] for r in records if r["type"] == "dso" and "build_id" in r}
    with open(fixture("bpftrace", "build-id"), encoding="utf-8") as f:
        assert ids == set(re.findall(r"^([0-9a-f]{40}) 0x", f.read(), re.M)) and len(ids) == 2
    assert sum(joined(records).values()) == 7


def test_time_series_and_messages_are_no_frames():
    answer = run("convert", fixture("bpftrace", "series-and-messages"), "--to", "spaa", "-o", "-", code=0)
    assert names(joined([json.loads(line) for line in answer.out.splitlines()])) == {"main;f": 3, "WARNING_handler": 4, "[unknown]": 2}
    assert "SPAA-L302" not in answer.err and "a map was full" in answer.err
    assert ask("info", fixture("bpftrace", "series-and-messages"))["quality"]["lost"] == 15


# DTrace with bars

def test_values_beside_bars():
    """agghist: what stands behind the last bar is the value, whatever the keys."""
    with open(fixture("dtrace", "agghist"), encoding="utf-8") as f:
        text = f.read()
    records = spaa(fixture("dtrace", "agghist"))
    rows = joined(records)
    assert sorted(rows.values()) == sorted(int(n) for n in re.findall(r"\|[@█▋▎ ]* (\d+) *$", text, re.M))
    keys = {tuple(json.loads(c).get("x_dtrace", {}).get("keys", [])): n for (_, c, _), n in rows.items() if n in (2, 18, 40, 10, 20)}
    assert keys == {("bash",): 2, ("beam.smp",): 18, ("two words",): 40, ("sshd", 12): 10, ("sshd", 13): 20}
    assert names(rows)["unix`sys_syscall;genunix`read"] == 5 and names(rows)["unix`swtch"] == 7
    long = text.split("\n\n")[0] + "\n" + "".join(f"{f'prog{i}':>17} |{'@':40} {i:<9d}\n" for i in range(1, 300))
    assert ask("top", "-", stdin=long)["whole"] == sum(range(1, 300)) + 60


def test_packed_distributions_have_their_number_of_values():
    with open(fixture("dtrace", "aggpack"), encoding="utf-8") as f:
        text = f.read()
    answer = run("convert", fixture("dtrace", "aggpack"), "--to", "spaa", "-o", "-", code=0)
    rows = joined([json.loads(line) for line in answer.out.splitlines()])
    assert sorted(rows.values()) == sorted(map(int, re.findall(r"\| (\d+)$", text, re.M)))
    assert names(rows)["app`main;libc.so.1`_read"] == 9 and "only how many values each has is known" in answer.err
    assert {json.loads(c)["x_dtrace"]["keys"][0] for _, c, _ in rows if "x_dtrace" in c} == {"bash", "nscd"}


def test_bars_of_utf8_and_of_negative_counts():
    weights = {r["context"]["x_dtrace"]["keys"][0]: {w["metric"]: w["value"] for w in r["weights"]}
               for r in spaa(fixture("dtrace", "bars")) if r["type"] == "stack"}
    assert weights == {"read": {"bucket:8": 4, "bucket:16": 6, "count": 10, "samples": 10},
                       "write": {"bucket:1": -3, "bucket:2": 5, "count": 2, "samples": 2}}


def test_dtrace_on_linux():
    records = spaa(fixture("dtrace", "linux"))
    rows = names(joined(records))
    assert rows == {"bash`main;libc.so.6`read;vmlinux`entry_SYSCALL_64_after_hwframe;ext4`ext4_file_read_iter;vmlinux`__schedule": 3,
                    "0x7f12a4e0b3c0;java/lang/Thread.run()V;libjvm.so`Unsafe_Park;vmlinux`do_futex": 4}
    frames = {r["func"]: r for r in records if r["type"] == "frame"}
    assert frames["ext4_file_read_iter"]["kind"] == "kernel" and frames["Unsafe_Park"]["kind"] == "user"
    assert frames["java/lang/Thread.run()V"]["x_dtrace"] == {"note": "Thread.java:833"}


@pytest.mark.parametrize("text", [
    "| key | count |\n|---|---|\n| a | 12 |\n| b | 13 |\n", "key  min .---. max | counts\nx 1 : 2 : 3 | 4\n",
    "  10 |     int main(void)\n  11 |     {\n  12 |         return 0\n",
    "@param x\n@return 5\n@[1]: 2 is what bpftrace prints\nand more text\nand more\nand more\nand more\nand more\n"])
def test_tables_and_listings_are_no_profiles(text):
    assert run("info", "-", stdin=text).code != 0


@pytest.mark.parametrize("side", [(), ("--stack-type", "user"), ("--stack-type", "kernel")])
def test_modules_with_a_name_of_kernels_make_a_valid_profile(side, tmp_path):
    text = stack_text(["[kernel]libc.so.1`write+0xa", "[kernel.kallsyms]`x", "app`main+0x2"]) + "  3\n"
    out = tmp_path / "out.spaa"
    run("convert", "-q", "-", "--from", "dtrace", *side, "-o", out, stdin=text, code=0)
    run("validate", out, code=0)
    assert run("convert", "-q", out, "--to", "spaa", "-o", "-", code=0).raw == out.read_bytes()

"""What bcc's tools print without -f: each against a plain reading of the same text."""

import collections
import json
import os
import random
import re

import pytest

from conftest import ROOT, ask, run

BCC = os.path.join(ROOT, "tests", "fixtures", "bcc")


def text_of(name):
    with open(os.path.join(BCC, name + ".txt"), encoding="utf-8") as f:
        return f.read()


def records_of(name, *args, stdin=None):
    out = run("convert", "-q", os.path.join(BCC, name + ".txt") if name else "-", "--to", "spaa", "-o", "-", *args,
              stdin=stdin, code=0)
    return [json.loads(line) for line in out.raw.decode().splitlines()]


def rows_of(records):
    """[(event, frames leaf first as (name, dso, kind), {metric: value}, context)]"""
    dsos = {r["id"]: r["name"] for r in records if r["type"] == "dso"}
    frames = {r["id"]: (r["func"], dsos[r["dso"]], r["kind"]) for r in records if r["type"] == "frame"}
    return [(r["context"]["event"], [frames[i] for i in r["frames"]], {w["metric"]: w["value"] for w in r["weights"]},
             r["context"]) for r in records if r["type"] == "stack"]


def names(frames):
    return tuple(f[0] for f in frames)


def counted(rows, metric, key):
    out = collections.Counter()
    for event, frames, weights, context in rows:
        if metric in weights:
            out[event, names(frames), *(context.get(k) for k in key)] += weights[metric]
    return out


# stackcount

def test_stackcount_adds_its_intervals_up():
    truth = collections.Counter()
    for block in re.split(r"\n\n+", text_of("stackcount")):
        lines = [line for line in block.splitlines() if re.match(r"  ", line)]
        if lines:
            comm, pid = re.fullmatch(r" {4}(.*) \[(\d+)\]", lines[-2]).groups()
            frames = tuple(line.strip() for line in lines[:-2] if line.strip() != "--")
            truth["submit_bio", frames, comm, int(pid)] += int(lines[-1])
    rows = rows_of(records_of("stackcount"))
    assert counted(rows, "count", ("comm", "pid")) == truth == counted(rows, "samples", ("comm", "pid"))
    assert {n: [k for _, _, k in f] for _, f, _, c in rows for n in [c["comm"]]} == {
        "jbd2/xvda1-8": ["kernel"] * 4, "tar (1)": ["kernel"] * 3 + ["user"] + ["unknown"]}
    answer = run("convert", os.path.join(BCC, "stackcount.txt"), "--to", "spaa", "-o", "-", code=0)
    assert "1 stack traces could not be displayed" in answer.err


def test_stackcount_with_addresses_and_without_processes():
    truth = collections.Counter()
    for block in text_of("stackcount-verbose").split("^C\n")[1].split("\n\n"):
        m = re.fullmatch(r"((?:  \S.*\n)*)    (\d+)", block)
        if m:
            parts = [(line[2:18].strip(), re.sub(r"\+0x[0-9a-f]+$", "", line[19:])) for line in m[1].splitlines()]
            truth["c:mal*", tuple("0x" + a if n == "[unknown]" else n for a, n in parts)] += int(m[2])
    rows = rows_of(records_of("stackcount-verbose"))
    assert counted(rows, "count", ()) == truth
    kinds = {f[0][0]: [k for _, _, k in f] for _, f, _, _ in rows if f}
    assert kinds["submit_bio"] == ["kernel", "kernel", "user"]
    assert not any("comm" in c or "pid" in c for _, _, _, c in rows)


# who waited, and who woke

def wakes(text):
    """[(waker, its id, frames leaf first, target, its id, frames leaf first, number)], of offwaketime."""
    for block in text.split("\n\n"):
        m = re.search(r"^ {4}waker: +(.*)\n((?:.*\n)*?) {4}--? {15,16}--?\n((?:.*\n)*) {4}target: +(.*)\n {8}(\d+)$",
                      block, re.M)
        if not m:
            continue
        new = re.search(r"^ {4}-- +--$", block, re.M)
        who = [re.fullmatch(r"(.*) (\d+)", s).groups() if new else (s, None) for s in (m[1], m[4])]
        stacks = [[re.sub(r"^[0-9a-f]{16} |(?<=\]) -\d+$", "", line.strip()) for line in s.splitlines() if line.strip() != "-"]
                  for s in (m[2], m[3])]
        yield (*who[0], tuple(reversed(stacks[0])), *who[1], tuple(stacks[1]), int(m[5]))


@pytest.mark.parametrize("name", ["offwaketime", "offwaketime-old"])
def test_offwaketime_keeps_who_waited_and_who_woke_apart(name):
    truth = list(wakes(text_of(name)))
    rows = rows_of(records_of(name))
    waited = sorted((names(f), c["comm"], c.get("tid"), c["x_bcc"]["waker"], c["x_bcc"]["pair"], w["offcpu_ns"])
                    for e, f, w, c in rows if e == "offwaketime")
    woke = sorted((names(f), c["comm"], c.get("tid"), c["x_bcc"]["target"], c["x_bcc"]["pair"], w["blocked_ns"])
                  for e, f, w, c in rows if e == "offwaketime wakers")

    def who(comm, tid):
        return {"comm": comm, **({"tid": int(tid)} if tid else {})}

    def number(tid):
        return int(tid) if tid else None
    assert truth and len(rows) == 2 * len(truth)
    assert waited == sorted((tf, t, number(ti), who(w, wi), i, n * 1000)
                            for i, (w, wi, _, t, ti, tf, n) in enumerate(truth, 1))
    assert woke == sorted((wf, w, number(wi), who(t, ti), i, n * 1000)
                          for i, (w, wi, wf, t, ti, _, n) in enumerate(truth, 1))
    assert all(c.get("x_state") == "WAITING" for e, _, _, c in rows if e == "offwaketime")
    assert ask("waits", os.path.join(BCC, name + ".txt"))["stacks_of"] == "waiter"
    assert "how long those had waited" in run("info", os.path.join(BCC, name + ".txt"), "-v", code=0).err


def test_offwaketime_sides_by_the_delimiter_of_each_stack():
    kinds = {(e, c["comm"], f[0][0]): [k for _, _, k in f] for e, f, _, c in rows_of(records_of("offwaketime"))}
    assert kinds["offwaketime", "thread 9", "schedule"] == ["kernel"] * 3 + ["user"] * 2
    assert kinds["offwaketime wakers", "my server 2", "futex_wake"] == ["kernel"] * 2 + ["user"] * 2
    assert kinds["offwaketime wakers", "swapper/0", "hrtimer_wakeup"] == ["kernel"] * 2  # the idle thread has no program


@pytest.mark.parametrize("name", ["wakeuptime", "wakeuptime-libbpf"])
def test_wakeuptime_is_of_the_stack_that_woke(name):
    truth = sorted((tuple("0x" + a if s == "Unknown" else re.sub(r"\+0x[0-9a-f]+$", "", s)
                          for a, s in re.findall(r"^\s+(\w{16}) (.*)$", frames, re.M)), waker, target, int(n) * 1000)
                   for target, frames, waker, n in re.findall(
                       r"^\s+target: +(.*)\n((?:\s+\w{16} .*\n)*)\s+waker: +(.*)\n\s+(\d+)$", text_of(name), re.M))
    rows = rows_of(records_of(name))
    assert sorted((names(f), c["comm"], c["x_bcc"]["target"]["comm"], w["blocked_ns"]) for _, f, w, c in rows) == truth
    assert len(truth) == 2 and all(k == "kernel" for _, f, _, _ in rows for _, _, k in f)
    assert "where those waited is not in it" in run("waits", os.path.join(BCC, name + ".txt"), code=2).err


def test_a_text_without_its_title_has_numbers_and_no_unit():
    for name, events in (("offwaketime", {"offwaketime", "offwaketime wakers"}), ("wakeuptime", {"wakeuptime"})):
        text = text_of(name).split("^C\n")[1]
        rows = rows_of(records_of(None, stdin=text))
        assert {e for e, _, _, _ in rows} == events and {m for _, _, w, _ in rows for m in w} == {"value"}
        assert "nothing says what the numbers are" in run("info", "-", "-v", stdin=text, code=0).err
        total = sum(int(n) for n in re.findall(r"^ {8}(\d+)$", text, re.M))
        rows = rows_of(records_of(None, "--off-cpu", "ms", stdin=text))
        sums = collections.Counter()
        for e, _, w, _ in rows:
            sums[e] += sum(w.values())
        assert sums == dict.fromkeys(events, total * 10**6)


# memleak

@pytest.mark.parametrize("name", ["memleak", "memleak-libbpf"])
def test_memleak_counts_its_last_print_that_lists_something(name):
    prints = re.split(r"^\[[\d:]+\] Top \d+ stacks.*\n", text_of(name), flags=re.M)[1:]
    last = [p for p in prints if p.strip()][-1]
    truth = {}
    for size, n, frames in re.findall(r"^\t?(\d+) bytes in (\d+) allocations from stack\n((?:\t.*\n)*?)(?=\t?\d+ bytes|\Z)",
                                      last, re.M):
        found = re.findall(r"(?:0x|\[<)([0-9a-f]{16})>?\]?\s(.*)$", frames, re.M)
        truth[tuple("0x" + a.lstrip("0") if "unknown" in s or "null sym" in s else re.sub(r"\+0x[0-9a-f]+.*", "", s)
                    for a, s in found)] = (int(size), int(n))
    rows = rows_of(records_of(name))
    assert {names(f): (w["live_bytes"], w["live_count"]) for _, f, w, _ in rows} == truth and len(truth) == 2
    assert ask("top", os.path.join(BCC, name + ".txt"))["whole"] == sum(size for size, _ in truth.values())
    err = run("info", os.path.join(BCC, name + ".txt"), "-v", code=0).err
    assert ("1 prints before the last" in err) == (name == "memleak")
    assert ("of the one at 11:16:33" in err) == (name == "memleak-libbpf")


def test_memleak_process_modules_and_what_is_not_printed():
    rows = rows_of(records_of("memleak"))
    assert {(n, d, k) for _, f, _, _ in rows for n, d, k in f} == {
        ("grow(int)", "allocs", "user"), ("main", "allocs", "user"), ("0x7f12a4d9a1ca", "libc-2.21.so", "user")}
    assert {c["pid"] for _, _, _, c in rows} == {5193}
    assert all(k == "kernel" for _, f, _, _ in rows_of(records_of("memleak-libbpf")) for _, _, k in f)
    few = text_of("memleak").replace("Top 3", "Top 2")
    assert "there may be more" in run("info", "-", "-v", stdin=few, code=0).err
    assert "there may be more" not in run("info", os.path.join(BCC, "memleak.txt"), "-v", code=0).err


# profile of newer versions

def test_profile_with_modules_addresses_and_annotations():
    rows = rows_of(records_of("profile-modules"))
    found = {w["samples"]: f for _, f, w, _ in rows}
    assert found == {
        4: [("copy_user_generic_string", "[kernel]", "kernel"), ("entry_SYSCALL_64_after_hwframe", "[kernel]", "kernel"),
            ("__read", "libc.so.6", "user"), ("parse(std::string const&) [clone .cold]", "dd", "user")],
        11: [("spin(int)", "dd", "user"), ("[unknown]", "libc.so.6", "user"), ("[unknown]", "[unknown]", "unknown")],
        2: [("clear_page_erms", "[kernel]", "kernel"), ("do_syscall_64", "[kernel]", "kernel"),
            ("main", "[unknown]", "user")]}
    sampling = records_of("profile-modules")[0]["events"][0]["sampling"]
    assert (sampling["mode"], sampling["sample_period"]) == ("period", 10000)
    frames = {r["func"]: r.get("symoff") for r in records_of("profile-modules") if r["type"] == "frame"}
    assert frames["__read"] == "0x10" and frames["spin(int)"] == "0x19"
    rows = rows_of(records_of("profile-libbpf"))
    assert [f for _, f, _, _ in rows] == [[
        ("copy_user_generic_string", "[kernel]", "kernel"), ("0xffffffff81a00090", "[kernel]", "kernel"),
        ("read", "/usr/lib/x86_64-linux-gnu/libc.so.6", "user"), ("0x55d4c0de1169", "/usr/bin/dd", "user"),
        ("0x7f12a4d9a1ca", "[unknown]", "user")]]


def test_sides_that_a_title_names():
    text = "Sampling at 49 Hertz of all threads by {} stack... Hit Ctrl-C to end.\n    f\n    g\n    -                a (1)\n        4\n\n"
    for side in ("user", "kernel"):
        assert {k for _, f, _, _ in rows_of(records_of(None, stdin=text.format(side))) for _, _, k in f} == {side}
    assert {k for _, f, _, _ in rows_of(records_of(None, stdin=text.format("user + kernel")))
            for _, _, k in f} == {"unknown"}


def test_offcputime_with_bare_names():
    truth = {(tuple(f.split()), comm): int(n) * 1000 for f, comm, n in re.findall(
        r"((?:^    \S+\n)+)^    (\S+)\n {8}(\d+)$", text_of("offcputime-old"), re.M)}
    rows = rows_of(records_of("offcputime-old"))
    assert {(names(f), c["comm"]): w["offcpu_ns"] for _, f, w, c in rows} == truth and len(truth) == 2
    assert {k for _, f, _, _ in rows for _, _, k in f} == {"kernel"}
    new = text_of("offcputime") + "    schedule\n    server\n        77\n\n"  # of a new version a line is missing
    assert len(rows_of(records_of(None, stdin=new))) == len(rows_of(records_of("offcputime")))


# Random texts of all tools, one after the other

def random_text(rng):
    """(text, {(event, frames, metric): sum}): outputs of several tools in one text."""
    words = ["read", "ns::f(int, char)", "[unknown]", "operator()", "a b", "x+y", "main", "std::map<int, a>::at", "12ab"]
    text, truth = "", collections.Counter()

    def frames():
        return [rng.choice(words) for _ in range(rng.randint(1, 6))]
    for _ in range(rng.randint(1, 6)):
        tool = rng.choice(["offcputime", "profile", "stackcount", "wakeuptime", "offwaketime"])
        n = rng.randint(1, 4)
        if tool == "offcputime":
            text += "Tracing off-CPU time (us) of all threads by user + kernel stack for 5 secs.\n\n"
        elif tool == "profile":
            text += "Sampling at 49 Hertz of all threads by user + kernel stack for 5 secs.\n\n"
        elif tool == "stackcount":
            text += 'Tracing 3 functions for "f*"... Hit Ctrl-C to end.\n\n'
        elif tool == "wakeuptime":
            text += "Tracing blocked time (us) by kernel stack for 5 secs.\n\n"
        else:
            text += "Tracing blocked time (us) by user + kernel off-CPU and waker stack for 5 secs.\n\n"
        for _ in range(n):
            f, g, v = frames(), frames(), rng.randint(0, 10**9)
            comm = rng.choice(["a", "my prog", "x (1)", "y [2]", "t 3"])
            lines = "".join(f"    {x}\n" for x in f)
            if tool in ("offcputime", "profile"):
                text += lines + f"    {'-':<16s} {comm} ({rng.randint(1, 99)})\n        {v}\n\n"
                truth[tool, tuple(f)] += v * (1000 if tool == "offcputime" else 1)
            elif tool == "stackcount":
                owner = f"    {comm} [{rng.randint(1, 99)}]\n" if rng.random() < 0.5 else ""
                text += "".join(f"  {x}\n" for x in f) + owner + f"    {v}\n\n"
                truth["f*", tuple(f)] += v
            elif tool == "wakeuptime":
                text += f"    {'target:':<16s} {comm}\n" + "".join(
                    f"    {rng.getrandbits(40) | 0xffffff << 40:<16x} {x}\n" for x in f if x != "[unknown]") + \
                    f"    {'waker:':<16s} b\n        {v}\n\n"
                truth[tool, tuple(x for x in f if x != "[unknown]")] += v * 1000
            else:
                text += f"    {'waker:':<16s} {comm} 7\n" + "".join(f"    {x}\n" for x in reversed(g)) + \
                    f"    {'--':<16s} --\n" + lines + f"    {'target:':<16s} {comm} 8\n        {v}\n\n"
                truth[tool, tuple(f)] += v * 1000
                truth[tool + " wakers", tuple(g)] += v * 1000
        text += rng.choice(["", "Detaching...\n", "^C\n"])
    return text, truth


@pytest.mark.parametrize("seed", range(12))
def test_random_texts(seed):
    text, truth = random_text(random.Random(seed))
    found = collections.Counter()
    for event, frames, weights, _ in rows_of(records_of(None, stdin=text)):
        found[event, names(frames)] += next(iter(weights.values()))
    assert found == truth


# Whose text it is

@pytest.mark.parametrize("name", sorted(f for f in os.listdir(BCC) if f.endswith(".txt") and f != "damaged.txt"))
def test_each_is_known_by_itself_and_cut_in_the_middle(name):
    path = os.path.join(BCC, name)
    whole = rows_of(records_of(name[:-4]))
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines(keepends=True)
    for n in range(len(lines)):
        cut = run("convert", "-", "-q", "--from", "bcc", "--to", "spaa", "-o", "-", stdin="".join(lines[:n]))
        assert cut.code in (0, 3)
        for _, frames, _, _ in rows_of([json.loads(x) for x in cut.raw.decode().splitlines()]) if cut.code == 0 else []:
            assert names(frames) in {names(f) for _, f, _, _ in whole} or name.startswith("memleak")


@pytest.mark.parametrize("text", [
    "options:\n  color\n    1\n\nother:\n  b\n    2\n",
    "  item\n    1\n\n  item\n    2\n",
    "#define A 1\n    int x;\n    2\n\nstruct a {\n  b;\n    3\n};\n",
    "# title\n\n    code\n    -                a (1)\n\ntext that goes on\nand on\n",
    "target: all\nwaker: none\n  12\n",
    "- [ ] 80 bytes in 5 allocations\n"])
def test_other_texts_are_none(text):
    out = run("info", "-", stdin=text)
    assert out.code != 0 and "unknown format" in out.err


def test_counts_without_a_title_are_refused_with_a_hint():
    text = "  submit_bio\n  main\n    3\n\n  submit_bio\n    4\n\n"
    out = run("info", "-", stdin=text)
    assert out.code != 0 and "bcc" in out.err
    assert ask("top", "-", "--from", "bcc", "-q", stdin=text)["whole"] == 7
    assert ask("top", "-", "-q", stdin=text + "Detaching...\n")["whole"] == 7

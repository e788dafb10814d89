"""Time off the CPU from other sources than perf: what is said of it, and against plain readings of the same files."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, ask, run

FIXTURES = os.path.join(ROOT, "tests", "fixtures")
FOLDED = os.path.join(FIXTURES, "folded", "offcputime.folded")
BPFTRACE = os.path.join(FIXTURES, "bpftrace", "offcpu.txt")
PPROF = os.path.join(FIXTURES, "pprof")
GO = shutil.which("go") or "/usr/local/go/bin/go"
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def spaa(path, *args, stdin=None):
    out = run("convert", "-q", path, "--to", "spaa", "-o", "-", *args, stdin=stdin, code=0)
    return [json.loads(line) for line in out.raw.decode().splitlines()]


def stacks(rows):
    """[(frames root first as (name, kind), {metric: value}, context)]"""
    frames = {r["id"]: (r["func"], r["kind"]) for r in rows if r["type"] == "frame"}
    return [([frames[i] for i in reversed(r["frames"])], {w["metric"]: w["value"] for w in r["weights"]}, r["context"])
            for r in rows if r["type"] == "stack"]


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [line.rsplit(" ", 1) for line in f.read().splitlines()]


@pytest.mark.parametrize("unit", UNITS)
def test_folded_numbers_are_times(unit):
    truth = {tuple(f for f in stack.split(";") if f != "-"): int(n) * UNITS[unit] for stack, n in lines(FOLDED)}
    rows = spaa(FOLDED, "--off-cpu", unit)
    ours = {(c["comm"], *(name for name, _ in frames)): w["offcpu_ns"] for frames, w, c in stacks(rows)}
    assert ours == truth
    assert all(c["x_state"] == "WAITING" and list(w) == ["offcpu_ns"] for _, w, c in stacks(rows))
    event = rows[0]["events"][0]
    assert (event["name"], event["sampling"]["primary_metric"]) == ("offcputime", "offcpu_ns")


def test_folded_kernel_frames_by_the_delimiter_or_the_entry():
    for frames, _, _ in stacks(spaa(FOLDED, "--off-cpu", "us")):
        kernel = [name for name, kind in frames if kind == "kernel"]
        assert kernel[0] in ("ret_from_fork", "entry_SYSCALL_64_after_hwframe", "asm_exc_page_fault")
        assert kernel[-1] == "schedule" and frames[-len(kernel):] == [(name, "kernel") for name in kernel]


def test_folded_comes_back():
    out = run("convert", FOLDED, "--off-cpu", "ns", "--to", "folded", "-o", "-", "-q", code=0).out
    assert out.splitlines() == sorted(";".join(f + "_[k]" if kernel else f for f, kernel in marked(stack)) + " " + n
                                      for stack, n in lines(FOLDED))
    rows = spaa(FOLDED, "--off-cpu", "ns", "--group-by", "state")
    assert all(frames[0][0] in ("server", "kworker/0:1") for frames, _, _ in stacks(rows))


def marked(stack):
    kernel = False
    for f in stack.split(";"):
        kernel = kernel or f == "-" or f.startswith(("entry_SYSCALL", "ret_from_fork", "asm_exc"))
        if f != "-":
            yield f, kernel


def test_folded_fractions():
    text = b"a;schedule 0.0015\na;schedule 0.25\n"
    rows = spaa("-", "--from", "folded", "--off-cpu", "ms", stdin=text)
    assert [w for _, w, _ in stacks(rows)] == [{"offcpu_ns": 251500}]
    out = run("info", "-", "--from", "folded", "--off-cpu", "us", stdin=b"a;schedule 0.0004\n")
    assert "SPAA-L304" in out.err


def test_without_the_option_nothing_is_claimed():
    rows = spaa(FOLDED)
    assert rows[0]["events"][0]["sampling"]["primary_metric"] == "value"
    assert "--off-cpu us" in run("info", FOLDED, "-v", code=0).err
    assert "off-cpu" not in run("info", "-", "-v", stdin=b"a;b;schedule 3\na;work 1\n", code=0).err


def test_no_such_unit():
    for path in (FOLDED, BPFTRACE):
        out = run("top", path, "--off-cpu", "parsec", code=2)
        assert "ns, us, ms or s" in out.err


def test_bpftrace_sums():
    with open(BPFTRACE, encoding="utf-8") as f:
        truth = sum(int(n) for n in re.findall(r"^, .*\]: (\d+)$", f.read(), re.M))
    event = ask("info", BPFTRACE, "--off-cpu", "ns", "--keys", "kstack,ustack,comm", "-q")["events"]
    found = {e["name"]: e for e in event}["@offcpu"]
    starts = {e["name"]: e for e in event}["@start"]
    assert starts["primary_metric"] == "sum"  # what the program needs, no durations
    assert found["primary_metric"] == "offcpu_ns"
    top = ask("top", BPFTRACE, "--off-cpu", "ns", "--event", "@offcpu", "--by", "comm", "-q", "--keys", "kstack,ustack,comm", "--idle")
    assert top["profile"]["metric"] == "offcpu_ns" and top["profile"]["unit"] == "ns" and top["whole"] == truth
    assert {r["name"]: r["self"] for r in top["rows"]} == {"server": 150101123, "kworker/0:1": 3999646000}


def test_distributions_are_no_sums():
    text = b"Attaching 1 probe...\n@us[\n    schedule+53\n]:\n[16, 32)    5 |@@@@|\n"
    out = run("info", "-", "--off-cpu", "us", "-v", stdin=text, code=0)
    assert "no sums by stack" in out.err


# Go

def contention(name):
    """The delay in ns that the file has, by protobuf's bytes alone: the sum of the second values."""
    text = subprocess.run([GO, "tool", "pprof", "-raw", os.path.join(PPROF, name)], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    part = text.split("Samples:\n")[1].split("Locations")[0]
    rows = re.findall(r"^\s*(\d+)\s+(\d+):", part, re.M)
    return sum(int(n) for n, _ in rows), sum(int(d) for _, d in rows)


@pytest.mark.skipif(not os.path.exists(GO), reason="no go tool pprof")
@pytest.mark.parametrize("name", ["go.block.pb.gz", "go.mutex.pb.gz"])
def test_delay_is_what_is_shown(name):
    path = os.path.join(PPROF, name)
    count, delay = contention(name)
    top = ask("top", path)
    assert (top["profile"]["metric"], top["profile"]["unit"], top["whole"]) == ("delay", "ns", delay)
    assert ask("top", path, "--metric", "contentions")["whole"] == count


@pytest.mark.parametrize("name, whose", [("go.block.pb.gz", "waiter"), ("go.mutex.pb.gz", "holder")])
def test_whose_stacks_they_are(name, whose):
    path = os.path.join(PPROF, name)
    assert ask("waits", path)["stacks_of"] == whose
    assert ("who released the lock" in run("waits", path, code=0).out) == (whose == "holder")


def test_both_kinds_at_once():
    both = [os.path.join(PPROF, n) for n in ("go.block.pb.gz", "go.mutex.pb.gz")]
    assert ask("waits", *both)["stacks_of"] == "both"


def test_functions_that_do_not_tell(tmp_path):
    at = tmp_path / "c.txt"
    at.write_text("--- contention:\ncycles/second=1000000000\nsampling period=1\n100 2 @ 0x1000 0x2000\n")
    assert ask("waits", str(at), "-q", "--no-symbols")["stacks_of"] is None


# offcputime and profile as they print without -f

BCC = os.path.join(FIXTURES, "bcc")


def printed(name):
    """[(names of a stack leaf first, comm, id, number)]"""
    with open(os.path.join(BCC, name + ".txt"), encoding="utf-8") as f:
        blocks = re.split(r"\n\n", f.read())
    for block in blocks:
        m = re.search(r"((?:^    [^ \n].*\n)*)^    -  +(.*) \((\d+)\)\n {8}(\d+)$", block, re.M)
        if m:
            names = [n.strip() for n in m[1].splitlines()]
            yield tuple(n for n in names if n != "--"), m[2], int(m[3]), int(m[4])


@pytest.mark.parametrize("name, unit, metric, key", [("offcputime", 1000, "offcpu_ns", "tid"), ("profile", 1, "samples", "pid")])
def test_bcc_by_its_first_line(name, unit, metric, key):
    rows = spaa(os.path.join(BCC, name + ".txt"))
    ours = sorted((tuple(f for f, _ in reversed(frames)), c["comm"], c[key], w[metric]) for frames, w, c in stacks(rows))
    assert ours == sorted((names, comm, number, n * unit) for names, comm, number, n in printed(name))


def test_bcc_kernel_and_program():
    for frames, _, c in stacks(spaa(os.path.join(BCC, "offcputime.txt"))):
        kinds = [kind for _, kind in frames]
        assert kinds == {17: ["kernel"] * 5, 4711: ["user"] * 3 + ["kernel"] * 3,
                         4712: ["unknown"] + ["kernel"] * 3}[c["tid"]]


def test_bcc_without_its_first_line():
    with open(os.path.join(BCC, "offcputime.txt"), "rb") as f:
        text = f.read().split(b"^C\n")[1]
    rows = spaa("-", stdin=text)
    assert rows[0]["events"][0]["sampling"]["primary_metric"] == "value" and not any(
        "tid" in c or "pid" in c for _, _, c in stacks(rows))
    assert "nothing says what the numbers are" in run("info", "-", "-v", stdin=text, code=0).err
    assert sum(w["offcpu_ns"] for _, w, _ in stacks(spaa("-", "--off-cpu", "us", stdin=text))) == 4149747000


def test_bcc_damage():
    out = run("convert", "--from", "bcc", os.path.join(BCC, "damaged.txt"), "--to", "spaa", "-o", "-", code=0)
    rows = [json.loads(line) for line in out.raw.decode().splitlines()]
    found = {(c["comm"], len(frames)): w["value"] for frames, w, c in stacks(rows)}
    assert found == {("b", 1): 7, ("empty", 0): 3}
    assert "SPAA-L302" in out.err and "SPAA-L301" in out.err

"""annotate --asm with branch stacks: counts, cycles and mispredictions of blocks, against a walk over the same stacks."""

import collections
import decimal
import os
import random
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, ask, at_terminal, run
from test_annotate_asm import insns

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
from perf_data_files import BRANCH_STACK, IP, PERIOD, TID, TIME, Recording  # noqa: E402

SOURCE = """    .globl _start, hot
    .type hot, @function
    .type _start, @function
hot:
    mov $0, %eax
loop:
    add %edi, %eax
    test $1, %al
branch_skip:
    je skip
odd:
    imul $3, %eax
skip:
    dec %edi
branch_loop:
    jne loop
done:
branch_ret:
    ret
    .size hot, . - hot
_start:
    mov $9, %edi
branch_call:
    call hot
after:
branch_again:
    jmp _start
    .size _start, . - _start
"""
ANY, ANY_CALL = 1 << 3, 1 << 4

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("gcc", "nm", "strip"))), reason="needs gcc and binutils")


@pytest.fixture
def prog(tmp_path):
    (tmp_path / "prog.s").write_text(SOURCE)
    made = subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", "-o", tmp_path / "prog", tmp_path / "prog.s"],
                          capture_output=True, check=False)
    if made.returncode:
        pytest.skip("cannot assemble x86-64")
    out = subprocess.run(["nm", tmp_path / "prog"], capture_output=True, text=True, check=True).stdout
    subprocess.run(["strip", "-K", "hot", "-K", "_start", tmp_path / "prog"], check=True)  # places in hot are no functions
    return tmp_path, {name: int(at, 16) for at, _, name in (x.split() for x in out.splitlines())}


def walk(at, rng, n):
    """n branches as a processor would see them: (from, to, missed, cycles)."""
    out, place = [], "hot"
    while len(out) < n:
        if place in ("hot", "loop"):
            here, place = ("branch_skip", "skip") if rng.random() < 0.5 else (None, "skip")
            if here is None:
                continue
        elif place == "skip":
            here, place = ("branch_loop", "loop") if rng.random() < 0.8 else (None, "done")
            if here is None:
                continue
        elif place == "done":
            here, place = "branch_ret", "after"
        elif place == "after":
            here, place = "branch_again", "_start"
        else:
            here, place = "branch_call", "hot"
        out.append((at[here], at[place], rng.random() < 0.2, rng.randrange(1, 60)))
    return out


def record(prog, stacks, kind=ANY, flags=True, **more):
    folder, at = prog
    r = Recording([(0, 0, IP | TID | TIME | PERIOD | BRANCH_STACK, {"freq": 99, "branch": kind})], **more)
    r.comm(10, 10, b"prog", 1)
    page = at["hot"] & ~0xFFF
    r.mmap2(10, page, 0x1000, page - 0x400000, str(folder / "prog").encode(), 1)
    for i, stack in enumerate(stacks):
        tail = r.pack("Q", len(stack))
        for source, target, missed, cycles in reversed(stack):
            bits = (1 if missed else 2) | cycles << 4 if flags else 0
            if r.big and flags:
                bits = (1 << 63 if missed else 1 << 62) | cycles << 44
            tail += r.pack("QQQ", source, target, bits)
        r.sample(ip=at["loop"], time=100 + i, tid=10 + i % 2, tail=tail)
    (folder / "x.perf.data").write_bytes(r.bytes())
    return folder / "x.perf.data"


def truth(stacks):
    """Runs and branches, by walking each stack in the order of time."""
    runs, cycles, taken, missed = (collections.Counter() for _ in range(4))
    timed = collections.Counter()
    for stack in stacks:
        for (_, start, _, _), (end, _, _, spent) in zip(stack, stack[1:]):
            runs[start, end] += 1
            if 0 < spent < 0xFFFF:
                cycles[start, end] += spent
                timed[start, end] += 1
        for source, _, wrong, _ in stack:
            taken[source] += 1
            missed[source] += wrong
    return runs, timed, cycles, taken, missed


def near(value):
    """Two decimals of it."""
    return pytest.approx(decimal.Decimal(value), abs=decimal.Decimal("0.00501"))


def stacks_of(prog, n=60, seed=5):
    trace = walk(prog[1], random.Random(seed), 32 * n)
    return [trace[i:i + 32] for i in range(0, len(trace), 32)]


def asked(path, *more):
    answer = ask("annotate", path, "hot", "--asm", "--whole", *more)
    if answer["no_instructions"]:
        pytest.skip("built without capstone, or it is not installed")
    return answer


@pytest.mark.parametrize("big", [False, True])
def test_counts_cycles_and_mispredictions_are_those_of_the_stacks(prog, big):
    stacks = stacks_of(prog)
    path = record(prog, stacks, big=big)
    answer = asked(path)
    runs, timed, cycles, taken, missed = truth(stacks)
    at, code = prog[1], sorted(int(i["address"], 16) for i in insns(answer))
    assert [int(b["start"], 16) for b in sorted(answer["basic_blocks"], key=lambda b: b["start"])] == [
        at[x] for x in ("hot", "loop", "odd", "skip", "done")]
    for b in answer["basic_blocks"]:
        start, end = int(b["start"], 16), int(b["end"], 16)
        last = max(a for a in code if a < end)
        assert b["executions"] == sum(n for (first, to), n in runs.items() if first <= start <= to)
        own = start, last
        assert b["timed"] == timed[own]
        assert b["cycles"] == (near(cycles[own] / timed[own]) if timed[own] else None)
        assert (b["taken"], b["judged"]) == (taken[last], taken[last])
        assert b["mispredicted"] == (missed[last] if taken[last] else None)
        share = 100 * missed[last] / taken[last] if taken[last] >= 30 else None
        assert b["mispredicted_percent"] == (near(share) if share is not None else None)
    hot = range(at["hot"], at["_start"])
    assert {(int(r["start"], 16), int(r["last"], 16)): (r["executions"], r["timed"]) for r in answer["runs"]} == {
        k: (n, timed[k]) for k, n in runs.items() if k[0] in hot}
    assert answer["no_blocks"] is None and answer["blocks_lack"] is None and answer["runs_that_do_not_fit"] == 0
    loop = runs[at["loop"], at["branch_skip"]]
    text = run("annotate", path, "hot", "--asm", "--whole", code=0).out
    assert f"{cycles[at['loop'], at['branch_skip']] / timed[at['loop'], at['branch_skip']]:.1f} cycles (mean of {loop})" in text
    assert f"branch taken {taken[at['branch_loop']]}×, mispredicted {missed[at['branch_loop']]}×" in text


def test_the_same_comes_through_spaa_and_of_one_thread(prog):
    stacks = stacks_of(prog)
    path = record(prog, stacks)
    answer = asked(path)
    run("convert", path, "-q", "-o", prog[0] / "x.spaa", code=0)
    again = asked(prog[0] / "x.spaa")
    assert again["basic_blocks"] == answer["basic_blocks"] and again["runs"] == answer["runs"]
    one = asked(path, "--thread", "11")
    _, _, _, taken, _ = truth(stacks[1::2])
    ret = next(b for b in one["basic_blocks"] if int(b["start"], 16) == prog[1]["done"])
    assert ret["taken"] == taken[prog[1]["branch_ret"]]


def test_cycles_that_are_not_known_are_in_no_mean(prog):
    stacks = [[(a, b, m, (c, 0, 0xFFFF)[i % 3]) for i, (a, b, m, c) in enumerate(s)] for s in stacks_of(prog)]
    answer = asked(record(prog, stacks))
    _, timed, cycles, _, _ = truth(stacks)
    assert any(r["timed"] < r["executions"] for r in answer["runs"])
    for r in answer["runs"]:
        key = int(r["start"], 16), int(r["last"], 16)
        assert r["timed"] == timed[key]
        assert r["cycles"] == (near(cycles[key] / timed[key]) if timed[key] else None)


def test_what_the_recording_does_not_bear_is_said(prog):
    stacks = stacks_of(prog, 4)
    bare = asked(record(prog, stacks, flags=False))
    assert all(b["cycles"] is None and b["mispredicted"] is None for b in bare["basic_blocks"])
    assert "cycles and predictions" in bare["blocks_lack"]
    calls = asked(record(prog, stacks, kind=ANY_CALL))
    assert all(b["executions"] is None for b in calls["basic_blocks"]) and calls["runs"] == []
    assert "how often they ran" in calls["blocks_lack"]
    path = record(prog, stacks)
    for filtered in (["--focus", "hot"], ["--user"]):
        assert asked(path, *filtered)["no_blocks"]
        assert "no counts or cycles of blocks" in run("annotate", path, "hot", "--asm", *filtered, code=0).out


def test_few_branches_have_no_share(prog):
    stacks = stacks_of(prog, 1)
    answer = asked(record(prog, stacks))
    assert all(b["mispredicted_percent"] is None for b in answer["basic_blocks"] if b["judged"] < 30)
    assert any(b["judged"] for b in answer["basic_blocks"])


@pytest.mark.parametrize("columns", [120, 80])
def test_what_is_said_of_a_block_is_not_cut(prog, columns):
    """Cycles of a run through several blocks, of which some are not known: the longest there is to say."""
    stacks = [[(a, b, m, (c, 0)[i % 3 == 0]) for i, (a, b, m, c) in enumerate(s)] for s in stacks_of(prog)]
    path = record(prog, stacks)
    answer = asked(path)
    text = at_terminal("annotate", path, "hot", "--asm", "--whole", columns=columns,
                       env={**os.environ, "SPAA_NO_CONFIG": "1", "SPAA_PAGER": "cat", "NO_COLOR": "1"})[0]
    said = [line.strip() for line in text.splitlines() if line.strip().startswith("-- ")]
    assert len(said) > len(answer["basic_blocks"]) and not [line for line in said if "…" in line]
    _, timed, _, taken, missed = truth(stacks)
    assert any(re.search(r"cycles from 0x[0-9a-f]+ on \(mean of \d+\)", line) for line in said)
    assert {int(n) for line in said for n in re.findall(r"mean of (\d+)", line)} <= set(timed.values())
    branch = prog[1]["branch_skip"]
    assert any(f"branch taken {taken[branch]}×, mispredicted {missed[branch]}×" in line for line in said)


def test_another_binary_is_noticed(prog):
    stacks = [[(a + 1, b + 1, m, c) for a, b, m, c in s] for s in stacks_of(prog)]
    path = record(prog, stacks)
    assert asked(path)["runs_that_do_not_fit"] > 0
    assert "do not fit these instructions" in run("annotate", path, "hot", "--asm", code=0).out


@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf")
def test_perf_reads_the_same_branches(prog):
    stacks = stacks_of(prog, 3)
    path = record(prog, stacks)
    text = subprocess.run(["perf", "script", "-i", path, "-F", "brstack"], capture_output=True, text=True, check=False).stdout
    theirs = [x.split("/") for x in text.split()]
    if not theirs:
        pytest.skip("perf does not read it")
    ours = [(hex(a), hex(b), "M" if m else "P", str(c)) for s in stacks for a, b, m, c in reversed(s)]
    assert [(x[0], x[1], x[2], x[5]) for x in theirs] == ours

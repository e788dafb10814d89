"""Branch stacks of perf.data: as events of their own, and as call stacks."""

import collections
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perf_data_files as files  # noqa: E402
from perf_data_files import BRANCH_STACK, CONTEXT, IP, KERNEL, PERIOD, REGS_USER, STACK_USER, TID, TIME, Recording  # noqa: E402
from test_perf_data import CORPUS, SPAA, USER_CHAIN, needs_corpus, run, write  # noqa: E402
from test_perf_depth import MACHINES, STACKS, both_orders, branch, symfs  # noqa: E402


def with_branches(big, **more):
    r = Recording([(0, 0, IP | TID | TIME | PERIOD | BRANCH_STACK, {"freq": 99, **more})], big)
    r.kernel()
    r.comm(10, 10, b"prog", 1000)
    r.mmap2(10, 0x400000, 0x10000, 0, b"/opt/prog", 1000)
    return r


@both_orders
def test_branches_are_the_event_lbr(tmp_path, big):
    r = with_branches(big, branch=1 << 3 | 1 << 17)
    head = r.pack("QQ", 3, 7)
    for i in range(2):
        r.sample(ip=0x400100, time=2000 + i, period=5, tail=head + branch(r, 0x400010, 0x400100, cycles=12) +
                 branch(r, 0x400020, 0x400008, missed=True, cycles=3) + branch(r, 0xFFFFFFFF81000100, 0x400020))
    profile, _ = run(write(tmp_path, r), "--samples", "--no-symbols")
    arcs = {}
    for s in profile.stacks:
        if s["context"]["event"] == "lbr":
            weights = {w["metric"]: w["value"] for w in s["weights"]}
            arcs[tuple(profile.frames[n]["ip"] for n in s["frames"])] = weights
    assert arcs == {("0x100", "0x10"): {"branches": 2, "branch_misses": 0, "branch_cycles": 24},
                    ("0x8", "0x20"): {"branches": 2, "branch_misses": 2, "branch_cycles": 6},
                    ("0x20", "0x100"): {"branches": 2, "branch_misses": 0, "branch_cycles": 0}}
    traces = {tuple(profile.frames[n]["ip"] for n in s["frames"]): s["weights"] for s in profile.stacks
              if s["context"]["event"] == "lbr_trace"}
    def weights_of(cycles):
        return [{"metric": "traces", "value": 2}, {"metric": "timed_traces", "value": 2},
                {"metric": "branch_cycles", "unit": "cycles", "value": cycles}]
    assert traces == {("0x10", "0x8", "0x20"): weights_of(24), ("0x20", "0x20", "0x100"): weights_of(6)}
    event = next(e for e in profile.header["events"] if e["name"] == "lbr")
    assert event["sampling"] == {"mode": "frequency", "primary_metric": "branches", "frequency_hz": 99}
    assert sum(profile.weight(s, "period") for s in profile.stacks if s["context"]["event"] == "cycles") == 10
    more = profile.samples[0]["x_perf"]
    assert more["hw_idx"] == 7 and len(more["branches"]) == 3
    assert more["branches"][0] == {"from": "0x400010", "to": "0x400100", "predicted": True, "cycles": 12}
    assert more["branches"][1]["predicted"] is False


@pytest.mark.parametrize("sort", [1 << 4, 1 << 3 | 1 << 8, 1 << 3 | 1 << 9])
def test_branches_between_which_others_were_left_out_make_no_traces(tmp_path, sort):
    r = with_branches(False, branch=sort)
    r.sample(ip=0x400100, time=2000, tail=files.branches(r, (0x400010, 0x400100), (0x400020, 0x400008)))
    profile, _ = run(write(tmp_path, r), "--no-symbols")
    assert {e["name"] for e in profile.header["events"]} == {"cycles", "lbr"}


@needs_corpus
def test_branches_equal_those_of_perf(tmp_path):
    if not shutil.which("perf"):
        pytest.skip("perf is not here")
    path = os.path.join(CORPUS, "perf-data", "quipper", "branch-4.14.perf.data")
    text = subprocess.run(["perf", "script", "-i", path, "-F", "brstack"], capture_output=True, check=False).stdout.decode()
    theirs = collections.Counter()
    for entry in text.split():
        source, target, predicted = entry.split("/")[:3]
        if (source, target) != ("0x0", "0x0"):
            theirs["branches"] += 1
            theirs["branch_misses"] += predicted == "M"
    profile, _ = run(path, "--no-symbols")
    ours = collections.Counter()
    for s in profile.stacks:
        if s["context"]["event"] == "lbr":
            for w in s["weights"]:
                ours[w["metric"]] += w["value"]
    assert {k: ours[k] for k in theirs} == dict(theirs)


def prog_symfs(tmp_path):
    return symfs(tmp_path, MACHINES[0])


def paths(profile, event="cycles"):
    return sorted(([profile.frames[n]["func"] for n in s["frames"]] for s in profile.stacks
                   if s["context"]["event"] == event))


@both_orders
def test_call_stacks_of_the_processor_are_call_chains(tmp_path, big):
    r = files.lbr(big)
    profile, said = run(write(tmp_path, r), *prog_symfs(tmp_path))
    user = ["leaf", "work", "deep", "start"]
    assert paths(profile) == sorted([user, user, ["0x100", "0x200", *user], ["0x300"], ["start", "plain"]])
    # The places of the calls themselves, not the instructions before them.
    deepest = max(profile.stacks, key=lambda s: len(s["frames"]))
    assert [profile.frames[n]["ip"] for n in deepest["frames"]] == ["0x100", "0x200", "0x1020", "0x1120", "0x1240", "0x1300"]
    assert profile.header["events"][0]["name"] == "cycles" and len(profile.header["events"]) == 1
    assert "SPAA-W83" not in said
    same, _ = run(write(tmp_path, r), *prog_symfs(tmp_path), "--lbr-callstack")
    assert same.stacks == profile.stacks


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not here")
@both_orders
def test_call_stacks_of_the_processor_are_those_of_perf_script(tmp_path, big):
    path, root = write(tmp_path, files.lbr(big)), prog_symfs(tmp_path)
    text = subprocess.run(["perf", "script", "-i", path, *root, "-F", "time,ip,sym"], capture_output=True, check=True)
    theirs = [[line.split()[-1] for line in block.split("\n")[1:]] for block in text.stdout.decode().strip().split("\n\n")]
    profile, _ = run(path, *root, "--samples")
    ours = [[profile.frames[n]["func"] for n in profile.by_id[s["stack_id"]]["frames"]]
            for s in sorted(profile.samples, key=lambda s: s["timestamp"])]
    assert ours[-1] == ["start", "plain"]  # of an empty branch stack perf shows what stands behind it
    assert [[f for f in stack if not f.startswith("0x")] for stack in ours[:-1]] == [
        [f for f in stack if f != "[unknown]"] for stack in theirs[:-1]]


def test_a_call_stack_lbr_is_the_users_callchain(tmp_path):
    r = Recording([(0, 0, USER_CHAIN | files.BRANCH_STACK, {"branch": 1 << 11 | 1 << 17})])
    r.mmap(10, 0x1000, 0x1000, 0, b"/bin/a", 100)
    lbr = r.pack("QQ6Q", 2, 0, 0x1020, 0x1010, 0, 0x1030, 0x1018, 0)
    r.sample([CONTEXT["user"], 0x1014], time=200, tail=lbr)
    r.sample([CONTEXT["kernel"], 0xFFFFFFFF81000010, CONTEXT["user"], 0x1014], time=200, misc=KERNEL, tail=lbr)
    profile, _ = run(write(tmp_path, r))
    user = ["/bin/a:0x14", "/bin/a:0x20", "/bin/a:0x30"]
    assert sorted(map(profile.names, profile.stacks)) == [user, ["[kernel]:0xffffffff81000010", *user]]


def test_a_call_stack_without_a_call_chain_keeps_the_kernels_address(tmp_path):
    r = with_branches(False, branch=1 | 1 << 11)
    r.sample(ip=0xFFFFFFFF81000100, time=2000, misc=KERNEL, tail=files.branches(r, (0x401120, 0x401000), (0x401240, 0x401100)))
    profile, _ = run(write(tmp_path, r), *prog_symfs(tmp_path))
    assert paths(profile) == [["0x100", "leaf", "work", "deep"]]


TYPED = 1 | 1 << 3 | 1 << 16


@both_orders
def test_open_calls_of_typed_branches_are_a_call_stack_when_asked(tmp_path, big):
    """start calls deep, which calls work twice; work had called leaf; a system call came between."""
    r = Recording([(0, 0, STACKS & ~(REGS_USER | STACK_USER) | BRANCH_STACK, {"freq": 99, "branch": TYPED})], big)
    r.features[6] = r.text(b"x86_64")
    r.kernel()
    r.mmap2(10, 0x400000, 0x10000, 0, b"/opt/prog", 1000)
    history = [(0x401150, 0x401160, "cond"), (0xFFFFFFFF81000100, 0x401148, "sysret"), (0xFFFFFFFF81000010, 0xFFFFFFFF81000080, "call"),
               (0x401146, 0xFFFFFFFF81000000, "syscall"), (0x401010, 0x401128, "ret"), (0x401124, 0x401000, "call"),
               (0x401250, 0x401100, "call"), (0x4011f0, 0x401244, "ret"), (0x401240, 0x401100, "call"), (0x401310, 0x401200, "call")]
    r.sample([CONTEXT["user"], 0x401170, 0x9999], time=2000, tail=files.branches(r, *history))
    inside = [(0x401172, 0xFFFFFFFF81000000, "syscall"), *history]
    r.sample([CONTEXT["kernel"], 0xFFFFFFFF81000100], time=2001, misc=KERNEL, tail=files.branches(r, *inside))
    r.sample([CONTEXT["kernel"], 0xFFFFFFFF81000100, CONTEXT["user"], 0x401174], time=2002, misc=KERNEL,
             tail=files.branches(r, *inside))
    path, root = write(tmp_path, r), prog_symfs(tmp_path)
    plain, said = run(path, *root)
    assert ["work", "0x9999"] in paths(plain) and "SPAA-W83" not in said
    profile, said = run(path, *root, "--lbr-callstack")
    # A kernel's chain without a user part stays as it is.
    assert paths(profile) == [["0x100"], ["0x100", "work", "deep", "start"], ["work", "deep", "start"]]
    assert "SPAA-W83" not in said

    def arcs(p):
        return sorted((tuple(p.frames[n]["ip"] for n in s["frames"]), str(s["weights"])) for s in p.stacks
                      if s["context"]["event"] == "lbr")

    assert arcs(profile) == arcs(plain) and len(arcs(plain)) > 9


def test_call_stacks_that_cannot_be_had_are_told(tmp_path):
    r = with_branches(False, branch=1 | 1 << 3)
    r.sample(ip=0x400100, time=2000, tail=files.branches(r, (0x400010, 0x400100, "call")))
    profile, said = run(write(tmp_path, r), "--no-symbols", "--lbr-callstack")
    assert "SPAA-W831" in said and "1 samples" in said and len(profile.stacks) == 2
    _, said = run(write(tmp_path, files.simple()), "--no-symbols", "--lbr-callstack")
    assert "SPAA-W830" in said
    done = subprocess.run([SPAA, "top", "--lbr-callstack", "-"], input=b"a;b 1\n", capture_output=True, check=False)
    assert done.returncode == 2 and b"--lbr-callstack does not fit folded" in done.stderr

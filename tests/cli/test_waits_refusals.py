"""What `waits` says of profiles that do not tell: what they hold, what is missing, what to record."""
import pytest

from conftest import run

STACK = "\tffffffff81000010 try_to_wake_up+0x10 ([kernel.kallsyms])\n\t            1418 handle+0x48 (/tmp/server)\n\n"


def refused(path):
    err = run("waits", path, code=2).err
    assert "grouping" not in err and "SPAA-E036" in err
    return err


@pytest.mark.parametrize("event, said", [
    ("raw_syscalls:sys_enter", "events of raw_syscalls:sys_enter"), ("block:block_rq_issue", "events of block:block_rq_issue"),
    ("sched:sched_waking", "without sched:sched_switch")])
def test_counts_of_tracepoints(event, said, tmp_path):
    path = tmp_path / "events.txt"
    path.write_text("".join(f"a 1/1 [000] {i}.5: {event}: comm=b pid=7 prio=120 target_cpu=001\n{STACK}" for i in range(1, 9)))
    assert said in refused(path) and "samples of who runs" not in refused(path)
    out = run("summary", path, code=0).out
    asked = out.splitlines()[-1].removeprefix("next: spaa ").split()
    assert out.splitlines()[-1].startswith("next: ") and run(*asked, code=0)


def test_some_switches_do_not_tell(tmp_path):
    path = tmp_path / "some.txt"
    switch = "sched:sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=7 next_prio=120"
    path.write_text("".join(f"a 1/1 [000] {i}.5: 250000 cpu-clock: \n{STACK}a 1/1 [000] {i}.7: 40 {switch}\n{STACK}"
                            for i in range(1, 9)))
    out = run("waits", path, code=0).out
    assert "cannot tell who waited" in out and "-c 1" in out and "waited for something named" not in out


def test_goroutines_that_are_counted_by_place(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("goroutine profile: total 2\n2 @ 0x40 0x41\n#\t0x40\tmain.f+0x1\t/a.go:1\n\n")
    assert "counts goroutines" in refused(path) and "debug=2" in refused(path)


def test_numbers_by_stack_may_be_times(tmp_path):
    path = tmp_path / "off.folded"
    path.write_text("app;main;read;[k]schedule 2500000\n")
    assert "--off-cpu us" in refused(path)
    assert "2.50 s" in run("waits", path, "--off-cpu", "us", code=0).out


def test_samples_of_who_runs(tmp_path):
    path = tmp_path / "clock.txt"
    path.write_text("".join(f"a 1/1 [000] {i}.5: 250000 cpu-clock: \n{STACK}" for i in range(1, 9)))
    assert "samples of who runs hold no waiting" in refused(path)


def test_leaves_of_the_runtime_are_no_missing_names(tmp_path):
    """Go's debug=1 leaves out the names of its runtime where stacks end in it, and where they begin."""
    path = tmp_path / "g.txt"
    path.write_text("goroutine profile: total 5\n3 @ 0x101 0x201 0x401\n#\t0x200\tmain.f+0x1\t/a.go:1\n\n"
                    "2 @ 0x101 0x301 0x401\n#\t0x300\tmain.g+0x1\t/a.go:9\n\n")
    out = run("summary", path, code=0).out
    assert "NAMES MISSING" not in out and "main.f" in out and "--by dso" not in out
    path.write_text("goroutine profile: total 5\n3 @ 0x101 0x201 0x401\n\n2 @ 0x101 0x301 0x401\n")
    assert "NAMES MISSING" in run("summary", path, code=0).out

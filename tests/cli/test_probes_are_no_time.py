"""What tracepoints count is no time: neither the brief's words nor its findings say so."""
import pytest

import profiles
from conftest import ask, run

KERNEL = "\tffffffff81000010 {}+0x10 ([kernel.kallsyms])\n"
USER = "\t            1418 {}+0x48 (/tmp/server)\n"


def sample(event, time, fields="", *frames):
    kernel, user = frames
    return (f"server 100/100 [000] {time:.6f}: {event}: {fields}\n" + "".join(KERNEL.format(f) for f in kernel) +
            "".join(USER.format(f) for f in user) + "\n")


def switch(time, off, following):
    return sample("sched:sched_switch", time, f"prev_comm=server prev_pid={off} prev_prio=120 prev_state=S ==> "
                  f"next_comm=server next_pid={following} next_prio=120", ["__schedule"], ["wait"])


@pytest.mark.parametrize("event", ["raw_syscalls:sys_enter", "sched:sched_waking", "block:block_rq_issue"])
@pytest.mark.parametrize("switches", [True, False])
def test_events_of_tracepoints_are_counted_with_and_without_switches(event, switches, tmp_path):
    path = tmp_path / "events.txt"
    path.write_text("".join((switch(1 + i / 100, 100, 0) if switches and i % 10 == 0 else "") +
                            (switch(1 + i / 100 + .002, 0, 100) if switches and i % 10 == 0 else "") +
                            sample(event, 1.005 + i / 100, "NR 1 (1)", ["vfs_write", "__x64_sys_write", "do_syscall_64"], ["work"])
                            for i in range(200)))
    for view in ["cpu", "all"] if switches else ["all"]:
        out = run("summary", path, "--event", event, "--view", view, code=0).out
        assert f"200 {event} events" in out and "CPU" not in out.replace("for a CPU", ""), out


@pytest.mark.parametrize("event, frames", [
    ("sched:sched_stat_runtime", ["update_curr", "clock_gettime", "__x64_sys_clock_gettime", "do_syscall_64"]),
    ("block:block_rq_issue", ["blk_mq_start_request", "__x64_sys_fsync", "do_syscall_64"]),
    ("block:block_rq_issue", ["blk_mq_start_request", "handle_mm_fault", "asm_exc_page_fault"]),
    ("sched:sched_waking", ["try_to_wake_up", "__x64_sys_write", "do_syscall_64"])])
def test_the_place_of_a_tracepoint_is_no_finding_about_time(event, frames, tmp_path):
    stack = [{"func": f, "dso": "[kernel.kallsyms]"} for f in frames] + ["work", "main"]
    path = tmp_path / "f.spaa"
    for name, kind in [(event, "probe"), ("cycles", "hardware")]:
        path.write_text(profiles.text([(stack, {"samples": 2000, "period": 9}, {"event": name})], events=[profiles.event(name, kind=kind)]))
        rules = [f["id"] for f in ask("summary", path)["findings"] if f["id"] in ("syscall", "page_fault", "wait", "idle")]
        assert bool(rules) == (kind == "hardware")

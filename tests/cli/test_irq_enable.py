"""What a software clock charges to the functions that allow interrupts again is not theirs."""

import pytest
import profiles
from conftest import ask, run

NAMES = ["_raw_spin_unlock_irqrestore", "_raw_spin_unlock_irq", "finish_task_switch", "finish_task_switch.isra.0",
         "__do_softirq", "handle_softirqs", "exit_to_user_mode_prepare", "syscall_exit_to_user_mode", "exc_page_fault",
         "do_syscall_64", "el0_svc"]


def kernel(name):
    return {"func": name, "dso": "[kernel]"}


def write(tmp_path, stacks, name="cpu-clock", kind="software"):
    path = tmp_path / "in.spaa"
    path.write_text(profiles.text(stacks, events=[profiles.event(name, "period", kind, "frequency", frequency_hz=99)]))
    return path


def tags(path):
    return {r["name"]: r["tags"] for r in ask("top", path, "--limit", 0)["rows"]}


@pytest.mark.parametrize("name", NAMES)
def test_tagged(tmp_path, name):
    path = write(tmp_path, [([kernel(name), kernel("waker"), "main"], 100)])
    assert tags(path) == {name: ["kernel", "irq-enable"], "waker": ["kernel"], "main": []}
    assert "%s [irq-enable]" % name in run("top", path, code=0).out
    f = ask("function", path, name)
    assert "irq-enable" in f["tags"] and "artefact" in run("function", path, name, code=0).out
    assert "irq-enable" not in ask("function", path, "waker")["tags"]
    nodes = {n["name"]: n.get("tags") for n in ask("tree", path)["nodes"]}
    assert nodes[name] == ["irq-enable"] and nodes["waker"] is None
    assert "[irq-enable]" in run("tree", path, code=0).out
    assert ask("query", path, "SELECT tags FROM functions WHERE name = '%s'" % name)["rows"] == [["kernel irq-enable"]]


@pytest.mark.parametrize("event,kind,tagged", [
    ("cpu-clock", "software", True), ("task-clock", "software", True), ("cpu-clock:k", "software", True),
    ("cpu-clock:pppH", "software", True), ("cycles", "hardware", False), ("cpu-cycles", "hardware", False),
    ("cpu-clock", "hardware", False), ("page-faults", "software", False), ("cpu-clocks", "software", False)])
def test_only_of_software_clocks(tmp_path, event, kind, tagged):
    path = write(tmp_path, [([kernel("finish_task_switch"), kernel("__schedule")], 10000)], event, kind)
    assert ("irq-enable" in tags(path)["finish_task_switch"]) == tagged
    assert ("irq_enable" in [f["id"] for f in ask("summary", path)["findings"]]) == tagged


def test_only_in_the_kernel(tmp_path):
    path = write(tmp_path, [(["do_syscall_64", "main"], 100)])
    assert tags(path)["do_syscall_64"] == []


def test_the_finding_names_the_callers(tmp_path):
    unlock, switch = kernel("_raw_spin_unlock_irqrestore"), kernel("finish_task_switch.isra.0")
    path = write(tmp_path, [([unlock, kernel("try_to_wake_up"), "w"], 620), ([unlock, kernel("folio_add"), "w"], 100),
                            ([switch, kernel("__schedule"), "r"], 280), (["busy", "main"], 500),
                            ([kernel("deep"), unlock, "w"], 1)])
    found = {f["id"]: f for f in ask("summary", path)["findings"]}["irq_enable"]
    assert found["weight"] == 1000 and found["function"]["function"] == "_raw_spin_unlock_irqrestore"
    assert [(c["function"], c["percent_of_finding"]) for c in found["callers"]] == [
        ("try_to_wake_up", 62), ("__schedule", 28), ("folio_add", 10)]
    assert "try_to_wake_up 62.00 %, __schedule 28.00 %, folio_add 10.00 %" in found["statement"]
    assert "-e cycles" in found["statement"]
    caller = next(r["id"] for r in ask("top", path, "--limit", 0)["rows"] if r["name"] == "try_to_wake_up")
    assert found["command"].split()[1:] == ["function", str(path), caller]
    # what to look at first is not the artefact
    artefact = next(r["id"] for r in ask("top", path, "--limit", 0)["rows"] if r["name"] == unlock["func"])
    assert all(artefact not in c for c in ask("summary", path)["next"])


def test_of_text_of_perf_script(tmp_path):
    text = "".join("app 1/1 [000] %d.5:  1000 %s:\n\tffffffff81000010 _raw_spin_unlock_irqrestore+0x10 ([kernel.kallsyms])\n"
                   "\tffffffff81000100 pipe_write+0x10 ([kernel.kallsyms])\n\n" % (i, "%s") for i in range(20))
    for event, tagged in (("cpu-clock", True), ("cpu-clock:k", True), ("cycles", False)):
        path = tmp_path / "in.txt"
        path.write_text(text.replace("%s", event))
        assert ("irq-enable" in tags(path)["_raw_spin_unlock_irqrestore"]) == tagged

"""What findings say, and what they leave unsaid."""

import shutil
import subprocess

import pytest

import profiles
from conftest import ask, run


def frame(name, start, at=0x10, **more):
    return {"func": name, "ip": hex(start + at), "symoff": hex(at), **more}


def findings(tmp_path, stacks, *more, **header):
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text(stacks, **header))
    return {f["id"]: f for f in ask("summary", path, *more)["findings"]}


def recursion(tmp_path, *frames):
    return findings(tmp_path, [(list(frames), {"samples": 2000, "period": 9})]).get("recursion")


# Recursion

def test_one_function_recurs(tmp_path):
    f = recursion(tmp_path, frame("f", 0x1000, 4), "g", frame("f", 0x1000, 8), "main")
    assert f["function"]["function"] == "f" and f["most_in_a_stack"] == 2
    answer = ask("function", tmp_path / "f.spaa", "f")
    assert answer["recursion"] == {"weight": 9, "most_in_a_stack": 2} or answer["recursion"]["most_in_a_stack"] == 2


def test_functions_of_one_name_do_not(tmp_path):
    assert recursion(tmp_path, frame("operator()", 0x1000), "g", frame("operator()", 0x2000), "main") is None
    assert ask("function", tmp_path / "f.spaa", "operator()")["recursion"]["weight"] == 0
    assert recursion(tmp_path, frame("main", 0x1000), frame("main", 0x2000)) is None
    # two inlined ones at one address, in different files, and in one
    for a, b in [("a.cc:3", "b.cc:9"), ("a.cc:3", "a.cc:9")]:
        inlined = {"inlined": True, "dso": "/bin/app"}
        assert recursion(tmp_path, frame("operator()", 0x1000, inline_depth=2, srcline=a, **inlined),
                         frame("operator()", 0x1000, inline_depth=1, srcline=b, **inlined), frame("main", 0x1000)) is None


def test_names_alone(tmp_path):
    assert recursion(tmp_path, "walk", "walk", "main")["function"]["function"] == "walk"
    assert recursion(tmp_path, "operator()", "g", "operator()", "main") is None
    # the third is the first again, whatever stands between
    f = recursion(tmp_path, frame("f", 0x1000), frame("f", 0x2000), frame("f", 0x1000), "main")
    assert f["most_in_a_stack"] == 2


def test_lambdas_recorded_with_perf(tmp_path):
    if not shutil.which("perf") or not shutil.which("g++"):
        pytest.skip("no perf or g++")
    (tmp_path / "l.cc").write_text("""
#include <cstdint>
template <class F> __attribute__((noinline)) void once(F f) { f(); asm volatile(""); }
volatile uint64_t x = 1;
__attribute__((noinline)) void deep(int n) { if (n) deep(n - 1); else for (int i = 0; i < 100000; i++) x = x * 3; asm volatile(""); }
int main(int argc, char **) {
    for (int i = 0; i < 400; i++)
        if (argc == 1)
            once([] { once([] { for (int k = 0; k < 100000; k++) x = x * 3 + 1; asm volatile(""); }); asm volatile(""); });
        else
            deep(5);
}
""")
    subprocess.run(["g++", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "l.cc", "-o", "l"], cwd=tmp_path,
                   check=True)
    for more, want in [([], False), (["x"], True)]:
        if subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-g", "-o", "p.data", "./l", *more], cwd=tmp_path,
                          capture_output=True).returncode:
            pytest.skip("perf cannot record here")
        found = {f["id"]: f for f in ask("summary", tmp_path / "p.data")["findings"]}
        assert ("recursion" in found) == want
        if want:
            assert found["recursion"]["function"]["function"].startswith("deep") and found["recursion"]["most_in_a_stack"] in (5, 6)


# What goes without saying

@pytest.mark.parametrize("name, kind, frames, finding", [
    ("heap", "allocation", ["malloc", "main"], "allocation"),
    ("page-faults", "software", ["asm_exc_page_fault", "main"], "page_fault"),
    ("sched:sched_switch", "probe", ["__schedule", "main"], "wait"),
    ("context-switches", "software", ["schedule", "__schedule", "do_syscall_64", "main"], "wait"),
    ("off-cpu", "probe", ["__schedule", "do_syscall_64", "main"], "syscall"),
    ("contention", "probe", ["pthread_mutex_lock", "main"], "lock"),
    ("raw_syscalls:sys_enter", "probe", ["do_syscall_64", "main"], "syscall"),
])
def test_what_an_event_is_by_nature_is_no_finding(name, kind, frames, finding, tmp_path):
    stacks = [(frames, {"samples": 2000, "period": 9}, {"event": name})]
    assert finding not in findings(tmp_path, stacks, events=[profiles.event(name, kind=kind)])
    stacks = [(frames, {"samples": 2000, "period": 9}, {"event": "cycles"})]
    assert finding in findings(tmp_path, stacks)


# Few samples

def wilson(p, n, z=1.959963984540054):
    """The shares q from which p is z standard deviations q(1 - q)/n away, by halving."""
    def end(lo, hi):
        for _ in range(200):
            q = (lo + hi) / 2
            far = abs(p - q) > z * (q * (1 - q) / n) ** 0.5
            lo, hi = (lo, q) if far == (hi > p) else (q, hi)
        return (lo + hi) / 2
    return end(0, p), end(p, 1)


def test_intervals_are_of_what_is_sampled(tmp_path):
    stacks = [(["f"], {"samples": 400, "period": 9})]
    few = findings(tmp_path, stacks)["few_samples"]
    assert [(i["percent"], float(i["low"]), float(i["high"])) for i in few["intervals"]] == [
        (p, *(round(100 * x, 4) for x in wilson(p / 100, 400))) for p in (50, 10, 1)]
    assert "independent" in few["statement"] and "independent" in few["method"]
    assert "points at best" not in few["statement"]
    for event in [profiles.event("t", mode="event"),
                  {"name": "t", "kind": "probe", "sampling": {"mode": "period", "primary_metric": "period", "sample_period": 1}}]:
        assert "few_samples" not in findings(tmp_path, [(["f"], {"samples": 400, "period": 9}, {"event": "t"})], events=[event])


# What is missing of the input

def test_a_file_that_is_cut_off_says_so_in_the_brief(tmp_path):
    whole = profiles.text([(["f"], {"samples": 2000, "period": 9}), (["g"], {"samples": 2000, "period": 9})])
    path = tmp_path / "f.spaa"
    path.write_text(whole)
    assert ask("summary", path)["incomplete"] == [] and "INCOMPLETE" not in run("summary", path, code=0).out
    for name, text in [("f.spaa", whole[:-40]), ("f.folded", "a;b 3\na;c 4\na;d")]:
        path = tmp_path / name
        path.write_text(text)
        answer = ask("summary", path)
        assert "SPAA-L301" in [x["code"] for x in answer["incomplete"]]
        for form in ["table", "csv", "markdown"]:
            assert "cut off" in run("summary", path, "--format", form, code=0).out


def test_recordings_that_are_cut_off(tmp_path):
    import gzip
    whole = gzip.compress(profiles.text([(["f%d" % i], {"samples": 9, "period": i}) for i in range(500)]).encode())
    path = tmp_path / "f.spaa.gz"
    path.write_bytes(whole[:-2000])
    assert {"SPAA-L305"} <= {x["code"] for x in ask("summary", path)["incomplete"]}
    assert "cut off" in run("summary", path, code=0).out
    said = run("summary", path, code=0).err
    assert "SPAA-E006" not in said and "data-loss" in said and "what came before the damage was used" in said
    path.write_bytes(whole[:15])
    out = run("summary", path, "--from", "spaa")
    assert out.code == 3 and "SPAA-E006" in out.err and "was used" not in out.err


# Names of processes, units of waits, members of rows

def test_processes_have_names(tmp_path):
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text([(["f"], 3, {"pid": 7, "tid": 8, "comm": "worker"}), (["f"], 2, {"pid": 7, "tid": 7, "comm": "app"}),
                                   (["f"], 1, {"pid": 9, "tid": 10, "comm": "other"}), (["f"], 1, {"pid": 11})]))
    rows = ask("top", path, "--by", "process")["rows"]
    assert [(r["name"], r["pid"], r["process_name"], r["self"]) for r in rows] == [
        ("app (pid 7)", 7, "app", 5), ("other (pid 9)", 9, "other", 1), ("pid 11", 11, None, 1)]
    assert "3 processes: app 71 %, pid 9 14 %, pid 11 14 %; 4 threads" in run("summary", path, code=0).out


@pytest.mark.parametrize("by", ["function", "line", "address", "dso", "thread", "process", "comm", "cpu", "state"])
def test_every_row_has_every_member(by, tmp_path):
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text([(["f"], 3, {"pid": 7, "tid": 8, "comm": "worker"}), ([], 2), (["g"], 2, {"cpu": 3, "x_state": "IDLE"})]))
    rows = ask("top", path, "--by", by, "--view", "all")["rows"]
    assert len(rows) > 1 and len({tuple(sorted(r)) for r in rows}) == 1
    if by == "function":
        assert {r["function"]: r["dso"] for r in rows}["[no stack]"] is None


def test_waits_are_in_the_unit_of_the_metric(tmp_path):
    path = tmp_path / "f.spaa"
    path.write_text(profiles.text([(["f"], {"samples": 3, "period": 336673344}, {"pid": 7, "tid": 8, "comm": "a", "x_state": "BLOCKED"})]))
    text = path.read_text().replace('"value":336673344', '"value":336673344,"unit":"ns"').replace('"value": 336673344', '"value": 336673344, "unit": "ns"')
    path.write_text(text)
    out = run("waits", path, code=0).out
    assert "0 ns of 336.67 ms waited for something named, 336.67 ms for nothing named" in out
    assert "0 of 3 samples waited" in run("waits", path, "--metric", "samples", code=0).out


def test_one_address_that_names_a_function_twice_is_one_visit(tmp_path):
    """As perf script prints what was inlined."""
    path = tmp_path / "s.txt"
    path.write_text("".join("app 7 1.%06d: 100 cycles:\n\t107f main (/bin/app)\n\t107f call (inlined)\n\t107f main (/bin/app)\n\n" % i
                            for i in range(2000)))
    assert "recursion" not in {f["kind"] for f in ask("summary", path)["findings"]}
    assert ask("function", path, "main")["recursion"]["weight"] == 0


def test_names_alone_show_no_recursion_for_certain(tmp_path):
    assert recursion(tmp_path, "step", "step", "main")["by_name_only"] is True
    assert "by its name alone" in run("summary", tmp_path / "f.spaa", code=0).out
    assert recursion(tmp_path, frame("f", 0x1000, 4), "g", frame("f", 0x1000, 8), "main")["by_name_only"] is False
    assert recursion(tmp_path, "operator", "g", "operator", "main") is None

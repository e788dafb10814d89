"""Stacks that do not reach the entry of their thread: totals are bounds, and every view says so."""

import json
import os

import pytest

from conftest import ROOT, ask, run, unwrapped
from profiles import event, text

CLOCK = [event("cpu-clock", "period", "software")]
WORK = ["leaf", "work", "start_thread"]
THREAD = {"pid": 7, "tid": 8, "comm": "app"}


def profile(tmp_path, stacks, **more):
    """Rows are (frames from the leaf, weight), and of another thread its context."""
    path = tmp_path / "p.spaa"
    path.write_text(text([(frames, weight, *(rest or [THREAD])) for frames, weight, *rest in stacks], CLOCK, **more))
    return path


def quality(path, *args):
    return ask("top", path, *args)["quality"]


def broken(path, *args):
    return quality(path, *args)["broken_chains_percent"]


def lib(name, dso, **more):
    return {"func": name, "dso": dso, **more}


ENTRIES = ["_start", "__libc_start_main@@GLIBC_2.34", "__libc_start_main_impl", "__libc_start_call_main", "start_thread",
           "clone", "clone3", "__clone", "__clone3", "_start_c", "runtime.goexit.abi0", "runtime.goexit", "runtime.mstart",
           "runtime.mcall", "runtime.rt0_go", "_rt0_amd64_linux", "thread_native_entry(Thread*)", "_dl_start_user",
           "_pthread_start", "thread_start", "start_wqthread", "RtlUserThreadStart", "BaseThreadInitThunk", "_thrp_setup",
           "_lwp_start", "execute_native_thread_routine", "__restore_rt", "start"]


@pytest.mark.parametrize("name", ENTRIES)
def test_a_stack_that_begins_at_an_entry_is_whole(tmp_path, name):
    assert broken(profile(tmp_path, [(["leaf", "work", name], 10)])) == 0


@pytest.mark.parametrize("name", ["ret_from_fork", "ret_from_fork_asm", "kthread", "secondary_startup_64_no_verify",
                                  "common_startup_64", "start_kernel", "entry_SYSCALL_64_after_hwframe",
                                  "asm_sysvec_apic_timer_interrupt", "el0t_64_sync"])
def test_a_kernel_stack_that_begins_at_an_entry_is_whole(tmp_path, name):
    frames = [lib("leaf", "[kernel]"), lib("inner", "[kernel]"), lib(name, "[kernel]")]
    assert broken(profile(tmp_path, [(frames, 10)])) == 0
    assert broken(profile(tmp_path, [([lib("leaf", "[kernel]"), lib("inner", "[kernel]")], 10)])) == 100


def test_a_stack_that_begins_elsewhere_is_broken_and_says_where(tmp_path):
    path = profile(tmp_path, [(WORK, 90), (["cmp", lib("msort", "/lib/libc.so.6")], 10)])
    q = quality(path)
    assert q["broken_chains_percent"] == 10
    assert q["broken_chains"] == {"no_entry": 10}
    assert q["broken_chains_by_dso"] == [{"dso": "/lib/libc.so.6", "percent": 10}]


def test_the_system_stack_of_go_is_called_by_goroutines(tmp_path):
    """Recorded with --call-graph dwarf, 16 % of a Go program's weight lost its goroutine there."""
    assert broken(profile(tmp_path, [(["leaf", "runtime.mallocgc", "runtime.systemstack.abi0"], 10)])) == 100


def test_what_unwinders_find_above_an_entry_breaks_nothing(tmp_path):
    above = {"func": "0x55", "dso": "[unknown]", "ip": "0x55"}
    assert broken(profile(tmp_path, [(WORK + [above], 10), (["leaf", "__libc_start_main", lib("0x9", "/bin/app")], 5)])) == 0


def test_unmapped_and_cut_roots_are_broken(tmp_path):
    nowhere = {"func": "0x7fff00001234", "dso": "[unknown]", "ip": "0x7fff00001234"}
    q = quality(profile(tmp_path, [(WORK, 80), (["leaf", "work", nowhere], 15),
                                   (["leaf", "work", lib("[truncated]", "[unknown]")], 5)]))
    assert q["broken_chains"] == {"unmapped": 15, "cut_off": 5}
    assert q["broken_chains_by_dso"] == [{"dso": "/bin/app", "percent": 20}]


@pytest.mark.parametrize("share, expected", [(90, 10), (89, 100)])
def test_an_unnamed_root_in_a_library_that_starts_threads(tmp_path, share, expected):
    def root(ip):
        return {"func": ip, "dso": "/lib/x86_64-linux-gnu/libc-2.31.so", "ip": ip}
    path = profile(tmp_path, [(["leaf", "work", root("0x100")], share), (["leaf", "cmp", root("0x200")], 100 - share)])
    assert broken(path) == expected
    other = text([(["leaf", "work", {"func": "0x1", "dso": "/lib/libfoo.so.1", "ip": "0x1"}], 10, THREAD)], CLOCK)
    path.write_text(other)
    assert broken(path) == 100


def test_the_share_is_of_each_thread(tmp_path):
    def row(ip, tid, weight):
        return (["leaf", "work", {"func": ip, "dso": "/lib/libc.so.6", "ip": ip}], weight, {**THREAD, "tid": tid})
    path = profile(tmp_path, [row("0x10", 1, 5), row("0x20", 2, 95)])
    assert broken(path) == 0


def test_a_call_that_cannot_be_breaks_a_stack_where_it_stands(tmp_path):
    frames = [lib("memcpy", "/lib/libc.so.6"), "work", "start_thread"]
    q = quality(profile(tmp_path, [(frames, 30, THREAD, {"x_edges": [{"at": 0, "broken": True}]}), (WORK, 70)]))
    assert q["broken_chains"] == {"impossible_call": 30}
    assert q["broken_chains_by_dso"] == [{"dso": "/lib/libc.so.6", "percent": 30}]


@pytest.mark.parametrize("name", ["orders-1", "orders-2"])
def test_the_demo_is_whole_as_a_recording_and_as_spaa(tmp_path, name):
    symbols = ["--symfs", os.path.join(ROOT, "demo", "symfs"), "--kallsyms", os.path.join(ROOT, "demo", "kallsyms")]
    recording, path = os.path.join(ROOT, "demo", name + ".perf.data.zst"), tmp_path / "p.spaa"
    assert broken(recording, *symbols) < 1
    run("convert", recording, *symbols, "-o", path, code=0)
    assert broken(path) == broken(recording, *symbols)


def test_a_converted_recording_gives_the_same_answer(tmp_path, corpus):
    recording, path = os.path.join(corpus, "perf-data", "made", "system.perf.data.zst"), tmp_path / "p.spaa"
    run("convert", recording, "--no-symbols", "-o", path, code=0)
    q, again = quality(recording, "--no-symbols"), quality(path)
    assert 5 < q["broken_chains_percent"]
    assert {k: v for k, v in q.items() if "chains" in k} == {k: v for k, v in again.items() if "chains" in k}


def test_a_recording_without_callchains_is_another_statement(tmp_path):
    assert broken(profile(tmp_path, [(["leaf"], 10), (["other"], 5)])) is None


def test_filters_that_cut_stacks_break_nothing(tmp_path):
    kernel = [lib("do_read", "[kernel]"), lib("entry_SYSCALL_64", "[kernel]"), "read", "work", "start_thread"]
    path = profile(tmp_path, [(WORK, 10), (kernel, 10)])
    for args in (["--root-at", "work"], ["--hide", "start_thread"], ["--user"], ["--kernel"], ["--focus", "leaf"]):
        assert broken(path, *args) == 0


@pytest.mark.parametrize("tool, expected", [("perf", 100), ("dtrace", 100), ("bpftrace", 100), ("pprof", None),
                                            ("codeguru", None), ("spindump", None), ("spt", None), ("folded", 0)])
def test_only_native_callchains_are_judged_by_their_roots(tmp_path, tool, expected):
    assert broken(profile(tmp_path, [(["leaf", "work"], 10)], tool=tool)) == expected


def test_folded_stacks_are_judged_by_unmapped_roots(tmp_path):
    path = tmp_path / "a.folded"
    path.write_text("app;start_thread;work;leaf 80\napp;[unknown];work;leaf 15\napp;[unknown];__libc_start_main;main 5\n")
    assert broken(path) == 15


# Half of the weight of thread `app` is broken and does not show `work`; thread `other` never showed it.
BOUNDS = [(["leaf", "work", "start_thread"], 40), (["leaf", lib("sort", "/lib/libc.so.6")], 30),
          (["cmp", "work", lib("sort", "/lib/libc.so.6")], 10),
          (["idle", lib("sort", "/lib/libc.so.6")], 20, {"pid": 9, "tid": 9, "comm": "other"})]


def rows(path, *args):
    return {r["name"]: r for r in ask("top", path, *args)["rows"]}


def test_totals_are_bounds(tmp_path):
    path = profile(tmp_path, BOUNDS)
    got = rows(path)
    assert (got["work"]["total"], got["work"]["total_at_most"]) == (50, 80)
    assert (got["leaf"]["total"], got["leaf"]["total_at_most"]) == (70, 80)
    assert (got["idle"]["total"], got["idle"]["total_at_most"]) == (20, 20)
    assert (got["sort"]["total"], got["sort"]["total_at_most"]) == (60, 60)
    assert got["leaf"]["self"] == 70
    answer = ask("function", path, "work")
    assert (answer["total"], answer["total_at_most"], answer["total_at_most_percent"]) == (50, 80, 80)
    hot = {r["name"]: r for r in ask("summary", path)["hot"]}
    assert hot["leaf"]["total_at_most_percent"] == 80


def test_filters_on_frames_leave_no_upper_bound(tmp_path):
    path = profile(tmp_path, BOUNDS)
    assert rows(path, "--focus", "sort")["work"]["total_at_most"] is None


def test_functions_of_the_kernel_are_not_hidden_by_chains_of_programs(tmp_path):
    kernel = [lib("do_read", "[kernel]"), lib("entry_SYSCALL_64", "[kernel]"), "read", "work", "start_thread"]
    path = profile(tmp_path, [(kernel, 50), (["cmp", lib("sort", "/lib/libc.so.6")], 50)])
    got = rows(path)
    assert (got["do_read"]["total"], got["do_read"]["total_at_most"]) == (50, 50)
    assert got["work"]["total_at_most"] == 100


def test_below_five_percent_nothing_is_said(tmp_path):
    path = profile(tmp_path, [(WORK, 96), (["leaf", "cmp"], 4)])
    answer = ask("top", path)
    assert answer["quality"]["broken_chains_percent"] == 4
    assert "total_at_most" not in answer["rows"][0]
    assert not [d for d in answer["diagnostics"] if d["code"] == "SPAA-W612"]


LINE = ("callers are missing in 60% of the weight, whose stacks begin at no thread's entry (in libc.so.6 60%): "
        "totals are at least what they say, self is exact; record with --call-graph dwarf or lbr, or build these with "
        "-fno-omit-frame-pointer")
BRIEF = "callers are missing in 60.00% of the weight: totals are at least what they say, self is exact (-v says why)"


BRIEFLY = "! CALLERS UNRELIABLE: 60 % of CPU in stacks that begin at no thread's entry (libc 60 %). Self is sound."


@pytest.mark.parametrize("command", [["summary"], ["top"], ["tree"], ["function", "work"]])
def test_views_warn_in_one_line(tmp_path, command):
    path = profile(tmp_path, BOUNDS)
    result = run(command[0], path, *command[1:])
    if command == ["summary"]:
        assert BRIEFLY in unwrapped(result.out)
    else:
        assert BRIEF in result.out.splitlines() and LINE not in unwrapped(result.out)
        assert LINE in unwrapped(run(command[0], path, *command[1:], "--verbose").out)
    assert "W612" not in result.err
    answer = ask(command[0], path, *command[1:])
    told = [d for d in answer["diagnostics"] if d["code"] == "SPAA-W612"]
    assert len(told) == 1 and LINE.startswith(told[0]["message"].removeprefix("totals are bounds: "))
    assert told[0]["hint"] in LINE


def test_the_flame_graph_and_diff_warn(tmp_path):
    path = profile(tmp_path, BOUNDS)
    result = run("flamegraph", path, "-o", tmp_path / "f.svg")
    assert result.err.count("SPAA-W612") == 1
    assert "callers are missing in 60%" in (tmp_path / "f.svg").read_text()
    result = run("diff", path, path)
    assert result.out.count("totals are bounds") == 1 and "60% of base and 60% of new" in result.out and result.err == ""
    assert "SPAA-W612" in run("diff", path, path, "--verbose").err
    assert run("diff", path, path, "--verbose").err.count("SPAA-W612") == 2


def test_text_shows_what_totals_are_at_most(tmp_path):
    path = profile(tmp_path, BOUNDS)
    out = run("top", path).out
    assert "at most%" in out and "80.00%" in out
    assert "at least, 80 (80.00%) at most" in run("function", path, "work").out
    assert "self at least  at most" in run("summary", path).out


def test_the_remedy_fits_the_loss(tmp_path):
    cut = lib("[truncated]", "[unknown]")
    path = profile(tmp_path, [(["leaf", "work", cut], 50), (WORK, 50)])
    assert "--call-graph dwarf,65528" in run("top", path, "-v").out
    deep = ["leaf"] + ["again"] * 126
    path = profile(tmp_path, [(deep, 50), (WORK, 50)])
    assert "stacks end at 127 frames" in run("top", path, "-v").out


def test_what_was_filtered_out_is_not_missing(tmp_path):
    path = profile(tmp_path, BOUNDS)
    out = tmp_path / "hidden.spaa"
    run("convert", path, "--hide", "^main$", "-o", out)
    assert '"frames_filtered":true' in out.read_text().splitlines()[0]
    assert ask("top", out)["quality"]["broken_chains_percent"] is None
    run("validate", out, code=0)


@pytest.mark.parametrize("command, asked", [
    ("perf record -g ./app", True), ("/usr/bin/perf record -ag -e cpu-clock ./app", True), ("perf record -F 99 -g -- ./app", True),
    ("perf record --call-graph dwarf,4096 ./app", True), ("perf record -e cycles --call-graph=lbr ./app", True),
    ("perf record -o out.data gcc -g a.c", False), ("perf record -q -e cpu-clock -- gcc -g a.c", False),
    ("perf record -egroup ./app", False), ("perf record -F99 ./grep -ag x", False), ("perf record ./app --call-graph dwarf", False),
    ("perf record -e cycles -o -g", False)])
def test_callchains_were_asked_for_by_options_of_perf_alone(tmp_path, command, asked):
    """Single frames are no broken chains unless chains were recorded; the program's own options say nothing of that."""
    path = profile(tmp_path, [(["leaf"], 10), (["other"], 5)], source={"tool": "perf", "command": command})
    assert broken(path) == (100 if asked else None)


def unchecked(tmp_path, command="perf record -g ./app", build_id=None, edges=None, shares=(90, 10)):
    """90 % has a caller in /bin/app below an entry, 10 % none."""
    stacks = [([{**lib("leaf", "/lib/libc.so.6"), "ip": "0x10"}, {**lib("work", "/bin/app"), "ip": "0x20"}, "start_thread"],
               shares[0], THREAD, {"x_edges": edges} if edges else {}),
              ([lib("start_thread", "/bin/app"), lib("clone", "/lib/libc.so.6")], shares[1], THREAD)]
    path = profile(tmp_path, stacks, source={"tool": "perf", "command": command})
    image = {"type": "x_spaa_image", "id": 1, "start": "0x1000", "end": "0x1fff", "name": "app", "path": "/bin/app"}
    path.write_text(path.read_text() + json.dumps({**image, **({"build_id": build_id} if build_id else {})}) + "\n")
    return path


def test_chains_of_binaries_without_a_build_id_are_said_to_be_unchecked(tmp_path):
    path = unchecked(tmp_path)
    assert quality(path)["unchecked_chains_percent"] == 90
    assert ("! CALLERS UNCHECKED: 90 % of CPU in stacks of binaries of which no build-id was recorded (app 90 %): frame "
            "pointers may have skipped callers; perf record --buildid-all") in unwrapped(run("summary", path).out)


@pytest.mark.parametrize("how, percent", [
    ({"build_id": "01" * 20}, 0), ({"command": "perf record --call-graph dwarf ./app"}, 0),
    ({"command": "perf record --call-graph lbr ./app"}, 0), ({"command": "perf record ./app"}, 0),
    ({"edges": [{"at": 0, "broken": True}]}, 0), ({"shares": (4, 96)}, 4)])
def test_where_chains_were_checked_or_others_made_them_nothing_is_said(tmp_path, how, percent):
    path = unchecked(tmp_path, **how)
    assert quality(path)["unchecked_chains_percent"] == percent
    assert "UNCHECKED" not in run("summary", path).out

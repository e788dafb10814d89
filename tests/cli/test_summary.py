"""summary: one answer in every form, and what a budget leaves of it."""

import csv
import io
import json
import re

import pytest

import profiles
from conftest import ask, run, unwrapped
from test_text_fits import inputs, too_wide

LONG = "shop::Cart<shop::Item, std::allocator<shop::Item> >::%s(int, std::vector<int, std::allocator<int> > const&)"


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.spaa"
    stacks = [([LONG % ("f%d" % i), "main"], {"samples": 1, "period": 10 - i}, {"pid": i % 2 + 1, "tid": i + 1, "comm": "t%d" % i})
              for i in range(8)]
    path.write_text(profiles.text(stacks))
    return path


def test_names_are_short_for_people_and_whole_in_json(shop):
    out = run("summary", shop, code=0).out
    assert "shop::Cart<…>::f0" in out and "allocator" not in out and "/bin/app" not in out
    assert LONG % "f0" in run("summary", shop, "--names", "full", code=0).out
    assert any(line.startswith("  " + LONG % "f0") for line in run("summary", shop, "--names", "full", code=0).out.splitlines())
    assert LONG % "f0" in [r["name"] for r in ask("summary", shop)["hot"]]


def test_functions_of_one_short_name_are_told_apart(tmp_path):
    path = tmp_path / "two.spaa"
    path.write_text(profiles.text([(["f<int>(int)", "main"], 5), (["f<char>(char)", "main"], 4)]))
    out = run("summary", path, code=0).out
    assert "f<…>(int)" in out and "f<…>(char)" in out


def test_csv_has_a_table_for_each_section(shop):
    heads = [next(csv.reader(io.StringIO(t)))[0] for t in run("summary", shop, "--format", "csv", code=0).out.split("\n\n")]
    assert heads == ["code", "id", "id", "name", "name", "name", "id", "id", "id", "id"]


def test_sql_has_the_hot_functions(shop):
    want = [[r["name"], r["weight"]] for r in ask("summary", shop)["hot"]]
    rows = ask("query", shop, "SELECT name, weight FROM ask_summary")["rows"]
    assert [list(r.values()) if isinstance(r, dict) else r for r in rows] == want


def test_what_is_left_out_is_counted(shop):
    answer = ask("summary", shop, "--no-pool")
    assert len(answer["by_thread"]) == 5 and answer["omitted"]["by_thread"] == 3
    assert "; 8 threads: t2 15 %" in run("summary", shop, "--no-pool", code=0).out


def test_a_budget_takes_rows_from_all_sections_in_turn(shop):
    sections = ("hot", "findings", "heaviest_path", "by_thread", "by_dso", "by_process", "own_functions")
    whole = ask("summary", shop)
    most = [len(whole[s]) for s in sections]
    seen = set()
    for budget in range(200, 2600, 60):
        answer = ask("summary", shop, "--budget", budget)
        shown = [len(answer[s]) for s in sections]
        full = [n == m for n, m in zip(shown, most)]
        short = [n for n, f in zip(shown, full) if not f]
        assert not short or max(shown) - min(short) <= 1, "one round ahead at most"
        assert sorted(short, reverse=True) == short, "the first section first"
        assert [answer["omitted"][s] - whole["omitted"][s] for s in sections] == [m - n for n, m in zip(shown, most)]
        seen.add(tuple(shown))
    assert len(seen) > 5 and tuple(most) in seen


# The brief for people: what it may take, and what it says when

CLOCK = [profiles.event("cpu-clock", kind="software", mode="frequency")]
CLOCK[0]["sampling"]["frequency_hz"] = 999
APP = {"pid": 7, "tid": 7, "comm": "app"}
ENTRY = ["main", "__libc_start_main", "_start"]


def weights(n):
    return [{"metric": "samples", "value": n}, {"metric": "period", "value": n * 1000000, "unit": "ns"}]


def brief(tmp_path, stacks, *options, events=CLOCK, command="perf record -g -o x.data ./app 5", **header):
    """stacks: (frames from the leaf, samples of 1 ms, context)"""
    path = tmp_path / "b.spaa"
    text = profiles.text([(frames, n, *(rest or [APP])) for frames, n, *rest in stacks], events, source={"tool": "perf", "command": command}, **header)
    records = [json.loads(line) for line in text.splitlines()]
    for r in records:
        if r["type"] == "stack":
            r["weights"] = weights(r["weights"][0]["value"])
            r.pop("exclusive", None)
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path, run("summary", path, *options, code=0).out


def warned(out):
    return [line[2:].split(":")[0] for line in out.splitlines() if line.startswith("! ")]


SOUND = [(["parse", "load"] + ENTRY, 3000), (["load"] + ENTRY, 1000), (["tick", "start_thread", "clone3"], 400, {**APP, "tid": 8, "comm": "timer"})]


def test_a_sound_recording_has_no_warnings(tmp_path):
    path, out = brief(tmp_path, SOUND)
    assert out.splitlines()[0] == "CPU 4.4 s, 4,400 samples @999 Hz, app, 2 threads: app 91 %, timer 9.1 %"
    assert warned(out) == [] and "cannot know" not in out and "losses" not in out
    answer = ask("summary", path)
    assert answer["warnings"] == [] and answer["cannot_know"] == [] and answer["headline"] == out.splitlines()[0]
    assert len(answer["next"]) == 1 and "next: " + answer["next"][0] in unwrapped(out)


def test_own_functions_are_a_call_tree(tmp_path):
    _, out = brief(tmp_path, SOUND)
    rows = out.splitlines()[out.splitlines().index(next(x for x in out.splitlines() if x.startswith("own functions"))):]
    assert [x.split("  ")[0] or x[:len(x) - len(x.lstrip())] + x.split()[0] for x in rows[1:5]] == ["main", "  load", "    parse", "tick"]
    assert [x.split()[1:] for x in rows[1:5]] == [["0", "%", "91", "%"], ["23", "%", "91", "%"], ["68", "%", "68", "%"], ["9.1", "%", "9.1", "%"]]


def test_a_function_that_several_call_stands_below_what_calls_these(tmp_path):
    path, _ = brief(tmp_path, [(["shared", "a"] + ENTRY, 1000), (["shared", "b"] + ENTRY, 1000), (["a"] + ENTRY, 900), (["b"] + ENTRY, 900)])
    answer = {r["name"]: r for r in ask("summary", path)["own_functions"]}
    assert answer["shared"]["called_by"] == answer["main"]["id"] and answer["a"]["called_by"] == answer["main"]["id"]
    assert answer["main"]["called_by"] is None


def test_library_calls_beneath_are_the_callers(tmp_path):
    libc = {"func": "malloc", "dso": "/lib/x86_64-linux-gnu/libc.so.6"}
    _, out = brief(tmp_path, [([libc, "work"] + ENTRY, 3000), (["work"] + ENTRY, 1000), ([libc], 0)])
    assert any(x.split() == ["work", "100", "%", "100", "%", "75", "%", "in", "malloc"] for x in out.splitlines())


def test_callers_unreliable(tmp_path):
    libc = {"func": "sort", "dso": "/lib/libc.so.6"}
    _, out = brief(tmp_path, SOUND + [([libc], 1000)])
    assert warned(out) == ["CALLERS UNRELIABLE"] and "19 % of CPU in stacks that begin at no thread's entry (libc 19 %). Self is sound." in out
    assert "own functions     self at least  at most" in out
    assert "settle it: perf record -F 999 --call-graph dwarf,16384 ./app 5" in unwrapped(out)
    assert "19 % of CPU has no own function on its recorded stack (libc.so.6: sort 19 %)" in out


def test_names_missing(tmp_path):
    nameless = {"func": "0x99", "func_resolved": False, "ip": "0x99", "dso": "/lib/libx.so.1"}
    _, out = brief(tmp_path, SOUND + [([nameless] + ENTRY, 400)])
    assert warned(out) == ["NAMES MISSING"] and "8.3 % of CPU is in functions without a name (libx 8.3 %)" in out
    _, out = brief(tmp_path, SOUND + [([nameless] + ENTRY, 40)])
    assert warned(out) == []
    _, out = brief(tmp_path, [([nameless] + ENTRY, 4000)])
    assert out.splitlines()[-1].endswith("--by dso")


@pytest.mark.parametrize("samples,few", [(4000, False), (500, False), (60, True)])
def test_few_samples(tmp_path, samples, few):
    _, out = brief(tmp_path, [(["parse"] + ENTRY, samples * 9 // 10), (["load"] + ENTRY, samples // 10)])
    assert warned(out) == ["FEW SAMPLES"] * few
    if few:
        assert "60 samples: parse's 90 % is 80 to 95 % (95 % confidence" in out


def test_losses(tmp_path):
    _, out = brief(tmp_path, SOUND, x_spaa={"lost": 440, "truncated": 1})
    assert warned(out) == ["LOST"] and "9.1 % of samples were lost by the profiler (440 of 4,840)" in out
    assert "\nlosses: 1 stack cut off\n" in out
    _, out = brief(tmp_path, SOUND, x_spaa={"lost": 4})
    assert warned(out) == [] and "\nlosses: 4 samples lost by the profiler\n" in out


def test_incomplete(tmp_path):
    path, _ = brief(tmp_path, SOUND)
    path.write_text(path.read_text()[:-30])
    assert "INCOMPLETE" in warned(run("summary", path, code=0).out)


def test_another_process_has_most(tmp_path):
    shell = {"pid": 9, "tid": 9, "comm": "sh"}
    _, out = brief(tmp_path, SOUND + [(["spin"] + ENTRY, 9000, shell)])
    assert warned(out) == ["OTHER PROCESS"] and "67 % of CPU is sh, not the command app, which has 33 %: --pid 9 (sh), --pid 7 (app)" in unwrapped(out)
    assert "app, 2 processes: sh 67 %, app 33 %; 3 threads: timer 3.0 %" in out
    _, several = brief(tmp_path, SOUND + [(["spin"] + ENTRY, 4500, {**shell, "pid": i, "tid": i}) for i in (9, 10)])
    assert "which has 33 %: --comm sh, --pid 7 (app)" in unwrapped(several)
    for stacks, command in [(SOUND + [(["spin"] + ENTRY, 900, shell)], "perf record -g ./app"),
                            (SOUND + [(["spin"] + ENTRY, 9000, shell)], "perf record -a sleep 5"),
                            (SOUND + [(["spin"] + ENTRY, 9000, {"pid": 9, "tid": 12, "comm": "pool"})], "perf record ./app")]:
        _, out = brief(tmp_path, stacks, command=command)
        assert warned(out) == []


def test_no_callers(tmp_path):
    for asked, how in [("", "-g"), ("-g ", "--call-graph dwarf,16384")]:
        _, out = brief(tmp_path, [(["parse"], 3000), (["load"], 1000)], command="perf record %s./app 5" % asked)
        assert warned(out) == ["NO CALLERS"] and "settle it: perf record -F 999 %s ./app 5" % how in out


def test_what_was_filtered_is_said(tmp_path):
    _, out = brief(tmp_path, SOUND, "--comm", "timer")
    assert "\nof it: --comm timer keeps 400 ms, 9.09% of the event's 4.4 s\n" in out
    assert "of it" not in brief(tmp_path, SOUND)[1]


@pytest.mark.parametrize("event,unit,head", [
    (profiles.event("malloc", "alloc_bytes", "allocation", "event"), "bytes", "allocated 7.00 KiB (malloc)"),
    (profiles.event("heap", "live_bytes", "allocation", "event"), "bytes", "live 7.00 KiB (heap)"),
    (profiles.event("sched:sched_switch", "count", "probe", "event"), None, "7,168 sched:sched_switch events"),
    (profiles.event("offcpu-time", "period", "probe", "event"), "ns", "off-CPU 7.17 us"),
    (profiles.event("cycles", "period"), "cycles", "CPU 7,168 cycles"),
    (profiles.event("page-faults", "period", "software"), "events", "page-faults 7,168"),
    (profiles.event("contention", "delay", "probe", "event"), "ns", "contention delay 7.17 us"),
])
def test_the_metric_in_words(tmp_path, event, unit, head):
    path = tmp_path / "m.spaa"
    text = profiles.text([(["work", "main"], 7168)], [event])
    records = [json.loads(line) for line in text.splitlines()]
    for w in [w for r in records if r["type"] == "stack" for w in r["weights"] + r["exclusive"]["weights"]]:
        w.update({"unit": unit} if unit else {})
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    out = run("summary", path, code=0).out
    assert out.splitlines()[0].startswith(head)
    assert ("CPU" in out) == ("CPU" in head)


def test_inlined_frames_are_no_callers(tmp_path):
    inlined = {"func": "inner", "ip": "0x10", "inlined": True, "inline_depth": 1}
    for host, warns in [([{"func": "parse", "ip": "0x10"}], ["NO CALLERS"]), (ENTRY, [])]:
        assert warned(brief(tmp_path, [([inlined] + host, 3000)])[1]) == warns


@pytest.mark.parametrize("samples,few", [(297, True), (30000, False)])
def test_few_samples_are_judged_by_what_is_said(tmp_path, samples, few):
    """Not by the heaviest own function alone: what stacks without one end in is said, too."""
    idle = {"func": "halt", "dso": "[kernel]"}
    _, out = brief(tmp_path, [(["parse"] + ENTRY, samples * 3 // 100), ([idle] + [{"func": "start", "dso": "[kernel]"}], samples * 97 // 300),
                              *[([{"func": "k%d" % i, "dso": "[kernel]"}], samples * 13 // 300) for i in range(15)]])
    assert ("FEW SAMPLES" in warned(out)) == few
    assert not few or "halt's 3" in out


def test_code_made_at_run_time_is_named_by_its_runtime(tmp_path):
    made = {"func": "0x99", "func_resolved": False, "ip": "0x99", "dso": "[anon]"}
    path, out = brief(tmp_path, [([made] + ENTRY, 4000)], command="perf record -F 99 -g java -cp x P")
    said = unwrapped(out)
    assert warned(out) == ["NAMES MISSING"] and "just-in-time code" in said and "--debug-dir" not in said
    assert "settle it: perf record -F 999 -g java -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit -cp x P" in said
    assert "next:" not in out and ask("summary", path)["next"] == []
    _, out = brief(tmp_path, [([made] + ENTRY, 4000)])
    assert "settle it: have the runtime write perf-PID.map" in unwrapped(out)
    _, out = brief(tmp_path, [([{**made, "dso": "/lib/libx.so.1"}] + ENTRY, 4000)], command="perf record -g java P")
    assert "--debug-dir DIR" in unwrapped(out) and "just-in-time" not in out and out.splitlines()[-1].endswith("--by dso")


BUSY = [(["spin"] + ENTRY, 9000, {"pid": 9, "tid": 9, "comm": "sort"})]


@pytest.mark.parametrize("command,program,warns", [
    ("perf record -g -o x.data -F 999 sh -c ./app 5 | sort", "", []),
    ("perf record -g make -j2 app", "", []),
    ("perf record -g python3 -m pytest app", "", []),
    ("perf record -g -- bash run.sh app", "", []),
    ("perf record -g ./run.sh app", "", []),  # has no samples of its own: it started others
    ("perf record -agF 999 ./app", "app, ", ["OTHER PROCESS"]),
    ("perf record -F 999 -e cpu-clock --call-graph dwarf ./app sort", "app, ", ["OTHER PROCESS"]),
    ("perf record -g taskset -c 0 ./app sort", "app, ", ["OTHER PROCESS"]),
    ("perf record -g -p 7", "", []),
    ("perf record -gp7 -o app", "", []),
])
def test_what_was_meant_to_be_measured(tmp_path, command, program, warns):
    _, out = brief(tmp_path, SOUND + BUSY, command=command)
    assert warned(out) == warns
    assert "@999 Hz, %s2 processes: sort 67 %%, app 33 %%" % program in out


def test_a_command_that_a_shell_would_read_differently_is_not_given_again(tmp_path):
    lost = ([{"func": "sort", "dso": "/lib/libc.so.6"}], 1000)
    for command, again in [("sh -c cat x | sort", "…"), ("sh run.sh", "sh run.sh"), ("./app a*", "…"), ("./app 5", "./app 5")]:
        out = unwrapped(brief(tmp_path, SOUND + [lost], command="perf record -g " + command)[1])
        assert "settle it: perf record -F 999 --call-graph dwarf,16384 %s next: " % again in out


def test_rows_of_several_processes_say_their_binary(tmp_path):
    spin = {"func": "spin", "dso": "/opt/x/tool"}
    other = [([spin] + ENTRY, 9000, {"pid": 9, "tid": 9, "comm": "tool"})]
    rows = {}
    for command in "make all", "./app", "./tool":
        out = brief(tmp_path, SOUND + other, command="perf record -g " + command)[1]
        rows[command] = {line.split()[0]: line.split()[-1] for line in out.splitlines() if line.lstrip().startswith(("spin ", "parse "))}
    assert rows["make all"] == {"spin": "tool", "parse": "app"}
    assert rows["./app"] == {"spin": "tool", "parse": "%"} and rows["./tool"] == {"spin": "%", "parse": "app"}
    one = brief(tmp_path, SOUND + [([spin] + ENTRY, 9000)], command="perf record -g make")[1]
    assert [line.split()[-1] for line in one.splitlines() if line.lstrip().startswith("spin ")] == ["%"]


def test_functions_of_python_by_the_names_that_are_shown(tmp_path):
    score = {"func": "py::score:/srv/app/p.py", "dso": "[jit]"}
    path, out = brief(tmp_path, [([score] + ENTRY, 3000), ([{"func": "py::fib:/srv/app/p.py", "dso": "[jit]"}] + ENTRY, 1000)])
    assert ["score", "75", "%", "75", "%", "p.py"] in [x.split() for x in out.splitlines()] and "py::" not in out
    assert "score p.py" in run("top", path, code=0).out
    for name in "score", "py::score", "py::score:", "score p.py", "py::score:/srv/app/p.py":
        assert score["func"] in run("function", path, name, "--names", "full", code=0).out
    for name in "scor", "py::", "py::score:p", "p.py":
        assert run("function", path, name).code


def test_markers_are_no_functions(tmp_path):
    libc = {"dso": "/lib/libc.so.6"}
    _, out = brief(tmp_path, [([{"func": "sort", **libc}, {"func": "[unknown]", "dso": "[unknown]"}], 3000, APP, {"x_edges": [{"at": 0, "broken": True}]}),
                              ([{"func": "copy", **libc}, {"func": "walk", **libc}], 1000)])
    assert "CALLERS UNRELIABLE" in warned(out) and "functions (none is known to be own)" in out
    assert "[broken chain]" not in out and "\n[unknown]" not in out and "\nsort " in out


def test_nobody_called_across_a_broken_edge(tmp_path):
    lock = {"func": "pthread_mutex_lock", "dso": "/lib/libc.so.6"}
    for at, credited in [(None, True), (0, False), (1, True)]:
        more = {} if at is None else {"x_edges": [{"at": at, "broken": True}]}
        path, out = brief(tmp_path, [([lock, "worker"] + ENTRY, 1000, APP, more), (["worker"] + ENTRY, 3000)])
        row = next(r for r in ask("summary", path)["hot"] if r["name"] == "worker")
        assert row["weight"] == (4000000000 if credited else 3000000000)
        assert ("in pthread_mutex_lock" in out) == credited
        assert ("25 % of CPU has no own function on the unbroken part of its stack (libc.so.6: pthread_mutex_lock 25 %)" in out) != credited


def test_what_cannot_be_known_stands_alone(tmp_path):
    kernel = [{"func": f, "dso": "[kernel]"} for f in ("_raw_spin_unlock_irqrestore", "try_to_wake_up", "do_syscall_64", "entry_SYSCALL_64_after_hwframe")]
    _, out = brief(tmp_path, SOUND + [(kernel + ENTRY, 2000)])
    assert "INTERRUPTS OFF" in warned(out)
    assert "cannot know: where the 31 % of CPU went that is charged to _raw_spin_unlock_irqrestore, where interrupts are allowed again; settle it:" in unwrapped(out)


def test_names_of_scripts_are_short(tmp_path):
    _, out = brief(tmp_path, [([{"func": "JS:*row /srv/app/render.js:15:19", "dso": "[jit]"}] + ENTRY, 3000),
                              ([{"func": "JS:~ /srv/app/render.js:12:27", "dso": "[jit]"}] + ENTRY, 1000)])
    rows = [x.split() for x in out.splitlines()]
    assert ["row", "75", "%", "75", "%", "render.js:15"] in rows
    assert ["(anonymous", "render.js:12)", "interpreted", "25", "%", "25", "%", "render.js:12"] in rows


def test_colours_are_asked_for(tmp_path):
    path, plain = brief(tmp_path, [(["parse"], 3000)])
    out = run("summary", path, "--color", "always", code=0).out
    assert out.startswith("\x1b[1mCPU") and "\x1b[33m! NO CALLERS" in out and "\x1b" not in plain
    assert re.sub("\x1b\\[[0-9]*m", "", out) == plain


@pytest.mark.parametrize("budget", [None, 40, 100, 200, 400, 2000])
def test_a_brief_fits(budget):
    """Into its budget and 40 lines of 120 columns, whatever the profile; the answer and the next command always stand."""
    big = {}
    for path, _ in inputs():
        out = run("summary", path, *([] if budget is None else ["--budget", budget]), "--jobs", 1).out
        if not out:
            continue
        lines = out.splitlines()
        head = unwrapped("\n".join([x for x in lines if x.startswith("next: ")] or [""]))
        if too_wide(out) or not head or (budget is None and len(lines) > 40):
            big[path] = out
        if len(out.encode()) > 3 * (budget or 600) and (budget or 600) >= 200:
            big[path] = out
        if budget and budget < 600 and "not shown" not in out and out != run("summary", path, "--budget", 9999, "--jobs", 1).out:
            big[path] = out
    assert not big


def test_the_least_important_goes_first(tmp_path):
    path, whole = brief(tmp_path, SOUND + [([{"func": "sort", "dso": "/lib/libc.so.6"}], 1000)], "--budget", 2000)
    shown = [run("summary", path, "--budget", n, code=0).out for n in range(400, 20, -20)]
    for out in shown:
        assert out.splitlines()[0] == whole.splitlines()[0] and "next: spaa" in out
        assert out == whole or "(a larger --budget)" in out
    has = [[word in out for word in ("CALLERS UNRELIABLE", "own functions", "cannot know: parse")] for out in shown]
    assert all(warning >= table for warning, table, _ in has) and [True, True, True] in has and [False, False, False] in has

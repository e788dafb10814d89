"""Words of other tools: they give what our own words give, or one line that says what to type."""

import json
import os
import re

import pytest

from conftest import BIN, ROOT, run

PERF = os.path.join(ROOT, "tests/fixtures/perf_data/big.perf.data")
HEAP = os.path.join(ROOT, "tests/fixtures/pprof/heap.pb.gz")
TRACK = os.path.join(ROOT, "tests/fixtures/heaptrack/raw.heaptrack")
KEEP = "--keep-allocators"
EQUAL = [
    (["report", "-i", PERF, "--stdio"], ["top", PERF, "--sort", "total"]),
    (["report", "--stdio", "--input=" + PERF, "-n", "2"], ["top", PERF, "-n", "2", "--sort", "total"]),
    (["report", "-i", PERF, "--children", "--force"], ["top", PERF, "--sort", "total"]),
    (["report", "-i", PERF, "--no-children"], ["top", PERF, "--sort", "self"]),
    (["report", "-i", PERF, "--sort", "self"], ["top", PERF, "--sort", "self"]),
    (["report", "-i", PERF, "--sort", "overhead,comm,dso,sym"], ["top", PERF, "--by", "comm,dso,function", "--sort", "total", "--no-pool"]),
    (["report", "-i", PERF, "-s", "overhead"], ["top", PERF, "--by", "event", "--sort", "total"]),
    (["report", "-i", PERF, "--sort=overhead,sample"], ["top", PERF, "--by", "event", "--sort", "total"]),
    (["top", PERF, "--sort", "overhead"], ["top", PERF, "--by", "event"]),
    (["report", "-i", PERF, "--sort=pid"], ["top", PERF, "--by", "thread", "--sort", "total", "--no-pool"]),
    (["-top", "-hide=", HEAP], ["top", KEEP, HEAP]),
    (["-top", "-focus=", "-ignore=", HEAP], ["top", KEEP, HEAP]),
    (["report", "-i", PERF, "--sort=pid,tid,srcline"], ["top", PERF, "--by", "thread,line", "--sort", "total"]),
    (["report", "-i", PERF, "-g", "none", "--no-children"], ["top", PERF]),
    (["report", "-i", PERF, "--call-graph=none", "--no-children"], ["top", PERF]),
    (["report", "-i", PERF, "--tid", "11", "--percentage", "relative"], ["top", PERF, "--thread", "11", "--sort", "total"]),
    (["report", "-i", PERF, "--dsos", "prog", "--percentage=absolute"], ["top", PERF, "--rows", "(^|/)(prog)($|\\()", "--rows-of", "binary", "--sort", "total"]),
    (["top", PERF, "--tid", "11"], ["top", PERF, "--thread", "11"]),
    (["top", PERF, "--comms", "worker,main prog"], ["top", PERF, "--comm", "/^(worker|main prog)$/"]),
    (["top", PERF, "--dsos", "prog"], ["top", PERF, "--rows", "(^|/)(prog)($|\\()", "--rows-of", "binary"]),
    (["report", "--header-only", "-i", PERF], ["info", PERF]),
    (["-top", HEAP], ["top", HEAP, KEEP]),
    (["-top", HEAP, "--own", "main"], ["top", HEAP, "--own", "main"]),
    (["-top", HEAP, "--allocators", "main"], ["top", HEAP, "--allocators", "main"]),
    (["-inuse_space", "-top", HEAP], ["top", HEAP, KEEP, "--metric", "inuse_space"]),
    (["top", HEAP, "-alloc_space"], ["top", HEAP, KEEP, "--metric", "alloc_space"]),
    ([HEAP, "-top", "-cum", "-sample_index=alloc_space", "-nodecount=3"], ["top", HEAP, "--sort", "total", "--metric", "alloc_space", "-n", "3", KEEP]),
    (["-top", "-cum=false", HEAP], ["top", HEAP, KEEP]),
    (["-top", "-cum=0", "-lines=F", "-compact_labels=False", HEAP], ["top", HEAP, KEEP]),
    (["-top", "-cum", "-flat=false", HEAP], ["top", HEAP, "--sort", "total", KEEP]),
    (["-top", "-cum=T", "-inuse_objects=f", HEAP], ["top", HEAP, "--sort", "total", KEEP]),
    (["-tree=false", "-traces", HEAP], ["stacks", HEAP, KEEP]),
    (["-top", "-cumulative=true", "-relative_percentages=false", HEAP], ["top", HEAP, "--sort", "total", KEEP]),
    (["-tree", HEAP], ["tree", HEAP, KEEP]),
    ([HEAP, "--traces"], ["stacks", HEAP, KEEP]),
    (["top", HEAP, "-focus=main", "-lines"], ["top", HEAP, "--focus", "main", "--by", "line", KEEP]),
    (["heaptrack_print", "-f", TRACK], ["leaks", TRACK]),
    ([TRACK, "--print-leaks"], ["leaks", TRACK]),
    (["heaptrack_print", TRACK, "-a", "-n", "1"], ["leaks", TRACK, "--metric", "calls", "-n", "1"]),
    (["heaptrack_print", "-l", "1", TRACK], ["leaks", TRACK]),
    (["heaptrack_print", "-l1", "-a", "0", "-p", "0", "-T", "0", TRACK], ["leaks", TRACK]),
    (["heaptrack_print", "--print-leaks", "1", "--print-peaks=0", TRACK], ["leaks", TRACK]),
    (["heaptrack_print", "-l", "0", "-a", "1", TRACK], ["leaks", TRACK, "--metric", "calls"]),
    (["heaptrack_print", "-l", "0", TRACK], ["leaks", TRACK, "--metric", "peak"]),
    (["heaptrack_print", "-a", "0", "-p", "0", TRACK], ["leaks", TRACK, "--metric", "temporary"]),
    (["heaptrack_print", "-p0", "-T", "0", TRACK], ["leaks", TRACK, "--metric", "calls"]),
    (["heaptrack_print", "--print-allocators=0", TRACK], ["leaks", TRACK, "--metric", "peak"]),
    (["heaptrack_print", "-l", "0", "-a", "0", "-p", "0", TRACK], ["leaks", TRACK, "--metric", "temporary"]),
    (["heaptrack_print", "-a", "0", "-p", "0", "-l", "1", TRACK], ["leaks", TRACK]),
    (["heaptrack_print", "-m", "-t", TRACK], ["leaks", TRACK]),
    (["heaptrack_print", "-m", "1", "--shorten-templates=1", TRACK], ["leaks", TRACK]),
    (["heaptrack_print", "-m", "0", TRACK], ["leaks", TRACK, "--by", "stack"]),
    (["heaptrack_print", "--merge-backtraces=0", TRACK], ["leaks", TRACK, "--by", "stack"]),
    (["heaptrack_print", "-t0", TRACK], ["leaks", TRACK, "--names", "full"]),
    (["heaptrack_print", "-a", "1", "-l", "0", "-T", "0", TRACK], ["leaks", TRACK, "--metric", "calls"]),
]
for spelled, word in ("true", "1"), ("YES", "1"), ("on", "1"), ("False", "0"), ("no", "0"), ("off", "0"):
    EQUAL += [(["heaptrack_print", f, *([spelled] if f == "-l" else []), TRACK], ["heaptrack_print", "-l", word, TRACK])
              for f in ("-l", "-l" + spelled, "--print-leaks=" + spelled)]
    EQUAL += [(["heaptrack_print", "-m", spelled, "-p", spelled, TRACK], ["heaptrack_print", "-m", word, "-p", word, TRACK])]
SAID = [
    (["heaptrack_print", "-l", "0", "-p", "0", "-a", "0", "-T", "0", TRACK], "spaa summary FILE"),
    (["heaptrack_print", "-p", "no", "-a", "off", "-T", "false", TRACK], "every list was switched off"),
    (["heaptrack_print", "--print-leaks=maybe", TRACK], "one of: on, off, yes, no, 1, 0, true, false"),
    (["-top", BIN, HEAP], "leave it out: binaries are found by build-id and path"),
    (["top", BIN, HEAP], "is a binary, and files here are profiles"),
    ([BIN, HEAP], "spaa symbols add BINARY"),
    (["top", PERF, "--thread", "a", "--thread", "b"], "--comm '/^(a|b)$/' several names"),
    (["top", PERF, "--comm", "a", "--comm", "b"], "--comm was given 2 times"),
    (["top", PERF, "--tid", "11", "--thread", "a"], "--thread 1,2"),
    (["record", "-g", "ls"], "perf record -g -- COMMAND"),
    (["stat"], "perf stat"),
    (["mem"], "perf mem record"),
    (["script", "-i", PERF], "spaa convert perf.data --to perf-script"),
    (["list"], "spaa function FILE"),
    (["-list=main", HEAP], "spaa function FILE"),
    ([HEAP, "-svg"], "spaa flamegraph FILE"),
    ([HEAP, "-base", "x"], "spaa diff BASE NEW"),
    ([HEAP, "-cum"], "spaa top FILE --sort total"),
    (["report", "-i", PERF, "-s", "comm,weight"], "a sort key without an equal here: weight"),
    (["report", "-i", PERF, "--sort", "comm,socket"], "a sort key without an equal here: socket"),
    (["report", "-g", "caller", PERF], "from the root, as caller: spaa tree FILE;"),
    (["report", "--call-graph=caller", PERF], "from the root, as caller: spaa tree FILE;"),
    (["report", "-G", PERF], "is from the root: spaa tree FILE; from the leaves: spaa tree FILE --inverted"),
    (["tree", "-G", PERF], "is from the root: spaa tree FILE;"),
    (["top", "--inverted", PERF], "from the leaves: spaa tree FILE --inverted"),
    (["report", "-i", PERF, "--tid", "11", "--percentage", "absolute"], "--by comm,thread,function"),
    (["report", "-i", PERF, "--dsos", "prog", "--percentage", "relative"], "filters of stacks keep"),
    (["report", "-i", PERF, "-F", "overhead"], "columns are fixed"),
    (["report", "-i", PERF, "-T"], "--by thread"),
    (["report", "-i", PERF, "-p", "main"], "spaa function FILE"),
    (["heaptrack_print", "-F", "out", TRACK], "--to folded"),
    (["heaptrack_print", "-d", "OLD", TRACK], "spaa diff OLD NEW"),
    (["heaptrack_print", "-s", "3", TRACK], "--by stack"),
    (["heaptrack_print", "-a", "1", "-l", "1", TRACK], "spaa leaks FILE --metric calls; spaa leaks FILE\n"),
    (["heaptrack_print", "-T", "--print-peaks", TRACK], "spaa leaks FILE --metric peak; spaa leaks FILE --metric temporary\n"),
    ([TRACK, "-l", "-p", "-a", "-T"], "spaa leaks FILE --metric peak; spaa leaks FILE --metric calls; spaa leaks FILE --metric temporary; spaa leaks FILE\n"),
    (["report", "-i", PERF, "--percentage", "foo"], "one of: absolute, relative"),
    (["report", "-i", PERF, "--percentage=rel"], "one of: absolute, relative"),
    (["-top", "-relative_percentages", HEAP], "of it filters keep"),
    (["report", "-i", PERF, "--dso", "prog", "--percentage", "relative"], "filters of stacks keep"),
    (["report", "-i", PERF, "-d", "prog", "-S", "main"], "--focus REGEX"),
    (["report", "-i", PERF, "--dsos", "prog", "--sort", "comm"], "--focus REGEX"),
    (["report", "-i", PERF, "-S", "main", "--sort", "dso"], "--focus REGEX"),
    (["report", "-i", PERF, "--sort", "overhead,comm,dso,sym", "-S", "main"], "--focus REGEX"),
    (["-top", "-cum=maybe", HEAP], "one of: true, false"),
    (["-top", "-sample_index=1", HEAP], "-sample_index=NAME, or --metric NAME, of those that spaa info FILE lists"),
    ([HEAP, "-top", "-sample_index", "0"], "-sample_index=NAME, or --metric NAME, of those that spaa info FILE lists"),
] + [
    (["-top", word, HEAP], said)
    for word, said in {
        "-nodefraction=0.1": "--min-percent P",
        "-edgefraction=0.1": "--min-percent P",
        "-mean": "--with",
        "-normalize": "spaa diff BASE NEW",
        "-show=main": "--rows REGEX",
        "-tagfocus=a": "--label KEY~REGEX",
        "-files": "--by line",
        "-unit=MB": "--json",
        "-prune_from=main": "spaa function FILE",
        "-disasm=main": "spaa annotate FILE FUNCTION --asm",
        "-weblist=main": "spaa annotate FILE FUNCTION --asm",
        "-web": "spaa flamegraph FILE",
        "-callgrind": "no callgrind is written",
        "-output=x": "spaa flamegraph FILE --output",
        "-source_path=x": "spaa annotate FILE --source-path",
    }.items()
]


@pytest.mark.parametrize("typed,ours", EQUAL, ids=lambda v: " ".join(v)[:40])
def test_they_are_what_ours_are(typed, ours):
    a, b = run(*typed), run(*ours)
    assert (a.code, a.out) == (b.code, b.out) and b.out


@pytest.mark.parametrize("typed,said", SAID, ids=lambda v: v if isinstance(v, str) else "")
def test_what_has_no_equal_is_translated(typed, said):
    a = run(*typed, code=2)
    assert said in a.err and a.out == "" and len(a.err.splitlines()) == 2


PPROF_WORDS = """callgrind comments disasm dot eog evince gif gv kcachegrind list pdf peek png proto ps raw svg tags text top
topproto traces tree web weblist call_tree compact_labels divide_by drop_negative edgefraction focus hide ignore intel_syntax
mean nodecount nodefraction noinlines normalize output prune_from relative_percentages sample_index show show_from
showcolumns source_path tagfocus taghide tagignore tagleaf tagroot tagshow trim trim_path unit functions filefunctions
files lines addresses cum flat seconds buildid add_comment diff_base base symbolize http no_browser tools
inuse_space inuse_objects alloc_space alloc_objects total_delay contentions mean_delay""".split()


@pytest.mark.parametrize("word", PPROF_WORDS)
def test_no_word_of_pprof_falls_apart_into_letters(word):
    """-nodefraction is no -n of "odefraction"."""
    a = run("-" + word + "=1", HEAP, code=None)
    assert "has no option -" not in a.err or len(a.err.splitlines()) == 2
    assert "`spaa help" not in a.err and "takes a number" not in a.err and "no such file" not in a.err.lower()


@pytest.mark.parametrize("word", ["focus", "ignore", "hide"])
def test_an_expression_of_pprof_that_fits_no_function(word):
    """pprof matches files and binaries, too."""
    said = "pprof's -%s also matches source files and binaries" % word
    for value in ("heap\\.go", "nothing"):
        a = run("-top", "-%s=%s" % (word, value), HEAP, code=1 if word == "focus" else 0)
        assert said in a.err and "--dso REGEX" in a.err
        assert said not in run("top", "--" + word, value, HEAP, code=1 if word == "focus" else 0).err
    assert "pprof's" not in run("-top", "-%s=main" % word, HEAP, code=None).err


def test_names_as_perf_has_them(tmp_path):
    """[kernel.kallsyms] is [kernel] here; parts that compilers set aside are the function."""
    assert json.loads(run("top", PERF, "--dsos", "[kernel.kallsyms]", "--json").out)["rows"][0]["dso"] == "[kernel]"
    folded = tmp_path / "a.folded"
    folded.write_text("main;finish_task_switch 3\nmain;other 1\nmain;finish 1\n")
    for typed in ("finish_task_switch.isra.0", "finish_task_switch.constprop.1.cold", "finish_task_switch"):
        rows = json.loads(run("top", str(folded), "-S", typed, "--json").out)["rows"]
        assert [r["function"] for r in rows] == ["finish_task_switch"]


def test_symbols_are_no_binaries(tmp_path):
    """A function and a binary of one name."""
    path = tmp_path / "a.txt"
    path.write_text("app 1/1 [000] 1.0: 10 cycles:\n\t10 f (/bin/prog)\n\t20 prog (/lib/other)\n\n"
                    "app 1/1 [000] 1.1: 10 cycles:\n\t20 prog (/lib/other)\n\n")

    def functions(*args):
        return [r["function"] for r in json.loads(run("report", "-i", str(path), *args, "--json", code=0).out)["rows"]]
    assert functions("-S", "prog") == functions("--symbols", "prog") == functions("--symbol-filter", "prog") == ["prog"]
    assert functions("-d", "prog") == functions("--dsos", "prog") == ["f"]
    assert functions("--rows", "prog") == ["prog", "f"] and functions("--rows", "prog", "--rows-of", "name") == ["prog"]
    assert "no value \"file\"" in run("top", str(path), "--rows", "x", "--rows-of", "file", code=2).err
    assert "--rows REGEX --rows-of name" in run("top", str(path), "--rows-of", "name", code=2).err


@pytest.fixture
def processes(tmp_path):
    path = tmp_path / "processes.txt"
    path.write_text("".join("app %d/%d [000] %d.0: 10 cycles:\n\t%x f%d (/app)\n\n" % (pid, tid, tid, tid, tid)
                            for pid, tid in ((1, 1), (1, 11), (2, 2), (2, 12), (10, 10), (112, 112))))
    return str(path)


@pytest.mark.parametrize("option,value,kept", [
    ("--tid", "1,12", {"f1", "f12"}), ("--tid", "11,99", {"f11"}), ("--tid", "2", {"f2"}), ("--thread", "1, 10,", {"f1", "f10"}),
    ("--pid", "1,10", {"f1", "f11", "f10"}), ("--pid", "2", {"f2", "f12"}), ("--pid", "99,112", {"f112"})])
def test_several_processes_or_threads(processes, option, value, kept):
    rows = json.loads(run("top", processes, option, value, "--json").out)["rows"]
    assert {r["function"] for r in rows} == kept
    assert {r["function"] for r in json.loads(run("report", "-i", processes, option, value, "--json").out)["rows"]} == kept


def test_threads_whose_names_differ_in_digits_have_a_row_each_as_in_perf():
    text = "".join("wrk-%d %d [000] %d.5: 100 cycles: \n\t 7f00 f (/bin/a)\n\n" % (i % 3, 100 + i % 3, i) for i in range(12))
    for sort, names in (("comm", ["wrk-0", "wrk-1", "wrk-2"]), ("tid", ["wrk-%d (tid 10%d)" % (i, i) for i in range(3)])):
        rows = json.loads(run("report", "-i", "-", "--sort", sort, "--json", stdin=text, code=0).out)["rows"]
        assert sorted(r["name"] for r in rows) == names


def test_numbers_that_are_given_again_add_up(processes):
    for option in "--thread", "--tid", "--pid":
        one = run("top", processes, option, "1,10", "--json").out
        assert run("top", processes, option, "1", option, "10", "--json").out == one
    assert run("top", processes, "--pid=1", "--pid=1", "--json").out == run("top", processes, "--pid", "1", "--json").out
    a = run("top", processes, "--thread", "1", "--tid=12", "--pid", "1", "--pid", "2", "--json", code=0)
    assert {r["function"] for r in json.loads(a.out)["rows"]} == {"f1", "f12"}


def test_a_list_that_nothing_fits(processes, tmp_path):
    for option, value in ("--tid", "3,4"), ("--pid", "3,4"), ("--pid", "1,x"), ("--tid", "1,x"), ("--pid", ","):
        assert value in run("top", processes, option, value, code=1).err
    path = tmp_path / "named.txt"
    path.write_text("1,2 7/7 [000] 1.0: 10 cycles:\n\t1 named (/app)\n\napp 1/1 [000] 1.0: 10 cycles:\n\t2 f (/app)\n\n")
    assert [r["function"] for r in json.loads(run("top", str(path), "--thread", "1,2", "--json").out)["rows"]] == ["named"]


def test_a_setting_does_not_contradict_what_a_word_implies(tmp_path):
    (tmp_path / ".spaa").write_text("allocators = main\n")
    a = run("-top", HEAP, cwd=tmp_path, env={"SPAA_NO_CONFIG": None, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""})
    assert a.code == 0 and a.out == run("-top", HEAP).out
    assert "--allocators main" in run("top", HEAP, cwd=tmp_path, env={"SPAA_NO_CONFIG": None, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}).out


def test_many_keys():
    typed = run("report", "-i", PERF, "--sort", ",".join(["ip"] * 200))
    assert typed.out == run("top", PERF, "--by", "address", "--sort", "total").out


def test_ours_come_first():
    """-n is ours, and a file of a name is a file."""
    assert run("top", PERF, "--sort", "self").out == run("top", PERF, "--sort", "flat").out
    assert "no value" in run("top", PERF, "--sort", "nothing", code=2).err


def test_every_word_is_one_that_its_command_can_use():
    table = open(os.path.join(ROOT, "cli/words.def"), encoding="utf-8").read()
    names = re.findall(r'^WORD_(\w+)\("([^"]+)", ', table, re.M)
    names = [n for n in names if not n[0].startswith("COMMAND")]
    assert len(names) > 100 and len(names) == len(set(names))
    options = set(re.findall(r'SPAA_OPT\(\w+, "([^"]+)"', open(os.path.join(ROOT, "src/ask/options.def"), encoding="utf-8").read()))
    for ours in re.findall(r'^WORD_\w+\("[^"]+", (?:FLAG|UNLESS|VALUE|LIST|BY|RANGE), "([^"]+)"', table, re.M):
        assert ours in options, ours


@pytest.mark.parametrize("word,ours", [("report", "top"), ("peek", "function"), ("heaptrack_print", "leaks")])
def test_help_of_a_word_names_our_command(word, ours):
    a = run("help", word, code=2)
    assert f"{word} is another tool's word for {ours}" in a.err and f"spaa help {ours}" in a.err and a.out == ""


def test_help_of_a_word_without_an_equal_says_what_to_type():
    assert "script is no command here" in run("help", "script", code=2).err
    assert "there is no command nosuch" in run("help", "nosuch", code=2).err


def test_a_text_that_begins_as_programs_of_windows_do_is_none(tmp_path):
    for name in ("a.folded", "b.folded"):
        (tmp_path / name).write_text("MZ_main;work 3\n")
    assert "whole 6" in run("top", tmp_path / "a.folded", tmp_path / "b.folded", code=0).out

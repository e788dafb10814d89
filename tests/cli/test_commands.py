"""The command line: commands, options, exit codes, what stands where (cli contract)."""

import gzip
import json
import os
import re
import shutil
import subprocess

import pytest

import gen_spt
import pe_files
import profiles
from conftest import BIN, ROOT, ask, at_terminal, parse, run

COMMANDS = ["convert", "validate", "info", "summary", "top", "tree", "diff", "function", "annotate", "stacks", "timeline", "whatif",
            "flamegraph", "merge", "symbolize", "symbols", "query", "upload", "view", "dump", "spt", "waits", "sched", "leaks", "mcp",
            "formats", "skill", "demo", "config", "help"]
VIEWS = ["info", "summary", "top", "tree"]
ANSWERS = VIEWS + ["validate", "formats"]


@pytest.fixture
def spaa(tmp_path):
    path = tmp_path / "p.spaa"
    path.write_text(profiles.text([(["read", "main"], 30, {"pid": 1, "tid": 2, "comm": "app"}),
                                   (["write", "main"], 70, {"pid": 1, "tid": 3, "comm": "worker"})]))
    return path


def error(*args, code, **more):
    """The one complaint of a failed command; it stands on stderr, and with --json also on stdout."""
    answer = run(*args, code=code, **more)
    assert answer.out == "" and answer.err.startswith("spaa: error: ")
    assert len(re.findall(r"\[SPAA-[EF]\d+\]$", answer.err, re.M)) == 1, answer.err
    spoken = run(*args, "--json", code=code, **more)
    said = parse(spoken.out)
    assert set(said) == {"schema", "error"} and said["schema"] == "spaa.error/1"
    assert set(said["error"]) == {"code", "message", "file", "offset", "line", "hint"}
    if "--json" not in answer.err and "--json" not in spoken.err:
        assert said["error"]["message"] in spoken.err and spoken.err == answer.err
        assert said["error"]["hint"] in spoken.err
    return answer.err


def test_version():
    assert re.fullmatch(r"spaa \d+\.\d+\.\d+\n", run("--version", code=0).out)


def test_help_names_every_command():
    out = run("help", code=0).out
    assert run(code=0).out == run("--help", code=0).out == run("-h", code=0).out == out
    assert sorted(re.findall(r"^  (\w+) +\S", out, re.M)) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
    answer = run("help", command, code=0)
    assert answer.out.startswith("spaa %s — " % command) and answer.err == ""
    assert "examples" in answer.out and "usage: spaa %s" % command in answer.out
    assert run(command, "--help", code=0).out == run(command, "-h", code=0).out == answer.out
    assert max(map(len, answer.out.splitlines())) <= 120 or "examples" in answer.out
    assert len(answer.out.encode()) <= 2000  # what an agent reads before its first question


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_explains_its_own_options_and_names_the_rest(command):
    short = run("help", command, code=0).out
    whole = run("help", command, "--all", code=0).out
    assert whole.startswith("spaa %s — " % command) and whole.split("\nexamples\n")[1] == short.split("\nexamples\n")[1]
    assert max(map(len, whole.splitlines())) <= 160
    own, _, shared = short.partition("\nshared, explained by spaa help options\n")
    for letter, name in re.findall(r"^  (?:-(\w), |    )--([\w-]+)", whole.partition("\noptions of one format\n")[0], re.M):
        explained = re.search(r"^  (?:-%s|--%s)(?:  | \S)" % (letter or "-", name), own, re.M)
        named = re.search(r" (?:-%s|--%s)(?= |$)" % (letter or "-", name), shared.partition("\nexamples\n")[0], re.M)
        assert bool(explained) != bool(named), (name, short)
    assert "--" + name in whole


def test_help_of_the_options_that_commands_share():
    out = run("help", "options", code=0).out
    explained = re.findall(r"^  (?:-\w, |    )--([\w-]+)", out, re.M)
    assert len(explained) == len(set(explained))
    for command in COMMANDS:
        shared = run("help", command).out.partition("\nshared, explained by spaa help options\n")[2].partition("\nexamples\n")[0]
        for name in re.findall(r" --([\w-]+)", shared):
            assert name in explained, (command, name)
        for letter in re.findall(r" -(\w)\b", shared):
            assert re.search(r"^  -%s, --" % letter, out, re.M), (command, letter)


def table_calls(path, macro):
    """The arguments of each line of one of the tables of the command line."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", path), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for start in re.finditer(macro + r"\(", text):
        token = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'.\'|[^,()"]+)\s*([,)]?)')
        found, at = [], start.end()
        while True:
            m = token.match(text, at)
            found.append(m[1].strip())
            at = m.end()
            if m[2] == ")":
                break
        yield found


def test_help_lists_every_option():
    """Each option of the table in the help of each command that takes it, and of no other; formats' own ones too."""
    options = [(a[1].strip('"'), set(a[4].split(" | "))) for a in table_calls("src/ask/options.def", "SPAA_OPT")]
    assert len(options) > 60
    formats = json.loads(run("formats", "--json", code=0).out)["formats"]
    for name, _, groups, *_ in table_calls("src/run/commands.def", "SPAA_(?:COMMAND|PROGRAM)"):
        groups = set(groups.split(" | ")) | {"G_ALL"}
        out, _, own = run("help", name, "--all", code=0).out.partition("\noptions of one format\n")
        listed = re.findall(r"^  (?:-\w, |    )--([\w-]+)", out, re.M)
        assert sorted(listed) == sorted(o for o, g in options if g & groups), name
        when = {"read"} if "G_READ" in groups else set()
        when |= {"write"} if groups & {"G_CONVERT", "G_MERGE", "G_UPLOAD", "G_SYMBOLIZE"} else set()
        taken = [(o["name"], o["help"]) for f in formats for o in f["options"] if any(o[w] for w in when)]
        assert re.findall(r"^      --([\w-]+)", own, re.M) == [o for o, _ in dict.fromkeys(taken)], name


@pytest.fixture
def example_files(tmp_path):
    """Every file that the examples name."""
    recorded = os.path.join(os.path.dirname(os.path.dirname(__file__)), "fixtures", "perf_data")
    found = sorted(f for f in os.listdir(recorded) if f.endswith(".data")) if os.path.isdir(recorded) else []
    small = "main;parse;malloc 3\nmain;run;free 4\n"
    if found:
        shutil.copy(os.path.join(recorded, found[0]), tmp_path / "perf.data")
    else:
        (tmp_path / "perf.data").write_text(small)
    (tmp_path / "stacks.folded").write_text(small)
    for name in ("heap.spaa", "later.spaa"):
        shutil.copy(os.path.join(os.path.dirname(recorded), "heaptrack", "interpreted.heaptrack"), tmp_path / name)
    for name in ("host-1.spaa", "host-2.spaa", "profiles/a.spaa"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(profiles.text([(["f", "main"], 3)]))
    shutil.copy(tmp_path / "stacks.folded", tmp_path / "cpu.perf.data")
    report = os.path.join(os.path.dirname(recorded), "spindump", "heavy.spindump.txt")
    shutil.copy(report, tmp_path / "report.spindump.txt")
    switches = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schedule", "busy", "busy.script.zst")
    shutil.copy(switches, tmp_path / "switch.data")
    shutil.copy(os.path.join(os.path.dirname(switches), "..", "shop", "shop.spaa.zst"), tmp_path / "waits.spaa")
    shutil.copy(os.path.join(os.path.dirname(recorded), "codeguru", "python-report-1.codeguru.json"), tmp_path / "profile.codeguru.json")
    shutil.copytree(os.path.join(ROOT, "demo"), tmp_path / "demo")
    (tmp_path / "cache").mkdir()
    (tmp_path / "requests.jsonl").write_text('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    (tmp_path / "paths.txt").write_text("host-1.spaa\nhost-2.spaa\n")
    (tmp_path / "profile.spaa").write_text(profiles.text([(["f", "main"], 3, {"pid": 1, "tid": 1, "comm": "app"})]))
    trace = gen_spt.random_file(1)
    (tmp_path / "trace.spt").write_bytes(trace.bytes())
    (tmp_path / "app.exe").write_bytes(pe_files.image(trace.programs[0].guid, trace.programs[0].age))
    for name, n in (("base", 3000), ("new", 3100), *((a + b, 3000) for a in "ab" for b in "123")):
        (tmp_path / (name + ".spaa")).write_text(profiles.text([
            (["f", "main"], {"period": n, "samples": n}, {"pid": 1, "tid": 1, "comm": "reader"}),
            (["g", "main"], {"period": 3000, "samples": 3000}, {"pid": 1, "tid": 2, "comm": "writer"})]))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_runs(command, example_files):
    text = run("help", command).out.split("\nexamples\n")[1]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert lines
    for line in lines:
        before = set(os.listdir(example_files))
        assert line.startswith("spaa ")
        p = subprocess.run(["sh", "-c", '"$SPAA" ' + line[5:]], cwd=example_files,
                           env={**os.environ, "SPAA": BIN, "XDG_CACHE_HOME": str(example_files / "cache")},
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        err = p.stderr.decode()
        assert p.returncode == 0 and "Sanitizer" not in err and "runtime error" not in err, (line, err)
        named = re.search(r"(?:-o|--install) (\S+)", line)
        if named and named.group(1) != "-":
            assert os.path.getsize(example_files / named.group(1)) > 0
        elif command not in ("flamegraph",):
            assert p.stdout and set(os.listdir(example_files)) == before


# Words that do not exist

@pytest.mark.parametrize("args, near", [
    (["tpo"], "did you mean top?"), (["flamgraph"], "did you mean flamegraph?"), (["sumary"], "summary"),
    (["help", "tre"], "did you mean tree?"), (["formats", "fold"], "folded"),
    (["top", "FILE", "--evnt", "x"], "event"), (["top", "FILE", "--by", "funktion"], "did you mean function?"),
    (["top", "FILE", "--by", "thraed"], "did you mean thread?"), (["top", "FILE", "--sort", "flt"], "self"),
    (["top", "FILE", "--event", "cycle"], "cycles"), (["top", "FILE", "--metric", "perid"], "period"),
    (["top", "FILE", "--view", "lattency"], "latency"), (["top", "FILE", "--from", "spa"], "did you mean spaa"),
    (["validate", "FILE", "--from", "spa"], "did you mean spaa"),
    (["convert", "FILE", "--to", "floded", "-o", "-"], "did you mean folded?"),
    (["convert", "FILE", "--frames", "adress", "--to", "spaa"], "did you mean address?"),
    (["convert", "FILE", "--group-by", "pid,tdi", "--to", "spaa"], "tid"),
    (["convert", "FILE", "--frame-order", "leaf_root", "--to", "spaa"], "leaf_to_root"),
    (["tree", "FILE", "--inverte"], "inverted"), (["top", "FILE", "--colour", "never"], "color"),
    (["top", "FILE", "--color", "alway"], "always"), (["top", "FILE", "--format", "jsn"], "json"),
], ids=lambda x: "_".join(x) if isinstance(x, list) else None)
def test_did_you_mean(args, near, spaa):
    assert near in error(*[spaa if a == "FILE" else a for a in args], code=2)


def test_unknown_names_of_the_profile_answer_no_with_the_nearest(spaa):
    assert "did you mean read?" in error("top", spaa, "--root-at", "raed", code=1)
    assert "app" in error("tree", spaa, "--thread", "ap", code=1) and "worker" in error("top", spaa, "--comm", "x", code=1)
    assert "tid 2" in error("top", spaa, "--pid", 77, code=1)
    assert "--focus nothing" in error("top", spaa, "--focus", "nothing", code=1)


@pytest.mark.parametrize("args", [
    ["top", "FILE", "--nope"], ["top", "FILE", "-z"], ["top", "FILE", "-n", "x"], ["top", "FILE", "-n", "-1"],
    ["top", "FILE", "-n"], ["top", "FILE", "--by"], ["top", "FILE", "--user=1"], ["tree", "FILE", "--depth", "0"],
    ["tree", "FILE", "--depth", "9x"], ["tree", "FILE", "--min-percent", "101"], ["tree", "FILE", "--min-percent", "x"],
    ["tree", "FILE", "--min-percent", "nan"], ["top", "FILE", "-j", "0"], ["top", "FILE", "--focus", "("],
    ["convert", "FILE"], ["convert", "FILE", "FILE", "-o", "x.spaa"], ["convert", "-o", "x.spaa"],
    ["convert", "FILE", "-o", "x.unknown"], ["convert", "FILE", "-o", "-"], ["convert", "FILE", "--to", "perf_data"],
    ["top"], ["tree"], ["validate"], ["help", "nope"], ["formats", "nope"], ["--json"], ["nofile.or.command"],
    ["top", "FILE", "--tid"], ["flamegraph", "FILE", "--width", "1"], ["flamegraph", "FILE", "--min-width", "nan"],
], ids=" ".join)
def test_bad_usage_is_2_and_writes_nothing(args, spaa, tmp_path):
    answer = run(*[spaa if a == "FILE" else a for a in args], code=2, cwd=tmp_path)
    assert answer.out == "" or args == ["--json"]
    assert answer.err.startswith("spaa: error: ")
    assert os.listdir(tmp_path) == ["p.spaa"]


def test_options_in_every_spelling(spaa):
    expected = ask("top", spaa, "--limit", 1, "--event", "cycles")
    for options in (["-n1", "-ecycles"], ["-n", "1", "-e", "cycles"], ["--limit=1", "--event=cycles"]):
        assert ask("top", *options, spaa) == expected
    assert parse(run("top", "--limit", 1, "--event", "cycles", "--json", "--", spaa, code=0).out) == expected
    assert parse(run("top", spaa, "-qn", 1, "--format", "json", "-ecycles").out) == expected


# Inputs

def test_a_file_alone_is_its_summary(spaa):
    assert run(spaa, code=0).out == run("summary", spaa).out != ""


@pytest.mark.parametrize("command", VIEWS + ["flamegraph"])
def test_perf_data_is_the_default(command, tmp_path, folded):
    shutil.copy(folded, tmp_path / "perf.data")
    default = run(command, cwd=tmp_path, code=0)
    assert default.raw == run(command, "perf.data", cwd=tmp_path).raw
    assert os.path.exists(tmp_path / "perf.svg") == (command == "flamegraph")


@pytest.mark.parametrize("command", VIEWS)
def test_standard_input(command, folded):
    data = folded.read_bytes()
    piped = ask(command, "-", stdin=data)
    assert piped.pop("next", None) or command in ("info", "tree")
    plain = ask(command, folded)
    plain.pop("next", None)
    assert piped == plain
    assert run("convert", "-", "--to", "folded", "-o", "-", stdin=data).out == run(
        "convert", folded, "--to", "folded", "-o", "-").out


def zstd(data):
    if not shutil.which("zstd"):
        pytest.skip("no zstd tool")
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


@pytest.mark.parametrize("pack", [gzip.compress, zstd, lambda d: gzip.compress(d[:9]) + gzip.compress(d[9:])])
def test_compressed_input_by_content(pack, spaa, tmp_path):
    packed = tmp_path / "no-extension"
    packed.write_bytes(pack(spaa.read_bytes()))
    plain = ask("top", spaa)
    for answer in (ask("top", packed), ask("top", "-", stdin=packed.read_bytes())):
        assert {**answer, "next": 0} == {**plain, "next": 0}
    run("validate", packed, code=0)


@pytest.mark.parametrize("ending, unpack", [(".gz", ["gzip", "-dc"]), (".zst", ["zstd", "-dcq"])])
def test_output_is_compressed_by_its_extension(ending, unpack, spaa, tmp_path):
    if not shutil.which(unpack[0]):
        pytest.skip("no " + unpack[0])
    run("convert", spaa, "-o", "out.spaa" + ending, cwd=tmp_path, code=0)
    data = subprocess.run([*unpack, "out.spaa" + ending], cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout
    assert data == run("convert", spaa, "--to", "spaa", "-o", "-").raw
    run("convert", spaa, "-o", "out.folded" + ending, cwd=tmp_path, code=0)
    assert ask("top", tmp_path / ("out.folded" + ending))["whole"] == 100


def test_an_output_is_replaced_as_a_whole_and_may_be_the_input(spaa, tmp_path):
    expected = run("convert", spaa, "--to", "spaa", "-o", "-").raw
    run("convert", spaa, "-o", spaa, code=0)
    assert spaa.read_bytes() == expected and os.listdir(tmp_path) == ["p.spaa"]


def test_several_files_by_source(spaa, folded):
    names = {r["name"]: r["self"] for r in ask("top", spaa, spaa, "--by", "source")["rows"]}
    assert names == {str(spaa): 200}
    other = spaa.parent / "q.spaa"
    shutil.copy(spaa, other)
    names = {r["name"]: r["self"] for r in ask("top", spaa, other, "--by", "source")["rows"]}
    assert names == {str(spaa): 100, str(other): 100}


# Where things go

def test_data_on_stdout_words_on_stderr(spaa, tmp_path):
    bad = tmp_path / "bad.spaa"
    bad.write_text(spaa.read_text() + "{broken\n")
    answer = run("top", bad, code=0)
    number = bad.read_text().count("\n")
    assert "not JSON" not in answer.out and answer.err.startswith("spaa: ") and "line %d" % number in answer.err
    assert "data-loss" not in run("top", bad, "-q").err and run("top", bad, "--quiet").out == answer.out
    assert run("top", bad, "--strict", code=3).out in ("", answer.out)
    told = ask("top", bad)["diagnostics"]
    assert {(d["line"], d["file"]) for d in told} == {(number, str(bad))}
    assert {frozenset(d) for d in told} == {frozenset(["code", "severity", "file", "line", "offset", "path", "message",
                                                       "hint"])}


def test_no_colour_where_it_is_not_wanted(spaa):
    for args, env in (([], {}), (["--color", "never"], {}), ([], {"NO_COLOR": "1"})):
        answer = run("summary", spaa, *args, env=env)
        assert "\x1b" not in answer.out and "\x1b" not in answer.err
    assert "\x1b[1m" in run("summary", spaa, "--color", "always").out


@pytest.mark.parametrize("term,colour", [("xterm", True), ("dumb", False), ("", False), (None, False)])
def test_colour_is_for_terminals_that_show_it(spaa, term, colour):
    env = {k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR")} | ({} if term is None else {"TERM": term})
    out, code = at_terminal("summary", spaa, stdin=False, env=env)
    assert code == 0 and out and ("\x1b[" in out) == colour


@pytest.mark.parametrize("value,colour", [("", True), ("1", False), ("0", False)])
def test_an_empty_no_color_takes_no_colours_away(spaa, value, colour):
    out, code = at_terminal("summary", spaa, stdin=False, env={**os.environ, "TERM": "xterm", "NO_COLOR": value})
    assert code == 0 and ("\x1b[" in out) == colour


@pytest.mark.parametrize("typed", [["nosuch"], ["top", "--nosuch"], ["--nosuch"], ["list"], ["record"], ["top", "x", "--by=nosuch"],
                                   ["diff", "a", "--", "b", "--nosuch"], ["report", "--percentage", "foo"]], ids=" ".join)
def test_errors_before_the_options_obey_them(typed):
    env = {**os.environ, "TERM": "xterm", "SPAA_NO_CONFIG": "1", "NO_COLOR": ""}
    for never in ["--color", "never"], ["--color=never"]:
        for args in typed + never, typed[:1] + never + typed[1:]:
            out, code = at_terminal(*args, env=env)
            assert code and "error" in out and "\x1b" not in out, args
    assert "\x1b[" in at_terminal(*typed, env=env)[0]
    assert "\x1b[" in at_terminal(*typed, "--color", "never", "--color=auto", env=env)[0]
    assert "\x1b" not in at_terminal(*typed, env={**env, "NO_COLOR": "1"})[0]


@pytest.mark.parametrize("command", ["top", "tree", "formats"])
def test_a_closed_pipe_ends_quietly(command, tmp_path):
    path = tmp_path / "wide.folded"
    path.write_text("".join("main;f%05d;%s 1\n" % (i, "x" * 200) for i in range(3000)))
    p = subprocess.Popen([BIN, command, *([] if command == "formats" else [path, "-n", "0"])],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.read(1)
    p.stdout.close()
    assert p.stderr.read() == b"" and p.wait(60) == 0


@pytest.mark.parametrize("command", ANSWERS)
def test_stdout_that_is_full(command, spaa):
    with open("/dev/full", "wb") as full:
        p = subprocess.run([BIN, command, *([] if command == "formats" else [spaa])], stdout=full,
                           stderr=subprocess.PIPE, timeout=60)
    assert p.returncode == 3 and b"No space left" in p.stderr


def test_the_same_bytes_every_time(spaa):
    for args in (["top", spaa, "--json"], ["tree", spaa], ["convert", spaa, "--to", "folded", "-o", "-"],
                 ["flamegraph", spaa, "-o", "-"]):
        assert run(*args).raw == run(*args).raw == run(*args, "-j", 1).raw == run(*args, "-j", 2).raw


def test_flamegraph_goes_where_it_is_told(spaa, tmp_path):
    run("flamegraph", "p.spaa", cwd=tmp_path, code=0)
    assert (tmp_path / "p.svg").read_bytes().startswith(b"<?xml")
    drawn = run("flamegraph", spaa, "-o", "-", "--title", "A < B & C", code=0)
    assert "A &lt; B &amp; C" in drawn.out and drawn.err == ""
    run("flamegraph", spaa, "-o", "x.svg", "--inverted", "--width", 640, cwd=tmp_path, code=0)
    assert sorted(os.listdir(tmp_path)) == ["p.spaa", "p.svg", "x.svg"]


def test_next_commands_run(spaa):
    for args in (["summary", spaa], ["top", spaa, "--focus", "it's|main"]):
        for line in json.loads(run(*args, "--json").out)["next"]:
            p = subprocess.run(["sh", "-c", '"$SPAA" ' + line[5:]], cwd=spaa.parent, env={**os.environ, "SPAA": BIN},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            assert p.returncode == 0, (line, p.stderr)

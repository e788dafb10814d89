"""Completion: what `spaa __complete` says, and what bash, zsh and fish make of it when somebody types a tab."""

import errno
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess

import pytest
import profiles
from conftest import BIN, ROOT, run

SCRIPTS = os.path.join(ROOT, "completions")
DEMO = os.path.join(ROOT, "demo", "orders-1.perf.data.zst")
UNHURRIED = {"SPAA_COMPLETE_MS": "60000"}  # on a busy machine, too
SYMBOLS = ("--symfs", os.path.join(ROOT, "demo", "symfs"), "--kallsyms", os.path.join(ROOT, "demo", "kallsyms"))


def complete(*words, at=None, **more):
    """What else to offer, and {candidate: what it is} for the last word, or for word `at`."""
    answer = run("__complete", len(words) - 1 if at is None else at, *words, code=0, env=UNHURRIED, **more)
    assert answer.err == ""
    also, *lines = answer.out.splitlines() or [""]
    return also, dict(line.split("\t") for line in lines)


@pytest.fixture
def folded(tmp_path):
    """Names that shells and patterns act on."""
    path = tmp_path / "odd names.folded"
    path.write_text("# event: cycles\n"
                    "main;std::vector<int>::push_back(int&&) 5\nmain;$(touch owned) 4\nmain;`touch owned` 3\n"
                    "main;it's;a b 2\nmain;x\\y 2\nmain;tab\x01bed 1\nmain;parse_field 9\nmain;parse_line 1\n")
    return path


@pytest.fixture
def labelled(tmp_path):
    (tmp_path / "labels.spaa").write_text(profiles.text([
        (["main"], 3, {"pid": 1, "tid": 1, "comm": "app", "x_labels": {"worker": "a", "request": "b"}}),
        (["main", "x"], 3, {"pid": 1, "tid": 1, "comm": "app", "x_labels": {"worker": "b"}})]))
    return tmp_path / "labels.spaa"


# ---- the tables ------------------------------------------------------------------------------------


def test_commands_with_what_they_do():
    also, found = complete("d")
    assert also == "files" and {"diff", "dump", "demo"} == set(found)
    assert found["diff"] in run("help", code=0).out
    assert len(complete("")[1]) == len(re.findall(r"^  \w+ {2,}", run("help", code=0).out, re.M))


def test_options_of_every_command():
    for command in complete("")[1]:
        listed = set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", run("help", command, "--all", code=0).out, re.M))
        found = complete(command, "--")[1]
        assert set(found) == listed, command
        assert all(found.values())


def test_no_option_is_offered_twice():
    for command in complete("")[1]:
        lines = run("__complete", 1, command, "--", code=0, env=UNHURRIED).out.splitlines()[1:]
        assert len({line.split("\t")[0] for line in lines}) == len(lines), command


def test_rules_of_redact():
    rules = {"paths", "files", "host", "command", "threads", "functions", "labels", "all"}
    assert set(complete("convert", "--redact", "")[1]) == rules == set(complete("flamegraph", "--redact", "")[1])
    assert set(complete("convert", "--redact", "host,p")[1]) == {"host,paths"}
    left = {"host,paths," + rule for rule in rules - {"host", "paths"}}
    assert set(complete("convert", "--redact", "host,paths,")[1]) == left
    assert set(complete("convert", "--redact=host,paths,")[1]) == {"--redact=" + rule for rule in left}
    assert set(complete("convert", "--redact", "host,paths,host")[1]) == set()


def test_a_process_is_offered_once():
    """Whatever its threads are called; by the name of its main thread, else that of one of them."""
    answer = run("__complete", 3, "top", DEMO, "--pid", "", code=0, env=UNHURRIED).out.splitlines()
    assert len(answer) == 2 and re.fullmatch(r"\d+\t(pricer|reader|writer|orders)", answer[1])
    big = os.path.join(ROOT, "tests/fixtures/perf_data/big.perf.data")
    assert run("__complete", 3, "top", big, "--pid", "", code=0, env=UNHURRIED).out == "none\n10\tmain prog\n"


def test_every_list_of_words_in_the_tables():
    for command, option, wanted in (("top", "--sort", {"self", "total"}), ("top", "--color", {"auto", "always", "never"}),
                                    ("top", "--format", {"table", "json", "csv", "markdown"}), ("top", "--at", {"peak", "end"}),
                                    ("leaks", "--by", {"function", "owner", "stack"}), ("demo", None, {"orders-1", "orders-2"}),
                                    ("upload", None, {"codeguru"}), ("spt", None, {"match"})):
        assert set(complete(*filter(None, (command, option)), "")[1]) == wanted
    by = complete("top", "--by", "")[1]
    assert {"function", "dso", "thread", "label:"} <= set(by)
    for kind in by:
        assert run("top", DEMO, "--by", kind.replace("label:", "label:k")).code in (0, 1)  # 2: there is no such kind


def test_formats_by_what_they_can():
    can = {f["name"]: f for f in json.loads(run("formats", "--json", code=0).out)["formats"]}
    assert set(complete("top", "--from", "")[1]) == {n for n, f in can.items() if f["read"]}
    assert set(complete("convert", "--to", "")[1]) == {n for n, f in can.items() if f["write"]}
    assert set(complete("formats", "")[1]) == set(can)


def test_what_else_to_offer():
    for words, also in ((("top", ""), "files"), (("top", "--symfs", ""), "dirs"), (("top", "--kallsyms", ""), "files"),
                        (("convert", "a", "-o", ""), "files"), (("formats", ""), "none"), (("top", "-n", ""), "none")):
        assert complete(*words)[0] == also, words


# ---- values of the file ----------------------------------------------------------------------------


def test_values_of_the_file():
    assert complete("top", DEMO, "--event", "")[1] == {"cpu-clock": "software"}
    assert set(complete("top", DEMO, "-qe", "")[1]) == {"cpu-clock"}
    assert set(complete("top", DEMO, "--metric", "")[1]) == {"samples", "period"}
    assert set(complete("top", DEMO, "--comm", "")[1]) == {"pricer", "reader", "writer"}
    assert {"checksum"} == set(complete("top", DEMO, *SYMBOLS, "--focus", "chec")[1])
    assert {"checksum"} == set(complete("function", DEMO, *SYMBOLS, "chec")[1])
    assert {"checksum="} == set(complete("whatif", DEMO, *SYMBOLS, "chec")[1])
    assert set(complete("top", DEMO, "--dso=or")[1]) == {"--dso=orders"}


def test_states_of_every_view():
    hang = os.path.join(ROOT, "tests/fixtures/spindump/contention.spindump.txt")
    states = {row["name"] for row in json.loads(run("top", hang, "--view", "all", "--by", "state", "--json", code=0).out)["rows"]}
    assert set(complete("top", hang, "--state", "")[1]) == states and len(states) > 1


def test_what_needs_no_symbols_is_read_without():
    """Nothing is opened below the folder of symbols, for an event, a thread, a binary; for a function it is."""
    if not shutil.which("strace"):
        pytest.skip("no strace")
    for option, wanted in (("--thread", False), ("--event", False), ("--metric", False), ("--dso", False), ("--focus", True)):
        words = ["top", DEMO, *SYMBOLS, option, ""]
        traced = subprocess.run(["strace", "-f", "-e", "trace=file", BIN, "__complete", str(len(words) - 1), *words],
                                capture_output=True, text=True, timeout=60, env={**os.environ, **UNHURRIED})
        assert ("/demo/symfs/" in traced.stderr) == wanted, option


def test_the_file_may_stand_behind(tmp_path):
    assert set(complete("top", "--event", "", DEMO, at=2)[1]) == {"cpu-clock"}
    assert set(complete(DEMO, "--event", "")[1]) == {"cpu-clock"}
    shutil.copy(DEMO, tmp_path / "perf.data")
    assert set(complete("top", "--event", "", cwd=tmp_path)[1]) == {"cpu-clock"}


@pytest.mark.parametrize("home", ["~", "$HOME", "${HOME}"])
def test_a_file_below_the_home_directory(tmp_path, home):
    """The shell asks before it expands it."""
    shutil.copy(DEMO, tmp_path / "perf.data.zst")
    env = {**UNHURRIED, "HOME": str(tmp_path)}
    for words in ("top", f"{home}/perf.data.zst", "--event", ""), (f"{home}/perf.data.zst", "--event", ""):
        assert "cpu-clock\t" in run("__complete", len(words) - 1, *words, code=0, env=env).out
    assert "cpu-clock" not in run("__complete", 3, "top", f"{home}perf.data.zst", "--event", "", code=0, env=env).out


def test_keys_of_labels(labelled):
    """Of --by, --group-by and what a comma stands before; where there are none, no more than is typed."""
    assert set(complete("top", labelled, "--by", "label:")[1]) == {"label:worker", "label:request"}
    assert set(complete("top", labelled, "--by", "comm,label:w")[1]) == {"comm,label:worker"}
    assert set(complete("top", labelled, "--by=comm,label:w")[1]) == {"--by=comm,label:worker"}
    assert set(complete("top", labelled, "--by", "la")[1]) == {"label:"}
    assert set(complete("top", DEMO, "--by", "la")[1]) == {"label:"}
    assert set(complete("top", DEMO, "--by", "label:")[1]) == set() == set(complete("top", "--by", "comm,label:")[1])


def test_a_metric_of_two_events_is_offered_once(tmp_path):
    """Whatever its units are."""
    events = [profiles.event("cycles"), profiles.event("page-faults")]
    text = profiles.text([(["main"], 3, {"event": "cycles"}), (["main"], 2, {"event": "page-faults"})], events=events)
    lines = text.splitlines()
    for i, unit in zip((-1, -2), ("count", "events")):
        stack = json.loads(lines[i])
        for w in stack["weights"]:
            w["unit"] = unit
        lines[i] = json.dumps(stack)
    (tmp_path / "two.spaa").write_text("\n".join(lines) + "\n")
    for option in "--with", "-m", "--metric":
        offered = run("__complete", 3, "top", tmp_path / "two.spaa", option, "", code=0, env=UNHURRIED).out.splitlines()[1:]
        names = [line.split("\t")[0] for line in offered]
        assert names and len(names) == len(set(names)), option


def test_functions_are_offered_as_they_are_typed():
    """Of whatif alone with their factor."""
    for command in "annotate", "function":
        names = complete(command, DEMO, "")[1]
        assert names and not any(name.endswith("=") for name in names), command
    assert any(name.endswith("=") for name in complete("whatif", DEMO, "")[1])


def test_one_of_several_values():
    assert set(complete("top", DEMO, "--by", "dso,th")[1]) == {"dso,thread"}
    assert set(complete("top", DEMO, "--by=dso,th")[1]) == {"--by=dso,thread"}


def test_candidates_mean_what_they_name(folded):
    """A pattern that is offered fits the function it names; what would act on a terminal is not offered."""
    found = complete("top", folded, "--focus", "")[1]
    assert {r"std::vector<int>::push_back\(int&&\)", r"\$\(touch owned\)", r"x\\y", "it's", "a b"} <= set(found)
    assert not any("bed" in name for name in found)
    for pattern in found:
        assert run("top", folded, "--focus", pattern, "--json", code=0)
    assert r"std::vector<int>::push_back(int&&)" in complete("function", folded, "std::")[1]


def test_files_that_say_nothing(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "no profile").write_bytes(bytes(range(256)))
    for name in ("pipe", "no profile", "gone", ".", "-"):
        assert complete("top", name, "--focus", "", cwd=tmp_path) == ("none", {})


def test_it_gives_up(tmp_path):
    """The time is over before the file has been read: nothing is said, and the shell goes on."""
    with open(tmp_path / "large.folded", "w", encoding="utf-8") as f:
        for i in range(300000):
            f.write(f"main;f{i % 977};g{i};h{i * 7} {i}\n")
    answer = run("__complete", 3, "top", tmp_path / "large.folded", "--focus", "", code=0, env={"SPAA_COMPLETE_MS": "1"})
    assert (answer.out, answer.err) == ("", "")


@pytest.mark.parametrize("words", [(), ("x",), ("-1", "top"), ("7", "top"), ("0",), ("1", "nothing", ""), ("2", "top", "--nothing", "")])
def test_odd_questions(words):
    answer = run("__complete", *words, code=0)
    assert answer.err == ""


# ---- the shells ------------------------------------------------------------------------------------


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, args, env, cwd):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execvpe(args[0], args, env)
        self.all = ""

    def read_until(self, mark):
        while not re.search(mark, self.all):
            ready, _, _ = select.select([self.fd], [], [], 60)
            assert ready, f"{mark!r} did not come: {self.all!r}"
            try:
                self.all += os.read(self.fd, 65536).decode("utf-8", "replace")
            except OSError as e:
                assert e.errno != errno.EIO, f"the shell has ended: {self.all!r}"
                raise
        found = re.search(mark, self.all)
        self.all = self.all[found.end():]
        return found

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             f"source '{SCRIPTS}/spaa.bash'; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=('{SCRIPTS}' $fpath); autoload -U compinit; compinit -u -D; bindkey -e; unsetopt beep"),
}


@pytest.fixture
def place(tmp_path, folded, labelled):
    """A folder with a few files, and the environment in which shells find spaa."""
    (tmp_path / "bin").mkdir()
    os.symlink(BIN, tmp_path / "bin" / "spaa")
    (tmp_path / "bin" / "shown").write_text('#!/bin/sh\nprintf BEGIN; for word; do printf "<%s>" "$word"; done; echo END\n')
    os.chmod(tmp_path / "bin" / "shown", 0o755)
    work = tmp_path / "recordings"
    work.mkdir()
    shutil.copy(DEMO, work / "perf.data.zst")
    shutil.copy(folded, work / "odd.folded")
    shutil.copy(labelled, work / "l.spaa")
    (work / "folder").mkdir()
    env = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "TERM": "xterm", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8",
           "ASAN_OPTIONS": "detect_leaks=0", **UNHURRIED}
    yield work, env
    assert sorted(os.listdir(work)) == ["folder", "l.spaa", "odd.folded", "perf.data.zst"]  # nothing of a name was run


@pytest.fixture(params=sorted(SHELLS))
def shell(request, place):
    args, setup = SHELLS[request.param]
    if not shutil.which(args[0]):
        pytest.skip("no " + args[0])
    it = Shell(args, place[1], place[0])
    it.type(setup + "\r")
    it.type("shown ready\r")
    it.read_until("BEGIN<ready>END")
    yield it
    it.close()


def typed(shell, line):
    """The words that a line has become: it is run as arguments of `shown` once the tabs are done with."""
    shell.type(line + "\x01shown \x05\r")
    return re.findall(r"<(.*?)>(?=<|$)", shell.read_until(r"BEGIN((?:<[^\r\n]*>)+)END")[1])


LINES = [
    ("flameg", ["flamegraph"]),
    ("top --merge-i", ["top", "--merge-inlined"]),
    ("convert x --to perf-", ["convert", "x", "--to", "perf-script"]),
    ("top perf.data.zst --event cp", ["top", "perf.data.zst", "--event", "cpu-clock"]),
    ("top perf.data.zst --event=cp", ["top", "perf.data.zst", "--event=cpu-clock"]),
    ("top perf.data.zst --by dso,th", ["top", "perf.data.zst", "--by", "dso,thread"]),
    ("top l.spaa --by label:w", ["top", "l.spaa", "--by", "label:worker"]),
    ("top l.spaa --by comm,label:r", ["top", "l.spaa", "--by", "comm,label:request"]),
    ("top l.spaa --by=comm,label:r", ["top", "l.spaa", "--by=comm,label:request"]),
    ("top perf.data.zst --by la", ["top", "perf.data.zst", "--by", "label:"]),
    ("top perf", ["top", "perf.data.zst"]),
    ("top ~/recordings/perf.data.zst --event cp", ["top", "HOME/recordings/perf.data.zst", "--event", "cpu-clock"]),
    ("top $HOME/recordings/perf.data.zst --event cp", ["top", "HOME/recordings/perf.data.zst", "--event", "cpu-clock"]),
    ("top --symfs fo", ["top", "--symfs", "folder"]),
    ("function odd.folded std", ["function", "odd.folded", "std::vector<int>::push_back(int&&)"]),
    ("function odd.folded std::v", ["function", "odd.folded", "std::vector<int>::push_back(int&&)"]),
    ("function odd.folded 'std::v", ["function", "odd.folded", "std::vector<int>::push_back(int&&)"]),
    ("function odd.folded \\$", ["function", "odd.folded", "$(touch owned)"]),
    ("function odd.folded a", ["function", "odd.folded", "a b"]),
    ("function odd.folded it", ["function", "odd.folded", "it's"]),
]


def test_what_a_line_becomes(shell, place):
    for line, words in LINES:
        words = [w.replace("HOME", place[1]["HOME"]) for w in words]
        assert [w.rstrip("/") for w in typed(shell, f"spaa {line}\t")] == ["spaa", *words], line


def test_what_goes_on_has_no_blank_behind_it(shell):
    """A key of a label is to come, and nothing is made of what cannot go on."""
    for line, words in (("top perf.data.zst --by la\tKEY", ["--by", "label:KEY"]), ("top perf.data.zst --by label:\tKEY", ["--by", "label:KEY"]),
                        ("whatif odd.folded parse_f\t2", ["odd.folded", "parse_field=2"])):
        assert typed(shell, f"spaa {line}")[-2:] == words, line


def test_a_list_stays_readable(shell):
    shell.type("spaa top perf.data.zst --by dso,th\t")
    shell.read_until("dso,thread")


def test_candidates_are_listed(shell):
    shell.type("spaa d\t\t")
    for name in ("diff", "dump", "demo"):
        shell.all = shell.read_until(rf"(?s).*{name}.*")[0]


def test_fish(place):
    if not shutil.which("fish"):
        pytest.skip("no fish")
    work, env = place
    for line, words in LINES:
        ask = f"source '{SCRIPTS}/spaa.fish'; complete -C \"$argv\""
        done = subprocess.run(["fish", "--no-config", "-c", ask, f"spaa {line}"], cwd=work, env=env, capture_output=True, text=True, timeout=60)
        assert done.stderr == ""
        assert words[-1] in [x.split("\t")[0].rstrip("/") for x in done.stdout.splitlines()], line


def test_a_full_output_is_an_error():
    with open("/dev/full", "wb") as full:
        p = subprocess.run([BIN, "__complete", "0", "to"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert p.returncode == 3 and b"No space left" in p.stderr

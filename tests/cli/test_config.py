"""Settings: what files say is as if it had been given, the command line comes first, and others' files are not read."""

import os

import pytest

from conftest import ROOT, parse, run

PERF = os.path.join(ROOT, "tests/fixtures/perf_data/big.perf.data")


@pytest.fixture
def place(tmp_path):
    """A home with a user's file, and a project below it."""
    home, project = tmp_path / "home", tmp_path / "home/src/app"
    (home / ".config/spaa").mkdir(parents=True)
    (project / "src").mkdir(parents=True)

    class Place:
        user, own, cwd = home / ".config/spaa/config", project / ".spaa", project / "src"
        env = {"HOME": str(home), "XDG_CONFIG_HOME": "", "SPAA_NO_CONFIG": None}

        def run(self, *args, code=0, **env):
            return run(*args, cwd=self.cwd, code=code, env={**self.env, **env})

        def settings(self):
            return {s["name"]: (s["value"], os.path.basename(s["file"]), s["line"])
                    for s in parse(self.run("config", "--json").out)["settings"] if s["value"]}
    return Place()


def test_where_each_value_comes_from(place):
    place.user.write_text("# mine\nsymfs = ~/symbols\ndebuginfod = no\nown = acme::\n")
    place.own.write_text("\nsymfs=sym/root\npools = no # of nothing\n".replace(" # of nothing", ""))
    home = place.user.parent.parent.parent
    assert place.settings() == {"symfs": (str(home / "src/app/sym/root"), ".spaa", 2), "pools": ("no", ".spaa", 3),
                                "debuginfod": ("no", "config", 3), "own": ("acme::", "config", 4)}
    out = place.run("config", "--show").out
    assert ".spaa:2" in out and "config:4" in out
    place.own.unlink()
    assert place.settings()["symfs"] == (str(home / "symbols"), "config", 2)


def test_show_stands_anywhere(place):
    place.own.write_text("own = 0x\n")
    json, text = place.run("config", "--json").out, place.run("config").out
    for args in ("--show", "--json"), ("--json", "--show"), ("--format=json", "-q", "--show"):
        assert place.run("config", *args).out == json
    assert place.run("config", "--color", "never", "--show").out == place.run("config", "--show").out == text
    assert "--show" in run("help", "config").out


def test_a_setting_is_as_if_it_was_given(place):
    place.own.write_text("pools = no\n")
    a = place.run("top", PERF, "--by", "thread").out
    assert a == run("top", PERF, "--by", "thread", "--no-pool").out
    place.own.write_text("own = 0x\n")
    assert place.run("summary", PERF).out == run("summary", PERF, "--own", "0x").out
    assert place.run("summary", PERF, "--own", "0x1").out == run("summary", PERF, "--own", "0x1").out


def test_commands_without_the_option_do_not_mind(place):
    place.own.write_text("own = x\nsymfs = /nowhere\n")
    place.run("formats")
    place.run("help")


def test_none_is_read_where_nobody_wants_them(place):
    place.own.write_text("nonsense\n")
    place.run("top", PERF, code=2)
    place.run("top", PERF, SPAA_NO_CONFIG="1")


@pytest.mark.parametrize("text,said", [
    ("symf = /x\n", "there is no setting \"symf\""),
    ("\n\nsymfs\n", ".spaa:3: a line without ="),
    ("symfs =\n", "a setting without a value"),
    ("debuginfod = perhaps\n", "this setting is yes or no"),
    ("own = " + "x" * 9000 + "\n", "a line that is too long"),
    ("own = x\nallocators = a\0b\n", ".spaa:2: a NUL byte, which no text has"),
])
def test_mistakes_name_the_line(place, text, said):
    place.own.write_text(text)
    assert said in place.run("top", PERF, code=2).err


@pytest.mark.parametrize("key,value,said", [
    ("own", "(", 'own: missing closing parenthesis at character 2 of "("'),
    ("own", "^nobody::", "own: --own ^nobody::"),
    ("allocators", "[", "allocators: missing terminating ]"),
    ("allocators", "nosuch", "allocators: --allocators nosuch"),
])
def test_an_expression_that_is_none_or_fits_nothing_names_the_line(place, key, value, said):
    place.own.write_text(f"\n{key} = {value}\n")
    command = ("summary", os.path.join(ROOT, "tests/fixtures/heaptrack/raw.heaptrack") if key == "allocators" else PERF)
    a = run(*command, cwd=place.cwd, env=place.env)
    where = f"{place.own}:2: {said}"
    assert a.code in (1, 2) and where in a.err and a.err.count("[SPAA-E03") == 1
    error = parse(run(*command, "--json", cwd=place.cwd, env=place.env).out)["error"]
    assert where in error["message"] and error["code"] in ("SPAA-E032", "SPAA-E035")
    given = run(*command, f"--{key}", value, cwd=place.cwd, env=place.env)  # it is who typed it that is mistaken
    assert given.code == a.code and ".spaa" not in given.err


TRACK = os.path.join(ROOT, "tests/fixtures/heaptrack/raw.heaptrack")


@pytest.mark.parametrize("command", [
    ("top", PERF), ("summary", PERF), ("tree", PERF), ("stacks", PERF), ("timeline", PERF), ("diff", PERF, PERF),
    ("flamegraph", PERF, "-o", "x.svg"), ("top", TRACK), ("leaks", TRACK, TRACK), ("diff", TRACK, TRACK)], ids=" ".join)
def test_a_broken_expression_for_allocators_is_no_answer_with_an_error_behind(place, command):
    place.own.write_text("\nallocators = (\n")
    a = place.run(*command, code=2)
    assert a.out == "" and f"{place.own}:2: allocators: missing closing parenthesis" in a.err
    assert not (place.cwd / "x.svg").exists()


def test_allocators_that_nothing_has(place):
    """Where memory is asked about by owner: of time, nothing is handed out."""
    place.own.write_text("allocators = nosuch\n")
    for command in ("top", TRACK), ("leaks", TRACK), ("leaks", TRACK, TRACK), ("diff", TRACK, TRACK), \
            ("flamegraph", TRACK, "--diff", TRACK, "-o", "x.svg"), ("timeline", TRACK, TRACK):
        a = place.run(*command, code=1)
        assert a.out == "" and f"{place.own}:1: allocators: --allocators nosuch" in a.err
    for command in ("top", PERF), ("diff", PERF, PERF), ("leaks", TRACK, "--keep-allocators"):
        a = place.run(*command, code=None)
        assert a.code == 0 and "allocators nosuch" not in a.out + a.err


def test_allocators_that_one_side_or_dump_has(place, tmp_path):
    """A wrapper that is new, or gone, is no slip."""
    place.own.write_text("allocators = xmalloc\n")
    one, other = tmp_path / "1.heap", tmp_path / "2.heap"
    text = "heap profile: 1: 100 [ 1: 100] @ heapprofile\n"
    for path, name in (one, "xmalloc"), (other, "build"):
        path.write_text("--- symbol\nbinary=/app\n0x10 %s\n0x20 main\n---\n--- heap\n%s 1: 100 [ 1: 100] @ 0x10 0x20\n" % (name, text))
    for pair in (one, other), (other, one):
        place.run("diff", *map(str, pair), code=0)
        place.run("leaks", *map(str, pair), code=0)
        place.run("flamegraph", str(pair[0]), "--diff", str(pair[1]), "-o", "x.svg", code=0)


def test_a_key_that_stands_twice(place):
    place.own.write_text("own = 0x\nsymfs = a\nown = 1x\n")
    a = place.run("config", "--json")
    assert "SPAA-W038" in a.err and f"{place.own}:3: own stands in line 1 already" in a.err and a.err.count("already") == 1
    assert place.settings()["own"] == ("0x", ".spaa", 1)
    place.own.write_text("own = 0x\n")
    place.user.write_text("own = 1x\n")  # what files are two for
    assert place.run("config").err == ""


def test_a_byte_order_mark_is_skipped(place):
    place.own.write_bytes(b"\xef\xbb\xbfown = 0x\n")
    assert place.settings()["own"] == ("0x", ".spaa", 1)


def test_files_that_others_may_write_are_not_read(place):
    place.own.write_text("symfs = /evil\n")
    place.own.chmod(0o666)
    a = place.run("config", "--json")
    assert "SPAA-W038" in a.err and all(s["value"] is None for s in parse(a.out)["settings"])


@pytest.mark.parametrize("make,said", [
    (lambda path: path.mkdir(), "it is a folder"),
    (os.mkfifo, "it is no regular file"),
    (lambda path: path.symlink_to("nowhere"), "it is a link that leads nowhere"),
    (lambda path: path.symlink_to("/dev/null"), "it is no regular file"),
], ids=["folder", "pipe", "link", "device"])
def test_what_is_no_file_is_told(place, make, said):
    """And is not waited for; a file above it is read."""
    for path in place.own, place.user:
        make(path)
        a = place.run("config", "--json")
        assert f"{path} was not read: {said} [SPAA-W038]" in a.err and a.err.count("SPAA-W038") == 1
        assert all(s["value"] is None for s in parse(a.out)["settings"])
        if path == place.own:
            (path.parent.parent / ".spaa").write_text("own = above\n")
            assert place.settings()["own"][0] == "above"
            (path.parent.parent / ".spaa").unlink()
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_above_the_home_directory_is_nobodys_project(place):
    (place.user.parent.parent.parent.parent / ".spaa").write_text("own = strangers\n")
    assert place.settings() == {}


def test_a_folder_or_a_pipe_is_no_file_of_settings(place):
    place.own.mkdir()
    assert place.settings() == {}
    place.own.rmdir()
    os.mkfifo(place.own)
    assert place.settings() == {}


def test_a_setting_of_what_is_not_there_is_told_with_its_line(place):
    place.own.write_text("# mine\nsymfs = $HOME/x\nkallsyms = nowhere\nsymbol-store = none\n")
    place.user.write_text("debug-dir = ~you/debug\n")
    for command in ("top", PERF), ("config",):
        said = place.run(*command).err
        assert f"{place.own}:2: symfs: {place.own.parent}/$HOME/x: No such file" in said and "no variables" in said
        assert f"{place.own}:3: kallsyms: {place.own.parent}/nowhere" in said and "only ~/ at the start" in said
        assert said.count("SPAA-W039") == 3
    answer = run("top", PERF)
    assert place.run("top", PERF).out == answer.out
    assert "W039" not in place.run("top", PERF, "-q").err + place.run("formats").err + place.run("top", "--help").err
    said = place.run("top", PERF, "--symfs", "/", "--kallsyms", "/dev/null").err
    assert said.count("SPAA-W039") == 1
    (place.own.parent / "$HOME/x").mkdir(parents=True)
    assert ": symfs:" not in place.run("top", PERF).err


@pytest.mark.parametrize("option,value", [
    ("symfs", "~/x"), ("debug-dir", "nowhere"), ("dsym", "nowhere"), ("kallsyms", "nowhere"), ("symbol-store", "nowhere"),
    ("source-path", "nowhere"), ("source-path", "/build=nowhere"), ("base-source-path", "nowhere")])
def test_an_option_that_names_what_is_not_there_is_told_once(place, option, value):
    command = ("annotate", PERF) if "source" in option else ("top", PERF)
    a = place.run(*command, f"--{option}={value}", code=None)
    assert a.err.count(f"--{option}: {value.split('=')[-1]}: No such file or directory [SPAA-W039]") == 1
    assert ("where a word begins" in a.err) == (value[0] == "~")
    assert a.out == place.run(*command, code=a.code).out


def test_the_store_that_symbols_makes_needs_not_be_there(place):
    assert "W039" not in place.run("symbols", "list", "--symbol-store", "new").err
    assert "W039" not in place.run("top", PERF, "--symbol-store", "none").err


def test_what_is_said_before_the_answer_is_told_beside_it(place):
    """Notes that the answer has told are not told again, whatever was said before it."""
    alone = place.run("top", PERF, "--json").err
    a = place.run("top", PERF, "--json", "--symfs", "nowhere").err
    assert "SPAA-W039" in a and a[a.index("\n") + 1:] == alone


@pytest.mark.parametrize("key", ["own", "allocators"])
def test_config_names_an_expression_that_is_none(place, key):
    place.own.write_text(f"\n{key} = (\n")
    a = place.run("config", code=2)
    assert f"({place.own}:2)" in a.out and f"{place.own}:2: {key}: missing closing parenthesis" in a.err and "SPAA-E035" in a.err
    assert parse(place.run("config", "--json", code=2).out)["settings"]
    place.own.write_text(f"{key} = ^(a|b)$\n")
    assert place.run("config").err == ""


def test_a_mistake_leaves_the_list_of_settings_and_help(place):
    """That is where its hint leads."""
    place.own.write_text("symfs = sym\nbogus = 1\n")
    answer = place.run("config", code=2)
    assert ".spaa:1" in answer.out and "debug-dir" in answer.out and ".spaa:2: there is no setting" in answer.err
    for words in (["help"], ["help", "config"], ["top", "--help"]):
        assert not place.run(*words).err
    assert ".spaa:2" in place.run("formats", code=2).err

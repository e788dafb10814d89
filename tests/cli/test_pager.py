"""Answers on a terminal go through a pager."""

import os
import re
import shutil

import pytest
from conftest import at_terminal, run, unwrapped

TEXT = "".join(f"main;f{i:03d} {i + 1}\n" for i in range(200))


@pytest.fixture
def folded(tmp_path):
    path = tmp_path / "p.folded"
    path.write_text(TEXT)
    return path


def shown_with(*args, stdin=True, **more):
    env = {k: v for k, v in os.environ.items() if k not in ("SPAA_PAGER", "PAGER", "LESS")} | {"TERM": "xterm"} | more
    return at_terminal(*args, stdin=stdin, env=env)


def test_it_gets_what_is_written_with_colour_and_width_of_the_terminal(folded, tmp_path):
    paged = tmp_path / "paged"
    shown, code = shown_with("top", folded, "-n", "0", SPAA_PAGER=f"cat >{paged}", PAGER="false")
    assert (shown, code) == ("", 0)
    plain, _ = shown_with("top", folded, "-n", "0", SPAA_PAGER="")
    assert paged.read_text() == plain and "f199" in plain
    shown_with("summary", folded, SPAA_PAGER=f"cat >{paged}")
    assert "\x1b[1m" in paged.read_text()


def test_its_variables(folded, tmp_path):
    paged = tmp_path / "paged"
    shown_with("top", folded, PAGER=f"cat >{paged}")
    assert "f199" in paged.read_text()
    for more in ({"PAGER": "cat"}, {"PAGER": ""}, {"SPAA_PAGER": "cat", "PAGER": f"touch {paged}.no; cat"}, {"TERM": "dumb", "PAGER": "false"},
                 {"PAGER": "/no/such/pager"}, {"PAGER": "no-such-pager -R"}):
        shown, code = shown_with("top", folded, **more)
        assert "f199" in shown and code == 0, more
    assert not os.path.exists(f"{paged}.no")


def test_none_where_nobody_sits(folded):
    shown, code = shown_with("top", folded, stdin=False, PAGER="false")
    assert "f199" in shown and code == 0


def test_one_that_is_left_early_is_no_error(folded):
    assert shown_with("top", folded, "-n", "0", PAGER="head -1")[1] == 0
    assert shown_with("top", folded, "-n", "0", PAGER="true") == ("", 0)


def test_errors_are_not_paged(tmp_path):
    shown, code = shown_with("top", tmp_path / "missing", PAGER="cat >/dev/null")
    assert "missing" in shown and code != 0


def test_notes_come_after_it(folded, tmp_path):
    folded.write_text(TEXT + "damaged line\n" * 2)
    shown, code = shown_with("top", folded, PAGER="sleep 0.2; cat")
    assert code == 0 and shown.index("f199") < shown.index("damaged line")


@pytest.mark.skipif(not shutil.which("less"), reason="needs less")
def test_what_fits_the_screen_is_shown_as_it_is(tmp_path):
    path = tmp_path / "p.folded"
    path.write_text("main;f 1\n")
    shown, code = shown_with("top", path)
    assert code == 0 and "main" in shown and "(END)" not in shown


# ---- profiles are written as they are, but not to a terminal ----


@pytest.mark.parametrize("bad", ["\x1b]0;owned\x07", "\x1b[2J", "\x9b2J", "\x7f"])
def test_a_terminal_gets_no_control_characters_of_a_profile(bad, tmp_path):
    path = tmp_path / "p.folded"
    path.write_bytes(f"main;before 1\nmain;f{bad}g 2\n".encode())
    for env in ({"PAGER": "cat"}, {"PAGER": "tee /dev/null"}):
        shown, code = shown_with("convert", path, "--to", "folded", "-o", "-", NO_COLOR="1", **env)
        assert code == 3 and "SPAA-E020" in shown and "-o FILE" in shown
        assert not any(c in shown for c in bad if not c.isprintable())
    for target in ("/dev/stdout", "/dev/tty"):
        shown, _ = shown_with("convert", path, "--to", "folded", "-o", target, PAGER="cat", NO_COLOR="1")
        assert not any(c in shown for c in bad if not c.isprintable()), target
    done = run("convert", path, "--to", "folded", "-o", "-", code=0)
    run("convert", path, "--to", "folded", "-o", tmp_path / "out", code=0)
    assert f"main;f{bad}g 2\n".encode() in (tmp_path / "out").read_bytes() and "f" in done.out


HIDDEN = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0x200B, 0x200E, 0x200F, 0xFEFF, 0xAD, 0x61C, 0xE0001]


@pytest.mark.parametrize("command", ["convert", "merge"])
def test_a_terminal_gets_nothing_that_reorders_or_hides_text(command, tmp_path):
    for bad in map(chr, HIDDEN):
        path = tmp_path / "p.folded"
        path.write_text(f"main;before 1\nmain;f{bad}g 2\n")
        shown, code = shown_with(command, path, "--to", "folded", "-o", "-", NO_COLOR="1", PAGER="cat")
        assert code == 3 and "SPAA-E020" in shown and bad not in shown, hex(ord(bad))
        assert bad in run(command, path, "--to", "folded", "-o", "-", code=0).out


@pytest.mark.parametrize("bad", ["\u202e", "\u2069", "\U000e0001", "\x9b"])
def test_nor_where_two_writes_have_a_part_each(bad, tmp_path):
    """A long name is written in blocks: the character begins at each place around the end of one."""
    path = tmp_path / "p.folded"
    for before in range((256 << 10) - 12, (256 << 10) + 2):
        path.write_text("main;" + "z" * before + bad + " 1\n")
        shown, code = shown_with("convert", path, "--to", "folded", "-o", "-", NO_COLOR="1", PAGER="cat")
        assert code == 3 and "SPAA-E020" in shown and bad not in shown, before


def test_a_terminal_gets_no_bytes_that_may_be_control_characters_there(tmp_path):
    path = tmp_path / "p.folded"
    path.write_bytes(b"main;f\x9b2Jg 2\n")
    shown, code = shown_with("convert", path, "--to", "folded", "-o", "-", NO_COLOR="1", PAGER="cat")
    assert code == 3 and "SPAA-E020" in shown


def test_a_terminal_gets_no_packed_bytes_of_a_profile(folded):
    shown, code = shown_with("convert", folded, "--to", "pprof", "-o", "-", PAGER="cat")
    assert code == 3 and "SPAA-E020" in shown and "\x1f" not in shown


def test_a_terminal_gets_a_profile_without_them(folded, tmp_path):
    folded.write_text("main;f\u00e4\u00a0\u0436 1\nmain;g\th 2\nmain;\u0915\u094d\u200d\u0937\u20ac\U0001f600 3\n")
    for to in ("folded", "spaa"):
        shown, code = shown_with("convert", folded, "--to", to, "-o", "-", PAGER="cat")
        assert code == 0 and shown == run("convert", folded, "--to", to, "-o", "-", code=0).out


# ---- help, at the width of the terminal ----


@pytest.mark.parametrize("columns", [60, 80])
def test_help_fits_the_terminal_and_leaves_nothing_out(columns):
    pages = [(), ("options",)]
    for command in ("top", "diff", "convert", "flamegraph", "upload", "query", "spt", "config", "help"):
        pages += [(command,), (command, "--all")]
    for page in pages:
        shown, code = at_terminal("help", *page, columns=columns, stdin=False)
        assert code == 0
        lines = [line for line in shown.splitlines() if not re.match(r" +'[^']*'", line)]  # a word of a command stays whole
        assert max(map(len, lines)) <= columns, page
        assert unwrapped(shown).split() == run("help", *page, code=0).out.split(), page  # commands as a shell takes them

"""Answers on a terminal go through a pager."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

import pytest
from conftest import BIN, run

TEXT = "".join(f"main;f{i:03d} {i + 1}\n" for i in range(200))


@pytest.fixture
def folded(tmp_path):
    path = tmp_path / "p.folded"
    path.write_text(TEXT)
    return path


def at_terminal(*args, stdin=True, **more):
    """What the terminal shows, and the exit code."""
    env = {k: v for k, v in os.environ.items() if k not in ("SPAA_PAGER", "PAGER", "LESS")} | {"TERM": "xterm"} | more
    main, side = pty.openpty()
    process = subprocess.Popen([BIN, *map(str, args)], stdin=side if stdin else subprocess.DEVNULL, stdout=side, stderr=side, env=env,
                               start_new_session=True)
    os.close(side)
    out = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # nobody holds the other side any more
            break
        if not part:
            break
        out += part
    os.close(main)
    return out.decode().replace("\r\n", "\n"), process.wait(60)


def test_it_gets_what_is_written_with_colour_and_width_of_the_terminal(folded, tmp_path):
    paged = tmp_path / "paged"
    shown, code = at_terminal("top", folded, "-n", "0", SPAA_PAGER=f"cat >{paged}", PAGER="false")
    assert (shown, code) == ("", 0)
    plain, _ = at_terminal("top", folded, "-n", "0", SPAA_PAGER="")
    assert paged.read_text() == plain and "f199" in plain
    at_terminal("summary", folded, SPAA_PAGER=f"cat >{paged}")
    assert "\x1b[1m" in paged.read_text()


def test_its_variables(folded, tmp_path):
    paged = tmp_path / "paged"
    at_terminal("top", folded, PAGER=f"cat >{paged}")
    assert "f199" in paged.read_text()
    for more in ({"PAGER": "cat"}, {"PAGER": ""}, {"SPAA_PAGER": "cat", "PAGER": f"touch {paged}.no; cat"}, {"TERM": "dumb", "PAGER": "false"},
                 {"PAGER": "/no/such/pager"}, {"PAGER": "no-such-pager -R"}):
        shown, code = at_terminal("top", folded, **more)
        assert "f199" in shown and code == 0, more
    assert not os.path.exists(f"{paged}.no")


def test_none_where_nobody_sits(folded):
    shown, code = at_terminal("top", folded, stdin=False, PAGER="false")
    assert "f199" in shown and code == 0


def test_one_that_is_left_early_is_no_error(folded):
    assert at_terminal("top", folded, "-n", "0", PAGER="head -1")[1] == 0
    assert at_terminal("top", folded, "-n", "0", PAGER="true") == ("", 0)


def test_errors_are_not_paged(tmp_path):
    shown, code = at_terminal("top", tmp_path / "missing", PAGER="cat >/dev/null")
    assert "missing" in shown and code != 0


def test_notes_come_after_it(folded, tmp_path):
    folded.write_text(TEXT + "damaged line\n" * 2)
    shown, code = at_terminal("top", folded, PAGER="sleep 0.2; cat")
    assert code == 0 and shown.index("f199") < shown.index("damaged line")


@pytest.mark.skipif(not shutil.which("less"), reason="needs less")
def test_what_fits_the_screen_is_shown_as_it_is(tmp_path):
    path = tmp_path / "p.folded"
    path.write_text("main;f 1\n")
    shown, code = at_terminal("top", path)
    assert code == 0 and "main" in shown and "(END)" not in shown


# ---- help, at the width of the terminal ----


def shown_help(columns, *args):
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([BIN, "help", *args], stdin=subprocess.DEVNULL, stdout=side, stderr=side)
    os.close(side)
    out = b""
    while True:
        try:
            out += os.read(main, 65536)
        except OSError:
            break
    os.close(main)
    assert process.wait(60) == 0
    return re.sub("\x1b\\[[0-9;]*m", "", out.decode())


@pytest.mark.parametrize("columns", [60, 80])
def test_help_fits_the_terminal_and_leaves_nothing_out(columns):
    pages = [(), ("options",)]
    for command in ("top", "diff", "convert", "flamegraph", "upload", "query", "spt", "config", "help"):
        pages += [(command,), (command, "--all")]
    for page in pages:
        shown = shown_help(columns, *page)
        assert max(map(len, shown.splitlines())) <= columns, page
        assert shown.split() == run("help", *page, code=0).out.split(), page

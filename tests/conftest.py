"""What the tests share: the binary under test (SPAA_BIN, ./build/spaa), the corpus, and a way to run."""

import collections
import decimal
import fcntl
import functools
import json
import os
import struct
import subprocess
import sys
import termios

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))
CORPUS = os.path.abspath(os.environ.get("SPAA_CORPUS", os.path.join(ROOT, "..", "shared", "corpus")))
sys.path.insert(0, os.path.join(ROOT, "tests"))

import declarations  # noqa: E402

Answer = collections.namedtuple("Answer", "code out err raw")
# A sanitizer's report must not look like an answer: exit codes 0 to 5 have meanings.
SANITIZERS = {"ASAN_OPTIONS": "exitcode=99:allocator_may_return_null=1",
              "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99:print_stacktrace=1"}


def run(*args, stdin=None, cwd=None, env=None, code=None, timeout=60):
    """Runs spaa; `code` is the exit code that must come. Fails on crashes and sanitizer reports."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "DEBUGINFOD_URLS")}
    # No symbols that whoever runs this keeps for himself.
    environment.update({**SANITIZERS, "SPAA_NO_CONFIG": "1", "XDG_CACHE_HOME": "/nonexistent/cache", **(env or {})})
    environment = {k: v for k, v in environment.items() if v is not None}
    if isinstance(stdin, str):
        stdin = stdin.encode()
    p = subprocess.run([BIN, *map(str, args)], input=stdin if stdin is not None else b"", stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, cwd=cwd, env=environment, timeout=timeout)
    err = p.stderr.decode("utf-8")
    assert 0 <= p.returncode <= 5, (args, p.returncode, err)
    assert "runtime error:" not in err and "Sanitizer" not in err, err
    if code is not None:
        assert p.returncode == code, (args, p.returncode, err)
    return Answer(p.returncode, p.stdout.decode("utf-8", "surrogateescape"), err, p.stdout)


def at_terminal(*args, columns=0, stdin=True, env=None):
    """What spaa shows on a terminal of so many columns (0: it says none), and its exit code. stdin: it is that terminal, too."""
    main, side = os.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50 if columns else 0, columns, 0, 0))
    process = subprocess.Popen([BIN, *map(str, args)], stdin=side if stdin else subprocess.DEVNULL, stdout=side, stderr=side,
                               env={**os.environ, "SPAA_NO_CONFIG": "1"} if env is None else env, start_new_session=True)
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
    return out.decode(errors="replace").replace("\r\n", "\n"), process.wait(60)


def unwrapped(text):
    """Text as it was before its lines were broken to fit: every run of blanks and ends of lines is one blank."""
    return " ".join(text.replace(" \\\n", " ").split())


def unique(pairs):
    keys = [k for k, _ in pairs]
    assert len(set(keys)) == len(keys), "duplicate keys: %s" % keys
    return dict(pairs)


def parse(text):
    """JSON with exact numbers; a key that stands twice is an error."""
    return json.loads(text, parse_float=decimal.Decimal, object_pairs_hook=unique)


def ask(*args, code=0, **more):
    """The JSON answer of a command."""
    answer = run(*args, "--json", code=code, **more)
    assert answer.out.endswith("}\n") and answer.out.count("\n") == 1
    found = parse(answer.out)
    assert not declarations.undeclared(found, declared())
    return found


@functools.lru_cache(maxsize=None)
def declared():
    return declarations.of_all(parse(run("help", "--json", code=0).out))


@pytest.fixture(scope="session")
def corpus():
    if not os.path.isdir(CORPUS):
        pytest.skip("no corpus")
    return CORPUS


@pytest.fixture
def folded(tmp_path):
    """A small profile: main 100: parse 50 (read 30, scan 20), run 50 (compute 40 (mul 25), read 10)."""
    path = tmp_path / "small.folded"
    path.write_text("main;parse;read 30\nmain;parse;scan 20\nmain;run;compute;mul 25\nmain;run;compute 15\n"
                    "main;run;read 10\n")
    return path

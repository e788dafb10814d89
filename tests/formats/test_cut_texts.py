"""Texts that end somewhere else than their writers end them: it is said, and of whole ones nothing."""

import re
import shutil
import subprocess

import pytest

from conftest import BIN

SAYS = re.compile("the file ends inside|incomplete|SPAA-L30|SPAA-E0")

STACKS = (b"orders 7/7 1.000000: 250 cycles: \n\t            1418 parse+0x48 (/tmp/mix)\n\t           891f5 [unknown] (/tmp/mix)\n\n"
          b"orders 7/7 2.000000: 250 cycles: \n\t            1418 parse+0x48 (/tmp/mix)\n\t           891f5 main+0x305 (/tmp/mix)\n\n")
SOURCES = (b"orders 7/7 1.000000: 250 cycles: \n\t            1418 parse+0x48 (/tmp/mix)\n  mix.c:33\n"
           b"\t           891f5 main+0x305 (/tmp/mix)\n  mix.c:99\n\n")
ONE_LINE = b"orders 7/7 1.000000: 250 cycles: 1418 parse+0x48 (/tmp/mix)\norders 7/7 2.000000: 250 cycles: 1418 work+0x48 (/tmp/mix)\n"
BARS = (b"@us[main]:\n[0]                    1 |@@@@                |\n[1]                   12 |@@@@@@@@@@@@@@@@@@@@|\n"
        b"[2, 4)                 3 |@@@@@               |\n")
MAPS = b"@[\n    parse+48 (/tmp/mix)\n    main+305 (/tmp/mix)\n, app]: 125\n@[\n    main+305 (/tmp/mix)\n, app]: 37\n"
BACKTICKS = b"\n              app`parse+0x10\n              app`main+0x4\n               12\n\n              app`main+0x4\n               30\n"
NO_BACKTICKS = BACKTICKS.replace(b"app`", b"")
FOLDED = b"main;parse 10\nmain;work 25\n"

# What may end the text: nobody can tell a cut there.
CASES = {
    "perf script": ("perf-script", STACKS, lambda t: t.endswith((b"\n\n", b"cycles: \n"))),
    "perf script with source lines": ("perf-script", SOURCES, lambda t: t.endswith((b"\n\n", b"cycles: \n", b"33\n", b"99\n"))),
    "perf script, a line each": ("perf-script", ONE_LINE, lambda t: t.endswith(b"\n")),
    "bpftrace's histograms": ("bpftrace", BARS, lambda t: t.endswith(b"|\n")),
    "bpftrace's stacks": ("bpftrace", MAPS, lambda t: re.search(rb"\]: \d+\n$", t)),
    "DTrace": ("dtrace", BACKTICKS, lambda t: re.search(rb" \d\d\n+$", t)),
    "DTrace without modules": ("dtrace", NO_BACKTICKS, lambda t: re.search(rb" \d\d\n+$", t)),
    "folded": ("folded", FOLDED, lambda t: t.endswith(b"\n")),
}


def said(name, text):
    done = subprocess.run([BIN, "info", "-", "-v", "--from", name], input=text, capture_output=True)
    return SAYS.search((done.stdout + done.stderr).decode(errors="replace"))


@pytest.mark.parametrize("case", CASES)
def test_every_cut_is_said_that_can_be_seen(case):
    name, text, may_end = CASES[case]
    for n in range(1, len(text) + 1):
        assert bool(said(name, text[:n])) != bool(may_end(text[:n])), (n, text[:n][-60:])


def test_a_bar_that_is_not_closed_is_a_loss():
    done = subprocess.run([BIN, "info", "-", "--strict", "--from", "bpftrace"], input=BARS[:-8], capture_output=True)
    assert done.returncode == 3 and b"SPAA-L301" in done.stderr and b"the bar of a histogram" in done.stderr


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not here")
@pytest.mark.parametrize("options", [["-g"], [], ["-g", "--srcline"]], ids=["chains", "addresses", "source lines"])
def test_what_perf_prints_is_whole(options, tmp_path):
    chains = [o for o in options if o == "-g"]
    recorded = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", *chains, "-o", "d", "--", "ls", "-lR", "/usr/share/doc/perl"],
                              cwd=tmp_path, capture_output=True)
    if recorded.returncode or not (tmp_path / "d").exists():
        pytest.skip("perf cannot record here")
    fields = ["-F", "+srcline"] if "--srcline" in options else []
    text = subprocess.run(["perf", "script", "-i", "d", *fields], cwd=tmp_path, capture_output=True).stdout
    assert text.endswith(b"\n")
    assert not said("perf-script", text)

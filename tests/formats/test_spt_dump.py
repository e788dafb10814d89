"""sptdump and `spaa dump` of SPT files."""

import os
import subprocess

import gen_spt as spt
import pytest
from conftest import BIN, SANITIZERS, parse, run
from spt_files import small, write

GOLDENS = os.path.join(os.path.dirname(__file__), "goldens_spt")


@pytest.fixture
def sptdump(tmp_path):
    at = tmp_path / "bin"
    at.mkdir()
    (at / "sptdump").symlink_to(BIN)

    def call(*args, code=0, **more):
        p = subprocess.run([at / "sptdump", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env={**os.environ, **SANITIZERS}, timeout=60, check=False, **more)
        assert p.returncode == code, p.stderr.decode()
        return (p.stdout if code != 2 else p.stderr).decode()
    return call


def test_sptdump_against_its_golden(sptdump, tmp_path):
    write(tmp_path / "small.spt", small())
    got = sptdump("small.spt", cwd=tmp_path)
    golden = os.path.join(GOLDENS, "small.txt")
    if os.environ.get("SPAA_UPDATE_GOLDENS"):
        os.makedirs(GOLDENS, exist_ok=True)
        with open(golden, "w", encoding="utf-8") as f:
            f.write(got)
    with open(golden, encoding="utf-8") as f:
        assert got == f.read()


def test_sptdump_options(sptdump, tmp_path):
    path = write(tmp_path / "small.spt", small())
    everything = sptdump(path)
    assert sptdump("/ALL", path) == sptdump(path, "--all") == everything
    head, ids, strings, events = (sptdump(o, path) for o in ("/header", "-PROGID", "--strtab", "/Event"))
    first = "SPT file %s\n\n" % path
    assert everything == first + "".join(x[len(first):] for x in (head, strings, ids, events))
    assert sptdump("/event", path, "/header") == first + head[len(first):] + events[len(first):]
    assert "Header" in head and "Events" not in head
    assert "/progid" in sptdump("/help") and sptdump("--HELP", path) == sptdump("/help")
    sptdump(code=2)
    sptdump("/headers", code=3)  # no option, so a file, which is not there
    assert "takes one file" in sptdump(path, path, code=2)
    assert "no option /headers" in sptdump("/headers", path, code=2) and "no option -x" in sptdump(path, "-x", code=2)
    sptdump(os.path.join(tmp_path, "missing.spt"), code=3)
    assert sptdump("/header", "-", stdin=open(path, "rb")).startswith("SPT file -\n")


def test_sptdump_is_made_of_the_facts_of_dump(sptdump, tmp_path):
    """Each event of the text, taken apart again, is that of `spaa dump`."""
    for seed in range(20):
        path = write(tmp_path / "x.spt", spt.random_file(seed))
        seen, current = [], None
        for line in sptdump("/event", path).splitlines():
            words = line.split()
            if line.startswith("Totals"):
                break
            if line.startswith("  0x") and "bytes:" not in words and len(words) > 1 and words[1].startswith("SPT_OP"):
                current = [int(words[0], 16), words[1], []]
                if words[1] == "SPT_OP_REPEAT":
                    current[2] = int(words[2])
                elif words[1] == "SPT_OP_BINARY_ID":
                    current[2] = int(words[-1], 16)
                else:
                    current.append(int(words[7]))
                seen.append(current)
            elif line.startswith("                0x"):
                current[2].append(tuple(int(w, 16) for w in words if w != "->"))
        wanted = []
        for x in map(parse, run("dump", path, "--section", "event").out.splitlines()):
            if x["record"] is None:
                continue
            w = [x["offset"], x["record"]]
            if "repeat" in x:
                w.append(x["repeat"])
            elif "length" in x:
                w.append(x["length"])
            else:
                if "pairs" in x:
                    what = [(int(p["from"], 16), int(p["to"], 16)) for p in x["pairs"]]
                else:
                    flat = [int(v, 16) for v in x.get("frames", x.get("rvas"))]
                    what = list(zip(flat, flat[1:])) if "frames" in x and len(flat) > 1 else [(v,) for v in flat]
                w += [what, x["hits"]]
            wanted.append(w)
        assert seen == wanted, seed


def test_sections_of_dump(tmp_path):
    path = write(tmp_path / "x.spt", small())
    for name, number in (("header", 1), ("strtab", 2), ("progid", 2), ("event", 9), ("total", 4), ("header,progid", 3)):
        assert len(run("dump", path, "--section", name).out.splitlines()) == number, name
    run("dump", path, "-o", tmp_path / "out.jsonl", code=0)
    assert (tmp_path / "out.jsonl").read_text() == run("dump", path).out
    assert "did you mean header" in run("dump", path, "--section", "haeder", code=2).err
    run("dump", write(tmp_path / "x.folded", b"a;b 1\n"), code=3)

"""Profiles of a program that is built here: the same text as jeprof, google-pprof and go tool pprof give."""

import os
import random
import re
import shutil
import struct
import subprocess

import pytest

from conftest import ask, run

CC = shutil.which("cc") or shutil.which("gcc")
GO = shutil.which("go") or "/usr/local/go/bin/go"
pytestmark = pytest.mark.skipif(not CC or not shutil.which("nm") or not shutil.which("readelf"), reason="no compiler")
NAMES = ["parse_line", "read_block", "grow_table", "hash_row", "serve", "loop_once", "run_all"]
SOURCE = "".join("__attribute__((noinline)) int %s(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * x; return s; }\n"
                 % n for n in NAMES) + "int main(int c, char **v) { (void)v; return %s; }\n" % " + ".join("%s(c)" % n for n in NAMES)


class Program:
    def __init__(self, folder, pie):
        self.path = str(folder / "program")
        source = folder / "program.c"
        source.write_text(SOURCE)
        subprocess.run([CC, "-O0", "-g0", "-pie" if pie else "-no-pie", "-fPIE" if pie else "-fno-pie", str(source),
                        "-o", self.path], check=True)
        self.base = 0x55d000000000 if pie else 0
        self.symbols = {}
        for line in subprocess.run(["nm", self.path], check=True, stdout=subprocess.PIPE).stdout.decode().splitlines():
            m = re.match(r"([0-9a-f]+) [Tt] (\w+)$", line)
            if m:
                self.symbols[m[2]] = int(m[1], 16)
        out = subprocess.run(["readelf", "-lW", self.path], check=True, stdout=subprocess.PIPE).stdout.decode()
        self.maps = ""
        for m in re.finditer(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x(\w+) (...) ", out):
            offset, vaddr, size = (int(m[i], 16) for i in (1, 2, 4))
            start, end = vaddr & ~0xfff, (vaddr + size + 0xfff) & ~0xfff
            perms = "r" + ("w" if "W" in m[5] else "-") + ("x" if "E" in m[5] else "-") + "p"
            self.maps += "%x-%x %s %08x 08:01 99   %s\n" % (start + self.base, end + self.base, perms, offset & ~0xfff, self.path)

    def address(self, r, name):
        return self.base + self.symbols[name] + r.randrange(8, 24)


@pytest.fixture(scope="module", params=[False, True], ids=["fixed", "pie"])
def program(request, tmp_path_factory):
    return Program(tmp_path_factory.mktemp("pie" if request.param else "fixed"), request.param)


def stacks(program, seed, n=60):
    r = random.Random(seed)
    return [([program.address(r, r.choice(NAMES)) for _ in range(r.randrange(1, 6))] + [program.address(r, "main")],
             r.randrange(1, 60), r.randrange(16, 100000)) for _ in range(n)]


def ours(path, *args):
    rows = ask("top", path, "-n", "0", *args)["rows"]
    return {r["function"]: (int(r["self"]), int(r["total"])) for r in rows}


def perl(tool, program, path, *args):
    """{function: (flat, cum)} of the Perl scripts' --text, each name on a line."""
    answer = subprocess.run([tool, "--text", *args, program.path, str(path)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert answer.returncode == 0, answer.stderr
    rows = {}
    for line in answer.stdout.decode().splitlines():
        m = re.match(r"\s*(-?\d+)\s+\S+%\s+\S+%\s+(-?\d+)\s+\S+%\s+(\S+)", line)
        if m:
            rows[m[3]] = (int(m[1]), int(m[2]))
    assert rows
    return rows


def near(a, b, slack):
    assert set(a) == set(b)
    for name in a:
        assert all(abs(x - y) <= slack for x, y in zip(a[name], b[name])), (name, a[name], b[name])


@pytest.mark.skipif(not shutil.which("jeprof"), reason="no jeprof")
@pytest.mark.parametrize("accum", [False, True])
def test_jemalloc_as_jeprof(program, tmp_path, accum):
    rows = stacks(program, 1)
    text = "heap_v2/65536\n  t*: 1: 1 [%s]\n" % ("5: 5" if accum else "0: 0")
    for i, (addresses, n, size) in enumerate(rows):
        more = (n + 3, n * size + 3 * size) if accum else (0, 0)
        text += "@ " + " ".join(map(hex, addresses)) + "\n"
        for t in ("*", i % 3):
            text += "  t%s: %d: %d [%d: %d]\n" % (t, n, n * size, *more)
    path = tmp_path / "je.heap"
    path.write_text(text + "\nMAPPED_LIBRARIES:\n" + program.maps)
    near(ours(path, "--metric", "live_bytes"), perl("jeprof", program, path, "--inuse_space", "--show_bytes"), len(rows))
    near(ours(path, "--metric", "live_count"), perl("jeprof", program, path, "--inuse_objects"), len(rows))
    if accum:
        near(ours(path, "--metric", "alloc_bytes"), perl("jeprof", program, path, "--alloc_space", "--show_bytes"), len(rows))


@pytest.mark.skipif(not shutil.which("google-pprof"), reason="no google-pprof")
@pytest.mark.parametrize("kind", ["heapprofile", "heap_v2/65536"])
def test_tcmalloc_as_google_pprof(program, tmp_path, kind):
    rows = stacks(program, 2)
    text = "heap profile: 1: 1 [ 9: 9] @ %s\n" % kind
    for addresses, n, size in rows:
        text += "%d: %d [%d: %d] @ %s\n" % (n, n * size, n + 2, (n + 2) * size, " ".join(map(hex, addresses)))
    path = tmp_path / "tc.heap"
    path.write_text(text + "\nMAPPED_LIBRARIES:\n" + program.maps)
    slack = 0 if kind == "heapprofile" else len(rows)
    near(ours(path, "--metric", "alloc_bytes"), perl("google-pprof", program, path, "--alloc_space", "--show_bytes"), slack)
    near(ours(path, "--metric", "live_bytes"), perl("google-pprof", program, path, "--inuse_space", "--show_bytes"), slack)
    near(ours(path, "--metric", "live_count"), perl("google-pprof", program, path, "--inuse_objects"), slack)


def cpu_profile(program, path, form):
    rows = stacks(program, 3)
    with open(path, "wb") as f:
        f.write(struct.pack("%s5Q" % form, 0, 3, 0, 4000, 0))
        for addresses, n, _ in rows:
            f.write(struct.pack("%s%dQ" % (form, len(addresses) + 2), n, len(addresses), *addresses))
        f.write(struct.pack("%s3Q" % form, 0, 1, 0) + program.maps.encode())


@pytest.mark.skipif(not shutil.which("google-pprof"), reason="no google-pprof")
def test_cpu_as_google_pprof(program, tmp_path):
    path = tmp_path / "cpu.prof"
    cpu_profile(program, path, "<")
    near(ours(path, "--metric", "samples"), perl("google-pprof", program, path), 0)


@pytest.mark.skipif(not shutil.which("google-pprof"), reason="no google-pprof")
def test_symbolized_by_google_pprof(program, tmp_path):
    """What --raw writes says the same as symbols do, without the program."""
    path, raw = tmp_path / "cpu.prof", tmp_path / "cpu.raw"
    cpu_profile(program, path, "<")
    with open(raw, "wb") as f:
        subprocess.run(["google-pprof", "--raw", program.path, str(path)], check=True, stdout=f, stderr=subprocess.PIPE)
    assert ours(raw, "--no-symbols", "--metric", "samples") == ours(path, "--metric", "samples")


@pytest.mark.skipif(not os.path.exists(GO), reason="no go tool pprof")
def test_written_as_pprof_go_shows_the_same_top(program, tmp_path):
    path, out = tmp_path / "cpu.prof", tmp_path / "cpu.pb.gz"
    cpu_profile(program, path, ">")
    run("convert", "-q", path, "-o", out, code=0)
    answer = subprocess.run([GO, "tool", "pprof", "-symbolize=none", "-top", "-unit=ns", "-nodefraction=0", str(out)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
                            env={**os.environ, "PPROF_TMPDIR": str(tmp_path)})
    rows = {m[3]: (int(m[1]), int(m[2])) for m in
            re.finditer(r"^ *(\d+)(?:ns)? +\S+% +\S+% +(\d+)(?:ns)? +\S+%  (\S+)$", answer.stdout.decode(), re.M)}
    assert rows == ours(path)


def test_symbols_are_found_below_symfs(program, tmp_path):
    path = tmp_path / "cpu.prof"
    cpu_profile(program, path, "<")
    moved = tmp_path / "root" / program.path.lstrip("/")
    moved.parent.mkdir(parents=True)
    shutil.copy(program.path, moved)
    data = path.read_bytes().replace(program.path.encode(), program.path.encode().replace(b"program", b"absent_"))
    shutil.move(moved, str(moved).replace("program", "absent_"))
    path.write_bytes(data)
    assert "main" in ours(path, "--symfs", tmp_path / "root")
    bare = ours(path)
    assert "main" not in bare and all(name.startswith("0x") for name in bare)

"""A file that somebody cuts off while it is read: an error with the file and where it ends now, never a signal."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from conftest import BIN, ROOT, SANITIZERS, run

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
from perf_data_files import CALLCHAIN, IP, PERIOD, TID, TIME, Recording  # noqa: E402
from test_jitdump import jitdump  # noqa: E402
from test_symbolize import one_frame_profile  # noqa: E402
from test_symbols_sweep import addresses, build  # noqa: E402

# The file of SHRINK is cut to SHRINK_TO bytes behind the SHRINK_AT-th call that reads or maps it.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int seen;
static void look(int fd)
{
    char link[64], path[4096];
    const char *want = getenv("SHRINK");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = want ? readlink(link, path, sizeof path - 1) : -1;
    if (n < 0)
        return;
    path[n] = 0;
    if (!strcmp(path, want) && ++seen == atoi(getenv("SHRINK_AT")) && truncate(path, atoll(getenv("SHRINK_TO"))))
        abort();
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t read(int fd, void *p, size_t n) { ssize_t r = REAL(read)(fd, p, n); look(fd); return r; }
ssize_t pread(int fd, void *p, size_t n, off_t o) { ssize_t r = REAL(pread)(fd, p, n, o); look(fd); return r; }
ssize_t pread64(int fd, void *p, size_t n, off64_t o) { ssize_t r = REAL(pread64)(fd, p, n, o); look(fd); return r; }
void *mmap(void *a, size_t n, int p, int f, int fd, off_t o)
{ void *r = REAL(mmap)(a, n, p, f, fd, o); if (fd >= 0) look(fd); return r; }
void *mmap64(void *a, size_t n, int p, int f, int fd, off64_t o)
{ void *r = REAL(mmap64)(a, n, p, f, fd, o); if (fd >= 0) look(fd); return r; }
"""

LIBRARY = os.path.join(os.path.dirname(BIN), "libspaa.so")
CLIENT = r"""
import ctypes, json, sys
def handlers():
    return [line for line in open("/proc/self/status") if line.startswith(("SigCgt", "SigIgn", "SigBlk"))]
before = handlers()
spaa = ctypes.CDLL(sys.argv[1])
profile, said = ctypes.c_void_p(), ctypes.c_void_p()
status = spaa.spaa_profile_open(sys.argv[2].encode(), None, ctypes.byref(profile), ctypes.byref(said))
spaa.spaa_diagnostics_total.restype = ctypes.c_uint64
print(json.dumps([status, bool(profile.value), spaa.spaa_diagnostics_total(said, b"error"), before == handlers()]))
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    at = tmp_path_factory.mktemp("shim")
    (at / "shim.c").write_text(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"], cwd=at, check=True)
    done = subprocess.run([BIN, "version"], env={**os.environ, **SANITIZERS, "LD_PRELOAD": str(at / "shim.so")},
                          capture_output=True, check=False)
    if done.returncode:
        pytest.skip("nothing can be loaded before a sanitizer")
    return {"LD_PRELOAD": str(at / "shim.so")}


def cut(shim, path, to, at=1):
    return {**shim, "SHRINK": os.path.realpath(path), "SHRINK_TO": str(to), "SHRINK_AT": str(at)}


def assert_told(answer, path, offset):
    assert answer.code == 3, (answer.code, answer.err)
    line = next(line for line in answer.err.splitlines() if "SPAA-E014" in line)
    assert str(path) in line and str(offset) in line, line
    assert answer.out == ""


def folded(path):
    path.write_text("".join(f"main;work{i};leaf{i % 97} {i % 13 + 1}\n" for i in range(200_000)))


def spaa(path):
    folded(path.with_suffix(".folded"))
    run("convert", path.with_suffix(".folded"), "-o", path, code=0)


def perf_data(path):
    r = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99})])
    r.comm(10, 10, b"prog", 1000)
    r.mmap2(10, 0x400000, 0x10000, 0, b"/opt/prog", 1000)
    for i in range(20_000):
        r.sample(chain=[0x401000 + i % 4096, 0x402000], pid=10, tid=10, time=2000 + i)
    path.write_bytes(r.bytes())


def pprof(path):
    folded(path.with_suffix(".folded"))
    run("convert", path.with_suffix(".folded"), "--to", "pprof", "-o", path.with_suffix(".pb.gz"), code=0)
    subprocess.run(f"gzip -dc {path.with_suffix('.pb.gz')} > {path}", shell=True, check=True)


INPUTS = {"in.folded": folded, "in.spaa": spaa, "perf.data": perf_data, "in.pb": pprof}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs(name, shim, tmp_path):
    path = tmp_path / name
    INPUTS[name](path)
    size = path.stat().st_size
    assert size > 1_100_000
    for to in (size // 3, size - 5, 0):
        copy = tmp_path / ("copy-" + name)
        shutil.copy(path, copy)
        read_before = 1 << 20
        assert_told(run("top", copy, env=cut(shim, copy, to)), copy, max(to, read_before))


@pytest.mark.parametrize("command", ["validate", "info", "convert"])
def test_commands(command, shim, tmp_path):
    path = tmp_path / "in.spaa"
    spaa(path)
    more = ["--to", "folded", "-o", "-"] if command == "convert" else []
    answer = run(command, path, *more, env=cut(shim, path, path.stat().st_size - 7))
    assert answer.code == 3 and "SPAA-E014" in answer.err, answer


@pytest.mark.skipif(not os.path.exists(LIBRARY), reason="a build without the shared library, as for the sanitizers")
def test_the_library_says_so_and_leaves_signals_alone(shim, tmp_path):
    for name in INPUTS:
        path = tmp_path / name
        INPUTS[name](path)
        done = subprocess.run([sys.executable, "-c", CLIENT, LIBRARY, path], capture_output=True, text=True, check=False,
                              env={**os.environ, **cut(shim, path, path.stat().st_size // 2)})
        assert done.returncode == 0, (name, done.returncode, done.stderr)
        status, profile, errors, same_signals = json.loads(done.stdout)
        assert (status, profile, errors > 0, same_signals) == (2, False, True, True), (name, done.stdout)


def assert_symbols_told(shim, tmp_path, profile, root, path, to, reads=1):
    """At whichever of its first reads the file is cut off."""
    whole = path.read_bytes()
    for at in range(1, reads + 1):
        path.write_bytes(whole)
        answer = run("symbolize", profile, "--symfs", root, "-o", tmp_path / "out.spaa", env=cut(shim, path, to, at))
        assert_told(answer, path, to)
        assert not (tmp_path / "out.spaa").exists()
    path.write_bytes(whole)


@pytest.mark.parametrize("flags", [("-gdwarf-5",), ("-gdwarf-5", "-gz"), ("-gdwarf-4", "-gsplit-dwarf")], ids=" ".join)
def test_elf_files_with_debug_information(flags, shim, tmp_path):
    prog = build(tmp_path, *flags)
    root = tmp_path / "symfs"
    (root / "opt").mkdir(parents=True)
    one_frame_profile(tmp_path / "in.spaa", "/opt/prog", addresses(prog))
    path = root / "opt" / "prog"
    prog.rename(path)
    for to in (0, path.stat().st_size // 2, path.stat().st_size - 3):
        assert_symbols_told(shim, tmp_path, tmp_path / "in.spaa", root, path, to, 12)
    if "-gsplit-dwarf" in flags:
        dwo = tmp_path / "prog.dwo"
        assert_symbols_told(shim, tmp_path, tmp_path / "in.spaa", root, dwo, dwo.stat().st_size // 2, 3)


def test_code_made_at_run_time_and_the_kernel(shim, tmp_path):
    root = tmp_path / "symfs"
    (root / "tmp").mkdir(parents=True)
    (root / "proc").mkdir()
    jitdump(root / "tmp" / "jit-77.dump", False)
    (root / "tmp" / "perf-78.map").write_text("5000 100 alpha\n5080 10 beta of more\n4ff0 20 gamma\n")
    (root / "proc" / "kallsyms").write_text("ffffffff81000000 T _text\nffffffff81000100 t one\nffffffff81000200 T two\n")
    for pid, name in ((77, "jit-77.dump"), (78, "perf-78.map")):
        profile = tmp_path / f"{pid}.spaa"
        one_frame_profile(profile, "[anon]", [0x4ff8, 0x5015])
        profile.write_text(profile.read_text().replace('"context": {', '"context": {"pid": %d, ' % pid))
        assert_symbols_told(shim, tmp_path, profile, root, root / "tmp" / name, 20)
    kernel = tmp_path / "kernel.spaa"
    one_frame_profile(kernel, "[kernel]", [0x110, 0x220])
    kernel.write_text(kernel.read_text().replace('"is_kernel": false', '"is_kernel": true').replace('"user"', '"kernel"'))
    assert_symbols_told(shim, tmp_path, kernel, root, root / "proc" / "kallsyms", 30)

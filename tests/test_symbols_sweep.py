"""Every allocation fails in turn while names are looked up: the same answer, or out of memory; see
tests/oom/symbols_sweep.c. With every kind of file that names and lines come from."""

import lzma
import os
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, SANITIZERS

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import test_pdb  # noqa: E402
from test_jitdump import jitdump  # noqa: E402
from test_perf_depth import MACHINES, USER  # noqa: E402
from test_symbolize import one_frame_profile  # noqa: E402
import macho_files  # noqa: E402
import test_macho  # noqa: E402

SWEEP = os.path.join(os.path.dirname(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))), "tests", "symbols_sweep")

# Names of C++, Rust (legacy, v0 with an identifier in Punycode) and D, inlined functions, two units.
SOURCE = r"""
namespace { __attribute__((always_inline)) inline int mix(int x) { return x * 31 + (x >> 3); } }
static __attribute__((always_inline)) inline int twice(int x) { return mix(mix(x) ^ 5); }
namespace shapes { template <class T> __attribute__((noinline)) T area(T k) { return (T)twice((int)k); } }
extern "C" __attribute__((noinline)) int _ZN3foo3bar17h0123456789abcdefE(int x) { return twice(x); }
extern "C" __attribute__((noinline)) int _RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y(int x) { return mix(x); }
#ifdef D
extern "C" __attribute__((noinline)) int _D3foo3barFiZi(int x) { return mix(x) + 1; }
#else
#define _D3foo3barFiZi mix
#endif
int other(int);
int main(int argc, char **) { return shapes::area<int>(argc) + shapes::area<double>(argc) + other(argc)
    + _ZN3foo3bar17h0123456789abcdefE(argc) + _D3foo3barFiZi(argc)
    + _RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y(argc); }
"""
OTHER = r"""
static __attribute__((always_inline)) inline int third(int x) { return x / 3; }
__attribute__((noinline)) int other(int x) { return third(x) * third(x + 1); }
"""


def build(at, *flags, compiler="g++"):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    (at / "prog.cpp").write_text(SOURCE)
    (at / "other.cpp").write_text(OTHER)
    for name in ("prog", "other"):
        subprocess.run([compiler, "-g", "-O2", *flags, "-c", name + ".cpp"], cwd=at, check=True)
    subprocess.run([compiler, *[f for f in flags if f.startswith("-gz")], "prog.o", "other.o", "-o", "prog"], cwd=at, check=True)
    return at / "prog"


def addresses(binary):
    """A few of each function of ours."""
    out = subprocess.run(["nm", "-S", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines() if len(line.split()) == 4]
    ours = [(int(r[0], 16), int(r[1], 16)) for r in rows if r[2] in "tTwW" and not r[3].startswith("_start")]
    return sorted({start + n * size // 3 for start, size in ours for n in range(3)})


def sweep(symfs, *profiles, options=()):
    if not os.path.exists(SWEEP):
        pytest.skip("no symbols_sweep")
    env = {**os.environ, **SANITIZERS, "HOME": str(symfs)}
    done = subprocess.run([SWEEP, *options, str(symfs), *map(str, profiles)], capture_output=True, text=True, env=env, timeout=600)
    assert done.returncode == 0, (done.returncode, done.stdout[-4000:], done.stderr[-4000:])
    return done.stdout


def elf(tmp_path, *flags, change=None, **more):
    """A profile of addresses of a program that stands in the symfs as /opt/prog."""
    prog = build(tmp_path, *flags, **more)
    at = addresses(prog)
    root = tmp_path / "symfs"
    (root / "opt").mkdir(parents=True)
    if change:
        change(prog)
    prog.rename(root / "opt" / "prog")
    one_frame_profile(tmp_path / "in.spaa", "/opt/prog", at)
    return root, tmp_path / "in.spaa"


@pytest.mark.parametrize("flags", [("-gdwarf-5",), ("-gdwarf-4",), ("-gdwarf-5", "-gz"), ("-gdwarf-3", "-gstrict-dwarf")], ids=" ".join)
def test_inlined_functions_and_lines(flags, tmp_path):
    sweep(*elf(tmp_path, *flags))


def test_names_of_d(tmp_path):
    sweep(*elf(tmp_path, "-gdwarf-5", "-DD"), options=["-d"])


@pytest.mark.parametrize("version", [4, 5])
def test_split_units(version, tmp_path):
    sweep(*elf(tmp_path, f"-gdwarf-{version}", "-gsplit-dwarf"))


def test_split_units_in_a_package(tmp_path):
    if not shutil.which("dwp"):
        pytest.skip("no dwp")

    def pack(prog):
        subprocess.run(["dwp", "-e", "prog", "-o", "symfs/opt/prog.dwp"], cwd=prog.parent, check=True, timeout=60)
        for name in ("prog.dwo", "other.dwo"):
            (prog.parent / name).unlink()
    sweep(*elf(tmp_path, "-gdwarf-4", "-gsplit-dwarf", change=pack))


def common(prog):
    """Moves what two programs have in common to a file of its own."""
    shutil.copy(prog, prog.parent / "prog2")
    subprocess.run(["dwz", "-m", "common.debug", "-M", "/opt/common.debug", "prog", "prog2"], cwd=prog.parent, check=True)
    return (prog.parent / "common.debug").rename(prog.parent / "symfs" / "opt" / "common.debug")


def test_dwz_s_common_file(tmp_path):
    if not shutil.which("dwz"):
        pytest.skip("no dwz")
    sweep(*elf(tmp_path, "-gdwarf-4", change=common))


def test_a_separate_debug_file(tmp_path):
    def separate(prog):
        def run(*c):
            subprocess.run(c, cwd=prog.parent, check=True)
        run("objcopy", "--only-keep-debug", "prog", "symfs/opt/prog.debug")
        run("objcopy", "--strip-all", "--add-gnu-debuglink=symfs/opt/prog.debug", "prog")
    sweep(*elf(tmp_path, "-gdwarf-5", "-Wl,--build-id=none", change=separate))


def half(path):
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


def test_a_dwo_that_is_cut_and_one_that_was_moved(tmp_path):
    def move(prog):
        half(prog.parent / "prog.dwo")
        (prog.parent / "other.dwo").rename(prog.parent / "symfs" / "opt" / "other.dwo")
    sweep(*elf(tmp_path, "-gdwarf-5", "-gsplit-dwarf", change=move))


def test_a_package_and_a_common_file_that_are_cut(tmp_path):
    if not shutil.which("dwz"):
        pytest.skip("no dwz")

    def cut(prog):
        half(common(prog))
        (prog.parent / "symfs" / "opt" / "prog.dwp").write_bytes(b"nothing")
    sweep(*elf(tmp_path, "-gdwarf-4", change=cut))


@pytest.mark.parametrize("which", ["prog", "prog.debug"])
def test_files_that_are_cut(which, tmp_path):
    def cut(prog):
        def run(*c):
            subprocess.run(c, cwd=prog.parent, check=True)
        run("objcopy", "--only-keep-debug", "prog", "symfs/opt/prog.debug")
        run("objcopy", "--strip-all", "--add-gnu-debuglink=symfs/opt/prog.debug", "prog")
        half(prog if which == "prog" else prog.parent / "symfs" / "opt" / which)
    sweep(*elf(tmp_path, "-gdwarf-5", change=cut))


def test_symbols_in_gnu_debugdata(tmp_path):
    def mini(prog):
        def run(*c):
            subprocess.run(c, cwd=prog.parent, check=True)
        run("objcopy", "--strip-debug", "prog", "mini")
        (prog.parent / "mini.xz").write_bytes(lzma.compress((prog.parent / "mini").read_bytes()))
        run("strip", "prog")
        run("objcopy", "--add-section", ".gnu_debugdata=mini.xz", "prog")
    sweep(*elf(tmp_path, "-gdwarf-5", change=mini))


@pytest.mark.parametrize("version", [4, 5])
def test_mach_o_images_and_bundles(version, tmp_path):
    prog = test_macho.elf(tmp_path / "elf", f"-gdwarf-{version}")
    content, at = test_macho.as_macho(prog)
    root = tmp_path / "symfs"
    bundle = macho_files.bundle(root / "any" / "where", "prog", content)
    stripped = macho_files.image(test_macho.UUID, starts=at[::40], locals_=0)
    bundle.write_bytes(macho_files.fat((macho_files.X86_64, macho_files.image("1" * 32)), (macho_files.ARM64, content)))
    (root / "opt").mkdir()
    (root / "opt" / "prog").write_bytes(stripped)
    for name, file in (("/opt/prog", "image.spaa"), ("prog", "name.spaa")):
        test_macho.profile(tmp_path / file, name, test_macho.UUID, at[::60])
    test_macho.profile(tmp_path / "other.spaa", "prog", "2" * 32, at[:2])
    sweep(root, tmp_path / "image.spaa", tmp_path / "name.spaa", tmp_path / "other.spaa")


def test_windows(tmp_path):
    """A PDB as symbol servers keep it, one of another build that is met before, and an image without any."""
    key, at = test_pdb.key_of("x64"), (test_pdb.INLINED, 0x1000, 0x17ff)
    kept = tmp_path / "symfs" / "x64.pdb" / key.upper()
    (tmp_path / "symfs" / "build").mkdir(parents=True)
    kept.mkdir(parents=True)
    shutil.copy(test_pdb.path_of("x64"), kept)
    shutil.copy(test_pdb.path_of("x86"), tmp_path / "symfs" / "build" / "x64.pdb")
    shutil.copy(test_pdb.path_of("arm64", "exe"), tmp_path / "symfs" / "build")
    paths = []
    for name in ("x64", "arm64"):
        paths.append(tmp_path / (name + ".spaa"))
        one_frame_profile(paths[-1], "C:\\build\\%s.exe" % name, at)
        paths[-1].write_text(paths[-1].read_text().replace('"is_kernel"', '"build_id": "%s", "is_kernel"' % test_pdb.key_of(name)))
    sweep(tmp_path / "symfs", *paths)


def test_code_made_at_run_time_and_the_kernel(tmp_path):
    root = tmp_path / "symfs"
    (root / "tmp").mkdir(parents=True)
    (root / "proc").mkdir()
    jitdump(root / "tmp" / "jit-77.dump", False)
    (root / "tmp" / "perf-78.map").write_text("5000 100 alpha\n5080 10 beta of more\n4ff0 20 gamma\n")
    (root / "proc" / "kallsyms").write_text("ffffffff81000000 T _text\nffffffff81000100 t one\nffffffff81000200 T two\n"
                                            "ffffffffc0001000 t helper\t[module]\n")
    for pid in (77, 78):
        path = tmp_path / f"{pid}.spaa"
        one_frame_profile(path, "[anon]", [0x4ff8, 0x5015, 0x5048, 0x5090, 0x9004, 0x9100])
        path.write_text(path.read_text().replace('"context": {', '"context": {"pid": %d, ' % pid))
    kernel = tmp_path / "kernel.spaa"
    one_frame_profile(kernel, "[kernel]", [0x110, 0x220])
    kernel.write_text(kernel.read_text().replace('"is_kernel": false', '"is_kernel": true').replace('"user"', '"kernel"'))
    sweep(root, tmp_path / "77.spaa", tmp_path / "78.spaa", kernel)


def test_copied_stacks_are_unwound(tmp_path):
    m = MACHINES[0]
    root = tmp_path / "symfs"
    (root / "opt").mkdir(parents=True)
    (root / "opt" / "prog").write_bytes(m.elf().bytes())
    r = m.recording()
    stack = m.frames(r, (32, 0x1240), (64, 0x1340))
    r.sample([], ip=m.base + 0x1120, time=2000, tail=m.tail(r, m.base + 0x1120, {}, stack), misc=USER)
    (tmp_path / "perf.data").write_bytes(r.bytes())
    sweep(root, tmp_path / "perf.data")

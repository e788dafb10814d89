"""Files that a recording names, or that stand where anybody can write: opened where they may be, and believed of whom they may be."""

import os
import struct
import subprocess
import sys

import pytest

from conftest import ROOT
from hostile_elf import LO, elf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "formats"))
from perf_data_files import CALLCHAIN, IP, PERIOD, TID, TIME, Recording  # noqa: E402
from test_symbolize import one_frame_profile  # noqa: E402

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
PID = 2000000000 + os.getpid()  # larger than any that is
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="files of others are made by root")


def spaa(*args):
    done = subprocess.run([SPAA, *map(str, args)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done


def names(tmp_path, path, *options):
    one_frame_profile(tmp_path / "in.spaa", path, [LO])
    return '"func":"good"' in spaa("symbolize", tmp_path / "in.spaa", "--to", "spaa", "-o", "-", *options).stdout


@pytest.fixture
def places(tmp_path):
    binary = elf({}, symbols=struct.pack("<IBBHQQ", 1, 0x12, 0, 1, LO, 16), strings=b"\0good\0")
    for name in ("symfs/opt", "symfs/real", "outside"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("symfs/real/prog", "outside/prog"):
        (tmp_path / name).write_bytes(binary)
    return tmp_path


def test_links_in_a_symfs_are_those_of_its_root(places):
    at = places / "symfs" / "opt" / "prog"
    for link, found in (("../real/prog", True), ("/real/prog", True), ("../../outside/prog", False),
                        (places / "outside" / "prog", False), ("/proc/self/root" + str(places / "outside" / "prog"), False)):
        at.symlink_to(link)
        assert names(places, "/opt/prog", "--symfs", places / "symfs") == found, link
        at.unlink()
    (places / "symfs" / "opt").rmdir()
    (places / "symfs" / "opt").symlink_to(places / "outside")
    assert not names(places, "/opt/prog", "--symfs", places / "symfs")


def test_recorded_paths_do_not_go_up_nor_to_the_kernel_s_folders(places):
    outside = places / "outside" / "prog"
    assert names(places, outside)
    assert not names(places, str(places / "symfs") + "/../outside/prog")
    assert not names(places, "/real/../../outside/prog", "--symfs", places / "symfs")
    for way in ("/proc/self/root", "/./proc/self/root", "//./proc/self/root"):
        assert not names(places, way + str(outside))


def recording(tmp_path):
    r = Recording([(1, 0, IP | TID | TIME | PERIOD | CALLCHAIN, {"freq": 99})])
    r.comm(PID, PID, b"vm", 10)
    r.mmap(PID, 0x5000, 0x5000, 0, b"//anon", 11)
    r.sample(chain=[(1 << 64) - 512, 0x5010], pid=PID, tid=PID, time=100)
    (tmp_path / "perf.data").write_bytes(r.bytes())
    return tmp_path / "perf.data"


@pytest.fixture
def perf_map():
    path = f"/tmp/perf-{PID}.map"
    yield path
    os.unlink(path)


@root_only
def test_a_map_of_somebody_else_is_believed_when_told_so(tmp_path, perf_map):
    with open(perf_map, "w", encoding="ascii") as f:
        f.write("5000 100 jitted\n")
    path = recording(tmp_path)
    assert "jitted" in spaa("convert", path, "--to", "folded", "-o", "-").stdout
    os.chown(perf_map, 12345, 12345)
    done = spaa("convert", path, "--to", "folded", "-o", "-")
    assert "jitted" not in done.stdout and "SPAA-W807" in done.stderr and perf_map in done.stderr
    done = spaa("convert", path, "--to", "folded", "-o", "-", "--trust-maps")
    assert "jitted" in done.stdout and "SPAA-W807" not in done.stderr


def test_a_pipe_where_a_map_may_be_is_not_waited_for(tmp_path, perf_map):
    os.mkfifo(perf_map)
    assert "jitted" not in spaa("convert", recording(tmp_path), "--to", "folded", "-o", "-").stdout


@root_only
def test_a_link_of_somebody_else_to_a_map_is_not_believed(tmp_path, perf_map):
    """Whose name it is counts, not only whose file: /tmp/perf-PID.map may lead anywhere."""
    real = tmp_path / "names"
    real.write_text("5000 100 jitted\n")
    path = recording(tmp_path)
    os.symlink(real, perf_map)
    done = spaa("convert", path, "--to", "folded", "-o", "-")
    assert "jitted" in done.stdout and "SPAA-W807" not in done.stderr
    os.chown(perf_map, 12345, 12345, follow_symlinks=False)
    done = spaa("convert", path, "--to", "folded", "-o", "-")
    assert "jitted" not in done.stdout and "SPAA-W807" in done.stderr and perf_map in done.stderr
    assert "jitted" in spaa("convert", path, "--to", "folded", "-o", "-", "--trust-maps").stdout

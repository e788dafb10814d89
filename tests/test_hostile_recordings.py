"""Recordings and what is beside them, made to fill disks or take time: what they cost is bounded, and what is left out is said."""

import os
import resource
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "formats"))
import perf_data_files as files  # noqa: E402
from test_jitdump import dump_header, dump_lines, dump_load, dump_move, names_by_time, recording_of_a_vm  # noqa: E402
from test_perf_data import one_event  # noqa: E402

SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
WRITTEN = 192 << 20  # bytes that no file may grow beyond here
needs_zstd = pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd")


def convert(path, folder=None, most=WRITTEN):
    def hold():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    env = {**os.environ, **({"TMPDIR": str(folder)} if folder else {})}
    return subprocess.run([SPAA, "convert", path, "--no-symbols", "--to", "spaa", "-o", "-"], capture_output=True, text=True, preexec_fn=hold, env=env, timeout=600)


def packed(tmp_path, pieces):
    """A recording of one sample, and COMPRESSED records that the pieces are packed into, piece by piece."""
    with subprocess.Popen(["zstd", "-q", "-c", "-19", "--long=27"], stdin=subprocess.PIPE, stdout=open(tmp_path / "z", "wb")) as z:
        for piece in pieces:
            z.stdin.write(piece)
        z.stdin.close()
    data, r = (tmp_path / "z").read_bytes(), one_event()
    for at in range(0, len(data), 65000):
        r.record(files.COMPRESSED, 0, data[at:at + 65000])
    r.sample([files.CONTEXT["user"], 0x1010], time=100)
    (tmp_path / "perf.data").write_bytes(r.bytes())
    return tmp_path / "perf.data"


@needs_zstd
def test_what_is_no_record_is_not_spooled(tmp_path):
    """Zeros are records of no size: 2 GB of them were written before that was seen."""
    path = packed(tmp_path, (bytes(1 << 20) for _ in range(1 << 10)))
    done = convert(path, most=16 << 20)
    assert done.returncode == 0, done.stderr
    assert "SPAA-L305" in done.stderr and "no record" in done.stderr
    assert '"0x10"' in done.stdout, "the sample beside it is there"


@needs_zstd
def test_records_that_stand_for_too_many(tmp_path):
    one = one_event()
    one.record(2, 0, bytes(65520))  # LOST
    record = one.body[-65528:]
    path = packed(tmp_path, (record * 16 for _ in range(1 << 10)))
    assert os.path.getsize(path) < 1 << 18
    done = convert(path, most=512 << 20)
    assert done.returncode != 0
    assert "SPAA-E007" in done.stderr and "COMPRESSED" in done.stderr


@needs_zstd
def test_a_full_disk_names_the_folder(tmp_path):
    one = one_event()
    one.record(2, 0, bytes(65520))
    path = packed(tmp_path, (one.body[-65528:] * 16 for _ in range(30)))
    (tmp_path / "tmp").mkdir()
    done = convert(path, folder=tmp_path / "tmp", most=1 << 20)
    assert done.returncode not in (0, -25), "an error, and no SIGXFSZ"
    assert "SPAA-E020" in done.stderr and str(tmp_path / "tmp") in done.stderr and "ulimit -f" in done.stderr


def test_code_that_moves_often(tmp_path):
    """A function that moves many times among many: each move is one look, and its lines go with it."""
    n, e = 100000, "<"
    dump = [dump_header(e), dump_lines(e, 100, 0x5000, (0x5000, 7, b"a.js")), dump_load(e, 100, 0x5000, 0x10, 1, b"mover")]
    dump += [dump_load(e, 101, 0x100000 + 16 * k, 0x10, 2 + k, b"other") for k in range(n)]
    for k in range(n):
        old, new = (0x5000, 0x6000) if k % 2 == 0 else (0x6000, 0x5000)
        dump.append(dump_move(e, 200 + k, old, new, 0x10, 1))
    path = recording_of_a_vm(tmp_path, b"".join(dump), samples=[(150, [0x5004]), (200 + 2 * n, [0x5004]), (200 + n - 2, [0x6004])], clockid=1)
    rows, _ = names_by_time(path)
    assert [r[-1] for r in rows] == ["mover@a.js:7"] * 3

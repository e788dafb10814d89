"""Kernel names of recordings without build-ids: from the running kernel, if that is the recorded one."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from perf_data_files import CALLCHAIN, CONTEXT, FEATURE, IP, KERNEL, PERIOD, TID, TIME, Recording, pad8  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
HERE_RUNS = os.uname()


def kallsyms(user=None):
    """Addresses of the kernel's own functions, by name, as a user sees them."""
    text = subprocess.run(["cat", "/proc/kallsyms"], capture_output=True, text=True, check=False, user=user).stdout
    return {m[2]: int(m[1], 16) for m in re.finditer(r"^([0-9a-f]+) [tT] (\w+)$", text, re.M)}


KERNEL_HERE = kallsyms()
TEXT = KERNEL_HERE.get("_text", 0)
sees_kernel = pytest.mark.skipif(not TEXT or "vfs_read" not in KERNEL_HERE, reason="kallsyms shows no addresses")
TO_COPY = "cat /proc/kallsyms > FILE"


def recording(host=HERE_RUNS.nodename, release=HERE_RUNS.release, name=b"[kernel.kallsyms]_text", text=TEXT, pipe=False, build_ids=b""):
    """One sample in vfs_read; what is None is not in the recording."""
    r = Recording([(1, 0, IP | TID | TIME | CALLCHAIN | PERIOD, {"freq": 99})], pipe=pipe)
    for bit, value in ((3, host), (4, release)):
        if value is None:
            continue
        if pipe:
            r.record(FEATURE, 0, r.pack("Q", bit) + r.text(value.encode()))
        else:
            r.features[bit] = r.text(value.encode())
    if build_ids:
        r.features[2] = build_ids
    if name is not None:
        r.kernel(text, name)
    r.comm(10, 10, b"prog", 1000)
    r.sample([CONTEXT["kernel"], KERNEL_HERE.get("vfs_read", 0) - TEXT + text + 5], time=2000, misc=KERNEL)
    return r.bytes()


def convert(data, *options, path="-", command="convert", **more):
    r = subprocess.run([SPAA, command, path, "--to", "spaa", "-o", "-", *options], input=data, capture_output=True, check=False, **more)
    assert r.returncode == 0, r.stderr
    records = [json.loads(line) for line in r.stdout.splitlines()]
    return [f["func"] for f in records if f["type"] == "frame"], r.stderr.decode(), r.stdout


@sees_kernel
@pytest.mark.parametrize("pipe", [False, True])
@pytest.mark.parametrize("name", [b"[kernel.kallsyms]_text", b"[kernel.kallsyms]_stext"])
def test_names_of_the_running_kernel(pipe, name, tmp_path):
    data = recording(pipe=pipe, name=name, text=KERNEL_HERE[name.partition(b"]")[2].decode()])
    names, said, named = convert(data)
    assert names == ["vfs_read"] and not said
    bare = convert(data, "--no-symbols")
    assert bare[0] != names
    (tmp_path / "bare.spaa").write_bytes(bare[2])
    assert convert(None, path=tmp_path / "bare.spaa", command="symbolize")[2] == named


REFUSED = {
    "host": (dict(host="elsewhere"), f"was made on host elsewhere, this is {HERE_RUNS.nodename}"),
    "no host": (dict(host=None), "does not say which host it was made on"),
    "release": (dict(release="2.6.32-5-amd64"), f"is of release 2.6.32-5-amd64, here runs {HERE_RUNS.release}"),
    "no release": (dict(release=None), "does not say which release it is"),
    "boot": (dict(text=TEXT + 0x1000000), f"had _text at {TEXT + 0x1000000:#x}, here it is at {TEXT:#x}"),
    "unnamed": (dict(name=b"[kernel.kallsyms]"), "does not say where its _text was"),
    "no map": (dict(name=None), "does not say where its _text was"),
    "nothing": (dict(host=None, release=None, name=None), "no kallsyms of the recorded kernel;"),
}


@sees_kernel
@pytest.mark.parametrize("what", REFUSED)
def test_names_of_another_kernel_are_not_taken(what, tmp_path):
    how, why = REFUSED[what]
    data = recording(**how)
    names, said, _ = convert(data)
    assert len(names) == 1 and names[0].startswith("0x")
    assert why in said and "`--kallsyms /proc/kallsyms` only if" in said
    assert ("with the same build" if what == "boot" else "not booted since") in said
    assert convert(data, "--kallsyms", "/proc/kallsyms")[0] == ["vfs_read"]
    (tmp_path / "perf.data").write_bytes(data)
    quality = json.loads(subprocess.run([SPAA, "top", tmp_path / "perf.data", "--json"], capture_output=True,
                                        check=True).stdout)["quality"]["unresolved_by_dso"][0]
    assert "/proc/kallsyms" in quality["hint"] and why.rstrip(";") in quality["why"]


@sees_kernel
def test_a_build_id_of_another_kernel_is_not_outvoted():
    path = pad8(b"[kernel.kallsyms]\0")
    entry = struct.pack("<IHHi", 67, 1 | 1 << 15, 36 + len(path), -1) + bytes(range(1, 21)) + struct.pack("<B3x", 20) + path
    names, said, _ = convert(recording(build_ids=entry))
    assert names[0].startswith("0x") and "no kallsyms of the recorded kernel" in said
    assert "--kallsyms /proc/kallsyms" not in said


@sees_kernel
@pytest.mark.skipif(os.geteuid() != 0, reason="is root to no longer be")
def test_hidden_addresses_are_told():
    if any(kallsyms(65534).values()):
        pytest.skip("every user sees the kernel's addresses")
    names, said, _ = convert(recording(), user=65534)
    assert names[0].startswith("0x")
    assert "/proc/kallsyms hides the addresses (kernel.kptr_restrict)" in said and TO_COPY in said


WAYS = {"plain": [], "-z": ["-z"], "-B": ["-B"], "-N": ["-N"], "--buildid-mmap": ["--buildid-mmap"], "pipe": None}


@sees_kernel
@pytest.mark.parametrize("way", WAYS)
def test_real_recordings_have_the_names_of_perf_script(way, tmp_path):
    path = str(tmp_path / "perf.data")
    load = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=40000"]
    if not shutil.which("perf"):
        pytest.skip("perf is not installed")
    options = ["-e", "cpu-clock", "-F", "999", "-g"]
    with open(path, "wb") as out:
        done = subprocess.run(["perf", "record", *options, *(["-o", "-"] if way == "pipe" else [*WAYS[way], "-o", path]), "--", *load],
                              stdout=out if way == "pipe" else subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        pytest.skip("perf cannot record here")
    ours = subprocess.run([SPAA, "convert", path, "--samples", "--no-inline", "--to", "perf-script", "-o", "-"],
                          capture_output=True, text=True, check=True).stdout
    theirs = subprocess.run(["perf", "script", "-i", path, "--no-inline"], capture_output=True, text=True, check=True).stdout
    kernel = re.compile(r"^\s+[0-9a-f]+ (.*) \(\[kernel\.kallsyms\]\)$", re.M)
    assert len(kernel.findall(theirs)) > 20
    assert kernel.findall(ours) == kernel.findall(theirs)

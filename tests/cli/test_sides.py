"""--kernel and --user: stacks without such frames are no part of the answer, and the share that is left is said."""

import json
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
TEXT = "".join(f"prog 10/10 1.{i:06}: 1 cycles:\n" + "".join(f"\t{ip:x} {name} ({dso})\n" for ip, name, dso in frames) + "\n"
               for i, frames in enumerate([[(0x10, "burn", "/bin/a"), (0x20, "main", "/bin/a")]] * 90 +
                                          [[(0xffffffff81000010, "vfs_read", "[kernel.kallsyms]"), (0x30, "main", "/bin/a")]] * 8 +
                                          [[(0xffffffff81000020, "kthread", "[kernel.kallsyms]")], []]))


@pytest.fixture
def path(tmp_path):
    (tmp_path / "script.txt").write_text(TEXT)
    return tmp_path / "script.txt"


def run(*args, status=0):
    r = subprocess.run([SPAA, *args], capture_output=True, text=True, check=False)
    assert r.returncode == status, r.stderr
    return r


def rows(path, *options):
    answer = json.loads(run("top", path, "--json", *options).stdout)
    left = {(r.get("function"), r["self"]) for r in answer["rows"] if r["self"]}
    return sum(weight for _, weight in left), left


@pytest.mark.parametrize("options, total, left", [
    (["--kernel"], 9, {("vfs_read", 8), ("kthread", 1)}),
    (["--user"], 98, {("burn", 90), ("main", 8)}),
    (["--kernel", "--dso", "[kernel]"], 9, {("vfs_read", 8), ("kthread", 1)}),
    (["--kernel", "--focus", "kthread"], 1, {("kthread", 1)}),
])
def test_stacks_without_such_frames_are_gone(path, options, total, left):
    assert rows(path, *options) == (total, left)


def test_frames_that_were_hidden_were_there(path):
    total, left = rows(path, "--kernel", "--hide", "vfs_read")
    assert total == 9 and ("kthread", 1) in left


def test_the_kept_share_is_said(path):
    assert "--kernel keeps 9, 9.00% of the event's 100" in run("top", path, "--kernel").stdout
    assert "[no stack]" not in run("top", path, "--kernel", "-n", "0").stdout
    assert "[no stack]" not in run("tree", path, "--kernel").stdout


def test_no_frame_is_both(path):
    assert "no stack fits all" in run("top", path, "--kernel", "--user", status=1).stderr


def test_profiles_that_know_no_such_frames_say_so(tmp_path):
    (tmp_path / "a.folded").write_text("main;burn 3\n")
    assert "no frame is known to be of kernel code" in run("top", tmp_path / "a.folded", "--kernel", status=1).stderr

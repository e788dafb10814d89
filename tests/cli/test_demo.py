"""`spaa demo`: the recordings that come with the program, and what it says can be asked of them."""

import filecmp
import os
import re
import subprocess

import pytest
from conftest import BIN, ROOT, run

DEMO = os.path.join(ROOT, "demo")
NOT_SHIPPED = {"run.sh", "record.sh", "thin_elf.py"}


def shipped():
    """Files of demo/ but for those that make it."""
    for at, folders, names in os.walk(DEMO):
        folders[:] = [f for f in folders if f != "out"]
        for name in names:
            path = os.path.relpath(os.path.join(at, name), DEMO)
            if path not in NOT_SHIPPED:
                yield path


def plain(path):
    return subprocess.run(["zstd", "-qdc", path], check=True, capture_output=True).stdout


def test_what_it_lists_can_be_asked(tmp_path):
    listed = run("demo", code=0).out
    run("demo", "-o", tmp_path / "DIR", code=0)
    commands = re.findall(r"^  (spaa .*?)(?:  +#.*)?$", listed, re.M)
    assert len(commands) >= 5
    (tmp_path / "bin").mkdir()
    os.symlink(BIN, tmp_path / "bin" / "spaa")
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    for command in commands:
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path / "DIR", env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done.stderr)
    names = set(re.findall(r"^  (orders-\S+) ", listed, re.M))
    assert names == {name.removesuffix(".perf.data.zst") for name in shipped() if name.endswith(".zst")}


def test_a_folder_has_all_of_it(tmp_path):
    answer = run("demo", "-o", tmp_path / "a" / "b", code=0)
    wanted = sorted(shipped())
    assert sorted(line.split()[1] for line in answer.out.splitlines()) == sorted(str(tmp_path / "a" / "b" / p) for p in wanted)
    for path in wanted:
        mine = tmp_path / "a" / "b" / path
        if path.endswith(".zst"):
            assert plain(mine) == plain(os.path.join(DEMO, path))
        else:
            assert filecmp.cmp(mine, os.path.join(DEMO, path), shallow=False), path
    assert {line.split()[0] for line in run("demo", "-o", tmp_path / "a" / "b", code=0).out.splitlines()} == {"replaced"}


@pytest.mark.parametrize("name", ["orders-1", "orders-1.perf.data.zst"])
def test_one_of_them(tmp_path, name):
    wanted = plain(os.path.join(DEMO, "orders-1.perf.data.zst"))
    run("demo", name, "-o", tmp_path / "x.perf.data", code=0)
    assert (tmp_path / "x.perf.data").read_bytes() == wanted
    run("demo", name, "-o", tmp_path / "x.zst", code=0)
    assert plain(tmp_path / "x.zst") == wanted
    assert subprocess.run([BIN, "demo", name, "-o", "-"], capture_output=True, timeout=60).stdout == wanted


@pytest.mark.parametrize("args, says", [
    (["orders-3"], "orders-1 orders-2"), (["order"], "there are"), (["orders-1"], "-o"), (["-o", "-"], "one recording"),
    (["orders-1", "orders-2", "-o", "x"], "one recording"), (["-o", ""], "-o")])
def test_what_it_does_not_do(tmp_path, args, says):
    answer = run("demo", *args, code=2, cwd=tmp_path)
    assert says in answer.err and answer.out == "" and not os.listdir(tmp_path)


def test_where_it_cannot_write(tmp_path):
    (tmp_path / "file").write_text("")
    assert "SPAA-E020" in run("demo", "-o", tmp_path / "file", code=3).err
    assert "SPAA-E020" in run("demo", "orders-1", "-o", tmp_path, code=3).err
    assert os.listdir(tmp_path) == ["file"]


def test_make_demo_is_a_user_of_it():
    env = {**os.environ, "SPAA_BIN": BIN}
    done = subprocess.run([os.path.join(DEMO, "run.sh")], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("$ spaa ") == 4 and "demo/out/orders.svg" in done.stdout


def test_one_to_standard_output_writes_nothing_else(tmp_path):
    """Whatever stood in memory before: the path was not ended, and files called "-" and something were left."""
    for byte in "1", "170":
        done = run("demo", "orders-1", "-o", "-", cwd=tmp_path, code=0, env={**os.environ, "MALLOC_PERTURB_": byte})
        assert done.raw and not os.listdir(tmp_path)

"""view: the file is what convert writes; the viewer is run where it is there, and else the answer says what to do."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.request

import pytest
from conftest import BIN, run


@pytest.fixture
def profile(tmp_path):
    (tmp_path / "x.folded").write_text("a;b 3\na;c 4\n")
    return tmp_path / "x.folded"


def view(*args, env=(), code=0):
    done = subprocess.run([BIN, "view", *map(str, args)], capture_output=True, text=True, env={**os.environ, **dict(env)}, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("viewer", ["firefox", "speedscope"])
def test_the_file_is_that_of_convert_in_a_folder_of_its_own(profile, tmp_path, viewer):
    out, _ = view(profile, "--in", viewer, env={"TMPDIR": str(tmp_path), "PATH": "/nowhere"})
    path = shlex.split(out.splitlines()[0])[1]
    assert os.path.dirname(os.path.dirname(path)) == str(tmp_path)
    assert os.stat(os.path.dirname(path)).st_mode & 0o77 == 0 and os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
    run("convert", profile, "--to", viewer, "-o", tmp_path / "same.json", code=0)
    assert open(path).read() == (tmp_path / "same.json").read_text()


def test_speedscope_is_run_where_it_is(profile, tmp_path):
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "speedscope"
    fake.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{tmp_path}/asked'\n")
    fake.chmod(0o755)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    out, err = view(profile, "--in", "speedscope", "-o", tmp_path / "it's here.json", env={"PATH": path})
    assert (out, err) == ("", "") and (tmp_path / "asked").read_text() == f"{tmp_path}/it's here.json\n"
    fake.write_text("#!/bin/sh\nexit 3\n")
    out, _ = view(profile, "--in", "speedscope", "-o", tmp_path / "b.json", env={"PATH": path}, code=3)
    assert "speedscope failed" in out
    out, _ = view(profile, "--in", "speedscope", "-o", tmp_path / "b.json", env={"PATH": "/nowhere"})
    assert "not installed" in out and shlex.join(["speedscope", f"{tmp_path}/b.json"]) in out


def test_the_command_for_firefox_serves_the_file_to_its_page(profile, tmp_path):
    name = tmp_path / "a folder" / "x y.json"
    name.parent.mkdir()
    out, _ = view(profile, "--in", "firefox", "-o", name)
    command = next(x.strip() for x in out.splitlines() if "http.server" in x)
    url = re.search(r"from-url/(\S+)", out)[1]
    assert url == "http%3A%2F%2F127.0.0.1%3A8123%2Fx%2520y.json"
    port = 20000 + os.getpid() % 20000
    server = subprocess.Popen(["sh", "-c", command.replace("8123", str(port)).replace("python3", f"exec '{sys.executable}'")],
                              stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                answer = urllib.request.urlopen(f"http://127.0.0.1:{port}/x%20y.json")
                break
            except OSError:
                time.sleep(0.1)
        assert answer.headers["Access-Control-Allow-Origin"] == "https://profiler.firefox.com"
        assert json.loads(answer.read()) == json.loads(name.read_text())
    finally:
        server.kill()
        server.wait()


def test_filters_hold_and_mistakes_are_refused(profile, tmp_path):
    view(profile, "--in", "speedscope", "--focus", "b", "-o", tmp_path / "f.json", env={"PATH": "/nowhere"})
    assert {f["name"] for f in json.loads((tmp_path / "f.json").read_text())["shared"]["frames"]} >= {"a", "b"}
    assert '"c"' not in (tmp_path / "f.json").read_text()
    assert "view needs a viewer" in view(profile, code=2)[1]
    assert 'no viewer "chrome"' in view(profile, "--in", "chrome", code=2)[1]
    view(profile, "--in", "firefox", "-o", "-", code=2)
    assert "view takes one input, not 2" in run("view", profile, profile, "--in", "firefox", code=2).err
    before = set(os.listdir(tmp_path))
    view(tmp_path / "nosuch", "--in", "firefox", env={"TMPDIR": str(tmp_path)}, code=3)
    assert set(os.listdir(tmp_path)) == before

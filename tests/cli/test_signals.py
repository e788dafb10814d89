"""A signal that ends the program leaves no half-written output behind, and is what the program dies of."""

import fcntl
import os
import random
import resource
import signal
import subprocess
import time

import pytest
from conftest import BIN, ROOT

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
STREAM = os.path.join(ROOT, "tests", "fixtures", "spt", "small.spt")


@pytest.fixture(autouse=True)
def signals_end_programs():
    """Also where the tests run under nohup or behind &: what is ignored stays so in the programs they start."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Many different stacks, so that writing them takes a while."""
    rng = random.Random(19)
    path = tmp_path_factory.mktemp("large") / "in.perf-script"
    with open(path, "w", encoding="ascii") as f:
        for i in range(15000):
            f.write(f"app {i % 50 + 1} {i // 1000}.{i % 1000:03}000: 1 cycles:\n")
            for _ in range(20):
                at = rng.randrange(1 << 20)
                f.write(f"\t{at:x} f{at >> 8}+0x{at & 255:x} (/bin/app)\n")
            f.write("\n")
    return str(path)


def wait_for_half(folder, p):
    """Waits for a temporary file; False where the program was done before."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if any(n.endswith(".tmp") for n in os.listdir(folder)):
            return True
        if p.poll() is not None:
            return False
    raise AssertionError("nothing is written")


def end_it(folder, number, args, **more):
    """Ends the command while it writes into folder: what it died of, and what stands in the folder."""
    for _ in range(5):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        p = subprocess.Popen([BIN, *args], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, **more)
        half = wait_for_half(folder, p)
        p.send_signal(number)
        code = p.wait(timeout=60)
        if half and code != 0:
            return code, os.listdir(folder)
    raise AssertionError("always done before the signal came")


COMMANDS = {
    "convert": ("IN", "-o", "out.spaa.gz"),
    "merge": ("IN", "-o", "out.spaa.gz"),
    "symbolize": ("IN", "-o", "out.folded.gz"),
    "flamegraph": ("IN", "--min-width", "0.001", "--width", "20000", "-o", "out.svg.gz"),
    "timeline": ("IN", "-o", "out.spaa.gz"),
}


@pytest.mark.parametrize("command,number", [("convert", s) for s in SIGNALS] +
                         [(c, signal.SIGINT) for c in COMMANDS if c != "convert"])
def test_nothing_is_left_of_what_was_being_written(large, tmp_path, command, number):
    args = [command, *(large if a == "IN" else a for a in COMMANDS[command])]
    code, left = end_it(str(tmp_path), number, args)
    assert code == -number
    assert left == []


@pytest.mark.parametrize("number", SIGNALS, ids=lambda s: s.name)
def test_of_an_input_without_end(tmp_path, number):
    """dump writes while it reads: here from a FIFO that stays open and gives nothing more."""
    out = tmp_path / "out"
    out.mkdir()
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR)
    with open(STREAM, "rb") as f:
        os.write(end, f.read()[:-4])
    code, left = end_it(str(out), number, ["dump", "--from", "spt", fifo, "-o", "records.ndjson"])
    os.close(end)
    assert (code, left) == (-number, [])


@pytest.mark.parametrize("number", SIGNALS, ids=lambda s: s.name)
def test_a_conversion_that_still_reads_leaves_nothing(tmp_path, number):
    fifo, out = str(tmp_path / "fifo"), tmp_path / "out.spaa"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR)
    os.write(end, b"main;parse 1\nmain;draw 2\n")
    p = subprocess.Popen([BIN, "convert", "--from", "folded", fifo, "-o", str(out)], stderr=subprocess.DEVNULL)
    time.sleep(0.2)
    p.send_signal(number)
    assert p.wait(timeout=60) == -number
    os.close(end)
    assert os.listdir(tmp_path) == ["fifo"]


def test_the_file_that_was_there_stays(large, tmp_path):
    before = b"what was there before\n"
    target = tmp_path / "elsewhere" / "real.spaa.gz"
    target.parent.mkdir()
    link = tmp_path / "out.spaa.gz"
    link.symlink_to(target)
    for _ in range(5):
        target.write_bytes(before)
        p = subprocess.Popen([BIN, "convert", large, "-o", str(link)], stderr=subprocess.DEVNULL)
        half = wait_for_half(target.parent, p)
        p.terminate()
        if half and p.wait(timeout=60) != 0:
            break
    else:
        raise AssertionError("always done before the signal came")
    assert os.listdir(target.parent) == ["real.spaa.gz"] and target.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_pipe_that_nobody_reads_is_left_at_the_first_signal(tmp_path, number):
    fifo = tmp_path / "out.spaa"
    os.mkfifo(fifo)
    (tmp_path / "in.folded").write_text("main;work 3\n")
    p = subprocess.Popen([BIN, "convert", tmp_path / "in.folded", "-o", fifo], stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        assert p.poll() is None  # it waits
        p.send_signal(number)
        assert p.wait(timeout=20) == -number
    finally:
        p.kill()
        p.wait()
    assert sorted(os.listdir(tmp_path)) == ["in.folded", "out.spaa"]


def test_ignored_signals_stay_ignored(tmp_path):
    """As under nohup."""
    fifo, out = str(tmp_path / "fifo"), tmp_path / "out.spaa"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR)
    p = subprocess.Popen([BIN, "convert", "--from", "folded", fifo, "-o", str(out)], stderr=subprocess.DEVNULL,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(0.2)
    p.send_signal(signal.SIGHUP)
    os.write(end, b"main;parse 1\n")
    writer = os.open(fifo, os.O_WRONLY)
    os.close(end)
    os.close(writer)
    assert p.wait(timeout=60) == 0 and out.exists()


def test_a_limit_of_file_size_is_an_error_with_words(large, tmp_path):
    p = subprocess.run([BIN, "convert", large, "-o", str(tmp_path / "out.spaa")], capture_output=True, text=True,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert p.returncode == 3 and "File too large" in p.stderr, p.stderr
    assert os.listdir(tmp_path) == []


def test_half_written_files_of_dead_processes_go(tmp_path):
    """Those that somebody holds, young ones, and what is named otherwise stay: the number says nothing of who writes."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    # Of a container, 1 is its own first process and not this system's; any number may be another process's now.
    dead, foreign, reused = f".spaa-{gone.pid}-0.tmp", ".spaa-1-0.tmp", f".spaa-{os.getpid()}-1.tmp"
    young, other = f".spaa-{gone.pid}-1.tmp", f".spaa-{gone.pid}-x.tmp"
    held = f".spaa-{gone.pid}-2.tmp"
    for name in (dead, young, foreign, held, other, reused):
        (tmp_path / name).write_text("half")
        age = 600 if name == young else 3700
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    (tmp_path / "in.folded").write_text("main;work 3\n")
    with open(tmp_path / held, "rb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        subprocess.run([BIN, "convert", tmp_path / "in.folded", "-o", tmp_path / "out.spaa"], check=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([young, held, other, "in.folded", "out.spaa"])

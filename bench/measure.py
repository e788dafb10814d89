"""Runs commands in turns and says what they cost: processor time, wall time and memory."""
import os
import resource
import signal
import statistics
import subprocess
import tempfile
import threading
import time

MB = 1e6


class Failed(Exception):
    pass


class Run:
    """One finished process. `parts` are lines "NAME CPU WALL" that it printed."""

    def __init__(self, cpu, wall, peak, output):
        self.cpu, self.wall, self.peak, self.parts = cpu, wall, peak, {}
        for line in output.splitlines():
            words = line.split()
            if len(words) == 3 and words[0] in ("read", "write"):
                self.parts[words[0]] = (float(words[1]), float(words[2]))


def run(command, limit=None, keep_output=False):
    """Raises Failed when it exits with anything but 0; returns None when it took longer than limit seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out if keep_output else subprocess.DEVNULL,
                                 stderr=err, start_new_session=True)  # so that what a shell started can be stopped with it
        late = threading.Event()

        def stop():
            late.set()
            os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(limit, stop) if limit else None
        if timer:
            timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # an interrupt, or the end of the whole run
            stop()
            raise
        wall = time.monotonic() - start
        if timer:
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        if late.is_set():
            return None
        if child.returncode:
            err.seek(0)
            raise Failed(f"{' '.join(command)}: exit {child.returncode}: {err.read().decode(errors='replace')[-500:]}")
        out.seek(0)
        output = out.read().decode() if keep_output else ""
        return Run(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, output)


class Side:
    """One contender: a command, and the runs of it so far."""

    def __init__(self, name, command, part=False):
        self.name, self.command, self.part = name, command, part
        self.runs, self.spent, self.late = [], 0.0, None

    def values(self, part=None):
        """(cpu, wall) of each run."""
        return [r.parts[part] if part else (r.cpu, r.wall) for r in self.runs]

    def median(self, part=None):
        found = self.values(part)
        return statistics.median(v[0] for v in found), statistics.median(v[1] for v in found)

    def peak(self):
        return max((r.peak for r in self.runs), default=0)


class Bench:
    """Sides are run in turns: A B C, A B C, … A side that would exceed its budget of seconds sits out; one that
    is quick goes on for more rounds, because short runs vary most."""

    MORE = 3

    def __init__(self, rounds, budget, limit, log):
        self.rounds, self.budget, self.limit, self.log = rounds, budget, limit, log

    def wants(self, side, turn):
        budget = self.budget if turn < self.rounds else self.budget / 10
        return not side.late and (not turn or side.spent * (turn + 1) / turn <= budget)

    def compare(self, sides):
        for turn in range(self.rounds * self.MORE):
            for side in sides:
                if not self.wants(side, turn):
                    continue
                self.log(f"{side.name}, run {turn + 1}")
                done = run(side.command, self.limit, side.part)
                if done is None:
                    side.late = self.limit
                else:
                    side.runs.append(done)
                    side.spent += done.wall
        return sides


def memory(command, interval=0.0005):
    """Peak bytes of a run: (resident, of these anonymous), by looking at /proc all the time."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    resident = anonymous = 0
    with open(f"/proc/{child.pid}/status", "rb") as status:
        while child.poll() is None:
            try:
                status.seek(0)
                fields = dict(line.split(b":", 1) for line in status.read().splitlines() if b":" in line)
            except ProcessLookupError:
                break
            if b"VmHWM" in fields:
                resident = max(resident, int(fields[b"VmHWM"].split()[0]) * 1024)
                anonymous = max(anonymous, int(fields[b"RssAnon"].split()[0]) * 1024)
            time.sleep(interval)
    if child.wait():
        raise Failed(f"{' '.join(command)}: exit {child.returncode}")
    return resident, anonymous


def runs_within(command, data_bytes):
    """Whether it succeeds when it may have no more than so many bytes of private writable memory."""
    def restrict():
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          preexec_fn=restrict, check=False).returncode == 0

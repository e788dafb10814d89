#!/usr/bin/env python3
"""A recording of branches where the processor records none: `perf record -b` simulated of a trace of valgrind.

    simulate.py OUT.perf.data PROGRAM [ARGUMENT…]

valgrind's lackey says every instruction that the program runs; where one is not followed by the next in memory, a
branch was taken. The last 32 of these are the branch stack of a sample, which is taken every PERIOD branches. What no
trace knows is not there: predictions are all right, cycles are not counted, and time is the number of branches.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats"))
from perf_data_files import BRANCH_STACK, IP, PERIOD, TID, TIME, Recording  # noqa: E402

DEPTH, EVERY = 32, 97
Map = collections.namedtuple("Map", "start size offset")


def valgrind(program, arguments, log):
    return subprocess.Popen(["valgrind", "--tool=lackey", "--trace-mem=yes", "--trace-symtab=yes",
                             "--trace-symtab-patt=*" + os.path.basename(program), "--log-file=" + log, program, *arguments],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env={"PATH": os.environ["PATH"]})  # what the loader runs depends on it


def trace(program, arguments):
    """The map of the program's code, then address and size of each instruction that runs."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        os.mkfifo(log)
        child = valgrind(program, arguments, log)
        mapping = {}
        with open(log, "r", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith("I  "):
                    address, size = line[3:].split(",")
                    if mapping is not None:
                        yield Map(mapping["avma"], mapping["size"], mapping["foff"])
                        mapping = None
                    yield int(address, 16), int(size)
                elif mapping is not None:
                    found = re.search(r"rx_map:\s+avma (0x[0-9a-f]+) +size (\d+) +foff (\d+)", line)
                    if found:
                        mapping = {"avma": int(found[1], 16), "size": int(found[2]), "foff": int(found[3])}
        if child.wait():
            raise SystemExit("%s failed" % program)


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, check=False).stdout.decode()
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return bytes.fromhex(found[1]) if found else b""


class Recorder:
    """Samples of branches as perf.data, and the exact counts of the whole run to compare with."""

    def __init__(self, program, every=EVERY):
        self.file = Recording([(0, 4, IP | TID | TIME | PERIOD | BRANCH_STACK, {"period": every, "branch": 1 | 1 << 3})])
        self.file.describe([b"branches:u"])
        self.program, self.every = program, every
        self.stack, self.taken, self.samples = collections.deque(maxlen=DEPTH), 0, []
        self.branches, self.executed = collections.Counter(), collections.Counter()

    def run(self, arguments):
        steps = trace(self.program, arguments)
        self.map = next(steps)
        self.file.comm(10, 10, os.path.basename(self.program).encode(), 1)
        self.file.mmap2(10, self.map.start, self.map.size, self.map.offset, os.path.abspath(self.program).encode(), 1,
                        build_id=build_id(self.program))
        before = after = None
        for address, size in steps:
            self.executed[address] += 1
            if address != after and address != before and before is not None:  # a rep instruction runs several times
                self.take(before, address)
            before, after = address, address + size

    def take(self, source, target):
        self.branches[source, target] += 1
        self.stack.appendleft((source, target))
        self.taken += 1
        if self.taken % self.every == 0 and len(self.stack) == DEPTH:
            self.samples.append(list(self.stack))
            flat = [v for entry in self.stack for v in (*entry, 2)]  # predicted rightly
            tail = self.file.pack("Q%dQ" % len(flat), DEPTH, *flat)
            self.file.sample(ip=target, time=1000 + self.taken, period=self.every, tail=tail)

    def bytes(self):
        return self.file.bytes()


if __name__ == "__main__":
    recorder = Recorder(sys.argv[2])
    recorder.run(sys.argv[3:])
    with open(sys.argv[1], "wb") as out:
        out.write(recorder.bytes())
    print("%d samples of %d taken branches" % (len(recorder.samples), recorder.taken))

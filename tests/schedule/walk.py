"""What threads did, from `perf script`'s words of a recording and nothing else: the judge's own walk.

It claims only what two events of a thread in a row show. Where one between them is missing (two leavings without
a coming) nothing is claimed: the time is `unsure`, and an answer may put it into any state.
"""

import re
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, field

STATES = ("running", "runnable", "blocked")
LINE = re.compile(
    r"^\s*(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+"
    r"(?:sched:)?(?P<event>sched_\w+|[^ ]+):\s*(?P<rest>.*)$"
)
SWITCH = re.compile(
    r"prev_comm=(.*) prev_pid=(-?\d+) prev_prio=-?\d+ prev_state=(\S+) ==> next_comm=(.*) next_pid=(-?\d+) next_prio"
)
WOKEN = re.compile(r"comm=(.*) pid=(-?\d+) prio=")


@dataclass
class Part:
    """Intervals of one state of one thread."""

    ns: int = 0  # of those that are whole
    n: int = 0
    longest: int = 0
    edge: int = 0  # of those that began before the recording, or are not over
    bare: int = 0  # of `ns`: blocked, but nothing says when it was woken

    def add(self, ns: int) -> None:
        self.ns += ns
        self.n += 1
        self.longest = max(self.longest, ns)


@dataclass
class Thread:
    tid: int
    comm: str = ""
    pid: int = -1
    parts: dict = field(default_factory=lambda: {s: Part() for s in STATES})
    unsure: int = 0  # it may have been in any state
    wakers: Counter = field(default_factory=Counter)
    migrations: int = 0
    switches: int = 0
    last: str = "none"  # none, in, out, over; lost: it left, nobody knows when
    since: int = 0
    ready: bool = False  # of out: it was put off the CPU, or is new
    woken: int | None = None
    waker: int | None = None
    early: int | None = None
    cpu: int | None = None


@dataclass
class Walk:
    threads: dict
    begin: int
    end: int
    events: Counter
    idle: dict  # by CPU


def script(path: str) -> list[re.Match]:
    fields = "comm,pid,tid,cpu,time,event,trace"
    done = subprocess.run(
        ["perf", "script", "-i", str(path), "--ns", "-F", fields], capture_output=True, text=True, errors="replace"
    )
    return [m for m in map(LINE.match, done.stdout.splitlines()) if m]


def goes(x: Thread, t: int, state: str) -> None:
    if x.last == "in":
        x.parts["running"].add(t - x.since)
    elif x.last == "lost":
        x.unsure += t - x.since
    elif x.last == "none":
        pass  # the caller knows where the recording began
    elif x.last == "out":
        split(x, t)
    over = state[0] in "XZ"
    x.last, x.since, x.ready = ("over" if over else "out"), t, state[0] == "R"
    x.woken = x.waker = None


def split(x: Thread, t: int) -> None:
    """Out, and out again at t: that it came between is not recorded."""
    if not x.ready and x.woken is not None:
        x.parts["blocked"].add(x.woken - x.since)
        x.wakers[x.waker] += 1
        x.unsure += t - x.woken
    else:
        x.unsure += t - x.since


def comes(x: Thread, t: int, cpu: int) -> None:
    x.switches += 1
    x.migrations += x.cpu is not None and x.cpu != cpu
    if x.last in ("in", "lost"):
        x.unsure += t - x.since
    elif x.last == "out" and x.ready:
        x.parts["runnable"].add(t - x.since)
    elif x.last == "out" and x.woken is not None:
        x.parts["blocked"].add(x.woken - x.since)
        x.wakers[x.waker] += 1
        x.parts["runnable"].add(t - x.woken)
    elif x.last == "out" and x.early is not None:
        x.parts["runnable"].add(t - x.since)  # woken while it was about to leave
    elif x.last == "out":
        x.parts["blocked"].add(t - x.since)
        x.parts["blocked"].bare += t - x.since
    x.last, x.since, x.cpu = "in", t, cpu
    x.woken = x.waker = x.early = None


def wakes(x: Thread, t: int, waker: int, new: bool, begin: int) -> None:
    if new:
        x.last, x.since, x.ready, x.woken, x.early, x.cpu = "out", t, True, None, None, None
    elif x.last == "none":
        x.parts["blocked"].edge += t - begin
        x.last, x.since, x.ready = "out", t, True
    elif x.last == "in":
        x.early = t
    elif x.last == "lost":
        x.unsure += t - x.since
        x.last, x.since, x.ready = "out", t, True
    elif x.last == "out" and x.woken is None and not x.ready:
        x.woken, x.waker = t, waker


def does(x: Thread, t: int, cpu: int) -> None:
    """An event of its own, of a thread that left its CPU: it came again before t, which is not recorded."""
    if x.last == "out":
        split(x, t)
    else:
        x.unsure += t - x.since
    x.last, x.since, x.cpu = "in", t, cpu
    x.woken = x.waker = x.early = None


def ends(x: Thread, end: int, gaps: int) -> None:
    if gaps and x.last == "out" and (x.ready or x.woken is not None):
        if not x.ready:
            x.parts["blocked"].add(x.woken - x.since)
            x.wakers[x.waker] += 1
        x.unsure += end - (x.since if x.ready else x.woken)  # its coming may be what is missing
        return
    if x.last == "in":
        x.parts["running"].edge += end - x.since
    elif x.last == "lost":
        x.unsure += end - x.since
    elif x.last == "out" and x.ready:
        x.parts["runnable"].edge += end - x.since
    elif x.last == "out" and x.woken is not None:
        x.parts["blocked"].add(x.woken - x.since)
        x.wakers[x.waker] += 1
        x.parts["runnable"].edge += end - x.woken
    elif x.last == "out":
        x.parts["blocked"].edge += end - x.since


def walk(path: str, alone: bool = False) -> Walk:
    """`alone`: a recording of one process: what runs beside it is not in it, nor how its threads came and ended."""
    rows = script(path)
    times = [int(m["s"]) * 10**9 + int(m["ns"]) for m in rows]
    events = Counter(m["event"] for m in rows)
    w = Walk({}, min(times, default=0), max(times, default=0), events, defaultdict(int))
    waking = "sched_waking" in events
    since: dict[int, int] = {}  # by CPU: its last switch
    now: dict[int, int] = {}
    left: set[int] = set()
    gaps = 0  # places where another thread leaves a CPU than came

    def thread(tid: int, comm: str) -> Thread:
        x = w.threads.setdefault(tid, Thread(tid))
        x.comm = comm or x.comm
        return x

    for m, t in zip(rows, times):
        cpu, event = int(m["cpu"]), m["event"]
        s = SWITCH.match(m["rest"]) if event == "sched_switch" else None
        if s:
            prev, nxt = int(s[2]), int(s[5])
            other = w.threads.get(now.get(cpu))
            if other and other.tid != prev and other.last == "in" and other.cpu == cpu:
                other.last = "lost"
            left.add(prev)
            gaps += cpu in now and now[cpu] != prev
            mine = w.threads.get(prev)
            if mine and mine.last == "in" and mine.cpu != cpu:
                mine.last = "lost"
            if prev:
                x = thread(prev, s[1])
                x.pid = int(m["pid"]) if int(m["tid"]) == prev else x.pid
                if x.last == "none" and cpu not in since and not alone:
                    x.parts["running"].edge += t - w.begin
                elif x.last == "none":
                    x.unsure += t - w.begin
                goes(x, t, s[3])
            if nxt:
                x = thread(nxt, s[4])
                if x.last == "none":
                    x.unsure += t - w.begin
                comes(x, t, cpu)
            if prev == 0 and now.get(cpu) == 0:
                w.idle[cpu] += t - since[cpu]
            since[cpu], now[cpu] = t, nxt
            continue
        own = w.threads.get(int(m["tid"]))
        if own and own.tid and own.last in ("out", "lost"):
            does(own, t, cpu)
        woken = WOKEN.match(m["rest"])
        new = event == "sched_wakeup_new"
        if woken and (new or event == "sched_waking" or event == "sched_wakeup" and not waking) and int(woken[2]):
            wakes(thread(int(woken[2]), woken[1]), t, int(m["tid"]), new, w.begin)
    if alone:  # of others only that they came is seen
        w.threads = {tid: x for tid, x in w.threads.items() if tid in left}
    for x in w.threads.values():
        if alone and x.last in ("in", "out"):
            x.unsure += w.end - x.since
        else:
            ends(x, w.end, gaps)
    return w

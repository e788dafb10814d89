"""Processes, threads and images of perf.data: made recordings, and what perf itself says of a real one."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ask, parse, run
from perf_data_files import CALLCHAIN, CONTEXT, CPU, EXIT, IP, KERNEL, PERIOD, TID, TIME, Recording

EVENT = (1, 0, IP | TID | TIME | CALLCHAIN | CPU | PERIOD, {"freq": 99})
USER = CONTEXT["user"]


def exits(r, pid, ppid, tid, time):
    r.record(EXIT, 0, r.pack("iiiiQ", pid, ppid, tid, ppid, time), r.trailer(pid, tid, time))


def program(r, pid, name, base, time, tid=None):
    """An exec, and what the kernel maps for it."""
    r.comm(pid, tid or pid, name, time, exec_=True)
    r.mmap2(pid, base, 0x1000, 0, b"/bin/" + name, time, bytes([len(name)] * 20))
    r.mmap2(pid, 0x7F0000000000, 0x4000, 0x1000, b"/lib/libc.so.6", time)
    r.mmap(pid, 0x7FFF00000000, 0x1000, 0, b"[vdso]", time)


def family(big=False, pipe=False):
    """A shell that was there before, a program of it, one that forks workers, and a pid that comes again."""
    r = Recording([EVENT], big, pipe)
    r.kernel()
    r.mmap(-1, 0xFFFFFFFFC0000000, 0x10000, 0, b"/lib/modules/6.1/kernel/net/snd-net.ko.xz", misc=KERNEL)
    r.mmap(-1, 0xFFFFFFFFC0100000, 0x10000, 0, b"/lib/modules/6.1/kernel/net/idle.ko", misc=KERNEL)
    r.fork(5, 1, 5, 1, made_up=True)
    r.comm(5, 5, b"sh")
    r.mmap(5, 0x100000, 0x1000, 0, b"/bin/sh (deleted)")
    r.mmap(5, 0x200000, 0x1000, 0, b"//anon")
    r.fork(10, 5, 10, 5, 1000)
    program(r, 10, b"server", 0x400000, 1100)
    r.fork(10, 10, 11, 10, 1200)
    r.comm(10, 11, b"worker", 1210)
    r.fork(20, 10, 20, 10, 1300)  # runs no program of its own
    r.fork(30, 5, 30, 5, 1400)
    program(r, 30, b"ls", 0x500000, 1410)
    exits(r, 30, 5, 30, 1500)
    r.fork(30, 5, 30, 5, 1600)  # the pid again
    program(r, 30, b"cat", 0x600000, 1610)
    k = CONTEXT["kernel"]
    r.sample([USER, 0x400010], pid=10, tid=10, time=2000)
    r.sample([USER, 0x400020], pid=10, tid=11, time=2010)
    r.sample([USER, 0x400030], pid=20, tid=20, time=2020)
    r.sample([k, 0xFFFFFFFF81000100, 0xFFFFFFFFC0000040, USER, 0x600010], pid=30, tid=30, time=2030, misc=KERNEL)
    exits(r, 10, 5, 11, 3000)
    exits(r, 10, 5, 10, 3100)
    exits(r, 20, 1, 20, 3200)
    return r


def converted(path, *more):
    return [parse(line) for line in run("convert", path, *more, "--to", "spaa", "-o", "-", code=0).out.splitlines()]


def told(records):
    """Processes with their images by name, as they stand."""
    images = {r["id"]: r for r in records if r["type"] == "x_spaa_image"}
    out = []
    for r in records:
        if r["type"] == "x_spaa_process":
            loaded = sorted((images[i].get("path", images[i]["name"]), images[i]["start"]) for i in r.get("images", []))
            out.append({**{k: v for k, v in r.items() if k != "type"}, **({"images": loaded} if loaded else {})})
    return out


LIBC, VDSO = ("/lib/libc.so.6", "0x7f0000000000"), ("[vdso]", "0x7fff00000000")
SERVER = [("/bin/server", "0x400000"), LIBC, VDSO]
FAMILY = [
    {"pid": 5, "name": "sh", "path": "/bin/sh", "parent_pid": 1},
    {"pid": 10, "name": "server", "path": "/bin/server", "parent_pid": 5, "start_ns": 1000, "exit_ns": 3100, "images": SERVER},
    {"pid": 20, "name": "server", "path": "/bin/server", "parent_pid": 10, "start_ns": 1300, "exit_ns": 3200, "images": SERVER},
    {"pid": 30, "name": "ls", "path": "/bin/ls", "parent_pid": 5, "start_ns": 1400, "exit_ns": 1500,
     "images": [("/bin/ls", "0x500000"), LIBC, VDSO]},
    {"pid": 30, "name": "cat", "path": "/bin/cat", "parent_pid": 5, "start_ns": 1600, "images": [("/bin/cat", "0x600000"), LIBC, VDSO]},
]


@pytest.fixture(params=["little", "big", "pipe"])
def recording(request, tmp_path):
    path = tmp_path / "family.perf.data"
    path.write_bytes(family(request.param == "big", request.param == "pipe").bytes())
    return str(path)


def ordered(processes):
    return sorted((json.dumps({**p, "images": sorted(p.get("images", []))}, sort_keys=True) for p in processes))


def test_processes_of_a_family(recording):
    records = converted(recording)
    assert ordered(told(records)) == ordered(FAMILY)
    times = {r["tid"]: r.get("x_spaa") for r in records if r["type"] == "thread"}
    assert times == {10: {"start_ns": 1000, "exit_ns": 3100}, 11: {"start_ns": 1200, "exit_ns": 3000, "renamed_from": "server"},
                     20: {"start_ns": 1300, "exit_ns": 3200}, 30: None}  # a number of two processes


def test_images_have_ranges_and_build_ids(recording):
    images = {r["name"]: r for r in converted(recording) if r["type"] == "x_spaa_image"}
    server = images["server"]
    assert (server["start"], server["end"], server["build_id"]) == ("0x400000", "0x400fff", "06" * 20)
    assert "sh" not in images, "no sample is of it"
    module = images["[snd_net]"]
    assert module["kernel"] and module["path"].endswith("/snd-net.ko.xz") and module["start"] == "0xffffffffc0000000"
    assert images["[kernel]"]["kernel"] and "[idle]" not in images


def test_images_of_a_program_that_was_left_are_of_no_process(tmp_path):
    r = Recording([EVENT])
    program(r, 10, b"first", 0x400000, 100)
    r.sample([USER, 0x400010], time=150)
    program(r, 10, b"then", 0x500000, 200)
    r.sample([USER, 0x500010], time=250)
    path = tmp_path / "exec.perf.data"
    path.write_bytes(r.bytes())
    records = converted(str(path))
    (process,) = told(records)
    assert process == {"pid": 10, "name": "then", "path": "/bin/then", "images": [("/bin/then", "0x500000"), LIBC, VDSO]}
    assert {i["name"] for i in records if i["type"] == "x_spaa_image"} == {"first", "then", "libc.so.6", "[vdso]"}


def test_kept_through_spaa_and_merged(recording, tmp_path):
    first, again, both = (str(tmp_path / n) for n in ("a.spaa", "b.spaa", "both.spaa"))
    run("convert", recording, "-o", first, code=0)
    run("convert", first, "-o", again, code=0)
    assert open(first, "rb").read() == open(again, "rb").read()
    assert "0 errors, 0 warnings" in run("validate", first, code=0).out
    run("merge", first, again, "-o", both, code=0)
    assert ordered(told(converted(both))) == ordered(FAMILY + FAMILY)


def test_asked(recording):
    rows = run("query", recording, "SELECT c.pid, p.path FROM processes c JOIN processes p ON p.pid = c.parent_pid "
               "WHERE c.start_ns IS NOT NULL ORDER BY c.start_ns", "--format", "csv", code=0).out.splitlines()[1:]
    assert rows == ["10,/bin/sh", "20,/bin/server", "30,/bin/sh", "30,/bin/sh"]
    assert run("query", recording, "SELECT exit_ns - start_ns FROM threads WHERE tid = 11", "--format", "csv", code=0).out.split()[-1] == "1800"
    assert ask("info", recording)["reported"] == {"processes": 5, "began": 4, "ended": 3, "images": 7}
    assert "5 reported, of which 4 began and 3 ended meanwhile" in run("info", recording, code=0).out
    assert "1 number was of several, one after the other" in " ".join(run("info", recording, code=0).out.split())
    assert {r["name"] for r in ask("top", recording, "--by", "process")["rows"]} == {
        "server (pid 10)", "server (pid 20)", "cat (pid 30, of 2 processes)"}


def test_a_process_that_forks_while_perf_lists_it_is_one(tmp_path):
    r = Recording([EVENT])
    r.fork(10, 1, 10, 1, made_up=True)
    r.comm(10, 10, b"twice")
    r.fork(10, 2, 10, 2, 500)
    r.sample([USER, 0x1000], time=900)
    path = tmp_path / "twice.perf.data"
    path.write_bytes(r.bytes())
    assert told(converted(str(path))) == [{"pid": 10, "name": "twice", "parent_pid": 2, "start_ns": 500}]


def test_a_process_that_is_its_own_parent_has_none(tmp_path):
    """As kernels before 5.5 write it; and the number of a process that is of another namespace."""
    r = Recording([EVENT])
    r.comm(10, 10, b"old", 100)
    exits(r, 10, 10, 10, 700)
    exits(r, -1, -1, -1, 701)
    r.sample([USER, 0x1000], time=600)
    path = tmp_path / "old.perf.data"
    path.write_bytes(r.bytes())
    assert told(converted(str(path))) == [{"pid": 10, "name": "old", "exit_ns": 700}]


def test_many_processes_take_memory_as_their_records_do(tmp_path):
    """A hundred thousand forks of a process with a thousand maps share these."""
    n = 100000
    r = Recording([EVENT])
    r.comm(10, 10, b"many", 1)
    for i in range(1000):
        r.mmap(10, 0x400000 + i * 0x1000, 0x1000, 0, b"/opt/lib%d.so" % i, 2)
    parts = [r.body]
    for i in range(n):
        r.body = b""
        r.fork(1000 + i, 10, 1000 + i, 10, 10 + i)
        if i % 1000 == 0:
            r.sample([USER, 0x400010], pid=1000 + i, tid=1000 + i, time=10 + i)
        parts.append(r.body)
    r.body = b"".join(parts)
    path = tmp_path / "many.perf.data"
    path.write_bytes(r.bytes())
    out = tmp_path / "out"
    sql = "SELECT (SELECT count(*) FROM processes), (SELECT count(*) FROM images), (SELECT count(*) FROM process_images)"
    # By a small process: what is started by a large one counts its pages.
    measure = "import os, sys; pid = os.fork() or os.execv(sys.argv[1], sys.argv[1:]); _, st, use = os.wait4(pid, 0); " \
              "print(os.waitstatus_to_exitcode(st), use.ru_maxrss, file=sys.stderr)"
    with open(out, "wb") as f:
        asked = subprocess.run([sys.executable, "-c", measure, os.environ["SPAA_BIN"], "query", str(path), sql, "--format", "csv"],
                               stdout=f, stderr=subprocess.PIPE, check=True)
    code, peak = map(int, asked.stderr.split()[-2:])
    assert code == 0
    assert out.read_text().split()[-1] == "100001,1000,100000"
    assert peak < 200 << 10, "%d KB" % peak


# ---- a real recording ----

PROGRAM = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long x;
static void *burn(void *n) { for (long i = 0; i < (long)n; i++) x += i * i; return 0; }
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(t + i, 0, burn, (void *)20000000L);
    if (!fork()) { burn((void *)20000000L); _exit(0); }
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    for (int i = 0; i < 3; i++) if (!fork()) execlp("sh", "sh", "-c", "i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done", (char *)0);
    while (wait(0) > 0) ;
    return 0;
}
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    if not (shutil.which("perf") and shutil.which("gcc")):
        pytest.skip("needs perf and gcc")
    d = tmp_path_factory.mktemp("live")
    (d / "p.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-pthread", "-o", d / "p", d / "p.c"], check=True)
    data = d / "p.perf.data"
    if subprocess.run(["perf", "record", "-q", "-F", "999", "-g", "-o", data, d / "p"], capture_output=True, check=False).returncode:
        pytest.skip("perf cannot record here")
    return str(data)


def of_perf(data, option):
    return subprocess.run(["perf", "script", "--ns", "-i", data, option], capture_output=True, check=True).stdout.decode()


def test_tasks_are_those_of_perf_script(live):
    line = re.compile(r"(\d+)\.(\d{9}): PERF_RECORD_(FORK|EXIT)\((\d+):(\d+)\):\((\d+):(\d+)\)")
    want, ends = collections.defaultdict(dict), {}
    for seconds, ns, kind, pid, tid, ppid, _ in line.findall(of_perf(live, "--show-task-events")):
        time, pid, ppid = int(seconds) * 10 ** 9 + int(ns), int(pid), int(ppid)
        if kind == "EXIT":
            want[pid]["exit_ns"] = max(time, want[pid].get("exit_ns", 0))
            ends[int(tid)] = time
        elif pid != ppid and time:
            want[pid].update(start_ns=time, parent_pid=ppid)
    names = {int(p): n for n, p, t in re.findall(r"PERF_RECORD_COMM(?: exec)?: (\S+):(\d+)/(\d+)", of_perf(live, "--show-task-events")) if p == t}
    records = converted(live)
    got = {p["pid"]: p for p in told(records)}
    assert len(got) == len(told(records)) and set(want) == set(got) and len(got) == 5
    # perf shows the time of the trailer, which is taken a moment before that of the record itself.
    for pid, facts in want.items():
        for key, value in facts.items():
            assert abs(got[pid][key] - value) < 10 ** 6 if key.endswith("_ns") else got[pid][key] == value
        if pid in names:
            assert got[pid]["name"] == names[pid]
    threads = [r for r in records if r["type"] == "thread"]
    assert threads and all(abs(r["x_spaa"]["exit_ns"] - ends[r["tid"]]) < 10 ** 6 for r in threads)


def test_images_are_those_of_perf_script(live):
    line = re.compile(r"PERF_RECORD_MMAP2? (\d+)/\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) .*r-xp (\S+)")
    maps, last = collections.defaultdict(set), {}
    text = of_perf(live, "--show-mmap-events") + "\n"
    # An exec begins anew: it is in the same text as the maps only with both options.
    both = subprocess.run(["perf", "script", "-i", live, "--show-mmap-events", "--show-task-events"], capture_output=True, check=True)
    for row in both.stdout.decode().splitlines():
        started = re.search(r"PERF_RECORD_COMM exec: .*:(\d+)/", row)
        m = line.search(row)
        if started:
            maps.pop(int(started[1]), None)
            last.pop(int(started[1]), None)
        elif m and not m[4].startswith("//anon"):
            maps[int(m[1])].add((int(m[2], 16), int(m[2], 16) + int(m[3], 16) - 1, m[4]))
            last.setdefault(int(m[1]), m[4])
    assert line.search(text)
    records = converted(live)
    images = {r["id"]: r for r in records if r["type"] == "x_spaa_image"}
    checked = 0
    for p in (r for r in records if r["type"] == "x_spaa_process"):
        got = {(int(images[i]["start"], 16), int(images[i]["end"], 16), images[i].get("path", images[i]["name"])) for i in p.get("images", [])}
        if got and p["pid"] in maps:
            assert got == maps[p["pid"]] and p["path"] == last[p["pid"]]
            checked += 1
    assert checked >= 2

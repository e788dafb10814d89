"""The perf.data reader: against perf itself, against an independent count, and against damage."""

import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import conftest
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import perf_data_files as files  # noqa: E402
from perf_data_files import CALLCHAIN, CONTEXT, CPU, ID, IDENTIFIER, IP, KERNEL, PERIOD, READ, TID, TIME, USER, Recording  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
CORPUS = os.environ.get("SPAA_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
MADE = os.path.join(CORPUS, "perf-data", "made")
MADE_OF_SWITCHES = ("off-cpu", "PERF_RECORD_SWITCH", "PERF_RECORD_LOST")  # events that no sample was taken of
TRUTH = os.path.join(CORPUS, "perf-script", "made")
FIXTURES = os.path.join(HERE, "..", "fixtures", "perf_data")
USER_CHAIN = IP | TID | TIME | CALLCHAIN | PERIOD
needs_corpus = pytest.mark.skipif(not os.path.isdir(CORPUS), reason="the corpus is not here")


class Profile:
    """A SPAA file as the test looks at it."""

    def __init__(self, text):
        records = [json.loads(line) for line in text.splitlines()]
        self.header = records[0]
        self.dsos, self.frames = {}, {}
        self.stacks, self.samples, self.threads = [], [], []
        for r in records[1:]:
            if r["type"] == "dso":
                self.dsos[r["id"]] = r
            elif r["type"] == "frame":
                self.frames[r["id"]] = r
            elif r["type"] == "stack":
                self.stacks.append(r)
            elif r["type"] == "sample":
                self.samples.append(r)
            elif r["type"] == "thread":
                self.threads.append(r)
        self.by_id = {s["id"]: s for s in self.stacks}

    def weight(self, stack, metric):
        return next(w["value"] for w in stack["weights"] if w["metric"] == metric)

    def counts(self, metric="samples"):
        """Totals of a metric by event; the branches of `lbr` are no samples."""
        none = ("lbr", "lbr_trace", *MADE_OF_SWITCHES)
        out = collections.Counter({e["name"]: 0 for e in self.header["events"] if e["name"] not in none})
        for s in self.stacks:
            if s["context"]["event"] not in none:
                out[s["context"]["event"]] += self.weight(s, metric)
        return out

    def frame(self, number):
        f = self.frames[number]
        name = f["func"] if f.get("func_resolved", True) else None
        return name, int(f.get("symoff", "0x0"), 16), self.dsos[f["dso"]]["name"]

    def names(self, stack):
        """"function+0xoff" or "dso:0xip", leaf first."""
        out = []
        for n in stack["frames"]:
            name, off, dso = self.frame(n)
            out.append(f"{name}+{off:#x}" if name else f"{dso}:{self.frames[n]['ip']}")
        return out


def run(path, *options, status=0):
    """Converts; returns the profile and what was said on stderr."""
    r = subprocess.run([SPAA, "convert", path, "--to", "spaa", "-o", "-", *options], capture_output=True, check=False)
    assert r.returncode == status, (r.returncode, r.stderr.decode())
    return (Profile(r.stdout.decode()) if status == 0 else r.stdout), r.stderr.decode()


def write(tmp_path, recording, name="perf.data"):
    path = tmp_path / name
    path.write_bytes(recording.bytes() if isinstance(recording, Recording) else recording)
    return str(path)


def unpack(path):
    with open(path, "rb") as f:
        data = f.read()
    return files.zstd(data) if data[:4] == b"\x28\xb5\x2f\xfd" else data


def corpus_files():
    found = []
    for folder, _, names in os.walk(os.path.join(CORPUS, "perf-data")):
        found += [os.path.join(folder, n) for n in names if ".perf.data" in n]
    return sorted(found)


# ---- against an independent count and perf --------------------------------------------------------


@needs_corpus
@pytest.mark.parametrize("path", corpus_files(), ids=lambda path: os.path.basename(str(path)))
def test_sample_counts_equal_an_independent_count(path):
    profile, said = run(path, "--no-symbols")
    counter = files.Counter(unpack(path)).run()
    events = [i for i, a in enumerate(counter.attrs) if a[:2] != (1, 9) or counter.samples[i]]
    ours = list(profile.counts().values())
    expected = [counter.samples[i] for i in events]
    if hasattr(counter, "stopped"):  # the counter stops at damage, the reader goes on behind it
        assert f"{counter.stopped}" in said
        assert all(a >= b for a, b in zip(ours, expected))
    else:
        assert ours == expected
        assert "malformed" not in said


@needs_corpus
@pytest.mark.parametrize("path", corpus_files(), ids=lambda path: os.path.basename(str(path)))
def test_sample_counts_equal_those_of_perf(path, tmp_path):
    if not shutil.which("perf"):
        pytest.skip("no perf")
    plain = tmp_path / "perf.data"
    plain.write_bytes(unpack(path))
    r = subprocess.run(["perf", "report", "-i", plain, "--stats"], capture_output=True, text=True, check=False)
    if r.returncode or "Error" in r.stderr or "incompatible" in r.stderr:
        pytest.skip("perf cannot read it")
    expected = {}
    for name, n in re.findall(r"^(.*) stats:\n((?: +.*events:.*\n?)*)", r.stdout, re.M):
        m = re.search(r"SAMPLE events: +(\d+)", n)
        if name != "Aggregated":
            expected[name] = int(m.group(1)) if m else 0
    profile, _ = run(str(plain), "--no-symbols")
    ours = [n for n in profile.counts().values() if n]
    assert ours == [n for n in expected.values() if n]


def expected_text_samples(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return sum(1 for line in f if re.match(r"^\S.*\t\d+\t", line))


@needs_corpus
@pytest.mark.parametrize("name", ["vector", "vector-lbr", "vector-compressed-records"])
def test_sample_counts_equal_those_of_perfparser(name):
    folder = os.path.join(CORPUS, "perf-data", "perfparser")
    path = os.path.join(folder, name + ".perf.data")
    profile, _ = run(path if os.path.exists(path) else path + ".zst", "--no-symbols")
    assert sum(profile.counts().values()) == expected_text_samples(os.path.join(folder, name + ".expected.txt"))


# ---- symbols, against perf script -------------------------------------------------------------------

HEAD = re.compile(r"^(?P<comm>.+?) +(?P<tid>-?\d+) +(?:\[(?P<cpu>\d+)\] +)?(?P<time>\d+\.\d+): +(?:(?P<period>\d+) +)?(?P<event>\S+):(?: |$)")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


def script_samples(path):
    """Samples of perf's text: (tid, time, event, comm) and frames (symbol, offset, dso), symbol None if unknown."""
    samples = []
    for line in files.zstd(open(path, "rb").read()).decode().splitlines():
        m = HEAD.match(line)
        if m and not line.startswith("\t"):
            samples.append(((int(m["tid"]), m["time"], m["event"], m["comm"].strip()), []))
            rest = line[m.end() :]
            one = re.match(r"\s*([0-9a-f]+) (.*) \(([^()]*)\)$", rest)  # without a callchain: on the same line
            if one:
                samples[-1][1].append(parse_frame(one))
        elif FRAME.match(line):
            samples[-1][1].append(parse_frame(FRAME.match(line)))
    return samples


def parse_frame(m):
    symbol, plus, offset = m[2].rpartition("+0x")
    if m[2] == "[unknown]" or not plus:
        return None, 0, m[3]
    return symbol, int(offset, 16), m[3]


def plain_names(frames):
    """Ours, without parameters and clone suffixes as perf prints them, by what stands in the symbol table."""
    raw = sorted({f["x_func"]["linkage"] for f in frames.values() if "x_func" in f})
    r = subprocess.run(["c++filt", "-p"], input="\n".join(raw), capture_output=True, text=True, check=True)
    return {a: re.sub(r" \[clone [^\]]*\]", "", b) for a, b in zip(raw, r.stdout.split("\n"))}


def same_dso(theirs, ours):
    if theirs == "[kernel.kallsyms]":
        return ours == "[kernel]"
    if re.fullmatch(r"/tmp/perf-\d+\.map", theirs):
        return ours == "[jit]"
    return theirs == ours


@needs_corpus
@pytest.mark.skipif(not shutil.which("c++filt"), reason="no c++filt")
@pytest.mark.parametrize("name", ["fp", "multi", "nochain", "period", "pipe", "zstd", "system", "tracepoint", "node-jit"])
def test_stacks_equal_those_of_perf_script(name, tmp_path):
    symfs = tmp_path / "symfs"
    shutil.copytree(os.path.join(MADE, "symfs"), symfs)
    shutil.copy(os.path.join(MADE, "perf-8020.map"), symfs / "tmp")
    path = os.path.join(MADE, name + ".perf.data")
    profile, _ = run(path if os.path.exists(path) else path + ".zst", "--samples", "--no-inline", "--symfs", str(symfs),
                     "--kallsyms", str(symfs / "kallsyms"))
    theirs = script_samples(os.path.join(TRUTH, name + ".perf-script.txt.zst"))
    profile.samples[:] = [s for s in profile.samples if s["event"] not in MADE_OF_SWITCHES]
    assert len(theirs) == len(profile.samples)

    def cut(t):  # perf prints microseconds, cut off
        whole, _, fraction = str(t).partition(".")
        return f"{whole}.{fraction:0<6.6}"

    def key(s):
        return s["tid"], cut(s["timestamp"]), s["event"], profile.by_id[s["stack_id"]]["context"].get("comm", f":{s['tid']}")

    ours = collections.defaultdict(list)
    for s in profile.samples:
        ours[key(s)].append(profile.by_id[s["stack_id"]])
    differ, compared, plain = collections.Counter(), 0, plain_names(profile.frames)

    def named(number):
        f, (name, off, dso) = profile.frames[number], profile.frame(number)
        linkage = f.get("x_func", {}).get("linkage")
        return plain.get(linkage, linkage or name), off, dso

    for k, frames in theirs:
        assert ours[k], f"no sample {k}"
        stack = ours[k].pop(0)
        mine = [named(n) for n in stack["frames"]]
        assert len(mine) == len(frames), (k, frames, mine)
        for i, (a, b) in enumerate(zip(frames, mine)):
            if a[0] is None or (b[0] is None and a[2] == b[2] and not os.path.exists(f"{symfs}{a[2]}") and not os.path.exists(a[2])):
                continue
            compared += 1
            # perf looks up return addresses as they are: behind a call that does not return it names the next function.
            if a[1] == 0 and i and b[0] != a[0]:
                continue
            if a[:2] != b[:2] or not same_dso(a[2], b[2]):
                differ[a, b] += 1
    assert compared > len(theirs) / 2
    assert not differ


# ---- what a hand-made recording must become ------------------------------------------------------


@pytest.mark.parametrize("name", ["little", "big", "pipe", "old-attr"])
def test_fixtures_read_the_same_in_every_form(name):
    profile, said = run(os.path.join(FIXTURES, name + ".perf.data"))
    assert "perf lost 3 records" in said
    stacks = sorted((profile.weight(s, "samples"), profile.weight(s, "period"), s["context"]["tid"],
                     s["context"]["comm"], tuple(profile.names(s))) for s in profile.stacks)
    assert stacks == [
        (1, 1, 10, "main prog", ("[guest.kernel]:0xffffffff81000100", "[guest]:0x400010")),
        (1, 1, 10, "main prog", ("[hypervisor]:0x1234",)),
        (1, 7, 11, "worker", ("[kernel]:0x100", "[snd_net]:0x40", "[vdso]:0x20", "[anon]:0x500004", "[unknown]:0x9999")),
        (1, 8, 10, "main prog", ("/opt/app/lib one.so:0x2010", "/opt/app/two.so:0x10", "/opt/app/lib one.so:0x4010")),
        (1, 9, 10, "main prog", ("/opt/app/lib one.so:0x3010",)),
        (2, 11, 10, "main prog", ("/opt/app/prog:0x10", "/opt/app/prog:0x20", "/opt/app/lib one.so:0x2010")),
    ]
    prog = next(d for d in profile.dsos.values() if d["name"] == "/opt/app/prog")
    assert prog["build_id"] == bytes(range(1, 21)).hex()
    assert prog["x_spaa"] == {"ip": "file_offset", "map": {"offset": "0x0", "size": "0x1000"}}
    assert profile.header["time_range"]["start"] == 0.000002
    assert profile.header["x_spaa"]["lost"] == 3
    if name != "pipe":
        assert profile.header["events"][0]["name"] == "cpu-clock:u"
        assert profile.header["x_spaa"]["host"] == {"name": "host one", "os": "Linux 6.1.0", "arch": "x86_64", "cpus": 2}
        assert profile.header["source"]["command"] == "perf record -a"
        assert profile.header["x_perf"]["clock_data"]["wall_ns"] == 1700000000000000000


def test_the_fixtures_are_what_the_generator_writes(tmp_path):
    files.write_fixtures(tmp_path)
    for name in os.listdir(tmp_path):
        with open(os.path.join(FIXTURES, name), "rb") as f:
            assert (tmp_path / name).read_bytes() == f.read(), name


def test_twice_the_same_bytes():
    path = os.path.join(FIXTURES, "little.perf.data")
    out = [subprocess.run([SPAA, "convert", path, "--to", "spaa", "-o", "-"], capture_output=True, check=True).stdout
           for _ in range(2)]
    assert out[0] == out[1]




def one_event(**more):
    r = Recording([(1, 0, USER_CHAIN, {"freq": 99})], **more)
    r.comm(10, 10, b"prog", 100)
    r.mmap(10, 0x1000, 0x1000, 0, b"/bin/a", 100)
    return r


@pytest.mark.parametrize("where", [IDENTIFIER, ID])
@pytest.mark.parametrize("big", [False, True])
def test_events_are_told_apart_by_their_ids(tmp_path, where, big):
    t = USER_CHAIN | where
    r = Recording([(0, 0, t, {"period": 1000}), (1, 9, t, {}), (2, 372, t, {}), (3, 0x10002, t, {"freq": 50}),
                   (0, (8 << 32), t, {"freq": 7}), (4, 0xAB, t, {})], big)
    for i in (0, 2, 2, 3, 4):
        r.sample([CONTEXT["user"], 0x1000], event=i, time=500, period=10)
    profile, _ = run(write(tmp_path, r))
    events = {e["name"]: e for e in profile.header["events"]}
    assert list(profile.counts().items()) == [("cycles", 1), ("tracepoint:372", 2), ("LLC-load-misses", 1), ("cycles#2", 1), ("rab", 0)]
    assert events["cycles"]["sampling"] == {"mode": "period", "primary_metric": "period", "sample_period": 1000}
    assert events["tracepoint:372"]["kind"] == "probe"
    assert events["tracepoint:372"]["sampling"] == {"mode": "event", "primary_metric": "count"}
    assert events["LLC-load-misses"]["sampling"]["frequency_hz"] == 50


def test_a_sample_of_an_unknown_event_is_reported(tmp_path):
    t = USER_CHAIN | IDENTIFIER
    r = Recording([(0, 0, t, {}), (0, 1, t, {})])
    r.sample([0x1000])
    r.events = r.events + [(0, 2, t, {})]
    r.sample([0x1000], event=2)
    r.events = r.events[:2]
    profile, said = run(write(tmp_path, r))
    assert sum(profile.counts().values()) == 1
    assert "1 samples have an event id that the file does not declare (102)" in said


def test_names_of_event_updates_and_pmus(tmp_path):
    r = Recording([(9, 60, USER_CHAIN, {}), (9, 61, USER_CHAIN | 0, {})], pipe=True)
    r.record(files.UPDATE, 0, r.pack("QQ", 2, 101) + files.pad8(b"my-event\0"))
    r.record(files.FEATURE, 0, r.pack("Q", 16) + r.pack("II", 1, 9) + r.text(b"msr"))
    r.sample([0x1000])
    profile, _ = run(write(tmp_path, r))
    assert [e["name"] for e in profile.header["events"]] == ["msr/config=0x3c/", "my-event"]


def test_maps_and_comms_of_the_samples_moment(tmp_path):
    r = one_event()
    r.fork(20, 10, 20, 10, 200)
    r.comm(20, 20, b"child", 300, exec_=True)
    r.mmap(20, 0x5000, 0x1000, 0, b"/bin/b", 310)
    r.mmap(20, 0x9000, 0x1000, 0, b"[vdso]", 320)
    for time in (400, 250, 305):  # not in order; the exec is under way until the vdso is there
        r.sample([CONTEXT["user"], 0x1010, 0x5010], pid=20, tid=20, time=time)
    r.sample([CONTEXT["user"], 0x1010], pid=10, tid=10, time=400)
    profile, _ = run(write(tmp_path, r))
    assert sorted((s["context"]["comm"], *profile.names(s)) for s in profile.stacks) == [
        ("child", "/bin/a:0x10", "[unknown]:0x5010"), ("child", "[unknown]:0x1010", "/bin/b:0x10"),
        ("prog", "/bin/a:0x10"), ("prog", "/bin/a:0x10", "[unknown]:0x5010")]


def test_a_made_up_fork_does_not_wipe_maps(tmp_path):
    r = one_event()
    r.mmap(1, 0x1000, 0x1000, 0, b"/bin/init", 0)
    r.fork(10, 1, 10, 1, 0)
    r.fork(10, 1, 10, 1, 150, made_up=True)
    r.sample([CONTEXT["user"], 0x1010], time=200)
    profile, _ = run(write(tmp_path, r))
    assert profile.names(profile.stacks[0]) == ["/bin/a:0x10"]


def test_without_times_the_files_order_counts(tmp_path):
    r = Recording([(1, 0, IP | TID | CALLCHAIN, {"period": 5, "id_all": False})])
    r.mmap(10, 0x1000, 0x1000, 0, b"/bin/a")
    r.sample([0x1010])
    r.mmap(10, 0x1000, 0x1000, 0, b"/bin/b")
    r.sample([0x1010])
    profile, _ = run(write(tmp_path, r))
    assert sorted(profile.names(s)[0] for s in profile.stacks) == ["/bin/a:0x10", "/bin/b:0x10"]
    assert profile.counts("period") == {"cpu-clock": 10}
    assert "time_range" not in profile.header


def test_times_near_the_top_stay_out_of_the_range(tmp_path):
    r = one_event()
    for time in (1000, (1 << 64) - (1 << 32), 2000):
        r.sample([CONTEXT["user"], 0x1010], time=time)
    profile, _ = run(write(tmp_path, r))
    assert profile.header["time_range"] == {"start": 0.000001, "end": 0.000002, "unit": "seconds"}
    assert profile.counts() == {"cpu-clock": 3}


def test_group_reads_count_for_every_member(tmp_path):
    t = USER_CHAIN | READ | ID
    r = Recording([(0, 0, t, {"read": 4 | 8 | 16 | 1}), (0, 1, t, {"read": 4 | 8 | 16 | 1})])
    for a, b in ((10, 5), (30, 5), (60, 9)):
        r.sample([CONTEXT["user"], 0x1010], read=r.pack("QQ6Q", 2, 99, a, 100, 0, b, 101, 0))
    profile, _ = run(write(tmp_path, r))
    assert profile.counts() == {"cycles": 3, "instructions": 2}
    assert profile.counts("period") == {"cycles": 60, "instructions": 9}
    profile, _ = run(write(tmp_path, r), "--samples")
    assert profile.samples[0]["x_perf"]["read"] == {"time_enabled": 99, "counters": [
        {"value": 10, "event": "cycles", "lost": 0}, {"value": 5, "event": "instructions", "lost": 0}]}


@pytest.mark.parametrize("form", [0, 1, 3, 4, 16, 23])
def test_a_reading_of_one_counter_is_kept_with_the_sample(tmp_path, form):
    t = USER_CHAIN | READ | ID
    r = Recording([(0, 0, t, {"read": form}), (0, 1, t, {"read": form})])
    parts = {1: 50, 2: 40, 4: 101, 16: 3}
    r.sample([CONTEXT["user"], 0x1010], event=1, read=r.pack("Q", 7) + b"".join(r.pack("Q", v) for bit, v in parts.items() if form & bit))
    counter = {"value": 7, **({"event": "instructions"} if form & 4 else {}), **({"lost": 3} if form & 16 else {})}
    times = {**({"time_enabled": 50} if form & 1 else {}), **({"time_running": 40} if form & 2 else {})}
    assert run(write(tmp_path, r), "--samples")[0].samples[0]["x_perf"]["read"] == {**times, "counters": [counter]}


def test_a_module_uses_what_its_kernel_uses(tmp_path):
    """Also where no sample was in the kernel itself before."""
    path = files.pad8(b"[kernel.kallsyms]\0")
    r = one_event()
    r.features[2] = r.pack("IHHi", 67, 1 | 1 << 15, 36 + len(path), -1) + bytes(range(1, 21)) + r.pack("B3x", 20) + path
    r.kernel()
    r.mmap(-1, 0xFFFFFFFFC0000000, 0x10000, 0, b"/lib/modules/6.1/kernel/net/snd-net.ko.xz", misc=KERNEL)
    r.sample([CONTEXT["kernel"], 0xFFFFFFFFC0000040], time=200, misc=KERNEL)
    cached = tmp_path / ".debug" / ".build-id" / "01" / bytes(range(2, 21)).hex()
    cached.mkdir(parents=True)
    (cached / "kallsyms").write_text("ffffffff81000000 T _text\nffffffffc0000030 t helper\t[snd_net]\n")
    out = subprocess.run([SPAA, "convert", write(tmp_path, r), "--to", "spaa", "-o", "-"], capture_output=True, check=True,
                         env={**os.environ, "HOME": str(tmp_path)}).stdout.decode()
    profile = Profile(out)
    assert profile.names(profile.stacks[0]) == ["helper+0x10"]


ANONYMOUS = [b"//anon", b"", b"/anon_hugepage (deleted)", b"/dev/zero (deleted)", b"/SYSV00000000 (deleted)",
             b"anon_inode:[perf_event]", b"[heap]", b"[stack]", b"[anon:v8]"]


def test_memfds_keep_their_names_and_other_anonymous_maps_have_none(tmp_path):
    r = one_event()
    memfds = {b"/memfd:my exe (deleted)": "memfd:my exe", b"/memfd: (deleted)": "memfd:", b"/memfd:a/b": "memfd:a/b"}
    for i, name in enumerate([*ANONYMOUS, *memfds]):
        r.mmap(10, 0x100000 * (i + 1), 0x1000, 0x2000, name, 150)
        r.sample([CONTEXT["user"], 0x100000 * (i + 1) + 0x10], time=200 + i)
    profile, _ = run(write(tmp_path, r))
    names = {tuple(profile.names(s)) for s in profile.stacks}
    assert names == {(f"[anon]:{0x100000 * (i + 1) + 0x10:#x}",) for i in range(len(ANONYMOUS))} | {
        (f"{name}:0x2010",) for name in memfds.values()}
    text = subprocess.run([SPAA, "convert", tmp_path / "perf.data", "--to", "perf-script", "-o", "-"], capture_output=True,
                          text=True, check=True).stdout
    assert "2010 [unknown] (/memfd:my exe (deleted))" in text
    (tmp_path / "script.txt").write_text(text)
    assert set(memfds.values()) <= {d["name"] for d in run(str(tmp_path / "script.txt"))[0].dsos.values()}


@pytest.mark.parametrize("later", [False, True])
def test_code_that_a_process_writes_into_a_memfd(tmp_path, later):
    """Where its perf map knows it; what else is there is the memfd's, and so it is where names come later."""
    r = one_event()
    r.mmap(10, 0x100000, 0x4000, 0x1000, b"/memfd:doublemapper (deleted)", 150)
    r.sample([CONTEXT["user"], 0x100020, 0x101020], time=200)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "perf-10.map").write_text("100000 40 jitted\n")
    path, symfs = write(tmp_path, r), ["--symfs", str(tmp_path)]
    if later:
        for args in (["convert", path, "--no-symbols", "-o", "bare.spaa"], ["convert", path, *symfs, "-o", "at-once.spaa"],
                     ["symbolize", "bare.spaa", *symfs, "-o", "named.spaa"]):
            subprocess.run([SPAA, *args], check=True, capture_output=True, cwd=tmp_path)
        assert (tmp_path / "named.spaa").read_bytes() == (tmp_path / "at-once.spaa").read_bytes()
        path = str(tmp_path / "named.spaa")
    profile, said = run(path, *([] if later else symfs))
    assert later or "memfd:doublemapper: 1 address without a name: it was in memory only" in said
    (stack,) = profile.stacks
    assert profile.names(stack) == ["jitted+0x20", "memfd:doublemapper:0x2020"]
    assert {d["name"]: d.get("x_spaa") for d in profile.dsos.values()} == {
        "[jit]": None, "memfd:doublemapper": {"ip": "file_offset"}}


@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
def test_a_program_run_from_a_memfd_is_found_by_its_build_id(tmp_path):
    program = ("import os\nfd = os.memfd_create('my exe')\nos.write(fd, open('/usr/bin/dd', 'rb').read())\n"
               "os.execve(fd, ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=16', 'count=400000'], os.environ)\n")
    path, environment = str(tmp_path / "perf.data"), {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "--buildid-mmap", "-o", path, "--",
                           sys.executable, "-c", program], capture_output=True, check=False, env=environment)
    if done.returncode:
        pytest.skip("perf cannot record here")
    profile, said = run(path)
    assert "memfd:my exe" in {d["name"] for d in profile.dsos.values()} and "memfd:my exe: " in said
    subprocess.run(["perf", "buildid-cache", "-a", "/usr/bin/dd"], check=True, env=environment, capture_output=True)
    named = subprocess.run([SPAA, "convert", path, "--to", "spaa", "-o", "-"], capture_output=True, check=True, env=environment)
    dso = next(d for d in Profile(named.stdout.decode()).dsos.values() if d["name"] == "memfd:my exe")
    assert dso["build_id"] and "x_spaa" not in dso


LOST_RECORDS = {
    # (record type, misc, number, the trailer's time), and what was lost
    "perf 6.0 says it twice": ([(2, 0, 700, 300), (2, 0, 900, 400), (13, 0, 1014, 0), (13, 0, 700, 0)], 1714),
    "all told as it happened": ([(2, 0, 714, 300), (2, 0, 1000, 400), (13, 0, 1714, 0)], 1714),
    "nothing more had room": ([(13, 0, 5, 0)], 5),
    "the recorder was killed": ([(2, 0, 700, 300)], 700),
    "left out by a BPF filter": ([(2, 0, 3, 300), (13, 0, 3, 0), (13, 1 << 15, 50, 0)], 3),
    "PEBS lost some beside": ([(2, 0, 7, 300), (13, 0, 4, 350), (13, 0, 9, 0)], 13),
}


@pytest.mark.parametrize("form", ["file", "pipe", "big"])
@pytest.mark.parametrize("what", LOST_RECORDS)
def test_losses_are_counted_once(tmp_path, what, form):
    records, lost = LOST_RECORDS[what]
    r = Recording([(1, 0, USER_CHAIN | IDENTIFIER, {"freq": 99, "read": 16}),
                   (1, 1, USER_CHAIN | IDENTIFIER, {"freq": 99, "read": 16})], form == "big", form == "pipe")
    r.comm(10, 10, b"prog", 100)
    r.sample([CONTEXT["user"], 0x1000], time=200)
    for kind, misc, n, time in records:
        ids = r.trailer(10, 10, time, 1) if time else r.trailer(0, 0, 0, 1)
        r.record(kind, misc, r.pack("QQ", 100, n) if kind == files.LOST else r.pack("Q", n), ids)
    profile, said = run(write(tmp_path, r))
    assert profile.header["x_spaa"]["lost"] == lost
    assert f"perf lost {lost} records" in said
    assert ("filtered_by_bpf" in json.dumps(profile.header["x_perf"])) == ("BPF" in what)


def test_lost_samples_of_old_recordings_are_the_kernels(tmp_path):
    """Without PERF_FORMAT_LOST perf has nothing to read: no time is no sign."""
    r = Recording([(4, 0x1CD, USER_CHAIN, {"period": 1000})])
    r.comm(10, 10, b"prog", 100)
    r.sample([CONTEXT["user"], 0x1000], time=200)
    r.record(files.LOST, 0, r.pack("QQ", 100, 3), r.trailer(10, 10, 300))
    r.record(files.LOST_SAMPLES, 0, r.pack("Q", 4), r.trailer(0, 0, 0))
    assert run(write(tmp_path, r))[0].header["x_spaa"]["lost"] == 7


def test_numbers_of_all_switched_files_are_not_of_the_last(tmp_path):
    r = Recording([(1, 0, USER_CHAIN, {"freq": 99, "read": 16})])
    r.features[11] = r.pack("I", 3) + r.text(b"perf") + r.text(b"record") + r.text(b"--switch-output=1M")
    r.comm(10, 10, b"prog", 100)
    r.sample([CONTEXT["user"], 0x1000], time=200)
    r.record(files.LOST, 0, r.pack("QQ", 100, 3), r.trailer(10, 10, 300))
    r.record(files.LOST_SAMPLES, 0, r.pack("Q", 400), r.trailer(0, 0, 0))
    assert run(write(tmp_path, r))[0].header["x_spaa"]["lost"] == 3


def test_deferred_callchains_are_joined(tmp_path):
    r = one_event()
    k, d = CONTEXT["kernel"], CONTEXT["deferred"]
    r.sample([k, 0xFFFFFFFF81000010, d, 7], time=200, misc=KERNEL)
    r.sample([k, 0xFFFFFFFF81000010, d, 8], time=210, misc=KERNEL)
    r.record(files.DEFERRED, 0, r.pack("QQQQ", 7, 2, 0x1010, 0x1020), r.trailer(10, 10, 205))
    profile, _ = run(write(tmp_path, r))
    kernel = "[kernel]:0xffffffff81000010"
    assert sorted(map(profile.names, profile.stacks)) == [[kernel], [kernel, "/bin/a:0x10", "/bin/a:0x20"]]


def test_unknown_records_and_payloads_are_stepped_over(tmp_path):
    r = one_event()
    r.record(200, 0, b"12345678")
    r.record(files.AUXTRACE, 0, r.pack("QQQIIII", 24, 0, 0, 0, 0, 0, 0))
    r.body += b"x" * 24
    r.record(files.TRACING_DATA, 0, r.pack("I", 13) + b"\0" * 4)
    r.body += b"y" * 16
    r.record(files.KSYMBOL, 0, r.pack("QIHH", 0xFFFFFFFFC1000000, 64, 1, 0) + files.pad8(b"bpf_prog_1_f\0"), r.trailer(0, 0, 0))
    r.sample([CONTEXT["kernel"], 0xFFFFFFFFC1000010, CONTEXT["user"], 0x1010], time=200)
    profile, said = run(write(tmp_path, r))
    assert profile.names(profile.stacks[0]) == ["bpf_prog_1_f+0x10", "/bin/a:0x10"]
    assert "1 records of unknown types" in said


def test_raw_data_and_what_follows_the_callchain_is_stepped_over(tmp_path):
    r = Recording([(2, 1, USER_CHAIN | CPU | files.RAW | files.STACK_USER, {})])
    r.mmap(10, 0x1000, 0x1000, 0, b"/bin/a", 100)
    r.sample([CONTEXT["user"], 0x1010], time=200, raw=b"abcdefg", tail=r.pack("QQ", 0, 0))
    profile, _ = run(write(tmp_path, r), "--group-by", "cpu")
    assert profile.names(profile.stacks[0]) == ["/bin/a:0x10"]
    assert profile.stacks[0]["context"] == {"cpu": 0, "event": "tracepoint:1"}


@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd")
@pytest.mark.parametrize("kind", [files.COMPRESSED, files.COMPRESSED2])
@pytest.mark.parametrize("piece", [7, 1000, 100000])
def test_compressed_records(tmp_path, kind, piece):
    inner, outer = one_event(), one_event()
    rng = random.Random(1)
    want = 3000
    for i in range(want):
        inner.sample([CONTEXT["user"], *(rng.randrange(0x1000, 0x2000) for _ in range(20))], time=1000 + i)
    packed = subprocess.run(["zstd", "-q", "-c"], input=inner.body, stdout=subprocess.PIPE, check=True).stdout
    piece = min(piece, 65000)
    for at in range(0, len(packed), piece):
        part = packed[at : at + piece]
        if kind == files.COMPRESSED:
            outer.record(kind, 0, part)
        else:
            outer.record(kind, 0, outer.pack("Q", len(part)) + files.pad8(part))
    outer.sample([CONTEXT["user"], 0x1010], time=100)
    profile, said = run(write(tmp_path, outer), "--no-symbols")
    assert profile.counts() == {"cpu-clock": want + 1}
    assert "malformed" not in said


@pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd")
def test_compressed_records_whose_size_overflowed(tmp_path):
    """perf 6.16: size is 16 bits of the padded total, data_size is right, and there is no padding."""
    inner, outer = one_event(), one_event()
    rng = random.Random(2)
    for i in range(4000):
        inner.sample([CONTEXT["user"], *(rng.getrandbits(47) for _ in range(20))], time=1000 + i)
    packed = subprocess.run(["zstd", "-q", "-c"], input=inner.body, stdout=subprocess.PIPE, check=True).stdout
    assert len(packed) > 3 * 65519
    first, rest = packed[:65519], packed[65519:]
    outer.body += outer.pack("IHHQ", files.COMPRESSED2, 0, 0, len(first)) + first
    several = rest[:65519] + outer.pack("IHHQ", files.COMPRESSED2, 0, 2016, 12345) + rest[65519:67519]
    rest = rest[67519:]
    outer.body += outer.pack("IHHQ", files.COMPRESSED2, 0, (16 + len(several) + 7 & ~7) & 0xFFFF, len(several)) + several
    # another perf wrote a data_size that is larger than what is there
    while rest:
        part, rest = rest[:60000], rest[60000:]
        outer.record(files.COMPRESSED2, 0, outer.pack("Q", len(part) + 100) + part)
    profile, said = run(write(tmp_path, outer), "--no-symbols")
    assert profile.counts() == {"cpu-clock": 4000}, said


def test_a_grouping_of_none_and_of_functions(tmp_path):
    path = write(tmp_path, files.simple())
    profile, _ = run(path, "--group-by", "none")
    assert all(set(s["context"]) == {"event"} for s in profile.stacks)
    profile, _ = run(path, "--frames", "function")
    assert not any("ip" in f for f in profile.frames.values())


def test_samples_are_kept_when_asked_for(tmp_path):
    profile, _ = run(write(tmp_path, files.simple()), "--samples")
    assert sorted((s["timestamp"], s["tid"], s["cpu"], s["period"]) for s in profile.samples) == [
        (0.000002, 10, 0, 5), (0.0000021, 10, 0, 6), (0.0000022, 11, 1, 7), (0.0000029, 10, 0, 9),
        (0.0000031, 10, 0, 8), (0.0000032, 10, 0, 1), (0.0000033, 10, 0, 1)]


# ---- refusals and damage -----------------------------------------------------------------------------


def test_the_old_format_is_refused_with_words(tmp_path):
    _, said = run(write(tmp_path, b"PERFFILE" + b"\0" * 200), "--from", "perf-data", status=3)
    assert "version 1" in said


def test_the_directory_form_is_refused_with_words(tmp_path):
    r = files.simple()
    r.features[24] = r.pack("Q", 1)
    _, said = run(write(tmp_path, r), status=3)
    assert "directory form" in said and "not there" in said


def test_a_killed_recording_is_read_to_its_end(tmp_path):
    r = files.simple()
    r.features = {}
    profile, said = run(write(tmp_path, r.bytes(data_size=0)))
    assert profile.counts() == {"cpu-clock": 8 - 1}
    assert "recorder was killed" in said


def test_text_behind_a_pipe_ends_it(tmp_path):
    data = files.simple(pipe=True).bytes() + b"[ perf record: Woken up 1 times to write data ]\n"
    profile, said = run(write(tmp_path, data))
    assert sum(profile.counts().values()) == 7
    assert "48 bytes of text follow the last record" in said


def test_a_bad_record_is_stepped_over_and_told(tmp_path):
    r = one_event()
    r.sample([CONTEXT["user"], 0x1010], time=200)
    bad = len(r.body)
    r.body += b"\0" * 24
    for i in range(5):
        r.sample([CONTEXT["user"], 0x1010], time=300 + i)
    data = r.bytes()
    offset = len(data) - len(r.body) + bad
    profile, said = run(write(tmp_path, data))
    assert profile.counts() == {"cpu-clock": 6}
    assert f"{offset}" in said and "24 bytes skipped" in said
    run(write(tmp_path, data), "--strict", status=3)


@pytest.mark.parametrize("pipe", [False, True])
def test_every_cut_gives_what_came_before(tmp_path, pipe):
    r = one_event(pipe=pipe)
    ends = []
    for i in range(6):
        r.sample([CONTEXT["user"], 0x1010, 0x1020 + i], time=200 + i)
        ends.append(len(r.body))
    data = r.bytes()
    start = len(data) - len(r.body)
    first = start + ends[0] - 48
    for cut in range(start if not pipe else first, len(data)):
        profile, said = run(write(tmp_path, data[:cut]))
        assert sum(profile.counts().values()) == sum(start + e <= cut for e in ends), cut
        if cut not in [start + e for e in ends] and cut > first or not pipe:
            assert "cut off" in said, cut
    for cut in range(8, start, 7):
        out = subprocess.run([SPAA, "convert", write(tmp_path, data[:cut]), "--to", "spaa", "-o", "-"],
                             capture_output=True, check=False)
        assert out.returncode in (0, 3) and out.stderr, cut


def mutate(data, rng):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            at &= ~7
            data[at : at + 8] = struct.pack("<Q", rng.choice([0, 1, 8, 1 << 16, 1 << 31, 1 << 32, 1 << 63, (1 << 64) - 1]))
        else:
            del data[at : at + rng.randrange(1, 40)]
    return bytes(data)


@pytest.mark.parametrize("name", sorted(os.listdir(FIXTURES)) if os.path.isdir(FIXTURES) else [])
def test_mutations_never_crash(name, tmp_path):
    rng = random.Random(name)
    with open(os.path.join(FIXTURES, name), "rb") as f:
        data = f.read()
    for i in range(int(os.environ.get("SPAA_MUTATIONS", "150"))):
        bad = mutate(data, rng)
        path = write(tmp_path, bad)
        r = subprocess.run([SPAA, "convert", path, "--from", "perf-data", "--to", "spaa", "-o", "-"],
                           capture_output=True, check=False, timeout=60)
        assert r.returncode in (0, 3), (i, r.returncode, r.stderr[-2000:])


def test_builds_of_one_path_are_told_apart(tmp_path):
    r = Recording([(1, 0, IP | TID | TIME | CALLCHAIN | PERIOD, {"freq": 99})])
    for pid, build, period in ((10, bytes(range(1, 21)), 5), (11, bytes(range(21, 41)), 7)):
        r.comm(pid, pid, b"prog", 1000)
        r.mmap2(pid, 0x400000, 0x10000, 0, b"/opt/prog", 1000, build)
        r.sample([CONTEXT["user"], 0x400010], pid=pid, tid=pid, time=2000, period=period)
    path = write(tmp_path, r)
    out = conftest.run("top", path, "-q", "--by", "dso", "--no-symbols", code=0).out
    assert "  prog (01020304)" in out and "  prog (15161718)" in out
    rows = conftest.ask("top", path, "--by", "dso", "--no-symbols")["rows"]
    assert {(r["self"], r["build_id"][:8]) for r in rows} == {(5, "01020304"), (7, "15161718")}


@pytest.mark.parametrize("feature, content, said", [
    (3, b"\xff\xff\0\0host\0\0\0\0", "the host"), (7, b"\x02\0\0\0\x36\x34\0\0", "the number of CPUs"), (7, b"\x02\0\0\0", "the number of CPUs"),
    (2, b"\0\0\0\0\0\0\xff\xff" + bytes(40), "build-ids"), (8, b"", None), (7, b"\x04\0\0\0\x02\0\0\0", None)])
def test_sections_of_the_header_that_cannot_be_read_are_told(tmp_path, feature, content, said):
    r = Recording([(1, 0, IP | TID | TIME, {})])
    r.sample(ip=0x1000, time=1)
    r.features[feature] = content
    (tmp_path / "perf.data").write_bytes(r.bytes())
    answer = conftest.run("info", tmp_path / "perf.data", code=0)
    assert ("SPAA-L300" in answer.err) == bool(said) and (not said or f"section of {said}" in answer.err)
    assert "13366" not in answer.out


def test_the_two_kinds_of_weights_are_one_field(tmp_path):
    """No kernel writes both; a damaged header may say so, and members would stand twice."""
    r = Recording([(1, 0, IP | TID | TIME | 1 << 14 | 1 << 24, {})])
    r.sample(ip=0x1000, time=1, tail=struct.pack("<Q", 7 | 3 << 32))
    (tmp_path / "perf.data").write_bytes(r.bytes())
    conftest.run("convert", tmp_path / "perf.data", "--samples", "-o", tmp_path / "x.spaa", code=0)
    text = (tmp_path / "x.spaa").read_text()
    assert text.count('"weight":') == 1 and '"weight":7,"weight2":3' in text

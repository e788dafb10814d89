"""The reader of perf script text, against other tools' collapsed output and against plain counts of the text."""

import collections
import glob
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import ask, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))
CORPUS = os.path.join(os.environ.get("SPAA_CORPUS", os.path.join(ROOT, "..", "shared", "corpus")), "perf-script")
FIXTURES = os.path.join(ROOT, "tests", "fixtures", "perf_script")
needs_corpus = pytest.mark.skipif(not os.path.isdir(CORPUS), reason="no corpus")


def spaa(*args, stdin=None):
    return subprocess.run([SPAA, *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


def folded(path, *args):
    """The stacks of a conversion as {stack: number}; a stack twice is an error."""
    run = spaa("convert", path, "--to", "folded", "-o", "-", *args)
    assert run.returncode == 0, run.stderr.decode()
    lines = run.stdout.decode().splitlines()
    stacks = dict(parts(line) for line in lines)
    assert len(stacks) == len(lines)
    return stacks


def parts(line):
    stack, _, number = line.rpartition(" ")
    return stack, int(number)


def expected(path):
    sums = collections.Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            stack, number = parts(line.rstrip("\n"))
            sums[stack] += number
    return dict(sums)


def records(path, *args):
    run = spaa("convert", path, "--to", "spaa", "-o", "-", *args)
    assert run.returncode == 0, run.stderr.decode()
    return [json.loads(line) for line in run.stdout.decode().splitlines()]


def of_type(rows, kind):
    return [r for r in rows if r["type"] == kind]


def totals(rows):
    """{event: {metric: sum}} of the stacks."""
    sums = collections.defaultdict(collections.Counter)
    for stack in of_type(rows, "stack"):
        for weight in stack["weights"]:
            sums[stack["context"]["event"]][weight["metric"]] += weight["value"]
    return {event: dict(metrics) for event, metrics in sums.items()}


def stacks_of(rows):
    """Stacks as ([leaf first: (func, dso, inline depth)], context, {metric: value})."""
    dsos = {d["id"]: d["name"] for d in of_type(rows, "dso")}
    frames = {f["id"]: (f["func"], dsos[f["dso"]], f.get("inline_depth", 0)) for f in of_type(rows, "frame")}
    return [([frames[i] for i in s["frames"]], s["context"], {w["metric"]: w["value"] for w in s["weights"]})
            for s in of_type(rows, "stack")]


def text_of(path):
    if not path.endswith(".zst"):
        with open(path, "rb") as f:
            return f.read().decode()
    if not shutil.which("zstdcat"):
        pytest.skip("no zstdcat")
    return subprocess.run(["zstdcat", path], stdout=subprocess.PIPE, check=True).stdout.decode()


SAMPLE = re.compile(r"^\s*(?:\S.*?)\s+(?:-?\d+/)?-?\d+ +(?:\[\d+\] +)?\d+\.\d+: +(?:(\d+) +)?(\S+):(?: |$)")


def plain_count(text):
    """{event: (samples, period)} by a pattern on lines, which is all that this knows of the format."""
    sums = collections.defaultdict(lambda: [0, 0])
    for line in text.splitlines():
        m = SAMPLE.match(line)
        if m and not line.startswith(("#", "\t")):
            sums[m.group(2)][0] += 1
            sums[m.group(2)][1] += int(m.group(1) or 0)
    return {event: tuple(v) for event, v in sums.items()}


# stackcollapse-perf.pl counts a sample when a blank line follows. These two texts end without one, and
# so their last sample is missing from what is expected. The text has it, and the text wins.
LAST = {
    "perf-dd-stacks-01": (["unknown 246", "system_call k"], 10101010),
    "perf-numa-stacks-01": (["start_secondary k", "cpu_startup_entry k", "arch_cpu_idle k", "default_idle k",
                             "native_safe_halt k"], 1),
}
PROCESS = {"perf-dd-stacks-01": ("dd", "29776"), "perf-numa-stacks-01": ("swapper", "0")}


def last_sample(name, dialect):
    comm, tid = PROCESS[name]
    out = [{"pid": f"{comm}-?", "tid": f"{comm}-?/{tid}"}.get(dialect, comm)]
    for frame in LAST[name][0]:
        func, _, mark = frame.partition(" ")
        if func == "unknown":
            func = f"[unknown <{mark}>]" if dialect == "addrs" else "[unknown]"
        elif dialect in ("all", "kernel"):
            func += "_[k]"
        out.append(func)
    return ";".join(out), LAST[name][1]


FLAMEGRAPH = ["perf-cycles-instructions-01", "perf-dd-stacks-01", "perf-funcab-cmd-01", "perf-java-faults-01",
              "perf-numa-stacks-01", "perf-rust-Yamakaky-dcpu"]


@needs_corpus
@pytest.mark.parametrize("dialect", ["addrs", "all", "jit", "kernel", "pid", "tid"])
@pytest.mark.parametrize("name", FLAMEGRAPH)
def test_folds_as_stackcollapse_perf_does(name, dialect):
    want = collections.Counter(expected(f"{CORPUS}/flamegraph/expected/{name}-collapsed-{dialect}.txt"))
    if name in LAST:
        stack, number = last_sample(name, dialect)
        want[stack] += number
    path = f"{CORPUS}/flamegraph/{name}.txt"
    # That tool takes the first event, and periods where they are printed.
    first, (_, period) = next(iter(plain_count(text_of(path)).items()))
    metric = "period" if period else "samples"
    option = {"pid": "with-pid", "kernel": "mark-kernel"}.get(dialect, dialect)
    assert folded(path, f"--{option}", "--event", first, "--metric", metric) == dict(want)
    assert folded(path, f"--{option}", "--event", first) == dict(want), "what views show"


@needs_corpus
@pytest.mark.parametrize("name", ["cpp-stacks-std-function", "go-stacks", "java-inline"])
def test_folds_as_inferno_does(name):
    want = expected(f"{CORPUS}/inferno/expected/{name}-collapsed.txt")
    assert folded(f"{CORPUS}/inferno/{name}.txt", "--metric", "period") == want


@needs_corpus
def test_one_line_samples_fold_per_event():
    # inferno takes both samples as one event; the text names two, and a folded file holds one.
    path = f"{CORPUS}/inferno/single-line-stacks.txt"
    got = collections.Counter(folded(path, "--event", "cycles:u"))
    got.update(folded(path, "--event", "cycles"))
    assert got == expected(f"{CORPUS}/inferno/expected/single-line-stacks-collapsed.txt")


def corpus_texts():
    found = []
    for folder in ("made", "flamegraph", "inferno", "speedscope"):
        for name in sorted(os.listdir(os.path.join(CORPUS, folder))) if os.path.isdir(CORPUS) else []:
            if name.endswith((".txt", ".perf-script.txt.zst")) and "perf-report" not in name and name != "no-events.txt":
                found.append(f"{folder}/{name}")
    return found


@needs_corpus
@pytest.mark.parametrize("name", corpus_texts())
def test_counts_what_the_text_says(name):
    path = os.path.join(CORPUS, name)
    rows = records(path)
    got = totals(rows)
    got.pop("off-cpu", None)  # made of switches: test_off_cpu_time.py
    for event, (samples, period) in plain_count(text_of(path)).items():
        assert got[event]["samples"] == samples
        assert got[event].get("period", 0) == period
    assert got.keys() == plain_count(text_of(path)).keys()
    header = rows[0]
    assert header["source_tool"] == "perf"
    times = re.findall(r"(?m)^(?![#\t]).*? (\d+\.\d+): ", text_of(path))
    run = spaa("convert", path, "--to", "spaa", "-o", "-").stdout.decode().splitlines()[0]
    first, last = min(times, key=float), max(times, key=float)
    assert f'"start":{first},"end":{last},' in run


@needs_corpus
@pytest.mark.parametrize("name", corpus_texts())
def test_is_valid_spaa_at_every_granularity(name, tmp_path):
    for frames in ("address", "line", "function"):
        out = str(tmp_path / f"{frames}.spaa")
        assert spaa("convert", os.path.join(CORPUS, name), "-o", out, "--frames", frames).returncode == 0
        check = spaa("validate", out)
        assert check.returncode == 0, check.stdout.decode()


@needs_corpus
def test_an_empty_text_is_an_error_that_says_so():
    run = spaa("convert", f"{CORPUS}/inferno/no-events.txt", "--from", "perf-script", "--to", "spaa", "-o", "-")
    assert run.returncode == 3 and run.stdout == b""


def fixture(name):
    return os.path.join(FIXTURES, name + ".perf-script.txt")


def test_header_comments_are_used():
    header = records(fixture("dialects"))[0]
    events = {e["name"]: e for e in header["events"]}
    assert events["cpu-clock:u"]["kind"] == "software"
    assert events["cpu-clock:u"]["sampling"]["mode"] == "frequency"
    assert events["cpu-clock:u"]["sampling"]["frequency_hz"] == 999
    assert events["cycles"]["sampling"]["sample_period"] == 100000
    assert events["sched:sched_switch"]["kind"] == "probe"
    assert events["sched:sched_switch"]["sampling"] == {"mode": "event", "primary_metric": "count"}
    assert header["source"]["command"] == "/usr/bin/perf record -F 999 -g ./app"
    assert header["x_spaa"]["host"] == {"name": "box", "os": "Linux 6.1.0", "arch": "x86_64", "cpus": 4}
    assert "cmdline : /usr/bin/perf record -F 999 -g ./app" in header["x_perf_script"]["comments"]


def test_names_dsos_and_kinds():
    rows = records(fixture("dialects"))
    frames = {f["func"]: f for f in of_type(rows, "frame")}
    dsos = {d["id"]: d for d in of_type(rows, "dso")}
    where = {name: (dsos[f["dso"]]["name"], f["kind"]) for name, f in frames.items()}
    assert where["std::map<int, (anonymous namespace)::Key>::find(int) const"] == ("/usr/lib/libx.so", "user")
    assert where["net/http.(*Client).Do"] == ("/usr/bin/go app", "user")
    assert where["0x7f0000004000"] == ("/usr/lib/libx.so", "user")
    assert where["0x0"] == ("[unknown]", "unknown")
    assert where["do_syscall_64"] == ("[kernel]", "kernel")
    assert where["nf_hook"] == ("[nf_conntrack]", "kernel")
    assert where["ext4_read"][1] == "kernel"
    assert where["__vdso_gettimeofday"] == ("[vdso]", "user")
    assert where["0x7f0000006100"] == where["0x7f0000006200"] == ("[jit]", "user")
    assert where["0xc5800"] == ("memfd:code", "user")
    assert frames["0x7f0000006100"]["x_raw_dso"] == "/tmp/perf-77.map"
    assert frames["foo::bar()"]["x_func"] == {"linkage": "_ZN3foo3barEv"}
    assert frames["do_syscall_64"]["ip"] == "0xffffffff81000010"


def test_inlined_frames_belong_to_their_address():
    stacks = stacks_of(records(fixture("dialects")))
    java = next(s for s, c, _ in stacks if c["comm"] == "java")
    assert java[:3] == [("Ljava/io/Writer;::write", "[jit]", 2), ("Ljava/io/PrintStream;::print", "[jit]", 1),
                        ("Ljava/io/PrintStream;::println", "[jit]", 0)]
    app = next(s for s, _, _ in stacks if s[0][0] == "deepest")
    # `lonely` has an address of its own, and no frame there that is not inlined: it is that frame.
    assert app == [("deepest", "/usr/bin/app", 2), ("middle", "/usr/bin/app", 1), ("outer", "/usr/bin/app", 0),
                   ("lonely", "[unknown]", 0), ("main", "/usr/bin/app", 0)]


def test_source_lines():
    lines = {f["func"]: f.get("srcline") for f in of_type(records(fixture("dialects")), "frame")}
    assert (lines["deepest"], lines["middle"], lines["outer"]) == ("a.c:10", "a.c:20", "a.c:30")
    assert lines["lonely"] is None and lines["main"] is None


def test_threads_and_pids():
    rows = records(fixture("dialects"))
    threads = {t["tid"]: t for t in of_type(rows, "thread")}
    assert (threads[4250]["pid"], threads[4250]["comm"]) == (4242, "V8 Worker 12")
    assert "x_pid_unknown" not in threads[4242]
    alone = records(fixture("no_event"))
    assert all(t["x_pid_unknown"] is True and t["pid"] == 100 for t in of_type(alone, "thread"))
    assert all("pid" not in s["context"] for s in of_type(alone, "stack"))
    assert "pid" not in alone[0]["x_spaa"]["group_by"]
    assert {s["context"]["comm"] for s in of_type(alone, "stack")} == {"app", "3rd 7 42"}


def test_missing_fields():
    rows = records(fixture("no_event"))
    assert [e["name"] for e in rows[0]["events"]] == ["unknown"]
    assert totals(rows) == {"unknown": {"samples": 3}}
    assert rows[0]["time_range"] == {"start": 5.000000001, "end": 5.000000003, "unit": "seconds"}
    rows = records(fixture("no_time"))
    assert totals(rows) == {"unknown": {"samples": 3}}
    assert "time_range" not in rows[0]


def test_frames_on_the_sample_line():
    rows = records(fixture("one_line"))
    assert totals(rows) == {"cycles:u": {"samples": 3, "period": 750}, "sched:sched_switch": {"samples": 1, "count": 1}}
    assert {f["func"]: f.get("srcline") for f in of_type(rows, "frame")}["main"] == "app.c:3"


def test_damage_costs_only_itself():
    run = spaa("convert", fixture("damaged"), "--to", "spaa", "-o", "-")
    assert run.returncode == 0
    rows = [json.loads(line) for line in run.stdout.decode().splitlines()]
    assert totals(rows) == {"cycles": {"samples": 5, "period": 1250}}
    assert all(len(frames) == 1 for frames, _, _ in stacks_of(rows))
    said = run.stderr.decode()
    for words in ("this line is nothing", "instruction trace error", "THIS_IS_NO_FRAME", "incomplete", "12 samples"):
        assert words in said
    assert spaa("convert", fixture("damaged"), "--strict", "--to", "spaa", "-o", "-").returncode == 3


def test_line_ends_of_windows():
    with open(fixture("crlf"), "rb") as f:
        text = f.read()
    unix = spaa("convert", "-", "--to", "spaa", "-o", "-", stdin=text.replace(b"\r", b"")).stdout
    assert spaa("convert", "-", "--to", "spaa", "-o", "-", stdin=text).stdout == unix
    assert b"\\r" not in unix and len(unix) > 100


def test_raw_samples_are_kept_on_demand():
    rows = records(fixture("dialects"), "--samples")
    samples = of_type(rows, "sample")
    assert len(samples) == 6
    assert samples[0]["timestamp"] == 10.0001
    switch = next(s for s in samples if "x_perf_script" in s)
    assert switch["x_perf_script"]["text"].startswith("prev_comm=app prev_pid=4242")


def test_groups_by_what_is_asked():
    rows = records(fixture("dialects"), "--group-by", "none", "--frames", "function")
    assert all(set(s["context"]) == {"event"} for s in of_type(rows, "stack"))
    assert all("ip" not in f and "srcline" not in f for f in of_type(rows, "frame"))
    rows = records(fixture("dialects"), "--group-by", "cpu")
    assert {s["context"]["cpu"] for s in of_type(rows, "stack")} == {0, 1, 2, 3}


def test_reading_in_pieces_changes_nothing(tmp_path):
    """A pipe and a compressed file give views of other sizes than a mapped file."""
    with open(fixture("dialects"), "rb") as f:
        head, _, body = f.read().partition(b"#\n")
    text = head + b"#\n" + body * 4000
    path = tmp_path / "big.txt"
    path.write_bytes(text)
    whole = spaa("convert", str(path), "--to", "spaa", "-o", "-").stdout
    assert spaa("convert", "-", "--to", "spaa", "-o", "-", stdin=text).stdout == whole
    assert sum(w["samples"] for _, _, w in stacks_of([json.loads(x) for x in whole.splitlines()])) == 6 * 4000


def trimmed(text):
    return b"\n".join(line.lstrip(b" \t") for line in text.split(b"\n"))


def bytes_of(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstdcat", path], stdout=subprocess.PIPE, check=True).stdout
    with open(path, "rb") as f:
        return f.read()


TEXTS = sorted(glob.glob(os.path.join(FIXTURES, "*.txt")) + glob.glob(os.path.join(CORPUS, "*", "*.txt*")))


@pytest.mark.parametrize("path", TEXTS, ids=os.path.basename)
def test_text_without_its_indentation_gives_the_same(path):
    text = bytes_of(path)
    plain = spaa("convert", "-", "--to", "spaa", "-o", "-", stdin=text)
    bare = os.path.basename(path).startswith("no_time")  # names of threads and words after short numbers only
    for options in [("--from", "perf-script")] + ([] if bare else [()]):
        run = spaa("convert", "-", *options, "--to", "spaa", "-o", "-", stdin=trimmed(text))
        assert plain.returncode or (run.returncode == 0 and run.stdout == plain.stdout)


TRIMMED = b"""java 19983 cycles:
ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])
7f3c main+0x12 (/usr/bin/java)

cc1 20 cycles:
dead beef (/usr/bin/cc1)

dead 21 cycles:
1100 operator new(unsigned long) (/lib/a.so)
"""


@pytest.mark.parametrize("text", [TRIMMED, TRIMMED.replace(b"\n\n", b"\n"), TRIMMED.replace(b"\n", b"\r\n"),
                                  re.sub(rb" cycles:", b" [001] 5.000001: 1 cycles:", TRIMMED)],
                         ids=["timeless", "no blank lines", "crlf", "timed"])
def test_trimmed_frames_and_processes_with_names_like_addresses(text):
    for options in (), ("--from", "perf-script"):
        run = spaa("convert", "-", *options, "--to", "folded", "-o", "-", stdin=text)
        assert run.stdout.decode().splitlines() == ["cc1;beef 1", "dead;operator new 1",
                                                    "java;main;native_write_msr_safe 1"]


def test_trimmed_addresses_without_names_or_objects():
    text = b"app 1 5.000001: cycles:\nffffffff81000000\n7f3c12\n\napp 1 5.000002: cycles:\n401000 main\n"
    run = spaa("convert", "-", "--raw-names", "--addrs", "--to", "folded", "-o", "-", stdin=text)
    assert run.stdout.decode().splitlines() == ["app;[unknown <7f3c12>];[unknown <ffffffff81000000>] 1",
                                                "app;main 1"]


def test_junk_among_trimmed_frames_costs_only_itself():
    text = TRIMMED.replace(b"dead beef", b"no frame at all\ndead beef")
    run = spaa("convert", "-", "--from", "perf-script", "--to", "folded", "-o", "-", stdin=text)
    assert b"cc1;beef 1" in run.stdout and b"no frame at all" in run.stderr


def test_text_that_ends_within_the_line_of_an_event_says_so(tmp_path):
    whole = "".join("app 7 [000] 1.%06d: 100 cycles: \n\t107f main (/bin/app)\n\n" % i for i in range(20))
    path = tmp_path / "s.txt"
    path.write_text(whole + "app 7 [000] 2.000000: 100 cyc")
    answer = run("info", path, "--json", code=0)
    assert "SPAA-L301" in answer.err and [e["name"] for e in json.loads(answer.out)["events"]] == ["cycles"]


def states_of(answer):
    return {r["context"]["x_state"]: int(w["value"]) for r in map(json.loads, answer.out.splitlines()) if r["type"] == "stack"
            for w in r["weights"] if w["metric"] == "samples"}


def test_a_switch_says_the_state_of_its_thread():
    """The text of sched_switch; threads have any name, also one that looks like it."""
    said = {"R": 5, "R+": 1, "S": 7, "D": 2, "D|K": 1, "T": 1, "I": 2, "X": 1, "Z": 1, "0": 1, "1": 1, "2": 1}
    line = "worker  7/8  [000]  %d.000000: %s\n\t ffffffff81000001 f+0x1 ([kernel.kallsyms])\n\n"
    switch = "sched:sched_switch: prev_comm=a prev_state=Z prev_pid=8 prev_prio=120 prev_state=%s ==> next_comm=b prev_state=Z next_pid=9 next_prio=120"
    text = line % (1, "cycles:")
    for i, (state, n) in enumerate(said.items()):
        text += "".join(line % (10 + 20 * i + k, switch % state) for k in range(n))
    text += line.replace("worker  7/8", "swapper  0/0") % (900, switch % "R")
    got = states_of(run("convert", "-", "--to", "spaa", "-o", "-", "--group-by", "state", stdin=text, code=0))
    assert got.pop("RUNNABLE") == 1
    assert got == {"RUN_QUEUE": 7, "WAITING": 8, "BLOCKED": 4, "SUSPENDED": 1, "IDLE": 3, "UNKNOWN": 2}
    none = run("convert", "-", "--to", "spaa", "-o", "-", "--group-by", "state", stdin=line % (1, "cycles:"), code=0)
    assert "x_state" not in none.out


@needs_corpus
@pytest.mark.parametrize("more", [("--event", "sched:sched_switch"), ("--event", "sched:sched_wakeup")])
def test_states_of_the_text_are_those_of_the_recording(more):
    both = [os.path.join(CORPUS, "made", "tracepoint.perf-script.txt.zst"), os.path.join(CORPUS, "..", "perf-data", "made", "tracepoint.perf.data.zst")]
    a, b = ([(r["key"], r["total"]) if "key" in r else r for r in json.loads(run("top", path, "--by", "state", "--json", *more, code=0).out)["rows"]] for path in both)
    assert a == b and len(a) > 1


def test_text_of_off_cpu_recordings_has_states(tmp_path):
    """`perf record --off-cpu`: as the reader of perf.data has it."""
    text = ("app 100/100 [000] 1.0: 5000 offcpu-time: \n\t1000 wait (/bin/a)\n\t2000 main (/bin/a)\n\n"
            "app 100/100 [000] 2.0: 1000 cycles: \n\t1000 work (/bin/a)\n\t2000 main (/bin/a)\n\n")
    (tmp_path / "p.txt").write_text(text)
    for options, function in ((["--event", "offcpu-time", "--state", "WAITING"], "wait"), (["--event", "cycles", "--state", "RUNNABLE"], "work")):
        assert [r["function"] for r in ask("top", tmp_path / "p.txt", *options)["rows"]] == [function, "main"]
    run("waits", tmp_path / "p.txt", code=0)


def test_branches_behind_a_frame_are_no_part_of_it(tmp_path):
    """`perf script -F +brstack` without call chains; newer versions print more behind each."""
    frames = [("401136 work<unsigned long>+0x6d (/tmp/q)", "0x401136(/tmp/q)/0x401120(/tmp/q)/P/-/-/20/  0x401136(/tmp/q (deleted))/0x0([unknown])/M/-/-/1/  "),
              ("401180 f(int, char const*)+0x1 (/tmp/q)", "0x401136/0x401120/-/-/-/0/NON_SPEC_CORRECT_PATH  0x7ff/0x401120/P/-/-/0/"),
              ("ffffffff81000001 g+0x1 ([kernel.kallsyms])", "0x401136/0x401120/P/-/-/20/COND/-"), ("401190 h+0x0 (/tmp/q)", "")]
    text = "".join(f"q  7/8  {i}.000000:    1000 cpu-clock:    {frame} {branches}\n" for i, (frame, branches) in enumerate(frames))
    (tmp_path / "p.txt").write_text(text)
    rows = ask("top", tmp_path / "p.txt", "-n", "0")["rows"]
    assert {(r["name"], r["dso"]) for r in rows} == {("work<unsigned long>", "/tmp/q"), ("f(int, char const*)", "/tmp/q"),
                                                     ("g", "[kernel]"), ("h", "/tmp/q")}


# As perf 6.1.192 prints a perf.data whose branch stacks tests/formats/perf_data_files.py wrote, of a C++ program; -v: with arguments.
APP = "(/tmp/app)"
BY_NAME = [
    f"401176 ns::Box<unsigned long>::run+0x4 {APP}[unknown]([unknown])/ns::Box<unsigned long>::run+0x0{APP}/M/-/-/31/ ",
    f"401176 ns::Box<unsigned long>::run(unsigned long, char const*)+0x4 {APP}ns_op(long, bool (*)(long, int))+0x3{APP}/plain+0x0{APP}/P/-/-/6/ "
    f"main+0x14{APP}/[unknown]([unknown])/P/-/-/0/ ",
    f"401176 ns::Box<unsigned long>::run {APP}ns_op(long, bool (*)(long, int))+0x3{APP}/plain+0x0{APP}/P/-/-/6/ ",
    f"401176 ns::Box<unsigned long>::run+0x4 (/tmp/app (deleted))main+0x14(/tmp/app (deleted))/main+0x19{APP}/-/X/A/0/COND/- ",
]


@pytest.mark.parametrize("branches", BY_NAME)
def test_branches_by_name_are_no_part_of_a_frame(tmp_path, branches):
    (tmp_path / "p.txt").write_text(f"         my prog    10     0.100000:          1 cycles:HG:            {branches}\n" * 3)
    row, = ask("top", tmp_path / "p.txt", "-n", "0")["rows"]
    assert row["name"].startswith("ns::Box<unsigned long>::run") and "ns_op" not in row["name"] and row["dso"] == "/tmp/app"
    assert row["self"] == 3


def test_where_a_frame_ends_without_its_dso_nothing_is_made_up(tmp_path):
    """-F -dso: the offset goes on in the name behind it; without an offset the name itself does."""
    lines = ["401176 run+0x4add+0x14/main+0x19/P/-/-/6/ ", "401176 runmain+0x14/[unknown]/P/-/-/6/ "]
    (tmp_path / "p.txt").write_text("".join(f"prog    10     {i}.100000:          1 cycles:            {x}\n" for i, x in enumerate(lines)))
    rows = ask("top", tmp_path / "p.txt", "-n", "0")["rows"]
    assert sorted(r["name"] for r in rows) == ["0x401176", "run"] and [r["tags"] for r in rows if r["name"] != "run"] == [["unresolved"]]


@pytest.mark.parametrize("branches", [" 0x40115c(/tmp/app)/0x401106(/tmp/app)/P/-/-/56/  0x7ffff0001234([unknown])/0xffffffff81000000([unknown])/P/-/-/32/ ",
                                      "main+0x14(/tmp/app)/plain+0x0(/tmp/app)/P/-/-/56/ [unknown]([unknown])/[unknown]([unknown])/P/-/-/41/ ",
                                      "ns::Box<unsigned long>::run(unsigned long, char const*)+0x9(/tmp/app)/plain+0x0(/tmp/app)/MN/-/-/25/ "])
def test_branches_below_a_call_chain_are_a_line_of_their_own(tmp_path, branches):
    frames = "\t            117a run+0x4 (/tmp/app)\n\t            1166 main+0x1e (/tmp/app)\n"
    (tmp_path / "p.txt").write_text("".join(f"my prog    10     0.{i}00000:          1 cycles:HG: \n{frames if i else ''}{branches}\n" for i in range(4)))
    answer = ask("top", tmp_path / "p.txt", "-n", "0")
    assert {r["name"]: (r["self"], r["total"]) for r in answer["rows"]} == {"run": (3, 3), "main": (0, 3), "[no stack]": (1, 1)}
    assert not answer["diagnostics"]


@pytest.mark.parametrize("branches", ["main+0x14(/tmp/app)/plain+0x0(/tmp/app)/P/-/-/56/ ", " 0x40115c(/tmp/app)/0x401106(/tmp/app)/P/-/-/56/ ",
                                      " (discriminator 2)main+0x14/main+0x19/P/-/-/56/ "])
def test_branches_behind_a_source_line_are_no_part_of_it(tmp_path, branches):
    (tmp_path / "p.txt").write_text(f"prog    10     0.100000:          1 cycles:            401176 run+0x4 (/tmp/app)\n  app.cpp:2{branches}\n" * 3)
    row, = ask("top", tmp_path / "p.txt", "--by", "line")["rows"]
    assert "app.cpp:2" in row["name"] and "0x" not in row["name"] and "plain" not in row["name"]


def test_text_of_a_tracepoint_is_not_cut(tmp_path):
    line = "q  7/8  1.000000: probe:x: (401136) a=0x12/0x34/P/ 0x12/0x34/P/-\n\t401136 f+0x1 (/tmp/q)\n\n"
    (tmp_path / "p.txt").write_text(line)
    assert [r["name"] for r in ask("top", tmp_path / "p.txt")["rows"]] == ["f"]


def fields(name, *args):
    folders = (FIXTURES, os.path.join(os.path.dirname(__file__), "perf_script_without_comm"))
    path, = (path for folder in folders for path in glob.glob(os.path.join(folder, f"fields_{name}.*txt")))
    shown = spaa("top", path, "--json", "-n", "0", *args)
    assert shown.returncode == 0, shown.stderr.decode()
    assert shown.stderr == b""
    j = json.loads(shown.stdout)
    return j["whole"], [(r.get("function") or r.get("name"), r["self"], r["total"]) for r in j["rows"]]


@pytest.mark.parametrize("name", ["no_tid", "time", "misc", "no_time", "cpu", "period", "one_line_no_tid",
                                  "one_line_time", "one_line_misc", "one_line_no_time"])
def test_fields_that_are_printed_or_not_leave_functions_and_weights_alone(name):
    plain = "one_line" if name.startswith("one_line") else "plain"
    assert fields(name) == fields(plain)
    if name not in ("time", "period", "one_line_time"):
        assert fields(name, "--by", "comm") == fields(plain, "--by", "comm")


def test_without_a_tid_there_is_no_thread():
    rows = records(os.path.join(FIXTURES, "fields_no_tid.perf-script.txt"), "--samples")
    assert not of_type(rows, "thread")
    assert {s["context"].get("comm") for s in of_type(rows, "stack")} == {"a"}
    assert not any("tid" in s["context"] for s in of_type(rows, "stack"))


def test_a_name_padded_with_blanks_opens_the_file():
    with open(os.path.join(FIXTURES, "fields_one_line.perf-script.txt"), "rb") as f:
        assert f.read(16) == b" " * 15 + b"a"
    assert fields("one_line")[0] > 0


@pytest.mark.parametrize("how,name", [("chain", "mem"), ("chain", "uregs"), ("chain", "insn"), ("one", "mem"),
                                      ("one", "uregs"), ("one", "insn"), ("one", "source")])
def test_fields_around_a_frame_are_no_part_of_it(how, name):
    shown = [ask_top(f"around_{how}_{n}.perf-script.txt") for n in ("plain", name)]
    assert shown[0] == shown[1]


def ask_top(name):
    shown = spaa("top", os.path.join(FIXTURES, name), "--json", "-n", "0")
    assert (shown.returncode, shown.stderr) == (0, b"")
    j = json.loads(shown.stdout)
    return j["whole"], sorted((r["function"], r["self"], r["total"]) for r in j["rows"])


def test_a_period_alone_behind_the_tid(tmp_path):
    """`-F comm,tid,period,ip,sym,dso`: the tid has five columns, the period ten; it was dropped, each sample counting one."""
    path = tmp_path / "p.txt"
    path.write_text("".join(f"prog 17578 {period:10d} \n\t            {ip} {name} (/bin/prog)\n\n"
                            for period, ip, name in ((100, 1000, "light"), (100, 1000, "light"), (9000000, 2000, "heavy"))))
    j = ask("top", path)
    assert (j["profile"]["metric"], j["whole"]) == ("period", 9000200)
    assert [(r["name"], r["self"]) for r in j["rows"]] == [("heavy", 9000000), ("light", 200)]
    path.write_text("worker 3  1234 \n\t            1000 f (/bin/prog)\n\n")
    assert [(r["name"], r["self"]) for r in ask("top", path)["rows"]] == [("f", 1)]
    assert ask("top", path, "--by", "comm")["rows"][0]["name"] == "worker 3"


def test_an_address_with_a_name_is_no_frame_above_a_call_chain(tmp_path):
    """`-F +addr` of page faults names where the data is, behind the event: it was taken as the frame, and the chain was lost."""
    path = tmp_path / "p.txt"
    sample = ("v  9452 [000]  2276.00858{}:          7 page-faults:     7f165e047d40 {} (/usr/lib/ld.so)\n"
              "\t           1ba13 touch+0x2a3 (/usr/bin/v)\n\t           1ab78 main+0x10 (/usr/bin/v)\n\n")
    path.write_text("".join(sample.format(i, name) for i, name in enumerate(("[unknown]", "_DYNAMIC+0x0", "[unknown]"))))
    run = spaa("top", path, "--json")
    j = json.loads(run.stdout)
    assert run.stderr == b"" and [(r["name"], r["self"], r["total"]) for r in j["rows"]] == [("touch", 21, 21), ("main", 0, 21)]
    path.write_text(path.read_text().replace("(/usr/bin/v)\n\n", "(/usr/bin/v)\n               0\n\n").replace("     7f165e047d40 [unknown] (/usr/lib/ld.so)", " "))
    run = spaa("top", path, "--json")
    assert run.stderr == b"" and json.loads(run.stdout)["rows"][0]["self"] == 21, "+phys_addr"


def test_text_cut_in_the_indent_of_a_frame_is_cut_off():
    whole = (
        b"orders 7/7 1.000000: 250 cycles:\n\t            1418 parse+0x48 (/tmp/mix)\n\t           891f5 main+0x305 (/tmp/mix)\n\n"
        b"orders 7/7 2.000000: 250 cycles:\n\t            1418 parse+0x48 (/tmp/mix)\n\t           891f5 main+0x305 (/tmp/mix)\n\n"
    )
    last = whole.rindex(b"\t") + 1
    for n in range(last, last + 12):
        said = spaa("info", "-", stdin=whole[:n]).stderr.decode()
        assert "SPAA-L301" in said, n
        assert spaa("info", "-", "--strict", stdin=whole[:n]).returncode == 3
    below_sample = whole[: whole.rindex(b"cycles:\n") + len(b"cycles:\n")] + b"\t     "
    assert "SPAA-L301" in spaa("info", "-", stdin=below_sample).stderr.decode()
    assert "SPAA-L301" not in spaa("info", "-", stdin=whole).stderr.decode()
    assert "SPAA-L301" not in spaa("info", "-", stdin=whole + b"\t  \n").stderr.decode()

"""The writer of perf script text: back to the same profile, byte for byte with --lossless, and what other
readers of such text make of it."""

import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perf_data_files as files  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))
CORPUS = os.environ.get("SPAA_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
FIXTURES = os.path.join(ROOT, "tests", "fixtures", "perf_script")
DEMO = [os.path.join(ROOT, "demo", "orders-1.perf.data.zst"), "--symfs", os.path.join(ROOT, "demo", "symfs"),
        "--kallsyms", os.path.join(ROOT, "demo", "kallsyms")]


def spaa(*args, stdin=None, status=0):
    run = subprocess.run([SPAA, *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert run.returncode == status, run.stderr.decode()
    return run


def texts():
    found = glob.glob(os.path.join(FIXTURES, "*.txt"))
    for name in ("made/*.perf-script.txt.zst", "flamegraph/*.txt*", "inferno/*.txt*", "speedscope/*.txt*"):
        found += [p for p in glob.glob(os.path.join(CORPUS, "perf-script", name)) if not p.endswith("no-events.txt")]
    return sorted(found)


def text_of(path):
    if not path.endswith(".zst"):
        with open(path, "rb") as f:
            return f.read()
    if not shutil.which("zstdcat"):
        pytest.skip("no zstdcat")
    return subprocess.run(["zstdcat", path], stdout=subprocess.PIPE, check=True).stdout


def to_text(*args):
    return spaa("convert", *args, "--to", "perf-script", "-o", "-").stdout


def weights(data, *args):
    """{(event, comm, frames): {metric: value}} of a profile, contexts beyond the comm added up."""
    out = spaa("convert", "-", *args, "--to", "spaa", "-o", "-", stdin=data).stdout
    rows = [json.loads(line) for line in out.decode().splitlines()]
    dsos = {r["id"]: r["name"] for r in rows if r["type"] == "dso"}
    frames = {r["id"]: (r["func"], dsos[r["dso"]], r.get("inline_depth", 0)) for r in rows if r["type"] == "frame"}
    sums = collections.defaultdict(collections.Counter)
    for r in rows:
        if r["type"] == "stack":
            key = r["context"]["event"], r["context"].get("comm"), tuple(frames[i] for i in r["frames"])
            for w in r["weights"]:
                sums[key][w["metric"]] += w["value"]
    return {k: dict(v) for k, v in sums.items()}


def collapse(data, event=None):
    """What stackcollapse-perf.pl and inferno do, in short: {"comm;root;…;leaf": sum of periods} of one event."""
    sums, stack, period, comm = collections.Counter(), [], 0, None
    for line in data.decode("utf-8", "replace").split("\n"):
        if line.startswith("#"):
            continue
        start = re.match(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+", line)
        frame = re.match(r"^\s*(\w+)\s*(.+) \((.*)\)$", line)
        if start:
            head = re.search(r":\s*(\d+)*\s+(\S+):\s*", line[start.end():])
            comm, stack, period = start.group(1), [], int(head.group(1) or 1)
            if event is not None and head.group(2) != event:
                comm = None
        elif frame and comm is not None:
            stack.insert(0, re.sub(r"\+0x[\da-f]+$", "", frame.group(2)))
        elif not line.strip() and comm is not None:
            sums[";".join([comm, *stack])] += period
            comm = None
    return dict(sums)


@pytest.mark.parametrize("path", texts(), ids=os.path.basename)
def test_lossless_gives_the_bytes_back(path, tmp_path):
    kept = tmp_path / "kept.spaa"
    spaa("convert", path, "--from", "perf-script", "--lossless", "-o", str(kept))
    assert to_text(str(kept)) == text_of(path)
    assert any(json.loads(line)["type"] == "sample" for line in kept.read_bytes().splitlines())


@pytest.mark.parametrize("path", texts(), ids=os.path.basename)
def test_reads_back_to_the_same_sums(path):
    def sums(data):  # time off the CPU is an event of its own in text, with periods
        return {k: v for k, v in weights(data, "--from", "perf-script").items() if k[0] != "off-cpu"}

    want = sums(text_of(path))
    for how in ([], ["--samples"]):
        assert sums(to_text(path, "--from", "perf-script", *how)) == want


@pytest.mark.parametrize("name", ["fp", "multi", "period", "pipe"])
def test_samples_come_back_in_time_order(name):
    path = os.path.join(CORPUS, "perf-script", "made", f"{name}.perf-script.txt.zst")
    if not os.path.exists(path):
        pytest.skip("no such recording")

    def lines(data):
        return [" ".join(line.split()) for line in data.decode().splitlines() if line and not line.startswith("#")]

    assert lines(to_text(path, "--samples")) == lines(text_of(path))


def test_a_recording_as_text_is_what_perf_would_print():
    want = weights(spaa("convert", *DEMO, "--to", "spaa", "-o", "-").stdout)
    for how in ([], ["--samples"]):
        text = to_text(*DEMO, *how)
        assert weights(text, "--from", "perf-script") == want
        folded = spaa("convert", *DEMO, "--to", "folded", "--metric", "period", "--raw-names", "-o", "-").stdout
        assert collapse(text) == {k: int(v) for k, v in (line.rsplit(" ", 1) for line in folded.decode().splitlines())}


def test_weights_are_divided_exactly(tmp_path):
    path = tmp_path / "x.perf-script.txt"
    path.write_bytes(b"a 1 1.0: 7 cycles: \n\t 10 f+0x0 (/x)\n\na 1 2.0: 3 cycles: \n\t 10 f+0x0 (/x)\n\n"
                     b"a 1 3.0: 1 cycles: \n\t 10 f+0x0 (/x)\n\n")
    text = to_text(str(path)).decode()
    assert [line.split()[2:4] for line in text.splitlines() if line.startswith("a ")] == [
        ["1.000000:", "4"], ["2.000000:", "4"], ["3.000000:", "3"]]
    assert "# times are made up" in text and text.startswith("# ========\n")
    once = to_text(str(path), "--per-stack").decode()
    assert [line.split()[3] for line in once.splitlines() if line.startswith("a ")] == ["11"]


def test_samples_start_as_firefox_knows_them():
    first = to_text(*DEMO, "--samples").decode().split("\n")[0]
    assert re.search(r"^\S.*?\s+(?:\d+/)?\d+\s+(?:\[\d+\]\s+)?[\d.]+:", first)
    assert to_text(*DEMO).decode().startswith("# ========\n")


def test_other_profilers_names_become_perfs(tmp_path):
    spindump = os.path.join(ROOT, "tests", "fixtures", "spindump")
    path = sorted(glob.glob(os.path.join(spindump, "*.txt")))[0]
    text = to_text(path)
    a = sum(sum(m.values()) for m in weights(text, "--from", "perf-script").values())
    assert a > 0
    folded = tmp_path / "k.folded"
    folded.write_bytes(b"main;read;sys_read_[k] 5\nmain;JIT_[j] 2\n")
    text = to_text(str(folded)).decode()
    assert "sys_read ([kernel.kallsyms])" in text and "JIT (//anon)" in text
    assert collapse(text.encode()) == {":0;main;read;sys_read": 5, ":0;main;JIT": 2}


def test_one_event_and_one_metric(tmp_path):
    path = tmp_path / "x.perf-script.txt"
    path.write_bytes(b"ab 1 1.0: 7 cycles: \n\t 10 f+0x0 (/x)\n\nab 1 2.0: 3 faults: \n\t 20 g+0x0 (/x)\n\n")
    kept = tmp_path / "k.spaa"
    spaa("convert", str(path), "--lossless", "-o", str(kept))
    assert collapse(to_text(str(kept), "--event", "faults")) == {"ab;g": 3}
    assert collapse(to_text(str(kept), "--event", "cycles", "--metric", "samples")) == {"ab;f": 1}


def test_too_many_samples_are_refused_with_the_way_out(tmp_path):
    text, path, out = tmp_path / "x.perf-script.txt", tmp_path / "big.spaa", tmp_path / "big.perf-script"
    text.write_bytes(b"ab 1 1.0: cycles: \n\t 10 f+0x0 (/x)\n\n")
    profile = spaa("convert", str(text), "--to", "spaa", "-o", "-").stdout
    path.write_bytes(profile.replace(b'"value":1', b'"value":5000000000'))
    run = spaa("convert", str(path), "--to", "perf-script", "-o", str(out), status=3)
    assert b"--per-stack" in run.stderr and b"--expand" in run.stderr and not out.exists()
    assert b"5000000000 samples, about 290000 MB" in run.stderr
    assert collapse(to_text(str(path), "--per-stack")) == {"ab;f": 5000000000}


def test_text_that_gets_long_is_written_where_that_is_asked_for(tmp_path):
    text, path, out = tmp_path / "x.perf-script.txt", tmp_path / "big.spaa", tmp_path / "big.perf-script"
    text.write_bytes(b"ab 1 1.0: cycles: \n\t 10 f+0x0 (/x)\n\n")
    profile = spaa("convert", str(text), "--to", "spaa", "-o", "-").stdout
    path.write_bytes(profile.replace(b'"value":1', b'"value":1100000'))
    spaa("convert", str(path), "--to", "perf-script", "-o", str(out))  # 64 MB
    path.write_bytes(profile.replace(b'"value":1', b'"value":1200000'))
    spaa("convert", str(path), "--to", "perf-script", "-o", str(out), "--force", status=3)
    spaa("convert", str(path), "--to", "perf-script", "--expand", "-o", str(out), "--force")
    assert out.read_bytes().count(b"cycles:") == 1200000


@pytest.mark.skipif(not shutil.which("inferno-collapse-perf"), reason="no inferno")
def test_inferno_reads_the_same_result():
    text = to_text(*DEMO, "--samples")
    run = subprocess.run(["inferno-collapse-perf"], input=text, stdout=subprocess.PIPE, check=True)
    folded = spaa("convert", *DEMO, "--to", "folded", "--metric", "period", "-o", "-").stdout
    assert sorted(run.stdout.splitlines()) == sorted(folded.splitlines())


# ---- addresses of the kernel ----------------------------------------------------------------------


def kernel_recording():
    """The kernel, a module, a BPF program, a trampoline and a guest's kernel; user code."""
    r = files.Recording([(1, 0, files.IP | files.TID | files.TIME | files.CALLCHAIN | files.PERIOD, {"freq": 99})])
    r.kernel(0xFFFFFFFF9A000000)
    r.mmap(-1, 0xFFFFFFFFC0100000, 0x10000, 0, b"/lib/modules/6.1/kernel/net/snd-net.ko.xz", misc=files.KERNEL)
    for at, kind, name in ((0xFFFFFFFFC1000000, 1, b"bpf_prog_1_f"), (0xFFFFFFFFC2000000, 2, b"ftrace_trampoline")):
        r.record(files.KSYMBOL, 0, r.pack("QIHH", at, 64, kind, 0) + files.pad8(name + b"\0"), r.trailer(0, 0, 0))
    r.comm(10, 10, b"prog", 100)
    r.mmap(10, 0x400000, 0x1000, 0x1000, b"/bin/a", 100)
    chain = [0xFFFFFFFF9A000105, 0xFFFFFFFFC0100040, 0xFFFFFFFFC1000010, 0xFFFFFFFFC2000008, 0xFFFFFFFF9A000220]
    r.sample([files.CONTEXT["kernel"], *chain, files.CONTEXT["user"], 0x400010], time=200, misc=files.KERNEL)
    return r.bytes(), [f"{ip:x}" for ip in chain] + ["1010"]


KALLSYMS = "".join(f"{at:016x} T {name}\n" for at, name in (
    (0xFFFFFFFF9A000000, "_text"), (0xFFFFFFFF9A000100, "do_work"), (0xFFFFFFFF9A000200, "entry"))) + (
    "ffffffffc0100000 t helper\t[snd_net]\n")


def output(*args):
    return spaa(*args).stdout.decode()


def addresses(text):
    return [line.split()[:2] for line in text.splitlines() if line.startswith("\t")]


@pytest.mark.parametrize("through_spaa", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_addresses_of_the_kernel_are_those_that_perf_prints(tmp_path, named, through_spaa):
    data, ips = kernel_recording()
    path, spaa = tmp_path / "perf.data", tmp_path / "a.spaa"
    path.write_bytes(data)
    (tmp_path / "kallsyms").write_text(KALLSYMS)
    options = ["--kallsyms", tmp_path / "kallsyms"] if named else ["--no-symbols"]
    if through_spaa:
        output("convert", path, *options, "-o", spaa)
        path, options = spaa, []
    text = output("convert", path, *options, "--to", "perf-script", "-o", "-")
    names = ["do_work+0x5", "helper+0x40", "bpf_prog_1_f+0x10", "ftrace_trampoline+0x8", "entry+0x20", "[unknown]"]
    if not named:
        names = [n if n[0] in "bf" else "[unknown]" for n in names]
    assert addresses(text) == [list(pair) for pair in zip(ips, names)]
    assert "are offsets" not in text
    # The text read again has the names and addresses, and gets those that it lacks.
    (tmp_path / "script.txt").write_text(text)
    again = output("convert", tmp_path / "script.txt", "--to", "perf-script", "-o", "-")
    assert addresses(again) == addresses(text)
    output("convert", tmp_path / "script.txt", "-o", spaa)
    output("symbolize", spaa, "--kallsyms", tmp_path / "kallsyms", "-o", tmp_path / "named.spaa")
    later = output("convert", tmp_path / "named.spaa", "--to", "perf-script", "-o", "-")
    assert "do_work+0x5" in later and "entry+0x20" in later


def test_offsets_of_a_kernel_that_stood_nobody_knows_where_are_told(tmp_path):
    data, _ = kernel_recording()
    (tmp_path / "perf.data").write_bytes(data)
    bare = output("convert", tmp_path / "perf.data", "--no-symbols", "--to", "spaa", "-o", "-")
    records = [json.loads(line) for line in bare.splitlines()]
    for r in records:
        if r["type"] == "dso":
            r.pop("x_spaa", None)
    (tmp_path / "a.spaa").write_text("".join(json.dumps(r) + "\n" for r in records))
    text = output("convert", tmp_path / "a.spaa", "--to", "perf-script", "-o", "-")
    assert "# addresses of the kernel are offsets: the profile does not say where it stood\n" in text
    assert addresses(text)[0] == ["105", "[unknown]"]

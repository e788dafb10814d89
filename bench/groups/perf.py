"""Recordings of perf, and the text of perf script."""
import os
import subprocess
import sys

from kit import HERE, SEED, WALL, Check, Row, size
from measure import MB, Side, memory, runs_within


def perf_data(m):
    """A recording of a million samples as SPAA, symbols included, and its reader alone."""
    source = m.recording()
    deep = m.recording("recording-deep.data", ("16", "30"))
    samples = (1_000_000 // m.scale, " samples")
    convert = [m.spaa, "convert", "-q", source, "--to", "spaa", "-o", "-"]
    one, many = Side("spaa -j1", convert + ["-j1"]), Side("spaa", convert)
    perf = m.peer("perf script", ["perf", "script", "-i", source])
    m.compare(one, many, perf)
    yield Row("perf-data", "perf.data to SPAA, symbols, -j1", one, samples, peer=perf, need_ratio=30)
    yield Row("perf-data", "perf.data to SPAA, symbols, all cores", many, samples, clock=WALL, peer=perf, need_ratio=30)
    for what, path in (("reader alone, 6 frames a sample", source), ("reader alone, 23 frames a sample", deep)):
        reader = Side("reader", m.reader(path), part=True)
        m.compare(reader)
        yield Row("perf-data", f"perf.data {what}", reader, samples, "read")


def perf_report(m):
    """The answer people wait for: what is hot, without and with what it called."""
    source = m.recording("recording-deep.data", ("16", "30"))
    report = ["perf", "report", "--stdio", "-g", "none", "-i", source]
    top = Side("spaa top", [m.spaa, "top", "-q", source])
    flat = m.peer("perf report, flat", report + ["--no-children"])
    children = m.peer("perf report, children", report + ["--children"])
    m.compare(top, flat, children)
    work = (size(source), "B")
    yield Row("perf-report", "perf.data with callchains: top", top, work, peer=flat, need_ratio=25)
    yield Row("perf-report", "perf.data with callchains: top", top, work, peer=children, need_ratio=100)


def perf_large(m):
    """A recording of a gigabyte with callchains: all of convert but the symbols, on one core."""
    count = 4_200_000 // m.scale
    source = m.generated("large.data", "gen_perf_data.py", "--samples", str(count), "--depth", "16", "30", "--seed", SEED)
    convert = Side("spaa -j1", [m.spaa, "convert", "-q", source, "--no-symbols", "--to", "spaa", "-o", "-", "-j1"])
    m.compare(convert)
    yield Row("perf-large", "perf.data of 1 GB with callchains to SPAA, no symbols", convert, (size(source), "B"))


def perf_dwarf(m):
    """Copied stacks: a real recording's samples many times over, with the binaries that it ran."""
    corpus = os.environ.get("SPAA_CORPUS", os.path.join(HERE, "..", "..", "shared", "corpus"))
    made = os.path.join(corpus, "perf-data", "made")
    recorded, symfs = os.path.join(made, "dwarf.perf.data.zst"), os.path.join(made, "symfs")
    if not os.path.exists(recorded):
        return
    times = 400 // m.scale
    source = m.made("dwarf.data", (recorded, times), lambda path: subprocess.run(
        [sys.executable, os.path.join(HERE, "gen_perf_repeat.py"), recorded, path, str(times)], check=True))
    command = [m.spaa, "convert", "-q", source, "--symfs", symfs, "--no-inline", "--no-lines", "--to", "spaa", "-o", "-"]
    one, many = Side("spaa -j1", command + ["-j1"]), Side("spaa", command)
    perf = m.peer("perf script", ["perf", "script", "-i", source, "--symfs", symfs, "--no-inline"])
    m.compare(one, many, perf)
    samples = (245 * times, " samples")
    yield Row("perf-dwarf", "copied stacks to SPAA, -j1", one, samples, peer=perf, need_ratio=3)
    yield Row("perf-dwarf", "copied stacks to SPAA, all cores", many, samples, clock=WALL, peer=perf, need_ratio=3)


def perf_script(m):
    """Text of perf script: of that recording, and with few repeats."""
    source = m.recording_text()
    command = [m.spaa, "convert", "-q", source, "--to", "folded", "-o", "-", "-j1"]
    folded, reader = Side("spaa", command), Side("reader", m.reader(source), part=True)
    collapse = os.path.join(m.flamegraph, "stackcollapse-perf.pl") if m.flamegraph else ""
    perl = m.peer("stackcollapse-perf.pl", ["perl", collapse, source] if os.path.exists(collapse) else None)
    inferno = m.peer("inferno-collapse-perf", ["inferno-collapse-perf", "-n", "1", source])
    m.compare(folded, reader, inferno, perl)
    work = (size(source), "B")
    yield Row("perf-script", "perf script text, reader alone", reader, work, "read")
    yield Row("perf-script", "perf script text to folded, -j1", folded, work, peer=inferno, need_ratio=5)
    yield Row("perf-script", "perf script text to folded, -j1", folded, work, peer=perl)
    count = str(400_000 // m.scale)
    for what, more in (("every stack new", []), ("every line new", ["--lines", "0"])):
        text = m.generated("distinct.txt", "gen_perf_script.py", "--samples", count, "--distinct", *more,
                           "--seed", SEED, to_stdout=True)
        reader = Side("reader", m.reader(text), part=True)
        inferno = m.peer("inferno-collapse-perf", ["inferno-collapse-perf", "-n", "1", text])
        m.compare(reader, inferno)
        yield Row("perf-script", f"perf script text, {what}", reader, (size(text), "B"), "read", peer=inferno)


def memory_use(m):
    """Memory for a recording: what is not the mapped file must stay below 100 MB."""
    most = 100 * MB
    for what, more in (("-j1", ["-j1"]), ("all cores", [])):
        command = [m.spaa, "convert", "-q", m.recording(), "--to", "spaa", "-o", "-", *more]
        seen = [memory(command) for _ in range(m.bench.rounds)]
        resident, anonymous = (max(s[i] for s in seen) for i in (0, 1))
        yield Check("memory", f"perf.data to SPAA, {what}: less than {most / MB:.0f} MB beside the mapped file",
                    anonymous < most, f"{anonymous / MB:.1f} MB of {resident / MB:.1f} MB resident")
        yield Check("memory", f"perf.data to SPAA, {what}: works when allowed {most / MB:.0f} MB of private memory",
                    runs_within(command, int(most)))


GROUPS = {"perf-data": perf_data, "perf-report": perf_report, "perf-large": perf_large, "perf-dwarf": perf_dwarf, "perf-script": perf_script, "memory": memory_use}

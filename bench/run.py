#!/usr/bin/env python3
"""Measures spaa against what else is installed here, on inputs it makes itself. See README.md.

    make bench
    bench/run.py --quick                       # a tenth of the size, fewer runs
    bench/run.py --only spaa top               # some groups of measures
    bench/run.py --flamegraph ~/FlameGraph     # also against its Perl scripts
"""
import argparse
import filecmp
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys

from measure import MB, Bench, Failed, Side, memory, run, runs_within

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SEED = "1"
LIBRARIES = ["-lzstd", "-lz", "-lxxhash", "-lelf", "-lpcre2-8", "-liberty", "-lm", "-lpthread"]


CPU, WALL = 0, 1


class Row:
    """One line of the table: our cost, what was done in it, and a peer's cost for the same.

    ours and peer are sides, peer is a name where it is not installed; part is what of a bench program's
    report counts, clock says which time rate and ratio are made of.
    """

    def __init__(self, group, what, ours, work, part=None, clock=CPU, peer=None, peer_part=None, peer_name=None,
                 need_ratio=None, need_rate=None):
        self.group, self.what, self.ours, self.part, self.work, self.clock = group, what, ours, part, work, clock
        self.peer, self.peer_part, self.peer_name = peer, peer_part, peer_name or getattr(peer, "name", peer)
        self.need_ratio, self.need_rate = need_ratio, need_rate
        if not ours.runs:
            raise Failed(f"{what}: longer than {ours.late} s")
        self.time = ours.median(part)
        self.rate = work[0] / max(self.time[clock], 1e-9)
        self.ratio = None
        if isinstance(peer, Side):
            theirs = peer.median(peer_part)[clock] if peer.runs else peer.late
            self.ratio = theirs / max(self.time[clock], 1e-9)

    def met(self):
        if self.need_ratio is not None:
            return None if self.ratio is None else self.ratio >= self.need_ratio
        return None if self.need_rate is None else self.rate >= self.need_rate

    def as_json(self):
        peer = None
        if isinstance(self.peer, Side):
            peer = {"name": self.peer_name, "cpu_wall": self.peer.values(self.peer_part), "longer_than": self.peer.late,
                    "peak_bytes": self.peer.peak()}
        elif self.peer:
            peer = {"name": self.peer, "installed": False}
        return {"group": self.group, "what": self.what, "cpu_wall": self.ours.values(self.part), "work": self.work,
                "clock": ("cpu", "wall")[self.clock], "rate": self.rate, "peak_bytes": self.ours.peak(), "peer": peer,
                "ratio": self.ratio, "need_ratio": self.need_ratio, "need_rate": self.need_rate, "met": self.met()}

    def cells(self):
        peer, ratio, need = ["", "", "", ""], "", ""
        if isinstance(self.peer, Side):
            late = f">{self.peer.late:.0f}" if self.peer.late else ""
            times = [late, late] if not self.peer.runs else [f"{t:.3f}" for t in self.peer.median(self.peer_part)]
            peer = [self.peer_name, *times, f"{self.peer.peak() / MB:.0f}"]
            ratio = f"{'>' * (not self.peer.runs)}{self.ratio:.{1 if self.ratio >= 10 else 2}f}x"
        elif self.peer:
            peer = [self.peer, "not installed", "", ""]
        if self.need_ratio is not None:
            need = f"{self.need_ratio:g}x"
        elif self.need_rate is not None:
            need = show_rate(self.need_rate, self.work[1])
        return [self.what, f"{self.time[CPU]:.3f}", f"{self.time[WALL]:.3f}", show_rate(self.rate, self.work[1]),
                f"{self.ours.peak() / MB:.0f}", *peer, ratio, need, {True: "ok", False: "MISSED", None: ""}[self.met()]]


class Check:
    """Something that is so or not."""

    def __init__(self, group, what, met, note=""):
        self.group, self.what, self.is_met, self.note = group, what, met, note

    def met(self):
        return self.is_met

    def as_json(self):
        return {"group": self.group, "check": self.what, "met": self.is_met, "note": self.note}


def show_rate(rate, unit):
    return f"{rate / 1e6:.1f} M{unit}/s" if unit != "B" else f"{rate / MB:.0f} MB/s"


class Machine:
    """What is here: the tool, the bench programs, the peers, and the inputs made so far."""

    def __init__(self, args):
        self.spaa = os.path.abspath(args.spaa)
        if not os.access(self.spaa, os.X_OK):
            sys.exit(f"{args.spaa} is missing: build it first (make), or name it with --spaa")
        self.data = os.path.abspath(args.data)
        os.makedirs(self.data, exist_ok=True)
        self.flamegraph = args.flamegraph
        self.bench = Bench(*((3, 10, 60) if args.quick else (5, 45, 180)), log=self.log)
        self.scale = 10 if args.quick else 1
        self.programs = {}

    def log(self, text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def compile(self, source, extra):
        """A program of this folder; None when it does not build here, as when its library is missing."""
        if source not in self.programs:
            program = os.path.join(self.data, os.path.splitext(os.path.basename(source))[0])
            command = [os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE", "-O2", os.path.join(HERE, source),
                       "-o", program]
            done = subprocess.run(command + extra, capture_output=True, text=True, check=False)
            self.programs[source] = None if done.returncode else program
            if done.returncode and source == "read_bench.c":
                sys.exit(f"cannot build {source}:\n{done.stderr}")
        return self.programs[source]

    def reader(self, *arguments):
        library = os.path.join(os.path.dirname(self.spaa), "libspaa_internal.a")
        program = self.compile("read_bench.c", ["-I", os.path.join(ROOT, "include"), "-I", os.path.join(ROOT, "src"),
                                                library] + LIBRARIES)
        return [program, *arguments]

    def peer(self, name, command):
        """A contender, or only its name when there is no such program."""
        if command and command[0] and shutil.which(command[0]):
            return Side(name, command)
        return name

    def compare(self, *sides):
        self.bench.compare([s for s in sides if isinstance(s, Side)])

    # Inputs

    def made(self, name, recipe, make):
        """The path of an input, made by make(path) unless one of the same recipe is there."""
        stem, dot, extension = name.partition(".")
        key = hashlib.sha256(repr(recipe).encode()).hexdigest()[:8]
        path = os.path.join(self.data, f"{stem}-{key}{dot}{extension}")
        if not os.path.exists(path):
            self.log(f"making {os.path.basename(path)}")
            partial = os.path.join(self.data, f"partial-{os.getpid()}-{name}")
            try:
                make(partial)
                os.rename(partial, path)
            finally:
                if os.path.exists(partial):
                    os.unlink(partial)
        with open(path, "rb") as f:  # into the page cache
            while f.read(1 << 20):
                pass
        return path

    def generated(self, name, generator, *arguments, to_stdout=False):
        script = os.path.join(HERE, generator)
        with open(script, "rb") as f:
            recipe = (f.read(), arguments)

        def make(path):
            command = [sys.executable, script, *arguments]
            if not to_stdout:
                subprocess.run(command + [path], check=True)
                return
            with open(path, "wb") as out:
                subprocess.run(command, stdout=out, check=True)
        return self.made(name, recipe, make)

    def recording(self, name="recording.data", depth=("3", "9")):
        """A million samples with callchains; with this depth its text is about as large as that of real ones."""
        return self.generated(name, "gen_perf_data.py", "--samples", str(1_000_000 // self.scale), "--depth", *depth,
                              "--seed", SEED)

    def recording_text(self):
        """What perf script prints of the recording; made up where there is no perf."""
        source = self.recording()
        if not shutil.which("perf"):
            return self.generated("script.txt", "gen_perf_script.py", "--samples", str(1_000_000 // self.scale),
                                  "--seed", SEED, to_stdout=True)

        def make(path):
            with open(path, "wb") as out:
                subprocess.run(["perf", "script", "-i", source], stdout=out, stderr=subprocess.DEVNULL, check=True)
        return self.made("script.txt", (os.path.basename(source),), make)

    def profile(self):
        return self.generated("profile.spaa", "gen_spaa_large.py", "--stacks", str(500_000 // self.scale), "--frames",
                              str(60_000 // self.scale), "--depth", "34", "--seed", SEED)

    def converted(self, name):
        """The profile in another format, by the name's extension."""
        source = self.profile()
        with open(self.spaa, "rb") as f:
            tool = hashlib.sha256(f.read()).hexdigest()
        return self.made(name, (os.path.basename(source), tool),
                         lambda path: subprocess.run([self.spaa, "convert", "-q", source, "-o", path], check=True))


def size(path):
    return os.path.getsize(path)


# Groups of measures: each takes the machine and yields rows and checks.

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
        yield Row("perf-data", f"perf.data {what}", reader, samples, "read", need_rate=10e6)


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
    yield Row("perf-script", "perf script text, reader alone", reader, work, "read", need_rate=1000 * MB)
    yield Row("perf-script", "perf script text to folded, -j1", folded, work, peer=inferno)
    yield Row("perf-script", "perf script text to folded, -j1", folded, work, peer=perl)
    count = str(400_000 // m.scale)
    for what, more, need in (("every stack new", [], 300 * MB), ("every line new", ["--lines", "0"], None)):
        text = m.generated("distinct.txt", "gen_perf_script.py", "--samples", count, "--distinct", *more,
                           "--seed", SEED, to_stdout=True)
        reader = Side("reader", m.reader(text), part=True)
        inferno = m.peer("inferno-collapse-perf", ["inferno-collapse-perf", "-n", "1", text])
        m.compare(reader, inferno)
        yield Row("perf-script", f"perf script text, {what}", reader, (size(text), "B"), "read", peer=inferno,
                  need_rate=need)


def spaa(m):
    """SPAA text to a profile and back."""
    source = m.profile()
    work = (size(source), "B")
    both = Side("reader", m.reader("-w", "spaa", source), part=True)
    peers = [m.peer("jansson", [m.compile("peers/jansson_lines.c", ["-ljansson"]), source]),
             m.peer("yajl tokens", [m.compile("peers/yajl_tokens.c", ["-lyajl"]), source]),
             m.peer("jq empty", ["jq", "empty", source])]
    m.compare(both, *peers)
    yield Row("spaa", "SPAA text to profile", both, work, "read", need_rate=1000 * MB)
    for peer in peers:
        yield Row("spaa", "SPAA text to profile", both, work, "read", peer=peer)
    yield Row("spaa", "profile to SPAA text", both, work, "write", peer=both, peer_part="read",
              peer_name="reading it", need_ratio=1)
    threads = Side("reader", m.reader("-j", str(os.cpu_count()), "-w", "spaa", source), part=True)
    whole = Side("spaa", [m.spaa, "convert", "-q", source, "--to", "spaa", "-o", "-"])
    m.compare(threads, whole)
    yield Row("spaa", "SPAA text to profile, all cores", threads, work, "read", WALL)
    yield Row("spaa", "SPAA to SPAA, all cores", whole, work, clock=WALL)
    packed = m.converted("profile.spaa.zst")
    reader = Side("reader", m.reader(packed), part=True)
    zstd = m.peer("zstd -dc", ["zstd", "-dc", packed])
    m.compare(reader, zstd)
    yield Row("spaa", "SPAA text in zstd to profile", reader, work, "read", peer=zstd)


def top(m):
    """What is hot in a recording."""
    source = m.recording()
    ours = Side("spaa", [m.spaa, "top", "-q", source])
    perf = m.peer("perf report", ["perf", "report", "--stdio", "-g", "none", "-i", source])
    m.compare(ours, perf)
    yield Row("top", "top of the recording", ours, (1_000_000 // m.scale, " samples"), peer=perf, need_ratio=5)
    profile = m.profile()
    ours = Side("spaa", [m.spaa, "top", "-q", profile])
    m.compare(ours)
    yield Row("top", "top of the SPAA profile", ours, (size(profile), "B"))


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


def validate(m):
    """Checking a large file."""
    source = m.profile()
    ours = Side("spaa", [m.spaa, "validate", "-q", source])
    m.compare(ours)
    yield Row("validate", "validate the SPAA profile", ours, (size(source), "B"))


def flamegraph(m):
    """Flame graphs of the large profile."""
    source, folded = m.profile(), m.converted("profile.folded")
    draw = lambda path: [m.spaa, "flamegraph", "-q", path, "-o", os.path.join(m.data, "out.svg")]
    native, ours = Side("spaa", draw(source)), Side("spaa", draw(folded))
    script = os.path.join(m.flamegraph, "flamegraph.pl") if m.flamegraph else ""
    inferno = m.peer("inferno-flamegraph", ["inferno-flamegraph", folded])
    perl = m.peer("flamegraph.pl", ["perl", script, folded] if os.path.exists(script) else None)
    m.compare(native, ours, inferno, perl)
    yield Row("flamegraph", "flame graph of the SPAA profile", native, (size(source), "B"))
    yield Row("flamegraph", "flame graph of its folded stacks", ours, (size(folded), "B"), peer=inferno)
    yield Row("flamegraph", "flame graph of its folded stacks", ours, (size(folded), "B"), peer=perl)


def folded(m):
    """Folded stacks."""
    source, text = m.profile(), m.converted("profile.folded")
    reader = Side("reader", m.reader(text), part=True)
    writer = Side("writer", m.reader("-w", "folded", source), part=True)
    m.compare(reader, writer)
    yield Row("folded", "folded stacks to profile", reader, (size(text), "B"), "read")
    yield Row("folded", "profile to folded stacks", writer, (size(text), "B"), "write")


def determinism(m):
    """The same bytes whatever the number of threads, and a canonical file comes back as it was."""
    profile = m.profile()
    for what, path in (("perf.data", m.recording()), ("perf script text", m.recording_text()), ("SPAA", profile),
                       ("folded", m.converted("profile.folded"))):
        outs = []
        for jobs in ("1", "2", "5"):
            outs.append(os.path.join(m.data, f"out-{jobs}.spaa"))
            m.log(f"{what} with {jobs} threads")
            run([m.spaa, "convert", "-q", path, "-o", outs[-1], "-j", jobs])
        yield Check("determinism", f"{what} to SPAA: -j1, -j2 and -j5 give the same bytes",
                    all(filecmp.cmp(outs[0], o, shallow=False) for o in outs[1:]))
        if path == profile:
            yield Check("determinism", "SPAA to SPAA gives the same bytes", filecmp.cmp(path, outs[0], shallow=False))
        for o in outs:
            os.unlink(o)


GROUPS = {"perf-data": perf_data, "perf-script": perf_script, "spaa": spaa, "top": top, "memory": memory_use,
          "validate": validate, "flamegraph": flamegraph, "folded": folded, "determinism": determinism}


# Report

def print_rows(rows):
    head = ["what", "cpu s", "wall s", "rate", "MB", "against", "cpu s", "wall s", "MB", "ratio", "needs", ""]
    table = [head] + [r.cells() for r in rows if isinstance(r, Row)]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    left = (0, 5, 11)
    for line in table if len(table) > 1 else []:
        print("  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip())
    for check in (r for r in rows if isinstance(r, Check)):
        print(f"{'ok' if check.met() else 'MISSED':<8}{check.what}{': ' + check.note if check.note else ''}")


def first_line(*command):
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).splitlines()[0].strip() if done.stdout or done.stderr else None


def machine_facts(before):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        models = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "load_before": round(before[0], 2), "load_after": round(os.getloadavg()[0], 2)}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--quick", action="store_true", help="a tenth of the size, three runs")
    ap.add_argument("--only", nargs="+", choices=list(GROUPS), metavar="GROUP", help=", ".join(GROUPS))
    ap.add_argument("--json", metavar="FILE", help="write every single run here too")
    ap.add_argument("--spaa", default=os.path.join(ROOT, "build", "spaa"), help="the tool (default build/spaa)")
    ap.add_argument("--flamegraph", metavar="DIR", help="a checkout of FlameGraph")
    ap.add_argument("--data", default=os.path.join(ROOT, "build", "bench-data"), help="where inputs are made and kept")
    args = ap.parse_args()
    before = os.getloadavg()
    m = Machine(args)
    rows, broken = [], []
    for name in args.only or GROUPS:
        try:
            rows += GROUPS[name](m)
        except Failed as e:
            broken.append(f"{name}: {e}")
    m.log("")
    print_rows(rows)
    for line in broken:
        print(f"FAILED  {line}")
    facts = machine_facts(before)
    facts["versions"] = [v for v in (first_line(tool, "--version") for tool in (m.spaa, "perf", "jq")) if v]
    print(f"machine: {facts['cpu']}, {facts['cores']} cores, Linux {facts['kernel']}, load {facts['load_before']} "
          f"before and {facts['load_after']} after; {', '.join(facts['versions'])}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"schema": "spaa.bench/1", "quick": args.quick, "machine": facts, "failed": broken,
                       "rows": [r.as_json() for r in rows]}, f, indent=1)
            f.write("\n")
    return 1 if broken or any(isinstance(r, Check) and not r.met() for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

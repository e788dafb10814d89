"""What the groups of measures share: rows, checks, and the machine with its inputs and peers."""
import hashlib
import os
import shutil
import subprocess
import sys

from measure import MB, Bench, Failed, Side

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SEED = "1"
LIBRARIES = ["-lzstd", "-lz", "-lxxhash", "-lelf", "-lpcre2-8", "-lsqlite3", "-liberty", "-lm", "-lpthread"]
CPU, WALL = 0, 1


class Row:
    """One line of the table: our cost, what was done in it, and a peer's cost for the same.

    ours and peer are sides, peer is a name where it is not installed; part is what of a bench program's
    report counts, clock says which time rate and ratio are made of.
    """

    def __init__(self, group, what, ours, work, part=None, clock=CPU, peer=None, peer_part=None, peer_name=None,
                 need_ratio=None):
        self.group, self.what, self.ours, self.part, self.work, self.clock = group, what, ours, part, work, clock
        self.peer, self.peer_part, self.peer_name = peer, peer_part, peer_name or getattr(peer, "name", peer)
        self.need_ratio = need_ratio
        if not ours.runs:
            raise Failed(f"{what}: longer than {ours.late} s")
        self.time = ours.median(part)
        self.rate = work[0] / max(self.time[clock], 1e-9)
        self.ratio = None
        if isinstance(peer, Side):
            theirs = peer.median(peer_part)[clock] if peer.runs else peer.late
            self.ratio = theirs / max(self.time[clock], 1e-9)

    def met(self):
        return None if self.need_ratio is None or self.ratio is None else self.ratio >= self.need_ratio

    def as_json(self):
        peer = None
        if isinstance(self.peer, Side):
            peer = {"name": self.peer_name, "cpu_wall": self.peer.values(self.peer_part), "longer_than": self.peer.late,
                    "peak_bytes": self.peer.peak()}
        elif self.peer:
            peer = {"name": self.peer, "installed": False}
        return {"group": self.group, "what": self.what, "cpu_wall": self.ours.values(self.part), "work": self.work,
                "clock": ("cpu", "wall")[self.clock], "rate": self.rate, "peak_bytes": self.ours.peak(), "peer": peer,
                "ratio": self.ratio, "need_ratio": self.need_ratio, "met": self.met()}

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

    def say(self, text):
        """Where it is, for who waits: once a group where nobody sees lines that are written over."""
        print(f"\r\033[K{text}" if sys.stderr.isatty() else text, file=sys.stderr, flush=True)

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

    def script(self, name, *arguments):
        """A peer of ours, in Python, that reads as scripts do."""
        return Side(name, [sys.executable, os.path.join(HERE, "peers", name), *arguments])

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

    def converted(self, name, source=None, *options):
        """The profile, or another source, in another format, by the name's extension."""
        source = source or self.profile()
        with open(self.spaa, "rb") as f:
            tool = hashlib.sha256(f.read()).hexdigest()
        return self.made(name, (os.path.basename(source), tool, options),
                         lambda path: subprocess.run([self.spaa, "convert", "-q", source, *options, "-o", path], check=True))


def size(path):
    return os.path.getsize(path)

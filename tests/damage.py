"""Damages profiles of every format, converts and merges them, and judges what was written.

Whatever is done to an input: when the program says that all is well (exit 0), what it wrote is well. SPAA passes
`spaa validate`, folded text reads back to the same total, CodeGuru is JSON, pprof is read by `go tool pprof`.

    SPAA_BIN=build/spaa tests/damage.py --rounds 40 --seed 1 [FILE-OR-FOLDER...]
"""

import argparse
import collections
import concurrent.futures
import copy
import decimal
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))
LARGEST = 60_000
ODD = [None, True, False, 0, -1, 1.5, 10**30, "", "x", "0x10", [], {}, [1], {"a": 1}, [None], "\u0000", -5]


class Pairs(list):
    """A JSON object with its members in order, keys that stand twice included."""


def dump(value):
    if isinstance(value, Pairs):
        return "{" + ",".join(json.dumps(k) + ":" + dump(v) for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dump, value)) + "]"
    return json.dumps(value)


def places(value):
    """Every object and list inside a value."""
    todo, found = [value], []
    while todo:
        x = todo.pop()
        if isinstance(x, list):
            found.append(x)
            todo += [v for _, v in x] if isinstance(x, Pairs) else x
    return found


def damage_value(rng, value):
    """Changes one thing in a JSON value: types, keys that stand twice, members and items gone or repeated."""
    inside = [p for p in places(value) if p]
    if not inside:
        return
    at = rng.choice(inside)
    i = rng.randrange(len(at))
    kind = rng.randrange(7)
    if isinstance(at, Pairs):
        key, old = at[i]
        if kind == 0:
            at[i] = (key, rng.choice(ODD))
        elif kind == 1:
            at.insert(rng.randrange(len(at) + 1), (key, old))
        elif kind == 2:
            at.insert(rng.randrange(len(at) + 1), (key, rng.choice(ODD)))
        elif kind == 3:
            del at[i]
        elif kind == 4:
            at[i] = (rng.choice(at)[0], old)
        elif kind == 5:
            other = rng.choice([p for p in inside if isinstance(p, Pairs)])
            at[i] = (key, copy.deepcopy(rng.choice(other)[1]))
        else:
            at[i] = (key + "x", old)
    elif kind < 3:
        at[i] = rng.choice(ODD)
    elif kind < 5:
        at.insert(i, at[rng.randrange(len(at))])
    else:
        del at[i]


def damage_json(rng, data):
    """A damaged document or file of lines; None where it is no JSON."""
    try:
        whole = json.loads(data, object_pairs_hook=Pairs)
        lines = None
    except (ValueError, RecursionError):
        whole = None
        lines = data.split(b"\n")
    if whole is not None:
        for _ in range(rng.randint(1, 3)):
            damage_value(rng, whole)
        return dump(whole).encode()
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(len(lines))
        kind = rng.randrange(10)
        if kind == 0:
            lines.insert(rng.randrange(len(lines) + 1), lines[i])
        elif kind == 1 and len(lines) > 1:
            del lines[i]
        elif kind == 2:
            j = rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        elif kind == 3:
            lines[i] = lines[i][:rng.randrange(len(lines[i]) + 1)]
        else:
            try:
                record = json.loads(lines[i], object_pairs_hook=Pairs)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, list):
                damage_value(rng, record)
                lines[i] = dump(record).encode()
    return b"\n".join(lines)


def damage_bytes(rng, data):
    """Bytes changed, spans gone or repeated, lines repeated or exchanged, the end cut off."""
    b = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not b:
            return bytes(b)
        at = rng.randrange(len(b))
        n = min(len(b) - at, 1 << rng.randrange(8))
        kind = rng.randrange(8)
        if kind == 0:
            for _ in range(rng.randint(1, 8)):
                b[rng.randrange(len(b))] = rng.randrange(256)
        elif kind == 1:
            b[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del b[at:at + n]
        elif kind == 3:
            b[at:at] = b[at:at + n]
        elif kind == 4:
            to = rng.randrange(len(b) + 1)
            b[to:to] = b[at:at + n]
        elif kind == 5 and rng.random() < 0.5:
            del b[at:]
        elif kind == 6:
            b[at:at] = rng.choice([b"\n", b"\0", b"\xff\xfe", b"\"", b";", b" 1", b"99999999999999999999", b"-"])
        else:
            lines = bytes(b).split(b"\n")
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
            b = bytearray(b"\n".join(lines))
    return bytes(b)


def damage(rng, data):
    packed = data[:2] == b"\x1f\x8b"
    if packed:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError):
            packed = False
    text = data.lstrip()[:1] in (b"{", b"[")
    try:
        out = damage_json(rng, data) if text and rng.random() < 0.8 else damage_bytes(rng, data)
    except RecursionError:
        out = damage_bytes(rng, data)
    return gzip.compress(out, 1, mtime=0) if packed and rng.random() < 0.5 else out


def inputs(paths):
    found = []
    for path in paths:
        if os.path.isfile(path):
            found.append(path)
        for folder, folders, names in os.walk(path):
            folders.sort()
            found += [os.path.join(folder, n) for n in sorted(names)]
    return [p for p in found if 0 < os.path.getsize(p) <= LARGEST and not p.endswith((".md", ".json5", ".c"))]


def spaa(*args, timeout=60):
    p = subprocess.run([BIN, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")


def total(text):
    """Of folded stacks."""
    return sum(decimal.Decimal(line.rsplit(b" ", 1)[1].decode()) for line in text.split(b"\n") if line)


class Judge:
    """Counts what was written and keeps what is wrong with it."""

    def __init__(self, folder, others=True):
        self.folder = folder
        self.others = others
        self.written = collections.Counter()
        self.bad = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, what, command, source):
        code, out, err = spaa(*command)
        if not 0 <= code <= 3 or "runtime error" in err or "Sanitizer" in err:
            self.bad.append((what, source, "exit %d: %s" % (code, err[-400:])))
        if code == 0:
            self.written[what] += 1
        return code == 0, out

    def valid(self, what, path, source):
        code, out, err = spaa("validate", "--json", path)
        if code != 0:
            try:
                findings = [f for f in json.loads(out).get("findings", []) if f.get("severity") in ("error", "fatal")]
                said = "; ".join("%s %s %s" % (f.get("code"), f.get("field"), f.get("message")) for f in findings[:3])
            except (ValueError, RecursionError):
                said = out.decode("utf-8", "replace")[:300] + err[:300]
            self.bad.append((what, source, said))

    def convert(self, path, source):
        out = self.path("out.spaa")
        if self.run("spaa", ["convert", path, "-q", "-o", out], source)[0]:
            self.valid("spaa", out, source)
            if self.others and random.Random(source).random() < 0.2:
                self.other_formats(out, source)
            return True
        return False

    def merge(self, a, b, source):
        out = self.path("merged.spaa")
        if self.run("merge", ["merge", a, b, "-q", "-o", out], source)[0]:
            self.valid("merge", out, source)

    def other_formats(self, path, source):
        done, text = self.run("folded", ["convert", path, "-q", "--to", "folded"], source)
        if done:
            self.folded(text, source)
        done, text = self.run("codeguru", ["convert", path, "-q", "--to", "codeguru"], source)
        if done:
            try:
                json.loads(text)
            except ValueError as e:
                self.bad.append(("codeguru", source, str(e)))
        out = self.path("out.pb.gz")
        if self.run("pprof", ["convert", path, "-q", "--to", "pprof", "-o", out], source)[0] and shutil.which("go"):
            p = subprocess.run(["go", "tool", "pprof", "-raw", "-symbolize=none", out], capture_output=True,
                               timeout=120)
            if p.returncode:
                self.bad.append(("pprof", source, p.stderr[-300:].decode("utf-8", "replace")))

    def folded(self, text, source):
        back = self.path("out.folded")
        with open(back, "wb") as f:
            f.write(text)
        try:
            want = total(text)
        except (ArithmeticError, IndexError) as e:
            self.bad.append(("folded", source, str(e)))
            return
        if not want:
            return
        code, again, err = spaa("convert", "--from", "folded", back, "-q", "--to", "folded")
        if code or total(again) != want:
            self.bad.append(("folded", source, "%s read back as %s %s" % (want, again[:80], err[:200])))


def round_of(args):
    path, seed, keep, others = args
    rng = random.Random("%s %d" % (os.path.basename(path), seed))
    with open(path, "rb") as f:
        data = f.read()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder, others)
        judge.count = 0
        names = []
        for side in "ab":
            damaged = os.path.join(folder, side + "-" + os.path.basename(path))
            with open(damaged, "wb") as f:
                f.write(damage(rng, data))
            judge.count += 1
            source = "%s seed %d %s" % (path, seed, side)
            before = len(judge.bad)
            if judge.convert(damaged, source):
                names.append(damaged)
            if keep and len(judge.bad) > before:
                shutil.copy(damaged, os.path.join(keep, "%d-%s-%s" % (seed, side, os.path.basename(path))))
        if len(names) == 2:
            judge.merge(*names, "%s seed %d" % (path, seed))
        return judge.count, judge.written, judge.bad


def sweep(paths, rounds, seed, jobs=2, keep=None, others=True):
    work = [(p, seed + i, keep, others) for p in inputs(paths) for i in range(rounds)]
    count, written, bad = 0, collections.Counter(), []
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for n, w, b in pool.map(round_of, work, chunksize=8):
            count += n
            written += w
            bad += b
    return count, written, bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="folder for the inputs whose output is bad")
    parser.add_argument("--spaa-only", action="store_true")
    o = parser.parse_args()
    paths = o.paths or [os.path.join(ROOT, "tests", "fixtures"), os.path.join(ROOT, "tests", "conformance")]
    count, written, bad = sweep(paths, o.rounds, o.seed, o.jobs, o.keep, not o.spaa_only)
    for what, source, said in bad:
        print("%-8s %s\n         %s" % (what, source, said))
    print("%d damaged inputs; written: %s" % (count, dict(sorted(written.items()))))
    print("bad: %s" % dict(sorted(collections.Counter(what for what, _, _ in bad).items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

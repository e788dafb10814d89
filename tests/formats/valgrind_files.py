"""What tests of valgrind's formats share: our records, and a plain reading of a frame."""

import json
import os
import re

from conftest import ROOT, run


def fixture(folder, name):
    return os.path.join(ROOT, "tests", "fixtures", folder, name)


def text(folder, name):
    with open(fixture(folder, name), encoding="utf-8") as f:
        return f.read()


def records(path, *args, stdin=None):
    out = run("convert", "-q", path, "--to", "spaa", "-o", "-", *args, stdin=stdin, code=0)
    return [json.loads(line) for line in out.raw.decode().splitlines()]


class Profile:
    def __init__(self, rows):
        self.header = rows[0]
        self.event = rows[0]["events"][0]
        self.frames = {r["id"]: r for r in rows if r["type"] == "frame"}
        self.dsos = {r["id"]: r for r in rows if r["type"] == "dso"}
        self.stacks = {r["id"]: r for r in rows if r["type"] == "stack"}
        self.windows = [r for r in rows if r["type"] == "window"]

    def said(self, frame):
        """A frame as valgrind says it, without what our records do not tell apart."""
        f = self.frames[frame]
        ip = f.get("x_valgrind", {}).get("ip")
        if ip is None:
            return f["func"]
        dso = self.dsos[f["dso"]]["name"]
        where = " (%s)" % f["srcline"] if "srcline" in f else " (in %s)" % dso if dso != "[unknown]" else ""
        name = "???" if f.get("symbol_resolved") is False or f["func"] == ip else f["func"]
        return "%s: %s%s" % (ip, name, where)

    def path(self, stack):
        return tuple(self.said(f) for f in self.stacks[stack]["frames"])

    def weights(self, metric):
        """{functions, leaf first: the weight}, without those that have none."""
        found = {}
        for i, r in self.stacks.items():
            for w in r["weights"]:
                if w["metric"] == metric and w["value"]:
                    found[self.path(i)] = found.get(self.path(i), 0) + w["value"]
        return found

    def whole(self, metric):
        return sum(self.weights(metric).values())


def profile(folder, name, *args):
    return Profile(records(fixture(folder, name), *args))


def lower(frame):
    """Addresses as ours: in lower case."""
    return re.sub(r"^0x[0-9A-F]+", lambda m: m[0].lower(), frame)

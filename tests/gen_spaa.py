#!/usr/bin/env python3
"""Valid SPAA files made from a seed, for tests and benches.

    python3 tests/gen_spaa.py --seed 7 --stacks 200                     # anything the format allows
    python3 tests/gen_spaa.py --seed 7 --stacks 200 --canonical         # the same kind of content as we write it
    python3 tests/gen_spaa.py --bench --stacks 500000 --depth 34 -o big.spaa    # large and quick, canonical

Without --canonical, keys come in any order with white space between tokens, ids are numbers or strings,
samples may precede their stacks, and unknown keys and records stand everywhere. The validator has nothing
to say about any of these files. As a module: "".join(gen_spaa.profile(seed=7, stacks=200)).
"""
import argparse
import json
import random
import sys

STATES = ["RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "NATIVE"]
MODULES = ["core", "net", "io", "parse", "json", "alloc", "sync", "fmt", "größe", "std"]
VERBS = ["read", "write", "poll", "step", "visit", "insert", "lookup", "flush", "拡張", "drop", "hash", "next"]
BEYOND_DOUBLE = 2**53


def event(name, kind, mode, primary, **more):
    return {"name": name, "kind": kind, "sampling": {"mode": mode, "primary_metric": primary, **more}}


EVENTS = {
    "cycles": (event("cycles", "hardware", "period", "period", sample_period=100000), "period"),
    "cpu-clock": (event("cpu-clock", "software", "frequency", "period", frequency_hz=997), "ns"),
    "profile-997": (event("profile-997", "timer", "frequency", "samples", frequency_hz=997), "samples"),
    "syscall::read:entry": (event("syscall::read:entry", "probe", "event", "count"), "count"),
    "malloc": ({**event("malloc", "allocation", "event", "alloc_bytes"),
                "allocation_tracking": {"tracks_frees": True, "has_timestamps": True}}, "memory"),
}
TOOLS = {
    "perf": ["cycles", "cpu-clock"],
    "dtrace": ["profile-997", "syscall::read:entry"],
    "bpftrace": ["profile-997"],
    "heaptrack": ["malloc"],
    "spaa": ["cycles", "cpu-clock", "malloc"],
}


class Raw(float):
    """A number with a text of its own."""

    def __new__(cls, text):
        self = super().__new__(cls, float(text))
        self.text = text
        return self

    def __repr__(self):
        return self.text


class Generator:
    def __init__(self, seed=1, stacks=50, frames=120, depth=12, threads=6, samples=None, windows=None, order=None,
                 tool=None, canonical=False):
        self.r = random.Random(seed)
        r = self.r
        self.canonical = canonical
        self.nstacks, self.nframes, self.depth, self.nthreads = stacks, max(frames, 8), max(depth, 1), max(threads, 1)
        self.nsamples = r.choice([0, stacks]) if samples is None else samples
        self.nwindows = r.choice([0, 3]) if windows is None else windows
        self.order = order or r.choice(["leaf_to_root", "root_to_leaf"])
        self.tool = tool or r.choice(sorted(TOOLS))
        names = TOOLS[self.tool]
        self.events = r.sample(names, r.randint(1, len(names)))
        self.has_states = r.random() < 0.5
        self.start = r.choice([0, 12345, 1700000000])
        self.make_dsos()
        self.make_sites()
        self.make_threads()
        self.make_stacks()

    # What there is

    def make_dsos(self):
        r = self.r
        self.dsos = [{"name": "[unknown]", "is_kernel": False}]
        for i in range(r.randint(1, 5)):
            self.dsos.append({"name": r.choice(["/usr/lib/lib%s.so.%d", "/opt/größe/%s-%d"]) % (r.choice(MODULES), i),
                              "build_id": "%040x" % r.getrandbits(160), "is_kernel": False})
        self.dsos.append({"name": "[kernel]", "is_kernel": True})
        self.dsos.sort(key=lambda d: (d["is_kernel"], d["name"].encode(), d.get("build_id", "")))
        for i, d in enumerate(self.dsos):
            d["id"] = i + 1

    def make_frame(self, dso, **more):
        r = self.r
        f = {"func": "%s::%s_%d" % (r.choice(MODULES), r.choice(VERBS), r.randint(0, 999)), "dso": dso["id"],
             "kind": "kernel" if dso["is_kernel"] else "user"}
        f.update(more)
        return f

    def make_site(self, kernel):
        """The frames of one address, leaf first: what is inlined there, deepest first, and the physical frame."""
        r = self.r
        dso = r.choice([d for d in self.dsos if d["is_kernel"] == kernel])
        if dso["name"] == "[unknown]":
            ip = "0x%x" % r.getrandbits(47)
            return [self.make_frame(dso, func=ip, func_resolved=False, ip=ip, kind=r.choice(["user", "unknown"]))]
        where, inlined = {}, 0 if kernel else r.choice([0, 0, 0, 1, 2, 3])
        if inlined or r.random() < 0.8:
            where["ip"] = "0x%x" % r.randrange(0x1000, 0x4000000)
            if r.random() < 0.3:
                where["symoff"] = "0x%x" % r.randrange(0, 0x400)
        frames = []
        for depth in range(inlined, 0, -1):
            frames.append(self.make_frame(dso, **where, srcline="src/%s.rs:%d" % (r.choice(MODULES), r.randint(1, 900)),
                                          inlined=True, inline_depth=depth))
        physical = self.make_frame(dso, **where)
        if r.random() < 0.5:
            physical["srcline"] = "src/%s.rs:%d" % (r.choice(MODULES), r.randint(1, 900))
        elif r.random() < 0.2:
            physical["srcline_resolved"] = False
        return frames + [physical]

    def make_sites(self):
        self.sites, self.kernel_sites, self.frames = [], [], []
        while len(self.frames) < self.nframes:
            kernel = len(self.sites) > 2 and self.r.random() < 0.15
            site = self.make_site(kernel)
            (self.kernel_sites if kernel else self.sites).append(site)
            self.frames += site
        rank = {"user": 0, "kernel": 1, "unknown": 2}
        self.frames.sort(key=lambda f: (f["func"].encode(), f["dso"], f.get("srcline", "").encode(),
                                        int(f["symoff"], 16) + 1 if "symoff" in f else 0, int(f.get("ip", "0"), 16),
                                        f.get("inline_depth", 0), rank[f["kind"]], len(f)))
        for i, f in enumerate(self.frames):
            f["id"] = i + 1

    def make_threads(self):
        r = self.r
        pids = [4000 + 7 * i for i in range(max(1, self.nthreads // 4))]
        tids = r.sample(range(5000, 5000 + 40 * self.nthreads), self.nthreads)
        self.threads = [{"pid": r.choice(pids), "tid": t, "comm": "%s/%d" % (r.choice(VERBS), i % 4)}
                        for i, t in enumerate(tids)]
        self.threads.sort(key=lambda t: (t["pid"], t["tid"]))

    def walk(self, sites, depth):
        """Frames from the leaf; calls repeat now and then, as recursion does."""
        r, path = self.r, []
        while sum(map(len, path)) < depth:
            path.append(r.choice(path) if path and r.random() < 0.1 else r.choice(sites))
        return [f["id"] for site in path for f in site]

    def number(self, most=1000):
        r = self.r
        return r.choice([r.randint(1, most), r.randint(1, 10 * most), BEYOND_DOUBLE + r.randint(1, 1 << 40)]) \
            if r.random() < 0.1 else r.randint(1, most)

    def make_weights(self, name):
        r, kind = self.r, EVENTS[name][1]
        samples = {"metric": "samples", "value": r.randint(1, 5000)}
        if kind == "period":
            return [samples, {"metric": "period", "value": self.number(1 << 30), "unit": "events"}]
        if kind == "ns":
            return [samples, {"metric": "period", "value": self.number(1 << 30), "unit": "ns"}]
        if kind == "samples":
            return [samples]
        if kind == "count":
            weights = [{"metric": "count", "value": self.number()}]
            if r.random() < 0.4:
                weights.append({"metric": "avg", "value": Raw("%d.%02d" % (r.randint(0, 900), r.randint(1, 99))),
                                "unit": "ns"})
            return weights
        weights = [{"metric": "alloc_bytes", "value": self.number(1 << 32), "unit": "bytes"},
                   {"metric": "alloc_count", "value": r.randint(1, 9999), "unit": "count"}]
        if r.random() < 0.5:
            weights.append({"metric": "live_bytes", "value": 0 if r.random() < 0.2 else r.randint(1, 1 << 20),
                            "unit": "bytes"})
        return weights

    def make_context(self, name):
        r, t = self.r, self.r.choice(self.threads)
        c = {"pid": t["pid"], "tid": t["tid"]}
        if r.random() < 0.3:
            c["cpu"] = r.randint(0, 63)
        c["event"] = name
        c["comm"] = t["comm"]
        if name.startswith("syscall") and r.random() < 0.5:
            c["probe"] = {"provider": "syscall", "module": "", "function": "read", "name": "entry"}
            c["execname"], c["uid"], c["zonename"] = t["comm"], 1000, "global"
        if self.has_states:
            c["x_state"] = r.choice(STATES)
        return c

    def leaf(self, frames):
        return frames[0] if self.order == "leaf_to_root" else frames[-1]

    def add_stack(self, ids, name, frames, kind, weights, context, related=None):
        frames = frames if self.order == "leaf_to_root" else frames[::-1]
        s = {"type": "stack", "id": ids, "frames": frames, "stack_type": kind}
        if related:
            s["related_stacks"] = [related]
        s["context"], s["weights"] = context, weights
        exclusive = [dict(w) for w in weights]
        if not self.canonical and self.r.random() < 0.3:
            for w in exclusive:
                if isinstance(w["value"], int):
                    w["value"] = self.r.randint(0, w["value"])
        s["exclusive"] = {"frame": self.leaf(frames), "weights": exclusive}
        primary = EVENTS[name][0]["sampling"]["primary_metric"]
        self.stacks.append((next(-w["value"] for w in weights if w["metric"] == primary), s))

    def make_stacks(self):
        r = self.r
        self.stacks = []
        used = set()

        def fresh():
            while True:
                x = "0x%016x" % r.getrandbits(64)
                if x not in used:
                    used.add(x)
                    return x
        while len(self.stacks) < self.nstacks:
            name = r.choice(self.events)
            depth = max(1, int(r.gauss(self.depth, self.depth / 3)))
            user, weights, context = self.walk(self.sites, depth), self.make_weights(name), self.make_context(name)
            kernel = self.walk(self.kernel_sites, 3) if self.kernel_sites and r.random() < 0.4 else []
            separate = self.tool == "dtrace"
            if kernel and separate:
                a, b = fresh(), fresh()
                self.add_stack(a, name, user, "user", weights, context, b)
                self.add_stack(b, name, kernel, "kernel", [dict(w) for w in weights], dict(context), a)
            else:
                self.add_stack(fresh(), name, kernel + user, "user" if separate else "unified", weights, context)
        self.stacks.sort(key=lambda x: (x[0], x[1]["id"]))
        self.stacks = [s for _, s in self.stacks]

    # Records

    def header(self):
        h = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": self.tool, "frame_order": self.order,
             "events": [EVENTS[e][0] for e in self.events]}
        if self.nsamples or self.r.random() < 0.5:
            h["time_range"] = {"start": Raw("%d.5" % self.start), "end": self.start + 100, "unit": "seconds"}
        if self.r.random() < 0.5:
            h["source"] = {"tool": self.tool, "command": "record -a -g -- \"./x\" \\ y", "tool_version": "6.1.0"}
        h["stack_id_mode"] = "content_addressable"
        return h

    def samples(self):
        for s in sorted(self.r.choices(self.stacks, k=self.nsamples) if self.stacks else [],
                        key=lambda s: s["id"]):
            c = s["context"]
            yield {"type": "sample", "timestamp": Raw("%d.%09d" % (self.start + self.r.randint(1, 99),
                                                                    self.r.randint(0, 999999998) | 1)),
                   "pid": c["pid"], "tid": c["tid"], "cpu": self.r.randint(0, 63), "event": c["event"],
                   "period": self.number(), "stack_id": s["id"]}

    def windows(self):
        for i in range(self.nwindows):
            some = self.r.sample(self.stacks, min(len(self.stacks), 4))
            yield {"type": "window", "id": "w%d" % i, "start": Raw("%d.25" % i), "end": i + 1, "unit": "seconds",
                   "by_stack": [{"stack_id": s["id"], "weights": s["weights"]} for s in some]}

    def dictionaries(self):
        def ordered(record, type_, keys):
            return {"type": type_, **{k: record[k] for k in keys if k in record}}
        for d in self.dsos:
            yield ordered(d, "dso", ["id", "name", "build_id", "is_kernel"])
        for f in self.frames:
            yield ordered(f, "frame", ["id", "func", "func_resolved", "dso", "ip", "symoff", "srcline",
                                       "srcline_resolved", "inlined", "inline_depth", "kind"])
        for t in self.threads:
            yield ordered(t, "thread", ["pid", "tid", "comm"])

    def lines(self):
        if self.canonical:
            yield dump(self.header())
            for part in (self.dictionaries(), self.stacks, self.samples(), self.windows()):
                for record in part:
                    yield dump(record)
            return
        yield dump(self.wild(self.header()))
        for record in self.dictionaries():
            yield self.dump_wild(record)
        rest = list(self.stacks) + list(self.samples()) + list(self.windows())
        rest += [{"type": "x_note_%d" % i, "id": i, "text": "kept", "deep": [[{"a": [1, {"b": None}]}]]}
                 for i in range(self.r.randint(0, 3))]
        self.r.shuffle(rest)
        for record in rest:
            yield self.dump_wild(record)

    # Anything goes

    def wild(self, x, context=False, top=True):
        """The same object with its keys in another order, and with unknown ones."""
        r = self.r
        items = [(k, self.wild(v, k == "context", False) if isinstance(v, dict) else
                  [self.wild(i, False, False) if isinstance(i, dict) else i for i in v] if isinstance(v, list) else v)
                 for k, v in x.items()]
        if r.random() < 0.15:
            key = "x_vendor_key" if context or r.random() < 0.5 else "note"
            items.append((key, r.choice([None, True, [], {}, {"a": {"a": 1}}, "\u2028\"\\\n", 18446744073709551616,
                                         Raw("1.50"), Raw("2.5e3")])))
        if not top or r.random() < 0.5:
            r.shuffle(items)
        return dict(items)

    def dump_wild(self, record):
        r = self.r
        record = self.wild(record)
        for key in ("id", "dso"):
            if record["type"] in ("dso", "frame") and isinstance(record.get(key), int) and r.random() < 0.2:
                record[key] = str(record[key])
        if record["type"] == "stack" and r.random() < 0.2:
            record["frames"] = [str(f) if r.random() < 0.5 else f for f in record["frames"]]
            if r.random() < 0.5:
                record["exclusive"]["frame"] = str(record["exclusive"]["frame"])
        spaced = r.random() < 0.3
        text = dump(record, spaced, r.random() < 0.2)
        if spaced and r.random() < 0.3:
            text = "  " + text[:-1] + "\t\r\n"
        return text


def dump(record, spaced=False, ascii_only=False):
    return json.dumps(record, ensure_ascii=ascii_only, separators=(", ", " : ") if spaced else (",", ":")) + "\n"


def profile(**options):
    """The lines of a file, each with its newline."""
    return Generator(**options).lines()


def bench(seed=1, stacks=500000, frames=20000, depth=34, threads=64, order="leaf_to_root"):
    """A large canonical file: stacks are put together from prepared texts of whole calls."""
    g = Generator(seed=seed, stacks=0, frames=frames, depth=depth, threads=threads, samples=0, windows=0, order=order,
                  tool="perf", canonical=True)
    r = g.r
    g.events = ["cpu-clock"]
    yield from g.lines()
    turn = 1 if order == "leaf_to_root" else -1
    segment = max(1, depth // 4)
    pieces = []
    while len(pieces) < 20000:
        ids = g.walk(g.sites, segment)[::turn]
        pieces.append((len(ids), str(ids[0] if turn > 0 else ids[-1]), ",".join(map(str, ids))))
    kernel = []
    while g.kernel_sites and len(kernel) < 2000:
        ids = g.walk(g.kernel_sites, segment)[::turn]
        kernel.append((len(ids), str(ids[0] if turn > 0 else ids[-1]), ",".join(map(str, ids))))
    contexts = ['],"stack_type":"unified","context":' + dump({"pid": t["pid"], "tid": t["tid"], "event": "cpu-clock",
                                                              "comm": t["comm"]})[:-1] for t in g.threads]
    heavy = sorted((int(r.paretovariate(0.7)) for _ in range(stacks)), reverse=True)
    # Equal weights come in the order of their ids.
    rows = sorted((-w, r.getrandbits(64)) for w in heavy)
    total = frames_done = 0
    for minus, key in rows:
        samples = min(-minus, 1 << 40)
        first = r.choice(kernel) if kernel and total % 4 == 0 else r.choice(pieces)
        chosen = [first]
        have = first[0]
        want = (total + 1) * depth - frames_done
        while have < want - segment // 2:
            p = r.choice(pieces)
            chosen.append(p)
            have += p[0]
        total += 1
        frames_done += have
        weights = '[{"metric":"samples","value":%d},{"metric":"period","value":%d,"unit":"ns"}]' % (
            samples, samples * 1003009)
        yield '{"type":"stack","id":"0x%016x","frames":[%s%s,"weights":%s,"exclusive":{"frame":%s,"weights":%s}}\n' % (
            key, ",".join([c[2] for c in chosen][::turn]), r.choice(contexts), weights, first[1], weights)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--stacks", type=int, default=None)
    p.add_argument("--frames", type=int, default=None)
    p.add_argument("--depth", type=int, default=None, help="frames per stack, on average")
    p.add_argument("--threads", type=int, default=None)
    p.add_argument("--samples", type=int, default=None)
    p.add_argument("--windows", type=int, default=None)
    p.add_argument("--order", choices=["leaf_to_root", "root_to_leaf"], default=None)
    p.add_argument("--tool", choices=sorted(TOOLS), default=None)
    p.add_argument("--canonical", action="store_true")
    p.add_argument("--bench", action="store_true", help="large files: only stacks of one event, quickly made")
    p.add_argument("-o", "--output", default="-")
    a = vars(p.parse_args())
    output, quick = a.pop("output"), a.pop("bench")
    options = {k: v for k, v in a.items() if v is not None}
    if quick:
        for k in ("canonical", "samples", "windows", "tool"):
            options.pop(k, None)
    lines = bench(**options) if quick else profile(**options)
    out = sys.stdout.buffer if output == "-" else open(output, "wb")
    batch = []
    for line in lines:
        batch.append(line)
        if len(batch) == 4096:
            out.write("".join(batch).encode())
            batch.clear()
    out.write("".join(batch).encode())
    out.flush()


if __name__ == "__main__":
    main()

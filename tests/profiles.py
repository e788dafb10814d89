"""SPAA files for the tests: one written by hand in few words, random ones, and a plain reading of any.

`Profile` reads SPAA with nothing but Python's json and answers the questions of the views the slow and
obvious way; the tests hold it against the program's answers.
"""

import collections
import decimal
import json
import random

D = decimal.Decimal
CPU = {"RUNNABLE", "NATIVE", "WALL_TIME"}  # of CodeGuru files BLOCKED too
decimal.getcontext().prec = 60


def event(name="cycles", metric="period", kind="hardware", mode="period", **more):
    return {"name": name, "kind": kind, "sampling": {"mode": mode, "primary_metric": metric}, **more}


def text(stacks, events=None, order="leaf_to_root", mode="local", tool="perf", before=(), after=(), **header):
    """Stacks are (frames from the leaf, value) or (frames, weights, context); a frame is a name or a dict."""
    events = events or [event()]
    primary = {e["name"]: e["sampling"]["primary_metric"] for e in events}
    dsos, frames, threads, records = {}, {}, {}, []
    for i, (names, weights, *rest) in enumerate(stacks):
        context = {"event": events[0]["name"], **(rest[0] if rest else {})}
        more = rest[1] if len(rest) > 1 else {}
        if not isinstance(weights, dict):
            weights = {primary[context["event"]]: weights}
        ids = []
        for f in names:
            f = {"func": f} if isinstance(f, str) else dict(f)
            dso = f.pop("dso", "/bin/app")
            dso = dso if isinstance(dso, dict) else {"name": dso, "is_kernel": dso == "[kernel]"}
            key = json.dumps(dso)
            dsos.setdefault(key, {"type": "dso", "id": len(dsos) + 1, **dso})
            f = {"func": f.pop("func"), "dso": dsos[key]["id"], **f}
            f.setdefault("kind", "kernel" if dso["is_kernel"] else "user")
            frames.setdefault(json.dumps(f), {"type": "frame", "id": len(frames) + 1, **f})
            ids.append(frames[json.dumps(f)]["id"])
        if "tid" in context:
            threads[context["tid"]] = {"type": "thread", "pid": context.get("pid", 1), "tid": context["tid"],
                                       **({"comm": context["comm"]} if "comm" in context else {})}
        values = [{"metric": m, "value": v} for m, v in weights.items()]
        stack = {"type": "stack", "id": more.pop("id", "s%d" % i),
                 "frames": ids if order == "leaf_to_root" else ids[::-1], **more, "context": context,
                 "weights": values}
        if ids:
            stack["exclusive"] = {"frame": ids[0], "weights": values}
        records.append(stack)
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": tool, "frame_order": order,
            "events": events, "stack_id_mode": mode, **header}
    return lines([head, *before, *dsos.values(), *frames.values(), *threads.values(), *records, *after])


def lines(records):
    return "".join(dump(r) + "\n" for r in records)


def dump(x):
    """JSON; decimals as they are written."""
    if isinstance(x, D):
        return str(x)
    if isinstance(x, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + dump(v) for k, v in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        return "[" + ",".join(map(dump, x)) + "]"
    return json.dumps(x, ensure_ascii=False)


def random_text(seed, stacks=40, decimals=False, big=False, states=False, linked=False, samples=0):
    """Few functions, so that they meet again: recursion, equal names in two binaries, inlined and kernel frames."""
    r = random.Random(seed)
    pool = []
    for i in range(14):
        dso = r.choice(["/bin/app", "/lib/a.so", "/lib/b.so", "[kernel]", "[unknown]"])
        f = {"func": "fn%d" % r.randrange(8), "dso": dso}
        if dso == "[unknown]":
            ip = "0x%x" % r.randrange(0x1000, 0x9000)
            f.update(func=ip, func_resolved=False, ip=ip, kind="unknown")
        else:
            if r.random() < 0.5:
                f["ip"] = "0x%x" % r.randrange(0x1000, 0x1010)
            if r.random() < 0.3:
                f["symoff"] = "0x%x" % r.randrange(4)
            if r.random() < 0.4:
                f["srcline"] = "a.c:%d" % r.randrange(3)
        pool.append(f)
    pool.append({"func": "inl", "dso": "/bin/app", "ip": "0x77", "inlined": True, "inline_depth": 1})
    kernel = [f for f in pool if f["dso"] == "[kernel]"] or [{"func": "sys", "dso": "[kernel]"}]
    user = [f for f in pool if f["dso"] != "[kernel]"]
    events = [event("cycles", "period"), event("cpu-clock", "samples", "software", "frequency"),
              event("faults", "count", "software", "event")]
    threads = [{"pid": 10 + i // 3, "tid": 20 + i, "comm": "t%d" % (i % 3)} for i in range(5)]

    def value():
        if decimals and r.random() < 0.5:
            return D("%d.%0*d" % (r.randrange(1000), r.randrange(1, 7), r.randrange(1, 1000)))
        return r.randrange(1 << 56) if big else r.randrange(1, 1000)
    made = []
    for i in range(stacks):
        e = r.choice(events)
        context = {"event": e["name"], **r.choice(threads)}
        if r.random() < 0.2:
            del context["comm"]
        if r.random() < 0.3:
            context["cpu"] = r.randrange(4)
        if states:
            context["x_state"] = r.choice(["RUNNABLE", "BLOCKED", "WAITING", "IDLE", "NATIVE", "RUN_QUEUE"])
        primary = e["sampling"]["primary_metric"]
        weights = {primary: r.randrange(1, 1000) if primary == "samples" else value()}
        if e["name"] == "cycles":
            weights["samples"] = r.randrange(1, 50)
        if r.random() < 0.3:
            weights["extra"] = value()
        names = [r.choice(user) for _ in range(r.randrange(0 if i % 9 == 0 else 1, 9))]
        # Two of one depth in a row would be no inlining.
        names = [f for k, f in enumerate(names) if not (k and f.get("inlined") and f is names[k - 1])]
        if linked and names and r.random() < 0.5:
            a, b = "u%d" % i, "k%d" % i
            made.append((names, weights, context, {"id": a, "stack_type": "user", "related_stacks": [b]}))
            made.append(([r.choice(kernel) for _ in range(r.randrange(1, 4))], weights, context,
                         {"id": b, "stack_type": "kernel", "related_stacks": [a]}))
        else:
            names = [r.choice(kernel) for _ in range(r.choice([0, 0, 2]))] + names
            made.append((names, weights, context))
    r.shuffle(made)
    order = r.choice(["leaf_to_root", "root_to_leaf"])
    if not samples:
        return text(made, events, order=order)
    observed = [random_sample(r, s, i, value) for i, s in ((i, r.choice(list(enumerate(made)))) for i in range(samples))]
    return text(made, events, order=order, after=observed, time_range={"start": 100, "end": 104, "unit": "seconds"})


def random_sample(r, stack, i, value):
    """One of a stack (number, (frames, weights, context, …)) at some time, mostly with a period."""
    number, (_, _, context, *more) = stack
    x = {"type": "sample", "timestamp": D(100 * 10**9 + r.randrange(4 * 10**9)) / 10**9, "period": value(),
         "stack_id": more[0]["id"] if more else "s%d" % number}
    x.update({k: context[k] for k in ("pid", "tid") if k in context})
    if r.random() < 0.7:
        x["event"] = context["event"]
    if r.random() < 0.1:
        del x["period"]
    if i % 17 == 5:
        del x["timestamp"]
    return x


class Row(collections.namedtuple("Row", "weight own samples frames context id")):
    """An observation: frames from the leaf, as records with their DSO's record under `dso`."""

    def has(self, names):
        return any(f["func"] in names for f in self.frames)


class Profile:
    def __init__(self, spaa):
        records = [json.loads(line.lstrip("\ufeff"), parse_float=D) for line in spaa.split("\n") if line.strip()]
        self.header = next(r for r in records if r["type"] == "header")
        self.dsos = {str(r["id"]): r for r in records if r["type"] == "dso"}
        self.frames = {str(r["id"]): {**r, "dso": self.dsos[str(r["dso"])]} for r in records if r["type"] == "frame"}
        self.threads = [r for r in records if r["type"] == "thread"]
        self.stacks = [r for r in records if r["type"] == "stack"]
        turn = 1 if self.header["frame_order"] == "leaf_to_root" else -1
        for s in self.stacks:
            s["leaf_first"] = [self.frames[str(f)] for f in s["frames"]][::turn]
            s["weight"] = {w["metric"]: w["value"] for w in s["weights"]}
        self.by_id = {str(s["id"]): s for s in self.stacks}
        self.samples = [r for r in records if r["type"] == "sample"]
        self.windows = [r for r in records if r["type"] == "window"]
        times = [D(x["timestamp"]) for x in self.samples if "timestamp" in x]
        self.first, self.last = (min(times), max(times)) if times else (None, None)
        self.zero = D(self.header["time_range"]["start"]) if "time_range" in self.header else self.first
        self.primary = {e["name"]: e["sampling"]["primary_metric"] for e in self.header["events"]}

    def samples_of(self, name):
        found = [s["weight"]["samples"] for s in self.stacks
                 if s["context"]["event"] == name and "samples" in s["weight"]]
        return sum(found) if found else None

    def process_name(self, context):
        """The command of the main thread, else of the first thread with a name."""
        pid = context.get("pid")
        if pid is None:
            return "pid ?"
        named = [(t["tid"] != pid, 0, t["tid"], t["comm"]) for t in self.threads if t.get("pid") == pid and t.get("comm")]
        named += [(c.get("tid") != pid, 1, c.get("tid", -1), c["comm"]) for c in (s["context"] for s in self.stacks)
                  if c.get("pid") == pid and c.get("comm")]
        return "%s (pid %s)" % (min(named)[3], pid) if named else "pid %s" % pid

    def weight_of(self, sample, metric):
        """What a sample weighs in a metric of its stack's event; None: nothing."""
        event = self.by_id[str(sample["stack_id"])]["context"]["event"]
        periods = any("period" in s["weight"] for s in self.stacks if s["context"]["event"] == event)
        if metric == "samples" or (metric == "count" and periods):
            return 1
        assert metric in ("period", self.primary[event])
        return sample.get("period", 1 if metric == "count" else None)

    def default_event(self):
        names = [e["name"] for e in self.header["events"]]
        return max(names, key=lambda n: (self.samples_of(n) or 0, -names.index(n)))

    def select(self, event=None, metric=None, **filters):
        return Selection(self, event or self.default_event(), metric, filters)


def same_function(a, b):
    """Two frames of one stack: by the starts of their functions, else by name, binary and file."""
    if function(a) != function(b) or a.get("inlined") or b.get("inlined") or a.get("func_resolved") is False:
        return False
    starts = [int(f["ip"], 16) - int(f["symoff"], 16) if "ip" in f and "symoff" in f else None for f in (a, b)]
    if None not in starts:
        return starts[0] == starts[1]
    files = [f["srcline"].rsplit(":", 1)[0] if f.get("srcline") else None for f in (a, b)]
    return None in files or files[0] == files[1]


def function(frame):
    return frame["func"], frame["dso"]["name"]


CALLEES = {"func": "[callees not recorded]", "dso": {"name": "[unknown]"}, "kind": "user"}


class Selection:
    def __init__(self, profile, name, metric, filters):
        self.profile, self.event, self.filters = profile, name, filters
        self.metric = metric or profile.primary[name]
        mine = [s for s in profile.stacks if s["context"]["event"] == name and self.metric in s["weight"]]
        states = any("x_state" in s["context"] for s in profile.stacks if s["context"]["event"] == name)
        self.view = "custom" if "state" in filters else (filters.get("view", "cpu") if states else None)
        self.rows, self.base, self.all = [], 0, 0
        self.base_samples = None
        self.timed = self.time_weights() if "time" in filters else None
        for s in mine if self.timed is None else profile.stacks:
            partner = profile.by_id[str(s["related_stacks"][0])] if s.get("related_stacks") else None
            if partner and s["stack_type"] == "kernel":
                continue
            if s in mine:
                self.all += s["weight"][self.metric]
            if self.timed is not None and str(s["id"]) not in self.timed:
                continue
            weight, samples = (s["weight"][self.metric], s["weight"].get("samples")) if self.timed is None \
                else self.timed[str(s["id"])]
            if not self.context_fits(s["context"]):
                continue
            self.base += weight
            if samples is not None:
                self.base_samples = (self.base_samples or 0) + samples
            frames = self.visible(self.merged(partner["leaf_first"] if partner else []) + self.merged(s["leaf_first"]))
            if self.frames_fit(frames) and self.side_fits((partner["leaf_first"] if partner else []) + s["leaf_first"]):
                said = {} if partner or self.timed is not None else \
                    {w["metric"]: w["value"] for w in s.get("exclusive", {}).get("weights", [])}
                own, counted = said.get(self.metric, weight), said.get("samples", samples)
                self.rows.append(Row(own, own, counted, frames, s["context"], str(s["id"])))
                if any(said.get(m, v) != v for m, v in s["weight"].items()):
                    rest, left = weight - own, None if samples is None else samples - counted
                    self.rows.append(Row(rest, rest, left, [CALLEES, *frames], s["context"], str(s["id"]) + "+callees"))
        self.total = sum(x.weight for x in self.rows)

    def range(self):
        """The ends of --time in the profile's clock."""
        a, b = self.filters["time"].split("..")
        return (self.profile.zero + D(a) if a else D("-Infinity"), self.profile.zero + D(b) if b else D("Infinity"))

    def time_weights(self):
        """{stack: (weight, samples)} of the samples in the range."""
        lo, hi = self.range()
        out = {}
        for x in self.profile.samples:
            stack = self.profile.by_id[str(x["stack_id"])]
            if "timestamp" not in x or not lo <= x["timestamp"] < hi or stack["context"]["event"] != self.event:
                continue
            weight, n = out.get(str(stack["id"]), (None, 0))
            v = self.profile.weight_of(x, self.metric)
            out[str(stack["id"])] = (v if weight is None else weight if v is None else weight + v, n + 1)
        return {k: v for k, v in out.items() if v[0] is not None}

    def merged(self, frames):
        if "merge-inlined" not in self.filters:
            return frames
        return [f for i, f in enumerate(frames) if not f.get("inlined") or i == len(frames) - 1]

    def context_fits(self, c):
        f, state = self.filters, c.get("x_state")
        if "state" in f and (state is None or state not in f["state"].split(",")):
            return False
        if self.view == "cpu" and state is not None and state not in CPU:
            return False
        if self.view == "latency" and state == "IDLE":
            return False
        return (f.get("comm") in (None, c.get("comm")) and f.get("pid") in (None, str(c.get("pid")))
                and f.get("thread") in (None, str(c.get("tid")), c.get("comm")))

    def visible(self, frames):
        f = self.filters
        kept = [x for x in frames if not ("hide" in f and f["hide"] in x["func"])
                and not ("user" in f and x["kind"] == "kernel") and not ("kernel" in f and x["kind"] != "kernel")]
        if "root-at" in f:
            roots = [i for i, x in enumerate(kept) if x["func"] == f["root-at"]]
            return kept[:roots[-1] + 1] if roots else None
        return kept

    def side_fits(self, frames):
        """Whether there are frames of the side that is asked for, shown or not."""
        return all(any((x["kind"] == "kernel") == (side == "kernel") for x in frames)
                   for side in ("user", "kernel") if side in self.filters)

    def frames_fit(self, frames):
        f = self.filters
        if frames is None:
            return False
        return (("focus" not in f or any(f["focus"] in x["func"] for x in frames))
                and ("ignore" not in f or not any(f["ignore"] in x["func"] for x in frames))
                and ("dso" not in f or any(f["dso"] in x["dso"]["name"] for x in frames)))

    def options(self):
        out = ["--event", self.event, "--metric", self.metric]
        for k, v in self.filters.items():
            out += ["--" + k] + ([v] if v else [])
        return out

    def keys(self, by, row):
        """(leaf's key, keys of all frames): (name, dso or None)."""
        if by in ("thread", "process", "comm", "cpu", "state", "event", "source"):
            c = row.context
            comm = c.get("comm", "?")
            name = {"thread": "%s (tid %s)" % (comm, c.get("tid", "?")), "process": self.profile.process_name(c),
                    "comm": comm, "cpu": str(c.get("cpu", "?")), "state": c.get("x_state", "?"),
                    "event": c["event"], "source": c.get("x_source", "?")}[by]
            return (name, None), {(name, None)}
        if not row.frames:
            return ("[no stack]", None), {("[no stack]", None)}
        keys = [self.key(by, f) for f in row.frames]
        return keys[0], set(keys)

    @staticmethod
    def key(by, f):
        name, dso = function(f)
        if by == "dso":
            return dso, None
        if by == "line" and f.get("srcline"):
            name += " " + f["srcline"]
        if by == "address" and "symoff" in f:
            name += "+" + f["symoff"]
        elif by == "address" and "ip" in f and f.get("func_resolved", True):
            name += " " + f["ip"]
        return name, dso

    def top(self, by="function"):
        """{(name, dso): [flat, cum, samples, cum samples]}"""
        out = collections.defaultdict(lambda: [0, 0, None, None])
        for row in self.rows:
            leaf, all_ = self.keys(by, row)
            whole = by in ("thread", "process", "comm", "cpu", "state", "event", "source") or not row.frames
            out[leaf][0] += row.weight if whole else row.own
            if row.samples is not None:
                out[leaf][2] = (out[leaf][2] or 0) + row.samples
            for k in all_:
                out[k][1] += row.weight
                if row.samples is not None:
                    out[k][3] = (out[k][3] or 0) + row.samples
        return {k: tuple(v) for k, v in out.items()}

    def function(self, fits):
        """One function, or all that fit as one: as `spaa function` tells it; None stands for no neighbour."""
        out = {"self": 0, "total": 0, "recursive": 0, "deepest": 0}
        parts = {k: collections.Counter() for k in ("callers", "callees")}
        both = {k: collections.defaultdict(lambda: [0, 0]) for k in ("matches", "lines", "threads")}
        for row in self.rows:
            at = [i for i, f in enumerate(row.frames) if fits(*function(f))]
            if not at:
                continue
            out["total"] += row.weight
            again = sum(any(same_function(row.frames[i], row.frames[k]) for k in at if k < i) for i in at)
            out["recursive"] += row.weight * (again > 0)
            out["deepest"] = max(out["deepest"], again + 1)
            for key in {function(row.frames[i + 1]) if i + 1 < len(row.frames) else None for i in at}:
                parts["callers"][key] += row.weight
            for key in {function(row.frames[i - 1]) for i in at if i}:
                parts["callees"][key] += row.weight
            thread = self.keys("thread", row)[0][0]
            for kind, of in (("matches", function), ("lines", lambda f: f.get("srcline")), ("threads", lambda f: thread)):
                for key in {of(row.frames[i]) for i in at}:
                    both[kind][key][1] += row.weight
                if at[0] == 0:
                    both[kind][of(row.frames[0])][0] += row.own
            if at[0] == 0:
                out["self"] += row.own
        return {**out, **parts, **{k: {x: tuple(y) for x, y in v.items()} for k, v in both.items()}}

    def timeline(self, buckets, hot=3):
        """[(start, end, weight, samples, [(function, flat)])] in the profile's clock."""
        p, nano = self.profile, D(1) / 10**9
        lo, hi = min(p.zero, p.first), p.last + nano
        if "time" in self.filters:
            a, b = self.range()
            lo, hi = max(lo, a), min(hi, b)
        rows = {r.id: r for r in self.rows}
        width = int((hi - lo) / nano)
        bounds = [lo + nano * -(-i * width // buckets) for i in range(buckets + 1)]
        out = []
        for start, end in zip(bounds, bounds[1:]):
            weight, samples, flat = 0, 0, collections.Counter()
            for x in p.samples:
                row = rows.get(str(x["stack_id"]))
                v = p.weight_of(x, self.metric) if row else None
                if v is None or "timestamp" not in x or not start <= x["timestamp"] < end:
                    continue
                weight, samples = weight + v, samples + 1
                if row.frames:
                    flat[function(row.frames[0])] += v
            best = sorted(flat.items(), key=lambda x: (-x[1], x[0][0].encode()))
            out.append((start, end, weight, samples, best[:hot]))
        return out

    def tree(self, inverted=False, depth=None):
        """{path of (function, dso) from the root: (self, total)}"""
        out = collections.defaultdict(lambda: [0, 0])
        for row in self.rows:
            path = tuple(function(f) for f in (row.frames if inverted else row.frames[::-1]))
            out[path][0] += row.weight if inverted else row.own
            for n in range(len(path) + 1):
                out[path[:n]][1] += row.weight
        out[()]
        return {k: tuple(v) for k, v in out.items() if depth is None or len(k) <= depth}


def percent(part, whole):
    """As the answers give it: at most two decimals, halves up."""
    return None if not whole else (D(100) * D(part) / D(whole)).quantize(D("0.01"), decimal.ROUND_HALF_UP)

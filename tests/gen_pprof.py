"""pprof messages for the tests: a wire encoder and decoder of their own, what two profiles have in common, and
random profiles. A profile is a dict: `types` [(type, unit)], `mappings`, `functions`, `locations` (dicts with their ids),
`samples` [{locations, values, labels}], labels being (key, text or None, number, unit), and the rest by name."""

import collections
import gzip
import random

SINGLE = {"drop_frames": 7, "keep_frames": 8, "time_nanos": 9, "duration_nanos": 10, "period": 12,
          "default_sample_type": 14, "doc_url": 15}
TEXTS = ("drop_frames", "keep_frames", "default_sample_type", "doc_url")
MASK = (1 << 64) - 1


def varint(v):
    v &= MASK
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v) if v else b""


def chunk(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def repeated(field, values, packed):
    if packed:
        return chunk(field, b"".join(map(varint, values))) if values else b""
    return b"".join(varint(field << 3) + varint(v) for v in values)


class Strings:
    def __init__(self):
        self.numbers = {"": 0}

    def __call__(self, text):
        return self.numbers.setdefault(text, len(self.numbers))

    def encoded(self):
        return b"".join(chunk(6, s.encode("utf-8", "surrogateescape")) for s in self.numbers)


def encode(p, packed=True, order="12345678", shuffle=None, extra=b""):
    """The message; `order` says in what order the parts stand (6: strings, 7: single fields, 8: comments)."""
    s = Strings()
    parts = collections.defaultdict(bytes)
    for t, u in p["types"]:
        parts["1"] += chunk(1, number(1, s(t)) + number(2, s(u)))
    samples = []
    for x in p["samples"]:
        labels = [chunk(3, number(1, s(k)) + number(2, s(t) if t is not None else 0) + number(3, n) + number(4, s(u)))
                  for k, t, n, u in x["labels"]]
        samples.append(chunk(2, repeated(1, x["locations"], packed) + repeated(2, x["values"], packed) + b"".join(labels)))
    parts["2"] = b"".join(samples)
    for m in p["mappings"]:
        parts["3"] += chunk(3, number(1, m["id"]) + number(2, m["start"]) + number(3, m["limit"]) + number(4, m["offset"]) +
                            number(5, s(m["file"])) + number(6, s(m["build_id"])) +
                            b"".join(number(7 + i, h) for i, h in enumerate(m["has"])))
    for x in p["locations"]:
        lines = [chunk(4, number(1, f) + number(2, line) + number(3, column)) for f, line, column in x["lines"]]
        parts["4"] += chunk(4, number(1, x["id"]) + number(2, x["mapping"]) + number(3, x["address"]) + b"".join(lines) +
                            number(5, x["folded"]))
    for f in p["functions"]:
        parts["5"] += chunk(5, number(1, f["id"]) + number(2, s(f["name"])) + number(3, s(f["system_name"])) +
                            number(4, s(f["file"])) + number(5, f["start_line"]))
    for name, field in SINGLE.items():
        v = p.get(name, 0)
        parts["7"] += number(field, s(v) if name in TEXTS and v else v or 0)
    if p.get("period_type"):
        t, u = p["period_type"]
        parts["7"] += chunk(11, number(1, s(t)) + number(2, s(u)))
    parts["8"] = repeated(13, [s(c) for c in p.get("comments", [])], packed)
    parts["6"] = s.encoded()
    return b"".join(parts[k] for k in order) + extra


def fields(data):
    at = 0

    def take():
        nonlocal at
        v = shift = 0
        while True:
            c = data[at]
            at += 1
            v |= (c & 127) << shift
            shift += 7
            if c < 128:
                return v & MASK
    while at < len(data):
        tag = take()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, kind, take()
        elif kind == 2:
            n = take()
            assert at + n <= len(data)
            yield tag >> 3, kind, data[at:at + n]
            at += n
        else:
            n = {1: 8, 5: 4}[kind]
            yield tag >> 3, kind, data[at:at + n]
            at += n


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def numbers(kind, v):
    if kind == 0:
        return [v]
    out, cur, shift = [], 0, 0
    for c in v:
        cur |= (c & 127) << shift
        shift += 7
        if c < 128:
            out.append(cur & MASK)
            cur = shift = 0
    return out


def flat(data):
    return {f: v for f, kind, v in fields(data) if kind == 0}


def decode(data):
    """The profile; gzip'ed or not."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    top = list(fields(data))
    strings = [v.decode("utf-8", "surrogateescape") for f, _, v in top if f == 6]
    assert not strings or strings[0] == ""
    p = {"types": [], "samples": [], "mappings": [], "locations": [], "functions": [], "comments": [], "unknown": []}
    text = strings.__getitem__
    for f, kind, v in top:
        if f == 1:
            x = flat(v)
            p["types"].append((text(x.get(1, 0)), text(x.get(2, 0))))
        elif f == 2:
            s = {"locations": [], "values": [], "labels": []}
            for g, k, w in fields(v):
                if g == 1:
                    s["locations"] += numbers(k, w)
                elif g == 2:
                    s["values"] += map(signed, numbers(k, w))
                else:
                    x = flat(w)
                    s["labels"].append((text(x.get(1, 0)), text(x[2]) if x.get(2) else None, signed(x.get(3, 0)),
                                        text(x.get(4, 0))))
            p["samples"].append(s)
        elif f == 3:
            x = flat(v)
            p["mappings"].append({"id": x.get(1, 0), "start": x.get(2, 0), "limit": x.get(3, 0), "offset": x.get(4, 0),
                                  "file": text(x.get(5, 0)), "build_id": text(x.get(6, 0)),
                                  "has": [x.get(7 + i, 0) for i in range(4)]})
        elif f == 4:
            x = flat(v)
            lines = [flat(w) for g, k, w in fields(v) if g == 4]
            p["locations"].append({"id": x.get(1, 0), "mapping": x.get(2, 0), "address": x.get(3, 0), "folded": x.get(5, 0),
                                   "lines": [(y.get(1, 0), signed(y.get(2, 0)), signed(y.get(3, 0))) for y in lines]})
        elif f == 5:
            x = flat(v)
            p["functions"].append({"id": x.get(1, 0), "name": text(x.get(2, 0)), "system_name": text(x.get(3, 0)),
                                   "file": text(x.get(4, 0)), "start_line": signed(x.get(5, 0))})
        elif f == 11:
            x = flat(v)
            p["period_type"] = (text(x.get(1, 0)), text(x.get(2, 0)))
        elif f == 13:
            p["comments"] += map(text, numbers(kind, v))
        elif f in SINGLE.values():
            name = next(n for n, g in SINGLE.items() if g == f)
            p[name] = text(v) if name in TEXTS else signed(v)
        elif f != 6:
            p["unknown"].append((f, kind, v))
    return p


def content(p):
    """What two profiles have in common when they say the same: equal samples added up, no ids, no order."""
    functions = {f["id"]: (f["name"], f["system_name"], f["file"], f["start_line"]) for f in p["functions"]}
    mappings = {m["id"]: (m["start"], m["limit"], m["offset"], m["file"], m["build_id"], tuple(map(bool, m["has"])))
                for m in p["mappings"]}
    locations = {x["id"]: (mappings.get(x["mapping"]), x["address"], bool(x["folded"]),
                           tuple((functions[f], line, column) for f, line, column in x["lines"])) for x in p["locations"]}
    sums = {}
    for s in p["samples"]:
        labels = tuple(sorted(s["labels"], key=lambda x: (x[0].encode("utf-8", "surrogateescape"), repr(x))))
        key = tuple(locations[i] for i in s["locations"]), labels
        old = sums.setdefault(key, [0] * len(p["types"]))
        sums[key] = [a + b for a, b in zip(old, s["values"])]
    head = {k: p.get(k) or None for k in [*SINGLE, "period_type"]}
    return {"types": p["types"], "mappings": [mappings[m["id"]] for m in p["mappings"]], "samples": sums, "head": head,
            "comments": p.get("comments", []), "unknown": sorted(p.get("unknown", []), key=repr)}


TYPES = [[("samples", "count"), ("cpu", "nanoseconds")],
         [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")],
         [("contentions", "count"), ("delay", "nanoseconds")],
         [("objects", "count"), ("space", "bytes")],
         [("goroutine", "count")],
         [("samples", "count"), ("wall", "nanoseconds")],
         [("samples", "count")],
         [("cpu-samples", "count"), ("cpu", "nanoseconds"), ("wall", "nanoseconds"), ("alloc_space", "bytes"), ("", "")],
         [("x", "widgets"), ("x", "widgets"), ("samples", "count")]]
NAMES = ["main", "main.main", "runtime.mallocgc", "std::vector<int>::push_back(int&&)", "héllo", "a\"b\\c", "", "0x12", "f:1",
         "<T as core::fmt::Debug>::fmt", "tab\there", "main", "b\udcffad"]
FILES = ["", "main.go", "/src/a b/x.cc", "lib.rs", "odd:12", "c:\\x.cpp", "x:0", ":5", "w\udce9.c"]


def random_profile(seed):
    r = random.Random(seed)
    pick = r.choice
    p = {"types": pick(TYPES), "mappings": [], "functions": [], "locations": [], "samples": []}
    ids = iter(r.sample(range(1, 200 if r.random() < .7 else 1 << 63), 120))
    for _ in range(r.randint(0, 4)):
        start = pick([0, 0x400000, 0x7f0000000000])
        p["mappings"].append({"id": next(ids), "start": start, "limit": pick([0, start + 0x5000, start + 0x100000]),
                              "offset": pick([0, 0x1000, 0x4000]),
                              "file": pick(["/bin/x", "/lib/libc.so.6", "/bin/x", "/b\udcff", "", "[kernel.kallsyms]", "[vdso]"]),
                              "build_id": pick(["", "abcdef0123", "ABCD", "go-build/xyz"]),
                              "has": [r.randint(0, 1) for _ in range(4)]})
    for _ in range(r.randint(1, 12)):
        name = pick(NAMES)
        p["functions"].append({"id": next(ids), "name": name, "system_name": pick([name, name, "_Z" + name, ""]),
                               "file": pick(FILES), "start_line": pick([0, 0, 7, -3])})
    for _ in range(r.randint(1, 20)):
        m = pick(p["mappings"] + [None])
        start = m["start"] if m else 0
        lines = [(pick(p["functions"])["id"], pick([0, 1, 42, 100000, -1]), pick([0, 0, 9]))
                 for _ in range(pick([0, 1, 1, 1, 2, 3]))]
        p["locations"].append({"id": next(ids), "mapping": m["id"] if m else 0, "lines": lines,
                               "address": pick([0, start + r.randrange(0x5000), start + r.randrange(0x5000), 5, MASK]),
                               "folded": r.random() < .1})
    known = [("pid", None, 7, ""), ("pid", None, 8, ""), ("thread id", "31", 0, ""), ("thread", "wörker", 0, ""),
             ("thread", None, 3, ""), ("bytes", None, 512, "bytes"), ("bytes", None, 16, ""), ("k", "v", 0, ""),
             ("k", "v2", 0, ""), ("n", None, -5, "ms"), ("zero", None, 0, ""), ("pid", "x", 0, ""), ("", "e", 0, ""), ("bytes", "\udcfe", 0, ""), ("k", None, 1, "\udcfd")]
    for _ in range(r.randint(1, 40)):
        p["samples"].append({"locations": [pick(p["locations"])["id"] for _ in range(r.randint(0, 6))],
                             "values": [pick([0, 0, 1, 3, 10000000, -4, 1 << 40]) for _ in p["types"]],
                             "labels": [pick(known) for _ in range(pick([0, 0, 1, 2, 4]))]})
    for name, values in (("drop_frames", ["a|b"]), ("keep_frames", ["k"]), ("doc_url", ["https://x/"]),
                         ("default_sample_type", [p["types"][0][0]]), ("time_nanos", [1700000000123456789, -5]),
                         ("duration_nanos", [30000000001, -1]), ("period", [1, 10000000, -2])):
        if r.random() < .4:
            p[name] = pick(values)
    if r.random() < .6:
        p["period_type"] = pick([pick(p["types"]), ("space", "bytes"), ("", "")])
    p["comments"] = [pick(["one", "two", "ünï"]) for _ in range(r.randint(0, 3))]
    return p

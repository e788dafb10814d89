"""Profiles in the binary words of gperftools' CPU profiler, and in text, with what they say (seeded)."""

import random
import struct

FORMATS = {"32le": "<I", "32be": ">I", "64le": "<Q", "64be": ">Q"}
MAPS = [(0x400000, 0x480000, 0x0, "/bin/app"), (0x600000, 0x680000, 0x12000, "/lib/lib one.so"),
        (0x700000, 0x708000, 0, "[vdso]"), (0x800000, 0x810000, 0, "")]


def maps_text(maps=MAPS):
    lines = []
    for start, end, offset, path in maps:
        lines.append("%08x-%08x r--p %08x 08:01 7 %s" % (start - 0x1000, start, 0, path))
        lines.append("%08x-%08x r-xp %08x 08:01 7      %s" % (start, end, offset, path))
    return "\n".join(lines) + "\n"


def words(form, samples, period=10000, java=False, trailer=True, tail=b""):
    pack = lambda *v: b"".join(struct.pack(FORMATS[form], x) for x in v)
    out = pack(0, 3, 1 if java else 0, period, 0)
    for count, addresses in samples:
        out += pack(count, len(addresses), *addresses)
    return out + (pack(0, 1, 0) if trailer else b"") + tail


def cpu_samples(seed, n=200):
    """Leaf first, callers where they return to; some stacks stand twice, some addresses are in no map."""
    r = random.Random(seed)
    pool = [r.randrange(s, e) for s, e, _, _ in MAPS for _ in range(12)] + [r.randrange(0x900000, 0xa00000) for _ in range(6)]
    samples = [(r.randrange(1, 50), [r.choice(pool) for _ in range(r.randrange(1, 20))]) for _ in range(n)]
    return samples + [(r.randrange(1, 9), s[1]) for s in r.sample(samples, n // 5)]


def stripped(samples):
    """What pprof's rules leave of the addresses."""
    samples = [(c, list(a)) for c, a in samples]
    for _ in range(2):
        seconds = {}
        for _, a in samples:
            if len(a) > 1:
                seconds[a[1]] = seconds.get(a[1], 0) + 1
        common = [a for a, n in seconds.items() if n >= len(samples) - len(samples) // 32]
        for _, a in samples:
            if common and len(a) > 1 and a[1] == common[0]:
                del a[1]
    for _, a in samples:
        if len(a) > 1 and a[0] == a[1]:
            del a[1]
    return samples


def place(address, maps=MAPS):
    """(DSO, ip) of an address, looked up where it is; callers pass the byte before, and add it again."""
    for start, end, offset, path in maps:
        if start <= address < end:
            return (path or "[anon]", address - start + offset if path else address)
        if path.startswith("/") and offset and start - offset <= address < start:
            return (path, address - start + offset)
    return ("[unknown]", address)


def truth(samples, period):
    """{((DSO, ip), …): (count, ns)} by brute force."""
    out = {}
    for count, addresses in stripped(samples):
        key = []
        for i, a in enumerate(addresses):
            dso, ip = place(a - 1 if i else a)
            key.append((dso, ip + 1 if i else ip))
        c, ns = out.get(tuple(key), (0, 0))
        out[tuple(key)] = (c + count, ns + count * period * 1000)
    return out

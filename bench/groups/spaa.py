"""SPAA read, written and checked, and folded stacks."""
import filecmp
import os

from kit import SEED, WALL, Check, Row, size
from measure import MB, Side, run


def spaa(m):
    """SPAA text to a profile and back."""
    source = m.profile()
    work = (size(source), "B")
    both = Side("reader", m.reader("-w", "spaa", source), part=True)
    peers = [m.peer("jansson", [m.compile("peers/jansson_lines.c", ["-ljansson"]), source]),
             m.peer("yajl tokens", [m.compile("peers/yajl_tokens.c", ["-lyajl"]), source]),
             m.peer("jq empty", ["jq", "empty", source])]
    m.compare(both, *peers)
    for peer, need in zip(peers, (10, None, None)):
        yield Row("spaa", "SPAA text to profile", both, work, "read", peer=peer, need_ratio=need)
    yield Row("spaa", "profile to SPAA text", both, work, "write", peer=both, peer_part="read",
              peer_name="reading it", need_ratio=1)
    yield from two_threads(m, "spaa", "SPAA text to profile", lambda jobs: Side(
        "reader", m.reader("-j", jobs, source), part=True), "read")
    whole = Side("spaa", [m.spaa, "convert", "-q", source, "--to", "spaa", "-o", "-"])
    m.compare(whole)
    yield Row("spaa", "SPAA to SPAA, all cores", whole, work, clock=WALL)
    yield from compressed(m, work)


def two_threads(m, group, what, side, part=None):
    """How much sooner it is done with two threads: on an idle machine with as many cores."""
    work = (size(m.profile()), "B")
    one, two = side("1"), side("2")
    m.compare(one, two)
    yield Row(group, what + ", two threads", two, work, part, WALL, peer=one, peer_part=part, peer_name="one thread",
              need_ratio=1.7)


def compressed(m, work):
    """With two threads, reading is as fast as the slower of decompression and parsing, nearly."""
    source, packed = m.profile(), m.converted("profile.spaa.zst")
    one = Side("reader", m.reader(packed), part=True)
    two = Side("reader", m.reader("-j", "2", packed), part=True)
    plain = Side("reader", m.reader(source), part=True)
    zstd = m.peer("zstd -dc", ["zstd", "-dc", packed])
    m.compare(one, two, plain, zstd)
    yield Row("spaa", "SPAA text in zstd to profile", one, work, "read", peer=zstd)
    slower, part = plain, "read"
    if isinstance(zstd, Side) and zstd.median(None)[WALL] > plain.median("read")[WALL]:
        slower, part = zstd, None
    yield Row("spaa", "SPAA text in zstd to profile, two threads", two, work, "read", WALL, peer=slower, peer_part=part,
              peer_name="zstd -dc" if slower is zstd else "parsing it", need_ratio=0.9)


def validate(m):
    """Checking a large file."""
    source = m.profile()
    work = (size(source), "B")
    ours = Side("spaa", [m.spaa, "validate", "-q", "-j", "1", source])
    peers = [m.peer("jansson", [m.compile("peers/jansson_lines.c", ["-ljansson"]), source]),
             m.peer("yajl tokens", [m.compile("peers/yajl_tokens.c", ["-lyajl"]), source])]
    m.compare(ours, *peers)
    for peer, need in zip(peers, (10, None)):
        yield Row("validate", "validate the SPAA profile", ours, work, peer=peer, need_ratio=need)
    yield from two_threads(m, "validate", "validate the SPAA profile",
                           lambda jobs: Side("spaa", [m.spaa, "validate", "-q", "-j", jobs, source]))
    many = m.generated("million.spaa", "gen_spaa_large.py", "--stacks", str(1_000_000 // m.scale), "--frames",
                       str(60_000 // m.scale), "--depth", "10", "--seed", SEED)
    for jobs in ("1", "2"):
        done = run([m.spaa, "validate", "-q", "-j", jobs, many])
        yield Check("validate", f"{1_000_000 // m.scale:,} stacks are validated in less than 200 MB, -j{jobs}",
                    done.peak < 200 * MB, f"{done.peak / MB:.0f} MB")


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


GROUPS = {"spaa": spaa, "validate": validate, "folded": folded, "determinism": determinism}

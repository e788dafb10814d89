"""SPAA read, written and checked, and folded stacks."""
import filecmp
import os

from kit import WALL, Check, Row, size
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


def validate(m):
    """Checking a large file."""
    source = m.profile()
    ours = Side("spaa", [m.spaa, "validate", "-q", source])
    m.compare(ours)
    yield Row("validate", "validate the SPAA profile", ours, (size(source), "B"))


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

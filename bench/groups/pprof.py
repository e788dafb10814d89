"""pprof, against Go's."""
import os
import shutil

from kit import SEED, Check, Row, size
from measure import MB, Side


def pprof(m):
    """A large profile into tables, to its top, and written again."""
    samples = str(1_000_000 // m.scale)
    go = shutil.which("go") or "/usr/local/go/bin/go"
    for name, more in (("pprof", []), ("pprof with labels", ["--labels", "--depth", "24"]),
                       ("pprof of samples that repeat", ["--distinct", str(50_000 // m.scale)])):
        path = m.generated(name.replace(" ", "-") + ".pb", "gen_pprof.py", "--samples", samples, *more, "--seed", SEED)
        reader = Side("reader", m.reader(path), part=True)
        top = Side("spaa top", [m.spaa, "top", "-q", path])
        theirs = m.peer("go tool pprof", [go, "tool", "pprof", "-symbolize=none", "-top", path] if os.path.exists(go) else None)
        m.compare(reader, top, theirs)
        work = (size(path), "B")
        yield Row("pprof", f"{name} to profile", reader, work, "read")
        yield Row("pprof", f"{name}: top", top, work, peer=theirs, need_ratio=25)
        if isinstance(theirs, Side):
            yield Check("pprof", f"{name}: at most a quarter of go tool pprof's memory", top.peak() * 4 <= theirs.peak(),
                        f"{top.peak() / MB:.0f} of {theirs.peak() / MB:.0f} MB")
    writer = Side("writer", m.reader("-w", "pprof", path), part=True)
    m.compare(writer)
    yield Row("pprof", "pprof written", writer, work, "write")


GROUPS = {"pprof": pprof}

"""Heap and CPU profiles of gperftools and jemalloc, against Go's pprof."""
import os
import shutil

from kit import SEED, Row, size
from measure import Side


def gperf(m):
    stacks = str(300_000 // m.scale)
    go = shutil.which("go") or "/usr/local/go/bin/go"
    for kind, name in (("heap", "heap profile in text"), ("cpu", "CPU profile in words"), ("jemalloc", "jemalloc's threads")):
        path = m.generated(f"gperf.{kind}", "gen_gperf.py", "--kind", kind, "--stacks", stacks, "--seed", SEED)
        reader = Side("reader", m.reader(path), part=True)
        top = Side("spaa top", [m.spaa, "top", "-q", "--no-symbols", path])
        theirs = None
        if kind != "jemalloc": # which Go's does not read
            theirs = m.peer("go tool pprof", [go, "tool", "pprof", "-symbolize=none", "-top", path] if os.path.exists(go) else None)
        m.compare(*[s for s in (reader, top, theirs) if s is not None])
        work = (size(path), "B")
        yield Row("gperf", f"{name} to profile", reader, work, "read")
        yield Row("gperf", f"{name}: top", top, work, peer=theirs)


GROUPS = {"gperf": gperf}

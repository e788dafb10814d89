"""Memory profiles: heaptrack's recordings, against heaptrack_print and heaptrack_interpret."""
import os
import shutil

from kit import SEED, Check, Row, size
from measure import MB, Side


def heap(m):
    """A recording of 100 MB, interpreted and raw, to its summary."""
    megabytes = str(max(1, 100 // m.scale))
    heaptrack_print = shutil.which("heaptrack_print")
    interpret = "/usr/lib/heaptrack/libexec/heaptrack_interpret"
    path = m.generated("interpreted.heaptrack", "gen_heaptrack.py", "--megabytes", megabytes, "--seed", SEED)
    raw = m.generated("raw.heaptrack", "gen_heaptrack.py", "--raw", "--megabytes", megabytes, "--seed", SEED)
    top, leaks = (Side("spaa " + name, [m.spaa, name, "-q", path]) for name in ("top", "leaks"))
    reader, raw_top = Side("reader", m.reader(path), part=True), Side("spaa top", [m.spaa, "top", "-q", "--no-symbols", raw])
    theirs = m.peer("heaptrack_print", [heaptrack_print, "-f", path] if heaptrack_print else None)
    both = heaptrack_print and os.path.exists(interpret)
    command = f"{interpret} < {raw} > {raw}.made 2>/dev/null && heaptrack_print -f {raw}.made"
    raw_theirs = m.peer("heaptrack_interpret and _print", ["sh", "-c", command] if both else None)
    m.compare(reader, top, leaks, theirs)
    m.compare(raw_top, raw_theirs)
    work = (size(path), "B")
    yield Row("heap", "heaptrack, interpreted, to profile", reader, work, "read")
    yield Row("heap", "heaptrack, interpreted: top", top, work, peer=theirs, need_ratio=3)
    yield Row("heap", "heaptrack, interpreted: leaks, with windows", leaks, work, peer=theirs, need_ratio=3)
    yield Row("heap", "heaptrack, raw: top", raw_top, (size(raw), "B"), peer=raw_theirs, need_ratio=3)
    if isinstance(theirs, Side):
        yield Check("heap", "heaptrack: no more memory than heaptrack_print", top.peak() <= max(theirs.peak(), 250 * MB),
                    f"{top.peak() / MB:.0f} of {theirs.peak() / MB:.0f} MB (the mapped file counts)")


GROUPS = {"heap": heap}

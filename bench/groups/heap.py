"""Memory profiles: heaptrack's recordings, against heaptrack_print."""
import shutil

from kit import SEED, Check, Row, size
from measure import MB, Side


def heap(m):
    """A recording of 100 MB to its summary: interpreted, of the first version (which names pointers), and raw."""
    megabytes = str(max(1, 100 // m.scale))
    printer = shutil.which("heaptrack_print")
    for name, more in (("interpreted", []), ("with pointers", ["--old"])):
        path = m.generated(name.replace(" ", "-") + ".heaptrack", "gen_heaptrack.py", *more, "--megabytes", megabytes, "--seed",
                           SEED)
        top, leaks = (Side("spaa " + command, [m.spaa, command, "-q", path]) for command in ("top", "leaks"))
        reader = Side("reader", m.reader(path), part=True)
        # heaptrack_print 1.4 runs out of memory on files of the first version.
        theirs = None if more else m.peer("heaptrack_print", [printer, "-f", path] if printer else None)
        m.compare(*(side for side in (reader, top, leaks, theirs) if side))
        work = (size(path), "B")
        yield Row("heap", f"heaptrack, {name}, to profile", reader, work, "read")
        yield Row("heap", f"heaptrack, {name}: top", top, work, peer=theirs, need_ratio=None if more else 3)
        yield Row("heap", f"heaptrack, {name}: leaks, with windows", leaks, work, peer=theirs)
        if isinstance(theirs, Side):
            yield Check("heap", f"heaptrack, {name}: memory besides the file no more than heaptrack_print's",
                        top.peak() - size(path) <= theirs.peak(),
                        f"{(top.peak() - size(path)) / MB:.0f} of {theirs.peak() / MB:.0f} MB")
    raw = m.generated("raw.heaptrack", "gen_heaptrack.py", "--raw", "--megabytes", megabytes, "--seed", SEED)
    top = Side("spaa top", [m.spaa, "top", "-q", "--no-symbols", raw])
    m.compare(top)
    yield Row("heap", "heaptrack, raw: top", top, (size(raw), "B"))


GROUPS = {"heap": heap}

"""spindump reports: the reader alone, and a question."""
from kit import Row, size
from measure import Side


def spindump(m):
    """A report of 1,000 processes and 6,000 threads, of typical shape."""
    processes = 1000 // m.scale
    source = m.generated("report.spindump.txt", "gen_spindump.py", "--processes", str(processes), "--threads",
                         str(6 * processes), "--seed", "1")
    reader, top = Side("reader", m.reader(source), part=True), Side("spaa top", [m.spaa, "top", "-q", source])
    waits, script = Side("spaa waits", [m.spaa, "waits", "-q", source]), m.script("spindump_lines.py", source)
    m.compare(reader, top, waits, script)
    work = (size(source), "B")
    yield Row("spindump", "spindump report to profile", reader, work, "read", peer=script, need_ratio=10)
    yield Row("spindump", "top of the report", top, work, peer=script)
    yield Row("spindump", "waits of the report", waits, work)


GROUPS = {"spindump": spindump}

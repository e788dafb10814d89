"""spindump reports: the reader alone, and a question."""
from kit import Row, size
from measure import MB, Side


def spindump(m):
    """A report of 1,000 processes and 6,000 threads, of typical shape."""
    processes = 1000 // m.scale
    source = m.generated("report.spindump.txt", "gen_spindump.py", "--processes", str(processes), "--threads",
                         str(6 * processes), "--seed", "1")
    reader = Side("reader", m.reader(source), part=True)
    m.compare(reader)
    yield Row("spindump", "spindump report, reader alone", reader, (size(source), "B"), "read", need_rate=600 * MB)
    for what, command in (("top", [m.spaa, "top", "-q", source]), ("waits", [m.spaa, "waits", "-q", source])):
        ours = Side("spaa", command)
        m.compare(ours)
        yield Row("spindump", f"{what} of the report (0.1 s at 9 MB: 90 MB/s)", ours, (size(source), "B"),
                  need_rate=90 * MB if what == "top" else None)


GROUPS = {"spindump": spindump}

"""Aggregations as DTrace and bpftrace print them."""
from kit import SEED, Row, size
from measure import MB, Side


def tracers(m):
    """A dump of a gigabyte into a profile."""
    records = str(700_000 // m.scale)
    for name, more in (("dtrace", []), ("bpftrace", ["--bpftrace"])):
        text = m.generated(f"{name}.txt", "gen_dtrace.py", "--records", records, *more, "--seed", SEED, to_stdout=True)
        reader = Side("reader", m.reader(text), part=True)
        folded = Side("spaa", [m.spaa, "convert", "-q", text, "--to", "folded", "-o", "-"])
        inferno = m.peer("inferno-collapse-dtrace", ["inferno-collapse-dtrace", text] if name == "dtrace" else None)
        m.compare(reader, folded, inferno)
        work = (size(text), "B")
        yield Row("tracers", f"{name} aggregations to profile", reader, work, "read", need_rate=500 * MB)
        if name == "dtrace":
            yield Row("tracers", "dtrace aggregations to folded", folded, work, peer=inferno)


GROUPS = {"tracers": tracers}

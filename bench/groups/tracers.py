"""Aggregations as DTrace and bpftrace print them."""
import os

from kit import SEED, Row, size
from measure import Side


def tracers(m):
    """A dump of a gigabyte into a profile."""
    records = str(700_000 // m.scale)
    for name, more in (("dtrace", []), ("bpftrace", ["--bpftrace"])):
        text = m.generated(f"{name}.txt", "gen_dtrace.py", "--records", records, *more, "--seed", SEED, to_stdout=True)
        reader = Side("reader", m.reader(text), part=True)
        folded = Side("spaa", [m.spaa, "convert", "-q", text, "--to", "folded", "-o", "-"])
        work = (size(text), "B")
        if name == "bpftrace":
            m.compare(reader, folded)
            yield Row("tracers", "bpftrace aggregations to profile", reader, work, "read")
            continue
        script = m.script("dtrace_lines.py", text)
        collapse = os.path.join(m.flamegraph, "stackcollapse.pl") if m.flamegraph else ""
        perl = m.peer("stackcollapse.pl", ["perl", collapse, text] if os.path.exists(collapse) else None)
        inferno = m.peer("inferno-collapse-dtrace", ["inferno-collapse-dtrace", text])
        m.compare(reader, folded, inferno, script, perl)
        yield Row("tracers", "dtrace aggregations to profile", reader, work, "read", peer=script)
        yield Row("tracers", "dtrace aggregations to folded", folded, work, peer=perl, need_ratio=10)
        yield Row("tracers", "dtrace aggregations to folded", folded, work, peer=script)
        yield Row("tracers", "dtrace aggregations to folded", folded, work, peer=inferno)


GROUPS = {"tracers": tracers}

"""Questions, and flame graphs."""
import os

from kit import Row, size
from measure import Side


def top(m):
    """What is hot in a recording."""
    source = m.recording()
    ours = Side("spaa", [m.spaa, "top", "-q", source])
    perf = m.peer("perf report", ["perf", "report", "--stdio", "-g", "none", "-i", source])
    m.compare(ours, perf)
    yield Row("top", "top of the recording", ours, (1_000_000 // m.scale, " samples"), peer=perf, need_ratio=5)
    profile = m.profile()
    ours = Side("spaa", [m.spaa, "top", "-q", profile])
    m.compare(ours)
    yield Row("top", "top of the SPAA profile", ours, (size(profile), "B"))


def flamegraph(m):
    """Flame graphs of the large profile."""
    source, folded = m.profile(), m.converted("profile.folded")
    draw = lambda path: [m.spaa, "flamegraph", "-q", path, "-o", os.path.join(m.data, "out.svg")]
    native, ours = Side("spaa", draw(source)), Side("spaa", draw(folded))
    script = os.path.join(m.flamegraph, "flamegraph.pl") if m.flamegraph else ""
    inferno = m.peer("inferno-flamegraph", ["inferno-flamegraph", folded])
    perl = m.peer("flamegraph.pl", ["perl", script, folded] if os.path.exists(script) else None)
    m.compare(native, ours, inferno, perl)
    yield Row("flamegraph", "flame graph of the SPAA profile", native, (size(source), "B"))
    yield Row("flamegraph", "flame graph of its folded stacks", ours, (size(folded), "B"), peer=inferno)
    yield Row("flamegraph", "flame graph of its folded stacks", ours, (size(folded), "B"), peer=perl)


GROUPS = {"top": top, "flamegraph": flamegraph}

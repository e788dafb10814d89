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


def views(m):
    """What questions cost beside reading the large profile: each against reading alone."""
    profile = m.profile()
    read = Side("read", m.reader("-j", "1", profile))
    out = os.path.join(m.data, "windows.spaa")
    samples = m.converted("samples.spaa", m.recording(), "--samples", "--no-symbols")
    whole = ["tree", "--min-percent", "0", "-n", "0", "--format"]
    asked = [("top", ["top"], 1 / 1.2), ("top as JSON", ["top", "--json"], 1 / 1.2),
             ("tree, what it prints", ["tree"], 1 / 1.7), ("the whole tree as JSON", [*whole, "json"], 1 / 3),
             ("the whole tree as CSV", [*whole, "csv"], 1 / 3),
             ("function", ["function", "/alloc/"], None), ("stacks", ["stacks"], None), ("summary", ["summary"], None)]
    sides = {what: Side("spaa", [m.spaa, command[0], "-q", "-j", "1", profile, *command[1:]]) for what, command, _ in asked}
    m.compare(read, *sides.values())
    for what, _, need in asked:
        yield Row("views", what, sides[what], (size(profile), "B"), peer=read, peer_name="reading it", need_ratio=need)
    timeline = Side("spaa", [m.spaa, "timeline", "-q", samples, "-o", out])
    span = Side("spaa", [m.spaa, "top", "-q", samples, "--time", "0.1.."])
    m.compare(timeline, span)
    yield Row("views", "timeline with windows", timeline, (1_000_000 // m.scale, " samples"))
    yield Row("views", "top of a range of time", span, (1_000_000 // m.scale, " samples"))


GROUPS = {"top": top, "flamegraph": flamegraph, "views": views}

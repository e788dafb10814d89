"""Two profiles compared."""
import os

from kit import Row, size
from measure import Side

WITHIN = 2.5  # of the time it takes to read one of them


def diff(m):
    """What changed between two large profiles."""
    source = m.profile()
    other = m.generated("other.spaa", "gen_spaa_large.py", "--stacks", str(500_000 // m.scale), "--frames",
                        str(60_000 // m.scale), "--depth", "34", "--seed", "2")
    ours = Side("spaa", [m.spaa, "diff", "-q", "-j1", source, other])
    read = Side("reading one", m.reader("-j", "1", source))
    m.compare(ours, read)
    yield Row("diff", "diff of two SPAA profiles", ours, (size(source) + size(other), "B"), peer=read,
              need_ratio=1 / WITHIN)
    recording = m.recording()
    ours = Side("spaa", [m.spaa, "diff", "-q", recording, recording])
    m.compare(ours)
    yield Row("diff", "diff of two recordings, with time blocks", ours, (2_000_000 // m.scale, " samples"))
    draw = Side("spaa", [m.spaa, "flamegraph", "-q", other, "--diff", source, "-o", os.path.join(m.data, "diff.svg")])
    m.compare(draw)
    yield Row("diff", "flame graph of the difference", draw, (size(source) + size(other), "B"))


GROUPS = {"diff": diff}

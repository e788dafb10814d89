"""SPT: decoding call stacks without REPEATs, and sptdump's text."""
import os
import subprocess

from kit import Check, Row, size
from measure import MB, Side, memory


def trace(m, name, distinct, megabytes=1000):
    return m.generated(name, "gen_spt.py", "--megabytes", str(megabytes // m.scale), "--distinct", str(distinct),
                       "--seed", "1")


def spt(m):
    """A gigabyte of call stacks: the decoder with its counts, the reader to a profile, and the text."""
    few, many = trace(m, "stacks.spt", 1500), trace(m, "more-stacks.spt", 20000)
    work = (size(few), "B")
    decode = Side("validate", [m.spaa, "validate", "-q", few])
    reader, deep = Side("reader", m.reader(few), part=True), Side("reader", m.reader(many), part=True)
    m.compare(decode, reader, deep)
    yield Row("spt", "SPT decoded and counted (validate)", decode, work)
    yield Row("spt", "SPT reader, 6,000 distinct stacks", reader, work, "read")
    yield Row("spt", "SPT reader, 80,000 distinct stacks", deep, (size(many), "B"), "read")
    link = os.path.join(m.data, "sptdump")
    if not os.path.lexists(link):
        os.symlink(m.spaa, link)
    length = m.made("sptdump-length.txt", (os.path.basename(few), "/event"),
                    lambda path: subprocess.run(f'"{link}" /event "{few}" | wc -c >"{path}"', shell=True, check=True))
    with open(length, encoding="ascii") as f:
        text = int(f.read())
    dump, lines = Side("sptdump /event", [link, "/event", few]), Side("spaa dump", [m.spaa, "dump", "-q", few])
    m.compare(dump, lines)
    yield Row("spt", "sptdump /event, bytes of text", dump, (text, "B"))
    yield Row("spt", "spaa dump, bytes read", lines, work)
    resident, anonymous = memory([link, "/event", few])
    yield Check("spt", "sptdump: constant memory, below 16 MB beside the mapped file", anonymous < 16 * MB,
                f"{anonymous / MB:.1f} MB of {resident / MB:.1f} MB resident")


GROUPS = {"spt": spt}

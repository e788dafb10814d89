"""Many profiles as one."""
import hashlib
import os
import subprocess
import sys

from kit import HERE, SEED, Row, size
from measure import Side

FILES = 1000


def fleet(m):
    """A folder of profiles of one program; made once."""
    script = os.path.join(HERE, "gen_spaa_fleet.py")
    arguments = ["--files", str(FILES // m.scale), "--seed", SEED]
    with open(script, "rb") as f:
        key = hashlib.sha256(f.read() + repr(arguments).encode()).hexdigest()[:8]
    folder = os.path.join(m.data, f"fleet-{key}")
    if not os.path.exists(os.path.join(folder, "made")):
        m.log("making a fleet's profiles")
        subprocess.run([sys.executable, script, folder, *arguments], check=True)
        with open(os.path.join(folder, "made"), "w", encoding="utf-8"):
            pass
    return sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".spaa"))


def merge(m):
    """Files of 1 MB whose stacks overlap, merged; against reading them one by one."""
    files = fleet(m)
    work = (sum(map(size, files)), "B")
    reading = Side("reading them", m.reader(*files))
    ours = Side("spaa", [m.spaa, "merge", "-q", "-j", "1", *files, "-o", os.path.join(m.data, "merged.spaa")])
    threads = Side("spaa", [m.spaa, "merge", "-q", *files, "-o", os.path.join(m.data, "merged.spaa")])
    m.compare(ours, reading, threads)
    yield Row("merge", f"{len(files)} files of 1 MB into one", ours, work, peer=reading, need_ratio=0.8)
    yield Row("merge", f"{len(files)} files of 1 MB into one, all cores", threads, work, clock=1)


GROUPS = {"merge": merge}

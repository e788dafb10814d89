"""CodeGuru call graphs read and written."""
from kit import Row, size
from measure import Side


def codeguru(m):
    """A merged call graph, as profile-bee and as the Python agent write them."""
    for style, more in (("compact", []), ("Python agent", ["--python"])):
        source = m.generated(f"{style.split()[0].lower()}.codeguru.json", "gen_codeguru.py", "--nodes",
                             str(2_000_000 // m.scale), "--seed", "1", *more)
        both = Side("reader", m.reader("-w", "codeguru", source), part=True)
        python = m.peer("python3 json", ["python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", source])
        m.compare(both, python)
        work = (size(source), "B")
        yield Row("codeguru", f"call graph to profile, {style}", both, work, "read", peer=python, need_ratio=3)
        yield Row("codeguru", f"profile to call graph, {style}", both, work, "write", peer=both, peer_part="read",
                  peer_name="reading it", need_ratio=1)


GROUPS = {"codeguru": codeguru}

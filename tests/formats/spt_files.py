"""What the tests of SPT share: two programs, a small file, and counting what a conversion holds."""

import json
import uuid

import gen_spt as spt

APP = spt.Program("app.exe", uuid.UUID("0f8fad5b-d9cb-469f-a165-70867728950e"), 1)
KERNEL = spt.Program("ntoskrnl.exe", uuid.UUID("7c9e6679-7425-40de-944b-e07fc1f90ae7"), 2)
OPS = {event: op for op, event in spt.EVENTS.items()}


def counts(text):
    """Hits by (name, build-id, opcode, addresses from the leaf) of SPAA."""
    dsos, frames, total = {}, {}, {}
    for record in map(json.loads, text.splitlines()):
        if record["type"] == "dso":
            dsos[record["id"]] = record
        elif record["type"] == "frame":
            frames[record["id"]] = record
        elif record["type"] == "stack":
            context = record["context"]
            if record["frames"]:
                dso = dsos[frames[record["frames"][0]]["dso"]]
                name, build = dso["name"], dso.get("build_id")
            else:
                name, build = context["x_spt"]["binary"], context["x_spt"].get("build_id")
            ips = tuple(int(frames[f]["ip"], 16) for f in record["frames"])
            key = name, build, OPS[context["event"]], ips
            assert key not in total
            total[key] = int(record["weights"][0]["value"])
    return total


def small():
    f = spt.File([APP, KERNEL], 0x40, 4)
    s = f.segment(0)
    s.repeat(2).ip(spt.UNHALT_CYCLE, 0x1000, 0x1010).lbr((0x1000, 0x2000), (0x2010, 0x1000))
    s.repeat(9).stack(0x1010, 0x2000, 0x3000).stack(0x1000, 0x2000)
    f.segment(1).ip(spt.ETW_INSTR, 0x5000)
    return f


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.bytes())
    return path

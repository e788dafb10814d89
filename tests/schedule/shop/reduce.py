"""reduce.py IN.spaa OUT.spaa: a recording of shop.c without what is not needed: registers, images, and of other programs all but
when they ran."""

import json
import sys

OWN = {"shop", "prices", "accepter", "journal", "logs", "follow"}


def own(comm):
    return comm in OWN or comm.startswith("http-")


def is_kernel(pid, comm):
    return comm.startswith(("swapper", "kworker", "ksoftirqd", "migration", "rcu_", "kcompactd", "kdamond", "jbd2", "kthreadd", "khugepaged"))


records = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
header = records[0]
header.pop("x_perf", None)
header["events"] = [e for e in header["events"] if e["name"] != "off-cpu"]
header["source"]["command"] = "perf record -a --call-graph dwarf,4096 -e sched:sched_switch,sched:sched_waking ./shop 0.25"
header["stack_id_mode"] = "local"
frames = {r["id"]: r for r in records if r["type"] == "frame"}
kept, used, names = [], set(), {}


def renamed(fields, key, pid):
    comm = fields.get(key)
    if comm is not None and not own(comm) and not is_kernel(pid, comm):
        fields[key] = "other"


for r in records[1:]:
    if r["type"] == "stack":
        c = r["context"]
        if c["event"] == "off-cpu":
            continue
        if not own(c.get("comm", "")) and not is_kernel(c["pid"], c.get("comm", "")):
            r["frames"] = [f for f in r["frames"] if frames[f].get("kind") == "kernel"]
            renamed(c, "comm", c["pid"])
        r.pop("exclusive", None)
        r["id"] = names.setdefault(r["id"], f"s{len(names)}")
        used.update(r["frames"])
        kept.append(r)
    elif r["type"] == "sample" and r["event"] != "off-cpu":
        fields = r["context"]["trace_fields"]
        for key, pid in (("comm", "pid"), ("prev_comm", "prev_pid"), ("next_comm", "next_pid")):
            renamed(fields, key, fields.get(pid))
        r["context"] = {"trace_fields": {k: v for k, v in fields.items() if not k.endswith("prio")}}
        r.pop("x_perf", None)
        r["stack_id"] = names[r["stack_id"]]
        kept.append(r)
    elif r["type"] == "thread" and own(r.get("comm", "")):
        kept.append(r)
dsos = {frames[f]["dso"] for f in used if "dso" in frames[f]}
for r in records:
    if r["type"] == "dso" and r["id"] in dsos:
        r["name"] = "/srv/shop" if r["name"].endswith("/shop") else r["name"]
with open(sys.argv[2], "w", encoding="utf-8") as out:
    for r in [header] + [r for r in records if r["type"] == "dso" and r["id"] in dsos] + [frames[f] for f in sorted(used)] + kept:
        out.write(json.dumps(r, separators=(",", ":"), ensure_ascii=False) + "\n")

"""CodeGuru profiles made from a seed, with what is true of them: written without looking at the program.

A node is a dict with counts {name: Num}, file, line, others [(key, value)] and children {name: node}; a missing
member is absent, an empty object is there. `text` writes one in any order and spacing, `canonical` as the program
must, `cells` lists the weights, and `plain` gives the JSON that must come back.
"""

import random


class Num(str):
    """A number as its text."""


STATES = ["RUNNABLE", "BLOCKED", "NATIVE", "WAITING", "TIMED_WAITING", "IDLE", "WALL_TIME"]
CPU = {"RUNNABLE", "BLOCKED", "NATIVE", "WALL_TIME"}
NAMES = ["main", "m:C:f", "<Sleep>", "<Truncated>", "", " ", "io_wait_[k]", "a_k", "0x7f12", "libc.so.6+0x1f",
         "naïve", "日本", "emoji \U0001F600", 'quote"d', "back\\slash", "tab\there", "nul\x00in", "\x1b[31m", "\u202e", "é",
         "a,b;c", "operator()", "f (src/x.rs:3)", "[unknown]", "Z", "a", "aa", "A"]


def string(s, ascii_only=False):
    out = ['"']
    for c in s:
        o = ord(c)
        if c in '"\\':
            out.append("\\" + c)
        elif o < 32:
            out.append({8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}.get(o, "\\u%04x" % o))
        elif ascii_only and o > 126:
            units = [o] if o < 0x10000 else [0xD800 + (o - 0x10000 >> 10), 0xDC00 + (o - 0x10000 & 1023)]
            out += ["\\u%04x" % u for u in units]
        else:
            out.append(c)
    return "".join(out) + '"'


def value(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 6)
    if kind == 0:
        return Num(rng.choice(["0", "-1", "1.50", "1e3", "12345678901234567890123", "-0", "0.0"]))
    if kind == 1:
        return rng.choice(["", "text", "é\n"])
    if kind < 5:
        return [None, True, False][kind - 2]
    if kind == 5:
        return Num(str(rng.randrange(1000)))
    if kind == 6:
        return [value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return {rng.choice(["k", "l", "m", "é"]) + str(i): value(rng, depth + 1) for i in range(rng.randrange(3))}


def count(rng, odd):
    if odd and rng.random() < 0.1:
        return Num(rng.choice(["0", "0.0", "2.5", "1e2", "9223372036854775808", "18446744073709551615", "3.0"]))
    return Num(str(rng.choice([1, 2, rng.randrange(1, 100000)])))


class Maker:
    def __init__(self, rng, odd=True, nodes=60, states=None):
        self.rng, self.odd, self.left = rng, odd, nodes
        self.states = states or (STATES + ["RUN_QUEUE", "", "my state", "é"] if odd else STATES)

    def node(self, depth):
        rng, n = self.rng, {}
        wide = rng.random()
        if rng.random() < 0.6:
            n["counts"] = {s: count(rng, self.odd) for s in rng.sample(self.states, rng.choice([1, 1, 1, 2, 3]))}
        elif self.odd and rng.random() < 0.1:
            n["counts"] = {}
        if rng.random() < 0.4:
            n["file"] = rng.choice(["/a/b.py", "b.py", "c:1", "é.py"] + ([Num("5"), None, ""] if self.odd else []))
            if rng.random() < 0.7:
                n["line"] = [Num(str(rng.randrange(2000))) for _ in range(rng.choice([1, 2]))]
        elif self.odd and rng.random() < 0.05:
            n["line"] = rng.choice([[], Num("3"), [Num("1"), Num("2"), Num("3")], [Num("1.5")], "x", [Num("007"[2:])]])
        if self.odd and rng.random() < 0.1:
            n["others"] = [(k, value(rng)) for k in rng.sample(["foo", "x_é", "Counts", "name", "self"], rng.choice([1, 2]))]
        if depth < 12 and self.left > 0 and wide < 0.6:
            kids = {}
            for _ in range(rng.choice([1, 1, 2, 3, 5])):
                name = rng.choice(NAMES) if self.odd and rng.random() < 0.4 else "f%d" % rng.randrange(30)
                if name not in kids:
                    self.left -= 1
                    kids[name] = self.node(depth + 1)
            n["children"] = kids
        elif self.odd and rng.random() < 0.1:
            n["children"] = {}
        return n


def fleet(rng):
    return rng.choice([
        {"fleetInstanceId": "i-0abc", "hostType": "c5.xlarge"},
        {"computeType": "aws_ec2_instance", "hostName": "h", "hostType": "t"},
        {"computeType": "aws_fargate_task", "taskArn": "arn:x", "cpuLimit": Num("0.5"), "memoryLimitInMB": Num("512")},
        {"computeType": "aws_lambda", "functionArn": "arn:y", "memoryLimitInMB": Num("128"), "executionEnv": "AWS_x"},
        {"id": "host", "type": "UNKNOWN", "vCPUs": Num("4")}])


def profile(seed, odd=True, nodes=60, states=None):
    """{"start", "end", "agentMetadata", "callgraph": node, "others"}: members as a list of (key, value)."""
    rng = random.Random(seed)
    start = 1711234567000 + rng.randrange(10 ** 6)
    agent = {"sampleWeights": {"RUNNABLE": Num(rng.choice(["16063.4", "500.0", "1.0"]))},
             "durationInMs": Num(str(rng.randrange(1, 10 ** 6))), "fleetInfo": fleet(rng),
             "agentInfo": {"type": rng.choice(["profile-bee", "CodeGuruProfiler-python", "other"]), "version": "0.3.7"},
             "numTimesSampled": Num("1")}
    if rng.random() < 0.5:
        agent.update(agentOverhead={"memoryInMB": Num("0"), "timeInMs": Num("3")}, runtimeVersion="3.11.7",
                     cpuTimeInSeconds=Num("1.4782000000018725e-05"), metrics={"numThreads": Num("2.0")})
    top = [("start", Num(str(start))), ("end", Num(str(start + 10000))), ("agentMetadata", agent),
           ("callgraph", Maker(rng, odd, nodes, states).node(0))]
    if odd and rng.random() < 0.4:
        top.append(("debugInfo", {"processId": Num("7"), "deep": value(rng)}))
    if odd and rng.random() < 0.2:
        top.append(("é", value(rng)))
    if odd and rng.random() < 0.1:
        top[0] = ("start", rng.choice([Num("1711234567000.5"), Num("1.5e12"), "then", Num("-3")]))
    if odd and rng.random() < 0.1:
        del top[1]
    return top


def members(node):
    """A node as plain JSON members in canonical order, but for the order of counts and children."""
    for key in ("counts", "file", "line"):
        if key in node:
            yield key, node[key]
    yield from node.get("others", [])
    if "children" in node:
        yield "children", node["children"]


def plain(node):
    """As json.loads gives it, with numbers as their text."""
    return {k: {n: plain(c) for n, c in v.items()} if k == "children" else v for k, v in members(node)}


def plain_profile(top):
    return {k: plain(v) if k == "callgraph" else v for k, v in top}


def dump(v, rng=None, ascii_only=False):
    """JSON; with a generator in any spacing and order of members."""
    def blank():
        return rng.choice(["", "", " ", "\n  ", "\t", "\r\n"]) if rng else ""

    if isinstance(v, Num):
        return str(v)
    if isinstance(v, str):
        return string(v, ascii_only)
    if v is None or isinstance(v, bool):
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, list):
        return "[" + ",".join(blank() + dump(x, rng, ascii_only) + blank() for x in v) + blank() + "]"
    items = list(v.items())
    if rng and rng.random() < 0.5:
        rng.shuffle(items)
    return "{" + ",".join(blank() + string(k, ascii_only) + blank() + ":" + blank() + dump(x, rng, ascii_only)
                          + blank() for k, x in items) + blank() + "}"


def text(top, seed):
    rng = random.Random("text%s" % seed)
    return dump(plain_profile(top), rng, rng.random() < 0.3)


def canonical(top):
    def node(n):
        out = {}
        for k, v in members(n):
            if k == "counts":
                v = {s: v[s] for s in sorted(v, key=str.encode)}
            elif k == "children":
                v = {s: node(v[s]) for s in sorted(v, key=str.encode)}
            out[k] = v
        return out
    return dump({k: node(v) if k == "callgraph" else v for k, v in top})


def cells(top):
    """{(path, state): number text} of all counts that are not zero."""
    out = {}
    todo = [((), dict(top)["callgraph"])]
    while todo:
        path, n = todo.pop()
        for state, v in n.get("counts", {}).items():
            if float(v) != 0:
                out[path, state] = v
        todo += [(path + (name,), c) for name, c in n.get("children", {}).items()]
    return out

#!/usr/bin/env python3
"""Writes a heaptrack recording: gen_heaptrack.py [--raw | --old] [--megabytes N] [--traces N] [--live N] [--seed N] OUT.

A program with many call paths that allocates and frees: a fifth of the allocations are freed next, others live for a
while, a few for good. Interpreted by default, --raw as `heaptrack --raw` writes it, --old as the first versions wrote
it: interpreted, with events that name pointers. Not compressed.
"""
import argparse
import random


class Writer:
    def __init__(self, o):
        self.o, self.r = o, random.Random(o.seed)
        self.strings, self.ips, self.traces, self.infos = {}, {}, {}, {}
        self.pointers = o.raw or o.old
        self.head = ["v 10000" if o.old else "v 10400 3", "X ./server --port 80", "I 1000 5e298d"]
        self.functions = ["service::handler%d::process(request const&)" % i for i in range(o.functions)]
        self.parents = [(self.r.randrange(o.functions), self.r.randrange(max(0, i - 400), i + 1))
                        for i in range(o.traces)]  # (function, parent + 1)
        self.sizes = [self.r.choice([16, 24, 32, 48, 64, 128, 1000, 4096, 1 << 16]) for _ in range(o.traces)]
        self.depth = [0] * o.traces
        for i, (f, p) in enumerate(self.parents):
            self.depth[i] = self.depth[p - 1] + 1 if p else 1
            if self.depth[i] > 40:
                self.parents[i], self.depth[i] = (f, 0), 1
        if o.raw:
            self.head[1:1] = ["x %x %s" % (len("/usr/bin/server"), "/usr/bin/server")]
            self.head += ["m 1 -", "m f linux-vdso.so.1 400000 0 %x" % (16 * o.functions + 4096)]

    def text(self, out, s):
        if s not in self.strings:
            self.strings[s] = len(self.strings) + 1
            out.append("s " + s if self.o.old else "s %x %s" % (len(s), s))
        return self.strings[s]

    def trace(self, out, t):
        path = []
        while t is not None and t not in self.traces:
            path.append(t)
            t = self.parents[t][1] - 1 if self.parents[t][1] else None
        for t in reversed(path):
            f, parent = self.parents[t]
            number = self.traces[parent - 1] if parent else 0
            ip = 0x400000 + 16 * f
            if not self.o.raw:
                if ip not in self.ips:
                    line = "i %x %x %x %x %x" % (ip, self.text(out, "/usr/bin/server"),
                                                 self.text(out, self.functions[f]), self.text(out, "src/f%d.cpp" % (f % 97)),
                                                 f % 1000)
                    self.ips[ip] = len(self.ips) + 1
                    out.append(line)
                ip = self.ips[ip]
            self.traces[t] = len(self.traces) + 1
            out.append("t %x %x" % (ip, number))

    def write(self, f):
        o, r, random_ = self.o, self.r, self.r.random
        out, live, total, now, pointer = self.head, [], 0, 0, 0x7f0000000000
        order, hot = list(range(o.traces)), max(1, o.traces // 50)
        free = []
        while total < o.megabytes << 20:
            for _ in range(5000):
                t = order[int(random_() ** 2 * hot)] if random_() < 0.8 else order[int(random_() * o.traces)]
                if t not in self.traces:
                    self.trace(out, t)
                size = self.sizes[t] + (int(random_() * 8) << 4)
                if self.pointers:
                    if free:
                        p = free.pop()
                    else:
                        pointer += 48
                        p = pointer
                    out.append("+ %x %x %x" % (size, self.traces[t], p))
                    name = p
                else:
                    key = t << 32 | size
                    name = self.infos.get(key)
                    if name is None:
                        name = self.infos[key] = len(self.infos)
                        out.append("a %x %x" % (size, self.traces[t]))
                    out.append("+ %x" % name)
                if random_() < 0.2:
                    out.append("- %x" % name)
                    free.append(name)
                    continue
                live.append(name)
                if len(live) > o.live:
                    i = int(random_() * len(live))
                    live[i], live[-1] = live[-1], live[i]
                    name = live.pop()
                    if random_() < 0.999:
                        out.append("- %x" % name)
                        free.append(name)
            now += 10
            out += ["c %x" % now, "R %x" % (5000 + now)]
            data = "\n".join(out) + "\n"
            f.write(data)
            total += len(data)
            out = []


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--raw", action="store_true")
    a.add_argument("--old", action="store_true")
    a.add_argument("--megabytes", type=int, default=100)
    a.add_argument("--traces", type=int, default=20000)
    a.add_argument("--functions", type=int, default=3000)
    a.add_argument("--live", type=int, default=200000)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("out")
    o = a.parse_args()
    with open(o.out, "w", encoding="ascii") as f:
        Writer(o).write(f)


if __name__ == "__main__":
    main()

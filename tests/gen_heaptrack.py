"""Random heaptrack files, interpreted and raw, of one list of events, and what they come to: by brute force."""

import collections
import random

FUNCTIONS = ["main", "parse", "node::insert(int)", "operator new(unsigned long)", "std::vector<int>::grow",
             "malloc_wrapper", "g_main_context_new", "leaky", "a function with blanks", "naïve"]
FILES = ["src/main.c", "src/parse.c", "include/node.h", "a file.c"]
MODULES = ["/usr/bin/app", "/lib/libc.so.6", "/opt/my lib/libx.so"]
BUILT_IN = ["__nss_module_allocate", "__gconv_read_conf", "__new_exitfn", "tzset_internal", "dl_open_worker",
            "g_main_context_new", "g_thread_self"]

Ip = collections.namedtuple("Ip", "addr module frames")  # frames: [(function or None, file or None, line)]
Cost = collections.namedtuple("Cost", "alloc_bytes alloc_count free_bytes free_count live_bytes live_count "
                                      "peak_bytes peak_count temporary")


class Trace:
    """events: ("+", trace, size, ptr), ("-", ptr), ("c", ms), ("R", pages)."""

    def __init__(self, seed, events=400, ips=12, traces=20):
        r = random.Random(seed)
        self.ips = [Ip(0x7f0000000000 + 0x1000 * i + r.randrange(0x1000), r.choice(MODULES + [None]),
                       [(r.choice(FUNCTIONS), r.choice(FILES), r.randrange(1, 500))
                        for _ in range(r.choice([0, 1, 1, 1, 3]))]) for i in range(ips)]
        self.ips[0] = self.ips[0]._replace(frames=[("bare", None, 0)])
        self.traces = []  # (ip, parent + 1)
        for i in range(traces):
            self.traces.append((r.randrange(ips), r.randrange(i + 1)))
        self.events, live, now, ptr = [], [], 0, 0x1000
        phases = [r.choice([0.4, 0.5, 0.6, 0.8]) for _ in range(5)]
        for i in range(events):
            grow = phases[i * len(phases) // events]
            if not live or r.random() < grow:
                size = r.choice([0, 1, 8, 24, 24, 100, 4096, r.randrange(1 << 20)])
                if live and r.random() < 0.3:
                    free = r.randrange(len(live))
                    ptr = live.pop(free)
                    self.events.append(("-", ptr))
                else:
                    ptr = 0x1000 + 16 * r.randrange(1 << 30)
                if ptr in live:
                    continue
                self.events.append(("+", r.randrange(traces), size, ptr))
                live.append(ptr)
            else:
                self.events.append(("-", live.pop(-1 if r.random() < 0.5 else r.randrange(len(live)))))
            if r.random() < 0.05:
                now += r.choice([0, 1, 10, 250])
                self.events.append(("c", now))
                self.events.append(("R", r.randrange(1, 5000)))
        self.now = now

    # writing

    def head(self, version, command, more=()):
        out = ["v 10400 %x" % version if version else "v 10000"]
        return out + ["X " + command, "I 1000 5e298d", *more]

    def string(self, version, s):
        return "%x %s" % (len(s.encode()), s) if version >= 3 else s

    def interpreted(self, version=3, command="./app --fast", more=()):
        out, strings, ips, traces, infos, at = self.head(version, command, more), {}, {}, {}, {}, {}

        def text(s):
            if not s:
                return 0
            if s not in strings:
                strings[s] = len(strings) + 1
                out.append("s " + self.string(version, s))
            return strings[s]

        def ip(i):
            if i not in ips:
                x = self.ips[i]
                line = "i %x %x" % (x.addr, text(x.module))
                numbers = [(text(f), text(g), n) for f, g, n in x.frames]
                for f, g, n in numbers:
                    line += " %x" % f
                    line += " %x %x" % (g, n) if g else ""
                ips[i] = len(ips) + 1
                out.append(line)
            return ips[i]

        def trace(t):
            if t not in traces:
                parent = trace(self.traces[t][1] - 1) if self.traces[t][1] else 0
                i = ip(self.traces[t][0])
                traces[t] = len(traces) + 1
                out.append("t %x %x" % (i, parent))
            return traces[t]

        for e in self.events:
            if e[0] == "+":
                t = trace(e[1])
                if not version:
                    out.append("+ %x %x %x" % (e[2], t, e[3]))
                    continue
                if (e[1], e[2]) not in infos:
                    infos[e[1], e[2]] = len(infos)
                    out.append("a %x %x" % (e[2], t))
                at[e[3]] = infos[e[1], e[2]]
                out.append("+ %x" % at[e[3]])
            elif e[0] == "-":
                out.append("- %x" % (at[e[1]] if version else e[1]))
            else:
                out.append("%s %x" % e)
        return ("\n".join(out) + "\n").encode()

    def raw(self, version=3, exe="/usr/bin/app", modules=()):
        out = self.head(version, "./app", ["x " + self.string(version, exe)] + list(modules))
        traces = {}

        def trace(t):
            if t not in traces:
                parent = trace(self.traces[t][1] - 1) if self.traces[t][1] else 0
                traces[t] = len(traces) + 1
                out.append("t %x %x" % (self.ips[self.traces[t][0]].addr, parent))
            return traces[t]

        for e in self.events:
            if e[0] == "+":
                out.append("+ %x %x %x" % (e[2], trace(e[1]), e[3]))
            else:
                out.append("%s %x" % e)
        return ("\n".join(out) + "\n").encode()

    # what it comes to

    def happened(self):
        """[(ms, trace, size or -size)]: each allocation and free, in order."""
        out, at, now = [], {}, 0
        for e in self.events:
            if e[0] == "+":
                at[e[3]] = e[1:3]
                out.append((now, e[1], e[2]))
            elif e[0] == "-":
                trace, size = at.pop(e[1])
                out.append((now, trace, -size))
            elif e[0] == "c":
                now = e[1]
        return out

    def truth(self, version=3):
        """{trace: Cost}, and the peak, its time: every maximum is looked at when it is reached."""
        infos, at, live, peak = {}, {}, collections.Counter(), {}
        count = collections.Counter()
        sums = collections.defaultdict(lambda: [0] * 5)
        total = most = now = when = last = 0
        for e in self.events:
            if e[0] == "+":
                info = infos.setdefault((e[1], e[2]), len(infos))
                at[e[3]] = (e[1], e[2], info)
                last = info if version else e[3]
                sums[e[1]][0] += e[2]
                sums[e[1]][1] += 1
                live[e[1]] += e[2]
                count[e[1]] += 1
                total += e[2]
                if total > most:
                    most, when = total, now
                    peak = {t: (live[t], count[t]) for t in count}
            elif e[0] == "-":
                t, size, info = at.pop(e[1])
                sums[t][2] += size
                sums[t][3] += 1
                sums[t][4] += last == (info if version else e[1])
                last = 0
                live[t] -= size
                count[t] -= 1
                total -= size
            elif e[0] == "c":
                now = e[1]
        return {t: Cost(*s[:4], live[t], count[t], *peak.get(t, (0, 0)), s[4]) for t, s in sums.items()}, most, when

    def stack(self, t):
        """Frames from the leaf: (function, file:line, module, inline depth)."""
        out = []
        while True:
            ip = self.ips[self.traces[t][0]]
            n = len(ip.frames)
            for i, (f, g, line) in enumerate(ip.frames):
                out.append((f, "%s:%d" % (g, line) if g else None, ip.module or "[unknown]", n - 1 - i))
            if not n:
                out.append(("0x%x" % ip.addr, None, ip.module or "[unknown]", 0))
            if not self.traces[t][1]:
                return tuple(out)
            t = self.traces[t][1] - 1

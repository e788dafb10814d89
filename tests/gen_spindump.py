#!/usr/bin/env python3
"""Makes spindump reports of any size, always the same for a seed, and knows what is in them.

    gen_spindump.py --processes 1000 --threads 6000 --seed 1 OUT
    Report(seed=3, processes=5, timeline=True).text, .stacks, .threads, .processes, …

Written from the format's description, not from the reader: the truth is made first and printed.
"""
import argparse
import collections
import random

STATES = [
    (None, "WAITING"), ("running", "RUNNABLE"), ("running, p-core", "RUNNABLE"), ("running, e-core", "RUNNABLE"),
    ("runnable", "RUN_QUEUE"), ("suspended", "SUSPENDED"), ("running, suspended", "SUSPENDED"),
    ("blocked by turnstile waiting for {name} [{pid}] thread 0x{tid:x}", "BLOCKED"),
    ("blocked by turnstile with priority 37 waiting for {name} [{pid}] thread 0x{tid:x} after 2 hops", "BLOCKED"),
    ("unfair lock owned by {name} [{pid}] thread 0x{tid:x}", "BLOCKED"),
    ("blocked by krwlock for writing owned by {name} [{pid}] thread 0x{tid:x}", "BLOCKED"),
    ("blocked by wait4 on {name} [{pid}]", "WAITING"),
    ('queue "com.apple.root (odd) \\"q\\"" owned by {name} [{pid}] thread 0x{tid:x}', "WAITING"),
    ("blocked by mach_msg receive on port 0x303 name 0x1003", "WAITING"),
    ("something the future invents (really, [7])", "UNKNOWN"),
]
SYMBOLS = ["start", "main", "kevent64", "mach_msg2_trap", "__psynch_cvwait", "-[NSApplication run]",
           "-[NSApplication(NSEvent) _nextEventMatchingEventMask:untilDate:inMode:dequeue:]", "operator()(int, char (*)(void))",
           "std::__1::function<void ()>::operator()() const", "icu::RuleBasedBreakIterator::next()",
           "foo(int)::{lambda(auto:1)#1}::operator()(x) const", "a + b", "<redacted>", "__CFRunLoopRun", "-[Foo bar:]",
           "closure #1 in Foo.bar(_:) (.resume.0)", "naïve_löser", "[weird] (x", "_dispatch_client_callout2", "??? + 3 no"]
LIBRARIES = ["dyld", "libsystem_kernel.dylib", "libsystem_pthread.dylib", "CoreFoundation", "AppKit", "HIToolbox",
             "libdispatch.dylib", "Microsoft Teams (work or school)", "odd image + name", "libc++.1.dylib", "Foundation",
             "WebCore", "libobjc.A.dylib", "QuartzCore", "SkyLight", "libxpc.dylib"]
NAMES = ["Safari", "kernel_task", "Google Chrome Helper (Renderer)", "My (App) [weird", "foo[3] bar", "2.1.27", "naïve — app",
         "launchd", "mds_stores", "a:b", "AccessibilityUIServer", "WindowServer", "cloudd", "trustd", "bird"]
QUEUES = ['"com.apple.main-thread"(1)', '"com.apple.root.default-qos"(12)', "3", "none",
          '"a, b \\"c\\" (d)"(77), "second"(8)', '"has 5 samples (1-2) inside"(9)']
PAD = 18


class Image:
    def __init__(self, rng, name, path, base, kernel=False):
        self.name, self.path, self.base, self.kernel = name, path, base, kernel
        self.uuid = "-".join("%0*X" % (n, rng.getrandbits(4 * n)) for n in (8, 4, 4, 4, 12))
        self.version = rng.choice(["(1335)", "1.0 (1)", "26.2 (25C56)", ""])
        self.size = 0x400000

    def line(self, rng):
        end = "???" if not self.kernel and rng.random() < 0.02 else "0x%x" % (self.base + self.size - 1)
        suffix = "__TEXT_EXEC" if self.kernel else ""
        version = " " + self.version if self.version else ""
        return "  %s%18s - %18s  %s%s  <%s>%s  %s" % ("*" if self.kernel else " ", "0x%x" % self.base, end, self.name, version,
                                                   self.uuid, suffix, self.path)


Frame = collections.namedtuple("Frame", "func dso kernel resolved symoff ip text")


class Report:
    def __init__(self, seed=1, processes=4, threads=None, timeline=False, odd=True, samples=60, depth=12, tail=True,
                 ips=False, banner=True, again=False):
        self.rng = random.Random(seed)
        self.timeline, self.odd, self.samples, self.depth = timeline, odd, samples, depth
        self.again = again    # numbers that come again: headers of a thread, processes
        self.lines = []
        self.stacks = collections.Counter()  # (pid, tid, comm, state, state text, frames root first) -> samples
        self.threads = {}     # tid -> facts
        self.processes = []   # facts, in order
        self.histograms, self.frame_lines, self.heavier = [], [], 0
        rng = self.rng
        self.libraries = [Image(rng, n, "/usr/lib/" + n, 0x190000000 + 0x1000000 * i) for i, n in enumerate(LIBRARIES)]
        self.kernel = [Image(rng, "kernel.release.t6041", "/System/Library/Kernels/kernel.release.t6041", 0xfffffe0008860000,
                             True),
                       Image(rng, "com.apple.driver.AppleX", "/System/Library/Extensions/AppleX.kext/AppleX",
                             0xfffffe0009860000, True)]
        self.pool = {}
        self.shared = {i: [] for i in range(len(self.libraries) + len(self.kernel))}
        threads = threads or processes * 3
        self.pids = [100 + 7 * i for i in range(processes)]
        self.tids = [0x3fd000 + 17 * i for i in range(threads)]
        if ips:
            self.lines.append('{"app_name":"Safari","bug_type":"288","os_version":"macOS 26.2 (25C56)"}')
        self.header(banner)
        per = [threads // processes + (i < threads % processes) for i in range(processes)]
        for i, pid in enumerate(list(self.pids)):
            if again and i and rng.random() < 0.5:
                pid = rng.choice(self.pids[:i])
            self.process(pid, [self.tids.pop(0) for _ in range(per[i])], again and rng.random() < 0.3)
        if tail:
            self.tail()
        self.text = "\n".join(self.lines) + "\n"

    # The header

    def key(self, key, value):
        blank = " " if len(key) >= PAD - 1 and not self.odd else ""
        self.lines.append((key + ":").ljust(PAD) + blank + value)

    def header(self, banner):
        key = self.key
        key("Date/Time", "2026-02-02 23:22:34.999 -0800")
        key("End time", "2026-02-02 23:22:38.396 -0800")
        key("OS Version", "macOS 26.2 (Build 25C56)")
        key("Architecture", "arm64e")
        key("Report Version", "67")
        key("Share With Devs", "Yes")
        self.lines.append("")
        key("Data Source", "KPerf Lightweight PET")
        key("Reason", "tailspin save mode default")
        key("Shared Cache", "ACB998B6-263C-3634-B0A8-AE8270A116C2 slid base address 0x19de68000, slide 0x1de68000 (System Primary)")
        key("Shared Cache", "DF86E129-38B3-3A55-92F1-747C17DE0FC7 slid base address 0x19d7e0000, slide 0x1d7e0000 (DriverKit)")
        self.lines.append("")
        key("Duration", "3.41s")
        key("Steps", "%d (10ms sampling interval)" % self.samples)
        self.lines.append("")
        key("Hardware model", "Mac16,5")
        key("Active cpus", "16")
        key("Memory size", "128 GB")
        key("HW page size", "16384")
        key("VM page size", "16384")
        key("Shared cache residency", "49.17% (2592.98 MB / 5273.92 MB)")
        key("Time Since Boot", "276319s")
        key("Time Awake Since Boot", "276319s")
        key("Total CPU Time", "17.620s (51.3G cycles, 87.4G instructions, 0.59c/i)")
        key("Memory pressure", "average 5%, highest 7%")
        key("Available memory", "average 120.64 GB, lowest 120.20 GB")
        key("Lost Perf", "No lost perf 3.398s (100%)")
        key("Advisory levels", "Battery -> 3, User -> 2, ThermalPressure -> 0, Combined -> 2")
        key("Free disk space", "120.5 GB/994.7 GB, low space threshold 150 MB")
        key("Vnodes Available", "82.65% (217521/263168)")
        key("Models", "UNKNOWN")
        key("Preferred User Language", "en-US")
        key("Country Code", "US")
        key("OS Cryptex File Extents", "1")
        if self.odd:
            key("Some Future Field", "what: it says (1)")
        self.lines += ["I/O statistics:", "  Overall:        293 IOs (85.91 IOs/s), 4.20 MB (1.23 MB/s)",
                       "  Tier0:          55 IOs (16.12 IOs/s), 674 KB (197.65 KB/s)",
                       "  Tier1:          200 IOs (58.65 IOs/s), 3.00 MB (900.88 KB/s)", ""]
        if self.odd:
            self.lines += ["Heaviest stack for the main thread of the target process:",
                           "  60  start + 7184 (dyld + 36180) [0x19df79d54]", "  60  main + 3 (Safari + 9) [0x100000009]", "", ""]
        if banner:
            form = "Timeline format: stacks are sorted chronologically" if self.timeline else \
                "Heavy format: stacks are sorted by count"
            self.lines += ["-" * 60, form, "Use -i and -timeline to re-report with chronological sorting", "-" * 60, ""]
        self.lines.append("")

    # Frames

    def text_of(self, image, func, resolved, symoff, ip, where=None):
        symbol = "%s + %d" % (func, symoff) if resolved else "???"
        return "%s (%s%s + %d) [0x%x]" % (symbol, where + " in " if where else "", image.name, ip, image.base + ip)

    def new_frame(self, image):
        rng = self.rng
        func, symoff, ip = rng.choice(SYMBOLS if self.odd else SYMBOLS[:6]), rng.randrange(5000), rng.randrange(1, image.size)
        if rng.random() < 0.25:
            return Frame("0x%x" % ip, image.name, image.kernel, False, None, ip,
                         self.text_of(image, None, False, 0, ip))
        if self.odd and rng.random() < 0.05:  # by UUID
            text = "%s + %d (<%s> + %d) [0x%x]" % (func, symoff, image.uuid, ip, image.base + ip)
            return Frame(func, image.name, image.kernel, True, symoff, ip, text)
        if self.odd and rng.random() < 0.05:
            return Frame(func, image.name, image.kernel, True, symoff, ip,
                         self.text_of(image, func, True, symoff, ip, "Foo Bar.mm:12,3"))
        if self.odd and rng.random() < 0.03:  # before 10.10
            return Frame(func, image.name, image.kernel, True, symoff, None,
                         "%s + %d (%s) [0x%x]" % (func, symoff, image.name, image.base + ip))
        return Frame(func, image.name, image.kernel, True, symoff, ip, self.text_of(image, func, True, symoff, ip))

    def frame(self, own, kernel=False):
        rng = self.rng
        if self.odd and rng.random() < 0.03 and not kernel:
            address = rng.randrange(0x11e000000, 0x11f000000)
            return rng.choice([Frame("0x%x" % address, "[unknown]", False, False, None, address, "??? [0x%x]" % address),
                               Frame("0x0", "[unknown]", False, False, None, None, "???"),
                               Frame("<truncated backtrace>", "[unknown]", False, True, None, None, "<truncated backtrace>"),
                               Frame("<patched truncated backtrace>", "[unknown]", False, True, None, None,
                                     "<patched truncated backtrace> [0]")])
        if not kernel and rng.random() < 0.3:
            pool, image = own
        else:
            n = len(self.libraries)
            i = rng.randrange(n, n + len(self.kernel)) if kernel else rng.randrange(n)
            image = (self.libraries + self.kernel)[i]
            pool = self.shared[i]
        if len(pool) < 60:
            pool.append(self.new_frame(image))
            return pool[-1]
        return rng.choice(pool)

    # Threads

    def tree(self, own, count, level, kernel, first):
        """[(frame, count, state text, word, children, from)], siblings by count, or by time from `first` on."""
        rng, out, left = self.rng, [], count
        while left:
            n = left if rng.random() < (0.8 if level < 4 else 0.6) else rng.randrange(1, left + 1)
            node_kernel = kernel or (level > 1 and rng.random() < 0.12)
            frame = self.frame(own, node_kernel)
            own_count = n if level >= self.depth or rng.random() < 0.12 else (rng.randrange(n + 1) if rng.random() < 0.1 else 0)
            plain = not frame.text.endswith("]") and "truncated" not in frame.text
            text, word = (None, "WAITING") if plain else rng.choice(STATES if self.odd else STATES[:4])
            if text:
                text = text.format(name=rng.choice(["kernel_task", "Safari", "Google Chrome Helper (Renderer)"]),
                                   pid=rng.choice(self.pids), tid=0x3fd000 + 17 * rng.randrange(8))
            out.append([frame, n, text, word, [], own_count, node_kernel, 0])
            left -= n
        if not self.timeline:
            out.sort(key=lambda x: -x[1])
        at = first
        for node in out:
            node[7] = at
            rest = node[1] - node[5]
            before = self.rng.randrange(node[5] + 1) if node[5] and self.timeline else 0
            node[4] = self.tree(own, rest, level + 1, node[6], at + before) if rest else []
            at += node[1]
        return out

    def emit(self, nodes, level, width, path, who):
        for frame, count, text, word, children, own, kernel, first in nodes:
            here = path + ((frame.func, frame.dso, frame.kernel, frame.resolved, frame.symoff, frame.ip),)
            state = " (%s)" % text if text else ""
            span = "" if not self.timeline else " %d" % first if count == 1 else " %d-%d" % (first, first + count - 1)
            if self.timeline and not (frame.text + state)[-1] in "])>":
                span = ""
            pad = " " * (4 + 2 * level)
            self.lines.append("%s%s%s  %s%s%s" % (pad[:-1] if kernel else pad, "*" if kernel else "", str(count).ljust(width),
                                                 frame.text, state, span))
            self.frame_lines.append(len(self.lines))
            if own and self.powerstats and text is None:
                word, text = "RUNNABLE", "running"  # microstackshots are of what runs
            if own:
                self.stacks[who + (word, text, here)] += own
            self.emit(children, level + 1, width, here, who)

    def thread(self, pid, comm, tid, own, front):
        rng = self.rng
        samples = rng.randrange(1, self.samples + 1)
        line, facts = ["Thread <multiple>" if tid is None else "Thread 0x%x" % tid], {"pid": pid, "comm": comm, "samples": samples}
        if rng.random() < 0.5:
            facts["queue"] = rng.choice(QUEUES)
            line.append("DispatchQueue " + facts["queue"])
        if rng.random() < 0.4:
            facts["name"] = rng.choice(["JIT Worklist Helper Thread", 'say "hi" (now), 3', "com.apple.NSEventThread"])
            line.append('Thread name "%s"' % facts["name"])
        facts["range"] = str(samples) if samples == 1 else rng.choice(["1-%d", "1-%d with gaps of 2"]) % samples
        line.append("%d sample%s (%s)" % (samples, "" if samples == 1 else "s", facts["range"]))
        facts["priority"], facts["base_priority"] = rng.choice([("31", "31"), ("4-31", "4-31"), ("97", "97")])
        line.append("priority %s (base %s)" % (facts["priority"], facts["base_priority"]))
        if rng.random() < 0.6:
            facts["cpu_time"], facts["cpu_time_ns"], facts["cycles"] = rng.choice(
                [("0.922s (3.2G cycles, 15.4G instructions, 0.21c/i)", 922000000, 3200000000), ("0.018s", 18000000, None),
                 ("<0.001s (1.5M cycles, 900.5K instructions, 1.67c/i)", 1000000, 1500000)])
            line.append("cpu time " + facts["cpu_time"])
        if rng.random() < 0.1:
            facts["idle_time"] = "3.398s"
            line.append("idle time 3.398s")
        if rng.random() < 0.1:
            facts["last_ran"] = "12.500s ago"
            line.append("last ran 12.500s ago")
        if rng.random() < 0.2:
            facts["io"] = "3 I/Os (48 KB)"
            line.append("3 I/Os (48 KB)")
        if tid not in self.threads and tid is not None:
            self.threads[tid] = facts
        self.lines += ["  " + "    ".join(line)]
        if self.timeline and front:
            self.lines.append("  <process frontmost, thread QoS user interactive, IO tier 0>")
        nodes = self.tree(own, samples, 0, rng.random() < 0.1, 1)
        self.emit(nodes, 0, len(str(samples)), (), (pid, tid, comm))
        self.lines.append("")

    # Processes

    def process(self, pid, tids, powerstats=False):
        rng, key = self.rng, self.key
        self.powerstats = powerstats
        before = [p["name"] for p in self.processes if p["pid"] == pid]
        name = rng.choice(NAMES) if self.odd else "process-%d" % pid
        if before and rng.random() < 0.6:
            name = before[-1]
        own = Image(rng, name, "/Applications/%s.app/Contents/MacOS/%s" % (name, name), 0x100000000 + rng.randrange(1 << 16) * 0x4000)
        if "/" in name or "[" in name:
            own.name = own.path = "/opt/tool"
            own.name, own.path = "tool", "/opt/tool"
        own.version = "(1)"
        bundle, unique, suspended = rng.random() < 0.1, rng.random() < 0.1, rng.random() < 0.1
        facts = {"name": name, "pid": pid, "tids": tids, "images": 0, "suspended": suspended, "fields": []}
        key("Powerstats for" if powerstats else "Process", "%s%s [%d]%s%s" % (name, " (com.apple.thing)" if bundle else "", pid,
                                         " [unique pid 123456]" if unique else "", " (suspended)" if suspended else ""))
        if bundle:
            facts["bundle"] = "com.apple.thing"
        fields = [("UUID", own.uuid), ("Path", own.path), ("Identifier", "com.example." + str(pid)), ("Version", "1.0 (1)"),
                  ("Shared Cache", "ACB998B6-263C-3634-B0A8-AE8270A116C2 slid base address 0x19de68000, slide 0x1de68000"),
                  ("Architecture", "arm64e"), ("Responsible", "Safari [%d]" % self.pids[0]), ("Parent", "launchd [1]"),
                  ("Sudden Term", "Tracked (allows idle exit)"), ("RunningBoard Mgd", "Yes"),
                  ("Footprint", rng.choice(["12.5 MB", "6416 KB -> 11.45 MB (+5312 KB)"])), ("I/O", "12 I/Os (64 KB)"),
                  ("Time Since Fork", "276300s"), ("Num samples", "%d (1-%d)" % (self.samples, self.samples)),
                  ("CPU Time", "0.940s (3.3G cycles, 16G instructions, 0.21c/i)"), ("Num threads", str(len(tids))),
                  ("Note", "Has hardened heap"), ("Note", "Suspended for 3 samples")]
        if self.again and rng.random() < 0.7:
            fields.insert(0, ("Start time", "2026-02-02 23:22:%02d.%03d -0800" % (rng.randrange(60), rng.randrange(1000))))
        if self.odd:
            rng.shuffle(fields)
            fields = fields[:rng.randrange(4, len(fields) + 1)]
            fields.insert(rng.randrange(len(fields)), ("Jetsam Priority", "future: 3 [x]"))
        for k, v in fields:
            key(k, v)
        facts["fields"] = [[k, v] for k, v in fields]
        self.lines.append("")
        pool = ([], own)
        heads = list(enumerate(tids))
        if self.again and not powerstats:
            heads += [(1, rng.choice(tids + [None, None])) for _ in range(rng.randrange(6))]
            rng.shuffle(heads)
            if tids:
                heads.sort(key=lambda h: h[0] == 0, reverse=True)
        if powerstats:
            heads = []
            self.emit(self.tree(pool, rng.randrange(1, self.samples), 0, False, 1), 0, 3, (), (pid, None, name))
        for i, tid in heads:
            self.thread(pid, name, tid, pool, pid == self.pids[0] and i == 0)
        images = [own] + self.libraries + self.kernel
        self.lines.append("  Binary Images:")
        for image in images:
            self.lines.append(image.line(rng))
        facts["images"] = len(images)
        self.processes.append(facts)
        self.lines += ["", ""]

    # The tail

    def histogram(self, title, unit, step, word):
        rng, rows, total = self.rng, [], 0
        self.lines += [title + ":", "     Begin      End            %s                     CDF" % word]
        for i in range(8):
            n = rng.randrange(50)
            total += n
            rows.append([i * step, (i + 1) * step, n, total])
            self.lines.append("%7d%s %7d%s\t\t%8d\t\t%8d" % (i * step, unit, (i + 1) * step, unit, n, total))
        rows.append([8 * step, None, 0, total])
        self.lines += ["         >  %8d%s\t\t%8d\t\t%8d" % (8 * step, unit, 0, total), ""]
        self.histograms.append({"title": title, "unit": unit, "rows": rows})

    def tail(self):
        self.histogram("IO Size Histogram", "KB", 4, "Frequency")
        for tier in range(3):
            self.histogram("Tier %d Latency Histogram" % tier, "us", 100, "Freq")
            self.lines += ["Tier %d Aggregate Stats:" % tier,
                           "\tNum IOs 55 Latency Mean 68us Max Latency 329us Latency SD 92us",
                           "\tReads 0 (0 KB) Writes 55 (674 KB)", ""]
        if self.odd:
            self.lines += ["Kextstat:", "Process: not one [7]", "  Thread 0x1    1 sample (1)", "    1  nothing + 1 (x + 1) [0x1]",
                           "", "Spindump binary format", "begin-base64 644 x", "AAAA====", "\todd \x01 line"]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--processes", type=int, default=4)
    p.add_argument("--threads", type=int)
    p.add_argument("--samples", type=int, default=341)
    p.add_argument("--depth", type=int, default=12)
    p.add_argument("--timeline", action="store_true")
    p.add_argument("--plain", action="store_true", help="without odd names and rare forms")
    p.add_argument("out")
    a = p.parse_args()
    report = Report(a.seed, a.processes, a.threads, a.timeline, not a.plain, a.samples, a.depth)
    with open(a.out, "w", encoding="utf-8", newline="\n") as f:
        f.write(report.text)


if __name__ == "__main__":
    main()

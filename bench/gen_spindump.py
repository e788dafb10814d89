#!/usr/bin/env python3
"""A spindump report of typical shape: most threads wait in one stack of shared libraries; a few run in trees.

    gen_spindump.py --processes 1000 --threads 6000 --seed 1 OUT      (about 9 MB)
"""
import argparse
import random

HEADER = """Date/Time:        2026-02-02 23:22:34.999 -0800
End time:         2026-02-02 23:22:38.396 -0800
OS Version:       macOS 26.2 (Build 25C56)
Architecture:     arm64e
Report Version:   67

Data Source:      KPerf Lightweight PET
Duration:         3.41s
Steps:            341 (10ms sampling interval)

Hardware model:   Mac16,5
Active cpus:      16

------------------------------------------------------------
Heavy format: stacks are sorted by count
------------------------------------------------------------

"""
WORDS = "run wait dispatch queue loop source timer event handle post send receive lock read write load copy draw".split()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--processes", type=int, default=1000)
    p.add_argument("--threads", type=int, default=6000)
    p.add_argument("out")
    a = p.parse_args()
    rng = random.Random(a.seed)
    uuid = lambda: "-".join("%0*X" % (n, rng.getrandbits(4 * n)) for n in (8, 4, 4, 4, 12))
    libs = [("lib%s%d.dylib" % (rng.choice(WORDS), i), 0x190000000 + 0x1000000 * i, uuid()) for i in range(120)]
    lines = ["           0x%x -        0x%x  %s (%d)  <%s>  /usr/lib/%s" % (b, b + 0xFFFFF, n, i + 100, u, n)
             for i, (n, b, u) in enumerate(libs)]
    kernel = "   *0xfffffe0008860000 - 0xfffffe00091cffff  kernel.release.t6041 (12377.61.12)  <%s>__TEXT_EXEC  " \
        "/System/Library/Kernels/kernel.release.t6041" % uuid()
    symbol = lambda: "%s_%s_%s" % (rng.choice(WORDS), rng.choice(WORDS), rng.choice(WORDS))

    def shared():
        name, base, _ = rng.choice(libs[:20])
        off = rng.randrange(0x100000)
        return "%s + %d (%s + %d) [0x%x]" % (symbol(), rng.randrange(900), name, off, base + off)

    def in_kernel():
        off = rng.randrange(0x900000)
        return "??? (kernel.release.t6041 + %d) [0x%x]" % (off, 0xfffffe0008860000 + off)

    # 300 ways to wait, and a pool of frames for what runs.
    waits = [[shared() for _ in range(rng.randrange(3, 9))] + [in_kernel() for _ in range(rng.randrange(1, 4))]
             for _ in range(300)]
    pool = [shared() for _ in range(4000)]
    with open(a.out, "w", encoding="utf-8", newline="\n") as out:
        out.write(HEADER)
        tid = 0x3FD000
        for i in range(a.processes):
            name, base = "process%d" % i, 0x100000000 + rng.randrange(1 << 14) * 0x4000
            own = ["??? (%s + %d) [0x%x]" % (name, o, base + o) for o in (rng.randrange(0x100000) for _ in range(12))]
            rows = ["Process:          %s [%d]" % (name, 100 + i), "UUID:             " + uuid(),
                    "Path:             /System/Library/PrivateFrameworks/%s.framework/Support/%s" % (name, name),
                    "Architecture:     arm64e", "Parent:           launchd [1]", "Footprint:        %d KB" % rng.randrange(9999),
                    "Time Since Fork:  276300s", "Num samples:      341 (1-341)",
                    "CPU Time:         0.0%02ds (3.3M cycles, 16M instructions, 0.21c/i)" % rng.randrange(100), ""]
            for t in range(a.threads // a.processes):
                tid += rng.randrange(1, 90)
                main_thread = t == 0
                rows.append("  Thread 0x%x    %s341 samples (1-341)    priority 31 (base 31)%s" % (
                    tid, 'DispatchQueue "com.apple.main-thread"(1)    ' if main_thread else "",
                    "    cpu time 0.001s (3.2M cycles, 15.4M instructions, 0.21c/i)" if main_thread else ""))
                stack = (own[:rng.randrange(1, 4)] if rng.random() < 0.5 else []) + rng.choice(waits)
                column, count = 4, 341
                for level, text in enumerate(stack):
                    if main_thread and level == 3 and rng.random() < 0.3:  # it also ran
                        n = rng.randrange(1, 60)
                        busy = rng.sample(pool, rng.randrange(4, 14))
                        late = ["%s%-3d  %s" % (" " * (column + 2 * k), n, b) for k, b in enumerate(busy)]
                        late[-1] += " (running, p-core)"
                        count -= n
                    else:
                        late = []
                    star = "kernel.rel" in text
                    rows.append("%s%s%-3d  %s" % (" " * (column - star), "*" * star, count, text))
                    if late:
                        tail = late
                    column += 2
                if main_thread and count < 341:
                    rows += tail
                rows.append("")
            rows.append("  Binary Images:")
            rows.append("           0x%x -        0x%x  %s (1)  <%s>  /System/Library/PrivateFrameworks/%s" % (
                base, base + 0xFFFFF, name, uuid(), name))
            rows += [l for i, l in enumerate(lines) if i < 20 or rng.random() < 0.04]
            rows += [kernel, "", ""]
            out.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()

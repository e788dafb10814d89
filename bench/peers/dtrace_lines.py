#!/usr/bin/env python3
"""DTrace's aggregated stacks line by line, as stackcollapse.pl does it: one line a stack. dtrace_lines.py FILE"""
import collections
import sys


def main():
    counts, stack = collections.Counter(), []
    with open(sys.argv[1], encoding="utf-8", errors="replace") as lines:
        for line in lines:
            line = line.strip()
            if line.isdigit():
                counts[";".join(reversed(stack))] += int(line)
                stack = []
            elif line:
                stack.append(line.rsplit("+0x", 1)[0])
    for stack, count in sorted(counts.items()):
        print(stack, count)


main()

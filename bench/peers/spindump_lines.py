#!/usr/bin/env python3
"""A spindump report line by line: the functions with most samples of their own, and below them. spindump_lines.py FILE"""
import collections
import re
import sys

ROW = re.compile(r"^( *)(\*?)(\d+) +(.*)$")
FRAME = re.compile(r"^(.*?)(?: \+ \d+)? \((.*?)(?: \+ \d+)?\) \[0x[0-9a-f]+\]")


class Thread:
    """The tree of a thread as it comes: what a node has more than its children is its own."""

    def __init__(self, own, below):
        self.own, self.below, self.open, self.inside = own, below, [], collections.Counter()

    def close(self, column):
        while self.open and self.open[-1][0] >= column:
            _, count, of_children, function = self.open.pop()
            self.own[function] += count - of_children
            self.inside[function] -= 1
            if not self.inside[function]:  # recursion counts once
                self.below[function] += count

    def add(self, column, count, function):
        self.close(column)
        if self.open:
            self.open[-1][2] += count
        self.open.append([column, count, 0, function])
        self.inside[function] += 1


def main():
    own, below = collections.Counter(), collections.Counter()
    thread = None
    with open(sys.argv[1], encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("  Thread 0x"):
                if thread:
                    thread.close(-1)
                thread = Thread(own, below)
            elif thread and (row := ROW.match(line)):
                frame = FRAME.match(row[4])
                thread.add(len(row[1]) + len(row[2]), int(row[3]), frame.group(1, 2) if frame else row[4])
            elif thread and not line.startswith("  "):
                thread.close(-1)
                thread = None
    if thread:
        thread.close(-1)
    for function, count in own.most_common(20):
        print(count, below[function], *function)


main()

#!/usr/bin/env python3
"""Lists what rules find in profiles, with what was judged of it: measure.py FILE|DIR… [--spaa BIN].

Findings are told apart by profile, rule and system call; judgments.tsv has one line for each that was looked at:
profile, rule, true or false, why. Prints a line for each finding, and at the end how many were true. Fails where
one was not judged yet, or where precision is below 0.95.
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST = 0.95


def judgments():
    out = {}
    with open(os.path.join(HERE, "judgments.tsv"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                profile, rule, verdict, why = line.rstrip("\n").split("\t", 3)
                out[profile, rule] = (verdict == "true", why)
    return out


def files(paths):
    for p in paths:
        if not os.path.isdir(p):
            yield p
            continue
        for name in sorted(os.listdir(p)):
            if name.endswith((".perf.data", ".perf.data.zst")):
                yield os.path.join(p, name)


def name_of(path):
    return os.path.basename(path).replace(".perf.data", "").replace(".zst", "")


def findings(spaa, path):
    """(rule, finding) of each rule; None: the file has no weights that add up, or cannot be read."""
    done = subprocess.run([spaa, "summary", "--json", path], capture_output=True, check=False)
    if done.returncode:
        return None
    found = [f for f in json.loads(done.stdout)["findings"] if f.get("remedy")]
    return [(f["id"] + (":" + f["syscall"] if f.get("syscall") else ""), f) for f in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--spaa", default=os.environ.get("SPAA_BIN", "spaa"))
    args = parser.parse_args()
    judged, counts, profiles = judgments(), {True: 0, False: 0, None: 0}, 0
    for path in files(args.paths):
        found = findings(args.spaa, path)
        if found is None:
            print("%s: left out" % path, file=sys.stderr)
            continue
        profiles += 1
        for rule, f in found:
            verdict, why = judged.get((name_of(path), rule), (None, "not judged"))
            counts[verdict] += 1
            way = " > ".join(s["function"][:60] for s in f.get("way", []))
            print("\t".join([name_of(path), rule, f["title"], "%s %%" % f["percent"], str(f.get("beneath") or ""), way, f["remedy"],
                             {True: "true", False: "FALSE", None: "?"}[verdict], why]))
    all_judged = counts[True] + counts[False]
    print("%d profiles, %d findings: %d true, %d false, %d not judged; precision %s" % (
        profiles, sum(counts.values()), counts[True], counts[False], counts[None],
        "%.3f" % (counts[True] / all_judged) if all_judged else "unknown"), file=sys.stderr)
    return 1 if counts[None] or (all_judged and counts[True] < LEAST * all_judged) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes docs/validation.md from the table of codes, the table of fields and the conformance suite.

    tools/gen_validation_docs.py            # writes the page
    tools/gen_validation_docs.py --check    # exit 1 when the page is not what would be written
"""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "validation.md")
SUITE = os.path.join(ROOT, "tests", "conformance")
SEVERITY = {"E": "error", "W": "warning", "I": "info"}
STRING = r'"((?:[^"\\]|\\.)*)"'

INTRO = """\
# Validation

<!-- Written by tools/gen_validation_docs.py. -->

`spaa validate FILE|DIR…` checks every rule of the SPAA 1.0 specification, and the readings of it that this project
settled. One pass finds everything: no finding hides another, and a line that cannot be read does not stop the
next. The exit code is 0 for valid files, 1 for invalid ones, 3 when a file cannot be read; `--strict` makes
warnings count. `--json` gives the findings as

    {"schema":"spaa.validate/1","valid":…,"errors":…,"warnings":…,"findings":[{"code","severity","line","offset","path","message","hint"},…]}

`line` counts from 1, `offset` is the byte in the decompressed file, `path` the field (`weights[1].metric`), null
when the line as a whole is meant. Findings come by line. Of each code ten are shown for a file; the numbers count all.

Several files and folders give one answer, with the worst exit code. In a folder, and in folders in it down to 64
levels, every file is checked that looks like a format with a validator or has its extension, in the order of the
names; others are passed over and counted (SPAA-I627). Links to folders are not followed.

Errors make a file invalid. Warnings are about what the specification asks for without insisting, and about what
is likely a mistake. Notes (info) change nothing.

How far it goes:

- Ids are compared as decoded text: the number 42 is the string "42", and 1.0 is not 1.
- Records may refer to stacks that come later, and to dictionary records only after their definition. An id that
  never comes is one finding, at its first use, with the number of uses.
- Where there is no usable header, what depends on it is not judged: events, primary metrics, the leaf.
- The order of inlined frames is judged by the frames that are defined before the stack.
- Numbers are compared exactly, whatever their length.
- Weights may be negative (SPAA-W210 is not said) where they are differences: in windows, which say what changed, and in
  stacks of the source tools pprof (delta profiles), folded, dtrace and bpftrace (sums).
- Memory grows with ids, not with samples: about 45 bytes for each DSO, frame, thread, stack and window, and for
  each pair of linked stacks. Past 16 million ids of one kind, 256 metrics (readers leave out what names further ones),
  a line of 256 MiB, a nesting of 131,072 levels, a million keys in the objects of a line, or a million frames in a
  stack, the report says that it is incomplete (SPAA-E007), and the exit code is 3.
- A file cannot show whether a build id was available, how a stack id was hashed, or whether a derivation is valid:
  that is not judged.

The examples below are files of `tests/conformance`: a suite that any implementation can use. Its `manifest.json`
lists every file with the codes, lines and paths to be found.

## Fields

A field that must be there and is not is SPAA-E109, a value of another type SPAA-E110, a value that is not in its list
SPAA-E111. An id is a number or a string. Unknown keys are fine everywhere but in contexts (SPAA-W202).
"""


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def codes():
    """(code, title, hint) of what concerns SPAA files, in the order of the table."""
    text = read("src", "base", "diag.def")
    for code, title, hint in re.findall(r"SPAA_DIAG\((\w+),\s*\w+,\s*%s,\s*%s\)" % (STRING, STRING), text):
        if re.fullmatch(r"E1\d\d|W2\d\d|I23\d", code):
            yield code, *(s.replace('\\"', '"').replace("\\\\", "\\") for s in (title, hint))


def enumerations():
    """The names in the lists that fields.def mentions."""
    lists = {}
    for path in (("src", "model", "vocab.c"), ("src", "formats", "spaa", "decode.c")):
        for name, body in re.findall(r"const char \*const (\w+)\[\] = \{(.*?)\};", read(*path), re.S):
            lists[name] = re.findall(r'"([^"]*)"', body)
    return lists


def fields():
    lists = enumerations()
    text = read("src", "formats", "spaa", "fields.def")
    where = dict(re.findall(r'^SP_TABLE\((\w+), "([^"]*)"', text, re.M))
    plain = {"STRING": "string", "NUMBER": "number", "BOOL": "true or false", "ID": "id", "IDS": "list of ids"}
    rows = ["| in | field | | type |", "|---|---|---|---|"]
    for table, name, need, kind in re.findall(r"^SP_FIELD\((\w+), (\w+), (\w+), (\w+(?:\(\w+\))?), \w+\)", text, re.M):
        of = re.fullmatch(r"(\w+)\((\w+)\)", kind)
        if not of:
            kind = plain[kind]
        elif of[1] == "ENUM":
            kind = ", ".join("`%s`" % v for v in lists[of[2]])
        else:
            kind = "object" if of[1] == "OBJECT" else "list of objects"
        rows.append("| %s | `%s` | %s | %s |" % (where[table], name, "must" if need == "MUST" else "may", kind))
    return "\n".join(rows)


def shown(path):
    """The text of a file, with bytes that a page cannot hold as \\xNN."""
    with open(os.path.join(SUITE, path), "rb") as f:
        data = f.read()
    text = data.decode("utf-8", "backslashreplace")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda m: "\\x%02x" % ord(m[0]), text.replace("\t", "\\t"))


def smallest(code, manifest):
    """The smallest file that shows a code, rather one that shows nothing else."""
    def cost(entry):
        others = {f["code"] for f in entry["findings"]} - {"SPAA-" + code}
        return len(others), os.path.getsize(os.path.join(SUITE, entry["file"])), entry["file"]
    having = [e for e in manifest["files"] if any(f["code"] == "SPAA-" + code for f in e["findings"])]
    return min(having, key=cost) if having else None


def page():
    manifest = json.loads(read("tests", "conformance", "manifest.json"))
    parts = [INTRO, fields(), "\n\n## Codes\n"]
    for code, title, hint in codes():
        parts.append("\n### SPAA-%s: %s\n\n" % (code, title))
        entry = smallest(code, manifest)
        severity = SEVERITY[code[0]].capitalize()
        if entry is None:
            parts.append("%s. Not of `spaa validate`: the other commands say so when they read such a file.%s\n" % (
                severity, " Hint: %s." % hint if hint else ""))
            continue
        parts.append("%s; section %s of the specification.%s\n\n" % (
            severity, entry["rule"], " Hint: %s." % hint if hint else ""))
        lines = [f["line"] for f in entry["findings"] if f["code"] == "SPAA-" + code]
        parts.append("%s Line %d of `%s`:\n\n```\n%s\n```\n" % (
            entry["about"], lines[0], entry["file"], shown(entry["file"]).rstrip("\n")))
        more = [e["file"] for e in manifest["files"] if e is not entry and
                any(f["code"] == "SPAA-" + code for f in e["findings"])]
        if more:
            parts.append("\nAlso: %s.\n" % ", ".join("`%s`" % f for f in more))
    return "".join(parts)


def main():
    text = page()
    if sys.argv[1:] == ["--check"]:
        with open(PAGE, encoding="utf-8") as f:
            if f.read() == text:
                return 0
        print("docs/validation.md is out of date: run tools/gen_validation_docs.py", file=sys.stderr)
        return 1
    os.makedirs(os.path.dirname(PAGE), exist_ok=True)
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Turns text files into C arrays: embed.py OUT.c HEADER NAME=FILE[,FILE...]...

Full-line // comments, /* comments */ that fill whole lines, indentation and empty lines are left out,
so the sources must not depend on them (no multi-line strings).
"""
import re
import sys


def slim(text):
    text = re.sub(r"(?m)^[ \t]*/\*.*?\*/[ \t]*\n", "", text, flags=re.S)
    lines = (line.strip() for line in text.split("\n"))
    return "".join(line + "\n" for line in lines if line and not line.startswith("//"))


def main():
    out, header = sys.argv[1:3]
    parts = [f'#include "{header}"\n']
    for arg in sys.argv[3:]:
        name, paths = arg.split("=", 1)
        data = b""
        for path in paths.split(","):
            with open(path, encoding="utf-8") as f:
                data += slim(f.read()).encode("utf-8")
        numbers = [str(b) if b < 128 else f"'\\x{b:02x}'" for b in data]  # char may be signed
        body = ",\n".join("    " + ",".join(numbers[i:i + 24]) for i in range(0, len(numbers), 24))
        parts.append(f"\nconst char {name}[] = {{\n{body}\n}};\n"
                     f"const size_t {name}_n = sizeof {name};\n")
    with open(out, "w", encoding="ascii") as f:
        f.write("".join(parts))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Turns text files into C arrays.

    embed.py OUT.c HEADER NAME[+PART]=FILE[,FILE...]...  an array for each NAME, and NAME_n
    embed.py --texts OUT.c HEADER TABLE ROOT FILE...     a struct sp_guide_text TABLE[] of files beneath ROOT, as they are
    embed.py --files OUT.c HEADER TABLE ROOT FILE...     the same as a struct sp_demo_file TABLE[], of any bytes

Of the first kind full-line // comments, /* comments */ that fill whole lines, indentation and empty lines are left
out, so the sources must not depend on them (no multi-line strings). So is what stands between the lines `//#PART` and
`//#` (in CSS `/*#PART*/` and `/*#*/`), but from arrays that name that PART.
"""
import os
import re
import sys


def parted(text, part):
    def choose(found):
        return found[2] if found[1] == part else ""
    text = re.sub(r"(?ms)^[ \t]*//#(\w+)\n(.*?)^[ \t]*//#\n", choose, text)
    return re.sub(r"(?ms)^[ \t]*/\*#(\w+)\*/\n(.*?)^[ \t]*/\*#\*/\n", choose, text)


def slim(text):
    text = re.sub(r"(?m)^[ \t]*/\*.*?\*/[ \t]*\n", "", text, flags=re.S)
    lines = (line.strip() for line in text.split("\n"))
    return "".join(line + "\n" for line in lines if line and not line.startswith("//"))


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def array(name, data):
    numbers = [str(b) if b < 128 else f"'\\x{b:02x}'" for b in data]  # char may be signed
    body = ",\n".join("    " + ",".join(numbers[i:i + 24]) for i in range(0, len(numbers), 24))
    return f"const char {name}[] = {{\n{body}\n}};\n"


def assets(arguments):
    for arg in arguments:
        name, paths = arg.split("=", 1)
        name, _, part = name.partition("+")
        data = "".join(slim(parted(read(path), part)) for path in paths.split(",")).encode("utf-8")
        yield "\n" + array(name, data) + f"const size_t {name}_n = sizeof {name};\n"


def title(text):
    """The first heading, or of SQL the first comment."""
    return re.search(r"(?m)^(?:#|--) (.*?)[.:]?$", text)[1]


def beneath(root, path):
    name = os.path.relpath(path, root).replace(os.sep, "/")
    assert '"' not in name and "\\" not in name, path
    return name


def texts(table, root, paths):
    rows = []
    for i, path in enumerate(paths):
        text = read(path)
        yield "\nstatic " + array(f"{table}_{i}", text.encode("utf-8") + b"\0")
        assert '"' not in title(text) and "\\" not in title(text), path
        rows.append(f'    {{"{beneath(root, path)}", "{title(text)}", {table}_{i}, sizeof {table}_{i} - 1}},\n')
    yield f"\nconst struct sp_guide_text {table}[] = {{\n{''.join(rows)}    {{0}},\n}};\n"


def files(table, root, paths):
    rows = []
    for i, path in enumerate(paths):
        with open(path, "rb") as f:
            yield "\nstatic " + array(f"{table}_{i}", f.read())
        rows.append(f'    {{"{beneath(root, path)}", {table}_{i}, sizeof {table}_{i}}},\n')
    yield f"\nconst struct sp_demo_file {table}[] = {{\n{''.join(rows)}    {{0}},\n}};\n"


def main():
    whole = {"--texts": texts, "--files": files}.get(sys.argv[1])
    out, header, *rest = sys.argv[2 if whole else 1:]
    parts = whole(rest[0], rest[1], rest[2:]) if whole else assets(rest)
    with open(out, "w", encoding="utf-8") as f:
        f.write(f'#include "{header}"\n' + "".join(parts))


if __name__ == "__main__":
    main()

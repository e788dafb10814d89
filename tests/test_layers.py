"""Holds the layers of the sources apart: who may include whom, and that no layer is left out."""

import importlib.machinery
import importlib.util
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A layer may include itself, what is named here, and the public headers. Formats are layers of
# their own (formats/NAME): they share formats/*.h and formats/common, and never include each other.
BASE = {"base"}
IO = BASE | {"io"}
MODEL = IO | {"json", "proto", "model"}
FORMATS = MODEL | {"dwarf", "pdb", "symbols", "unwind", "formats"}
VIEWS = MODEL | {"analysis"}
ABOVE = FORMATS | VIEWS | {"answer", "ask", "render", "sql", "record", "remote"}
MAY_INCLUDE = {
    "base": BASE,
    "io": IO,
    "json": IO,
    "proto": IO,
    "model": MODEL,
    "dwarf": IO,  # bytes to tables: knows no profile
    "pdb": IO,  # the same
    "symbols": MODEL | {"dwarf", "pdb"},
    "unwind": MODEL | {"dwarf", "symbols"},
    "formats": FORMATS,
    "analysis": VIEWS | {"symbols"},
    "answer": MODEL | {"answer"},
    "ask": FORMATS | VIEWS | {"answer", "ask"},
    "render": VIEWS | {"answer"},
    "sql": VIEWS | {"answer", "ask"},
    "record": FORMATS,
    "remote": FORMATS,
    "run": (ABOVE | {"run", "guide"}) - {"remote"},  # libspaa uploads nothing
    "api": (ABOVE | {"run"}) - {"remote"},
    "guide": BASE,  # texts for agents, embedded
    "mcp": IO | {"json", "guide"},  # a user of the library, as the command line is
    "cli": ABOVE | {"run", "api", "guide", "mcp"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def sources():
    for top in ("src", "cli"):
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def layer_of(path):
    """"src/formats/spaa/reader.c" -> ("formats", "spaa"); "cli/main.c" -> ("cli", ""). What formats have in common
    is nobody's inside."""
    parts = path.split(os.sep)
    if parts[0] == "cli":
        return "cli", ""
    layer = parts[1] if len(parts) > 2 else ""
    return layer, parts[2] if layer == "formats" and len(parts) > 3 and parts[2] != "common" else ""


def resolved(path, included):
    """The file that an #include "..." of ours names, from the root; None if it is none of ours."""
    beside = os.path.join(os.path.dirname(path), included)
    for at in (beside, os.path.join("src", included), included, os.path.join("include", included)):
        if os.path.exists(os.path.join(ROOT, at)):
            return os.path.normpath(at)
    return None


def violations():
    for path in sources():
        layer, own = layer_of(path)
        if not layer:
            yield f"{path}: not in a layer"
            continue
        if layer not in MAY_INCLUDE:
            yield f"{path}: unknown layer {layer}: add it to MAY_INCLUDE"
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        for included in INCLUDE.findall(text):
            target = resolved(path, included)
            if target is None:
                if not included.startswith(("spaa/",)) and "generated" not in included:
                    yield f'{path}: "{included}" is nowhere'
                continue
            if target.startswith("include" + os.sep):
                continue
            their, theirs = layer_of(target)
            if their not in MAY_INCLUDE[layer] | {layer}:
                yield f"{path}: {layer} must not include {target}"
            elif theirs and (layer != "formats" or theirs != own):
                yield f"{path}: the inside of a format is its own: {target}"


def test_layers_point_one_way():
    assert not list(violations())


# Facts are typed tables of the model (model/facts.h): above it nobody takes JSON apart. Writing JSON is something else.
TAKES_APART = re.compile(r'"json/(?:find|unique)\.h"|\bsp_json_(?:init|reset|find\w*|next|object|array|key|item|skip|text_to|'
                         r'type|string_value|number|u64|bool)\s*\(')
SEARCHES = re.compile(r"\bmem(?:mem|chr)\s*\(|\bstrstr\s*\(")
READS_JSON = {}  # may only get shorter: {path: why}


def readers_of_json():
    for path in sources():
        if not path.startswith(("src/analysis/", "src/symbols/", "src/render/")):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        # A file that looks at extra_json and searches texts is taken to do both with one.
        searched = [n for n in re.findall(r"(\w+)\s*=\s*[\w ]*\([^;]*extra_json\)", text)
                    if re.search(SEARCHES.pattern + r"\s*%s\." % n, text)]
        if TAKES_APART.search(text) or searched:
            yield path


def test_facts_are_not_searched_for_in_json():
    found = set(readers_of_json())
    assert not found - set(READS_JSON), "read the tables of the profile: model/facts.h"
    assert not set(READS_JSON) - found, "take these out of READS_JSON"


def test_only_public_headers_include_public_headers():
    wrong = []
    for folder, _, names in os.walk(os.path.join(ROOT, "include")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as f:
                wrong += [f"{name}: {i}" for i in INCLUDE.findall(f.read()) if not i.startswith("spaa/")]
    assert not wrong


def inside_of_cli():
    """What files of cli/ include that is neither theirs, nor of the public interface, nor of src/mcp, which is the program's
    as cli/ is, and no part of the library: "FILE HEADER" each."""
    for path in sources():
        if layer_of(path)[0] == "cli":
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                for included in INCLUDE.findall(f.read()):
                    target = resolved(path, included)
                    if target and not target.startswith(("cli" + os.sep, "include" + os.sep, "src/mcp/")):
                        yield f"{path} {included}"


def test_the_command_line_uses_the_library_as_programs_do():
    """But for what tests/cli_inside.txt lists, which may only shrink."""
    with open(os.path.join(ROOT, "tests", "cli_inside.txt"), encoding="utf-8") as f:
        allowed = [line.strip() for line in f if not line.startswith("#")]
    there = set(inside_of_cli())
    assert allowed == sorted(set(allowed)), "sorted, each once"
    assert not there - set(allowed), "use include/spaa, or what another file of cli/ has"
    assert not set(allowed) - there, "gone: remove these lines"


def test_no_files_use_each_other_in_a_circle():
    path = os.path.join(ROOT, "tools", "circles")
    loader = importlib.machinery.SourceFileLoader("circles", path)
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("circles", loader))
    loader.exec_module(tool)
    found, tied = tool.circles(os.path.dirname(os.path.abspath(os.environ["SPAA_BIN"])))
    assert tied, "no objects beside SPAA_BIN"
    assert not found, f"{path} build shows what ties them"


def test_names_of_files_are_plain():
    """What a test or a mistaken output left in the tree is not committed."""
    for at, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in (".git", "site", "dist", "out", "__pycache__") and not f.startswith("build")]
        for name in files:
            assert re.fullmatch(r"[\w.+@,=-]+", name, re.ASCII) and name[0] != "-", os.path.join(at, name)

"""Whole trees of deep stacks that share long beginnings, against a plain count of their prefixes."""
import csv
import io
import random
import re

import pytest

import profiles
from conftest import ask, run

WHOLE = ("--min-percent", 0, "-n", 0)


def frame(r, some):
    """One of few functions, at one of its addresses, the last of which is of another kind."""
    function, at = r.randrange(some), r.randrange(4)
    return {"func": f"fn{function}", "ip": hex(0x1000 + 64 * function + at), "symoff": hex(at),
            "kind": "unknown" if at == 3 else "user"}


def deep_stacks(seed, count=300):
    """Frames from the root, as trunks that grow out of each other; some go on from nothing or are a trunk's part."""
    r = random.Random(seed)
    trunks, stacks = [[]], []
    while len(stacks) < count:
        have = r.choice(trunks)
        frames = have[:r.randint(0, len(have))] + [frame(r, r.choice((3, 40))) for _ in range(r.choice((1, 3, 9, 40)))]
        if len(frames) <= 120:
            trunks.append(frames)
            stacks.append((frames, r.choice((1, 7, 10 ** 12))))
    return stacks


def plain_tree(stacks, inverted):
    """Path of names -> [self, total, kind], as they are met."""
    tree = {(): [0, 0, None]}
    for frames, weight in stacks:
        steps = frames[::-1] if inverted else frames
        for n in range(len(steps) + 1):
            node = tree.setdefault(tuple(f["func"] for f in steps[:n]), [0, 0, steps[n - 1]["kind"] if n else None])
            node[1] += weight
        tree[tuple(f["func"] for f in steps)][0] += weight
    return tree


def paths_of(nodes):
    paths = {}
    for n in nodes:
        paths[n["id"]] = () if n["parent"] is None else paths[n["parent"]] + (n["name"],)
        assert n["depth"] == len(paths[n["id"]])
    return list(paths.values())


@pytest.mark.parametrize("inverted", [[], ["--inverted"]], ids=["down", "inverted"])
@pytest.mark.parametrize("seed", range(4))
def test_whole_trees(tmp_path, seed, inverted):
    stacks = deep_stacks(seed)
    path = tmp_path / "deep.spaa"
    path.write_text(profiles.text([(frames[::-1], weight) for frames, weight in stacks]))
    nodes = ask("tree", path, *WHOLE, *inverted)["nodes"]
    paths, tree = paths_of(nodes), plain_tree(stacks, bool(inverted))
    assert {p: [n["self"], n["total"], n.get("kind")] for p, n in zip(paths, nodes)} == tree
    children = {}
    for p, n in zip(paths[1:], nodes[1:]):
        children.setdefault(p[:-1], []).append((-n["total"], n["name"].encode()))
    assert all(c == sorted(c) for c in children.values())
    assert nodes == ask("tree", path, "--min-percent", 0, "-n", len(nodes), *inverted)["nodes"]

    rows = list(csv.reader(io.StringIO(run("tree", path, *WHOLE, *inverted, "--format", "csv", code=0).out)))[1:]
    assert [(row[3], int(row[2]), int(row[5])) for row in rows] == [(p[-1], tree[p][1], len(p)) for p in paths[1:]]


def test_names_longer_than_a_piece_of_output(tmp_path):
    path = tmp_path / "long.folded"
    names = ["x" * n for n in (900, 2047, 2048, 2049, 9000, 70000)]
    path.write_text("".join(f"main;{n};{n};leaf 3\n" for n in names))
    nodes = ask("tree", path, *WHOLE)["nodes"]
    assert sorted({n["name"] for n in nodes}) == sorted(["all", "leaf", "main", *names])
    assert len(nodes) == 2 + 3 * len(names)
    csv.field_size_limit(1 << 20)
    rows = list(csv.reader(io.StringIO(run("tree", path, *WHOLE, "--format", "csv", code=0).out)))[1:]
    assert [row[3].strip() for row in rows] == [n["name"] for n in nodes[1:]]


def shown_rows(text, nodes):
    """What people see as the function, per row behind the titles."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if "function" in line) + 1
    if lines[first].startswith("|"):
        first += 1
    return lines[first:first + len(nodes)]


@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize("long", [0, 9], ids=["fit", "cut"])
def test_whole_trees_for_people_tell_functions_apart(tmp_path, form, long):
    """Rows that are written some at a time: of thousands, each function looks like no other one, alike everywhere."""
    r = random.Random(long)
    stacks = []
    for _ in range(400):
        n = [r.randrange(40) for _ in range(r.randint(1, 20))]
        stacks.append(([{"func": f"space{i // 2 % 3}::" + "middle_of_it::" * long + f"fn{i // 2}<int>(char)",
                         "dso": f"lib{i % 2}.so"} for i in n], r.choice((1, 7, 1000))))
    path = tmp_path / "alike.spaa"
    path.write_text(profiles.text(stacks))
    nodes = ask("tree", path, *WHOLE)["nodes"][1:]
    assert len(nodes) > 3000
    rows = shown_rows(run("tree", path, *WHOLE, "--format", form, code=0).out, nodes)
    assert len(rows) == len(nodes)
    looks = {}
    for row, node in zip(rows, nodes):
        total, name = re.match(r"[ |]*\S+%[ |]+\S+%[ |]+([\d,]+)[ |]{2,3}(.*)", row).groups()
        assert total == f"{node['total']:,}"
        looks.setdefault(name, set()).add(node["function"])
    assert all(len(functions) == 1 for functions in looks.values())
    assert any("f:" in name for name in looks) and (not long or form == "markdown" or any("…" in name for name in looks))

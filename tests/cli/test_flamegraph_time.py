"""flamegraph --time-order: what happened from left to right, each thread for itself. Recordings made by hand."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import ask, run
from test_flamegraph_browser import SVG

MAIN, F, G, H = "main", "f", "g", "h"


def sample(us, tid, *path, period=1000):
    """A sample as perf script prints it; path: from the root."""
    lines = [f"worker 100/{tid} [000] 7.{us:06}: {period} cpu-clock:"]
    lines += [f"\t{0x1000 + 16 * ord(f[0]):x} {f}+0x10 (/opt/app)" for f in reversed(path)]
    return "\n".join(lines) + "\n\n"


def placed(path):
    """(path of names, start, width) of each frame, in order, as the script places them (flamegraph_model.js)."""
    root = ElementTree.parse(path).getroot()
    data = json.loads(next(e.text for e in root.iter(SVG + "script") if e.get("id") == "sp-data"))
    v, p, open_, at, out = data["frames"], 0, [], [0] * 1000, []
    while p < len(v):
        up, label, code, total = v[p:p + 4]
        p += 4
        del open_[len(open_) - up:]
        gap = v[p] if code & 16 else 0
        p += bool(code & 16) + bool(code & 32) + bool(code & 64)
        d = len(open_)
        start = at[d] + gap if d else 0
        at[d], at[d + 1] = start + total, start
        open_.append(data["labels"][label])
        out.append(("/".join(open_[1:]), start, total))
    return out


def drawn(tmp_path, text, *options, code=0):
    path, out = tmp_path / "a.perf-script.txt", tmp_path / "a.svg"
    path.write_text(text)
    result = run("flamegraph", path, "--time-order", "-o", out, *options, code=code)
    return result if code else placed(out)


def test_a_frame_ends_where_a_sample_is_not_in_it_and_begins_again(tmp_path):
    text = "".join([sample(10, 1, MAIN, F), sample(20, 1, MAIN, F, G), sample(30, 1, MAIN), sample(40, 1, MAIN, F),
                    sample(50, 1, MAIN, H, period=500), sample(60, 1, H)])
    assert [(p.replace("worker (tid 1)", "t"), start, width) for p, start, width in drawn(tmp_path, text)] == [
        ("", 0, 5500), ("t", 0, 5500), ("t/main", 0, 4500), ("t/main/f", 0, 2000), ("t/main/f/g", 1000, 1000),
        ("t/main/f", 3000, 1000), ("t/main/h", 4000, 500), ("t/h", 4500, 1000)]


def test_threads_are_apart_whatever_their_names_the_heaviest_first(tmp_path):
    """Samples of 2 come between those of 1, and not in the order of time."""
    text = "".join([sample(40, 1, MAIN, F), sample(10, 1, MAIN, F), sample(20, 2, MAIN, G), sample(30, 2, MAIN, F, period=5000)])
    assert drawn(tmp_path, text) == [
        ("", 0, 8000), ("worker (tid 2)", 0, 6000), ("worker (tid 2)/main", 0, 6000), ("worker (tid 2)/main/g", 0, 1000),
        ("worker (tid 2)/main/f", 1000, 5000), ("worker (tid 1)", 6000, 2000), ("worker (tid 1)/main", 6000, 2000),
        ("worker (tid 1)/main/f", 6000, 2000)]


def test_filters_choose_what_is_drawn(tmp_path):
    text = "".join([sample(10, 1, MAIN, F), sample(20, 1, MAIN, G), sample(30, 1, MAIN, F)])
    frames = drawn(tmp_path, text, "--focus", "^f$")
    assert frames[0] == ("", 0, 2000) and len([p for p, _, _ in frames if p.endswith("/f")]) == 1
    assert drawn(tmp_path, text, "--time", "@7.000015..")[0] == ("", 0, 2000)


def test_sums_are_those_of_top(tmp_path, corpus):
    path = f"{corpus}/perf-data/made/fp.perf.data.zst"
    run("flamegraph", path, "--time-order", "-o", tmp_path / "a.svg", "--no-symbols", "--min-width", "0.001", code=0)
    frames = placed(tmp_path / "a.svg")
    top = ask("top", path, "-n", "0", "--no-symbols", "--by", "thread")
    threads = {p: w for p, _, w in frames if p and "/" not in p}
    assert frames[0][2] == top["whole"] and threads == {r["name"]: r["total"] for r in top["rows"]}


@pytest.mark.parametrize("option", [["--inverted"], ["--states"], ["--diff", "b.txt"], ["--base-where", "comm=a"]])
def test_what_does_not_go_with_it(tmp_path, option):
    assert "--time-order draws" in drawn(tmp_path, sample(10, 1, MAIN), *option, code=2).err


def test_without_samples_there_is_no_order(tmp_path):
    path = tmp_path / "a.folded"
    path.write_text("main;f 3\n")
    result = run("flamegraph", path, "--time-order", "-o", tmp_path / "a.svg")
    assert result.code == 2 and "SPAA-E600" in result.err and not (tmp_path / "a.svg").exists()

"""flamegraph --diff: two profiles in one picture, in the file and in a real browser."""

import json
import os
import xml.etree.ElementTree as ElementTree

import pytest

import profiles
from conftest import run
from test_flamegraph_browser import CHROMIUM, DRIVER, SVG, Browser

# base: main 100: parse 40, run 50 (old 10), idle 10;  new: main 200: parse 120, run 60 (fresh 20), idle 20
BASE = "main;parse 40\nmain;run 40\nmain;run;old 10\nmain;idle 10\n"
NEW = "main;parse 120\nmain;run 40\nmain;run;fresh 20\nmain;idle 20\n"


def frames_of(path):
    """{path of names: (sort, width, base, new, level)} as the script reads them (flamegraph_data.c)."""
    root = ElementTree.parse(path).getroot()
    data = json.loads(next(e.text for e in root.iter(SVG + "script") if e.get("id") == "sp-data"))
    assert data["diff"] is True
    v, p, open_, out = data["frames"], 0, [], {}
    while p < len(v):
        up, label, code, total = v[p:p + 4]
        p += 4 + bool(code & 16) + bool(code & 32) + bool(code & 64)
        del open_[len(open_) - up:]
        open_.append(data["labels"][label])
        out["/".join(open_[1:])] = ("rcuikjnghpbqwv"[code & 15], total, *v[p:p + 3])
        p += 3
    return out


def draw(folder, base, new, *args):
    a, b, out = folder / "base.folded", folder / "new.folded", folder / "diff.svg"
    a.write_text(base)
    b.write_text(new)
    run("flamegraph", b, "--diff", a, "-o", out, *args, code=0)
    return out


def test_weights_and_changes_of_every_path(tmp_path):
    frames = frames_of(draw(tmp_path, BASE, NEW))
    assert frames == {
        "": ("r", 220, 100, 200, 0), # the vanished frame keeps its width: 10 % of 200
        "main": ("q", 220, 100, 200, 0),
        "main/idle": ("q", 20, 10, 20, 0),
        "main/parse": ("p", 120, 40, 120, 3),   # 40 to 60 %
        "main/run": ("b", 80, 50, 60, 3),       # 50 to 30 %
        "main/run/fresh": ("w", 20, 0, 20, 0),
        "main/run/old": ("v", 20, 10, 0, 0),
    }


@pytest.mark.parametrize("old, new", [("shop", "shop_new"), ("app-1.4", "app-1.5"), ("a-program-of-a-long-name-1", "b")])
def test_a_renamed_program_is_no_new_one(old, new, tmp_path):
    """The thread is called as the program is, by its first 15 bytes."""
    files = []
    for dso in (old, new):
        stacks = [([{"func": f, "dso": "/bin/" + dso}, {"func": "main", "dso": "/bin/" + dso}], 10,
                   {"pid": 1, "tid": 1, "comm": dso[:15]}) for f in ("parse", "hash", "scan")]
        files.append(tmp_path / (dso + ".spaa"))
        files[-1].write_text(profiles.text(stacks))
    run("flamegraph", files[1], "--diff", files[0], "-o", tmp_path / "o.svg", code=0)
    frames = frames_of(tmp_path / "o.svg")
    assert len(frames) == 6 and {f[0] for f in frames.values()} <= {"r", "q", "c", "k"}
    assert all(f[2] == f[3] for f in frames.values())


@pytest.mark.parametrize("args", [[], ["--inverted"], ["--focus", "run"]], ids=lambda a: "".join(a) or "plain")
def test_two_equal_profiles_have_no_colours(args, tmp_path):
    frames = frames_of(draw(tmp_path, BASE, BASE, *args))
    assert {f[0] for f in frames.values()} == {"r", "q"} and len(frames) > 3
    assert all(f[2] == f[3] for f in frames.values())


def test_names_are_matched_without_what_builds_vary(tmp_path):
    a, b, out = tmp_path / "a.spaa", tmp_path / "b.spaa", tmp_path / "d.svg"
    a.write_text(profiles.text([(["f.isra.0", "main"], 10), (["f.part.1", "main"], 10), (["g", "main"], 20)]))
    b.write_text(profiles.text([(["f", "main"], 30), (["g", "main"], 10)]))
    run("flamegraph", b, "--diff", a, "-o", out, code=0)
    frames = frames_of(out)
    assert frames["main/f"] == ("p", 30, 20, 30, 3) and frames["main/g"] == ("b", 10, 20, 10, 4)
    assert set(frames) == {"", "main", "main/f", "main/g"}


def test_hostile_names_and_determinism(tmp_path):
    evil = "</script><b>\x1b[31m&"
    out = draw(tmp_path, BASE + "main;" + evil + " 30\n", NEW)
    first = out.read_bytes()
    assert frames_of(out)["main/</script><b>\\x1b[31m&"][0] == "v"
    assert draw(tmp_path, BASE + "main;" + evil + " 30\n", NEW).read_bytes() == first


def test_what_is_refused(tmp_path, folded):
    run("flamegraph", folded, "--diff", tmp_path / "missing", "-o", "-", code=3)
    peak = tmp_path / "p.spaa"
    peak.write_text(profiles.text([(["f"], {"period": 1, "peak_bytes": 5})]))
    run("flamegraph", peak, "--diff", folded, "--metric", "peak_bytes", "-o", "-", code=2)
    run("flamegraph", folded, "--diff", folded, "--comm", "nobody", "-o", "-", code=1)


@pytest.fixture(scope="module")
def browser():
    if not (os.path.exists(CHROMIUM) and os.path.exists(DRIVER)):
        pytest.skip("chromium and chromium-driver are not installed")
    b = Browser()
    yield b
    b.close()


def test_the_picture_in_a_browser(browser, tmp_path):
    browser.open(str(draw(tmp_path, BASE, NEW)))
    assert browser.errors() == []
    shown = {name: f[0] for name, f in browser.frames().items()}
    whole = shown["all"][2]
    for name, share in (("parse", 120 / 220), ("run", 80 / 220), ("fresh", 20 / 220), ("old", 20 / 220)):
        assert shown[name][2] == pytest.approx(whole * share, abs=2)
    classes = {name: f[3].split()[0] for name, f in shown.items()}
    assert classes == {"all": "r0", "main": "q0", "idle": "q0", "parse": "p3", "run": "b3", "fresh": "w0", "old": "v0"}
    assert all("d" in shown[name][3].split() for name in ("fresh", "old"))
    fills = browser.js("""return Object.fromEntries([...document.querySelectorAll('rect[data-i]')].map(
        e => [e.getAttribute('aria-label').split(', ')[0], getComputedStyle(e).fill]))""")
    red, blue = ([int(x) for x in fills[n][4:-1].split(",")] for n in ("parse", "run"))
    assert red[0] > red[2] + 60 and blue[2] > blue[0] + 60 and "sp-v0" in fills["old"]
    labels = browser.js("return [...document.querySelectorAll('rect[data-i]')].map(e => e.getAttribute('aria-label'))")
    assert any(x.startswith("parse, new 120 value (60.00%), base 40 value (40.00%), +20.00 points, grew") for x in labels)
    legend = browser.js("return document.querySelector('#sp-legend').textContent")
    for words in ("share grew", "share shrank", "about the same", "new", "vanished"):
        assert words in legend
    browser.js("""document.querySelector('rect[aria-label^="run,"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))""")
    zoomed = {name: f[0] for name, f in browser.frames().items()}
    assert zoomed["run"][2] == pytest.approx(whole, abs=2)
    assert "new 60 value (30.00%)" in browser.js("return document.querySelector('#sp-facts').textContent")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser, scheme, tmp_path):
    """All colours of the palette against the text on them."""
    browser.open(str(draw(tmp_path, BASE, NEW)))
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    colours = browser.js("""const svg = document.documentElement, out = {};
        for (const c of ['p1','p2','p3','p4','p5','b1','b2','b3','b4','b5','q0','w0','v0f','v0l']) {
            const e = document.createElementNS('http://www.w3.org/2000/svg', 'path');
            e.setAttribute('class', c);
            svg.appendChild(e);
            out[c] = getComputedStyle(e).fill;
        }
        out.text = getComputedStyle(document.querySelector('#sp-frames text')).fill;
        return out""")
    browser.cdp("Emulation.setEmulatedMedia", features=[])

    def luminance(colour):
        c = [int(x) / 255 for x in colour[4:-1].split(",")]
        c = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in c]
        return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
    text = luminance(colours.pop("text"))
    for name, fill in colours.items():
        a, b = sorted((luminance(fill), text), reverse=True)
        assert (a + 0.05) / (b + 0.05) >= 4.5, (name, fill)

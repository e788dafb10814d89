"""Flame graphs in a real browser: Debian's chromium, driven over plain WebDriver by chromedriver."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPAA = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--window-size=1200,900"]
ENTER, ESCAPE, TAB, CONTROL = "\ue007", "\ue00c", "\ue004", "\ue009"
LEFT, UP, RIGHT, DOWN, BACKSPACE = "\ue012", "\ue013", "\ue014", "\ue015", "\ue003"
SVG = "{http://www.w3.org/2000/svg}"

pytestmark = pytest.mark.skipif(not (os.path.exists(CHROMIUM) and os.path.exists(DRIVER)),
                                reason="chromium and chromium-driver are not installed")

# main 100: parse 50 (read_file 30, tokenize 20), run 50 (compute 40 (multiply 25), read_file 10)
FOLDED = """main;parse;read_file 30
main;parse;tokenize 20
main;run;compute;multiply 25
main;run;compute 15
main;run;read_file 10
"""


class Browser:
    """One session of chromedriver."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True)
        port = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = found.group(1)
                break
        assert port, "chromedriver did not start"
        self.base, self.session = f"http://127.0.0.1:{port}", ""
        options = {"binary": CHROMIUM, "args": FLAGS + [f"--user-data-dir={self.folder}"]}
        answer = self.request("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + self.session + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(e.read().decode()) from None

    def close(self):
        try:
            self.request("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, path, fragment=""):
        self.request("POST", "/url", {"url": "about:blank"})
        self.request("POST", "/url", {"url": "file://" + urllib.parse.quote(path) + fragment})

    def js(self, code, *args):
        return self.request("POST", "/execute/sync", {"script": code, "args": list(args)})

    def cdp(self, command, **params):
        return self.request("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def errors(self):
        return [e["message"] for e in self.request("POST", "/se/log", {"type": "browser"})
                if e["level"] in ("SEVERE", "WARNING")]

    def keys(self, *keys, held=None):
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        if held:
            actions = [{"type": "keyDown", "value": held}] + actions + [{"type": "keyUp", "value": held}]
        self.request("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def pointer(self, x, y, click):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.request("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def png(self):
        return base64.b64decode(self.request("GET", "/screenshot"))

    # What a flame graph shows.
    def frames(self):
        """{name: [(x, y, width, class)...]} of the frames that have elements, by the window."""
        rows = self.js("""return [...document.querySelectorAll('rect[data-i]')].map(e => {
            const b = e.getBoundingClientRect();
            return [e.getAttribute('aria-label'), b.x, b.y, b.width, e.getAttribute('class')]; })""")
        out = {}
        for label, x, y, width, style in rows:
            out.setdefault(label.split(", ")[0], []).append((x, y, width, style))
        return out

    def at(self, name, click=False, nth=0):
        x, y, width, _ = self.frames()[name][nth]
        self.pointer(x + min(width / 2, 200), y + 8, click)

    def text(self, which):
        return self.js("return document.querySelector('#sp-' + arguments[0]).textContent", which)

    def focused(self):
        label = self.js("return document.activeElement.getAttribute('aria-label')")
        return label and label.split(", ")[0]


@pytest.fixture(scope="module")
def shared_browser():
    b = Browser()
    yield b
    b.close()


@pytest.fixture
def browser(shared_browser):
    yield shared_browser
    shared_browser.cdp("Emulation.setEmulatedMedia", features=[])
    shared_browser.cdp("Emulation.clearDeviceMetricsOverride")
    assert shared_browser.errors() == []


def make(folder, folded, *args):
    source, out = folder / "in.folded", folder / "out.svg"
    source.write_bytes(folded if isinstance(folded, bytes) else folded.encode())
    command = [SPAA, "flamegraph", str(source), "-o", str(out), *args]
    run = subprocess.run(command, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    return str(out)


@pytest.fixture
def small(browser, tmp_path):
    path = make(tmp_path, FOLDED, "--title", "A small graph")
    browser.open(path)
    return browser


def widest(browser):
    return max(f[2] for frames in browser.frames().values() for f in frames)


def test_is_one_valid_file_without_the_network(small, tmp_path):
    root = ElementTree.parse(tmp_path / "out.svg").getroot()
    assert root.find(SVG + "title").text == "A small graph"
    assert "whole 100" in root.find(SVG + "desc").text
    assert not [e for e in root.iter() if e.tag.endswith("foreignObject")]
    text = (tmp_path / "out.svg").read_text()
    assert set(re.findall(r"https?://[^\"' ]*", text)) == {"http://www.w3.org/2000/svg"}
    assert small.js("return performance.getEntriesByType('resource').length") == 0
    assert small.js("return document.title") == "A small graph"


def test_frames_are_as_wide_as_their_share(small):
    frames = small.frames()
    whole = frames["all"][0][2] + 1
    assert abs((frames["parse"][0][2] + 1) / whole - 0.5) < 0.001
    assert abs((frames["multiply"][0][2] + 1) / whole - 0.25) < 0.001
    assert frames["main"][0][1] < frames["all"][0][1], "the root is at the bottom"


def test_inverted_has_the_root_on_top(browser, tmp_path):
    browser.open(make(tmp_path, FOLDED, "--inverted"))
    frames = browser.frames()
    assert frames["all"][0][1] < frames["read_file"][0][1]


def test_the_picture_without_a_script_is_the_same(small, tmp_path):
    small.cdp("Emulation.setDeviceMetricsOverride", width=1200, height=900, deviceScaleFactor=1, mobile=False)
    small.open(str(tmp_path / "out.svg"))
    root = ElementTree.parse(tmp_path / "out.svg").getroot()
    group = [g for g in root.iter(SVG + "g") if g.get("id") == "sp-frames"][0]
    static = sorted(tuple(round(float(r.get(k)), 1) for k in ("x", "y", "width", "height"))
                    for r in group.iter(SVG + "rect"))
    live = small.js("""return [...document.querySelectorAll('rect[data-i]')].map(e =>
        ['x', 'y', 'width', 'height'].map(k => +e.getAttribute(k)))""")
    assert static == sorted(tuple(round(v, 1) for v in r) for r in live)


def test_hover_shows_the_details(small):
    small.at("compute")
    assert small.text("name") == "compute"
    assert re.search(r"total 40\b.*\(40\.00%\).*self 15\b.*\(15\.00%\)", small.text("facts"))


def test_a_click_zooms_and_reset_returns(small):
    before = small.frames()
    small.at("run", click=True)
    frames = small.frames()
    assert frames["run"][0][2] == pytest.approx(before["all"][0][2], abs=1)
    assert frames["main"][0][2] == pytest.approx(before["all"][0][2], abs=1), "ancestors stay"
    assert "parse" not in frames and "tokenize" not in frames
    assert frames["compute"][0][2] == pytest.approx(0.8 * before["all"][0][2], rel=0.01)
    x, y = small.js("const b = document.querySelector('#sp-reset').getBoundingClientRect();"
                    "return [b.x + 9, b.y + 9]")
    small.pointer(x, y, click=True)
    assert small.frames() == before
    small.at("parse", click=True)
    assert "run" not in small.frames()
    small.at("all", click=True)
    assert "run" in small.frames(), "clicking an ancestor zooms out to it"


def test_search_marks_frames_and_weighs_them_once(small):
    small.keys("/")
    small.keys(*"parse|read")
    assert small.text("matched") == "60.00% matched in 3 frames"
    marked = sorted(name for name, all_of in small.frames().items() for f in all_of if "hit" in f[3].split())
    assert marked == ["parse", "read_file", "read_file"]
    small.at("run", click=True)
    assert small.text("matched") == "20.00% matched in 1 frame", "of what is shown"
    small.keys(ESCAPE)
    assert small.text("matched") == "60.00% matched in 3 frames"
    small.keys(ESCAPE)
    assert small.text("matched") == ""
    assert not [f for all_of in small.frames().values() for f in all_of if "hit" in f[3].split()]


def test_search_of_upper_case_and_of_no_pattern(browser, tmp_path):
    browser.open(make(tmp_path, "Main;f(int) 3\nMain;F(long) 1\n"))
    browser.keys("f", held=CONTROL)
    browser.keys(*"f(")
    assert browser.text("matched") == "As plain text: 100.00% matched in 2 frames"
    browser.keys(BACKSPACE, BACKSPACE, "F")
    assert browser.text("matched") == "25.00% matched in 1 frame", "an upper-case letter makes case count"
    browser.keys("a", held=CONTROL)
    browser.keys(*"zzz")
    assert browser.text("matched") == "nothing matched"
    assert browser.js("return document.activeElement.getAttribute('aria-label')").endswith(": zzz")


def test_the_keyboard_reaches_everything(small):
    small.keys(TAB)
    assert small.focused() == "all"
    small.keys(UP)
    small.keys(UP)
    assert small.focused() == "parse", "the first of the heaviest"
    small.keys(RIGHT)
    assert small.focused() == "run"
    small.keys(RIGHT)
    assert small.focused() == "run"
    small.keys(UP)
    assert small.focused() == "compute"
    assert small.text("name") == "compute"
    assert small.js("return document.querySelector('.ring').getAttribute('visibility')") == "visible"
    small.keys(ENTER)
    assert "read_file" not in small.frames() and small.focused() == "compute"
    small.keys(DOWN)
    assert small.focused() == "run"
    small.keys(UP)
    assert small.focused() == "compute"
    small.keys(ESCAPE)
    assert "read_file" in small.frames() and small.focused() == "compute"
    small.keys("/")
    small.keys(*"read")
    small.keys(ENTER)
    first = small.js("return document.activeElement.getAttribute('data-i')")
    assert small.focused() == "read_file"
    small.keys("n")
    assert small.focused() == "read_file"
    assert small.js("return document.activeElement.getAttribute('data-i')") != first
    small.keys(TAB)
    assert small.focused().startswith("Search")
    small.keys(TAB)
    assert small.focused() == "Reset zoom"


def test_frames_say_what_they_are_to_a_screen_reader(small):
    svg = small.js("return [document.documentElement.getAttribute('role'), "
                   "document.documentElement.getAttribute('aria-labelledby')]")
    assert svg == ["figure", "sp-t"]
    labels = small.js("return [...document.querySelectorAll('[role=tree] > [role=treeitem]')]"
                      ".map(e => e.getAttribute('aria-label') + '/' + e.getAttribute('aria-level'))")
    assert any(re.match(r"compute, 40\.00%.*/4$", label) for label in labels)
    assert len(small.js("return [...document.querySelectorAll('rect[data-i][tabindex=\"0\"]')]"
                        ".map(e => e.tagName)")) == 1


def test_zoom_and_search_live_in_the_address(small, tmp_path):
    small.at("run", click=True)
    small.keys("/")
    small.keys(*"read")
    fragment = small.js("return location.hash")
    assert re.fullmatch(r"#zoom=\d+&search=read", fragment)
    small.open(str(tmp_path / "out.svg"), fragment)
    assert "parse" not in small.frames()
    assert small.text("matched") == "20.00% matched in 1 frame"
    small.keys(ESCAPE)
    assert "parse" in small.frames()
    small.js("history.back()")
    for _ in range(50):
        if "parse" not in small.frames():
            break
        time.sleep(0.05)
    assert "parse" not in small.frames(), "Back zooms in again"
    small.open(str(tmp_path / "out.svg"), "#zoom=99999999&search=%E0%A4%A")
    assert "parse" in small.frames(), "nonsense is ignored"


def test_follows_the_width_of_the_window(small):
    wide = widest(small)
    small.cdp("Emulation.setDeviceMetricsOverride", width=600, height=900, deviceScaleFactor=1, mobile=False)
    for _ in range(50):
        if widest(small) < 600:
            break
        time.sleep(0.05)
    assert widest(small) == pytest.approx(579, abs=20)
    assert wide > 1000


KINDS = """app;main;a_[k] 30
app;main;0x401136 9
app;main;inner_[i];k_[k] 7
app;main;jit_[j] 5
"""
LEGEND = """
return [...document.querySelector('#sp-legend').children].map(e => {
    const r = e.getBoundingClientRect();
    return [e.textContent, r.left, r.right, r.top];
})"""


def test_the_legend_takes_as_many_lines_as_it_needs(browser, tmp_path):
    """On a phone, too; what stands below it moves, and so do the frames, which the pointer finds where they are."""
    make(tmp_path, KINDS)
    browser.open(str(tmp_path / "out.svg"))
    wide = browser.js(LEGEND)
    assert len(wide) > 3 and len({top for *_, top in wide}) == 1
    browser.cdp("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=1, mobile=False)
    for _ in range(100):
        narrow = browser.js(LEGEND)
        if len({top for *_, top in narrow}) > 1:
            break
        time.sleep(0.05)
    lines = len({top for *_, top in narrow})
    assert [x[0] for x in narrow] == [x[0] for x in wide] and lines > 1
    assert all(0 <= left < right <= 360 for _, left, right, _ in narrow)
    for k in range(1, len(narrow)):
        assert narrow[k][3] > narrow[k - 1][3] or narrow[k][1] > narrow[k - 1][2]
    name, last, frames = (browser.js("return document.querySelector('%s').getBoundingClientRect().%s" % x) for x in (
        ("#sp-name", "top"), ("#sp-legend", "bottom"), ("#sp-frames", "top")))
    assert last < name < frames
    browser.cdp("Emulation.setDeviceMetricsOverride", width=1200, height=900, deviceScaleFactor=1, mobile=False)
    for _ in range(100):
        if len({top for *_, top in browser.js(LEGEND)}) == 1:
            break
        time.sleep(0.05)
    assert browser.js(LEGEND) == wide


def test_the_legend_of_a_narrow_picture_fits_without_a_script(tmp_path):
    folder = tmp_path / "narrow"
    folder.mkdir()
    svg = ElementTree.fromstring(open(make(folder, KINDS, "--width", "330")).read())
    legend = next(g for g in svg.iter(SVG + "g") if g.get("id") == "sp-legend")
    at = [tuple(map(int, re.findall(r"\d+", g.get("transform")))) for g in legend]
    below = next(t for t in svg.iter(SVG + "text") if t.get("id") == "sp-name")
    assert len({y for _, y in at}) > 1 and max(y for _, y in at) < int(below.get("y")) - 20
    for (x, _), g in zip(at, legend):
        assert x + 28 + 6.5 * len("".join(g.itertext())) < 330


CONTRAST = """
const SVG = 'http://www.w3.org/2000/svg', out = {};
const rgb = s => s.match(/[\\d.]+/g).slice(0, 3).map(Number);
const light = c => rgb(c).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
const at = document.querySelector('#sp-frames');
const fill = (tag, c) => {
    const e = document.createElementNS(SVG, tag);
    e.setAttribute('class', c);
    at.appendChild(e);
    const f = getComputedStyle(e).fill;
    e.remove();
    return f;
};
const text = fill('text', '');
for (const c of ['r0', 'g0', 'h0f', 'h0l'].concat(...[0, 1, 2, 3, 4, 5].map(
        i => ['u', 'i', 'n', 'c'].map(k => k + i).concat('k' + i + 'f', 'k' + i + 'l'))))
    out[c] = contrast(text, fill('rect', c));
out.hit = contrast(fill('text', 'hits'), fill('rect', 'hit'));
for (const c of ['', 'm', 'note', 'empty'])
    out['text.' + c] = contrast(fill('text', c), fill('rect', 'bg'));
return [out, fill('rect', 'bg')];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_light_and_dark(small, scheme):
    small.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    ratios, background = small.js(CONTRAST)
    assert min(ratios.values()) >= 4.5, ratios
    assert (sum(map(int, re.findall(r"\d+", background))) > 600) == (scheme == "light")


def test_dark_looks_different(small):
    light = small.png()
    small.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert small.png() != light


def test_hostile_names_are_harmless(browser, tmp_path):
    evil = [b"<script>window.evil=1</script>", b"</script><script>window.evil=2</script>",
            b"<img src=x onerror=window.evil=3>", b"a&b\"c'd]]>", b"\x1b[31mred",
            "\u202egnp.exe\u2066".encode(), b"${window.evil=4}", b"\xff\xfe"]
    path = make(tmp_path, b"".join(b"main;" + e + b" 10\n" for e in evil))
    ElementTree.parse(path)
    with open(path, "rb") as f:
        raw = f.read()
    assert b"\x1b" not in raw and "\u202e".encode() not in raw and b"\xff" not in raw
    browser.open(path)
    browser.keys("/")
    browser.keys(*"evil|red|gnp")
    for name in list(browser.frames()):
        browser.at(name)
    names = browser.frames()
    assert "<script>window.evil=1</script>" in names
    assert "\\x1b[31mred" in names and "\\u{202e}gnp.exe\\u{2066}" in names
    assert browser.js("return window.evil === undefined && document.querySelector('img, b') === null")
    assert browser.js("return document.querySelectorAll('script').length") == 2


def test_a_hundred_thousand_frames_stay_usable(browser, tmp_path):
    # Every stack parts from the others early, so each of its frames is one of the picture's.
    lines = []
    for s in range(2600):
        middle = ";".join(f"module_{(s * 7 + k) % 97}.function_{(s * 31 + k * 17) % 3989}" for k in range(40))
        lines.append(f"main;handler_{s // 100};case_{s};{middle} {90 + s % 21}")
    path = make(tmp_path, "\n".join(lines) + "\n")
    began = time.monotonic()
    browser.open(path)
    assert browser.js("return document.readyState") == "complete"
    loaded = time.monotonic() - began
    drawn = int(re.search(r"([\d,]+) frames in", browser.js(
        "return document.querySelector('desc').textContent")).group(1).replace(",", ""))
    assert drawn > 100000
    began = time.monotonic()
    browser.at("handler_7", click=True)
    assert "handler_8" not in browser.frames()
    zoomed = time.monotonic() - began
    assert len(browser.frames()) > 100
    browser.keys("/")
    browser.keys(*"function_12")
    assert re.search(r"matched in [\d,]+ frames", browser.text("matched"))
    size = os.path.getsize(path)
    print(f"{drawn} frames, {size} bytes: loaded in {loaded:.2f} s, zoomed in {zoomed:.2f} s")
    assert loaded < 30 and zoomed < 30


def test_what_is_too_narrow_is_left_out_and_said(browser, tmp_path):
    browser.open(make(tmp_path, "main;wide 999999\nmain;narrow;narrower 1\n"))
    notes = browser.js("return [...document.querySelectorAll('.note')].map(e => e.textContent)")
    assert len(notes) == 1
    assert notes[0].startswith("2 frames narrower than 0.1 px (0.00% of the weight) are not drawn")
    assert "narrow" not in browser.frames()

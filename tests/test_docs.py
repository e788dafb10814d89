"""The documentation holds: generated pages are up to date, and every example in it runs."""

import os
import re
import shutil
import subprocess
import sys

import gen_heaptrack
import gen_spt
import pe_files
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPAA = os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa")))
DEMO = os.path.join(ROOT, "demo")
DOCS = os.path.join(ROOT, "docs")
PAGES = sorted(os.path.join(DOCS, n) for n in os.listdir(DOCS) if n.endswith(".md"))
PAGES += [p for p in [os.path.join(ROOT, "README.md")] if os.path.exists(p)]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(language):
    for path in PAGES:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if os.path.basename(path) == "tutorial.md":  # one goes on where the last one ended
            script = "".join(m[2] for m in BLOCK.finditer(text) if m[1] == language)
            if script:
                yield pytest.param(script, id=os.path.relpath(path, ROOT))
            continue
        for m in BLOCK.finditer(text):
            if m[1] == language:
                line = text.count("\n", 0, m.start()) + 2
                yield pytest.param(m[2], id=f"{os.path.relpath(path, ROOT)}:{line}")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """What the examples talk of: the demo recordings, one as perf.data, profile.spaa, stacks.folded and other names."""
    at = tmp_path_factory.mktemp("recorded")
    shutil.copytree(DEMO, at / "demo", ignore=shutil.ignore_patterns("out"))
    shutil.copy(at / "demo" / "orders-1.perf.data.zst", at / "perf.data")
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "spindump", "heavy.spindump.txt"), at / "report.spindump.txt")
    shutil.copy(os.path.join(ROOT, "tests", "schedule", "busy", "busy.script.zst"), at / "switch.data")
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "gperftools", "sampled.heap"), at / "server.heap")
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "jemalloc", "accum.heap"), at / "jeprof.out.heap")
    (at / "waits.spaa").write_bytes(subprocess.run(["zstd", "-dc", os.path.join(ROOT, "tests", "schedule", "shop", "shop.spaa.zst")],
                                                   check=True, capture_output=True).stdout)
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "folded", "offcputime.folded"), at / "offcpu.folded")
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "go_goroutines", "states.txt"), at / "goroutines.txt")
    for source, name in (("massif/heap.massif", "massif.out"), ("dhat/heap.dhat", "dhat.out"), ("memcheck/all.log", "memcheck.log")):
        shutil.copy(os.path.join(ROOT, "tests", "fixtures", source), at / name)
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "heapprofile", "leaky.heapprofile"), at / "leaky.heapprofile")
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "lsan", "clang.txt"), at / "leaks.lsan.txt")
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "jemalloc", "threads.heap"), at / "threads.heap")
    shutil.copy(os.path.join(ROOT, "tests", "fixtures", "codeguru", "python-report-1.codeguru.json"), at / "profile.codeguru.json")
    for kind in ("block", "mutex"):
        shutil.copy(os.path.join(ROOT, "tests", "fixtures", "pprof", f"go.{kind}.pb.gz"), at / f"{kind}.pb.gz")
    symbols = ["--symfs", "demo/symfs", "--kallsyms", "demo/kallsyms"]
    for name in ("profile.spaa", "stacks.folded"):
        subprocess.run([SPAA, "convert", "perf.data", *symbols, "-o", name], cwd=at, check=True, timeout=60)
    with open(at / "stacks.folded", "a", encoding="utf-8") as f:
        f.write("start_thread;writer;malloc 2\n")
    trace = gen_spt.random_file(1)
    (at / "trace.spt").write_bytes(trace.bytes())
    (at / "app.exe").write_bytes(pe_files.image(trace.programs[0].guid, trace.programs[0].age))
    (at / "profiles").mkdir()
    for name in ("host-1.spaa", "host-2.spaa", "profiles/profile.spaa"):
        shutil.copy(at / "profile.spaa", at / name)
    shutil.copy(at / "perf.data", at / "cpu.perf.data")
    for seed, name in ((1, "app.heaptrack"), (2, "later.heaptrack")):
        (at / name).write_bytes(gen_heaptrack.Trace(seed, events=4000).interpreted())
    for source, name in (("app", "heap"), ("later", "later")):
        subprocess.run([SPAA, "convert", "-q", source + ".heaptrack", "-o", name + ".spaa"], cwd=at, check=True, timeout=60)
    (at / "paths.txt").write_text("host-1.spaa\nhost-2.spaa\n")
    (at / "requests.jsonl").write_text('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    for name, number in (("base", 1), ("new", 2)):
        subprocess.run([SPAA, "convert", f"demo/orders-{number}.perf.data.zst", *symbols, "--samples", "-o", name + ".spaa"],
                       cwd=at, check=True, timeout=60)
        for repeat in "123":
            shutil.copy(at / (name + ".spaa"), at / (("a" if number == 1 else "b") + repeat + ".spaa"))
    return at


@pytest.fixture
def place(recorded, tmp_path):
    at = tmp_path / "work"
    shutil.copytree(recorded, at)
    named = tmp_path / "bin"
    named.mkdir()
    os.symlink(SPAA, named / "spaa")
    return at, {**os.environ, "PATH": f"{named}:{os.environ['PATH']}", "SPAA_BIN": SPAA,
                "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.mark.parametrize("script", blocks("sh"))
def test_shell_example_runs(script, place):
    at, env = place
    done = subprocess.run(["sh", "-eu", "-c", script], cwd=at, env=env, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")


@pytest.mark.parametrize("script", blocks("python"))
def test_python_example_runs(script, place):
    pytest.importorskip("xxhash")
    at, env = place
    subprocess.run([sys.executable, "-c", script], cwd=at, env=env, check=True, timeout=60)


def test_generated_pages_are_up_to_date():
    args = [] if os.environ.get("SPAA_UPDATE_GOLDENS") else ["--check"]
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_docs.py"), *args, SPAA],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr + "run tools/gen_docs.py build/spaa"


@pytest.mark.parametrize("page", sorted(os.listdir(os.path.join(DOCS, "man"))))
def test_man_page_formats_without_warnings(page):
    if not shutil.which("groff"):
        pytest.skip("no groff")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", os.path.join(DOCS, "man", page)], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_links_lead_somewhere():
    broken = []
    for path in PAGES:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(path), target)):
                broken.append(f"{os.path.relpath(path, ROOT)}: {target}")
    assert not broken


def test_diagnostic_codes_in_the_documentation_exist():
    with open(os.path.join(ROOT, "src", "base", "diag.def"), encoding="utf-8") as f:
        known = {"SPAA-" + code for code in re.findall(r"SPAA_DIAG\((\w+),", f.read())}
    for path in PAGES:
        with open(path, encoding="utf-8") as f:
            assert set(re.findall(r"SPAA-[FELWI]\d{3}", f.read())) <= known, path


# ---- links, and the walk through a reader ------------------------------------------------------------

LINK = re.compile(r"\]\(([^)\s]+)\)")


def linked_pages():
    top = [os.path.join(ROOT, n) for n in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [os.path.join(DOCS, n) for n in sorted(os.listdir(DOCS)) if n.endswith(".md")] + top


def anchor(heading):
    """As sites that show Markdown make it of a heading's text."""
    text = re.sub(r"\]\([^)]*\)", "", heading).strip().lower().replace("[", "")
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(path):
    with open(path, encoding="utf-8") as f:
        return BLOCK.sub("", f.read())


def anchor_of_site(heading):
    """As `make site` makes it, which keeps no two dashes."""
    return re.sub("-+", "-", anchor(heading))


@pytest.mark.parametrize("page", linked_pages(), ids=lambda p: os.path.relpath(p, ROOT))
def test_links_lead_to_what_is_there(page):
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
        if re.match(r"https?:", target):
            continue
        path, _, part = target.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        assert os.path.exists(to), (target, "is not there")
        if part:
            headings = [anchor(h) for h in re.findall(r"^#+ (.*)$", prose(to), re.M)]
            assert part in headings, (target, "has no such heading")
            assert part in [anchor_of_site(h) for h in re.findall(r"^#+ (.*)$", prose(to), re.M)], (target, "not so in the site")


def test_the_walk_through_a_reader_shows_what_it_is():
    """The code that CONTRIBUTING.md shows stands in the reader, or in the table of formats."""
    with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as f:
        shown = [m[2] for m in BLOCK.finditer(f.read()) if m[1] == "c"]
    source = ""
    for name in ("pmp/reader.c", "formats.def"):
        with open(os.path.join(ROOT, "src", "formats", name), encoding="utf-8") as f:
            source += f.read()
    assert len(shown) == 6
    for code in shown:
        assert code in source, code


def test_the_site_has_every_page():
    """mkdocs.yml, and the page that lists them by kind."""
    pages = {n for n in os.listdir(DOCS) if n.endswith(".md")}
    with open(os.path.join(ROOT, "mkdocs.yml"), encoding="utf-8") as f:
        listed = re.findall(r": ([\w-]+\.md)$", f.read(), re.M)
    assert sorted(listed) == sorted(pages)
    assert set(LINK.findall(prose(os.path.join(DOCS, "index.md")))) == pages - {"index.md"}


def test_what_the_tutorial_quotes_is_what_is_shown(tmp_path):
    run = lambda *args: subprocess.run([SPAA, *args], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60).stdout
    run("demo", "-o", ".")
    symbols = ("--symfs", "symfs", "--kallsyms", "kallsyms")
    brief = " ".join(run("orders-1.perf.data.zst", *symbols).split())
    with open(os.path.join(DOCS, "tutorial.md"), encoding="utf-8") as f:
        quotes = re.findall(r"^- \*\*(.*)\*\*", f.read(), re.M)
    parts = [part for quote in quotes for part in re.findall(r"`([^`]*)`", quote)]
    assert len(parts) == 7
    for part in parts:
        assert part in brief, part
    for i in "12":
        run("convert", "-q", f"orders-{i}.perf.data.zst", *symbols, "--samples", "-o", f"{i}.spaa")
    assert "NOT ESTABLISHED" in run("diff", "1.spaa", "2.spaa") and "-17." in run("diff", "1.spaa", "2.spaa")


def test_help_of_the_steps_of_checking():
    """Every step that there is, and none is run."""
    with open(os.path.join(ROOT, "tools", "check"), encoding="utf-8") as f:
        steps = [s.replace("_", "-") for s in re.findall(r"^check_(\w+)\(\)", f.read(), re.M)]
    for option in "--help", "-h":
        done = subprocess.run([os.path.join(ROOT, "tools", "check"), option], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == ""
        listed = re.findall(r"^  ([\w-]+)  ", done.stdout, re.M)
        assert sorted(listed) == sorted(steps)


def test_manual_pages_have_the_date_of_the_version():
    with open(os.path.join(ROOT, "debian", "changelog"), encoding="utf-8") as f:
        date = re.search(r"^ -- .*>  \w+, (\d\d) (\w+) (\d{4}) ", f.read(), re.M)
    month = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split().index(date[2]) + 1
    pages = [os.path.join(DOCS, "man", n) for n in sorted(os.listdir(os.path.join(DOCS, "man")))]
    for page in pages:
        with open(page, encoding="utf-8") as f:
            assert f' 1 "{date[3]}-{month:02}-{date[1]}" "spaa ' in f.read(), page
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *pages], capture_output=True, text=True, timeout=60)
        assert done.stdout == ""

"""Installs the build into a directory and uses the library from there, as a program elsewhere would."""

import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.dirname(os.path.abspath(os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))))
EXAMPLES = os.path.join(ROOT, "docs", "examples")
EXAMPLE = os.path.join(EXAMPLES, "top.c")
HEADERS = os.path.join(ROOT, "include", "spaa")


def run(*args, **more):
    done = subprocess.run(args, capture_output=True, text=True, timeout=600, **more)
    assert done.returncode == 0, f"{args}: {done.stdout}{done.stderr}"
    return done.stdout


def option(name):
    with open(os.path.join(BUILD, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
        return next(o["value"] for o in json.load(f) if o["name"] == name)


@pytest.fixture(scope="module")
def cc():
    """The C compiler of the build, with what its objects need of whoever links them."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        command = json.load(f)[0]["command"].split()
    command = [c for c in command if not c.endswith("ccache")]
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    if option("b_sanitize") != "none":
        flags.append("-fsanitize=" + option("b_sanitize"))
    if option("b_coverage"):
        flags.append("--coverage")
    return [command[0], *flags]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    if not os.path.exists(os.path.join(BUILD, "build.ninja")) or not shutil.which("meson"):
        pytest.skip("not a build of meson")
    dest = tmp_path_factory.mktemp("dest")
    run("ninja", "-C", BUILD, "--quiet")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", env={**os.environ, "DESTDIR": str(dest)})
    prefix = str(dest) + option("prefix")
    return {"dest": str(dest), "prefix": prefix, "libdir": os.path.join(prefix, option("libdir"))}


@pytest.fixture(scope="module")
def pkg_config(installed):
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    path = os.path.join(installed["libdir"], "pkgconfig")
    env = {**os.environ, "PKG_CONFIG_PATH": path, "PKG_CONFIG_SYSROOT_DIR": ""}

    def ask(*args):
        return run("pkg-config", f"--define-variable=prefix={installed['prefix']}", *args, "spaa", env=env).split()

    return ask


@pytest.fixture(scope="module")
def shared(installed):
    if option("default_library") == "static":
        pytest.skip("no shared library in this build")
    return os.path.join(installed["libdir"], "libspaa.so")


@pytest.fixture
def folded(tmp_path):
    path = tmp_path / "stacks.folded"
    path.write_text("main;parse;read 30\nmain;draw 60\n")
    return str(path)


def bare_path(folder):
    """A PATH with all there is but dpkg-architecture, as on a Debian without dpkg-dev."""
    os.mkdir(folder)
    for place in os.environ["PATH"].split(os.pathsep):
        for name in os.listdir(place) if os.path.isdir(place) else []:
            link = os.path.join(folder, name)
            if name != "dpkg-architecture" and not os.path.lexists(link):
                os.symlink(os.path.join(place, name), link)
    return str(folder)


def search_path():
    """Where ld.so looks for libraries beside its cache's own folders."""
    todo, found = ["/etc/ld.so.conf"], ["/lib", "/usr/lib"]
    while todo:
        with open(todo.pop(), encoding="utf-8") as f:
            for line in f:
                word = line.split("#")[0].split()
                if word[:1] == ["include"]:
                    todo += glob.glob(os.path.join("/etc", word[1]))
                elif word:
                    found.append(os.path.normpath(word[0]))
    return found


@pytest.mark.parametrize("prefix", ["/usr/local", "/usr"])
def test_a_bare_debian_finds_the_library(tmp_path, prefix):
    if not os.path.exists("/etc/debian_version") or not shutil.which("make") or not shutil.which("meson"):
        pytest.skip("not on Debian")
    build, path = str(tmp_path / "build"), bare_path(tmp_path / "bin")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "LIBDIR")}
    run("make", "-C", ROOT, f"B={build}", f"PREFIX={prefix}", build + "/build.ninja", env={**env, "PATH": path})
    with open(os.path.join(build, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
        options = {o["name"]: o["value"] for o in json.load(f)}
    libdir = os.path.join(options["prefix"], options["libdir"])
    assert libdir in search_path()
    assert os.path.join(libdir, "pkgconfig") in run("pkg-config", "--variable=pc_path", "pkg-config").strip().split(":")


def hardened(path):
    """Both of: everything is bound at start (BIND_NOW), and the tables are read-only then (RELRO)."""
    dynamic, segments = run("readelf", "-dW", path), run("readelf", "-lW", path)
    now = "BIND_NOW" in dynamic or re.search(r"FLAGS_1\).*\bNOW\b", dynamic)
    return bool(now) and "GNU_RELRO" in segments


def test_the_program_and_the_library_are_bound_at_start(installed):
    folder, libdir = os.path.join(installed["prefix"], option("bindir")), installed["libdir"]
    assert hardened(os.path.join(folder, "spaa"))
    if option("default_library") != "static":
        assert hardened(os.path.join(libdir, "libspaa.so"))


def check_example(program, folded, **env):
    out = run(program, folded, env={**os.environ, **env})
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["# folded, value in counts"], out
    row = dict(zip(lines[1], lines[2]))
    assert (row["self"], row["self_percent"], row["name"], len(lines)) == ("60", "66.67%", "draw", 6), out
    failed = subprocess.run([program, folded + ".none"], capture_output=True, text=True, env={**os.environ, **env})
    assert failed.returncode == 1 and "SPAA-E001" in failed.stderr


def test_example_runs_with_the_shared_library(cc, shared, installed, pkg_config, folded, tmp_path):
    program = str(tmp_path / "top")
    run(*cc, EXAMPLE, "-o", program, *pkg_config("--cflags", "--libs"))
    check_example(program, folded, LD_LIBRARY_PATH=installed["libdir"])


def test_example_runs_with_the_static_library(cc, installed, pkg_config, folded, tmp_path):
    library = os.path.join(installed["libdir"], "libspaa.a")
    if not os.path.exists(library):
        pytest.skip("no static library in this build")
    program = str(tmp_path / "top")
    flags = [library if f == "-lspaa" else f for f in pkg_config("--cflags", "--libs", "--static")]
    assert library in flags
    run(*cc, EXAMPLE, "-o", program, *flags)
    check_example(program, folded)


@pytest.fixture
def example(cc, shared, installed, pkg_config, tmp_path):
    """Compiles an example against what is installed; runs it."""

    def call(name, *args):
        program = str(tmp_path / name)
        if not os.path.exists(program):
            run(*cc, os.path.join(EXAMPLES, name + ".c"), "-o", program, *pkg_config("--cflags", "--libs"))
        return run(program, *args, env={**os.environ, "LD_LIBRARY_PATH": installed["libdir"]})

    return call


def columns(out):
    """The rows that docs/examples/top.c prints."""
    titles, *rows = [line.split("\t") for line in out.splitlines()[1:]]
    return [dict(zip(titles, row)) for row in rows]


def test_example_asks_for_columns(example, folded):
    rows = columns(example("top", folded, "dso,function"))
    assert (rows[0]["self"], rows[0]["name"], rows[0]["dso"]) == ("60", "[unknown] / draw", "[unknown]")
    assert columns(example("top", folded, "cpu")) == [
        {"self": "90", "self_percent": "100.00%", "total": "90", "total_percent": "100.00%", "name": "?"}]


def test_example_asks_any_question(example, folded):
    spaa = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
    answer = example("ask", "json", folded, "top", "sort=total", "limit=2")
    assert answer == run(spaa, "top", folded, "--json", "--sort", "total", "-n", "2")
    assert [row["function"] for row in json.loads(answer)["rows"]] == ["main", "draw"]
    assert example("ask", "csv", folded, "function:draw") == run(spaa, "function", folded, "draw", "--format", "csv")
    assert "draw" in example("ask", "text", folded, "tree", "inverted").splitlines()[2]


def test_example_records(example, tmp_path):
    path = str(tmp_path / "recorded.spaa")
    example("record", path)
    spaa = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
    run(spaa, "validate", path)
    rows = columns(example("top", path))
    assert {row["name"]: int(row["self"]) for row in rows if int(row["self"])} == {"render": 6600, "parse": 3400}


def test_example_runs_commands(example, folded):
    drawn, _, top = example("run", folded).partition("\n")
    assert re.fullmatch(r"\d+ bytes of SVG, \d+ frames, titled", drawn)
    spaa = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
    assert top == run(spaa, "top", "-n", "5", folded)


def test_example_merges_a_hundred_files(example, tmp_path):
    paths = [str(tmp_path / f"{i}.folded") for i in range(100)]
    for i, path in enumerate(paths):
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"main;f{i % 7} {i}\n")
    out = str(tmp_path / "all.spaa")
    assert example("merge", out, *paths) == "100 files, 7 stacks\n"
    spaa = os.environ.get("SPAA_BIN", os.path.join(ROOT, "build", "spaa"))
    assert json.loads(run(spaa, "top", out, "--json"))["whole"] == sum(range(100))


def test_headers_stand_alone_in_c_and_cxx(cc, installed, tmp_path):
    include = os.path.join(installed["prefix"], option("includedir"))
    names = sorted(os.listdir(os.path.join(include, "spaa")))
    assert names == sorted(n.removesuffix(".in") for n in os.listdir(HEADERS) if n != "meson.build")
    for name in names:
        source = tmp_path / "alone.c"
        source.write_text(f"#include <spaa/{name}>\n#include <spaa/{name}>\nint alone;\n")
        run(*cc, "-I", include, "-c", str(source), "-o", str(tmp_path / "alone.o"))
        if shutil.which("c++"):
            run("c++", "-Wall", "-Wextra", "-Werror", "-I", include, "-x", "c++", "-c", str(source), "-o",
                str(tmp_path / "alone.o"))


def declared():
    names = set()
    for header in fnmatch.filter(os.listdir(HEADERS), "*.h*"):
        with open(os.path.join(HEADERS, header), encoding="utf-8") as f:
            names |= set(re.findall(r"^SPAA_API [^;]*?\b(spaa_\w+)\(", f.read(), re.M))
    return names


def test_exports_are_what_the_headers_declare(shared):
    lines = run("nm", "-D", "--defined-only", shared).splitlines()
    symbols = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}
    assert symbols == declared()
    assert all(s.startswith("spaa_") for s in symbols)


def test_what_is_loaded_when_it_is_used_need_not_be_there_to_build(pkg_config):
    """Else pkg-config finds nothing where the packages of libcurl and capstone for development are missing."""
    assert not {"-lcurl", "-lcapstone", "-ldebuginfod", "-llzma"} & set(pkg_config("--libs", "--static"))


def test_versions_agree(pkg_config, installed, shared):
    """What meson.build says is what everything says."""
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        version = re.search(r"^ +version: '([\d.]+)'", f.read(), re.M)[1]
    with open(os.path.join(installed["prefix"], option("includedir"), "spaa", "version.h"), encoding="utf-8") as f:
        parts = re.findall(r"^#define SPAA_VERSION_(?:MAJOR|MINOR|PATCH)\s+(\d+)", f.read(), re.M)
    assert ".".join(parts) == version
    assert pkg_config("--modversion") == [version]
    spaa = os.path.join(installed["prefix"], option("bindir"), "spaa")
    assert run(spaa, "--version") == f"spaa {version}\n"
    assert os.path.basename(os.path.realpath(shared)) == f"libspaa.so.{version}"
    with open(os.path.join(ROOT, "debian", "changelog"), encoding="utf-8") as f:
        assert f.readline().startswith(f"spaa ({version}-")
    assert "SONAME" in run("readelf", "-dW", shared) and "[libspaa.so.1]" in run("readelf", "-dW", shared)


def beneath(folder):
    return {os.path.relpath(os.path.join(at, n), folder) for at, _, names in os.walk(folder) for n in names}


def assert_links_lead_to_pages(folder):
    """Within what was installed; of headings, tests/test_docs.py looks."""
    links = 0
    for page in (p for p in beneath(folder) if p.endswith(".md")):
        with open(os.path.join(folder, page), encoding="utf-8") as f:
            text = re.sub(r"^```.*?^```|`[^`\n]*`", "", f.read(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", text):
            if not re.match(r"https?:", target):
                links += 1
                to = os.path.normpath(os.path.join(folder, os.path.dirname(page), target))
                assert to.startswith(folder) and os.path.exists(to), (page, target)
    assert links > 200


def test_everything_is_installed(installed):
    prefix, data = installed["prefix"], os.path.join(installed["prefix"], option("datadir"))
    assert beneath(os.path.join(prefix, option("mandir"), "man1")) == beneath(os.path.join(ROOT, "docs", "man"))
    docs = {p for p in beneath(os.path.join(ROOT, "docs")) if not p.startswith("man/")}
    pages = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"}
    assert beneath(os.path.join(data, "doc", "spaa")) == {"docs/" + p for p in docs} | pages
    assert_links_lead_to_pages(os.path.join(data, "doc", "spaa"))
    assert beneath(os.path.join(data, "spaa", "skill")) == {"spaa/" + p for p in beneath(os.path.join(ROOT, "skill", "spaa"))}
    for path in ("bash-completion/completions/spaa", "zsh/site-functions/_spaa", "fish/vendor_completions.d/spaa.fish"):
        assert os.path.isfile(os.path.join(data, path))
    pages = beneath(os.path.join(ROOT, "docs", "man"))
    commands = re.findall(r"^  (\w+) {2,}", run(os.path.join(prefix, option("bindir"), "spaa"), "help"), re.M)
    assert pages == {"spaa.1", "sptdump.1"} | {f"spaa-{c}.1" for c in commands}


@pytest.fixture
def make(installed, tmp_path):
    """Runs make on the build under test, as it is configured, for a folder of its own."""
    if not shutil.which("make"):
        pytest.skip("no make")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "DESTDIR", "PREFIX", "LIBDIR")}
    fixed = [f"B={BUILD}", f"PREFIX={option('prefix')}", f"LIBDIR={option('libdir')}"]

    def call(target, dest=None, code=0):
        done = subprocess.run(["make", "-s", "-C", ROOT, target, *fixed, f"DESTDIR={dest or tmp_path / 'root'}"], env=env,
                              capture_output=True, text=True, timeout=600)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr

    return call


def test_uninstall_leaves_no_trace(make, tmp_path):
    make("install")
    installed = beneath(tmp_path / "root")
    make("install-strip")  # over it: what the second one found there was made by the first
    assert beneath(tmp_path / "root") == installed
    make("uninstall")
    assert not os.path.exists(tmp_path / "root")
    assert "nothing was installed" in make("uninstall", code=2)


def test_folders_with_a_blank_are_one_word(tmp_path):
    """Of PREFIX, LIBDIR and DESTDIR, for meson and for the shell."""
    if not shutil.which("make"):
        pytest.skip("no make")
    build, root, prefix = tmp_path / "build", tmp_path / "d q", "/opt/p q"
    (build / "meson-logs").mkdir(parents=True)
    fake = tmp_path / "meson"
    fake.write_text(f"""#!/bin/sh
for word; do echo "<$word>"; done >>'{tmp_path}/words'
echo "to <$DESTDIR>" >>'{tmp_path}/words'
[ "$1" = install ] || {{ : >'{build}/build.ninja'; exit; }}
mkdir -p "$DESTDIR{prefix}/bin" && : >"$DESTDIR{prefix}/bin/spaa"
echo "$DESTDIR{prefix}/bin/spaa" >'{build}/meson-logs/install-log.txt'
""")
    fake.chmod(0o755)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "DESTDIR", "PREFIX", "LIBDIR")}
    words = [f"B={build}", f"MESON={fake}", "NINJA=true", f"PREFIX={prefix}", "LIBDIR=lib/a b", f"DESTDIR={root}"]
    for target in "install", "install-strip":
        assert run("make", "-s", "-C", ROOT, target, *words, env=env) == ""
        assert beneath(root) == {"opt/p q/bin/spaa"}
    said = (tmp_path / "words").read_text().splitlines()
    assert {"<--prefix=/opt/p q>", "<--libdir=lib/a b>", "<-Dprefix=/opt/p q>", "<-Dlibdir=lib/a b>", f"to <{root}>", "<--strip>"} <= set(said)
    run("make", "-s", "-C", ROOT, "uninstall", *words, env=env)
    assert beneath(root) == set() and sorted(os.listdir(tmp_path)) == ["build", "d q", "meson", "words"]


def test_a_destination_with_a_blank(make, tmp_path):
    make("install", tmp_path / "d q")
    assert os.path.isfile(str(tmp_path / "d q") + os.path.join(option("prefix"), option("bindir"), "spaa"))
    make("uninstall", tmp_path / "d q")
    assert not os.path.exists(tmp_path / "d q") and not os.path.exists(tmp_path / "d")


def test_uninstall_takes_nothing_else(make, tmp_path):
    prefix = str(tmp_path / "root") + option("prefix")
    own = {"bin/spaa-helper", "share/doc/spaa-doc/note", "share/doc/spaa/mine.txt"}
    for path in own:
        os.makedirs(os.path.dirname(os.path.join(prefix, path)), exist_ok=True)
        with open(os.path.join(prefix, path), "w", encoding="utf-8") as f:
            f.write("mine\n")
    os.makedirs(os.path.join(prefix, "include"))
    make("install", dest=tmp_path / "other")
    make("install")
    make("uninstall")
    assert beneath(prefix) == own and os.path.isdir(os.path.join(prefix, "include"))
    assert os.path.exists(str(tmp_path / "other") + option("prefix") + "/bin/spaa")


def test_a_static_program_that_cannot_be_configured_says_why():
    done = subprocess.run(["make", "-s", "-C", ROOT, "static", "ARCH=nowhere"], capture_output=True, text=True, timeout=60)
    assert done.returncode and "tools/cross/nowhere.ini" in done.stderr
    assert not glob.glob(os.path.join(ROOT, "build-static-nowhere*"))


def test_what_is_stripped_works(make, tmp_path, cc, folded):
    if option("b_sanitize") != "none" or not shutil.which("strip"):
        pytest.skip("nothing to be stripped")
    make("install-strip")
    prefix = str(tmp_path / "root") + option("prefix")
    libdir = os.path.join(prefix, option("libdir"))
    for path in (os.path.join(prefix, option("bindir"), "spaa"), *glob.glob(os.path.join(libdir, "libspaa.[as]*"))):
        assert ".debug_info" not in run("readelf", "-SW", path), path
    assert run(os.path.join(prefix, option("bindir"), "spaa"), "top", folded, "-q")
    if option("default_library") != "static":
        run(*cc, EXAMPLE, "-I", os.path.join(prefix, option("includedir")), "-L", libdir, "-lspaa", "-o", str(tmp_path / "top"))
        check_example(str(tmp_path / "top"), folded, LD_LIBRARY_PATH=libdir)

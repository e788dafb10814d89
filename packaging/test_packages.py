"""What is handed out: archives of the sources, programs that stand alone, Debian packages. `make package-test` runs it; it takes half
an hour, needs the packages of `tools/setup package`, and root for the bare Debian. What is missing is skipped, and said."""

import glob
import hashlib
import os
import platform
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = "/etc/apt/sources.list.d/debian.sources"  # the machine's own, else those of /etc/apt/sources.list


def run(*args, code=0, **more):
    done = subprocess.run(args, capture_output=True, text=True, timeout=7200, **more)
    assert done.returncode == code, (args, done.stdout[-4000:], done.stderr[-4000:])
    return done.stdout


@pytest.fixture(autouse=True)
def needs(request):
    for tool in request.node.get_closest_marker("tools").args if request.node.get_closest_marker("tools") else ():
        if not shutil.which(tool):
            pytest.skip("no " + tool)


# ---- archives of the sources -----------------------------------------------------------------------


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


@pytest.mark.tools("git", "xz")
def test_an_archive_is_the_same_anywhere(tmp_path):
    found = []
    for i, (mask, zone) in enumerate(((0o022, "UTC"), (0o077, "Asia/Tokyo"))):
        clone = tmp_path / f"clone{i}"
        run("git", "clone", "-q", ROOT, clone)
        (clone / "not committed").write_text("this is in no archive\n")
        run("tools/dist", cwd=clone, env={**os.environ, "TZ": zone, "LC_ALL": "C"}, umask=mask)
        run("sha256sum", "-c", "SHA256SUMS", cwd=clone / "dist")
        found.append({n: digest(clone / "dist" / n) for n in os.listdir(clone / "dist")})
    assert found[0] == found[1] and len(found[0]) == 3
    archive = next((tmp_path / "clone0" / "dist").glob("*.tar.xz"))
    run("tar", "-xf", archive, "-C", tmp_path)
    tree = tmp_path / archive.name.removesuffix(".tar.xz")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=tmp_path / "clone0", check=True, capture_output=True).stdout
    assert sorted(os.fsdecode(name) for name in names.split(b"\0")[:-1]) == sorted(
        os.path.relpath(os.path.join(at, n), tree) for at, _, names in os.walk(tree) for n in names)


# ---- programs that stand alone ---------------------------------------------------------------------


def cross(arch):
    """The words in front of a program of another machine, or a reason to skip."""
    if arch == platform.machine():
        return []
    if not shutil.which("aarch64-linux-gnu-gcc") or not os.path.exists("/usr/lib/aarch64-linux-gnu/libelf.a"):
        pytest.skip("tools/setup aarch64 was not run")
    if not shutil.which("qemu-aarch64-static"):
        pytest.skip("no qemu-aarch64-static")
    return ["qemu-aarch64-static"]


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.tools("make", "meson", "readelf")
def test_a_static_program(arch, tmp_path):
    before = cross(arch)
    run("make", "-s", "-C", ROOT, "static", f"ARCH={arch}")
    run("make", "-s", "-C", ROOT)
    static, usual = os.path.join(ROOT, f"build-static-{arch}", "spaa"), os.path.join(ROOT, "build", "spaa")
    assert os.path.getsize(static) < 6_000_000
    assert "INTERP" not in run("readelf", "-lW", static) and "NEEDED" not in run("readelf", "-dW", static)
    program = [*before, shutil.copy(static, tmp_path / "spaa")]
    run(*program, "demo", "-o", "demo", cwd=tmp_path)
    symbols = ("--symfs", "demo/symfs", "--kallsyms", "demo/kallsyms")
    for args in (("summary", "--json"), ("top", "--by", "dso"), ("query", "SELECT name, self FROM functions"), ("tree",), ("info", "--json")):
        asked = [args[0], "demo/orders-1.perf.data.zst", *args[1:], *symbols]
        assert run(*program, *asked, cwd=tmp_path) == run(usual, *asked, cwd=tmp_path), args
    # What it has not it says, where it would be needed.
    done = subprocess.run([*program, "top", "demo/orders-1.perf.data.zst", "--debuginfod"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "DEBUGINFOD_URLS": "http://localhost:1"}, timeout=600)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0 and "SPAA-W804" in said and "linked statically" in said
    done = subprocess.run([*program, "upload", "codeguru", "demo/orders-1.perf.data.zst", "--group", "g", "--region", "r", "--start", "1"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 3 and "SPAA-E465" in done.stderr and "linked statically" in done.stderr


# ---- Debian ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    for tool in ("dpkg-buildpackage", "dh", "git"):
        if not shutil.which(tool):
            pytest.skip("no " + tool)
    into = tmp_path_factory.mktemp("packages")
    run(os.path.join(ROOT, "packaging", "build_packages"), into)
    return into


def test_the_packages(packages):
    names = {os.path.basename(p).split("_")[0] for p in glob.glob(f"{packages}/*.deb")}
    assert {"spaa", "libspaa1", "libspaa-dev"} <= names
    contents = run("dpkg-deb", "-c", glob.glob(f"{packages}/spaa_*.deb")[0])
    for path in ("usr/bin/spaa", "usr/bin/sptdump", "usr/share/man/man1/spaa-top.1.gz", "usr/share/zsh/vendor-completions/_spaa"):
        assert f" ./{path}" in contents


@pytest.mark.tools("lintian")
def test_lintian_finds_nothing(packages):
    for changes in glob.glob(f"{packages}/*.changes"):
        assert run("lintian", "--fail-on", "error,warning", "--allow-root", changes) == ""


@pytest.mark.tools("mmdebstrap")
def test_a_bare_debian(packages):
    """Installed, used and removed in a root that has apt and a C compiler: packaging/in_root.sh."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    sources = SOURCES if os.path.exists(SOURCES) else "/etc/apt/sources.list"
    command = ["mmdebstrap", "--mode=root", "--variant=apt", "--include=gcc,libc6-dev,pkgconf",
               f"--customize-hook={ROOT}/packaging/in_root.sh", "bookworm", "/dev/null", sources]
    probe = subprocess.run([*command[:3], "--simulate", *command[5:]], capture_output=True, text=True, timeout=600)
    if probe.returncode:
        pytest.skip("no bare Debian can be made here: " + probe.stderr.strip()[-300:])
    done = subprocess.run(command, env={**os.environ, "DEBS": str(packages), "SOURCE": ROOT}, capture_output=True, text=True, timeout=7200)
    said = done.stdout + done.stderr  # a hook's output is among mmdebstrap's messages
    print(said)
    assert done.returncode == 0 and said.count("checksum") == 3 and "nothing is left" in said

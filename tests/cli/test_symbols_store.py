"""The symbol store: copies of binaries by build-id, from which yesterday's recording has its names."""

import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import time

import pytest

from conftest import BIN, ROOT, ask, run

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import macho_files as macho  # noqa: E402
import test_macho  # noqa: E402
from test_symbolize import one_frame_profile, with_build_id  # noqa: E402

SOURCE = """
volatile unsigned long x;
static inline __attribute__((always_inline)) void step(int i) { x += i * %d; }
__attribute__((noinline)) void %s(void) { for (int i = 0; i < %d; i++) step(i); }
int main(void) { %s(); return x == 1; }
"""
OTHER_ID = "ff" * 20


class Place:
    """A program at a path, a profile of it without names, and a store."""

    def __init__(self, at):
        self.at, self.prog, self.profile = at, at / "bin" / "prog", at / "bare.spaa"
        self.prog.parent.mkdir()
        self.env = {"HOME": str(at / "home"), "XDG_CACHE_HOME": str(at / "cache")}
        self.store = at / "cache" / "spaa" / "symbols"
        self.build("yesterday")
        self.id = build_id(self.prog)
        self.addresses = functions(self.prog)
        one_frame_profile(self.profile, self.prog, self.addresses)
        with_build_id(self.profile, self.id)

    def build(self, name, *flags, times=1000):
        source = self.at / "prog.c"
        source.write_text(SOURCE % (len(name), name, times, name))
        subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", *flags, source, "-o", self.prog], check=True)

    def run(self, *args, code=0, **more):
        return run(*args, code=code, env=self.env, **more)

    def symbols(self, *args, code=0):
        return ask("symbols", *args, code=code, env=self.env)

    def names(self, *options, env=None):
        """By address what symbolize says: (function, line)."""
        out = run("symbolize", self.profile, "--to", "spaa", *options, code=0, env=env or self.env).out
        frames = [json.loads(line) for line in out.splitlines() if '"type":"frame"' in line]
        return {f["ip"]: (f["func"], f.get("srcline")) for f in frames if f.get("func_resolved", True) and not f.get("inlined")}

    def stored(self, part="", build=None):
        build = build or self.id
        return self.store / ".build-id" / build[:2] / (build[2:] + part)

    def files(self):
        return sorted(str(p.relative_to(self.store)) for p in self.store.rglob("*") if p.is_file())

    def strip(self, *flags):
        subprocess.run(["strip", *flags, self.prog], check=True)


def build_id(path):
    out = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return out.split("Build ID: ")[1].split()[0]


def functions(path):
    out = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return [int(f[0], 16) for f in map(str.split, out.splitlines()) if f[1] in "tT" and f[2] in ("main", "yesterday")]


def status(answer):
    return [(f["status"], f["part"]) for f in answer["files"]]


@pytest.fixture
def place(tmp_path):
    if not shutil.which("gcc") or not shutil.which("readelf"):
        pytest.skip("no gcc")
    return Place(tmp_path)


def test_yesterdays_recording_has_the_names_that_it_had(place):
    before = place.names()
    assert {f for f, _ in before.values()} == {"main", "yesterday"} and all(line for _, line in before.values())
    assert place.symbols("add", place.profile)["files"][0]["status"] == "added"
    place.build("today")
    assert place.names("--symbol-store", "none") == {}
    assert place.names() == before
    place.prog.unlink()
    assert place.names() == before


def test_a_recording_of_perf_is_named_from_the_store(place):
    """-N: perf keeps no copy of its own."""
    place.build("yesterday", times=60000000)
    data = place.at / "perf.data"
    tried = subprocess.run(["perf", "record", "-q", "-N", "-o", data, "--", place.prog], capture_output=True, text=True, check=False) \
        if shutil.which("perf") else None
    if not tried or tried.returncode or not data.exists():
        pytest.skip("perf cannot record here")
    top = ("top", data, "--user", "--rows", "prog", "-n", "0", "--json")
    before = json.loads(place.run(*top).out)["rows"]
    assert "yesterday" in [r["function"] for r in before]
    assert ("added", "file") in status(place.symbols("add", data))
    place.build("today")
    assert "yesterday" not in place.run(*top, "--symbol-store", "none").out
    assert json.loads(place.run(*top).out)["rows"] == before


def test_what_is_there_is_not_added_again_and_a_file_of_another_build_is_not_kept(place):
    assert status(place.symbols("add", place.profile)) == [("added", "file")]
    assert status(place.symbols("add", place.profile)) == [("there", "file")]
    place.build("today")
    other = place.at / "other.spaa"
    one_frame_profile(other, place.prog, place.addresses)
    with_build_id(other, OTHER_ID)
    (missing,) = place.symbols("add", other, code=1)["files"]
    assert (missing["status"], missing["part"], missing["build_id"]) == ("missing", None, OTHER_ID)
    assert "another build" in missing["why"] and missing["hint"]
    plain = place.at / "plain.spaa"
    one_frame_profile(plain, place.prog, place.addresses)
    (refused,) = place.symbols("add", plain, code=1)["files"]
    assert refused["status"] == "refused" and "no build-id" in refused["why"]
    said = place.run("symbols", "add", plain, other, place.profile).out
    assert "0 added, 1 already there, 2 not kept" in said and f"{place.prog}: the recording has no build-id of it" in said
    assert max(map(len, said.splitlines()[:4])) <= 120


def test_a_binary_and_its_debug_file_complete_each_other(place):
    before, debug = place.names(), place.at / "prog.debug"
    subprocess.run(["objcopy", "--only-keep-debug", place.prog, debug], check=True)
    place.strip()
    assert status(place.symbols("add", place.prog, debug)) == [("added", "file"), ("added", "debug")]
    place.prog.unlink()
    assert place.names() == before
    (build,) = place.symbols("list")["builds"]
    assert build["parts"] == ["file", "debug"] and build["from"] == str(place.prog)
    place.stored().unlink()
    assert place.names() == before


def test_what_has_more_names_takes_the_place_of_what_has_less(place):
    whole, before = place.prog.read_bytes(), place.names()
    place.strip()
    assert status(place.symbols("add", place.profile)) == [("added", "file")]
    place.prog.write_bytes(whole)
    assert status(place.symbols("add", place.profile)) == [("added", "file")]
    place.strip()
    assert status(place.symbols("add", place.prog)) == [("there", "file")]
    assert place.names() == before
    place.stored(".debug").unlink()  # as where a file system has no links
    assert place.names() == before


@pytest.mark.parametrize("apart", [False, True])
def test_other_debuggers_read_the_store_as_a_folder_of_debug_files(place, apart):
    main = f"0x{place.addresses[0]:x}"
    if apart:
        debug = place.at / "prog.debug"
        subprocess.run(["objcopy", "--only-keep-debug", place.prog, debug], check=True)
        place.symbols("add", debug)
    else:
        place.symbols("add", place.profile)
    place.strip()
    asked = 0
    if shutil.which("gdb"):
        asked += 1
        said = subprocess.run(["gdb", "-nx", "-batch", "-ex", f"set debug-file-directory {place.store}", "-ex", f"file {place.prog}",
                               "-ex", f"info line *{main}"], capture_output=True, text=True, check=True).stdout
        assert "prog.c" in said and ("<main>" in said or "<yesterday>" in said), said
    if shutil.which("llvm-symbolizer"):
        asked += 1
        said = subprocess.run(["llvm-symbolizer", f"--debug-file-directory={place.store}", f"--obj={place.prog}", main],
                              capture_output=True, text=True, check=True).stdout
        assert "prog.c" in said and said.split()[0] in ("main", "yesterday"), said
    if shutil.which("eu-addr2line"):
        asked += 1
        said = subprocess.run(["eu-addr2line", "-f", f"--debuginfo-path={place.store}", "-e", place.prog, main], capture_output=True, text=True,
                              check=True).stdout
        assert "prog.c" in said, said
    if not asked:
        pytest.skip("no gdb, llvm-symbolizer or eu-addr2line")


def test_a_store_elsewhere_or_none_and_as_a_setting(place):
    elsewhere = place.at / "else where"
    answer = place.symbols("add", place.profile, "--symbol-store", elsewhere)
    assert answer["store"] == str(elsewhere) and (elsewhere / ".build-id").is_dir() and not place.store.exists()
    place.prog.unlink()
    assert place.names() == {} and len(place.names("--symbol-store", elsewhere)) == 2
    home = {**place.env, "SPAA_NO_CONFIG": None, "XDG_CONFIG_HOME": str(place.at / "config")}
    (place.at / "config" / "spaa").mkdir(parents=True)
    setting = place.at / "config" / "spaa" / "config"
    setting.write_text(f"symbol-store = {elsewhere}\n")
    assert len(place.names(env=home)) == 2
    setting.write_text("symbol-store = none\n")
    switched_off = run("symbols", env=home, code=2).err
    assert switched_off.count("there is no symbol store: symbol-store is \"none\"") == 1 and "HOME" not in switched_off
    assert "no symbol store" in run("symbols", "add", place.profile, "--symbol-store", "none", code=2, env=place.env).err
    homeless = run("symbols", code=2, env={"HOME": None, "XDG_CACHE_HOME": None})
    assert homeless.out == "" and "HOME or XDG_CACHE_HOME" in homeless.err


def test_in_a_home_without_a_cache_folder_of_its_own_it_is_in_dot_cache(place):
    env = {**place.env, "XDG_CACHE_HOME": "relative/is/ignored"}
    assert ask("symbols", env=env)["store"] == str(place.at / "home" / ".cache" / "spaa" / "symbols")


def test_what_debuginfod_fetched_before_is_used_without_asking_anybody(place):
    before = place.names()
    cached = place.at / "cache" / "debuginfod_client" / place.id
    cached.mkdir(parents=True)
    shutil.move(place.prog, cached / "executable")
    (cached / "debuginfo").touch()  # what the client leaves where no server had it
    assert place.names() == before
    assert status(place.symbols("add", place.profile)) == [("added", "file")]


def test_dwz_common_file_is_kept_with_the_debug_file_that_needs_it(place):
    if not shutil.which("dwz"):
        pytest.skip("no dwz")
    two = place.at / "bin" / "two"
    shutil.copy(place.prog, two)
    subprocess.run(["dwz", "-m", place.at / "bin" / "common", place.prog, two], capture_output=True, check=False)
    if b".gnu_debugaltlink" not in place.prog.read_bytes():
        pytest.skip("dwz found nothing common")
    before = place.names()
    assert sorted(status(place.symbols("add", place.profile))) == [("added", "debug"), ("added", "file")]
    for f in (place.prog, two, place.at / "bin" / "common"):
        f.unlink()
    assert place.names() == before and all(line for _, line in before.values())


def test_mach_o_images_and_bundles_are_kept_by_uuid(tmp_path):
    prog = tmp_path / "real" / "tool"
    prog.parent.mkdir()
    prog.write_bytes(macho.image(uuid=test_macho.UUID, symbols=test_macho.SYMBOLS, starts=test_macho.STARTS))
    env = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    test_macho.profile(tmp_path / "in.spaa", "tool", test_macho.UUID, [macho.CODE])
    looked = ("symbolize", tmp_path / "in.spaa", "--to", "spaa")
    before = run(*looked, "--dsym", prog.parent, code=0, env=env).out
    assert '"alpha"' in before
    assert status(ask("symbols", "add", tmp_path / "in.spaa", "--dsym", prog.parent, env=env)) == [("added", "file")]
    prog.unlink()
    assert run(*looked, code=0, env=env).out == before


def test_windows_binaries_are_kept_by_guid_and_age(tmp_path):
    pdbs = os.path.join(ROOT, "tests", "fixtures", "pdb")
    found = [f for f in sorted(os.listdir(pdbs)) if f.endswith(".pdb")] if os.path.isdir(pdbs) else []
    if not found:
        pytest.skip("no PDB")
    env = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    (kept,) = ask("symbols", "add", os.path.join(pdbs, found[0]), env=env)["files"]
    assert (kept["status"], kept["part"]) == ("added", "pdb")
    assert (tmp_path / "spaa/symbols/.build-id" / kept["build_id"][:2] / (kept["build_id"][2:] + ".pdb")).exists()


KERNEL = "ab" * 20


def kernel_profile(path, text):
    head = {"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root", "stack_id_mode": "local",
            "events": [{"name": "e", "kind": "timer", "sampling": {"mode": "event", "primary_metric": "samples"}}]}
    rows = [head, {"type": "dso", "id": 1, "name": "[kernel]", "is_kernel": True, "build_id": KERNEL, "x_spaa": {"base": hex(text), "symbol": "_text"}},
            {"type": "frame", "id": 1, "func": "0x1010", "func_resolved": False, "dso": 1, "ip": "0x1010", "kind": "kernel"},
            {"type": "stack", "id": 1, "frames": [1], "stack_type": "unified", "context": {"event": "e"}, "weights": [{"metric": "samples", "value": 8}]}]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))


def test_kernel_symbols_are_kept_for_each_boot(tmp_path):
    env = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    first, second, kallsyms = 0xffffffff81000000, 0xffffffff91000000, tmp_path / "kallsyms"
    for text, name in ((first, "one"), (second, "two")):
        kallsyms.write_text(f"{text:016x} T _text\n{text + 0x1000:016x} T {name}\n{text + 0x2000:016x} T _etext\n")
        kernel_profile(tmp_path / "k.spaa", text)
        (kept,) = ask("symbols", "add", tmp_path / "k.spaa", "--kallsyms", kallsyms, env=env)["files"]
        assert (kept["status"], kept["part"], kept["bytes"]) == ("added", "kallsyms", kallsyms.stat().st_size)
    kallsyms.unlink()
    for text, name in ((first, "one"), (second, "two"), (0xffffffffa1000000, "one")):  # of another boot any serves
        kernel_profile(tmp_path / "k.spaa", text)
        assert f'"func":"{name}"' in run("symbolize", tmp_path / "k.spaa", "--to", "spaa", code=0, env=env).out
    for p in (tmp_path / "cache").rglob("*.kallsyms.*"):
        assert p.stat().st_mode & 0o777 == 0o600
    hidden = tmp_path / "hidden"
    hidden.write_text("0000000000000000 T _text\n0000000000000000 T one\n")
    other = tmp_path / "o.spaa"
    kernel_profile(other, first)
    other.write_text(other.read_text().replace(KERNEL, OTHER_ID))
    (missing,) = ask("symbols", "add", other, "--kallsyms", hidden, code=1, env=env)["files"]
    assert missing["status"] == "missing" and "hides the addresses" in missing["why"]


# ---- cleaning ----


def aged(place, days):
    """Three builds, each used so many days ago; their ids."""
    ids = []
    for i, d in enumerate(days):
        place.build(f"f{i}")
        place.symbols("add", place.prog)
        ids.append(build_id(place.prog))
        then = time.time() - d * 86400 - 60
        for part in ("", ".debug"):
            os.utime(place.stored(part, ids[-1]), (then, then))
    return ids


def removed(answer):
    return [b["build_id"] for b in answer["removed"]]


def test_the_least_recently_used_go_first(place):
    old, middle, young = aged(place, (30, 20, 10))
    size = place.stored("", old).stat().st_size
    assert [b["build_id"] for b in place.symbols("list")["builds"]] == [young, middle, old]
    assert removed(place.symbols("gc", "--older-than", "31")) == []
    dry = place.symbols("gc", "--older-than", "15", "--dry-run")
    assert dry["dry_run"] and removed(dry) == [middle, old] and place.stored("", old).exists()
    assert removed(place.symbols("gc", "--older-than", "25")) == [old]
    assert not list(place.stored("", old).parent.glob(old[2:] + "*"))
    said = place.run("symbols", "gc", "--max-size", str(size)).out
    assert middle in said and young not in said and "in 1 build removed" in said
    assert removed(place.symbols("gc", "--max-size", "1G")) == []
    assert removed(place.symbols("gc", "--max-size", "0")) == [young] and place.files() == []
    assert place.symbols("gc", "--max-size", "0")["removed"] == []


def test_what_was_just_used_stays(place):
    (old,) = aged(place, (30,))
    place.build("yesterday")
    place.symbols("add", place.profile)
    for part in ("", ".debug"):
        os.utime(place.stored(part), (time.time() - 86400 * 40,) * 2)
    place.prog.unlink()
    assert len(place.names()) == 2
    assert place.stored().stat().st_atime > time.time() - 600
    answer = place.run("symbols", "gc", "--max-size", "0").out
    assert old in answer and place.id not in answer and "1 used within the last hour stays" in answer
    assert len(place.names()) == 2


@pytest.mark.parametrize("words,said", [
    (("gc",), "needs to be told"), (("gc", "--older-than", "x"), "--older-than"), (("gc", "--max-size", "1X"), "--max-size"),
    (("gc", "--max-size", "99999999999T"), "--max-size"), (("add",), "needs a file"), (("list", "a"), "takes no files"), (("lst",), "did you mean list"),
    (("pack", "a"), "needs -o"), (("pack", "a", "b", "-o", "c"), "takes one"), (("list", "--dry-run"), "--dry-run is of spaa symbols gc"),
    (("add", "a", "-o", "x"), "--output is of spaa symbols pack"), (("gc", "--older-than", ""), "--older-than")])
def test_what_makes_no_sense_is_refused(tmp_path, words, said):
    answer = run("symbols", *words, code=2, env={"XDG_CACHE_HOME": str(tmp_path)})
    assert said in answer.err and answer.out == ""


def test_a_file_that_cannot_be_opened_is_said(place):
    assert "SPAA-E001" in place.run("symbols", "add", place.at / "gone", code=3).err
    text = place.at / "text"
    text.write_text("no recording")
    assert place.run("symbols", "add", text, code=3).err
    bare = place.at / "bare"
    subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", place.prog, bare], check=True)
    (refused,) = place.symbols("add", bare, code=1)["files"]
    assert refused["why"] == "it has no build-id" and not place.store.exists()


# ---- archives ----


def pack(place, name="symbols.tar"):
    archive = place.at / name
    assert status(place.symbols("pack", place.profile, "-o", archive)) == [("packed", "file")]
    return archive


def test_a_pack_is_taken_in_on_another_machine(place):
    archive, before = pack(place, "symbols.tar.zst"), place.names()
    again = archive.read_bytes()
    assert pack(place, "symbols.tar.zst").read_bytes() == again
    place.prog.unlink()
    assert place.names() == {}
    assert status(place.symbols("add", archive)) == [("added", "file")]
    assert place.names() == before
    (build,) = place.symbols("list")["builds"]
    assert build["from"] == str(place.prog)
    assert status(place.symbols("add", archive)) == [("there", "file")]


def test_any_tar_reads_a_pack(place):
    archive = pack(place)
    with tarfile.open(archive) as t:
        assert t.getnames() == [f".build-id/{place.id[:2]}/{place.id[2:]}", f".build-id/{place.id[:2]}/{place.id[2:]}.from"]
        assert t.extractfile(t.getnames()[0]).read() == place.prog.read_bytes()
        assert t.extractfile(t.getnames()[1]).read() == f"{place.prog}\n".encode()
        assert [m.mtime for m in t.getmembers()] == [int(place.prog.stat().st_mtime), 0]
        assert {(m.uid, m.mode) for m in t.getmembers()} == {(0, 0o644)}
    assert run("symbols", "pack", place.profile, "-o", "-", code=0, env=place.env).raw == archive.read_bytes()


def test_a_store_that_tar_packed_is_taken_in(place):
    place.symbols("add", place.profile)
    subprocess.run(["tar", "cf", place.at / "store.tar", "-C", place.store, "."], check=True)
    with_links = [p for p in place.files()]
    answer = place.symbols("add", place.at / "store.tar", "--symbol-store", place.at / "second")
    assert sorted(status(answer), key=str) == [("added", "file"), ("refused", None)]  # the other name is a link
    again = sorted(str(p.relative_to(place.at / "second")) for p in (place.at / "second").rglob("*") if p.is_file())
    assert [p for p in again if not p.endswith(".from")] == [p for p in with_links if not p.endswith(".from")]


def test_a_pack_with_nothing_in_it_is_not_written(place):
    place.prog.unlink()
    place.run("symbols", "pack", place.profile, "-o", place.at / "none.tar", code=1)
    assert not (place.at / "none.tar").exists()
    out = place.run("symbols", "pack", place.profile, "-o", "-", code=1)
    assert out.raw == b"" and "SPAA-W808" in out.err


def member(name, data=b"", **more):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def archive_of(path, *members, fmt=tarfile.USTAR_FORMAT):
    with tarfile.open(path, "w", format=fmt) as t:
        for info, data in members:
            t.addfile(info, io.BytesIO(data))
    return path


def test_an_archive_of_a_stranger_puts_nothing_elsewhere_and_nothing_wrong(place):
    name, elf = f".build-id/{place.id[:2]}/{place.id[2:]}", place.prog.read_bytes()
    wrong = ".build-id/ff/" + "f" * 38
    bad = archive_of(place.at / "bad.tar",
                     member("/" + name, elf), member("../" + name, elf), member(".build-id/../../" + name, elf),
                     member(wrong, elf), member(wrong + ".debug", elf), member(".build-id/ff/" + "e" * 38, b"no ELF file"),
                     member(name + "/x", elf), member(name + ".exe", elf), member(name[:-1] + "G", elf),
                     member(name, type=tarfile.SYMTYPE, linkname="/etc/passwd"), member(name, type=tarfile.LNKTYPE, linkname="/etc/passwd"),
                     member(name, type=tarfile.CHRTYPE), member(wrong + ".from", b"a note of nothing\n"),
                     member(wrong + ".kallsyms.ffffffff81000000", b"ffffffff91000000 T _text\nffffffff91001000 T f\n"),
                     member(name + ".pdb", elf))
    outside = sorted(place.at.iterdir())
    answer = place.symbols("add", bad, code=1)
    assert {f["status"] for f in answer["files"]} == {"refused"} and len(answer["files"]) == 14
    assert all(f["why"] for f in answer["files"])
    assert not place.store.exists() and sorted(place.at.iterdir()) == outside
    good = archive_of(place.at / "good.tar", member(name, elf), member(name + ".from", b"\x1b[31m/bin/\xff" + b"a" * 50 + b"\n"))
    assert status(place.symbols("add", good)) == [("added", "file")]
    assert "\x1b" not in place.run("symbols", "list").out


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_an_archive_that_is_cut_off_adds_only_what_is_whole(place, cut):
    data = pack(place).read_bytes()
    (place.at / "cut.tar").write_bytes(data[:int(len(data) * cut)])
    answer = place.run("symbols", "add", place.at / "cut.tar", code=3)
    assert "SPAA-E002" in answer.err and place.files() == ([] if cut < 0.9 else place.files())
    for path in place.files():
        assert not path.endswith(".tmp")


def test_damage_in_the_middle_of_an_archive_is_told(place):
    data = bytearray(pack(place).read_bytes())
    size = (place.prog.stat().st_size + 511) // 512 * 512
    data[512 + size + 10] ^= 1  # in the second header
    (place.at / "damaged.tar").write_bytes(data)
    assert "damaged or cut off" in place.run("symbols", "add", place.at / "damaged.tar", code=3).err


# ---- failures ----


def test_no_room_leaves_nothing_half_written(place):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    env = {**os.environ, **place.env, "SPAA_NO_CONFIG": "1"}
    done = subprocess.run([BIN, "symbols", "add", place.profile], env=env, preexec_fn=small, capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "SPAA-E020" in done.stderr and place.files() == []
    done = subprocess.run([BIN, "symbols", "pack", place.profile, "-o", place.at / "a.tar"], env=env, preexec_fn=small, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 3 and not list(place.at.glob("*.tar")) and not list(place.at.glob(".spaa-*"))


def test_a_store_that_cannot_be_written_is_said_and_one_that_can_be_read_is_used(place):
    place.store.parent.mkdir(parents=True)
    place.store.write_text("a file")
    assert "SPAA-E020" in place.run("symbols", "add", place.profile, code=3).err
    assert len(place.names()) == 2


def test_several_add_the_same_at_once(place):
    env = {**os.environ, **place.env, "SPAA_NO_CONFIG": "1"}
    many = [subprocess.Popen([BIN, "symbols", "add", place.profile], env=env, stdout=subprocess.DEVNULL) for _ in range(6)]
    assert [p.wait() for p in many] == [0] * 6
    assert place.files() == [f".build-id/{place.id[:2]}/{place.id[2:]}{part}" for part in ("", ".debug", ".from")]
    assert place.stored().read_bytes() == place.prog.read_bytes()


def test_a_damaged_copy_is_not_used_and_is_mended(place):
    before = place.names()
    place.symbols("add", place.profile)
    place.stored(".debug").unlink()
    place.stored().write_bytes(b"\x7fELF")
    assert place.names() == before
    assert status(place.symbols("add", place.profile)) == [("added", "file")]
    assert place.stored().read_bytes() == place.prog.read_bytes()


# ---- when a binary was written ----


def newer(place, *options):
    """What annotate says of the source, the binary being in the store alone."""
    place.run("symbolize", place.profile, "-o", place.at / "named.spaa", *options)
    (file,) = ask("annotate", place.at / "named.spaa", "yesterday", *options, env=place.env)["files"]
    return file["newer"]


def rewritten(place):
    """Of a binary of an hour ago: its source is written once more, after it."""
    then = time.time() - 3600
    os.utime(place.prog, (then, then))
    os.utime(place.at / "prog.c", (then + 60, then + 60))


def test_a_copy_has_the_time_of_its_original(place):
    rewritten(place)
    before = place.prog.stat().st_mtime_ns
    place.symbols("add", place.profile)
    place.prog.unlink()
    assert place.stored().stat().st_mtime_ns == before and newer(place) is True
    os.utime(place.at / "prog.c", (1e9, 1e9))
    assert newer(place) is False


def test_a_pack_has_the_times_of_its_files(place):
    rewritten(place)
    archive = pack(place)
    before = int(place.prog.stat().st_mtime)
    place.prog.unlink()
    place.symbols("add", archive)
    assert place.stored().stat().st_mtime == before and newer(place) is True


def test_a_copy_without_the_time_of_its_original_tells_nothing(place):
    """As those are that older versions put there, or packed. To add the original again mends them."""
    rewritten(place)
    original = place.at / "original"
    shutil.copy2(place.prog, original)
    place.symbols("add", place.profile)
    place.prog.unlink()
    for then in (None, (0, 0)):
        os.utime(place.stored(), then)
        assert newer(place) is None
        assert "is not known" in run("annotate", place.at / "named.spaa", "yesterday", env=place.env, code=0).out
    with tarfile.open(pack(place)) as t:
        assert t.getmembers()[0].mtime == 0
    assert status(place.symbols("add", original)) == [("there", "file")]
    assert newer(place) is True

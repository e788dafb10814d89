"""A binary without a recorded build-id that was written after the recording: it may be another build, and that is said."""

import fcntl
import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT, ask, run
from test_annotate import SOURCE, needs_tools
from test_annotate_diff import NEW

sys.path.insert(0, os.path.join(ROOT, "tests", "formats"))
import perf_data_files as files  # noqa: E402
import profiles  # noqa: E402

HOUR = 3600


def compiled(folder, id_, source=SOURCE):
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "shop.cpp").write_text(source)
    subprocess.run(["g++", "-O2", "-g", "-Wl,--build-id=" + id_, "-o", "shop", "src/shop.cpp"], cwd=folder, check=True)
    os.utime(folder / "src" / "shop.cpp", (1, 1))


def recorded(folder, later, build_id=None):
    """A recording of addresses in sum, and the binary so many seconds later."""
    out = subprocess.run(["nm", "-S", folder / "shop"], capture_output=True, text=True, check=True).stdout
    start, size = next((int(f[0], 16), int(f[1], 16)) for f in map(str.split, out.splitlines()) if len(f) == 4 and "sum" in f[3])
    frame = {"dso": str(folder / "shop"), "func_resolved": False, "kind": "user"}
    stacks = [([{**frame, "func": hex(a), "ip": hex(a)}], {"samples": 1, "period": a - start + 1})
              for a in range(start, start + size)]
    text = profiles.text(stacks)
    if build_id:
        text = text.replace('"name":"%s"' % (folder / "shop"), '"name":"%s","build_id":"%s"' % (folder / "shop", build_id))
        assert build_id in text
    (folder / "bare.spaa").write_text(text)
    at = os.stat(folder / "bare.spaa").st_mtime + later
    os.utime(folder / "shop", (at, at))
    return folder / "bare.spaa"


def named(bare, *more):
    out = bare.parent / "p.spaa"
    return out, run("symbolize", bare, "-o", out, *more, code=0).err


def dso(path):
    return next(r for r in map(json.loads, path.read_text().splitlines()) if r["type"] == "dso" and r["name"].endswith("shop"))


def said(*args):
    return " ".join(run("annotate", *args, code=0).out.split())


@needs_tools
@pytest.mark.parametrize("id_", ("none", "sha1"))
def test_a_later_binary_names_but_that_is_said(tmp_path, id_):
    compiled(tmp_path, id_)
    profile, err = named(recorded(tmp_path, HOUR))
    assert err.count("SPAA-W809") == 1 and str(tmp_path / "shop") in err
    assert "build_id" not in dso(profile) and dso(profile)["x_spaa"] == {"doubtful": True}
    answer = ask("annotate", profile, "sum")
    assert answer["files"][0]["newer"] is None and answer["files"][0]["source"] == "recorded" and answer["ranges"][0]["text"]
    text = said(profile, "sum")
    assert "! the binary was replaced, or changed since it was recorded, and no build-id shows which one ran" in text and "is a copy" not in text


@needs_tools
def test_a_binary_that_was_there_is_believed(tmp_path):
    compiled(tmp_path, "sha1")
    profile, err = named(recorded(tmp_path, -HOUR))
    assert "W809" not in err and "build_id" in dso(profile) and "x_spaa" not in dso(profile)
    assert ask("annotate", profile, "sum")["files"][0]["newer"] is False
    assert "no build-id shows" not in said(profile, "sum")


@needs_tools
def test_a_binary_of_the_recorded_build_id_is_believed(tmp_path):
    compiled(tmp_path, "0x" + "ab" * 20)
    profile, err = named(recorded(tmp_path, HOUR, "ab" * 20))
    assert "W809" not in err and dso(profile)["build_id"] == "ab" * 20
    assert ask("annotate", profile, "sum")["files"][0]["newer"] is False


@needs_tools
def test_a_binary_below_symfs_is_believed(tmp_path):
    compiled(tmp_path, "none")
    bare = recorded(tmp_path, HOUR)
    copy = tmp_path / "root" / str(tmp_path / "shop").lstrip("/")
    copy.parent.mkdir(parents=True)
    os.rename(tmp_path / "shop", copy)
    profile, err = named(bare, "--symfs", tmp_path / "root")
    assert "W809" not in err and "x_spaa" not in dso(profile)


@needs_tools
def test_a_binary_that_is_rebuilt_after_the_profile_was_made(tmp_path):
    compiled(tmp_path, "none")
    profile, _ = named(recorded(tmp_path, -HOUR))
    assert ask("annotate", profile, "sum")["files"][0]["newer"] is False
    at = os.stat(profile).st_mtime + HOUR
    os.utime(tmp_path / "shop", (at, at))
    assert ask("annotate", profile, "sum")["files"][0]["newer"] is None
    assert "may be another build's" in said(profile, "sum")


@needs_tools
def test_instructions_of_it_are_refused(tmp_path):
    compiled(tmp_path, "none")
    profile, _ = named(recorded(tmp_path, HOUR))
    answer = ask("annotate", profile, "sum", "--asm")
    assert "changed since it was recorded" in answer["no_instructions"] and "--symfs" in answer["hint"]
    assert not answer.get("instructions")


@needs_tools
def test_its_text_is_none_as_compiled(tmp_path):
    both = []
    for name, source in (("a", SOURCE), ("b", NEW)):
        compiled(tmp_path / name, "none", source)
        both.append(named(recorded(tmp_path / name, HOUR if name == "a" else -HOUR))[0])
    answer = ask("annotate", both[1], "sum", "--diff", both[0], "-n", "0")
    rows = [r for r in answer["compared"] if (r["file"] or "").endswith("shop.cpp")]
    assert answer["diff"]["by_number"] and rows and {r["change"] for r in rows} == {"unknown"}


@needs_tools
def test_embedded_text_of_it_has_no_date(tmp_path):
    compiled(tmp_path, "none")
    profile, _ = named(recorded(tmp_path, HOUR))
    run("convert", profile, "--embed-source", "1", "-o", tmp_path / "kept.spaa", code=0)
    pieces = [r for r in map(json.loads, (tmp_path / "kept.spaa").read_text().splitlines()) if r["type"] == "x_spaa_source"]
    assert pieces and not any("newer" in r or "older" in r for r in pieces)
    assert dso(tmp_path / "kept.spaa")["x_spaa"] == {"doubtful": True}


def perf_data(folder, file=None, deleted=True, host=None, build_id=b"", table=(), changed=0, last=0):
    """A recording of sum by its addresses, of which perf tells the path, and perhaps the inode.

    The file is changed so many seconds before the recording's end, which is now; of the last sample the header tells the time.
    """
    out = subprocess.run(["nm", "-S", folder / "shop"], capture_output=True, text=True, check=True).stdout
    start, size = next((int(f[0], 16), int(f[1], 16)) for f in map(str.split, out.splitlines()) if len(f) == 4 and "sum" in f[3])
    load = subprocess.run(["readelf", "-lW", folder / "shop"], capture_output=True, text=True, check=True).stdout
    at = next(line.split() for line in load.splitlines() if "LOAD" in line and " E " in line)
    offset, vaddr, length = (int(at[i], 16) for i in (1, 2, 4))
    r = files.Recording([(1, 0, files.IP | files.TID | files.TIME, {})])
    path = os.fsencode(folder / "shop")
    r.mmap2(10, 0x400000, length, offset, path + (b" (deleted)" if deleted else b""), 5, build_id, file=file or (0, 0, 0, 0))
    for i in range(size):
        r.sample(ip=0x400000 + start + i - vaddr, time=10 + i)
    if table:
        name = files.pad8(table[0] + b"\0")
        r.features[2] = r.pack("IHHi20sI", 0, 2, 36 + len(name), 10, table[1], 0) + name
    if host:
        r.features[3] = r.text(host)
    if last:
        r.features[21] = r.pack("QQ", 10, last)
    (folder / "perf.data").write_bytes(r.bytes())
    at = os.stat(folder / "perf.data").st_mtime_ns - (changed or HOUR) * 10**9
    os.utime(folder / "shop", ns=(at, at))
    os.utime(folder / "perf.data")
    return folder / "perf.data"


def names(path):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return {r["func"] for r in records if r["type"] == "frame" and r.get("func_resolved", True)}


def converted(path, *more):
    out = path.parent / "out.spaa"
    return out, run("convert", path, "-o", out, *more, code=0).err


@needs_tools
def test_a_binary_that_was_deleted_while_it_ran_is_another_one(tmp_path):
    """The file at its path is older than the recording: it was moved there."""
    compiled(tmp_path, "sha1")
    data = perf_data(tmp_path)
    profile, err = converted(data)
    assert err.count("SPAA-W809") == 1 and "build_id" not in dso(profile) and dso(profile)["x_spaa"] == {"doubtful": True}
    assert "replaced" in ask("annotate", data, "sum", "--asm")["no_instructions"]
    for command in (["top"], ["info"], ["summary"], ["top", "--json"]):
        assert (answer := run(command[0], profile, *command[1:], code=0)) and (answer.err + answer.out).count("SPAA-W809") >= 1
    bare, err = converted(data, "--no-symbols")
    assert "W809" not in err and dso(bare)["x_spaa"]["doubtful"] and "W809" not in run("top", bare, code=0).err
    named_, err = named(bare)
    assert err.count("SPAA-W809") == 1 and named_.read_bytes() == converted(data)[0].read_bytes()


@needs_tools
def test_the_binary_that_was_deleted_is_believed_where_it_was_kept(tmp_path):
    compiled(tmp_path, "none")
    data = perf_data(tmp_path)
    copy = tmp_path / "root" / str(tmp_path / "shop").lstrip("/")
    copy.parent.mkdir(parents=True)
    os.rename(tmp_path / "shop", copy)
    for path in (data, converted(data, "--no-symbols")[0].rename(tmp_path / "bare.spaa")):
        profile, err = (converted if path == data else named)(path, "--symfs", tmp_path / "root")
        assert "W809" not in err and "x_spaa" not in dso(profile) and names(profile)


@needs_tools
def test_the_binary_that_was_deleted_is_believed_by_its_build_id(tmp_path):
    compiled(tmp_path, "0x" + "ab" * 20)
    profile, err = converted(perf_data(tmp_path, build_id=b"\xab" * 20))
    assert "W809" not in err and dso(profile)["build_id"] == "ab" * 20 and names(profile)
    profile, err = converted(perf_data(tmp_path, build_id=b"\xcd" * 20))
    assert "W312" in err and not names(profile)


@needs_tools
def test_the_build_id_of_what_came_after_is_not_that_of_the_deleted_binary(tmp_path):
    """Both ran; perf stores the build-id of the one that is there."""
    compiled(tmp_path, "0x" + "ab" * 20)
    profile, err = converted(perf_data(tmp_path, table=(os.fsencode(tmp_path / "shop"), b"\xab" * 20)))
    assert err.count("SPAA-W809") == 1 and "build_id" not in dso(profile)


@needs_tools
@pytest.mark.parametrize("change, doubtful", (("", False), ("inode", True), ("inode device", False), ("inode host", False),
                                              ("inode no host", False)))
def test_another_inode_on_the_device_of_the_recording_is_another_binary(tmp_path, change, doubtful):
    compiled(tmp_path, "none")
    st = os.stat(tmp_path / "shop")
    file = (os.major(st.st_dev) + ("device" in change), os.minor(st.st_dev), st.st_ino + ("inode" in change), 0)
    host = None if "no host" in change else os.uname().nodename.encode() + (b"x" if "host" in change else b"")
    profile, err = converted(perf_data(tmp_path, file, False, host))
    assert names(profile) and ("W809" in err, "x_spaa" in dso(profile)) == (doubtful, doubtful)


@needs_tools
@pytest.mark.parametrize("host, doubtful", ((os.uname().nodename, True), ("another", False)))
def test_a_time_of_writing_that_was_set_back_shows_nothing(tmp_path, host, doubtful):
    """`cp -p old shop`: written an hour before, but its inode says that it was changed after the recording."""
    compiled(tmp_path, "none")
    st = os.stat(tmp_path / "shop")
    file = (os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, 0)
    data = perf_data(tmp_path, file, False, host.encode())
    assert "W809" not in converted(data)[1]
    os.utime(data, (os.stat(data).st_mtime - 60,) * 2)
    profile, err = converted(data)
    assert names(profile) and ("W809" in err, "x_spaa" in dso(profile)) == (doubtful, doubtful)


@needs_tools
@pytest.mark.parametrize("id_", ("none", "0x" + "ab" * 20))
@pytest.mark.parametrize("changed, host, doubtful", ((5, "", True), (15, "", False), (5, "x", False)))
def test_a_binary_that_was_written_to_between_its_map_and_the_end(tmp_path, id_, changed, host, doubtful):
    """Mapped 10 s before the last sample; `cp new shop` keeps the inode, and perf stores the build-id of what is there at the end."""
    compiled(tmp_path, id_)
    st = os.stat(tmp_path / "shop")
    file = (os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, 0)
    table = () if id_ == "none" else (os.fsencode(tmp_path / "shop"), b"\xab" * 20)
    data = perf_data(tmp_path, file, False, (os.uname().nodename + host).encode(), table=table, changed=changed, last=10**10)
    profile, err = converted(data)
    assert names(profile) and ("W809" in err, "x_spaa" in dso(profile)) == (doubtful, doubtful)
    assert doubtful or id_ == "none" or dso(profile)["build_id"] == "ab" * 20


@needs_tools
@pytest.mark.parametrize("change, build_id, days, doubtful", (
    ("", b"\xab", 0, False), ("inode", b"\xab", 0, True), ("inode", b"\xab", 2, False), ("inode", b"\xcd", 0, False),
    ("inode host", b"\xab", 0, False)))  # fmt: skip
def test_the_stored_build_id_of_what_replaced_the_binary_meanwhile_is_not_its_own(tmp_path, change, build_id, days, doubtful):
    """perf reads them at the end. A file that is older was there before: the recording is another machine's of this name."""
    compiled(tmp_path, "0x" + "ab" * 20)
    st = os.stat(tmp_path / "shop")
    file = (os.major(st.st_dev), os.minor(st.st_dev), st.st_ino + ("inode" in change), 0)
    host = os.uname().nodename.encode() + (b"x" if "host" in change else b"")
    data = perf_data(tmp_path, file, False, host, table=(os.fsencode(tmp_path / "shop"), build_id * 20))
    written = os.stat(data).st_mtime - HOUR - days * 24 * HOUR
    os.utime(tmp_path / "shop", (written, written))
    for profile, err in (converted(data), named(converted(data, "--no-symbols")[0])):
        assert ("W809" in err, dso(profile).get("build_id")) == (doubtful, None if doubtful else build_id.hex() * 20)
        assert bool(dso(profile).get("x_spaa", {}).get("doubtful")) == doubtful


def generation(path):
    with open(path, "rb") as f:
        try:
            return int.from_bytes(fcntl.ioctl(f, 0x80087601, bytes(8))[:4], sys.byteorder)
        except OSError:
            return 0


@needs_tools
@pytest.mark.parametrize("more", (0, 1))
def test_an_inode_that_was_used_again_is_another_binary(tmp_path, more):
    compiled(tmp_path, "none")
    st, now = os.stat(tmp_path / "shop"), generation(tmp_path / "shop")
    if not now:
        pytest.skip("the file system has no generations")
    file = (os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, now + more)
    _, err = converted(perf_data(tmp_path, file, False, os.uname().nodename.encode()))
    assert ("W809" in err) == bool(more)


@needs_tools
def test_text_that_the_profile_carries_stays_its_own_when_the_binary_is_rebuilt(tmp_path):
    compiled(tmp_path, "none")
    profile, _ = named(recorded(tmp_path, -HOUR))
    kept = tmp_path / "kept.spaa"
    run("convert", profile, "--embed-source", "1", "-o", kept, code=0)
    at = os.stat(kept).st_mtime + HOUR
    os.utime(tmp_path / "shop", (at, at))
    os.unlink(tmp_path / "src" / "shop.cpp")
    answer = ask("annotate", kept, "sum")
    assert answer["files"][0]["newer"] is False and answer["ranges"][0]["text"]
    text = said(kept, "sum")
    assert "another build's" not in text and "was not known" not in text
    assert not ask("annotate", kept, "sum", "--diff", kept)["diff"]["by_number"]
    assert ask("annotate", kept, "sum", "--asm")["no_instructions"]


def text_of(folder, deleted):
    """perf script's words of sum: its own names stay, addresses are looked up in the file at the path."""
    out = subprocess.run(["nm", folder / "shop"], capture_output=True, text=True, check=True).stdout
    start = next(int(f[0], 16) for f in map(str.split, out.splitlines()) if len(f) == 3 and "sum" in f[2])
    path = f"{folder / 'shop'}{' (deleted)' if deleted else ''}"
    (folder / "t.txt").write_text(f"shop 5/5 1.000001: 1 cycles: \n\t{start + 4:x} [unknown] ({path})\n\t{start + 9:x} other+0x9 ({path})\n\n")
    later = os.stat(folder / "t.txt").st_mtime - HOUR
    os.utime(folder / "shop", (later, later))
    return folder / "t.txt"


def heap_of(folder, deleted):
    """gperftools' heap profile of the process, with its maps."""
    out = subprocess.run(["nm", folder / "shop"], capture_output=True, text=True, check=True).stdout
    start = next(int(f[0], 16) for f in map(str.split, out.splitlines()) if len(f) == 3 and "sum" in f[2])
    path = f"{folder / 'shop'}{' (deleted)' if deleted else ''}"
    (folder / "t.heap").write_text(f"heap profile:      1:     64 [     1:     64] @ heapprofile\n     1:     64 [     1:     64] @ 0x{0x400000 + start + 4:x}\n\n"
                                   f"MAPPED_LIBRARIES:\n00400000-00409000 r-xp 00000000 08:01 77 {path}\n")
    later = os.stat(folder / "t.heap").st_mtime - HOUR
    os.utime(folder / "shop", (later, later))
    return folder / "t.heap"


@needs_tools
@pytest.mark.parametrize("made", (text_of, heap_of))
def test_texts_that_say_deleted_are_believed(tmp_path, made):
    compiled(tmp_path, "sha1")
    profile, err = named(converted(made(tmp_path, True), "--no-symbols")[0])
    assert err.count("SPAA-W809") == 1 and "build_id" not in dso(profile) and dso(profile)["x_spaa"]["doubtful"]
    profile, err = named(converted(made(tmp_path, False), "--no-symbols")[0])
    assert "W809" not in err and not dso(profile).get("x_spaa", {}).get("doubtful") and any("sum" in n for n in names(profile))


@needs_tools
@pytest.mark.parametrize("folder", ("", ".debug/"))
def test_a_debug_file_beside_the_recorded_path_is_found_where_perf_kept_a_copy_of_the_binary(tmp_path, folder):
    """perf record copies binaries to ~/.debug, and the debug files of their .gnu_debuglink stay where they are."""
    compiled(tmp_path, "0x" + "ab" * 20)
    profile, _ = named(recorded(tmp_path, -HOUR, "ab" * 20))
    (tmp_path / folder).mkdir(exist_ok=True)
    shop, debug = tmp_path / "shop", tmp_path / (folder + "shop.dbg")
    subprocess.run(["objcopy", "--only-keep-debug", shop, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", "--add-gnu-debuglink", debug, shop], check=True)
    kept = tmp_path / "home" / ".debug" / ".build-id" / "ab" / ("ab" * 19) / "elf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(shop.read_bytes())
    for home in (tmp_path / "none", tmp_path / "home"):
        run("symbolize", profile, "-o", tmp_path / "p.spaa", code=0, env={"HOME": str(home)})
        assert any("sum" in n for n in names(tmp_path / "p.spaa"))


def test_a_replaced_binary_and_the_one_in_its_place_are_told_apart(tmp_path):
    """Two files of one path, neither with a build-id: rows, ids and lookups of each."""
    frames = [{"dso": "/opt/a", "func": "hot", "kind": "user", "ip": hex(ip)} for ip in (0x1200, 0x1300)]
    lines = [json.loads(x) for x in profiles.text([([f], {"samples": n, "period": n}) for f, n in zip(frames, (3, 2))]).splitlines()]
    old = next(r for r in lines if r["type"] == "dso")
    second = next(r for r in lines if r["type"] == "frame" and r["ip"] == "0x1300")
    lines.insert(lines.index(old) + 1, {**old, "id": 99, "x_spaa": {"doubtful": True}})
    second["dso"] = 99
    (tmp_path / "two.spaa").write_text("".join(json.dumps(r) + "\n" for r in lines))
    rows = ask("top", tmp_path / "two.spaa")["rows"]
    assert [(r["function"], r["self"]) for r in rows] == [("hot", 3), ("hot", 2)]
    assert len({r["id"] for r in rows}) == 2
    assert "a (replaced)" in run("top", tmp_path / "two.spaa", code=0).out
    for row in rows:
        assert ask("function", tmp_path / "two.spaa", row["id"])["self"] == row["self"]


def recording_of(folder, path, maps, table, host=None, last=0):
    """Samples in maps of one path by another file each: (device and inode), with what perf stored of the path."""
    r = files.Recording([(1, 0, files.IP | files.TID | files.TIME, {})])
    for i, file in enumerate(maps):
        r.mmap2(10 + i, 0x400000, 0x10000, 0, os.fsencode(path), 5 + i, file=file)
        r.sample(ip=0x400100 + i, time=10 + i, pid=10 + i, tid=10 + i)
    name = files.pad8(os.fsencode(path) + b"\0")
    r.features[2] = b"".join(r.pack("IHHi20sI", 0, 2, 36 + len(name), 10, id_, 0) + name for id_ in table)
    if host:
        r.features[3] = r.text(host)
    if last:
        r.features[21] = r.pack("QQ", 10, last)
    (folder / "perf.data").write_bytes(r.bytes())
    return folder / "perf.data"


def dsos_of(path, name):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [(r.get("build_id"), r.get("x_spaa", {}).get("doubtful", False)) for r in records if r["type"] == "dso" and r["name"].endswith(name)]


@pytest.mark.parametrize("maps, table, want", (
    ([(8, 1, 5, 0), (8, 1, 6, 0)], [b"\xab" * 20], [("ab" * 20, False), (None, True)]),
    ([(8, 1, 5, 7), (8, 1, 5, 9)], [b"\xab" * 20], [("ab" * 20, False), (None, True)]),
    ([(8, 1, 5, 0), (8, 1, 5, 9)], [b"\xab" * 20], [("ab" * 20, False)]),
    ([(8, 1, 5, 0), (8, 1, 6, 0)], [b"\xab" * 20, b"\xcd" * 20], [(None, True)]),
    ([(8, 1, 5, 0)], [b"\xab" * 20, b"\xab" * 20], [("ab" * 20, False)])), ids=["two", "used again", "one", "two in the table", "one twice"])
def test_the_stored_build_id_is_that_of_the_file_that_was_mapped_last(tmp_path, maps, table, want):
    """Whatever is at the path now: the recording itself has two files of it."""
    out, _ = converted(recording_of(tmp_path, "/gone/acme/shop", maps, table))
    assert sorted(dsos_of(out, "shop"), key=str) == sorted(want, key=str)


@pytest.mark.parametrize("is_it, before, doubtful", ((True, 60, False), (True, 2, True), (False, 60, True), (False, 48 * HOUR, False)))
def test_what_perf_kept_at_the_end_tells_of_the_file_that_was_mapped(tmp_path, is_it, before, doubtful):
    """The path has yet another file, or none: only the link in ~/.debug tells that the one that ran was replaced, or written to, in the last 10 s.

    An old one was there before, on another machine."""
    kept = tmp_path / ".debug" / ".build-id" / "ab" / ("ab" * 19) / "elf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"a file")
    os.utime(kept, (os.stat(kept).st_mtime - before,) * 2)
    st = os.stat(kept)
    file = (os.major(st.st_dev), os.minor(st.st_dev), st.st_ino + (not is_it), 0)
    data = recording_of(tmp_path, "/gone/acme/shop", [file], [b"\xab" * 20], os.uname().nodename.encode(), last=10**10)
    run("convert", data, "-o", tmp_path / "out.spaa", env={"HOME": str(tmp_path)}, code=0)
    assert dsos_of(tmp_path / "out.spaa", "shop") == [(None, True) if doubtful else ("ab" * 20, False)]


@needs_tools
def test_files_that_perf_inject_made_are_those_that_are_there(tmp_path):
    """It writes 1 for their generation, and stores no build-id by its own maps."""
    compiled(tmp_path, "0x" + "ab" * 20)
    os.rename(tmp_path / "shop", tmp_path / "jitted-7-1.so")
    st = os.stat(tmp_path / "jitted-7-1.so")
    file = (os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, 1)
    data = recording_of(tmp_path, tmp_path / "jitted-7-1.so", [file], [b"\xab" * 20], os.uname().nodename.encode())
    out, err = converted(data)
    assert "W809" not in err and dsos_of(out, "jitted-7-1.so") == [("ab" * 20, False)]


@needs_tools
def test_a_copy_that_perf_kept_has_the_time_of_the_binary_where_it_was(tmp_path):
    """On another file system perf copies: its time is that of copying."""
    compiled(tmp_path, "0x" + "ab" * 20)
    kept = tmp_path / "home" / ".debug" / ".build-id" / "ab" / ("ab" * 19) / "elf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes((tmp_path / "shop").read_bytes())
    profile, _ = named(recorded(tmp_path, -HOUR, "ab" * 20))
    env = {"HOME": str(tmp_path / "home")}
    assert ask("annotate", profile, "sum", env=env)["files"][0]["newer"] is False
    os.utime(tmp_path / "src" / "shop.cpp")
    assert ask("annotate", profile, "sum", env=env)["files"][0]["newer"] is True
    (tmp_path / "shop").write_bytes(b"something else")
    assert ask("annotate", profile, "sum", env=env)["files"][0]["newer"] is not False

"""Names for SPT's addresses (maps, PE and ELF images), and which binaries a file belongs to."""

import os
import random
import shutil
import subprocess
import uuid

import gen_spt as spt
import pe_files
import pytest
from conftest import ask, run
from spt_files import APP, KERNEL, small, write

MAP = """ app

 Timestamp is 5f3e2d1c (Thu Aug 20 12:34:52 2020)

 Preferred load address is 0000000140000000

 Start         Length     Name                   Class
 0001:00000000 00001020H .text$mn                CODE
 0002:00000000 00000210H .rdata                  DATA

  Address         Publics by Value              Rva+Base               Lib:Object

 0000:00000000       __guard_flags              0000000000010500     <absolute>
 0001:00000000       main                       0000000140001000 f   main.obj
 0001:00000000       main_folded                0000000140001000 f   main.obj
 0001:00001000       ?run@engine@@YAHXZ         0000000140002000 f   engine.obj
 0002:00000000       table                      0000000140003000     main.obj

 entry point at        0001:00000000

 Static symbols

 0001:00000008       helper                     0000000140001008 f   main.obj
"""


def functions(*args):
    return {(r["function"], int(r["self"])) for r in ask("top", *args)["rows"]}


def test_a_map_names_addresses(tmp_path):
    path = write(tmp_path / "x.spt", small())
    mapped = write(tmp_path / "app.map", MAP.replace("\n", "\r\n").encode())
    assert functions(path, "--map", mapped, "-e", "unhalted_cycles") == {("main", 3), ("helper", 3)}
    names = {r["function"] for r in ask("top", path, "--map", mapped, "-e", "etw_callstack", "-n", "0")["rows"]}
    assert names == {"helper", "main", "0x3000"}  # callers are looked up a byte before


def test_a_caller_is_looked_up_where_its_call_is(tmp_path):
    f = spt.File([APP])
    f.segment(0).stack(0x2000, 0x2000)
    path, mapped = write(tmp_path / "x.spt", f), write(tmp_path / "app.map", MAP.encode())
    names = {r["function"] for r in ask("top", path, "--map", mapped)["rows"]}
    assert names == {"engine::run", "helper"}


def test_maps_say_which_binary_they_are_of(tmp_path):
    path = write(tmp_path / "x.spt", small())
    other = write(tmp_path / "o.map", MAP.replace(" app\n", " other\n").encode())
    assert "SPAA-W312" in run("top", path, "--map", other, code=0).out
    assert functions(path, "--map", "app.exe=%s" % other, "-e", "unhalted_cycles") == {("main", 3), ("helper", 3)}
    run("top", path, "--map", write(tmp_path / "no.map", b"nothing\n"), code=3)
    run("top", path, "--map", tmp_path / "missing.map", code=3)


def image(program, **more):
    return pe_files.image(guid=program.guid, age=program.age, **more)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("how", ["coff", "exports"])
def test_an_image_names_addresses(bits, how, tmp_path):
    path = write(tmp_path / "x.spt", small())
    exe = write(tmp_path / "app.exe", image(APP, bits=bits, **{how: {"main": 0x1000, "_ZN6engine3runEv": 0x1008}}))
    assert functions(path, "--image", exe, "-e", "unhalted_cycles") == {("main", 3), ("engine::run()", 3)}
    assert functions(path, "--symfs", tmp_path, "-e", "unhalted_cycles") == {("main", 3), ("engine::run()", 3)}
    assert functions(path, "--symfs", tmp_path, "--no-symbols", "-e", "unhalted_cycles") == {("0x1000", 3), ("0x1010", 3)}


def test_pdata_tells_where_functions_end(tmp_path):
    path = write(tmp_path / "x.spt", small())
    exe = image(APP, exports={"main": 0x1000}, pdata=[(0x1000, 0x1008), (0x1010, 0x1020)])
    assert functions(path, "--image", write(tmp_path / "app.exe", exe), "-e", "unhalted_cycles") == {
        ("main", 3), ("0x1010", 3)}


def test_an_image_of_another_build_is_not_used(tmp_path):
    path = write(tmp_path / "x.spt", small())
    exe = write(tmp_path / "app.exe", image(APP._replace(age=7), coff={"main": 0x1000}))
    assert "SPAA-W312" in run("top", path, "--image", exe, code=0).out
    assert ("0x1000", 3) in functions(path, "--symfs", tmp_path, "-e", "unhalted_cycles")


@pytest.mark.parametrize("linked", ["-pie", "-no-pie"])
def test_an_elf_file_by_its_build_id(linked, tmp_path):
    """RVAs are addresses as linked, also of files that are linked to a base."""
    source = tmp_path / "x.c"
    source.write_text("int first(void){return 1;} int second(void){return 2;} int main(void){return first()+second();}")
    if subprocess.run(["gcc", "-O0", linked, "-Wl,--build-id=0x" + "1122334455667788" * 2 + "aabbccdd", source, "-o",
                       tmp_path / "x"], check=False, capture_output=True).returncode:
        pytest.skip("no compiler")
    at = {}
    for line in subprocess.run(["nm", tmp_path / "x"], capture_output=True, text=True, check=True).stdout.splitlines():
        at[line.split()[-1]] = int(line.split()[0], 16) if len(line.split()) == 3 else None
    program = spt.Program("x", uuid.UUID(bytes_le=bytes.fromhex("1122334455667788" * 2)), 0)
    f = spt.File([program])
    f.segment(0).ip(spt.ETW_INSTR, at["first"], at["second"] + 1)
    assert functions(write(tmp_path / "x.spt", f), "--image", tmp_path / "x") == {("first", 1), ("second", 1)}


# spaa spt match

def test_match(tmp_path):
    path = write(tmp_path / "x.spt", small())
    files = {
        "app.exe": image(APP, bits=64), "app32.exe": image(APP, bits=32), "older.exe": image(APP._replace(age=9)),
        "ntoskrnl.exe": image(KERNEL._replace(guid=APP.guid.__class__(int=5))), "bare.exe": pe_files.image(),
        "stranger.dll": image(spt.Program("", uuid.UUID(int=77), 1)), "text": b"MZ no image"}
    paths = {name: write(tmp_path / name, data) for name, data in files.items()}
    answer = ask("spt", "match", path, *paths.values())
    assert {os.path.basename(b["path"]): b["verdict"] for b in answer["binaries"]} == {
        "app.exe": "match", "app32.exe": "match", "older.exe": "age_differs", "ntoskrnl.exe": "guid_differs",
        "bare.exe": "no_rsds", "stranger.dll": "not_in_trace", "text": "not_pe"}
    assert answer["matches"] == 2 and [p["name"] for p in answer["unmatched"]] == ["ntoskrnl.exe"]
    first = answer["binaries"][0]
    assert first["guid"] == "{0F8FAD5B-D9CB-469F-A165-70867728950E}" and first["machine"] == "x64"
    assert first["pdb"] == "C:\\build\\app.pdb" and first["program"]["hits"] == 19
    folder = {os.path.basename(b["path"]): b["verdict"] for b in ask("spt", "match", path, tmp_path)["binaries"]}
    assert folder == {os.path.basename(b["path"]): b["verdict"] for b in answer["binaries"] if b["verdict"] != "not_pe"}
    text = run("spt", "match", path, *paths.values(), code=0).out
    assert all(str(p) in text for p in paths.values()) and "C:" not in text # whole, for scripts
    long = tmp_path / ("a-folder-with-a-long-name-" * 5)
    long.mkdir()
    shutil.copy(paths["app.exe"], long / "app.exe")
    assert str(long / "app.exe") in run("spt", "match", path, long / "app.exe", code=0).out
    assert "match" in text and "age differs" in text and "without a match:\n  ntoskrnl.exe" in text
    run("spt", "match", path, paths["older.exe"], paths["text"], code=1)
    for more in ((), (paths["app.exe"],)): # an input that failed, whatever the others are
        missing = run("spt", "match", path, tmp_path / "missing", *more, code=3)
        assert "missing" in missing.err and "unreadable" in missing.out
    run("spt", "match", path, code=2)
    run("spt", "mach", path, paths["app.exe"], code=2)


@pytest.mark.parametrize("bits", [32, 64])
def test_an_image_that_was_cut_off_is_no_match(bits, tmp_path):
    """In its headers, in its sections, before or behind its GUID, in its symbols."""
    path, whole = write(tmp_path / "x.spt", small()), image(APP, bits=bits, coff={"main": 0x1000}, exports={"main": 0x1000})
    for n in [64, 0x80, 0x90, 0xC0, 0x100, 0x1A0, 0x200, 0x3FF, 0x400, 0x500, 0x600, 0x640, len(whole) - 40, len(whole) - 1]:
        cut = write(tmp_path / "app.exe", whole[:n])
        answer = ask("spt", "match", path, cut, code=1)
        assert answer["matches"] == 0 and answer["binaries"][0]["verdict"] == "cut_off" and answer["binaries"][0]["program"] is None, n
        assert [p["name"] for p in answer["unmatched"]] == ["app.exe", "ntoskrnl.exe"]
        assert "cut off at byte %d" % n in run("spt", "match", path, cut, code=1).err
        assert ask("spt", "match", path, tmp_path, code=1)["binaries"][0]["verdict"] == "cut_off"
    assert ask("spt", "match", path, write(tmp_path / "app.exe", whole))["matches"] == 1
    assert ask("spt", "match", path, write(tmp_path / "app.exe", whole + b"more"))["matches"] == 1


def test_damaged_images_never_crash(tmp_path):
    path = write(tmp_path / "x.spt", small())
    whole = image(APP, coff={"main": 0x1000}, exports={"main": 0x1000}, pdata=[(0x1000, 0x1008)])
    for seed in range(15):
        rng, paths = random.Random(seed), []
        for i in range(5):
            data = bytearray(whole)
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(len(data))] = rng.choice([0, 0x7F, 0xFF, rng.randrange(256)])
            paths.append(write(tmp_path / ("%d.exe" % i), bytes(data[:rng.randrange(len(data))] if i == 4 else data)))
        run("spt", "match", path, *paths)
        for p in paths:
            run("top", path, "--image", p)


def test_names_do_not_change_what_comes_back(tmp_path):
    path, kept = write(tmp_path / "x.spt", small()), tmp_path / "kept.spaa"
    run("convert", path, "-o", kept, "--lossless", "--map", write(tmp_path / "app.map", MAP.encode()), code=0)
    assert "main" in kept.read_text()
    run("convert", kept, "-o", tmp_path / "back.spt", code=0)
    assert (tmp_path / "back.spt").read_bytes() == path.read_bytes()

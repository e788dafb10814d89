"""pprof and symbols: the addresses and mappings we write lead pprof to the functions that ran, and to no other; those
we read lead us there. The judge is what pprof computes of a mapping and the program headers, and `go tool pprof`."""

import json
import os
import shutil
import struct
import subprocess

import pytest

import gen_pprof as g
from conftest import ask, parse, run

GO = shutil.which("go") or "/usr/local/go/bin/go"
needs_go = pytest.mark.skipif(not os.path.exists(GO), reason="no go tool pprof")
TOP = (1 << 64) - 1

SOURCE = """
#include <stdlib.h>
static volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long inlined(unsigned long n)
{ unsigned long s = 0; for (unsigned long i = 0; i < n; i++) s += i * i ^ s >> 3; return s; }
__attribute__((noinline)) void never_ran0(void) { sink = 1; }
__attribute__((noinline)) void hot(unsigned long n) { sink = inlined(n); }
__attribute__((noinline, noreturn)) void ends(unsigned long n) { hot(n); hot(n + 1); exit(0); }
__attribute__((noinline)) void never_ran1(void) { sink = 2; }
__attribute__((noinline)) void caller(unsigned long n) { ends(n); }
__attribute__((noinline)) void never_ran2(void) { sink = 3; }
int main(int c, char **v) { (void)v; if (c > 5) { never_ran0(); never_ran1(); never_ran2(); } caller((unsigned long)c); }
"""
LAYOUTS = {"pie": ["-fPIE", "-pie"], "fixed": ["-fno-PIE", "-no-pie"],
           "far": ["-fno-PIE", "-no-pie", "-Wl,-Ttext-segment=0x7a3000"],
           "small": ["-fno-PIE", "-no-pie", "-Wl,-z,noseparate-code"]}


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        self.type, at = struct.unpack_from("<H", data, 16)[0], struct.unpack_from("<Q", data, 32)[0]
        size, n = struct.unpack_from("<HH", data, 54)
        self.loads = []
        for i in range(n):
            kind, flags, off, vaddr, _, filesz, memsz, align = struct.unpack_from("<IIQQQQQQ", data, at + i * size)
            if kind == 1 and filesz:
                self.loads.append((off, vaddr, filesz, memsz, align, flags))
        self.path = path
        self.symbols = {}
        for line in subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout.splitlines():
            part = line.split()
            if len(part) == 4 and part[2] in "Tt":
                self.symbols[part[3]] = (int(part[0], 16), int(part[1], 16))

    def offset(self, vaddr):
        return next(vaddr - v + o for o, v, size, *_ in self.loads if v <= vaddr < v + size)

    def linked(self, m, address):
        """The address as linked that google/pprof computes (binutils.go, elfexec.go)."""
        if m["start"] < m["limit"]:
            assert m["start"] <= address < m["limit"]
        if (m["start"], m["offset"]) == (0, 0) and m["limit"] in (0, TOP):
            return address
        low, high = m["offset"], m["offset"] + m["limit"] - m["start"]
        fit = [x for x in self.loads if low < x[0] + x[3] and x[0] < high and low >= max(0, x[0] - (x[1] & x[4] - 1))]
        at = address - m["start"] + m["offset"]
        if len(fit) > 1:
            fit = [x for x in fit if x[0] <= at < x[0] + x[3]]
        assert len(fit) == 1
        off, vaddr = fit[0][:2]
        if self.type == 2 and not m["start"]:
            return address + vaddr
        return address - (m["start"] - m["offset"] + off - vaddr)

    def function(self, vaddr):
        return next((n for n, (at, size) in self.symbols.items() if at <= vaddr < at + size), None)


@pytest.fixture(scope="module", params=sorted(LAYOUTS))
def elf(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pprof-" + request.param)
    (folder / "t.c").write_text(SOURCE)
    path = str(folder / "program")
    subprocess.run(["cc", "-O2", "-g", "-Wl,--build-id", "-fno-ipa-icf", "-fcf-protection=none", *LAYOUTS[request.param], "-o", path,
                    str(folder / "t.c")], check=True)
    return Elf(path)


def addresses(elf):
    """Where `hot` was interrupted, and the return addresses below: those of `ends` and `caller`, the second one at the
    end of its function, since `ends` does not return. The function at that address never ran."""
    end = {n: sum(elf.symbols[n]) for n in elf.symbols}
    after = end["caller"]
    assert elf.function(after - 1) == "caller" and elf.function(after) != "caller"
    return [elf.symbols["hot"][0] + 4, elf.symbols["ends"][0] + elf.symbols["ends"][1] // 2, after]


def recording(elf, ips="vaddr", named=False):
    """SPAA as a recording gives it: frames without names, or with."""
    v = addresses(elf)
    off, vaddr, size, _, align, _ = next(x for x in elf.loads if x[5] & 1)
    start = off - vaddr % align if off >= vaddr % align else 0
    offsets = {"ip": "file_offset"} if ips != "vaddr" else {}
    if ips == "map":  # what the kernel said of the code that it mapped
        offsets["map"] = {"offset": hex(start), "size": hex((off - start + size + 4095) // 4096 * 4096)}
    lines = [{"type": "header", "format": "spaa", "version": "1.0", "source_tool": "perf", "frame_order": "leaf_to_root",
              "events": [{"name": "cpu-clock", "kind": "timer", "sampling": {"mode": "frequency", "primary_metric": "samples",
                                                                             "frequency_hz": 99}}],
              "stack_id_mode": "content_addressable", "x_spaa": {"frames": "address", "group_by": []}},
             {"type": "dso", "id": 1, "name": elf.path, "is_kernel": False, **({"x_perf": offsets} if offsets else {})}]
    for i, x in enumerate(v):
        ip = x if ips == "vaddr" else elf.offset(x)
        name = {"func": elf.function(x - (i > 0)), "srcline": f"t.c:{i + 1}"} if named else {"func": hex(ip), "func_resolved": False}
        lines.append({"type": "frame", "id": i + 1, **name, "dso": 1, "ip": hex(ip), "kind": "user"})
    for n, (frames, weight) in enumerate([([1, 2, 3], 70), ([2, 3], 20), ([3], 10)]):
        lines.append({"type": "stack", "id": n, "context": {"event": "cpu-clock"}, "stack_type": "unified", "frames": frames,
                      "weights": [{"metric": "samples", "value": weight}]})
    return "".join(json.dumps(x, separators=(",", ":")) + "\n" for x in lines)


def to_pprof(data, *args):
    return g.decode(run("convert", "-q", "-", "--to", "pprof", "-o", "-", *args, stdin=data, code=0).raw)


def stacks(p):
    return {tuple(s["locations"]): s["values"][0] for s in p["samples"]}


@pytest.mark.parametrize("ips", ["vaddr", "offset", "map"])
def test_addresses_lead_pprof_to_what_ran(elf, ips):
    p = to_pprof(recording(elf, ips))
    hot, ends, after = addresses(elf)
    places = {x["id"]: x for x in p["locations"]}
    (m,) = p["mappings"]
    assert m["file"] == elf.path and m["has"] == [0, 0, 0, 0] or m["has"] == (False,) * 4
    seen = {tuple(elf.linked(m, places[i]["address"]) for i in ids): n for ids, n in stacks(p).items()}
    assert seen == {(hot, ends - 1, after - 1): 70, (ends, after - 1): 20, (after,): 10}
    assert all(x["mapping"] == m["id"] and not x["lines"] for x in p["locations"])


@pytest.mark.parametrize("ips", ["vaddr", "offset", "map"])
def test_symbolized_here_it_is_the_same(elf, ips, tmp_path):
    """By way of pprof, and of SPAA made from it: no second step back, and names of the same functions."""
    path, again = tmp_path / "x.spaa", tmp_path / "y.spaa"
    pb = run("convert", "-q", "-", "--to", "pprof", "-o", "-", stdin=recording(elf, ips), code=0).raw
    run("convert", "-q", "-", "-o", path, stdin=pb, code=0)
    assert parse(path.read_text().splitlines()[0])["x_spaa"]["ip"] == "call"
    assert run("convert", "-q", path, "--to", "pprof", "-o", "-", code=0).raw == pb
    run("symbolize", "-q", path, "-o", again, code=0)
    # The leaf of one stack is at the address behind `caller`: what stands there.
    behind = elf.function(addresses(elf)[2])
    rows = {r["function"]: r["total"] for r in ask("top", again, "-n", "0")["rows"]}
    assert {k: v for k, v in rows.items() if k in elf.symbols and k != behind} == {"hot": 70, "ends": 90, "caller": 90}
    p = g.decode(run("convert", "-q", again, "--to", "pprof", "-o", "-", code=0).raw)
    places = {x["id"]: x for x in p["locations"]}
    (m,) = p["mappings"]
    assert list(map(bool, m["has"])) == [True] * 4 and m["build_id"]
    hot, ends, after = addresses(elf)
    assert {tuple(elf.linked(m, places[i]["address"]) for i in ids): n for ids, n in stacks(p).items()} == {
        (hot, ends - 1, after - 1): 70, (ends, after - 1): 20, (after,): 10}


def test_flags_are_those_of_the_frames(elf):
    """What has names is not to be looked up again; what has none is."""
    p = to_pprof(recording(elf, named=True))
    assert [list(map(bool, m["has"])) for m in p["mappings"]] == [[True, True, True, False]]
    p = to_pprof("x;y 3\n", "--from", "folded")
    assert all(list(map(bool, m["has"]))[1:] == [False] * 3 for m in p["mappings"])


def test_a_kernel_and_a_user_part_begin_with_an_address_of_their_own(elf):
    text = recording(elf).splitlines()
    kernel = [{"type": "dso", "id": 2, "name": "[kernel]", "is_kernel": True},
              {"type": "frame", "id": 8, "func": "irq", "dso": 2, "ip": "0x1000", "kind": "kernel"},
              {"type": "frame", "id": 9, "func": "entry", "dso": 2, "ip": "0x2000", "kind": "kernel"}]
    stack = {"type": "stack", "id": 9, "context": {"event": "cpu-clock"}, "stack_type": "unified", "frames": [8, 9, 1, 2],
             "weights": [{"metric": "samples", "value": 1}]}
    p = to_pprof("\n".join(text[:2] + list(map(json.dumps, kernel)) + text[2:] + [json.dumps(stack)]) + "\n")
    places = {x["id"]: x["address"] for x in p["locations"]}
    hot, ends, _ = addresses(elf)
    assert [0x1000, 0x1fff, hot, ends - 1] in [[places[i] for i in ids] for ids in stacks(p)]


@pytest.mark.parametrize("word,leaf,caller", [("call", 0, 0), ("return", 1, 1), (None, 0, 1)])
def test_the_file_says_what_its_ips_are(elf, word, leaf, caller):
    text = recording(elf).splitlines()
    head = json.loads(text[0])
    if word:
        head["x_spaa"]["ip"] = word
    p = to_pprof("\n".join([json.dumps(head)] + text[1:]) + "\n")
    places = {x["id"]: x["address"] for x in p["locations"]}
    hot, ends, after = addresses(elf)
    assert [hot - leaf, ends - caller, after - caller] in [[places[i] for i in ids] for ids in stacks(p)]


@needs_go
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("ips", ["vaddr", "map"])
def test_go_tool_pprof_names_what_ran(elf, ips, named, tmp_path):
    path = str(tmp_path / "x.pb.gz")
    text = "\n".join(x for x in recording(elf, ips, named).splitlines() if '"frames":[3]' not in x) + "\n"
    run("convert", "-q", "-", "-o", path, stdin=text, code=0)
    env = dict(os.environ, PPROF_TMPDIR=str(tmp_path))
    env.setdefault("HOME", str(tmp_path))
    out = subprocess.run([GO, "tool", "pprof", "-symbolize=local", "-top", "-nodefraction=0", path], capture_output=True, text=True,
                         env=env, timeout=120, check=True).stdout
    rows = {p[5]: (int(p[0]), int(p[3])) for p in map(str.split, out.splitlines()) if len(p) >= 6 and p[1].endswith("%")}
    assert rows == {"hot": (70, 70), "ends": (20, 90), "caller": (0, 90)}

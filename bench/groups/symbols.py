"""Names, inlined functions and lines of many addresses, beside the addr2line of binutils and of elfutils."""
import os
import subprocess
import sys

from kit import HERE, ROOT, Check, Row
from measure import MB, Side, memory

UNITS, ADDRESSES = 4, 100_000


def binary(m):
    """A C++ program of templates with debug information."""
    with open(os.path.join(HERE, "gen_cpp.py"), "rb") as f:
        recipe = (f.read(), UNITS)

    def make(path):
        folder = path + ".sources"
        subprocess.run([sys.executable, os.path.join(HERE, "gen_cpp.py"), "--dir", folder, "--units", str(UNITS)], check=True)
        sources = sorted(f for f in os.listdir(folder) if f.endswith(".cpp"))
        for source in sources:
            subprocess.run(["g++", "-O2", "-g", "-c", source], cwd=folder, check=True)
        objects = [s[:-4] + ".o" for s in sources]
        subprocess.run(["g++", *objects, "-o", path], cwd=folder, check=True)
    return m.made("templates", recipe, make)


def addresses(m, program):
    out = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    code = set()
    for line in out.splitlines():
        f = line.split()
        if len(f) == 4 and f[2] in "tTwW":
            code.update(range(int(f[0], 16), int(f[0], 16) + int(f[1], 16)))
    code = sorted(code)
    n = ADDRESSES // m.scale
    return [code[i * len(code) // n] for i in range(min(n, len(code)))]


def profile(path, program, found):
    with open(path, "w", encoding="ascii") as f:
        f.write('{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root",'
                '"events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"period","primary_metric":"period"}}],'
                '"stack_id_mode":"local"}\n{"type":"dso","id":1,"name":"%s","is_kernel":false}\n' % program)
        for i, a in enumerate(found, 1):
            f.write('{"type":"frame","id":%d,"func":"0x%x","func_resolved":false,"dso":1,"ip":"0x%x","kind":"user"}\n' % (i, a, a))
        for i in range(1, len(found) + 1):
            f.write('{"type":"stack","id":%d,"frames":[%d],"stack_type":"unified","context":{"event":"cycles"},'
                    '"weights":[{"metric":"period","value":1}]}\n' % (i, i))


def symbols(m):
    """Distinct addresses of a large C++ binary: the same text as addr2line -a -i -f prints, and whole profiles."""
    program = binary(m)
    found = addresses(m, program)
    listed = m.made("addresses.txt", (program, found[:100], len(found)),
                    lambda path: open(path, "w", encoding="ascii").writelines(f"0x{a:x}\n" for a in found))
    spaa = m.made("addresses.spaa", (program, found[:100], len(found)), lambda path: profile(path, program, found))
    library = os.path.join(os.path.dirname(m.spaa), "libspaa_internal.a")
    tool = m.compile(os.path.join(ROOT, "tests", "address_lines.c"),
                     ["-I", os.path.join(ROOT, "include"), "-I", os.path.join(ROOT, "src"), library, "-lelf", "-lzstd",
                      "-lz", "-lxxhash", "-lpthread", "-lm"])

    def asked(command):
        return ["sh", "-c", f'{command} < "{listed}"']
    ours = Side("address_lines", asked(f'"{tool}" "{program}"'))
    binutils = m.peer("addr2line", ["addr2line"])
    elfutils = m.peer("eu-addr2line", ["eu-addr2line"])
    if isinstance(binutils, Side):
        binutils = Side("addr2line", asked(f'addr2line -a -i -f -e "{program}"'))
    if isinstance(elfutils, Side):
        elfutils = Side("eu-addr2line", asked(f'eu-addr2line -a -i -f -e "{program}"'))
    whole = Side("spaa symbolize", [m.spaa, "symbolize", "-q", "-j1", spaa, "-o", os.path.join(m.data, "named.spaa")])
    m.compare(ours, binutils, elfutils, whole)
    work = (len(found), "addresses")
    yield Row("symbols", "inlined functions and lines of 100,000 addresses", ours, work, peer=binutils, need_ratio=1)
    yield Row("symbols", "the same", ours, work, peer=elfutils, need_ratio=10)
    yield Row("symbols", "a profile of them symbolized and written", whole, work, peer=binutils, need_ratio=1)
    resident, _ = memory([tool, "-n", program])
    yield Check("symbols", "opened, nothing asked: a tenth of the file touched at most",
                resident < os.path.getsize(program) / 10 + 8 * MB, f"{resident / MB:.1f} MB of {os.path.getsize(program) / MB:.1f} MB")


GROUPS = {"symbols": symbols}

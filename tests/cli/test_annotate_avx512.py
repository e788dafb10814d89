"""annotate --asm of instructions that capstone 4 does not know: against objdump, and where nobody knows them."""

import os
import re
import shutil
import subprocess

import profiles
import pytest
from conftest import ask, run
from test_annotate import symbol
from test_annotate_asm import insns

SOURCE = """#include <immintrin.h>
#include <string.h>

__attribute__((noinline, target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512fp16"))) int sum(const char *p, double *q, float x)
{
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64);
    __mmask64 m = _mm512_cmpeq_epi8_mask(a, b);
    a = _mm512_mask_permutexvar_epi8(a, m, b, a);
    __m512d v = _mm512_fmadd_round_pd(_mm512_loadu_pd(q), _mm512_loadu_pd(q + 8), _mm512_set1_pd(x), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    _mm512_storeu_pd(q, v);
    _mm512_mask_storeu_epi8((void *)q, m, a);
    __m512h h = _mm512_loadu_ph(p);
    _mm512_storeu_ph(q + 16, _mm512_add_ph(h, h));
    for (int i = 0; i < 64; i++)
        q[i] = q[i] * x + (double)i;
    return (int)m + _mm512_reduce_add_epi32(a);
}

int main(int argc, char **argv) { static double q[128]; return sum(argv[0], q, (float)argc); }
"""

# A function whose first instruction is of APX (0xd5: REX2), which nobody here knows; `mov $7, %eax; ret` behind.
UNKNOWN = """.globl sum, main
.type sum, @function
sum: .byte 0xd5, 0x19, 0x01, 0xd8
movl $7, %eax
ret
.size sum, . - sum
.type main, @function
main: call sum
ret
.size main, . - main
"""

needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, ("gcc", "nm", "objdump"))) or os.uname().machine != "x86_64", reason="needs gcc and binutils of x86-64"
)


def theirs(binary, start, size):
    out = subprocess.run(["objdump", "-d", "--insn-width=16", f"--start-address={start}", f"--stop-address={start + size}", binary],
                         capture_output=True, text=True, check=True).stdout  # fmt: skip
    return [(int(a, 16), text) for a, text in re.findall(r"^ +([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(\S+)", out, re.M)]


def profile_of(folder, binary, addresses, main):
    frame = {"dso": str(binary), "func_resolved": False, "kind": "user"}
    at = [{**frame, "func": hex(a), "ip": hex(a)} for a in (*addresses, main + 5)]
    stacks = [([x, at[-1]], {"samples": 1, "period": 100 + i}) for i, x in enumerate(at[:-1])]
    (folder / "bare.spaa").write_text(profiles.text(stacks))
    run("symbolize", folder / "bare.spaa", "-o", folder / "p.spaa", code=0)
    return folder / "p.spaa"


def assembled(folder, source):
    """The program of a text for the assembler: its path, where sum is, its size, where main is."""
    (folder / "u.s").write_text(source)
    subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,-e,main", "-Wl,--build-id", "-o", "u", "u.s"], cwd=folder, check=True)
    return (folder / "u", *symbol(folder / "u", "sum"), symbol(folder / "u", "main")[0])


def usable(profile):
    answer = ask("annotate", profile, "sum", "--asm", "--whole")
    if answer["no_instructions"]:
        pytest.skip("built without capstone, or it is not installed")
    return answer


@pytest.fixture
def vectors(tmp_path):
    (tmp_path / "v.c").write_text(SOURCE)
    done = subprocess.run(["gcc", "-O2", "-ftree-vectorize", "-Wl,--build-id", "-o", "v", "v.c"], cwd=tmp_path, capture_output=True)
    if done.returncode:
        pytest.skip("this gcc knows no AVX-512 FP16")
    start, size = symbol(tmp_path / "v", "sum")
    main, _ = symbol(tmp_path / "v", "main")
    return tmp_path, tmp_path / "v", start, size, main


@needs_tools
def test_each_instruction_begins_where_objdump_says(vectors):
    folder, binary, start, size, main = vectors
    truth = theirs(binary, start, size)
    answer = usable(profile_of(folder, binary, [start], main))
    ours = sorted((int(i["address"], 16), i["text"]) for i in insns(answer))
    if answer["bytes_not_decoded"]:
        pytest.skip("built without Zydis, or it is not installed")
    assert [a for a, _ in ours] == [a for a, _ in truth]
    names = [(t, o.split()[0]) for (_, o), (_, t) in zip(ours, truth) if t[0] == "v" and t != o.split()[0]]
    assert {t for t, _ in names} <= {"vpcmpeqb", "vaddph"}, names  # of a comparison, objdump has a name for each kind
    assert any("{rz-sae}" in o for _, o in ours) and not any(re.search(r"^vmovdqu\d+[xyz]", o) for _, o in ours)


@needs_tools
def test_without_zydis_nothing_is_made_up(vectors):
    """Bytes up to the next instruction that the recording has: where that is decoded, it is what objdump says."""
    folder, binary, start, size, main = vectors
    truth = dict(theirs(binary, start, size))
    usable(profile_of(folder, binary, [start], main))
    (folder / "empty.c").write_text("int nothing;\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "libZydis.so.4.0", "empty.c"], cwd=folder, check=True)
    for sampled in (list(truth), list(truth)[::3]):
        profile = profile_of(folder, binary, sampled, main)
        rows = insns(ask("annotate", profile, "sum", "--asm", "--whole", env={**os.environ, "LD_LIBRARY_PATH": str(folder)}))
        known = [(int(i["address"], 16), i["text"]) for i in rows if not i["text"].startswith(".byte")]
        assert known and all(a in truth for a, _ in known)
        assert not [o for a, o in known if truth[a][0] != o[0]], known
        assert {int(i["address"], 16): i["samples"] for i in rows if i["samples"]} == dict.fromkeys(sampled, 1)
    text = run("annotate", profile, "sum", "--asm", env={**os.environ, "LD_LIBRARY_PATH": str(folder)}, code=0).out
    assert "bytes are shown as .byte: instructions that are not known here, or data; for AVX-512" in text


@needs_tools
def test_what_nobody_knows_is_bytes_up_to_the_next_sample(tmp_path):
    binary, start, size, main = assembled(tmp_path, UNKNOWN)
    answer = usable(profile_of(tmp_path, binary, [start, start + 4], main))
    assert [(i["text"], int(i["address"], 16) - start, i["samples"]) for i in sorted(insns(answer), key=lambda i: i["address"])] == [
        (".byte 0xd5, 0x19, 0x01, 0xd8", 0, 1), ("movl $7, %eax", 4, 1), ("retq", 9, 0)]  # fmt: skip
    assert answer["bytes_not_decoded"] == 4
    answer = usable(profile_of(tmp_path, binary, [start], main))
    assert [i["text"] for i in insns(answer)][0] == ".byte 0xd5, 0x19, 0x01, 0xd8, 0xb8, 0x07, 0x00, 0x00, 0x00, 0xc3"


# What capstone 4 takes for mfence, lfence, rdseed, xsave, rdrand, and an ud1 that it takes for two bytes.
OTHERS = """.globl sum, main
.type sum, @function
sum: tpause %ecx
umwait %ecx
incsspq %rax
rdpid %rdx
ptwriteq (%rdi)
ud1 15(%rdi), %ecx
mfence
lfence
lock cmpxchg16b (%rdi)
ldmxcsr (%rsp)
rdrand %rax
ret
.size sum, . - sum
.type main, @function
main: call sum
ret
.size main, . - main
"""


@needs_tools
def test_what_prefixes_make_of_older_instructions(tmp_path):
    binary, start, size, main = assembled(tmp_path, OTHERS)
    answer = usable(profile_of(tmp_path, binary, [start], main))
    if answer["bytes_not_decoded"]:
        pytest.skip("built without Zydis, or it is not installed")
    ours = sorted((int(i["address"], 16), i["text"].split()[0]) for i in insns(answer))
    truth = theirs(binary, start, size)
    assert [a for a, _ in ours] == [a for a, _ in truth]
    assert [n.rstrip("qlw") for _, n in ours] == [n.rstrip("qlw") for _, n in truth]


@needs_tools
def test_samples_within_instructions_are_said(tmp_path):
    """Data among the code, behind a jump: it is decoded with the beginning of what follows."""
    binary, start, _, main = assembled(tmp_path, UNKNOWN.replace(".byte 0xd5, 0x19, 0x01, 0xd8", "jmp 1f; .byte 0x48, 0xb8; 1: nop; nop; nop; nop; nop; nop; nop; nop"))
    profile = profile_of(tmp_path, binary, [start, start + 6], main)
    answer = usable(profile)
    assert answer["inside_instructions"] == 101 and answer["no_instruction"] == 0
    assert "within instructions, not where they begin: 101" in run("annotate", profile, "sum", "--asm", code=0).out
    assert usable(profile_of(tmp_path, binary, [start], main))["inside_instructions"] == 0

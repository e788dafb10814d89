"""Findings as the brief says them: two lines, what lies beneath in one."""

import profiles
from conftest import run
from test_findings import KERNEL, LIBC, LIBSTD, REGEX, TO_REGEX, of, recording, stack


def brief(tmp_path, stacks):
    path = tmp_path / "b.spaa"
    path.write_text(profiles.text(stacks, events=[profiles.event("cpu-clock", kind="software")]))
    return run("summary", path, code=0).out.splitlines()


def test_a_rule_is_two_lines(tmp_path):
    recording(tmp_path, "rrrr.m" * 300)
    lines = run("summary", tmp_path / "p.txt", code=0).out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("1 "))
    assert lines[at] == "1 REGEX COMPILED PER CALL   67 % ±2.2 of CPU   handle > validate > std::basic_regex"
    assert lines[at + 1] == ("  begins anew 300 times at least; matching itself 17 %. Fix: build it once and keep it (static const). "
                             "Bound: CPU ÷ 3.0")
    assert "allocation 67 %: nearly all beneath 1, not extra" in lines


def test_what_lies_beneath_has_no_number(tmp_path):
    write = of(KERNEL, "ksys_write", "__x64_sys_write", "do_syscall_64") + of(LIBC, "__GI___libc_write")
    lines = brief(tmp_path, [stack(of(LIBC, "malloc") + of(LIBSTD, REGEX) + TO_REGEX, 500), stack(write + ["write_log", "handle", "main"], 74),
                             stack(["work", "main"], 426)])
    rules = [line for line in lines if line[:2] in ("1 ", "2 ", "3 ")]
    assert [line.split("   ")[0] for line in rules] == ["1 REGEX COMPILATION", "2 WRITE SYSCALLS"]
    assert "handle > write_log > __GI___libc_write" in rules[1] and "7.4 % (5.9–9.2) of CPU" in rules[1]
    detail = lines[lines.index(rules[1]) + 1]
    assert "7.4 % in the kernel" in detail and "perf record -e syscalls:sys_enter_write" in detail
    assert "allocation 50 %: nearly all beneath 1, not extra" in lines


def test_long_names_fit(tmp_path):
    names = ["ns::" + "very_long_name_of_a_class_" * 4 + "::method_%d(std::string const&)" % i for i in range(3)]
    for line in brief(tmp_path, [stack(of(LIBC, "malloc") + names + ["main"], 600), stack(["work", "main"], 400)]):
        assert len(line) <= 120

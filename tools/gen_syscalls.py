#!/usr/bin/env python3
"""Writes src/analysis/syscall_names.def: numbers of system calls and their names.

    tools/gen_syscalls.py > src/analysis/syscall_names.def

From the headers of Debian's linux-libc-dev: <asm/unistd_64.h> for x86_64, <asm-generic/unistd.h> for aarch64, which has no numbers
of its own. Calls that came after these headers have one number on all architectures (since 424); those are stated here, by the
kernel's documentation of each (Linux 6.5 to 6.17).
"""

import re
import subprocess

AARCH64 = """#define __BITS_PER_LONG 64
#define __ARCH_WANT_RENAMEAT
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_TIME32_SYSCALLS
#define __ARCH_WANT_SYS_CLONE3
#define __ARCH_WANT_MEMFD_SECRET
#include <asm-generic/unistd.h>
"""
LATER = {451: "cachestat", 452: "fchmodat2", 454: "futex_wake", 455: "futex_wait", 456: "futex_requeue",
         457: "statmount", 458: "listmount", 459: "lsm_get_self_attr", 460: "lsm_set_self_attr", 461: "lsm_list_modules",
         462: "mseal", 463: "setxattrat", 464: "getxattrat", 465: "listxattrat", 466: "removexattrat", 467: "open_tree_attr",
         468: "file_getattr", 469: "file_setattr"}


def numbers(source):
    text = subprocess.run(["gcc", "-E", "-dM", "-"], input=source, capture_output=True, text=True, check=True).stdout
    defined = dict(re.findall(r"^#define (__NR\w*) (.+)$", text, re.M))
    out = dict(LATER)
    for name, value in defined.items():
        while value in defined:  # __NR_lseek is __NR3264_lseek
            value = defined[value]
        if name.startswith("__NR_") and value.isdigit() and name not in ("__NR_syscalls", "__NR_arch_specific_syscall"):
            out[int(value)] = name[5:]
    return out


print("/* Made by tools/gen_syscalls.py of linux-libc-dev: SP_SYSCALL(x86_64's number, aarch64's, name); -1: it has none. */")
x86, arm = numbers("#include <asm/unistd_64.h>\n"), numbers(AARCH64)
by_name = {}
for side, table in enumerate((x86, arm)):
    for number, name in table.items():
        by_name.setdefault(name, [-1, -1])[side] = number
for name, (a, b) in sorted(by_name.items()):
    print(f"SP_SYSCALL({a}, {b}, {name})")

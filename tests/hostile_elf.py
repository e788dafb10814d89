"""ELF files with debug sections made by hand: small ones that refer to their parts far more often than any compiler lets them."""

import struct
import zlib

LO = 0x401000
CU, SUBPROGRAM, INLINED = 0x11, 0x2E, 0x1D
NAME, STMT_LIST, LOW, HIGH, LANGUAGE, RANGES, COMP_DIR, ORIGIN = 0x03, 0x10, 0x11, 0x12, 0x13, 0x55, 0x1B, 0x31
ADDR, DATA4, STRING, STRP, SEC_OFFSET, FLAG_PRESENT, EXTERNAL, REF4 = 0x01, 0x06, 0x08, 0x0E, 0x17, 0x19, 0x3F, 0x13


def uleb(v):
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def abbrev(code, tag, children, *attributes):
    return uleb(code) + uleb(tag) + bytes([children]) + b"".join(uleb(a) + uleb(f) for a, f in attributes) + b"\0\0"


def unit(dies, table=0, version=5):
    head = struct.pack("<HBBI", 5, 1, 8, table) if version == 5 else struct.pack("<HIB", version, table, 8)
    return struct.pack("<I", len(head) + len(dies)) + head + dies


def range_list(n, at=LO):
    """Of version 5: a base, then n ranges of 3 bytes."""
    return b"\x05" + struct.pack("<Q", at) + b"\x04\x01\x02" * n + b"\0"


def line_program(n, version=4, name=b"a.c"):
    program = bytes([0, 9, 2]) + struct.pack("<Q", LO) + bytes([0x4B]) * n + bytes([0, 1, 1])
    tables = b"\0" + name + b"\0\0\0\0" + b"\0"
    head = bytes([1, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + tables
    body = struct.pack("<HI", version, len(head)) + head + program
    return struct.pack("<I", len(body)) + body


def compressed(data, level=9):
    """As SHF_COMPRESSED with zlib has it."""
    return struct.pack("<IIQQ", 1, 0, len(data), 1) + zlib.compress(data, level)


def elf(sections, packed=(), symbols=b"", strings=b""):
    """Debug sections by their names without the dot; symbols: entries of .symtab."""
    all_ = [(".text", 1, 6, b"\x90" * 16, 0, 0)] + [("." + n, 1, 0x800 if n in packed else 0, b, 0, 0) for n, b in sections.items()]
    if symbols:
        all_ += [(".symtab", 2, 0, b"\0" * 24 + symbols, len(all_) + 2, 24), (".strtab", 3, 0, strings, 0, 0)]
    names, at, body, heads = b"\0", 64 + 56, struct.pack("<IIQQQQQQ", 1, 5, 64 + 56, LO, LO, 16, 16, 1), b"\0" * 64
    for name, kind, flags, data, link, each in all_ + [(".shstrtab", 3, 0, None, 0, 0)]:
        start = len(names)
        names += name.encode() + b"\0"
        data = names if data is None else data
        heads += struct.pack("<IIQQQQIIQQ", start, kind, flags, LO if name == ".text" else 0, at, len(data), link, 0, 1, each)
        at += len(data)
        body += data
    n = len(all_) + 2
    ident = b"\x7fELF\2\1\1" + b"\0" * 9
    return ident + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, LO, 64, at, 0, 64, 56, 1, 64, n, n - 1) + body + heads

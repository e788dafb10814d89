"""Mach-O files for the tests: thin and fat, images and those of .dSYM bundles, by Apple's loader.h, nlist.h and fat.h."""

import struct

BASE = 0x100000000
CODE = 0x1000  # where __text begins in the image
ARM64, X86_64, I386 = (0x0100000C, 0), (0x01000007, 3), (7, 3)
EXECUTE, DYLIB, DSYM = 2, 6, 10
LOCAL, GLOBAL, PRIVATE, STAB = 0x0E, 0x0F, 0x1E, 0x24


def uleb(n):
    out = b""
    while True:
        byte, n = n & 0x7F, n >> 7
        out += bytes([byte | (0x80 if n else 0)])
        if not n:
            return out


def image(uuid, code=b"\0" * 0x100, symbols=(), starts=(), dwarf=None, kind=EXECUTE, cpu=ARM64, base=BASE, locals_=1, more=()):
    """symbols: (name as linked, offset in the image, type, section 1 __text or 2 __data, desc); starts: offsets of functions."""
    wide = cpu != I386
    word = "Q" if wide else "I"
    blobs, at = [], CODE + len(code)

    def place(content):
        nonlocal at
        at = (at + 7) & ~7
        blobs.append((at, content))
        at += len(content)
        return at - len(content)

    def section(name, segment, addr, size, offset, flags):
        return struct.pack("<16s16s" + word * 2 + "7I", name.encode()[:16], segment.encode(), addr, size, offset, 2, 0, 0, flags, 0, 0) \
            + (b"\0" * 4 if wide else b"")

    def segment(name, addr, size, offset, room, prot, *sections):
        body = struct.pack("<16s" + word * 4 + "4I", name.encode(), addr, size, offset, room, prot, prot, len(sections), 0) + b"".join(sections)
        return struct.pack("<2I", 0x19 if wide else 1, 8 + len(body)) + body

    commands = [segment("__TEXT", base, CODE + len(code), 0, CODE + len(code), 5,
                        section("__text", "__TEXT", base + CODE, len(code), CODE, 0x80000400)),
                segment("__DATA", base + 0x100000, 0x100, 0, 0, 3, section("__data", "__DATA", base + 0x100000, 0x100, 0, 0))]
    if dwarf:
        sections = [section("__" + n.lstrip("."), "__DWARF", base + 0x200000, len(c), place(c), 0x02000000) for n, c in dwarf.items()]
        commands.append(segment("__DWARF", base + 0x200000, 0x1000, 0, 0, 3, *sections))
    strings, table = b"\0", b""
    for name, offset, typ, sect, desc in symbols:
        table += struct.pack("<IBBH" + word, len(strings), typ, sect, desc, base + offset)
        strings += name.encode() + b"\0"
    commands.append(struct.pack("<6I", 2, 24, place(table), len(symbols), place(strings), len(strings)))
    commands.append(struct.pack("<20I", 0xB, 80, 0, locals_, *[0] * 16))
    if uuid:
        commands.append(struct.pack("<2I", 0x1B, 24) + bytes.fromhex(uuid))
    if starts:
        steps = b"".join(uleb(b - a) for a, b in zip([0, *starts], starts)) + b"\0"
        commands.append(struct.pack("<4I", 0x26, 16, place(steps), len(steps)))
    commands += more
    body = b"".join(commands)
    head = struct.pack("<7I", 0xFEEDFACF if wide else 0xFEEDFACE, *cpu, kind, len(commands), len(body), 0) + (b"\0" * 4 if wide else b"")
    assert len(head) + len(body) <= CODE
    out = bytearray((head + body).ljust(CODE, b"\0") + code)
    for where, content in blobs:
        out += b"\0" * (where + len(content) - len(out))
        out[where:where + len(content)] = content
    return bytes(out)


def fat(*images, wide=False):
    """images: (cpu, bytes)."""
    at, entries, body = 0x1000, b"", b""
    for cpu, content in images:
        where = at + len(body)
        entries += struct.pack(">2I2Q2I", *cpu, where, len(content), 12, 0) if wide else struct.pack(">5I", *cpu, where, len(content), 12)
        body += content.ljust((len(content) + 0xFFF) & ~0xFFF, b"\0")
    return (struct.pack(">2I", 0xCAFEBABF if wide else 0xCAFEBABE, len(images)) + entries).ljust(at, b"\0") + body


def elf_sections(path):
    """Name, address, contents of a 64-bit ELF file's sections."""
    b = open(path, "rb").read()
    shoff, = struct.unpack_from("<Q", b, 40)
    n, names = struct.unpack_from("<2H", b, 60)
    rows = [struct.unpack_from("<2I4Q2I2Q", b, shoff + 64 * i) for i in range(n)]
    strings = rows[names][4]
    return {b[strings + r[0]:b.index(b"\0", strings + r[0])].decode(): (r[3], b[r[4]:r[4] + r[5]]) for r in rows if r[1] != 8}


def bundle(folder, name, content):
    """X.dSYM with the file in it."""
    where = folder / f"{name}.dSYM" / "Contents" / "Resources" / "DWARF"
    where.mkdir(parents=True)
    (where / name).write_bytes(content)
    return where / name


def report(images, rows):
    """A spindump of one thread; images: (start, name, uuid, path); rows: (symbol, image name, offset, address), root first."""
    out = ["Date/Time:        2026-02-02 23:22:34.999 -0800", "OS Version:       macOS 12.2 (Build 21C56)", "Architecture:     arm64",
           "Report Version:   35.1", "Duration:         0.10s", "Steps:            10 (10ms sampling interval)", "",
           "-" * 60, "Heavy format: stacks are sorted by count", "-" * 60, "", "Process:          prog [412]", "", "  Thread 0x3fd504    10 samples (1-10)"]
    for depth, (symbol, image_name, offset, address) in enumerate(rows):
        out.append("  " + "  " * depth + f"  10  {symbol} ({image_name} + {offset}) [{address:#x}]" + (" (running)" if depth + 1 == len(rows) else ""))
    out += ["", "  Binary Images:"]
    for start, name, uuid, path in images:
        dashed = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:])).upper()
        out.append(f"           {start:#x} -        {start + 0xfffff:#x}  {name} (0)  <{dashed}>  {path}")
    return "\n".join(out) + "\n"

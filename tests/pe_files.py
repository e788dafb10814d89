"""PE images for the tests: headers, an RSDS record, and symbols, by Microsoft's description of the format."""

import struct

RAW, RVA = 0x400, 0x1000  # the code section; the data section follows


def cstring(text):
    return text.encode() + b"\0"


def coff_table(symbols, bits):
    """Function symbols of section 1, names of more than 8 bytes in the string table."""
    table, strings = b"", b""
    for name, rva in symbols.items():
        name = ("_" + name if bits == 32 else name).encode()
        short = name.ljust(8, b"\0") if len(name) <= 8 else struct.pack("<II", 0, 4 + len(strings))
        if len(name) > 8:
            strings += name + b"\0"
        table += short + struct.pack("<IhHBB", rva - RVA, 1, 0x20, 2, 0)
    return table, struct.pack("<I", 4 + len(strings)) + strings


def image(guid=None, age=0, bits=64, pdb="C:\\build\\app.pdb", coff=None, exports=None, pdata=None):
    data_rva = 0x10000
    data = bytearray()
    directories = [(0, 0)] * 16

    def place(content):
        while len(data) % 8:
            data.append(0)
        data.extend(content)
        return data_rva + len(data) - len(content)

    if guid is not None:
        record = b"RSDS" + guid.bytes_le + struct.pack("<I", age) + cstring(pdb)
        at = place(record)
        entry = struct.pack("<IIHHIIII", 0, 0, 0, 0, 2, len(record), at, RAW + 0x200 + at - data_rva)
        noise = struct.pack("<IIHHIIII", 0, 0, 0, 0, 12, 4, at, RAW)  # IMAGE_DEBUG_TYPE_VC_FEATURE
        directories[6] = (place(noise + entry), 56)
    if exports:
        names = sorted(exports)
        functions = place(struct.pack("<%dI" % len(names), *[exports[n] for n in names]))
        pointers = place(struct.pack("<%dI" % len(names), *[place(cstring(n)) for n in names]))
        ordinals = place(struct.pack("<%dH" % len(names), *range(len(names))))
        table = struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, place(cstring("app.exe")), 1, len(names), len(names),
                            functions, pointers, ordinals)
        directories[0] = (place(table), 40)
    if pdata:
        directories[3] = (place(b"".join(struct.pack("<III", a, b, 0) for a, b in pdata)), 12 * len(pdata))
    while len(data) % 0x200:
        data.append(0)
    table, strings = coff_table(coff, bits) if coff else (b"", b"")
    symbols_at = RAW + 0x200 + len(data) if coff else 0
    optional = struct.pack("<HBBIIIII", 0x20B if bits == 64 else 0x10B, 14, 0, 0x200, len(data), 0, RVA, RVA)
    if bits == 64:
        optional += struct.pack("<QII6HIIIIHHQQQQII", 0x140000000, 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0, 0x20000, RAW,
                                0, 3, 0, 0, 0, 0, 0, 0, 16)
    else:
        optional += struct.pack("<IIII6HIIIIHHIIIIII", data_rva, 0x400000, 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0, 0x20000,
                                RAW, 0, 3, 0, 0, 0, 0, 0, 0, 16)
    optional += b"".join(struct.pack("<II", *d) for d in directories)
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 0x80) + bytes(0x40) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", 0x8664 if bits == 64 else 0x14C, 2, 0x5F3E2D1C, symbols_at,
                        len(coff or ()), len(optional), 0x22)
    head += optional
    head += struct.pack("<8sIIIIIIHHI", b".text", 0x8000, RVA, 0x200, RAW, 0, 0, 0, 0, 0x60000020)
    head += struct.pack("<8sIIIIIIHHI", b".rdata", len(data), data_rva, len(data), RAW + 0x200, 0, 0, 0, 0, 0x40000040)
    assert len(head) <= RAW
    return head.ljust(RAW, b"\0") + b"\xcc" * 0x200 + bytes(data) + table + strings

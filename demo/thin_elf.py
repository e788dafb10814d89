#!/usr/bin/env python3
"""Writes a small stand-in for a shared library: its build-id, load segments and chosen symbols, no code.

    thin_elf.py LIBRARY DEBUGFILE OUT NAME...

The stand-in is enough to name addresses of a recording that ran LIBRARY, on machines with another build.
"""
import struct
import sys


def sections(data):
    shoff, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    rows = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + i * size) for i in range(count)]
    strings = rows[names]
    for row in rows:
        end = data.index(b'\0', strings[4] + row[0])
        yield data[strings[4] + row[0]:end].decode(), row, data[row[4]:row[4] + row[5]] if row[1] != 8 else b''


def symbols(data, wanted):
    found = {}
    table = {name: (row, body) for name, row, body in sections(data)}
    for name in ('.symtab', '.dynsym'):
        if name not in table:
            continue
        row, body = table[name]
        strings = list(sections(data))[row[6]][2]
        for at in range(0, len(body), 24):
            st_name, info, other, shndx, value, size = struct.unpack_from('<IBBHQQ', body, at)
            text = strings[st_name:strings.index(b'\0', st_name)].decode()
            if shndx and value and text in wanted and text not in found:
                found[text] = (info, other, value, size)
    return found


def main():
    library, debug, out = (open(p, 'rb').read() for p in sys.argv[1:3]), None, sys.argv[3]
    library, debug = library
    wanted = set(sys.argv[4:])
    found = symbols(debug, wanted)
    missing = wanted - set(found)
    if missing:
        sys.exit('no such symbols: ' + ' '.join(sorted(missing)))
    phoff, = struct.unpack_from('<Q', library, 32)
    phsize, phcount = struct.unpack_from('<HH', library, 54)
    loads = [library[phoff + i * phsize:phoff + (i + 1) * phsize] for i in range(phcount)
             if struct.unpack_from('<I', library, phoff + i * phsize)[0] == 1]
    build_id = next(body for name, row, body in sections(library) if name == '.note.gnu.build-id')
    strtab, symtab = b'\0', b'\0' * 24
    for name, (info, other, value, size) in sorted(found.items(), key=lambda kv: kv[1][2]):
        symtab += struct.pack('<IBBHQQ', len(strtab), info, other, 1, value, size)
        strtab += name.encode() + b'\0'
    shstr = b'\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab\0'
    body, places = b'', []
    base = 64 + 56 * len(loads)
    for part in (build_id, symtab, strtab, shstr):
        body += b'\0' * (-(base + len(body)) % 8)
        places.append((base + len(body), len(part)))
        body += part
    body += b'\0' * (-(base + len(body)) % 8)
    headers = [(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
               (1, 7, 2, 0, *places[0], 0, 0, 4, 0),
               (20, 2, 0, 0, *places[1], 3, 1, 8, 24),
               (28, 3, 0, 0, *places[2], 0, 0, 1, 0),
               (36, 3, 0, 0, *places[3], 0, 0, 1, 0)]
    elf = library[:32] + struct.pack('<QQIHHHHHH', 64, base + len(body), 0, 64, 56, len(loads), 64, 5, 4)
    elf += b''.join(loads) + body + b''.join(struct.pack('<IIQQQQIIQQ', *h) for h in headers)
    open(out, 'wb').write(elf)


main()

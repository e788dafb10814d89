"""Small ELF files with call frame information, made by hand: a text segment, .eh_frame, symbols.

    Elf(machine=62, big=False, word=8).function(b"main", 0x1000, 0x100, program).bytes()
"""

import struct

X86_64, I386, AARCH64 = 62, 3, 183


def uleb(v):
    out = b""
    while True:
        v, low = v >> 7, v & 127
        out += bytes([low | (128 if v else 0)])
        if not v:
            return out


def sleb(v):
    out = b""
    while True:
        low, v = v & 127, v >> 7
        done = (v == 0 and not low & 64) or (v == -1 and low & 64)
        out += bytes([low | (0 if done else 128)])
        if done:
            return out


def def_cfa(reg, off):
    return b"\x0c" + uleb(reg) + uleb(off)


def cfa_offset(off):
    return b"\x0e" + uleb(off)


def saved(reg, factored):
    return bytes([0x80 | reg]) + uleb(factored)


def undefined(reg):
    return b"\x07" + uleb(reg)


def advance(n):
    return bytes([0x40 | n])


def expression(reg, ops):
    return b"\x10" + uleb(reg) + uleb(len(ops)) + ops


def cfa_expression(ops):
    return b"\x0f" + uleb(len(ops)) + ops


class Elf:
    """CIEs by (letters, initial program); FDEs name theirs. All text is in one segment at file offset 0."""

    def __init__(self, machine=X86_64, big=False, word=8, ra=16, data_align=-8):
        self.order, self.machine, self.word, self.ra, self.data_align = "><"[not big], machine, word, ra, data_align
        self.big, self.functions, self.cies = big, [], {}

    def pack(self, fmt, *values):
        return struct.pack(self.order + fmt, *values)

    def function(self, name, start, size, program=b"", initial=b"", signal=False, no_cfi=False):
        self.functions.append((name, start, size, program, initial, signal, no_cfi))
        return self

    def entry(self, body):
        body += b"\0" * (-(len(body) + 4) % self.word)
        return self.pack("I", len(body)) + body

    def eh_frame(self):
        out, at = b"", {}
        address = "Q" if self.word == 8 else "I"
        for _, start, size, program, initial, signal, no_cfi in self.functions:
            if no_cfi:
                continue
            if (initial, signal) not in at:
                at[initial, signal] = len(out)
                letters = b"zRS\0" if signal else b"zR\0"
                out += self.entry(self.pack("IB", 0, 1) + letters + uleb(1) + sleb(self.data_align) +
                                  bytes([self.ra]) + uleb(1) + b"\0" + initial)
            pointer = len(out) + 4 - at[initial, signal]
            out += self.entry(self.pack("I" + address * 2, pointer, start, size) + uleb(0) + program)
        return out + self.pack("I", 0)

    def bytes(self):
        wide = self.word == 8
        frame = self.eh_frame()
        end = max(start + size for _, start, size, *_ in self.functions)
        names, symbols = b"\0", self.symbol(0, 0, 0, 0, 0)
        for name, start, size, *_ in self.functions:
            symbols += self.symbol(len(names), 0x12, 1, start, size)
            names += name + b"\0"
        strings = b"\0.text\0.eh_frame\0.symtab\0.strtab\0"
        text = b"\x90" * (end - 0x1000)
        at = {}
        body = b""
        for key, data in (("text", text), ("frame", frame), ("symbols", symbols), ("names", names), ("strings", strings)):
            at[key] = 0x1000 + len(body)
            body += data + b"\0" * (-len(data) % 8)
        sections = at["strings"] + len(strings) + (-len(strings) % 8)
        head = b"\x7fELF" + bytes([2 if wide else 1, 2 if self.big else 1, 1]) + b"\0" * 9
        head += self.pack("HHI" + ("QQQ" if wide else "III") + "IHHHHHH", 3, self.machine, 1, 0x1000, 64 if wide else 52,
                          sections, 0, 64 if wide else 52, 56 if wide else 32, 1, 64 if wide else 40, 6, 5)
        if wide:
            head += self.pack("IIQQQQQQ", 1, 5, 0, 0, 0, sections, sections, 0x1000)
        else:
            head += self.pack("IIIIIIII", 1, 0, 0, 0, sections, sections, 5, 0x1000)
        table = self.section(0, 0, 0, 0, 0, 0, 0, 0, 0)
        table += self.section(1, 1, 6, at["text"], at["text"], len(text), 0, 0, 0)
        table += self.section(7, 1, 2, at["frame"], at["frame"], len(frame), 0, 0, 0)
        table += self.section(17, 2, 0, 0, at["symbols"], len(symbols), 4, 1, 24 if wide else 16)
        table += self.section(25, 3, 0, 0, at["names"], len(names), 0, 0, 0)
        table += self.section(25, 3, 0, 0, at["strings"], len(strings), 0, 0, 0)
        return head + b"\0" * (0x1000 - len(head)) + body + table

    def symbol(self, name, info, section, value, size):
        if self.word == 8:
            return self.pack("IBBHQQ", name, info, 0, section, value, size)
        return self.pack("IIIBBH", name, value, size, info, 0, section)

    def section(self, name, kind, flags, addr, offset, size, link, info, entry):
        if self.word == 8:
            return self.pack("IIQQQQIIQQ", name, kind, flags, addr, offset, size, link, info, 8, entry)
        return self.pack("IIIIIIIIII", name, kind, flags, addr, offset, size, link, info, 4, entry)

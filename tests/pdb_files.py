"""PDBs for the tests: the streams of one, and files of streams in blocks of any size.

    pdb_files.py IN.pdb BLOCK OUT.pdb
"""

import struct
import sys

MAGIC = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"
NIL = 0xFFFFFFFF


def streams(data):
    """The bytes of each stream; None for one that is not there."""
    assert data[:32] == MAGIC
    block, _, _, size, _, at = struct.unpack_from("<6I", data, 32)
    n = -(-size // block)

    def gather(blocks, size):
        return b"".join(data[b * block:(b + 1) * block] for b in blocks)[:size]
    directory = gather(struct.unpack_from("<%dI" % n, data, at * block), size)
    count = struct.unpack_from("<I", directory)[0]
    sizes = struct.unpack_from("<%dI" % count, directory, 4)
    out, at = [], 4 + 4 * count
    for s in sizes:
        n = 0 if s == NIL else -(-s // block)
        out.append(None if s == NIL else gather(struct.unpack_from("<%dI" % n, directory, at), s))
        at += 4 * n
    return out


def pack(contents, block=4096, scatter=False):
    """A file of these streams; scatter: none of its blocks stands behind the one before."""
    blocks = [None, b"", b""]  # the header, two free block maps

    def put(text):
        parts = [text[i:i + block] for i in range(0, len(text), block)]
        numbers = list(range(len(blocks), len(blocks) + len(parts)))
        blocks.extend(parts)
        return numbers
    lists = [put(c or b"") for c in contents]
    if scatter:
        order = list(range(3, len(blocks)))[::-1]
        moved = [blocks[i] for i in order]
        where = {old: new for new, old in enumerate(order, 3)}
        blocks[3:] = moved
        lists = [[where[b] for b in one] for one in lists]
    directory = struct.pack("<I", len(contents)) + b"".join(
        struct.pack("<I", NIL if c is None else len(c)) for c in contents) + b"".join(
        struct.pack("<%dI" % len(one), *one) for one in lists)
    of_directory = put(directory)
    each = block // 4
    maps = [put(struct.pack("<%dI" % len(part), *part))[0]
            for part in (of_directory[i:i + each] for i in range(0, len(of_directory), each))]
    head = MAGIC + struct.pack("<5I", block, 1, len(blocks), len(directory), 0) + struct.pack("<%dI" % len(maps), *maps)
    blocks[0] = head
    return b"".join(b.ljust(block, b"\0") for b in blocks)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as f:
        kept = streams(f.read())
    with open(sys.argv[3], "wb") as f:
        f.write(pack(kept, int(sys.argv[2])))

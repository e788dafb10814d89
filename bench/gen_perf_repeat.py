#!/usr/bin/env python3
"""A recording with its samples many times over: `gen_perf_repeat.py IN OUT TIMES`.

For what cannot be made up, like copied stacks. Of a perf.data file (not a pipe) without compressed records; times
go on from one round to the next, so that they ascend.
"""
import struct
import subprocess
import sys

SAMPLE = 9


def records(data, at, end):
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield kind, data[at : at + size]
        at += size


def main():
    source, target, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = open(source, "rb").read()
    if source.endswith(".zst"):
        data = subprocess.run(["zstd", "-dcq", source], stdout=subprocess.PIPE, check=True).stdout
    attrs_at, = struct.unpack_from("<Q", data, 24)
    sample_type, = struct.unpack_from("<Q", data, attrs_at + 24)
    # IDENTIFIER, IP and TID stand before the time, where they are there.
    time_at = 8 + 8 * sum(bool(sample_type & bit) for bit in (1 << 16, 1, 2))
    start, size = struct.unpack_from("<QQ", data, 40)
    all_records = list(records(data, start, start + size))
    samples = [r for kind, r in all_records if kind == SAMPLE]
    stamps = [struct.unpack_from("<Q", r, time_at)[0] for r in samples]
    span = max(stamps) - min(stamps) + 1
    # FINISHED_ROUND would promise an order that the repeats do not keep.
    body = [r for kind, r in all_records if kind not in (SAMPLE, 68)]
    with open(target, "wb") as out:
        out.write(data[:start])
        for r in body:
            out.write(r)
        written = sum(map(len, body))
        for i in range(times):
            for r, t in zip(samples, stamps):
                out.write(r[:time_at] + struct.pack("<Q", t + i * span) + r[time_at + 8 :])
            written += sum(map(len, samples))
        # The feature sections' table follows the records; what it points to is moved with it.
        end = start + written
        bits = [struct.unpack_from("<Q", data, 72 + 8 * i)[0] for i in range(4)]
        n = sum(bin(b).count("1") for b in bits)
        table = start + size
        for i in range(n):
            at, length = struct.unpack_from("<QQ", data, table + 16 * i)
            out.write(struct.pack("<QQ", at - table + end, length))
        out.write(data[table + 16 * n :])
        out.seek(48)
        out.write(struct.pack("<Q", written))


main()

/*
 * A mutator of perf.data that keeps its records apart: it changes, doubles, drops or moves one, and sets the
 * sizes and the places of what stands behind them. Now and then, and where there are no records, it changes
 * any byte.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { HEADER = 104, DATA_AT = 40, DATA_SIZE = 48, FEATURES_AT = 72, RECORDS_MAX = 512, RECORD_MAX = 65528 };

size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed);

struct record {
    size_t at, size;
};

static uint64_t u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void put64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

static size_t find_records(const uint8_t *p, size_t at, size_t end, struct record *out)
{
    size_t n = 0;
    while (n < RECORDS_MAX && end - at >= 8) {
        uint16_t size;
        memcpy(&size, p + at + 6, sizeof size);
        if (size < 8 || size > end - at)
            break;
        out[n++] = (struct record){at, size};
        at += size;
    }
    return n;
}

/* The places of sections for features, in the table behind the records, move with them. */
static void move_features(uint8_t *p, size_t n, size_t end, int64_t by)
{
    unsigned count = 0;
    for (size_t i = FEATURES_AT; i < HEADER; i++)
        count += (unsigned)__builtin_popcount(p[i]);
    for (; count && n - end >= 16; count--, end += 16)
        if (u64(p + end) >= end - (uint64_t)by)
            put64(p + end, u64(p + end) + (uint64_t)by);
}

/* Makes what stands at `at` of `was` bytes `now` bytes long; false: there is no room. */
static bool resize(uint8_t *p, size_t *n, size_t max, size_t at, size_t was, size_t now)
{
    if (*n - was + now > max)
        return false;
    memmove(p + at + now, p + at + was, *n - at - was);
    *n = *n - was + now;
    return true;
}

/* How many bytes the record became longer. */
static int64_t mutate_record(uint8_t *p, size_t *n, size_t max, struct record r, unsigned how)
{
    static uint8_t room[RECORD_MAX];
    size_t now = r.size;
    memcpy(room, p + r.at, r.size);
    if (how == 0) { /* twice */
        if (resize(p, n, max, r.at, 0, r.size))
            memcpy(p + r.at, room, r.size), now = 2 * r.size;
    } else if (how == 1) {
        now = resize(p, n, max, r.at, r.size, 0) ? 0 : now;
    } else {
        size_t most = how < 4 || r.size + 64 > RECORD_MAX ? r.size : r.size + 64;
        now = r.size > 8 ? 8 + LLVMFuzzerMutate(room + 8, r.size - 8, most - 8) : r.size;
        now = (now + 7) & ~(size_t)7;
        if (!resize(p, n, max, r.at, r.size, now))
            return 0;
        const uint16_t size = (uint16_t)now;
        memcpy(room + 6, &size, sizeof size);
        memcpy(p + r.at, room, now);
    }
    return (int64_t)now - (int64_t)r.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed)
{
    static struct record records[RECORDS_MAX];
    if (n < HEADER || memcmp(p, "PERFILE2", 8) != 0 || seed % 6 == 0)
        return LLVMFuzzerMutate(p, n, max);
    uint64_t at = u64(p + DATA_AT), size = u64(p + DATA_SIZE);
    if (at < HEADER || at > n || size > n - at)
        return LLVMFuzzerMutate(p, n, max);
    size_t count = find_records(p, at, at + size, records);
    if (!count)
        return LLVMFuzzerMutate(p, n, max);
    int64_t by = mutate_record(p, &n, max, records[seed / 64 % count], seed / 8 % 8);
    put64(p + DATA_SIZE, size + (uint64_t)by);
    move_features(p, n, at + size + (uint64_t)by, by);
    return n;
}

/*
 * A mutator of SPT that keeps its segments apart: it changes the records of one, doubles or drops it, and
 * sets its length. Now and then, and where there are no segments, it changes any byte.
 */
#include <stdint.h>
#include <string.h>

enum { HEADER = 32, SEGMENT = 8, SEGMENTS_MAX = 512, ROOM = 65536, PROGRAM = 24 };

size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed);

static uint32_t u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Where segments begin, behind the table of programs. */
static size_t segments_at(const uint8_t *p)
{
    uint16_t programs;
    memcpy(&programs, p + 30, sizeof programs);
    return (size_t)u32(p + 20) + (size_t)PROGRAM * programs;
}

size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned seed)
{
    static size_t at[SEGMENTS_MAX];
    static uint8_t room[ROOM];
    size_t count = 0, here = n < HEADER ? n : segments_at(p);
    /* The length counts itself, and stands behind an id, padding and the program's number. */
    for (uint32_t length; count < SEGMENTS_MAX && here < n && n - here >= SEGMENT; here += 4 + length) {
        length = u32(p + here + 4);
        if (length < 4 || length > n - here - 4)
            break;
        at[count++] = here;
    }
    if (!count || seed % 6 == 0)
        return LLVMFuzzerMutate(p, n, max);
    size_t start = at[seed / 64 % count], whole = 4 + (size_t)u32(p + start + 4), now = whole;
    unsigned how = seed / 8 % 8;
    if (2 * whole > ROOM || whole + 32 > ROOM)
        return LLVMFuzzerMutate(p, n, max);
    memcpy(room, p + start, whole);
    if (how == 0) { /* dropped */
        now = 0;
    } else if (how == 1) {
        memcpy(room + whole, room, whole);
        now = 2 * whole;
    } else {
        now = SEGMENT + LLVMFuzzerMutate(room + SEGMENT, whole - SEGMENT, whole - SEGMENT + 24);
        const uint32_t length = (uint32_t)now - 4;
        memcpy(room + 4, &length, sizeof length);
    }
    if (n - whole + now > max)
        return LLVMFuzzerMutate(p, n, max);
    memmove(p + start + now, p + start + whole, n - start - whole);
    memcpy(p + start, room, now);
    return n - whole + now;
}

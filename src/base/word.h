/* Numbers of several bytes, of any alignment. */
#ifndef SP_WORD_H
#define SP_WORD_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* 1, 2, 4 or else 8 bytes, in this machine's order or, swapped, in the other. */
static inline uint64_t sp_load_swapped(const void *p, unsigned bytes, bool swap)
{
    uint16_t v2;
    uint32_t v4;
    uint64_t v8;
    switch (bytes) {
    case 1:
        return *(const unsigned char *)p;
    case 2:
        memcpy(&v2, p, sizeof v2);
        return swap ? __builtin_bswap16(v2) : v2;
    case 4:
        memcpy(&v4, p, sizeof v4);
        return swap ? __builtin_bswap32(v4) : v4;
    default:
        memcpy(&v8, p, sizeof v8);
        return swap ? __builtin_bswap64(v8) : v8;
    }
}

/* Eight bytes, the first one lowest on every machine. */
static inline uint64_t sp_load_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

#endif

/*
 * Blanks and numbers in the text of hang reports, eight bytes at a time. What is loaded must be there:
 * callers see to it that eight bytes follow, or stand before.
 */
#ifndef SP_HANG_DIGITS_H
#define SP_HANG_DIGITS_H

#include "base/num.h"
#include "base/word.h"

#define SP_HANG_EACH(byte) (0x0101010101010101u * (byte))

static inline unsigned sp_hang_leading_spaces(uint64_t v) /* of eight bytes */
{
    v ^= SP_HANG_EACH(' ');
    return v ? (unsigned)__builtin_ctzll(v) / 8 : 8;
}

/* A bit in each byte that is not below 10 when this is text of digits, once '0' is taken away. */
static inline uint64_t sp_hang_no_digits(uint64_t v)
{
    v ^= SP_HANG_EACH('0');
    return (((v & SP_HANG_EACH(0x7F)) + SP_HANG_EACH(0x76)) | v) & SP_HANG_EACH(0x80);
}

static inline unsigned sp_hang_leading_digits(uint64_t v)
{
    v = sp_hang_no_digits(v);
    return v ? (unsigned)__builtin_ctzll(v) / 8 : 8;
}

/* The number that the last 1 <= n <= 8 of eight bytes are, all digits. */
static inline uint32_t sp_hang_last_digits(uint64_t v, unsigned n)
{
    v = (n < 8 ? v >> (64 - 8 * n) << (64 - 8 * n) : v) & SP_HANG_EACH(0x0F);
    v = (v * 10 + (v >> 8)) & 0x00FF00FF00FF00FFu;
    v = (v * 100 + (v >> 16)) & 0x0000FFFF0000FFFFu;
    return (uint32_t)(v * 10000 + (v >> 32));
}

/* Digits at the end of eight bytes. */
static inline unsigned sp_hang_trailing_digits(uint64_t v)
{
    v = sp_hang_no_digits(v);
    return v ? (unsigned)__builtin_clzll(v) / 8 : 8;
}

/* A bit in each byte that is no hexadecimal digit. */
static inline uint64_t sp_hang_no_hex(uint64_t v)
{
    const uint64_t low = SP_HANG_EACH(0x7F);
    uint64_t letter = (v | SP_HANG_EACH(0x20)) ^ SP_HANG_EACH(0x60); /* 1 to 6 for a to f */
    uint64_t odd_letter = (((letter & low) + SP_HANG_EACH(0x79)) | ~((letter & low) + low) | letter);
    return sp_hang_no_digits(v) & odd_letter & SP_HANG_EACH(0x80);
}

/* The number that the last n <= 8 of eight bytes are, all hexadecimal digits. */
static inline uint32_t sp_hang_last_hex(uint64_t v, unsigned n)
{
    v = (v & SP_HANG_EACH(0x0F)) + 9 * (v >> 6 & SP_HANG_EACH(1));
    v = n ? v >> (64 - 8 * n) << (64 - 8 * n) : 0;
    v = (v << 4 | v >> 8) & 0x00FF00FF00FF00FFu;
    v = (v << 8 | v >> 16) & 0x0000FFFF0000FFFFu;
    return (uint32_t)(v << 16 | v >> 32);
}

/* Hexadecimal digits at the end of eight bytes, and their number. */
static inline unsigned sp_hang_trailing_hex(uint64_t v, uint32_t *out)
{
    uint64_t odd = sp_hang_no_hex(v);
    unsigned n = odd ? (unsigned)__builtin_clzll(odd) / 8 : 8;
    *out = sp_hang_last_hex(v, n);
    return n;
}

/* Hexadecimal digits at the beginning of eight bytes, and their number. */
static inline unsigned sp_hang_leading_hex(uint64_t v, uint32_t *out)
{
    uint64_t odd = sp_hang_no_hex(v);
    unsigned n = odd ? (unsigned)__builtin_ctzll(odd) / 8 : 8;
    *out = n ? sp_hang_last_hex(v << (64 - 8 * n), n) : 0;
    return n;
}

/* The same as sp_parse_hex, for numbers of up to 15 digits. */
static inline size_t sp_hang_parse_hex(const char *p, const char *end, uint64_t *out)
{
    uint32_t high, low;
    if (end - p < 16)
        return sp_parse_hex(p, end, out);
    unsigned n = sp_hang_leading_hex(sp_load_le64(p), &high), more = 0;
    if (n == 8) {
        more = sp_hang_leading_hex(sp_load_le64(p + 8), &low);
        if (more == 8)
            return sp_parse_hex(p, end, out);
        *out = (uint64_t)high << (4 * more) | low;
    } else if (n) {
        *out = high;
    }
    return n + more;
}

#endif

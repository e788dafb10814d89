/*
 * Packed numbers, in a hurry: where they end comes from a mask of 64 bytes at a time, and four of up to three
 * bytes each are pushed together at once, so that no branch depends on how long one is.
 *
 * Of bytes before or behind what is asked for, a whole block is loaded: it must lie in memory.
 */
#ifndef SP_PPROF_PACKED_H
#define SP_PPROF_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define PP_BLOCK   64u
#define PP_FACTORS 1024u

/* How the bytes of four numbers are spread over four words, by the ends among the next twelve bytes. */
#define PP_SHAPES 81u /* three lengths, four times */
struct sp_pp_shapes {
    bool usable;          /* the processor has what it takes */
    uint8_t number[4096]; /* of a shape; 0: one of the four is longer */
    uint8_t bytes[PP_SHAPES + 1][16];
    uint32_t factors[PP_FACTORS];
};
void sp_pp_shapes(struct sp_pp_shapes *x);

/*
 * Numbers packed in n bytes, the last of which ends one, into out, which has room for n + 4; those that are
 * not below `limit` as 0. How many; 0: some take more than eight bytes.
 */
size_t sp_pp_unpack(const struct sp_pp_shapes *x, const unsigned char *p, size_t n, uint32_t limit,
                    uint32_t *out);

/*
 * Copies n words, and up to seven zeros that stand behind them; `to` may be where they are. Returns a hash of
 * them, to be mixed with n: the sum of the products of two each, with a random number of its place added (NH
 * of Black et al., UMAC, 1999).
 */
uint64_t sp_pp_copy(const struct sp_pp_shapes *x, const uint32_t *from, size_t n, uint32_t *to);

static inline uint64_t sp_pp_load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

#ifdef __SSE2__
static inline __m128i sp_pp_load128(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}
static inline uint64_t sp_pp_high_bits(__m128i v)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(v);
}
#else
/* The high bits of eight bytes, side by side. */
static inline uint64_t sp_pp_high_bits(uint64_t v)
{
    return (v >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56;
}
#endif

/* Bit i is set where the byte p[i] of a block ends a number. */
static inline uint64_t sp_pp_ends(const unsigned char *p)
{
#ifdef __SSE2__
    return ~(sp_pp_high_bits(sp_pp_load128(p)) | sp_pp_high_bits(sp_pp_load128(p + 16)) << 16 |
             sp_pp_high_bits(sp_pp_load128(p + 32)) << 32 | sp_pp_high_bits(sp_pp_load128(p + 48)) << 48);
#else
    uint64_t more = 0;
    for (unsigned i = 0; i < PP_BLOCK; i += 8)
        more |= sp_pp_high_bits(sp_pp_load64(p + i)) << i;
    return ~more;
#endif
}

/* How many of the bytes of the blocks before a and before b are equal, counted from their ends. */
static inline size_t sp_pp_equal_before(const unsigned char *a, const unsigned char *b)
{
#ifdef __SSE2__
    uint64_t equal = 0;
    for (unsigned i = 0; i < PP_BLOCK; i += 16)
        equal |=
            sp_pp_high_bits(_mm_cmpeq_epi8(sp_pp_load128(a - PP_BLOCK + i), sp_pp_load128(b - PP_BLOCK + i)))
            << i;
    return ~equal ? (size_t)__builtin_clzll(~equal) : PP_BLOCK;
#else
    for (size_t i = 8; i <= PP_BLOCK; i += 8) {
        uint64_t differ = sp_pp_load64(a - i) ^ sp_pp_load64(b - i);
        if (differ)
            return i - 8 + (size_t)__builtin_clzll(differ) / 8;
    }
    return PP_BLOCK;
#endif
}

#endif

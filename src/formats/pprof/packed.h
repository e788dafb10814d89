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
#if defined(__SSE2__) && defined(__x86_64__)
#include <immintrin.h>
#endif

#define PP_BLOCK   64u
#define PP_FACTORS 1024u
#define PP_STEP    32u

#define PP_INLINE static inline __attribute__((always_inline))

/* A number of up to eight bytes, where eight can be loaded: how long it is, or 0 where it has more. */
typedef size_t sp_pp_number(const unsigned char *p, uint64_t *out);

#if defined(__SSE2__) && defined(__x86_64__)
/* What most processors have since 2013. */
#define PP_NEEDED __attribute__((target("avx2,bmi,bmi2,popcnt")))

PP_NEEDED static inline size_t sp_pp_number_quick(const unsigned char *p, uint64_t *out)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    const uint64_t ends = ~v & 0x8080808080808080u;
    /* Its bytes without the upper bits; pairs of them become numbers, then pairs of those, and both. */
    __m128i x = _mm_cvtsi64_si128((int64_t)(v & 0x7f7f7f7f7f7f7f7fu & (ends ^ (ends - 1))));
    x = _mm_maddubs_epi16(_mm_set1_epi16((short)0x8001), x);
    v = (uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(x, _mm_set1_epi32(0x40000001)));
    *out = v - (v >> 32) * 0xf0000000u;
    return ends ? ((size_t)__builtin_ctzll(ends) >> 3) + 1 : 0;
}
#endif

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
 * Copies n words, in steps of PP_STEP: where others stand behind them, these must be zeros. `to` may be where
 * they are. Returns a hash of them, to be mixed with n: the sum of the products of two each, with a random
 * number of its place added (NH of Black et al., UMAC, 1999).
 */
uint64_t sp_pp_copy(const struct sp_pp_shapes *x, const uint32_t *from, size_t n, uint32_t *to);

/*
 * How many of up to `max` bytes before a and before b are the same and are whole numbers of both, which end
 * there; *numbers: how many these are. What stands before those bytes ends like one of them.
 */
size_t sp_pp_same_end(const struct sp_pp_shapes *x, const unsigned char *a, const unsigned char *b,
                      size_t max, size_t *numbers);

#endif

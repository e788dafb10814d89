/*
 * Packed numbers, in a hurry: where they end comes from a mask of 64 bytes at a time, and four of up to three
 * bytes each are pushed together at once, so that no branch depends on how long one is.
 *
 * What there is twice, "quick" and "plain", does the same; the first is for processors that sp_pp_shapes
 * found usable, and stands here to become part of loops. Of bytes before or behind what is asked for, a whole
 * block is loaded: it must lie in memory.
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
    *out = v >> 32 << 28 | (uint32_t)v;
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
typedef size_t sp_pp_unpack(const struct sp_pp_shapes *x, const unsigned char *p, size_t n, uint32_t limit,
                            uint32_t *out);
sp_pp_unpack sp_pp_unpack_plain;

/*
 * Copies n words, in steps of PP_STEP: where others stand behind them, these must be zeros. `to` may be where
 * they are. Returns a hash of them, to be mixed with n: the sum of the products of two each, with a random
 * number of its place added (NH of Black et al., UMAC, 1999).
 */
typedef uint64_t sp_pp_copy(const struct sp_pp_shapes *x, const uint32_t *from, size_t n, uint32_t *to);
sp_pp_copy sp_pp_copy_plain;

/*
 * How many of up to `max` bytes before a and before b are the same and are whole numbers of both, which end
 * there; *numbers: how many these are. What stands before those bytes ends like one of them.
 */
typedef size_t sp_pp_same_end(const unsigned char *a, const unsigned char *b, size_t max, size_t *numbers);
sp_pp_same_end sp_pp_same_end_plain;

#ifdef PP_NEEDED
PP_NEEDED PP_INLINE __m256i sp_pp_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* Bit i is set where the byte p[i] of a block ends a number. */
PP_NEEDED PP_INLINE uint64_t sp_pp_ends_of(const unsigned char *p)
{
    const uint32_t low = (uint32_t)_mm256_movemask_epi8(sp_pp_load(p));
    return ~(low | (uint64_t)(uint32_t)_mm256_movemask_epi8(sp_pp_load(p + 32)) << 32);
}

PP_NEEDED PP_INLINE __m128i sp_pp_four(__m128i bytes, const uint8_t *shape)
{
    /* Seven bits of each byte; first pairs of them become numbers, then pairs of those. */
    const __m128i seven = _mm_set1_epi8(0x7f), bytes_by = _mm_set1_epi16((short)0x8001);
    const __m128i v = _mm_shuffle_epi8(bytes, _mm_loadu_si128((const __m128i *)(const void *)shape));
    return _mm_madd_epi16(_mm_maddubs_epi16(bytes_by, _mm_and_si128(v, seven)), _mm_set1_epi32(0x40000001));
}

PP_NEEDED PP_INLINE size_t sp_pp_unpack_quick(const struct sp_pp_shapes *x, const unsigned char *p, size_t n,
                                              uint32_t limit, uint32_t *out)
{
    /* Four numbers have 21 bits each, so that it does not matter that the comparison has signs. */
    const __m128i limits = _mm_set1_epi32(limit > INT32_MAX ? INT32_MAX : (int32_t)limit);
    uint32_t *to = out;
    size_t at = 0;
    while (at < n) {
        const unsigned char *block = p + at;
        size_t left = n - at, done = 0, next;
        uint64_t ends = sp_pp_ends_of(block);
        if (left < PP_BLOCK) /* up to three more, of one byte each, for the last four */
            ends = (ends & (((uint64_t)1 << left) - 1)) | (uint64_t)7 << left;
        for (int fours = __builtin_popcountll(ends) / 4; fours; fours--, to += 4, done = next) {
            const unsigned shape = x->number[ends >> done & 0xfff];
            ends &= ends - 1;
            ends &= ends - 1;
            ends &= ends - 1;
            next = (size_t)__builtin_ctzll(ends) + 1;
            ends &= ends - 1;
            if (__builtin_expect(shape != 0, 1)) {
                const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + done));
                const __m128i v = sp_pp_four(bytes, x->bytes[shape]);
                _mm_storeu_si128((__m128i *)(void *)to, _mm_and_si128(v, _mm_cmpgt_epi32(limits, v)));
            } else if (!sp_pp_unpack_plain(x, block + done, (next < left ? next : left) - done, limit, to)) {
                return 0;
            }
        }
        if (!done)
            return 0;
        at += done;
    }
    return (size_t)(to - out) - (at - n);
}

/* The steps are large: how many there are is hard to foresee. */
PP_NEEDED PP_INLINE uint64_t sp_pp_copy_quick(const struct sp_pp_shapes *x, const uint32_t *from, size_t n,
                                              uint32_t *to)
{
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += PP_STEP) {
        const uint32_t *f = x->factors + i % PP_FACTORS;
#pragma GCC unroll 4
        for (size_t k = 0; k < PP_STEP; k += 8) {
            const __m256i v = sp_pp_load(from + i + k), w = _mm256_add_epi32(v, sp_pp_load(f + k));
            _mm256_storeu_si256((__m256i *)(void *)(to + i + k), v);
            sum = _mm256_add_epi64(sum, _mm256_mul_epu32(w, _mm256_srli_epi64(w, 32)));
        }
    }
    __m128i both = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return (uint64_t)_mm_cvtsi128_si64(both) + (uint64_t)_mm_extract_epi64(both, 1);
}

PP_NEEDED PP_INLINE size_t sp_pp_same_end_quick(const unsigned char *a, const unsigned char *b, size_t max,
                                                size_t *numbers)
{
    size_t blocks = 0, same;
    *numbers = 0;
    for (;; blocks += PP_BLOCK) {
        const unsigned char *x = a - blocks, *y = b - blocks;
        const __m256i near = _mm256_cmpeq_epi8(sp_pp_load(x - 32), sp_pp_load(y - 32));
        const __m256i far = _mm256_cmpeq_epi8(sp_pp_load(x - 64), sp_pp_load(y - 64));
        const uint64_t equal =
            (uint32_t)_mm256_movemask_epi8(far) | (uint64_t)(uint32_t)_mm256_movemask_epi8(near) << 32;
        same = ~equal ? (size_t)__builtin_clzll(~equal) : PP_BLOCK;
        same = same < max - blocks ? same : max - blocks;
        if (__builtin_expect(same < PP_BLOCK, 1))
            break;
        *numbers += (size_t)__builtin_popcountll(sp_pp_ends_of(x - PP_BLOCK));
    }
    /* Nothing here depends on where numbers begin but what is computed. */
    const unsigned char *x = a - blocks - same, *y = b - blocks - same;
    const uint64_t ends = sp_pp_ends_of(x + same - PP_BLOCK) >> 1 >> (PP_BLOCK - 1 - same);
    const bool part = blocks + same && (x[-1] | y[-1]) >= 0x80;
    if (__builtin_expect(part && !ends, 0))
        return sp_pp_same_end_plain(a, b, max, numbers); /* a number that lies in two blocks */
    *numbers += (size_t)__builtin_popcountll(ends) - part;
    return blocks + same - (part ? (size_t)__builtin_ctzll(ends) + 1 : 0);
}
#endif

#endif

/*
 * Lists of small numbers. With SSE2, 64 bytes at a time are searched for what separates the numbers; then
 * four numbers at once are made of the eight bytes before each separator: digits to hundreds, to ten
 * thousands, to the whole.
 */
#include "formats/spaa/usual.h"

enum { DIGITS_MAX = 7 };

/* One number at a time, from `from` on, of which n came before. */
static size_t plainly(const char *from, const char *limit, uint32_t least, uint32_t count, uint32_t *out,
                      size_t n, const char **close)
{
    for (const char *p = from; n < SP_LIST_MAX; from = ++p) {
        uint32_t v = 0;
        for (; p < limit && (unsigned char)(*p - '0') < 10 && p - from <= DIGITS_MAX; p++)
            v = v * 10 + (unsigned char)(*p - '0');
        if (p == from || p >= limit || p - from > DIGITS_MAX || (*from == '0' && p - from > 1) || v < least ||
            v - least >= count)
            return 0;
        out[n++] = v - least;
        if (*p == ',')
            continue;
        *close = p;
        return *p == ']' ? n : 0;
    }
    return 0;
}

#if defined __SSE2__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* By the distance from one separator to the next: the bytes of eight that are digits. */
#define DIGIT_BYTES(n) (UINT64_MAX << (64 - 8 * (n)))
static const uint64_t digit_bytes[16] = {
    [2] = DIGIT_BYTES(1), [3] = DIGIT_BYTES(2), [4] = DIGIT_BYTES(3), [5] = DIGIT_BYTES(4),
    [6] = DIGIT_BYTES(5), [7] = DIGIT_BYTES(6), [8] = DIGIT_BYTES(7),
};

static inline __m128i load_two(const void *low, const void *high)
{
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64(low)), high));
}

/* The digits of the numbers that end at[1] and at[2]; at[0]: the end before. */
static inline __m128i two_numbers(const char *p, const int32_t *at)
{
    __m128i x = load_two(p + at[1] - 8, p + at[2] - 8);
    __m128i mask = load_two(&digit_bytes[(at[1] - at[0]) & 15], &digit_bytes[(at[2] - at[1]) & 15]);
    return _mm_and_si128(_mm_sub_epi8(x, _mm_set1_epi8('0')), mask);
}

/* Digits of two numbers to four numbers below ten thousand. */
static inline __m128i by_thousands(__m128i x)
{
    const __m128i zero = _mm_setzero_si128(), weights = _mm_set_epi16(1, 10, 100, 1000, 1, 10, 100, 1000);
    __m128i a = _mm_madd_epi16(_mm_unpacklo_epi8(x, zero), weights);
    __m128i b = _mm_madd_epi16(_mm_unpackhi_epi8(x, zero), weights);
    return _mm_madd_epi16(_mm_packs_epi32(a, b), _mm_set1_epi16(1));
}

/* What was seen of all numbers: signs of what is out of bounds, and the largest digits. */
struct seen {
    __m128i signs, digits;
};

/* The numbers that end at[1] to at[4]. */
static inline void four_numbers(const char *p, const int32_t *at, uint32_t least, uint32_t count,
                                uint32_t *out, struct seen *seen)
{
    __m128i x = two_numbers(p, at), y = two_numbers(p, at + 2);
    __m128i v =
        _mm_madd_epi16(_mm_packs_epi32(by_thousands(x), by_thousands(y)), _mm_set1_epi32(1 << 16 | 10000));
    __m128i apart = _mm_sub_epi32(_mm_loadu_si128((const __m128i *)(const void *)(at + 1)),
                                  _mm_loadu_si128((const __m128i *)(const void *)at));
    v = _mm_sub_epi32(v, _mm_set1_epi32((int)least));
    __m128i signs = _mm_or_si128(v, _mm_sub_epi32(_mm_set1_epi32((int)count - 1), v));
    signs = _mm_or_si128(signs, _mm_sub_epi32(apart, _mm_set1_epi32(2)));
    signs = _mm_or_si128(signs, _mm_sub_epi32(_mm_set1_epi32(DIGITS_MAX + 1), apart));
    seen->signs = _mm_or_si128(seen->signs, signs);
    seen->digits = _mm_max_epu8(seen->digits, _mm_max_epu8(x, y));
    _mm_storeu_si128((__m128i *)(void *)out, v);
}

struct masks {
    uint64_t commas, closing, zeros;
};

static inline struct masks classify(const char *p)
{
    struct masks m = {0, 0, 0};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        m.commas |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(','))) << 16 * i;
        m.closing |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(']'))) << 16 * i;
        m.zeros |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('0'))) << 16 * i;
    }
    return m;
}

/* The places of the separators of the list, relative to p, from at[1] on. 0: too many, or not in whole
 * blocks. */
static inline size_t find_ends(const char *p, const char *limit, int32_t *at)
{
    uint64_t begins = 1; /* bit 0: a number begins with the block */
    size_t n = 0;
    at[0] = -1;
    for (const char *block = p; limit - block > 64 && n <= SP_LIST_MAX - 64; block += 64) {
        struct masks m = classify(block);
        uint64_t inside = m.closing ? m.closing ^ (m.closing - 1) : UINT64_MAX;
        uint64_t ends = (m.commas | m.closing) & inside;
        /* A zero that begins a number is all of it. */
        uint64_t zeros = m.zeros & inside & (ends << 1 | begins) & ~(ends >> 1);
        if (!ends || zeros << 1 || (zeros && (unsigned char)(block[64] - '0') < 10))
            return 0;
        begins = ends >> 63;
        for (int32_t from = (int32_t)(block - p); ends; ends &= ends - 1)
            at[++n] = from + __builtin_ctzll(ends);
        if (m.closing)
            return n;
    }
    return 0;
}

size_t sp_number_list(const char *p, const char *limit, uint32_t least, uint32_t count, uint32_t *out,
                      const char **close)
{
    int32_t at[SP_LIST_MAX + 1];
    size_t n = count && count <= INT32_MAX ? find_ends(p, limit, at) : 0;
    if (n < 4)
        return plainly(p, limit, least, count, out, 0, close);
    struct seen seen = {_mm_setzero_si128(), _mm_setzero_si128()};
    for (size_t i = 0; i < n; i += 4)
        four_numbers(p, at + (i + 4 <= n ? i : n - 4), least, count, out + (i + 4 <= n ? i : n - 4), &seen);
    seen.digits = _mm_cmpeq_epi8(_mm_min_epu8(seen.digits, _mm_set1_epi8(9)), seen.digits);
    if (_mm_movemask_ps(_mm_castsi128_ps(seen.signs)) || _mm_movemask_epi8(seen.digits) != 0xFFFF)
        return 0;
    *close = p + at[n];
    return n;
}

#else

size_t sp_number_list(const char *p, const char *limit, uint32_t least, uint32_t count, uint32_t *out,
                      const char **close)
{
    return plainly(p, limit, least, count, out, 0, close);
}

#endif

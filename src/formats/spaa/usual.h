/*
 * Texts that make up most of a SPAA file, recognised many bytes at a time: lists of small whole numbers,
 * plain numbers, equal texts. What is not of the usual kind is refused and left to the JSON cursor.
 */
#ifndef SP_SPAA_USUAL_H
#define SP_SPAA_USUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { SP_LIST_MAX = 4096 /* numbers of a list */ };

/*
 * The list of numbers that begins at p, behind its bracket: shortest form, 1 to 7 digits, separated by commas
 * alone, each at least `least` and below `count` + `least`. Their distances from `least` go to `out`, which
 * has room for SP_LIST_MAX. Returns how many there are and where the closing bracket stands; 0: another kind
 * of list, or a longer one. 8 bytes before p can be read, and nothing from limit on.
 */
size_t sp_number_list(const char *p, const char *limit, uint32_t least, uint32_t count, uint32_t *out,
                      const char **close);

/*
 * The end of a string at p if it is plain ASCII without escapes, else NULL. Nothing from limit on is read. A
 * DEL is not plain.
 */
static inline const char *sp_plain_text(const char *p, const char *limit)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), delete = _mm_set1_epi8(0x7F),
                  space = _mm_set1_epi8(0x20);
    for (; limit - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* Signed: bytes from 0x80 on are below the space as well. */
        __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)),
                                    _mm_or_si128(_mm_cmplt_epi8(x, space), _mm_cmpeq_epi8(x, delete)));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask) {
            p += __builtin_ctz(mask);
            return *p == '"' ? p : NULL;
        }
    }
#endif
    while (p < limit && *p != '"' && *p != '\\' && (unsigned char)(*p - 0x20) < 0x7F - 0x20)
        p++;
    return p < limit && *p == '"' ? p : NULL;
}

static inline uint64_t sp_load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* Equal bytes; for short texts whose length is not known when compiling. */
static inline bool sp_same_text(const char *a, const char *b, size_t n)
{
#ifdef __SSE2__
    if (n >= 16) {
        const __m128i *x = (const __m128i *)(const void *)a, *y = (const __m128i *)(const void *)b;
        __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128(x), _mm_loadu_si128(y));
        for (size_t at = n % 16 ? n % 16 : 16; at < n; at += 16) {
            x = (const __m128i *)(const void *)(a + at);
            y = (const __m128i *)(const void *)(b + at);
            same = _mm_and_si128(same, _mm_cmpeq_epi8(_mm_loadu_si128(x), _mm_loadu_si128(y)));
        }
        return _mm_movemask_epi8(same) == 0xFFFF;
    }
#endif
    if (n >= 8) {
        uint64_t differ = sp_load8(a) ^ sp_load8(b);
        for (size_t at = n % 8 ? n % 8 : 8; at < n; at += 8)
            differ |= sp_load8(a + at) ^ sp_load8(b + at);
        return !differ;
    }
    while (n && a[n - 1] == b[n - 1])
        n--;
    return !n;
}

/* The text that is expected at *p, which is moved behind it. */
static inline bool sp_expect(const char **p, const char *end, const char *text, size_t n)
{
    if ((size_t)(end - *p) < n || !sp_same_text(*p, text, n))
        return false;
    *p += n;
    return true;
}
#define SP_EXPECT(p, end, literal) sp_expect(p, end, literal, sizeof literal - 1)

/* At most 18 digits in the shortest form at *p, which is moved behind them: false: none, or more. */
static inline bool sp_plain_number(const char **p, const char *limit, uint64_t *out)
{
    const char *s = *p;
    uint64_t v = 0;
    size_t n = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (limit - s >= 24) { /* 8 digits at a time */
        for (unsigned digits = 8; digits == 8 && n <= 16; n += digits) {
            static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
            uint64_t w = sp_load8(s + n) ^ 0x3030303030303030u;
            uint64_t other = ((w + 0x7676767676767676u) | w) & 0x8080808080808080u;
            digits = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
            w = digits ? w << (64 - 8 * digits) : 0;
            w = w * 10 + (w >> 8);
            w = ((w & 0x000000FF000000FFu) * 0x000F424000000064u +
                 ((w >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
                32;
            v = v * tens[digits] + w;
        }
    } else
#endif
    {
        for (; s + n < limit && n < 19 && (unsigned char)(s[n] - '0') < 10; n++)
            v = v * 10 + (unsigned char)(s[n] - '0');
    }
    if (!n || n > 18 || (*s == '0' && n > 1))
        return false;
    *p = s + n;
    *out = v;
    return true;
}

#endif

/*
 * Frame numbers are most of most files. With SSE2, 64 bytes at a time are classified into digits and
 * others; the places of the others are the ends of the numbers, and eight bytes before each hold it whole.
 */
#include "formats/spaa/validate/fast_frames.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define DIGITS_MAX 7

/* All in one function for each frame order, with the state in registers. */
#define FORCE_INLINE static inline __attribute__((always_inline))

/* A list while it is read. */
struct reading {
    const struct sp_brief *briefs;
    size_t known, n;
    bool leaf_first;
    uint32_t before;   /* id + 1 of the frame before this one; 0: none */
    uint32_t expected; /* what that frame expects here */
    unsigned all, any, unusual;
    uint32_t *ids;
};

FORCE_INLINE bool add(struct reading *r, uint32_t id)
{
    if (id >= r->known)
        return false;
    struct sp_brief b = r->briefs[id];
    r->ids[r->n++] = id;
    r->all &= b.bits;
    r->any |= b.bits;
    /* Towards the root: what an inlined frame is followed by, or follows. */
    uint32_t expected = r->leaf_first ? r->expected : b.caller, found = r->leaf_first ? id + 1 : r->before;
    r->unusual |= (expected != 0) & (expected != found);
    r->expected = b.caller;
    r->before = id + 1;
    return true;
}

FORCE_INLINE const char *finish(const struct reading *r, struct sp_frame_run *out, const char *p)
{
    if (p[-1] != ']' || !(r->all & SP_ID_DEFINED))
        return NULL;
    out->n = r->n;
    out->bits = r->any;
    out->unusual = r->unusual | (r->leaf_first & (r->expected != 0));
    return p;
}

/* One number at a time. */
FORCE_INLINE const char *plainly(struct reading *r, const char *p)
{
    for (;;) {
        const char *from = p;
        uint32_t id = 0;
        for (unsigned d; (d = (unsigned)(unsigned char)*p - '0') <= 9; p++)
            id = id * 10 + d;
        if (p == from || p - from > DIGITS_MAX || (*from == '0' && p - from > 1) || r->n == SP_FAST_FRAMES ||
            !add(r, id))
            return NULL;
        if (*p++ != ',')
            return p;
    }
}

#ifdef __SSE2__
static inline uint64_t not_digits(const char *p)
{
    uint64_t mask = 0;
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), zero);
        unsigned digits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, nine), x));
        mask |= (uint64_t)(digits ^ 0xFFFF) << 16 * i;
    }
    return mask;
}

/* The number of n (1..7) digits that ends at end. */
static inline uint32_t number_before(const char *end, size_t n)
{
    uint64_t w;
    memcpy(&w, end - 8, 8);
    w &= 0x0F0F0F0F0F0F0F0Fu & ~(uint64_t)0 << (64 - 8 * n);
    w = (w * 10 + (w >> 8)) & 0x00FF00FF00FF00FFu;
    w = (w * 100 + (w >> 16)) & 0x0000FFFF0000FFFFu;
    return (uint32_t)(w * 10000 + (w >> 32));
}

/* Returns what follows the list, or NULL; *p moves on with whole blocks and *from to the next number. */
FORCE_INLINE const char *by_blocks(struct reading *r, const char **from, const char *limit)
{
    for (const char *p = *from; limit - p >= 64 && r->n <= SP_FAST_FRAMES - 64; p += 64) {
        for (uint64_t ends = not_digits(p); ends; ends &= ends - 1) {
            const char *end = p + __builtin_ctzll(ends);
            size_t n = (size_t)(end - *from);
            if (n - 1 >= DIGITS_MAX || (**from == '0' && n > 1) || !add(r, number_before(end, n)))
                return NULL;
            *from = end + 1;
            if (*end != ',')
                return *from;
        }
    }
    return plainly(r, *from);
}

const char *sp_fast_text(const char *p, const char *limit)
{
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
    while (*p != '"' && *p != '\\' && *p >= 0x20 && *p < 0x7F)
        p++;
    return *p == '"' ? p : NULL;
}
#else
FORCE_INLINE const char *by_blocks(struct reading *r, const char **from, const char *limit)
{
    (void)limit;
    return plainly(r, *from);
}

const char *sp_fast_text(const char *p, const char *limit)
{
    (void)limit;
    while (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7F)
        p++;
    return *p == '"' ? p : NULL;
}
#endif

FORCE_INLINE const char *read_list(const struct sp_ids *frames, const char *p, const char *limit,
                                   bool leaf_first, struct sp_frame_run *out)
{
    struct reading r = {.briefs = frames->briefs,
                        .known = frames->nnumbers,
                        .leaf_first = leaf_first,
                        .all = SP_ID_DEFINED,
                        .ids = out->ids};
    const char *end = by_blocks(&r, &p, limit);
    return end ? finish(&r, out, end) : NULL;
}

const char *sp_fast_frames(const struct sp_ids *frames, const char *p, const char *limit, bool leaf_first,
                           struct sp_frame_run *out)
{
    return leaf_first ? read_list(frames, p, limit, true, out) : read_list(frames, p, limit, false, out);
}

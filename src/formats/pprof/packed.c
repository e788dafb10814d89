#include "formats/pprof/packed.h"

#include "proto/wire.h"

#ifdef __SSE2__
#include <tmmintrin.h>
#endif

void sp_pp_shapes(struct sp_pp_shapes *x)
{
    memset(x, 0, sizeof *x);
#ifdef __SSE2__
    x->usable = __builtin_cpu_supports("ssse3");
#endif
    for (unsigned shape = 1; x->usable && shape <= PP_SHAPES; shape++) {
        unsigned at = 0, ends = 0;
        memset(x->bytes[shape], 0x80, sizeof x->bytes[shape]); /* nothing */
        for (unsigned k = 0, rest = shape - 1; k < 4; k++, rest /= 3) {
            for (unsigned i = 0; i <= rest % 3; i++)
                x->bytes[shape][4 * k + i] = (uint8_t)at++;
            ends |= 1u << (at - 1);
        }
        for (unsigned behind = 0; behind < 4096u >> at; behind++)
            x->number[ends | behind << at] = (uint8_t)shape;
    }
}

/* The numbers that end in n bytes, one after the other; how many, 0: as above. */
static size_t one_by_one(const unsigned char *p, size_t n, uint32_t limit, uint32_t *out)
{
    size_t count = 0;
    for (size_t at = 0; at < n;) {
        uint64_t v = 0;
        size_t size = sp_wire_varint_word(p + at, &v);
        if (!size)
            return 0;
        out[count++] = v < limit ? (uint32_t)v : 0;
        at += size;
    }
    return count;
}

#ifdef __SSE2__
__attribute__((target("ssse3"))) static inline __m128i four_numbers(__m128i bytes, const uint8_t *shape)
{
    /* Seven bits of each byte; first pairs of them become numbers, then pairs of those. */
    const __m128i seven = _mm_set1_epi8(0x7f), bytes_by = _mm_set1_epi16((short)0x8001);
    const __m128i pairs_by = _mm_set1_epi32(0x40000001);
    __m128i v = _mm_and_si128(_mm_shuffle_epi8(bytes, sp_pp_load128(shape)), seven);
    return _mm_madd_epi16(_mm_maddubs_epi16(bytes_by, v), pairs_by);
}

__attribute__((target("ssse3"))) static size_t by_fours(const struct sp_pp_shapes *x, const unsigned char *p,
                                                        size_t n, uint32_t limit, uint32_t *out)
{
    /* Four numbers have 21 bits each, so that it does not matter that the comparison has signs. */
    const __m128i limits = _mm_set1_epi32(limit > INT32_MAX ? INT32_MAX : (int32_t)limit);
    size_t at = 0, count = 0;
    while (at < n) {
        const size_t block = at;
        uint64_t ends = sp_pp_ends(p + block);
        if (n - block < PP_BLOCK) /* what comes behind them is taken for numbers of one byte */
            ends |= ~(uint64_t)0 << (n - block);
        while (at < n) {
            uint64_t fourth = ends & (ends - 1);
            fourth &= fourth - 1;
            fourth &= fourth - 1;
            if (!fourth)
                break;
            size_t next = block + (size_t)__builtin_ctzll(fourth) + 1;
            unsigned shape = x->number[ends >> (at - block) & 0xfff];
            if (__builtin_expect(shape != 0, 1)) {
                __m128i v = four_numbers(sp_pp_load128(p + at), x->bytes[shape]);
                _mm_storeu_si128((__m128i *)(void *)(out + count),
                                 _mm_and_si128(v, _mm_cmpgt_epi32(limits, v)));
            } else if (!one_by_one(p + at, (next < n ? next : n) - at, limit, out + count)) {
                return 0;
            }
            count += 4;
            at = next;
            ends = fourth & (fourth - 1);
        }
        if (at == block)
            return 0;
    }
    return count - (at - n);
}
#endif

size_t sp_pp_unpack(const struct sp_pp_shapes *x, const unsigned char *p, size_t n, uint32_t limit,
                    uint32_t *out)
{
#ifdef __SSE2__
    if (x->usable)
        return by_fours(x, p, n, limit, out);
#else
    (void)x;
#endif
    return one_by_one(p, n, limit, out);
}

#include "formats/pprof/packed.h"

#include "base/hash.h"
#include "proto/wire.h"

void sp_pp_shapes(struct sp_pp_shapes *x)
{
    memset(x, 0, sizeof *x);
    for (uint32_t i = 0; i < PP_FACTORS; i++)
        x->factors[i] = (uint32_t)sp_hash_mix(i, PP_FACTORS);
#ifdef PP_NEEDED
    x->usable = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
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

#ifdef PP_NEEDED
PP_INLINE __m128i load128(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}
PP_INLINE uint64_t high_bits(__m128i v)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(v);
}
#else
/* The high bits of eight bytes, side by side. */
PP_INLINE uint64_t high_bits(uint64_t v)
{
    return (v >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56;
}
#endif

/* Bit i is set where the byte p[i] of a block ends a number. */
PP_INLINE uint64_t ends_of(const unsigned char *p)
{
#ifdef PP_NEEDED
    return ~(high_bits(load128(p)) | high_bits(load128(p + 16)) << 16 | high_bits(load128(p + 32)) << 32 |
             high_bits(load128(p + 48)) << 48);
#else
    uint64_t more = 0;
    for (unsigned i = 0; i < PP_BLOCK; i += 8)
        more |= high_bits(sp_load_le64(p + i)) << i;
    return ~more;
#endif
}

/* How many of the bytes of the blocks before a and before b are equal, counted from their ends. */
PP_INLINE size_t equal_before(const unsigned char *a, const unsigned char *b)
{
#ifdef PP_NEEDED
    uint64_t equal = high_bits(_mm_cmpeq_epi8(load128(a - 16), load128(b - 16))) << 48 |
                     high_bits(_mm_cmpeq_epi8(load128(a - 32), load128(b - 32))) << 32 |
                     high_bits(_mm_cmpeq_epi8(load128(a - 48), load128(b - 48))) << 16 |
                     high_bits(_mm_cmpeq_epi8(load128(a - 64), load128(b - 64)));
    return ~equal ? (size_t)__builtin_clzll(~equal) : PP_BLOCK;
#else
    for (size_t i = 8; i <= PP_BLOCK; i += 8) {
        uint64_t differ = sp_load_le64(a - i) ^ sp_load_le64(b - i);
        if (differ)
            return i - 8 + (size_t)__builtin_clzll(differ) / 8;
    }
    return PP_BLOCK;
#endif
}

/* More than a block of them. */
static size_t same_blocks(const unsigned char *a, const unsigned char *b, size_t max, size_t *numbers)
{
    size_t same = 0, more = PP_BLOCK, count = 0;
    for (; same < max && more == PP_BLOCK; same += more)
        more = equal_before(a - same, b - same);
    same = same < max ? same : max;
    if (a[-1 - (ptrdiff_t)same] >= 0x80 || b[-1 - (ptrdiff_t)same] >= 0x80) {
        const unsigned char *p = a - same; /* it belongs to a number that is not the same */
        while (*p >= 0x80)
            p++;
        same = (size_t)(a - p) - 1;
    }
    for (size_t left = same; left; left -= left < PP_BLOCK ? left : PP_BLOCK) {
        uint64_t ends = ends_of(a - same + left - PP_BLOCK);
        count += (size_t)__builtin_popcountll(left < PP_BLOCK ? ends >> (PP_BLOCK - left) : ends);
    }
    *numbers = count;
    return same;
}

PP_INLINE size_t same_end(const unsigned char *a, const unsigned char *b, size_t max, size_t *numbers)
{
    size_t same = max ? equal_before(a, b) : 0;
    same = same < max ? same : max;
    if (same == PP_BLOCK)
        return same_blocks(a, b, max, numbers);
    /* Nothing here depends on where numbers begin but what is computed. */
    uint64_t ends = ends_of(a - PP_BLOCK) >> 1 >> (PP_BLOCK - 1 - same);
    bool part = max && (a[-1 - (ptrdiff_t)same] | b[-1 - (ptrdiff_t)same]) >= 0x80;
    size_t first = (size_t)__builtin_ctzll(ends | (uint64_t)1 << (PP_BLOCK - 1)) + 1;
    *numbers = (size_t)__builtin_popcountll(ends) - (part && same);
    return same - (part && same ? first : 0);
}

static __attribute__((noinline)) size_t slow_same_end(const unsigned char *a, const unsigned char *b,
                                                      size_t max, size_t *numbers)
{
    return same_end(a, b, max, numbers);
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

#ifdef PP_NEEDED
/* The lowest three bits that are set are gone. */
PP_NEEDED static inline uint64_t without_three(uint64_t v)
{
    v &= v - 1;
    v &= v - 1;
    return v & (v - 1);
}

PP_NEEDED static size_t quick_same_end(const unsigned char *a, const unsigned char *b, size_t max,
                                       size_t *numbers)
{
    return same_end(a, b, max, numbers);
}

PP_NEEDED static inline __m128i four_numbers(__m128i bytes, const uint8_t *shape)
{
    /* Seven bits of each byte; first pairs of them become numbers, then pairs of those. */
    const __m128i seven = _mm_set1_epi8(0x7f), bytes_by = _mm_set1_epi16((short)0x8001);
    const __m128i pairs_by = _mm_set1_epi32(0x40000001);
    __m128i v = _mm_and_si128(_mm_shuffle_epi8(bytes, load128(shape)), seven);
    return _mm_madd_epi16(_mm_maddubs_epi16(bytes_by, v), pairs_by);
}

PP_NEEDED static size_t by_fours(const struct sp_pp_shapes *x, const unsigned char *p, size_t n,
                                 uint32_t limit, uint32_t *out)
{
    /* Four numbers have 21 bits each, so that it does not matter that the comparison has signs. */
    const __m128i limits = _mm_set1_epi32(limit > INT32_MAX ? INT32_MAX : (int32_t)limit);
    uint32_t *to = out;
    size_t at = 0;
    while (at < n) {
        const unsigned char *block = p + at;
        size_t left = n - at, done = 0;
        uint64_t ends = ends_of(block), fourth;
        if (left < PP_BLOCK) /* up to three more, of one byte each, for the last four */
            ends = (ends & (((uint64_t)1 << left) - 1)) | (uint64_t)7 << left;
        while ((fourth = without_three(ends))) {
            size_t next = (size_t)__builtin_ctzll(fourth) + 1;
            unsigned shape = x->number[ends >> done & 0xfff];
            if (__builtin_expect(shape != 0, 1)) {
                __m128i v = four_numbers(load128(block + done), x->bytes[shape]);
                _mm_storeu_si128((__m128i *)(void *)to, _mm_and_si128(v, _mm_cmpgt_epi32(limits, v)));
            } else if (!one_by_one(block + done, (next < left ? next : left) - done, limit, to)) {
                return 0;
            }
            to += 4;
            done = next;
            ends = fourth & (fourth - 1);
        }
        if (!done)
            return 0;
        at += done;
    }
    return (size_t)(to - out) - (at - n);
}

/* The same as below, in steps that are large: how many there are is hard to foresee. */
PP_NEEDED static uint64_t copy_by_steps(const uint32_t *from, size_t n, const uint32_t *factors, uint32_t *to)
{
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += PP_STEP)
        for (size_t k = i; k < i + PP_STEP; k += 8) {
            const __m256i *f = (const __m256i *)(const void *)(factors + k % PP_FACTORS);
            __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(from + k));
            __m256i x = _mm256_add_epi32(v, _mm256_loadu_si256(f));
            _mm256_storeu_si256((__m256i *)(void *)(to + k), v);
            sum = _mm256_add_epi64(sum, _mm256_mul_epu32(x, _mm256_srli_epi64(x, 32)));
        }
    __m128i both = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return (uint64_t)_mm_cvtsi128_si64(both) + (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both));
}
#endif

size_t sp_pp_unpack(const struct sp_pp_shapes *x, const unsigned char *p, size_t n, uint32_t limit,
                    uint32_t *out)
{
#ifdef PP_NEEDED
    if (x->usable)
        return by_fours(x, p, n, limit, out);
#else
    (void)x;
#endif
    return one_by_one(p, n, limit, out);
}

uint64_t sp_pp_copy(const struct sp_pp_shapes *x, const uint32_t *from, size_t n, uint32_t *to)
{
#ifdef PP_NEEDED
    if (x->usable)
        return copy_by_steps(from, n, x->factors, to);
#endif
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i += PP_STEP)
        for (size_t k = i; k < i + PP_STEP; k += 2) {
            const uint32_t *f = x->factors + k % PP_FACTORS;
            uint32_t a = from[k], b = from[k + 1];
            sum += (uint64_t)(a + f[0]) * (b + f[1]);
            to[k] = a;
            to[k + 1] = b;
        }
    return sum;
}

size_t sp_pp_same_end(const struct sp_pp_shapes *x, const unsigned char *a, const unsigned char *b,
                      size_t max, size_t *numbers)
{
#ifdef PP_NEEDED
    if (x->usable)
        return quick_same_end(a, b, max, numbers);
#else
    (void)x;
#endif
    return slow_same_end(a, b, max, numbers);
}

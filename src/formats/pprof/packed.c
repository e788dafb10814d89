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

size_t sp_pp_unpack_plain(const struct sp_pp_shapes *x, const unsigned char *p, size_t n, uint32_t limit,
                          uint32_t *out)
{
    size_t count = 0;
    (void)x;
    for (size_t at = 0, size; at < n; at += size) {
        uint64_t v = 0;
        if (!(size = sp_wire_varint_word(p + at, &v)))
            return 0;
        out[count++] = v < limit ? (uint32_t)v : 0;
    }
    return count;
}

uint64_t sp_pp_copy_plain(const struct sp_pp_shapes *x, const uint32_t *from, size_t n, uint32_t *to)
{
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

size_t sp_pp_same_end_plain(const unsigned char *a, const unsigned char *b, size_t max, size_t *numbers)
{
    size_t same = 0, count = 0;
    while (same + 8 <= max && sp_load_le64(a - same - 8) == sp_load_le64(b - same - 8))
        same += 8;
    while (same < max && a[-1 - (ptrdiff_t)same] == b[-1 - (ptrdiff_t)same])
        same++;
    if (same && (a[-1 - (ptrdiff_t)same] | b[-1 - (ptrdiff_t)same]) >= 0x80) {
        const unsigned char *p = a - same; /* it belongs to a number that is not the same */
        while (*p >= 0x80)
            p++;
        same = (size_t)(a - p) - 1;
    }
    for (size_t i = 1; i <= same; i++)
        count += a[-(ptrdiff_t)i] < 0x80;
    *numbers = count;
    return same;
}

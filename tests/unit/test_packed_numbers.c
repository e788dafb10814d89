/* Packed numbers four at a time, against one at a time; what ends alike; sums of words. */
#include "formats/pprof/packed.h"
#include "proto/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 300, ROOM = PP_BLOCK + 10 * MOST + PP_BLOCK };

struct bytes {
    unsigned char v[ROOM];
    size_t n; /* from PP_BLOCK on */
};

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 20 ^ *seed << 30;
}

/* A number of up to `longest` bytes, now and then in more than it needs. */
static uint64_t put(struct bytes *b, unsigned longest, uint64_t *seed)
{
    unsigned size = 1 + (unsigned)(next(seed) % longest);
    uint64_t v = next(seed) >> (64 - 7 * (size > 9 ? 9 : size)), rest = v;
    for (unsigned i = 0; i + 1 < size; i++, rest >>= 7)
        b->v[PP_BLOCK + b->n++] = (unsigned char)(rest | 0x80);
    b->v[PP_BLOCK + b->n++] = rest & 0x7f;
    return size > 9 ? v & ~((uint64_t)0x7f << 63) : v;
}

/* The ways that there are on this machine. */
struct way {
    sp_pp_unpack *unpack;
    sp_pp_copy *copy;
    sp_pp_same_end *same_end;
    sp_pp_number *number;
};

#ifdef PP_NEEDED
PP_NEEDED static size_t unpack(const struct sp_pp_shapes *x, const unsigned char *p, size_t n, uint32_t limit,
                               uint32_t *out)
{
    return sp_pp_unpack_quick(x, p, n, limit, out);
}

PP_NEEDED static uint64_t copy(const struct sp_pp_shapes *x, const uint32_t *from, size_t n, uint32_t *to)
{
    return sp_pp_copy_quick(x, from, n, to);
}

PP_NEEDED static size_t same_end(const unsigned char *a, const unsigned char *b, size_t max, size_t *numbers)
{
    return sp_pp_same_end_quick(a, b, max, numbers);
}

PP_NEEDED static size_t number(const unsigned char *p, uint64_t *out)
{
    return sp_pp_number_quick(p, out);
}
#endif

static struct sp_pp_shapes shapes;

static unsigned ways(struct way out[2])
{
    unsigned n = 0;
    sp_pp_shapes(&shapes);
    out[n++] = (struct way){sp_pp_unpack_plain, sp_pp_copy_plain, sp_pp_same_end_plain, sp_wire_varint_word};
#ifdef PP_NEEDED
    if (shapes.usable)
        out[n++] = (struct way){unpack, copy, same_end, number};
#endif
    return n;
}

static void test_numbers_of_any_length(void **state)
{
    static struct bytes b;
    struct way way[2];
    uint64_t seed = 1;
    (void)state;
    const unsigned nways = ways(way);
    for (unsigned round = 0; round < 6000; round++) {
        unsigned longest = 1 + round % 8, n = 1 + (unsigned)(next(&seed) % MOST);
        uint32_t limit = round % 3 ? UINT32_MAX : 5000, want[MOST], got[MOST + 4];
        memset(b.v, round % 2 ? 0xff : 0, sizeof b.v);
        b.n = 0;
        for (unsigned i = 0; i < n; i++) {
            uint64_t v = put(&b, longest, &seed);
            want[i] = v < limit ? (uint32_t)v : 0;
        }
        for (unsigned k = 0; k < nways; k++) {
            assert_int_equal(way[k].unpack(&shapes, b.v + PP_BLOCK, b.n, limit, got), n);
            assert_memory_equal(got, want, n * sizeof *want);
        }
    }
}

static void test_one_number_of_any_length(void **state)
{
    static struct bytes b;
    struct way way[2];
    uint64_t seed = 7;
    (void)state;
    const unsigned nways = ways(way);
    for (unsigned round = 0; round < 6000; round++) {
        memset(b.v, round % 2 ? 0xff : 0, sizeof b.v);
        b.n = 0;
        uint64_t want = put(&b, 1 + round % 10, &seed), got = 0;
        for (unsigned k = 0; k < nways; k++) {
            assert_int_equal(way[k].number(b.v + PP_BLOCK, &got), b.n > 8 ? 0 : b.n);
            assert_true(b.n > 8 || got == want);
        }
    }
}

static void test_numbers_of_more_than_eight_bytes(void **state)
{
    static struct bytes b;
    struct way way[2];
    uint32_t got[2 * PP_BLOCK];
    (void)state;
    for (unsigned k = ways(way); k--;)
        for (size_t before = 0; before < 70; before++) {
            memset(b.v, 0xff, sizeof b.v);
            memset(b.v + PP_BLOCK, 5, before);
            b.v[PP_BLOCK + before + 8] = 1; /* of nine bytes */
            assert_int_equal(way[k].unpack(&shapes, b.v + PP_BLOCK, before + 9, UINT32_MAX, got), 0);
        }
}

/* The beginnings of numbers in the last n bytes of both, from the end on. */
static size_t slow_same_end(const struct bytes *a, const struct bytes *b, size_t max, size_t *numbers)
{
    const unsigned char *pa = a->v + PP_BLOCK + a->n, *pb = b->v + PP_BLOCK + b->n;
    size_t whole = 0, count = 0;
    *numbers = 0;
    for (size_t i = 1; i <= max && pa[-(ptrdiff_t)i] == pb[-(ptrdiff_t)i]; i++) {
        count += pa[-(ptrdiff_t)i] < 0x80;
        if (pa[-1 - (ptrdiff_t)i] < 0x80 && pb[-1 - (ptrdiff_t)i] < 0x80) {
            whole = i;
            *numbers = count;
        }
    }
    return whole;
}

static void test_what_ends_alike(void **state)
{
    static struct bytes a, b;
    struct way way[2];
    uint64_t seed = 3;
    (void)state;
    const unsigned nways = ways(way);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned longest = 1 + round % 4, n = (unsigned)(next(&seed) % (round % 3 ? 40 : 180));
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        for (unsigned i = (unsigned)(next(&seed) % 5); i; i--)
            put(&a, longest, &seed);
        for (unsigned i = (unsigned)(next(&seed) % 5); i; i--)
            put(&b, longest, &seed);
        const size_t before_a = a.n, before_b = b.n;
        for (unsigned i = 0; i < n; i++)
            put(&a, longest, &seed);
        memcpy(b.v + PP_BLOCK + b.n, a.v + PP_BLOCK + before_a, a.n - before_a);
        b.n += a.n - before_a;
        if (b.n > before_b && round % 7 == 0)
            b.v[PP_BLOCK + before_b + next(&seed) % (b.n - before_b)] ^= 0x41;
        if (b.n && b.v[PP_BLOCK + b.n - 1] >= 0x80)
            continue;
        size_t max = a.n < b.n ? a.n : b.n, want, got;
        size_t same = slow_same_end(&a, &b, max, &want);
        for (unsigned k = 0; k < nways; k++) {
            const unsigned char *ends[2] = {a.v + PP_BLOCK + a.n, b.v + PP_BLOCK + b.n};
            assert_int_equal(way[k].same_end(ends[0], ends[1], max, &got), same);
            assert_int_equal(got, want);
        }
    }
}

static void test_sums_are_the_same_either_way(void **state)
{
    static uint32_t from[2000 + PP_STEP], to[2000 + PP_STEP];
    struct way way[2];
    uint64_t seed = 5;
    (void)state;
    const unsigned nways = ways(way);
    for (size_t n = 0; n < 2000; n += 1 + n / 7) {
        for (size_t i = 0; i < n; i++)
            from[i] = (uint32_t)next(&seed);
        memset(from + n, 0, PP_STEP * sizeof *from);
        uint64_t sum = sp_pp_copy_plain(&shapes, from, n, to);
        for (unsigned k = 0; k < nways; k++) {
            memset(to, 0, sizeof to);
            assert_true(way[k].copy(&shapes, from, n, to) == sum);
            assert_memory_equal(to, from, n * sizeof *from);
        }
        if (n > 1 && from[0] != from[n - 1]) {
            from[0] ^= 1;
            assert_false(sp_pp_copy_plain(&shapes, from, n, to) == sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_any_length),
        cmocka_unit_test(test_one_number_of_any_length),
        cmocka_unit_test(test_numbers_of_more_than_eight_bytes),
        cmocka_unit_test(test_what_ends_alike),
        cmocka_unit_test(test_sums_are_the_same_either_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

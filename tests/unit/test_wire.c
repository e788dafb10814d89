/* The protobuf wire cursor and writer: every number comes back, and what is cut off or malformed is an error.
 */
#include "proto/wire.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>

static void numbers_come_back(void **state)
{
    static const uint64_t edges[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        struct sp_buf b;
        uint64_t v = 1;
        sp_buf_init(&b, 0);
        sp_wire_put_varint(&b, edges[i]);
        assert_int_equal(b.len, sp_wire_varint_size(edges[i]));
        const unsigned char *p = (const unsigned char *)b.data;
        assert_ptr_equal(sp_wire_varint(p, p + b.len, &v), p + b.len);
        assert_int_equal(v, edges[i]);
        for (size_t cut = 0; cut < b.len;
             cut++) { /* exactly as large, so that a sanitizer sees a byte more */
            unsigned char *exact = malloc(cut ? cut : 1);
            memcpy(exact, p, cut);
            assert_null(sp_wire_varint(exact, exact + cut, &v));
            free(exact);
        }
        sp_buf_free(&b);
    }
}

static void words_hold_numbers(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 10; n++) { /* of n bytes, also where fewer would do; others behind them */
        for (unsigned low = 0; low < 3; low++) {
            unsigned char bytes[16];
            uint64_t v = 1, want = 0;
            memset(bytes, 0xff, sizeof bytes);
            for (size_t i = 0; i < n; i++)
                bytes[i] = (unsigned char)((low == 0 ? 0 : low == 1 ? 0x7f : 0x15 * (i + 1) & 0x7f) | 0x80);
            bytes[n - 1] &= 0x7f;
            if (n == 10)
                bytes[9] &= 1;
            for (size_t i = 0; i < n; i++)
                want |= (uint64_t)(bytes[i] & 0x7f) << 7 * i;
            assert_ptr_equal(sp_wire_varint(bytes, bytes + 10, &v), bytes + n);
            assert_true(v == want);
            v = 1;
            assert_int_equal(sp_wire_varint_word(bytes, &v), n <= 8 ? n : 0);
            assert_true(n > 8 || v == want);
        }
    }
}

static void fields_come_back(void **state)
{
    struct sp_buf b;
    (void)state;
    sp_buf_init(&b, 0);
    sp_wire_put_number(&b, 1, 300);
    sp_wire_put_number(&b, 2, 0); /* the default is not written */
    sp_wire_put_bytes(&b, 16, "abc", 3);
    sp_buf_add(&b, "\x1d\x01\x00\x00\x80", 5);                 /* field 3, 32 bits */
    sp_buf_add(&b, "\x21\x02\x00\x00\x00\x00\x00\x00\x80", 9); /* field 4, 64 bits */
    struct sp_wire w = sp_wire_of((const unsigned char *)b.data, b.len);
    struct sp_wire_field f;
    assert_true(sp_wire_next(&w, &f) && f.number == 1 && f.type == SP_WIRE_VARINT && f.v == 300);
    assert_true(sp_wire_next(&w, &f) && f.number == 16 && f.n == 3 && !memcmp(f.p, "abc", 3));
    assert_true(sp_wire_next(&w, &f) && f.number == 3 && f.type == SP_WIRE_32 && f.v == 0x80000001);
    assert_true(sp_wire_next(&w, &f) && f.number == 4 && f.type == SP_WIRE_64 && f.v == 0x8000000000000002);
    assert_false(sp_wire_next(&w, &f));
    assert_null(w.error);
    sp_buf_free(&b);
}

static void packed_numbers(void **state)
{
    static const unsigned char message[] = {0x0a, 0x04, 0x01, 0xac, 0x02, 0x80};
    struct sp_wire w = sp_wire_of(message, sizeof message);
    struct sp_wire_field f;
    uint64_t v;
    (void)state;
    assert_true(sp_wire_next(&w, &f));
    struct sp_wire n = sp_wire_numbers_of(&f);
    assert_true(sp_wire_number(&n, &v) && v == 1);
    assert_true(sp_wire_number(&n, &v) && v == 300);
    assert_false(sp_wire_number(&n, &v));
    assert_non_null(n.error);
}

/* Packed together, numbers of every length, at every distance from the end. */
static void packed_numbers_of_all_lengths(void **state)
{
    enum { MOST = 40 };
    uint64_t seed = 1, want[MOST], v = 0;
    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        struct sp_buf b;
        const unsigned count = 1 + round % MOST;
        sp_buf_init(&b, 0);
        for (unsigned i = 0; i < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            want[i] = (seed ^ seed << 32) >> (seed >> 32) % 64;
            sp_wire_put_varint(&b, want[i]);
        }
        unsigned char *exact = malloc(b.len); /* so that a sanitizer sees a byte more */
        memcpy(exact, b.data, b.len);
        struct sp_wire_field f = {.type = SP_WIRE_BYTES, .p = exact, .n = b.len};
        struct sp_wire w = sp_wire_numbers_of(&f);
        for (unsigned i = 0; i < count; i++)
            assert_true(sp_wire_number(&w, &v) && v == want[i]);
        assert_false(sp_wire_number(&w, &v));
        assert_null(w.error);
        free(exact);
        sp_buf_free(&b);
    }
}

static void malformed(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } bad[] = {{"\x00\x01", 2},
               {"\x0a\x05"
                "a",
                3},
               {"\x0b", 1},
               {"\x08", 1},
               {"\x08\x80", 2},
               {"\x0d\x01", 2},
               {"\x09\x01\x02", 3},
               {"\x80", 1},
               {"\x0f\x01", 2},
               {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
               {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sp_wire w = sp_wire_of((const unsigned char *)bad[i].bytes, bad[i].n);
        struct sp_wire_field f;
        assert_false(sp_wire_next(&w, &f));
        assert_non_null(w.error);
        assert_ptr_equal(w.at, bad[i].bytes);
        assert_false(sp_wire_next(&w, &f));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_come_back),
                                       cmocka_unit_test(words_hold_numbers),
                                       cmocka_unit_test(fields_come_back),
                                       cmocka_unit_test(packed_numbers),
                                       cmocka_unit_test(packed_numbers_of_all_lengths),
                                       cmocka_unit_test(malformed)};
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}

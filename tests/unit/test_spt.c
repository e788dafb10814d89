/* The decoder of SPT in pieces of every size, and the hits that are added up. */
#include "formats/common/spt/tally.h"
#include "formats/spt/hits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { STRINGS = 16, PROGRAMS = 2 };

static void put(struct sp_buf *b, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        sp_buf_ch(b, (char)(v >> (8 * i)));
}

static void head(struct sp_buf *b)
{
    put(b, SP_SPT_SIGNATURE, 4);
    put(b, 1, 4);
    put(b, 0, 8);
    put(b, 32, 4);
    put(b, 32 + STRINGS, 4);
    put(b, 6, 2);
    put(b, STRINGS, 2);
    put(b, PROGRAMS, 2);
    put(b, PROGRAMS, 2);
    sp_buf_add(b, "a.exe\0\0\0\0\0\0\0\0\0\0", STRINGS);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        for (unsigned k = 0; k < 16; k++)
            sp_buf_ch(b, (char)(i + 1));
        put(b, i, 4);
        put(b, 0, 4);
    }
}

static void segment(struct sp_buf *b, unsigned program, uint32_t length)
{
    put(b, SP_SPT_BINARY_ID, 2);
    put(b, program, 2);
    put(b, length, 4);
}

/* Every kind of record, and damage of every kind. */
static void sample(struct sp_buf *b)
{
    head(b);
    segment(b, 0, 4 + 10 + 10 + 10);
    put(b, SP_SPT_REPEAT, 2);
    put(b, 4, 8);
    put(b, SP_SPT_ETW_CALLSTACK | 2 << 8, 2);
    put(b, 0x1000, 4);
    put(b, 0x2000, 4);
    put(b, SP_SPT_LBR | 1 << 8, 2);
    put(b, 0x3000, 4);
    put(b, 0x4000, 4);
    for (unsigned i = 0; i < 9000; i++) /* between segments: more than one piece */
        put(b, 0x55, 1);
    segment(b, 0, 4 + 6);
    put(b, SP_SPT_ETW_INSTR | 1 << 8, 2);
    put(b, 0x6000, 4);
    segment(b, 1, 4 + 6 + 3);
    put(b, SP_SPT_ETW_INSTR | 1 << 8, 2);
    put(b, 0x5000, 4);
    put(b, 0x77, 3);
    segment(b, 1, 400);
    segment(b, 0, 4 + 6);
    put(b, SP_SPT_UNHALT_CYCLE | 1 << 8, 2);
    put(b, 7, 4);
    put(b, 0, 5);
}

/* What was decoded, as text. */
static void decode(const struct sp_buf *file, size_t chunk, struct sp_buf *out)
{
    struct sp_diags d;
    struct sp_input *in;
    struct sp_spt f;
    struct sp_spt_stream s;
    struct sp_spt_record r;
    sp_diags_init(&d);
    assert_int_equal(sp_input_memory(file->data, file->len, "test", &d, &in), SPAA_OK);
    sp_input_set_chunk(in, chunk);
    assert_int_equal(sp_spt_open(in, &d, &f), SPAA_OK);
    assert_true(f.streams);
    sp_spt_begin(&s, in, &f, &d);
    do {
        assert_int_equal(sp_spt_next(&s, &r), SPAA_OK);
        sp_buf_printf(out, "%d@%llu+%zu s%u p%u k%d n%u h%llu c%llu\n", (int)r.what,
                      (unsigned long long)r.offset, r.size, r.segment, r.program, r.kind, r.n,
                      (unsigned long long)r.hits, (unsigned long long)r.count);
    } while (r.what != SP_SPT_END);
    for (size_t i = 0; i < d.list.n; i++)
        sp_buf_printf(out, "%s %s %llu\n", sp_code_info(d.list.v[i].code)->name, d.list.v[i].message,
                      (unsigned long long)d.list.v[i].offset);
    sp_spt_close(&f);
    sp_input_close(in);
    sp_diags_free(&d);
}

static void test_pieces_make_no_difference(void **state)
{
    struct sp_buf file, whole, pieces;
    (void)state;
    sp_buf_init(&file, 0);
    sp_buf_init(&whole, 0);
    sp_buf_init(&pieces, 0);
    sample(&file);
    decode(&file, 0, &whole);
    for (size_t chunk = 1; chunk < 20000; chunk = chunk * 3 + 1) {
        sp_buf_clear(&pieces);
        decode(&file, chunk, &pieces);
        assert_string_equal(sp_buf_cstr(&pieces), sp_buf_cstr(&whole));
    }
    /* the skipped bytes come in pieces; the records behind them are there */
    assert_non_null(strstr(whole.data, "+4096 s0"));
    assert_non_null(strstr(whole.data, "E409"));
    assert_non_null(strstr(whole.data, "E410"));
    assert_non_null(strstr(whole.data, "E414"));
    assert_non_null(strstr(whole.data, "k7 n2 h5"));
    assert_non_null(strstr(whole.data, "k0 n1 h1"));
    sp_buf_free(&file);
    sp_buf_free(&whole);
    sp_buf_free(&pieces);
}

static void test_equal_things_are_one_and_sums_have_96_bits(void **state)
{
    struct sp_spt_hits h;
    struct sp_diags d;
    (void)state;
    sp_diags_init(&d);
    assert_int_equal(sp_spt_hits_init(&h, &d), SPAA_OK);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t branch[2] = {i % 5000, i % 5000};
        assert_true(sp_spt_hits_add(&h, 70, SP_SPT_KIND_LBR, branch, 2, (struct sp_spt_sum){UINT64_MAX, 0}));
    }
    assert_true(sp_spt_hits_finish(&h));
    assert_int_equal(sp_spt_hits_count(&h), 5000);
    for (uint32_t i = 0; i < 5000; i++) {
        struct sp_spt_thing t = sp_spt_hits_at(&h, i);
        assert_true(t.sum.low == UINT64_MAX - 3);
        assert_int_equal(t.sum.high, 3);
        assert_int_equal(t.program, 70);
        assert_int_equal(t.kind, SP_SPT_KIND_LBR);
        assert_int_equal(t.n, 2);
        assert_int_equal(t.addresses[1], t.addresses[0]);
    }
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_spt_sum_text(&b, sp_spt_hits_at(&h, 0).sum);
    assert_string_equal(sp_buf_cstr(&b), "73786976294838206460");
    sp_buf_free(&b);
    sp_spt_hits_free(&h);
    sp_diags_free(&d);
}

static void test_program_kind_and_length_tell_things_apart(void **state)
{
    struct sp_spt_hits h;
    struct sp_diags d;
    uint32_t same[2] = {7, 7};
    (void)state;
    sp_diags_init(&d);
    assert_int_equal(sp_spt_hits_init(&h, &d), SPAA_OK);
    for (unsigned i = 0; i < 1000; i++)
        assert_true(sp_spt_hits_add(&h, i % 3, i % 2 ? SP_SPT_KIND_LBR : SP_SPT_KIND_CALLSTACK, same,
                                    i % 2 ? 2 : i % 5 % 3, (struct sp_spt_sum){2, 0}));
    assert_true(sp_spt_hits_finish(&h));
    uint64_t sum = 0;
    for (size_t i = 0; i < sp_spt_hits_count(&h); i++)
        sum += sp_spt_hits_at(&h, i).sum.low;
    assert_int_equal(sum, 2000);
    assert_int_equal(sp_spt_hits_count(&h), 3 * (1 + 3)); /* a branch, call stacks of 0, 1 and 2 frames */
    sp_spt_hits_free(&h);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces_make_no_difference),
                                       cmocka_unit_test(test_equal_things_are_one_and_sums_have_96_bits),
                                       cmocka_unit_test(test_program_kind_and_length_tell_things_apart)};
    return cmocka_run_group_tests_name("spt", tests, NULL, NULL);
}

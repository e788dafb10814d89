/* The decoder of SPT in pieces of every size, and the tables that hits are added up in. */
#include "formats/common/spt/tally.h"
#include "formats/spt/tables.h"

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

static void test_counts_grow_and_sums_have_96_bits(void **state)
{
    struct sp_spt_tables t;
    (void)state;
    sp_spt_tables_init(&t);
    assert_true(sp_spt_tables_reach(&t, 70));
    struct sp_spt_counts *c = &t.counts[70][SP_SPT_KIND_LBR];
    for (uint64_t i = 0; i < 20000; i++)
        assert_true(sp_spt_counts_add(c, i % 5000 << 32 | i % 5000, UINT64_MAX));
    assert_int_equal(c->count, 5000);
    for (size_t i = 0; i <= c->mask; i++)
        if (c->slots[i].sum.low || c->slots[i].sum.high) {
            assert_true(c->slots[i].sum.low == UINT64_MAX - 3);
            assert_int_equal(c->slots[i].sum.high, 3);
        }
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_spt_sum_text(&b, (struct sp_spt_sum){UINT64_MAX - 3, 3});
    assert_string_equal(sp_buf_cstr(&b), "73786976294838206460");
    sp_buf_free(&b);
    sp_spt_tables_free(&t);
}

static void test_stacks_that_wait_are_found_again(void **state)
{
    struct sp_spt_tables t;
    unsigned char entries[100][8];
    (void)state;
    sp_spt_tables_init(&t);
    for (unsigned i = 0; i < 100; i++)
        memset(entries[i], (int)i, sizeof entries[i]);
    for (unsigned i = 0; i < 1000; i++) {
        struct sp_spt_record r = {.kind = SP_SPT_KIND_CALLSTACK,
                                  .entries = entries[i * 7 % 100],
                                  .n = i % 2 ? 2 : 1,
                                  .hits = 2,
                                  .program = i % 3};
        assert_true(sp_spt_tables_add(&t, &r));
    }
    assert_true(sp_spt_tables_settle(&t));
    uint64_t sum = 0;
    for (size_t i = 0; i < t.stacks.n; i++)
        sum += t.stacks.v[i].sum.low;
    assert_int_equal(sum, 2000);
    assert_int_equal(t.stacks.n, 300); /* 100 addresses by 3 programs; n follows the address */
    sp_spt_tables_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces_make_no_difference),
                                       cmocka_unit_test(test_counts_grow_and_sums_have_96_bits),
                                       cmocka_unit_test(test_stacks_that_wait_are_found_again)};
    return cmocka_run_group_tests_name("spt", tests, NULL, NULL);
}

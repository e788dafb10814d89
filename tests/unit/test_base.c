/* What everything stands on: numbers and their text, maps, strings, buffers, arenas, diagnostics. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/num.h"
#include "base/strtab.h"
#include "base/vec.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SPAN(s) (s), (s) + strlen(s)

static void integers_become_text(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 1, 9, 10, 99, 100, 101, 12345678901234567890u, UINT64_MAX};
    char got[21], expected[21];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        got[sp_u64_text(numbers[i], got)] = '\0';
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)numbers[i]);
        assert_string_equal(got, expected);
        got[sp_hex_text(numbers[i], got)] = '\0';
        snprintf(expected, sizeof expected, "%llx", (unsigned long long)numbers[i]);
        assert_string_equal(got, expected);
    }
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10)
        for (int beside = -1; beside <= 1; beside++) {
            got[sp_u64_text(power + (uint64_t)(int64_t)beside, got)] = '\0';
            snprintf(expected, sizeof expected, "%llu",
                     (unsigned long long)(power + (uint64_t)(int64_t)beside));
            assert_string_equal(got, expected);
        }
    for (unsigned bit = 0; bit < 64; bit++) {
        got[sp_hex_text((uint64_t)1 << bit, got)] = '\0';
        snprintf(expected, sizeof expected, "%llx", 1ull << bit);
        assert_string_equal(got, expected);
    }
}

static void integers_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    assert_int_equal(sp_parse_u64(SPAN("123abc"), &u), 3);
    assert_int_equal(u, 123);
    assert_int_equal(sp_parse_u64(SPAN("18446744073709551615"), &u), 20);
    assert_true(u == UINT64_MAX);
    assert_int_equal(sp_parse_u64(SPAN("18446744073709551616"), &u), 0);
    assert_int_equal(sp_parse_u64(SPAN("99999999999999999999"), &u), 0);
    assert_int_equal(sp_parse_u64(SPAN(""), &u), 0);
    assert_int_equal(sp_parse_u64(SPAN("-1"), &u), 0);
    assert_int_equal(sp_parse_u64(SPAN("/:"), &u), 0); /* beside the digits */
    assert_int_equal(sp_parse_i64(SPAN("-9223372036854775808"), &i), 20);
    assert_true(i == INT64_MIN);
    assert_int_equal(sp_parse_i64(SPAN("9223372036854775807"), &i), 19);
    assert_true(i == INT64_MAX);
    assert_int_equal(sp_parse_i64(SPAN("9223372036854775808"), &i), 0);
    assert_int_equal(sp_parse_i64(SPAN("-9223372036854775809"), &i), 0);
    assert_int_equal(sp_parse_i64(SPAN("-"), &i), 0);
    assert_true(i == INT64_MAX); /* failures leave it alone */
}

static void hexadecimal_is_read(void **state)
{
    (void)state;
    uint64_t u;
    assert_int_equal(sp_parse_hex(SPAN("ffffFFFFffffFFFF"), &u), 16);
    assert_true(u == UINT64_MAX);
    assert_int_equal(sp_parse_hex(SPAN("10000000000000000"), &u), 0);
    assert_int_equal(sp_parse_hex(SPAN("0000000000000000000001g"), &u), 22);
    assert_int_equal(u, 1);
    assert_int_equal(sp_parse_hex(SPAN("@G`g"), &u), 0);
    assert_true(sp_parse_0x("0x1F", 4, &u));
    assert_int_equal(u, 0x1f);
    assert_false(sp_parse_0x("0x", 2, &u));
    assert_false(sp_parse_0x("0x1g", 4, &u));
    assert_false(sp_parse_0x("1f", 2, &u));
}

static void doubles_read_back_as_themselves(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"}, {100, "100"}, {-2.5, "-2.5"}, {1e22, "1e+22"}};
    static const double others[] = {DBL_MAX, DBL_MIN, DBL_EPSILON, 0.1 + 0.2, 123456789.123456789,
                                    -0.0,    1e-310};
    char t[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sp_double_text(cases[i].v, t), strlen(cases[i].text));
        assert_string_equal(t, cases[i].text);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t n = sp_double_text(others[i], t);
        assert_true(sp_text_double(t, n) == others[i]);
    }
}

static void assert_scaled(const char *text, int64_t mantissa, unsigned scale, const char *back)
{
    int64_t m;
    unsigned s;
    char t[64];
    assert_true(sp_parse_scaled(text, strlen(text), &m, &s));
    assert_true(m == mantissa);
    assert_int_equal(s, scale);
    assert_int_equal(sp_scaled_text(m, s, t), strlen(back));
    assert_string_equal(t, back);
}

static void decimals_are_exact(void **state)
{
    (void)state;
    assert_scaled("0", 0, 0, "0");
    assert_scaled("-0.000", 0, 0, "0");
    assert_scaled("0e-400", 0, 0, "0");
    assert_scaled("3.140", 314, 2, "3.14");
    assert_scaled("2e3", 2000, 0, "2000");
    assert_scaled("1200", 1200, 0, "1200");
    assert_scaled("1.5E-3", 15, 4, "0.0015");
    assert_scaled("-0.05", -5, 2, "-0.05");
    assert_scaled("10.0e-19", 1, 18, "0.000000000000000001");
    assert_scaled("9223372036854775807", INT64_MAX, 0, "9223372036854775807");
    assert_scaled("9.223372036854775807", INT64_MAX, 18, "9.223372036854775807");
    assert_scaled("1.0000000000000000000000000000000000000000000000000", 1, 0, "1");
    static const char *const none[] = {"",
                                       "-",
                                       ".",
                                       "e5",
                                       "1e",
                                       "1e401",
                                       "1x",
                                       "1 ",
                                       "1.2.3",
                                       "--1",
                                       "0x1",
                                       "1e-19",
                                       "1e19",
                                       "9223372036854775808",
                                       "1.00000000000000000001"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        int64_t m;
        unsigned s;
        assert_false(sp_parse_scaled(none[i], strlen(none[i]), &m, &s));
    }
}

static void numbers_become_whole_units(void **state)
{
    static const struct {
        const char *text;
        unsigned digits;
        long long units;
        bool exact;
    } cases[] = {{"1.5", 3, 1500, true},
                 {"-2e-1", 1, -2, true},
                 {"0.25", 1, 3, false},
                 {"-0.25", 1, -3, false},
                 {"0.24", 1, 2, false},
                 {"1e-30", 9, 0, false},
                 {"12", 0, 12, true},
                 {"1e9", 9, 1000000000000000000, true},
                 {"0.30000000000000004", 9, 300000000, false}};
    static const char *const none[] = {"", "x", "null", "1e40", "-1e19999"};
    __int128 v;
    bool exact;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact = true;
        assert_true(sp_parse_fixed(cases[i].text, strlen(cases[i].text), cases[i].digits, &v, &exact));
        assert_true(v == cases[i].units);
        assert_int_equal(exact, cases[i].exact);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(sp_parse_fixed(none[i], strlen(none[i]), 3, &v, &exact));
}

static void sums_beyond_64_bits_are_printed(void **state)
{
    (void)state;
    char t[64];
    __int128 most = (__int128)(~(unsigned __int128)0 >> 1);
    sp_scaled_text(most, 0, t);
    assert_string_equal(t, "170141183460469231731687303715884105727");
    sp_scaled_text(-most - 1, 18, t);
    assert_string_equal(t, "-170141183460469231731.687303715884105728");
    sp_scaled_text(1000, 3, t);
    assert_string_equal(t, "1");
}

static void seconds_are_nanoseconds_exactly(void **state)
{
    (void)state;
    int64_t ns;
    char t[32];
    assert_true(sp_seconds_ns("838.459762", 10, &ns));
    assert_true(ns == 838459762000);
    assert_int_equal(sp_ns_seconds(ns, t), 10);
    assert_string_equal(t, "838.459762");
    assert_true(sp_seconds_ns("1700000000.123456789", 20, &ns));
    sp_ns_seconds(ns, t);
    assert_string_equal(t, "1700000000.123456789");
    assert_true(sp_seconds_ns("5", 1, &ns));
    sp_ns_seconds(ns, t);
    assert_string_equal(t, "5");
    sp_ns_seconds(-1, t);
    assert_string_equal(t, "-0.000000001");
    assert_false(sp_seconds_ns("1.0000000001", 12, &ns));
    assert_false(sp_seconds_ns("9300000000", 10, &ns));
}

/* Maps compare half of a hash, and of the process's own two keys in a thousand runs share it. */
static uint64_t same_hash(uint64_t a, uint64_t b)
{
    return sp_hash_pair(a, b);
}

static void a_map_finds_all_items_of_a_hash(void **state)
{
    (void)state;
    struct sp_map m = {0};
    struct sp_probe at = sp_map_probe(&m, 5);
    assert_int_equal(sp_map_next(&m, &at), SP_MAP_NONE);
    for (uint32_t i = 0; i < 10000; i++)
        assert_true(sp_map_add(&m, same_hash(i % 5000, 1), i));
    assert_true(sp_map_add(&m, 0, 10000)); /* a hash of zero is a hash */
    assert_int_equal(m.count, 10001);
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t found = 0, item;
        at = sp_map_probe(&m, same_hash(i, 1));
        while ((item = sp_map_next(&m, &at)) != SP_MAP_NONE) {
            assert_int_equal(item % 5000, i);
            found++;
        }
        assert_int_equal(found, 2);
    }
    at = sp_map_probe(&m, 0);
    assert_int_equal(sp_map_next(&m, &at), 10000);
    assert_false(sp_map_add(&m, 1, SP_MAP_NONE));
    sp_map_clear(&m);
    at = sp_map_probe(&m, 0);
    assert_int_equal(sp_map_next(&m, &at), SP_MAP_NONE);
    assert_false(sp_map_grow(&m, SIZE_MAX / 8)); /* refused, not overflowed */
    sp_map_free(&m);
}

static void equal_strings_get_one_number(void **state)
{
    (void)state;
    struct sp_strtab t;
    char text[32];
    assert_true(sp_strtab_init(&t));
    assert_int_equal(sp_strtab_find(&t, "", 0), SP_STR_NONE);
    uint32_t empty = sp_intern(&t, NULL, 0);
    assert_true(empty != SP_STR_NONE && empty != SP_STR_FAIL);
    assert_int_equal(sp_intern_cstr(&t, ""), empty);
    uint32_t a = sp_intern(&t, "a\0b", 3), b = sp_intern(&t, "a\0c", 3);
    assert_true(a != b);
    const char *kept = sp_str_cstr(&t, a);
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "name %d", i);
        assert_int_equal(sp_intern_cstr(&t, text), b + 1 + (uint32_t)i);
    }
    assert_ptr_equal(sp_str_cstr(&t, a), kept);
    assert_int_equal(sp_str_at(&t, a).n, 3);
    assert_memory_equal(kept, "a\0b\0", 4);
    assert_int_equal(sp_strtab_find(&t, "name 777", 8), b + 1 + 777);
    assert_int_equal(sp_strtab_find(&t, "name x", 6), SP_STR_NONE);
    assert_true(sp_str_is(sp_str_at(&t, b + 1), "name 0"));
    sp_strtab_free(&t);
}

static void strings_are_ordered_bytewise(void **state)
{
    (void)state;
    struct sp_str none = {"", 0}, a = {"a", 1}, ab = {"ab", 2}, high = {"\xc3\xa4", 2}, z = {"z", 1};
    assert_true(sp_str_cmp(none, a) < 0);
    assert_true(sp_str_cmp(a, ab) < 0);
    assert_true(sp_str_cmp(ab, a) > 0);
    assert_true(sp_str_cmp(z, high) < 0); /* bytes are unsigned */
    assert_int_equal(sp_str_cmp(ab, ab), 0);
}

static void a_buffer_stops_at_its_maximum_and_stays_failed(void **state)
{
    (void)state;
    struct sp_buf b;
    sp_buf_init(&b, 1000);
    for (int i = 0; i < 99; i++)
        assert_true(sp_buf_puts(&b, "0123456789"));
    assert_true(sp_buf_printf(&b, "%d", 123));
    assert_true(sp_buf_i64(&b, INT64_C(-42)));
    assert_int_equal(b.len, 996);
    assert_false(sp_buf_puts(&b, "12345"));
    assert_false(sp_buf_ch(&b, 'x')); /* would fit, but something is missing */
    assert_int_equal(b.len, 996);
    assert_memory_equal(b.data + 990, "123-42", 6);
    sp_buf_clear(&b);
    assert_true(sp_buf_i64(&b, INT64_MIN));
    assert_string_equal(sp_buf_cstr(&b), "-9223372036854775808");
    assert_true(sp_buf_add(&b, NULL, 0));
    sp_buf_free(&b);
    assert_string_equal(sp_buf_cstr(&b), "");
    sp_buf_free(&b);
}

static void arrays_keep_what_they_have_when_growth_fails(void **state)
{
    (void)state;
    SP_VEC(uint64_t) v = {0};
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(sp_vec_push(&v, i));
    assert_false(sp_vec_reserve(&v, SIZE_MAX / 4));
    assert_false(sp_vec_reserve(&v, SIZE_MAX));
    assert_int_equal(v.n, 1000);
    assert_int_equal(v.v[999], 999);
    sp_vec_free(&v);
    assert_null(v.v);
}

static void a_map_takes_what_a_probe_did_not_find(void **state)
{
    (void)state;
    struct sp_map m = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        uint64_t hash = same_hash(i / 2, 3); /* two of each */
        struct sp_probe at = sp_map_probe(&m, hash);
        uint32_t found = 0;
        while (sp_map_next(&m, &at) != SP_MAP_NONE)
            found++;
        assert_int_equal(found, i % 2);
        assert_true(sp_map_add_at(&m, &at, i));
    }
    assert_int_equal(m.count, 10000);
    for (uint32_t i = 0; i < 5000; i++) {
        struct sp_probe at = sp_map_probe(&m, same_hash(i, 3));
        uint32_t a = sp_map_next(&m, &at), b = sp_map_next(&m, &at);
        assert_int_equal(a / 2, i);
        assert_int_equal(b / 2, i);
        assert_int_not_equal(a, b);
        assert_int_equal(sp_map_next(&m, &at), SP_MAP_NONE);
    }
    struct sp_probe at = sp_map_probe(&m, 1);
    while (sp_map_next(&m, &at) != SP_MAP_NONE)
        ;
    assert_false(sp_map_add_at(&m, &at, SP_MAP_NONE));
    sp_map_free(&m);
}

/* Large chunks are made ready piece by piece: no piece runs into another, whatever their sizes. */
static void arena_pieces_of_large_chunks_keep_their_bytes(void **state)
{
    (void)state;
    enum { PIECES = 3000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    struct sp_arena a;
    uint64_t r = 1;
    sp_arena_init(&a, 0);
    for (size_t i = 0; i < PIECES; i++) {
        r = sp_hash_pair(r, i);
        sizes[i] = i % 97 == 0 ? r % 300000 : r % 5000;
        pieces[i] = i % 2 ? sp_arena_alloc(&a, sizes[i]) : sp_arena_zalloc(&a, sizes[i]);
        assert_non_null(pieces[i]);
        memset(pieces[i], (int)(i & 0xFF), sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k += 61)
            assert_int_equal(pieces[i][k], i & 0xFF);
    sp_arena_free(&a);
}

static void arena_pieces_are_aligned_apart_and_limited(void **state)
{
    (void)state;
    struct sp_arena a;
    unsigned char *last = NULL;
    sp_arena_init(&a, 0);
    for (size_t size = 0; size < 3000; size++) {
        unsigned char *p = sp_arena_alloc(&a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p & 15, 0);
        memset(p, 0xaa, size);
        if (last)
            assert_int_equal(*last, 0xaa);
        last = size ? p + size - 1 : NULL;
        char *d = sp_arena_dup(&a, "xyz", 3);
        assert_string_equal(d, "xyz");
    }
    unsigned char *large = sp_arena_zalloc(&a, 20 << 20);
    assert_non_null(large);
    assert_int_equal(large[(20 << 20) - 1], 0);
    assert_null(sp_arena_alloc(&a, SIZE_MAX));
    assert_null(sp_arena_alloc(&a, SIZE_MAX - 64));
    assert_null(sp_arena_dup(&a, "", SIZE_MAX));
    sp_arena_free(&a);
    sp_arena_init(&a, 100000);
    size_t given = 0;
    while (sp_arena_alloc(&a, 1000))
        given += 1000;
    assert_true(given > 20000 && given <= 100000);
    assert_true(a.total <= 100000);
    sp_arena_free(&a);
    assert_non_null(sp_arena_alloc(&a, 1000)); /* empty again, same limit */
    sp_arena_free(&a);
}

static void a_flood_of_messages_is_counted(void **state)
{
    (void)state;
    struct sp_diags d;
    sp_diags_init(&d);
    sp_diags_source(&d, "a file", "folded");
    for (uint64_t i = 0; i < 1000; i++)
        sp_emit(&d, SP_L302, SP_AT_LINE(i + 1, i * 10), "%s", "odd");
    sp_emit_hint(&d, SP_W311, SP_AT(5), "do this", "one %d", 1);
    assert_int_equal(d.list.n, d.per_code + 1);
    assert_int_equal(d.count[SP_L302], 1000);
    const struct sp_diag *g = &d.list.v[1];
    assert_int_equal(g->line, 2);
    assert_int_equal(g->offset, 10);
    assert_string_equal(g->file, "a file");
    assert_string_equal(g->format, "folded");
    assert_string_equal(g->message, "lines could not be understood: odd");
    assert_string_equal(d.list.v[d.per_code].hint, "do this");
    assert_int_equal(sp_diags_count(&d, SP_LOSS), 1000);
    assert_int_equal(sp_diags_count(&d, SP_INFO), 1001);
    assert_int_equal(sp_diags_count(&d, SP_ERROR), 0);
    sp_diags_free(&d);
}

static void merged_messages_outlive_their_collector(void **state)
{
    (void)state;
    struct sp_diags all, one;
    sp_diags_init(&all);
    sp_diags_init(&one);
    sp_diags_source(&one, "x", NULL);
    struct sp_where where = {.offset = 3, .record = "frame", .field = "/ip"};
    sp_emit(&one, SP_E110, where, "is %s", "text");
    sp_emit(&all, SP_E111, SP_AT_NOTHING, "first");
    sp_diags_merge(&all, &one);
    sp_diags_free(&one);
    assert_int_equal(all.list.n, 2);
    assert_string_equal(all.list.v[1].record, "frame");
    assert_string_equal(all.list.v[1].field, "/ip");
    assert_string_equal(all.list.v[1].file, "x");
    assert_null(all.list.v[1].format);
    assert_int_equal(all.count[SP_E110], 1);
    sp_diags_free(&all);
}

static void out_of_memory_is_said_once(void **state)
{
    (void)state;
    struct sp_diags d;
    sp_diags_init(&d);
    assert_int_equal(sp_nomem(&d), SPAA_ERR_NOMEM);
    assert_int_equal(sp_nomem(&d), SPAA_ERR_NOMEM);
    assert_int_equal(d.list.n, 1);
    assert_int_equal(d.list.v[0].code, SP_E008);
    sp_diags_free(&d);
}

static void codes_say_their_severity(void **state)
{
    (void)state;
    static const char letters[] = "IWLEF";
    for (int c = 0; c < SP_CODES; c++) {
        const struct sp_code_info *i = sp_code_info((enum sp_code)c);
        assert_int_equal(strlen(i->name), 9);
        assert_memory_equal(i->name, "SPAA-", 5);
        assert_int_equal(i->name[5], letters[i->severity]);
        assert_true(*i->title != '\0');
        for (int other = 0; other < c; other++)
            assert_string_not_equal(i->name + 6, sp_code_info((enum sp_code)other)->name + 6);
    }
    assert_string_equal(sp_severity_name(SP_LOSS), "data-loss");
    assert_string_equal(sp_severity_name(SP_FATAL), "fatal");
}

/* How far from their places items are, in all: the work of looking each of them up. */
static size_t steps_of(const struct sp_map *m)
{
    size_t steps = 0;
    for (size_t i = 0; m->slots && i <= m->mask; i++)
        if (m->slots[i].item)
            steps += (i - m->slots[i].low) & m->mask;
    return steps;
}

/* 32 bytes, all with one XXH3: where the first 8 are those of its secret, the next 8 are multiplied by 0. */
static void colliding_key(unsigned char key[32], uint32_t i)
{
    static const unsigned char secret[8] = {0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe};
    memset(key, 'x', 32);
    memcpy(key, secret, sizeof secret);
    memcpy(key + 8, &i, sizeof i);
}

static void keys_made_to_collide_do_not(void **state)
{
    (void)state;
    enum { KEYS = 20000 };
    struct sp_strtab t;
    struct sp_map mixed = {0};
    unsigned char key[32];
    colliding_key(key, 0);
    const uint64_t all = sp_hash64(key, sizeof key);
    assert_true(sp_strtab_init(&t));
    for (uint32_t i = 0; i < KEYS; i++) {
        colliding_key(key, i);
        assert_true(sp_hash64(key, sizeof key) == all);
        assert_int_equal(sp_intern(&t, key, sizeof key), i + 1);
        /* The same of two words, by the constants that are no secret. */
        assert_true(sp_hash_pair(0x9E3779B97F4A7C15u, i) == 0);
        assert_true(sp_map_add(&mixed, sp_hash_mix(0x9E3779B97F4A7C15u, i), i));
    }
    assert_true(steps_of(&t.map) < 8u * KEYS);
    assert_true(steps_of(&mixed) < 8u * KEYS);
    sp_map_free(&mixed);
    sp_strtab_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_made_to_collide_do_not),
        cmocka_unit_test(integers_become_text),
        cmocka_unit_test(integers_are_read_as_far_as_they_go),
        cmocka_unit_test(hexadecimal_is_read),
        cmocka_unit_test(doubles_read_back_as_themselves),
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(numbers_become_whole_units),
        cmocka_unit_test(sums_beyond_64_bits_are_printed),
        cmocka_unit_test(seconds_are_nanoseconds_exactly),
        cmocka_unit_test(a_map_finds_all_items_of_a_hash),
        cmocka_unit_test(a_map_takes_what_a_probe_did_not_find),
        cmocka_unit_test(equal_strings_get_one_number),
        cmocka_unit_test(strings_are_ordered_bytewise),
        cmocka_unit_test(a_buffer_stops_at_its_maximum_and_stays_failed),
        cmocka_unit_test(arrays_keep_what_they_have_when_growth_fails),
        cmocka_unit_test(arena_pieces_are_aligned_apart_and_limited),
        cmocka_unit_test(arena_pieces_of_large_chunks_keep_their_bytes),
        cmocka_unit_test(a_flood_of_messages_is_counted),
        cmocka_unit_test(merged_messages_outlive_their_collector),
        cmocka_unit_test(out_of_memory_is_said_once),
        cmocka_unit_test(codes_say_their_severity),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}

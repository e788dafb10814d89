/* Originals: the bytes come back, in whatever pieces they came, until the stacks change. */
#include "formats/open.h"
#include "formats/original.h"
#include "model/originals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct sp_write_opts all = {.event = SP_NONE, .metric = SP_NONE};

static struct sp_profile *read_as(const char *format, const void *p, size_t n, size_t chunk, bool keep,
                                  struct sp_diags *d)
{
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS, .group_by = SP_BY_DEFAULT, .samples = true};
    struct sp_profile *profile = NULL;
    struct sp_input *in = NULL;
    assert_int_equal(sp_input_memory(p, n, "dir/text", d, &in), SPAA_OK);
    if (keep)
        assert_int_equal(sp_original_keep(in, d, &opts.keeper), SPAA_OK);
    sp_input_set_chunk(in, chunk);
    assert_int_equal(sp_read_profile(in, sp_format_by_name(format), &opts, d, &profile), SPAA_OK);
    sp_input_close(in);
    sp_keeper_free(opts.keeper);
    return profile;
}

/* Through SPAA text: what the writer makes, read again. */
static struct sp_profile *through_spaa(struct sp_profile *p, struct sp_diags *d)
{
    struct sp_output *out;
    size_t n;
    assert_int_equal(sp_output_memory(d, &out), SPAA_OK);
    assert_int_equal(sp_write_profile(p, sp_format_by_name("spaa"), &all, d, out), SPAA_OK);
    const char *text = sp_output_data(out, &n);
    struct sp_profile *back = read_as("spaa", text, n, 0, true, d); /* SPAA itself is not kept */
    sp_output_close(out);
    return back;
}

static bool comes_back(struct sp_profile *p, const char *format, struct sp_diags *d, const char *text,
                       size_t n)
{
    struct sp_output *out;
    bool done;
    size_t got;
    assert_int_equal(sp_output_memory(d, &out), SPAA_OK);
    assert_int_equal(sp_original_give(p, sp_format_by_name(format), &all, d, out, &done), SPAA_OK);
    const char *back = sp_output_data(out, &got);
    bool same = done && got == n && memcmp(back, text, n) == 0;
    assert_true(done || got == 0);
    sp_output_close(out);
    return same;
}

static void round_trip(const char *text, size_t n, size_t chunk)
{
    struct sp_diags d;
    sp_diags_init(&d);
    struct sp_profile *p = read_as("folded", text, n, chunk, true, &d);
    assert_true(comes_back(p, "folded", &d, text, n));
    assert_false(comes_back(p, "dtrace", &d, text, n));
    struct sp_profile *back = through_spaa(p, &d);
    assert_int_equal(sp_originals_count(back->originals), sp_originals_count(p->originals));
    assert_true(comes_back(back, "folded", &d, text, n));
    assert_int_equal(d.count[SP_I321], 0);
    sp_profile_free(back);
    sp_profile_free(p);
    sp_diags_free(&d);
}

static void test_whole_and_in_pieces(void **state)
{
    static const char text[] = "\xEF\xBB\xBF# title\r\na;b 3\na;c 4\n\n  no newline;x 1";
    (void)state;
    for (size_t chunk = 0; chunk < sizeof text; chunk++)
        round_trip(text, sizeof text - 1, chunk);
}

/* Sizes around the piece that is compressed at once, of bytes that do not become smaller. */
static void test_sizes(void **state)
{
    enum { PIECE = 256 << 10, MOST = 3 * PIECE + 1 };
    static const size_t sizes[] = {PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, MOST};
    char *text = malloc(MOST);
    uint64_t seed = 88172645463325252u;
    (void)state;
    assert_non_null(text);
    memcpy(text, "a;b 3\n# ", 8);
    for (size_t i = 8; i < MOST; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        text[i] = (char)('0' + (seed >> 20) % 64);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        round_trip(text, sizes[i], 0);
    free(text);
}

static void test_a_weight_and_a_name_count(void **state)
{
    static const char text[] = "a;b 3\na;c 4\n";
    struct sp_diags d;
    (void)state;
    sp_diags_init(&d);
    struct sp_profile *p = read_as("folded", text, sizeof text - 1, 0, true, &d);
    uint32_t metric = p->events.v[0].primary;
    assert_true(sp_weight_add(p, 0, metric, 1));
    assert_false(comes_back(p, "folded", &d, text, sizeof text - 1));
    assert_int_equal(d.count[SP_I321], 1);
    assert_true(sp_weight_add(p, 0, metric, -1));
    assert_true(comes_back(p, "folded", &d, text, sizeof text - 1));
    p->functions.v[0].name = sp_profile_cstr(p, "other");
    assert_false(comes_back(p, "folded", &d, text, sizeof text - 1));
    sp_profile_free(p);
    sp_diags_free(&d);
}

static void test_nothing_is_kept_unasked(void **state)
{
    struct sp_diags d;
    (void)state;
    sp_diags_init(&d);
    struct sp_profile *p = read_as("folded", "a 1\n", 4, 0, false, &d);
    assert_null(p->originals);
    assert_false(comes_back(p, "folded", &d, "a 1\n", 4));
    sp_profile_free(p);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_and_in_pieces),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_a_weight_and_a_name_count),
        cmocka_unit_test(test_nothing_is_kept_unasked),
    };
    return cmocka_run_group_tests_name("original", tests, NULL, NULL);
}

/* Lines of frames that were met before: found whatever their length, and taken as far as they are known. */
#include "formats/aggregation_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct known {
    struct sp_profile *p;
    struct sp_diags d;
    struct sp_agg a;
    struct sp_agg_lines lines;
};

static void begin(struct known *k)
{
    *k = (struct known){0};
    sp_diags_init(&k->d);
    assert_int_equal(sp_profile_new(&k->d, &k->p), SPAA_OK);
    sp_agg_init(&k->a, k->p, &k->d);
    assert_true(sp_agg_block_begin(&k->a, SP_AGG_ANY, 0));
}

static void end(struct known *k)
{
    sp_agg_lines_free(&k->lines);
    sp_agg_free(&k->a);
    sp_profile_free(k->p);
    sp_diags_free(&k->d);
}

static void add(struct known *k, const char *text, size_t n, uint16_t count, enum sp_agg_side side,
                uint16_t within)
{
    struct sp_agg_line about = {.first = (uint32_t)k->a.frames.n, .count = count, .within = within};
    struct sp_agg_frame f = {.side = (uint8_t)side};
    for (uint16_t i = 0; i < count; i++)
        assert_int_not_equal(sp_agg_frame_add(&k->a, &f), SP_NONE);
    assert_int_not_equal(sp_agg_lines_add(&k->lines, &k->a, text, n, &about), SP_NONE);
}

/* Lines that have the bytes in common by which short ones are found: "    xxxx0…x1yyyy". */
static size_t line_of(unsigned i, char *out)
{
    return (size_t)sprintf(
        out, "    alloc_%06u_%.*s_same_end+12", i, (int)(i % 150),
        "----------------------------------------------------------------------------------"
        "----------------------------------------------------------------------------");
}

static void test_lines_of_all_lengths_are_found(void **state)
{
    struct known k;
    char t[256];
    (void)state;
    begin(&k);
    for (unsigned i = 0; i < 5000; i++)
        add(&k, t, line_of(i, t), 1, SP_AGG_ANY, UINT16_MAX);
    add(&k, "", 0, 1, SP_AGG_ANY, UINT16_MAX);
    add(&k, "a", 1, 1, SP_AGG_ANY, UINT16_MAX);
    for (unsigned i = 0; i < 5000; i++) {
        size_t n = line_of(i, t);
        uint32_t at = sp_agg_lines_find(&k.lines, t, n);
        assert_int_not_equal(at, SP_NONE);
        assert_int_equal(sp_agg_lines_at(&k.lines, at)->first, i);
        assert_int_equal(sp_agg_lines_find(&k.lines, t, n - 1), SP_NONE);
    }
    assert_int_equal(sp_agg_lines_at(&k.lines, sp_agg_lines_find(&k.lines, "", 0))->first, 5000);
    assert_int_equal(sp_agg_lines_at(&k.lines, sp_agg_lines_find(&k.lines, "a", 1))->first, 5001);
    end(&k);
}

static void test_known_lines_are_taken_as_far_as_the_view_has_them(void **state)
{
    enum { LINES = 60 };
    struct known k;
    char t[256], *text = malloc(64 << 10);
    size_t n = 0, ends[LINES];
    (void)state;
    assert_non_null(text);
    begin(&k);
    for (unsigned i = 0; i < LINES; i++) {
        size_t len = line_of(i * 37, t);
        add(&k, t, len, (uint16_t)(1 + i % 3), i == 5 ? SP_AGG_KERNEL : SP_AGG_ANY, UINT16_MAX);
        memcpy(text + n, t, len);
        text[n + len] = '\n';
        ends[i] = n += len + 1;
    }
    for (size_t cut = 0; cut <= n; cut++) { /* a copy of just that size, which nothing may be read behind */
        char *view = malloc(cut ? cut : 1);
        size_t used, whole = 0, lines = 0;
        uint64_t line = 10;
        assert_non_null(view);
        memcpy(view, text, cut);
        for (; lines < LINES && ends[lines] <= cut; lines++)
            whole = ends[lines];
        size_t before = k.a.block_frames.n;
        assert_true(sp_agg_lines_take(&k.lines, &k.a, 0, view, view + cut, &used, &line));
        assert_int_equal(used, whole);
        assert_int_equal(line, 10 + lines);
        size_t frames = 0;
        for (size_t i = 0; i < lines; i++)
            frames += 1 + i % 3;
        assert_int_equal(k.a.block_frames.n - before, frames);
        for (size_t i = 0; i < frames; i++)
            assert_int_equal(k.a.block_frames.v[before + i], i);
        free(view);
    }
    assert_int_equal(k.a.blocks.v[0].told, SP_AGG_KERNEL);
    assert_int_equal(k.a.blocks.v[0].n, k.a.block_frames.n);
    free(text);
    end(&k);
}

static void test_a_block_ends_where_a_line_is_none_of_it(void **state)
{
    static const char text[] =
        "        Func.main()V\n        StubRoutines (1)\n    less\n        Func.main()V\n"
        "                                                                              \n";
    struct known k;
    size_t used;
    uint64_t line = 0;
    (void)state;
    begin(&k);
    add(&k, text, 20, 1, SP_AGG_ANY, 8);
    add(&k, text + 21, 24, 1, SP_AGG_USER, 8);
    add(&k, text + 46, 8, 1, SP_AGG_ANY, 4);
    assert_true(sp_agg_lines_take(&k.lines, &k.a, 8, text, text + sizeof text - 1, &used, &line));
    assert_int_equal(used, 46);
    assert_true(sp_agg_lines_take(&k.lines, &k.a, 4, text, text + sizeof text - 1, &used, &line));
    assert_int_equal(used, 76);
    assert_int_equal(line, 6);
    assert_true(sp_agg_lines_take(&k.lines, &k.a, 9, text, text + sizeof text - 1, &used, &line));
    assert_int_equal(used, 0);
    end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_all_lengths_are_found),
        cmocka_unit_test(test_known_lines_are_taken_as_far_as_the_view_has_them),
        cmocka_unit_test(test_a_block_ends_where_a_line_is_none_of_it),
    };
    return cmocka_run_group_tests_name("aggregation_lines", tests, NULL, NULL);
}

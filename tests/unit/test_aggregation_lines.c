/* Lines of frames that were met before: found whatever their length, with their frames. */
#include "formats/common/aggregation/lines.h"

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
    sp_agg_lines_init(&k->lines);
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
    assert_non_null(sp_agg_lines_add(&k->lines, &k->a, text, n, &about));
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
        const struct sp_agg_line *known = sp_agg_lines_find(&k.lines, t, n);
        assert_non_null(known);
        assert_int_equal(known->first, i);
        assert_null(sp_agg_lines_find(&k.lines, t, n - 1));
    }
    assert_int_equal(sp_agg_lines_find(&k.lines, "", 0)->first, 5000);
    assert_int_equal(sp_agg_lines_find(&k.lines, "a", 1)->first, 5001);
    end(&k);
}

static void test_the_frames_of_a_line_go_to_the_block(void **state)
{
    enum { LINES = 60 };
    struct known k;
    char t[256];
    (void)state;
    begin(&k);
    for (unsigned i = 0; i < LINES; i++)
        add(&k, t, line_of(i * 37, t), (uint16_t)(1 + i % 3), i == 5 ? SP_AGG_KERNEL : SP_AGG_ANY, 8);
    size_t frames = 0;
    for (unsigned i = 0; i < LINES; i++) {
        const struct sp_agg_line *known = sp_agg_lines_find(&k.lines, t, line_of(i * 37, t));
        assert_int_equal(known->within, 8);
        assert_true(sp_agg_lines_push(&k.a, known));
        frames += 1 + i % 3;
        assert_int_equal(k.a.block_frames.n, frames);
        assert_int_equal(k.a.blocks.v[0].told, i < 5 ? 0 : SP_AGG_KERNEL);
    }
    for (size_t i = 0; i < frames; i++)
        assert_int_equal(k.a.block_frames.v[i], i);
    assert_int_equal(k.a.blocks.v[0].n, frames);
    end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_all_lengths_are_found),
        cmocka_unit_test(test_the_frames_of_a_line_go_to_the_block),
    };
    return cmocka_run_group_tests_name("aggregation_lines", tests, NULL, NULL);
}

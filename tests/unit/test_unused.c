/* Frames that no stack needs go, and their functions; the others stay what they are. */
#include "model/unused.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FRAMES = 60, FUNCTIONS = 7, STACKS = 9 };

static struct sp_profile *made(struct sp_diags *d)
{
    struct sp_profile *p;
    char name[16];
    sp_diags_init(d);
    assert_int_equal(sp_profile_new(d, &p), SPAA_OK);
    const struct sp_dso dso = {.name = sp_profile_cstr(p, "a.out")};
    const uint32_t in = sp_dso_intern(p, &dso);
    for (uint32_t i = 0; i < FRAMES; i++) {
        int n = snprintf(name, sizeof name, "f%u", i % FUNCTIONS);
        struct sp_frame f = {.ip = i, .flags = SP_FRAME_IP};
        f.function = sp_function_intern(p, sp_profile_str(p, name, (size_t)n), in);
        assert_int_equal(sp_frame_intern(p, &f), i);
    }
    return p;
}

/* What the frames of all stacks are, before and after. */
static void same_stacks(struct sp_profile *p, const uint64_t *ips)
{
    size_t at = 0;
    for (uint32_t s = 0; s < p->stacks.n; s++)
        for (uint32_t i = 0; i < p->stacks.v[s].n; i++, at++) {
            const uint32_t frame = sp_stack_frames(p, s)[i];
            const struct sp_str name = sp_pstr(p, sp_frame_function(p, frame)->name);
            assert_true(p->frames.v[frame].ip == ips[at]);
            assert_int_equal(name.n, 2);
            assert_int_equal(name.p[1], '0' + (int)(ips[at] % FUNCTIONS));
            assert_int_equal(sp_frame_intern(p, &p->frames.v[frame]), frame);
        }
}

static void keep_every(uint32_t step, size_t functions)
{
    struct sp_diags d;
    struct sp_profile *p = made(&d);
    bool keep[FRAMES] = {false};
    uint64_t ips[STACKS * STACKS];
    size_t at = 0, kept = 0;
    for (uint32_t i = 0; i < FRAMES; i += step, kept++)
        keep[i] = true;
    for (uint32_t s = 0; s < STACKS; s++) {
        uint32_t frames[STACKS];
        for (uint32_t i = 0; i < s; i++)
            ips[at++] = frames[i] = (s * 13 + i * 5) % (uint32_t)kept * step;
        assert_int_equal(sp_stack_append(p, frames, s, 0, SP_UNIFIED), s);
    }
    assert_true(sp_frames_keep(p, keep));
    assert_int_equal(p->frames.n, kept);
    assert_int_equal(p->functions.n, functions);
    for (uint32_t i = 0; i < kept; i++)
        assert_true(p->frames.v[i].ip == (uint64_t)i * step);
    same_stacks(p, ips);
    assert_int_equal(p->frames.n, kept);
    sp_profile_free(p);
    sp_diags_free(&d);
}

static void test_frames_that_are_kept(void **state)
{
    (void)state;
    keep_every(1, FUNCTIONS);
    keep_every(2, FUNCTIONS);
    keep_every(3, FUNCTIONS);
    keep_every(FUNCTIONS, 1);
}

static void test_nothing_is_kept(void **state)
{
    struct sp_diags d;
    struct sp_profile *p = made(&d);
    const bool keep[FRAMES] = {false};
    (void)state;
    assert_true(sp_frames_keep(p, keep));
    assert_int_equal(p->frames.n, 0);
    assert_int_equal(p->functions.n, 0);
    sp_profile_free(p);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_that_are_kept),
        cmocka_unit_test(test_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

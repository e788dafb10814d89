/* The profile's tables: interning, weights, canonical order, identity, merging. */
#include "base/num.h"
#include "model/identity.h"
#include "model/merge.h"
#include "model/order.h"
#include "model/samples.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct sp_diags d;
    struct sp_profile *p;
    uint32_t metric, context;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    sp_diags_init(&f->d);
    if (sp_profile_new(&f->d, &f->p))
        return -1;
    f->metric = sp_metric_intern(f->p, "period", 6);
    struct sp_event e = {.name = sp_profile_cstr(f->p, "cycles"), .primary = f->metric};
    struct sp_context c = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = sp_event_add(f->p, &e)};
    f->context = sp_context_intern(f->p, &c);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sp_profile_free(f->p);
    sp_diags_free(&f->d);
    free(f);
    return 0;
}

static uint32_t frame_at(struct sp_profile *p, const char *name, const char *dso, uint64_t ip, unsigned flags)
{
    struct sp_dso so = {.name = sp_profile_cstr(p, dso)};
    struct sp_frame f = {.function = sp_function_intern(p, sp_profile_cstr(p, name), sp_dso_intern(p, &so)),
                         .ip = ip,
                         .flags = (uint8_t)flags};
    return sp_frame_intern(p, &f);
}

static uint32_t stack_of(struct fixture *f, uint32_t a, uint32_t b, int64_t weight)
{
    uint32_t frames[] = {a, b};
    uint32_t s = sp_stack_append(f->p, frames, 2, f->context, SP_UNIFIED);
    sp_stack_set_layout(f->p, s, sp_layout_simple(f->p, f->metric, 0, SP_NONE, 0));
    assert_true(sp_weight_set(f->p, s, f->metric, weight));
    return s;
}

static void test_equal_content_gets_one_number(void **state)
{
    struct fixture *f = *state;
    struct sp_profile *p = f->p;
    assert_int_equal(sp_profile_cstr(p, "a"), sp_profile_str(p, "abc", 1));
    assert_int_not_equal(sp_profile_str(p, "a\0b", 3), sp_profile_str(p, "a\0c", 3));
    uint32_t a = frame_at(p, "f", "/bin/a", 0, 0);
    assert_int_equal(a, frame_at(p, "f", "/bin/a", 0, 0));
    assert_int_not_equal(a, frame_at(p, "f", "/bin/b", 0, 0));
    assert_int_not_equal(a, frame_at(p, "f", "/bin/a", 1, SP_FRAME_IP));
    assert_int_equal(p->functions.n, 2);
    assert_int_equal(p->dsos.n, 2);
    assert_int_equal(sp_metric_intern(p, "period", 6), f->metric);
    assert_int_equal(sp_metric_find(p, "nothing", 7), SP_NONE);
    assert_int_equal(sp_event_find(p, "cycles", 6), 0);
    assert_int_equal(sp_event_find(p, "cycle", 5), SP_NONE);
}

static void test_stacks_are_found_again_by_frames_context_and_type(void **state)
{
    struct fixture *f = *state;
    struct sp_profile *p = f->p;
    uint32_t frames[] = {frame_at(p, "f", "/bin/a", 0, 0), frame_at(p, "main", "/bin/a", 0, 0)};
    bool is_new;
    uint32_t a = sp_stack_intern(p, frames, 2, f->context, SP_UNIFIED, &is_new);
    assert_true(is_new);
    assert_int_equal(sp_stack_intern(p, frames, 2, f->context, SP_UNIFIED, &is_new), a);
    assert_false(is_new);
    assert_int_not_equal(sp_stack_intern(p, frames, 1, f->context, SP_UNIFIED, &is_new), a);
    assert_int_not_equal(sp_stack_intern(p, frames, 2, f->context, SP_USER_STACK, &is_new), a);
    assert_int_not_equal(sp_stack_append(p, frames, 2, f->context, SP_UNIFIED), a);
    uint32_t empty = sp_stack_intern(p, frames, 0, f->context, SP_UNIFIED, &is_new);
    assert_true(is_new);
    assert_int_equal(sp_stack_intern(p, NULL, 0, f->context, SP_UNIFIED, &is_new), empty);
}

/* Whatever hashes say: stacks are one only if frames, context, type and edges are. */
static void test_stacks_of_one_hash_are_told_apart_by_content(void **state)
{
    struct fixture *f = *state;
    struct sp_profile *p = f->p;
    uint32_t frames[] = {frame_at(p, "f", "/bin/a", 0, 0), frame_at(p, "main", "/bin/a", 0, 0)};
    uint32_t other[] = {frames[1], frames[0]};
    struct sp_stack_key keys[] = {
        {frames, 7, 2, f->context, 0, SP_UNIFIED},     {other, 7, 2, f->context, 0, SP_UNIFIED},
        {frames, 7, 1, f->context, 0, SP_UNIFIED},     {frames, 7, 2, f->context, 0, SP_USER_STACK},
        {frames, 7, 2, f->context + 1, 0, SP_UNIFIED}, {frames, 7, 2, f->context, 1, SP_UNIFIED}};
    uint32_t stacks[6] = {0};
    bool is_new;
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < 6; i++) {
            uint32_t s = sp_stack_intern_key(p, &keys[i], &is_new);
            assert_int_equal(is_new, !round);
            assert_true(!round || s == stacks[i]);
            stacks[i] = s;
        }
}

static void test_a_thread_keeps_its_first_name(void **state)
{
    struct fixture *f = *state;
    struct sp_profile *p = f->p;
    uint32_t t = sp_thread_intern(p, 1, 2, SP_STR_NONE);
    assert_int_equal(sp_thread_intern(p, 1, 2, sp_profile_cstr(p, "late")), t);
    assert_int_equal(sp_thread_intern(p, 1, 2, sp_profile_cstr(p, "later")), t);
    assert_string_equal(sp_str_cstr(&p->strs, p->threads.v[t].comm), "late");
    assert_int_equal(p->threads.n, 1);
}

static void test_events_are_found_by_the_names_they_have_now(void **state)
{
    struct fixture *f = *state;
    struct sp_profile *p = f->p;
    uint32_t first = sp_event_find(p, "cycles", 6), name = sp_profile_cstr(p, "wakeups");
    assert_true(sp_event_rename(p, first, name));
    assert_int_equal(sp_event_find(p, "wakeups", 7), first);
    assert_int_equal(sp_event_find(p, "cycles", 6), SP_NONE);
    struct sp_event e = {.name = sp_profile_cstr(p, "cycles"), .primary = f->metric};
    uint32_t second = sp_event_add(p, &e);
    assert_int_equal(sp_event_find(p, "cycles", 6), second);
    assert_true(sp_events_reorder(p, (uint32_t[]){second, first}));
    assert_int_equal(sp_event_find(p, "cycles", 6), 0);
    assert_int_equal(sp_event_find(p, "wakeups", 7), 1);
    assert_true(sp_event_rename(p, 1, e.name) && sp_event_rename(p, 1, name));
    assert_int_equal(sp_event_find(p, "wakeups", 7), 1);
}

static void test_sums_beyond_64_bits_are_capped_and_told_once(void **state)
{
    struct fixture *f = *state;
    uint32_t s = stack_of(f, frame_at(f->p, "f", "a", 0, 0), frame_at(f->p, "g", "a", 0, 0), INT64_MAX - 1);
    assert_true(sp_weight_add(f->p, s, f->metric, 1));
    assert_int_equal(sp_weight(f->p, s, f->metric), INT64_MAX);
    assert_int_equal(sp_diags_count(&f->d, SP_LOSS), 0);
    assert_true(sp_weight_add(f->p, s, f->metric, 1));
    assert_true(sp_weight_add(f->p, s, f->metric, 1));
    assert_int_equal(sp_weight(f->p, s, f->metric), INT64_MAX);
    assert_int_equal(f->d.list.n, 1);
    assert_int_equal(f->d.list.v[0].code, SP_L304);
}

static void check_text(struct fixture *f, uint32_t s, const char *expected)
{
    struct sp_str t = sp_weight_text(f->p, s, f->metric);
    assert_int_equal(sp_weight(f->p, s, f->metric), SP_DECIMAL);
    assert_int_equal(t.n, strlen(expected));
    assert_memory_equal(t.p, expected, t.n);
}

static void test_numbers_given_as_text_stay_exact(void **state)
{
    struct fixture *f = *state;
    uint32_t s = stack_of(f, frame_at(f->p, "f", "a", 0, 0), frame_at(f->p, "g", "a", 0, 0), 0);
    static const char *const kept[] = {"0.10", "18446744073709551615", "1e3", "-9223372036854775808", "-0"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        assert_true(sp_weight_set_text(f->p, s, f->metric, kept[i], strlen(kept[i])));
        check_text(f, s, kept[i]);
    }
    assert_true(sp_weight_set_text(f->p, s, f->metric, "-9223372036854775806", 20));
    assert_int_equal(sp_weight(f->p, s, f->metric), INT64_MIN + 2);
}

static void test_zeros_before_a_number_are_no_part_of_it(void **state)
{
    struct fixture *f = *state;
    uint32_t s = stack_of(f, frame_at(f->p, "f", "a", 0, 0), frame_at(f->p, "g", "a", 0, 0), 0);
    static const char *const texts[][2] = {{"0018446744073709551615", "18446744073709551615"},
                                           {"-018446744073709551615", "-18446744073709551615"},
                                           {"00.10", "0.10"},
                                           {"-00", "-0"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(sp_weight_set_text(f->p, s, f->metric, texts[i][0], strlen(texts[i][0])));
        check_text(f, s, texts[i][1]);
    }
    assert_true(sp_weight_set_text(f->p, s, f->metric, "-05", 3));
    assert_int_equal(sp_weight(f->p, s, f->metric), -5);
}

static void test_decimals_add_exactly(void **state)
{
    struct fixture *f = *state;
    uint32_t s = stack_of(f, frame_at(f->p, "f", "a", 0, 0), frame_at(f->p, "g", "a", 0, 0), 1);
    assert_true(sp_weight_add_text(f->p, s, f->metric, "0.1", 3));
    assert_true(sp_weight_add_text(f->p, s, f->metric, "0.2", 3));
    check_text(f, s, "1.3");
    assert_true(sp_weight_add(f->p, s, f->metric, 2));
    check_text(f, s, "3.3");
    assert_true(sp_weight_add_text(f->p, s, f->metric, "0.7", 3));
    assert_int_equal(sp_weight(f->p, s, f->metric) == SP_DECIMAL ? 4 : sp_weight(f->p, s, f->metric), 4);
}

static void identify(struct fixture *f, struct sp_order *o)
{
    assert_int_equal(sp_order_dictionaries(f->p, o), SPAA_OK);
    assert_int_equal(sp_profile_identify(f->p, o), SPAA_OK);
    assert_int_equal(sp_order_stacks(f->p, o), SPAA_OK);
}

static void test_order_is_by_content_not_by_arrival(void **state)
{
    struct fixture *f = *state;
    uint32_t b = frame_at(f->p, "b", "/z", 0, 0), a = frame_at(f->p, "a", "/z", 0, 0),
             c = frame_at(f->p, "c", "/a", 0, 0);
    stack_of(f, b, a, 5);
    stack_of(f, a, c, 9);
    uint32_t last = stack_of(f, a, b, -7);
    struct sp_order o;
    identify(f, &o);
    assert_int_equal(o.frames[0], a);
    assert_int_equal(o.frames[1], b);
    assert_int_equal(o.frames[2], c);
    assert_int_equal(o.frame_rank[a], 1);
    assert_string_equal(sp_str_cstr(&f->p->strs, f->p->dsos.v[o.dsos[0]].name), "/a");
    assert_int_equal(o.stacks[0], 1);
    assert_int_equal(o.stacks[1], 0);
    assert_int_equal(o.stacks[2], last);
    sp_order_free(&o);
}

/* Two frames of no known binary differ in an address of one run only: it is no part of the hash. */
static void test_equal_hashes_become_hash_and_hash_plus_one(void **state)
{
    struct fixture *f = *state;
    uint32_t main = frame_at(f->p, "main", "/bin/a", 0, 0);
    uint32_t low = frame_at(f->p, "0x10", "[unknown]", 0x10, SP_FRAME_IP | SP_FRAME_UNRESOLVED);
    uint32_t high = frame_at(f->p, "0x20", "[unknown]", 0x20, SP_FRAME_IP | SP_FRAME_UNRESOLVED);
    uint32_t second = stack_of(f, high, main, 1), first = stack_of(f, low, main, 1);
    struct sp_order o;
    identify(f, &o);
    assert_true(f->p->ids.v[second].hash == f->p->ids.v[first].hash + 1);
    sp_order_free(&o);
}

static void test_an_id_is_written_with_its_suffix(void **state)
{
    (void)state;
    char t[32];
    struct sp_stack_id id = {.hash = 0xab, .flags = SP_ID_SET};
    assert_int_equal(sp_stack_id_text(&id, t), 18);
    assert_memory_equal(t, "0x00000000000000ab", 18);
    id.suffix = 0x1f;
    id.flags |= SP_ID_SUFFIX;
    assert_int_equal(sp_stack_id_text(&id, t), 27);
    assert_memory_equal(t, "0x00000000000000ab.0000001f", 27);
}

static uint32_t function_of(struct sp_profile *p, const char *name, const char *dso)
{
    uint32_t frame = frame_at(p, name, dso, 0, 0);
    return p->frames.v[frame].function;
}

static void test_functions_compare_by_name_and_base_name(void **state)
{
    struct fixture *f = *state;
    uint32_t a = function_of(f->p, "f", "/usr/lib/a.so");
    uint32_t b = function_of(f->p, "f", "/opt/a.so");
    uint32_t c = function_of(f->p, "f", "/opt/b.so");
    assert_true(sp_function_hash(f->p, a) == sp_function_hash(f->p, b));
    assert_true(sp_function_hash(f->p, a) != sp_function_hash(f->p, c));
}

static void test_merging_twice_doubles(void **state)
{
    struct fixture *f = *state;
    struct sp_profile *whole;
    uint32_t x = frame_at(f->p, "x", "/bin/a", 1, SP_FRAME_IP),
             y = frame_at(f->p, "x", "/bin/a", 2, SP_FRAME_IP);
    uint32_t main = frame_at(f->p, "main", "/bin/a", 0, 0);
    stack_of(f, x, main, 3);
    stack_of(f, y, main, 4);
    struct sp_merge_opts how = {.frames = SP_FRAMES_FUNCTION};
    struct sp_merger *m;
    assert_int_equal(sp_merger_new(&how, &f->d, &m), SPAA_OK);
    assert_int_equal(sp_merger_add(m, f->p, "a"), SPAA_OK);
    assert_int_equal(sp_merger_add(m, f->p, "a"), SPAA_OK);
    assert_int_equal(sp_merger_finish(m, &whole), SPAA_OK);
    sp_merger_free(m);
    assert_int_equal(whole->stacks.n, 1);
    assert_int_equal(whole->frames.n, 2);
    assert_int_equal(sp_weight(whole, 0, sp_metric_find(whole, "period", 6)), 14);
    assert_int_equal(whole->header.frames, SP_FRAMES_FUNCTION);
    sp_profile_free(whole);
}

static void test_samples_come_in_time_order_and_keep_ties(void **state)
{
    struct fixture *f = *state;
    struct sp_samples *s;
    struct sp_sample *rows;
    size_t n;
    static const int64_t times[] = {5, 1, 5, 0, INT64_MAX};
    assert_int_equal(sp_samples_new(&f->d, &s), SPAA_OK);
    for (uint32_t i = 0; i < 5; i++) {
        struct sp_sample x = {.time = times[i], .stack = i, .flags = SP_SAMPLE_TIME};
        assert_int_equal(sp_samples_add(s, &x), SPAA_OK);
    }
    struct sp_sample timeless = {.stack = 9};
    assert_int_equal(sp_samples_add(s, &timeless), SPAA_OK);
    assert_int_equal(sp_samples_sort(s), SPAA_OK);
    assert_int_equal(sp_samples_rows(s, &rows, &n), SPAA_OK);
    static const uint32_t expected[] = {9, 3, 1, 0, 2, 4};
    assert_int_equal(n, 6);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows[i].stack, expected[i]);
    sp_samples_free(s);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_equal_content_gets_one_number),
        WITH(test_stacks_are_found_again_by_frames_context_and_type),
        WITH(test_stacks_of_one_hash_are_told_apart_by_content),
        WITH(test_a_thread_keeps_its_first_name),
        WITH(test_events_are_found_by_the_names_they_have_now),
        WITH(test_sums_beyond_64_bits_are_capped_and_told_once),
        WITH(test_numbers_given_as_text_stay_exact),
        WITH(test_zeros_before_a_number_are_no_part_of_it),
        WITH(test_decimals_add_exactly),
        WITH(test_order_is_by_content_not_by_arrival),
        WITH(test_equal_hashes_become_hash_and_hash_plus_one),
        WITH(test_an_id_is_written_with_its_suffix),
        WITH(test_functions_compare_by_name_and_base_name),
        WITH(test_merging_twice_doubles),
        WITH(test_samples_come_in_time_order_and_keep_ties),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}

/* Selections, top, tree, handles and nearest names on profiles made by hand. */
#include "analysis/function_handle.h"
#include "analysis/function_lookup.h"
#include "analysis/path.h"
#include "analysis/quality.h"
#include "analysis/top.h"
#include "analysis/tree.h"
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct sp_diags d;
    struct sp_profile *p;
    uint32_t metric, event;
    struct sp_selection s;
    bool selected;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    sp_diags_init(&f->d);
    if (sp_profile_new(&f->d, &f->p))
        return -1;
    f->metric = sp_metric_intern(f->p, "value", 5);
    struct sp_event e = {.name = sp_profile_cstr(f->p, "e"), .primary = f->metric};
    f->event = sp_event_add(f->p, &e);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    if (f->selected)
        sp_selection_free(&f->s);
    sp_profile_free(f->p);
    sp_diags_free(&f->d);
    free(f);
    return 0;
}

/* Frames as letters from the leaf; upper case: in the kernel. */
static uint32_t stack(struct fixture *f, const char *leaf_first, const char *weight, const char *state,
                      int64_t tid)
{
    struct sp_profile *p = f->p;
    uint32_t frames[64];
    size_t n = strlen(leaf_first);
    for (size_t i = 0; i < n; i++) {
        bool kernel = leaf_first[i] >= 'A' && leaf_first[i] <= 'Z';
        struct sp_dso so = {.name = sp_profile_cstr(p, kernel ? "[kernel]" : "/bin/a"), .is_kernel = kernel};
        struct sp_frame frame = {
            .function = sp_function_intern(p, sp_profile_str(p, leaf_first + i, 1), sp_dso_intern(p, &so)),
            .kind = kernel ? SP_KERNEL : SP_USER};
        frames[i] = sp_frame_intern(p, &frame);
    }
    struct sp_context c = {.pid = 1,
                           .tid = tid,
                           .cpu = SP_ABSENT,
                           .event = f->event,
                           .state = state ? sp_profile_cstr(p, state) : SP_STR_NONE};
    uint32_t s = sp_stack_append(p, frames, n, sp_context_intern(p, &c), SP_UNIFIED);
    sp_stack_set_layout(p, s, sp_layout_simple(p, f->metric, 0, SP_NONE, 0));
    assert_true(sp_weight_set_text(p, s, f->metric, weight, strlen(weight)));
    return s;
}

static spaa_status pick(struct fixture *f, struct sp_select_opts o)
{
    if (f->selected)
        sp_selection_free(&f->s);
    spaa_status st = sp_select(f->p, &o, &f->d, &f->s);
    f->selected = st == SPAA_OK;
    return st;
}

static void row(const struct sp_top *t, const char *name, int64_t flat, int64_t cum)
{
    for (size_t i = 0; i < t->rows.n; i++) {
        if (!sp_str_is(sp_str_at(&t->names, t->rows.v[i].name), name))
            continue;
        assert_int_equal(t->rows.v[i].self, flat);
        assert_int_equal(t->rows.v[i].total, cum);
        return;
    }
    fail_msg("no row %s", name);
}

static void test_the_scale_is_that_of_the_finest_weight(void **state)
{
    struct fixture *f = *state;
    stack(f, "fm", "3.14", NULL, 1);
    stack(f, "gm", "2.5", NULL, 1);
    stack(f, "gm", "7", NULL, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){0}), SPAA_OK);
    assert_int_equal(f->s.scale, 2);
    assert_int_equal(f->s.kept, 1264);
    assert_false(f->s.inexact);
}

static void test_a_scale_that_sums_do_not_fit_is_lowered(void **state)
{
    struct fixture *f = *state;
    stack(f, "fm", "0.123456789", NULL, 1);
    stack(f, "gm", "4000000000000000000", NULL, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){0}), SPAA_OK);
    assert_true(f->s.scale < 9 && f->s.inexact && !f->s.capped);
    assert_int_equal(f->d.count[SP_I322], 1);
}

static void test_sums_stay_in_64_bits_and_say_so(void **state)
{
    struct fixture *f = *state;
    struct sp_top t;
    stack(f, "fm", "9000000000000000000", NULL, 1);
    stack(f, "gm", "-9000000000000000000", NULL, 1);
    stack(f, "gm", "18446744073709551615", NULL, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){0}), SPAA_OK);
    assert_true(f->s.capped);
    assert_int_equal(f->d.count[SP_L304], 1);
    assert_int_equal(sp_top_build(&f->s, SP_TOP_FUNCTION, false, &f->d, &t), SPAA_OK);
    row(&t, "f", 9000000000000000000, 9000000000000000000);
    row(&t, "g", -223372036854775807, -223372036854775807);
    row(&t, "m", 0, f->s.kept);
    sp_top_free(&t);
}

static void test_recursion_counts_once(void **state)
{
    struct fixture *f = *state;
    struct sp_top t;
    stack(f, "fgfm", "10", NULL, 1);
    stack(f, "gm", "1", NULL, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){0}), SPAA_OK);
    assert_int_equal(sp_top_build(&f->s, SP_TOP_FUNCTION, true, &f->d, &t), SPAA_OK);
    row(&t, "f", 10, 10);
    row(&t, "g", 1, 11);
    row(&t, "m", 0, 11);
    assert_true(t.rows.v[0].total == 11 && t.rows.v[2].total == 10);
    sp_top_free(&t);
}

static void test_filters_cut_stacks_as_they_say(void **state)
{
    struct fixture *f = *state;
    size_t n;
    stack(f, "Kfgm", "10", NULL, 1);
    stack(f, "hm", "1", NULL, 2);
    assert_int_equal(pick(f, (struct sp_select_opts){.user_only = true}), SPAA_OK);
    (void)sp_selected_frames(&f->s, 0, &n);
    assert_int_equal(n, 3);
    assert_int_equal(pick(f, (struct sp_select_opts){.root_at = "g"}), SPAA_OK);
    assert_int_equal(f->s.rows.n, 1);
    assert_true(f->s.whole == 11 && f->s.kept == 10);
    (void)sp_selected_frames(&f->s, 0, &n);
    assert_int_equal(n, 3);
    assert_int_equal(pick(f, (struct sp_select_opts){.hide = "[fgmhK]"}), SPAA_OK);
    assert_int_equal(f->s.rows.n, 2);
    assert_non_null(sp_selected_frames(&f->s, 0, &n));
    assert_int_equal(n, 0);
    assert_int_equal(pick(f, (struct sp_select_opts){.thread = "2"}), SPAA_OK);
    assert_int_equal(f->s.whole, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){.thread = "3"}), SPAA_ERR_NOT_FOUND);
    assert_int_equal(pick(f, (struct sp_select_opts){.root_at = "x"}), SPAA_ERR_NOT_FOUND);
    assert_int_equal(pick(f, (struct sp_select_opts){.focus = "("}), SPAA_ERR_USAGE);
    assert_int_equal(pick(f, (struct sp_select_opts){.event = "x"}), SPAA_ERR_USAGE);
    assert_int_equal(pick(f, (struct sp_select_opts){.metric = "x"}), SPAA_ERR_USAGE);
}

static void test_states_choose_a_view(void **state)
{
    struct fixture *f = *state;
    stack(f, "f", "1", "RUNNABLE", 1);
    stack(f, "f", "10", "WAITING", 1);
    stack(f, "f", "100", "IDLE", 1);
    stack(f, "f", "1000", NULL, 1);
    static const struct {
        const char *view, *state;
        int64_t base;
    } cases[] = {{NULL, NULL, 1001},
                 {"cpu", NULL, 1001},
                 {"latency", NULL, 1011},
                 {"all", NULL, 1111},
                 {NULL, "WAITING,IDLE", 110}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pick(f, (struct sp_select_opts){.view = cases[i].view, .state = cases[i].state}),
                         SPAA_OK);
        assert_int_equal(f->s.whole, cases[i].base);
        assert_int_equal(f->s.event_whole, 1111);
    }
}

/* name:self/total, nested with parentheses */
static void tree_text(const struct sp_tree *t, struct sp_buf *b)
{
    sp_buf_clear(b);
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        const struct sp_tree_node *n = &t->nodes.v[i];
        struct sp_str name = sp_tree_name(t, i);
        assert_true(n->parent == SP_NONE || (n->parent < i && t->nodes.v[n->parent].end >= n->end));
        sp_buf_printf(b, "%s%.*s:%lld/%lld", i ? " " : "", (int)name.n, name.p, (long long)n->self,
                      (long long)n->total);
    }
}

static void tree_is(struct fixture *f, struct sp_tree_opts o, const char *expected)
{
    struct sp_tree t;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_int_equal(sp_tree_build(&f->s, &o, &f->d, &t), SPAA_OK);
    tree_text(&t, &b);
    assert_string_equal(sp_buf_cstr(&b), expected);
    sp_buf_free(&b);
    sp_tree_free(&t);
}

static void test_trees(void **state)
{
    struct fixture *f = *state;
    stack(f, "am", "3", NULL, 1);
    stack(f, "bm", "5", NULL, 1);
    stack(f, "m", "2", NULL, 1);
    stack(f, "", "1", NULL, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){0}), SPAA_OK);
    tree_is(f, (struct sp_tree_opts){0}, "all:1/11 m:2/10 b:5/5 a:3/3");
    tree_is(f, (struct sp_tree_opts){.sort = SP_TREE_BY_NAME}, "all:1/11 m:2/10 a:3/3 b:5/5");
    tree_is(f, (struct sp_tree_opts){.inverted = true}, "all:1/11 b:0/5 m:5/5 a:0/3 m:3/3 m:2/2");
    tree_is(f, (struct sp_tree_opts){.max_depth = 1}, "all:1/11 m:2/10");
    tree_is(f, (struct sp_tree_opts){.min_total = 4}, "all:1/11 m:2/10 b:5/5");
}

static void test_nodes_below_zero_are_kept_unless_drawn(void **state)
{
    struct fixture *f = *state;
    stack(f, "a", "-3", NULL, 1);
    stack(f, "b", "5", NULL, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){0}), SPAA_OK);
    tree_is(f, (struct sp_tree_opts){0}, "all:0/2 b:5/5 a:-3/-3");
    tree_is(f, (struct sp_tree_opts){.min_total = 4}, "all:0/2 b:5/5");
    tree_is(f, (struct sp_tree_opts){.positive = true}, "all:0/2 b:5/5");
}

static void test_the_heaviest_path(void **state)
{
    struct fixture *f = *state;
    struct sp_tree t;
    uint32_t path[8];
    stack(f, "abm", "60", NULL, 1);
    stack(f, "cm", "40", NULL, 1);
    assert_int_equal(pick(f, (struct sp_select_opts){0}), SPAA_OK);
    assert_int_equal(sp_tree_build(&f->s, &(struct sp_tree_opts){0}, &f->d, &t), SPAA_OK);
    assert_int_equal(sp_heaviest_path(&t, 0.1, path, 8), 3);
    assert_int_equal(sp_heaviest_path(&t, 0.7, path, 8), 1);
    assert_int_equal(sp_heaviest_path(&t, 0.1, path, 2), 2);
    sp_tree_free(&t);
}

static void test_handles_are_unique_and_found_again(void **state)
{
    struct fixture *f = *state;
    struct sp_handles h;
    struct sp_function_lookup lookup;
    char text[32];
    stack(f, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "1", NULL, 1);
    assert_int_equal(sp_handles_of(f->p, f->p->diags, &h), SPAA_OK);
    for (uint32_t i = 0; i < f->p->functions.n; i++) {
        size_t n = sp_handle_text(&h, i, text); /* before the text is looked at */
        assert_int_equal(n, strlen(text));
        assert_int_equal(sp_lookup_functions(f->p, text, &f->d, &lookup), SPAA_OK);
        assert_int_equal(lookup.n, 1);
        assert_int_equal(lookup.first, i);
        sp_function_lookup_free(&lookup);
    }
    assert_int_equal(sp_lookup_functions(f->p, "f:", &f->d, &lookup), SPAA_ERR_NOT_FOUND);
    assert_int_equal(sp_lookup_functions(f->p, "f:zz", &f->d, &lookup), SPAA_ERR_NOT_FOUND);
    assert_int_equal(sp_lookup_functions(f->p, "main", &f->d, &lookup), SPAA_ERR_NOT_FOUND);
    sp_handles_free(&h);
}

static void test_nearest_words(void **state)
{
    (void)state;
    static const struct sp_str names[] = {{"flamegraph", 10}, {"top", 3}, {"tree", 4}};
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_nearest_words(&b, "tpo", names, 3);
    assert_non_null(strstr(sp_buf_cstr(&b), "did you mean top"));
    sp_buf_clear(&b);
    sp_nearest_words(&b, "zzzzzz", names, 3);
    assert_null(strstr(sp_buf_cstr(&b), "did you mean"));
    assert_non_null(strstr(sp_buf_cstr(&b), "flamegraph"));
    sp_buf_clear(&b);
    sp_nearest_words(&b, "x", names, 0);
    assert_int_equal(b.len, 0);
    sp_buf_free(&b);
    struct sp_str ab = {"ab", 2}, ba = {"ba", 2}, none = {"", 0};
    assert_int_equal(sp_edit_distance(ab, ba, 5), 1);
    assert_int_equal(sp_edit_distance(ab, none, 5), 2);
    assert_int_equal(sp_edit_distance((struct sp_str){"abcdef", 6}, none, 3), 4);
}

static void test_the_default_event_is_never_lbr(void **state)
{
    struct fixture *f = *state;
    f->p->events.v[0].name = sp_profile_cstr(f->p, "lbr");
    assert_int_equal(sp_default_event(f->p), 0);
    struct sp_event e = {.name = sp_profile_cstr(f->p, "cycles"), .primary = f->metric};
    assert_int_equal(sp_event_add(f->p, &e), 1);
    assert_int_equal(sp_default_event(f->p), 1);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_the_scale_is_that_of_the_finest_weight),
        WITH(test_a_scale_that_sums_do_not_fit_is_lowered),
        WITH(test_sums_stay_in_64_bits_and_say_so),
        WITH(test_recursion_counts_once),
        WITH(test_filters_cut_stacks_as_they_say),
        WITH(test_states_choose_a_view),
        WITH(test_trees),
        WITH(test_nodes_below_zero_are_kept_unless_drawn),
        WITH(test_the_heaviest_path),
        WITH(test_handles_are_unique_and_found_again),
        WITH(test_nearest_words),
        WITH(test_the_default_event_is_never_lbr),
    };
    return cmocka_run_group_tests_name("analysis", tests, NULL, NULL);
}

/*
 * The flame graph's file: what is drawn, where, and what is said about it. How it behaves in a browser is
 * tests/cli/test_flamegraph_browser.py.
 */
#include "render/flamegraph.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct fixture {
    struct sp_diags d;
    struct sp_profile *p;
    struct sp_tree t;
    struct sp_output *o;
    const char *svg; /* NUL-terminated */
    struct sp_buf text;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    sp_diags_init(&f->d);
    sp_buf_init(&f->text, 0);
    if (sp_profile_new(&f->d, &f->p) != SPAA_OK)
        return -1;
    f->t.profile = f->p;
    f->t.comm_names = &f->p->strs;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sp_output_close(f->o);
    sp_vec_free(&f->t.nodes);
    sp_vec_free(&f->t.comms);
    sp_buf_free(&f->text);
    sp_profile_free(f->p);
    sp_diags_free(&f->d);
    free(f);
    return 0;
}

/* Adds the next node in depth-first order; its own ends grow with it. */
static uint32_t add_node(struct fixture *f, uint32_t depth, int64_t total, int64_t self)
{
    uint32_t i = (uint32_t)f->t.nodes.n, parent = SP_NONE;
    for (uint32_t k = i; depth > 0 && k-- > 0;)
        if (f->t.nodes.v[k].depth == depth - 1) {
            parent = k;
            break;
        }
    struct sp_tree_node n = {.parent = parent,
                             .end = i + 1,
                             .function = SP_NONE,
                             .frame = SP_NONE,
                             .depth = depth,
                             .kind = SP_UNKNOWN,
                             .self = self,
                             .total = total,
                             .samples = SP_ABSENT};
    for (uint32_t k = parent; k != SP_NONE; k = f->t.nodes.v[k].parent)
        f->t.nodes.v[k].end = i + 1;
    assert_true(sp_vec_push(&f->t.nodes, n));
    assert_true(sp_vec_push(&f->t.comms, SP_STR_NONE));
    return i;
}

static uint32_t add_function(struct fixture *f, uint32_t depth, const char *name, const char *dso,
                             enum sp_frame_kind kind, unsigned flags, int64_t total, int64_t self)
{
    struct sp_dso so = {.name = sp_profile_cstr(f->p, dso), .is_kernel = kind == SP_KERNEL};
    uint32_t function = sp_function_intern(f->p, sp_profile_cstr(f->p, name), sp_dso_intern(f->p, &so));
    struct sp_frame frame = {.function = function, .kind = (uint8_t)kind, .flags = (uint8_t)flags};
    uint32_t i = add_node(f, depth, total, self);
    f->t.nodes.v[i].function = function;
    f->t.nodes.v[i].frame = sp_frame_intern(f->p, &frame);
    f->t.nodes.v[i].kind = (uint8_t)kind;
    f->t.nodes.v[i].inlined = flags & SP_FRAME_INLINED;
    return i;
}

static uint32_t add(struct fixture *f, uint32_t depth, const char *name, int64_t total, int64_t self)
{
    return add_function(f, depth, name, "app", SP_USER, 0, total, self);
}

static void draw(struct fixture *f, const struct sp_flamegraph_opts *opts)
{
    sp_output_close(f->o);
    f->o = NULL;
    assert_int_equal(sp_output_memory(&f->d, &f->o), SPAA_OK);
    assert_int_equal(sp_flamegraph_svg(&f->t, opts, &f->d, f->o), SPAA_OK);
    assert_int_equal(sp_output_commit(f->o), SPAA_OK);
    size_t n;
    const char *p = sp_output_data(f->o, &n);
    sp_buf_clear(&f->text);
    assert_true(sp_buf_add(&f->text, p, n));
    f->svg = sp_buf_cstr(&f->text);
}

static void assert_has(const struct fixture *f, const char *s)
{
    if (!strstr(f->svg, s))
        fail_msg("not in the picture: %s", s);
}

static void assert_has_not(const struct fixture *f, const char *s)
{
    if (strstr(f->svg, s))
        fail_msg("in the picture: %s", s);
}

static unsigned count(const char *text, const char *s)
{
    unsigned n = 0;
    for (; (text = strstr(text, s)); text++)
        n++;
    return n;
}

static void one_file_says_what_it_is(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 1000, 0);
    add(f, 1, "main", 1000, 1000);
    draw(f,
         &(struct sp_flamegraph_opts){.title = "My <program>", .subtitle = "perf.data & more", .unit = "ns"});
    assert_memory_equal(f->svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ", 44);
    assert_has(f, "<title id=\"sp-t\">My &lt;program&gt;</title>");
    assert_has(
        f,
        "<desc id=\"sp-d\">perf.data &amp; more. A flame graph of sampled call stacks: 2 frames in 2 levels, "
        "whole 1,000 ns = 1 us.");
    assert_has(f, "role=\"img\" aria-labelledby=\"sp-t\" aria-describedby=\"sp-d\"");
    assert_has_not(f, "foreignObject");
    assert_int_equal(count(f->svg, "http"), 2); /* the namespace, here and in the script */
    assert_int_equal(count(f->svg, "http://www.w3.org/2000/svg"), 2);
    assert_string_equal(f->svg + f->text.len - 7, "</svg>\n");
}

static void frames_stand_where_their_weight_says(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 4, 0);
    add(f, 1, "a", 1, 1);
    add(f, 1, "b", 2, 1);
    add(f, 2, "c", 1, 1);
    draw(f, &(struct sp_flamegraph_opts){0}); /* 1180 px for 4, root at the bottom, rows from 120 on */
    assert_has(f,
               "<title>all: total 4 (100.00%), self 0 (0.00%)</title><rect class=\"r0\" x=\"10\" y=\"156\" "
               "width=\"1179\" height=\"17\"/>");
    assert_has(f, "<title>a: total 1 (25.00%), self 1 (25.00%), user</title>");
    assert_has(f, " x=\"10\" y=\"138\" width=\"294\" height=\"17\"/>");
    assert_has(f, "<title>b: total 2 (50.00%), self 1 (25.00%), user</title>");
    assert_has(f, " x=\"305\" y=\"138\" width=\"589\" height=\"17\"/>");
    assert_has(f, " x=\"305\" y=\"120\" width=\"294\" height=\"17\"/>");
}

static void inverted_has_the_root_on_top(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 4, 0);
    add(f, 1, "a", 4, 4);
    draw(f, &(struct sp_flamegraph_opts){.inverted = true, .width = 500});
    assert_has(f, "<rect class=\"r0\" x=\"10\" y=\"120\" width=\"479\"");
    assert_has(f, " x=\"10\" y=\"138\" width=\"479\"");
    assert_has(f, "width=\"500\" height=\"166\" viewBox=\"0 0 500 166\"");
    assert_has(f, "\"inverted\":true");
}

static void kinds_differ_by_more_than_colour(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 100, 0);
    f->t.comms.v[add_node(f, 1, 100, 0)] = sp_profile_cstr(f->p, "worker");
    add_function(f, 2, "work", "app", SP_USER, 0, 100, 0);
    add_function(f, 3, "helper", "app", SP_USER, SP_FRAME_INLINED, 20, 20);
    add_function(f, 3, "sys_read", "[kernel]", SP_KERNEL, 0, 20, 20);
    add_function(f, 3, "kinline", "[kernel]", SP_KERNEL, SP_FRAME_INLINED, 20, 20);
    add_function(f, 3, "0x1234", "app", SP_USER, SP_FRAME_UNRESOLVED, 20, 20);
    add_function(f, 3, "[unknown]", "[kernel]", SP_KERNEL, 0, 10, 10);
    add_function(f, 3, "folded", "", SP_UNKNOWN, 0, 10, 10);
    draw(f, &(struct sp_flamegraph_opts){0});
    assert_has(f, "class=\"tc\">worker</text>");
    static const char *const tips[] = {
        "worker: total 100 (100.00%), self 0 (0.00%), thread</title><rect class=\"c",
        "20.00%), kernel</title><rect class=\"k",
        "20.00%), inlined</title><rect class=\"i",
        "20.00%), kernel, inlined</title><rect class=\"j",
        "20.00%), unresolved</title><rect class=\"g",
        "10.00%), kernel, unresolved</title><rect class=\"h",
        "10.00%), kind not stated</title><rect class=\"n"};
    for (size_t i = 0; i < sizeof tips / sizeof tips[0]; i++)
        assert_has(f, tips[i]);
    assert_int_equal(count(f->svg, " d\" x="), 4); /* dashed: two frames, and two samples in the legend */
    assert_has(f, "class=\"tg\">0x1234</text>");
    assert_has(f, ">kernel (hatched)</text>");
    assert_has(f, "\"dsos\":[\"app\",\"[kernel]\"]");
}

static void narrow_frames_are_left_out_and_counted(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 1000000, 0);
    add(f, 1, "wide", 999900, 999900);
    add(f, 1, "thin", 50, 10);
    add(f, 2, "thinner", 40, 40);
    add(f, 1, "thin2", 50, 50);
    draw(f, &(struct sp_flamegraph_opts){0});
    assert_has(
        f,
        ">3 frames narrower than 0.1 px (0.01% of the weight) are not drawn, and zooming does not show them");
    assert_has_not(f, "thin\"");
    draw(f, &(struct sp_flamegraph_opts){.min_width = 0.05});
    assert_has(f, ">1 frame narrower than 0.05 px (0.00% of the weight) is not drawn");
    assert_has(f, "\"thin2\"");
    f->t.pruned = 7;
    f->t.pruned_total = 500;
    draw(f, &(struct sp_flamegraph_opts){.min_width = 0.001});
    assert_has_not(f, "narrower than");
    assert_has(f, ">7 frames (0.05% of the weight) were left out of the call tree</text>");
}

static void very_many_frames_make_the_least_width_grow(void **state)
{
    struct fixture *f = *state;
    const int chains = 10000, length = 22;
    add_node(f, 0, chains, 0);
    uint32_t function = f->t.nodes.v[add(f, 1, "x", 1, 1)].function;
    f->t.nodes.n = 1;
    f->t.nodes.v[0].end = (uint32_t)(chains * length + 1);
    for (int c = 0; c < chains; c++)
        for (int d = 1; d <= length; d++) {
            uint32_t i = (uint32_t)f->t.nodes.n;
            struct sp_tree_node n = {.parent = d == 1 ? 0 : i - 1,
                                     .end = i + (uint32_t)(length - d + 1),
                                     .function = function,
                                     .frame = 0,
                                     .depth = (uint32_t)d,
                                     .kind = SP_USER,
                                     .self = d == length,
                                     .total = 1,
                                     .samples = 1};
            assert_true(sp_vec_push(&f->t.nodes, n));
        }
    draw(f, &(struct sp_flamegraph_opts){.width = 1200});
    assert_has(f, ">220,000 frames narrower than 0.2 px (100.00% of the weight) are not drawn");
}

static void hostile_names_are_harmless(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 10, 0);
    add_function(f, 1, "</script><script>alert('1')</script>]]>\x1b[31m\xe2\x80\xae\xff&\"", "<dso>", SP_USER,
                 0, 10, 10);
    draw(f, &(struct sp_flamegraph_opts){
                .title = "</title><script>alert(2)</script>", .subtitle = "\xe2\x80\xae", .unit = "<b>"});
    assert_has_not(f, "<script>alert");
    assert_has_not(f, "<dso>");
    assert_has_not(f, "<b>");
    assert_has_not(f, "\x1b");
    assert_has_not(f, "\xe2\x80\xae");
    assert_has_not(f, "\xff");
    assert_has(f, "&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/"
                  "script&gt;]]&gt;\\x1b[31m\\u{202e}\\xff&amp;&quot;");
    assert_has(
        f, "\"\\u003c/script\\u003e\\u003cscript\\u003ealert('1')\\u003c/script\\u003e]]\\u003e\\\\x1b[31m"
           "\\\\u{202e}\\\\xff\\u0026\\\"\"");
}

static void numbers_are_exact_at_any_size(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, INT64_MAX, 0);
    add(f, 1, "a", INT64_MAX - 1, 5);
    f->t.nodes.v[1].samples = 12;
    draw(f, &(struct sp_flamegraph_opts){.unit = "s", .scale = 9});
    assert_has(f, "total 9,223,372,036.854775806 s (100.00%), self 0.000000005 s (0.00%)");
    assert_has(f, "\"frames\":[0,0,32,\"9223372036854775807\",0,0,1,98,\"9223372036854775806\",5,12]");
}

static void samples_that_equal_the_weight_are_not_repeated(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 9, 2);
    add(f, 1, "a", 3, 3);
    add(f, 1, "b", 4, 4);
    for (size_t i = 0; i < 3; i++)
        f->t.nodes.v[i].samples = f->t.nodes.v[i].total;
    draw(f, &(struct sp_flamegraph_opts){0});
    assert_has(f, "\"frames\":[0,0,160,9,2,0,1,130,3,1,2,130,4]");
}

static void frames_without_positive_weight_are_not_drawn(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 10, 0);
    add(f, 1, "freed", -5, -5);
    add(f, 1, "kept", 15, 15); /* more than the parent has: cut to it */
    add(f, 1, "zero", 0, 0);
    draw(f, &(struct sp_flamegraph_opts){0});
    assert_has(f, ">2 frames have no positive weight and are not drawn</text>");
    assert_has(f, "<title>kept: total 15 (150.00%)");
    assert_has(f, " x=\"10\" y=\"138\" width=\"1179\"");
}

static void nothing_to_draw_is_said(void **state)
{
    struct fixture *f = *state;
    draw(f, &(struct sp_flamegraph_opts){0}); /* no node at all */
    assert_has(f, ">There is nothing to draw: the weights add up to 0</text>");
    add_node(f, 0, -25, 0);
    add(f, 1, "a", -25, -25);
    draw(f, &(struct sp_flamegraph_opts){.scale = 1});
    assert_has(f, ">There is nothing to draw: the weights add up to -2.5</text>");
    assert_has(f, "\"frames\":[]");
}

static void depth_has_a_limit_that_is_said(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 1, 0);
    uint32_t function = f->t.nodes.v[add(f, 1, "recurse", 1, 0)].function;
    for (uint32_t d = 2; d <= 5000; d++) {
        struct sp_tree_node n = f->t.nodes.v[1];
        n.parent = d - 1;
        n.depth = d;
        n.function = function;
        assert_true(sp_vec_push(&f->t.nodes, n));
        assert_true(sp_vec_push(&f->t.comms, SP_STR_NONE));
    }
    for (uint32_t d = 0; d <= 5000; d++)
        f->t.nodes.v[d].end = 5001;
    draw(f, &(struct sp_flamegraph_opts){0});
    assert_has(f, ">905 frames more than 4096 levels deep (100.00% of the weight) are not drawn</text>");
    assert_int_equal(count(f->svg, "<title>recurse"), 4095);
}

static void labels_are_cut_to_their_frames(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 100, 0);
    add(f, 1, "a_function_name_of_more_columns_than_there_are", 10, 10);
    add(f, 1, "tiny_one", 2, 2);
    draw(f, &(struct sp_flamegraph_opts){0});
    assert_has(f, ">a_funct…ere_are</text>");
    assert_has_not(f, ">t");
    assert_has(f, "\"a_function_name_of_more_columns_than_there_are\",\"tiny_one\"");
}

static void the_same_tree_gives_the_same_bytes(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 100, 0);
    add(f, 1, "main", 70, 30);
    add(f, 2, "work", 40, 40);
    draw(f, &(struct sp_flamegraph_opts){0});
    struct sp_buf first = f->text;
    sp_buf_init(&f->text, 0);
    draw(f, &(struct sp_flamegraph_opts){0});
    assert_int_equal(first.len, f->text.len);
    assert_memory_equal(first.data, f->text.data, first.len);
    sp_buf_free(&first);
}

static void odd_options_are_bounded(void **state)
{
    struct fixture *f = *state;
    add_node(f, 0, 100, 0);
    add(f, 1, "main", 70, 30);
    draw(f, &(struct sp_flamegraph_opts){.width = 1, .min_width = -1, .scale = 99});
    assert_has(f, "viewBox=\"0 0 320 ");
    draw(f, &(struct sp_flamegraph_opts){.width = UINT_MAX, .min_width = 1e300});
    assert_has(f, "viewBox=\"0 0 20000 ");
    assert_has(f, ">1 frame narrower than 19980 px (70.00% of the weight)");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_file_says_what_it_is),
        TEST(frames_stand_where_their_weight_says),
        TEST(inverted_has_the_root_on_top),
        TEST(kinds_differ_by_more_than_colour),
        TEST(narrow_frames_are_left_out_and_counted),
        TEST(very_many_frames_make_the_least_width_grow),
        TEST(hostile_names_are_harmless),
        TEST(numbers_are_exact_at_any_size),
        TEST(samples_that_equal_the_weight_are_not_repeated),
        TEST(frames_without_positive_weight_are_not_drawn),
        TEST(nothing_to_draw_is_said),
        TEST(depth_has_a_limit_that_is_said),
        TEST(labels_are_cut_to_their_frames),
        TEST(the_same_tree_gives_the_same_bytes),
        TEST(odd_options_are_bounded),
    };
    return cmocka_run_group_tests_name("flamegraph", tests, NULL, NULL);
}

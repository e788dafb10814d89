/* The verbatim layer: the bytes come back, in whatever pieces they came, until the stacks change. */
#include "formats/format.h"
#include "formats/verbatim.h"
#include "model/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char tree[] = "Call graph:\n"
                           "    27 Thread_1\n"
                           "    + 27 start  (in libdyld.dylib) + 1\n"
                           "    +   ! 007 odd  count\n"
                           "  *12   kernel\n"
                           "               12\n"
                           "\n"
                           "  12345678901234567890 beyond\n"
                           "0xdeadbeef\n"
                           "               12\n";

static const struct sp_write_opts all = {.event = SP_NONE, .metric = SP_NONE};

static struct sp_profile *profile(struct sp_diags *d, int64_t weight)
{
    struct sp_profile *p = NULL;
    assert_int_equal(sp_profile_new(d, &p), SPAA_OK);
    uint32_t metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {.name = sp_profile_cstr(p, "e"), .primary = metric};
    struct sp_context c = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = sp_event_add(p, &e)};
    struct sp_dso so = {.name = sp_profile_cstr(p, "[unknown]")};
    struct sp_frame f = {.function = sp_function_intern(p, sp_profile_cstr(p, "f"), sp_dso_intern(p, &so)),
                         .kind = SP_UNKNOWN};
    uint32_t frame = sp_frame_intern(p, &f);
    uint32_t s = sp_stack_append(p, &frame, 1, sp_context_intern(p, &c), SP_UNIFIED);
    p->header.source_tool = sp_profile_cstr(p, "dtrace");
    sp_stack_set_layout(p, s, sp_layout_simple(p, metric, 0, SP_NONE, 0));
    assert_true(sp_weight_set(p, s, metric, weight));
    return p;
}

static void keep(struct sp_profile *p, struct sp_diags *d, const char *text, size_t n, size_t piece)
{
    struct sp_verbatim *v;
    struct sp_input *in;
    assert_int_equal(sp_input_memory("", 0, "text", d, &in), SPAA_OK);
    assert_int_equal(sp_verbatim_new(p, "perf-script", in, d, &v), SPAA_OK);
    sp_input_close(in);
    for (size_t i = 0; i < n; i += piece)
        assert_int_equal(sp_verbatim_add(v, text + i, n - i < piece ? n - i : piece), SPAA_OK);
    assert_int_equal(sp_verbatim_finish(v), SPAA_OK);
    sp_verbatim_free(v);
}

static void comes_back(struct sp_profile *p, struct sp_diags *d, const char *text, size_t n)
{
    struct sp_output *out;
    bool done;
    size_t got;
    assert_int_equal(sp_output_memory(d, &out), SPAA_OK);
    assert_int_equal(sp_verbatim_replay(p, "perf-script", &all, d, out, &done), SPAA_OK);
    assert_true(done);
    const char *back = sp_output_data(out, &got);
    assert_int_equal(got, n);
    assert_memory_equal(back, text, n);
    sp_output_close(out);
}

/* Through SPAA text: what the writer makes, read again. */
static struct sp_profile *through_spaa(struct sp_profile *p, struct sp_diags *d)
{
    const struct spaa_format *spaa = sp_format_by_name("spaa");
    struct sp_write_opts w = {.event = SP_NONE, .metric = SP_NONE};
    struct sp_read_opts r = {.frames = SP_FRAMES_ADDRESS, .group_by = SP_BY_DEFAULT};
    struct sp_output *out;
    struct sp_input *in;
    struct sp_profile *back = NULL;
    size_t n;
    assert_int_equal(sp_output_memory(d, &out), SPAA_OK);
    assert_int_equal(spaa->write(p, &w, d, out), SPAA_OK);
    const char *text = sp_output_data(out, &n);
    assert_int_equal(sp_input_memory(text, n, "spaa", d, &in), SPAA_OK);
    assert_int_equal(sp_profile_new(d, &back), SPAA_OK);
    assert_int_equal(spaa->read(in, &r, d, back), SPAA_OK);
    sp_input_close(in);
    sp_output_close(out);
    return back;
}

static void round_trip(const char *text, size_t n, size_t piece)
{
    struct sp_diags d;
    sp_diags_init(&d);
    struct sp_profile *p = profile(&d, 7);
    keep(p, &d, text, n, piece);
    comes_back(p, &d, text, n);
    struct sp_profile *back = through_spaa(p, &d);
    comes_back(back, &d, text, n);
    assert_int_equal(sp_diags_count(&d, SP_WARNING), 0);
    sp_profile_free(back);
    sp_profile_free(p);
    sp_diags_free(&d);
}

static void test_bytes_come_back_in_any_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 20; piece++)
        round_trip(tree, sizeof tree - 1, piece);
}

static void test_line_ends_and_odd_bytes_come_back(void **state)
{
    static const char odd[] = "a\r\n\r\n  12 x\r\nb\n\xff\xfe 1\nnul\0in\n\n\n  7";
    (void)state;
    round_trip(odd, sizeof odd - 1, 5);
    round_trip("", 0, 1);
    round_trip("\n", 1, 1);
    round_trip("x", 1, 1);
}

static void test_more_rows_than_a_record_holds(void **state)
{
    enum { LINES = 9000 };
    char *text = malloc(LINES * 32);
    size_t n = 0;
    (void)state;
    assert_non_null(text);
    for (unsigned i = 0; i < LINES; i++)
        n += (size_t)snprintf(text + n, 32, "%*u line %u\n", (int)(i % 9), i, i % 70);
    round_trip(text, n, 4096);
    free(text);
}

static void test_changed_stacks_are_not_replayed(void **state)
{
    struct sp_diags d;
    struct sp_output *out;
    bool done;
    size_t n;
    (void)state;
    sp_diags_init(&d);
    struct sp_profile *p = profile(&d, 7);
    keep(p, &d, tree, sizeof tree - 1, 64);
    assert_true(sp_weight_add(p, 0, 0, 1));
    assert_int_equal(sp_output_memory(&d, &out), SPAA_OK);
    assert_int_equal(sp_verbatim_replay(p, "perf-script", &all, &d, out, &done), SPAA_OK);
    assert_false(done);
    sp_output_data(out, &n);
    assert_int_equal(n, 0);
    assert_int_equal(d.count[SP_I321], 1);
    /* Another format's layer is none of ours. */
    assert_int_equal(sp_verbatim_replay(p, "dtrace", &all, &d, out, &done), SPAA_OK);
    assert_false(done);
    assert_int_equal(d.count[SP_I321], 1);
    sp_output_close(out);
    sp_profile_free(p);
    sp_diags_free(&d);
}

static void test_damaged_records_are_not_replayed(void **state)
{
    static const char *const bad[] = {
        "{\"type\":\"x_perf_script_text\",\"rows\":[7],\"digest\":\"0x1\"}",
        "{\"type\":\"x_perf_script_text\",\"rows\":[[1,\"\",0]],\"digest\":\"0x1\"}",
        "{\"type\":\"x_perf_script_text\",\"rows\":[[9999999,\"\",0,1,1,0]],\"digest\":\"0x1\"}",
        "{\"type\":\"x_perf_script_text\",\"rows\":5,\"digest\":\"0x1\"}",
        "{\"type\":\"x_perf_script_line\",\"hex\":\"abc\"}",
        "{\"type\":\"x_perf_script_text\",\"rows\":[]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sp_diags d;
        struct sp_output *out;
        bool done;
        sp_diags_init(&d);
        struct sp_profile *p = profile(&d, 1);
        struct sp_extension e = {sp_profile_cstr(p, bad[i])};
        assert_true(sp_vec_push(&p->extensions, e));
        assert_int_equal(sp_output_memory(&d, &out), SPAA_OK);
        assert_int_equal(sp_verbatim_replay(p, "perf-script", &all, &d, out, &done), SPAA_OK);
        assert_false(done);
        assert_int_equal(d.count[SP_I321], 1);
        sp_output_close(out);
        sp_profile_free(p);
        sp_diags_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_come_back_in_any_pieces),
        cmocka_unit_test(test_line_ends_and_odd_bytes_come_back),
        cmocka_unit_test(test_more_rows_than_a_record_holds),
        cmocka_unit_test(test_changed_stacks_are_not_replayed),
        cmocka_unit_test(test_damaged_records_are_not_replayed),
    };
    return cmocka_run_group_tests_name("verbatim", tests, NULL, NULL);
}

/* Reading and writing SPAA in memory: where blocks end, what strictness means, what is told. */
#include "formats/spaa/spaa.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEADER                                                                                               \
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\","                 \
    "\"frame_order\":\"leaf_to_root\",\"events\":[{\"name\":\"cycles\",\"kind\":\"hardware\","               \
    "\"sampling\":{\"mode\":\"period\",\"primary_metric\":\"period\"}}],"                                    \
    "\"stack_id_mode\":\"content_addressable\"}\n"
#define DICTIONARY                                                                                           \
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"                                  \
    "{\"type\":\"frame\",\"id\":1,\"func\":\"f\",\"dso\":1,\"kind\":\"user\"}\n"                             \
    "{\"type\":\"frame\",\"id\":2,\"func\":\"main\",\"dso\":1,\"kind\":\"user\"}\n"
#define STACK(id, value)                                                                                     \
    "{\"type\":\"stack\",\"id\":\"" id "\",\"frames\":[1,2],\"stack_type\":\"unified\","                     \
    "\"context\":{\"event\":\"cycles\"},\"weights\":[{\"metric\":\"period\",\"value\":" value "}],"          \
    "\"exclusive\":{\"frame\":1,\"weights\":[{\"metric\":\"period\",\"value\":" value "}]}}\n"
#define WHOLE HEADER DICTIONARY STACK("0x00000000000000aa", "9") STACK("0x00000000000000bb", "5")

struct fixture {
    struct sp_diags d;
    struct sp_profile *p;
    struct sp_output *out;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    sp_diags_init(&f->d);
    *state = f;
    return 0;
}

static void forget(struct fixture *f)
{
    sp_profile_free(f->p);
    f->p = NULL;
    sp_output_close(f->out);
    f->out = NULL;
    sp_diags_free(&f->d);
    sp_diags_init(&f->d);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    forget(f);
    sp_diags_free(&f->d);
    free(f);
    return 0;
}

static spaa_status read_text(struct fixture *f, const char *text, size_t n, bool strict)
{
    struct sp_input *in;
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS, .samples = true, .strict = strict};
    char *exact = malloc(n ? n : 1); /* so that a sanitizer sees reads behind the end */
    forget(f);
    assert_non_null(exact);
    memcpy(exact, text, n);
    assert_int_equal(sp_profile_new(&f->d, &f->p), SPAA_OK);
    assert_int_equal(sp_input_memory(exact, n, "text", &f->d, &in), SPAA_OK);
    spaa_status st = sp_spaa_read(in, &opts, &f->d, f->p);
    sp_input_close(in);
    free(exact);
    return st;
}

static const char *write_text(struct fixture *f, size_t *n)
{
    struct sp_write_opts opts = {.event = SP_NONE, .metric = SP_NONE};
    assert_int_equal(sp_output_memory(&f->d, &f->out), SPAA_OK);
    assert_int_equal(sp_spaa_write(f->p, &opts, &f->d, f->out), SPAA_OK);
    return sp_output_data(f->out, n);
}

static void comes_back(struct fixture *f, const char *text, const char *expected)
{
    size_t n;
    assert_int_equal(read_text(f, text, strlen(text), false), SPAA_OK);
    assert_string_equal(write_text(f, &n), expected);
    assert_int_equal(n, strlen(expected));
}

static void test_canonical_text_comes_back(void **state)
{
    comes_back(*state, WHOLE, WHOLE);
}

static void test_stacks_are_put_in_order(void **state)
{
    comes_back(*state, HEADER DICTIONARY STACK("0x00000000000000bb", "5") STACK("0x00000000000000aa", "9"),
               WHOLE);
    comes_back(*state, HEADER DICTIONARY STACK("0x00000000000000bb", "7") STACK("0x00000000000000aa", "7"),
               HEADER DICTIONARY STACK("0x00000000000000aa", "7") STACK("0x00000000000000bb", "7"));
}

/* Cut anywhere, what is whole before the cut is used, and the rest is told. */
static void test_every_cut_is_survived(void **state)
{
    struct fixture *f = *state;
    static const char text[] = WHOLE;
    size_t header = strlen(HEADER);
    for (size_t n = 0; n < sizeof text; n++) {
        spaa_status st = read_text(f, text, n, false);
        if (n < header - 1) {
            assert_int_equal(st, SPAA_ERR_INPUT);
            continue;
        }
        assert_int_equal(st, SPAA_OK);
        size_t whole = 0;
        for (size_t i = 0; i < n; i++)
            whole += text[i] == '\n';
        bool inside = n && text[n - 1] != '\n' && text[n] != '\n';
        assert_int_equal(sp_diags_count(&f->d, SP_LOSS) != 0, inside);
        assert_true(f->p->stacks.n <= 2 && f->p->stacks.n + 4 >= whole);
    }
}

static void test_strict_stops_at_the_first_loss(void **state)
{
    struct fixture *f = *state;
    static const char bad[] = WHOLE "{oops\n" STACK("0x00000000000000cc", "1");
    assert_int_equal(read_text(f, bad, sizeof bad - 1, false), SPAA_OK);
    assert_int_equal(f->p->stacks.n, 3);
    assert_int_equal(read_text(f, bad, sizeof bad - 1, true), SPAA_ERR_INPUT);
}

static void test_places_of_damage_are_told(void **state)
{
    struct fixture *f = *state;
    static const char bad[] = WHOLE "{\"type\":\"stack\",}\n";
    assert_int_equal(read_text(f, bad, sizeof bad - 1, false), SPAA_OK);
    assert_true(f->d.list.n >= 1);
    assert_int_equal(f->d.list.v[0].line, 7);
    assert_in_range(f->d.list.v[0].offset, strlen(WHOLE), sizeof bad);
}

static void test_a_file_without_a_header_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_text(f, DICTIONARY, strlen(DICTIONARY), false), SPAA_ERR_INPUT);
    assert_int_equal(read_text(f, "", 0, false), SPAA_ERR_INPUT);
    assert_int_equal(read_text(f, "\xEF\xBB\xBF\r\n \n", 6, false), SPAA_ERR_INPUT);
}

/* Ids that are missing or stand twice are made anew; those that are fine are kept. */
static void test_doubtful_ids_are_replaced(void **state)
{
    struct fixture *f = *state;
    static const char twice[] = HEADER DICTIONARY STACK("x", "9") STACK("x", "5");
    size_t n;
    assert_int_equal(read_text(f, twice, sizeof twice - 1, false), SPAA_OK);
    assert_int_equal(f->p->stacks.n, 2);
    assert_int_equal(f->d.count[SP_W209], 1);
    const char *out = write_text(f, &n);
    assert_null(strstr(out, "\"id\":\"x\""));
    comes_back(f, HEADER DICTIONARY STACK("y", "9") STACK("x", "5"),
               HEADER DICTIONARY STACK("y", "9") STACK("x", "5"));
}

static void test_long_runs_of_equal_lines_do_not_depend_on_prepared_texts(void **state)
{
    struct fixture *f = *state;
    struct sp_buf b;
    size_t n;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, HEADER DICTIONARY);
    for (int i = 0; i < 2000; i++) /* a rarer shape now and then */
        sp_buf_printf(
            &b,
            "{\"type\":\"stack\",\"id\":\"0x%016x\",\"frames\":[%s],\"stack_type\":\"%s\",\"context\":"
            "{\"pid\":%d,\"event\":\"cycles\"},\"weights\":[{\"metric\":\"period\",\"value\":%d%s}]%s}\n",
            (unsigned)i, i % 7 ? "1,2" : "2", i % 11 ? "unified" : "user", i % 13, 5000 - i,
            i % 17 ? "" : ",\"unit\":\"ns\"", i % 19 ? "" : ",\"x_y\":1");
    const char *text = sp_buf_cstr(&b);
    assert_int_equal(read_text(f, text, b.len, false), SPAA_OK);
    assert_int_equal(f->p->stacks.n, 2000);
    assert_int_equal(f->d.list.n, 0);
    assert_string_equal(write_text(f, &n), text);
    sp_buf_free(&b);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_canonical_text_comes_back),
        WITH(test_stacks_are_put_in_order),
        WITH(test_every_cut_is_survived),
        WITH(test_strict_stops_at_the_first_loss),
        WITH(test_places_of_damage_are_told),
        WITH(test_a_file_without_a_header_is_refused),
        WITH(test_doubtful_ids_are_replaced),
        WITH(test_long_runs_of_equal_lines_do_not_depend_on_prepared_texts),
    };
    return cmocka_run_group_tests_name("spaa", tests, NULL, NULL);
}

/* Lines of an input: their ends, any length, packed, and too long. */
#include "io/input.h"

#include "packed.h"

static void assert_lines(const char *text, size_t n, size_t chunk, const char *const *expected)
{
    struct sp_diags d;
    struct sp_input *in;
    const char *line;
    size_t len;
    sp_diags_init(&d);
    sp_input_memory(text, n, "memory", &d, &in);
    sp_input_set_chunk(in, chunk);
    for (; *expected; expected++) {
        assert_int_equal(sp_input_line(in, &line, &len), SPAA_OK);
        assert_non_null(line);
        assert_int_equal(len, strlen(*expected));
        assert_memory_equal(line, *expected, len);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sp_input_line(in, &line, &len), SPAA_OK);
        assert_null(line);
    }
    assert_int_equal(d.list.n, 0);
    sp_input_close(in);
    sp_diags_free(&d);
}

static void lines_come_without_their_ends(void **state)
{
    (void)state;
    static const char *const lines[] = {"one", "two", "", "", "a\rb", "last\r", NULL};
    static const char *const none[] = {NULL};
    static const char text[] = "one\ntwo\r\n\n\r\na\rb\nlast\r";
    struct bytes z = zstd_of(text, sizeof text - 1);
    for (size_t chunk = 0; chunk < 5; chunk++) {
        assert_lines(text, sizeof text - 1, chunk, lines);
        assert_lines((const char *)z.p, z.n, chunk, lines);
        assert_lines("", 0, chunk, none);
        assert_lines("x\n", 2, chunk, (const char *const[]){"x", NULL});
    }
    free(z.p);
}

static void a_line_longer_than_a_block_comes_whole(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_input *in;
    const char *line;
    size_t len;
    sp_diags_init(&d);
    struct bytes b = bytes_of("", 0);
    b.p = realloc(b.p, 5000001);
    memset(b.p, 'x', 5000000);
    b.n = 5000001;
    b.p[5000000] = '\n';
    b = packed(joined(b, bytes_of("short", 5)), "g");
    sp_input_memory(b.p, b.n, "memory", &d, &in);
    assert_int_equal(sp_input_line(in, &line, &len), SPAA_OK);
    assert_int_equal(len, 5000000);
    assert_int_equal(line[4999999], 'x');
    assert_int_equal(sp_input_offset(in), 5000001);
    assert_int_equal(sp_input_line(in, &line, &len), SPAA_OK);
    assert_int_equal(len, 5);
    sp_input_close(in);
    sp_diags_free(&d);
    free(b.p);
}

static void a_line_that_is_too_long_is_reported_and_skipped(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_input *in;
    const char *line;
    size_t len;
    sp_diags_init(&d);
    struct bytes b = joined(zstd_of("first\n", 6), bomb((uint64_t)600 << 20));
    b = joined(b, joined(zstd_of("\nnext\n", 6), bomb((uint64_t)257 << 20)));
    sp_input_memory(b.p, b.n, "memory", &d, &in);
    assert_int_equal(sp_input_line(in, &line, &len), SPAA_OK);
    assert_int_equal(len, 5);
    assert_int_equal(sp_input_line(in, &line, &len), SPAA_OK);
    assert_int_equal(len, 4);
    assert_memory_equal(line, "next", 4);
    assert_int_equal(sp_input_line(in, &line, &len), SPAA_OK);
    assert_null(line);
    assert_int_equal(d.count[SP_E007], 2);
    sp_input_close(in);
    sp_diags_free(&d);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_without_their_ends),
        cmocka_unit_test(a_line_longer_than_a_block_comes_whole),
        cmocka_unit_test(a_line_that_is_too_long_is_reported_and_skipped),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}

/* JSON writing: strings, minified copies, and the nesting writer. */
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEXT(s)                                                                                              \
    {                                                                                                        \
        s, sizeof(s) - 1                                                                                     \
    }

static void minify_drops_white_space_between_tokens_only(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {" { \"a b\" : [ 1 ,\t\"c \\\" d\" , null ] , \"e\\\\\" : \" \" }\r\n",
         "{\"a b\":[1,\"c \\\" d\",null],\"e\\\\\":\" \"}"},
        {"[1,2]", "[1,2]"},
        {" \"x  y\" ", "\"x  y\""},
        {"  ", ""},
        {"[ true , false ]", "[true,false]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_buf b;
        sp_buf_init(&b, 0);
        assert_true(sp_json_minify(&b, (struct sp_span){cases[i].text, strlen(cases[i].text)}));
        assert_string_equal(sp_buf_cstr(&b), cases[i].want);
        sp_buf_free(&b);
    }
}

static void texts_that_need_escapes_are_known(void **state)
{
    (void)state;
    char t[64];
    for (size_t n = 0; n < sizeof t; n++)
        for (int c = 0; c < 256; c++) {
            bool plain = c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
            for (size_t at = 0; at < n; at += at + 1 < n && n > 20 ? 5 : 1) {
                memset(t, 'x', n);
                t[at] = (char)c;
                assert_int_equal(sp_json_plain(t, n), plain);
            }
        }
    assert_true(sp_json_plain(NULL, 0));
}

static void check_written(struct sp_span text, const char *want, bool damaged)
{
    struct sp_buf b;
    bool d = !damaged;
    sp_buf_init(&b, 0);
    assert_true(sp_json_string_to(&b, text.p, text.n, &d));
    assert_string_equal(sp_buf_cstr(&b), want);
    assert_int_equal(d, damaged);
    sp_buf_free(&b);
}

static void strings_are_written_with_the_fewest_escapes(void **state)
{
    (void)state;
    check_written((struct sp_span)TEXT(""), "\"\"", false);
    check_written((struct sp_span)TEXT("a/b\x7f\xc3\xa9\xf0\x9f\x98\x80"),
                  "\"a/b\x7f\xc3\xa9\xf0\x9f\x98\x80\"", false);
    check_written((struct sp_span)TEXT("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\"", false);
    check_written((struct sp_span)TEXT("\0\x01\x1f"), "\"\\u0000\\u0001\\u001f\"", false);
    check_written((struct sp_span)TEXT("a\xff\xed\xa0\x80z"),
                  "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\"", true);
}

/* Any bytes, written and read, come back; bytes that are not UTF-8 as U+FFFD. */
static void written_strings_read_back(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < 2000; round++) {
        char t[24];
        size_t n = (size_t)round % sizeof t;
        for (size_t i = 0; i < n; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            t[i] = (char)(round % 3 ? x & 0x7F : x & 0xFF);
        }
        struct sp_buf b;
        struct sp_json j;
        struct sp_span s;
        bool damaged;
        sp_buf_init(&b, 0);
        assert_true(sp_json_string_to(&b, t, n, &damaged));
        assert_int_equal(damaged, sp_utf8_prefix(t, n) != n);
        sp_json_init(&j, b.data, b.len);
        assert_true(sp_json_string_value(&j, &s) && sp_json_end(&j));
        assert_int_equal(sp_utf8_prefix(s.p, s.n), s.n);
        if (!damaged) {
            assert_int_equal(s.n, n);
            assert_memory_equal(s.p, t, n);
        }
        sp_json_free(&j);
        sp_buf_free(&b);
    }
}

static void the_writer_keeps_commas_and_nesting(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_output *out;
    struct sp_jw w;
    sp_diags_init(&d);
    assert_int_equal(sp_output_memory(&d, &out), SPAA_OK);
    sp_jw_init(&w, out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "s", "a\"b");
    sp_jw_cstr(&w, "none", NULL);
    sp_jw_u64(&w, "u", UINT64_MAX);
    sp_jw_i64(&w, "i", INT64_MIN);
    sp_jw_bool(&w, "t", true);
    sp_jw_open(&w, "l", '[');
    sp_jw_close(&w, ']');
    sp_jw_open(&w, "m", '[');
    sp_jw_open(&w, NULL, '{');
    sp_jw_raw(&w, "raw", "[1]", 3);
    sp_jw_close(&w, '}');
    sp_jw_null(&w, NULL);
    sp_jw_bool(&w, NULL, false);
    sp_jw_close(&w, ']');
    sp_jw_percent(&w, "third", 1, 3);
    sp_jw_percent(&w, "nothing", 1, 0);
    sp_jw_scaled(&w, "scaled", -1250, 3);
    sp_jw_str(&w, "z", "\0", 1);
    sp_jw_cstr(&w, "shown", "\x7F\xC2\x85\u00A0\u061C\u200D\u200F\u202E\u2030\u2066\u206A");
    sp_jw_close(&w, '}');
    size_t n;
    const char *text = sp_output_data(out, &n);
    assert_string_equal(
        text, "{\"s\":\"a\\\"b\",\"none\":null,\"u\":18446744073709551615,\"i\":-9223372036854775808,"
              "\"t\":true,\"l\":[],\"m\":[{\"raw\":[1]},null,false],\"third\":33.33,"
              "\"nothing\":null,\"scaled\":-1.25,\"z\":\"\\u0000\",\"shown\":"
              "\"\\u007f\\u0085\u00A0\\u061c\u200D\\u200f\\u202e\u2030\\u2066\u206A\"}");
    struct sp_json j;
    struct sp_span whole;
    sp_json_init(&j, text, n);
    assert_true(sp_json_skip(&j, &whole) && sp_json_end(&j));
    sp_json_free(&j);
    sp_jw_free(&w);
    sp_output_close(out);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minify_drops_white_space_between_tokens_only),
        cmocka_unit_test(texts_that_need_escapes_are_known),
        cmocka_unit_test(strings_are_written_with_the_fewest_escapes),
        cmocka_unit_test(written_strings_read_back),
        cmocka_unit_test(the_writer_keeps_commas_and_nesting),
    };
    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}

/* Foreign text made safe, measured and cut. */
#include "answer/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

typedef bool text_fn(struct sp_buf *out, const char *p, size_t n);

static void check_bytes(text_fn *fn, const char *p, size_t n, const char *want)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_true(fn(&b, p, n));
    assert_string_equal(sp_buf_cstr(&b), want);
    sp_buf_free(&b);
}

static void check(text_fn *fn, const char *s, const char *want)
{
    check_bytes(fn, s, strlen(s), want);
}

static void check_fit(const char *s, size_t columns, const char *want)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_true(sp_buf_puts(&b, ">"));
    assert_true(sp_text_fit(&b, s, strlen(s), columns));
    assert_string_equal(sp_buf_cstr(&b) + 1, want);
    assert_true(sp_text_width(b.data + 1, b.len - 1) <= columns);
    sp_buf_free(&b);
}

static void ordinary_text_stays(void **state)
{
    (void)state;
    check(sp_text_safe, "", "");
    check(sp_text_safe, "std::map<int, T>::~map() [clone .cold]", "std::map<int, T>::~map() [clone .cold]");
    check(sp_text_safe, "naïve größe 日本語 🔥 \xe2\x80\x8d", "naïve größe 日本語 🔥 \xe2\x80\x8d");
    check(sp_text_safe, "back\\slash", "back\\slash");
}

static void controls_are_spelled_out(void **state)
{
    (void)state;
    check(sp_text_safe, "a\nb\rc\td", "a\\nb\\rc\\td");
    check(sp_text_safe, "\x1b[31mred\x1b[0m\x7f", "\\x1b[31mred\\x1b[0m\\x7f");
    check_bytes(sp_text_safe, "nul\0end", 7, "nul\\x00end");
    check(sp_text_safe,
          "\xc2\x9b"
          "31m",
          "\\u{9b}31m"); /* C1: CSI */
}

static void bidi_and_invisible_characters_are_spelled_out(void **state)
{
    (void)state;
    check(sp_text_safe, "\xe2\x80\xaa\xe2\x80\xae|\xe2\x81\xa6\xe2\x81\xa9",
          "\\u{202a}\\u{202e}|\\u{2066}\\u{2069}");
    check(sp_text_safe, "\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u{200e}\\u{200f}\\u{61c}");
    check(sp_text_safe, "\xe2\x80\x8b\xef\xbb\xbf\xc2\xad", "\\u{200b}\\u{feff}\\u{ad}");
    check(sp_text_safe, "\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}");
    check(sp_text_safe, "\xf3\xa0\x81\x81", "\\u{e0041}");                 /* a tag character */
    check(sp_text_safe, "\xef\xbf\xbe\xef\xbf\xbf", "\\u{fffe}\\u{ffff}"); /* not allowed in XML */
}

static void bytes_that_are_no_utf8_are_spelled_out(void **state)
{
    (void)state;
    check(sp_text_safe, "\xff\x80", "\\xff\\x80");
    check(sp_text_safe, "\xc0\xaf", "\\xc0\\xaf");                   /* overlong */
    check(sp_text_safe, "\xe0\x80\xaf", "\\xe0\\x80\\xaf");          /* overlong */
    check(sp_text_safe, "\xed\xa0\x80", "\\xed\\xa0\\x80");          /* surrogate */
    check(sp_text_safe, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
    check(sp_text_safe, "x\xe2\x82", "x\\xe2\\x82");                 /* cut off */
    check(sp_text_safe, "\xe2\x82z", "\\xe2\\x82z");
}

static void safe_text_is_safe_again(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 200; seed++) {
        char raw[64];
        unsigned x = seed * 2654435761u;
        for (size_t i = 0; i < sizeof raw; i++) {
            x = x * 1664525u + 1013904223u;
            raw[i] = (char)(x >> 24);
        }
        struct sp_buf a, b;
        sp_buf_init(&a, 0);
        sp_buf_init(&b, 0);
        assert_true(sp_text_safe(&a, raw, sizeof raw));
        assert_true(sp_text_safe(&b, a.data, a.len));
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.data, b.data, a.len);
        sp_buf_free(&a);
        sp_buf_free(&b);
    }
}

static void xml_is_escaped(void **state)
{
    (void)state;
    check(sp_xml_text, "", "");
    check(sp_xml_text, "a<b> & \"c\" 'd'", "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    check(sp_xml_text, "]]><script>\x01", "]]&gt;&lt;script&gt;\\x01");
}

static void json_is_escaped(void **state)
{
    (void)state;
    check(sp_json_text, "a\"b\\c", "a\\\"b\\\\c");
    check(sp_json_text, "</script>&\n", "\\u003c/script\\u003e\\u0026\\\\n");
}

static void width_counts_columns(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t width;
    } cases[] = {{"", 0}, {"abc", 3}, {"é", 1}, {"e\xcc\x81", 1}, {"日本", 4}, {"🔥", 2}, {"…", 1}, {"한", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(sp_text_width(cases[i].s, strlen(cases[i].s)), cases[i].width);
}

static void fit_cuts_in_the_middle(void **state)
{
    (void)state;
    check_fit("short", 5, "short");
    check_fit("short", 80, "short");
    check_fit("abcdefghijklmnopqrstuvwxyz", 13, "abcdef…uvwxyz");
    check_fit("abcdefghijklmnopqrstuvwxyz", 12, "abcdef…vwxyz");
    check_fit("日本語日本語日本語", 12, "日本語…本語");
    /* a mark stays with its letter, or goes with it */
    check_fit("aaaaaae\xcc\x81zzzzzze\xcc\x81yyyyy", 13, "aaaaaa…e\xcc\x81yyyyy");
}

/* The ends of long text are all that is looked at, which must not show: the middle may as well be short. */
static void fit_of_long_text_is_that_of_its_ends(void **state)
{
    (void)state;
    static const char *const units[] = {
        "a", "\xe2\x80\xae", "\xf0\x9f\x98\x80", "e\xcc\x81", "\x80", "\xe6\x97\xa5\xff", "\t"};
    enum { SHORTER = 2000, LONGER = 100000 };
    char *text = malloc(LONGER + 16);
    assert_non_null(text);
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        size_t unit = strlen(units[u]);
        for (size_t columns = 1; columns < 300; columns += columns < 40 ? 1 : 37) {
            struct sp_buf fit[2];
            for (unsigned i = 0; i < 2; i++) {
                size_t n = 0, whole = (i ? LONGER : SHORTER) / unit; /* SHORTER is looked at as a whole */
                for (size_t k = 0; k < whole; k++, n += unit)
                    memcpy(text + n, units[u], unit);
                sp_buf_init(&fit[i], 0);
                assert_true(sp_text_fit(&fit[i], text, n, columns));
                assert_true(sp_text_width(sp_buf_text(&fit[i]), fit[i].len) <= columns);
            }
            assert_int_equal(fit[0].len, fit[1].len);
            assert_memory_equal(fit[0].data, fit[1].data, fit[0].len);
            sp_buf_free(&fit[0]);
            sp_buf_free(&fit[1]);
        }
    }
    free(text);
}

static void fit_bounds_marks(void **state)
{
    (void)state;
    enum { MARKS = 1 << 20 };
    char *text = malloc(2 * MARKS + 1);
    assert_non_null(text);
    text[0] = 'e';
    for (size_t i = 0; i < MARKS; i++)
        memcpy(text + 1 + 2 * i, "\xcc\x81", 2);
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_true(sp_text_fit(&b, text, 2 * MARKS + 1, 80));
    assert_true(b.len < 8000 && strstr(sp_buf_cstr(&b), "\xe2\x80\xa6"));
    sp_buf_free(&b);
    free(text);
}

static void fit_cuts_the_end_where_room_is_small(void **state)
{
    (void)state;
    check_fit("parse_request", 8, "parse_r…");
    check_fit("parse_request", 1, "…");
    check_fit("parse_request", 0, "");
    check_fit("日本", 3, "日…");
    check_fit("日本", 2, "…");
    check_fit("a\nb", 3, "a\\…");
}

static void check_grouped(int64_t v, unsigned scale, const char *want)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_true(sp_text_grouped(&b, v, scale));
    assert_string_equal(sp_buf_cstr(&b), want);
    sp_buf_free(&b);
}

static void numbers_are_grouped(void **state)
{
    (void)state;
    check_grouped(0, 0, "0");
    check_grouped(999, 0, "999");
    check_grouped(1000, 0, "1,000");
    check_grouped(-1234567, 0, "-1,234,567");
    check_grouped(-123, 0, "-123");
    check_grouped(123456789, 3, "123,456.789");
    check_grouped(1500, 3, "1.5");
    check_grouped(5, 2, "0.05");
    check_grouped(INT64_MAX, 0, "9,223,372,036,854,775,807");
    check_grouped(INT64_MIN, 0, "-9,223,372,036,854,775,808");
}

static void check_percent(int64_t v, int64_t of, const char *want)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_true(sp_text_percent(&b, v, of));
    assert_string_equal(sp_buf_cstr(&b), want);
    sp_buf_free(&b);
}

static void percentages_are_exact(void **state)
{
    (void)state;
    check_percent(1, 3, "33.33");
    check_percent(2, 3, "66.67");
    check_percent(1, 8, "12.50");
    check_percent(1, 20000, "0.01"); /* half of a hundredth: up */
    check_percent(1, 20001, "0.00");
    check_percent(-1, 3, "-33.33");
    check_percent(-1, 1000000, "0.00");
    check_percent(5, 0, "0.00");
    check_percent(3, 2, "150.00");
    check_percent(INT64_MAX, INT64_MAX, "100.00");
    check_percent(INT64_MAX, 1, "922337203685477580700.00");
}

static void a_full_buffer_is_an_error(void **state)
{
    (void)state;
    struct sp_buf b;
    sp_buf_init(&b, 8);
    assert_false(sp_xml_text(&b, "<<<<<<", 6));
    assert_true(b.failed);
    sp_buf_clear(&b);
    assert_false(sp_text_fit(&b, "0123456789", 10, 5));
    assert_true(b.failed);
    sp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_text_stays),
        cmocka_unit_test(controls_are_spelled_out),
        cmocka_unit_test(bidi_and_invisible_characters_are_spelled_out),
        cmocka_unit_test(bytes_that_are_no_utf8_are_spelled_out),
        cmocka_unit_test(safe_text_is_safe_again),
        cmocka_unit_test(xml_is_escaped),
        cmocka_unit_test(json_is_escaped),
        cmocka_unit_test(width_counts_columns),
        cmocka_unit_test(fit_cuts_in_the_middle),
        cmocka_unit_test(fit_of_long_text_is_that_of_its_ends),
        cmocka_unit_test(fit_bounds_marks),
        cmocka_unit_test(fit_cuts_the_end_where_room_is_small),
        cmocka_unit_test(numbers_are_grouped),
        cmocka_unit_test(percentages_are_exact),
        cmocka_unit_test(a_full_buffer_is_an_error),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}

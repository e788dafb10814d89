/* The JSON cursor against RFC 8259. */
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#if __has_include(<jansson.h>)
#include <jansson.h>
#define HAVE_JANSSON 1
#endif

#define TEXT(s)                                                                                              \
    {                                                                                                        \
        s, sizeof(s) - 1                                                                                     \
    }

/* clang-format off */
static const struct sp_span accepted[] = {
    /* Structure and white space. */
    TEXT("{}"), TEXT("[]"), TEXT("[[]]"), TEXT("[[],[[]]]"), TEXT("{\"\":0}"),
    TEXT("{\"a\":{\"b\":[]},\"c\":[{}]}"), TEXT(" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n"),
    TEXT(" { \"a\" : 1 , \"b\" : [ ] } "), TEXT("{\"a\":1,\"a\":2}"), /* duplicate names are the caller's business */
    /* Any value may stand alone. */
    TEXT("null"), TEXT("true"), TEXT("false"), TEXT("0"), TEXT("\"\""), TEXT(" 1 "),
    /* Numbers. */
    TEXT("-0"), TEXT("0"), TEXT("10"), TEXT("-1"), TEXT("0.0"), TEXT("0e0"), TEXT("0E+0"), TEXT("-0.0e-0"),
    TEXT("1e00"), TEXT("1.5e300"), TEXT("123456789012345678901234567890.123456789e-12345678901234567890"),
    TEXT("[1e1,1E1,1e+1,1e-1]"),
    /* Strings. */
    TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), TEXT("\"\\u0000\""), TEXT("\"\\u0041\\u00e9\\u20AC\\uFFFF\""),
    TEXT("\"\\ud83d\\ude00\""), TEXT("\"\\uD800\\uDC00\\uDBFF\\uDFFF\""), TEXT("\"\\u007f\x7f\""),
    TEXT("\" /'\""), TEXT("\"\xc2\x80\xdf\xbf\""),
    TEXT("\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\""),
    TEXT("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""), TEXT("\"\xef\xbb\xbf\""), TEXT("\"\xe2\x80\xa8\""),
};

static const struct sp_span rejected[] = {
    TEXT(""), TEXT(" "), TEXT("\xef\xbb\xbf{}"), TEXT("{}\0"), TEXT("\0"),
    /* Structure. */
    TEXT("{"), TEXT("["), TEXT("}"), TEXT("]"), TEXT("[}"), TEXT("{]"), TEXT("[1"), TEXT("[1,"),
    TEXT("[1,]"), TEXT("[,1]"), TEXT("[,]"), TEXT("[1,,2]"), TEXT("[1 2]"), TEXT("[]]"), TEXT("[][]"),
    TEXT("{}{}"), TEXT("[1]x"), TEXT("{\"a\"}"), TEXT("{\"a\":}"), TEXT("{\"a\":1,}"), TEXT("{,}"),
    TEXT("{\"a\":1 \"b\":2}"), TEXT("{\"a\":1,,\"b\":2}"), TEXT("{\"a\"::1}"), TEXT("{\"a\",1}"),
    TEXT("{a:1}"), TEXT("{'a':1}"), TEXT("{1:1}"), TEXT("{null:1}"), TEXT("{\"a\":1"), TEXT("{\"a\""),
    TEXT("{\"a\":"), TEXT("{:1}"), TEXT("[1:2]"), TEXT("{\"a\":1}}"), TEXT("[\"a\":1]"), TEXT("{1}"),
    TEXT("{[]}"), TEXT("[/**/1]"), TEXT("[1]//"), TEXT("\f[]"), TEXT("\v[]"), TEXT("[\xc2\xa0]"),
    TEXT("\xe2\x80\xa8[]"),
    /* Words. */
    TEXT("nul"), TEXT("nulL"), TEXT("nullx"), TEXT("True"), TEXT("TRUE"), TEXT("tru"), TEXT("fals"),
    TEXT("falsee"), TEXT("n"), TEXT("[truefalse]"), TEXT("undefined"), TEXT("NaN"), TEXT("Infinity"),
    TEXT("-Infinity"), TEXT("-true"),
    /* Numbers. */
    TEXT("-"), TEXT("+1"), TEXT("01"), TEXT("-01"), TEXT("00"), TEXT("1."), TEXT(".5"), TEXT("-.5"),
    TEXT("1.e5"), TEXT("1e"), TEXT("1e+"), TEXT("1E-"), TEXT("0x10"), TEXT("1e1.5"), TEXT("1_000"),
    TEXT("1 000"), TEXT("--1"), TEXT("1-"), TEXT("1f"), TEXT("0.1.2"), TEXT("[1e]"), TEXT("[-]"),
    TEXT("1\0"), TEXT("\xd9\xa1"),
    /* Strings. */
    TEXT("\""), TEXT("\"a"), TEXT("'a'"), TEXT("\"\\"), TEXT("\"\\\""), TEXT("\"\\x41\""), TEXT("\"\\a\""),
    TEXT("\"\\'\""), TEXT("\"\\0\""), TEXT("\"\\v\""), TEXT("\"\\U0041\""), TEXT("\"\\u\""),
    TEXT("\"\\u1\""), TEXT("\"\\u12\""), TEXT("\"\\u123\""), TEXT("\"\\u12g4\""), TEXT("\"\\u 123\""),
    TEXT("\"\\u+123\""), TEXT("\"\\u0x1\""), TEXT("\"\\u-001\""), TEXT("\"a\nb\""), TEXT("\"a\tb\""),
    TEXT("\"a\0b\""), TEXT("\"\x1f\""), TEXT("\"a\" b"),
    /* Halves of surrogate pairs. */
    TEXT("\"\\ud800\""), TEXT("\"\\udbff\""), TEXT("\"\\udc00\""), TEXT("\"\\udfff\""),
    TEXT("\"\\ud800x\""), TEXT("\"\\ud800\\n\""), TEXT("\"\\ud800\\u0041\""), TEXT("\"\\ud800\\ud800\""),
    TEXT("\"\\udc00\\ud800\""), TEXT("\"\\ud800\\u\""), TEXT("\"\\ud800\\"), TEXT("\"\\ud83d\\ude0\""),
    TEXT("\"\\ud83dude00\""), TEXT("\"\\ud800\\ud800\\udc00\""), TEXT("\"\\ud83d\\uDE0G\""), TEXT("{\"\\ud800\":1}"),
    TEXT("\"\\ud800\xf0\x90\x80\x80\""),
    /* Bytes that are not UTF-8. */
    TEXT("\"\x80\""), TEXT("\"\xbf\""), TEXT("\"\xc0\x80\""), TEXT("\"\xc1\xbf\""), TEXT("\"\xc2\""),
    TEXT("\"\xc2\x41\""), TEXT("\"\xc3\x28\""), TEXT("\"\xe0\x80\x80\""), TEXT("\"\xe0\x9f\xbf\""),
    TEXT("\"\xe2\x82\""), TEXT("\"\xe2\x28\xa1\""), TEXT("\"\xe2\x82\x28\""), TEXT("\"\xed\xa0\x80\""),
    TEXT("\"\xed\xbf\xbf\""), TEXT("\"\xf0\x80\x80\x80\""), TEXT("\"\xf0\x8f\xbf\xbf\""),
    TEXT("\"\xf0\x90\x80\""), TEXT("\"\xf4\x90\x80\x80\""), TEXT("\"\xf5\x80\x80\x80\""),
    TEXT("\"\xf8\x88\x80\x80\x80\""), TEXT("\"\xfe\""), TEXT("\"\xff\""), TEXT("\xff"), TEXT("[\xc2\x80]"),
    TEXT("\"\\u00e9\xe9\""), TEXT("{\"\xff\":1}"),
};
/* clang-format on */

/* Reads everything with the pulling functions; nesting as an explicit stack. */
static bool pulled(struct sp_json *j)
{
    char open[64];
    size_t depth = 0;
    struct sp_span s;
    bool b;
    do {
        switch (sp_json_type(j)) {
        case SP_JSON_OBJECT:
        case SP_JSON_ARRAY:
            if (depth == sizeof open)
                return false;
            open[depth] = sp_json_type(j) == SP_JSON_OBJECT ? '{' : '[';
            if (!(open[depth++] == '{' ? sp_json_object(j) : sp_json_array(j)))
                return false;
            break;
        case SP_JSON_STRING:
            if (!sp_json_string_value(j, &s))
                return false;
            break;
        case SP_JSON_NUMBER:
            if (!sp_json_number(j, &s))
                return false;
            break;
        case SP_JSON_TRUE:
        case SP_JSON_FALSE:
            if (!sp_json_bool(j, &b))
                return false;
            break;
        default:
            if (!sp_json_skip(j, &s))
                return false;
        }
        while (depth && !(open[depth - 1] == '{' ? sp_json_key(j, &s) : sp_json_item(j))) {
            if (j->error)
                return false;
            depth--;
        }
    } while (depth);
    return sp_json_end(j);
}

/* Whether the text is JSON, by both ways of reading, from memory that ends with the text. */
static bool is_json(struct sp_span text)
{
    char *exact = malloc(text.n ? text.n : 1);
    struct sp_json j;
    struct sp_span raw;
    assert_non_null(exact);
    memcpy(exact, text.p, text.n);
    sp_json_init(&j, exact, text.n);
    bool skipped = sp_json_skip(&j, &raw) && sp_json_end(&j);
    assert_int_equal(skipped, j.error == NULL);
    assert_true(j.error_at <= text.n);
    sp_json_reset(&j, exact, text.n);
    bool read = pulled(&j);
    assert_int_equal(read, j.error == NULL);
    assert_int_equal(read, skipped);
    sp_json_free(&j);
    free(exact);
    return read;
}

static void texts_that_rfc_8259_allows_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        if (!is_json(accepted[i]))
            fail_msg("rejected: %.*s", (int)accepted[i].n, accepted[i].p);
}

static void texts_that_rfc_8259_forbids_are_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rejected / sizeof *rejected; i++)
        if (is_json(rejected[i]))
            fail_msg("accepted, number %zu: %.*s", i, (int)rejected[i].n, rejected[i].p);
}

/* Every beginning of a text that is complete only at its end. */
static void cut_off_texts_are_rejected(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"a\\u00e9\":[1,-2.5e+3,true,null,{\"\xc3\xa9\":\"\\ud83d\\ude00\"}],\"b\":false}";
    for (size_t n = 0; n + 1 < sizeof whole; n++)
        assert_false(is_json((struct sp_span){whole, n}));
    assert_true(is_json((struct sp_span){whole, sizeof whole - 1}));
}

/* What a byte behind a backslash, a raw byte, and two raw bytes in a string may be. */
static void every_byte_in_a_string_is_judged(void **state)
{
    (void)state;
    for (int a = 0; a < 256; a++) {
        char escaped[] = {'"', '\\', (char)a, '"'}, raw[] = {'"', (char)a, '"'};
        bool known = a && strchr("\"\\/bfnrt", a);
        assert_int_equal(is_json((struct sp_span){escaped, 4}), known);
        assert_int_equal(is_json((struct sp_span){raw, 3}), a >= 0x20 && a < 0x80 && a != '"' && a != '\\');
        for (int b = 0; a >= 0x80 && b < 256; b++) {
            char two[] = {'"', (char)a, (char)b, '"'};
            assert_int_equal(is_json((struct sp_span){two, 4}),
                             a >= 0xC2 && a <= 0xDF && b >= 0x80 && b <= 0xBF);
        }
        char unicode[16];
        snprintf(unicode, sizeof unicode, "\"\\u00%02x\"", (unsigned)a);
        assert_true(is_json((struct sp_span){unicode, strlen(unicode)}));
    }
}

/* Every code point in its shortest form, and in longer ones; halves of surrogates have none. */
static void every_code_point_is_judged(void **state)
{
    (void)state;
    for (uint32_t c = 0x80; c < 0x140000; c++) {
        char t[4];
        size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        for (size_t form = n; form <= 4; form++) {
            uint32_t rest = c;
            for (size_t i = form; i-- > 1; rest >>= 6)
                t[i] = (char)(0x80 | (rest & 63));
            t[0] = (char)((form == 2 ? 0xC0 : form == 3 ? 0xE0 : 0xF0) | rest);
            bool valid = form == n && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
            if (sp_utf8_at(t, t + form) != (valid ? form : 0))
                fail_msg("U+%04X in %zu bytes", c, form);
            assert_int_equal(sp_utf8_at(t, t + form - 1), 0);
        }
    }
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        for (size_t depth = SP_JSON_DEPTH - 1; depth <= SP_JSON_DEPTH + 1; depth++) {
            struct sp_buf b;
            struct sp_json j;
            struct sp_span raw;
            sp_buf_init(&b, 0);
            for (size_t i = 0; i < depth; i++)
                sp_buf_puts(&b, kind ? "{\"\":" : "[");
            sp_buf_puts(&b, kind ? "0" : "");
            for (size_t i = 0; i < depth; i++)
                sp_buf_ch(&b, kind ? '}' : ']');
            assert_false(b.failed);
            sp_json_init(&j, b.data, b.len);
            assert_int_equal(sp_json_skip(&j, &raw) && sp_json_end(&j), depth <= SP_JSON_DEPTH);
            if (depth > SP_JSON_DEPTH)
                assert_string_equal(j.error, SP_JSON_TOO_DEEP);
            sp_json_free(&j);
            sp_buf_free(&b);
        }
    }
}

static void check_string(struct sp_span text, struct sp_span want)
{
    struct sp_json j;
    struct sp_span got;
    sp_json_init(&j, text.p, text.n);
    assert_true(sp_json_string_value(&j, &got));
    assert_true(sp_json_end(&j));
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
    sp_json_free(&j);
}

static void strings_are_decoded(void **state)
{
    (void)state;
    static const struct {
        struct sp_span text, want;
    } cases[] = {
        {TEXT("\"\""), TEXT("")},
        {TEXT("\"plain\""), TEXT("plain")},
        {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), TEXT("\"\\/\b\f\n\r\t")},
        {TEXT("\"a\\nb\\nc\""), TEXT("a\nb\nc")},
        {TEXT("\"\\u0000\""), TEXT("\0")},
        {TEXT("\"\\u0041\\u005A\\u007f\""), TEXT("AZ\x7f")},
        {TEXT("\"\\u0080\\u07ff\""), TEXT("\xc2\x80\xdf\xbf")},
        {TEXT("\"\\u0800\\ud7ff\\ue000\\uffff\""), TEXT("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf")},
        {TEXT("\"\\ud800\\udc00\\uDBFF\\uDFFF\""), TEXT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")},
        {TEXT("\"\xc3\xa9\\n\xf0\x9f\x98\x80\""), TEXT("\xc3\xa9\n\xf0\x9f\x98\x80")},
        {TEXT("\"x\\ud83d\\ude00y\""), TEXT("x\xf0\x9f\x98\x80y")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_string(cases[i].text, cases[i].want);
}

/* A string without escapes is lent from the text; one with escapes lasts until the next that has any. */
static void strings_are_lent(void **state)
{
    (void)state;
    static const char text[] = "[\"\\u0041\",\"plain\",\"\\u0042\"]";
    struct sp_json j;
    struct sp_span a = {0}, plain = {0}, b = {0};
    sp_json_init(&j, text, sizeof text - 1);
    assert_true(sp_json_array(&j) && sp_json_item(&j) && sp_json_string_value(&j, &a));
    assert_true(sp_json_item(&j) && sp_json_string_value(&j, &plain));
    assert_true(sp_span_is(a, "A"));
    assert_true(plain.p > text && plain.p < text + sizeof text);
    assert_true(sp_json_item(&j) && sp_json_string_value(&j, &b));
    assert_true(sp_span_is(b, "B"));
    assert_false(sp_json_item(&j));
    assert_true(sp_json_end(&j));
    sp_json_free(&j);
}

static void numbers_keep_their_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "-0", "1.50", "1e400", "18446744073709551616", "0.1e-7", "9007199254740993"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sp_json j;
        struct sp_span s;
        sp_json_init(&j, texts[i], strlen(texts[i]));
        assert_true(sp_json_number(&j, &s) && sp_json_end(&j));
        assert_true(sp_span_is(s, texts[i]));
        sp_json_free(&j);
    }
    /* A million digits are a number like any other. */
    size_t n = 1000000;
    char *long_one = malloc(n);
    assert_non_null(long_one);
    memset(long_one, '9', n);
    struct sp_json j;
    struct sp_span s = {0};
    sp_json_init(&j, long_one, n);
    assert_true(sp_json_number(&j, &s) && s.n == n);
    sp_json_free(&j);
    free(long_one);
}

static void whole_numbers_are_exact_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        uint64_t want;
    } cases[] = {
        {"0", true, 0},
        {"9007199254740993", true, 9007199254740993u},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999", false, 0},
        {"-1", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"1\"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_json j;
        uint64_t v = 7;
        sp_json_init(&j, cases[i].text, strlen(cases[i].text));
        assert_int_equal(sp_json_u64(&j, &v), cases[i].ok);
        if (cases[i].ok)
            assert_true(v == cases[i].want);
        else
            assert_non_null(j.error);
        sp_json_free(&j);
    }
}

static void after_an_error_every_call_fails(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":x,\"b\":1}";
    struct sp_json j;
    struct sp_span s;
    uint64_t v;
    bool b;
    sp_json_init(&j, text, sizeof text - 1);
    assert_true(sp_json_object(&j) && sp_json_key(&j, &s));
    assert_false(sp_json_skip(&j, &s));
    assert_int_equal(j.error_at, 5);
    const char *why = j.error;
    assert_false(sp_json_key(&j, &s));
    assert_false(sp_json_item(&j));
    assert_false(sp_json_object(&j));
    assert_false(sp_json_array(&j));
    assert_false(sp_json_string_value(&j, &s));
    assert_false(sp_json_number(&j, &s));
    assert_false(sp_json_u64(&j, &v));
    assert_false(sp_json_bool(&j, &b));
    assert_false(sp_json_skip(&j, &s));
    assert_false(sp_json_end(&j));
    assert_int_equal(sp_json_type(&j), SP_JSON_NOTHING);
    assert_ptr_equal(j.error, why);
    assert_int_equal(j.error_at, 5);
    sp_json_free(&j);
}

static void errors_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {
        {"[1,2", 4},     {"{\"a\" 1}", 5}, {"[1,]", 3},      {"{} {}", 3},
        {"\"a\nb\"", 2}, {"[\"\\q\"]", 3}, {"\"a\xff\"", 2}, {"[1 2]", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sp_json j;
        struct sp_span s;
        sp_json_init(&j, cases[i].text, strlen(cases[i].text));
        assert_false(sp_json_skip(&j, &s) && sp_json_end(&j));
        assert_int_equal(j.error_at, cases[i].at);
        sp_json_free(&j);
    }
}

static void skipping_gives_the_raw_text(void **state)
{
    (void)state;
    static const char text[] = " { \"a\" : [ 1 , { \"b\" : \"]}\" } ] } ";
    struct sp_json j;
    struct sp_span raw;
    sp_json_init(&j, text, sizeof text - 1);
    assert_true(sp_json_skip(&j, &raw) && sp_json_end(&j));
    assert_ptr_equal(raw.p, text + 1);
    assert_int_equal(raw.n, sizeof text - 3);
    sp_json_free(&j);
}

static void utf_8_is_told_apart(void **state)
{
    (void)state;
    /* Every lead byte with every second byte, the rest being fine. */
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            char t[4] = {(char)a, (char)b, (char)0x80, (char)0x80};
            bool cont = b >= 0x80 && b <= 0xBF;
            size_t want = a < 0x80                                      ? 1
                          : a >= 0xC2 && a <= 0xDF && cont              ? 2
                          : a == 0xE0 && b >= 0xA0 && cont              ? 3
                          : a == 0xED && b <= 0x9F && cont              ? 3
                          : a >= 0xE1 && a <= 0xEF && a != 0xED && cont ? 3
                          : a == 0xF0 && b >= 0x90 && cont              ? 4
                          : a >= 0xF1 && a <= 0xF3 && cont              ? 4
                          : a == 0xF4 && b <= 0x8F && cont              ? 4
                                                                        : 0;
            assert_int_equal(sp_utf8_at(t, t + 4), want);
            for (size_t cut = 0; cut < want; cut++)
                assert_int_equal(sp_utf8_at(t, t + cut), 0);
        }
    }
    assert_int_equal(sp_utf8_prefix("a\xc3\xa9\xe2\x82", 5), 3);
    assert_int_equal(sp_utf8_prefix("", 0), 0);
}

#ifdef HAVE_JANSSON
/* Another parser is of the same opinion about damaged texts. It has no room for huge numbers. */
static void another_library_agrees(void **state)
{
    (void)state;
    static const char base[] =
        "{\"a\":[1,-2.5e+3,true,null,false,{\"\xc3\xa9\":\"\\ud83d\\ude00 \\n\"}],\"b\":{}, \"c\":\"x\"}";
    static const char palette[] =
        "{}[]\",:\\/u0123456789eE+-.truefalsn \t\n\xc3\xa9\xf0\x9f\xed\xa0\x80\xff\x1f";
    uint64_t x = 0x9E3779B97F4A7C15u;
    for (int round = 0; round < 30000; round++) {
        char t[sizeof base + 4];
        size_t n = sizeof base - 1;
        memcpy(t, base, n);
        for (int k = round % 3; k >= 0; k--) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            size_t at = (size_t)(x >> 33) % n;
            char c = palette[(x >> 8) % (sizeof palette - 1)];
            if (x % 3 == 0) {
                t[at] = c;
            } else if (x % 3 == 1) {
                memmove(t + at, t + at + 1, n - at - 1);
                n--;
            } else if (n < sizeof t) {
                memmove(t + at + 1, t + at, n - at);
                t[at] = c;
                n++;
            }
        }
        json_error_t e;
        json_t *theirs = json_loadb(t, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
        bool ours = is_json((struct sp_span){t, n});
        bool number = !theirs && strstr(e.text, "overflow");
        if (!number && ours != (theirs != NULL))
            fail_msg("%.*s: here %d, there %s", (int)n, t, ours, theirs ? "fine" : e.text);
        json_decref(theirs);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_rfc_8259_allows_are_accepted),
        cmocka_unit_test(texts_that_rfc_8259_forbids_are_rejected),
        cmocka_unit_test(cut_off_texts_are_rejected),
        cmocka_unit_test(every_byte_in_a_string_is_judged),
        cmocka_unit_test(every_code_point_is_judged),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(strings_are_lent),
        cmocka_unit_test(numbers_keep_their_text),
        cmocka_unit_test(whole_numbers_are_exact_or_refused),
        cmocka_unit_test(after_an_error_every_call_fails),
        cmocka_unit_test(errors_say_where),
        cmocka_unit_test(skipping_gives_the_raw_text),
        cmocka_unit_test(utf_8_is_told_apart),
#ifdef HAVE_JANSSON
        cmocka_unit_test(another_library_agrees),
#endif
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}

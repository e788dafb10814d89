/* Single members of JSON texts: json/find.h. */
#include "json/find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct sp_span text(const char *s)
{
    return (struct sp_span){s, strlen(s)};
}

static void finds_members_of_objects_and_of_bare_members(void **state)
{
    static const char *const texts[] = {"{\"a\":1,\"b\":{\"c\":[2,\"]\"]},\"d\":true}",
                                        "\"a\":1,\"b\":{\"c\":[2,\"]\"]},\"d\":true"};
    struct sp_span raw;
    int64_t v;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_true(sp_json_find_i64(text(texts[i]), "a", &v) && v == 1);
        assert_true(sp_json_find2(text(texts[i]), "b", "c", &raw) && sp_span_is(raw, "[2,\"]\"]"));
        assert_true(sp_json_find_true(text(texts[i]), "d"));
        assert_false(sp_json_find_true(text(texts[i]), "a"));
        raw = text("before");
        assert_false(sp_json_find(text(texts[i]), "c", &raw));
        assert_true(sp_span_is(raw, "before"));
        assert_false(sp_json_find2(text(texts[i]), "a", "c", &raw));
    }
}

static void damaged_texts_end_the_search(void **state)
{
    struct sp_span raw;
    (void)state;
    assert_false(sp_json_find(text(""), "a", &raw));
    assert_false(sp_json_find(text("{\"b\":,\"a\":1}"), "a", &raw));
    assert_false(sp_json_find(text("nonsense"), "a", &raw));
    assert_true(sp_json_find(text("\"a\":1"), "a", &raw));
}

static void walks_arrays(void **state)
{
    struct sp_span rest = text("[1, \"x,]\" ,[2],{\"a\":3}]"), item;
    static const char *const items[] = {"1", "\"x,]\"", "[2]", "{\"a\":3}"};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_true(sp_json_next(&rest, &item) && sp_span_is(item, items[i]));
    assert_false(sp_json_next(&rest, &item));
    assert_false(sp_json_next(&rest, &item));
    rest = text("[]");
    assert_false(sp_json_next(&rest, &item));
    rest = text("[1,,2]");
    assert_true(sp_json_next(&rest, &item));
    assert_false(sp_json_next(&rest, &item));
    rest = (struct sp_span){NULL, 0};
    assert_false(sp_json_next(&rest, &item));
}

static void decodes_strings(void **state)
{
    struct sp_buf b;
    (void)state;
    sp_buf_init(&b, 0);
    assert_true(sp_json_text_to(&b, text("\"a\\n\\u00e4\"")));
    assert_string_equal(sp_buf_cstr(&b), "a\n\xc3\xa4");
    assert_false(sp_json_text_to(&b, text("12")));
    sp_buf_free(&b);
}

static void finds_several_members_in_one_walk(void **state)
{
    struct sp_json_member m[] = {{"b", {0}}, {"none", {0}}, {"a", {0}}};
    struct sp_json j;
    (void)state;
    sp_json_init(&j, "{\"a\": 1,\"c\":[2],\"b\":{\"a\":3},\"a\":4} ", 35);
    assert_true(sp_json_members(&j, m, 3) && sp_json_end(&j));
    assert_true(sp_span_is(m[0].raw, "{\"a\":3}") && !m[1].raw.n && sp_span_is(m[2].raw, "1"));
    sp_json_free(&j);
    m[0].raw.n = m[2].raw.n = 0;
    sp_json_init(&j, "{\"a\":1,\"b\":[2,3", 15);
    assert_false(sp_json_members(&j, m, 3));
    assert_true(sp_span_is(m[0].raw, "[2,3") &&
                sp_span_is(m[2].raw, "1")); /* what is cut off reaches to the end */
    sp_json_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_members_of_objects_and_of_bare_members),
        cmocka_unit_test(damaged_texts_end_the_search),
        cmocka_unit_test(finds_several_members_in_one_walk),
        cmocka_unit_test(walks_arrays),
        cmocka_unit_test(decodes_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

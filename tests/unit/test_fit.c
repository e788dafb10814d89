/* Lines of words and commands that fit, and tables that are cut so that rows still differ. */
#include "render/table.h"
#include "render/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(enum sp_wrap_kind kind, size_t before, size_t columns, const char *text,
                  const char *expected)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    assert_true(sp_text_wrap(&b, kind, text, strlen(text), before, columns));
    assert_string_equal(sp_buf_cstr(&b), expected);
    sp_buf_free(&b);
}

static void test_words(void **state)
{
    (void)state;
    check(SP_WRAP_WORDS, 0, 0, "one two three", "one two three");
    check(SP_WRAP_WORDS, 0, 13, "one two three", "one two three");
    check(SP_WRAP_WORDS, 0, 12, "one two three", "one two\n  three");
    check(SP_WRAP_WORDS, 0, 12, "  one two three", "  one two\n    three");
    check(SP_WRAP_WORDS, 0, 20, "label  one two three four", "label  one two three\n       four");
    check(SP_WRAP_WORDS, 6, 14, "one two three", "one two\n      three");
    check(SP_WRAP_WORDS, 0, 12, "", "");
    check(SP_WRAP_WORDS, 0, 12, "名前 関数 名前", "名前 関数\n  名前");
    check(SP_WRAP_WORDS, 0, 14, "a 0123456789abcdefgh b", "a\n  012345…defgh\n  b");
}

static void test_commands_stay_commands(void **state)
{
    (void)state;
    check(SP_WRAP_COMMAND, 0, 20, "  spaa top a.folded --by dso",
          "  spaa top \\\n      a.folded \\\n      --by dso");
    check(SP_WRAP_COMMAND, 0, 20, "spaa top 'a b c d e f g h' -n 3",
          "spaa top \\\n    'a b c d e f g h' \\\n    -n 3");
}

static void table(const struct sp_table_column *columns, size_t n, const char *const *cells, size_t ncells,
                  unsigned width, const char *expected)
{
    struct sp_diags d;
    struct sp_output *out;
    struct sp_table t;
    size_t len;
    sp_diags_init(&d);
    sp_table_init(&t, columns, n);
    for (size_t i = 0; i < ncells; i++) {
        sp_table_cell(&t, "", 0);
        for (const char *p = cells[i], *end; p; p = *end ? end + 1 : NULL) {
            end = p + strcspn(p, "|");
            sp_table_item(&t, p, (size_t)(end - p));
        }
    }
    assert_int_equal(sp_output_memory(&d, &out), SPAA_OK);
    assert_int_equal(sp_table_write(&t, SP_TABLE_TEXT, width, out), SPAA_OK);
    const char *p = sp_output_data(out, &len);
    char *shown = calloc(len + 1, 1);
    memcpy(shown, p, len);
    assert_string_equal(shown, expected);
    free(shown);
    sp_output_close(out);
    sp_table_free(&t);
    sp_diags_free(&d);
}

static void test_names_are_cut_where_they_differ(void **state)
{
    (void)state;
    static const struct sp_table_column columns[] = {{"name", false, SP_CUT_FIRST}};
    static const char *const cells[] = {"aaaaaaaaaaaaaaaaaaaaaaa1bbbbbbbbbbbbbbbbbbbbbbb",
                                        "aaaaaaaaaaaaaaaaaaaaaaa2bbbbbbbbbbbbbbbbbbbbbbb",
                                        "aaaaaaaaaaaaaaaaaaaaaaa2bbbbbbbbbbbbbbbbbbbbbbb", "short"};
    table(columns, 1, cells, 4, 20,
          "name\n"
          "aaaaa…aaa1bbbbbbbbb…\n"
          "aaaaa…aaa2bbbbbbbbb…\n"
          "aaaaa…aaa2bbbbbbbbb…\n"
          "short\n");
    static const char *const repeats[] = {"abababababababababababababab", "ababababababababababababab"};
    table(columns, 1, repeats, 2, 18, "name\naba…ababababab (2)\nabab…babababababab\n");
}

static void test_lists_are_cut_to_whole_items(void **state)
{
    (void)state;
    static const struct sp_table_column columns[] = {{"hot", false, SP_CUT_ITEMS}};
    static const char *const cells[] = {"parse 50.00%,|read 20.00%,|write 10.00%", "f 1.00%"};
    table(columns, 1, cells, 2, 40, "hot\nparse 50.00%, read 20.00%, write 10.00%\nf 1.00%\n");
    table(columns, 1, cells, 2, 38, "hot\nparse 50.00%, read 20.00%, +1\nf 1.00%\n");
    table(columns, 1, cells, 2, 28, "hot\nparse 50.00%, +2\nf 1.00%\n");
}

static void test_columns_that_can_be_spared_go_before_names_get_short(void **state)
{
    (void)state;
    static const struct sp_table_column columns[] = {
        {"n", true, SP_CUT_NEVER}, {"spare", true, SP_CUT_OUT}, {"name", false, SP_CUT_FIRST}};
    static const char *const cells[] = {"1", "12345678", "a_function_with_a_long_name_indeed"};
    table(columns, 3, cells, 3, 45, "n     spare  name\n1  12345678  a_function_with_…ong_name_indeed\n");
    table(columns, 3, cells, 3, 40, "n  name\n1  a_function_with_a_long_name_indeed\n");
}

/* Two rows at a time, measured first. */
static void test_rows_that_fit_are_written_some_at_a_time(void **state)
{
    (void)state;
    static const struct sp_table_column columns[] = {{"n", true, SP_CUT_NEVER},
                                                     {"name", false, SP_CUT_FIRST}};
    static const char *const cells[] = {"1", "a_name_of_20_columns", "22", "b", "333", "c", "4", "d"};
    struct sp_diags d;
    struct sp_output *out;
    struct sp_table t;
    size_t len;
    sp_diags_init(&d);
    sp_table_init(&t, columns, 2);
    assert_int_equal(sp_output_memory(&d, &out), SPAA_OK);
    for (int writes = 0; writes < 2; writes++) {
        for (size_t i = 0; i < 8; i++) {
            sp_table_cell(&t, cells[i], strlen(cells[i]));
            if (i % 4 < 3)
                continue;
            if (writes) {
                assert_int_equal(sp_table_write(&t, SP_TABLE_TEXT, 25, out), SPAA_OK);
                sp_table_next(&t);
            } else {
                assert_true(sp_table_measure(&t));
                sp_table_clear(&t);
            }
        }
        assert_false(sp_table_fits(&t, 24));
        assert_false(t.failed);
        assert_true(sp_table_fits(&t, 25));
    }
    const char *p = sp_output_data(out, &len);
    static const char expected[] = "  n  name\n  1  a_name_of_20_columns\n 22  b\n333  c\n  4  d\n";
    assert_int_equal(len, sizeof expected - 1);
    assert_memory_equal(p, expected, len);
    sp_output_close(out);
    sp_table_free(&t);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_commands_stay_commands),
        cmocka_unit_test(test_names_are_cut_where_they_differ),
        cmocka_unit_test(test_lists_are_cut_to_whole_items),
        cmocka_unit_test(test_rows_that_fit_are_written_some_at_a_time),
        cmocka_unit_test(test_columns_that_can_be_spared_go_before_names_get_short)};
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}

/* The three forms of a table. */
#include "render/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct sp_table_column columns[] = {
    {"n", true, SP_CUT_NEVER}, {"name", false, SP_CUT_FIRST}, {"dso", false, SP_CUT_NEVER}};

/* Writes rows of three cells in a form, and compares. */
static void check(const char *const *cells, size_t n, enum sp_table_form form, unsigned width,
                  const char *expected)
{
    struct sp_diags d;
    struct sp_output *out;
    struct sp_table t;
    const char *p;
    size_t len;
    sp_diags_init(&d);
    sp_table_init(&t, columns, 3);
    for (size_t i = 0; i < n; i++)
        sp_table_cell(&t, cells[i], strlen(cells[i]));
    assert_int_equal(sp_output_memory(&d, &out), SPAA_OK);
    assert_int_equal(sp_table_write(&t, form, width, out), SPAA_OK);
    p = sp_output_data(out, &len);
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(p, expected, len);
    sp_output_close(out);
    sp_table_free(&t);
    sp_diags_free(&d);
}

static void test_text_aligns_by_what_shows(void **state)
{
    (void)state;
    static const char *const cells[] = {"1", "main", "a", "1,000", "関数", "b"};
    check(cells, 6, SP_TABLE_TEXT, 0, "    n  name  dso\n    1  main  a\n1,000  関数  b\n");
    check(NULL, 0, SP_TABLE_TEXT, 0, "n  name  dso\n");
}

static void test_only_the_flexible_column_is_cut(void **state)
{
    (void)state;
    static const char *const cells[] = {"1", "abcdefghijklmnopqrstuvwxyz", "/lib"};
    check(cells, 3, SP_TABLE_TEXT, 25, "n  name              dso\n1  abcdefgh…tuvwxyz  /lib\n");
    check(cells, 3, SP_TABLE_TEXT, 100,
          "n  name                        dso\n1  abcdefghijklmnopqrstuvwxyz  /lib\n");
}

static void test_csv_quotes_and_defuses_formulas(void **state)
{
    (void)state;
    static const char *const cells[] = {"-1", "a,\"b\"", "=cmd", "2", "-x", "a\nb\x1b"};
    check(cells, 6, SP_TABLE_CSV, 10, "n,name,dso\n-1,\"a,\"\"b\"\"\",\"'=cmd\"\n2,\"'-x\",a\\nb\\x1b\n");
}

static void test_markdown_shows_names_as_they_are(void **state)
{
    (void)state;
    static const char *const cells[] = {"1", "a|b<c>", "d_e"};
    check(cells, 3, SP_TABLE_MARKDOWN, 10,
          "| n | name | dso |\n|---:|---|---|\n| 1 | a\\|b\\<c\\> | d\\_e |\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_aligns_by_what_shows),
        cmocka_unit_test(test_only_the_flexible_column_is_cut),
        cmocka_unit_test(test_csv_quotes_and_defuses_formulas),
        cmocka_unit_test(test_markdown_shows_names_as_they_are),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}

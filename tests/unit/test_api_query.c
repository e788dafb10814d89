/* SQL through the public interface. */
#include "spaa/spaa.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char folded[] = "main;parse;read 30\nmain;parse 10\nmain;render;draw;draw 60\n";

static struct spaa_profile *opened(void)
{
    struct spaa_profile *p = NULL;
    assert_int_equal(spaa_profile_open_memory(folded, strlen(folded), "q", NULL, &p, NULL), SPAA_OK);
    return p;
}

static struct spaa_result_column column(const struct spaa_result *r, size_t i)
{
    struct spaa_result_column c = {.size = sizeof c};
    assert_int_equal(spaa_result_column_get(r, i, &c), SPAA_OK);
    return c;
}

static void rows_are_columns_and_outlive_the_profile(void **state)
{
    (void)state;
    struct spaa_profile *p = opened();
    struct spaa_query_param min = {"min", "1"};
    struct spaa_query_options o = {
        .size = sizeof o,
        .sql = "select name, self, self / 8.0 as part, null as none, x'00ff' as bytes from functions "
               "where self >= :min order by self desc",
        .params = &min,
        .param_count = 1};
    struct spaa_result *r = NULL;
    assert_int_equal(spaa_query(p, &o, &r, NULL), SPAA_OK);
    spaa_profile_free(p);
    assert_true(spaa_result_rows(r) == 3 && spaa_result_columns(r) == 5 && !spaa_result_more(r));
    struct spaa_result_column name = column(r, 0), self = column(r, 1), part = column(r, 2),
                              none = column(r, 3), bytes = column(r, 4);
    assert_string_equal(name.name, "name");
    assert_string_equal(name.texts[0], "draw");
    assert_true(name.text_sizes[0] == 4 && name.integers[0] == SPAA_ABSENT && isnan(name.reals[0]));
    assert_true(self.kinds[0] == SPAA_VALUE_INTEGER && self.integers[0] == 60 && self.integers[2] == 10);
    assert_true(part.kinds[0] == SPAA_VALUE_REAL && part.reals[0] == 7.5 && !part.texts[0]);
    assert_true(none.kinds[1] == SPAA_VALUE_NULL && isnan(none.reals[1]));
    assert_true(bytes.kinds[0] == SPAA_VALUE_BLOB && bytes.text_sizes[0] == 2 && bytes.texts[0][1] == '\xff');
    struct spaa_result_column no = {.size = sizeof no};
    assert_int_equal(spaa_result_column_get(r, 5, &no), SPAA_ERR_NOT_FOUND);
    spaa_result_free(r);
}

static void limits_hold(void **state)
{
    (void)state;
    struct spaa_profile *p = opened();
    struct spaa_query_options o = {.size = sizeof o, .sql = "select name from functions", .limit = 2};
    struct spaa_result *r = NULL;
    assert_int_equal(spaa_query(p, &o, &r, NULL), SPAA_OK);
    assert_true(spaa_result_rows(r) == 2 && spaa_result_more(r));
    spaa_result_free(r);
    r = NULL;
    o.sql = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    o.timeout_s = 1;
    assert_int_equal(spaa_query(p, &o, &r, NULL), SPAA_ERR_LIMIT);
    assert_null(r);
    spaa_profile_free(p);
}

static void slips_are_told(void **state)
{
    (void)state;
    struct spaa_profile *p = opened();
    static const char *const wrong[] = {NULL,
                                        "",
                                        "selekt 1",
                                        "select nothing from functions",
                                        "select :x",
                                        "delete from functions",
                                        "select 1; select 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct spaa_query_options o = {.size = sizeof o, .sql = wrong[i]};
        struct spaa_result *r = NULL;
        struct spaa_diagnostics *said = NULL;
        assert_int_equal(spaa_query(p, &o, &r, &said), SPAA_ERR_USAGE);
        assert_null(r);
        assert_true(spaa_diagnostics_count(said) > 0);
        spaa_diagnostics_free(said);
    }
    spaa_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_columns_and_outlive_the_profile),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(slips_are_told),
    };
    return cmocka_run_group_tests_name("api_query", tests, NULL, NULL);
}

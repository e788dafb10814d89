/* Exact decimals: sums and comparisons of numbers of any length. */
#include "base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void adds(const char *a, const char *b, const char *expected)
{
    char out[SP_DECIMAL_DIGITS + 4];
    for (int turn = 0; turn < 2; turn++) {
        size_t n = turn ? sp_decimal_add(b, strlen(b), a, strlen(a), out)
                        : sp_decimal_add(a, strlen(a), b, strlen(b), out);
        assert_int_equal(n, strlen(expected));
        assert_memory_equal(out, expected, n);
    }
}

static void test_sums_are_exact(void **state)
{
    (void)state;
    adds("0", "-0", "0");
    adds("1", "2", "3");
    adds("0.1", "0.20", "0.3");
    adds("9223372036854775807", "1", "9223372036854775808");
    adds("99999999999999999999999999", "0.000000000000000000000001",
         "99999999999999999999999999.000000000000000000000001");
    adds("1e3", "-1.5E+2", "850");
    adds("5", "-5.0", "0");
    adds("-0.5", "0.25", "-0.25");
    adds("1000", "-0.001", "999.999");
    adds("-7", "-8", "-15");
    adds("0e500", "12", "12");
    char tiny[302];
    memset(tiny, '0', sizeof tiny);
    tiny[1] = '.';
    tiny[300] = '2';
    tiny[301] = '\0';
    adds("1e-299", "1e-299", tiny);
}

static void refused(const char *a, const char *b)
{
    char out[SP_DECIMAL_DIGITS + 4];
    assert_int_equal(sp_decimal_add(a, strlen(a), b, strlen(b), out), 0);
}

static void test_what_is_no_number_or_too_long_is_refused(void **state)
{
    (void)state;
    static char digits[SP_DECIMAL_DIGITS + 2];
    memset(digits, '9', SP_DECIMAL_DIGITS + 1);
    refused("", "1");
    refused("1x", "1");
    refused("1e", "1");
    refused(".", "1");
    refused("1e99999999999999999999", "1");
    refused("1e-5000", "1");
    refused("1e5000", "1");
    refused(digits, "1");
    digits[SP_DECIMAL_DIGITS] = '\0'; /* the carry does not fit */
    refused(digits, "1");
    digits[SP_DECIMAL_DIGITS - 1] = '\0';
    char out[SP_DECIMAL_DIGITS + 4];
    assert_int_equal(sp_decimal_add(digits, strlen(digits), "1", 1, out), SP_DECIMAL_DIGITS);
    assert_int_equal(out[0], '1');
}

static void test_order_is_by_value(void **state)
{
    (void)state;
    static const char *const rising[] = {
        "-1e400", "-10", "-9.99", "-0.5", "0",    "1e-400", "0.10000000000000000001",
        "0.2",    "1",   "9",     "10",   "10.5", "1e2",    "1e400"};
    size_t n = sizeof rising / sizeof *rising;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            bool ok = true;
            int c = sp_decimal_cmp(rising[i], strlen(rising[i]), rising[k], strlen(rising[k]), &ok);
            assert_true(ok);
            assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
        }
    }
    bool ok = true;
    assert_int_equal(sp_decimal_cmp("1.50", 4, "15e-1", 5, &ok), 0);
    assert_int_equal(sp_decimal_cmp("-0", 2, "0.0", 3, &ok), 0);
    assert_true(ok);
    sp_decimal_cmp("?", 1, "1", 1, &ok);
    assert_false(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_what_is_no_number_or_too_long_is_refused),
        cmocka_unit_test(test_order_is_by_value),
    };
    return cmocka_run_group_tests_name("decimal", tests, NULL, NULL);
}

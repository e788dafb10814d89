/* The statistics of comparisons against values known elsewhere, and names made comparable. */
#include "analysis/normalise.h"
#include "analysis/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

static void near(double x, double expected, double tolerance)
{
    if (!(fabs(x - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%.15g is not %.15g", x, expected);
}

static void distributions_match_tables(void **state)
{
    (void)state;
    near(sp_normal_tail(1.959963984540054), 0.025, 1e-14);
    near(sp_normal_tail(-1), 0.841344746068543, 1e-14);
    near(sp_normal_quantile(0.975), SP_Z95, 1e-14);
    near(sp_normal_quantile(0.8), SP_Z80, 1e-14);
    near(sp_normal_quantile(1e-9), -5.99780701500768, 1e-12);
    /* Student's t: df 1 and 2 have closed forms, the others are from published tables. */
    near(sp_t_tail(1, 1), 0.25, 1e-14);
    near(sp_t_tail(3, 2), 0.5 * (1 - 3 / sqrt(11)), 1e-14);
    near(sp_t_tail(-2, 5), 1 - sp_t_tail(2, 5), 1e-14);
    near(sp_t_quantile(0.975, 1), 12.706204736174698, 1e-12);
    near(sp_t_quantile(0.975, 4), 2.7764451051977987, 1e-12);
    near(sp_t_quantile(0.95, 10), 1.8124611228107335, 1e-12);
    near(sp_t_quantile(0.975, 120), 1.9799304050824413, 1e-12);
    near(sp_t_quantile(0.975, 1e9), SP_Z95, 1e-8);
    assert_true(isnan(sp_t_tail(1, 0)) && isnan(sp_t_tail(NAN, 3)));
    assert_true(isinf(sp_t_quantile(1, 3)) && sp_t_quantile(0.5, 3) == 0);
    for (double df = 0.7; df < 1e6; df *= 3.1)
        for (double p = 0.51; p < 0.99999; p += 0.0713)
            near(1 - sp_t_tail(sp_t_quantile(p, df), df), p, 1e-9);
    near(sp_beta_inc(2, 3, 0.4), 0.5248, 1e-14);
    assert_true(sp_beta_inc(2, 3, 0) == 0 && sp_beta_inc(2, 3, 1) == 1);
}

static void shares_and_rates(void **state)
{
    (void)state;
    double lo, hi;
    near(sp_share_z(100, 1000, 150, 1000), 3.3806170189140663, 1e-12);
    near(sp_share_p(100, 1000, 100, 1000), 1, 1e-12);
    /* Newcombe 1998, method 10: 56/70 against 48/80 gives 0.0524 to 0.3339. */
    sp_newcombe(48.0 / 80, 80, 56.0 / 70, 70, SP_Z95, &lo, &hi);
    near(lo, 0.0524, 5e-5);
    near(hi, 0.3339, 5e-5);
    sp_newcombe(0, 10, 0, 20, SP_Z95, &lo, &hi); /* 0/10 against 0/20: -0.2775 to 0.1611 */
    near(lo, -0.2775, 5e-5);
    near(hi, 0.1611, 5e-5);
    near(sp_fisher_p(3, 4, 1, 4), 0.4857142857142857, 1e-12); /* the lady tasting tea */
    near(sp_fisher_p(0, 10, 10, 10), 2 / 184756.0, 1e-12);
    near(sp_fisher_p(5, 100, 5, 100), 1, 1e-12);
    near(sp_fisher_p(0, 100, 0, 100), 1, 1e-12);
    assert_true(sp_fisher_p(0, 1000000, 400000, 1000000) == 0);
    near(sp_fisher_p(7, 1000000, 22, 1000000), 0.00813, 1e-2); /* as good as 7 of 29 tosses of a coin */
    assert_true(sp_fisher_p(3, 400000000, 20000000, 500000000) < 1e-300); /* at once, too */
    near(sp_rate_p(60000, 1, 60800, 1), sp_rate_p(60000, 2, 60800, 2), 1e-12);
    assert_true(isnan(sp_fisher_p(2, 1, 0, 1)));
    near(sp_rate_p(0, 1, 5, 1), 2.0 / 32, 1e-12);
    near(sp_rate_p(10, 2, 5, 1), 1, 1e-12);
    near(sp_rate_p(0, 1, 0, 1), 1, 1e-12);
    assert_true(isnan(sp_rate_p(1, 0, 1, 1)));
}

static struct sp_estimate estimate_of(const double *x, int n)
{
    struct sp_estimate e = {0, 0, n - 1};
    for (int i = 0; i < n; i++)
        e.mean += x[i] / n;
    for (int i = 0; i < n; i++)
        e.var += (x[i] - e.mean) * (x[i] - e.mean) / (n - 1) / n;
    return e;
}

static void means_and_blocks(void **state)
{
    (void)state;
    const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                        21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
    const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                        24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};
    double se, df; /* an example of Welch's test with p 0.021378 and df 24.9885 */
    double p = sp_welch(estimate_of(a, 15), estimate_of(b, 15), &se, &df);
    near(p, 0.021378001462867, 1e-9);
    near(df, 24.988529, 1e-6);

    double x[30], w[30];
    bool dependent;
    for (int i = 0; i < 30; i++) {
        w[i] = 100;
        x[i] = i % 2 ? 40 : 60;
    }
    struct sp_estimate e = sp_block_estimate(x, w, 30, &dependent);
    near(e.mean, 0.5, 1e-14);
    near(e.var, 0.01 / 29, 1e-12); /* single blocks vary most here */
    assert_false(dependent);
    for (int i = 0; i < 30; i++)
        x[i] = i < 15 ? 40 : 60; /* one phase, then another: pieces of it are no repeats */
    e = sp_block_estimate(x, w, 30, &dependent);
    assert_true(dependent && e.var > 0.01 / 29 * 2);
    assert_true(isnan(sp_block_estimate(x, w, 5, &dependent).mean));
}

static void permutations(void **state)
{
    (void)state;
    struct sp_permutation plan;
    const double apart[] = {1, 2, 3, 11, 12, 13}, mixed[] = {1, 3, 5, 2, 4, 6};
    assert_true(sp_permutation_plan(&plan, 3, 3));
    assert_int_equal(plan.splits, 20);
    near(sp_permutation_p(&plan, apart), 2.0 / 20, 1e-14);
    near(sp_permutation_p(&plan, mixed), 14.0 / 20, 1e-14);
    sp_permutation_free(&plan);
    double many[40];
    for (int i = 0; i < 40; i++)
        many[i] = i;
    assert_true(sp_permutation_plan(&plan, 20, 20));
    assert_false(plan.exact);
    near(sp_permutation_p(&plan, many), 1.0 / 10000, 1e-14);
    sp_permutation_free(&plan);
}

static void many_comparisons(void **state)
{
    (void)state;
    const double p[] = {0.01, NAN, 0.04, 0.03, 0.005, 0.9};
    const double expected[] = {0.025, NAN, 0.05, 0.05, 0.025, 0.9};
    double q[6];
    assert_true(sp_adjust(p, q, 6));
    for (int i = 0; i < 6; i++)
        if (isnan(expected[i]))
            assert_true(isnan(q[i]));
        else
            near(q[i], expected[i], 1e-14);
    assert_true(sp_adjust(p, q, 0));
}

static void names_lose_what_compilers_vary(void **state)
{
    (void)state;
    static const char *const functions[][2] = {
        {"f.isra.0", "f"},
        {"f.part.3.constprop.1.cold", "f"},
        {"f.cold.12", "f"},
        {"f(int) [clone .isra.0] [clone .cold]", "f(int)"},
        {"f.llvm.1234567890", "f"},
        {"core::fmt::h0123456789abcdef", "core::fmt"},
        {"core[0123456789abcdef]::fmt", "core::fmt"},
        {"main::{lambda(int)#2}::operator()(int) const", "main::{lambda(int)}::operator()(int) const"},
        {"main::$_3::operator()", "main::$_::operator()"},
        {"f::'lambda1'(int)", "f::'lambda'(int)"},
        {"f::{lambda(auto:1)#1}::x<auto:12>", "f::{lambda(auto)}::x<auto>"},
        {"f::{unnamed type#3}", "f::{unnamed type}"},
        {"LazyCompile:*run app.js:12", "LazyCompile:run app.js:12"},
        {"JS:~run app.js:12", "JS:run app.js:12"},
        {"~run /srv/app.js:12", "run /srv/app.js:12"},
        {"~Thing()", "~Thing()"},
        {"a.C.lambda$run$5", "a.C.lambda$run"},
        {"C$$Lambda$12/0x7fab.run", "C$$Lambda.run"},
        {"memcpy@@GLIBC_2.14", "memcpy"},
        {"memcpy@plt", "memcpy@plt"},
        {".isra.0", ".isra.0"},
        {"f.1234", "f.1234"},
        {"", ""},
    };
    static const char *const dsos[][2] = {
        {"/lib/libz.so.1.2.13", "libz.so"},
        {"/lib/libz-1.2.so", "libz.so"},
        {"app-2.0.1", "app"},
        {"/usr/bin/python3.11", "python"},
        {"libm2.so.3", "libm2.so"},
        {"libx.1.dylib", "libx.dylib"},
        {"a-1.2-SNAPSHOT.jar", "a.jar"},
        {"vmlinux-6.1.0-18-amd64", "vmlinux"},
        {"/tmp/perf-12.map", "[jit]"},
        {"[kernel.kallsyms]", "[kernel]"},
        {"[unknown]", "[unknown]"},
        {"1.2.3", "1.2.3"},
        {"/", "/"},
        {"C:\\bin\\x.dll", "x.dll"},
    };
    struct sp_buf b;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        sp_buf_clear(&b);
        sp_normal_function(&b, (struct sp_str){functions[i][0], (uint32_t)strlen(functions[i][0])});
        assert_string_equal(sp_buf_cstr(&b), functions[i][1]);
    }
    for (size_t i = 0; i < sizeof dsos / sizeof *dsos; i++) {
        sp_buf_clear(&b);
        sp_normal_dso(&b, (struct sp_str){dsos[i][0], (uint32_t)strlen(dsos[i][0])});
        assert_string_equal(sp_buf_cstr(&b), dsos[i][1]);
    }
    sp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distributions_match_tables), cmocka_unit_test(shares_and_rates),
        cmocka_unit_test(means_and_blocks),           cmocka_unit_test(permutations),
        cmocka_unit_test(many_comparisons),           cmocka_unit_test(names_lose_what_compilers_vary),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}

/*
 * Quasi-likelihood against edgeR 3.40.2 and limma 3.54.1 (glmFit with dispersion 0 and prior.count 0,
 * squeezeVar), the sizes against DESeq's formula; distributions against scipy 1.17.
 */
#include "analysis/quasi.h"
#include "analysis/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
/* needs the headers above */
#include <cmocka.h>

static void near(double x, double expected, double tolerance)
{
    if (!(fabs(x - expected) <= tolerance * fmax(1e-9, fabs(expected))))
        fail_msg("%.15g is not %.15g", x, expected);
}

static bool median;

static void gamma_and_f_distributions(void **state)
{
    (void)state;
    near(sp_digamma(0.5), -1.9635100260214235, 1e-13);
    near(sp_digamma(2), 0.42278433509846713, 1e-13);
    near(sp_digamma(37), 3.597343531893106, 1e-13);
    near(sp_trigamma(0.5), 4.934802200544679, 1e-13);
    near(sp_trigamma(2), 0.6449340668482264, 1e-13);
    near(sp_trigamma(37), 0.02739554700275769, 1e-12);
    near(sp_f_tail(2.5, 4, 6), 0.151611328125, 1e-12);
    near(sp_f_tail(2.5, 4, INFINITY), 0.04042768199451279, 1e-5);
    assert_true(sp_f_tail(0, 3, 4) == 1 && isnan(sp_f_tail(1, 0, 4)));
}

enum { ROWS = 8, RUNS = 6 };
static const double varied[ROWS * RUNS] = {
    40,  36,  45,  30,  35,  40,  /**/
    60,  56,  66,  75,  55,  62,  /**/
    102, 94,  106, 112, 111, 89,  /**/
    125, 108, 132, 119, 120, 107, /**/
    125, 146, 147, 91,  138, 116, /**/
    224, 194, 174, 263, 226, 221, /**/
    292, 289, 236, 177, 240, 219, /**/
    347, 267, 366, 222, 289, 297,
};

static void functions_that_vary_alike_make_a_prior(void **state)
{
    static const double sizes[] = {1.0644810646225,   0.931127048173255, 1.10636282617023,
                                   0.912176675297464, 1.0249232541546,   0.97540557192976},
                        dispersion[] = {1.03569245508295, 1.61348251893481, 1.43597486542243,
                                        1.11014943159626, 2.14309899595021, 3.33841870354347,
                                        3.56452297094814, 2.0882491919734},
                        p[] = {0.576023487994028, 0.399157141063974, 0.34982473834634,   0.906464680866609,
                               0.257329122017686, 0.040108791913764, 0.0936717907783689, 0.0918015002008934},
                        change[] = {-0.0788062069881716, 0.116512673402032, 0.0956001588856585,
                                    0.00956540992627897, -0.12891302704235, 0.244782323602402,
                                    -0.187416543068834,  -0.129966524692476};
    double size[RUNS];
    struct sp_quasi q = {.base = 3, .runs = RUNS, .size = size, .floor = 1};
    (void)state;
    assert_true(sp_quasi_sizes(varied, ROWS, RUNS, size, &median) && median);
    for (int j = 0; j < RUNS; j++)
        near(size[j], sizes[j], 1e-12);
    assert_true(sp_quasi_fit(&q, varied, ROWS));
    near(q.prior, 1.68196318488283, 1e-7);
    near(q.prior_df, 4.64783000342011, 1e-7);
    for (int i = 0; i < ROWS; i++) {
        struct sp_quasi_test t = sp_quasi_test(&q, varied + i * RUNS);
        near(t.change, change[i], 1e-7);
        near(t.dispersion, dispersion[i], 1e-7);
        near(t.df, 4 + 4.64783000342011, 1e-7);
        near(t.p, p[i], 1e-6);
        assert_true(t.lo < t.change && t.change < t.hi);
        assert_int_equal(t.lo > 0 || t.hi < 0, t.p < 0.05); /* the interval and p are of one test */
    }
}

static const double noisy[10 * RUNS] = {
    199, 210, 188, 280, 301, 295, /**/
    280, 271, 266, 259, 301, 274, /**/
    224, 240, 219, 231, 222, 208, /**/
    182, 150, 241, 199, 143, 260, /* varies by a quarter from run to run */
    154, 149, 160, 151, 163, 170, /**/
    126, 131, 120, 119, 133, 128, /**/
    98,  88,  101, 97,  104, 92,  /**/
    70,  75,  66,  71,  80,  64,  /**/
    42,  29,  55,  47,  38,  41,  /**/
    0,   0,   0,   25,  31,  19,
};

static void a_noisy_function_has_no_part_in_the_prior(void **state)
{
    static const double p[] = {
        7.48135498228614e-05, 0.634373550577588, 0.185975126142432, 0.984791044146702, 0.9954319416755,
        0.62355009717483,     0.778069152810761, 0.794241197979081, 0.765280752445199, 8.28403289887035e-06};
    double size[RUNS];
    struct sp_quasi q = {.base = 3, .runs = RUNS, .size = size, .floor = 1};
    (void)state;
    assert_true(sp_quasi_sizes(noisy, 10, RUNS, size, &median) && median);
    assert_true(sp_quasi_fit(&q, noisy, 10));
    near(q.prior, 0.768720324085501, 1e-7); /* limma's of the other nine */
    assert_true(q.prior_df == SP_QUASI_PRIOR_DF);
    for (int i = 0; i < 10; i++)
        near(sp_quasi_test(&q, noisy + i * RUNS).p, p[i], 1e-5);
    struct sp_quasi_test alone = sp_quasi_test(&q, noisy + 3 * RUNS);
    near(alone.dispersion, 15.3168537312181, 1e-6);
    near(alone.df, 4, 1e-6);
    struct sp_quasi_test fresh = sp_quasi_test(&q, noisy + 9 * RUNS);
    assert_true(isinf(fresh.change) && fresh.change > 0 && isinf(fresh.hi) && fresh.lo > log(2));
    near(fresh.df, 8, 1e-9); /* runs that all have nothing say nothing of how runs vary */
}

/* One function takes 90 % and doubles: it changed, the others did not. */
static void a_dominating_function_does_not_make_the_others_shrink(void **state)
{
    double y[6 * RUNS], size[RUNS];
    (void)state;
    for (int j = 0; j < RUNS; j++) {
        y[j] = j < 3 ? 18000 + 10 * j : 36000 + 10 * j;
        for (int i = 1; i < 6; i++)
            y[i * RUNS + j] = 400 + (i * 7 + j * 5) % 11;
    }
    struct sp_quasi q = {.base = 3, .runs = RUNS, .size = size, .floor = 1};
    assert_true(sp_quasi_sizes(y, 6, RUNS, size, &median) && median);
    assert_true(sp_quasi_fit(&q, y, 6));
    struct sp_quasi_test t = sp_quasi_test(&q, y);
    near(exp(t.change), 2, 0.02);
    assert_true(t.p < 1e-6);
    for (int i = 1; i < 6; i++)
        assert_true(sp_quasi_test(&q, y + i * RUNS).p > 0.1);
}

/* Runs of 1 and 30 minutes: what the short one missed is no change. */
static void runs_of_different_length_compare(void **state)
{
    static const double share[] = {0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02};
    static const double length[] = {1000, 30000, 2000, 900, 12000, 30000};
    double y[8 * RUNS], size[RUNS];
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < RUNS; j++)
            y[i * RUNS + j] = round(share[i] * length[j]);
    struct sp_quasi q = {.base = 3, .runs = RUNS, .size = size, .floor = 1};
    assert_true(sp_quasi_sizes(y, 8, RUNS, size, &median) && median);
    near(size[1] / size[0], 30, 1e-9);
    assert_true(sp_quasi_fit(&q, y, 8));
    for (int i = 0; i < 8; i++)
        near(sp_quasi_test(&q, y + i * RUNS).p, 1, 1e-3);
}

static void what_cannot_be_told(void **state)
{
    static const double none[4] = {0}, same[4] = {5, 5, 5, 5}, apart[4] = {5, 5, 9, 9},
                        size[4] = {1, 1, 1, 1};
    double out[4];
    struct sp_quasi q = {.base = 2, .runs = 4, .size = size, .floor = 1};
    (void)state;
    assert_true(sp_quasi_sizes(same, 1, 4, out, &median) &&
                !median); /* one row has no median: totals, which are equal */
    for (int j = 0; j < 4; j++)
        near(out[j], 1, 1e-12);
    assert_true(sp_quasi_fit(&q, same, 1));
    assert_true(q.prior_df == 0);
    assert_true(isnan(sp_quasi_test(&q, none).p));
    near(sp_quasi_test(&q, same).p, 1, 1e-12);
    q.floor = 0; /* without a unit, runs that agree entirely tell nothing of how they vary */
    struct sp_quasi_test t = sp_quasi_test(&q, apart);
    assert_true(isnan(t.p) && isnan(t.lo));
    near(t.change, log(1.8), 1e-12);
    struct sp_quasi one = {.base = 1, .runs = 2, .size = size, .floor = 1};
    assert_true(isnan(sp_quasi_test(&one, apart).p)); /* one run a side */
}

/* What is not seen between runs widens everything alike. */
static void a_variance_that_runs_cannot_show_widens_the_interval(void **state)
{
    double size[RUNS];
    struct sp_quasi q = {.base = 3, .runs = RUNS, .size = size, .floor = 1};
    (void)state;
    assert_true(sp_quasi_sizes(noisy, 10, RUNS, size, &median) && median);
    assert_true(sp_quasi_fit(&q, noisy, 10));
    struct sp_quasi_test plain = sp_quasi_test(&q, noisy);
    q.extra = 0.01;
    struct sp_quasi_test wide = sp_quasi_test(&q, noisy);
    near(wide.change, plain.change, 1e-12);
    near(wide.se * wide.se, plain.se * plain.se + 0.01, 1e-9);
    assert_true(wide.p > 10 * plain.p && wide.hi - wide.lo > 1.5 * (plain.hi - plain.lo));
    /* R: power of t at 5 % with 10 degrees of freedom is 80 % for a non-centrality of 3.1100 (uniroot on pt).
     */
    near(sp_quasi_reach(10, 0.05), 3.109971, 0.005);
    near(sp_quasi_reach(10, 0.005), 4.562571, 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_and_f_distributions),
        cmocka_unit_test(functions_that_vary_alike_make_a_prior),
        cmocka_unit_test(a_noisy_function_has_no_part_in_the_prior),
        cmocka_unit_test(a_dominating_function_does_not_make_the_others_shrink),
        cmocka_unit_test(runs_of_different_length_compare),
        cmocka_unit_test(what_cannot_be_told),
        cmocka_unit_test(a_variance_that_runs_cannot_show_widens_the_interval),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("quasi", tests, NULL, NULL);
}

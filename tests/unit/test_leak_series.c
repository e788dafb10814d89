/*
 * What a series of amounts says of growth: series whose truth is known, and how often steady ones are said to
 * grow.
 */
#include "analysis/leak_series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

struct series {
    size_t n;
    double t[MOST], y[MOST], var[MOST], step[MOST], born[MOST], died[MOST];
    bool turnover;
};

static double uniform(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
}

static double poisson(uint64_t *state, double mean)
{
    if (mean > 500)
        return fmax(floor(mean + sqrt(mean) * normal(state) + 0.5), 0);
    double limit = exp(-mean), p = 1, k = -1;
    for (; p > limit; k++)
        p *= uniform(state);
    return k;
}

static struct sp_heap_growth judged(const struct series *s)
{
    struct sp_heap_growth g;
    struct sp_leak_values v = {.n = s->n,
                               .t = s->t,
                               .y = s->y,
                               .var = s->var,
                               .step = s->step,
                               .born = s->turnover ? s->born : NULL,
                               .died = s->turnover ? s->died : NULL};
    assert_true(sp_leak_series_of(&v, &g));
    return g;
}

static struct series exact(const double *y, size_t n)
{
    struct series s = {.n = n};
    for (size_t i = 0; i < n; i++) {
        s.t[i] = (double)i * 10;
        s.y[i] = y[i];
    }
    return s;
}

#define JUDGED(...)                                                                                          \
    (judged(&(struct series[]){                                                                              \
        exact((const double[]){__VA_ARGS__}, sizeof(const double[]){__VA_ARGS__} / sizeof(double))}[0]))

static void test_known(void **state)
{
    (void)state;
    assert_int_equal(JUDGED(5, 5).trend, SP_TREND_LEVEL);
    assert_int_equal(JUDGED(5, 9).trend, SP_TREND_GREW);
    assert_int_equal(JUDGED(0, 9).trend, SP_TREND_NEW);
    assert_int_equal(JUDGED(9, 5).trend, SP_TREND_SHRINKS);
    assert_int_equal(JUDGED(5, 5, 5, 5).trend, SP_TREND_LEVEL);
    assert_int_equal(JUDGED(0, 0, 0, 7).trend, SP_TREND_NEW);
    assert_int_equal(JUDGED(10, 20, 30).trend, SP_TREND_UP);
    assert_int_equal(JUDGED(10, 20, 30, 41).trend, SP_TREND_ONLY_GROWS); /* steps that are alike */
    assert_int_equal(JUDGED(10, 20, 26).trend, SP_TREND_UP);
    assert_int_equal(JUDGED(10, 20, 26, 37, 48, 55, 65, 77).trend, SP_TREND_ONLY_GROWS);
    assert_int_equal(JUDGED(10, 90, 90, 90, 90).trend, SP_TREND_GREW_ONCE);
    assert_int_equal(JUDGED(10, 90, 89, 90, 91).trend, SP_TREND_GREW_ONCE);
    assert_int_equal(JUDGED(0, 50, 80, 90, 94, 97, 98, 99, 99.5).trend, SP_TREND_SLOWS);
    assert_int_equal(JUDGED(9, 7, 5, 4).trend, SP_TREND_SHRINKS);
    assert_int_equal(JUDGED(9, 12, 8, 11, 9, 12, 8, 11).trend, SP_TREND_VARIES);
    /* A sawtooth on a slope. */
    assert_int_equal(JUDGED(10, 14, 12, 16, 14, 18, 16, 20, 18, 22, 20, 24, 22, 26, 24, 28).trend,
                     SP_TREND_GROWS);
}

/* What never falls grows, whatever its pace; what stops, or fills up once, does not go on. */
static void test_pauses(void **state)
{
    (void)state;
    assert_int_equal(
        JUDGED(0, 0, 372, 715, 1056, 1056, 1056, 1056, 1056, 1056, 1056, 1056, 1056, 1427, 1772, 2045).trend,
        SP_TREND_ONLY_GROWS);
    assert_int_equal(JUDGED(0, 100, 100, 100, 200, 200, 200, 300, 300, 300, 400, 400, 400, 500).trend,
                     SP_TREND_ONLY_GROWS);
    assert_int_equal(JUDGED(0, 50, 50, 100).trend, SP_TREND_MAY_GROW);
    assert_int_equal(JUDGED(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 90, 90, 90, 90).trend, SP_TREND_SLOWS);
    assert_int_equal(JUDGED(0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0, 9).trend, SP_TREND_VARIES);
}

/* Of what is called growing the interval has no 0 in it; of what varies, or is noise, it has. */
static void test_words_follow_intervals(void **state)
{
    uint64_t r = 11;
    (void)state;
    for (int i = 0; i < 4000; i++) {
        struct series s = {.n = 2 + (size_t)(uniform(&r) * 20)};
        double grain = uniform(&r) < 0.5 ? 0 : 10, slope = 10 * uniform(&r) - 2, live = 20;
        for (size_t k = 0; k < s.n; k++) {
            s.t[k] = (double)k;
            live = fmax(live + slope + 15 * normal(&r), 0);
            s.y[k] = live;
            s.var[k] = grain * live;
            if (k)
                s.step[k - 1] = s.var[k - 1] + s.var[k];
        }
        struct sp_heap_growth g = judged(&s);
        if (!g.interval || g.trend == SP_TREND_LEVEL)
            continue;
        assert_true(g.trend > SP_TREND_SLOWS || g.lo >= 0);
        assert_true(sp_leak_trend_is_up(g.trend) || g.lo <= 0);
        assert_true(g.trend != SP_TREND_SHRINKS || g.hi <= 0);
    }
}

static void test_rate(void **state)
{
    (void)state;
    struct sp_heap_growth g = JUDGED(10, 20, 30, 40, 50);
    assert_true(fabs(g.rate - 1) < 1e-9 && fabs(g.lo - 1) < 1e-9 && fabs(g.hi - 1) < 1e-9);
    g = JUDGED(10, 20, 900, 40, 50); /* one that is out of line does not bend it */
    assert_true(fabs(g.rate - 1) < 0.3 && g.lo <= g.rate && g.rate <= g.hi);
    assert_false(JUDGED(10, 20).interval);
}

/* Of a line with noise the interval has the true rate in 95 of 100 cases, or more. */
static void test_intervals_have_the_true_rate(void **state)
{
    enum { EACH = 1000 };
    uint64_t r = 3;
    (void)state;
    for (size_t n = 5; n <= 40; n *= 2) {
        double inside = 0;
        for (int i = 0; i < EACH; i++) {
            struct series s = {.n = n};
            for (size_t k = 0; k < n; k++) {
                s.t[k] = (double)k;
                s.y[k] = 1000 + 3 * s.t[k] + 20 * normal(&r);
            }
            struct sp_heap_growth g = judged(&s);
            inside += g.lo <= 3 && g.hi >= 3;
        }
        print_message("%zu dumps: %.1f %% of the intervals have the true rate\n", n, 100 * inside / EACH);
        assert_true(inside >= 0.94 * EACH);
    }
}

static void test_what_is_sampled_is_noise(void **state)
{
    (void)state;
    struct series s = exact((const double[]){4, 6, 5, 8}, 4);
    for (size_t i = 0; i < 4; i++)
        s.var[i] = s.y[i];
    for (size_t i = 0; i < 3; i++)
        s.step[i] = s.var[i] + s.var[i + 1];
    assert_int_equal(judged(&s).trend, SP_TREND_NOISE);
}

/* Blocks that come at random and stay: not even three dumps are too few. */
static void test_what_stays_accumulates(void **state)
{
    (void)state;
    struct series s = exact((const double[]){100, 170, 210}, 3);
    s.turnover = true;
    s.born[0] = 71;
    s.died[0] = 1;
    s.born[1] = 40;
    assert_int_equal(judged(&s).trend, SP_TREND_ONLY_GROWS);
    s.born[0] = s.died[0] + 70 + 5000;
    s.died[0] += 5000;
    assert_int_equal(judged(&s).trend, SP_TREND_UP);
}

/* ---- steady programs ---- */

enum kind { INDEPENDENT, SAWTOOTH, STEP, QUEUE, SLOW_QUEUE, SAMPLED, WANDERING, KINDS };

/* Blocks arrive at random and live for `life` dumps in the mean; 1 of `every` is sampled. */
static void make_queue(struct series *s, uint64_t *r, double mean, double life, double every)
{
    double live = poisson(r, mean), leave = -expm1(-1 / life);
    s->turnover = true;
    for (size_t i = 0; i < s->n; i++) {
        double gone = 0, come = poisson(r, mean * leave);
        if (i) {
            for (double k = 0; k < live; k++)
                gone += uniform(r) < leave;
            live += come - gone;
            s->born[i - 1] = come;
            s->died[i - 1] = gone;
            s->step[i - 1] = every > 1 ? (come + gone) * every * every : 0;
        }
        s->y[i] = live * every;
        s->var[i] = every > 1 ? live * every * every : 0;
    }
}

static void make(struct series *s, enum kind kind, size_t n, uint64_t *r)
{
    double at = 0, step = floor(uniform(r) * (double)n),
           phase = uniform(r), /* Within one rise nobody can tell. */
        period = 1.2 + 0.6 * ((double)n < 14 ? (double)n - 2 : 12) * uniform(r);
    *s = (struct series){.n = n};
    for (size_t i = 0; i < n; i++) {
        s->t[i] = (double)i + (i ? 0.2 * uniform(r) : 0);
        at = 0.7 * at + normal(r);
        double saw = fmod((double)i / period + phase, 1);
        s->y[i] = 1000 + (kind == INDEPENDENT ? 50 * normal(r)
                          : kind == SAWTOOTH  ? 400 * saw + 5 * normal(r)
                          : kind == STEP      ? ((double)i >= step ? 500 : 0) + 10 * normal(r)
                                              : 50 * at);
    }
    if (kind == QUEUE)
        make_queue(s, r, 200, 0.5, 1);
    else if (kind == SLOW_QUEUE)
        make_queue(s, r, 200, 5, 1);
    else if (kind == SAMPLED)
        make_queue(s, r, 1 + 30 * uniform(r), 1, 524288);
}

static void test_steady_programs_do_not_grow(void **state)
{
    static const size_t lengths[] = {3, 4, 5, 6, 8, 12, 20, 40};
    enum { EACH = 500 };
    uint64_t r = 24;
    double all = 0, claimed = 0;
    (void)state;
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            double wrong = 0;
            for (int i = 0; i < EACH; i++) {
                struct series s;
                make(&s, kind, lengths[k], &r);
                enum sp_leak_trend trend = judged(&s).trend;
                wrong += trend == SP_TREND_ONLY_GROWS || trend == SP_TREND_GROWS;
            }
            all += EACH;
            claimed += wrong;
            if (wrong > 0)
                print_message("kind %d, %zu dumps: %.1f %% said to grow\n", (int)kind, lengths[k],
                              100 * wrong / EACH);
            assert_true(wrong <= 0.05 * EACH);
        }
    print_message("steady series said to grow: %.0f of %.0f\n", claimed, all);
    assert_true(claimed <= 0.01 * all);
}

/* The same with a leak: most are found, as growth or at least as up each time. */
static void test_leaks_are_found(void **state)
{
    enum { EACH = 300 };
    uint64_t r = 7;
    (void)state;
    for (size_t n = 3; n <= 12; n += 3) {
        double found = 0, up = 0;
        for (int i = 0; i < EACH; i++) {
            struct series s;
            make(&s, INDEPENDENT, n, &r);
            for (size_t k = 0; k < n; k++)
                s.y[k] += 150 * s.t[k];
            enum sp_leak_trend trend = judged(&s).trend;
            found += trend == SP_TREND_ONLY_GROWS || trend == SP_TREND_GROWS;
            up += sp_leak_trend_is_up(trend);
        }
        print_message("%zu dumps of a leak: %.0f %% said to grow, %.0f %% to be up\n", n, 100 * found / EACH,
                      100 * up / EACH);
        assert_true(up >= (n > 6 ? 0.95 : 0.5) * EACH);
        assert_true(n < 9 || found >= 0.9 * EACH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_pauses),
        cmocka_unit_test(test_words_follow_intervals),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_intervals_have_the_true_rate),
        cmocka_unit_test(test_what_is_sampled_is_noise),
        cmocka_unit_test(test_what_stays_accumulates),
        cmocka_unit_test(test_steady_programs_do_not_grow),
        cmocka_unit_test(test_leaks_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

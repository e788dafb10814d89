/*
 * What a comparison promises, by simulation: equal sides are called different no more often than stated,
 * and changes as large as the stated minimum detectable effect are found as often as stated.
 *
 * Everything is drawn from one seeded generator: the same numbers in every run.
 */
#include "analysis/diff.h"
#include "model/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

enum { FUNCTIONS = 10, SAMPLES = 10000, RUNS = 5 };

static uint64_t seed;

static double uniform(void)
{
    uint64_t z = seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* A run: samples of each function, and the function of each sample in time where that was simulated. */
struct run {
    double count[FUNCTIONS];
    bool times;
    uint8_t at[SAMPLES];
};

/* Every sample on its own. */
static void independent(struct run *r, const double *share)
{
    for (int f = 0; f < FUNCTIONS; f++)
        r->count[f] = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double u = uniform();
        int f = 0;
        while (f < FUNCTIONS - 1 && u >= share[f])
            u -= share[f++];
        r->count[f]++;
        r->at[i] = (uint8_t)f;
    }
}

/* Phases of `length` samples, in each of which function 0 has a share of its own, from 0 to 1. */
static void phased(struct run *r, int length)
{
    int left = 1 + (int)(uniform() * length);
    double p = uniform();
    for (int f = 0; f < FUNCTIONS; f++)
        r->count[f] = 0;
    for (int i = 0; i < SAMPLES; i++) {
        if (!left--) {
            left = length - 1;
            p = uniform();
        }
        int f = uniform() < p ? 0 : 1 + (int)(uniform() * (FUNCTIONS - 1));
        r->count[f]++;
        r->at[i] = (uint8_t)f;
    }
}

/* n samples with these shares, function by function (normal approximation of large counts). */
static void large(struct run *r, const double *share, double n)
{
    double left = n, rest = 1;
    for (int f = 0; f < FUNCTIONS; f++) {
        double p = f == FUNCTIONS - 1 ? 1 : share[f] / rest;
        double k = round(left * p + sqrt(left * p * (1 - p)) * normal());
        r->count[f] = k < 0 ? 0 : k > left ? left : k;
        left -= r->count[f];
        rest -= share[f];
    }
}

static void add_times(struct sp_profile *p, const struct run *r)
{
    assert_int_equal(sp_samples_new(p->diags, &p->samples), SPAA_OK);
    for (int i = 0; i < SAMPLES; i++) {
        struct sp_sample s = {.time = (int64_t)i * 1000,
                              .pid = SP_ABSENT,
                              .tid = SP_ABSENT,
                              .cpu = SP_ABSENT,
                              .period = SP_ABSENT,
                              .stack = r->at[i],
                              .event = 0,
                              .flags = SP_SAMPLE_TIME};
        assert_int_equal(sp_samples_add(p->samples, &s), SPAA_OK);
    }
}

static void take(struct sp_diff *d, unsigned side, const struct run *r)
{
    struct sp_profile *p;
    struct sp_selection s;
    struct sp_select_opts o = {0};
    assert_int_equal(sp_profile_new(d->diags, &p), SPAA_OK);
    uint32_t metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {.name = sp_profile_cstr(p, "e"), .primary = metric};
    struct sp_context c = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = sp_event_add(p, &e)};
    struct sp_dso so = {.name = sp_profile_cstr(p, "/bin/a")};
    uint32_t context = sp_context_intern(p, &c), dso = sp_dso_intern(p, &so);
    for (int f = 0; f < FUNCTIONS; f++) {
        char name[2] = {(char)('a' + f), 0};
        struct sp_frame frame = {.function = sp_function_intern(p, sp_profile_cstr(p, name), dso),
                                 .kind = SP_USER};
        uint32_t number = sp_frame_intern(p, &frame),
                 stack = sp_stack_append(p, &number, 1, context, SP_UNIFIED);
        sp_stack_set_layout(p, stack, sp_layout_simple(p, metric, 0, SP_NONE, 0));
        assert_true(sp_weight_set(p, stack, metric, (int64_t)r->count[f]));
    }
    if (r->times)
        add_times(p, r);
    assert_int_equal(sp_select(p, &o, d->diags, &s), SPAA_OK);
    assert_int_equal(sp_diff_add(d, side, &s, NULL, r->times), SPAA_OK);
    sp_selection_free(&s);
    sp_profile_free(p);
}

/* What became of one pair of sides. */
struct outcome {
    bool headline;    /* CHANGED */
    bool alone;       /* p of function a */
    bool significant; /* q of function a */
    bool others;      /* some q of another */
    bool either;      /* measured as shares: which of several functions changed is not said */
    double mde, mde_family;
};

typedef void (*draw)(struct run *r, unsigned side, double parameter);

static struct outcome compare(draw make, double parameter, int runs, bool times, enum sp_diff_method method)
{
    static struct run r;
    struct sp_diags diags;
    struct sp_diff d;
    struct sp_diff_opts o = {.method = method};
    struct outcome x = {0};
    sp_diags_init(&diags);
    assert_int_equal(sp_diff_init(&d, &diags), SPAA_OK);
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (int i = 0; i < runs; i++) {
            r.times = times;
            make(&r, side, parameter);
            take(&d, side, &r);
        }
    assert_int_equal(sp_diff_finish(&d, &o), SPAA_OK);
    x.headline = d.headline == SP_DIFF_CHANGED;
    x.either = d.reference == SP_AGAINST_WHOLE;
    for (size_t i = 0; i < d.rows.n; i++) {
        const struct sp_diff_test *t = &d.rows.v[i].share[SP_SELF];
        if (!sp_str_is(sp_str_at(&d.strs, d.rows.v[i].function), "a")) {
            x.others = x.others || t->verdict == SP_DIFF_SIGNIFICANT;
            continue;
        }
        x.alone = t->p <= SP_DIFF_ALPHA;
        x.significant = t->verdict == SP_DIFF_SIGNIFICANT || t->verdict == SP_DIFF_DIFFERS;
        x.mde = t->mde;
        x.mde_family = t->mde_family;
    }
    sp_diff_free(&d);
    sp_diags_free(&diags);
    return x;
}

static const double flat[FUNCTIONS] = {.142, .2, .16, .13, .11, .09, .07, .05, .03, .018};

static void draw_independent(struct run *r, unsigned side, double unused)
{
    (void)side, (void)unused;
    independent(r, flat);
}

static void draw_phased(struct run *r, unsigned side, double length)
{
    (void)side;
    phased(r, (int)length);
}

/* Shares that vary from run to run by so much of themselves. */
static void draw_varying(struct run *r, unsigned side, double variation)
{
    double share[FUNCTIONS], sum = 0;
    (void)side;
    for (int f = 0; f < FUNCTIONS; f++)
        sum += share[f] = flat[f] * (1 + variation * normal());
    for (int f = 0; f < FUNCTIONS; f++)
        share[f] /= sum;
    large(r, share, SAMPLES);
}

/* No more than 5 % of n, as far as n pairs can tell (three standard errors). */
static void at_most_nominal(const char *what, int found, int n)
{
    double allowed = SP_DIFF_ALPHA * n + 3 * sqrt(SP_DIFF_ALPHA * (1 - SP_DIFF_ALPHA) * n);
    print_message("# %s: %.1f %% of %d equal pairs\n", what, 100.0 * found / n, n);
    if (found > allowed)
        fail_msg("%s: %d of %d equal pairs called different", what, found, n);
}

static void equal_pairs(const char *what, draw make, double parameter, int runs, bool times,
                        enum sp_diff_method method, int pairs)
{
    int alone = 0, headline = 0, significant = 0;
    bool single = method < SP_DIFF_REPEATS;
    char text[120];
    for (int i = 0; i < pairs; i++) {
        struct outcome x = compare(make, parameter, runs, times, method);
        alone += x.alone;
        headline += x.headline;
        significant += x.significant;
    }
    if (single && headline)
        fail_msg("%s: one run a side was called changed", what);
    print_message("# %s: %.1f %% of p of one function\n", what,
                  100.0 * alone / pairs); /* promised of verdicts */
    snprintf(text, sizeof text, "%s, its verdict", what);
    at_most_nominal(text, significant, pairs);
    snprintf(text, sizeof text, "%s, the headline", what);
    at_most_nominal(text, headline, pairs);
}

static void repeats_of_equal_programs_are_called_equal(void **state)
{
    static const double lengths[] = {20, 100, 500}, variations[] = {0.02, 0.06, 0.10};
    char text[80];
    (void)state;
    seed = 1;
    equal_pairs("repeats, independent samples", draw_independent, 0, RUNS, false, SP_DIFF_REPEATS, 200);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "repeats, phases of %g samples", lengths[i]);
        equal_pairs(text, draw_phased, lengths[i], RUNS, false, SP_DIFF_REPEATS, 200);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "repeats, runs vary by %g %%", 100 * variations[i]);
        equal_pairs(text, draw_varying, variations[i], RUNS, false, SP_DIFF_REPEATS, 600);
        snprintf(text, sizeof text, "3 repeats, runs vary by %g %%", 100 * variations[i]);
        equal_pairs(text, draw_varying, variations[i], 3, false, SP_DIFF_REPEATS, 600);
        snprintf(text, sizeof text, "permutation, runs vary by %g %%", 100 * variations[i]);
        equal_pairs(text, draw_varying, variations[i], RUNS, false, SP_DIFF_PERMUTATION, 300);
    }
}

static void time_blocks_hold_where_samples_would_not(void **state)
{
    static const double lengths[] = {20, 100, 500};
    int naive = 0;
    char text[80];
    (void)state;
    seed = 2;
    equal_pairs("blocks, independent samples", draw_independent, 0, 1, true, SP_DIFF_TIME_BLOCKS, 150);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "blocks, phases of %g samples", lengths[i]);
        equal_pairs(text, draw_phased, lengths[i], 1, true, SP_DIFF_TIME_BLOCKS, 150);
    }
    for (int i = 0; i < 200; i++) {
        struct outcome x = compare(draw_phased, 100, 1, false, SP_DIFF_SAMPLES);
        naive += x.alone;
        assert_false(x.headline); /* whatever p says */
    }
    print_message("# samples taken as independent, phases of 100: %.0f %% of equal pairs\n", naive / 2.0);
    assert_true(naive > 100); /* why that form establishes nothing */
}

/*
 * Recordings as they are: 1,400 samples; a function with 14.2 % of them differs between runs by 1.1 points
 * (samples alone make 0.9); one function of ten, where `noisy`, by 30 % of itself. Function a takes `planted`
 * longer on the new side.
 */
static struct {
    double planted;
    bool noisy;
} plan;

static void draw_recording(struct run *r, unsigned side, double unused)
{
    enum { N = 1400 };
    double share[FUNCTIONS], sum = 0;
    (void)unused;
    for (int f = 0; f < FUNCTIONS; f++) {
        double cost = flat[f] * exp(normal() * sqrt(0.4 / (N * flat[f])));
        cost *= f == 0 && side == SP_NEW ? 1 + plan.planted : 1;
        cost *= f == 3 && plan.noisy ? exp(0.3 * normal()) : 1;
        sum += share[f] = cost;
    }
    for (int f = 0; f < FUNCTIONS; f++) {
        share[f] /= sum;
        r->count[f] = 0;
    }
    for (int i = 0; i < N; i++) {
        double u = uniform();
        int f = 0;
        while (f < FUNCTIONS - 1 && u >= share[f])
            u -= share[f++];
        r->count[f]++;
    }
}

static void equal_recordings_are_called_equal(void **state)
{
    char text[80];
    (void)state;
    seed = 4;
    plan.planted = 0;
    for (int i = 0; i < 4; i++) {
        plan.noisy = i % 2;
        snprintf(text, sizeof text, "%d recordings a side, %s", i < 2 ? 3 : 5,
                 plan.noisy ? "one noisy function" : "all alike");
        equal_pairs(text, draw_recording, 0, i < 2 ? 3 : 5, false, SP_DIFF_REPEATS, 1000);
    }
}

static void found(double planted, int runs, double least)
{
    enum { PAIRS = 500 };
    int n = 0;
    plan.planted = planted;
    plan.noisy = true;
    for (int i = 0; i < PAIRS; i++)
        n += compare(draw_recording, 0, runs, false, SP_DIFF_REPEATS).significant;
    print_message("# %+.0f %% of 14.2 %%, %d recordings a side: found in %.1f %%\n", 100 * planted, runs,
                  100.0 * n / PAIRS);
    if (n < least * PAIRS)
        fail_msg("%+.0f %% with %d recordings a side: found in %d of %d", 100 * planted, runs, n, PAIRS);
}

/* 14.2 to 19.6 %, and to 17.9 %. */
static void changes_are_found_as_often_as_promised(void **state)
{
    (void)state;
    seed = 5;
    found(0.48, 3, 0.85);
    found(0.48, 5, 0.98);
    found(0.32, 5, 0.75);
}

/* A change of the stated size is found 4 times in 5, or a little more often where the spread is at its floor.
 */
static void the_stated_effect_is_found_as_often_as_stated(void **state)
{
    enum { PAIRS = 500 };
    (void)state;
    seed = 6;
    plan.noisy = false;
    for (int runs = 3; runs <= 5; runs += 2) {
        int n = 0;
        double points = 0;
        plan.planted = 0;
        for (int i = 0; i < 100; i++)
            points += compare(draw_recording, 0, runs, false, SP_DIFF_REPEATS).mde_family / 100;
        plan.planted = points / flat[0];
        for (int i = 0; i < PAIRS; i++)
            n += compare(draw_recording, 0, runs, false, SP_DIFF_REPEATS).significant;
        print_message("# %d recordings a side: the stated %+.0f %% found in %.1f %%\n", runs,
                      100 * plan.planted, 100.0 * n / PAIRS);
        assert_in_range(n, 0.75 * PAIRS, 0.93 * PAIRS);
    }
}

/*
 * A program of four functions, the smallest of few samples, in runs that differ by 2 % in all and by 1 % in
 * each function. Function a takes `planted` longer on the new side; runs do the same work, or last the same
 * time.
 */
static const double of_few[] = {130, 400, 8, 5};
static bool timed;

static void draw_few(struct run *r, unsigned side, double planted)
{
    double cost[4], sum = 0, speed = 1 + 0.02 * normal();
    for (int f = 0; f < FUNCTIONS; f++)
        r->count[f] = 0;
    for (int f = 0; f < 4; f++) {
        cost[f] = of_few[f] * speed * (1 + 0.01 * normal()) * (f == 0 && side == SP_NEW ? 1 + planted : 1);
        sum += cost[f];
    }
    for (int f = 0; f < 4; f++) {
        double mean = timed ? cost[f] * 543 / sum : cost[f], k = round(mean + sqrt(mean) * normal());
        r->count[f] = k < 0 ? 0 : k;
    }
}

static void few_functions_have_what_they_are_measured_against(void **state)
{
    enum { PAIRS = 600 };
    (void)state;
    seed = 7;
    for (int i = 0; i < 4; i++) {
        int runs = i < 2 ? 3 : 5, n = 0, others = 0, either = 0;
        timed = i % 2;
        equal_pairs(timed ? "few functions, fixed time" : "few functions, fixed work", draw_few, 0, runs,
                    false, SP_DIFF_REPEATS, PAIRS);
        for (int k = 0; k < PAIRS; k++) {
            struct outcome x = compare(draw_few, 1, runs, false, SP_DIFF_REPEATS);
            n += x.significant;
            others += x.others && !x.either;
            either += x.either;
        }
        print_message(
            "# twice the cost of 24 %%, %d runs: found in %.1f %%, others called changed in %.1f %%, "
            "cannot tell which in %.1f %%\n",
            runs, 100.0 * n / PAIRS, 100.0 * others / PAIRS, 100.0 * either / PAIRS);
        assert_true(n > 0.95 * PAIRS);
        assert_true(others < 0.05 * PAIRS);
        assert_true(timed || either < 0.2 * PAIRS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_of_equal_programs_are_called_equal),
        cmocka_unit_test(time_blocks_hold_where_samples_would_not),
        cmocka_unit_test(equal_recordings_are_called_equal),
        cmocka_unit_test(changes_are_found_as_often_as_promised),
        cmocka_unit_test(the_stated_effect_is_found_as_often_as_stated),
        cmocka_unit_test(few_functions_have_what_they_are_measured_against),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("diff_promises", tests, NULL, NULL);
}

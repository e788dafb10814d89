/* One comparison of one run a side: exactly, by time blocks or by samples. Several runs: diff_runs.c. */
#include "analysis/diff_private.h"
#include "analysis/quasi.h"

#include <math.h>

static double welch_df(const struct sp_estimate *a, const struct sp_estimate *b)
{
    double var = a->var + b->var;
    return var > 0 ? var * var / (a->var * a->var / a->df + b->var * b->var / b->df) : a->df;
}

double sp_diff_detectable(const struct sp_diff_test *t, double alpha)
{
    const struct sp_estimate *a = &t->side[SP_BASE], *b = &t->side[SP_NEW];
    if (t->least_p > alpha)
        return INFINITY;
    if (isfinite(t->se)) /* of the ratio */
        return (a->mean + b->mean) / 2 * expm1(sp_quasi_reach(t->df, alpha) * t->se);
    double df = isfinite(a->df) ? welch_df(a, b) : INFINITY;
    return (sp_t_quantile(1 - alpha / 2, df) + sp_t_quantile(0.8, df)) * sqrt(a->var + b->var);
}

static double diff_test_value_of(const struct sp_diff_quantity *q, unsigned side)
{
    const struct sp_diff_side *s = &q->d->side[side];
    double unit = pow(10, -(double)q->d->scale);
    double w = (double)(q->row ? q->row->side[side].weight[q->family] : s->whole) * unit;
    return w / (q->cost || !q->row ? s->per : (double)s->whole * unit);
}

/*
 * The variance that sampling alone gives a side's value when the true one is `mean`: binomial for shares,
 * Poisson for costs, with effective samples.
 */
static double diff_test_sampling(const struct sp_diff_quantity *q, unsigned side, double mean)
{
    const struct sp_diff_side *s = &q->d->side[side];
    double one = (double)s->whole * pow(10, -(double)q->d->scale) / s->effective; /* weight of a sample */
    double v = q->cost || !q->row ? mean * one / s->per : mean * (1 - mean) / s->effective;
    return v > 0 ? v : 0;
}

static void diff_test_interval(struct sp_diff_test *t, double se, double df)
{
    double half = sp_t_quantile(0.975, df) * se;
    t->lo = t->delta - half;
    t->hi = t->delta + half;
    t->mde = sp_diff_detectable(t, SP_DIFF_ALPHA);
}

static void by_blocks(const struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    double se, df, alone = 0, both = (t->side[SP_BASE].mean + t->side[SP_NEW].mean) / 2;
    for (unsigned side = 0; side < SP_SIDES; side++) {
        const struct sp_diff_run *r = q->d->runs[side].v[0];
        struct sp_estimate *e = &t->side[side];
        double span[SP_DIFF_BLOCKS], unit = pow(10, -(double)r->scale),
                                     least = diff_test_sampling(q, side, both), mean = e->mean;
        const double *x = r->block_values + ((size_t)q->row->key * SP_FAMILIES + q->family) * r->blocks;
        double y[SP_DIFF_BLOCKS];
        bool dependent;
        for (unsigned i = 0; i < r->blocks; i++) {
            y[i] = q->cost ? x[i] * unit : x[i];
            span[i] = q->cost ? r->per / r->blocks : r->block_total[i];
        }
        *e = sp_block_estimate(y, span, r->blocks, &dependent);
        e->var = e->var > least ? e->var : least;
        e->mean = mean;
        t->dependent = t->dependent || dependent;
        alone += least;
    }
    t->test = "welch";
    t->p = sp_welch(t->side[SP_BASE], t->side[SP_NEW], &se, &df);
    t->deff = se * se / alone;
    diff_test_interval(t, se, df);
    if (isnan(t->p) && t->delta == 0)
        t->p = 1;
}

/* Samples taken to be independent. */
static void by_samples(const struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    const struct sp_diff *d = q->d;
    double k[SP_SIDES], n[SP_SIDES], eff[SP_SIDES], pooled = 0;
    for (unsigned side = 0; side < SP_SIDES; side++) {
        const struct sp_diff_side *s = &d->side[side];
        k[side] = q->row ? (double)q->row->side[side].samples[q->family] : (double)s->samples;
        n[side] = (double)s->samples;
        eff[side] = s->effective;
        t->side[side].var = diff_test_sampling(q, side, t->side[side].mean);
        t->side[side].df = INFINITY;
        pooled += t->side[side].mean * eff[side];
    }
    diff_test_interval(t, sqrt(t->side[SP_BASE].var + t->side[SP_NEW].var), INFINITY);
    if (d->method == SP_DIFF_NONE)
        t->lo = t->hi = t->mde = NAN;
    if (!q->row || d->method == SP_DIFF_NONE)
        return; /* nothing is known of how totals of runs differ, or of anything */
    if (q->cost) {
        t->test = "binomial";
        t->p = sp_rate_p(k[SP_BASE], d->side[SP_BASE].per, k[SP_NEW], d->side[SP_NEW].per);
        return;
    }
    pooled /= eff[SP_BASE] + eff[SP_NEW];
    t->mde = (SP_Z95 + SP_Z80) * sqrt(pooled * (1 - pooled) * (1 / eff[SP_BASE] + 1 / eff[SP_NEW]));
    sp_newcombe(t->side[SP_BASE].mean, eff[SP_BASE], t->side[SP_NEW].mean, eff[SP_NEW], SP_Z95, &t->lo,
                &t->hi);
    bool few = k[SP_BASE] < SP_DIFF_LEAST || k[SP_NEW] < SP_DIFF_LEAST;
    t->test = few ? "fisher" : "z";
    t->p = few ? sp_fisher_p((uint64_t)k[SP_BASE], (uint64_t)n[SP_BASE], (uint64_t)k[SP_NEW],
                             (uint64_t)n[SP_NEW])
               : sp_share_p(k[SP_BASE], n[SP_BASE], k[SP_NEW], n[SP_NEW]);
    if (t->delta * sp_share_z(k[SP_BASE], n[SP_BASE], k[SP_NEW], n[SP_NEW]) < 0)
        t->p = 1; /* samples say one thing, weights another */
}

/* Counted, not sampled: the weights themselves are equal or not, whatever became of the shares. */
static void diff_test_exactly(const struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    const struct sp_diff *d = q->d;
    __int128 w[SP_SIDES];
    for (unsigned side = 0; side < SP_SIDES; side++) {
        w[side] = q->row ? q->row->side[side].weight[q->family] : d->side[side].whole;
        t->side[side].var = 0;
        t->side[side].df = INFINITY;
    }
    t->test = "exact";
    t->p = w[SP_BASE] == w[SP_NEW] ? 1 : 0;
    t->lo = t->hi = t->delta;
    t->mde = 0;
}

void sp_diff_compare(const struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    *t = (struct sp_diff_test){.verdict = SP_DIFF_UNAVAILABLE};
    t->lo = t->hi = t->p = t->q = t->mde = t->mde_family = t->deff = t->change_lo = t->change_hi = t->se =
        t->df = NAN;
    for (unsigned side = 0; side < SP_SIDES; side++)
        t->side[side] = (struct sp_estimate){diff_test_value_of(q, side), NAN, NAN};
    t->delta = t->side[SP_NEW].mean - t->side[SP_BASE].mean;
    t->change = t->delta / t->side[SP_BASE].mean;
    if (q->d->method >= SP_DIFF_REPEATS) {
        sp_diff_by_runs(q, t);
        t->mde = t->test ? sp_diff_detectable(t, SP_DIFF_ALPHA) : NAN;
    } else if (q->d->method == SP_DIFF_EXACT)
        diff_test_exactly(q, t);
    else if (q->d->method == SP_DIFF_TIME_BLOCKS && q->row)
        by_blocks(q, t);
    else
        by_samples(q, t);
}

/* One comparison: of a function's share or rate, or of the total, by runs, by time blocks or by samples. */
#include "analysis/diff_private.h"

#include <math.h>

static void gather(struct sp_diff_quantity *q)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < q->d->runs[side].n; i++) {
            const struct sp_diff_run *r = q->d->runs[side].v[i];
            double unit = pow(10, -(double)r->scale), total = (double)r->total;
            double w = q->row ? (double)r->values[q->family][q->row->key].weight : total;
            q->x[side][i] = !q->row     ? w * unit
                            : q->rate   ? w * unit / r->seconds
                            : total > 0 ? w / total
                                        : NAN;
        }
}

/*
 * The variance that sampling alone gives a run's value when the true one is `mean`: binomial for shares,
 * Poisson for rates and totals, with effective samples. 0 where samples are unknown.
 */
static double sampling(const struct sp_diff_quantity *q, const struct sp_diff_run *r, double mean)
{
    double unit = (double)r->total * pow(10, -(double)r->scale) / r->effective; /* weight of a sample */
    double v = !q->row ? mean * unit : q->rate ? mean * unit / r->seconds : mean * (1 - mean) / r->effective;
    return v > 0 ? v : 0;
}

static double mean_sampling(const struct sp_diff_quantity *q, double mean)
{
    double sum = 0;
    size_t n = 0;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < q->d->runs[side].n; i++, n++)
            sum += sampling(q, q->d->runs[side].v[i], mean);
    return sum / (double)n;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

static void interval(struct sp_diff_test *t, double se, double df)
{
    double half = (isinf(df) ? SP_Z95 : sp_t_quantile(0.975, df)) * se;
    t->lo = t->delta - half;
    t->hi = t->delta + half;
    t->mde = half + (isinf(df) ? SP_Z80 : sp_t_quantile(0.8, df)) * se;
}

/* p where neither runs nor sampling show any spread: equal means are equal, others are as rare as a split. */
static double without_spread(struct sp_diff_quantity *q, const struct sp_diff_test *t)
{
    return t->delta == 0 ? 1 : q->plan ? sp_permutation_p(q->plan, q->all) : NAN;
}

static void by_runs(struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    const struct sp_diff *d = q->d;
    size_t na = d->runs[SP_BASE].n, nb = d->runs[SP_NEW].n;
    double se, df, both = (mean_of(q->x[0], na) + mean_of(q->x[1], nb)) / 2, least = mean_sampling(q, both);
    t->side[SP_BASE] = sp_estimate_of(q->x[SP_BASE], na, least);
    t->side[SP_NEW] = sp_estimate_of(q->x[SP_NEW], nb, least);
    t->delta = t->side[SP_NEW].mean - t->side[SP_BASE].mean;
    if (d->method == SP_DIFF_ONE_SIDED) {
        t->test = "student";
        t->p = sp_pooled(q->x[SP_BASE], na, q->x[SP_NEW], nb, least, &se, &df);
        double var = se * se / (1 / (double)na + 1 / (double)nb);
        t->side[SP_BASE].var = var / (double)na;
        t->side[SP_NEW].var = var / (double)nb;
        t->side[SP_BASE].df = t->side[SP_NEW].df = df;
    } else {
        t->test = "welch";
        t->p = sp_welch(t->side[SP_BASE], t->side[SP_NEW], &se, &df);
    }
    interval(t, se, df);
    t->deff = se * se / (least * (1 / (double)na + 1 / (double)nb));
    memcpy(q->all, q->x[SP_BASE], na * sizeof *q->all);
    memcpy(q->all + na, q->x[SP_NEW], nb * sizeof *q->all);
    if (d->method == SP_DIFF_PERMUTATION) {
        t->test = "permutation";
        t->p = sp_permutation_p(q->plan, q->all);
    } else if (isnan(t->p) && isfinite(t->delta)) {
        t->p = without_spread(q, t);
    }
}

static void by_blocks(struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    double se, df, alone = 0, both = (q->x[0][0] + q->x[1][0]) / 2;
    for (unsigned side = 0; side < SP_SIDES; side++) {
        const struct sp_diff_run *r = q->d->runs[side].v[0];
        double span[SP_DIFF_BLOCKS], unit = pow(10, -(double)r->scale), least = sampling(q, r, both);
        const double *x = r->block_values + ((size_t)q->row->key * SP_FAMILIES + q->family) * r->blocks;
        double y[SP_DIFF_BLOCKS];
        bool dependent;
        for (unsigned i = 0; i < r->blocks; i++) {
            y[i] = q->rate ? x[i] * unit : x[i];
            span[i] = q->rate ? r->seconds / r->blocks : r->block_total[i];
        }
        t->side[side] = sp_block_estimate(y, span, r->blocks, &dependent);
        t->side[side].var = t->side[side].var > least ? t->side[side].var : least;
        t->side[side].mean = q->x[side][0];
        t->dependent = t->dependent || dependent;
        alone += least;
    }
    t->test = "welch";
    t->delta = t->side[SP_NEW].mean - t->side[SP_BASE].mean;
    t->p = sp_welch(t->side[SP_BASE], t->side[SP_NEW], &se, &df);
    t->deff = se * se / alone;
    interval(t, se, df);
    if (isnan(t->p) && t->delta == 0)
        t->p = 1;
}

/* All runs of a side as one, samples taken to be independent. */
static void by_samples(struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    const struct sp_diff *d = q->d;
    double k[SP_SIDES], n[SP_SIDES], eff[SP_SIDES], pooled = 0, unit = pow(10, -(double)d->scale);
    for (unsigned side = 0; side < SP_SIDES; side++) {
        const struct sp_diff_side *s = &d->side[side];
        double w = q->row ? (double)q->row->side[side].weight[q->family] : (double)s->total;
        double one = (double)s->total * unit / s->effective;
        struct sp_estimate *e = &t->side[side];
        k[side] = q->row ? (double)q->row->side[side].samples[q->family] : (double)s->samples;
        n[side] = (double)s->samples;
        eff[side] = s->effective;
        e->mean = !q->row ? w * unit : q->rate ? w * unit / s->seconds : w / (double)s->total;
        e->var = !q->row   ? e->mean * one
                 : q->rate ? e->mean * one / s->seconds
                           : e->mean * (1 - e->mean) / eff[side];
        e->df = INFINITY;
        pooled += e->mean * eff[side];
    }
    double se = sqrt(t->side[SP_BASE].var + t->side[SP_NEW].var);
    t->delta = t->side[SP_NEW].mean - t->side[SP_BASE].mean;
    interval(t, se, INFINITY);
    if (!q->row || d->method == SP_DIFF_NONE)
        return; /* nothing is known of how totals of runs differ, or of anything */
    if (q->rate) {
        t->test = "binomial";
        t->p = sp_rate_p(k[SP_BASE], d->side[SP_BASE].seconds, k[SP_NEW], d->side[SP_NEW].seconds);
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

void sp_diff_compare(struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    *t = (struct sp_diff_test){.verdict = SP_DIFF_UNAVAILABLE};
    t->lo = t->hi = t->p = t->q = t->mde = t->mde_family = t->deff = NAN;
    gather(q);
    if (q->d->method == SP_DIFF_TIME_BLOCKS && q->row)
        by_blocks(q, t);
    else if (q->d->method >= SP_DIFF_ONE_SIDED)
        by_runs(q, t);
    else
        by_samples(q, t);
}

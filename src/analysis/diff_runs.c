/*
 * Several runs: their weights as counts of samples, how much was recorded in each, and what functions have in
 * common of how runs vary; a row's test by quasi-likelihood or by permutation.
 *
 * A weight is taken as the number of equal samples that would be as sure of it (effective samples): where all
 * samples weigh the same that is their count. Without sample counts its unit is unknown, and dispersions have
 * no floor.
 */
#include "analysis/diff_private.h"
#include "analysis/quasi.h"

#include <math.h>

enum { RELATIVE, COST, WHOLE, MODELS };

struct sp_diff_model {
    struct sp_quasi quasi[MODELS];
    double *size[2]; /* by the median function, by cost */
    double *y;       /* the row's counts: of one at a time */
    double *rows;    /* [row][run]: those that the models are made from */
    double unit;     /* weight of an effective sample */
    double loose;    /* standard error of the median function's change */
    struct sp_permutation plan;
    bool exact;
};

void sp_diff_model_free(struct sp_diff_model *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < 2; i++)
        free(m->size[i]);
    free(m->y);
    free(m->rows);
    sp_permutation_free(&m->plan);
    free(m);
}

static const struct sp_diff_run *run_at(const struct sp_diff *d, size_t j)
{
    size_t n = d->runs[SP_BASE].n;
    return j < n ? d->runs[SP_BASE].v[j] : d->runs[SP_NEW].v[j - n];
}

/* A row's counts, or the totals'; false: some are negative, which no count is. */
static bool counts_of(const struct sp_diff *d, const struct sp_diff_row *row, unsigned family, double *y)
{
    size_t runs = d->runs[SP_BASE].n + d->runs[SP_NEW].n;
    bool ok = true;
    for (size_t j = 0; j < runs; j++) {
        const struct sp_diff_run *r = run_at(d, j);
        int64_t w = row ? r->values[family][row->key].weight : r->total;
        y[j] = (double)w * pow(10, -(double)r->scale) / d->model->unit;
        ok = ok && w >= 0;
    }
    return ok;
}

/* Weight of an effective sample, the same in all runs: what runs differ by shall show. */
static void take_unit(struct sp_diff *d)
{
    struct sp_diff_model *m = d->model;
    double effective = d->side[SP_BASE].effective + d->side[SP_NEW].effective,
           unit = pow(10, -(double)d->scale);
    double total[SP_SIDES] = {(double)d->side[SP_BASE].whole * unit, (double)d->side[SP_NEW].whole * unit};
    bool counted = effective > 0 && !m->exact;
    m->unit = counted ? (total[SP_BASE] + total[SP_NEW]) / effective : 1;
    for (unsigned i = 0; i < MODELS; i++)
        m->quasi[i].floor = counted ? 1 : 0;
}

/* Counts of the rows that models are made from: [row][run]. */
static size_t diff_runs_gather(struct sp_diff *d,
                               bool (*fit)(const struct sp_diff *d, const struct sp_diff_row *row))
{
    size_t rows = d->rows.n + d->appeared.n + d->vanished.n, n = 0;
    for (size_t i = 0; i < rows; i++) {
        const struct sp_diff_row *row = sp_diff_row_at(d, i);
        n += fit(d, row) && counts_of(d, row, SP_SELF, d->model->rows + n * d->model->quasi[0].runs);
    }
    return n;
}

static void by_cost(const struct sp_diff *d, double *size)
{
    size_t runs = d->runs[SP_BASE].n + d->runs[SP_NEW].n;
    for (size_t j = 0; j < runs; j++)
        size[j] = run_at(d, j)->per;
}

static int diff_runs_cmp_double(const void *va, const void *vb)
{
    const double *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

/* Of the median of n values: by their median absolute deviation, as if they were normal. */
static double error_of_median(double *x, size_t n)
{
    if (n < 2)
        return 0;
    qsort(x, n, sizeof *x, diff_runs_cmp_double);
    double median = (x[n / 2] + x[(n - 1) / 2]) / 2;
    for (size_t i = 0; i < n; i++)
        x[i] = fabs(x[i] - median);
    qsort(x, n, sizeof *x, diff_runs_cmp_double);
    return sqrt(M_PI / 2) * 1.4826 * (x[n / 2] + x[(n - 1) / 2]) / 2 / sqrt((double)n);
}

static bool take_looseness(struct sp_diff_model *m, size_t rows)
{
    double *x = calloc(rows + 1, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; x && i < rows; i++) {
        double change = sp_quasi_test(&m->quasi[RELATIVE], m->rows + i * m->quasi[RELATIVE].runs).change;
        if (isfinite(change))
            x[n++] = change;
    }
    bool ok = x != NULL;
    m->loose = ok ? error_of_median(x, n) : 0;
    free(x);
    return ok;
}

static double median_change(const struct sp_diff_model *m)
{
    double sum[2][SP_SIDES] = {{0}};
    for (size_t j = 0; j < m->quasi[0].runs; j++)
        for (unsigned i = 0; i < 2; i++)
            sum[i][j < m->quasi[0].base ? SP_BASE : SP_NEW] += m->size[i][j];
    return sum[0][SP_NEW] / sum[1][SP_NEW] / (sum[0][SP_BASE] / sum[1][SP_BASE]) - 1;
}

/*
 * What functions are measured against: counted ones, and few ones whose runs' lengths are known, by
 * themselves; else the median function, or the total where too few have a median.
 */
static bool take_sizes(struct sp_diff *d, size_t rows)
{
    struct sp_diff_model *m = d->model;
    bool by_median = false;
    if (!m->exact && !sp_quasi_sizes(m->rows, rows, m->quasi[0].runs, m->size[0], &by_median))
        return false;
    d->reference = by_median                           ? SP_AGAINST_MEDIAN
                   : d->per == SP_PER_RUN && !m->exact ? SP_AGAINST_WHOLE
                                                       : SP_AGAINST_COST;
    if (d->reference == SP_AGAINST_COST)
        by_cost(d, m->size[0]);
    else if (d->reference == SP_AGAINST_WHOLE)
        counts_of(d, NULL, 0, m->size[0]);
    return true;
}

bool sp_diff_model_make(struct sp_diff *d,
                        bool (*fit)(const struct sp_diff *d, const struct sp_diff_row *row))
{
    size_t base = d->runs[SP_BASE].n, runs = base + d->runs[SP_NEW].n, n;
    size_t rows = d->rows.n + d->appeared.n + d->vanished.n;
    struct sp_diff_model *m = d->model = calloc(1, sizeof *m);
    if (!m || !(m->y = calloc(runs + 1, sizeof *m->y)) ||
        !(m->rows = calloc(rows * runs + 1, sizeof *m->rows)) ||
        !(m->size[0] = calloc(runs + 1, sizeof(double))) ||
        !(m->size[1] = calloc(runs + 1, sizeof(double))) || !sp_permutation_plan(&m->plan, base, runs - base))
        return false;
    m->exact = true;
    for (size_t j = 0; j < runs; j++)
        m->exact = m->exact && run_at(d, j)->exact;
    for (unsigned i = 0; i < MODELS; i++)
        m->quasi[i] = (struct sp_quasi){.base = base, .runs = runs, .size = m->size[i == RELATIVE ? 0 : 1]};
    take_unit(d);
    n = diff_runs_gather(d, fit);
    by_cost(d, m->size[1]);
    if (!take_sizes(d, n) || !sp_quasi_fit(&m->quasi[RELATIVE], m->rows, n) ||
        !sp_quasi_fit(&m->quasi[COST], m->rows, n))
        return false;
    d->prior = m->quasi[RELATIVE].prior;
    d->prior_df = m->quasi[RELATIVE].prior_df;
    if (d->reference != SP_AGAINST_MEDIAN)
        return true;
    d->median_change = median_change(m);
    return take_looseness(m, n);
}

/* Runs that agree entirely on both sides: exact counts differ, others are as rare as a split of the runs. */
static double without_spread(const struct sp_diff_model *m, const struct sp_quasi_test *x,
                             const double *relative)
{
    return fabs(x->change) < 1e-12 ? 1 : m->exact ? 0 : sp_permutation_p(&m->plan, relative);
}

/* What is not known of a side's share or cost, by the row's dispersion. */
static double variance(const struct sp_diff_quantity *q, unsigned side, const struct sp_quasi_test *x,
                       double extra)
{
    const struct sp_diff_model *m = q->d->model;
    const struct sp_diff_side *s = &q->d->side[side];
    double unit = pow(10, -(double)q->d->scale);
    double w = (double)(q->row ? q->row->side[side].weight[q->family] : s->whole) * unit;
    bool cost = q->cost || !q->row;
    double y = w / m->unit,
           rest = cost ? 1 : 1 - w / ((double)s->whole * unit); /* little is left of a share near 1 */
    double var = x->dispersion * fmax(y, m->quasi[0].floor) * rest + y * y * rest * rest * extra / 2;
    double scale = m->unit / (cost ? s->per : (double)s->whole * unit);
    return var * scale * scale;
}

/* The one build of the row's binary that a side has; SP_STR_NONE: unknown, or several. */
static uint32_t build_of(const struct sp_diff *d, unsigned side, uint32_t key)
{
    uint32_t build = SP_STR_NONE;
    for (size_t i = 0; i < d->runs[side].n; i++) {
        const struct sp_diff_name *n = &d->runs[side].v[i]->names[key];
        if (n->function == SP_STR_NONE)
            continue;
        if (n->build == SP_STR_NONE || (build != SP_STR_NONE && build != n->build))
            return SP_STR_NONE;
        build = n->build;
    }
    return build;
}

bool sp_diff_of_two_builds(const struct sp_diff *d, const struct sp_diff_row *row)
{
    uint32_t base = build_of(d, SP_BASE, row->key), new = build_of(d, SP_NEW, row->key);
    return base != SP_STR_NONE && new != SP_STR_NONE &&base != new;
}

void sp_diff_by_runs(const struct sp_diff_quantity *q, struct sp_diff_test *t)
{
    struct sp_diff_model *m = q->d->model;
    struct sp_quasi model = m->quasi[!q->row ? WHOLE : q->cost ? COST : RELATIVE];
    if (!counts_of(q->d, q->row, q->family, m->y))
        return;
    t->layout = q->row && !m->exact && sp_diff_of_two_builds(q->d, q->row);
    model.extra = t->layout ? 2 * SP_DIFF_LAYOUT * SP_DIFF_LAYOUT : 0;
    struct sp_quasi_test x = sp_quasi_test(&model, m->y);
    for (size_t j = 0; j < model.runs; j++)
        m->y[j] /= model.size[j];
    for (unsigned side = 0; side < SP_SIDES; side++) {
        t->side[side].var = variance(q, side, &x, model.extra);
        t->side[side].df = x.df;
    }
    double half = sp_t_quantile(0.975, x.df) * sqrt(t->side[SP_BASE].var + t->side[SP_NEW].var);
    t->lo = t->delta - half;
    t->hi = t->delta + half;
    t->change = expm1(x.change);
    t->change_lo = expm1(x.lo);
    t->change_hi = expm1(x.hi);
    t->se = q->row && !q->cost ? hypot(x.se, m->loose) : x.se;
    t->df = x.df;
    t->deff = x.dispersion;
    bool permute = q->d->method == SP_DIFF_PERMUTATION;
    t->test = permute ? "permutation" : "quasi-likelihood";
    t->p = permute ? sp_permutation_p(&m->plan, m->y) : x.dispersion == 0 ? without_spread(m, &x, m->y) : x.p;
    t->least_p = permute || (x.dispersion == 0 && !m->exact) ? sp_permutation_least(&m->plan) : 0;
}

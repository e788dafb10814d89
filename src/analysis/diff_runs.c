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
#include "analysis/reference.h"

#include <math.h>

enum { RELATIVE, COST, WHOLE, MODELS };
enum { MANY = 5 };  /* functions whose median ratio is a reference */
#define SPEAKS 25   /* samples a run of such a function */
#define AGREES 0.05 /* runs that cost the same do, within this much of it */

struct sp_diff_model {
    struct sp_quasi quasi[MODELS];
    double *size[2]; /* by the median function, by cost */
    double *y;       /* the row's counts: of one at a time */
    double *rows;    /* [row][run]: those that the models are made from */
    double unit;     /* weight of an effective sample */
    double loose;    /* standard error of the median function's change */
    double shifted;  /* variance of the change of what functions that agree have in common */
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

/* Counts of the rows that models are made from: [row][run]; fits: which those are. */
static size_t diff_runs_gather(struct sp_diff *d,
                               bool (*fit)(const struct sp_diff *d, const struct sp_diff_row *row),
                               bool *fits)
{
    size_t rows = d->rows.n + d->appeared.n + d->vanished.n, n = 0;
    for (size_t i = 0; i < rows; i++) {
        const struct sp_diff_row *row = sp_diff_row_at(d, i);
        fits[i] = fit(d, row) && counts_of(d, row, SP_SELF, d->model->rows + n * d->model->quasi[0].runs);
        n += fits[i];
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

/* Growth of the reference's cost: by how much the runs' sizes grew against what costs are divided by. */
static double change_of_reference(const struct sp_diff_model *m)
{
    double sum[2][SP_SIDES] = {{0}};
    for (size_t j = 0; j < m->quasi[0].runs; j++)
        for (unsigned i = 0; i < 2; i++)
            sum[i][j < m->quasi[0].base ? SP_BASE : SP_NEW] += m->size[i][j];
    return sum[0][SP_NEW] / sum[1][SP_NEW] / (sum[0][SP_BASE] / sum[1][SP_BASE]) - 1;
}

/* How many rows have samples enough for the median of their ratios to be a reference. */
static size_t that_speak(const struct sp_diff_model *m, size_t rows)
{
    size_t n = 0, runs = m->quasi[0].runs;
    for (size_t i = 0; i < rows; i++) {
        double sum = 0, least = INFINITY;
        for (size_t j = 0; j < runs; j++) {
            sum += m->rows[i * runs + j];
            least = fmin(least, m->rows[i * runs + j]);
        }
        n += least > 0 && sum >= SPEAKS * (double)runs;
    }
    return n;
}

/* Largest less smallest, of the mean: what runs of a side differ by in all. */
static double spread_of(const double *totals, const double *per, size_t from, size_t to)
{
    double lo = INFINITY, hi = 0, sum = 0;
    for (size_t j = from; j < to; j++) {
        double x = totals[j] / per[j];
        lo = fmin(lo, x);
        hi = fmax(hi, x);
        sum += x / (double)(to - from);
    }
    return to - from > 1 && sum > 0 ? (hi - lo) / sum : NAN;
}

/* The mean of the logarithms of a side's whole costs, and the variance of that: of one run, NaN. */
static double mean_of(const double *totals, const double *per, size_t from, size_t to, double *squares)
{
    double mean = 0;
    for (size_t j = from; j < to; j++)
        mean += log(totals[j] / per[j]) / (double)(to - from);
    for (size_t j = from; j < to; j++)
        *squares += (log(totals[j] / per[j]) - mean) * (log(totals[j] / per[j]) - mean);
    return mean;
}

/*
 * Where runs of a side agree in what they cost and the sides do not, each run does the same work: runs that
 * last for a time of their own would agree on both sides, or differ on one.
 */
static void same_work(struct sp_diff *d, struct sp_reference_data *x)
{
    const double *per = d->model->size[1];
    size_t n[] = {x->base, x->runs - x->base};
    double squares = 0, mean[] = {mean_of(x->totals, per, 0, x->base, &squares),
                                  mean_of(x->totals, per, x->base, x->runs, &squares)};
    d->side[SP_BASE].spread = spread_of(x->totals, per, 0, x->base);
    d->side[SP_NEW].spread = spread_of(x->totals, per, x->base, x->runs);
    x->same_work = NAN;
    if (x->runs < 3)
        return;
    x->same_work_se =
        fmax(sqrt(squares / (double)(x->runs - 2) * (1 / (double)n[0] + 1 / (double)n[1])), AGREES / 4);
    double change = mean[SP_NEW] - mean[SP_BASE];
    if (x->same_work_se <= AGREES && fabs(change) > 3 * x->same_work_se)
        x->same_work = -change;
}

/* Few functions: what agrees, if something does; the rows that do are marked. */
static bool by_agreement(struct sp_diff *d, size_t rows, const bool *fits)
{
    struct sp_diff_model *m = d->model;
    struct sp_reference_data x = {.counts = m->rows,
                                  .totals = m->y,
                                  .rows = rows,
                                  .runs = m->quasi[0].runs,
                                  .base = m->quasi[0].base,
                                  .floor = m->quasi[0].floor};
    struct sp_reference r;
    counts_of(d, NULL, 0, m->y);
    same_work(d, &x);
    bool ok = sp_reference_find(&x, &r), found = ok && r.found;
    for (size_t i = 0, k = 0; found && i < d->rows.n + d->appeared.n + d->vanished.n; i++)
        if (fits[i])
            sp_diff_row_at(d, i)->reference = r.agrees[k++];
    for (size_t j = 0; found && j < x.runs; j++)
        m->size[0][j] = m->y[j] * (j < x.base ? 1 : exp(r.shift));
    if (found) {
        d->reference = SP_AGAINST_AGREEING;
        m->shifted = r.var;
    }
    sp_reference_free(&r);
    return ok;
}

/*
 * What functions are measured against: counted ones, and those of work that was stated, where they are few,
 * by themselves; many by their median; few others by those that agree. Where none do more than others, by the
 * whole.
 */
static bool take_sizes(struct sp_diff *d, size_t rows, const bool *fits)
{
    struct sp_diff_model *m = d->model;
    bool by_median = false;
    if (!m->exact && !sp_quasi_sizes(m->rows, rows, m->quasi[0].runs, m->size[0], &by_median))
        return false;
    d->reference = by_median && that_speak(m, rows) >= MANY ? SP_AGAINST_MEDIAN
                   : d->per == SP_PER_RUN && !m->exact      ? SP_AGAINST_WHOLE
                                                            : SP_AGAINST_COST;
    if (d->reference != SP_AGAINST_MEDIAN && !m->exact && d->per != SP_PER_WORK &&
        !by_agreement(d, rows, fits))
        return false;
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
    bool *fits = calloc(rows + 1, sizeof *fits);
    n = fits ? diff_runs_gather(d, fit, fits) : 0;
    by_cost(d, m->size[1]);
    bool ok = fits && take_sizes(d, n, fits) && sp_quasi_fit(&m->quasi[RELATIVE], m->rows, n) &&
              sp_quasi_fit(&m->quasi[COST], m->rows, n);
    free(fits);
    if (!ok)
        return false;
    d->prior = m->quasi[RELATIVE].prior;
    d->prior_df = m->quasi[RELATIVE].prior_df;
    if (d->reference == SP_AGAINST_MEDIAN || d->reference == SP_AGAINST_AGREEING)
        d->reference_change = change_of_reference(m);
    bool ok2 = d->reference != SP_AGAINST_MEDIAN || take_looseness(m, n);
    d->reference_se = d->reference == SP_AGAINST_AGREEING ? sqrt(m->shifted) : m->loose;
    return ok2;
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
    model.extra += q->row && !q->cost ? m->shifted : 0;
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

#include "analysis/quasi.h"

#include "analysis/stats.h"

#include <math.h>
#include <stdlib.h>

#define OUTLIER  0.2   /* expected number of rows as spread as this one: fewer make it no part of the prior */
#define TREND    10    /* rows from which on dispersions may grow with counts; so many tell half of it */
#define ROUNDING 1e-12 /* of the counts: runs that differ by less are equal */
#define ALIEN    0.005 /* probability of a row's spread by the prior: less makes it take less of it */

/* ---- sizes ---- */

static int quasi_cmp_double(const void *va, const void *vb)
{
    const double *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

static double median_of(double *x, size_t n)
{
    qsort(x, n, sizeof *x, quasi_cmp_double);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static double sum_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static void scale(double *size, size_t runs)
{
    double mean = 0;
    for (size_t j = 0; j < runs; j++)
        mean += log(size[j]) / (double)runs;
    for (size_t j = 0; j < runs; j++)
        size[j] /= exp(mean);
}

/*
 * The rows that speak for the sizes: by what they have in all runs together, so that none is chosen for what
 * it has in one, but for those that some run has nothing of.
 */
static size_t speakers(const double *counts, size_t rows, size_t runs, double least, size_t *which)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        bool everywhere = true;
        for (size_t j = 0; j < runs; j++)
            everywhere = everywhere && counts[i * runs + j] > 0;
        if (everywhere && sum_of(counts + i * runs, runs) >= least)
            which[n++] = i;
    }
    return n;
}

static void by_totals(const double *counts, size_t rows, size_t runs, double *size)
{
    for (size_t j = 0; j < runs; j++)
        size[j] = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < runs; j++)
            size[j] += counts[i * runs + j];
    for (size_t j = 0; j < runs; j++)
        size[j] = size[j] > 0 ? size[j] : 1;
}

bool sp_quasi_sizes(const double *counts, size_t rows, size_t runs, double *size, bool *by_median)
{
    size_t *which = calloc(rows + 1, sizeof *which), n = 0;
    double *ratio = calloc(rows + 1, sizeof *ratio), *centre = calloc(rows + 1, sizeof *centre);
    double all = 0, shortest = INFINITY;
    by_totals(counts, rows, runs, size);
    for (size_t j = 0; j < runs; j++) {
        all += size[j];
        shortest = size[j] < shortest ? size[j] : shortest;
    }
    bool ok = which && ratio && centre;
    if (ok) {
        n = speakers(counts, rows, runs, SP_QUASI_LEAST * all / shortest, which);
        if (n < SP_QUASI_ROWS)
            n = speakers(counts, rows, runs, SP_QUASI_LEAST, which);
    }
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < runs; j++)
            centre[k] += log(counts[which[k] * runs + j]) / (double)runs;
    for (size_t j = 0; n >= SP_QUASI_ROWS && j < runs; j++) {
        for (size_t k = 0; k < n; k++)
            ratio[k] = log(counts[which[k] * runs + j]) - centre[k];
        size[j] = exp(median_of(ratio, n));
    }
    scale(size, runs);
    free(which);
    free(ratio);
    free(centre);
    *by_median = n >= SP_QUASI_ROWS;
    return ok;
}

/* ---- deviance ---- */

static double deviance_of(double y, double mean)
{
    return y > 0 ? 2 * (y * log(y / mean) - (y - mean)) : 2 * mean;
}

/* A row as its two sides: sums and sizes, and the deviance of the runs from their side's rate. */
struct sides {
    double y[2], size[2];
    double within, df;
};

static struct sides sides_of(const struct sp_quasi *q, const double *counts)
{
    struct sides s = {0};
    size_t first[] = {0, q->base, q->runs};
    for (unsigned side = 0; side < 2; side++) {
        size_t n = first[side + 1] - first[side];
        s.y[side] = sum_of(counts + first[side], n);
        s.size[side] = sum_of(q->size + first[side], n);
        if (!(s.y[side] > 0))
            continue; /* runs without any agree because they have none: they tell nothing of the spread */
        for (size_t j = first[side]; j < first[side + 1]; j++)
            s.within += deviance_of(counts[j], s.y[side] / s.size[side] * q->size[j]);
        s.df += (double)n - 1;
    }
    if (s.within < ROUNDING * (s.y[0] + s.y[1]))
        s.within = 0;
    return s;
}

/* What is lost by taking the rates to differ by the factor exp(change). */
static double between(const struct sides *s, double change)
{
    double a = s->size[0], b = s->size[1] * exp(change), all = s->y[0] + s->y[1];
    return deviance_of(s->y[0], all * (a / (a + b))) + deviance_of(s->y[1], all * (b / (a + b)));
}

/* ---- the prior ---- */

/* The x with trigamma(x) = y, by bisection on a logarithmic scale. */
static double trigamma_inverse(double y)
{
    double lo = 1e-4, hi = 1e4;
    for (int i = 0; i < 100; i++) {
        double mid = sqrt(lo * hi);
        *(sp_trigamma(mid) > y ? &lo : &hi) = mid;
    }
    return lo;
}

/* What rows have in common: the dispersion of one with such a count. */
static double prior_at(const struct sp_quasi *q, double count)
{
    return q->prior > 0 ? q->prior * exp(q->slope * (log(count) - q->centre)) : 0;
}

/* A row's log dispersion without the bias that few degrees of freedom give it, and the variance they give it.
 */
struct spread {
    double e, chance, raw, df;
    double count; /* its logarithm */
};

static int cmp_spread(const void *va, const void *vb)
{
    return quasi_cmp_double(&((const struct spread *)va)->e, &((const struct spread *)vb)->e);
}

static size_t spreads_of(const struct sp_quasi *q, const double *counts, size_t rows, struct spread *x)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        struct sides s = sides_of(q, counts + i * q->runs);
        double raw = s.within / s.df, least = q->floor * 1e-3;
        if (!(s.df > 0) || !(raw > 0) || (q->floor > 0 && s.y[0] + s.y[1] < 3 * (double)q->runs))
            continue;
        x[n++] = (struct spread){log(raw > least ? raw : least) - sp_digamma(s.df / 2) + log(s.df / 2),
                                 sp_trigamma(s.df / 2), raw, s.df, log(s.y[0] + s.y[1])};
    }
    return n;
}

/* Sums over rows that the prior follows from. */
struct moments {
    double n, e, squares, chance, raw, count, counts, both;
};

static void quasi_take(struct moments *m, const struct spread *x, double sign)
{
    m->n += sign;
    m->e += sign * x->e;
    m->squares += sign * x->e * x->e;
    m->chance += sign * x->chance;
    m->raw += sign * x->raw;
    m->count += sign * x->count;
    m->counts += sign * x->count * x->count;
    m->both += sign * x->count * x->e;
}

/*
 * By how much the log dispersion grows with the log count: 0 where runs are samples of one thing, 1 where
 * each differs by a percentage. Between: few rows tell little of it, and are believed by half or so.
 */
static double slope_of(const struct moments *m)
{
    double x = m->counts - m->count * m->count / m->n, xy = m->both - m->e * m->count / m->n;
    double slope = x > 0 && m->n >= TREND ? xy / x * m->n / (m->n + TREND) : 0;
    return slope < 0 ? 0 : slope > 1 ? 1 : slope;
}

/*
 * The rows' log dispersions vary by what few runs make them vary and by how functions differ; what is left of
 * the second says how much of a prior they are. Returns its degrees of freedom, which may be infinite.
 */
static double prior_of(const struct moments *m, struct sp_quasi *q)
{
    double mean = m->e / m->n, b = q->slope = slope_of(m);
    double x = m->counts - m->count * m->count / m->n, xy = m->both - mean * m->count;
    double squares = m->squares - m->e * mean - 2 * b * xy + b * b * x;
    double left = squares / (m->n - (b > 0 ? 2 : 1)) - m->chance / m->n;
    double df = left > 0 ? 2 * trigamma_inverse(left) : INFINITY;
    q->centre = m->count / m->n;
    q->prior = isfinite(df) ? exp(mean + sp_digamma(df / 2) - log(df / 2))
               : b > 0      ? exp(mean)
                            : m->raw / m->n;
    return df;
}

/*
 * Functions that vary far more than the others (up to a quarter of them) have no part in what those have
 * in common: with them, the quiet ones would be judged as noisy, and they as quiet.
 */
bool sp_quasi_fit(struct sp_quasi *q, const double *counts, size_t rows)
{
    struct spread *x = calloc(rows + 1, sizeof *x);
    struct moments all = {0};
    size_t n = x ? spreads_of(q, counts, rows, x) : 0, kept = n;
    q->prior = q->prior_df = q->slope = q->centre = 0;
    if (n)
        qsort(x, n, sizeof *x, cmp_spread);
    for (size_t i = 0; i < n; i++)
        quasi_take(&all, &x[i], 1);
    double df = n > 1 ? prior_of(&all, q) : 0;
    while (kept > 3 && (n - kept + 1) * 4 <= n + 2) {
        const struct spread *top = &x[kept - 1];
        struct moments others = all;
        struct sp_quasi without = *q;
        quasi_take(&others, top, -1);
        double others_df = prior_of(&others, &without),
               common = fmax(prior_at(&without, exp(top->count)), q->floor);
        if (sp_f_tail(top->raw / common, top->df, others_df) * (double)n >= OUTLIER)
            break;
        all = others;
        df = others_df;
        *q = without;
        kept--;
    }
    q->prior_df = fmin(df, SP_QUASI_PRIOR_DF);
    bool ok = x != NULL;
    free(x);
    return ok;
}

/* ---- a row ---- */

/*
 * How much of the prior a row takes: all, unless its spread is one that fewer than 1 of 200 rows would have
 * by chance if the prior were theirs.
 */
static double prior_for(const struct sp_quasi *q, const struct sides *s)
{
    double common = fmax(prior_at(q, s->y[0] + s->y[1]), q->floor);
    if (!(s->df > 0) || !(common > 0))
        return q->prior_df;
    double tail = sp_f_tail(s->within / s->df / common, s->df, INFINITY);
    return tail < ALIEN ? q->prior_df * tail / ALIEN : q->prior_df;
}

/* Where the loss reaches `most` on one side of the estimate; the estimate may be infinite. */
static double quasi_limit(const struct sides *s, double scale, double change, double from, double step,
                          double most)
{
    double in = isfinite(change) ? change : from, out = in + step;
    if (isinf(change) && (change > 0) == (step > 0))
        return change;
    while (isinf(change) && between(s, in) * scale > most && fabs(in) < 700)
        in -= step;
    for (int i = 0; i < 400 && between(s, out) * scale < most; i++)
        out += step;
    for (int i = 0; i < 100; i++) {
        double mid = (in + out) / 2;
        *(between(s, mid) * scale < most ? &in : &out) = mid;
    }
    return out;
}

struct sp_quasi_test sp_quasi_test(const struct sp_quasi *q, const double *counts)
{
    struct sp_quasi_test t = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    struct sides s = sides_of(q, counts);
    double all = s.y[0] + s.y[1], share = s.size[0] / (s.size[0] + s.size[1]);
    if (!(all > 0) || !(s.size[0] > 0) || !(s.size[1] > 0))
        return t;
    t.change = log(s.y[1] / s.size[1]) - log(s.y[0] / s.size[0]);
    double prior_df = prior_for(q, &s);
    t.df = prior_df + s.df;
    t.dispersion = fmax(q->floor, (prior_df * prior_at(q, all) + s.within) / t.df);
    if (!(t.df > 0) || !(t.dispersion > 0)) /* nothing that tells how runs vary */
        return t;
    /* With a variance that runs cannot show, each sample tells less by the same factor. */
    double var = t.dispersion / all / (share * (1 - share)), loss = 1 / t.dispersion * var / (var + q->extra);
    double reach = sp_t_quantile(0.975, t.df);
    t.se = sqrt(var + q->extra);
    t.p = 2 * sp_t_tail(sqrt(fmax(between(&s, 0), 0) * loss), t.df);
    t.lo = quasi_limit(&s, loss, t.change, 0, -t.se, reach * reach);
    t.hi = quasi_limit(&s, loss, t.change, 0, t.se, reach * reach);
    return t;
}

/* Of the non-central t distribution, which is nearly normal: the standard error itself is only estimated. */
double sp_quasi_reach(double df, double alpha)
{
    double t = sp_t_quantile(1 - alpha / 2, df);
    return t * (1 - 1 / (4 * df)) + SP_Z80 * sqrt(1 + t * t / (2 * df));
}

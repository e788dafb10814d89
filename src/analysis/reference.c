#include "analysis/reference.h"

#include <math.h>
#include <stdlib.h>

#define LAYOUT 0.025 /* of a function's cost: what builds differ by without a reason in the source */
#define VAGUE  0.1   /* standard error of a function's log ratio at which it counts half */
#define WORK   0.5   /* what equal work counts beside the functions */
#define CLEAR  0.3   /* by so much a factor has to fit better than the next */

/* A row's log ratio of shares, new over base. */
struct moved {
    double ratio, var, speaks;
    double y[2];
    size_t row;
};

static double deviance_from(const double *y, const double *totals, size_t from, size_t to, double rate)
{
    double sum = 0;
    for (size_t j = from; j < to; j++)
        sum += y[j] > 0 ? 2 * (y[j] * log(y[j] / (rate * totals[j])) - (y[j] - rate * totals[j]))
                        : 2 * rate * totals[j];
    return sum;
}

static double sum_from(const double *y, size_t from, size_t to)
{
    double sum = 0;
    for (size_t j = from; j < to; j++)
        sum += y[j];
    return sum;
}

/* Rows of both sides: returns how many. What runs of a side differ by is taken from all of them together. */
static size_t find_moved(const struct sp_reference_data *x, struct moved *v)
{
    size_t n = 0, from[] = {0, x->base, x->runs};
    double within = 0, df = 0, all[2];
    for (unsigned s = 0; s < 2; s++)
        all[s] = sum_from(x->totals, from[s], from[s + 1]);
    for (size_t i = 0; i < x->rows; i++) {
        const double *y = x->counts + i * x->runs;
        struct moved m = {.row = i};
        for (unsigned s = 0; s < 2; s++) {
            m.y[s] = sum_from(y, from[s], from[s + 1]);
            within += deviance_from(y, x->totals, from[s], from[s + 1], m.y[s] / all[s]);
            df += (double)(from[s + 1] - from[s]) - 1;
        }
        if (m.y[0] > 0 && m.y[1] > 0)
            v[n++] = m;
    }
    double dispersion = df > 0 ? fmax(x->floor, within / df) : x->floor;
    for (size_t i = 0; i < n; i++) {
        v[i].ratio = log(v[i].y[1] / all[1]) - log(v[i].y[0] / all[0]);
        v[i].var = dispersion * (1 / v[i].y[0] + 1 / v[i].y[1]);
        v[i].speaks = 1 / (1 + v[i].var / (VAGUE * VAGUE));
    }
    return n;
}

static bool agrees_with(const struct moved *m, double at, double var)
{
    return fabs(m->ratio - at) <= 2 * sqrt(m->var + var + 2 * LAYOUT * LAYOUT);
}

/* A factor that might be it: a function's, or that of equal work. */
struct candidate {
    double at, var, support;
};

static struct candidate candidate_of(const struct sp_reference_data *x, const struct moved *v, size_t n,
                                     size_t i)
{
    double work_var = x->same_work_se * x->same_work_se;
    bool work = i == n; /* else a function's, taken as it is: one that nothing is sure of fits few others */
    struct candidate c = {work ? x->same_work : v[i].ratio, work ? work_var : v[i].var, 0};
    for (size_t k = 0; k < n; k++)
        c.support += k == i || agrees_with(&v[k], c.at, 0) ? v[k].speaks : 0;
    if (isfinite(x->same_work) && (work || agrees_with(&v[i], x->same_work, work_var)))
        c.support += WORK * (work ? 1 : v[i].speaks);
    return c;
}

/* The factor that fits best, if it does clearly. */
static bool best_of_all(const struct sp_reference_data *x, const struct moved *v, size_t n,
                        struct candidate *out)
{
    size_t candidates = n + (isfinite(x->same_work) ? 1 : 0);
    struct candidate best = {0, 0, -1};
    for (size_t i = 0; i < candidates; i++) {
        struct candidate c = candidate_of(x, v, n, i);
        best = c.support > best.support || (c.support == best.support && c.var < best.var) ? c : best;
    }
    *out = best;
    for (size_t i = 0; i < n; i++) /* one that it excludes */
        if (!agrees_with(&v[i], best.at, best.var) && candidate_of(x, v, n, i).support > best.support - CLEAR)
            return false;
    return best.support > 0;
}

/* Together, those that agree with the factor; it becomes theirs. */
static void pool(const struct sp_reference_data *x, const struct moved *v, size_t n, struct candidate *c,
                 struct sp_reference *out)
{
    double y[2] = {0, 0}, all[2] = {sum_from(x->totals, 0, x->base), sum_from(x->totals, x->base, x->runs)};
    double dispersion = 0;
    out->agree = 0;
    for (size_t i = 0; i < n; i++) {
        out->agrees[v[i].row] = agrees_with(&v[i], c->at, c->var);
        if (!out->agrees[v[i].row])
            continue;
        out->agree++;
        y[0] += v[i].y[0];
        y[1] += v[i].y[1];
        dispersion = fmax(dispersion, v[i].var / (1 / v[i].y[0] + 1 / v[i].y[1]));
    }
    if (!out->agree)
        return;
    c->at = log(y[1] / all[1]) - log(y[0] / all[0]);
    c->var = dispersion * (1 / y[0] + 1 / y[1]);
}

bool sp_reference_find(const struct sp_reference_data *x, struct sp_reference *out)
{
    struct moved *v = calloc(x->rows + 1, sizeof *v);
    struct candidate c;
    *out = (struct sp_reference){.agrees = calloc(x->rows + 1, 1)};
    bool ok = v && out->agrees;
    size_t n = ok ? find_moved(x, v) : 0;
    out->rows = n;
    if (n > 1 && best_of_all(x, v, n, &c)) {
        pool(x, v, n, &c, out);
        if (out->agree)
            pool(x, v, n, &c, out);
        out->found = out->agree && out->agree < n && c.var < VAGUE * VAGUE;
        out->shift = c.at;
        out->var = c.var;
    }
    free(v);
    return ok;
}

void sp_reference_free(struct sp_reference *r)
{
    free(r->agrees);
    r->agrees = NULL;
}

/* Which functions make a phase differ from the rest. */
#include "analysis/fold.h"
#include "analysis/stats.h"
#include "analysis/tally.h"
#include "analysis/timeline_finder.h"

#include <math.h>

struct sums {
    int64_t *self[2], *total[2], *samples[2]; /* per function: in the phase, in the rest */
    uint32_t *last;
};

static bool sums_init(struct sums *y, size_t n)
{
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        y->self[i] = calloc(n + 1, sizeof *y->self[i]);
        y->total[i] = calloc(n + 1, sizeof *y->total[i]);
        y->samples[i] = calloc(n + 1, sizeof *y->samples[i]);
        ok = ok && y->self[i] && y->total[i] && y->samples[i];
    }
    y->last = calloc(n + 1, sizeof *y->last);
    return ok && y->last;
}

static void sums_free(struct sums *y)
{
    for (int i = 0; i < 2; i++) {
        free(y->self[i]);
        free(y->total[i]);
        free(y->samples[i]);
    }
    free(y->last);
}

static bool in_stretches(const struct sp_stretches *list, size_t cell)
{
    for (size_t i = 0; i < list->list.n; i++)
        if (cell >= list->list.v[i].lo && cell < list->list.v[i].hi)
            return true;
    return false;
}

/* Sums of functions in the phase and in the rest; samples are by row. */
static bool sum_functions(struct sp_phase_finder *x, const struct sp_stretches *list, struct sp_phase *phase,
                          struct sums *y)
{
    const struct sp_profile *p = x->s->profile;
    const struct sp_cells *cells = &x->cells;
    for (size_t i = 0, end; i < cells->samples; i = end) {
        int64_t weight[2] = {0, 0}, count[2] = {0, 0};
        size_t n, row = cells->list[i].row;
        for (end = i; end < cells->samples && cells->list[end].row == row; end++) {
            int rest = !in_stretches(list, cells->list[end].cell);
            sp_tally_add(&weight[rest], cells->list[end].weight);
            count[rest]++;
        }
        sp_tally_add(&phase->weight, weight[0]);
        sp_tally_add(&phase->rest_weight, weight[1]);
        phase->samples += count[0];
        phase->rest_samples += count[1];
        const uint32_t *f = sp_selected_frames(x->s, row, &n);
        if (!f)
            return false;
        for (size_t k = 0; k < n; k++) {
            uint32_t function = p->frames.v[f[k]].function;
            for (int r = 0; r < 2 && !k; r++)
                sp_tally_add(&y->self[r][function], weight[r]);
            if (!sp_fold_first(&y->last[function], (uint32_t)row + 1))
                continue;
            for (int r = 0; r < 2; r++) {
                sp_tally_add(&y->total[r][function], weight[r]);
                y->samples[r][function] += count[r];
            }
        }
    }
    return true;
}

static struct sp_phase_function function_of(struct sp_phase_finder *x, const struct sp_stretches *list,
                                            const struct sp_phase *phase, const struct sums *y, uint32_t f)
{
    struct sp_phase_function out = {.function = f,
                                    .self = y->self[0][f],
                                    .total = y->total[0][f],
                                    .rest_self = y->self[1][f],
                                    .rest_total = y->total[1][f],
                                    .rest_samples = y->samples[1][f],
                                    .p = NAN};
    double n1 = (double)phase->samples, n0 = (double)phase->rest_samples;
    double p1 = n1 > 0 ? (double)y->samples[0][f] / n1 : 0, p0 = n0 > 0 ? (double)y->samples[1][f] / n0 : 0;
    size_t thing = x->cells.total_thing[f];
    double spread = 1;
    if (thing) {
        struct sp_scan scan = sp_finder_scan(x, thing);
        struct sp_scan_test t = sp_scan_judge(&scan, list);
        out.p = t.p;
        spread = t.dispersion;
    }
    out.share = 100 * p1;
    out.rest_share = 100 * p0;
    sp_newcombe(p0, n0 / spread, p1, n1 / spread, SP_Z95, &out.lo, &out.hi);
    out.lo *= 100;
    out.hi *= 100;
    return out;
}

static double gain_of(const struct sp_phase_function *f)
{
    return f->share - f->rest_share;
}

/* Own functions first; of those that gain about the same the one whose own code it is. */
static int by_gain(const void *va, const void *vb, void *arg)
{
    const struct sp_phase_finder *x = arg;
    const struct sp_phase_function *a = va, *b = vb;
    bool own_a = sp_is_own(x->own, a->function), own_b = sp_is_own(x->own, b->function);
    double gain_a = floor(gain_of(a) / 4), gain_b = floor(gain_of(b) / 4);
    if (own_a != own_b)
        return own_a ? -1 : 1;
    if (gain_a < gain_b || gain_a > gain_b)
        return gain_a > gain_b ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

/* Which of them are told: those that gained, beyond noise. */
static bool keep_functions(struct sp_phase_finder *x, struct sp_phase *phase, struct sp_phase_function *v,
                           size_t n)
{
    double *p = malloc((n + 1) * sizeof *p), *q = malloc((n + 1) * sizeof *q);
    bool ok = p && q;
    for (size_t i = 0; ok && i < n; i++)
        p[i] = v[i].p;
    ok = ok && sp_adjust(p, q, n);
    for (size_t i = 0; ok && i < n; i++)
        v[i].q = q[i];
    if (ok && n)
        qsort_r(v, n, sizeof *v, by_gain, x);
    phase->functions = x->out->functions.n;
    for (size_t i = 0; ok && i < n && x->out->functions.n - phase->functions < SP_PHASE_FUNCTIONS; i++)
        if (v[i].q <= 0.05 && v[i].lo > 0)
            ok = sp_vec_push(&x->out->functions, v[i]);
    phase->nfunctions = x->out->functions.n - phase->functions;
    free(p);
    free(q);
    return ok;
}

bool sp_phase_account(struct sp_phase_finder *x, const struct sp_stretches *list, struct sp_phase *phase)
{
    const struct sp_profile *p = x->s->profile;
    SP_VEC(struct sp_phase_function) all = {0};
    struct sums y = {0};
    bool ok = sums_init(&y, p->functions.n) && sum_functions(x, list, phase, &y);
    for (uint32_t f = 0; ok && f < p->functions.n; f++)
        if (x->cells.total_thing[f] && y.samples[0][f])
            ok = sp_vec_push(&all, function_of(x, list, phase, &y, f));
    ok = ok && keep_functions(x, phase, all.v, all.n);
    sums_free(&y);
    sp_vec_free(&all);
    return ok;
}

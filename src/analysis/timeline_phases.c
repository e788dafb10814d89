#include "analysis/timeline_phases.h"

#include "analysis/fold.h"
#include "analysis/select_private.h"
#include "analysis/stats.h"
#include "analysis/timeline_cells.h"

#include <math.h>

enum { CANDIDATES = 256 };

/* What one thing shows. */
struct candidate {
    struct sp_stretches stretches;
    size_t thing;  /* of the cells */
    double score;  /* of all stretches */
    size_t covers; /* cells */
    bool dropped;
};

struct finder {
    struct sp_selection *s;
    const struct sp_own *own;
    struct sp_diags *d;
    struct sp_cells cells;
    SP_VEC(struct candidate) found;
    double spread[2]; /* of the rate of samples, of shares of functions */
    struct sp_phases *out;
};

/* ---- what each thing shows ---- */

static struct sp_scan scan_of(const struct finder *x, size_t thing)
{
    bool all = thing == SP_CELLS_ALL;
    return (struct sp_scan){.k = sp_cells_of(&x->cells, thing),
                            .e = all ? NULL : sp_cells_of(&x->cells, SP_CELLS_ALL),
                            .n = x->cells.n,
                            .things = (double)x->cells.things,
                            .least = x->cells.n / 200 + 1,
                            .spread = x->spread[!all],
                            .more = true,
                            .less = all};
}

static int by_value(const void *va, const void *vb)
{
    const double *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

/* How long calls are: the median over functions, at the size of blocks where that is largest. */
static bool spread_of(struct finder *x)
{
    double *list = malloc((x->cells.things + 1) * sizeof *list), most[2] = {1, 1};
    for (size_t size = 1; list && size <= x->cells.n / 40; size *= 2) {
        struct sp_scan all = scan_of(x, SP_CELLS_ALL);
        size_t n = 0;
        most[0] = fmax(most[0], sp_scan_spread(&all, size));
        for (size_t i = 1; i < x->cells.things; i++) {
            struct sp_scan scan = scan_of(x, i);
            double v = x->cells.same[i] || x->cells.always[i] ? 0 : sp_scan_spread(&scan, size);
            if (v > 0)
                list[n++] = v;
        }
        qsort(list, n, sizeof *list, by_value);
        most[1] = n ? fmax(most[1], list[n / 2]) : most[1];
    }
    for (int i = 0; i < 2; i++)
        x->spread[i] = most[i];
    free(list);
    return list != NULL;
}

static size_t covered_by(const struct sp_stretches *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->list.n; i++)
        n += list->list.v[i].hi - list->list.v[i].lo;
    return n;
}

/* Samples more or less than the rest has in such a time, of all stretches. */
static double excess_of(const struct finder *x, const struct sp_scan *scan, const struct sp_stretches *list)
{
    double in = 0, e = 0, all = 0, all_e = 0;
    for (size_t i = 0; i < x->cells.n; i++) {
        all += scan->k[i];
        all_e += scan->e ? scan->e[i] : 1;
    }
    for (size_t i = 0; i < list->list.n; i++)
        for (size_t c = list->list.v[i].lo; c < list->list.v[i].hi; c++) {
            in += scan->k[c];
            e += scan->e ? scan->e[c] : 1;
        }
    return all_e > e ? fabs(in - (all - in) * e / (all_e - e)) : in;
}

static bool find_of(struct finder *x, size_t thing)
{
    struct sp_scan scan = scan_of(x, thing);
    struct candidate c = {.thing = thing};
    bool ok = sp_scan_find(&scan, &c.stretches);
    c.covers = covered_by(&c.stretches);
    for (size_t i = 0; i < c.stretches.list.n; i++)
        c.score += c.stretches.list.v[i].score;
    bool tells = ok && c.stretches.list.n && c.covers < x->cells.n && x->found.n < CANDIDATES &&
                 excess_of(x, &scan, &c.stretches) >= (double)x->cells.samples / 100;
    if (tells && sp_vec_push(&x->found, c))
        return true;
    sp_vec_free(&c.stretches.list);
    return ok && !tells;
}

/* Those of less than half of the time first: of two that complement each other that is the phase. */
static int by_telling(const void *va, const void *vb, void *arg)
{
    const struct finder *x = arg;
    const struct candidate *a = va, *b = vb;
    bool most_a = a->covers * 2 > x->cells.n, most_b = b->covers * 2 > x->cells.n;
    if (most_a != most_b)
        return most_a ? 1 : -1;
    if (a->score < b->score || a->score > b->score)
        return a->score > b->score ? -1 : 1;
    return (a->thing > b->thing) - (a->thing < b->thing);
}

static bool find_all(struct finder *x)
{
    bool ok = true;
    for (size_t i = 0; ok && i < x->cells.things; i++)
        ok = !x->cells.same[i] ? find_of(x, i) : true;
    if (ok && x->found.n)
        qsort_r(x->found.v, x->found.n, sizeof *x->found.v, by_telling, x);
    return ok;
}

/* ---- what is one phase ---- */

static size_t both_cover(const struct sp_stretches *a, const struct sp_stretches *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->list.n; i++)
        for (size_t k = 0; k < b->list.n; k++) {
            size_t lo = a->list.v[i].lo > b->list.v[k].lo ? a->list.v[i].lo : b->list.v[k].lo;
            size_t hi = a->list.v[i].hi < b->list.v[k].hi ? a->list.v[i].hi : b->list.v[k].hi;
            n += hi > lo ? hi - lo : 0;
        }
    return n;
}

/* Of about the same time, or about all but that. */
static bool is_same_time(const struct finder *x, const struct candidate *a, const struct candidate *b)
{
    size_t both = both_cover(&a->stretches, &b->stretches), either = a->covers + b->covers - both;
    size_t neither = x->cells.n - either, differ = either - both;
    return both >= differ || neither + differ == 0 || (both * 10 < either && neither * 10 < either);
}

static size_t doubt_of(const struct candidate *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->stretches.list.n; i++)
        n += c->stretches.list.v[i].lo_doubt + c->stretches.list.v[i].hi_doubt;
    return n;
}

/* Of candidates of one time the first stays, with the surest boundaries. */
static void join_candidates(struct finder *x)
{
    for (size_t i = 0; i < x->found.n; i++) {
        struct candidate *a = &x->found.v[i];
        for (size_t k = i + 1; !a->dropped && k < x->found.n; k++) {
            struct candidate *b = &x->found.v[k];
            if (b->dropped || !is_same_time(x, a, b))
                continue;
            b->dropped = true;
            bool same = both_cover(&a->stretches, &b->stretches) * 2 > a->covers;
            if (same && a->stretches.list.n == b->stretches.list.n && doubt_of(b) < doubt_of(a)) {
                struct sp_stretches t = a->stretches;
                a->stretches = b->stretches;
                b->stretches = t;
                a->covers = covered_by(&a->stretches);
                b->covers = covered_by(&b->stretches);
            }
        }
    }
}

/* ---- what makes the difference ---- */

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
static bool sum_functions(struct finder *x, const struct sp_stretches *list, struct sp_phase *phase,
                          struct sums *y)
{
    const struct sp_profile *p = x->s->profile;
    const struct sp_cells *cells = &x->cells;
    for (size_t i = 0, end; i < cells->samples; i = end) {
        int64_t weight[2] = {0, 0}, count[2] = {0, 0};
        size_t n, row = cells->list[i].row;
        for (end = i; end < cells->samples && cells->list[end].row == row; end++) {
            int rest = !in_stretches(list, cells->list[end].cell);
            weight[rest] += cells->list[end].weight;
            count[rest]++;
        }
        phase->weight += weight[0];
        phase->rest_weight += weight[1];
        phase->samples += count[0];
        phase->rest_samples += count[1];
        const uint32_t *f = sp_selected_frames(x->s, row, &n);
        if (!f)
            return false;
        for (size_t k = 0; k < n; k++) {
            uint32_t function = p->frames.v[f[k]].function;
            for (int r = 0; r < 2 && !k; r++)
                y->self[r][function] += weight[r];
            if (!sp_fold_first(&y->last[function], (uint32_t)row + 1))
                continue;
            for (int r = 0; r < 2; r++) {
                y->total[r][function] += weight[r];
                y->samples[r][function] += count[r];
            }
        }
    }
    return true;
}

static struct sp_phase_function function_of(struct finder *x, const struct sp_stretches *list,
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
        struct sp_scan scan = scan_of(x, thing);
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
    const struct finder *x = arg;
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
static bool keep_functions(struct finder *x, struct sp_phase *phase, struct sp_phase_function *v, size_t n)
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

static bool explain(struct finder *x, const struct sp_stretches *list, struct sp_phase *phase)
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

/* ---- phases ---- */

static bool put_stretches(struct finder *x, const struct sp_stretches *list, struct sp_phase *phase)
{
    const struct sp_cells *c = &x->cells;
    phase->first = x->out->stretches.n;
    phase->n = list->list.n;
    for (size_t i = 0; i < list->list.n; i++) {
        const struct sp_stretch *y = &list->list.v[i];
        int64_t width = (c->end - c->start) / (int64_t)c->n;
        struct sp_phase_stretch s = {sp_cell_at(c, y->lo), sp_cell_at(c, y->hi), (int64_t)y->lo_doubt * width,
                                     (int64_t)y->hi_doubt * width};
        phase->ns += s.hi - s.lo;
        if (!sp_vec_push(&x->out->stretches, s))
            return false;
    }
    phase->rest_ns = c->end - c->start - phase->ns;
    return true;
}

static bool put_phase(struct finder *x, const struct candidate *c)
{
    struct sp_phase phase = {.p = 1};
    for (size_t i = 0; i < c->stretches.list.n; i++)
        phase.p = fmin(phase.p, c->stretches.list.v[i].p);
    bool ok = put_stretches(x, &c->stretches, &phase) && explain(x, &c->stretches, &phase);
    phase.quiet = phase.rest_ns && (double)phase.samples * 50 <
                                       (double)phase.rest_samples * (double)phase.ns / (double)phase.rest_ns;
    return ok && sp_vec_push(&x->out->list, phase);
}

static bool put_phases(struct finder *x)
{
    bool ok = true;
    for (size_t i = 0; ok && i < x->found.n; i++) {
        if (x->found.v[i].dropped)
            continue;
        if (x->out->list.n < SP_PHASES)
            ok = put_phase(x, &x->found.v[i]);
        else
            x->out->more++;
    }
    return ok;
}

/* ---- what would have been found ---- */

static void least_of(struct finder *x)
{
    struct sp_phases *out = x->out;
    double n = (double)x->cells.samples;
    struct sp_scan scan = scan_of(x, SP_CELLS_ALL);
    double needed = sp_scan_threshold(&scan) * x->spread[1], span = (double)(out->end - out->start);
    out->least_ns = SP_ABSENT;
    for (double k = fmax(SP_SCAN_LEAST, n / 100); k < n; k *= 1.02)
        if (k * log(n / k) >= needed) {
            double ns = span * fmax(k / n, 0.005);
            out->least_ns = (int64_t)ns;
            break;
        }
    needed = sp_scan_threshold(&scan) * x->spread[0];
    for (double ratio = 1.1; ratio < 1000; ratio *= 1.05) {
        double in = n * ratio / (ratio + 9), rest = n - in;
        if (in * log(in / (n / 10)) + rest * log(rest / (n * 0.9)) >= needed) {
            out->least_ratio = ratio;
            break;
        }
    }
}

/* ---- all of it ---- */

spaa_status sp_phases_of(struct sp_selection *s, const struct sp_own *own, const struct sp_sample_times *m,
                         struct sp_diags *d, struct sp_phases *out)
{
    enum { SAMPLES = 50 };
    struct finder x = {.s = s, .own = own, .d = d, .out = out};
    *out = (struct sp_phases){.least_ns = SP_ABSENT};
    spaa_status st = sp_cells_make(s, m, d, &x.cells);
    out->start = x.cells.start;
    out->end = x.cells.end;
    out->samples = x.cells.samples;
    out->looked = x.cells.looked;
    out->of = x.cells.of;
    if (!st && x.cells.samples >= SAMPLES && x.cells.end - x.cells.start >= (int64_t)x.cells.n) {
        bool ok = spread_of(&x);
        out->judged = true;
        if (ok)
            least_of(&x);
        ok = ok && find_all(&x);
        if (ok)
            join_candidates(&x);
        if (!ok || !put_phases(&x))
            st = sp_nomem(d);
    }
    for (size_t i = 0; i < x.found.n; i++)
        sp_vec_free(&x.found.v[i].stretches.list);
    sp_vec_free(&x.found);
    sp_cells_free(&x.cells);
    return st;
}

void sp_phases_free(struct sp_phases *x)
{
    sp_vec_free(&x->list);
    sp_vec_free(&x->stretches);
    sp_vec_free(&x->functions);
}

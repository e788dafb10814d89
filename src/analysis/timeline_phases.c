#include "analysis/timeline_phases.h"

#include "analysis/timeline_finder.h"

#include <math.h>

enum { CANDIDATES = 256 };

/* ---- what each thing shows ---- */

static int by_value(const void *va, const void *vb)
{
    const double *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

/* How long calls are: the median over functions, in blocks of each size. */
static bool spread_of(struct sp_phase_finder *x)
{
    double *list = malloc((x->cells.things + 1) * sizeof *list);
    for (size_t k = 0; list && k < sp_scan_sizes(x->cells.n); k++) {
        struct sp_scan all = sp_finder_scan(x, SP_CELLS_ALL);
        size_t n = 0;
        for (size_t i = 1; i < x->cells.things; i++) {
            struct sp_scan scan = sp_finder_scan(x, i);
            double v = x->cells.same[i] || x->cells.always[i] ? 0 : sp_scan_spread(&scan, (size_t)1 << k);
            if (v > 0)
                list[n++] = v;
        }
        qsort(list, n, sizeof *list, by_value);
        x->spread[0][k] = sp_scan_spread(&all, (size_t)1 << k);
        x->spread[1][k] = n ? list[n / 2] : 0;
    }
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
static double excess_of(const struct sp_phase_finder *x, const struct sp_scan *scan,
                        const struct sp_stretches *list)
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

/* The stretches of one sign become a candidate, if they tell enough. */
static bool find_of_sign(struct sp_phase_finder *x, size_t thing, const struct sp_scan *scan,
                         const struct sp_stretches *all, bool more)
{
    struct sp_phase_candidate c = {.thing = thing};
    bool ok = true;
    for (size_t i = 0; ok && i < all->list.n; i++) {
        const struct sp_stretch *s = &all->list.v[i];
        if (s->more != more)
            continue;
        ok = sp_vec_push(&c.stretches.list, *s);
        c.score += s->score;
    }
    c.covers = covered_by(&c.stretches);
    bool tells = ok && c.stretches.list.n && c.covers < x->cells.n && x->found.n < CANDIDATES &&
                 excess_of(x, scan, &c.stretches) >= (double)x->cells.samples / 100;
    if (tells && sp_vec_push(&x->found, c))
        return true;
    sp_vec_free(&c.stretches.list);
    return ok && !tells;
}

/* A dip and a peak are two phases. */
static bool find_of(struct sp_phase_finder *x, size_t thing)
{
    struct sp_scan scan = sp_finder_scan(x, thing);
    struct sp_stretches all = {0};
    bool ok = sp_scan_find(&scan, &all) && find_of_sign(x, thing, &scan, &all, true) &&
              find_of_sign(x, thing, &scan, &all, false);
    sp_vec_free(&all.list);
    return ok;
}

/* Those of less than half of the time first: of two that complement each other that is the phase. */
static int by_telling(const void *va, const void *vb, void *arg)
{
    const struct sp_phase_finder *x = arg;
    const struct sp_phase_candidate *a = va, *b = vb;
    bool most_a = a->covers * 2 > x->cells.n, most_b = b->covers * 2 > x->cells.n;
    if (most_a != most_b)
        return most_a ? 1 : -1;
    if (a->score < b->score || a->score > b->score)
        return a->score > b->score ? -1 : 1;
    return (a->thing > b->thing) - (a->thing < b->thing);
}

static bool find_all(struct sp_phase_finder *x)
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
static bool is_same_time(const struct sp_phase_finder *x, const struct sp_phase_candidate *a,
                         const struct sp_phase_candidate *b)
{
    size_t both = both_cover(&a->stretches, &b->stretches), either = a->covers + b->covers - both;
    size_t neither = x->cells.n - either, differ = either - both;
    return both >= differ || neither + differ == 0 || (both * 10 < either && neither * 10 < either);
}

static size_t doubt_of(const struct sp_phase_candidate *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->stretches.list.n; i++)
        n += c->stretches.list.v[i].lo_doubt + c->stretches.list.v[i].hi_doubt;
    return n;
}

/* Of candidates of one time the first stays, with the surest boundaries. */
static void join_candidates(struct sp_phase_finder *x)
{
    for (size_t i = 0; i < x->found.n; i++) {
        struct sp_phase_candidate *a = &x->found.v[i];
        for (size_t k = i + 1; !a->dropped && k < x->found.n; k++) {
            struct sp_phase_candidate *b = &x->found.v[k];
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

/* ---- phases ---- */

static bool put_stretches(struct sp_phase_finder *x, const struct sp_stretches *list, struct sp_phase *phase)
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

static bool put_phase(struct sp_phase_finder *x, const struct sp_phase_candidate *c)
{
    struct sp_phase phase = {.p = 1, .by_rate = c->thing == SP_CELLS_ALL};
    for (size_t i = 0; i < c->stretches.list.n; i++)
        phase.p = fmin(phase.p, c->stretches.list.v[i].p);
    bool ok = put_stretches(x, &c->stretches, &phase) && sp_phase_account(x, &c->stretches, &phase);
    phase.quiet = phase.rest_ns && (double)phase.samples * 50 <
                                       (double)phase.rest_samples * (double)phase.ns / (double)phase.rest_ns;
    return ok && sp_vec_push(&x->out->list, phase);
}

static bool put_phases(struct sp_phase_finder *x)
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

/* What another run of the program may have more of noise than this one, at most as a rule. */
#define NOISE_MARGIN 1.75

/* How short a stretch of a function that runs at no other time may be: found as sp_scan_find finds it. */
static int64_t least_time(const struct sp_phase_finder *x)
{
    double n = (double)x->cells.samples, span = (double)(x->out->end - x->out->start);
    struct sp_scan scan = sp_finder_scan(x, SP_CELLS_ALL);
    double rate = sp_scan_steady(&scan, x->cells.n / 100 + 1);
    scan.spread = x->spread[1];
    double least = sp_scan_threshold(&scan) * NOISE_MARGIN;
    for (double k = fmax(SP_SCAN_LEAST, n / 100); k < n; k *= 1.02) {
        double sure = k - 2 * sqrt(k * rate); /* so many samples of it there are at least */
        size_t cells = (size_t)(k / n * (double)x->cells.n);
        if (sure >= fmax(SP_SCAN_LEAST, n / 100) &&
            sure * log(n / sure) >= least * sp_scan_divisor(&scan, cells))
            return (int64_t)(span * fmax(k / n, 0.005));
    }
    return SP_ABSENT;
}

/* How much heavier a tenth of the time has to be, by what the rate of this recording varies at that scale. */
static double least_ratio(const struct sp_phase_finder *x)
{
    struct sp_scan scan = sp_finder_scan(x, SP_CELLS_ALL);
    double n = (double)x->cells.samples, rate = sp_scan_steady(&scan, x->cells.n / 10);
    double needed = sp_scan_threshold(&scan) * (rate > 1 ? NOISE_MARGIN : 1) * rate;
    for (double ratio = 1.1; ratio < 1000; ratio *= 1.05) {
        double in = n * ratio / (ratio + 9);
        in -= 2 * sqrt(in * rate);
        double rest = n - in;
        if (in > n / 10 && in * log(in / (n / 10)) + rest * log(rest / (n * 0.9)) >= needed &&
            in - rest / 9 >= n / 100)
            return ratio;
    }
    return 0;
}

/* ---- all of it ---- */

spaa_status sp_phases_of(struct sp_selection *s, const struct sp_own *own, const struct sp_sample_times *m,
                         struct sp_diags *d, struct sp_phases *out)
{
    enum { SAMPLES = 50 };
    struct sp_phase_finder x = {.s = s, .own = own, .d = d, .out = out};
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
        if (ok) {
            out->least_ns = least_time(&x);
            out->least_ratio = least_ratio(&x);
        }
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

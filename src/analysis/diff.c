/*
 * The comparison: rows from the runs' numbers, a test for each, families, verdicts.
 *
 * Sums over runs are exact; shares and what follows from them are doubles, formed the same way whatever the
 * order of the files' records.
 */
#include "analysis/diff.h"

#include "analysis/diff_private.h"
#include "analysis/top.h"

#include <math.h>

const char *const sp_diff_method_names[] = {"none",    "samples",     "blocks", "exact",
                                            "repeats", "permutation", NULL};
const char *const sp_diff_verdict_names[] = {"significant", "inconclusive", "below_minimum_detectable_effect",
                                             "unavailable", "differs",      "unchanged",
                                             NULL};

#define WHOLE_ALPHA 0.01  /* at which the whole alone makes the headline */
#define LEAST_SHARE 0.001 /* of rows that are tested where samples are not counted */
#define ALIKE       1.1   /* runs of lengths within this factor are of one length */

bool sp_diff_establishes(enum sp_diff_method m)
{
    return m >= SP_DIFF_EXACT;
}

spaa_status sp_diff_init(struct sp_diff *d, struct sp_diags *diags)
{
    *d = (struct sp_diff){
        .diags = diags, .reference_change = NAN, .reference_se = NAN, .prior = NAN, .prior_df = NAN};
    return sp_strtab_init(&d->strs) ? SPAA_OK : sp_nomem(diags);
}

void sp_diff_free(struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++) {
        for (size_t i = 0; i < d->runs[side].n; i++)
            sp_diff_run_free(d->runs[side].v[i]);
        sp_vec_free(&d->runs[side]);
        sp_vec_free(&d->dsos[side]);
    }
    sp_diff_model_free(d->model);
    sp_vec_free(&d->maps);
    sp_vec_free(&d->binaries.v);
    sp_vec_free(&d->renamed);
    sp_vec_free(&d->maybe);
    sp_vec_free(&d->keys);
    sp_map_free(&d->key_map);
    sp_vec_free(&d->rows);
    sp_vec_free(&d->appeared);
    sp_vec_free(&d->vanished);
    free(d->row_of);
    sp_strtab_free(&d->strs);
}

/* ---- matching ---- */

static int64_t diff_value(const struct sp_diff_run *r, uint32_t key, unsigned family)
{
    return r->values[family][key].weight;
}

/*
 * A source that names no binaries (folded stacks, say) is matched by function names alone: to the heaviest
 * function of that name in the other runs.
 */
static bool match_without_binaries(struct sp_diff *d)
{
    bool with = false, without = false;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++)
            *(d->runs[side].v[i]->no_binaries ? &without : &with) = true;
    if (!with || !without)
        return true;
    uint32_t *best = calloc(d->strs.strs.n + 1, sizeof *best); /* per function name: 1 + key */
    double *weight = calloc(d->keys.n + 1, sizeof *weight);
    for (unsigned side = 0; best && weight && side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_run *r = d->runs[side].v[i];
            for (uint32_t k = 0; !r->no_binaries && r->total > 0 && k < r->keys; k++)
                weight[k] += (double)diff_value(r, k, SP_TOTAL) / (double)r->total;
        }
    for (uint32_t k = 0; best && weight && k < d->keys.n; k++) {
        uint32_t *b = &best[d->keys.v[k].function];
        if (weight[k] > 0 && !sp_diff_is_overloads(d, k) && (!*b || weight[k] > weight[*b - 1]))
            *b = k + 1;
    }
    bool ok = best && weight;
    for (unsigned side = 0; ok && side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            struct sp_diff_run *r = d->runs[side].v[i];
            for (uint32_t k = 0; r->no_binaries && k < r->keys; k++) {
                uint32_t to = best[d->keys.v[k].function];
                bool unknown = sp_str_is(sp_str_at(&d->strs, d->keys.v[k].dso), "[unknown]");
                if (!to || --to == k || !unknown || weight[k] > 0 || diff_value(r, to, SP_TOTAL))
                    continue;
                sp_diff_move_key(r, k, to);
            }
        }
    free(best);
    free(weight);
    return ok;
}

double sp_diff_cost_at(const struct sp_diff *d, const struct sp_diff_row *row, unsigned family, unsigned side,
                       size_t run)
{
    const struct sp_diff_run *r = d->runs[side].v[run];
    int64_t w = row ? diff_value(r, row->key, family) : r->total;
    return (double)w * pow(10, -(double)r->scale) / r->per;
}

static bool diff_widen(void **array, size_t had, size_t now, size_t elem)
{
    unsigned char *more = calloc(now + 1, elem);
    if (!more)
        return false;
    memcpy(more, *array, had * elem);
    free(*array);
    *array = more;
    return true;
}

/* Every run knows every key. */
static bool widen_runs(struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            struct sp_diff_run *r = d->runs[side].v[i];
            size_t now = d->keys.n, row = sizeof(double) * SP_FAMILIES * r->blocks;
            if (!diff_widen((void **)&r->values[SP_SELF], r->keys, now, sizeof *r->values[0]) ||
                !diff_widen((void **)&r->values[SP_TOTAL], r->keys, now, sizeof *r->values[0]) ||
                !diff_widen((void **)&r->names, r->keys, now, sizeof *r->names) ||
                !diff_widen((void **)&r->form_of, r->keys, now, sizeof *r->form_of) ||
                (r->has_other &&
                 (!diff_widen((void **)&r->other[SP_SELF], r->keys, now, sizeof *r->other[0]) ||
                  !diff_widen((void **)&r->other[SP_TOTAL], r->keys, now, sizeof *r->other[0]))) ||
                (r->blocks && !diff_widen((void **)&r->block_values, r->keys, now, row)))
                return false;
            r->keys = now;
        }
    return true;
}

/* ---- sums ---- */

static __int128 diff_at_scale(const struct sp_diff *d, const struct sp_diff_run *r, int64_t v)
{
    __int128 x = v;
    for (unsigned i = r->scale; i < d->scale; i++)
        x *= 10;
    return x;
}

static spaa_status sum_sides(struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++)
            if (d->runs[side].v[i]->scale > d->scale)
                d->scale = d->runs[side].v[i]->scale;
    sp_diff_memory(d);
    for (unsigned side = 0; side < SP_SIDES; side++) {
        struct sp_diff_side *x = &d->side[side];
        x->runs = d->runs[side].n;
        for (size_t i = 0; i < x->runs; i++) {
            const struct sp_diff_run *r = d->runs[side].v[i];
            if (r->total <= 0) {
                sp_emit_hint(d->diags, SP_E632, SP_AT_NOTHING,
                             d->memory ? "`spaa leaks BASE NEW` tells what only one of them holds" : NULL,
                             "%s run %zu has a total weight of %lld", side == SP_BASE ? "base" : "new", i + 1,
                             (long long)r->total);
                return SPAA_ERR_INPUT;
            }
            x->whole += diff_at_scale(d, r, r->total);
            x->kept += diff_at_scale(d, r, r->kept);
            x->event_whole += diff_at_scale(d, r, r->all);
            x->samples =
                x->samples == SP_ABSENT || r->samples == SP_ABSENT ? SP_ABSENT : x->samples + r->samples;
            x->effective += r->effective;
            x->seconds += r->seconds;
        }
        if (x->runs == 1)
            x->blocks = d->runs[side].v[0]->blocks;
    }
    return SPAA_OK;
}

/* Several runs of a side that weigh the same, within what they may last differently: each did the same. */
static bool weigh_alike(const struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++) {
        double lo = INFINITY, hi = 0;
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_run *r = d->runs[side].v[i];
            double x = (double)r->total * pow(10, -(double)r->scale);
            lo = fmin(lo, x);
            hi = fmax(hi, x);
        }
        if (!(hi < ALIKE * lo))
            return false;
    }
    return d->runs[SP_BASE].n > 1 || d->runs[SP_NEW].n > 1;
}

/*
 * What weights are divided by. A run is what was done once, until runs of one side last and weigh
 * differently: then they may be recordings of something that went on, and seconds compare. The only ones of
 * the sides say nothing of that; CPU time a second of the clock says how free the machine was.
 */
static void take_costs(struct sp_diff *d, const double *work, bool windows)
{
    bool lasted = d->side[SP_BASE].seconds > 0 && d->side[SP_NEW].seconds > 0, alike = true;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; lasted && i < d->runs[side].n; i++) {
            double x = d->runs[side].v[i]->seconds, y = d->runs[side].v[0]->seconds;
            alike = alike && x < ALIKE * y && y < ALIKE * x;
        }
    alike = (alike && !windows) || weigh_alike(d);
    d->per = work[SP_BASE] > 0 ? SP_PER_WORK : lasted && !alike ? SP_PER_SECOND : SP_PER_RUN;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            struct sp_diff_run *r = d->runs[side].v[i];
            r->per = d->per == SP_PER_WORK ? work[side] : d->per == SP_PER_SECOND ? r->seconds : 1;
            d->side[side].per += r->per;
        }
}

static void name_row(struct sp_diff *d, struct sp_diff_row *row)
{
    const struct sp_diff_name *best = NULL;
    for (unsigned side = 0; side < SP_SIDES; side++) /* the last that has it */
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_name *n = &d->runs[side].v[i]->names[row->key];
            row->tags |= n->tags;
            row->own = row->own || n->own;
            best = n->function ? n : best;
        }
    row->function = best ? best->function : d->keys.v[row->key].function;
    row->dso = best ? best->dso : d->keys.v[row->key].dso;
    if (best)
        memcpy(row->id, best->id, sizeof best->id);
}

static bool diff_make_rows(struct sp_diff *d)
{
    for (uint32_t key = 0; key < d->keys.n; key++) {
        struct sp_diff_row row = {.key = key};
        bool in[SP_SIDES] = {false, false};
        for (unsigned side = 0; side < SP_SIDES; side++)
            for (size_t i = 0; i < d->runs[side].n; i++) {
                const struct sp_diff_run *r = d->runs[side].v[i];
                struct sp_diff_amount *a = &row.side[side];
                for (unsigned f = 0; f < SP_FAMILIES; f++) {
                    a->weight[f] += diff_at_scale(d, r, diff_value(r, key, f));
                    a->samples[f] = d->side[side].samples == SP_ABSENT
                                        ? SP_ABSENT
                                        : a->samples[f] + r->values[f][key].samples;
                    a->other[f] += d->has_other ? r->other[f][key] : 0;
                    in[side] = in[side] || diff_value(r, key, f);
                }
            }
        if (!in[SP_BASE] && !in[SP_NEW])
            continue;
        name_row(d, &row);
        sp_diff_forms(d, &row);
        bool ok = in[SP_BASE] && in[SP_NEW] ? sp_vec_push(&d->rows, row)
                  : in[SP_NEW]              ? sp_vec_push(&d->appeared, row)
                                            : sp_vec_push(&d->vanished, row);
        if (!ok)
            return false;
    }
    return true;
}

/* Enough of it to be worth a comparison: rows of a few samples would only dull the others. */
static bool eligible(const struct sp_diff *d, const struct sp_diff_row *row, unsigned family)
{
    int64_t a = row->side[SP_BASE].samples[family], b = row->side[SP_NEW].samples[family];
    if (a != SP_ABSENT && b != SP_ABSENT)
        return a + b >= SP_DIFF_LEAST;
    double x = (double)row->side[SP_BASE].weight[family] / (double)d->side[SP_BASE].whole;
    double y = (double)row->side[SP_NEW].weight[family] / (double)d->side[SP_NEW].whole;
    return (x + y) / 2 >= LEAST_SHARE;
}

/* ---- families ---- */

/* The level at which one row of a family counts, when that many were found. */
static double level(size_t family, size_t found)
{
    return SP_DIFF_ALPHA * (double)(found > 1 ? found : 1) / (double)(family > 1 ? family : 1);
}

/* The change that was tested, in shares of the total: with runs that against the reference. */
static double tested_change(const struct sp_diff_test *t, enum sp_diff_method method)
{
    double half = (t->side[SP_BASE].mean + t->side[SP_NEW].mean) / 2;
    return fabs(method >= SP_DIFF_REPEATS && isfinite(t->change) ? t->change * half : t->delta);
}

static void diff_judge(struct sp_diff_test *t, enum sp_diff_method method, double alpha)
{
    double change = tested_change(t, method);
    if (isnan(t->p))
        return;
    t->mde_family = sp_diff_detectable(t, alpha);
    bool found = t->q <= SP_DIFF_ALPHA;
    t->verdict = found && sp_diff_establishes(method) ? SP_DIFF_SIGNIFICANT
                 : found                              ? SP_DIFF_DIFFERS
                 : method == SP_DIFF_EXACT            ? SP_DIFF_EQUAL
                 : (!t->tested && !t->dependent) || change == 0 || !(change >= t->mde || isinf(t->mde))
                     ? SP_DIFF_BELOW
                     : SP_DIFF_INCONCLUSIVE;
}

static bool adjust(struct sp_diff *d, unsigned family, bool cost)
{
    size_t n = d->rows.n + d->appeared.n + d->vanished.n, m = 0, found = 0;
    double *p = calloc(2 * n + 1, sizeof *p), *q = p ? p + n : NULL;
    if (!p)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct sp_diff_row *row = sp_diff_row_at(d, i);
        struct sp_diff_test *t = cost ? &row->cost[family] : &row->share[family];
        t->tested = !t->dependent && !isnan(t->p) && (d->method == SP_DIFF_EXACT || eligible(d, row, family));
        p[i] = t->tested ? t->p : NAN;
        m += t->tested;
        d->layout += !cost && family == SP_SELF && t->tested && t->layout;
        d->dependent += !cost && t->dependent && eligible(d, row, family);
    }
    bool ok = sp_adjust(p, q, n);
    for (size_t i = 0; ok && i < n; i++)
        found += q[i] <= SP_DIFF_ALPHA;
    double alpha = level(m, found);
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_diff_row *row = sp_diff_row_at(d, i);
        struct sp_diff_test *t = cost ? &row->cost[family] : &row->share[family];
        t->q = q[i];
        diff_judge(t, d->method, alpha);
    }
    if (!cost) {
        d->family[family] = m;
        d->significant[family] = found;
    }
    free(p);
    return ok;
}

/* ---- the whole ---- */

static enum sp_diff_method best_of(const struct sp_diff *d)
{
    const struct sp_diff_side *a = &d->side[SP_BASE], *b = &d->side[SP_NEW];
    bool samples = a->samples != SP_ABSENT && b->samples != SP_ABSENT && isfinite(a->effective) &&
                   isfinite(b->effective);
    bool exact = d->runs[SP_BASE].v[0]->exact && d->runs[SP_NEW].v[0]->exact;
    return a->runs > 1 || b->runs > 1          ? SP_DIFF_REPEATS
           : exact                             ? SP_DIFF_EXACT
           : a->blocks && b->blocks && samples ? SP_DIFF_TIME_BLOCKS
           : samples                           ? SP_DIFF_SAMPLES
                                               : SP_DIFF_NONE;
}

static spaa_status diff_choose(struct sp_diff *d, enum sp_diff_method asked)
{
    enum sp_diff_method best = best_of(d);
    for (unsigned side = 0; side < SP_SIDES && best <= SP_DIFF_SAMPLES; side++)
        if (d->runs[side].v[0]->no_blocks)
            d->no_blocks = d->runs[side].v[0]->no_blocks;
    d->method = asked ? asked : best;
    bool can = asked == SP_DIFF_NONE || asked == best ||
               (asked == SP_DIFF_PERMUTATION && best == SP_DIFF_REPEATS) ||
               (asked == SP_DIFF_SAMPLES && best == SP_DIFF_TIME_BLOCKS);
    if (can)
        return SPAA_OK;
    sp_emit_hint(d->diags, SP_E631, SP_AT_NOTHING,
                 asked == SP_DIFF_TIME_BLOCKS ? "blocks need one run a side, with timestamps"
                 : asked == SP_DIFF_SAMPLES   ? "it needs one run a side, with sample counts"
                                              : "repeats and permutation need several runs on a side",
                 "--method %s does not fit %zu against %zu runs%s%s", sp_diff_method_names[asked],
                 d->side[SP_BASE].runs, d->side[SP_NEW].runs,
                 asked == SP_DIFF_TIME_BLOCKS && d->no_blocks ? ": " : "",
                 asked == SP_DIFF_TIME_BLOCKS && d->no_blocks ? d->no_blocks : "");
    return SPAA_ERR_USAGE;
}

/* Own weights of functions that are common enough say what functions have in common. */
static bool speaks(const struct sp_diff *d, const struct sp_diff_row *row)
{
    return eligible(d, row, SP_SELF);
}

static bool compare_all(struct sp_diff *d)
{
    size_t n = d->rows.n + d->appeared.n + d->vanished.n;
    bool ok = d->method < SP_DIFF_REPEATS || sp_diff_model_make(d, speaks);
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_diff_row *row = sp_diff_row_at(d, i);
        for (unsigned f = 0; f < SP_FAMILIES; f++) {
            sp_diff_compare(&(struct sp_diff_quantity){d, row, f, false}, &row->share[f]);
            sp_diff_compare(&(struct sp_diff_quantity){d, row, f, true}, &row->cost[f]);
        }
    }
    if (ok)
        sp_diff_compare(&(struct sp_diff_quantity){.d = d}, &d->whole);
    d->whole.q = d->whole.p;
    d->whole.tested = !isnan(d->whole.p);
    diff_judge(&d->whole, d->method, SP_DIFF_ALPHA);
    for (unsigned f = 0; ok && f < SP_FAMILIES; f++)
        ok = adjust(d, f, false) && adjust(d, f, true);
    return ok;
}

/* Lengths of the runs on both sides, where known; longer runs have more of everything. */
static bool whole_changed(const struct sp_diff *d)
{
    return d->whole.p <= WHOLE_ALPHA && !(d->per == SP_PER_RUN && sp_diff_lengths_differ(d)) &&
           !sp_diff_sampled_unlike(d);
}

bool sp_diff_whole_is_open(const struct sp_diff *d)
{
    return d->method >= SP_DIFF_REPEATS && !d->significant[SP_SELF] && d->whole.p <= WHOLE_ALPHA &&
           d->per == SP_PER_RUN && sp_diff_lengths_differ(d) && !sp_diff_sampled_unlike(d);
}

bool sp_diff_lengths_differ(const struct sp_diff *d)
{
    const struct sp_diff_side *a = &d->side[SP_BASE], *b = &d->side[SP_NEW];
    double x = a->seconds / (double)a->runs, y = b->seconds / (double)b->runs;
    return d->per != SP_PER_WORK && (x > ALIKE * y || y > ALIKE * x);
}

bool sp_diff_sampled_unlike(const struct sp_diff *d)
{
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++)
            if (d->runs[side].v[i]->counted_at != d->runs[SP_BASE].v[0]->counted_at)
                return true;
    return false;
}

/* Of exact counts of memory: the bytes are equal, the blocks are not, or the other way. */
static bool other_changed(const struct sp_diff *d)
{
    bool differs = d->side[SP_BASE].other != d->side[SP_NEW].other;
    for (size_t i = 0; i < d->rows.n; i++)
        differs =
            differs || d->rows.v[i].side[SP_BASE].other[SP_SELF] != d->rows.v[i].side[SP_NEW].other[SP_SELF];
    return d->has_other && differs && d->side[SP_BASE].runs == d->side[SP_NEW].runs;
}

/* Nothing could have been found: not by this method, of these runs. */
static bool blind(const struct sp_diff *d)
{
    for (size_t i = 0; i < d->rows.n; i++)
        if (d->rows.v[i].share[SP_SELF].tested && d->rows.v[i].share[SP_SELF].mde_family < 1)
            return false;
    return true;
}

/* From self weights; the whole speaks where no function does. One run a side of samples establishes nothing.
 */
static enum sp_diff_headline headline(const struct sp_diff *d)
{
    if (!sp_diff_establishes(d->method))
        return SP_DIFF_NOT_ESTABLISHED;
    if (d->significant[SP_SELF] || whole_changed(d) || (d->method == SP_DIFF_EXACT && other_changed(d)))
        return SP_DIFF_CHANGED;
    return d->method == SP_DIFF_EXACT             ? SP_DIFF_UNCHANGED
           : blind(d) || sp_diff_whole_is_open(d) ? SP_DIFF_NOT_ESTABLISHED
                                                  : SP_DIFF_NO_CHANGE;
}

struct order {
    const struct sp_diff *d;
    unsigned family;
};

static int diff_cmp_row(const void *va, const void *vb, void *arg)
{
    const struct order *o = arg;
    const struct sp_diff_row *a = va, *b = vb;
    for (unsigned i = 0; i < SP_FAMILIES && o->d->memory; i++) {
        double x = fabs(sp_diff_change(o->d, a, o->family ^ i)),
               y = fabs(sp_diff_change(o->d, b, o->family ^ i));
        if (x != y)
            return x > y ? -1 : 1;
    }
    bool costs = sp_diff_establishes(o->d->method); /* else what runs cost may be of more work */
    for (unsigned i = 0; i < SP_FAMILIES; i++) {
        unsigned f = o->family ^ i;
        bool sx = a->share[f].verdict == SP_DIFF_SIGNIFICANT, sy = b->share[f].verdict == SP_DIFF_SIGNIFICANT;
        double x = fabs(costs ? a->cost[f].delta : a->share[f].delta),
               y = fabs(costs ? b->cost[f].delta : b->share[f].delta);
        if (sx != sy)
            return sx ? -1 : 1;
        if (x != y)
            return x > y ? -1 : 1;
    }
    int c = sp_str_cmp(sp_str_at(&o->d->strs, a->function), sp_str_at(&o->d->strs, b->function));
    c = c ? c : sp_str_cmp(sp_str_at(&o->d->strs, a->dso), sp_str_at(&o->d->strs, b->dso));
    return c ? c : (a->key > b->key) - (a->key < b->key);
}

/* Where the row of each key is, now that they stay there. */
static bool number_rows(struct sp_diff *d)
{
    size_t n = d->rows.n + d->appeared.n + d->vanished.n;
    d->row_of = calloc(d->keys.n + 1, sizeof *d->row_of);
    for (size_t i = 0; d->row_of && i < n; i++)
        d->row_of[sp_diff_row_at(d, i)->key] = (uint32_t)i + 1;
    return d->row_of != NULL;
}

spaa_status sp_diff_finish(struct sp_diff *d, const struct sp_diff_opts *opts)
{
    if (!widen_runs(d))
        return sp_nomem(d->diags);
    spaa_status st = sp_diff_match_binaries(d);
    if (st)
        return st;
    if (!sp_diff_settle_addresses(d) || !match_without_binaries(d) || !sp_diff_match_functions(d) ||
        !sp_diff_match_renamed(d))
        return sp_nomem(d->diags);
    st = sum_sides(d);
    if (!st)
        st = diff_choose(d, opts->method);
    if (st)
        return st;
    take_costs(d, opts->work, opts->windows);
    if (!diff_make_rows(d) || !compare_all(d))
        return sp_nomem(d->diags);
    d->headline = headline(d);
    if (!sp_diff_find_moved(d))
        return sp_nomem(d->diags);
    struct order o = {d, opts->sort_total ? SP_TOTAL : SP_SELF};
    if (d->rows.n)
        qsort_r(d->rows.v, d->rows.n, sizeof *d->rows.v, diff_cmp_row, &o);
    if (d->appeared.n)
        qsort_r(d->appeared.v, d->appeared.n, sizeof *d->appeared.v, diff_cmp_row, &o);
    if (d->vanished.n)
        qsort_r(d->vanished.v, d->vanished.n, sizeof *d->vanished.v, diff_cmp_row, &o);
    return number_rows(d) ? SPAA_OK : sp_nomem(d->diags);
}

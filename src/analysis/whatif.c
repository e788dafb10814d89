#include "analysis/whatif.h"

#include "analysis/chains.h"
#include "analysis/interval.h"
#include "analysis/pool.h"
#include "base/num.h"

#include <math.h>

struct whatif {
    struct sp_selection *s;
    struct sp_change *changes;
    size_t n;
    struct sp_diags *d;
    uint32_t *decided; /* per row: 1 + the change that scales it; 0: none does */
    int64_t *weights;  /* per row: as they were */
    struct sp_whatif *out;
};

int64_t sp_change_left(const struct sp_change *c, int64_t weight)
{
    __int128 v = sp_ratio(weight, c->den, c->num);
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

int64_t sp_whatif_weight(double v)
{
    const double most = 9.2e18;
    return (int64_t)floor(fmin(fmax(v, -most), most) + 0.5);
}

/* ---- which change scales a stack ---- */

/* How much a change changes, either way; what vanishes is beyond all. */
static double strength(const struct sp_change *c)
{
    double ratio = sp_change_ratio(c);
    return ratio < 1 ? (c->num ? 1 / ratio : INFINITY) : ratio;
}

static bool is_stronger(const struct sp_change *a, const struct sp_change *b)
{
    double x = strength(a), y = strength(b);
    return x > y || (x == y && a->num < a->den && b->num > b->den);
}

static bool is_of(const struct sp_change *c, const struct sp_profile *p, const uint32_t *frames, size_t n)
{
    if (c->self)
        return n && c->functions.hits[p->frames.v[frames[0]].function];
    for (size_t k = 0; k < n; k++)
        if (c->functions.hits[p->frames.v[frames[k]].function])
            return true;
    return false;
}

static bool decide_rows(struct whatif *x)
{
    for (size_t i = 0; i < x->s->rows.n; i++) {
        size_t n;
        const uint32_t *frames = sp_selected_frames(x->s, i, &n);
        int64_t weight = x->s->rows.v[i].weight;
        struct sp_change *best = NULL;
        if (!frames)
            return false;
        for (struct sp_change *c = x->changes; c < x->changes + x->n; c++) {
            if (!is_of(c, x->s->profile, frames, n))
                continue;
            c->of += weight;
            if (!best || is_stronger(c, best))
                best = c;
        }
        x->weights[i] = weight;
        x->decided[i] = best ? (uint32_t)(best - x->changes) + 1 : 0;
        if (best)
            best->decided += weight;
    }
    return true;
}

static int64_t all_left(const struct whatif *x)
{
    int64_t left = x->out->before;
    for (const struct sp_change *c = x->changes; c < x->changes + x->n; c++)
        left += sp_change_left(c, c->decided) - c->decided;
    return left;
}

/* What a change takes away from a weight (or adds), not rounded. */
static double whatif_change(const struct sp_change *c, int64_t weight)
{
    return (sp_change_ratio(c) - 1) * (double)weight;
}

static double exactly_left(const struct whatif *x)
{
    double left = (double)x->out->before;
    for (const struct sp_change *c = x->changes; c < x->changes + x->n; c++)
        left += whatif_change(c, c->decided);
    return left;
}

/* ---- who has it ---- */

/* Takes what one change scales of each row of t, and puts back what is left of it. */
static spaa_status scale_rows(struct whatif *x, size_t change, enum sp_by by, struct sp_whatif_rows *r,
                              uint32_t *row, size_t names)
{
    struct sp_top part;
    for (size_t i = 0; i < x->s->rows.n; i++)
        x->s->rows.v[i].weight = x->decided[i] == change + 1 ? x->weights[i] : 0;
    spaa_status st = sp_top_build(x->s, by, false, x->d, &part);
    for (size_t i = 0; i < x->s->rows.n; i++)
        x->s->rows.v[i].weight = x->weights[i];
    if (st)
        return st;
    for (size_t i = 0; !st && i < part.rows.n; i++) {
        struct sp_str name = sp_str_at(&part.names, part.rows.v[i].name);
        uint32_t id = sp_intern(&r->rows.names, name.p, name.n);
        int64_t weight = part.rows.v[i].self;
        if (id == SP_STR_FAIL)
            st = sp_nomem(x->d);
        else if (id < names && row[id] != SP_NONE)
            r->after[row[id]] += whatif_change(&x->changes[change], weight);
    }
    sp_top_free(&part);
    return st;
}

static spaa_status build_rows(struct whatif *x, enum sp_by by, struct sp_whatif_rows *out)
{
    spaa_status st = sp_top_build(x->s, by, false, x->d, &out->rows);
    if (st)
        return st;
    size_t names = 0;
    for (size_t i = 0; i < out->rows.rows.n; i++)
        names = out->rows.rows.v[i].name >= names ? out->rows.rows.v[i].name + (size_t)1 : names;
    uint32_t *row = malloc((names + 1) * sizeof *row);
    out->after = malloc((out->rows.rows.n + 1) * sizeof *out->after);
    if (!row || !out->after)
        st = sp_nomem(x->d);
    for (size_t i = 0; !st && i < names; i++)
        row[i] = SP_NONE;
    for (size_t i = 0; !st && i < out->rows.rows.n; i++) {
        row[out->rows.rows.v[i].name] = (uint32_t)i;
        out->after[i] = (double)out->rows.rows.v[i].self;
    }
    for (size_t c = 0; !st && c < x->n; c++)
        if (x->changes[c].decided)
            st = scale_rows(x, c, by, out, row, names);
    free(row);
    return st;
}

static spaa_status who_has_it(struct whatif *x)
{
    struct sp_pools none, pools = x->s->pools;
    spaa_status st = build_rows(x, SP_TOP_PROCESS, &x->out->processes);
    if (!st && pools.pools.n)
        st = build_rows(x, SP_TOP_THREAD, &x->out->pools);
    if (!st)
        st = sp_pools_none(x->s->profile, x->d, &none);
    if (st)
        return st;
    x->s->pools = none;
    st = build_rows(x, SP_TOP_THREAD, &x->out->threads);
    sp_pools_free(&x->s->pools);
    x->s->pools = pools;
    return st;
}

/* ---- how sure it is ---- */

/*
 * The share that is left is the mean of what each sample is scaled by, which lies in [least, most]: of all
 * such the one that is either this or that varies most, and Wilson's interval is of that one.
 */
static void whatif_sampling(struct whatif *x)
{
    double least = 1, most = 1, lo, hi, whole = (double)x->out->before;
    int64_t n = x->s->samples;
    for (const struct sp_change *c = x->changes; c < x->changes + x->n; c++) {
        least = fmin(least, sp_change_ratio(c));
        most = fmax(most, sp_change_ratio(c));
    }
    x->out->sampled = n > 0 && x->out->before > 0 && most > least;
    if (!x->out->sampled)
        return;
    sp_share_interval(100 * ((double)x->out->after / whole - least) / (most - least), n, &lo, &hi);
    x->out->sure_lo = (int64_t)floor(whole * (least + lo / 100 * (most - least)));
    x->out->sure_hi = (int64_t)ceil(whole * (least + hi / 100 * (most - least)));
}

/* ---- where callers are missing ---- */

/* What may be of the changes that are at least as strong as this one, and go the same way, at most. */
static spaa_status at_most_of(struct whatif *x, const struct sp_change *c, int64_t *out)
{
    const struct sp_profile *p = x->s->profile;
    uint32_t *keys = malloc((p->frames.n + 1) * sizeof *keys);
    int64_t more = 0;
    bool known = false, faster = c->num < c->den;
    *out = 0;
    for (size_t i = 0; i < x->s->rows.n; i++) {
        const struct sp_change *by = x->decided[i] ? &x->changes[x->decided[i] - 1] : NULL;
        if (by && (by->num < by->den) == faster && strength(by) >= strength(c))
            *out += x->weights[i];
    }
    for (size_t f = 0; keys && f < p->frames.n; f++) {
        keys[f] = SP_NONE;
        for (const struct sp_change *k = x->changes; k < x->changes + x->n; k++)
            if (!k->self && (k->num < k->den) == faster && strength(k) >= strength(c) &&
                k->functions.hits[p->frames.v[f].function])
                keys[f] = 0;
    }
    spaa_status st = keys ? sp_chains_at_most(x->s, keys, 1, x->d, &more, &known) : sp_nomem(x->d);
    free(keys);
    *out = known ? *out + more : SP_ABSENT;
    return st;
}

static int by_strength(const void *va, const void *vb)
{
    const struct sp_change *const *a = va, *const *b = vb;
    double x = strength(*a), y = strength(*b);
    return x != y ? (x > y ? -1 : 1) : (*a > *b) - (*a < *b);
}

/*
 * The changes of one direction, strongest first: so much at most has its ratio or a stronger one. Layer by
 * layer, each stack moves from its ratio to the next weaker one, and from the weakest to what it was.
 */
static spaa_status bound_of(struct whatif *x, bool faster, int64_t *bound, double *exact)
{
    const struct sp_change *list[SP_WHATIF_CHANGES];
    size_t n = 0;
    double left = (double)x->out->before;
    for (const struct sp_change *c = x->changes; c < x->changes + x->n; c++)
        if (c->num != c->den && (c->num < c->den) == faster)
            list[n++] = c;
    qsort(list, n, sizeof *list, by_strength);
    for (size_t i = 0; i < n; i++) {
        double next = i + 1 < n ? sp_change_ratio(list[i + 1]) : 1;
        int64_t at_most;
        spaa_status st = at_most_of(x, list[i], &at_most);
        if (st || at_most == SP_ABSENT) {
            *bound = SP_ABSENT;
            return st;
        }
        left += (sp_change_ratio(list[i]) - next) * (double)at_most;
    }
    *exact = fmax(left, 0);
    *bound = sp_whatif_weight(faster ? floor(*exact) : ceil(*exact));
    return SPAA_OK;
}

static spaa_status whatif_bounds(struct whatif *x)
{
    struct sp_whatif *out = x->out;
    bool any[2] = {false, false}; /* slower, faster */
    for (const struct sp_change *c = x->changes; c < x->changes + x->n; c++)
        if (c->num != c->den && !c->self)
            any[c->num < c->den] = true;
    out->least = out->most = out->after;
    out->left_least = out->left_most = out->left;
    out->bounds = sp_chains_tell(x->s) && (any[0] || any[1]);
    spaa_status st = out->bounds && any[1] ? bound_of(x, true, &out->least, &out->left_least) : SPAA_OK;
    if (!st && out->bounds && any[0])
        st = bound_of(x, false, &out->most, &out->left_most);
    if (out->least != SP_ABSENT && out->least > out->after)
        out->least = out->after;
    if (out->most != SP_ABSENT && out->most < out->after)
        out->most = out->after;
    out->left_least = fmin(out->left_least, out->left);
    out->left_most = fmax(out->left_most, out->left);
    return st;
}

/* ---- all of it ---- */

spaa_status sp_whatif_of(struct sp_selection *s, struct sp_change *changes, size_t n, struct sp_diags *d,
                         struct sp_whatif *out)
{
    struct whatif x = {.s = s, .changes = changes, .n = n, .d = d, .out = out};
    *out = (struct sp_whatif){.before = s->kept};
    x.decided = malloc((s->rows.n + 1) * sizeof *x.decided);
    x.weights = malloc((s->rows.n + 1) * sizeof *x.weights);
    spaa_status st = x.decided && x.weights && decide_rows(&x) ? SPAA_OK : sp_nomem(d);
    if (!st) {
        out->after = all_left(&x);
        out->left = exactly_left(&x);
        whatif_sampling(&x);
        st = whatif_bounds(&x);
    }
    if (!st)
        st = who_has_it(&x);
    free(x.decided);
    free(x.weights);
    return st;
}

static void rows_free(struct sp_whatif_rows *r)
{
    sp_top_free(&r->rows);
    free(r->after);
    r->after = NULL;
}

void sp_whatif_free(struct sp_whatif *x)
{
    rows_free(&x->threads);
    rows_free(&x->pools);
    rows_free(&x->processes);
}

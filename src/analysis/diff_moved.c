/*
 * Work that only moved: a function that is gone, or new, and its caller, whose self grew or shrank by as
 * much. Without debug information that is what inlining looks like, and neither of the two became slower or
 * faster.
 */
#include "analysis/diff_private.h"

#include <math.h>

/* What part of a function's samples were called by that one, on its side. */
static double called_by(const struct sp_diff *d, unsigned side, const struct sp_diff_row *callee,
                        const struct sp_diff_row *caller)
{
    double by = 0, all = 0;
    for (size_t i = 0; i < d->runs[side].n; i++)
        for (size_t k = 0; k < d->runs[side].v[i]->bodies.n; k++) {
            const struct sp_body *b = &d->runs[side].v[i]->bodies.v[k];
            if (b->key != callee->key || b->what != SP_BODY_CALLER)
                continue;
            all += b->weight;
            by += d->keys.v[b->value].function == d->keys.v[caller->key].function ? b->weight : 0;
        }
    return all > 0 ? by / all : 0;
}

/* The log ratio of what both cost together, and its standard error; false: samples are not counted. */
static bool together(const struct sp_diff_row *a, const struct sp_diff_row *b, double *ratio, double *se)
{
    double y[SP_SIDES], n[SP_SIDES], deff = fmax(a->share[SP_SELF].deff, b->share[SP_SELF].deff);
    for (unsigned side = 0; side < SP_SIDES; side++) {
        y[side] = a->cost[SP_SELF].side[side].mean + b->cost[SP_SELF].side[side].mean;
        n[side] = (double)a->side[side].samples[SP_SELF] + (double)b->side[side].samples[SP_SELF];
        if (a->side[side].samples[SP_SELF] == SP_ABSENT || !(n[side] > 0))
            return false;
    }
    *ratio = log(y[SP_NEW] / y[SP_BASE]);
    *se = sqrt(fmax(deff, 1) * (1 / n[SP_BASE] + 1 / n[SP_NEW]) + 2 * SP_DIFF_LAYOUT * SP_DIFF_LAYOUT);
    return isfinite(*ratio);
}

static bool is_sure(const struct sp_diff_row *r)
{
    enum sp_diff_verdict v = r->share[SP_SELF].verdict;
    return v == SP_DIFF_SIGNIFICANT || v == SP_DIFF_DIFFERS;
}

/* The caller whose self changed the other way by as much, in all or against what functions agree in. */
static void find_caller(struct sp_diff *d, unsigned side, struct sp_diff_row *callee)
{
    for (size_t i = 0; i < d->rows.n; i++) {
        struct sp_diff_row *r = &d->rows.v[i];
        double ratio, se, shift = isfinite(d->reference_change) ? log1p(d->reference_change) : 0;
        bool grew = r->cost[SP_SELF].delta > 0;
        if (!is_sure(r) || grew != (side == SP_BASE) || r->moved || called_by(d, side, callee, r) < 0.5 ||
            !together(callee, r, &ratio, &se) || fmin(fabs(ratio), fabs(ratio - shift)) > 2 * se)
            continue;
        callee->moved = 1 + r->key;
        r->moved = 1 + callee->key;
        return;
    }
}

void sp_diff_find_moved(struct sp_diff *d)
{
    for (size_t i = 0; i < d->vanished.n; i++)
        if (is_sure(&d->vanished.v[i]))
            find_caller(d, SP_BASE, &d->vanished.v[i]);
    for (size_t i = 0; i < d->appeared.n; i++)
        if (is_sure(&d->appeared.v[i]))
            find_caller(d, SP_NEW, &d->appeared.v[i]);
}

const struct sp_diff_row *sp_diff_moved_with(const struct sp_diff *d, const struct sp_diff_row *r)
{
    size_t n = d->rows.n + d->appeared.n + d->vanished.n;
    for (size_t i = 0; r->moved && i < n; i++) {
        const struct sp_diff_row *x = sp_diff_row_at((struct sp_diff *)d, i);
        if (x->key + 1 == r->moved)
            return x;
    }
    return NULL;
}

/*
 * Work that only moved: a function that is gone, or new, and its caller, whose self grew or shrank by as
 * much. Without debug information that is what inlining looks like, and neither of the two became slower or
 * faster.
 */
#include "analysis/diff_private.h"

#include <math.h>
#include <stdlib.h>

#define NAMESAKES 64 /* rows of one name, in as many binaries: of more it is open which called */

/* Of one side: how often a function of that name called that one. */
struct moved_call {
    uint32_t callee, caller; /* a key; a function's name */
    double weight;
};

/* A row that both sides have, by its name. */
struct moved_row {
    uint32_t function, row;
};

struct moved_search {
    struct sp_diff *d;
    SP_VEC(struct moved_call) calls; /* of the side at hand, by callee, then caller */
    struct moved_row *rows;          /* that surely changed */
    size_t n;
};

static int moved_cmp_call(const void *va, const void *vb)
{
    const struct moved_call *a = va, *b = vb;
    int c = (a->callee > b->callee) - (a->callee < b->callee);
    return c ? c : (a->caller > b->caller) - (a->caller < b->caller);
}

static int moved_cmp_row(const void *va, const void *vb)
{
    const struct moved_row *a = va, *b = vb;
    int c = (a->function > b->function) - (a->function < b->function);
    return c ? c : (a->row > b->row) - (a->row < b->row);
}

static bool moved_find_calls(struct moved_search *m, unsigned side)
{
    const struct sp_diff *d = m->d;
    size_t n = 0;
    m->calls.n = 0;
    for (size_t i = 0; i < d->runs[side].n; i++)
        for (size_t k = 0; k < d->runs[side].v[i]->bodies.n; k++) {
            const struct sp_body *b = &d->runs[side].v[i]->bodies.v[k];
            if (b->what != SP_BODY_CALLER)
                continue;
            struct moved_call x = {b->key, d->keys.v[b->value].function, b->weight};
            if (!sp_vec_push(&m->calls, x))
                return false;
        }
    struct moved_call *v = m->calls.v;
    if (m->calls.n)
        qsort(v, m->calls.n, sizeof *v, moved_cmp_call);
    for (size_t i = 0; i < m->calls.n; i++)
        if (n && moved_cmp_call(&v[n - 1], &v[i]) == 0)
            v[n - 1].weight += v[i].weight;
        else
            v[n++] = v[i];
    m->calls.n = n;
    return true;
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

static bool moved_find_rows(struct moved_search *m)
{
    struct sp_diff *d = m->d;
    m->rows = calloc(d->rows.n + 1, sizeof *m->rows);
    for (size_t i = 0; m->rows && i < d->rows.n; i++)
        if (is_sure(&d->rows.v[i]))
            m->rows[m->n++] = (struct moved_row){d->keys.v[d->rows.v[i].key].function, (uint32_t)i};
    if (m->rows && m->n)
        qsort(m->rows, m->n, sizeof *m->rows, moved_cmp_row);
    return m->rows != NULL;
}

/* Whether the caller's self changed the other way by as much, in all or against what functions agree in. */
static bool moved_fits(const struct sp_diff *d, unsigned side, const struct sp_diff_row *callee,
                       const struct sp_diff_row *r)
{
    double ratio, se, shift = isfinite(d->reference_change) ? log1p(d->reference_change) : 0;
    bool grew = r->cost[SP_SELF].delta > 0;
    return grew == (side == SP_BASE) && !r->moved && together(callee, r, &ratio, &se) &&
           fmin(fabs(ratio), fabs(ratio - shift)) <= 2 * se;
}

/* The first row of that name that fits, and is before `found`. */
static uint32_t moved_first(const struct moved_search *m, unsigned side, const struct sp_diff_row *callee,
                            uint32_t function, uint32_t found)
{
    size_t lo = 0, n = m->n;
    while (n) {
        size_t half = n / 2;
        bool before = m->rows[lo + half].function < function;
        lo = before ? lo + half + 1 : lo;
        n = before ? n - half - 1 : half;
    }
    const struct moved_row *v = m->rows + lo, *end = m->rows + m->n;
    if (end - v > NAMESAKES && v[NAMESAKES].function == function)
        return found;
    for (; v < end && v->function == function && v->row < found; v++)
        if (moved_fits(m->d, side, callee, &m->d->rows.v[v->row]))
            return v->row;
    return found;
}

/* What makes at least half of the calls, and whose self changed so. */
static void find_caller(struct moved_search *m, unsigned side, struct sp_diff_row *callee)
{
    const struct moved_call *v = m->calls.v, *end = v + m->calls.n, *first;
    size_t n = m->calls.n;
    uint32_t found = SP_NONE;
    double all = 0;
    while (n) {
        size_t half = n / 2;
        bool before = v[half].callee < callee->key;
        v = before ? v + half + 1 : v;
        n = before ? n - half - 1 : half;
    }
    for (first = v; v < end && v->callee == callee->key; v++)
        all += v->weight;
    for (const struct moved_call *c = first; c < v && all > 0; c++)
        if (c->weight / all >= 0.5)
            found = moved_first(m, side, callee, c->caller, found);
    if (found == SP_NONE)
        return;
    struct sp_diff_row *r = &m->d->rows.v[found];
    callee->moved = 1 + r->key;
    r->moved = 1 + callee->key;
}

bool sp_diff_find_moved(struct sp_diff *d)
{
    struct moved_search m = {.d = d};
    bool ok = moved_find_rows(&m) && moved_find_calls(&m, SP_BASE);
    for (size_t i = 0; ok && i < d->vanished.n; i++)
        if (is_sure(&d->vanished.v[i]))
            find_caller(&m, SP_BASE, &d->vanished.v[i]);
    ok = ok && moved_find_calls(&m, SP_NEW);
    for (size_t i = 0; ok && i < d->appeared.n; i++)
        if (is_sure(&d->appeared.v[i]))
            find_caller(&m, SP_NEW, &d->appeared.v[i]);
    sp_vec_free(&m.calls);
    free(m.rows);
    return ok;
}

const struct sp_diff_row *sp_diff_moved_with(const struct sp_diff *d, const struct sp_diff_row *r)
{
    uint32_t at = r->moved ? d->row_of[r->moved - 1] : 0;
    return at ? sp_diff_row_at((struct sp_diff *)d, at - 1) : NULL;
}

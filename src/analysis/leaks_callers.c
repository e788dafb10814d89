#include "analysis/leaks_callers.h"

#include "analysis/tally.h"

#include <stdlib.h>

/* ---- the records of rows ---- */

/* 1 + the number of the row that a record counts in; 0: none. */
static uint32_t record_row(const struct sp_selection *s, const struct sp_leaks *l, size_t i)
{
    return l->of[s->rows.v[i].stack].row;
}

spaa_status sp_leak_records_of(const struct sp_selection *s, const struct sp_leaks *l, struct sp_diags *d,
                               struct sp_leak_records *out)
{
    size_t n = l->rows.n;
    *out = (struct sp_leak_records){malloc((s->rows.n + 1) * sizeof *out->rows),
                                    calloc(n + 2, sizeof *out->from), l->gained};
    if (!out->rows || !out->from) {
        sp_leak_records_free(out);
        return sp_nomem(d);
    }
    for (size_t i = 0; i < s->rows.n; i++)
        out->from[record_row(s, l, i) + 1]++;
    out->from[1] = 0; /* those of no row */
    for (size_t i = 1; i <= n; i++)
        out->from[i + 1] += out->from[i];
    for (size_t i = 0; i < s->rows.n; i++) {
        uint32_t row = record_row(s, l, i);
        if (row)
            out->rows[out->from[row]++] = (uint32_t)i;
    }
    return SPAA_OK; /* from[row] is now where the records of row end, from[row - 1] where they begin */
}

void sp_leak_records_free(struct sp_leak_records *r)
{
    free(r->rows);
    free(r->from);
    *r = (struct sp_leak_records){0};
}

/* ---- the way up ---- */

/* A record on its way from the allocating function to the root. */
struct climber {
    uint32_t row;  /* of the selection */
    uint32_t next; /* own function; SP_NONE: there is none */
    size_t at;     /* its frame */
    int64_t weight;
};

/* To the next own function above frame `at` that is another one than `function`. */
static void climb(struct sp_selection *s, const struct sp_own *own, struct climber *c, uint32_t function)
{
    const struct sp_profile *p = s->profile;
    size_t n, at = c->at + 1;
    const uint32_t *f = sp_selected_frames(s, c->row, &n);
    c->next = SP_NONE;
    for (; f && at < n && c->next == SP_NONE; at++) {
        uint32_t one = p->frames.v[f[at]].function;
        if (one != function && sp_is_own(own, one))
            c->next = one;
    }
    c->at = at - (c->next != SP_NONE);
}

static int climber_cmp(const void *va, const void *vb)
{
    const struct climber *a = va, *b = vb;
    if (a->next != b->next)
        return a->next < b->next ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The heaviest next function among these, which come sorted by it; *n of them are left, that go there. */
static uint32_t heaviest(struct climber *c, size_t *n, int64_t *weight, uint32_t *kinds)
{
    size_t best = 0, best_n = 0;
    *weight = 0;
    *kinds = 0;
    for (size_t from = 0, to; from < *n; from = to) {
        int64_t sum = 0;
        for (to = from; to < *n && c[to].next == c[from].next; to++)
            sum += c[to].weight;
        if (c[from].next == SP_NONE)
            continue;
        ++*kinds;
        if (!best_n || sum > *weight) {
            best = from;
            best_n = to - from;
            *weight = sum;
        }
    }
    memmove(c, c + best, best_n * sizeof *c);
    *n = best_n;
    return best_n ? c[0].next : SP_NONE;
}

spaa_status sp_leak_callers_of(struct sp_selection *s, const struct sp_leak_records *records,
                               const struct sp_own *own, const struct sp_leak_row *row, struct sp_diags *d,
                               struct sp_leak_callers *out)
{
    const size_t from = records->from[row->number], to = records->from[row->number + 1];
    size_t n = to - from;
    struct climber *c = malloc((n + 1) * sizeof *c);
    uint32_t function = row->function;
    *out = (struct sp_leak_callers){.grew = records->gained && row->kind == SP_LEAK_GROWING};
    if (!c)
        return sp_nomem(d);
    for (size_t i = 0; i < n; i++) {
        const struct sp_selected *x = &s->rows.v[records->rows[from + i]];
        int64_t weight = out->grew ? records->gained[x->stack] : x->weight;
        c[i] = (struct climber){records->rows[from + i], SP_NONE, 0, weight};
        sp_tally_add(&out->whole, weight);
    }
    while (function != SP_NONE && out->n < SP_LEAK_CALLERS && n) {
        int64_t weight;
        uint32_t kinds;
        for (size_t i = 0; i < n; i++)
            climb(s, own, &c[i], function);
        qsort(c, n, sizeof *c, climber_cmp);
        function = heaviest(c, &n, &weight, &kinds);
        if (function == SP_NONE || (out->n && weight < out->whole - weight))
            break;
        out->others = out->n ? out->others : kinds - 1;
        out->weight = weight;
        out->v[out->n++] = function;
    }
    free(c);
    return SPAA_OK;
}

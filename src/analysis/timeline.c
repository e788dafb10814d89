#include "analysis/timeline_private.h"

#include "analysis/select_private.h"
#include "analysis/tally.h"
#include "base/num.h"
#include "model/callees.h"
#include "model/order.h"
#include "model/windows.h"

#include <stdio.h>

#include <stdlib.h>

struct builder {
    struct sp_selection *s;
    const struct sp_sample_times *m;
    const struct sp_profile *p;
    const struct sp_stack_kinds *kinds; /* NULL: weight counts for leaf functions */
    struct sp_timeline t;
    enum sp_weighing how;
    size_t nhot;
    uint32_t *row;                  /* per stack: 1 + its row, 0: not selected */
    uint32_t *rest;                 /* per stack: 1 + its number in the profile's rests; 0: none */
    int64_t *sum;                   /* per stack, in the open bucket; SP_ABSENT: nothing */
    int64_t *self;                  /* per function, or kind, in the open bucket */
    SP_VEC(uint32_t) stacks, whats; /* that the open bucket has */
};

/* Where bucket i of n begins: the first instant that (t - lo) * n / range puts there. */
static int64_t timeline_bound(int64_t lo, int64_t hi, size_t i, size_t n)
{
    __int128 range = (__int128)hi - lo;
    return (int64_t)(lo + (range * (__int128)i + (__int128)n - 1) / (__int128)n);
}

static size_t bucket_of(int64_t lo, int64_t hi, size_t n, int64_t t)
{
    return (size_t)(((__int128)t - lo) * (__int128)n / ((__int128)hi - lo));
}

/* The buckets that a sample is in, one but for intervals: [*a, *b]. False: none. */
static bool buckets_of(const struct sp_sample_times *m, const struct sp_timeline *t, size_t n,
                       const struct sp_sample *x, size_t *a, size_t *b)
{
    int64_t from, to;
    if (!sp_sample_span(m, x, &from, &to) || to <= t->start || from >= t->end)
        return false;
    *a = bucket_of(t->start, t->end, n, from > t->start ? from : t->start);
    *b = bucket_of(t->start, t->end, n, (to < t->end ? to : t->end) - 1);
    return true;
}

bool sp_timeline_sort_samples(const struct sp_sample_times *m, const struct sp_timeline *t, size_t n,
                              size_t **first, uint32_t **order)
{
    size_t *start = calloc(n + 2, sizeof *start), a, b;
    *first = start;
    *order = NULL;
    if (!start || m->n >= UINT32_MAX)
        return false;
    for (size_t i = 0; i < m->n; i++)
        for (bool is = buckets_of(m, t, n, &m->rows[i], &a, &b); is && a <= b; a++)
            start[a + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        start[i] += start[i - 1];
    uint32_t *list = *order = malloc((start[n + 1] + 1) * sizeof *list);
    for (size_t i = 0; list && i < m->n; i++)
        for (bool is = buckets_of(m, t, n, &m->rows[i], &a, &b); is && a <= b; a++)
            list[start[a + 1]++] = (uint32_t)i;
    return list;
}

struct hot_order {
    const struct sp_profile *p;
    bool kinds; /* which stand in the order in which they were met */
    bool down;  /* the bucket's weight is below 0 */
};

static int cmp_hot(const void *va, const void *vb, void *arg)
{
    const struct hot_order *x = arg;
    const struct sp_profile *p = x->p;
    const struct sp_hot *a = va, *b = vb;
    if (a->self != b->self)
        return (a->self > b->self) != x->down ? -1 : 1;
    int c = x->kinds ? 0
                     : sp_str_cmp(sp_pstr(p, p->functions.v[a->what].name),
                                  sp_pstr(p, p->functions.v[b->what].name));
    return c ? c : (a->what > b->what) - (a->what < b->what);
}

static uint32_t timeline_rest_of(const struct builder *b, uint32_t stack)
{
    return b->p->rests.list.v[b->rest[stack] - 1].rest;
}

static bool timeline_add(struct builder *b, struct sp_bucket *x, uint32_t stack, struct sp_value v,
                         int64_t samples)
{
    if (stack == SP_NONE || v.v == SP_ABSENT ||
        !(b->row[stack] || (b->rest[stack] && b->row[timeline_rest_of(b, stack)])))
        return true;
    if (b->sum[stack] == SP_ABSENT && !sp_vec_push(&b->stacks, stack))
        return false;
    sp_tally_add(&b->sum[stack], sp_scale_weight(b->s, v.v, sp_pstr(b->p, v.text)));
    if (samples > SP_DECIMAL)
        sp_tally_add(&x->samples, samples);
    return true;
}

/* Of a row: its kind, or the function that is its leaf. SP_NONE: it has none; false: it failed. */
static bool timeline_what(struct builder *b, size_t row, uint32_t *out)
{
    size_t n;
    *out = SP_NONE;
    if (b->kinds) {
        *out = b->kinds->of.v[row];
        return true;
    }
    const uint32_t *f = sp_selected_frames(b->s, row, &n);
    if (f && n)
        *out = b->p->frames.v[f[0]].function;
    return f != NULL;
}

/* What one row has in the open bucket, for what it counts for. */
static bool timeline_add_part(struct builder *b, struct sp_bucket *x, uint32_t stack, int64_t weight)
{
    size_t row = b->row[stack];
    uint32_t what;
    if (!row)
        return true;
    sp_tally_add(&x->weight, weight);
    if (!timeline_what(b, row - 1, &what))
        return false;
    if (what == SP_NONE)
        return true;
    if (b->self[what] == SP_ABSENT && !sp_vec_push(&b->whats, what))
        return false;
    sp_tally_add(&b->self[what], weight);
    return true;
}

/* A record that was divided: samples and windows are of the whole. */
static bool timeline_add_stack(struct builder *b, struct sp_bucket *x, uint32_t stack)
{
    int64_t all = b->sum[stack], rest = 0;
    if (b->rest[stack])
        rest = sp_callees_part(b->p, b->rest[stack] - 1, b->s->metric, all);
    return ((rest && rest == all) || timeline_add_part(b, x, stack, all - rest)) &&
           (!rest || timeline_add_part(b, x, timeline_rest_of(b, stack), rest));
}

/* The open bucket's sums become its weight and its hot functions. */
static bool close_bucket(struct builder *b, struct sp_bucket *x)
{
    SP_VEC(struct sp_hot) all = {0};
    bool ok = true, mixed = false;
    for (size_t i = 0; ok && i < b->stacks.n; i++)
        ok = timeline_add_stack(b, x, b->stacks.v[i]);
    for (size_t i = 0; ok && i < b->whats.n; i++)
        ok = sp_vec_push(&all, ((struct sp_hot){b->whats.v[i], b->self[b->whats.v[i]]}));
    struct hot_order order = {b->p, b->kinds != NULL, x->weight < 0};
    if (ok && all.n)
        qsort_r(all.v, all.n, sizeof *all.v, cmp_hot, &order);
    for (size_t i = 0; ok && i < all.n; i++)
        mixed |= all.v[i].self < 0;
    b->t.changes |= mixed;
    x->hot = b->t.hot.n;
    for (size_t i = 0; ok && i < all.n && i < b->nhot && (order.down ? all.v[i].self < 0 : all.v[i].self > 0);
         i++)
        ok = sp_vec_push(&b->t.hot, all.v[i]);
    x->nhot = b->t.hot.n - x->hot;
    sp_vec_free(&all);
    for (size_t i = 0; i < b->stacks.n; i++)
        b->sum[b->stacks.v[i]] = SP_ABSENT;
    for (size_t i = 0; i < b->whats.n; i++)
        b->self[b->whats.v[i]] = SP_ABSENT;
    b->stacks.n = b->whats.n = 0;
    sp_tally_add(&b->t.covered, x->weight);
    return ok && sp_vec_push(&b->t.buckets, *x);
}

static bool timeline_from_samples(struct builder *b, size_t n)
{
    const struct sp_timeline *t = &b->t;
    size_t *first;
    uint32_t *order;
    __int128 range = (__int128)t->end - t->start;
    n = (__int128)n > range ? (size_t)range : n;
    bool ok = sp_timeline_sort_samples(b->m, t, n, &first, &order);
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_bucket x = {.lo = timeline_bound(t->start, t->end, i, n),
                              .hi = timeline_bound(t->start, t->end, i + 1, n),
                              .samples = SP_ABSENT,
                              .window = SP_NONE};
        for (size_t k = first[i]; ok && k < first[i + 1]; k++) {
            const struct sp_sample *y = &b->m->rows[order[k]];
            ok = timeline_add(b, &x, y->stack, sp_sample_part(b->m, y, b->how, x.lo, x.hi),
                              sp_sample_is_interval(b->m, y) ? SP_ABSENT : 1);
        }
        ok = ok && close_bucket(b, &x);
    }
    free(first);
    free(order);
    return ok;
}

static bool timeline_from_windows(struct builder *b)
{
    const struct sp_profile *p = b->p;
    uint32_t samples = b->s->samples_metric;
    bool ok = true;
    for (size_t i = 0; ok && i < b->m->windows.n; i++) {
        const struct sp_timed_window *w = &b->m->windows.v[i];
        const struct sp_window *window = &p->windows.v[w->window];
        struct sp_bucket x = {.lo = w->lo, .hi = w->hi, .samples = SP_ABSENT, .window = w->window};
        if (w->lo < b->t.start || w->hi > b->t.end)
            continue;
        for (uint32_t k = 0; ok && k < window->n; k++) {
            const struct sp_window_row *r = &p->window_rows.v[window->first + k];
            int64_t count = samples == SP_NONE ? SP_ABSENT : sp_window_value(p, r, samples).v;
            ok = timeline_add(b, &x, r->stack, sp_window_value(p, r, b->s->metric), count);
        }
        ok = ok && close_bucket(b, &x);
    }
    return ok;
}

/*
 * Of a range that no other stack is in, each step is its own. Of others it is known how many are, not which:
 * these count where the whole range is in the bucket.
 */
static int64_t timeline_steps_in(const struct sp_step_range *r, int64_t first, int64_t last)
{
    int64_t from = r->from > first ? r->from : first, to = r->to < last ? r->to : last;
    if (from > to)
        return 0;
    if (r->count == r->to - r->from + 1)
        return to - from + 1;
    return from == r->from && to == r->to ? r->count : 0;
}

static int compare_ranges(const void *va, const void *vb)
{
    const struct sp_step_range *a = va, *b = vb;
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : (a->stack > b->stack) - (a->stack < b->stack);
}

/* Steps first..last of bucket i: ranges stand by their beginning, `open` are those that did not end yet. */
static bool timeline_from_steps(struct builder *b, const struct sp_step_ranges *r, size_t n)
{
    SP_VEC(struct sp_step_range) open = {0};
    bool ok = true;
    size_t next = 0;
    n = n > (size_t)r->last ? (size_t)r->last : n;
    for (size_t i = 0; ok && i < n; i++) {
        int64_t first = timeline_bound(0, r->last, i, n) + 1, last = timeline_bound(0, r->last, i + 1, n);
        struct sp_bucket x = {.lo = b->t.start + (first - 1) * r->interval_ns,
                              .hi = b->t.start + last * r->interval_ns,
                              .samples = SP_ABSENT,
                              .window = SP_NONE};
        while (ok && next < r->v.n && r->v.v[next].from <= last)
            ok = sp_vec_push(&open, r->v.v[next++]);
        size_t kept = 0;
        for (size_t k = 0; ok && k < open.n; k++) {
            int64_t count = timeline_steps_in(&open.v[k], first, last);
            ok = !count || timeline_add(b, &x, open.v[k].stack, (struct sp_value){.v = count}, count);
            if (open.v[k].to > last)
                open.v[kept++] = open.v[k];
        }
        open.n = kept;
        ok = ok && !sp_leaving(b->p->diags, i) && close_bucket(b, &x);
    }
    sp_vec_free(&open);
    return ok;
}

static bool timeline_prepare(struct builder *b)
{
    const struct sp_profile *p = b->p;
    size_t whats = b->kinds ? b->kinds->list.n : p->functions.n;
    b->row = calloc(p->stacks.n + 1, sizeof *b->row);
    b->rest = calloc(p->stacks.n + 1, sizeof *b->rest);
    b->sum = malloc((p->stacks.n + 1) * sizeof *b->sum);
    b->self = malloc((whats + 1) * sizeof *b->self);
    if (!b->row || !b->rest || !b->sum || !b->self)
        return false;
    for (size_t i = 0; i < b->s->rows.n; i++)
        b->row[b->s->rows.v[i].stack] = (uint32_t)i + 1;
    for (size_t i = 0; i < p->rests.list.n; i++)
        b->rest[p->rests.list.v[i].stack] = (uint32_t)i + 1;
    for (size_t i = 0; i < p->stacks.n; i++)
        b->sum[i] = SP_ABSENT;
    for (size_t i = 0; i < whats; i++)
        b->self[i] = SP_ABSENT;
    return true;
}

static void timeline_release(struct builder *b)
{
    free(b->row);
    free(b->rest);
    free(b->sum);
    free(b->self);
    sp_vec_free(&b->stacks);
    sp_vec_free(&b->whats);
}

spaa_status sp_timeline_of_steps(struct sp_selection *s, struct sp_step_ranges *r, size_t buckets, size_t hot,
                                 struct sp_diags *d, struct sp_timeline *out)
{
    struct builder b = {.s = s, .p = s->profile, .nhot = hot};
    int64_t begin, length;
    if (!sp_str_is(sp_pstr(b.p, b.p->metrics.v[s->metric].name), "samples")) {
        sp_emit_hint(d, SP_E604, SP_AT_NOTHING, "--metric samples", "steps are of samples");
        return SPAA_ERR_USAGE;
    }
    if (__builtin_mul_overflow(r->last, r->interval_ns, &length)) {
        sp_emit(d, SP_E600, SP_AT_NOTHING, "its steps are more than 64 bits of nanoseconds");
        return SPAA_ERR_USAGE;
    }
    if (sp_time_ns(sp_pstr(b.p, b.p->header.time_start), sp_pstr(b.p, b.p->header.time_unit), &begin) &&
        begin <= INT64_MAX - length)
        b.t.zero = begin;
    b.t.start = b.t.zero;
    b.t.end = b.t.zero + length;
    if (r->v.n)
        qsort(r->v.v, r->v.n, sizeof *r->v.v, compare_ranges);
    spaa_status st = timeline_prepare(&b) && timeline_from_steps(&b, r, buckets) ? SPAA_OK : sp_nomem(d);
    timeline_release(&b);
    if (st)
        sp_timeline_free(&b.t);
    else
        *out = b.t;
    return st;
}

spaa_status sp_timeline_build(struct sp_selection *s, const struct sp_sample_times *m,
                              const struct sp_stack_kinds *kinds, size_t buckets, size_t hot,
                              struct sp_diags *d, struct sp_timeline *out)
{
    struct builder b = {.s = s, .m = m, .p = s->profile, .kinds = kinds, .nhot = hot};
    b.t.zero = m->zero;
    b.t.start = m->zero < m->start ? m->zero : m->start;
    b.t.end = m->end;
    if (s->timed && s->time_lo > b.t.start)
        b.t.start = s->time_lo;
    if (s->timed && s->time_hi < b.t.end)
        b.t.end = s->time_hi;
    if (b.t.end < b.t.start)
        b.t.end = b.t.start;
    spaa_status st = SPAA_OK;
    if (m->rows)
        st = sp_weighing_or_say(s->profile, s->event, s->metric, d, &b.how);
    if (!st && !timeline_prepare(&b))
        st = sp_nomem(d);
    if (!st &&
        !(m->rows ? b.t.end == b.t.start || timeline_from_samples(&b, buckets) : timeline_from_windows(&b)))
        st = sp_nomem(d);
    timeline_release(&b);
    if (st)
        sp_timeline_free(&b.t);
    else
        *out = b.t;
    return st;
}

void sp_timeline_free(struct sp_timeline *t)
{
    sp_vec_free(&t->buckets);
    sp_vec_free(&t->hot);
}

#include "analysis/levels.h"

#include "analysis/at.h"
#include "analysis/names.h"
#include "analysis/owners.h"
#include "analysis/tally.h"
#include "base/num.h"
#include "model/events.h"
#include "model/heap_facts.h"

#include <stdio.h>
#include <stdlib.h>

enum { ALLOCATED, CALLS, FREED, FREES, TEMPORARY, SUMS };
static const char *const level_sums[SUMS] = {"alloc_bytes", "alloc_count", "free_bytes", "free_count",
                                             "x_temporary_count"};

static bool level_is_live(struct sp_str metric)
{
    return sp_str_is(metric, "live_bytes") || sp_str_is(metric, "live_count");
}

/* ---- whether there are levels ---- */

bool sp_window_values_of(const struct sp_profile *p, uint32_t metric)
{
    for (size_t i = 0; i < p->window_rows.n; i++)
        if (sp_window_value(p, &p->window_rows.v[i], metric).v != SP_ABSENT)
            return true;
    return false;
}

/* In their order, none over another. */
static bool levels_windows_follow(const struct sp_profile *p)
{
    int64_t before = INT64_MIN, lo, hi;
    for (size_t i = 0; i < p->windows.n; i++) {
        const struct sp_window *w = &p->windows.v[i];
        struct sp_str unit = sp_pstr(p, w->unit ? w->unit : p->header.time_unit);
        if (!sp_time_ns(sp_pstr(p, w->start), unit, &lo) || !sp_time_ns(sp_pstr(p, w->end), unit, &hi) ||
            lo < before || hi < lo)
            return false;
        before = hi;
    }
    return p->windows.n > 0;
}

const char *sp_levels_metric(const struct sp_profile *p, const struct sp_select_opts *o)
{
    const char *metric = o->metric ? o->metric : "live_bytes";
    uint32_t m = sp_metric_find(p, metric, strlen(metric));
    uint32_t event = o->event ? sp_event_find(p, o->event, strlen(o->event)) : sp_default_event(p);
    if (m == SP_NONE || !sp_is_of_memory(p, m) || !levels_windows_follow(p) || !sp_window_values_of(p, m))
        return NULL;
    if (o->event && event == SP_NONE) /* a metric in the place of an event */
        return strcmp(o->event, metric) == 0 && !o->metric ? metric : NULL;
    if (!o->event && o->metric)
        return sp_metric_event(p, metric) == SP_NONE ? NULL : metric;
    return event != SP_NONE && sp_event_metric(p, event, metric) != SP_NONE ? metric : NULL;
}

/* ---- one bucket after the other ---- */

struct level_builder {
    struct sp_selection *s;
    const struct sp_profile *p;
    struct sp_levels l;
    uint32_t metric[SUMS];
    uint32_t *row;              /* per stack: 1 + its row; 0: not selected */
    uint32_t *leaf;             /* per row: the function that is its leaf; SP_NONE: none */
    int64_t *change;            /* per function, in the open bucket; SP_ABSENT: nothing */
    SP_VEC(uint32_t) functions; /* that the open bucket has */
    struct sp_bucket bucket;    /* the open one */
    struct sp_level level;
    int64_t at;  /* the level */
    bool partly; /* the last window ended where a part of the whole is not known: no bucket does */
    size_t nhot;
};

static bool levels_prepare(struct level_builder *b)
{
    const struct sp_profile *p = b->p;
    b->row = calloc(p->stacks.n + 1, sizeof *b->row);
    b->leaf = malloc((b->s->rows.n + 1) * sizeof *b->leaf);
    b->change = malloc((p->functions.n + 1) * sizeof *b->change);
    if (!b->row || !b->leaf || !b->change)
        return false;
    for (size_t i = 0; i < p->functions.n; i++)
        b->change[i] = SP_ABSENT;
    for (size_t i = 0; i < b->s->rows.n; i++) {
        size_t n;
        const uint32_t *f = sp_selected_frames(b->s, i, &n);
        if (!f)
            return false;
        b->leaf[i] = n ? p->frames.v[f[0]].function : SP_NONE;
        b->row[b->s->rows.v[i].stack] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < SUMS; i++) {
        b->metric[i] = sp_metric_find(p, level_sums[i], strlen(level_sums[i]));
        if (b->metric[i] != SP_NONE && !sp_window_values_of(p, b->metric[i]))
            b->metric[i] = SP_NONE;
    }
    return true;
}

/* Changes that no stack is known of are of the whole alone. */
static bool level_row_counts(const struct level_builder *b, const struct sp_window_row *r)
{
    return r->stack == SP_NONE ? b->l.whole : b->row[r->stack] != 0;
}

static int64_t level_change(const struct level_builder *b, const struct sp_window_row *r)
{
    struct sp_value v = sp_window_value(b->p, r, b->s->metric);
    return v.v == SP_ABSENT ? SP_ABSENT : sp_scale_weight(b->s, v.v, sp_pstr(b->p, v.text));
}

static bool levels_add_row(struct level_builder *b, const struct sp_window_row *r)
{
    int64_t *const sums[SUMS] = {&b->level.allocated, &b->level.calls, &b->level.freed, &b->level.frees,
                                 &b->level.temporary};
    if (!level_row_counts(b, r))
        return true;
    for (size_t i = 0; i < SUMS; i++) {
        int64_t v = b->metric[i] == SP_NONE ? SP_ABSENT : sp_window_value(b->p, r, b->metric[i]).v;
        if (v > SP_DECIMAL)
            sp_tally_add(sums[i], v);
    }
    int64_t change = level_change(b, r);
    uint32_t function = r->stack == SP_NONE ? SP_NONE : b->leaf[b->row[r->stack] - 1];
    if (change == SP_ABSENT)
        return true;
    sp_tally_add(&b->bucket.weight, change);
    sp_tally_add(&b->at, change);
    if (function == SP_NONE)
        return true;
    if (b->change[function] == SP_ABSENT && !sp_vec_push(&b->functions, function))
        return false;
    sp_tally_add(&b->change[function], change);
    return true;
}

static void level_most(struct level_builder *b, const struct sp_timed_window *w, int64_t most, bool exact)
{
    struct sp_levels *l = &b->l;
    b->level.exact = b->level.exact && exact;
    if (most > b->level.most)
        b->level.most = most;
    if (l->list.n + b->level.n && most <= l->most)
        return;
    l->most = most;
    l->most_lo = w->lo;
    l->most_hi = w->hi;
}

/* What the recording says of all counts where its level is the one that the changes add up to. */
static bool levels_add_window(struct level_builder *b, const struct sp_timed_window *w)
{
    const struct sp_window *x = &b->p->windows.v[w->window];
    struct sp_heap_window facts;
    int64_t before = b->at;
    bool bytes = b->l.of_level && sp_str_is(sp_pstr(b->p, b->p->metrics.v[b->s->metric].name), "live_bytes");
    for (uint32_t i = 0; i < x->n; i++)
        if (!levels_add_row(b, &b->p->window_rows.v[x->first + i]))
            return false;
    sp_heap_window_of(b->p, x, &facts);
    bool known = b->l.whole && bytes && facts.live == b->at && facts.most >= b->at && facts.most >= before;
    int64_t end = b->at > before ? b->at : before;
    b->l.exact = b->l.exact && known;
    if (facts.no_stacks && !b->l.whole)
        end = before; /* what of it is meant is not known */
    b->partly = facts.no_stacks && !b->l.whole;
    level_most(b, w, known ? facts.most : end, known);
    if (facts.rss > b->level.rss)
        b->level.rss = facts.rss;
    b->level.n++;
    b->bucket.hi = w->hi;
    return true;
}

struct level_order {
    const struct sp_profile *p;
    bool down;
};

static int levels_cmp_hot(const void *va, const void *vb, void *arg)
{
    const struct level_order *o = arg;
    const struct sp_hot *a = va, *b = vb;
    if (a->self != b->self)
        return (a->self > b->self) != o->down ? -1 : 1;
    int c = sp_str_cmp(sp_pstr(o->p, o->p->functions.v[a->what].name),
                       sp_pstr(o->p, o->p->functions.v[b->what].name));
    return c ? c : (a->what > b->what) - (a->what < b->what);
}

/* Where it grew those that grew most, where it shrank those that gave back most. */
static bool levels_close(struct level_builder *b)
{
    SP_VEC(struct sp_hot) all = {0};
    struct sp_bucket *x = &b->bucket;
    struct level_order order = {b->p, x->weight < 0};
    bool ok = true;
    for (size_t i = 0; i < b->functions.n; i++) {
        uint32_t f = b->functions.v[i];
        int64_t v = b->change[f];
        ok = ok && (!v || (v < 0) != order.down || sp_vec_push(&all, ((struct sp_hot){f, v})));
        b->change[f] = SP_ABSENT;
    }
    if (ok && all.n)
        qsort_r(all.v, all.n, sizeof *all.v, levels_cmp_hot, &order);
    x->hot = b->l.t.hot.n;
    for (size_t i = 0; ok && i < all.n && i < b->nhot; i++)
        ok = sp_vec_push(&b->l.t.hot, all.v[i]);
    x->nhot = b->l.t.hot.n - x->hot;
    sp_vec_free(&all);
    b->functions.n = 0;
    sp_tally_add(&b->l.t.covered, x->weight);
    b->level.end = b->at;
    if (!b->l.of_level)
        b->level.start = b->level.end = b->level.most = SP_ABSENT;
    if (b->level.rss > b->l.rss)
        b->l.rss = b->level.rss;
    return ok && sp_vec_push(&b->l.t.buckets, *x) && sp_vec_push(&b->l.list, b->level);
}

/* Nothing yet, of what windows know. */
static int64_t level_none(const struct level_builder *b, int sum)
{
    return b->metric[sum] == SP_NONE ? SP_ABSENT : 0;
}

static void levels_open(struct level_builder *b, const struct sp_timed_window *w, size_t window)
{
    b->bucket = (struct sp_bucket){.lo = w->lo, .samples = SP_ABSENT, .window = w->window};
    b->level = (struct sp_level){.start = b->at,
                                 .end = b->at,
                                 .most = b->at,
                                 .exact = true,
                                 .allocated = level_none(b, ALLOCATED),
                                 .calls = level_none(b, CALLS),
                                 .freed = level_none(b, FREED),
                                 .frees = level_none(b, FREES),
                                 .temporary = level_none(b, TEMPORARY),
                                 .rss = SP_ABSENT,
                                 .windows = window};
}

/* Of so many equal stretches the one that the middle of a window is in. */
static size_t level_bucket_of(const struct level_builder *b, const struct sp_timed_window *w, size_t buckets)
{
    __int128 span = (__int128)b->l.t.end - b->l.t.start, at = ((__int128)w->lo + w->hi) / 2 - b->l.t.start;
    size_t i = span > 0 ? (size_t)(at * (__int128)buckets / span) : 0;
    return i < buckets ? i : buckets - 1;
}

static bool levels_build(struct level_builder *b, size_t first, size_t n, size_t buckets)
{
    const struct sp_timed_window *w = b->l.times.windows.v;
    size_t open = SIZE_MAX;
    bool alone = n <= buckets, ok = true;
    for (size_t i = first; ok && i < first + n; i++) {
        size_t bucket = alone ? i : level_bucket_of(b, &w[i], buckets);
        if (bucket != open && !b->partly) {
            ok = open == SIZE_MAX || levels_close(b);
            levels_open(b, &w[i], i);
            open = bucket;
        }
        if (!alone || b->level.n)
            b->bucket.window = SP_NONE;
        ok = ok && levels_add_window(b, &w[i]);
    }
    return ok && (open == SIZE_MAX || b->partly || levels_close(b));
}

/* What was live when the range began. */
static void levels_before(struct level_builder *b, size_t first)
{
    for (size_t i = 0; i < first; i++) {
        const struct sp_window *x = &b->p->windows.v[b->l.times.windows.v[i].window];
        for (uint32_t k = 0; k < x->n; k++) {
            const struct sp_window_row *r = &b->p->window_rows.v[x->first + k];
            if (level_row_counts(b, r))
                sp_tally_add(&b->at, level_change(b, r));
        }
    }
}

/* ---- all ---- */

static spaa_status levels_out_of_range(const struct sp_sample_times *m, const char *time, struct sp_diags *d)
{
    char lo[64], hi[64], hint[160];
    sp_scaled_text((__int128)m->start - m->zero, 9, lo);
    sp_scaled_text((__int128)m->end - m->zero, 9, hi);
    snprintf(hint, sizeof hint, "the recording has %s..%s s", lo, hi);
    sp_emit_hint(d, SP_E032, SP_AT_NOTHING, hint, "--time %s", time);
    return SPAA_ERR_NOT_FOUND;
}

/* The windows that are meant: those that fit the range, none over another. */
static spaa_status levels_range(struct level_builder *b, const char *time, struct sp_diags *d, size_t *first,
                                size_t *n)
{
    struct sp_levels *l = &b->l;
    int64_t lo = INT64_MIN, hi = INT64_MAX;
    spaa_status st = sp_window_times_of(b->p, d, &l->times);
    if (st)
        return st;
    if (time)
        st = sp_sample_times_range(&l->times, time, d, &lo, &hi);
    if (!st)
        st = sp_sample_times_windows(&l->times, lo, hi, d, first, n);
    if (st)
        return st;
    if (time && !*n)
        return levels_out_of_range(&l->times, time, d);
    l->t.zero = l->times.zero;
    l->t.start = *n ? l->times.windows.v[*first].lo : l->times.start;
    l->t.end = *n ? l->times.windows.v[*first + *n - 1].hi : l->t.start;
    return SPAA_OK;
}

/* The recording knows the moment of its peak, which is this one where it is as high. */
static void levels_date_peak(struct level_builder *b)
{
    struct sp_heap_totals totals;
    struct sp_levels *l = &b->l;
    sp_heap_totals_of(b->p, &totals);
    l->most_at = SP_ABSENT;
    if (l->exact && totals.peak_bytes == l->most && totals.peak_ns != SP_ABSENT &&
        totals.peak_ns >= l->most_lo - l->t.zero && totals.peak_ns < l->most_hi - l->t.zero)
        l->most_at = totals.peak_ns;
}

static spaa_status levels_without_stacks(struct sp_diags *d)
{
    sp_emit_hint(d, SP_E607, SP_AT_NOTHING, "ask without filters; --at peak or --at end have stacks",
                 "between its full snapshots the file has totals, not what a part of the program held");
    return SPAA_ERR_USAGE;
}

spaa_status sp_levels_of(struct sp_selection *s, const char *time, size_t buckets, size_t hot,
                         struct sp_diags *d, struct sp_levels *out)
{
    struct level_builder b = {.s = s, .p = s->profile, .nhot = hot};
    size_t first = 0, n = 0;
    b.l.of_level = level_is_live(sp_pstr(b.p, b.p->metrics.v[s->metric].name));
    b.l.whole = !s->filters.len;
    b.l.t.changes = b.l.of_level;
    b.l.exact = true;
    b.l.rss = SP_ABSENT;
    spaa_status st = levels_range(&b, time, d, &first, &n);
    if (!st && !b.l.whole && sp_windows_lack_stacks(b.p, &b.l.times, s->metric, b.l.t.end))
        st = levels_without_stacks(d);
    if (!st && !levels_prepare(&b))
        st = sp_nomem(d);
    if (!st) {
        levels_before(&b, first);
        b.l.most = b.at;
        st = levels_build(&b, first, n, buckets) ? SPAA_OK : sp_nomem(d);
    }
    if (!st) {
        b.l.end = b.l.list.n ? b.l.list.v[b.l.list.n - 1].end : b.at;
        b.l.t.end = b.l.t.buckets.n ? b.l.t.buckets.v[b.l.t.buckets.n - 1].hi : b.l.t.end;
        levels_date_peak(&b);
    }
    free(b.row);
    free(b.leaf);
    free(b.change);
    sp_vec_free(&b.functions);
    if (st)
        sp_levels_free(&b.l);
    else
        *out = b.l;
    return st;
}

void sp_levels_free(struct sp_levels *l)
{
    sp_timeline_free(&l->t);
    sp_vec_free(&l->list);
    sp_sample_times_free(&l->times);
}

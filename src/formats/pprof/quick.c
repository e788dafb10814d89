/*
 * Samples in the shape that producers give them: location ids packed in one field, as many values as there
 * are types, packed or not, labels behind each other; lengths of one or two bytes.
 *
 * They go through in groups, so that what they need of large tables is asked for ahead: a group is cut into
 * entries, one for each event of a sample (cut.c); then each gets its frames (path.c), or is found to be one
 * that was seen before; then they are interned in their order, or appended. The frames wait behind those of
 * the profile, where those that are new stay.
 *
 * Whatever has another shape, or a location or label that must be reported, goes to samples.c instead.
 */
#include "formats/pprof/pprof.h"

#define WINDOW   8192u /* stacks after which it is decided whether they repeat */
#define FIRST    4096u /* places of `seen` */
#define SEEN_MAX ((size_t)1 << 30)

/* ---- stacks that were seen before, by the bytes of their ids ---- */

static uint32_t seen_find(const struct sp_pp *pp, const struct sp_pp_entry *x)
{
    const struct sp_profile *p = pp->p;
    if (!pp->seen)
        return SP_NONE;
    for (size_t i = x->seen_hash & pp->seen_mask;; i = (i + 1) & pp->seen_mask) {
        const struct sp_pp_seen *s = &pp->seen[i];
        if (!s->stack)
            return SP_NONE;
        if (s->low == (uint32_t)x->seen_hash && (s->where & 0xffff) == x->nids &&
            memcmp(pp->in + (s->where >> 16), x->ids, x->nids) == 0 &&
            (p->contexts.n == 1 || p->stacks.v[s->stack - 1].context == x->context))
            return s->stack - 1;
    }
}

void sp_pp_forget(struct sp_pp *pp)
{
    free(pp->seen);
    pp->seen = NULL;
    pp->nseen = 0;
    pp->use_seen = false;
    pp->window = pp->repeats = 0;
}

static bool seen_grow(struct sp_pp *pp)
{
    size_t n = pp->seen ? 2 * (pp->seen_mask + 1) : FIRST;
    struct sp_pp_seen *bigger = calloc(n, sizeof *bigger);
    if (!bigger)
        return false;
    sp_large_pages(bigger, n * sizeof *bigger);
    for (size_t i = 0; pp->seen && i <= pp->seen_mask; i++) {
        size_t to = pp->seen[i].low & (n - 1);
        if (!pp->seen[i].stack)
            continue;
        while (bigger[to].stack)
            to = (to + 1) & (n - 1);
        bigger[to] = pp->seen[i];
    }
    free(pp->seen);
    pp->seen = bigger;
    pp->seen_mask = n - 1;
    return true;
}

static bool seen_add(struct sp_pp *pp, const struct sp_pp_entry *x, uint32_t stack)
{
    if (pp->nseen == SEEN_MAX)
        return true;
    if ((!pp->seen || pp->nseen > pp->seen_mask / 2) && !seen_grow(pp))
        return false;
    size_t i = x->seen_hash & pp->seen_mask;
    while (pp->seen[i].stack)
        i = (i + 1) & pp->seen_mask;
    uint64_t where = (uint64_t)(x->ids - pp->in) << 16 | x->nids;
    pp->seen[i] = (struct sp_pp_seen){(uint32_t)x->seen_hash, stack + 1, where};
    pp->nseen++;
    return true;
}

/* The bytes that an entry will be compared with, and what it will be added to, if it was seen before. */
static void expect_seen(const struct sp_pp *pp, const struct sp_pp_entry *x)
{
    const struct sp_pp_event *e = &pp->event[x->event];
    const struct sp_pp_seen *s = &pp->seen[x->seen_hash & pp->seen_mask];
    for (size_t i = x->seen_hash & pp->seen_mask; s->stack && s->low != (uint32_t)x->seen_hash;) {
        i = (i + 1) & pp->seen_mask;
        s = &pp->seen[i];
    }
    if (!s->stack)
        return;
    for (uint32_t at = 0; at < x->nids && at < 192; at += 64)
        __builtin_prefetch(pp->in + (s->where >> 16) + at);
    if (pp->p->contexts.n > 1)
        __builtin_prefetch(&pp->p->stacks.v[s->stack - 1]);
    for (uint32_t i = 0; i < e->ntypes && i < 4; i++) {
        const struct sp_column *c = &pp->p->columns[e->metrics[i]];
        if (s->stack <= c->n)
            __builtin_prefetch(&c->v[s->stack - 1], 1);
    }
}

/* ---- looking up ---- */

static spaa_status store(struct sp_pp *pp, const struct sp_pp_entry *x)
{
    const struct sp_pp_event *e = &pp->event[x->event];
    const int64_t *values = pp->queued_values.v + x->values;
    struct sp_profile *p = pp->p;
    bool is_new = false;
    uint32_t s = x->stack;
    if (s == SP_NONE) {
        s = sp_pp_stack(pp, x->hash, p->stack_frames.v + x->first, x->n, x->context, &is_new);
        if (s == SP_NONE || (pp->use_seen && !seen_add(pp, x, s)))
            return sp_nomem(pp->d);
        if (is_new)
            sp_stack_set_layout(p, s, e->layout);
    }
    pp->repeats += !is_new;
    pp->known += !is_new;
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (!sp_weight_add(p, s, e->metrics[i], values[e->types[i]]))
            return sp_nomem(pp->d);
    return SPAA_OK;
}

/* One weight of each of n entries, whose stacks are those from `first` on. */
static bool append_weights(struct sp_pp *pp, const struct sp_pp_entry *x, uint32_t n, uint32_t first,
                           uint32_t metric, uint32_t type)
{
    struct sp_profile *p = pp->p;
    struct sp_column *c = &p->columns[metric];
    uint32_t i = 0;
    if (c->n == first && c->cap - first >= n) {
        int64_t v, *to = c->v + first;
        for (; i < n && (v = pp->queued_values.v[x[i].values + type]) > SP_DECIMAL; i++)
            to[i] = v;
        c->n += i;
    }
    for (; i < n; i++)
        if (!sp_weight_add(p, first + i, metric, pp->queued_values.v[x[i].values + type]))
            return false;
    return true;
}

/* The same of all of them as new stacks. */
static bool append_some(struct sp_pp *pp, uint32_t from, uint32_t to)
{
    struct sp_profile *p = pp->p;
    const struct sp_pp_entry *x = pp->queue + from;
    const uint32_t n = to - from;
    if (p->stacks.n + n >= SP_NONE || !sp_vec_reserve(&p->stacks, p->stacks.n + n) ||
        !sp_vec_reserve(&pp->hashes, pp->hashes.n + n))
        return false;
    uint32_t *hashes = pp->hashes.v + pp->hashes.n;
    for (uint32_t i = 0; i < n; i++) {
        sp_stack_put(p, x[i].n, x[i].context, SP_UNIFIED, pp->event[x[i].event].layout);
        hashes[i] = (uint32_t)x[i].hash;
    }
    pp->hashes.n += n;
    /* Those of one event behind each other: mostly all. */
    for (uint32_t i = 0, same; i < n; i += same) {
        const struct sp_pp_event *e = &pp->event[x[i].event];
        for (same = 1; i + same < n && x[i + same].event == x[i].event;)
            same++;
        for (uint32_t k = 0; k < e->ntypes; k++)
            if (!append_weights(pp, x + i, same, (uint32_t)p->stacks.n - n + i, e->metrics[k], e->types[k]))
                return false;
    }
    return true;
}

static spaa_status store_some(struct sp_pp *pp, uint32_t from, uint32_t to)
{
    spaa_status st = SPAA_OK;
    if (pp->joins)
        st = append_some(pp, from, to) ? SPAA_OK : sp_nomem(pp->d);
    else
        for (uint32_t i = from; !st && i < to; i++)
            st = store(pp, &pp->queue[i]);
    pp->queued_frames = 0;
    return st;
}

/* Remembering what was seen pays where stacks repeat, and only there. */
static void weigh_seen(struct sp_pp *pp)
{
    pp->window += pp->nqueued;
    if (pp->window < WINDOW)
        return;
    pp->use_seen = pp->repeats > pp->window / 4;
    pp->window = pp->repeats = 0;
}

/* The entry i in the slow way, with those of the same sample; *next is the one behind them. */
static spaa_status look_up_slowly(struct sp_pp *pp, uint32_t i, uint32_t *next)
{
    const unsigned char *field = pp->queue[i].field, *sample;
    size_t size;
    while (i < pp->nqueued && pp->queue[i].field == field)
        i++;
    *next = i;
    sample = field + 1 + sp_pp_length(field + 1, &size);
    return sp_pp_sample(pp, sample, size);
}

static spaa_status look_up(struct sp_pp *pp)
{
    struct sp_pp_entry *q = pp->queue;
    spaa_status st = SPAA_OK;
    const uint32_t n = pp->nqueued;
    bool nomem = false;
    for (uint32_t k = 0; pp->use_seen && pp->seen && k < n; k++)
        expect_seen(pp, &q[k]);
    for (uint32_t k = 0; pp->use_seen && k < n; k++)
        q[k].stack = seen_find(pp, &q[k]);
    for (uint32_t i = 0; !st && i < n;) {
        uint32_t end = sp_pp_paths(pp, i, n, &nomem);
        st = nomem ? sp_nomem(pp->d) : store_some(pp, i, end);
        if (!st && (i = end) < n)
            st = look_up_slowly(pp, end, &i);
    }
    weigh_seen(pp);
    return !st && pp->p->stacks.n >= pp->weigh_at ? sp_pp_weigh(pp) : st;
}

spaa_status sp_pp_quick(struct sp_pp *pp, const unsigned char **at, const unsigned char *end)
{
    const unsigned char *limit = pp->in + (pp->n < 16 ? 0 : pp->n - 16);
    spaa_status st = SPAA_OK;
    bool more = pp->types.list.n == pp->ntypes;
    if (limit > end)
        limit = end;
    if (!sp_vec_reserve(&pp->queued_values, (size_t)PP_GROUP * pp->ntypes))
        return sp_nomem(pp->d);
    while (!st && more) {
        more = sp_pp_cut(pp, at, limit, &st);
        if (!st)
            st = look_up(pp);
    }
    return st;
}

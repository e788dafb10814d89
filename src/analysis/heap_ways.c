#include "analysis/heap_ways.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

void sp_heap_ways_free(struct sp_heap_ways *w)
{
    sp_vec_free(&w->all);
    sp_vec_free(&w->first);
    sp_vec_free(&w->values);
    sp_map_free(&w->map);
}

/* ---- adding ---- */

/* The own functions above the frame, each another one than that before it. */
static bool read_way(struct sp_heap_way *way, struct sp_strtab *strs, struct sp_selection *s,
                     const struct sp_own *own, size_t row, size_t at)
{
    const struct sp_profile *p = s->profile;
    size_t n;
    const uint32_t *f = sp_selected_frames(s, row, &n);
    uint32_t last = SP_NONE;
    if (!f)
        return false;
    for (size_t i = at; i < n && way->n < SP_LEAK_CALLERS; i++) {
        uint32_t function = p->frames.v[f[i]].function;
        if (i > at && !sp_is_own(own, function))
            continue;
        struct sp_str name = sp_pstr(p, p->functions.v[function].name);
        uint32_t is = sp_intern(strs, name.p, name.n);
        if (is == SP_STR_FAIL)
            return false;
        if (i > at && is != last)
            way->name[way->n++] = is;
        last = is;
    }
    return true;
}

static bool same_way(const struct sp_heap_way *a, const struct sp_heap_way *b)
{
    return a->owner == b->owner && a->n == b->n && memcmp(a->name, b->name, sizeof a->name) == 0;
}

/* Its number; SP_NONE: out of memory. */
static uint32_t way_number(struct sp_heap_ways *w, struct sp_heap_way *way)
{
    uint64_t hash = sp_hash_key_seed(way->name, sizeof way->name, way->owner);
    struct sp_probe probe = sp_map_probe(&w->map, hash);
    for (uint32_t i; (i = sp_map_next(&w->map, &probe)) != SP_MAP_NONE;)
        if (same_way(&w->all.v[i], way))
            return i;
    uint32_t number = (uint32_t)w->all.n;
    while (w->first.n <= way->owner)
        if (!sp_vec_push(&w->first, 0))
            return SP_NONE;
    way->next = w->first.v[way->owner];
    if (number >= SP_NONE - 1 || !sp_vec_push(&w->all, *way) || !sp_map_add(&w->map, hash, number))
        return SP_NONE;
    w->first.v[way->owner] = number + 1;
    return number;
}

bool sp_heap_ways_add(struct sp_heap_ways *w, struct sp_strtab *strs, struct sp_selection *s,
                      const struct sp_own *own, size_t row, size_t at, uint32_t owner, uint32_t dump,
                      int64_t v)
{
    struct sp_heap_way way = {.owner = owner};
    if (v == SP_ABSENT || v == 0)
        return true;
    if (!read_way(&way, strs, s, own, row, at))
        return false;
    uint32_t number = way_number(w, &way);
    struct sp_heap_way_value x = {number, dump, v};
    return number != SP_NONE && sp_vec_push(&w->values, x);
}

static int by_way_and_dump(const void *va, const void *vb)
{
    const struct sp_heap_way_value *a = va, *b = vb;
    if (a->way != b->way)
        return a->way < b->way ? -1 : 1;
    if (a->dump != b->dump)
        return a->dump < b->dump ? -1 : 1;
    return (a->v > b->v) - (a->v < b->v);
}

void sp_heap_ways_sort(struct sp_heap_ways *w)
{
    if (w->values.n)
        qsort(w->values.v, w->values.n, sizeof *w->values.v, by_way_and_dump);
}

/* ---- the way up ---- */

struct climbing {
    const struct sp_heap_way *way;
    uint32_t next;      /* its function at this level; SP_STR_NONE: there is none */
    double gained, now; /* from one dump to the other; in that */
};

static size_t values_from(const struct sp_heap_ways *w, uint32_t way)
{
    size_t lo = 0, hi = w->values.n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (w->values.v[middle].way < way)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static struct climbing climber_of(const struct sp_heap_ways *w, uint32_t way, uint32_t from, uint32_t to)
{
    struct climbing c = {.way = &w->all.v[way]};
    for (size_t i = values_from(w, way); i < w->values.n && w->values.v[i].way == way; i++) {
        const struct sp_heap_way_value *x = &w->values.v[i];
        c.gained += x->dump == to ? (double)x->v : x->dump == from ? -(double)x->v : 0;
        c.now += x->dump == to ? (double)x->v : 0;
    }
    return c;
}

static int climbing_cmp(const void *va, const void *vb)
{
    const struct climbing *a = va, *b = vb;
    if (a->next != b->next)
        return a->next < b->next ? -1 : 1;
    return (a->way > b->way) - (a->way < b->way);
}

struct level {
    double gained; /* by all that gained something */
    double most;   /* by the one that gained most */
    size_t at, n;  /* the climbers that go there */
    uint32_t kinds;
};

/* Of these, by where they go next, who gained most. */
static struct level level_of(struct climbing *c, size_t n, unsigned depth)
{
    struct level x = {0};
    for (size_t i = 0; i < n; i++)
        c[i].next = depth < c[i].way->n ? c[i].way->name[depth] : SP_STR_NONE;
    qsort(c, n, sizeof *c, climbing_cmp);
    for (size_t from = 0, to; from < n; from = to) {
        double gained = 0, now = 0;
        for (to = from; to < n && c[to].next == c[from].next; to++) {
            gained += c[to].gained;
            now += c[to].now;
        }
        x.gained += fmax(gained, 0);
        if (c[from].next == SP_STR_NONE)
            continue;
        x.kinds += gained > 0 || now > 0;
        if (gained > x.most) {
            x.most = gained;
            x.at = from;
            x.n = to - from;
        }
    }
    return x;
}

static void climb_all(struct climbing *c, size_t n, struct sp_heap_callers *out)
{
    while (n && out->n < SP_LEAK_CALLERS) {
        struct level x = level_of(c, n, out->n);
        double weight = out->n ? fmin(x.most, out->weight) : x.most;
        if (!out->n) {
            out->whole = x.gained;
            out->others = x.kinds ? x.kinds - 1 : 0;
        }
        if (!x.n || (out->n && weight < out->whole / 2))
            return;
        c += x.at;
        n = x.n;
        out->weight = weight;
        out->nearest = out->n ? out->nearest : weight;
        out->name[out->n++] = c[0].next;
    }
}

bool sp_heap_callers_of(const struct sp_heap_ways *w, uint32_t owner, uint32_t from, uint32_t to,
                        struct sp_heap_callers *out)
{
    size_t n = 0;
    *out = (struct sp_heap_callers){0};
    uint32_t first = owner < w->first.n ? w->first.v[owner] : 0;
    for (uint32_t i = first; i; i = w->all.v[i - 1].next)
        n++;
    struct climbing *c = malloc((n + 1) * sizeof *c);
    if (!c)
        return false;
    n = 0;
    for (uint32_t i = first; i; i = w->all.v[i - 1].next)
        c[n++] = climber_of(w, i - 1, from, to);
    climb_all(c, n, out);
    free(c);
    return true;
}

/* Episodes of one place and one holder as one, and who woke whom. */
#include "analysis/stall_parts.h"

#include "base/hash.h"
#include "base/map.h"

static int alike(const struct sp_stall *a, const struct sp_stall *b)
{
#define COMPARE(member)                                                                                      \
    if (a->member != b->member)                                                                              \
        return a->member < b->member ? -1 : 1;
    COMPARE(kind)
    COMPARE(group)
    COMPARE(reason)
    COMPARE(function)
    COMPARE(by)
    COMPARE(convoy)
    if (a->convoy) /* each has had it for a while */
        return 0;
    COMPARE(holder)
    COMPARE(at_resume)
#undef COMPARE
    return 0;
}

static int by_likeness(const void *va, const void *vb, void *arg)
{
    const struct sp_stall *v = arg, *a = &v[*(const uint32_t *)va], *b = &v[*(const uint32_t *)vb];
    int order = alike(a, b);
    if (!order && a->start != b->start)
        order = a->start < b->start ? -1 : 1;
    return order ? order : (a > b) - (a < b);
}

static int by_loss(const void *va, const void *vb)
{
    const struct sp_stall_set *a = va, *b = vb;
    if (a->lost != b->lost)
        return a->lost > b->lost ? -1 : 1;
    return (a->members.first > b->members.first) - (a->members.first < b->members.first);
}

static void sum_set(struct stall_work *w, struct sp_stall_set *set)
{
    const struct sp_stalls *o = w->out;
    for (int clear = 0; clear < 2; clear++)
        for (uint32_t m = 0; m < set->members.n; m++) {
            const struct sp_stall *s = &o->v.v[o->order.v[set->members.first + m]];
            set->lost += clear ? 0 : s->lost;
            for (uint32_t k = 0; k < s->waits.n; k++) {
                int64_t *seen = &w->sum[w->v->v.v[o->waits.v[s->waits.first + k]].thread];
                set->threads += !clear && !*seen;
                *seen = !clear;
            }
        }
}

bool stall_sets(struct stall_work *w)
{
    struct sp_stalls *o = w->out;
    for (uint32_t i = 0; i < o->v.n; i++)
        if (!sp_vec_push(&o->order, i))
            return false;
    if (!o->v.n)
        return true;
    qsort_r(o->order.v, o->order.n, sizeof *o->order.v, by_likeness, o->v.v);
    for (uint32_t i = 0, k; i < o->order.n; i = k) {
        for (k = i + 1; k < o->order.n && !alike(&o->v.v[o->order.v[i]], &o->v.v[o->order.v[k]]);)
            k++;
        struct sp_stall_set set = {.members = {i, k - i}};
        sum_set(w, &set);
        if (!sp_vec_push(&o->sets, set))
            return false;
    }
    qsort(o->sets.v, o->sets.n, sizeof *o->sets.v, by_loss);
    for (uint32_t i = 0; i < o->sets.n; i++)
        for (uint32_t m = 0; m < o->sets.v[i].members.n; m++)
            o->v.v[o->order.v[o->sets.v[i].members.first + m]].set = i;
    return true;
}

/* ---- who woke whom ---- */

static int by_waited(const void *va, const void *vb)
{
    const struct sp_stall_edge *a = va, *b = vb;
    if (a->waited != b->waited)
        return a->waited > b->waited ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static bool add_edge(struct stall_work *w, struct sp_map *map, uint32_t from, const struct sp_interval *i)
{
    struct sp_stalls *o = w->out;
    uint64_t key = sp_hash_mix(from, i->thread);
    struct sp_probe at = sp_map_probe(map, key);
    uint32_t k;
    while ((k = sp_map_next(map, &at)) != SP_MAP_NONE)
        if (o->edges.v[k].from == from && o->edges.v[k].to == i->thread)
            break;
    if (k == SP_MAP_NONE) {
        struct sp_stall_edge e = {.from = from, .to = i->thread};
        k = (uint32_t)o->edges.n;
        if (!sp_vec_push(&o->edges, e) || !sp_map_add(map, key, k))
            return false;
    }
    struct sp_stall_edge *e = &o->edges.v[k];
    e->count++;
    e->waited += stall_length(i);
    e->longest = stall_length(i) > e->longest ? stall_length(i) : e->longest;
    return true;
}

bool stall_edges(struct stall_work *w)
{
    struct sp_map map = {0};
    bool ok = true;
    enum sp_stall_wakes how;
    for (size_t k = 0; ok && k < w->v->v.n; k++) {
        const struct sp_interval *i = &w->v->v.v[k];
        if (i->state != SP_RUN_BLOCKED || stall_why(w, i)->idle ||
            (w->in->selected && (i->stack >= w->in->stacks || !w->in->selected[i->stack])))
            continue;
        uint32_t waker = stall_waker(w, i, &how);
        ok = waker == SP_NONE || add_edge(w, &map, waker, i);
    }
    sp_map_free(&map);
    if (w->out->edges.n)
        qsort(w->out->edges.v, w->out->edges.n, sizeof *w->out->edges.v, by_waited);
    return ok;
}

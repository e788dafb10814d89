/* Which findings are nearly all part of another one, so that they are not to be added to it. */
#include "analysis/finding_private.h"

enum { NEARLY_ALL = 90 }; /* percent */

static bool hit_is_of(const struct finding_hit *h, const struct sp_finding *f)
{
    return f->group == UINT32_MAX || h->group == f->group;
}

/* Weight of the rows with hits of both, where that of `a` stands beneath that of `b`, or anywhere: hits of a
 * kind are in the order of rows. */
static int64_t shared(const struct finder *x, const struct sp_finding *a, const struct sp_finding *b,
                      bool anywhere)
{
    int64_t sum = 0;
    size_t k = 0, nb = x->hits[b->kind].n;
    const struct finding_hit *hb = x->hits[b->kind].v;
    for (size_t i = 0; i < x->hits[a->kind].n; i++) {
        const struct finding_hit *h = &x->hits[a->kind].v[i];
        while (k < nb && hb[k].row < h->row)
            k++;
        if (k < nb && hb[k].row == h->row && hit_is_of(h, a) && hit_is_of(&hb[k], b) &&
            (anywhere || hb[k].top > h->top))
            sum += x->s->rows.v[h->row].weight;
    }
    return sum;
}

/*
 * What waits for a lock does so in a system call: neither is the other's cause, but they are one cost. The
 * larger one is told; the lock, which says more, also where it is hardly smaller. False: they are two.
 */
static bool beneath_lock(struct finder *x, size_t lock, size_t call)
{
    struct sp_finding *l = &x->out.list.v[lock], *c = &x->out.list.v[call];
    int64_t both = shared(x, l, c, true), smaller = l->weight < c->weight ? l->weight : c->weight;
    if (l->beneath || c->beneath || (__int128)both * 100 < (__int128)smaller * NEARLY_ALL)
        return false;
    if ((__int128)l->weight * 100 >= (__int128)c->weight * NEARLY_ALL)
        c->beneath = (uint32_t)lock + 1;
    else
        l->beneath = (uint32_t)call + 1;
    return true;
}

/* Nothing lies beneath a lock or a system call otherwise, so that these come last. */
static void beneath_locks(struct finder *x)
{
    size_t n = x->out.list.n;
    for (size_t lock = 0; lock < n; lock++)
        for (size_t k = 0; x->out.list.v[lock].kind == SP_FIND_LOCK && k < n; k++)
            if (x->out.list.v[k].kind == SP_FIND_SYSCALL && beneath_lock(x, lock, k))
                return;
}

bool finding_beneath(struct finder *x)
{
    for (size_t i = 0; i < x->out.list.n; i++) {
        struct sp_finding *a = &x->out.list.v[i];
        for (size_t k = 0; k < i && !a->beneath; k++) {
            const struct sp_finding *b = &x->out.list.v[k];
            if (sp_finding_infos[a->kind].group != SP_FINDING_RULE || a->kind == b->kind ||
                !(sp_finding_infos[b->kind].flags & SP_FINDING_COVERS))
                continue;
            if ((__int128)shared(x, a, b, false) * 100 >= (__int128)a->weight * NEARLY_ALL)
                a->beneath = b->beneath ? b->beneath : (uint32_t)k + 1;
        }
    }
    beneath_locks(x);
    return true;
}

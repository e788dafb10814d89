/* Which findings are nearly all part of another one, so that they are not to be added to it. */
#include "analysis/finding_private.h"

enum { NEARLY_ALL = 90 }; /* percent */

static bool hit_is_of(const struct finding_hit *h, const struct sp_finding *f)
{
    return f->group == UINT32_MAX || h->group == f->group;
}

/* Weight of the hits of `a` that stand beneath a hit of `b` in their row: hits are in the order of rows. */
static int64_t shared(const struct finder *x, const struct sp_finding *a, const struct sp_finding *b)
{
    int64_t sum = 0;
    size_t k = 0, nb = x->hits[b->kind].n;
    const struct finding_hit *hb = x->hits[b->kind].v;
    for (size_t i = 0; i < x->hits[a->kind].n; i++) {
        const struct finding_hit *h = &x->hits[a->kind].v[i];
        while (k < nb && hb[k].row < h->row)
            k++;
        if (k < nb && hb[k].row == h->row && hit_is_of(h, a) && hit_is_of(&hb[k], b) && hb[k].top > h->top)
            sum += x->s->rows.v[h->row].weight;
    }
    return sum;
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
            if ((__int128)shared(x, a, b) * 100 >= (__int128)a->weight * NEARLY_ALL)
                a->beneath = b->beneath ? b->beneath : (uint32_t)k + 1;
        }
    }
    return true;
}

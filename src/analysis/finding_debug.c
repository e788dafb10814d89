/*
 * Functions that any optimising compiler inlines, which have frames of their own and self weight. Only where
 * the profile tells frames that were inlined from others: stacks of names alone do not.
 */
#include "analysis/finding_private.h"

#include <stdlib.h>

enum { LEAST_FUNCTIONS = 3 };

static bool debug_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                      struct finding_hit *hit)
{
    const struct sp_profile *p = x->p;
    size_t k = 0;
    while (k < row->n && p->frames.v[row->frames[k]].flags & SP_FRAME_INLINED)
        k++;
    const struct sp_frame *f = k < row->n ? &p->frames.v[row->frames[k]] : NULL;
    if (!f || !(f->flags & SP_FRAME_IP) || !(x->classes[f->function] >> r->class & 1))
        return false;
    struct sp_str dso = sp_pstr(p, p->dsos.v[p->functions.v[f->function].dso].name);
    if (dso.n && (memmem(dso.p, dso.n, "libstdc++", 9) || memmem(dso.p, dso.n, "libc++", 6)))
        return false; /* what it exports has a symbol, however it was built */
    hit->at = hit->top = (uint32_t)k;
    hit->group = f->function;
    return true;
}

static bool debug_tell(const struct finding_rule *r, struct finder *x)
{
    struct sp_finding f;
    int64_t *of = calloc(x->p->functions.n + 1, sizeof *of);
    bool ok = of && finding_of_hits(r, x, UINT32_MAX, &f);
    for (size_t i = 0; ok && i < x->hits[r->kind].n; i++) {
        const struct finding_hit *h = &x->hits[r->kind].v[i];
        f.count += !of[h->group];
        of[h->group] += x->s->rows.v[h->row].weight;
    }
    if (ok) {
        f.function = finding_heaviest(x, of, 0);
        f.through = f.function == SP_NONE ? 0 : of[f.function];
        ok = f.count < LEAST_FUNCTIONS || finding_add(x, &f);
    }
    free(of);
    return ok;
}

const struct finding_rule finding_rule_debug = {SP_FIND_DEBUG, FC_INLINE, debug_hit, debug_tell};

#include "analysis/quality.h"

#include <stdlib.h>

static int cmp_dso(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_quality_dso *a = va, *b = vb;
    if (a->leaf != b->leaf)
        return a->leaf > b->leaf ? -1 : 1;
    int c = sp_str_cmp(sp_pstr(p, p->dsos.v[a->dso].name), sp_pstr(p, p->dsos.v[b->dso].name));
    return c ? c : (a->dso > b->dso) - (a->dso < b->dso);
}

/* Does the record state another flat weight than its own? */
static bool differs(const struct sp_selection *s, const struct sp_stack *x, uint32_t stack)
{
    const struct sp_profile *p = s->profile;
    if (x->exclusive < 2)
        return false;
    const struct sp_exclusive *e = &p->exclusives.v[x->exclusive - 2];
    const struct sp_layout *l = e->layout == SP_NONE ? NULL : &p->layouts.v[e->layout];
    for (uint32_t i = 0; l && i < l->n; i++)
        if (p->layout_fields.v[l->first + i].metric == s->metric)
            return p->values.v[e->first + i].v != sp_weight(p, stack, s->metric);
    return false;
}

static void row(struct sp_selection *s, size_t i, const uint32_t *f, size_t n, struct sp_quality *q,
                int64_t *by_dso)
{
    const struct sp_profile *p = s->profile;
    int64_t w = s->rows.v[i].weight;
    bool any = false;
    if (!n) {
        q->no_stack += w;
        return;
    }
    for (size_t k = 0; k < n && !any; k++)
        any = p->frames.v[f[k]].flags & SP_FRAME_UNRESOLVED;
    if (any)
        q->unresolved_any += w;
    uint32_t leaf = sp_selected_leaf(s, i, f, n);
    if (p->frames.v[leaf].flags & SP_FRAME_UNRESOLVED) {
        q->unresolved_leaf += w;
        by_dso[p->functions.v[p->frames.v[leaf].function].dso] += w;
    }
    q->exclusive_differs += differs(s, &p->stacks.v[s->rows.v[i].stack], s->rows.v[i].stack);
}

spaa_status sp_quality_of(struct sp_selection *s, struct sp_diags *d, struct sp_quality *out)
{
    const struct sp_profile *p = s->profile;
    struct sp_quality q = {.lost = p->header.lost, .truncated = p->header.truncated, .frames = p->frames.n};
    int64_t *by_dso = calloc(p->dsos.n + 1, sizeof *by_dso);
    bool ok = by_dso != NULL;
    for (size_t i = 0; i < p->frames.n; i++)
        q.frames_unresolved += (p->frames.v[i].flags & SP_FRAME_UNRESOLVED) != 0;
    for (size_t i = 0; ok && i < s->rows.n; i++) {
        size_t n;
        const uint32_t *f = sp_selected_frames(s, i, &n);
        ok = f != NULL;
        if (ok)
            row(s, i, f, n, &q, by_dso);
    }
    for (uint32_t i = 0; ok && i < p->dsos.n; i++)
        if (by_dso[i])
            ok = sp_vec_push(&q.dsos, ((struct sp_quality_dso){i, by_dso[i]}));
    if (ok && q.dsos.n)
        qsort_r(q.dsos.v, q.dsos.n, sizeof *q.dsos.v, cmp_dso, (void *)(uintptr_t)p);
    free(by_dso);
    if (!ok) {
        sp_quality_free(&q);
        return sp_nomem(d);
    }
    *out = q;
    return SPAA_OK;
}

void sp_quality_free(struct sp_quality *q)
{
    sp_vec_free(&q->dsos);
}

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

/* The frames of a row; unresolved: per frame, in little memory, as there are many frames to a stack. */
static void look_at(struct sp_selection *s, size_t i, const uint32_t *f, size_t n,
                    const unsigned char *unresolved, struct sp_quality *q, int64_t *by_dso)
{
    const struct sp_profile *p = s->profile;
    int64_t w = s->rows.v[i].weight;
    unsigned any = 0;
    for (size_t k = 0; k < n; k++)
        any |= unresolved[f[k]];
    if (!any)
        return;
    q->unresolved_any += w;
    uint32_t leaf = sp_selected_leaf(s, i, f, n);
    if (unresolved[leaf]) {
        q->unresolved_leaf += w;
        by_dso[p->functions.v[p->frames.v[leaf].function].dso] += w;
    }
}

static bool look_at_all(struct sp_selection *s, const unsigned char *unresolved, struct sp_quality *q,
                        int64_t *by_dso)
{
    const struct sp_profile *p = s->profile;
    for (size_t i = 0; i < s->rows.n && !(s->plain && !q->frames_unresolved); i++) {
        size_t n;
        const uint32_t *f = sp_selected_frames(s, i, &n);
        if (!f)
            return false;
        if (!n) {
            q->no_stack += s->rows.v[i].weight;
            continue;
        }
        if (q->frames_unresolved)
            look_at(s, i, f, n, unresolved, q, by_dso);
        q->exclusive_differs += differs(s, &p->stacks.v[s->rows.v[i].stack], s->rows.v[i].stack);
    }
    return true;
}

spaa_status sp_quality_of(struct sp_selection *s, struct sp_diags *d, struct sp_quality *out)
{
    const struct sp_profile *p = s->profile;
    struct sp_quality q = {.lost = p->header.lost,
                           .truncated = p->header.truncated,
                           .unfinished = p->header.unfinished,
                           .throttled_ns = p->header.throttled_ns,
                           .frames = p->frames.n};
    int64_t *by_dso = calloc(p->dsos.n + 1, sizeof *by_dso);
    unsigned char *unresolved = calloc(p->frames.n + 1, 1);
    for (size_t i = 0; unresolved && i < p->frames.n; i++)
        q.frames_unresolved += unresolved[i] = (p->frames.v[i].flags & SP_FRAME_UNRESOLVED) != 0;
    bool ok = by_dso && unresolved && look_at_all(s, unresolved, &q, by_dso);
    free(unresolved);
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

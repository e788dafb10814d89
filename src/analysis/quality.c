#include "analysis/quality.h"

#include <stdlib.h>

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

/* What a frame lacks: a name, or being named, debug information. */
enum { NO_NAME = 1, NO_LINES = 2 };

/* The frames of a row; lacks: per frame, in little memory, as there are many frames to a stack. */
static void look_at(struct sp_selection *s, size_t i, const uint32_t *f, size_t n, const unsigned char *lacks,
                    struct sp_quality *q, int64_t *by_dso)
{
    const struct sp_profile *p = s->profile;
    int64_t w = s->rows.v[i].weight;
    unsigned any = 0;
    for (size_t k = 0; k < n; k++)
        any |= lacks[f[k]];
    if (!any)
        return;
    q->unresolved_any += any & NO_NAME ? w : 0;
    uint32_t leaf = sp_selected_leaf(s, i, f, n), dso = p->functions.v[p->frames.v[leaf].function].dso;
    if (lacks[leaf] & NO_NAME) {
        q->unresolved_leaf += w;
        by_dso[dso] += w;
    } else if (lacks[leaf]) {
        q->lineless += w;
        by_dso[p->dsos.n + dso] += w;
    }
}

static bool look_at_all(struct sp_selection *s, const unsigned char *lacks, struct sp_quality *q,
                        int64_t *by_dso)
{
    const struct sp_profile *p = s->profile;
    bool all_named = !q->frames_unresolved && !p->notes.n;
    for (size_t i = 0; i < s->rows.n && !(s->plain && all_named); i++) {
        size_t n;
        const uint32_t *f = sp_selected_frames(s, i, &n);
        if (!f)
            return false;
        if (!n) {
            q->no_stack += s->rows.v[i].weight;
            continue;
        }
        if (!all_named)
            look_at(s, i, f, n, lacks, q, by_dso);
        q->exclusive_differs += differs(s, &p->stacks.v[s->rows.v[i].stack], s->rows.v[i].stack);
    }
    return true;
}

/* What each frame lacks; NULL: out of memory. */
static unsigned char *find_lacks(const struct sp_profile *p, struct sp_quality *q)
{
    unsigned char *lacks = calloc(p->frames.n + 1, 1), *bare = p->notes.n ? calloc(p->dsos.n + 1, 1) : NULL;
    if (!lacks || (p->notes.n && !bare)) {
        free(lacks);
        free(bare);
        return NULL;
    }
    for (uint32_t i = 0; bare && i < p->dsos.n; i++)
        bare[i] = sp_profile_note_of(p, i, SP_NOTE_LINES) != NULL;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        bool unnamed = p->frames.v[i].flags & SP_FRAME_UNRESOLVED;
        q->frames_unresolved += unnamed;
        lacks[i] = unnamed ? NO_NAME : bare && bare[sp_frame_function(p, i)->dso] ? NO_LINES : 0;
    }
    free(bare);
    return lacks;
}

spaa_status sp_quality_of(struct sp_selection *s, struct sp_diags *d, struct sp_quality *out)
{
    const struct sp_profile *p = s->profile;
    struct sp_quality q = {.lost = p->header.lost,
                           .truncated = p->header.truncated,
                           .unfinished = p->header.unfinished,
                           .throttled_ns = p->header.throttled_ns,
                           .frames = p->frames.n};
    if (sp_chains_of(s, d))
        return SPAA_ERR_NOMEM;
    int64_t *by_dso = calloc(2 * p->dsos.n + 1, sizeof *by_dso); /* without names, then without lines */
    unsigned char *lacks = find_lacks(p, &q);
    bool ok = by_dso && lacks && look_at_all(s, lacks, &q, by_dso) && sp_dso_weights_of(p, by_dso, &q.dsos) &&
              sp_dso_weights_of(p, by_dso + p->dsos.n, &q.no_lines);
    free(lacks);
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
    sp_dso_weights_free(&q->dsos);
    sp_dso_weights_free(&q->no_lines);
}

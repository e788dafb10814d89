#include "analysis/quality.h"

#include "model/callees.h"

#include <stdlib.h>

/* Does the record state what its leaf cannot have? What it can have divided the record. */
static bool is_unusable(const struct sp_selection *s, uint32_t stack)
{
    const struct sp_profile *p = s->profile;
    struct sp_value e = sp_exclusive_value(p, p->stacks.v[stack].exclusive, s->metric);
    int64_t v = sp_weight(p, stack, s->metric);
    if (e.v == SP_ABSENT || e.v != v || v != SP_DECIMAL)
        return e.v != SP_ABSENT && e.v != v;
    return sp_str_cmp(sp_pstr(p, e.text), sp_weight_text(p, stack, s->metric)) != 0;
}

static bool is_rest(const struct sp_profile *p, uint32_t stack)
{
    return p->rests.list.n && stack >= p->rests.before.stacks;
}

enum { NO_NAME = 1, NO_LINES = 2 };

/*
 * Go's text of goroutines and of its heap (debug=1) names no functions of its runtime where a stack ends in
 * them: what called them is named, and they are no gap in what the profile knows. Nor is a malloc of which no
 * binary is recorded: the owner of the memory is named.
 */
static bool is_hidden_runtime(const struct sp_selection *s, const uint32_t *f, size_t n,
                              const unsigned char *lacks)
{
    enum { ALLOCATORS = 8 }; /* mallocgc, growslice, … */
    const struct sp_profile *p = s->profile;
    const struct sp_event *e = &p->events.v[s->event];
    uint32_t dso = p->functions.v[p->frames.v[f[0]].function].dso;
    if (!sp_str_is(sp_pstr(p, p->dsos.v[dso].name), "[unknown]"))
        return false;
    bool goroutine = sp_str_is(sp_pstr(p, e->name), "goroutine");
    size_t most = goroutine ? n : e->kind == SP_ALLOCATION ? ALLOCATORS + 1 : 0;
    for (size_t k = 1; k < n && k < most; k++)
        if (!(lacks[f[k]] & NO_NAME))
            return true;
    return false;
}

/* The frames of a row; lacks: per frame, in little memory, as there are many frames to a stack. */
static void look_at(const struct sp_selection *s, size_t i, const uint32_t *f, size_t n,
                    const unsigned char *lacks, struct sp_quality *q, int64_t *by_dso)
{
    const struct sp_profile *p = s->profile;
    int64_t w = s->rows.v[i].weight;
    unsigned any = 0;
    for (size_t k = 0; k < n; k++)
        any |= lacks[f[k]];
    if (!any)
        return;
    q->unresolved_any += any & NO_NAME ? w : 0;
    uint32_t leaf = f[0], dso = p->functions.v[p->frames.v[leaf].function].dso;
    if (lacks[leaf] & NO_NAME && is_hidden_runtime(s, f, n, lacks))
        return;
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
    bool all_named = !q->frames_unresolved && !p->notes.n && !p->exclusives.n;
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
        bool rest = is_rest(p, s->rows.v[i].stack), unusable = is_unusable(s, s->rows.v[i].stack);
        q->callees_not_recorded += rest ? s->rows.v[i].weight : 0;
        q->exclusive_differs += (rest && s->rows.v[i].weight) || unusable;
        q->exclusive_unusable += unusable;
    }
    return true;
}

bool sp_frame_lacks_of(const struct sp_profile *p, struct sp_frame_lacks *out)
{
    struct sp_frame_lacks l = {.v = calloc(p->frames.n + 1, 1)};
    unsigned char *bare = p->notes.n ? calloc(p->dsos.n + 1, 1) : NULL;
    if (!l.v || (p->notes.n && !bare)) {
        free(l.v);
        free(bare);
        return false;
    }
    for (uint32_t i = 0; bare && i < p->dsos.n; i++)
        bare[i] = sp_profile_note_of(p, i, SP_NOTE_LINES) != NULL;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        bool unnamed = p->frames.v[i].flags & SP_FRAME_UNRESOLVED;
        l.unnamed += unnamed;
        l.v[i] = unnamed ? NO_NAME : bare && bare[sp_frame_function(p, i)->dso] ? NO_LINES : 0;
    }
    free(bare);
    *out = l;
    return true;
}

void sp_frame_lacks_free(struct sp_frame_lacks *l)
{
    free(l->v);
    l->v = NULL;
}

spaa_status sp_quality_of(struct sp_selection *s, struct sp_diags *d, struct sp_quality *out)
{
    return sp_quality_among(s, NULL, d, out);
}

spaa_status sp_quality_among(struct sp_selection *s, const struct sp_frame_lacks *lacks, struct sp_diags *d,
                             struct sp_quality *out)
{
    const struct sp_profile *p = s->profile;
    struct sp_quality q = {.lost = p->header.lost,
                           .truncated = p->header.truncated,
                           .unfinished = p->header.unfinished,
                           .throttled_ns = p->header.throttled_ns,
                           .frames = p->rests.list.n ? p->rests.before.frames : p->frames.n};
    struct sp_frame_lacks own = {0};
    if (sp_chains_of(s, d))
        return SPAA_ERR_NOMEM;
    int64_t *by_dso = calloc(2 * p->dsos.n + 1, sizeof *by_dso); /* without names, then without lines */
    bool ok = by_dso && (lacks || sp_frame_lacks_of(p, &own));
    lacks = lacks ? lacks : &own;
    q.frames_unresolved = lacks->unnamed;
    ok = ok && look_at_all(s, lacks->v, &q, by_dso) && sp_dso_weights_of(p, by_dso, &q.dsos) &&
         sp_dso_weights_of(p, by_dso + p->dsos.n, &q.no_lines);
    sp_frame_lacks_free(&own);
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

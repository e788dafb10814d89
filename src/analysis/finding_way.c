/* From which own functions the hits of a rule come, and where they are called. */
#include "analysis/finding_private.h"

#include <stdlib.h>

/* Where a row's hit comes from. */
struct way {
    uint32_t caller, before, callee; /* functions; SP_NONE: there is none */
    uint32_t frame;                  /* of the caller */
    int64_t weight;
};

struct ways {
    SP_VEC(struct way) list;
};

bool finding_is_gap(const struct sp_profile *p, uint32_t frame)
{
    return p->frames.v[frame].flags & SP_FRAME_INFERRED && p->frames.v[frame].kind == SP_UNKNOWN;
}

uint32_t finding_nearest(const struct finder *x, const uint32_t *frames, size_t n, size_t from, size_t *at)
{
    for (size_t i = from; i < n && !finding_is_gap(x->p, frames[i]); i++) {
        uint32_t function = x->p->frames.v[frames[i]].function;
        if (sp_is_own(x->own, function)) {
            *at = i;
            return function;
        }
    }
    return SP_NONE;
}

static bool add_way(struct finder *x, const struct finding_hit *hit, struct ways *to)
{
    size_t n, at, before;
    const uint32_t *frames = sp_selected_frames(x->s, hit->row, &n);
    if (!frames)
        return false;
    struct way w = {SP_NONE, SP_NONE, SP_NONE, SP_NONE, x->s->rows.v[hit->row].weight};
    if (!x->own->all)
        w.caller = finding_nearest(x, frames, n, hit->at, &at);
    if (w.caller == SP_NONE) {
        w.callee = hit->top < n ? x->p->frames.v[frames[hit->top]].function : SP_NONE;
    } else {
        w.frame = frames[at];
        w.callee = at > hit->at ? x->p->frames.v[frames[at - 1]].function : SP_NONE;
        for (before = at + 1; before < n && w.before == SP_NONE && !finding_is_gap(x->p, frames[before]);
             before++) {
            uint32_t f = x->p->frames.v[frames[before]].function;
            w.before = f != w.caller && sp_is_own(x->own, f) ? f : SP_NONE;
        }
    }
    return sp_vec_push(&to->list, w);
}

static int by_caller(const void *va, const void *vb)
{
    const struct way *a = va, *b = vb;
    return a->caller < b->caller ? -1 : a->caller > b->caller;
}

static int by_way(const void *va, const void *vb)
{
    const struct way *a = va, *b = vb;
    int c = by_caller(va, vb);
    c = c ? c : a->before < b->before ? -1 : a->before > b->before;
    return c ? c : a->callee < b->callee ? -1 : a->callee > b->callee;
}

static int by_frame(const void *va, const void *vb)
{
    const struct way *a = va, *b = vb;
    return a->frame < b->frame ? -1 : a->frame > b->frame;
}

/* Of a range, the heaviest run of those that compare equal: it is left as the range. */
static int64_t heaviest_run(struct way **from, size_t *n, int (*cmp)(const void *, const void *))
{
    struct way *best = *from;
    size_t best_n = 0;
    int64_t most = 0;
    qsort(*from, *n, sizeof **from, cmp);
    for (size_t i = 0, k; i < *n; i = k) {
        int64_t sum = 0;
        for (k = i; k < *n && cmp(*from + i, *from + k) == 0; k++)
            sum += (*from)[k].weight;
        if (!best_n || sum > most) {
            best = *from + i;
            best_n = k - i;
            most = sum;
        }
    }
    *from = best;
    *n = best_n;
    return most;
}

/* "src/a.c:12" */
static struct sp_finding_place place_of(const struct sp_profile *p, uint32_t frame)
{
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_str s = sp_pstr(p, f->srcline);
    struct sp_finding_place out = {{NULL, 0}, 0};
    uint32_t colon = s.n;
    while (colon && s.p[colon - 1] != ':')
        colon--;
    for (uint32_t i = colon; colon && i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && out.line < 100000000; i++)
        out.line = out.line * 10 + (uint32_t)(s.p[i] - '0');
    if (out.line)
        out.file = (struct sp_str){s.p, colon - 1};
    return out;
}

bool finding_way(struct finder *x, const struct finding_hit *hits, size_t n, uint32_t group,
                 struct sp_finding *f)
{
    struct ways all = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        if (group == UINT32_MAX || hits[i].group == group)
            ok = add_way(x, &hits[i], &all);
    struct way *w = all.list.v;
    size_t left = all.list.n, own = 0;
    for (size_t i = 0; i < left; i++) /* those without an own caller tell nothing about callers */
        if (w[i].caller != SP_NONE)
            w[own++] = w[i];
    left = own ? own : left;
    if (ok && left) {
        f->from_weight = heaviest_run(&w, &left, by_caller);
        f->from = (__int128)f->from_weight * 2 > f->weight ? w->caller : SP_NONE;
        f->from_weight = f->from == SP_NONE ? 0 : f->from_weight;
        f->way = heaviest_run(&w, &left, by_way);
        f->steps[0] = w->before != SP_NONE ? w->before : w->caller;
        f->steps[1] = w->before != SP_NONE ? w->caller : SP_NONE;
        f->callee = w->callee;
        heaviest_run(&w, &left, by_frame);
        if (w->frame != SP_NONE)
            f->place = place_of(x->p, w->frame);
    }
    sp_vec_free(&all.list);
    return ok;
}

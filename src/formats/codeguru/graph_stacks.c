/* Stacks of a call graph: the counts of a node under the path of its frames. */
#include "formats/codeguru/graph.h"

#include <stdlib.h>

static bool more_room(struct graph *x, size_t depth)
{
    size_t room = x->room ? x->room * 2 : 256;
    while (room < depth)
        room *= 2;
    uint32_t *path = malloc(room * sizeof *path);
    if (!path)
        return false;
    if (x->room)
        memcpy(path + room - x->room, x->path, x->room * sizeof *path);
    free(x->path);
    x->path = path;
    x->room = room;
    return true;
}

/* Makes the frames of all open levels that have none yet. */
static bool resolve(struct graph *x)
{
    size_t depth = x->levels.n - 1;
    if (depth > x->room && !more_room(x, depth))
        return false;
    while (x->resolved < depth) {
        const struct level *l = &x->levels.v[x->resolved + 1];
        uint32_t f = l->plain;
        if (f == SP_NONE || l->place.file.n || l->place.line.n)
            f = sp_cg_frame_of(x, l);
        if (f == SP_NONE)
            return false;
        x->resolved++;
        x->path[x->room - x->resolved] = f;
    }
    return true;
}

static spaa_status too_large(struct graph *x)
{
    sp_emit_hint(x->d, SP_E007, SP_AT((uint64_t)(x->j->p - x->j->start)),
                 "a tree this deep with counts at every level is no profile",
                 "the call stacks add up to more than %zu million frames", x->frames_max >> 20);
    return SPAA_ERR_LIMIT;
}

/* The cells of the innermost node become stacks. */
spaa_status sp_cg_flush(struct graph *x)
{
    struct sp_profile *p = x->p;
    size_t depth = x->levels.n - 1;
    struct level *l = &x->levels.v[depth];
    uint32_t from = l->flushed ? l->first_stack : (uint32_t)p->stacks.n;
    l->flushed = true;
    if (!resolve(x))
        return sp_nomem(x->d);
    for (size_t i = 0; i < x->cells.n; i++) {
        const struct cell *c = &x->cells.v[i];
        if (p->stack_frames.n + depth > x->frames_max)
            return too_large(x);
        uint32_t s = SP_NONE;
        /* One context for all counters, or a counter that stands twice. */
        for (uint32_t k = from; k < p->stacks.n && s == SP_NONE; k++)
            if (p->stacks.v[k].n == depth && p->stacks.v[k].context == c->context)
                s = k;
        if (s == SP_NONE) {
            s = sp_stack_append(p, x->path + x->room - depth, depth, c->context, SP_UNIFIED);
            if (s == SP_NONE)
                return sp_nomem(x->d);
            sp_stack_set_layout(p, s, x->g->layout);
        }
        if (!(c->v == SP_DECIMAL ? sp_weight_add_text(p, s, x->g->metric, c->number.p, c->number.n)
                                 : sp_weight_add(p, s, x->g->metric, c->v)))
            return sp_nomem(x->d);
    }
    x->cells.n = 0;
    return SPAA_OK;
}

/* Equal stacks, from children that stood twice, become one. */
spaa_status sp_cg_merge_equal(struct graph *x)
{
    struct sp_profile *p = x->p, old = *p;
    uint32_t m = x->g->metric;
    memset(&p->stacks, 0, sizeof p->stacks);
    memset(&p->stack_frames, 0, sizeof p->stack_frames);
    memset(&p->columns[m], 0, sizeof p->columns[m]);
    memset(&p->decimals, 0, sizeof p->decimals);
    memset(&p->decimal_map, 0, sizeof p->decimal_map);
    bool ok = true;
    for (uint32_t i = 0; ok && i < old.stacks.n; i++) {
        const struct sp_stack *o = &old.stacks.v[i];
        bool is_new;
        uint32_t s = sp_stack_intern(p, old.stack_frames.v + o->first, o->n, o->context, SP_UNIFIED, &is_new);
        ok = s != SP_NONE;
        if (ok && is_new)
            sp_stack_set_layout(p, s, x->g->layout);
        int64_t v = old.columns[m].v[i];
        if (ok && v != SP_DECIMAL)
            ok = sp_weight_add(p, s, m, v);
        if (ok && v == SP_DECIMAL) {
            old.strs = p->strs; /* it grows */
            struct sp_str t = sp_weight_text(&old, i, m);
            ok = sp_weight_add_text(p, s, m, t.p, t.n);
        }
    }
    sp_vec_free(&old.stacks);
    sp_vec_free(&old.stack_frames);
    free(old.columns[m].v);
    sp_vec_free(&old.decimals);
    sp_map_free(&old.decimal_map);
    return ok ? SPAA_OK : sp_nomem(x->d);
}

#include "analysis/wall_reasons.h"

#include "base/hash.h"
#include "model/wall.h"

#include <stdlib.h>

/* Contexts of time off the CPU, to be found by those of wall. */
struct wall_contexts {
    const struct sp_profile *p;
    struct sp_map map;
    uint32_t off, waiting; /* the event; the text of the state that wall has where none is stated */
};

static uint32_t wall_state(const struct wall_contexts *x, const struct sp_context *c)
{
    return c->event == x->off && !c->state ? x->waiting : c->state;
}

static uint64_t wall_context_hash(const struct wall_contexts *x, const struct sp_context *c)
{
    uint64_t h = sp_hash_mix((uint64_t)c->tid, (uint64_t)c->pid + 1);
    return sp_hash_mix(h ^ (uint64_t)c->cpu, ((uint64_t)c->comm << 32 | wall_state(x, c)) + 1);
}

static bool wall_same_context(const struct wall_contexts *x, const struct sp_context *a,
                              const struct sp_context *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu && a->comm == b->comm &&
           wall_state(x, a) == wall_state(x, b) && a->source == b->source && a->labels == b->labels &&
           a->wait == b->wait;
}

static bool wall_index(struct wall_contexts *x)
{
    const struct sp_profile *p = x->p;
    for (uint32_t i = 0; i < p->contexts.n; i++)
        if (p->contexts.v[i].event == x->off &&
            !sp_map_add(&x->map, wall_context_hash(x, &p->contexts.v[i]), i))
            return false;
    return true;
}

/* The stack that one of wall was made of; SP_NONE: it is none of waiting. */
static uint32_t wall_origin(const struct wall_contexts *x, uint32_t stack)
{
    const struct sp_profile *p = x->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    const struct sp_context *c = &p->contexts.v[s->context];
    struct sp_probe at = sp_map_probe(&x->map, wall_context_hash(x, c));
    for (uint32_t i; (i = sp_map_next(&x->map, &at)) != SP_MAP_NONE;) {
        if (!wall_same_context(x, c, &p->contexts.v[i]))
            continue;
        const struct sp_stack_key key =
            sp_stack_key(sp_stack_frames(p, stack), s->n, i, (enum sp_stack_type)s->type, s->edges);
        struct sp_probe in = sp_map_probe(&p->stack_map, key.hash);
        for (uint32_t k; (k = sp_map_next(&p->stack_map, &in)) != SP_MAP_NONE;)
            if (sp_stack_equals(p, k, &key))
                return k;
    }
    return SP_NONE;
}

static spaa_status wall_take_over(const struct sp_selection *s, uint32_t off, struct sp_wait_reasons *out,
                                  struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    struct wall_contexts x = {.p = p, .off = off, .waiting = SP_STR_NONE};
    for (uint32_t i = 0; i < p->contexts.n && !x.waiting; i++)
        if (sp_str_is(sp_pstr(p, p->contexts.v[i].state), SP_WALL_WAITING))
            x.waiting = p->contexts.v[i].state;
    bool ok = wall_index(&x);
    for (uint32_t i = 0; ok && i < p->stacks.n && i < out->n; i++) {
        bool wall = p->contexts.v[p->stacks.v[i].context].event == s->event;
        uint32_t origin = wall ? wall_origin(&x, i) : SP_NONE;
        if (origin != SP_NONE)
            out->of[i] = out->of[origin];
    }
    sp_map_free(&x.map);
    return ok ? SPAA_OK : sp_nomem(d);
}

spaa_status sp_wall_reasons_of(const struct sp_selection *s, struct sp_profile *p, const char *own,
                               struct sp_wait_reasons *out, struct sp_diags *d)
{
    struct sp_selection waits;
    uint32_t off = sp_wall_off_event(s->profile);
    const struct sp_select_opts all = {
        .event_number = &off, .any_state = true, .pools = true, .may_be_empty = true};
    if (s->event != sp_wall_event(s->profile) || off == SP_NONE)
        return sp_wait_reasons_of(s, p, own, out, d);
    spaa_status st = sp_select(s->profile, &all, d, &waits);
    if (st)
        return st;
    st = sp_wait_reasons_of(&waits, p, own, out, d);
    sp_selection_free(&waits);
    if (st)
        return st;
    st = wall_take_over(s, off, out, d);
    if (st)
        sp_wait_reasons_free(out);
    return st;
}

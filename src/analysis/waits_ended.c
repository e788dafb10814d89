/*
 * Whether what a thread waited for a holder was one wait, or several in turn.
 *
 * A thread does not run while it waits: in all samples of one wait it has the same callers, at the same
 * addresses, and waits for the same kind of thing. Where these differ it went on in between, however close
 * its samples are. What the kernel does in a wait may differ, so its frames are not looked at.
 */
#include "analysis/waits.h"

#include "base/hash.h"

#include <stdlib.h>

static uint64_t ended_way(const struct sp_profile *p, const struct sp_stack *s, uint32_t on)
{
    uint64_t h = sp_hash_mix(on, 11);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sp_frame *f = &p->frames.v[p->stack_frames.v[s->first + i]];
        if (f->kind != SP_KERNEL)
            h = sp_hash_mix(h ^ sp_hash_mix(f->ip ? f->ip : f->symoff, f->function), 13);
    }
    return h;
}

/* Of what waits: by stack; and by wait, those of its context. */
bool sp_waits_learn_ways(struct sp_waits *w)
{
    const struct sp_profile *p = w->profile;
    uint32_t *wait_of = malloc((p->contexts.n + 1) * sizeof *wait_of);
    bool ok = wait_of && sp_vec_reserve(&w->ways, p->stacks.n);
    for (size_t i = 0; ok && i < p->contexts.n; i++)
        wait_of[i] = SP_NONE;
    for (uint32_t i = 0; ok && i < w->waits.n; i++)
        wait_of[w->waits.v[i].context] = i;
    for (size_t i = 0; ok && w->waits.n && i < p->stacks.n; i++) {
        uint32_t wait = wait_of[p->stacks.v[i].context];
        struct sp_wait *x = wait == SP_NONE ? NULL : &w->waits.v[wait];
        uint64_t way = x ? ended_way(p, &p->stacks.v[i], x->on) : 0;
        way += x && !way; /* 0: none yet */
        w->ways.v[w->ways.n++] = way;
        if (x) {
            x->several_ways = x->several_ways || (x->way && x->way != way);
            x->way = way;
        }
    }
    free(wait_of);
    return ok;
}

bool sp_waits_may_be_one(const struct sp_waits *w, uint32_t wait)
{
    const struct sp_wait_thread *t = &w->threads.v[w->waits.v[wait].waiter];
    for (uint32_t i = t->first; i < t->first + t->n; i++)
        if (sp_waits_alike(w, i, wait) &&
            (w->waits.v[i].several_ways || w->waits.v[i].way != w->waits.v[wait].way))
            return false;
    return true;
}

struct sp_step_range sp_waits_last_of(const struct sp_waits *w, uint32_t thread, uint32_t holder)
{
    const struct sp_wait_thread *t = &w->threads.v[thread];
    struct sp_step_range last = {.count = 0};
    for (uint32_t i = t->steps; i < t->steps + t->nsteps; i++) {
        const struct sp_step_range *r = &w->ranges.v.v[i];
        if (!sp_waits_is_placed(r) || !sp_waits_stack_waits_for(w, thread, r->stack, holder))
            continue; /* where others' steps lie between, it is not known which are its own */
        if (last.count && r->from <= last.to + 1 && w->ways.v[r->stack] == w->ways.v[last.stack]) {
            last.to = r->to > last.to ? r->to : last.to;
            last.count = last.to - last.from + 1;
        } else {
            last = *r;
        }
    }
    return last;
}

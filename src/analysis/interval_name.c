#include "analysis/interval_name.h"

#include "model/thread_names.h"

uint32_t sp_interval_context(const struct sp_profile *p, const struct sp_intervals *v, uint32_t interval)
{
    const struct sp_interval *i = &v->v.v[interval];
    const struct sp_interval_thread *t = &v->threads.v[i->thread];
    uint32_t stack = i->stack;
    if (i->state == SP_RUN_RUNNING && interval + 1 < t->first + t->n)
        stack = i[1].stack;
    if (stack == SP_NONE && i->state == SP_RUN_RUNNING && interval > t->first)
        stack = i[-1].stack;
    if (stack == SP_NONE)
        return SP_NONE;
    uint32_t context = p->stacks.v[stack].context;
    const struct sp_context *c = &p->contexts.v[context];
    return c->tid == SP_ABSENT && !c->comm ? SP_NONE : context;
}

uint32_t sp_interval_name(const struct sp_profile *p, const struct sp_intervals *v, uint32_t interval)
{
    uint32_t context = sp_interval_context(p, v, interval),
             name = context == SP_NONE ? SP_STR_NONE : sp_context_name(p, &p->contexts.v[context]);
    return name ? name : v->threads.v[v->v.v[interval].thread].comm;
}

/* The accounts of time off the CPU where only sums of stacks are known: from weights. */
#include "analysis/off_cpu_accounts_parts.h"

#include "model/off_cpu.h"
#include "model/waiting.h"

#include <string.h>

static int64_t unscaled(int64_t v, unsigned scale)
{
    for (; scale; scale--)
        v /= 10;
    return v;
}

/* Each tid once; a name without any is one. */
static bool count_threads(struct accounts *x)
{
    for (size_t i = 0; i < x->known.n; i++) {
        const struct known *k = &x->known.v[i];
        if (k->tid == SP_ABSENT || (i && k[-1].tid == k->tid && k[-1].pid == k->pid))
            continue;
        uint32_t who = accounts_who_of_context(x, k->context);
        if (who == SP_NONE)
            return false;
        x->out.who.v[who].threads += !x->out.who.v[who].pool;
        x->out.all.threads++;
    }
    for (size_t i = 0; i < x->out.who.n; i++) {
        struct sp_off_cpu_who *w = &x->out.who.v[i];
        x->out.all.threads += !w->threads && w->tid == SP_ABSENT; /* else one that had another name, too */
        w->threads += !w->threads;
    }
    return true;
}

bool accounts_from_weights(struct accounts *x)
{
    uint32_t counts = sp_waiting_count(x->p, x->s->event),
             longest = sp_metric_find(x->p, SP_OFF_CPU_LONGEST, strlen(SP_OFF_CPU_LONGEST));
    for (size_t i = 0; i < x->s->rows.n; i++) {
        const struct sp_selected *r = &x->s->rows.v[i];
        const struct sp_wait_why *why = &x->why->of[r->stack];
        uint32_t who = accounts_who_of_context(x, x->p->stacks.v[r->stack].context);
        int64_t ns = unscaled(r->weight, x->s->scale);
        if (who != SP_NONE && accounts_is_unseen(x, why)) {
            x->out.who.v[who].unseen += ns;
            x->out.all.unseen += ns;
            continue;
        }
        /* Some of its waits are longer than what was seen, and which of them is not kept. */
        if (!accounts_add_wait(x, who, why, ns, why->at_least))
            return false;
        struct sp_off_cpu_place *at = &x->out.places.v[accounts_place_of(x, who, why)];
        at->longest_at_least |= why->at_least;
        int64_t n = counts == SP_NONE ? SP_ABSENT : sp_weight(x->p, r->stack, counts),
                most = longest == SP_NONE ? SP_ABSENT : sp_weight(x->p, r->stack, longest);
        if (n >= 0 && !x->s->timed)
            at->count = (at->count == SP_ABSENT ? 0 : at->count) + n;
        if (most > at->longest && !x->s->timed)
            at->longest = most;
    }
    for (size_t i = 0; i < x->known.n; i++) {
        const struct sp_context *c = &x->p->contexts.v[x->known.v[i].context];
        x->out.knows_threads |= c->tid != SP_ABSENT || sp_pstr(x->p, c->comm).n;
    }
    return count_threads(x);
}

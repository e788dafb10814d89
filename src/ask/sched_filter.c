/* Filters of sched: threads by their number, process and name. */
#include "ask/sched_parts.h"

#include "analysis/interval_name.h"
#include "analysis/select_private.h"
#include "analysis/who.h"
#include "base/num.h"

/* Options that choose stacks say nothing of time on a CPU. */
static spaa_status refuse_stacks(const struct sp_ask *q)
{
    const struct sp_options *o = q->options;
    const struct {
        const char *name, *value;
    } all[] = {{"dso", o->dso},
               {"focus", o->focus},
               {"ignore", o->ignore},
               {"hide", o->hide},
               {"root-at", o->root_at},
               {"tagroot", o->tagroot},
               {"tagleaf", o->tagleaf},
               {"state", o->state},
               {"view", o->view},
               {"user", o->user},
               {"kernel", o->kernel},
               {"label", o->labels.n ? "" : NULL},
               {"merge-inlined", o->merge_inlined}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value)
            return sp_usage(q->diags, "its filters are --thread, --pid, --comm and --time",
                            "sched is about threads, not stacks: it has no --%s", all[i].name);
    return SPAA_OK;
}

/* A thread of which no stack was recorded is known by its number and its last name alone. */
static bool is_named(const struct sp_profile *p, const struct sp_interval_thread *t,
                     const struct sp_select_opts *asked)
{
    struct sp_str comm = sp_pstr(p, t->comm);
    return (!asked->comm || sp_str_is(comm, asked->comm)) &&
           (!asked->thread || sp_str_is(comm, asked->thread) || sp_who_lists(asked->thread, t->tid));
}

/* Threads some of whose time is of such a name. */
static void keep_named(const struct sp_asked_sched *x, const struct sp_select_opts *asked,
                       unsigned char *keep)
{
    const struct sp_profile *p = x->a.s.profile;
    const struct sp_intervals *v = &x->v;
    for (size_t k = 0; k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        bool known = false, fits = false;
        for (uint32_t i = t->first; keep[k] && !fits && i < t->first + t->n; i++) {
            uint32_t context = sp_interval_context(p, v, i);
            known = known || context != SP_NONE;
            fits = context != SP_NONE && x->who[context];
        }
        keep[k] = keep[k] && (known ? fits : is_named(p, t, asked));
    }
}

static spaa_status keep_asked(struct sp_ask *q, struct sp_asked_sched *x, unsigned char *keep)
{
    const struct sp_select_opts names = {.thread = q->options->thread, .comm = q->options->comm};
    spaa_status st = sp_who_of(q->profiles[0], &names, q->diags, &x->who);
    if (!st && x->who)
        keep_named(x, &names, keep);
    return st;
}

static bool keep_pid(const struct sp_intervals *v, const char *asked, unsigned char *keep)
{
    if (!strpbrk(asked, "0123456789") || asked[strspn(asked, "-0123456789, ")])
        return false;
    for (size_t k = 0; k < v->threads.n; k++)
        keep[k] = keep[k] && sp_who_lists(asked, v->threads.v[k].pid);
    return true;
}

spaa_status sp_sched_filter(struct sp_ask *q, struct sp_asked_sched *x)
{
    const struct sp_intervals *v = &x->v;
    const struct sp_options *o = q->options;
    spaa_status st = refuse_stacks(q);
    if (st || (!o->thread && !o->comm && !o->pid))
        return st;
    unsigned char *keep = malloc(v->threads.n + 1);
    if (!keep)
        return sp_nomem(q->diags);
    memset(keep, 1, v->threads.n);
    if (o->pid && !keep_pid(v, o->pid, keep))
        st = sp_usage(q->diags, NULL, "--pid needs numbers, not \"%s\"", o->pid);
    if (!st)
        st = keep_asked(q, x, keep);
    bool any = false;
    for (size_t k = 0; k < v->threads.n; k++)
        any = any || (keep[k] && v->threads.v[k].tid);
    if (!st && !any) {
        sp_emit_hint(q->diags, SP_E032, SP_AT_NOTHING, "`spaa sched FILE --no-pool -n 0` names all threads",
                     "no thread of the recording fits --%s %s",
                     o->thread ? "thread"
                     : o->comm ? "comm"
                               : "pid",
                     o->thread ? o->thread
                     : o->comm ? o->comm
                               : o->pid);
        st = SPAA_ERR_NOT_FOUND;
    }
    if (st)
        free(keep);
    else
        x->keep = keep;
    return st;
}

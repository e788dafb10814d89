/* Filters of sched: threads by their number, process and name. */
#include "ask/sched_parts.h"

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

static int by_number(const void *va, const void *vb)
{
    int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
    return (a > b) - (a < b);
}

/* Threads that the profile knows by this name, by their tid; others by the last name they had. */
static spaa_status keep_named(struct sp_ask *q, const struct sp_intervals *v, const char *asked, bool threads,
                              unsigned char *keep)
{
    const struct sp_profile *p = q->profiles[0];
    unsigned char *who = NULL;
    SP_VEC(int64_t) tids = {0};
    char text[64];
    spaa_status st = (threads ? sp_who_threads : sp_who_comms)(p, asked, q->diags, &who);
    for (size_t i = 0; !st && i < p->contexts.n; i++)
        if (who[i] && p->contexts.v[i].tid != SP_ABSENT && !sp_vec_push(&tids, p->contexts.v[i].tid))
            st = sp_nomem(q->diags);
    if (!st && tids.n)
        qsort(tids.v, tids.n, sizeof *tids.v, by_number);
    for (size_t k = 0; !st && k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        sp_scaled_text(t->tid, 0, text);
        bool fits = sp_str_is(sp_pstr(p, t->comm), asked) || (threads && strcmp(text, asked) == 0) ||
                    (tids.n && bsearch(&t->tid, tids.v, tids.n, sizeof *tids.v, by_number));
        keep[k] = keep[k] && fits;
    }
    sp_vec_free(&tids);
    free(who);
    return st;
}

static bool keep_pid(const struct sp_intervals *v, const char *asked, unsigned char *keep)
{
    int64_t pid;
    size_t n = strlen(asked);
    if (!n || sp_parse_i64(asked, asked + n, &pid) != n)
        return false;
    for (size_t k = 0; k < v->threads.n; k++)
        keep[k] = keep[k] && v->threads.v[k].pid == pid;
    return true;
}

spaa_status sp_sched_filter(struct sp_ask *q, const struct sp_intervals *v, unsigned char **out)
{
    const struct sp_options *o = q->options;
    spaa_status st = refuse_stacks(q);
    *out = NULL;
    if (st || (!o->thread && !o->comm && !o->pid))
        return st;
    unsigned char *keep = malloc(v->threads.n + 1);
    if (!keep)
        return sp_nomem(q->diags);
    memset(keep, 1, v->threads.n);
    if (o->pid && !keep_pid(v, o->pid, keep))
        st = sp_usage(q->diags, NULL, "--pid needs a number, not \"%s\"", o->pid);
    if (!st && o->thread)
        st = keep_named(q, v, o->thread, true, keep);
    if (!st && o->comm)
        st = keep_named(q, v, o->comm, false, keep);
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
        *out = keep;
    return st;
}

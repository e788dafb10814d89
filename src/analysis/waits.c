#include "analysis/waits.h"

#include "analysis/state_shares.h"

#include "base/hash.h"
#include "model/facts.h"

#include <stdlib.h>

void sp_waits_free(struct sp_waits *w)
{
    sp_thread_info_free(&w->info);
    sp_vec_free(&w->threads);
    sp_vec_free(&w->waits);
    sp_vec_free(&w->order);
    sp_vec_free(&w->chains);
    sp_vec_free(&w->steps);
    sp_map_free(&w->by_tid);
    sp_vec_free(&w->ways);
    sp_step_ranges_free(&w->ranges);
}

/* ---- threads and their waits ---- */

static uint32_t waits_thread_of(struct sp_waits *w, const struct sp_context *c)
{
    uint32_t i = sp_waits_thread_of(w, c);
    if (i != SP_NONE)
        return i;
    struct sp_wait_thread t = {.pid = c->pid,
                               .tid = c->tid,
                               .comm = c->comm,
                               .context = (uint32_t)(c - w->profile->contexts.v),
                               .begin = SP_ABSENT,
                               .last = SP_ABSENT,
                               .stuck = SP_NONE,
                               .since = SP_ABSENT};
    const struct sp_reported_process *p = sp_thread_info_process_of(&w->info, c);
    t.frontmost = p && p->frontmost && p->main == c->tid;
    if (w->threads.n >= SP_NONE - 1 || !sp_vec_push(&w->threads, t) ||
        !sp_map_add(&w->by_tid, sp_hash_mix((uint64_t)c->tid, 3), (uint32_t)w->threads.n - 1))
        return SP_NONE;
    return (uint32_t)w->threads.n - 1;
}

static void waits_add(int64_t *sum, int64_t v)
{
    if (__builtin_add_overflow(*sum, v, sum))
        *sum = INT64_MAX;
}

static bool off_cpu(enum sp_state_share x)
{
    return x != SP_SHARE_RUNNING && x != SP_SHARE_RUNNABLE && x != SP_SHARE_UNSTATED;
}

static void sum_contexts(const struct sp_selection *s, int64_t *by_context)
{
    for (size_t i = 0; i < s->rows.n; i++)
        waits_add(&by_context[s->profile->stacks.v[s->rows.v[i].stack].context], s->rows.v[i].weight);
}

/* Threads with a weight that was asked about. */
static bool mark_asked(struct sp_waits *w, const int64_t *by_context)
{
    const struct sp_profile *p = w->profile;
    for (uint32_t i = 0; i < p->contexts.n; i++) {
        if (by_context[i] <= 0)
            continue;
        waits_add(&w->weight, by_context[i]);
        const struct sp_wait_fact *fact = sp_context_wait(p, &p->contexts.v[i]);
        bool receives = fact && fact->flags & SP_FACT_RECEIVE, known = fact && !receives;
        enum sp_state_share state = sp_state_share_of(sp_pstr(p, p->contexts.v[i].state));
        if (receives)
            waits_add(&w->receiving, by_context[i]);
        else if (!known && state == SP_SHARE_SUSPENDED)
            waits_add(&w->suspended, by_context[i]);
        else if (!known && state == SP_SHARE_IDLE)
            waits_add(&w->idle, by_context[i]);
        else if (!known && off_cpu(state))
            waits_add(&w->unexplained, by_context[i]);
        if (p->contexts.v[i].tid == SP_ABSENT)
            continue;
        uint32_t t = waits_thread_of(w, &p->contexts.v[i]);
        if (t == SP_NONE)
            return false;
        w->threads.v[t].asked = true;
        if (known)
            waits_add(&w->waiting, by_context[i]);
    }
    return true;
}

/*
 * One wait per context that has a reason; per context, since its text is the context's. Of threads that were
 * not asked about it is all they waited, so that chains go on through them.
 */
static bool waits_gather(struct sp_waits *w, const int64_t *asked, const int64_t *whole)
{
    const struct sp_profile *p = w->profile;
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        const struct sp_wait_fact *fact = sp_context_wait(p, c);
        if (c->tid == SP_ABSENT || (asked[i] <= 0 && whole[i] <= 0))
            continue;
        uint32_t t = waits_thread_of(w, c);
        ok = t != SP_NONE;
        int64_t weight = !ok ? 0 : w->threads.v[t].asked ? asked[i] : whole[i];
        if (ok)
            waits_add(&w->threads.v[t].all, whole[i]);
        if (weight <= 0)
            continue;
        waits_add(&w->threads.v[t].weight, weight);
        if (!fact)
            continue;
        struct sp_wait x = {.waiter = t,
                            .on = fact->on,
                            .text = fact->text,
                            .state = c->state,
                            .weight = weight,
                            .holder_pid = fact->holder_pid,
                            .holder_tid = fact->holder_tid,
                            .holder_name = fact->holder_name,
                            .holder = SP_NONE,
                            .all = whole[i],
                            .hops = fact->hops,
                            .fact = c->wait,
                            .context = i,
                            .begin = SP_ABSENT,
                            .last = SP_ABSENT,
                            .lock = fact->flags & SP_FACT_LOCK,
                            .self = fact->flags & SP_FACT_SELF,
                            .receive = fact->flags & SP_FACT_RECEIVE,
                            .reported = fact->flags & SP_FACT_DEADLOCK};
        ok = sp_vec_push(&w->waits, x);
        waits_add(&w->threads.v[t].waiting, x.receive ? 0 : weight);
    }
    return ok;
}

static int by_waiter(const void *va, const void *vb, void *arg)
{
    const struct sp_wait *a = va, *b = vb;
    const struct sp_waits *w = arg;
    if (a->waiter != b->waiter)
        return a->waiter < b->waiter ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return sp_str_cmp(sp_pstr(w->profile, a->text), sp_pstr(w->profile, b->text));
}

/* Of several that may be the holder, those are left that were there when it was waited for. */
static void settle_by_time(const struct sp_waits *w, struct sp_wait *x)
{
    enum { FAR = 64 };
    if (sp_waits_candidate(w, x, 1) == SP_NONE || sp_waits_candidate(w, x, FAR) != SP_NONE)
        return;
    x->by_time = true;
    x->by_time = sp_waits_candidate(w, x, 0) != SP_NONE;
}

static void settle_holders(struct sp_waits *w)
{
    for (size_t i = 0; i < w->waits.n; i++) {
        struct sp_wait *x = &w->waits.v[i];
        struct sp_wait_thread *t = &w->threads.v[x->waiter];
        if (!t->n++)
            t->first = (uint32_t)i;
        x->by_process = !x->self && x->holder_tid == SP_ABSENT && x->holder_pid != SP_ABSENT;
        if (x->self || x->by_process || x->holder_tid != SP_ABSENT) {
            settle_by_time(w, x);
            x->holder = sp_waits_candidate(w, x, 0);
        }
        while (x->holder != SP_NONE && x->among < SP_AMONG_MOST &&
               sp_waits_candidate(w, x, x->among) != SP_NONE)
            x->among++;
        if (x->among > 1)
            x->holder = SP_NONE;
        if (x->holder == SP_NONE || x->by_process)
            continue;
        const struct sp_wait_thread *holder = &w->threads.v[x->holder];
        x->holder_tid = holder->tid;
        x->holder_pid = x->holder_pid == SP_ABSENT ? holder->pid : x->holder_pid;
        x->holder_name = x->holder_name ? x->holder_name : holder->comm;
    }
}

spaa_status sp_waits_of(const struct sp_selection *s, const struct sp_selection *whole, struct sp_diags *d,
                        struct sp_waits *out)
{
    const struct sp_profile *p = s->profile;
    struct sp_waits w = {
        .profile = p,
        .scale = s->scale,
        .counts_samples = sp_str_is(sp_pstr(p, p->metrics.v[s->metric].name), "samples"),
    };
    const unsigned need = SP_BY_TID | SP_BY_STATE;
    if (p->header.has_x_spaa && (p->header.group_by & need) != need) {
        sp_waits_refuse(s, d);
        return SPAA_ERR_USAGE;
    }
    int64_t *asked = calloc(p->contexts.n + 1, sizeof *asked), *all = calloc(p->contexts.n + 1, sizeof *all);
    spaa_status st = sp_thread_info_of(p, d, &w.info);
    bool ok = !st && asked && all;
    if (ok) {
        sum_contexts(s, asked);
        sum_contexts(whole ? whole : s, all);
        ok = mark_asked(&w, asked) && waits_gather(&w, asked, all);
    }
    free(asked);
    free(all);
    if (ok) {
        if (w.waits.n)
            qsort_r(w.waits.v, w.waits.n, sizeof *w.waits.v, by_waiter, &w);
        st = sp_waits_learn_steps(&w, d);
        if (!st)
            settle_holders(&w);
        ok = !st && sp_waits_learn_ways(&w) && sp_waits_find_heaviest(&w) && sp_waits_find_stuck(&w) &&
             sp_waits_find_chains(&w) && sp_waits_find_rings(&w);
        if (ok)
            sp_waits_sort_chains(&w);
    }
    if (!ok) {
        sp_waits_free(&w);
        return st ? st : sp_nomem(d);
    }
    *out = w;
    return SPAA_OK;
}

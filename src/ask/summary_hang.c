/*
 * The brief of a hang report: which process it is about, and what its main thread did: it ran, it was ready
 * and had no CPU, or it waited, for whom. Words: summary_hang_words.c.
 */
#include "ask/summary.h"

#include "base/num.h"
#include "json/find.h"

#include <stdlib.h>

/* ---- what its main thread did ---- */

/* Most of what it waited was in a run loop of a function of its own. */
static uint32_t hang_nested(const struct sp_summary *x)
{
    const struct sp_held *h = &x->hang.main;
    bool in_run_loop;
    uint32_t nested = sp_held_nested(x->x.q->profiles[0], &x->hang.own, h->path, h->n, &in_run_loop);
    return in_run_loop && !h->fact && h->at[h->n - 1] * 2 >= h->by[SP_HELD_WAITED] ? nested : SP_NONE;
}

static void hang_judge(struct sp_summary *x)
{
    static const enum sp_hang_verdict verdicts[] = {
        [SP_HELD_RAN] = SP_HANG_RAN,         [SP_HELD_READY] = SP_HANG_STARVED,
        [SP_HELD_WAITED] = SP_HANG_WAITED,   [SP_HELD_SUSPENDED] = SP_HANG_SUSPENDED,
        [SP_HELD_UNKNOWN] = SP_HANG_UNKNOWN, [SP_HELD_EVENTS] = SP_HANG_IDLE};
    struct sp_summary_hang *h = &x->hang;
    if (!h->main.weight)
        return;
    h->verdict = verdicts[h->main.most];
    h->weight = h->main.by[h->main.most];
    if (h->verdict == SP_HANG_WAITED)
        h->nested = hang_nested(x);
}

/* The first chain through a thread (deadlocks come first), or of rings that no chain follows; *in_ring: it is
 * where that goes around. */
static const struct sp_wait_chain *hang_chain(const struct sp_waits *w, uint32_t thread, bool beside,
                                              bool *in_ring)
{
    *in_ring = false;
    for (size_t i = 0; i < w->chains.n; i++) {
        const struct sp_wait_chain *c = &w->chains.v[i];
        for (uint32_t k = 0; c->beside == beside && k < c->n; k++)
            if (w->waits.v[w->steps.v[c->first + k]].waiter == thread) {
                *in_ring = c->cycle != SP_NONE && k >= c->cycle;
                return c;
            }
    }
    return NULL;
}

/* A ring of waits that no chain follows, where the thread was in it for long; NULL: none. */
static const struct sp_wait_chain *hang_other_ring(const struct sp_waits *w, uint32_t thread)
{
    enum { PART = 10 };
    bool in_ring;
    const struct sp_wait_chain *c = hang_chain(w, thread, true, &in_ring);
    for (uint32_t k = 0; c && k < c->n; k++) {
        uint32_t wait = w->steps.v[c->first + k];
        if (w->waits.v[wait].waiter == thread && sp_waits_weight(w, wait) >= w->threads.v[thread].all / PART)
            return c;
    }
    return NULL;
}

/*
 * A deadlock that its main thread did not leave again is what happened, however long it did other things
 * before; one that it waited for at times is not.
 */
static bool hang_ends_in_deadlock(const struct sp_summary_hang *h, uint32_t thread)
{
    const struct sp_wait *x = &h->w.waits.v[h->wait];
    bool waited = h->verdict == SP_HANG_WAITED || h->verdict == SP_HANG_SUSPENDED;
    return h->in_ring || x->reported || sp_waits_stays(&h->w, thread) ||
           (waited && sp_waits_weight(&h->w, h->wait) * 2 >= h->weight);
}

/* The wait that leads on from a thread, where it is most of what that did. */
static uint32_t hang_leads_on(const struct sp_waits *w, uint32_t thread)
{
    uint32_t wait = sp_waits_followed(w, thread);
    return wait != SP_NONE && w->waits.v[wait].all * 2 >= w->threads.v[thread].all ? wait : SP_NONE;
}

/* The steps of a wait that leads on are kept, of those in which the ones before were seen. *apart: none is in
 * both. False: no memory. */
static bool hang_cut(const struct sp_summary_hang *h, uint32_t wait, struct sp_wait_steps *steps, bool *apart)
{
    const struct sp_wait *x = &h->w.waits.v[wait];
    struct sp_wait_steps next = {0}, both = {0};
    *apart = false;
    if (x->holder == SP_NONE)
        return true;
    bool ok = sp_wait_steps_of(&h->w, x->waiter, x->holder, &next);
    if (ok && steps->v.n && next.v.n) {
        for (size_t i = 0; ok && i < steps->v.n; i++)
            ok = sp_vec_push(&both.v, steps->v.v[i]);
        ok = ok && sp_wait_steps_cut(&both, &next);
        *apart = ok && !both.v.n;
        if (*apart || !ok) {
            sp_vec_free(&both.v);
        } else {
            sp_vec_free(&steps->v);
            *steps = both;
        }
    }
    sp_vec_free(&next.v);
    return ok;
}

/* From the wait on to the last that is known; `steps`: those in which its main thread waited. */
static bool hang_walk(struct sp_summary_hang *h, uint32_t thread, struct sp_wait_steps *steps)
{
    enum { FAR = 64 };
    bool ok = true, apart = false;
    h->steps = 1;
    for (uint32_t t = h->w.waits.v[h->wait].holder; t != SP_NONE && !h->deadlock && h->steps < FAR;
         h->steps++) {
        uint32_t next = hang_leads_on(&h->w, t);
        if (next == SP_NONE || h->w.waits.v[next].receive || h->w.waits.v[next].holder == thread)
            break;
        ok = hang_cut(h, next, steps, &apart);
        if (!ok || apart)
            break;
        h->last = next;
        t = h->w.waits.v[next].holder;
    }
    return ok;
}

/* Follows who holds what to the last that is known, and looks what that did while its main thread waited. In
 * a ring it is the first. */
static bool hang_follow(struct sp_summary_hang *h, uint32_t thread)
{
    struct sp_wait_steps steps = {0};
    h->wait = h->last = sp_waits_followed(&h->w, thread);
    if (h->wait == SP_NONE)
        return true;
    const struct sp_wait *first = &h->w.waits.v[h->wait];
    const struct sp_wait_chain *c = hang_chain(&h->w, thread, false, &h->in_ring);
    h->ring = h->in_ring ? c : hang_other_ring(&h->w, thread);
    h->deadlock = c && c->deadlock && hang_ends_in_deadlock(h, thread) ? c : NULL;
    bool ok = (first->holder == SP_NONE || sp_wait_steps_of(&h->w, thread, first->holder, &steps)) &&
              hang_walk(h, thread, &steps);
    const struct sp_wait *last = &h->w.waits.v[h->last];
    if (ok && last->holder != SP_NONE) {
        h->holder_tid = h->w.threads.v[last->holder].tid;
        ok = sp_held_in_steps(&h->rows, &h->own, &h->w, h->w.threads.v[last->holder].context, &steps,
                              &h->holder);
    }
    sp_vec_free(&steps.v);
    return ok;
}

/* A deadlock of other threads of its process, which it takes no part in. */
static void hang_look_beside(struct sp_summary_hang *h)
{
    for (size_t i = 0; i < h->w.chains.n && !h->deadlock && !h->beside; i++) {
        const struct sp_wait_chain *c = &h->w.chains.v[i];
        if (c->deadlock == SP_DEADLOCK_NONE || c == h->ring)
            continue;
        const struct sp_wait *in = &h->w.waits.v[h->w.steps.v[c->first + c->cycle]];
        const struct sp_wait_thread *t = &h->w.threads.v[in->waiter];
        if (sp_is_same_program(h->w.profile, &h->w.profile->contexts.v[t->context],
                               &h->w.profile->contexts.v[h->context]))
            h->beside = c;
    }
}

/* What it ended in comes before what it did most. */
static bool hang_judge_deadlock(struct sp_summary_hang *h)
{
    bool waited = h->verdict == SP_HANG_WAITED || h->verdict == SP_HANG_SUSPENDED;
    if (!h->deadlock || (waited && h->weight == sp_waits_weight(&h->w, h->wait)))
        return true;
    h->weight = sp_waits_weight(&h->w, h->wait);
    h->verdict = SP_HANG_WAITED;
    return sp_held_waiting(&h->rows, &h->own, &h->w, h->wait, true, &h->main);
}

/* ---- the whole of it ---- */

/* Own functions are worth a table where all that was selected ran, and is of one process. */
static bool hang_own_rows(const struct sp_summary *x)
{
    const struct sp_selection *s = &x->x.s;
    if (s->profile->processes.n > 1 && !x->x.q->options->pid)
        return false;
    for (size_t i = 0; !x->hang.e.microstackshots && i < s->rows.n; i++) {
        const struct sp_context *c =
            &s->profile->contexts.v[s->profile->stacks.v[s->rows.v[i].stack].context];
        if (sp_held_state_of(sp_pstr(s->profile, c->state)) != SP_HELD_RAN)
            return false;
    }
    return s->rows.n > 0;
}

static spaa_status hang_select(struct sp_summary *x)
{
    struct sp_summary_hang *h = &x->hang;
    const struct sp_profile *p = x->x.q->profiles[0];
    const struct sp_options *o = x->x.q->options;
    struct sp_diags *d = x->x.q->diags;
    const unsigned need = SP_BY_TID | SP_BY_STATE;
    struct sp_select_opts how = {.event = o->event,
                                 .metric = sp_pstr(p, p->metrics.v[x->x.s.metric].name).p,
                                 .any_state = true,
                                 .may_be_empty = true};
    spaa_status st = sp_select(p, &how, d, &h->s);
    h->selected = !st;
    if (!st)
        st = sp_own_of(&h->s, o->own_re, d, &h->own);
    h->has_own = !st;
    if (!st)
        st = sp_held_rows_of(&h->s, d, &h->rows);
    if (!st && h->states && (p->header.group_by & need) == need) {
        st = sp_waits_of(&h->s, NULL, d, &h->w);
        h->has_waits = !st;
    }
    return st;
}

static spaa_status hang_main(struct sp_summary *x)
{
    struct sp_summary_hang *h = &x->hang;
    const struct sp_profile *profile = x->x.q->profiles[0];
    spaa_status st = sp_summary_hang_main(x);
    if (!st && h->e.microstackshots)
        h->others = sp_summary_hang_ran(x, SP_ABSENT);
    if (st || h->context == SP_NONE)
        return st;
    bool ok = sp_held_main(&h->rows, &h->own, h->context, &h->main);
    hang_judge(x);
    uint32_t thread = h->has_waits ? sp_waits_thread_of(&h->w, &profile->contexts.v[h->context]) : SP_NONE;
    if (ok && thread != SP_NONE)
        ok = hang_follow(h, thread) && hang_judge_deadlock(h);
    if (ok && h->has_waits)
        hang_look_beside(h);
    if (h->verdict == SP_HANG_STARVED)
        h->others = sp_summary_hang_ran(x, h->pid);
    return ok ? SPAA_OK : sp_nomem(x->x.q->diags);
}

spaa_status sp_summary_hang(struct sp_summary *x)
{
    struct sp_summary_hang *h = &x->hang;
    const struct sp_profile *p = x->x.q->profiles[0];
    struct sp_str extra = sp_pstr(p, p->header.extra_json), tool = sp_pstr(p, p->header.source_tool);
    struct sp_span fields = {"", 0};
    bool spindump = sp_str_is(tool, "spindump");
    if (x->x.q->nnames > 1 || (!spindump && !sp_str_is(tool, "sample")) || !p->processes.n)
        return SPAA_OK;
    if (spindump && !sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "fields", &fields))
        return SPAA_OK;
    h->known = true;
    h->states = spindump;
    h->wait = h->last = SP_NONE;
    h->holder_tid = h->tid = SP_ABSENT;
    h->context = h->nested = SP_NONE;
    sp_hang_event_of(x, fields, &h->e);
    spaa_status st = sp_summary_hang_process(x);
    h->own_rows = spindump ? hang_own_rows(x) : true;
    if (!st)
        st = hang_select(x);
    return st ? st : hang_main(x);
}

void sp_summary_hang_free(struct sp_summary *x)
{
    struct sp_summary_hang *h = &x->hang;
    if (h->has_waits)
        sp_waits_free(&h->w);
    sp_held_rows_free(&h->rows);
    if (h->has_own)
        sp_own_free(&h->own);
    if (h->selected)
        sp_selection_free(&h->s);
}

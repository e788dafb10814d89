/*
 * Waits for locks that were not over when the recording was, or the process: of a deadlock, of a holder that
 * never let go, or just of the moment at which the recording ended. Which lock a wait is for is not recorded.
 * That each of several waits for what another one let go before is what a deadlock leaves behind; it is no
 * proof.
 */
#include "analysis/stall_parts.h"

#define PLACES_MAX 64 /* of one program: what is beyond is in no ring */

static bool is_open(const struct stall_work *w, const struct stall_wait *x)
{
    const struct sp_interval *i = &w->v->v.v[x->interval];
    return sp_wait_is_lock(x->reason) && stall_length(i) >= SP_STALL_FLOOR && stall_not_ended(w, i);
}

struct places {
    uint32_t function[PLACES_MAX];
    uint64_t leads[PLACES_MAX]; /* bits: places at which one waits who let go of this one before */
    size_t n;
};

static size_t place_of(struct places *x, uint32_t function, bool add)
{
    size_t k = 0;
    while (k < x->n && x->function[k] != function)
        k++;
    if (k == x->n && add && k < PLACES_MAX)
        x->function[x->n++] = function;
    return k < x->n ? k : SIZE_MAX;
}

/* at: per thread, 1 + the place where it waits at the end. */
static bool has_ring(const struct stall_work *w, const int64_t *at, size_t from, size_t to, struct places *x)
{
    for (size_t k = from; k < to; k++) {
        const struct stall_wait *wait = &w->waits.v[k];
        enum sp_stall_wakes how;
        uint32_t waker = stall_waker(w, &w->v->v.v[wait->interval], &how);
        size_t place = sp_wait_is_lock(wait->reason) ? place_of(x, wait->function, false) : SIZE_MAX;
        if (waker == SP_NONE || place == SIZE_MAX || !at[waker] || (size_t)at[waker] == place + 1)
            continue;
        x->leads[place] |= UINT64_C(1) << (at[waker] - 1);
    }
    for (size_t via = 0; via < x->n; via++)
        for (size_t k = 0; k < x->n; k++)
            if (x->leads[k] >> via & 1)
                x->leads[k] |= x->leads[via];
    for (size_t k = 0; k < x->n; k++)
        if (x->leads[k] >> k & 1)
            return true;
    return false;
}

/* at: as above. One that was over before the first wait is none. */
static bool add_other(struct stall_work *w, const int64_t *at, uint32_t thread, struct sp_stall *s)
{
    const struct sp_interval_thread *t = &w->v->threads.v[thread];
    struct sp_stall_candidate c = {thread, stall_ran(w->v, thread, s->start, s->end)};
    bool over = t->exited && (!t->n || w->v->v.v[t->first + t->n - 1].end < s->start);
    if (at[thread] || w->sum_own[thread] || over)
        return true;
    w->sum_own[thread] = 1;
    s->candidates.n++;
    return sp_vec_push(&w->out->candidates, c);
}

/*
 * Who waits at none of the places may hold what is waited for: first those who let go there before, then the
 * other threads of the program.
 */
static bool find_others(struct stall_work *w, const int64_t *at, size_t from, size_t to, struct places *x,
                        struct sp_stall *s)
{
    bool ok = true;
    s->candidates.first = (uint32_t)w->out->candidates.n;
    for (size_t k = from; ok && k < to; k++) {
        const struct stall_wait *wait = &w->waits.v[k];
        enum sp_stall_wakes how;
        uint32_t waker = stall_waker(w, &w->v->v.v[wait->interval], &how);
        if (waker != SP_NONE && sp_wait_is_lock(wait->reason) &&
            place_of(x, wait->function, false) != SIZE_MAX)
            ok = add_other(w, at, waker, s);
    }
    for (uint32_t t = s->group; ok && t < w->v->threads.n && w->group[t] == s->group; t++)
        ok = add_other(w, at, t, s);
    for (size_t k = s->candidates.first; k < w->out->candidates.n; k++)
        w->sum_own[w->out->candidates.v[k].thread] = 0;
    return ok;
}

/* A thread that waits alone is stalled, if it surely waits for a lock and did for a tenth of the recording.
 */
static bool is_enough(const struct stall_work *w, const struct sp_stall *s)
{
    if (s->waits.n != 1)
        return s->waits.n > 1;
    const struct sp_interval *i = &w->v->v.v[w->out->waits.v[s->waits.first]];
    return !stall_why(w, i)->unsure && s->longest >= (w->v->end - w->v->begin) / 10;
}

static bool add_open(struct stall_work *w, size_t from, size_t to)
{
    struct sp_stalls *o = w->out;
    const struct sp_interval *v = w->v->v.v;
    struct places places = {.n = 0};
    struct sp_stall s = {.kind = SP_STALL_OPEN,
                         .by = SP_STALL_BY_NOT_ENDED,
                         .reason = SP_WAIT_LOCK,
                         .function = SP_NONE,
                         .call = SP_NONE,
                         .group = w->waits.v[from].group,
                         .processes = w->joined[w->waits.v[from].group],
                         .start = INT64_MAX,
                         .released = w->v->end,
                         .end = w->v->end,
                         .threshold = SP_STALL_FLOOR,
                         .waits = {(uint32_t)o->waits.n, 0},
                         .holder = SP_NONE,
                         .waker_stack = SP_NONE};
    bool ok = true;
    for (size_t k = from; ok && k < to; k++) {
        const struct stall_wait *x = &w->waits.v[k];
        const struct sp_interval *i = &v[x->interval];
        if (!is_open(w, x))
            continue;
        size_t place = place_of(&places, x->function, true);
        w->sum[i->thread] = place == SIZE_MAX ? 0 : (int64_t)place + 1;
        s.released = s.end = s.waits.n && s.end > i->end ? s.end : i->end;
        if (i->start < s.start) {
            s.start = i->start;
            s.function = x->function;
            s.call = stall_why(w, i)->call;
        }
        s.at_most |= i->until < i->end;
        s.lost += stall_length(i);
        s.longest = stall_length(i) > s.longest ? stall_length(i) : s.longest;
        ok = sp_vec_push(&o->waits, x->interval);
        s.waits.n++;
    }
    s.places = (uint32_t)places.n;
    s.ring = s.waits.n > 1 && has_ring(w, w->sum, from, to, &places);
    ok = ok && find_others(w, w->sum, from, to, &places, &s);
    for (size_t k = from; k < to; k++)
        w->sum[v[w->waits.v[k].interval].thread] = 0;
    if (!ok || !is_enough(w, &s) || !stall_in_time(w, &s)) {
        o->waits.n = s.waits.first;
        return ok;
    }
    return sp_vec_push(&o->v, s);
}

/*
 * A recording of some processes is over with their last event. Where none of their threads runs then, or
 * could, and some wait for a lock, they may have hung from then on: nothing tells how long.
 */
static void find_last(struct stall_work *w)
{
    uint32_t n = 0;
    for (size_t k = 0; k < w->v->threads.n && !w->v->all_threads; k++) {
        const struct sp_interval_thread *t = &w->v->threads.v[k];
        const struct sp_interval *last = t->n ? &w->v->v.v[t->first + t->n - 1] : NULL;
        if (!t->tid || t->exited || !last)
            continue;
        if (last->state != SP_RUN_BLOCKED)
            return;
        n += last->flags & SP_INTERVAL_OPEN && sp_wait_is_lock(stall_why(w, last)->reason) &&
             stall_is_selected(w, last);
    }
    w->out->last_waits = w->in->timed ? 0 : n;
}

bool stall_find_open(struct stall_work *w)
{
    bool ok = true;
    find_last(w);
    for (size_t i = 0, k; ok && i < w->waits.n; i = k) {
        bool open = is_open(w, &w->waits.v[i]);
        for (k = i + 1; k < w->waits.n && w->waits.v[k].group == w->waits.v[i].group; k++)
            open = open || is_open(w, &w->waits.v[k]);
        if (open)
            ok = add_open(w, i, k);
    }
    return ok;
}

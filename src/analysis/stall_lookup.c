/* What parts of the search for stalls look up: intervals by time, who woke whom, and what ended a wait. */
#include "analysis/stall_parts.h"

#include "analysis/wait_wakers.h"

int64_t stall_ran(const struct sp_intervals *v, uint32_t thread, int64_t from, int64_t to)
{
    const struct sp_interval_thread *x = &v->threads.v[thread];
    int64_t sum = 0;
    for (uint32_t i = sp_interval_after(v, thread, from); i < x->first + x->n; i++) {
        if (v->v.v[i].start >= to)
            break;
        if (v->v.v[i].state == SP_RUN_RUNNING)
            sum += stall_overlap(&v->v.v[i], from, to);
    }
    return sum;
}

static bool has_stack(const struct stall_work *w, const struct sp_interval *i)
{
    return i->waker_stack != SP_NONE && i->waker_stack < w->in->stacks && w->in->waker_stacks;
}

uint32_t stall_waker(const struct stall_work *w, const struct sp_interval *i, enum sp_stall_wakes *how)
{
    *how = SP_STALL_WAKES_THREAD;
    if (i->waker == SP_NONE || i->waker == i->thread || i->flags & (SP_INTERVAL_NO_WAKE | SP_INTERVAL_OPEN))
        return SP_NONE;
    const struct sp_interval_thread *waker = &w->v->threads.v[i->waker], *woken = &w->v->threads.v[i->thread];
    bool stack = has_stack(w, i);
    if (stack && w->in->wakers)
        *how = (enum sp_stall_wakes)w->in->wakers[i->waker_stack];
    if (*how == SP_STALL_WAKES_REMOTE) {
        *how = SP_STALL_WAKES_THREAD;
        return SP_NONE;
    }
    if (!waker->tid)
        *how = SP_STALL_WAKES_INTERRUPT;
    if (*how != SP_STALL_WAKES_THREAD)
        return SP_NONE;
    /* Without its stack, another process may just have been interrupted there. */
    return stack || (waker->pid == woken->pid && waker->pid != SP_ABSENT) ? i->waker : SP_NONE;
}

bool stall_not_ended(const struct stall_work *w, const struct sp_interval *i)
{
    enum sp_stall_wakes how;
    const struct sp_interval_thread *t = &w->v->threads.v[i->thread];
    bool is_last = i == &w->v->v.v[t->first + t->n - 1];
    if (i->flags & SP_INTERVAL_OPEN || (is_last && i->flags & SP_INTERVAL_AT_MOST))
        return true; /* the latter: only the exit of its thread is recorded */
    if (!t->exited)
        return false;
    stall_waker(w, i, &how);
    enum sp_wait_end end = how == SP_STALL_WAKES_SIGNAL ? SP_WAIT_END_SIGNAL
                           : has_stack(w, i)            ? SP_WAIT_END_OTHER
                                                        : SP_WAIT_END_UNKNOWN;
    return sp_wait_cut_off(w->v, (size_t)(i - w->v->v.v), end, w->over[w->group[i->thread]]);
}

const struct sp_wait_why *stall_why(const struct stall_work *w, const struct sp_interval *i)
{
    static const struct sp_wait_why none = {.function = SP_NONE, .call = SP_NONE};
    return i->stack < w->in->stacks ? &w->in->why[i->stack] : &none;
}

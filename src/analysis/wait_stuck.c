#include "analysis/wait_stuck.h"

#include "analysis/wait_bounds.h"

/* When a thread began to wait for a lock that it did not get; INT64_MAX: it does not. */
static int64_t stuck_from(const struct sp_profile *p, const struct sp_intervals *v, uint32_t thread,
                          const struct sp_wait_why *why, size_t n, int64_t over)
{
    const struct sp_interval_thread *t = &v->threads.v[thread];
    for (uint32_t i = t->first + t->n; i-- > t->first;) {
        const struct sp_interval *x = &v->v.v[i];
        if (x->state != SP_RUN_BLOCKED || x->stack >= n || !sp_wait_is_lock(why[x->stack].reason))
            continue;
        bool last = i + 1 == t->first + t->n && x->flags & (SP_INTERVAL_OPEN | SP_INTERVAL_AT_MOST);
        return last || sp_wait_ended_with(p, v, i, over) ? x->start : INT64_MAX;
    }
    return INT64_MAX;
}

/* Of a thread; nobody sleeps while he waits for a lock himself. */
static void add_sleeps(const struct sp_intervals *v, uint32_t thread, const struct sp_wait_why *why, size_t n,
                       int64_t from, int64_t *ns)
{
    const struct sp_interval_thread *t = &v->threads.v[thread];
    for (uint32_t i = sp_interval_after(v, thread, from); i < t->first + t->n; i++) {
        const struct sp_interval *x = &v->v.v[i];
        if (x->state != SP_RUN_BLOCKED || x->stack >= n || !why[x->stack].idle ||
            why[x->stack].reason != SP_WAIT_SLEEP)
            continue;
        int64_t since = x->start > from ? x->start : from;
        ns[x->stack] += x->until > since ? x->until - since : 0;
    }
}

void sp_wait_stuck_sleeps(const struct sp_profile *p, const struct sp_intervals *v,
                          const struct sp_wait_why *why, size_t n, int64_t *ns)
{
    const struct sp_interval_thread *t = v->threads.v;
    for (uint32_t first = 0, to; first < v->threads.n; first = to) {
        int64_t from = INT64_MAX, over = sp_wait_last_seen(v, first);
        for (to = first; to < v->threads.n && t[to].pid == t[first].pid; to++) {
            int64_t one = t[to].tid ? stuck_from(p, v, to, why, n, over) : INT64_MAX;
            from = one < from ? one : from;
        }
        for (uint32_t k = first; from < INT64_MAX && k < to; k++)
            if (t[k].tid)
                add_sleeps(v, k, why, n, from, ns);
    }
}

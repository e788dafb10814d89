#include "analysis/wait_bounds.h"

#include "analysis/wait_wakers.h"
#include "model/off_cpu.h"

int64_t sp_wait_last_seen(const struct sp_intervals *v, size_t k)
{
    int64_t pid = v->threads.v[k].pid, last = pid == SP_ABSENT ? INT64_MAX : INT64_MIN;
    for (; k < v->threads.n && v->threads.v[k].pid == pid; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        int64_t end = !t->exited ? INT64_MAX : t->n ? v->v.v[t->first + t->n - 1].end : INT64_MIN;
        last = end > last ? end : last;
    }
    return last;
}

bool sp_wait_ended_with(const struct sp_profile *p, const struct sp_intervals *v, size_t i, int64_t over)
{
    const struct sp_interval *x = &v->v.v[i];
    return v->threads.v[x->thread].exited && sp_wait_cut_off(v, i, sp_wait_end_of(p, x), over);
}

void sp_wait_bounds_mark(const struct sp_profile *p, const struct sp_intervals *v, struct sp_wait_why *why,
                         size_t n)
{
    int64_t over = INT64_MAX;
    for (uint32_t i = 0; !v->v.n && i < n; i++)
        why[i].at_least = sp_off_cpu_at_least(p, i);
    for (size_t k = 0; k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        if (!k || t[-1].pid != t->pid)
            over = sp_wait_last_seen(v, k);
        for (uint32_t i = t->first; i < t->first + t->n; i++) {
            const struct sp_interval *x = &v->v.v[i];
            if (x->state == SP_RUN_RUNNING || x->stack >= n)
                continue;
            why[x->stack].at_least |= x->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN) ||
                                      x->until < x->end || sp_wait_ended_with(p, v, i, over);
        }
    }
}

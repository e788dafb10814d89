/* What a thread did in a window, who had the CPUs that it waited for, and what it waited for itself. */
#include "analysis/stall_parts.h"

#define LINKS_MAX 8

/* The own function at which the thread was most often put off the CPU in the window, weighed by time. */
static uint32_t most_in(const struct stall_work *w, uint32_t thread, int64_t from, int64_t to)
{
    const struct sp_interval_thread *t = &w->v->threads.v[thread];
    uint32_t best = SP_NONE;
    int64_t most = -1;
    for (uint32_t i = sp_interval_after(w->v, thread, from); i < t->first + t->n; i++) {
        const struct sp_interval *x = &w->v->v.v[i];
        if (x->start >= to)
            break;
        uint32_t f = stall_why(w, x)->function;
        int64_t part = stall_overlap(x, from, to);
        /* Where it left the CPU before the window does not tell of the window. */
        if (x->state != SP_RUN_RUNNING && f != SP_NONE && x->start >= from && part > most) {
            best = f;
            most = part;
        }
    }
    return best;
}

void stall_split_of(struct stall_work *w, uint32_t thread, int64_t from, int64_t to,
                    struct sp_stall_split *out)
{
    const struct sp_interval_thread *t = &w->v->threads.v[thread];
    int64_t longest = 0;
    *out = (struct sp_stall_split){.from = from, .to = to, .longest = SP_NONE};
    for (uint32_t i = sp_interval_after(w->v, thread, from); i < t->first + t->n; i++) {
        const struct sp_interval *x = &w->v->v.v[i];
        if (x->start >= to)
            break;
        int64_t part = stall_certain(x, from, to);
        if (x->state == SP_RUN_RUNNING) {
            out->running += part;
        } else if (x->state == SP_RUN_RUNNABLE) {
            out->runnable += part;
        } else {
            uint8_t reason = x->task == SP_TASK_STOPPED ? SP_WAIT_STOPPED : stall_why(w, x)->reason;
            out->blocked += part;
            out->reason[reason] += part;
            if (part > longest) {
                longest = part;
                out->longest = i;
            }
        }
    }
    out->unknown = to - from - out->running - out->runnable - out->blocked;
    out->function = most_in(w, thread, from, to);
}

/* ---- who had the CPUs ---- */

/* Of all CPUs in [from, to), to sum per thread; of idle ones to *idle. */
static void add_cpu(struct stall_work *w, uint32_t cpu, int64_t from, int64_t to, int64_t *sum, int64_t *idle)
{
    uint32_t lo = w->cpu_first[cpu], hi = w->cpu_first[cpu + 1], end = hi;
    while (lo < hi) { /* a CPU runs one thread at a time: ends ascend as starts do */
        uint32_t mid = lo + (hi - lo) / 2;
        if (w->v->v.v[w->on_cpu[mid]].end > from)
            hi = mid;
        else
            lo = mid + 1;
    }
    for (; lo < end; lo++) {
        const struct sp_interval *x = &w->v->v.v[w->on_cpu[lo]];
        if (x->start >= to)
            break;
        if (w->v->threads.v[x->thread].tid)
            sum[x->thread] += stall_certain(x, from, to);
        else
            *idle += stall_certain(x, from, to);
    }
}

struct idle {
    int64_t own, all;
};

static void add_wait(struct stall_work *w, int64_t from, int64_t to, int32_t cpu, struct idle *idle)
{
    for (uint32_t c = 0; c < w->v->cpus; c++)
        add_cpu(w, c, from, to, w->sum, &idle->all);
    if (cpu >= 0 && (uint32_t)cpu < w->v->cpus)
        add_cpu(w, (uint32_t)cpu, from, to, w->sum_own, &idle->own);
}

static int by_time(const void *va, const void *vb)
{
    const struct sp_stall_taker *a = va, *b = vb;
    if (a->its_cpu != b->its_cpu)
        return a->its_cpu > b->its_cpu ? -1 : 1;
    if (a->all_cpus != b->all_cpus)
        return a->all_cpus > b->all_cpus ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static bool put_takers(struct stall_work *w, struct sp_stall *s, const struct idle *idle)
{
    bool ok = true;
    s->takers.first = (uint32_t)w->out->takers.n;
    if (idle->all) {
        struct sp_stall_taker none = {0, idle->own, idle->all}; /* threads begin with the idle tasks */
        ok = sp_vec_push(&w->out->takers, none);
    }
    for (uint32_t t = 0; t < w->v->threads.n; t++) {
        struct sp_stall_taker x = {t, w->sum_own[t], w->sum[t]};
        if (x.all_cpus && w->v->threads.v[t].tid)
            ok = ok && sp_vec_push(&w->out->takers, x);
        w->sum[t] = w->sum_own[t] = 0;
    }
    s->takers.n = (uint32_t)w->out->takers.n - s->takers.first;
    if (s->takers.n)
        qsort(w->out->takers.v + s->takers.first, s->takers.n, sizeof(struct sp_stall_taker), by_time);
    return ok;
}

bool stall_takers_of(struct stall_work *w, struct sp_stall *s)
{
    struct idle idle = {0, 0};
    if (s->kind == SP_STALL_CPU) { /* while all of them waited */
        int64_t from = s->start;
        for (uint32_t k = 0; k < s->waits.n; k++) {
            int64_t start = w->v->v.v[w->out->waits.v[s->waits.first + k]].start;
            from = start > from ? start : from;
        }
        add_wait(w, from, s->released, -1, &idle);
        s->idle = idle.all;
        return put_takers(w, s, &idle);
    }
    if (s->holder == SP_NONE)
        return true;
    const struct sp_interval_thread *t = &w->v->threads.v[s->holder];
    for (uint32_t i = sp_interval_after(w->v, s->holder, s->split.from); i < t->first + t->n; i++) {
        const struct sp_interval *x = &w->v->v.v[i];
        if (x->start >= s->split.to)
            break;
        if (x->state == SP_RUN_RUNNABLE)
            add_wait(w, x->start > s->split.from ? x->start : s->split.from,
                     x->until < s->split.to ? x->until : s->split.to, x->cpu, &idle);
    }
    return put_takers(w, s, &idle);
}

/* ---- what it waited for ---- */

bool stall_links_of(struct stall_work *w, struct sp_stall *s)
{
    struct sp_stall_split split = s->split;
    uint32_t thread = s->holder;
    s->links.first = (uint32_t)w->out->links.n;
    for (int i = 0; i < LINKS_MAX; i++) {
        enum sp_stall_wakes how;
        if (split.longest == SP_NONE)
            break;
        const struct sp_interval *x = &w->v->v.v[split.longest];
        if (stall_overlap(x, split.from, split.to) * 4 < split.to - split.from)
            break;
        struct sp_stall_link link = {.thread = thread, .interval = split.longest, .split = split};
        if (!sp_vec_push(&w->out->links, link))
            return false;
        uint32_t next = stall_waker(w, x, &how);
        if (next == SP_NONE || x->task == SP_TASK_STOPPED)
            break;
        for (size_t k = s->links.first; k < w->out->links.n; k++)
            if (w->out->links.v[k].thread == next)
                next = SP_NONE;
        if (next == SP_NONE)
            break;
        thread = next;
        stall_split_of(w, thread, x->start > split.from ? x->start : split.from, x->end, &split);
        if (split.longest == SP_NONE ||
            stall_overlap(&w->v->v.v[split.longest], split.from, split.to) * 4 < split.to - split.from) {
            struct sp_stall_link last = {.thread = thread, .interval = SP_NONE, .split = split};
            if (!sp_vec_push(&w->out->links, last))
                return false;
            break;
        }
    }
    s->links.n = (uint32_t)w->out->links.n - s->links.first;
    return true;
}

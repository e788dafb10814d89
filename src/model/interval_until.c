#include "model/interval_until.h"

#include "model/interval_losses.h"

#include <stdlib.h>
#include <string.h>

/* ---- when switches were seen ---- */

/*
 * On which CPU the thread then was that was not seen to come there: what it did next tells, unless it was put
 * off the CPU. -1: not known.
 */
static int32_t unseen_cpu(const struct sp_intervals *v, const struct sp_interval *i)
{
    const struct sp_interval_thread *t = &v->threads.v[i->thread];
    const struct sp_interval *next = i + 1;
    bool last = (size_t)(next - v->v.v) >= (size_t)t->first + t->n;
    return last || next->start != i->end || next->state == SP_RUN_RUNNABLE ? -1 : next->cpu;
}

/* A moment of a CPU that an interval tells. */
struct mark {
    int32_t cpu;
    int64_t at;
};

static unsigned marks_of(const struct sp_intervals *v, const struct sp_interval *i, struct mark out[2])
{
    bool runs = i->state == SP_RUN_RUNNING,
         unseen = sp_interval_came_unseen(i) && !(i->flags & SP_INTERVAL_OPEN);
    int32_t cpu = unseen ? unseen_cpu(v, i) : i->cpu;
    unsigned n = 0;
    if (cpu < 0 || (uint32_t)cpu >= v->cpus)
        return 0;
    if (runs && !(i->flags & SP_INTERVAL_BEFORE))
        out[n++] = (struct mark){cpu, i->start};
    if (unseen || (runs && !(i->flags & SP_INTERVAL_OPEN)))
        out[n++] = (struct mark){cpu, i->end};
    return n;
}

static int by_time(const void *va, const void *vb)
{
    int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
    return (a > b) - (a < b);
}

static bool collect_marks(struct sp_intervals *v)
{
    struct mark at[2];
    size_t n = 0, cpus = v->cpus;
    if (!sp_vec_reserve(&v->marks_first, cpus + 2))
        return false;
    size_t *first = v->marks_first.v;
    memset(first, 0, (cpus + 2) * sizeof *first);
    for (size_t i = 0; i < v->v.n; i++)
        for (unsigned k = 0, m = marks_of(v, &v->v.v[i], at); k < m; k++, n++)
            first[at[k].cpu + 2]++;
    for (size_t c = 2; c < cpus + 2; c++)
        first[c] += first[c - 1];
    if (!sp_vec_reserve(&v->marks, n + 1))
        return false;
    for (size_t i = 0; i < v->v.n; i++)
        for (unsigned k = 0, m = marks_of(v, &v->v.v[i], at); k < m; k++)
            v->marks.v[first[at[k].cpu + 1]++] = at[k].at;
    v->marks.n = n;
    v->marks_first.n = cpus + 1;
    for (size_t c = 0; c < cpus; c++)
        if (first[c + 1] > first[c])
            qsort(v->marks.v + first[c], first[c + 1] - first[c], sizeof *v->marks.v, by_time);
    return true;
}

size_t sp_interval_mark_at(const struct sp_intervals *v, size_t cpu, int64_t t)
{
    size_t lo = v->marks_first.v[cpu], hi = v->marks_first.v[cpu + 1];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v->marks.v[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The CPU with a switch at this moment, if there is but one; -1. */
static int32_t cpu_at(const struct sp_intervals *v, int64_t t)
{
    int32_t cpu = -1;
    for (size_t c = 0; c + 1 < v->marks_first.n; c++) {
        size_t m = sp_interval_mark_at(v, c, t);
        if (m == v->marks_first.v[c + 1] || v->marks.v[m] != t)
            continue;
        if (cpu >= 0)
            return -1;
        cpu = (int32_t)c;
    }
    return cpu;
}

int32_t sp_interval_cpu_then(const struct sp_intervals *v, const struct sp_interval *i)
{
    int32_t cpu = unseen_cpu(v, i);
    return cpu < 0 ? cpu_at(v, i->end) : (uint32_t)cpu < v->cpus ? cpu : -1;
}

/* ---- off the CPU ---- */

/* The last switch of a CPU before t; `otherwise`: there is none. */
static int64_t mark_before(const struct sp_intervals *v, size_t cpu, int64_t t, int64_t otherwise)
{
    size_t m = sp_interval_mark_at(v, cpu, t);
    return m > v->marks_first.v[cpu] ? v->marks.v[m - 1] : otherwise;
}

/* It may be on any CPU, since the last switch there. */
static int64_t quiet_since(const struct sp_intervals *v)
{
    int64_t t = INT64_MAX;
    for (size_t c = 0; c + 1 < v->marks_first.n; c++)
        if (v->marks_first.v[c + 1] > v->marks_first.v[c] && v->marks.v[v->marks_first.v[c + 1] - 1] < t)
            t = v->marks.v[v->marks_first.v[c + 1] - 1];
    return t;
}

static int64_t off_until(const struct sp_intervals *v, const struct sp_interval *i, int64_t quiet)
{
    int64_t t = i->end;
    if (sp_interval_came_unseen(i) && i->flags & SP_INTERVAL_OPEN) {
        t = quiet;
    } else if (sp_interval_came_unseen(i)) {
        int32_t cpu = sp_interval_cpu_then(v, i);
        t = cpu < 0 ? i->start : mark_before(v, (size_t)cpu, i->end, i->start);
    }
    /* From a loss on it may have run, and waited for something else; so, too, what contradicts after one. */
    int64_t lost = i->flags & SP_INTERVAL_UNSURE && sp_interval_lost_within(v, v->begin, i->start) > 0
                       ? i->start
                       : sp_interval_lost_after(v, i->start);
    t = t < lost ? t : lost;
    return t < i->start ? i->start : t > i->end ? i->end : t;
}

/* It was not seen to come back or to end; since the first loss it may have. */
static void doubt_open(const struct sp_intervals *v, struct sp_interval *i)
{
    int64_t lost = sp_interval_lost_after(v, i->start);
    if (!(i->flags & SP_INTERVAL_OPEN) || lost >= i->end)
        return;
    i->flags |= i->state == SP_RUN_RUNNING ? 0 : SP_INTERVAL_AT_MOST;
    i->until = lost < i->until ? lost : i->until;
}

/* ---- on the CPU ---- */

/*
 * Per thread: that it runs to the end of the recording can be believed. Of some threads none is seen to leave
 * a CPU: of other processes, and of the idle task.
 */
static unsigned char *seen_leaving(const struct sp_intervals *v)
{
    unsigned char *seen = calloc(v->threads.n + 1, 1);
    for (size_t k = 0; seen && k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        seen[k] = !t->tid;
        for (uint32_t n = t->first; n < t->first + t->n; n++) {
            const struct sp_interval *i = &v->v.v[n];
            if (t->tid)
                seen[k] |= i->state == SP_RUN_RUNNING ? !(i->flags & (SP_INTERVAL_OPEN | SP_INTERVAL_UNSURE))
                                                      : !(i->flags & SP_INTERVAL_BEFORE);
            else if (i->flags & SP_INTERVAL_UNSURE)
                seen[k] = 0;
        }
    }
    return seen;
}

/* It has left when the next switch is seen on its CPU; where that is not its own, sometime before. */
static void settle_running(const struct sp_intervals *v, const unsigned char *seen, struct sp_interval *i)
{
    bool open = i->flags & SP_INTERVAL_OPEN && i->cpu >= 0 && !seen[i->thread];
    if (i->cpu >= 0 && (uint32_t)i->cpu < v->cpus) {
        size_t m = sp_interval_mark_at(v, (size_t)i->cpu, i->start + 1);
        if (m < v->marks_first.v[i->cpu + 1] && v->marks.v[m] < i->end) {
            i->end = v->marks.v[m];
            i->flags = (uint8_t)((i->flags | SP_INTERVAL_AT_MOST | SP_INTERVAL_UNSURE) & ~SP_INTERVAL_OPEN);
        }
    }
    i->until = open || i->flags & (SP_INTERVAL_UNSURE | SP_INTERVAL_AT_MOST) ? i->start : i->end;
}

/* ---- first seen to leave ---- */

bool sp_thread_began_unseen(const struct sp_intervals *v, uint32_t thread)
{
    const struct sp_interval_thread *t = &v->threads.v[thread];
    const struct sp_interval *i = &v->v.v[t->first];
    return t->tid && t->n && i->state != SP_RUN_RUNNING && !(i->flags & SP_INTERVAL_BEFORE) &&
           i->task != SP_TASK_UNKNOWN && i->start != t->start;
}

int32_t sp_thread_first_cpu(const struct sp_intervals *v, uint32_t thread)
{
    if (!sp_thread_began_unseen(v, thread))
        return -1;
    const struct sp_interval *i = &v->v.v[v->threads.v[thread].first];
    int32_t cpu = i->state == SP_RUN_BLOCKED ? i->cpu : cpu_at(v, i->start);
    return cpu >= 0 && (uint32_t)cpu < v->cpus ? cpu : -1;
}

bool sp_interval_until_find(struct sp_intervals *v)
{
    unsigned char *seen = seen_leaving(v);
    if (!seen || !collect_marks(v)) {
        free(seen);
        return false;
    }
    int64_t quiet = quiet_since(v);
    for (size_t k = 0; k < v->v.n; k++) {
        struct sp_interval *i = &v->v.v[k];
        if (i->state != SP_RUN_RUNNING)
            i->until = off_until(v, i, quiet);
        if (i->state != SP_RUN_RUNNING && v->some_cpus) {
            i->until = i->start;
            i->flags |= SP_INTERVAL_UNSURE | (i->flags & SP_INTERVAL_OPEN ? SP_INTERVAL_AT_MOST : 0);
        }
    }
    for (size_t k = 0; k < v->v.n; k++) {
        if (v->v.v[k].state == SP_RUN_RUNNING)
            settle_running(v, seen, &v->v.v[k]);
        doubt_open(v, &v->v.v[k]);
    }
    free(seen);
    for (uint32_t k = 0; k < v->threads.n; k++) {
        struct sp_interval_thread *t = &v->threads.v[k];
        int32_t cpu = sp_thread_first_cpu(v, k);
        if (cpu >= 0)
            t->maybe_ns =
                v->v.v[t->first].start - mark_before(v, (size_t)cpu, v->v.v[t->first].start, v->begin);
    }
    return true;
}

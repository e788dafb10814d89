#include "analysis/sched_cpus.h"

enum { CPUS_MAX = 65536 };

void sp_cpu_segments_free(struct sp_cpu_segments *x)
{
    sp_vec_free(&x->v);
    sp_vec_free(&x->first);
    sp_vec_free(&x->marks);
    sp_vec_free(&x->marks_first);
}

bool sp_interval_came_unseen(const struct sp_interval *i)
{
    return i->state != SP_RUN_RUNNING && i->flags & SP_INTERVAL_AT_MOST;
}

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
    if (cpu < 0 || cpu >= CPUS_MAX)
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

static bool collect_marks(struct sp_cpu_segments *x, size_t cpus)
{
    const struct sp_intervals *v = x->v_of;
    struct mark at[2];
    size_t n = 0;
    if (!sp_vec_reserve(&x->marks_first, cpus + 2))
        return false;
    size_t *first = x->marks_first.v;
    memset(first, 0, (cpus + 2) * sizeof *first);
    for (size_t i = 0; i < v->v.n; i++)
        for (unsigned k = 0, m = marks_of(v, &v->v.v[i], at); k < m; k++, n++)
            first[at[k].cpu + 2]++;
    for (size_t c = 2; c < cpus + 2; c++)
        first[c] += first[c - 1];
    if (!sp_vec_reserve(&x->marks, n + 1))
        return false;
    for (size_t i = 0; i < v->v.n; i++)
        for (unsigned k = 0, m = marks_of(v, &v->v.v[i], at); k < m; k++)
            x->marks.v[first[at[k].cpu + 1]++] = at[k].at;
    x->marks.n = n;
    x->marks_first.n = cpus + 1;
    for (size_t c = 0; c < cpus; c++)
        if (first[c + 1] > first[c])
            qsort(x->marks.v + first[c], first[c + 1] - first[c], sizeof *x->marks.v, by_time);
    return true;
}

/* The number of the first moment of a CPU that is not before t, or where they end. */
static size_t mark_at(const struct sp_cpu_segments *x, size_t cpu, int64_t t)
{
    size_t lo = x->marks_first.v[cpu], hi = x->marks_first.v[cpu + 1];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->marks.v[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The CPU with a switch at this moment, if there is but one; -1. */
static int32_t cpu_at(const struct sp_cpu_segments *x, int64_t t)
{
    int32_t cpu = -1;
    for (size_t c = 0; c + 1 < x->marks_first.n; c++) {
        size_t m = mark_at(x, c, t);
        if (m == x->marks_first.v[c + 1] || x->marks.v[m] != t)
            continue;
        if (cpu >= 0)
            return -1;
        cpu = (int32_t)c;
    }
    return cpu;
}

/* Of one that was put off it, too. */
int32_t sp_interval_cpu_then(const struct sp_cpu_segments *x, const struct sp_interval *i)
{
    int32_t cpu = unseen_cpu(x->v_of, i);
    return cpu < 0 ? cpu_at(x, i->end) : (size_t)cpu + 1 < x->marks_first.n ? cpu : -1;
}

/* It may be on any CPU, since the last switch there. */
static int64_t quiet_since(const struct sp_cpu_segments *x)
{
    int64_t t = INT64_MAX;
    for (size_t c = 0; c + 1 < x->marks_first.n; c++)
        if (x->marks_first.v[c + 1] > x->marks_first.v[c] && x->marks.v[x->marks_first.v[c + 1] - 1] < t)
            t = x->marks.v[x->marks_first.v[c + 1] - 1];
    return t;
}

int64_t sp_interval_off_until(const struct sp_cpu_segments *x, const struct sp_interval *i)
{
    if (sp_interval_came_unseen(i) && i->flags & SP_INTERVAL_OPEN) {
        int64_t t = quiet_since(x);
        return t < i->start ? i->start : t > i->end ? i->end : t;
    }
    int32_t cpu = sp_interval_came_unseen(i) ? sp_interval_cpu_then(x, i) : -1;
    if (cpu < 0)
        return sp_interval_came_unseen(i) ? i->start : i->end;
    size_t m = mark_at(x, (size_t)cpu, i->end);
    int64_t seen = m > x->marks_first.v[cpu] ? x->marks.v[m - 1] : i->start;
    return seen > i->start ? seen : i->start;
}

/* ---- segments ---- */

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

/* False: an interval says nothing of a CPU. */
static bool segment_of(const struct sp_intervals *v, const struct sp_cpu_segments *x,
                       const unsigned char *seen, const struct sp_interval *i, struct sp_cpu_segment *out)
{
    bool unseen = sp_interval_came_unseen(i), idle = !v->threads.v[i->thread].tid;
    int32_t cpu = unseen ? sp_interval_cpu_then(x, i) : i->cpu;
    if (cpu < 0 || cpu >= CPUS_MAX ||
        (i->state != SP_RUN_RUNNING && (!unseen || i->flags & SP_INTERVAL_OPEN)))
        return false;
    *out = (struct sp_cpu_segment){.start = i->start,
                                   .end = i->end,
                                   .thread = i->thread,
                                   .cpu = (uint32_t)cpu,
                                   .state = idle ? SP_CPU_IDLE : SP_CPU_RUNS};
    if (unseen) {
        out->start = sp_interval_off_until(x, i);
        out->state = SP_CPU_UNKNOWN;
        out->unseen = true;
        return out->end > out->start;
    }
    /* it has left when the next switch is seen there; where that is not its own, sometime before */
    size_t m = mark_at(x, (size_t)i->cpu, i->start + 1);
    bool other = m < x->marks_first.v[i->cpu + 1] && x->marks.v[m] < out->end;
    if (other)
        out->end = x->marks.v[m];
    out->cut = i->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN);
    if (other || i->flags & (SP_INTERVAL_UNSURE | SP_INTERVAL_AT_MOST) ||
        (i->flags & SP_INTERVAL_OPEN && !seen[i->thread]))
        out->state = SP_CPU_UNKNOWN;
    return out->end > out->start && !(idle && out->state == SP_CPU_UNKNOWN);
}

static int by_cpu(const void *va, const void *vb)
{
    const struct sp_cpu_segment *a = va, *b = vb;
    if (a->cpu != b->cpu)
        return a->cpu < b->cpu ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

bool sp_thread_began_unseen(const struct sp_intervals *v, uint32_t thread)
{
    const struct sp_interval_thread *t = &v->threads.v[thread];
    const struct sp_interval *i = &v->v.v[t->first];
    return t->tid && t->n && i->state != SP_RUN_RUNNING && !(i->flags & SP_INTERVAL_BEFORE) &&
           i->task != SP_TASK_UNKNOWN && i->start != t->start;
}

/* What is first seen of a thread is that it leaves a CPU: it ran there at most since the switch before. */
static bool add_first(struct sp_cpu_segments *x)
{
    const struct sp_intervals *v = x->v_of;
    for (uint32_t k = 0; k < v->threads.n; k++) {
        if (!sp_thread_began_unseen(v, k))
            continue;
        const struct sp_interval *i = &v->v.v[v->threads.v[k].first];
        int32_t cpu = i->state == SP_RUN_BLOCKED ? i->cpu : cpu_at(x, i->start);
        if (cpu < 0 || (size_t)cpu + 1 >= x->marks_first.n)
            continue;
        size_t m = mark_at(x, (size_t)cpu, i->start);
        struct sp_cpu_segment s = {.start = m > x->marks_first.v[cpu] ? x->marks.v[m - 1] : v->begin,
                                   .end = i->start,
                                   .thread = k,
                                   .cpu = (uint32_t)cpu,
                                   .state = SP_CPU_UNKNOWN};
        if (s.end > s.start && !sp_vec_push(&x->v, s))
            return false;
    }
    return true;
}

/*
 * Between two threads that were seen to leave and to come, where all threads are recorded, nothing ran. Where
 * switches are only recorded by those that they are of, the idle task has none.
 */
static bool add_idle(struct sp_cpu_segments *x)
{
    size_t n = x->v.n;
    for (size_t k = 1; x->v_of->all_threads && k < n; k++) {
        struct sp_cpu_segment a = x->v.v[k - 1], b = x->v.v[k];
        if (a.cpu != b.cpu || a.state != SP_CPU_RUNS || b.state != SP_CPU_RUNS || a.end >= b.start ||
            mark_at(x, a.cpu, a.end + 1) != mark_at(x, a.cpu, b.start))
            continue;
        if (!sp_vec_push(
                &x->v,
                ((struct sp_cpu_segment){
                    .start = a.end, .end = b.start, .thread = SP_NONE, .cpu = a.cpu, .state = SP_CPU_IDLE})))
            return false;
    }
    return true;
}

static void sort_segments(struct sp_cpu_segments *x)
{
    if (x->v.n)
        qsort(x->v.v, x->v.n, sizeof *x->v.v, by_cpu);
}

bool sp_cpu_segments_of(const struct sp_intervals *v, struct sp_cpu_segments *out)
{
    size_t cpus = 0;
    *out = (struct sp_cpu_segments){.v_of = v};
    for (size_t i = 0; i < v->v.n; i++)
        if (v->v.v[i].cpu >= 0 && v->v.v[i].cpu < CPUS_MAX && (size_t)v->v.v[i].cpu + 1 > cpus)
            cpus = (size_t)v->v.v[i].cpu + 1;
    unsigned char *seen = seen_leaving(v);
    bool ok = seen && collect_marks(out, cpus);
    for (size_t i = 0; ok && i < v->v.n; i++) {
        struct sp_cpu_segment s;
        if (segment_of(v, out, seen, &v->v.v[i], &s))
            ok = sp_vec_push(&out->v, s);
    }
    free(seen);
    ok = ok && add_first(out);
    if (ok)
        sort_segments(out);
    ok = ok && add_idle(out);
    if (ok)
        sort_segments(out);
    size_t at = 0;
    for (size_t c = 0; ok && c <= cpus; c++) {
        while (at < out->v.n && out->v.v[at].cpu < c)
            at++;
        ok = sp_vec_push(&out->first, at);
    }
    return ok;
}

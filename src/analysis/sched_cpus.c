#include "analysis/sched_cpus.h"

#include "model/interval_until.h"

void sp_cpu_segments_free(struct sp_cpu_segments *x)
{
    sp_vec_free(&x->v);
    sp_vec_free(&x->first);
}

/* ---- segments ---- */

/* False: an interval says nothing of a CPU. */
static bool segment_of(const struct sp_intervals *v, const struct sp_interval *i, struct sp_cpu_segment *out)
{
    bool runs = i->state == SP_RUN_RUNNING, idle = !v->threads.v[i->thread].tid, sure = i->until == i->end;
    bool unseen = sp_interval_came_unseen(i) && !(i->flags & SP_INTERVAL_OPEN);
    int32_t cpu = runs ? i->cpu : unseen ? sp_interval_cpu_then(v, i) : -1;
    if (cpu < 0 || (uint32_t)cpu >= v->cpus || (idle && !sure))
        return false;
    *out = (struct sp_cpu_segment){.start = runs ? i->start : i->until,
                                   .end = i->end,
                                   .thread = i->thread,
                                   .cpu = (uint32_t)cpu,
                                   .state = unseen || !sure ? SP_CPU_UNKNOWN
                                            : idle          ? SP_CPU_IDLE
                                                            : SP_CPU_RUNS,
                                   .cut = runs && i->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN)};
    return out->end > out->start;
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

/* What is first seen of a thread is that it leaves a CPU: it ran there at most since the switch before. */
static bool add_first(struct sp_cpu_segments *x)
{
    const struct sp_intervals *v = x->v_of;
    for (uint32_t k = 0; k < v->threads.n; k++) {
        int64_t left = v->threads.v[k].maybe_ns > 0 ? v->v.v[v->threads.v[k].first].start : 0;
        struct sp_cpu_segment s = {.start = left - v->threads.v[k].maybe_ns,
                                   .end = left,
                                   .thread = k,
                                   .cpu = (uint32_t)sp_thread_first_cpu(v, k),
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
            sp_interval_mark_at(x->v_of, a.cpu, a.end + 1) != sp_interval_mark_at(x->v_of, a.cpu, b.start))
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
    size_t cpus = v->cpus;
    bool ok = true;
    *out = (struct sp_cpu_segments){.v_of = v};
    for (size_t i = 0; ok && i < v->v.n; i++) {
        struct sp_cpu_segment s;
        if (segment_of(v, &v->v.v[i], &s))
            ok = sp_vec_push(&out->v, s);
    }
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

#include "model/intervals.h"

#include "base/watch.h"
#include "model/interval_losses.h"
#include "model/interval_survey.h"
#include "model/interval_take.h"
#include "model/interval_until.h"
#include "model/off_cpu.h"

#include <sys/mman.h>

void sp_intervals_free(struct sp_intervals *v)
{
    sp_vec_free(&v->threads);
    sp_vec_free(&v->marks);
    sp_vec_free(&v->marks_first);
    sp_vec_free(&v->lost);
    if (v->map)
        munmap(v->map, v->mapped);
    *v = (struct sp_intervals){0};
}

bool sp_intervals_can(const struct sp_profile *p)
{
    bool switches = sp_sched_has(p, SP_SCHED_SWITCH) || sp_sched_has(p, SP_SCHED_RECORD);
    return (p->samples || p->switches) && switches && p->sources.n < 2 && sp_off_cpu_own(p) != SP_NONE;
}

static int by_pid(const void *va, const void *vb, void *arg)
{
    const struct sp_interval_thread *t = arg, *a = &t[*(const uint32_t *)va], *b = &t[*(const uint32_t *)vb];
    if (!a->tid != !b->tid)
        return a->tid ? 1 : -1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->cpu != b->cpu)
        return a->cpu < b->cpu ? -1 : 1;
    return *(const uint32_t *)va < *(const uint32_t *)vb ? -1 : 1; /* of one tid as they came */
}

/* Of recordings of some processes, what was seen of others is no part. */
static bool stays(const struct sp_walk *w, uint32_t thread)
{
    return w->out->all_threads || w->now.v[thread].mine;
}

static spaa_status settle(struct sp_walk *w)
{
    struct sp_intervals *out = w->out;
    size_t n = out->threads.n, kept = 0;
    uint32_t *order = calloc(n + 1, sizeof *order), *place = calloc(n + 1, sizeof *place);
    struct sp_interval_thread *threads = malloc((n + 1) * sizeof *threads);
    spaa_status st = order && place && threads ? SPAA_OK : sp_nomem(w->d);
    if (!st) {
        for (uint32_t i = 0; i < n; i++) {
            place[i] = SP_NONE;
            if (stays(w, i))
                order[kept++] = i;
        }
        qsort_r(order, kept, sizeof *order, by_pid, out->threads.v);
        for (uint32_t i = 0; i < kept; i++) {
            place[order[i]] = i;
            threads[i] = out->threads.v[order[i]];
        }
        if (kept)
            memcpy(out->threads.v, threads, kept * sizeof *threads);
        out->threads.n = kept;
        st = sp_interval_list_settle(&w->list, place, out);
    }
    free(order);
    free(place);
    free(threads);
    return st;
}

/* Where a thread left the CPU was not seen: its time is that of a stack all the same. */
static spaa_status give_stacks(struct sp_walk *w)
{
    struct sp_intervals *out = w->out;
    uint32_t made[SP_TASK_UNKNOWN + 1] = {0};
    for (size_t i = 0; i < out->v.n; i++) {
        struct sp_interval *x = &out->v.v[i];
        if (sp_leaving(w->d, i))
            return SPAA_ERR_CANCELLED;
        if (!i || x->thread != x[-1].thread)
            memset(made, 0, sizeof made);
        if (x->state == SP_RUN_RUNNING)
            continue;
        if (x->stack != SP_NONE) {
            out->has_stacks |= w->p->stacks.v[x->stack].n > 0;
            continue;
        }
        enum sp_task_state task =
            x->state == SP_RUN_RUNNABLE ? SP_TASK_RUNNABLE : (enum sp_task_state)x->task;
        if (!made[task]) {
            uint32_t stack = sp_off_cpu_unknown(w->p, &out->threads.v[x->thread], task);
            if (stack == SP_NONE)
                return sp_nomem(w->d);
            made[task] = stack + 1;
        }
        x->stack = made[task] - 1;
    }
    return SPAA_OK;
}

static bool declare_threads(struct sp_walk *w)
{
    for (uint32_t i = 0; i < w->p->threads.n; i++)
        if (w->p->threads.v[i].tid > 0 &&
            !sp_map_add(&w->declared, sp_walk_key(w->p->threads.v[i].tid, -1), i))
            return false;
    for (uint32_t i = 0; i < w->p->processes.n; i++)
        if (w->p->processes.v[i].pid > 0 && w->p->processes.v[i].start_ns != SP_ABSENT &&
            !sp_map_add(&w->begun, sp_walk_key(w->p->processes.v[i].pid, -1), i))
            return false;
    return true;
}

static spaa_status add_cpus(struct sp_walk *w, const struct sp_survey *s)
{
    w->all_begun = INT64_MIN;
    for (size_t i = 0; i < s->cpus.n; i++) {
        const struct sp_survey_cpu *c = &s->cpus.v[i];
        bool gap = c->idle_gap && !c->idle_leaves;
        w->idle_gaps |= gap;
        w->all_begun = c->begin > w->all_begun ? c->begin : w->all_begun;
        if (!sp_walk_add_cpu(w, !gap || c->recorded))
            return sp_nomem(w->d);
    }
    return SPAA_OK;
}

static spaa_status walk(struct sp_walk *w, struct sp_sched_reader *r)
{
    struct sp_survey s = {0};
    struct sp_sample *rows = NULL;
    size_t n = 0;
    struct sp_samples *samples = w->p->samples ? w->p->samples : w->p->switches;
    spaa_status st = sp_samples_sort(samples);
    if (!st)
        st = sp_samples_rows(samples, &rows, &n);
    if (!st) {
        sp_survey_leave_damaged(w->p, &rows, &n);
        st = sp_survey_rows(w, r, rows, n, &s);
    }
    if (!st)
        st = add_cpus(w, &s);
    sp_vec_free(&s.cpus);
    w->switches = s.switches && !s.sampled;
    w->records = r->has[SP_SCHED_RECORD];
    w->wakings = r->has[SP_SCHED_WAKING];
    w->out->sampled = s.sampled;
    w->out->has_waking = w->wakings;
    w->out->has_wakes = w->wakings || r->has[SP_SCHED_WAKEUP];
    /* Where all threads of a CPU are recorded, the one that leaves is the one that came. */
    enum sp_recorded_whom whom = sp_off_cpu_recorded(w->p);
    w->out->all_threads = whom == SP_RECORDED_UNTOLD ? s.idles || (w->switches && s.breaks * 20 <= s.switches)
                                                     : whom != SP_RECORDED_SOME;
    w->out->some_cpus = whom == SP_RECORDED_CPUS;
    if (st || (!w->switches && !r->has[SP_SCHED_RECORD]))
        return st;
    w->off_metric = sp_metric_find(w->p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS));
    sp_survey_ends(w, r, rows, n);
    if (!declare_threads(w))
        return sp_nomem(w->d);
    bool ok = true;
    for (size_t i = 0, k; ok && i < n; i = k) {
        if (sp_leaving(w->d, i))
            return SPAA_ERR_CANCELLED;
        for (k = i + 1; k < n && rows[k].time == rows[i].time;)
            k++;
        ok = sp_walk_take_moment(w, r, rows + i, k - i);
    }
    if (!ok || !sp_walk_end(w))
        return w->failed;
    w->out->cpus = (uint32_t)w->cpus.n;
    sp_interval_losses_settle(w->out);
    st = settle(w);
    if (!st)
        st = give_stacks(w);
    return st || sp_interval_until_find(w->out) ? st : sp_nomem(w->d);
}

spaa_status sp_intervals_of(struct sp_profile *p, struct sp_diags *d, struct sp_intervals *out)
{
    *out = (struct sp_intervals){0};
    if (!sp_intervals_can(p))
        return SPAA_OK;
    if (!sp_off_cpu_know_stacks(p))
        return sp_nomem(d);
    struct sp_walk w = {.p = p, .d = d, .out = out};
    struct sp_sched_reader r;
    spaa_status st = sp_interval_list_begin(&w.list, d);
    if (!st) {
        st = sp_sched_reader_init(&r, p) ? walk(&w, &r) : sp_nomem(d);
        sp_sched_reader_free(&r);
    }
    sp_interval_list_free(&w.list);
    sp_vec_free(&w.now);
    sp_vec_free(&w.exits);
    sp_vec_free(&w.cpus);
    sp_map_free(&w.by_tid);
    sp_map_free(&w.declared);
    sp_map_free(&w.begun);
    for (size_t i = 0; i < sizeof w.off / sizeof *w.off; i++)
        sp_vec_free(&w.off[i]);
    if (st)
        sp_intervals_free(out);
    return st;
}

uint32_t sp_interval_after(const struct sp_intervals *v, uint32_t thread, int64_t t)
{
    const struct sp_interval_thread *x = &v->threads.v[thread];
    uint32_t lo = x->first, hi = x->first + x->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (v->v.v[mid].end > t)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

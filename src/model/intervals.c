#include "model/intervals.h"

#include "base/hash.h"
#include "base/num.h"
#include "base/watch.h"
#include "model/interval_losses.h"
#include "model/interval_until.h"
#include "model/interval_walk.h"
#include "model/off_cpu.h"

#include <sys/mman.h>

enum { CPUS_MAX = 65536 };
#define FAR_NS 1000000000

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

/* ---- a first look: what kind of recording it is ---- */

struct survey_cpu {
    int64_t next;     /* the thread that came last; SP_ABSENT */
    int64_t begin;    /* of its switches; SP_ABSENT */
    bool idle_leaves; /* sched_switch tells that the idle task leaves */
    bool idle_gap;    /* the idle task came, and another thread left next */
    bool recorded;    /* a record of a switch tells that the idle task leaves */
};

struct survey {
    uint64_t switches, breaks; /* breaks: another thread leaves a CPU than came before */
    bool idles;                /* idle tasks leave CPUs: the recording is of CPUs, not of processes */
    bool sampled;              /* not every switch was taken */
    SP_VEC(struct survey_cpu) cpus;
};

static bool has_cpu(const struct sp_sample *x)
{
    return x->cpu >= 0 && x->cpu < CPUS_MAX;
}

/* NULL: out of memory. */
static struct survey_cpu *survey_cpu(struct survey *s, const struct sp_sample *x)
{
    struct survey_cpu none = {.next = SP_ABSENT, .begin = SP_ABSENT};
    while (s->cpus.n <= (size_t)x->cpu)
        if (!sp_vec_push(&s->cpus, none))
            return NULL;
    struct survey_cpu *c = &s->cpus.v[x->cpu];
    if (c->begin == SP_ABSENT && x->flags & SP_SAMPLE_TIME)
        c->begin = x->time;
    return c;
}

static bool survey_switch(struct survey *s, const struct sp_sample *x, const struct sp_sched_event *e)
{
    s->switches++;
    s->sampled |= x->period > 1; /* absent ones and texts are below */
    s->idles |= e->prev == 0;
    if (!has_cpu(x))
        return true;
    struct survey_cpu *c = survey_cpu(s, x);
    if (!c)
        return false;
    c->idle_leaves |= e->prev == 0;
    c->idle_gap |= c->next == 0 && e->prev != 0;
    s->breaks += c->next != SP_ABSENT && c->next != e->prev;
    c->next = e->next;
    return true;
}

static bool survey_record(struct survey *s, const struct sp_sample *x)
{
    s->idles |= x->tid == 0;
    struct survey_cpu *c = has_cpu(x) ? survey_cpu(s, x) : NULL;
    if (c)
        c->recorded |= x->tid == 0;
    return c || !has_cpu(x);
}

static spaa_status survey_rows(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows,
                               size_t n, struct survey *s)
{
    for (size_t i = 0; i < n; i++) {
        enum sp_sched_kind kind = sp_sched_kind(r, &rows[i]);
        if (sp_leaving(w->d, i))
            return SPAA_ERR_CANCELLED;
        if (kind == SP_SCHED_RECORD && !survey_record(s, &rows[i]))
            return sp_nomem(w->d);
        if (kind != SP_SCHED_SWITCH)
            continue;
        const struct sp_sched_event *e = sp_sched_read(r, &rows[i]);
        if (!e || (e->kind == SP_SCHED_SWITCH && !survey_switch(s, &rows[i], e)))
            return sp_nomem(w->d);
    }
    return SPAA_OK;
}

/* From when to when the header says that the recording was; false: it does not. */
static bool header_ends(const struct sp_profile *p, int64_t *start, int64_t *end)
{
    const struct sp_header *h = &p->header;
    struct sp_str a = sp_pstr(p, h->time_start), b = sp_pstr(p, h->time_end);
    return h->time_start && h->time_end && sp_str_is(sp_pstr(p, h->time_unit), "seconds") &&
           sp_seconds_ns(a.p, a.n, start) && sp_seconds_ns(b.p, b.n, end);
}

/* Samples far outside of what the header says have damaged times: the rest. */
static void leave_damaged(const struct sp_profile *p, struct sp_sample **rows, size_t *n)
{
    int64_t start, end;
    if (!header_ends(p, &start, &end) || start > end || start < FAR_NS || end > INT64_MAX - FAR_NS)
        return;
    while (*n && (*rows)[*n - 1].flags & SP_SAMPLE_TIME && (*rows)[*n - 1].time > end + FAR_NS)
        --*n;
    size_t timed = 0; /* those without a time are first, and say nothing */
    while (timed < *n && !((*rows)[timed].flags & SP_SAMPLE_TIME))
        timed++;
    size_t skip = timed;
    while (skip < *n && (*rows)[skip].time < start - FAR_NS)
        skip++;
    *n -= skip > timed ? skip : 0;
    *rows += skip > timed ? skip : 0;
}

/* The last that is recorded of a process may be that its threads exited. */
static int64_t last_exit(const struct sp_profile *p, int64_t end)
{
    int64_t last = end;
    for (size_t i = 0; i < p->threads.n; i++) {
        int64_t exit = p->threads.v[i].exit_ns;
        if (exit != SP_ABSENT && exit > last && exit - end <= FAR_NS)
            last = exit;
    }
    return last;
}

/*
 * The recording lasts as long as its header says, and at least from its first sample to its last. One of all
 * threads begins with the first event of the scheduler: those may be recorded later than what other records
 * tell, that some were lost among them, and nobody knows what threads did before.
 */
static void find_ends(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows, size_t n)
{
    struct sp_intervals *out = w->out;
    int64_t start, end;
    for (size_t i = 0; i < n; i++)
        if (rows[i].flags & SP_SAMPLE_TIME) {
            out->begin = rows[i].time;
            out->end = rows[n - 1].time;
            break;
        }
    out->end = last_exit(w->p, out->end);
    if (!header_ends(w->p, &start, &end))
        return;
    out->begin = start < out->begin ? start : out->begin;
    out->end = end > out->end ? end : out->end;
    for (size_t i = 0; out->all_threads && i < n; i++)
        if (rows[i].flags & SP_SAMPLE_TIME && sp_sched_kind(r, &rows[i]) != SP_SCHED_OTHER &&
            sp_sched_kind(r, &rows[i]) != SP_SCHED_LOST) {
            out->begin = rows[i].time;
            break;
        }
}

/* ---- samples to changes of threads ---- */

static uint32_t thread_of(struct sp_walk *w, int64_t tid, const struct sp_sample *x)
{
    return sp_walk_thread(w, tid, has_cpu(x) ? (int32_t)x->cpu : -1, x->time);
}

/*
 * What happened on the CPU between the last switch and this one was not all recorded. On some machines this
 * is so whenever an idle task leaves its CPU: there it is a gap of the recording, no loss.
 */
static bool check_cpu(struct sp_walk *w, const struct sp_sample *x, uint32_t prev, uint32_t next)
{
    struct sp_walk_cpu *c = &w->cpus.v[x->cpu];
    if (c->lost)
        w->now.v[prev].unsure = w->now.v[next].unsure = true;
    c->lost = false;
    if (c->last == SP_ABSENT || c->current == prev)
        return true;
    struct sp_walk_now *left = &w->now.v[c->current];
    bool idle = !w->out->threads.v[c->current].tid, gap = idle && !c->idle_leaves;
    w->out->unseen += w->out->all_threads && gap;
    w->out->contradictions += w->out->all_threads && idle && !gap;
    left->missed += !idle;
    return left->where != SP_WALK_ON || left->cpu != (int32_t)x->cpu ||
           sp_walk_gone(w, c->current, c->last, sp_walk_ran_at(w, prev, x->time, (int32_t)x->cpu));
}

static bool take_switch(struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    if (!has_cpu(x))
        return true;
    int32_t cpu = (int32_t)x->cpu;
    uint32_t prev = thread_of(w, e->prev, x), next = thread_of(w, e->next, x);
    /* A thread that exits has no tid any more where its sample is taken. */
    bool its_own = e->prev && e->state != SP_TASK_DEAD && x->tid == e->prev;
    if (prev == SP_NONE || next == SP_NONE)
        return false;
    struct sp_interval_thread *t = w->out->threads.v;
    if (e->prev_comm && its_own && x->stack != SP_NONE) {
        uint32_t recorded = w->p->contexts.v[w->p->stacks.v[x->stack].context].comm;
        t[prev].stale = recorded != e->prev_comm ? recorded : SP_STR_NONE;
    }
    t[prev].comm = e->prev_comm ? e->prev_comm : t[prev].comm;
    t[next].comm = e->next_comm ? e->next_comm : t[next].comm;
    if (x->pid >= 0 && x->tid == e->prev)
        t[prev].pid = x->pid;
    bool ok = check_cpu(w, x, prev, next) &&
              sp_walk_off(w, prev, x->time, cpu, e->state, its_own ? x->stack : SP_NONE) &&
              sp_walk_on(w, next, x->time, cpu);
    w->cpus.v[cpu].told = true;
    return ok;
}

/*
 * A thread that exits has no tid any more where it leaves its CPU for the last time: it is the one that is
 * there. After sched_switch told of it already, that is the next one, which stays.
 */
static bool take_last_leaving(struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    uint32_t thread = e->in || !has_cpu(x) ? SP_NONE : w->cpus.v[x->cpu].current;
    const struct sp_interval_thread *t = thread == SP_NONE ? NULL : &w->out->threads.v[thread];
    const struct sp_walk_now *n = thread == SP_NONE ? NULL : &w->now.v[thread];
    if (!t || w->cpus.v[x->cpu].told || !t->tid || n->where != SP_WALK_ON || n->cpu != (int32_t)x->cpu)
        return true;
    bool exits = w->exits.v[thread] != SP_ABSENT && w->exits.v[thread] <= x->time;
    if ((x->pid > 0 && t->pid != x->pid) || (w->switches && !exits))
        return true;
    enum sp_task_state task = e->state == SP_TASK_RUNNABLE ? e->state : SP_TASK_DEAD;
    return sp_walk_off(w, thread, x->time, (int32_t)x->cpu, task, SP_NONE);
}

/* Where there is sched_switch, these tell of what it does not: that a thread comes whose coming is missing.
 */
static bool take_record(struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    int32_t cpu = has_cpu(x) ? (int32_t)x->cpu : -1;
    if (e->in && cpu >= 0)
        w->cpus.v[cpu].told = false;
    if (x->tid < 0)
        return take_last_leaving(w, x, e);
    if (!x->tid && cpu < 0)
        return true;
    uint32_t thread = thread_of(w, x->tid, x);
    if (thread == SP_NONE)
        return false;
    enum sp_walk_where is = e->in ? SP_WALK_ON : SP_WALK_OFF;
    struct sp_walk_now *n = &w->now.v[thread];
    n->mine = true;
    if (w->switches && n->where == is)
        return true;
    if (!e->in)
        return sp_walk_off(w, thread, x->time, cpu, e->state, SP_NONE);
    return sp_walk_on(w, thread, x->time, cpu);
}

/*
 * What was lost comes after the last event of that CPU. After it, until a switch tells who leaves the CPU, it
 * is not known who is there: what is lost again before that is one loss with this.
 */
static bool take_loss(struct sp_walk *w, const struct sp_sample *x)
{
    struct sp_interval_loss loss = {.from = w->out->begin, .to = x->time};
    w->out->contradictions++;
    w->out->losses++;
    for (size_t i = 0; i < w->cpus.n; i++) {
        struct sp_walk_cpu *c = &w->cpus.v[i];
        if (has_cpu(x) && (size_t)x->cpu != i)
            continue;
        if (!c->lost)
            c->lost_from = c->heard != SP_ABSENT ? c->heard : w->out->begin;
        c->lost = true;
        loss.from = c->lost_from;
        if (loss.from < loss.to && !sp_vec_push(&w->out->lost, loss))
            return false;
    }
    return w->cpus.n || loss.from >= loss.to || sp_vec_push(&w->out->lost, loss);
}

/* By another thread than the one that began the program, which gets the tid of that. */
static bool take_exec(struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    int32_t cpu = (int32_t)x->cpu;
    if (!has_cpu(x) || e->prev <= 0 || e->prev == e->target)
        return true;
    uint32_t old = thread_of(w, e->prev, x);
    if (old == SP_NONE || !sp_walk_off(w, old, x->time, cpu, SP_TASK_DEAD, SP_NONE))
        return false;
    uint32_t now = thread_of(w, e->target, x);
    if (now == SP_NONE)
        return false;
    sp_walk_born(w, now, x->time);
    w->cpus.v[cpu].current = now;
    return sp_walk_on(w, now, x->time, cpu);
}

static bool take_wake(struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    uint32_t thread = thread_of(w, e->target, x), waker = SP_NONE;
    if (thread == SP_NONE)
        return false;
    if (e->next_comm)
        w->out->threads.v[thread].comm = e->next_comm;
    if (e->kind == SP_SCHED_WAKEUP_NEW || e->kind == SP_SCHED_FORK) {
        sp_walk_born(w, thread, x->time);
        return true;
    }
    if (x->tid > 0 || (!x->tid && has_cpu(x))) {
        waker = thread_of(w, x->tid, x);
        if (waker == SP_NONE)
            return false;
    }
    w->out->has_waker_stacks |= x->stack != SP_NONE && w->p->stacks.v[x->stack].n > 1;
    sp_walk_woken(w, thread, x->time, waker, x->stack);
    return true;
}

static bool take_kind(struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    switch (e->kind) {
    case SP_SCHED_SWITCH:
        return !w->switches || take_switch(w, x, e);
    case SP_SCHED_RECORD:
        return take_record(w, x, e);
    case SP_SCHED_LOST:
        if (take_loss(w, x))
            return true;
        w->failed = sp_nomem(w->d);
        return false;
    case SP_SCHED_EXEC:
        return take_exec(w, x, e);
    case SP_SCHED_WAKEUP:
        return w->wakings || take_wake(w, x, e);
    case SP_SCHED_WAKING:
    case SP_SCHED_WAKEUP_NEW:
    case SP_SCHED_FORK:
        return take_wake(w, x, e);
    default:
        return true;
    }
}

static bool add_cpu(struct sp_walk *w, bool idle_leaves)
{
    struct sp_walk_cpu none = {
        .last = SP_ABSENT, .heard = SP_ABSENT, .current = SP_NONE, .idle_leaves = idle_leaves};
    return sp_vec_push(&w->cpus, none);
}

/*
 * A thread exits and leaves its CPU for the last time, of which sched_switch told: the record that says the
 * same comes when no thread has its tid.
 */
static bool is_last_record(const struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    return e->kind == SP_SCHED_RECORD && !e->in && x->tid > 0 && has_cpu(x) && w->cpus.v[x->cpu].told &&
           sp_walk_is_over(w, x->tid);
}

/* A sample is of a thread that runs; those that are time off the CPU were made of what was recorded. */
static bool is_recorded(const struct sp_walk *w, const struct sp_sample *x)
{
    return x->event < w->p->events.n && w->p->events.v[x->event].primary != w->off_metric;
}

static bool take(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *x)
{
    if (!(x->flags & SP_SAMPLE_TIME))
        return true;
    while (has_cpu(x) && w->cpus.n <= (size_t)x->cpu)
        if (!add_cpu(w, true)) {
            w->failed = sp_nomem(w->d);
            return false;
        }
    const struct sp_sched_event *said = sp_sched_read(r, x);
    if (!said) {
        w->failed = sp_nomem(w->d);
        return false;
    }
    struct sp_sched_event e = *said;
    if (is_last_record(w, x, &e))
        return true;
    if (x->tid > 0 && is_recorded(w, x)) {
        uint32_t thread = thread_of(w, x->tid, x);
        if (thread == SP_NONE)
            return false;
        sp_walk_seen(w, thread, x->time);
    }
    if (!take_kind(w, x, &e))
        return false;
    if (has_cpu(x) && is_recorded(w, x))
        w->cpus.v[x->cpu].heard = x->time;
    return true;
}

/* A record of losses stands before the event for which there was room again, and has its time. */
static bool take_moment(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows, size_t n)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        if (sp_sched_kind(r, &rows[i]) == SP_SCHED_LOST)
            ok = take(w, r, &rows[i]);
    for (size_t i = 0; ok && i < n; i++)
        if (sp_sched_kind(r, &rows[i]) != SP_SCHED_LOST)
            ok = take(w, r, &rows[i]);
    return ok;
}

/* ---- threads and intervals, in order ---- */

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

static spaa_status add_cpus(struct sp_walk *w, const struct survey *s)
{
    w->all_begun = INT64_MIN;
    for (size_t i = 0; i < s->cpus.n; i++) {
        const struct survey_cpu *c = &s->cpus.v[i];
        bool gap = c->idle_gap && !c->idle_leaves;
        w->idle_gaps |= gap;
        w->all_begun = c->begin > w->all_begun ? c->begin : w->all_begun;
        if (!add_cpu(w, !gap || c->recorded))
            return sp_nomem(w->d);
    }
    return SPAA_OK;
}

static spaa_status walk(struct sp_walk *w, struct sp_sched_reader *r)
{
    struct survey s = {0};
    struct sp_sample *rows = NULL;
    size_t n = 0;
    struct sp_samples *samples = w->p->samples ? w->p->samples : w->p->switches;
    spaa_status st = sp_samples_sort(samples);
    if (!st)
        st = sp_samples_rows(samples, &rows, &n);
    if (!st) {
        leave_damaged(w->p, &rows, &n);
        st = survey_rows(w, r, rows, n, &s);
    }
    if (!st)
        st = add_cpus(w, &s);
    sp_vec_free(&s.cpus);
    w->switches = s.switches && !s.sampled;
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
    find_ends(w, r, rows, n);
    if (!declare_threads(w))
        return sp_nomem(w->d);
    bool ok = true;
    for (size_t i = 0, k; ok && i < n; i = k) {
        if (sp_leaving(w->d, i))
            return SPAA_ERR_CANCELLED;
        for (k = i + 1; k < n && rows[k].time == rows[i].time;)
            k++;
        ok = take_moment(w, r, rows + i, k - i);
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

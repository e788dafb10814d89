/* Events of the scheduler to changes of threads and CPUs. */
#include "model/interval_take.h"

static uint32_t thread_of(struct sp_walk *w, int64_t tid, const struct sp_sample *x)
{
    return sp_walk_thread(w, tid, sp_walk_has_cpu(x) ? (int32_t)x->cpu : -1, x->time);
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
    if (!sp_walk_has_cpu(x))
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
    w->cpus.v[cpu].told = w->now.v[prev].told = true;
    return ok;
}

/*
 * A thread that exits has no tid any more where it leaves its CPU for the last time: it is the one that is
 * there. After sched_switch told of it already, that is the next one, which stays.
 */
static bool take_last_leaving(struct sp_walk *w, const struct sp_sample *x, const struct sp_sched_event *e)
{
    uint32_t thread = e->in || !sp_walk_has_cpu(x) ? SP_NONE : w->cpus.v[x->cpu].current;
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
    int32_t cpu = sp_walk_has_cpu(x) ? (int32_t)x->cpu : -1;
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
        if (sp_walk_has_cpu(x) && (size_t)x->cpu != i)
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
    if (!sp_walk_has_cpu(x) || e->prev <= 0 || e->prev == e->target)
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
    if (x->tid > 0 || (!x->tid && sp_walk_has_cpu(x))) {
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

bool sp_walk_add_cpu(struct sp_walk *w, bool idle_leaves)
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
    return e->kind == SP_SCHED_RECORD && !e->in && x->tid > 0 && sp_walk_has_cpu(x) &&
           w->cpus.v[x->cpu].told && sp_walk_is_over(w, x->tid);
}

/* A sample is of a thread that runs; those that are time off the CPU were made of what was recorded. */
static bool is_recorded(const struct sp_walk *w, const struct sp_sample *x)
{
    return x->event < w->p->events.n && w->p->events.v[x->event].primary != w->off_metric;
}

/*
 * The record of a switch, or of losses before it, that comes after sched_switch told of the same: the thread
 * leaves still, however long that takes, and did not come back.
 */
static bool is_leaving(struct sp_walk *w, const struct sp_sched_event *e, uint32_t thread)
{
    struct sp_walk_now *n = &w->now.v[thread];
    if ((e->kind != SP_SCHED_LOST && (e->kind != SP_SCHED_RECORD || e->in)) || n->where != SP_WALK_OFF ||
        !n->told)
        return false;
    n->told = e->kind == SP_SCHED_LOST;
    return true;
}

static bool take(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *x)
{
    if (!(x->flags & SP_SAMPLE_TIME))
        return true;
    while (sp_walk_has_cpu(x) && w->cpus.n <= (size_t)x->cpu)
        if (!sp_walk_add_cpu(w, true)) {
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
        if (!is_leaving(w, &e, thread))
            sp_walk_seen(w, thread, x->time);
    }
    if (!take_kind(w, x, &e))
        return false;
    if (sp_walk_has_cpu(x) && is_recorded(w, x))
        w->cpus.v[x->cpu].heard = x->time;
    return true;
}

/* A record of losses stands before the event for which there was room again, and has its time. */
bool sp_walk_take_moment(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows, size_t n)
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

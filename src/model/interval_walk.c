#include "model/interval_walk.h"

#include "base/hash.h"
#include "model/off_cpu.h"

/* An interrupt between the event and the switch itself still finds the thread that leaves: no sign of its
 * return. */
#define LEAVING_NS 10000

/* ---- threads ---- */

/* The idle tasks all have tid 0, one for each CPU. */
uint64_t sp_walk_key(int64_t tid, int32_t cpu)
{
    return tid ? sp_hash_mix((uint64_t)tid, 11) : sp_hash_mix((uint64_t)(uint32_t)cpu, 13);
}

/* What the profile says of the thread that has this tid now; SP_NONE: nothing. */
static uint32_t declared_of(const struct sp_walk *w, int64_t tid, int64_t t)
{
    struct sp_probe at = sp_map_probe(&w->declared, sp_walk_key(tid, -1));
    uint32_t best = SP_NONE;
    const struct sp_thread *all = w->p->threads.v;
    for (uint32_t i; (i = sp_map_next(&w->declared, &at)) != SP_MAP_NONE;) {
        if (all[i].tid != tid || (all[i].start_ns != SP_ABSENT && all[i].start_ns > t))
            continue;
        if (best == SP_NONE || all[i].start_ns > all[best].start_ns)
            best = i;
    }
    return best;
}

/* The process whose main thread this is at t, as a number may be used again; NULL: it began unseen. */
static const struct sp_process_fact *process_of(const struct sp_walk *w, int64_t tid, int64_t t)
{
    struct sp_probe at = sp_map_probe(&w->begun, sp_walk_key(tid, -1));
    const struct sp_process_fact *best = NULL;
    for (uint32_t i; (i = sp_map_next(&w->begun, &at)) != SP_MAP_NONE;) {
        const struct sp_process_fact *x = &w->p->processes.v[i];
        if (x->pid == tid && x->start_ns <= t && (!best || x->start_ns > best->start_ns))
            best = x;
    }
    return best;
}

/* When the last one was over that had this tid; SP_ABSENT: there was none. */
static int64_t over_at(const struct sp_walk *w, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&w->by_tid, sp_walk_key(tid, -1));
    int64_t last = SP_ABSENT;
    for (uint32_t i; (i = sp_map_next(&w->by_tid, &at)) != SP_MAP_NONE;) {
        int64_t over = w->now.v[i].since > w->exits.v[i] ? w->now.v[i].since : w->exits.v[i];
        if (w->out->threads.v[i].tid == tid && over > last)
            last = over;
    }
    return last;
}

static uint32_t add_thread(struct sp_walk *w, int64_t tid, int32_t cpu, int64_t t)
{
    struct sp_interval_thread x = {
        .pid = tid ? SP_ABSENT : 0, .tid = tid, .cpu = tid ? -1 : cpu, .start = SP_ABSENT};
    struct sp_walk_now now = {.woken = SP_ABSENT,
                              .not_before = tid ? over_at(w, tid) : SP_ABSENT,
                              .early = SP_ABSENT,
                              .seen = SP_ABSENT,
                              .stack = SP_NONE,
                              .waker = SP_NONE,
                              .waker_stack = SP_NONE,
                              .cpu = -1,
                              .task = SP_TASK_UNKNOWN};
    uint32_t said = tid ? declared_of(w, tid, t) : SP_NONE;
    int64_t exit = SP_ABSENT;
    if (said != SP_NONE) {
        const struct sp_thread *from = &w->p->threads.v[said];
        bool unknown = strstr(sp_pstr(w->p, from->extra_json).p, "\"x_pid_unknown\":true");
        x.pid = unknown ? SP_ABSENT : from->pid;
        x.comm = from->comm;
        x.start = from->start_ns > w->out->begin ? from->start_ns : SP_ABSENT;
        exit = from->exit_ns;
    }
    const struct sp_process_fact *process = tid ? process_of(w, tid, t) : NULL;
    if (process && x.start == SP_ABSENT && exit == SP_ABSENT) {
        x.start = process->start_ns > w->out->begin ? process->start_ns : SP_ABSENT;
        exit = process->exit_ns;
    }
    size_t n = w->out->threads.n;
    if (n >= SP_NONE - 1 || !sp_vec_push(&w->now, now) || !sp_vec_push(&w->exits, exit) ||
        !sp_vec_push(&w->out->threads, x) || !sp_map_add(&w->by_tid, sp_walk_key(tid, cpu), (uint32_t)n)) {
        w->failed = sp_nomem(w->d);
        return SP_NONE;
    }
    return (uint32_t)n;
}

/* A thread that exits runs on for a while, and may be put off its CPU: no other has its tid as long as none
 * began. */
static bool may_be_back(const struct sp_walk *w, uint32_t thread, int64_t t)
{
    int64_t tid = w->out->threads.v[thread].tid, exit = w->exits.v[thread];
    uint32_t said = declared_of(w, tid, t);
    const struct sp_process_fact *process = process_of(w, tid, t);
    return w->now.v[thread].maybe_over && ((said != SP_NONE && w->p->threads.v[said].exit_ns == exit) ||
                                           (process && process->exit_ns == exit));
}

uint32_t sp_walk_thread(struct sp_walk *w, int64_t tid, int32_t cpu, int64_t t)
{
    struct sp_probe at = sp_map_probe(&w->by_tid, sp_walk_key(tid, cpu));
    for (uint32_t i; (i = sp_map_next(&w->by_tid, &at)) != SP_MAP_NONE;) {
        const struct sp_interval_thread *x = &w->out->threads.v[i];
        if (x->tid == tid && (tid || x->cpu == cpu) &&
            (!x->exited || may_be_back(w, i, t))) /* a tid may be used again */
            return i;
    }
    return add_thread(w, tid, cpu, t);
}

bool sp_walk_is_over(const struct sp_walk *w, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&w->by_tid, sp_walk_key(tid, -1));
    bool over = false;
    for (uint32_t i; (i = sp_map_next(&w->by_tid, &at)) != SP_MAP_NONE;) {
        const struct sp_interval_thread *x = &w->out->threads.v[i];
        if (x->tid == tid && !x->exited)
            return false;
        over |= x->tid == tid;
    }
    return over;
}

/* ---- intervals ---- */

/* The stack of off-cpu for that of a switch. */
static bool off_stack(struct sp_walk *w, uint32_t stack, enum sp_task_state task, uint32_t *out)
{
    size_t had = w->off[task].n;
    if (stack >= had) {
        if (!sp_vec_reserve(&w->off[task], (size_t)stack + 1))
            return false;
        memset(w->off[task].v + had, 0, (stack + 1 - had) * sizeof *w->off[task].v);
        w->off[task].n = (size_t)stack + 1;
    }
    uint32_t *known = &w->off[task].v[stack];
    bool is_new;
    if (!*known) {
        uint32_t made = sp_off_cpu_stack(w->p, stack, task, &is_new);
        if (made == SP_NONE)
            return false;
        *known = made + 1;
    }
    *out = *known - 1;
    return true;
}

/* i.stack is that of the switch; SP_NONE: it was not seen, and gets one of [unknown] when the thread is
 * known. */
static bool push(struct sp_walk *w, uint32_t thread, struct sp_interval i)
{
    i.thread = thread;
    if (i.end < i.start) {
        w->out->contradictions++;
        return true;
    }
    if (i.end == i.start)
        return true;
    enum sp_task_state task = i.state == SP_RUN_RUNNABLE ? SP_TASK_RUNNABLE : (enum sp_task_state)i.task;
    if (i.stack != SP_NONE && !off_stack(w, i.stack, task, &i.stack)) {
        w->failed = sp_nomem(w->d);
        return false;
    }
    w->failed = sp_interval_list_add(&w->list, &i);
    return !w->failed;
}

static struct sp_interval nothing_yet(void)
{
    return (struct sp_interval){
        .stack = SP_NONE, .waker = SP_NONE, .waker_stack = SP_NONE, .cpu = -1, .task = SP_TASK_UNKNOWN};
}

static bool push_running(struct sp_walk *w, uint32_t thread, int64_t end, unsigned flags)
{
    const struct sp_walk_now *n = &w->now.v[thread];
    struct sp_interval i = nothing_yet();
    i.start = n->since;
    i.end = end;
    i.cpu = n->cpu;
    i.state = SP_RUN_RUNNING;
    i.flags = (uint8_t)(flags | (n->unsure ? SP_INTERVAL_UNSURE : 0));
    return push(w, thread, i);
}

/*
 * The time off the CPU of a thread that left it, up to `end`, when it came onto `cpu`: waiting until it was
 * woken, then for a CPU. flags: of its last part.
 *
 * A waking may come before the switch that it ends: the thread is off its run queue then, but not yet off the
 * CPU. Where all wakings are recorded and none followed, it was that one.
 */
static bool push_off(struct sp_walk *w, uint32_t thread, int64_t end, int32_t cpu, unsigned flags)
{
    const struct sp_walk_now *n = &w->now.v[thread];
    struct sp_interval i = nothing_yet();
    bool early = n->woken == SP_ABSENT && n->early != SP_ABSENT && w->out->all_threads;
    int64_t ready = n->ready || early ? n->since : n->woken;
    unsigned unsure = n->unsure ? SP_INTERVAL_UNSURE : 0;
    bool woken = n->ready || ready != SP_ABSENT;
    if (ready > end)
        ready = end; /* clocks of CPUs differ */
    i.stack = n->stack;
    i.task = n->task;
    i.start = n->since;
    if (!n->ready) {
        i.state = SP_RUN_BLOCKED;
        i.end = woken ? ready : end;
        i.cpu = n->cpu;
        i.flags = (uint8_t)(unsure | (woken ? 0 : SP_INTERVAL_NO_WAKE | flags));
        i.waker = early ? n->early_waker : n->waker;
        i.waker_stack = early ? n->early_stack : n->waker_stack;
        if (!push(w, thread, i))
            return false;
    }
    if (!woken)
        return true;
    i.waker = i.waker_stack = SP_NONE;
    i.state = SP_RUN_RUNNABLE;
    i.start = ready;
    i.end = end;
    i.cpu = cpu;
    i.flags = (uint8_t)(unsure | flags | (n->ready && !n->is_new ? SP_INTERVAL_PREEMPTED : 0));
    return push(w, thread, i);
}

/*
 * That a thread which is new had not run before it is first seen: it began when all CPUs were recorded, and
 * neither ran unseen since nor was woken, which is done to those that ran and wait.
 */
static bool is_unborn(const struct sp_walk *w, uint32_t thread, int64_t t)
{
    const struct sp_walk_now *n = &w->now.v[thread];
    return w->out->threads.v[thread].start >= w->all_begun && n->woken == SP_ABSENT &&
           (n->seen == SP_ABSENT || n->seen >= t);
}

/*
 * A thread that comes onto a CPU for the first time was off it since the recording began, or since its own
 * begin. Why is known only of one that was woken, and of one that is new: that waits for a CPU.
 */
static bool push_first(struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu, unsigned flags)
{
    struct sp_walk_now *n = &w->now.v[thread];
    const struct sp_interval_thread *th = &w->out->threads.v[thread];
    bool born = th->start != SP_ABSENT;
    struct sp_interval i = nothing_yet();
    bool is_new = born && is_unborn(w, thread, t);
    i.start = born ? th->start : n->not_before != SP_ABSENT ? n->not_before : w->out->begin;
    i.state = is_new ? SP_RUN_RUNNABLE : SP_RUN_BLOCKED;
    i.flags = is_new ? 0 : SP_INTERVAL_BEFORE;
    if (n->woken != SP_ABSENT) {
        i.end = n->woken;
        i.waker = n->waker;
        i.waker_stack = n->waker_stack;
        if (!push(w, thread, i))
            return false;
        i = nothing_yet();
        i.start = n->woken;
        i.state = SP_RUN_RUNNABLE;
    } else if (!is_new) {
        i.flags |= SP_INTERVAL_NO_WAKE;
    }
    i.end = t;
    i.cpu = cpu;
    i.flags = (uint8_t)(i.flags | flags);
    return push(w, thread, i);
}

/* ---- a thread's changes ---- */

static struct sp_walk_now fresh(const struct sp_walk_now *was, enum sp_walk_where where, int64_t t,
                                int32_t cpu)
{
    return (struct sp_walk_now){.since = t,
                                .woken = SP_ABSENT,
                                .not_before = SP_ABSENT,
                                .early = SP_ABSENT,
                                .seen = SP_ABSENT,
                                .stack = SP_NONE,
                                .waker = SP_NONE,
                                .waker_stack = SP_NONE,
                                .cpu = cpu,
                                .last_cpu = was->last_cpu,
                                .where = where,
                                .mine = was->mine,
                                .left = was->left,
                                .missed = was->missed,
                                .task = SP_TASK_UNKNOWN};
}

/*
 * It exited while it ran, before t, and that it left its CPU is not recorded: as much as is known it ran
 * until then.
 */
static bool has_exited(const struct sp_walk *w, uint32_t thread, int64_t t)
{
    const struct sp_walk_now *n = &w->now.v[thread];
    int64_t exit = w->exits.v[thread];
    return n->where == SP_WALK_ON && exit != SP_ABSENT && exit >= n->since && exit <= t;
}

static bool push_exit(struct sp_walk *w, uint32_t thread)
{
    struct sp_walk_now *n = &w->now.v[thread];
    bool ok = push_running(w, thread, w->exits.v[thread], 0);
    *n = fresh(n, SP_WALK_OFF, w->exits.v[thread], n->cpu);
    n->task = SP_TASK_DEAD;
    n->maybe_over = true;
    w->out->threads.v[thread].exited = true;
    return ok;
}

/* It was seen again after the record of its exit: how it left its CPU in between is not known. */
static void come_back(struct sp_walk *w, uint32_t thread)
{
    struct sp_walk_now *n = &w->now.v[thread];
    if (!n->maybe_over)
        return;
    w->out->threads.v[thread].exited = n->maybe_over = false;
    n->task = SP_TASK_UNKNOWN;
    n->unsure = true;
}

/*
 * Two threads never run on one CPU: the one that is taken to be there, whose leaving was not recorded, had
 * left at the latest when another one is seen to come.
 */
static bool vacate(struct sp_walk *w, uint32_t comes, int64_t t, int32_t cpu)
{
    uint32_t there = cpu < 0 ? SP_NONE : w->cpus.v[cpu].current;
    struct sp_walk_now *n = there == SP_NONE || there == comes ? NULL : &w->now.v[there];
    if (!n || n->where != SP_WALK_ON || n->cpu != cpu)
        return true;
    if (!w->out->all_threads && !n->mine)
        return sp_walk_gone(w, there, n->since, t);
    if (has_exited(w, there, t))
        return push_exit(w, there);
    /* Of an idle task that is no contradiction: a CPU was idle until another thread came. */
    bool idle = !w->out->threads.v[there].tid;
    if (!push_running(w, there, t, idle ? 0 : SP_INTERVAL_AT_MOST | SP_INTERVAL_UNSURE))
        return false;
    n->missed += !idle;
    *n = fresh(n, SP_WALK_OFF, t, cpu);
    n->unsure = true;
    return true;
}

bool sp_walk_on(struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu)
{
    struct sp_walk_now *n = &w->now.v[thread];
    struct sp_interval_thread *th = &w->out->threads.v[thread];
    come_back(w, thread);
    bool ok = vacate(w, thread, t, cpu), unsure = false;
    if (!ok)
        return false;
    if (cpu >= 0) {
        w->cpus.v[cpu].last = t;
        w->cpus.v[cpu].current = thread;
    }
    th->switches++;
    th->migrations += n->last_cpu > 0 && cpu >= 0 && n->last_cpu - 1 != cpu;
    n->last_cpu = cpu >= 0 ? cpu + 1 : n->last_cpu;
    if (n->where == SP_WALK_ON) { /* its leaving was lost, or comes later by a clock that is behind */
        unsure = true;
        w->out->contradictions++;
        ok = push_running(w, thread, t, SP_INTERVAL_UNSURE);
    } else if (th->tid && n->where == SP_WALK_OFF) {
        ok = push_off(w, thread, t, cpu, 0);
    } else if (th->tid && (w->out->all_threads || n->mine)) {
        ok = push_first(w, thread, t, cpu, 0);
    }
    *n = fresh(n, SP_WALK_ON, t, cpu);
    n->unsure = unsure;
    return ok;
}

int64_t sp_walk_ran_at(const struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu)
{
    int64_t seen = w->now.v[thread].seen, last = cpu >= 0 ? w->cpus.v[cpu].last : SP_ABSENT;
    return seen == SP_ABSENT || (last != SP_ABSENT && seen < last) ? t : seen;
}

/* Woken when it had come back unseen: what ended before it came was not ended by that, but what follows may
 * be, as of one that is woken while it still runs. */
static struct sp_walk_now woken_while_on(struct sp_walk_now *n, int64_t came)
{
    struct sp_walk_now early = {.early = SP_ABSENT, .early_waker = SP_NONE, .early_stack = SP_NONE};
    if (n->where == SP_WALK_OFF && n->woken != SP_ABSENT && n->woken > came) {
        early.early = n->woken;
        early.early_waker = n->waker;
        early.early_stack = n->waker_stack;
        n->woken = SP_ABSENT;
        n->waker = n->waker_stack = SP_NONE;
    }
    return early;
}

/*
 * A thread leaves a CPU and was not seen to come onto it: it ran at the latest when something was sampled in
 * it, else that it ran at t is all that is known. What ran first on a CPU ran there since the recording
 * began.
 */
static bool came_unseen(struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu)
{
    struct sp_walk_now *n = &w->now.v[thread];
    const struct sp_interval_thread *th = &w->out->threads.v[thread];
    const struct sp_walk_cpu *c = cpu >= 0 ? &w->cpus.v[cpu] : NULL;
    bool first = n->where == SP_WALK_NOT_SEEN && w->out->all_threads && (!c || c->last == SP_ABSENT) &&
                 (!c || c->idle_leaves || !w->switches);
    int64_t start = sp_walk_ran_at(w, thread, t, cpu);
    unsigned flags = SP_INTERVAL_BEFORE;
    struct sp_walk_now woken = woken_while_on(n, start);
    bool ok = true;
    if (first && th->start == SP_ABSENT)
        start = w->out->begin;
    else if (w->out->all_threads)
        flags |= SP_INTERVAL_UNSURE;
    if (n->where == SP_WALK_OFF && th->tid)
        ok = push_off(w, thread, start, cpu,
                      SP_INTERVAL_AT_MOST | (w->out->all_threads ? SP_INTERVAL_UNSURE : 0u));
    *n = fresh(n, SP_WALK_ON, start, cpu);
    n->early = woken.early;
    n->early_waker = woken.early_waker;
    n->early_stack = woken.early_stack;
    return ok && push_running(w, thread, t, flags);
}

bool sp_walk_off(struct sp_walk *w, uint32_t thread, int64_t t, int32_t cpu, enum sp_task_state task,
                 uint32_t stack)
{
    struct sp_walk_now *n = &w->now.v[thread];
    struct sp_interval_thread *th = &w->out->threads.v[thread];
    bool ok = true, maybe_over = false;
    come_back(w, thread);
    if (n->where == SP_WALK_ON && n->cpu >= 0 && cpu >= 0 && n->cpu != cpu) {
        w->out->contradictions++;
        /* It came onto another CPU before, by a clock that is behind: this leaving belongs before that. */
        n->unsure = true;
        if (w->cpus.v[cpu].current == thread)
            return true;
        if (!sp_walk_gone(w, thread, n->since, t))
            return false;
    }
    ok = n->where == SP_WALK_ON ? push_running(w, thread, t, 0) : came_unseen(w, thread, t, cpu);
    if (task == SP_TASK_UNKNOWN && w->exits.v[thread] != SP_ABSENT && t >= w->exits.v[thread]) {
        task = SP_TASK_DEAD;
        maybe_over = true;
    }
    if (task == SP_TASK_DEAD)
        th->exited = true;
    struct sp_walk_now was = *n;
    *n = fresh(n, SP_WALK_OFF, t, cpu);
    n->last_cpu = cpu >= 0 ? cpu + 1 : n->last_cpu;
    n->mine = n->left = true;
    n->maybe_over = maybe_over;
    n->stack = stack;
    n->task = (uint8_t)task;
    n->ready = task == SP_TASK_RUNNABLE;
    if (!n->ready) {
        n->early = was.early;
        n->early_waker = was.early_waker;
        n->early_stack = was.early_stack;
    }
    return ok;
}

void sp_walk_born(struct sp_walk *w, uint32_t thread, int64_t t)
{
    struct sp_walk_now *n = &w->now.v[thread];
    if (n->where != SP_WALK_NOT_SEEN && !n->is_new)
        return;
    *n = fresh(n, SP_WALK_OFF, t, -1);
    n->ready = n->is_new = true;
    w->out->threads.v[thread].start = t;
}

void sp_walk_woken(struct sp_walk *w, uint32_t thread, int64_t t, uint32_t waker, uint32_t stack)
{
    struct sp_walk_now *n = &w->now.v[thread];
    if (n->where == SP_WALK_ON) {
        n->early = t;
        n->early_waker = waker;
        n->early_stack = stack;
    } else if (n->woken == SP_ABSENT) {
        n->woken = t;
        n->waker = waker;
        n->waker_stack = stack;
    }
}

bool sp_walk_gone(struct sp_walk *w, uint32_t thread, int64_t t, int64_t until)
{
    struct sp_walk_now *n = &w->now.v[thread];
    bool ok = true;
    if (has_exited(w, thread, until))
        return push_exit(w, thread);
    if (!w->out->all_threads) { /* of another process: its leaving is never recorded */
        *n = fresh(n, SP_WALK_NOT_SEEN, t, -1);
        return true;
    }
    /* A CPU was idle until it is known not to be. */
    if (!w->out->threads.v[thread].tid)
        ok = push_running(w, thread, until, SP_INTERVAL_AT_MOST | SP_INTERVAL_UNSURE);
    *n = fresh(n, SP_WALK_OFF, t, n->cpu);
    n->unsure = true;
    return ok;
}

void sp_walk_seen(struct sp_walk *w, uint32_t thread, int64_t t)
{
    struct sp_walk_now *n = &w->now.v[thread];
    if (n->where != SP_WALK_ON && n->seen == SP_ABSENT &&
        (n->where == SP_WALK_NOT_SEEN || t - n->since > LEAVING_NS))
        n->seen = t;
}

/* ---- the end ---- */

static bool end_thread(struct sp_walk *w, uint32_t thread)
{
    struct sp_walk_now *n = &w->now.v[thread];
    const struct sp_interval_thread *th = &w->out->threads.v[thread];
    int64_t exit = w->exits.v[thread], end = w->out->end;
    bool some = !w->out->all_threads;
    /* One that was woken and came nowhere: it waits for a CPU still, or came onto an idle one unseen, as one
     * that exited must have. */
    if (n->where == SP_WALK_NOT_SEEN && n->woken != SP_ABSENT && th->tid && !some)
        return exit != SP_ABSENT && exit < end
                   ? exit <= n->woken || push_first(w, thread, exit, -1, SP_INTERVAL_AT_MOST)
                   : push_first(w, thread, end, -1,
                                SP_INTERVAL_OPEN |
                                    (w->idle_gaps ? SP_INTERVAL_AT_MOST | SP_INTERVAL_UNSURE : 0u));
    if (n->where == SP_WALK_NOT_SEEN || th->exited || (n->where == SP_WALK_OFF && !th->tid))
        return true;
    if (n->where == SP_WALK_ON)
        return (some && !n->mine) ||
               (has_exited(w, thread, end) ? push_exit(w, thread)
                                           : push_running(w, thread, end, SP_INTERVAL_OPEN));
    /* Where all is recorded and it left a CPU after the record of its exit, it is not quite over. */
    bool over = exit != SP_ABSENT && exit <= end && (some || exit > n->since);
    w->out->threads.v[thread].exited = over;
    if (n->seen != SP_ABSENT)
        return push_off(w, thread, n->seen, -1, SP_INTERVAL_AT_MOST);
    if (over)
        return exit <= n->since || push_off(w, thread, exit, -1, SP_INTERVAL_AT_MOST);
    return push_off(w, thread, end, -1,
                    SP_INTERVAL_OPEN | (some && !(w->records && n->mine) ? SP_INTERVAL_AT_MOST : 0u));
}

/* Some threads are never recorded to leave a CPU, as often as they come: no loss, but the recorder's rule. */
static void count_missed(struct sp_walk *w, uint32_t thread)
{
    const struct sp_walk_now *n = &w->now.v[thread];
    bool never = !n->left && n->missed > 1;
    w->out->never_leave += never;
    *(never ? &w->out->never_left : &w->out->contradictions) += n->missed;
}

bool sp_walk_end(struct sp_walk *w)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < w->now.n; i++) {
        if (w->out->all_threads)
            count_missed(w, i);
        ok = end_thread(w, i);
    }
    return ok;
}

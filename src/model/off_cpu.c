#include "model/off_cpu.h"

#include "base/watch.h"
#include "model/intervals.h"
#include "model/thread_names.h"

struct metrics {
    uint32_t off, queue, waits, longest, unfinished;
    uint32_t ns;         /* the unit */
    uint32_t layouts[4]; /* with runqueue_ns, with unfinished_ns; made where they are needed */
    bool made[4];
};

static bool add_event(struct sp_profile *p, struct metrics *m)
{
    uint32_t ns = sp_profile_cstr(p, "ns");
    struct sp_event e = {
        .name = sp_profile_cstr(p, SP_OFF_CPU_EVENT), .kind = SP_SOFTWARE, .mode = SP_EVENT, .unit = ns};
    m->ns = ns;
    m->off = sp_metric_intern(p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS));
    m->queue = sp_metric_intern(p, SP_RUN_QUEUE_NS, strlen(SP_RUN_QUEUE_NS));
    m->waits = sp_metric_intern(p, SP_OFF_CPU_WAITS, strlen(SP_OFF_CPU_WAITS));
    m->longest = sp_metric_intern(p, SP_OFF_CPU_LONGEST, strlen(SP_OFF_CPU_LONGEST));
    m->unfinished = sp_metric_intern(p, SP_OFF_CPU_UNFINISHED, strlen(SP_OFF_CPU_UNFINISHED));
    if (ns == SP_STR_FAIL || e.name == SP_STR_FAIL || m->off == SP_NONE || m->queue == SP_NONE ||
        m->waits == SP_NONE || m->longest == SP_NONE || m->unfinished == SP_NONE)
        return false;
    static const char *const whose[] = {[SP_RECORDED_ALL] = "\"x_threads\":\"all\"",
                                        [SP_RECORDED_SOME] = "\"x_threads\":\"some\"",
                                        [SP_RECORDED_CPUS] = "\"x_threads\":\"cpus\""};
    if (p->recorded != SP_RECORDED_UNTOLD)
        e.extra_json = sp_profile_cstr(p, whose[p->recorded]);
    e.primary = m->off;
    return e.extra_json != SP_STR_FAIL && sp_event_add(p, &e) != SP_NONE;
}

bool sp_off_cpu_at_least(const struct sp_profile *p, uint32_t stack)
{
    uint32_t unfinished = sp_metric_find(p, SP_OFF_CPU_UNFINISHED, strlen(SP_OFF_CPU_UNFINISHED));
    return unfinished != SP_NONE && sp_weight(p, stack, unfinished) != SP_ABSENT;
}

/* A stack has the metrics that it has weights of. */
static bool set_layout(struct sp_profile *p, struct metrics *m, uint32_t stack)
{
    bool queue = sp_weight(p, stack, m->queue) != SP_ABSENT,
         unfinished = sp_weight(p, stack, m->unfinished) != SP_ABSENT;
    unsigned which = queue + 2u * unfinished, n = 3;
    if (!m->made[which]) {
        struct sp_weight_field fields[5] = {
            {.metric = m->off, .unit = m->ns}, {.metric = m->waits}, {.metric = m->longest, .unit = m->ns}};
        if (queue)
            fields[n++] = (struct sp_weight_field){.metric = m->queue, .unit = m->ns};
        if (unfinished)
            fields[n++] = (struct sp_weight_field){.metric = m->unfinished, .unit = m->ns};
        m->layouts[which] = sp_layout_intern(p, fields, n);
        m->made[which] = true;
    }
    sp_stack_set_layout(p, stack, m->layouts[which]);
    return m->layouts[which] != SP_NONE;
}

/* Adds an interval off the CPU to its stack: what is certain of it. */
static bool add_interval(struct sp_profile *p, struct metrics *m, const struct sp_interval *i)
{
    int64_t ns = i->until - i->start, longest = sp_weight(p, i->stack, m->longest);
    bool open = i->flags & (SP_INTERVAL_OPEN | SP_INTERVAL_BEFORE) || i->until < i->end;
    return sp_weight_add(p, i->stack, m->off, ns) && sp_weight_add(p, i->stack, m->waits, 1) &&
           sp_weight_set(p, i->stack, m->longest, longest > ns ? longest : ns) &&
           (i->state != SP_RUN_RUNNABLE || sp_weight_add(p, i->stack, m->queue, ns)) &&
           (!open || sp_weight_add(p, i->stack, m->unfinished, ns)) && set_layout(p, m, i->stack);
}

static spaa_status add_row(struct sp_profile *p, uint32_t event, const struct sp_intervals *v,
                           const struct sp_interval *i)
{
    const struct sp_interval_thread *t = &v->threads.v[i->thread];
    struct sp_sample row = {.time = i->until,
                            .pid = t->pid,
                            .tid = t->tid,
                            .cpu = i->cpu < 0 ? SP_ABSENT : i->cpu,
                            .period = i->until - i->start,
                            .stack = i->stack,
                            .event = event,
                            .flags = SP_SAMPLE_TIME};
    return sp_samples_add(p->samples, &row);
}

/* What is not sure about the intervals, and which recording would settle it. */
static void report(const struct sp_profile *p, const struct sp_intervals *v, struct sp_diags *d)
{
    if (v->losses)
        sp_emit(
            d, SP_W315, SP_AT_NOTHING,
            "events of switches are missing or out of order at %llu places, some of which the recorder lost: "
            "time on and off the CPU is unsure there",
            (unsigned long long)v->contradictions);
    else if (v->contradictions)
        sp_emit_hint(
            d, SP_W315, SP_AT_NOTHING,
            "the recording tells of no lost events: that larger buffers help is not known",
            "events of switches are missing or out of order at %llu places: time on and off the CPU is "
            "unsure there",
            (unsigned long long)v->contradictions);
    if (v->never_left)
        sp_emit(d, SP_I323, SP_AT_NOTHING,
                "threads that are never recorded to leave a CPU: %u (%llu times); how long these ran is not "
                "known",
                v->never_leave, (unsigned long long)v->never_left);
    if (v->unseen)
        sp_emit(d, SP_I323, SP_AT_NOTHING,
                "that an idle task left its CPU is not recorded (%llu times), nor which thread came then",
                (unsigned long long)v->unseen);
    if (!v->all_threads && !sp_sched_has(p, SP_SCHED_RECORD))
        sp_emit(
            d, SP_I323, SP_AT_NOTHING,
            "when a thread came back onto a CPU is not recorded: until when it waited, and from when on it "
            "ran");
    if (!v->has_stacks)
        sp_emit_hint(d, SP_I322, SP_AT_NOTHING, "record -e sched:sched_switch with -g",
                     "where threads left the CPU is not recorded: their time off it has no stacks");
}

static spaa_status add_all(struct sp_profile *p, struct metrics *m, const struct sp_intervals *v,
                           struct sp_diags *d)
{
    uint32_t event = sp_off_cpu_own(p);
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < v->v.n && !st; i++) {
        if (sp_leaving(d, i))
            return SPAA_ERR_CANCELLED;
        if (v->v.v[i].state == SP_RUN_RUNNING)
            continue;
        st = add_interval(p, m, &v->v.v[i]) ? SPAA_OK : sp_nomem(d);
        if (!st && !p->samples_unasked && v->v.v[i].until > v->v.v[i].start)
            st = add_row(p, event, v, &v->v.v[i]);
    }
    return st || p->samples_unasked ? st : sp_samples_sort(p->samples);
}

/* Events of switches have the names of threads, also where the recorder lost the records of them. */
static void mend_names(struct sp_profile *p, const struct sp_intervals *v)
{
    for (size_t k = 0; k < v->threads.n; k++) {
        const struct sp_interval_thread *x = &v->threads.v[k];
        struct sp_thread *t =
            x->stale ? sp_thread_find(p, x->pid == SP_ABSENT ? x->tid : x->pid, x->tid) : NULL;
        if (t && t->comm == x->stale)
            sp_thread_rename(t, x->stale, x->comm);
    }
}

spaa_status sp_off_cpu_add(struct sp_profile *p, struct sp_diags *d)
{
    struct metrics m = {0};
    struct sp_intervals v;
    bool switches = sp_sched_has(p, SP_SCHED_SWITCH) || sp_sched_has(p, SP_SCHED_RECORD);
    if (!p->samples || !switches || p->sources.n > 1 || sp_off_cpu_own(p) != SP_NONE)
        return SPAA_OK;
    if (!add_event(p, &m))
        return sp_nomem(d);
    spaa_status st = sp_intervals_of(p, d, &v);
    if (st)
        return st;
    if (v.v.n) {
        report(p, &v, d);
        mend_names(p, &v);
        st = add_all(p, &m, &v, d);
    } else {
        p->events.n--; /* nothing refers to it yet */
    }
    if (v.sampled)
        sp_emit_hint(d, SP_I322, SP_AT_NOTHING, "`perf record -c 1 -e sched:sched_switch` takes all",
                     "only some switches were recorded: they do not tell how long threads were off the CPU");
    sp_intervals_free(&v);
    return st;
}

/*
 * Records of switches (`--switch-events`, and always with intel_pt) and of losses as samples of events of
 * their own: model/intervals.h makes time off the CPU of them. SWITCH is of the thread that leaves or comes;
 * SWITCH_CPU_WIDE also says which thread comes or came, which the next record says, too. Neither has a stack,
 * or why a thread leaves, but that it was put off the CPU (since Linux 4.17).
 *
 * A LOST record stands where there was room again: what is missing came before it on that CPU.
 */
#include "formats/perf_data/perf_data.h"

#include "base/watch.h"
#include "model/samples.h"
#include "model/sched_events.h"

#include <stdio.h>

enum what { IN, OUT, PREEMPTED, LOST, WHATS };

struct switches {
    struct sp_pd *pd;
    uint32_t events[2], contexts[WHATS]; /* events: of switches, of losses; SP_NONE: not made yet */
    uint32_t count, layout, frame;
    uint64_t seen, first, last; /* between which times records are not damaged */
};

bool sp_pd_has_switch_records(const struct sp_pd *pd)
{
    return pd->record_counts[PD_SWITCH] || pd->record_counts[PD_SWITCH_CPU_WIDE];
}

static bool add_event(struct switches *x, bool lost, uint32_t *out)
{
    struct sp_profile *p = x->pd->p;
    struct sp_event e = {.name = sp_profile_cstr(p, lost ? SP_SCHED_LOST_EVENT : SP_SCHED_RECORD_EVENT),
                         .kind = SP_SOFTWARE,
                         .mode = SP_EVENT,
                         .primary = x->count};
    *out = e.name == SP_STR_FAIL ? SP_NONE : sp_event_add(p, &e);
    return *out != SP_NONE;
}

static bool begin(struct switches *x)
{
    static const char *const words[WHATS] = {"in", "out", "preempted", "lost"};
    struct sp_profile *p = x->pd->p;
    struct sp_dso dso = {.name = sp_profile_cstr(p, "[unknown]")};
    struct sp_frame f = {.kind = SP_UNKNOWN};
    struct sp_weight_field field = {.metric = sp_metric_intern(p, "count", 5)};
    char text[64];
    x->events[0] = x->events[1] = SP_NONE;
    for (size_t i = 0; i < WHATS; i++) {
        int n = snprintf(text, sizeof text, "\"x_labels\":{\"switch\":\"%s\"}", words[i]);
        x->contexts[i] = sp_profile_str(p, text, (size_t)n);
        if (x->contexts[i] == SP_STR_FAIL)
            return false;
    }
    uint32_t number = dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &dso);
    f.function = number == SP_NONE ? SP_NONE : sp_function_intern(p, dso.name, number);
    x->frame = f.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &f);
    x->count = field.metric;
    x->layout = x->count == SP_NONE ? SP_NONE : sp_layout_intern(p, &field, 1);
    return x->frame != SP_NONE && x->layout != SP_NONE;
}

/* A sample's stack tells its event and its thread: one frame, since where the thread was is not recorded. */
static uint32_t stack_of(struct switches *x, uint32_t event, const struct sp_pd_trailer *t)
{
    struct sp_pd *pd = x->pd;
    struct sp_profile *p = pd->p;
    struct sp_context c;
    uint64_t since, until;
    bool is_new;
    memset(&c, 0, sizeof c);
    uint32_t epoch = sp_pd_epoch(pd, t->pid, t->tid, t->time, &since, &until);
    if (epoch == SP_NONE)
        return SP_NONE;
    c.pid = pd->group_by & SP_BY_PID ? t->pid : SP_ABSENT;
    c.tid = pd->group_by & SP_BY_TID ? t->tid : SP_ABSENT;
    c.cpu = pd->group_by & SP_BY_CPU && t->cpu >= 0 ? t->cpu : SP_ABSENT;
    c.comm = pd->group_by & SP_BY_COMM ? pd->epochs.v[epoch].comm : SP_STR_NONE;
    c.event = event;
    uint32_t context = sp_context_intern(p, &c),
             stack = context == SP_NONE ? SP_NONE
                                        : sp_stack_intern(p, &x->frame, 1, context, SP_UNIFIED, &is_new);
    if (stack == SP_NONE || !sp_pd_thread_record(pd, &pd->threads.v[pd->epochs.v[epoch].thread]))
        return SP_NONE;
    sp_stack_set_layout(p, stack, x->layout);
    return sp_weight_add(p, stack, x->count, 1) ? stack : SP_NONE;
}

static spaa_status take(struct switches *x, const struct sp_pd_record *r)
{
    struct sp_pd *pd = x->pd;
    bool lost = r->type == PD_LOST;
    struct sp_pd_trailer t;
    enum what what = lost                               ? LOST
                     : !(r->misc & PD_MISC_SWITCH_OUT)  ? IN
                     : r->misc & PD_MISC_SWITCH_PREEMPT ? PREEMPTED
                                                        : OUT;
    sp_pd_trailer_read(pd, r, lost ? 24 : r->type == PD_SWITCH ? 8 : 16, &t);
    if (!t.has_time || !t.has_tid || t.time < x->first || t.time > x->last)
        return SPAA_OK;
    uint32_t *event = &x->events[lost];
    if (*event == SP_NONE && !add_event(x, lost, event))
        return sp_nomem(pd->d);
    struct sp_sample row = {.time = (int64_t)t.time,
                            .pid = t.pid,
                            .tid = t.tid,
                            .cpu = t.cpu < 0 ? SP_ABSENT : t.cpu,
                            .period = 1,
                            .stack = stack_of(x, *event, &t),
                            .event = *event,
                            .context = x->contexts[what],
                            .flags = SP_SAMPLE_TIME | SP_SAMPLE_CONTEXT};
    pd->time_first = t.time < pd->time_first ? t.time : pd->time_first;
    pd->time_last = t.time > pd->time_last ? t.time : pd->time_last;
    return row.stack == SP_NONE ? sp_nomem(pd->d) : sp_samples_add(pd->p->samples, &row);
}

static spaa_status walk(struct switches *x, const struct sp_pd_range *range)
{
    struct sp_pd_record r = {0};
    spaa_status st = SPAA_OK;
    while (!st && sp_pd_next(x->pd, range, &r, false)) {
        if (sp_leaving(x->pd->d, x->seen++))
            return SPAA_ERR_CANCELLED;
        if (r.type == PD_SWITCH || r.type == PD_SWITCH_CPU_WIDE || (r.type == PD_LOST && r.size >= 24))
            st = take(x, &r);
    }
    return st;
}

/* The recording lasts from its first record to its last, which may be the exit of a thread. */
static void find_ends(struct sp_pd *pd, uint64_t first, uint64_t last)
{
    pd->time_first = pd->time_first < first ? first : pd->time_first;
    pd->time_last = pd->time_last > last ? last : pd->time_last;
    for (size_t i = 0; !pd->by_position && i < pd->sides.n; i++) {
        uint64_t t = pd->sides.v[i].time;
        if (!t || t < first || t > last)
            continue;
        pd->time_first = t < pd->time_first ? t : pd->time_first;
        pd->time_last = t > pd->time_last ? t : pd->time_last;
    }
}

spaa_status sp_pd_switches(struct sp_pd *pd)
{
    struct switches x = {.pd = pd};
    bool records = sp_pd_has_switch_records(pd);
    if (!pd->switches && !records)
        return SPAA_OK;
    spaa_status st = sp_pd_bound_times(pd, &x.first, &x.last);
    if (st)
        return st;
    find_ends(pd, x.first, x.last);
    if (!records && !pd->record_counts[PD_LOST])
        return SPAA_OK;
    st = begin(&x) ? SPAA_OK : sp_nomem(pd->d);
    for (size_t i = 0; i < 2 * pd->parts.n && !st; i++)
        if (pd->parts.v[i / 2].ranges[i % 2].n)
            st = walk(&x, &pd->parts.v[i / 2].ranges[i % 2]);
    return st ? st : sp_samples_sort(pd->p->samples);
}

/* The event of time off the CPU, and its stacks: what intervals are made with. */
#include "model/intervals.h"
#include "model/off_cpu.h"
#include "model/stacks.h"

#include "json/find.h"

uint32_t sp_off_cpu_own(const struct sp_profile *p)
{
    return sp_event_find(p, SP_OFF_CPU_EVENT, strlen(SP_OFF_CPU_EVENT));
}

enum sp_recorded_whom sp_off_cpu_recorded(const struct sp_profile *p)
{
    uint32_t event = sp_off_cpu_own(p);
    struct sp_str extra =
        event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->events.v[event].extra_json);
    struct sp_span raw;
    if (!extra.n || !sp_json_find((struct sp_span){extra.p, extra.n}, "x_threads", &raw))
        return SP_RECORDED_UNTOLD;
    return raw.n == 5 && memcmp(raw.p, "\"all\"", 5) == 0    ? SP_RECORDED_ALL
           : raw.n == 6 && memcmp(raw.p, "\"some\"", 6) == 0 ? SP_RECORDED_SOME
           : raw.n == 6 && memcmp(raw.p, "\"cpus\"", 6) == 0 ? SP_RECORDED_CPUS
                                                             : SP_RECORDED_UNTOLD;
}

uint32_t sp_off_cpu_event(const struct sp_profile *p)
{
    uint32_t own = sp_off_cpu_own(p), metric = sp_metric_find(p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS));
    for (uint32_t i = 0; own == SP_NONE && metric != SP_NONE && i < p->events.n; i++)
        if (p->events.v[i].primary == metric)
            return i;
    return own;
}

bool sp_measures_off_cpu(const struct sp_profile *p, uint32_t event)
{
    uint32_t primary = event < p->events.n ? p->events.v[event].primary : SP_NONE;
    return primary != SP_NONE && sp_str_is(sp_pstr(p, p->metrics.v[primary].name), SP_OFF_CPU_NS);
}

bool sp_off_cpu_know_stacks(struct sp_profile *p)
{
    uint32_t event = sp_off_cpu_own(p);
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        const struct sp_stack *s = &p->stacks.v[i];
        if (p->contexts.v[s->context].event != event)
            continue;
        struct sp_stack_key key =
            sp_stack_key(sp_stack_frames(p, i), s->n, s->context, (enum sp_stack_type)s->type, s->edges);
        struct sp_probe at = sp_map_probe(&p->stack_map, key.hash);
        bool known = false;
        for (uint32_t k; !known && (k = sp_map_next(&p->stack_map, &at)) != SP_MAP_NONE;)
            known = sp_stack_equals(p, k, &key);
        if (!known && !sp_map_add(&p->stack_map, key.hash, i))
            return false;
    }
    return true;
}

uint32_t sp_off_cpu_stack(struct sp_profile *p, uint32_t stack, enum sp_task_state state, bool *is_new)
{
    struct sp_stack s = p->stacks.v[stack];
    struct sp_context c = p->contexts.v[s.context];
    c.event = sp_off_cpu_own(p);
    c.labels = 0; /* whom it was switched for says nothing of the wait */
    c.extra_json = SP_STR_NONE;
    if (p->header.group_by & SP_BY_STATE && !p->off_cpu_stateless)
        c.state = sp_profile_cstr(p, sp_task_state_name(state));
    uint32_t context = c.state == SP_STR_FAIL ? SP_NONE : sp_context_intern(p, &c);
    uint32_t *frames = malloc((s.n + 1u) * sizeof *frames); /* the profile's may move */
    uint32_t made = SP_NONE;
    if (frames && context != SP_NONE) {
        if (s.n)
            memcpy(frames, sp_stack_frames(p, stack), s.n * sizeof *frames);
        made = sp_stack_intern_edges(p, frames, s.n, context, s.type, s.edges, is_new);
    }
    free(frames);
    return made;
}

uint32_t sp_off_cpu_unknown(struct sp_profile *p, const struct sp_interval_thread *t,
                            enum sp_task_state state)
{
    unsigned by = p->header.group_by;
    struct sp_dso dso = {.name = sp_profile_cstr(p, "[unknown]")};
    struct sp_frame f = {.kind = SP_UNKNOWN};
    struct sp_context c;
    bool is_new;
    memset(&c, 0, sizeof c);
    c.pid = by & SP_BY_PID ? t->pid : SP_ABSENT;
    c.tid = by & SP_BY_TID ? t->tid : SP_ABSENT;
    c.cpu = SP_ABSENT;
    c.event = sp_off_cpu_own(p);
    c.comm = by & SP_BY_COMM ? t->comm : SP_STR_NONE;
    c.state = by & SP_BY_STATE && !p->off_cpu_stateless ? sp_profile_cstr(p, sp_task_state_name(state))
                                                        : SP_STR_NONE;
    uint32_t number = dso.name == SP_STR_FAIL || c.state == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &dso);
    f.function = number == SP_NONE ? SP_NONE : sp_function_intern(p, dso.name, number);
    uint32_t thread = t->pid == SP_ABSENT ? sp_thread_intern_tid(p, t->tid, t->comm)
                                          : sp_thread_intern(p, t->pid, t->tid, t->comm);
    if (thread == SP_NONE)
        return SP_NONE;
    uint32_t frame = f.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &f);
    uint32_t context = frame == SP_NONE ? SP_NONE : sp_context_intern(p, &c);
    return context == SP_NONE ? SP_NONE : sp_stack_intern(p, &frame, 1, context, SP_UNIFIED, &is_new);
}

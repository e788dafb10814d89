#include "run/flamegraph_states.h"

#include "model/off_cpu.h"
#include "model/sched_events.h"
#include "model/wall.h"

#include <stdlib.h>
#include <string.h>

static uint32_t flame_states_first(const struct sp_profile *p)
{
    uint32_t first = sp_default_event(p), cpu = sp_wall_cpu_event(p), off = sp_off_cpu_event(p);
    if (first == SP_NONE ||
        (first != off && sp_sched_kind_of(sp_pstr(p, p->events.v[first].name)) == SP_SCHED_OTHER))
        return SP_NONE;
    for (size_t i = 0; cpu == SP_NONE && off != SP_NONE && i < p->stacks.n; i++)
        if (p->contexts.v[p->stacks.v[i].context].event == off)
            return off;
    return cpu;
}

void sp_flame_states_event(struct sp_run *run)
{
    const struct sp_profile *p = run->profile;
    if (run->v.event)
        return;
    uint32_t event = run->v.states ? sp_wall_event(p) : flame_states_first(p);
    if (event != SP_NONE)
        run->v.event = sp_pstr(p, p->events.v[event].name).p;
    else if (run->v.states && !run->v.view && !run->v.state)
        run->v.view = "all";
}

static bool flame_states_measures(const struct sp_selection *s, const char *metric)
{
    const struct sp_profile *p = s->profile;
    uint32_t primary = p->events.v[s->event].primary;
    return primary != SP_NONE && sp_str_is(sp_pstr(p, p->metrics.v[primary].name), metric);
}

const char *sp_flame_states_title(const struct sp_selection *s)
{
    return flame_states_measures(s, SP_WALL_NS)      ? "Time on the CPU and off it"
           : flame_states_measures(s, SP_OFF_CPU_NS) ? "Time off the CPU"
                                                     : NULL;
}

const char *sp_flame_states_running(const struct sp_selection *s)
{
    return flame_states_measures(s, SP_WALL_NS) ? NULL : SP_WALL_RUNNING;
}

/* Who names the state IDLE wants to see it. */
static bool flame_states_asked(const struct sp_run *run)
{
    const char *list = run->v.state;
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (n == 4 && memcmp(list, "IDLE", 4) == 0)
            return true;
    }
    return run->v.idle != NULL;
}

spaa_status sp_flame_states_of(struct sp_run *run, struct sp_selection *s, struct sp_flame_states *out)
{
    bool waits = flame_states_measures(s, SP_WALL_NS) || flame_states_measures(s, SP_OFF_CPU_NS);
    *out = (struct sp_flame_states){0};
    spaa_status st = sp_state_classes(s, run->profile, run->v.own_re, run->diags, &out->classes);
    if (!st && waits && !flame_states_asked(run))
        out->idle = sp_state_drop_idle(s, out->classes);
    return st;
}

spaa_status sp_flame_drop_idle(struct sp_run *run, struct sp_selection *s)
{
    struct sp_flame_states states;
    spaa_status st = sp_flame_states_of(run, s, &states);
    free(states.classes);
    return st;
}

#include "run/flamegraph_states.h"

#include "analysis/idle_places.h"
#include "analysis/wall_reasons.h"
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
static bool flame_states_asked(const struct sp_options *v)
{
    const char *list = v->state;
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (n == 4 && memcmp(list, "IDLE", 4) == 0)
            return true;
    }
    return v->idle != NULL;
}

static bool flame_states_leave_idle_out(const struct sp_selection *s, const struct sp_options *v)
{
    bool waits = flame_states_measures(s, SP_WALL_NS) || flame_states_measures(s, SP_OFF_CPU_NS);
    return waits && !flame_states_asked(v);
}

spaa_status sp_flame_states_of(struct sp_run *run, struct sp_selection *s, struct sp_flame_states *out)
{
    struct sp_wait_reasons why;
    *out = (struct sp_flame_states){0};
    spaa_status st = sp_wall_reasons_of(s, run->profile, run->v.own_re, &why, run->diags);
    if (st)
        return st;
    out->classes = sp_state_classes(s, &why);
    sp_wait_reasons_free(&why);
    if (!out->classes)
        return sp_nomem(run->diags);
    if (flame_states_leave_idle_out(s, &run->v))
        out->idle = sp_state_drop_idle(s, out->classes);
    return SPAA_OK;
}

static bool flame_states_drop(const struct sp_flame_side *side, struct sp_idle_places *places,
                              struct sp_wait_reasons *why)
{
    bool ok = sp_idle_places_apply(places, side->profile, why);
    uint8_t *classes = ok ? sp_state_classes(side->s, why) : NULL;
    if (classes)
        sp_state_drop_idle(side->s, classes);
    free(classes);
    return classes != NULL;
}

spaa_status sp_flame_drop_idle(struct sp_flame_side side[2], bool other_threads, struct sp_diags *d)
{
    struct sp_wait_reasons why[2] = {{0}};
    struct sp_idle_places places;
    spaa_status st = sp_idle_places_init(&places) ? SPAA_OK : sp_nomem(d);
    places.other_threads = other_threads;
    for (unsigned i = 0; !st && i < 2; i++) {
        if (!flame_states_leave_idle_out(side[i].s, side[i].v))
            continue;
        st = sp_wall_reasons_of(side[i].s, side[i].profile, side[i].v->own_re, &why[i], d);
        if (!st && !sp_idle_places_add(&places, i, side[i].profile, side[i].s->event, &why[i]))
            st = sp_nomem(d);
    }
    if (!st && !sp_idle_places_settle(&places))
        st = sp_nomem(d);
    for (unsigned i = 0; !st && i < 2; i++)
        if (why[i].of && !flame_states_drop(&side[i], &places, &why[i]))
            st = sp_nomem(d);
    for (unsigned i = 0; i < 2; i++)
        sp_wait_reasons_free(&why[i]);
    sp_idle_places_free(&places);
    return st;
}

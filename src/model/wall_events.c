/* Which events of a profile say what threads did on the CPU, and off it. */
#include "model/off_cpu.h"
#include "model/wall.h"

#include <string.h>

static bool is_named(struct sp_str event, const char *const *names)
{
    for (; *names; names++) {
        size_t n = strlen(*names);
        if (event.n >= n && memcmp(event.p, *names, n) == 0 && (event.n == n || strchr(":/#,", event.p[n])))
            return true;
    }
    return false;
}

/* A stack of the event; SP_NONE: it has none. */
static uint32_t wall_stack_of(const struct sp_profile *p, uint32_t event)
{
    for (uint32_t i = 0; i < p->stacks.n; i++)
        if (p->contexts.v[p->stacks.v[i].context].event == event)
            return i;
    return SP_NONE;
}

bool sp_wall_has_stacks(const struct sp_profile *p, uint32_t event)
{
    return wall_stack_of(p, event) != SP_NONE;
}

/* Units stand with the weights, and only some readers say them of the event too. */
bool sp_wall_in_ns(const struct sp_profile *p, uint32_t event)
{
    uint32_t stack = wall_stack_of(p, event);
    uint32_t layout = stack == SP_NONE ? SP_NONE : p->stacks.v[stack].layout;
    for (uint32_t i = 0; layout != SP_NONE && i < p->layouts.v[layout].n; i++) {
        const struct sp_weight_field *f = &p->layout_fields.v[p->layouts.v[layout].first + i];
        if (f->metric == p->events.v[event].primary)
            return sp_str_is(sp_pstr(p, f->unit), "ns");
    }
    return false;
}

uint32_t sp_wall_event(const struct sp_profile *p)
{
    return sp_event_find(p, SP_WALL_EVENT, strlen(SP_WALL_EVENT));
}

uint32_t sp_wall_off_event(const struct sp_profile *p)
{
    uint32_t ours = sp_off_cpu_event(p), ns = sp_metric_find(p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS));
    for (uint32_t i = 0; ours == SP_NONE && ns != SP_NONE && i < p->events.n; i++)
        if (p->events.v[i].primary == ns)
            return i;
    return ours;
}

uint32_t sp_wall_cpu_event(const struct sp_profile *p)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock", "cpu", NULL};
    static const char *const cycles[] = {"cycles",          "cpu-cycles",      "ref-cycles",
                                         "cpu_core/cycles", "cpu_atom/cycles", NULL};
    uint32_t best = SP_NONE;
    for (uint32_t i = 0; i < p->events.n; i++) {
        struct sp_str name = sp_pstr(p, p->events.v[i].name);
        bool sampled = p->events.v[i].primary != SP_NONE && sp_wall_has_stacks(p, i);
        if (sampled && is_named(name, clocks) && sp_wall_in_ns(p, i))
            return i;
        if (sampled && best == SP_NONE && is_named(name, cycles))
            best = i;
    }
    return best;
}

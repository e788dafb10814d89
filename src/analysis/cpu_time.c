#include "analysis/cpu_time.h"

#include <string.h>

/* "cycles", "cycles:u", "cpu_core/cycles/". */
static bool is_of_cpus(const struct sp_selection *s)
{
    static const char *const events[] = {"cpu-clock",       "task-clock", "cycles",   "cpu-cycles",
                                         "ref-cycles",      "cpu",        "cpu_time", "cpu_core/cycles",
                                         "cpu_atom/cycles", NULL};
    struct sp_str event = sp_pstr(s->profile, s->profile->events.v[s->event].name);
    for (const char *const *e = events; *e; e++) {
        size_t n = strlen(*e);
        if (event.n >= n && memcmp(event.p, *e, n) == 0 && (event.n == n || strchr(":/#,", event.p[n])))
            return true;
    }
    return false;
}

/* Of tracepoints and probes what is counted is how often a place was passed, whatever threads' states say. */
static bool is_probe(const struct sp_selection *s)
{
    return s->profile->events.v[s->event].kind == SP_PROBE;
}

bool sp_is_cpu(const struct sp_selection *s)
{
    bool units = sp_str_is(s->unit, "ns") || sp_str_is(s->unit, "cycles") || !s->unit.n;
    bool sure = !s->states.of[SP_SHARE_UNSTATED];
    return (is_of_cpus(s) || (sure && s->view && strcmp(s->view, "cpu") == 0)) && units && !is_probe(s) &&
           !s->cannot_add;
}

bool sp_is_cpu_time(const struct sp_selection *s)
{
    return !is_probe(s) && is_of_cpus(s) && sp_str_is(s->unit, "ns") &&
           (!s->view || strcmp(s->view, "cpu") == 0);
}

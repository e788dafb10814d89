#include "ask/cpu_time.h"

#include <string.h>

bool sp_is_cpu_time(const struct sp_selection *s)
{
    static const char *const events[] = {"cpu-clock", "task-clock", "cpu", "cycles", "cpu_time", NULL};
    struct sp_str event = sp_pstr(s->profile, s->profile->events.v[s->event].name);
    for (size_t i = 0; events[i] && sp_str_is(s->unit, "ns"); i++) {
        size_t n = strlen(events[i]);
        if (event.n >= n && memcmp(event.p, events[i], n) == 0 && (event.n == n || event.p[n] == ':'))
            return !s->view || strcmp(s->view, "cpu") == 0;
    }
    return false;
}

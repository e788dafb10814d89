/* By the functions of a stack: whether it waits in a run loop, and in whose. */
#include "analysis/waits_held.h"

static bool held_contains(const struct sp_profile *p, uint32_t function, const char *const *words)
{
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    for (; *words; words++)
        if (memmem(name.p, name.n, *words, strlen(*words)))
            return true;
    return false;
}

/* dispatch_main() parks the main thread for good: its queue's work is done by others. */
bool sp_held_gave_up(const struct sp_profile *p, const uint32_t *path, uint32_t n)
{
    static const char *const parked[] = {"dispatch_sigsuspend", NULL};
    for (uint32_t i = n; i-- > 0;)
        if (held_contains(p, path[i], parked))
            return true;
    return false;
}

/* A function of its own that fetches events in its run loop, as modal panels do, waits for these. */
uint32_t sp_held_nested(const struct sp_profile *p, const struct sp_own *own, const uint32_t *path,
                        uint32_t n, bool *in_run_loop)
{
    static const char *const port[] = {"__CFRunLoopServiceMachPort", NULL},
                             *const message[] = {"mach_msg", NULL},
                             *const application[] = {"NSApplicationMain", "-[NSApplication run]",
                                                     "UIApplicationMain", "CFRunLoopRunSpecific", NULL},
                             *const events[] = {"nextEventMatching", "NextEvent", NULL};
    uint32_t end = 0, found = SP_NONE;
    bool inside = false;
    *in_run_loop = sp_held_gave_up(p, path, n);
    if (*in_run_loop)
        return SP_NONE;
    for (uint32_t i = 0; i < n; i++)
        end = held_contains(p, path[i], port) ? i : end;
    *in_run_loop = end && (end + 1 == n || held_contains(p, path[end + 1], message));
    for (uint32_t i = 0; *in_run_loop && i < end; i++) {
        if (inside && sp_is_own(own, path[i]) && !own->all)
            found = i;
        else if (held_contains(p, path[i], events))
            found = SP_NONE;
        inside = inside || held_contains(p, path[i], application);
    }
    return found;
}

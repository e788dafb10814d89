#include "analysis/state_shares.h"

#include "model/step_ranges.h"

#include <string.h>

const char *const sp_share_names[] = {"running",   "runnable", "blocked", "waiting",
                                      "suspended", "idle",     "unknown", "unstated"};
const char *const sp_share_states[] = {"RUNNABLE,NATIVE,WALL_TIME",
                                       "RUN_QUEUE",
                                       "BLOCKED",
                                       "WAITING,TIMED_WAITING",
                                       "SUSPENDED",
                                       "IDLE",
                                       "UNKNOWN",
                                       ""};

bool sp_is_of_hangs(const struct sp_profile *p, uint32_t event)
{
    static const char *const names[] = {"stackshot", "sample", "disk-writes"};
    struct sp_str name = event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->events.v[event].name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_str_is(name, names[i]))
            return true;
    return sp_str_is(name, "wakeups") && p->events.v[event].kind == SP_PROBE;
}

bool sp_is_of_microstackshots(const struct sp_profile *p, uint32_t event)
{
    return sp_is_of_hangs(p, event) &&
           (p->events.v[event].kind == SP_PROBE || sp_steps_are_microstackshots(p));
}

enum sp_state_share sp_state_share_of(struct sp_str state)
{
    if (!state.n)
        return SP_SHARE_UNSTATED;
    for (int k = 0; k < SP_SHARE_UNSTATED; k++)
        for (const char *at = sp_share_states[k]; *at; at += *at == ',') {
            size_t n = strcspn(at, ",");
            if (n == state.n && memcmp(at, state.p, n) == 0)
                return (enum sp_state_share)k;
            at += n;
        }
    return SP_SHARE_UNKNOWN;
}

void sp_state_shares_of(const struct sp_profile *p, uint32_t event, uint32_t metric,
                        const unsigned char *fits, struct sp_state_shares *out)
{
    *out = (struct sp_state_shares){0};
    if (!sp_is_of_hangs(p, event))
        return;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        uint32_t c = p->stacks.v[i].context;
        int64_t v = sp_weight(p, i, metric);
        if (!fits[c] || v <= 0)
            continue;
        struct sp_str state = sp_pstr(p, p->contexts.v[c].state);
        int64_t *sum = &out->of[sp_state_share_of(state)];
        if (__builtin_add_overflow(*sum, v, sum))
            *sum = INT64_MAX;
        if (__builtin_add_overflow(out->whole, v, &out->whole))
            out->whole = INT64_MAX;
        out->known = out->known || state.n;
    }
}

/*
 * Reports of what used too much of something (cpu_resource, wakeups_resource and diskwrites_resource `.diag`
 * files) hold microstackshots: blocks `Powerstats for:`, samples of threads that ran. What a sample stands
 * for is in the header, where it is not time:
 *
 *     Event:            disk writes
 *     Writes:           2147.49 MB of file backed memory dirtied over 1385 seconds (…), exceeding limit of …
 *     Steps:            199 (10.49 MB/step)
 *
 * Units of these are powers of 1000: 2147.49 MB is a limit of 2 GiB.
 */
#include "base/num.h"
#include "formats/spindump/report.h"

#include <stdio.h>
#include <string.h>

/* "10.49 MB" in bytes, "45 wakeups" in wakeups. */
static int64_t spindump_step_amount(struct sp_span s, bool *bytes)
{
    static const struct {
        const char *unit;
        int64_t of;
        bool bytes;
    } units[] = {{"wakeups", 1, false}, {"wakeup", 1, false},  {"bytes", 1, true},      {"B", 1, true},
                 {"KB", 1000, true},    {"MB", 1000000, true}, {"GB", 1000000000, true}};
    size_t n = 0;
    int64_t v, unit;
    unsigned scale;
    while (n < s.n && (sp_hang_digit(s.p[n]) || s.p[n] == '.'))
        n++;
    struct sp_span rest = sp_hang_trim(sp_hang_after(s, n));
    if (!n || n > 15 || !sp_parse_scaled(s.p, n, &v, &scale) || scale > 9)
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!sp_span_is(rest, units[i].unit))
            continue;
        *bytes = units[i].bytes;
        for (unit = 1; scale; scale--)
            unit *= 10;
        __int128 amount = ((__int128)v * units[i].of + unit / 2) / unit;
        return amount > 0 && amount < INT64_MAX / 4 ? (int64_t)amount : 0;
    }
    return 0;
}

void sp_spindump_step(struct spindump_reader *r, struct sp_span value)
{
    static const char end[] = "/step)";
    const char *open = memchr(value.p, '(', value.n);
    if (!open || !sp_hang_ends(value, end))
        return;
    struct sp_span s = sp_hang_after(value, (size_t)(open + 1 - value.p));
    s.n = s.n > sizeof end - 1 ? s.n - (sizeof end - 1) : 0;
    r->step = spindump_step_amount(sp_hang_trim(s), &r->step_bytes);
}

/* Each step is taken when so much was written, or woken up: the event is of these, not of time. */
spaa_status sp_spindump_weigh_steps(struct spindump_reader *r)
{
    struct sp_profile *p = r->p;
    struct sp_event *e = &p->events.v[r->event];
    const char *name = r->step_bytes ? "written_bytes" : "wakeups", *unit = r->step_bytes ? "bytes" : "count";
    char period[24];
    if (!r->step || r->microstackshots != r->processes)
        return SPAA_OK;
    uint32_t metric = sp_metric_intern(p, name, (uint32_t)strlen(name));
    uint32_t unit_text = sp_profile_cstr(p, unit);
    if (metric == SP_NONE || unit_text == SP_STR_FAIL)
        return sp_nomem(r->d);
    uint32_t layout = sp_layout_simple(p, r->tree.metric, SP_STR_NONE, metric, unit_text);
    uint32_t event = sp_profile_cstr(p, r->step_bytes ? "disk-writes" : "wakeups");
    e->kind = SP_PROBE;
    e->mode = SP_PERIOD;
    e->sample_period =
        sp_profile_str(p, period, (size_t)snprintf(period, sizeof period, "%lld", (long long)r->step));
    bool ok = layout != SP_NONE && event != SP_STR_FAIL && e->sample_period != SP_STR_FAIL &&
              sp_event_rename(p, r->event, event);
    for (uint32_t i = 0; ok && i < p->stacks.n; i++) {
        int64_t v;
        if (__builtin_mul_overflow(sp_weight(p, i, r->tree.metric), r->step, &v))
            v = INT64_MAX;
        ok = sp_weight_set(p, i, metric, v);
        sp_stack_set_layout(p, i, layout);
    }
    return ok ? SPAA_OK : sp_nomem(r->d);
}

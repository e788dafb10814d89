#include "model/counters.h"

#include "json/find.h"

static bool name_is(struct sp_span name, struct sp_str want)
{
    struct sp_buf b;
    sp_buf_init(&b, 4096);
    bool is =
        sp_json_text_to(&b, name) && b.len == want.n && (!want.n || memcmp(b.data, want.p, want.n) == 0);
    sp_buf_free(&b);
    return is;
}

static bool counter_is(struct sp_span item, struct sp_str want)
{
    struct sp_span name;
    return sp_json_find(item, "event", &name) && name_is(name, want);
}

bool sp_counter_ran(const struct sp_profile *p, uint32_t event, double *out)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span list, item;
    int64_t enabled = 0, running = 0;
    if (!more.n || !sp_json_find2((struct sp_span){more.p, more.n}, "x_perf", "counters", &list))
        return false;
    while (sp_json_next(&list, &item)) {
        if (!counter_is(item, sp_pstr(p, p->events.v[event].name)))
            continue;
        if (!sp_json_find_i64(item, "enabled_ns", &enabled) ||
            !sp_json_find_i64(item, "running_ns", &running) || running <= 0 || enabled < running)
            return false;
        *out = (double)running / (double)enabled;
        return true;
    }
    return false;
}

enum sp_together sp_counters_together(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span list, group, name;
    if (!more.n || !sp_json_find2((struct sp_span){more.p, more.n}, "x_perf", "counted_together", &list))
        return SP_TOGETHER_UNKNOWN;
    while (sp_json_next(&list, &group)) {
        bool has_a = false, has_b = false;
        while (sp_json_next(&group, &name)) {
            has_a |= name_is(name, sp_pstr(p, p->events.v[a].name));
            has_b |= name_is(name, sp_pstr(p, p->events.v[b].name));
        }
        if (has_a && has_b)
            return SP_TOGETHER_YES;
    }
    return SP_TOGETHER_NO;
}

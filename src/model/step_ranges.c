#include "model/step_ranges.h"

#include "base/num.h"
#include "json/find.h"

static bool steps_raw(const struct sp_profile *p, uint32_t stack, struct sp_span *raw)
{
    struct sp_str extra = sp_pstr(p, p->stacks.v[stack].extra_json);
    return extra.n && sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "ranges", raw);
}

bool sp_step_ranges_any(const struct sp_profile *p)
{
    struct sp_span raw;
    for (uint32_t i = 0; i < p->stacks.n; i++)
        if (steps_raw(p, i, &raw))
            return true;
    return false;
}

static bool steps_number(struct sp_span *rest, int64_t *v)
{
    struct sp_span item;
    return sp_json_next(rest, &item) && sp_parse_i64(item.p, item.p + item.n, v) == item.n;
}

/* [1,37], [44,44] or [1,9,4]; what is none of these is left out. */
static bool steps_range(struct sp_span raw, struct sp_step_range *out)
{
    int64_t all;
    if (!steps_number(&raw, &out->from) || !steps_number(&raw, &out->to) || out->from < 1 ||
        out->to < out->from)
        return false;
    all = out->to - out->from + 1;
    if (!steps_number(&raw, &out->count))
        out->count = all;
    return out->count > 0 && out->count <= all;
}

spaa_status sp_step_ranges_of(const struct sp_profile *p, struct sp_diags *d, struct sp_step_ranges *out)
{
    struct sp_step_ranges r = {.interval_ns = SP_ABSENT};
    struct sp_str header = sp_pstr(p, p->header.extra_json);
    struct sp_span raw, item;
    if (header.n && sp_json_find2((struct sp_span){header.p, header.n}, "x_spindump", "interval_ns", &raw) &&
        (sp_parse_i64(raw.p, raw.p + raw.n, &r.interval_ns) != raw.n || r.interval_ns < 1))
        r.interval_ns = SP_ABSENT;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        struct sp_step_range x = {.stack = i};
        if (!steps_raw(p, i, &raw))
            continue;
        while (sp_json_next(&raw, &item)) {
            if (!steps_range(item, &x))
                continue;
            r.last = x.to > r.last ? x.to : r.last;
            if (!sp_vec_push(&r.v, x)) {
                sp_step_ranges_free(&r);
                return sp_nomem(d);
            }
        }
    }
    *out = r;
    return SPAA_OK;
}

/* "1-341", "3", "1-8 with gaps of 4", and how often */
static bool steps_of_line(struct sp_span line, int64_t *from, int64_t *to, int64_t *samples)
{
    struct sp_span raw;
    if (!sp_json_find(line, "range", &raw) || raw.n < 3)
        return false;
    const char *s = raw.p + 1, *end = raw.p + raw.n;
    size_t n = sp_parse_i64(s, end, from);
    *to = *from;
    if (!n || (s + n < end && s[n] == '-' && !sp_parse_i64(s + n + 1, end, to)))
        return false;
    if (!sp_json_find_i64(line, "samples", samples))
        *samples = SP_ABSENT;
    return *from >= 1 && *to >= *from;
}

bool sp_step_ranges_of_thread(const struct sp_profile *p, const struct sp_thread *t, int64_t *from,
                              int64_t *to, int64_t *samples)
{
    struct sp_str extra = sp_pstr(p, t->extra_json);
    struct sp_span line;
    return extra.n && sp_json_find((struct sp_span){extra.p, extra.n}, "x_spindump", &line) &&
           steps_of_line(line, from, to, samples);
}

struct sp_span sp_step_ranges_lines(const struct sp_profile *p, const struct sp_process_fact *f)
{
    struct sp_str extra = sp_pstr(p, f->extra_json);
    struct sp_span lines = {NULL, 0};
    if (extra.n)
        sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "threads", &lines);
    return lines;
}

bool sp_step_ranges_line(struct sp_span *rest, struct sp_step_line *x)
{
    struct sp_span item;
    int64_t header;
    while (rest->n && sp_json_next(rest, &item)) {
        if (*item.p != '{' || !sp_json_find_i64(item, "tid", &x->tid) ||
            !steps_of_line(item, &x->from, &x->to, &x->samples))
            continue;
        x->first = !sp_json_find_i64(item, "header", &header);
        return true;
    }
    return false;
}

bool sp_steps_are_microstackshots(const struct sp_profile *p)
{
    struct sp_str extra = sp_pstr(p, p->header.extra_json);
    struct sp_span raw;
    return extra.n &&
           sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "microstackshots", &raw) &&
           sp_span_is(raw, "true");
}

void sp_step_ranges_free(struct sp_step_ranges *r)
{
    sp_vec_free(&r->v);
}

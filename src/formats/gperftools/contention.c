/*
 * Waiting for locks: `name = value` lines, then DELAY COUNT @ addresses.
 *
 * C++ and Go give the delay in cycles, one contention of `sampling period`: both numbers are multiplied by it
 * and the cycles become nanoseconds, as pprof does it. What was recorded stands beside as samples and
 * x_raw_delay. Java has a unit of its own (resolution), and numbers of names in place of addresses.
 */
#include "base/num.h"
#include "formats/gperftools/gperftools.h"
#include "json/json.h"

#define ATTRIBUTES_MAX ((size_t)16 << 10) /* bytes of them that are kept */

struct contention {
    int64_t hz, period, discarded;
    bool java;
    char unit[32]; /* Java's resolution */
};

static bool gperftools_contention_number(struct sp_str s, int64_t *out)
{
    return s.n && sp_parse_i64(s.p, s.p + s.n, out) == s.n && *out >= 0;
}

/* A line `name = value`; false: none. */
static bool gperftools_contention_attribute(struct sp_gp *gp, struct contention *c, struct sp_str s)
{
    const char *eq = memchr(s.p, '=', s.n);
    if (!eq)
        return false;
    struct sp_str name = sp_mapped_trim(s.p, (size_t)(eq - s.p));
    struct sp_str value = sp_mapped_trim(eq + 1, (size_t)(s.p + s.n - eq - 1));
    bool good = true;
    if (sp_str_is(name, "cycles/second"))
        good = gperftools_contention_number(value, &c->hz);
    else if (sp_str_is(name, "sampling period"))
        good = gperftools_contention_number(value, &c->period);
    else if (sp_str_is(name, "ms since reset"))
        good = gperftools_contention_number(value, &gp->duration_ms);
    else if (sp_str_is(name, "discarded samples"))
        good = gperftools_contention_number(value, &c->discarded);
    else if (sp_str_is(name, "format"))
        c->java = sp_str_is(value, "java");
    else if (sp_str_is(name, "resolution") && value.n && value.n < sizeof c->unit)
        memcpy(c->unit, value.p, value.n);
    if (!good)
        sp_emit(gp->d, SP_L766, sp_gp_here(gp), "%.*s is not a number", (int)(name.n < 40 ? name.n : 40),
                name.p);
    sp_buf_ch(&gp->notes, ',');
    sp_json_string(&gp->notes, name.p, name.n);
    sp_buf_ch(&gp->notes, ':');
    sp_json_string(&gp->notes, value.p, value.n);
    return true;
}

/* All of them; a name that stands twice counts once. */
static void gperftools_contention_attributes(struct sp_gp *gp, struct contention *c)
{
    struct sp_buf *b = &gp->notes;
    sp_buf_puts(b, ",\"attributes\":{");
    size_t open = b->len;
    bool full = false;
    while (sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        size_t before = b->len;
        if (!s.n || *s.p == '#')
            continue;
        if (!gperftools_contention_attribute(gp, c, s)) {
            sp_gp_back(gp);
            break;
        }
        if (b->failed)
            break;
        if (b->len - open > ATTRIBUTES_MAX) {
            b->len = before;
            if (!full)
                sp_emit(gp->d, SP_L768, sp_gp_here(gp), "more attributes than are kept");
            full = true;
            continue;
        }
        /* `,"name":` as it was just written: is it there already? */
        const char *colon = memmem(b->data + before, b->len - before, "\":", 2);
        size_t key = colon ? (size_t)(colon + 2 - (b->data + before)) : 0;
        if (key && memmem(b->data + open, before - open, b->data + before, key))
            b->len = before;
    }
    if (!b->failed && b->len > open) /* without the first comma */
        memmove(b->data + open, b->data + open + 1, --b->len - open);
    sp_buf_ch(b, '}');
}

static spaa_status gperftools_contention_declare(struct sp_gp *gp, const struct contention *c)
{
    static const char *const units[][2] = {{"nanoseconds", "ns"},
                                           {"microseconds", "microseconds"},
                                           {"milliseconds", "milliseconds"},
                                           {"seconds", "seconds"}};
    struct sp_gp_event e = {
        .name = "contention",
        .kind = SP_SOFTWARE,
        .period = c->period,
        .period_type = "contentions",
        .period_unit = "count",
        .types = {{"contentions", "count", "count", "count"}, {"delay", "nanoseconds", "delay", "ns"}},
        .ntypes = 2,
        .primary = 1,
        .more = {{"samples", NULL}, {"x_raw_delay", "cycles"}},
    };
    if (c->period > 1)
        e.nmore = 1;
    if (c->hz > 0)
        e.nmore = 2;
    for (size_t i = 0; c->java && i < 4; i++)
        if (strcmp(c->unit, units[i][0]) == 0) {
            e.types[1].pprof_unit = units[i][0];
            e.types[1].unit = units[i][1];
        }
    return sp_gp_declare(gp, &e);
}

static int64_t gperftools_contention_times(int64_t v, int64_t by)
{
    return __builtin_mul_overflow(v, by, &v) ? (v < 0 ? -INT64_MAX : INT64_MAX) : v;
}

static int64_t gperftools_contention_delay(const struct contention *c, int64_t delay)
{
    if (c->java)
        return c->period ? gperftools_contention_times(delay, c->period) : delay;
    if (c->period <= 0 || c->hz <= 0)
        return delay;
    return sp_mapped_cut((double)delay * (double)c->period / ((double)c->hz / 1e9));
}

static spaa_status gperftools_contention_row(struct sp_gp *gp, const struct contention *c, struct sp_str s,
                                             bool *known)
{
    const char *p = s.p, *end = s.p + s.n;
    int64_t delay, count, v[4];
    *known = sp_mapped_int(&p, end, &delay) && sp_mapped_int(&p, end, &count);
    spaa_status st = sp_gp_stack(gp, &p, end, c->java ? SP_MAPPED_EXACT : SP_MAPPED_CALLERS, known);
    if (st || !*known)
        return st;
    v[0] = c->period > 0 ? gperftools_contention_times(count, c->period) : count;
    v[1] = gperftools_contention_delay(c, delay);
    v[2] = count;
    v[3] = delay;
    return sp_mapped_row(&gp->m, gp->context, v) ? SPAA_OK : sp_nomem(gp->d);
}

spaa_status sp_gp_contention(struct sp_gp *gp, struct sp_str title)
{
    struct contention c = {.period = 1};
    gp->kind = sp_gp_starts(title, "--- mutex") ? "mutex" : "contention";
    gp->tool = "pprof";
    gperftools_contention_attributes(gp, &c);
    if (gp->notes.failed)
        return sp_nomem(gp->d);
    gp->m.plain = c.java;
    if (c.discarded > 0)
        gp->p->header.lost = (uint64_t)c.discarded;
    spaa_status st = gperftools_contention_declare(gp, &c);
    while (!st && sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        bool known = true;
        if (!s.n)
            continue;
        if (*s.p == '#')
            st = sp_gp_comment(gp, s);
        else if ((*s.p == 'M' || *s.p == '-') && sp_mapped_sentinel(s.p, s.n))
            return sp_gp_maps(gp);
        else if (sp_gp_starts(s, "---"))
            return sp_gp_rest(gp);
        else
            st = gperftools_contention_row(gp, &c, s, &known);
        if (!known && !st && c.java) {
            sp_gp_back(gp);
            return sp_gp_java_names(gp);
        }
        if (!known && !st)
            sp_emit(gp->d, SP_L766, sp_gp_here(gp), " ");
    }
    return st;
}

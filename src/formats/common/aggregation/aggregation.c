#include "formats/common/aggregation/aggregation.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "symbols/demangle.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

void sp_agg_init(struct sp_agg *a, struct sp_profile *p, struct sp_diags *d)
{
    *a = (struct sp_agg){.p = p, .d = d, .granularity = SP_FRAMES_ADDRESS, .samples = SP_NONE};
}

void sp_agg_free(struct sp_agg *a)
{
    sp_vec_free(&a->frames);
    sp_vec_free(&a->block_frames);
    sp_vec_free(&a->blocks);
    sp_vec_free(&a->values);
    sp_vec_free(&a->records);
}

uint32_t sp_agg_frame_add(struct sp_agg *a, const struct sp_agg_frame *f)
{
    return a->frames.n < SP_NONE - 1 && sp_vec_push(&a->frames, *f) ? (uint32_t)a->frames.n - 1 : SP_NONE;
}

bool sp_agg_name(struct sp_agg *a, const char *symbol, size_t n, const char *namespace, uint32_t *name,
                 uint32_t *more)
{
    struct sp_buf plain, member;
    bool ok = true;
    *name = sp_profile_str(a->p, symbol, n);
    *more = SP_STR_NONE;
    if (*name == SP_STR_FAIL)
        return false;
    sp_buf_init(&plain, 0);
    sp_buf_init(&member, 0);
    if (sp_demangle(sp_pstr(a->p, *name).p, &plain) || sp_demangle_escaped(symbol, n, &plain)) {
        sp_buf_printf(&member, "\"%s\":{\"raw\":", namespace);
        sp_json_string(&member, symbol, n);
        sp_buf_ch(&member, '}');
        ok = !member.failed && !plain.failed;
        *name = ok ? sp_profile_str(a->p, plain.data, plain.len) : SP_STR_FAIL;
        *more = ok ? sp_profile_str(a->p, member.data, member.len) : SP_STR_FAIL;
        ok = *name != SP_STR_FAIL && *more != SP_STR_FAIL;
    }
    ok = ok && !plain.failed;
    sp_buf_free(&plain);
    sp_buf_free(&member);
    return ok;
}

bool sp_agg_block_begin(struct sp_agg *a, enum sp_agg_side side, uint32_t place)
{
    struct sp_agg_block b = {a->block_frames.n, 0, (uint16_t)place, (uint8_t)side, 0};
    return sp_vec_push(&a->blocks, b);
}

bool sp_agg_value_add(struct sp_agg *a, uint32_t metric, int64_t v)
{
    struct sp_agg_value x = {metric, SP_STR_NONE, v};
    return sp_vec_push(&a->values, x);
}

bool sp_agg_value_text(struct sp_agg *a, uint32_t metric, const char *s, size_t n)
{
    struct sp_agg_value x = {metric, SP_STR_NONE, 0};
    if (sp_parse_i64(s, s + n, &x.v) != n || x.v <= SP_DECIMAL)
        x.text = sp_profile_str(a->p, s, n);
    return x.text != SP_STR_FAIL && sp_vec_push(&a->values, x);
}

bool sp_agg_record_add(struct sp_agg *a, size_t first_block, size_t first_value, uint32_t context)
{
    struct sp_agg_record r = {first_block, first_value, (uint32_t)(a->blocks.n - first_block),
                              (uint32_t)(a->values.n - first_value), context};
    return sp_vec_push(&a->records, r);
}

void sp_agg_drop(struct sp_agg *a, size_t first_block, size_t first_value)
{
    if (a->blocks.n > first_block)
        a->block_frames.n = a->blocks.v[first_block].first;
    a->blocks.n = first_block;
    a->values.n = first_value;
}

/* "997", "997hz", "10ms": how often a second, as number text; NULL unit of no known name: 0. */
static bool aggregation_rate_text(struct sp_buf *out, const char *s, size_t n)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1},
                 {"nsec", 1},
                 {"us", 1000},
                 {"usec", 1000},
                 {"ms", 1000000},
                 {"msec", 1000000},
                 {"s", 1000000000},
                 {"sec", 1000000000},
                 {"m", 60000000000},
                 {"min", 60000000000},
                 {"h", 3600000000000},
                 {"hour", 3600000000000},
                 {"d", 86400000000000},
                 {"day", 86400000000000}};
    uint64_t v;
    size_t digits = sp_parse_u64(s, s + n, &v);
    if (!digits || !v)
        return false;
    s += digits;
    n -= digits;
    if (!n || (n == 2 && memcmp(s, "hz", 2) == 0))
        return sp_buf_u64(out, v);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != n || memcmp(units[i].name, s, n) != 0)
            continue;
        if (v > UINT64_MAX / units[i].ns)
            return false;
        uint64_t ns = v * units[i].ns;
        char t[32];
        if (1000000000 % ns == 0)
            return sp_buf_u64(out, 1000000000 / ns);
        return sp_buf_add(out, t, sp_double_text(1e9 / (double)ns, t));
    }
    return false;
}

/* The last part of "provider:module:function:name". */
static const char *aggregation_probe_name(const char *s, size_t *n)
{
    const char *colon = memrchr(s, ':', *n);
    if (!colon)
        return s;
    *n -= (size_t)(colon + 1 - s);
    return colon + 1;
}

/* "profile-997", "tick-10ms", bpftrace's "profile:hz:99" and "interval:s:1": the part that says how often. */
static bool aggregation_timer_rate(struct sp_buf *out, const char *s, size_t n)
{
    static const char *const dtrace[] = {"profile-", "tick-"};
    static const char *const bpftrace[] = {"profile:", "interval:"};
    for (int i = 0; i < 2; i++) {
        size_t k = strlen(bpftrace[i]);
        const char *unit = s + k, *colon = n > k ? memchr(unit, ':', n - k) : NULL;
        if (colon && colon > unit && memcmp(s, bpftrace[i], k) == 0) {
            char t[64];
            size_t digits = (size_t)(s + n - colon - 1), u = (size_t)(colon - unit);
            if (!digits || digits + u >= sizeof t)
                return false;
            memcpy(t, colon + 1, digits);
            memcpy(t + digits, unit, u);
            return aggregation_rate_text(out, t, digits + u);
        }
    }
    const char *name = aggregation_probe_name(s, &n);
    for (int i = 0; i < 2; i++) {
        size_t k = strlen(dtrace[i]);
        if (n > k && memcmp(name, dtrace[i], k) == 0)
            return aggregation_rate_text(out, name + k, n - k);
    }
    return false;
}

bool sp_agg_event_named(struct sp_profile *p, const char *name, size_t n, const char *metric,
                        struct sp_event *out)
{
    struct sp_buf rate;
    sp_buf_init(&rate, 0);
    *out = (struct sp_event){.name = sp_profile_str(p, name, n), .kind = SP_PROBE, .mode = SP_EVENT};
    if (aggregation_timer_rate(&rate, name, n)) {
        out->kind = SP_TIMER;
        out->mode = SP_FREQUENCY;
        out->frequency_hz = sp_profile_str(p, rate.data, rate.len);
        metric = strcmp(metric, "count") == 0 ? "samples" : metric;
    }
    out->primary = sp_metric_intern(p, metric, strlen(metric));
    bool ok = !rate.failed && out->name != SP_STR_FAIL && out->frequency_hz != SP_STR_FAIL &&
              out->primary != SP_NONE;
    sp_buf_free(&rate);
    return ok;
}

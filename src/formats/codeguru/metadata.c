/*
 * What stands around the call graph: times and agentMetadata. Of a CodeGuru profile they are written as they
 * were read, apart from what options name; of others they are made from the header.
 */
#include "formats/codeguru/metadata.h"

#include "base/num.h"

#include "spaa/version.h"
#include <time.h>

/* A member to replace, or to add where it is missing. */
struct change {
    const char *key;
    struct sp_span value;
};

/* The members of an object, changed; raw may be no object. */
static void codeguru_rewrite(struct sp_buf *out, struct sp_span raw, const struct change *changes, size_t n)
{
    struct sp_json j;
    struct sp_span key, value;
    unsigned done = 0;
    const char *comma = "";
    sp_buf_ch(out, '{');
    sp_json_init(&j, raw.p, raw.n);
    if (raw.n && sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j)) {
        while (sp_json_key(&j, &key)) {
            sp_buf_puts(out, comma);
            comma = ",";
            sp_json_string(out, key.p, key.n);
            sp_buf_ch(out, ':');
            size_t c = 0;
            while (c < n && !(changes[c].value.n && sp_span_is(key, changes[c].key)))
                c++;
            if (!sp_json_skip(&j, &value))
                break;
            if (c < n) {
                value = changes[c].value;
                done |= 1u << c;
            }
            sp_buf_add(out, value.p, value.n);
        }
    }
    out->failed = out->failed || j.scratch.failed;
    sp_json_free(&j);
    for (size_t c = 0; c < n; c++) {
        if (!changes[c].value.n || done >> c & 1)
            continue;
        sp_buf_printf(out, "%s\"%s\":", comma, changes[c].key);
        sp_buf_add(out, changes[c].value.p, changes[c].value.n);
        comma = ",";
    }
    sp_buf_ch(out, '}');
}

/* An option's value as JSON in a buffer of its own; empty where it was not given. */
static struct sp_span codeguru_quoted(struct sp_buf *b, const char *s)
{
    sp_buf_init(b, 0);
    if (s)
        sp_json_string(b, s, strlen(s));
    return (struct sp_span){b->data, b->len};
}

static void codeguru_kept_metadata(struct sp_buf *out, struct sp_span raw, const struct sp_cg_meta_opts *o)
{
    struct sp_buf id, host, agent, fleet, info;
    struct change in_fleet[] = {{"fleetInstanceId", codeguru_quoted(&id, o->fleet_instance_id)},
                                {"hostType", codeguru_quoted(&host, o->host_type)}};
    struct change in_info[] = {{"type", codeguru_quoted(&agent, o->agent_type)}};
    sp_buf_init(&fleet, 0);
    sp_buf_init(&info, 0);
    if (o->fleet_instance_id || o->host_type)
        codeguru_rewrite(&fleet, sp_cg_member(raw, "fleetInfo"), in_fleet, 2);
    if (o->agent_type)
        codeguru_rewrite(&info, sp_cg_member(raw, "agentInfo"), in_info, 1);
    struct change changes[] = {{"fleetInfo", {fleet.data, fleet.len}}, {"agentInfo", {info.data, info.len}}};
    if (fleet.len || info.len)
        codeguru_rewrite(out, raw, changes, 2);
    else
        sp_buf_add(out, raw.p, raw.n);
    out->failed = out->failed || id.failed || host.failed || agent.failed || fleet.failed || info.failed;
    struct sp_buf *all[] = {&id, &host, &agent, &fleet, &info};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_buf_free(all[i]);
}

static void codeguru_text_member(struct sp_buf *out, const char *key, const char *option,
                                 struct sp_str header)
{
    sp_buf_puts(out, key);
    if (option)
        sp_json_string(out, option, strlen(option));
    else if (header.n)
        sp_json_string(out, header.p, header.n);
    else
        sp_buf_puts(out, "\"unknown\"");
}

static void codeguru_made_metadata(struct sp_buf *out, const struct sp_cg_meta *m,
                                   const struct sp_cg_meta_opts *o)
{
    const struct sp_profile *p = m->p;
    double seconds = (double)m->duration_ms / 1000;
    int64_t all = 0;
    sp_buf_puts(out, "{\"sampleWeights\":{");
    for (size_t i = 0; i < m->ntotals; i++) {
        char t[32];
        /* Without a duration there is no rate; the Python agent writes 1.0 then. */
        double rate = seconds > 0 ? (double)m->totals[i].sum / seconds : 1.0;
        size_t n = sp_double_text(rate, t);
        if (i)
            sp_buf_ch(out, ',');
        sp_buf_add(out, m->totals[i].counter.p, m->totals[i].counter.n);
        sp_buf_ch(out, ':');
        sp_buf_add(out, t, n);
        if (!memchr(t, '.', n) && !memchr(t, 'e', n))
            sp_buf_puts(out, ".0");
        if (__builtin_add_overflow(all, m->totals[i].sum, &all))
            all = INT64_MAX;
    }
    sp_buf_printf(out, "},\"durationInMs\":%lld", (long long)m->duration_ms);
    codeguru_text_member(out, ",\"fleetInfo\":{\"fleetInstanceId\":", o->fleet_instance_id,
                         sp_pstr(p, p->header.host.name));
    codeguru_text_member(out, ",\"hostType\":", o->host_type, (struct sp_str){"", 0});
    codeguru_text_member(out, "},\"agentInfo\":{\"type\":", o->agent_type, (struct sp_str){"spaa", 4});
    sp_buf_printf(out, ",\"version\":\"%d.%d.%d\"},\"numTimesSampled\":%lld}", SPAA_VERSION_MAJOR,
                  SPAA_VERSION_MINOR, SPAA_VERSION_PATCH,
                  (long long)(m->samples == SP_ABSENT ? all : m->samples));
}

/* A time of the header in milliseconds, rounded up or down; false: there is none. */
static bool codeguru_milliseconds(const struct sp_profile *p, uint32_t text, bool up, int64_t *ms)
{
    struct sp_str s = sp_pstr(p, text), unit = sp_pstr(p, p->header.time_unit);
    unsigned scale;
    int shift = 3;
    if (!s.n || !sp_parse_scaled(s.p, s.n, ms, &scale))
        return false;
    if (sp_str_is(unit, "milliseconds") || sp_str_is(unit, "ms"))
        shift = 0;
    else if (sp_str_is(unit, "microseconds") || sp_str_is(unit, "us"))
        shift = -3;
    else if (sp_str_is(unit, "nanoseconds") || sp_str_is(unit, "ns"))
        shift = -6;
    shift -= (int)scale;
    for (; shift > 0; shift--)
        if (__builtin_mul_overflow(*ms, 10, ms))
            return false;
    bool rest = false;
    for (; shift < 0; shift++) {
        rest = rest || *ms % 10;
        *ms /= 10;
    }
    *ms += up && rest;
    return true;
}

static void codeguru_time_member(struct sp_buf *out, const char *key, struct sp_span raw, bool known,
                                 int64_t ms, const char **comma)
{
    if (!raw.n && !known)
        return;
    sp_buf_printf(out, "%s\"%s\":", *comma, key);
    if (raw.n)
        sp_buf_add(out, raw.p, raw.n);
    else
        sp_buf_i64(out, ms);
    *comma = ",";
}

/* Of several recordings in one profile all of them together, which the span is not; else the span. */
static int64_t codeguru_recorded_ms(const struct sp_profile *p, int64_t span)
{
    struct sp_str s = sp_pstr(p, p->header.duration);
    int64_t ns;
    if (!s.n || !sp_seconds_ns(s.p, s.n, &ns) || ns <= 0)
        return span;
    return ns / 1000000 + (ns % 1000000 != 0);
}

/* "2026-01-31T12:00:00Z", on a day that there is: strptime takes 30 February. */
static bool codeguru_iso_ms(const char *text, int64_t *ms)
{
    struct tm tm = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (!rest || *rest)
        return false;
    struct tm day = {.tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = tm.tm_mday};
    timegm(&day);
    if (day.tm_mday != tm.tm_mday)
        return false;
    *ms = 1000 * (int64_t)timegm(&tm);
    return true;
}

/* The span, or where there is none that long a one, from --start on instead of where it is; what is taken now
 * has ended just now. */
static bool codeguru_move(const char *to, int64_t length, int64_t *start, int64_t *end, struct sp_diags *d)
{
    size_t n = strlen(to);
    int64_t at, span = sp_cg_is_range(*start, *end) ? *end - *start : length;
    struct timespec now;
    if (strcmp(to, "now") == 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        at = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
        at = span < at ? at - span : 0;
    } else if (!codeguru_iso_ms(to, &at) && (!n || sp_parse_i64(to, to + n, &at) != n)) {
        at = -1;
    }
    if (at < 0 || __builtin_add_overflow(at, span, end)) {
        sp_emit(d, SP_E037, SP_AT_NOTHING,
                "--start needs milliseconds since 1970, a time like 2026-01-31T12:00:00Z, or now, not \"%s\"",
                to);
        return false;
    }
    *start = at;
    return true;
}

/* Recordings count from the start of the machine, or do not say when they were taken. */
static void codeguru_say_when(const struct sp_profile *p, int64_t start, struct sp_diags *d)
{
    if (start < SP_CG_YEAR_1986)
        sp_emit(d, SP_W477, SP_AT_NOTHING, "%s",
                p->header.time_start ? "its times count from another moment than 1970"
                                     : "it has no time range");
}

spaa_status sp_cg_meta_begin(struct sp_cg_meta *m, const struct sp_cg_meta_opts *o, struct sp_buf *out,
                             struct sp_diags *d)
{
    const struct sp_profile *p = m->p;
    struct sp_span none = {NULL, 0}, start_raw = none, end_raw = none, agent = none;
    int64_t start = 0, end = 0;
    bool has_start = codeguru_milliseconds(p, p->header.time_start, false, &start),
         has_end = codeguru_milliseconds(p, p->header.time_end, true, &end);
    const char *comma = "";
    if (m->kept.n) {
        start_raw = sp_cg_member(m->kept, "start");
        end_raw = sp_cg_member(m->kept, "end");
        agent = sp_cg_member(m->kept, "agentMetadata");
    } else if (!has_start || !has_end || end < start) {
        start = 0;
        end = codeguru_recorded_ms(p, 0);
        has_start = has_end = true;
    }
    if (o->start) {
        if (!has_start || !has_end)
            start = end = 0;
        if (!codeguru_move(o->start, codeguru_recorded_ms(p, 0), &start, &end, d))
            return SPAA_ERR_USAGE;
        has_start = has_end = true;
        start_raw = end_raw = none;
    } else if (!m->kept.n) {
        codeguru_say_when(p, start, d);
    }
    m->duration_ms = codeguru_recorded_ms(p, end - start);
    sp_buf_ch(out, '{');
    codeguru_time_member(out, "start", start_raw, has_start, start, &comma);
    codeguru_time_member(out, "end", end_raw, has_end, end, &comma);
    bool changed = o->fleet_instance_id || o->host_type || o->agent_type;
    if (!m->kept.n || agent.n || changed) {
        sp_buf_printf(out, "%s\"agentMetadata\":", comma);
        comma = ",";
        if (m->kept.n)
            codeguru_kept_metadata(out, agent, o);
        else
            codeguru_made_metadata(out, m, o);
    }
    sp_buf_printf(out, "%s\"callgraph\":", comma);
    return out->failed ? sp_nomem(d) : SPAA_OK;
}

void sp_cg_meta_end(const struct sp_cg_meta *m, struct sp_buf *out)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_json_init(&j, m->kept.p, m->kept.n);
    if (m->kept.n)
        sp_json_object(&j);
    while (m->kept.n && sp_json_key(&j, &key)) {
        bool before = sp_span_is(key, "start") || sp_span_is(key, "end") || sp_span_is(key, "agentMetadata");
        size_t at = out->len;
        sp_buf_ch(out, ',');
        sp_json_string(out, key.p, key.n);
        sp_buf_ch(out, ':');
        if (!sp_json_skip(&j, &raw))
            break;
        sp_buf_add(out, raw.p, raw.n);
        if (before && !out->failed)
            out->len = at;
    }
    out->failed = out->failed || j.scratch.failed;
    sp_json_free(&j);
    sp_buf_ch(out, '}');
}

/*
 * What stands once in a pprof: sample types, times, period, comments.
 *
 * A profile that was a pprof says in its header what the types were. Of any other one each event gives its
 * samples and its metrics: by their own names where there is one event only, else by the event's.
 */
#include "base/num.h"
#include "formats/pprof/write.h"
#include "model/events.h"
#include "json/find.h"

static bool pprof_event_wanted(const struct sp_pw *w, uint32_t e)
{
    return w->opts->event == SP_NONE || w->opts->event == e;
}

static bool pprof_has_type(const struct sp_pw *w, uint32_t event, uint32_t metric)
{
    for (size_t i = 0; i < w->types.n; i++)
        if (w->types.v[i].event == event && w->types.v[i].metric == metric)
            return true;
    return false;
}

static void pprof_add_type(struct sp_pw *w, uint32_t event, uint32_t metric, struct sp_str type,
                           struct sp_str unit)
{
    struct sp_pw_type t = {event, metric, sp_pw_str(w, type), sp_pw_str(w, unit)};
    if (pprof_has_type(w, event, metric))
        return;
    if (!sp_vec_push(&w->types, t))
        w->nomem = true;
}

/* One of "sample_types". */
static void pprof_own_type(struct sp_pw *w, struct sp_json *j)
{
    struct sp_str type = {"", 0}, unit = type, event = type, metric = type;
    struct sp_span key, raw;
    if (sp_json_type(j) != SP_JSON_OBJECT) {
        sp_json_skip(j, &raw);
        return;
    }
    sp_json_object(j);
    while (sp_json_key(j, &key)) {
        struct sp_str *to = sp_span_is(key, "type")     ? &type
                            : sp_span_is(key, "unit")   ? &unit
                            : sp_span_is(key, "event")  ? &event
                            : sp_span_is(key, "metric") ? &metric
                                                        : NULL;
        if (to && sp_pw_text_ahead(j))
            *to = sp_pw_text(w, j);
        else
            sp_json_skip(j, &raw);
    }
    uint32_t e = sp_event_find(w->p, event.p, event.n), m = sp_metric_find(w->p, metric.p, metric.n);
    if (e != SP_NONE && m != SP_NONE && pprof_event_wanted(w, e))
        pprof_add_type(w, e, m, type, unit);
}

/* Which key holds pid, tid or name. */
static void pprof_own_keys(struct sp_pw *w, struct sp_json *j)
{
    struct sp_span name, key, raw;
    sp_json_object(j);
    while (sp_json_key(j, &name)) {
        int k = 0;
        while (k < PPROF_KEYS && !sp_span_is(name, sp_pprof_key_names[k]))
            k++;
        if (k == PPROF_KEYS || sp_json_type(j) != SP_JSON_OBJECT) {
            sp_json_skip(j, &raw);
            continue;
        }
        sp_json_object(j);
        while (sp_json_key(j, &key)) {
            if (sp_span_is(key, "key") && sp_pw_text_ahead(j))
                w->keys[k].key = sp_pw_text(w, j);
            else if (sp_span_is(key, "unit") && sp_pw_text_ahead(j))
                w->keys[k].unit = sp_pw_text(w, j);
            else if (!sp_span_is(key, "text") || sp_json_type(j) != SP_JSON_TRUE || !sp_json_skip(j, &raw))
                sp_json_skip(j, &raw);
            else
                w->keys[k].text = true;
        }
    }
}

static bool pprof_own_hex(struct sp_json *j, uint64_t *out)
{
    struct sp_span s;
    return sp_json_string_value(j, &s) && sp_parse_0x(s.p, s.n, out);
}

static void pprof_own_has(struct sp_json *j, struct sp_pprof_mapping *m)
{
    struct sp_span s;
    sp_json_array(j);
    while (sp_json_item(j)) {
        if (sp_json_type(j) != SP_JSON_STRING) {
            sp_json_skip(j, &s);
            continue;
        }
        sp_json_string_value(j, &s);
        for (unsigned k = 0; k < 4; k++)
            if (sp_span_is(s, sp_pprof_has_names[k]))
                m->has |= (uint8_t)(1u << k);
    }
}

static void pprof_own_mapping(struct sp_pw *w, struct sp_json *j)
{
    struct sp_pprof_mapping m = {.dso = SP_NONE, .stated = true};
    struct sp_span key, raw;
    if (sp_json_type(j) != SP_JSON_OBJECT) {
        sp_json_skip(j, &raw);
        return;
    }
    sp_json_object(j);
    while (sp_json_key(j, &key)) {
        bool string = sp_json_type(j) == SP_JSON_STRING;
        uint64_t *number = sp_span_is(key, "start")    ? &m.start
                           : sp_span_is(key, "limit")  ? &m.limit
                           : sp_span_is(key, "offset") ? &m.offset
                                                       : NULL;
        if (string && number) {
            pprof_own_hex(j, number);
        } else if (sp_pw_text_ahead(j) && (sp_span_is(key, "file") || sp_span_is(key, "build_id"))) {
            bool file = sp_span_is(key, "file");
            struct sp_str s = sp_pw_text(w, j);
            uint32_t number_of = sp_profile_str(w->p, s.p, s.n);
            w->nomem |= number_of == SP_STR_FAIL;
            *(file ? &m.file : &m.build_id) = number_of;
        } else if (sp_span_is(key, "has") && sp_json_type(j) == SP_JSON_ARRAY) {
            pprof_own_has(j, &m);
        } else {
            sp_json_skip(j, &raw);
        }
    }
    if (w->nomem || !sp_vec_push(&w->maps.list, m))
        w->nomem = true;
}

/* A field that nobody knew: it goes out as it came in. */
static void pprof_own_unknown(struct sp_pw *w, struct sp_json *j)
{
    struct sp_span key, raw;
    struct sp_str bytes = {"", 0};
    uint64_t field = 0, type = 9, v = 0;
    if (sp_json_type(j) != SP_JSON_OBJECT) {
        sp_json_skip(j, &raw);
        return;
    }
    sp_json_object(j);
    while (sp_json_key(j, &key)) {
        if (sp_span_is(key, "hex") && sp_json_type(j) == SP_JSON_STRING)
            bytes = sp_json_string_value(j, &raw) ? sp_pw_unhex(w, raw) : bytes;
        else if (sp_span_is(key, "field"))
            sp_json_u64(j, &field);
        else if (sp_span_is(key, "type"))
            sp_json_u64(j, &type);
        else if (sp_span_is(key, "value"))
            sp_json_u64(j, &v);
        else
            sp_json_skip(j, &raw);
    }
    if (j->error || !field || field > 0x1fffffff || (type > 2 && type != 5))
        return;
    sp_wire_put_varint(&w->unknown, field << 3 | type);
    if (type == SP_WIRE_VARINT)
        sp_wire_put_varint(&w->unknown, v);
    for (size_t i = 0; (type == SP_WIRE_64 && i < 8) || (type == SP_WIRE_32 && i < 4); i++)
        sp_buf_ch(&w->unknown, (char)(v >> 8 * i));
    if (type != SP_WIRE_BYTES)
        return;
    sp_wire_put_varint(&w->unknown, bytes.n);
    sp_buf_add(&w->unknown, bytes.p, bytes.n);
}

static void pprof_own_comment(struct sp_pw *w, struct sp_json *j)
{
    struct sp_span raw;
    if (!sp_pw_text_ahead(j)) {
        sp_json_skip(j, &raw);
        return;
    }
    struct sp_str s = sp_pw_text(w, j);
    if (!sp_vec_push(&w->comments, sp_pw_str(w, s)))
        w->nomem = true;
}

static void pprof_each_item(struct sp_pw *w, struct sp_json *j,
                            void (*item)(struct sp_pw *w, struct sp_json *j))
{
    sp_json_array(j);
    while (sp_json_item(j))
        item(w, j);
}

static void pprof_own_period_type(struct sp_pw *w, struct sp_json *j)
{
    struct sp_span raw;
    unsigned i = 0;
    sp_json_array(j);
    while (sp_json_item(j)) {
        if (i < 2 && sp_pw_text_ahead(j))
            w->period_type[i++] = sp_pw_str(w, sp_pw_text(w, j));
        else
            sp_json_skip(j, &raw);
    }
    w->has_period_type = true;
}

static void pprof_own_number(struct sp_json *j, int64_t *out)
{
    struct sp_span s;
    int64_t v;
    if (sp_json_number(j, &s) && sp_parse_i64(s.p, s.p + s.n, &v) == s.n)
        *out = v;
}

static void pprof_own_member(struct sp_pw *w, struct sp_json *j, struct sp_span key)
{
    struct sp_span raw;
    enum sp_json_type is = sp_json_type(j);
    bool array = is == SP_JSON_ARRAY, number = is == SP_JSON_NUMBER;
    uint32_t *text = sp_span_is(key, "default_sample_type") ? &w->default_type
                     : sp_span_is(key, "drop_frames")       ? &w->drop_frames
                     : sp_span_is(key, "keep_frames")       ? &w->keep_frames
                     : sp_span_is(key, "doc_url")           ? &w->doc_url
                                                            : NULL;
    int64_t *value = sp_span_is(key, "period")           ? &w->period
                     : sp_span_is(key, "time_nanos")     ? &w->time
                     : sp_span_is(key, "duration_nanos") ? &w->duration
                                                         : NULL;
    if (text && sp_pw_text_ahead(j))
        *text = sp_pw_str(w, sp_pw_text(w, j));
    else if (value && number)
        pprof_own_number(j, value);
    else if (array && sp_span_is(key, "sample_types"))
        pprof_each_item(w, j, pprof_own_type);
    else if (array && sp_span_is(key, "mappings"))
        pprof_each_item(w, j, pprof_own_mapping);
    else if (array && sp_span_is(key, "comments"))
        pprof_each_item(w, j, pprof_own_comment);
    else if (array && sp_span_is(key, "unknown"))
        pprof_each_item(w, j, pprof_own_unknown);
    else if (array && sp_span_is(key, "period_type"))
        pprof_own_period_type(w, j);
    else if (is == SP_JSON_OBJECT && sp_span_is(key, "keys"))
        pprof_own_keys(w, j);
    else
        sp_json_skip(j, &raw);
}

static struct sp_str pprof_metric_name(const struct sp_pw *w, uint32_t m)
{
    return sp_pstr(w->p, w->p->metrics.v[m].name);
}

/* Names that pprof's users know. */
static struct sp_str pprof_known_name(struct sp_str metric)
{
    static const char *const names[][2] = {{"alloc_count", "alloc_objects"}, {"alloc_bytes", "alloc_space"},
                                           {"live_count", "inuse_objects"},  {"live_bytes", "inuse_space"},
                                           {"free_count", "free_objects"},   {"free_bytes", "free_space"},
                                           {"peak_bytes", "peak_space"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_str_is(metric, names[i][0]))
            return sp_pprof_literal(names[i][1]);
    return metric;
}

/* A type for a metric of an event: by its own name in a profile of one event, else by the event's. */
static void pprof_event_type(struct sp_pw *w, uint32_t e, uint32_t m, uint32_t unit, bool alone)
{
    struct sp_str event = sp_pstr(w->p, w->p->events.v[e].name), metric = pprof_metric_name(w, m);
    bool primary = w->p->events.v[e].primary == m, plain = sp_str_is(metric, "period");
    struct sp_str name = pprof_known_name(metric), u = sp_pstr(w->p, unit);
    struct sp_buf b;
    if (pprof_has_type(w, e, m))
        return;
    if (!u.n && w->p->metrics.v[m].info->unit)
        u = sp_pprof_literal(w->p->metrics.v[m].info->unit);
    if (sp_str_is(u, "events"))
        u = sp_pprof_literal("count");
    sp_buf_init(&b, 0);
    if (primary && (plain || !alone)) {
        name = event;
    } else if (!alone) {
        sp_buf_add(&b, event.p, event.n);
        sp_buf_ch(&b, '-');
        sp_buf_add(&b, name.p, name.n);
        name = (struct sp_str){b.data, (uint32_t)b.len};
    }
    if (b.failed)
        w->nomem = true;
    else
        pprof_add_type(w, e, m, name, sp_pprof_unit_out(u));
    sp_buf_free(&b);
}

static bool pprof_metric_wanted(const struct sp_pw *w, uint32_t m)
{
    return w->opts->metric == SP_NONE || w->opts->metric == m ||
           sp_str_is(pprof_metric_name(w, m), "samples");
}

/* The metrics that records of an event have, the primary one last, as pprof shows the last type first. */
static void pprof_event_types(struct sp_pw *w, const uint32_t *units, uint32_t e, bool alone)
{
    const struct sp_profile *p = w->p;
    uint32_t primary = p->events.v[e].primary;
    for (uint32_t m = 0; m < p->metrics.n; m++)
        if (m != primary && units[m] != SP_NONE && pprof_metric_wanted(w, m))
            pprof_event_type(w, e, m, units[m], alone);
    if (primary < p->metrics.n && pprof_metric_wanted(w, primary))
        pprof_event_type(w, e, primary, units[primary] == SP_NONE ? p->events.v[e].unit : units[primary],
                         alone);
}

/* By event and metric: the unit of a record that has it; SP_NONE: none has. */
static uint32_t *pprof_metric_units(struct sp_pw *w)
{
    const struct sp_profile *p = w->p;
    size_t n = p->events.n * p->metrics.n;
    uint32_t *units = malloc((n + 1) * sizeof *units);
    unsigned char *seen = calloc(p->events.n * p->layouts.n + 1, 1);
    if (!units || !seen) {
        free(units);
        free(seen);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        units[i] = SP_NONE;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        uint32_t e = p->contexts.v[p->stacks.v[s].context].event, l = p->stacks.v[s].layout;
        if (e == SP_NONE || l == SP_NONE || seen[(size_t)e * p->layouts.n + l])
            continue;
        seen[(size_t)e * p->layouts.n + l] = 1;
        for (uint32_t i = 0; i < p->layouts.v[l].n; i++) {
            const struct sp_weight_field *f = &p->layout_fields.v[p->layouts.v[l].first + i];
            units[(size_t)e * p->metrics.n + f->metric] = f->unit;
        }
    }
    free(seen);
    return units;
}

/* The event with the most samples, as views choose it; its primary metric is the default type. */
static void pprof_choose_default(struct sp_pw *w)
{
    const struct sp_profile *p = w->p;
    uint32_t samples = sp_metric_find(p, "samples", 7), best = 0;
    double *sums = calloc(p->events.n + 1, sizeof *sums);
    if (!sums) {
        w->nomem = true;
        return;
    }
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        uint32_t e = p->contexts.v[p->stacks.v[s].context].event;
        int64_t v = samples == SP_NONE ? SP_ABSENT : sp_weight(p, s, samples);
        if (e != SP_NONE && v > 0)
            sums[e] += (double)v;
    }
    for (uint32_t e = 1; e < p->events.n; e++)
        if (sums[e] > sums[best] && !sp_is_branches(p, e))
            best = e;
    free(sums);
    struct sp_str stated = sp_pstr(p, p->header.default_event);
    uint32_t named = stated.n ? sp_event_find(p, stated.p, stated.n) : SP_NONE;
    best = named == SP_NONE ? best : named;
    if (w->opts->event != SP_NONE)
        best = w->opts->event;
    for (size_t i = 0; i < w->types.n; i++) {
        uint32_t m = w->opts->metric != SP_NONE ? w->opts->metric : p->events.v[best].primary;
        if (w->types.v[i].event == best && w->types.v[i].metric == m)
            w->default_type = w->types.v[i].type;
    }
}

static bool pprof_nanoseconds(const struct sp_pw *w, uint32_t text, int64_t *out)
{
    struct sp_str s = sp_pstr(w->p, text);
    return s.n && sp_seconds_ns(s.p, s.n, out);
}

/* What perf recorded of the wall clock, where its own clock is another one. */
static bool pprof_wall_less_clock(const struct sp_pw *w, int64_t *out)
{
    struct sp_str more = sp_pstr(w->p, w->p->header.extra_json), clock = sp_pstr(w->p, w->p->header.clock);
    struct sp_span data, name;
    int64_t wall, then;
    return sp_json_find2((struct sp_span){more.p, more.n}, "x_perf", "clock_data", &data) &&
           sp_json_find(data, "clock", &name) && name.n == clock.n + 2 &&
           memcmp(name.p + 1, clock.p, clock.n) == 0 && sp_json_find_i64(data, "wall_ns", &wall) &&
           sp_json_find_i64(data, "clock_ns", &then) && !__builtin_sub_overflow(wall, then, out);
}

static void pprof_write_times(struct sp_pw *w)
{
    const struct sp_header *h = &w->p->header;
    bool seconds = sp_str_is(sp_pstr(w->p, h->time_unit), "seconds");
    int64_t start, end, wall;
    if (!pprof_nanoseconds(w, h->duration, &w->duration) && seconds &&
        pprof_nanoseconds(w, h->time_start, &start) && pprof_nanoseconds(w, h->time_end, &end) &&
        __builtin_sub_overflow(end, start, &w->duration))
        w->duration = 0;
    if (!seconds || !pprof_nanoseconds(w, h->time_start, &start))
        return;
    if (sp_str_is(sp_pstr(w->p, h->clock), "CLOCK_REALTIME"))
        w->time = start;
    else if (pprof_wall_less_clock(w, &wall) && __builtin_add_overflow(start, wall, &w->time))
        w->time = 0;
}

/* The sampling period of the first event that has one. */
static void pprof_write_period(struct sp_pw *w)
{
    for (size_t i = 0; i < w->types.n && !w->has_period_type; i++) {
        const struct sp_pw_type *t = &w->types.v[i];
        const struct sp_event *e = &w->p->events.v[t->event];
        struct sp_str s = sp_pstr(w->p, e->sample_period);
        int64_t v;
        if (t->metric != e->primary || !s.n || sp_parse_i64(s.p, s.p + s.n, &v) != s.n || v <= 0)
            continue;
        w->period = v;
        w->period_type[0] = t->type;
        w->period_type[1] = t->unit;
        w->has_period_type = true;
    }
}

void sp_pw_header(struct sp_pw *w)
{
    struct sp_profile *p = w->p;
    struct sp_json j;
    struct sp_span key;
    w->keys[PPROF_PID].key = sp_pprof_literal("pid");
    w->keys[PPROF_TID].key = sp_pprof_literal("tid");
    w->keys[PPROF_COMM].key = sp_pprof_literal("thread");
    w->keys[PPROF_COMM].text = true;
    pprof_write_times(w);
    sp_pw_member(w, p->header.extra_json, &w->own);
    if (w->own.len) {
        sp_json_init(&j, w->own.data, w->own.len);
        if (sp_json_object(&j))
            while (!w->nomem && sp_json_key(&j, &key))
                pprof_own_member(w, &j, key);
        sp_json_free(&j);
    }
    sp_pw_mark(w);
    bool all_known = w->types.n;
    uint32_t *units = pprof_metric_units(w);
    if (!units) {
        w->nomem = true;
        return;
    }
    for (uint32_t e = 0; e < p->events.n; e++)
        if (pprof_event_wanted(w, e))
            pprof_event_types(w, units + (size_t)e * p->metrics.n, e, p->events.n == 1);
    free(units);
    if (!all_known || w->opts->event != SP_NONE || w->opts->metric != SP_NONE)
        pprof_choose_default(w);
    pprof_write_period(w);
}

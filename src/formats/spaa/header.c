/* The header record of a SPAA file. */
#include "formats/spaa/read.h"

#include "base/num.h"

/* One of a list of names; unknown ones are reported and `otherwise` is taken. */
static bool enumeration(struct reader *r, struct sp_span key, const char *const *names, int otherwise,
                        int *out)
{
    char field[32];
    size_t n = key.n < sizeof field ? key.n : sizeof field - 1;
    memcpy(field, key.p, n);
    field[n] = '\0';
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_keep_odd(r, key, "a string");
    struct sp_span s;
    if (!sp_json_string_value(&r->j, &s))
        return false;
    *out = sp_name_index(names, s.p, s.n);
    if (*out < 0) {
        sp_emit(r->d, SP_E111, sp_here(r, field), "\"%.*s\", taken as \"%s\"", (int)(s.n < 80 ? s.n : 80),
                s.p, names[otherwise]);
        *out = otherwise;
    }
    return true;
}

static bool read_sampling(struct reader *r, struct sp_event *e, bool *has_mode)
{
    struct nest n;
    struct sp_span key, s;
    int v;
    if (!sp_json_object(&r->j))
        return false;
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key)) {
        bool ok;
        if (sp_span_is(key, "mode")) {
            *has_mode = true;
            v = (int)e->mode;
            ok = enumeration(r, key, sp_mode_names, SP_EVENT, &v);
            e->mode = (enum sp_mode)v;
        } else if (sp_span_is(key, "primary_metric") && sp_json_type(&r->j) == SP_JSON_STRING) {
            ok = sp_json_string_value(&r->j, &s) && sp_metric_named(r, s, &e->primary);
        } else if (sp_span_is(key, "sample_period")) {
            ok = sp_read_number_text(r, key, &e->sample_period);
        } else if (sp_span_is(key, "frequency_hz")) {
            ok = sp_read_number_text(r, key, &e->frequency_hz);
        } else {
            ok = sp_keep_member(r, key);
        }
        if (!ok)
            break;
    }
    return sp_nest_end(r, &n, &e->sampling_more) && !r->j.error;
}

static bool read_event(struct reader *r)
{
    struct sp_event e = {.kind = SP_SOFTWARE, .mode = SP_EVENT, .primary = SP_NONE};
    struct nest n;
    struct sp_span key;
    bool has_kind = false, has_mode = false;
    int v;
    if (!sp_json_object(&r->j))
        return false;
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key)) {
        bool ok;
        if (sp_span_is(key, "name")) {
            ok = sp_read_str(r, key, &e.name);
        } else if (sp_span_is(key, "kind")) {
            has_kind = true;
            v = (int)e.kind;
            ok = enumeration(r, key, sp_event_kind_names, SP_SOFTWARE, &v);
            e.kind = (enum sp_event_kind)v;
        } else if (sp_span_is(key, "sampling") && sp_json_type(&r->j) == SP_JSON_OBJECT) {
            ok = read_sampling(r, &e, &has_mode);
        } else if (sp_span_is(key, "allocation_tracking")) {
            ok = sp_read_raw(r, &e.allocation_tracking);
        } else {
            ok = sp_keep_member(r, key);
        }
        if (!ok)
            break;
    }
    if (!sp_nest_end(r, &n, &e.more) || r->j.error)
        return false;
    if (e.primary == SP_NONE) {
        sp_emit(r->d, SP_W208, sp_here(r, "events.sampling.primary_metric"), "samples");
        if ((e.primary = sp_metric_intern(r->p, "samples", 7)) == SP_NONE)
            return sp_json_fail(&r->j, "out of memory");
    }
    if (!has_kind)
        sp_emit(r->d, SP_W208, sp_here(r, "events.kind"), "software");
    if (!has_mode)
        sp_emit(r->d, SP_W208, sp_here(r, "events.sampling.mode"), "event");
    if (e.name == SP_STR_NONE) {
        sp_emit(r->d, SP_W208, sp_here(r, "events.name"), "[unknown]");
        if ((e.name = sp_profile_cstr(r->p, "[unknown]")) == SP_STR_FAIL)
            return sp_json_fail(&r->j, "out of memory");
    }
    struct sp_str name = sp_pstr(r->p, e.name);
    if (sp_event_find(r->p, name.p, name.n) != SP_NONE) {
        sp_emit(r->d, SP_E119, sp_here(r, "events.name"), "a second event \"%.*s\"; the first is used",
                (int)(name.n < 80 ? name.n : 80), name.p);
        return true;
    }
    return sp_event_add(r->p, &e) != SP_NONE || sp_json_fail(&r->j, "out of memory");
}

static bool read_events(struct reader *r)
{
    if (!sp_json_array(&r->j))
        return false;
    while (sp_json_item(&r->j))
        if (!read_event(r))
            return false;
    return !r->j.error;
}

static bool read_time_range(struct reader *r, bool whole)
{
    struct sp_header *h = &r->p->header;
    struct nest n;
    struct sp_span key;
    if (!sp_json_object(&r->j))
        return false;
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key)) {
        if (!(sp_span_is(key, "start")  ? sp_read_number_text(r, key, &h->time_start)
              : sp_span_is(key, "end")  ? sp_read_number_text(r, key, &h->time_end)
              : sp_span_is(key, "unit") ? sp_read_str(r, key, &h->time_unit)
                                        : sp_keep_member(r, key)))
            break;
    }
    if (!sp_nest_end(r, &n, &h->time_more) || r->j.error)
        return false;
    if (whole && !(h->time_start && h->time_end))
        sp_emit(r->d, SP_E109, sp_here(r, h->time_start ? "time_range.end" : "time_range.start"),
                "the rest is kept as `x_time_range`");
    return true;
}

static bool read_source(struct reader *r)
{
    struct sp_header *h = &r->p->header;
    struct nest n;
    struct sp_span key;
    if (!sp_json_object(&r->j))
        return false;
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key)) {
        if (!(sp_span_is(key, "tool")           ? sp_read_str(r, key, &h->tool)
              : sp_span_is(key, "command")      ? sp_read_str(r, key, &h->command)
              : sp_span_is(key, "tool_version") ? sp_read_str(r, key, &h->tool_version)
                                                : sp_keep_member(r, key)))
            break;
    }
    return sp_nest_end(r, &n, &h->source_more) && !r->j.error;
}

static bool read_host(struct reader *r)
{
    struct sp_host *h = &r->p->header.host;
    struct sp_span key;
    if (!sp_json_object(&r->j))
        return false;
    while (sp_json_key(&r->j, &key)) {
        if (!(sp_span_is(key, "name")   ? sp_read_str(r, key, &h->name)
              : sp_span_is(key, "os")   ? sp_read_str(r, key, &h->os)
              : sp_span_is(key, "arch") ? sp_read_str(r, key, &h->arch)
              : sp_span_is(key, "cpus") ? sp_read_number_text(r, key, &h->cpus)
                                        : sp_keep_odd(r, key, "a known member of host")))
            break;
    }
    return !r->j.error;
}

static bool read_groups(struct reader *r, unsigned *out)
{
    struct sp_span s;
    if (!sp_json_array(&r->j))
        return false;
    while (sp_json_item(&r->j)) {
        if (sp_json_type(&r->j) != SP_JSON_STRING) {
            if (!sp_json_skip(&r->j, &s))
                return false;
            continue;
        }
        if (!sp_json_string_value(&r->j, &s))
            return false;
        int i = sp_name_index(sp_group_names, s.p, s.n);
        if (i >= 0)
            *out |= 1u << i;
    }
    return !r->j.error;
}

static bool read_sources(struct reader *r)
{
    struct sp_span s;
    if (!sp_json_array(&r->j))
        return false;
    while (sp_json_item(&r->j)) {
        if (sp_json_type(&r->j) != SP_JSON_STRING) {
            if (!sp_json_skip(&r->j, &s))
                return false;
            continue;
        }
        if (!sp_json_string_value(&r->j, &s))
            return false;
        uint32_t name = sp_profile_str(r->p, s.p, s.n);
        if (name == SP_STR_FAIL || !sp_vec_push(&r->p->sources, name))
            return sp_json_fail(&r->j, "out of memory");
    }
    return !r->j.error;
}

static bool read_counter(struct reader *r, struct sp_span key, uint64_t *out)
{
    struct sp_json before = r->j;
    struct sp_span s;
    int64_t v;
    if (sp_json_type(&r->j) != SP_JSON_NUMBER)
        return sp_keep_odd(r, key, "a whole number");
    if (!sp_json_number(&r->j, &s))
        return false;
    if (sp_parse_i64(s.p, s.p + s.n, &v) == s.n && v >= 0) {
        *out = (uint64_t)v;
        return true;
    }
    before.scratch = r->j.scratch;
    r->j = before;
    return sp_keep_odd(r, key, "a whole number");
}

static bool read_x_spaa(struct reader *r)
{
    struct sp_header *h = &r->p->header;
    struct nest n;
    struct sp_span key, s;
    int v;
    if (!sp_json_object(&r->j))
        return false;
    h->has_x_spaa = true;
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key)) {
        bool ok;
        if (sp_span_is(key, "frames")) {
            v = SP_FRAMES_FOREIGN;
            ok = enumeration(r, key, sp_granularity_names, SP_FRAMES_FOREIGN, &v);
            h->frames = (enum sp_granularity)v;
        } else if (sp_span_is(key, "group_by")) {
            ok = sp_json_type(&r->j) == SP_JSON_ARRAY ? read_groups(r, &h->group_by)
                                                      : sp_keep_odd(r, key, "an array of strings");
        } else if (sp_span_is(key, "ip")) {
            v = SP_IPS_BY_PLACE;
            ok = enumeration(r, key, sp_ips_names, SP_IPS_BY_PLACE, &v);
            h->ips = (enum sp_ips)v;
        } else if (sp_span_is(key, "id")) {
            ok = sp_json_skip(&r->j, &s);
        } else if (sp_span_is(key, "default_event")) {
            ok = sp_read_str(r, key, &h->default_event);
        } else if (sp_span_is(key, "clock")) {
            ok = sp_read_str(r, key, &h->clock);
        } else if (sp_span_is(key, "duration")) {
            ok = sp_read_number_text(r, key, &h->duration);
        } else if (sp_span_is(key, "host")) {
            ok = sp_json_type(&r->j) == SP_JSON_OBJECT ? read_host(r) : sp_keep_odd(r, key, "an object");
        } else if (sp_span_is(key, "sources")) {
            ok = sp_json_type(&r->j) == SP_JSON_ARRAY ? read_sources(r)
                                                      : sp_keep_odd(r, key, "an array of strings");
        } else if (sp_span_is(key, "lost")) {
            ok = read_counter(r, key, &h->lost);
        } else if (sp_span_is(key, "truncated")) {
            ok = read_counter(r, key, &h->truncated);
        } else if (sp_span_is(key, "unfinished")) {
            ok = read_counter(r, key, &h->unfinished);
        } else if (sp_span_is(key, "throttled_ns")) {
            ok = read_counter(r, key, &h->throttled_ns);
        } else {
            ok = sp_keep_member(r, key);
        }
        if (!ok)
            break;
    }
    return sp_nest_end(r, &n, &h->x_spaa_more) && !r->j.error;
}

static bool read_order(struct reader *r, struct sp_span key)
{
    static const char *const names[] = {"leaf_to_root", "root_to_leaf", NULL};
    int v = 0;
    if (!enumeration(r, key, names, 0, &v))
        return false;
    r->p->header.root_first = v == 1;
    return true;
}

static bool read_id_mode(struct reader *r, struct sp_span key)
{
    static const char *const names[] = {"content_addressable", "local", NULL};
    int v = 0;
    if (!enumeration(r, key, names, 0, &v))
        return false;
    r->p->header.ids_local = v == 1;
    return true;
}

static bool read_version(struct reader *r, struct sp_span key)
{
    if (!sp_read_str(r, key, &r->p->header.version))
        return false;
    struct sp_str v = sp_pstr(r->p, r->p->header.version);
    bool ours = v.n && v.p[0] == '1';
    for (uint32_t i = 1; ours && i < v.n; i++) /* numbers with a point before each */
        ours = v.p[i] == '.' ? i + 1 < v.n && v.p[i + 1] != '.'
                             : v.p[i] >= '0' && v.p[i] <= '9' && v.p[1] == '.';
    if (ours)
        return true;
    sp_emit(r->d, SP_W311, sp_here(r, "version"), "\"%.*s\" is read as 1.0", (int)(v.n < 20 ? v.n : 20), v.p);
    r->p->header.version = SP_STR_NONE;
    return true;
}

/* Members that the specification asks for and that have a default here. */
struct header_seen {
    bool format, version, frame_order, id_mode;
};

static bool read_format(struct reader *r, struct header_seen *seen)
{
    struct sp_span s;
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_json_skip(&r->j, &s);
    if (!sp_json_string_value(&r->j, &s))
        return false;
    seen->format = true;
    if (!sp_span_is(s, "spaa"))
        sp_emit(r->d, SP_E107, sp_here(r, "format"), "it is \"%.*s\"", (int)(s.n < 80 ? s.n : 80), s.p);
    return true;
}

static void report_defaults(struct reader *r, const struct header_seen *seen)
{
    if (!seen->format)
        sp_emit(r->d, SP_W208, sp_here(r, "format"), "spaa");
    if (!seen->version)
        sp_emit(r->d, SP_W208, sp_here(r, "version"), "1.0");
    if (!seen->frame_order)
        sp_emit(r->d, SP_W208, sp_here(r, "frame_order"), "leaf_to_root");
    if (!seen->id_mode)
        sp_emit(r->d, SP_W208, sp_here(r, "stack_id_mode"), "content_addressable");
}

static bool header_member(struct reader *r, struct sp_span key, struct header_seen *seen)
{
    struct sp_span s;
    enum sp_json_type t = sp_json_type(&r->j);
    if (sp_span_is(key, "type"))
        return sp_json_skip(&r->j, &s);
    if (sp_span_is(key, "format"))
        return read_format(r, seen);
    if (sp_span_is(key, "version")) {
        seen->version = true;
        return read_version(r, key);
    }
    if (sp_span_is(key, "source_tool"))
        return sp_read_str(r, key, &r->p->header.source_tool);
    if (sp_span_is(key, "frame_order")) {
        seen->frame_order = true;
        return read_order(r, key);
    }
    if (sp_span_is(key, "events") && t == SP_JSON_ARRAY)
        return read_events(r);
    if ((sp_span_is(key, "time_range") || sp_span_is(key, "x_time_range")) && t == SP_JSON_OBJECT)
        return read_time_range(r, sp_span_is(key, "time_range"));
    if (sp_span_is(key, "source") && t == SP_JSON_OBJECT)
        return read_source(r);
    if (sp_span_is(key, "stack_id_mode")) {
        seen->id_mode = true;
        return read_id_mode(r, key);
    }
    if (sp_span_is(key, "x_spaa"))
        return t == SP_JSON_OBJECT ? read_x_spaa(r) : sp_keep_odd(r, key, "an object");
    return sp_keep_member(r, key);
}

spaa_status sp_read_header(struct reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_span key;
    struct header_seen seen = {false};
    if (r->header_seen) {
        sp_emit(r->d, SP_E106, sp_here(r, NULL), "it was skipped");
        return SPAA_OK;
    }
    if (r->deferred.n || r->p->frames.n || r->p->dsos.n || r->p->threads.n)
        sp_emit(r->d, SP_E104, sp_here(r, NULL), " ");
    while (sp_json_key(&r->j, &key) && header_member(r, key, &seen))
        ;
    spaa_status st = sp_json_status(r);
    if (st)
        return st;
    r->header_seen = true;
    if (h->source_tool == SP_STR_NONE) {
        sp_emit(r->d, SP_E109, sp_here(r, "source_tool"), "taken as \"unknown\"");
        if ((h->source_tool = sp_profile_cstr(r->p, "unknown")) == SP_STR_FAIL)
            return sp_nomem(r->d);
    }
    report_defaults(r, &seen);
    h->more = sp_take_more(r);
    return h->more == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
}

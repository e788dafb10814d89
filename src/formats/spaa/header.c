/*
 * The header record of a SPAA file. What it holds of our own (x_spaa) is no part of the specification, and is
 * read with a JSON cursor.
 */
#include "formats/spaa/read.h"

#include "base/num.h"

/* ---- of the specification ---- */

static bool header_event_defaults(struct reader *r, struct sp_event *e, bool has_kind, bool has_mode)
{
    if (e->primary == SP_NONE) {
        sp_emit(r->d, SP_W208, sp_here(r, "events.sampling.primary_metric"), "samples");
        if ((e->primary = sp_metric_intern(r->p, "samples", 7)) == SP_NONE)
            return sp_no_memory(r);
    }
    if (!has_kind)
        sp_emit(r->d, SP_W208, sp_here(r, "events.kind"), "software");
    if (!has_mode)
        sp_emit(r->d, SP_W208, sp_here(r, "events.sampling.mode"), "event");
    if (e->name == SP_STR_NONE) {
        sp_emit(r->d, SP_W208, sp_here(r, "events.name"), "[unknown]");
        if ((e->name = sp_profile_cstr(r->p, "[unknown]")) == SP_STR_FAIL)
            return sp_no_memory(r);
    }
    return true;
}

static bool header_sampling(struct reader *r, const struct sp_rec_SAMPLING *x, struct sp_event *e)
{
    int mode = SP_EVENT;
    size_t kept = r->kept.n;
    if ((x->mode.p && !sp_take_name(r, "mode", &x->mode, sp_mode_names, SP_EVENT, &mode)) ||
        (x->primary_metric.p && !sp_metric_named(r, &x->primary_metric, &e->primary)) ||
        (x->sample_period.p && !sp_take_str(r, &x->sample_period, &e->sample_period)) ||
        (x->frequency_hz.p && !sp_take_str(r, &x->frequency_hz, &e->frequency_hz)))
        return false;
    e->mode = (enum sp_mode)mode;
    return sp_extra(r, &x->h, SP_T_SAMPLING, kept, &e->sampling_extra_json);
}

static bool header_event(struct reader *r, const struct sp_rec_EVENT *x)
{
    struct sp_event e = {.kind = SP_SOFTWARE, .mode = SP_EVENT, .primary = SP_NONE};
    const struct sp_rec_SAMPLING *sampling =
        x->sampling.v.p ? sp_rec_SAMPLING(r->dec, x->sampling.first) : NULL;
    int kind = SP_SOFTWARE;
    size_t kept = r->kept.n;
    if (x->h.kind != SP_JSON_OBJECT)
        return true;
    if ((x->name.p && !sp_take_str(r, &x->name, &e.name)) ||
        (x->kind.p && !sp_take_name(r, "kind", &x->kind, sp_event_kind_names, SP_SOFTWARE, &kind)) ||
        (sampling && !header_sampling(r, sampling, &e)) ||
        (x->allocation_tracking.v.p &&
         !sp_raw_object(r, sp_rec_any(r->dec, SP_T_TRACKING, x->allocation_tracking.first), SP_T_TRACKING,
                        &x->allocation_tracking.v, &e.allocation_tracking)) ||
        !sp_extra(r, &x->h, SP_T_EVENT, kept, &e.extra_json))
        return false;
    e.kind = (enum sp_event_kind)kind;
    if (!header_event_defaults(r, &e, x->kind.p, sampling && sampling->mode.p))
        return false;
    struct sp_str name = sp_pstr(r->p, e.name);
    if (sp_event_find(r->p, name.p, name.n) != SP_NONE) {
        sp_emit(r->d, SP_E119, sp_here(r, "events.name"), "a second event \"%.*s\"; the first is used",
                (int)(name.n < 80 ? name.n : 80), name.p);
        return true;
    }
    return sp_event_add(r->p, &e) != SP_NONE || sp_no_memory(r);
}

static bool header_events(struct reader *r, const struct sp_nested *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!header_event(r, sp_rec_EVENT(r->dec, list->first + i)))
            return false;
    return true;
}

static bool header_time_range(struct reader *r, const struct sp_rec_TIME_RANGE *x)
{
    struct sp_header *h = &r->p->header;
    if ((x->start.p && !sp_take_str(r, &x->start, &h->time_start)) ||
        (x->end.p && !sp_take_str(r, &x->end, &h->time_end)) ||
        (x->unit.p && !sp_take_str(r, &x->unit, &h->time_unit)) ||
        !sp_extra(r, &x->h, SP_T_TIME_RANGE, r->kept.n, &h->time_extra_json))
        return false;
    if (!(h->time_start && h->time_end))
        sp_emit(r->d, SP_E109, sp_here(r, h->time_start ? "time_range.end" : "time_range.start"),
                "the rest is kept as `x_time_range`");
    return true;
}

static bool header_source(struct reader *r, const struct sp_rec_SOURCE *x)
{
    struct sp_header *h = &r->p->header;
    return (!x->tool.p || sp_take_str(r, &x->tool, &h->tool)) &&
           (!x->command.p || sp_take_str(r, &x->command, &h->command)) &&
           (!x->tool_version.p || sp_take_str(r, &x->tool_version, &h->tool_version)) &&
           sp_extra(r, &x->h, SP_T_SOURCE, r->kept.n, &h->source_extra_json);
}

static bool header_format(struct reader *r, const struct sp_token *v)
{
    struct sp_span s = sp_token_text(v, &r->text);
    if (s.p && !sp_span_is(s, "spaa"))
        sp_emit(r->d, SP_E107, sp_here(r, "format"), "it is \"%.*s\"", (int)(s.n < 80 ? s.n : 80), s.p);
    return s.p || sp_no_memory(r);
}

static bool header_version(struct reader *r, const struct sp_token *token)
{
    if (!sp_take_str(r, token, &r->p->header.version))
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
static void header_report_defaults(struct reader *r, const struct sp_rec_HEADER *x)
{
    if (!x->format.p)
        sp_emit(r->d, SP_W208, sp_here(r, "format"), "spaa");
    if (!x->version.p)
        sp_emit(r->d, SP_W208, sp_here(r, "version"), "1.0");
    if (!x->frame_order.p)
        sp_emit(r->d, SP_W208, sp_here(r, "frame_order"), "leaf_to_root");
    if (!x->stack_id_mode.p)
        sp_emit(r->d, SP_W208, sp_here(r, "stack_id_mode"), "content_addressable");
}

/* ---- of our own ---- */

/* Reads a value as it stands into r->more; of names behind x_odd_ the first is kept. */
static bool own_keep(struct reader *r, struct sp_span key)
{
    bool x = key.n > 1 && key.p[0] == 'x' && key.p[1] == '_';
    struct sp_buf *b = x ? &r->more_x : &r->more;
    struct sp_span raw;
    size_t from = b->len;
    sp_buf_ch(b, ',');
    sp_json_string(b, key.p, key.n);
    sp_buf_ch(b, ':');
    if (!sp_json_skip(&r->j, &raw))
        return false;
    /* A name of ours may be taken: the first is kept. */
    if (key.n > 6 && memcmp(key.p, "x_odd_", 6) == 0 && !b->failed && from &&
        memmem(b->data, from, b->data + from, b->len - from))
        b->len = from;
    else
        sp_json_minify(b, raw);
    return true;
}

/* The same as `x_odd_NAME` with a warning, for a known member whose value is none. */
static bool own_keep_odd(struct reader *r, struct sp_span key, const char *want)
{
    char name[64];
    size_t n = key.n < sizeof name ? key.n : sizeof name - 1;
    memcpy(name, key.p, n);
    name[n] = '\0';
    sp_emit(r->d, SP_W203, sp_here(r, name), "expected %s; it is kept as `x_odd_%s`", want, name);
    struct sp_buf odd;
    sp_buf_init(&odd, 0);
    sp_buf_puts(&odd, "x_odd_");
    sp_buf_add(&odd, key.p, key.n);
    bool ok =
        odd.failed ? sp_json_fail(&r->j, "out of memory") : own_keep(r, (struct sp_span){odd.data, odd.len});
    sp_buf_free(&odd);
    return ok;
}

static bool own_str(struct reader *r, struct sp_span key, uint32_t *out)
{
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return own_keep_odd(r, key, "a string");
    struct sp_span s;
    if (!sp_json_string_value(&r->j, &s))
        return false;
    *out = sp_profile_str(r->p, s.p, s.n);
    return *out != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

static bool own_number_text(struct reader *r, struct sp_span key, uint32_t *out)
{
    if (sp_json_type(&r->j) != SP_JSON_NUMBER)
        return own_keep_odd(r, key, "a number");
    struct sp_span s;
    if (!sp_json_number(&r->j, &s))
        return false;
    *out = sp_profile_str(r->p, s.p, s.n);
    return *out != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

/* One of a list of names; unknown ones are reported and `otherwise` is taken. */
static bool own_name(struct reader *r, struct sp_span key, const char *const *names, int otherwise, int *out)
{
    char field[32];
    size_t n = key.n < sizeof field ? key.n : sizeof field - 1;
    memcpy(field, key.p, n);
    field[n] = '\0';
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return own_keep_odd(r, key, "a string");
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

static bool own_host(struct reader *r)
{
    struct sp_host *h = &r->p->header.host;
    struct sp_span key;
    if (!sp_json_object(&r->j))
        return false;
    while (sp_json_key(&r->j, &key)) {
        if (!(sp_span_is(key, "name")   ? own_str(r, key, &h->name)
              : sp_span_is(key, "os")   ? own_str(r, key, &h->os)
              : sp_span_is(key, "arch") ? own_str(r, key, &h->arch)
              : sp_span_is(key, "cpus") ? own_number_text(r, key, &h->cpus)
                                        : own_keep_odd(r, key, "a known member of host")))
            break;
    }
    return !r->j.error;
}

/* How metrics combine that the vocabulary does not have. */
static bool own_combine(struct reader *r)
{
    struct sp_profile *p = r->p;
    struct sp_span key;
    if (!sp_json_object(&r->j))
        return false;
    while (sp_json_key(&r->j, &key)) {
        uint32_t metric = SP_NONE;
        int op = SP_OP_SUM;
        bool known = *sp_metric_info(key.p, key.n)->name, ok;
        if (!known && p->metrics.n < SP_METRICS_MAX &&
            (metric = sp_metric_intern(p, key.p, key.n)) == SP_NONE)
            return sp_json_fail(&r->j, "out of memory");
        ok = metric == SP_NONE ? own_keep_odd(r, key, "a metric of its own")
                               : own_name(r, key, sp_metric_op_names, SP_OP_SUM, &op);
        if (!ok)
            break;
        if (metric != SP_NONE)
            sp_metric_combine(p, metric, (enum sp_metric_op)op);
    }
    return !r->j.error;
}

static bool own_groups(struct reader *r, unsigned *out)
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

static bool own_sources(struct reader *r)
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

static bool own_counter(struct reader *r, struct sp_span key, uint64_t *out)
{
    struct sp_json before = r->j;
    struct sp_span s;
    int64_t v;
    if (sp_json_type(&r->j) != SP_JSON_NUMBER)
        return own_keep_odd(r, key, "a whole number");
    if (!sp_json_number(&r->j, &s))
        return false;
    if (sp_parse_i64(s.p, s.p + s.n, &v) == s.n && v >= 0) {
        *out = (uint64_t)v;
        return true;
    }
    before.scratch = r->j.scratch;
    r->j = before;
    return own_keep_odd(r, key, "a whole number");
}

static bool own_x_spaa(struct reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_span key;
    int v;
    if (!sp_json_object(&r->j))
        return false;
    h->has_x_spaa = true;
    while (sp_json_key(&r->j, &key)) {
        bool ok;
        if (sp_span_is(key, "frames")) {
            v = SP_FRAMES_FOREIGN;
            ok = own_name(r, key, sp_granularity_names, SP_FRAMES_FOREIGN, &v);
            h->frames = (enum sp_granularity)v;
        } else if (sp_span_is(key, "group_by")) {
            ok = sp_json_type(&r->j) == SP_JSON_ARRAY ? own_groups(r, &h->group_by)
                                                      : own_keep_odd(r, key, "an array of strings");
        } else if (sp_span_is(key, "ip")) {
            v = SP_IPS_BY_PLACE;
            ok = own_name(r, key, sp_ips_names, SP_IPS_BY_PLACE, &v);
            h->ips = (enum sp_ips)v;
        } else if (sp_span_is(key, "id")) {
            ok = own_str(r, key, &h->id_name);
        } else if (sp_span_is(key, "default_event")) {
            ok = own_str(r, key, &h->default_event);
        } else if (sp_span_is(key, "combine")) {
            ok = sp_json_type(&r->j) == SP_JSON_OBJECT ? own_combine(r) : own_keep_odd(r, key, "an object");
        } else if (sp_span_is(key, "clock")) {
            ok = own_str(r, key, &h->clock);
        } else if (sp_span_is(key, "duration")) {
            ok = own_number_text(r, key, &h->duration);
        } else if (sp_span_is(key, "host")) {
            ok = sp_json_type(&r->j) == SP_JSON_OBJECT ? own_host(r) : own_keep_odd(r, key, "an object");
        } else if (sp_span_is(key, "sources")) {
            ok = sp_json_type(&r->j) == SP_JSON_ARRAY ? own_sources(r)
                                                      : own_keep_odd(r, key, "an array of strings");
        } else if (sp_span_is(key, "lost")) {
            ok = own_counter(r, key, &h->lost);
        } else if (sp_span_is(key, "truncated")) {
            ok = own_counter(r, key, &h->truncated);
        } else if (sp_span_is(key, "unfinished")) {
            ok = own_counter(r, key, &h->unfinished);
        } else if (sp_span_is(key, "throttled_ns")) {
            ok = own_counter(r, key, &h->throttled_ns);
        } else if (sp_span_is(key, "frames_filtered") && sp_json_type(&r->j) == SP_JSON_TRUE) {
            ok = sp_json_bool(&r->j, &h->frames_filtered);
        } else {
            ok = own_keep(r, key);
        }
        if (!ok)
            break;
    }
    return !r->j.error;
}

/* An x_time_range, which is one that is not whole. */
static bool own_time_range(struct reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_span key;
    sp_json_object(&r->j);
    while (sp_json_key(&r->j, &key)) {
        if (!(sp_span_is(key, "start")  ? own_number_text(r, key, &h->time_start)
              : sp_span_is(key, "end")  ? own_number_text(r, key, &h->time_end)
              : sp_span_is(key, "unit") ? own_str(r, key, &h->time_unit)
                                        : own_keep(r, key)))
            break;
    }
    return !r->j.error;
}

/* An object of our own by `read`, which leaves what it does not know in r->more; that goes to *more. */
static bool own_object(struct reader *r, struct sp_odd *o, bool (*read)(struct reader *r), uint32_t *more)
{
    struct sp_span raw = sp_clean_text(r, &o->value);
    if (!raw.p)
        return false;
    o->what |= SP_ODD_USED;
    sp_buf_clear(&r->more);
    sp_buf_clear(&r->more_x);
    sp_json_reset(&r->j, raw.p, raw.n);
    if (!read(r) ||
        !sp_buf_add(&r->more, r->more_x.data, r->more_x.len)) /* it is JSON: only memory can be missing */
        return sp_no_memory(r);
    *more = r->more.len ? sp_profile_str(r->p, r->more.data + 1, r->more.len - 1) : SP_STR_NONE;
    return *more != SP_STR_FAIL || sp_no_memory(r);
}

static bool header_own(struct reader *r, const struct sp_rec *rec)
{
    struct sp_header *h = &r->p->header;
    struct sp_odd *range = sp_own(r, rec, "x_time_range"), *x = sp_own(r, rec, "x_spaa");
    if (range && range->value.kind == SP_JSON_OBJECT &&
        !own_object(r, range, own_time_range, &h->time_extra_json))
        return false;
    if (x && x->value.kind == SP_JSON_OBJECT)
        return own_object(r, x, own_x_spaa, &h->x_spaa_extra_json);
    if (x)
        x->what |= SP_ODD_USED;
    return !x || sp_keep_odd(r, "x_spaa", &x->value, "an object");
}

static bool header_fields(struct reader *r, const struct sp_rec_HEADER *x)
{
    struct sp_header *h = &r->p->header;
    int order = 0, mode = 0;
    if ((x->format.p && !header_format(r, &x->format)) || (x->version.p && !header_version(r, &x->version)) ||
        (x->source_tool.p && !sp_take_str(r, &x->source_tool, &h->source_tool)) ||
        (x->frame_order.p && !sp_take_name(r, "frame_order", &x->frame_order, sp_frame_orders, 0, &order)) ||
        !header_events(r, &x->events) ||
        (x->time_range.v.p && !header_time_range(r, sp_rec_TIME_RANGE(r->dec, x->time_range.first))) ||
        (x->source.v.p && !header_source(r, sp_rec_SOURCE(r->dec, x->source.first))) ||
        (x->stack_id_mode.p &&
         !sp_take_name(r, "stack_id_mode", &x->stack_id_mode, sp_stack_id_modes, 0, &mode)))
        return false;
    h->root_first = order == 1;
    h->ids_local = mode == 1;
    return !x->h.unknown || header_own(r, &x->h);
}

spaa_status sp_take_header(struct reader *r, const struct sp_rec_HEADER *x)
{
    struct sp_header *h = &r->p->header;
    size_t kept = r->kept.n;
    if (r->header_seen) {
        sp_emit(r->d, SP_E106, sp_here(r, NULL), "it was skipped");
        return SPAA_OK;
    }
    if (r->deferred.n || r->p->frames.n || r->p->dsos.n || r->p->threads.n)
        sp_emit(r->d, SP_E104, sp_here(r, NULL), " ");
    if (!header_fields(r, x))
        return r->st;
    r->header_seen = true;
    if (h->source_tool == SP_STR_NONE) {
        sp_emit(r->d, SP_E109, sp_here(r, "source_tool"), "taken as \"unknown\"");
        if ((h->source_tool = sp_profile_cstr(r->p, "unknown")) == SP_STR_FAIL)
            return sp_nomem(r->d);
    }
    header_report_defaults(r, x);
    return sp_extra(r, &x->h, SP_T_HEADER, kept, &h->extra_json) ? SPAA_OK : r->st;
}

/* The optional records of a SPAA file: raw samples and time windows. */
#include "formats/spaa/read.h"

#include "base/decimal.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/samples.h"

static bool seconds(const struct reader *r)
{
    struct sp_str unit = sp_pstr(r->p, r->p->header.time_unit);
    return !unit.n || sp_str_is(unit, "seconds");
}

/* Nanoseconds where the same text comes back from them, else the text beside. */
static bool read_timestamp(struct reader *r, struct sp_span key, struct sp_sample *x)
{
    uint32_t text = SP_STR_NONE;
    if (!sp_read_number_text(r, key, &text))
        return false;
    if (text == SP_STR_NONE)
        return true;
    struct sp_str s = sp_pstr(r->p, text);
    char back[32];
    if (seconds(r) && sp_seconds_ns(s.p, s.n, &x->time)) {
        x->flags |= SP_SAMPLE_TIME;
        if (sp_ns_seconds(x->time, back) == s.n && memcmp(back, s.p, s.n) == 0)
            return true;
    }
    x->time_text = text;
    return true;
}

static bool read_period(struct reader *r, struct sp_span key, struct sp_sample *x)
{
    if (sp_json_type(&r->j) != SP_JSON_NUMBER)
        return sp_keep_odd(r, key, "a number");
    struct sp_span s;
    if (!sp_json_number(&r->j, &s))
        return false;
    if (sp_parse_i64(s.p, s.p + s.n, &x->period) == s.n && x->period > SP_DECIMAL && !sp_span_is(s, "-0"))
        return true;
    x->period = SP_DECIMAL;
    x->period_text = sp_profile_str(r->p, s.p, s.n);
    return x->period_text != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

static bool read_sample_event(struct reader *r, struct sp_span key, struct sp_sample *x)
{
    struct sp_json before = r->j;
    struct sp_span s;
    if (sp_json_type(&r->j) == SP_JSON_STRING) {
        if (!sp_json_string_value(&r->j, &s))
            return false;
        x->event = sp_event_find(r->p, s.p, s.n);
        if (x->event != SP_NONE)
            return true;
        before.scratch = r->j.scratch;
        r->j = before;
        sp_emit(r->d, SP_E114, sp_here(r, "event"), " ");
    }
    return sp_keep_odd(r, key, "a declared event");
}

static bool declared_event(struct reader *r)
{
    struct sp_json before = r->j;
    struct sp_span s;
    bool found = sp_json_type(&r->j) == SP_JSON_STRING && sp_json_string_value(&r->j, &s) &&
                 sp_event_find(r->p, s.p, s.n) != SP_NONE;
    before.scratch = r->j.scratch;
    r->j = before;
    return found;
}

/* The members of a sample's context, as they stand, without the braces. */
static bool read_sample_context(struct reader *r, struct sp_span key, struct sp_sample *x)
{
    struct nest n;
    if (sp_json_type(&r->j) != SP_JSON_OBJECT)
        return sp_keep_odd(r, key, "an object");
    x->flags |= SP_SAMPLE_CONTEXT;
    sp_json_object(&r->j);
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key))
        if (!(sp_span_is(key, "event") && !declared_event(r) ? sp_keep_odd(r, key, "a declared event")
                                                             : sp_keep_member(r, key)))
            break;
    return sp_nest_end(r, &n, &x->context) && !r->j.error;
}

/*
 * A reference to a stack. One that no record has answered so far is noted with the row it belongs to
 * (`number` of samples or window rows) and settled at the end.
 */
static bool read_reference(struct reader *r, bool sample, size_t number, uint32_t *stack)
{
    struct sp_json before = r->j;
    struct pending p = {.sample = sample, .number = number};
    if (!sp_read_stack_id(r, &p.id) || !sp_find_stack(r, &p.id, stack))
        return false;
    if (*stack != SP_NONE)
        return true;
    before.scratch = r->j.scratch;
    r->j = before;
    return sp_read_raw(r, &p.raw) && (sp_vec_push(&r->pending, p) || sp_json_fail(&r->j, "out of memory"));
}

spaa_status sp_settle_references(struct reader *r)
{
    struct sp_sample *samples = NULL;
    size_t n = 0;
    spaa_status st = SPAA_OK;
    if (r->p->samples && r->pending.n)
        st = sp_samples_rows(r->p->samples, &samples, &n);
    for (size_t i = 0; !st && i < r->pending.n; i++) {
        const struct pending *p = &r->pending.v[i];
        struct sp_window_row *row = p->sample ? NULL : &r->p->window_rows.v[p->number];
        uint32_t stack;
        if (!sp_find_stack(r, &p->id, &stack))
            return sp_nomem(r->d);
        if (p->sample)
            samples[p->number].stack = stack;
        else
            row->stack = stack;
        if (stack == SP_NONE)
            sp_emit(r->d, SP_E118, SP_AT_NOTHING, "%s of a %s, which is left out when written",
                    sp_str_cstr(&r->p->strs, p->raw), p->sample ? "sample" : "window");
    }
    return st;
}

static bool sample_member(struct reader *r, struct sp_span key, struct sp_sample *x)
{
    struct sp_span s;
    if (sp_span_is(key, "type"))
        return sp_json_skip(&r->j, &s);
    if (sp_span_is(key, "timestamp"))
        return read_timestamp(r, key, x);
    if (sp_span_is(key, "pid"))
        return sp_read_i64(r, key, &x->pid);
    if (sp_span_is(key, "tid"))
        return sp_read_i64(r, key, &x->tid);
    if (sp_span_is(key, "cpu"))
        return sp_read_i64(r, key, &x->cpu);
    if (sp_span_is(key, "event"))
        return read_sample_event(r, key, x);
    if (sp_span_is(key, "period"))
        return read_period(r, key, x);
    if (sp_span_is(key, "stack_id"))
        return read_reference(r, true, (size_t)sp_samples_count(r->p->samples), &x->stack);
    if (sp_span_is(key, "context"))
        return read_sample_context(r, key, x);
    return sp_keep_member(r, key);
}

spaa_status sp_read_sample(struct reader *r)
{
    struct sp_sample x = {.pid = SP_ABSENT,
                          .tid = SP_ABSENT,
                          .cpu = SP_ABSENT,
                          .period = SP_ABSENT,
                          .stack = SP_NONE,
                          .event = SP_NONE};
    size_t pending = r->pending.n;
    struct sp_span key;
    while (sp_json_key(&r->j, &key) && sample_member(r, key, &x))
        ;
    spaa_status st = sp_json_status(r);
    if (!st && x.stack == SP_NONE && r->pending.n == pending) {
        sp_emit(r->d, SP_E109, sp_here(r, "stack_id"), "the sample is left out");
        return SPAA_OK;
    }
    if (!st)
        x.more = sp_take_more(r);
    if (!st && x.more == SP_STR_FAIL)
        st = sp_nomem(r->d);
    if (!st && !r->p->samples)
        st = sp_samples_new(r->d, &r->p->samples);
    if (!st)
        st = sp_samples_add(r->p->samples, &x);
    if (st)
        r->pending.n = pending;
    return st;
}

static bool window_row_member(struct reader *r, struct sp_span key, struct sp_window_row *row)
{
    if (sp_span_is(key, "stack_id"))
        return read_reference(r, false, r->p->window_rows.n, &row->stack);
    if (!sp_span_is(key, "weights") || sp_json_type(&r->j) != SP_JSON_ARRAY)
        return sp_keep_member(r, key);
    if (!sp_read_weights(r, &row->layout))
        return false;
    row->first = (uint32_t)r->p->values.n;
    for (size_t i = 0; i < r->values.n; i++)
        if (!sp_vec_push(&r->p->values, r->values.v[i]))
            return sp_json_fail(&r->j, "out of memory");
    return true;
}

static bool read_window_row(struct reader *r)
{
    struct sp_window_row row = {.stack = SP_NONE, .layout = SP_NONE};
    struct nest n;
    struct sp_span key;
    if (!sp_json_object(&r->j))
        return false;
    sp_nest_begin(r, &n);
    size_t pending = r->pending.n;
    while (sp_json_key(&r->j, &key) && window_row_member(r, key, &row))
        ;
    if (row.layout == SP_NONE)
        sp_emit(r->d, SP_W208, sp_here(r, "by_stack.weights"), "none");
    if (row.stack == SP_NONE && r->pending.n == pending)
        sp_emit(r->d, SP_E109, sp_here(r, "by_stack.stack_id"), "the row is left out when written");
    return sp_nest_end(r, &n, &row.more) && !r->j.error &&
           (sp_vec_push(&r->p->window_rows, row) || sp_json_fail(&r->j, "out of memory"));
}

static bool window_member(struct reader *r, struct sp_span key, struct sp_window *x, bool *by_stack)
{
    struct sp_span s;
    if (sp_span_is(key, "type"))
        return sp_json_skip(&r->j, &s);
    if (sp_span_is(key, "id"))
        return sp_read_raw(r, &x->id);
    if (sp_span_is(key, "start"))
        return sp_read_number_text(r, key, &x->start);
    if (sp_span_is(key, "end"))
        return sp_read_number_text(r, key, &x->end);
    if (sp_span_is(key, "unit"))
        return sp_read_str(r, key, &x->unit);
    if (!sp_span_is(key, "by_stack") || sp_json_type(&r->j) != SP_JSON_ARRAY)
        return sp_keep_member(r, key);
    *by_stack = true;
    sp_json_array(&r->j);
    x->first = (uint32_t)r->p->window_rows.n;
    while (sp_json_item(&r->j))
        if (!read_window_row(r))
            return false;
    x->n = (uint32_t)r->p->window_rows.n - x->first;
    return !r->j.error;
}

static struct sp_str id_text(const struct sp_profile *p, uint32_t raw)
{
    struct sp_str s = sp_pstr(p, raw);
    return s.n > 1 && *s.p == '"' ? (struct sp_str){s.p + 1, s.n - 2} : s;
}

/* It has what a window must have; else it is reported. */
static bool window_is_whole(struct reader *r, const struct sp_window *x)
{
    const struct sp_profile *p = r->p;
    struct sp_str start = sp_pstr(p, x->start), end = sp_pstr(p, x->end), id = id_text(p, x->id);
    bool numbers = true;
    const char *missing = !x->id ? "id" : !x->start ? "start" : !x->end ? "end" : NULL;
    if (missing) {
        sp_emit(r->d, SP_E109, sp_here(r, missing), "the window is left out");
        return false;
    }
    if (sp_decimal_cmp(end.p, end.n, start.p, start.n, &numbers) < 0 || !numbers) {
        sp_emit(r->d, SP_E123, sp_here(r, "end"), "the window is left out");
        return false;
    }
    struct sp_probe at = sp_map_probe(&r->window_map, sp_hash64(id.p, id.n));
    for (uint32_t i; (i = sp_map_next(&r->window_map, &at)) != SP_MAP_NONE;) {
        struct sp_str other = id_text(p, p->windows.v[i].id);
        if (other.n != id.n || memcmp(other.p, id.p, id.n) != 0)
            continue;
        sp_emit(r->d, SP_E119, sp_here(r, "id"), "the window is left out: the first of this id is kept");
        return false;
    }
    return true;
}

spaa_status sp_read_window(struct reader *r)
{
    struct sp_window x = {0};
    bool by_stack = false;
    size_t rows = r->p->window_rows.n, values = r->p->values.n, pending = r->pending.n;
    struct sp_span key;
    while (sp_json_key(&r->j, &key) && window_member(r, key, &x, &by_stack))
        ;
    spaa_status st = sp_json_status(r);
    bool usable = !st && window_is_whole(r, &x);
    if (usable && !by_stack)
        sp_emit(r->d, SP_W208, sp_here(r, "by_stack"), "none");
    if (!st && usable)
        x.more = sp_take_more(r);
    struct sp_str id = usable ? id_text(r->p, x.id) : (struct sp_str){"", 0};
    if (!st && usable &&
        (x.more == SP_STR_FAIL ||
         !sp_map_add(&r->window_map, sp_hash64(id.p, id.n), (uint32_t)r->p->windows.n) ||
         !sp_vec_push(&r->p->windows, x)))
        st = sp_nomem(r->d);
    if (!usable || st) {
        r->p->window_rows.n = rows;
        r->p->values.n = values;
        r->pending.n = pending;
    }
    return st;
}

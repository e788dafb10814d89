/* The optional records of a SPAA file: raw samples and time windows. */
#include "formats/spaa/read.h"

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
    return sp_keep_member(r, key);
}

/* The members of a sample's context, raw and minified, without the braces. */
static bool read_sample_context(struct reader *r, struct sp_span key, struct sp_sample *x)
{
    struct sp_span raw;
    if (sp_json_type(&r->j) != SP_JSON_OBJECT)
        return sp_keep_odd(r, key, "an object");
    if (!sp_json_skip(&r->j, &raw))
        return false;
    x->flags |= SP_SAMPLE_CONTEXT;
    sp_buf_clear(&r->text);
    if (!sp_json_minify(&r->text, raw))
        return sp_json_fail(&r->j, "out of memory");
    if (r->text.len > 2)
        x->context = sp_profile_str(r->p, r->text.data + 1, r->text.len - 2);
    return x->context != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
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

/* The members of a record whose reference was not found: the reference first, so that it comes back so. */
static uint32_t with_reference(struct reader *r, uint32_t raw, uint32_t more)
{
    struct sp_str id = sp_pstr(r->p, raw), rest = sp_pstr(r->p, more);
    sp_buf_clear(&r->text);
    sp_buf_puts(&r->text, "\"stack_id\":");
    sp_buf_add(&r->text, id.p, id.n);
    sp_buf_add(&r->text, ",", rest.n ? 1 : 0);
    sp_buf_add(&r->text, rest.p, rest.n);
    return r->text.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->text.data, r->text.len);
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
        uint32_t *more = p->sample ? &samples[p->number].more : &row->more;
        uint32_t stack;
        if (!sp_find_stack(r, &p->id, &stack))
            return sp_nomem(r->d);
        if (p->sample)
            samples[p->number].stack = stack;
        else
            row->stack = stack;
        if (stack != SP_NONE)
            continue;
        sp_emit(r->d, SP_E118, SP_AT_NOTHING, "%s of a %s", sp_str_cstr(&r->p->strs, p->raw),
                p->sample ? "sample" : "window");
        *more = with_reference(r, p->raw, *more);
        if (*more == SP_STR_FAIL)
            st = sp_nomem(r->d);
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
    while (sp_json_key(&r->j, &key) && window_row_member(r, key, &row))
        ;
    return sp_nest_end(r, &n, &row.more) && !r->j.error &&
           (sp_vec_push(&r->p->window_rows, row) || sp_json_fail(&r->j, "out of memory"));
}

static bool window_member(struct reader *r, struct sp_span key, struct sp_window *x)
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
    sp_json_array(&r->j);
    x->first = (uint32_t)r->p->window_rows.n;
    while (sp_json_item(&r->j))
        if (!read_window_row(r))
            return false;
    x->n = (uint32_t)r->p->window_rows.n - x->first;
    return !r->j.error;
}

spaa_status sp_read_window(struct reader *r)
{
    struct sp_window x = {0};
    size_t rows = r->p->window_rows.n, values = r->p->values.n, pending = r->pending.n;
    struct sp_span key;
    while (sp_json_key(&r->j, &key) && window_member(r, key, &x))
        ;
    spaa_status st = sp_json_status(r);
    if (!st)
        x.more = sp_take_more(r);
    if (!st && (x.more == SP_STR_FAIL || !sp_vec_push(&r->p->windows, x)))
        st = sp_nomem(r->d);
    if (st) {
        r->p->window_rows.n = rows;
        r->p->values.n = values;
        r->pending.n = pending;
    }
    return st;
}

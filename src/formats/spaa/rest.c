/* The optional records of a SPAA file: raw samples and time windows. */
#include "formats/spaa/read.h"

#include "base/decimal.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/samples.h"

static bool rest_seconds(const struct reader *r)
{
    struct sp_str unit = sp_pstr(r->p, r->p->header.time_unit);
    return !unit.n || sp_str_is(unit, "seconds");
}

/* Nanoseconds where the same text comes back from them, else the text beside. */
static bool rest_timestamp(struct reader *r, const struct sp_token *v, struct sp_sample *x)
{
    char back[32];
    if (rest_seconds(r) && sp_seconds_ns(v->p, v->n, &x->time)) {
        x->flags |= SP_SAMPLE_TIME;
        if (sp_ns_seconds(x->time, back) == v->n && memcmp(back, v->p, v->n) == 0)
            return true;
    }
    return sp_take_str(r, v, &x->time_text);
}

static bool rest_period(struct reader *r, const struct sp_token *v, struct sp_sample *x)
{
    struct sp_value period;
    if (!sp_take_value(r, v, &period))
        return false;
    x->period = period.v;
    x->period_text = period.text;
    return true;
}

static bool rest_declared(struct reader *r, const struct sp_token *v, uint32_t *event)
{
    struct sp_span s = sp_token_text(v, &r->text);
    *event = s.p ? sp_event_find(r->p, s.p, s.n) : SP_NONE;
    return s.p || sp_no_memory(r);
}

static bool rest_sample_event(struct reader *r, const struct sp_token *v, struct sp_sample *x)
{
    if (!rest_declared(r, v, &x->event) || x->event != SP_NONE)
        return !r->st;
    sp_emit(r->d, SP_E114, sp_here(r, "event"), " ");
    return sp_keep_odd(r, "event", v, "a declared event");
}

/* The members of a sample's context, as they stand, without the braces. */
static bool rest_sample_context(struct reader *r, const struct sp_nested *v, struct sp_sample *x)
{
    const struct sp_rec_SAMPLE_CONTEXT *c = sp_rec_SAMPLE_CONTEXT(r->dec, v->first);
    size_t kept = r->kept.n;
    uint32_t event = SP_NONE;
    x->flags |= SP_SAMPLE_CONTEXT;
    if (c->event.p && !rest_declared(r, &c->event, &event))
        return false;
    if (c->event.p && !(event == SP_NONE ? sp_keep_odd(r, "event", &c->event, "a declared event")
                                         : sp_keep(r, "event", &c->event)))
        return false;
    return sp_keep_fields(r, &c->h, SP_T_SAMPLE_CONTEXT, SP_POSITION(SAMPLE_CONTEXT, pid),
                          SP_POSITION(SAMPLE_CONTEXT, trace_fields)) &&
           sp_extra(r, &c->h, SP_T_SAMPLE_CONTEXT, kept, &x->context);
}

/*
 * A reference to a stack. One that no record has answered so far is noted with the row it belongs to
 * (`number` of samples or window rows) and settled at the end.
 */
static bool rest_reference(struct reader *r, const struct sp_token *v, bool sample, size_t number,
                           uint32_t *stack)
{
    struct pending p = {.sample = sample, .number = number};
    if (!sp_take_stack_id(r, v, &p.id) || !sp_find_stack(r, &p.id, stack))
        return false;
    if (*stack != SP_NONE)
        return true;
    return sp_take_raw(r, v, &p.raw) && (sp_vec_push(&r->pending, p) || sp_no_memory(r));
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

static bool rest_sample_fields(struct reader *r, const struct sp_rec_SAMPLE *in, struct sp_sample *x)
{
    return (!in->timestamp.p || rest_timestamp(r, &in->timestamp, x)) &&
           (!in->pid.p || sp_take_i64(r, "pid", &in->pid, &x->pid)) &&
           (!in->tid.p || sp_take_i64(r, "tid", &in->tid, &x->tid)) &&
           (!in->cpu.p || sp_take_i64(r, "cpu", &in->cpu, &x->cpu)) &&
           (!in->event.p || rest_sample_event(r, &in->event, x)) &&
           (!in->period.p || rest_period(r, &in->period, x)) &&
           (!in->stack_id.p ||
            rest_reference(r, &in->stack_id, true, (size_t)sp_samples_count(r->p->samples), &x->stack)) &&
           (!in->context.v.p || rest_sample_context(r, &in->context, x));
}

spaa_status sp_take_sample(struct reader *r, const struct sp_rec_SAMPLE *in)
{
    struct sp_sample x = {.pid = SP_ABSENT,
                          .tid = SP_ABSENT,
                          .cpu = SP_ABSENT,
                          .period = SP_ABSENT,
                          .stack = SP_NONE,
                          .event = SP_NONE};
    size_t pending = r->pending.n, kept = r->kept.n;
    spaa_status st = SPAA_OK;
    if (!rest_sample_fields(r, in, &x)) {
        r->pending.n = pending;
        return r->st;
    }
    if (!in->stack_id.p) {
        sp_emit(r->d, SP_E109, sp_here(r, "stack_id"), "the sample is left out");
        return SPAA_OK;
    }
    if (!sp_extra(r, &in->h, SP_T_SAMPLE, kept, &x.more))
        st = r->st;
    if (!st && !r->p->samples)
        st = sp_samples_new(r->d, &r->p->samples);
    if (!st)
        st = sp_samples_add(r->p->samples, &x);
    if (st)
        r->pending.n = pending;
    return st;
}

static bool rest_window_row(struct reader *r, const struct sp_rec_BY_STACK *in)
{
    struct sp_window_row row = {.stack = SP_NONE, .layout = SP_NONE};
    if (in->h.kind != SP_JSON_OBJECT)
        return true;
    if ((in->stack_id.p && !rest_reference(r, &in->stack_id, false, r->p->window_rows.n, &row.stack)) ||
        (in->weights.v.p && !(sp_take_weights(r, &in->weights, &r->values, &row.layout) &&
                              sp_push_values(r, &r->values, &row.first))))
        return false;
    if (row.layout == SP_NONE)
        sp_emit(r->d, SP_W208, sp_here(r, "by_stack.weights"), "none");
    if (!in->stack_id.p)
        sp_emit(r->d, SP_E109, sp_here(r, "by_stack.stack_id"), "the row is left out when written");
    return sp_extra(r, &in->h, SP_T_BY_STACK, r->kept.n, &row.extra_json) &&
           (sp_vec_push(&r->p->window_rows, row) || sp_no_memory(r));
}

static bool rest_window_fields(struct reader *r, const struct sp_rec_WINDOW *in, struct sp_window *x)
{
    if ((in->id.p && !sp_take_raw(r, &in->id, &x->id)) ||
        (in->start.p && !sp_take_str(r, &in->start, &x->start)) ||
        (in->end.p && !sp_take_str(r, &in->end, &x->end)) ||
        (in->unit.p && !sp_take_str(r, &in->unit, &x->unit)))
        return false;
    x->first = (uint32_t)r->p->window_rows.n;
    for (uint32_t i = 0; i < in->by_stack.count; i++)
        if (!rest_window_row(r, sp_rec_BY_STACK(r->dec, in->by_stack.first + i)))
            return false;
    x->n = (uint32_t)r->p->window_rows.n - x->first;
    return true;
}

static struct sp_str rest_id_text(const struct sp_profile *p, uint32_t raw)
{
    struct sp_str s = sp_pstr(p, raw);
    return s.n > 1 && *s.p == '"' ? (struct sp_str){s.p + 1, s.n - 2} : s;
}

/* It has what a window must have; else it is reported. */
static bool rest_window_is_whole(struct reader *r, const struct sp_window *x)
{
    const struct sp_profile *p = r->p;
    struct sp_str start = sp_pstr(p, x->start), end = sp_pstr(p, x->end), id = rest_id_text(p, x->id);
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
    struct sp_probe at = sp_map_probe(&r->window_map, sp_hash_key(id.p, id.n));
    for (uint32_t i; (i = sp_map_next(&r->window_map, &at)) != SP_MAP_NONE;) {
        struct sp_str other = rest_id_text(p, p->windows.v[i].id);
        if (other.n != id.n || memcmp(other.p, id.p, id.n) != 0)
            continue;
        sp_emit(r->d, SP_E119, sp_here(r, "id"), "the window is left out: the first of this id is kept");
        return false;
    }
    return true;
}

spaa_status sp_take_window(struct reader *r, const struct sp_rec_WINDOW *in)
{
    struct sp_window x = {0};
    size_t rows = r->p->window_rows.n, values = r->p->values.n, pending = r->pending.n, kept = r->kept.n;
    bool ok = rest_window_fields(r, in, &x), usable = ok && rest_window_is_whole(r, &x);
    if (usable && !in->by_stack.v.p)
        sp_emit(r->d, SP_W208, sp_here(r, "by_stack"), "none");
    ok = ok && (!usable || sp_extra(r, &in->h, SP_T_WINDOW, kept, &x.extra_json));
    struct sp_str id = usable ? rest_id_text(r->p, x.id) : (struct sp_str){"", 0};
    if (ok && usable &&
        (!sp_map_add(&r->window_map, sp_hash_key(id.p, id.n), (uint32_t)r->p->windows.n) ||
         !sp_vec_push(&r->p->windows, x)))
        ok = sp_no_memory(r);
    if (!usable || !ok) {
        r->p->window_rows.n = rows;
        r->p->values.n = values;
        r->pending.n = pending;
    }
    return ok ? SPAA_OK : r->st;
}

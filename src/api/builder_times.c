/* Building a profile: when things were observed, by samples and by windows. */
#include "api/building.h"

#include "base/hash.h"
#include "model/labels.h"
#include "model/samples.h"
#include "model/windows.h"

#include <inttypes.h>

/* The recording is of this time, too. */
static void build_span(struct spaa_builder *b, int64_t from, int64_t to)
{
    if (!b->has_times && !b->last_ns) {
        b->first_ns = from;
        b->last_ns = to;
    }
    b->first_ns = from < b->first_ns ? from : b->first_ns;
    b->last_ns = to > b->last_ns ? to : b->last_ns;
    b->has_times = true;
}

/* Labels of a sample are a member of its context, as it is written. */
static bool build_sample_labels(struct spaa_builder *b, const struct spaa_sample_spec *o,
                                struct sp_sample *row)
{
    struct sp_profile *p = b->s->p;
    uint32_t set = sp_build_labels(b, o->labels, o->label_count);
    struct sp_buf member;
    if (set == SP_NONE)
        return false;
    sp_buf_init(&member, 0);
    sp_buf_puts(&member, "\"x_labels\":");
    sp_labels_json(p, set, &member);
    row->context = member.failed ? SP_STR_FAIL : sp_profile_str(p, member.data, member.len);
    row->flags |= SP_SAMPLE_CONTEXT;
    sp_buf_free(&member);
    return row->context != SP_STR_FAIL;
}

static spaa_status build_sample(struct spaa_builder *b, const struct spaa_sample_spec *spec)
{
    struct spaa_sample_spec o;
    struct sp_profile *p = b->s->p;
    struct sp_diags *d = &b->s->diags;
    spaa_status st = sp_api_options(&o, sizeof o, spec, d);
    if (st)
        return st;
    if (o.stack >= p->stacks.n)
        return sp_api_usage(d, "a sample is of stack %zu, of %zu", o.stack, p->stacks.n);
    if (o.time_ns < 0 || !sp_build_is_id(o.pid) || !sp_build_is_id(o.tid) || !sp_build_is_id(o.cpu))
        return sp_api_usage(d, "a sample has a negative time, pid, tid or cpu");
    if (o.weight == SP_DECIMAL)
        return sp_api_usage(d, "a sample has weight %" PRId64, o.weight);
    const struct sp_context *c = &p->contexts.v[p->stacks.v[o.stack].context];
    st = sp_build_check_labels(b, o.labels, o.label_count);
    if (st)
        return st;
    struct sp_sample row = {.time = o.time_ns,
                            .pid = o.pid == SPAA_ABSENT ? c->pid : o.pid,
                            .tid = o.tid == SPAA_ABSENT ? c->tid : o.tid,
                            .cpu = o.cpu == SPAA_ABSENT ? c->cpu : o.cpu,
                            .period = o.weight,
                            .stack = (uint32_t)o.stack,
                            .event = c->event,
                            .flags = SP_SAMPLE_TIME};
    if (row.tid != SP_ABSENT && row.pid == SP_ABSENT)
        return sp_api_usage(d, "a sample has a tid, and not the pid of its process");
    if (o.label_count && !build_sample_labels(b, &o, &row))
        return SPAA_ERR_NOMEM;
    if (row.pid != SP_ABSENT && row.tid != SP_ABSENT &&
        sp_thread_intern(p, row.pid, row.tid, SP_STR_NONE) == SP_NONE)
        return SPAA_ERR_NOMEM;
    if (!p->samples)
        st = sp_samples_new(d, &p->samples);
    if (!st)
        st = sp_samples_add(p->samples, &row);
    if (st)
        return st;
    build_span(b, o.time_ns, o.time_ns);
    return SPAA_OK;
}

spaa_status spaa_builder_sample(struct spaa_builder *builder, const struct spaa_sample_spec *spec,
                                struct spaa_diagnostics **diagnostics)
{
    return sp_build_ready(builder, spec) ? sp_build_end(builder, build_sample(builder, spec), diagnostics)
                                         : sp_build_not_ready(diagnostics);
}

static spaa_status check_window(struct spaa_builder *b, const struct spaa_window_spec *o)
{
    const struct sp_profile *p = b->s->p;
    struct sp_diags *d = &b->s->diags;
    if (!o->id || !*o->id)
        return sp_api_usage(d, "a window needs an id");
    if (o->start_ns < 0 || o->end_ns < o->start_ns)
        return sp_api_usage(d, "the window %s is from %" PRId64 " to %" PRId64 " ns", o->id, o->start_ns,
                            o->end_ns);
    if (o->stack_count > p->stacks.n || (o->stack_count && !o->stacks))
        return sp_api_usage(d, "the window %s has %zu stacks of %zu, or none are given", o->id,
                            o->stack_count, p->stacks.n);
    for (size_t i = 0; i < o->stack_count; i++) {
        const struct spaa_window_weights *w = &o->stacks[i];
        if (w->stack >= p->stacks.n)
            return sp_api_usage(d, "the window %s has stack %zu, of %zu", o->id, w->stack, p->stacks.n);
        if (!w->weight_count)
            return sp_api_usage(d, "the window %s has a stack without weights", o->id);
        spaa_status st = sp_build_check_weights(b, w->weights, w->weight_count);
        if (st)
            return st;
    }
    return SPAA_OK;
}

/* No stack stands twice in the window that is to be added. */
static spaa_status check_window_stacks(struct spaa_builder *b, const struct spaa_window_spec *o)
{
    struct sp_profile *p = b->s->p;
    uint32_t mark = (uint32_t)++b->marks;
    while (b->marked.n < p->stacks.n)
        if (!sp_vec_push(&b->marked, 0))
            return SPAA_ERR_NOMEM;
    for (size_t i = 0; i < o->stack_count; i++) {
        uint32_t *m = &b->marked.v[o->stacks[i].stack];
        if (*m == mark)
            return sp_api_usage(&b->s->diags, "the window %s has stack %zu twice", o->id, o->stacks[i].stack);
        *m = mark;
    }
    return SPAA_OK;
}

static spaa_status check_window_id(struct spaa_builder *b, const char *id, uint32_t raw)
{
    const struct sp_profile *p = b->s->p;
    uint64_t hash = sp_hash_key((const char *)&raw, sizeof raw);
    struct sp_probe at = sp_map_probe(&b->windows, hash);
    for (uint32_t i; (i = sp_map_next(&b->windows, &at)) != SP_MAP_NONE;)
        if (p->windows.v[i].id == raw)
            return sp_api_usage(&b->s->diags, "there is a window %s", id);
    return sp_map_add_at(&b->windows, &at, (uint32_t)p->windows.n) ? SPAA_OK : SPAA_ERR_NOMEM;
}

static bool build_window_row(struct spaa_builder *b, const struct spaa_window_weights *w)
{
    struct sp_profile *p = b->s->p;
    struct sp_window_row row = {.stack = (uint32_t)w->stack, .first = (uint32_t)p->values.n};
    b->fields.n = 0;
    for (size_t i = 0; i < w->weight_count; i++) {
        const struct built_metric *m = &b->metrics.v[w->weights[i].metric];
        if (!sp_vec_push(&b->fields, ((struct sp_weight_field){m->metric, m->unit, SP_STR_NONE})) ||
            !sp_vec_push(&p->values, ((struct sp_value){w->weights[i].value, SP_STR_NONE})))
            return false;
    }
    row.layout = sp_layout_intern(p, b->fields.v, b->fields.n);
    return row.layout != SP_NONE && p->values.n < UINT32_MAX && p->window_rows.n < UINT32_MAX - 1 &&
           sp_vec_push(&p->window_rows, row);
}

static spaa_status build_window(struct spaa_builder *b, const struct spaa_window_spec *spec)
{
    struct spaa_window_spec o;
    struct sp_profile *p = b->s->p;
    spaa_status st = sp_api_options(&o, sizeof o, spec, &b->s->diags);
    if (!st)
        st = check_window(b, &o);
    if (!st)
        st = check_window_stacks(b, &o);
    if (st)
        return st;
    struct sp_window w = {.first = (uint32_t)p->window_rows.n, .n = (uint32_t)o.stack_count};
    uint32_t id;
    if (!sp_build_text(p, o.id, &id) ||
        (w.id = sp_window_id_of(p, sp_pstr(p, id).p, sp_pstr(p, id).n)) == SP_STR_FAIL ||
        !sp_build_seconds(p, o.start_ns, &w.start) || !sp_build_seconds(p, o.end_ns, &w.end) ||
        !sp_build_text(p, "seconds", &w.unit))
        return SPAA_ERR_NOMEM;
    st = check_window_id(b, o.id, w.id);
    if (st)
        return st;
    for (size_t i = 0; i < o.stack_count; i++)
        if (!build_window_row(b, &o.stacks[i]))
            return SPAA_ERR_NOMEM;
    build_span(b, o.start_ns, o.end_ns);
    return sp_vec_push(&p->windows, w) ? SPAA_OK : SPAA_ERR_NOMEM;
}

spaa_status spaa_builder_window(struct spaa_builder *builder, const struct spaa_window_spec *spec,
                                struct spaa_diagnostics **diagnostics)
{
    return sp_build_ready(builder, spec) ? sp_build_end(builder, build_window(builder, spec), diagnostics)
                                         : sp_build_not_ready(diagnostics);
}

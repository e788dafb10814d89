/* Building a profile: what a caller says is checked, and interned as readers do. */
#include "api/api.h"

#include "base/num.h"
#include "formats/open.h"
#include "model/callees.h"
#include "model/labels.h"
#include "model/samples.h"
#include "model/stacks.h"
#include "spaa/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LABELS = 256, MAX_WEIGHTS = 256, MAX_FRAMES = 1 << 20 };

struct built_metric {
    uint32_t metric, unit;
};
struct spaa_builder {
    struct spaa_profile *s; /* NULL: finished, or out of memory */
    SP_VEC(struct built_metric) metrics;
    SP_VEC(uint32_t) frames; /* scratch */
    SP_VEC(struct sp_label) labels;
    SP_VEC(struct sp_weight_field) fields;
    int64_t first_ns, last_ns; /* of samples */
    bool has_samples;
};

/* ---- how each call begins and ends ---- */

/* Out of memory: what was begun is not whole. */
static spaa_status build_lost(struct spaa_builder *b, struct spaa_diagnostics **to)
{
    spaa_status st = sp_api_deliver(&b->s->diags, to, sp_nomem(&b->s->diags));
    spaa_profile_free(b->s);
    b->s = NULL;
    return st;
}

static spaa_status build_end(struct spaa_builder *b, spaa_status st, struct spaa_diagnostics **to)
{
    return st == SPAA_ERR_NOMEM ? build_lost(b, to) : sp_api_deliver(&b->s->diags, to, st);
}

static bool build_ready(const struct spaa_builder *b, const void *out)
{
    return b && b->s && out;
}

static spaa_status build_not_ready(struct spaa_diagnostics **to)
{
    return sp_api_missing("no builder that can be added to, or no place for the number", to);
}

/* ---- texts ---- */

static bool build_text(struct sp_profile *p, const char *s, uint32_t *out)
{
    *out = s ? sp_profile_text(p, s, strlen(s)) : SP_STR_NONE;
    return *out != SP_STR_FAIL;
}

static bool build_number(struct sp_profile *p, uint64_t v, uint32_t *out)
{
    char t[32];
    *out = v ? sp_profile_str(p, t, sp_u64_text(v, t)) : SP_STR_NONE;
    return *out != SP_STR_FAIL;
}

static bool build_seconds(struct sp_profile *p, int64_t ns, uint32_t *out)
{
    char t[64];
    *out = sp_profile_str(p, t, sp_ns_seconds(ns, t));
    return *out != SP_STR_FAIL;
}

/* ---- the profile as a whole ---- */

static spaa_status build_header(struct spaa_builder *b, const struct spaa_builder_options *o)
{
    struct sp_profile *p = b->s->p;
    struct sp_header *h = &p->header;
    struct sp_diags *d = &b->s->diags;
    if (!o->source_tool || !*o->source_tool)
        return sp_api_usage(d, "a profile needs a source_tool");
    if (o->start_ns < 0 || o->end_ns < o->start_ns)
        return sp_api_usage(d, "a recording from %" PRId64 " to %" PRId64 " ns", o->start_ns, o->end_ns);
    if (sp_parse_groups(o->group_by, d, &h->group_by))
        return SPAA_ERR_USAGE;
    h->has_x_spaa = true;
    h->frames = SP_FRAMES_ADDRESS;
    h->lost = o->lost;
    b->first_ns = o->start_ns;
    b->last_ns = o->end_ns;
    bool ok = build_text(p, "1.0", &h->version) && build_text(p, o->source_tool, &h->source_tool) &&
              build_text(p, o->tool_version, &h->tool_version) && build_text(p, o->command, &h->command) &&
              build_text(p, o->clock, &h->clock) && build_text(p, o->host, &h->host.name) &&
              build_text(p, o->os, &h->host.os) && build_text(p, o->arch, &h->host.arch) &&
              build_number(p, o->cpus, &h->host.cpus);
    h->tool = h->source_tool;
    return ok ? SPAA_OK : sp_nomem(d);
}

spaa_status spaa_builder_new(const struct spaa_builder_options *options, struct spaa_builder **builder,
                             struct spaa_diagnostics **diagnostics)
{
    struct spaa_builder_options o;
    if (!builder)
        return sp_api_missing("no place for the builder", diagnostics);
    struct spaa_builder *b = calloc(1, sizeof *b);
    struct spaa_profile *s = b ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        free(b);
        return SPAA_ERR_NOMEM;
    }
    b->s = s;
    s->format = sp_format_by_name("spaa");
    sp_diags_init(&s->diags);
    spaa_status st = sp_api_options(&o, sizeof o, options, &s->diags);
    if (!st)
        st = sp_profile_new(&s->diags, &s->p);
    if (!st)
        st = build_header(b, &o);
    if (!st && !(s->name = sp_api_copy(o.source_tool)))
        st = sp_nomem(&s->diags);
    st = sp_api_deliver(&s->diags, diagnostics, st);
    if (st)
        spaa_builder_free(b);
    else
        *builder = b;
    return st;
}

void spaa_builder_free(struct spaa_builder *builder)
{
    if (!builder)
        return;
    spaa_profile_free(builder->s);
    sp_vec_free(&builder->metrics);
    sp_vec_free(&builder->frames);
    sp_vec_free(&builder->labels);
    sp_vec_free(&builder->fields);
    free(builder);
}

/* ---- metrics, events, binaries ---- */

static spaa_status build_metric(struct spaa_builder *b, const char *name, const char *unit, size_t *out)
{
    struct sp_profile *p = b->s->p;
    struct built_metric m;
    if (!name || !*name)
        return sp_api_usage(&b->s->diags, "a metric needs a name");
    if (sp_metric_find(p, name, strlen(name)) == SP_NONE && p->metrics.n >= SP_METRICS_MAX) {
        sp_emit(&b->s->diags, SP_E007, SP_AT_NOTHING, "more than %u metrics", SP_METRICS_MAX);
        return SPAA_ERR_LIMIT;
    }
    if (!build_text(p, unit, &m.unit) || (m.metric = sp_metric_intern(p, name, strlen(name))) == SP_NONE)
        return SPAA_ERR_NOMEM;
    size_t i = 0;
    while (i < b->metrics.n && b->metrics.v[i].metric != m.metric)
        i++;
    if (i < b->metrics.n && b->metrics.v[i].unit != m.unit)
        return sp_api_usage(&b->s->diags, "the metric %s has another unit already", name);
    if (i == b->metrics.n && !sp_vec_push(&b->metrics, m))
        return SPAA_ERR_NOMEM;
    *out = i;
    return SPAA_OK;
}

spaa_status spaa_builder_metric(struct spaa_builder *builder, const char *name, const char *unit,
                                size_t *metric, struct spaa_diagnostics **diagnostics)
{
    return build_ready(builder, metric)
               ? build_end(builder, build_metric(builder, name, unit, metric), diagnostics)
               : build_not_ready(diagnostics);
}

static spaa_status build_event(struct spaa_builder *b, const struct spaa_event_spec *spec, size_t *out)
{
    struct spaa_event_spec o;
    struct sp_profile *p = b->s->p;
    struct sp_diags *d = &b->s->diags;
    int kind, mode;
    spaa_status st = sp_api_options(&o, sizeof o, spec, d);
    if (st || !sp_api_choice(d, "kind", o.kind, sp_event_kind_names, SP_TIMER, &kind) ||
        !sp_api_choice(d, "mode", o.mode, sp_mode_names, SP_PERIOD, &mode))
        return SPAA_ERR_USAGE;
    if (!o.name || !*o.name)
        return sp_api_usage(d, "an event needs a name");
    if (o.metric >= b->metrics.n)
        return sp_api_usage(d, "the event %s has metric %zu, of %zu", o.name, o.metric, b->metrics.n);
    struct sp_event e = {.kind = (enum sp_event_kind)kind,
                         .mode = (enum sp_mode)mode,
                         .primary = b->metrics.v[o.metric].metric,
                         .unit = b->metrics.v[o.metric].unit};
    if (!build_text(p, o.name, &e.name) || !build_number(p, o.sample_period, &e.sample_period) ||
        !build_number(p, o.frequency_hz, &e.frequency_hz))
        return SPAA_ERR_NOMEM;
    for (size_t i = 0; i < p->events.n; i++)
        if (p->events.v[i].name == e.name)
            return sp_api_usage(d, "there is an event %s", o.name);
    uint32_t event = sp_event_add(p, &e);
    *out = event;
    return event == SP_NONE ? SPAA_ERR_NOMEM : SPAA_OK;
}

spaa_status spaa_builder_event(struct spaa_builder *builder, const struct spaa_event_spec *spec,
                               size_t *event, struct spaa_diagnostics **diagnostics)
{
    return build_ready(builder, event) ? build_end(builder, build_event(builder, spec, event), diagnostics)
                                       : build_not_ready(diagnostics);
}

static bool is_build_id(const char *s)
{
    size_t n = strspn(s, "0123456789abcdef");
    return n && n <= 128 && !s[n];
}

static spaa_status build_dso(struct spaa_builder *b, const char *path, const char *build_id, int is_kernel,
                             size_t *out)
{
    struct sp_dso x = {.is_kernel = is_kernel != 0};
    if (!path || !*path)
        return sp_api_usage(&b->s->diags, "a binary needs a path");
    if (build_id && !is_build_id(build_id))
        return sp_api_usage(&b->s->diags, "the build-id of %s is no lower-case hex: \"%s\"", path, build_id);
    if (!build_text(b->s->p, path, &x.name) || !build_text(b->s->p, build_id, &x.build_id))
        return SPAA_ERR_NOMEM;
    uint32_t number = sp_dso_intern(b->s->p, &x);
    *out = number;
    return number == SP_NONE ? SPAA_ERR_NOMEM : SPAA_OK;
}

spaa_status spaa_builder_dso(struct spaa_builder *builder, const char *path, const char *build_id,
                             int is_kernel, size_t *dso, struct spaa_diagnostics **diagnostics)
{
    return build_ready(builder, dso)
               ? build_end(builder, build_dso(builder, path, build_id, is_kernel, dso), diagnostics)
               : build_not_ready(diagnostics);
}

/* ---- frames ---- */

static spaa_status check_frame(struct spaa_builder *b, const struct spaa_frame_spec *o)
{
    struct sp_diags *d = &b->s->diags;
    if ((!o->name || !*o->name) && !o->has_address)
        return sp_api_usage(d, "a frame needs a name or an address");
    if (o->has_dso && o->dso >= b->s->p->dsos.n)
        return sp_api_usage(d, "a frame has binary %zu, of %zu", o->dso, b->s->p->dsos.n);
    if (o->inline_depth > 1 << 16)
        return sp_api_usage(d, "a frame is inlined %u levels deep", o->inline_depth);
    return SPAA_OK;
}

/* The function, with what is known of it beside its name. */
static bool build_function(struct sp_profile *p, const struct spaa_frame_spec *o, uint32_t dso,
                           struct sp_frame *f)
{
    struct sp_func_info info = {.line = o->line};
    uint32_t name;
    char hex[32] = "0x";
    if (o->name && *o->name) {
        if (!build_text(p, o->name, &name))
            return false;
    } else {
        name = sp_profile_str(p, hex, 2 + sp_hex_text(o->address, hex + 2));
        f->flags |= SP_FRAME_UNRESOLVED;
    }
    if (name == SP_STR_FAIL || !build_text(p, o->linkage, &info.linkage) ||
        !build_text(p, o->file, &info.file))
        return false;
    if (o->has_address && o->has_symbol_offset && o->has_dso && o->symbol_offset <= o->address) {
        info.start = o->address - o->symbol_offset;
        info.flags |= SP_FUNC_START;
    }
    if (info.linkage || info.file)
        f->info = sp_func_info_intern(p, &info);
    f->function = f->info == SP_NONE ? SP_NONE : sp_function_known(p, name, dso, f->info);
    return f->function != SP_NONE;
}

static spaa_status build_frame(struct spaa_builder *b, const struct spaa_frame_spec *spec, size_t *out)
{
    struct spaa_frame_spec o;
    struct sp_profile *p = b->s->p;
    int kind;
    spaa_status st = sp_api_options(&o, sizeof o, spec, &b->s->diags);
    if (!st)
        st = check_frame(b, &o);
    if (st)
        return st;
    bool kernel = o.has_dso && p->dsos.v[o.dso].is_kernel;
    if (!sp_api_choice(&b->s->diags, "kind", o.kind, sp_frame_kind_names, kernel ? SP_KERNEL : SP_USER,
                       &kind))
        return SPAA_ERR_USAGE;
    struct sp_dso none = {0};
    struct sp_frame f = {.kind = (uint8_t)kind, .inline_depth = o.inline_depth};
    f.flags = (uint8_t)((o.has_address ? SP_FRAME_IP : 0) | (o.has_symbol_offset ? SP_FRAME_SYMOFF : 0) |
                        (o.inline_depth ? SP_FRAME_INLINED : 0));
    f.ip = o.has_address ? o.address : 0;
    f.symoff = o.has_symbol_offset ? o.symbol_offset : 0;
    uint32_t dso = (uint32_t)o.dso;
    if (!o.has_dso)
        dso = build_text(p, "[unknown]", &none.name) ? sp_dso_intern(p, &none) : SP_NONE;
    if (dso == SP_NONE || !build_text(p, o.srcline, &f.srcline) || !build_function(p, &o, dso, &f))
        return SPAA_ERR_NOMEM;
    uint32_t frame = sp_frame_intern(p, &f);
    *out = frame;
    return frame == SP_NONE ? SPAA_ERR_NOMEM : SPAA_OK;
}

spaa_status spaa_builder_frame(struct spaa_builder *builder, const struct spaa_frame_spec *spec,
                               size_t *frame, struct spaa_diagnostics **diagnostics)
{
    return build_ready(builder, frame) ? build_end(builder, build_frame(builder, spec, frame), diagnostics)
                                       : build_not_ready(diagnostics);
}

/* ---- threads and stacks ---- */

static bool is_id(int64_t v)
{
    return v >= 0 || v == SPAA_ABSENT;
}

static spaa_status build_thread(struct spaa_builder *b, int64_t pid, int64_t tid, const char *comm)
{
    uint32_t name;
    if (pid < 0 || tid < 0)
        return sp_api_usage(&b->s->diags, "a thread has pid %" PRId64 ", tid %" PRId64, pid, tid);
    return build_text(b->s->p, comm, &name) && sp_thread_intern(b->s->p, pid, tid, name) != SP_NONE
               ? SPAA_OK
               : SPAA_ERR_NOMEM;
}

spaa_status spaa_builder_thread(struct spaa_builder *builder, int64_t pid, int64_t tid, const char *comm,
                                struct spaa_diagnostics **diagnostics)
{
    return build_ready(builder, builder)
               ? build_end(builder, build_thread(builder, pid, tid, comm), diagnostics)
               : build_not_ready(diagnostics);
}

static spaa_status check_weights(struct spaa_builder *b, const struct spaa_stack_spec *o)
{
    struct sp_diags *d = &b->s->diags;
    if (o->weight_count > MAX_WEIGHTS || (o->weight_count && !o->weights))
        return sp_api_usage(d, "a stack has %zu weights, or none are given", o->weight_count);
    for (size_t i = 0; i < o->weight_count; i++) {
        if (o->weights[i].metric >= b->metrics.n)
            return sp_api_usage(d, "a weight has metric %zu, of %zu", o->weights[i].metric, b->metrics.n);
        if (o->weights[i].value <= SP_DECIMAL)
            return sp_api_usage(d, "a weight is %" PRId64, o->weights[i].value);
        for (size_t k = 0; k < i; k++)
            if (b->metrics.v[o->weights[k].metric].metric == b->metrics.v[o->weights[i].metric].metric)
                return sp_api_usage(d, "a stack has two weights of one metric");
    }
    return SPAA_OK;
}

static spaa_status check_stack(struct spaa_builder *b, const struct spaa_stack_spec *o)
{
    const struct sp_profile *p = b->s->p;
    struct sp_diags *d = &b->s->diags;
    if (o->event >= p->events.n)
        return sp_api_usage(d, "a stack is of event %zu, of %zu", o->event, p->events.n);
    if (o->frame_count > MAX_FRAMES || (o->frame_count && !o->frames))
        return sp_api_usage(d, "a stack has %zu frames, or none are given", o->frame_count);
    for (size_t i = 0; i < o->frame_count; i++)
        if (o->frames[i] >= p->frames.n)
            return sp_api_usage(d, "a stack has frame %zu, of %zu", o->frames[i], p->frames.n);
    if (!is_id(o->pid) || !is_id(o->tid) || !is_id(o->cpu))
        return sp_api_usage(d, "a stack has a negative pid, tid or cpu");
    if (o->label_count > MAX_LABELS || (o->label_count && !o->labels))
        return sp_api_usage(d, "a stack has %zu labels, or none are given", o->label_count);
    for (size_t i = 0; i < o->label_count; i++)
        if (!o->labels[i].key || !*o->labels[i].key)
            return sp_api_usage(d, "a label needs a key");
    return check_weights(b, o);
}

/* The set of labels; SP_NONE: out of memory. */
static uint32_t build_labels(struct spaa_builder *b, const struct spaa_stack_spec *o)
{
    struct sp_profile *p = b->s->p;
    b->labels.n = 0;
    for (size_t i = 0; i < o->label_count; i++) {
        const struct spaa_stack_label *x = &o->labels[i];
        struct sp_label l = {.flags = x->text ? 0 : SP_LABEL_NUMBER};
        char t[32];
        if (!x->text)
            snprintf(t, sizeof t, "%" PRId64, x->number);
        if (!build_text(p, x->key, &l.key) || !build_text(p, x->text ? x->text : t, &l.value) ||
            !build_text(p, x->text ? NULL : x->unit, &l.unit) || !sp_vec_push(&b->labels, l))
            return SP_NONE;
    }
    return sp_labels_intern(p, b->labels.v, b->labels.n);
}

/* What records are told apart by, of what the stack says. */
static uint32_t build_context(struct spaa_builder *b, const struct spaa_stack_spec *o)
{
    struct sp_profile *p = b->s->p;
    unsigned by = p->header.group_by;
    struct sp_context c = {.pid = by & SP_BY_PID ? o->pid : SP_ABSENT,
                           .tid = by & SP_BY_TID ? o->tid : SP_ABSENT,
                           .cpu = by & SP_BY_CPU ? o->cpu : SP_ABSENT,
                           .event = (uint32_t)o->event,
                           .labels = build_labels(b, o)};
    if (c.labels == SP_NONE || !build_text(p, by & SP_BY_COMM ? o->comm : NULL, &c.comm) ||
        !build_text(p, by & SP_BY_STATE ? o->state : NULL, &c.state))
        return SP_NONE;
    return sp_context_intern(p, &c);
}

/* The stack's layout, which gets what it lacks of the metrics. */
static bool build_layout(struct spaa_builder *b, const struct spaa_stack_spec *o, uint32_t stack)
{
    struct sp_profile *p = b->s->p;
    uint32_t was = p->stacks.v[stack].layout;
    b->fields.n = 0;
    for (uint32_t i = 0; was != SP_NONE && i < p->layouts.v[was].n; i++)
        if (!sp_vec_push(&b->fields, p->layout_fields.v[p->layouts.v[was].first + i]))
            return false;
    size_t had = b->fields.n;
    for (size_t i = 0; i < o->weight_count; i++) {
        const struct built_metric *m = &b->metrics.v[o->weights[i].metric];
        size_t k = 0;
        while (k < had && b->fields.v[k].metric != m->metric)
            k++;
        if (k == had && !sp_vec_push(&b->fields, ((struct sp_weight_field){m->metric, m->unit, SP_STR_NONE})))
            return false;
    }
    if (was != SP_NONE && b->fields.n == had)
        return true;
    uint32_t layout = sp_layout_intern(p, b->fields.v, b->fields.n);
    if (layout == SP_NONE)
        return false;
    sp_stack_set_layout(p, stack, layout);
    return true;
}

/* Before anything is added: whether all weights can be. */
static spaa_status check_sums(struct spaa_builder *b, const struct spaa_stack_spec *o, uint32_t stack)
{
    const struct sp_profile *p = b->s->p;
    for (size_t i = 0; i < o->weight_count; i++) {
        uint32_t m = b->metrics.v[o->weights[i].metric].metric;
        if (p->metrics.v[m].info->op == SP_OP_NONE && sp_weight(p, stack, m) != SP_ABSENT)
            return sp_api_usage(&b->s->diags, "the stack has a %s already, which cannot be added to",
                                sp_str_cstr(&p->strs, p->metrics.v[m].name));
    }
    return SPAA_OK;
}

static bool build_weight(struct sp_profile *p, uint32_t stack, uint32_t m, int64_t v)
{
    enum sp_metric_op op = p->metrics.v[m].info->op;
    int64_t had = sp_weight(p, stack, m);
    if (op == SP_OP_SUM || had == SP_ABSENT)
        return sp_weight_add(p, stack, m, v);
    return (op == SP_OP_MAX ? v <= had : v >= had) || sp_weight_set(p, stack, m, v);
}

static spaa_status build_stack(struct spaa_builder *b, const struct spaa_stack_spec *spec, size_t *out)
{
    struct spaa_stack_spec o;
    struct sp_profile *p = b->s->p;
    int type;
    bool is_new;
    spaa_status st = sp_api_options(&o, sizeof o, spec, &b->s->diags);
    if (!st)
        st = check_stack(b, &o);
    if (!st && !sp_api_choice(&b->s->diags, "type", o.type, sp_stack_type_names, SP_UNIFIED, &type))
        st = SPAA_ERR_USAGE;
    if (st)
        return st;
    uint32_t context = build_context(b, &o), thread;
    b->frames.n = 0;
    for (size_t i = 0; i < o.frame_count; i++)
        if (!sp_vec_push(&b->frames, (uint32_t)o.frames[i]))
            return SPAA_ERR_NOMEM;
    if (context == SP_NONE)
        return SPAA_ERR_NOMEM;
    if (o.pid != SPAA_ABSENT && o.tid != SPAA_ABSENT &&
        (!build_text(p, o.comm, &thread) || sp_thread_intern(p, o.pid, o.tid, thread) == SP_NONE))
        return SPAA_ERR_NOMEM;
    uint32_t stack = sp_stack_intern(p, b->frames.v, b->frames.n, context, (enum sp_stack_type)type, &is_new);
    if (stack == SP_NONE)
        return SPAA_ERR_NOMEM;
    if (!is_new && (st = check_sums(b, &o, stack)))
        return st;
    if (!build_layout(b, &o, stack))
        return SPAA_ERR_NOMEM;
    for (size_t i = 0; i < o.weight_count; i++)
        if (!build_weight(p, stack, b->metrics.v[o.weights[i].metric].metric, o.weights[i].value))
            return SPAA_ERR_NOMEM;
    *out = stack;
    return SPAA_OK;
}

spaa_status spaa_builder_stack(struct spaa_builder *builder, const struct spaa_stack_spec *spec,
                               size_t *stack, struct spaa_diagnostics **diagnostics)
{
    return build_ready(builder, stack) ? build_end(builder, build_stack(builder, spec, stack), diagnostics)
                                       : build_not_ready(diagnostics);
}

/* ---- samples ---- */

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
    if (o.time_ns < 0 || !is_id(o.pid) || !is_id(o.tid) || !is_id(o.cpu))
        return sp_api_usage(d, "a sample has a negative time, pid, tid or cpu");
    if (o.weight == SP_DECIMAL)
        return sp_api_usage(d, "a sample has weight %" PRId64, o.weight);
    const struct sp_context *c = &p->contexts.v[p->stacks.v[o.stack].context];
    const struct sp_sample row = {.time = o.time_ns,
                                  .pid = o.pid == SPAA_ABSENT ? c->pid : o.pid,
                                  .tid = o.tid == SPAA_ABSENT ? c->tid : o.tid,
                                  .cpu = o.cpu == SPAA_ABSENT ? c->cpu : o.cpu,
                                  .period = o.weight,
                                  .stack = (uint32_t)o.stack,
                                  .event = c->event,
                                  .flags = SP_SAMPLE_TIME};
    if (!p->samples)
        st = sp_samples_new(d, &p->samples);
    if (!st)
        st = sp_samples_add(p->samples, &row);
    if (st)
        return st;
    if (!b->has_samples && !b->last_ns)
        b->first_ns = b->last_ns = o.time_ns;
    b->first_ns = o.time_ns < b->first_ns ? o.time_ns : b->first_ns;
    b->last_ns = o.time_ns > b->last_ns ? o.time_ns : b->last_ns;
    b->has_samples = true;
    return SPAA_OK;
}

spaa_status spaa_builder_sample(struct spaa_builder *builder, const struct spaa_sample_spec *spec,
                                struct spaa_diagnostics **diagnostics)
{
    return build_ready(builder, builder) ? build_end(builder, build_sample(builder, spec), diagnostics)
                                         : build_not_ready(diagnostics);
}

spaa_status spaa_builder_lost(struct spaa_builder *builder, uint64_t count,
                              struct spaa_diagnostics **diagnostics)
{
    if (!build_ready(builder, builder))
        return build_not_ready(diagnostics);
    uint64_t *lost = &builder->s->p->header.lost;
    *lost = *lost > UINT64_MAX - count ? UINT64_MAX : *lost + count;
    return SPAA_OK;
}

/* ---- the end ---- */

static spaa_status build_finish(struct spaa_builder *b)
{
    struct sp_profile *p = b->s->p;
    struct sp_header *h = &p->header;
    if (!p->events.n)
        return sp_api_usage(&b->s->diags, "a profile needs an event");
    bool ok = true;
    if (b->has_samples || b->last_ns)
        ok = build_seconds(p, b->first_ns, &h->time_start) && build_seconds(p, b->last_ns, &h->time_end) &&
             build_seconds(p, b->last_ns - b->first_ns, &h->duration) &&
             build_text(p, "seconds", &h->time_unit);
    if (!ok)
        return SPAA_ERR_NOMEM;
    spaa_status st = p->samples ? sp_samples_sort(p->samples) : SPAA_OK;
    return st ? st : sp_callees_split(p, &b->s->diags);
}

spaa_status spaa_builder_finish(struct spaa_builder *builder, struct spaa_profile **profile,
                                struct spaa_diagnostics **diagnostics)
{
    if (!build_ready(builder, profile))
        return build_not_ready(diagnostics);
    spaa_status st = build_end(builder, build_finish(builder), diagnostics);
    if (!st) {
        *profile = builder->s;
        builder->s = NULL;
    }
    return st;
}

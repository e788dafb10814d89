/* Building a profile: processes, threads, and stacks with their weights. */
#include "api/building.h"

#include "model/facts.h"
#include "model/labels.h"
#include "model/stacks.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_LABELS = 256, MAX_WEIGHTS = 256, MAX_FRAMES = 1 << 20 };

bool sp_build_is_id(int64_t v)
{
    return v >= 0 || v == SPAA_ABSENT;
}

static spaa_status build_thread(struct spaa_builder *b, int64_t pid, int64_t tid, const char *comm)
{
    uint32_t name;
    if (pid < 0 || tid < 0)
        return sp_api_usage(&b->s->diags, "a thread has pid %" PRId64 ", tid %" PRId64, pid, tid);
    return sp_build_text(b->s->p, comm, &name) && sp_thread_intern(b->s->p, pid, tid, name) != SP_NONE
               ? SPAA_OK
               : SPAA_ERR_NOMEM;
}

spaa_status spaa_builder_thread(struct spaa_builder *builder, int64_t pid, int64_t tid, const char *comm,
                                struct spaa_diagnostics **diagnostics)
{
    return sp_build_ready(builder, builder)
               ? sp_build_end(builder, build_thread(builder, pid, tid, comm), diagnostics)
               : sp_build_not_ready(diagnostics);
}

static spaa_status build_process(struct spaa_builder *b, const struct spaa_process_spec *spec)
{
    struct spaa_process_spec o;
    struct sp_profile *p = b->s->p;
    struct sp_process_fact x = {0};
    spaa_status st = sp_api_options(&o, sizeof o, spec, &b->s->diags);
    if (st)
        return st;
    const int64_t numbers[] = {o.parent_pid,  o.start_ns,        o.exit_ns,
                               o.cpu_time_ns, o.footprint_bytes, o.rss_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sp_build_is_id(numbers[i]))
            return sp_api_usage(&b->s->diags, "a process has a negative number");
    if (o.pid < 0)
        return sp_api_usage(&b->s->diags, "a process has pid %" PRId64, o.pid);
    sp_facts_clear(sp_process_facts, &x);
    x.pid = o.pid;
    x.parent_pid = o.parent_pid;
    x.start_ns = o.start_ns;
    x.exit_ns = o.exit_ns;
    x.cpu_time_ns = o.cpu_time_ns;
    x.footprint_bytes = o.footprint_bytes;
    x.rss_bytes = o.rss_bytes;
    return sp_build_text(p, o.name, &x.name) && sp_build_text(p, o.path, &x.path) &&
                   sp_process_add(p, &x, NULL, 0)
               ? SPAA_OK
               : SPAA_ERR_NOMEM;
}

spaa_status spaa_builder_process(struct spaa_builder *builder, const struct spaa_process_spec *spec,
                                 struct spaa_diagnostics **diagnostics)
{
    return sp_build_ready(builder, spec) ? sp_build_end(builder, build_process(builder, spec), diagnostics)
                                         : sp_build_not_ready(diagnostics);
}

spaa_status sp_build_check_labels(struct spaa_builder *b, const struct spaa_stack_label *labels, size_t n)
{
    struct sp_diags *d = &b->s->diags;
    if (n > MAX_LABELS || (n && !labels))
        return sp_api_usage(d, "there are %zu labels, or none are given", n);
    for (size_t i = 0; i < n; i++)
        if (!labels[i].key || !*labels[i].key)
            return sp_api_usage(d, "a label needs a key");
    return SPAA_OK;
}

uint32_t sp_build_labels(struct spaa_builder *b, const struct spaa_stack_label *labels, size_t n)
{
    struct sp_profile *p = b->s->p;
    b->labels.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct spaa_stack_label *x = &labels[i];
        struct sp_label l = {.flags = x->text ? 0 : SP_LABEL_NUMBER};
        char t[32];
        if (!x->text)
            snprintf(t, sizeof t, "%" PRId64, x->number);
        if (!sp_build_text(p, x->key, &l.key) || !sp_build_text(p, x->text ? x->text : t, &l.value) ||
            !sp_build_text(p, x->text ? NULL : x->unit, &l.unit) || !sp_vec_push(&b->labels, l))
            return SP_NONE;
    }
    return sp_labels_intern(p, b->labels.v, b->labels.n);
}

spaa_status sp_build_check_weights(struct spaa_builder *b, const struct spaa_stack_weight *w, size_t n)
{
    struct sp_diags *d = &b->s->diags;
    if (n > MAX_WEIGHTS || (n && !w))
        return sp_api_usage(d, "a stack has %zu weights, or none are given", n);
    for (size_t i = 0; i < n; i++) {
        if (w[i].metric >= b->metrics.n)
            return sp_api_usage(d, "a weight has metric %zu, of %zu", w[i].metric, b->metrics.n);
        if (w[i].value <= SP_DECIMAL)
            return sp_api_usage(d, "a weight is %" PRId64, w[i].value);
        for (size_t k = 0; k < i; k++)
            if (w[k].metric == w[i].metric)
                return sp_api_usage(d, "a stack has two weights of one metric");
    }
    return SPAA_OK;
}

/* The event's weight is there, and something that was counted: what is derived never stands alone. */
static spaa_status check_event_weight(struct spaa_builder *b, const struct spaa_stack_spec *o)
{
    const struct sp_profile *p = b->s->p;
    const struct sp_event *e = &p->events.v[o->event];
    bool counted = false, primary = false;
    for (size_t i = 0; i < o->weight_count; i++) {
        uint32_t metric = b->metrics.v[o->weights[i].metric].metric;
        struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
        primary |= metric == e->primary;
        counted |= !sp_metric_is_derived(name.p, name.n);
    }
    if (!primary)
        return sp_api_usage(&b->s->diags, "a stack of event %s lacks its weight, %s",
                            sp_str_cstr(&p->strs, e->name),
                            sp_str_cstr(&p->strs, p->metrics.v[e->primary].name));
    if (!counted)
        return sp_api_usage(&b->s->diags,
                            "a stack of event %s has derived weights only: one that was counted, "
                            "as samples, stands beside them",
                            sp_str_cstr(&p->strs, e->name));
    return SPAA_OK;
}

/* Frame i, which is inlined, and the one that it is inlined into. */
static spaa_status check_inlined(struct spaa_builder *b, const struct spaa_stack_spec *o, size_t i)
{
    const struct sp_profile *p = b->s->p;
    const struct sp_frame *f = &p->frames.v[o->frames[i]],
                          *into = i + 1 < o->frame_count ? &p->frames.v[o->frames[i + 1]] : NULL;
    if (!into || into->inline_depth + 1 != f->inline_depth)
        return sp_api_usage(&b->s->diags,
                            "frame %zu of a stack is inlined %" PRIu32
                            " levels deep, and the frame after it %s%" PRIu32
                            " levels: depths count down to the physical frame, which is at 0",
                            i, f->inline_depth, into ? "" : "is missing: ", into ? into->inline_depth : 0);
    bool placed = f->flags & SP_FRAME_IP && into->flags & SP_FRAME_IP;
    if (placed && (f->ip != into->ip || f->symoff != into->symoff ||
                   p->functions.v[f->function].dso != p->functions.v[into->function].dso))
        return sp_api_usage(
            &b->s->diags, "frame %zu of a stack is inlined into one of another binary, address or offset", i);
    return SPAA_OK;
}

static spaa_status check_frames(struct spaa_builder *b, const struct spaa_stack_spec *o,
                                enum sp_stack_type type)
{
    const struct sp_profile *p = b->s->p;
    struct sp_diags *d = &b->s->diags;
    if (o->frame_count > MAX_FRAMES || (o->frame_count && !o->frames))
        return sp_api_usage(d, "a stack has %zu frames, or none are given", o->frame_count);
    for (size_t i = 0; i < o->frame_count; i++)
        if (o->frames[i] >= p->frames.n)
            return sp_api_usage(d, "a stack has frame %zu, of %zu", o->frames[i], p->frames.n);
    for (size_t i = 0; i < o->frame_count; i++) {
        const struct sp_frame *f = &p->frames.v[o->frames[i]];
        spaa_status st = f->inline_depth ? check_inlined(b, o, i) : SPAA_OK;
        if (st)
            return st;
        if ((type == SP_USER_STACK && f->kind == SP_KERNEL) ||
            (type == SP_KERNEL_STACK && f->kind == SP_USER))
            return sp_api_usage(d, "a %s frame in a stack of type %s", sp_frame_kind_names[f->kind],
                                sp_stack_type_names[type]);
    }
    return SPAA_OK;
}

static spaa_status check_stack(struct spaa_builder *b, const struct spaa_stack_spec *o,
                               enum sp_stack_type type)
{
    const struct sp_profile *p = b->s->p;
    struct sp_diags *d = &b->s->diags;
    if (o->event >= p->events.n)
        return sp_api_usage(d, "a stack is of event %zu, of %zu", o->event, p->events.n);
    if (!sp_build_is_id(o->pid) || !sp_build_is_id(o->tid) || !sp_build_is_id(o->cpu))
        return sp_api_usage(d, "a stack has a negative pid, tid or cpu");
    if (o->tid != SPAA_ABSENT && o->pid == SPAA_ABSENT)
        return sp_api_usage(d, "a stack has a tid, and not the pid of its process");
    spaa_status st = sp_build_check_labels(b, o->labels, o->label_count);
    if (!st)
        st = check_frames(b, o, type);
    if (!st)
        st = sp_build_check_weights(b, o->weights, o->weight_count);
    return st ? st : check_event_weight(b, o);
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
                           .labels = sp_build_labels(b, o->labels, o->label_count)};
    if (c.labels == SP_NONE || !sp_build_text(p, by & SP_BY_COMM ? o->comm : NULL, &c.comm) ||
        !sp_build_text(p, by & SP_BY_STATE ? o->state : NULL, &c.state))
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
    if (!st && !sp_api_choice(&b->s->diags, "type", o.type, sp_stack_type_names, SP_UNIFIED, &type))
        st = SPAA_ERR_USAGE;
    if (!st)
        st = check_stack(b, &o, (enum sp_stack_type)type);
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
        (!sp_build_text(p, o.comm, &thread) || sp_thread_intern(p, o.pid, o.tid, thread) == SP_NONE))
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
    return sp_build_ready(builder, stack)
               ? sp_build_end(builder, build_stack(builder, spec, stack), diagnostics)
               : sp_build_not_ready(diagnostics);
}

/* Walking a profile: the tables of model/profile.h as structures of the public interface. */
#include "api/api.h"

#include "model/labels.h"
#include "model/samples.h"

const char *spaa_profile_format(const struct spaa_profile *profile)
{
    return profile ? profile->format->name : NULL;
}

const char *spaa_profile_source_tool(const struct spaa_profile *profile)
{
    return profile ? sp_api_str(profile->p, profile->p->header.source_tool) : NULL;
}

size_t spaa_profile_event_count(const struct spaa_profile *profile)
{
    return profile ? profile->p->events.n : 0;
}

spaa_status spaa_profile_event(const struct spaa_profile *profile, size_t event, struct spaa_event *out)
{
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    const struct sp_profile *p = profile->p;
    if (event >= p->events.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_event *e = &p->events.v[event];
    struct spaa_event found = {
        .name = sp_str_cstr(&p->strs, e->name),
        .kind = sp_event_kind_names[e->kind],
        .mode = sp_mode_names[e->mode],
        .primary_metric = e->primary == SP_NONE ? NULL : sp_str_cstr(&p->strs, p->metrics.v[e->primary].name),
    };
    return sp_api_result(out, &found, sizeof found);
}

size_t spaa_profile_function_count(const struct spaa_profile *profile)
{
    return profile ? profile->p->functions.n : 0;
}

spaa_status spaa_profile_function(const struct spaa_profile *profile, size_t function,
                                  struct spaa_function *out)
{
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    const struct sp_profile *p = profile->p;
    if (function >= p->functions.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_function *f = &p->functions.v[function];
    const struct sp_dso *dso = &p->dsos.v[f->dso];
    struct spaa_function found = {
        .name = sp_str_cstr(&p->strs, f->name),
        .dso = sp_str_cstr(&p->strs, dso->name),
        .build_id = sp_api_str(p, dso->build_id),
        .is_kernel = dso->is_kernel,
    };
    return sp_api_result(out, &found, sizeof found);
}

/* The other half of a linked pair; both name each other and nobody else. */
static size_t api_walk_linked(const struct sp_profile *p, uint32_t stack)
{
    uint32_t at = stack;
    for (int side = 0; side < 2; side++) {
        uint32_t related = p->stacks.v[at].linked;
        if (!related || p->linked.v[related - 1].n != 1)
            return SPAA_NONE;
        at = p->linked_stacks.v[p->linked.v[related - 1].first];
        if (at == SP_NONE || (!side && p->stacks.v[at].type == p->stacks.v[stack].type))
            return SPAA_NONE;
    }
    return at == stack ? p->linked_stacks.v[p->linked.v[p->stacks.v[stack].linked - 1].first] : SPAA_NONE;
}

size_t spaa_profile_stack_count(const struct spaa_profile *profile)
{
    return profile ? profile->p->stacks.n : 0;
}

spaa_status spaa_profile_stack(const struct spaa_profile *profile, size_t stack, struct spaa_stack *out)
{
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    const struct sp_profile *p = profile->p;
    if (stack >= p->stacks.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_stack *s = &p->stacks.v[stack];
    const struct sp_context *c = &p->contexts.v[s->context];
    struct spaa_stack found = {
        .event = c->event == SP_NONE ? SPAA_NONE : c->event,
        .frame_count = s->n,
        .weight_count = s->layout == SP_NONE ? 0 : p->layouts.v[s->layout].n,
        .type = sp_stack_type_names[s->type],
        .pid = c->pid,
        .tid = c->tid,
        .cpu = c->cpu,
        .comm = sp_api_str(p, c->comm),
        .state = sp_api_str(p, c->state),
        .linked = api_walk_linked(p, (uint32_t)stack),
    };
    sp_labels_of(p, c->labels, &found.label_count);
    return sp_api_result(out, &found, sizeof found);
}

spaa_status spaa_stack_frame(const struct spaa_profile *profile, size_t stack, size_t i,
                             struct spaa_frame *out)
{
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    const struct sp_profile *p = profile->p;
    if (stack >= p->stacks.n || i >= p->stacks.v[stack].n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_frame *f = &p->frames.v[sp_stack_frames(p, (uint32_t)stack)[i]];
    const struct sp_function *function = &p->functions.v[f->function];
    struct spaa_frame found = {
        .function = f->function,
        .name = sp_str_cstr(&p->strs, function->name),
        .dso = sp_str_cstr(&p->strs, p->dsos.v[function->dso].name),
        .kind = sp_frame_kind_names[f->kind],
        .srcline = sp_api_str(p, f->srcline),
        .resolved = !(f->flags & SP_FRAME_UNRESOLVED),
        .has_address = (f->flags & SP_FRAME_IP) != 0,
        .has_symbol_offset = (f->flags & SP_FRAME_SYMOFF) != 0,
        .address = f->ip,
        .symbol_offset = f->symoff,
        .inline_depth = f->inline_depth,
    };
    return sp_api_result(out, &found, sizeof found);
}

spaa_status spaa_stack_weight(const struct spaa_profile *profile, size_t stack, size_t i,
                              struct spaa_weight *out)
{
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    const struct sp_profile *p = profile->p;
    if (stack >= p->stacks.n)
        return SPAA_ERR_NOT_FOUND;
    uint32_t layout = p->stacks.v[stack].layout;
    if (layout == SP_NONE || i >= p->layouts.v[layout].n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_weight_field *f = &p->layout_fields.v[p->layouts.v[layout].first + i];
    struct spaa_weight found = {
        .metric = sp_str_cstr(&p->strs, p->metrics.v[f->metric].name),
        .unit = sp_api_str(p, f->unit),
        .value = sp_weight(p, (uint32_t)stack, f->metric),
        .combine = sp_metric_op_names[p->metrics.v[f->metric].info->op],
    };
    if (found.value == SP_DECIMAL) {
        found.value = SPAA_ABSENT;
        found.text = sp_weight_text(p, (uint32_t)stack, f->metric).p;
    }
    return sp_api_result(out, &found, sizeof found);
}

spaa_status spaa_stack_label(const struct spaa_profile *profile, size_t stack, size_t i,
                             struct spaa_label *out)
{
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    const struct sp_profile *p = profile->p;
    size_t n;
    if (stack >= p->stacks.n)
        return SPAA_ERR_NOT_FOUND;
    const struct sp_label *l = sp_labels_of(p, p->contexts.v[p->stacks.v[stack].context].labels, &n);
    if (i >= n)
        return SPAA_ERR_NOT_FOUND;
    struct spaa_label found = {.key = sp_str_cstr(&p->strs, l[i].key),
                               .value = sp_str_cstr(&p->strs, l[i].value),
                               .unit = sp_api_str(p, l[i].unit),
                               .is_number = (l[i].flags & SP_LABEL_NUMBER) != 0};
    return sp_api_result(out, &found, sizeof found);
}

size_t spaa_profile_sample_count(const struct spaa_profile *profile)
{
    return profile ? (size_t)sp_samples_count(profile->p->samples) : 0;
}

spaa_status spaa_profile_sample(struct spaa_profile *profile, size_t i, struct spaa_sample *out)
{
    struct sp_sample *rows;
    size_t n;
    if (!profile || !out)
        return SPAA_ERR_USAGE;
    if (i >= spaa_profile_sample_count(profile))
        return SPAA_ERR_NOT_FOUND;
    spaa_status st = profile->sorted ? SPAA_OK : sp_samples_sort(profile->p->samples);
    if (!st)
        st = sp_samples_rows(profile->p->samples, &rows, &n);
    if (st)
        return st;
    profile->sorted = true;
    const struct sp_sample *x = &rows[i];
    struct spaa_sample found = {.time_ns = x->flags & SP_SAMPLE_TIME ? x->time : SPAA_ABSENT,
                                .stack = x->stack == SP_NONE ? SPAA_NONE : x->stack,
                                .event = x->event == SP_NONE ? SPAA_NONE : x->event,
                                .pid = x->pid,
                                .tid = x->tid,
                                .cpu = x->cpu,
                                .weight = x->period == SP_DECIMAL ? SPAA_ABSENT : x->period};
    return sp_api_result(out, &found, sizeof found);
}

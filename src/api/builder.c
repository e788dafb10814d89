/* Building a profile: the whole of it, and what stacks are made of. */
#include "api/building.h"

#include "base/num.h"
#include "formats/open.h"
#include "model/callees.h"
#include "model/samples.h"
#include "model/windows.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- how each call begins and ends ---- */

/* Out of memory: what was begun is not whole. */
static spaa_status build_lost(struct spaa_builder *b, struct spaa_diagnostics **to)
{
    spaa_status st = sp_api_deliver(&b->s->diags, to, sp_nomem(&b->s->diags));
    spaa_profile_free(b->s);
    b->s = NULL;
    return st;
}

spaa_status sp_build_end(struct spaa_builder *b, spaa_status st, struct spaa_diagnostics **to)
{
    return st == SPAA_ERR_NOMEM ? build_lost(b, to) : sp_api_deliver(&b->s->diags, to, st);
}

bool sp_build_ready(const struct spaa_builder *b, const void *out)
{
    return b && b->s && out;
}

spaa_status sp_build_not_ready(struct spaa_diagnostics **to)
{
    return sp_api_missing("no builder that can be added to, or no place for the number", to);
}

/* ---- texts ---- */

bool sp_build_text(struct sp_profile *p, const char *s, uint32_t *out)
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

bool sp_build_seconds(struct sp_profile *p, int64_t ns, uint32_t *out)
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
    bool ok = sp_build_text(p, "1.0", &h->version) && sp_build_text(p, o->source_tool, &h->source_tool) &&
              sp_build_text(p, o->tool_version, &h->tool_version) &&
              sp_build_text(p, o->command, &h->command) && sp_build_text(p, o->clock, &h->clock) &&
              sp_build_text(p, o->host, &h->host.name) && sp_build_text(p, o->os, &h->host.os) &&
              sp_build_text(p, o->arch, &h->host.arch) && build_number(p, o->cpus, &h->host.cpus);
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
    sp_buf_init(&b->derivations, 0);
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
    sp_vec_free(&builder->marked);
    sp_map_free(&builder->windows);
    sp_buf_free(&builder->derivations);
    free(builder);
}

/* ---- metrics, events, binaries ---- */

/* How the metric came about, as the header says it. */
static bool build_derivation(struct spaa_builder *b, const char *name, const char *how)
{
    struct sp_buf *d = &b->derivations;
    sp_buf_puts(d, d->len ? "," : "\"x_derivation\":{");
    sp_json_string(d, name, strlen(name));
    sp_buf_ch(d, ':');
    sp_json_string(d, how, strlen(how));
    return !d->failed;
}

static spaa_status check_metric(struct spaa_builder *b, const struct spaa_metric_spec *o, int *op)
{
    struct sp_diags *d = &b->s->diags;
    if (!o->name || !*o->name)
        return sp_api_usage(d, "a metric needs a name");
    const struct sp_metric_info *info = sp_metric_info(o->name, strlen(o->name));
    if (!sp_api_choice(d, "combine", o->combine, sp_metric_op_names, (int)info->op, op))
        return SPAA_ERR_USAGE;
    if (*info->name && (int)info->op != *op)
        return sp_api_usage(d, "values of %s combine as \"%s\"", o->name, sp_metric_op_names[info->op]);
    if (sp_metric_find(b->s->p, o->name, strlen(o->name)) == SP_NONE &&
        b->s->p->metrics.n >= SP_METRICS_MAX) {
        sp_emit(d, SP_E007, SP_AT_NOTHING, "more than %u metrics", SP_METRICS_MAX);
        return SPAA_ERR_LIMIT;
    }
    return SPAA_OK;
}

/* One that is there already is said to be the same. */
static spaa_status check_metric_again(struct spaa_builder *b, size_t i, const struct built_metric *m,
                                      const struct spaa_metric_spec *o, int op)
{
    struct sp_diags *d = &b->s->diags;
    if (b->metrics.v[i].unit != m->unit)
        return sp_api_usage(d, "the metric %s has another unit already", o->name);
    if (o->combine && (int)b->s->p->metrics.v[m->metric].info->op != op)
        return sp_api_usage(d, "values of the metric %s combine otherwise already", o->name);
    return SPAA_OK;
}

static spaa_status build_metric(struct spaa_builder *b, const struct spaa_metric_spec *spec, size_t *out)
{
    struct spaa_metric_spec o;
    struct sp_profile *p = b->s->p;
    struct built_metric m;
    int op;
    spaa_status st = sp_api_options(&o, sizeof o, spec, &b->s->diags);
    if (!st)
        st = check_metric(b, &o, &op);
    if (st)
        return st;
    if (!sp_build_text(p, o.unit, &m.unit) ||
        (m.metric = sp_metric_intern(p, o.name, strlen(o.name))) == SP_NONE)
        return SPAA_ERR_NOMEM;
    size_t i = 0;
    while (i < b->metrics.n && b->metrics.v[i].metric != m.metric)
        i++;
    if (i < b->metrics.n && (st = check_metric_again(b, i, &m, &o, op)))
        return st;
    *out = i;
    if (i < b->metrics.n)
        return SPAA_OK;
    sp_metric_combine(p, m.metric, (enum sp_metric_op)op);
    if (o.derivation && *o.derivation && !build_derivation(b, o.name, o.derivation))
        return SPAA_ERR_NOMEM;
    return sp_vec_push(&b->metrics, m) ? SPAA_OK : SPAA_ERR_NOMEM;
}

spaa_status spaa_builder_metric_spec(struct spaa_builder *builder, const struct spaa_metric_spec *spec,
                                     size_t *metric, struct spaa_diagnostics **diagnostics)
{
    return sp_build_ready(builder, metric)
               ? sp_build_end(builder, build_metric(builder, spec, metric), diagnostics)
               : sp_build_not_ready(diagnostics);
}

spaa_status spaa_builder_metric(struct spaa_builder *builder, const char *name, const char *unit,
                                size_t *metric, struct spaa_diagnostics **diagnostics)
{
    const struct spaa_metric_spec spec = {.size = sizeof spec, .name = name, .unit = unit};
    return spaa_builder_metric_spec(builder, &spec, metric, diagnostics);
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
    if (!sp_build_text(p, o.name, &e.name) || !build_number(p, o.sample_period, &e.sample_period) ||
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
    return sp_build_ready(builder, event)
               ? sp_build_end(builder, build_event(builder, spec, event), diagnostics)
               : sp_build_not_ready(diagnostics);
}

static bool is_build_id(const char *s)
{
    size_t n = strspn(s, "0123456789abcdef");
    return n && n <= 128 && !s[n];
}

/* As kernels are called where there is no file. */
static bool is_kernel_name(const char *s)
{
    return strncmp(s, "[kernel]", 8) == 0 || strncmp(s, "[kernel.", 8) == 0 ||
           strncmp(s, "[guest.kernel", 13) == 0;
}

static spaa_status build_dso(struct spaa_builder *b, const char *path, const char *build_id, int is_kernel,
                             size_t *out)
{
    struct sp_dso x = {.is_kernel = is_kernel != 0};
    if (!path || !*path)
        return sp_api_usage(&b->s->diags, "a binary needs a path");
    if (!is_kernel && is_kernel_name(path))
        return sp_api_usage(&b->s->diags, "%s is the kernel's", path);
    if (build_id && !is_build_id(build_id))
        return sp_api_usage(&b->s->diags, "the build-id of %s is no lower-case hex: \"%s\"", path, build_id);
    if (!sp_build_text(b->s->p, path, &x.name) || !sp_build_text(b->s->p, build_id, &x.build_id))
        return SPAA_ERR_NOMEM;
    uint32_t number = sp_dso_intern(b->s->p, &x);
    *out = number;
    return number == SP_NONE ? SPAA_ERR_NOMEM : SPAA_OK;
}

spaa_status spaa_builder_dso(struct spaa_builder *builder, const char *path, const char *build_id,
                             int is_kernel, size_t *dso, struct spaa_diagnostics **diagnostics)
{
    return sp_build_ready(builder, dso)
               ? sp_build_end(builder, build_dso(builder, path, build_id, is_kernel, dso), diagnostics)
               : sp_build_not_ready(diagnostics);
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
        if (!sp_build_text(p, o->name, &name))
            return false;
    } else {
        name = sp_profile_str(p, hex, 2 + sp_hex_text(o->address, hex + 2));
        f->flags |= SP_FRAME_UNRESOLVED;
    }
    if (name == SP_STR_FAIL || !sp_build_text(p, o->linkage, &info.linkage) ||
        !sp_build_text(p, o->file, &info.file))
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
    if (o.has_dso && (kernel ? kind == SP_USER : kind == SP_KERNEL))
        return sp_api_usage(&b->s->diags, "a %s frame in %s, which is %s", sp_frame_kind_names[kind],
                            sp_str_cstr(&p->strs, p->dsos.v[o.dso].name),
                            kernel ? "the kernel's" : "not the kernel's");
    struct sp_dso none = {.is_kernel = kind == SP_KERNEL};
    struct sp_frame f = {.kind = (uint8_t)kind, .inline_depth = o.inline_depth};
    f.flags = (uint8_t)((o.has_address ? SP_FRAME_IP : 0) | (o.has_symbol_offset ? SP_FRAME_SYMOFF : 0) |
                        (o.inline_depth ? SP_FRAME_INLINED : 0));
    f.ip = o.has_address ? o.address : 0;
    f.symoff = o.has_symbol_offset ? o.symbol_offset : 0;
    uint32_t dso = (uint32_t)o.dso;
    if (!o.has_dso)
        dso = sp_build_text(p, none.is_kernel ? "[kernel]" : "[unknown]", &none.name)
                  ? sp_dso_intern(p, &none)
                  : SP_NONE;
    if (dso == SP_NONE || !sp_build_text(p, o.srcline, &f.srcline) || !build_function(p, &o, dso, &f))
        return SPAA_ERR_NOMEM;
    uint32_t frame = sp_frame_intern(p, &f);
    *out = frame;
    return frame == SP_NONE ? SPAA_ERR_NOMEM : SPAA_OK;
}

spaa_status spaa_builder_frame(struct spaa_builder *builder, const struct spaa_frame_spec *spec,
                               size_t *frame, struct spaa_diagnostics **diagnostics)
{
    return sp_build_ready(builder, frame)
               ? sp_build_end(builder, build_frame(builder, spec, frame), diagnostics)
               : sp_build_not_ready(diagnostics);
}

spaa_status spaa_builder_lost(struct spaa_builder *builder, uint64_t count,
                              struct spaa_diagnostics **diagnostics)
{
    if (!sp_build_ready(builder, builder))
        return sp_build_not_ready(diagnostics);
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
    if (b->has_times || b->last_ns)
        ok = sp_build_seconds(p, b->first_ns, &h->time_start) &&
             sp_build_seconds(p, b->last_ns, &h->time_end) &&
             sp_build_seconds(p, b->last_ns - b->first_ns, &h->duration) &&
             sp_build_text(p, "seconds", &h->time_unit);
    if (ok && b->derivations.len) {
        sp_buf_ch(&b->derivations, '}');
        ok = !b->derivations.failed;
        h->extra_json = ok ? sp_profile_str(p, b->derivations.data, b->derivations.len) : SP_STR_FAIL;
        ok = h->extra_json != SP_STR_FAIL;
    }
    if (!ok)
        return SPAA_ERR_NOMEM;
    spaa_status st = p->samples ? sp_samples_sort(p->samples) : SPAA_OK;
    if (!st)
        st = sp_windows_order(p);
    if (!st)
        st = sp_callees_split(p, &b->s->diags);
    return st ? st : sp_api_list_windows(b->s);
}

spaa_status spaa_builder_finish(struct spaa_builder *builder, struct spaa_profile **profile,
                                struct spaa_diagnostics **diagnostics)
{
    if (!sp_build_ready(builder, profile))
        return sp_build_not_ready(diagnostics);
    spaa_status st = sp_build_end(builder, build_finish(builder), diagnostics);
    if (!st) {
        *profile = builder->s;
        builder->s = NULL;
    }
    return st;
}

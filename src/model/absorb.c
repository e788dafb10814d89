#include "model/absorb.h"

#include "base/num.h"
#include "model/order.h"
#include "model/samples.h"

#include <stdlib.h>

struct absorber {
    struct sp_profile *to;
    const struct sp_profile *from;
    const struct sp_absorb_opts *opts;
    struct sp_diags *d;
    uint32_t *strs, *events, *metrics, *dsos, *frames, *contexts, *layouts, *stacks;
    bool nomem;
};

static uint32_t str(struct absorber *a, uint32_t s)
{
    if (s == SP_STR_NONE)
        return s;
    if (a->strs[s] == SP_STR_NONE) {
        struct sp_str t = sp_pstr(a->from, s);
        a->strs[s] = sp_profile_str(a->to, t.p, t.n);
        if (a->strs[s] == SP_STR_FAIL) {
            a->nomem = true;
            a->strs[s] = SP_STR_NONE;
        }
    }
    return a->strs[s];
}

/* The absent value absorbs: what differs between sources is not said of the whole. */
static void settle(uint32_t *have, uint32_t next, bool first)
{
    if (first)
        *have = next;
    else if (*have != next)
        *have = SP_STR_NONE;
}

static void widen(struct absorber *a, bool first)
{
    struct sp_header *h = &a->to->header;
    const struct sp_header *f = &a->from->header;
    uint32_t start = str(a, f->time_start), end = str(a, f->time_end), unit = str(a, f->time_unit);
    if (first || !h->time_start || !start || h->time_unit != unit) {
        h->time_start = first ? start : SP_STR_NONE;
        h->time_end = first ? end : SP_STR_NONE;
        h->time_unit = first ? unit : SP_STR_NONE;
        return;
    }
    struct sp_str x = sp_pstr(a->to, h->time_start), y = sp_pstr(a->to, start);
    if (sp_text_double(y.p, y.n) < sp_text_double(x.p, x.n))
        h->time_start = start;
    x = sp_pstr(a->to, h->time_end);
    y = sp_pstr(a->to, end);
    if (sp_text_double(y.p, y.n) > sp_text_double(x.p, x.n))
        h->time_end = end;
}

/* Durations add: rates divide by the sum. */
static void add_duration(struct absorber *a, bool first)
{
    struct sp_header *h = &a->to->header;
    uint32_t next = str(a, a->from->header.duration);
    if (first || !h->duration || !next) {
        h->duration = first ? next : SP_STR_NONE;
        return;
    }
    struct sp_str x = sp_pstr(a->to, h->duration), y = sp_pstr(a->to, next);
    int64_t ns, more;
    char t[32];
    h->duration = SP_STR_NONE;
    if (sp_seconds_ns(x.p, x.n, &ns) && sp_seconds_ns(y.p, y.n, &more) &&
        !__builtin_add_overflow(ns, more, &ns))
        h->duration = sp_profile_str(a->to, t, sp_ns_seconds(ns, t));
}

static void header(struct absorber *a, bool first)
{
    struct sp_header *h = &a->to->header;
    const struct sp_header *f = &a->from->header;
    settle(&h->version, str(a, f->version), first);
    settle(&h->source_tool, str(a, f->source_tool), first);
    settle(&h->tool, str(a, f->tool), first);
    settle(&h->command, str(a, f->command), first);
    settle(&h->tool_version, str(a, f->tool_version), first);
    settle(&h->source_more, str(a, f->source_more), first);
    settle(&h->more, str(a, f->more), first);
    settle(&h->clock, str(a, f->clock), first);
    settle(&h->host.name, str(a, f->host.name), first);
    settle(&h->host.os, str(a, f->host.os), first);
    settle(&h->host.arch, str(a, f->host.arch), first);
    settle(&h->host.cpus, str(a, f->host.cpus), first);
    settle(&h->x_spaa_more, str(a, f->x_spaa_more), first);
    widen(a, first);
    add_duration(a, first);
    if (first)
        h->root_first = f->root_first;
    enum sp_granularity frames = f->frames > a->opts->frames ? f->frames : a->opts->frames;
    if (first || frames > h->frames)
        h->frames = frames;
    unsigned group = f->has_x_spaa ? f->group_by & a->opts->group_by : a->opts->group_by;
    h->group_by = first ? group : h->group_by & group;
    h->has_x_spaa = true;
    h->lost += f->lost;
    h->truncated += f->truncated;
}

static spaa_status events(struct absorber *a)
{
    for (uint32_t i = 0; i < a->from->metrics.n; i++) {
        struct sp_str name = sp_pstr(a->from, a->from->metrics.v[i].name);
        if ((a->metrics[i] = sp_metric_intern(a->to, name.p, name.n)) == SP_NONE)
            return sp_nomem(a->d);
    }
    for (uint32_t i = 0; i < a->from->events.n; i++) {
        struct sp_event e = a->from->events.v[i];
        struct sp_str name = sp_pstr(a->from, e.name);
        e.name = str(a, e.name);
        e.primary = a->metrics[e.primary];
        e.unit = str(a, e.unit);
        e.sample_period = str(a, e.sample_period);
        e.frequency_hz = str(a, e.frequency_hz);
        e.allocation_tracking = str(a, e.allocation_tracking);
        e.sampling_more = str(a, e.sampling_more);
        e.more = str(a, e.more);
        uint32_t there = sp_event_find(a->to, name.p, name.n);
        if (there == SP_NONE) {
            there = sp_event_add(a->to, &e);
        } else {
            struct sp_event *t = &a->to->events.v[there];
            if (t->kind != e.kind || t->mode != e.mode || t->primary != e.primary) {
                sp_emit_hint(a->d, SP_E034, SP_AT_NOTHING,
                             "name another event with --event, or open them one by one",
                             "event \"%s\" has another kind, mode or primary metric in another file", name.p);
                return SPAA_ERR_USAGE;
            }
            settle(&t->sample_period, e.sample_period, false);
            settle(&t->frequency_hz, e.frequency_hz, false);
        }
        if ((a->events[i] = there) == SP_NONE)
            return sp_nomem(a->d);
    }
    return SPAA_OK;
}

static void coarsen(struct sp_frame *f, enum sp_granularity g)
{
    if (g < SP_FRAMES_LINE)
        return;
    f->ip = f->symoff = 0;
    f->flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
    if (g == SP_FRAMES_LINE)
        return;
    f->srcline = SP_STR_NONE;
    f->inline_depth = 0;
    f->flags &= SP_FRAME_UNRESOLVED;
}

static spaa_status dictionary(struct absorber *a)
{
    const struct sp_profile *from = a->from;
    for (uint32_t i = 0; i < from->dsos.n; i++) {
        struct sp_dso x = from->dsos.v[i];
        x.name = str(a, x.name);
        x.build_id = str(a, x.build_id);
        x.more = str(a, x.more);
        if ((a->dsos[i] = sp_dso_intern(a->to, &x)) == SP_NONE)
            return sp_nomem(a->d);
    }
    for (uint32_t i = 0; i < from->frames.n; i++) {
        struct sp_frame f = from->frames.v[i];
        const struct sp_function *fn = &from->functions.v[f.function];
        f.function = sp_function_intern(a->to, str(a, fn->name), a->dsos[fn->dso]);
        f.srcline = str(a, f.srcline);
        f.more = a->to->header.frames >= SP_FRAMES_FUNCTION ? SP_STR_NONE : str(a, f.more);
        coarsen(&f, a->to->header.frames);
        if (f.function == SP_NONE || (a->frames[i] = sp_frame_intern(a->to, &f)) == SP_NONE)
            return sp_nomem(a->d);
    }
    for (uint32_t i = 0; i < from->threads.n; i++) {
        struct sp_thread t = from->threads.v[i];
        if (sp_thread_intern(a->to, t.pid, t.tid, str(a, t.comm)) == SP_NONE)
            return sp_nomem(a->d);
    }
    return SPAA_OK;
}

static spaa_status contexts(struct absorber *a)
{
    unsigned keep = a->opts->group_by;
    uint32_t source = a->opts->source ? sp_profile_cstr(a->to, a->opts->source) : SP_STR_NONE;
    if (source == SP_STR_FAIL)
        return sp_nomem(a->d);
    for (uint32_t i = 0; i < a->from->contexts.n; i++) {
        struct sp_context c = a->from->contexts.v[i];
        c.event = c.event == SP_NONE ? SP_NONE : a->events[c.event];
        c.comm = keep & SP_BY_COMM ? str(a, c.comm) : SP_STR_NONE;
        c.state = keep & SP_BY_STATE ? str(a, c.state) : SP_STR_NONE;
        c.source = source ? source : str(a, c.source);
        c.more = str(a, c.more);
        c.pid = keep & SP_BY_PID ? c.pid : SP_ABSENT;
        c.tid = keep & SP_BY_TID ? c.tid : SP_ABSENT;
        c.cpu = keep & SP_BY_CPU ? c.cpu : SP_ABSENT;
        if ((a->contexts[i] = sp_context_intern(a->to, &c)) == SP_NONE)
            return sp_nomem(a->d);
    }
    for (uint32_t i = 0; i < a->from->layouts.n; i++) {
        const struct sp_layout *l = &a->from->layouts.v[i];
        struct sp_weight_field *f = malloc((l->n + 1) * sizeof *f);
        for (uint32_t k = 0; f && k < l->n; k++) {
            const struct sp_weight_field *old = &a->from->layout_fields.v[l->first + k];
            f[k] = (struct sp_weight_field){a->metrics[old->metric], str(a, old->unit), str(a, old->more)};
        }
        a->layouts[i] = f ? sp_layout_intern(a->to, f, l->n) : SP_NONE;
        free(f);
        if (a->layouts[i] == SP_NONE)
            return sp_nomem(a->d);
    }
    return SPAA_OK;
}

static bool combine(struct absorber *a, uint32_t to, uint32_t stack, uint32_t metric)
{
    const struct sp_profile *from = a->from;
    uint32_t m = a->metrics[metric];
    int64_t v = sp_weight(from, stack, metric), have = sp_weight(a->to, to, m);
    struct sp_str t = v == SP_DECIMAL ? sp_weight_text(from, stack, metric) : (struct sp_str){"", 0};
    if (v == SP_ABSENT)
        return true;
    enum sp_metric_op op = a->to->metrics.v[m].info->op;
    if (have == SP_ABSENT)
        return v == SP_DECIMAL ? sp_weight_set_text(a->to, to, m, t.p, t.n) : sp_weight_set(a->to, to, m, v);
    if (op == SP_OP_SUM)
        return v == SP_DECIMAL ? sp_weight_add_text(a->to, to, m, t.p, t.n) : sp_weight_add(a->to, to, m, v);
    double x = sp_weight_double(from, stack, metric), y = sp_weight_double(a->to, to, m);
    if (op == SP_OP_NONE || (op == SP_OP_MAX ? x <= y : x >= y))
        return true;
    return v == SP_DECIMAL ? sp_weight_set_text(a->to, to, m, t.p, t.n) : sp_weight_set(a->to, to, m, v);
}

static bool never_combines(const struct absorber *a, uint32_t stack)
{
    for (uint32_t m = 0; m < a->from->metrics.n; m++)
        if (a->from->metrics.v[m].info->op == SP_OP_NONE && sp_weight(a->from, stack, m) != SP_ABSENT)
            return true;
    return false;
}

static spaa_status stacks(struct absorber *a)
{
    const struct sp_profile *from = a->from;
    SP_VEC(uint32_t) frames = {0};
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < from->stacks.n; i++) {
        const struct sp_stack *s = &from->stacks.v[i];
        const uint32_t *f = sp_stack_frames(from, i);
        bool is_new;
        if (!sp_vec_reserve(&frames, s->n)) {
            st = sp_nomem(a->d);
            break;
        }
        for (uint32_t k = 0; k < s->n; k++)
            frames.v[k] = a->frames[f[k]];
        uint32_t to = never_combines(a, i) || s->related
                          ? sp_stack_append(a->to, frames.v, s->n, a->contexts[s->context], s->type)
                          : sp_stack_intern(a->to, frames.v, s->n, a->contexts[s->context], s->type, &is_new);
        bool ok = to != SP_NONE;
        a->stacks[i] = to;
        if (ok && (a->to->stacks.v[to].layout == SP_NONE ||
                   (s->layout != SP_NONE &&
                    from->layouts.v[s->layout].n > a->to->layouts.v[a->to->stacks.v[to].layout].n)))
            sp_stack_set_layout(a->to, to, s->layout == SP_NONE ? SP_NONE : a->layouts[s->layout]);
        if (ok)
            a->to->stacks.v[to].more = str(a, s->more);
        for (uint32_t m = 0; ok && m < from->metrics.n; m++)
            ok = combine(a, to, i, m);
        st = ok ? SPAA_OK : sp_nomem(a->d);
    }
    sp_vec_free(&frames);
    return st;
}

/* Links between records of one source; linked records are never combined with others. */
static spaa_status links(struct absorber *a)
{
    const struct sp_profile *from = a->from;
    for (uint32_t i = 0; i < from->stacks.n; i++) {
        if (!from->stacks.v[i].related)
            continue;
        const struct sp_related *r = &from->related.v[from->stacks.v[i].related - 1];
        struct sp_related fresh = {(uint32_t)a->to->related_stacks.n, 0};
        for (uint32_t k = 0; k < r->n; k++) {
            uint32_t other = from->related_stacks.v[r->first + k];
            if (other == SP_NONE)
                continue;
            if (!sp_vec_push(&a->to->related_stacks, a->stacks[other]))
                return sp_nomem(a->d);
            fresh.n++;
        }
        if (!sp_vec_push(&a->to->related, fresh))
            return sp_nomem(a->d);
        a->to->stacks.v[a->stacks[i]].related = (uint32_t)a->to->related.n;
    }
    return SPAA_OK;
}

static void left_out(struct absorber *a)
{
    const struct sp_profile *f = a->from;
    if (f->samples || f->windows.n || f->extensions.n)
        sp_emit(a->d, SP_I321, SP_AT_NOTHING, "%llu samples, %zu windows and %zu extension records",
                (unsigned long long)sp_samples_count(f->samples), f->windows.n, f->extensions.n);
}

static uint32_t *table(struct absorber *a, size_t n)
{
    uint32_t *t = calloc(n + 1, sizeof *t);
    a->nomem = a->nomem || !t;
    return t;
}

spaa_status sp_profile_absorb(struct sp_profile *into, const struct sp_profile *from,
                              const struct sp_absorb_opts *opts, struct sp_diags *d)
{
    struct absorber a = {.to = into, .from = from, .opts = opts, .d = d};
    a.strs = table(&a, from->strs.strs.n);
    a.events = table(&a, from->events.n);
    a.metrics = table(&a, from->metrics.n);
    a.dsos = table(&a, from->dsos.n);
    a.frames = table(&a, from->frames.n);
    a.contexts = table(&a, from->contexts.n);
    a.layouts = table(&a, from->layouts.n);
    a.stacks = table(&a, from->stacks.n);
    spaa_status st = a.nomem ? sp_nomem(d) : SPAA_OK;
    if (!st) {
        header(&a, !into->header.has_x_spaa);
        st = events(&a);
    }
    if (!st)
        st = dictionary(&a);
    if (!st)
        st = contexts(&a);
    if (!st)
        st = stacks(&a);
    if (!st && from->related.n)
        st = links(&a);
    if (!st && a.nomem)
        st = sp_nomem(d);
    if (!st)
        left_out(&a);
    uint32_t *tables[] = {a.strs, a.events, a.metrics, a.dsos, a.frames, a.contexts, a.layouts, a.stacks};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        free(tables[i]);
    return st;
}

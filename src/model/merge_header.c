/* Merging headers and events: what differs is absent, ranges widen, durations and losses add. */
#include "model/merge_private.h"

#include "base/decimal.h"
#include "base/num.h"

/*
 * The earlier start or the later end: by value, equal values by their bytes. What cannot be compared is
 * absent.
 */
static void extreme(struct sp_absorber *a, uint32_t *have, uint32_t next, int sign)
{
    if (!*have || !next) {
        *have = SP_STR_NONE;
        return;
    }
    struct sp_str x = sp_pstr(a->to, *have), y = sp_pstr(a->to, next);
    bool ok = true;
    int c = sign * sp_decimal_cmp(x.p, x.n, y.p, y.n, &ok);
    if (!ok)
        *have = SP_STR_NONE;
    else if (c > 0 || (c == 0 && sp_str_cmp(x, y) > 0))
        *have = next;
}

/* What is later than one of them may be another build than it recorded. */
static void earliest(struct sp_absorber *a, bool first)
{
    const struct timespec *have = &a->to->written, *next = &a->from->written;
    bool sooner = next->tv_sec != have->tv_sec ? next->tv_sec < have->tv_sec : next->tv_nsec < have->tv_nsec;
    if (first || !have->tv_sec || (next->tv_sec && sooner))
        a->to->written = *next;
}

static void widen(struct sp_absorber *a, bool first)
{
    struct sp_header *h = &a->to->header;
    const struct sp_header *f = &a->from->header;
    uint32_t start = sp_absorb_str(a, f->time_start), end = sp_absorb_str(a, f->time_end);
    uint32_t unit = sp_absorb_text(a, f->time_unit), more = sp_absorb_str(a, f->time_extra_json);
    if (first) {
        h->time_start = start;
        h->time_end = end;
        h->time_unit = unit;
        h->time_extra_json = more;
        return;
    }
    sp_meet(&h->time_extra_json, more);
    if (h->time_unit != unit) {
        h->time_start = h->time_end = h->time_unit = SP_STR_NONE;
        return;
    }
    extreme(a, &h->time_start, start, 1);
    extreme(a, &h->time_end, end, -1);
}

/* How long an input lasted: as it says, else from its start to its end. */
static uint32_t duration_of(struct sp_absorber *a)
{
    const struct sp_header *f = &a->from->header;
    struct sp_str start = sp_pstr(a->from, f->time_start), end = sp_pstr(a->from, f->time_end);
    int64_t from, to;
    char text[32];
    if (f->duration || !f->time_start || !f->time_end ||
        !sp_str_is(sp_pstr(a->from, f->time_unit), "seconds") || !sp_seconds_ns(start.p, start.n, &from) ||
        !sp_seconds_ns(end.p, end.n, &to) || __builtin_sub_overflow(to, from, &to))
        return sp_absorb_str(a, f->duration);
    to = to < 0 ? 0 : to;
    uint32_t made = sp_profile_str(a->to, text, sp_ns_seconds(to, text));
    a->nomem = a->nomem || made == SP_STR_FAIL;
    return made == SP_STR_FAIL ? SP_STR_NONE : made;
}

/*
 * Rates divide by the sum. What was merged before says it, or does not know it: its time range has the gaps
 * between its inputs in it.
 */
spaa_status sp_absorb_duration(struct sp_absorber *a, bool first, bool merged)
{
    struct sp_header *h = &a->to->header;
    spaa_status st = SPAA_OK;
    uint32_t next = merged ? sp_absorb_str(a, a->from->header.duration) : duration_of(a);
    if (first || !next)
        h->duration = next;
    else if (h->duration)
        h->duration = sp_merge_add_texts(a->m, h->duration, next, &st);
    return st;
}

/* Sums stay what a reader takes: a signed 64-bit number. */
static uint64_t merge_header_add_capped(uint64_t a, uint64_t b)
{
    uint64_t most = INT64_MAX;
    a = a < most ? a : most;
    b = b < most ? b : most;
    return a + b < most ? a + b : most;
}

unsigned sp_stated_groups(const struct sp_profile *p)
{
    unsigned all = 0;
    if (p->header.has_x_spaa)
        return p->header.group_by;
    for (size_t i = 0; i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        all |= (c->pid != SP_ABSENT ? SP_BY_PID : 0u) | (c->tid != SP_ABSENT ? SP_BY_TID : 0u) |
               (c->cpu != SP_ABSENT ? SP_BY_CPU : 0u) | (sp_pstr(p, c->comm).n ? SP_BY_COMM : 0u) |
               (sp_pstr(p, c->state).n ? SP_BY_STATE : 0u);
    }
    return all;
}

/* The tool, which a header must name: "spaa" where there are several. */
static void tools(struct sp_absorber *a, bool first)
{
    struct sp_header *h = &a->to->header;
    uint32_t tool = sp_absorb_text(a, a->from->header.source_tool);
    if (!a->m->opts.canonical || (first && tool)) {
        h->source_tool = first || h->source_tool == tool ? tool : SP_STR_NONE;
        return;
    }
    if (first || h->source_tool != tool)
        h->source_tool = sp_profile_cstr(a->to, "spaa");
    if (h->source_tool == SP_STR_FAIL) {
        h->source_tool = SP_STR_NONE;
        a->nomem = true;
    }
}

void sp_absorb_header(struct sp_absorber *a, bool first)
{
    struct sp_header *h = &a->to->header;
    const struct sp_header *f = &a->from->header;
    bool usual = sp_str_is(sp_pstr(a->from, f->version), "1.0"); /* what is written for none */
    struct {
        uint32_t *have, next;
    } attributes[] = {
        {&h->version, usual ? SP_STR_NONE : sp_absorb_text(a, f->version)},
        {&h->tool, sp_absorb_text(a, f->tool)},
        {&h->command, sp_absorb_text(a, f->command)},
        {&h->tool_version, sp_absorb_text(a, f->tool_version)},
        {&h->source_extra_json, sp_absorb_str(a, f->source_extra_json)},
        {&h->extra_json, sp_absorb_str(a, f->extra_json)},
        {&h->default_event, sp_absorb_text(a, f->default_event)},
        {&h->clock, sp_absorb_text(a, f->clock)},
        {&h->host.name, sp_absorb_text(a, f->host.name)},
        {&h->host.os, sp_absorb_text(a, f->host.os)},
        {&h->host.arch, sp_absorb_text(a, f->host.arch)},
        {&h->host.cpus, sp_absorb_str(a, f->host.cpus)},
        {&h->x_spaa_extra_json, sp_absorb_str(a, f->x_spaa_extra_json)},
    };
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (first)
            *attributes[i].have = attributes[i].next;
        else
            sp_meet(attributes[i].have, attributes[i].next);
    }
    tools(a, first);
    earliest(a, first);
    widen(a, first);
    if (first)
        h->ips = f->ips;
    else if (h->ips != f->ips) /* return addresses looked up as others name the wrong function, not so back */
        h->ips = SP_IPS_BY_PLACE;
    /* Leaf first, unless all say otherwise. */
    h->root_first = first || a->m->opts.canonical ? f->root_first && (first || h->root_first) : h->root_first;
    if (!a->m->opts.canonical)
        h->group_by &= f->has_x_spaa ? f->group_by : ~0u;
    h->has_x_spaa = true;
    if (h->frames == SP_FRAMES_FOREIGN)
        h->frames = SP_FRAMES_ADDRESS;
    h->lost = merge_header_add_capped(first ? 0 : h->lost, f->lost);
    h->truncated = merge_header_add_capped(first ? 0 : h->truncated, f->truncated);
    h->unfinished = merge_header_add_capped(first ? 0 : h->unfinished, f->unfinished);
    h->frames_filtered = (!first && h->frames_filtered) || f->frames_filtered;
    h->throttled_ns = merge_header_add_capped(first ? 0 : h->throttled_ns, f->throttled_ns);
}

static bool same_event(const struct sp_event *a, const struct sp_event *b)
{
    return a->kind == b->kind && a->mode == b->mode && a->primary == b->primary;
}

static uint32_t add_event(struct sp_absorber *a, const struct sp_event *e)
{
    struct sp_profile *p = a->to;
    uint32_t i = sp_event_of_name(p, e->name);
    if (i != SP_NONE) {
        struct sp_event *t = &p->events.v[i];
        if (!same_event(t, e))
            return SP_NONE;
        if (t->unit != e->unit && t->unit && e->unit)
            a->m->units_differ = true;
        sp_meet(&t->unit, e->unit);
        sp_meet(&t->sample_period, e->sample_period);
        sp_meet(&t->frequency_hz, e->frequency_hz);
        sp_meet(&t->allocation_tracking, e->allocation_tracking);
        sp_meet(&t->sampling_extra_json, e->sampling_extra_json);
        sp_meet(&t->extra_json, e->extra_json);
        return i;
    }
    uint32_t n = sp_event_add(p, e);
    a->nomem = a->nomem || n == SP_NONE;
    return n;
}

spaa_status sp_absorb_events(struct sp_absorber *a)
{
    const struct sp_profile *from = a->from;
    for (uint32_t i = 0; i < from->metrics.n; i++) {
        struct sp_str name = sp_pstr(from, from->metrics.v[i].name);
        enum sp_metric_op op = from->metrics.v[i].info->op;
        size_t known = a->to->metrics.n;
        a->metrics[i] = sp_metric_intern(a->to, name.p, name.n);
        if (a->metrics[i] == SP_NONE && a->to->metrics.n >= SP_METRICS_MAX) {
            sp_emit(a->d, SP_E007, SP_AT_NOTHING, "more than %u metrics in all inputs", SP_METRICS_MAX);
            return SPAA_ERR_LIMIT;
        }
        if (a->metrics[i] == SP_NONE)
            return sp_nomem(a->d);
        if (a->metrics[i] == known)
            sp_metric_combine(a->to, a->metrics[i], op);
        if (a->to->metrics.v[a->metrics[i]].info->op != op) {
            sp_emit_hint(a->d, SP_E034, SP_AT_NOTHING, "merge or open the files apart",
                         "values of metric \"%s\" combine as \"%s\" in one file and as \"%s\" in another",
                         name.p, sp_metric_op_names[a->to->metrics.v[a->metrics[i]].info->op],
                         sp_metric_op_names[op]);
            return SPAA_ERR_USAGE;
        }
    }
    for (uint32_t i = 0; i < from->events.n; i++) {
        struct sp_event e = from->events.v[i];
        e.name = sp_absorb_str(a, e.name);
        e.primary = e.primary == SP_NONE ? SP_NONE : a->metrics[e.primary];
        e.unit = sp_absorb_text(a, e.unit);
        e.sample_period = sp_absorb_str(a, e.sample_period);
        e.frequency_hz = sp_absorb_str(a, e.frequency_hz);
        e.allocation_tracking = sp_absorb_str(a, e.allocation_tracking);
        e.sampling_extra_json = sp_absorb_str(a, e.sampling_extra_json);
        e.extra_json = sp_absorb_str(a, e.extra_json);
        a->events[i] = add_event(a, &e);
        if (a->nomem)
            return sp_nomem(a->d);
        if (a->events[i] == SP_NONE) {
            sp_emit_hint(a->d, SP_E034, SP_AT_NOTHING,
                         "merge or open the files apart; `spaa info` shows the events of each",
                         "event \"%s\" has another kind, mode or primary metric in another file",
                         sp_str_cstr(&a->to->strs, e.name));
            return SPAA_ERR_USAGE;
        }
    }
    return SPAA_OK;
}

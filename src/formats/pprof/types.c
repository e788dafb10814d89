/*
 * Sample types as events and metrics.
 *
 *     alloc_objects, alloc_space, inuse_objects, inuse_space (objects, space)   event heap
 *     contentions, delay                                                        event contention
 *     samples/count and cpu, or the first type that is none of these            one event, named after the
 * other any other type                                                            an event of its own
 *
 * The header keeps the list as it was.
 */
#include "base/num.h"
#include "formats/pprof/pprof.h"

enum group { HEAP, CONTENTION, CPU, OWN };

static const struct known {
    const char *type, *unit, *metric;
    enum group group;
} known[] = {
    {"alloc_objects", "count", "alloc_count", HEAP},
    {"alloc_space", "bytes", "alloc_bytes", HEAP},
    {"inuse_objects", "count", "live_count", HEAP},
    {"inuse_space", "bytes", "live_bytes", HEAP},
    {"objects", "count", "live_count", HEAP},
    {"space", "bytes", "live_bytes", HEAP},
    {"contentions", "count", "count", CONTENTION},
    {"delay", "nanoseconds", "delay", CONTENTION},
    {"samples", "count", "samples", CPU},
    {"sample", "count", "samples", CPU},
    {"cpu", "nanoseconds", "cpu", CPU},
};

static const struct known *pprof_known_type(struct sp_str type, struct sp_str unit)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sp_str_is(type, known[i].type) && sp_str_is(unit, known[i].unit))
            return &known[i];
    return NULL;
}

/* An event of ours gets another type; its metric must be new there. */
static void pprof_join_event(struct sp_pprof *pp, uint32_t event, uint32_t type)
{
    struct sp_pprof_event *e = &pp->event[event];
    e->types[e->ntypes++] = type;
    pp->type[type].event = event;
}

static bool pprof_has_metric(const struct sp_pprof *pp, uint32_t event, uint32_t metric)
{
    for (uint32_t i = 0; i < pp->event[event].ntypes; i++)
        if (pp->type[pp->event[event].types[i]].metric == metric)
            return true;
    return false;
}

struct groups {
    enum group of[PPROF_TYPES_MAX];
    uint32_t event[OWN]; /* SP_NONE: not yet */
    uint32_t counted;    /* the type beside samples/count */
};

/* What each type is; `samples` alone goes with the first type of its own where there is no cpu. */
static void pprof_group_types(struct sp_pprof *pp, struct groups *g)
{
    bool samples = false, cpu = false;
    g->counted = SP_NONE;
    for (uint32_t i = 0; i < pp->ntypes; i++) {
        const struct known *k = pprof_known_type(sp_pprof_text(pp, pp->type[i].value.type),
                                                 sp_pprof_text(pp, pp->type[i].value.unit));
        g->of[i] = k ? k->group : OWN;
        if (k && k->group == CPU) {
            bool is_cpu = strcmp(k->metric, "cpu") == 0;
            samples |= !is_cpu;
            cpu |= is_cpu;
            if (is_cpu && g->counted == SP_NONE)
                g->counted = i;
        }
    }
    for (uint32_t i = 0; i < pp->ntypes && samples && !cpu && g->counted == SP_NONE; i++)
        if (g->of[i] == OWN) {
            g->of[i] = CPU;
            g->counted = i;
        }
    for (int k = 0; k < OWN; k++)
        g->event[k] = SP_NONE;
}

static spaa_status pprof_place_type(struct sp_pprof *pp, struct groups *g, uint32_t i)
{
    struct sp_pprof_type *t = &pp->type[i];
    struct sp_str name = sp_pprof_text(pp, t->value.type);
    const struct known *k = pprof_known_type(name, sp_pprof_text(pp, t->value.unit));
    enum group of = g->of[i];
    if (k)
        name = sp_pprof_literal(k->metric);
    else if (!name.n)
        name = sp_pprof_literal("value");
    t->metric = sp_metric_intern(pp->p, name.p, name.n);
    if (t->metric == SP_NONE)
        return sp_nomem(pp->d);
    if (of != OWN && g->event[of] != SP_NONE && !pprof_has_metric(pp, g->event[of], t->metric)) {
        pprof_join_event(pp, g->event[of], i);
        return SPAA_OK;
    }
    if (of != OWN && g->event[of] == SP_NONE)
        g->event[of] = pp->nevents;
    pprof_join_event(pp, pp->nevents++, i);
    return SPAA_OK;
}

static bool pprof_metric_is(const struct sp_pprof *pp, uint32_t metric, const char *name)
{
    return sp_str_is(sp_pstr(pp->p, pp->p->metrics.v[metric].name), name);
}

/* What the event is named after: the first that is no count of samples. */
static uint32_t pprof_naming_type(const struct sp_pprof *pp, const struct sp_pprof_event *e)
{
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (!pprof_metric_is(pp, pp->type[e->types[i]].metric, "samples"))
            return e->types[i];
    return e->types[0];
}

/* What pprof shows when nothing is asked for: the type that the file names, else the last one. */
static uint32_t pprof_default_type(struct sp_pprof *pp)
{
    struct sp_str name = sp_pprof_text(pp, pp->file.default_sample_type);
    for (uint32_t i = 0; name.n && i < pp->ntypes; i++)
        if (sp_pprof_same(sp_pprof_text(pp, pp->type[i].value.type), name))
            return i;
    return pp->ntypes - 1;
}

/* That one in its event; in others the last. */
static uint32_t pprof_primary_type(const struct sp_pprof *pp, const struct sp_pprof_event *e)
{
    uint32_t first = pp->default_type;
    return &pp->event[pp->type[first].event] == e ? first : e->types[e->ntypes - 1];
}

static bool pprof_is_time(struct sp_str unit)
{
    return sp_str_is(unit, "nanoseconds") || sp_str_is(unit, "microseconds") ||
           sp_str_is(unit, "milliseconds") || sp_str_is(unit, "seconds");
}

/* The profile's period, where it is about one of the event's types. */
static spaa_status pprof_period(struct sp_pprof *pp, const struct sp_pprof_event *e, bool heap,
                                struct sp_event *out)
{
    int64_t v = (int64_t)pp->file.period;
    if (!pp->file.period_type.p || v <= 0)
        return SPAA_OK;
    struct sp_str of = sp_pprof_text(pp, pp->period_type.type);
    bool ours = heap && sp_str_is(of, "space");
    for (uint32_t i = 0; i < e->ntypes; i++)
        ours |= sp_pprof_same(sp_pprof_text(pp, pp->type[e->types[i]].value.type), of);
    if (!ours)
        return SPAA_OK;
    if (v == 1) {
        out->mode = SP_EVENT;
        return SPAA_OK;
    }
    char t[20];
    out->sample_period = sp_profile_str(pp->p, t, sp_u64_text((uint64_t)v, t));
    return out->sample_period == SP_STR_FAIL ? sp_nomem(pp->d) : SPAA_OK;
}

static spaa_status pprof_layout(struct sp_pprof *pp, struct sp_pprof_event *e)
{
    struct sp_weight_field fields[PPROF_TYPES_MAX];
    for (uint32_t i = 0; i < e->ntypes; i++) {
        const struct sp_pprof_type *t = &pp->type[e->types[i]];
        struct sp_str unit = sp_pprof_unit_in(sp_pprof_text(pp, t->value.unit));
        bool none = !unit.n || (pprof_metric_is(pp, t->metric, "samples") && sp_str_is(unit, "count"));
        fields[i] = (struct sp_weight_field){t->metric, 0, 0};
        if (!none)
            fields[i].unit = sp_profile_str(pp->p, unit.p, unit.n);
        if (fields[i].unit == SP_STR_FAIL)
            return sp_nomem(pp->d);
    }
    e->layout = sp_layout_intern(pp->p, fields, e->ntypes);
    return e->layout == SP_NONE ? sp_nomem(pp->d) : SPAA_OK;
}

static spaa_status pprof_declare_event(struct sp_pprof *pp, struct sp_pprof_event *e, const struct groups *g)
{
    struct sp_profile *p = pp->p;
    enum group of = g->of[e->types[0]];
    const struct sp_pprof_type *named = &pp->type[pprof_naming_type(pp, e)],
                               *first = &pp->type[pprof_primary_type(pp, e)];
    struct sp_str name = sp_pprof_text(pp, named->value.type), unit = sp_pprof_text(pp, first->value.unit);
    struct sp_event x = {.kind = pprof_is_time(sp_pprof_text(pp, named->value.unit)) ? SP_TIMER : SP_SOFTWARE,
                         .mode = SP_PERIOD,
                         .primary = first->metric};
    bool live = false, total = false;
    for (uint32_t i = 0; i < e->ntypes; i++) {
        live |= pprof_metric_is(pp, pp->type[e->types[i]].metric, "live_bytes");
        total |= pprof_metric_is(pp, pp->type[e->types[i]].metric, "alloc_bytes");
    }
    if (of == HEAP) {
        name = sp_pprof_literal("heap");
        x.kind = SP_ALLOCATION;
        x.allocation_tracking =
            sp_profile_cstr(p, live || !total ? "{\"tracks_frees\":true,\"has_timestamps\":false}"
                                              : "{\"tracks_frees\":false,\"has_timestamps\":false}");
    } else if (of == CONTENTION) {
        name = sp_pprof_literal("contention");
        x.kind = SP_SOFTWARE;
    } else if (of == CPU) {
        x.kind = SP_TIMER;
    }
    if (!name.n)
        name = sp_pprof_literal("value");
    x.name = sp_profile_str(p, name.p, name.n);
    unit = sp_pprof_unit_in(unit);
    x.unit = sp_profile_str(p, unit.p, unit.n);
    if (x.name == SP_STR_FAIL || x.unit == SP_STR_FAIL || x.allocation_tracking == SP_STR_FAIL)
        return sp_nomem(pp->d);
    spaa_status st = pprof_period(pp, e, of == HEAP, &x);
    if (st)
        return st;
    e->number = sp_event_add_named(p, &x);
    return e->number == SP_NONE ? sp_nomem(pp->d) : pprof_layout(pp, e);
}

spaa_status sp_pprof_types(struct sp_pprof *pp)
{
    struct groups g;
    size_t n = pp->file.sample_types.n;
    if (!n) {
        sp_emit(pp->d, SP_E700, SP_AT_NOTHING,
                "it has no sample types, so nothing says what its numbers are");
        return SPAA_ERR_INPUT;
    }
    if (n > PPROF_TYPES_MAX) {
        sp_emit(pp->d, SP_L723, sp_pprof_at(pp, pp->file.sample_types.v[PPROF_TYPES_MAX].p),
                "%zu sample types; the first %u are kept", n, PPROF_TYPES_MAX);
        n = PPROF_TYPES_MAX;
    }
    pp->ntypes = (uint32_t)n;
    for (uint32_t i = 0; i < n; i++)
        if (!sp_pprof_read(pp, &sp_pprof_value_type_fields, pp->file.sample_types.v[i], &pp->type[i].value))
            return sp_nomem(pp->d);
    if (pp->file.period_type.p &&
        !sp_pprof_read(pp, &sp_pprof_value_type_fields, pp->file.period_type, &pp->period_type))
        return sp_nomem(pp->d);
    pprof_group_types(pp, &g);
    for (uint32_t i = 0; i < n; i++) {
        spaa_status st = pprof_place_type(pp, &g, i);
        if (st)
            return st;
    }
    pp->default_type = pprof_default_type(pp);
    for (uint32_t e = 0; e < pp->nevents; e++) {
        spaa_status st = pprof_declare_event(pp, &pp->event[e], &g);
        if (st)
            return st;
    }
    if (pp->nevents > 1)
        pp->p->header.default_event =
            pp->p->events.v[pp->event[pp->type[pp->default_type].event].number].name;
    return SPAA_OK;
}

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

static const struct known *known_type(struct sp_str type, struct sp_str unit)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sp_str_is(type, known[i].type) && sp_str_is(unit, known[i].unit))
            return &known[i];
    return NULL;
}

/* The two strings of a ValueType. */
static void value_type(struct sp_pp *pp, struct sp_pp_slice s, uint64_t *type, uint64_t *unit)
{
    struct sp_wire w = sp_wire_of(s.p, s.n);
    *type = *unit = 0;
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.number == 1 && f.type == SP_WIRE_VARINT)
            *type = f.v;
        else if (f.number == 2 && f.type == SP_WIRE_VARINT)
            *unit = f.v;
        else
            pp->odd++;
    }
    if (w.error)
        sp_emit(pp->d, SP_L720, sp_pp_at(pp, w.at), "in a sample type: %s", w.error);
}

/* An event of ours gets another type; its metric must be new there. */
static void join(struct sp_pp *pp, uint32_t event, uint32_t type)
{
    struct sp_pp_event *e = &pp->event[event];
    e->types[e->ntypes++] = type;
    pp->type[type].event = event;
}

static bool has_metric(const struct sp_pp *pp, uint32_t event, uint32_t metric)
{
    for (uint32_t i = 0; i < pp->event[event].ntypes; i++)
        if (pp->type[pp->event[event].types[i]].metric == metric)
            return true;
    return false;
}

struct groups {
    enum group of[PP_TYPES_MAX];
    uint32_t event[OWN]; /* SP_NONE: not yet */
    uint32_t counted;    /* the type beside samples/count */
};

/* What each type is; `samples` alone goes with the first type of its own where there is no cpu. */
static void sort_out(struct sp_pp *pp, struct groups *g)
{
    bool samples = false, cpu = false;
    g->counted = SP_NONE;
    for (uint32_t i = 0; i < pp->ntypes; i++) {
        const struct known *k =
            known_type(sp_pp_text(pp, pp->type[i].type), sp_pp_text(pp, pp->type[i].unit));
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

static spaa_status place(struct sp_pp *pp, struct groups *g, uint32_t i)
{
    struct sp_pp_type *t = &pp->type[i];
    struct sp_str name = sp_pp_text(pp, t->type);
    const struct known *k = known_type(name, sp_pp_text(pp, t->unit));
    enum group of = g->of[i];
    if (k)
        name = sp_pp_literal(k->metric);
    else if (!name.n)
        name = sp_pp_literal("value");
    t->metric = sp_metric_intern(pp->p, name.p, name.n);
    if (t->metric == SP_NONE)
        return sp_nomem(pp->d);
    if (of != OWN && g->event[of] != SP_NONE && !has_metric(pp, g->event[of], t->metric)) {
        join(pp, g->event[of], i);
        return SPAA_OK;
    }
    if (of != OWN && g->event[of] == SP_NONE)
        g->event[of] = pp->nevents;
    join(pp, pp->nevents++, i);
    return SPAA_OK;
}

static bool is(const struct sp_pp *pp, uint32_t metric, const char *name)
{
    return sp_str_is(sp_pstr(pp->p, pp->p->metrics.v[metric].name), name);
}

/* What the event is named after: the first that is no count of samples. */
static uint32_t naming_type(const struct sp_pp *pp, const struct sp_pp_event *e)
{
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (!is(pp, pp->type[e->types[i]].metric, "samples"))
            return e->types[i];
    return e->types[0];
}

/* What pprof shows when nothing is asked for: the type that the file names, else the last one. */
static uint32_t default_type(struct sp_pp *pp)
{
    struct sp_str name = sp_pp_text(pp, pp->single[PP_DEFAULT_TYPE]);
    for (uint32_t i = 0; name.n && i < pp->ntypes; i++)
        if (sp_pp_same(sp_pp_text(pp, pp->type[i].type), name))
            return i;
    return pp->ntypes - 1;
}

/* That one in its event; in others the last. */
static uint32_t primary_of(const struct sp_pp *pp, const struct sp_pp_event *e)
{
    uint32_t first = pp->default_type;
    return &pp->event[pp->type[first].event] == e ? first : e->types[e->ntypes - 1];
}

static bool is_time(struct sp_str unit)
{
    return sp_str_is(unit, "nanoseconds") || sp_str_is(unit, "microseconds") ||
           sp_str_is(unit, "milliseconds") || sp_str_is(unit, "seconds");
}

/* The profile's period, where it is about one of the event's types. */
static spaa_status period(struct sp_pp *pp, const struct sp_pp_event *e, bool heap, struct sp_event *out)
{
    uint64_t type, unit;
    int64_t v = (int64_t)pp->single[PP_PERIOD];
    if (!pp->period_type.p || v <= 0)
        return SPAA_OK;
    value_type(pp, pp->period_type, &type, &unit);
    struct sp_str of = sp_pp_text(pp, type);
    bool ours = heap && sp_str_is(of, "space");
    for (uint32_t i = 0; i < e->ntypes; i++)
        ours |= sp_pp_same(sp_pp_text(pp, pp->type[e->types[i]].type), of);
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

static spaa_status layout_of(struct sp_pp *pp, struct sp_pp_event *e)
{
    struct sp_weight_field fields[PP_TYPES_MAX];
    for (uint32_t i = 0; i < e->ntypes; i++) {
        const struct sp_pp_type *t = &pp->type[e->types[i]];
        struct sp_str unit = sp_pp_unit_in(sp_pp_text(pp, t->unit));
        bool none = !unit.n || (is(pp, t->metric, "samples") && sp_str_is(unit, "count"));
        fields[i] = (struct sp_weight_field){t->metric, 0, 0};
        e->metrics[i] = t->metric;
        if (!none)
            fields[i].unit = sp_profile_str(pp->p, unit.p, unit.n);
        if (fields[i].unit == SP_STR_FAIL)
            return sp_nomem(pp->d);
    }
    e->layout = sp_layout_intern(pp->p, fields, e->ntypes);
    return e->layout == SP_NONE ? sp_nomem(pp->d) : SPAA_OK;
}

static spaa_status declare(struct sp_pp *pp, struct sp_pp_event *e, const struct groups *g)
{
    struct sp_profile *p = pp->p;
    enum group of = g->of[e->types[0]];
    const struct sp_pp_type *named = &pp->type[naming_type(pp, e)], *first = &pp->type[primary_of(pp, e)];
    struct sp_str name = sp_pp_text(pp, named->type), unit = sp_pp_text(pp, first->unit);
    struct sp_event x = {.kind = is_time(sp_pp_text(pp, named->unit)) ? SP_TIMER : SP_SOFTWARE,
                         .mode = SP_PERIOD,
                         .primary = first->metric};
    bool live = false, total = false;
    for (uint32_t i = 0; i < e->ntypes; i++) {
        live |= is(pp, pp->type[e->types[i]].metric, "live_bytes");
        total |= is(pp, pp->type[e->types[i]].metric, "alloc_bytes");
    }
    if (of == HEAP) {
        name = sp_pp_literal("heap");
        x.kind = SP_ALLOCATION;
        x.allocation_tracking =
            sp_profile_cstr(p, live || !total ? "{\"tracks_frees\":true,\"has_timestamps\":false}"
                                              : "{\"tracks_frees\":false,\"has_timestamps\":false}");
    } else if (of == CONTENTION) {
        name = sp_pp_literal("contention");
        x.kind = SP_SOFTWARE;
    } else if (of == CPU) {
        x.kind = SP_TIMER;
    }
    if (!name.n)
        name = sp_pp_literal("value");
    x.name = sp_profile_str(p, name.p, name.n);
    unit = sp_pp_unit_in(unit);
    x.unit = sp_profile_str(p, unit.p, unit.n);
    if (x.name == SP_STR_FAIL || x.unit == SP_STR_FAIL || x.allocation_tracking == SP_STR_FAIL)
        return sp_nomem(pp->d);
    spaa_status st = period(pp, e, of == HEAP, &x);
    if (st)
        return st;
    e->number = sp_event_add_named(p, &x);
    return e->number == SP_NONE ? sp_nomem(pp->d) : layout_of(pp, e);
}

spaa_status sp_pp_types(struct sp_pp *pp)
{
    struct groups g;
    size_t n = pp->types.list.n;
    if (!n) {
        sp_emit(pp->d, SP_E700, SP_AT_NOTHING,
                "it has no sample types, so nothing says what its numbers are");
        return SPAA_ERR_INPUT;
    }
    if (n > PP_TYPES_MAX) {
        sp_emit(pp->d, SP_L723, sp_pp_at(pp, pp->types.list.v[PP_TYPES_MAX].p),
                "%zu sample types; the first %u are kept", n, PP_TYPES_MAX);
        n = PP_TYPES_MAX;
    }
    pp->ntypes = (uint32_t)n;
    for (uint32_t i = 0; i < n; i++)
        value_type(pp, pp->types.list.v[i], &pp->type[i].type, &pp->type[i].unit);
    sort_out(pp, &g);
    for (uint32_t i = 0; i < n; i++) {
        spaa_status st = place(pp, &g, i);
        if (st)
            return st;
    }
    pp->default_type = default_type(pp);
    for (uint32_t e = 0; e < pp->nevents; e++) {
        spaa_status st = declare(pp, &pp->event[e], &g);
        if (st)
            return st;
    }
    if (pp->nevents > 1)
        pp->p->header.default_event =
            pp->p->events.v[pp->event[pp->type[pp->default_type].event].number].name;
    return SPAA_OK;
}

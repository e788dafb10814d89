/* Samples as stacks: one for each event in which the sample has a value that is not 0. */
#include "formats/pprof/pprof.h"

static spaa_status limit(struct sp_pp *pp, const unsigned char *at, const char *what)
{
    pp->broken++;
    sp_emit(pp->d, SP_L723, sp_pp_at(pp, at), "%s; the sample was left out", what);
    return SPAA_ERR_LIMIT;
}

/* Appends a location's frames; SPAA_ERR_LIMIT (reported): the sample cannot be used. */
static spaa_status add_location(struct sp_pp *pp, uint64_t id, const unsigned char *at)
{
    uint32_t i = sp_pp_ids_find(&pp->location_ids, id);
    if (i == SP_NONE) {
        pp->dangling++;
        sp_emit(pp->d, SP_L722, sp_pp_at(pp, at), "a sample in location %llu; the frame was left out",
                (unsigned long long)id);
        return SPAA_OK;
    }
    struct sp_pp_location *l = &pp->locs[i];
    if (l->first == SP_NONE && !sp_pp_location_read(pp, i))
        return sp_nomem(pp->d);
    if (l->n > PP_STACK_MAX - pp->stack.n)
        return limit(pp, at, "more than a million frames in one stack");
    if (!sp_vec_reserve(&pp->stack, pp->stack.n + l->n))
        return sp_nomem(pp->d);
    memcpy(pp->stack.v + pp->stack.n, pp->loc_frames.v + l->first, l->n * sizeof *pp->stack.v);
    pp->stack.n += l->n;
    return SPAA_OK;
}

/* The frames of the sample in work, wherever they are. */
static inline struct sp_pp_frames frames_of(const struct sp_pp *pp)
{
    if (pp->same != SP_NONE)
        return (struct sp_pp_frames){sp_stack_frames(pp->p, pp->same), pp->p->stacks.v[pp->same].n};
    return pp->quick.v ? pp->quick : (struct sp_pp_frames){pp->stack.v, pp->stack.n};
}

/* Puts them where more can follow. */
static bool settle(struct sp_pp *pp)
{
    struct sp_pp_frames f = frames_of(pp);
    if (pp->same == SP_NONE && !pp->quick.v)
        return true;
    if (!sp_vec_reserve(&pp->stack, f.n))
        return false;
    if (f.n)
        memcpy(pp->stack.v, f.v, f.n * sizeof *pp->stack.v);
    pp->stack.n = f.n;
    pp->same = SP_NONE;
    pp->quick.v = NULL;
    return true;
}

/*
 * Looks for a stack that had the same bytes. It pays where samples repeat, and only there: see
 * weigh_seen.
 */
static bool seen_before(struct sp_pp *pp, const struct sp_wire_field *f)
{
    if (!pp->use_seen || pp->stack.n || !f->n || f->n > UINT32_MAX)
        return false;
    pp->packed_hash = pp->hint.p == f->p && pp->hint.n == f->n ? pp->hint_hash : sp_hash64(f->p, f->n);
    struct sp_probe at = sp_map_probe(&pp->seen_map, pp->packed_hash);
    for (uint32_t i; (i = sp_map_next(&pp->seen_map, &at)) != SP_MAP_NONE;) {
        const struct sp_pp_seen *x = &pp->seen.v[i];
        if (x->n != f->n || memcmp(x->p, f->p, f->n) != 0)
            continue;
        pp->same = x->stack;
        return true;
    }
    pp->packed = (struct sp_pp_slice){f->p, f->n};
    return false;
}

#define WINDOW 8192u

/* After so many samples it is decided whether they repeat. */
static void weigh_seen(struct sp_pp *pp, bool repeated)
{
    pp->repeats += repeated;
    if (++pp->window < WINDOW)
        return;
    pp->use_seen = pp->repeats > WINDOW / 4;
    pp->window = pp->repeats = 0;
}

static spaa_status add_locations(struct sp_pp *pp, struct sp_wire *w, const struct sp_wire_field *f)
{
    spaa_status st = SPAA_OK;
    bool nomem = false;
    uint64_t id;
    if (!settle(pp))
        return sp_nomem(pp->d);
    if (f->type == SP_WIRE_VARINT) {
        pp->packed.p = NULL;
        return add_location(pp, f->v, w->at);
    }
    if (seen_before(pp, f))
        return SPAA_OK;
    if (pp->stack.n) /* of two fields: neither alone is the stack */
        pp->packed.p = NULL;
    else if (sp_pp_path(pp, f->p, f->n, &pp->quick, &nomem) || nomem)
        return nomem ? sp_nomem(pp->d) : SPAA_OK;
    struct sp_wire ids = sp_wire_numbers_of(f);
    while (!st && sp_wire_number(&ids, &id))
        st = add_location(pp, id, w->at);
    if (!st && ids.error)
        w->error = ids.error;
    return st;
}

static spaa_status add_values(struct sp_pp *pp, struct sp_wire *w, const struct sp_wire_field *f)
{
    struct sp_wire values = sp_wire_numbers_of(f);
    uint64_t v = f->v;
    if (f->type == SP_WIRE_VARINT) {
        if (pp->values.n <= PP_TYPES_MAX && !sp_vec_push(&pp->values, (int64_t)v))
            return sp_nomem(pp->d);
        return SPAA_OK;
    }
    while (sp_wire_number(&values, &v))
        if (pp->values.n <= PP_TYPES_MAX && !sp_vec_push(&pp->values, (int64_t)v))
            return sp_nomem(pp->d);
    if (values.error)
        w->error = values.error;
    return SPAA_OK;
}

/* The parts of a sample into pp->stack, values and labels. */
static spaa_status parts(struct sp_pp *pp, struct sp_wire_field *sample)
{
    struct sp_wire w = sp_wire_of(sample->p, sample->n);
    spaa_status st = SPAA_OK;
    pp->stack.n = pp->values.n = pp->labels.list.n = 0;
    pp->packed.p = NULL;
    pp->same = SP_NONE;
    pp->quick.v = NULL;
    for (struct sp_wire_field f; !st && sp_wire_next(&w, &f);) {
        bool numbers = f.type == SP_WIRE_VARINT || f.type == SP_WIRE_BYTES;
        struct sp_pp_slice label = {f.p, f.n};
        if (f.number == 1 && numbers)
            st = add_locations(pp, &w, &f);
        else if (f.number == 2 && numbers)
            st = add_values(pp, &w, &f);
        else if (f.number == 3 && f.type == SP_WIRE_BYTES)
            st = sp_vec_push(&pp->labels.list, label) ? SPAA_OK : sp_nomem(pp->d);
        else
            pp->odd++;
    }
    if (st || !w.error)
        return st;
    pp->broken++;
    sp_emit(pp->d, SP_L721, sp_pp_at(pp, w.at), "%s; the sample was left out", w.error);
    return SPAA_ERR_LIMIT;
}

/* As many values as there are types: missing ones are 0. */
static spaa_status fit_values(struct sp_pp *pp, const unsigned char *at)
{
    size_t n = pp->types.list.n;
    if (pp->values.n != n && !(n > PP_TYPES_MAX && pp->values.n > PP_TYPES_MAX)) {
        pp->broken++;
        sp_emit(pp->d, SP_L721, sp_pp_at(pp, at), "%zu values for %zu sample types; %s", pp->values.n, n,
                pp->values.n < n ? "the others were taken as 0" : "the others were left out");
    }
    while (pp->values.n < pp->ntypes)
        if (!sp_vec_push(&pp->values, 0))
            return sp_nomem(pp->d);
    return SPAA_OK;
}

/* ---- a queue: where many stacks are looked up, memory is asked for ahead ---- */

static spaa_status store(struct sp_pp *pp, const struct sp_pp_entry *x)
{
    const struct sp_pp_event *e = &pp->event[x->event];
    const int64_t *values = pp->queued_values.v + x->values;
    bool is_new = false;
    uint32_t s = x->stack;
    if (s == SP_NONE)
        s = sp_stack_intern_hashed(pp->p, x->hash, pp->queued_frames.v + x->first, x->n, x->context,
                                   SP_UNIFIED, &is_new);
    if (s == SP_NONE)
        return sp_nomem(pp->d);
    if (is_new)
        sp_stack_set_layout(pp->p, s, e->layout);
    weigh_seen(pp, !is_new);
    if (x->packed.p) {
        struct sp_pp_seen seen = {x->packed.p, (uint32_t)x->packed.n, s};
        if (pp->seen.n >= SP_NONE - 1 || !sp_vec_push(&pp->seen, seen) ||
            !sp_map_add(&pp->seen_map, x->packed_hash, (uint32_t)pp->seen.n - 1))
            return sp_nomem(pp->d);
    }
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (!sp_weight_add(pp->p, s, pp->type[e->types[i]].metric, values[e->types[i]]))
            return sp_nomem(pp->d);
    return SPAA_OK;
}

static spaa_status store_all(struct sp_pp *pp)
{
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < pp->nqueued; i++)
        st = store(pp, &pp->queue[i]);
    pp->nqueued = 0;
    pp->queued_frames.n = pp->queued_values.n = 0;
    return st;
}

/* The sample's frames, which wait for their turn. */
static bool queue_frames(struct sp_pp *pp, struct sp_pp_entry *x)
{
    struct sp_pp_frames f = frames_of(pp);
    x->first = pp->queued_frames.n;
    x->n = f.n;
    if (!sp_vec_reserve(&pp->queued_frames, x->first + x->n))
        return false;
    uint32_t *to = pp->queued_frames.v + x->first;
    if (f.n)
        memcpy(to, f.v, f.n * sizeof *f.v);
    pp->queued_frames.n += f.n;
    x->hash = sp_stack_hash(to, f.n, x->context, SP_UNIFIED);
    sp_stack_expect(pp->p, x->hash);
    x->packed = pp->packed;
    x->packed_hash = pp->packed_hash;
    pp->packed.p = NULL;
    return true;
}

static spaa_status put(struct sp_pp *pp, uint32_t event, uint32_t set)
{
    struct sp_pp_entry *x = &pp->queue[pp->nqueued];
    x->event = event;
    x->context = sp_pp_context(pp, set, event);
    x->values = (uint32_t)pp->queued_values.n;
    if (x->context == SP_NONE || !sp_vec_reserve(&pp->queued_values, x->values + (size_t)pp->ntypes))
        return sp_nomem(pp->d);
    for (uint32_t i = 0; i < pp->ntypes; i++)
        pp->queued_values.v[pp->queued_values.n++] = pp->values.v[i];
    bool known = pp->same != SP_NONE && pp->p->stacks.v[pp->same].context == x->context;
    x->stack = known ? pp->same : SP_NONE;
    x->packed.p = NULL;
    if (!known && !queue_frames(pp, x))
        return sp_nomem(pp->d);
    return ++pp->nqueued == PP_QUEUE ? store_all(pp) : SPAA_OK;
}

static bool has_value(const struct sp_pp *pp, const struct sp_pp_event *e)
{
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (pp->values.v[e->types[i]])
            return true;
    return false;
}

static spaa_status sample(struct sp_pp *pp, struct sp_wire_field *f)
{
    spaa_status st = parts(pp, f);
    if (!st)
        st = fit_values(pp, f->p);
    if (st)
        return st == SPAA_ERR_LIMIT ? SPAA_OK : st;
    size_t room = PP_FRAMES_MIN + 16 * pp->n, n = frames_of(pp).n;
    if (pp->p->stack_frames.n + pp->queued_frames.n + n > room && (st = store_all(pp)))
        return st;
    if (pp->p->stack_frames.n + n > room) {
        limit(pp, f->p, "far more frames than bytes in the input");
        return SPAA_OK;
    }
    /* Set 0 is that of no labels. */
    uint32_t set = pp->labels.list.n ? sp_pp_label_set(pp) : 0;
    bool any = false;
    if (set == SP_NONE)
        return sp_nomem(pp->d);
    for (uint32_t e = 0; !st && e < pp->nevents; e++)
        if (pp->nevents == 1 || has_value(pp, &pp->event[e])) {
            st = put(pp, e, set);
            any = true;
        }
    return st || any ? st : put(pp, 0, set); /* nothing but zeros is a sample, too */
}

/* Room ahead: growing tables of this size would be moving pages. A sample of less than 16 bytes is rare. */
static bool make_room(struct sp_pp *pp)
{
    struct sp_profile *p = pp->p;
    size_t n = pp->nsamples < pp->sample_bytes / 16 ? pp->nsamples : pp->sample_bytes / 16;
    bool ok = sp_vec_reserve(&p->stacks, n) && sp_vec_reserve(&p->stack_frames, pp->sample_bytes / 2) &&
              sp_map_grow(&p->stack_map, n);
    for (uint32_t i = 0; ok && i < p->metrics.n; i++)
        ok = n <= p->columns[i].cap ||
             sp_vec_grow((void **)&p->columns[i].v, &p->columns[i].cap, n, sizeof *p->columns[i].v);
    return ok;
}

/* A sample that comes soon. */
struct ahead {
    struct sp_wire_field f;
    struct sp_pp_slice ids; /* its packed ids, where they come first; p NULL: not */
    uint64_t hash;
    uint32_t seen; /* the stack that they probably are, in pp->seen; SP_NONE */
};

static void first_ids(struct ahead *a)
{
    uint64_t n;
    const unsigned char *end = a->f.p + a->f.n, *p;
    a->ids = (struct sp_pp_slice){NULL, 0};
    if (a->f.n < 2 || a->f.p[0] != (1 << 3 | SP_WIRE_BYTES))
        return;
    p = sp_wire_varint(a->f.p + 1, end, &n);
    if (p && n && n <= (uint64_t)(end - p))
        a->ids = (struct sp_pp_slice){p, (size_t)n};
}

static void expect_stack(const struct sp_pp *pp, uint32_t seen)
{
    const struct sp_pp_seen *x = &pp->seen.v[seen];
    for (uint32_t at = 0; at < x->n && at < 192; at += 64)
        __builtin_prefetch(x->p + at);
    __builtin_prefetch(&pp->p->stacks.v[x->stack]);
    for (uint32_t i = 0; i < pp->ntypes && i < 4; i++) {
        const struct sp_column *c = &pp->p->columns[pp->type[i].metric];
        if (x->stack < c->n)
            __builtin_prefetch(&c->v[x->stack], 1);
    }
}

/*
 * Where samples repeat, what each of them needs lies anywhere in memory, and says where the next thing is: it
 * is asked for in steps, for all samples of a group in each.
 */
static void look_ahead(const struct sp_pp *pp, struct ahead *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        first_ids(&a[i]);
        a[i].hash = a[i].ids.p ? sp_hash64(a[i].ids.p, a[i].ids.n) : 0;
        sp_map_expect(&pp->seen_map, a[i].hash);
    }
    for (size_t i = 0; i < n; i++) {
        struct sp_probe at = sp_map_probe(&pp->seen_map, a[i].hash);
        a[i].seen = a[i].ids.p ? sp_map_next(&pp->seen_map, &at) : SP_NONE;
        if (a[i].seen != SP_NONE)
            __builtin_prefetch(&pp->seen.v[a[i].seen]);
    }
    for (size_t i = 0; i < n; i++)
        if (a[i].seen != SP_NONE)
            expect_stack(pp, a[i].seen);
}

#define GROUP 16u

static spaa_status group(struct sp_pp *pp, struct ahead *a, size_t n)
{
    spaa_status st = SPAA_OK;
    bool ahead = pp->use_seen;
    if (ahead)
        look_ahead(pp, a, n);
    for (size_t i = 0; !st && i < n; i++) {
        pp->hint.p = NULL;
        if (ahead) {
            pp->hint = a[i].ids;
            pp->hint_hash = a[i].hash;
        }
        st = sample(pp, &a[i].f);
    }
    return st;
}

spaa_status sp_pp_samples(struct sp_pp *pp)
{
    struct ahead a[GROUP];
    spaa_status st = SPAA_OK;
    pp->labels.list.n = 0;
    if (!make_room(pp) || sp_pp_label_set(pp) != 0)
        return sp_nomem(pp->d);
    for (size_t i = 0; !st && i < pp->runs.list.n; i++) {
        struct sp_wire w = sp_wire_of(pp->runs.list.v[i].p, pp->runs.list.v[i].n);
        size_t n = 0;
        while (!st && sp_wire_next(&w, &a[n].f))
            if (++n == GROUP) {
                st = group(pp, a, n);
                n = 0;
            }
        if (!st)
            st = group(pp, a, n);
    }
    return st ? st : store_all(pp);
}

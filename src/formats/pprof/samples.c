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
    if (id < pp->location_ids.ndense && l->n <= 3) {
        const uint32_t *f = pp->loc_frames.v + l->first;
        bool row = f[0] < UINT32_MAX >> 2;
        for (uint32_t k = 1; k < l->n; k++)
            row &= f[k] == f[0] + k;
        if (row)
            pp->shorts[id] = f[0] << 2 | l->n;
    }
    return SPAA_OK;
}

/* A varint of up to four bytes at p, of which eight can be read, without a branch; *n: its bytes, 5: longer.
 */
static inline uint64_t short_varint(const unsigned char *p, unsigned *n)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    uint64_t ends = (~x & 0x80808080u) | (uint64_t)1 << 39;
    *n = ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
    x &= ends ^ (ends - 1);
    return (x & 0x7f) | (x >> 1 & 0x3f80) | (x >> 2 & 0x1fc000) | (x >> 3 & 0xfe00000);
}

/*
 * As many packed ids as are short and known already; *p stops at the first one that is not. Bytes up to
 * `readable` may be looked at.
 */
static void known_locations(struct sp_pp *pp, const unsigned char **p, const unsigned char *readable,
                            const unsigned char *end)
{
    const uint32_t *shorts = pp->shorts;
    const unsigned char *at = *p;
    uint32_t *to = pp->stack.v + pp->stack.n;
    const uint32_t *stop = pp->stack.v + (pp->stack.cap < PP_STACK_MAX ? pp->stack.cap : PP_STACK_MAX);
    size_t ndense = pp->location_ids.ndense;
    while (at < end && readable - at >= 8 && stop - to >= 3) {
        unsigned n;
        uint64_t id = short_varint(at, &n);
        if (n > 4 || id >= ndense || n > (size_t)(end - at))
            break;
        uint32_t x = shorts[id];
        if (!x)
            break;
        to[0] = x >> 2; /* all three in any case: no branch depends on how many count */
        to[1] = (x >> 2) + 1;
        to[2] = (x >> 2) + 2;
        to += x & 3;
        at += n;
    }
    *p = at;
    pp->stack.n = (size_t)(to - pp->stack.v);
}

/* The frames of pp->same, where they are needed after all. */
static bool copy_same(struct sp_pp *pp)
{
    if (pp->same == SP_NONE)
        return true;
    uint32_t n = pp->p->stacks.v[pp->same].n;
    if (!sp_vec_reserve(&pp->stack, n))
        return false;
    if (n)
        memcpy(pp->stack.v, sp_stack_frames(pp->p, pp->same), n * sizeof *pp->stack.v);
    pp->stack.n = n;
    pp->same = SP_NONE;
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
    pp->packed_hash = sp_hash64(f->p, f->n);
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
    uint64_t id;
    if (!copy_same(pp))
        return sp_nomem(pp->d);
    if (f->type == SP_WIRE_VARINT) {
        pp->packed.p = NULL;
        return add_location(pp, f->v, w->at);
    }
    if (seen_before(pp, f))
        return SPAA_OK;
    if (pp->stack.n) /* of two fields: neither alone is the stack */
        pp->packed.p = NULL;
    struct sp_wire ids = sp_wire_numbers_of(f);
    size_t room = f->n < PP_STACK_MAX ? f->n : PP_STACK_MAX;
    if (!sp_vec_reserve(&pp->stack, pp->stack.n + room + 16))
        return sp_nomem(pp->d);
    for (;;) {
        known_locations(pp, &ids.p, pp->in + pp->n - ids.end >= 8 ? ids.end + 7 : ids.end, ids.end);
        if (!sp_wire_number(&ids, &id))
            break;
        st = add_location(pp, id, w->at);
        if (st)
            return st;
    }
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

static spaa_status put(struct sp_pp *pp, uint32_t event, uint32_t set)
{
    const struct sp_pp_event *e = &pp->event[event];
    uint32_t context = sp_pp_context(pp, set, event);
    bool is_new = false;
    uint32_t s = pp->same;
    if (context == SP_NONE)
        return sp_nomem(pp->d);
    if (s == SP_NONE || pp->p->stacks.v[s].context != context) {
        if (!copy_same(pp))
            return sp_nomem(pp->d);
        s = sp_stack_intern(pp->p, pp->stack.v, pp->stack.n, context, SP_UNIFIED, &is_new);
    }
    if (s == SP_NONE)
        return sp_nomem(pp->d);
    if (is_new)
        sp_stack_set_layout(pp->p, s, e->layout);
    weigh_seen(pp, !is_new);
    if (pp->packed.p) {
        struct sp_pp_seen x = {pp->packed.p, (uint32_t)pp->packed.n, s};
        pp->packed.p = NULL;
        if (pp->seen.n >= SP_NONE - 1 || !sp_vec_push(&pp->seen, x) ||
            !sp_map_add(&pp->seen_map, pp->packed_hash, (uint32_t)pp->seen.n - 1))
            return sp_nomem(pp->d);
    }
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (!sp_weight_add(pp->p, s, pp->type[e->types[i]].metric, pp->values.v[e->types[i]]))
            return sp_nomem(pp->d);
    return SPAA_OK;
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
    size_t room = PP_FRAMES_MIN + 16 * pp->n;
    if (pp->p->stack_frames.n > room || pp->stack.n > room - pp->p->stack_frames.n) {
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

spaa_status sp_pp_samples(struct sp_pp *pp)
{
    spaa_status st = SPAA_OK;
    pp->labels.list.n = 0;
    if (!make_room(pp) || sp_pp_label_set(pp) != 0)
        return sp_nomem(pp->d);
    for (size_t i = 0; !st && i < pp->runs.list.n; i++) {
        struct sp_wire w = sp_wire_of(pp->runs.list.v[i].p, pp->runs.list.v[i].n);
        for (struct sp_wire_field f; !st && sp_wire_next(&w, &f);)
            st = sample(pp, &f);
    }
    return st;
}

/* Samples as stacks: one for each event in which the sample has a value that is not 0. */
#include "formats/pprof/pprof.h"
#include "model/join.h"

#define WEIGHED ((size_t)1 << 16) /* stacks */
#define SELDOM  32u               /* one of so many that is not new is few */
#define LATER   16u               /* times as many stacks when it is looked at again */

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
    if (!sp_pp_location_use(pp, i))
        return sp_nomem(pp->d);
    if (l->n > PP_STACK_MAX - pp->stack.n)
        return limit(pp, at, "more than a million frames in one stack");
    if (!sp_vec_reserve(&pp->stack, pp->stack.n + l->n))
        return sp_nomem(pp->d);
    memcpy(pp->stack.v + pp->stack.n, pp->loc_frames.v + l->first, l->n * sizeof *pp->stack.v);
    pp->stack.n += l->n;
    return SPAA_OK;
}

static spaa_status add_locations(struct sp_pp *pp, struct sp_wire *w, const struct sp_wire_field *f)
{
    struct sp_wire ids = sp_wire_numbers_of(f);
    spaa_status st = SPAA_OK;
    uint64_t id;
    if (f->type == SP_WIRE_VARINT)
        return add_location(pp, f->v, w->at);
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
static spaa_status parts(struct sp_pp *pp, const unsigned char *at, size_t n)
{
    struct sp_wire w = sp_wire_of(at, n);
    spaa_status st = SPAA_OK;
    pp->stack.n = pp->values.n = pp->labels.list.n = 0;
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

/* The hash of the stack in work, behind which there is room for what is added to it. */
static uint64_t hash_work(struct sp_pp *pp, uint32_t context)
{
    const size_t n = pp->stack.n;
    memset(pp->stack.v + n, 0, PP_PATH_SLACK * sizeof *pp->stack.v);
    return sp_pp_hash_stack(sp_pp_copy_plain(&pp->shapes, pp->stack.v, n, pp->stack.v), n, context);
}

static spaa_status put(struct sp_pp *pp, uint32_t event, uint32_t set)
{
    const struct sp_pp_event *e = &pp->event[event];
    uint32_t context = sp_pp_context(pp, set, event), s = SP_NONE;
    bool is_new = false;
    if (!sp_vec_reserve(&pp->stack, pp->stack.n + PP_PATH_SLACK))
        return sp_nomem(pp->d);
    if (context != SP_NONE)
        s = sp_pp_stack(pp, hash_work(pp, context), pp->stack.v, pp->stack.n, context, &is_new);
    if (s == SP_NONE)
        return sp_nomem(pp->d);
    if (is_new)
        sp_stack_set_layout(pp->p, s, e->layout);
    pp->known += !is_new;
    for (uint32_t i = 0; i < e->ntypes; i++)
        if (!sp_weight_add(pp->p, s, e->metrics[i], pp->values.v[e->types[i]]))
            return sp_nomem(pp->d);
    return SPAA_OK;
}

spaa_status sp_pp_sample(struct sp_pp *pp, const unsigned char *at, size_t n)
{
    spaa_status st = parts(pp, at, n);
    if (!st)
        st = fit_values(pp, at);
    if (st)
        return st == SPAA_ERR_LIMIT ? SPAA_OK : st;
    if (pp->p->stack_frames.n + pp->stack.n > sp_pp_frames_max(pp)) {
        limit(pp, at, "far more frames than bytes in the input");
        return SPAA_OK;
    }
    /* Set 0 is that of no labels. */
    uint32_t set = pp->labels.list.n ? sp_pp_label_set(pp) : 0;
    bool any = false;
    if (set == SP_NONE)
        return sp_nomem(pp->d);
    for (uint32_t e = 0; !st && e < pp->nevents; e++)
        if (pp->nevents == 1 || sp_pp_has_value(&pp->event[e], pp->values.v)) {
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
              sp_vec_reserve(&pp->hashes, n) && sp_map_grow(&p->stack_map, n < WEIGHED ? n : WEIGHED);
    for (uint32_t i = 0; ok && i < p->metrics.n; i++)
        ok = n <= p->columns[i].cap ||
             sp_vec_grow((void **)&p->columns[i].v, &p->columns[i].cap, n, sizeof *p->columns[i].v);
    return ok;
}

static bool map_all(struct sp_pp *pp)
{
    struct sp_map *m = &pp->p->stack_map;
    bool ok = sp_map_grow(m, pp->hashes.n);
    for (uint32_t i = 0; ok && i < pp->hashes.n; i++) {
        const struct sp_stack *s = &pp->p->stacks.v[i];
        ok = sp_vec_reserve(&pp->stack, s->n + PP_PATH_SLACK);
        if (!ok)
            break;
        if (s->n)
            memcpy(pp->stack.v, pp->p->stack_frames.v + s->first, s->n * sizeof *pp->stack.v);
        pp->stack.n = s->n;
        ok = sp_map_add(m, hash_work(pp, s->context), i);
    }
    return ok;
}

/*
 * Whether stacks are looked up or joined: the first WEIGHED show whether nearly all are new, and if they are,
 * it is looked at again whenever there are LATER times as many.
 */
spaa_status sp_pp_weigh(struct sp_pp *pp)
{
    size_t n = pp->p->stacks.n, removed;
    if (!pp->joins) {
        pp->joins = pp->known < n / SELDOM;
        pp->weigh_at = pp->joins ? LATER * n : SIZE_MAX;
        if (pp->joins) {
            sp_map_free(&pp->p->stack_map);
            sp_pp_forget(pp); /* stacks that are joined get other numbers */
        }
        return SPAA_OK;
    }
    removed = sp_stacks_join(pp->p, pp->hashes.v);
    if (removed == SIZE_MAX)
        return sp_nomem(pp->d);
    pp->hashes.n -= removed;
    pp->joins = removed < n / SELDOM;
    pp->weigh_at = pp->joins ? LATER * n : SIZE_MAX;
    return pp->joins || map_all(pp) ? SPAA_OK : sp_nomem(pp->d);
}

static spaa_status run(struct sp_pp *pp, const unsigned char *p, const unsigned char *end)
{
    spaa_status st = SPAA_OK;
    while (!st && p < end) {
        st = sp_pp_quick(pp, &p, end);
        struct sp_wire w = sp_wire_of(p, (size_t)(end - p));
        struct sp_wire_field f;
        if (!st && sp_wire_next(&w, &f))
            st = sp_pp_sample(pp, f.p, f.n);
        p = w.error ? end : w.p;
    }
    return st;
}

spaa_status sp_pp_samples(struct sp_pp *pp)
{
    spaa_status st = SPAA_OK;
    pp->labels.list.n = 0;
    pp->weigh_at = WEIGHED;
    if (!make_room(pp) || sp_pp_label_set(pp) != 0)
        return sp_nomem(pp->d);
    for (size_t i = 0; !st && i < pp->runs.list.n; i++) {
        const struct sp_pp_slice *r = &pp->runs.list.v[i];
        st = run(pp, r->p, r->p + r->n);
    }
    if (!st && pp->joins && sp_stacks_join(pp->p, pp->hashes.v) == SIZE_MAX)
        st = sp_nomem(pp->d);
    sp_map_free(&pp->p->stack_map); /* its hashes are of our own */
    return st;
}

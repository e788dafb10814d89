/* Addresses as frames, once for each, and rows as stacks. */
#include "formats/common/mapped/mapped.h"

#include "base/watch.h"

/* Frames of all stacks that are always accepted; beyond, so many for each byte of the input. */
#define FRAMES_MIN      ((size_t)1 << 24)
#define FRAMES_PER_BYTE 16

/* The binder's object of an address; SP_NONE: out of memory. */
static uint32_t mapped_object_of(struct sp_mapped *m, const struct sp_mapped_range *r)
{
    if (!r)
        return sp_binder_object(m->binder, &(struct sp_object){.kind = SP_OBJECT_UNMAPPED});
    struct sp_mapped_module *x = &m->modules.v[r->module];
    if (x->object != SP_NONE)
        return x->object;
    struct sp_object o = {.kind = x->file ? SP_OBJECT_FILE : SP_OBJECT_SPECIAL,
                          .path = x->path,
                          .build_id = x->build_id,
                          .place.ips = x->file ? SP_DSO_FILE_OFFSET : SP_DSO_LINKED};
    o.replaced = x->file && x->deleted && !x->build_id.n;
    if (!x->path.n)
        o.kind = SP_OBJECT_ANONYMOUS;
    x->object = sp_binder_object(m->binder, &o);
    if (x->object != SP_NONE && x->file)
        sp_binder_mapped(m->binder, x->object, r->offset, r->end - r->start);
    return x->object;
}

/* A frame at an address, of a name that the file gives. */
static spaa_status mapped_put_named(struct sp_mapped *m, const struct sp_place *at,
                                    const struct sp_mapped_label *l, uint32_t depth)
{
    struct sp_module *opened;
    struct sp_frame f = {.kind = SP_USER, .srcline = l->srcline, .inline_depth = depth};
    struct sp_dso named = {.name = l->dso};
    spaa_status st = sp_binder_module(m->binder, at->object, at->addr - at->is_return, &opened);
    if (st)
        return st;
    uint32_t dso = l->dso ? sp_dso_intern(m->p, &named) : sp_binder_dso(m->binder, at->object);
    if (!m->plain) {
        sp_binder_linked(m->binder, at, &f.ip);
        f.flags = SP_FRAME_IP;
    }
    if (depth)
        f.flags |= SP_FRAME_INLINED;
    uint32_t number = sp_binder_frame(m->binder, &f, l->func, dso);
    return number != SP_NONE && sp_vec_push(&m->numbers, number) ? SPAA_OK : sp_nomem(m->d);
}

/* The frames that the file names itself. */
static spaa_status mapped_labelled(struct sp_mapped *m, const struct sp_mapped_label *l,
                                   const struct sp_place *at)
{
    const struct sp_mapped_label *all = m->labels.v;
    uint32_t first = (uint32_t)(l - all), n = 0;
    spaa_status st = SPAA_OK;
    for (uint32_t i = first; i != SP_NONE; i = all[i].next)
        n++;
    for (uint32_t i = first; !st && i != SP_NONE; i = all[i].next)
        st = mapped_put_named(m, at, &all[i], --n);
    return st;
}

static spaa_status mapped_bound(struct sp_mapped *m, const struct sp_place *at)
{
    uint32_t place;
    size_t n;
    spaa_status st = sp_bind(m->binder, at, &place);
    if (st)
        return st;
    const uint32_t *frames = sp_binder_frames(m->binder, place, &n);
    if (!sp_vec_reserve(&m->numbers, m->numbers.n + n))
        return sp_nomem(m->d);
    memcpy(m->numbers.v + m->numbers.n, frames, n * sizeof *frames);
    m->numbers.n += n;
    return SPAA_OK;
}

static spaa_status mapped_resolve_place(struct sp_mapped *m, struct sp_mapped_place *pl)
{
    bool caller = (pl->how & 1) && pl->addr;
    uint32_t name = pl->how >> 1;
    const struct sp_mapped_range *r = sp_mapped_find(m, pl->addr - caller);
    const struct sp_mapped_label *l = sp_mapped_labels(m, pl->addr - caller);
    struct sp_place at = {.addr = pl->addr,
                          .object = mapped_object_of(m, r),
                          .code = SP_MODULE_LATEST,
                          .kind = r ? SP_USER : SP_UNKNOWN,
                          .is_return = caller};
    if (!l && caller)
        l = sp_mapped_labels(m, pl->addr);
    if (r && m->modules.v[r->module].path.n)
        at.addr = pl->addr - r->start + r->offset;
    m->unmapped += !r && !l && !name;
    pl->first = (uint32_t)m->numbers.n;
    const struct sp_mapped_label own = {.func = name};
    spaa_status st = at.object == SP_NONE ? sp_nomem(m->d)
                     : name               ? mapped_put_named(m, &at, &own, 0)
                     : l                  ? mapped_labelled(m, l, &at)
                                          : mapped_bound(m, &at);
    pl->n = (uint32_t)m->numbers.n - pl->first;
    return st;
}

/* The frames of a row, leaf first. */
static void mapped_row_frames(const struct sp_mapped *m, const struct sp_mapped_row *row, uint32_t *out)
{
    const uint32_t *chain = m->chain.v + row->first;
    for (uint32_t i = 0; i < row->n; i++) {
        const struct sp_mapped_place *pl = &m->places.v[chain[i]];
        memcpy(out, m->numbers.v + pl->first, pl->n * sizeof *out);
        out += pl->n;
    }
}

static spaa_status mapped_put_row(struct sp_mapped *m, size_t number, uint32_t **frames, size_t *cap)
{
    const struct sp_mapped_row *row = &m->rows.v[number];
    const int64_t *values = m->values.v + number * m->nmetrics;
    const uint32_t *chain = m->chain.v + row->first;
    bool single = m->numbers.n == m->places.n; /* then the number of a place is where its frame is */
    size_t n = single ? row->n : 0, room = FRAMES_MIN + FRAMES_PER_BYTE * m->bytes;
    for (uint32_t i = 0; i < row->n && !single; i++)
        n += m->places.v[chain[i]].n;
    if (m->p->stack_frames.n > room || n > room - m->p->stack_frames.n || n >= SP_NONE) {
        sp_emit(m->d, SP_L768, SP_AT_NOTHING,
                "far more frames than bytes in the input; stack %zu was left out", number + 1);
        return SPAA_OK;
    }
    if (n > *cap && !sp_vec_grow((void **)frames, cap, n, sizeof **frames))
        return sp_nomem(m->d);
    if (single)
        for (uint32_t i = 0; i < row->n; i++)
            (*frames)[i] = m->numbers.v[chain[i]];
    else
        mapped_row_frames(m, row, *frames);
    bool fresh;
    uint32_t s = sp_stack_intern(m->p, *frames, n, row->context, SP_UNIFIED, &fresh);
    if (s == SP_NONE)
        return sp_nomem(m->d);
    if (fresh)
        sp_stack_set_layout(m->p, s, m->layout);
    for (uint32_t i = 0; i < m->nmetrics; i++)
        if (m->metrics[i] != SP_NONE && values[i] != SP_ABSENT &&
            !sp_weight_add(m->p, s, m->metrics[i], values[i]))
            return sp_nomem(m->d);
    return SPAA_OK;
}

static void mapped_report(struct sp_mapped *m)
{
    if (!m->unmapped || m->plain)
        return;
    if (m->ranges.n)
        sp_emit(m->d, SP_W771, SP_AT_NOTHING, "%llu of %zu addresses", (unsigned long long)m->unmapped,
                m->places.n);
    else
        sp_emit(m->d, SP_W770, SP_AT_NOTHING, "%llu addresses have neither a name nor a file",
                (unsigned long long)m->unmapped);
}

spaa_status sp_mapped_finish(struct sp_mapped *m)
{
    uint32_t *frames = NULL;
    size_t cap = 0;
    spaa_status st = sp_mapped_sort(m);
    if (!st)
        st = sp_binder_new(m->p, &m->opts->symbols, m->opts->frames, m->d, &m->binder);
    for (size_t i = 0; !st && i < m->places.n; i++)
        st = i % 64 == 0 && sp_progress(m->d, "symbols", m->d->file, "addresses", i, m->places.n)
                 ? SPAA_ERR_CANCELLED
                 : mapped_resolve_place(m, &m->places.v[i]);
    if (!st && !sp_vec_reserve(&m->p->stack_frames, m->chain.n))
        st = sp_nomem(m->d);
    for (size_t i = 0; !st && i < m->rows.n; i++)
        st = sp_leaving(m->d, i) ? SPAA_ERR_CANCELLED : mapped_put_row(m, i, &frames, &cap);
    free(frames);
    if (st)
        return st;
    st = sp_binder_report(m->binder);
    if (st)
        return st;
    mapped_report(m);
    return SPAA_OK;
}

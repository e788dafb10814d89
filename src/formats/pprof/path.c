/*
 * The packed location ids of a sample as frames, in a hurry.
 *
 * The outermost functions stand at the end: the part that is the same as in the sample before, byte for byte,
 * is not read again, for its frames stand ready in an array that grows towards its beginning. The other ids
 * are unpacked, and their frames put down, from the last id on.
 *
 * What is new or unusual is left to the slow way (samples.c), which also reports it.
 */
#include "formats/pprof/pprof.h"

#include <stdlib.h>

typedef uint32_t four __attribute__((vector_size(16)));

bool sp_pp_path_begin(struct sp_pp_path *x)
{
    x->frames = calloc(PP_PATH_MAX + PP_PATH_SLACK, sizeof *x->frames);
    x->tops = calloc(PP_PATH_MAX + 1, sizeof *x->tops);
    x->ids = calloc(PP_PATH_MAX + 4, sizeof *x->ids);
    if (!x->frames || !x->tops || !x->ids)
        return false;
    x->tops[PP_PATH_MAX] = x->frames + PP_PATH_MAX;
    return true;
}

void sp_pp_path_free(struct sp_pp_path *x)
{
    free(x->frames);
    free(x->tops);
    free(x->ids);
}

/* Frames of a location that takes longer before *top, before which `left` ids come; false: not this way, or
 * out of memory. */
static __attribute__((noinline)) bool put_location(struct sp_pp *pp, uint32_t id, size_t left, uint32_t **top,
                                                   bool *nomem)
{
    uint32_t i = sp_pp_ids_find(&pp->location_ids, id);
    if (i == SP_NONE)
        return false;
    const struct sp_pp_location *l = &pp->locs[i];
    if (!sp_pp_location_use(pp, i)) {
        *nomem = true;
        return false;
    }
    if (l->n + PP_PATH_ROOM(left) > (size_t)(*top - pp->path.frames))
        return false;
    *top -= l->n;
    memcpy(*top, pp->loc_frames.v + l->first, l->n * sizeof **top);
    return true;
}

/* Puts the frames of n ids, from the last one on, before *top, which belongs to the ids behind them. */
PP_INLINE bool put_ids(struct sp_pp *pp, size_t n, uint32_t **top, bool *nomem)
{
    const uint32_t *const ids = pp->path.ids, *const shorts = pp->shorts;
    uint32_t **const tops = top - n, *to = *top;
    for (size_t i = n; i--; tops[i] = to) {
        uint32_t known = shorts[ids[i]];
        if (__builtin_expect(!known, 0) && !(known = sp_pp_first_use(pp, ids[i]))) {
            uint32_t *next = to;
            if (!put_location(pp, ids[i], i, &next, nomem))
                return false;
            to = next;
            continue;
        }
        /* Four in any case: it does not matter how many count. */
        uint32_t last = known >> PP_SHORT_BITS;
        four all = (four){last, last, last, last} - (four){3, 2, 1, 0};
        memcpy(to - 4, &all, sizeof all);
        to = (uint32_t *)(void *)((char *)to - (known & PP_SHORT_BYTES));
    }
    return true;
}

/* The path of an entry, in the frames of the path from *first on; false: not this way, or out of memory. */
PP_INLINE bool put_path(struct sp_pp *pp, const struct sp_pp_entry *e, const uint32_t **first, bool *nomem,
                        sp_pp_same_end *same_end, sp_pp_unpack *unpack)
{
    struct sp_pp_path *x = &pp->path;
    const size_t n = e->nids;
    const unsigned char *p = e->ids, *end = p + n;
    /* Whole blocks are loaded, whatever part of them counts. */
    if (!n || n > PP_PATH_MAX || (size_t)(p - pp->in) < PP_BLOCK ||
        (size_t)(pp->in + pp->n - end) < PP_BLOCK || end[-1] >= 0x80)
        return false;
    size_t shared = 0, same = x->n ? same_end(end, x->end, n < x->n ? n : x->n, &shared) : 0;
    uint32_t **top = x->tops + PP_PATH_MAX - shared;
    x->n = 0;
    if (same < n) {
        size_t ids = unpack(&pp->shapes, p, n - same, (uint32_t)pp->nshorts, x->ids);
        if (!ids || PP_PATH_ROOM(ids) > (size_t)(*top - x->frames) || !put_ids(pp, ids, top, nomem))
            return false;
        top -= ids;
    }
    x->end = end;
    x->n = n;
    *first = *top;
    return true;
}

PP_INLINE uint32_t put_paths(struct sp_pp *pp, uint32_t i, uint32_t n, bool *nomem, sp_pp_same_end *same_end,
                             sp_pp_unpack *unpack, sp_pp_copy *copy)
{
    struct sp_profile *p = pp->p;
    const uint32_t *first, *const end = pp->path.frames + PP_PATH_MAX;
    const size_t max = sp_pp_frames_max(pp);
    for (struct sp_pp_entry *x = &pp->queue[i]; i < n; i++, x++) {
        if (x->stack != SP_NONE)
            continue;
        if (!put_path(pp, x, &first, nomem, same_end, unpack))
            break;
        const size_t count = (size_t)(end - first), to = p->stack_frames.n + pp->queued_frames;
        if (to + count > max)
            break;
        if (!sp_vec_reserve(&p->stack_frames, to + count + PP_PATH_SLACK)) {
            *nomem = true;
            break;
        }
        pp->queued_frames += count;
        x->first = to;
        x->n = (uint32_t)count;
        x->hash =
            sp_pp_hash_stack(copy(&pp->shapes, first, count, p->stack_frames.v + to), count, x->context);
        if (!pp->joins)
            sp_stack_expect(p, x->hash);
    }
    return i;
}

#ifdef PP_NEEDED
PP_NEEDED static uint32_t quick_paths(struct sp_pp *pp, uint32_t i, uint32_t n, bool *nomem)
{
    return put_paths(pp, i, n, nomem, sp_pp_same_end_quick, sp_pp_unpack_quick, sp_pp_copy_quick);
}
#endif

uint32_t sp_pp_paths(struct sp_pp *pp, uint32_t i, uint32_t n, bool *nomem)
{
#ifdef PP_NEEDED
    if (pp->shapes.usable)
        return quick_paths(pp, i, n, nomem);
#endif
    return put_paths(pp, i, n, nomem, sp_pp_same_end_plain, sp_pp_unpack_plain, sp_pp_copy_plain);
}

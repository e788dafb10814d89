/*
 * Locks that an allocator takes: to lock less often is none of its callers' to do, but to allocate less, or
 * from memory that threads do not share.
 */
#include "analysis/finding_private.h"
#include "model/identity.h"

#include <string.h>

static bool allocator_frame(const struct finder *x, uint32_t frame)
{
    static const char *const libraries[] = {"libjemalloc", "libtcmalloc", "libmimalloc", NULL};
    uint32_t function = x->p->frames.v[frame].function;
    if (x->classes[function] >> FC_ALLOC & 1)
        return true;
    struct sp_str dso = sp_base_name(sp_pstr(x->p, sp_frame_dso(x->p, frame)->name));
    for (size_t i = 0; libraries[i]; i++)
        if (dso.n >= strlen(libraries[i]) && memcmp(dso.p, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

bool finding_in_allocator(const struct finder *x, const struct finding_row *row, size_t from)
{
    for (size_t i = from; i < row->n && !finding_is_gap(x->p, row->frames[i]); i++) {
        if (allocator_frame(x, row->frames[i]))
            return true;
        if (!x->own->all && sp_is_own(x->own, x->p->frames.v[row->frames[i]].function))
            return false;
    }
    return false;
}

bool finding_name_allocator_lock(struct sp_finding *f, bool contended)
{
    if (f->parts[SP_PART_ALLOCATOR] * 2 <= f->weight)
        return false;
    f->title = contended ? "ALLOCATOR LOCK CONTENTION" : "ALLOCATOR LOCKING";
    f->remedy = "allocate less; more arenas, or caches of each thread";
    return true;
}

/* The rows of a selection by thread. */
#include "analysis/waits_held.h"

#include <stdlib.h>

static int held_by_tid(const void *va, const void *vb)
{
    const struct sp_held_row *a = va, *b = vb;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

spaa_status sp_held_rows_of(struct sp_selection *s, struct sp_diags *d, struct sp_held_rows *out)
{
    const struct sp_profile *p = s->profile;
    struct sp_held_rows r = {.s = s};
    for (uint32_t i = 0; i < s->rows.n; i++) {
        struct sp_held_row x = {p->contexts.v[p->stacks.v[s->rows.v[i].stack].context].tid, i};
        if (x.tid != SP_ABSENT && !sp_vec_push(&r.v, x)) {
            sp_vec_free(&r.v);
            return sp_nomem(d);
        }
    }
    if (r.v.n)
        qsort(r.v.v, r.v.n, sizeof *r.v.v, held_by_tid);
    *out = r;
    return SPAA_OK;
}

void sp_held_rows_free(struct sp_held_rows *r)
{
    sp_vec_free(&r->v);
}

size_t sp_held_first(const struct sp_held_rows *r, int64_t tid)
{
    size_t lo = 0, hi = r->v.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (r->v.v[mid].tid < tid)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

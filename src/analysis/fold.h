/*
 * Sums over a selection, by groups: of frames, of whole stacks, or of both.
 *
 * A group's self is the weight of the rows whose leaf is in it. Its total is the weight of the rows that
 * contain it, each counted once however often the group stands in the stack: recursion adds nothing. Totals
 * of different groups overlap. Where groups are of whole stacks, a row is in one group, and self = total.
 *
 * This is the one place where rows become sums. Who needs more of a row than its sums walks the rows itself,
 * and uses sp_fold_first, sp_fold_self and sp_fold_total.
 */
#ifndef SP_FOLD_H
#define SP_FOLD_H

#include "analysis/select.h"

/* Instead of a group (SP_NONE: none): */
#define SP_FOLD_NEW  (SP_NONE - 1) /* not known yet: it is made when it is met */
#define SP_FOLD_FAIL (SP_NONE - 2) /* out of memory */

/* Weights are at the scale of the selection; samples SP_ABSENT where the source has none. */
struct sp_fold_sum {
    int64_t weight, samples;
    uint32_t last; /* of totals: the last turn that counted */
};

/* By dense numbers of groups. */
struct sp_fold {
    SP_VEC(struct sp_fold_sum) self, total;
};

/*
 * From things (frames or contexts, by number) to groups. `of` is the caller's and is filled as things are
 * met: a group that is SP_FOLD_NEW is asked for once, of `make`, which gives numbers from 0 on without gaps
 * where it can, in the order they are met: what most stacks have then sits close together in the caches.
 */
struct sp_fold_key {
    uint32_t *of;
    uint32_t bare; /* of frames: the group of rows without any */
    uint32_t (*make)(void *arg,
                     uint32_t thing); /* SP_NONE: the rows without frames. May be NULL: `of` is complete */
    void *arg;
};

struct sp_fold_by {
    struct sp_fold_key *frames, *contexts; /* one of them, or both: then groups are pairs */
    uint32_t (*pair)(void *arg, uint32_t context,
                     uint32_t frame); /* makes the group of two; each pair once */
    void *arg;
    const int64_t *weights; /* per row, instead of the rows' own; nothing is known of samples then */
    bool self_only;         /* only leaves are looked at; totals stay 0 */
};

/* Sums all rows; out of memory: false. *out may hold groups already, and is to be freed in any case. */
bool sp_fold(struct sp_selection *s, const struct sp_fold_by *by, struct sp_fold *out);
void sp_fold_free(struct sp_fold *f);
/* Makes room for groups below `groups`; those that are new have no weight. False: out of memory. */
bool sp_fold_reserve(struct sp_fold *f, size_t groups);

/* The guard against counting recursion: whether a group is met first in this turn; turns are not 0. */
static inline bool sp_fold_first(uint32_t *last, uint32_t turn)
{
    if (*last == turn)
        return false;
    *last = turn;
    return true;
}

static inline void sp_fold_add(struct sp_fold_sum *to, int64_t weight, int64_t samples)
{
    to->weight += weight;
    if (samples > SP_DECIMAL)
        to->samples = (to->samples == SP_ABSENT ? 0 : to->samples) + samples;
}

/* For callers that walk the rows: of a group below what was reserved. */
static inline void sp_fold_self(struct sp_fold *f, uint32_t group, const struct sp_selected *row)
{
    sp_fold_add(&f->self.v[group], row->weight, row->samples);
}

/* Turn: 1 + the row's number. False: the row has counted for this group. */
static inline bool sp_fold_total(struct sp_fold *f, uint32_t group, const struct sp_selected *row,
                                 uint32_t turn)
{
    struct sp_fold_sum *to = &f->total.v[group];
    if (!sp_fold_first(&to->last, turn))
        return false;
    sp_fold_add(to, row->weight, row->samples);
    return true;
}

#endif

/*
 * What is left of a selection when functions become faster, slower, or vanish.
 *
 * A change is of functions, and of all that stands beneath them: it scales the stacks that any of them is in,
 * or of `self` those whose leaf one is. A stack that several changes are of counts once, for the strongest:
 * the one that takes most away or adds most as a ratio; of two that are equal the one that is faster, then
 * the first. Callees that are reached by another way too lose only what these stacks have.
 *
 * Where callers are missing, more stacks may belong to a function than show it (analysis/chains.h): `least`
 * and `most` hold what they may change. Mixed changes are bounded without the one kind that goes the other
 * way, which is safe, and wider than it would have to be.
 */
#ifndef SP_WHATIF_H
#define SP_WHATIF_H

#include "analysis/function_lookup.h"
#include "analysis/top.h"

enum { SP_WHATIF_CHANGES = 32 };

struct sp_change {
    struct sp_function_lookup functions;
    bool self;
    int64_t num, den; /* the weight becomes num / den of what it was */
    int64_t of;       /* found: weight of the stacks that the functions are in (or are leaves of) */
    int64_t decided;  /* of these, what this change scales */
};

struct sp_whatif_rows {
    struct sp_top rows;
    double *after; /* per row */
};

struct sp_whatif {
    int64_t before, after;
    int64_t least, most; /* what `after` may be where callers are missing; SP_ABSENT: not known */
    double left, left_least, left_most; /* the same, where these are known, before they were rounded */
    bool bounds;                        /* callers are missing */
    bool sampled;                       /* there are samples to say how sure it is */
    int64_t sure_lo, sure_hi;           /* then: 95 % interval of `after`, of what the stacks show */
    struct sp_whatif_rows threads;      /* each by itself */
    struct sp_whatif_rows pools;        /* as views show threads; no rows where no thread is in one */
    struct sp_whatif_rows processes;
};

/* Fills `of` and `decided`. The rows' weights are changed while this runs. Free whatever it returned. */
spaa_status sp_whatif_of(struct sp_selection *s, struct sp_change *changes, size_t n, struct sp_diags *d,
                         struct sp_whatif *out);
void sp_whatif_free(struct sp_whatif *x);
/* A whole number of what is not rounded yet, within what a weight may be. */
int64_t sp_whatif_weight(double v);
/* What is left of a weight, rounded half up. */
int64_t sp_change_left(const struct sp_change *c, int64_t weight);
static inline double sp_change_ratio(const struct sp_change *c)
{
    return (double)c->num / (double)c->den;
}

#endif

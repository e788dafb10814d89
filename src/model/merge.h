/*
 * Several profiles as one: for `merge`, for views of several files, and for coarser frames or groups.
 *
 *     struct sp_merger *m;
 *     sp_merger_new(&opts, diags, &m);
 *     for each input: sp_merger_add(m, profile, name);       // the profile may be freed afterwards
 *     sp_merger_finish(m, &whole);                            // the whole is the caller's
 *     sp_merger_free(m);
 *
 * Memory is bounded by the distinct stacks. Names, frames and stacks are matched by content, events by name;
 * weights combine as the vocabulary says. With `canonical` the result depends neither on the order of the
 * inputs nor on how they were bracketed: whatever is kept is a sum, a union, a minimum or "absent where they
 * differ". An input that lacks an attribute lacks it for the whole: absent absorbs, so that no mark is needed
 * in the result.
 *
 * Sums are exact: beyond 64 bits they are kept as decimal texts (SP_W624 says so once); a sum that cannot be
 * added exactly is refused (SP_E620).
 */
#ifndef SP_MERGE_H
#define SP_MERGE_H

#include "model/labels.h"
#include "model/profile.h"

struct sp_merge_opts {
    enum sp_granularity frames;         /* the coarsest of what the inputs have and this */
    unsigned group_by;                  /* keys to keep, at most (enum sp_group bits) */
    const struct sp_label_keys *labels; /* of contexts: those to keep; NULL: all */
    bool canonical;                     /* `merge`: keys all inputs have, events sorted, sources listed */
    bool by_source; /* x_source on every stack: records of two inputs are never combined */
    bool compared;  /* with by_source: nobody adds the inputs up, so that is not warned of */
    bool samples;   /* take samples and windows over, too */
    /*
     * Of the only input, per stack: it is left out with its samples, and with what no other stack needs;
     * both records of a pair are, or neither. NULL: all are taken.
     */
    const unsigned char *leave;
    bool rest; /* of the only input: extension records, processes and images are taken, too */
};

struct sp_merger;

spaa_status sp_merger_new(const struct sp_merge_opts *opts, struct sp_diags *d, struct sp_merger **out);
/*
 * Adds everything of `from`. SPAA_ERR_USAGE, reported, when an event has another kind, mode or primary metric
 * than an event of that name before. After a failure the merger can only be freed.
 */
spaa_status sp_merger_add(struct sp_merger *m, const struct sp_profile *from, const char *source);
/* The whole; the merger can only be freed then. Says what was left out. */
spaa_status sp_merger_finish(struct sp_merger *m, struct sp_profile **out);
void sp_merger_free(struct sp_merger *m); /* NULL is fine */

#endif

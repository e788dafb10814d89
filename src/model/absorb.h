/*
 * Taking one profile into another: for several files as one, and for coarser frames or groups.
 */
#ifndef SP_ABSORB_H
#define SP_ABSORB_H

#include "model/profile.h"

struct sp_absorb_opts {
    enum sp_granularity frames; /* coarsest of what the source has and this */
    unsigned group_by;          /* keys to keep (enum sp_group bits) */
    const char *source;         /* x_source of the contexts; NULL: none */
};

/*
 * Adds everything of `from` to `into`: names and frames are matched by content, events by name, weights
 * combine as the vocabulary says (a metric that does not combine keeps the record apart only within one
 * file; two files' values of it are refused). SPAA_ERR_USAGE, reported, when an event of one name has
 * another kind, mode or primary metric. Ids, exclusive records that differ, samples, windows and
 * extension records are not taken over; an info says so.
 *
 * into's header becomes the first source's; what differs in later ones becomes absent.
 */
spaa_status sp_profile_absorb(struct sp_profile *into, const struct sp_profile *from,
                              const struct sp_absorb_opts *opts, struct sp_diags *d);

#endif

/* A profile of what a selection keeps, so that it can be written: the filters of views, for `convert`. */
#ifndef SP_FILTERED_H
#define SP_FILTERED_H

#include "analysis/select.h"

struct sp_filtered_opts {
    unsigned group_by;                  /* keys to keep, once the filters are done (enum sp_group bits) */
    const struct sp_label_keys *labels; /* likewise; NULL: all */
    bool samples;                       /* keep raw samples */
};

/*
 * Replaces *p by what the filters keep of each event (of one, where one is named; metric is not looked at):
 * its stacks as views show them, each with all its metrics, its samples and its windows. With a range of time
 * weights are those in the range; metrics that cannot be told for a range go, reported. Views that are not
 * named are "all". What was kept is told event by event (SP_I608). SPAA_ERR_NOT_FOUND, reported, when nothing
 * is left. After a failure *p is as it was, or can only be freed.
 */
spaa_status sp_filter_profile(struct sp_profile **p, const struct sp_select_opts *filters,
                              const struct sp_filtered_opts *opts, struct sp_diags *d);

#endif

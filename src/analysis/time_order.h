/*
 * The call tree of a selection in the order of time: a frame goes on while sample after sample of its thread
 * is in it, and stands again where it is called again.
 *
 * Threads stand side by side, the heaviest first; each has its own order. Widths are weights, as in every
 * tree: what was not sampled, between two samples, has none.
 */
#ifndef SP_TIME_ORDER_H
#define SP_TIME_ORDER_H

#include "analysis/tree.h"

struct sp_time_order {
    struct sp_tree tree; /* the first level are threads, whose names are in `names`: it must not be moved */
    SP_VEC(int64_t) starts; /* per node: the weight before it */
    struct sp_strtab names;
};

/*
 * Subtrees below min_total are left out with all below them. Errors, reported: SPAA_ERR_USAGE where there are
 * no samples with times (SP_E600; W610 counts those without), or where they have no such weight (SP_E604).
 * Free on success only; the selection has to live as long.
 */
spaa_status sp_time_order_of(struct sp_selection *s, int64_t min_total, struct sp_diags *d,
                             struct sp_time_order *out);
void sp_time_order_free(struct sp_time_order *x);

#endif

/* What events of the scheduler say of threads and CPUs, for the walk over them. Private to model/intervals.c.
 */
#ifndef SP_INTERVAL_TAKE_H
#define SP_INTERVAL_TAKE_H

#include "model/interval_walk.h"
#include "model/sched_events.h"

/* The next CPU; false: out of memory. */
bool sp_walk_add_cpu(struct sp_walk *w, bool idle_leaves);
/* The n events of one time; false: w->failed. */
bool sp_walk_take_moment(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows,
                         size_t n);

#endif

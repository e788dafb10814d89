/*
 * How long the counters of events ran of the time that they were wanted: more counters than a processor has
 * take turns. perf.data's reader keeps it, where samples tell it, in the header's x_perf.counters.
 */
#ifndef SP_COUNTERS_H
#define SP_COUNTERS_H

#include "model/profile.h"

/* The part, 0 … 1; false: the recording does not say. */
bool sp_counter_ran(const struct sp_profile *p, uint32_t event, double *out);

#endif

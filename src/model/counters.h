/*
 * How long the counters of events ran of the time that they were wanted: more counters than a processor has
 * take turns. perf.data's reader keeps it, where samples tell it, in the header's x_perf.counters; which of
 * them are one group, and so take turns together, in x_perf.counted_together.
 */
#ifndef SP_COUNTERS_H
#define SP_COUNTERS_H

#include "model/profile.h"

/* The part, 0 … 1; false: the recording does not say. */
bool sp_counter_ran(const struct sp_profile *p, uint32_t event, double *out);

/* Whether those of both ran at the same times: they are one group, or the recording has groups without them.
 */
enum sp_together { SP_TOGETHER_UNKNOWN, SP_TOGETHER_NO, SP_TOGETHER_YES };
enum sp_together sp_counters_together(const struct sp_profile *p, uint32_t a, uint32_t b);

#endif

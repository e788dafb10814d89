/*
 * Which waits are longer than what was seen of them: those that began before the recording, were not over at
 * its end, of which it is not known until when they were, or that ended with their process alone.
 */
#ifndef SP_WAIT_BOUNDS_H
#define SP_WAIT_BOUNDS_H

#include "analysis/wait_reason.h"

/* When the last of its process is seen, of whose threads k is the first; INT64_MAX: not all of them ended. */
int64_t sp_wait_last_seen(const struct sp_intervals *v, size_t k);
/* The wait, interval number i, ended with its process alone, which was last seen at `over`. */
bool sp_wait_ended_with(const struct sp_profile *p, const struct sp_intervals *v, size_t i, int64_t over);
/* Sets `at_least` of stacks. Where there are no intervals, by what is kept of them (unfinished_ns). */
void sp_wait_bounds_mark(const struct sp_profile *p, const struct sp_intervals *v, struct sp_wait_why *why,
                         size_t n);

#endif

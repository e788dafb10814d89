/*
 * Sleeps beside which another thread of the process waited for a lock that it had not got when the recording
 * was over, or the process: the sleeper may hold it.
 */
#ifndef SP_WAIT_STUCK_H
#define SP_WAIT_STUCK_H

#include "analysis/wait_reason.h"
#include "model/intervals.h"

/* Adds to `ns`, one per stack, so long of sleeps that are `idle`. `why`: per stack of the profile, n of them.
 */
void sp_wait_stuck_sleeps(const struct sp_profile *p, const struct sp_intervals *v,
                          const struct sp_wait_why *why, size_t n, int64_t *ns);

#endif

/*
 * When events were lost, on whichever CPU: what threads did then is not known, nor, of one that was off the
 * CPU, what it waited for since, as it may have run meanwhile.
 */
#ifndef SP_INTERVAL_LOSSES_H
#define SP_INTERVAL_LOSSES_H

#include "model/intervals.h"

/* Puts them in order and joins those that overlap; what they are asked for is right only then. */
void sp_interval_losses_settle(struct sp_intervals *v);
/* When the first one began of those that are not over at `t`, not before t; INT64_MAX: there is none. */
int64_t sp_interval_lost_after(const struct sp_intervals *v, int64_t t);
/* How much of [from, to) they take. */
int64_t sp_interval_lost_within(const struct sp_intervals *v, int64_t from, int64_t to);

#endif

/*
 * The name of a thread during an interval: that of the program that it ran then (model/thread_names.h), as
 * rows and filters of stacks have it.
 */
#ifndef SP_INTERVAL_NAME_H
#define SP_INTERVAL_NAME_H

#include "model/intervals.h"

/* The context of where the thread left the CPU, before or behind the interval; SP_NONE: that was not seen, or
 * it says of no thread. */
uint32_t sp_interval_context(const struct sp_profile *p, const struct sp_intervals *v, uint32_t interval);
uint32_t sp_interval_name(const struct sp_profile *p, const struct sp_intervals *v, uint32_t interval);

#endif

/*
 * Until when it is certain what a thread did.
 *
 * Kernels do not record every switch: some record none that leaves the idle task, and a recording of some
 * processes has none of others. Then a thread is seen to leave a CPU onto which nobody saw it come: it was
 * off the CPU at least until the last switch that was seen on that CPU before, and from then on it may have
 * run. That time is neither one nor the other: [until, end) of the interval. perf sched timehist takes all of
 * it for time in which the thread ran.
 */
#ifndef SP_INTERVAL_UNTIL_H
#define SP_INTERVAL_UNTIL_H

#include "model/intervals.h"

/* Sets `until` of all intervals, maybe_from of threads, and the marks of CPUs. False: out of memory. */
bool sp_interval_until_find(struct sp_intervals *v);

/* The thread left a CPU onto which it was not seen to come, or may have come onto one at last. */
static inline bool sp_interval_came_unseen(const struct sp_interval *i)
{
    return i->state != SP_RUN_RUNNING && i->flags & SP_INTERVAL_AT_MOST;
}

/* Before a thread was first seen: what it did then is not known, nor that it was there. */
static inline bool sp_interval_not_seen(const struct sp_interval *i)
{
    return i->state != SP_RUN_RUNNING && i->flags & SP_INTERVAL_BEFORE && i->task == SP_TASK_UNKNOWN &&
           (i->state == SP_RUN_RUNNABLE || i->flags & SP_INTERVAL_NO_WAKE);
}

/* The number in v->marks of the first switch that was seen on a CPU not before t, or where they end. */
size_t sp_interval_mark_at(const struct sp_intervals *v, size_t cpu, int64_t t);
/* On which CPU the thread then came that was not seen to; -1: not known. */
int32_t sp_interval_cpu_then(const struct sp_intervals *v, const struct sp_interval *i);
/* What is first seen of the thread is that it leaves a CPU; and which: -1: not known. */
bool sp_thread_began_unseen(const struct sp_intervals *v, uint32_t thread);
int32_t sp_thread_first_cpu(const struct sp_intervals *v, uint32_t thread);

#endif

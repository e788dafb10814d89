/*
 * What each CPU did, from the intervals of threads (model/intervals.h).
 *
 * Kernels do not record every switch: some record none that leaves the idle task. Then a thread is seen to
 * leave a CPU onto which nobody saw it come: it ran at most since the last switch that was seen there. Such
 * time is of state UNKNOWN, and is neither the CPU's busy time nor its idle time. perf sched timehist takes
 * all of it for time in which the thread ran.
 */
#ifndef SP_SCHED_CPUS_H
#define SP_SCHED_CPUS_H

#include "model/intervals.h"

enum sp_cpu_state {
    SP_CPU_RUNS,    /* the thread */
    SP_CPU_IDLE,    /* the idle task */
    SP_CPU_UNKNOWN, /* the thread, or nothing, or what was not recorded */
};

struct sp_cpu_segment {
    int64_t start, end; /* ns in the profile's clock */
    uint32_t thread;    /* in sp_intervals.threads; of IDLE it may be SP_NONE */
    uint32_t cpu;
    uint8_t state; /* enum sp_cpu_state */
    bool unseen; /* of UNKNOWN: the thread was off the CPU before, until it came at a moment that is not known
                  */
    bool cut;    /* of RUNS, IDLE: it goes on before or after the recording */
};

struct sp_cpu_segments {
    const struct sp_intervals *v_of; /* lent */
    SP_VEC(struct sp_cpu_segment) v; /* by cpu, start; what no segment covers is not known */
    SP_VEC(size_t) first;            /* per CPU, and the end */
    SP_VEC(int64_t) marks;           /* by cpu: when switches were seen on it, ascending */
    SP_VEC(size_t) marks_first;      /* per CPU, and the end */
};

/* False: out of memory. To be freed in any case. */
bool sp_cpu_segments_of(const struct sp_intervals *v, struct sp_cpu_segments *out);
void sp_cpu_segments_free(struct sp_cpu_segments *x);

/*
 * The thread left a CPU onto which it was not seen to come, or may have come onto one at last; and until when
 * it is known to have been off all of them.
 */
bool sp_interval_came_unseen(const struct sp_interval *i);
/* i is one of v_of */
int64_t sp_interval_off_until(const struct sp_cpu_segments *x, const struct sp_interval *i);

int32_t sp_interval_cpu_then(const struct sp_cpu_segments *x,
                             const struct sp_interval *i); /* where it came, -1 */
/* What is first seen of the thread is that it leaves a CPU. */
bool sp_thread_began_unseen(const struct sp_intervals *v, uint32_t thread);
/* Before a thread was first seen: what it did then is not known, nor that it was there. */
static inline bool sp_interval_not_seen(const struct sp_interval *i)
{
    return i->state != SP_RUN_RUNNING && i->flags & SP_INTERVAL_BEFORE && i->task == SP_TASK_UNKNOWN &&
           (i->state == SP_RUN_RUNNABLE || i->flags & SP_INTERVAL_NO_WAKE);
}

#endif

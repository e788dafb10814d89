/*
 * What each CPU did, from the intervals of threads (model/intervals.h).
 *
 * A thread that is seen to leave a CPU onto which nobody saw it come ran there at most since the last switch
 * that was seen there (model/interval_until.h). Such time is of state UNKNOWN, and is neither the CPU's busy
 * time nor its idle time.
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
    bool cut;      /* of RUNS, IDLE: it goes on before or after the recording */
};

struct sp_cpu_segments {
    const struct sp_intervals *v_of; /* lent */
    SP_VEC(struct sp_cpu_segment) v; /* by cpu, start; what no segment covers is not known */
    SP_VEC(size_t) first;            /* per CPU, and the end */
};

/* False: out of memory. To be freed in any case. */
bool sp_cpu_segments_of(const struct sp_intervals *v, struct sp_cpu_segments *out);
void sp_cpu_segments_free(struct sp_cpu_segments *x);

#endif

/*
 * Whether the CPU time that a hang report states of its processes and their running samples can both be
 * right: a sample stands for an interval.
 */
#ifndef SP_CPU_CLAIMS_H
#define SP_CPU_CLAIMS_H

#include "model/profile.h"

struct sp_cpu_claim {
    uint32_t context; /* one of the process's */
    int64_t running;  /* samples */
    int64_t seen_ns;  /* as long as these stand for */
    int64_t cpu_ns;   /* stated */
};

struct sp_cpu_claims { /* that contradict each other, the largest difference first */
    SP_VEC(struct sp_cpu_claim) list;
};

spaa_status sp_cpu_claims_of(const struct sp_profile *p, uint32_t event, struct sp_diags *d,
                             struct sp_cpu_claims *out);
void sp_cpu_claims_free(struct sp_cpu_claims *x);

#endif

/* report.c: what an agent says of its report, and whether it can be of this one. */
#ifndef SP_CODEGURU_REPORT_H
#define SP_CODEGURU_REPORT_H

#include "formats/codeguru/codeguru.h"

struct sp_cg_report {
    struct sp_span duration; /* durationInMs; n 0: not stated */
    struct sp_span threads;  /* metrics.numThreads; the same */
    uint64_t sampled;        /* numTimesSampled; 0: not stated */
    int64_t agent_start;     /* debugInfo.agentStartTime, ns since 1970; SP_ABSENT: not stated */
    uint64_t counted;        /* the counts of the call graph */
};

/* "2026-01-01T00:00:00.250Z" as ns since 1970, SP_ABSENT where it is no such text. */
int64_t sp_cg_iso_time(struct sp_span s);
/*
 * Sets the header's duration, from its time range where the stated one is not of this report, and says what
 * is odd. The header's times and tool are known. False: out of memory.
 */
bool sp_cg_judge_report(const struct sp_cg_report *r, struct sp_profile *p, struct sp_diags *d);

#endif

/*
 * CPUs and threads over time as one self-contained SVG: a row for each CPU with what ran on it, how many
 * threads waited for a CPU, and a row for each of the busiest threads with its states. Every length of time
 * fits: a row is a thousand cells at most, and each shows the shares of what was in it, one above the other.
 */
#ifndef SP_SCHEDULE_H
#define SP_SCHEDULE_H

#include "analysis/sched.h"
#include "io/output.h"

/* Foreign texts are made safe here. */
struct sp_schedule {
    const struct sp_intervals *v;
    const struct sp_cpu_segments *cpus;
    const struct sp_sched *s;
    const char *subtitle;
    const char *const *rows;    /* names of s->rows */
    const char *const *threads; /* names of v->threads */
    const uint32_t *row_of;     /* per thread: its row in s->rows; SP_NONE: filters left it out */
    int64_t zero;               /* what times are relative to */
};

/* Errors of writing are the output's. */
spaa_status sp_schedule_svg(const struct sp_schedule *x, struct sp_diags *d, struct sp_output *out);

#endif

/*
 * When samples were taken, of hang reports that say it: a timeline report of spindump has the numbers of the
 * steps, from 1 on, that each row of its tree was seen in. Readers keep them beside the stacks, in `ranges`
 * of `x_spindump`, so that they are in SPAA, too.
 */
#ifndef SP_STEP_RANGES_H
#define SP_STEP_RANGES_H

#include "model/profile.h"
#include "json/json.h"

/* Steps from..to (both of them, 1 <= from <= to) of a stack. */
struct sp_step_range {
    uint32_t stack;
    int64_t from, to;
    int64_t count; /* of them that are the stack's, 1..to-from+1: fewer where others' lie between, which is
                      not said to be where */
    bool alone; /* of a thread that was placed whole: no other of its ranges overlaps it, so that it was not
                   seen in the steps that are missing */
};

struct sp_step_ranges {
    SP_VEC(struct sp_step_range) v; /* by stack, then by from */
    int64_t last;                   /* the highest step of any */
    int64_t interval_ns;            /* from step to step; SP_ABSENT: not stated */
};

/* Whether any stack has them. */
bool sp_step_ranges_any(const struct sp_profile *p);
/* All of a profile; none where it has none. SPAA_ERR_NOMEM. */
spaa_status sp_step_ranges_of(const struct sp_profile *p, struct sp_diags *d, struct sp_step_ranges *out);
/* Between which steps a thread was seen, by its own line, and how often (SP_ABSENT: not stated): false where
 * it does not say. */
bool sp_step_ranges_of_thread(const struct sp_profile *p, const struct sp_thread *t, int64_t *from,
                              int64_t *to, int64_t *samples);
/* The lines of threads that no record has, in what a process says. False: no more. */
struct sp_step_line {
    int64_t tid, from, to, samples; /* as of sp_step_ranges_of_thread */
    bool first;                     /* of its thread in this process */
};
struct sp_span sp_step_ranges_lines(const struct sp_profile *p, const struct sp_process_fact *f);
bool sp_step_ranges_line(struct sp_span *rest, struct sp_step_line *line);
/* The report says that all of its samples are microstackshots: of threads that ran. */
bool sp_steps_are_microstackshots(const struct sp_profile *p);
void sp_step_ranges_free(struct sp_step_ranges *r);

#endif

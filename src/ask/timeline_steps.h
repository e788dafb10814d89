/* The steps that a report has in place of samples (model/step_ranges.h), in timeline. */
#ifndef SP_TIMELINE_STEPS_H
#define SP_TIMELINE_STEPS_H

#include "analysis/timeline.h"
#include "ask/common.h"

#define SP_TIMELINE_STEPS_FACT(name, words)                                                                  \
    {                                                                                                        \
        "steps." name, SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = words                                 \
    }
#define SP_TIMELINE_STEPS_FACTS                                                                              \
    SP_TIMELINE_STEPS_FACT("last", "of steps: how many there are"),                                          \
        SP_TIMELINE_STEPS_FACT("interval_ns", "likewise: from one to the next"),                             \
        SP_TIMELINE_STEPS_FACT("not_told_apart", "likewise: samples in no row, since it is not said in "     \
                                                 "which steps they are; rows have at least their weight")

/*
 * A report has no samples, but where it is in order of time the steps that a stack was seen in. *steps: there
 * are some. Of others it is said what to record.
 */
spaa_status sp_timeline_steps_find(struct sp_ask *q, struct sp_step_ranges *r, bool *steps);
void sp_timeline_steps_facts(struct sp_asked *x, const struct sp_step_ranges *r, const struct sp_timeline *t);
/* Of a row that others' samples lie within, a report says how many are its own, not which. */
void sp_timeline_steps_say(struct sp_asked *x, const struct sp_step_ranges *r, const struct sp_timeline *t);

#endif

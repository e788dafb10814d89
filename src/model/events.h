/* Which event is meant where none is named, and how much of it there is: for views and writers alike. */
#ifndef SP_EVENTS_H
#define SP_EVENTS_H

#include "model/profile.h"

/*
 * Branches that a processor recorded (LBR) are events of their own, whose stacks are no calls. A stack of
 * `lbr` is a branch: where it went, where it came from. One of `lbr_trace` is a branch and what ran after it
 * without another one: the address of the next branch, where it went, where it came from.
 */
#define SP_LBR       "lbr"
#define SP_LBR_TRACE "lbr_trace"
/* Their metrics: how often; how often predicted wrongly; of traces, how many have cycles; and the cycles. */
#define SP_BRANCHES_TAKEN "branches"
#define SP_BRANCH_MISSES  "branch_misses"
#define SP_BRANCH_CYCLES  "branch_cycles"
#define SP_TRACES         "traces"
#define SP_TIMED_TRACES   "timed_traces"
/*
 * The places of such a stack, leaf first, without what is inlined there: as many as there is room for. All
 * of them are counted.
 */
enum { SP_BRANCH_ENDS = 3 };
uint32_t sp_branch_ends(const struct sp_profile *p, uint32_t stack,
                        const struct sp_frame *out[SP_BRANCH_ENDS]);
bool sp_is_branches(const struct sp_profile *p, uint32_t event); /* either of them; SP_NONE: no */
/*
 * The event that is taken when none is named: the one that the file names, else most samples, then header
 * order; never branches, and what does not add only where nothing does. SP_NONE: none.
 */
uint32_t sp_default_event(const struct sp_profile *p);
/* Observations of an event, by its `samples` metric; SP_ABSENT when the source counts none, or parts of some.
 */
int64_t sp_event_samples(const struct sp_profile *p, uint32_t event);
/*
 * Whether the event says that its peaks are what each stack had when the total was largest
 * (allocation_tracking has "x_peak":"of_total"): those of one input add up, those of several do not.
 */
bool sp_peaks_add(const struct sp_profile *p, uint32_t event);
/* Whether values of a metric are parts of one total: the vocabulary says so, or they are peaks of that kind.
 */
bool sp_metric_adds(const struct sp_profile *p, uint32_t event, uint32_t metric);

#endif

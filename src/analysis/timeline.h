/*
 * Weight over time: equal buckets of a profile's samples, or, where there are none, its windows, or the steps
 * that a report has for its stacks.
 *
 * A bucket is [lo, hi) in nanoseconds of the profile's clock; the buckets of samples and of steps partition
 * the range.
 */
#ifndef SP_TIMELINE_H
#define SP_TIMELINE_H

#include "analysis/sample_times.h"
#include "analysis/select.h"
#include "analysis/stack_kinds.h"
#include "model/step_ranges.h"

struct sp_bucket {
    int64_t lo, hi;
    int64_t weight, samples; /* scaled as the selection; samples SP_ABSENT where not counted */
    size_t hot, nhot;        /* slice of sp_timeline.hot */
    uint32_t window;         /* its number, SP_NONE for a bucket of samples */
};

struct sp_hot {
    uint32_t what; /* a function; where there are kinds, the number of one */
    int64_t self;
};

struct sp_timeline {
    SP_VEC(struct sp_bucket) buckets;
    SP_VEC(struct sp_hot)
    hot;                      /* the functions of most self weight in each bucket, heaviest first; of a
                                 bucket whose weight is below 0 those that took most away */
    int64_t zero, start, end; /* the profile's start; the range shown */
    int64_t covered;          /* the weight of all buckets, each stack's once a bucket */
    bool changes;             /* weights of windows are changes, of both signs: shares mean nothing */
};

/*
 * The selection may be restricted to a range of time. kinds: of its rows, in place of their leaf functions;
 * NULL: none. buckets: how many, of samples; hot: functions, or kinds, a bucket.
 * Reported when the metric is not known for each sample.
 */
spaa_status sp_timeline_build(struct sp_selection *s, const struct sp_sample_times *m,
                              const struct sp_stack_kinds *kinds, size_t buckets, size_t hot,
                              struct sp_diags *d, struct sp_timeline *out);
/*
 * The same of steps, whose interval is known; sorts them. Weights are at least what a bucket has: what is in
 * none of them (the selection's weight without `covered`) was seen in steps that are not told apart.
 */
spaa_status sp_timeline_of_steps(struct sp_selection *s, struct sp_step_ranges *r, size_t buckets, size_t hot,
                                 struct sp_diags *d, struct sp_timeline *out);
void sp_timeline_free(struct sp_timeline *t);
/*
 * Puts windows for these buckets into the profile, in place of those it has, from the samples of all events:
 * weights as the stacks have them, as far as samples know them. For profiles with samples.
 */
spaa_status sp_timeline_windows(struct sp_profile *p, const struct sp_sample_times *m,
                                const struct sp_timeline *t, struct sp_diags *d);

#endif

/*
 * A ratio of two events: instructions per cycle, misses per 1,000 instructions.
 *
 * Samples of both are counts of the same work only as far as chance leaves: a value has the range in which it
 * is at 95 %, and of few samples there is none, or a bound. Samples of one event stand for each of its counts
 * while its counter ran. Where the recording says how long that was of the time that it was wanted
 * (multiplexing), both sides are scaled to all of it.
 */
#ifndef SP_RATIO_H
#define SP_RATIO_H

#include "analysis/select.h"
#include "model/counters.h"

struct sp_ratio {
    struct sp_str name;        /* as it was asked for */
    uint32_t of, per;          /* events */
    double times;              /* for so many of `per` */
    bool alike;                /* both count on the same side: user, kernel, or both */
    bool timed;                /* the recording says how long the counters ran */
    enum sp_together together; /* whether they ran at the same times */
    double ran_of, ran_per;    /* 0 … 1, of the time that they were wanted; 1 unless timed */
};

/* What was summed up of the events: weight 0 where there is none. */
struct sp_ratio_sums {
    int64_t of, per;                 /* scaled as the selections */
    int64_t of_samples, per_samples; /* SP_ABSENT: not counted */
};

enum sp_ratio_sure { SP_RATIO_NONE, SP_RATIO_AT_MOST, SP_RATIO_KNOWN };
struct sp_ratio_value {
    enum sp_ratio_sure sure; /* AT_MOST: `high` alone */
    double value, low, high;
};

/*
 * "EVENT/EVENT", "EVENT/1000*EVENT", or a short form: "ipc", "cpi", "mpki" (cache misses), "branch-mpki".
 * Names are the profile's; modifiers may be left out where one event alone is meant. `text` is lent. Timed
 * where all of the selection's rows are of one recording. SPAA_ERR_USAGE, reported.
 */
spaa_status sp_ratio_parse(const struct sp_profile *p, const char *text, struct sp_diags *d,
                           struct sp_ratio *out);
/* What the recording says of how long its counters ran. */
void sp_ratio_take_times(const struct sp_profile *p, struct sp_ratio *r);
/* of, per: the selections, for the scales, and what a sample stands for where there are none. */
struct sp_ratio_value sp_ratio_value(const struct sp_ratio *r, const struct sp_selection *of,
                                     const struct sp_selection *per, const struct sp_ratio_sums *sums);

#endif

/*
 * When the weight was observed: from raw samples, or where there are none from windows.
 *
 * Times are nanoseconds in the profile's clock. A sample weighs 1 in `samples`, its period in `period` or
 * what else its event's primary metric is; other metrics are not known for each sample. A sample counts for
 * its stack's event. Of linked user and kernel records those samples count that name the user side.
 *
 * Samples of time off the CPU (model/off_cpu.h) are intervals: they end at their time and are as long as
 * their period, of which a range of time has the part that is in it.
 */
#ifndef SP_SAMPLE_TIMES_H
#define SP_SAMPLE_TIMES_H

#include "model/profile.h"
#include "model/samples.h"

struct sp_timed_window {
    int64_t lo, hi; /* [lo, hi) */
    uint32_t window;
};

struct sp_sample_times {
    const struct sp_profile *p;
    struct sp_sample *rows; /* lent by the profile; NULL: windows are used */
    size_t n;
    int64_t zero;                           /* what times are relative to: the start of the profile */
    int64_t start, end;                     /* all observations are in [start, end) */
    uint64_t untimed;                       /* samples left out for want of a time */
    uint32_t lengths;                       /* the metric of events whose samples are intervals; SP_NONE */
    SP_VEC(struct sp_timed_window) windows; /* by lo, hi; only where rows is NULL */
};

/* SPAA_ERR_USAGE, reported (SP_E600), where the profile has neither. Free on success. */
spaa_status sp_sample_times_of(const struct sp_profile *p, struct sp_diags *d, struct sp_sample_times *out);
/* The same of its windows, whether it has samples or not. */
spaa_status sp_window_times_of(const struct sp_profile *p, struct sp_diags *d, struct sp_sample_times *out);
void sp_sample_times_free(struct sp_sample_times *m);
/* Of a hang report that does not say when its rows were seen: says so, and which one does. False: it is none.
 */
bool sp_say_no_steps(const struct sp_profile *p, struct sp_diags *d);
/* What times in answers are relative to, of a profile with such observations. Errors as above. */
spaa_status sp_sample_times_zero(const struct sp_profile *p, struct sp_diags *d, int64_t *zero);
/* A number as it stands in a file, in a unit ("seconds", "ms", …; none: seconds), down to whole nanoseconds;
 * false: no number, no unit that is known, or more than 64 bits hold. */
bool sp_time_ns(struct sp_str text, struct sp_str unit, int64_t *ns);
/* The time of a sample; false: it has none. */
bool sp_sample_time(const struct sp_sample_times *m, const struct sp_sample *x, int64_t *ns);
/* When it was: [from, to), of an interval all of it, else a nanosecond; false: it has no time. */
bool sp_sample_span(const struct sp_sample_times *m, const struct sp_sample *x, int64_t *from, int64_t *to);
bool sp_sample_is_interval(const struct sp_sample_times *m, const struct sp_sample *x);
/* "A..B", "A..", "..B", with @ absolute; ends that are left out are INT64_MIN and INT64_MAX. */
spaa_status sp_sample_times_range(const struct sp_sample_times *m, const char *text, struct sp_diags *d,
                                  int64_t *lo, int64_t *hi);

/* The profile says that it is of [lo, hi) only; false: out of memory. */
bool sp_sample_times_set_range(struct sp_profile *p, int64_t lo, int64_t hi);

/* How a sample of an event weighs in a metric. */
enum sp_weighing { SP_WEIGH_NOT, SP_WEIGH_ONE, SP_WEIGH_PERIOD, SP_WEIGH_PERIOD_OR_ONE };
enum sp_weighing sp_weighing_of(const struct sp_profile *p, uint32_t event, uint32_t metric);
/* The same, with SP_WEIGH_NOT reported (SP_E604) as SPAA_ERR_USAGE. */
spaa_status sp_weighing_or_say(const struct sp_profile *p, uint32_t event, uint32_t metric,
                               struct sp_diags *d, enum sp_weighing *out);
/* A number and, when it is SP_DECIMAL, its text; v SP_ABSENT: this sample has no such weight. */
struct sp_value sp_sample_value(const struct sp_sample *x, enum sp_weighing how);
/*
 * The same within [lo, hi), v SP_ABSENT: nothing is. Of an interval that is summed by its length the part in
 * the range; else all, where its end is.
 */
struct sp_value sp_sample_part(const struct sp_sample_times *m, const struct sp_sample *x,
                               enum sp_weighing how, int64_t lo, int64_t hi);
/* The windows within [lo, hi) when they fit it; SPAA_ERR_USAGE, reported (SP_E602), when they do not. */
spaa_status sp_sample_times_windows(const struct sp_sample_times *m, int64_t lo, int64_t hi,
                                    struct sp_diags *d, size_t *first, size_t *n);
/* The weight of a window's row in a metric; v SP_ABSENT: none. */
struct sp_value sp_window_value(const struct sp_profile *p, const struct sp_window_row *r, uint32_t metric);

#endif

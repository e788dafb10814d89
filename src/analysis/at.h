/*
 * A moment that a question about memory is of (--at): the peak of the whole program, the end of the
 * recording, or a time. It says which metric is meant.
 *
 *     peak       peak_bytes (or x_peak_count), where these are parts of one peak (sp_peaks_add)
 *     end        live_bytes (or live_count)
 *     SECONDS    the same as of then, from the start: of a profile that was read up to there
 *                (sp_header.stopped) its sums, else the changes of its windows up to there
 */
#ifndef SP_AT_H
#define SP_AT_H

#include "analysis/sample_times.h"
#include "analysis/select.h"

enum sp_at_kind { SP_AT_NONE, SP_AT_PEAK, SP_AT_END, SP_AT_TIME };
struct sp_at {
    enum sp_at_kind kind;
    int64_t ns; /* TIME: from the start of the profile */
};

/* NULL is none. SPAA_ERR_USAGE, reported. */
spaa_status sp_at_parse(const char *text, struct sp_diags *d, struct sp_at *out);
/* The options of a selection at that moment, before it is made: *o gets its metric. Reported likewise. */
spaa_status sp_at_choose(const struct sp_profile *p, const struct sp_at *at, struct sp_select_opts *o,
                         struct sp_diags *d);
/*
 * TIME: the windows that the level is the sum of, with *end, where they end; rows NULL and no windows where
 * the profile's own sums are meant. SPAA_ERR_USAGE, reported, where it is not known. To be freed.
 */
spaa_status sp_at_windows(const struct sp_profile *p, const struct sp_at *at, const char *metric,
                          struct sp_diags *d, struct sp_sample_times *out, int64_t *end);
/* Windows that end at `end` (ns) at the latest have changes of the metric that no stack is known of. */
bool sp_windows_lack_stacks(const struct sp_profile *p, const struct sp_sample_times *m, uint32_t metric,
                            int64_t end);

#endif

/*
 * What formats with one number for each stack write: of one event, one weight.
 *
 * Without --event and --metric these are the ones that views show, so that shares of what is written are
 * those of the profile: the event with the most samples and its primary metric.
 */
#ifndef SP_ONE_NUMBER_H
#define SP_ONE_NUMBER_H

#include "formats/format.h"

/* SP_NONE: the profile has no event. What is left out, sp_say_events_left says. */
uint32_t sp_one_event(const struct sp_profile *p, const struct sp_write_opts *o);
/* Says so where the numbers are no parts of one total, as peaks are not: whoever reads the file adds them. d
 * may be NULL. */
uint32_t sp_one_metric(const struct sp_profile *p, const struct sp_write_opts *o, uint32_t event,
                       struct sp_diags *d);
/*
 * The same for formats whose numbers are samples: samples where each weighs the same, for their shares are
 * those of the weight, else the weight.
 */
uint32_t sp_one_counted(const struct sp_profile *p, const struct sp_write_opts *o, uint32_t event,
                        struct sp_diags *d);
/* Whether the weight is a count, by its unit; for formats whose numbers are samples, which are told else. */
bool sp_one_counts(const struct sp_profile *p, const struct sp_write_opts *o, uint32_t metric,
                   struct sp_diags *d);
/*
 * Refuses weights that what is written could not tell: where all of them together are more than `most`. So
 * that none of them, and no sum of some, is lost or wrapped. what: "a report".
 */
spaa_status sp_one_fits(const struct sp_profile *p, uint32_t event, uint32_t metric, int64_t most,
                        const char *what, struct sp_diags *d);

#endif

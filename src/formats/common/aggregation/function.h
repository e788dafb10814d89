/*
 * What function made the values of an aggregation: count(), sum(), min(), max(), avg() or stddev().
 *
 * The tracers print all of them as bare numbers, and only those of count() and sum() may be added. What is
 * known comes, in this order, from --aggregation, from the form (JSON marks averages), from a map's or
 * title's name
 * ("@avg_us", "Average size"), and from values below zero, which are no counts. Else they are taken for
 * counts. What was guessed is said in a note. Functions that return bool fail for want of memory only.
 */
#ifndef SP_AGGREGATION_FUNCTION_H
#define SP_AGGREGATION_FUNCTION_H

#include "base/buf.h"
#include "formats/format.h"

struct sp_agg_functions {
    struct sp_profile *p;
    struct sp_diags *d;
    const char *option;           /* of --aggregation, or NULL */
    struct sp_buf guessed, taken; /* names, for notes */
};

/* What was seen of the values of one event. */
struct sp_agg_seen {
    bool bare;     /* there are values that are no distribution and no statistics */
    bool negative; /* and one is below zero */
    bool averages; /* they are marked as averages */
};

/* Reads --aggregation; SPAA_ERR_USAGE is reported. Freed in any case. */
spaa_status sp_agg_functions_init(struct sp_agg_functions *f, struct sp_profile *p,
                                  const struct sp_read_opts *opts, struct sp_diags *d);
void sp_agg_functions_free(struct sp_agg_functions *f);
/* Sets the primary metric of an event whose aggregation has this name (n 0: none); prose: it is a title. */
bool sp_agg_function_settle(struct sp_agg_functions *f, uint32_t event, struct sp_str name, bool prose,
                            const struct sp_agg_seen *seen);
/* The notes on what was guessed, and what was taken for counts. */
bool sp_agg_functions_say(struct sp_agg_functions *f);

#endif

/* Weights of stacks within a range of time, for selections. */
#ifndef SP_TALLY_H
#define SP_TALLY_H

#include "analysis/sample_times.h"
#include "analysis/select.h"

struct sp_tally {
    int64_t *weight;  /* per stack, at the selection's scale; SP_ABSENT: nothing in the range */
    int64_t *samples; /* per stack; SP_ABSENT where not counted */
};

/* The decimals of sample periods and window rows of the selection's metric: adds to *scale and *sum. */
void sp_tally_scale(const struct sp_selection *s, const struct sp_sample_times *m, unsigned *scale,
                    double *sum);
/* Reported when the range or the metric does not fit. Free on success. */
spaa_status sp_tally_range(struct sp_selection *s, const struct sp_sample_times *m, int64_t lo, int64_t hi,
                           struct sp_diags *d, struct sp_tally *out);
void sp_tally_free(struct sp_tally *t);
/* to += v, ending at the ends of int64; SP_ABSENT on either side counts for nothing. */
void sp_tally_add(int64_t *to, int64_t v);
/* The weight of a record or sample at the selection's scale. */
int64_t sp_scale_weight(struct sp_selection *s, int64_t v, struct sp_str text);

#endif

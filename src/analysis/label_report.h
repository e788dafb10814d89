/* Which labels a profile has: their keys, how many values each has, and how much carries them. */
#ifndef SP_LABEL_REPORT_H
#define SP_LABEL_REPORT_H

#include "analysis/select.h"

struct sp_label_row {
    uint32_t key;
    uint64_t values;  /* that differ, on stacks and samples */
    int64_t weight;   /* of the selection, whose stacks have it; as sp_selection.kept */
    uint64_t samples; /* raw samples that have it */
};
struct sp_label_report {
    SP_VEC(struct sp_label_row) rows; /* by key */
    uint64_t samples;                 /* raw samples that there are */
};

/* Free on success only. */
spaa_status sp_label_report_of(struct sp_profile *p, const struct sp_selection *s, struct sp_diags *d,
                               struct sp_label_report *out);
void sp_label_report_free(struct sp_label_report *r);

#endif

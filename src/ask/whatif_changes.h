/*
 * What is to change: "parse=2x write=0 self:copy(int, char)=50%". A change ends at =FACTOR before a blank or
 * the end, so that names may have blanks.
 *
 *     Nx   N times as fast; below 1 slower
 *     P%   takes P % of what it took
 *     0    is gone
 */
#ifndef SP_WHATIF_CHANGES_H
#define SP_WHATIF_CHANGES_H

#include "analysis/whatif.h"

struct sp_changes {
    SP_VEC(struct sp_change) list;
    SP_VEC(char *) names; /* of each, as they were asked for */
};

/* A word of the command line that is a change, not a file. */
bool sp_change_is(const char *word);
/* Finds the functions; reported. Free whatever it returned. */
spaa_status sp_changes_parse(const struct sp_profile *p, const char *text, struct sp_diags *d,
                             struct sp_changes *out);
void sp_changes_free(struct sp_changes *x);
/* "2× as fast", "3× as slow", "gone", "as it is". */
void sp_change_words(struct sp_buf *b, const struct sp_change *c);

#endif

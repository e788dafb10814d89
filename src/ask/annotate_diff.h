/* annotate --diff: the lines of two versions of a function. */
#ifndef SP_ANNOTATE_DIFF_H
#define SP_ANNOTATE_DIFF_H

#include "ask/annotate.h"

enum sp_line_change { SP_LINE_SAME, SP_LINE_CHANGED, SP_LINE_ADDED, SP_LINE_REMOVED, SP_LINE_UNKNOWN };

/* A line of either version or both. */
struct sp_line_pair {
    uint32_t base_file, file; /* SP_NONE: in none */
    uint32_t base_line, line; /* 0: in none */
    enum sp_line_change change;
    bool shown;
    const struct sp_annotated_line *base, *now; /* weights; NULL */
};

struct sp_annotate_diff {
    struct sp_annotate *x; /* the new version */
    struct sp_profile *profile;
    struct sp_annotate base;
    bool has_lookup, has_selection;
    SP_VEC(struct sp_line_pair) rows;
    bool by_number, one_text, cut;
    bool partial; /* a profile carries a file in part */
    uint32_t renamed,
        renamed_base; /* the file that the function is in, which the base calls otherwise; SP_NONE */
    size_t known, chosen;
};

/* The text of a file is that which was compiled, as far as that can be known. */
bool sp_annotate_text_known(const struct sp_annotate *x, uint32_t file);
/* annotate_diff_pairs.c: d->rows, of the new version and the base. SPAA_ERR_NOMEM, reported. */
spaa_status sp_annotate_diff_pair(struct sp_annotate_diff *d);

#endif

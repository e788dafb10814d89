/* What the files of the question `annotate` share. */
#ifndef SP_ASK_ANNOTATE_H
#define SP_ASK_ANNOTATE_H

#include "analysis/annotate.h"
#include "analysis/source_text.h"
#include "ask/ratios.h"

/* Lines that are shown, one after the other, of one file. */
struct sp_annotate_range {
    uint32_t file, first, last;
    int64_t self, total; /* self: of its lines together; total: of its heaviest line */
};

struct sp_annotate {
    struct sp_asked asked;
    struct sp_function_lookup lookup;
    struct sp_annotation a;
    SP_VEC(struct sp_source_text) texts; /* beside a.files */
    size_t limit;                        /* lines with weight, at most */
    long context;
    SP_VEC(struct sp_annotate_range) ranges;  /* by file and line */
    SP_VEC(struct sp_annotate_range) missing; /* asked for, but the profile carries no text of them */
    size_t chosen, known;                     /* of the lines with weight: shown, and in all */
    int64_t chosen_self;
    struct sp_ratios ratios;                     /* --ratio */
    struct sp_ratio_part ratio_whole[SP_RATIOS]; /* of the function */
    struct sp_ratio_part *ratio_lines;           /* of each of a.lines, ratios.n after one another */
};

/* annotate_choose.c: the ranges. SPAA_ERR_NOMEM, reported; SPAA_ERR_IO. */
spaa_status sp_annotate_choose(struct sp_annotate *x);
/* The weight of a line; NULL: it has none. */
const struct sp_annotated_line *sp_annotate_line(const struct sp_annotate *x, uint32_t file, uint32_t line);

/* Whether a function as debug information names it is one of those that are asked about. */
bool sp_annotate_is_asked(const struct sp_annotate *x, const char *func);
/* Characters of the budget that there are for rows; SIZE_MAX: any. False: reported. */
bool sp_annotate_room(const struct sp_annotate *x, size_t *out);

/* annotate_ranges.c: tables. */
extern const struct sp_table_decl *const sp_annotate_tables[];
void sp_annotate_put(struct sp_annotate *x);

/* annotate_text.c: the texts of its files. */
spaa_status sp_annotate_sources(struct sp_annotate *x, const struct sp_source_opts *how, struct sp_diags *d);
/* A line of source into a cell: for people with tabs as blanks, as terminals show them. */
void sp_annotate_put_source(struct sp_annotate *x, struct sp_answer_table *t, size_t column,
                            struct sp_str text);

/* annotate_diff.c: --diff BASE, lines for people and the table. */
extern const struct sp_table_decl sp_annotate_compared;
spaa_status sp_annotate_diff(struct sp_annotate *x);

/* annotate_ratio.c: a usage error with --asm. Where none is asked for nothing is done. */
spaa_status sp_annotate_ratios(struct sp_annotate *x);
/* In the last row. */
void sp_annotate_put_ratios(struct sp_annotate *x, struct sp_answer_table *t, size_t first,
                            const struct sp_annotated_line *l);

/* annotate_words.c: facts, and what is said above the tables. */
extern const struct sp_answer_column sp_annotate_facts[];
void sp_annotate_say(struct sp_annotate *x);
/* How much of the total is of frames that were inferred, if any; before: what is said first. */
void sp_annotate_say_inferred(struct sp_answer *a, struct sp_buf *b, const char *before,
                              const struct sp_annotate *x);
/* Where a file was, and where its text was found; before: what is said first. */
void sp_annotate_say_source(struct sp_annotate *x, const char *before, const struct sp_source_place *at,
                            const struct sp_source_text *t);

#endif

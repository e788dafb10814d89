/* The parts of `spaa diff`: cmd_diff.c reads and compares, diff_answer.c and diff_json.c tell. */
#ifndef SP_CLI_DIFF_H
#define SP_CLI_DIFF_H

#include "analysis/diff.h"
#include "analysis/regression_limits.h"
#include "answer.h"
#include "where.h"

/* Of the first run of a side. */
struct diff_side_words {
    struct sp_str event, metric, filters;
    const char *view;
};

struct diff_words {
    struct sp_str tool, unit; /* of the first base run */
    struct diff_side_words side[SP_SIDES];
    unsigned scale;
};

struct diff_answer {
    struct cli *c;
    struct sp_diff d;
    struct sp_limits fail_on;
    struct diff_words words;
    struct cli_where where[SP_SIDES];
    size_t limit;
    bool bounds[SP_SIDES]; /* it was said that totals of this side are bounds */
};

/* The verdict in words, without the leading CHANGED and so on. */
void diff_summary(const struct diff_answer *a, struct sp_buf *out);
/* What is said once: both sides have the same event, metric, view and filters. */
bool diff_sides_alike(const struct diff_answer *a);
const char *diff_headline(const struct sp_diff *d);
/* How rows were compared, in words; what that takes for granted: up to two, NULL ends. */
void diff_method(const struct diff_answer *a, struct sp_buf *out);
const char *const *diff_assumptions(enum sp_diff_method m);
/* A limit's verdict in words: which functions, by how much, what would be needed. */
void diff_limit_text(const struct diff_answer *a, const struct sp_limit *l, struct sp_buf *out);
/* Says on standard error which limits cannot be told: the answer itself may go to a file that nobody reads.
 */
void diff_limits_warn(const struct diff_answer *a);
/* Prints a table of n rows, of which it has the first `limit`; frees it and the buffer. */
int diff_end_table(const struct diff_answer *a, struct sp_table *t, struct sp_buf *b, size_t n, size_t limit,
                   const char *what);
/* x with so many digits after the point, and a plus where `sign`. "-" for what is not known. */
void diff_number(struct sp_buf *out, double x, unsigned digits, bool sign);
/* A command to ask next; false: there are no more. */
bool diff_next(const struct diff_answer *a, unsigned i, struct sp_buf *out);

/* A line for each binary that is compared under two names, or not for want of certainty. */
void diff_binaries_text(const struct diff_answer *a, struct sp_buf *out);
void diff_binaries_json(const struct diff_answer *a, struct sp_jw *w);

/* "now inlined into its callers (whole before, inlined now)": nothing where both sides were compiled alike.
 */
void diff_remark(const struct sp_diff_row *r, struct sp_buf *out);
void diff_remarks_text(const struct diff_answer *a);
void diff_remark_json(struct sp_jw *w, const struct sp_diff_row *r);
/* A function's name for a sentence: at most 72 columns, of templates and signatures what tells them apart
 * least. */
void diff_short_name(struct sp_buf *out, struct sp_str name);
/* Memory: bytes and blocks before shares. */
void diff_memory_summary(const struct diff_answer *a, struct sp_buf *out);
int diff_memory_table(struct diff_answer *a);
int diff_memory_one_sided(struct diff_answer *a, const struct sp_diff_row *rows, size_t n, unsigned side);
void diff_memory_total_json(struct sp_jw *w, const struct diff_answer *a);
void diff_memory_json(struct sp_jw *w, const struct diff_answer *a, const struct sp_diff_row *r,
                      unsigned family);
/* "significant", as tables have it. */
const char *diff_verdict_word(const struct sp_diff_test *t);

int diff_answer_text(struct diff_answer *a);
int diff_answer_json(struct diff_answer *a);

#endif

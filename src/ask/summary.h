/* summary, in parts: what it gathers, its tables, its words. */
#ifndef SP_SUMMARY_H
#define SP_SUMMARY_H

#include "analysis/findings.h"
#include "analysis/own_fold.h"
#include "analysis/top.h"
#include "ask/common.h"
#include "ask/findings_words.h"

/* Rows that a section has at most. */
enum {
    SP_SUMMARY_HOT = 5,
    SP_SUMMARY_FINDINGS = 8,
    SP_SUMMARY_NEXT = 3,
    SP_SUMMARY_SHARES = 5,
    SP_SUMMARY_CALLEES = 3
};

struct sp_summary {
    struct sp_asked x;
    struct sp_quality quality;
    struct sp_top threads, dsos, processes;
    struct sp_findings findings;
    struct sp_own_fold fold;
    struct sp_said_names names; /* of the functions that words are about */
    uint32_t hottest;           /* function to ask about, or SP_NONE */
    /* What stands in the answer; NULL where memory is exhausted. */
    struct sp_answer_table *by_process, *by_thread, *by_dso, *hot, *path, *found;
};

extern const struct sp_answer_column sp_summary_facts[]; /* name NULL ends */
extern const struct sp_table_decl *const sp_summary_tables[];

/* All but the tables; the selection was made. Free whatever it returned. */
spaa_status sp_summary_gather(struct sp_summary *x);
void sp_summary_free(struct sp_summary *x); /* the selection, too */

/* Facts and tables, each with the words in its place. */
void sp_summary_head(struct sp_summary *x);
void sp_summary_shares(struct sp_summary *x);
void sp_summary_hot(struct sp_summary *x);
void sp_summary_path(struct sp_summary *x);
void sp_summary_found(struct sp_summary *x);

/* Lines alone. */
void sp_summary_say_incomplete(struct sp_summary *x);
void sp_summary_say_shares(struct sp_summary *x, const char *label, const struct sp_top *top,
                           const struct sp_answer_table *t);
void sp_summary_say_quality(struct sp_summary *x);
void sp_summary_say_hot(struct sp_summary *x);
void sp_summary_say_path(struct sp_summary *x);
void sp_summary_say_finding(struct sp_summary *x, const struct sp_finding *f, size_t row);
void sp_summary_say_next(struct sp_summary *x);

/* The next diagnostic of something missing from the input from i on, the first of its code; NULL: there is
 * none. */
const struct sp_diag *sp_summary_missing(const struct sp_summary *x, size_t *i);
bool sp_summary_is_irq(const struct sp_summary *x, uint32_t function);

#endif

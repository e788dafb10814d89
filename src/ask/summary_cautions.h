/* What the files that note warnings, and what cannot be known, share. */
#ifndef SP_SUMMARY_CAUTIONS_H
#define SP_SUMMARY_CAUTIONS_H

#include "ask/summary.h"

/* summary_noted.c. b: the statement, which is taken; `settle` likewise, NULL: none. title NULL: it cannot be
 * known. */
void sp_caution_add(struct sp_summary *x, const char *id, const char *title, struct sp_buf *b,
                    struct sp_buf *settle);
const struct sp_finding *sp_caution_finding(const struct sp_summary *x, enum sp_finding_kind kind);
/* "19 % of CPU" */
void sp_caution_share(struct sp_buf *b, const struct sp_summary *x, int64_t v);
/* " (libstdc++ 28 %, libc 18 %, …)": names of libraries without version. */
void sp_caution_dsos(struct sp_buf *b, const struct sp_summary *x, const struct sp_dso_weights *w,
                     int64_t of);
/*
 * "perf record -e EVENT -F 999 HOW srv 400", as the recording was made; " …" for what is not known. `with`
 * stands behind the program; NULL: nothing.
 */
void sp_caution_record_with(struct sp_buf *b, const struct sp_summary *x, const char *how, const char *with);
void sp_caution_record(struct sp_buf *b, const struct sp_summary *x, const char *how);
bool sp_caution_of_perf(const struct sp_summary *x);

/* summary_data.c: what the data lacks. */
void sp_caution_callers(struct sp_summary *x);
void sp_caution_unchecked(struct sp_summary *x, struct sp_buf *b);
void sp_caution_no_callers(struct sp_summary *x);
void sp_caution_names(struct sp_summary *x, struct sp_buf *b);
void sp_caution_losses(struct sp_summary *x, struct sp_buf *b);
void sp_caution_few(struct sp_summary *x, struct sp_buf *b);

#endif

/* Findings in words, the functions in them by short names, and the commands that show more of them. */
#ifndef SP_FINDINGS_WORDS_H
#define SP_FINDINGS_WORDS_H

#include "analysis/findings.h"
#include "ask/said_names.h"

/* Adds the statement. */
void sp_finding_text(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                     const struct sp_finding *f);
/* The question that shows more; what it needs to hold is written into `word`. */
struct sp_next sp_finding_next(const struct sp_asked *x, const struct sp_finding *f, struct sp_buf *word);
/* Adds the same as a line for a shell. */
void sp_finding_command(struct sp_buf *b, const struct sp_asked *x, const struct sp_finding *f);

/* SP_FIND_FEW: of which shares the intervals are told, in percent. */
enum { SP_FINDING_SHARES = 3 };
extern const double sp_finding_shares[SP_FINDING_SHARES];

#endif

/* Findings in words, and the commands that show more of them. */
#ifndef SP_FINDINGS_TEXT_H
#define SP_FINDINGS_TEXT_H

#include "analysis/findings.h"
#include "answer.h"

/* The statement, in a->b. */
void finding_text(struct answer *a, const struct sp_finding *f);
/* The command that shows more; what it needs to hold is written into `word`. The answer must be ready. */
struct answer_next finding_next(struct answer *a, const struct sp_finding *f, struct sp_buf *word);
/* The same as a line for a shell. */
void finding_command(struct answer *a, const struct sp_finding *f, struct sp_buf *out);

/* SP_FIND_FEW: of which shares the intervals are told, in percent. */
enum { FINDING_SHARES = 3 };
extern const double finding_shares[FINDING_SHARES];

#endif

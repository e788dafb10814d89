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

/* Findings of a brief: the rules (docs/findings.md), and what the data itself is like, which no brief
 * numbers. */
bool sp_finding_is_rule(enum sp_finding_kind kind);
/*
 * A finding as a brief says it, line by line to `take`, each without its end and at most 120 columns wide: of
 * a rule first "NUMBER TITLE   80 % ±2.5 of CPU   caller > caller > callee   file:line", then, two columns
 * further in, evidence, remedy, bound, and what would confirm it. number 0: it has none. A rule that lies
 * nearly all beneath another has no lines: sp_finding_beneath says those.
 */
void sp_finding_lines(const struct sp_asked *x, const struct sp_said_names *n, const struct sp_findings *all,
                      size_t i, unsigned number, void (*take)(void *arg, const struct sp_buf *line),
                      void *arg);
/* "allocation 15 %, dynamic_cast 27 %: nearly all beneath 1, not extra": appended; nothing where none does.
 */
void sp_finding_beneath(struct sp_buf *b, const struct sp_asked *x, const struct sp_said_names *n,
                        const struct sp_findings *all);

/* Adds the functions that the words are about to the names that are said; false: out of memory. */
bool sp_findings_say_names(const struct sp_findings *all, size_t most, struct sp_said_names *n);
/* Adds "REGEX COMPILED PER CALL", "WRITE SYSCALLS": of a rule. */
void sp_finding_title(struct sp_buf *b, const struct sp_finding *f);
/* By what the whole could be divided at most, without all of it; 0: that is not known. */
double sp_finding_bound(const struct sp_finding *f);

/* SP_FIND_FEW: of which shares the intervals are told, in percent. */
enum { SP_FINDING_SHARES = 3 };
extern const double sp_finding_shares[SP_FINDING_SHARES];

#endif

/* The findings of an answer as a table: JSON, CSV, SQL and C have them from here. */
#ifndef SP_FINDINGS_TABLE_H
#define SP_FINDINGS_TABLE_H

#include "ask/findings_words.h"

extern const struct sp_table_decl sp_findings_table, sp_findings_ranges, sp_findings_callers, sp_findings_way,
    sp_findings_parts;
/* For the list of the tables of a question. */
#define SP_FINDINGS_TABLES                                                                                   \
    &sp_findings_table, &sp_findings_ranges, &sp_findings_callers, &sp_findings_way, &sp_findings_parts

/*
 * Adds the table with a row for each of the first `most` findings; the others are told as left out. keep: as
 * in struct sp_answer_table; 0: no budget cuts it. NULL: out of memory.
 */
struct sp_answer_table *sp_findings_put(struct sp_asked *x, const struct sp_said_names *n,
                                        const struct sp_findings *f, size_t most, unsigned keep);

#endif

/*
 * The lines of two versions of a source file that are the same: a longest common subsequence of their texts
 * without the blanks around them, with a limit on what it costs.
 */
#ifndef SP_LINE_MATCH_H
#define SP_LINE_MATCH_H

#include "analysis/source_text.h"

/*
 * Per line that `text` has (sp_source_held) 1 + the number of that which `base` has of it, or 0: ascending.
 * To be freed; NULL: memory is exhausted. *cut: it would have cost too much, so that some that are the same
 * may not be matched. Where lines of a text are missing, what stands between does not hold others in their
 * place: then only lines that are there once count, with what is the same around them; of one file, its
 * numbers.
 */
uint32_t *sp_match_lines(const struct sp_source_text *base, const struct sp_source_text *text, bool *cut);
/* A line that is not the other's, but most of it: half of both texts at their beginnings and ends. */
bool sp_lines_alike(struct sp_str a, struct sp_str b);
/* Without blanks around it. */
struct sp_str sp_line_trimmed(struct sp_str line);

#endif

/*
 * The lines of two versions of a source file that are the same: a longest common subsequence of their texts
 * without the blanks around them, with a limit on what it costs.
 */
#ifndef SP_LINE_MATCH_H
#define SP_LINE_MATCH_H

#include "analysis/source_text.h"

/*
 * Per line of `text` (from 1 on) the line of `base` that it is, or 0: ascending. To be freed; NULL: memory is
 * exhausted. *cut: it would have cost too much, so that some that are the same may not be matched.
 */
uint32_t *sp_match_lines(const struct sp_source_text *base, const struct sp_source_text *text, bool *cut);
/* A line that is not the other's, but most of it: half of both texts at their beginnings and ends. */
bool sp_lines_alike(struct sp_str a, struct sp_str b);
/* Without blanks around it. */
struct sp_str sp_line_trimmed(struct sp_str line);

#endif

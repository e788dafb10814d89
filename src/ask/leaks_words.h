/* What leaks says in words. */
#ifndef SP_LEAKS_WORDS_H
#define SP_LEAKS_WORDS_H

#include "analysis/leaks_callers.h"
#include "base/buf.h"

/*
 * "copy_of < remember < main 96.00%; 2 other callers": for whom a function allocates, how much of the row
 * goes that way, and what doubts it. full: names whole, and all of them.
 */
void sp_leak_callers_text(struct sp_buf *b, const struct sp_profile *p, const struct sp_leak_callers *c,
                          bool full);

#endif

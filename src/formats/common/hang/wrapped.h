/*
 * A row of a hang report that mail clients and editors wrapped: the lines below it that may be its end, until
 * something shows that they are not.
 */
#ifndef SP_HANG_WRAPPED_H
#define SP_HANG_WRAPPED_H

#include "base/arena.h"
#include "base/diag.h"
#include "formats/common/hang/line.h"

enum { SP_HANG_WRAPPED_LINES = 8, SP_HANG_WRAPPED_LONGEST = 8192 };

struct sp_hang_wrapped {
    struct sp_span text, whole; /* with all lines that may be its parts; with those that are */
    struct sp_span lines[SP_HANG_WRAPPED_LINES]; /* below it: whole_n of n are its parts */
    size_t n, whole_n;
};

static inline bool sp_hang_wrapped_is_full(const struct sp_hang_wrapped *w)
{
    return w->n == SP_HANG_WRAPPED_LINES || w->text.n > SP_HANG_WRAPPED_LONGEST;
}
/*
 * The line, whose text follows behind `between`, may be the next part: it is where the row has more parts
 * with it, as `parts` counts them (*torn: one is not over). The text is kept in `texts`; false: out of
 * memory.
 */
bool sp_hang_wrapped_join(struct sp_hang_wrapped *w, struct sp_span line, const char *between,
                          struct sp_span text, int (*parts)(struct sp_span s, bool *torn), struct sp_buf *b,
                          struct sp_arena *texts);
/* Of a row that stands in this line: that it was put together, if it was. */
void sp_hang_wrapped_say(const struct sp_hang_wrapped *w, uint32_t line, struct sp_diags *d);

#endif

/* What is hot in a row of timeline, in words. */
#ifndef SP_TIMELINE_HOT_H
#define SP_TIMELINE_HOT_H

#include "analysis/timeline.h"
#include "ask/said_names.h"

enum { SP_TIMELINE_HOT = 3 }; /* functions, or kinds, of a row */

struct sp_timeline_hot {
    struct sp_asked *x;
    const struct sp_timeline *t;
    struct sp_stack_kinds kinds; /* where the leaf functions say nothing; else empty */
    struct sp_said_names said;
};
/* What weight counts for. */
spaa_status sp_timeline_hot_kinds(struct sp_timeline_hot *x);
/* "parse", "lock in lookup", "for a CPU", "http-* futex". */
void sp_timeline_hot_name(struct sp_timeline_hot *x, struct sp_buf *b, uint32_t what);
/* The names of all that is hot, for people as short as tells them apart. */
spaa_status sp_timeline_hot_names(struct sp_timeline_hot *x);
/* "parse 61%, read 12%", and "″ 60%, 13%" below it, of the same: into a column of the last row. */
void sp_timeline_hot_put(struct sp_timeline_hot *x, struct sp_answer_table *t, size_t column,
                         const struct sp_bucket *y);

#endif

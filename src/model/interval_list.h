/* Intervals while they are found, in an unlinked file: there may be more of them than memory. */
#ifndef SP_INTERVAL_LIST_H
#define SP_INTERVAL_LIST_H

#include "model/intervals.h"

enum { SP_INTERVAL_BATCH = 2048 };

struct sp_interval_list {
    struct sp_diags *d;
    int fd; /* -1: not begun */
    uint64_t n;
    size_t batched;
    struct sp_interval *batch;
};

spaa_status sp_interval_list_begin(struct sp_interval_list *l, struct sp_diags *d);
void sp_interval_list_free(struct sp_interval_list *l); /* also of one that did not begin, with fd -1 */
spaa_status sp_interval_list_add(struct sp_interval_list *l, const struct sp_interval *i);
/*
 * What was found, into out->v: by thread, each thread's in the order in which they came. place: the number of
 * a thread in out->threads by that in the list; SP_NONE: the thread is left out, and has none. Sets first and
 * n of the threads.
 */
spaa_status sp_interval_list_settle(struct sp_interval_list *l, const uint32_t *place,
                                    struct sp_intervals *out);

#endif

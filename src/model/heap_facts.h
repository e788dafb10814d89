/*
 * What readers say of a whole program's memory beside the stacks: in `x_heaptrack` of the header, and in
 * that or `x_massif` of each window, so that it is in SPAA, too.
 */
#ifndef SP_HEAP_FACTS_H
#define SP_HEAP_FACTS_H

#include "model/profile.h"

/* All SP_ABSENT where it is not known. */
struct sp_heap_totals {
    int64_t peak_bytes, peak_ns; /* the most that was live at once, and when (ns from the start) */
    int64_t peak_rss;            /* bytes */
};
void sp_heap_totals_of(const struct sp_profile *p, struct sp_heap_totals *out);

struct sp_heap_window {
    int64_t live;   /* bytes live at its end */
    int64_t most;   /* the most at any moment of it */
    int64_t rss;    /* bytes, the most that was seen in it */
    bool no_stacks; /* massif: it ends with a snapshot of totals, whose stacks are not known */
};
void sp_heap_window_of(const struct sp_profile *p, const struct sp_window *w, struct sp_heap_window *out);

#endif

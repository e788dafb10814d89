/* What building buckets (timeline.c) and windows for them (timeline_windows.c) share. Private. */
#ifndef SP_TIMELINE_PRIVATE_H
#define SP_TIMELINE_PRIVATE_H

#include "analysis/timeline.h"

/*
 * Sample numbers in the order of their buckets; first[i] is where bucket i begins. Intervals stand in each
 * that they reach into. The caller frees both. False: out of memory.
 */
bool sp_timeline_sort_samples(const struct sp_sample_times *m, const struct sp_timeline *t, size_t n,
                              size_t **first, uint32_t **order);

#endif

/*
 * Buckets of distributions by their labels, which tracers write differently:
 *
 *     DTrace     16          from 16 up to the next label, which the text may not have
 *                < 0         below 0
 *                >= 100      100 and more
 *     bpftrace   [16, 32)    [1K, 2K)    [5]    (..., 0)    [100, ...)
 *
 * A lower bound alone is a power of two where all of an event's labels are (quantize); else the labels stand
 * at equal distances (lquantize), which are told by the labels where there are enough of them.
 */
#ifndef SP_AGGREGATION_BUCKETS_H
#define SP_AGGREGATION_BUCKETS_H

#include "base/buf.h"
#include "model/profile.h"

struct sp_agg_range {
    bool has_low, has_high;
    int64_t low, high; /* from low up to, but not with, high */
};

/* The lower bounds of one event's labels; zeroed before the first. */
struct sp_agg_scale {
    bool any, linear;
    int64_t first, least, most;
    uint64_t step, points; /* the greatest distance that all have; how many widened the range */
};

void sp_agg_scale_add(struct sp_agg_scale *s, struct sp_str label);
/* False: the label is none of a bucket. */
bool sp_agg_range_of(const struct sp_agg_scale *s, struct sp_str label, struct sp_agg_range *out);
bool sp_agg_range_equal(struct sp_agg_range a, struct sp_agg_range b);
/* "[16, 32)", "[5]", "(..., 0)": as bpftrace prints it. */
bool sp_agg_range_bpftrace(struct sp_agg_range r, struct sp_buf *out);
/* "16", "< 0", ">= 100", as DTrace does: an upper bound beside a lower one is for the reader to tell. */
bool sp_agg_range_dtrace(struct sp_agg_range r, struct sp_buf *out);
/* 2048 is "2K". */
bool sp_agg_put_scaled(struct sp_buf *b, int64_t v);

#endif

/*
 * What writers of aggregations share: the stacks of one event as texts with sums, in the order of tracers.
 *
 * Equal texts become one row, as their metric combines; a row with a distribution, or of averages, stays
 * alone. sp_agg_rows_sort puts them in ascending order of their values, ties by text. Functions that return
 * bool fail for want of memory only.
 */
#ifndef SP_AGGREGATION_ROWS_H
#define SP_AGGREGATION_ROWS_H

#include "base/buf.h"
#include "formats/format.h"

struct sp_agg_row {
    size_t at, n;   /* its text */
    __int128 value; /* rounded to an integer */
    uint32_t stack; /* of one that stays alone: see sp_agg_buckets; SP_NONE: of several */
};

struct sp_agg_rows {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_buf texts;
    SP_VEC(struct sp_agg_row) rows;
    struct sp_map map;
    SP_VEC(uint32_t) kernel, user; /* of sp_agg_sides */
    bool rounded;
};

struct sp_agg_bucket {
    struct sp_str label; /* "16", "<0", "[64K, 128K)" */
    int64_t count;
    double at; /* what it starts with, for order */
};

void sp_agg_rows_init(struct sp_agg_rows *r, struct sp_profile *p, struct sp_diags *d);
void sp_agg_rows_free(struct sp_agg_rows *r);
/*
 * The kernel and user frames of a stack, leaf first, into r->kernel and r->user: of a linked pair those of
 * both records. *skip is set for the record of a pair that is not to be counted.
 */
bool sp_agg_sides(struct sp_agg_rows *r, uint32_t stack, bool *skip);
/* Does the stack have weights "bucket:…"? They, in order; the vector is the caller's. */
struct sp_agg_buckets {
    SP_VEC(struct sp_agg_bucket) list;
};
bool sp_agg_buckets(const struct sp_profile *p, uint32_t stack, struct sp_agg_buckets *out);
/* A weight that is there as these formats print it: a fraction is rounded, which sp_agg_rows_sort says. */
__int128 sp_agg_integer(struct sp_agg_rows *r, uint32_t stack, uint32_t metric);
/* Adds the stack's weight to the row of this text. */
bool sp_agg_rows_add(struct sp_agg_rows *r, const char *text, size_t n, uint32_t stack, uint32_t metric,
                     bool alone);
void sp_agg_rows_sort(struct sp_agg_rows *r);
void sp_agg_rows_clear(struct sp_agg_rows *r); /* for the next event */

#endif

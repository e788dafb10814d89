/*
 * Lines of frames that were met before: an aggregation repeats them, so that most of its text needs no more
 * than to be found here.
 *
 * A line is the key as it stands, with its blanks and without its newline.
 */
#ifndef SP_AGGREGATION_LINES_H
#define SP_AGGREGATION_LINES_H

#include "base/arena.h"
#include "base/map.h"
#include "formats/common/aggregation/aggregation.h"

struct sp_agg_line {
    struct sp_str text; /* in the arena */
    uint32_t first;     /* its frames in the aggregation: several where methods were inlined */
    uint16_t count;
    uint16_t indent; /* 0, or what its reader found */
    uint16_t within; /* it is a frame in blocks that are indented so much at most; UINT16_MAX: anywhere */
    uint8_t told;    /* see sp_agg_block */
};

struct sp_agg_lines {
    SP_VEC(struct sp_agg_line) list;
    struct sp_map map;
    struct sp_arena texts;
};

void sp_agg_lines_init(struct sp_agg_lines *k);
void sp_agg_lines_free(struct sp_agg_lines *k);
/* The line, valid until the next is added; NULL: it is not known. */
const struct sp_agg_line *sp_agg_lines_find(const struct sp_agg_lines *k, const char *p, size_t n);
/*
 * Adds a line that is not known yet; NULL: out of memory. Of `about` first, count, indent and within count.
 */
const struct sp_agg_line *sp_agg_lines_add(struct sp_agg_lines *k, const struct sp_agg *a, const char *p,
                                           size_t n, const struct sp_agg_line *about);
/* The frames of a line go to the block in work. */
bool sp_agg_lines_push(struct sp_agg *a, const struct sp_agg_line *l);

#endif

/*
 * Lines of frames that were met before: an aggregation repeats them, so that most of its text needs no more
 * than to be found here.
 *
 * A line is the key as it stands, with its blanks and without its newline. What it costs to find one decides
 * how fast such texts are read: a line of usual length is found by a few of its bytes, and what is known of
 * it stands before its text.
 */
#ifndef SP_AGGREGATION_LINES_H
#define SP_AGGREGATION_LINES_H

#include "base/map.h"
#include "formats/aggregation.h"

struct sp_agg_line {
    uint32_t n;     /* its length */
    uint32_t first; /* its frames in the aggregation: several where methods were inlined */
    uint16_t count;
    uint16_t indent; /* 0, or what its reader found */
    uint16_t within; /* it is a frame in blocks that are indented so much at most; UINT16_MAX: anywhere */
    uint8_t told;    /* see sp_agg_block */
    char text[];
};

struct sp_agg_line_part { /* of a line and its text */
    uint64_t words[8];
};

struct sp_agg_lines {
    SP_VEC(struct sp_agg_line_part) parts; /* the first one is of no line, one behind the last may be read */
    struct sp_map map;                     /* numbers are those of the lines' first parts */
    uint32_t *places;                      /* numbers by a hash's upper bits, 0: none; see the source */
    size_t count, room;                    /* lines, and how many there may be before places are added */
    unsigned shift;
};

void sp_agg_lines_free(struct sp_agg_lines *k); /* a zeroed one is empty and valid */
static inline const struct sp_agg_line *sp_agg_lines_at(const struct sp_agg_lines *k, uint32_t number)
{
    return (const struct sp_agg_line *)(const void *)&k->parts.v[number];
}
static inline size_t sp_agg_line_parts(size_t n)
{
    return (offsetof(struct sp_agg_line, text) + n) / sizeof(struct sp_agg_line_part) + 1;
}
/* The number of a line; SP_NONE: it is not known. */
uint32_t sp_agg_lines_find(const struct sp_agg_lines *k, const char *p, size_t n);
/* Adds a line that is not known yet; its number, or SP_NONE. Of `about` first, count, indent and within
 * count. */
uint32_t sp_agg_lines_add(struct sp_agg_lines *k, const struct sp_agg *a, const char *p, size_t n,
                          const struct sp_agg_line *about);
/* The frames of a line go to the block in work. */
bool sp_agg_lines_push(struct sp_agg *a, const struct sp_agg_line *l);
/*
 * The lines at p as long as they are known ones and whole, as frames of the block in work, which is indented
 * so much: *used is how many bytes that were, and they are counted in *line.
 */
bool sp_agg_lines_take(const struct sp_agg_lines *k, struct sp_agg *a, size_t indent, const char *p,
                       const char *end, size_t *used, uint64_t *line);

#endif

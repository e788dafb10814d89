/* Time in cells of equal length, by kinds: how much of each kind is in a cell. */
#ifndef SP_SCHEDULE_CELLS_H
#define SP_SCHEDULE_CELLS_H

#include "base/buf.h"

#include <stdint.h>

struct sp_schedule_cells {
    int64_t lo, hi; /* ns */
    size_t n, kinds;
    int64_t *ns; /* by cell, kind */
};

bool sp_schedule_cells_init(struct sp_schedule_cells *c, int64_t lo, int64_t hi, size_t n, size_t kinds);
void sp_schedule_cells_clear(struct sp_schedule_cells *c);
void sp_schedule_cells_free(struct sp_schedule_cells *c);
/* [start, end) is of this kind. */
void sp_schedule_cells_add(struct sp_schedule_cells *c, size_t kind, int64_t start, int64_t end);
int64_t sp_schedule_cells_width(const struct sp_schedule_cells *c, size_t cell); /* ns; at least 1 */
/* The ns of a kind in cells [from, to). */
int64_t sp_schedule_cells_sum(const struct sp_schedule_cells *c, size_t kind, size_t from, size_t to);

/* A row of a picture: a cell is `step` px wide. */
struct sp_schedule_cells_row {
    unsigned x, y, step, height; /* px */
    int64_t full;                /* what the height is, in thousandths of a cell's length: 1000 for shares */
};
/* The data of an SVG path: the kind's part of each cell, on top of the kinds before it. Nothing: none is
 * there. */
void sp_schedule_cells_path(struct sp_buf *b, const struct sp_schedule_cells *c, size_t kind,
                            const struct sp_schedule_cells_row *row);

#endif

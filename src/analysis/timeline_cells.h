/*
 * Counts over time: the samples of a selection in equal cells, all of them and those of each function.
 *
 * Thing 0 is all samples; then functions, by total and by self, of those that have most.
 */
#ifndef SP_TIMELINE_CELLS_H
#define SP_TIMELINE_CELLS_H

#include "analysis/sample_times.h"
#include "analysis/select.h"

enum { SP_CELLS_ALL = 0 };

struct sp_cell_sample {
    uint32_t row, cell;
    int64_t weight, time;
};
struct sp_cells {
    struct sp_cell_sample *list; /* by row */
    size_t samples;
    int64_t start, end; /* the samples are in [start, end) */
    size_t n;           /* cells */
    size_t things;
    uint32_t *counts;      /* things * n */
    unsigned char *same;   /* per thing: another one is the same */
    unsigned char *always; /* per thing: nine tenths of the samples have it */
    uint32_t *total_thing; /* per function; 0: it is none */
    uint32_t *self_thing;
    size_t looked, of; /* functions that are things, of those that have samples */
};

static inline const uint32_t *sp_cells_of(const struct sp_cells *c, size_t thing)
{
    return c->counts + thing * c->n;
}
/* Where a cell begins. */
int64_t sp_cell_at(const struct sp_cells *c, size_t cell);
/* Reported where the metric is not known for each sample. Free whatever it returned. */
spaa_status sp_cells_make(struct sp_selection *s, const struct sp_sample_times *m, struct sp_diags *d,
                          struct sp_cells *out);
void sp_cells_free(struct sp_cells *c);

#endif

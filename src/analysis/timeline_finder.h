/* Phases, in parts: how they are found, and what makes them differ. */
#ifndef SP_TIMELINE_FINDER_H
#define SP_TIMELINE_FINDER_H

#include "analysis/timeline_cells.h"
#include "analysis/timeline_phases.h"

/* What one thing shows. */
struct sp_phase_candidate {
    struct sp_stretches stretches;
    size_t thing;  /* of the cells */
    double score;  /* of all stretches */
    size_t covers; /* cells */
    bool dropped;
};

struct sp_phase_finder {
    struct sp_selection *s;
    const struct sp_own *own;
    struct sp_diags *d;
    struct sp_cells cells;
    SP_VEC(struct sp_phase_candidate) found;
    double spread[2][SP_SCAN_SIZES]; /* of the rate of samples, of shares of functions */
    struct sp_phases *out;
};

/* How a thing of the cells is scanned. */
static inline struct sp_scan sp_finder_scan(const struct sp_phase_finder *x, size_t thing)
{
    bool all = thing == SP_CELLS_ALL;
    return (struct sp_scan){.k = sp_cells_of(&x->cells, thing),
                            .e = all ? NULL : sp_cells_of(&x->cells, SP_CELLS_ALL),
                            .n = x->cells.n,
                            .things = (double)x->cells.things,
                            .least = x->cells.n / 200 + 1,
                            .spread = x->spread[!all],
                            .more = true,
                            .less = all};
}
/* Fills the weights and samples of a phase, and its functions; false: out of memory. */
bool sp_phase_account(struct sp_phase_finder *x, const struct sp_stretches *list, struct sp_phase *phase);

#endif

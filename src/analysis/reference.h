/*
 * What functions are measured against where few of them speak: those whose shares moved alike from one side
 * to the other. Shares of all the others shrink when one function grows, by one factor; most functions, and
 * what costs the same a run, agree in that factor, and what grew does not. Numbers in, numbers out.
 *
 * The factor is the mode of the functions' ratios: the one that most of them have within what chance gives
 * each of them, a function that few samples tell of counting for little. Where two factors fit nearly
 * alike (one of two functions grew, or the other shrank), there is none.
 */
#ifndef SP_REFERENCE_H
#define SP_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* Counts per row and run, [row][run], and per run of everything; the first `base` runs are the base. */
struct sp_reference_data {
    const double *counts, *totals;
    size_t rows, runs, base;
    double floor; /* the least dispersion: see sp_quasi */
    /* Log ratio that shares of functions have which cost the same a run, with its standard error, where runs
     * show that they all do the same work; else NaN. */
    double same_work, same_work_se;
};

struct sp_reference {
    bool found;
    double shift, var;     /* log ratio of new over base of the shares of what agrees, and its variance */
    size_t agree, rows;    /* of so many with weight on both sides */
    unsigned char *agrees; /* per row */
};

/* False: out of memory. Not found: no function disagrees, or it cannot be told which do. */
bool sp_reference_find(const struct sp_reference_data *x, struct sp_reference *out);
void sp_reference_free(struct sp_reference *r);

#endif

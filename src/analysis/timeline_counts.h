/* Counts of cells, of a scan (analysis/timeline_scan.h), and how much they vary beyond Poisson's. */
#ifndef SP_TIMELINE_COUNTS_H
#define SP_TIMELINE_COUNTS_H

#include "analysis/timeline_scan.h"

struct sp_counts {
    double k, e;
};

static inline double sp_cell_e(const struct sp_scan *x, size_t i)
{
    return x->e ? (double)x->e[i] : 1;
}

static inline struct sp_counts sp_counts_of(const struct sp_scan *x, size_t lo, size_t hi)
{
    struct sp_counts c = {0, 0};
    for (size_t i = lo; i < hi; i++) {
        c.k += (double)x->k[i];
        c.e += sp_cell_e(x, i);
    }
    return c;
}

static inline double sp_rate_of(struct sp_counts c)
{
    return (c.k > 0.5 ? c.k : 0.5) / (c.e > 0 ? c.e : 1);
}

/* Within these stretches, of rate r1, and between them in [from, to), of rate r0; at the scale of both. */
double sp_scan_dispersion(const struct sp_scan *x, size_t from, size_t to, const struct sp_stretch *in,
                          size_t n, double r1, double r0);

#endif

/*
 * Stretches of time in which something is met more (or less) often than in the rest: plain counts in,
 * stretches out, no profile in sight.
 *
 * Time is cut into cells. `k` is how often a thing was met in each, `e` how often it could have been: the
 * samples of the cell for the share of a function, 1 for the rate of all samples. A scan statistic: of all
 * intervals the one that is most likely a stretch of its own, by the likelihood ratio of Poisson counts,
 * whose threshold is corrected for all intervals of cells and for all things that are looked at (Bonferroni).
 * Things do not come one by one (a call is longer than the time between samples), so the ratio is divided by
 * how much more counts vary, within the stretches and within the rest, than Poisson's do; over blocks of an
 * eighth of the interval, twice that, …, of which the largest counts. Smaller blocks tell nothing of it: work
 * that takes turns differs much from one turn to the next, and hardly at all from second to second. That does
 * not see calls which are as long as a stretch: how long calls are in general is told by all functions
 * together (`spread`).
 *
 * What comes back again and again, none of which stands out from all the others, is looked for by a second
 * way: two states, each switch between them costs; each stretch has to pass the threshold by itself.
 */
#ifndef SP_TIMELINE_SCAN_H
#define SP_TIMELINE_SCAN_H

#include "base/vec.h"

#include <stdint.h>

enum {
    SP_SCAN_LEAST = 10, /* counts of a stretch */
    SP_SCAN_MOST = 64,  /* stretches of one thing */
    SP_SCAN_SIZES = 8   /* of blocks: 1, 2, 4, … cells */
};

struct sp_scan {
    const uint32_t *k, *e; /* per cell; e NULL: 1 */
    size_t n;
    double things;   /* how many are scanned, for the threshold */
    size_t least;    /* cells of a stretch that stands alone */
    bool more, less; /* which stretches are looked for */
    /* How much counts vary beyond Poisson's, at least, in blocks of 1 << i cells: sp_scan_spread; NULL: 1. */
    const double *spread;
};

struct sp_stretch {
    size_t lo, hi;             /* cells [lo, hi) */
    size_t lo_doubt, hi_doubt; /* so many cells to both sides may be the boundary, with 95 % confidence */
    double score;              /* likelihood ratio (log), divided by the dispersion */
    double p;                  /* corrected for intervals and things; at most 1 */
    bool more;                 /* met more often than in the rest, not less */
};
struct sp_stretches {
    SP_VEC(struct sp_stretch) list; /* in time; of one sign do not touch each other */
};

/*
 * How much counts of neighbouring blocks differ beyond chance, of this size: the median over pairs of
 * neighbours, which a few boundaries of phases do not move. 0: too few counts to say.
 */
double sp_scan_spread(const struct sp_scan *x, size_t size);
/* How many sizes of blocks there are such pairs of. */
size_t sp_scan_sizes(size_t n);
/* What the score of an interval of so many cells is divided by at least: the spread of blocks of its scale.
 */
double sp_scan_divisor(const struct sp_scan *x, size_t cells);
/* Likewise, or more where the counts of the whole vary more at that scale: what a steady profile has. */
double sp_scan_steady(const struct sp_scan *x, size_t cells);

/* False: out of memory. Free whatever it returned. */
bool sp_scan_find(const struct sp_scan *x, struct sp_stretches *out);
/* How a thing differs in given stretches; the score is 0 where it does not. */
struct sp_scan_test {
    double score, p, dispersion;
};
struct sp_scan_test sp_scan_judge(const struct sp_scan *x, const struct sp_stretches *in);
/* The score from which on an interval is significant. */
double sp_scan_threshold(const struct sp_scan *x);

#endif

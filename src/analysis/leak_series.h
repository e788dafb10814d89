/*
 * What a series of amounts of memory, taken one after the other, says of growth.
 *
 * Plain numbers in, plain numbers out. The rate is the median of the slopes of all pairs (Theil and Sen), its
 * interval theirs at 95 % (of fewer than five values, from the least to the greatest), and never narrower
 * than what sampling makes unsure of the whole difference.
 *
 * That something only grows is claimed where it is more at each value, beyond what sampling explains, and one
 * of these holds: steps that are as likely down as up would do so at most once in a hundred; the steps are so
 * alike that a walk without drift would not make them (t-test of the steps); a quarter of what was allocated
 * meanwhile is still there, and that is more than allocations and frees that come at random would leave.
 */
#ifndef SP_LEAK_SERIES_H
#define SP_LEAK_SERIES_H

#include <stdbool.h>
#include <stddef.h>

enum sp_leak_trend {
    SP_TREND_ONLY_GROWS, /* up at each step, and that is no chance */
    SP_TREND_GROWS,      /* up in the long run, with steps down */
    SP_TREND_UP,         /* up at each step, which chance explains, too: more dumps would tell */
    SP_TREND_SLOWS,      /* up, but in the later half at less than a fifth of the rate before: warm-up? */
    SP_TREND_GREW_ONCE,  /* nine tenths of it in one step */
    SP_TREND_NEW,        /* only in the last one */
    SP_TREND_GREW,       /* of two: more; of more than two nothing is called so */
    SP_TREND_VARIES,     /* up and down, or more at the end than chance allows, with no trend to be seen */
    SP_TREND_NOISE,      /* differences are within what sampling explains */
    SP_TREND_LEVEL,      /* always the same */
    SP_TREND_SHRINKS,    /* less at each step, or in the long run; of two: less */
    SP_TREND_UNKNOWN,    /* values are not of one process, or their order is not known: never by themselves */
    SP_TREND_N
};
extern const char *const sp_leak_trend_names[]; /* in enum order */

/* Values in the order of their times. Everything is lent. */
struct sp_leak_values {
    size_t n;           /* 2 at least */
    const double *t;    /* ascending, in any unit; not all equal */
    const double *y;    /* amounts */
    const double *var;  /* variance of each estimate; 0: exact */
    const double *step; /* n - 1: variance of the difference to the next one */
    /* n - 1: blocks (those that were sampled) allocated and freed meanwhile; NULL: not known */
    const double *born, *died;
};

struct sp_heap_growth {
    enum sp_leak_trend trend;
    double growth, sd;   /* last less first; what sampling makes unsure of it */
    double rate, lo, hi; /* growth per unit of t */
    bool interval;       /* lo and hi say how unsure: not of two exact values */
    double chance;       /* of such an order without a trend; NaN: not asked */
    double kept;         /* growth in blocks of those allocated, 0 … 1; NaN: not known, or nothing grew */
};

/* False: out of memory. */
bool sp_leak_series_of(const struct sp_leak_values *v, struct sp_heap_growth *out);
bool sp_leak_trend_is_up(enum sp_leak_trend t); /* growth is claimed or may be one */

#endif

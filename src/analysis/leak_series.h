/*
 * What a series of amounts of memory, taken one after the other, says of growth.
 *
 * Plain numbers in, plain numbers out. The rate is the median of the slopes of all pairs (Theil and Sen), its
 * interval theirs at 95 % (of fewer than five values, from the least to the greatest), never narrower than
 * what sampling makes unsure of the whole difference, and the rate from the first value to the last is in it.
 *
 * A row is asked first whether it ever gives back more than a twentieth of what it gained, beyond what
 * sampling explains of each step. One that does not has no spread to be estimated: its steps are what
 * happened, whatever their pace, and pauses count as nothing. It only grows where most of the blocks
 * allocated meanwhile are there, or where steps that are as likely down as up would hardly do the same (the
 * sign test), or where they are so alike that a walk without drift would not make them (t-test of the steps).
 * All others have to show a trend: Mann and Kendall's test, and where values depend on those before them, the
 * t-test of steps; the interval is as wide as these make it. So no row is said to grow whose interval has 0
 * in it, and none whose interval is clear of 0 is said to vary.
 */
#ifndef SP_LEAK_SERIES_H
#define SP_LEAK_SERIES_H

#include <stdbool.h>
#include <stddef.h>

enum sp_leak_trend {
    SP_TREND_ONLY_GROWS, /* hardly ever down, and that is no chance */
    SP_TREND_GROWS,      /* up in the long run, with steps down */
    SP_TREND_UP,         /* up at each step, which chance explains, too: more dumps would tell */
    SP_TREND_MAY_GROW,   /* up by more than sampling explains, not yet surely a trend: more would tell */
    SP_TREND_SLOWS, /* up, but in the later half at less than a fifth of the rate before, or still: warm-up?
                     */
    SP_TREND_GREW_ONCE, /* nine tenths of it in one step */
    SP_TREND_NEW,       /* only in the last one */
    SP_TREND_GREW,      /* of two: more; of more than two nothing is called so */
    SP_TREND_VARIES,    /* up and down, with no trend to be seen */
    SP_TREND_NOISE,     /* differences are within what sampling explains */
    SP_TREND_LEVEL,     /* always the same */
    SP_TREND_SHRINKS,   /* less at each step, or in the long run; of two: less */
    SP_TREND_UNKNOWN,   /* values are not of one process, or their order is not known: never by themselves */
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
    double grain;       /* amount that one sample stands for; few of them are less sure than variances say */
    /* n - 1: blocks (those that were sampled) allocated and freed meanwhile; NULL: not known */
    const double *born, *died;
};

struct sp_heap_growth {
    enum sp_leak_trend trend;
    double growth, sd;   /* last less first; what sampling makes unsure of it */
    double unsure;       /* that at 95 %, wider where samples are few */
    double rate, lo, hi; /* growth per unit of t */
    bool interval;       /* lo and hi say how unsure: not of two exact values */
    double chance;       /* of such an order without a trend; NaN: not asked */
    bool random;         /* what was allocated and freed at random explains the difference in blocks */
    double kept;         /* growth in blocks of those allocated, 0 … 1; NaN: not known, or nothing grew */
};

/* False: out of memory. */
bool sp_leak_series_of(const struct sp_leak_values *v, struct sp_heap_growth *out);
bool sp_leak_trend_is_up(enum sp_leak_trend t); /* growth is claimed or may be one */

#endif

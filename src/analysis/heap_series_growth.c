/* Growth of an owner over the dumps: its amounts, and how unsure they and their steps are. */
#include "analysis/heap_series.h"

#include <math.h>
#include <stdlib.h>

struct columns {
    double *t, *y, *var, *step, *born, *died;
};

/*
 * Blocks that stay are in both samples: of a difference only those are unsure that came and went, where that
 * is known; and never more than both together.
 */
static double step_variance(const struct sp_heap_sums *a, const struct sp_heap_sums *b, enum sp_leak_metric m,
                            bool of_others)
{
    double apart = (a ? a->var[m] : 0) + (b ? b->var[m] : 0);
    int of = m == SP_LEAK_LIVE_BYTES   ? SP_LEAK_ALLOC_BYTES
             : m == SP_LEAK_LIVE_COUNT ? SP_LEAK_ALLOC_COUNT
                                       : (int)m;
    if (!b || b->v[of] == SP_ABSENT || of_others)
        return apart;
    double came = b->var[of] - (a ? a->var[of] : 0);
    double went = of == (int)m ? 0 : came - (b->var[m] - (a ? a->var[m] : 0));
    if (came < 0 || went < -0.01 * apart) /* more is live than came: these numbers do not fit together */
        return apart;
    return fmin(apart, came + fmax(went, 0));
}

static void fill(const struct sp_heap_series *h, size_t owner, enum sp_leak_metric m, struct columns *c)
{
    const struct sp_heap_sums *before = NULL;
    for (size_t i = 0; i < h->dumps.n; i++) {
        const struct sp_heap_sums *now = sp_heap_at(h, owner, i);
        c->t[i] = h->order == SP_HEAP_BY_TIME ? sp_heap_seconds(h, i) : (double)i;
        c->y[i] = (double)sp_heap_value(now, m);
        c->var[i] = now ? now->var[m] : 0;
        if (i) {
            double born = (now ? now->allocated : 0) - (before ? before->allocated : 0),
                   more = (now ? now->live : 0) - (before ? before->live : 0);
            c->step[i - 1] = step_variance(before, now, m, h->apart);
            c->born[i - 1] = born;
            c->died[i - 1] = born - more;
        }
        before = now;
    }
}

/* What a sample stands for, on the average: the variance of a sum of samples is their size times the sum. */
static double grain_of(const struct columns *c, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (c->y[i] > 0 && c->var[i] > 0)
            most = fmax(most, c->var[i] / c->y[i]);
    return most;
}

bool sp_heap_growth_of(const struct sp_heap_series *h, size_t owner, enum sp_leak_metric m,
                       struct sp_heap_growth *out)
{
    size_t n = h->dumps.n;
    double *all = calloc(n, 6 * sizeof *all);
    if (!all)
        return false;
    struct columns c = {all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n};
    fill(h, owner, m, &c);
    bool turnover = h->known[SP_LEAK_ALLOC_COUNT] && h->known[SP_LEAK_LIVE_COUNT] &&
                    (m == SP_LEAK_LIVE_BYTES || m == SP_LEAK_LIVE_COUNT);
    struct sp_leak_values v = {.n = n,
                               .t = c.t,
                               .y = c.y,
                               .var = c.var,
                               .step = c.step,
                               .grain = grain_of(&c, n),
                               .born = turnover ? c.born : NULL,
                               .died = turnover ? c.died : NULL};
    bool ok = sp_leak_series_of(&v, out);
    free(all);
    if (ok && n > 2 && (h->apart || h->mixed)) {
        out->trend = out->trend == SP_TREND_LEVEL ? out->trend : SP_TREND_UNKNOWN;
        out->chance = out->kept = NAN;
    }
    return ok;
}

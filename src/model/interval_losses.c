#include "model/interval_losses.h"

#include <stdlib.h>

static int by_begin(const void *va, const void *vb)
{
    const struct sp_interval_loss *a = va, *b = vb;
    return a->from != b->from ? (a->from > b->from) - (a->from < b->from) : (a->to > b->to) - (a->to < b->to);
}

void sp_interval_losses_settle(struct sp_intervals *v)
{
    struct sp_interval_loss *x = v->lost.v;
    size_t kept = 0;
    if (v->lost.n)
        qsort(x, v->lost.n, sizeof *x, by_begin);
    for (size_t i = 0; i < v->lost.n; i++) {
        if (kept && x[i].from <= x[kept - 1].to) {
            x[kept - 1].to = x[i].to > x[kept - 1].to ? x[i].to : x[kept - 1].to;
            continue;
        }
        x[i].before = kept ? x[kept - 1].before + x[kept - 1].to - x[kept - 1].from : 0;
        x[kept++] = x[i];
    }
    v->lost.n = kept;
}

/* The first that is over after t. */
static size_t first_after(const struct sp_intervals *v, int64_t t)
{
    size_t lo = 0, hi = v->lost.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v->lost.v[mid].to > t)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

int64_t sp_interval_lost_after(const struct sp_intervals *v, int64_t t)
{
    size_t k = first_after(v, t);
    return k == v->lost.n ? INT64_MAX : v->lost.v[k].from > t ? v->lost.v[k].from : t;
}

/* Of all of them until t. */
static int64_t lost_until(const struct sp_intervals *v, int64_t t)
{
    size_t k = first_after(v, t), last = v->lost.n;
    if (k == last)
        return last ? v->lost.v[last - 1].before + v->lost.v[last - 1].to - v->lost.v[last - 1].from : 0;
    const struct sp_interval_loss *x = &v->lost.v[k];
    return x->before + (t > x->from ? t - x->from : 0);
}

int64_t sp_interval_lost_within(const struct sp_intervals *v, int64_t from, int64_t to)
{
    return from < to ? lost_until(v, to) - lost_until(v, from) : 0;
}

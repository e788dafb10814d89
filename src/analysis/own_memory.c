#include "analysis/own_memory.h"

#include "analysis/heap_weights.h"
#include "analysis/owners.h"
#include "analysis/tally.h"
#include "base/num.h"

#include <math.h>
#include <stdlib.h>

enum sp_leak_metric sp_own_memory_rank(const struct sp_leak_sums *all)
{
    enum { PEAK_PARTS = 20 };
    int64_t live = all->v[SP_LEAK_LIVE_BYTES], peak = all->v[SP_LEAK_PEAK_BYTES];
    if (live > 0 && (peak <= 0 || live >= peak / PEAK_PARTS))
        return SP_LEAK_LIVE_BYTES;
    if (peak > 0)
        return SP_LEAK_PEAK_BYTES;
    for (enum sp_leak_metric m = SP_LEAK_LIVE_BYTES; m < SP_LEAK_METRICS; m++)
        if (m != SP_LEAK_LIVE_BYTES && all->v[m] > 0)
            return m;
    return SP_LEAK_LIVE_BYTES;
}

/* ---- rows ---- */

static int64_t of_rank(const struct sp_own_memory *m, size_t leak)
{
    int64_t v = m->leaks.rows.v[leak].now.v[m->rank];
    return v == SP_ABSENT ? 0 : v;
}

/* at: of each function, and of none, 1 + its row. */
static bool add_leak(struct sp_own_memory *m, const struct sp_selection *s, const struct sp_own *own,
                     size_t *at, size_t leak)
{
    uint32_t function = m->leaks.rows.v[leak].function;
    size_t *slot = &at[function == SP_NONE ? m->leaks.profile->functions.n : function];
    bool is_own = function != SP_NONE && sp_is_own(own, function) &&
                  (!s->owners || s->owners[function] == SP_MAY_OWN); /* an allocator owns nothing */
    struct sp_own_memory_row one = {.leak = leak, .own = is_own || own->all};
    for (int k = 0; k < SP_LEAK_METRICS; k++)
        one.now.v[k] = SP_ABSENT;
    if (!*slot && !sp_vec_push(&m->rows, one))
        return false;
    *slot = *slot ? *slot : m->rows.n;
    struct sp_own_memory_row *r = &m->rows.v[*slot - 1];
    for (int k = 0; k < SP_LEAK_METRICS; k++)
        sp_tally_add(&r->now.v[k], m->leaks.rows.v[leak].now.v[k]);
    if (of_rank(m, leak) > of_rank(m, r->leak))
        r->leak = leak;
    return true;
}

/* ---- how sure ---- */

/* What there is of it to be unsure of. */
static int64_t weight_of(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    int64_t v = sp_heap_weight(p, stack, metric);
    return v == SP_ABSENT ? 0 : v;
}

/*
 * A sampled block counts for as many as sampling leaves out: the variance of such an estimate.
 */
static double variance_of(const struct sp_own_memory *m, int64_t bytes, int64_t blocks)
{
    if (m->period <= 1 || bytes <= 0 || blocks <= 0)
        return 0;
    double size = (double)bytes / (double)blocks,
           chance = sp_heap_chance(m->period, (double)bytes, (double)blocks);
    bool sampled = (double)blocks * chance >= 0.5; /* less than a sample: whoever wrote it did not scale */
    return sampled ? (double)blocks * size * size * (1 - chance) / chance : 0;
}

static int64_t period_of(const struct sp_selection *s)
{
    const struct sp_event *e = &s->profile->events.v[s->event];
    struct sp_str text = sp_pstr(s->profile, e->sample_period);
    int64_t v;
    unsigned scale;
    bool is = e->mode == SP_PERIOD && text.n && sp_parse_scaled(text.p, text.n, &v, &scale);
    return is && !scale && v > 0 ? v : 0;
}

/* row_of: of each row of leaks by its number. */
static void add_variances(const struct sp_selection *s, const size_t *row_of, struct sp_own_memory *m)
{
    const struct sp_profile *p = s->profile;
    uint32_t metric[SP_LEAK_METRICS];
    sp_heap_metrics(p, metric);
    for (size_t i = 0; m->period > 1 && i < s->rows.n; i++) {
        uint32_t stack = s->rows.v[i].stack, number = m->leaks.of[stack].row;
        if (!number) /* suppressed */
            continue;
        double variance = variance_of(m, weight_of(p, stack, metric[SP_LEAK_LIVE_BYTES]),
                                      weight_of(p, stack, metric[SP_LEAK_LIVE_COUNT]));
        m->rows.v[row_of[number - 1]].variance += variance;
        m->variance += variance;
    }
}

/* ---- the whole ---- */

static bool own_memory_rows(const struct sp_selection *s, const struct sp_own *own, struct sp_own_memory *m)
{
    const struct sp_leaks *l = &m->leaks;
    size_t *at = calloc(s->profile->functions.n + 1, sizeof *at);
    size_t *row_of = calloc(l->rows.n + 1, sizeof *row_of); /* by number */
    bool ok = at && row_of;
    for (size_t i = 0; ok && i < l->rows.n; i++) {
        uint32_t function = l->rows.v[i].function;
        ok = add_leak(m, s, own, at, i);
        if (ok)
            row_of[l->rows.v[i].number] = at[function == SP_NONE ? s->profile->functions.n : function] - 1;
    }
    if (ok)
        add_variances(s, row_of, m);
    free(at);
    free(row_of);
    return ok;
}

spaa_status sp_own_memory_of(struct sp_selection *s, const struct sp_own *own, enum sp_leak_metric rank,
                             struct sp_diags *d, struct sp_own_memory *out)
{
    const struct sp_leaks_opts how = {.own = own, .by_reach = true};
    *out = (struct sp_own_memory){.period = period_of(s)};
    spaa_status st = sp_leaks_of(s, &how, d, &out->leaks);
    if (st)
        return st;
    bool has = rank < SP_LEAK_METRICS && out->leaks.now.v[rank] > 0;
    out->rank = has ? rank : sp_own_memory_rank(&out->leaks.now);
    if (own_memory_rows(s, own, out))
        return SPAA_OK;
    sp_own_memory_free(out);
    return sp_nomem(d);
}

void sp_own_memory_free(struct sp_own_memory *m)
{
    sp_leaks_free(&m->leaks);
    sp_vec_free(&m->rows);
}

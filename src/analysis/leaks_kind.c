/* What is said of a row: growing, never freed, partly freed, … */
#include "analysis/leaks_private.h"

const char *const sp_leak_kind_names[] = {"unknown", "growing",    "never freed", "partly freed",
                                          "freed",   "suppressed", "held"};

bool sp_leak_never_freed(const struct sp_leak_sums *now, const int64_t hidden[2])
{
    const int64_t *v = now->v;
    for (int m = SP_LEAK_FREE_COUNT; m >= SP_LEAK_FREE_BYTES; m--)
        if (v[m] != SP_ABSENT)
            return v[m] == 0 && v[SP_LEAK_ALLOC_COUNT] != 0;
    for (int m = 1; m >= 0; m--)
        if (v[SP_LEAK_LIVE_BYTES + m] != SP_ABSENT && v[SP_LEAK_ALLOC_BYTES + m] != SP_ABSENT)
            return v[SP_LEAK_ALLOC_BYTES + m] > 0 &&
                   v[SP_LEAK_LIVE_BYTES + m] + sp_leak_zero(hidden[m]) >= v[SP_LEAK_ALLOC_BYTES + m];
    return false;
}

static bool holds_nothing(const struct sp_leak_sums *now)
{
    return sp_leak_zero(now->v[SP_LEAK_LIVE_BYTES]) == 0 && sp_leak_zero(now->v[SP_LEAK_LIVE_COUNT]) == 0;
}

/* Of the lines that hold something, none frees: what comes and goes at others says nothing of it. */
static bool lines_never_free(const struct sp_leaks *l, const struct sp_leak_row *r)
{
    const struct sp_leak_part *line = l->parts[SP_LEAK_LINES].v + r->part[SP_LEAK_LINES];
    for (size_t i = 0; i < r->nparts[SP_LEAK_LINES]; i++)
        if (!holds_nothing(&line[i].now) && !line[i].never_freed)
            return false;
    return true;
}

static enum sp_leak_kind leaks_kind_of(const struct sp_leaks *l, const struct sp_leak_row *r)
{
    const int64_t *v = r->now.v;
    enum sp_leak_metric m = l->has[SP_LEAK_LIVE_BYTES] ? SP_LEAK_LIVE_BYTES : SP_LEAK_LIVE_COUNT;
    if ((sp_leak_zero(r->hidden[0]) || sp_leak_zero(r->hidden[1])) && holds_nothing(&r->now))
        return SP_LEAK_SUPPRESSED;
    if (v[m] == SP_ABSENT)
        return SP_LEAK_UNKNOWN;
    if (holds_nothing(&r->now))
        return SP_LEAK_FREED;
    if (sp_leak_rises(&r->growth, r->never_freed))
        return SP_LEAK_GROWING;
    if (r->never_freed || lines_never_free(l, r))
        return SP_LEAK_NEVER_FREED;
    bool known = v[SP_LEAK_ALLOC_BYTES] != SP_ABSENT || v[SP_LEAK_ALLOC_COUNT] != SP_ABSENT ||
                 v[SP_LEAK_FREE_COUNT] != SP_ABSENT;
    return known ? SP_LEAK_PARTLY : SP_LEAK_HELD;
}

void sp_leak_judge(struct sp_leaks *l)
{
    for (size_t i = 0; i < l->rows.n; i++)
        l->rows.v[i].kind = leaks_kind_of(l, &l->rows.v[i]);
}

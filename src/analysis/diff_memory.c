/*
 * Memory is compared in bytes and in blocks: beside the metric that is compared, each run takes its
 * counterpart (live_bytes and live_count) in.
 */
#include "analysis/diff_private.h"

#include "analysis/fold.h"
#include "analysis/names.h"

#include <math.h>

static bool diff_memory_ends(struct sp_str s, const char *word)
{
    size_t n = strlen(word);
    return s.n > n && memcmp(s.p + s.n - n, word, n) == 0;
}

/* The metric of blocks for one of bytes, and the other way round; SP_NONE: there is none. */
static uint32_t counterpart(const struct sp_profile *p, uint32_t event, struct sp_str metric)
{
    bool bytes = diff_memory_ends(metric, "_bytes");
    struct sp_buf name;
    if (!bytes && !diff_memory_ends(metric, "_count"))
        return SP_NONE;
    sp_buf_init(&name, 0);
    if (sp_str_is(metric, "peak_bytes"))
        sp_buf_puts(&name, "x_peak_count");
    else if (sp_str_is(metric, "x_peak_count"))
        sp_buf_puts(&name, "peak_bytes");
    else {
        sp_buf_add(&name, metric.p, metric.n - strlen("_bytes"));
        sp_buf_puts(&name, bytes ? "_count" : "_bytes");
    }
    uint32_t m = name.failed ? SP_NONE : sp_event_metric(p, event, sp_buf_cstr(&name));
    sp_buf_free(&name);
    return m;
}

static bool is_memory(const struct sp_selection *s)
{
    enum sp_event_kind kind = s->profile->events.v[s->event].kind;
    struct sp_str metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name);
    return (kind == SP_ALLOCATION || kind == SP_DEALLOCATION) &&
           (diff_memory_ends(metric, "_bytes") || diff_memory_ends(metric, "_count"));
}

/* Rows whose counterparts are whole numbers with sums of 64 bits; of a range of time nobody knows them. */
static bool countable(const struct sp_selection *s, uint32_t m)
{
    int64_t sum = 0;
    if (s->timed || m == SP_NONE)
        return false;
    for (size_t i = 0; i < s->rows.n; i++) {
        int64_t v = sp_weight(s->profile, s->rows.v[i].stack, m);
        if (s->rows.v[i].kernel != SP_NONE || v == SP_DECIMAL)
            return false;
        if (v != SP_ABSENT && __builtin_add_overflow(sum, v < 0 ? -v : v, &sum))
            return false;
    }
    return true;
}

static int64_t diff_memory_weight(const struct sp_selection *s, size_t row, uint32_t m)
{
    int64_t v = sp_weight(s->profile, s->rows.v[row].stack, m);
    return v == SP_ABSENT ? 0 : v;
}

bool sp_diff_take_memory(struct sp_diff_run *r, struct sp_selection *s, const struct sp_selection *whole,
                         const uint32_t *frame_keys, uint32_t bare)
{
    struct sp_str metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name);
    r->memory = is_memory(s) ? diff_memory_ends(metric, "_bytes") ? SP_MEMORY_BYTES : SP_MEMORY_BLOCKS
                             : SP_MEMORY_NONE;
    uint32_t m = r->memory ? counterpart(s->profile, s->event, metric) : SP_NONE;
    if (!countable(whole, m))
        return true;
    int64_t *weights = malloc((s->rows.n + 1) * sizeof *weights);
    uint32_t *of = malloc((s->profile->frames.n + 1) * sizeof *of);
    struct sp_fold_key key = {.of = of, .bare = bare};
    struct sp_fold sums = {0};
    for (unsigned f = 0; f < SP_FAMILIES; f++)
        r->other[f] = calloc(r->keys + 1, sizeof *r->other[f]);
    bool ok = weights && of && r->other[SP_SELF] && r->other[SP_TOTAL];
    for (size_t i = 0; i < whole->rows.n; i++)
        r->other_total += diff_memory_weight(whole, i, m);
    for (size_t i = 0; ok && i < s->rows.n; i++)
        weights[i] = diff_memory_weight(s, i, m);
    if (ok)
        memcpy(of, frame_keys, s->profile->frames.n * sizeof *of);
    ok = ok && sp_fold(s, &(struct sp_fold_by){.frames = &key, .weights = weights}, &sums);
    for (size_t i = 0; ok && i < sums.self.n; i++) {
        r->other[SP_SELF][i] = sums.self.v[i].weight;
        r->other[SP_TOTAL][i] = sums.total.v[i].weight;
    }
    r->has_other = ok;
    free(weights);
    free(of);
    sp_fold_free(&sums);
    return ok;
}

void sp_diff_memory(struct sp_diff *d)
{
    bool first = true;
    d->has_other = true;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++) {
            const struct sp_diff_run *r = d->runs[side].v[i];
            d->memory = first || d->memory == r->memory ? r->memory : SP_MEMORY_NONE;
            d->has_other = d->has_other && r->has_other;
            d->side[side].other += r->other_total;
            first = false;
        }
    d->has_other = d->has_other && d->memory;
}

double sp_diff_per_run(const struct sp_diff *d, unsigned side, __int128 v)
{
    return (double)v / pow(10, d->scale) / (double)d->side[side].runs;
}

double sp_diff_change(const struct sp_diff *d, const struct sp_diff_row *row, unsigned family)
{
    return sp_diff_per_run(d, SP_NEW, row->side[SP_NEW].weight[family]) -
           sp_diff_per_run(d, SP_BASE, row->side[SP_BASE].weight[family]);
}

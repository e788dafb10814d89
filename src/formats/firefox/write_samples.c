/*
 * The samples of threads. Where the profile has raw samples that add up to its sums, they are those, with
 * their times. Else there is one for each stack, as wide as its weight: the widest thread is as long as the
 * recording was, where that is known.
 */
#include "base/num.h"
#include "formats/firefox/firefox.h"
#include "model/off_cpu.h"
#include "model/samples.h"

#include <stdlib.h>

#define FIXED 1000000000

/* A weight in 10^-9 of its unit. */
static __int128 ff_weight(int64_t v, struct sp_str text)
{
    bool exact = true;
    __int128 fixed = 0;
    if (v != SP_DECIMAL)
        return (__int128)v * FIXED;
    sp_parse_fixed(text.p, text.n, 9, &fixed, &exact);
    return fixed;
}

/* ---- with times ---- */

/* What a raw sample weighs; false: it is none of the rows'. */
static bool ff_raw_weight(const struct sp_ff_writer *w, const struct sp_sample *x, __int128 *out)
{
    const struct sp_profile *p = w->p;
    if (x->stack == SP_NONE || !(x->flags & SP_SAMPLE_TIME) || !sp_rows_has(&w->rows, x->stack))
        return false;
    bool counts = sp_str_is(sp_pstr(p, p->metrics.v[w->rows.metric].name), "samples");
    if (!counts && x->period == SP_ABSENT)
        return false;
    *out = counts ? FIXED : ff_weight(x->period, sp_pstr(p, x->period_text));
    return true;
}

/* Whether the samples are all that the rows are sums of. */
static bool ff_adds_up(struct sp_ff_writer *w, const struct sp_sample *v, size_t n)
{
    __int128 rows = 0, samples = 0, weight;
    for (size_t i = 0; i < w->rows.rows.n; i++)
        rows += ff_weight(w->rows.rows.v[i].v, w->rows.rows.v[i].text);
    for (size_t i = 0; i < n; i++)
        if (ff_raw_weight(w, &v[i], &weight))
            samples += weight;
    return n && rows == samples;
}

static int ff_by_thread(const void *a, const void *b)
{
    const struct sp_ff_row *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->node != y->node ? (x->node < y->node ? -1 : 1)
                              : (x->weight > y->weight) - (x->weight < y->weight);
}

/* By stack: its node + 1. */
static bool ff_node_of(struct sp_ff_writer *w, uint32_t stack, uint32_t *nodes, uint32_t *node)
{
    size_t first;
    uint32_t n;
    if (!nodes[stack]) {
        size_t had = w->rows.entries.n;
        if (!sp_rows_path(&w->rows, stack, w->entries.entry_of, &first, &n) ||
            !sp_ff_node(w, w->rows.entries.v + first, n, node))
            return false;
        w->rows.entries.n = had;
        nodes[stack] = *node + 1; /* of no stack 0: it is looked for again */
    }
    *node = nodes[stack] - 1;
    return true;
}

static bool ff_with_times(struct sp_ff_writer *w, const struct sp_sample *v, size_t n)
{
    uint32_t *nodes = calloc(w->p->stacks.n + 1, sizeof *nodes);
    bool ok = nodes != NULL, any = false, lasts = sp_measures_off_cpu(w->p, w->rows.event);
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_ff_row row = {.time = v[i].time};
        if (!ff_raw_weight(w, &v[i], &row.weight))
            continue;
        if ((lasts || v[i].flags & SP_SAMPLE_LASTED) && v[i].period > 0 && v[i].time > INT64_MIN / 2)
            row.time -= v[i].period;
        row.thread = w->rows.thread_of[w->p->stacks.v[v[i].stack].context];
        w->start = !any || row.time < w->start ? row.time : w->start;
        any = true;
        ok = ff_node_of(w, v[i].stack, nodes, &row.node) && sp_vec_push(&w->samples, row);
    }
    if (ok && w->samples.n > 1)
        qsort(w->samples.v, w->samples.n, sizeof *w->samples.v, ff_by_thread);
    free(nodes);
    return ok;
}

/* ---- without ---- */

/* Nanoseconds from the first to the last sample; 0: not known. */
static int64_t ff_duration(const struct sp_profile *p)
{
    struct sp_str d = sp_pstr(p, p->header.duration), a = sp_pstr(p, p->header.time_start),
                  b = sp_pstr(p, p->header.time_end);
    int64_t ns, from, to;
    if (d.n && sp_seconds_ns(d.p, d.n, &ns) && ns > 0)
        return ns;
    bool seconds = sp_str_is(sp_pstr(p, p->header.time_unit), "seconds");
    if (seconds && sp_seconds_ns(a.p, a.n, &from) && sp_seconds_ns(b.p, b.n, &to) && to > from &&
        !__builtin_sub_overflow(to, from, &ns))
        return ns;
    return 0;
}

static bool ff_spread(struct sp_ff_writer *w)
{
    const struct sp_row *v = w->rows.rows.v;
    double widest = 0, span = (double)ff_duration(w->p), at = 0;
    size_t most = 1;
    for (size_t i = 0; i < w->rows.threads.n; i++) {
        const struct sp_row_thread *t = &w->rows.threads.v[i];
        widest = t->sum > widest ? t->sum : widest;
        most = t->n > most ? t->n : most;
    }
    if (w->unit_ns)
        span = widest * (double)w->unit_ns;
    if (!(span > 0 && span < 9e18))
        span = (double)most * 1e6; /* a millisecond each */
    for (size_t i = 0; i < w->rows.rows.n; i++) {
        struct sp_ff_row row = {.thread = v[i].thread, .weight = ff_weight(v[i].v, v[i].text)};
        at = i && v[i].thread == v[i - 1].thread ? at : 0;
        row.time = (int64_t)at;
        if (!sp_ff_node(w, w->rows.entries.v + v[i].first, v[i].n, &row.node) ||
            !sp_vec_push(&w->samples, row))
            return false;
        double weight = (double)row.weight / FIXED;
        at += weight > 0 && widest > 0 ? weight / widest * span : 0;
        at = at < 9e18 ? at : 9e18;
    }
    return true;
}

bool sp_ff_samples(struct sp_ff_writer *w)
{
    struct sp_sample *v = NULL;
    size_t n = 0;
    /* The nodes of the sums come first, whose order is that of content. */
    if (!ff_spread(w))
        return false;
    if (w->p->samples && sp_samples_rows(w->p->samples, &v, &n))
        return false;
    if (!ff_adds_up(w, v, n))
        return true;
    w->timed = true;
    w->samples.n = 0;
    return ff_with_times(w, v, n);
}

#include "ask/timeline_memory.h"

#include "analysis/names.h"
#include "analysis/owners.h"
#include "analysis/tally.h"
#include "ask/next.h"
#include "base/num.h"
#include "model/events.h"

#include <strings.h>

enum { NS = 9 };

/* ---- what is asked about ---- */

bool sp_is_svg(const char *path)
{
    size_t n = strlen(path);
    return n >= 4 && strcasecmp(path + n - 4, ".svg") == 0;
}

bool sp_timeline_of_samples(const struct sp_options *o)
{
    return o->explain || (o->output && !sp_is_svg(o->output));
}

bool sp_timeline_memory_wanted(const struct sp_ask *q, struct sp_select_opts *how)
{
    const char *metric = sp_timeline_of_samples(q->options) ? NULL : sp_levels_metric(q->profiles[0], how);
    if (!metric)
        return false;
    if (!how->event || how->metric)
        how->metric = metric;
    else if (sp_event_find(q->profiles[0], how->event, strlen(how->event)) != SP_NONE)
        how->metric = metric;
    how->time = NULL; /* levels need all that was before */
    return true;
}

spaa_status sp_timeline_memory_begin(struct sp_timeline_memory *m, struct sp_asked *x, size_t buckets,
                                     size_t hot)
{
    struct sp_measure measure = sp_measure_of(&x->s);
    const char *time = x->q->options->time;
    m->x = x;
    measure.scale = 0;
    measure.cannot_add = false;
    measure.unit = (struct sp_str){"bytes", 5};
    m->bytes = sp_answer_measure(x->out, &measure);
    measure.unit = (struct sp_str){"count", 5};
    m->count = sp_answer_measure(x->out, &measure);
    spaa_status st = sp_levels_of(&x->s, time, buckets, hot, x->q->diags, &m->l);
    m->on = !st;
    return st;
}

spaa_status sp_timeline_memory_open(struct sp_ask *q, struct sp_answer *out, struct sp_asked *x,
                                    struct sp_timeline_memory *m)
{
    struct sp_select_opts how;
    *x = (struct sp_asked){0};
    if (!sp_ask_select_opts(q, &how) || !sp_timeline_memory_wanted(q, &how))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_asked_select(q, &how, out, x);
    return st ? st : sp_timeline_memory_begin(m, x, SIZE_MAX, 0);
}

spaa_status sp_timeline_memory_refused(struct sp_asked *x, const struct sp_sample_times *times)
{
    const struct sp_profile *p = x->s.profile;
    struct sp_str metric = sp_pstr(p, p->metrics.v[x->s.metric].name);
    if (times->rows || !sp_is_of_memory(p, x->s.metric) || sp_window_values_of(p, x->s.metric))
        return SPAA_OK;
    bool peak = sp_str_is(metric, "peak_bytes") || sp_str_is(metric, "x_peak_count");
    return sp_usage(x->q->diags,
                    peak ? "spaa top FILE --at peak shows it; spaa timeline FILE when it was"
                         : "`spaa timeline FILE` without --metric shows what the windows know",
                    peak ? "%.*s is of one moment, not over time" : "the file's windows do not know %.*s",
                    (int)metric.n, metric.p);
}

/* ---- rows ---- */

/* Whether any row knows it, so that people are shown it. */
static bool memory_known(const struct sp_timeline_memory *m, size_t offset)
{
    for (size_t i = 0; i < m->l.list.n; i++)
        if (*(const int64_t *)(const void *)((const char *)&m->l.list.v[i] + offset) != SP_ABSENT)
            return true;
    return false;
}

void sp_timeline_memory_columns(struct sp_timeline_memory *m, struct sp_answer_table *t, size_t at)
{
    static const bool of_bytes[SP_LEVEL_NCOLUMNS] = {[SP_LEVEL_ALLOCATED] = true,
                                                     [SP_LEVEL_ALLOCATED_RATE] = true,
                                                     [SP_LEVEL_FREED] = true,
                                                     [SP_LEVEL_RSS] = true};
    if (!t)
        return;
    for (size_t i = 0; i < SP_LEVEL_NCOLUMNS; i++) {
        if (!m->on)
            sp_table_without(t, at + i);
        else if (i >= SP_LEVEL_ALLOCATED)
            t->measure.v[at + i] = of_bytes[i] ? m->bytes : m->count;
    }
    if (!m->on)
        return;
    if (!m->l.of_level)
        t->columns.v[at + SP_LEVEL_END].title = t->columns.v[at + SP_LEVEL_MOST].title = NULL;
    if (!memory_known(m, offsetof(struct sp_level, allocated)))
        t->columns.v[at + SP_LEVEL_ALLOCATED_RATE].title = NULL;
    if (!memory_known(m, offsetof(struct sp_level, calls)))
        t->columns.v[at + SP_LEVEL_CALLS_RATE].title = NULL;
    if (!memory_known(m, offsetof(struct sp_level, rss)))
        t->columns.v[at + SP_LEVEL_RSS].title = NULL;
}

static int64_t memory_rate(int64_t v, const struct sp_bucket *y)
{
    if (v == SP_ABSENT || y->hi <= y->lo)
        return SP_ABSENT;
    __int128 rate = sp_ratio(v, (__int128)y->hi - y->lo, 1000000000);
    return rate > INT64_MAX ? INT64_MAX : (int64_t)rate;
}

void sp_timeline_memory_row(struct sp_timeline_memory *m, struct sp_answer_table *t, size_t at, size_t row)
{
    if (!m->on)
        return;
    const struct sp_level *x = &m->l.list.v[row];
    const struct sp_bucket *y = &m->l.t.buckets.v[row];
    const int64_t v[SP_LEVEL_NCOLUMNS] = {
        [SP_LEVEL_START] = x->start,         [SP_LEVEL_END] = x->end,
        [SP_LEVEL_MOST] = x->most,           [SP_LEVEL_EXACT] = m->l.of_level ? x->exact : SP_ABSENT,
        [SP_LEVEL_ALLOCATED] = x->allocated, [SP_LEVEL_ALLOCATED_RATE] = memory_rate(x->allocated, y),
        [SP_LEVEL_CALLS] = x->calls,         [SP_LEVEL_CALLS_RATE] = memory_rate(x->calls, y),
        [SP_LEVEL_FREED] = x->freed,         [SP_LEVEL_FREES] = x->frees,
        [SP_LEVEL_TEMPORARY] = x->temporary, [SP_LEVEL_RSS] = x->rss,
    };
    for (size_t i = 0; i < SP_LEVEL_NCOLUMNS; i++)
        sp_put_int(t, at + i, v[i]);
}

/* ---- facts and words ---- */

/* What the filters leave of the peak of all; SP_ABSENT: not known, or nothing is filtered. */
static int64_t memory_at_peak(const struct sp_timeline_memory *m)
{
    const struct sp_selection *s = &m->x->s;
    const struct sp_profile *p = s->profile;
    bool bytes = sp_str_is(sp_pstr(p, p->metrics.v[s->metric].name), "live_bytes");
    uint32_t peak = sp_event_metric(p, s->event, bytes ? "peak_bytes" : "x_peak_count");
    int64_t sum = 0;
    if (m->l.whole || !m->l.of_level || m->x->q->options->time || peak == SP_NONE ||
        !sp_peaks_add(p, s->event) || !sp_of_one_source(s))
        return SP_ABSENT;
    for (size_t i = 0; i < s->rows.n; i++) {
        int64_t v = sp_weight(p, s->rows.v[i].stack, peak);
        if (v > SP_DECIMAL)
            sp_tally_add(&sum, v);
    }
    return sum;
}

void sp_timeline_memory_facts(struct sp_timeline_memory *m)
{
    if (!m->on)
        return;
    struct sp_answer *a = m->x->out;
    const struct sp_levels *l = &m->l;
    if (l->of_level) {
        int64_t at_peak = memory_at_peak(m);
        sp_fact_weight(a, "level.end", 0, l->end);
        sp_fact_weight(a, "level.most", 0, l->most);
        sp_fact_bool(a, "level.most_exact", l->exact);
        sp_fact_scaled(a, "level.most_from", l->most_lo - l->t.zero, NS);
        sp_fact_scaled(a, "level.most_to", l->most_hi - l->t.zero, NS);
        sp_fact_scaled(a, "level.most_at", l->most_at, NS);
        sp_fact_weight(a, "level.at_peak", 0, at_peak);
    }
    sp_fact_weight(a, "level.rss", m->bytes, l->rss);
}

static void memory_weight(struct sp_timeline_memory *m, struct sp_buf *b, int64_t v)
{
    const struct sp_selection *s = &m->x->s;
    sp_text_weight(b, s->unit, s->scale, v);
    if (s->unit.n && !sp_str_is(s->unit, "bytes"))
        sp_buf_puts(b, v == 1 ? " block" : " blocks");
}

static void memory_seconds(struct sp_buf *b, int64_t ns)
{
    char t[64];
    sp_buf_add(b, t, sp_scaled_text((__int128)sp_ratio(ns, 1000000, 1), 3, t));
}

/* "live 4.91 MiB at the end, peak 13.15 MiB at 0.876 s". */
static void memory_levels(struct sp_timeline_memory *m, struct sp_buf *b)
{
    const struct sp_levels *l = &m->l;
    int64_t at_peak = memory_at_peak(m);
    if (m->x->q->options->time) {
        sp_buf_puts(b, "from ");
        memory_seconds(b, l->t.start - l->t.zero);
        sp_buf_puts(b, " to ");
        memory_seconds(b, l->t.end - l->t.zero);
        sp_buf_puts(b, " s, ");
    }
    sp_buf_puts(b, "live ");
    memory_weight(m, b, l->end);
    sp_buf_puts(b, l->exact ? " at the end, peak " : " at the end, peak at least ");
    memory_weight(m, b, l->most);
    if (l->most_at != SP_ABSENT) {
        sp_buf_puts(b, " at ");
        memory_seconds(b, l->most_at);
    } else {
        sp_buf_puts(b, " between ");
        memory_seconds(b, l->most_lo - l->t.zero);
        sp_buf_puts(b, " and ");
        memory_seconds(b, l->most_hi - l->t.zero);
    }
    sp_buf_puts(b, " s");
    if (at_peak != SP_ABSENT) {
        sp_buf_puts(b, "; ");
        memory_weight(m, b, at_peak);
        sp_buf_puts(b, " when the whole program had most");
    }
}

void sp_timeline_memory_words(struct sp_timeline_memory *m, struct sp_buf *b)
{
    const struct sp_levels *l = &m->l;
    size_t before = b->len;
    if (l->of_level)
        memory_levels(m, b);
    if (l->rss == SP_ABSENT)
        return;
    sp_buf_puts(b, b->len > before ? "; RSS of the process at most " : "RSS of the process at most ");
    sp_text_bytes(b, l->rss, 0);
}

void sp_timeline_memory_say(struct sp_timeline_memory *m)
{
    struct sp_buf *b = &m->x->b;
    sp_buf_clear(b);
    sp_timeline_memory_words(m, b);
    if (b->len)
        sp_answer_line_of(m->x->out, SP_LINE_HEAD, b);
}

/* The stacks of the peak, where the file has them. */
void sp_timeline_memory_next(struct sp_timeline_memory *m)
{
    const struct sp_selection *s = &m->x->s;
    const struct sp_profile *p = s->profile;
    const struct sp_ask *q = m->x->q;
    struct sp_buf *b = &m->x->b;
    struct sp_next next = {.question = "top", .tail = "--at peak"};
    struct sp_options less = *q->options;
    if (less.at) /* a moment is asked about already, and the peak of all may be later */
        next.tail = NULL;
    if (!m->l.of_level || q->options->time || sp_event_metric(p, s->event, "peak_bytes") == SP_NONE ||
        !sp_peaks_add(p, s->event))
        return;
    less.metric = NULL; /* which the moment says */
    sp_buf_clear(b);
    sp_command_text(b, &next, q->names, q->nnames, &less, sp_next_groups(next.question));
    sp_answer_next_command(m->x->out, next.question, b);
    if (!q->brief)
        return;
    sp_buf_clear(b);
    sp_buf_puts(b, "next: ");
    sp_command_text(b, &next, q->names, q->nnames, &less, sp_next_groups(next.question));
    sp_answer_line_of(m->x->out, SP_LINE_PLAIN, b);
}

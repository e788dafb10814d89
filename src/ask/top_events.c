/*
 * top --by event: every event of the profile, each in its own metric and unit.
 *
 * Weights of different events do not add up and do not compare: a row's shares are of its own event's whole,
 * and rows stand in the order of samples, which all of them count alike, then of the header.
 */
#include "ask/top.h"

#include "analysis/names.h"
#include "answer/text.h"
#include "ask/next.h"

#include <stdlib.h>

/* What is told of an event: selections have as much as the profile, and there may be thousands of them. */
struct event_sums {
    uint32_t event;
    struct sp_measure measure; /* texts of the profile */
    int64_t kept, samples;
};

struct events {
    struct sp_asked a; /* the selection to begin with */
    struct sp_by_event by_event;
    struct sp_filters *filters;
    SP_VEC(struct event_sums) list;
};

/* Of the default event, or of the first that has the metric asked for. */
static spaa_status events_begin(struct sp_ask *q, struct sp_answer *out, struct events *x)
{
    struct sp_select_opts o;
    const struct sp_profile *p = q->profiles[0];
    uint32_t event = sp_default_event(p);
    *x = (struct events){0};
    if (!sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    if (o.metric)
        event = sp_metric_event(p, o.metric);
    if (event < p->events.n) {
        o.event_number = &event;
        o.may_be_empty = true; /* others may have what the filters leave */
    }
    return sp_asked_select(q, &o, out, &x->a); /* where no event has it, says what there is */
}

/* What each event would have to look for again. */
static spaa_status events_prepare(struct sp_ask *q, struct events *x)
{
    struct sp_select_opts o;
    if (!sp_by_event_of(q->profiles[0], &x->by_event))
        return sp_nomem(q->diags);
    return sp_ask_select_opts(q, &o) ? sp_filters_of(q->profiles[0], &o, q->diags, &x->filters)
                                     : SPAA_ERR_USAGE;
}

static spaa_status events_add(struct events *x, uint32_t event)
{
    struct sp_ask *q = x->a.q;
    struct sp_select_opts o;
    struct sp_selection s;
    const char *metric = q->options->metric;
    if (metric && sp_event_metric_among(q->profiles[0], &x->by_event, event, metric) == SP_NONE)
        return SPAA_OK;
    if (!sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    o.event_number = &event;
    o.by_event = &x->by_event;
    o.filters = x->filters;
    o.no_thread_names = true; /* the rows are no threads */
    o.may_be_empty = true;
    spaa_status st = sp_ask_select(q, &o, &s);
    if (st)
        return st;
    struct event_sums sums = {event, sp_measure_of(&s), s.kept, s.samples};
    sums.measure.whole = s.event_whole; /* before any filter: what the row has as its whole */
    bool any = s.rows.n > 0;
    sp_selection_free(&s);
    return !any || sp_vec_push(&x->list, sums) ? SPAA_OK : sp_nomem(q->diags);
}

static int events_cmp(const void *va, const void *vb)
{
    const struct event_sums *a = va, *b = vb;
    if (a->samples != b->samples) /* SP_ABSENT is the least */
        return a->samples > b->samples ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

static void events_row(struct events *x, struct sp_answer_table *t, const struct event_sums *s)
{
    struct sp_answer *a = x->a.out;
    const struct sp_measure *m = &s->measure;
    sp_table_row(a, t);
    sp_table_row_measure(a, t, sp_answer_measure(a, m));
    sp_put_int(t, SP_TOP_SELF, s->kept);
    sp_put_int(t, SP_TOP_TOTAL, s->kept);
    sp_put_int(t, SP_TOP_SAMPLES, s->samples);
    sp_put_int(t, SP_TOP_TOTAL_SAMPLES, s->samples);
    sp_put_int(t, SP_TOP_WHOLE, m->whole);
    sp_put_text(a, t, SP_TOP_METRIC, m->metric.p, m->metric.n);
    sp_put_str(a, t, SP_TOP_UNIT, m->unit);
    sp_put_text(a, t, SP_TOP_NAME, m->event.p, m->event.n);
    sp_put_text(a, t, SP_TOP_ROW + SP_FUNCTION_ID, m->event.p, m->event.n);
    sp_put_texts(a, t, SP_TOP_TAGS, NULL, 0);
}

static void events_heading(struct events *x)
{
    struct sp_buf *b = &x->a.b;
    sp_buf_printf(b, "%zu event%s, each in its own metric; shares are of its own whole", x->list.n,
                  x->list.n == 1 ? "" : "s");
    if (x->a.s.filters.len) {
        sp_buf_puts(b, "; ");
        sp_buf_add(b, x->a.s.filters.data, x->a.s.filters.len);
    }
    sp_answer_line_buf(x->a.out, b);
    sp_buf_clear(b);
}

static void events_rows(struct events *x, size_t limit)
{
    struct sp_answer *a = x->a.out;
    struct sp_answer_table *t = sp_answer_table(a, &sp_top_rows);
    if (!t)
        return;
    sp_top_without(t, SP_TOP_AT_MOST, SP_TOP_AT_MOST_PERCENT);
    sp_top_without(t, SP_TOP_CPU_TIME, SP_TOP_INSTRUCTIONS);
    sp_top_without(t, SP_TOP_ROW + SP_FUNCTION_NAME, SP_TOP_ROW + SP_FUNCTION_OWN_BY);
    sp_top_without(t, SP_TOP_MARKS, SP_TOP_POOL + 1);
    sp_table_title(a, t, SP_TOP_ROW + SP_FUNCTION_ID, NULL);
    sp_table_title(a, t, SP_TOP_NAME, "event");
    t->noun = "events";
    t->limit = limit;
    for (size_t i = 0; i < x->list.n; i++)
        events_row(x, t, &x->list.v[i]);
}

static void events_next(struct events *x)
{
    struct sp_buf *b = &x->a.b;
    struct sp_str name = x->list.v[0].measure.event;
    sp_buf_add(b, name.p, name.n);
    struct sp_buf tail;
    sp_buf_init(&tail, 0);
    sp_buf_puts(&tail, "--event ");
    sp_shell_word(&tail, sp_buf_cstr(b));
    sp_answer_next(x->a.out, "top", NULL, sp_buf_cstr(&tail));
    x->a.out->failed |= tail.failed || b->failed;
    sp_buf_free(&tail);
    sp_buf_clear(b);
}

/* Filters that leave nothing of any event: as of the default one. */
static spaa_status say_what_there_is(struct sp_ask *q)
{
    struct sp_select_opts o;
    struct sp_selection s;
    if (!sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_ask_select(q, &o, &s);
    if (!st)
        sp_selection_free(&s);
    return st;
}

spaa_status sp_top_events(struct sp_ask *q, size_t limit, struct sp_answer *out)
{
    struct events x;
    spaa_status st = events_begin(q, out, &x);
    if (!st)
        st = events_prepare(q, &x);
    for (uint32_t e = 0; !st && e < q->profiles[0]->events.n; e++)
        st = events_add(&x, e);
    if (!st && !x.list.n)
        st = say_what_there_is(q);
    if (!st) {
        if (x.list.n)
            qsort(x.list.v, x.list.n, sizeof *x.list.v, events_cmp);
        sp_asked_facts(&x.a);
        events_heading(&x);
        events_rows(&x, limit);
        if (x.list.n)
            events_next(&x);
        st = sp_asked_end(&x.a);
    }
    sp_vec_free(&x.list);
    sp_by_event_free(&x.by_event);
    sp_filters_free(x.filters);
    sp_asked_free(&x.a);
    return st;
}

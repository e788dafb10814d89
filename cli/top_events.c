/*
 * spaa top --by event: every event of the profile, each in its own metric and unit.
 *
 * Weights of different events do not add up and do not compare: a row's shares are of its own event's whole,
 * and rows stand in the order of samples, which all of them count alike, then of the header.
 */
#include "top_events.h"

#include "analysis/names.h"
#include "render/text.h"

#include <stdlib.h>

struct events {
    struct answer *a;
    SP_VEC(struct sp_selection) list; /* without their rows */
};

spaa_status top_events_select(struct cli *c, struct sp_selection *out)
{
    struct sp_select_opts o;
    uint32_t n = (uint32_t)c->profile->events.n, event = sp_default_event(c->profile);
    if (!cli_select_opts(c, &o))
        return SPAA_ERR_USAGE;
    if (o.metric)
        event = sp_metric_event(c->profile, o.metric);
    if (event < n) {
        o.event_number = &event;
        o.may_be_empty = true; /* others may have what the filters leave */
    }
    return sp_select(c->profile, &o, &c->diags, out); /* where no event has it, says what there is */
}

static spaa_status top_events_add_event(struct events *x, uint32_t event)
{
    struct cli *c = x->a->c;
    struct sp_select_opts o;
    struct sp_selection s;
    if (c->v.metric && sp_event_metric(c->profile, event, c->v.metric) == SP_NONE)
        return SPAA_OK;
    if (!cli_select_opts(c, &o))
        return SPAA_ERR_USAGE;
    o.event_number = &event;
    o.may_be_empty = true;
    spaa_status st = sp_select(c->profile, &o, &c->diags, &s);
    if (st)
        return st;
    bool any = s.rows.n > 0;
    sp_vec_free(&s.rows);
    if (any && sp_vec_push(&x->list, s))
        return SPAA_OK;
    sp_selection_free(&s);
    return any ? sp_nomem(&c->diags) : SPAA_OK;
}

static int top_events_cmp_event(const void *va, const void *vb)
{
    const struct sp_selection *a = va, *b = vb;
    if (a->samples != b->samples) /* SP_ABSENT is the least */
        return a->samples > b->samples ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

static struct sp_str event_name(const struct sp_selection *s)
{
    return sp_pstr(s->profile, s->profile->events.v[s->event].name);
}

static struct sp_str top_events_metric_name(const struct sp_selection *s)
{
    return sp_pstr(s->profile, s->profile->metrics.v[s->metric].name);
}

/* ---- JSON ---- */

/* Of each event before any filter: what its row names as its total. */
static void top_events_share(struct answer *a, const char *key)
{
    sp_jw_percent(&a->w, key, a->s->kept, a->s->cannot_add ? 0 : a->s->event_whole);
}

static void top_events_json_row(struct answer *a)
{
    const struct sp_selection *s = a->s;
    struct sp_str name = event_name(s), metric = top_events_metric_name(s);
    struct sp_jw *w = &a->w;
    sp_jw_open(w, NULL, '{');
    sp_jw_str(w, "id", name.p, name.n);
    sp_jw_str(w, "name", name.p, name.n);
    sp_jw_str(w, "metric", metric.p, metric.n);
    if (s->unit.n)
        sp_jw_str(w, "unit", s->unit.p, s->unit.n);
    else
        sp_jw_null(w, "unit");
    answer_weight(a, "whole", s->event_whole);
    answer_weight(a, "self", s->kept);
    top_events_share(a, "self_percent");
    answer_weight(a, "total", s->kept);
    top_events_share(a, "total_percent");
    answer_count(a, "samples", s->samples);
    answer_count(a, "total_samples", s->samples);
    sp_jw_open(w, "tags", '[');
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
}

static int top_events_draw_json(struct events *x, size_t limit)
{
    struct answer *a = x->a;
    struct sp_selection *own = a->s;
    struct sp_buf tail;
    int rc = answer_begin(a, "spaa.top/2");
    if (rc)
        return rc;
    sp_jw_open(&a->w, "rows", '[');
    for (size_t i = 0; i < x->list.n && i < limit; i++) {
        a->s = &x->list.v[i];
        top_events_json_row(a);
    }
    a->s = own;
    sp_jw_close(&a->w, ']');
    sp_jw_open(&a->w, "omitted", '{');
    sp_jw_u64(&a->w, "rows", x->list.n > limit ? x->list.n - limit : 0);
    sp_jw_null(&a->w, "self"); /* of different units */
    sp_jw_close(&a->w, '}');
    sp_buf_init(&tail, 0);
    sp_buf_puts(&tail, "--event ");
    if (x->list.n) {
        sp_buf_clear(&a->b);
        struct sp_str name = event_name(&x->list.v[0]);
        sp_buf_add(&a->b, name.p, name.n);
        command_word(&tail, sp_buf_cstr(&a->b));
    }
    struct answer_next next[] = {{"top", NULL, sp_buf_cstr(&tail)}};
    rc = answer_end(a, next, x->list.n ? 1 : 0);
    sp_buf_free(&tail);
    return rc;
}

/* ---- tables ---- */

static void top_events_cell_share(struct answer *a, struct sp_table *t)
{
    bool exact = a->c->format == FORMAT_CSV;
    sp_buf_clear(&a->b);
    if (!a->s->cannot_add)
        sp_text_percent(&a->b, a->s->kept, a->s->event_whole);
    else
        sp_buf_puts(&a->b, exact ? "" : "-");
    sp_buf_puts(&a->b, exact ? "" : "%");
    cell_buf(t, &a->b);
}

static void top_events_table_row(struct answer *a, struct sp_table *t)
{
    const struct sp_selection *s = a->s;
    cell_weight(a, t, s->kept);
    top_events_cell_share(a, t);
    cell_weight(a, t, s->kept);
    top_events_cell_share(a, t);
    cell_count(t, s->samples);
    cell_weight(a, t, s->event_whole);
    cell_str(t, top_events_metric_name(s));
    cell_str(t, s->unit);
    cell_str(t, event_name(s));
    if (a->c->format == FORMAT_CSV)
        cell_str(t, event_name(s));
}

static void top_events_heading(const struct events *x)
{
    struct cli *c = x->a->c;
    const struct sp_selection *s = x->a->s;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "%zu event%s, each in its own metric; shares are of its own whole", x->list.n,
                  x->list.n == 1 ? "" : "s");
    if (s->filters.len) {
        sp_buf_puts(&b, "; ");
        sp_text_safe(&b, s->filters.data, s->filters.len);
    }
    sp_buf_ch(&b, '\n');
    if (c->format == FORMAT_MARKDOWN) {
        sp_markdown_text(c->out, b.data, b.len);
        sp_puts(c->out, "\n");
    } else if (c->format == FORMAT_TABLE) {
        sp_write(c->out, b.data, b.len);
    }
    sp_buf_free(&b);
}

static int top_events_draw_rows(struct events *x, size_t limit)
{
    static const struct sp_table_column columns[] = {
        {"self", true, false},    {"self%", true, false}, {"total", true, false},   {"total%", true, false},
        {"samples", true, false}, {"whole", true, false}, {"metric", false, false}, {"unit", false, false},
        {"event", false, true},   {"id", false, false}};
    struct cli *c = x->a->c;
    struct sp_selection *own = x->a->s;
    struct sp_table table;
    sp_table_init(&table, columns, c->format == FORMAT_CSV ? 10 : 9);
    for (size_t i = 0; i < x->list.n && i < limit; i++) {
        x->a->s = &x->list.v[i];
        top_events_table_row(x->a, &table);
    }
    x->a->s = own;
    top_events_heading(x);
    int rc = answer_table(c, &table);
    if (!rc && x->list.n > limit && c->format != FORMAT_CSV)
        sp_printf(c->out, "%s%zu more events; %s\n", c->format == FORMAT_MARKDOWN ? "\n" : "",
                  x->list.n - limit, answer_more(c));
    sp_table_free(&table);
    return rc;
}

static int top_events_draw(void *arg, size_t rows)
{
    struct events *x = arg;
    return x->a->c->format == FORMAT_JSON ? top_events_draw_json(x, rows) : top_events_draw_rows(x, rows);
}

/* Filters that leave nothing of any event: as of the default one. */
static spaa_status say_what_there_is(struct cli *c)
{
    struct sp_selection s;
    spaa_status st = cli_select(c, &s);
    if (!st)
        sp_selection_free(&s);
    return st;
}

int top_events(struct answer *a, size_t limit)
{
    struct events x = {.a = a};
    spaa_status st = SPAA_OK;
    for (uint32_t e = 0; !st && e < a->s->profile->events.n; e++)
        st = top_events_add_event(&x, e);
    if (!st && !x.list.n)
        st = say_what_there_is(a->c);
    if (x.list.n)
        qsort(x.list.v, x.list.n, sizeof *x.list.v, top_events_cmp_event);
    int rc = st ? cli_exit_of(st) : cli_stdout(a->c);
    if (!rc)
        rc = answer_fit(a->c, limit < x.list.n ? limit : x.list.n, top_events_draw, &x);
    for (size_t i = 0; i < x.list.n; i++)
        sp_selection_free(&x.list.v[i]);
    sp_vec_free(&x.list);
    return rc;
}

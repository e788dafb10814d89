/* Other weights beside the rows of `top`: --with and --ratio. */
#include "ask/top_parts.h"

#include "analysis/names.h"
#include "model/events.h"

#include <stdio.h>

/* What the columns are of, and the columns: "with.0.self" of people's "EVENT.METRIC self". */
void top_with_columns(struct top *x, struct sp_answer_table *t)
{
    static const struct sp_answer_column columns[] = {
        [WITH_SELF] = {"self", SP_COL_WEIGHT, "self", .flags = SP_COL_ASKED, .doc = NULL},
        [WITH_SELF_PERCENT] = {"self_percent", SP_COL_PERCENT, "self%", "self", .flags = SP_COL_SPARE},
        [WITH_TOTAL] = {"total", SP_COL_WEIGHT, "total", .flags = SP_COL_SPARE},
        [WITH_TOTAL_PERCENT] = {"total_percent", SP_COL_PERCENT, "total%", "total", .flags = SP_COL_SPARE},
        [WITH_SAMPLES] = {"samples", SP_COL_COUNT, .doc = NULL},
        [WITH_TOTAL_SAMPLES] = {"total_samples", SP_COL_COUNT, .doc = NULL}};
    for (size_t k = 0; k < x->nwith; k++) {
        struct sp_measure m = sp_measure_of(&x->with[k]);
        uint32_t measure = sp_answer_measure(x->a.out, &m);
        for (size_t i = 0; i < WITHS; i++) {
            char name[64], of[64];
            struct sp_answer_column c = columns[i];
            snprintf(name, sizeof name, "with.%zu.%s", k, c.name);
            snprintf(of, sizeof of, "with.%zu.%s", k, c.of ? c.of : "");
            sp_buf_clear(&x->a.b);
            if (x->with[k].event != x->a.s.event)
                sp_buf_printf(&x->a.b, "%.*s.", (int)m.event.n, m.event.p);
            sp_buf_printf(&x->a.b, "%.*s %s", (int)m.metric.n, m.metric.p, c.title ? c.title : "");
            c.name = name;
            c.of = c.of ? of : NULL;
            c.title = c.title ? sp_buf_cstr(&x->a.b) : NULL;
            x->a.out->failed |= x->a.b.failed;
            sp_table_add_column(x->a.out, t, &c, measure);
        }
    }
    sp_buf_clear(&x->a.b);
}

void top_with_facts(struct top *x)
{
    struct sp_answer *a = x->a.out;
    if (!x->nwith)
        return;
    sp_answer_open(a, "with", '[');
    for (size_t k = 0; k < x->nwith; k++) {
        struct sp_measure m = sp_measure_of(&x->with[k]);
        sp_answer_open(a, NULL, '{');
        sp_fact_text(a, "event", m.event.p, m.event.n);
        sp_fact_text(a, "metric", m.metric.p, m.metric.n);
        sp_fact_str(a, "unit", m.unit);
        sp_fact_weight(a, "whole", sp_answer_measure(a, &m), m.whole);
        sp_answer_close(a);
    }
    sp_answer_close(a);
}

/*
 * METRIC of the event asked about, EVENT (its primary metric), or EVENT.METRIC; event names may hold dots.
 * What is none of these is taken apart at the last dot, for the error.
 */
static void name_weight(const struct top *x, char *text, struct sp_select_opts *o)
{
    const struct sp_profile *p = x->a.s.profile;
    char *dot = strrchr(text, '.');
    o->event_number = NULL;
    if (sp_event_metric(p, x->a.s.event, text) != SP_NONE) {
        o->event_number = &x->a.s.event;
        o->metric = text;
    } else if (sp_event_find(p, text, strlen(text)) != SP_NONE || !dot) {
        o->event = text;
        o->metric = NULL;
    } else {
        *dot = '\0';
        o->event = text;
        o->metric = dot + 1;
    }
}

/* The rows of another selection beside. */
static spaa_status top_join(struct top *x, struct sp_selection *s)
{
    struct sp_diags *d = x->a.q->diags;
    struct sp_top other;
    spaa_status st = sp_top_by(s, &x->list, false, d, &other);
    if (st)
        return st;
    st = sp_top_join(&x->t, &other, d);
    sp_top_free(&other);
    return st;
}

spaa_status top_add_ratios(struct top *x, bool by_total)
{
    spaa_status st = sp_ratios_of(&x->a, &x->ratios);
    x->ratios.total = by_total;
    if (!st && x->nwith + 2 * x->ratios.n > SP_TOP_EXTRAS)
        st = sp_usage(x->a.q->diags, NULL, "--with and --ratio take at most %d weights together, a ratio two",
                      SP_TOP_EXTRAS);
    for (size_t k = 0; !st && k < x->ratios.n; k++) {
        st = top_join(x, &x->ratios.v[k].of);
        if (!st)
            st = top_join(x, &x->ratios.v[k].per);
    }
    return st;
}

static spaa_status top_add_with(struct top *x, const char *text, size_t n)
{
    struct sp_diags *d = x->a.q->diags;
    struct sp_select_opts o;
    char name[512];
    if (x->nwith == SP_TOP_EXTRAS)
        return sp_usage(d, NULL, "--with takes at most %d weights", SP_TOP_EXTRAS);
    if (!n || n >= sizeof name)
        return sp_usage(d, "like --with samples or --with malloc.alloc_bytes", "--with needs a weight");
    memcpy(name, text, n);
    name[n] = '\0';
    if (!sp_ask_select_opts(x->a.q, &o))
        return SPAA_ERR_USAGE;
    name_weight(x, name, &o);
    o.may_be_empty = true;
    spaa_status st = sp_select(x->a.s.profile, &o, d, &x->with[x->nwith]);
    if (st)
        return st;
    x->nwith++;
    return top_join(x, &x->with[x->nwith - 1]);
}

spaa_status top_add_all_with(struct top *x)
{
    const struct sp_options *v = x->a.q->options;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < v->withs.n; i++)
        for (const char *at = v->withs.v[i]; !st;) {
            size_t n = strcspn(at, ",");
            st = top_add_with(x, at, n);
            at += n;
            if (!*at++)
                break;
        }
    return st;
}

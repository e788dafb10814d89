#include "ask/ratios.h"

#include <stdio.h>
#include <stdlib.h>

/* Columns of each ratio. */
enum { SELF, SELF_LOW, SELF_HIGH, TOTAL, TOTAL_LOW, TOTAL_HIGH, SHOWN, COLUMNS };
static const char *const names[] = {"self",      "self_low",   "self_high", "total",
                                    "total_low", "total_high", "shown"};

static spaa_status ratios_select(const struct sp_asked *x, uint32_t event, struct sp_selection *out,
                                 bool *has)
{
    struct sp_select_opts o;
    if (!sp_ask_select_opts(x->q, &o))
        return SPAA_ERR_USAGE;
    o.event_number = &event;
    o.event = o.metric = NULL;
    o.may_be_empty = true;
    spaa_status st = sp_select(x->s.profile, &o, x->q->diags, out);
    *has = !st;
    if (!st && out->cannot_add)
        st = sp_usage(x->q->diags, NULL, "--ratio: values of that event do not add up");
    return st;
}

spaa_status sp_ratios_of(const struct sp_asked *x, struct sp_ratios *out)
{
    const struct sp_options *o = x->q->options;
    *out = (struct sp_ratios){0};
    if (o->ratios.n > SP_RATIOS)
        return sp_usage(x->q->diags, NULL, "--ratio: at most %d at once", SP_RATIOS);
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < o->ratios.n; i++) {
        struct sp_ratio_asked *a = &out->v[out->n++];
        st = sp_ratio_parse(x->s.profile, o->ratios.v[i], x->q->diags, &a->r);
        if (!st)
            st = ratios_select(x, a->r.of, &a->of, &a->has_of);
        if (!st)
            st = ratios_select(x, a->r.per, &a->per, &a->has_per);
        if (!st && sp_of_one_source(&a->of) && sp_of_one_source(&a->per))
            sp_ratio_take_times(x->s.profile, &a->r);
    }
    return st;
}

void sp_ratios_free(struct sp_ratios *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->v[i].has_of)
            sp_selection_free(&r->v[i].of);
        if (r->v[i].has_per)
            sp_selection_free(&r->v[i].per);
    }
}

/* ---- numbers ---- */

/* Four significant digits. */
static double rounded(double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", v);
    return strtod(text, NULL);
}

static void text_number(struct sp_buf *b, double v)
{
    sp_buf_printf(b, v >= 100 ? "%.0f" : v >= 10 ? "%.1f" : v >= 0.1 ? "%.2f" : "%.2g", v);
}

/* "1.52 (1.40–1.66)", "≤0.31", "-". */
static void text_value(struct sp_buf *b, const struct sp_ratio_value *v)
{
    if (v->sure == SP_RATIO_NONE) {
        sp_buf_puts(b, "-");
        return;
    }
    if (v->sure == SP_RATIO_AT_MOST) {
        sp_buf_puts(b, "≤");
        text_number(b, v->high);
        return;
    }
    text_number(b, v->value);
    sp_buf_puts(b, " (");
    text_number(b, v->low);
    sp_buf_puts(b, "–");
    text_number(b, v->high);
    sp_buf_puts(b, ")");
}

static struct sp_ratio_value value_of(const struct sp_ratio_asked *a, const struct sp_ratio_sums *sums)
{
    return sp_ratio_value(&a->r, &a->of, &a->per, sums);
}

static struct sp_ratio_value whole_of(const struct sp_ratio_asked *a)
{
    struct sp_ratio_sums sums = {a->of.kept, a->per.kept, a->of.samples, a->per.samples};
    return value_of(a, &sums);
}

/* ---- facts and lines ---- */

static void fact_value(struct sp_answer *a, const char *name, const struct sp_ratio_value *v)
{
    char low[32], high[32];
    snprintf(low, sizeof low, "%s_low", name);
    snprintf(high, sizeof high, "%s_high", name);
    if (v->sure == SP_RATIO_KNOWN) {
        sp_fact_real(a, name, rounded(v->value));
        sp_fact_real(a, low, rounded(v->low));
    } else {
        sp_fact_null(a, name);
        sp_fact_null(a, low);
    }
    if (v->sure != SP_RATIO_NONE)
        sp_fact_real(a, high, rounded(v->high));
    else
        sp_fact_null(a, high);
}

static void fact_ran(struct sp_answer *a, const char *name, const struct sp_ratio *r, double ran)
{
    if (r->timed)
        sp_fact_real(a, name, rounded(100 * ran));
    else
        sp_fact_null(a, name);
}

void sp_ratios_facts(struct sp_asked *x, const struct sp_ratios *r, const struct sp_ratio_part *parts)
{
    const struct sp_profile *p = x->s.profile;
    struct sp_answer *a = x->out;
    if (!r->n)
        return;
    sp_answer_open(a, "ratios", '[');
    for (size_t k = 0; k < r->n; k++) {
        const struct sp_ratio_asked *v = &r->v[k];
        struct sp_ratio_value whole = whole_of(v);
        sp_answer_open(a, NULL, '{');
        sp_fact_str(a, "name", v->r.name);
        sp_fact_str(a, "of", sp_pstr(p, p->events.v[v->r.of].name));
        sp_fact_str(a, "per", sp_pstr(p, p->events.v[v->r.per].name));
        sp_fact_real(a, "times", v->r.times);
        fact_ran(a, "of_ran_percent", &v->r, v->r.ran_of);
        fact_ran(a, "per_ran_percent", &v->r, v->r.ran_per);
        fact_value(a, "whole", &whole);
        if (parts) {
            struct sp_ratio_value self = value_of(v, &parts[k].self), total = value_of(v, &parts[k].total);
            fact_value(a, "self", &self);
            fact_value(a, "total", &total);
        }
        sp_answer_close(a);
    }
    sp_answer_close(a);
}

/* "; not said whether their counters took turns": what makes a ratio another one. */
static void say_doubts(struct sp_asked *x, const struct sp_ratio_asked *v)
{
    const struct sp_profile *p = x->s.profile;
    struct sp_str of = sp_pstr(p, p->events.v[v->r.of].name), per = sp_pstr(p, p->events.v[v->r.per].name);
    if (!v->r.alike)
        sp_answer_line(x->out, "! %.*s and %.*s do not count on the same side or kind of processor",
                       (int)of.n, of.p, (int)per.n, per.p);
    if (!v->r.timed && v->r.together == SP_TOGETHER_YES)
        sp_answer_line(x->out, "%.*s and %.*s were counted at the same times, as a group: not scaled",
                       (int)of.n, of.p, (int)per.n, per.p);
    else if (!v->r.timed)
        sp_answer_line(
            x->out,
            "whether the counters took turns (multiplexing) is not recorded: not scaled; a group%s has "
            "them together (`perf record -e '{%.*s,%.*s}:S'`)",
            v->r.together == SP_TOGETHER_UNKNOWN ? ", if they were none," : "", (int)per.n, per.p, (int)of.n,
            of.p);
    else if (v->r.ran_of < 0.9995 || v->r.ran_per < 0.9995)
        sp_answer_line(
            x->out,
            "the counters took turns (multiplexing): %.*s ran %.1f %% of the time, %.*s %.1f %%; scaled",
            (int)of.n, of.p, 100 * v->r.ran_of, (int)per.n, per.p, 100 * v->r.ran_per);
}

void sp_ratios_say(struct sp_asked *x, const struct sp_ratios *r, const struct sp_ratio_part *parts)
{
    const struct sp_profile *p = x->s.profile;
    for (size_t k = 0; k < r->n; k++) {
        const struct sp_ratio_asked *v = &r->v[k];
        struct sp_str of = sp_pstr(p, p->events.v[v->r.of].name),
                      per = sp_pstr(p, p->events.v[v->r.per].name);
        struct sp_buf *b = &x->b;
        struct sp_ratio_value value = whole_of(v);
        sp_buf_clear(b);
        if (!memchr(v->r.name.p, '/', v->r.name.n))
            sp_buf_printf(b, "%.*s = ", (int)v->r.name.n, v->r.name.p);
        sp_buf_printf(b, "%.*s / ", (int)of.n, of.p);
        if (v->r.times != 1)
            sp_buf_printf(b, "%.0f ", v->r.times);
        sp_buf_printf(b, "%.*s, with what chance leaves at 95 %%: ", (int)per.n, per.p);
        if (parts) {
            struct sp_ratio_value self = value_of(v, &parts[k].self), total = value_of(v, &parts[k].total);
            text_value(b, &self);
            sp_buf_puts(b, " of self, ");
            text_value(b, &total);
            sp_buf_puts(b, " of total, ");
        }
        text_value(b, &value);
        sp_buf_puts(b, " of the whole");
        sp_answer_line_buf(x->out, b);
        sp_buf_clear(b);
        /* that nothing is recorded of turns is said once */
        if (!k || !v->r.alike || v->r.timed || v->r.together != r->v[k - 1].r.together)
            say_doubts(x, v);
    }
}

/* ---- columns ---- */

size_t sp_ratios_columns(struct sp_asked *x, const struct sp_ratios *r, struct sp_answer_table *t)
{
    size_t first = t->columns.n;
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < COLUMNS; i++) {
            char name[64];
            struct sp_answer_column c = {
                .name = name, .type = SP_COL_NUMBER, .flags = SP_COL_CSV, .doc = NULL};
            snprintf(name, sizeof name, "ratio.%zu.%s", k, names[i]);
            sp_buf_clear(&x->b);
            if (i == SHOWN) {
                sp_buf_add(&x->b, r->v[k].r.name.p, r->v[k].r.name.n);
                sp_buf_puts(&x->b, r->total ? " of total" : "");
                c.type = SP_COL_TEXT;
                c.flags = SP_COL_NO_JSON | SP_COL_RIGHT | SP_COL_ASKED;
                c.title = sp_buf_cstr(&x->b);
            }
            x->out->failed |= x->b.failed;
            sp_table_add_column(x->out, t, &c, 0);
        }
    sp_buf_clear(&x->b);
    return first;
}

static void put_value(struct sp_answer_table *t, size_t at, const struct sp_ratio_value *v)
{
    if (v->sure == SP_RATIO_KNOWN) {
        sp_put_real(t, at, rounded(v->value));
        sp_put_real(t, at + 1, rounded(v->low));
    }
    if (v->sure != SP_RATIO_NONE)
        sp_put_real(t, at + 2, rounded(v->high));
}

void sp_ratios_put(struct sp_asked *x, const struct sp_ratios *r, struct sp_answer_table *t, size_t first,
                   size_t k, const struct sp_ratio_part *part)
{
    size_t at = first + k * COLUMNS;
    struct sp_ratio_value self = value_of(&r->v[k], &part->self), total = value_of(&r->v[k], &part->total);
    put_value(t, at + SELF, &self);
    put_value(t, at + TOTAL, &total);
    sp_buf_clear(&x->b);
    text_value(&x->b, r->total ? &total : &self);
    sp_put_text(x->out, t, at + SHOWN, sp_buf_cstr(&x->b), x->b.len);
    x->out->failed |= x->b.failed;
    sp_buf_clear(&x->b);
}

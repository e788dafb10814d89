/* top: the heaviest functions, lines, binaries, threads, … */
#include "ask/top.h"

#include "analysis/names.h"
#include "analysis/own_fold.h"
#include "analysis/places.h"
#include "analysis/top_keep.h"
#include "ask/ratios.h"
#include "ask/symbol_options.h"
#include "ask/top_fields.h"
#include "ask/top_same.h"
#include "ask/top_who.h"
#include "model/events.h"
#include "model/identity.h"
#include "model/thread_names.h"

#include <stdio.h>

struct top {
    struct sp_asked a;
    struct sp_top t;
    struct sp_by_list list; /* --by */
    enum sp_by by;          /* the only one of it; SP_TOP_LABEL: a label, or there are several */
    struct sp_selection with[SP_TOP_EXTRAS]; /* --with: the same question of other weights */
    size_t nwith;
    struct sp_ratios ratios;     /* --ratio: their events are extras behind those of --with */
    size_t ratio_at;             /* their first column */
    struct sp_thread_info info;  /* of threads and processes; else empty */
    struct sp_places *places;    /* of lines, for programs; else NULL */
    struct sp_top_fields fields; /* of an event whose rows are its fields; else counted is NULL */
};

/* Columns of each --with, behind the declared ones. */
enum {
    WITH_SELF,
    WITH_SELF_PERCENT,
    WITH_TOTAL,
    WITH_TOTAL_PERCENT,
    WITH_SAMPLES,
    WITH_TOTAL_SAMPLES,
    WITHS
};

/* ---- rows ---- */

/* Rows are of one function each. */
static bool top_is_code(const struct top *x)
{
    for (size_t k = 0; k < x->list.n; k++)
        if (sp_by_is_of_functions(x->list.v[k].kind))
            return true;
    return false;
}

static bool top_is_list(const struct top *x)
{
    return x->list.n > 1;
}

static bool top_has_who(const struct top *x)
{
    return x->by == SP_TOP_THREAD || x->by == SP_TOP_PROCESS;
}

/* "^/usr/lib/libc\.so$" */
static void exact_regex(struct sp_buf *b, struct sp_str name)
{
    sp_buf_ch(b, '^');
    for (uint32_t i = 0; i < name.n; i++) {
        if (memchr("\\^$.[]|()?*+{}", name.p[i], 14))
            sp_buf_ch(b, '\\');
        sp_buf_ch(b, name.p[i]);
    }
    sp_buf_ch(b, '$');
}

static void number_or_nothing(struct sp_buf *b, int64_t v)
{
    if (v != SP_ABSENT)
        sp_buf_i64(b, v);
}

/* What the filter that narrows down to this row takes: --thread TID or POOL, --pid PID, --dso REGEX, … */
static void top_row_id(struct top *x, const struct sp_top_row *r, struct sp_buf *b)
{
    const struct sp_profile *p = x->t.profile;
    const struct sp_context *c = r->context == SP_NONE ? NULL : &p->contexts.v[r->context];
    struct sp_str text = {"", 0};
    if (x->by == SP_TOP_DSO && r->dso != SP_NONE)
        exact_regex(b, sp_dso_name(p, r->dso));
    else if (sp_top_pool(&x->a.s, x->by, r))
        text = sp_str_at(&x->t.names, r->name);
    else if (c && x->by == SP_TOP_THREAD)
        number_or_nothing(b, c->tid);
    else if (c && x->by == SP_TOP_PROCESS)
        number_or_nothing(b, c->pid);
    else if (c && x->by == SP_TOP_CPU)
        number_or_nothing(b, c->cpu);
    else if (c && x->by == SP_TOP_COMM)
        text = sp_pstr(p, sp_context_name(p, c));
    else if (c && x->by == SP_TOP_STATE)
        text = sp_pstr(p, c->state);
    else if (c && x->by == SP_TOP_SOURCE)
        text = sp_pstr(p, c->source);
    else if (c && x->by == SP_TOP_EVENT)
        text = sp_pstr(p, p->events.v[c->event].name);
    sp_buf_add(b, text.p, text.n);
}

/* `[unknown]` says itself that it is no name. */
static void tags_text(struct sp_buf *b, unsigned tags, struct sp_str name)
{
    const unsigned always = SP_TAG_IDLE | SP_TAG_WAIT | SP_TAG_IRQ,
                   shown = sp_str_is(name, "[unknown]") ? always : always | SP_TAG_UNRESOLVED;
    for (unsigned i = 0; sp_tag_words[i]; i++)
        if (tags & shown & 1u << i)
            sp_buf_printf(b, " [%s]", sp_tag_words[i]);
}

static void top_put_tags(struct top *x, struct sp_answer_table *t, unsigned tags)
{
    struct sp_value_text words[8];
    size_t n = 0;
    for (unsigned i = 0; sp_tag_words[i] && n < 8; i++)
        if (tags >> i & 1)
            words[n++] = (struct sp_value_text){sp_tag_words[i], strlen(sp_tag_words[i])};
    sp_put_texts(x->a.out, t, SP_TOP_TAGS, words, n);
}

/* Number of the first column of --by's several kinds. */
static size_t top_keys_at(const struct top *x)
{
    return SP_TOP_NCOLUMNS + x->nwith * WITHS;
}

/* A cell for each kind, and the tags behind the last. */
static void top_put_keys(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    struct sp_buf *b = &x->a.b;
    struct sp_str name = sp_str_at(&x->t.names, r->name);
    if (r->function != SP_NONE)
        sp_put_function(&x->a, t, SP_TOP_ROW, r->function);
    sp_put_text(x->a.out, t, SP_TOP_NAME, name.p, name.n);
    for (size_t k = 0; k < x->list.n; k++) {
        struct sp_str text = sp_top_key_text(&x->t, r, k);
        sp_put_text(x->a.out, t, top_keys_at(x) + k, text.p, text.n);
    }
    tags_text(b, r->tags, name);
    if (b->len)
        sp_put_buf(x->a.out, t, top_keys_at(x) + x->list.n, b);
}

/* A column for each of several kinds, then one of tags. Those of functions are declared: JSON has them once.
 */
static void top_key_columns(struct top *x, struct sp_answer_table *t)
{
    if (!top_is_list(x))
        return;
    for (size_t k = 0; k < x->list.n; k++) {
        struct sp_str title = x->list.v[k].title;
        const char *words = x->list.v[k].words;
        enum sp_by kind = x->list.v[k].kind;
        bool declared = top_is_code(x) && (kind == SP_TOP_FUNCTION || kind == SP_TOP_DSO);
        sp_buf_clear(&x->a.b);
        sp_buf_add(&x->a.b, title.p, title.n);
        const char *name = sp_buf_cstr(&x->a.b);
        struct sp_answer_column c = {.name = name,
                                     .type = kind == SP_TOP_FUNCTION ? SP_COL_NAME
                                             : kind == SP_TOP_DSO    ? SP_COL_DSO
                                                                     : SP_COL_TEXT,
                                     .title = words ? words : name,
                                     .flags = SP_COL_FLEXIBLE | SP_COL_WHOLE_NAME |
                                              (declared ? SP_COL_NO_JSON : 0)};
        sp_table_add_column(x->a.out, t, &c, x->a.measure);
    }
    static const struct sp_answer_column tags = {
        .name = "key_marks", .type = SP_COL_TEXT, .title = "tags", .flags = SP_COL_SUFFIX | SP_COL_NO_JSON};
    sp_table_add_column(x->a.out, t, &tags, x->a.measure);
    sp_buf_clear(&x->a.b);
}

/* A row of code is named by its function, and behind it the line or address: "f file.c:3". */
static void top_put_code(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    const struct sp_profile *p = x->t.profile;
    struct sp_str name = sp_str_at(&x->t.names, r->name), function = name;
    struct sp_buf *b = &x->a.b;
    if (r->function != SP_NONE) {
        sp_put_function(&x->a, t, SP_TOP_ROW, r->function);
        function = sp_pstr(p, p->functions.v[r->function].name);
    } else { /* weight without a stack */
        sp_put_text(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_NAME, name.p, name.n);
    }
    bool begins = name.n >= function.n && memcmp(name.p, function.p, function.n) == 0;
    if (!begins) /* a symbol that is not shown as its function is */
        sp_put_text(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_NAME, name.p, name.n);
    else if (name.n > function.n)
        sp_buf_add(b, name.p + function.n, name.n - function.n);
    tags_text(b, r->tags, name);
    sp_put_buf(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_MARKS, b);
    sp_put_text(x->a.out, t, SP_TOP_NAME, name.p, name.n);
}

static void top_put_other(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    struct sp_str name = sp_str_at(&x->t.names, r->name);
    struct sp_buf *b = &x->a.b;
    top_row_id(x, r, b);
    sp_put_buf(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_ID, b);
    if (x->by == SP_TOP_DSO)
        sp_put_dso(&x->a, t, SP_TOP_NAME, SP_TOP_MARKS, SP_TOP_ROW + SP_FUNCTION_BUILD_ID, r->dso);
    else
        tags_text(b, r->tags, name);
    if (b->len)
        sp_put_buf(x->a.out, t, SP_TOP_MARKS, b);
    sp_put_text(x->a.out, t, SP_TOP_NAME, name.p, name.n);
}

/* A row by line is named "FUNCTION LINE". */
static spaa_status top_put_source(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    struct sp_str name = sp_str_at(&x->t.names, r->name);
    struct sp_source_place at;
    if (!x->places || r->function == SP_NONE)
        return SPAA_OK;
    uint32_t skip = sp_pstr(x->t.profile, x->t.profile->functions.v[r->function].name).n + 1;
    if (name.n <= skip)
        return SPAA_OK;
    spaa_status st =
        sp_places_of_function(x->places, r->function, (struct sp_str){name.p + skip, name.n - skip}, &at);
    if (!st)
        sp_put_source(&x->a, t, SP_TOP_PATH, &at);
    return st;
}

static int64_t known_or_null(int64_t v)
{
    return v < 0 ? SP_ABSENT : v;
}

static void top_put_who(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    const struct sp_thread_info *f = &x->info;
    struct sp_top_who who = sp_top_who(&x->t, x->by, r, &x->a.s.pools, f);
    struct sp_str known = sp_top_who_name(&who, f);
    sp_put_int(t, SP_TOP_PID, known_or_null(who.pid));
    sp_put_int(t, SP_TOP_TID, known_or_null(who.tid));
    sp_put_int(t, SP_TOP_CPU_TIME, known_or_null(who.cpu.cpu_ns));
    sp_put_int(t, SP_TOP_CYCLES, known_or_null(who.cpu.cycles));
    sp_put_int(t, SP_TOP_INSTRUCTIONS, known_or_null(who.cpu.instructions));
    if (who.thread) {
        sp_put_str(x->a.out, t, SP_TOP_THREAD_NAME, sp_pstr(f->profile, who.thread->name));
        sp_put_str(x->a.out, t, SP_TOP_QUEUE, sp_pstr(f->profile, who.thread->queue));
    }
    sp_put_str(x->a.out, t, SP_TOP_PROCESS_NAME,
               who.process && who.process->name ? sp_pstr(f->profile, who.process->name) : who.name);
    if (!known.n)
        return;
    sp_buf_ch(&x->a.b, ' ');
    sp_buf_add(&x->a.b, known.p, known.n);
    sp_put_buf(x->a.out, t, SP_TOP_KNOWN, &x->a.b);
}

static void top_put_ratio(struct top *x, struct sp_answer_table *t, size_t row, size_t k)
{
    const struct sp_top_extra *of = &x->t.extras[x->nwith + 2 * k].v[row],
                              *per = &x->t.extras[x->nwith + 2 * k + 1].v[row];
    struct sp_ratio_part part = {{of->self, per->self, of->samples, per->samples},
                                 {of->total, per->total, of->total_samples, per->total_samples}};
    sp_ratios_put(&x->a, &x->ratios, t, x->ratio_at, k, &part);
}

static void top_put_row(struct top *x, struct sp_answer_table *t, size_t i)
{
    const struct sp_top_row *r = &x->t.rows.v[i];
    sp_table_row(x->a.out, t);
    sp_put_int(t, SP_TOP_SELF, r->self);
    sp_put_int(t, SP_TOP_TOTAL, r->total);
    sp_put_int(t, SP_TOP_AT_MOST, r->at_most);
    sp_put_int(t, SP_TOP_SAMPLES, r->samples);
    sp_put_int(t, SP_TOP_TOTAL_SAMPLES, r->total_samples);
    if (top_is_list(x))
        top_put_keys(x, t, r);
    else if (top_is_code(x))
        top_put_code(x, t, r);
    else
        top_put_other(x, t, r);
    if (top_has_who(x))
        top_put_who(x, t, r);
    sp_put_pool(&x->a, t, SP_TOP_POOL, sp_top_pool(&x->a.s, x->by, r));
    top_put_tags(x, t, r->tags);
    for (size_t k = 0; k < x->ratios.n; k++)
        top_put_ratio(x, t, i, k);
    for (size_t k = 0; k < x->nwith; k++) {
        const struct sp_top_extra *e = &x->t.extras[k].v[i];
        size_t at = SP_TOP_NCOLUMNS + k * WITHS;
        sp_put_int(t, at + WITH_SELF, e->self);
        sp_put_int(t, at + WITH_TOTAL, e->total);
        sp_put_int(t, at + WITH_SAMPLES, e->samples);
        sp_put_int(t, at + WITH_TOTAL_SAMPLES, e->total_samples);
    }
}

/* "label:K"; lent until the scratch is used. */
static const char *top_title(struct top *x)
{
    sp_buf_clear(&x->a.b);
    if (x->list.v[0].words)
        return x->list.v[0].words;
    sp_buf_add(&x->a.b, x->list.v[0].title.p, x->list.v[0].title.n);
    const char *title = sp_buf_cstr(&x->a.b);
    x->a.b.len = 0;
    return title;
}

/* Of several kinds: their columns stand for the row, functions' own are for JSON. */
static void top_shape_list(struct top *x, struct sp_answer_table *t)
{
    for (size_t i = SP_TOP_ROW; i <= SP_TOP_KNOWN; i++)
        sp_table_title(x->a.out, t, i, NULL);
    sp_top_without(t, SP_TOP_MARKS, SP_TOP_KNOWN);
    sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_MARKS);
    sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_BUILD);
    if (!top_is_code(x))
        sp_top_without(t, SP_TOP_ROW, SP_TOP_ROW + SP_FUNCTION_NCOLUMNS - 1);
}

/* In CSV tags have a column of their own, and what rows of code are called beside their functions too. */
static void top_shape_sheet(struct top *x, struct sp_answer_table *t)
{
    sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_MARKS);
    if (x->by != SP_TOP_FUNCTION && top_is_code(x) && !top_is_list(x))
        sp_table_title(x->a.out, t, SP_TOP_NAME, sp_by_names[x->by]);
}

/* What this answer has of the columns. */
static void top_shape(struct top *x, struct sp_answer_table *t)
{
    const struct sp_selection *s = &x->a.s;
    bool tell = x->by <= SP_TOP_DSO && sp_chains_tell(s);
    if (!tell)
        sp_top_without(t, SP_TOP_AT_MOST, SP_TOP_AT_MOST_PERCENT);
    else if (s->kept != s->whole)
        sp_table_title(x->a.out, t, SP_TOP_AT_MOST_PERCENT, NULL);
    sp_top_without(t, SP_TOP_WHOLE, SP_TOP_UNIT);
    if (!x->info.any_cpu)
        sp_top_without(t, SP_TOP_CPU_TIME, SP_TOP_INSTRUCTIONS);
    if (top_is_list(x)) {
        top_shape_list(x, t);
    } else if (top_is_code(x)) {
        sp_table_title(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_NAME, sp_by_names[x->by]);
        sp_table_title(x->a.out, t, SP_TOP_NAME, NULL);
        sp_top_without(t, SP_TOP_MARKS, SP_TOP_KNOWN);
    } else {
        sp_table_title(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_ID, NULL);
        sp_top_without(t, SP_TOP_ROW + SP_FUNCTION_NAME, SP_TOP_ROW + SP_FUNCTION_BUILD);
        sp_top_without(t, SP_TOP_ROW + SP_FUNCTION_OWN, SP_TOP_ROW + SP_FUNCTION_OWN_BY);
        sp_table_title(x->a.out, t, SP_TOP_NAME, sp_by_names[x->by]);
        if (x->by == SP_TOP_LABEL)
            sp_table_title(x->a.out, t, SP_TOP_NAME, top_title(x));
    }
    if (x->by == SP_TOP_DSO)
        t->columns.v[SP_TOP_NAME].type = SP_COL_DSO;
    else if (!top_is_code(x))
        sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_BUILD_ID);
    if (x->a.q->sheet)
        top_shape_sheet(x, t);
    if (!top_has_who(x))
        sp_top_without(t, SP_TOP_PID, SP_TOP_PROCESS_NAME);
    else if (x->by == SP_TOP_THREAD)
        sp_table_without(t, SP_TOP_PROCESS_NAME);
    else
        sp_top_without(t, SP_TOP_TID, SP_TOP_QUEUE);
    if (!x->places)
        sp_top_without(t, SP_TOP_PATH, SP_TOP_PATH + 1);
    if (x->by != SP_TOP_THREAD && x->by != SP_TOP_COMM)
        sp_top_without(t, SP_TOP_POOL, SP_TOP_POOL + 1);
}

/* ---- --with ---- */

/* What the columns are of, and the columns: "with.0.self" of people's "EVENT.METRIC self". */
static void top_with_columns(struct top *x, struct sp_answer_table *t)
{
    static const struct sp_answer_column columns[] = {
        [WITH_SELF] = {"self", SP_COL_WEIGHT, "self", .doc = NULL},
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

static void top_with_facts(struct top *x)
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

static spaa_status top_add_ratios(struct top *x, bool by_total)
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

static spaa_status top_add_all_with(struct top *x)
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

/* ---- the answer ---- */

/* Parts of the peaks of several recordings, each at a time of its own: leaks has them one by one. */
static bool top_peaks_apart(const struct top *x)
{
    return x->a.s.cannot_add && sp_metric_adds(x->a.s.profile, x->a.s.event, x->a.s.metric);
}

/* Commands to ask next, one of them about the function that the program's own weight is in. */
static spaa_status top_next(struct top *x)
{
    struct sp_own_fold f;
    uint32_t hottest = SP_NONE;
    char handle[32];
    if (x->fields.counted) {
        sp_top_fields_next(&x->a);
        return SPAA_OK;
    }
    if (top_peaks_apart(x))
        sp_answer_next(x->a.out, "leaks", NULL, NULL);
    sp_answer_next(x->a.out, "tree", NULL, "--inverted --depth 4");
    sp_answer_next(x->a.out, "flamegraph", NULL, NULL);
    if (x->a.q->brief || !top_is_code(x) || !x->t.rows.n)
        return SPAA_OK;
    spaa_status st = sp_own_fold(&x->a.s, &x->a.own, x->a.q->diags, &f);
    if (st)
        return st;
    st = sp_own_hottest(&x->a.s, &f, x->a.q->diags, &hottest);
    sp_own_fold_free(&f);
    if (!st && hottest != SP_NONE) {
        sp_handle_text(&x->a.handles, hottest, handle);
        sp_answer_next(x->a.out, "function", handle, NULL);
    }
    return st;
}

/* For people: without what follows from the rest; a binary that all rows are of stands in the title. */
static void top_shape_brief(struct top *x, struct sp_answer_table *t, size_t limit)
{
    const size_t name = SP_TOP_ROW + SP_FUNCTION_NAME;
    if (!x->a.q->brief || top_is_list(x) || !top_is_code(x))
        return;
    if (!sp_top_samples_tell(&x->t, &x->a.s, limit))
        sp_table_title(x->a.out, t, SP_TOP_SAMPLES, NULL);
    uint32_t dso = sp_top_only_dso(&x->t, limit);
    if (dso == SP_NONE)
        return;
    const char *names = x->a.q->options->names;
    struct sp_str file = sp_dso_name(x->t.profile, dso);
    if (!names || strcmp(names, "full") != 0)
        file = sp_base_name(file);
    sp_buf_clear(&x->a.b);
    sp_buf_printf(&x->a.b, "%s", sp_by_names[x->by]);
    if (!sp_str_is(file, "[unknown]"))
        sp_buf_printf(&x->a.b, " of %.*s", (int)file.n, file.p);
    sp_table_title(x->a.out, t, name, sp_buf_cstr(&x->a.b));
    sp_table_title(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_DSO, NULL);
    sp_buf_clear(&x->a.b);
}

/* --rows: those of this name, of all. */
static spaa_status top_keep(struct top *x, const char *pattern)
{
    struct sp_answer *a = x->a.out;
    size_t all = x->t.rows.n;
    spaa_status st = pattern ? sp_top_keep(&x->t, pattern, x->a.q->diags) : SPAA_OK;
    if (st || !pattern)
        return st;
    sp_fact_cstr(a, "matching.regex", pattern);
    sp_fact_count(a, "matching.rows", (int64_t)x->t.rows.n);
    sp_fact_count(a, "matching.of", (int64_t)all);
    sp_answer_line(a, "--rows %s: %zu of %zu rows", pattern, x->t.rows.n, all);
    return SPAA_OK;
}

static spaa_status top_answer(struct top *x, bool by_total, size_t limit)
{
    struct sp_diags *d = x->a.q->diags;
    spaa_status st = sp_top_by(&x->a.s, &x->list, by_total, d, &x->t);
    if (!st && top_has_who(x))
        st = sp_thread_info_of(x->a.s.profile, d, &x->info);
    if (!st)
        st = top_add_all_with(x);
    if (!st)
        st = top_add_ratios(x, by_total);
    if (!st)
        st = top_keep(x, x->a.q->options->rows);
    if (st)
        return st;
    struct sp_symbol_opts symbols = sp_symbol_options(x->a.q->options);
    if (x->by == SP_TOP_LINE && !x->a.q->brief && !x->a.q->sheet)
        st = sp_places_new(x->a.s.profile, &symbols, d, &x->places);
    if (st)
        return st;
    top_with_facts(x);
    sp_ratios_facts(&x->a, &x->ratios, NULL);
    sp_ratios_say(&x->a, &x->ratios, NULL);
    if (top_peaks_apart(x))
        sp_answer_line(x->a.out,
                       "each recording has its peak at a time of its own: no sums; spaa leaks, with the same "
                       "options, has each function's part");
    if (x->by == SP_TOP_FUNCTION && !x->nwith && !x->a.q->options->sort)
        sp_top_all_in_one(&x->a, &x->t);
    struct sp_answer_table *t = sp_answer_table(x->a.out, &sp_top_rows);
    if (!t)
        return SPAA_OK;
    top_shape(x, t);
    top_shape_brief(x, t, limit);
    if (x->fields.counted)
        sp_top_fields_shape(&x->a, &x->fields, t);
    top_with_columns(x, t);
    top_key_columns(x, t);
    x->ratio_at = sp_ratios_columns(&x->a, &x->ratios, t);
    t->limit = limit;
    for (size_t i = 0; !st && i < x->t.rows.n; i++) {
        if (i < limit) {
            top_put_row(x, t, i);
            st = top_put_source(x, t, &x->t.rows.v[i]);
        } else {
            t->left_out++;
            t->left_out_sum += x->t.rows.v[i].self;
        }
    }
    return st ? st : top_next(x);
}

/* The facts of the sum as a row, for CSV. */
static void put_sum(struct top *x, const char *regex, int64_t weight, int64_t samples)
{
    struct sp_answer_table *t = sp_answer_table(x->a.out, &sp_top_sums);
    if (!t)
        return;
    t->quiet = t->fixed = true;
    sp_table_row(x->a.out, t);
    sp_put_text(x->a.out, t, SP_TOP_SUM_REGEX, regex, strlen(regex));
    sp_put_int(t, SP_TOP_SUM_TOTAL, weight);
    sp_put_int(t, SP_TOP_SUM_SAMPLES, samples);
}

static spaa_status top_sum(struct top *x, const char *regex)
{
    struct sp_answer *a = x->a.out;
    int64_t weight, samples;
    bool any;
    spaa_status st = sp_top_sum(&x->a.s, regex, x->a.q->diags, &weight, &samples, &any);
    if (st)
        return st;
    sp_fact_cstr(a, "sum.regex", regex);
    sp_fact_weight(a, "sum.total", x->a.measure, weight);
    sp_fact_percent(a, "sum.total_percent", x->a.measure, weight);
    sp_fact_count(a, "sum.samples", samples);
    put_sum(x, regex, weight, samples);
    sp_text_weight_of(&x->a.b, &x->a.s, weight);
    sp_buf_printf(&x->a.b,
                  any ? " in stacks through a function matching %s" : ": no function's name matches %s",
                  regex);
    sp_answer_line_buf(a, &x->a.b);
    sp_buf_clear(&x->a.b);
    return SPAA_OK;
}

static spaa_status top_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    struct sp_by_list by;
    bool by_total;
    if (sp_by_parse(o->by, d, &by) || !sp_option_sort(d, o->sort, &by_total))
        return SPAA_ERR_USAGE;
    bool lines = sp_by_has(&by, SP_TOP_LINE) || sp_by_has(&by, SP_TOP_ADDRESS);
    *out =
        (struct sp_needs){.groups = sp_by_groups(&by), .fields = !o->by, .no_ids = true, .no_lines = !lines};
    return SPAA_OK;
}

static spaa_status top_ask(struct sp_ask *q, struct sp_answer *out)
{
    const struct sp_options *v = q->options;
    struct top x = {0};
    struct sp_select_opts how;
    bool by_total;
    size_t limit;
    if (sp_by_parse(v->by, q->diags, &x.list) || !sp_option_sort(q->diags, v->sort, &by_total) ||
        !sp_ask_limit(q, q->brief ? 15 : 22, &limit) || !sp_ask_select_opts(q, &how))
        return SPAA_ERR_USAGE;
    x.fields = sp_top_fields_of(q, &how);
    x.list = x.fields.counted ? x.fields.list : x.list;
    x.by = top_is_list(&x) ? SP_TOP_LABEL : x.list.v[0].kind;
    if (x.by == SP_TOP_EVENT && !v->event && !v->withs.n && !v->ratios.n && !v->sum && !v->rows)
        return sp_top_events(q, limit, out);
    if (sp_by_has(&x.list, SP_TOP_STATE) && !v->view && !v->state)
        how.view = "all"; /* the split is of everything */
    spaa_status st = x.fields.counted ? sp_top_fields_begin(&x.a, &x.fields, q, &how, out)
                                      : sp_asked_begin_with(q, &how, out, &x.a);
    if (!st)
        st = v->sum ? top_sum(&x, v->sum) : top_answer(&x, by_total, sp_asked_limit(&x.a, limit));
    if (!st)
        st = sp_asked_end(&x.a);
    sp_top_free(&x.t);
    sp_thread_info_free(&x.info);
    sp_places_free(x.places);
    for (size_t i = 0; i < x.nwith; i++)
        sp_selection_free(&x.with[i]);
    sp_ratios_free(&x.ratios);
    sp_asked_free(&x.a);
    return st;
}

const struct sp_question sp_question_top = {
    .name = "top",
    .args = "FILE…",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_TOP | G_RATIO | G_ROWS | G_OWN,
    .title = "the heaviest functions, lines, binaries, threads, …",
    .examples = "spaa top perf.data\n"
                "spaa top perf.data --sort total -n 0 # every function, callers first\n"
                "spaa top perf.data --by thread\n"
                "spaa top stacks.folded --sort total --rows malloc # by name or binary\n"
                "spaa top perf.data --with samples # another weight beside\n"
                "spaa top perf.data --sum 'malloc|free' # exact weight of stacks through any of these",
    .schema = "spaa.top/3",
    .facts = sp_top_facts,
    .tables = sp_top_tables,
    .needs = top_needs,
    .ask = top_ask,
};

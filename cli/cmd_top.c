/* spaa top: the heaviest functions, lines, binaries, threads, … */
#include "answer.h"

#include "analysis/names.h"
#include "analysis/own_fold.h"
#include "analysis/top.h"
#include "base/num.h"
#include "render/text.h"
#include "top_events.h"
#include "top_threads.h"

struct top {
    struct answer a;
    struct sp_top t;
    enum sp_by by;
    struct sp_selection with[SP_TOP_EXTRAS]; /* --with: the same question of other weights */
    size_t nwith;
    struct sp_thread_info info; /* of threads and processes; else empty */
    uint32_t hottest;           /* the function to ask about next, once it was looked for; or SP_NONE */
    bool has_hottest;
};

/* What the filter that narrows down to this row takes: --thread TID or POOL, --pid PID, --dso REGEX, … */
static void row_id(struct top *x, const struct sp_top_row *r, struct sp_buf *b)
{
    const struct sp_profile *p = x->t.profile;
    const struct sp_context *c = r->context == SP_NONE ? NULL : &p->contexts.v[r->context];
    char handle[32];
    sp_buf_clear(b);
    if (r->function != SP_NONE) {
        sp_buf_add(b, handle, sp_handle_text(&x->a.handles, r->function, handle));
    } else if (x->by == SP_TOP_DSO && r->dso != SP_NONE) {
        struct sp_str name = dso_name(p, r->dso);
        sp_buf_ch(b, '^');
        for (uint32_t i = 0; i < name.n; i++) {
            if (memchr("\\^$.[]|()?*+{}", name.p[i], 14))
                sp_buf_ch(b, '\\');
            sp_buf_ch(b, name.p[i]);
        }
        sp_buf_ch(b, '$');
    } else if (sp_top_pool(x->a.s, x->by, r)) {
        struct sp_str name = sp_str_at(&x->t.names, r->name);
        sp_buf_add(b, name.p, name.n);
    } else if (c && x->by == SP_TOP_THREAD && c->tid != SP_ABSENT) {
        sp_buf_i64(b, c->tid);
    } else if (c && x->by == SP_TOP_PROCESS && c->pid != SP_ABSENT) {
        sp_buf_i64(b, c->pid);
    } else if (c && x->by == SP_TOP_CPU && c->cpu != SP_ABSENT) {
        sp_buf_i64(b, c->cpu);
    } else if (c && (x->by == SP_TOP_COMM || x->by == SP_TOP_STATE || x->by == SP_TOP_SOURCE)) {
        struct sp_str t = sp_pstr(p, x->by == SP_TOP_COMM    ? c->comm
                                     : x->by == SP_TOP_STATE ? c->state
                                                             : c->source);
        sp_buf_add(b, t.p, t.n);
    } else if (c && x->by == SP_TOP_EVENT) {
        struct sp_str t = sp_pstr(p, p->events.v[c->event].name);
        sp_buf_add(b, t.p, t.n);
    }
}

static struct top_who cmd_top_who_of(const struct top *x, const struct sp_top_row *r)
{
    return top_who(&x->t, x->by, r, &x->a.s->pools);
}

/* ---- JSON ---- */

static void json_weights(struct answer *a, int64_t self, int64_t total, int64_t samples,
                         int64_t total_samples)
{
    answer_weight(a, "self", self);
    answer_percent(a, "self_percent", self);
    answer_weight(a, "total", total);
    answer_percent(a, "total_percent", total);
    answer_count(a, "samples", samples);
    answer_count(a, "total_samples", total_samples);
}

static void cmd_top_json_row(struct top *x, size_t i)
{
    const struct sp_top_row *r = &x->t.rows.v[i];
    struct sp_str name = sp_str_at(&x->t.names, r->name);
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, NULL, '{');
    if (r->function != SP_NONE) {
        answer_function(&x->a, r->function);
    } else {
        row_id(x, r, &x->a.b);
        if (x->a.b.len)
            sp_jw_str(w, "id", x->a.b.data, x->a.b.len);
        else
            sp_jw_null(w, "id");
        if (x->by <= SP_TOP_ADDRESS) { /* weight without a stack */
            sp_jw_str(w, "function", name.p, name.n);
            sp_jw_null(w, "dso");
            answer_own(&x->a, SP_NONE);
        }
        dso_build_json(w, x->t.profile, r->dso);
    }
    sp_jw_str(w, "name", name.p, name.n);
    json_weights(&x->a, r->self, r->total, r->samples, r->total_samples);
    if (x->by <= SP_TOP_DSO)
        answer_at_most(&x->a, r->at_most);
    struct sp_selection *own = x->a.s;
    for (size_t k = 0; k < x->nwith; k++) {
        const struct sp_top_extra *e = &x->t.extras[k].v[i];
        x->a.s = &x->with[k];
        if (!k)
            sp_jw_open(w, "with", '[');
        sp_jw_open(w, NULL, '{');
        json_weights(&x->a, e->self, e->total, e->samples, e->total_samples);
        sp_jw_close(w, '}');
        if (k + 1 == x->nwith)
            sp_jw_close(w, ']');
    }
    x->a.s = own;
    if (x->by == SP_TOP_THREAD || x->by == SP_TOP_PROCESS)
        top_threads_json(w, &x->info, x->by, cmd_top_who_of(x, r));
    if (x->by == SP_TOP_THREAD || x->by == SP_TOP_COMM)
        pool_json(w, &x->a.s->pools, sp_top_pool(x->a.s, x->by, r));
    sp_jw_open(w, "tags", '[');
    for (unsigned k = 0; sp_tag_words[k]; k++)
        if (r->tags >> k & 1)
            sp_jw_cstr(w, NULL, sp_tag_words[k]);
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
}

/* What the columns of --with are. */
static void json_with(struct top *x)
{
    struct sp_jw *w = &x->a.w;
    if (!x->nwith)
        return;
    sp_jw_open(w, "with", '[');
    for (size_t k = 0; k < x->nwith; k++) {
        const struct sp_selection *s = &x->with[k];
        struct sp_str event = sp_pstr(s->profile, s->profile->events.v[s->event].name),
                      metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "event", event.p, event.n);
        sp_jw_str(w, "metric", metric.p, metric.n);
        if (s->unit.n)
            sp_jw_str(w, "unit", s->unit.p, s->unit.n);
        else
            sp_jw_null(w, "unit");
        if (s->cannot_add)
            sp_jw_null(w, "whole");
        else
            sp_jw_scaled(w, "whole", s->whole, s->scale);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

/* The function to ask about next. */
static spaa_status find_hottest(struct top *x)
{
    struct sp_own_fold f;
    if (x->has_hottest)
        return SPAA_OK;
    x->hottest = SP_NONE;
    x->has_hottest = true;
    if (x->by > SP_TOP_ADDRESS || !x->t.rows.n)
        return SPAA_OK;
    spaa_status st = sp_own_fold(x->a.s, &x->a.own, &x->a.c->diags, &f);
    if (st)
        return st;
    st = sp_own_hottest(x->a.s, &f, &x->a.c->diags, &x->hottest);
    sp_own_fold_free(&f);
    return st;
}

static int cmd_top_draw_json(struct top *x, size_t limit)
{
    struct answer *a = &x->a;
    const struct sp_top *t = &x->t;
    int64_t omitted = 0;
    char handle[32] = "";
    spaa_status st = answer_ready(a);
    if (!st)
        st = find_hottest(x);
    int rc = st ? cli_exit_of(st) : answer_begin(a, "spaa.top/2");
    if (rc)
        return rc;
    json_with(x);
    sp_jw_open(&a->w, "rows", '[');
    for (size_t i = 0; i < t->rows.n; i++) {
        if (i < limit)
            cmd_top_json_row(x, i);
        else
            omitted += t->rows.v[i].self;
    }
    sp_jw_close(&a->w, ']');
    sp_jw_open(&a->w, "omitted", '{');
    sp_jw_u64(&a->w, "rows", t->rows.n > limit ? t->rows.n - limit : 0);
    answer_weight(a, "self", omitted);
    sp_jw_close(&a->w, '}');
    struct answer_next next[3] = {{"tree", NULL, "--inverted --depth 4"}, {"flamegraph", NULL, NULL}};
    size_t n = 2;
    if (x->hottest != SP_NONE) {
        sp_handle_text(&a->handles, x->hottest, handle);
        next[n++] = (struct answer_next){"function", handle, NULL};
    }
    return answer_end(a, next, n);
}

/* ---- tables ---- */

static void tags_text(struct sp_buf *b, unsigned tags)
{
    const unsigned shown = SP_TAG_UNRESOLVED | SP_TAG_IDLE | SP_TAG_WAIT | SP_TAG_IRQ;
    for (unsigned i = 0; sp_tag_words[i]; i++)
        if (tags & shown & 1u << i)
            sp_buf_printf(b, " [%s]", sp_tag_words[i]);
}

/* Whether totals are bounds, and what they are at most is known. */
static bool bounded(const struct top *x)
{
    return x->by <= SP_TOP_DSO && x->t.rows.n && sp_chains_tell(x->a.s) && x->a.s->kept == x->a.s->whole;
}

/* CPU time of a row's thread or process, for people with a unit. */
static void cell_cpu(struct top *x, struct sp_table *table, int64_t ns)
{
    const struct sp_selection unit = {.unit = {"ns", 2}};
    sp_buf_clear(&x->a.b);
    if (ns >= 0 && x->a.c->format == FORMAT_CSV)
        sp_buf_i64(&x->a.b, ns);
    else if (ns >= 0)
        weight_text(&x->a.b, &unit, ns);
    cell_buf(table, &x->a.b);
}

static void cmd_top_table_row(struct top *x, struct sp_table *table, size_t i)
{
    const struct sp_top_row *r = &x->t.rows.v[i];
    struct sp_buf *b = &x->a.b;
    cell_weight(&x->a, table, r->self);
    cell_percent(&x->a, table, r->self);
    cell_weight(&x->a, table, r->total);
    cell_percent(&x->a, table, r->total);
    if (bounded(x))
        cell_at_most(&x->a, table, r->at_most);
    cell_count(table, r->samples);
    struct sp_selection *own = x->a.s;
    for (size_t k = 0; k < x->nwith; k++) {
        const struct sp_top_extra *e = &x->t.extras[k].v[i];
        x->a.s = &x->with[k];
        cell_weight(&x->a, table, e->self);
        cell_percent(&x->a, table, e->self);
        cell_weight(&x->a, table, e->total);
        cell_percent(&x->a, table, e->total);
    }
    x->a.s = own;
    struct top_who who = cmd_top_who_of(x, r);
    if (x->info.any_cpu)
        cell_cpu(x, table, top_threads_cpu(&x->info, who));
    struct sp_str name = sp_str_at(&x->t.names, r->name), known = top_threads_name(&x->info, who);
    sp_buf_clear(b);
    sp_buf_add(b, name.p, name.n);
    if (x->by == SP_TOP_DSO)
        dso_build_text(b, x->t.profile, r->dso);
    tags_text(b, r->tags);
    if (known.n && x->a.c->format != FORMAT_CSV) {
        sp_buf_ch(b, ' ');
        sp_buf_add(b, known.p, known.n);
    }
    cell_buf(table, b);
    if (x->by <= SP_TOP_ADDRESS) {
        struct sp_str dso = dso_name(x->t.profile, r->dso);
        sp_buf_add(b, dso.p, dso.n);
        dso_build_text(b, x->t.profile, r->dso);
        cell_buf(table, b);
    }
    if (x->a.c->format == FORMAT_CSV) {
        row_id(x, r, b);
        cell_buf(table, b);
    }
}

/* Titles of --with: "EVENT.METRIC self", …: lent from `names`. */
static size_t cmd_top_columns_of(struct top *x, struct sp_arena *names, struct sp_table_column *columns)
{
    static const struct sp_table_column own[] = {{"self", true, false},
                                                 {"self%", true, false},
                                                 {"total", true, false},
                                                 {"total%", true, false},
                                                 {"samples", true, false}};
    size_t n = sizeof own / sizeof *own;
    memcpy(columns, own, sizeof own);
    if (bounded(x)) {
        columns[n] = columns[n - 1];
        columns[n++ - 1] = (struct sp_table_column){"at most%", true, false};
    }
    for (size_t k = 0; k < x->nwith; k++) {
        const struct sp_profile *p = x->t.profile;
        const struct sp_selection *s = &x->with[k];
        struct sp_str event = sp_pstr(p, p->events.v[s->event].name),
                      metric = sp_pstr(p, p->metrics.v[s->metric].name);
        for (int i = 0; i < 4; i++) {
            sp_buf_clear(&x->a.b);
            if (s->event != x->a.s->event) {
                sp_text_safe(&x->a.b, event.p, event.n);
                sp_buf_ch(&x->a.b, '.');
            }
            sp_text_safe(&x->a.b, metric.p, metric.n);
            sp_buf_printf(&x->a.b, " %s", own[i].title);
            const char *title = sp_arena_dup(names, x->a.b.data, x->a.b.len);
            columns[n++] = (struct sp_table_column){title ? title : "", true, false};
        }
    }
    if (x->info.any_cpu)
        columns[n++] =
            (struct sp_table_column){x->a.c->format == FORMAT_CSV ? "cpu_ns" : "cpu time", true, false};
    columns[n++] = (struct sp_table_column){sp_by_names[x->by], false, true};
    if (x->by <= SP_TOP_ADDRESS)
        columns[n++] = (struct sp_table_column){"dso", false, true};
    if (x->a.c->format == FORMAT_CSV)
        columns[n++] = (struct sp_table_column){"id", false, false};
    return n;
}

static int cmd_top_draw_rows(struct top *x, size_t limit)
{
    struct cli *c = x->a.c;
    const struct sp_top *t = &x->t;
    struct sp_table_column columns[10 + 4 * SP_TOP_EXTRAS];
    struct sp_arena names;
    struct sp_table table;
    size_t shown = t->rows.n < limit ? t->rows.n : limit;
    int64_t omitted = 0;
    spaa_status st;
    if (c->format == FORMAT_CSV && (st = answer_ready(&x->a)) != SPAA_OK)
        return cli_exit_of(st);
    sp_arena_init(&names, 0);
    sp_table_init(&table, columns, cmd_top_columns_of(x, &names, columns));
    for (size_t i = 0; i < t->rows.n; i++) {
        if (i < shown)
            cmd_top_table_row(x, &table, i);
        else
            omitted += t->rows.v[i].self;
    }
    answer_heading(c, x->a.s);
    int rc = answer_table(c, &table);
    if (!rc && shown < t->rows.n && c->format != FORMAT_CSV) {
        sp_buf_clear(&x->a.b);
        percent_text(&x->a.b, x->a.s, omitted);
        sp_printf(c->out, "%s%zu more rows with %s%% of self weight; %s\n",
                  c->format == FORMAT_MARKDOWN ? "\n" : "", t->rows.n - shown, sp_buf_cstr(&x->a.b),
                  answer_more(c));
    }
    sp_table_free(&table);
    sp_arena_free(&names);
    return rc;
}

static int cmd_top_draw(void *arg, size_t rows)
{
    struct top *x = arg;
    return x->a.c->format == FORMAT_JSON ? cmd_top_draw_json(x, rows) : cmd_top_draw_rows(x, rows);
}

/* ---- --sum ---- */

static int answer_sum(struct answer *a)
{
    struct cli *c = a->c;
    int64_t weight, samples;
    spaa_status st = sp_top_sum(a->s, c->v.sum, &c->diags, &weight, &samples);
    int rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (rc)
        return rc;
    if (c->format == FORMAT_JSON) {
        answer_open(c, &a->w, "spaa.top/2", a->s);
        sp_jw_open(&a->w, "sum", '{');
        sp_jw_cstr(&a->w, "regex", c->v.sum);
        answer_weight(a, "total", weight);
        answer_percent(a, "total_percent", weight);
        answer_count(a, "samples", samples);
        sp_jw_close(&a->w, '}');
        answer_close(c, &a->w);
        return EXIT_FINE;
    }
    struct sp_buf *b = &a->b;
    answer_heading(c, a->s);
    if (a->s->cannot_add)
        sp_buf_ch(b, '-');
    else
        weight_text(b, a->s, weight);
    sp_buf_puts(b, " (");
    percent_text(b, a->s, weight);
    sp_buf_puts(b, "%) in stacks through a function matching ");
    sp_text_safe(b, c->v.sum, strlen(c->v.sum));
    sp_buf_ch(b, '\n');
    sp_write(c->out, b->data, b->len);
    return EXIT_FINE;
}

/* ---- --with ---- */

/*
 * METRIC of the event asked about, EVENT (its primary metric), or EVENT.METRIC; event names may hold dots.
 * What is none of these is taken apart at the last dot, for the error.
 */
static void name_weight(const struct top *x, char *text, struct sp_select_opts *o)
{
    const struct sp_profile *p = x->a.s->profile;
    size_t n = strlen(text);
    char *dot = strrchr(text, '.');
    o->event_number = NULL;
    if (sp_event_metric(p, x->a.s->event, text) != SP_NONE) {
        o->event_number = &x->a.s->event;
        o->metric = text;
    } else if (sp_event_find(p, text, n) != SP_NONE || !dot) {
        o->event = text;
        o->metric = NULL;
    } else {
        *dot = '\0';
        o->event = text;
        o->metric = dot + 1;
    }
}

static int add_with(struct top *x, const char *text, size_t n)
{
    struct cli *c = x->a.c;
    struct sp_select_opts o;
    struct sp_top other;
    char name[512];
    if (x->nwith == SP_TOP_EXTRAS)
        return cli_usage(c, NULL, "--with takes at most %d weights", SP_TOP_EXTRAS);
    if (!n || n >= sizeof name)
        return cli_usage(c, "like --with samples or --with malloc.alloc_bytes", "--with needs a weight");
    memcpy(name, text, n);
    name[n] = '\0';
    if (!cli_select_opts(c, &o))
        return EXIT_USAGE;
    name_weight(x, name, &o);
    o.may_be_empty = true;
    spaa_status st = sp_select(c->profile, &o, &c->diags, &x->with[x->nwith]);
    if (st)
        return cli_exit_of(st);
    x->nwith++;
    st = sp_top_build(&x->with[x->nwith - 1], x->by, false, &c->diags, &other);
    if (!st) {
        st = sp_top_join(&x->t, &other, &c->diags);
        sp_top_free(&other);
    }
    return cli_exit_of(st);
}

static int add_all_with(struct top *x)
{
    const struct cli *c = x->a.c;
    int rc = EXIT_FINE;
    for (size_t i = 0; !rc && i < c->v.withs.n; i++) {
        for (const char *at = c->v.withs.v[i]; !rc;) {
            size_t n = strcspn(at, ",");
            rc = add_with(x, at, n);
            at += n;
            if (!*at++)
                break;
        }
    }
    return rc;
}

int sp_cmd_top(struct cli *c)
{
    int by;
    bool by_total;
    size_t limit;
    struct sp_selection s;
    struct top x = {0};
    if (!cli_choice(c, "by", c->v.by, sp_by_names, SP_TOP_FUNCTION, &by) || !cli_sort(c, &by_total) ||
        !answer_limit(c, 22, &limit))
        return EXIT_USAGE;
    static const unsigned groups[] = {[SP_TOP_THREAD] = SP_BY_TID,
                                      [SP_TOP_PROCESS] = SP_BY_PID,
                                      [SP_TOP_COMM] = SP_BY_COMM,
                                      [SP_TOP_CPU] = SP_BY_CPU,
                                      [SP_TOP_SOURCE] = 0};
    x.by = (enum sp_by)by;
    c->needs_groups = groups[by];
    c->no_ids = true;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    if (by == SP_TOP_STATE && !c->v.view && !c->v.state)
        c->v.view = "all"; /* the split is of everything */
    bool events = by == SP_TOP_EVENT && !c->v.event && !c->v.withs.n && !c->v.sum;
    spaa_status st = events ? top_events_select(c, &s) : cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    answer_init(&x.a, c, &s);
    if (c->v.sum) {
        rc = answer_sum(&x.a);
    } else if (events) {
        rc = top_events(&x.a, limit);
    } else {
        size_t shown = limit == SIZE_MAX || c->v.withs.n ? 0 : limit; /* rows of --with may be any */
        rc = cli_exit_of(sp_top_build_some(&s, x.by, by_total, shown, &c->diags, &x.t));
        if (!rc && (by == SP_TOP_THREAD || by == SP_TOP_PROCESS))
            rc = cli_exit_of(sp_thread_info_of(c->profile, &c->diags, &x.info));
        if (!rc)
            rc = add_all_with(&x);
        if (!rc)
            rc = cli_stdout(c);
        if (!rc)
            rc = answer_fit(c, limit < x.t.rows.n ? limit : x.t.rows.n, cmd_top_draw, &x);
    }
    sp_top_free(&x.t);
    sp_thread_info_free(&x.info);
    for (size_t i = 0; i < x.nwith; i++)
        sp_selection_free(&x.with[i]);
    answer_free(&x.a);
    sp_selection_free(&s);
    return rc;
}

/* top: the heaviest functions, lines, binaries, threads, … */
#include "ask/top_parts.h"

#include "analysis/own_fold.h"
#include "analysis/top_keep.h"
#include "ask/symbol_options.h"
#include "ask/top_same.h"
#include "model/events.h"

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

/* --rows: those of this name, of all. */
static spaa_status top_keep(struct top *x, const char *pattern)
{
    struct sp_answer *a = x->a.out;
    static const char *const of[] = {"name", "binary", NULL};
    const char *asked = x->a.q->options->rows_of;
    size_t all = x->t.rows.n;
    int by;
    if (asked && !pattern)
        return sp_usage(x->a.q->diags, "--rows REGEX --rows-of name", "--rows-of says what --rows looks at");
    if (!pattern)
        return SPAA_OK;
    if (!sp_option_choice(x->a.q->diags, "rows-of", asked, of, -1, &by))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_top_keep(&x->t, pattern, (enum sp_top_keep_by)(by + 1), x->a.q->diags);
    if (st)
        return st;
    sp_fact_cstr(a, "matching.regex", pattern);
    sp_fact_count(a, "matching.rows", (int64_t)x->t.rows.n);
    sp_fact_count(a, "matching.of", (int64_t)all);
    sp_answer_line(a, "--rows %s%s%s: %zu of %zu rows", pattern, asked ? " --rows-of " : "",
                   asked ? asked : "", x->t.rows.n, all);
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
    if (v->ratios.n && sp_by_has(&x.list, SP_TOP_EVENT))
        return sp_usage(q->diags, "another --by, such as function or thread",
                        "--ratio is of two events, and rows of --by event are of one each");
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

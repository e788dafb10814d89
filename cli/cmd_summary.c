/* spaa summary: what was profiled, how good the data is, where the weight is, what looks wrong, what to ask
 * next. */
#include "findings_text.h"

#include "analysis/interval.h"
#include "analysis/own_fold.h"
#include "analysis/top.h"
#include "base/num.h"
#include "model/callees.h"
#include "render/text.h"

#include <math.h>

enum { PATH_MAX_STEPS = SP_OWN_STEPS, NEXT = 3, CALLEES = 3, NAME_COLUMNS = 64 };

/* What a summary is made of, in the order it is given up when there is a budget: round by round. */
enum section { HOT, FINDINGS, PATH, NEXTS, THREADS, DSOS, PROCESSES, SECTIONS };
static const unsigned char most_rows[SECTIONS] = {
    [HOT] = 5,     [FINDINGS] = 8, [PATH] = PATH_MAX_STEPS, [NEXTS] = NEXT,
    [THREADS] = 5, [DSOS] = 5,     [PROCESSES] = 5};

struct brief {
    struct answer a;
    struct sp_top threads, dsos, processes;
    struct sp_findings findings;
    struct sp_own_fold fold;
    uint32_t hottest; /* function to ask about, or SP_NONE */
    struct sp_buf next[NEXT];
    size_t nnext;
    size_t n[SECTIONS], show[SECTIONS];
};

/* ---- what there is to say ---- */

/* Why names are missing, in the words of the symbolizer's own report where there is one. */
static const struct sp_diag *cmd_summary_reason(const struct brief *x)
{
    const struct sp_diags *d = &x->a.c->diags;
    for (size_t i = 0; i < d->list.n; i++)
        if (d->list.v[i].code == SP_I320)
            return &d->list.v[i];
    return NULL;
}

/* What of the input is missing: it was cut off, damaged, or never finished. Lost samples stand with quality.
 */
static bool is_missing(const struct sp_diag *g)
{
    return (g->severity >= SP_LOSS && g->code != SP_L303 && g->code != SP_L304) || g->code == SP_W310;
}

/* The next diagnostic of something missing from i on, the first of its code; NULL: there is none. */
static const struct sp_diag *next_missing(const struct brief *x, size_t *i)
{
    const struct sp_diags *d = &x->a.c->diags;
    for (; *i < d->list.n; ++*i) {
        const struct sp_diag *g = &d->list.v[*i];
        bool first = is_missing(g);
        for (size_t k = 0; first && k < *i; k++)
            first = d->list.v[k].code != g->code;
        if (first)
            return &d->list.v[(*i)++];
    }
    return NULL;
}

static void add_next(struct brief *x, const struct answer_next *next)
{
    if (x->nnext == NEXT)
        return;
    sp_buf_clear(&x->next[x->nnext]);
    command_text(&x->next[x->nnext], x->a.c, next);
    x->nnext++;
}

/* The hottest function, the first finding of weight, and the drawing. */
static void find_next(struct brief *x)
{
    char handle[32] = "";
    uint32_t hottest = x->hottest;
    if (hottest != SP_NONE) {
        sp_handle_text(&x->a.handles, hottest, handle);
        add_next(x, &(struct answer_next){"function", handle, NULL});
    }
    struct sp_buf word;
    sp_buf_init(&word, 0);
    for (size_t i = 0; i < x->findings.list.n && x->nnext < 2; i++) {
        const struct sp_finding *f = &x->findings.list.v[i];
        uint32_t about = f->from != SP_NONE ? f->from : f->function;
        if ((about == SP_NONE && f->context == SP_NONE) || (about != SP_NONE && about == hottest))
            continue;
        struct answer_next next = finding_next(&x->a, f, &word);
        add_next(x, &next);
    }
    sp_buf_free(&word);
    if (x->nnext < 2)
        add_next(x, &(struct answer_next){"tree", NULL, "--inverted --depth 4"});
    add_next(x, &(struct answer_next){"flamegraph", NULL, "-o flame.svg"});
}

static spaa_status cmd_summary_gather(struct brief *x)
{
    struct sp_selection *s = x->a.s;
    struct sp_diags *d = &x->a.c->diags;
    spaa_status st = answer_ready(&x->a);
    if (!st)
        st = sp_own_fold(s, &x->a.own, d, &x->fold);
    if (!st)
        st = sp_top_build(s, SP_TOP_THREAD, false, d, &x->threads);
    if (!st)
        st = sp_top_build_some(s, SP_TOP_DSO, false, most_rows[DSOS], d, &x->dsos);
    if (!st)
        st = sp_top_build(s, SP_TOP_PROCESS, false, d, &x->processes);
    if (!st)
        st = sp_findings_of(s, &x->a.q, &x->a.own, d, &x->findings);
    if (st)
        return st;
    st = sp_own_hottest(s, &x->fold, d, &x->hottest);
    if (st)
        return st;
    find_next(x);
    const size_t n[SECTIONS] = {
        [HOT] = x->fold.rows.n,
        [FINDINGS] = x->findings.list.n,
        [PATH] = x->fold.nsteps,
        [NEXTS] = x->nnext,
        [THREADS] = x->threads.rows.n,
        [DSOS] = x->dsos.rows.n,
        [PROCESSES] = x->processes.rows.n > 1 || x->a.c->format == FORMAT_JSON ? x->processes.rows.n : 0};
    memcpy(x->n, n, sizeof n);
    return SPAA_OK;
}

static struct sp_str row_name(const struct brief *x, uint32_t function)
{
    const struct sp_profile *p = x->a.s->profile;
    return function == SP_NONE ? (struct sp_str){"[no own function]", 17}
                               : sp_pstr(p, p->functions.v[function].name);
}

static bool is_irq(const struct brief *x, uint32_t function)
{
    return function != SP_NONE && sp_function_tags(x->a.s->profile, x->a.s->event, function) & SP_TAG_IRQ;
}

/* " (of it 55.00% in std::map, malloc, memcpy)", where it calls anything that weighs. */
static void beneath_text(struct brief *x, struct sp_buf *b, bool own, const struct sp_own_sum *sum)
{
    if (!sum->n || sum->beneath <= 0 || x->a.s->cannot_add)
        return;
    sp_buf_puts(b, own ? " (of it " : " (");
    if (own)
        percent_text(b, x->a.s, sum->beneath);
    sp_buf_puts(b, own ? "% in " : "in ");
    for (size_t i = 0; i < sum->n && i < CALLEES; i++) {
        struct sp_str name = sp_str_at(&x->fold.names, x->fold.callees.v[sum->first + i].name);
        sp_buf_puts(b, i ? ", " : "");
        sp_text_fit(b, name.p, name.n, 40);
    }
    sp_buf_puts(b, sum->n > CALLEES ? ", …)" : ")");
}

/* ---- JSON ---- */

static void json_rows(struct brief *x, const char *key, const struct sp_top *t, size_t n)
{
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, key, '[');
    for (size_t i = 0; i < n; i++) {
        const struct sp_top_row *r = &t->rows.v[i];
        struct sp_str name = sp_str_at(&t->names, r->name);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "name", name.p, name.n);
        answer_weight(&x->a, "self", r->self);
        answer_percent(&x->a, "self_percent", r->self);
        answer_percent(&x->a, "total_percent", r->total);
        if (t == &x->threads)
            pool_json(w, &x->a.s->pools, sp_top_pool(x->a.s, SP_TOP_THREAD, r));
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

/* What an own function calls. */
static void json_beneath(struct brief *x, const struct sp_own_sum *sum)
{
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, "beneath", '{');
    answer_weight(&x->a, "weight", sum->beneath);
    answer_percent(&x->a, "percent", sum->beneath);
    sp_jw_open(w, "in", '[');
    for (size_t i = 0; i < sum->n && i < CALLEES; i++) {
        const struct sp_own_callee *c = &x->fold.callees.v[sum->first + i];
        struct sp_str name = sp_str_at(&x->fold.names, c->name);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "name", name.p, name.n);
        answer_percent(&x->a, "percent", c->weight);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
}

/* "id", "name", "dso", "own" of a function, or of none. */
static void cmd_summary_json_who(struct brief *x, uint32_t function)
{
    const struct sp_profile *p = x->a.s->profile;
    struct sp_jw *w = &x->a.w;
    struct sp_str name = row_name(x, function);
    char handle[32];
    if (function != SP_NONE)
        sp_handle_text(&x->a.handles, function, handle);
    sp_jw_cstr(w, "id", function != SP_NONE ? handle : NULL);
    sp_jw_str(w, "name", name.p, name.n);
    if (function != SP_NONE) {
        struct sp_str dso = dso_name(p, p->functions.v[function].dso);
        sp_jw_str(w, "dso", dso.p, dso.n);
    } else {
        sp_jw_null(w, "dso");
    }
    answer_own(&x->a, function);
}

static void json_hot(struct brief *x)
{
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, "hot", '[');
    for (size_t i = 0; i < x->show[HOT]; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[i];
        sp_jw_open(w, NULL, '{');
        cmd_summary_json_who(x, r->function);
        answer_weight(&x->a, "weight", r->sum.weight);
        answer_percent(&x->a, "percent", r->sum.weight);
        answer_weight(&x->a, "self", r->self);
        answer_percent(&x->a, "self_percent", r->self);
        answer_percent(&x->a, "total_percent", r->total);
        answer_at_most(&x->a, r->at_most);
        if (is_irq(x, r->function))
            sp_jw_bool(w, "irq_enable", true);
        json_beneath(x, &r->sum);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

static void json_path(struct brief *x)
{
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, "heaviest_path", '[');
    for (size_t i = 0; i < x->show[PATH]; i++) {
        const struct sp_own_step *step = &x->fold.steps[i];
        sp_jw_open(w, NULL, '{');
        cmd_summary_json_who(x, step->function);
        sp_jw_u64(w, "times", step->times);
        answer_percent(&x->a, "total_percent", step->total);
        json_beneath(x, &step->sum);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

static void json_intervals(struct sp_jw *w, int64_t samples)
{
    sp_jw_cstr(w, "method", "Wilson, 95 %: samples taken as independent and of equal weight");
    sp_jw_open(w, "intervals", '[');
    for (size_t i = 0; i < FINDING_SHARES; i++) {
        double lo, hi;
        sp_share_interval(finding_shares[i], samples, &lo, &hi);
        sp_jw_open(w, NULL, '{');
        sp_jw_i64(w, "percent", (int64_t)finding_shares[i]);
        sp_jw_scaled(w, "low", llround(lo * 10000), 4);
        sp_jw_scaled(w, "high", llround(hi * 10000), 4);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

static void json_callers(struct brief *x, const struct sp_finding *f)
{
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, "callers", '[');
    for (size_t i = 0; i < SP_FINDING_CALLERS && f->callers[i].function != SP_NONE; i++) {
        sp_jw_open(w, NULL, '{');
        answer_function(&x->a, f->callers[i].function);
        answer_weight(&x->a, "weight", f->callers[i].weight);
        sp_jw_percent(w, "percent_of_finding", f->callers[i].weight, f->weight);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

static void cmd_summary_json_findings(struct brief *x)
{
    struct sp_jw *w = &x->a.w;
    struct sp_buf command;
    sp_buf_init(&command, 0);
    sp_jw_open(w, "findings", '[');
    for (size_t i = 0; i < x->show[FINDINGS]; i++) {
        const struct sp_finding *f = &x->findings.list.v[i];
        sp_jw_open(w, NULL, '{');
        sp_jw_cstr(w, "id", sp_finding_infos[f->kind].id);
        finding_text(&x->a, f);
        sp_jw_str(w, "statement", x->a.b.data, x->a.b.len);
        if (f->weight == SP_ABSENT)
            sp_jw_null(w, "weight");
        else
            answer_weight(&x->a, "weight", f->weight);
        if (f->kind == SP_FIND_FEW)
            sp_jw_null(w, "percent");
        else
            sp_jw_percent(w, "percent", f->part, f->of);
        if (f->weight == SP_ABSENT)
            sp_jw_i64(w, "count", f->part);
        if (f->kind == SP_FIND_FEW)
            json_intervals(w, f->part);
        if (f->function != SP_NONE) {
            sp_jw_open(w, "function", '{');
            answer_function(&x->a, f->function);
            answer_weight(&x->a, "weight", f->through);
            sp_jw_close(w, '}');
        }
        if (f->kind == SP_FIND_IRQ)
            json_callers(x, f);
        if (f->from != SP_NONE) {
            sp_jw_open(w, "from", '{');
            answer_function(&x->a, f->from);
            answer_weight(&x->a, "weight", f->from_weight);
            sp_jw_close(w, '}');
        }
        if (f->deepest)
            sp_jw_u64(w, "most_in_a_stack", f->deepest);
        if (f->kind == SP_FIND_RECURSION)
            sp_jw_bool(w, "by_name_only", f->by_name);
        sp_buf_clear(&command);
        finding_command(&x->a, f, &command);
        sp_jw_str(w, "command", command.data, command.len);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
    sp_buf_free(&command);
}

static void cmd_summary_json_str(struct sp_jw *w, const char *key, struct sp_str s)
{
    if (s.n)
        sp_jw_str(w, key, s.p, s.n);
    else
        sp_jw_null(w, key);
}

static void json_profiled(struct brief *x)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_header *h = &p->header;
    struct sp_jw *w = &x->a.w;
    struct sp_str duration = sp_pstr(p, h->duration), cpus = sp_pstr(p, h->host.cpus);
    sp_jw_open(w, "profiled", '{');
    cmd_summary_json_str(w, "command", sp_pstr(p, h->command));
    cmd_summary_json_str(w, "host", sp_pstr(p, h->host.name));
    cmd_summary_json_str(w, "arch", sp_pstr(p, h->host.arch));
    sp_jw_raw(w, "cpus", cpus.n ? cpus.p : "null", cpus.n ? cpus.n : 4);
    sp_jw_raw(w, "duration", duration.n ? duration.p : "null", duration.n ? duration.n : 4);
    sp_jw_u64(w, "events", p->events.n);
    sp_jw_close(w, '}');
}

static void json_incomplete(struct brief *x)
{
    struct sp_jw *w = &x->a.w;
    size_t i = 0;
    sp_jw_open(w, "incomplete", '[');
    for (const struct sp_diag *g; (g = next_missing(x, &i));) {
        sp_jw_open(w, NULL, '{');
        sp_jw_cstr(w, "code", sp_code_info(g->code)->name);
        sp_jw_cstr(w, "file", g->file);
        sp_jw_cstr(w, "message", g->message);
        sp_jw_cstr(w, "hint", g->hint);
        sp_jw_u64(w, "count", x->a.c->diags.count[g->code]);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

static size_t left_out(const struct brief *x)
{
    size_t n = 0;
    for (int i = 0; i < SECTIONS; i++)
        n += (x->n[i] < most_rows[i] ? x->n[i] : most_rows[i]) - x->show[i];
    return n;
}

static int cmd_summary_draw_json(struct brief *x)
{
    struct answer *a = &x->a;
    int rc = answer_begin(a, "spaa.summary/2");
    if (rc)
        return rc;
    json_profiled(x);
    json_incomplete(x);
    sp_jw_u64(&a->w, "threads", a->s->profile->threads.n);
    json_rows(x, "by_process", &x->processes, x->show[PROCESSES]);
    json_rows(x, "by_thread", &x->threads, x->show[THREADS]);
    json_rows(x, "by_dso", &x->dsos, x->show[DSOS]);
    sp_jw_bool(&a->w, "all_own", a->own.all);
    json_hot(x);
    json_path(x);
    cmd_summary_json_findings(x);
    sp_jw_open(&a->w, "omitted", '{');
    sp_jw_u64(&a->w, "rows", left_out(x));
    sp_jw_close(&a->w, '}');
    answer_quality(&a->w, "quality", a->s, &a->q);
    sp_jw_open(&a->w, "next", '[');
    for (size_t i = 0; i < x->show[NEXTS]; i++)
        sp_jw_str(&a->w, NULL, x->next[i].data, x->next[i].len);
    sp_jw_close(&a->w, ']');
    answer_close(a->c, &a->w);
    return EXIT_FINE;
}

/* ---- tables of machines ---- */

static void table_top(struct brief *x, struct sp_table *t, const char *section, const struct sp_top *top,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct sp_top_row *r = &top->rows.v[i];
        sp_table_printf(t, "%s", section);
        cell_str(t, sp_str_at(&top->names, r->name));
        cell_weight(&x->a, t, r->self);
        cell_percent(&x->a, t, r->self);
        cell_percent(&x->a, t, r->total);
    }
}

static void table_functions(struct brief *x, struct sp_table *t)
{
    for (size_t i = 0; i < x->show[HOT]; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[i];
        sp_table_printf(t, "function");
        cell_str(t, row_name(x, r->function));
        cell_weight(&x->a, t, r->sum.weight);
        cell_percent(&x->a, t, r->sum.weight);
        cell_percent(&x->a, t, r->total);
    }
    for (size_t i = 0; i < x->show[PATH]; i++) {
        const struct sp_own_step *step = &x->fold.steps[i];
        sp_table_printf(t, "path");
        cell_str(t, row_name(x, step->function));
        cell_weight(&x->a, t, step->total);
        sp_table_cell(t, "", 0);
        cell_percent(&x->a, t, step->total);
    }
}

static int draw_table(struct brief *x)
{
    static const struct sp_table_column columns[] = {{"section", false, false},
                                                     {"what", false, true},
                                                     {"weight", true, false},
                                                     {"%", true, false},
                                                     {"total%", true, false}};
    struct sp_table t;
    sp_table_init(&t, columns, 5);
    size_t at = 0;
    for (const struct sp_diag *g; (g = next_missing(x, &at));) {
        sp_table_printf(&t, "incomplete");
        sp_table_cell(&t, g->message, strlen(g->message));
        for (int k = 0; k < 3; k++)
            sp_table_cell(&t, "", 0);
    }
    table_top(x, &t, "process", &x->processes, x->show[PROCESSES]);
    table_top(x, &t, "thread", &x->threads, x->show[THREADS]);
    table_top(x, &t, "dso", &x->dsos, x->show[DSOS]);
    table_functions(x, &t);
    for (size_t i = 0; i < x->show[FINDINGS]; i++) {
        const struct sp_finding *f = &x->findings.list.v[i];
        sp_table_printf(&t, "%s", sp_finding_infos[f->kind].id);
        finding_text(&x->a, f);
        cell_buf(&t, &x->a.b);
        if (f->weight == SP_ABSENT) {
            sp_table_cell(&t, "", 0);
            sp_table_cell(&t, "", 0);
        } else {
            cell_weight(&x->a, &t, f->weight);
            cell_percent(&x->a, &t, f->weight);
        }
        sp_table_cell(&t, "", 0);
    }
    for (size_t i = 0; i < x->show[NEXTS]; i++) {
        sp_table_printf(&t, "next");
        sp_table_cell(&t, x->next[i].data, x->next[i].len);
        for (int k = 0; k < 3; k++)
            sp_table_cell(&t, "", 0);
    }
    answer_heading(x->a.c, x->a.s);
    int rc = answer_table(x->a.c, &t);
    if (!rc && left_out(x) && x->a.c->format == FORMAT_MARKDOWN)
        sp_printf(x->a.c->out, "\n%zu more rows; %s\n", left_out(x), answer_more(x->a.c));
    sp_table_free(&t);
    return rc;
}

/* ---- text ---- */

static void cmd_summary_title(const struct brief *x, const char *t)
{
    const struct cli *c = x->a.c;
    sp_printf(c->out, "\n%s%s%s\n", c->colour ? "\033[1m" : "", t, c->colour ? "\033[0m" : "");
}

static void label(const struct brief *x, const char *t)
{
    const struct cli *c = x->a.c;
    sp_printf(c->out, "%s%-12s%s", c->colour ? "\033[1m" : "", t, c->colour ? "\033[0m" : "");
}

static void cmd_summary_percent(struct brief *x, int64_t v)
{
    sp_buf_clear(&x->a.b);
    percent_text(&x->a.b, x->a.s, v);
    sp_printf(x->a.c->out, "%6s%%", sp_buf_cstr(&x->a.b));
}

static void cmd_summary_name(struct brief *x, struct sp_str s, size_t columns)
{
    sp_buf_clear(&x->a.b);
    sp_text_fit(&x->a.b, s.p, s.n, columns);
    sp_write(x->a.c->out, x->a.b.data, x->a.b.len);
}

static void cmd_summary_line(struct brief *x, const char *what, struct sp_str s)
{
    unsigned width = x->a.c->width;
    label(x, what);
    cmd_summary_name(x, s, width > 40 ? width - 14 : 400);
    sp_puts(x->a.c->out, "\n");
}

static void incomplete(struct brief *x)
{
    size_t i = 0;
    for (const struct sp_diag *g; (g = next_missing(x, &i));) {
        struct sp_buf b;
        sp_buf_init(&b, 0);
        sp_buf_puts(&b, g->message);
        if (g->line)
            sp_buf_printf(&b, ", line %llu", (unsigned long long)g->line);
        if (*g->hint)
            sp_buf_printf(&b, "; %s", g->hint);
        cmd_summary_line(x, "incomplete", (struct sp_str){sp_buf_cstr(&b), (uint32_t)b.len});
        sp_buf_free(&b);
    }
}

static void share_list(struct brief *x, const char *what, const struct sp_top *t, size_t n)
{
    struct sp_output *out = x->a.c->out;
    if (!n)
        return;
    label(x, what);
    for (size_t i = 0; i < n; i++) {
        sp_puts(out, i ? ", " : "");
        cmd_summary_name(x, sp_str_at(&t->names, t->rows.v[i].name), 40);
        sp_buf_clear(&x->a.b);
        percent_text(&x->a.b, x->a.s, t->rows.v[i].self);
        sp_printf(out, " %s%%", sp_buf_cstr(&x->a.b));
    }
    if (t->rows.n > n)
        sp_printf(out, ", %zu more", t->rows.n - n);
    sp_puts(out, "\n");
}

/* Why names are missing, and what would bring them. */
static void hint(struct brief *x)
{
    const struct sp_diag *why = x->a.q.frames_unresolved ? cmd_summary_reason(x) : NULL;
    if (!why)
        return;
    cmd_summary_line(x, "  because", (struct sp_str){why->message, (uint32_t)strlen(why->message)});
    if (*why->hint)
        cmd_summary_line(x, "  hint", (struct sp_str){why->hint, (uint32_t)strlen(why->hint)});
}

static void unresolved(struct brief *x)
{
    const struct sp_profile *p = x->a.s->profile;
    const struct sp_quality *q = &x->a.q;
    struct sp_output *out = x->a.c->out;
    label(x, "unresolved");
    sp_buf_clear(&x->a.b);
    percent_text(&x->a.b, x->a.s, q->unresolved_leaf);
    sp_printf(out, "%s%% of weight has no function name", sp_buf_cstr(&x->a.b));
    for (size_t i = 0; i < q->dsos.list.n && i < 3; i++) {
        sp_puts(out, i ? ", " : ": ");
        cmd_summary_name(x, sp_pstr(p, p->dsos.v[q->dsos.list.v[i].dso].name), 40);
        sp_buf_clear(&x->a.b);
        percent_text(&x->a.b, x->a.s, q->dsos.list.v[i].weight);
        sp_printf(out, " %s%%", sp_buf_cstr(&x->a.b));
    }
    sp_puts(out, "\n");
    hint(x);
    if (answer_has_losses(q)) {
        label(x, "losses");
        answer_losses(out, q);
    }
}

static void findings(struct brief *x)
{
    struct sp_output *out = x->a.c->out;
    if (x->show[FINDINGS])
        cmd_summary_title(x, "findings");
    for (size_t i = 0; i < x->show[FINDINGS]; i++) {
        const struct sp_finding *f = &x->findings.list.v[i];
        finding_text(&x->a, f);
        sp_puts(out, "  ");
        sp_write(out, x->a.b.data, x->a.b.len);
        sp_buf_clear(&x->a.b);
        finding_command(&x->a, f, &x->a.b);
        struct sp_buf shown;
        sp_buf_init(&shown, 0);
        sp_text_safe(&shown, x->a.b.data, x->a.b.len);
        sp_printf(out, "\n      %s\n", sp_buf_cstr(&shown));
        sp_buf_free(&shown);
    }
}

static void beneath(struct brief *x, bool own, const struct sp_own_sum *sum)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    beneath_text(x, &b, own, sum);
    sp_write(x->a.c->out, b.data ? b.data : "", b.len);
    sp_buf_free(&b);
}

static void hot(struct brief *x)
{
    const struct sp_profile *p = x->a.s->profile;
    bool bounds = sp_chains_tell(x->a.s) && x->a.s->kept == x->a.s->whole;
    struct cli *c = x->a.c;
    if (x->show[HOT])
        cmd_summary_title(
            x,
            x->a.own.all && bounds ? "hot functions (self, total at least, at most): none is known to "
                                     "be the program's own, so all are"
            : x->a.own.all ? "hot functions (self, total): none is known to be the program's own, so all are"
            : bounds ? "hot functions of the program (with what they call beneath; total at least, at most)"
                     : "hot functions of the program (with what they call beneath; total)");
    for (size_t i = 0; i < x->show[HOT]; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[i];
        sp_puts(c->out, "  ");
        cmd_summary_percent(x, r->sum.weight);
        sp_puts(c->out, " ");
        cmd_summary_percent(x, r->total);
        if (bounds) {
            sp_puts(c->out, " ");
            cmd_summary_percent(x, r->at_most == SP_ABSENT ? r->total : r->at_most);
        }
        sp_puts(c->out, "  ");
        cmd_summary_name(x, row_name(x, r->function), NAME_COLUMNS);
        if (r->function != SP_NONE) {
            sp_puts(c->out, "  ");
            cmd_summary_name(x, dso_name(p, p->functions.v[r->function].dso), 40);
        }
        if (is_irq(x, r->function))
            sp_puts(c->out, " [irq-enable]");
        beneath(x, r->function != SP_NONE, &r->sum);
        sp_puts(c->out, "\n");
    }
}

static void cmd_summary_path(struct brief *x)
{
    struct cli *c = x->a.c;
    if (x->show[PATH])
        cmd_summary_title(x, x->fold.whole_path ? "heaviest path (no function of the program's own has 10 %)"
                                                : "heaviest path");
    for (size_t i = 0; i < x->show[PATH]; i++) {
        const struct sp_own_step *step = &x->fold.steps[i];
        sp_puts(c->out, "  ");
        cmd_summary_percent(x, step->total);
        sp_puts(c->out, "  ");
        cmd_summary_name(x, row_name(x, step->function), NAME_COLUMNS);
        if (step->times > 1)
            sp_printf(c->out, "  (%u times)", step->times);
        beneath(x, true, &step->sum);
        sp_puts(c->out, "\n");
    }
}

static int cmd_summary_draw_text(struct brief *x)
{
    const struct sp_profile *p = x->a.s->profile;
    struct cli *c = x->a.c;
    if (p->header.command)
        cmd_summary_line(x, "profiled", sp_pstr(p, p->header.command));
    label(x, "weight");
    answer_heading(c, x->a.s);
    incomplete(x);
    share_list(x, "processes", &x->processes, x->show[PROCESSES]);
    share_list(x, "threads", &x->threads, x->show[THREADS]);
    share_list(x, "binaries", &x->dsos, x->show[DSOS]);
    unresolved(x);
    hot(x);
    cmd_summary_path(x);
    findings(x);
    if (x->show[NEXTS])
        cmd_summary_title(x, "next");
    for (size_t i = 0; i < x->show[NEXTS]; i++) {
        struct sp_buf shown;
        sp_buf_init(&shown, 0);
        sp_text_safe(&shown, x->next[i].data, x->next[i].len);
        sp_printf(c->out, "  %s\n", sp_buf_cstr(&shown));
        sp_buf_free(&shown);
    }
    if (left_out(x))
        sp_printf(c->out, "\n%zu more rows; %s\n", left_out(x), answer_more(c));
    return EXIT_FINE;
}

/* The first `rows` rows, taken round by round from the sections. */
static int cmd_summary_draw(void *arg, size_t rows)
{
    struct brief *x = arg;
    memset(x->show, 0, sizeof x->show);
    for (size_t round = 0; rows && round < PATH_MAX_STEPS; round++) {
        for (int i = 0; rows && i < SECTIONS; i++) {
            if (round >= x->n[i] || round >= most_rows[i])
                continue;
            x->show[i]++;
            rows--;
        }
    }
    return x->a.c->format == FORMAT_JSON    ? cmd_summary_draw_json(x)
           : x->a.c->format == FORMAT_TABLE ? cmd_summary_draw_text(x)
                                            : draw_table(x);
}

int sp_cmd_summary(struct cli *c)
{
    struct brief x = {0};
    struct sp_selection s;
    c->no_ids = true;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    answer_init(&x.a, c, &s);
    for (int i = 0; i < NEXT; i++)
        sp_buf_init(&x.next[i], 0);
    st = cmd_summary_gather(&x);
    rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = answer_fit(c, SECTIONS * PATH_MAX_STEPS, cmd_summary_draw, &x);
    for (int i = 0; i < NEXT; i++)
        sp_buf_free(&x.next[i]);
    sp_findings_free(&x.findings);
    sp_own_fold_free(&x.fold);
    sp_top_free(&x.threads);
    sp_top_free(&x.dsos);
    sp_top_free(&x.processes);
    answer_free(&x.a);
    sp_selection_free(&s);
    return rc;
}

/* diff for people: the rows that changed, beneath the head (diff_head.c). */
#include "ask/diff.h"

#include "analysis/names.h"

#include <math.h>

/* ---- tables ---- */

enum { NAME, DSO, HANDLE };
static const struct sp_answer_column people_columns[] = {
    [NAME] = {"function", SP_COL_NAME, "function", .flags = SP_COL_FLEXIBLE},
    [DSO] = {"dso", SP_COL_DSO, "dso", .flags = SP_COL_FLEXIBLE},
    [HANDLE] = {"id", SP_COL_HANDLE, .doc = "stands behind names that do not tell rows apart"},
};
/* Where short names are not enough to tell all rows apart, also those that are not shown. */
static const struct sp_answer_column people_told[] = {
    [NAME] = {"function", SP_COL_TEXT, "function", .flags = SP_COL_FLEXIBLE},
    [DSO] = {"dso", SP_COL_DSO, "dso", .flags = SP_COL_FLEXIBLE},
    [HANDLE] = {"id", SP_COL_HANDLE, .doc = "stands behind names that do not tell rows apart"},
};
static const struct sp_table_decl told_rows = {"rows", people_told, 3, .noun = "functions"};
static const struct sp_table_decl told_others = {"others", people_told, 3, .noun = ""};
static const struct sp_table_decl people_rows = {"rows", people_columns, 3, .noun = "functions"};
static const struct sp_table_decl people_others = {"others", people_columns, 3, .noun = ""};

/* A table on the way: its cells are written one after the other, each into the next column. */
struct people {
    const struct diff_answer *a;
    struct sp_answer_table *t;
    struct sp_buf b;
    size_t next;
    bool told; /* names are made here */
    const struct sp_diff_row *head[2 * DIFF_NAMED];
    size_t nhead;
};

static void people_column(struct people *x, const char *title, unsigned flags)
{
    struct sp_answer_column c = {title, SP_COL_TEXT, title, .flags = flags};
    sp_table_add_column(x->a->out, x->t, &c, 0);
}

static void people_row(struct people *x, const struct sp_diff_row *r)
{
    struct sp_str name = sp_str_at(&x->a->d.strs, r->function), dso = sp_str_at(&x->a->d.strs, r->dso);
    sp_table_row(x->a->out, x->t);
    if (x->told) {
        sp_diff_say_row(&x->a->d, r, false, &x->b);
        sp_put_buf(x->a->out, x->t, NAME, &x->b);
    } else {
        sp_put_text(x->a->out, x->t, NAME, name.p, name.n);
    }
    sp_put_text(x->a->out, x->t, DSO, dso.p, dso.n);
    sp_put_text(x->a->out, x->t, HANDLE, *r->id ? r->id : NULL, strlen(r->id));
    x->next = HANDLE + 1;
}

static void people_cell(struct people *x)
{
    sp_put_buf(x->a->out, x->t, x->next++, &x->b);
}

static void people_points(struct people *x, double share, bool sign)
{
    sp_diff_number(&x->b, 100 * share, 2, sign);
    people_cell(x);
}

static void people_range(struct people *x, double lo, double hi, const char *unit)
{
    if (!isnan(lo) && !isnan(hi)) {
        sp_diff_number(&x->b, 100 * lo, 2, true);
        sp_buf_puts(&x->b, " .. ");
        sp_diff_number(&x->b, 100 * hi, 2, true);
        sp_buf_puts(&x->b, isfinite(hi) ? unit : "");
    }
    people_cell(x);
}

static void people_percent(struct people *x, double change, const char *mark)
{
    sp_diff_number(&x->b, 100 * change, 1, true);
    sp_buf_puts(&x->b, isfinite(change) ? "%" : "");
    sp_buf_puts(&x->b, mark);
    people_cell(x);
}

/* A cost in the metric's unit; counts of few, which need a fraction, with one. */
static void people_cost(struct people *x, double cost)
{
    const struct diff_words *k = &x->a->words;
    double v = cost * pow(10, k->scale);
    if (!isfinite(v) || fabs(v) > 9e18)
        sp_buf_ch(&x->b, '-');
    else if (!k->unit.n && v != 0 && fabs(cost) < 1000)
        sp_diff_number(&x->b, cost, 2, false);
    else
        sp_text_weight(&x->b, k->unit, k->scale, llround(v));
    people_cell(x);
}

static void people_verdict(struct people *x, const struct sp_diff_test *t)
{
    sp_buf_puts(&x->b, sp_diff_verdict_word(t));
    people_cell(x);
}

static void people_amount(struct people *x, double v, bool bytes, bool sign)
{
    sp_diff_say_amount(&x->b, v, bytes, sign);
    people_cell(x);
}

/* ---- rows of both sides ---- */

enum { NONE_MATTERS = 3 }; /* rows that are shown where none is worth it */

static void changed_columns(struct people *x, bool total)
{
    static const char *const per[][2] = {
        {"base/run", "new/run"}, {"base/s", "new/s"}, {"base/work", "new/work"}};
    static const char *const against[] = {"vs median", "vs cost", "vs whole", "vs agreeing"};
    const struct sp_diff *d = &x->a->d;
    bool repeats = d->method >= SP_DIFF_REPEATS;
    people_column(x, per[d->per][SP_BASE], SP_COL_RIGHT);
    people_column(x, total ? "base total%" : "base%", SP_COL_RIGHT);
    people_column(x, per[d->per][SP_NEW], SP_COL_RIGHT);
    people_column(x, total ? "new total%" : "new%", SP_COL_RIGHT);
    people_column(x, "change", SP_COL_RIGHT);
    if (!repeats || sp_diff_reference_moved(d))
        people_column(x, repeats ? against[d->reference] : "points",
                      SP_COL_RIGHT | (repeats ? 0 : SP_COL_SPARE));
    people_column(x, "95% interval", SP_COL_RIGHT);
    people_column(x, "verdict", 0);
    people_column(x, total ? "self change" : "total change", SP_COL_RIGHT);
}

/* Cost, share, change against the reference; the interval is that of what was tested. */
static void changed_row(struct people *x, const struct sp_diff_row *r, unsigned family)
{
    const struct sp_diff_test *t = &r->share[family], *c = &r->cost[family];
    people_row(x, r);
    people_cost(x, c->side[SP_BASE].mean);
    people_points(x, t->side[SP_BASE].mean, false);
    people_cost(x, c->side[SP_NEW].mean);
    people_points(x, t->side[SP_NEW].mean, false);
    people_percent(x, c->change, "");
    if (x->a->d.method >= SP_DIFF_REPEATS) {
        if (sp_diff_reference_moved(&x->a->d))
            people_percent(x, t->change, "");
        people_range(x, t->change_lo, t->change_hi, "%");
    } else {
        people_points(x, t->delta, true);
        people_range(x, t->lo, t->hi, "");
    }
    people_verdict(x, t);
    people_percent(x, r->cost[!family].change,
                   r->share[!family].verdict == SP_DIFF_SIGNIFICANT ? " *" : "  ");
}

/* What is asked about comes first, and has the plain names: bytes, or blocks. */
static bool memory_column_of_bytes(const struct people *x, unsigned i)
{
    return (x->a->d.memory == SP_MEMORY_BYTES) == (i == 0);
}

static void memory_columns(struct people *x, bool total)
{
    for (unsigned i = 0; i < 2; i++) {
        bool bytes = memory_column_of_bytes(x, i);
        if (!sp_diff_memory_known(x->a, bytes))
            continue;
        const char *base = bytes ? "base bytes" : "base blocks", *fresh = bytes ? "new bytes" : "new blocks";
        people_column(x, i ? base : total ? "base total" : "base", SP_COL_RIGHT);
        people_column(x, i ? fresh : total ? "new total" : "new", SP_COL_RIGHT);
        people_column(x, "change", SP_COL_RIGHT);
    }
    people_column(x, total ? "base total%" : "base%", SP_COL_RIGHT);
    people_column(x, total ? "new total%" : "new%", SP_COL_RIGHT);
    people_column(x, "verdict", 0);
    people_column(x, total ? "self change" : "total change", SP_COL_RIGHT);
}

/* Base, new and change, of bytes and of blocks where they are known, in the order of memory_columns. */
static void memory_row(struct people *x, const struct sp_diff_row *r, unsigned family)
{
    const struct sp_diff *d = &x->a->d;
    people_row(x, r);
    for (unsigned i = 0; i < 2; i++) {
        bool bytes = memory_column_of_bytes(x, i);
        double base = sp_diff_memory_amount(x->a, r, SP_BASE, family, bytes),
               fresh = sp_diff_memory_amount(x->a, r, SP_NEW, family, bytes);
        if (!sp_diff_memory_known(x->a, bytes))
            continue;
        people_amount(x, base, bytes, false);
        people_amount(x, fresh, bytes, false);
        people_amount(x, fresh - base, bytes, true);
    }
    people_points(x, r->share[family].side[SP_BASE].mean, false);
    people_points(x, r->share[family].side[SP_NEW].mean, false);
    people_verdict(x, &r->share[family]);
    people_amount(x, sp_diff_change(d, r, !family), d->memory == SP_MEMORY_BYTES, true);
}

static void put_changed(struct people *x)
{
    const struct diff_answer *a = x->a;
    const char *sort = a->q->options->sort;
    bool total = sort && strcmp(sp_weight_word(sort), "total") == 0;
    if (!a->d.rows.n) {
        sp_answer_line(a->out, "no function is in both");
        return;
    }
    x->t = sp_answer_table(a->out, x->told ? &told_rows : &people_rows);
    if (!x->t)
        return;
    x->t->limit = a->limit;
    (a->d.memory ? memory_columns : changed_columns)(x, total);
    unsigned family = total ? SP_TOTAL : SP_SELF;
    size_t matter = 0;
    for (size_t i = 0; i < a->d.rows.n; i++)
        matter += sp_diff_matters(a, &a->d.rows.v[i], family);
    for (size_t i = 0; i < a->d.rows.n; i++)
        if (x->t->rows < a->limit &&
            (matter ? sp_diff_matters(a, &a->d.rows.v[i], family) : x->t->rows < NONE_MATTERS))
            (a->d.memory ? memory_row : changed_row)(x, &a->d.rows.v[i], family);
        else
            x->t->left_out++;
}

/* ---- new or vanished functions: few, unless a number was asked for ---- */

static void others_columns(struct people *x)
{
    static const char *const per[] = {"self/run", "self/s", "self/work"};
    static const char *const amounts[] = {"self bytes", "self blocks", "total bytes", "total blocks"};
    bool memory = x->a->d.memory;
    for (unsigned k = 0; memory && k < 4; k++)
        if (sp_diff_memory_known(x->a, k % 2 == 0))
            people_column(x, amounts[k], SP_COL_RIGHT);
    if (!memory)
        people_column(x, per[x->a->d.per], SP_COL_RIGHT);
    people_column(x, "self%", SP_COL_RIGHT);
    people_column(x, "total%", SP_COL_RIGHT);
    if (memory)
        return;
    if (x->a->q->options->limit)
        people_column(x, "samples", SP_COL_RIGHT);
    people_column(x, "verdict", 0);
    if (x->a->q->options->limit)
        people_column(x, "total verdict", 0);
}

static void others_row(struct people *x, const struct sp_diff_row *r, unsigned side)
{
    bool memory = x->a->d.memory;
    people_row(x, r);
    for (unsigned k = 0; memory && k < 4; k++)
        if (sp_diff_memory_known(x->a, k % 2 == 0))
            people_amount(x, sp_diff_memory_amount(x->a, r, side, k / 2, k % 2 == 0), k % 2 == 0, false);
    if (!memory)
        people_cost(x, r->cost[SP_SELF].side[side].mean);
    people_points(x, r->share[SP_SELF].side[side].mean, false);
    people_points(x, r->share[SP_TOTAL].side[side].mean, false);
    if (memory)
        return;
    bool all = x->a->q->options->limit;
    if (all && r->side[side].samples[SP_TOTAL] != SP_ABSENT)
        sp_buf_i64(&x->b, r->side[side].samples[SP_TOTAL]);
    if (all)
        people_cell(x);
    people_verdict(x, &r->share[SP_SELF]);
    if (all)
        people_verdict(x, &r->share[SP_TOTAL]);
}

static bool is_in_head(const struct people *x, const struct sp_diff_row *r)
{
    for (size_t i = 0; i < x->nhead; i++)
        if (x->head[i] == r)
            return true;
    return false;
}

/* What the first lines say is not said again, but where all rows are asked for. */
static bool others_matter(const struct people *x, const struct sp_diff_row *r)
{
    return x->a->q->options->limit ||
           (!is_in_head(x, r) && (sp_diff_matters(x->a, r, SP_SELF) || sp_diff_matters(x->a, r, SP_TOTAL)));
}

static void put_others(struct people *x, const char *title, const struct sp_diff_row *rows, size_t n,
                       unsigned side)
{
    const struct diff_answer *a = x->a;
    size_t shown = 0;
    for (size_t i = 0; i < n; i++)
        shown += others_matter(x, &rows[i]);
    if (!shown)
        return;
    sp_buf_puts(&x->b, title);
    sp_answer_line_of(a->out, SP_LINE_TITLE, &x->b);
    sp_buf_clear(&x->b);
    x->t = sp_answer_table(a->out, x->told ? &told_others : &people_others);
    if (!x->t)
        return;
    x->t->limit = a->limit;
    others_columns(x);
    for (size_t i = 0; i < n; i++)
        if (x->t->rows < a->limit && others_matter(x, &rows[i]))
            others_row(x, &rows[i], side);
        else
            x->t->left_out += a->q->options->limit || !is_in_head(x, &rows[i]);
}

void sp_diff_put_people(struct diff_answer *a)
{
    struct people x = {.a = a, .told = sp_diff_names_clash(&a->d) && !sp_options_full_names(a->q->options)};
    sp_buf_init(&x.b, 0);
    x.nhead = sp_diff_in_head(a, x.head);
    sp_diff_put_head(a, &x.b);
    sp_answer_line_of(a->out, SP_LINE_PLAIN, &x.b); /* a blank one */
    put_changed(&x);
    sp_diff_say_remarks(a);
    put_others(&x, "new functions", a->d.appeared.v, a->d.appeared.n, SP_NEW);
    put_others(&x, "vanished functions", a->d.vanished.v, a->d.vanished.n, SP_BASE);
    a->out->failed |= x.b.failed;
    sp_buf_free(&x.b);
}

/* `spaa diff` for people: the verdict, the sides, the rows that changed, as text, markdown or CSV. */
#include "diff.h"

#include "base/num.h"
#include "render/text.h"

#include <math.h>

/* ---- words ---- */

void diff_number(struct sp_buf *out, double x, unsigned digits, bool sign)
{
    char t[64];
    double scale = pow(10, digits);
    if (!isfinite(x) || fabs(x) * scale > 9e15) {
        sp_buf_puts(out, isinf(x) && x > 0 ? "new" : "-");
        return;
    }
    int64_t v = llround(x * scale);
    uint64_t whole = (uint64_t)(v < 0 ? -v : v), unit = (uint64_t)llround(scale);
    sp_buf_puts(out, v < 0 ? "-" : sign && v > 0 ? "+" : "");
    sp_buf_u64(out, whole / unit);
    if (digits) {
        size_t n = sp_u64_text(whole % unit, t);
        sp_buf_ch(out, '.');
        for (size_t i = n; i < digits; i++)
            sp_buf_ch(out, '0');
        sp_buf_add(out, t, n);
    }
}

const char *diff_headline(const struct sp_diff *d)
{
    static const char *const words[] = {"CHANGED", "NO CHANGE FOUND", "NOT ESTABLISHED"};
    return words[d->headline];
}

static void functions(struct sp_buf *b, size_t n)
{
    sp_text_grouped(b, (int64_t)n, 0);
    sp_buf_puts(b, n == 1 ? " function" : " functions");
}

static void changed(const struct sp_diff *d, struct sp_buf *b)
{
    size_t self = d->significant[SP_SELF], cum = d->significant[SP_CUM];
    if (self || cum) {
        functions(b, self);
        sp_buf_puts(b, " in own and ");
        functions(b, cum);
        sp_buf_puts(b, " in inclusive share");
    }
    if (d->total.verdict == SP_DIFF_SIGNIFICANT) {
        sp_buf_puts(b, self || cum ? "; total weight " : "total weight ");
        diff_number(b, 100 * d->total.delta / d->total.side[SP_BASE].mean, 2, true);
        sp_buf_puts(b, "%");
    }
}

/* The least change, in points, that every tested function would have shown. */
static double resolution(const struct sp_diff *d)
{
    double most = NAN;
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sp_diff_test *t = &d->rows.v[i].share[SP_SELF];
        if (t->tested && !(t->mde_family <= most))
            most = t->mde_family;
    }
    return most;
}

void diff_summary(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    size_t found = d->significant[SP_SELF] + d->significant[SP_CUM];
    const char *repeat = "; repeat the recordings: spaa diff BASE… -- NEW…";
    if (d->headline == SP_DIFF_CHANGED) {
        changed(d, b);
        sp_buf_puts(
            b, d->method == SP_DIFF_TIME_BLOCKS
                   ? ", by the time blocks of one run a side; whether other runs agree only repeats can tell"
                   : "");
    } else if (d->headline == SP_DIFF_NO_CHANGE) {
        sp_buf_printf(b, "in %zu against %zu runs", d->side[SP_BASE].runs, d->side[SP_NEW].runs);
        double least = resolution(d);
        if (isfinite(least)) {
            sp_buf_puts(b, "; a change of own share by ");
            diff_number(b, 100 * least, 2, false);
            sp_buf_puts(b, " points would have been found");
        }
    } else if (d->method == SP_DIFF_NONE) {
        sp_buf_printf(b, "significance is unavailable: there are no sample counts (metric `samples`)%s",
                      repeat);
    } else if (d->method == SP_DIFF_SAMPLES) {
        sp_buf_puts(b, "taking samples as independent, ");
        if (found)
            changed(d, b);
        else
            sp_buf_puts(b, "nothing");
        sp_buf_printf(b, " would differ, but%s one run a side cannot tell a change from chance%s",
                      d->no_blocks ? " without time blocks" : "", repeat);
    } else if (found) {
        changed(d, b);
        sp_buf_puts(b, " differ, but not beyond what three looks (own, inclusive, total) bring up by chance");
    } else {
        sp_buf_printf(b, "nothing differs beyond chance by the time blocks of one run a side%s", repeat);
    }
}

void diff_method(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_side *x = &d->side[SP_BASE], *y = &d->side[SP_NEW];
    switch (d->method) {
    case SP_DIFF_NONE:
        sp_buf_puts(b, "shares only: nothing tells a change from chance");
        return;
    case SP_DIFF_SAMPLES:
        sp_buf_puts(b, "z test of shares, Fisher's exact test below 10 samples");
        break;
    case SP_DIFF_TIME_BLOCKS:
        sp_buf_printf(b, "Welch's test on %u and %u time blocks", x->blocks, y->blocks);
        break;
    case SP_DIFF_ONE_SIDED:
        sp_buf_printf(b, "Student's test of %zu against %zu runs", x->runs, y->runs);
        break;
    case SP_DIFF_REPEATS:
        sp_buf_printf(b, "Welch's test on %zu and %zu runs", x->runs, y->runs);
        break;
    case SP_DIFF_PERMUTATION:
        sp_buf_printf(b, "permutation test on %zu and %zu runs", x->runs, y->runs);
        break;
    }
    sp_buf_printf(
        b,
        "; %zu functions compared by own, %zu by inclusive share (Benjamini-Hochberg, 5 %%); below MDE: "
        "smaller than what would be found 4 times in 5",
        d->family[SP_SELF], d->family[SP_CUM]);
    if (d->dependent)
        sp_buf_printf(b, "; %zu comparisons left open: phases longer than a time block", d->dependent);
    if (d->no_blocks && !sp_diff_establishes(d->method))
        sp_buf_printf(b, "; no time blocks: %s", d->no_blocks);
}

const char *const *diff_assumptions(enum sp_diff_method m)
{
    static const char *const words[][3] = {
        {NULL, NULL, NULL},
        {"samples are independent of each other", "one run stands for all runs", NULL},
        {"time blocks are independent of each other", "one run stands for all runs", NULL},
        {"runs are independent of each other", "both sides vary alike", NULL},
        {"runs are independent of each other", "the values of runs are roughly normal", NULL},
        {"runs are exchangeable where nothing changed", NULL, NULL},
    };
    return words[m];
}

static void what_helps(const struct diff_answer *a, const struct sp_gate_case *x, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    if (d->method == SP_DIFF_NONE) {
        sp_buf_puts(b, "needs several runs a side, or sample counts");
    } else if (!x->row && d->method < SP_DIFF_ONE_SIDED) {
        sp_buf_puts(b, "needs several runs a side: one run tells nothing about how totals vary");
    } else if (isnan(x->need)) {
        sp_buf_puts(b, x->row && x->row->share[SP_SELF].dependent
                           ? "needs several runs a side: its phases are longer "
                             "than the time blocks"
                           : "needs several runs a side");
    } else if (x->need > 1000) {
        sp_buf_puts(b, "at the limit: no reasonable amount of data would tell");
    } else {
        sp_buf_puts(b, "needs about ");
        if (d->method >= SP_DIFF_ONE_SIDED) {
            size_t runs =
                d->side[SP_BASE].runs > d->side[SP_NEW].runs ? d->side[SP_BASE].runs : d->side[SP_NEW].runs;
            diff_number(b, ceil(x->need * (double)runs), 0, false);
            sp_buf_puts(b, " runs a side");
        } else {
            diff_number(b, ceil(x->need), 0, false);
            sp_buf_puts(b, d->method == SP_DIFF_SAMPLES ? " times the samples, in several runs a side"
                                                        : " times the samples");
        }
    }
}

void diff_gate_text(const struct diff_answer *a, const struct sp_gate_limit *l, struct sp_buf *b)
{
    static const char *const words[] = {"passed", "BREACHED", "cannot tell"};
    sp_text_safe(b, l->text.p, l->text.n);
    sp_buf_printf(b, "  %s", words[l->verdict]);
    if (l->verdict == SP_GATE_PASSED && l->subject == SP_GATE_ANY)
        sp_buf_printf(b, " by all %zu functions that count", l->judged);
    for (size_t i = 0; i < l->cases.n && i < 3 && l->verdict != SP_GATE_PASSED; i++) {
        const struct sp_gate_case *x = &l->cases.v[i];
        struct sp_str name = x->row ? sp_str_at(&a->d.strs, x->row->function) : (struct sp_str){"total", 5};
        sp_buf_puts(b, i ? "; " : ": ");
        sp_text_safe(b, name.p, name.n);
        sp_buf_ch(b, ' ');
        diff_number(b, x->growth, 2, true);
        sp_buf_puts(b, isinf(x->growth) ? "" : l->points ? " pp" : "%");
        if (l->verdict == SP_GATE_UNSURE && i == 0) {
            sp_buf_puts(b, ", ");
            what_helps(a, x, b);
        }
    }
    if (l->cases.n > 3 && l->verdict != SP_GATE_PASSED)
        sp_buf_printf(b, "; and %zu more", l->cases.n - 3);
}

bool diff_next(const struct diff_answer *a, unsigned i, struct sp_buf *b)
{
    struct cli *c = a->c;
    if (i > 1)
        return false;
    const char **files = c->files.v;
    size_t n = c->files.n;
    c->files.v += c->split;
    c->files.n = 1;
    command_text(b, c, &(struct answer_next){i ? "top" : "flamegraph", NULL, NULL});
    c->files.v = files;
    c->files.n = n;
    if (i == 0) {
        sp_buf_puts(b, " --diff ");
        command_word(b, c->files.v[0]);
        sp_buf_puts(b, " -o diff.svg");
    }
    return true;
}

/* ---- tables ---- */

static void cell(struct sp_table *t, struct sp_buf *b)
{
    sp_table_cell(t, b->data ? b->data : "", b->len);
    sp_buf_clear(b);
}

static void points(struct sp_table *t, struct sp_buf *b, double x, bool sign)
{
    diff_number(b, 100 * x, 2, sign);
    cell(t, b);
}

static void range(struct sp_table *t, struct sp_buf *b, const struct sp_diff_test *x)
{
    if (isfinite(x->lo)) {
        diff_number(b, 100 * x->lo, 2, true);
        sp_buf_puts(b, " .. ");
        diff_number(b, 100 * x->hi, 2, true);
    }
    cell(t, b);
}

static const char *verdict_word(const struct sp_diff_test *t)
{
    static const char *const words[] = {"significant", "inconclusive", "below MDE", "-"};
    return words[t->verdict];
}

static void growth_cell(struct sp_table *t, struct sp_buf *b, const struct sp_diff_test *x)
{
    diff_number(b, 100 * x->delta / x->side[SP_BASE].mean, 1, true);
    sp_buf_puts(b, isfinite(x->delta / x->side[SP_BASE].mean) ? "%" : "");
    cell(t, b);
}

static void row_cells(const struct diff_answer *a, struct sp_table *t, struct sp_buf *b,
                      const struct sp_diff_row *r, unsigned family)
{
    const struct sp_diff_test *x = &r->share[family], *other = &r->share[!family];
    struct sp_str name = sp_str_at(&a->d.strs, r->function), dso = sp_str_at(&a->d.strs, r->dso);
    points(t, b, x->side[SP_BASE].mean, false);
    points(t, b, x->side[SP_NEW].mean, false);
    points(t, b, x->delta, true);
    range(t, b, x);
    sp_table_cell(t, verdict_word(x), strlen(verdict_word(x)));
    if (a->d.rates)
        growth_cell(t, b, &r->rate[family]);
    diff_number(b, 100 * other->delta, 2, true);
    sp_buf_puts(b, other->verdict == SP_DIFF_SIGNIFICANT ? " *" : "  ");
    cell(t, b);
    sp_table_cell(t, name.p, name.n);
    sp_table_cell(t, dso.p, dso.n);
}

static int changed_table(struct diff_answer *a)
{
    bool cum = a->c->v.sort && strcmp(a->c->v.sort, "cum") == 0;
    const struct sp_table_column columns[] = {
        {cum ? "base cum%" : "base%", true, false},
        {cum ? "new cum%" : "new%", true, false},
        {"points", true, false},
        {"95% interval", true, false},
        {"verdict", false, false},
        {"rate", true, false},
        {cum ? "own points" : "cum points", true, false},
        {"function", false, true},
        {"dso", false, true},
    };
    struct sp_table_column used[9];
    struct sp_table t;
    struct sp_buf b;
    size_t n = 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (i != 5 || a->d.rates)
            used[n++] = columns[i];
    sp_table_init(&t, used, n);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < a->d.rows.n && i < a->limit; i++)
        row_cells(a, &t, &b, &a->d.rows.v[i], cum ? SP_CUM : SP_SELF);
    int rc = answer_table(a->c, &t);
    if (!rc && a->d.rows.n > a->limit)
        sp_printf(a->c->out, "%s%zu more functions; -n 0 shows all\n",
                  a->c->format == FORMAT_MARKDOWN ? "\n" : "", a->d.rows.n - a->limit);
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}

/* New or vanished functions: few, unless a number was asked for. */
static int one_sided_table(struct diff_answer *a, const char *title, const struct sp_diff_row *rows, size_t n,
                           unsigned side)
{
    size_t limit = a->c->v.limit ? a->limit : 8;
    static const struct sp_table_column columns[] = {{"own%", true, false},     {"cum%", true, false},
                                                     {"samples", true, false},  {"verdict", false, false},
                                                     {"function", false, true}, {"dso", false, true}};
    struct sp_table t;
    struct sp_buf b;
    if (!n)
        return EXIT_FINE;
    sp_printf(a->c->out, a->c->format == FORMAT_MARKDOWN ? "\n**%s**\n\n" : "\n%s\n", title);
    sp_table_init(&t, columns, sizeof columns / sizeof *columns);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < n && i < limit; i++) {
        const struct sp_diff_row *r = &rows[i];
        struct sp_str name = sp_str_at(&a->d.strs, r->function), dso = sp_str_at(&a->d.strs, r->dso);
        points(&t, &b, r->share[SP_SELF].side[side].mean, false);
        points(&t, &b, r->share[SP_CUM].side[side].mean, false);
        if (r->side[side].samples[SP_CUM] != SP_ABSENT)
            sp_buf_i64(&b, r->side[side].samples[SP_CUM]);
        cell(&t, &b);
        sp_table_cell(&t, verdict_word(&r->share[SP_CUM]), strlen(verdict_word(&r->share[SP_CUM])));
        sp_table_cell(&t, name.p, name.n);
        sp_table_cell(&t, dso.p, dso.n);
    }
    int rc = answer_table(a->c, &t);
    if (!rc && n > limit)
        sp_printf(a->c->out, "%s%zu more; -n 0 shows all\n", a->c->format == FORMAT_MARKDOWN ? "\n" : "",
                  n - limit);
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}

/* ---- CSV: a line per function of any list, numbers as they are ---- */

static void exact(struct sp_table *t, double x)
{
    char text[32];
    if (isfinite(x))
        sp_table_cell(t, text, sp_double_text(round(x * 1e12) / 1e12, text));
    else
        sp_table_cell(t, "", 0);
}

static void csv_test(struct sp_table *t, const struct diff_answer *a, const struct sp_diff_row *r,
                     unsigned family)
{
    const struct sp_diff_test *x = &r->share[family];
    const char *verdict = sp_diff_verdict_names[x->verdict];
    char text[64];
    sp_table_cell(t, verdict, strlen(verdict));
    exact(t, x->side[SP_BASE].mean);
    exact(t, x->side[SP_NEW].mean);
    exact(t, x->delta);
    exact(t, x->lo);
    exact(t, x->hi);
    exact(t, x->p);
    exact(t, x->q);
    exact(t, x->mde);
    for (unsigned side = 0; side < SP_SIDES; side++)
        sp_table_cell(t, text, sp_scaled_text(r->side[side].weight[family], a->d.scale, text));
}

static void csv_rows(struct sp_table *t, const struct diff_answer *a, const char *list,
                     const struct sp_diff_row *r, size_t n)
{
    for (size_t i = 0; i < n && i < a->limit; i++, r++) {
        struct sp_str name = sp_str_at(&a->d.strs, r->function), dso = sp_str_at(&a->d.strs, r->dso);
        sp_table_cell(t, list, strlen(list));
        sp_table_cell(t, r->id, strlen(r->id));
        sp_table_cell(t, name.p, name.n);
        sp_table_cell(t, dso.p, dso.n);
        csv_test(t, a, r, SP_SELF);
        csv_test(t, a, r, SP_CUM);
    }
}

static int csv(struct diff_answer *a)
{
    static const char *const titles[] = {"list",
                                         "id",
                                         "function",
                                         "dso",
                                         "verdict",
                                         "base_share",
                                         "new_share",
                                         "delta",
                                         "ci_lo",
                                         "ci_hi",
                                         "p",
                                         "q",
                                         "mde",
                                         "base_weight",
                                         "new_weight",
                                         "cum_verdict",
                                         "cum_base_share",
                                         "cum_new_share",
                                         "cum_delta",
                                         "cum_ci_lo",
                                         "cum_ci_hi",
                                         "cum_p",
                                         "cum_q",
                                         "cum_mde",
                                         "cum_base_weight",
                                         "cum_new_weight"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    struct sp_table_column columns[COLUMNS] = {{0}};
    struct sp_table t;
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i].title = titles[i];
    sp_table_init(&t, columns, COLUMNS);
    csv_rows(&t, a, "both", a->d.rows.v, a->d.rows.n);
    csv_rows(&t, a, "new", a->d.appeared.v, a->d.appeared.n);
    csv_rows(&t, a, "vanished", a->d.vanished.v, a->d.vanished.n);
    int rc = answer_table(a->c, &t);
    sp_table_free(&t);
    return rc;
}

/* ---- the head ---- */

static void weight(const struct diff_answer *a, struct sp_buf *b, __int128 v)
{
    struct sp_selection s = {.unit = a->words.unit, .scale = a->words.scale};
    if (v > INT64_MAX)
        sp_buf_puts(b, "more than 64 bits");
    else
        weight_text(b, &s, (int64_t)v);
}

static void side_line(const struct diff_answer *a, struct sp_buf *b, unsigned side)
{
    const struct sp_diff_side *s = &a->d.side[side];
    size_t first = side == SP_BASE ? 0 : a->c->split;
    sp_buf_puts(b, side == SP_BASE ? "base    " : "new     ");
    for (size_t i = 0; i < s->runs && i < 4; i++) {
        sp_buf_puts(b, i ? " " : "");
        sp_text_safe(b, a->c->files.v[first + i], strlen(a->c->files.v[first + i]));
    }
    if (s->runs > 4)
        sp_buf_printf(b, " and %zu more", s->runs - 4);
    sp_buf_puts(b, ": ");
    weight(a, b, s->total);
    if (!a->words.unit.n) {
        sp_buf_ch(b, ' ');
        sp_text_safe(b, a->words.metric.p, a->words.metric.n);
    }
    if (s->samples != SP_ABSENT) {
        sp_buf_puts(b, ", ");
        sp_text_grouped(b, s->samples, 0);
        sp_buf_puts(b, " samples");
    }
    if (isfinite(s->seconds)) {
        sp_buf_puts(b, " in ");
        diff_number(b, s->seconds, 3, false);
        sp_buf_puts(b, " s");
    }
    if (a->words.filters.n || a->words.view) {
        sp_buf_puts(b, "; kept ");
        diff_number(b, s->all ? 100 * (double)s->kept / (double)s->all : 0, 2, false);
        sp_buf_puts(b, "% of the event's ");
        weight(a, b, s->all);
    }
    sp_buf_ch(b, '\n');
}

static void what_line(const struct diff_answer *a, struct sp_buf *b)
{
    const struct diff_words *k = &a->words;
    sp_buf_puts(b, "what    event ");
    sp_text_safe(b, k->event.p, k->event.n);
    sp_buf_puts(b, ", metric ");
    sp_text_safe(b, k->metric.p, k->metric.n);
    if (k->unit.n) {
        sp_buf_puts(b, " (");
        sp_text_safe(b, k->unit.p, k->unit.n);
        sp_buf_ch(b, ')');
    }
    if (k->view)
        sp_buf_printf(b, ", view %s (--view all)", k->view);
    if (k->filters.n) {
        sp_buf_puts(b, "; ");
        sp_text_safe(b, k->filters.p, k->filters.n);
    }
    sp_buf_ch(b, '\n');
}

static void total_line(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff_test *t = &a->d.total;
    sp_buf_puts(b, "total   ");
    diff_number(b, 100 * t->delta / t->side[SP_BASE].mean, 2, true);
    sp_buf_puts(b, "% weight");
    if (a->d.method >= SP_DIFF_ONE_SIDED)
        sp_buf_printf(b, " a run, %s", verdict_word(t));
    if (a->d.rates) { /* one of them may have lasted longer */
        const struct sp_diff_side *x = &a->d.side[SP_BASE], *y = &a->d.side[SP_NEW];
        sp_buf_puts(b, ", ");
        diff_number(b, 100 * ((double)y->total / y->seconds / ((double)x->total / x->seconds) - 1), 2, true);
        sp_buf_puts(b, "% a second");
    }
    sp_buf_ch(b, '\n');
}

/* Markdown: each line its own, the first one bold. */
static void say(const struct diff_answer *a, struct sp_buf *b)
{
    struct cli *c = a->c;
    if (c->format != FORMAT_MARKDOWN) {
        sp_write(c->out, b->data, b->len);
        return;
    }
    const char *p = b->data, *end = p + b->len;
    for (bool first = true; p && p < end; first = false) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = nl ? (size_t)(nl - p) : (size_t)(end - p);
        sp_puts(c->out, first ? "**" : "- ");
        sp_markdown_text(c->out, p, n);
        sp_puts(c->out, first ? "**\n\n" : "\n");
        p += n + 1;
    }
}

static void head(const struct diff_answer *a)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "%s: ", diff_headline(&a->d));
    diff_summary(a, &b);
    sp_buf_ch(&b, '\n');
    for (size_t i = 0; i < a->gate.limits.n; i++) {
        sp_buf_puts(&b, "limit   ");
        diff_gate_text(a, &a->gate.limits.v[i], &b);
        sp_buf_ch(&b, '\n');
    }
    what_line(a, &b);
    side_line(a, &b, SP_BASE);
    side_line(a, &b, SP_NEW);
    total_line(a, &b);
    sp_buf_puts(&b, "method  ");
    diff_method(a, &b);
    for (const char *const *s = diff_assumptions(a->d.method); *s; s++)
        sp_buf_printf(&b, "%s%s", s == diff_assumptions(a->d.method) ? "; assumes that " : " and that ", *s);
    sp_buf_ch(&b, '\n');
    say(a, &b);
    sp_buf_free(&b);
    sp_puts(a->c->out, "\n");
}

int diff_answer_text(struct diff_answer *a)
{
    if (a->c->format == FORMAT_CSV)
        return csv(a);
    head(a);
    int rc = changed_table(a);
    if (!rc)
        rc = one_sided_table(a, "new functions", a->d.appeared.v, a->d.appeared.n, SP_NEW);
    if (!rc)
        rc = one_sided_table(a, "vanished functions", a->d.vanished.v, a->d.vanished.n, SP_BASE);
    if (rc || a->c->format == FORMAT_MARKDOWN)
        return rc;
    sp_puts(a->c->out, "\nnext\n");
    struct sp_buf b;
    sp_buf_init(&b, 0);
    for (unsigned i = 0; sp_buf_clear(&b), diff_next(a, i, &b); i++) {
        sp_buf_ch(&b, '\n');
        sp_puts(a->c->out, "  ");
        struct sp_buf safe;
        sp_buf_init(&safe, 0);
        sp_text_safe(&safe, b.data, b.len - 1);
        sp_write(a->c->out, safe.data, safe.len);
        sp_puts(a->c->out, "\n");
        sp_buf_free(&safe);
    }
    sp_buf_free(&b);
    return EXIT_FINE;
}

/* `spaa diff` for people: the verdict, the sides, the rows that changed, as text, markdown or CSV. */
#include "diff.h"

#include "base/num.h"
#include "render/text.h"

#include <math.h>

/* ---- words ---- */

const char *diff_headline(const struct sp_diff *d)
{
    static const char *const words[] = {"CHANGED", "NO CHANGE FOUND", "NOT ESTABLISHED", "UNCHANGED"};
    return words[d->headline];
}

static void diff_answer_functions(struct sp_buf *b, size_t n)
{
    sp_text_grouped(b, (int64_t)n, 0);
    sp_buf_puts(b, n == 1 ? " function" : " functions");
}

static const char *per_words(const struct sp_diff *d)
{
    static const char *const words[] = {"a run", "a second", "a unit of work"};
    return words[d->per];
}

static const char *against_words(const struct sp_diff *d)
{
    static const char *const words[] = {"against the median function", "by its cost",
                                        "as a share of the whole"};
    return d->method >= SP_DIFF_REPEATS ? words[d->reference]
           : d->method == SP_DIFF_EXACT ? "by weight"
                                        : "as a share";
}

static void diff_answer_whole(const struct sp_diff *d, struct sp_buf *b)
{
    sp_buf_puts(b, "the whole ");
    diff_number(b, 100 * d->whole.change, 2, true);
    sp_buf_printf(b, "%% %s", per_words(d));
}

static void changed(const struct sp_diff *d, struct sp_buf *b)
{
    diff_answer_functions(b, d->significant[SP_SELF]);
    sp_buf_puts(b, " in self and ");
    diff_answer_functions(b, d->significant[SP_TOTAL]);
    sp_buf_printf(b, " in total, %s", against_words(d));
    if (d->whole.verdict == SP_DIFF_SIGNIFICANT) {
        sp_buf_puts(b, "; ");
        diff_answer_whole(d, b);
    }
}

/* The tested function that is heaviest; NULL: none was tested. */
static const struct sp_diff_row *diff_answer_heaviest(const struct sp_diff *d)
{
    const struct sp_diff_row *best = NULL;
    double most = -1;
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sp_diff_test *t = &d->rows.v[i].share[SP_SELF];
        double m = t->side[SP_BASE].mean + t->side[SP_NEW].mean;
        if (t->tested && m > most) {
            best = &d->rows.v[i];
            most = m;
        }
    }
    return best;
}

static double half_of(const struct sp_diff_test *t)
{
    return (t->side[SP_BASE].mean + t->side[SP_NEW].mean) / 2;
}

/* The least change, in points, that every tested function would have shown; NaN: none was tested. */
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

/* What would have been found, by the method that was used. */
static void would_have(const struct sp_diff *d, struct sp_buf *b)
{
    const struct sp_diff_row *top = diff_answer_heaviest(d);
    const struct sp_diff_test *t = top ? &top->share[SP_SELF] : NULL;
    double level = SP_DIFF_ALPHA / (double)(d->family[SP_SELF] ? d->family[SP_SELF] : 1);
    if (!t) {
        sp_buf_printf(b, "; no function has the %d samples that a comparison takes", SP_DIFF_LEAST);
    } else if (isfinite(t->mde_family) && !(resolution(d) < 1)) {
        sp_buf_puts(b, "; runs differ by so much that no change could have been found");
    } else if (isinf(t->mde_family)) {
        sp_buf_puts(b, "; no change could have been found: of so few runs the rarest split has p = ");
        diff_number(b, t->least_p, 4, false);
        sp_buf_puts(b, ", and one of these functions would need ");
        diff_number(b, level, 4, false);
    } else if (isfinite(t->mde_family)) {
        sp_buf_puts(b, "; would have been found 4 times in 5: ");
        diff_number(b, 100 * t->mde_family / half_of(t), 1, true);
        sp_buf_puts(b, "% of ");
        struct sp_str name = sp_str_at(&d->strs, top->function);
        sp_text_safe(b, name.p, name.n);
        double all = resolution(d);
        if (isfinite(all)) {
            sp_buf_puts(b, ", the heaviest, and ");
            diff_number(b, 100 * all, 2, false);
            sp_buf_puts(b, " points of the whole in any function");
        }
    }
}

static bool excludes(const struct sp_diff *d, const struct sp_diff_test *t)
{
    return d->method >= SP_DIFF_REPEATS ? t->change_lo > 0 || t->change_hi < 0 : t->lo > 0 || t->hi < 0;
}

/* Intervals are of one function each: among many some exclude 0 by chance. */
static void excluded(const struct sp_diff *d, struct sp_buf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < d->rows.n; i++)
        n += d->rows.v[i].share[SP_SELF].tested && excludes(d, &d->rows.v[i].share[SP_SELF]);
    if (!n)
        return;
    sp_buf_puts(b, "; ");
    diff_answer_functions(b, n);
    sp_buf_printf(
        b, " would differ if looked at alone (%s interval excludes 0), which among %zu is not beyond chance",
        n == 1 ? "its" : "their", d->family[SP_SELF]);
}

static void nothing_found(const struct sp_diff *d, struct sp_buf *b)
{
    sp_buf_printf(b, "%s in %zu against %zu runs",
                  d->headline == SP_DIFF_NO_CHANGE ? "in self weight," : "no change found",
                  d->side[SP_BASE].runs, d->side[SP_NEW].runs);
    would_have(d, b);
    excluded(d, b);
    if (d->significant[SP_TOTAL]) {
        sp_buf_puts(b, "; yet ");
        diff_answer_functions(b, d->significant[SP_TOTAL]);
        sp_buf_puts(b, d->significant[SP_TOTAL] == 1 ? " differs in total" : " differ in total");
    }
    if (d->whole.verdict == SP_DIFF_SIGNIFICANT) {
        sp_buf_puts(b, "; yet ");
        diff_answer_whole(d, b);
    }
}

/* Runs of one build a side show that the builds differ, never that it is the source that made them. */
static void of_two_builds(const struct sp_diff *d, struct sp_buf *b)
{
    size_t n = 0, all = d->rows.n + d->appeared.n + d->vanished.n;
    for (size_t i = 0; i < all; i++) {
        const struct sp_diff_test *t = &sp_diff_row_at((struct sp_diff *)d, i)->share[SP_SELF];
        n += t->layout && t->verdict == SP_DIFF_SIGNIFICANT;
    }
    if (!n)
        return;
    sp_buf_puts(b, "; of ");
    diff_answer_functions(b, n);
    sp_buf_puts(
        b,
        " one build a side was run: these builds differ, and layout alone can make a function a third slower;"
        " runs of several links a side tell");
}

static void diff_answer_exactly(const struct sp_diff *d, struct sp_buf *b)
{
    if (d->headline == SP_DIFF_CHANGED && d->significant[SP_SELF])
        changed(d, b);
    else if (d->headline == SP_DIFF_CHANGED)
        sp_buf_printf(b, "every function has the same self %s, not the same %s",
                      d->memory == SP_MEMORY_BYTES ? "bytes" : "blocks",
                      d->memory == SP_MEMORY_BYTES ? "blocks" : "bytes");
    else
        sp_buf_puts(b, "every function has the same self weight");
    sp_buf_puts(b, "; counted, not sampled: exact for these two runs");
}

void diff_summary(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    size_t found = d->significant[SP_SELF];
    const char *repeat = "repeat the recordings: spaa diff BASE… -- NEW…";
    if (d->memory)
        diff_memory_summary(a, b);
    if (d->method == SP_DIFF_EXACT) {
        diff_answer_exactly(d, b);
    } else if (d->headline == SP_DIFF_CHANGED && found) {
        changed(d, b);
        of_two_builds(d, b);
    } else if (d->headline == SP_DIFF_CHANGED) {
        diff_answer_whole(d, b);
        sp_buf_printf(b, "; no function in self weight, %s", against_words(d));
    } else if (sp_diff_establishes(d->method)) {
        nothing_found(d, b);
    } else if (d->method == SP_DIFF_NONE) {
        sp_buf_printf(b, "significance is unavailable: there are no sample counts (metric `samples`); %s",
                      repeat);
    } else {
        if (found)
            diff_answer_functions(b, found);
        else
            sp_buf_puts(b, "no function");
        sp_buf_printf(
            b,
            " %s within these runs, %s; whether the program changed needs repeats: spaa diff BASE… -- NEW…",
            found == 1 || !found ? "differs" : "differ",
            d->method == SP_DIFF_SAMPLES ? "if samples are independent" : "by their time blocks");
    }
}

static void tested_by(const struct sp_diff *d, struct sp_buf *b)
{
    const struct sp_diff_side *x = &d->side[SP_BASE], *y = &d->side[SP_NEW];
    switch (d->method) {
    case SP_DIFF_NONE:
        break;
    case SP_DIFF_EXACT:
        sp_buf_puts(b, "exact counts, compared one by one");
        break;
    case SP_DIFF_SAMPLES:
        sp_buf_puts(b, "z test of shares, Fisher's exact test below 10 samples");
        break;
    case SP_DIFF_TIME_BLOCKS:
        sp_buf_printf(b, "Welch's test of shares on %u and %u time blocks", x->blocks, y->blocks);
        break;
    case SP_DIFF_REPEATS:
        sp_buf_printf(b, "quasi-likelihood F-test of the change %s, on %zu and %zu runs", against_words(d),
                      x->runs, y->runs);
        break;
    case SP_DIFF_PERMUTATION:
        sp_buf_printf(b, "permutation test of the change %s, on %zu and %zu runs", against_words(d), x->runs,
                      y->runs);
        break;
    }
}

void diff_method(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    if (d->method == SP_DIFF_NONE) {
        sp_buf_puts(b, "shares only: nothing tells a change from chance");
        return;
    }
    tested_by(d, b);
    sp_buf_printf(b, "; %zu functions compared by self, %zu by total", d->family[SP_SELF],
                  d->family[SP_TOTAL]);
    if (d->method == SP_DIFF_EXACT)
        return;
    sp_buf_puts(b, " (Benjamini-Hochberg, 5 %); below MDE: smaller than what would be found 4 times in 5");
    if (d->layout)
        sp_buf_printf(
            b, "; %zu of these functions are of two builds: %g %% is allowed for what layout does to them",
            d->layout, 100 * SP_DIFF_LAYOUT);
    if (d->dependent)
        sp_buf_printf(b, "; %zu comparisons left open: phases longer than a time block", d->dependent);
    if (d->no_blocks && d->method == SP_DIFF_SAMPLES)
        sp_buf_printf(b, "; no time blocks: %s", d->no_blocks);
}

const char *const *diff_assumptions(enum sp_diff_method m)
{
    static const char *const words[][3] = {
        {NULL, NULL, NULL},
        {"samples are independent of each other", "one run stands for all runs", NULL},
        {"time blocks are independent of each other", "one run stands for all runs", NULL},
        {NULL, NULL, NULL},
        {"runs are independent of each other", "both sides vary alike", NULL},
        {"runs are exchangeable where nothing changed", NULL, NULL},
    };
    return words[m];
}

static void what_helps(const struct diff_answer *a, const struct sp_limit_case *x, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    if (!sp_diff_establishes(d->method)) {
        sp_buf_puts(b, "needs several runs a side: one run tells nothing about how runs differ");
    } else if (!x->row && sp_diff_sampled_unlike(d)) {
        sp_buf_puts(b, "samples of different frequencies: compare another metric (-m)");
    } else if (!x->row && sp_diff_lengths_differ(d)) {
        sp_buf_puts(
            b,
            "runs of the sides last differently: slower, or recorded for longer? --work says what was done");
    } else if (isnan(x->need)) {
        sp_buf_puts(b, "too near the limit to say how many runs would tell");
    } else if (x->need > 1000) {
        sp_buf_puts(b, "too near the limit for any number of runs to tell");
    } else {
        sp_buf_puts(b, "needs about ");
        size_t runs =
            d->side[SP_BASE].runs > d->side[SP_NEW].runs ? d->side[SP_BASE].runs : d->side[SP_NEW].runs;
        diff_number(b, ceil(x->need * (double)runs), 0, false);
        sp_buf_puts(b, " runs a side");
    }
}

/* A share in percent, or a weight in its unit. */
static void amount_of(const struct diff_answer *a, struct sp_buf *b, bool share, double x)
{
    struct sp_selection s = {.unit = a->words.unit, .scale = a->words.scale};
    double v = x * pow(10, a->words.scale);
    if (share) {
        diff_number(b, 100 * x, 2, false);
        sp_buf_ch(b, '%');
    } else if (isfinite(v) && fabs(v) < 9e18) {
        weight_text(b, &s, llround(v));
    } else {
        sp_buf_ch(b, '-');
    }
}

/* "self share of parse_field 14.20% to 19.60% (+38.03%)" */
static void case_text(const struct diff_answer *a, const struct sp_limit *l, const struct sp_limit_case *x,
                      struct sp_buf *b)
{
    if (!x->row) {
        sp_buf_puts(b, "the whole ");
        diff_number(b, x->growth, 2, true);
        sp_buf_printf(b, "%% %s", per_words(&a->d));
        return;
    }
    const struct sp_diff_test *t = sp_limit_test(&a->d, l, x->row);
    bool share = t == &x->row->share[l->family];
    sp_buf_puts(b, l->family == SP_SELF ? "self " : "total ");
    sp_buf_puts(b, share ? "share of " : "weight of ");
    diff_short_name(b, sp_str_at(&a->d.strs, x->row->function));
    sp_buf_ch(b, ' ');
    amount_of(a, b, share, t->side[SP_BASE].mean);
    sp_buf_puts(b, " to ");
    amount_of(a, b, share, t->side[SP_NEW].mean);
    sp_buf_puts(b, " (");
    diff_number(b, x->growth, 2, true);
    sp_buf_puts(b, isinf(x->growth) ? ")" : l->points ? " points)" : "%)");
}

void diff_limit_text(const struct diff_answer *a, const struct sp_limit *l, struct sp_buf *b)
{
    static const char *const words[] = {"passed", "BREACHED", "cannot tell"};
    sp_text_safe(b, l->text.p, l->text.n);
    sp_buf_printf(b, "  %s", words[l->verdict]);
    if (l->verdict == SP_LIMIT_PASSED && l->subject == SP_LIMIT_ANY) {
        sp_buf_printf(b, ": %zu function%s of %s%% or more %s shown to stay within", l->judged,
                      l->judged == 1 ? "" : "s", a->c->v.min_share ? a->c->v.min_share : "5",
                      l->judged == 1 ? "is" : "are");
        return;
    }
    for (size_t i = 0; i < l->cases.n && i < 3 && l->verdict != SP_LIMIT_PASSED; i++) {
        sp_buf_puts(b, i ? "; " : ": ");
        case_text(a, l, &l->cases.v[i], b);
        if (l->verdict == SP_LIMIT_UNSURE && i == 0) {
            sp_buf_puts(b, ", shown neither beyond the limit nor within; ");
            what_helps(a, &l->cases.v[i], b);
        }
    }
    if (l->cases.n > 3 && l->verdict != SP_LIMIT_PASSED)
        sp_buf_printf(b, "; and %zu more", l->cases.n - 3);
}

void diff_limits_warn(const struct diff_answer *a)
{
    struct sp_buf b;
    sp_buf_init(&b, 4096);
    for (size_t i = 0; i < a->fail_on.limits.n; i++) {
        const struct sp_limit *l = &a->fail_on.limits.v[i];
        if (l->verdict != SP_LIMIT_UNSURE)
            continue;
        sp_buf_clear(&b);
        diff_limit_text(a, l, &b);
        sp_emit(&a->c->diags, SP_W642, SP_AT_NOTHING, "%s", sp_buf_cstr(&b));
    }
    sp_buf_free(&b);
}

bool diff_next(const struct diff_answer *a, unsigned i, struct sp_buf *b)
{
    struct cli *c = a->c;
    if (i > 1)
        return false;
    const char **files = c->files.v;
    size_t n = c->files.n;
    struct sp_options asked = c->v;
    c->v = i ? cli_where_values(&a->where[SP_NEW], &asked) : asked;
    c->files.v += c->split;
    c->files.n = 1;
    command_text(b, c, &(struct answer_next){i ? "top" : "flamegraph", NULL, NULL});
    c->files.v = files;
    c->files.n = n;
    c->v = asked;
    if (i == 0) {
        sp_buf_puts(b, " --diff ");
        command_word(b, c->files.v[0]);
        for (unsigned side = 0; side < SP_SIDES; side++)
            for (size_t k = 0; k < c->v.wheres[side].n; k++) {
                sp_buf_puts(b, side == SP_BASE ? " --base-where " : " --new-where ");
                command_word(b, c->v.wheres[side].v[k]);
            }
        sp_buf_puts(b, " -o diff.svg");
    }
    return true;
}

/* ---- tables ---- */

static void diff_answer_cell(struct sp_table *t, struct sp_buf *b)
{
    sp_table_cell(t, b->data ? b->data : "", b->len);
    sp_buf_clear(b);
}

static void points(struct sp_table *t, struct sp_buf *b, double x, bool sign)
{
    diff_number(b, 100 * x, 2, sign);
    diff_answer_cell(t, b);
}

static void diff_answer_range(struct sp_table *t, struct sp_buf *b, double lo, double hi, const char *unit)
{
    if (!isnan(lo) && !isnan(hi)) {
        diff_number(b, 100 * lo, 2, true);
        sp_buf_puts(b, " .. ");
        diff_number(b, 100 * hi, 2, true);
        sp_buf_puts(b, isfinite(hi) ? unit : "");
    }
    diff_answer_cell(t, b);
}

static void diff_answer_percent(struct sp_buf *b, double change)
{
    diff_number(b, 100 * change, 1, true);
    sp_buf_puts(b, isfinite(change) ? "%" : "");
}

/* A cost in the metric's unit; counts of few, which need a fraction, with one. */
static void cost_cell(const struct diff_answer *a, struct sp_table *t, struct sp_buf *b, double x)
{
    struct sp_selection s = {.unit = a->words.unit, .scale = a->words.scale};
    double v = x * pow(10, a->words.scale);
    if (!isfinite(v) || fabs(v) > 9e18)
        sp_buf_ch(b, '-');
    else if (!a->words.unit.n && v != 0 && fabs(x) < 1000)
        diff_number(b, x, 2, false);
    else
        weight_text(b, &s, llround(v));
    diff_answer_cell(t, b);
}

static bool by_runs(const struct diff_answer *a)
{
    return a->d.method >= SP_DIFF_REPEATS;
}

/* Cost, share, change against the reference; the interval is that of what was tested. */
static void row_cells(const struct diff_answer *a, struct sp_table *t, struct sp_buf *b,
                      const struct sp_diff_row *r, unsigned family)
{
    const struct sp_diff_test *x = &r->share[family], *c = &r->cost[family], *other = &r->cost[!family];
    struct sp_str name = sp_str_at(&a->d.strs, r->function), dso = sp_str_at(&a->d.strs, r->dso);
    cost_cell(a, t, b, c->side[SP_BASE].mean);
    cost_cell(a, t, b, c->side[SP_NEW].mean);
    diff_answer_percent(b, c->change);
    diff_answer_cell(t, b);
    points(t, b, x->side[SP_BASE].mean, false);
    points(t, b, x->side[SP_NEW].mean, false);
    if (by_runs(a)) {
        diff_answer_percent(b, x->change);
        diff_answer_cell(t, b);
        diff_answer_range(t, b, x->change_lo, x->change_hi, "%");
    } else {
        points(t, b, x->delta, true);
        diff_answer_range(t, b, x->lo, x->hi, "");
    }
    sp_table_cell(t, diff_verdict_word(x), strlen(diff_verdict_word(x)));
    diff_answer_percent(b, other->change);
    sp_buf_puts(b, r->share[!family].verdict == SP_DIFF_SIGNIFICANT ? " *" : "  ");
    diff_answer_cell(t, b);
    sp_table_cell(t, name.p, name.n);
    sp_table_cell(t, dso.p, dso.n);
}

static int changed_table(struct diff_answer *a)
{
    static const char *const per[][2] = {
        {"base/run", "new/run"}, {"base/s", "new/s"}, {"base/work", "new/work"}};
    static const char *const against[] = {"vs median", "vs cost", "vs whole"};
    bool total = a->c->v.sort && strcmp(a->c->v.sort, "total") == 0;
    const struct sp_table_column columns[] = {
        {per[a->d.per][SP_BASE], true, false},
        {per[a->d.per][SP_NEW], true, false},
        {"change", true, false},
        {total ? "base total%" : "base%", true, false},
        {total ? "new total%" : "new%", true, false},
        {by_runs(a) ? against[a->d.reference] : "points", true, false},
        {"95% interval", true, false},
        {"verdict", false, false},
        {total ? "self change" : "total change", true, false},
        {"function", false, true},
        {"dso", false, true},
    };
    struct sp_table t;
    struct sp_buf b;
    if (a->d.memory)
        return diff_memory_table(a);
    sp_table_init(&t, columns, sizeof columns / sizeof *columns);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < a->d.rows.n && i < a->limit; i++)
        row_cells(a, &t, &b, &a->d.rows.v[i], total ? SP_TOTAL : SP_SELF);
    return diff_end_table(a, &t, &b, a->d.rows.n, a->limit, " functions");
}

/* New or vanished functions: few, unless a number was asked for. */
static int one_sided_table(struct diff_answer *a, const char *title, const struct sp_diff_row *rows, size_t n,
                           unsigned side)
{
    size_t limit = a->c->v.limit ? a->limit : 8;
    static const char *const per[] = {"self/run", "self/s", "self/work"};
    const struct sp_table_column columns[] = {{per[a->d.per], true, false}, {"self%", true, false},
                                              {"total%", true, false},      {"samples", true, false},
                                              {"verdict", false, false},    {"total verdict", false, false},
                                              {"function", false, true},    {"dso", false, true}};
    struct sp_table t;
    struct sp_buf b;
    if (!n)
        return EXIT_FINE;
    sp_printf(a->c->out, a->c->format == FORMAT_MARKDOWN ? "\n**%s**\n\n" : "\n%s\n", title);
    if (a->d.memory)
        return diff_memory_one_sided(a, rows, n, side);
    sp_table_init(&t, columns, sizeof columns / sizeof *columns);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < n && i < limit; i++) {
        const struct sp_diff_row *r = &rows[i];
        struct sp_str name = sp_str_at(&a->d.strs, r->function), dso = sp_str_at(&a->d.strs, r->dso);
        cost_cell(a, &t, &b, r->cost[SP_SELF].side[side].mean);
        points(&t, &b, r->share[SP_SELF].side[side].mean, false);
        points(&t, &b, r->share[SP_TOTAL].side[side].mean, false);
        if (r->side[side].samples[SP_TOTAL] != SP_ABSENT)
            sp_buf_i64(&b, r->side[side].samples[SP_TOTAL]);
        diff_answer_cell(&t, &b);
        for (unsigned f = 0; f < SP_FAMILIES; f++)
            sp_table_cell(&t, diff_verdict_word(&r->share[f]), strlen(diff_verdict_word(&r->share[f])));
        sp_table_cell(&t, name.p, name.n);
        sp_table_cell(&t, dso.p, dso.n);
    }
    return diff_end_table(a, &t, &b, n, limit, "");
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
    exact(t, x->change);
    exact(t, x->change_lo);
    exact(t, x->change_hi);
    exact(t, r->cost[family].side[SP_BASE].mean);
    exact(t, r->cost[family].side[SP_NEW].mean);
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
        csv_test(t, a, r, SP_TOTAL);
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
                                         "change",
                                         "change_lo",
                                         "change_hi",
                                         "base_cost",
                                         "new_cost",
                                         "base_weight",
                                         "new_weight",
                                         "total_verdict",
                                         "total_base_share",
                                         "total_new_share",
                                         "total_delta",
                                         "total_ci_lo",
                                         "total_ci_hi",
                                         "total_p",
                                         "total_q",
                                         "total_mde",
                                         "total_change",
                                         "total_change_lo",
                                         "total_change_hi",
                                         "total_base_cost",
                                         "total_new_cost",
                                         "total_base_weight",
                                         "total_new_weight"};
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

static void diff_answer_weight(const struct diff_answer *a, struct sp_buf *b, __int128 v)
{
    struct sp_selection s = {.unit = a->words.unit, .scale = a->words.scale};
    if (v > INT64_MAX)
        sp_buf_puts(b, "more than 64 bits");
    else
        weight_text(b, &s, (int64_t)v);
}

/* ", view cpu (--view all); --comm a": what is not on both sides alike stands with each. */
static void filter_words(struct sp_buf *b, const struct diff_side_words *k)
{
    if (k->view)
        sp_buf_printf(b, ", view %s (--view all)", k->view);
    if (k->filters.n) {
        sp_buf_puts(b, "; ");
        sp_text_safe(b, k->filters.p, k->filters.n);
    }
}

static void event_words(struct sp_buf *b, const struct diff_answer *a, const struct diff_side_words *k)
{
    sp_buf_puts(b, "event ");
    sp_text_safe(b, k->event.p, k->event.n);
    sp_buf_puts(b, ", metric ");
    sp_text_safe(b, k->metric.p, k->metric.n);
    if (a->words.unit.n) {
        sp_buf_puts(b, " (");
        sp_text_safe(b, a->words.unit.p, a->words.unit.n);
        sp_buf_ch(b, ')');
    }
}

bool diff_sides_alike(const struct diff_answer *a)
{
    const struct diff_side_words *x = &a->words.side[SP_BASE], *y = &a->words.side[SP_NEW];
    return sp_str_cmp(x->event, y->event) == 0 && sp_str_cmp(x->metric, y->metric) == 0 &&
           sp_str_cmp(x->filters, y->filters) == 0 &&
           (x->view && y->view ? strcmp(x->view, y->view) == 0 : x->view == y->view);
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
    diff_answer_weight(a, b, s->whole);
    const struct diff_side_words *k = &a->words.side[side];
    if (!a->words.unit.n) {
        sp_buf_ch(b, ' ');
        sp_text_safe(b, k->metric.p, k->metric.n);
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
    if (!diff_sides_alike(a)) {
        sp_buf_puts(b, "; ");
        event_words(b, a, k);
        filter_words(b, k);
    }
    if (k->filters.n || k->view) {
        sp_buf_puts(b, "; kept ");
        diff_number(b, s->event_whole ? 100 * (double)s->kept / (double)s->event_whole : 0, 2, false);
        sp_buf_puts(b, "% of the event's ");
        diff_answer_weight(a, b, s->event_whole);
    }
    sp_buf_ch(b, '\n');
}

static void what_line(const struct diff_answer *a, struct sp_buf *b)
{
    if (!diff_sides_alike(a))
        return;
    sp_buf_puts(b, "what    ");
    event_words(b, a, &a->words.side[SP_BASE]);
    filter_words(b, &a->words.side[SP_BASE]);
    sp_buf_ch(b, '\n');
}

static void total_line(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_test *t = &d->whole;
    double x = d->side[SP_BASE].seconds / (double)d->side[SP_BASE].runs,
           y = d->side[SP_NEW].seconds / (double)d->side[SP_NEW].runs;
    sp_buf_puts(b, "whole   ");
    diff_number(b, 100 * t->change, 2, true);
    sp_buf_printf(b, "%% %s", per_words(d));
    if (sp_diff_establishes(d->method))
        sp_buf_printf(b, ", %s", diff_verdict_word(t));
    if (by_runs(a) && d->reference == SP_AGAINST_MEDIAN) {
        sp_buf_puts(b, "; the median function ");
        diff_number(b, 100 * d->median_change, 2, true);
        sp_buf_printf(b, "%% %s", per_words(d));
    }
    if (d->per != SP_PER_SECOND && isfinite(x) && isfinite(y)) {
        sp_buf_puts(b, "; ");
        diff_number(b,
                    100 * ((double)d->side[SP_NEW].whole * x / ((double)d->side[SP_BASE].whole * y) *
                               (double)d->side[SP_BASE].runs / (double)d->side[SP_NEW].runs -
                           1),
                    2, true);
        sp_buf_puts(b, "% a second");
    }
    if (d->per != SP_PER_WORK && (x > 1.1 * y || y > 1.1 * x)) {
        sp_buf_puts(b, "; runs last ");
        diff_number(b, 100 * (y / x - 1), 1, true);
        sp_buf_puts(b, "%: slower, or recorded for longer? --work says what was done");
    }
    sp_buf_ch(b, '\n');
}

/* Markdown: each line its own, the first one bold. */
static void diff_answer_say(const struct diff_answer *a, struct sp_buf *b)
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

static void diff_answer_head(const struct diff_answer *a)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "%s: ", diff_headline(&a->d));
    diff_summary(a, &b);
    sp_buf_ch(&b, '\n');
    for (size_t i = 0; i < a->fail_on.limits.n; i++) {
        sp_buf_puts(&b, "limit   ");
        diff_limit_text(a, &a->fail_on.limits.v[i], &b);
        sp_buf_ch(&b, '\n');
    }
    what_line(a, &b);
    side_line(a, &b, SP_BASE);
    side_line(a, &b, SP_NEW);
    diff_binaries_text(a, &b);
    total_line(a, &b);
    sp_buf_puts(&b, "method  ");
    diff_method(a, &b);
    for (const char *const *s = diff_assumptions(a->d.method); *s; s++)
        sp_buf_printf(&b, "%s%s", s == diff_assumptions(a->d.method) ? "; assumes that " : " and that ", *s);
    sp_buf_ch(&b, '\n');
    diff_answer_say(a, &b);
    sp_buf_free(&b);
    sp_puts(a->c->out, "\n");
}

int diff_answer_text(struct diff_answer *a)
{
    if (a->c->format == FORMAT_CSV)
        return csv(a);
    diff_answer_head(a);
    int rc = changed_table(a);
    if (!rc)
        diff_remarks_text(a);
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

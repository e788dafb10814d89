/* What diff says in sentences: the verdict, how it was found, and what of a limit was. */
#include "ask/diff.h"

#include "base/num.h"

#include <math.h>

enum { OFTEN = 25 }; /* samples a run of a function whose change one wants to find */

/* ---- words ---- */

const char *sp_diff_headline_word(const struct sp_diff *d)
{
    static const char *const words[] = {"CHANGED", "NO CHANGE FOUND", "NOT ESTABLISHED", "UNCHANGED"};
    return words[d->headline];
}

static void diff_words_functions(struct sp_buf *b, size_t n)
{
    sp_text_grouped(b, (int64_t)n, 0);
    sp_buf_puts(b, n == 1 ? " function" : " functions");
}

static const char *against_words(const struct sp_diff *d)
{
    static const char *const words[] = {"against the median function", "by its cost",
                                        "as a share of the whole", "against the functions that agree"};
    return d->method >= SP_DIFF_REPEATS ? words[d->reference]
           : d->method == SP_DIFF_EXACT ? "by weight"
                                        : "as a share";
}

static void diff_words_whole(const struct sp_diff *d, struct sp_buf *b)
{
    sp_buf_puts(b, "the whole ");
    sp_diff_number(b, 100 * d->whole.change, 2, true);
    sp_buf_printf(b, "%% %s", sp_diff_per_words(d));
}

static void changed_functions(const struct sp_diff *d, struct sp_buf *b)
{
    diff_words_functions(b, d->significant[SP_SELF]);
    sp_buf_puts(b, " in self and ");
    diff_words_functions(b, d->significant[SP_TOTAL]);
    sp_buf_printf(b, " in total, %s", against_words(d));
}

static void changed(const struct sp_diff *d, struct sp_buf *b)
{
    changed_functions(d, b);
    if (d->whole.verdict == SP_DIFF_SIGNIFICANT) {
        sp_buf_puts(b, "; ");
        diff_words_whole(d, b);
    }
}

/* The tested function that is heaviest; NULL: none was tested. */
static const struct sp_diff_row *diff_words_heaviest(const struct sp_diff *d)
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

/* "26.74 → 25.29 %" */
static void points_of(struct sp_buf *b, const struct sp_diff_test *t)
{
    sp_diff_number(b, 100 * t->side[SP_BASE].mean, 1, false);
    sp_buf_puts(b, " → ");
    sp_diff_number(b, 100 * t->side[SP_NEW].mean, 1, false);
    sp_buf_puts(b, " %");
}

static double half_of(const struct sp_diff_test *t)
{
    return (t->side[SP_BASE].mean + t->side[SP_NEW].mean) / 2;
}

/* Worth knowing how small a change of it would have shown: the program's own, or heavy, and often seen. */
static bool worth_finding(const struct sp_diff *d, const struct sp_diff_row *r)
{
    const struct sp_diff_amount *x = r->side;
    int64_t runs = (int64_t)(d->side[SP_BASE].runs + d->side[SP_NEW].runs);
    bool often = x[SP_BASE].samples[SP_SELF] == SP_ABSENT || x[SP_NEW].samples[SP_SELF] == SP_ABSENT ||
                 x[SP_BASE].samples[SP_SELF] + x[SP_NEW].samples[SP_SELF] >= OFTEN * runs;
    return r->share[SP_SELF].tested && often && (r->own || !sp_diff_is_small(r));
}

/* The least change, in points, that each of these functions would have shown; NaN: there are none. */
static double resolution(const struct sp_diff *d, size_t *n)
{
    double most = NAN;
    *n = 0;
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sp_diff_test *t = &d->rows.v[i].share[SP_SELF];
        if (!worth_finding(d, &d->rows.v[i]))
            continue;
        ++*n;
        if (!(t->mde_family <= most))
            most = t->mde_family;
    }
    return most;
}

void sp_diff_say_detectable(const struct sp_diff *d, struct sp_buf *b)
{
    const struct sp_diff_row *top = diff_words_heaviest(d);
    const struct sp_diff_test *t = top ? &top->share[SP_SELF] : NULL;
    double level = SP_DIFF_ALPHA / (double)(d->family[SP_SELF] ? d->family[SP_SELF] : 1);
    size_t n;
    double all = resolution(d, &n);
    if (!t) {
        sp_buf_printf(b, "; no function has the %d samples that a comparison takes", SP_DIFF_LEAST);
    } else if (isfinite(t->mde_family) && !(t->mde_family < 1)) {
        if (d->significant[SP_SELF])
            return;
        sp_buf_puts(b, "; runs differ by so much that no change could have been found");
    } else if (isinf(t->mde_family)) {
        sp_buf_puts(b, "; no change could have been found: of so few runs the rarest split has p = ");
        sp_diff_number(b, t->least_p, 4, false);
        sp_buf_puts(b, ", and one of these functions would need ");
        sp_diff_number(b, level, 4, false);
    } else if (isfinite(t->mde_family)) {
        sp_buf_puts(b, "; would have been found 4 times in 5: ");
        sp_diff_number(b, 100 * t->mde_family / half_of(t), 1, true);
        sp_buf_puts(b, "% of ");
        sp_diff_say_row(d, top, true, b);
        if (all < 1) {
            sp_buf_puts(b, ", the heaviest, and ");
            sp_diff_number(b, 100 * all, 2, false);
            sp_buf_printf(b, " points in any of %zu function%s with %d samples a run", n, n == 1 ? "" : "s",
                          OFTEN);
        }
        if (isfinite(d->whole.mde) && d->whole.mde > 0) {
            sp_buf_puts(b, ", ");
            sp_diff_number(b, 100 * d->whole.mde / half_of(&d->whole), 1, true);
            sp_buf_puts(b, "% of the whole");
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
    diff_words_functions(b, n);
    sp_buf_printf(
        b, " would differ if looked at alone (%s interval excludes 0), which among %zu is not beyond chance",
        n == 1 ? "its" : "their", d->family[SP_SELF]);
}

/* "everything costs ×1.50 a run alike: more work, a slower machine or slower code? --work N says …" */
static void whole_is_open(const struct sp_diff *d, struct sp_buf *b)
{
    const struct sp_diff_row *top = diff_words_heaviest(d);
    double by = 1 + d->whole.change;
    bool alike =
        top && top->share[SP_SELF].mde_family / half_of(&top->share[SP_SELF]) < fabs(d->whole.change);
    sp_buf_puts(b, alike ? "everything costs ×" : "the whole costs ×");
    sp_diff_number(b, by, by >= 3 ? 1 : 2, false);
    sp_buf_printf(b, " %s%s: %s work, a %s machine or %s code? --work N says how much was done; ",
                  sp_diff_per_words(d), alike ? " alike" : "", by > 1 ? "more" : "less",
                  by > 1 ? "slower" : "faster", by > 1 ? "slower" : "faster");
}

/* "; yet main +14.7 %, work +14.7 % and 3 more differ in total" */
static void in_total(const struct sp_diff *d, struct sp_buf *b)
{
    enum { SHOWN = 2 };
    size_t n = 0, all = d->rows.n + d->appeared.n + d->vanished.n;
    sp_buf_puts(b, "; yet ");
    for (size_t i = 0; i < all && n < SHOWN; i++) {
        const struct sp_diff_row *r = sp_diff_row_at((struct sp_diff *)d, i);
        if (r->share[SP_TOTAL].verdict != SP_DIFF_SIGNIFICANT)
            continue;
        sp_buf_puts(b, n++ ? ", " : "");
        sp_diff_say_row(d, r, true, b);
        sp_buf_ch(b, ' ');
        points_of(b, &r->share[SP_TOTAL]);
    }
    if (d->significant[SP_TOTAL] > n)
        sp_buf_printf(b, " and %zu more", d->significant[SP_TOTAL] - n);
    sp_buf_puts(b, d->significant[SP_TOTAL] == 1 ? " differs in total" : " differ in total");
}

static void nothing_found(const struct sp_diff *d, struct sp_buf *b)
{
    if (sp_diff_whole_is_open(d))
        whole_is_open(d, b);
    sp_buf_printf(b, "%s in %zu against %zu runs",
                  d->headline == SP_DIFF_NO_CHANGE ? "in self weight,"
                  : sp_diff_whole_is_open(d)       ? "no function for itself,"
                                                   : "no change found",
                  d->side[SP_BASE].runs, d->side[SP_NEW].runs);
    sp_diff_say_detectable(d, b);
    excluded(d, b);
    if (d->significant[SP_TOTAL])
        in_total(d, b);
    if (d->whole.verdict == SP_DIFF_SIGNIFICANT && !sp_diff_whole_is_open(d)) {
        sp_buf_puts(b, "; yet ");
        diff_words_whole(d, b);
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
    diff_words_functions(b, n);
    sp_buf_puts(
        b,
        " one build a side was run: these builds differ, and layout alone can make a function a third slower;"
        " runs of several links a side tell");
}

/* live: what is compared is no cost of a run, and two dumps of one process are no runs. */
static void diff_words_exactly(const struct sp_diff *d, bool live, struct sp_buf *b)
{
    if (d->headline == SP_DIFF_CHANGED && d->significant[SP_SELF] && live)
        changed_functions(d, b);
    else if (d->headline == SP_DIFF_CHANGED && d->significant[SP_SELF])
        changed(d, b);
    else if (d->headline == SP_DIFF_CHANGED)
        sp_buf_printf(b, "every function has the same self %s, not the same %s",
                      d->memory == SP_MEMORY_BYTES ? "bytes" : "blocks",
                      d->memory == SP_MEMORY_BYTES ? "blocks" : "bytes");
    else
        sp_buf_puts(b, "every function has the same self weight");
    sp_buf_puts(b, live ? "; counted, not sampled: exact for these two"
                        : "; counted, not sampled: exact for these two runs");
}

void sp_diff_say_summary(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    size_t found = d->significant[SP_SELF];
    const char *repeat = "repeat the recordings: spaa diff BASE… -- NEW…";
    if (d->memory)
        sp_diff_say_memory(a, b);
    if (d->method == SP_DIFF_EXACT) {
        diff_words_exactly(d, d->memory && sp_diff_of_live(a), b);
    } else if (d->headline == SP_DIFF_CHANGED && found) {
        changed(d, b);
        of_two_builds(d, b);
    } else if (d->headline == SP_DIFF_CHANGED) {
        diff_words_whole(d, b);
        sp_buf_printf(b, "; no function in self weight, %s", against_words(d));
    } else if (sp_diff_establishes(d->method)) {
        nothing_found(d, b);
    } else if (d->method == SP_DIFF_NONE) {
        sp_buf_printf(b, "significance is unavailable: there are no sample counts (metric `samples`); %s",
                      repeat);
    } else {
        if (found)
            diff_words_functions(b, found);
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

void sp_diff_say_method(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    if (d->method == SP_DIFF_NONE) {
        sp_buf_puts(b, "shares only: nothing tells a change from chance");
        return;
    }
    tested_by(d, b);
    if (a->compact && !a->q->brief)
        return; /* what it rests on are numbers beside it */
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

const char *const *sp_diff_assumptions(enum sp_diff_method m)
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

bool sp_diff_sides_alike(const struct diff_answer *a)
{
    const struct diff_side_words *x = &a->words.side[SP_BASE], *y = &a->words.side[SP_NEW];
    return sp_str_cmp(x->event, y->event) == 0 && sp_str_cmp(x->metric, y->metric) == 0 &&
           sp_str_cmp(x->filters, y->filters) == 0 &&
           (x->view && y->view ? strcmp(x->view, y->view) == 0 : x->view == y->view);
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
        sp_diff_number(b, ceil(x->need * (double)runs), 0, false);
        sp_buf_puts(b, " runs a side");
    }
}

/* A share in percent, or a weight in its unit. */
static void amount_of(const struct diff_answer *a, struct sp_buf *b, bool share, double x)
{
    double v = x * pow(10, a->words.scale);
    if (share) {
        sp_diff_number(b, 100 * x, 2, false);
        sp_buf_ch(b, '%');
    } else if (isfinite(v) && fabs(v) < 9e18) {
        sp_text_weight(b, a->words.unit, a->words.scale, llround(v));
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
        sp_diff_number(b, x->growth, 2, true);
        sp_buf_printf(b, "%% %s", sp_diff_per_words(&a->d));
        return;
    }
    const struct sp_diff_test *t = sp_limit_test(&a->d, l, x->row);
    bool share = t == &x->row->share[l->family];
    sp_buf_puts(b, l->family == SP_SELF ? "self " : "total ");
    sp_buf_puts(b, share ? "share of " : "weight of ");
    sp_diff_say_row(&a->d, x->row, false, b);
    sp_buf_ch(b, ' ');
    amount_of(a, b, share, t->side[SP_BASE].mean);
    sp_buf_puts(b, " to ");
    amount_of(a, b, share, t->side[SP_NEW].mean);
    sp_buf_puts(b, " (");
    sp_diff_number(b, x->growth, 2, true);
    sp_buf_puts(b, isinf(x->growth) ? ")" : l->points ? " points)" : "%)");
}

/* ": format_row is not in the new side: removed, renamed or inlined? name the new one, or total or whole" */
static void lacking_words(const struct diff_answer *a, const struct sp_limit *l, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *r = l->lacking, *with = sp_diff_moved_with(d, r);
    bool gone = r->side[SP_NEW].weight[SP_TOTAL] == 0;
    sp_buf_puts(b, ": ");
    sp_diff_say_row(d, r, false, b);
    sp_buf_printf(b, " is not in the %s: ", gone ? "new side" : "base");
    if (with) {
        sp_buf_puts(b, gone ? "its work is in " : "its work was in ");
        sp_diff_say_row(d, with, false, b);
        sp_buf_puts(b, gone ? " now, inlined? name that, or" : " before, no longer inlined? name that, or");
    } else if (sp_diff_maybe_of(d, r)) {
        const struct sp_diff_renamed *x = sp_diff_maybe_of(d, r);
        sp_buf_puts(b, gone ? "renamed to " : "renamed from ");
        sp_diff_say_name(b, sp_str_at(&d->strs, gone ? x->now : x->name));
        sp_buf_puts(b, ", which weighs ×");
        sp_diff_number(b, gone ? sp_diff_maybe_factor(d, x) : 1 / sp_diff_maybe_factor(d, x), 2, false);
        sp_buf_puts(b, "? name that, or");
    } else {
        sp_buf_printf(b, "%s, renamed or inlined? name the %s one, or", gone ? "removed" : "added",
                      gone ? "new" : "old");
    }
    sp_buf_puts(b, " total>N% or whole>N%");
}

void sp_diff_say_limit(const struct diff_answer *a, const struct sp_limit *l, struct sp_buf *b)
{
    static const char *const words[] = {"passed", "BREACHED", "cannot tell"};
    sp_buf_add(b, l->text.p, l->text.n);
    sp_buf_printf(b, "  %s", words[l->verdict]);
    if (l->lacking) {
        lacking_words(a, l, b);
        return;
    }
    if (l->verdict == SP_LIMIT_PASSED && l->subject == SP_LIMIT_ANY) {
        sp_buf_printf(b, ": %zu function%s of %s%% or more %s shown to stay within", l->judged,
                      l->judged == 1 ? "" : "s", a->q->options->min_share ? a->q->options->min_share : "5",
                      l->judged == 1 ? "is" : "are");
        if (!l->points && sp_diff_whole_is_open(&a->d))
            sp_buf_puts(b, ", as shares; the whole costs otherwise: whole>N% with --work judges that");
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

void sp_diff_limits_report(const struct diff_answer *a)
{
    struct sp_buf b;
    sp_buf_init(&b, 4096);
    for (size_t i = 0; i < a->fail_on.limits.n; i++) {
        const struct sp_limit *l = &a->fail_on.limits.v[i];
        if (l->verdict != SP_LIMIT_UNSURE)
            continue;
        sp_buf_clear(&b);
        sp_diff_say_limit(a, l, &b);
        if (l->lacking)
            sp_emit_hint(
                a->q->diags, SP_W642, SP_AT_NOTHING,
                "exit 5 is no pass; a limit on the function that has its work, or on all, would tell", "%s",
                sp_buf_cstr(&b));
        else
            sp_emit(a->q->diags, SP_W642, SP_AT_NOTHING, "%s", sp_buf_cstr(&b));
    }
    sp_buf_free(&b);
}

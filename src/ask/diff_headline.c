/*
 * The first lines of `spaa diff`, which settle the question: each function that changed with its cost, its
 * share and each run's value; the whole, and whether runs did the same work or lasted the same time.
 */
#include "ask/diff.h"

#include "base/num.h"

#include <math.h>

#define MOVED       0.03 /* of the reference's cost: less is as good as nothing */
#define SAME_LENGTH 0.02 /* runs that last as long do, within this much */

/* ---- which kind ---- */

bool sp_diff_in_words(const struct diff_answer *a)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *top[DIFF_NAMED];
    return d->memory || d->method == SP_DIFF_EXACT || d->method == SP_DIFF_NONE ||
           (d->headline != SP_DIFF_CHANGED && (sp_diff_establishes(d->method) || !sp_diff_named(a, top)));
}

size_t sp_diff_in_head(const struct diff_answer *a, const struct sp_diff_row **out)
{
    const struct sp_diff_row *top[DIFF_NAMED];
    size_t n = sp_diff_in_words(a) ? 0 : sp_diff_named(a, top), found = 0;
    for (size_t i = 0; i < n && i < DIFF_NAMED; i++) {
        const struct sp_diff_row *with = sp_diff_moved_with(&a->d, top[i]);
        out[found++] = top[i];
        if (with)
            out[found++] = with;
    }
    return found;
}

bool sp_diff_either(const struct sp_diff *d)
{
    bool up = false, down = false;
    for (size_t i = 0; i < d->rows.n + d->appeared.n + d->vanished.n; i++) {
        const struct sp_diff_row *r = sp_diff_row_at((struct sp_diff *)d, i);
        const struct sp_diff_test *t = &r->share[SP_SELF];
        bool found = (t->verdict == SP_DIFF_SIGNIFICANT || t->verdict == SP_DIFF_DIFFERS) && !r->moved;
        up = up || (found && t->delta > 0);
        down = down || (found && t->delta < 0);
    }
    bool shares = d->method < SP_DIFF_REPEATS || d->reference == SP_AGAINST_WHOLE;
    return up && down && shares;
}

const char *const sp_diff_kind_words[] = {"SLOWER", "FASTER", "MOVED", "CHANGED"};

static double headline_mean_cost(const struct sp_diff *d, const struct sp_diff_row *r, unsigned side)
{
    double sum = 0;
    for (size_t i = 0; i < d->side[side].runs; i++)
        sum += sp_diff_cost_at(d, r, SP_SELF, side, i);
    return d->side[side].runs ? sum / (double)d->side[side].runs : 0;
}

/* Beside what else changed it went one way, and what a run took of it the other: neither word is right of it.
 */
static bool headline_both_ways(const struct sp_diff *d, const struct sp_diff_row *r, bool grew)
{
    double change = headline_mean_cost(d, r, SP_NEW) - headline_mean_cost(d, r, SP_BASE);
    return grew ? change < 0 : change > 0;
}

enum diff_kind sp_diff_kind(const struct sp_diff *d, const struct sp_diff_row *r)
{
    const struct sp_diff_test *t = r ? &r->share[SP_SELF] : &d->whole;
    if (r && r->moved)
        return DIFF_MOVED;
    if (r && sp_diff_either(d))
        return DIFF_EITHER;
    bool grew = r && !sp_diff_establishes(d->method) ? t->delta > 0 : t->change > 0;
    if (r && headline_both_ways(d, r, grew))
        return DIFF_EITHER;
    return grew ? DIFF_SLOWER : DIFF_FASTER;
}

double sp_diff_run_cost(const struct sp_diff *d, const struct sp_diff_row *r, unsigned side, size_t run)
{
    return sp_diff_cost_at(d, r, SP_SELF, side, run);
}

bool sp_diff_reference_moved(const struct sp_diff *d)
{
    double by = d->reference == SP_AGAINST_COST    ? 0
                : d->reference == SP_AGAINST_WHOLE ? d->whole.change
                                                   : d->reference_change;
    return fabs(by) > MOVED;
}

enum diff_reading sp_diff_reading(const struct sp_diff *d)
{
    const struct sp_diff_side *x = &d->side[SP_BASE], *y = &d->side[SP_NEW];
    double lasted = y->seconds / (double)y->runs / (x->seconds / (double)x->runs) - 1;
    double r = log1p(d->reference_change),
           se = hypot(d->reference_se, d->reference_se > 0 ? 0 : SP_DIFF_LAYOUT),
           most = 2 * hypot(se, SP_DIFF_LAYOUT * M_SQRT2);
    if (d->per == SP_PER_WORK)
        return DIFF_WORK_SAID;
    if (isnan(r) || d->per == SP_PER_SECOND)
        return DIFF_READING_OPEN;
    if (fabs(r) <= most && d->whole.verdict == SP_DIFF_SIGNIFICANT && !(fabs(lasted) <= SAME_LENGTH))
        return DIFF_FIXED_WORK;
    if (fabs(r) > most && fabs(lasted) <= SAME_LENGTH && d->whole.verdict != SP_DIFF_SIGNIFICANT)
        return DIFF_FIXED_TIME;
    return DIFF_READING_OPEN;
}

bool sp_diff_matters(const struct diff_answer *a, const struct sp_diff_row *r, unsigned family)
{
    const struct sp_diff_test *t = &r->share[family];
    bool found = t->verdict == SP_DIFF_SIGNIFICANT || t->verdict == SP_DIFF_DIFFERS ||
                 t->verdict == SP_DIFF_INCONCLUSIVE;
    return a->q->options->limit || found || fmax(t->side[SP_BASE].mean, t->side[SP_NEW].mean) >= DIFF_SMALL;
}

/* ---- numbers ---- */

/* As many decimals as three digits take, without zeros at the end. */
static void short_number(struct sp_buf *b, double x)
{
    struct sp_buf t;
    sp_buf_init(&t, 0);
    sp_diff_number(&t, x, fabs(x) >= 100 ? 0 : fabs(x) >= 10 ? 1 : 2, false);
    const char *s = sp_buf_cstr(&t);
    size_t n = t.len;
    while (strchr(s, '.') && n && s[n - 1] == '0')
        n--;
    sp_buf_add(b, s, n && s[n - 1] == '.' ? n - 1 : n);
    b->failed |= t.failed;
    sp_buf_free(&t);
}

/* How costs of one line are written: divided by this, before this word; "": each with its own. */
struct headline_scale {
    double unit;
    const char *word;
};

static struct headline_scale headline_scale_of(const struct diff_answer *a, double most)
{
    static const struct {
        double unit;
        const char *word;
    } times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    if (!sp_str_is(a->words.unit, "ns"))
        return (struct headline_scale){1, ""};
    size_t i = 0;
    while (i < 3 && fabs(most) < times[i].unit)
        i++;
    return (struct headline_scale){times[i].unit, times[i].word};
}

static void headline_cost(const struct diff_answer *a, struct sp_buf *b, double cost, struct headline_scale s)
{
    double v = cost * pow(10, a->words.scale);
    if (*s.word)
        short_number(b, cost / s.unit);
    else if (!isfinite(v) || fabs(v) > 9e18)
        sp_buf_ch(b, '-');
    else if (!a->words.unit.n && fabs(cost) < 1000)
        short_number(b, cost);
    else
        sp_text_weight(b, a->words.unit, a->words.scale, llround(v));
}

/* "/run" */
static const char *per_word(const struct sp_diff *d)
{
    static const char *const words[] = {"/run", "/s", "/unit of work"};
    return words[d->per];
}

/* "2.7 → 42 ms/run (×16)"; without the factor where it says nothing. */
static void cost_words(const struct diff_answer *a, struct sp_buf *b, const struct sp_diff_test *t,
                       bool factor)
{
    double x = t->side[SP_BASE].mean, y = t->side[SP_NEW].mean, f = y / x;
    struct headline_scale s = headline_scale_of(a, fmax(x, y));
    headline_cost(a, b, x, s);
    sp_buf_puts(b, " → ");
    headline_cost(a, b, y, s);
    struct sp_str metric = a->words.side[SP_NEW].metric;
    sp_buf_printf(b, "%s%s", *s.word ? " " : "", s.word);
    if (!a->words.unit.n)
        sp_buf_printf(b, " %.*s", (int)metric.n, metric.p);
    sp_buf_puts(b, per_word(&a->d));
    if (x > 0 && y > 0 && !factor)
        return;
    if (x > 0 && y > 0) {
        sp_buf_puts(b, " (×");
        sp_diff_number(b, f, f >= 10 ? 0 : f >= 3 ? 1 : 2, false);
        sp_buf_ch(b, ')');
    } else {
        sp_buf_puts(b, x > 0 ? " (gone)" : " (new)");
    }
}

static void points(struct sp_buf *b, double share, bool sign, double most)
{
    sp_diff_number(b, 100 * share, most < 0.01 ? 2 : 1, sign);
}

/* " (95 %: +5.9…+11.1)": points of the whole; where 0 is one of them, the growth that was tested. */
static void interval_words(struct sp_buf *b, const struct sp_diff_row *r)
{
    const struct sp_diff_test *t = &r->share[SP_SELF];
    double most = fmax(t->side[SP_BASE].mean, t->side[SP_NEW].mean);
    if (isnan(t->lo) || isnan(t->hi))
        return;
    bool growth = sp_diff_points_unsure(r);
    if (growth && !(t->change_lo > 0 || t->change_hi < 0))
        return;
    sp_buf_puts(b, growth ? " (95 %: ×" : " (95 %: ");
    if (growth)
        sp_diff_number(b, 1 + t->change_lo, 2, false);
    else
        points(b, t->lo, true, most);
    sp_buf_puts(b, growth ? "…×" : "…");
    if (growth)
        sp_diff_number(b, 1 + t->change_hi, 2, false);
    else
        points(b, t->hi, true, most);
    sp_buf_ch(b, ')');
}

/* "self 0.5 → 9.0 % (95 %: +5.9…+11.1)" */
static void share_words(struct sp_buf *b, const struct sp_diff_row *r)
{
    const struct sp_diff_test *t = &r->share[SP_SELF];
    double most = fmax(t->side[SP_BASE].mean, t->side[SP_NEW].mean);
    sp_buf_puts(b, "self ");
    points(b, t->side[SP_BASE].mean, false, most);
    sp_buf_puts(b, " → ");
    points(b, t->side[SP_NEW].mean, false, most);
    sp_buf_puts(b, " %");
    interval_words(b, r);
}

/* ---- lines ---- */

/* "work → main  113 → 109 ms/run together (…)": of what one side lacks and its caller. */
static void say_moved(const struct diff_answer *a, const struct sp_diff_row *r, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *with = sp_diff_moved_with(d, r), *from = r, *to = with;
    struct sp_diff_test sum = r->cost[SP_SELF];
    if (r->cost[SP_SELF].delta > 0) {
        from = with;
        to = r;
    }
    for (unsigned side = 0; side < SP_SIDES; side++)
        sum.side[side].mean += with->cost[SP_SELF].side[side].mean;
    sp_diff_say_row(d, from, false, b);
    sp_buf_puts(b, " → ");
    sp_diff_say_row(d, to, false, b);
    sp_buf_puts(b, "  together ");
    cost_words(a, b, &sum, true);
    sp_buf_puts(b, ", within noise: ");
    sp_buf_puts(b, from->side[SP_NEW].weight[SP_TOTAL] ? "no longer inlined" : "inlined into its caller");
    sp_buf_puts(b, "? self ");
    for (unsigned i = 0; i < 2; i++) {
        const struct sp_diff_test *t = &(i ? to : from)->share[SP_SELF];
        sp_buf_puts(b, i ? ", " : "");
        points(b, t->side[SP_BASE].mean, false, 1);
        sp_buf_puts(b, " → ");
        points(b, t->side[SP_NEW].mean, false, 1);
        sp_buf_puts(b, " %");
    }
}

static void factor_words(struct sp_buf *b, double f)
{
    sp_buf_puts(b, "×");
    sp_diff_number(b, f, f >= 10 ? 0 : f >= 3 ? 1 : 2, false);
}

/* " (format_row, renamed? ×1.98)" */
static void maybe_words(const struct sp_diff *d, const struct sp_diff_row *r, struct sp_buf *b)
{
    const struct sp_diff_renamed *x = sp_diff_maybe_of(d, r);
    double f = x ? sp_diff_maybe_factor(d, x) : NAN;
    if (!isfinite(f))
        return;
    sp_buf_puts(b, x->key == r->key ? " (was " : " (now ");
    sp_diff_say_name(b, sp_str_at(&d->strs, x->key == r->key ? x->name : x->now));
    sp_buf_puts(b, "? ");
    factor_words(b, f);
    sp_buf_ch(b, ')');
}

/* Costs and what was tested say so different things that a factor of the costs would mislead. */
static bool costs_mislead(const struct sp_diff *d, const struct sp_diff_row *r)
{
    const struct sp_diff_test *t = &r->share[SP_SELF], *c = &r->cost[SP_SELF];
    double cost = log(c->side[SP_NEW].mean / c->side[SP_BASE].mean), found = log1p(t->change);
    return isfinite(cost) && isfinite(found) && sp_diff_reference_moved(d) &&
           (d->per == SP_PER_SECOND || cost * found < 0 || fabs(cost) < fabs(found) / 2);
}

/* Cost, share and growth against the others; what is surest first. */
static void change_words(const struct diff_answer *a, const struct sp_diff_row *r, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_test *t = &r->share[SP_SELF];
    if (!sp_diff_establishes(d->method)) { /* whether both did the same is not known */
        share_words(b, r);
        sp_buf_puts(b, "; ");
        cost_words(a, b, &r->cost[SP_SELF], d->per != SP_PER_SECOND);
        sp_buf_puts(b, d->per == SP_PER_RUN ? ", if both did the same work" : "");
        return;
    }
    bool against = d->method >= SP_DIFF_REPEATS && sp_diff_reference_moved(d) && isfinite(t->change) &&
                   t->change > -1,
         first = against && costs_mislead(d, r);
    if (!first) {
        cost_words(a, b, &r->cost[SP_SELF], true);
        sp_buf_puts(b, "; ");
        share_words(b, r);
    }
    if (against) {
        sp_buf_puts(b, first ? "×" : "; ×");
        sp_diff_number(b, 1 + t->change, 2, false);
        sp_buf_puts(b, " against ");
        sp_diff_say_reference(a, b);
    }
    if (first) {
        sp_buf_puts(b, "; ");
        share_words(b, r);
        sp_buf_puts(b, "; ");
        cost_words(a, b, &r->cost[SP_SELF], false);
    }
}

void sp_diff_say_named(const struct diff_answer *a, const struct sp_diff_row *r, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    if (sp_diff_moved_with(d, r)) {
        say_moved(a, r, b);
        return;
    }
    const struct sp_diff_renamed *was = sp_diff_renamed_of(d, r);
    sp_diff_say_row(d, r, false, b);
    if (was) {
        sp_buf_puts(b, " (was ");
        sp_diff_say_name(b, sp_str_at(&d->strs, was->name));
        sp_buf_ch(b, ')');
    }
    maybe_words(d, r, b);
    sp_buf_puts(b, "  ");
    change_words(a, r, b);
}

/* Two or three of those that agree, the heaviest first, or what else it is. */
void sp_diff_say_reference(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *top[2] = {NULL, NULL};
    size_t n = 0;
    if (d->reference != SP_AGAINST_AGREEING) {
        sp_buf_puts(b, d->reference == SP_AGAINST_MEDIAN ? "the median function"
                       : d->reference == SP_AGAINST_COST ? "nothing, by cost"
                                                         : "the whole");
        return;
    }
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sp_diff_row *r = &d->rows.v[i];
        if (!r->reference)
            continue;
        n++;
        bool first = !top[0] || r->side[SP_BASE].weight[SP_SELF] > top[0]->side[SP_BASE].weight[SP_SELF];
        if (first || !top[1] || r->side[SP_BASE].weight[SP_SELF] > top[1]->side[SP_BASE].weight[SP_SELF]) {
            top[1] = first ? top[0] : r;
            top[0] = first ? r : top[0];
        }
    }
    for (size_t i = 0; i < 2 && top[i]; i++) {
        sp_buf_puts(b, i ? n > 2 ? ", " : " and " : "");
        sp_diff_say_row(d, top[i], true, b);
    }
    if (n > 2)
        sp_buf_printf(b, " and %zu more", n - 2);
}

/* "126 128 127 | 249 250 248 ms"; of many runs the least and the most. */
void sp_diff_say_runs(const struct diff_answer *a, const struct sp_diff_row *r, struct sp_buf *b)
{
    enum { ALL = 8 };
    const struct sp_diff *d = &a->d;
    double most = 0;
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->side[side].runs; i++)
            most = fmax(most, sp_diff_run_cost(d, r, side, i));
    struct headline_scale s = headline_scale_of(a, most);
    for (unsigned side = 0; side < SP_SIDES; side++) {
        size_t n = d->side[side].runs;
        double lo = INFINITY, hi = 0;
        sp_buf_puts(b, side ? " |" : "");
        for (size_t i = 0; i < n; i++) {
            double x = sp_diff_run_cost(d, r, side, i);
            lo = fmin(lo, x);
            hi = fmax(hi, x);
            if (n > ALL)
                continue;
            sp_buf_puts(b, i || side ? " " : "");
            headline_cost(a, b, x, s);
        }
        if (n <= ALL)
            continue;
        sp_buf_puts(b, side ? " " : "");
        headline_cost(a, b, lo, s);
        sp_buf_puts(b, "…");
        headline_cost(a, b, hi, s);
        sp_buf_printf(b, " (%zu)", n);
    }
    sp_buf_printf(b, "%s%s", *s.word ? " " : "", s.word);
}

static void length_words(const struct sp_diff *d, struct sp_buf *b)
{
    double x = d->side[SP_BASE].seconds / (double)d->side[SP_BASE].runs,
           y = d->side[SP_NEW].seconds / (double)d->side[SP_NEW].runs;
    if (!isfinite(y / x) || d->per == SP_PER_WORK)
        return;
    if (fabs(y / x - 1) <= SAME_LENGTH) {
        sp_buf_puts(b, "; runs last as long");
        return;
    }
    sp_buf_puts(b, "; runs last ");
    sp_diff_number(b, 100 * (y / x - 1), 1, true);
    sp_buf_ch(b, '%');
}

static void headline_reading(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    enum diff_reading reading = sp_diff_reading(d);
    length_words(d, b);
    if (reading == DIFF_FIXED_WORK || reading == DIFF_FIXED_TIME) {
        sp_buf_puts(b, reading == DIFF_FIXED_WORK ? ": fixed work, as " : ": fixed time, as ");
        sp_diff_say_reference(a, b);
        sp_buf_printf(b, " %s %s (", reading == DIFF_FIXED_WORK ? "cost the same" : "cost otherwise",
                      sp_diff_per_words(d));
        sp_diff_number(b, 100 * d->reference_change, 1, true);
        sp_buf_puts(b, "%)");
    } else if (reading == DIFF_READING_OPEN && sp_diff_lengths_differ(d)) {
        sp_buf_puts(b, ": slower, or recorded for longer? --work says what was done");
    }
}

/* "whole   544 → 665 ms/run (×1.22), significant; runs last +22.3%: …" */
void sp_diff_say_whole(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    cost_words(a, b, &d->whole, true);
    if (d->method >= SP_DIFF_REPEATS)
        sp_buf_puts(b, d->whole.verdict == SP_DIFF_SIGNIFICANT ? ", beyond noise" : ", within noise");
    headline_reading(a, b);
}

void sp_diff_say_renamed(const struct diff_answer *a, const struct sp_diff_renamed *x, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    sp_diff_say_name(b, sp_str_at(&d->strs, x->name));
    sp_buf_puts(b, " → ");
    sp_diff_say_name(b, sp_str_at(&d->strs, x->now));
    double f = sp_diff_maybe_factor(d, x);
    sp_buf_puts(b, " (renamed? ");
    if (isfinite(f)) {
        factor_words(b, f);
        sp_buf_puts(b, ", so two rows; ");
    }
    sp_buf_puts(b, "same ");
    if (!isnan(x->places)) {
        sp_buf_puts(b, "code (");
        sp_diff_number(b, 100 * x->places, 0, false);
        sp_buf_puts(b, "% of samples), ");
    }
    if (x->declared)
        sp_buf_puts(b, x->moved ? "file, " : "source line, ");
    if (isfinite(f))
        sp_buf_puts(b, x->callers ? "callers)" : "no callers)");
    else
        sp_buf_puts(b, x->callers ? "callers, weight)" : "weight)");
}

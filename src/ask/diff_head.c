/* diff for people: the lines above the tables. What they say is in diff_headline.c, diff_rest.c and
 * diff_words.c. */
#include "ask/diff.h"

#include "analysis/names.h"

#include <math.h>

/* And begins the next. */
static void diff_line(const struct diff_answer *a, struct sp_buf *b)
{
    sp_answer_line_of(a->out, SP_LINE_ITEM, b);
    sp_buf_clear(b);
}

static void diff_weight(const struct diff_answer *a, struct sp_buf *b, __int128 v)
{
    if (v > INT64_MAX)
        sp_buf_puts(b, "more than 64 bits");
    else
        sp_text_weight(b, a->words.unit, a->words.scale, (int64_t)v);
}

/* ", view cpu (--view all); --comm a": what is not on both sides alike stands with each. */
static void filter_words(struct sp_buf *b, const struct diff_side_words *k)
{
    bool said = k->filters.n && memmem(k->filters.p, k->filters.n, "--view ", 7);
    if (k->view && !said)
        sp_buf_printf(b, ", view %s%s", k->view, strcmp(k->view, "all") == 0 ? "" : " (--view all)");
    if (k->filters.n) {
        sp_buf_puts(b, "; ");
        sp_buf_add(b, k->filters.p, k->filters.n);
    }
}

static void event_words(struct sp_buf *b, const struct diff_answer *a, const struct diff_side_words *k)
{
    sp_buf_puts(b, "event ");
    sp_buf_add(b, k->event.p, k->event.n);
    sp_buf_puts(b, ", metric ");
    sp_buf_add(b, k->metric.p, k->metric.n);
    if (a->words.unit.n) {
        sp_buf_puts(b, " (");
        sp_buf_add(b, a->words.unit.p, a->words.unit.n);
        sp_buf_ch(b, ')');
    }
}

static void side_line(const struct diff_answer *a, struct sp_buf *b, unsigned side)
{
    const struct sp_diff_side *s = &a->d.side[side];
    size_t first = side == SP_BASE ? 0 : a->q->split;
    sp_buf_puts(b, side == SP_BASE ? "base    " : "new     ");
    for (size_t i = 0; i < s->runs && i < 4; i++) {
        sp_buf_puts(b, i ? " " : "");
        sp_buf_puts(b, a->q->names[first + i]);
    }
    if (s->runs > 4)
        sp_buf_printf(b, " and %zu more", s->runs - 4);
    sp_buf_puts(b, ": ");
    const struct diff_side_words *k = &a->words.side[side];
    bool samples = !a->words.unit.n && sp_str_is(k->metric, "samples");
    bool once = samples && !a->words.scale && (double)s->whole == (double)s->samples;
    if (!once)
        diff_weight(a, b, s->whole);
    if (!once && !a->words.unit.n) {
        sp_buf_ch(b, ' ');
        sp_buf_add(b, k->metric.p, k->metric.n);
    }
    if (s->samples != SP_ABSENT) {
        sp_buf_puts(b, once ? "" : ", ");
        sp_text_count(b, (uint64_t)s->samples, "sample");
    }
    if (isfinite(s->seconds)) {
        sp_buf_puts(b, " in ");
        sp_diff_number(b, s->seconds, 3, false);
        sp_buf_puts(b, " s");
    }
    if (!sp_diff_sides_alike(a)) {
        sp_buf_puts(b, "; ");
        event_words(b, a, k);
        filter_words(b, k);
    }
    if (k->filters.n || k->view) {
        sp_buf_puts(b, "; kept ");
        sp_diff_number(b, s->event_whole ? 100 * (double)s->kept / (double)s->event_whole : 0, 2, false);
        sp_buf_puts(b, "% of the event's ");
        diff_weight(a, b, s->event_whole);
    }
    diff_line(a, b);
}

static void what_line(const struct diff_answer *a, struct sp_buf *b)
{
    if (!sp_diff_sides_alike(a))
        return;
    sp_buf_puts(b, "what    ");
    event_words(b, a, &a->words.side[SP_BASE]);
    filter_words(b, &a->words.side[SP_BASE]);
    diff_line(a, b);
}

/* Both sides in one line, where they are alike in what was asked of them. */
static void data_line(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    sp_buf_puts(b, "data    ");
    for (unsigned side = 0; side < SP_SIDES; side++) {
        const struct sp_diff_side *s = &d->side[side];
        sp_buf_puts(b, side ? "; new " : "base ");
        sp_text_count(b, s->runs, d->memory && sp_diff_of_live(a) ? "file" : "run");
        if (s->samples != SP_ABSENT) {
            sp_buf_puts(b, ", ");
            sp_text_count(b, (uint64_t)s->samples, "sample");
        }
        if (isfinite(s->seconds)) {
            sp_buf_puts(b, " in ");
            sp_diff_number(b, s->seconds, 2, false);
            sp_buf_puts(b, " s");
        }
    }
    const struct diff_side_words *k = &a->words.side[SP_BASE];
    sp_buf_puts(b, "; ");
    sp_buf_add(b, k->event.p, k->event.n);
    sp_buf_puts(b, ", ");
    sp_buf_add(b, k->metric.p, k->metric.n);
    if (a->words.unit.n)
        sp_buf_printf(b, " (%.*s)", (int)a->words.unit.n, a->words.unit.p);
    diff_line(a, b);
}

static void sides_lines(const struct diff_answer *a, struct sp_buf *b)
{
    const struct diff_side_words *k = a->words.side;
    if (sp_diff_sides_alike(a) && !k->filters.n && !k->view) {
        data_line(a, b);
        return;
    }
    what_line(a, b);
    side_line(a, b, SP_BASE);
    side_line(a, b, SP_NEW);
}

/* A line for each function that changed, by size: with them no verdict has to be looked up. */
static void named_lines(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *top[DIFF_NAMED];
    size_t n = sp_diff_named(a, top);
    for (size_t i = 0; i < n && i < DIFF_NAMED; i++) {
        sp_buf_clear(b);
        sp_buf_printf(b, "%s: ",
                      sp_diff_establishes(d->method) ? sp_diff_kind_words[sp_diff_kind(d, top[i])]
                                                     : "DIFFERS WITHIN THE RUNS");
        sp_diff_say_named(a, top[i], b);
        if (i + 1 == DIFF_NAMED && n > DIFF_NAMED)
            sp_buf_printf(b, "; and %zu more", n - DIFF_NAMED);
        sp_answer_line_of(a->out, i ? SP_LINE_PLAIN : SP_LINE_HEAD, b);
    }
    if (!n) {
        sp_buf_clear(b);
        sp_buf_printf(b, "%s: the whole  ", sp_diff_kind_words[sp_diff_kind(d, NULL)]);
        sp_diff_say_whole(a, b);
        sp_buf_puts(b, "; no function stands out by self weight");
        sp_answer_line_of(a->out, SP_LINE_HEAD, b);
    }
}

/* Each run's value of what the first line is about, and what says that it is none of chance. */
static void runs_lines(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *top[DIFF_NAMED];
    size_t n = sp_diff_named(a, top), shown = n < DIFF_NAMED ? n : DIFF_NAMED;
    for (size_t i = 0; i < shown || (!shown && !i); i++) {
        const struct sp_diff_row *r = n ? top[i] : NULL;
        sp_buf_puts(b, i ? "        " : "runs    ");
        if (r)
            sp_diff_say_row(d, r, true, b);
        else
            sp_buf_puts(b, "the whole");
        sp_buf_ch(b, ' ');
        sp_diff_say_runs(a, r, b);
        sp_diff_say_chance(a, r, !i, b);
        diff_line(a, b);
    }
}

static void renamed_lines(const struct diff_answer *a, struct sp_buf *b)
{
    enum { SHOWN = 3 };
    const struct sp_diff *d = &a->d;
    size_t all = d->renamed.n + d->maybe.n;
    for (size_t i = 0; i < all && i < SHOWN; i++) {
        sp_buf_puts(b, i ? "        " : "matched ");
        sp_diff_say_renamed(a, i < d->maybe.n ? &d->maybe.v[i] : &d->renamed.v[i - d->maybe.n], b);
        if (i + 1 == SHOWN && all > SHOWN)
            sp_buf_printf(b, "; and %zu more", all - SHOWN);
        diff_line(a, b);
    }
}

static void first_lines(const struct diff_answer *a, struct sp_buf *b)
{
    if (!sp_diff_in_words(a)) {
        named_lines(a, b);
        return;
    }
    sp_buf_printf(b, "%s: ", sp_diff_headline_word(&a->d));
    sp_diff_say_summary(a, b);
    sp_answer_line_of(a->out, SP_LINE_HEAD, b);
}

void sp_diff_put_head(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    first_lines(a, b);
    sp_buf_clear(b);
    for (size_t i = 0; i < a->fail_on.limits.n; i++) {
        sp_buf_puts(b, "limit   ");
        sp_diff_say_limit(a, &a->fail_on.limits.v[i], b);
        diff_line(a, b);
    }
    if (d->method >= SP_DIFF_REPEATS && !d->memory)
        runs_lines(a, b);
    if (!d->memory) { /* whose first line has it */
        sp_buf_puts(b, "whole   ");
        sp_diff_say_whole(a, b);
        diff_line(a, b);
    }
    if (a->at_least[SP_BASE] || a->at_least[SP_NEW]) {
        bool both = a->at_least[SP_BASE] && a->at_least[SP_NEW];
        sp_buf_printf(
            b, "note    the whole of %s is at least this: waits were not over, or not all of them was seen",
            both                  ? "both sides"
            : a->at_least[SP_NEW] ? "new"
                                  : "base");
        diff_line(a, b);
    }
    if (a->waits.n) {
        sp_buf_puts(b, a->has_waits ? "waited  " : "counted ");
        sp_diff_say_waits(a, b);
        diff_line(a, b);
    }
    renamed_lines(a, b);
    sp_diff_say_binaries(a);
    sp_buf_puts(b, "also    ");
    size_t before = b->len;
    sp_diff_say_rest(a, b);
    if (b->len > before)
        diff_line(a, b);
    sp_buf_clear(b);
    sp_diff_say_bounds(a, b);
    if (b->len)
        diff_line(a, b);
    sides_lines(a, b);
}

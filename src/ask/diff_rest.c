/* What stands behind the first lines of `spaa diff`: how sure they are, what else moved, what runs cannot
 * show. */
#include "ask/diff.h"

#include <math.h>

/* A probability with one digit that counts: "0.0004". */
static void chance(struct sp_buf *b, double p)
{
    if (p < 1e-4) {
        sp_buf_puts(b, "<0.0001");
        return;
    }
    sp_diff_number(b, p, p < 1e-3 ? 4 : p < 1e-2 ? 3 : 2, false);
}

void sp_diff_say_chance(const struct diff_answer *a, const struct sp_diff_row *r, bool first,
                        struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_test *t = r ? &r->share[SP_SELF] : &d->whole;
    bool found = t->verdict == SP_DIFF_SIGNIFICANT;
    if (first)
        sp_buf_puts(b, found ? ": beyond what runs differ by" : ": within what runs differ by");
    sp_buf_puts(b, " (");
    sp_buf_puts(b, r ? "q " : "p ");
    chance(b, r ? t->q : t->p);
    if (first)
        sp_buf_puts(b, d->method == SP_DIFF_PERMUTATION ? ", permutation test" : ", quasi-likelihood F-test");
    if (first && r) {
        sp_buf_puts(b, " against ");
        sp_diff_say_reference(a, b);
    }
    sp_buf_ch(b, ')');
}

void sp_diff_say_bounds(const struct diff_answer *a, struct sp_buf *b)
{
    const bool *on = a->bounds;
    if (!on[SP_BASE] && !on[SP_NEW])
        return;
    sp_buf_puts(b, "note    totals are bounds, self is exact: callers are missing in ");
    for (unsigned side = 0; side < SP_SIDES; side++) {
        if (!on[side])
            continue;
        sp_buf_puts(b, side && on[SP_BASE] ? " and " : "");
        sp_diff_number(b, 100 * a->missing[side], 0, false);
        sp_buf_puts(b, side ? "% of new" : "% of base");
    }
    sp_answer_tells(a->out, SP_W612);
}

/* Functions of which the total changed and self did not: those that call the others, mostly. */
static void in_total_alone(const struct sp_diff *d, struct sp_buf *b)
{
    enum { SHOWN = 2 };
    size_t n = 0;
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sp_diff_row *r = &d->rows.v[i];
        if (r->share[SP_TOTAL].verdict != SP_DIFF_SIGNIFICANT ||
            r->share[SP_SELF].verdict == SP_DIFF_SIGNIFICANT || sp_str_at(&d->strs, r->function).p[0] == '[')
            continue;
        if (n++ >= SHOWN)
            continue;
        sp_buf_puts(b, n > 1 ? ", " : "in total alone ");
        sp_diff_say_row(d, r, true, b);
        sp_buf_ch(b, ' ');
        sp_diff_number(b, 100 * r->cost[SP_TOTAL].change, 1, true);
        sp_buf_ch(b, '%');
    }
    if (n > SHOWN)
        sp_buf_printf(b, " and %zu more", n - SHOWN);
    sp_buf_puts(b, n ? "; nothing else beyond noise" : "nothing else beyond noise");
}

/* What changed and is no headline. */
static void beside_words(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *top[DIFF_BESIDE];
    size_t n = sp_diff_beside(a, top);
    for (size_t i = 0; i < n && i < DIFF_BESIDE; i++) {
        const struct sp_diff_test *t = &top[i]->share[SP_SELF];
        sp_buf_puts(b, i ? ", " : "little or unsure: ");
        sp_diff_say_row(d, top[i], true, b);
        sp_buf_puts(b, " self ");
        sp_diff_number(b, 100 * t->side[SP_BASE].mean, 2, false);
        sp_buf_puts(b, " → ");
        sp_diff_number(b, 100 * t->side[SP_NEW].mean, 2, false);
        sp_buf_puts(b, " %");
    }
    if (n > DIFF_BESIDE)
        sp_buf_printf(b, " and %zu more", n - DIFF_BESIDE);
    sp_buf_puts(b, n ? "; " : "");
}

/* A function of two builds that changed by no more than layout alone might do. */
static bool maybe_layout(const struct sp_diff *d)
{
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sp_diff_test *t = &d->rows.v[i].share[SP_SELF];
        if (t->layout && t->verdict == SP_DIFF_SIGNIFICANT && fabs(log1p(t->change)) < log(1.5))
            return true;
    }
    return false;
}

void sp_diff_say_rest(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *top[DIFF_NAMED];
    bool named = sp_diff_named(a, top), one = !sp_diff_establishes(d->method);
    if (d->memory || d->method == SP_DIFF_EXACT || !named)
        return;
    if (one)
        sp_buf_puts(b, "one run a side: whether the program changed needs repeats: spaa diff BASE… -- NEW…");
    if (sp_diff_either(d))
        sp_buf_printf(b, "%sas shares: what shrank may have left its place to what grew, or grown less",
                      one ? "; " : "");
    if (one)
        return;
    sp_buf_puts(b, sp_diff_either(d) ? "; " : "");
    beside_words(a, b);
    in_total_alone(d, b);
    sp_diff_say_detectable(d, b);
    if (maybe_layout(d))
        sp_buf_puts(b, "; one build a side: layout alone can make a function a third slower, runs of several "
                       "links tell");
}

/*
 * How wide the columns of a table are: what can be cut is, what can be spared is left out, and of what
 * somebody asked for last.
 */
#include "render/table.h"

#include "answer/text.h"
#include "base/buf.h"

#include <stdlib.h>

enum {
    READABLE = 32, /* columns of text that are left to a name while something else can be spared */
    LEAST = 16,
    TINY = 6,
    SHORT_TITLE = 12,
};

/* Takes what the sum is too wide from a column, which keeps so much; returns the sum. */
static size_t fit_take(const struct sp_table *t, size_t column, size_t stays, size_t sum, size_t width)
{
    size_t off = sum - width, most = t->widths[column] > stays ? t->widths[column] - stays : 0;
    off = off < most ? off : most;
    t->widths[column] -= off;
    return sum - off;
}

/* Takes from the columns that may be cut so far, the last first, until the sum fits. */
static size_t fit_shrink(const struct sp_table *t, enum sp_table_cut cut, size_t least, size_t sum,
                         size_t width)
{
    for (size_t c = t->ncolumns; sum > width && c-- > 0;) {
        enum sp_table_cut own = t->columns[c].cut;
        if (own == cut || (own == SP_CUT_ITEMS && cut == SP_CUT_FIRST))
            sum = fit_take(t, c, least, sum, width);
    }
    return sum;
}

/* The first column that may be left out where it is narrow stays. */
static bool fit_may_go(const struct sp_table *t, size_t column, enum sp_table_cut cut)
{
    size_t first = 0;
    while (first < t->ncolumns && t->columns[first].cut != SP_CUT_NARROW)
        first++;
    return t->widths[column] != SP_TABLE_LEFT_OUT && t->columns[column].cut == cut &&
           (cut != SP_CUT_NARROW || column != first);
}

/* Leaves out columns, the last first, until the sum fits; the others are as wide as they were. */
static size_t fit_spare(const struct sp_table *t, const size_t *whole, enum sp_table_cut cut, size_t gap,
                        size_t sum, size_t width)
{
    size_t left = 0, shown = 0;
    if (sum <= width)
        return sum;
    for (size_t c = t->ncolumns; sum > width && c-- > 0;)
        if (fit_may_go(t, c, cut)) {
            sum -= t->widths[c] + gap;
            t->widths[c] = SP_TABLE_LEFT_OUT;
        }
    for (size_t c = 0; c < t->ncolumns; c++)
        if (t->widths[c] != SP_TABLE_LEFT_OUT) {
            t->widths[c] = whole[c];
            left += whole[c] + (shown++ ? gap : 0);
        }
    return left;
}

bool sp_table_measure(struct sp_table *t)
{
    size_t rows = t->ncolumns ? t->cells.n / t->ncolumns : 0;
    bool begun = t->whole && t->filled;
    if (!t->whole)
        t->whole = calloc(t->ncolumns + 1, sizeof *t->whole);
    if (!t->filled)
        t->filled = calloc(t->ncolumns + 1, sizeof *t->filled);
    if (!t->whole || !t->filled)
        return false;
    for (size_t c = 0; c < t->ncolumns; c++) {
        const char *title = t->columns[c].title;
        size_t most = begun ? t->filled[c] : 0;
        for (size_t r = 0; r < rows; r++) {
            const struct sp_table_cell *cell = &t->cells.v[r * t->ncolumns + c];
            size_t w = sp_text_width(cell->p, cell->n);
            most = w > most ? w : most;
        }
        t->filled[c] = most;
        if (!begun)
            t->whole[c] = sp_text_width(title, strlen(title));
        t->whole[c] = most > t->whole[c] ? most : t->whole[c];
    }
    return true;
}

/* Takes from titles that are wider than all below them, the last first. */
static size_t fit_titles(const struct sp_table *t, size_t sum, size_t width)
{
    for (size_t c = t->ncolumns; sum > width && c-- > 0;) {
        size_t stays = t->filled[c] > SHORT_TITLE ? t->filled[c] : SHORT_TITLE;
        if (t->columns[c].cut == SP_CUT_ASKED && t->widths[c] != SP_TABLE_LEFT_OUT)
            sum = fit_take(t, c, stays, sum, width);
    }
    return sum;
}

/* Names as narrow as they can be told apart, titles of what was asked for as narrow as their cells. */
static size_t fit_least(const struct sp_table *t, size_t sum, size_t width)
{
    sum = fit_shrink(t, SP_CUT_FIRST, READABLE, sum, width);
    sum = fit_titles(t, sum, width);
    sum = fit_shrink(t, SP_CUT_FIRST, LEAST, sum, width);
    return fit_shrink(t, SP_CUT_LAST, LEAST, sum, width);
}

bool sp_table_widths(struct sp_table *t, size_t width)
{
    enum { GAP = 2 };
    size_t sum = 0;
    if (!t->widths && !(t->widths = calloc(t->ncolumns + 1, sizeof *t->widths)))
        return false;
    for (size_t c = 0; c < t->ncolumns; c++) {
        t->widths[c] = t->whole[c];
        sum += t->whole[c] + (c ? GAP : 0);
    }
    if (width) {
        sum = fit_shrink(t, SP_CUT_FIRST, READABLE, sum, width);
        sum = fit_spare(t, t->whole, SP_CUT_OUT, GAP, sum, width);
        sum = fit_least(t, sum, width);
        sum = fit_spare(t, t->whole, SP_CUT_NARROW, GAP, sum, width);
        sum = fit_least(t, sum, width);
        sum = fit_shrink(t, SP_CUT_ITEMS, TINY, sum, width);
        sum = fit_spare(t, t->whole, SP_CUT_ASKED, GAP, sum, width);
        sum = fit_least(t, sum, width);
        sum = fit_shrink(t, SP_CUT_FIRST, TINY, sum, width);
        fit_shrink(t, SP_CUT_LAST, TINY, sum, width);
    }
    return true;
}

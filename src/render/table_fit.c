/*
 * A table made as narrow as it has to be: cells are cut so that those that differ still do, and columns that
 * can be spared are left out.
 */
#include "render/table.h"

#include "base/buf.h"
#include "base/hash.h"
#include "render/text.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    READABLE = 32, /* columns of text that are left to a name while something else can be spared */
    LEAST = 16,
    TINY = 6,
};

/* ---- one cell ---- */

/* The bytes of the first characters that take at most so many columns. */
static size_t fit_bytes(const char *p, size_t n, size_t columns)
{
    size_t i = 0;
    while (i < n) {
        size_t next = i + 1;
        while (next < n && ((unsigned char)p[next] & 0xc0) == 0x80)
            next++;
        size_t w = sp_text_width(p + i, next - i);
        if (w > columns)
            break;
        columns -= w;
        i = next;
    }
    return i;
}

/* Safe text, cut so that what stands at `differs` is shown. */
static bool fit_around(struct sp_buf *b, const char *p, size_t n, size_t columns, size_t differs)
{
    size_t head = fit_bytes(p, n, columns / 4), before = sp_text_width(p, differs);
    size_t room = columns - columns / 4 - 1, lead = room / 4;
    size_t from = before > lead ? fit_bytes(p, n, before - lead) : 0;
    size_t rest = sp_text_width(p + from, n - from);
    if (rest <= room) /* the end is shown: from further in front */
        from = fit_bytes(p, n, sp_text_width(p, n) - room);
    if (from <= head)
        return sp_buf_add(b, p, fit_bytes(p, n, columns - 1)) && sp_buf_puts(b, "…");
    bool ok = sp_buf_add(b, p, head) && sp_buf_puts(b, "…");
    if (rest <= room)
        return ok && sp_buf_add(b, p + from, n - from);
    return ok && sp_buf_add(b, p + from, fit_bytes(p + from, n - from, room - 1)) && sp_buf_puts(b, "…");
}

/* As many items of a list as there is room for, and how many more there are: "a 61.20%, b 12.00%, +3". */
static bool fit_items(struct sp_buf *b, const char *p, size_t n, size_t columns)
{
    size_t items = 1, shown = 0, end = 0;
    for (size_t i = 0; i < n; i++)
        items += p[i] == SP_TABLE_ITEM;
    for (size_t i = 0; i <= n; i++) {
        char more[24] = "";
        if (i < n && p[i] != SP_TABLE_ITEM)
            continue;
        if (shown + 1 < items)
            snprintf(more, sizeof more, " +%zu", items - shown - 1);
        if (shown && sp_text_width(p, i) + strlen(more) > columns)
            break;
        shown++;
        end = i;
    }
    char more[24] = "";
    if (shown < items)
        snprintf(more, sizeof more, " +%zu", items - shown);
    size_t room = columns > strlen(more) ? columns - strlen(more) : 0;
    bool fits = sp_text_width(p, end) <= room; /* else it is one item */
    return (fits ? sp_buf_add(b, p, end) : sp_text_fit(b, p, end, room)) && sp_buf_puts(b, more);
}

/* ---- the cells of a column ---- */

enum { PLAINLY = -1 };

struct fitting {
    struct sp_table *t;
    size_t column, rows, width;
    SP_VEC(struct sp_table_cell) cells; /* each once, as large trees have few */
    uint32_t *of_row;                   /* which of them is the row's */
    struct sp_table_cell *fitted;       /* per cell */
    uint32_t *order;
    struct sp_buf b;
    bool failed;
};

static const struct sp_table_cell *fit_cell(const struct fitting *f, size_t cell)
{
    return &f->cells.v[cell];
}

/* The place of a cell among `slots`, which hold 1 + its number, or where it is to be. */
static uint32_t *fit_slot(const struct fitting *f, uint32_t *slots, size_t mask,
                          const struct sp_table_cell *c)
{
    size_t at = (size_t)sp_hash64_seed(c->p, c->n, c->tail) & mask;
    for (; slots[at]; at = (at + 1) & mask) {
        const struct sp_table_cell *have = fit_cell(f, slots[at] - 1);
        if (have->n == c->n && have->tail == c->tail && (!c->n || memcmp(have->p, c->p, c->n) == 0))
            break;
    }
    return &slots[at];
}

/* f->cells and f->of_row. */
static bool fit_collect(struct fitting *f)
{
    size_t mask = 15;
    while (mask / 2 < f->rows)
        mask = mask * 2 + 1;
    uint32_t *slots = calloc(mask + 1, sizeof *slots);
    f->of_row = calloc(f->rows + 1, sizeof *f->of_row);
    bool ok = slots && f->of_row && f->rows < UINT32_MAX;
    for (size_t r = 0; ok && r < f->rows; r++) {
        const struct sp_table_cell *c = &f->t->cells.v[r * f->t->ncolumns + f->column];
        uint32_t *slot = fit_slot(f, slots, mask, c);
        if (!*slot) {
            ok = sp_vec_push(&f->cells, *c);
            *slot = (uint32_t)f->cells.n;
        }
        f->of_row[r] = *slot - 1;
    }
    free(slots);
    return ok;
}

/* A cell, cut as `differs` says: PLAINLY, or where something is to be seen. Its tail stays. */
static void fit_cut(struct fitting *f, size_t cell, ptrdiff_t differs, const char *mark)
{
    const struct sp_table_cell *c = fit_cell(f, cell);
    size_t head = c->n - c->tail, kept = sp_text_width(c->p + head, c->tail) + strlen(mark);
    if (kept + TINY > f->width) { /* no room for both */
        head = c->n;
        kept = strlen(mark);
    }
    size_t room = f->width > kept ? f->width - kept : 0;
    sp_buf_clear(&f->b);
    bool ok = sp_text_width(c->p, c->n) + strlen(mark) <= f->width ? sp_buf_add(&f->b, c->p, head)
              : f->t->columns[f->column].cut == SP_CUT_ITEMS       ? fit_items(&f->b, c->p, head, room)
              : differs == PLAINLY || room < 2 * TINY              ? sp_text_fit(&f->b, c->p, head, room)
                                                      : fit_around(&f->b, c->p, head, room, (size_t)differs);
    ok = ok && sp_buf_puts(&f->b, mark) && sp_buf_add(&f->b, c->p + head, c->n - head);
    const char *p = ok ? sp_arena_dup(&f->t->arena, f->b.len ? f->b.data : "", f->b.len) : NULL;
    f->failed |= !p;
    if (p)
        f->fitted[cell] = (struct sp_table_cell){p, (uint32_t)f->b.len, 0};
}

static int fit_text_cmp(const struct sp_table_cell *a, const struct sp_table_cell *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int c = n ? memcmp(a->p, b->p, n) : 0;
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

/* By what is shown, then by what is meant. */
static int fit_cmp(const void *va, const void *vb, void *arg)
{
    const struct fitting *f = arg;
    uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
    int c = fit_text_cmp(&f->fitted[a], &f->fitted[b]);
    c = c ? c : fit_text_cmp(fit_cell(f, a), fit_cell(f, b));
    return c ? c : (a > b) - (a < b);
}

/* How many bytes two cells begin with alike, up to a whole character. */
static size_t fit_alike(const struct sp_table_cell *a, const struct sp_table_cell *b)
{
    size_t n = a->n < b->n ? a->n : b->n, i = 0;
    while (i < n && a->p[i] == b->p[i])
        i++;
    while (i && i < a->n && ((unsigned char)a->p[i] & 0xc0) == 0x80)
        i--;
    return i;
}

/* Cells order[from..to) look alike. Those that are not are cut where they differ; numbered, if they were. */
static void fit_tell_apart(struct fitting *f, size_t from, size_t to, bool number)
{
    size_t before = 0, same = 0, nth = 1;
    for (size_t i = from; i < to; i += same) {
        const struct sp_table_cell *cell = fit_cell(f, f->order[i]);
        for (same = 1; i + same < to && !fit_text_cmp(cell, fit_cell(f, f->order[i + same]));)
            same++;
        size_t behind = i + same < to ? fit_alike(cell, fit_cell(f, f->order[i + same])) : 0;
        char mark[32] = "";
        if (number && nth++ > 1)
            snprintf(mark, sizeof mark, " (%zu)", nth - 1);
        for (size_t k = i; k < i + same; k++)
            fit_cut(f, f->order[k], (ptrdiff_t)(before > behind ? before : behind), mark);
        before = behind;
    }
}

static void fit_groups(struct fitting *f, bool number)
{
    qsort_r(f->order, f->cells.n, sizeof *f->order, fit_cmp, f);
    for (size_t from = 0, to; from < f->cells.n; from = to) {
        const struct sp_table_cell shown = f->fitted[f->order[from]];
        for (to = from + 1; to < f->cells.n && !fit_text_cmp(&shown, &f->fitted[f->order[to]]);)
            to++;
        if (fit_text_cmp(fit_cell(f, f->order[from]), fit_cell(f, f->order[to - 1])))
            fit_tell_apart(f, from, to, number);
    }
}

static bool fit_column(struct sp_table *t, size_t column, size_t rows, size_t width)
{
    struct fitting f = {.t = t, .column = column, .rows = rows, .width = width};
    f.failed = !fit_collect(&f);
    f.fitted = calloc(f.cells.n + 1, sizeof *f.fitted);
    f.order = calloc(f.cells.n + 1, sizeof *f.order);
    sp_buf_init(&f.b, 0);
    f.failed |= !f.fitted || !f.order;
    for (size_t i = 0; !f.failed && i < f.cells.n; i++) {
        f.order[i] = (uint32_t)i;
        fit_cut(&f, i, PLAINLY, "");
    }
    for (int number = 0; !f.failed && number < 2; number++)
        fit_groups(&f, number != 0);
    for (size_t r = 0; !f.failed && r < rows; r++)
        t->cells.v[r * t->ncolumns + column] = f.fitted[f.of_row[r]];
    sp_buf_free(&f.b);
    sp_vec_free(&f.cells);
    free(f.of_row);
    free(f.fitted);
    free(f.order);
    return !f.failed;
}

/* ---- the columns ---- */

/* Takes from the columns that may be cut so far, the last first, until the sum fits. */
static size_t fit_shrink(const struct sp_table *t, enum sp_table_cut cut, size_t least, size_t sum,
                         size_t width)
{
    for (size_t c = t->ncolumns; sum > width && c-- > 0;) {
        size_t stays = t->widths[c] < least ? t->widths[c] : least, off = sum - width;
        enum sp_table_cut own = t->columns[c].cut == SP_CUT_ITEMS ? SP_CUT_FIRST : t->columns[c].cut;
        if (own != cut)
            continue;
        if (off > t->widths[c] - stays)
            off = t->widths[c] - stays;
        t->widths[c] -= off;
        sum -= off;
    }
    return sum;
}

/* Leaves out columns, the last first, until the sum fits; the others are as wide as they were. */
static size_t fit_spare(const struct sp_table *t, const size_t *whole, size_t gap, size_t sum, size_t width)
{
    size_t left = 0, shown = 0;
    if (sum <= width)
        return sum;
    for (size_t c = t->ncolumns; sum > width && c-- > 0;)
        if (t->columns[c].cut == SP_CUT_OUT) {
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
    bool begun = t->whole;
    if (!begun && !(t->whole = calloc(t->ncolumns + 1, sizeof *t->whole)))
        return false;
    for (size_t c = 0; c < t->ncolumns; c++) {
        size_t most = begun ? t->whole[c] : strlen(t->columns[c].title);
        for (size_t r = 0; r < rows; r++) {
            const struct sp_table_cell *cell = &t->cells.v[r * t->ncolumns + c];
            size_t w = sp_text_width(cell->p, cell->n);
            most = w > most ? w : most;
        }
        t->whole[c] = most;
    }
    return true;
}

/* Widths of what was measured. */
static bool fit_widths(struct sp_table *t, size_t width)
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
        sum = fit_spare(t, t->whole, GAP, sum, width);
        sum = fit_shrink(t, SP_CUT_FIRST, READABLE, sum, width);
        sum = fit_shrink(t, SP_CUT_FIRST, LEAST, sum, width);
        sum = fit_shrink(t, SP_CUT_LAST, LEAST, sum, width);
        sum = fit_shrink(t, SP_CUT_FIRST, TINY, sum, width);
        fit_shrink(t, SP_CUT_LAST, TINY, sum, width);
    }
    return true;
}

bool sp_table_fits(struct sp_table *t, size_t width)
{
    bool ok = (t->whole || sp_table_measure(t)) && fit_widths(t, width);
    t->failed |= !ok;
    t->fits = ok;
    for (size_t c = 0; ok && c < t->ncolumns; c++)
        t->fits &= t->widths[c] >= t->whole[c];
    return t->fits;
}

bool sp_table_fit(struct sp_table *t, size_t width)
{
    bool ok = sp_table_measure(t) && fit_widths(t, width);
    for (size_t c = 0; ok && c < t->ncolumns; c++)
        if (t->widths[c] < t->whole[c])
            ok = fit_column(t, c, t->cells.n / t->ncolumns, t->widths[c]);
    return ok;
}

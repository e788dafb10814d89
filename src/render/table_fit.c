/*
 * A table made as narrow as it has to be: cells are cut so that those that differ still do, and columns that
 * can be spared are left out.
 */
#include "render/table.h"

#include "answer/text.h"
#include "base/buf.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

enum { TINY = 6 }; /* columns of text that say something, beside what stands for the rest */

/* ---- one cell ---- */

/* What is left of a text that is cut so that what stands at some of its bytes is shown. */
struct fit_places {
    size_t at[2], n; /* ascending */
};

/* Safe text: its beginning, and what stands around each of the places. */
static bool fit_around(struct sp_buf *b, const char *p, size_t n, size_t columns, const struct fit_places *x)
{
    size_t pos = sp_text_within(p, n, columns / (x->n + 3)), left = columns - sp_text_width(p, pos);
    bool ok = sp_buf_add(b, p, pos);
    for (size_t i = 0; ok && i < x->n; i++) {
        bool last = i + 1 == x->n;
        size_t room = left / (x->n - i), before = sp_text_width(p, x->at[i]), lead = room / 4;
        size_t from = before > lead ? sp_text_within(p, n, before - lead) : 0, all = sp_text_width(p, n);
        if (last && all - sp_text_width(p, from) < room) /* the end is shown: from further in front */
            from = sp_text_within(p, n, all - (room - 1));
        if (from > pos) {
            ok = sp_buf_puts(b, "…");
            room--;
            left--;
        } else {
            from = pos;
        }
        size_t rest = sp_text_width(p + from, n - from), shown = n - from;
        if (rest > room)
            shown = sp_text_within(p + from, n - from, last && room ? room - 1 : room);
        ok = ok && sp_buf_add(b, p + from, shown) && (!last || rest <= room || sp_buf_puts(b, "…"));
        left -= sp_text_width(p + from, shown);
        pos = from + shown;
    }
    return ok;
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

/* What is done, one after the other, to rows that look alike and are not. */
enum fit_means { AROUND_ONE, AROUND_TWO, MARKED, FIT_MEANS };

struct fitting {
    struct sp_table *t;
    size_t column, rows, width;
    SP_VEC(struct sp_table_cell) cells; /* each once, as large trees have few */
    SP_VEC(const char *) handles;       /* of what they name; NULL: none */
    uint32_t *of_row;                   /* which of them is the row's */
    struct sp_table_cell *fitted;       /* per cell */
    struct fit_places *places;          /* per cell: where it differs from others */
    uint32_t *order;
    size_t numbers; /* that were given */
    struct sp_buf b;
    bool failed;
};

static const struct sp_table_cell *fit_cell(const struct fitting *f, size_t cell)
{
    return &f->cells.v[cell];
}

/* The place of a cell among `slots`, which hold 1 + its number, or where it is to be. */
static uint32_t *fit_slot(const struct fitting *f, uint32_t *slots, size_t mask,
                          const struct sp_table_cell *c, const char *handle)
{
    uint64_t seed = handle ? sp_hash_key_seed(handle, strlen(handle), c->tail) : c->tail;
    size_t at = (size_t)sp_hash_key_seed(c->p, c->n, seed) & mask;
    for (; slots[at]; at = (at + 1) & mask) {
        const struct sp_table_cell *have = fit_cell(f, slots[at] - 1);
        const char *other = f->handles.v[slots[at] - 1];
        bool same = other == handle || (other && handle && strcmp(other, handle) == 0);
        if (same && have->n == c->n && have->tail == c->tail && (!c->n || memcmp(have->p, c->p, c->n) == 0))
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
        const char *handle = sp_table_handle_of(f->t, r, f->column);
        uint32_t *slot = fit_slot(f, slots, mask, c, handle);
        if (!*slot) {
            ok = sp_vec_push(&f->cells, *c) && sp_vec_push(&f->handles, handle);
            *slot = (uint32_t)f->cells.n;
        }
        f->of_row[r] = *slot - 1;
    }
    free(slots);
    return ok;
}

/* A cell, cut in the middle, or so that its places are seen. Its tail stays, and the mark before it. */
static void fit_cut(struct fitting *f, size_t cell, const char *mark)
{
    const struct fit_places *places = &f->places[cell];
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
              : !places->n || room < 2 * places->n * TINY          ? sp_text_fit(&f->b, c->p, head, room)
                                                          : fit_around(&f->b, c->p, head, room, places);
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

static void fit_place(struct fit_places *x, size_t at)
{
    if (x->n == 2 || (x->n && x->at[0] == at))
        return;
    bool first = x->n && at < x->at[0];
    x->at[x->n++] = first ? x->at[0] : at;
    x->at[0] = first ? at : x->at[0];
}

/* What tells a cell from those that still look like it: its handle, else a number. */
static void fit_mark(struct fitting *f, size_t cell, size_t number, char *room, size_t size)
{
    const char *handle = f->handles.v[cell];
    room[0] = 0;
    if (handle)
        snprintf(room, size, " %s", handle);
    else if (number)
        snprintf(room, size, " (%zu)", number + 1);
}

/* Cells order[from..to) look alike. Those that are not are cut where they differ; marked, if they were. */
static void fit_tell_apart(struct fitting *f, size_t from, size_t to, enum fit_means how)
{
    size_t before = 0, same = 0;
    for (size_t i = from; i < to; i += same) {
        const struct sp_table_cell *cell = fit_cell(f, f->order[i]);
        for (same = 1; i + same < to && !fit_text_cmp(cell, fit_cell(f, f->order[i + same]));)
            same++;
        size_t behind = i + same < to ? fit_alike(cell, fit_cell(f, f->order[i + same])) : 0;
        size_t number = how == MARKED && i > from ? ++f->numbers : 0;
        for (size_t k = i; k < i + same; k++) {
            char mark[64] = "";
            fit_place(&f->places[f->order[k]], before > behind ? before : behind);
            if (how == MARKED)
                fit_mark(f, f->order[k], number, mark, sizeof mark);
            fit_cut(f, f->order[k], mark);
        }
        before = behind;
    }
}

static void fit_groups(struct fitting *f, enum fit_means how)
{
    qsort_r(f->order, f->cells.n, sizeof *f->order, fit_cmp, f);
    for (size_t from = 0, to; from < f->cells.n; from = to) {
        const struct sp_table_cell shown = f->fitted[f->order[from]];
        for (to = from + 1; to < f->cells.n && !fit_text_cmp(&shown, &f->fitted[f->order[to]]);)
            to++;
        if (fit_text_cmp(fit_cell(f, f->order[from]), fit_cell(f, f->order[to - 1])))
            fit_tell_apart(f, from, to, how);
    }
}

static bool fit_column(struct sp_table *t, size_t column, size_t rows, size_t width)
{
    struct fitting f = {.t = t, .column = column, .rows = rows, .width = width};
    f.failed = !fit_collect(&f);
    f.fitted = calloc(f.cells.n + 1, sizeof *f.fitted);
    f.places = calloc(f.cells.n + 1, sizeof *f.places);
    f.order = calloc(f.cells.n + 1, sizeof *f.order);
    sp_buf_init(&f.b, 0);
    f.failed |= !f.fitted || !f.places || !f.order;
    for (size_t i = 0; !f.failed && i < f.cells.n; i++) {
        f.order[i] = (uint32_t)i;
        fit_cut(&f, i, "");
    }
    for (int how = AROUND_ONE; !f.failed && how < FIT_MEANS; how++)
        fit_groups(&f, (enum fit_means)how);
    for (size_t r = 0; !f.failed && r < rows; r++)
        t->cells.v[r * t->ncolumns + column] = f.fitted[f.of_row[r]];
    sp_buf_free(&f.b);
    sp_vec_free(&f.cells);
    sp_vec_free(&f.handles);
    free(f.of_row);
    free(f.fitted);
    free(f.places);
    free(f.order);
    return !f.failed;
}

/* ---- the table ---- */

bool sp_table_fits(struct sp_table *t, size_t width)
{
    bool ok = (t->whole || sp_table_measure(t)) && sp_table_widths(t, width);
    t->failed |= !ok;
    t->fits = ok;
    for (size_t c = 0; ok && c < t->ncolumns; c++)
        t->fits &= t->widths[c] >= t->whole[c];
    return t->fits;
}

bool sp_table_fit(struct sp_table *t, size_t width)
{
    bool ok = sp_table_measure(t) && sp_table_widths(t, width);
    for (size_t c = 0; ok && c < t->ncolumns; c++)
        if (t->widths[c] < t->whole[c])
            ok = fit_column(t, c, t->cells.n / t->ncolumns, t->widths[c]);
    return ok;
}

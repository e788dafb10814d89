/*
 * Short names of a table's rows, worked out once for those that are alike; and which of them need a handle
 * behind the name.
 */
#include "render/answer_private.h"

#include "render/short_names.h"

#include <stdlib.h>

struct sp_value_text *sp_short_names(const struct sp_row_groups *groups, size_t column,
                                     struct sp_arena *arena)
{
    const struct sp_answer_table *t = groups->t;
    struct sp_value_text *whole = calloc(groups->n + 1, sizeof *whole), *names = NULL;
    for (size_t i = 0; whole && i < groups->n; i++) {
        const struct sp_cell *cell = sp_cell_at(t, sp_row_of_group(groups, i), column);
        if (cell->kind == SP_VALUE_TEXT)
            whole[i] = (struct sp_value_text){cell->text, cell->n};
    }
    if (whole)
        names = sp_names_apart(whole, groups->n, t->columns.v[column].type == SP_COL_DSO, arena);
    free(whole);
    return names;
}

/* ---- handles behind names ---- */

struct telling {
    const struct sp_table *filled;
    size_t at;
    const uint64_t *hashes; /* of handles */
};

/* The text of a cell by which rows are told apart: of the name without indentation and marks. */
static struct sp_value_text telling_text(const struct telling *x, uint32_t row, size_t column)
{
    struct sp_table_cell c = x->filled->cells.v[row * x->filled->ncolumns + column];
    if (column != x->at)
        return (struct sp_value_text){c.p, c.n};
    size_t n = c.n - c.tail, from = 0;
    while (from < n && c.p[from] == ' ')
        from++;
    return (struct sp_value_text){c.p + from, n - from};
}

static int telling_looks(const struct telling *x, uint32_t a, uint32_t b)
{
    int c = sp_value_text_cmp(telling_text(x, a, x->at), telling_text(x, b, x->at));
    for (size_t i = 0; !c && i < x->filled->ncolumns; i++)
        if (!x->filled->columns[i].right)
            c = sp_value_text_cmp(telling_text(x, a, i), telling_text(x, b, i));
    return c;
}

static int telling_cmp(const void *va, const void *vb, void *arg)
{
    uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
    int c = telling_looks(arg, a, b);
    return c ? c : (a > b) - (a < b);
}

/* Rows order[from..to) look alike. */
static void telling_group(const struct telling *x, const uint32_t *order, size_t from, size_t to, bool *tell)
{
    bool differ = false;
    for (size_t i = from + 1; i < to && !differ; i++)
        differ = x->hashes[order[from]] != x->hashes[order[i]];
    for (size_t i = from; differ && i < to; i++)
        tell[order[i]] = true;
}

bool sp_tell_by_handle(const struct sp_table *filled, size_t at, const uint64_t *hashes, bool *tell)
{
    struct telling x = {filled, at, hashes};
    size_t rows = filled->ncolumns ? filled->cells.n / filled->ncolumns : 0;
    uint32_t *order = calloc(rows + 1, sizeof *order);
    bool ok = order && rows < UINT32_MAX;
    for (size_t i = 0; ok && i < rows; i++)
        order[i] = (uint32_t)i;
    if (ok && rows)
        qsort_r(order, rows, sizeof *order, telling_cmp, &x);
    for (size_t from = 0, to; ok && from < rows; from = to) {
        for (to = from + 1; to < rows && !telling_looks(&x, order[from], order[to]);)
            to++;
        telling_group(&x, order, from, to, tell);
    }
    free(order);
    return ok;
}

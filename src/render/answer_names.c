/*
 * Short names of a table's rows, worked out once for those that are alike: as short as tells the rows that
 * are shown apart; and which of them need a handle behind the name.
 */
#include "render/answer_private.h"

#include "analysis/short_name.h"

#include <stdlib.h>

struct naming {
    const struct sp_row_groups *groups;
    enum sp_column_type type;
    struct sp_cell *whole; /* per group */
    struct sp_value_text *names;
    struct sp_arena *arena;
    struct sp_buf b;
    bool failed; /* which the buffer forgets when it is cleared */
};

static void names_shorten(struct naming *x, size_t group, enum sp_shortness how)
{
    const struct sp_cell *cell = &x->whole[group];
    x->names[group] = (struct sp_value_text){"", 0};
    if (cell->kind != SP_VALUE_TEXT)
        return;
    if (how == SP_WHOLE_NAME) {
        x->names[group] = (struct sp_value_text){cell->text, cell->n};
    } else if (x->type == SP_COL_DSO) {
        struct sp_str s = sp_short_dso(cell->text, cell->n);
        x->names[group] = (struct sp_value_text){s.p, s.n};
    } else {
        sp_buf_clear(&x->b);
        sp_short_name(&x->b, cell->text, cell->n, how);
        x->names[group] =
            (struct sp_value_text){sp_arena_dup(x->arena, x->b.len ? x->b.data : "", x->b.len), x->b.len};
        x->failed |= x->b.failed || !x->names[group].p;
    }
}

static int names_text_cmp(struct sp_value_text a, struct sp_value_text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int names_cmp(const void *va, const void *vb, void *arg)
{
    const struct naming *x = arg;
    uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
    int c = names_text_cmp(x->names[a], x->names[b]);
    return c ? c : (a > b) - (a < b);
}

static bool names_same_whole(const struct naming *x, uint32_t a, uint32_t b)
{
    const struct sp_cell p = x->whole[a], q = x->whole[b];
    return p.kind == q.kind && p.n == q.n && (!p.n || memcmp(p.text, q.text, p.n) == 0);
}

/* Groups that share a short name and are something else get a longer one. */
static void names_tell_apart(struct naming *x, uint32_t *order, enum sp_shortness longer)
{
    for (uint32_t i = 0; i < x->groups->n; i++)
        order[i] = i;
    if (x->groups->n)
        qsort_r(order, x->groups->n, sizeof *order, names_cmp, x);
    for (size_t from = 0, to; from < x->groups->n; from = to) {
        bool differ = false;
        for (to = from + 1; to < x->groups->n && !names_text_cmp(x->names[order[from]], x->names[order[to]]);
             to++)
            differ |= !names_same_whole(x, order[from], order[to]);
        struct sp_value_text shared = x->names[order[from]];
        for (size_t i = from; differ && shared.n && i < to; i++)
            names_shorten(x, order[i], longer);
    }
}

struct sp_value_text *sp_short_names(const struct sp_row_groups *groups, size_t column,
                                     struct sp_arena *arena)
{
    const struct sp_answer_table *t = groups->t;
    struct naming x = {.groups = groups, .type = t->columns.v[column].type, .arena = arena};
    uint32_t *order = calloc(groups->n + 1, sizeof *order);
    x.names = sp_arena_zalloc(arena, (groups->n + 1) * sizeof *x.names);
    x.whole = calloc(groups->n + 1, sizeof *x.whole);
    sp_buf_init(&x.b, 0);
    bool ok = order && x.names && x.whole && groups->n < UINT32_MAX;
    for (size_t i = 0; ok && i < groups->n; i++) {
        x.whole[i] = *sp_cell_at(t, sp_row_of_group(groups, i), column);
        names_shorten(&x, i, SP_SHORTEST);
    }
    for (int longer = SP_NO_ARGUMENTS; ok && !x.failed && longer <= SP_WHOLE_NAME; longer++)
        names_tell_apart(&x, order, (enum sp_shortness)longer);
    ok = ok && !x.failed;
    sp_buf_free(&x.b);
    free(x.whole);
    free(order);
    return ok ? x.names : NULL;
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
    int c = names_text_cmp(telling_text(x, a, x->at), telling_text(x, b, x->at));
    for (size_t i = 0; !c && i < x->filled->ncolumns; i++)
        if (!x->filled->columns[i].right)
            c = names_text_cmp(telling_text(x, a, i), telling_text(x, b, i));
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

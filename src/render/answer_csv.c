/*
 * Answers as CSV: the tables, and nothing else, written row by row. Columns are called as in JSON. A table
 * with the columns of the one before goes on with it, where people see them by the same titles; another
 * follows an empty line.
 */
#include "render/answer_private.h"

#include "answer/text.h"
#include "base/num.h"

#include <stdlib.h>

enum { FULL = 1 << 14, NUMBER = 64 };

struct csv_column {
    const char *name, *title; /* title: what people see, "": nothing */
    size_t cell;              /* column whose cells it shows: of a percentage, that of its weight */
    enum sp_column_type type;
    bool suffix;
    const struct sp_measure *measure; /* NULL: rows have their own */
};

struct csv_table {
    const struct sp_drawing *g;
    struct sp_answer_table *t;
    struct csv_column *columns;
    size_t n;
    struct sp_buf b, cell, safe;
    bool failed;
};

/* ---- cells ---- */

static void csv_number(struct sp_buf *b, enum sp_column_type type, const struct sp_cell *cell,
                       const struct sp_measure *m)
{
    char t[NUMBER];
    bool measured = type == SP_COL_WEIGHT || type == SP_COL_PERCENT;
    if (measured && m->cannot_add)
        return;
    if (type == SP_COL_PERCENT)
        sp_text_percent(b, cell->i, m->whole);
    else
        sp_buf_add(b, t, sp_scaled_text(cell->i, type == SP_COL_WEIGHT ? m->scale : cell->scale, t));
}

static void csv_texts(struct csv_table *x, const struct csv_column *c, const struct sp_cell *cell)
{
    sp_buf_clear(&x->cell);
    for (uint32_t i = 0; cell->kind == SP_VALUE_TEXTS && i < cell->n; i++) {
        sp_buf_puts(&x->cell, i ? " " : "");
        sp_buf_add(&x->cell, cell->texts[i].p, cell->texts[i].n);
    }
    bool list = cell->kind == SP_VALUE_TEXTS;
    const char *p = list ? x->cell.data : cell->text;
    size_t n = list ? x->cell.len : cell->n;
    if (c->suffix && n && *p == ' ') /* which sets it off from what it stands behind for people */
        p++, n--;
    sp_buf_clear(&x->safe);
    sp_text_safe(&x->safe, p, n);
    x->failed |= x->cell.failed || x->safe.failed;
    sp_csv_cell(&x->b, x->safe.data, x->safe.len);
}

static void csv_cell(struct csv_table *x, struct csv_column *c, const struct sp_cell *cell, size_t row)
{
    char t[32];
    const struct sp_measure *m = c->measure ? c->measure : sp_cell_measure(x->g->answer, x->t, row, c->cell);
    if (cell->kind == SP_VALUE_INT)
        csv_number(&x->b, c->type, cell, m);
    else if (cell->kind == SP_VALUE_REAL && cell->real - cell->real == 0)
        sp_buf_add(&x->b, t, sp_double_text(cell->real, t));
    else if (cell->kind == SP_VALUE_TEXT || cell->kind == SP_VALUE_TEXTS)
        csv_texts(x, c, cell);
}

/* ---- rows ---- */

static void csv_flush(struct csv_table *x)
{
    x->failed |= x->b.failed;
    sp_write(x->g->out, x->b.data, x->b.len);
    sp_buf_clear(&x->b);
}

static void csv_take_row(void *to, size_t row)
{
    struct csv_table *x = to;
    if (x->failed || row < x->t->json_rows)
        return;
    const struct sp_cell *cells = sp_row_cells(x->t, row);
    for (size_t i = 0; i < x->n; i++) {
        if (i)
            sp_buf_ch(&x->b, ',');
        csv_cell(x, &x->columns[i], &cells[x->columns[i].cell], row);
    }
    sp_buf_ch(&x->b, '\n');
    if (x->b.len >= FULL || x->b.failed)
        csv_flush(x);
}

/* ---- tables ---- */

static void csv_column(const struct csv_table *x, size_t column, struct csv_column *out)
{
    const struct sp_answer_column *c = &x->t->columns.v[column];
    *out = (struct csv_column){.name = c->name,
                               .title = c->title ? c->title : "",
                               .cell = c->type == SP_COL_PERCENT ? sp_column_of(x->t, column) : column,
                               .type = c->type,
                               .suffix = c->flags & SP_COL_SUFFIX};
    if (!x->t->row_measure.n)
        out->measure = sp_cell_measure(x->g->answer, x->t, 0, column);
}

/* Its columns; false: memory is exhausted. */
static bool csv_columns(struct csv_table *x)
{
    size_t *order = calloc(x->t->columns.n + 1, sizeof *order);
    x->columns = calloc(x->t->columns.n + 1, sizeof *x->columns);
    bool ok = order && x->columns;
    x->n = ok ? sp_shown_columns(x->g, x->t, order) : 0;
    for (size_t i = 0; i < x->n; i++)
        csv_column(x, order[i], &x->columns[i]);
    free(order);
    return ok;
}

static bool csv_same_columns(const struct csv_column *a, size_t na, const struct csv_table *x)
{
    bool same = a && na == x->n;
    for (size_t i = 0; same && i < na; i++)
        same = strcmp(a[i].name, x->columns[i].name) == 0 && strcmp(a[i].title, x->columns[i].title) == 0;
    return same;
}

static void csv_names(struct csv_table *x)
{
    for (size_t i = 0; i < x->n; i++) {
        if (i)
            sp_buf_ch(&x->b, ',');
        sp_buf_clear(&x->safe);
        sp_text_safe(&x->safe, x->columns[i].name, strlen(x->columns[i].name));
        x->failed |= x->safe.failed;
        sp_csv_cell(&x->b, x->safe.data, x->safe.len);
    }
    sp_buf_ch(&x->b, '\n');
}

/* `before`: the columns of the table above, which become this one's. */
static spaa_status csv_table(const struct sp_drawing *g, struct sp_answer_table *t,
                             struct csv_column **before, size_t *nbefore)
{
    struct csv_table x = {.g = g, .t = t};
    sp_buf_init(&x.b, 0);
    sp_buf_init(&x.cell, 0);
    sp_buf_init(&x.safe, 0);
    spaa_status st = csv_columns(&x) ? SPAA_OK : SPAA_ERR_NOMEM;
    if (!st && x.n) {
        if (!csv_same_columns(*before, *nbefore, &x)) {
            sp_puts(g->out, *before ? "\n" : "");
            csv_names(&x);
        }
        st = sp_rows_take(t, sp_drawn_rows(g, t), csv_take_row, &x);
        csv_flush(&x);
        free(*before);
        *before = x.columns;
        *nbefore = x.n;
        x.columns = NULL;
    }
    free(x.columns);
    sp_buf_free(&x.b);
    sp_buf_free(&x.cell);
    sp_buf_free(&x.safe);
    return st ? st : x.failed ? SPAA_ERR_NOMEM : SPAA_OK;
}

spaa_status sp_draw_csv(const struct sp_drawing *g)
{
    struct csv_column *before = NULL;
    size_t nbefore = 0;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < g->answer->items.n; i++) {
        struct sp_answer_table *t = g->answer->items.v[i].table;
        if (t && !t->of)
            st = csv_table(g, t, &before, &nbefore);
    }
    free(before);
    return st;
}

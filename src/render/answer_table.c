/*
 * A table of an answer for people: its columns, and the text of its cells, which are kept; but those of rows
 * that are made (struct sp_row_maker) only as long as they are written.
 */
#include "render/answer_private.h"

#include "answer/text.h"
#include "base/hash.h"

#include <stdlib.h>

enum { NUMBER = 64, DEEPEST = 200, ROWS_AT_ONCE = 1024 };

struct sp_people_column {
    size_t column, cell; /* cell: column whose cells it shows: of a percentage, that of its weight */
    enum sp_column_type type;
    bool indented, list, suffixed;
    const struct sp_measure *measure;  /* NULL: rows have their own */
    const struct sp_value_text *texts; /* per group; NULL: each row's cell says it */
    struct sp_cell last;               /* the last number, and its text */
    size_t last_n;                     /* 0: none */
    char last_text[NUMBER];
};

/* ---- columns ---- */

/* In text, which shows as many of its items as there is room for. */
static bool column_is_list(const struct sp_people_table *x, size_t column)
{
    const struct sp_answer_column *c = &x->t->columns.v[column];
    return x->g->opts->form == SP_FORM_TEXT && c->type == SP_COL_TEXTS && c->flags & SP_COL_FLEXIBLE;
}

static enum sp_table_cut column_cut(const struct sp_people_table *x, size_t column, bool right)
{
    const struct sp_answer_column *c = &x->t->columns.v[column];
    return c->flags & SP_COL_STAYS      ? SP_CUT_NEVER
           : c->flags & SP_COL_ASKED    ? SP_CUT_ASKED
           : c->flags & SP_COL_SPARE    ? SP_CUT_OUT
           : column_is_list(x, column)  ? SP_CUT_ITEMS
           : c->flags & SP_COL_FLEXIBLE ? SP_CUT_FIRST
           : right                      ? SP_CUT_NARROW
           : c->type == SP_COL_HANDLE   ? SP_CUT_NEVER
                                        : SP_CUT_LAST;
}

static void column_init(struct sp_people_table *x, size_t i, size_t column)
{
    const struct sp_answer_column *c = &x->t->columns.v[column];
    struct sp_people_column *out = &x->columns[i];
    bool right = c->flags & SP_COL_RIGHT || (sp_column_is_number(c->type) && !(c->flags & SP_COL_LEFT));
    x->titles[i] = (struct sp_table_column){c->title, right, column_cut(x, column, right)};
    *out = (struct sp_people_column){.column = column,
                                     .cell = c->type == SP_COL_PERCENT ? sp_column_of(x->t, column) : column,
                                     .type = c->type,
                                     .indented = c->flags & SP_COL_FLEXIBLE && x->t->depth.n,
                                     .list = column_is_list(x, column)};
    if (!x->t->row_measure.n)
        out->measure = sp_cell_measure(x->g->answer, x->t, 0, column);
    for (size_t s = column + 1; s < x->t->columns.n && x->t->columns.v[s].flags & SP_COL_SUFFIX; s++)
        out->suffixed |= sp_column_shown(x->g, x->t, s);
}

/* The handles of the names in a column, which stand next to it; SIZE_MAX: there are none. */
static size_t column_handle(const struct sp_people_table *x, size_t column)
{
    size_t found = SIZE_MAX, near = SIZE_MAX;
    for (size_t c = 0; c < x->t->columns.n; c++) {
        size_t far = c < column ? column - c : c - column;
        if (x->t->columns.v[c].type == SP_COL_HANDLE && !x->t->absent.v[c] && far < near) {
            found = c;
            near = far;
        }
    }
    return found;
}

/* The first column of names that have handles, and the first whose handles are not shown. */
static void find_handles(struct sp_people_table *x)
{
    x->at = x->handle = x->named = x->named_by = SIZE_MAX;
    for (size_t i = 0; i < x->table.ncolumns && x->handle == SIZE_MAX; i++) {
        size_t handle = x->columns[i].type == SP_COL_NAME ? column_handle(x, x->columns[i].column) : SIZE_MAX;
        if (handle != SIZE_MAX && x->named == SIZE_MAX) {
            x->named = i;
            x->named_by = handle;
        }
        if (x->columns[i].type == SP_COL_NAME) {
            x->at = i;
            x->handle = handle != SIZE_MAX && sp_column_shown(x->g, x->t, handle) ? SIZE_MAX : handle;
        }
    }
}

/* Rows of one key look alike but for numbers, and for what stands behind a name. */
static bool is_by_key(const struct sp_people_table *x)
{
    const struct sp_answer_column *all = x->t->columns.v;
    if (!x->t->maker || x->t->row_measure.n)
        return false;
    if (x->handle != SIZE_MAX && !(all[x->handle].flags & SP_COL_ALIKE))
        return false;
    for (size_t i = 0; i < x->table.ncolumns; i++) {
        const struct sp_people_column *c = &x->columns[i];
        bool alike = all[c->cell].flags & SP_COL_ALIKE;
        if (c->list || (!alike && !x->titles[i].right) || (c->suffixed && i != x->at))
            return false;
    }
    for (size_t s = 0; s < x->t->columns.n; s++)
        if (all[s].flags & SP_COL_SUFFIX && all[s].flags & SP_COL_ALIKE)
            return false;
    return true;
}

/* ---- texts of groups ---- */

static const struct sp_value_text *whole_texts(struct sp_people_table *x, const struct sp_people_column *c)
{
    struct sp_value_text *texts = sp_arena_zalloc(&x->arena, (x->groups.n + 1) * sizeof *texts);
    for (size_t i = 0; texts && i < x->groups.n; i++) {
        size_t row = sp_row_of_group(&x->groups, i);
        sp_buf_clear(&x->b);
        sp_cell_text(&x->b, c->type, sp_cell_at(x->t, row, c->cell), c->measure);
        const char *p = sp_arena_dup(&x->arena, x->b.len ? x->b.data : "", x->b.len);
        if (!p || x->b.failed)
            return NULL;
        texts[i] = (struct sp_value_text){p, x->b.len};
    }
    return texts;
}

static bool column_texts(struct sp_people_table *x, struct sp_people_column *c)
{
    bool name = (c->type == SP_COL_NAME || c->type == SP_COL_DSO) && !x->g->opts->full_names;
    if (name)
        c->texts = sp_short_names(&x->groups, c->column, &x->arena);
    else if (x->groups.of_key && x->t->columns.v[c->cell].flags & SP_COL_ALIKE)
        c->texts = whole_texts(x, c);
    else
        return true;
    return c->texts;
}

/* ---- cells ---- */

/* A number that is that of the row above, as many are, is not made again. */
static void cell_number(struct sp_people_table *x, struct sp_people_column *c, const struct sp_cell *cell)
{
    size_t at = x->b.len;
    if (c->last_n && c->last.i == cell->i && c->last.scale == cell->scale) {
        sp_buf_add(&x->b, c->last_text, c->last_n);
        return;
    }
    sp_cell_text(&x->b, c->type, cell, c->measure);
    c->last = *cell;
    c->last_n = !x->b.failed && x->b.len - at <= NUMBER ? x->b.len - at : 0;
    if (c->last_n)
        memcpy(c->last_text, x->b.data + at, c->last_n);
}

static void cell_text(struct sp_people_table *x, struct sp_people_column *c, const struct sp_cell *cell,
                      size_t row)
{
    if (cell->kind == SP_VALUE_INT && c->measure)
        cell_number(x, c, cell);
    else
        sp_cell_text(&x->b, c->type, cell,
                     c->measure ? c->measure : sp_cell_measure(x->g->answer, x->t, row, c->column));
}

/* What stands behind the text of a cell: suffixes, and the handle that tells it from others. */
static void cell_tail(struct sp_people_table *x, const struct sp_people_column *c,
                      const struct sp_cell *cells, size_t row, bool tell)
{
    const struct sp_answer_table *t = x->t;
    sp_buf_clear(&x->b);
    for (size_t s = c->column + 1; s < t->columns.n && t->columns.v[s].flags & SP_COL_SUFFIX; s++) {
        enum sp_column_type type = t->columns.v[s].type;
        if (sp_column_shown(x->g, t, s))
            sp_cell_text(&x->b, type, &cells[type == SP_COL_PERCENT ? sp_column_of(t, s) : s],
                         sp_cell_measure(x->g->answer, t, row, s));
    }
    const struct sp_cell *handle = tell ? sp_cell_at(t, row, x->handle) : NULL;
    if (handle && handle->kind == SP_VALUE_TEXT) {
        sp_buf_ch(&x->b, ' ');
        sp_buf_add(&x->b, handle->text, handle->n);
    }
    x->table.failed |= x->b.failed;
    sp_table_tail(&x->table, x->b.data ? x->b.data : "", x->b.len);
}

static void add_cell(struct sp_people_table *x, struct sp_people_column *c, const struct sp_cell *cells,
                     size_t row, size_t group)
{
    sp_buf_clear(&x->b);
    for (uint32_t i = 0; c->indented && i < x->t->depth.v[row] && i < DEEPEST; i++)
        sp_buf_puts(&x->b, "  ");
    if (c->texts)
        sp_buf_add(&x->b, c->texts[group].p, c->texts[group].n);
    else if (!c->list)
        cell_text(x, c, &cells[c->cell], row);
    sp_table_cell(&x->table, x->b.data ? x->b.data : "", x->b.len);
    const struct sp_cell *list = &cells[c->cell];
    for (uint32_t i = 0; c->list && list->kind == SP_VALUE_TEXTS && i < list->n; i++)
        sp_table_item(&x->table, list->texts[i].p, list->texts[i].n);
    x->table.failed |= x->b.failed;
    bool tell = x->tell && c == &x->columns[x->at] && x->tell[group];
    if (c->suffixed || tell)
        cell_tail(x, c, cells, row, tell);
}

static void add_row(struct sp_people_table *x, size_t row)
{
    size_t group = sp_row_group(&x->groups, row);
    const struct sp_cell *cells = x->groups.of_key ? sp_row_own_cells(x->t, row) : sp_row_cells(x->t, row);
    for (size_t i = 0; i < x->table.ncolumns; i++)
        add_cell(x, &x->columns[i], cells, row, group);
}

/* ---- handles behind names that do not tell rows apart ---- */

/* x->tell, of the groups whose rows are the table's, which begin with group `first`. */
static void tell_groups(struct sp_people_table *x, size_t first, size_t n)
{
    uint64_t *hashes = calloc(n + 1, sizeof *hashes);
    x->tell = calloc(first + n + 1, sizeof *x->tell);
    x->table.failed |= !hashes || !x->tell;
    for (size_t i = 0; !x->table.failed && i < n; i++) {
        const struct sp_cell *cell = sp_cell_at(x->t, sp_row_of_group(&x->groups, first + i), x->handle);
        if (cell->kind == SP_VALUE_TEXT)
            hashes[i] = sp_hash64(cell->text, cell->n);
    }
    x->table.failed |= x->table.failed || !sp_tell_by_handle(&x->table, x->at, hashes, x->tell + first);
    free(hashes);
}

/* A row of each group says what all of them look like. */
static void tell_keys(struct sp_people_table *x)
{
    for (size_t i = 0; i < x->groups.shown && !x->table.failed; i++)
        add_row(x, sp_row_of_group(&x->groups, i));
    tell_groups(x, 0, x->groups.shown);
    sp_table_clear(&x->table);
}

/* Each row of the table is a group. */
static void tell_rows(struct sp_people_table *x)
{
    size_t first = x->rows - x->groups.shown;
    tell_groups(x, first, x->groups.shown);
    for (size_t row = first; row < x->rows && !x->table.failed; row++) {
        const struct sp_cell *handle = x->tell[row] ? sp_cell_at(x->t, row, x->handle) : NULL;
        if (!handle || handle->kind != SP_VALUE_TEXT)
            continue;
        sp_buf_clear(&x->b);
        sp_buf_ch(&x->b, ' ');
        sp_buf_add(&x->b, handle->text, handle->n);
        x->table.failed |= x->b.failed;
        sp_table_more(&x->table, row - first, x->at, sp_buf_cstr(&x->b));
    }
}

/* ---- the table ---- */

static spaa_status people_status(const struct sp_people_table *x)
{
    return !x->table.failed ? SPAA_OK : x->table.arena.full ? SPAA_ERR_LIMIT : SPAA_ERR_NOMEM;
}

static void people_columns(struct sp_people_table *x, const size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        column_init(x, i, order[i]);
    sp_table_init(&x->table, x->titles, n);
    x->table.arena.limit = (size_t)x->g->answer->most;
    find_handles(x);
    bool ok = sp_row_groups_init(&x->groups, x->t, x->rows, is_by_key(x));
    for (size_t i = 0; ok && i < n; i++)
        ok = column_texts(x, &x->columns[i]);
    x->table.failed = !ok;
    if (ok && x->handle != SIZE_MAX && x->groups.of_key)
        tell_keys(x);
}

spaa_status sp_people_begin(struct sp_people_table *x, const struct sp_drawing *g,
                            const struct sp_answer_table *t)
{
    *x = (struct sp_people_table){.g = g, .t = t, .rows = sp_drawn_rows(g, t)};
    size_t *order = calloc(t->columns.n + 1, sizeof *order);
    x->titles = calloc(t->columns.n + 1, sizeof *x->titles);
    x->columns = calloc(t->columns.n + 1, sizeof *x->columns);
    sp_buf_init(&x->b, 0);
    sp_arena_init(&x->arena, 0);
    sp_table_init(&x->table, NULL, 0);
    x->table.failed = !order || !x->titles || !x->columns;
    size_t n = x->table.failed ? 0 : sp_shown_columns(g, t, order);
    if (n)
        people_columns(x, order, n);
    free(order);
    return people_status(x);
}

void sp_people_free(struct sp_people_table *x)
{
    sp_table_free(&x->table);
    sp_row_groups_free(&x->groups);
    sp_arena_free(&x->arena);
    sp_buf_free(&x->b);
    free(x->titles);
    free(x->columns);
    free(x->tell);
}

/* The handles of groups, for names that have to be cut. */
static bool keep_handles(struct sp_people_table *x)
{
    if (x->named == SIZE_MAX || x->g->opts->form != SP_FORM_TEXT || !x->g->opts->width)
        return true;
    x->handles = sp_arena_zalloc(&x->arena, (x->groups.n + 1) * sizeof *x->handles);
    for (size_t i = 0; x->handles && i < x->groups.n; i++) {
        const struct sp_cell *cell = sp_cell_at(x->t, sp_row_of_group(&x->groups, i), x->named_by);
        sp_buf_clear(&x->b);
        if (cell->kind != SP_VALUE_TEXT)
            continue;
        bool ok = sp_text_safe(&x->b, cell->text, cell->n) && sp_buf_ch(&x->b, 0);
        if (!ok || !(x->handles[i] = sp_arena_dup(&x->arena, x->b.data, x->b.len)))
            return false;
    }
    return x->handles;
}

spaa_status sp_people_keep(struct sp_people_table *x)
{
    x->table.failed |= x->table.ncolumns && !keep_handles(x);
    for (size_t row = x->t->json_rows; x->table.ncolumns && row < x->rows && !x->table.failed; row++) {
        if (x->handles)
            sp_table_handle(&x->table, x->named, x->handles[sp_row_group(&x->groups, row)]);
        add_row(x, row);
    }
    if (x->handle != SIZE_MAX && x->table.ncolumns && !x->groups.of_key && !x->table.failed)
        tell_rows(x);
    return people_status(x);
}

/* Some rows from this one on; the next one. */
static size_t add_some(struct sp_people_table *x, size_t row)
{
    for (size_t n = 0; n < ROWS_AT_ONCE && row < x->rows && !x->table.failed; n++)
        add_row(x, row++);
    return row;
}

/* All rows fit the width as they are. */
static bool rows_fit(struct sp_people_table *x)
{
    for (size_t row = x->t->json_rows; row < x->rows && !x->table.failed;) {
        row = add_some(x, row);
        x->table.failed |= !sp_table_measure(&x->table);
        sp_table_clear(&x->table);
    }
    return !x->table.failed && sp_table_fits(&x->table, x->g->opts->width);
}

spaa_status sp_people_write(struct sp_people_table *x, enum sp_table_form form)
{
    spaa_status st = people_status(x);
    unsigned width = x->g->opts->width;
    size_t row = x->t->json_rows;
    if (!x->groups.of_key || (form == SP_TABLE_TEXT && !rows_fit(x))) {
        st = st ? st : sp_people_keep(x);
        return st ? st : sp_table_write(&x->table, form, width, x->g->out);
    }
    do {
        row = add_some(x, row);
        st = sp_table_write(&x->table, form, width, x->g->out);
        sp_table_next(&x->table);
    } while (!st && row < x->rows);
    return st;
}

/* Which rows and columns of an answer's tables are shown, and the text of each cell for people. */
#include "render/answer_private.h"

#include "answer/words.h"
#include "base/num.h"

#include <stdlib.h>
#include <xxhash.h>

/* How many of the rows that are dealt, one by one, to the tables that are kept by rank this one gets. */
static size_t cells_dealt(const struct sp_drawing *g, const struct sp_answer_table *t)
{
    size_t left = g->rows, got = 0;
    for (size_t round = 0, before = SIZE_MAX; left && left != before; round++) {
        before = left;
        for (unsigned rank = 1; left && rank <= SP_KEPT_TABLES; rank++) {
            const struct sp_answer_table *one = sp_kept_table(g->answer, rank);
            if (!one || round >= sp_whole_rows(one))
                continue;
            left--;
            got += one == t;
        }
    }
    return got;
}

const struct sp_answer_table *sp_kept_table(const struct sp_answer *a, unsigned rank)
{
    for (size_t i = 0; i < a->items.n; i++)
        if (a->items.v[i].table && a->items.v[i].table->keep == rank)
            return a->items.v[i].table;
    return NULL;
}

size_t sp_whole_rows(const struct sp_answer_table *t)
{
    return t->rows < t->limit ? t->rows : t->limit;
}

size_t sp_drawn_rows(const struct sp_drawing *g, const struct sp_answer_table *t)
{
    if (t->maker)
        return t->rows;
    size_t n = sp_whole_rows(t);
    if (t->keep && g->rows != SIZE_MAX)
        return cells_dealt(g, t);
    return t->fixed || t->of || n < g->rows ? n : g->rows;
}

size_t sp_omitted_rows(const struct sp_drawing *g, const struct sp_answer_table *t, size_t *column,
                       int64_t *sum)
{
    size_t shown = sp_drawn_rows(g, t);
    *column = SIZE_MAX;
    *sum = t->left_out_sum;
    for (size_t c = 0; c < t->columns.n; c++)
        if (t->columns.v[c].flags & SP_COL_OMITTED && !t->absent.v[c])
            *column = c;
    for (size_t r = shown; *column != SIZE_MAX && r < t->rows; r++)
        *sum += sp_cell_at(t, r, *column)->kind == SP_VALUE_INT ? sp_cell_at(t, r, *column)->i : 0;
    return t->rows - shown + t->left_out;
}

bool sp_more_line(const struct sp_drawing *g, const struct sp_answer_table *t, struct sp_buf *b)
{
    size_t column;
    int64_t sum;
    size_t n = sp_omitted_rows(g, t, &column, &sum);
    const char *noun = t->noun ? t->noun : t->decl->noun ? t->decl->noun : "rows";
    if (!n)
        return false;
    sp_buf_printf(b, "%zu more%s%s", n, *noun ? " " : "", noun);
    const struct sp_measure *m = sp_cell_measure(g->answer, t, 0, column == SIZE_MAX ? 0 : column);
    if (column != SIZE_MAX && t->columns.v[column].title && !t->row_measure.n &&
        (m->whole || m->cannot_add)) {
        const char *name = t->columns.v[column].name;
        sp_buf_puts(b, " with ");
        if (m->cannot_add)
            sp_buf_ch(b, '-');
        else
            sp_text_percent(b, sum, m->whole);
        sp_buf_printf(b, "%% of %s%s", name, strcmp(name, "weight") == 0 ? "" : " weight");
    }
    sp_buf_printf(b, "; %s", t->decl->more && !g->opts->budget ? t->decl->more : g->opts->more);
    return true;
}

/* ---- columns ---- */

static bool is_number(enum sp_column_type type)
{
    return type == SP_COL_WEIGHT || type == SP_COL_PERCENT || type == SP_COL_COUNT || type == SP_COL_TIME ||
           type == SP_COL_NUMBER;
}

static bool cells_shown(const struct sp_drawing *g, const struct sp_answer_table *t, size_t c)
{
    const struct sp_answer_column *column = &t->columns.v[c];
    bool csv = g->opts->form == SP_FORM_CSV;
    bool suffix = column->flags & SP_COL_SUFFIX;
    return !t->absent.v[c] && ((column->title && !(csv && suffix)) || (csv && column->flags & SP_COL_CSV));
}

/* Suffixes stand behind another column, but in CSV, where they are one of their own. */
static bool cells_is_column(const struct sp_drawing *g, const struct sp_answer_table *t, size_t c)
{
    bool suffix = t->columns.v[c].flags & SP_COL_SUFFIX && g->opts->form != SP_FORM_CSV;
    return !suffix && cells_shown(g, t, c);
}

/* As declared, but those that only this answer has stand before the first name. */
size_t sp_shown_columns(const struct sp_drawing *g, const struct sp_answer_table *t, size_t *order)
{
    size_t n = 0, declared = t->decl->ncolumns, at = 0;
    bool told = !t->of || (t->of->paragraph && g->opts->form == SP_FORM_TEXT);
    if (!told || (t->quiet && g->opts->form != SP_FORM_CSV))
        return 0;
    while (at < declared && is_number(t->columns.v[at].type))
        at++;
    for (size_t c = 0; c <= declared; c++) {
        if (c == at)
            for (size_t x = declared; x < t->columns.n; x++)
                if (cells_is_column(g, t, x))
                    order[n++] = x;
        if (c < declared && cells_is_column(g, t, c))
            order[n++] = c;
    }
    return n;
}

/* ---- cells ---- */

static void people_text(struct sp_buf *b, enum sp_column_type type, const struct sp_cell *cell,
                        const struct sp_measure *m)
{
    char t[64];
    if (type == SP_COL_WEIGHT && m->cannot_add)
        sp_buf_ch(b, '-');
    else if (type == SP_COL_WEIGHT)
        sp_text_weight(b, m->unit, m->scale, cell->i);
    else if (type == SP_COL_PERCENT && m->cannot_add)
        sp_buf_puts(b, "-%");
    else if (type == SP_COL_PERCENT)
        sp_text_percent(b, cell->i, m->whole), sp_buf_ch(b, '%');
    else if (type == SP_COL_TIME)
        sp_text_weight(b, (struct sp_str){"ns", 2}, 0, cell->i);
    else if (type == SP_COL_BOOL)
        sp_buf_puts(b, cell->i ? "yes" : "no");
    else if (type == SP_COL_COUNT)
        sp_text_grouped(b, cell->i, cell->scale);
    else
        sp_buf_add(b, t, sp_scaled_text(cell->i, cell->scale, t));
}

static void cell_text(const struct sp_drawing *g, const struct sp_answer_table *t, size_t row, size_t column,
                      struct sp_buf *b)
{
    const struct sp_cell *cell = sp_shown_cell(t, row, column);
    enum sp_column_type type = t->columns.v[column].type;
    const struct sp_measure *m = sp_cell_measure(g->answer, t, row, column);
    switch (cell->kind) {
    case SP_VALUE_INT:
        people_text(b, type, cell, m);
        break;
    case SP_VALUE_REAL:
        if (cell->real - cell->real == 0) /* what is not known is nothing */
            sp_buf_printf(b, "%.2f", cell->real);
        break;
    case SP_VALUE_TEXT:
        sp_buf_add(b, cell->text, cell->n);
        break;
    case SP_VALUE_TEXTS:
        for (uint32_t i = 0; i < cell->n; i++) {
            sp_buf_puts(b, i ? " " : "");
            sp_buf_add(b, cell->texts[i].p, cell->texts[i].n);
        }
        break;
    default:
        break;
    }
}

/* ---- a table ---- */

struct filling {
    const struct sp_drawing *g;
    const struct sp_answer_table *t;
    struct sp_table *out;
    size_t *order, n;
    const struct sp_value_text **names; /* per column of the table: short ones, NULL: as they are */
    struct sp_buf b;
};

/* In text, which shows as many of its items as there is room for. */
static bool cell_is_list(const struct filling *f, size_t column)
{
    const struct sp_answer_column *c = &f->t->columns.v[column];
    return f->g->opts->form == SP_FORM_TEXT && c->type == SP_COL_TEXTS && c->flags & SP_COL_FLEXIBLE;
}

static void fill_cell(struct filling *f, size_t row, size_t column)
{
    const struct sp_answer_table *t = f->t;
    const struct sp_answer_column *c = &t->columns.v[column];
    sp_buf_clear(&f->b);
    for (uint32_t i = 0; c->flags & SP_COL_FLEXIBLE && t->depth.n && i < t->depth.v[row] && i < 200; i++)
        sp_buf_puts(&f->b, "  ");
    if (f->names[column])
        sp_buf_add(&f->b, f->names[column][row].p, f->names[column][row].n);
    else if (!cell_is_list(f, column))
        cell_text(f->g, t, row, column, &f->b);
    sp_table_cell(f->out, f->b.data ? f->b.data : "", f->b.len);
    const struct sp_cell *list = sp_shown_cell(t, row, column);
    for (uint32_t i = 0; cell_is_list(f, column) && list->kind == SP_VALUE_TEXTS && i < list->n; i++)
        sp_table_item(f->out, list->texts[i].p, list->texts[i].n);
    f->out->failed |= f->b.failed;
    sp_buf_clear(&f->b);
    for (size_t s = column + 1; s < t->columns.n && t->columns.v[s].flags & SP_COL_SUFFIX; s++)
        if (cells_shown(f->g, t, s))
            cell_text(f->g, t, row, s, &f->b);
    f->out->failed |= f->b.failed;
    sp_table_tail(f->out, f->b.data ? f->b.data : "", f->b.len);
}

static void fill_names(struct filling *f, size_t rows)
{
    if (f->g->opts->full_names)
        return;
    for (size_t i = 0; i < f->n; i++) {
        enum sp_column_type type = f->t->columns.v[f->order[i]].type;
        if (type == SP_COL_NAME || type == SP_COL_DSO)
            f->out->failed |=
                !(f->names[f->order[i]] = sp_short_names(f->t, f->order[i], rows, &f->out->arena));
    }
}

static enum sp_table_cut cells_cut(const struct filling *f, size_t column, bool right)
{
    const struct sp_answer_column *c = &f->t->columns.v[column];
    return c->flags & SP_COL_SPARE             ? SP_CUT_OUT
           : cell_is_list(f, column)           ? SP_CUT_ITEMS
           : c->flags & SP_COL_FLEXIBLE        ? SP_CUT_FIRST
           : right || c->type == SP_COL_HANDLE ? SP_CUT_NEVER
                                               : SP_CUT_LAST;
}

/* The handles of the names in a column, which stand next to it; SIZE_MAX: there are none, or they are shown.
 */
static size_t cells_handle(const struct filling *f, size_t column)
{
    size_t found = SIZE_MAX, near = SIZE_MAX;
    for (size_t c = 0; c < f->t->columns.n; c++) {
        size_t far = c < column ? column - c : c - column;
        if (f->t->columns.v[c].type == SP_COL_HANDLE && !f->t->absent.v[c] && far < near) {
            found = c;
            near = far;
        }
    }
    return found != SIZE_MAX && cells_shown(f->g, f->t, found) ? SIZE_MAX : found;
}

/* The first column of names whose handles are not shown, by its place in the text; SIZE_MAX: there is none.
 */
static size_t cells_unhandled(const struct filling *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->t->columns.v[f->order[i]].type == SP_COL_NAME && cells_handle(f, f->order[i]) != SIZE_MAX)
            return i;
    return SIZE_MAX;
}

/* Rows with what tells apart those that would look alike. */
static void fill_rows(struct filling *f, size_t rows)
{
    size_t first = f->t->json_rows, at = cells_unhandled(f);
    size_t handle = at == SIZE_MAX ? SIZE_MAX : cells_handle(f, f->order[at]);
    uint64_t *hashes = handle == SIZE_MAX ? NULL : calloc(rows + 1, sizeof *hashes);
    f->out->failed |= handle != SIZE_MAX && !hashes;
    for (size_t r = first; r < rows && !f->out->failed; r++) {
        for (size_t i = 0; i < f->n; i++)
            fill_cell(f, r, f->order[i]);
        const struct sp_cell *cell = hashes ? sp_cell_at(f->t, r, handle) : NULL;
        if (cell && cell->kind == SP_VALUE_TEXT)
            hashes[r - first] = XXH3_64bits(cell->text, cell->n);
    }
    if (hashes && !f->out->failed)
        f->out->failed |= !sp_tell_by_handle(f->t, handle, hashes, f->out, at, first);
    free(hashes);
}

static void fill(struct filling *f, struct sp_table_column *titles)
{
    size_t rows = sp_drawn_rows(f->g, f->t);
    for (size_t i = 0; i < f->n; i++) {
        const struct sp_answer_column *c = &f->t->columns.v[f->order[i]];
        bool right = c->flags & SP_COL_RIGHT || (is_number(c->type) && !(c->flags & SP_COL_LEFT));
        titles[i] = (struct sp_table_column){c->title, right, cells_cut(f, f->order[i], right)};
    }
    sp_table_init(f->out, titles, f->n);
    fill_names(f, rows);
    fill_rows(f, rows);
}

spaa_status sp_draw_table(const struct sp_drawing *g, const struct sp_answer_table *t, struct sp_table *out,
                          struct sp_table_column **titles)
{
    struct filling f = {.g = g, .t = t, .out = out};
    f.order = calloc(t->columns.n + 1, sizeof *f.order);
    f.names = calloc(t->columns.n + 1, sizeof *f.names);
    *titles = calloc(t->columns.n + 1, sizeof **titles);
    sp_buf_init(&f.b, 0);
    bool ok = f.order && f.names && *titles;
    f.n = ok ? sp_shown_columns(g, t, f.order) : 0;
    if (f.n)
        fill(&f, *titles);
    else
        sp_table_init(out, NULL, 0);
    sp_buf_free(&f.b);
    free(f.order);
    free((void *)f.names);
    return ok && !out->failed ? SPAA_OK : SPAA_ERR_NOMEM;
}

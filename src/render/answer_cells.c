/* Which rows and columns of an answer's tables are shown, and the text of each cell for people. */
#include "render/answer_private.h"

#include "answer/words.h"
#include "base/num.h"

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
    bool by_budget = t->maker ? g->rows != SIZE_MAX : sp_drawn_rows(g, t) < sp_whole_rows(t);
    sp_buf_printf(b, "; %s",
                  by_budget && g->opts->more ? g->opts->more
                  : t->decl->more            ? t->decl->more
                                             : "-n 0 shows all");
    return true;
}

/* ---- columns ---- */

bool sp_column_is_number(enum sp_column_type type)
{
    return type == SP_COL_WEIGHT || type == SP_COL_PERCENT || type == SP_COL_COUNT || type == SP_COL_TIME ||
           type == SP_COL_NUMBER;
}

bool sp_column_shown(const struct sp_drawing *g, const struct sp_answer_table *t, size_t c)
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
    return !suffix && sp_column_shown(g, t, c);
}

/* As declared, but those that only this answer has stand before the first name. */
size_t sp_shown_columns(const struct sp_drawing *g, const struct sp_answer_table *t, size_t *order)
{
    size_t n = 0, declared = t->decl->ncolumns, at = 0;
    bool told = !t->of || (t->of->paragraph && g->opts->form == SP_FORM_TEXT);
    if (!told || (t->quiet && g->opts->form != SP_FORM_CSV))
        return 0;
    while (at < declared && sp_column_is_number(t->columns.v[at].type))
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

void sp_cell_text(struct sp_buf *b, enum sp_column_type type, const struct sp_cell *cell,
                  const struct sp_measure *m)
{
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

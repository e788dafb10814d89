/*
 * Tables of text: aligned for a terminal or a pipe, as CSV, or as Markdown.
 *
 * Cells are copied; they may hold any bytes and are shown in the safe form of answer/text.h. Where `width`
 * says so, columns are cut or left out as they say themselves (table_fit.c): cells that differ still do.
 */
#ifndef SP_TABLE_H
#define SP_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "io/output.h"

enum sp_table_form { SP_TABLE_TEXT, SP_TABLE_CSV, SP_TABLE_MARKDOWN };

/* What may be done to a column so that a table fits its width. */
enum sp_table_cut {
    SP_CUT_NEVER,
    SP_CUT_FIRST,  /* its cells are cut */
    SP_CUT_ITEMS,  /* likewise; they are lists (sp_table_item), of which whole items are left out */
    SP_CUT_LAST,   /* they are where that was not enough */
    SP_CUT_NARROW, /* it is left out, but for the first of them, where even short names have no room */
    SP_CUT_OUT,    /* it is left out rather than that names get hard to read */
    SP_CUT_ASKED, /* its title is cut; it is left out where all that has no room without the others, either */
};

struct sp_table_column {
    const char *title;
    bool right; /* numbers */
    enum sp_table_cut cut;
};

enum { SP_TABLE_ITEM = '\x1f' }; /* between items of a list; no safe text has it */
#define SP_TABLE_LEFT_OUT SIZE_MAX

struct sp_table_cell {
    const char *p;
    uint32_t n, tail; /* bytes; the last `tail` are never cut */
};

struct sp_table {
    const struct sp_table_column *columns; /* lent */
    size_t ncolumns;
    SP_VEC(struct sp_table_cell) cells; /* row by row */
    struct sp_arena arena;
    SP_VEC(const char *) handles; /* by row: of what its cell in column `named` names; lent; NULL: none */
    size_t named;
    struct sp_buf b;
    size_t *whole;  /* of columns: what the title and the widest of their cells take; NULL: not measured */
    size_t *filled; /* likewise: the cells alone */
    size_t *widths; /* what they get of it (sp_table_fit); SP_TABLE_LEFT_OUT: it is not shown */
    bool fits;      /* all rows do, as they are (sp_table_fits) */
    bool goes_on;   /* more rows of a table whose titles are written */
    bool failed;
};

void sp_table_init(struct sp_table *t, const struct sp_table_column *columns, size_t n);
void sp_table_free(struct sp_table *t);
void sp_table_clear(struct sp_table *t); /* forgets its rows */
/* After sp_table_write as CSV or Markdown, or of a table that fits: empties it for the rows that follow. */
void sp_table_next(struct sp_table *t);
void sp_table_cell(struct sp_table *t, const char *p, size_t n);
/* More of the last cell, which is never cut. */
void sp_table_tail(struct sp_table *t, const char *p, size_t n);
/* The same of a cell that is there already; false: memory is exhausted. */
bool sp_table_more(struct sp_table *t, size_t row, size_t column, const char *tail);
/*
 * What this column of the next row names is the function of this handle, which is lent; NULL: none. It stands
 * behind names that cannot be cut so that they differ. Of one column, for each row, or for none.
 */
void sp_table_handle(struct sp_table *t, size_t column, const char *handle);
/* Of a cell; NULL: it has none. */
static inline const char *sp_table_handle_of(const struct sp_table *t, size_t row, size_t column)
{
    return column == t->named && row < t->handles.n ? t->handles.v[row] : NULL;
}
/* More of the last cell: another item of a list, of which people see as many as there is room for. */
void sp_table_item(struct sp_table *t, const char *p, size_t n);
void sp_table_printf(struct sp_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* width: columns of the terminal, 0: as wide as it needs. SPAA_ERR_NOMEM when a cell was lost. */
spaa_status sp_table_write(struct sp_table *t, enum sp_table_form form, unsigned width,
                           struct sp_output *out);
/* Safe text as a cell of CSV: quoted where it has to be, and where a spreadsheet would take it as a formula.
 */
void sp_csv_cell(struct sp_buf *out, const char *p, size_t n);
/*
 * For text: sets widths, and cuts cells so that with two columns between them no row is wider than `width`;
 * 0: any. False: memory is exhausted.
 */
bool sp_table_fit(struct sp_table *t, size_t width);
/*
 * For text of many rows, which are written some at a time: first all of them are measured, some at a time,
 * and forgotten (sp_table_clear). False: memory is exhausted.
 */
bool sp_table_measure(struct sp_table *t);
/* Sets widths, of what was measured (table_widths.c). False: memory is exhausted. */
bool sp_table_widths(struct sp_table *t, size_t width);
/*
 * Then widths are set. True: nothing has to be cut; sp_table_write takes rows as they come. False: all rows
 * have to be there, or memory is exhausted (t->failed).
 */
bool sp_table_fits(struct sp_table *t, size_t width);
/* Titles of the columns that a text had no room for, with commas between them; how many. */
size_t sp_table_left_out(const struct sp_table *t, struct sp_buf *b);
/* Safe text (answer/text.h) as Markdown that shows it as it stands. */
void sp_markdown_text(struct sp_output *out, const char *p, size_t n);

#endif

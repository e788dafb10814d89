/*
 * Tables of text: aligned for a terminal or a pipe, as CSV, or as Markdown.
 *
 * Cells are copied; they may hold any bytes and are shown in the safe form of render/text.h. Only the
 * column named flexible is ever cut, in the middle, and only where `width` says so.
 */
#ifndef SP_TABLE_H
#define SP_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "io/output.h"

enum sp_table_form { SP_TABLE_TEXT, SP_TABLE_CSV, SP_TABLE_MARKDOWN };

struct sp_table_column {
    const char *title;
    bool right;    /* numbers */
    bool flexible; /* may be cut to fit the width */
};

struct sp_table_cell {
    const char *p;
    size_t n;
};

struct sp_table {
    const struct sp_table_column *columns; /* lent */
    size_t ncolumns;
    SP_VEC(struct sp_table_cell) cells; /* row by row */
    struct sp_arena arena;
    bool goes_on; /* as CSV or Markdown: more rows of a table whose titles are written */
    bool failed;
};

void sp_table_init(struct sp_table *t, const struct sp_table_column *columns, size_t n);
void sp_table_free(struct sp_table *t);
/* After sp_table_write as CSV or Markdown: empties it for the rows that follow. */
void sp_table_next(struct sp_table *t);
void sp_table_cell(struct sp_table *t, const char *p, size_t n);
void sp_table_printf(struct sp_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* width: columns of the terminal, 0: as wide as it needs. SPAA_ERR_NOMEM when a cell was lost. */
spaa_status sp_table_write(struct sp_table *t, enum sp_table_form form, unsigned width,
                           struct sp_output *out);
/* Safe text as a cell of CSV: quoted where it has to be, and where a spreadsheet would take it as a formula.
 */
void sp_csv_cell(struct sp_buf *out, const char *p, size_t n);
/* Safe text (render/text.h) as Markdown that shows it as it stands. */
void sp_markdown_text(struct sp_output *out, const char *p, size_t n);

#endif

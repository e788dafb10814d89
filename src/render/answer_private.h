/* What the forms of answers share: which rows and columns are shown, and the text of a cell. */
#ifndef SP_ANSWER_PRIVATE_H
#define SP_ANSWER_PRIVATE_H

#include "base/buf.h"
#include "render/answer_render.h"
#include "render/table.h"

struct sp_drawing {
    const struct sp_answer *answer;
    const struct sp_render_opts *opts;
    size_t rows; /* of tables that may be cut */
    struct sp_output *out;
};

enum { SP_KEPT_TABLES = 16 }; /* ranks are at most so high */
const struct sp_answer_table *sp_kept_table(const struct sp_answer *a,
                                            unsigned rank); /* NULL: there is none */
size_t sp_whole_rows(const struct sp_answer_table *t);      /* without a budget */
size_t sp_drawn_rows(const struct sp_drawing *g, const struct sp_answer_table *t);
/* Rows that are not shown, and their sum in the column that says so; *column SIZE_MAX: none does. */
size_t sp_omitted_rows(const struct sp_drawing *g, const struct sp_answer_table *t, size_t *column,
                       int64_t *sum);

/* Numbers of the columns that are shown but in JSON, in their order; how many. order has room for all. */
size_t sp_shown_columns(const struct sp_drawing *g, const struct sp_answer_table *t, size_t *order);
/*
 * The table for text or Markdown, filled: columns, titles and cells. *titles holds the columns; free
 * both (sp_table_free, free). No columns: nobody is shown it.
 */
spaa_status sp_draw_table(const struct sp_drawing *g, const struct sp_answer_table *t, struct sp_table *out,
                          struct sp_table_column **titles);

/* Short names of the rows that are shown, in a column of names or DSOs; texts in the arena, n of them. */
struct sp_value_text *sp_short_names(const struct sp_answer_table *t, size_t column, size_t rows,
                                     struct sp_arena *arena);

/* The rows of a table as items of a list that is open. */
spaa_status sp_json_rows(const struct sp_drawing *g, struct sp_answer_table *t);

/*
 * What a form shows of the columns that rows of one key have alike (struct sp_row_maker), in `n` runs of
 * columns beside each other: put together once for each key. n 0: nothing is kept, as there are few rows.
 */
struct sp_piece {
    uint32_t at, n; /* in the text; n 0: it was not put together yet */
};
struct sp_pieces {
    const struct sp_answer_table *t;
    size_t n;
    struct sp_piece *at; /* by key and run */
    struct sp_buf text;
};
/* False: memory is exhausted. Freed either way. */
bool sp_pieces_init(struct sp_pieces *p, const struct sp_answer_table *t, size_t runs);
void sp_pieces_free(struct sp_pieces *p);
/* The cells of a row, without those of the runs where they are kept. */
const struct sp_cell *sp_pieces_row(const struct sp_pieces *p, size_t row);
/* Adds what is kept of the row's key; false: nothing is. */
bool sp_pieces_add(const struct sp_pieces *p, size_t run, size_t row, struct sp_buf *b);
/* All cells of the row, to put it together; what b has from there on is then kept. False: memory is
 * exhausted. */
const struct sp_cell *sp_pieces_cells(const struct sp_pieces *p, size_t row);
bool sp_pieces_keep(struct sp_pieces *p, size_t run, size_t row, const struct sp_buf *b, size_t from);
/*
 * Column `at` of a filled table has names, column `handle` of the answer's their handles, which are not
 * shown: where rows look alike and handles differ, these stand behind the names. first: the answer's row that
 * is the table's first. hashes: of the handles, per row of the table. False: memory is exhausted.
 */
bool sp_tell_by_handle(const struct sp_answer_table *t, size_t handle, const uint64_t *hashes,
                       struct sp_table *out, size_t at, size_t first);

spaa_status sp_draw_text(const struct sp_drawing *g);
spaa_status sp_draw_csv(const struct sp_drawing *g);
spaa_status sp_draw_json(const struct sp_drawing *g);
/* "5 more rows with 3.20% of self weight; -n 0 shows all"; false: all are shown. */
bool sp_more_line(const struct sp_drawing *g, const struct sp_answer_table *t, struct sp_buf *b);

#endif

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

/*
 * The table for text, Markdown or CSV, filled: columns, titles and cells. *titles holds the columns; free
 * both (sp_table_free, free). No columns: nobody is shown it.
 */
spaa_status sp_draw_table(const struct sp_drawing *g, const struct sp_answer_table *t, struct sp_table *out,
                          struct sp_table_column **titles);

/* Short names of the rows that are shown, in a column of names or DSOs; texts in the arena, n of them. */
struct sp_value_text *sp_short_names(const struct sp_answer_table *t, size_t column, size_t rows,
                                     struct sp_arena *arena);

spaa_status sp_draw_text(const struct sp_drawing *g);
spaa_status sp_draw_csv(const struct sp_drawing *g);
spaa_status sp_draw_json(const struct sp_drawing *g);
/* "5 more rows with 3.20% of self weight; -n 0 shows all"; false: all are shown. */
bool sp_more_line(const struct sp_drawing *g, const struct sp_answer_table *t, struct sp_buf *b);

#endif

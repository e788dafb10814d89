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
bool sp_column_shown(const struct sp_drawing *g, const struct sp_answer_table *t, size_t column);
bool sp_column_is_number(enum sp_column_type type);
/* The text of a cell for people; of a percentage, the cell is that of its weight. */
void sp_cell_text(struct sp_buf *b, enum sp_column_type type, const struct sp_cell *cell,
                  const struct sp_measure *m);

/*
 * Rows that look alike but for their numbers: those of one key (struct sp_row_maker), a group. What names
 * need is worked out once for each. Numbers 0 … shown - 1 are of rows that people are shown.
 */
struct sp_row_groups {
    const struct sp_answer_table *t;
    size_t n, shown;
    uint32_t *of_key;        /* 1 + number of the group; NULL: each row is a group of its own */
    SP_VEC(uint32_t) row_of; /* per group: one of its rows, which people are shown if they are shown any */
};
/* Of the first `rows` rows. False: memory is exhausted. Freed either way. */
bool sp_row_groups_init(struct sp_row_groups *x, const struct sp_answer_table *t, size_t rows, bool by_key);
void sp_row_groups_free(struct sp_row_groups *x);
static inline size_t sp_row_group(const struct sp_row_groups *x, size_t row)
{
    return x->of_key ? x->of_key[x->t->maker->key(x->t->maker->arg, row)] - 1 : row;
}
static inline size_t sp_row_of_group(const struct sp_row_groups *x, size_t group)
{
    return x->of_key ? x->row_of.v[group] : group;
}

/* Short names of the groups, in a column of names or DSOs: texts in the arena, one for each. NULL: memory is
 * exhausted. */
struct sp_value_text *sp_short_names(const struct sp_row_groups *groups, size_t column,
                                     struct sp_arena *arena);

/*
 * Column `at` of a filled table has names, whose handles are not shown: says of its rows which look like one
 * of another handle. hashes: of the handles, per row of the table. False: memory is exhausted.
 */
bool sp_tell_by_handle(const struct sp_table *filled, size_t at, const uint64_t *hashes, bool *tell);

/* A table as people are shown it, in text or Markdown (answer_table.c). */
struct sp_people_column;
struct sp_people_table {
    const struct sp_drawing *g;
    const struct sp_answer_table *t;
    struct sp_table table; /* what of it is kept */
    struct sp_table_column *titles;
    struct sp_people_column *columns;
    struct sp_row_groups groups;
    struct sp_arena arena; /* of texts of groups */
    size_t rows;
    size_t at, handle; /* columns of the table and of t; names whose handles are not shown. SIZE_MAX: none */
    size_t named, named_by; /* columns of the table and of t likewise, of names that have handles at all */
    const char **handles;   /* per group, where names may be cut; NULL: they are not needed */
    bool *tell;             /* per group: the handle stands behind the name; NULL: of none */
    struct sp_buf b;
};
/* Freed either way. No columns in `table`: nobody is shown it. */
spaa_status sp_people_begin(struct sp_people_table *x, const struct sp_drawing *g,
                            const struct sp_answer_table *t);
void sp_people_free(struct sp_people_table *x);
spaa_status sp_people_keep(struct sp_people_table *x); /* all cells in `table` */
/* Where rows are made: as they are made, and again for their widths, rather than that millions are kept. */
spaa_status sp_people_write(struct sp_people_table *x, enum sp_table_form form);

/* The rows of a table as items of a list that is open. */
spaa_status sp_json_rows(const struct sp_drawing *g, struct sp_answer_table *t);

spaa_status sp_draw_text(const struct sp_drawing *g);
spaa_status sp_draw_csv(const struct sp_drawing *g);
spaa_status sp_draw_json(const struct sp_drawing *g);
/* "5 more rows with 3.20% of self weight; -n 0 shows all"; false: all are shown. */
bool sp_more_line(const struct sp_drawing *g, const struct sp_answer_table *t, struct sp_buf *b);

#endif

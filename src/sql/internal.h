/*
 * What the files of this folder share: the template of a virtual table, the query, and how values are
 * given to SQLite. Functions that return int return codes of SQLite.
 *
 * To add a table: a file with `const struct sql_table sql_NAME`, its line in tables.def and in meson.build.
 *   1. Name the columns. Column 0 is `id`, the row's number from 0, and SQLite's rowid.
 *   2. `rows` says how many there are; `value` gives one value. Rows are not made: they are numbers.
 *   3. Mark the columns that lead to rows quickly, for joins: SQL_SLICE where the rows of one value stand
 *      together (`slice` says where), SQL_KEY elsewhere (`key` gives the value of a row; index.c does the
 *      rest), SQL_ASCENDING where rows stand in order of it.
 */
#ifndef SP_SQL_INTERNAL_H
#define SP_SQL_INTERNAL_H

#include "analysis/fold.h"
#include "analysis/function_handle.h"
#include "analysis/tree.h"
#include "ask/question.h"
#include "model/facts.h"
#include "model/intervals.h"
#include "sql/sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

enum sql_column_flag {
    SQL_KEY = 1,
    SQL_SLICE = 2,
    SQL_ASCENDING = 4,
    SQL_PARAM = 8,     /* hidden: equality sets it, before there are rows */
    SQL_SELECTED = 16, /* the selection decides its values */
    SQL_OLD = 32,      /* hidden: what another column was called before */
};

enum sql_type { SQL_INTEGER, SQL_TEXT, SQL_NUMERIC /* INTEGER or REAL */ };

struct sql_column {
    const char *name;
    enum sql_type type;
    unsigned flags;  /* enum sql_column_flag */
    uint32_t expect; /* SQL_KEY, SQL_SLICE: rows of one value, for the planner; SQL_OLD: the other column */
    const char *about;
};

struct sql_at;
struct sql_table {
    const char *name, *about;
    const struct sql_column *columns; /* name NULL ends */
    double expect;                    /* rows, for the planner: plans are made before the input is read */
    unsigned flags;                   /* SQL_SELECTED: all that it says is of the selection */
    int (*rows)(struct sql_at *at, uint64_t *n);
    int (*value)(struct sql_at *at, int column, sqlite3_context *out);
    /* The rows [*first, *end) with this value. */
    int (*slice)(struct sql_at *at, int column, int64_t value, uint64_t *first, uint64_t *end);
    /* The value of a row; SP_ABSENT for NULL; of a text, its number among the profile's strings. */
    int64_t (*key)(struct sql_at *at, int column);
    /* Fetches what `value` will look at into the caches; may be NULL. */
    void (*prefetch)(const struct sql_at *at, uint64_t row);
};

/* Of functions or frames (analysis/fold.h): made apart, because self is made from the leaves alone. NULL: not
 * made yet. */
struct sql_weights {
    struct sp_fold_sum *self, *total;
    unsigned *tags; /* of functions, with total: enum sp_top_tag; SQL_OUTSIDE: not in the selection */
};
#define SQL_OUTSIDE 0x80000000u
/* An event, a metric and the filters: what weights are of. */
struct sql_view {
    uint32_t event, metric; /* as asked for; SP_NONE: the default */
    bool all;               /* without filters, all states: for the table of events */
    struct sp_selection s;
    struct sql_weights functions, frames;
    bool whole;              /* row i of the selection is stack i, for all stacks: there is no `row` then */
    uint32_t *row;           /* stack -> 1 + row that counts for it; 0: none */
    struct sp_tree trees[2]; /* top-down, inverted; no nodes: not made yet */
};

/* Where a cursor stands. */
struct sql_at {
    struct sp_sql *q;
    const struct sql_table *table;
    uint64_t row;
    uint32_t hint;          /* of sql_run_of */
    uint32_t event, metric; /* parameters; SP_NONE: not given */
    bool inverted;
    struct sql_view *view; /* NULL: not asked for yet */
};

/* Runs of rows that stand one after another: start[i] is the first row of run i, start[n] the end. */
struct sql_runs {
    uint64_t *start;
    uint32_t n;
};

struct sql_index; /* index.c */

struct sql_label {
    uint32_t stack, sample; /* sample SP_NONE: of the stack */
    uint32_t label;         /* number in labels of the profile */
};

struct sp_sql {
    struct sp_diags *diags;
    sqlite3 *db;
    sqlite3_stmt *stmt;
    char *text; /* of the query */
    size_t text_n;
    int64_t memory, memory_before;
    /* guard.c */
    bool guarded;
    uint64_t used; /* bit per table */
    uint64_t asks; /* bit per question */
    bool used_selected;
    const struct sql_column *old[8]; /* columns that were named as they used to be, each said once */
    char denied[128];
    unsigned timeout;
    struct timespec deadline;
    bool late;
    bool reported;      /* what went wrong is in the diagnostics already */
    spaa_status status; /* then */
    uint64_t bound;     /* bit per parameter */

    struct sp_profile *profile;
    const struct sp_options *options; /* of the query; NULL: none */
    struct sp_select_opts filters;
    SP_VEC(struct sql_view *) views;
    SP_VEC(struct sql_index *) indexes;
    struct sp_handles handles;
    struct sp_pools pools; /* of all threads, whatever is selected */
    struct sql_runs frame_runs, weight_runs, window_runs,
        image_runs;      /* per stack; per row of a window; per process */
    bool frames_apart;   /* stacks do not stand one after another in the stack_frames of the profile */
    uint32_t *window_of; /* row of a window -> window */
    struct sp_sample *samples;
    size_t nsamples;
    SP_VEC(struct sql_label) labels; /* rows of that table */
    bool have_labels;
    struct sp_intervals intervals;
    bool have_intervals;
    bool have_handles, have_samples, have_pools;
};

#define SPAA_TABLE(name) extern const struct sql_table sql_##name;
#include "sql/tables.def"
#undef SPAA_TABLE
extern const struct sql_table *const sql_tables[]; /* NULL ends */

/* table.c */
int sql_tables_create(struct sp_sql *q);
const char *sql_type_name(enum sql_type t);
/* The table's number by name; -1: none. */
int sql_table_find(const char *name);

/* questions.c */
int sql_questions_create(struct sp_sql *q);
int sql_question_find(const char *name); /* "ask_top": its number; -1: none */
/* Entry *i of the tables of questions and their columns; false: *i is less by how many there are. */
bool sql_question_about(size_t *i, struct sp_sql_about *out);

/* guard.c */
int sql_guard(struct sp_sql *q);

/* errors.c: reports what SQLite says of the query and returns the status that fits. */
spaa_status sql_failed(struct sp_sql *q, int rc);

/* regexp.c: text REGEXP pattern */
int sql_regexp_create(struct sp_sql *q);

/* view.c */
int sql_view_of(struct sql_at *at); /* sets at->view */
int sql_view_get(struct sp_sql *q, uint32_t event, uint32_t metric, bool all, struct sql_view **out);
/* Functions (frames: false) or frames. */
int sql_view_self(struct sql_view *v, struct sp_sql *q, bool frames);
int sql_view_total(struct sql_view *v, struct sp_sql *q, bool frames);
/* The selection's row that counts for a stack, in *out; NULL: none. */
int sql_view_row(struct sql_view *v, struct sp_sql *q, uint64_t stack, const struct sp_selected **out);
int sql_view_tree(struct sql_view *v, struct sp_sql *q, bool inverted);
void sql_views_free(struct sp_sql *q);
int sql_status(struct sp_sql *q, spaa_status st); /* of a failure that was reported */

/* index.c: the rows of at's table whose key is this; lent until the query is closed. */
int sql_index_rows(struct sql_at *at, int column, int64_t key, const uint32_t **rows, uint64_t *n);
/* All rows in ascending order of the column, NULL first. */
int sql_index_order(struct sql_at *at, int column, const uint32_t **rows);
void sql_indexes_free(struct sp_sql *q);
int sql_runs_make(struct sql_runs *r, const struct sp_profile *p, uint32_t n,
                  uint32_t (*length)(const struct sp_profile *p, uint32_t i));
/* The run that holds at->row; *in: the row's place in it. */
uint32_t sql_run_of(struct sql_at *at, const struct sql_runs *r, uint64_t *in);

/* value.c: values as SQLite takes them */
void sql_str(sqlite3_context *out, const struct sp_profile *p, uint32_t s); /* SP_STR_NONE: NULL */
void sql_text(sqlite3_context *out, const char *s);                         /* a literal, or NULL */
void sql_copy(sqlite3_context *out, const char *p, size_t n);               /* copied */
void sql_i64(sqlite3_context *out, int64_t v);                              /* SP_ABSENT: NULL */
void sql_number(sqlite3_context *out, uint32_t n);                          /* SP_NONE: NULL */
/* linkage, file, line and start (which: 0 to 3) of a function; x NULL, or not known: NULL. */
void sql_func_info(sqlite3_context *out, const struct sp_profile *p, const struct sp_func_info *x, int which);
void sql_hex(sqlite3_context *out, uint64_t v); /* "0x1f" */
void sql_scaled(sqlite3_context *out, int64_t v, unsigned scale);
void sql_decimal(sqlite3_context *out, struct sp_str text); /* a number's text; empty: NULL */
void sql_number_text(sqlite3_context *out, const struct sp_profile *p, uint32_t s);
void sql_members(sqlite3_context *out, const struct sp_profile *p, uint32_t more); /* "{…}"; NULL: none */
/* A field; nothing: NULL. Flags are 0 and 1, addresses hex. */
void sql_fact(sqlite3_context *out, const struct sp_profile *p, const struct sp_fact *f, const void *row);
/* The pattern of a thread's pool, or NULL: by a context, or by a thread record; the other one is SP_NONE. */
int sql_pool(struct sp_sql *q, sqlite3_context *out, uint32_t context, uint32_t record);

/* Parameters that several tables have, after their last column. */
#define SQL_PARAMETERS                                                                                       \
    {"event", SQL_TEXT, SQL_PARAM | SQL_SELECTED, 0,                                                         \
     "parameter: the event; default: as `selection` has it"},                                                \
    {                                                                                                        \
        "metric", SQL_TEXT, SQL_PARAM | SQL_SELECTED, 0,                                                     \
            "parameter: the metric; default: as `selection` has it"                                          \
    }
/* A weight of the selection: NULL where its values must not be added. */
void sql_weight_value(sqlite3_context *out, const struct sql_view *v, int64_t weight);
/* The value of parameter `which` (0: event, 1: metric). */
int sql_parameter(struct sql_at *at, int which, sqlite3_context *out);

#endif

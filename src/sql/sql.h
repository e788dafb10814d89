/*
 * SQL over a profile: virtual tables of SQLite that read the profile's own tables, without a copy.
 *
 *     sp_sql_open(d, memory, &q);
 *     sp_sql_prepare(q, text, n);           finds mistakes before any input is read
 *     if (sp_sql_uses(q, "samples")) …      read the input with its samples then
 *     sp_sql_bind(q, "name", "value");
 *     sp_sql_profile(q, profile, filters);
 *     while (!(st = sp_sql_step(q, &row)) && row)
 *         sp_sql_value(q, column)
 *     sp_sql_close(q);
 *
 * One statement, which reads: nothing can be written, attached or loaded, and no file is opened (guard.c).
 * What is not ready-made in the profile (selection, call tree, ids, indexes) is made when a query first
 * touches it. tables.def lists the tables; each has a file of its own over the template of table.c.
 *
 * Not thread-safe. The profile must outlive the query, and gets ids where it has none.
 */
#ifndef SP_SQL_H
#define SP_SQL_H

#include "analysis/select.h"
#include "ask/options.h"

struct sp_sql;

/*
 * memory: bytes that SQLite may use, in the whole process; 0: no limit. The limit of before comes back
 * with sp_sql_close.
 */
spaa_status sp_sql_open(struct sp_diags *d, int64_t memory, struct sp_sql **out);
void sp_sql_close(struct sp_sql *q); /* NULL is fine */

/* SPAA_ERR_USAGE, reported with line, offset and the nearest names, when the text is no single query. */
spaa_status sp_sql_prepare(struct sp_sql *q, const char *text, size_t n);
/* Whether the query reads this table; NULL: whether the selection decides what it says. */
bool sp_sql_uses(const struct sp_sql *q, const char *table);

/*
 * Sets the parameter :name (@name, $name, ?1) by text as SQL has it: an integer, a decimal number, 'text',
 * NULL; anything else is text as it stands. SPAA_ERR_USAGE when the query has no such parameter.
 */
spaa_status sp_sql_bind(struct sp_sql *q, const char *name, const char *value);
/* SPAA_ERR_USAGE when a parameter has no value. */
spaa_status sp_sql_bound(struct sp_sql *q);

/* The options of the query, which its questions (sql/questions.c) are asked with, too: lent. */
void sp_sql_options(struct sp_sql *q, const struct sp_options *o);
/* What its questions need of the inputs. Bad options are reported. */
struct sp_needs;
spaa_status sp_sql_needs(const struct sp_sql *q, const struct sp_options *o, struct sp_needs *out);

/* The selection is made here when the query uses it; errors are those of sp_select. */
spaa_status sp_sql_profile(struct sp_sql *q, struct sp_profile *p, const struct sp_select_opts *filters);
/* NULL: the query does not use it, or there is no profile yet. */
const struct sp_selection *sp_sql_selection(const struct sp_sql *q);

/* Seconds from now until when the last row must be there; 0: any. */
void sp_sql_timeout(struct sp_sql *q, unsigned seconds);
/* The next row; *row false: there is none. Failures are reported; then only sp_sql_close may follow. */
spaa_status sp_sql_step(struct sp_sql *q, bool *row);
/* The last step failed for want of time. */
bool sp_sql_late(const struct sp_sql *q);

int sp_sql_columns(const struct sp_sql *q);
const char *sp_sql_column(const struct sp_sql *q, int column); /* its name */

enum sp_sql_kind { SP_SQL_NULL, SP_SQL_INTEGER, SP_SQL_REAL, SP_SQL_TEXT, SP_SQL_BLOB };
struct sp_sql_value {
    enum sp_sql_kind kind;
    int64_t integer;
    double real;
    const char *p; /* text and blobs; lent until the next step */
    size_t n;
};
struct sp_sql_value sp_sql_value(struct sp_sql *q, int column);

/* The tables by name in alphabetical order: for `.tables` and `.schema`. */
struct sp_sql_about {
    const char *table, *about;
    const char *column, *type; /* of a column: else NULL; type "TEXT", "INTEGER", "NUMERIC" */
    bool parameter;            /* a column that is not in `*`: equality, or an argument, sets it */
    char names[2][64];         /* where table and column of a question stand: lent until the next call */
};
/* Number i over all tables and columns: a table, then its columns; false behind the last. */
bool sp_sql_about(size_t i, struct sp_sql_about *out);

#endif

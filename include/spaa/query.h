/*
 * SQL over a profile: `spaa query`, whose tables and functions are in docs/query.md.
 *
 *     struct spaa_query_options o = {.size = sizeof o, .sql = "select name, self from functions limit 3"};
 *     struct spaa_result *result = NULL;
 *     struct spaa_result_column names = {.size = sizeof names};
 *     if (spaa_query(profile, &o, &result, NULL) == SPAA_OK && spaa_result_column_get(result, 0, &names) ==
 * SPAA_OK) for (size_t i = 0; i < names.rows; i++)
 *             ... names.texts[i] ...
 *     spaa_result_free(result);
 *
 * A query reads: nothing can be written, attached or loaded, and no file is opened. It needs its profile
 * alone; different profiles may be asked at the same time.
 */
#ifndef SPAA_QUERY_H
#define SPAA_QUERY_H

#include <spaa/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The value of :NAME, as SQL has it: a number, 'text', NULL; anything else is text as it stands. */
struct spaa_query_param {
    const char *name, *value;
};

struct spaa_query_options {
    size_t size;
    const char *sql; /* one statement; needed */
    const struct spaa_query_param *params;
    size_t param_count;
    uint64_t limit;                 /* at most so many rows; 0: any */
    unsigned timeout_s;             /* seconds; 0: any */
    uint64_t memory;                /* bytes that SQLite may use, in the whole process; 0: any */
    const char *event, *metric;     /* what weights of tables are of, as in asking; NULL: the default */
    const struct spaa_watch *watch; /* hears "asking", in rows; may leave. NULL: nobody */
};

struct spaa_result;

/*
 * All rows, up to the limit. On SPAA_OK *result is the caller's, to be given to spaa_result_free; it holds
 * copies, and may outlive the profile. Raw samples are there if they were read (spaa_open_options.samples).
 *
 * SPAA_ERR_USAGE: no single statement that reads, with what is wrong and where; a parameter without a value
 * or a value without a parameter. SPAA_ERR_LIMIT: the timeout or the memory did not suffice.
 */
SPAA_API spaa_status spaa_query(struct spaa_profile *profile, const struct spaa_query_options *options,
                                struct spaa_result **result, struct spaa_diagnostics **diagnostics);

/* Which kind of value a cell is: any cell of a column may be of any. */
enum spaa_value_kind {
    SPAA_VALUE_NULL,
    SPAA_VALUE_INTEGER,
    SPAA_VALUE_REAL,
    SPAA_VALUE_TEXT,
    SPAA_VALUE_BLOB
};

/* A column, whole: each array has `rows` members. They live until spaa_result_free. */
struct spaa_result_column {
    size_t size;
    const char *name;
    size_t rows;
    const unsigned char *kinds; /* enum spaa_value_kind */
    const int64_t *integers;    /* SPAA_ABSENT where it is no integer */
    const double *reals;        /* of integers and reals; else not a number */
    const char *const *texts;   /* of texts and blobs, with a NUL behind; else NULL */
    const size_t *text_sizes;   /* in bytes, without the NUL */
};

/* These only read. SPAA_ERR_NOT_FOUND: there is no column i. SPAA_ERR_USAGE: a NULL, or no size. */
SPAA_API size_t spaa_result_rows(const struct spaa_result *result);    /* 0 for NULL */
SPAA_API size_t spaa_result_columns(const struct spaa_result *result); /* 0 for NULL */
SPAA_API int spaa_result_more(const struct spaa_result *result); /* 1: there are rows beyond the limit */
SPAA_API spaa_status spaa_result_column_get(const struct spaa_result *result, size_t i,
                                            struct spaa_result_column *out);
SPAA_API void spaa_result_free(struct spaa_result *result); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif

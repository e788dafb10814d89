/*
 * Asking: every question of the command line (`spaa top`, `spaa tree`, ...) by its name and options, and its
 * answer as JSON, as text, or as columns.
 *
 *     struct spaa_ask_option by = {"by", "comm,function"};
 *     struct spaa_ask_options o = {.size = sizeof o, .question = "top", .options = &by, .option_count = 1};
 *     struct spaa_answer *answer = NULL;
 *     if (spaa_ask(&profile, 1, &o, &answer, NULL) == SPAA_OK) {
 *         struct spaa_column self = {.size = sizeof self};
 *         size_t rows = spaa_answer_find_table(answer, "rows");
 *         spaa_answer_column(answer, rows, spaa_answer_find_column(answer, rows, "self"), &self, NULL);
 *         for (size_t i = 0; i < self.rows; i++)
 *             ... self.integers[i] ...
 *     }
 *     spaa_answer_free(answer);
 *
 * Names of facts, tables and columns are those of JSON (docs/json.md, or spaa_answer_fact and so on).
 *
 * Threads: asking needs its profiles alone (spaa/profile.h has which calls do), and so does an answer while
 * it is looked at, since its rows may be made of them then. Different profiles may be asked by different
 * threads at the same time.
 */
#ifndef SPAA_ASK_H
#define SPAA_ASK_H

#include <spaa/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what can be asked; these functions only read; strings are static ---- */

struct spaa_question {
    size_t size;
    const char *name;   /* "top" */
    const char *title;  /* what it answers, in words */
    const char *args;   /* inputs and argument as the command line has them: "FILE FUNCTION" */
    const char *schema; /* of its JSON: "spaa.top/3" */
    int takes_argument; /* it needs spaa_ask_options.argument */
};

struct spaa_question_option {
    size_t size;
    const char *name;  /* without dashes: "by" */
    const char *value; /* what it takes, in words ("KIND..."); NULL: it is a flag */
    const char *help;  /* one line */
};

SPAA_API size_t spaa_question_count(void);
/* SPAA_ERR_NOT_FOUND: there is no question i. SPAA_ERR_USAGE: out is NULL or has no size. */
SPAA_API spaa_status spaa_question_get(size_t i, struct spaa_question *out);
/* Option k of question i, likewise. */
SPAA_API spaa_status spaa_question_option_get(size_t i, size_t k, struct spaa_question_option *out);

/* ---- asking ---- */

struct spaa_ask_option {
    const char *name;  /* without dashes */
    const char *value; /* NULL (or "") for a flag only */
};

struct spaa_ask_options {
    size_t size;
    const char *question; /* "top" */
    const char *argument; /* of questions that need one: the FUNCTION of "function"; else NULL */
    const struct spaa_ask_option *options; /* as on the command line: of those that are given twice the last
                                              counts, or each where it says so */
    size_t option_count;
    size_t split; /* of questions about two sides: how many of the profiles are the base; else 0 */
    /*
     * What it is asked for, as spaa_render_options.form: "text" and "markdown" are for people, whose words a
     * program has as facts and tables, "csv" is for a sheet with all columns. NULL: "json", all there is. Any
     * answer can be rendered in any form; in this one it is what the command line shows.
     */
    const char *form;
    const struct spaa_watch *watch; /* hears "asking", without a number, "reading" (samples), and "merging",
                                       in profiles; may leave. NULL: nobody */
};

struct spaa_answer;

/*
 * Asks one profile, or several as one (each a source), or, of questions about two sides, those. On SPAA_OK
 * *answer is the caller's, to be given to spaa_answer_free before any of the profiles is freed; otherwise it
 * is untouched. Filters count for this answer only.
 *
 * What a question needs has to be read: raw samples (spaa_open_options.samples) for what is about time, and
 * keys to tell stacks apart (spaa_open_options.group_by) for rows and filters by cpu. A SPAA file that holds
 * samples is told apart by what they know when it is asked for, which changes the profile: numbers of its
 * stacks are others then, and it can no longer be written (SPAA_ERR_UNSUPPORTED): open it again for that.
 *
 * tagroot and tagleaf are asked of a copy.
 *
 * SPAA_ERR_USAGE: no such question, option or value; an argument that is missing or not taken; samples that
 * were not read. SPAA_ERR_NOT_FOUND: a filter or the argument matches nothing.
 */
SPAA_API spaa_status spaa_ask(struct spaa_profile *const *profiles, size_t count,
                              const struct spaa_ask_options *options, struct spaa_answer **answer,
                              struct spaa_diagnostics **diagnostics);

SPAA_API void spaa_answer_free(struct spaa_answer *answer); /* NULL is fine */

/* ---- the answer as a document ---- */

struct spaa_render_options {
    size_t size;
    const char *form; /* "json", "text", "markdown" or "csv"; NULL: "json" */
    unsigned width;   /* of text, in columns; 0: as wide as it is */
    int full_names;   /* names in text are not shortened */
    size_t budget;    /* bytes that it may take, for which rows are left out, and told; 0: any number */
    int colour;       /* text has escape sequences, as terminals take them */
    int no_notes;     /* text and Markdown say no notes and warnings beneath the answer: who asks has them as
                         diagnostics */
};

/*
 * In the form that it was asked for it is the bytes that the command line shows, without a --budget of the
 * question's own. *text ends in a NUL, which *size (may be NULL) does not count; it
 * is the caller's, to be given to spaa_free. SPAA_ERR_USAGE: no such form.
 */
SPAA_API spaa_status spaa_answer_render(struct spaa_answer *answer, const struct spaa_render_options *options,
                                        char **text, size_t *size, struct spaa_diagnostics **diagnostics);

/*
 * The same bytes to a descriptor, which stays the caller's, and open. They are written as they are made, but
 * for a budget, which takes several tries in memory; what failed in the middle has been written in part. A
 * pipe whose reader went away is SPAA_ERR_CLOSED, and raises SIGPIPE unless the program ignores it.
 * SPAA_ERR_IO: it cannot be written.
 */
SPAA_API spaa_status spaa_answer_write_fd(struct spaa_answer *answer, int fd,
                                          const struct spaa_render_options *options,
                                          struct spaa_diagnostics **diagnostics);

/* What the answer of a question that judges (`diff` with the option "fail-on") comes to. */
enum { SPAA_ANSWER_FINE = 0, SPAA_ANSWER_NO = 1, SPAA_ANSWER_UNSURE = 5 };

/*
 * One of these, which are the exit codes of the command line: no limit is exceeded, as of all questions that
 * judge nothing, and of NULL; one is; or the data cannot tell. It only reads.
 */
SPAA_API int spaa_answer_verdict(const struct spaa_answer *answer);

/*
 * ---- the answer as data ----
 *
 * Strings and arrays live until spaa_answer_free. Functions that take no diagnostics only read:
 * SPAA_ERR_NOT_FOUND (no such number) or SPAA_ERR_USAGE. Names that are looked up and are not there are
 * SPAA_NONE.
 */

/* What weights are of, and what percentages are of. */
struct spaa_measure {
    size_t size;
    const char *event, *metric;
    const char *unit; /* "ns", "bytes"; "" where the source does not say */
    unsigned scale;   /* weights are integers, to be divided by 10^scale */
    int cannot_add;   /* values of this metric must not be added: weights and percentages are absent */
    int64_t whole;    /* what percentages are of */
};

/* Measure i; 0 is that of the question, where it has one. */
SPAA_API spaa_status spaa_answer_measure(const struct spaa_answer *answer, size_t i,
                                         struct spaa_measure *out);

/* One value about all of it: "whole", "profile.event", "quality.lost". */
struct spaa_fact {
    size_t size;
    const char *name;
    const char *type; /* as that of a column */
    int is_null;
    int64_t integer;  /* weight, count, time, bool; else SPAA_ABSENT */
    double real;      /* percent, number; else not a number */
    const char *text; /* name, text; else NULL */
    size_t measure;   /* of weights and percentages; else SPAA_NONE */
};

SPAA_API size_t spaa_answer_fact_count(const struct spaa_answer *answer); /* 0 for NULL */
SPAA_API spaa_status spaa_answer_fact(const struct spaa_answer *answer, size_t i, struct spaa_fact *out);
SPAA_API size_t spaa_answer_find_fact(const struct spaa_answer *answer, const char *name);

struct spaa_table {
    size_t size;
    const char *name; /* "rows" */
    const char *doc;  /* what it holds; may be NULL */
    size_t rows, columns;
    uint64_t omitted;    /* rows beyond the option `limit`; 0: all are there */
    size_t of;           /* of details: the table whose rows they are of; SPAA_NONE */
    const size_t *owner; /* of details, per row: the row of that table, ascending; NULL */
};

SPAA_API size_t spaa_answer_table_count(const struct spaa_answer *answer); /* 0 for NULL */
SPAA_API spaa_status spaa_answer_table(const struct spaa_answer *answer, size_t i, struct spaa_table *out);
SPAA_API size_t spaa_answer_find_table(const struct spaa_answer *answer, const char *name);

/*
 * A column, whole: one of the arrays, by its type, with `rows` members.
 *
 *     weight, count, time (ns), bool     integers   SPAA_ABSENT: null
 *     percent (rounded to 0.01), number  reals      not a number: null
 *     name, dso, handle, text            texts      NULL: null
 *     texts                              texts      of row i: texts[first[i]] to texts[first[i + 1] - 1]
 */
struct spaa_column {
    size_t size;
    const char *name, *type;
    const char *title; /* heading for people; NULL: they are not shown it */
    const char *doc;   /* what it says */
    const char *of;    /* of a percentage: the column of the weight; NULL */
    size_t rows;
    const int64_t *integers;
    const double *reals;
    const char *const *texts;
    const size_t *first;    /* rows + 1 members */
    size_t measure;         /* of weights and percentages; SPAA_NONE: none, or each row has its own */
    const size_t *measures; /* then that of each row; NULL */
};

/* Column k of table i; it is made when it is first asked for. */
SPAA_API spaa_status spaa_answer_column(struct spaa_answer *answer, size_t i, size_t k,
                                        struct spaa_column *out, struct spaa_diagnostics **diagnostics);
SPAA_API size_t spaa_answer_find_column(const struct spaa_answer *answer, size_t i, const char *name);

/* Commands of the command line that would be good to ask next; NULL: there is no command i. */
SPAA_API const char *spaa_answer_next(const struct spaa_answer *answer, size_t i);

#ifdef __cplusplus
}
#endif
#endif

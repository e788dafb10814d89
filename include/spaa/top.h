/*
 * What is heaviest: the rows of `spaa top`.
 *
 *     struct spaa_top_options o = {.size = sizeof o, .by = "dso"};
 *     struct spaa_rows *rows = NULL;
 *     if (spaa_top(profile, &o, &rows, NULL) == SPAA_OK)
 *         ...
 *     spaa_rows_free(rows);
 *
 * self is the weight of the stacks whose leaf a row is, total that of the stacks that contain it, each
 * counted once however often it recurs there; totals of different rows overlap.
 *
 * Weights are exact: integers, to be divided by 10^scale (spaa_rows_whole; 0 nearly always) for a value in
 * the unit of the metric.
 */
#ifndef SPAA_TOP_H
#define SPAA_TOP_H

#include <spaa/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to ask. Zero everywhere, or NULL instead of the structure: functions, of the default event. */
struct spaa_top_options {
    size_t size;
    const char *by;     /* "function", "symbol", "line", "address", "dso", "thread", "process", "comm", "cpu",
                           "state", "event" or "source"; several by commas, "comm,dso,function": a row's name is
                           then what it is of each, with " / " between; NULL: "function" */
    const char *sort;   /* "self" or "total"; NULL: "self" */
    const char *event;  /* NULL: the one with the most samples */
    const char *metric; /* NULL: the event's primary metric */
    /* Filters; NULL and 0: none. dso, focus, ignore and hide are regular expressions (PCRE2). */
    const char *thread;  /* a tid, or a thread name as comm is */
    const char *pid;     /* in decimal */
    const char *comm;    /* thread name as it stands; else a pool as a row has it, a glob (http-*) or /RE/ */
    const char *state;   /* thread states, separated by commas */
    const char *view;    /* "cpu", "latency", "all"; NULL: "cpu" where the profile has states */
    const char *dso;     /* stacks with a frame in a matching binary */
    const char *focus;   /* stacks with a matching function */
    const char *ignore;  /* stacks without one */
    const char *hide;    /* frames to leave out of the stacks */
    const char *root_at; /* stacks start at this function */
    int user, kernel;    /* frames of this kind only */
    /* Threads of one process whose names differ in digits only, three or more, are one row of "thread" and
       "comm", `http-* (40)`; 1: each for itself. */
    int no_pool;
};

struct spaa_rows;

/*
 * On SPAA_OK *rows is the caller's, to be given to spaa_rows_free before the profile is freed; otherwise
 * it is untouched. SPAA_ERR_USAGE: no such event, metric or value of an option, or a bad regular
 * expression. SPAA_ERR_NOT_FOUND: a filter matches nothing. Any number of threads may ask one profile.
 */
SPAA_API spaa_status spaa_top(const struct spaa_profile *profile, const struct spaa_top_options *options,
                              struct spaa_rows **rows, struct spaa_diagnostics **diagnostics);

struct spaa_whole {
    size_t size;
    const char *event, *metric;
    const char *unit;    /* of the metric: "ns", "bytes"; "" where the source does not say */
    const char *view;    /* of the thread states; NULL where the profile has none */
    const char *filters; /* in words; "" where there are none */
    unsigned scale;
    int cannot_add; /* weights of this metric must not be summed: self, total and the sums below mean nothing
                     */
    int64_t event_whole; /* of the event and metric, before any filter */
    int64_t whole;       /* after event, metric, time, thread, pid, comm, state: what percentages are of */
    int64_t kept;        /* after all filters */
    int64_t samples;     /* observations in kept; SPAA_ABSENT where the source counts none */
};

struct spaa_row {
    size_t size;
    const char *name; /* of the function, line, binary, thread, ... */
    const char *dso;  /* its binary; NULL where rows are not in one */
    size_t function;  /* number in the profile; SPAA_NONE where rows are no functions */
    int64_t self, total;
    int64_t samples,
        total_samples; /* observations of self and total; SPAA_ABSENT where the source counts none */
    int resolved;      /* 0: a function without a symbol: name is an address */
};

/*
 * These only read. Strings live until spaa_rows_free. Rows are sorted, heaviest first. SPAA_ERR_NOT_FOUND:
 * there is no row i. SPAA_ERR_USAGE: out->size is no size, or a pointer is NULL.
 */
SPAA_API spaa_status spaa_rows_whole(const struct spaa_rows *rows, struct spaa_whole *out);
SPAA_API size_t spaa_rows_count(const struct spaa_rows *rows); /* 0 for NULL */
SPAA_API spaa_status spaa_rows_get(const struct spaa_rows *rows, size_t i, struct spaa_row *out);
SPAA_API void spaa_rows_free(struct spaa_rows *rows); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif

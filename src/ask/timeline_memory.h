/* Memory in timeline: how much was live when, and how fast it came and went. */
#ifndef SP_TIMELINE_MEMORY_H
#define SP_TIMELINE_MEMORY_H

#include "analysis/levels.h"
#include "ask/common.h"

/* Columns of the rows, from number `at` of the declaration on. */
enum {
    SP_LEVEL_START,
    SP_LEVEL_END,
    SP_LEVEL_MOST,
    SP_LEVEL_EXACT,
    SP_LEVEL_ALLOCATED,
    SP_LEVEL_ALLOCATED_RATE,
    SP_LEVEL_CALLS,
    SP_LEVEL_CALLS_RATE,
    SP_LEVEL_FREED,
    SP_LEVEL_FREES,
    SP_LEVEL_TEMPORARY,
    SP_LEVEL_RSS,
    SP_LEVEL_NCOLUMNS
};
#define SP_LEVEL_COLUMN(n, path, kind, heading, words)                                                       \
    [n] = {path, kind, heading, .flags = SP_COL_SOMETIMES, .doc = "of memory: " words}
#define SP_LEVEL_COLUMNS(at)                                                                                 \
    SP_LEVEL_COLUMN((at) + SP_LEVEL_START, "level_start", SP_COL_WEIGHT, NULL, "live when it begins"),       \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_END, "level_end", SP_COL_WEIGHT, "live at end",                      \
                        "live when it ends, of the metric: live_bytes or live_count"),                       \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_MOST, "level_most", SP_COL_WEIGHT, "highest",                        \
                        "the most that was live at any moment of it"),                                       \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_EXACT, "level_most_exact", SP_COL_BOOL, NULL,                        \
                        "whether that is exact; else it was at least so much"),                              \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_ALLOCATED, "allocated", SP_COL_WEIGHT, NULL, "bytes allocated"),     \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_ALLOCATED_RATE, "allocated_per_second", SP_COL_WEIGHT,               \
                        "allocated/s", "bytes allocated in a second"),                                       \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_CALLS, "calls", SP_COL_WEIGHT, NULL, "calls that allocated"),        \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_CALLS_RATE, "calls_per_second", SP_COL_WEIGHT, "calls/s",            \
                        "calls that allocated in a second"),                                                 \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_FREED, "freed", SP_COL_WEIGHT, NULL, "bytes freed"),                 \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_FREES, "frees", SP_COL_WEIGHT, NULL, "blocks freed"),                \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_TEMPORARY, "temporary", SP_COL_WEIGHT, NULL,                         \
                        "calls whose block was freed next"),                                                 \
        SP_LEVEL_COLUMN((at) + SP_LEVEL_RSS, "rss", SP_COL_WEIGHT, "RSS",                                    \
                        "resident bytes of the process, the most seen in it")

#define SP_LEVEL_FACT(path, kind, words)                                                                     \
    {                                                                                                        \
        path, kind, .flags = SP_COL_SOMETIMES, .doc = "of memory: " words                                    \
    }
#define SP_LEVEL_FACTS                                                                                       \
    SP_LEVEL_FACT("level.end", SP_COL_WEIGHT, "live at the end of the last row"),                            \
        SP_LEVEL_FACT("level.most", SP_COL_WEIGHT, "the most that was live in all rows"),                    \
        SP_LEVEL_FACT("level.most_exact", SP_COL_BOOL, "whether that is exact; else at least so much"),      \
        SP_LEVEL_FACT("level.most_from", SP_COL_NUMBER, "when: not before this (seconds)"),                  \
        SP_LEVEL_FACT("level.most_to", SP_COL_NUMBER, "and before this"),                                    \
        SP_LEVEL_FACT("level.most_at", SP_COL_NUMBER, "the moment, where the recording says it"),            \
        SP_LEVEL_FACT("level.at_peak", SP_COL_WEIGHT,                                                        \
                      "filtered: live when the whole program had most; null: not known"),                    \
        SP_LEVEL_FACT("level.rss", SP_COL_WEIGHT, "resident bytes of the process at most")

struct sp_timeline_memory {
    struct sp_asked *x;
    struct sp_levels l;
    uint32_t bytes, count; /* measures */
    bool on;               /* the question is about this */
};

/* Phases, and windows that are to be written, are made of samples. */
bool sp_timeline_of_samples(const struct sp_options *o);
bool sp_is_svg(const char *path); /* -o is a picture */
/* Before the selection: whether it is about memory over time, which then makes *how that. */
bool sp_timeline_memory_wanted(const struct sp_ask *q, struct sp_select_opts *how);
/* Of what was selected. */
spaa_status sp_timeline_memory_begin(struct sp_timeline_memory *m, struct sp_asked *x, size_t buckets,
                                     size_t hot);
/* A metric of memory that no windows know, which would be rows of nothing: SPAA_ERR_USAGE, reported. */
spaa_status sp_timeline_memory_refused(struct sp_asked *x, const struct sp_sample_times *times);
/* on or not: the columns as this answer has them. */
void sp_timeline_memory_columns(struct sp_timeline_memory *m, struct sp_answer_table *t, size_t at);
void sp_timeline_memory_row(struct sp_timeline_memory *m, struct sp_answer_table *t, size_t at, size_t row);
void sp_timeline_memory_facts(struct sp_timeline_memory *m);
void sp_timeline_memory_words(struct sp_timeline_memory *m, struct sp_buf *b); /* end, most and when, RSS */
void sp_timeline_memory_say(struct sp_timeline_memory *m);                     /* these, as a line */
/* For a picture: selects, with each window by itself. *x and *m are to be freed whatever it returns. */
spaa_status sp_timeline_memory_open(struct sp_ask *q, struct sp_answer *out, struct sp_asked *x,
                                    struct sp_timeline_memory *m);
void sp_timeline_memory_next(struct sp_timeline_memory *m);

#endif

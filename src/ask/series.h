/* Questions of several profiles of one process, taken one after the other. */
#ifndef SP_SERIES_H
#define SP_SERIES_H

#include "ask/question.h"

/* leaks A B C …: what grew, by owner, how fast and how surely. */
spaa_status sp_leaks_series_ask(struct sp_ask *q, struct sp_answer *out);
/* timeline A B C …: what each of them held, in their order. */
spaa_status sp_timeline_series_ask(struct sp_ask *q, struct sp_answer *out);

/* What they answer with, for the declarations of the questions. */
extern const struct sp_table_decl sp_series_growth, sp_series_values, sp_series_dumps, sp_series_changed;
#define SP_SERIES_FACTS                                                                                      \
    {"series.dumps", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "how many dumps there are"},            \
        {"series.order_from", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,                                        \
         .doc = "what put them in order: times, names (numbers in them); given: neither tells"},             \
        {"series.reordered", SP_COL_BOOL, .flags = SP_COL_SOMETIMES,                                         \
         .doc = "they were given in another order"},                                                         \
        {"series.seconds", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                                         \
         .doc = "from the first to the last by their own times; null: these are not known"},                 \
        {"series.rate_per", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,                                          \
         .doc = "second, or dump where times are not known"},                                                \
        {"series.sampled_every", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,                                   \
         .doc = "bytes between samples; null: all blocks are recorded"},                                     \
        {"series.first", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,                                           \
         .doc = "the metric that ranks rows, in the first dump"},                                            \
        {"series.last", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "the same in the last one"},        \
        {"series.growth", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "last less first"},               \
        {"series.growth_sd", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                                       \
         .doc = "its standard deviation, by what sampling makes unsure; 0: exact"},                          \
        {"series.rate", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                                            \
         .doc = "growth per second or dump: the median of the slopes of all pairs of dumps"},                \
        {"series.rate_low", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                                        \
         .doc = "from where, at 95 %; null: of two exact values nothing says"},                              \
        {"series.rate_high", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES, .doc = "up to where"},                \
        {"series.kind", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,                                              \
         .doc = "how the whole grows, as kinds of rows; null: the files are of a run each, nothing grows "   \
                "between them"},                                                                             \
        {"series.allocated", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,                                       \
         .doc = "bytes allocated from the first dump to the last; null: not known"},                         \
        {"series.kept_percent", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                                    \
         .doc = "growth of live bytes, of these"},                                                           \
        {"series.concentrated_in", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,                                  \
         .doc = "so many rows have nine tenths of what rows gained, or the first three have less"},          \
        {"series.concentrated_percent", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                            \
         .doc = "what these have of it"},                                                                    \
        {"series.only_grow", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,                                        \
         .doc = "rows that only grow, and not by chance"},                                                   \
        {"series.sparkline", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,                                         \
         .doc = "a block character for each dump, by what is live"},                                         \
    {                                                                                                        \
        "doubts", SP_COL_TEXTS, .flags = SP_COL_SOMETIMES, .doc = "what may make all this wrong, in words"   \
    }

#endif

/* `timeline --explain`: which stretches differ from the rest, and by which functions. */
#ifndef SP_TIMELINE_EXPLAIN_H
#define SP_TIMELINE_EXPLAIN_H

#include "analysis/timeline_phases.h"
#include "ask/common.h"

extern const struct sp_table_decl sp_timeline_phases, sp_timeline_stretches, sp_timeline_accounts;
/* Facts of --explain, to stand in the question's list. */
#define SP_TIMELINE_EXPLAIN_FACTS                                                                            \
    {"explain.samples", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,                                             \
     .doc = "with --explain: samples that were looked at"},                                                  \
        {"explain.seconds", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                                        \
         .doc = "the time between the first and the last"},                                                  \
        {"explain.functions", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,                                       \
         .doc = "functions that were looked at: those of most samples"},                                     \
        {"explain.functions_of", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "of so many"},              \
        {"explain.phases_left_out", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,                                 \
         .doc = "phases beyond those told"},                                                                 \
        {"explain.found_from_seconds", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,                             \
         .doc = "how long a function that runs at no other time has to run to be found; null: too few "      \
                "samples"},                                                                                  \
    {                                                                                                        \
        "explain.found_from_ratio", SP_COL_NUMBER,                                                           \
            .flags = SP_COL_SOMETIMES,                                                                       \
            .doc = "how many times the weight of the rest a tenth of the time has to have to be found; "     \
                   "null likewise"                                                                           \
    }

/* Facts, lines and tables; then what to ask next. */
spaa_status sp_timeline_say_phases(struct sp_asked *x, const struct sp_phases *p, int64_t zero);
/* The tables alone. */
void sp_timeline_put_phases(struct sp_asked *x, const struct sp_phases *phases, int64_t zero);

#endif

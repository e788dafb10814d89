/* The columns of leaks, by number, and what of them an answer shows. */
#ifndef SP_LEAKS_COLUMNS_H
#define SP_LEAKS_COLUMNS_H

#include "ask/leaks.h"

enum { SP_LEAKS_QUARTERS = 4, SP_LEAKS_PARTS = 8 }; /* SP_LEAKS_PARTS: lines, callees of a row, at most */

/* Those of enum sp_leak_metric follow SP_LEAKS_NOW. */
enum {
    SP_LEAKS_RANK,
    SP_LEAKS_PERCENT,
    SP_LEAKS_NOW,
    SP_LEAKS_PER_SECOND = SP_LEAKS_NOW + SP_LEAK_METRICS,
    SP_LEAKS_MEAN,
    SP_LEAKS_TEMPORARY,
    SP_LEAKS_LIVE_OF_ALLOC,
    SP_LEAKS_REACH,
    SP_LEAKS_KIND,
    SP_LEAKS_STATE,
    SP_LEAKS_STATE_SHORT,
    SP_LEAKS_NEVER_FREED,
    SP_LEAKS_GAINED,
    SP_LEAKS_GROWTH = SP_LEAKS_GAINED + SP_LEAKS_QUARTERS,
    SP_LEAKS_DOUBT,
    SP_LEAKS_FLAT,
    SP_LEAKS_STACK,
    SP_LEAKS_PATH,
    SP_LEAKS_FUNCTION,
    SP_LEAKS_LINE = SP_LEAKS_FUNCTION + SP_FUNCTION_NCOLUMNS,
    SP_LEAKS_LINES_MORE,
    SP_LEAKS_THROUGH,
    SP_LEAKS_THROUGH_WORDS,
    SP_LEAKS_THROUGH_MORE,
    SP_LEAKS_CALLERS,
    SP_LEAKS_CALLERS_PERCENT,
    SP_LEAKS_CALLERS_OTHERS,
    SP_LEAKS_FOR,
    SP_LEAKS_RECORDS,
    SP_LEAKS_SAMPLES,
    SP_LEAKS_SKIPPED,
};
enum { SP_LEAKS_FRAME_FUNCTION, SP_LEAKS_FRAME_DSO, SP_LEAKS_FRAME_LINE, SP_LEAKS_FRAME_OWNER };
enum {
    SP_LEAKS_PART_NAME,
    SP_LEAKS_PART_SUMS,
    SP_LEAKS_PART_NEVER = SP_LEAKS_PART_SUMS + 5,
    SP_LEAKS_PART_GROWTH
};

extern const struct sp_table_decl sp_leaks_rows, sp_leaks_frames, sp_leaks_lines, sp_leaks_through;

/* Titles and measures of the rows, for people by what ranks them. */
void sp_leaks_titles(const struct sp_leaks_asked *x, struct sp_answer_table *t);

#endif

/* What the files of the question `top` share. */
#ifndef SP_ASK_TOP_H
#define SP_ASK_TOP_H

#include "ask/common.h"

enum {
    SP_TOP_SELF,
    SP_TOP_SELF_PERCENT,
    SP_TOP_TOTAL,
    SP_TOP_TOTAL_PERCENT,
    SP_TOP_AT_MOST,
    SP_TOP_AT_MOST_PERCENT,
    SP_TOP_SAMPLES,
    SP_TOP_TOTAL_SAMPLES,
    SP_TOP_WHOLE, /* of events, up to unit */
    SP_TOP_METRIC,
    SP_TOP_UNIT,
    SP_TOP_CPU_TIME, /* of threads and processes, up to process name */
    SP_TOP_CYCLES,
    SP_TOP_INSTRUCTIONS,
    SP_TOP_ROW, /* of functions */
    SP_TOP_NAME = SP_TOP_ROW + SP_FUNCTION_NCOLUMNS,
    SP_TOP_MARKS,
    SP_TOP_KNOWN,
    SP_TOP_PID,
    SP_TOP_TID,
    SP_TOP_THREAD_NAME,
    SP_TOP_QUEUE,
    SP_TOP_PROCESS_NAME,
    SP_TOP_POOL,
    SP_TOP_PATH = SP_TOP_POOL + 2,
    SP_TOP_TAGS = SP_TOP_PATH + 2,
    SP_TOP_NCOLUMNS
};
/* Of --sum. */
enum { SP_TOP_SUM_REGEX, SP_TOP_SUM_TOTAL, SP_TOP_SUM_PERCENT, SP_TOP_SUM_SAMPLES, SP_TOP_SUM_NCOLUMNS };
extern const struct sp_table_decl sp_top_rows, sp_top_sums;
extern const struct sp_table_decl *const sp_top_tables[];
extern const struct sp_answer_column sp_top_facts[];
/* Absent: first..last. */
void sp_top_without(struct sp_answer_table *t, size_t first, size_t last);

/* Every event of the profile, each in its own metric and unit (ask/top_events.c). */
spaa_status sp_top_events(struct sp_ask *q, size_t limit, struct sp_answer *out);

#endif

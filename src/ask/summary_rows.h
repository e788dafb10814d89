/* What the files that fill a summary's tables share. */
#ifndef SP_SUMMARY_ROWS_H
#define SP_SUMMARY_ROWS_H

#include "ask/summary.h"

#define TABLE(columns) columns, sizeof columns / sizeof *columns
/* What a budget leaves first. */
enum { KEEP_HOT = 1, KEEP_FOUND, KEEP_PATH, KEEP_THREADS, KEEP_DSOS, KEEP_PROCESSES, KEEP_OWN };

/* Nobody sees it, as lines say the same; keep 0: whole. */
struct sp_answer_table *sp_summary_table(struct sp_summary *x, const struct sp_table_decl *decl,
                                         unsigned keep);
/* How many of these are shown; what is not is told. */
size_t sp_summary_room(struct sp_answer_table *t, size_t n, size_t most);
void sp_summary_put_cstr(struct sp_summary *x, struct sp_answer_table *t, size_t column, const char *s);
void sp_summary_put_function(struct sp_summary *x, struct sp_answer_table *t, size_t at, uint32_t function);

#endif

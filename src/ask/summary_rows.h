/* What the files that fill a summary's tables share. */
#ifndef SP_SUMMARY_ROWS_H
#define SP_SUMMARY_ROWS_H

#include "ask/summary.h"

#define TABLE(columns) columns, sizeof columns / sizeof *columns
/* A function in a row: what sp_put_function fills, under a path and with a word for its name. */
#define SUMMARY_FUNCTION(at, path, word, how)                                                                \
    [(at) +                                                                                                  \
        SP_FUNCTION_ID] = {path "id", SP_COL_HANDLE, .flags = how, .doc = "handle of the function"},         \
        [(at) + SP_FUNCTION_NAME] = {path word, SP_COL_NAME, .flags = how, .doc = "its whole name"},         \
        [(at) +                                                                                              \
            SP_FUNCTION_MARKS] = {path "marks", SP_COL_TEXT, .flags = SP_COL_NO_JSON, .doc = "not shown"},   \
        [(at) + SP_FUNCTION_DSO] = {path "dso", SP_COL_DSO, .flags = how, .doc = "the binary it is in"},     \
        [(at) +                                                                                              \
            SP_FUNCTION_BUILD] = {path "build", SP_COL_TEXT, .flags = SP_COL_NO_JSON, .doc = "not shown"},   \
        [(at) +                                                                                              \
            SP_FUNCTION_BUILD_ID] = {path "build_id", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,                 \
                                     .doc = "of its binary, where the profile has another of that name"},    \
        [(at) + SP_FUNCTION_OWN] = {path "own", SP_COL_BOOL, .flags = (how) & ~(unsigned)SP_COL_CSV,         \
                                    .doc = "it is the program's own, of no library"},                        \
        [(at) +                                                                                              \
            SP_FUNCTION_OWN_BY] = {path "own_by", SP_COL_TEXT, .flags = (how) & ~(unsigned)SP_COL_CSV,       \
                                   .doc = "why: declaration, namespace, binary, option; null: all are own"}

/* What a budget leaves first. */
enum { KEEP_HOT = 1, KEEP_FOUND, KEEP_PATH, KEEP_THREADS, KEEP_DSOS, KEEP_PROCESSES, KEEP_OWN };

/* Nobody sees it, as lines say the same; keep 0: whole. */
struct sp_answer_table *sp_summary_table(struct sp_summary *x, const struct sp_table_decl *decl,
                                         unsigned keep);
/* How many of these are shown; what is not is told. */
size_t sp_summary_room(struct sp_answer_table *t, size_t n, size_t most);
void sp_summary_put_cstr(struct sp_summary *x, struct sp_answer_table *t, size_t column, const char *s);
void sp_summary_put_function(struct sp_summary *x, struct sp_answer_table *t, size_t at, uint32_t function);

/* summary_found.c: findings. */
extern const struct sp_table_decl sp_summary_findings, sp_summary_ranges, sp_summary_callers;
void sp_summary_found(struct sp_summary *x);

#endif

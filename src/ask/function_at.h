/* The columns of a function under a path, of tables whose rows have several of them. */
#ifndef SP_FUNCTION_AT_H
#define SP_FUNCTION_AT_H

#include "ask/common.h"

/* A function in a row: what sp_put_function fills, under a path and with a word for its name. */
#define SP_FUNCTION_AT(at, path, word, how)                                                                  \
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

#endif

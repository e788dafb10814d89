/*
 * One function, or several taken as one: its weight, who calls it, what it calls, where in it the weight is.
 *
 * A caller or callee counts the weight of the rows in which it stands next to the function, once a row; so
 * they add up to the function's total unless it recurs. The function's lines and threads likewise.
 */
#ifndef SP_FUNCTION_H
#define SP_FUNCTION_H

#include "analysis/function_lookup.h"
#include "analysis/top.h"

struct sp_neighbour {
    uint32_t function; /* SP_NONE: none, the row begins or ends here */
    int64_t weight, samples;
    int64_t inferred; /* of the weight: where its frame was not recorded (model/edges.h) */
};

struct sp_part {
    uint32_t name;     /* a number in sp_function_view.names; SP_STR_NONE: not known */
    uint32_t function; /* matches: which; else SP_NONE */
    uint32_t pool;     /* threads: number in the pools of the selection; SP_NONE */
    int64_t self, total, samples, total_samples;
    int64_t inferred; /* of total: where the frame was not recorded */
};

struct sp_function_view {
    int64_t self, total, samples, total_samples;    /* as in sp_top_row */
    int64_t at_most;                                /* likewise */
    int64_t recursive;                              /* weight of rows in which it stands more than once */
    bool proven;                                    /* that it recurs is shown by more than its name */
    uint32_t deepest;                               /* how often it stands in one row, at most */
    SP_VEC(struct sp_neighbour) callers, callees;   /* heaviest first */
    SP_VEC(struct sp_part) matches, lines, threads; /* heaviest first */
    struct sp_strtab names;
};

spaa_status sp_function_build(struct sp_selection *s, const struct sp_function_lookup *lookup,
                              struct sp_diags *d, struct sp_function_view *out);
void sp_function_free(struct sp_function_view *v);

#endif

/* The rows of a selection by weight, and stacks by their ids. */
#ifndef SP_STACKS_H
#define SP_STACKS_H

#include "analysis/select.h"
#include "model/identity.h"

void sp_stack_id_add(struct sp_buf *b, const struct sp_profile *p, uint32_t stack);
/* A stack as it is shown: a row of the selection, or several that are one stack of threads of one pool. */
struct sp_stack_row {
    uint32_t row;     /* of the selection: it, or the heaviest */
    uint32_t pool;    /* number in the pools of the selection; SP_NONE: one thread */
    uint32_t records; /* how many rows */
    int64_t weight, samples;
};

/* The rows of the selection, heaviest first, ties by id; ids must be set. The caller frees *out, of *n. */
spaa_status sp_stacks_by_weight(const struct sp_selection *s, struct sp_diags *d, struct sp_stack_row **out,
                                size_t *n);
/*
 * The stacks with an id, or with one that begins so when there is only one such: SPAA_ERR_NOT_FOUND,
 * reported (SP_E605), otherwise. *row: its row in the selection, SP_NONE when filters leave it out.
 */
spaa_status sp_stack_find(const struct sp_selection *s, const char *id, struct sp_diags *d, uint32_t *stack,
                          uint32_t *row);

#endif

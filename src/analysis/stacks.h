/* The rows of a selection by weight, and stacks by their ids. */
#ifndef SP_STACKS_H
#define SP_STACKS_H

#include "analysis/select.h"

/* Gives the stacks ids where the file had none. */
spaa_status sp_stack_ids(struct sp_profile *p);
void sp_stack_id_add(struct sp_buf *b, const struct sp_profile *p, uint32_t stack);
/* Rows of the selection, heaviest first, ties by id; ids must be set. The caller frees *out. */
spaa_status sp_stacks_by_weight(const struct sp_selection *s, struct sp_diags *d, uint32_t **out);
/*
 * The stacks with an id, or with one that begins so when there is only one such: SPAA_ERR_NOT_FOUND,
 * reported (SP_E605), otherwise. *row: its row in the selection, SP_NONE when filters leave it out.
 */
spaa_status sp_stack_find(const struct sp_selection *s, const char *id, struct sp_diags *d, uint32_t *stack,
                          uint32_t *row);

#endif

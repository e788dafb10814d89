/*
 * Joining equal stacks afterwards.
 *
 * Where nearly all stacks of a large profile are new, looking each one up means to wait for memory in a table
 * that no cache holds. Such stacks are appended (sp_stack_append), part of their hashes kept, and equal ones
 * joined later: a table of bits tells most of those that differ from all others.
 */
#ifndef SP_JOIN_H
#define SP_JOIN_H

#include "model/profile.h"

/*
 * Of equal stacks (frames, context, type) the first one stays where it is and gets the weights of the others,
 * which are removed; the last stacks take their places. `hashes` has 32 bits of a hash for each stack, the
 * same for equal ones, and moves along. Stacks have weights and nothing else yet: no ids, no `exclusive`,
 * nothing that refers to them. Returns how many were removed; SIZE_MAX: out of memory, the profile can only
 * be freed.
 */
size_t sp_stacks_join(struct sp_profile *p, uint32_t *hashes);

#endif

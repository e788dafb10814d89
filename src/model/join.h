/*
 * Joining equal stacks afterwards.
 *
 * Where nearly all stacks of a large profile are new, looking each one up means to wait for memory in a table
 * that no cache holds. Such stacks are appended (sp_stack_append), their hashes kept, and equal ones joined
 * later, which goes through them in parts that do fit.
 */
#ifndef SP_JOIN_H
#define SP_JOIN_H

#include "model/profile.h"

/*
 * Of equal stacks (frames, context, type) the first one stays where it is and gets the weights of the others,
 * which are removed; those behind move up. `hashes` has one for each stack, the same for equal ones, and
 * moves along. Stacks have weights and nothing else yet: no ids, no `exclusive`, nothing that refers to them.
 * Returns how many were removed; SIZE_MAX: out of memory, the profile can only be freed.
 */
size_t sp_stacks_join(struct sp_profile *p, uint64_t *hashes);

#endif

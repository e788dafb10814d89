/*
 * What is known to be wrong in recorded stacks: calls that cannot have been made.
 *
 * A stack is recorded as its profiler walked it. Where a caller's return address stands behind a direct call
 * of something else than the callee, a function between the two is missing, or the chain is wrong from there
 * on. A list of such edges hangs beside the stack (sp_stack.edges); its frames stay as recorded, so ids and
 * writers do not know of it. Equal stacks with other edges, which functions called from two places make, are
 * records of their own, in merged profiles as in others: what one of them says, another cannot take back.
 */
#ifndef SP_EDGES_H
#define SP_EDGES_H

#include "model/profile.h"

/* The name of what stands in views where a chain is broken. */
#define SP_BROKEN_CHAIN "[broken chain]"

/*
 * 1 + the number of the list, 0 for an empty one, SP_NONE: out of memory. Edges are ascending by `at`; of one
 * place the broken edge, to what is leafward of it, comes before the inferred frame.
 */
uint32_t sp_edges_intern(struct sp_profile *p, const struct sp_edge *edges, size_t n);
/* The frame that stands for a broken edge; SP_NONE: out of memory. */
uint32_t sp_edge_broken_frame(struct sp_profile *p);
/* The edges of a stack, in order. */
static inline const struct sp_edge *sp_edges_of(const struct sp_profile *p, uint32_t edges, size_t *n)
{
    *n = edges ? p->edge_lists.v[edges - 1].n : 0;
    return edges ? p->edges.v + p->edge_lists.v[edges - 1].first : NULL;
}
/* Whether what stands for several frames was recorded. */
enum sp_inferred { SP_RECORDED, SP_INFERRED_IN_PART, SP_INFERRED };
/* How texts mark a function that was not: " [inferred]"; a broken chain says it itself. */
const char *sp_inferred_mark(const struct sp_profile *p, uint32_t function, enum sp_inferred inferred);
/* Whether some edge of the list is broken. */
bool sp_edges_broken(const struct sp_profile *p, uint32_t edges);

#endif

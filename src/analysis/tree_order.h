/* Call trees whose nodes were taken heaviest first (tree.c). */
#ifndef SP_TREE_ORDER_H
#define SP_TREE_ORDER_H

#include "analysis/tree.h"

/*
 * Nodes in the order they were taken, parents before children, become depth-first order, with their ends;
 * sibling: per node, its place among those of its parent. False: out of memory, and nothing was done.
 */
bool sp_tree_put_in_order(struct sp_tree *t, const uint32_t *sibling);

#endif

/* The heaviest path of a selection: from the root, the heaviest child while it holds enough of its parent. */
#ifndef SP_PATH_H
#define SP_PATH_H

#include "analysis/tree.h"

/*
 * Node numbers of the tree (SP_TREE_BY_WEIGHT), root's child first, into out (at most max); returns how
 * many. Stops where the heaviest child has less than `share` of the whole.
 */
size_t sp_heaviest_path(const struct sp_tree *t, double share, uint32_t *out, size_t max);

#endif

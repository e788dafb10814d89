/*
 * Two call trees as one: for a picture of what changed.
 *
 * Nodes are matched along the path by normalised name and DSO (normalise.h). A node that only the base has
 * keeps the width it had there, so `total` of a node is the new weight plus that of what vanished above it:
 * it says how wide the node is drawn; the weights are in `sides`.
 */
#ifndef SP_DIFFTREE_H
#define SP_DIFFTREE_H

#include "analysis/diff.h"
#include "analysis/tree.h"

enum sp_change { SP_CHANGE_GREW, SP_CHANGE_SHRANK, SP_CHANGE_SAME, SP_CHANGE_NEW, SP_CHANGE_VANISHED };

struct sp_diff_node {
    int64_t total[SP_SIDES], self[SP_SIDES]; /* at the scale of the new side */
    uint8_t change;                          /* enum sp_change, of the shares of the total */
    uint8_t level; /* 1..5 of what grew or shrank: by 2, 10, 25, 50, 75 % of the larger share and more */
};

struct sp_diff_tree {
    struct sp_profile *profile; /* the names of both sides */
    struct sp_tree tree;        /* in depth-first order, children by name; node 0 is the root */
    SP_VEC(struct sp_diff_node) sides;
};

/* The scales are those of the selections; the trees are not kept. */
spaa_status sp_diff_tree_build(const struct sp_tree *base, unsigned base_scale, const struct sp_tree *fresh,
                               unsigned scale, struct sp_diags *d, struct sp_diff_tree *out);
void sp_diff_tree_free(struct sp_diff_tree *t);

#endif

/*
 * The call tree of a selection: one node per distinct path, derived on demand.
 *
 * Nodes are in depth-first order, children sorted by descending total (SP_TREE_BY_WEIGHT) or by name
 * (SP_TREE_BY_NAME, for flame graphs), so parent < child and a subtree is a run [i, end). Node 0 is the
 * root: no frame, the selection's whole weight. Weights are scaled integers of the selection
 * (analysis/select.h). What is left out costs nothing: only nodes that are kept are ever looked into.
 */
#ifndef SP_TREE_H
#define SP_TREE_H

#include "analysis/select.h"
#include "model/edges.h"

struct sp_tree_node {
    uint32_t parent;   /* SP_NONE for the root */
    uint32_t end;      /* one past the last node of this subtree */
    uint32_t function; /* number in functions; SP_NONE for the root */
    uint32_t frame;    /* a frame of this function here: for location, inlining and kind */
    uint32_t depth;    /* 0: root */
    bool inlined;      /* all frames of this node are inlined */
    bool alone;        /* the only child of its parent, counting what was left out */
    uint8_t kind;      /* enum sp_frame_kind */
    uint8_t inferred;  /* enum sp_inferred */
    int64_t self, total;
    int64_t samples; /* of the subtree; SP_ABSENT where the source has none */
    int64_t elided;  /* weight of the children that were left out, with all below them */
    uint32_t elided_children;
    uint32_t order; /* position by descending weight among the nodes kept, when max_nodes was given */
};

enum sp_tree_sort { SP_TREE_BY_WEIGHT, SP_TREE_BY_NAME };

struct sp_tree;

struct sp_tree_opts {
    bool inverted; /* from the leaves down to the roots */
    bool by_comm;  /* the first level is the thread's name or its pool, where contexts have one (nodes with
                      function SP_NONE and `comm` set) */
    enum sp_tree_sort sort;
    /* Children below, whatever their sign, are left out with all below them: that part is never built. */
    int64_t min_total;
    bool positive;      /* leave out nodes below 0 too: a drawing has no place for them */
    uint32_t max_depth; /* 0: all */
    size_t max_nodes;   /* the heaviest so many nodes, root included; 0: all */
    /*
     * Not NULL: nodes are given away as they are made and not kept, as a whole tree takes much memory. A part
     * has the nodes from number `first` on, without their `end`; parents are numbers all the same. Not with
     * max_nodes.
     */
    void (*take)(void *arg, const struct sp_tree *part, uint32_t first);
    void *arg;
};

struct sp_tree {
    const struct sp_profile *profile;
    SP_VEC(struct sp_tree_node) nodes;
    SP_VEC(uint32_t) comms; /* with by_comm: comms.v[node] is the name of a first-level node, or 0 */
    const struct sp_strtab *comm_names; /* these are of it: of the selection, which has to live as long */
    const struct sp_pools *pools;       /* of these, which are pools; NULL: none */
    uint32_t pruned;                    /* subtrees left out */
    int64_t pruned_total;               /* their weight */
};

spaa_status sp_tree_build(struct sp_selection *s, const struct sp_tree_opts *opts, struct sp_diags *d,
                          struct sp_tree *out);
void sp_tree_free(struct sp_tree *t);
/* The name shown for a node: the function's, the comm, or "all". */
struct sp_str sp_tree_name(const struct sp_tree *t, uint32_t node);
/* What tells the node of a comm from its siblings in another run too: of a pool its pattern, without the
 * number. */
struct sp_str sp_tree_comm_key(const struct sp_tree *t, uint32_t node);

#endif

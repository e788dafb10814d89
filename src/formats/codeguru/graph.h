/* Parts of the reader of the call graph, and what they share: graph.c walks through it, graph_members.c reads
 * what stands in a node, graph_stacks.c makes stacks of the tree. */
#ifndef SP_CODEGURU_GRAPH_H
#define SP_CODEGURU_GRAPH_H

#include "formats/codeguru/codeguru.h"

/* A name that nodes have, by its number in `names`. */
struct sp_cg_name {
    uint32_t frame; /* of nodes that do not say where they are; SP_NONE: not made yet */
    uint32_t seen;  /* the search for names that stand twice that met it last */
};

struct sp_cg_node {
    uint32_t parent; /* SP_NONE: the root, which is no frame */
    uint32_t name;
    uint32_t frame; /* SP_NONE: it has not ended, or nothing was counted in it */
};

/* An open node. */
struct sp_cg_level {
    uint32_t name, node; /* SP_NONE: the root */
    bool in_children, recorded;
    size_t children, cells; /* where those of the node and all below begin */
    size_t extra;           /* where the members to keep begin */
    struct sp_cg_place place;
};

struct sp_cg_child {
    uint64_t at;
    uint32_t name;
};

struct sp_cg_cell {
    uint32_t node, context;
    int64_t v;             /* SP_DECIMAL: see number */
    struct sp_span number; /* as it stands in the text */
};

struct sp_cg_tree {
    struct sp_cg_graph *g;
    struct sp_json *j;
    struct sp_profile *p;
    struct sp_diags *d;
    bool twins; /* a child stood twice */
    struct sp_strtab names;
    struct sp_strtab places; /* name, file and line as they stand */
    SP_VEC(struct sp_cg_name) of_name;
    SP_VEC(uint32_t) frame_of_place;
    SP_VEC(struct sp_cg_level) levels; /* 0: the root */
    SP_VEC(struct sp_cg_child) children;
    SP_VEC(struct sp_cg_node) nodes;
    SP_VEC(struct sp_cg_cell) cells;
    SP_VEC(uint32_t) path;     /* frames of the stack at hand, leaf first */
    size_t complete;           /* cells behind whose numbers the text went on as JSON does */
    size_t shared;             /* levels of the last record's path that still are open */
    uint32_t searches;         /* for children and counters that stand twice */
    SP_VEC(uint32_t) counters; /* by context: the search that met it last */
    size_t noted, frames_max;
    struct sp_buf extra, text;
};
/* graph_members.c: a member of the innermost node that is open, the cursor at its value. `children` is only
 * entered. False: the cursor has an error. */
bool sp_cg_node_member(struct sp_cg_tree *x, struct sp_span key);
/* A member to keep beside, as it stands. */
void sp_cg_node_keep(struct sp_cg_tree *x, const char *key, struct sp_span raw);

/* graph_stacks.c: every count of the tree becomes a stack, along the parents. */
spaa_status sp_cg_tree_stacks(struct sp_cg_tree *x);

#endif

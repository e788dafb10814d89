/*
 * The nodes of a call tree in an answer: JSON and CSV, of which a whole tree has millions (tree_nodes.c).
 */
#ifndef SPAA_CLI_TREE_NODES_H
#define SPAA_CLI_TREE_NODES_H

#include "answer.h"

#include "analysis/tree.h"

/* What all nodes of a function have in common in an answer, and most of them besides: see `fragment`. */
struct piece {
    uint32_t at;
    uint32_t n;   /* 0: not made yet */
    uint8_t more; /* JSON: bytes after them, for nodes of this kind */
    uint8_t kind;
    bool quote;   /* CSV */
    bool formula; /* CSV: where it starts a cell */
};

/* What a node has in common with the one before it, where their weights are the same. */
struct same {
    int64_t total, samples;
    size_t n;     /* 0: none yet */
    size_t share; /* CSV: the first bytes, the share of the total */
    char text[256];
};

/* A node's id as text. */
struct counter {
    char text[20];
    uint32_t n, v;
};

struct tree {
    struct answer a;
    uint32_t path_end; /* JSON: the function to ask about next, once it was looked for; or SP_NONE */
    bool has_path_end;
    struct piece *pieces; /* per function: of text */
    struct sp_buf text;
    struct same same;
    struct counter last; /* the node drawn last */
    struct sp_tree t;
    uint32_t first; /* the number of the first node in t, where the tree comes in parts */
    bool parts;
    SP_VEC(unsigned) indent; /* by depth: of the last node there */
    size_t shown;      /* nodes: those of order < shown; where that is all, the next three are not used */
    int64_t *elided;   /* per node: weight of the children not shown */
    uint32_t *missing; /* per node: how many these are */
    uint32_t *number;  /* per node: its id in the answer */
};

static inline bool shows_all(const struct tree *x)
{
    return x->parts || x->shown >= x->t.nodes.n;
}

static inline int64_t elided_of(const struct tree *x, uint32_t i)
{
    return shows_all(x) ? x->t.nodes.v[i].elided : x->elided[i];
}

static inline uint32_t missing_of(const struct tree *x, uint32_t i)
{
    return shows_all(x) ? x->t.nodes.v[i].elided_children : x->missing[i];
}

static inline uint32_t number_of(const struct tree *x, uint32_t i)
{
    return shows_all(x) ? i : x->number[i];
}

/* All nodes of x->t, or those that are shown. */
void tree_nodes_json(struct tree *x);
void tree_nodes_csv(struct tree *x);
/*
 * One child goes on in its parent's column, so that straight chains do not run off the screen. Of nodes in
 * depth-first order: the last one of the depth above is the parent.
 */
unsigned tree_indent(struct tree *x, const struct sp_tree_node *n);

#endif

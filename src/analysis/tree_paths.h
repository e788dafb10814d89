/*
 * What a call tree is built from (tree.c): the paths of a selection's rows, and what they have in common.
 *
 * Each row is a path. Where the whole tree is wanted, paths that begin alike are joined: a beginning of some
 * pieces of SP_TREE_PIECE steps that several rows share is a path of its own, with their weight, and they
 * stand below it. Each is a whole path all the same, from the first step on: who has walked a beginning goes
 * on in what is below it, at the step that is next.
 */
#ifndef SP_TREE_PATHS_H
#define SP_TREE_PATHS_H

#include "analysis/tree.h"
#include "base/arena.h"

#define SP_TREE_PIECE 8

struct sp_tree_path {
    const uint32_t *frames; /* leaf first */
    uint32_t n;
    uint32_t comm;  /* in the names of pools; a first step of its own where it is not 0 */
    uint32_t row;   /* of the selection: the first that begins so */
    uint32_t below; /* how many go on from here; 0: it ends */
    int64_t weight, samples;
    uint32_t first; /* place in the list of the first one below */
};

struct sp_tree_paths {
    SP_VEC(struct sp_tree_path) v; /* of the rows, then of beginnings */
    uint32_t *list;                /* all, those of one beginning together; first those below none */
    uint32_t begin;                /* how many these are */
    struct sp_arena steps;         /* frames of paths that filters changed */
};

/* False: out of memory; free in any case. `join` takes a selection without comms in the paths. */
bool sp_tree_paths_make(struct sp_selection *s, const struct sp_tree_opts *opts, bool join,
                        struct sp_tree_paths *out);
void sp_tree_paths_free(struct sp_tree_paths *p);

static inline void sp_tree_add_samples(int64_t *to, int64_t v)
{
    if (v > SP_DECIMAL)
        *to = (*to == SP_ABSENT ? 0 : *to) + v;
}

#endif

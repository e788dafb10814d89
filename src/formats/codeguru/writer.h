/* The writer's own: what goes into the file, its order, and the texts that the tree is assembled from. */
#ifndef SP_CODEGURU_WRITER_H
#define SP_CODEGURU_WRITER_H

#include "formats/codeguru/metadata.h"

#define SP_CG_CHILDREN "\"children\":{" /* before the first child of a node */

/* A key of the tree, and a counter: distinct names, with their JSON. */
struct sp_cg_key {
    uint32_t name;       /* number in strs */
    struct sp_str text;  /* SP_CG_CHILDREN "name":{ */
    struct sp_str place; /* of keys of other sources: `"file":…,"line":…` of all frames with it */
};

struct sp_cg_counter {
    uint32_t name, rank;
    struct sp_str text; /* "NAME": */
    int64_t sum;
};

struct sp_cg_writer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_output *out;
    const struct sp_write_opts *opts;
    struct sp_span kept;           /* the header's x_codeguru; n 0: the profile comes from elsewhere */
    uint32_t metric;               /* SP_NONE: each stack counts once */
    int64_t samples;               /* of the events taken; SP_ABSENT: not counted */
    uint32_t *counters_of;         /* by context: number in counters; SP_NONE: left out */
    uint32_t *heads;               /* by context: rank + 1 of its first level, the command; 0: none */
    uint32_t *ranks;               /* by frame: rank + 1 of its key */
    struct sp_str *places;         /* by frame: `"file":…,"line":…` */
    SP_VEC(struct sp_cg_key) keys; /* by rank: the order of bytes */
    uint32_t *key_ranks;           /* by number in strs: rank + 1; 0: no key */
    size_t nkey_ranks;
    SP_VEC(struct sp_cg_counter) counters;
    bool linked;            /* some stacks are pairs */
    bool bare;              /* nodes have nothing but counts and children */
    SP_VEC(uint32_t) order; /* stacks to write */
    uint32_t *common;       /* by place in order: levels shared with the stack before; NULL: not known */
    struct sp_cg_extras extras;
    struct sp_arena text;
    struct sp_buf b;
};

/* texts.c: events, counters, keys, places; the stacks to write (unsorted). */
spaa_status sp_cg_prepare(struct sp_cg_writer *w);

/* order.c: stacks by their keys, root first. */
spaa_status sp_cg_sort(struct sp_cg_writer *w);
/* Levels that two stacks have in common. */
size_t sp_cg_common(const struct sp_cg_writer *w, uint32_t a, uint32_t b);
size_t sp_cg_depth_slow(const struct sp_cg_writer *w, uint32_t stack);
uint32_t sp_cg_key_slow(const struct sp_cg_writer *w, uint32_t stack, size_t level);
/* SP_NONE: the level of the command has no frame. */
uint32_t sp_cg_frame_at(const struct sp_cg_writer *w, uint32_t stack, size_t level);

static inline bool sp_cg_plain(const struct sp_cg_writer *w, uint32_t stack)
{
    return !w->linked && !w->heads[w->p->stacks.v[stack].context];
}

static inline size_t sp_cg_depth(const struct sp_cg_writer *w, uint32_t stack)
{
    return sp_cg_plain(w, stack) ? w->p->stacks.v[stack].n : sp_cg_depth_slow(w, stack);
}

/* The key's rank + 1 at a level from the root, 0 beyond the leaf. */
static inline uint32_t sp_cg_key(const struct sp_cg_writer *w, uint32_t stack, size_t level)
{
    const struct sp_stack *s = &w->p->stacks.v[stack];
    if (!sp_cg_plain(w, stack))
        return sp_cg_key_slow(w, stack, level);
    return level < s->n ? w->ranks[w->p->stack_frames.v[s->first + s->n - 1 - level]] : 0;
}

#endif

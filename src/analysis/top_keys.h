/* What rows of top are of and how they are called: a key's groups of frames or contexts, as they are met. */
#ifndef SP_TOP_KEYS_H
#define SP_TOP_KEYS_H

#include "analysis/by.h"
#include "analysis/process.h"
#include "analysis/select.h"

/* Numbers are SP_NONE where they say nothing of the group. */
struct sp_top_group {
    uint32_t function, dso;
    uint32_t context; /* the first that was met of it */
    uint32_t name;    /* in the names */
    unsigned tags;    /* enum sp_top_tag: of the frames or contexts met, not yet of the function */
};

struct sp_top_key {
    struct sp_by_key by;
    SP_VEC(struct sp_top_group) groups;
    struct sp_map map; /* groups by function, DSO and name */
    uint32_t *whole;   /* where groups are whole functions or DSOs: of each the group; SP_NONE: not met yet */
};

struct sp_top_keys {
    struct sp_selection *s;
    struct sp_strtab *names; /* borrowed */
    struct sp_top_key v[SP_BY_KEYS];
    size_t n;
    struct sp_buf text;
    struct sp_processes processes; /* of groups that are these */
};

/* Free in any case. */
spaa_status sp_top_keys_init(struct sp_top_keys *x, struct sp_selection *s, const struct sp_by_list *by,
                             struct sp_strtab *names, struct sp_diags *d);
void sp_top_keys_free(struct sp_top_keys *x);
/* The group of a frame under key k; of SP_NONE, of stacks without frames. SP_NONE: out of memory. */
uint32_t sp_top_group_of_frame(struct sp_top_keys *x, size_t k, uint32_t frame);
/* The group of a context. SP_NONE: out of memory. */
uint32_t sp_top_group_of_context(struct sp_top_keys *x, size_t k, uint32_t context);

#endif

/* Parts of the writer, and what they share: writer_events.c chooses what is counted, writer_keys.c names
 * frames, writer_order.c sorts the stacks, writer_tree.c writes the call graph of them and writer_counts.c
 * its counts. */
#ifndef SP_CODEGURU_WRITER_H
#define SP_CODEGURU_WRITER_H

#include "formats/codeguru/codeguru.h"

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
    int64_t samples;               /* of the stacks to write; SP_ABSENT: not counted */
    uint32_t *counters_of;         /* by context: number in counters; SP_NONE: left out */
    uint32_t *commands;            /* by context: rank + 1 of its first level, the command; 0: none */
    uint32_t *ranks;               /* by frame: rank + 1 of its key */
    struct sp_str *places;         /* by frame: `"file":…,"line":…` */
    SP_VEC(struct sp_cg_key) keys; /* by rank: the order of bytes */
    uint32_t *key_ranks;           /* by number in strs: rank + 1; 0: no key */
    SP_VEC(struct sp_cg_counter) counters;
    SP_VEC(uint32_t) order; /* stacks to write */
    struct sp_cg_extras extras;
    struct sp_arena text;
    struct sp_buf b;
};

/* ---- writer_events.c; false: out of memory ---- */

/* Marks the events to write in taken, which has room for all and is false, and says which are left out. */
bool sp_cg_choose_events(struct sp_cg_writer *w, bool *taken);
/* Sets metric. */
void sp_cg_choose_metric(struct sp_cg_writer *w, const bool *taken);
/* Makes counters and counters_of. */
bool sp_cg_make_counters(struct sp_cg_writer *w, const bool *taken);
/* What a stack counts; SP_DECIMAL: the number in text, SP_ABSENT or, of sources other than CodeGuru, 0:
 * nothing. */
int64_t sp_cg_count_of(struct sp_cg_writer *w, uint32_t stack, struct sp_str *text);

/* ---- writer_keys.c; false: out of memory ---- */

/* JSON of a name between two texts, in the arena. */
bool sp_cg_make_text(struct sp_cg_writer *w, const char *before, uint32_t name, const char *after,
                     struct sp_str *out);
/* Makes keys, key_ranks, ranks and commands; names has room for each frame's number in strs. */
bool sp_cg_make_keys(struct sp_cg_writer *w, uint32_t *names, bool module);
/* Where frames are: of a CodeGuru profile as it was read, by frame; of others by key. */
bool sp_cg_make_places(struct sp_cg_writer *w);

/* ---- writer_order.c ---- */

/* A frame of a stack, from the root on; behind those of a pair's user side the kernel's. SP_NONE: beyond the
 * leaf. */
uint32_t sp_cg_frame_at(const struct sp_cg_writer *w, uint32_t stack, size_t i);
/* The key's rank + 1 at a level from the root, where the command may stand; 0 beyond the leaf. */
uint32_t sp_cg_key_at(const struct sp_cg_writer *w, uint32_t stack, size_t level);
/* Levels that two stacks have in common, of which `from` are known. */
size_t sp_cg_common_levels(const struct sp_cg_writer *w, uint32_t a, uint32_t b, size_t from);
/* Sorts order. */
spaa_status sp_cg_sort(struct sp_cg_writer *w);

/* ---- writer_counts.c ---- */

/* Of one counter. */
struct sp_cg_sum {
    uint32_t counter;
    int64_t v;
    struct sp_str text; /* the number where v is SP_DECIMAL */
};

/* Of the innermost node. */
struct sp_cg_sums {
    struct sp_cg_writer *w;
    SP_VEC(struct sp_cg_sum) v;
    bool nomem;
};

void sp_cg_sums_add(struct sp_cg_sums *s, uint32_t counter, int64_t v, struct sp_str text);
/* Writes them, with counts that were kept (n 0: none), as the value of `counts`, and forgets them. */
void sp_cg_sums_put(struct sp_cg_sums *s, struct sp_span kept);

/* ---- writer_tree.c ---- */

/* Writes the stacks of order, which are sorted, as a call graph. False: out of memory. */
bool sp_cg_put_tree(struct sp_cg_writer *w);

#endif

/*
 * Parts of the reader of massif.out, valgrind's heap over time (massif/ms_main.c, coregrind/m_xtree.c).
 *
 *     desc: --time-unit=B
 *     cmd: ./prog
 *     time_unit: i                     instructions; ms; B: bytes allocated and freed; heaptrack_print -M: s
 *     #-----------
 *     snapshot=3
 *     #-----------
 *     time=75712
 *     mem_heap_B=75078                 what was asked for
 *     mem_heap_extra_B=298             what the allocator adds to each block
 *     mem_stacks_B=0                   --stacks=yes
 *     heap_tree=detailed               empty: no tree; peak
 *     n2: 75078 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 *      n1: 72704 0x48F97B9: ??? (in /usr/lib/libstdc++.so.6)
 *       n0: 72704 0x401AB9F: main (a.c:3)
 *      n0: 2374 in 5 places, all below massif's threshold (1.00%)
 *
 * A line of a tree is indented by its depth; n is how many lines of the next depth follow; the first depth is
 * the leaf of stacks, allocators are left out. --xtree-memory=full writes the same, where each snapshot is
 * another number of the end of the run, by the word behind the root's: curB, curBk, totB, …. heaptrack_print
 * writes the header behind the snapshots.
 */
#ifndef SP_MASSIF_H
#define SP_MASSIF_H

#include "formats/common/text/lines.h"
#include "formats/common/valgrind/valgrind.h"

#define SP_MASSIF_BELOW  "[below massif's threshold]"
#define SP_MASSIF_UNTOLD "[no stacks in this snapshot]"
#define SP_MASSIF_REST   "[callers not told]"

/* A line of a tree, parsed. */
struct sp_massif_line {
    size_t depth; /* of the root 0 */
    uint64_t children;
    int64_t size;
    struct sp_str text;
};
bool sp_massif_line(const char *p, size_t n, struct sp_massif_line *out);
/* "in 5 places, all below massif's threshold (1.00%)" */
bool sp_massif_below(struct sp_str text);
int sp_massif_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

struct sp_massif_node {
    int64_t size, rest; /* rest: what no line below it has */
    uint64_t children, seen;
};

struct sp_massif_row {
    uint32_t stack;
    int64_t size;
};

enum sp_massif_tree { SP_MASSIF_EMPTY, SP_MASSIF_DETAILED, SP_MASSIF_PEAK };

struct sp_massif_snapshot {
    uint64_t number;
    uint32_t time; /* number text */
    int64_t heap, extra, stacks;
    enum sp_massif_tree tree;
    uint32_t label;  /* of the root: "curB" of an xtree */
    size_t first, n; /* slice of rows */
};

struct sp_massif {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_lines lines;
    struct sp_vg vg;
    struct sp_vg_event event;
    uint32_t context;
    uint32_t desc, command, unit; /* unit: as it stands, "i" */
    bool xtree, pages;
    bool untold_end; /* the last snapshot has no tree: what is live then is of no stack */
    bool open;       /* a snapshot is */
    double now;      /* the latest time */
    SP_VEC(struct sp_massif_snapshot) snapshots;
    SP_VEC(struct sp_massif_row) rows;
    SP_VEC(struct sp_massif_node) nodes; /* the open ones, from the root on */
    SP_VEC(struct sp_vg_place) path;     /* of these but the root: a stack, leaf first */
    uint64_t cut;                        /* trees with fewer lines than they say */
};

/* tree.c */
spaa_status sp_massif_tree_line(struct sp_massif *m, const struct sp_massif_line *line);
spaa_status sp_massif_tree_end(struct sp_massif *m);
/* A row of the snapshot in work, with the stack of the path; mark NULL: as it is, else with these words
 * behind it. */
spaa_status sp_massif_row_add(struct sp_massif *m, const char *mark, int64_t size);
/* The row of what a snapshot has no stacks of, with all of the event's numbers; SP_NONE: out of memory. */
uint32_t sp_massif_untold(struct sp_massif *m);

/* profile.c */
spaa_status sp_massif_finish(struct sp_massif *m);

/* windows.c: a window for each snapshot, of the metric that is live bytes. */
spaa_status sp_massif_windows(struct sp_massif *m, uint32_t live);
/* The name of the unit of time in windows; NULL: it is not known. */
const char *sp_massif_unit(const struct sp_massif *m);
void sp_massif_snapshot_members(const struct sp_massif_snapshot *s, struct sp_buf *b); /* of an object */

#endif

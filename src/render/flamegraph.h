/*
 * A flame graph as one self-contained SVG: no network, works from a file in any browser.
 */
#ifndef SP_FLAMEGRAPH_H
#define SP_FLAMEGRAPH_H

#include "analysis/difftree.h"
#include "analysis/tree.h"
#include "analysis/tree_states.h"
#include "io/output.h"

struct sp_flamegraph_drawn {
    uint64_t frames;   /* in the picture */
    uint64_t left_out; /* too narrow, or too deep */
};

struct sp_flamegraph_opts {
    const char *title;    /* NULL: "Flame graph" */
    const char *subtitle; /* what was profiled: source, event, filters; may be NULL */
    bool inverted;        /* icicle of an inverted tree: root on top */
    unsigned width;       /* of the drawing in px; 0: 1200 */
    double min_width;     /* frames narrower than this many px are left out, and counted; 0: 0.1 */
    const char *unit;     /* of the weights, for the hover text; may be NULL */
    unsigned scale;       /* decimal digits of the weights (analysis/select.h) */
    const struct sp_diff_tree
        *diff;             /* a comparison, whose tree is drawn: colours tell what changed; or NULL */
    const int64_t *starts; /* per node, the weight before it: in the order of time; NULL: side by side */
    const struct sp_tree_states *states; /* of its nodes: colours tell states; not with diff; or NULL */
    bool full_names;                     /* labels are whole names; else as short as tells them apart */
    const char *running;                 /* what the class of running is called; NULL: "running" */
    int64_t idle;                        /* weight of waits for work that were left out, for the legend */
    struct sp_flamegraph_drawn *drawn;   /* is told what there is in the picture; or NULL */
};

/* The tree must be sorted SP_TREE_BY_NAME, or have starts. Errors of writing are the output's. */
spaa_status sp_flamegraph_svg(const struct sp_tree *t, const struct sp_flamegraph_opts *opts,
                              struct sp_diags *d, struct sp_output *out);

#endif

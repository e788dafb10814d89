/* What a flame graph is compared with: another profile, or another choice of the same one. */
#ifndef SP_RUN_FLAMEGRAPH_BASE_H
#define SP_RUN_FLAMEGRAPH_BASE_H

#include "run/run.h"

#include "analysis/difftree.h"
#include "analysis/select.h"

struct sp_flame_base {
    struct sp_options v;              /* its own */
    bool event, view;                 /* those of the side that is drawn, where v names none */
    bool other_threads;               /* its threads are others, by filters of one side */
    const struct sp_run_given *given; /* NULL: it is the file --diff */

    /* Once it is open. */
    struct sp_profile *profile;
    struct sp_selection s;
    bool selected;
};

/* Reads and selects it; of both sides, waits for work that are such on both are left out, but for --idle. */
spaa_status sp_flame_base_open(struct sp_run *run, struct sp_flame_base *x, struct sp_selection *drawn);
/* *out: its tree and `t`, which is of `drawn`, as one; to be freed. */
spaa_status sp_flame_base_join(struct sp_run *run, struct sp_flame_base *x, const struct sp_selection *drawn,
                               const struct sp_tree_opts *how, const struct sp_tree *t,
                               struct sp_diff_tree *out);
void sp_flame_base_free(struct sp_flame_base *x);

/* Names hashed as --redact says, before they are put together to what is drawn. */
spaa_status sp_flame_redacted(struct sp_run *run);
/* Reports that values of the metric have no flame graph: SPAA_ERR_USAGE. */
spaa_status sp_flame_cannot_add(struct sp_run *run);

#endif

/*
 * What branch stacks say of binaries, by address as linked: what ran without a taken branch and how long that
 * took (the event `lbr_trace`), and the branches that were taken (`lbr`).
 *
 * They are counts of what the stacks hold, not of all that ran: stacks are taken where samples are. Branches
 * that were not taken are in none, so that mispredictions are of taken ones alone.
 */
#ifndef SP_BRANCH_RUNS_H
#define SP_BRANCH_RUNS_H

#include "analysis/places.h"
#include "analysis/select.h"

struct sp_branch_run {
    struct sp_module *module;
    uint64_t first, last; /* last: where the branch that ends it stands */
    int64_t count, timed; /* timed: how many of them have a number of cycles */
    int64_t cycles;       /* of these together */
};
struct sp_branch_taken {
    struct sp_module *module;
    uint64_t at;
    int64_t count, judged, missed; /* judged: of which the recording says how they were predicted */
};
struct sp_branch_runs {
    SP_VEC(struct sp_branch_run) runs;    /* each once, by place */
    SP_VEC(struct sp_branch_taken) taken; /* in no order; a place may stand several times */
    bool has_branches, has_runs;          /* the profile has such events */
};

/*
 * Of the threads and states that `how` leaves; it has no filters of frames, which these stacks do not have.
 * SPAA_ERR_NOMEM, or SPAA_ERR_IO of a file that changed, reported.
 */
spaa_status sp_branch_runs(const struct sp_profile *p, const struct sp_select_opts *how,
                           struct sp_places *places, struct sp_diags *d, struct sp_branch_runs *out);
void sp_branch_runs_free(struct sp_branch_runs *r); /* a zeroed one is fine */

#endif

/*
 * States of threads in a call tree: for each node, how much of its weight is of which class of state.
 *
 * Classes are what a picture tells apart: running, waiting for a CPU, and being blocked by what for. They
 * come from the x_state of a row's stack, and of blocked ones from why they waited (analysis/wait_reason.h).
 */
#ifndef SP_TREE_STATES_H
#define SP_TREE_STATES_H

#include "analysis/tree.h"
#include "analysis/wait_reason.h"

enum sp_state_class {
    SP_STATE_RUNNING,
    SP_STATE_READY,   /* waiting for a CPU */
    SP_STATE_LOCK,    /* locks, and conditions: some other thread ends it */
    SP_STATE_INPUT,   /* disk, network, pipes, page faults */
    SP_STATE_SLEEP,   /* sleeping and polling */
    SP_STATE_BLOCKED, /* by what is not known, or by something else */
    SP_STATE_IDLE,    /* waits for work */
    SP_STATE_UNKNOWN, /* no state is stated, or none of these */
    SP_STATE_CLASSES,
};
extern const char *const sp_state_class_names[]; /* in enum order: "waiting for a CPU" */

struct sp_tree_states {
    int64_t total[SP_STATE_CLASSES];
    int64_t *of; /* of node i and class c: of[i * SP_STATE_CLASSES + c] */
    bool some;   /* some weight is of another class than running */
};

/* The class of each row, to be freed; `reasons`: of sp_wall_reasons_of. NULL: out of memory. */
uint8_t *sp_state_classes(const struct sp_selection *s, const struct sp_wait_reasons *reasons);
/* Takes rows of the class IDLE out of a selection, and of its classes: their weight. */
int64_t sp_state_drop_idle(struct sp_selection *s, uint8_t *classes);
/* t was built of s with these options, which leave nothing out but nodes without weight. */
spaa_status sp_tree_states_of(struct sp_selection *s, const uint8_t *classes, const struct sp_tree_opts *opts,
                              const struct sp_tree *t, struct sp_diags *d, struct sp_tree_states *out);
void sp_tree_states_free(struct sp_tree_states *x);

#endif

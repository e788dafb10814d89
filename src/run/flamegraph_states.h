/* What spaa flamegraph draws of states: which event, and which waits. */
#ifndef SP_RUN_FLAMEGRAPH_STATES_H
#define SP_RUN_FLAMEGRAPH_STATES_H

#include "run/run.h"

#include "analysis/tree_states.h"

struct sp_flame_states {
    uint8_t *classes; /* enum sp_state_class of each row; to be freed, after an error too */
    int64_t idle;     /* weight of waits for work that were left out */
};

/*
 * Where no event is named: with --states wall, or the states that the event has; of a recording of switches
 * the CPU's event where one was sampled too, else the time off the CPU: numbers of switches are nobody's
 * question.
 */
void sp_flame_states_event(struct sp_run *run);
/* What the picture is called where nobody says; NULL: as any. */
const char *sp_flame_states_title(const struct sp_selection *s);
/* What threads on the CPU are called: where only a source's word says that they are, by that. NULL:
 * "running". */
const char *sp_flame_states_running(const struct sp_selection *s);
/* The classes of a selection, less waits for work where time off the CPU is measured, but for --idle. */
spaa_status sp_flame_states_of(struct sp_run *run, struct sp_selection *s, struct sp_flame_states *out);

/* One of two selections that are compared. */
struct sp_flame_side {
    struct sp_selection *s;
    struct sp_profile *profile;
    const struct sp_options *v;
};
/*
 * Takes out of both what waits for work on both (analysis/idle_places.h). other_threads: the sides are of
 * different threads of the same runs.
 */
spaa_status sp_flame_drop_idle(struct sp_flame_side side[2], bool other_threads, struct sp_diags *d);

#endif

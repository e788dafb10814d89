/*
 * What a thread did, all in all or while another one waited for it: how often it ran, was ready to run, or
 * waited, and its heaviest stack: from the root on, of the functions called there the one with most samples.
 */
#ifndef SP_WAITS_HELD_H
#define SP_WAITS_HELD_H

#include "analysis/own.h"
#include "analysis/waits.h"

/* The rows of a selection by thread, so that threads are asked about one by one. */
struct sp_held_row {
    int64_t tid;
    uint32_t row;
};
struct sp_held_rows {
    struct sp_selection *s; /* lent */
    SP_VEC(struct sp_held_row) v;
};
/* SPAA_ERR_NOMEM. `s`: all of the event, in any state. */
spaa_status sp_held_rows_of(struct sp_selection *s, struct sp_diags *d, struct sp_held_rows *out);
void sp_held_rows_free(struct sp_held_rows *r);
size_t sp_held_first(const struct sp_held_rows *r,
                     int64_t tid); /* the first row of a thread, or of the next one */

enum sp_held_state {
    SP_HELD_RAN,
    SP_HELD_READY,
    SP_HELD_WAITED,
    SP_HELD_SUSPENDED,
    SP_HELD_UNKNOWN, /* no state is stated, or one that is not understood: it ran or waited */
    SP_HELD_EVENTS,  /* it waited in its run loop, for anything to do; of sp_held_main and _waiting alone */
    SP_HELD_STATES
};
enum { SP_HELD_FRAMES = 256 };

struct sp_held {
    int64_t weight; /* what was looked at */
    bool in_steps;  /* only while it was waited for; else all of its samples */
    int64_t by[SP_HELD_STATES];
    enum sp_held_state most;
    uint32_t path[SP_HELD_FRAMES]; /* functions of the heaviest stack in the state `most`, root first */
    int64_t at[SP_HELD_FRAMES];    /* weight of the stacks that begin so */
    uint32_t n;
    uint32_t own; /* place in path of the last function that is the program's own; SP_NONE: none is */
    int64_t disk; /* of what waited, for nothing that is named: for the disk, by functions of the kernel */
    uint32_t disk_call; /* the one that says so, of the most of these; SP_NONE */
    bool disk_likely;   /* that may be of something else, too */
    uint32_t fact;      /* of that stack: 1 + the wait in the profile; 0: none is stated */
};

/*
 * What the thread of a context did while `waiter` (in w->threads) waited for it, where steps are known and
 * say so, else in all of its samples. w NULL, or waiter SP_NONE: all. weight 0: nothing is known of it.
 * False: no memory, or the call is to be left.
 */
bool sp_held_of(const struct sp_held_rows *r, const struct sp_own *own, const struct sp_waits *w,
                uint32_t context, uint32_t waiter, struct sp_held *out);

/* The same in steps that are given; none: in all of its samples. */
bool sp_held_in_steps(const struct sp_held_rows *r, const struct sp_own *own, const struct sp_waits *w,
                      uint32_t context, const struct sp_wait_steps *steps, struct sp_held *out);
/* The steps in which a thread (in w->threads) was in a state, as far as they are known; false: no memory. */
bool sp_held_steps_of(const struct sp_waits *w, uint32_t thread, enum sp_held_state state,
                      struct sp_wait_steps *out);
/* Of a stack's samples, those within the steps; where others lie between, as many as can be. */
int64_t sp_held_within(const struct sp_waits *w, const struct sp_wait_thread *t, uint32_t stack,
                       const struct sp_wait_steps *steps);

/* What a main thread did in all of its samples. Waits for events are what it did `most` only where it hardly
 * waited otherwise: a program that waits for something to do holds nobody up. */
bool sp_held_main(const struct sp_held_rows *r, const struct sp_own *own, uint32_t context,
                  struct sp_held *out);

/* Its own function that runs a run loop, below that of the application, and waits there for something else;
 * SP_NONE. *in_run_loop: a stack of n functions, root first, ends in the wait of a run loop. */
uint32_t sp_held_nested(const struct sp_profile *p, const struct sp_own *own, const uint32_t *path,
                        uint32_t n, bool *in_run_loop);

/* It is parked in dispatch_main, which is no run loop, but waits for events as one. */
bool sp_held_gave_up(const struct sp_profile *p, const uint32_t *path, uint32_t n);

/* The same of all samples of the thread of a wait (in w->waits): `most` is its state, the heaviest stack that
 * of what it waited so. `events`: waits for events are told apart. */
bool sp_held_waiting(const struct sp_held_rows *r, const struct sp_own *own, const struct sp_waits *w,
                     uint32_t wait, bool events, struct sp_held *out);

/* What of a selection waited for the disk, for nothing that is named; false: no memory. */
bool sp_held_disk_of(struct sp_selection *s, int64_t *sum);

/* The class of an x_state. */
enum sp_held_state sp_held_state_of(struct sp_str state);

#endif

/*
 * Waits for work, where names do not say it: by what else the thread does. Threads of a pool are judged as
 * one.
 *
 * A place is an own function and what it called to wait. A thread's loop is the own function, nearest to the
 * leaf, that all of its stacks go through. Idle are
 *
 *   sleeps in the loop itself or in a function that it calls, where they are half of the thread's waiting or
 * more, and one came back to them: they set the pace; for certain only in the thread's first own function or
 * in what that calls; conditions and polls (but of the kernel's that say so anyway), in the loop itself or in
 * a function that it calls, where that place has nine tenths of what the thread waited, or half of it, and
 * the function that waits does nothing else.
 *
 * A wait further down is in the middle of something, and somebody waits for its end. Where own functions are
 * not known, only the nine tenths count. Locks, disks, networks, pipes and children are never idle by this
 * rule. A client that waits for its server looks the same: what the rule says of conditions and polls is
 * `idle_unsure` until it is shown what those did who ended the waits. A sleep is `idle_unsure`, too, of a
 * thread that may have been asked for what it does, or that may hold a lock.
 */
#ifndef SP_WAIT_IDLE_H
#define SP_WAIT_IDLE_H

#include "analysis/own.h"
#include "analysis/wait_reason.h"
#include "analysis/wait_wakers.h"

struct sp_wait_idle_row {
    uint32_t stack, kernel,
        who; /* kernel: as of struct sp_selected; who: a pool's, or a context's number; see wait_idle.c */
    int64_t weight, count;
    uint32_t first, depth; /* slice of path: own functions, root first */
    struct sp_wait_why why;
};

struct sp_wait_idle {
    const struct sp_selection *s;
    const struct sp_own *own; /* NULL: no function is known to be own */
    SP_VEC(struct sp_wait_idle_row) rows;
    SP_VEC(uint32_t) path;
    uint32_t counts; /* metric of how often; SP_NONE */
};

void sp_wait_idle_init(struct sp_wait_idle *x, const struct sp_selection *s, const struct sp_own *own);
void sp_wait_idle_free(struct sp_wait_idle *x);
/* A row of the selection, with what its stack alone says. False: out of memory. */
bool sp_wait_idle_add(struct sp_wait_idle *x, size_t row, const uint32_t *frames, size_t n,
                      const struct sp_wait_why *why);
/* Sets `idle` of the stacks. */
spaa_status sp_wait_idle_tell(struct sp_wait_idle *x, struct sp_wait_why *of, struct sp_diags *d);
/*
 * Of those that it set because of what else the thread does: no longer idle where who ended them was busy for
 * them, surely idle where it was not (wait_wakers.h). `n` stacks. changed: some are no longer idle; threads
 * that waited there were busy, then, and another look may tell more. Only with `last` some are surely idle.
 */
spaa_status sp_wait_idle_prove(struct sp_wait_idle *x, struct sp_wait_wakers *wakers, struct sp_wait_why *of,
                               size_t n, bool last, bool *changed, struct sp_diags *d);
/* Of the sleeps that are idle then: not surely, where the sleeper may hold a lock (wait_stuck.h). */
spaa_status sp_wait_idle_doubt(struct sp_wait_idle *x, const struct sp_intervals *v, struct sp_wait_why *of,
                               size_t n, struct sp_diags *d);

#endif

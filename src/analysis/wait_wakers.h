/*
 * What who ended waits did while others waited for it: whether waits that look like waits for work are such.
 *
 * A wait that times out and begins again at the same place is one wait. It is judged by the thread that ended
 * it, by what that did for most of the wait's length: it ran, waited for a CPU, or waited for something that
 * is not work.
 */
#ifndef SP_WAIT_WAKERS_H
#define SP_WAIT_WAKERS_H

#include "analysis/wait_reason.h"
#include "model/intervals.h"

/* Of the waits of a stack, nanoseconds. What is in none of these is not known. */
struct sp_wait_ended {
    int64_t asked; /* who ended it was busy, and the waiter had woken it before: it did what it was asked */
    int64_t busy;  /* who ended it was busy, for whomever */
    int64_t rest;  /* who ended it waited for work itself, or a timer did */
    int64_t held;  /* of sleeps: another thread waited meanwhile for a lock that it let go afterwards, or for
                      the answer to what it had asked of it before */
    int64_t maybe; /* of sleeps: of threads that were asked for something, and told who asked, later */
};

/*
 * `why`: per stack of the profile, n of them, and what changes in it between two looks counts; all are lent
 * until the end. NULL: out of memory.
 */
struct sp_wait_wakers;
struct sp_wait_wakers *sp_wait_wakers_new(const struct sp_profile *p, const struct sp_intervals *v,
                                          const struct sp_wait_why *why, size_t n);
/*
 * Adds to `of`, one per stack, of conditions and polls whose `idle_unsure` is set, and of sleeps that are
 * `idle`. False: out of memory.
 */
bool sp_wait_wakers_judge(struct sp_wait_wakers *x, struct sp_wait_ended *of);
void sp_wait_wakers_free(struct sp_wait_wakers *x); /* NULL is fine */

/* What the stack of who ended a wait says. */
enum sp_wait_end {
    SP_WAIT_END_UNKNOWN, /* there is none */
    SP_WAIT_END_SIGNAL,
    SP_WAIT_END_OTHER,
};
enum sp_wait_end sp_wait_end_of(const struct sp_profile *p, const struct sp_interval *i);
/*
 * The wait, interval number i, ended only because its process did: what it waited for had not come.
 * `over`: when anything was last seen of the process; INT64_MAX: not known.
 */
bool sp_wait_cut_off(const struct sp_intervals *v, size_t i, enum sp_wait_end how, int64_t over);

#endif

/*
 * Waits as they are shown: threads of one pool that stand alike are one waiter, and so are their chains.
 *
 * Whom a chain goes through is decided by single threads (waits.h): a pool that waits for one of its own
 * threads is no deadlock. Alike are threads whose chains are equally long and lead into a cycle or not.
 */
#ifndef SP_WAITERS_H
#define SP_WAITERS_H

#include "analysis/waits.h"

struct sp_waiter {
    uint32_t thread;  /* in sp_waits.threads: it, or the first of the pool's */
    uint32_t pool;    /* number in the pools; SP_NONE: one thread */
    uint32_t threads; /* how many of the pool */
    int64_t weight, waiting;
    uint32_t first, n; /* slice of waits, heaviest first */
};

struct sp_waiter_wait {
    uint32_t wait; /* in sp_waits.waits: it, or the first of those for the same thing and holder */
    int64_t weight;
    int64_t of;            /* the weight of the threads that wait so */
    uint32_t waiter, last; /* of list, as long as it grows; the last thread that was added */
};

struct sp_waiter_chain {
    uint32_t chain;   /* in sp_waits.chains: it, or the first of those that differ in where they begin only */
    uint32_t pool;    /* where they begin; SP_NONE: one thread */
    uint32_t threads; /* how many of the pool */
    int64_t weight;   /* of their first waits */
};

struct sp_waiters {
    const struct sp_waits *w;
    const struct sp_pools *pools;
    SP_VEC(struct sp_waiter) list;
    SP_VEC(struct sp_waiter_wait) waits;
    SP_VEC(struct sp_waiter_chain) chains;
};

/* Both stay the caller's, and have to live as long. */
spaa_status sp_waiters_of(const struct sp_waits *w, const struct sp_pools *pools, struct sp_diags *d,
                          struct sp_waiters *out);
void sp_waiters_free(struct sp_waiters *x);

#endif
